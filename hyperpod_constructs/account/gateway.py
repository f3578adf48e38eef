"""The AWS calls that this package makes: reads only, as typed values, with errors that a person can act on.

It is the only module that imports boto3, and only when an account is read: the import takes longer than most commands.
Every call is listed in `READS`. Source of names and fields: the botocore 1.44.8 model of SageMaker (2017-07-24).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotInAccount

READS: Final = ("DescribeCluster", "ListClusterNodes")
"""Every operation of SageMaker that is called: the permissions that are needed, without their `sagemaker:`."""

_CONNECT_SECONDS: Final = 10
"""botocore's 60 s, five times over, would outlast a short `--timeout` in a network without a way to AWS."""
_NODES_PER_PAGE: Final = 100
"""The most that ListClusterNodes allows."""

_DENIED: Final = {"AccessDenied", "AccessDeniedException"}
_EXPIRED: Final = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
_UNKNOWN_KEYS: Final = {"UnrecognizedClientException", "InvalidClientTokenId", "InvalidSignatureException"}
_THROTTLED: Final = {"Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded"}
_SERVER_ERROR: Final = 500
_SIGN_IN: Final = "sign in again (for example `aws sso login`), then repeat the command"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedGroup:
    """An instance group as DescribeCluster shows it.

    Attributes:
        name: Name of the group.
        instance_type: Its type; `None` for a group of several types.
        current: Instances in the group, whatever their state.
        target: Instances asked for, spares included.
        status: For example `InService`, `Creating`, `Degraded`; `None` where AWS does not say.
        plan_status: Status of its training plan; `None` without a plan.
    """

    name: str
    instance_type: str | None
    current: int
    target: int
    status: str | None
    plan_status: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedCluster:
    """A cluster as DescribeCluster shows it.

    Attributes:
        name: Name of the cluster.
        status: One of Creating, Deleting, Failed, InService, RollingBack, SystemUpdating, Updating.
        failure_message: Why something failed; `None` where AWS gives no reason.
        groups: Its instance groups, restricted ones too.
    """

    name: str
    status: str
    failure_message: str | None
    groups: tuple[DescribedGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNode:
    """A node as ListClusterNodes shows it.

    Attributes:
        group: Name of its instance group.
        status: For example `Running`, `Pending`, `DeepHealthCheckInProgress`, `Failure`.
    """

    group: str
    status: str


class Gateway:
    """Reads the clusters of one account in one Region; `connect` makes one."""

    def __init__(self, sagemaker: Any) -> None:  # noqa: ANN401  # boto3 makes its clients at run time and has no types
        """Reads through a client of boto3 for `sagemaker`."""
        self._sagemaker = sagemaker
        self.region: Final[str] = sagemaker.meta.region_name

    def describe_cluster(self, cluster: str) -> DescribedCluster:
        """Status and groups of a cluster.

        Args:
            cluster: Name or ARN.

        Raises:
            NotInAccount: if there is no such cluster.
            AccountError: if AWS refuses or fails the read.
        """
        with _translating(cluster, self.region):
            answer = self._sagemaker.describe_cluster(ClusterName=cluster)
        groups = [*answer.get("InstanceGroups", []), *answer.get("RestrictedInstanceGroups", [])]
        return DescribedCluster(
            name=answer.get("ClusterName", cluster),
            status=answer["ClusterStatus"],
            failure_message=answer.get("FailureMessage") or None,
            groups=tuple(_group(group) for group in groups),
        )

    def list_cluster_nodes(self, cluster: str) -> tuple[ListedNode, ...]:
        """Nodes of a cluster that have an instance; those that are still asked for are not listed.

        Args:
            cluster: Name or ARN.

        Raises:
            NotInAccount: if there is no such cluster.
            AccountError: if AWS refuses or fails the read.
        """
        with _translating(cluster, self.region):
            pages = self._sagemaker.get_paginator("list_cluster_nodes").paginate(
                ClusterName=cluster, PaginationConfig={"PageSize": _NODES_PER_PAGE}
            )
            listed = [node for page in pages for node in page["ClusterNodeSummaries"]]
        return tuple(
            ListedNode(group=node["InstanceGroupName"], status=node["InstanceStatus"]["Status"]) for node in listed
        )


def connect(*, profile: str | None, region: str | None) -> Gateway:
    """Opens an account for reading; nothing is sent yet.

    Args:
        profile: Name of a profile of the AWS configuration; by default what boto3 finds.
        region: Region to read; by default that of the profile or the environment.

    Raises:
        AccountError: if there is no such profile, or no Region is set.
    """
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    try:
        session = boto3.Session(profile_name=profile, region_name=region)
        return Gateway(session.client("sagemaker", config=Config(connect_timeout=_CONNECT_SECONDS)))
    except BotoCoreError as error:
        raise _failure(error) from error


def _group(group: Mapping[str, Any]) -> DescribedGroup:
    return DescribedGroup(
        name=group.get("InstanceGroupName", ""),
        instance_type=group.get("InstanceType"),
        current=group.get("CurrentCount", 0),
        target=group.get("TargetCount", 0),
        status=group.get("Status"),
        plan_status=group.get("TrainingPlanStatus"),
    )


@contextmanager
def _translating(cluster: str, region: str) -> Iterator[None]:
    """Turns errors of a read into ours."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code, said = error.response["Error"].get("Code", ""), error.response["Error"].get("Message", "")
        if _is_not_found(code, said):
            raise NotInAccount(
                f"there is no cluster {cluster} in {region}, the Region that was asked, for this account: "
                "check the name, --region and --profile"
            ) from error
        raise _refusal(error, code, said, region) from error
    except BotoCoreError as error:
        raise _failure(error) from error


def _refusal(error: Any, code: str, said: str, region: str) -> AccountError:  # noqa: ANN401  # ClientError has no types
    """What an error answer of AWS means."""
    operation = error.operation_name
    call = f"sagemaker:{operation}" if operation in READS else operation  # AssumeRole and others get us credentials
    if code in _DENIED:
        return AccountError(f"no permission for {call} in {region}: it must be allowed. AWS says: {said}")
    if code in _EXPIRED:
        return AccountError(f"the AWS credentials have expired: {_SIGN_IN}")
    if code in _UNKNOWN_KEYS:
        return AccountError(
            f"AWS does not accept these credentials in {region}: they are wrong, or the Region is not enabled for the "
            f"account. AWS says: {said}"
        )
    if code in _THROTTLED:
        return AccountUnavailable(f"AWS throttles {call} in {region}: try again later", answered=True)
    message = f"{call} failed in {region} with {code}: {said}"
    if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= _SERVER_ERROR:
        return AccountUnavailable(message, answered=True)
    return AccountError(message)


def _is_not_found(code: str, said: str) -> bool:
    """Whether an answer means that there is no such cluster.

    ResourceNotFound is what the model documents for both reads. Older reads of SageMaker, and moto, say it in words.
    """
    return code == "ResourceNotFound" or (code == "ValidationException" and said.startswith("Could not find"))


def _failure(error: Exception) -> AccountError:
    """What an error of botocore itself means: nothing was sent, or nothing came back."""
    from botocore import exceptions

    match error:
        case exceptions.NoCredentialsError() | exceptions.PartialCredentialsError():
            return AccountError(f"{_sentence(error)}: sign in (for example `aws sso login`) or use --profile NAME")
        case exceptions.NoRegionError():
            return AccountError("no Region is set: use --region, for example --region us-west-2")
        case exceptions.ProfileNotFound():
            return AccountError(f"{_sentence(error)}: use one of those that `aws configure list-profiles` shows")
        case exceptions.SSOError() | exceptions.TokenRetrievalError() | exceptions.LoginError():
            return AccountError(f"the AWS sign-in has expired or is missing: {_SIGN_IN}. AWS says: {_sentence(error)}")
        case exceptions.HTTPClientError() | exceptions.ConnectionError():
            return AccountUnavailable(
                f"AWS cannot be reached: {_sentence(error)}; check the network and --region", answered=False
            )
    return AccountError(f"AWS cannot be read: {_sentence(error)}")


def _sentence(error: Exception) -> str:
    return str(error).strip().rstrip(".")
