"""What preflight can say and how it finds out: its rules, its checks, and the form of both.

A rule here is documented like every other, but no deployment alone draws it: it takes an account. So rules and checks
are apart. A check reads one subject and may report several rules; a read that fails leaves out one subject only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.rules import Problem, Rule

if TYPE_CHECKING:
    from hyperpod_constructs.account.preflight.context import Context
    from hyperpod_constructs.model.deployment import Deployment


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A fact of the account that later commands can use.

    Attributes:
        section: What it is about: `quotas`, `plans`, `subnets` and so on.
        name: Which one, by its exact name or id.
        facts: What was read; JSON values only.
    """

    section: str
    name: str
    facts: Mapping[str, object]


Said: TypeAlias = Finding | Learned
"""What a check says: something is wrong, or something is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One subject that preflight looks at.

    Attributes:
        name: What progress and messages call it.
        look: Reads the account and says what it finds.
    """

    name: str
    look: Callable[[Context], Iterator[Said]]


RULES: dict[str, Rule] = {}
"""Every rule of preflight by id, in the order of registration."""

CHECKS: list[Check] = []
"""Every check, in the order of registration."""


def rule(id: str, severity: Severity, *, title: str, because: str, source: str) -> Rule:
    """Registers a rule of preflight. Ids are public: never renamed, never reused."""
    if id in RULES:
        raise ValueError(f"rule {id} exists: {RULES[id].title}")
    RULES[id] = Rule(id=id, severity=severity, title=title, because=because, source=source, check=_asks_an_account)
    return RULES[id]


def check(name: str) -> Callable[[Callable[[Context], Iterator[Said]]], Callable[[Context], Iterator[Said]]]:
    """Registers a check under its name."""

    def register(look: Callable[[Context], Iterator[Said]]) -> Callable[[Context], Iterator[Said]]:
        CHECKS.append(Check(name=name, look=look))
        return look

    return register


def not_seen(path: str, message: str, fix: str) -> Finding:
    """Something that a check could not look at, as a finding: silence would read as if nothing were wrong.

    Args:
        path: Where, in the user's terms.
        message: What was not looked at, and why.
        fix: How to look at it.
    """
    return finding(NOT_SEEN, path, message, fix)


def finding(rule: Rule, path: str, message: str, fix: str) -> Finding:
    """A breach of a rule of preflight.

    Args:
        rule: The rule.
        path: Where, in the user's terms.
        message: What is wrong, with the value got.
        fix: The change to make, with the exact command where there is one.
    """
    return Finding(rule=rule.id, severity=rule.severity, path=path, message=message, fix=fix, source=rule.source)


def _asks_an_account(_: Deployment) -> Iterator[Problem]:
    """Without an account there is nothing to say."""
    return iter(())


NOT_SEEN = rule(
    "HP9003",
    Severity.WARNING,
    title="Something was not looked at: only the deployment knows it, or AWS did not say it",
    because="a value that only the deployment knows cannot be asked about, and an answer without the part that counts "
    "settles nothing: it may still be wrong",
    source="hyperpod_constructs",
)
