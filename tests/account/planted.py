"""One account and one deployment, and some sixty ways in which they do not fit: the plants.

As it is built everything fits, and preflight finds nothing. Each plant spoils one thing of the account, which another
part of the deployment does not touch, and says what preflight must find then: that, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tests.account.fake_account import ACCOUNT, REGION, FakeAccount, Refused

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
ZONE: Final = "usw2-az2"
OTHER_ZONE: Final = "usw2-az1"
P5: Final = "ml.p5.48xlarge"
SMALL: Final = "ml.m5.xlarge"
ROLE: Final = f"arn:aws:iam::{ACCOUNT}:role/nodes"
STRANGER: Final = "999988887777"
SERVICE_ROLE: Final = "AWSServiceRoleForSageMakerHyperPod"


@dataclass(frozen=True)
class Plant:
    """One thing that is wrong with the account.

    Attributes:
        name: What is wrong.
        rule: The rule that finds it.
        path: Where the finding points.
        says: A part of its message.
        spoil: Makes it wrong.
    """

    name: str
    rule: str
    path: str
    says: str
    spoil: Callable[[], object]


class World:
    """The account, the deployment as a `cdk.out`, and the plants."""

    def __init__(self, account: FakeAccount, folder: Path) -> None:
        self.account, self.folder = account, folder
        self.ec2 = account.client("ec2")
        self.plants: list[Plant] = []
        self.quotas: dict[str, dict[str, float]] = {"sagemaker": {}, "vpc": {}, "ec2": {}}
        self.plans: dict[str, dict[str, Any]] = {}
        self.file_systems: dict[str, dict[str, Any]] = {}
        self.eks: dict[str, dict[str, Any]] = {}
        self.stacks: dict[str, tuple[str, dict[str, str]]] = {}
        self.closed_zones: set[str] = set()
        self.missing_types: set[str] = set()
        self.unoffered: dict[str, list[str]] = {}
        self.identity_centers = [{"InstanceArn": "arn:aws:sso:::instance/ssoins-0123456789abcdef", "Status": "ACTIVE"}]
        self._blocks, self._number = iter(range(256)), iter(range(1000))
        self._next_subnet: dict[str, tuple[str, Iterator[int]]] = {}
        self._places: dict[str, tuple[str, str]] = {}
        self._gateway = self.ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
        self._groups: dict[str, list[dict[str, Any]]] = {}
        self._resources: dict[str, dict[str, Any]] = {}
        self._stack_accounts: dict[str, str] = {}
        self.nested: dict[str, dict[str, Any]] = {}
        self._answer()
        self._build()

    # --- What moto lacks

    def _answer(self) -> None:
        answers = self.account.answers
        answers["ListServiceQuotas"] = lambda asked: {"Quotas": self._quotas(asked["ServiceCode"])}
        answers["ListAWSDefaultServiceQuotas"] = lambda _: {"Quotas": []}
        answers["DescribeTrainingPlan"] = lambda asked: _found(self.plans, asked["TrainingPlanName"])
        answers["DescribeFileSystems"] = lambda asked: {
            "FileSystems": [_found(self.file_systems, each, "FileSystemNotFound") for each in asked["FileSystemIds"]]
        }
        answers["eks.DescribeCluster"] = lambda asked: {"cluster": _found(self.eks, asked["name"])["cluster"]}
        answers["ListAddons"] = lambda asked: {"addons": list(self.eks[asked["clusterName"]]["addons"])}
        answers["DescribeAddon"] = lambda asked: {
            "addon": {
                "addonVersion": self.eks[asked["clusterName"]]["addons"][asked["addonName"]],
                "status": self.eks[asked["clusterName"]]["states"].get(asked["addonName"], "ACTIVE"),
            }
        }
        answers["DescribeStacks"] = lambda asked: {"Stacks": [self._stack(asked["StackName"])]}
        answers["ListStackResources"] = self._stack_resources
        answers["DescribeType"] = self._type
        answers["ListInstances"] = lambda _: {"Instances": self.identity_centers}
        answers["DescribeAvailabilityZones"] = lambda _: {
            "AvailabilityZones": [
                {"ZoneId": f"usw2-az{number}", "ZoneName": f"us-west-2{letter}", "OptInStatus": self._opted(number)}
                for number, letter in ((1, "b"), (2, "a"), (3, "c"), (4, "d"))
            ]
        }
        answers["DescribeInstanceTypeOfferings"] = lambda asked: {
            "InstanceTypeOfferings": [
                {"Location": zone} for zone in self.unoffered.get(asked["Filters"][0]["Values"][0], [ZONE, OTHER_ZONE])
            ]
        }

    def _quotas(self, service: str) -> list[dict[str, Any]]:
        return [
            {"QuotaName": name, "QuotaCode": f"L-{index:08X}", "Value": value, "Adjustable": True}
            for index, (name, value) in enumerate(self.quotas[service].items())
        ]

    def _opted(self, number: int) -> str:
        return "not-opted-in" if f"usw2-az{number}" in self.closed_zones else "opt-in-not-required"

    def _stack(self, name: str) -> dict[str, Any]:
        if name not in self.stacks:
            raise Refused("ValidationError", f"Stack with id {name} does not exist")
        return {"StackName": name, "CreationTime": NOW, "StackStatus": self.stacks[name][0]}

    def _stack_resources(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self._stack(asked["StackName"])
        return {
            "StackResourceSummaries": [
                {
                    "LogicalResourceId": logical,
                    "PhysicalResourceId": physical,
                    "ResourceType": "AWS::S3::Bucket",
                    "LastUpdatedTimestamp": NOW,
                    "ResourceStatus": "CREATE_COMPLETE",
                }
                for logical, physical in self.stacks[asked["StackName"]][1].items()
            ]
        }

    def _type(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if asked["TypeName"] in self.missing_types:
            raise Refused("TypeNotFoundException")
        return {"TypeName": asked["TypeName"]}

    # --- The parts that everything is made of

    def vpc(self) -> str:
        """A VPC with names, whose main route table leads to a NAT gateway and to S3."""
        block = f"10.{next(self._blocks)}.0.0/16"
        vpc: str = self.ec2.create_vpc(CidrBlock=block)["Vpc"]["VpcId"]
        self.ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
        tables = self.ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
        self._ways_out(vpc, tables[0]["RouteTableId"])
        self._next_subnet[vpc] = (block.removesuffix("0.0/16"), iter(range(32)))
        return vpc

    def table(self, vpc: str, subnet: str) -> tuple[str, str]:
        """A route table of its own for a subnet, with its endpoint."""
        table: str = self.ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        self.ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
        return table, self._ways_out(vpc, table)

    def _ways_out(self, vpc: str, table: str) -> str:
        self.ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", TransitGatewayId=self._gateway)
        endpoint: str = self.ec2.create_vpc_endpoint(
            VpcEndpointType="Gateway", VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.s3", RouteTableIds=[table]
        )["VpcEndpoint"]["VpcEndpointId"]
        return endpoint

    def subnet(self, vpc: str, zone: str = ZONE) -> str:
        """A private subnet of 2,043 addresses."""
        prefix, numbers = self._next_subnet[vpc]
        subnet: str = self.ec2.create_subnet(
            VpcId=vpc, CidrBlock=f"{prefix}{next(numbers) * 8}.0/21", AvailabilityZoneId=zone
        )["Subnet"]["SubnetId"]
        self.ec2.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": False})
        return subnet

    def security_group(self, vpc: str) -> str:
        """A security group that lets all traffic in from itself and out to itself."""
        name = f"nodes {next(self._number)}"
        group: str = self.ec2.create_security_group(GroupName=name, Description="nodes", VpcId=vpc)["GroupId"]
        own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
        self.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=own)
        self.ec2.authorize_security_group_egress(GroupId=group, IpPermissions=own)
        return group

    def backend_subnet(self, subnet: str) -> Any:  # moto has no types
        """The subnet inside moto, of which anything can be changed."""
        from moto.ec2.models import ec2_backends

        return ec2_backends[ACCOUNT][REGION].get_subnet(subnet)

    def place(self, vpc: str) -> tuple[str, str]:
        """A subnet and a security group that all parts without plants of their own share."""
        if vpc not in self._places:
            self._places[vpc] = self.subnet(vpc), self.security_group(vpc)
        return self._places[vpc]

    def cluster(self, name: str, vpc: str, *, eks: str | None = None) -> None:
        """A cluster with one small group."""
        subnet, group = self.place(vpc)
        self._groups[name] = []
        properties: dict[str, Any] = {
            "ClusterName": name,
            "NodeProvisioningMode": "Continuous",
            "Orchestrator": {"Eks": {"ClusterArn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{eks}"}}
            if eks
            else {"Slurm": {}},
            "VpcConfig": {"SecurityGroupIds": [group], "Subnets": [subnet]},
            "InstanceGroups": self._groups[name],
        }
        self.resource("Base", name, "AWS::SageMaker::Cluster", properties)
        self.group(name, "controller")

    def group(self, cluster: str, name: str, kind: str = SMALL, **properties: Any) -> str:
        """A group of one node in a cluster; its path."""
        scripts = {"SourceS3Uri": "s3://sagemaker-scripts/x", "OnCreate": "on_create.sh"}
        self._groups[cluster].append(
            {
                "InstanceGroupName": name,
                "InstanceType": kind,
                "InstanceCount": 1,
                "ExecutionRole": ROLE,
                "LifeCycleConfig": scripts,
                **properties,
            }
        )
        return f"Base/{cluster}/{name}"

    def placed(self, cluster: str, name: str, subnet: str, group: str, **properties: Any) -> str:
        """A group of one node in a subnet of its own; its path."""
        override = {"Subnets": [subnet], "SecurityGroupIds": [group]}
        return self.group(cluster, name, OverrideVpcConfig=override, **properties)

    def resource(self, stack: str, name: str, kind: str, properties: Mapping[str, Any], **more: Any) -> None:
        """A resource of the deployment."""
        self._resources.setdefault(stack, {})[name] = {"Type": kind, "Properties": properties, **more}

    def plant(self, name: str, rule: str, path: str, says: str, spoil: Callable[[], object]) -> None:
        """Adds a plant."""
        self.plants.append(Plant(name, rule, path, says, spoil))

    # --- The deployment

    def _build(self) -> None:
        self.vpc1, self.vpc2 = self.vpc(), self.vpc()
        self.cluster("train", self.vpc1)
        self._quotas_and_types()
        self._training_plans()
        self._subnets()
        self._networks()
        self._security_groups()
        self._file_systems()
        self._eks()
        self._everything_else()
        self._write()

    def _quotas_and_types(self) -> None:
        for kind in (SMALL, P5, "ml.g5.8xlarge", "ml.p5en.48xlarge", "ml.g6.8xlarge", "ml.c5.xlarge"):
            self.quotas["sagemaker"][f"{kind} for cluster usage"] = 1000
        total = "Total number of instances allowed across SageMaker HyperPod clusters"
        self.quotas["sagemaker"] |= {
            "Maximum number instances allowed per SageMaker HyperPod cluster": 1000,
            total: 1000,
        }
        self.quotas["vpc"] |= {"Network interfaces per Region": 5000, "VPCs per Region": 5}
        self.quotas["ec2"]["EC2-VPC Elastic IPs"] = 5
        self._create_cluster("somebody-elses")
        self.group("train", "g5", "ml.g5.8xlarge", InstanceCount=2)
        self.plant(
            "quota of a type, with what is in use",
            "HP9010",
            "Base/train/g5",
            "quota 'ml.g5.8xlarge for cluster usage' is 4 in us-west-2, but 2 are needed and 3 are in use already",
            lambda: self.quotas["sagemaker"].update({"ml.g5.8xlarge for cluster usage": 4}),
        )
        self.plant(
            "quota over all clusters",
            "HP9010",
            "Base/train",
            f"quota {total!r} is 30",
            lambda: self.quotas["sagemaker"].update({total: 30}),
        )
        self.plant(
            "quota of network interfaces",
            "HP9010",
            "Base/train",
            "quota 'Network interfaces per Region' is 100",
            lambda: self.quotas["vpc"].update({"Network interfaces per Region": 100}),
        )
        self.resource("Base", "Address", "AWS::EC2::EIP", {"Domain": "vpc"})
        self.plant(
            "quota of public addresses",
            "HP9010",
            "Base/Address",
            "quota 'EC2-VPC Elastic IPs' is 0",
            lambda: self.quotas["ec2"].update({"EC2-VPC Elastic IPs": 0}),
        )
        self.group("train", "c5", "ml.c5.xlarge")
        self.plant(
            "quota without its name",
            "HP9011",
            "Base/train/c5",
            "there is no quota 'ml.c5.xlarge for cluster usage'",
            lambda: self.quotas["sagemaker"].pop("ml.c5.xlarge for cluster usage"),
        )
        self.group("train", "g6", "ml.g6.8xlarge")
        self.plant(
            "type that the zone lacks",
            "HP9020",
            "Base/train/g6",
            "does not offer ml.g6.8xlarge in usw2-az2",
            lambda: self.unoffered.update({"g6.8xlarge": [OTHER_ZONE]}),
        )
        block = {"VpcId": self.vpc1, "CidrBlock": "10.0.255.0/24", "AvailabilityZoneId": "usw2-az4"}
        self.resource("Base", "Spare", "AWS::EC2::Subnet", block)
        self.plant(
            "zone that is not opted in to",
            "HP9021",
            "Base/Spare",
            "zone usw2-az4 is not opted in to",
            lambda: self.closed_zones.add("usw2-az4"),
        )

    def _create_cluster(self, name: str) -> None:
        scripts = {"SourceS3Uri": "s3://sagemaker-scripts/x", "OnCreate": "on_create.sh"}
        group = {"InstanceGroupName": "g5", "InstanceType": "ml.g5.8xlarge", "InstanceCount": 3, "ThreadsPerCore": 1}
        self.account.client("sagemaker").create_cluster(
            ClusterName=name, InstanceGroups=[{**group, "ExecutionRole": ROLE, "LifeCycleConfig": scripts}]
        )

    def _training_plans(self) -> None:
        for name in ("absent", "failed", "expired", "ended", "pending", "target", "type", "count", "taken", "zone"):
            self._plan(name)
        intent = {"name": "facts", "count": 1, "zone": ZONE, "starts": "2026-11-01", "ends": "2026-12-31"}
        self._plan("facts", intent=intent)
        self._plan("begins")
        drained = NOW + timedelta(minutes=59)
        changes: dict[str, tuple[str, str, dict[str, Any]]] = {
            "failed": ("HP9031", "has failed: no payment", {"Status": "Failed", "StatusMessage": "no payment"}),
            "expired": ("HP9031", "(Expired) has ended", {"Status": "Expired"}),
            "ended": ("HP9031", "nodes leave from 2026-11-30 11:59 UTC", {"EndTime": drained}),
            "pending": ("HP9032", "is Pending", {"Status": "Pending"}),
            "target": ("HP9033", "is for training-job, not", {"TargetResources": ["training-job"]}),
            "count": ("HP9035", "1 instances on training plan 'count', which holds 0", {"TotalInstanceCount": 0}),
            "taken": ("HP9036", "has 0 of 1", {"AvailableInstanceCount": 0, "InUseInstanceCount": 1}),
            "facts": ("HP9038", "ends '2026-12-31', which is '2026-12-15'", {"EndTime": _day(12, 15)}),
            "begins": ("HP9039", "begins 2026-12-07 11:30 UTC", {"StartTime": _day(12, 7)}),
        }
        for name, (rule, says, change) in changes.items():
            self.plant(f"plan: {name}", rule, f"Base/train/{name}", says, _updates(self.plans[name], change))
        self.plant(
            "plan: absent",
            "HP9030",
            "Base/train/absent",
            "there is no training plan 'absent'",
            lambda: self.plans.pop("absent"),
        )
        for name, rule, says, change in (
            ("type", "HP9034", "holds ml.p5en.48xlarge", {"InstanceType": "ml.p5en.48xlarge"}),
            ("zone", "HP9037", "stands in usw2-az1, the group in usw2-az2", {"AvailabilityZoneId": OTHER_ZONE}),
        ):
            block = self.plans[name]["ReservedCapacitySummaries"][0]
            self.plant(f"plan: {name}", rule, f"Base/train/{name}", says, _updates(block, change))

    def _plan(self, name: str, intent: Mapping[str, Any] | None = None) -> None:
        arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/{name}"
        self.plans[name] = {
            "TrainingPlanArn": f"{arn:<50}",
            "TrainingPlanName": name,
            "Status": "Active",
            "StartTime": _day(11, 1),
            "EndTime": _day(12, 31),
            "TotalInstanceCount": 1,
            "AvailableInstanceCount": 1,
            "InUseInstanceCount": 0,
            "TargetResources": ["hyperpod-cluster"],
            "ReservedCapacitySummaries": [
                {
                    "ReservedCapacityArn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:reserved-capacity/{name}",
                    "InstanceType": P5,
                    "TotalInstanceCount": 1,
                    "Status": "Active",
                    "AvailabilityZoneId": ZONE,
                }
            ],
        }
        self.group("train", name, P5, TrainingPlanArn=arn)
        if intent:
            groups = {"groups": {name: {"plan": intent}}}
            self._resources["Base"]["train"].setdefault("Metadata", {}).setdefault("hyperpod:intent", {}).update(groups)

    def _subnets(self) -> None:
        for name, rule, says in (
            ("gone", "HP9050", "there is no subnet"),
            ("full", "HP9051", "has 31 free addresses, the nodes take 32 more (full 32)"),
            ("narrow", "HP9052", "has 15 free addresses, the nodes take 16 more (narrow 16)"),
            ("shared", "HP9053", f"belongs to account {STRANGER}, which shares it"),
            ("public", "HP9055", "gives instances public addresses"),
            ("moved", "HP9056", "is in usw2-az2, the code says usw2-az1"),
        ):
            subnet, group = self.subnet(self.vpc1), self.place(self.vpc1)[1]
            kind = {"full": P5, "narrow": "ml.p5en.48xlarge"}.get(name, SMALL)
            path = self.placed("train", name, subnet, group, InstanceType=kind)
            self.plant(f"subnet: {name}", rule, path, says, self._spoils_subnet(name, subnet))
            if name == "moved":
                said = {"subnets": {subnet: {"zone": ZONE}}}
                metadata = self._resources["Base"]["train"].setdefault("Metadata", {})
                metadata.setdefault("hyperpod:intent", {}).update(said)
        vpc = self.vpc()
        self.cluster("guest", vpc)
        endpoint = {"VpcId": vpc, "ServiceName": f"com.amazonaws.{REGION}.dynamodb", "VpcEndpointType": "Gateway"}
        self.resource("Base", "Endpoint", "AWS::EC2::VPCEndpoint", endpoint)
        (owned,) = self._in_vpc(vpc)
        self.plant(
            "network of another account",
            "HP9054",
            "Base/guest/controller",
            f"{vpc} belongs to account {STRANGER}, but the deployment adds Base/Endpoint",
            lambda: _give_away(self.backend_subnet(owned)),
        )
        self.cluster("split", self.vpc1)
        stray, group = self.subnet(self.vpc1), self.place(self.vpc1)[1]
        self.placed("split", "stray", stray, group)
        self.plant(
            "subnets of two VPCs",
            "HP9057",
            "Base/split",
            "the subnets lie in several VPCs",
            lambda: _sets(self.backend_subnet(stray), vpc_id=self.vpc2),
        )

    def _spoils_subnet(self, name: str, subnet: str) -> Callable[[], object]:
        backend = self.backend_subnet(subnet)
        return {
            "gone": lambda: self.ec2.delete_subnet(SubnetId=subnet),
            "full": lambda: _sets(backend, _available_ip_addresses=31),
            "narrow": lambda: _sets(backend, _available_ip_addresses=15),
            "shared": lambda: _give_away(backend),
            "public": lambda: _sets(backend, map_public_ip_on_launch="true"),
            "moved": lambda: self._say_other_zone(subnet),
        }[name]

    def _say_other_zone(self, subnet: str) -> None:
        """The code is wrong here, and not the account."""
        intent = self._resources["Base"]["train"]["Metadata"]["hyperpod:intent"]
        intent["subnets"][subnet]["zone"] = OTHER_ZONE

    def _in_vpc(self, vpc: str) -> list[str]:
        found = self.ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Subnets"]
        return [each["SubnetId"] for each in found]

    def _networks(self) -> None:
        for name, rule, says in (
            ("cut-off", "HP9060", "has no route for 0.0.0.0/0, and there is no endpoint for S3"),
            ("by-nat", "HP9061", "has no gateway endpoint for S3; what nodes read goes to tgw-"),
            ("closed", "HP9062", "its VPC has no endpoint for ec2, ec2messages, logs, monitoring, ssm, ssmmessages"),
        ):
            subnet, group = self.subnet(self.vpc1), self.place(self.vpc1)[1]
            table, endpoint = self.table(self.vpc1, subnet)
            path = self.placed("train", name, subnet, group)
            self.plant(f"network: {name}", rule, path, says, self._spoils_routes(name, table, endpoint))
        names = self.vpc()
        self.cluster("names", names)
        self.plant(
            "name servers of a company",
            "HP9065",
            "Base/names/controller",
            "hands out the name servers 10.9.9.9",
            self._dns(names),
        )
        for name, rule, attribute in (
            ("silent", "HP9066", "EnableDnsSupport"),
            ("nameless", "HP9068", "EnableDnsHostnames"),
        ):
            vpc = self.vpc()
            self.cluster(name, vpc)
            self.plant(
                f"names of a VPC: {name}",
                rule,
                f"Base/{name}/controller",
                f"{attribute[0].lower()}{attribute[1:]} of {vpc} is off",
                _call(self.ec2.modify_vpc_attribute, VpcId=vpc, **{attribute: {"Value": False}}),
            )
        away = self.vpc()
        self.cluster("away", away)
        self.plant(
            "resolver rule",
            "HP9067",
            "Base/away/controller",
            f"a rule of {away} asks 10.8.8.8 for amazonaws.com",
            lambda: self._resolve_elsewhere(away),
        )

    def _spoils_routes(self, name: str, table: str, endpoint: str) -> Callable[[], object]:
        def no_default() -> None:
            self.ec2.delete_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0")

        def no_endpoint() -> None:
            self.ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])

        def neither() -> None:
            no_default()
            no_endpoint()

        return {"cut-off": neither, "by-nat": no_endpoint, "closed": no_default}[name]

    def _dns(self, vpc: str) -> Callable[[], object]:
        def spoil() -> None:
            configured = [{"Key": "domain-name-servers", "Values": ["10.9.9.9"]}]
            options = self.ec2.create_dhcp_options(DhcpConfigurations=configured)["DhcpOptions"]["DhcpOptionsId"]
            self.ec2.associate_dhcp_options(DhcpOptionsId=options, VpcId=vpc)

        return spoil

    def _resolve_elsewhere(self, vpc: str) -> None:
        resolver = self.account.client("route53resolver")
        subnets = [{"SubnetId": self._in_vpc(vpc)[0]}, {"SubnetId": self.subnet(vpc)}]
        endpoint = resolver.create_resolver_endpoint(
            CreatorRequestId="x",
            Name="out",
            SecurityGroupIds=[self.security_group(vpc)],
            Direction="OUTBOUND",
            IpAddresses=subnets,
        )["ResolverEndpoint"]["Id"]
        rule = resolver.create_resolver_rule(
            CreatorRequestId="y",
            Name="aws",
            RuleType="FORWARD",
            DomainName="amazonaws.com",
            TargetIps=[{"Ip": "10.8.8.8", "Port": 53}],
            ResolverEndpointId=endpoint,
        )["ResolverRule"]["Id"]
        resolver.associate_resolver_rule(ResolverRuleId=rule, VPCId=vpc)

    def _security_groups(self) -> None:
        for name, rule, says in (
            ("unguarded", "HP9070", "there is no security group"),
            ("silent", "HP9073", "no rule lets anything out"),
            ("mute", "HP9071", "does not let all traffic out to itself"),
            ("foreign", "HP9072", f"belongs to {self.vpc2}, the subnets to {self.vpc1}"),
        ):
            subnet, group = self.place(self.vpc1)[0], self.security_group(self.vpc1)
            path = self.placed("train", name, subnet, group, InstanceType=SMALL if name == "silent" else P5)
            own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
            spoil: dict[str, Callable[[], object]] = {
                "unguarded": _call(self.ec2.delete_security_group, GroupId=group),
                "silent": _call(self._let_nothing_out, group),
                "mute": _call(self.ec2.revoke_security_group_egress, GroupId=group, IpPermissions=own),
                "foreign": _call(self._move_group, group),
            }
            self.plant(f"security group: {name}", rule, path, says, spoil[name])

    def _let_nothing_out(self, group: str) -> None:
        (found,) = self.ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
        self.ec2.revoke_security_group_egress(GroupId=group, IpPermissions=found["IpPermissionsEgress"])

    def _move_group(self, group: str) -> None:
        from moto.ec2.models import ec2_backends

        _sets(ec2_backends[ACCOUNT][REGION].get_security_group_from_id(group), vpc_id=self.vpc2)

    def _file_systems(self) -> None:
        changes: dict[str, tuple[str, str, dict[str, Any]]] = {
            "lost": ("HP9080", "there is no file system", {}),
            "failed": ("HP9081", "is FAILED", {"Lifecycle": "FAILED"}),
            "apart": ("HP9082", f"is in {self.vpc2}, the nodes in {self.vpc1}", {"VpcId": self.vpc2}),
            "shut": ("HP9083", "in on TCP 988 and 1018-1023", {}),
            "across": ("HP9084", "is in usw2-az1, the nodes in usw2-az2", {}),
            "misnamed": ("HP9085", "is 'abcdef', not 'fsxname'", {"LustreConfiguration": {"MountName": "abcdef"}}),
        }
        for number, (name, (rule, says, change)) in enumerate(changes.items()):
            system, guard = f"fs-{number:017x}", self.security_group(self.vpc1)
            subnet, group = self.place(self.vpc1)
            self._lustre(system, guard, group)
            mount = {"DnsName": f"{system}.fsx.{REGION}.amazonaws.com", "MountName": "fsxname"}
            path = self.placed(
                "train", f"fs-{name}", subnet, group, InstanceStorageConfigs=[{"FsxLustreConfig": mount}]
            )
            spoil = {
                "lost": _call(self.file_systems.pop, system),
                "shut": _call(self._close, guard),
                "across": _updates(self.file_systems[system], {"SubnetIds": [self.subnet(self.vpc1, OTHER_ZONE)]}),
            }
            self.plant(
                f"file system: {name}", rule, path, says, spoil.get(name, _updates(self.file_systems[system], change))
            )

    def _lustre(self, system: str, guard: str, nodes: str) -> None:
        ports = [(988, 988), (1018, 1023)]
        self.ec2.authorize_security_group_ingress(
            GroupId=guard,
            IpPermissions=[
                {"IpProtocol": "tcp", "FromPort": low, "ToPort": high, "UserIdGroupPairs": [{"GroupId": nodes}]}
                for low, high in ports
            ],
        )
        subnet = self.place(self.vpc1)[0]
        interface = self.ec2.create_network_interface(SubnetId=subnet, Groups=[guard])["NetworkInterface"]
        self.file_systems[system] = {
            "FileSystemId": system,
            "FileSystemType": "LUSTRE",
            "Lifecycle": "AVAILABLE",
            "OwnerId": ACCOUNT,
            "VpcId": self.vpc1,
            "SubnetIds": [subnet],
            "NetworkInterfaceIds": [interface["NetworkInterfaceId"]],
            "StorageCapacity": 4800,
            "LustreConfiguration": {"MountName": "fsxname"},
        }

    def _close(self, guard: str) -> None:
        (group,) = self.ec2.describe_security_groups(GroupIds=[guard])["SecurityGroups"]
        open_ = [each for each in group["IpPermissions"] if each["IpProtocol"] == "tcp"]
        self.ec2.revoke_security_group_ingress(GroupId=guard, IpPermissions=open_)

    def _eks(self) -> None:
        for name, rule, says in (
            ("eks-lost", "HP9090", "there is no EKS cluster eks-lost"),
            ("eks-new", "HP9091", "is CREATING"),
            ("eks-old", "HP9092", "has Kubernetes 1.29"),
            ("eks-map", "HP9093", "has authentication mode CONFIG_MAP"),
            ("eks-vpc", "HP9094", f"is in {self.vpc2}, the nodes in {self.vpc1}"),
            ("eks-bare", "HP9095", "has no add-on eks-pod-identity-agent"),
            ("eks-sick", "HP9097", "add-on vpc-cni of EKS cluster eks-sick is DEGRADED"),
            ("eks-cni", "HP9096", "is v1.18.2-eksbuild.1; the oldest that works is 1.18.3"),
        ):
            cluster = {
                "name": name,
                "status": "ACTIVE",
                "version": "1.33",
                "accessConfig": {"authenticationMode": "API"},
                "resourcesVpcConfig": {"vpcId": self.vpc1},
            }
            addons = {"vpc-cni": "v1.18.3-eksbuild.1", "eks-pod-identity-agent": "v1.3.0-eksbuild.1"}
            states: dict[str, str] = {}
            self.eks[name] = {"cluster": cluster, "addons": addons, "states": states}
            self.cluster(f"on-{name}", self.vpc1, eks=name)
            spoil: dict[str, Callable[[], object]] = {
                "eks-lost": _call(self.eks.pop, name),
                "eks-new": _updates(cluster, {"status": "CREATING"}),
                "eks-old": _updates(cluster, {"version": "1.29"}),
                "eks-map": _updates(cluster, {"accessConfig": {"authenticationMode": "CONFIG_MAP"}}),
                "eks-vpc": _updates(cluster, {"resourcesVpcConfig": {"vpcId": self.vpc2}}),
                "eks-bare": _call(addons.pop, "eks-pod-identity-agent"),
                "eks-sick": _updates(states, {"vpc-cni": "DEGRADED"}),
                "eks-cni": _updates(addons, {"vpc-cni": "v1.18.2-eksbuild.1"}),
            }
            self.plant(f"EKS: {name}", rule, f"Base/on-{name}", says, spoil[name])

    def _everything_else(self) -> None:
        workspace = {
            "AccountAccessType": "CURRENT_ACCOUNT",
            "AuthenticationProviders": ["AWS_SSO"],
            "PermissionType": "CUSTOMER_MANAGED",
            "RoleArn": ROLE,
        }
        self.resource("Base", "Grafana", "AWS::Grafana::Workspace", workspace)
        self.plant(
            "no Identity Center", "HP9100", "Base/Grafana", "sees no instance of IAM", self.identity_centers.clear
        )
        self.resource("Base", "Budget", "AWS::Budgets::Budget", {})
        self.plant(
            "no such type",
            "HP9110",
            "Base/Budget",
            "us-west-2 has no resource type AWS::Budgets::Budget",
            lambda: self.missing_types.add("AWS::Budgets::Budget"),
        )
        parameters = self.account.client("ssm")
        for qualifier in ("hnb659fds", "trimmed"):
            parameters.put_parameter(Name=f"/cdk-bootstrap/{qualifier}/version", Value="28", Type="String")
        self.plant(
            "not bootstrapped",
            "HP9120",
            "Base",
            "there is no /cdk-bootstrap/hnb659fds/version",
            lambda: parameters.delete_parameter(Name="/cdk-bootstrap/hnb659fds/version"),
        )
        self.plant(
            "old bootstrap stack",
            "HP9121",
            "Trimmed",
            "has version 5, the stacks ask for 6 or newer",
            lambda: parameters.put_parameter(
                Name="/cdk-bootstrap/trimmed/version", Value="5", Type="String", Overwrite=True
            ),
        )
        parameter = {"Subnets": [{"Fn::ImportValue": "subnet"}], "SecurityGroupIds": [self.place(self.vpc1)[1]]}
        self.group("train", "hidden", OverrideVpcConfig={**parameter, "Subnets": [self.place(self.vpc1)[0]]})
        self.plant(
            "subnet that only the deployment knows",
            "HP9003",
            "Base/train/hidden",
            "only the deployment knows subnets",
            lambda: self._groups["train"][-1].update({"OverrideVpcConfig": parameter}),
        )
        self._names()
        for name, status, rule in (("Broken", "ROLLBACK_COMPLETE", "HP9140"), ("Busy", "UPDATE_IN_PROGRESS", "HP9141")):
            self.resource(name, "Topic", "AWS::SNS::Topic", {})
            self.stacks[name] = ("UPDATE_COMPLETE", {})
            self.plant(f"stack: {name}", rule, name, f"is {status}", _updates(self.stacks, {name: (status, {})}))
        self.resource("Elsewhere", "Topic", "AWS::SNS::Topic", {})
        self.resource("Trimmed", "Topic", "AWS::SNS::Topic", {})
        self.plant(
            "another account",
            "HP9002",
            "Elsewhere",
            f"is for account {STRANGER}, but",
            lambda: self._stack_accounts.update({"Elsewhere": STRANGER}),
        )

    def _names(self) -> None:
        iam, s3 = self.account.client("iam"), self.account.client("s3")
        trust = json.dumps({"Version": "2012-10-17", "Statement": []})
        iam.create_service_linked_role(AWSServiceName="hyperpod.sagemaker.amazonaws.com")
        made = iam.list_roles()["Roles"][0]["RoleName"]
        if made != SERVICE_ROLE:  # moto makes a name of its own
            iam.create_role(RoleName=SERVICE_ROLE, AssumeRolePolicyDocument=trust)
        self.plant(
            "no service-linked role",
            "HP9150",
            "Base/train",
            f"has no role {SERVICE_ROLE}",
            lambda: iam.delete_role(RoleName=SERVICE_ROLE),
        )
        self.cluster("frontier", self.vpc1)
        self.plant(
            "name of a cluster",
            "HP9130",
            "Base/frontier",
            "cluster frontier (InService) is in us-west-2 already, and stack Base did not make it",
            lambda: self._create_cluster("frontier"),
        )
        self.resource("Base", "Data", "AWS::S3::Bucket", {"BucketName": "sagemaker-data"})
        self.resource("Base", "Logs", "AWS::S3::Bucket", {"BucketName": "sagemaker-logs"})
        self.stacks["Base"] = ("UPDATE_COMPLETE", {"Logs": "sagemaker-logs"})
        place = {"LocationConstraint": REGION}
        s3.create_bucket(Bucket="sagemaker-logs", CreateBucketConfiguration=place)
        self.plant(
            "name of a bucket",
            "HP9131",
            "Base/Data",
            "bucket sagemaker-data is there already",
            lambda: s3.create_bucket(Bucket="sagemaker-data", CreateBucketConfiguration=place),
        )
        nested = {"Resources": {"Inner": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "inner"}}}}
        self.nested["inner.template.json"] = nested
        self.resource(
            "Base", "Nested", "AWS::CloudFormation::Stack", {"TemplateURL": "https://assets/inner.template.json"}
        )
        self.plant(
            "name in a nested stack",
            "HP9133",
            "Base/Nested/Inner",
            "role inner is there already; whether",
            lambda: iam.create_role(RoleName="inner", AssumeRolePolicyDocument=trust),
        )
        self.resource("Base", "Nodes", "AWS::IAM::Role", {"RoleName": "nodes", "AssumeRolePolicyDocument": {}})
        self.plant(
            "name of a role",
            "HP9132",
            "Base/Nodes",
            "role nodes is there already",
            lambda: iam.create_role(RoleName="nodes", AssumeRolePolicyDocument=trust),
        )

    def _write(self) -> None:
        self.folder.mkdir(exist_ok=True)
        for file, nested in self.nested.items():
            (self.folder / file).write_text(json.dumps(nested))
        artifacts: dict[str, dict[str, Any]] = {}
        for name, resources in self._resources.items():
            template = {"Resources": resources, **_bootstrap("trimmed" if name == "Trimmed" else "hnb659fds")}
            (self.folder / f"{name}.template.json").write_text(json.dumps(template))
            artifacts[name] = {
                "type": "aws:cloudformation:stack",
                "environment": f"aws://{self._stack_accounts.get(name, ACCOUNT)}/{REGION}",
                "properties": {"templateFile": f"{name}.template.json", "stackName": name},
                "displayName": name,
            }
        files = {
            file: {"source": {"path": file}, "destinations": {"here": {"objectKey": file}}} for file in self.nested
        }
        (self.folder / "Base.assets.json").write_text(json.dumps({"files": files}))
        artifacts["Base.assets"] = {"type": "cdk:asset-manifest", "properties": {"file": "Base.assets.json"}}
        manifest = {"version": "50.0.0", "artifacts": artifacts}
        (self.folder / "manifest.json").write_text(json.dumps(manifest))

    def spoil(self) -> None:
        """Plants everything."""
        for plant in self.plants:
            plant.spoil()
        self._write()


def _found(things: Mapping[str, Any], name: str, code: str = "ResourceNotFoundException") -> Any:
    if name not in things:
        raise Refused(code)
    return things[name]


def _bootstrap(qualifier: str) -> dict[str, Any]:
    """What the CDK writes into every template. Source: aws-cdk-lib 2.275, stack-synthesizers."""
    return {
        "Parameters": {
            "BootstrapVersion": {
                "Type": "AWS::SSM::Parameter::Value<String>",
                "Default": f"/cdk-bootstrap/{qualifier}/version",
            }
        },
        "Rules": {
            "CheckBootstrapVersion": {
                "Assertions": [
                    {
                        "Assert": {
                            "Fn::Not": [{"Fn::Contains": [["1", "2", "3", "4", "5"], {"Ref": "BootstrapVersion"}]}]
                        },
                        "AssertDescription": "CDK bootstrap stack version 6 required.",
                    }
                ]
            }
        },
    }


def _day(month: int, day: int) -> datetime:
    return datetime(2026, month, day, 11, 30, tzinfo=UTC)


def _updates(thing: dict[str, Any], change: Mapping[str, Any]) -> Callable[[], object]:
    return lambda: thing.update(change)


def _call(function: Callable[..., object], *arguments: object, **named: object) -> Callable[[], object]:
    return lambda: function(*arguments, **named)


def _give_away(subnet: Any) -> None:  # moto has no types
    """Makes a subnet of moto one of another account, which moto does not have."""
    kind = type(subnet)
    subnet.__class__ = type(kind.__name__, (kind,), {"owner_id": STRANGER})


def _sets(thing: object, **attributes: object) -> None:
    for name, value in attributes.items():
        setattr(thing, name, value)
