"""What a review makes of whole stacks: which is which, what leaves the app, what is not at hand, what is protected."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import pytest

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.model import template
from hyperpod_constructs.review import review
from hyperpod_constructs.review.impacts import Change
from hyperpod_constructs.review.review import Review, Side

Body: TypeAlias = dict[str, Any]
Compare: TypeAlias = Callable[[Body, Body], Review]

PLACE = "aws://111122223333/us-west-2"
SCRATCH = {"Type": "AWS::FSx::FileSystem", "Properties": {"SubnetIds": ["subnet-1"]}, "DeletionPolicy": "Retain"}
TOPIC = {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "a"}}


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """A review of two assemblies, each given as the stacks in it: template, and what else the manifest says."""

    def side(name: str, stacks: Body) -> Side:
        folder = tmp_path / name
        folder.mkdir()
        artifacts = {}
        for stack, body in stacks.items():
            told = body.pop("manifest", {})
            (folder / f"{stack}.json").write_text(json.dumps(body), encoding="utf-8")
            artifacts[stack] = {
                "type": "aws:cloudformation:stack",
                "environment": told.pop("environment", PLACE),
                "properties": {"templateFile": f"{stack}.json", "stackName": stack, **told},
            }
        manifest = {"version": "36.0.0", "artifacts": artifacts}
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        read = assembly.read(folder)
        return Side(assembly=read, deployment=template.decode(read), findings=())

    return lambda base, head: review.of(side("base", base), side("head", head))


def stack(manifest: Body | None = None, outputs: Body | None = None, **resources: Body) -> Body:
    return {"Resources": resources, "Outputs": outputs or {}, **({"manifest": manifest} if manifest else {})}


def told(found: Review) -> dict[str, str]:
    return {_name(each): each.impact.value for each in found.changes}


def _name(change: Change) -> str:
    return f"{change.path} {change.property_name}".strip()


class TestPlace:
    @pytest.mark.parametrize("place", ["aws://unknown-account/unknown-region", "aws://111122223333/unknown-region"])
    def test_that_only_one_side_says_is_no_other_stack(self, compare: Compare, place: str) -> None:
        base = {"A": stack(R=TOPIC)}
        assert told(compare(base, {"A": stack({"environment": place})})) == {"A/R": "removed"}

    def test_against_another_one_is_another_stack(self, compare: Compare) -> None:
        head = {"A": stack({"environment": "aws://111122223333/eu-west-1"}, R=TOPIC)}
        assert told(compare({"A": stack(R=TOPIC)}, head)) == {"A": "stays", "A/R": "created"}

    def test_that_fits_two_stacks_is_neither(self, compare: Compare) -> None:
        two = {"A": stack(R=TOPIC), "B": stack({"environment": "aws://1/eu-west-1", "stackName": "A"}, R=TOPIC)}
        head = {"A": stack({"environment": "aws://unknown-account/unknown-region"}, R=TOPIC)}
        assert "A/R" in told(compare(two, head))


class TestGone:
    def test_with_data_in_it_is_left_behind(self, compare: Compare) -> None:
        found = compare({"A": stack(R=SCRATCH), "B": stack(R=TOPIC)}, {"B": stack(R=TOPIC)})
        assert (told(found), found.verdict) == ({"A": "left-behind"}, "destroys")

    def test_without_any_stays(self, compare: Compare) -> None:
        found = compare({"A": stack(R=TOPIC), "B": stack(R=TOPIC)}, {"B": stack(R=TOPIC)})
        assert (told(found), found.verdict) == ({"A": "stays"}, "safe")

    def test_keeps_the_exports_that_others_import(self, compare: Compare) -> None:
        subnet = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/24"}}
        export = {"Id": {"Value": {"Ref": "R"}, "Export": {"Name": "subnet"}}}
        user = {**SCRATCH, "Properties": {"SubnetIds": [{"Fn::ImportValue": "subnet"}]}}
        found = compare({"Net": stack(outputs=export, R=subnet), "B": stack(R=user)}, {"B": stack(R=user)})
        assert told(found) == {"Net": "stays"}


class TestExport:
    def test_in_use_of_another_value_is_refused(self, compare: Compare) -> None:
        assert told(self.compared(compare, "a", "b")) == {
            "Net Outputs.Export": "refused",
            "B/R DisplayName": "in-place",
        }

    def test_in_use_of_the_same_value_is_not(self, compare: Compare) -> None:
        assert told(self.compared(compare, "a", "a")) == {}

    def test_of_a_value_that_the_deploy_decides_is_not(self, compare: Compare) -> None:
        late = {"Fn::Sub": "${AWS::StackId}"}
        assert "Net Outputs.Export" not in told(self.compared(compare, late, "b"))

    @staticmethod
    def compared(compare: Compare, *values: object) -> Review:
        user = {**TOPIC, "Properties": {"DisplayName": {"Fn::ImportValue": "name"}}}
        base, head = (
            {"Net": stack(outputs={"N": {"Value": value, "Export": {"Name": "name"}}}, R=TOPIC), "B": stack(R=user)}
            for value in values
        )
        return compare(base, head)


class TestOutputReadByName:
    def test_that_goes_fails_the_deploy_of_its_reader(self, compare: Compare) -> None:
        assert "B Outputs.Export" in told(self.compared(compare, {}))

    def test_that_stays_does_not(self, compare: Compare) -> None:
        assert told(self.compared(compare, {"N": {"Value": "a"}})) == {}

    def test_of_a_stack_that_is_not_at_hand_does_not(self, compare: Compare) -> None:
        assert told(self.compared(compare, {}, name="Elsewhere")) == {}

    @staticmethod
    def compared(compare: Compare, outputs: Body, name: str = "Net") -> Review:
        read = {"Fn::GetStackOutput": {"StackName": name, "OutputName": "N"}}
        user = {**TOPIC, "Properties": {"DisplayName": read}}
        base, head = (
            {"Net": stack(outputs=given, R=TOPIC), "B": stack(R=user)} for given in ({"N": {"Value": "a"}}, outputs)
        )
        return compare(base, head)


class TestProtection:
    def test_taken_away_is_said(self, compare: Compare) -> None:
        found = compare({"A": stack({"terminationProtection": True}, R=TOPIC)}, {"A": stack(R=TOPIC)})
        assert (told(found), found.verdict) == ({"A TerminationProtection": "unprotected"}, "safe")

    def test_given_is_harmless(self, compare: Compare) -> None:
        found = compare({"A": stack(R=TOPIC)}, {"A": stack({"terminationProtection": True}, R=TOPIC)})
        assert told(found) == {"A TerminationProtection": "in-place"}

    def test_kept_is_nothing(self, compare: Compare) -> None:
        both = ({"A": stack({"terminationProtection": True}, R=TOPIC)} for _ in range(2))
        assert compare(*both).verdict == "unchanged"


class TestNestedStack:
    INNER: ClassVar = {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {"TemplateURL": "https://b.example.com/inner.json"},
    }

    def test_of_which_the_template_is_not_at_hand_any_more_loses_nothing(self, tmp_path: Path) -> None:
        found = self.of_files(tmp_path, {"R": self.INNER}, with_inner=False)
        assert told(found) == {"outer.json/R": "open"}

    def test_that_is_taken_out_loses_its_data(self, tmp_path: Path) -> None:
        found = self.of_files(tmp_path, {"T": TOPIC}, with_inner=False)
        assert told(found)["outer.json/R/Scratch"] == "left-behind"

    def of_files(self, folder: Path, head: Body, *, with_inner: bool) -> Review:
        sides = []
        for name, resources, inner in (("base", {"R": self.INNER}, True), ("head", head, with_inner)):
            (folder / name).mkdir()
            (folder / name / "outer.json").write_text(json.dumps({"Resources": resources}), encoding="utf-8")
            if inner:
                body = json.dumps({"Resources": {"Scratch": SCRATCH}})
                (folder / name / "inner.json").write_text(body, encoding="utf-8")
            read = assembly.read(folder / name)
            sides.append(Side(assembly=read, deployment=template.decode(read), findings=()))
        return review.of(*sides)
