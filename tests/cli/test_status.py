from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from moto import mock_aws

from hyperpod_constructs.account import gateway
from hyperpod_constructs.cli import status
from tests.account.conftest import Account, freeze, group, plan
from tests.cli.conftest import CLUSTER, Run

PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier"
ON_PLAN = {
    "TrainingPlanArn": PLAN,
    "TrainingPlanStatus": "Active",
    "CurrentImageId": "ami-0123456789abcdef0",
    "CurrentImageReleaseVersion": "1.2.3",
    "ImageVersionStatus": "UpdateAvailable",
    "LifeCycleConfig": {"SourceS3Uri": "s3://bucket/scripts/0123456789abcdef"},
}
"""What a group on a training plan has, as DescribeCluster shows it."""
PRINTED = "hyperpod status Frontier --wait --nodes controller=1 login=1 p5=30 --region us-west-2"
"""The output of our stacks, as it is typed."""


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """The account that the command opens; time passes without anybody waiting for it."""
    account, now = Account(), [0.0]
    monkeypatch.setattr(gateway, "sign_in", lambda **_: account)
    freeze(monkeypatch, status)
    monkeypatch.setattr(status, "monotonic", lambda: now[0])
    monkeypatch.setattr(status, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    yield account
    account.assert_everything_was_asked_for()


def frontier(account: Account, running: int, pending: int = 0, **fields: str) -> None:
    """The next look sees the cluster of `PRINTED` with so many p5 nodes."""
    account.has(
        group("controller", 1, InstanceType="ml.m5.4xlarge"),
        group("login", 1, InstanceType="ml.m5.2xlarge"),
        group("p5", 32, CurrentCount=running + pending, TrainingPlanStatus="Active"),
        nodes={"controller": ["Running"], "login": ["Running"], "p5": ["Running"] * running + ["Pending"] * pending},
        **fields,
    )


class TestTheLineThatStacksPrint:
    def test_waits_for_the_nodes_and_is_exit_0(self, run: Run, account: Account) -> None:
        frontier(account, running=0, ClusterStatus="InService")
        frontier(account, running=12, pending=18)
        frontier(account, running=30, pending=2)
        pending = "2 Pending, 30 Running"
        result = run(*shlex.split(PRINTED)[1:])
        assert result.code == 0
        assert result.err.splitlines() == [
            "0:00:00 InService, controller 1 of 1, login 1 of 1, p5 0 of 30",
            "0:00:30 InService, controller 1 of 1, login 1 of 1, p5 12 of 30 (18 Pending)",
            "0:01:00 InService, controller 1 of 1, login 1 of 1, p5 30 of 30 (2 Pending)",
        ]
        assert result.out.splitlines() == [
            "cluster Frontier in us-west-2: InService",
            "  group       type            wanted  running  spares  current  target  status     plan    nodes",
            "  controller  ml.m5.4xlarge        1        1       -        1       1  InService  -       1 Running",
            "  login       ml.m5.2xlarge        1        1       -        1       1  InService  -       1 Running",
            "  p5          ml.p5.48xlarge      30       30  0 of 2       32      32  InService  Active  " + pending,
            "ready",
        ]

    def test_gives_up_after_3_hours_with_what_is_missing(self, run: Run, account: Account) -> None:
        for _ in range(3 * 60 * 2 + 1):
            frontier(account, running=29, pending=3)
        result = run(*shlex.split(PRINTED)[1:])
        assert result.code == 1
        assert result.out.splitlines()[-1] == "not ready: timed out after 3:00:00: p5 29 of 30 (3 Pending)"
        assert len(result.err.splitlines()) == 1

    def test_is_exit_1_with_the_reason_when_the_cluster_fails(self, run: Run, account: Account) -> None:
        frontier(account, running=0)
        frontier(account, running=0, ClusterStatus="Failed", FailureMessage="no capacity for p5")
        result = run(*shlex.split(PRINTED)[1:])
        assert result.code == 1
        assert result.out.splitlines()[-1] == "not ready: the cluster is Failed: no capacity for p5"
        assert result.out.count("no capacity for p5") == 1

    def test_is_exit_130_when_the_user_stops_it(
        self, run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupt(_: float) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(status, "sleep", interrupt)
        frontier(account, running=0)
        result = run(*shlex.split(PRINTED)[1:])
        assert (result.code, result.out) == (130, "")


class TestWithoutWaiting:
    def test_looks_once_and_is_exit_1_where_something_is_missing(self, run: Run, account: Account) -> None:
        frontier(account, running=29)
        result = run("status", "Frontier", "--nodes", "p5=30")
        assert (result.code, result.err) == (1, "")
        assert result.out.splitlines()[-1] == "not ready: p5 29 of 30"

    def test_wants_every_target_where_nothing_else_is_said(self, run: Run, account: Account) -> None:
        frontier(account, running=30)
        assert run("status", "Frontier").code == 1
        frontier(account, running=32)
        assert run("status", "Frontier").code == 0

    def test_shows_a_reason_of_aws_that_is_not_the_end(self, run: Run, account: Account) -> None:
        frontier(account, running=32, FailureMessage="one node was replaced\x1b[2J")
        assert r"AWS says: one node was replaced\x1b[2J" in run("status", "Frontier").out.splitlines()

    def test_takes_nodes_in_one_option_or_several(self, run: Run, account: Account) -> None:
        frontier(account, running=30)
        result = run("status", "Frontier", "--nodes", "p5=31", "--nodes", "login=2", "controller=1")
        assert result.out.splitlines()[-1] == "not ready: login 1 of 2 (its target is 1), p5 30 of 31"

    def test_marks_groups_that_nobody_asked_for(self, run: Run, account: Account) -> None:
        frontier(account, running=30)
        lines = run("status", "Frontier", "--nodes", "p5=30").out.splitlines()
        assert lines[2].split()[:3] == ["controller", "ml.m5.4xlarge", "-"]


class TestJson:
    def test_has_exactly_the_documented_keys(self, run: Run, account: Account) -> None:
        account.has(
            group("p5", 32, CurrentCount=2, Status="Creating", **ON_PLAN),
            nodes={"p5": ["Running", "DeepHealthCheckInProgress"]},
            FailureMessage="a reason",
        )
        account.answers("sagemaker", "describe_training_plan", plan("frontier"), {"TrainingPlanName": PLAN})
        result = run("status", "Frontier", "--nodes", "p5=30", "--format", "json")
        assert result.code == 1
        assert result.data == {
            "cluster": "Frontier",
            "region": "us-west-2",
            "status": "InService",
            "failure_message": "a reason",
            "ready": False,
            "problem": "p5 Creating 1 of 30 (1 DeepHealthCheckInProgress)",
            "drift": [],
            "denied": [],
            "groups": [
                {
                    "name": "p5",
                    "instance_type": "ml.p5.48xlarge",
                    "declared": None,
                    "wanted": 30,
                    "running": 1,
                    "spares": 2,
                    "spares_left": 0,
                    "current": 2,
                    "target": 32,
                    "status": "Creating",
                    "nodes": {"DeepHealthCheckInProgress": 1, "Running": 1},
                    "image": {
                        "id": "ami-0123456789abcdef0",
                        "release": "1.2.3",
                        "status": "UpdateAvailable",
                        "on_nodes_since": "2026-12-07T00:00:00+00:00",
                    },
                    "scripts": "s3://bucket/scripts/0123456789abcdef",
                    "plan_status": "Active",
                    "plan": {
                        "name": "frontier",
                        "status": "Active",
                        "arrives": None,
                        "leaves": "2027-02-14T10:30:00+00:00",
                    },
                }
            ],
        }

    def test_is_alone_on_standard_output_after_a_wait(self, run: Run, account: Account) -> None:
        frontier(account, running=0)
        frontier(account, running=32)
        data = run("status", "Frontier", "--wait", "--format", "json").data
        assert (data["ready"], data["problem"]) == (True, None)


class TestWhatNodesHave:
    def test_is_told_by_group_where_aws_says(self, run: Run, account: Account) -> None:
        account.has(group("login", 1), group("p5", 1, **ON_PLAN), nodes={"p5": ["Running"], "login": ["Running"]})
        account.answers("sagemaker", "describe_training_plan", plan("frontier"))
        assert run("status", "Frontier").out.splitlines()[4:-1] == [
            "  group  image                    on nodes for  scripts for new nodes  plan",
            "  login  -                        -             -                      -",
            "  p5     1.2.3 (UpdateAvailable)  34 d 10 h     0123456789abcdef       frontier: nodes leave in 35 d 0 h",
        ]

    def test_scripts_without_a_hash_are_shown_by_their_folder(self, run: Run, account: Account) -> None:
        lifecycle = {"SourceS3Uri": "s3://sagemaker-scripts/base-config/", "OnCreate": "on_create.sh"}
        account.has(group("p5", 1, LifeCycleConfig=lifecycle), nodes={"p5": ["Running"]})
        assert "s3://sagemaker-scripts/base-config/" in run("status", "Frontier").out

    @pytest.mark.parametrize(
        ("changed", "shown"),
        [
            (
                {"StartTime": datetime(2027, 1, 13, 11, 30, tzinfo=UTC), "ReservedCapacitySummaries": []},
                "arrive in 3 d 1 h",
            ),
            (
                {"EndTime": datetime(2027, 1, 10, 10, 45, tzinfo=UTC), "ReservedCapacitySummaries": []},
                "are being ended",
            ),
            (
                {"EndTime": datetime(2027, 1, 9, tzinfo=UTC), "ReservedCapacitySummaries": [], "Status": "Expired"},
                "Expired",
            ),
        ],
    )
    def test_the_plan_says_what_comes_next(
        self, run: Run, account: Account, changed: dict[str, Any], shown: str
    ) -> None:
        account.has(group("p5", 0, **ON_PLAN))
        account.answers("sagemaker", "describe_training_plan", plan("frontier", **changed))
        assert shown in run("status", "Frontier").out

    def test_a_plan_that_may_not_be_read_is_said_and_changes_no_exit_code(self, run: Run, account: Account) -> None:
        account.has(group("p5", 1, **ON_PLAN), nodes={"p5": ["Running"]})
        account.refuses("sagemaker", "describe_training_plan")
        result = run("status", "Frontier")
        assert (result.code, result.out.splitlines()[-1]) == (0, "ready")
        assert "no permission for sagemaker:DescribeTrainingPlan in us-west-2" in result.err


class TestDeclared:
    SPARES = CLUSTER.replace(
        "  Train:\n", '  Train:\n    Metadata: {"hyperpod:intent": {"groups": {"p5": {"spares": 1}}}}\n'
    )

    def train(self, account: Account, target: int = 4, running: int = 4) -> None:
        groups = [group("controller", 1, InstanceType="ml.m5.4xlarge"), group("p5", target)]
        account.has(*groups, nodes={"controller": ["Running"], "p5": ["Running"] * running}, ClusterName="train")

    def test_stands_beside_target_and_current_with_the_spares_that_are_left(self, run: Run, account: Account) -> None:
        self.train(account)
        result = run("status", "train", "--declared", "train.yaml", train_yaml=self.SPARES)
        assert [line.partition("  InService")[0] for line in result.out.splitlines()[1:4]] == [
            "  group       type            declared  wanted  running  spares  current  target  status     plan  nodes",
            "  controller  ml.m5.4xlarge          1       1        1       -        1       1",
            "  p5          ml.p5.48xlarge         4       3        4  1 of 1        4       4",
        ]
        assert (result.code, result.err) == (0, "")

    def test_work_does_not_wait_for_spares(self, run: Run, account: Account) -> None:
        self.train(account, running=3)
        result = run("status", "train", "--declared", "train.yaml", train_yaml=self.SPARES)
        assert (result.code, result.out.splitlines()[-1]) == (0, "ready")
        self.train(account, running=2)
        result = run("status", "train", "--declared", "train.yaml", train_yaml=self.SPARES)
        assert (result.code, result.out.splitlines()[-1]) == (1, "not ready: p5 2 of 3")

    def test_that_differs_from_the_target_is_said(self, run: Run, account: Account) -> None:
        self.train(account, target=8)
        result = run("status", "train", "--declared", "train.yaml", train_yaml=CLUSTER)
        assert "differs: p5: the template declares 4, its target is 8" in result.out.splitlines()

    def test_a_group_that_the_cluster_lacks_is_said(self, run: Run, account: Account) -> None:
        account.has(group("controller", 1), nodes={"controller": ["Running"]}, ClusterName="train")
        result = run("status", "train", "--declared", "train.yaml", "--format", "json", train_yaml=CLUSTER)
        assert result.data["drift"] == ["p5: the template declares it, and the cluster has no such group"]

    def test_by_a_template_of_another_cluster_is_exit_2(self, run: Run, account: Account) -> None:
        frontier(account, running=30)
        result = run("status", "Frontier", "--declared", "train.yaml", train_yaml=CLUSTER)
        assert (result.code, result.out) == (2, "")
        assert result.err == "hyperpod: the template declares no cluster Frontier; its clusters are train\n"

    def test_by_what_is_no_template_is_exit_2(self, run: Run) -> None:
        assert run("status", "train", "--declared", "missing.yaml").code == 2


class TestWatch:
    def test_shows_the_cluster_again_until_it_is_over(self, run: Run, account: Account) -> None:
        frontier(account, running=0)
        frontier(account, running=30)
        frontier(account, running=0, ClusterStatus="Failed", FailureMessage="no capacity")
        result = run("status", "Frontier", "--watch", "--every", "5s")
        assert result.code == 1
        heads = [line for line in result.out.splitlines() if line.startswith("cluster ")]
        assert heads == ["cluster Frontier in us-west-2: InService"] * 2 + ["cluster Frontier in us-west-2: Failed"]

    def test_is_one_object_a_line_in_json(self, run: Run, account: Account) -> None:
        frontier(account, running=32)
        frontier(account, running=0, ClusterStatus="Deleting")
        lines = run("status", "Frontier", "--watch", "--format", "json").out.splitlines()
        assert [json.loads(line)["status"] for line in lines] == ["InService", "Deleting"]

    def test_goes_on_when_it_is_throttled(self, run: Run, account: Account) -> None:
        account.fails("ThrottlingException")
        frontier(account, running=0, ClusterStatus="Failed")
        result = run("status", "Frontier", "--watch")
        assert "AWS throttles sagemaker:DescribeCluster" in result.err
        assert "the cluster is Failed" in result.out

    def test_ends_with_exit_1_when_the_cluster_goes_away(self, run: Run, account: Account) -> None:
        frontier(account, running=32)
        account.fails("ResourceNotFound")
        result = run("status", "Frontier", "--watch")
        assert result.code == 1
        assert result.err.startswith("there is no cluster Frontier in us-west-2")

    def test_of_no_cluster_is_exit_2(self, run: Run, account: Account) -> None:
        account.fails("ResourceNotFound")
        assert run("status", "Frontier", "--watch").code == 2

    def test_and_waiting_exclude_each_other(self, run: Run) -> None:
        assert run("status", "Frontier", "--watch", "--wait").code == 2


class TestUsage:
    @pytest.mark.parametrize("nodes", ["p5", "p5=", "=30", "p5=many", "p5=-1", "p5=1.5", "p5==1", "p 5=1"])
    def test_a_malformed_number_of_nodes_is_exit_2_with_an_example(self, run: Run, nodes: str) -> None:
        result = run("status", "Frontier", "--nodes", nodes)
        assert (result.code, result.out) == (2, "")
        assert f"{nodes!r} is not a group and a number of nodes; use one such as p5=30" in result.err

    def test_a_group_may_be_named_only_once(self, run: Run) -> None:
        result = run("status", "Frontier", "--nodes", "p5=1", "login=1", "p5=2")
        assert (result.code, result.err) == (2, "hyperpod: --nodes names p5 more than once; use one number for it\n")

    def test_an_unknown_group_is_exit_2_with_those_that_there_are(self, run: Run, account: Account) -> None:
        answer = {"ClusterArn": "arn", "ClusterStatus": "InService", "InstanceGroups": [group("login", 1)]}
        account.stub.add_response("describe_cluster", answer)
        result = run("status", "Frontier", "--wait", "--nodes", "p5=30")
        assert (result.code, result.out) == (2, "")
        assert result.err == "hyperpod: cluster Frontier has no group p5; its groups are login\n"

    @pytest.mark.parametrize("option", ["--timeout", "--every"])
    @pytest.mark.parametrize("time", ["90", "3d", "0s", "-1s", "1.5h", "h", "1h30m"])
    def test_what_is_no_length_of_time_is_exit_2(self, run: Run, option: str, time: str) -> None:
        result = run("status", "Frontier", "--wait", f"{option}={time}")
        assert result.code == 2
        assert f"{time!r} is not a length of time; use one such as 90s, 45m or 3h" in result.err

    @pytest.mark.parametrize(("time", "shown"), [("90s", "0:01:30"), ("45m", "0:45:00"), ("2h", "2:00:00")])
    def test_a_length_of_time_is_in_seconds_minutes_or_hours(
        self, run: Run, account: Account, time: str, shown: str
    ) -> None:
        frontier(account, running=0)
        frontier(account, running=0)
        result = run("status", "Frontier", "--wait", "--timeout", time, "--every", "9h")
        assert f"timed out after {shown}: p5 0 of 32" in result.out

    def test_help_has_the_exit_codes_and_permissions(self, run: Run) -> None:
        said = " ".join(run("status", "--help").out.split())
        assert "exit codes: 0 the nodes run, 1 they do not (yet)" in said
        assert "sagemaker:DescribeCluster and sagemaker:ListClusterNodes" in said


class TestARefusedRead:
    @pytest.mark.parametrize("wait", [(), ("--wait",)])
    @pytest.mark.parametrize(
        ("code", "expected"),
        [
            ("ResourceNotFound", "there is no cluster Frontier in us-west-2, the Region that was asked"),
            ("AccessDeniedException", "no permission for sagemaker:DescribeCluster in us-west-2"),
            ("ExpiredTokenException", "the AWS credentials have expired"),
        ],
    )
    def test_is_one_line_and_exit_2(
        self, run: Run, account: Account, code: str, expected: str, wait: tuple[str, ...]
    ) -> None:
        account.fails(code, "two\nlines")
        result = run("status", "Frontier", *wait)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"hyperpod: {expected}")
        assert result.err.count("\n") == 1

    def test_that_is_throttled_is_exit_2_without_a_wait(self, run: Run, account: Account) -> None:
        account.fails("ThrottlingException")
        result = run("status", "Frontier")
        assert result.code == 2
        assert "AWS throttles sagemaker:DescribeCluster in us-west-2: try again later" in result.err


class TestAgainstAnEmulatedAccount:
    @pytest.fixture(autouse=True)
    def _cluster(self) -> Iterator[None]:
        """Frontier in us-west-2 of moto, whose nodes run at once."""
        with mock_aws():
            boto3.client("sagemaker", region_name="us-west-2").create_cluster(
                ClusterName="Frontier",
                InstanceGroups=[
                    {
                        "InstanceGroupName": name,
                        "InstanceType": type_,
                        "InstanceCount": count,
                        "ExecutionRole": "arn:aws:iam::111122223333:role/nodes",
                        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/x", "OnCreate": "on_create.sh"},
                        "ThreadsPerCore": 1,
                    }
                    for name, type_, count in (
                        ("controller", "ml.m5.4xlarge", 1),
                        ("login", "ml.m5.2xlarge", 1),
                        ("p5", "ml.p5.48xlarge", 30),
                    )
                ],
            )
            yield

    def test_the_line_that_stacks_print_is_exit_0(self, run: Run) -> None:
        result = run(*shlex.split(PRINTED)[1:])
        assert (result.code, result.out.splitlines()[-1]) == (0, "ready")

    def test_more_than_there_is_is_exit_1(self, run: Run) -> None:
        result = run("status", "Frontier", "--nodes", "p5=31", "--region", "us-west-2")
        assert result.code == 1
        assert result.out.splitlines()[-1] == "not ready: p5 30 of 31 (its target is 30)"

    def test_another_region_is_exit_2_and_named(self, run: Run) -> None:
        result = run("status", "Frontier", "--region", "eu-north-1")
        assert result.code == 2
        assert result.err.startswith("hyperpod: there is no cluster Frontier in eu-north-1, the Region that was asked")


class TestProfile:
    def test_that_does_not_exist_is_one_line_and_exit_2(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
        result = run("status", "Frontier", "--profile", "ml", "--region", "us-west-2")
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert "The config profile (ml) could not be found" in result.err
