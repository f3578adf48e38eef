"""What each command that reads an account makes of an account that is not as it should be.

Every command against every trouble, over the wire: exit code, lines on standard error, and what files are left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from hyperpod_constructs.account import gateway
from tests.cli.conftest import CLUSTER, Result, Run
from tests.cli.loopback import Asked, Loopback, Refusal, Reply

REGION: Final = "us-west-2"
ACCOUNT: Final = "111122223333"
COMMANDS: Final = {
    "preflight": ("preflight", "train.yaml", "--write", "facts.json"),
    "status": ("status", "Frontier"),
    "explain": ("explain", "Frontier"),
    "ssh-config": ("ssh-config", "Frontier"),
    "zones": ("zones", "ml.p5.48xlarge"),
    "plans": ("plans", "list"),
    "snapshot": ("snapshot", "Frontier", "--output", "snapshot.json"),
    "prices": ("prices", "refresh", "--output", "prices.json"),
}
ON_CLUSTERS: Final = ("status", "explain", "ssh-config", "snapshot")

REFUSALS: Final = {
    "expired": {
        "ec2": Refusal("RequestExpired", 400, "Request has expired."),
        "json": Refusal("ExpiredTokenException", 400, "The security token included in the request is expired"),
        "query": Refusal("ExpiredToken", 403, "The security token included in the request is expired"),
    },
    "Region not enabled": {
        "ec2": Refusal("AuthFailure", 401, "AWS was not able to validate the provided access credentials"),
        "json": Refusal("UnrecognizedClientException", 400, "The security token included in the request is invalid."),
        "query": Refusal("InvalidClientTokenId", 403, "The security token included in the request is invalid"),
    },
    "throttled": {
        "ec2": Refusal("RequestLimitExceeded", 503, "Request limit exceeded."),
        "json": Refusal("ThrottlingException", 400, "Rate exceeded"),
        "query": Refusal("Throttling", 400, "Rate exceeded"),
    },
}
"""What services say, by the protocol in which they do."""
DENIED: Final = {
    "ec2": Refusal("UnauthorizedOperation", 403, "You are not authorized to perform this operation."),
    "json": Refusal("AccessDeniedException", 400, "User is not authorized to perform this"),
    "query": Refusal("AccessDenied", 403, "User is not authorized to perform this"),
    "rest-xml": Refusal("AccessDenied", 403, "Access Denied"),
    "rest-json": Refusal("AccessDeniedException", 403, "User is not authorized to perform this"),
}
SAID: Final = {
    "expired": "the AWS credentials have expired: sign in again",
    "Region not enabled": f"AWS does not accept these credentials in {REGION}",
    "throttled": "AWS throttles ",
}


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture
def aws(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> Loopback:
    """An account on the loopback that is signed in to and has nothing."""
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    settings = {
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": server.url,
        "AWS_MAX_ATTEMPTS": "1",  # a throttled call is repeated with pauses, which is botocore's business
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    server.asked.clear()
    server.answer = empty
    return server


@pytest.fixture(scope="module")
def sessions() -> dict[str, gateway.Session]:
    return {}


@pytest.fixture
def signed_in(aws: Loopback, sessions: dict[str, gateway.Session], monkeypatch: pytest.MonkeyPatch) -> Loopback:
    """The same, read through clients that are made once: making one takes longer than all that is asked."""
    sign_in = gateway.sign_in

    def once(*, profile: str | None, region: str) -> gateway.Session:
        if region not in sessions:
            sessions[region] = sign_in(profile=profile, region=region)
        return sessions[region]

    monkeypatch.setattr(gateway, "sign_in", once)
    return aws


def ask(run: Run, command: str, region: str = REGION) -> Result:
    return run(*COMMANDS[command], "--region", region, train_yaml=CLUSTER)


def said(result: Result) -> list[str]:
    """Lines on standard error, without the progress of preflight."""
    progress = re.compile(r"(\S+: )?\d+ of \d+ checks: .*")
    return [line for line in result.err.splitlines() if not progress.fullmatch(line)]


def left() -> set[str]:
    """Files that a command wrote."""
    return {file.name for file in Path().iterdir()} - {"train.yaml"}


def refused(trouble: str, asked: Asked) -> Reply:
    return REFUSALS[trouble][asked.protocol]


NOTHING: Final[dict[str, Reply]] = {
    "GetCallerIdentity": f"<Account>{ACCOUNT}</Account><Arn>arn:aws:iam::{ACCOUNT}:user/me</Arn><UserId>A</UserId>",
    "DescribeCluster": Refusal("ResourceNotFound", 400, "Cluster with name Frontier not found"),
    "GetRole": Refusal("NoSuchEntity", 404, "The role cannot be found."),
    "DescribeStacks": Refusal("ValidationError", 400, "Stack [Frontier] does not exist"),
    "DescribeStackEvents": Refusal("ValidationError", 400, "Stack [Frontier] does not exist"),
    "ListStackResources": Refusal("ValidationError", 400, "Stack [Frontier] does not exist"),
    "DescribeAvailabilityZones": "<availabilityZoneInfo/>",
    "DescribeInstanceTypeOfferings": "<instanceTypeOfferingSet/>",
    "DescribeSubnets": "<subnetSet/>",
    "DescribeSecurityGroups": "<securityGroupInfo/>",
    "GetProducts": {"PriceList": []},
}
"""What an account without anything answers; to all else, an answer without members."""


def empty(asked: Asked) -> Reply:
    return NOTHING.get(asked.operation, {})


def has(cluster: dict[str, Any], nodes: list[dict[str, Any]], asked: Asked) -> Reply:
    """An account with one cluster."""
    listed = {"ClusterName": "Frontier", "ClusterArn": ARN, "ClusterStatus": cluster["ClusterStatus"]}
    answers: dict[str, Reply] = {
        "DescribeCluster": cluster,
        "ListClusters": {"ClusterSummaries": [{**listed, "CreationTime": 1}]},
        "ListClusterNodes": {"ClusterNodeSummaries": nodes},
        "ListTrainingPlans": {"TrainingPlanSummaries": [PLAN]},
        "DescribeTrainingPlan": PLAN,
    }
    return answers.get(asked.operation, empty(asked))


def without(
    operation: str, answer: Callable[[Asked], Reply], asked: Asked, *, refusals: Mapping[str, Refusal] = DENIED
) -> Reply:
    """An account in which one read is refused."""
    return refusals[asked.protocol] if asked.operation == operation else answer(asked)


ARN: Final = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/0123456789ab"
PLAN: Final[dict[str, Any]] = {
    "TrainingPlanArn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/frontier",
    "TrainingPlanName": "frontier",
    "Status": "Active",
    "TargetResources": ["hyperpod-cluster"],
}
NODE: Final = {
    "InstanceGroupName": "p5",
    "InstanceId": "i-0123456789abcdef0",
    "InstanceType": "ml.p5.48xlarge",
    "LaunchTime": 1796000000,
    "InstanceStatus": {"Status": "Running"},
}


HARMLESS: Final = {("status", "DescribeTrainingPlan")}
"""Reads without which a command has its answer: whether nodes run is known without their plan."""


def cluster(status: str, current: int, **fields: Any) -> dict[str, Any]:  # fields of DescribeCluster
    """A cluster with one group."""
    group = {"InstanceGroupName": "p5", "InstanceType": "ml.p5.48xlarge", "CurrentCount": current, "TargetCount": 1}
    group |= {"TrainingPlanArn": PLAN["TrainingPlanArn"]}
    defaults = {"ClusterArn": ARN, "ClusterName": "Frontier", "ClusterStatus": status, "InstanceGroups": [group]}
    return {**defaults, **fields}


CONTINUOUS: Final = {"Orchestrator": {"Slurm": {}}, "NodeProvisioningMode": "Continuous"}
RUNNING: Final = partial(has, cluster("InService", 1, **CONTINUOUS), [NODE])
CREATING: Final = partial(has, cluster("Creating", 0, **CONTINUOUS), [])
FAILED: Final = partial(has, cluster("Failed", 0, FailureMessage="Insufficient capacity", **CONTINUOUS), [])
LEGACY: Final = partial(has, cluster("InService", 1), [NODE])


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("command", COMMANDS)
class TestAnAccountThatCannotBeRead:
    @pytest.mark.parametrize("trouble", REFUSALS)
    def test_by_what_aws_says_is_one_line_exit_2_and_no_file(
        self, run: Run, aws: Loopback, command: str, trouble: str
    ) -> None:
        aws.answer = partial(refused, trouble)
        result = ask(run, command)
        assert (result.code, result.out, left()) == (2, "", set())
        (line,) = said(result)
        assert line.startswith(
            f"hyperpod: {SAID[trouble]}".replace(REGION, "us-east-1" if command == "prices" else REGION)
        )

    def test_without_credentials_is_one_line_exit_2_and_no_file(
        self, run: Run, aws: Loopback, monkeypatch: pytest.MonkeyPatch, command: str
    ) -> None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        result = ask(run, command)
        assert (result.code, result.out, left(), aws.asked) == (2, "", set(), [])
        assert said(result) == [
            "hyperpod: Unable to locate credentials: sign in (for example `aws sso login`) or use --profile NAME"
        ]

    def test_in_a_region_that_there_is_not_is_one_line_exit_2_and_asks_nobody(
        self, run: Run, aws: Loopback, command: str
    ) -> None:
        result = ask(run, command, "us-wst-2")
        assert (result.code, result.out, left(), aws.asked) == (2, "", set(), [])
        assert said(result) == ["hyperpod: there is no Region 'us-wst-2': did you mean us-west-2?"]

    def test_in_a_place_where_nobody_answers_is_one_line_exit_2_and_no_file(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, command: str
    ) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        result = ask(run, command)
        assert (result.code, result.out, left()) == (2, "", set())
        (line,) = said(result)
        assert line.startswith("hyperpod: AWS cannot be reached: ")


class TestPartialPermissions:
    @pytest.mark.parametrize(
        ("command", "operation", "permission"),
        [
            ("status", "ListClusterNodes", "sagemaker:ListClusterNodes"),
            ("explain", "ListClusterEvents", "sagemaker:ListClusterEvents"),
            ("ssh-config", "ListClusterNodes", "sagemaker:ListClusterNodes"),
            ("zones", "DescribeInstanceTypeOfferings", "ec2:DescribeInstanceTypeOfferings"),
            ("plans", "DescribeTrainingPlan", "sagemaker:DescribeTrainingPlan"),
            ("snapshot", "ListServiceQuotas", "servicequotas:ListServiceQuotas"),
            ("prices", "GetProducts", "pricing:GetProducts"),
        ],
    )
    def test_are_exit_2_a_line_that_names_the_permission_and_no_file(
        self, run: Run, signed_in: Loopback, command: str, operation: str, permission: str
    ) -> None:
        signed_in.answer = partial(without, operation, RUNNING)
        result = ask(run, command)
        assert (result.code, left()) == (2, set())
        line, *rest = said(result)
        assert f"no permission for {permission} in us-" in line
        assert ["snapshot.json was not written" in each for each in rest] == ([True] if command == "snapshot" else [])

    @pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"preflight"}))
    @pytest.mark.parametrize("trouble", ["denied", "throttled"])
    def test_of_any_read_are_said_and_leave_no_file(
        self, run: Run, signed_in: Loopback, command: str, trouble: str
    ) -> None:
        signed_in.answer = RUNNING
        ask(run, command)
        for file in left():
            Path(file).unlink()
        refusals = DENIED if trouble == "denied" else REFUSALS["throttled"]
        for operation in sorted(set(signed_in.asked)):
            signed_in.answer = partial(without, operation, RUNNING, refusals=refusals)
            result = ask(run, command)
            assert result.code == 2 or (command, operation) in HARMLESS, operation
            assert left() == set(), operation
            first, *rest = said(result)
            assert first.startswith("hyperpod: "), operation
            assert f":{operation} in us-" in first, operation
            assert all("was not written" in line for line in rest), rest

    @pytest.mark.parametrize(("trouble", "rule"), [("denied", "HP9001 warning"), ("throttled", "HP9000 fatal")])
    def test_of_any_read_of_preflight_are_a_finding_and_said_of_the_file(
        self, run: Run, signed_in: Loopback, trouble: str, rule: str
    ) -> None:
        ask(run, "preflight")
        refusals = DENIED if trouble == "denied" else REFUSALS["throttled"]
        for operation in sorted({*signed_in.asked} - {"GetCallerIdentity"}):
            signed_in.answer = partial(without, operation, empty, refusals=refusals)
            result = ask(run, "preflight")
            assert result.code == 1, operation  # of the empty account, whatever else
            assert rule in result.out, operation
            assert f":{operation} " in " ".join(result.out.split()), operation
            assert json.loads(Path("facts.json").read_text())["unfinished"], operation

    def test_of_preflight_are_warnings_that_change_no_exit_code(self, run: Run, signed_in: Loopback) -> None:
        def answer(asked: Asked) -> Reply:
            return empty(asked) if asked.operation == "GetCallerIdentity" else DENIED[asked.protocol]

        signed_in.answer = answer
        result = ask(run, "preflight")
        assert result.code == 0
        assert "HP9001 warning" in result.out
        assert "ec2:DescribeSubnets is not allowed" in " ".join(result.out.split())
        (line,) = said(result)
        assert line.startswith("hyperpod: note: facts.json lacks what was not read in us-west-2: ")
        assert "quotas" in json.loads(Path("facts.json").read_text())["unfinished"][REGION]


def test_what_stops_preflight_half_way_is_a_finding_and_exit_1(run: Run, signed_in: Loopback) -> None:
    signed_in.answer = lambda asked: (
        empty(asked) if asked.operation == "GetCallerIdentity" else REFUSALS["throttled"].get(asked.protocol, {})
    )
    result = ask(run, "preflight")
    assert result.code == 1
    assert "HP9000 fatal" in result.out
    (line,) = said(result)
    assert line.startswith("hyperpod: note: facts.json lacks what was not read in us-west-2: ")


@pytest.mark.usefixtures("signed_in")
class TestAnEmptyAccount:
    @pytest.mark.parametrize("command", ON_CLUSTERS)
    def test_has_no_such_cluster(self, run: Run, command: str) -> None:
        result = ask(run, command)
        assert (result.code, result.out, left()) == (2, "", set())
        (line,) = said(result)
        assert line.startswith(("hyperpod: there is no cluster ", "hyperpod: there is neither a stack nor a cluster "))
        assert "Frontier in us-west-2" in line

    def test_is_not_ready_for_a_network_that_is_elsewhere(self, run: Run) -> None:
        result = ask(run, "preflight")
        assert (result.code, said(result), left()) == (1, [], {"facts.json"})
        assert "HP9000" not in result.out
        assert "subnet-0123456789abcdef0" in result.out

    def test_has_no_zone_for_a_type_that_is_not_offered(self, run: Run) -> None:
        result = ask(run, "zones")
        assert (result.code, result.out) == (1, "")
        assert said(result) == [f"hyperpod: EC2 offers ml.p5.48xlarge in no zone of {REGION} to account {ACCOUNT}"]

    def test_has_no_plans_and_that_is_no_mistake(self, run: Run) -> None:
        result = ask(run, "plans")
        assert (result.code, said(result)) == (0, [])
        assert "this account has none in this Region" in result.out

    def test_without_prices_of_nodes_writes_nothing(self, run: Run) -> None:
        result = ask(run, "prices")
        assert (result.code, said(result), left()) == (1, [], set())
        assert "nothing was written" in result.out


class TestAClusterThatIsNotInService:
    @pytest.mark.parametrize(
        ("command", "state", "code"),
        [
            ("status", "Creating", 1),
            ("explain", "Creating", 0),
            ("ssh-config", "Creating", 1),
            ("snapshot", "Creating", 0),
            ("status", "Failed", 1),
            ("explain", "Failed", 1),
            ("ssh-config", "Failed", 1),
            ("snapshot", "Failed", 0),
        ],
    )
    def test_is_told_with_its_state(self, run: Run, signed_in: Loopback, command: str, state: str, code: int) -> None:
        signed_in.answer = {"Creating": CREATING, "Failed": FAILED}[state]
        result = ask(run, command)
        assert (result.code, len(said(result))) == (code, command == "ssh-config"), result.err
        written = Path("snapshot.json").read_text() if command == "snapshot" else result.out + result.err
        assert state in written

    @pytest.mark.parametrize("command", ON_CLUSTERS)
    def test_of_legacy_slurm_is_read_like_any_other(self, run: Run, signed_in: Loopback, command: str) -> None:
        signed_in.answer = LEGACY
        result = ask(run, command)
        assert (result.code, said(result)) == (0, [])
        if command == "ssh-config":
            assert "  User ubuntu" in result.out.splitlines()
        if command == "snapshot":
            written = json.loads(Path("snapshot.json").read_text())["cluster"]
            assert (written["orchestrator"], written["configured_by_api"]) == ("slurm", False)


def test_policies_are_computed_without_an_account(run: Run, aws: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    for arguments in (("train.yaml",), ("train.yaml", "--keys"), ("train.yaml", "--personas"), ("--preflight",)):
        result = run("policy", *arguments, train_yaml=CLUSTER)
        assert (result.code, result.err) == (0, ""), arguments
    assert aws.asked == []
