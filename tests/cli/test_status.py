from __future__ import annotations

import shlex
from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from hyperpod_constructs.account import gateway
from hyperpod_constructs.cli import status
from tests.account.conftest import Account, group
from tests.cli.conftest import Run

PRINTED = "hyperpod status Frontier --wait --nodes controller=1 login=1 p5=30 --region us-west-2"
"""The output of our stacks, as it is typed."""


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """The account that the command opens; time passes without anybody waiting for it."""
    account, now = Account(), [0.0]
    monkeypatch.setattr(gateway, "connect", lambda **_: account.gateway)
    monkeypatch.setattr(status, "monotonic", lambda: now[0])
    monkeypatch.setattr(status, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    with account.stub:
        yield account
    account.stub.assert_no_pending_responses()


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
        result = run(*shlex.split(PRINTED)[1:])
        assert result.code == 0
        assert result.err.splitlines() == [
            "0:00:00 InService, controller 1 of 1, login 1 of 1, p5 0 of 30",
            "0:00:30 InService, controller 1 of 1, login 1 of 1, p5 12 of 30 (18 Pending)",
            "0:01:00 InService, controller 1 of 1, login 1 of 1, p5 30 of 30 (2 Pending)",
        ]
        assert result.out.splitlines() == [
            "cluster Frontier in us-west-2: InService",
            "  group       type            wanted  running  current  target  status     plan    nodes",
            "  controller  ml.m5.4xlarge        1        1        1       1  InService  -       1 Running",
            "  login       ml.m5.2xlarge        1        1        1       1  InService  -       1 Running",
            "  p5          ml.p5.48xlarge      30       30       32      32  InService  Active  2 Pending, 30 Running",
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
            group("p5", 32, CurrentCount=2, Status="Creating", TrainingPlanStatus="Active"),
            nodes={"p5": ["Running", "DeepHealthCheckInProgress"]},
            FailureMessage="a reason",
        )
        result = run("status", "Frontier", "--nodes", "p5=30", "--format", "json")
        assert result.code == 1
        assert result.data == {
            "cluster": "Frontier",
            "region": "us-west-2",
            "status": "InService",
            "failure_message": "a reason",
            "ready": False,
            "problem": "p5 Creating 1 of 30 (1 DeepHealthCheckInProgress)",
            "groups": [
                {
                    "name": "p5",
                    "instance_type": "ml.p5.48xlarge",
                    "wanted": 30,
                    "running": 1,
                    "current": 2,
                    "target": 32,
                    "status": "Creating",
                    "plan_status": "Active",
                    "nodes": {"DeepHealthCheckInProgress": 1, "Running": 1},
                }
            ],
        }

    def test_is_alone_on_standard_output_after_a_wait(self, run: Run, account: Account) -> None:
        frontier(account, running=0)
        frontier(account, running=32)
        data = run("status", "Frontier", "--wait", "--format", "json").data
        assert (data["ready"], data["problem"]) == (True, None)


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
