"""Where what runs is another thing than the base asks for: made by hand since, or the base is not what is deployed.

Numbers of nodes stand beside each other in `drift`; this is about what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from hyperpod_constructs.model.capacity import InstanceGroup, Spot, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.review.live.snapshot import Live, LiveGroup
from hyperpod_constructs.tokens import UNKNOWN, Unknown, is_token, known

_ACCOUNT: Final = re.compile(r"[0-9]{12}")
_STAND_IN: Final = re.compile(r"(person|address|key)-[0-9]")
"""What a redacted snapshot has in place of names."""
_SEVERAL: Final = "several instance types"
_NO_SCRIPTS: Final = "no lifecycle scripts"


def of(declared: Cluster | None, groups: Mapping[str, InstanceGroup], live: Live) -> Iterator[str]:
    """What of a cluster runs otherwise than it is declared; nothing where one of both is not known.

    Args:
        declared: The cluster in the base; `None` where it is not there.
        groups: Its groups by name.
        live: What runs.
    """
    if declared is None:
        return
    scheduler = declared.scheduler
    if scheduler is not None and scheduler != live.cluster.orchestrator:
        yield _said(f"cluster {live.cluster.name}", live.cluster.orchestrator, scheduler)
    found: dict[tuple[str, str], list[str]] = {}
    for running in live.cluster.groups:
        if running.name in groups:
            for both in _of_group(groups[running.name], running, redacted=live.redacted):
                found.setdefault(both, []).append(running.name)
    for both, names in found.items():
        yield _said(f"group{'s' if len(names) > 1 else ''} {', '.join(names)}", *both)


def _said(what: str, runs: str, asked: str) -> str:
    return f"{what}: {runs} in the snapshot, {asked} in the base"


def _of_group(declared: InstanceGroup, running: LiveGroup, *, redacted: bool) -> Iterator[tuple[str, str]]:
    """What runs and what is declared, where they differ."""
    types = running.instance_type or _SEVERAL, _type(declared)
    capacity = _running_capacity(running), _capacity(declared)
    role = running.role, _role(declared)
    for runs, asked in (types, capacity, role):
        if runs is not None and asked is not None and not _same(runs, asked, redacted=redacted):
            yield runs, asked
    scripts = declared.lifecycle
    if moved(running.scripts, scripts, redacted=redacted):
        given = known(scripts.source_uri) if isinstance(scripts, Lifecycle) else None
        yield _scripts(running.scripts), _scripts(given)


def _same(runs: str, asked: str, *, redacted: bool) -> bool:
    """Whether two texts are the same, as far as a redacted snapshot tells."""
    if not redacted:
        return runs == asked
    return bool(_STAND_IN.search(runs)) or _ACCOUNT.sub("", runs) == _ACCOUNT.sub("", asked)


def _type(group: InstanceGroup) -> str | None:
    if group.instance_type is None:
        return None if group.flexible_types is UNKNOWN or not group.flexible_types else _SEVERAL
    return known(group.instance_type)


def _capacity(group: InstanceGroup) -> str | None:
    """What a group is paid as; `None` where that is decided at deploy, or several are asked for at once."""
    if group.capacity is UNKNOWN or len(group.asked) > 1:
        return None
    if isinstance(group.capacity, TrainingPlan):
        return None if is_token(group.capacity.plan) else f"training plan {group.capacity.name}"
    return "spot" if isinstance(group.capacity, Spot) else "on demand"


def _running_capacity(group: LiveGroup) -> str:
    plan = [f"training plan {group.plan.rpartition('/')[2]}"] if group.plan else []
    return " and ".join([*plan, *(["spot"] if group.spot else [])]) or "on demand"


def _role(group: InstanceGroup) -> str | None:
    """The role's ARN; of one that the template makes CloudFormation may choose the name."""
    role = known(group.execution_role)
    return role if role is not None and role.startswith("arn:") else None


def _scripts(place: str | None) -> str:
    return _NO_SCRIPTS if place is None else f"lifecycle scripts of {place}"


def moved(running: str | None, scripts: Lifecycle | Unknown | None, *, redacted: bool) -> bool | None:
    """Whether scripts lie elsewhere than they do now; `None` where that is not known.

    Args:
        running: Where nodes get them now.
        scripts: What a template says.
        redacted: Whether accounts and names are stand-ins in what runs.
    """
    if scripts is UNKNOWN or (scripts and scripts.source_uri is UNKNOWN):
        return None
    given = scripts.source_uri if scripts else None
    if not isinstance(given, str) or running is None:
        return given is not running
    ours, theirs = running.rstrip("/"), given.rstrip("/")
    if redacted:
        if _STAND_IN.search(ours):
            return None
        ours, theirs = _ACCOUNT.sub("", ours), _ACCOUNT.sub("", theirs)
    if theirs.endswith("*"):  # the rest is decided at deploy
        return None if ours.startswith(theirs.removesuffix("*")) else True
    return ours != theirs
