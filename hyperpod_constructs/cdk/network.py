"""What a cluster needs of a network, whoever made it: subnets by zone and security groups for EFA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, DependencyGroup

from hyperpod_constructs.catalog import regions, zones
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cdk._properties import VpcIds
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.network import Rule, SecurityGroup, Subnet, VpcPlacement, check_block, check_id
from hyperpod_constructs.tokens import UNKNOWN, is_token

Egress = Literal["nat", "closed"]
"""How nodes reach what is outside of the network.

`nat`: a NAT gateway in one zone, about 0.045 USD an hour plus data (April 2026, us-west-2, unchecked). `closed`: no way
out but the S3 gateway endpoint and interface endpoints, each billed by hour and zone.
"""

LOCKED = cdk.ReferenceStrength.STRONG
"""How other stacks refer to what a running cluster stands on.

With weak references, the default of new apps, CloudFormation would replace a subnet under a running cluster, and the
template of the cluster's stack, and so its diff, would not change.
"""
_FABRIC, _VPC = "Fabric", "Imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkModel:
    """A network as the rules see it.

    Attributes:
        zones: Zone id of each subnet, or the subnet's own id where its zone is not known.
        subnets: One for each of `zones`.
        fabric: The fabric security group, where its rules are known.
        groups: Paths or ids of the security groups of nodes and file systems.
        imported: Whether the subnets stand in no template, so that only the cluster's intent can carry their facts.
    """

    zones: tuple[str, ...]
    subnets: tuple[Subnet, ...]
    fabric: SecurityGroup | None
    groups: tuple[str, ...]
    imported: bool = False

    @property
    def security_groups(self) -> tuple[SecurityGroup, ...]:
        """The fabric group where its rules are known."""
        return (self.fabric,) if self.fabric else ()

    def subnet(self, zone: str | None) -> Subnet:
        """The subnet of a zone; by default the cluster's.

        Raises:
            InvalidValue: if the network has no subnet there.
        """
        if zone is not None and zone not in self.zones:
            raise InvalidValue(f"the network has no subnet in {zone}; it has {', '.join(self.zones)}")
        return self.subnets[self.zones.index(zone) if zone else 0]

    def standing(self, zone: str) -> str:
        """What to ask for when something shall stand in `zone`: that, else the first subnet whose zone is unknown."""
        unknown = (key for key, subnet in zip(self.zones, self.subnets, strict=True) if not subnet.zone)
        return zone if zone in self.zones else next(unknown, zone)

    def placement(self, zone: str | None = None) -> VpcPlacement:
        """Subnet and security group of a zone; by default the cluster's."""
        return VpcPlacement(subnets=(self.subnet(zone).path,), security_groups=self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSubnet:
    """A subnet that exists.

    Attributes:
        subnet_id: For example `subnet-0123456789abcdef0`.
        zone: Zone id, for example `usw2-az2`. Without it neither the zone of a training plan nor that of a file system
            can be compared.
        cidr: IPv4 block. Without it addresses cannot be counted.
        route_table_id: Its route table, which gateway endpoints and the CDK's own constructs ask for.
        availability_zone: Name of the zone, for example `us-west-2b`, which the CDK's own constructs ask for.
    """

    subnet_id: str
    zone: str | None = None
    cidr: str | None = None
    route_table_id: str | None = None
    availability_zone: str | None = None

    def __post_init__(self) -> None:
        check_fields("hp.ImportedSubnet: ", self)
        check_id("subnet_id", self.subnet_id, "subnet")
        check_block("subnet cidr", self.cidr)
        if self.zone is not None and not is_token(self.zone) and not regions.is_zone_id(self.zone):
            raise InvalidValue(
                f"zone of {self.subnet_id} is {self.zone!r}",
                "use a zone id such as usw2-az2; a name such as us-west-2b goes to availability_zone",
            )
        name = self.availability_zone
        if name is not None and not is_token(name) and not zones.is_zone_name(name):
            raise InvalidValue(
                f"availability_zone of {self.subnet_id} is {name!r}",
                "use a zone name such as us-west-2b; an id such as usw2-az2 goes to zone",
            )


class Network(Construct):
    """What every network offers: subnets by zone, security groups of nodes and file systems, `ready`.

    Attributes:
        zones: Zone ids; the first one is where clusters stand by default.
        region: Region of its stack, or a token.
        vpc_id: Id of the VPC.
        security_group_ids: The security groups that nodes and file systems share.
        connections: For rules from and to them.
        ready: Depends on what nodes need but no property refers to: routes, endpoints, security group rules.
        fabric_rules: The rules of the security group with itself.
        model: The network as the rules see it.
    """

    zones: tuple[str, ...]
    region: str
    vpc_id: str
    security_group_ids: tuple[str, ...]
    connections: ec2.Connections
    ready: DependencyGroup
    fabric_rules: DependencyGroup
    model: NetworkModel
    _subnet_ids: dict[str, str]
    _fabric: Sequence[cdk.CfnResource] = ()

    def keep(self, zone: str | None = None) -> None:
        """Keeps what a file system that is kept stands in: EC2 deletes no network under one, and the stack would fail.

        Args:
            zone: Zone of the file system; by default the first one.
        """
        for resource in (*self._fabric, *self._made_for(zone)):
            resource.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)

    def _made_for(self, zone: str | None) -> Sequence[cdk.CfnResource]:  # noqa: ARG002  # an imported network has none
        """The VPC and the subnet of a zone, where they are made here."""
        return ()

    def reach(self, service: str) -> None:
        """Lets what stands here reach a service of AWS, where nothing but endpoints of our own leads out.

        Args:
            service: Its short name, such as `fsx`.
        """

    def database_subnets(self, zones: Sequence[str] | None = None) -> Sequence[str]:  # noqa: ARG002  # see ClusterNetwork
        """Ids of subnets for a database, which are made when they are first asked for and kept as it is.

        Args:
            zones: Zone ids, two or more; by default that of the cluster and another one of its Region.

        Raises:
            InvalidValue: if no subnets are made here.
        """
        raise InvalidValue("no subnets are made in an imported network", "give subnet_ids, subnets in two zones of it")

    def control_plane_subnets(self, zones: Sequence[str] | None = None) -> Sequence[str]:  # noqa: ARG002  # see above
        """Ids of subnets for the control plane of EKS, which are made when they are first asked for.

        Args:
            zones: Zone ids, two or more; by default that of the cluster and another one of its Region.

        Raises:
            InvalidValue: if no subnets are made here.
        """
        raise InvalidValue("no subnets are made in an imported network", "give subnet_ids, subnets in two zones of it")

    def ids(self, zone: str | None = None) -> VpcIds:
        """Subnet and security groups of a zone, for L1 properties; by default those of the first zone."""
        path = self.model.subnet(zone).path
        return VpcIds(subnets=(self._subnet_ids[path],), security_groups=self.security_group_ids)

    @property
    def vpc(self) -> ec2.IVpc:
        """The network for other constructs, made when it is first asked for."""
        found = self.node.try_find_child(_VPC)
        return cast("ec2.IVpc", found or self._make_vpc())

    def _make_vpc(self) -> ec2.IVpc:
        raise NotImplementedError

    @staticmethod
    @checked
    def from_attributes(
        scope: Construct,
        id: str,
        *,
        vpc_id: str,
        subnets: Sequence[ImportedSubnet],
        vpc_cidr: str | None = None,
        security_group_ids: Sequence[str] = (),
        egress: Egress = "nat",
    ) -> Network:
        """A network that exists; nothing is made in it but a security group, and that only if none is given.

        Args:
            scope: Parent construct.
            id: Name within the parent.
            vpc_id: Id of the VPC.
            subnets: Private subnets with a way to S3, SSM and CloudWatch Logs; clusters stand in the first by default.
            vpc_cidr: IPv4 block of the VPC, which some of the CDK's own constructs ask for. A subnet outside of it
                draws a warning.
            security_group_ids: Up to 5 security groups, each with rules for all traffic from and to itself. Defaults to
                a new one.
            egress: What the new security group lets out: everything (`nat`), or HTTPS and itself (`closed`).

        Raises:
            InvalidValue: if an id or block is none, a subnet, its zone or a security group is named twice, or a zone
                name is of another Region than the stack.
        """
        check_id("vpc_id", vpc_id, "vpc")
        check_block("vpc_cidr", vpc_cidr)
        for each in security_group_ids:
            check_id("security_group_ids", each, "sg")
        if len(set(security_group_ids)) != len(security_group_ids):
            raise InvalidValue(f"security_group_ids are {list(security_group_ids)!r}", "name each group once")
        if not subnets:
            raise InvalidValue("an imported network needs at least one subnet")
        _check_subnets(subnets, cdk.Stack.of(scope).region)
        return _ImportedNetwork(scope, id, vpc_id, subnets, vpc_cidr, security_group_ids, egress)

    def _make_fabric(self, vpc_id: str, egress: Egress) -> list[cdk.CfnResource]:
        """The security group of nodes and file systems, with both halves of the rule that EFA needs.

        A rule that names a block does not count for EFA, and two separate resources are needed because a group cannot
        refer to itself.
        """
        outside = ec2.CfnSecurityGroup.EgressProperty
        way_out = (
            outside(ip_protocol="-1", cidr_ip="0.0.0.0/0", description="Out through the NAT gateway")
            if egress == "nat"
            else outside(
                ip_protocol="tcp",
                from_port=443,
                to_port=443,
                cidr_ip="0.0.0.0/0",
                description="S3 through the gateway endpoint; nothing else is routed",
            )
        )
        group = ec2.CfnSecurityGroup(
            self,
            _FABRIC,
            vpc_id=vpc_id,
            group_description="HyperPod nodes and file systems: everything among themselves",
            security_group_egress=[way_out],
        )
        group.apply_cross_stack_reference_strength(LOCKED)
        group_id = group.attr_group_id
        inside = ec2.CfnSecurityGroupIngress(
            self,
            "FabricIngress",
            group_id=group_id,
            source_security_group_id=group_id,
            ip_protocol="-1",
            description="EFA, Lustre, Slurm",
        )
        out = ec2.CfnSecurityGroupEgress(
            self,
            "FabricEgress",
            group_id=group_id,
            destination_security_group_id=group_id,
            ip_protocol="-1",
            description="EFA counts this rule only, not 0.0.0.0/0",
        )
        self.security_group_ids = (group_id,)
        self._fabric = (group, inside, out)
        # With `allow_all_outbound` left alone the CDK would drop every egress rule written through connections.
        wrapped = ec2.SecurityGroup.from_security_group_id(self, "FabricGroup", group_id, allow_all_outbound=False)
        self.connections = ec2.Connections(security_groups=[wrapped])
        self.fabric_rules = DependencyGroup(inside, out)
        return [inside, out]


