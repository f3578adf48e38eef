"""How many addresses a deployment takes, and which blocks its subnets get.

Subnets cannot be resized and a cluster cannot move to other subnets, so a block depends on nothing but the network and
the zone: neither more nodes nor one more zone may change it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network

from hyperpod_constructs.catalog import regions, zones
from hyperpod_constructs.catalog.instances import Addresses, InstanceType
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.tokens import UNKNOWN, is_placeholder, is_token

_BLOCKS_OF_A_NETWORK = 8
_WIDEST, _NARROWEST, _SMALL_PREFIX = 16, 22, 28
_FOR_DATABASES, _FOR_CONTROL_PLANES = 21, 20
"""Narrowest networks whose first eighth has room for them."""
_ZONE_NUMBER = re.compile(r"-az(\d+)$")
_EFA_ONLY = Addresses(
    count=1,
    documented=False,
    rule="one: EFA-only cards take none",
    source="EC2 user guide, efa-acc-inst-types (October 2026); HyperPod's own number is not printed",
)


def per_node(group: InstanceGroup, orchestrator: object) -> dict[str, Addresses]:
    """Addresses that one node of a group takes, by the type that it may be of.

    Args:
        group: The group.
        orchestrator: What its cluster has: `Eks`, `Slurm`, `None` for Slurm in its old form, or `UNKNOWN`.

    Returns:
        Nothing unless every one of its types, its network and the orchestrator are known.
    """
    if orchestrator is UNKNOWN or group.network_interface is UNKNOWN:
        return {}
    efa_only, on_eks = group.network_interface == "efa-only", isinstance(orchestrator, Eks)
    found = {facts.name: _of_type(facts, efa_only=efa_only, on_eks=on_eks) for facts in group.possible_facts}
    return {name: each for name, each in found.items() if each is not None} if None not in found.values() else {}


def _of_type(facts: InstanceType, *, efa_only: bool, on_eks: bool) -> Addresses | None:
    if not efa_only or facts.addresses is not None:
        return facts.addresses_on_eks if on_eks else facts.addresses_on_slurm
    if on_eks:
        pods = facts.max_pods
        return (
            None if pods is None else replace(_EFA_ONLY, count=pods + 1, rule="max pods + 1: EFA-only cards take none")
        )
    return _EFA_ONLY


def of_group(group: InstanceGroup, orchestrator: object) -> int | None:
    """Addresses that all nodes of a group take, spares included; `None` where it cannot be known, or types differ."""
    each = per_node(group, orchestrator)
    one = next(iter(each.values())) if len(each) == 1 else None
    return group.instances * one.count if one and isinstance(group.instances, int) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneBlocks:
    """The blocks of one zone.

    Attributes:
        zone: Zone id.
        nodes: Private block for nodes and file systems.
        public: Small block for the NAT gateway.
        database: Small block for databases; `None` in a /22, whose first eighth has no room for it.
        control_plane: Small block for the control plane of EKS; `None` in a /21 and a /22.
    """

    zone: str
    nodes: str
    public: str
    database: str | None
    control_plane: str | None


def blocks(network: str, zone: str) -> ZoneBlocks:
    """The blocks of a zone: an eighth of the network by the zone's number, two pieces of the first eighth besides.

    Of the first eighth, NAT has the first seven pieces of 16 addresses, databases the next seven and control planes the
    seven after those, one for each zone.

    Args:
        network: IPv4 block of the VPC, /16 to /22.
        zone: Zone id, for example `usw2-az2`; its number, 1 to 7, chooses the block. A zone that the CDK has yet to
            look up has the last one until then.

    Raises:
        InvalidValue: if the network is no block of that size, or the zone id has no such number, is a local zone's or
            is known only at deploy.
    """
    try:
        whole = IPv4Network(network)
    except ValueError as error:
        raise InvalidValue(f"network is {network!r} ({error})", "use an IPv4 block such as 10.0.0.0/16") from None
    if not _WIDEST <= whole.prefixlen <= _NARROWEST:
        raise InvalidValue(f"network {network} is a /{whole.prefixlen}", f"use /{_WIDEST} to /{_NARROWEST}")
    if regions.is_local_zone(zone):
        raise InvalidValue(
            f"{zone} is a local zone, whose number is not unique in its Region",
            "make the network yourself and import it with hp.Network.from_attributes; a NAT gateway there takes an "
            f"address with NetworkBorderGroup {zones.border_group(zone) or 'of that zone'}",
        )
    number, most = _zone_number(zone), _BLOCKS_OF_A_NETWORK - 1
    return ZoneBlocks(
        zone=zone,
        nodes=_piece(whole, whole.prefixlen + 3, number),
        public=_piece(whole, _SMALL_PREFIX, number - 1),
        database=_piece(whole, _SMALL_PREFIX, most + number - 1) if whole.prefixlen <= _FOR_DATABASES else None,
        control_plane=_piece(whole, _SMALL_PREFIX, 2 * most + number - 1)
        if whole.prefixlen <= _FOR_CONTROL_PLANES
        else None,
    )


def database_blocks(network: str, zone: str, chosen: Sequence[str] | None = None) -> dict[str, str]:
    """Blocks by zone of the subnets for a database: RDS asks for two zones even where it stands in one.

    Args:
        network: IPv4 block of the VPC, /16 to /21.
        zone: Zone id of the cluster. The second zone is the first other one that the catalogue has of its Region.
        chosen: Zone ids to use instead, two or more.

    Raises:
        InvalidValue: if the network has no room, a zone has no block, the zones are not different ones of one Region,
            or no second zone is known.
    """
    named = _two_zones("a database", "hp.AccountingDatabase(zones=[...])", zone, chosen)
    found = {each: blocks(network, each).database for each in named}
    return _with_room(found, "a database", network, _FOR_DATABASES)


def control_plane_blocks(network: str, zone: str, chosen: Sequence[str] | None = None) -> dict[str, str]:
    """Blocks by zone of the subnets for the control plane of EKS, which asks for two zones; see `database_blocks`.

    Args:
        network: IPv4 block of the VPC, /16 to /20.
        zone: Zone id of the cluster.
        chosen: Zone ids to use instead, two or more.
    """
    named = _two_zones("an EKS control plane", "hp.EksControlPlane(zones=[...])", zone, chosen)
    found = {each: blocks(network, each).control_plane for each in named}
    return _with_room(found, "an EKS control plane", network, _FOR_CONTROL_PLANES)


def _two_zones(what: str, argument: str, zone: str, chosen: Sequence[str] | None) -> list[str]:
    """The zones that are chosen, else that of the cluster and another one."""
    named = [zone, _other_zone(what, argument, zone)] if chosen is None else list(chosen)
    its_regions = {zones.region_of(each) for each in named} - {None}
    if len(named) < 2 or len(set(named)) < len(named) or len(its_regions) > 1:  # noqa: PLR2004  # what RDS and EKS ask
        raise InvalidValue(f"zones of {what} are {named!r}", "give two or more different zone ids of one Region")
    return named


def _with_room(found: Mapping[str, str | None], what: str, network: str, narrowest: int) -> dict[str, str]:
    if None in found.values():
        raise InvalidValue(f"network {network} has no room for {what}", f"use /{narrowest} or wider")
    return {zone: str(block) for zone, block in found.items()}


def _other_zone(what: str, argument: str, zone: str) -> str:
    """The first other zone of the same Region."""
    if is_placeholder(zone):
        return f"{zone}-other"
    others = [each for each in zones.known(zones.region_of(zone) or "") if each != zone]
    if not others:
        raise InvalidValue(
            f"{what} needs subnets in two zones, and the catalogue has no other zone beside {zone}",
            f"give {argument}, two zone ids of the Region",
        )
    return others[0]


def _piece(network: IPv4Network, prefix: int, number: int) -> str:
    """One of the equal blocks that a network is cut into, counted from 0."""
    first = network.network_address + number * 2 ** (network.max_prefixlen - prefix)
    return f"{first}/{prefix}"


def _zone_number(zone: str) -> int:
    most = _BLOCKS_OF_A_NETWORK - 1
    if is_placeholder(zone):
        return most
    if is_token(zone):
        raise InvalidValue(
            "the zone of a network is known only at deploy, and its number chooses the block",
            "give its id, such as usw2-az2",
        )
    match = _ZONE_NUMBER.search(zone)
    if not match or not regions.is_zone_id(zone):
        raise InvalidValue(f"zone {zone!r} is not a zone id", "use one such as usw2-az2, not a name such as us-west-2b")
    if not 1 <= (number := int(match[1])) <= most:
        one = f"{zone.removesuffix(match[0])}-az2"
        raise InvalidValue(
            f"zone {zone} has the number {number}", f"use a zone with a number from 1 to {most}, such as {one}"
        )
    return number
