"""Reads of CloudFormation: stacks as they are now, and resource types that a Region has.

Source of names and fields: the botocore 1.44.8 model of CloudFormation (2010-05-15).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_constructs.account.gateway.session import Reader
from hyperpod_constructs.errors import NotInAccount


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveStack:
    """A stack of the account.

    Attributes:
        name: Its name.
        status: For example CREATE_COMPLETE, ROLLBACK_COMPLETE.
        reason: Why it is in this state; empty where CloudFormation does not say.
    """

    name: str
    status: str
    reason: str


class Stacks(Reader):
    """Reads the stacks and resource types of one account in one Region."""

    SERVICE = "cloudformation"
    READS = {  # noqa: RUF012  # the base class has the type
        "DescribeStacks": "cloudformation:DescribeStacks",
        "DescribeType": "cloudformation:DescribeType",
        "ListStackResources": "cloudformation:ListStackResources",
    }

    def stack(self, name: str) -> LiveStack | None:
        """A stack; `None` where there is none of that name.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        try:
            (found,) = self._read("DescribeStacks", of=f"stack {name}", StackName=name)["Stacks"]
        except NotInAccount:
            return None
        return LiveStack(
            name=found["StackName"], status=found["StackStatus"], reason=found.get("StackStatusReason", "")
        )

    def resources(self, name: str) -> Mapping[str, str]:
        """What a stack has made: id in the account by logical id; empty where there is no such stack.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        try:
            listed = self._pages("ListStackResources", "StackResourceSummaries", of=f"stack {name}", StackName=name)
        except NotInAccount:
            return {}
        return {
            each["LogicalResourceId"]: each["PhysicalResourceId"]
            for each in listed
            if each.get("PhysicalResourceId") and each.get("ResourceStatus") != "DELETE_COMPLETE"
        }

    def has_type(self, name: str) -> bool:
        """Whether the registry of the Region has a resource type.

        Args:
            name: For example `AWS::Grafana::Workspace`.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        try:
            self._read("DescribeType", of=f"resource type {name}", Type="RESOURCE", TypeName=name)
        except NotInAccount:  # TypeNotFoundException
            return False
        return True
