"""Buckets of scripts, and the files that the CDK copies into them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.model import template
from hyperpod_constructs.model.lifecycle import Bucket, Lifecycle, ScriptFile, SlurmParameters, Upload
from hyperpod_constructs.model.storage import Retention
from hyperpod_constructs.tokens import UNKNOWN

NAME = "<name of app.json.B>"


def upload(**properties: Any) -> dict[str, Any]:
    """What `s3_deployment.BucketDeployment` writes."""
    basics = {
        "ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:copy",
        "SourceBucketNames": ["assets"],
        "SourceObjectKeys": ["0123abcd.zip"],
        "DestinationBucketName": {"Ref": "B"},
        "DestinationBucketKeyPrefix": "lcs/",
    }
    given = {**basics, **properties}
    return {"Type": "Custom::CDKBucketDeployment", "Properties": {k: v for k, v in given.items() if v is not None}}


def read(folder: Path, resources: dict[str, Any]) -> Any:
    """The deployment of a `cdk.out`-like folder."""
    (folder / "app.json").write_text(json.dumps({"Resources": {"B": {"Type": "AWS::S3::Bucket"}, **resources}}))
    return template.read(folder / "app.json")


def with_asset(folder: Path, **files: str) -> None:
    """Writes the folder that became the archive."""
    (folder / "asset.0123abcd").mkdir()
    for name, text in files.items():
        (folder / "asset.0123abcd" / name.replace("__", ".")).write_text(text)


class TestBuckets:
    def test_have_a_name_retention_and_key(self, tmp_path: Path) -> None:
        encryption = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": {"Ref": "K"}}}
        properties = {
            "BucketName": "acme",
            "BucketEncryption": {"ServerSideEncryptionConfiguration": [encryption]},
        }
        found = {
            "B": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "Properties": properties},
            "K": {"Type": "AWS::KMS::Key"},
        }
        assert read(tmp_path, found).buckets == (
            Bucket(path="app.json/B", name="acme", retention=Retention(on_delete="Retain"), key="app.json/K"),
        )

    @pytest.mark.parametrize(("written", "holds"), [(True, True), (False, False), (None, None)])
    def test_may_say_that_they_hold_data(self, tmp_path: Path, written: Any, holds: Any) -> None:
        metadata = {} if written is None else {"hyperpod:intent": {"holds_data": written}}
        (bucket,) = read(tmp_path, {"B": {"Type": "AWS::S3::Bucket", "Metadata": metadata}}).buckets
        assert bucket.holds_data is holds

    def test_stand_in_the_region_of_their_stack(self, tmp_path: Path) -> None:
        read(tmp_path, {})
        (bucket,) = template.read(tmp_path / "app.json", region="us-west-2").buckets
        assert bucket.region == "us-west-2"

    def test_may_be_emptied_or_filled_by_what_nobody_can_read(self, tmp_path: Path) -> None:
        emptied = {"Type": "Custom::S3AutoDeleteObjects", "Properties": {"BucketName": {"Ref": "B"}}}
        assert read(tmp_path, {"E": emptied}).buckets == (
            Bucket(path="app.json/B", name=NAME, emptied=True, handed_out=True),
        )


class TestUploads:
    def test_are_read(self, tmp_path: Path) -> None:
        assert read(tmp_path, {"U": upload(Prune=False)}).uploads == (
            Upload(path="app.json/U", bucket=NAME, prefix="lcs", prune=False),
        )

    @pytest.mark.parametrize(
        ("properties", "field", "value"),
        [
            ({"DestinationBucketKeyPrefix": None}, "prefix", ""),
            ({"DestinationBucketKeyPrefix": {"Ref": "AWS::StackName"}}, "prefix", UNKNOWN),
            ({"Prune": None}, "prune", True),
            ({"Exclude": ["*.md"]}, "filtered", True),
            ({"DestinationBucketName": {"Ref": "AWS::StackName"}}, "bucket", UNKNOWN),
        ],
    )
    def test_every_property_counts(self, tmp_path: Path, properties: Any, field: str, value: object) -> None:
        (found,) = read(tmp_path, {"U": upload(**properties)}).uploads
        assert getattr(found, field) == value

    def test_have_the_files_of_their_asset(self, tmp_path: Path) -> None:
        with_asset(tmp_path, on_create__sh="echo\r\n", provisioning_parameters__json='{"controller_group": "head"}')
        (found,) = read(tmp_path, {"U": upload()}).uploads
        assert found.files == (
            ScriptFile(name="on_create.sh", carriage_returns=True),
            ScriptFile(name="provisioning_parameters.json"),
        )
        assert found.parameters == SlurmParameters(controller="head")

    @pytest.mark.parametrize("keys", [["other.zip"], ["0123abcd.tar"], ["0123abcd.zip", "other.zip"], [], {"Ref": "X"}])
    def test_have_none_where_one_asset_is_not_at_hand(self, tmp_path: Path, keys: Any) -> None:
        with_asset(tmp_path, on_create__sh="echo")
        (found,) = read(tmp_path, {"U": upload(SourceObjectKeys=keys)}).uploads
        assert found.files is None

    def test_have_none_where_the_asset_is_too_large_for_scripts(self, tmp_path: Path) -> None:
        with_asset(tmp_path, model__bin="x" * 6_000_000)
        (found,) = read(tmp_path, {"U": upload()}).uploads
        assert found.files is None


class TestFilesOfAGroup:
    def lifecycle(self, folder: Path, *uploads: dict[str, Any], uri: Any = None) -> Lifecycle:
        with_asset(folder, on_create__sh="echo")
        scripts = {"SourceS3Uri": uri or {"Fn::Sub": "s3://${B}/lcs"}, "OnCreate": "on_create.sh"}
        group = {
            "InstanceGroupName": "p5",
            "InstanceCount": 1,
            "InstanceType": "ml.p5.48xlarge",
            "ExecutionRole": "arn:aws:iam::111122223333:role/nodes",
            "LifeCycleConfig": scripts,
        }
        resources = {f"U{number}": each for number, each in enumerate(uploads)}
        resources["C"] = {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group]}}
        found = read(folder, resources).clusters[0].groups[0].lifecycle
        assert isinstance(found, Lifecycle)
        return found

    def test_are_those_that_one_upload_puts_at_its_source(self, tmp_path: Path) -> None:
        assert self.lifecycle(tmp_path, upload()).files == (ScriptFile(name="on_create.sh"),)

    @pytest.mark.parametrize(
        "uploads",
        [
            (),
            (upload(), upload()),
            (upload(DestinationBucketKeyPrefix="other"),),
            (upload(Exclude=["*.md"]),),
            (upload(DestinationBucketName="other"),),
        ],
    )
    def test_are_not_known_where_none_several_or_others_do(self, tmp_path: Path, uploads: Any) -> None:
        assert self.lifecycle(tmp_path, *uploads).files is None