def _check_subnets(subnets: Sequence[ImportedSubnet], region: str) -> None:
    """Refuses subnets that cannot be told apart, and zones that are not where the stack is."""
    for what, given in (("subnet", [each.subnet_id for each in subnets]), ("zone", [each.zone for each in subnets])):
        named = [each for each in given if each is not None and not is_token(each)]
        if twice := sorted({each for each in named if named.count(each) > 1}):
            raise InvalidValue(
                f"subnets name {what} {', '.join(twice)} twice",
                "name each subnet once, and one subnet of each zone: groups stand in a zone, not in a subnet",
            )
    for each in subnets:
        name = each.availability_zone
        its_region = zones.region_of(name) if name is not None and not is_token(name) else None
        if its_region not in {None, region} and not is_token(region):
            raise InvalidValue(
                f"availability_zone of {each.subnet_id} is {name!r}, which is in {its_region}",
                f"use a zone name of {region}, where the stack is",
            )


def fabric_model(path: str) -> SecurityGroup:
    """The fabric security group as the rules see it."""
    group = f"{path}/{_FABRIC}"
    return SecurityGroup(
        path=group,
        rules=(
            Rule(direction="ingress", protocol="-1", group=group, path=f"{path}/FabricIngress"),
            Rule(direction="egress", protocol="-1", group=group, path=f"{path}/FabricEgress"),
        ),
    )


