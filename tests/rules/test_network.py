"""What is said of VPCs and of the EKS control plane."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.storage import FileSystem, Lustre, Mount
from tests.rules import networks
from tests.rules.builders import compute, deployment, slurm_cluster, told
from tests.rules.networks import CLOSED, EKS, ENDPOINTS, KUBERNETES, LUSTRE, NETWORK, UNDECIDED, ref, resource
from tests.rules.places import subnet

OTHER_VPC: dict[str, Any] = {
    "Second": resource("VPC", CidrBlock="10.9.0.0/16", EnableDnsHostnames=True),
    "Abroad": resource("Subnet", VpcId=ref("Second"), CidrBlock="10.9.0.0/20", AvailabilityZoneId="usw2-az2"),
    "Strange": resource("SecurityGroup", GroupDescription="strange", VpcId=ref("Second")),
}


def test_a_sound_network_draws_nothing() -> None:
    everything = (KUBERNETES, ENDPOINTS, {"Scratch": LUSTRE})
    found = [each for changes in ((), (CLOSED, ENDPOINTS), everything) for each in networks.findings(*changes)]
    assert [each for each in found if each.rule.startswith("HP4")] == []


class TestCompanionsShareAVpc:
    def of(self, **changes: Any) -> list[str]:
        return networks.of("HP4022", OTHER_VPC, changes)

    def test_subnets_and_security_groups_of_nodes(self) -> None:
        place = {"Subnets": [ref("Nodes")], "SecurityGroupIds": [ref("Strange")]}
        assert self.of(Cluster={"VpcConfig": place}) == [
            (
                "Cluster: the cluster brings two VPCs together: subnet Nodes is in Vpc, security group Strange in "
                "Second | use subnets and security groups of one VPC"
            )
        ]

    @pytest.mark.parametrize("group", [ref("Strange"), UNDECIDED])
    def test_a_group_that_is_associated_with_a_second_vpc_serves_both(self, group: object) -> None:
        shared = resource("SecurityGroupVpcAssociation", GroupId=group, VpcId=ref("Vpc"))
        place = {"Subnets": [ref("Nodes")], "SecurityGroupIds": [ref("Strange")]}
        assert self.of(Cluster={"VpcConfig": place}, Shared=shared) == []

    def test_subnets_of_nodes(self) -> None:
        place = {"Subnets": [ref("Nodes"), ref("Abroad")], "SecurityGroupIds": [ref("Fabric")]}
        (found,) = self.of(Cluster={"VpcConfig": place})
        assert "subnet Nodes is in Vpc, subnet Abroad in Second" in found

    def test_subnet_and_security_group_of_a_file_system(self) -> None:
        scratch = {**LUSTRE, "Properties": {**LUSTRE["Properties"], "SubnetIds": [ref("Abroad")]}}
        (found,) = self.of(Scratch=scratch)
        assert found.startswith("Scratch: the file system brings two VPCs together: subnet Abroad is in Second")

    @pytest.mark.parametrize("part", [{"SubnetIds": [ref("Abroad")]}, {"SecurityGroupIds": [ref("Strange")]}])
    def test_parts_of_an_endpoint(self, part: dict[str, Any]) -> None:
        (found,) = self.of(Ssm=networks.endpoint("ssm", **part))
        assert found.startswith("Ssm: the endpoint brings two VPCs together: it is in Vpc, s")

    def test_route_table_of_a_gateway_endpoint(self) -> None:
        gateway = resource(
            "VPCEndpoint", VpcId=ref("Second"), ServiceName="com.amazonaws.us-west-2.s3", RouteTableIds=[ref("Table")]
        )
        (found,) = self.of(S3=gateway)
        assert "it is in Second, route table Table in Vpc" in found

    def test_subnet_and_route_table(self) -> None:
        (found,) = self.of(Association={"SubnetId": ref("Abroad")})
        assert "route table Table is in Vpc, subnet Abroad in Second | use parts of one VPC" in found

    def test_the_vpc_of_an_attribute_and_an_imported_one(self) -> None:
        abroad = {"VpcId": {"Fn::GetAtt": ["Vpc", "VpcId"]}}
        place = {"Subnets": [ref("Abroad")], "SecurityGroupIds": [ref("Fabric")]}
        assert self.of(Abroad=abroad, Cluster={"VpcConfig": place}) == []
        imported = self.of(Abroad={"VpcId": "vpc-0123456789abcdef0"}, Cluster={"VpcConfig": place})
        assert "subnet Abroad is in vpc-0123456789abcdef0, security group Fabric in Vpc" in imported[0]

    @pytest.mark.parametrize("vpc", [ref("Vpc"), UNDECIDED, {"Fn::GetAtt": ["Strange", "VpcId"]}])
    def test_is_silent_where_it_is_or_may_be_one(self, vpc: object) -> None:
        place = {"Subnets": [ref("Abroad")], "SecurityGroupIds": [ref("Fabric")]}
        assert self.of(Abroad={"VpcId": vpc}, Cluster={"VpcConfig": place}) == []

    def test_nodes_of_an_eks_cluster_stand_in_its_vpc(self) -> None:
        groups = [{"Fn::GetAtt": ["Eks", "ClusterSecurityGroupId"]}]
        place = {"Subnets": [ref("Abroad")], "SecurityGroupIds": groups}
        assert networks.of("HP4022", KUBERNETES, OTHER_VPC, {"Cluster": {"VpcConfig": place}}) == [
            "Cluster: the cluster stands in Second but EKS cluster Eks in Vpc | use subnets of Vpc"
        ]


class TestNodesShareAVpc:
    def of(self, **changes: Any) -> list[str]:
        return networks.of("HP4023", OTHER_VPC, changes)

    def test_a_group_of_its_own_elsewhere(self) -> None:
        place = {"Subnets": [ref("Abroad")], "SecurityGroupIds": [ref("Strange")]}
        controller, p5 = NETWORK["Cluster"]["Properties"]["InstanceGroups"]
        groups = [controller, {**p5, "OverrideVpcConfig": place}]
        assert self.of(Cluster={"InstanceGroups": groups}) == [
            "Cluster/p5: group 'p5' stands in Second but the cluster in Vpc | use subnets of one VPC"
        ]

    @pytest.mark.parametrize(("subnet", "findings"), [("Abroad", 1), ("Nodes", 0)])
    def test_a_file_system_that_they_mount(self, subnet: str, findings: int) -> None:
        mount = {"DnsName": {"Fn::GetAtt": ["Scratch", "DNSName"]}, "MountName": "abcdefgh"}
        _, p5 = NETWORK["Cluster"]["Properties"]["InstanceGroups"]
        groups = [{**p5, "InstanceStorageConfigs": [{"FsxLustreConfig": mount}]}]
        scratch = {**LUSTRE, "Properties": {**LUSTRE["Properties"], "SubnetIds": [ref(subnet)]}}
        found = self.of(Cluster={"InstanceGroups": groups}, Scratch=scratch)
        assert [each.partition(" but ")[2] for each in found] == [
            "file system Scratch in Second | use subnets of one VPC"
        ] * findings

    def test_leaves_a_file_system_with_efa_to_the_rule_about_efa(self) -> None:
        far = (subnet("Net/Nodes", vpc="vpc-0123456789abcdef0"), subnet("Data", vpc="vpc-0123456789abcdef1"))
        mounts = (Mount(kind="lustre", file_system="Scratch"),)
        for efa, findings in ((True, 0), (False, 1)):
            scratch = FileSystem(path="Scratch", lustre=Lustre(efa=efa), subnets=("Data",))
            judged = deployment(slurm_cluster(compute(mounts=mounts)), subnets=far, file_systems=(scratch,))
            assert len(told("HP4023", judged)) == findings


class TestNodesStandInTheVpcOfAClusterThatExists:
    ARN = "arn:aws:eks:us-west-2:111122223333:cluster/shared"

    def of(self, arn: object = ARN, eks: dict[str, Any] | None = None, **changes: Any) -> list[str]:
        cluster = {"Cluster": {"Orchestrator": {"Eks": {"ClusterArn": arn}}, "DependsOn": []}}
        return networks.of("HP4042", KUBERNETES, {"Eks": eks}, cluster, changes)

    def test_a_new_vpc_is_hardly_its_own(self) -> None:
        assert self.of() == [
            (
                "Cluster: the cluster stands in Vpc, which is made now, and EKS cluster shared exists | "
                "use subnets of that EKS cluster's VPC (hp.Network.from_attributes(...))"
            )
        ]

    @pytest.mark.parametrize("vpc", ["vpc-0123456789abcdef0", UNDECIDED])
    def test_is_silent_on_a_vpc_that_exists_and_on_one_that_may(self, vpc: object) -> None:
        assert self.of(Nodes={"VpcId": vpc}) == []

    @pytest.mark.parametrize("arn", [UNDECIDED, {"Fn::Sub": "arn:aws:eks:${AWS::Region}:1:cluster/${Given}"}])
    def test_is_silent_where_the_eks_cluster_is_not_known(self, arn: object) -> None:
        assert self.of(arn) == []

    @pytest.mark.parametrize("name", ["shared", UNDECIDED])
    def test_is_silent_where_it_is_or_may_be_one_of_the_template(self, name: object) -> None:
        assert self.of(eks={"Name": name}) == []


class TestVpcsHaveNames:
    def test_host_names_are_off_unless_told_otherwise(self) -> None:
        assert networks.of("HP4027", {"Vpc": {"EnableDnsHostnames": None}}) == [
            "Vpc: EnableDnsHostnames is false or left out | set EnableDnsHostnames to true"
        ]

    def test_names_both(self) -> None:
        off = {"EnableDnsHostnames": False, "EnableDnsSupport": "false"}
        (found,) = networks.of("HP4027", {"Vpc": off})
        assert found.startswith("Vpc: EnableDnsSupport and EnableDnsHostnames are false or left out |")

    @pytest.mark.parametrize("value", [True, UNDECIDED])
    def test_is_silent_where_they_are_or_may_be_on(self, value: object) -> None:
        assert networks.of("HP4027", {"Vpc": {"EnableDnsHostnames": value, "EnableDnsSupport": value}}) == []

    def test_is_silent_on_a_vpc_without_nodes(self) -> None:
        assert networks.of("HP4027", {"Second": resource("VPC", CidrBlock="10.9.0.0/16")}) == []


class TestPrivateNamesCanBeHad:
    def of(self, **vpc: object) -> list[str]:
        return networks.of("HP4028", {"Ssm": networks.endpoint("ssm"), "Vpc": vpc})

    def test_need_both(self) -> None:
        assert self.of(EnableDnsHostnames=False) == [
            "Vpc: EnableDnsHostnames is false, but Ssm asks for private names | set EnableDnsHostnames to true"
        ]
        assert networks.of("HP4027", {"Ssm": networks.endpoint("ssm"), "Vpc": {"EnableDnsHostnames": False}}) == []

    @pytest.mark.parametrize("value", [True, UNDECIDED])
    def test_is_silent_where_they_can_be_had(self, value: object) -> None:
        assert self.of(EnableDnsHostnames=value) == []

    def test_is_silent_where_something_may_change_the_vpc_which_is_then_a_warning(self) -> None:
        helper = {"Helper": {"Type": "Custom::Names", "Properties": {"Vpc": ref("Vpc")}}}
        off = {"Ssm": networks.endpoint("ssm"), "Vpc": {"EnableDnsHostnames": False}}
        assert networks.of("HP4028", off, helper) == []
        assert len(networks.of("HP4027", off, helper)) == 1

    @pytest.mark.parametrize("value", [False, UNDECIDED])
    def test_is_silent_on_an_endpoint_that_asks_for_none(self, value: object) -> None:
        quiet = networks.endpoint("ssm", PrivateDnsEnabled=value)
        assert networks.of("HP4028", {"Ssm": quiet, "Vpc": {"EnableDnsHostnames": False}}) == []


class TestControlPlanesCanBePlaced:
    def of(self, **changes: Any) -> list[str]:
        return networks.of("HP4024", KUBERNETES, changes)

    def test_not_in_a_local_zone(self) -> None:
        assert self.of(ControlA={"AvailabilityZoneId": "usw2-phx2-az1"}) == [
            (
                "Eks: subnet ControlA of the control plane is in local zone usw2-phx2-az1 | give the control plane "
                "subnets in at least two zones of the Region, and the local zone to nodes alone, in their own VpcConfig"
            )
        ]

    def test_nor_in_one_that_is_named(self) -> None:
        assert len(self.of(ControlA={"AvailabilityZoneId": None, "AvailabilityZone": "us-west-2-phx-2a"})) == 1

    def test_not_in_one_zone(self) -> None:
        assert self.of(ControlA={"AvailabilityZoneId": "usw2-az2"}) == [
            (
                "Eks: every subnet of the control plane is in usw2-az2 | give the control plane subnets in at least "
                "two zones"
            )
        ]

    def test_nor_in_one_that_is_named_twice(self) -> None:
        zone = {"AvailabilityZoneId": None, "AvailabilityZone": {"Fn::Select": [0, {"Fn::GetAZs": ""}]}}
        assert "is in zone 1 of Fn::GetAZs" in self.of(ControlA=zone, ControlB=zone)[0]

    def test_not_in_one_subnet(self) -> None:
        (found,) = self.of(Eks={"ResourcesVpcConfig": {"SubnetIds": [ref("ControlA")]}})
        assert found.startswith("Eks: the control plane has one subnet |")

    @pytest.mark.parametrize(
        "subnets", [[ref("ControlA"), "subnet-0123456789abcdef0"], [UNDECIDED], UNDECIDED, [ref("ControlA"), UNDECIDED]]
    )
    def test_is_silent_on_imported_and_unknown_subnets(self, subnets: object) -> None:
        assert self.of(Eks={"ResourcesVpcConfig": {"SubnetIds": subnets}}) == []

    @pytest.mark.parametrize("zone", [UNDECIDED, "usw2-az1"])
    def test_is_silent_on_two_zones_and_unknown_ones(self, zone: object) -> None:
        assert self.of(ControlA={"AvailabilityZoneId": zone}) == []


class TestControlPlanesHaveRoom:
    def of(self, cidr: object) -> list[str]:
        both = {"ResourcesVpcConfig": {"SubnetIds": [ref("ControlA"), ref("Nodes")]}}
        return networks.of("HP4025", KUBERNETES, {"Eks": both, "Nodes": {"CidrBlock": cidr}})

    def test_a_small_subnet_is_not_shared(self) -> None:
        assert self.of("10.0.64.0/25") == [
            (
                "Eks: control plane and nodes share subnet Nodes 10.0.64.0/25, which has 123 addresses | give the "
                "control plane subnets of its own, a /28 or wider in each of two zones"
            )
        ]

    @pytest.mark.parametrize("cidr", ["10.0.64.0/24", UNDECIDED])
    def test_is_silent_on_wide_and_unknown_ones(self, cidr: object) -> None:
        assert self.of(cidr) == []


class TestNodesReachTheControlPlane:
    def of(self, **changes: Any) -> list[str]:
        place = {"Subnets": [ref("Nodes")], "SecurityGroupIds": [ref("Fabric")]}
        return networks.of("HP4026", KUBERNETES, {"Cluster": {"VpcConfig": place}}, changes)

    def test_a_group_that_nobody_connects(self) -> None:
        assert self.of() == [
            (
                "Cluster: security groups of the cluster and of EKS cluster Eks do not let nodes call tcp 443 of "
                "the control plane or the control plane call tcp 10250 of nodes | add the EKS cluster's "
                "ClusterSecurityGroupId to SecurityGroupIds, or rules for both ways that name the groups"
            )
        ]

    def test_names_the_way_that_is_closed(self) -> None:
        calls = resource(
            "SecurityGroupIngress",
            GroupId={"Fn::GetAtt": ["Eks", "ClusterSecurityGroupId"]},
            SourceSecurityGroupId=ref("Fabric"),
            IpProtocol="tcp",
            FromPort=443,
            ToPort=443,
        )
        (found,) = self.of(Calls=calls)
        assert "do not let the control plane call tcp 10250 of nodes |" in found

    def test_one_group_for_both_is_enough(self) -> None:
        groups = {"SubnetIds": [ref("ControlA"), ref("ControlB")], "SecurityGroupIds": [ref("Fabric")]}
        assert self.of(Eks={"ResourcesVpcConfig": groups}) == []

    @pytest.mark.parametrize("groups", [["sg-0123456789abcdef0"], [UNDECIDED], UNDECIDED])
    def test_is_silent_on_groups_that_are_not_known(self, groups: object) -> None:
        subnets = EKS["Properties"]["ResourcesVpcConfig"]["SubnetIds"]
        assert self.of(Eks={"ResourcesVpcConfig": {"SubnetIds": subnets, "SecurityGroupIds": groups}}) == []

    def test_is_silent_where_something_else_may_connect_them(self) -> None:
        group = {"Fn::GetAtt": ["Eks", "ClusterSecurityGroupId"]}
        assert self.of(Helper={"Type": "Custom::Rules", "Properties": {"Group": group}}) == []
