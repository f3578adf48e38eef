"""Statements of policies: what each speaks of, and whether it covers another one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Final

from hyperpod_constructs.review.access.written import (
    Fits,
    Pattern,
    Tree,
    items_of,
    joined,
    meet,
    rendered,
    within,
)

_ANY: Final = Pattern(("*",), "*")
_ALIKE_IF: Final = re.compile(r"(string(equals|equalsignorecase|like)|arn(equals|like)|ipaddress)(ifexists)?")
"""Operators that hold for more requests the more values they have."""
_UNLIKE_IF: Final = re.compile(r"(string(notequals|notequalsignorecase|notlike)|arnnot(equals|like)|notipaddress)")
"""Operators that hold for fewer requests the more values they have."""
_IF_EXISTS: Final = "ifexists"


@dataclass(frozen=True, slots=True)
class Scope:
    """Actions, resources or principals: some patterns, or everything but them."""

    patterns: frozenset[Pattern]
    but: bool = False

    @lru_cache(maxsize=65_536)  # noqa: B019  # values, which live as long as the program that reviews one change
    def covers(self, other: Scope, fits: Fits) -> bool:
        """Whether it takes in all of the other one."""
        if self.but and other.but:
            return all(any(within(mine, its) for its in other.patterns) for mine in self.patterns)
        if self.but:
            return not any(meet(its, mine) for its in other.patterns for mine in self.patterns)
        if other.but:
            return _ANY in self.patterns
        return all(any(fits(its, mine) for mine in self.patterns) for its in other.patterns)

    def single(self) -> Iterator[Scope]:
        """One scope for each pattern."""
        yield from (self,) if self.but else (Scope(frozenset({each})) for each in self.patterns)

    def __str__(self) -> str:
        return ("everything but " if self.but else "") + listed(each.text for each in self.patterns)


EVERYTHING: Final = Scope(frozenset({_ANY}))


@dataclass(frozen=True, slots=True)
class Condition:
    """One key of a condition, with the values that it is compared with."""

    operator: str
    key: str
    patterns: frozenset[Pattern]
    text: str = field(compare=False)

    def covers(self, other: Condition, fits: Fits) -> bool:
        """Whether it holds wherever the other one holds."""
        if self.key != other.key or self.operator not in (other.operator, other.operator + _IF_EXISTS):
            return False
        if _ALIKE_IF.fullmatch(self.operator):
            return all(any(fits(its, mine) for mine in self.patterns) for its in other.patterns)
        if _UNLIKE_IF.fullmatch(self.operator):
            return all(any(fits(mine, its) for its in other.patterns) for mine in self.patterns)
        mine, its = self.patterns - other.patterns, other.patterns - self.patterns
        same = all(any(fits(a, b) and fits(b, a) for b in its) for a in mine)
        return same and bool(mine) == bool(its)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, in which no order and no way of writing is left."""

    allow: bool
    actions: Scope
    resources: Scope
    principals: Scope
    conditions: frozenset[Condition] = frozenset()

    def covers(self, other: Statement, fits: Fits = within) -> bool:
        """Whether it says the same, or more, of everything that the other one speaks of."""
        return self.reaches(other, fits) and all(
            any(mine.covers(its, fits) for its in other.conditions) for mine in self.conditions
        )

    def reaches(self, other: Statement, fits: Fits = within) -> bool:
        """The same without regard to conditions."""
        return (
            self.actions.covers(other.actions, fits)
            and self.resources.covers(other.resources, fits)
            and self.principals.covers(other.principals, fits)
        )

    @property
    def is_open(self) -> bool:
        """Whether a part of it is known only at deploy."""
        scopes: tuple[Scope | Condition, ...] = (self.actions, self.resources, self.principals, *self.conditions)
        return any(each.opens for scope in scopes for each in scope.patterns)

    def atoms(self) -> Iterator[Statement]:
        """The same in statements of one action, one resource and one principal each."""
        for action, resource, principal in product(
            self.actions.single(), self.resources.single(), self.principals.single()
        ):
            yield replace(self, actions=action, resources=resource, principals=principal)


