"""What the policies of a role allow: three-valued, because much of a template is decided at deploy only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Final

from hyperpod_constructs.catalog.permissions import (
    INTERFACE_CHANGE,
    INTERFACE_DESCRIBE,
    INTERFACE_TAG,
    NODE_ACTIONS,
    NODE_POLICY,
)
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.identity import Role, Statement
from hyperpod_constructs.rules._groups import restricted
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.tokens import UNKNOWN, Unknown

ADMINISTRATOR: Final = "AdministratorAccess"
POWER_USER: Final = "PowerUserAccess"

_ARN_FIELDS: Final = 6
_PARTITION: Final = 1
"""Place of the partition in an ARN."""
_WILDCARD: Final = re.compile(r"[*?]")

INTERFACES: Final = {
    **dict.fromkeys(sorted((*INTERFACE_DESCRIBE, *INTERFACE_CHANGE)), "*"),
    INTERFACE_TAG: "arn:*:ec2:*:*:network-interface/*",
}
"""What nodes in a VPC of the account need to get their network interfaces, each with its resource."""

_UNDERSTOOD: Final[dict[str, tuple[Statement, ...]]] = {
    NODE_POLICY: (
        Statement(allow=True, actions=NODE_ACTIONS),
        Statement(allow=True, actions=("s3:ListBucket", "s3:GetObject"), resources=("arn:aws:s3:::sagemaker-*",)),
    ),
    "AmazonSSMManagedInstanceCore": (Statement(allow=True, actions=("ssm:*", "ssmmessages:*", "ec2messages:*")),),
    "AmazonPrometheusRemoteWriteAccess": (Statement(allow=True, actions=("aps:RemoteWrite",)),),
    ADMINISTRATOR: (Statement(allow=True, actions=("*",)),),
}
"""Managed policies of which enough is known to say what they do not allow. Source: moto 5.2.5, copies of AWS's."""


@lru_cache(maxsize=65_536)  # the same few actions and ARNs are compared for every role of an assembly
def overlap(one: str, other: str) -> bool:
    """Whether some text matches both patterns, in which `*` stands for any text and `?` for any character."""
    # Nearly every pair differs before the first wildcard, and the table below costs the product of the lengths.
    beginnings = [_WILDCARD.split(pattern, maxsplit=1)[0] for pattern in (one, other)]
    shorter = min(map(len, beginnings))
    if beginnings[0][:shorter] != beginnings[1][:shorter]:
        return False
    # row[j] tells whether the part of `one` read so far and the first j characters of `other` have a text in common.
    row = [True]
    for wanted in other:
        row.append(row[-1] and wanted == "*")
    for char in one:
        above, row = row, [row[0] and char == "*"]
        for j, wanted in enumerate(other, start=1):
            if "*" in {char, wanted}:
                row.append(above[j] or row[j - 1])
            else:
                row.append(above[j - 1] and (char == wanted or "?" in {char, wanted}))
    return row[-1]


@lru_cache(maxsize=65_536)
def same_resource(one: str, other: str) -> bool:
    """Whether two patterns of ARNs overlap; wildcards stay in their field, and IAM completes short ARNs with `*`."""
    fields = (arn.split(":", _ARN_FIELDS - 1) for arn in (one, other))
    return all(overlap(a, b) for a, b in zip_longest(*fields, fillvalue="*"))


def _any(patterns: tuple[str | Unknown, ...] | Unknown, fits: Callable[[str], bool]) -> bool | None:
    """Whether any of the patterns fits; `None` where that is known only at deploy."""
    if patterns is UNKNOWN:
        return None
    if any(fits(pattern) for pattern in patterns if isinstance(pattern, str)):
        return True
    return None if UNKNOWN in patterns else False


def action_matches(statement: Statement, action: str) -> bool | None:
    return _any(statement.actions, lambda pattern: overlap(pattern.lower(), action.lower()))


def resource_matches(statement: Statement, resource: str) -> bool | None:
    return _any(statement.resources, lambda pattern: same_resource(pattern, resource))


def _allows(statement: Statement, action: str, resource: str) -> bool | None:
    """Whether a statement allows an action; conditions are taken to hold."""
    if not statement.allow:
        return False
    if statement.inverted:
        return None
    verdicts = (action_matches(statement, action), resource_matches(statement, resource))
    if False in verdicts:
        return False
    return None if None in verdicts else True


def granted(role: Role, action: str, resource: str = "*") -> bool | None:
    """Whether the policies of a role allow an action, with conditions taken to hold.

    A denial counts where it is certain; see `denied`.

    Args:
        role: The role.
        action: For example `s3:GetObject`.
        resource: ARN or pattern of what the action is to be done with.

    Returns:
        `None` where the answer may hang on something that is known only at deploy or is not part of the deployment.
    """
    if denied(role, action, resource):
        return False
    managed = role.managed_policies if isinstance(role.managed_policies, tuple) else (UNKNOWN,)
    statements = [*role.statements]
    for name in managed:
        statements += _UNDERSTOOD.get(name, ()) if isinstance(name, str) else ()
    verdicts = {_allows(statement, action, resource) for statement in statements}
    if True in verdicts:
        return True
    all_known = role.complete and all(name in _UNDERSTOOD for name in managed)
    return False if all_known and None not in verdicts else None


def denied(role: Role, action: str, resource: str) -> bool:
    """Whether a statement of a role surely takes an action away from all of a resource."""
    return any(
        _covers(statement.actions, lambda pattern: _within(action.lower(), pattern.lower()))
        and _covers(statement.resources, lambda pattern: _is_part(resource, pattern), but=statement.undecided)
        for statement in role.statements
        if not (statement.allow or statement.conditional or statement.inverted)
    )


