"""An account of which a test decides everything: moto where it has a call, answers of our own where it lacks one.

moto 5.2.5 knows networks, roles, buckets, parameters, stacks and clusters. What it lacks is answered here before it is
asked: a handler of botocore sees every call with its arguments, and what it answers is checked against the model of
the service, as botocore's Stubber does. A refusal (`denied`) works for every call.

    with FakeAccount() as account:
        account.answers["DescribeTrainingPlan"] = lambda asked: {...}
        account.denied.add("DescribeSubnets")
        gateway.sign_in(profile=None, region="us-west-2")   # reads the fake one
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, ClassVar, Self, TypeAlias

import boto3
from botocore import handlers
from botocore.model import OperationModel
from botocore.validate import ParamValidator
from moto import mock_aws

from hyperpod_constructs.account.gateway import Session

REGION = "us-west-2"
ACCOUNT = "123456789012"
"""The account of moto."""

Answer: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
_KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION}


class Refused(Exception):
    """What an answer raises to refuse a call.

    Attributes:
        code: For example `ResourceNotFoundException`.
        status: HTTP status.
    """

    def __init__(self, code: str, message: str = "as planted", status: int = 400) -> None:
        self.code, self.status = code, status
        super().__init__(message)


class FakeAccount:
    """An account in moto with the calls that moto lacks; a context manager.

    Attributes:
        answers: Answer by name of the operation, or by `service.Operation` where two services share a name.
        denied: Operations that are refused with AccessDenied.
        called: Every operation that was called through `session()`, in order.
        current: The account that is in use.
    """

    current: ClassVar[FakeAccount | None] = None

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.denied: set[str] = set()
        self.called: list[str] = []
        self._clients: dict[tuple[str, str], Any] = {}
        self._mock = mock_aws(config={"core": {"reset_boto3_session": False}})
        self._kept: dict[str, str | None] = {}
        self._outer: FakeAccount | None = None

    def __enter__(self) -> Self:
        self._kept = {name: os.environ.get(name) for name in _KEYS}
        os.environ.update(_KEYS)
        self._mock.start()
        self._outer, FakeAccount.current = FakeAccount.current, self
        return self

    def __exit__(self, *_: object) -> None:
        FakeAccount.current = self._outer
        self._mock.stop()
        for name, value in self._kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def client(self, service: str, region: str = REGION) -> Any:  # boto3 has no types
        """A client that changes the account; moto answers it."""
        if (service, region) not in self._clients:
            self._clients[service, region] = boto3.client(service, region_name=region)
        return self._clients[service, region]

    @staticmethod
    @cache
    def session() -> Session:
        """The account as our gateway reads it; one for all tests, since making clients is slow."""
        reads = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)
        reads.events.register_first("before-call", _count)  # before an answer ends the call
        return Session(reads)

    @classmethod
    def answer(cls, model: OperationModel, asked: Mapping[str, Any]) -> tuple[object, Mapping[str, Any]] | None:
        """What the current account answers; `None` leaves it to moto."""
        account = cls.current
        if account is None:
            return None
        if model.name in account.denied:
            return _refusal(Refused("AccessDenied", f"not authorized to perform {model.name}", 403))
        service = model.service_model.service_name
        answer = account.answers.get(f"{service}.{model.name}", account.answers.get(model.name))
        if answer is None:
            return None
        try:
            found = answer(asked)
        except Refused as refused:
            return _refusal(refused)
        wrong = ParamValidator().validate(dict(found), model.output_shape)
        assert not wrong.has_errors(), f"{model.name}: {wrong.generate_report()}"
        return SimpleNamespace(status_code=200), {**found, "ResponseMetadata": {"HTTPStatusCode": 200}}


def _refusal(refused: Refused) -> tuple[object, Mapping[str, Any]]:
    error = {"Code": refused.code, "Message": str(refused)}
    return SimpleNamespace(status_code=refused.status), {
        "Error": error,
        "ResponseMetadata": {"HTTPStatusCode": refused.status},
    }


def _count(model: OperationModel, **_: object) -> None:
    if FakeAccount.current is not None:
        FakeAccount.current.called.append(model.name)


def _remember(params: Mapping[str, Any], context: dict[str, Any], **_: object) -> None:
    context["fake_account_asked"] = params


def _answer(model: OperationModel, context: dict[str, Any], **_: object) -> object:
    return FakeAccount.answer(model, context.get("fake_account_asked", {}))


# As moto itself does: every client that is made from now on has these.
_HANDLERS: list[Any] = [("before-parameter-build", _remember), ("before-call", _answer)]
handlers.BUILTIN_HANDLERS += _HANDLERS