ADMINISTRATOR: Final = Statement(allow=True, actions=EVERYTHING, resources=EVERYTHING, principals=EVERYTHING)


def document(tree: Tree) -> Tree:
    """A policy document, also where it is written as text."""
    if not isinstance(tree, Pattern) or len(tree.parts) != 1 or not isinstance(tree.parts[0], str):
        return tree
    try:
        return _plain(json.loads(tree.parts[0]))
    except (ValueError, RecursionError):
        return tree


def _plain(value: object) -> Tree:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return Pattern((text,), text)


def read(tree: Tree, *, of_resource: bool) -> Statement | None:
    """One statement; `None` where it cannot be read.

    Args:
        tree: The statement.
        of_resource: Whether it stands in a policy of a resource or of trust, which says whom it speaks of.
    """
    if not isinstance(tree, dict):
        return None
    effect, actions = tree.get("Effect"), _scope(tree, "Action", _action)
    resources = _scope(tree, "Resource", lambda _, each: each) if _names(tree, "Resource") else EVERYTHING
    principals = _scope(tree, "Principal", _principal) if of_resource else EVERYTHING
    conditions = _conditions(tree.get("Condition"))
    readable = isinstance(effect, Pattern) and effect.text in ("Allow", "Deny")
    if not readable or actions is None or resources is None or principals is None or conditions is None:
        return None
    return Statement(effect == Pattern(("Allow",), ""), actions, resources, principals, conditions)


def _names(tree: Mapping[str, Tree], name: str) -> bool:
    return name in tree or f"Not{name}" in tree


def _scope(tree: Mapping[str, Tree], name: str, read: Callable[[str, Pattern], Pattern]) -> Scope | None:
    given = tree.get(name, tree.get(f"Not{name}"))
    by_kind = given if isinstance(given, dict) else {"": given}
    items = [(kind, each) for kind, some in by_kind.items() for each in items_of(some)]
    found = frozenset(read(kind, each) for kind, each in items if isinstance(each, Pattern))
    return Scope(found, but=name not in tree) if found and all(isinstance(e, Pattern) for _, e in items) else None


def _action(_: str, given: Pattern) -> Pattern:
    # IAM compares actions without regard to case.
    return replace(given, parts=tuple(each.lower() if isinstance(each, str) else each for each in given.parts))


def _principal(kind: str, given: Pattern) -> Pattern:
    if given.parts == ("*",):
        return Pattern(("*",), "anyone")
    parts = given.parts
    if re.fullmatch(r"\d{12}|<AccountId>", given.text) and kind == "AWS":
        parts = ("arn:aws:iam::", *parts, ":root")
    account = re.fullmatch(r"arn:[^:]*:iam::([^:]+):root", "".join(map(rendered, parts)))
    return Pattern(joined((f"{kind} ", *parts)), f"account {account[1]}" if account else given.text)


def _conditions(tree: Tree) -> frozenset[Condition] | None:
    if tree is None:
        return frozenset()
    if not isinstance(tree, dict):
        return None
    found = []
    for operator, keys in tree.items():
        for key, given in keys.items() if isinstance(keys, dict) else ():
            values = frozenset(each for each in items_of(given) if isinstance(each, Pattern))
            text = f"{key} {operator} {listed(each.text for each in values)}"
            found.append(Condition(operator.lower(), key.lower(), values, text))
    return frozenset(found) if all(isinstance(keys, dict) for keys in tree.values()) else None


def listed(texts: Iterable[str], most: int = 5) -> str:
    """The first few in alphabetical order, and how many more there are."""
    found = sorted(texts)
    more = len(found) - most
    return ", ".join(found[:most]) + (f" and {more} more" if more > 0 else "")
