"""How an account is read: the session, the form of every read, and what an error of AWS means to a person."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import SequenceMatcher
from threading import Lock
from typing import Any, ClassVar, Final, TypeVar

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotAllowed, NotInAccount

_CONNECT_SECONDS: Final = 10
"""botocore's 60 s, five times over, would outlast a short `--timeout` in a network without a way to AWS."""

_DENIED: Final = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "403"}
_EXPIRED: Final = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
_UNKNOWN_KEYS: Final = {
    "AuthFailure",  # EC2's word for it
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "OptInRequired",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_THROTTLED: Final = {
    "RequestLimitExceeded",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
}
_ABSENT: Final = ("NotFound", "NoSuch", "404")
"""How the codes differ that say that something is not there: ResourceNotFound, InvalidSubnetID.NotFound, NoSuchKey."""
_ABSENT_IN_WORDS: Final = ("Could not find", "does not exist")
"""CloudFormation, older reads of SageMaker, and moto, say it in words."""
_SERVER_ERROR: Final = 500
_REGION: Final = re.compile(r"[a-z-]+-(?:central|(?:north|south)?(?:east|west)|north|south)-[0-9]")
"""The form of all Regions: a geography, a direction, and a number."""
_NEAR: Final = 0.6
"""Share of letters from which on a name looks like another, as in `difflib.get_close_matches`."""
_SIGN_IN: Final = "sign in again (for example `aws sso login`), then repeat the command"

_R = TypeVar("_R", bound="Reader")


class Reader:
    """The reads that are made of one AWS service.

    Attributes:
        SERVICE: Name of the service as boto3 has it.
        READS: Every operation that is called, with the permission that it needs, such as `ec2:DescribeSubnets`.
        region: The Region that is read.
    """

    SERVICE: ClassVar[str]
    READS: ClassVar[Mapping[str, str]]

    def __init__(self, client: Any, region: str | None = None) -> None:  # noqa: ANN401  # boto3 has no types
        """Reads through a client of boto3 for `SERVICE`; one of a global service names no Region that people know."""
        self._client = client
        self.region: Final[str] = region or client.meta.region_name

    def _read(self, operation: str, *, of: str = "", **asked: object) -> Mapping[str, Any]:
        """One call.

        Args:
            operation: One of `READS`.
            of: What is asked for, such as `cluster Frontier`, for a message that it is not there.
            asked: Arguments of the operation.

        Raises:
            NotInAccount: if AWS says that it is not there.
            NotAllowed: if the permission is missing.
            AccountError: if AWS refuses or fails the read otherwise.
        """
        from botocore import xform_name

        with _translating(self.READS[operation], of, self.region):
            answer: Mapping[str, Any] = getattr(self._client, xform_name(operation))(**asked)
        return answer

    def _pages(
        self, operation: str, key: str, *, of: str = "", page_size: int | None = None, **asked: object
    ) -> list[Any]:
        """Everything under `key` on all pages of a call.

        Args:
            operation: One of `READS`; it must have a paginator.
            key: Where the items are in an answer.
            of: As for `_read`.
            page_size: How many to ask for at a time; by default as many as AWS likes.
            asked: Arguments of the operation.

        Raises:
            NotInAccount: if AWS says that what is asked for is not there.
            NotAllowed: if the permission is missing.
            AccountError: if AWS refuses or fails the read otherwise.
        """
        from botocore import xform_name

        config = {} if page_size is None else {"PaginationConfig": {"PageSize": page_size}}
        with _translating(self.READS[operation], of, self.region):
            pages = self._client.get_paginator(xform_name(operation)).paginate(**asked, **config)
            return [item for page in pages for item in page.get(key) or ()]


class Session:
    """An account that is signed in to, in one Region; readers of any service are opened from it."""

    def __init__(self, session: Any) -> None:  # noqa: ANN401  # boto3 has no types
        """Reads through a session of boto3."""
        self._session = session
        self._lock = Lock()
        self._clients: dict[tuple[str, str | None], Any] = {}  # making one reads megabytes of JSON
        self.region: Final[str] = session.region_name

    def open(self, reader: type[_R], region: str | None = None) -> _R:
        """A reader of one service; nothing is sent yet. Threads may open readers side by side.

        Args:
            reader: Its class.
            region: Region to read, where it is not that of the session: some services answer in one Region only.

        Raises:
            AccountError: if no client can be made.
        """
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError

        config = Config(connect_timeout=_CONNECT_SECONDS)
        try:
            with self._lock:  # a session of boto3 is not for several threads, its clients are
                key = (reader.SERVICE, region)
                if key not in self._clients:
                    self._clients[key] = self._session.client(reader.SERVICE, region_name=region, config=config)
                return reader(self._clients[key], region or self.region)
        except (BotoCoreError, ValueError) as error:  # a ValueError is botocore's word on AWS_ENDPOINT_URL
            raise _failure(error) from error


def sign_in(*, profile: str | None, region: str | None) -> Session:
    """Opens an account for reading; nothing is sent yet.

    Args:
        profile: Name of a profile of the AWS configuration; by default what boto3 finds.
        region: Region to read; by default that of the profile or the environment.

    Raises:
        AccountError: if there is no such profile, no Region is set, or there is no such Region.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, NoRegionError

    try:
        session = boto3.Session(profile_name=profile, region_name=region)
        if session.region_name is None:
            raise NoRegionError
    except BotoCoreError as error:
        raise _failure(error) from error
    must_exist(session.region_name)
    return Session(session)


def must_exist(region: str) -> None:
    """Refuses what cannot be a Region; nothing is sent. Every address of a misspelled one is one that is not there.

    A Region that is newer than our list and botocore's has the form of the others, and passes.

    Args:
        region: What somebody, a profile or a stack names.

    Raises:
        AccountError: if there is no such Region, with the name that may have been meant.
    """
    if region in regions.names():
        return
    from botocore.loaders import create_loader

    partitions = create_loader().load_data("endpoints")["partitions"]
    known = [each for partition in partitions for each in partition["regions"]]
    is_new = _REGION.fullmatch(region) and any(re.match(each["regionRegex"], region) for each in partitions)
    if region in known or is_new:
        return
    alike = {each: SequenceMatcher(a=each, b=region).ratio() for each in known}
    near = sorted(each for each, ratio in alike.items() if ratio == max(alike.values()) >= _NEAR)
    meant = f"did you mean {' or '.join(near)}?" if near else "use one such as us-west-2"
    raise AccountError(f"there is no Region {region!r}: {meant}")


@contextmanager
def _translating(permission: str, of: str, region: str) -> Iterator[None]:
    """Turns errors of a read into ours."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code, said = error.response["Error"].get("Code", ""), error.response["Error"].get("Message", "")
        if of and _is_not_found(code, said):
            raise NotInAccount(
                f"there is no {of} in {region}, the Region that was asked, for this account: "
                "check the name, --region and --profile"
            ) from error
        raise _refusal(error, permission, region) from error
    except BotoCoreError as error:
        raise _failure(error) from error


def _refusal(error: Any, permission: str, region: str) -> AccountError:  # noqa: ANN401  # ClientError has no types
    """What an error answer of AWS means."""
    code, said = error.response["Error"].get("Code", ""), error.response["Error"].get("Message", "")
    # AssumeRole and others, which get us credentials, fail in the name of the read that needed them.
    call = error.operation_name if error.operation_name in {"AssumeRole", "GetRoleCredentials"} else permission
    if code in _DENIED:
        return NotAllowed(
            f"no permission for {call} in {region}: it must be allowed. AWS says: {said}", permission=call
        )
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
    """Whether an answer means that what was asked for is not there."""
    in_words = code.startswith("Validation") and any(words in said for words in _ABSENT_IN_WORDS)
    return in_words or any(part in code for part in _ABSENT)


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
