"""VPCs, route tables, gateways and endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.cloudformation.values import Reference, Text
from hyperpod_constructs.model._reading import Fields, Node, each, otherwise
from hyperpod_constructs.model.routing import (
    Association,
    Attachment,
    ElasticAddress,
    Endpoint,
    InternetGateway,
    NatGateway,
    Route,
    RouteTable,
    Routing,
    Vpc,
    VpcBlock,
    Way,
)
from hyperpod_constructs.model.template.network import identity
from hyperpod_constructs.model.template.resources import Found, Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_SERVICE: Final = re.compile(
    r"(?:cn\.)?com\.amazonaws\.(?P<region>[a-z]{2,4}(?:-[a-z]+)+-[0-9])\.(?P<service>[a-z0-9.-]+)"
)
_TARGETS: Final = (
    "CarrierGatewayId",
    "CoreNetworkArn",
    "EgressOnlyInternetGatewayId",
    "InstanceId",
    "LocalGatewayId",
    "NetworkInterfaceId",
    "TransitGatewayId",
    "VpcEndpointId",
    "VpcPeeringConnectionId",
)
_PROPAGATIONS: Final = ("AWS::EC2::VPNGatewayRoutePropagation", "AWS::EC2::RouteServerPropagation")
_ROUTE, _ASSOCIATION, _ENDPOINT = (
    "AWS::EC2::Route",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPCEndpoint",
)


def routing(resources: Resources, region: str | None) -> Routing:
    """How the networks of an assembly are wired.

    Args:
        resources: Where to find the parts.
        region: Region of stacks that do not fix theirs.
    """
    routes = [(found, _route(found, resources)) for found in resources.of(_ROUTE)]
    routes += [(found, each) for found in resources.of(*_PROPAGATIONS) for each in _propagated(found, resources)]
    associations = [
        (found, found.properties.build(Association, _ASSOCIATION_FIELDS, path=found.path))
        for found in resources.of(_ASSOCIATION)
    ]
    endpoints = [(found, _endpoint(found, region)) for found in resources.of(_ENDPOINT)]
    return Routing(
        vpcs=_vpcs(resources),
        tables=tuple(
            RouteTable(path=found.path, vpc=identity(found, "VpcId"), complete=found.unchanged)
            for found in resources.of("AWS::EC2::RouteTable")
        ),
        routes=tuple(route for _, route in routes),
        associations=tuple(association for _, association in associations),
        gateways=tuple(
            InternetGateway(path=found.path, complete=found.unchanged)
            for found in resources.of("AWS::EC2::InternetGateway")
        ),
        attachments=tuple(_attachment(found) for found in resources.of("AWS::EC2::VPCGatewayAttachment")),
        addresses=tuple(
            ElasticAddress(path=found.path, border_group=_border_group(found.properties))
            for found in resources.of("AWS::EC2::EIP")
        ),
        nat_gateways=tuple(_nat(found, resources) for found in resources.of("AWS::EC2::NatGateway")),
        endpoints=tuple(endpoint for _, endpoint in endpoints),
        undecided=(
            *(found.path for found, route in routes if not found.certain or route.table is UNKNOWN),
            *(found.path for found, it in associations if not found.certain or UNKNOWN in {it.subnet, it.table}),
            *(
                found.path
                for found, it in endpoints
                if not found.certain or UNKNOWN in {it.kind, it.service, it.tables, it.subnets}
            ),
        ),
    )


def _vpcs(resources: Resources) -> tuple[Vpc, ...]:
    further: dict[str | Unknown | None, list[VpcBlock]] = {}
    for found in resources.of("AWS::EC2::VPCCidrBlock"):
        block, certain = _block(found.properties), found.certain
        if block is not None:
            added = VpcBlock(path=found.path, cidr=block if certain else UNKNOWN)
            further.setdefault(found.properties["VpcId"].path(), []).append(added)
    anywhere = [VpcBlock(path=each.path, cidr=UNKNOWN) for each in further.get(UNKNOWN, [])]
    return tuple(_vpc(found, [*further.get(found.path, []), *anywhere]) for found in resources.of("AWS::EC2::VPC"))


def _vpc(found: Found, further: list[VpcBlock]) -> Vpc:
    own = _block(found.properties)
    return found.properties.build(
        Vpc,
        _VPC,
        path=found.path,
        blocks=(VpcBlock(path=found.path, cidr=UNKNOWN if own is None else own), *further),
        complete=found.unchanged,
    )


def _block(node: Node) -> str | Unknown | None:
    """The IPv4 block; not known where a pool gives it, `None` where there is none."""
    return UNKNOWN if node["Ipv4IpamPoolId"].given else node["CidrBlock"].text()


def _route(found: Found, resources: Resources) -> Route:
    node = found.properties
    way = _way(node)
    gateway = node["GatewayId"].path() if way == "internet" else None
    return node.build(
        Route,
        _ROUTE_FIELDS,
        path=found.path,
        # Every address of IPv6 is a public one.
        way="elsewhere" if gateway is not None and node["DestinationIpv6CidrBlock"].given else way,
        gateway=gateway,
        after=resources.created_before(found),
    )


def _propagated(found: Found, resources: Resources) -> Iterator[Route]:
    """The routes that a VPN gateway or a route server writes into tables, which no template tells."""
    one, several = found.properties["RouteTableId"], found.properties["RouteTableIds"]
    tables = several.each(Node.path) if several.given else (one.must(Node.path),)
    for table in (UNKNOWN,) if tables is UNKNOWN else tables:
        yield Route(path=found.path, table=table, way="elsewhere", after=resources.created_before(found))


def _way(node: Node) -> Way | Unknown:
    if node["NatGatewayId"].given:
        return "nat"
    if any(node[name].given for name in _TARGETS):
        return "elsewhere"
    gateway = node["GatewayId"].path()
    if not isinstance(gateway, str):
        return UNKNOWN
    # The property takes VPN gateways, gateway endpoints and `local` too.
    value = node["GatewayId"].value
    kind = node.reading.type_of(value) if isinstance(value, Reference) else None
    return "internet" if kind == "AWS::EC2::InternetGateway" or gateway.startswith("igw-") else "elsewhere"


def _attachment(found: Found) -> Attachment:
    gateway = found.properties["InternetGatewayId"].path()
    return Attachment(path=found.path, vpc=identity(found, "VpcId"), gateway=gateway if found.certain else UNKNOWN)


def _nat(found: Found, resources: Resources) -> NatGateway:
    return found.properties.build(NatGateway, _NAT, path=found.path, after=resources.created_before(found))


def _border_group(node: Node) -> str | Unknown | None:
    """The border group; a pool may bring its own."""
    pools = (node[name].given for name in ("IpamPoolId", "PublicIpv4Pool", "TransferAddress"))
    group = node["NetworkBorderGroup"].text()
    return UNKNOWN if group is None and any(pools) else group


def _endpoint(found: Found, region: str | None) -> Endpoint:
    service_region, service = _service(found.properties["ServiceName"])
    return found.properties.build(
        Endpoint,
        _ENDPOINT_FIELDS,
        path=found.path,
        service=service,
        service_region=service_region,
        vpc=identity(found, "VpcId"),
        region=found.resource.stack.region or region,
        crosses=found.properties["ServiceRegion"].given,
    )


def _service(node: Node) -> tuple[str | Unknown | None, str | Unknown | None]:
    """Region and short name of an AWS service; `None` for services of others."""
    value = node.value
    if isinstance(value, Text) and value.prefix.endswith("com.amazonaws.") and value.suffix.startswith("."):
        return UNKNOWN, value.suffix.removeprefix(".")
    name = node.text()
    if not isinstance(name, str):
        return name, name
    match = _SERVICE.fullmatch(name)
    return (match["region"], match["service"]) if match else (None, None)


def _private(node: Node) -> bool | Unknown | None:
    kind = node.one_of("private", "public")
    return UNKNOWN if kind is UNKNOWN else kind == "private"


_VPC: Final[Fields] = {
    "dns_support": ("EnableDnsSupport", otherwise(Node.flag, default=True)),
    "dns_hostnames": ("EnableDnsHostnames", otherwise(Node.flag, default=False)),
}
_ROUTE_FIELDS: Final[Fields] = {"table": ("RouteTableId", lambda node: node.must(Node.path))}
_ASSOCIATION_FIELDS: Final[Fields] = {
    "subnet": ("SubnetId", lambda node: node.must(Node.path)),
    "table": ("RouteTableId", lambda node: node.must(Node.path)),
}
_NAT: Final[Fields] = {
    "subnet": ("SubnetId", Node.path),
    "address": ("AllocationId", Node.path),
    "private": ("ConnectivityType", _private),
}
_ENDPOINT_FIELDS: Final[Fields] = {
    "kind": ("VpcEndpointType", otherwise(Node.text, default="Gateway")),
    "subnets": ("SubnetIds", each(Node.path)),
    "security_groups": ("SecurityGroupIds", each(Node.path)),
    "tables": ("RouteTableIds", each(Node.path)),
    "private_dns": ("PrivateDnsEnabled", Node.flag),
}
