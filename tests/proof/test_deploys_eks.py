"""What a platform team does in its first month on EKS: control plane, nodes, add-ons, teams, on an emulated account."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

import pytest

from tests.proof.emulator.aws import Aws
from tests.proof.emulator.deployed import Deployed

ADDON = "AWS::EKS::Addon"
CLUSTER = "AWS::SageMaker::Cluster"
ENTRY = "AWS::EKS::AccessEntry"
FILE_SYSTEM = "AWS::FSx::FileSystem"
PLANE = "AWS::EKS::Cluster"
POLICY = "AWS::SageMaker::ClusterSchedulerConfig"
QUOTA = "AWS::SageMaker::ComputeQuota"
NO_CAPACITY = "We currently do not have sufficient capacity for the requested instance type(s). Please try again."

pytestmark = pytest.mark.proof


class OnEks(Deployed):
    """The stacks of one cluster on EKS."""

    def run(self, *arguments: str, fails: bool = False, **settings: Any) -> str:
        return super().run(*arguments, fails=fails, **{"eks": True, **settings})

    def made(self, *stacks: str) -> dict[str, str]:
        """Types of what exists of stacks, by physical id."""
        there: dict[str, str] = {}
        names = {f"{self.name}-Foundation", self.name, f"{self.name}-Budget"}
        for event in self.aws.events():
            if event["operation"] == "delete":
                there.pop(event["physical_id"], None)
            elif event["stack"] in (stacks or names):
                there[event["physical_id"]] = event["type"]
        return {each: kind for each, kind in there.items() if kind != "AWS::CDK::Metadata"}

    def count(self, type_name: str) -> int:
        """How many of a type exist."""
        return [*self.made().values()].count(type_name)


class New(Protocol):
    def __call__(self, name: str, *teams: str) -> OnEks: ...


@pytest.fixture
def eks(aws: Aws, new: Callable[[str], Deployed]) -> New:
    """Names a cluster of which nothing exists yet but the roles of people: EKS has entries for no others."""

    def named(name: str, *teams: str) -> OnEks:
        new(name)
        for team in ("platform", *(teams or ("audio", "vision"))):
            aws.client("iam").create_role(RoleName=f"{name}-{team}", AssumeRolePolicyDocument=json.dumps(NOBODY))
        return OnEks(aws, name)

    return named


NOBODY = {"Version": "2012-10-17", "Statement": []}


def test_the_first_deploy_brings_nodes_addons_and_teams_and_a_second_one_changes_nothing(eks: New) -> None:
    train = eks("First")
    train.deploy()
    assert train.cluster()["ClusterStatus"] == "InService"
    assert train.nodes() == ["p5", "p5", "p5", "p5", "system", "system"]
    made = train.made()
    assert sorted(each for each, kind in made.items() if kind == ADDON) == [
        "First|amazon-sagemaker-hyperpod-taskgovernance",
        "First|amazon-sagemaker-hyperpod-training-operator",
        "First|aws-fsx-csi-driver",
        "First|cert-manager",
        "First|eks-pod-identity-agent",
        "First|kube-proxy",
        "First|vpc-cni",
    ]
    assert (train.count(POLICY), train.count(QUOTA), train.count(ENTRY)) == (1, 2, 3)
    before = len(train.aws.events())
    assert "Number of stacks with differences: 0" in train.run("diff", "--all")
    train.deploy()
    assert len(train.aws.events()) == before


def test_after_a_refused_cluster_nothing_of_its_stack_is_left_and_the_second_deploy_works(eks: New) -> None:
    train = eks("NoCapacity")
    train.aws.play({"type": CLUSTER, "operation": "create", "nth": 1, "message": NO_CAPACITY})
    assert NO_CAPACITY in train.deploy(fails=True)
    assert train.status("NoCapacity") == "ROLLBACK_COMPLETE"
    assert train.made("NoCapacity") == {}
    foundation = train.made("NoCapacity-Foundation")
    assert {PLANE, FILE_SYSTEM} <= set(foundation.values())
    train.deploy()
    assert train.cluster()["ClusterStatus"] == "InService"
    assert train.made("NoCapacity-Foundation") == foundation


@pytest.mark.parametrize(("name", "kind"), [("NoAddon", ADDON), ("NoPolicy", POLICY), ("NoQuota", QUOTA)])
def test_what_fails_after_the_cluster_takes_it_back_in_an_order_that_works(eks: New, name: str, kind: str) -> None:
    train = eks(name)
    # The foundation has three add-ons.
    nth = {ADDON: 6, POLICY: 1, QUOTA: 2}[kind]
    train.aws.play({"type": kind, "operation": "create", "nth": nth, "message": "Internal failure"})
    assert "Internal failure" in train.deploy(fails=True)
    assert train.status(name) == "ROLLBACK_COMPLETE"
    assert train.made(name) == {}
    train.deploy()
    assert train.count(QUOTA) == 2


def test_everything_comes_after_what_it_needs_and_goes_before_it(eks: New) -> None:
    train = eks("Order")
    train.deploy()
    mine = train.made()
    train.run("destroy", "--all", "--force")
    events = [event for event in train.aws.events() if event["physical_id"] in mine]

    def places(operation: str) -> list[str]:
        return [event["physical_id"] for event in events if event["operation"] == operation]

    for order in (places("create"), places("delete")[::-1]):
        where = {each: order.index(each) for each in order}
        of = {kind: [where[each] for each in where if mine[each] == kind] for kind in set(mine.values())}
        nodes, addons = of[CLUSTER][0], {each.partition("|")[2]: where[each] for each in order if mine[each] == ADDON}
        before = {addons[each] for each in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")}
        assert of[PLANE][0] < min(before)
        assert max(before) < nodes
        assert {each for each in addons.values() if each > nodes} == set(addons.values()) - before
        assert addons["cert-manager"] < addons["amazon-sagemaker-hyperpod-training-operator"]
        assert addons["amazon-sagemaker-hyperpod-taskgovernance"] < of[POLICY][0] < min(of[QUOTA])
        assert max(of["AWS::EC2::SecurityGroupIngress"], default=-1) < nodes


def test_destroy_leaves_exactly_what_holds_data(eks: New) -> None:
    train = eks("Gone")
    train.deploy()
    train.run("destroy", "--all", "--force")
    assert [train.status(stack) for stack in ("Gone", "Gone-Foundation", "Gone-Budget")] == [None, None, None]
    under_it = {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup"}
    rules = {"AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress"}
    assert set(train.made().values()) == {FILE_SYSTEM} | under_it | rules
    assert train.count("AWS::EC2::Subnet") == 1
    (kept,) = train.kept()
    assert kept == "Gone-Foundation/Storage, 2,880 USD a month"


def test_in_one_stack_nothing_but_dependencies_decides_what_comes_and_goes_first(eks: New) -> None:
    train = eks("Alone")
    train.deploy(one_stack=True)
    assert train.nodes() == ["p5", "p5", "p5", "p5", "system", "system"]
    assert "Number of stacks with differences: 0" in train.run("diff", one_stack=True)
    train.run("destroy", "--all", "--force", one_stack=True)
    assert train.made() == {}


def test_quotas_change_and_a_team_goes(eks: New) -> None:
    train = eks("Teams")
    train.deploy(teams={"audio": 1, "vision": 2})
    before = train.made()
    train.deploy(teams={"audio": 2, "vision": 2})
    assert train.made() == before
    train.deploy(teams={"vision": 1})
    assert (train.count(QUOTA), train.count(ENTRY)) == (1, 2)
    assert set(train.made()) < set(before)


def test_teams_grow_with_the_cluster_in_one_deploy(eks: New) -> None:
    train = eks("Grown")
    train.deploy(teams={"audio": 2, "vision": 2})
    arn = train.cluster()["ClusterArn"]
    train.deploy(teams={"audio": 3, "vision": 5}, groups={"p5": {"count": 8}})
    assert train.nodes().count("p5") == 8
    assert train.cluster()["ClusterArn"] == arn


def test_what_a_team_leaves_is_given_to_others_by_the_next_deploy(eks: New) -> None:
    """CloudFormation deletes last: in one deploy both have it for a moment, which is more than the cluster has."""
    train = eks("Handed")
    train.deploy(teams={"audio": 2, "vision": 2})
    before = train.made()
    assert "exceed the cluster's 4" in train.deploy(fails=True, teams={"vision": 4})
    assert (train.status("Handed"), train.made()) == ("UPDATE_ROLLBACK_COMPLETE", before)
    train.deploy(teams={"vision": 2})
    train.deploy(teams={"vision": 4})
    assert train.count(QUOTA) == 1


def test_a_quota_whose_team_changes_goes_before_the_new_one_comes(eks: New) -> None:
    """The registry has `delete_then_create`: the name of the quota is free, and so is what it had."""
    train = eks("Other", "vision")
    train.deploy(teams={"vision": 4})
    before = {each for each, kind in train.made().items() if kind == QUOTA}
    train.deploy(teams={"vision": 4}, overrides={"cluster": [QUOTA, "ComputeQuotaTarget.TeamName", "speech"]})
    after = {each for each, kind in train.made().items() if kind == QUOTA}
    assert (len(before), len(after), before & after) == (1, 1, set())


def test_a_renamed_team_has_its_new_quota_before_the_old_one_goes(eks: New) -> None:
    train = eks("Named", "audio", "vision", "speech")
    train.deploy(teams={"audio": 1, "vision": 2})
    before = {each for each, kind in train.made().items() if kind == QUOTA}
    train.deploy(teams={"speech": 1, "vision": 2})
    after = {each for each, kind in train.made().items() if kind == QUOTA}
    assert (len(before), len(after), len(before & after)) == (2, 2, 1)


def test_the_cluster_comes_again_under_another_name_on_the_same_control_plane(eks: New) -> None:
    train = eks("Again")
    train.deploy()
    foundation = train.made("Again-Foundation")
    train.run("destroy", "Again", "--force")
    train.deploy(generation=2)
    assert train.cluster("Again-2")["ClusterStatus"] == "InService"
    assert train.made("Again-Foundation") == foundation
    assert train.count(QUOTA) == 2


def test_a_second_cluster_does_not_join_the_control_plane_of_a_running_one(eks: New) -> None:
    """AWS's guide has one HyperPod cluster for an EKS cluster; CloudFormation would make the new one first."""
    train = eks("Twice")
    train.deploy()
    before = train.made()
    assert "is that of HyperPod cluster Twice" in train.deploy(fails=True, generation=2)
    assert train.made() == before
    assert train.cluster()["ClusterStatus"] == "InService"


