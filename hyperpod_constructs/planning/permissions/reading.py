"""The policy of whoever runs a preflight: nothing in it changes anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hyperpod_constructs.planning.permissions.documents import Document, Statement, documents

NAME: Final = "preflight"
_ONLY_ON: Final = {"ssm:GetParameter": "arn:*:ssm:*:*:parameter/cdk-bootstrap/*"}
"""Reads of content, and the only content that a preflight asks for: the version of the CDK's bootstrap stack."""


def policy(permissions: Iterable[str]) -> tuple[Document, ...]:
    """One statement for each service.

    Args:
        permissions: Actions such as `ec2:DescribeSubnets`, as the gateway lists them.
    """
    by_place: dict[tuple[str, str], set[str]] = {}
    for permission in permissions:
        by_place.setdefault((permission.partition(":")[0], _ONLY_ON.get(permission, "*")), set()).add(permission)
    statements = (
        Statement(
            sid=f"Read{service.title().replace('-', '')}{'' if resource == '*' else 'Only'}",
            actions=tuple(sorted(actions)),
            resources=(resource,),
            why="reads, of whatever is there" if resource == "*" else "reads the version of the CDK's bootstrap",
        )
        for (service, resource), actions in sorted(by_place.items())
    )
    return documents(NAME, statements)
