"""What each check of preflight does not say: the nearest account that is right, and an update of what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from tests.account.fake_account import ACCOUNT, REGION, FakeAccount
from tests.account.planted import NOW, P5, SMALL, ZONE
from tests.account.small import GROUP, GUARD, SUBNET, TABLE, TRAIN, VPC, Properties, Small, refuse


@pytest.fixture(scope="module")
def account() -> Iterator[FakeAccount]:
    with FakeAccount() as account:
        yield account


@pytest.fixture
def small(account: FakeAccount, tmp_path: Path) -> Small:
    account.answers.clear()
    account.denied.clear()
    return Small(account, tmp_path / "cdk.out")


class TestQuotas:
    @pytest.fixture(autouse=True)
    def _quotas(self, small: Small) -> None:
        self.values = {
            f"{P5} for cluster usage": 4.0,
            "Maximum number instances allowed per SageMaker HyperPod cluster": 20.0,
            "Total number of instances allowed across SageMaker HyperPod clusters": 30.0,
            f"{P5} for cluster spot instance usage": 4.0,
            "Total number of Spot instances allowed across SageMaker HyperPod clusters": 4.0,
            "Network interfaces per Region": 128.0,
        }
        self.adjustable = True
        small.has(
            ListServiceQuotas={"Quotas": []},
            ListAWSDefaultServiceQuotas=lambda _: {
                "Quotas": [
                    {"QuotaName": name, "QuotaCode": "L-1", "Value": value, "Adjustable": self.adjustable}
                    for name, value in self.values.items()
                ]
            },
            DescribeNetworkInterfaces={"NetworkInterfaces": []},
        )

    def test_that_are_just_enough_are_enough(self, small: Small) -> None:
        assert small.said("quotas") == []

    def test_count_what_other_clusters_have_or_ask_for(self, small: Small) -> None:
        small.runs("other", 1, TargetCount=2)
        (said,) = small.said("quotas")
        assert f"quota '{P5} for cluster usage' is 4 in us-west-2, but 4 are needed and 2 are in use already" in said
        assert said.endswith("--quota-code L-1 --desired-value 6")

    def test_do_not_count_the_cluster_that_is_updated(self, small: Small) -> None:
        small.runs("train", 4)
        assert small.said("quotas") == []

    def test_do_not_count_a_cluster_without_a_name_that_its_stack_has_made(self, small: Small) -> None:
        del small.cluster["ClusterName"]
        small.runs("abc123", 4)
        assert f"'{P5} for cluster usage' is 4" in "".join(small.said("quotas"))
        arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abc123"
        small.has(ListStackResources=_made("Train", arn))
        assert small.said("quotas") == []
        small.subnet["AvailableIpAddressCount"] = 0
        assert small.said("free addresses") == []

    def test_say_which_clusters_they_count_that_failed(self, small: Small) -> None:
        small.runs("old", 2)
        small.runs("other", 1)
        small.live[0]["ClusterStatus"] = "Failed"
        (said,) = small.said("quotas")
        assert "4 are needed and 3 are in use already, with what clusters asked for that failed (old 2): delete" in said

    def test_do_not_count_interfaces_of_the_cluster_that_is_updated(self, small: Small) -> None:
        small.runs("train", 4)
        interfaces = [{"NetworkInterfaceId": f"eni-{number}"} for number in range(128)]
        small.has(DescribeNetworkInterfaces={"NetworkInterfaces": interfaces})
        assert small.said("quotas") == []
        interfaces.append({"NetworkInterfaceId": "eni-of-another"})
        assert len(small.said("quotas")) == 1

    def test_count_groups_of_several_types_by_what_is_there(self, small: Small) -> None:
        details = [{"InstanceType": P5, "CurrentCount": 1}, {"InstanceType": "ml.p5en.48xlarge", "CurrentCount": 2}]
        small.live.append(
            {
                "ClusterName": "other",
                "ClusterArn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/other",
                "ClusterStatus": "InService",
                "InstanceGroups": [
                    {"InstanceGroupName": "any", "CurrentCount": 3, "TargetCount": 5, "InstanceTypeDetails": details}
                ],
            }
        )
        (said,) = small.said("quotas")
        assert "4 are needed and 1 is in use" in said
        self.values["Total number of instances allowed across SageMaker HyperPod clusters"] = 8
        assert "4 are needed and 5 are in use" in "".join(small.said("quotas"))

    def test_of_spot_instances_are_others(self, small: Small) -> None:
        small.group["CapacityRequirements"] = {"Spot": {}}
        small.runs("other", 4)
        assert small.said("quotas") == []
        small.runs("third", 1, CapacityRequirements={"Spot": {}})
        assert [said.split("'")[1] for said in small.said("quotas")] == [
            "Total number of Spot instances allowed across SageMaker HyperPod clusters",
            f"{P5} for cluster spot instance usage",
        ]

    def test_that_cannot_be_raised_say_how_many_there_may_be(self, small: Small) -> None:
        self.adjustable = False
        small.runs("other", 1)
        (said,) = small.said("quotas")
        assert said.endswith("| use at most 3: this quota cannot be raised")

    def test_of_a_network_that_is_there_already_are_not_drawn_on_again(self, small: Small) -> None:
        small.resources["Address"] = {"Type": "AWS::EC2::EIP"}
        self.values["EC2-VPC Elastic IPs"] = 5
        small.has(DescribeAddresses={"Addresses": [{"PublicIp": "192.0.2.1"}] * 5})
        assert "1 is needed and 5 are in use" in "".join(small.said("quotas of the network"))
        small.has(ListStackResources=_made("Address"))
        assert small.said("quotas of the network") == []


def _made(logical_id: str, physical_id: str = "x") -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    summary = {
        "LogicalResourceId": logical_id,
        "PhysicalResourceId": physical_id,
        "ResourceType": "AWS::EC2::EIP",
        "LastUpdatedTimestamp": NOW,
        "ResourceStatus": "CREATE_COMPLETE",
    }
    return lambda _: {"StackResourceSummaries": [summary]}


class TestZones:
    def test_of_a_plan_say_more_than_offers(self, small: Small) -> None:
        small.has(DescribeInstanceTypeOfferings={"InstanceTypeOfferings": [{"Location": "usw2-az1"}]})
        assert len(small.said("instance types")) == 1
        arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/frontier"
        small.group["TrainingPlanArn"] = arn
        plan = {"name": "frontier", "count": 4, "zone": ZONE, "starts": "2026-11-01", "ends": "2026-12-01"}
        small.resources["Train"]["Metadata"] = {"hyperpod:intent": {"groups": {"p5": {"plan": plan}}}}
        assert small.said("instance types") == []

    def test_that_have_none_of_a_type_name_the_region(self, small: Small) -> None:
        small.has(DescribeInstanceTypeOfferings={"InstanceTypeOfferings": []})
        (said,) = small.said("instance types")
        assert said.startswith(f"HP9020 {TRAIN}/p5: EC2 does not offer {P5} in us-west-2 to this account")

    def test_that_do_not_exist_name_those_that_do(self, small: Small) -> None:
        subnet = {"VpcId": VPC, "CidrBlock": "10.1.1.0/24", "AvailabilityZoneId": "usw2-az7"}
        small.resources["Nodes"] = {"Type": "AWS::EC2::Subnet", "Properties": subnet}
        zones = [{"ZoneId": ZONE, "ZoneName": "us-west-2a", "OptInStatus": "opt-in-not-required"}]
        small.has(DescribeAvailabilityZones={"AvailabilityZones": zones})
        (said,) = small.said("zones")
        assert said.startswith("HP9021 Train/Nodes: zone usw2-az7 does not exist in us-west-2")
        assert said.endswith("| use one of usw2-az2")


class TestPlans:
    @pytest.fixture(autouse=True)
    def _plan(self, small: Small) -> None:
        self.plan = small.on_plan()

    def test_that_hold_just_enough_are_enough(self, small: Small) -> None:
        assert small.said("training plans") == []

    def test_that_this_cluster_uses_already_are_not_taken(self, small: Small) -> None:
        self.plan.update({"AvailableInstanceCount": 0, "InUseInstanceCount": 4})
        small.runs("train", 4)
        assert small.said("training plans") == []

    def test_are_counted_over_all_groups_on_them(self, small: Small) -> None:
        more = {**small.group, "InstanceGroupName": "more", "InstanceCount": 1}
        small.cluster["InstanceGroups"].append(more)
        (said,) = small.said("training plans")
        assert said.startswith(f"HP9035 {TRAIN}: p5, more: 5 instances on training plan 'frontier-of-the-lab', which")

    @pytest.mark.parametrize(("region", "owner"), [("us-east-1", ACCOUNT), (REGION, "999988887777")])
    def test_of_another_place_are_not_those_of_the_same_name_here(self, small: Small, region: str, owner: str) -> None:
        arn = f"arn:aws:sagemaker:{region}:{owner}:training-plan/frontier-of-the-lab"
        small.group["TrainingPlanArn"] = arn
        (said,) = small.said("training plans")
        assert said.startswith(
            f"HP9030 {TRAIN}/p5: training plan {arn} belongs to account {owner}, {region}; the deployment goes to "
            f"account {ACCOUNT}, {REGION} |"
        )

    def test_without_a_total_hold_what_their_only_block_holds(self, small: Small) -> None:
        del self.plan["TotalInstanceCount"]
        assert small.said("training plans") == []
        (block,) = self.plan["ReservedCapacitySummaries"]
        block["TotalInstanceCount"] = 1
        (said,) = small.said("training plans")
        assert said.startswith(f"HP9035 {TRAIN}/p5: p5: 4 instances on training plan")
        self.plan["ReservedCapacitySummaries"] = [block, block]
        (said,) = small.said("training plans")
        assert said.startswith(f"HP9003 {TRAIN}/p5: AWS does not say how many instances training plan")

    def test_in_a_state_that_nobody_knows_are_said(self, small: Small) -> None:
        self.plan["Status"] = "Paused"
        (said,) = small.said("training plans")
        assert said.startswith(f"HP9003 {TRAIN}/p5: training plan 'frontier-of-the-lab' is 'Paused'")

    def test_of_which_every_block_has_ended_have_ended(self, small: Small) -> None:
        block = self.plan["ReservedCapacitySummaries"][0]
        self.plan["ReservedCapacitySummaries"] = [{**block, "Status": "Expired"}, block]
        assert small.said("training plans") == []
        block["Status"] = "Expired"
        (said,) = small.said("training plans")
        assert said.startswith(f"HP9031 {TRAIN}/p5: ")
        assert "(Active) has nothing left: each part is Expired |" in said

    def test_whose_instances_are_out_of_order_have_none_to_give(self, small: Small) -> None:
        self.plan.update({"AvailableInstanceCount": 3, "UnhealthyInstanceCount": 1})
        (said,) = small.said("training plans")
        assert said.startswith(f"HP9036 {TRAIN}/p5: ")
        assert "has 3 of 4 instances left (1 are out of order), 4 are needed" in said

    def test_that_ended_are_said_once_whatever_else_is_wrong(self, small: Small) -> None:
        self.plan.update({"Status": "Expired", "TotalInstanceCount": 1, "TargetResources": ["endpoint"]})
        (said,) = small.said("training plans")
        assert said.startswith(f"HP9031 {TRAIN}/p5: ")


class TestSubnets:
    def test_with_just_enough_addresses_are_enough(self, small: Small) -> None:
        small.subnet["AvailableIpAddressCount"] = 4 * 32
        assert small.said("free addresses") == []
        small.subnet["AvailableIpAddressCount"] -= 1
        (said,) = small.said("free addresses")
        assert said.startswith(
            f"HP9051 {TRAIN}/p5: {SUBNET} (10.1.0.0/24) has 127 free addresses, the nodes take 128 more (p5 128)"
        )

    def test_need_room_only_for_nodes_that_are_added(self, small: Small) -> None:
        small.subnet["AvailableIpAddressCount"] = 32
        small.runs("train", 3)
        assert small.said("free addresses") == []

    def test_of_a_list_count_by_the_one_with_most_room(self, small: Small) -> None:
        small.cluster["VpcConfig"]["Subnets"] = [SUBNET, "subnet-0b"]
        wide = {**small.subnet, "SubnetId": "subnet-0b", "AvailableIpAddressCount": 128}
        small.has(DescribeSubnets={"Subnets": [{**small.subnet, "AvailableIpAddressCount": 3}, wide]})
        assert small.said("free addresses") == []

    def test_that_the_deployment_makes_are_not_asked_for(self, small: Small) -> None:
        subnet = {"VpcId": VPC, "CidrBlock": "10.1.1.0/28"}
        small.resources["Nodes"] = {"Type": "AWS::EC2::Subnet", "Properties": subnet}
        small.cluster["VpcConfig"]["Subnets"] = [{"Ref": "Nodes"}]
        small.account.called.clear()
        assert small.said("free addresses") == small.said("subnets") == []
        assert "DescribeSubnets" not in small.account.called


class TestWaysOut:
    def routes(self, small: Small, *routes: Properties) -> None:
        table = {"RouteTableId": TABLE, "VpcId": VPC, "Associations": [{"SubnetId": SUBNET}], "Routes": list(routes)}
        small.has(DescribeRouteTables={"RouteTables": [table]})

    def test_that_are_gone_lead_nowhere(self, small: Small) -> None:
        gone = {"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-1", "State": "blackhole"}
        self.routes(small, gone)
        (said,) = small.said("routes and endpoints")
        assert said.startswith(f"HP9060 {TRAIN}/p5: {SUBNET}: 0.0.0.0/0 of {TABLE} leads to nat-1, which is gone")

    def test_that_are_narrow_may_lead_to_s3(self, small: Small) -> None:
        self.routes(small, {"DestinationPrefixListId": "pl-1", "TransitGatewayId": "tgw-1"})
        (said,) = small.said("routes and endpoints")
        assert said.startswith("HP9062")
        assert "has no endpoint for ec2, ec2messages, logs, monitoring, s3, ssm, ssmmessages, sts" in said

    def test_through_an_internet_gateway_serve_public_addresses_only(self, small: Small) -> None:
        self.routes(small, {"DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "igw-1"})
        (said,) = small.said("routes and endpoints")
        assert "leads to igw-1, which serves public addresses only, and there is no endpoint for S3" in said

    def test_to_s3_may_be_an_endpoint_that_the_deployment_adds(self, small: Small) -> None:
        self.routes(small, {"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-1"})
        assert [said[:6] for said in small.said("routes and endpoints")] == ["HP9061"]
        service = f"com.amazonaws.{REGION}.s3"
        endpoint = {"VpcId": VPC, "ServiceName": service, "RouteTableIds": [TABLE]}
        small.resources["S3"] = {"Type": "AWS::EC2::VPCEndpoint", "Properties": endpoint}
        assert small.said("routes and endpoints") == []

    def test_to_all_services_may_be_endpoints(self, small: Small) -> None:
        self.routes(small)
        services = ("s3", "ec2", "ec2messages", "logs", "monitoring", "ssm", "ssmmessages", "sts")
        endpoints = [
            {
                "VpcEndpointId": f"vpce-{service}",
                "VpcId": VPC,
                "ServiceName": f"com.amazonaws.{REGION}.{service}",
                "VpcEndpointType": "Interface",
                "PrivateDnsEnabled": True,
                "State": "available",
            }
            for service in services
        ]
        small.has(DescribeVpcEndpoints={"VpcEndpoints": endpoints})
        assert small.said("routes and endpoints") == []
        endpoints[-1]["PrivateDnsEnabled"] = False
        (said,) = small.said("routes and endpoints")
        assert said.startswith("HP9062")
        assert "has no endpoint for sts" in said

    def test_that_aws_does_not_show_are_said(self, small: Small) -> None:
        small.has(DescribeRouteTables={"RouteTables": []})
        (said,) = small.said("routes and endpoints")
        assert said.startswith(f"HP9003 {TRAIN}/p5: AWS shows no route table of {SUBNET}")

    def test_of_a_subnet_without_a_table_are_those_of_the_main_one(self, small: Small) -> None:
        main = {"RouteTableId": "rtb-main", "VpcId": VPC, "Associations": [{"Main": True}], "Routes": []}
        small.has(DescribeRouteTables={"RouteTables": [main]})
        (said,) = small.said("routes and endpoints")
        assert "rtb-main has no route for 0.0.0.0/0" in said


class TestNameServers:
    @pytest.mark.parametrize("servers", [["AmazonProvidedDNS"], ["169.254.169.253"], ["10.0.0.9", "AmazonProvidedDNS"]])
    def test_of_amazon_know_its_names(self, small: Small, servers: list[str]) -> None:
        configured = [{"Key": "domain-name-servers", "Values": [{"Value": server} for server in servers]}]
        options = {"DhcpOptionsId": "dopt-1", "DhcpConfigurations": configured}
        small.has(DescribeDhcpOptions={"DhcpOptions": [options]})
        assert small.said("name servers") == []

    @pytest.mark.parametrize(
        ("domain", "kind", "found"),
        [
            ("corp.example.", "FORWARD", False),
            ("amazonaws.com.", "SYSTEM", False),
            ("notamazonaws.com.", "FORWARD", False),
            ("fsx.us-west-2.amazonaws.com.", "FORWARD", True),
            (".", "FORWARD", True),
        ],
    )
    def test_elsewhere_may_know_other_names(self, small: Small, domain: str, kind: str, *, found: bool) -> None:
        small.has(
            ListResolverRuleAssociations={"ResolverRuleAssociations": [{"ResolverRuleId": "r"}]},
            ListResolverRules={"ResolverRules": [{"Id": "r", "DomainName": domain, "RuleType": kind}]},
        )
        assert bool(small.said("resolver rules")) is found


class TestSecurityGroups:
    def test_that_let_only_a_block_in_do_not_let_efa_in(self, small: Small) -> None:
        small.rules[:] = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
        (said,) = small.said("security groups")
        assert "does not let all traffic in from itself nor let all traffic out to itself" in said
        assert f"aws ec2 authorize-security-group-egress --region us-west-2 --group-id {GROUP} --ip-perm" in said

    def test_without_efa_need_no_rule(self, small: Small) -> None:
        small.rules[:] = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
        small.group["InstanceType"] = SMALL
        assert small.said("security groups") == []

    def test_that_let_nothing_out_cut_nodes_off(self, small: Small) -> None:
        small.rules.clear()
        small.group["InstanceType"] = SMALL
        (said,) = small.said("security groups")
        assert said.startswith(f"HP9073 {TRAIN}/p5: {GROUP}: no rule lets anything out | add one: aws ec2 authorize")
        small.group["InstanceType"] = P5
        assert [said[:6] for said in small.said("security groups")] == ["HP9071"]
        small.group["InstanceType"] = SMALL
        rule = {"GroupId": GROUP, "IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}
        small.resources["Out"] = {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": rule}
        assert small.said("security groups") == []

    def test_may_get_the_rules_from_the_deployment(self, small: Small) -> None:
        small.rules.clear()
        for direction, peer in (("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")):
            rule = {"GroupId": GROUP, "IpProtocol": "-1", peer: GROUP}
            small.resources[direction] = {"Type": f"AWS::EC2::SecurityGroup{direction}", "Properties": rule}
        assert small.said("security groups") == []

    @pytest.mark.parametrize("other", [{"Ref": "Guard"}, {"Fn::GetAtt": ["Nodes", "GroupId"]}])
    def test_may_let_something_out_beside_those_that_let_nothing_out(self, small: Small, other: Properties) -> None:
        small.rules.clear()
        small.group["InstanceType"] = SMALL
        small.template["Parameters"] = {"Guard": {"Type": "String"}}
        small.resources["Nodes"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"VpcId": VPC}}
        small.cluster["VpcConfig"]["SecurityGroupIds"].append(other)
        assert small.said("security groups") == []


class TestFileSystems:
    @pytest.fixture(autouse=True)
    def _file_system(self, small: Small) -> None:
        self.system: Properties = {
            "FileSystemId": "fs-0123456789abcdef0",
            "FileSystemType": "LUSTRE",
            "Lifecycle": "AVAILABLE",
            "VpcId": VPC,
            "SubnetIds": [SUBNET],
            "NetworkInterfaceIds": ["eni-0123456789abcdef0"],
            "LustreConfiguration": {"MountName": "fsxname"},
        }
        name = f"fs-0123456789abcdef0.fsx.{REGION}.amazonaws.com"
        small.group["InstanceStorageConfigs"] = [{"FsxLustreConfig": {"DnsName": name, "MountName": "fsxname"}}]
        self.guard: list[Properties] = []
        group = {"GroupId": GUARD, "VpcId": VPC, "OwnerId": ACCOUNT}
        small.has(
            DescribeFileSystems=lambda _: {"FileSystems": [self.system]},
            DescribeNetworkInterfaces={"NetworkInterfaces": [{"Groups": [{"GroupId": GUARD}]}]},
            DescribeSecurityGroups=lambda _: {"SecurityGroups": [{**group, "IpPermissions": self.guard}]},
        )

    @pytest.mark.parametrize(
        "peers",
        [
            {"UserIdGroupPairs": [{"GroupId": GROUP}]},
            {"IpRanges": [{"CidrIp": "10.0.0.0/8"}]},
            {"IpRanges": [{"CidrIp": "10.1.0.0/24"}]},
            {"PrefixListIds": [{"PrefixListId": "pl-1"}]},
        ],
    )
    def test_let_nodes_in_by_group_block_or_list(self, small: Small, peers: Properties) -> None:
        self.guard.append({"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023, **peers})
        assert small.said("file systems") == []

    @pytest.mark.parametrize(
        ("rule", "ports"),
        [
            ({"IpRanges": [{"CidrIp": "10.1.0.0/25"}]}, "988 and 1018-1023"),
            ({"Ipv6Ranges": [{"CidrIpv6": "::/0"}]}, "988 and 1018-1023"),
            ({"UserIdGroupPairs": [{"GroupId": GROUP}], "ToPort": 988}, "1018-1023"),
            ({"UserIdGroupPairs": [{"GroupId": GROUP}], "FromPort": 1018}, "988"),
            ({"UserIdGroupPairs": [{"GroupId": GROUP}], "ToPort": 1018}, "1018-1023"),
            ({"UserIdGroupPairs": [{"GroupId": GROUP}], "IpProtocol": "udp"}, "988 and 1018-1023"),
        ],
    )
    def test_keep_nodes_out_where_a_rule_is_too_narrow(self, small: Small, rule: Properties, ports: str) -> None:
        self.guard.append({"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023, **rule})
        (said,) = small.said("file systems")
        assert said.startswith(
            f"HP9083 {TRAIN}/p5: {GUARD} of fs-0123456789abcdef0 does not let {GROUP} in on TCP {ports} |"
        )
        assert said.count("aws ec2 authorize-security-group-ingress") == len(ports.split(" and "))

    def test_may_get_the_rule_from_the_deployment(self, small: Small) -> None:
        rule = {"GroupId": GUARD, "IpProtocol": "tcp", "SourceSecurityGroupId": GROUP}
        small.resources["Rule"] = {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": rule}
        assert small.said("file systems") == []

    def test_let_nodes_in_on_every_port_of_a_span(self, small: Small) -> None:
        peer = {"IpProtocol": "tcp", "UserIdGroupPairs": [{"GroupId": GROUP}]}
        self.guard += [{**peer, "FromPort": low, "ToPort": high} for low, high in ((988, 1018), (1020, 1023))]
        (said,) = small.said("file systems")
        assert f"does not let {GROUP} in on TCP 1018-1023" in said
        self.guard.append({**peer, "FromPort": 1019, "ToPort": 1019})
        assert small.said("file systems") == []

    @pytest.fixture
    def made(self, small: Small) -> dict[str, Any]:
        """The deployment makes the security group of the nodes."""
        made = {"Fn::GetAtt": ["Nodes", "GroupId"]}
        small.resources["Nodes"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"VpcId": VPC}}
        small.cluster["VpcConfig"]["SecurityGroupIds"] = [made]
        return made

    @pytest.mark.usefixtures("made")
    def test_that_nobody_opens_keep_nodes_out_whose_group_the_deployment_makes(self, small: Small) -> None:
        (said,) = small.said("file systems")
        assert said.startswith(
            f"HP9083 {TRAIN}/p5: {GUARD} of fs-0123456789abcdef0 does not let Train/Nodes in on TCP 988 and 1018-1023 |"
        )
        self.guard.append({"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.1.0.0/16"}]})
        assert small.said("file systems") == []

    @pytest.mark.parametrize("guard", [GUARD, {"Fn::ImportValue": "guard"}, {"Ref": "Guard"}])
    def test_may_be_opened_by_the_deployment_for_a_group_that_it_makes(
        self, small: Small, made: dict[str, Any], guard: object
    ) -> None:
        small.template["Parameters"] = {"Guard": {"Type": "String"}}
        rule = {"GroupId": guard, "IpProtocol": "tcp", "SourceSecurityGroupId": made}
        small.resources["Rule"] = {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": rule}
        assert small.said("file systems") == []

    def test_are_not_opened_by_a_rule_of_or_for_another_group(self, small: Small, made: dict[str, Any]) -> None:
        rule = {"GroupId": made, "IpProtocol": "tcp", "SourceSecurityGroupId": made}
        small.resources["Rule"] = {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": rule}
        small.resources["Others"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"VpcId": VPC}}
        others = {"GroupId": GUARD, "IpProtocol": "tcp", "SourceSecurityGroupId": {"Fn::GetAtt": ["Others", "GroupId"]}}
        small.resources["Second"] = {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": others}
        assert [said[:6] for said in small.said("file systems")] == ["HP9083"]

    def test_may_be_open_to_nodes_of_which_only_the_deployment_knows_the_place(self, small: Small) -> None:
        small.template["Parameters"] = {"Hidden": {"Type": "String"}}
        small.cluster["VpcConfig"]["SecurityGroupIds"].append({"Ref": "Hidden"})
        assert small.said("file systems") == []
        small.cluster["VpcConfig"] = {"SecurityGroupIds": [GROUP], "Subnets": [{"Ref": "Hidden"}]}
        assert [said[:6] for said in small.said("file systems")] == ["HP9083"]
        self.guard.append({"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.0.0.0/8"}]})
        assert small.said("file systems") == []

    def test_whose_groups_aws_does_not_show_are_said(self, small: Small) -> None:
        small.has(DescribeNetworkInterfaces={"NetworkInterfaces": []})
        (said,) = small.said("file systems")
        assert said.startswith(f"HP9003 {TRAIN}/p5: AWS shows no security group of fs-0123456789abcdef0")
        self.system["NetworkInterfaceIds"] = []
        assert [said[:6] for said in small.said("file systems")] == ["HP9003"]

    def test_of_another_kind_are_not_mounted(self, small: Small) -> None:
        self.system["FileSystemType"] = "OPENZFS"
        (said,) = small.said("file systems")
        assert said.startswith(f"HP9085 {TRAIN}/p5: fs-0123456789abcdef0 is OPENZFS, the mount is for lustre")


class TestEks:
    @pytest.fixture(autouse=True)
    def _eks(self, small: Small) -> None:
        arn = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/research"
        small.cluster["Orchestrator"] = {"Eks": {"ClusterArn": arn}}
        self.live: Properties = {
            "name": "research",
            "status": "ACTIVE",
            "version": "1.30",
            "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
            "resourcesVpcConfig": {"vpcId": VPC},
        }
        self.addons = {"vpc-cni": "v1.19.0-eksbuild.1", "eks-pod-identity-agent": "v1.0.0"}
        small.has(ListAddons=lambda _: {"addons": list(self.addons)})
        small.account.answers["eks.DescribeCluster"] = lambda _: {"cluster": self.live}
        small.has(DescribeAddon=lambda asked: {"addon": {"addonVersion": self.addons[asked["addonName"]]}})

    @pytest.mark.parametrize("version", ["1.30", "1.35"])
    def test_of_a_listed_version_takes_nodes(self, small: Small, version: str) -> None:
        self.live["version"] = version
        assert small.said("EKS clusters") == []

    def test_newer_than_the_list_is_a_warning(self, small: Small) -> None:
        self.live["version"] = "1.36"
        assert [said[:6] for said in small.said("EKS clusters")] == ["HP9092"]

    def test_may_get_its_addons_from_the_deployment(self, small: Small) -> None:
        del self.addons["eks-pod-identity-agent"]
        assert [said[:6] for said in small.said("EKS clusters")] == ["HP9095"]
        addon = {"ClusterName": "research", "AddonName": "eks-pod-identity-agent"}
        small.resources["Agent"] = {"Type": "AWS::EKS::Addon", "Properties": addon}
        assert small.said("EKS clusters") == []

    @pytest.mark.parametrize(("region", "owner"), [("eu-west-1", ACCOUNT), (REGION, "999988887777")])
    def test_of_another_place_is_not_the_one_of_the_same_name_here(self, small: Small, region: str, owner: str) -> None:
        small.cluster["Orchestrator"]["Eks"]["ClusterArn"] = f"arn:aws:eks:{region}:{owner}:cluster/research"
        (said,) = small.said("EKS clusters")
        assert said.startswith(f"HP9090 {TRAIN}: EKS cluster research is in account {owner}, {region}; the deployment")

    def test_of_which_aws_says_half_is_said(self, small: Small) -> None:
        del self.live["resourcesVpcConfig"], self.live["version"]
        vpc, version = sorted(small.said("EKS clusters"))
        assert vpc.startswith(f"HP9003 {TRAIN}: AWS does not say in which VPC EKS cluster research is")
        assert version.startswith(f"HP9003 {TRAIN}: AWS does not say which version of Kubernetes EKS cluster research")

    def test_that_says_nothing_of_its_mode_has_the_old_one(self, small: Small) -> None:
        del self.live["accessConfig"]
        (said,) = small.said("EKS clusters")
        assert said.startswith("HP9093")
        assert "authentication mode CONFIG_MAP" in said


class TestBootstrap:
    def test_is_not_asked_for_by_a_template_that_needs_none(self, small: Small) -> None:
        small.account.called.clear()
        assert small.said("bootstrap stack") == []
        assert "GetParameter" not in small.account.called

    def test_with_a_qualifier_of_ones_own_is_made_with_it(self, small: Small) -> None:
        name = "/cdk-bootstrap/trimmed/version"
        small.template["Parameters"] = {"BootstrapVersion": {"Type": "String", "Default": name}}
        small.has(GetParameter=lambda _: refuse("ParameterNotFound"))
        (said,) = small.said("bootstrap stack")
        assert said.startswith(f"HP9120 Train: account {ACCOUNT} is not bootstrapped in us-west-2: there is no {name}")
        assert said.endswith(f"cdk bootstrap aws://{ACCOUNT}/{REGION} --qualifier trimmed --toolkit-stack-name NAME")


class TestStacks:
    @pytest.mark.parametrize("status", ["CREATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "REVIEW_IN_PROGRESS"])
    def test_that_take_an_update_are_no_problem(self, small: Small, status: str) -> None:
        self.stack(small, status)
        assert small.said("stacks") == []

    @pytest.mark.parametrize(
        ("status", "command"),
        [
            ("ROLLBACK_FAILED", "aws cloudformation delete-stack --region us-west-2 --stack-name Train"),
            (
                "UPDATE_ROLLBACK_FAILED",
                "aws cloudformation continue-update-rollback --region us-west-2 --stack-name Train",
            ),
            ("UPDATE_FAILED", "aws cloudformation rollback-stack --region us-west-2 --stack-name Train"),
            (
                "IMPORT_ROLLBACK_FAILED",
                "aws cloudformation describe-stack-events --region us-west-2 --stack-name Train",
            ),
        ],
    )
    def test_that_failed_say_what_gets_them_out(self, small: Small, status: str, command: str) -> None:
        self.stack(small, status, StackStatusReason="no capacity")
        (said,) = small.said("stacks")
        assert said.startswith(f"HP9140 Train: stack Train is {status}: no capacity | ")
        assert command in said

    def stack(self, small: Small, status: str, **fields: str) -> None:
        small.has(
            DescribeStacks={"Stacks": [{"StackName": "Train", "CreationTime": NOW, "StackStatus": status, **fields}]}
        )


UNDECIDED = "values that only the deployment knows"


class TestUndecided:
    def test_is_nothing_where_all_is_written_out_or_made(self, small: Small) -> None:
        small.on_plan()
        assert small.said(UNDECIDED) == []
        small.resources["Nodes"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"VpcId": VPC}}
        small.cluster["VpcConfig"]["SecurityGroupIds"] = [{"Fn::GetAtt": ["Nodes", "GroupId"]}]
        assert small.said(UNDECIDED) == []

    def test_names_are_all_that_was_not_looked_at(self, small: Small) -> None:
        small.template["Parameters"] = {name: {"Type": "String"} for name in ("Net", "Guard", "Plan", "Eks")}
        small.cluster["VpcConfig"] = {"Subnets": [{"Ref": "Net"}], "SecurityGroupIds": [{"Ref": "Guard"}]}
        small.group["TrainingPlanArn"] = {"Ref": "Plan"}
        small.group["InstanceStorageConfigs"] = [{"FsxLustreConfig": {"DnsName": {"Ref": "Net"}, "MountName": "x"}}]
        small.cluster["Orchestrator"] = {"Eks": {"ClusterArn": {"Ref": "Eks"}}}
        said = small.said(UNDECIDED)
        assert {each[:6] for each in said} == {"HP9003"}
        assert [each.split(" knows ")[1].split(" of p5")[0].split(":")[0].split(" (")[0] for each in said] == [
            "the EKS cluster",
            "mounted file systems",
            "security groups",
            "subnets",
            "the training plan or kind of capacity",
        ]

    @pytest.mark.parametrize("given", [{"Fn::Split": [",", {"Ref": "Nets"}]}, {"Ref": "Nets"}])
    def test_are_whole_lists_too(self, small: Small, given: object) -> None:
        small.template["Parameters"] = {"Nets": {"Type": "CommaDelimitedList"}}
        small.cluster["VpcConfig"]["Subnets"] = given
        assert len(small.said(UNDECIDED)) == 1

    def test_of_several_groups_are_said_once(self, small: Small) -> None:
        small.template["Parameters"] = {"Net": {"Type": "String"}}
        small.cluster["VpcConfig"]["Subnets"] = [{"Ref": "Net"}]
        small.cluster["InstanceGroups"].append({**small.group, "InstanceGroupName": "more"})
        (said,) = small.said(UNDECIDED)
        assert said.startswith(f"HP9003 {TRAIN}: only the deployment knows subnets")
        assert "of p5, more: not looked at" in said


class TestNames:
    def test_of_what_this_stack_has_made_are_its_own(self, small: Small) -> None:
        small.runs("train", 4)
        assert [said[:6] for said in small.said("cluster names")] == ["HP9130"]
        small.has(ListStackResources=_made("Train", "train"))
        assert small.said("cluster names") == []

    def test_of_buckets_that_may_be_somebody_elses_are_a_missing_permission(self, small: Small) -> None:
        small.resources["Data"] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "sagemaker-data"}}
        small.has(HeadBucket=lambda _: refuse("403"))
        (found,) = small.look("bucket names").findings
        assert (found.rule, found.severity) == ("HP9001", Severity.WARNING)
        assert found.message.startswith("s3:ListBucket is not allowed for bucket sagemaker-data: it is there")

    def test_that_cloudformation_makes_are_never_taken(self, small: Small) -> None:
        small.resources["Data"] = {"Type": "AWS::S3::Bucket"}
        small.resources["Nodes"] = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}}
        assert small.said("bucket names") == small.said("role names") == []


class TestResourceTypes:
    def test_of_custom_resources_and_cloudformation_are_not_asked_for(self, small: Small) -> None:
        small.resources |= {
            "Custom": {"Type": "Custom::Upload"},
            "Wait": {"Type": "AWS::CloudFormation::WaitConditionHandle"},
            "Metadata": {"Type": "AWS::CDK::Metadata"},
        }
        small.has(DescribeType=lambda each: {"TypeName": each["TypeName"]})
        small.account.called.clear()
        assert small.said("resource types") == []
        assert small.account.called == ["DescribeType"]


class TestIdentityCenter:
    def test_is_not_asked_for_without_grafana(self, small: Small) -> None:
        small.account.called.clear()
        assert small.said("Identity Center") == []
        assert "ListInstances" not in small.account.called

    def test_of_an_organisation_that_is_being_made_does_not_count_yet(self, small: Small) -> None:
        workspace = {"AuthenticationProviders": ["AWS_SSO"], "PermissionType": "SERVICE_MANAGED"}
        small.resources["Grafana"] = {"Type": "AWS::Grafana::Workspace", "Properties": workspace}
        arn = "arn:aws:sso:::instance/ssoins-0123456789abcdef"
        small.has(ListInstances={"Instances": [{"InstanceArn": arn, "Status": "CREATE_IN_PROGRESS"}]})
        assert [said[:6] for said in small.said("Identity Center")] == ["HP9100"]
        small.has(ListInstances={"Instances": [{"InstanceArn": arn}]})
        assert small.said("Identity Center") == []
