"""Reads of EC2: where there is room, what leads out, and who may talk to whom.

Source of names and fields: the botocore 1.44.8 model of EC2 (2016-11-15).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hyperpod_constructs.account.gateway.session import Reader

_EVERY_ADDRESS = "0.0.0.0/0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """A zone of a Region.

    Attributes:
        id: Zone id such as `usw2-az2`, the same place in every account.
        name: What this account calls it, such as `us-west-2b`.
        open: Whether the account may use it; local zones must be opted in to.
    """

    id: str
    name: str
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSubnet:
    """A subnet of the account, or one that another account shares with it.

    Attributes:
        id: For example `subnet-0123456789abcdef0`.
        vpc: Id of its VPC.
        owner: Account that owns it.
        zone: Zone id.
        cidr: IPv4 block.
        free: IPv4 addresses that nothing uses.
        public: Whether instances get a public address.
    """

    id: str
    vpc: str
    owner: str
    zone: str
    cidr: str
    free: int
    public: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveVpc:
    """A VPC as far as names go.

    Attributes:
        id: For example `vpc-0123456789abcdef0`.
        dhcp_options: Id of its DHCP options; `default` for none.
        dns_support: Whether Amazon's resolver answers in it.
        dns_hostnames: Whether it gives out names, which private names of endpoints need too.
    """

    id: str
    dhcp_options: str
    dns_support: bool
    dns_hostnames: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRouteTable:
    """A route table.

    Attributes:
        id: For example `rtb-0123456789abcdef0`.
        vpc: Id of its VPC.
        main: Whether subnets without a table of their own use it.
        subnets: Ids of subnets that are associated with it.
        default: Where 0.0.0.0/0 leads: id of a gateway, an interface or a transit gateway; `None` where nowhere.
        blackhole: Whether 0.0.0.0/0 leads to something that is gone.
        elsewhere: Whether some other route leads out of the VPC, to anything but an internet gateway or an endpoint.
    """

    id: str
    vpc: str
    main: bool
    subnets: tuple[str, ...]
    default: str | None
    blackhole: bool
    elsewhere: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEndpoint:
    """A VPC endpoint.

    Attributes:
        id: For example `vpce-0123456789abcdef0`.
        vpc: Id of its VPC.
        service: Short name such as `s3` or `ecr.api`.
        kind: `Gateway`, `Interface` or another.
        tables: Ids of the route tables that lead to it; gateway endpoints only.
        private_dns: Whether the service's usual name leads to it.
    """

    id: str
    vpc: str
    service: str
    kind: str
    tables: tuple[str, ...]
    private_dns: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRule:
    """One peer of one rule of a security group.

    Attributes:
        direction: `ingress` or `egress`.
        protocol: `-1` for all, or a name such as `tcp`.
        from_port: First port; `None` for all.
        to_port: Last port; `None` for all.
        group: Id of the peer security group.
        cidr: Peer block.
        prefix_list: Id of the peer prefix list, of which the blocks are not read.
    """

    direction: Literal["ingress", "egress"]
    protocol: str
    from_port: int | None
    to_port: int | None
    group: str | None = None
    cidr: str | None = None
    prefix_list: str | None = None

    def covers(self, protocol: str, port: int) -> bool:
        """Whether the rule lets this protocol and port through."""
        if self.protocol == "-1":
            return True
        low = 0 if self.from_port is None else self.from_port
        high = 65535 if self.to_port is None else self.to_port
        return self.protocol == protocol and low <= port <= high


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSecurityGroup:
    """A security group with its rules.

    Attributes:
        id: For example `sg-0123456789abcdef0`.
        vpc: Id of its VPC.
        owner: Account that owns it.
        rules: One for each peer.
    """

    id: str
    vpc: str
    owner: str
    rules: tuple[LiveRule, ...]


class Ec2(Reader):
    """Reads the networks of one account in one Region."""

    SERVICE = "ec2"
    READS = {  # noqa: RUF012  # the base class has the type
        "DescribeAddresses": "ec2:DescribeAddresses",
        "DescribeAvailabilityZones": "ec2:DescribeAvailabilityZones",
        "DescribeDhcpOptions": "ec2:DescribeDhcpOptions",
        "DescribeInstanceTypeOfferings": "ec2:DescribeInstanceTypeOfferings",
        "DescribeNetworkInterfaces": "ec2:DescribeNetworkInterfaces",
        "DescribeRouteTables": "ec2:DescribeRouteTables",
        "DescribeSecurityGroups": "ec2:DescribeSecurityGroups",
        "DescribeSubnets": "ec2:DescribeSubnets",
        "DescribeVpcAttribute": "ec2:DescribeVpcAttribute",
        "DescribeVpcEndpoints": "ec2:DescribeVpcEndpoints",
        "DescribeVpcs": "ec2:DescribeVpcs",
    }

    def zones(self) -> tuple[Zone, ...]:
        """Every zone of the Region, those that are not opted in to included."""
        answer = self._read("DescribeAvailabilityZones", AllAvailabilityZones=True)
        return tuple(
            Zone(id=zone["ZoneId"], name=zone["ZoneName"], open=zone.get("OptInStatus") != "not-opted-in")
            for zone in answer["AvailabilityZones"]
        )

    def zones_offering(self, instance_type: str) -> tuple[str, ...]:
        """Ids of the zones in which EC2 offers a type to this account, sorted.

        Args:
            instance_type: As EC2 has it, without `ml.`: `p5.48xlarge`.
        """
        offered = self._pages(
            "DescribeInstanceTypeOfferings",
            "InstanceTypeOfferings",
            LocationType="availability-zone-id",
            Filters=[{"Name": "instance-type", "Values": [instance_type]}],
        )
        return tuple(sorted(each["Location"] for each in offered))

    def subnets(self, ids: Iterable[str]) -> dict[str, LiveSubnet]:
        """Those of some subnets that there are, by id."""
        found = self._by_filter("DescribeSubnets", "Subnets", "subnet-id", ids)
        return {
            each["SubnetId"]: LiveSubnet(
                id=each["SubnetId"],
                vpc=each["VpcId"],
                owner=each["OwnerId"],
                zone=each["AvailabilityZoneId"],
                cidr=each["CidrBlock"],
                free=each["AvailableIpAddressCount"],
                public=each.get("MapPublicIpOnLaunch", False),
            )
            for each in found
        }

    def vpcs(self, ids: Iterable[str]) -> dict[str, LiveVpc]:
        """Those of some VPCs that there are, by id."""
        return {
            each["VpcId"]: LiveVpc(
                id=each["VpcId"],
                dhcp_options=each["DhcpOptionsId"],
                dns_support=self._attribute(each["VpcId"], "enableDnsSupport"),
                dns_hostnames=self._attribute(each["VpcId"], "enableDnsHostnames"),
            )
            for each in self._by_filter("DescribeVpcs", "Vpcs", "vpc-id", ids)
        }

    def name_servers(self, dhcp_options: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The name servers that DHCP options hand out, by id of the options."""
        found = self._by_filter("DescribeDhcpOptions", "DhcpOptions", "dhcp-options-id", dhcp_options)
        return {each["DhcpOptionsId"]: _name_servers(each) for each in found}

    def route_tables(self, vpcs: Iterable[str]) -> tuple[LiveRouteTable, ...]:
        """The route tables of some VPCs."""
        return tuple(map(_route_table, self._by_filter("DescribeRouteTables", "RouteTables", "vpc-id", vpcs)))

    def endpoints(self, vpcs: Iterable[str]) -> tuple[LiveEndpoint, ...]:
        """The endpoints of some VPCs that work."""
        found = self._by_filter("DescribeVpcEndpoints", "VpcEndpoints", "vpc-id", vpcs)
        return tuple(
            LiveEndpoint(
                id=each["VpcEndpointId"],
                vpc=each["VpcId"],
                service=each["ServiceName"].split(f"{self.region}.", 1)[-1],
                kind=each.get("VpcEndpointType", "Gateway"),
                tables=tuple(each.get("RouteTableIds", ())),
                private_dns=each.get("PrivateDnsEnabled", False),
            )
            for each in found
            if each.get("State", "available").lower() == "available"
        )

    def security_groups(self, ids: Iterable[str]) -> dict[str, LiveSecurityGroup]:
        """Those of some security groups that there are, by id."""
        found = self._by_filter("DescribeSecurityGroups", "SecurityGroups", "group-id", ids)
        return {
            each["GroupId"]: LiveSecurityGroup(
                id=each["GroupId"],
                vpc=each.get("VpcId", ""),
                owner=each["OwnerId"],
                rules=(
                    *_rules("ingress", each.get("IpPermissions", ())),
                    *_rules("egress", each.get("IpPermissionsEgress", ())),
                ),
            )
            for each in found
        }

    def groups_of_interfaces(self, ids: Iterable[str]) -> frozenset[str]:
        """Ids of the security groups of some network interfaces."""
        found = self._by_filter("DescribeNetworkInterfaces", "NetworkInterfaces", "network-interface-id", ids)
        return frozenset(group["GroupId"] for each in found for group in each.get("Groups", ()))

    def count_interfaces(self) -> int:
        """Network interfaces of the account in the Region."""
        return len(self._pages("DescribeNetworkInterfaces", "NetworkInterfaces", page_size=1000))

    def count_addresses(self) -> int:
        """Elastic IP addresses of the account in the Region."""
        return len(self._read("DescribeAddresses")["Addresses"])

    def count_vpcs(self, owner: str) -> int:
        """VPCs of the account in the Region, without those that are shared with it.

        Args:
            owner: The account.
        """
        return len(self._by_filter("DescribeVpcs", "Vpcs", "owner-id", [owner]))

    def _by_filter(self, operation: str, key: str, name: str, values: Iterable[str]) -> list[Any]:
        """What a filter lets through; unlike with ids, what is not there is no error that hides the rest."""
        wanted = sorted(set(values))
        return self._pages(operation, key, Filters=[{"Name": name, "Values": wanted}]) if wanted else []

    def _attribute(self, vpc: str, name: str) -> bool:
        answer = self._read("DescribeVpcAttribute", VpcId=vpc, Attribute=name)
        return bool(answer[name[0].upper() + name[1:]]["Value"])


