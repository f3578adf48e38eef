"""What can be known about routes and gateways before anything is created: whether they can be had, and in which order.

CloudFormation sees no connection between a route and the attachment of the gateway it leads to, nor between a cluster
and the routes of its subnets. What comes too early fails now and then, which is worse than always.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import zones
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Subnet, as_block
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._places import (
    different_vpcs,
    in_one_template,
    is_all_known,
    is_one_vpc,
    known_subnets,
    let_wait,
    placements_of,
    waits_for,
)
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.tokens import UNKNOWN

_SHOWN: Final = 3
"""Names of resources in one message."""

# --- Gateways


def _late_gateways(deployment: Deployment) -> Iterator[tuple[str, str, str]]:
    """What needs an internet gateway before it is certainly attached: path, what it is, the attachment."""
    routing = deployment.routing
    for route in routing.routes:
        attachments = [each.path for each in routing.internet if each.gateway == route.gateway]
        in_time = (waits_for(deployment, route.path, route.after, path) for path in attachments)
        if isinstance(route.gateway, str) and attachments and not any(in_time):
            yield route.path, "the route", attachments[0]
    for nat in routing.nat_gateways:
        subnet = deployment.subnet(nat.subnet) if nat.subnet is not None else None
        vpc = subnet.vpc if subnet and nat.private is False else None
        attachments = [each.path for each in routing.internet if isinstance(vpc, str) and each.vpc == vpc]
        in_time = (waits_for(deployment, nat.path, nat.after, path) for path in attachments)
        if attachments and not any(in_time):
            yield nat.path, "the NAT gateway", attachments[0]


def _late_blocks(deployment: Deployment) -> Iterator[tuple[str, str, str]]:
    """Subnets in a block of their VPC that may not be there yet: path, what it is, the block's resource."""
    for vpc in deployment.routing.vpcs:
        blocks = [(each.path, block) for each in vpc.blocks if (block := as_block(each.cidr)) is not None]
        for subnet in deployment.subnets:
            block = subnet.block if subnet.vpc == vpc.path else None
            holders = [path for path, its_block in blocks if block is not None and block.subnet_of(its_block)]
            late = [path for path in holders if not waits_for(deployment, subnet.path, subnet.after, path)]
            if late and vpc.path not in holders:
                yield subnet.path, "the subnet", late[0]


@rule(
    "HP4029",
    Severity.WARNING,
    title="Part of a network does not wait for what it stands on",
    because="what does not refer to each other CloudFormation makes at once: a route or NAT gateway that comes "
    "before its internet gateway is attached, or a subnet before its block, fails the deploy now and then",
    source="AWS::EC2::VPCGatewayAttachment reference, DependsOn; awslabs/awsome-distributed-ai pull 1143",
)
def networks_are_built_in_order(deployment: Deployment) -> Iterator[Problem]:
    for path, what, other in (*_late_gateways(deployment), *_late_blocks(deployment)):
        yield Problem(
            path=path,
            message=f"{what} does not wait for {other}",
            fix=let_wait("it", [other]),
        )


def _attached_elsewhere(deployment: Deployment) -> Iterator[tuple[str, str, str]]:
    """What needs an internet gateway that is certainly not attached to its VPC: path, message, fix."""
    routing = deployment.routing
    vpcs = {vpc.path for vpc in routing.vpcs if vpc.complete}
    gateways = {gateway.path for gateway in routing.gateways if gateway.complete}
    tables = {table.path: table.vpc for table in routing.tables}
    undecided = any(each.gateway is UNKNOWN or not is_one_vpc(deployment, each.vpc) for each in routing.internet)
    for route in routing.routes if not undecided else ():
        attachments = [each for each in routing.internet if each.gateway == route.gateway]
        vpc = tables.get(route.table) if isinstance(route.table, str) else None
        here = isinstance(route.gateway, str) and is_all_known(deployment, route.path, route.gateway)
        if here and route.gateway in gateways and not attachments:
            message = f"the route leads to {route.gateway}, which is attached to no VPC"
            yield route.path, message, "add an AWS::EC2::VPCGatewayAttachment, and let the route depend on it"
        elif attachments and all(different_vpcs(deployment, each.vpc, vpc) for each in attachments):
            message = f"the route is in {vpc} but its internet gateway is attached to {attachments[0].vpc}"
            yield route.path, message, f"attach the gateway to {vpc}, or use the gateway of that VPC"
    for nat in routing.nat_gateways if not undecided else ():
        subnet = deployment.subnet(nat.subnet) if nat.subnet is not None else None
        attached = {each.vpc for each in routing.internet}
        vpc = subnet.vpc if subnet else None
        if vpc not in vpcs or vpc in attached or nat.private is not False:
            continue
        if is_all_known(deployment, nat.path, str(vpc)):
            message = f"the NAT gateway stands in {vpc}, to which no internet gateway is attached"
            yield nat.path, message, "attach an internet gateway to that VPC, or set ConnectivityType to private"


