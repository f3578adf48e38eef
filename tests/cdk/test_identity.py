"""Permissions of nodes follow from the features in use, and from nothing else."""

from __future__ import annotations

import pytest

from hyperpod_constructs.cdk.identity import NodeFeatures, statements

BUCKET = "arn:aws:s3:::cdk-assets"


def sids(**features: object) -> list[object]:
    found = statements(NodeFeatures(**features), partition="aws", region="us-west-2")  # type: ignore[arg-type]  # test data
    return [statement["Sid"] for statement in found]


class TestStatements:
    @pytest.mark.parametrize(
        ("features", "expected"),
        [
            ({}, []),
            ({"lustre_efa": True}, ["DescribeLustre"]),
            ({"scripts": [(BUCKET, "hyperpod/train")]}, ["ReadScripts1", "ListScripts1"]),
            ({"rollback_alarms": True}, ["ReadAlarms"]),
            ({"volume_key_arns": ["arn:aws:kms:us-west-2:111122223333:key/k"]}, ["VolumeKeys"]),
        ],
    )
    def test_are_there_for_the_features_in_use(self, features: dict[str, object], expected: list[str]) -> None:
        assert sids(**features) == ["DescribeNetwork", "NodeInterfaces", "TagInterfaces", *expected]

    def test_scripts_are_read_below_their_prefix_and_never_written(self) -> None:
        found = statements(NodeFeatures(scripts=[(BUCKET, "hyperpod/train")]), partition="aws", region="us-west-2")
        about_s3 = [each for each in found if "s3:" in str(each["Action"])]
        assert [(each["Action"], each["Resource"]) for each in about_s3] == [
            ("s3:GetObject", f"{BUCKET}/hyperpod/train/*"),
            ("s3:ListBucket", BUCKET),
        ]

    def test_changes_of_interfaces_are_bound_to_the_region(self) -> None:
        found = statements(NodeFeatures(), partition="aws", region="us-west-2")
        (changes,) = (each for each in found if each["Sid"] == "NodeInterfaces")
        assert changes["Condition"] == {"StringEquals": {"aws:RequestedRegion": "us-west-2"}}
