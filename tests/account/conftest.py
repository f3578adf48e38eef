"""What tests of an account share: answers of AWS, checked against its model by botocore's Stubber."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

import boto3
import pytest
from botocore.stub import Stubber

from hyperpod_constructs.account.gateway import Gateway, Reader, Session

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/0123456789ab"


_R = TypeVar("_R", bound=Reader)


@cache
def _session() -> boto3.Session:
    """One for all tests: each would read the models of the services again."""
    return boto3.Session(region_name="us-west-2", aws_access_key_id="test", aws_secret_access_key="test")


class Account(Session):
    """A session whose next answers a test decides, service by service."""

    def __init__(self) -> None:
        super().__init__(_session())
        self._stubbed: dict[str, Any] = {}
        self._stubs: dict[str, Stubber] = {}
        self.stub = self.stub_of("sagemaker")
        self.gateway = self.open(Gateway)

    def stub_of(self, service: str) -> Stubber:
        """The stub that answers for a service."""
        if service not in self._stubs:
            self._stubbed[service] = self._session.client(service)
            self._stubs[service] = Stubber(self._stubbed[service])
            self._stubs[service].activate()
        return self._stubs[service]

    def open(self, reader: type[_R], region: str | None = None) -> _R:
        """A reader of a stub."""
        assert region in {None, self.region}
        self.stub_of(reader.SERVICE)
        return reader(self._stubbed[reader.SERVICE])

    def answers(self, service: str, call: str, answer: dict[str, Any], asked: dict[str, Any] | None = None) -> None:
        """The next call of a service gets this answer."""
        self.stub_of(service).add_response(call, answer, asked)

    def refuses(self, service: str, call: str, code: str = "AccessDeniedException", message: str = "not yours") -> None:
        """The next call of a service gets this error."""
        self.stub_of(service).add_client_error(call, code, message, http_status_code=400)

    def assert_everything_was_asked_for(self) -> None:
        """No answer is left."""
        for stub in self._stubs.values():
            stub.assert_no_pending_responses()

    def has(self, *groups: dict[str, Any], nodes: dict[str, list[str]] | None = None, **fields: Any) -> None:
        """The next look sees a cluster of these groups, and nodes by group and status."""
        defaults = {"ClusterArn": ARN, "ClusterName": "Frontier", "ClusterStatus": "InService"}
        self.stub.add_response("describe_cluster", {**defaults, "InstanceGroups": list(groups), **fields})
        every = [node(name, status) for name, statuses in (nodes or {}).items() for status in statuses]
        self.stub.add_response("list_cluster_nodes", {"ClusterNodeSummaries": every})

    def fails(self, code: str, message: str = "", *, call: str = "describe_cluster", status: int = 400) -> None:
        """The next call gets an error."""
        self.stub.add_client_error(call, code, message, http_status_code=status)


@pytest.fixture
def account() -> Iterator[Account]:
    """An account of which every answer must be asked for."""
    account = Account()
    yield account
    account.assert_everything_was_asked_for()


@pytest.fixture
def _signed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves boto3 nothing to find on this machine."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_DEFAULT_REGION",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)


def group(name: str, target: int, **fields: Any) -> dict[str, Any]:
    """A group as DescribeCluster shows it, with all its instances."""
    defaults = {"InstanceType": "ml.p5.48xlarge", "CurrentCount": target, "TargetCount": target, "Status": "InService"}
    return {"InstanceGroupName": name, **defaults, **fields}


def node(group: str, status: str, **fields: Any) -> dict[str, Any]:
    """A node as ListClusterNodes shows it."""
    defaults = {
        "InstanceGroupName": group,
        "InstanceId": "i-0123456789abcdef0",
        "InstanceType": "ml.p5.48xlarge",
        "LaunchTime": datetime(2026, 12, 7, tzinfo=UTC),
        "InstanceStatus": {"Status": status},
    }
    return {**defaults, **fields}


def plan(name: str, status: str = "Active", **fields: Any) -> dict[str, Any]:
    """A plan of 32 p5 nodes in usw2-az2, 2026-12-07 to 2027-02-14, as ListTrainingPlans and DescribeTrainingPlan do."""
    starts, ends = datetime(2026, 12, 7, 11, 30, tzinfo=UTC), datetime(2027, 2, 14, 11, 30, tzinfo=UTC)
    defaults = {
        "TrainingPlanArn": f"arn:aws:sagemaker:us-west-2:111122223333:training-plan/{name}",
        "TrainingPlanName": name,
        "Status": status,
        "StartTime": starts,
        "EndTime": ends,
        "TotalInstanceCount": 32,
        "InUseInstanceCount": 30,
        "TargetResources": ["hyperpod-cluster"],
        "ReservedCapacitySummaries": [block(status, StartTime=starts, EndTime=ends)],
    }
    return {**defaults, **fields}


def block(status: str = "Active", **fields: Any) -> dict[str, Any]:
    """Reserved capacity of a plan."""
    defaults = {
        "ReservedCapacityArn": "arn:aws:sagemaker:us-west-2:111122223333:reserved-capacity/0123456789abcdef",
        "InstanceType": "ml.p5.48xlarge",
        "TotalInstanceCount": 32,
        "Status": status,
        "AvailabilityZone": "us-west-2b",
        "AvailabilityZoneId": "usw2-az2",
    }
    return {**defaults, **fields}


NOW = datetime(2027, 1, 10, 10, 0, tzinfo=UTC)
"""The time of tests: in the middle of `plan`."""


def freeze(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    """Makes it `NOW` for a module."""

    class Frozen(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Frozen:
            return cls.fromtimestamp(NOW.timestamp(), tz)

    monkeypatch.setattr(module, "datetime", Frozen)
