"""Statements of policies, and how they become documents: IAM refuses a managed policy of more than 6,144 characters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

LIMIT: Final = 6_144
"""Characters of a managed policy, blanks not counted. Source: IAM user guide, IAM and AWS STS quotas."""
ATTACHED: Final = 10
"""Managed policies of one role by default. Source: the same page; the quota can be raised to 20."""

Test: TypeAlias = tuple[str, str, tuple[str, ...]]
"""One test of a condition: operator, key, values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement that allows something.

    Attributes:
        sid: Its name, unique in its document: letters and digits.
        actions: Sorted.
        resources: ARNs, sorted.
        tests: Its condition; all must hold.
        principal: Who is allowed, in the policy of a key; `None` in a policy that is attached to who is allowed.
        why: For a person: what needs it.
    """

    sid: str
    actions: tuple[str, ...]
    why: str
    resources: tuple[str, ...] = ("*",)
    tests: tuple[Test, ...] = ()
    principal: tuple[str, str] | None = None

    def as_data(self) -> dict[str, Any]:
        """The statement as JSON has it."""
        principal = {} if self.principal is None else {"Principal": dict([self.principal])}
        condition: dict[str, dict[str, str | list[str]]] = {}
        for operator, key, values in self.tests:
            condition.setdefault(operator, {})[key] = _one_or_more(values)
        return {
            "Sid": self.sid,
            "Effect": "Allow",
            **principal,
            "Action": _one_or_more(self.actions),
            "Resource": _one_or_more(self.resources),
            **({"Condition": condition} if condition else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A policy document.

    Attributes:
        name: What it is called, for file and policy names.
        statements: At least one.
    """

    name: str
    statements: tuple[Statement, ...]

    def as_data(self) -> dict[str, Any]:
        """The document as IAM takes it."""
        return {"Version": "2012-10-17", "Statement": [each.as_data() for each in self.statements]}

    @property
    def characters(self) -> int:
        """Its length as IAM counts it."""
        return len(json.dumps(self.as_data(), separators=(",", ":")))


def documents(name: str, statements: Iterable[Statement], limit: int = LIMIT) -> tuple[Document, ...]:
    """As few documents as the order of the statements allows, each within the limit; none without a statement.

    Args:
        name: Name of the only document; of several, what stands before `-1`, `-2` and so on.
        statements: In the order they are to have.
        limit: Most characters of a document.
    """
    found: list[Document] = []
    for statement in (piece for each in statements for piece in _pieces(each, limit)):
        if found and (longer := _with(found[-1], statement)).characters <= limit:
            found[-1] = longer
        else:
            found.append(Document(name=name, statements=(statement,)))
    if len(found) == 1:
        return tuple(found)
    return tuple(replace(each, name=f"{name}-{number}") for number, each in enumerate(found, 1))


def _with(document: Document, statement: Statement) -> Document:
    return replace(document, statements=(*document.statements, statement))


def _pieces(statement: Statement, limit: int) -> Iterator[Statement]:
    """The statement, or several with a part of its actions or resources each where it alone is too long."""
    if Document(name="", statements=(statement,)).characters <= limit:
        yield statement
        return
    by_actions = len(statement.actions) > len(statement.resources)
    whole = statement.actions if by_actions else statement.resources
    middle = len(whole) // 2
    if not middle:  # nothing left to halve: IAM will say so
        yield statement
        return
    for letter, part in (("A", whole[:middle]), ("B", whole[middle:])):
        sid = statement.sid + letter
        piece = replace(statement, sid=sid, actions=part) if by_actions else replace(statement, sid=sid, resources=part)
        yield from _pieces(piece, limit)


def _one_or_more(values: tuple[str, ...]) -> str | list[str]:
    return values[0] if len(values) == 1 else list(values)
