from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.account import gateway
from hyperpod_constructs.account.gateway import Session
from hyperpod_constructs.cli import snapshot
from tests.account.conftest import NOW, freeze, group, node, plan
from tests.account.fake_account import FakeAccount, Refused
from tests.cli.conftest import Run

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/0123456789ab"
ROLE = "arn:aws:iam::123456789012:role/nodes"
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/frontier"
USAGE = "ml.p5.48xlarge for cluster usage"
IN_ALL = "Total number of instances allowed across SageMaker HyperPod clusters"
IN_ONE = "Maximum number instances allowed per SageMaker HyperPod cluster"


class World:
    """An account with the cluster Frontier, a second one, a plan, a file system and quotas."""

    def __init__(self, account: FakeAccount) -> None:
        self.account = account
        subnet = account.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
        made = account.client("fsx").create_file_system(
            FileSystemType="LUSTRE", StorageCapacity=48_000, SubnetIds=[subnet]
        )
        self.file_system: str = made["FileSystem"]["FileSystemId"]
        self.fill(7_000, 5_000, minutes=5)
        self.renew()

    def renew(self) -> None:
        """Everything is as it was, but for what the disks have reported."""
        self.account.denied.clear()
        self.clusters = {"Frontier": self.cluster(), "second": self.cluster("second", [group("p5", 8)])}
        self.account.answers |= {
            "DescribeCluster": self.described,
            "ListClusters": lambda _: {"ClusterSummaries": [self.summary(name) for name in self.clusters]},
            "ListClusterNodes": lambda _: {"ClusterNodeSummaries": [node("p5", "Running"), node("p5", "Pending")]},
            "DescribeTrainingPlan": lambda _: plan("frontier", TrainingPlanArn=PLAN),
            "ListServiceQuotas": lambda _: {"Quotas": [quota(USAGE, 40)]},
            "ListAWSDefaultServiceQuotas": lambda _: {
                "Quotas": [quota(USAGE, 0), quota(IN_ALL, 30), quota(IN_ONE, 20)]
            },
        }

    def cluster(self, name: str = "Frontier", groups: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        mounted = {"DnsName": f"{self.file_system}.fsx.us-west-2.amazonaws.com", "MountName": "abcdefgh"}
        p5 = group(
            "p5",
            32,
            CurrentCount=30,
            Status="Degraded",
            TrainingPlanArn=PLAN,
            TrainingPlanStatus="Active",
            CurrentImageId="default",
            CurrentImageReleaseVersion="1.2.3",
            ImageVersionStatus="UpToDate",
            ExecutionRole=ROLE,
            LifeCycleConfig={"SourceS3Uri": "s3://assets-123456789012/scripts/0123456789abcdef"},
            InstanceStorageConfigs=[{"FsxLustreConfig": mounted}],
        )
        return {
            "ClusterArn": ARN if name == "Frontier" else ARN[:-1] + "c",
            "ClusterName": name,
            "ClusterStatus": "InService",
            "CreationTime": NOW,
            "NodeProvisioningMode": "Continuous",
            "Orchestrator": {"Slurm": {}},
            "InstanceGroups": [p5] if groups is None else groups,
        }

    def described(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if asked["ClusterName"] not in self.clusters:
            raise Refused("ResourceNotFound")
        return self.clusters[asked["ClusterName"]]

    def summary(self, name: str) -> dict[str, Any]:
        kept = ("ClusterArn", "ClusterName", "ClusterStatus", "CreationTime")
        return {key: self.clusters[name][key] for key in kept}

    def fill(self, *bytes_by_disk: int, minutes: int) -> None:
        """Each disk of the file system reports what is on it, some minutes ago."""
        dimensions = [{"Name": "FileSystemId", "Value": self.file_system}]
        for size in bytes_by_disk:
            datum = {
                "MetricName": "PhysicalDiskUsage",
                "Dimensions": dimensions,
                "Timestamp": NOW - timedelta(minutes=minutes),
                "Value": size,
            }
            self.account.client("cloudwatch").put_metric_data(Namespace="AWS/FSx", MetricData=[datum])


def quota(name: str, value: float) -> dict[str, Any]:
    return {"QuotaName": name, "QuotaCode": "L-0123ABCD", "Value": value, "Adjustable": True}


@pytest.fixture(scope="module")
def _world() -> Iterator[tuple[World, Session]]:
    """One for all tests: boto3 reads the models of six services for each session."""
    with FakeAccount() as account:
        yield World(account), gateway.sign_in(profile=None, region="us-west-2")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, _world: tuple[World, Session]) -> World:
    world, session = _world
    freeze(monkeypatch, snapshot)
    monkeypatch.setattr(gateway, "sign_in", lambda **_: session)
    world.renew()
    return world


class TestASnapshot:
    def test_has_exactly_the_documented_keys(self, run: Run, world: World) -> None:
        result = run("snapshot", "Frontier")
        assert (result.code, result.err) == (0, "")
        assert result.data == {
            "format": "hyperpod-snapshot",
            "version": 1,
            "taken": "2027-01-10T10:00:00+00:00",
            "account": "123456789012",
            "region": "us-west-2",
            "redacted": False,
            "cluster": {
                "name": "Frontier",
                "arn": ARN,
                "id": "0123456789ab",
                "status": "InService",
                "failure_message": None,
                "created": "2027-01-10T10:00:00+00:00",
                "orchestrator": "slurm",
                "configured_by_api": True,
                "continuous": True,
                "groups": [
                    {
                        "name": "p5",
                        "instance_type": "ml.p5.48xlarge",
                        "spot": False,
                        "target": 32,
                        "current": 30,
                        "nodes": {"Pending": 1, "Running": 1},
                        "status": "Degraded",
                        "plan": PLAN,
                        "plan_status": "Active",
                        "image": {"id": "default", "release": "1.2.3", "status": "UpToDate"},
                        "scripts": "s3://assets-123456789012/scripts/0123456789abcdef",
                        "role": ROLE,
                        "file_systems": [f"{world.file_system}.fsx.us-west-2.amazonaws.com"],
                    }
                ],
            },
            "plans": [
                {
                    "arn": PLAN,
                    "name": "frontier",
                    "status": "Active",
                    "count": 32,
                    "available": None,
                    "in_use": 30,
                    "unhealthy": None,
                    "instance_types": ["ml.p5.48xlarge"],
                    "zones": ["usw2-az2"],
                    "targets": ["hyperpod-cluster"],
                    "starts": "2026-12-07T11:30:00+00:00",
                    "ends": "2027-02-14T11:30:00+00:00",
                }
            ],
            "file_systems": [
                {
                    "id": world.file_system,
                    "kind": "LUSTRE",
                    "status": "AVAILABLE",
                    "capacity_gib": 48_000,
                    "used_bytes": 12_000,
                    "measured": "2027-01-10T09:55:00+00:00",
                }
            ],
            "quotas": [
                {"service": "sagemaker", "name": USAGE, "code": "L-0123ABCD", "applied": 40.0, "used": 40},
                {"service": "sagemaker", "name": IN_ONE, "code": "L-0123ABCD", "applied": 20.0, "used": 32},
                {"service": "sagemaker", "name": IN_ALL, "code": "L-0123ABCD", "applied": 30.0, "used": 40},
            ],
            "missing": [],
        }

    def test_has_the_last_minute_that_is_whole(self, run: Run, world: World) -> None:
        world.fill(1, minutes=1)
        world.fill(9_000, minutes=20)
        assert run("snapshot", "Frontier").data["file_systems"][0]["used_bytes"] == 12_000

    @pytest.mark.usefixtures("world")
    def test_says_nothing_of_a_file_system_that_reports_nothing(self, run: Run) -> None:
        result = run("snapshot", "Frontier", "--file-system", "fs-0123456789abcdef0")
        assert result.code == 0
        assert result.data["file_systems"][1] == {
            "id": "fs-0123456789abcdef0",
            "kind": None,
            "status": None,
            "capacity_gib": None,
            "used_bytes": None,
            "measured": None,
        }

    def test_counts_spot_and_other_instances_apart(self, run: Run, world: World) -> None:
        spot = group("spot", 4, CapacityRequirements={"Spot": {}})
        world.clusters = {"Frontier": world.cluster(groups=[group("p5", 8), spot])}
        used = {each["name"]: each["used"] for each in run("snapshot", "Frontier").data["quotas"]}
        assert used == {
            USAGE: 8,
            "ml.p5.48xlarge for cluster spot instance usage": 4,
            "Total number of Spot instances allowed across SageMaker HyperPod clusters": 4,
            IN_ONE: 12,
            IN_ALL: 12,
        }

    def test_of_a_legacy_cluster_says_so(self, run: Run, world: World) -> None:
        legacy = world.cluster()
        del legacy["Orchestrator"], legacy["NodeProvisioningMode"]
        world.clusters["Frontier"] = legacy
        found = run("snapshot", "Frontier").data["cluster"]
        assert (found["orchestrator"], found["configured_by_api"], found["continuous"]) == ("slurm", False, False)

    @pytest.mark.parametrize("status", ["Creating", "Failed"])
    def test_of_a_cluster_that_is_not_in_service_has_its_state(self, run: Run, world: World, status: str) -> None:
        world.clusters["Frontier"] |= {"ClusterStatus": status, "FailureMessage": "because"}
        found = run("snapshot", "Frontier").data["cluster"]
        assert (found["status"], found["failure_message"]) == (status, "because")


class TestRedact:
    def test_leaves_nobody_and_says_so(self, run: Run, world: World) -> None:
        said = "User: arn:aws:sts::123456789012:assumed-role/Admin/ada@example.com is not authorized"
        world.clusters["Frontier"]["FailureMessage"] = said
        result = run("snapshot", "Frontier", "--redact")
        assert result.code == 0
        assert "123456789012" not in result.out
        assert "ada" not in result.out
        assert (result.data["redacted"], result.data["account"]) == (True, "000000000001")
        assert result.data["cluster"]["arn"] == ARN.replace("123456789012", "000000000001")


@pytest.mark.usefixtures("world")
class TestOutput:
    def test_is_a_file_and_nothing_else(self, run: Run) -> None:
        result = run("snapshot", "Frontier", "--output", "snap.json")
        assert (result.code, result.out) == (0, "")
        assert json.loads(Path("snap.json").read_text())["version"] == 1
        assert [path.name for path in Path().iterdir()] == ["snap.json"]

    def test_that_cannot_be_written_is_exit_2_and_leaves_nothing(self, run: Run) -> None:
        Path("snap.json").mkdir()
        result = run("snapshot", "Frontier", "--output", "snap.json")
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert [path.name for path in Path().iterdir()] == ["snap.json"]


class TestPartialPermissions:
    @pytest.mark.parametrize(
        ("denied", "permission", "part"),
        [
            ("ListClusterNodes", "sagemaker:ListClusterNodes", "nodes"),
            ("DescribeTrainingPlan", "sagemaker:DescribeTrainingPlan", "plans"),
            ("DescribeFileSystems", "fsx:DescribeFileSystems", "file_systems"),
            ("GetMetricData", "cloudwatch:GetMetricData", "file_systems"),
            ("ListServiceQuotas", "servicequotas:ListServiceQuotas", "quotas"),
            ("ListClusters", "sagemaker:ListClusters", "quotas"),
        ],
    )
    def test_print_the_rest_say_what_lacks_and_write_no_file(
        self, run: Run, world: World, denied: str, permission: str, part: str
    ) -> None:
        world.account.denied.add(denied)
        result = run("snapshot", "Frontier", "--output", "snap.json")
        assert result.code == 2
        assert not Path("snap.json").exists()
        assert [(each["what"], each["permission"]) for each in result.data["missing"]] == [(part, permission)]
        assert f"no permission for {permission} in us-west-2" in result.err
        assert "the snapshot is not complete, so snap.json was not written; it is printed instead" in result.err

    def test_leave_use_of_quotas_open_where_another_cluster_may_not_be_read(self, run: Run, world: World) -> None:
        world.account.denied.add("ListClusters")
        used = {each["name"]: each["used"] for each in run("snapshot", "Frontier").data["quotas"]}
        assert used == {USAGE: None, IN_ONE: 32, IN_ALL: None}

    def test_leave_it_open_where_only_one_of_the_others_may_not_be_read(self, run: Run, world: World) -> None:
        def described(asked: Mapping[str, Any]) -> dict[str, Any]:
            if asked["ClusterName"] == "second":
                raise Refused("AccessDeniedException")
            return world.described(asked)

        world.account.answers["DescribeCluster"] = described
        result = run("snapshot", "Frontier")
        used = {each["name"]: each["used"] for each in result.data["quotas"]}
        assert (result.code, used) == (2, {USAGE: None, IN_ONE: 32, IN_ALL: None})

    def test_for_the_cluster_itself_are_one_line(self, run: Run, world: World) -> None:
        world.account.denied.add("DescribeCluster")
        result = run("snapshot", "Frontier", "--output", "snap.json")
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert not Path("snap.json").exists()


@pytest.mark.usefixtures("world")
class TestUsage:
    @pytest.mark.parametrize("command", ["snapshot", "status", "ssh-config", "explain"])
    def test_a_cluster_of_another_region_is_exit_2_with_the_region_to_use(self, run: Run, command: str) -> None:
        result = run(command, ARN.replace("us-west-2", "us-east-1"))
        assert (result.code, result.out) == (2, "")
        assert result.err.endswith("us-west-2 was asked: use --region us-east-1\n")

    def test_no_such_cluster_is_exit_2(self, run: Run) -> None:
        result = run("snapshot", "Missing")
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("hyperpod: there is no cluster Missing in us-west-2, the Region that was asked")

    def test_what_is_no_file_system_is_exit_2(self, run: Run) -> None:
        result = run("snapshot", "Frontier", "--file-system", "scratch")
        assert result.code == 2
        assert "'scratch' is not a file system; use an id such as fs-0123456789abcdef0" in result.err
