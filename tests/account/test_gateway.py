from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore import UNSIGNED, exceptions as botocore_errors
from botocore.config import Config

from hyperpod_constructs.account import gateway
from hyperpod_constructs.account.gateway import Gateway, ListedNode, Reader
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotInAccount
from tests.account.conftest import Account, group, node

PARTS = sorted(Path(gateway.__file__).parent.glob("*.py"))
READ_ONLY = ("Describe", "List", "Get", "Search", "Filter", "Head")


def readers() -> list[type[Reader]]:
    """Every reader of the package, one for each service."""
    for part in PARTS:
        importlib.import_module(f"{gateway.__name__}.{part.stem}" if part.stem != "__init__" else gateway.__name__)
    return sorted(Reader.__subclasses__(), key=lambda reader: reader.__name__)


class TestReadsOnly:
    @pytest.mark.parametrize("reader", readers())
    def test_a_service_is_asked_only_for_what_changes_nothing(self, reader: type[Reader]) -> None:
        assert [name for name in reader.READS if not name.startswith(READ_ONLY)] == []

    @pytest.mark.parametrize("reader", readers())
    def test_what_is_listed_exists_and_is_what_is_called(self, reader: type[Reader]) -> None:
        model = botocore.session.get_session().get_service_model(reader.SERVICE)
        assert set(reader.READS) - set(model.operation_names) == set()
        assert set(_calls(ast.parse(inspect.getsource(reader)))) == set(reader.READS)

    def test_what_is_not_listed_cannot_be_called(self, account: Account) -> None:
        with pytest.raises(KeyError, match="DeleteCluster"):
            account.gateway._read("DeleteCluster", ClusterName="Frontier")

    def test_nothing_is_called_on_a_client_but_by_the_two_kinds_of_read(self) -> None:
        parts = [part for part in PARTS if part.stem != "session"]
        assert [part.name for part in parts if "._client" in part.read_text() or _imports_boto3(part)] == []

    def test_boto3_is_loaded_only_when_an_account_is_opened(self) -> None:
        code = """
import sys
import hyperpod_constructs.cli, hyperpod_constructs.cli.status, hyperpod_constructs.account.status
print(sorted({"boto3", "botocore"} & set(sys.modules)))
"""
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
        assert found.stdout == "[]\n"


def _calls(tree: ast.AST) -> Iterator[str]:
    """Operations that a reader names in calls of its own methods: always written out, so that they can be listed."""
    for call in ast.walk(tree):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self")), args=[ast.Constant(value=str(operation)), *_]):
                yield operation


def _imports_boto3(part: Path) -> bool:
    return any(line.lstrip().startswith(("import boto", "from boto")) for line in part.read_text().splitlines())


class TestDescribeCluster:
    def test_has_status_reason_and_groups(self, account: Account) -> None:
        account.stub.add_response(
            "describe_cluster",
            {
                "ClusterArn": "arn",
                "ClusterName": "Frontier",
                "ClusterStatus": "Failed",
                "FailureMessage": "no capacity",
                "InstanceGroups": [group("p5", 32, CurrentCount=20, Status="Degraded", TrainingPlanStatus="Active")],
                "RestrictedInstanceGroups": [group("nova", 4)],
            },
            {"ClusterName": "Frontier"},
        )
        found = account.gateway.describe_cluster("Frontier")
        p5, nova = found.groups
        assert (found.name, found.status, found.failure_message) == ("Frontier", "Failed", "no capacity")
        assert (p5.name, p5.current, p5.target, p5.status, p5.plan_status) == ("p5", 20, 32, "Degraded", "Active")
        assert (nova.name, nova.target, nova.plan_status) == ("nova", 4, None)

    def test_takes_what_aws_leaves_out_for_nothing(self, account: Account) -> None:
        answer = {"ClusterArn": "arn", "ClusterStatus": "Creating", "InstanceGroups": [{"InstanceGroupName": "a"}]}
        account.stub.add_response("describe_cluster", {**answer, "FailureMessage": ""})
        found = account.gateway.describe_cluster("Frontier")
        (only,) = found.groups
        assert (found.name, found.failure_message) == ("Frontier", None)
        assert (only.current, only.target, only.instance_type, only.status) == (0, 0, None, None)


