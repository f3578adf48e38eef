"""What differs between two sides, and what only looks as if it did."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.review.comparison import Comparison
from tests.cli.conftest import assembly as written

Body: TypeAlias = dict[str, Any]
Compare: TypeAlias = Callable[..., Comparison]
Differing: TypeAlias = Callable[..., list[tuple[str, Any, Any]]]

PARAMETERS = {"Stage": {"Type": "String", "Default": "test"}, "Given": {"Type": "String"}}


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """Both sides of what is written as `{file: template}`; a lone template needs no file name."""

    def compare(*sides: dict[str, Body] | Body) -> Comparison:
        read = []
        for name, side in zip(("base", "head"), sides, strict=True):
            files = {"app.json": side} if "Resources" in side else side
            folder = tmp_path / name
            folder.mkdir()
            for file, body in files.items():
                (folder / file).write_text(json.dumps(body), encoding="utf-8")
            read.append(assembly.read(folder if len(files) > 1 else folder / next(iter(files))))
        return Comparison(base=read[0], head=read[1])

    return compare


@pytest.fixture
def differing(compare: Compare) -> Differing:
    """What differs between two values of one property of a type that nobody knows."""

    def differing(*values: Any) -> list[tuple[str, Any, Any]]:
        found = compare(*({"Parameters": PARAMETERS, "Resources": resources(value)} for value in values))
        return [(each.path, each.before, each.after) for pair in found.pairs for each in pair.differences]

    return differing


def resources(value: Any) -> Body:
    return {
        "Thing": {"Type": "Acme::Data::Thing", "Properties": {"P": value}},
        "Other": {"Type": "AWS::S3::Bucket"},
    }


def topic(name: str = "alarms") -> Body:
    return {"Resources": {"Alarms": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": name}}}}


class TestSilence:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ({"A": 1, "B": 2}, {"B": 2, "A": 1}),
            ([1, 2, 3], [3, 1, 2]),
            (
                [{"Key": "a", "Value": 1}, {"Key": "b", "Value": 2}],
                [{"Value": 2, "Key": "b"}, {"Key": "a", "Value": 1}],
            ),
            ([{"X": [1, 2]}, {"X": [3]}], [{"X": [3]}, {"X": [2, 1]}]),
            (4, "4"),
            (True, "true"),
            (1.0, 1),
            ("s3://test/x", {"Fn::Sub": "s3://${Stage}/x"}),
            ({"Fn::Sub": "${Other}-x"}, {"Fn::Join": ["-", [{"Ref": "Other"}, "x"]]}),
            ({"Fn::Sub": "${Given}-x"}, {"Fn::Sub": "${Given}-x"}),
            ({"Fn::If": ["Nobody", 1, 2]}, {"Fn::If": ["Nobody", 1, 2]}),
            ({"Fn::Select": [0, {"Fn::Split": [",", "test,b"]}]}, {"Ref": "Stage"}),
            ({"Fn::GetAtt": "Other.Arn"}, {"Fn::GetAtt": ["Other", "Arn"]}),
        ],
    )
    def test_of_what_is_only_written_in_another_way(self, differing: Differing, before: Any, after: Any) -> None:
        assert differing(before, after) == []

    def test_of_a_file_that_is_called_otherwise(self, compare: Compare) -> None:
        found = compare({"old.json": topic()}, {"new.json": topic()})
        assert (found.gone, [pair.differences for pair in found.pairs]) == ((), [()])

    def test_of_the_order_of_resources_and_files(self, compare: Compare) -> None:
        both = {"a.json": topic("a"), "b.json": {"Resources": resources(1)}}
        shuffled = {"b.json": {"Resources": dict(reversed(resources(1).items()))}, "a.json": topic("a")}
        assert [each for pair in compare(both, shuffled).pairs for each in pair.differences] == []


class TestDifferences:
    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            (4, 5, ("P", 4, 5)),
            ("4", "04", ("P", "4", "04")),
            ("true", "True", ("P", "true", "True")),
            (None, False, ("P", None, False)),
            ({"A": 1}, {"A": 1, "B": 2}, ("P.B", None, 2)),
            ({"A": 1, "B": 2}, {"A": 1}, ("P.B", 2, None)),
            ([1, 1, 2], [1, 2], ("P", [1, 1, 2], [1, 2])),
            (
                [{"Key": "a", "Value": 1}, {"Key": "b", "Value": 2}],
                [{"Key": "b", "Value": 3}, {"Key": "a", "Value": 1}],
                ("P.Value", 2, 3),
            ),
            ([{"X": 1, "Y": 1}, {"X": 2}], [{"X": 2}, {"X": 1, "Y": 2}], ("P.Y", 1, 2)),
            (1, [1], ("P", 1, [1])),
        ],
    )
    def test_are_at_the_part_that_is_another(
        self, differing: Differing, before: Any, after: Any, expected: tuple[Any, ...]
    ) -> None:
        assert differing(before, after) == [expected]

    def test_of_what_the_deploy_decides_are_those_of_its_text(self, differing: Differing) -> None:
        found = differing({"Fn::Sub": "${Given}-x"}, {"Fn::Sub": "${Stage}${Given}-x"})
        assert [path for path, _, _ in found] == ["P"]

    def test_of_two_values_that_nobody_knows_are_found_by_their_text(self, differing: Differing) -> None:
        found = differing({"Fn::Base64": {"Ref": "Given"}}, {"Fn::ImportValue": "elsewhere"})
        assert [path for path, _, _ in found] == ["P"]

    def test_of_flexible_groups_are_in_the_order_of_types_too(self, compare: Compare) -> None:
        def cluster(*types: str) -> Body:
            group = {"InstanceGroupName": "g", "InstanceRequirements": {"InstanceTypes": [*types]}}
            return {"Resources": {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group]}}}}

        (pair,) = compare(cluster("ml.g5.8xlarge", "ml.g6.8xlarge"), cluster("ml.g6.8xlarge", "ml.g5.8xlarge")).pairs
        assert [each.path for each in pair.differences] == ["InstanceGroups.InstanceRequirements.InstanceTypes"]

    def test_of_groups_go_by_their_names(self, compare: Compare) -> None:
        def cluster(**counts: int) -> Body:
            groups = [{"InstanceGroupName": name, "InstanceCount": count} for name, count in counts.items()]
            return {"Resources": {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": groups}}}}

        (pair,) = compare(cluster(a=1, b=2), cluster(b=3, c=1)).pairs
        assert [(each.steps[1], each.before is None, each.after is None) for each in pair.differences] == [
            ("a", False, True),
            ("b", False, False),
            ("c", True, False),
        ]

    def test_of_groups_that_share_a_name_are_of_the_whole_list(self, compare: Compare) -> None:
        def cluster(count: int) -> Body:
            groups = [{"InstanceGroupName": "a", "InstanceCount": number} for number in (1, 2, count)]
            return {"Resources": {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": groups}}}}

        (pair,) = compare(cluster(3), cluster(4)).pairs
        assert len(pair.differences) == 1


class TestStacks:
    def test_are_the_same_by_deployed_name_and_place(self, tmp_path: Path) -> None:
        sides = [assembly.read(written(tmp_path / name, topic())) for name in ("base", "head")]
        assert Comparison(base=sides[0], head=sides[1]).stacks == ("train 111122223333 us-west-2",)

    def test_of_a_folder_are_the_same_by_file_name(self, compare: Compare) -> None:
        found = compare({"a.json": topic(), "b.json": topic()}, {"a.json": topic(), "c.json": topic()})
        assert ([stack.id for stack in found.gone], found.stacks) == (["b.json"], ("a.json", "b.json", "c.json"))

    def test_that_refer_to_each_other_keep_doing_so_in_files_of_other_names(self, compare: Compare) -> None:
        def thing(prefix: str) -> Body:
            return {"Resources": resources({"Fn::Sub": prefix + "${Other.Arn}"})}

        found = compare({"old.json": thing("a")}, {"new.json": thing("a")})
        assert [each for pair in found.pairs for each in pair.differences] == []
