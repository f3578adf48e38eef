"""First deploy, failed deploy, second deploy: what a platform team does in its first month, on an emulated account."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.proof.emulator.aws import LOOPBACK, ROOT, Aws
from tests.proof.emulator.deployed import Deployed

CLUSTER = "AWS::SageMaker::Cluster"
NO_CAPACITY = "We currently do not have sufficient capacity for the requested instance type(s). Please try again."
TIMED_OUT = "Exceeded attempts to wait (HandlerErrorCode: NotStabilized)"

pytestmark = pytest.mark.proof


def test_the_first_deploy_brings_nodes_and_a_second_one_changes_nothing(
    aws: Aws, new: Callable[[str], Deployed]
) -> None:
    train = new("First")
    train.deploy()
    assert train.cluster()["ClusterStatus"] == "InService"
    assert train.nodes() == ["controller", "login", "p5", "p5", "p5", "p5"]
    said = train.run("diff", "--all")
    assert "Number of stacks with differences: 0" in said
    command = [sys.executable, "-m", "hyperpod_constructs.cli", "status", "First", "--wait", "--nodes", "p5=4"]
    ready = subprocess.run(command, env={**aws.environment, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    assert ready.returncode == 0, ready.stderr


@pytest.mark.parametrize(("name", "message"), [("NoCapacity", NO_CAPACITY), ("TimedOut", TIMED_OUT)])
def test_after_a_refused_cluster_nothing_that_bills_is_left_and_the_second_deploy_works(
    aws: Aws, new: Callable[[str], Deployed], name: str, message: str
) -> None:
    train = new(name)
    aws.play({"type": CLUSTER, "operation": "create", "nth": 1, "message": message})
    assert message in train.deploy(fails=True)
    assert train.status(name) == "ROLLBACK_COMPLETE"
    kept = train.resources(f"{name}-Foundation")
    left = {event["physical_id"] for event in aws.events() if event["stack"] == name}
    left -= {event["physical_id"] for event in aws.events() if event["operation"] == "delete"}
    assert left == set()
    train.deploy()
    assert train.cluster()["ClusterStatus"] == "InService"
    assert train.resources(f"{name}-Foundation") == kept


def test_a_foundation_that_fails_at_first_leaves_no_empty_file_system(aws: Aws, new: Callable[[str], Deployed]) -> None:
    train = new("Empty")
    aws.play({"type": "AWS::SNS::TopicPolicy", "operation": "create", "nth": 1, "message": "Invalid parameter"})
    train.deploy(fails=True)
    assert train.status("Empty-Foundation") == "ROLLBACK_COMPLETE"
    made = [event["physical_id"] for event in aws.events() if event["stack"] == "Empty-Foundation"]
    deleted = {event["physical_id"] for event in aws.events() if event["operation"] == "delete"}
    assert [each for each in made if each.startswith("fs-")] != []
    assert set(made) <= deleted
    train.deploy()
    assert train.cluster()["ClusterStatus"] == "InService"


def test_the_cluster_comes_after_all_that_its_nodes_need_and_goes_before_it(
    aws: Aws, new: Callable[[str], Deployed]
) -> None:
    train = new("Order")
    train.deploy()
    train.run("destroy", "Order", "--force")
    mine = [event for event in aws.events() if event["stack"].startswith("Order")]
    created = [event["type"] for event in mine if event["operation"] == "create"]
    needed = {
        "AWS::EC2::NatGateway",
        "AWS::EC2::Route",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::EC2::SubnetRouteTableAssociation",
        "AWS::EC2::VPCEndpoint",
        "AWS::FSx::FileSystem",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
    }
    assert needed <= set(created[: created.index(CLUSTER)])
    physical = {event["physical_id"]: event["type"] for event in mine if event["stack"] == "Order"}
    gone = [
        physical[event["physical_id"]]
        for event in aws.events()
        if event["operation"] == "delete" and event["physical_id"] in physical
    ]
    assert gone.index(CLUSTER) < min(gone.index("AWS::IAM::Policy"), gone.index("AWS::IAM::Role"))


def test_in_one_stack_nothing_but_dependencies_brings_the_cluster_last(
    new: Callable[[str], Deployed], tmp_path: Path
) -> None:
    train = new("Alone")
    (tmp_path / "on_init_complete.sh").write_text("#!/bin/bash\necho ready\n")
    train.deploy(one_stack=True, scripts=str(tmp_path))
    assert train.nodes() == ["controller", "p5", "p5", "p5", "p5"]
    assert "Number of stacks with differences: 0" in train.run("diff", one_stack=True, scripts=str(tmp_path))


def test_scripts_of_a_bucket_deployment_are_there_before_the_nodes(
    new: Callable[[str], Deployed], tmp_path: Path
) -> None:
    train = new("Bucket")
    (tmp_path / "on_init_complete.sh").write_text("#!/bin/bash\necho ready\n")
    train.deploy(bucket_scripts=str(tmp_path))
    assert train.nodes() == ["controller", "p5"]
    train.run("destroy", "--all", "--force", bucket_scripts=str(tmp_path))
    assert train.status("Bucket") is None


def test_the_smallest_cluster_comes_and_goes_without_a_trace(aws: Aws, new: Callable[[str], Deployed]) -> None:
    """The first deploy of a new account: examples/smoke.py as it stands."""
    new("Smoke")
    aws.cdk("deploy", "--all", "--require-approval", "never", app=ROOT / "examples/smoke.py")
    assert aws.client("sagemaker").describe_cluster(ClusterName="Smoke")["ClusterStatus"] == "InService"
    made = {event["physical_id"] for event in aws.events() if event["stack"].startswith("Smoke")}
    aws.cdk("destroy", "--all", "--force", app=ROOT / "examples/smoke.py")
    assert made <= {event["physical_id"] for event in aws.events() if event["operation"] == "delete"}


def test_the_emulator_listens_on_the_loopback_only(aws: Aws) -> None:
    listening = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    own = [line.split()[3] for line in listening.splitlines() if f"pid={aws.pid}," in line]
    assert sorted(own) == sorted(f"{LOOPBACK}:{port}" for port in aws.ports)


def test_the_same_name_in_use_refuses_a_second_cluster(new: Callable[[str], Deployed]) -> None:
    first, second = new("Taken"), new("Other")
    first.deploy()
    arn = first.cluster()["ClusterArn"]
    overrides = {"cluster": ["AWS::SageMaker::Cluster", "ClusterName", "Taken"]}
    assert "already exists" in second.deploy(fails=True, overrides=overrides)
    assert first.cluster()["ClusterArn"] == arn


def test_growing_and_shrinking_keeps_the_cluster_and_its_oldest_nodes(aws: Aws, new: Callable[[str], Deployed]) -> None:
    train = new("Scale")
    train.deploy(groups={"p5": {"count": 2}})
    arn, sagemaker = train.cluster()["ClusterArn"], aws.client("sagemaker")

    def ids() -> set[str]:
        listed = sagemaker.list_cluster_nodes(ClusterName="Scale")["ClusterNodeSummaries"]
        return {node["InstanceId"] for node in listed}

    two = ids()
    train.deploy(groups={"p5": {"count": 3, "spares": 1}})
    four = ids()
    assert (len(four - two), two < four) == (2, True)
    train.deploy(groups={"p5": {"count": 2}})
    assert ids() == two
    assert train.cluster()["ClusterArn"] == arn


def test_a_group_comes_and_goes_without_touching_the_others(new: Callable[[str], Deployed]) -> None:
    train = new("Groups")
    train.deploy(groups={"p5": {"count": 1}})
    arn = train.cluster()["ClusterArn"]
    train.deploy(groups={"p5": {"count": 1}, "more": {"count": 2}})
    assert train.nodes() == ["controller", "login", "more", "more", "p5"]
    train.deploy(groups={"p5": {"count": 1}})
    assert train.nodes() == ["controller", "login", "p5"]
    assert train.cluster()["ClusterArn"] == arn


def test_what_a_group_keeps_for_life_is_refused_and_the_cluster_runs_on(new: Callable[[str], Deployed]) -> None:
    train = new("Fixed")
    train.deploy()
    before = train.cluster()
    said = train.deploy(fails=True, overrides={"cluster": [CLUSTER, "InstanceGroups.1.InstanceType", "ml.m5.4xlarge"]})
    assert "InstanceType of instance group" in said
    assert train.status("Fixed") == "UPDATE_ROLLBACK_COMPLETE"
    assert train.cluster() == before


def test_edited_scripts_reach_the_cluster_under_another_address(new: Callable[[str], Deployed], tmp_path: Path) -> None:
    train, script = new("Scripts"), tmp_path / "on_init_complete.sh"

    def source() -> str:
        configs = [group["LifeCycleConfig"] for group in train.cluster()["InstanceGroups"]]
        (only,) = {config["SourceS3Uri"] for config in configs}
        return str(only)

    script.write_text("#!/bin/bash\necho one\n")
    train.deploy(scripts=str(tmp_path))
    first, arn = source(), train.cluster()["ClusterArn"]
    script.write_text("#!/bin/bash\necho two\n")
    train.deploy(scripts=str(tmp_path))
    assert source() != first
    assert train.cluster()["ClusterArn"] == arn


def test_another_training_plan_is_taken_in_place(new: Callable[[str], Deployed]) -> None:
    train = new("Plans")

    def plan() -> str:
        (group,) = [each for each in train.cluster()["InstanceGroups"] if each["InstanceGroupName"] == "p5"]
        return str(group["TrainingPlanArn"])

    arns = [f"arn:aws:sagemaker:us-west-2:111122223333:training-plan/{name}" for name in ("winter", "spring")]
    train.deploy(groups={"p5": {"plan": arns[0]}})
    first, cluster = plan(), train.cluster()["ClusterArn"]
    train.deploy(groups={"p5": {"plan": arns[1]}})
    assert [first, plan()] == arns
    assert train.cluster()["ClusterArn"] == cluster


def test_another_vpc_config_is_refused_and_no_second_cluster_is_built(aws: Aws, new: Callable[[str], Deployed]) -> None:
    train = new("Vpc")
    train.deploy()
    before = train.cluster()
    default = aws.client("ec2").describe_security_groups(GroupNames=["default"])["SecurityGroups"][0]["GroupId"]
    said = train.deploy(fails=True, overrides={"cluster": [CLUSTER, "VpcConfig.SecurityGroupIds", [default]]})
    assert "already exists" in said
    assert train.cluster() == before
    assert [each["ClusterName"] for each in aws.client("sagemaker").list_clusters()["ClusterSummaries"]].count(
        "Vpc"
    ) == 1


def test_a_file_system_whose_mount_a_cluster_imports_is_not_replaced(aws: Aws, new: Callable[[str], Deployed]) -> None:
    """An export in use does not change: the update is rolled back, and the new empty one goes again."""
    train = new("Files")
    train.deploy()
    before = train.resources("Files-Foundation")["AWS::FSx::FileSystem"]
    said = train.deploy("Files-Foundation", fails=True, overrides={"foundation": elsewhere(aws)})
    assert "cannot be updated as it is in use by Files" in said
    assert train.resources("Files-Foundation")["AWS::FSx::FileSystem"] == before
    assert before not in {event["physical_id"] for event in aws.events() if event["operation"] == "delete"}
    assert train.cluster()["ClusterStatus"] == "InService"


def test_a_file_system_that_is_replaced_stays(aws: Aws, new: Callable[[str], Deployed]) -> None:
    train = new("Kept")
    train.deploy("Kept-Foundation")
    before = train.resources("Kept-Foundation")["AWS::FSx::FileSystem"]
    train.deploy("Kept-Foundation", overrides={"foundation": elsewhere(aws)})
    assert train.resources("Kept-Foundation")["AWS::FSx::FileSystem"] != before
    assert before not in {event["physical_id"] for event in aws.events() if event["operation"] == "delete"}


def elsewhere(aws: Aws) -> list[Any]:
    """An override that puts the file system into another subnet."""
    subnet = aws.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
    return ["AWS::FSx::FileSystem", "SubnetIds", [subnet]]


def test_a_region_without_budgets_refuses_the_budget_and_not_the_cluster(
    aws: Aws, new: Callable[[str], Deployed]
) -> None:
    train = new("Budget")
    aws.play({"absent": "AWS::Budgets::Budget"})
    assert "AWS::Budgets::Budget" in train.deploy(fails=True)
    train.deploy("Budget-Foundation", "Budget")
    assert train.cluster()["ClusterStatus"] == "InService"


def test_a_connection_that_is_lost_for_a_moment_does_not_fail_the_deploy(
    aws: Aws, new: Callable[[str], Deployed]
) -> None:
    train = new("Lost")
    aws.play({"disconnect": 2})
    train.deploy()
    assert train.cluster()["ClusterStatus"] == "InService"


def test_destroy_leaves_exactly_what_holds_data_and_its_monthly_cost_is_printed(
    aws: Aws, new: Callable[[str], Deployed]
) -> None:
    train = new("Gone")
    train.deploy()
    data = train.resources("Gone-Foundation")["AWS::FSx::FileSystem"]
    made = {event["physical_id"]: event["type"] for event in aws.events() if event["stack"].startswith("Gone")}
    train.run("destroy", "--all", "--force")
    assert [train.status(stack) for stack in ("Gone", "Gone-Foundation", "Gone-Budget")] == [None, None, None]
    deleted = {event["physical_id"] for event in aws.events() if event["operation"] == "delete"}
    left = {made[each] for each in set(made) - deleted}
    under_it = {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup"}
    rules = {"AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress"}
    assert left == {"AWS::FSx::FileSystem"} | under_it | rules
    assert data not in deleted
    (kept,) = train.kept()
    assert kept == "Gone-Foundation/Storage, 2,880 USD a month"


def test_a_cluster_comes_again_under_another_name_on_the_same_foundation(new: Callable[[str], Deployed]) -> None:
    train = new("Again")
    train.deploy()
    foundation = train.resources("Again-Foundation")
    train.run("destroy", "Again", "--force")
    train.deploy(generation=2)
    assert train.cluster("Again-2")["ClusterStatus"] == "InService"
    assert train.resources("Again-Foundation") == foundation


def test_two_clusters_live_in_one_account(new: Callable[[str], Deployed]) -> None:
    both = new("Left")
    both.deploy(names=["Left", "Right"])
    assert {both.cluster(name)["ClusterStatus"] for name in ("Left", "Right")} == {"InService"}
    both.run("destroy", "Left", "--force", names=["Left", "Right"])
    assert both.cluster("Right")["ClusterStatus"] == "InService"
