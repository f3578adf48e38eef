"""Reads of CloudFormation: what happened to a stack.

Source of names and fields: the botocore 1.44.8 model of CloudFormation (2010-05-15).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from hyperpod_constructs.account.gateway.session import Reader

STACK: Final = "AWS::CloudFormation::Stack"
_BY_A_USER: Final = "User Initiated"
"""How the first event of an operation that somebody asked for begins its reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackEvent:
    """Something that happened to a stack or to a resource of it.

    Attributes:
        time: When.
        stack: Name of the stack.
        stack_id: ARN of the stack.
        resource: Logical id of the resource; the stack's name for the stack itself.
        kind: Its type, for example `AWS::SageMaker::Cluster`.
        physical_id: Its id in the account; empty where it has none yet.
        status: For example `CREATE_FAILED`.
        reason: Why; empty where CloudFormation does not say.
        name: The name that the template gives the resource, for those that have a property `ClusterName`.
    """

    time: datetime
    stack: str
    stack_id: str
    resource: str
    kind: str
    physical_id: str
    status: str
    reason: str
    name: str | None

    @property
    def about_the_stack(self) -> bool:
        """Whether it is about the stack itself, and not about a nested one."""
        return self.kind == STACK and self.physical_id == self.stack_id

    @property
    def begins(self) -> bool:
        """Whether it is the first event of what somebody asked for."""
        return self.about_the_stack and self.status.endswith("_IN_PROGRESS") and self.reason.startswith(_BY_A_USER)


class StackEvents(Reader):
    """Reads the events of stacks in one account and Region."""

    SERVICE = "cloudformation"
    READS = {  # noqa: RUF012  # the base class has the type
        "DescribeStackEvents": "cloudformation:DescribeStackEvents",
    }

    def last_operation(self, stack: str) -> tuple[StackEvent, ...]:
        """Events of the last create, update or delete of a stack and of its rollback, the newest first.

        A nested stack has no event that says who asked for it: everything that it has is its last operation.

        Args:
            stack: Name, or ARN; only the ARN finds a stack that was deleted.

        Raises:
            NotInAccount: if there is no such stack.
            AccountError: if AWS refuses or fails the read.
        """
        return tuple(self._until_it_began(stack))

    def _until_it_began(self, stack: str) -> Iterator[StackEvent]:
        token: dict[str, str] = {}
        while True:  # page by page: a stack of years has thousands of events, and the last operation a few
            answer = self._read("DescribeStackEvents", of=f"stack {stack}", StackName=stack, **token)
            for event in map(_event, answer["StackEvents"]):
                yield event
                if event.begins:
                    return
            if "NextToken" not in answer:
                return
            token = {"NextToken": answer["NextToken"]}


def _event(event: Mapping[str, Any]) -> StackEvent:
    return StackEvent(
        time=event["Timestamp"],
        stack=event["StackName"],
        stack_id=event["StackId"],
        resource=event.get("LogicalResourceId", ""),
        kind=event.get("ResourceType", ""),
        physical_id=event.get("PhysicalResourceId", ""),
        status=event.get("ResourceStatus", ""),
        reason=event.get("ResourceStatusReason", ""),
        name=_name(event.get("ResourceProperties", "")),
    )


def _name(properties: str) -> str | None:
    try:
        name = json.loads(properties).get("ClusterName")
    except (ValueError, AttributeError):  # CloudFormation cuts long ones off
        return None
    return name if isinstance(name, str) else None
