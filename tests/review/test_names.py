"""New resources that meet one which has their name already."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.review import names
from hyperpod_constructs.review.comparison import Comparison
from hyperpod_constructs.review.impacts import Effect

Body: TypeAlias = dict[str, Any]
Taken: TypeAlias = Callable[[Mapping[Any, Body], Mapping[Any, Body]], dict[str, Effect]]

HERE = ("111122223333", "us-west-2")
THERE = ("111122223333", "us-east-1")
GIVEN = {"Given": {"Type": "String"}}
UNKNOWN = {"Ref": "Given"}
MAYBE = {"Maybe": {"Fn::Equals": [UNKNOWN, "x"]}, "Never": {"Fn::Equals": [UNKNOWN, "y"]}}
CLUSTER_ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"


@pytest.fixture
def taken(tmp_path: Path) -> Taken:
    """What is said of new resources, by logical id, between templates by file name."""

    def taken(*sides: Mapping[Any, Body]) -> dict[str, Effect]:
        read = []
        for number, side in enumerate(sides):
            folder = tmp_path / f"{len([*tmp_path.iterdir()])}-{number}"
            folder.mkdir()
            for name, resources in side.items():
                body = {"Parameters": GIVEN, "Conditions": MAYBE, "Resources": resources}
                (folder / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
            read.append(assembly.read(folder))
        found = names.taken(Comparison(base=read[0], head=read[1]))
        return {logical_id: effect for (_, logical_id), effect in found.items()}

    return taken


@pytest.fixture
def in_stacks(tmp_path: Path) -> Taken:
    """The same for stacks of the CDK, by name, account and Region."""

    def in_stacks(*sides: Mapping[Any, Body]) -> dict[str, Effect]:
        read = []
        for number, side in enumerate(sides):
            folder = tmp_path / str(number)
            folder.mkdir()
            artifacts = {}
            for (name, account, region), resources in side.items():
                artifacts[name] = {
                    "type": "aws:cloudformation:stack",
                    "environment": f"aws://{account}/{region}",
                    "properties": {"templateFile": f"{name}.json", "stackName": name},
                }
                (folder / f"{name}.json").write_text(json.dumps({"Resources": resources}), encoding="utf-8")
            manifest = {"version": "50.0.0", "artifacts": artifacts}
            (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
            read.append(assembly.read(folder))
        found = names.taken(Comparison(base=read[0], head=read[1]))
        return {logical_id: effect for (_, logical_id), effect in found.items()}

    return in_stacks


def impacts(found: dict[str, Effect]) -> dict[str, str]:
    return {name: effect.impact.value for name, effect in found.items()}


def bucket(name: Any = "checkpoints", **body: Any) -> Body:
    return {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}, **body}


NAMED: dict[str, Body] = {
    "AWS::S3::Bucket": {"BucketName": "checkpoints"},
    "AWS::Logs::LogGroup": {"LogGroupName": "nodes"},
    "AWS::Lambda::Function": {"FunctionName": "watch"},
    "AWS::SecretsManager::Secret": {"Name": "password"},
    "AWS::KMS::Alias": {"AliasName": "alias/scratch"},
    "AWS::IAM::Role": {"RoleName": "nodes"},
    "AWS::IAM::ManagedPolicy": {"ManagedPolicyName": "nodes"},
    "AWS::Budgets::Budget": {"Budget": {"BudgetName": "gpus"}},
    "AWS::EKS::Cluster": {"Name": "eks"},
    "AWS::EKS::Addon": {"ClusterName": "eks", "AddonName": "coredns"},
    "AWS::EKS::AccessEntry": {"ClusterName": "eks", "PrincipalArn": "arn:aws:iam::111122223333:role/r"},
    "AWS::SageMaker::Cluster": {"ClusterName": "train"},
    "AWS::SageMaker::ComputeQuota": {"ClusterArn": CLUSTER_ARN, "Name": "team"},
    "AWS::SageMaker::ClusterSchedulerConfig": {"ClusterArn": CLUSTER_ARN, "Name": "policy"},
    "AWS::EC2::SubnetRouteTableAssociation": {"SubnetId": "subnet-1", "RouteTableId": "rtb-1"},
    "AWS::EC2::Route": {"RouteTableId": "rtb-1", "DestinationCidrBlock": "0.0.0.0/0"},
    "AWS::EC2::SecurityGroupIngress": {"GroupId": "sg-1", "IpProtocol": "-1", "CidrIp": "10.0.0.0/8"},
    "AWS::EC2::SecurityGroupEgress": {"GroupId": "sg-1", "IpProtocol": "-1", "CidrIp": "10.0.0.0/8"},
    "AWS::S3::BucketPolicy": {"Bucket": "checkpoints"},
    "AWS::FSx::DataRepositoryAssociation": {"FileSystemId": "fs-1", "FileSystemPath": "/data"},
}
"""Types with what cannot be there twice."""
MAIN = {
    "AWS::Budgets::Budget": None,
    "AWS::EKS::AccessEntry": "PrincipalArn",
    "AWS::EKS::Addon": "AddonName",
    "AWS::EC2::SubnetRouteTableAssociation": "SubnetId",
    "AWS::EC2::Route": "DestinationCidrBlock",
    "AWS::EC2::SecurityGroupIngress": "CidrIp",
    "AWS::EC2::SecurityGroupEgress": "CidrIp",
    "AWS::S3::BucketPolicy": "Bucket",
    "AWS::FSx::DataRepositoryAssociation": "FileSystemPath",
    "AWS::SageMaker::ComputeQuota": "Name",
    "AWS::SageMaker::ClusterSchedulerConfig": "Name",
}
"""The property that is the name, where it is not the first one."""


def with_name(kind: str, name: Any) -> Body:
    """The properties of a type with another name."""
    if kind == "AWS::Budgets::Budget":
        return {"Budget": {"BudgetName": name}}
    return NAMED[kind] | {MAIN.get(kind) or next(iter(NAMED[kind])): name}


class TestAnotherLogicalId:
    @pytest.mark.parametrize("kind", NAMED)
    def test_meets_the_one_that_is_deleted_only_later(self, taken: Taken, kind: str) -> None:
        resource = {"Type": kind, "Properties": NAMED[kind]}
        found = taken({"a": {"Old": resource}}, {"a": {"New": resource}})
        assert impacts(found) == {"New": "refused"}
        assert "Old" in found["New"].reason
        assert found["New"].action.startswith("keep the logical id")

    @pytest.mark.parametrize("kind", NAMED)
    @pytest.mark.parametrize("name", ["other", UNKNOWN, {"Fn::Sub": "${Given}-x"}, None])
    def test_with_another_name_meets_nobody(self, taken: Taken, kind: str, name: Any) -> None:
        old, new = ({"Type": kind, "Properties": each} for each in (NAMED[kind], with_name(kind, name)))
        assert taken({"a": {"Old": old}}, {"a": {"New": new}}) == {}

    @pytest.mark.parametrize("kind", NAMED)
    def test_whose_names_are_both_decided_at_deploy_meets_nobody(self, taken: Taken, kind: str) -> None:
        resource = {"Type": kind, "Properties": with_name(kind, UNKNOWN)}
        assert taken({"a": {"Old": resource}}, {"a": {"New": resource}}) == {}

    def test_of_a_type_whose_name_several_may_have_meets_nobody(self, taken: Taken) -> None:
        for kind in ("AWS::Route53::HostedZone", "AWS::Grafana::Workspace", "AWS::EC2::VPC", "Custom::Thing"):
            resource = {"Type": kind, "Properties": {"Name": "x"}}
            assert taken({"a": {"Old": resource}}, {"a": {"New": resource}}) == {}

    def test_of_a_rule_meets_itself_with_another_description(self, taken: Taken) -> None:
        kind = "AWS::EC2::SecurityGroupIngress"
        old, new = (
            {"Type": kind, "Properties": {**NAMED[kind], "Description": each, **ports}}
            for each, ports in (("EFA", {}), ("for EFA", {"FromPort": 0}))
        )
        found = taken({"a": {"Old": old}}, {"a": {"New": new}})
        assert impacts(found) == {"New": "refused"}
        assert "take the old one out in a deploy before" in found["New"].action

    def test_of_a_rule_for_another_port_meets_nobody(self, taken: Taken) -> None:
        rule = {"GroupId": "sg-1", "IpProtocol": "tcp", "CidrIp": "10.0.0.0/8"}
        old, new = (
            {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": rule | {"FromPort": each}} for each in (22, 443)
        )
        assert taken({"a": {"Old": old}}, {"a": {"New": new}}) == {}

    def test_of_the_same_name_in_another_cluster_meets_nobody(self, taken: Taken) -> None:
        for kind, body in (("AWS::EKS::Addon", {"AddonName": "x"}), ("AWS::EKS::Nodegroup", {"NodegroupName": "x"})):
            old, new = ({"Type": kind, "Properties": body | {"ClusterName": name}} for name in ("a", "b"))
            assert taken({"a": {"Old": old}}, {"a": {"New": new}}) == {}
            assert impacts(taken({"a": {"Old": old}}, {"a": {"New": old}})) == {"New": "refused"}

    def test_compares_references_by_what_they_refer_to(self, taken: Taken) -> None:
        def policy(of: str) -> Body:
            return {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": {"Ref": of}}}

        both = {"A": bucket("a"), "B": bucket("b")}
        assert impacts(taken({"a": both | {"Old": policy("A")}}, {"a": both | {"New": policy("A")}})) == {
            "New": "refused"
        }
        assert taken({"a": both | {"Old": policy("A")}}, {"a": both | {"New": policy("B")}}) == {}

    def test_on_a_resource_that_is_replaced_meets_nobody(self, taken: Taken) -> None:
        def side(logical_id: str, zone: str) -> Body:
            subnet = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-1", "AvailabilityZone": zone}}
            properties = {"SubnetId": {"Ref": "Subnet"}, "RouteTableId": "rtb-1"}
            kind = "AWS::EC2::SubnetRouteTableAssociation"
            return {"a": {"Subnet": subnet, logical_id: {"Type": kind, "Properties": properties}}}

        assert taken(side("Old", "us-west-2a"), side("New", "us-west-2b")) == {}
        assert impacts(taken(side("Old", "us-west-2a"), side("New", "us-west-2a"))) == {"New": "refused"}


class TestOneThatIsStillThere:
    def test_keeps_its_name_where_it_does_not_change(self, taken: Taken) -> None:
        found = taken({"a": {"Old": bucket()}}, {"a": {"Old": bucket(), "New": bucket()}})
        assert impacts(found) == {"New": "refused"}
        assert "already, and stays" in found["New"].reason

    def test_keeps_its_name_until_the_end_where_it_gets_another_one(self, taken: Taken) -> None:
        found = taken({"a": {"Old": bucket()}}, {"a": {"Old": bucket("other"), "New": bucket()}})
        assert impacts(found) == {"New": "refused"}

    def test_that_gives_it_up_in_place_is_an_open_question(self, taken: Taken) -> None:
        def attached(gateway: str) -> Body:
            properties = {"VpcId": "vpc-1", "InternetGatewayId": gateway}
            return {"Type": "AWS::EC2::VPCGatewayAttachment", "Properties": properties}

        found = taken({"a": {"Old": attached("igw-1")}}, {"a": {"Old": attached("igw-2"), "New": attached("igw-1")}})
        assert impacts(found) == {"New": "open"}

    def test_is_kept_by_its_policy(self, taken: Taken) -> None:
        found = taken({"a": {"Old": bucket(DeletionPolicy="Retain")}}, {"a": {"New": bucket()}})
        assert impacts(found) == {"New": "refused"}
        assert "import" in found["New"].action

    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            ("Maybe", None, {"New": "open"}),
            (None, "Maybe", {"New": "open"}),
            ("Maybe", "Maybe", {"New": "open"}),
            ("Maybe", "Never", {}),
        ],
    )
    def test_or_not_is_decided_by_a_condition(
        self, taken: Taken, before: str | None, after: str | None, expected: dict[str, str]
    ) -> None:
        old, new = (bucket(Condition=each) if each else bucket() for each in (before, after))
        assert impacts(taken({"a": {"Old": old}}, {"a": {"New": new}})) == expected


class TestOtherStacks:
    def test_of_a_stack_that_left_the_app_keep_their_names(self, in_stacks: Taken) -> None:
        found = in_stacks({("a", *HERE): {"Old": bucket()}}, {("b", *HERE): {"New": bucket()}})
        assert impacts(found) == {"New": "refused"}
        assert "delete stack a first" in found["New"].action

    def test_of_a_file_that_is_not_there_may_be_the_same_stack(self, taken: Taken) -> None:
        rest = {"Topic": {"Type": "AWS::SNS::Topic"}}
        found = taken({"a": {"Old": bucket()}, "c": rest}, {"b": {"New": bucket()}, "c": rest})
        assert impacts(found) == {"New": "open"}

    def test_give_up_names_when_they_are_deployed(self, in_stacks: Taken) -> None:
        rest = {"Topic": {"Type": "AWS::SNS::Topic"}}
        base = {("a", *HERE): rest | {"Old": bucket()}, ("b", *HERE): rest}
        found = in_stacks(base, {("a", *HERE): rest, ("b", *HERE): rest | {"New": bucket()}})
        assert impacts(found) == {"New": "open"}
        assert "first" in found["New"].action

    @pytest.mark.parametrize(
        ("resource", "place", "expected"),
        [
            ("AWS::Logs::LogGroup", HERE, {"New": "refused"}),
            ("AWS::Logs::LogGroup", THERE, {}),
            ("AWS::IAM::Role", THERE, {"New": "refused"}),
            ("AWS::IAM::Role", ("444455556666", "us-west-2"), {}),
            ("AWS::S3::Bucket", ("444455556666", "us-east-1"), {"New": "refused"}),
            ("AWS::Logs::LogGroup", ("unknown-account", "unknown-region"), {"New": "open"}),
        ],
    )
    def test_have_names_of_their_own_where_the_service_says_so(
        self, in_stacks: Taken, resource: str, place: tuple[str, str], expected: dict[str, str]
    ) -> None:
        body = {"Type": resource, "Properties": NAMED[resource]}
        base = {("a", *HERE): {"Old": body}}
        assert impacts(in_stacks(base, base | {("b", *place): {"New": body}})) == expected


class TestNestedStacks:
    def test_are_deployed_with_the_stack_around_them(self, tmp_path: Path) -> None:
        read = []
        for side in ("base", "head"):
            nested = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "./inner.json"}}
            rest: Body = {"Topic": {"Type": "AWS::SNS::Topic"}}
            own, inner = (rest | {"Old": bucket()}, rest) if side == "base" else (rest, rest | {"New": bucket()})
            folder = tmp_path / side
            folder.mkdir()
            (folder / "inner.json").write_text(json.dumps({"Resources": inner}), encoding="utf-8")
            outer = {"Resources": own | {"Nested": nested | {"Metadata": {"aws:asset:path": "inner.json"}}}}
            (folder / "outer.json").write_text(json.dumps(outer), encoding="utf-8")
            read.append(assembly.read(folder / "outer.json"))
        assert len(read[1].stacks) == len(("outer", "nested"))
        found = names.taken(Comparison(base=read[0], head=read[1]))
        assert [(id_[1], effect.impact.value) for id_, effect in found.items()] == [("New", "refused")]


class TestTwoNewOnes:
    def test_of_one_name_are_one_too_many(self, taken: Taken) -> None:
        rest = {"Topic": {"Type": "AWS::SNS::Topic"}}
        assert impacts(taken({"a": rest}, {"a": rest | {"A": bucket(), "B": bucket()}})) == {"B": "refused"}
        assert taken({"a": rest}, {"a": rest | {"A": bucket(), "B": bucket("b")}}) == {}
        assert taken({"a": rest}, {"a": rest | {"A": bucket(UNKNOWN), "B": bucket(UNKNOWN)}}) == {}


class TestPoliciesInRoles:
    def policy(self, name: Any = "p", role: Any = "r", **body: Any) -> Body:
        return {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": name, "Roles": [role]}, **body}

    def alone(self, name: Any = "p", role: Any = "r") -> Body:
        return {"Type": "AWS::IAM::RolePolicy", "Properties": {"PolicyName": name, "RoleName": role}}

    def test_are_lost_with_the_old_logical_id(self, taken: Taken) -> None:
        for old, new in (
            (self.policy(), self.policy()),
            (self.alone(), self.alone()),
            (self.policy(), self.alone()),
        ):
            found = taken({"a": {"Old": old}}, {"a": {"New": new}})
            assert impacts(found) == {"New": "destroyed"}
            assert found["New"].reason.endswith("the role loses it")

    def test_stay_with_another_name_on_another_role_or_where_the_old_one_is_kept(self, taken: Taken) -> None:
        for old, new in (
            (self.policy(), self.policy("q")),
            (self.policy(), self.policy(role="s")),
            (self.policy(UNKNOWN), self.policy(UNKNOWN)),
            (self.policy(role=UNKNOWN), self.policy(role=UNKNOWN)),
            (self.policy(DeletionPolicy="Retain"), self.policy()),
        ):
            assert taken({"a": {"Old": old}}, {"a": {"New": new}}) == {}

    def test_do_not_meet_themselves_on_a_role_that_is_named_twice(self, taken: Taken) -> None:
        twice = {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": "p", "Roles": ["r", "r"]}}
        assert taken({"a": {"Topic": {"Type": "AWS::SNS::Topic"}}}, {"a": {"New": twice}}) == {}

    def test_of_which_a_condition_chooses_one_do_not_meet(self, taken: Taken) -> None:
        rest = {"Topic": {"Type": "AWS::SNS::Topic"}}
        one, other = (self.policy(Condition=each) for each in ("Maybe", "Never"))
        assert taken({"a": rest}, {"a": rest | {"A": one, "B": other}}) == {}
        assert impacts(taken({"a": rest}, {"a": rest | {"A": one, "B": one}})) == {"B": "open"}

    def test_that_two_resources_write_are_an_open_question(self, taken: Taken) -> None:
        found = taken({"a": {"Old": self.policy()}}, {"a": {"Old": self.policy(), "New": self.policy()}})
        assert impacts(found) == {"New": "open"}
