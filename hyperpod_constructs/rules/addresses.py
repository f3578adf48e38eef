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
    is_of_legal_size,
)
from hyperpod_constructs.planning import addresses
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._places import PREREQUISITES, known_subnets
from hyperpod_constructs.rules._words import named_by_cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class _Demand:
    """Addresses that one group takes.

    Attributes:
        group: The group.
        path: Its path.
        cluster: Its cluster.
        nodes: Its instances.
        each: What one of them takes, by its type: one type, or those that it may be of.
    """

    group: InstanceGroup
    path: str
    cluster: Cluster
    nodes: int
    each: dict[str, Addresses]

    @property
    def least(self) -> Addresses:
        """What one node takes at least."""
        return min(self.each.values(), key=lambda addresses: addresses.count)

    @property
    def documented(self) -> bool:
        """Whether AWS prints what all of its types take."""
        return all(addresses.documented for addresses in self.each.values())

    @property
    def need(self) -> int:
        """What all nodes take at least."""
        return self.nodes * self.least.count

    @property
    def wish(self) -> int:
        """What the nodes take if all are of the type that takes the most."""
        return self.nodes * max(addresses.count for addresses in self.each.values())

    @property
    def term(self) -> str:
        """The sum as a message shows it: `16 nodes x 32`."""
        at_least = " or more" if len(self.each) > 1 else ""
        return f"{self.nodes:,} node{'s' * (self.nodes != 1)} x {self.least.count}{at_least}"


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
        return tuple(demand for demand in self.demands if demand.documented)

    def problem(self, shown: tuple[_Demand, ...]) -> Problem:
        """The finding, with the demands that exceed the room."""
        terms = " + ".join(demand.term for demand in shown)
        computed = "; ".join(dict.fromkeys(demand.least.rule for demand in shown if not demand.documented))
        needs = f"need{'s' * (len(shown) == 1)} {_total(shown):,} addresses ({terms}{computed and ': ' + computed})"
        return Problem(
            path=shown[0].path if len(shown) == 1 else shown[0].cluster.path,
            message=f"{named_by_cluster(*((each.cluster, each.group) for each in shown))} {needs} but {self._rooms()}",
            fix=_wide_enough(sum(demand.wish for demand in self.demands)),
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
        return (
            f"give some groups subnets of their own (OverrideVpcConfig): the widest, a /{WIDEST_BLOCK}, has "
            f"{_room(WIDEST_BLOCK):,} addresses"
        )
    # hp.ClusterNetwork gives each zone an eighth of its block.
    in_python = f" (hp.ClusterNetwork: cidr of /{prefix - 3} or wider)" if prefix - 3 >= WIDEST_BLOCK else ""
    return f"give the subnet a block of /{prefix} or wider, which has {_room(prefix):,}{in_python}"


def _room(prefix: int) -> int:
    """Addresses that a subnet of this width has for others."""
    return int(2 ** (32 - prefix)) - RESERVED_ADDRESSES


def _demand(deployment: Deployment, cluster: Cluster, group: InstanceGroup) -> _Demand | None:
    """What a group takes from the subnets of its placement; `None` where that is not known, or none."""
    elsewhere = group.placement is None and group.zone not in {None, deployment.zone_of(cluster.placement)}
    each = addresses.per_node(group, cluster.orchestrator)
    if elsewhere or not each or not isinstance(group.instances, int) or group.instances == 0:
        return None
    path = cluster.path_of(group)
    return _Demand(group=group, path=path, cluster=cluster, nodes=group.instances, each=each)


def _can_be_had(subnet: Subnet) -> bool:
    """Whether the block of a subnet is known and of a size that EC2 takes: another is refused, and told, as such."""
    return subnet.block is not None and is_of_legal_size(subnet.block)


def _pools(deployment: Deployment) -> Iterator[_Pool]:
    """Pools of every cluster; what stands in one and the same subnet is one pool, also across clusters."""
    pools: dict[tuple[object, ...], tuple[tuple[Subnet, ...], bool, list[_Demand]]] = {}
    for cluster, group, _ in deployment.groups():
        placement, demand = cluster.placement_of(group), _demand(deployment, cluster, group)
        if demand is None or not isinstance(placement, VpcPlacement) or not isinstance(placement.subnets, tuple):
            continue
        subnets = tuple(known_subnets(deployment, placement.subnets))
        if len(subnets) < len(placement.subnets) or not subnets or not all(_can_be_had(each) for each in subnets):
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
