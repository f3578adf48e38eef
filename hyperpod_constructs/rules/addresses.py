"""Whether subnets hold the addresses that their nodes take, which nobody can change later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hyperpod_constructs.catalog.instances import Addresses
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import (
    NARROWEST_BLOCK,
    RESERVED_ADDRESSES,
    WIDEST_BLOCK,
    Subnet,
    VpcPlacement,
)
from hyperpod_constructs.planning import addresses
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._places import PREREQUISITES, known_subnets
from hyperpod_constructs.rules._words import named


@dataclass(frozen=True, slots=True, kw_only=True)
class _Demand:
    """Addresses that one group takes."""

    group: InstanceGroup
    path: str
    cluster: str
    nodes: int
    each: Addresses

    @property
    def need(self) -> int:
        return self.nodes * self.each.count


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    """Groups that take their addresses from the same subnets.

    Attributes:
        subnets: All of them, with known blocks.
        spread: Whether the nodes may stand in several of them; a cluster's groups all stand in one.
        demands: What each group takes, as far as known.
    """

    subnets: tuple[Subnet, ...]
    spread: bool
    demands: tuple[_Demand, ...]

    @property
    def room(self) -> int:
        """Addresses that these groups can have at most."""
        each = [subnet.addresses or 0 for subnet in self.subnets]
        return sum(each) if self.spread else max(each)

    @property
    def documented(self) -> tuple[_Demand, ...]:
        """Demands whose number AWS prints."""
        return tuple(demand for demand in self.demands if demand.each.documented)

    def problem(self, shown: tuple[_Demand, ...]) -> Problem:
        """The finding, with the demands that exceed the room."""
        terms = " + ".join(f"{d.nodes:,} node{'s' * (d.nodes != 1)} x {d.each.count}" for d in shown)
        computed = "; ".join(dict.fromkeys(d.each.rule for d in shown if not d.each.documented))
        needs = f"need{'s' * (len(shown) == 1)} {_total(shown):,} addresses ({terms}{computed and ': ' + computed})"
        return Problem(
            path=shown[0].path if len(shown) == 1 else shown[0].cluster,
            message=f"{named(*(d.group for d in shown))} {needs} but {self._rooms()}",
            fix=_wide_enough(_total(self.demands)),
        )

    def _rooms(self) -> str:
        if self.spread:
            return f"the {len(self.subnets)} subnets have {self.room:,} together"
        largest = max(self.subnets, key=lambda subnet: subnet.addresses or 0)
        name = f"{largest.zone if isinstance(largest.zone, str) else largest.path} {largest.cidr}"
        if len(self.subnets) == 1:
            return f"subnet {name} has {self.room:,}"
        return f"the largest of {len(self.subnets)} subnets, {name}, has {self.room:,}"


def _total(demands: Iterable[_Demand]) -> int:
    return sum(demand.need for demand in demands)


def _wide_enough(need: int) -> str:
    """The fix: the narrowest subnet that holds so many addresses."""
    prefix = min(NARROWEST_BLOCK, 32 - (need + RESERVED_ADDRESSES - 1).bit_length())
    if prefix < WIDEST_BLOCK:
        most = 2 ** (32 - WIDEST_BLOCK) - RESERVED_ADDRESSES
        return f"give some groups subnets of their own: the widest, a /{WIDEST_BLOCK}, has {most:,} addresses"
    return f"use a /{prefix} or wider, which has {2 ** (32 - prefix) - RESERVED_ADDRESSES:,}"


def _demand(deployment: Deployment, cluster: Cluster, group: InstanceGroup) -> _Demand | None:
    """What a group takes from the subnets of its placement; `None` where that is not known, or none."""
    elsewhere = group.placement is None and group.zone not in {None, deployment.zone_of(cluster.placement)}
    each = addresses.per_node(group, cluster.orchestrator)
    if elsewhere or each is None or not isinstance(group.instances, int) or group.instances == 0:
        return None
    path = cluster.path_of(group)
    return _Demand(group=group, path=path, cluster=cluster.path, nodes=group.instances, each=each)


def _pools(deployment: Deployment) -> Iterator[_Pool]:
    """Pools of every cluster; what stands in one and the same subnet is one pool, also across clusters."""
    pools: dict[tuple[object, ...], tuple[tuple[Subnet, ...], bool, list[_Demand]]] = {}
    for cluster, group, _ in deployment.groups():
        placement, demand = cluster.placement_of(group), _demand(deployment, cluster, group)
        if demand is None or not isinstance(placement, VpcPlacement) or not isinstance(placement.subnets, tuple):
            continue
        subnets = tuple(known_subnets(deployment, placement.subnets))
        if len(subnets) < len(placement.subnets) or not subnets or any(s.addresses is None for s in subnets):
            continue
        spread = len(subnets) > 1 and group.placement is not None
        # Clusters under conditions may exclude each other, so none is added to another.
        alone = cluster.conditional or len(subnets) > 1
        key = (frozenset(placement.subnets), alone and cluster.path, spread)
        pools.setdefault(key, (subnets, spread, []))[2].append(demand)
    for subnets, spread, demands in pools.values():
        yield _Pool(subnets=subnets, spread=spread, demands=tuple(demands))


@rule(
    "HP4003",
    Severity.ERROR,
    title="Subnet has too few addresses for its nodes, by numbers that AWS prints",
    because="subnets cannot be resized and a cluster cannot move to others: one that is full needs a new cluster. "
    "File systems take addresses of the same subnet, which are not counted",
    source=f"{PREREQUISITES} (addresses of P5); VPC user guide, subnet sizing",
)
def addresses_suffice(deployment: Deployment) -> Iterator[Problem]:
    for pool in _pools(deployment):
        if _total(pool.documented) > pool.room:
            yield pool.problem(pool.documented)


@rule(
    "HP4004",
    Severity.WARNING,
    title="Subnet seems to have too few addresses for its nodes",
    because="AWS prints the addresses of P5 alone; for other types they follow from a rule that fits what AWS prints",
    source=f"{PREREQUISITES} and sagemaker-hyperpod-eks-prerequisites (pod table); computed",
)
def computed_addresses_suffice(deployment: Deployment) -> Iterator[Problem]:
    for pool in _pools(deployment):
        if _total(pool.documented) <= pool.room < _total(pool.demands):
            yield pool.problem(pool.demands)