def test_kubernetes_goes_up_in_place_by_one_minor_version(eks: New) -> None:
    train = eks("Upward")
    train.deploy(kubernetes="1.32")
    before = train.made()
    train.deploy(kubernetes="1.33")
    assert train.made() == before
    said = train.deploy("Upward-Foundation", fails=True, kubernetes="1.35")
    assert "Unsupported Kubernetes minor version update from 1.33 to 1.35" in said
    assert (train.made(), train.cluster()["ClusterStatus"]) == (before, "InService")


def late(text: str) -> dict[str, Any]:
    """A text that CloudFormation puts together, which most rules of ours do not look into."""
    return {"Fn::Join": ["", list(text)]}


def test_what_eks_refuses_of_a_control_plane(aws: Aws, eks: New) -> None:
    """That the emulated account is strict: each of these is taken back."""
    eks("Taken").deploy("Taken-Foundation")
    train, subnet = eks("Refused"), late(aws.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"])
    refusals: list[tuple[str, Any, str]] = [
        ("Name", late("Taken"), "Cluster already exists with name: Taken"),
        ("ResourcesVpcConfig.SubnetIds", [subnet, subnet], "Subnets specified must be in at least two different AZs"),
    ]
    for path, value, why in refusals:
        said = train.deploy("Refused-Foundation", fails=True, overrides={"foundation": [PLANE, path, value]})
        assert why in " ".join(said.split())
        assert train.made() == {}


def test_what_nodes_and_addons_wait_for_in_vain(eks: New) -> None:
    """That the emulated account is strict: each of these takes the cluster back."""
    train = eks("Vain")
    inline = [{"ServiceAccount": "a", "RoleArn": late("arn:aws:iam::111122223333:role/Vain-platform")}]
    refusals: list[tuple[str, str, Any, str]] = [
        (CLUSTER, "Tags", [], "has no tag SageMaker=true"),
        (CLUSTER, "InstanceGroups.1.MinInstanceCount", 0, "doesn't have the desired number of replicas"),
        (ADDON, "PodIdentityAssociations", inline, "Pod Identity feature is not supported"),
        (POLICY, "SchedulerConfig.PriorityClasses.0.Name", late("training"), "the same name twice"),
        (ENTRY, "PrincipalArn", inline[0]["RoleArn"], "already in use on this cluster"),
    ]
    for of, path, value, why in refusals:
        said = train.deploy(fails=True, overrides={"cluster": [of, path, value]})
        assert why in " ".join(said.split())
        assert train.made("Vain") == {}