@rule(
    "HP4030",
    Severity.ERROR,
    title="Internet gateway is attached to no VPC, or to another one",
    because="EC2 refuses routes to such a gateway, and NAT gateways in a VPC without one",
    source="EC2 API, CreateRoute and CreateNatGateway; awslabs/awsome-distributed-ai pull 1143",
)
def gateways_are_attached(deployment: Deployment) -> Iterator[Problem]:
    for path, message, fix in _attached_elsewhere(deployment):
        yield Problem(path=path, message=message, fix=fix)


@rule(
    "HP4031",
    Severity.ERROR,
    title="Address of a NAT gateway is not one of its zone",
    because="a public address can be used in the zones of its network border group only, and a local zone has one of "
    "its own: the zone's name without the last letter",
    source="EC2 API, AllocateAddress, NetworkBorderGroup; aravneelaws/hyperpod-local-zone-quickstart commit aca8ec9",
)
def addresses_are_of_their_zone(deployment: Deployment) -> Iterator[Problem]:
    addresses = {address.path: address for address in deployment.routing.addresses}
    for nat in deployment.routing.nat_gateways:
        subnet = deployment.subnet(nat.subnet) if nat.subnet is not None else None
        address = addresses.get(nat.address) if isinstance(nat.address, str) else None
        zone = _written_zone(subnet) if subnet else None
        wanted = zones.border_group(zone) if zone else None
        if not zone or not wanted or not address or address.border_group is UNKNOWN:
            continue
        if (address.border_group or zones.region_of(zone)) != wanted:
            got = f"{address.border_group}" if address.border_group else "left out, which means the Region's own zones"
            yield Problem(
                path=address.path,
                message=f"NetworkBorderGroup is {got}, but its NAT gateway stands in {zone}",
                fix=f"set NetworkBorderGroup to {wanted}",
            )


def _written_zone(subnet: Subnet) -> str | None:
    """The zone of a subnet, where id or name is written out."""
    if isinstance(subnet.zone, str):
        return subnet.zone
    return subnet.zone_name.text if subnet.zone_name and subnet.zone_name.literal else None


# --- What a cluster needs first


def _way_out(deployment: Deployment, cluster: Cluster) -> list[str]:
    """Routes and associations without which nodes of a cluster reach nothing, in its own template."""
    routing = deployment.routing
    lists = [each.subnets for _, _, each in placements_of(cluster)]
    used = {subnet.path for paths in lists for subnet in known_subnets(deployment, paths)}
    associations = [each for each in routing.associations if each.subnet in used]
    tables = {each.table for each in associations} - {UNKNOWN}
    routes = [each.path for each in routing.routes if each.table in tables and each.way in {"nat", "elsewhere"}]
    if not routes:
        return []
    parts = [*routes, *(each.path for each in associations)]
    return [path for path in parts if path not in routing.undecided and in_one_template(deployment, cluster.path, path)]


@rule(
    "HP4032",
    Severity.WARNING,
    title="Cluster does not wait for the routes of its subnets",
    because="no property of a cluster refers to routes, so nodes may start before there is a way out, and then fetch "
    "neither scripts nor images; on delete the way out may go before the nodes",
    source="inferred from CloudFormation's order of creation",
)
def clusters_wait_for_their_way_out(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        parts = _way_out(deployment, cluster)
        late = [path for path in parts if not waits_for(deployment, cluster.path, cluster.depends_on, path)]
        if late:
            further = f" and {len(late) - _SHOWN} more" if len(late) > _SHOWN else ""
            shown = f"{', '.join(late[:_SHOWN])}{further}" if further else all_of(late)
            yield Problem(
                path=cluster.path,
                message=f"the cluster does not wait for {shown}, by which its nodes reach the outside",
                fix=let_wait("the cluster", late),
            )
