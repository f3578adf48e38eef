"""What each check of preflight does not say: the nearest account that is right, and an update of what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

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
        small.rules.clear()
        small.group["InstanceType"] = SMALL
        assert small.said("security groups") == []

    def test_may_get_the_rules_from_the_deployment(self, small: Small) -> None:
        small.rules.clear()
        for direction, peer in (("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")):
            rule = {"GroupId": GROUP, "IpProtocol": "-1", peer: GROUP}
            small.resources[direction] = {"Type": f"AWS::EC2::SecurityGroup{direction}", "Properties": rule}
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


class TestNames:
    def test_of_what_this_stack_has_made_are_its_own(self, small: Small) -> None:
        small.runs("train", 4)
        assert [said[:6] for said in small.said("cluster names")] == ["HP9130"]
        small.has(ListStackResources=_made("Train", "train"))
        assert small.said("cluster names") == []

    def test_of_buckets_may_be_somebody_elses(self, small: Small) -> None:
        small.resources["Data"] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "sagemaker-data"}}
        small.has(HeadBucket=lambda _: refuse("403"))
        (said,) = small.said("bucket names")
        assert "bucket sagemaker-data belongs to somebody else, or s3:ListBucket is missing for it" in said

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