def _name_servers(options: Mapping[str, Any]) -> tuple[str, ...]:
    configured = {each["Key"]: each["Values"] for each in options.get("DhcpConfigurations", ())}
    return tuple(value["Value"] for value in configured.get("domain-name-servers", ()))


def _route_table(table: Mapping[str, Any]) -> LiveRouteTable:
    routes = table.get("Routes", ())
    default = next((route for route in routes if route.get("DestinationCidrBlock") == _EVERY_ADDRESS), None)
    return LiveRouteTable(
        id=table["RouteTableId"],
        vpc=table["VpcId"],
        main=any(each.get("Main") for each in table.get("Associations", ())),
        subnets=tuple(each["SubnetId"] for each in table.get("Associations", ()) if "SubnetId" in each),
        default=_target(default) if default else None,
        blackhole=default is not None and default.get("State") == "blackhole",
        elsewhere=any(_leads_elsewhere(route) for route in routes if route is not default),
    )


def _leads_elsewhere(route: Mapping[str, Any]) -> bool:
    target = _target(route) or "local"
    return target != "local" and not target.startswith(("igw-", "vpce-")) and route.get("State") != "blackhole"


_TARGETS = (
    "NatGatewayId",
    "TransitGatewayId",
    "NetworkInterfaceId",
    "VpcPeeringConnectionId",
    "EgressOnlyInternetGatewayId",
    "LocalGatewayId",
    "CarrierGatewayId",
    "CoreNetworkArn",
    "InstanceId",
    "GatewayId",
)


def _target(route: Mapping[str, Any]) -> str | None:
    return next((route[name] for name in _TARGETS if route.get(name)), None)


def _rules(direction: Literal["ingress", "egress"], permissions: Iterable[Mapping[str, Any]]) -> Iterable[LiveRule]:
    for each in permissions:
        place: Any = {
            "direction": direction,
            "protocol": each["IpProtocol"],
            "from_port": each.get("FromPort"),
            "to_port": each.get("ToPort"),
        }
        yield from (LiveRule(**place, group=peer["GroupId"]) for peer in each.get("UserIdGroupPairs", ()))
        yield from (LiveRule(**place, cidr=peer["CidrIp"]) for peer in each.get("IpRanges", ()))
        yield from (LiveRule(**place, cidr=peer["CidrIpv6"]) for peer in each.get("Ipv6Ranges", ()))
        yield from (LiveRule(**place, prefix_list=peer["PrefixListId"]) for peer in each.get("PrefixListIds", ()))
