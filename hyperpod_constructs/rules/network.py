"""What can be known about zones, subnets and security groups before anything is created.

A cluster's network can never be changed, and most of its faults show only after an hour, as a failed health check or as
nodes that do not come. Imported subnets and security groups are judged by nothing but what is known of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from hyperpod_constructs.catalog import limits, regions
from hyperpod_constructs.catalog.instances import Addresses
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import RESERVED_ADDRESSES, Rule, SecurityGroup, Subnet, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem
from hyperpod_constructs.planning import addresses
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import UNKNOWN

_WIDEST_SUBNET: Final = 16
_NARROWEST_SUBNET: Final = 28
"""Prefix lengths that a subnet can have. Source: VPC user guide, subnet sizing."""
_PREREQUISITES: Final = "SageMaker developer guide, sagemaker-hyperpod-prerequisites"


def _has_efa(group: InstanceGroup) -> bool:
    """Whether the nodes of a group are known to have EFA."""
    return group.facts is not None and bool(group.facts.efa_interfaces)


def _checks_efa(group: InstanceGroup) -> bool:
    """Whether the nodes of a group are known to go through the EFA check: accelerated ones, and where EFA is chosen."""
    chosen = isinstance(group.network_interface, str) or (
        group.facts is not None and group.facts.is_accelerated is True
    )
    return _has_efa(group) and chosen and group.instances != 0


def _placements(deployment: Deployment) -> Iterator[tuple[str, str, VpcPlacement]]:
    """Every placement that is given, with the path of its owner and how a message names the owner."""
    for cluster in deployment.clusters:
        if isinstance(cluster.placement, VpcPlacement):
            yield cluster.path, "the cluster", cluster.placement
        for group in cluster.groups:
            if isinstance(group.placement, VpcPlacement):
                yield cluster.path_of(group), named(group), group.placement


def _known_subnets(deployment: Deployment, paths: object) -> list[Subnet]:
    """Those of the subnets that the deployment knows."""
    found = (deployment.subnet(path) for path in paths) if isinstance(paths, tuple) else ()
    return [subnet for subnet in found if subnet is not None]


def _zones(deployment: Deployment, placement: VpcPlacement) -> list[str]:
    """The different zones of a placement, as far as known."""
    subnets = _known_subnets(deployment, placement.subnets)
    return sorted({subnet.zone for subnet in subnets if isinstance(subnet.zone, str)})


# --- EFA and security groups


def _efa_security_groups(deployment: Deployment) -> Iterator[tuple[Cluster, SecurityGroup, list[InstanceGroup]]]:
    """Known security groups of nodes whose EFA is checked, by cluster, with the instance groups that use them."""
    for cluster in deployment.clusters:
        users: dict[str, list[InstanceGroup]] = {}
        for group in cluster.groups:
            placement = cluster.placement_of(group)
            if not _checks_efa(group) or not isinstance(placement, VpcPlacement):
                continue
            for path in placement.security_groups if isinstance(placement.security_groups, tuple) else ():
                if isinstance(path, str):
                    users.setdefault(path, []).append(group)
        for path, groups in users.items():
            security_group = deployment.security_group(path)
            if security_group is not None:
                yield cluster, security_group, groups


def _efa_users(deployment: Deployment) -> Iterator[tuple[SecurityGroup, list[str]]]:
    """Known security groups of nodes and file systems with EFA, each once, with how a message names those."""
    users: dict[str, list[str]] = {}
    for _, security_group, groups in _efa_security_groups(deployment):
        users.setdefault(security_group.path, []).append(named(*groups))
    for file_system in deployment.file_systems:
        its_groups = file_system.security_groups if isinstance(file_system.security_groups, tuple) else ()
        for path in its_groups if file_system.lustre.efa is True else ():
            if isinstance(path, str):
                users.setdefault(path, []).append(f"file system {file_system.path}")
    for path, names in users.items():
        shared = deployment.security_group(path)
        if shared is not None:
            yield shared, names


def _self_rules(security_group: SecurityGroup, direction: Literal["ingress", "egress"]) -> list[Rule]:
    """Rules that let everything through between members of a group, or that may do so as far as known."""
    return [
        each
        for each in security_group.rules
        if each.direction == direction
        and each.protocol in {"-1", UNKNOWN}
        and each.group in {security_group.path, UNKNOWN}
    ]


@rule(
    "HP4001",
    Severity.ERROR,
    title="Security group with EFA does not let all traffic in from itself and out to itself",
    because="EFA traffic of nodes and file systems passes only rules that name the security group itself, both ways "
    "and on every group of the list; a CIDR rule does not count, and the CDK drops a self egress rule beside "
    "allow_all_outbound",
    source=f"{_PREREQUISITES}; FSx for Lustre user guide, efa-file-systems; awslabs/awsome-distributed-ai, "
    "validate-config.py and PR 259",
)
def efa_passes_security_groups(deployment: Deployment) -> Iterator[Problem]:
    for security_group, users in _efa_users(deployment):
        comes_in, goes_out = _self_rules(security_group, "ingress"), _self_rules(security_group, "egress")
        if not security_group.complete or (comes_in and goes_out):
            continue
        if comes_in:
            does, missing = "lets EFA traffic in from itself but not out to itself", "an egress rule"
        elif goes_out:
            does, missing = "lets EFA traffic out to itself but not in from itself", "an ingress rule"
        else:
            does, missing = "lets EFA traffic neither in from itself nor out to itself", "an ingress and an egress rule"
        yield Problem(
            path=security_group.path,
            message=f"security group of {' and '.join(users)} {does}",
            fix=f"add {missing} with protocol -1 that names the security group itself; a CIDR rule does not count",
        )


def _comes_first(deployment: Deployment, path: str | None, cluster: Cluster) -> bool:
    """Whether a rule exists before the cluster, or may do so: inline rules do, and those of another template."""
    if path is None or cluster.depends_on is None or path in cluster.depends_on:
        return True
    its_place, place = deployment.locations.get(path), deployment.locations.get(cluster.path)
    return its_place is not None and place is not None and its_place.file != place.file


@rule(
    "HP4002",
    Severity.WARNING,
    title="Cluster does not wait for the rules that EFA needs",
    because="rules that are resources of their own may come after the cluster, and then its EFA check fails",
    source="inferred from CloudFormation's order of creation; EFA health check of SageMaker HyperPod",
)
def cluster_waits_for_efa_rules(deployment: Deployment) -> Iterator[Problem]:
    for cluster, security_group, groups in _efa_security_groups(deployment):
        directions: tuple[Literal["ingress"], Literal["egress"]] = ("ingress", "egress")
        for direction in directions:
            rules = _self_rules(security_group, direction)
            undecided = not security_group.complete or any(UNKNOWN in {each.protocol, each.group} for each in rules)
            paths = [each.path for each in rules]
            if undecided or not paths or any(_comes_first(deployment, path, cluster) for path in paths):
                continue
            yield Problem(
                path=cluster.path,
                message=f"the cluster does not wait for {paths[0]}, the {direction} rule for EFA of {named(*groups)}",
                fix=f"let the cluster depend on {paths[0]}",
            )


# --- Addresses


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
    prefix = min(_NARROWEST_SUBNET, 32 - (need + RESERVED_ADDRESSES - 1).bit_length())
    if prefix < _WIDEST_SUBNET:
        most = 2 ** (32 - _WIDEST_SUBNET) - RESERVED_ADDRESSES
        return f"give some groups subnets of their own: the widest, a /{_WIDEST_SUBNET}, has {most:,} addresses"
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
        subnets = tuple(_known_subnets(deployment, placement.subnets))
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
    source=f"{_PREREQUISITES} (addresses of P5); VPC user guide, subnet sizing",
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
    source=f"{_PREREQUISITES} and sagemaker-hyperpod-eks-prerequisites (pod table); computed",
)
def computed_addresses_suffice(deployment: Deployment) -> Iterator[Problem]:
    for pool in _pools(deployment):
        if _total(pool.documented) <= pool.room < _total(pool.demands):
            yield pool.problem(pool.demands)


# --- Subnets and zones


@rule(
    "HP4005",
    Severity.ERROR,
    title="Nodes stand in a public subnet",
    because="HyperPod refuses subnets that give out public addresses, and EC2 cannot give one to a node with several "
    "network interfaces",
    source=f"{_PREREQUISITES}; awslabs/awsome-distributed-ai, validate-config.py",
)
def subnets_are_private(deployment: Deployment) -> Iterator[Problem]:
    for path, owner, placement in _placements(deployment):
        for subnet in _known_subnets(deployment, placement.subnets):
            if subnet.public is True:
                yield Problem(
                    path=path,
                    message=f"{owner} stands in subnet {subnet.path}, which gives its nodes public addresses",
                    fix="use a subnet with MapPublicIpOnLaunch false and a route to a NAT gateway or to VPC endpoints",
                )


@rule(
    "HP4006",
    Severity.WARNING,
    title="Group with EFA spans zones",
    because="EFA traffic cannot leave a zone, so nodes in different zones cannot train together",
    source="EC2 user guide, efa; aws/aws-parallelcluster PR 4631",
)
def efa_group_stays_in_one_zone(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        zones = _zones(deployment, group.placement) if isinstance(group.placement, VpcPlacement) else []
        if len(zones) > 1 and _has_efa(group):
            yield Problem(
                path=path,
                message=f"{named(group)} has EFA and subnets in {len(zones)} zones: {', '.join(zones)}",
                fix=f"use one zone ({' or '.join(zones)}), or make a group for each",
            )


def _regional_zones(deployment: Deployment, cluster: Cluster) -> Iterator[tuple[str, object]]:
    """Path and zone of everything that a cluster needs in its own Region."""
    for group in cluster.groups:
        yield cluster.path_of(group), group.zone
    placements = [cluster.placement, *(group.placement for group in cluster.groups)]
    subnets = [placement.subnets for placement in placements if isinstance(placement, VpcPlacement)]
    subnets += [file_system.subnets for _, file_system in _lustre_mounts(deployment, cluster)]
    for paths in subnets:
        for subnet in _known_subnets(deployment, paths):
            yield subnet.path, subnet.zone


@rule(
    "HP4007",
    Severity.ERROR,
    title="Zone is in another Region than what stands there",
    because="a zone id belongs to one Region, and Region and zone are written in different places",
    source="EC2 user guide, AZ IDs; awslabs/ai-on-sagemaker-hyperpod issue 142",
)
def zones_are_of_the_region(deployment: Deployment) -> Iterator[Problem]:
    told: set[tuple[str, object]] = set()
    for what, region, places in _placed(deployment):
        prefix = region and regions.zone_prefix(region)
        for path, zone in places if prefix else ():
            its_region = regions.region_of_zone(zone) if isinstance(zone, str) else None
            if its_region in {None, region} or (path, zone) in told:
                continue
            told.add((path, zone))
            yield Problem(
                path=path,
                message=f"zone {zone} is in {its_region} but {what} is in {region}",
                fix=f"use a zone id that begins with {prefix}-, or deploy to {its_region}",
            )


def _placed(deployment: Deployment) -> Iterator[tuple[str, str | None, Iterable[tuple[str, object]]]]:
    """What stands in zones, its Region, and the zones by path of what names them."""
    for cluster in deployment.clusters:
        yield "the cluster", cluster.region, _regional_zones(deployment, cluster)
    for file_system in deployment.file_systems:
        zones = [(subnet.path, subnet.zone) for subnet in _known_subnets(deployment, file_system.subnets)]
        yield f"file system {file_system.path}", file_system.region, zones


def _lustre_mounts(deployment: Deployment, cluster: Cluster) -> Iterator[tuple[InstanceGroup, FileSystem]]:
    """Groups with the Lustre file systems of the deployment that they mount."""
    for group in cluster.groups:
        for mount in group.mounts if isinstance(group.mounts, tuple) else ():
            file_system = deployment.file_system(mount.file_system)
            if mount.kind == "lustre" and file_system is not None:
                yield group, file_system


@rule(
    "HP4008",
    Severity.WARNING,
    title="Nodes mount a Lustre file system of another zone",
    because="every read crosses zones, which is slower and charged, and EFA falls back to TCP without a word",
    source="FSx for Lustre user guide, efa-file-systems; aws/aws-parallelcluster PR 4631",
)
def lustre_is_in_the_zone_of_its_nodes(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        apart: dict[tuple[str, str, str], list[InstanceGroup]] = {}
        for group, file_system in _lustre_mounts(deployment, cluster):
            its_zone = deployment.zone_of(VpcPlacement(subnets=file_system.subnets, security_groups=()))
            zone = deployment.zone_of_group(cluster, group)
            if its_zone and zone and its_zone != zone:
                apart.setdefault((file_system.path, its_zone, zone), []).append(group)
        for (path, its_zone, zone), groups in apart.items():
            yield Problem(
                path=cluster.path_of(groups[0]) if len(groups) == 1 else cluster.path,
                message=f"{named(*groups)} in {zone} mount{'s' * (len(groups) == 1)} {path}, which is in {its_zone}"
                f"{_without_efa(deployment.file_system(path), groups)}",
                fix=f"put nodes and file system in one zone, {zone} or {its_zone}",
            )


def _without_efa(file_system: FileSystem | None, groups: list[InstanceGroup]) -> str:
    wanted = file_system is not None and file_system.lustre.efa is True and any(_has_efa(group) for group in groups)
    return ": its EFA cannot be used" if wanted else ""


@rule(
    "HP4009",
    Severity.ERROR,
    title="Placement has no or too many subnets or security groups",
    because="the service refuses the request",
    source="SageMaker API, VpcConfig (botocore 1.44.8)",
)
def placement_has_a_legal_size(deployment: Deployment) -> Iterator[Problem]:
    for path, owner, placement in _placements(deployment):
        for what, given, limit in (
            ("subnets", placement.subnets, limits.SUBNETS),
            ("security groups", placement.security_groups, limits.SECURITY_GROUPS),
        ):
            # What is decided at deploy may also be left out there.
            certain = sum(each is not UNKNOWN for each in given) if isinstance(given, tuple) else 0
            if certain > limit.high or given == ():
                message = f"{owner} has {certain} {what}"
                yield Problem(path=path, message=message, fix=f"give it {limit.low:.0f} to {limit.high:.0f} {what}")


@rule(
    "HP4010",
    Severity.WARNING,
    title="Cluster has subnets in several zones",
    because="HyperPod picks one of the subnets for all groups, perhaps not in the zone of file system or training plan",
    source=_PREREQUISITES,
)
def cluster_stands_in_one_zone(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        zones = _zones(deployment, cluster.placement) if isinstance(cluster.placement, VpcPlacement) else []
        if len(zones) > 1:
            yield Problem(
                path=cluster.path,
                message=f"the cluster has subnets in {len(zones)} zones: {', '.join(zones)}",
                fix="name subnets of one zone, and give groups that stand elsewhere a placement of their own",
            )


@rule(
    "HP4011",
    Severity.WARNING,
    title="Network reaches another stack through a weak reference",
    because="CloudFormation does not hold in place what Fn::GetStackOutput reads: the other stack may replace a subnet "
    "or security group in use, and the next deploy of this one replaces the cluster, or the file system with its data",
    source="inferred from CloudFormation's semantics of Fn::GetStackOutput and of exports",
)
def networks_are_held_in_place(deployment: Deployment) -> Iterator[Problem]:
    users = [(path, owner, placement.weak) for path, owner, placement in _placements(deployment)]
    users += [(each.path, "the file system", each.weak) for each in deployment.file_systems]
    for path, owner, weak in users:
        if weak:
            yield Problem(
                path=path,
                message=f"{owner} has {' and '.join(weak)} through Fn::GetStackOutput",
                fix="put both into one stack, or make the reference strong: an export and Fn::ImportValue, in the CDK "
                "apply_cross_stack_reference_strength on this resource",
            )
