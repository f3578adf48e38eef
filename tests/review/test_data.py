"""What a resource that goes takes with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hyperpod_constructs.catalog import updates
from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.review import data
from hyperpod_constructs.review.comparison import Comparison
from hyperpod_constructs.review.impacts import Effect

Removed: TypeAlias = Callable[..., Effect]


@pytest.fixture
def removed(tmp_path: Path) -> Removed:
    """What becomes of a resource that is taken out of its template."""

    def removed(kind: str, **body: Any) -> Effect:
        topic = {"Type": "AWS::SNS::Topic"}
        read = []
        for name, resources in (("base", {"Topic": topic, "R": {"Type": kind, **body}}), ("head", {"Topic": topic})):
            file = tmp_path / name / "app.json"
            file.parent.mkdir()
            file.write_text(json.dumps({"Resources": resources}), encoding="utf-8")
            read.append(assembly.read(file))
        comparison = Comparison(base=read[0], head=read[1])
        return data.removed(comparison, next(pair for pair in comparison.pairs if pair.after is None))

    return removed


@pytest.mark.parametrize("kind", data.HOLDS)
def test_types_that_hold_data_are_those_of_the_registry(kind: str) -> None:
    assert updates.of(kind, "") is not None


@pytest.mark.parametrize(
    "kind",
    [
        "AWS::Backup::BackupVault",
        "AWS::CodeCommit::Repository",
        "AWS::Cognito::UserPool",
        "AWS::DocDB::DBCluster",
        "AWS::DynamoDB::GlobalTable",
        "AWS::ElastiCache::ReplicationGroup",
        "AWS::Grafana::Workspace",
        "AWS::Kinesis::Stream",
        "AWS::Neptune::DBCluster",
        "AWS::OpenSearchService::Domain",
        "AWS::S3Express::DirectoryBucket",
        "AWS::S3Tables::Table",
        "AWS::S3Tables::TableBucket",
        "AWS::SQS::Queue",
        "AWS::SSM::Parameter",
    ],
)
def test_what_holds_data_is_lost_with_it(removed: Removed, kind: str) -> None:
    assert removed(kind).impact == "data-lost"


def test_what_holds_data_is_left_behind_where_it_is_kept(removed: Removed) -> None:
    assert removed("AWS::SQS::Queue", DeletionPolicy="Retain").impact == "left-behind"


class TestWhatNobodyKnows:
    @pytest.mark.parametrize("kind", ["AWS::CloudFormation::Stack", "AWS::Brand::New", "Vendor::Some::Thing"])
    def test_is_an_open_question(self, removed: Removed, kind: str) -> None:
        effect = removed(kind)
        assert effect.impact == "open"
        assert effect.action

    def test_stays_where_it_is_kept(self, removed: Removed) -> None:
        assert removed("AWS::CloudFormation::Stack", DeletionPolicy="Retain").impact == "stays"

    @pytest.mark.parametrize(
        "kind", ["Custom::Thing", "AWS::CloudFormation::CustomResource", "AWS::CloudWatch::Alarm", "AWS::IAM::Role"]
    )
    def test_is_not_what_the_registry_or_a_function_knows(self, removed: Removed, kind: str) -> None:
        assert removed(kind).impact == "removed"