class TestListClusterNodes:
    def test_reads_every_page(self, account: Account) -> None:
        asked = {"ClusterName": "Frontier", "MaxResults": 100}
        first = {"ClusterNodeSummaries": [node("p5", "Running")], "NextToken": "more"}
        account.stub.add_response("list_cluster_nodes", first, asked)
        last = {"ClusterNodeSummaries": [node("login", "Pending")]}
        account.stub.add_response("list_cluster_nodes", last, {**asked, "NextToken": "more"})
        assert account.gateway.list_cluster_nodes("Frontier") == (
            _listed("p5", "Running"),
            _listed("login", "Pending"),
        )


def _listed(group: str, status: str) -> ListedNode:
    launched = datetime(2026, 12, 7, tzinfo=UTC)
    return ListedNode(
        group=group, status=status, instance="i-0123456789abcdef0", launched=launched, imaged=launched, message=None
    )


class TestAnErrorOfAws:
    @pytest.mark.parametrize(
        ("code", "message"),
        [("ResourceNotFound", "Cluster not found"), ("ValidationException", "Could not find cluster 'Frontier'.")],
    )
    def test_that_there_is_no_cluster_names_the_region_that_was_asked(
        self, account: Account, code: str, message: str
    ) -> None:
        account.fails(code, message)
        with pytest.raises(NotInAccount, match="there is no cluster Frontier in us-west-2, the Region that was asked"):
            account.gateway.describe_cluster("Frontier")

    def test_that_access_is_denied_names_the_permission(self, account: Account) -> None:
        said = "User: arn:aws:iam::111122223333:user/ci is not authorized"
        account.fails("AccessDeniedException", said, call="list_cluster_nodes")
        with pytest.raises(AccountError, match=r"no permission for sagemaker:ListClusterNodes in us-west-2.*user/ci"):
            account.gateway.list_cluster_nodes("Frontier")

    @pytest.mark.parametrize(
        ("code", "expected"),
        [
            ("ExpiredTokenException", "the AWS credentials have expired: sign in again"),
            ("ExpiredToken", "the AWS credentials have expired: sign in again"),
            ("RequestExpired", "the AWS credentials have expired: sign in again"),  # EC2's word for it
            ("AuthorizationError", "no permission for sagemaker:DescribeCluster in us-west-2"),  # SNS's
            ("UnrecognizedClientException", "does not accept these credentials in us-west-2: they are wrong, or the"),
            ("ValidationException", "sagemaker:DescribeCluster failed in us-west-2 with ValidationException: as said"),
        ],
    )
    def test_that_lasts_is_one_line(self, account: Account, code: str, expected: str) -> None:
        account.fails(code, "as said")
        with pytest.raises(AccountError, match=expected) as caught:
            account.gateway.describe_cluster("Frontier")
        assert not isinstance(caught.value, AccountUnavailable | NotInAccount)

    @pytest.mark.parametrize(("code", "status"), [("ThrottlingException", 400), ("InternalFailure", 500), ("503", 503)])
    def test_that_passes_says_so(self, account: Account, code: str, status: int) -> None:
        account.fails(code, "slow down", status=status)
        with pytest.raises(AccountUnavailable) as caught:
            account.gateway.describe_cluster("Frontier")
        assert caught.value.answered

    def test_about_the_credentials_names_the_call_that_failed(self, account: Account) -> None:
        answer = {"Error": {"Code": "AccessDenied", "Message": "not authorized to perform: sts:AssumeRole"}}
        raising(account, botocore_errors.ClientError(answer, "AssumeRole"))
        with pytest.raises(AccountError, match=r"no permission for AssumeRole in us-west-2.*sts:AssumeRole"):
            account.gateway.describe_cluster("Frontier")


def raising(account: Account, error: Exception) -> None:
    """Makes the next call fail before anything is sent."""

    def fail(**_: Any) -> None:
        raise error

    account.gateway._client.meta.events.register("provide-client-params.sagemaker", fail)


