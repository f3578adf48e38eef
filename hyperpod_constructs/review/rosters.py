"""Who may log in after a change and could not before, and the other way round.

Nodes that run look at the roster every few minutes: what changes here happens without any node being replaced.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_constructs.review.comparison import Comparison
from hyperpod_constructs.review.data import is_roster
from hyperpod_constructs.review.scripts import files
from hyperpod_constructs.review.wording import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterEdit:
    """Users and teams of one cluster that change.

    Attributes:
        path: Path of the parameter that says where the roster lies.
        added: Users who are new.
        removed: Users who are locked out.
        changed: Users with other keys, groups or shells.
        renumbered: Users with another uid, and new ones with that of somebody who leaves: nodes refuse both.
        admins: Users who may do everything as root from now on.
        demoted: Users who may not any more.
        groups: POSIX groups that are new, gone or have another number.
        teams: Teams that are new, gone or have another share.
        priorities: Priority classes that are new, gone or have another weight.
        nodes: Groups with other counts or spares.
        compared: Whether the rosters of both sides were at hand.
    """

    path: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    renumbered: tuple[str, ...] = ()
    admins: tuple[str, ...] = ()
    demoted: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    compared: bool = False


def of(comparison: Comparison) -> tuple[RosterEdit, ...]:
    """Every change of a roster."""
    old, new = files(comparison.base), files(comparison.head)
    return tuple(
        _edit(pair.either.path, _read(whole(each.before), old), _read(whole(each.after), new))
        for pair in comparison.pairs
        if is_roster(pair.either)
        for each in pair.differences
        if each.path == "Value" and each.before is not None and each.after is not None
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
    stay, left = old.keys() & new.keys(), {old[name].get("uid") for name in old.keys() - new.keys()}
    reused = {name for name in new.keys() - old.keys() if new[name].get("uid") in left}
    renumbered = {name for name in stay if old[name].get("uid") != new[name].get("uid")} | reused
    return RosterEdit(
        path=path,
        added=_sorted(new.keys() - old.keys() - reused),
        removed=_sorted(old.keys() - new.keys()),
        changed=_sorted({name for name in stay if _rest(old[name]) != _rest(new[name])}),
        renumbered=_sorted(renumbered),
        admins=_sorted(_admins(new) - _admins(old)),
        demoted=_sorted((_admins(old) - _admins(new)) & stay),
        groups=_sorted(_different(_by_name(before, "groups"), _by_name(after, "groups"))),
        teams=_sorted(_different(_by_name(before, "teams"), _by_name(after, "teams"))),
        priorities=_sorted(_different(before.get("priorities", {}), after.get("priorities", {}))),
        nodes=_sorted(_different(before.get("nodes", {}), after.get("nodes", {}))),
        compared=True,
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _rest(user: Mapping[str, Any]) -> dict[str, Any]:
    """A user without what has words of its own."""
    return {key: value for key, value in user.items() if key not in {"uid", "admin"}}


def _by_name(found: dict[str, Any], what: str) -> dict[str, Any]:
    return {str(each.get("name")): each for each in found.get(what, ()) if isinstance(each, dict)}


def _admins(users: Mapping[str, Any]) -> set[str]:
    return {name for name, user in users.items() if user.get("admin") is True}


def _different(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
