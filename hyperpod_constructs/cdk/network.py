"""The network of a cluster: one block per zone id, one security group for the fabric.

L1 resources throughout. The L2 VPC names and numbers its subnets by position, so that one more zone in front would
replace the subnets of a running cluster; and the L2 security group drops the egress rule to itself that EFA needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2, aws_iam as iam, aws_logs as logs
from constructs import Construct, DependencyGroup

from hyperpod_constructs.cdk._properties import VpcIds
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.network import Rule, SecurityGroup, Subnet, VpcPlacement
from hyperpod_constructs.planning.addresses import ZoneBlocks, blocks
from hyperpod_constructs.tokens import UNKNOWN

Egress = Literal["nat", "closed"]
"""How nodes reach what is outside of the network.

`nat`: a NAT gateway in one zone, about 0.045 USD an hour plus data (April 2026, us-west-2, unchecked). `closed`: no way
out but the S3 gateway endpoint and the interface endpoints asked for, each billed by hour and zone.
"""

DEFAULT_CIDR = "10.0.0.0/16"
LOCKED = cdk.ReferenceStrength.STRONG
"""How other stacks refer to what a running cluster stands on.

With weak references, the default of new apps, CloudFormation would replace a subnet under a running cluster, and the
template of the cluster's stack, and so its diff, would not change.
"""
_FABRIC = "Fabric"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkModel:
    """A network as the rules see it.

    Attributes:
        zones: Zone id of each subnet, or the subnet's own id where its zone is not known.
        subnets: One for each of `zones`.
        fabric: The fabric security group, where its rules are known.
        security_group: Path or id of the fabric security group.
        imported: Whether the subnets stand in no template, so that only the cluster's intent can carry their facts.
    """

    zones: tuple[str, ...]
    subnets: tuple[Subnet, ...]
    fabric: SecurityGroup | None
    security_group: str
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

    def standing(self, zone: str) -> str | None:
        """The zone to ask for when something shall stand in `zone`: `None`, the first, where zones are not known."""
        return zone if zone in self.zones or all(subnet.zone for subnet in self.subnets) else None

    def placement(self, zone: str | None = None) -> VpcPlacement:
        """Subnet and security group of a zone; by default the cluster's."""
        return VpcPlacement(subnets=(self.subnet(zone).path,), security_groups=(self.security_group,))


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


class Network(Construct):
    """What both kinds of network offer: subnets by zone, a security group for the fabric, `ready`.

    Attributes:
        zones: Zone ids, the first one being where the cluster stands.
        vpc: The network for other constructs.
        security_group_id: The fabric security group, which nodes and file systems share.
        connections: For rules from and to the fabric security group.
        ready: Depends on what nodes need but no property refers to: routes, endpoints, security group rules.
        fabric_rules: The rules of the security group with itself.
        model: The network as the rules see it.
    """

    zones: tuple[str, ...]
    vpc: ec2.IVpc
    security_group_id: str
    connections: ec2.Connections
    ready: DependencyGroup
    fabric_rules: DependencyGroup
    model: NetworkModel
    _subnet_ids: dict[str, str]

    def ids(self, zone: str | None = None) -> VpcIds:
        """Subnet and security group of a zone, for L1 properties; by default the cluster's."""
        path = self.model.subnet(zone).path
        return VpcIds(subnets=(self._subnet_ids[path],), security_groups=(self.security_group_id,))

    def _make_fabric(self, vpc_id: str, egress: Egress) -> tuple[ec2.CfnSecurityGroup, list[cdk.CfnResource]]:
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
        self.security_group_id = group_id
        wrapped = ec2.SecurityGroup.from_security_group_id(self, "FabricGroup", group_id, allow_all_outbound=False)
        self.connections = ec2.Connections(security_groups=[wrapped])
        self.fabric_rules = DependencyGroup(inside, out)
        return group, [inside, out]


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


def network_model(path: str, zones: Sequence[str], cidr: str) -> NetworkModel:
    """A network of our own as the rules see it, before anything of it exists."""
    plan = [blocks(cidr, zone) for zone in zones]
    subnets = tuple(Subnet(path=f"{path}/Nodes-{each.zone}", zone=each.zone, cidr=each.nodes) for each in plan)
    fabric = fabric_model(path)
    return NetworkModel(zones=tuple(zones), subnets=subnets, fabric=fabric, security_group=fabric.path)