def _covers(
    patterns: tuple[str | Unknown, ...] | Unknown, fits: Callable[[str], bool], *, but: tuple[str, ...] = ()
) -> bool:
    """Whether one of the patterns that are known surely fits."""
    known = patterns if isinstance(patterns, tuple) else ()
    return any(fits(pattern) for pattern in known if isinstance(pattern, str) and pattern not in but)


@lru_cache(maxsize=65_536)
def _within(narrow: str, wide: str) -> bool:
    """Whether every text that matches a pattern matches another one."""
    # A wildcard of the narrow one is a character to the wide one, which only `*` takes in.
    parts = ({"*": ".*", "?": "[^*]"}.get(char, re.escape(char)) for char in wide)
    return re.fullmatch("".join(parts), narrow, re.DOTALL) is not None


def _is_part(narrow: str, wide: str) -> bool:
    """Whether every ARN of a pattern is one of another pattern, in whatever partition."""
    if wide == "*":
        return True
    fields = zip_longest(*(arn.split(":", _ARN_FIELDS - 1) for arn in (narrow, wide)), fillvalue="*")
    return all(_within(*pair) for place, pair in enumerate(fields) if place != _PARTITION)


def lacking(role: Role, wanted: Mapping[str, str]) -> dict[str, str]:
    """Those actions, each with its resource, that a role surely lacks."""
    return {action: resource for action, resource in wanted.items() if granted(role, action, resource) is False}


def cure(role: Role, missing: Mapping[str, str], allow: str) -> str:
    """What to do about actions that a role lacks: what is denied stays denied, whatever else is allowed.

    Args:
        role: The role.
        missing: From `lacking`.
        allow: How to allow them.
    """
    taken = [action for action, resource in missing.items() if denied(role, action, resource)]
    if not taken:
        return allow
    out = f"take {all_of(taken)} out of the role's statement with Effect: Deny"
    return out if len(taken) == len(missing) else f"{out}, and {allow}"


def without_policies(role: Role, paths: Iterable[str]) -> Role:
    """The role without the statements of some policies that are resources of their own."""
    left_out = set(paths)
    return replace(role, statements=tuple(each for each in role.statements if each.policy not in left_out))


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What makes a role an administrator of its account.

    Attributes:
        by: A managed policy or the words of a statement.
        over: What it may do with that, as the rest of a sentence.
        writes: Whether that takes in writing objects of every bucket.
    """

    by: str
    over: str
    writes: bool = True


_POWERS: Final = (
    Power(by=ADMINISTRATOR, over="may do everything"),
    Power(by=POWER_USER, over="may do everything but iam:*, organizations:* and account:*"),
    Power(by="IAMFullAccess", over="may give itself every permission", writes=False),
)
"""Managed policies. Source: moto 5.2.5, copies of AWS's."""
_IDENTITIES: Final = ("iam:attachrolepolicy", "iam:putrolepolicy")
"""With one of these on every role a role lets itself do everything."""
_WRITE: Final = "s3:putobject"


def power(role: Role) -> Power | None:
    """What makes a role an administrator, or lets it make itself one; `None` where nothing known does."""
    managed = role.managed_policies if isinstance(role.managed_policies, tuple) else ()
    found = [each for each in _POWERS if each.by in managed]
    found += [its for its in map(_power_of, role.statements) if its is not None]
    return min(found, key=lambda each: not each.writes, default=None)


def _power_of(statement: Statement) -> Power | None:
    if not statement.allow or statement.conditional or not isinstance(statement.actions, tuple):
        return None
    actions = [each.lower() for each in statement.actions if isinstance(each, str)]
    listed = ", ".join(each for each in statement.actions if isinstance(each, str))
    everywhere = isinstance(statement.resources, tuple) and "*" in statement.resources
    if statement.inverted:
        # On all resources it is NotAction that inverts: NotResource with * would allow nothing.
        whole = everywhere and len(actions) == len(statement.actions)
        writes = not any(_within(_WRITE, each) for each in actions)
        return (
            Power(by=f"NotAction: {listed}", over=f"may do everything but {listed}", writes=writes) if whole else None
        )
    if everywhere and {"*", "*:*"} & set(actions):
        return Power(by="Action: * on Resource: *", over="may do everything")
    if everywhere and any(_within(each, pattern) for each in _IDENTITIES for pattern in actions):
        return Power(by=f"{listed} on Resource: *", over="may give itself every permission", writes=False)
    return None


def node_roles(deployment: Deployment) -> Iterator[tuple[Role, Cluster, list[InstanceGroup]]]:
    """Roles of the deployment that nodes have, by cluster, with the groups that have them."""
    for cluster in deployment.clusters:
        users: dict[str, list[InstanceGroup]] = {}
        for group in (*cluster.groups, *(each.group for each in restricted(cluster))):
            if isinstance(group.execution_role, str):
                users.setdefault(group.execution_role, []).append(group)
        for path, its_groups in users.items():
            role = deployment.role(path)
            if role is not None:
                yield role, cluster, its_groups


def users(
    deployment: Deployment, concerned: Callable[[Cluster, InstanceGroup], bool] = lambda *_: True
) -> Iterator[tuple[Role, list[InstanceGroup]]]:
    """Each role that nodes have, once, with the groups of all clusters that have it and are concerned.

    Of groups of one name the first counts: messages tell them apart by nothing else.
    """
    found: dict[str, tuple[Role, dict[str | Unknown, InstanceGroup]]] = {}
    for role, cluster, groups in node_roles(deployment):
        for group in groups:
            if concerned(cluster, group):
                found.setdefault(role.path, (role, {}))[1].setdefault(group.name, group)
    for role, by_name in found.values():
        yield role, list(by_name.values())
