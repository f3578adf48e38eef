"""What CloudFormation calls for each type, against the registry that it comes from."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from hyperpod_constructs.catalog import handlers
from tools.catalog import handlers as generator

FILE = Path(handlers.__file__).with_name("handlers.json")


class TestTheFile:
    def test_is_what_the_generator_makes_of_the_installed_registry(self) -> None:
        same = FILE.read_text(encoding="utf-8") == generator.handlers()
        assert same, "handlers.json differs from its source: run python -m tools.catalog.handlers and read the diff"

    def test_has_no_type_of_the_table_for_those_without_handlers(self) -> None:
        gone = sorted(handlers.WITHOUT_HANDLERS.keys() & handlers._data()["types"].keys())
        assert gone == [], f"the registry has handlers of {gone} now: drop them from WITHOUT_HANDLERS"


class TestActions:
    def test_are_those_of_all_handlers_sorted(self) -> None:
        assert handlers.actions("AWS::SNS::TopicPolicy") == ("sns:SetTopicAttributes",)
        found = handlers.actions("AWS::SageMaker::Cluster")
        assert found == tuple(sorted(found or ()))
        assert {"sagemaker:CreateCluster", "sagemaker:DeleteCluster", "iam:PassRole"} <= {*(found or ())}

    def test_of_a_file_system_come_from_the_table(self) -> None:
        assert "fsx:CreateFileSystem" in (handlers.actions("AWS::FSx::FileSystem") or ())

    @pytest.mark.parametrize("kind", ["Custom::Grafana", "AWS::CloudFormation::CustomResource"])
    def test_of_a_custom_resource_are_those_of_its_function(self, kind: str) -> None:
        assert handlers.actions(kind) == ("lambda:InvokeFunction",)

    def test_of_a_type_that_nobody_listed_are_not_known(self) -> None:
        assert handlers.actions("AWS::Athena::WorkGroup") is None

    def test_of_what_is_only_in_templates_are_none(self) -> None:
        assert handlers.actions("AWS::CDK::Metadata") == ()


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        (kind, pattern)
        for kind, conditions in handlers.ONLY_WITH.items()
        for each in conditions
        for pattern in each.actions
        if kind != "AWS::IAM::ManagedPolicy"  # shares the conditions of AWS::IAM::Policy
    ],
)
def test_a_condition_is_about_an_action_that_its_type_has(kind: str, pattern: str) -> None:
    assert any(fnmatchcase(action, pattern) for action in handlers.actions(kind) or ())
