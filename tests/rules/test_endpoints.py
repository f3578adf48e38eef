"""What is said of VPC endpoints: those that are missing and those that nodes cannot use."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.rules import networks
from tests.rules.networks import CLOSED, ENDPOINTS, KUBERNETES, LUSTRE, NETWORK, UNDECIDED, ref, resource

ON_SLURM = ("s3", "ec2", "ec2messages", "logs", "monitoring", "ssm", "ssmmessages", "sts")
SCRIPTS = {"SourceS3Uri": "s3://sagemaker-scripts/x", "OnCreate": "on_create.sh"}
WITH_SCRIPTS = {
    "Cluster": {
        "InstanceGroups": [
            {**{k: v for k, v in each.items() if k != "SlurmConfig"}, "LifeCycleConfig": SCRIPTS}
            for each in NETWORK["Cluster"]["Properties"]["InstanceGroups"]
        ],
        "Orchestrator": None,
    }
}

INTERNET_ONLY = {name: gone for name, gone in CLOSED.items() if name not in {"Internet", "Attachment", "PublicRoute"}}


def mounted() -> list[dict[str, Any]]:
    """The groups with the file system `Data`."""
    mount = {
        "FsxLustreConfig": {
            "DnsName": {"Fn::GetAtt": ["Data", "DNSName"]},
            "MountName": {"Fn::GetAtt": ["Data", "LustreMountName"]},
            "MountPath": "/fsx",
        }
    }
    groups = NETWORK["Cluster"]["Properties"]["InstanceGroups"]
    return [{**each, "InstanceStorageConfigs": [mount]} for each in groups]


def mounting(efa: Any) -> dict[str, Any]:
    """The change that mounts a file system with EFA, or without it."""
    lustre = {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 250,
        "EfaEnabled": efa,
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
    }
    data = deepcopy(LUSTRE)
    data["Properties"] |= {"StorageCapacity": 19200, "LustreConfiguration": lustre}
    return {"Data": data, "Cluster": {"InstanceGroups": mounted()}}


WITH_EFA = mounting(efa=True)


def without(*names: str) -> dict[str, Any]:
    return {name: body for name, body in ENDPOINTS.items() if name not in names}


class TestClosedNetworksHaveS3:
    def of(self, *changes: dict[str, Any]) -> list[str]:
        return networks.of("HP4033", CLOSED, WITH_SCRIPTS, *changes)

    def test_scripts_cannot_be_fetched_without(self) -> None:
        assert self.of(without("S3")) == [
            (
                "Cluster: groups 'controller' and 'p5' stand in Nodes, from which nothing leads out, and fetch their "
                "scripts from S3; there is no endpoint for s3 | lead 0.0.0.0/0 of their route table to a NAT gateway, "
                "or add a Gateway endpoint for s3 on the route table of the subnet; in hp.ClusterNetwork by "
                'egress="nat" or endpoints'
            )
        ]

    def test_names_the_others_too_and_is_the_only_one_to_do_so(self) -> None:
        (found,) = self.of(without("S3", "Ssm"))
        assert "there is no endpoint for s3 and ssm |" in found
        assert networks.of("HP4034", CLOSED, WITH_SCRIPTS, without("S3", "Ssm")) == []

    def test_an_endpoint_on_another_route_table_is_none(self) -> None:
        elsewhere = {"S3": {"RouteTableIds": [ref("PublicTable")]}}
        assert len(self.of(ENDPOINTS, elsewhere)) == 1

    def test_an_internet_gateway_is_no_way_out_for_private_addresses(self) -> None:
        route = {**NETWORK["PublicRoute"]["Properties"], "RouteTableId": ref("Table")}
        led_out = {"DefaultRoute": resource("Route", "Attachment", **route)}
        (found,) = networks.of("HP4033", INTERNET_ONLY, WITH_SCRIPTS, led_out, without("S3"))
        assert "leads out: the internet gateway Internet serves public addresses only, which nodes do not" in found

    def test_it_is_one_for_ipv6(self) -> None:
        route = {"RouteTableId": ref("Table"), "DestinationIpv6CidrBlock": "::/0", "GatewayId": ref("Internet")}
        led_out = {"DefaultRoute": resource("Route", "Attachment", **route)}
        assert networks.of("HP4033", INTERNET_ONLY, WITH_SCRIPTS, led_out, without("S3")) == []

    def test_neither_is_the_route_table_of_the_vpc(self) -> None:
        (found,) = self.of({"Association": None}, without("S3"))
        assert "from which nothing leads out: no route table is associated with it, and fetch" in found

    def test_of_several_subnets_all_are_closed(self) -> None:
        second = resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.96.0/19", AvailabilityZoneId="usw2-az2")
        place = {"Subnets": [ref("Nodes"), ref("Second")], "SecurityGroupIds": [ref("Fabric")]}
        both = {"Second": second, "Cluster": {"VpcConfig": place}}
        assert "stand in Nodes and Second, from which nothing leads out, and fetch" in self.of(both)[0]
        route = resource(
            "Route", RouteTableId=ref("PublicTable"), DestinationCidrBlock="0.0.0.0/0", NatGatewayId="nat-1"
        )
        open_one = resource("SubnetRouteTableAssociation", SubnetId=ref("Second"), RouteTableId=ref("PublicTable"))
        assert self.of({**both, "Way": route, "Open": open_one}) == []

    def test_is_silent_with_one(self) -> None:
        assert self.of(ENDPOINTS) == []

    def test_is_silent_without_scripts(self) -> None:
        assert networks.of("HP4033", CLOSED, without("S3")) == []

    @pytest.mark.parametrize(
        "way", [{"NatGatewayId": UNDECIDED}, {"TransitGatewayId": "tgw-1"}, {"GatewayId": UNDECIDED}]
    )
    def test_is_silent_where_something_leads_out(self, way: dict[str, object]) -> None:
        route = resource("Route", RouteTableId=ref("Table"), DestinationCidrBlock="10.0.0.0/8", **way)
        assert self.of({"Away": route}) == []

    @pytest.mark.parametrize(
        "leads",
        [
            resource("Route", RouteTableId=ref("Table"), DestinationCidrBlock="0.0.0.0/0", GatewayId=ref("Vpn")),
            resource("VPNGatewayRoutePropagation", RouteTableIds=[ref("Table")], VpnGatewayId=ref("Vpn")),
            resource("VPNGatewayRoutePropagation", RouteTableIds=UNDECIDED, VpnGatewayId=ref("Vpn")),
            resource("RouteServerPropagation", RouteTableId=ref("Table"), RouteServerId="rs-1"),
        ],
    )
    def test_is_silent_where_a_vpn_gateway_or_a_route_server_may_lead_out(self, leads: dict[str, Any]) -> None:
        assert self.of({"Vpn": resource("VPNGateway", Type="ipsec.1"), "Leads": leads}) == []

    @pytest.mark.parametrize(
        "change",
        [
            {"Nodes": {"VpcId": "vpc-0123456789abcdef0"}},
            {"Association": {"RouteTableId": UNDECIDED}},
            {"Association": {"RouteTableId": "rtb-0123456789abcdef0"}},
            {"Helper": {"Type": "Custom::Routes", "Properties": {"Table": ref("Table")}}},
            {"Helper": {"Type": "Custom::Endpoints", "Properties": {"Vpc": ref("Vpc")}}},
            {"Maybe": {**networks.endpoint("ssm"), "Condition": "Maybe"}},
        ],
    )
    def test_is_silent_where_not_all_is_known(self, change: dict[str, Any]) -> None:
        assert self.of(change) == []

    def test_the_helper_that_empties_the_default_group_gives_no_routes(self) -> None:
        group = {"Fn::GetAtt": ["Vpc", "DefaultSecurityGroup"]}
        helper = {"Type": "Custom::VpcRestrictDefaultSG", "Properties": {"DefaultSecurityGroupId": group}}
        assert len(self.of({"Helper": helper})) == 1


class TestClosedNetworksHaveTheirEndpoints:
    @pytest.mark.parametrize("service", ON_SLURM)
    def test_each_one_is_needed(self, service: str) -> None:
        (found,) = networks.of("HP4034", CLOSED, without(service.capitalize()))
        assert f"from which nothing leads out; there is no endpoint for {service} | lead 0.0.0.0/0 of" in found

    def test_kubernetes_needs_more(self) -> None:
        (found,) = networks.of("HP4034", KUBERNETES, CLOSED, ENDPOINTS)
        assert "there is no endpoint for ecr.api, ecr.dkr and eks-auth |" in found

    def test_efa_of_lustre_is_asked_for_at_fsx(self) -> None:
        (found,) = networks.of("HP4034", CLOSED, ENDPOINTS, WITH_EFA)
        assert "there is no endpoint for fsx (for the EFA of the file system) |" in found
        assert networks.of("HP4034", CLOSED, ENDPOINTS, WITH_EFA, {"Fsx": networks.endpoint("fsx")}) == []

    @pytest.mark.parametrize("efa", [False, UNDECIDED])
    def test_without_efa_nobody_asks_there(self, efa: Any) -> None:
        assert networks.of("HP4034", CLOSED, ENDPOINTS, mounting(efa)) == []

    def test_nodes_without_efa_do_not_ask_either(self) -> None:
        slow = {"Cluster": {"InstanceGroups": [{**each, "InstanceType": "ml.m5.large"} for each in mounted()]}}
        assert networks.of("HP4034", CLOSED, ENDPOINTS, WITH_EFA, slow) == []

    def test_the_secret_of_the_database_lies_in_secrets_manager(self) -> None:
        secret = "arn:aws:secretsmanager:us-west-2:111122223333:secret:db-AbCdEf"
        database = {"Endpoint": "db.example.com", "SecretArn": secret, "Name": "acct"}
        accounted = {"Cluster": {"Orchestrator": {"Slurm": {"AccountingDatabase": database}}}}
        (found,) = networks.of("HP4034", CLOSED, ENDPOINTS, accounted)
        assert "there is no endpoint for secretsmanager (for the secret of the accounting database) |" in found

    def test_is_silent_with_all(self) -> None:
        assert networks.of("HP4034", CLOSED, ENDPOINTS) == []

    def test_is_silent_with_a_way_out(self) -> None:
        assert networks.of("HP4034") == []

    def test_is_silent_where_the_scheduler_is_not_known(self) -> None:
        assert networks.of("HP4034", CLOSED, {"Cluster": {"Orchestrator": UNDECIDED}}) == []

    def test_is_silent_where_an_endpoint_is_not_known(self) -> None:
        assert (
            networks.of("HP4034", CLOSED, without("Ssm"), {"Some": networks.endpoint("x", ServiceName=UNDECIDED)}) == []
        )


def guarded(*rules: dict[str, object], **properties: object) -> dict[str, Any]:
    """An endpoint with a security group of its own."""
    guard = resource("SecurityGroup", GroupDescription="guard", VpcId=ref("Vpc"), SecurityGroupIngress=list(rules))
    return {"Guard": guard, "Ssm": networks.endpoint("ssm", **{"SecurityGroupIds": [ref("Guard")], **properties})}


class TestEndpointsLetNodesIn:
    def of(self, changes: dict[str, Any]) -> list[str]:
        return networks.of("HP4035", changes)

    def test_nodes_call_port_443(self) -> None:
        http = {"IpProtocol": "tcp", "FromPort": 80, "ToPort": 80, "SourceSecurityGroupId": ref("Fabric")}
        assert self.of(guarded(http)) == [
            (
                "Ssm: its security groups do not let tcp 443 in from the nodes of the cluster | add an ingress rule "
                "for tcp 443 from the security group of the nodes to its security group"
            )
        ]

    @pytest.mark.parametrize("peer", [{"SourceSecurityGroupId": "sg-0123456789abcdef0"}, {"CidrIp": "10.0.0.0/24"}])
    def test_others_are_not_the_nodes(self, peer: dict[str, object]) -> None:
        assert len(self.of(guarded({"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, **peer}))) == 1

    def test_an_endpoint_without_groups_has_that_of_the_vpc(self) -> None:
        assert len(self.of({"Ssm": networks.endpoint("ssm", SecurityGroupIds=[])})) == 1

    def test_nodes_must_let_it_out(self) -> None:
        lustre = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "CidrIp": "0.0.0.0/0"}
        https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.0.0.0/16"}
        narrow = {"Fabric": {"SecurityGroupEgress": [lustre]}}
        assert networks.of("HP4035", guarded(https), narrow) == [
            (
                "Ssm: the security groups of the nodes of the cluster do not let tcp 443 out to it | add an egress "
                "rule for tcp 443 to the security group of the nodes"
            )
        ]
        assert networks.of("HP4035", guarded(https)) == []

    @pytest.mark.parametrize(
        "rule",
        [
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "SourceSecurityGroupId": ref("Fabric")},
            {"IpProtocol": "-1", "CidrIp": "10.0.0.0/16"},
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "SourcePrefixListId": "pl-1"},
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "SourceSecurityGroupId": UNDECIDED},
            {"IpProtocol": UNDECIDED, "CidrIp": "10.0.0.0/16"},
            UNDECIDED,
        ],
    )
    def test_is_silent_where_they_are_or_may_be_let_in(self, rule: dict[str, object]) -> None:
        assert self.of(guarded(rule)) == []

    @pytest.mark.parametrize("groups", [["sg-0123456789abcdef0"], UNDECIDED, [UNDECIDED]])
    def test_is_silent_on_groups_that_are_not_known(self, groups: object) -> None:
        assert self.of(guarded(SecurityGroupIds=groups)) == []

    def test_is_silent_on_services_that_nodes_do_not_call(self) -> None:
        assert self.of(guarded(ServiceName="com.amazonaws.us-west-2.athena")) == []

    def test_is_silent_on_another_vpc_and_without_private_names(self) -> None:
        assert self.of(guarded(PrivateDnsEnabled=False)) == []
        assert self.of(guarded(VpcId="vpc-0123456789abcdef0")) == []


class TestEndpointsAreFound:
    def of(self, **properties: object) -> list[str]:
        return networks.of("HP4036", {"Ssm": networks.endpoint("ssm", **properties)})

    def test_by_the_usual_name_only_if_it_is_private(self) -> None:
        assert self.of(PrivateDnsEnabled=False) == [
            (
                "Ssm: PrivateDnsEnabled is false: the service's usual name does not lead to this endpoint | set "
                "PrivateDnsEnabled to true"
            )
        ]

    def test_in_their_region(self) -> None:
        assert self.of(ServiceName="com.amazonaws.us-east-1.ssm") == [
            (
                "Ssm: the service is that of us-east-1 but the endpoint is in us-west-2 | use "
                "com.amazonaws.us-west-2.ssm, best with ${AWS::Region} in its place"
            )
        ]

    @pytest.mark.parametrize(
        "properties",
        [
            {},
            {"PrivateDnsEnabled": UNDECIDED},
            {"ServiceName": "com.amazonaws.us-west-2.ssm"},
            {"ServiceName": "com.amazonaws.us-east-1.ssm", "ServiceRegion": "us-east-1"},
            {"ServiceName": "com.amazonaws.vpce.us-east-1.vpce-svc-0123456789abcdef0"},
            {"ServiceName": UNDECIDED},
        ],
    )
    def test_is_silent_on_others_and_unknown_ones(self, properties: dict[str, object]) -> None:
        assert self.of(**properties) == []
