"""What several rules ask of places: who stands in which subnet, what has EFA, what comes before what."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from ipaddress import IPv4Network
from itertools import combinations
from typing import Final, Literal

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Rule, SecurityGroup, Subnet, VpcPlacement, as_block
from hyperpod_constructs.model.storage import FileSystem
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.tokens import UNKNOWN

_VPC_ID: Final = re.compile(r"vpc-[0-9a-f]+")
PREREQUISITES: Final = "SageMaker developer guide, sagemaker-hyperpod-prerequisites"


def has_efa(group: InstanceGroup) -> bool:
    """Whether the nodes of a group are known to have EFA, of whichever of its types they are."""
    return bool(group.possible_facts) and all(facts.efa_interfaces for facts in group.possible_facts)


def placements(deployment: Deployment) -> Iterator[tuple[str, str, VpcPlacement]]:
    """Every placement that is given, with the path of its owner and how a message names the owner."""
    for cluster in deployment.clusters:
        yield from placements_of(cluster)


def placements_of(cluster: Cluster) -> Iterator[tuple[str, str, VpcPlacement]]:
    """Every placement that is given in one cluster, in the same form."""
    if isinstance(cluster.placement, VpcPlacement):
        yield cluster.path, "the cluster", cluster.placement
    for group in cluster.groups:
        if isinstance(group.placement, VpcPlacement):
            yield cluster.path_of(group), named(group), group.placement


def known_subnets(deployment: Deployment, paths: object) -> list[Subnet]:
    """Those of the subnets that the deployment knows."""
    found = (deployment.subnet(path) for path in paths) if isinstance(paths, tuple) else ()
    return [subnet for subnet in found if subnet is not None]


def different_zones(deployment: Deployment, paths: object) -> list[str]:
    """The zones of some subnets as messages call them, if any two of the subnets are certainly apart; else none."""
    subnets = known_subnets(deployment, paths)
    if not any(one.apart_from(other) for one, other in combinations(subnets, 2)):
        return []
    return sorted({subnet.shown_zone for subnet in subnets if subnet.shown_zone})


def lustre_mounts(deployment: Deployment, cluster: Cluster) -> Iterator[tuple[InstanceGroup, FileSystem]]:
    """Groups with the Lustre file systems of the deployment that they mount."""
    for group in cluster.groups:
        for mount in group.mounts if isinstance(group.mounts, tuple) else ():
            file_system = deployment.file_system(mount.file_system)
            if mount.kind == "lustre" and file_system is not None:
                yield group, file_system


def in_one_template(deployment: Deployment, one: str, other: str) -> bool:
    """Whether two things stand in one template, so that nothing else decides their order."""
    places = deployment.locations.get(one), deployment.locations.get(other)
    return all(places) and len({place.file for place in places if place}) == 1


def is_all_known(deployment: Deployment, *paths: str) -> bool:
    """Whether no template that nobody showed us can come between some things: they stand in one.

    Without locations all is taken for one template.
    """
    return not deployment.locations or all(in_one_template(deployment, paths[0], path) for path in paths)


def waits_for(deployment: Deployment, path: str, before: frozenset[str] | None, other: str | None) -> bool:
    """Whether something exists before another thing, or may do so: inline parts do, and those of another template.

    Args:
        deployment: Both of them.
        path: What should wait.
        before: What is known to come before it; `None` where nothing is known.
        other: What it should wait for; `None` for what is no resource of its own.
    """
    return other is None or before is None or other in before or not _may_be_late(deployment, path, other)


def let_wait(who: str, paths: Iterable[str]) -> str:
    """The fix for something that does not wait for what it needs.

    Args:
        who: What should wait, such as `the cluster`.
        paths: What it should wait for.
    """
    return f"let {who} depend on {all_of(paths)}: DependsOn in a template, node.add_dependency in the CDK"


def _may_be_late(deployment: Deployment, path: str, other: str) -> bool:
    """Without locations all is taken for one template."""
    if path in deployment.locations and other in deployment.locations:
        return in_one_template(deployment, path, other)
    return True


def different_vpcs(deployment: Deployment, one: object, other: object) -> bool:
    """Whether two marks of VPCs are certainly those of different ones."""
    return is_one_vpc(deployment, one) and is_one_vpc(deployment, other) and one != other


def is_one_vpc(deployment: Deployment, mark: object) -> bool:
    """Whether a mark is that of one certain VPC: one of the deployment, or an imported one by its id."""
    made = {vpc.path for vpc in deployment.routing.vpcs}
    return isinstance(mark, str) and (mark in made or _VPC_ID.fullmatch(mark) is not None)


def all_groups(deployment: Deployment, paths: object) -> list[SecurityGroup] | None:
    """The security groups of a list; `None` if one of them is not known, or not all of its rules are."""
    if not isinstance(paths, tuple):
        return None
    found = [deployment.security_group(path) for path in paths]
    known = [group for group in found if group is not None and group.complete]
    return known if len(known) == len(found) else None


def passes(
    holders: Iterable[SecurityGroup],
    direction: Literal["ingress", "egress"],
    port: int,
    *,
    peers: Collection[object],
    subnets: Iterable[Subnet],
) -> bool:
    """Whether security groups let a TCP port through to or from peers, as far as known.

    Args:
        holders: The groups of one interface, of which one that lets through is enough.
        direction: Which way, from their point of view.
        port: The port.
        peers: Paths or ids of the security groups at the other end.
        subnets: Where the other end stands.
    """
    blocks = [subnet.block for subnet in subnets]
    return any(
        _lets(each, port, peers, blocks) for group in holders for each in group.rules if each.direction == direction
    )


def _lets(each: Rule, port: int, peers: Collection[object], blocks: list[IPv4Network | None]) -> bool:
    if each.protocol is not UNKNOWN and not each.covers("tcp", port):
        return False
    if each.group is not None:
        return each.group is UNKNOWN or each.group in peers
    its_block = as_block(each.cidr)
    # A block that is not known, of IPv6 or of a prefix list may hold everything.
    return its_block is None or any(block is None or block.overlaps(its_block) for block in blocks)
