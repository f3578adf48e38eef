from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from hyperpod_constructs.account import gateway
from hyperpod_constructs.cli import explain
from tests.account.conftest import ARN, NOW, Account, freeze, group, node
from tests.cli.conftest import Run

STACK = "arn:aws:cloudformation:us-west-2:111122223333:stack/Frontier/5c0ffee0"
NESTED = "arn:aws:cloudformation:us-west-2:111122223333:stack/Frontier-Network/5c0ffee1"
LOG_GROUP = "/aws/sagemaker/Clusters/Frontier/0123456789ab"
CAPACITY = "We currently do not have sufficient capacity in the Availability Zone you requested"
SCRIPTS = (
    'Instance i-0000000000000000a failed to provision with the following error: "Lifecycle scripts did not run '
    'successfully. Ensure the scripts exist in provided S3 path, are accessible, and run without errors."'
)
NODE = "i-0000000000000000a"


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """The account that the command opens."""
    account = Account()
    monkeypatch.setattr(gateway, "sign_in", lambda **_: account)
    freeze(monkeypatch, explain)
    yield account
    account.assert_everything_was_asked_for()


class Story:
    """What an account answers, call by call."""

    def __init__(self, account: Account) -> None:
        self.account = account

    def stack(self, *events: dict[str, Any], name: str = "Frontier", **more: Any) -> None:
        """The events of a stack, the newest first."""
        self.account.answers(
            "cloudformation", "describe_stack_events", {"StackEvents": events, **more}, {"StackName": name}
        )

    def no_stack(self) -> None:
        message = "Stack [Frontier] does not exist"
        self.account.refuses("cloudformation", "describe_stack_events", "ValidationError", message)

    def cluster(self, status: str = "Failed", **fields: Any) -> None:
        defaults = {"ClusterArn": ARN, "ClusterName": "Frontier", "NodeProvisioningMode": "Continuous"}
        answer = {**defaults, "ClusterStatus": status, "InstanceGroups": [group("p5", 32)], **fields}
        answer = {name: value for name, value in answer.items() if value is not None}
        self.account.answers("sagemaker", "describe_cluster", answer)

    def no_cluster(self) -> None:
        self.account.refuses("sagemaker", "describe_cluster", "ResourceNotFound")

    def nodes(self, *nodes: dict[str, Any]) -> None:
        self.account.answers("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes})

    def events(self, *events: dict[str, Any], reasons: tuple[str | None, ...] = ()) -> None:
        """Events of the cluster, the newest first, and the reason in the details of each."""
        self.account.answers("sagemaker", "list_cluster_events", {"Events": events})
        for reason in reasons:
            metadata = {"InstanceGroup": {"FailureMessage": reason} if reason else {"SubnetId": "subnet-1"}}
            details = {**event("x"), "EventDetails": {"EventMetadata": metadata}}
            self.account.answers("sagemaker", "describe_cluster_event", {"EventDetails": details})

    def logs(self, lines: list[str], *, group: str = "p5", instance: str = NODE) -> None:
        stream = f"LifecycleConfig/{group}/{instance}"
        streams = {"logStreams": [{"logStreamName": stream, "lastEventTimestamp": 1_796_600_000_000}]}
        asked = {"logGroupName": LOG_GROUP, "logStreamNamePrefix": "LifecycleConfig/"}
        self.account.answers("logs", "describe_log_streams", streams, asked)
        self.account.answers("logs", "get_log_events", {"events": [{"message": line} for line in lines]})

    def no_logs(self) -> None:
        self.account.refuses("logs", "describe_log_streams", "ResourceNotFoundException")


@pytest.fixture
def story(account: Account) -> Story:
    return Story(account)


def stack_event(
    resource: str, status: str, reason: str = "", *, second: int = 0, kind: str = "AWS::SNS::Topic", **fields: Any
) -> dict[str, Any]:
    """An event of the stack Frontier."""
    return {
        "StackId": STACK,
        "EventId": f"{resource}-{status}-{second}",
        "StackName": "Frontier",
        "LogicalResourceId": resource,
        "ResourceType": kind,
        "Timestamp": NOW + timedelta(seconds=second),
        "ResourceStatus": status,
        **({"ResourceStatusReason": reason} if reason else {}),
        **fields,
    }


def of_itself(status: str, reason: str = "", *, second: int = 0) -> dict[str, Any]:
    """An event of the stack Frontier about itself."""
    kind = "AWS::CloudFormation::Stack"
    return stack_event("Frontier", status, reason, second=second, kind=kind, PhysicalResourceId=STACK)


BEGIN = of_itself("CREATE_IN_PROGRESS", "User Initiated")


def event(description: str, *, second: int = 0, level: str = "Error", **fields: Any) -> dict[str, Any]:
    """An event of the cluster Frontier."""
    return {
        "EventId": f"00000000-0000-0000-0000-{second:012d}",
        "ClusterArn": ARN,
        "ClusterName": "Frontier",
        "InstanceGroupName": "p5",
        "ResourceType": "InstanceGroup",
        "EventTime": NOW + timedelta(seconds=second),
        "Description": description,
        "EventLevel": level,
        **fields,
    }


class TestAStackThatFailed:
    def test_is_told_from_its_resource_to_the_log_of_the_node(self, run: Run, story: Story) -> None:
        handler = 'Resource handler returned message: "Cluster creation failed: controller and login nodes did not '
        read_them = (
            "read the LifecycleConfig streams of the controller and login groups, which `hyperpod explain CLUSTER`"
        )
        story.stack(
            of_itself("ROLLBACK_COMPLETE", second=9),
            of_itself("ROLLBACK_IN_PROGRESS", "The following resource(s) failed to create: [Cluster].", second=8),
            stack_event("Topic", "CREATE_FAILED", "Resource creation cancelled", second=7),
            stack_event(
                "Cluster",
                "CREATE_FAILED",
                f'{handler}become ready within the expected time"',
                second=6,
                kind="AWS::SageMaker::Cluster",
                PhysicalResourceId=ARN,
                ResourceProperties='{"ClusterName": "Frontier"}',
            ),
            BEGIN,
            stack_event("Cluster", "CREATE_FAILED", "of an earlier attempt", second=-600),
        )
        story.no_cluster()
        story.no_cluster()
        story.logs(["+ aws s3 cp", "on_create.sh: line 2: $'\\r': command not found"], group="controller")
        result = run("explain", "Frontier")
        assert result.code == 1
        assert result.out.splitlines() == [
            "stack Frontier in us-west-2: ROLLBACK_COMPLETE",
            "cluster Frontier in us-west-2: gone",
            "",
            "2027-01-10 10:00:06 UTC Cluster (AWS::SageMaker::Cluster) in stack Frontier, CREATE_FAILED",
            f"  said:      {handler}become",
            '             ready within the expected time"',
            "  means:     controller or login nodes were not set up in time; the reason is on those nodes",
            "  prevents:  HP4033, HP4034, HP7003 of `hyperpod check`",
            f"  next:      {read_them}",
            "             prints, and deploy with `cdk deploy --no-rollback` so that they stay",
            "",
            f"last lines of LifecycleConfig/controller/{NODE} in {LOG_GROUP}",
            "  | + aws s3 cp",
            "  | on_create.sh: line 2: $'\\r': command not found",
            "  means:     the script has line ends of Windows",
            "  prevents:  HP5006 of `hyperpod check`",
            "  next:      convert the script to line ends of Unix (`sed -i 's/\\r$//' FILE`) and deploy it again",
        ]

    def test_by_an_explicit_deny_names_the_policy_and_the_part(self, run: Run, story: Story) -> None:
        said = (
            "User: arn:aws:sts::111122223333:assumed-role/cdk-exec/AWSCloudFormation is not authorized to perform: "
            "budgets:ModifyBudget on resource: arn:aws:budgets::111122223333:budget/x with an explicit deny in a "
            "service control policy"
        )
        story.stack(stack_event("Budget", "CREATE_FAILED", said, kind="AWS::Budgets::Budget"), BEGIN)
        story.no_cluster()
        result = run("explain", "Frontier", "--format", "json")
        (failure,) = result.data["failures"]
        assert result.code == 1
        assert failure["denial"] == {
            "action": "budgets:ModifyBudget",
            "principal": "arn:aws:sts::111122223333:assumed-role/cdk-exec/AWSCloudFormation",
            "resource": "arn:aws:budgets::111122223333:budget/x",
            "explicit": True,
            "policy_kind": "service control policy",
            "policy": None,
            "part": "the budget",
            "switch_off": "leave alerts= out: there is then no budget stack; or make the budget in the payer account",
        }
        assert "service control policy (SCP) of the AWS organization" in failure["meaning"]

    def test_by_an_unknown_message_shows_it_and_says_that_it_is_unknown(self, run: Run, story: Story) -> None:
        story.stack(stack_event("Topic", "CREATE_FAILED", "The moon is full"), BEGIN)
        story.no_cluster()
        lines = run("explain", "Frontier").out.splitlines()
        assert "  said:      The moon is full" in lines
        assert "  means:     unknown: this message is in no list of ours; what AWS says is all there is" in lines

    def test_in_a_nested_stack_has_the_reason_of_the_nested_one(self, run: Run, story: Story) -> None:
        embedded = f"Embedded stack {NESTED} was not successfully created: The following resource(s) failed to create"
        nested: dict[str, Any] = {"kind": "AWS::CloudFormation::Stack", "PhysicalResourceId": NESTED}
        story.stack(stack_event("Network", "CREATE_FAILED", embedded, **nested), BEGIN)
        inner: dict[str, Any] = {"StackId": NESTED, "StackName": "Frontier-Network"}
        story.stack(stack_event("Nat", "CREATE_FAILED", "The maximum number of addresses", **inner), name=NESTED)
        story.no_cluster()
        found = run("explain", "Frontier", "--format", "json").data
        assert [(each["where"], each["said"]) for each in found["failures"]] == [
            ("Nat (AWS::SNS::Topic) in stack Frontier-Network, CREATE_FAILED", "The maximum number of addresses")
        ]

    def test_before_any_resource_has_the_reason_of_the_stack(self, run: Run, story: Story) -> None:
        story.stack(of_itself("ROLLBACK_IN_PROGRESS", "Validation failed for resource X", second=1), BEGIN)
        story.no_cluster()
        (failure,) = run("explain", "Frontier", "--format", "json").data["failures"]
        assert failure["said"] == "Validation failed for resource X"

    def test_is_read_page_by_page_and_no_further_than_its_last_operation(self, run: Run, story: Story) -> None:
        story.stack(stack_event("Topic", "CREATE_FAILED", "Invalid SNS topic"), NextToken="more")
        asked = {"StackName": "Frontier", "NextToken": "more"}
        answer = {"StackEvents": [BEGIN], "NextToken": "never asked for"}
        story.account.answers("cloudformation", "describe_stack_events", answer, asked)
        story.no_cluster()
        assert run("explain", "Frontier").code == 1

    def test_that_was_deleted_is_found_by_its_arn_and_no_cluster_is_looked_for(self, run: Run, story: Story) -> None:
        story.stack(of_itself("DELETE_COMPLETE"), of_itself("DELETE_IN_PROGRESS", "User Initiated"), name=STACK)
        result = run("explain", STACK)
        assert (result.code, result.out.splitlines()[0]) == (0, "stack Frontier in us-west-2: DELETE_COMPLETE")


class TestAClusterThatFailed:
    def test_has_one_failure_for_two_events_of_one_fault(self, run: Run, story: Story) -> None:
        story.no_stack()
        story.cluster("InService")
        story.nodes()
        story.events(
            event("Instance creation in Cluster Frontier and InstanceGroup p5 failed", second=1, InstanceId=NODE),
            event("Failed to provision EC2 Instance in Cluster Frontier and InstanceGroup p5"),
            event("Instance group p5 is scaling", level="Info"),
            reasons=(CAPACITY, None),
        )
        story.no_logs()
        found = run("explain", "Frontier", "--format", "json").data
        assert found["failures"] == [
            {
                "time": "2027-01-10T10:00:00+00:00",
                "seen_in": "event",
                "where": "group p5",
                "group": "p5",
                "instances": [NODE],
                "times": 1,
                "said": CAPACITY,
                "known": True,
                "meaning": found["failures"][0]["meaning"],
                "rules": ["HP1103", "HP4012", "HP1114"],
                "next": found["failures"][0]["next"],
                "source": "AWS's guides and public reports, collected 2026-11-30",
                "denial": None,
            }
        ]
        (note,) = found["notes"]
        assert note.startswith("no log of a lifecycle script of cluster Frontier: no script has begun to run, or the")

    def test_asks_for_events_no_older_than_it_is_told(self, run: Run, story: Story) -> None:
        story.no_stack()
        story.cluster("InService")
        story.nodes()
        asked = {
            "ClusterName": ARN,
            "EventTimeAfter": datetime.fromisoformat("2027-01-10T08:00:00+00:00"),
            "SortBy": "EventTime",
            "SortOrder": "Descending",
            "MaxResults": 100,
        }
        story.account.answers("sagemaker", "list_cluster_events", {"Events": []}, asked)
        result = run("explain", "Frontier", "--since", "2h")
        assert result.code == 0
        assert result.out.splitlines()[-1] == (
            "nothing failed; events of a cluster are read as far back as --since says"
        )

    def test_has_the_log_of_the_node_that_failed_and_no_other(self, run: Run, story: Story) -> None:
        story.no_stack()
        story.cluster("Failed", FailureMessage=SCRIPTS)
        story.nodes(node("p5", "Failure", InstanceId=NODE, InstanceStatus={"Status": "Failure", "Message": SCRIPTS}))
        story.events()
        streams = [
            {"logStreamName": f"LifecycleConfig/{name}", "lastEventTimestamp": 1_796_600_000_000}
            for name in ("login/i-0b", f"p5/{NODE}", "p5/i-0c")
        ]
        story.account.answers("logs", "describe_log_streams", {"logStreams": streams})
        asked = {
            "logGroupName": LOG_GROUP,
            "logStreamName": f"LifecycleConfig/p5/{NODE}",
            "limit": 5,
            "startFromHead": False,
        }
        story.account.answers("logs", "get_log_events", {"events": [{"message": "exit 1\x1b[2J"}]}, asked)
        lines = run("explain", "Frontier", "--lines", "5").out.splitlines()
        assert lines[-1] == r"  | exit 1\x1b[2J"

    def test_has_few_logs_where_many_nodes_fail_alike(self, run: Run, story: Story) -> None:
        ids = [f"i-{number:017x}" for number in range(30)]
        story.no_stack()
        story.cluster("InService")
        story.nodes(
            *(
                node(
                    "p5",
                    "Failure",
                    InstanceId=id_,
                    InstanceStatus={"Status": "Failure", "Message": f"Instance {id_} failed"},
                )
                for id_ in ids
            )
        )
        story.events()
        streams = [{"logStreamName": f"LifecycleConfig/p5/{id_}"} for id_ in ids]
        story.account.answers("logs", "describe_log_streams", {"logStreams": streams})
        for _ in range(4):
            story.account.answers("logs", "get_log_events", {"events": [{"message": "failed"}]})
        out = run("explain", "Frontier").out
        assert f"group p5: {ids[0]}, {ids[1]}, {ids[2]} and 27 more, 30 times" in out
        assert "26 further logs of other instances not shown" in out

    def test_that_is_legacy_has_no_events_and_says_so(self, run: Run, story: Story) -> None:
        story.no_stack()
        story.cluster("Failed", FailureMessage="No provisioning_parameters.json found", NodeProvisioningMode=None)
        story.nodes()
        story.no_logs()
        found = run("explain", "Frontier", "--format", "json").data
        assert found["failures"][0]["rules"] == ["HP5008", "HP2005"]
        assert found["notes"][0] == "cluster Frontier has no events: they exist with Continuous provisioning only"

    def test_that_is_being_created_is_looked_at_too(self, run: Run, story: Story) -> None:
        story.no_stack()
        story.cluster("Creating")
        story.nodes()
        story.events()
        story.logs(["+ mount /fsx"])
        result = run("explain", "Frontier")
        assert result.code == 0
        assert "  | + mount /fsx" in result.out.splitlines()

    def test_and_is_gone_is_known_by_its_newest_logs(self, run: Run, story: Story) -> None:
        story.no_stack()
        story.no_cluster()
        groups = [
            {"logGroupName": "/aws/sagemaker/Clusters/Frontier/000000000000", "creationTime": 1},
            {"logGroupName": LOG_GROUP, "creationTime": 2},
        ]
        asked = {"logGroupNamePrefix": "/aws/sagemaker/Clusters/Frontier/"}
        story.account.answers("logs", "describe_log_groups", {"logGroups": groups}, asked)
        story.logs(["it ended"])
        result = run("explain", "Frontier")
        assert result.out.splitlines()[0] == "cluster Frontier in us-west-2: gone"


class TestAReadThatIsRefused:
    def test_is_said_and_the_rest_is_told(self, run: Run, story: Story) -> None:
        story.account.refuses("cloudformation", "describe_stack_events")
        story.cluster("Failed", FailureMessage=CAPACITY)
        story.account.refuses("sagemaker", "list_cluster_nodes")
        story.account.refuses("sagemaker", "list_cluster_events")
        story.account.refuses("logs", "describe_log_streams")
        result = run("explain", "Frontier")
        assert result.code == 1
        assert f"  said:      {CAPACITY}" in result.out.splitlines()
        denied = [line.split(" in us-west-2")[0] for line in result.err.splitlines()]
        assert denied == [
            f"hyperpod: note: no permission for {permission}"
            for permission in (
                "cloudformation:DescribeStackEvents",
                "sagemaker:ListClusterNodes",
                "sagemaker:ListClusterEvents",
                "logs:DescribeLogStreams",
            )
        ]

    def test_is_exit_2_where_nothing_else_failed(self, run: Run, story: Story) -> None:
        story.no_stack()
        story.cluster("InService")
        story.nodes()
        story.account.refuses("sagemaker", "list_cluster_events")
        result = run("explain", "Frontier")
        assert result.code == 2
        assert "nothing that failed could be read" in result.out

    @pytest.mark.parametrize(
        ("code", "expected"),
        [
            ("AccessDeniedException", "hyperpod: no permission for cloudformation:DescribeStackEvents in us-west-2"),
            ("ExpiredTokenException", "hyperpod: the AWS credentials have expired: sign in again"),
            ("UnrecognizedClientException", "hyperpod: AWS does not accept these credentials in us-west-2"),
            ("ThrottlingException", "hyperpod: AWS throttles cloudformation:DescribeStackEvents in us-west-2"),
        ],
    )
    def test_everywhere_is_one_line_and_exit_2(self, run: Run, account: Account, code: str, expected: str) -> None:
        account.refuses("cloudformation", "describe_stack_events", code)
        account.refuses("sagemaker", "describe_cluster", code)
        account.refuses("logs", "describe_log_groups", code)
        result = run("explain", "Frontier")
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert result.err.startswith(expected)

    def test_of_what_is_not_there_names_the_region(self, run: Run, story: Story) -> None:
        story.no_stack()
        story.no_cluster()
        story.account.answers("logs", "describe_log_groups", {"logGroups": []})
        result = run("explain", "Frontier")
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(
            "hyperpod: there is neither a stack nor a cluster Frontier in us-west-2, the Region"
        )


@pytest.mark.parametrize("lines", ["0", "1000", "-1", "many"])
def test_a_number_of_lines_that_cannot_be_is_exit_2(run: Run, lines: str) -> None:
    result = run("explain", "Frontier", f"--lines={lines}")
    assert result.code == 2
    assert f"{lines!r} is not a number of lines; use 1 to 999" in result.err
