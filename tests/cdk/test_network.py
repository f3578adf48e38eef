"""The network of a cluster, as CloudFormation will get it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

import hyperpod_constructs as hp
from hyperpod_constructs import rules
from hyperpod_constructs.model import template
from tests.templates import of_type, synthesized


def network(stack: cdk.Stack, **options: Any) -> dict[str, Any]:
    hp.ClusterNetwork(stack, "Network", **{"zones": ["usw2-az2"], **options})
    return synthesized(stack)


class TestSubnets:
    def test_are_pinned_by_zone_id_and_private(self, stack: cdk.Stack) -> None:
        nodes = of_type(network(stack), "AWS::EC2::Subnet")
        assert {subnet["AvailabilityZoneId"] for subnet in nodes.values()} == {"usw2-az2"}
        assert not any(subnet["MapPublicIpOnLaunch"] for subnet in nodes.values())

    def test_one_more_zone_in_front_changes_no_subnet_that_was_there(self, app: cdk.App) -> None:
        """Field report A-16: a subnet that moves replaces the cluster and the file system in it."""
        env = cdk.Environment(account="111122223333", region="us-west-2")
        before = of_type(network(cdk.Stack(app, "Before", env=env), egress="closed"), "AWS::EC2::Subnet")
        after = of_type(
            network(cdk.Stack(app, "After", env=env), zones=["usw2-az1", "usw2-az2"], egress="closed"),
            "AWS::EC2::Subnet",
        )
        assert len(after) == 2
        assert before.items() <= after.items()

    def test_a_zone_name_is_refused_because_it_means_another_zone_in_each_account(self, stack: cdk.Stack) -> None:
        with pytest.raises(hp.InvalidValue, match=r"us-west-2b.* use one such as usw2-az2"):
            hp.ClusterNetwork(stack, "Network", zones=["us-west-2b"])

    def test_no_lookup_is_recorded(self, app: cdk.App, stack: cdk.Stack) -> None:
        network(stack)
        assert "missing" not in json.loads((Path(app.synth().directory) / "manifest.json").read_text())


class TestFabricGroup:
    def test_lets_everything_in_from_itself_and_out_to_itself(self, stack: cdk.Stack) -> None:
        """Field report B-01: EFA counts only rules that name the group, in both directions."""
        template = network(stack)
        (inside,) = of_type(template, "AWS::EC2::SecurityGroupIngress").values()
        (out,) = of_type(template, "AWS::EC2::SecurityGroupEgress").values()
        assert inside["IpProtocol"] == out["IpProtocol"] == "-1"
        assert inside["SourceSecurityGroupId"] == inside["GroupId"]
        assert out["DestinationSecurityGroupId"] == out["GroupId"] == inside["GroupId"]

    def test_a_closed_network_lets_only_https_out(self, stack: cdk.Stack) -> None:
        (group,) = of_type(network(stack, egress="closed"), "AWS::EC2::SecurityGroup").values()
        (rule,) = group["SecurityGroupEgress"]
        assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 443, 443)


class TestWayOut:
    def test_nat_is_the_default(self, stack: cdk.Stack) -> None:
        assert len(of_type(network(stack), "AWS::EC2::NatGateway")) == 1

    def test_a_closed_network_has_no_gateway_to_the_internet(self, stack: cdk.Stack) -> None:
        template = network(stack, egress="closed")
        assert not of_type(template, "AWS::EC2::NatGateway")
        assert not of_type(template, "AWS::EC2::InternetGateway")

    def test_the_public_route_waits_for_the_attachment(self, stack: cdk.Stack) -> None:
        """Field report B-08."""
        resources = network(stack)["Resources"]
        (attachment,) = (name for name, each in resources.items() if each["Type"] == "AWS::EC2::VPCGatewayAttachment")
        (route,) = (
            each
            for name, each in resources.items()
            if name.startswith("NetworkPublicRoute") and "Route" in each["Type"] and "GatewayId" in each["Properties"]
        )
        assert route["DependsOn"] == [attachment]

    def test_s3_has_a_gateway_endpoint_in_every_network(self, stack: cdk.Stack) -> None:
        (endpoint,) = of_type(network(stack, egress="closed", endpoints=[]), "AWS::EC2::VPCEndpoint").values()
        assert (endpoint["ServiceName"], endpoint["VpcEndpointType"]) == ("com.amazonaws.us-west-2.s3", "Gateway")

    def test_a_closed_network_has_the_endpoints_that_nodes_call_unless_told_otherwise(self, stack: cdk.Stack) -> None:
        endpoints = of_type(network(stack, egress="closed"), "AWS::EC2::VPCEndpoint").values()
        services = {each["ServiceName"].rpartition(".")[2] for each in endpoints}
        assert services == {"s3", "ec2", "ec2messages", "logs", "monitoring", "ssm", "ssmmessages", "sts"}

    def test_interface_endpoints_stand_in_the_fabric_group_with_private_names(self, stack: cdk.Stack) -> None:
        template = network(stack, egress="closed", endpoints=["ssm"])
        (endpoint,) = (
            each
            for each in of_type(template, "AWS::EC2::VPCEndpoint").values()
            if each["VpcEndpointType"] == "Interface"
        )
        assert endpoint["PrivateDnsEnabled"] is True
        assert endpoint["SecurityGroupIds"] == [
            {"Fn::GetAtt": [next(iter(_ids(template, "AWS::EC2::SecurityGroup"))), "GroupId"]}
        ]


class TestImported:
    def subnet(self) -> hp.ImportedSubnet:
        return hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2", cidr="10.1.0.0/20")

    def test_makes_nothing_but_the_fabric_group(self, stack: cdk.Stack) -> None:
        hp.Network.from_attributes(stack, "Network", vpc_id="vpc-0123456789abcdef0", subnets=[self.subnet()])
        assert {each["Type"] for each in synthesized(stack)["Resources"].values()} == {
            "AWS::EC2::SecurityGroup",
            "AWS::EC2::SecurityGroupIngress",
            "AWS::EC2::SecurityGroupEgress",
        }

    def test_makes_nothing_at_all_with_a_security_group_of_the_users(self, stack: cdk.Stack) -> None:
        made = hp.Network.from_attributes(
            stack,
            "Network",
            vpc_id="vpc-0123456789abcdef0",
            subnets=[self.subnet()],
            security_group_ids=["sg-0123456789abcdef0"],
        )
        assert "Resources" not in synthesized(stack)
        assert made.ids().security_groups == ("sg-0123456789abcdef0",)

    def test_a_subnet_outside_of_the_block_of_its_vpc_is_told_at_synth(self, stack: cdk.Stack) -> None:
        made = hp.Network.from_attributes(
            stack, "Network", vpc_id="vpc-0123456789abcdef0", subnets=[self.subnet()], vpc_cidr="10.2.0.0/16"
        )
        groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)]
        hp.Cluster(stack, "Cluster", name="train", network=made, groups=groups)
        synthesized(stack)
        stage = cdk.Stage.of(stack)
        assert stage is not None
        (found,) = rules.RULES["HP4041"].findings(template.read(stage.outdir))
        assert "subnet-0123456789abcdef0 10.1.0.0/20 does not lie in 10.2.0.0/16" in found.message

    def test_a_subnet_without_zone_id_has_no_known_zone(self, stack: cdk.Stack) -> None:
        made = hp.Network.from_attributes(
            stack,
            "Network",
            vpc_id="vpc-0123456789abcdef0",
            subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0")],
        )
        assert made.model.subnet(None).zone is None
        assert made.ids().subnets == ("subnet-0123456789abcdef0",)

    def test_names_the_zones_it_has_when_asked_for_another(self, stack: cdk.Stack) -> None:
        made = hp.Network.from_attributes(stack, "Network", vpc_id="vpc-0123456789abcdef0", subnets=[self.subnet()])
        with pytest.raises(hp.InvalidValue, match="no subnet in usw2-az4; it has usw2-az2"):
            made.ids("usw2-az4")


def _ids(template: dict[str, Any], resource_type: str) -> list[str]:
    return [name for name, each in template["Resources"].items() if each["Type"] == resource_type]


class TestFlowLogs:
    def test_are_written_by_a_role_within_the_boundary(self, stack: cdk.Stack) -> None:
        boundary = iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", "limits")
        hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], permissions_boundary=boundary)
        (role,) = of_type(synthesized(stack), "AWS::IAM::Role").values()
        assert role["PermissionsBoundary"] is not None


class TestArguments:
    def test_a_security_group_is_named_once(self, stack: cdk.Stack) -> None:
        with pytest.raises(hp.InvalidValue, match="name each group once"):
            hp.Network.from_attributes(
                stack,
                "Network",
                vpc_id="vpc-0123456789abcdef0",
                subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0")],
                security_group_ids=["sg-0123456789abcdef0", "sg-0123456789abcdef0"],
            )

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"zones": "usw2-az2"}, "zones is 'usw2-az2', a str; use a list of text"),
            ({"zones": []}, "give one or more different zone ids"),
            ({"zones": ["usw2-az2", "usw2-az2"]}, "different zone ids"),
            ({"egress": "NAT"}, "egress is 'NAT', a str; use 'nat' or 'closed'"),
            ({"endpoints": "ssm"}, "endpoints is 'ssm', a str; use a list of text"),
            ({"endpoints": ["com.amazonaws.us-west-2.ssm"]}, "use its short name"),
            ({"cidr": "10.0.0.0/8"}, "use /16 to /22"),
            ({"zones": ["usw2-phx2-az1"]}, "local zone"),
        ],
    )
    def test_of_the_wrong_form_are_named(self, stack: cdk.Stack, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            hp.ClusterNetwork(stack, "Network", **{"zones": ["usw2-az2"], **wrong})

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"subnet_id": "10.0.0.0/24"}, "use an id such as subnet-0123456789abcdef0"),
            ({"subnet_id": "vpc-0123456789abcdef0"}, "use an id such as subnet-0123456789abcdef0"),
            ({"zone": "us-west-2b"}, "a name such as us-west-2b goes to availability_zone"),
            ({"availability_zone": "usw2-az2"}, "an id such as usw2-az2 goes to zone"),
            ({"cidr": "10.1.0.0/29"}, "use an IPv4 block of /16 to /28"),
            ({"cidr": "10.1.0.0"}, "use an IPv4 block of /16 to /28"),
        ],
    )
    def test_of_an_imported_subnet_are_what_they_should_be(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            hp.ImportedSubnet(**{"subnet_id": "subnet-0123456789abcdef0", **wrong})

    def test_of_an_imported_subnet_may_be_tokens(self) -> None:
        token = cdk.Fn.import_value("anything")
        made = hp.ImportedSubnet(subnet_id=token, zone=token, cidr=token, availability_zone=token)
        assert made.zone == token

    @pytest.mark.parametrize(
        ("subnets", "message"),
        [
            ([{"subnet_id": "subnet-1"}, {"subnet_id": "subnet-1", "zone": "usw2-az2"}], "name subnet subnet-1 twice"),
            (
                [{"subnet_id": "subnet-1", "zone": "usw2-az2"}, {"subnet_id": "subnet-2", "zone": "usw2-az2"}],
                "name zone usw2-az2 twice; name each subnet once, and one subnet of each zone",
            ),
            (
                [{"subnet_id": "subnet-1", "availability_zone": "us-east-1a"}],
                "availability_zone of subnet-1 is 'us-east-1a', which is in us-east-1; use a zone name of us-west-2",
            ),
        ],
    )
    def test_of_imported_subnets_fit_each_other(self, stack: cdk.Stack, subnets: list[Any], message: str) -> None:
        given = [hp.ImportedSubnet(**each) for each in subnets]
        with pytest.raises(hp.InvalidValue, match=message):
            hp.Network.from_attributes(stack, "Network", vpc_id="vpc-0123456789abcdef0", subnets=given)
        assert stack.node.try_find_child("Network") is None

    def test_of_imported_subnets_that_are_not_known_are_not_compared(self, stack: cdk.Stack) -> None:
        token = cdk.Fn.import_value("anything")
        subnets = [hp.ImportedSubnet(subnet_id=token, zone=token, availability_zone=token) for _ in range(2)]
        subnets += [hp.ImportedSubnet(subnet_id="subnet-1"), hp.ImportedSubnet(subnet_id="subnet-2")]
        hp.Network.from_attributes(stack, "Network", vpc_id="vpc-0123456789abcdef0", subnets=subnets)
        anywhere = cdk.Stack(cdk.App(), "Anywhere")
        local = [hp.ImportedSubnet(subnet_id="subnet-1", availability_zone="us-east-1a")]
        assert hp.Network.from_attributes(anywhere, "Network", vpc_id="vpc-0123456789abcdef0", subnets=local).zones

    @pytest.mark.parametrize("wrong", [{"vpc_id": "subnet-1"}, {"security_group_ids": ["default"]}])
    def test_of_an_imported_network_are_ids(self, stack: cdk.Stack, wrong: dict[str, Any]) -> None:
        subnets = [hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0")]
        with pytest.raises(hp.InvalidValue, match=r"use an id such as (vpc|sg)-0123456789abcdef0"):
            hp.Network.from_attributes(
                stack, "Network", **{"vpc_id": "vpc-0123456789abcdef0", "subnets": subnets, **wrong}
            )

    def test_vpc_of_an_imported_network_asks_for_the_zone_names_it_needs(self, stack: cdk.Stack) -> None:
        subnet = hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2")
        made = hp.Network.from_attributes(stack, "Network", vpc_id="vpc-0123456789abcdef0", subnets=[subnet])
        with pytest.raises(hp.InvalidValue, match="availability_zone"):
            made.vpc  # noqa: B018  # made when it is asked for

    def test_vpc_is_the_network_for_other_constructs(self, stack: cdk.Stack) -> None:
        made = hp.ClusterNetwork(stack, "Network", zones=["usw2-az1", "usw2-az2"])
        assert made.vpc is not None
        assert [subnet.subnet_id for subnet in made.vpc.private_subnets] == [
            made.ids("usw2-az1").subnets[0],
            made.ids("usw2-az2").subnets[0],
        ]
