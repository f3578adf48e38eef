"""Which quotas of an account a deployment draws on, and how much: they are raised before the day they are needed.

What an account has is known only to Service Quotas; here are the exact names to ask for, the numbers needed and the
values that were once seen elsewhere. A raise can take days, and a training plan does not lift the quota of its type.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.catalog import limits
from hyperpod_constructs.catalog.limits import Quota
from hyperpod_constructs.model.capacity import InstanceGroup, Spot, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.tokens import UNKNOWN, known

CODE: Final = "QUOTA_CODE"
"""Placeholder in commands. Public lists of codes contradict each other, so a code is never taken from our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededQuota:
    """A quota and how much of it a deployment needs.

    Attributes:
        quota: Name, service, code and values seen elsewhere; the account's own value may differ.
        region: Region of the quota; `None` where the deployment does not say.
        needed: Smallest value with which the deployment fits, if nothing else in the account draws on the quota.
        complete: Whether everything that draws on it is counted; otherwise `needed` is a lower bound.
        groups: Paths of the groups that draw on it.
    """

    quota: Quota
    region: str | None
    needed: int
    complete: bool
    groups: tuple[str, ...]

    @property
    def likely_enough(self) -> bool:
        """Whether the smallest value that was seen elsewhere would do."""
        return self.complete and bool(self.quota.seen) and self.needed <= min(self.quota.seen)

    @property
    def look_up(self) -> str:
        """The AWS CLI command that prints the quota's code and default value, selected by its exact name."""
        # The language of --query, JMESPath, has JSON between backticks, which single quotes hide from the shell.
        name = json.dumps(self.quota.name).replace("`", "\\u0060")
        shown = ["--output", "text", "--query", f"Quotas[?QuotaName==`{name}`].[QuotaCode,Value]"]
        return shlex.join(["aws", "service-quotas", "list-aws-default-service-quotas", *self._place, *shown])

    @property
    def command(self) -> str:
        """The AWS CLI command that asks for the value, with `CODE` in place of what `look_up` prints."""
        asked = ["--quota-code", CODE, "--desired-value", str(self.needed)]
        return shlex.join(["aws", "service-quotas", "request-service-quota-increase", *self._place, *asked])

    @property
    def _place(self) -> tuple[str, ...]:
        return ("--region", self.region or "REGION", "--service-code", self.quota.service)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draw:
    """A group and what it takes; `amount` is `None` where that is known only at deploy."""

    path: str
    amount: int | None


def needed(deployment: Deployment) -> tuple[NeededQuota, ...]:
    """Every quota that a deployment draws on, by Region; in a fixed order."""
    by_region: dict[str | None, list[Cluster]] = {}
    for cluster in deployment.clusters:
        by_region.setdefault(cluster.region, []).append(cluster)
    regions = sorted(by_region, key=lambda region: region or "")
    return tuple(quota for region in regions for quota in _in_region(region, by_region[region]))


def _in_region(region: str | None, clusters: list[Cluster]) -> Iterator[NeededQuota]:
    groups = [(cluster.path_of(group), group) for cluster in clusters for group in cluster.groups]
    spot = [(path, group) for path, group in groups if isinstance(group.capacity, Spot)]
    usual = [(path, group) for path, group in groups if not isinstance(group.capacity, Spot)]
    largest = max(clusters, key=_instances_known)
    largest_groups = [(largest.path_of(group), group) for group in largest.groups]
    draws: list[tuple[Quota, list[_Draw]]] = [
        *((limits.cluster_usage_quota(name), _draws(usual, name)) for name in _types(usual)),
        *((limits.spot_usage_quota(name), _draws(spot, name)) for name in _types(spot)),
        (limits.SPOT_INSTANCES_IN_ALL_CLUSTERS, _draws(spot)),
        (limits.INSTANCES_PER_CLUSTER, _draws(largest_groups)),
        (limits.INSTANCES_IN_ALL_CLUSTERS, _draws(groups)),
        (limits.NETWORK_INTERFACES, [_Draw(path=path, amount=_interfaces(group)) for path, group in groups]),
    ]
    for quota, drawn in draws:
        yield from _sum(quota, region, drawn)
    yield from _volumes(region, groups)
    yield from _plans(region, groups)


