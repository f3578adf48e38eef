"""A network made for clusters: one block per zone id.

L1 resources throughout. The L2 VPC names and numbers its subnets by position, so that one more zone in front would
replace the subnets of a running cluster; and the L2 security group drops the egress rule to itself that EFA needs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2, aws_iam as iam, aws_logs as logs
from constructs import Construct, DependencyGroup

from hyperpod_constructs.catalog import endpoints as endpoints_catalog
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cdk.network import LOCKED, Egress, Network, NetworkModel, fabric_model
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.network import Subnet
from hyperpod_constructs.planning.addresses import ZoneBlocks, blocks, control_plane_blocks, database_blocks

_SERVICE: Final = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
DEFAULT_CIDR: Final = "10.0.0.0/16"
CLOSED_ENDPOINTS: Final = endpoints_catalog.NEEDED["slurm"]
"""What nodes of a Slurm cluster call besides S3."""


def network_model(path: str, zones: Sequence[str], cidr: str) -> NetworkModel:
    """A network of our own as the rules see it, before anything of it exists."""
    plan = [blocks(cidr, zone) for zone in zones]
    subnets = tuple(Subnet(path=f"{path}/Nodes-{each.zone}", zone=each.zone, cidr=each.nodes) for each in plan)
    fabric = fabric_model(path)
    return NetworkModel(zones=tuple(zones), subnets=subnets, fabric=fabric, groups=(fabric.path,))


class ClusterNetwork(Network):
    """A network made for HyperPod clusters.

    Each zone has an eighth of the network for nodes and file systems, chosen by the number in its zone id, so that
    neither more nodes nor one more zone ever changes a subnet: with the default /16 that is 8,187 addresses a zone,
    enough for 255 ml.p5.48xlarge nodes on Slurm.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        zones: Zone ids such as `usw2-az2` (not names such as `us-west-2b`, which mean another zone in each account).
            The cluster and the NAT gateway stand in the first one, so further zones go to the end.
        cidr: IPv4 block, /16 to /22. Cannot be changed once a cluster runs in it.
        egress: `nat` or `closed`.
        endpoints: Interface endpoints by service, for example `ssm`. Defaults to none with NAT, and in a closed network
            to what Slurm nodes call (`CLOSED_ENDPOINTS`), with `fsx` once a Lustre file system with EFA stands in it.
            Each is billed by hour and zone.
        flow_logs: Whether traffic is logged to CloudWatch Logs for a month.
        permissions_boundary: Boundary of the role that writes these logs.

    Raises:
        InvalidValue: if a zone is no zone id or the block has not that size.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        zones: Sequence[str],
        cidr: str = DEFAULT_CIDR,
        egress: Egress = "nat",
        endpoints: Sequence[str] | None = None,
        flow_logs: bool = True,
        permissions_boundary: iam.IManagedPolicy | None = None,
    ) -> None:
        """Makes the network."""
        self._adds_endpoints = egress == "closed" and endpoints is None
        endpoints = (CLOSED_ENDPOINTS if egress == "closed" else ()) if endpoints is None else endpoints
        for endpoint in endpoints:
            if not _SERVICE.fullmatch(endpoint) or endpoint.startswith("com."):
                raise InvalidValue(f"endpoint {endpoint!r} is no service", "use its short name, such as ssm or ecr.api")
        if len(set(zones)) != len(zones) or not zones:
            raise InvalidValue(f"zones are {list(zones)!r}; give one or more different zone ids")
        plan = [blocks(cidr, zone) for zone in zones]
        super().__init__(scope, id)
        self.zones = tuple(zones)
        self.model = network_model(self.node.path, zones, cidr)
        self.region = cdk.Stack.of(self).region
        self._vpc = ec2.CfnVPC(
            self,
            "Vpc",
            cidr_block=cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=[cdk.CfnTag(key="Name", value=id)],
        )
        self._cidr = cidr
        self.vpc_id = vpc_id = self._vpc.ref
        rules = self._make_fabric(vpc_id, egress)
        default_route = self._make_way_out(vpc_id, plan[0]) if egress == "nat" else None
        self._subnets, waiting = self._make_subnets(vpc_id, plan, default_route)
        self._subnet_ids = {
            seen.path: subnet.ref for seen, subnet in zip(self.model.subnets, self._subnets, strict=True)
        }
        gateway = self._make_s3_endpoint(vpc_id)
        interfaces = self._make_endpoints(vpc_id, endpoints)
        if flow_logs:
            self._make_flow_logs(vpc_id, permissions_boundary)
        self.ready = DependencyGroup(*rules, *waiting, gateway, *interfaces)

    def reach(self, service: str) -> None:
        """Adds an interface endpoint to a closed network whose endpoints were not chosen by hand."""
        if self._adds_endpoints and self.node.try_find_child(f"Endpoint-{service}") is None:
            self.ready.add(*self._make_endpoints(self.vpc_id, [service]))

    def database_subnets(self, zones: Sequence[str] | None = None) -> Sequence[str]:
        """Ids of subnets for a database, without a way out of the VPC; see `Network.database_subnets`.

        Their blocks are 16 addresses each, by the number of the zone, in a part of the network that nothing else has.
        """
        found = self._small_subnets("Database", database_blocks(self._cidr, self.zones[0], zones))
        for resource in (self._vpc, *found):
            resource.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        self._vpc.apply_cross_stack_reference_strength(LOCKED)
        return [subnet.ref for subnet in found]

    def control_plane_subnets(self, zones: Sequence[str] | None = None) -> Sequence[str]:
        """Ids of subnets for the control plane of EKS, without a way out; see `Network.control_plane_subnets`."""
        blocks_by_zone = control_plane_blocks(self._cidr, self.zones[0], zones)
        return [subnet.ref for subnet in self._small_subnets("ControlPlane", blocks_by_zone)]

    def _small_subnets(self, name: str, blocks_by_zone: Mapping[str, str]) -> list[ec2.CfnSubnet]:
        """The subnets of some zones, made where they are not there yet."""
        found = []
        for zone, block in blocks_by_zone.items():
            child = f"{name}-{zone}"
            made = self.node.try_find_child(child) or self._make_subnet(self.vpc_id, child, zone, block)
            found.append(cast("ec2.CfnSubnet", made))
        return found

    def _made_for(self, zone: str | None) -> Sequence[cdk.CfnResource]:
        return self._vpc, self._subnets[self.zones.index(zone) if zone else 0]

    def _make_vpc(self) -> ec2.IVpc:
        return ec2.Vpc.from_vpc_attributes(
            self,
            "Imported",
            vpc_id=self.vpc_id,
            vpc_cidr_block=self._vpc.cidr_block,
            availability_zones=[subnet.attr_availability_zone for subnet in self._subnets],
            private_subnet_ids=list(self._subnet_ids.values()),
            private_subnet_route_table_ids=[self._table_id] * len(self._subnets),
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
        # Named by zone: were another zone the first one, a NAT gateway of the same name would be replaced by one that
        # asks for the address while the old one still has it, and the update would fail.
        address = ec2.CfnEIP(self, f"NatAddress-{zone.zone}", domain="vpc")
        address.add_resource_dependency(attachment)
        nat = ec2.CfnNatGateway(self, f"Nat-{zone.zone}", subnet_id=subnet_id, allocation_id=address.attr_allocation_id)
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
            service_name=f"com.amazonaws.{self.region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[self._table_id],
        )

    def _make_endpoints(self, vpc_id: str, endpoints: Sequence[str]) -> list[cdk.CfnResource]:
        return [
            ec2.CfnVPCEndpoint(
                self,
                f"Endpoint-{name}",
                vpc_id=vpc_id,
                service_name=f"com.amazonaws.{self.region}.{name}",
                vpc_endpoint_type="Interface",
                private_dns_enabled=True,
                subnet_ids=list(self._subnet_ids.values()),
                security_group_ids=list(self.security_group_ids),
            )
            for name in sorted(set(endpoints))
        ]

    def _make_flow_logs(self, vpc_id: str, boundary: iam.IManagedPolicy | None) -> None:
        group = logs.CfnLogGroup(self, "FlowLogGroup", retention_in_days=30)
        group.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
        arn = group.attr_arn
        role = iam.CfnRole(
            self,
            "FlowLogRole",
            assume_role_policy_document=_trust("vpc-flow-logs.amazonaws.com"),
            permissions_boundary=boundary.managed_policy_arn if boundary else None,
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