class TestAnErrorBeforeAws:
    @pytest.mark.parametrize(
        ("error", "expected"),
        [
            (botocore_errors.UnauthorizedSSOTokenError(), "sign-in has expired or is missing: sign in again"),
            (
                botocore_errors.TokenRetrievalError(provider="sso", error_msg="Token has expired"),
                "sign-in has expired or is missing: sign in again.*Token has expired",
            ),
            (
                botocore_errors.CredentialRetrievalError(provider="process", error_msg="exit 1"),
                "AWS cannot be read: .*exit 1",
            ),
            (
                botocore_errors.PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"),
                "AWS_SECRET_ACCESS_KEY: sign in",
            ),
        ],
    )
    def test_about_the_credentials_says_what_to_do(self, account: Account, error: Exception, expected: str) -> None:
        raising(account, error)
        with pytest.raises(AccountError, match=expected):
            account.gateway.describe_cluster("Frontier")

    @pytest.mark.parametrize("error", [botocore_errors.ReadTimeoutError, botocore_errors.ProxyConnectionError])
    def test_on_the_way_may_pass(self, account: Account, error: type[Exception]) -> None:
        fields = {"endpoint_url": "https://x", "proxy_url": "https://p", "error": "refused"}
        raising(account, error(**fields))
        with pytest.raises(AccountUnavailable, match="AWS cannot be reached") as caught:
            account.gateway.describe_cluster("Frontier")
        assert not caught.value.answered

    @pytest.mark.usefixtures("_signed_out")
    def test_where_nothing_listens_names_the_address(self) -> None:
        from boto3 import Session

        config = Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1})
        client = Session().client(
            "sagemaker", region_name="us-west-2", endpoint_url="http://127.0.0.1:9", config=config
        )
        with pytest.raises(AccountUnavailable, match=r"AWS cannot be reached: .*127\.0\.0\.1:9"):
            Gateway(client).describe_cluster("Frontier")


@pytest.mark.usefixtures("_signed_out")
class TestConnect:
    def test_sends_nothing_and_knows_its_region(self) -> None:
        assert gateway.connect(profile=None, region="us-west-2").region == "us-west-2"

    def test_takes_the_region_of_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
        assert gateway.connect(profile=None, region=None).region == "eu-north-1"

    def test_without_a_region_says_how_to_give_one(self) -> None:
        with pytest.raises(AccountError, match="no Region is set: use --region"):
            gateway.connect(profile=None, region=None)

    @pytest.mark.parametrize(
        ("region", "said"),
        [
            ("us-wst-2", "there is no Region 'us-wst-2': did you mean us-west-2"),
            ("us-est-1", "did you mean us-east-1 or us-west-1"),
            ("eu-centrall-1", "did you mean eu-central-1"),
            ("ap-southest-2", "did you mean ap-southeast-2"),
            ("su-west-2", "did you mean eu-west-2 or us-west-2"),
            ("us-west-2b", "did you mean us-west-2"),
            ("the-moon", "there is no Region 'the-moon': use one such as us-west-2"),
        ],
    )
    def test_in_a_region_that_cannot_be_names_the_nearest_and_asks_nobody(
        self, monkeypatch: pytest.MonkeyPatch, region: str, said: str
    ) -> None:
        monkeypatch.setenv("AWS_DEFAULT_REGION", region)
        with pytest.raises(AccountError, match=said):
            gateway.sign_in(profile=None, region=None)

    @pytest.mark.parametrize("region", ["us-isof-south-1", "eusc-de-east-1", "us-west-3", "eu-northwest-1"])
    def test_in_a_region_that_our_list_lacks_or_that_is_new_is_possible(self, region: str) -> None:
        assert gateway.sign_in(profile=None, region=region).region == region

    def test_with_an_unknown_profile_says_where_to_find_one(self) -> None:
        with pytest.raises(AccountError, match=r"\(ml\) could not be found: use one of those that `aws configure list"):
            gateway.connect(profile="ml", region="us-west-2")

    def test_without_credentials_the_first_read_says_so(self) -> None:
        opened = gateway.connect(profile=None, region="us-west-2")
        with pytest.raises(AccountError, match="Unable to locate credentials: sign in"):
            opened.describe_cluster("Frontier")


def test_an_endpoint_that_is_no_address_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "notaurl")
    with pytest.raises(AccountError, match="Invalid endpoint: notaurl"):
        gateway.sign_in(profile=None, region="us-west-2").open(Gateway)
