"""Values that the deploy decides: parameters, references that are the same by another name, counts of others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import pytest

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.model import template
from hyperpod_constructs.review import review
from hyperpod_constructs.review.policy import FailOn
from hyperpod_constructs.review.review import Review, Side

Body: TypeAlias = dict[str, Any]
Compare: TypeAlias = Callable[..., Review]

ERROR = Finding(rule="HP4001", severity=Severity.ERROR, path="app.json/R", message="m", fix="f", source="s")


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """A review of two templates, with the findings of each."""

    def side(name: str, body: Body, findings: tuple[Finding, ...]) -> Side:
        file = tmp_path / name / "app.json"
        file.parent.mkdir()
        file.write_text(json.dumps(body), encoding="utf-8")
        read = assembly.read(file)
        return Side(assembly=read, deployment=template.decode(read), findings=findings)

    def compare(base: Body, head: Body, *findings: tuple[Finding, ...]) -> Review:
        both = findings or ((), ())
        return review.of(side("base", base, both[0]), side("head", head, both[1]))

    return compare


def told(found: Review) -> dict[str, str]:
    return {f"{each.path.partition('/')[2]} {each.property_name}".strip(): each.impact.value for each in found.changes}


def cluster(count: Any = 4, **properties: Any) -> Body:
    group = {"InstanceGroupName": "p5", "InstanceType": "ml.p5.48xlarge", "InstanceCount": count}
    return {
        "Type": "AWS::SageMaker::Cluster",
        "Properties": {"ClusterName": "train", "InstanceGroups": [group], **properties},
    }


def with_parameter(default: Any, kind: str = "Number") -> Body:
    parameter = {"Type": kind, "Default": default}
    return {"Parameters": {"Count": parameter}, "Resources": {"R": cluster({"Ref": "Count"})}}


class TestDefaultOfAParameter:
    def test_that_is_lower_may_take_nodes(self, compare: Compare) -> None:
        found = compare(with_parameter(8), with_parameter(2))
        assert (told(found), found.verdict) == ({"R/p5 InstanceGroups.InstanceCount": "open"}, "restarts")
        assert FailOn(words=frozenset({"node-loss"})).reasons(found) == ["node-loss: app.json/R/p5"]

    def test_that_is_higher_takes_none(self, compare: Compare) -> None:
        found = compare(with_parameter(2), with_parameter(8))
        assert told(found) == {"R/p5 InstanceGroups.InstanceCount": "in-place"}

    def test_of_a_path_in_the_parameter_store_is_not_the_same(self, compare: Compare) -> None:
        kind = "AWS::SSM::Parameter::Value<String>"
        found = compare(with_parameter("/a/count", kind), with_parameter("/b/count", kind))
        assert told(found) == {"R/p5 InstanceGroups.InstanceCount": "open"}

    def test_that_nothing_refers_to_is_silence(self, compare: Compare) -> None:
        base, head = (with_parameter(4) for _ in range(2))
        base["Parameters"]["Other"] = {"Type": "String", "Default": "a"}
        head["Parameters"]["Other"] = {"Type": "String", "Default": "b"}
        assert compare(base, head).verdict == "unchanged"

    def test_of_the_network_does_not_replace_for_certain(self, compare: Compare) -> None:
        base, head = (
            {
                "Parameters": {"Subnet": {"Type": "String", "Default": subnet}},
                "Resources": {"R": cluster(VpcConfig={"Subnets": [{"Ref": "Subnet"}], "SecurityGroupIds": ["sg-1"]})},
            }
            for subnet in ("subnet-1", "subnet-2")
        )
        assert told(compare(base, head)) == {"R VpcConfig.Subnets": "open"}


class TestAParameterWithoutDefault:
    def test_in_place_of_a_value_replaces_perhaps(self, compare: Compare) -> None:
        scratch = {"Type": "AWS::FSx::FileSystem", "Properties": {"SubnetIds": ["subnet-1"]}}
        head = {"Type": "AWS::FSx::FileSystem", "Properties": {"SubnetIds": [{"Ref": "Subnet"}]}}
        parameters = {"Subnet": {"Type": "String"}}
        found = compare({"Resources": {"R": scratch}}, {"Parameters": parameters, "Resources": {"R": head}})
        assert (told(found), found.verdict) == ({"R SubnetIds": "open"}, "restarts")


class TestReference:
    @pytest.mark.parametrize(
        ("kind", "attribute"),
        [("AWS::EC2::SecurityGroup", "GroupId"), ("AWS::EC2::Subnet", "SubnetId"), ("AWS::EC2::VPC", "VpcId")],
    )
    def test_to_an_id_by_attribute_or_not_is_the_same(self, compare: Compare, kind: str, attribute: str) -> None:
        base, head = self.using(kind, {"Ref": "T"}, {"Fn::GetAtt": ["T", attribute]})
        assert compare(base, head).verdict == "unchanged"

    def test_to_another_attribute_is_not(self, compare: Compare) -> None:
        base, head = self.using("AWS::EC2::VPC", {"Ref": "T"}, {"Fn::GetAtt": ["T", "CidrBlock"]})
        assert compare(base, head).verdict != "unchanged"

    @staticmethod
    def using(kind: str, *references: Body) -> list[Body]:
        users = [{"Type": "AWS::FSx::FileSystem", "Properties": {"SubnetIds": [each]}} for each in references]
        return [{"Resources": {"T": {"Type": kind, "Properties": {}}, "R": each}} for each in users]


class TestEmptyGroup:
    ON: ClassVar = {"Mode": "Enable", "AutoScalerType": "Karpenter"}

    def test_of_a_cluster_that_scales_itself_may_have_nodes(self, compare: Compare) -> None:
        base, head = ({"Resources": {"R": cluster(0, AutoScaling=self.ON)}} for _ in range(2))
        head["Resources"]["R"]["Properties"]["InstanceGroups"] = []
        found = compare(base, head)
        assert told(found) == {"R/p5 InstanceGroups": "nodes-lost"}
        assert "`hyperpod status train`" in found.changes[0].effect.action

    @pytest.mark.parametrize("scaling", [{}, {"AutoScaling": {"Mode": "Disable"}}])
    def test_of_another_one_has_none(self, compare: Compare, scaling: Body) -> None:
        base, head = ({"Resources": {"R": cluster(0, **scaling)}} for _ in range(2))
        head["Resources"]["R"]["Properties"]["InstanceGroups"] = []
        assert told(compare(base, head)) == {"R/p5 InstanceGroups": "removed"}


class TestCountOfTheDeploy:
    @pytest.mark.parametrize(("name", "copied"), [("train", "train"), ({"Ref": "Count"}, "CLUSTER")])
    def test_is_asked_of_the_cluster_by_a_command_that_can_be_copied(
        self, compare: Compare, name: Any, copied: str
    ) -> None:
        base, head = (with_parameter(None) for _ in range(2))
        for body in (base, head):
            del body["Parameters"]["Count"]["Default"]
        base["Resources"]["R"], head["Resources"]["R"] = (
            cluster(count, ClusterName=name) for count in (4, {"Ref": "Count"})
        )
        (change,) = compare(base, head).changes
        assert f"`hyperpod snapshot {copied} --output FILE`" in change.effect.action


class TestFindings:
    BASE, HEAD = ({"Resources": {"R": cluster(Tags=[{"Key": "a", "Value": value}])}} for value in "ab")

    def test_that_the_change_brings_block_it(self, compare: Compare) -> None:
        found = compare(self.BASE, self.HEAD, (), (ERROR,))
        assert (found.verdict, found.stopping) == ("blocked", (ERROR,))

    def test_that_were_there_before_do_not(self, compare: Compare) -> None:
        found = compare(self.BASE, self.HEAD, (ERROR,), (ERROR,))
        assert (found.verdict, found.stopping, found.new) == ("safe", (), ())


class TestNarrowed:
    @staticmethod
    def role(*actions: str) -> Body:
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        policy = {"PolicyName": "p", "PolicyDocument": {"Statement": [statement]}}
        return {"Resources": {"R": {"Type": "AWS::IAM::Role", "Properties": {"Policies": [policy]}}}}

    def test_is_what_a_role_may_do_no_more(self, compare: Compare) -> None:
        found = compare(self.role("s3:GetObject", "s3:PutObject"), self.role("s3:GetObject"))
        assert [(each.path, each.what) for each in found.narrowed] == [("app.json/R", "may now: s3:PutObject on *")]
        assert found.widened == ()

    def test_is_nothing_where_a_role_may_do_more(self, compare: Compare) -> None:
        found = compare(self.role("s3:GetObject"), self.role("s3:GetObject", "s3:PutObject"))
        assert (len(found.widened), found.narrowed) == (1, ())

    def test_is_not_told_of_a_role_that_goes(self, compare: Compare) -> None:
        found = compare(self.role("s3:*"), {"Resources": {"T": {"Type": "AWS::SNS::Topic"}}})
        assert found.narrowed == ()