def _sum(quota: Quota, region: str | None, draws: Iterable[_Draw]) -> Iterator[NeededQuota]:
    """The quota, unless nothing is known to draw on it."""
    drawn = [draw for draw in draws if draw.amount != 0]
    total = sum(draw.amount or 0 for draw in drawn)
    if total:
        complete = all(draw.amount is not None for draw in drawn)
        paths = tuple(draw.path for draw in drawn)
        yield NeededQuota(quota=quota, region=region, needed=total, complete=complete, groups=paths)


def _instances_known(cluster: Cluster) -> int:
    return sum(group.instances for group in cluster.groups if isinstance(group.instances, int))


def _types(groups: Iterable[tuple[str, InstanceGroup]]) -> list[str]:
    return sorted({name for _, group in groups for name in _types_of(group)})


def _types_of(group: InstanceGroup) -> tuple[str, ...]:
    """Types that a group may have: every one of a flexible group can be the one that all of its nodes get."""
    if isinstance(group.flexible_types, tuple) and group.flexible_types:
        return group.flexible_types
    name = known(group.instance_type)
    return () if name is None else (name,)


def _draws(groups: Iterable[tuple[str, InstanceGroup]], name: str | None = None) -> list[_Draw]:
    """Instances of each group; only of those that may have the named type, where one is named."""
    return [
        _Draw(path=path, amount=known(group.instances))
        for path, group in groups
        if name is None or name in _types_of(group)
    ]


def _interfaces(group: InstanceGroup) -> int | None:
    """One network interface for each network card of each node."""
    instances = known(group.instances)
    cards = group.facts.network_cards if group.facts else None
    return None if instances is None or cards is None else instances * cards


def _volumes(region: str | None, groups: list[tuple[str, InstanceGroup]]) -> Iterator[NeededQuota]:
    """The largest EBS volume, where it is above what accounts were seen to allow."""
    sizes = [
        (size, path)
        for path, group in groups
        for volume in (group.volumes if isinstance(group.volumes, tuple) else ())
        if (size := known(volume.size_gib)) is not None and size > min(limits.VOLUME_SIZE_GB.seen)
    ]
    if sizes:
        paths = tuple(dict.fromkeys(path for _, path in sizes))
        largest = max(size for size, _ in sizes)
        quota = limits.VOLUME_SIZE_GB
        yield NeededQuota(quota=quota, region=region, needed=largest, complete=True, groups=paths)


def _plans(region: str | None, groups: list[tuple[str, InstanceGroup]]) -> Iterator[NeededQuota]:
    """Number of plans, and instances of each type that they hold."""
    on_plan = [(path, group, group.capacity) for path, group in groups if isinstance(group.capacity, TrainingPlan)]
    first: dict[str, _Draw] = {}
    by_type: dict[str, list[_Draw]] = {}
    for path, group, plan in on_plan:
        if plan.name in first:
            continue
        first[plan.name] = _Draw(path=path, amount=1)
        name = known(plan.instance_type) or known(group.instance_type)
        if name is not None:
            by_type.setdefault(name, []).append(_Draw(path=path, amount=_of_plan(plan, on_plan)))
    yield from _sum(limits.TRAINING_PLANS, region, first.values())
    for name in sorted(by_type):
        yield from _sum(limits.reserved_capacity_quota(name), region, by_type[name])


def _of_plan(plan: TrainingPlan, on_plan: list[tuple[str, InstanceGroup, TrainingPlan]]) -> int | None:
    """Instances that a plan holds; where it does not say, those of the groups on it, which it must hold at least."""
    if (count := known(plan.count)) is not None:
        return count
    instances = [group.instances for _, group, other in on_plan if other.name == plan.name]
    return None if UNKNOWN in instances else sum(count for count in instances if isinstance(count, int))
