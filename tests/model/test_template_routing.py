from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.routing import (
    Association,
    Attachment,
    ElasticAddress,
    Endpoint,
    NatGateway,
    Route,
    Routing,
    Vpc,
    VpcBlock,
)
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

UNDECIDABLE = {"Ref": "Given"}
SECTIONS = {
    "Parameters": {"Given": {"Type": "String"}},
    "Conditions": {"Maybe": {"Fn::Equals": [UNDECIDABLE, "x"]}},
}


def ec2(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::EC2::{kind}", "Properties": properties}


class TestVpcs:
    def test_have_blocks_of_their_own_and_added_ones(self, deployment_of: Any) -> None:
        added = ec2("VPCCidrBlock", VpcId={"Ref": "Vpc"}, CidrBlock="10.1.0.0/16")
        vpc = ec2("VPC", CidrBlock="10.0.0.0/16", EnableDnsHostnames="true")
        (found,) = deployment_of({"Vpc": vpc, "More": added}).routing.vpcs
        assert found == Vpc(
            path="app.json/Vpc",
            blocks=(
                VpcBlock(path="app.json/Vpc", cidr="10.0.0.0/16"),
                VpcBlock(path="app.json/More", cidr="10.1.0.0/16"),
            ),
            dns_hostnames=True,
        )

    @pytest.mark.parametrize(
        "properties", [{"CidrBlock": UNDECIDABLE}, {"Ipv4IpamPoolId": "ipam-pool-1", "CidrBlock": "10.0.0.0/16"}, {}]
    )
    def test_may_have_a_block_that_only_the_deploy_knows(self, deployment_of: Any, properties: Any) -> None:
        (found,) = deployment_of({"Vpc": ec2("VPC", **properties)}, **SECTIONS).routing.vpcs
        assert found.blocks == (VpcBlock(path="app.json/Vpc", cidr=UNKNOWN),)


class TestRoutes:
    @pytest.mark.parametrize(
        ("target", "way"),
        [
            ({"GatewayId": "igw-1"}, "internet"),
            ({"GatewayId": {"Ref": "Internet"}}, "internet"),
            ({"GatewayId": {"Ref": "Internet"}, "DestinationIpv6CidrBlock": "::/0"}, "elsewhere"),
            ({"GatewayId": "vgw-1"}, "elsewhere"),
            ({"GatewayId": {"Ref": "Vpn"}}, "elsewhere"),
            ({"GatewayId": "local"}, "elsewhere"),
            ({"GatewayId": UNDECIDABLE}, UNKNOWN),
            ({"NatGatewayId": UNDECIDABLE}, "nat"),
            ({"TransitGatewayId": "tgw-1"}, "elsewhere"),
            ({"VpcPeeringConnectionId": UNDECIDABLE}, "elsewhere"),
            ({}, UNKNOWN),
        ],
    )
    def test_lead_somewhere(self, deployment_of: Any, target: Any, way: Any) -> None:
        route = ec2("Route", RouteTableId="rtb-1", **target)
        gateways = {"Internet": ec2("InternetGateway"), "Vpn": ec2("VPNGateway", Type="ipsec.1")}
        found = deployment_of({**gateways, "R": route}, **SECTIONS).routing.routes[0]
        assert (found.table, found.way) == ("rtb-1", way)

    def test_know_their_gateway_and_what_comes_before(self, deployment_of: Any) -> None:
        route = {**ec2("Route", RouteTableId="rtb-1", GatewayId={"Ref": "Internet"}), "DependsOn": ["Attachment"]}
        attachment = ec2("VPCGatewayAttachment", VpcId="vpc-1", InternetGatewayId={"Ref": "Internet"})
        read = deployment_of({"Internet": ec2("InternetGateway"), "Attachment": attachment, "R": route}).routing
        assert read.routes == (
            Route(
                path="app.json/R",
                table="rtb-1",
                way="internet",
                gateway="app.json/Internet",
                after=frozenset({"app.json/Attachment", "app.json/Internet"}),
            ),
        )
        assert read.attachments == (Attachment(path="app.json/Attachment", vpc="vpc-1", gateway="app.json/Internet"),)

    def test_need_a_table(self, deployment_of: Any) -> None:
        read = deployment_of({"R": ec2("Route", GatewayId="igw-1")})
        assert read.routing.routes[0].table is UNKNOWN
        assert refused(read) == ["RouteTableId is missing; give RouteTableId: it is required"]


class TestGateways:
    def test_have_a_subnet_and_an_address(self, deployment_of: Any) -> None:
        nat = ec2("NatGateway", SubnetId="subnet-1", AllocationId={"Fn::GetAtt": ["Address", "AllocationId"]})
        address = ec2("EIP", NetworkBorderGroup="us-west-2-phx-2")
        read = deployment_of({"Address": address, "Nat": nat}).routing
        before = frozenset({"app.json/Address"})
        assert read.nat_gateways == (
            NatGateway(path="app.json/Nat", subnet="subnet-1", address="app.json/Address", after=before),
        )
        assert read.addresses == (ElasticAddress(path="app.json/Address", border_group="us-west-2-phx-2"),)

    @pytest.mark.parametrize(("kind", "private"), [("private", True), ("public", False), (UNDECIDABLE, UNKNOWN)])
    def test_may_be_private(self, deployment_of: Any, kind: Any, private: Any) -> None:
        (found,) = deployment_of({"Nat": ec2("NatGateway", ConnectivityType=kind)}, **SECTIONS).routing.nat_gateways
        assert found.private is private


class TestEndpoints:
    @pytest.mark.parametrize(
        ("name", "region", "service"),
        [
            ("com.amazonaws.us-west-2.ecr.api", "us-west-2", "ecr.api"),
            ("cn.com.amazonaws.cn-north-1.s3", "cn-north-1", "s3"),
            ({"Fn::Sub": "com.amazonaws.${AWS::Region}.ecr.dkr"}, UNKNOWN, "ecr.dkr"),
            ({"Fn::Join": [".", ["com.amazonaws", {"Ref": "AWS::Region"}, "s3"]]}, UNKNOWN, "s3"),
            ("com.amazonaws.vpce.us-west-2.vpce-svc-0123456789abcdef0", None, None),
            ("aws.sagemaker.us-west-2.studio", None, None),
            (UNDECIDABLE, UNKNOWN, UNKNOWN),
            (None, None, None),
        ],
    )
    def test_are_for_a_service(self, deployment_of: Any, name: Any, region: Any, service: Any) -> None:
        (found,) = deployment_of({"E": ec2("VPCEndpoint", ServiceName=name)}, **SECTIONS).routing.endpoints
        assert (found.service_region, found.service) == (region, service)

    def test_have_places(self, deployment_of: Any) -> None:
        properties = {
            "VpcEndpointType": "Interface",
            "VpcId": "vpc-1",
            "ServiceName": "com.amazonaws.us-west-2.ssm",
            "SubnetIds": ["subnet-1", UNDECIDABLE],
            "SecurityGroupIds": ["sg-1"],
            "PrivateDnsEnabled": "true",
        }
        assert deployment_of({"E": ec2("VPCEndpoint", **properties)}, **SECTIONS).routing.endpoints == (
            Endpoint(
                path="app.json/E",
                kind="Interface",
                service="ssm",
                service_region="us-west-2",
                vpc="vpc-1",
                subnets=("subnet-1", UNKNOWN),
                security_groups=("sg-1",),
                private_dns=True,
            ),
        )

    def test_are_gateways_unless_told_otherwise(self, deployment_of: Any) -> None:
        (found,) = deployment_of({"E": ec2("VPCEndpoint", RouteTableIds=["rtb-1"])}).routing.endpoints
        assert (found.kind, found.tables, found.private_dns) == ("Gateway", ("rtb-1",), None)


class TestUndecided:
    @pytest.mark.parametrize(
        "part",
        [
            {**ec2("Route", RouteTableId="rtb-1", GatewayId="igw-1"), "Condition": "Maybe"},
            ec2("Route", RouteTableId=UNDECIDABLE, GatewayId="igw-1"),
            ec2("SubnetRouteTableAssociation", SubnetId=UNDECIDABLE, RouteTableId="rtb-1"),
            ec2("VPCEndpoint", ServiceName=UNDECIDABLE),
            ec2("VPCEndpoint", ServiceName="com.amazonaws.us-west-2.s3", RouteTableIds=UNDECIDABLE),
        ],
    )
    def test_is_what_may_belong_anywhere(self, deployment_of: Any, part: Any) -> None:
        assert deployment_of({"P": part}, **SECTIONS).routing.undecided == ("app.json/P",)

    def test_is_nothing_else(self, deployment_of: Any) -> None:
        association = ec2("SubnetRouteTableAssociation", SubnetId="subnet-1", RouteTableId="rtb-1")
        read = deployment_of({"A": association}).routing
        assert read == Routing(associations=(Association(path="app.json/A", subnet="subnet-1", table="rtb-1"),))


def test_two_networks_are_merged(deployment_of: Any) -> None:
    one, other = deployment_of({"A": ec2("EIP")}), deployment_of({"B": ec2("EIP"), "Vpc": ec2("VPC")})
    merged = one.merged(other).routing
    assert [each.path for each in merged.addresses] == ["app.json/A", "app.json/B"]
    assert len(merged.vpcs) == 1
