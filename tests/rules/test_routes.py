"""What is said of routes, gateways and the order in which a network is built."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules import networks
from tests.rules.networks import NETWORK, UNDECIDED, ref, resource

HOW = ": DependsOn in a template, node.add_dependency in the CDK"


class TestNetworksAreBuiltInOrder:
    def of(self, **changes: Any) -> list[str]:
        return networks.of("HP4029", changes)

    def test_a_public_route_waits_for_the_attachment(self) -> None:
        nat = {"DependsOn": ["Attachment"]}
        assert self.of(PublicRoute={"DependsOn": None}, Nat=nat) == [
            f"PublicRoute: the route does not wait for Attachment | let it depend on Attachment{HOW}"
        ]

    def test_so_does_a_nat_gateway(self) -> None:
        assert self.of(Address={"DependsOn": None}) == [
            f"Nat: the NAT gateway does not wait for Attachment | let it depend on Attachment{HOW}"
        ]

    def test_waiting_for_what_waits_is_enough(self) -> None:
        assert self.of(Address={"DependsOn": None}, Nat={"DependsOn": ["PublicRoute"]}) == []

    def test_a_private_nat_gateway_needs_none(self) -> None:
        private = resource("NatGateway", SubnetId=ref("Public"), ConnectivityType="private")
        assert self.of(Nat=private) == []

    def test_a_subnet_waits_for_its_block(self) -> None:
        more = {
            "More": resource("VPCCidrBlock", VpcId=ref("Vpc"), CidrBlock="10.1.0.0/16"),
            "Other": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.1.0.0/20"),
        }
        assert self.of(**more) == [f"Other: the subnet does not wait for More | let it depend on More{HOW}"]
        assert self.of(More=more["More"], Other={**more["Other"], "DependsOn": ["More"]}) == []

    def test_is_silent_on_an_imported_gateway_and_an_unknown_one(self) -> None:
        for gateway in ("igw-0123456789abcdef0", UNDECIDED):
            assert self.of(PublicRoute={"DependsOn": None, "GatewayId": gateway}) == []


class TestGatewaysAreAttached:
    def of(self, **changes: Any) -> list[str]:
        return networks.of("HP4030", changes)

    def test_a_gateway_that_nothing_attaches(self) -> None:
        assert self.of(Attachment=None) == [
            (
                "Nat: the NAT gateway stands in Vpc, to which no internet gateway is attached | attach an internet "
                "gateway to that VPC, or set ConnectivityType to private"
            ),
            (
                "PublicRoute: the route leads to Internet, which is attached to no VPC | add an "
                "AWS::EC2::VPCGatewayAttachment, and let the route depend on it"
            ),
        ]

    def test_a_vpn_gateway_is_none(self) -> None:
        vpn = {
            "Second": resource("VPC", CidrBlock="10.9.0.0/16"),
            "Vpn": resource("VPNGateway", Type="ipsec.1"),
            "There": resource("VPCGatewayAttachment", VpcId=ref("Second"), VpnGatewayId=ref("Vpn")),
            "Here": resource("VPCGatewayAttachment", VpcId=ref("Vpc"), VpnGatewayId=ref("Vpn")),
        }
        assert self.of(**vpn) == []
        assert [each.partition(":")[0] for each in self.of(**vpn, Attachment=None)] == ["Nat", "PublicRoute"]

    def test_a_gateway_of_another_vpc(self) -> None:
        second = resource("VPC", CidrBlock="10.9.0.0/16")
        found = self.of(Second=second, Attachment={"VpcId": ref("Second")})
        assert "PublicRoute: the route is in Vpc but its internet gateway is attached to Second |" in found[1]

    @pytest.mark.parametrize("change", [{"VpcId": UNDECIDED}, {"InternetGatewayId": UNDECIDED}])
    def test_is_silent_where_it_may_be_attached(self, change: dict[str, Any]) -> None:
        assert self.of(Attachment=change) == []

    def test_is_silent_where_something_else_may_attach_it(self) -> None:
        helper = {"Type": "Custom::Attach", "Properties": {"Gateway": ref("Internet"), "Vpc": ref("Vpc")}}
        assert self.of(Attachment=None, Helper=helper) == []

    def test_is_silent_on_a_private_nat_gateway(self) -> None:
        gone = dict.fromkeys(("Attachment", "Internet", "PublicRoute", "Address"))
        assert self.of(**gone, Nat={"AllocationId": None, "ConnectivityType": "private"}) == []


class TestAddressesAreOfTheirZone:
    def of(self, zone: dict[str, object], group: object = None) -> list[str]:
        address = {"NetworkBorderGroup": group} if group else {}
        return networks.of("HP4031", {"Public": {"AvailabilityZoneId": None, **zone}, "Address": address})

    def test_a_local_zone_has_addresses_of_its_own(self) -> None:
        assert self.of({"AvailabilityZone": "us-west-2-phx-2a"}) == [
            (
                "Address: NetworkBorderGroup is left out, which means the Region's own zones, but its NAT gateway "
                "stands in us-west-2-phx-2a | set NetworkBorderGroup to us-west-2-phx-2"
            )
        ]

    @pytest.mark.parametrize(
        ("zone", "group", "right"),
        [
            ({"AvailabilityZoneId": "usw2-phx2-az1"}, "us-west-2", "us-west-2-phx-2"),
            ({"AvailabilityZoneId": "usw2-phx2-az1"}, "us-west-2-lax-1", "us-west-2-phx-2"),
            ({"AvailabilityZone": "us-west-2-phx-2a"}, "us-west-2-phx-2a", "us-west-2-phx-2"),
            ({"AvailabilityZoneId": "usw2-az1"}, "us-west-2-phx-2", "us-west-2"),
        ],
    )
    def test_no_zone_takes_those_of_another(self, zone: dict[str, object], group: str, right: str) -> None:
        (found,) = self.of(zone, group)
        assert found.endswith(f"| set NetworkBorderGroup to {right}")

    @pytest.mark.parametrize(
        ("zone", "group"),
        [
            ({"AvailabilityZoneId": "usw2-phx2-az1"}, "us-west-2-phx-2"),
            ({"AvailabilityZone": "us-west-2-phx-2a"}, "us-west-2-phx-2"),
            ({"AvailabilityZone": "us-west-2a"}, None),
            ({"AvailabilityZone": "us-west-2-phx-2a"}, UNDECIDED),
            ({"AvailabilityZone": UNDECIDED}, None),
            ({"AvailabilityZone": {"Fn::Select": [0, {"Fn::GetAZs": ""}]}}, None),
        ],
    )
    def test_is_silent_on_its_own_and_on_unknown_ones(self, zone: dict[str, object], group: object) -> None:
        assert self.of(zone, group) == []

    @pytest.mark.parametrize("pool", [{"PublicIpv4Pool": "ipv4pool-ec2-1"}, {"IpamPoolId": "ipam-pool-1"}])
    def test_a_pool_may_bring_a_border_group(self, pool: dict[str, object]) -> None:
        there = {"Public": {"AvailabilityZoneId": "usw2-phx2-az1"}}
        assert networks.of("HP4031", there, {"Address": pool}) == []
        assert len(networks.of("HP4031", there, {"Address": {**pool, "NetworkBorderGroup": "us-west-2"}})) == 1


class TestClustersWaitForTheirWayOut:
    def of(self, *after: str, **changes: Any) -> list[str]:
        return networks.of("HP4032", {"Cluster": {"DependsOn": ["In", "Out", *after]}}, changes)

    def test_no_property_refers_to_it(self) -> None:
        assert self.of() == [
            (
                "Cluster: the cluster does not wait for DefaultRoute and Association, by which its nodes reach the "
                f"outside | let the cluster depend on DefaultRoute and Association{HOW}"
            )
        ]

    def test_names_what_is_left(self) -> None:
        (found,) = self.of("Association")
        assert "does not wait for DefaultRoute, by which" in found

    def test_routes_that_a_vpn_gateway_writes_are_a_way_too(self) -> None:
        writes = resource("VPNGatewayRoutePropagation", RouteTableIds=[ref("Table")], VpnGatewayId="vgw-1")
        (found,) = self.of("DefaultRoute", "Association", Writes=writes)
        assert "does not wait for Writes, by which" in found

    def test_is_silent_where_it_waits(self) -> None:
        assert self.of("DefaultRoute", "Association") == []

    def test_is_silent_on_what_only_the_deploy_decides(self) -> None:
        assert self.of("Association", DefaultRoute={**NETWORK["DefaultRoute"], "Condition": "Maybe"}) == []
        assert self.of(Association={"SubnetId": UNDECIDED}) == []
