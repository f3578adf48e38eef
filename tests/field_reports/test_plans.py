"""Field reports on training plans and capacity (section G)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs import rules
from tests.account.fake_account import FakeAccount
from tests.account.small import Small
from tests.field_reports.settled import checked, ids, settled
from tests.templates import synthesized

if TYPE_CHECKING:
    import aws_cdk as cdk

NOT_SEEN = Path(__file__).parents[2] / "docs" / "what-no-check-can-see.md"
ARN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier"
CONTROLLER = hp.InstanceGroup.controller("ml.m5.xlarge")


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)


def plan(name: str = "frontier", **fields: Any) -> hp.TrainingPlan:
    facts = {"count": 4, "zone": "usw2-az2", "starts": "2026-12-07", "ends": "2027-02-14", **fields}
    return hp.TrainingPlan(name, **facts)


def p5(name: str = "p5", count: int = 4, **fields: Any) -> hp.InstanceGroup:
    kind = fields.pop("kind", "ml.p5.48xlarge")
    return hp.InstanceGroup.compute(name, kind, count=count, **{"capacity": plan(), **fields})


def build(*groups: hp.InstanceGroup, stack: cdk.Stack, network: hp.Network) -> None:
    hp.Cluster(stack, "Cluster", name="train", network=network, groups=[CONTROLLER, *groups])


def refused(*groups: hp.InstanceGroup, stack: cdk.Stack, network: hp.Network) -> str:
    """Why the construct refuses these groups."""
    with pytest.raises(hp.InvalidCluster) as error:
        build(*groups, stack=stack, network=network)
    return str(error.value)


def found(*groups: dict[str, Any]) -> list[str]:
    """The rules that speak of a Slurm cluster whose subnet is in us-west-2; the note that a plan is bare left out."""
    subnet = {"VpcId": "vpc-0123456789abcdef0", "CidrBlock": "10.1.0.0/20", "AvailabilityZoneId": "usw2-az2"}
    controller = {
        "InstanceGroupName": "controller",
        "InstanceType": "ml.m5.4xlarge",
        "InstanceCount": 1,
        "ExecutionRole": "arn:aws:iam::111122223333:role/nodes",
        "SlurmConfig": {"NodeType": "Controller"},
    }
    properties = {
        "ClusterName": "train",
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Slurm": {}},
        "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": [{"Ref": "Nodes"}]},
        "InstanceGroups": [controller, *groups],
    }
    resources = {
        "Nodes": {"Type": "AWS::EC2::Subnet", "Properties": subnet},
        "Train": {"Type": "AWS::SageMaker::Cluster", "Properties": properties},
    }
    return [each for each in ids(checked(json.dumps({"Resources": resources}))) if each != "HP1109"]


def group(name: str, arn: str = ARN, kind: str = "ml.p5.48xlarge", **fields: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceType": kind,
        "InstanceCount": 2,
        "ExecutionRole": "arn:aws:iam::111122223333:role/nodes",
        "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]},
        "TrainingPlanArn": arn,
        **fields,
    }


def said_of(report: str) -> str:
    """The line on a report in the page of what no check can see."""
    lines = NOT_SEEN.read_text().replace("\n  ", " ").splitlines()
    (line,) = (each for each in lines if each.endswith(f"[{report}]"))
    return line


BASELINE = found(group("p5"))
"""What is said of a group on a plan in any case."""


@settled("synth")
def test_field_report_G_01_each_group_may_have_its_plan_and_several_may_share_one(
    stack: cdk.Stack, network: hp.Network
) -> None:
    build(p5("a", capacity=plan("one")), p5("b", capacity=plan("two")), stack=stack, network=network)
    hp.Cluster(stack, "Shared", name="shared", network=network, groups=[CONTROLLER, p5("a", count=1), p5("b", count=3)])
    assert found(group("a"), group("b", f"{ARN}-2")) == BASELINE
    assert found(group("a"), group("b")) == BASELINE


@settled("synth")
def test_field_report_G_01_but_only_as_far_as_its_count_goes(stack: cdk.Stack, network: hp.Network) -> None:
    said = refused(p5("a", count=2), p5("b", count=2, spares=1), stack=stack, network=network)
    assert "group 'a' (2), group 'b' (2 + 1 spare): 5 instances on training plan 'frontier', which holds 4" in said


@settled("synth")
def test_field_report_G_02_a_plan_has_a_zone_a_type_a_count_and_a_place(stack: cdk.Stack, network: hp.Network) -> None:
    def why(**fields: Any) -> str:
        return refused(p5(**fields), stack=stack, network=network)

    assert "stands in usw2-az2, but training plan 'frontier' in usw2-az1" in why(capacity=plan(zone="usw2-az1"))
    assert "holds ml.p5en.48xlarge" in why(capacity=plan(instance_type="ml.p5en.48xlarge"))
    assert "5 instances on training plan 'frontier', which holds 4" in why(count=5)
    elsewhere = ARN.replace("us-west-2", "us-east-1")
    assert "is in us-east-1, its cluster in us-west-2" in why(capacity=hp.TrainingPlan.unchecked(elsewhere))
    assert sorted(set(found(group("p5", elsewhere))) - set(BASELINE)) == ["HP1101"]
    two_types = found(group("a"), group("b", kind="ml.p5en.48xlarge"))
    assert sorted(set(two_types) - set(BASELINE)) == ["HP1113"]


@settled("preflight")
def test_field_report_G_02_the_target_of_a_plan_is_read_from_the_account(tmp_path: Path) -> None:
    for targets, found in ((["training-job", "endpoint"], ["HP9033"]), (["endpoint", "hyperpod-cluster"], [])):
        with FakeAccount() as account:
            small = Small(account, tmp_path / "cdk.out")
            small.on_plan(TargetResources=targets)
            assert ids([*small.look("training plans").findings]) == found
    assert "hyperpod preflight" in said_of("G-02")


@settled("template")
def test_field_report_G_04_no_placement_group_is_made_or_asked_for(stack: cdk.Stack, network: hp.Network) -> None:
    build(p5(), stack=stack, network=network)
    assert "PlacementGroup" not in json.dumps(synthesized(stack))
    assert not any("placement group" in f"{rule.title} {rule.because}".lower() for rule in rules.RULES.values())


@settled("synth")
def test_field_report_G_05_a_message_lists_the_zones_of_the_group(stack: cdk.Stack) -> None:
    wide = hp.ClusterNetwork(
        stack, "Wide", zones=["usw2-az1", "usw2-az3"], egress="closed", endpoints=[], flow_logs=False
    )
    said = refused(p5(zone="usw2-az3"), stack=stack, network=wide)
    assert "group 'p5' stands in usw2-az3, but training plan 'frontier' in usw2-az2" in said
    hp.Cluster(
        stack,
        "Fine",
        name="fine",
        network=wide,
        groups=[CONTROLLER, p5(zone="usw2-az3", capacity=plan(zone="usw2-az3"))],
    )


@settled("synth")
def test_field_report_G_06_a_plan_changes_at_half_past_eleven() -> None:
    bought = plan()
    assert bought.arrives == datetime(2026, 12, 7, 11, 30, tzinfo=UTC)
    assert bought.leaves == datetime(2027, 2, 14, 10, 30, tzinfo=UTC)
    with pytest.raises(hp.InvalidValue, match="use an end after the start"):
        plan(ends="2026-12-07")
    assert "nodes leave at 10:30 UTC of the last day" in said_of("G-06")