class ClusterNetwork(Network):
    """A network made for HyperPod clusters.

    Each zone has an eighth of the network for nodes and file systems, chosen by the number in its zone id, so that
    neither more nodes nor one more zone ever changes a subnet: with the default /16 that is 8,187 addresses a zone,
    enough for 255 ml.p5.48xlarge nodes on Slurm.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        zones: Zone ids such as `usw2-az2` (not names such as `us-west-2b`, which mean another zone in each account).
            The cluster stands in the first one.
        cidr: IPv4 block, /16 to /22. Cannot be changed once a cluster runs in it.
        egress: `nat` or `closed`.
        endpoints: Interface endpoints, for example `ssm`, `ssmmessages`, `logs`; a closed network needs what its nodes
            call. Each is billed by hour and zone.
        flow_logs: Whether traffic is logged to CloudWatch Logs for a month.

    Raises:
        InvalidValue: if a zone is no zone id or the block has not that size.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        zones: Sequence[str],
        cidr: str = DEFAULT_CIDR,
        egress: Egress = "nat",
        endpoints: Sequence[str] = (),
        flow_logs: bool = True,
    ) -> None:
        """Makes the network."""
        if not zones or len(set(zones)) != len(zones):
            raise InvalidValue(f"zones are {list(zones)!r}; give one or more different zone ids")
        plan = [blocks(cidr, zone) for zone in zones]
        super().__init__(scope, id)
        self.zones = tuple(zones)
        self.model = network_model(self.node.path, zones, cidr)
        self._region = cdk.Stack.of(self).region
        vpc = ec2.CfnVPC(
            self,
            "Vpc",
            cidr_block=cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=[cdk.CfnTag(key="Name", value=id)],
        )
        vpc_id = vpc.ref
        _, rules = self._make_fabric(vpc_id, egress)
        default_route = self._make_way_out(vpc_id, plan[0]) if egress == "nat" else None
        subnets, waiting = self._make_subnets(vpc_id, plan, default_route)
        self._subnet_ids = {seen.path: subnet.ref for seen, subnet in zip(self.model.subnets, subnets, strict=True)}
        gateway = self._make_s3_endpoint(vpc_id)
        interfaces = self._make_endpoints(vpc_id, endpoints)
        if flow_logs:
            self._make_flow_logs(vpc_id)
        self.ready = DependencyGroup(*rules, *waiting, gateway, *interfaces)
        self.vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Imported",
            vpc_id=vpc_id,
            vpc_cidr_block=cidr,
            availability_zones=[subnet.attr_availability_zone for subnet in subnets],
            private_subnet_ids=list(self._subnet_ids.values()),
            private_subnet_route_table_ids=[self._table_id] * len(subnets),
        )

    def _make_way_out(self, vpc_id: str, zone: ZoneBlocks) -> str:
        """Internet gateway, a public subnet and a NAT gateway in it; returns the NAT gateway's id."""
        internet = ec2.CfnInternetGateway(self, "Internet")
        attachment = ec2.CfnVPCGatewayAttachment(
            self, "InternetAttachment", vpc_id=vpc_id, internet_gateway_id=internet.ref
        )
        public = self._make_subnet(vpc_id, f"Public-{zone.zone}", zone.zone, zone.public)
        table = ec2.CfnRouteTable(self, "PublicRoutes", vpc_id=vpc_id)
        table_id, subnet_id = table.ref, public.ref
        route = ec2.CfnRoute(
            self,
            "PublicRoute",
            route_table_id=table_id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.ref,
        )
        # A route to a gateway that is not attached yet fails now and then (field report B-08).
        route.add_resource_dependency(attachment)
        association = ec2.CfnSubnetRouteTableAssociation(
            self, "PublicAssociation", subnet_id=subnet_id, route_table_id=table_id
        )
        address = ec2.CfnEIP(self, "NatAddress", domain="vpc")
        address.add_resource_dependency(attachment)
        nat = ec2.CfnNatGateway(self, "Nat", subnet_id=subnet_id, allocation_id=address.attr_allocation_id)
        nat.node.add_dependency(DependencyGroup(route, association))
        return nat.ref

    def _make_subnets(
        self, vpc_id: str, plan: Sequence[ZoneBlocks], nat: str | None
    ) -> tuple[list[ec2.CfnSubnet], list[cdk.CfnResource]]:
        """The private subnets, and what must exist before nodes in them reach anything."""
        table = ec2.CfnRouteTable(self, "Routes", vpc_id=vpc_id)
        self._table_id = table.ref
        waiting: list[cdk.CfnResource] = []
        if nat:
            route = ec2.CfnRoute(
                self,
                "DefaultRoute",
                route_table_id=self._table_id,
                destination_cidr_block="0.0.0.0/0",
                nat_gateway_id=nat,
            )
            waiting.append(route)
        subnets = []
        for each in plan:
            subnets.append(self._make_subnet(vpc_id, f"Nodes-{each.zone}", each.zone, each.nodes))
            association = ec2.CfnSubnetRouteTableAssociation(
                self, f"Routes-{each.zone}", subnet_id=subnets[-1].ref, route_table_id=self._table_id
            )
            waiting.append(association)
        return subnets, waiting

    def _make_subnet(self, vpc_id: str, id: str, zone: str, cidr: str) -> ec2.CfnSubnet:
        """A subnet without public addresses, pinned to a zone by its id."""
        subnet = ec2.CfnSubnet(
            self, id, vpc_id=vpc_id, cidr_block=cidr, availability_zone_id=zone, map_public_ip_on_launch=False
        )
        subnet.apply_cross_stack_reference_strength(LOCKED)
        return subnet

    def _make_s3_endpoint(self, vpc_id: str) -> ec2.CfnVPCEndpoint:
        """The gateway endpoint for S3, which costs nothing and keeps checkpoints off the NAT gateway."""
        return ec2.CfnVPCEndpoint(
            self,
            "S3",
            vpc_id=vpc_id,
            service_name=f"com.amazonaws.{self._region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[self._table_id],
        )

    def _make_endpoints(self, vpc_id: str, endpoints: Sequence[str]) -> list[cdk.CfnResource]:
        return [
            ec2.CfnVPCEndpoint(
                self,
                f"Endpoint-{name}",
                vpc_id=vpc_id,
                service_name=f"com.amazonaws.{self._region}.{name}",
                vpc_endpoint_type="Interface",
                private_dns_enabled=True,
                subnet_ids=list(self._subnet_ids.values()),
                security_group_ids=[self.security_group_id],
            )
            for name in sorted(endpoints)
        ]

    def _make_flow_logs(self, vpc_id: str) -> None:
        group = logs.CfnLogGroup(self, "FlowLogGroup", retention_in_days=30)
        group.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
        arn = group.attr_arn
        role = iam.CfnRole(
            self,
            "FlowLogRole",
            assume_role_policy_document=_trust("vpc-flow-logs.amazonaws.com"),
            policies=[
                iam.CfnRole.PolicyProperty(
                    policy_name="WriteFlowLogs",
                    policy_document={
                        "Version": "2012-10-17",
                        "Statement": [
                            {
                                "Effect": "Allow",
                                "Action": ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"],
                                "Resource": arn,
                            }
                        ],
                    },
                )
            ],
        )
        ec2.CfnFlowLog(
            self,
            "FlowLog",
            resource_id=vpc_id,
            resource_type="VPC",
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_destination=arn,
            deliver_logs_permission_arn=role.attr_arn,
        )

    @staticmethod
    def imported(
        scope: Construct,
        id: str,
        *,
        vpc_id: str,
        subnets: Sequence[ImportedSubnet],
        vpc_cidr: str | None = None,
        security_group_id: str | None = None,
        egress: Egress = "nat",
    ) -> Network:
        """A network that exists; nothing is made in it but the fabric security group.

        Args:
            scope: Parent construct.
            id: Name within the parent.
            vpc_id: Id of the VPC.
            subnets: Private subnets with a way to S3, SSM and CloudWatch Logs; the cluster stands in the first one.
            vpc_cidr: IPv4 block of the VPC, which some of the CDK's own constructs ask for.
            security_group_id: A security group with rules for all traffic from and to itself. Defaults to a new one.
            egress: What the new security group lets out: everything (`nat`), or HTTPS and itself (`closed`).
        """
        return _ImportedNetwork(scope, id, vpc_id, subnets, vpc_cidr, security_group_id, egress)


