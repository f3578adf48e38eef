"""How many nodes of each type a cluster has, and how much of them quotas give away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.catalog import instances
from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.governance import Quota, QuotaShare
from hyperpod_constructs.model.kubernetes import AutoScaling
from hyperpod_constructs.rules._governance import counts
from hyperpod_constructs.rules._groups import groups_of, restricted
from hyperpod_constructs.tokens import UNKNOWN

RESOURCES: Final[Mapping[str, str]] = {"accelerators": "Accelerators", "vcpus": "VCpu", "memory_gib": "MemoryInGiB"}
"""What a quota may count besides instances: field of the model, and CloudFormation's name."""


def types_of(cluster: Cluster) -> tuple[str, ...] | None:
    """Every type of which a cluster has, or may get, nodes; `None` where they are not all known.

    Karpenter makes nodes in the groups that there are, so that a group of none has its type. Of restricted groups no
    page says whether quotas hold for them: their types count as there.
    """
    kinds = [_types_of(group) for group in groups_of(cluster)]
    known = isinstance(cluster.restricted_groups, tuple) and len(restricted(cluster)) == len(cluster.restricted_groups)
    if not known or not kinds or None in kinds:
        return None
    return tuple(dict.fromkeys(kind for each in kinds if each is not None for kind in each))


def _types_of(group: InstanceGroup) -> tuple[str, ...] | None:
    if isinstance(group.instance_type, str):
        return (group.instance_type,)
    return group.flexible_types or None if isinstance(group.flexible_types, tuple) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """All nodes of one type in a cluster.

    Attributes:
        kind: The type.
        nodes: How many of them jobs may use.
        spares: Further ones that wait for a failure.
        facts: What is known of the type.
    """

    kind: str
    nodes: int
    spares: int
    facts: InstanceType | None

    def size(self, resource: str) -> float:
        """How much of a resource one instance has; 0 without any, and where it is not known."""
        return getattr(self.facts, resource, None) or 0


def pools(cluster: Cluster) -> Iterator[Pool]:
    """The pools of a cluster whose number of nodes is known.

    Nothing is said of clusters that scale themselves, of those with restricted groups, nor of a type of which there are
    no nodes now: they may come later.
    """
    off = isinstance(cluster.autoscaling, AutoScaling) and cluster.autoscaling.mode == "Disable"
    kinds = types_of(cluster)
    if kinds is None or cluster.restricted_groups != () or not (cluster.autoscaling is None or off):
        return
    for kind in kinds:
        groups = [group for group in cluster.groups if kind in (_types_of(group) or ())]
        sizes = [group.count for group in groups if _types_of(group) == (kind,) and isinstance(group.count, int)]
        if len(sizes) == len(groups) and sum(sizes) > 0:
            described = next((group.described for group in groups if group.described), None)
            spares = sum(group.spares for group in groups)
            yield Pool(kind=kind, nodes=sum(sizes), spares=spares, facts=described or instances.find(kind))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What quotas give away of a pool.

    Attributes:
        shares: For each quota with a part of it, the quota and how many instances' worth of each of `RESOURCES`.
        whole: Whether all of it is counted in instances.
        asked: Those of `RESOURCES` that quotas count.
        complete: Whether nothing else is, or may be, given away.
    """

    shares: tuple[tuple[Quota, Mapping[str, float]], ...]
    whole: bool
    asked: frozenset[str]
    complete: bool

    def most(self, pool: Pool) -> tuple[str, float]:
        """The resource of which most is given away, and how many instances' worth; of equals one that is asked for."""
        counted = sorted((name for name in RESOURCES if self.whole or pool.size(name)), key=self._unasked)
        sums = {name: sum(taken[name] for _, taken in self.shares) for name in counted}
        return max(sums.items(), key=lambda each: each[1])

    def _unasked(self, resource: str) -> bool:
        return resource not in self.asked


def given(pool: Pool, quotas: list[Quota]) -> Given:
    """What the quotas of a cluster give away of one of its pools, as far as it is certain."""
    found: list[tuple[Quota, QuotaShare, Mapping[str, float]]] = []
    complete = True
    for quota in quotas:
        if quota.active == "Disabled":
            continue
        ours = [share for share in _known(quota) if share.instance_type == pool.kind]
        taken = [(quota, share, each) for share in ours if (each := _taken(share, pool)) is not None]
        complete = complete and counts(quota) and len(taken) == len(ours) and not _may_hold_more(quota)
        found += taken if counts(quota) else []
    return Given(
        shares=tuple((quota, each) for quota, _, each in found),
        whole=all(share.count is not None for _, share, _ in found),
        asked=frozenset(name for _, share, _ in found for name in RESOURCES if getattr(share, name) is not None),
        complete=complete,
    )


def _known(quota: Quota) -> list[QuotaShare]:
    return [share for share in quota.shares if share is not UNKNOWN] if isinstance(quota.shares, tuple) else []


def _may_hold_more(quota: Quota) -> bool:
    """Whether a quota may hold something of a type that is not known."""
    if not isinstance(quota.shares, tuple):
        return True
    return any(share is UNKNOWN or share.instance_type is UNKNOWN for share in quota.shares)


def _taken(share: QuotaShare, pool: Pool) -> Mapping[str, float] | None:
    """How many instances' worth of each resource a share has; `None` where that is not known.

    What is left out the service fills in by the ratio of what is given; without accelerators it gives none.
    """
    wanted = {name: getattr(share, name) for name in RESOURCES if getattr(share, name) is not None}
    if share.partition is not None or share.count is UNKNOWN or UNKNOWN in wanted.values():
        return None
    if share.count is not None:
        return None if wanted else dict.fromkeys(RESOURCES, float(share.count))
    parts = {name: value / size for name, value in wanted.items() if (size := pool.size(name))}
    if len(parts) < len(wanted):
        return None
    ratio = next((parts[name] for name in RESOURCES if name in parts), 0.0)
    return {name: parts.get(name, 0.0 if name == "accelerators" else ratio) for name in RESOURCES}
