"""How messages of all rules call groups, so that one thing has one name."""

from __future__ import annotations

from collections.abc import Iterable

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster


def named(*groups: InstanceGroup) -> str:
    """Groups by name: `group 'p5'`, `groups 'login' and 'p5'`."""
    if len(groups) == 1:
        return f"group {groups[0].name!r}" if isinstance(groups[0].name, str) else "a group"
    names = [repr(group.name) if isinstance(group.name, str) else "one without a known name" for group in groups]
    return f"groups {', '.join(names[:-1])} and {names[-1]}"


def placed(cluster: Cluster, group: InstanceGroup, clusters: Iterable[Cluster]) -> str:
    """A group among groups of some clusters: `group 'p5'`, or `group 'p5' of App/Train` where those differ."""
    several = len({each.path for each in clusters}) > 1
    return f"{named(group)} of {cluster.path}" if several else named(group)


def named_by_cluster(*groups: tuple[Cluster, InstanceGroup]) -> str:
    """Groups by name as `named` has them, with their clusters where those differ: many clusters have one `p5`."""
    clusters = [cluster for cluster, _ in groups]
    if len({cluster.path for cluster in clusters}) <= 1:
        return named(*(group for _, group in groups))
    return all_of(placed(cluster, group, clusters) for cluster, group in groups)


def sized(group: InstanceGroup) -> str:
    """A group's instances: `32`, or `30 + 2 spares`."""
    spares = f" + {group.spares} spare{'s' if group.spares != 1 else ''}" if group.spares else ""
    return f"{group.count}{spares}"


def all_of(values: Iterable[str]) -> str:
    """What belongs together: `a`, `a and b`, `a, b and c`."""
    *first, last = values
    return f"{', '.join(first)} and {last}" if first else last


def any_of(values: Iterable[str]) -> str:
    """What to choose from: `a`, or `one of a, b`."""
    first, *others = values
    return f"one of {', '.join((first, *others))}" if others else first
