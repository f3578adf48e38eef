"""Who may log in after a change and could not before, and the other way round.

Nodes that run look at the roster every few minutes: what changes here happens without any node being replaced.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hyperpod_constructs.model import roster
from hyperpod_constructs.review.comparison import Comparison
from hyperpod_constructs.review.scripts import files
from hyperpod_constructs.review.wording import whole

_PARAMETER: Final = "AWS::SSM::Parameter"


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterEdit:
    """Users and teams of one cluster that change.

    Attributes:
        path: Path of the parameter that says where the roster lies.
        added: Users who are new.
        removed: Users who are locked out.
        changed: Users with other keys, groups or shells.
        admins: Users who may do everything as root from now on.
        teams: Teams that are new, gone or have another share.
        nodes: Groups with other counts or spares.
        compared: Whether the rosters of both sides were at hand.
    """

    path: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    admins: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    compared: bool = False


def of(comparison: Comparison) -> tuple[RosterEdit, ...]:
    """Every change of a roster."""
    old, new = files(comparison.base), files(comparison.head)
    return tuple(
        _edit(pair.either.path, _read(whole(each.before), old), _read(whole(each.after), new))
        for pair in comparison.pairs
        if pair.either.type == _PARAMETER
        for each in pair.differences
        if each.path == "Value" and each.before is not None and each.after is not None
        if whole(each.after).endswith(f"/{roster.FILE}")
    )


def _read(address: str, published: Mapping[str, Path]) -> dict[str, Any] | None:
    """The roster at an address, if its file is at hand."""
    _, _, key = address.removeprefix("s3://").partition("/")
    file = published.get(key)
    if file is None or not file.is_file():
        return None
    try:
        found = json.loads(file.read_bytes())
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _edit(path: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> RosterEdit:
    if before is None or after is None:
        return RosterEdit(path=path)
    old, new = _by_name(before, "users"), _by_name(after, "users")
    return RosterEdit(
        path=path,
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(sorted(name for name in old.keys() & new.keys() if old[name] != new[name])),
        admins=tuple(sorted(set(_admins(new)) - set(_admins(old)))),
        teams=tuple(sorted(_different(_by_name(before, "teams"), _by_name(after, "teams")))),
        nodes=tuple(sorted(_different(before.get("nodes", {}), after.get("nodes", {})))),
        compared=True,
    )


def _by_name(found: dict[str, Any], what: str) -> dict[str, Any]:
    return {str(each.get("name")): each for each in found.get(what, ()) if isinstance(each, dict)}


def _admins(users: Mapping[str, Any]) -> Iterator[str]:
    return (name for name, user in users.items() if user.get("admin") is True)


def _different(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