class _ImportedNetwork(Network):
    """See `ClusterNetwork.imported`."""

    def __init__(  # noqa: PLR0917  # private: called by `imported` alone
        self,
        scope: Construct,
        id: str,
        vpc_id: str,
        subnets: Sequence[ImportedSubnet],
        vpc_cidr: str | None,
        security_group_id: str | None,
        egress: Egress,
    ) -> None:
        if not subnets:
            raise InvalidValue("an imported network needs at least one subnet")
        super().__init__(scope, id)
        self._subnet_ids = {subnet.subnet_id: subnet.subnet_id for subnet in subnets}
        self.zones = tuple(subnet.zone or subnet.subnet_id for subnet in subnets)
        fabric: SecurityGroup | None = None
        if security_group_id is None:
            _, rules = self._make_fabric(vpc_id, egress)
            fabric = fabric_model(self.node.path)
            self.ready = DependencyGroup(*rules)
        else:
            self.security_group_id = security_group_id
            wrapped = ec2.SecurityGroup.from_security_group_id(self, "FabricGroup", security_group_id, mutable=False)
            self.connections = ec2.Connections(security_groups=[wrapped])
            self.fabric_rules = self.ready = DependencyGroup()
        self.vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Imported",
            vpc_id=vpc_id,
            vpc_cidr_block=vpc_cidr,
            availability_zones=[subnet.availability_zone or subnet.zone or "unknown" for subnet in subnets],
            private_subnet_ids=[subnet.subnet_id for subnet in subnets],
            private_subnet_route_table_ids=_all_or_none([subnet.route_table_id for subnet in subnets]),
        )
        self.model = NetworkModel(
            zones=self.zones,
            subnets=tuple(
                Subnet(path=subnet.subnet_id, zone=subnet.zone, cidr=subnet.cidr, public=UNKNOWN) for subnet in subnets
            ),
            fabric=fabric,
            security_group=fabric.path if fabric else self.security_group_id,
            imported=True,
        )


def _all_or_none(ids: Sequence[str | None]) -> list[str] | None:
    given = [each for each in ids if each]
    return given if len(given) == len(ids) else None


def _trust(service: str) -> dict[str, object]:
    """A trust policy for a service that acts for this account only (confused deputy)."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": service},
                "Action": "sts:AssumeRole",
                "Condition": {"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}},
            }
        ],
    }
