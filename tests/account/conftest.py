"""What tests of an account share: answers of AWS, checked against its model by botocore's Stubber."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from hyperpod_constructs.account.gateway import Gateway

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/0123456789ab"


class Account:
    """A gateway whose next answers a test decides."""

    def __init__(self) -> None:
        client = boto3.client(
            "sagemaker", region_name="us-west-2", aws_access_key_id="test", aws_secret_access_key="test"
        )
        self.stub = Stubber(client)
        self.gateway = Gateway(client)

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
    with account.stub:
        yield account
    account.stub.assert_no_pending_responses()


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


def node(group: str, status: str) -> dict[str, Any]:
    """A node as ListClusterNodes shows it."""
    return {
        "InstanceGroupName": group,
        "InstanceId": "i-0123456789abcdef0",
        "InstanceType": "ml.p5.48xlarge",
        "LaunchTime": datetime(2026, 12, 7, tzinfo=UTC),
        "InstanceStatus": {"Status": status},
    }