class _ImportedNetwork(Network):
    """See `Network.from_attributes`."""

    def __init__(  # noqa: PLR0917  # private: called by `from_attributes` alone
        self,
        scope: Construct,
        id: str,
        vpc_id: str,
        subnets: Sequence[ImportedSubnet],
        vpc_cidr: str | None,
        security_group_ids: Sequence[str],
        egress: Egress,
    ) -> None:
        super().__init__(scope, id)
        self.region = cdk.Stack.of(self).region
        self.vpc_id, self._vpc_cidr, self._subnets = vpc_id, vpc_cidr, subnets
        self._subnet_ids = {subnet.subnet_id: subnet.subnet_id for subnet in subnets}
        # A subnet without a zone id is addressed by its own id.
        self.zones = tuple(subnet.zone or subnet.subnet_id for subnet in subnets)
        fabric: SecurityGroup | None = None
        if security_group_ids:
            self.security_group_ids = tuple(security_group_ids)
            wrapped = [
                ec2.SecurityGroup.from_security_group_id(self, f"Group-{each}", each, mutable=False)
                for each in security_group_ids
            ]
            self.connections = ec2.Connections(security_groups=wrapped)
            self.fabric_rules = self.ready = DependencyGroup()
        else:
            rules = self._make_fabric(vpc_id, egress)
            fabric = fabric_model(self.node.path)
            self.ready = DependencyGroup(*rules)
        self.model = NetworkModel(
            zones=self.zones,
            subnets=tuple(
                Subnet(path=subnet.subnet_id, zone=subnet.zone, cidr=subnet.cidr, public=UNKNOWN, vpc_cidr=vpc_cidr)
                for subnet in subnets
            ),
            fabric=fabric,
            groups=(fabric.path,) if fabric else self.security_group_ids,
            imported=True,
        )

    def _make_vpc(self) -> ec2.IVpc:
        zones = [subnet.availability_zone for subnet in self._subnets]
        tables = [subnet.route_table_id for subnet in self._subnets]
        if None in zones:
            raise InvalidValue("`vpc` of an imported network needs availability_zone of every ImportedSubnet")
        return ec2.Vpc.from_vpc_attributes(
            self,
            _VPC,
            vpc_id=self.vpc_id,
            vpc_cidr_block=self._vpc_cidr,
            availability_zones=[str(zone) for zone in zones],
            private_subnet_ids=list(self._subnet_ids.values()),
            private_subnet_route_table_ids=None if None in tables else [str(table) for table in tables],
        )
