"""Field reports on placement, subnets and addresses (section A): each in its smallest form, as values and templates."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from hyperpod_constructs import rules
from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.model import template
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import Subnet
from hyperpod_constructs.model.storage import FileSystem, Lustre, Mount
from tests.field_reports.settled import ids, settled
from tests.rules import networks
from tests.rules.builders import cluster, compute, deployment, eks_cluster, kubernetes, slurm_cluster
from tests.rules.networks import KUBERNETES, LUSTRE, NETWORK, ref, resource
from tests.rules.places import placed, subnet
from tests.templates import of_type, synthesized

NOTHING: list[str] = []
ENV = cdk.Environment(account="111122223333", region="us-west-2")
P5 = NETWORK["Cluster"]["Properties"]["InstanceGroups"][1]


def network_rules(found: list[Finding]) -> list[str]:
    """Rules about networks that some findings break, infos left out."""
    return [each for each in ids([one for one in found if one.severity is not Severity.INFO]) if each.startswith("HP4")]


def of(judged: Deployment) -> list[str]:
    """The same for a deployment given as values."""
    return network_rules(rules.check(judged))


def in_template(*changes: Any, region: str = "us-west-2") -> list[str]:
    """The same for the sound template with changes."""
    return network_rules(networks.findings(*changes, region=region))


def group_of(instance_type: str, count: int = 2, **others: Any) -> dict[str, Any]:
    """The template's cluster with one group of this type."""
    return {"Cluster": {"InstanceGroups": [{**P5, "InstanceType": instance_type, "InstanceCount": count, **others}]}}


@settled("synth")
@pytest.mark.parametrize(
    ("instance_type", "zone", "told"),
    [
        ("ml.g5.12xlarge", "usw2-az4", ["HP4012"]),
        ("ml.p4de.24xlarge", "usw2-az4", ["HP4012"]),
        ("ml.g5.12xlarge", "usw2-az2", NOTHING),
        ("ml.p5.48xlarge", "usw2-az4", NOTHING),
    ],
)
def test_field_report_A_01_a_type_that_its_zone_lacks_is_no_lack_of_capacity(
    instance_type: str, zone: str, told: list[str]
) -> None:
    judged = deployment(slurm_cluster(compute(instance_type=instance_type)), subnets=(subnet("Net/Nodes", zone),))
    found = [each for each in rules.check(judged) if each.rule == "HP4012"]
    assert ids(found) == told
    assert all("describe-instance-type-offerings --location-type availability-zone-id" in each.fix for each in found)
    moved = {"AvailabilityZoneId": zone}
    assert in_template(group_of(instance_type), {"Nodes": moved, "Public": moved}) == told


@settled("synth")
def test_field_report_A_02_a_zone_of_another_region_is_refused_where_the_user_wrote_it(app: cdk.App) -> None:
    with pytest.raises(hp.InvalidCluster, match="zone usw2-az2 is in us-west-2 but the cluster is in eu-central-1"):
        hp.SlurmTraining(
            app,
            "Train",
            env=cdk.Environment(account="111122223333", region="eu-central-1"),
            zone="usw2-az2",
            groups=[hp.InstanceGroup.controller("ml.m5.xlarge")],
        )


@settled("synth")
@pytest.mark.parametrize(
    ("zone", "region", "told"),
    [
        ({"AvailabilityZoneId": "usw2-az2"}, "eu-central-1", ["HP4007"]),
        ({"AvailabilityZone": "us-west-2b"}, "eu-central-1", ["HP4007"]),
        ({"AvailabilityZone": "us-west-2-phx-2a"}, "eu-central-1", ["HP4007"]),
        ({"AvailabilityZoneId": "us-west-2b"}, "us-west-2", ["HP4013"]),
        ({"AvailabilityZone": "usw2-az2"}, "us-west-2", ["HP4013"]),
        ({"AvailabilityZoneId": "usw2-az7"}, "us-west-2", ["HP4014"]),
        ({"AvailabilityZoneId": "euc1-az2"}, "eu-central-1", NOTHING),
        ({"AvailabilityZone": "eu-central-1b"}, "eu-central-1", NOTHING),
    ],
)
def test_field_report_A_02_zone_and_region_are_compared(zone: dict[str, str], region: str, told: list[str]) -> None:
    changes = {"Nodes": {"AvailabilityZoneId": None, **zone}, "Public": {"AvailabilityZoneId": None}}
    assert in_template(group_of("ml.m5.4xlarge"), changes, region=region) == told


@settled("synth")
@pytest.mark.parametrize(
    ("zone", "told"),
    [
        ({"AvailabilityZoneId": "usw2-phx2-az1"}, ["HP4024"]),
        ({"AvailabilityZoneId": None, "AvailabilityZone": "us-west-2-phx-2a"}, ["HP4024"]),
        ({"AvailabilityZoneId": "usw2-az2"}, ["HP4024"]),
        ({"AvailabilityZoneId": "usw2-az3"}, NOTHING),
    ],
)
def test_field_report_A_04_the_control_plane_stands_in_zones_of_the_region(
    zone: dict[str, Any], told: list[str]
) -> None:
    assert in_template(KUBERNETES, {"ControlA": zone}) == told


@settled("synth")
def test_field_report_A_04_nodes_alone_may_stand_in_a_local_zone() -> None:
    local = {"AvailabilityZoneId": None, "AvailabilityZone": "us-west-2-phx-2a"}
    assert in_template(KUBERNETES, {"Nodes": local}) == NOTHING


@settled("synth")
@pytest.mark.parametrize(
    ("zone", "group", "told"),
    [
        ({"AvailabilityZone": "us-west-2-phx-2a"}, None, ["HP4031"]),
        ({"AvailabilityZone": "us-west-2-phx-2a"}, "us-west-2-phx-2a", ["HP4031"]),
        ({"AvailabilityZoneId": "usw2-phx2-az1"}, "us-west-2", ["HP4031"]),
        ({"AvailabilityZone": "us-west-2-phx-2a"}, "us-west-2-phx-2", NOTHING),
        ({"AvailabilityZoneId": "usw2-az2"}, None, NOTHING),
    ],
)
def test_field_report_A_05_the_address_of_a_nat_gateway_is_one_of_its_zone(
    zone: dict[str, str], group: str | None, told: list[str]
) -> None:
    address = {"NetworkBorderGroup": group} if group else {}
    assert in_template({"Public": {"AvailabilityZoneId": None, **zone}, "Address": address}) == told


@settled("synth")
def test_field_report_A_05_our_network_says_what_a_local_zone_needs(stack: cdk.Stack) -> None:
    with pytest.raises(hp.InvalidValue, match=r"from_attributes.* address with NetworkBorderGroup us-west-2-phx-2$"):
        hp.ClusterNetwork(stack, "Network", zones=["usw2-phx2-az1"])
    with pytest.raises(hp.InvalidValue, match="known only at deploy"):
        hp.ClusterNetwork(stack, "Hidden", zones=[cdk.Fn.import_value("zone")])


@settled("synth")
@pytest.mark.parametrize(
    ("cidr", "count", "told"),
    [("10.0.64.0/24", 16, ["HP4003"]), ("10.0.64.0/24", 7, NOTHING), ("10.0.64.0/22", 16, NOTHING)],
)
def test_field_report_A_06_every_network_card_takes_an_address(cidr: str, count: int, told: list[str]) -> None:
    judged = deployment(cluster(groups=(compute(count=count),)), subnets=(subnet("Net/Nodes", cidr=cidr),))
    assert [each for each in of(judged) if each == "HP4003"] == told
    assert in_template({"Nodes": {"CidrBlock": cidr}}, group_of("ml.p5.48xlarge", count)) == told


@settled("synth")
def test_field_report_A_06_our_own_network_is_wide_enough_and_says_when_it_is_not(stack: cdk.Stack) -> None:
    with pytest.raises(
        hp.InvalidCluster, match=r"needs 512 addresses \(16 nodes x 32\) but subnet usw2-az2 .* has 251"
    ):
        hp.Cluster(
            stack,
            "Cluster",
            name="train",
            network=hp.Network.from_attributes(
                stack,
                "Network",
                vpc_id="vpc-0123456789abcdef0",
                subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2", cidr="10.1.0.0/24")],
            ),
            groups=[
                hp.InstanceGroup.controller("ml.m5.xlarge"),
                hp.InstanceGroup.compute("w", "ml.p5.48xlarge", count=16),
            ],
        )


@settled("synth")
@pytest.mark.parametrize(("count", "told"), [(4, ["HP4004"]), (3, NOTHING)])
def test_field_report_A_08_pods_take_addresses_too(count: int, told: list[str]) -> None:
    """A HyperPod node carries pods on one interface: 15 addresses of m5.2xlarge, not the 60 of all its interfaces."""
    group = kubernetes(instance_type="ml.m5.2xlarge", count=count)
    judged = deployment(eks_cluster(group), subnets=(subnet("Net/Nodes", cidr="10.1.0.0/26"),))
    found = [each for each in rules.check(judged) if each.rule == "HP4004"]
    assert ids(found) == told
    assert all(f"({count} nodes x 15: max pods + 1 + one for each network card" in each.message for each in found)
    pods = {**KUBERNETES["Cluster"]["InstanceGroups"][0], "InstanceType": "ml.m5.2xlarge", "InstanceCount": count}
    small = {"Nodes": {"CidrBlock": "10.0.64.0/26"}, "Cluster": {"InstanceGroups": [pods]}}
    assert in_template(KUBERNETES, small) == told


@settled("synth")
@pytest.mark.parametrize(
    ("subnets", "cidr", "told"),
    [
        ([ref("ControlA"), ref("Nodes")], "10.0.64.0/27", ["HP4025"]),
        ([ref("ControlA"), ref("Nodes")], "10.0.64.0/24", NOTHING),
        ([ref("ControlA"), ref("ControlB")], "10.0.64.0/27", NOTHING),
        ([ref("ControlA")], "10.0.64.0/24", ["HP4024"]),
    ],
)
def test_field_report_A_09_the_control_plane_keeps_free_addresses(
    subnets: list[Any], cidr: str, told: list[str]
) -> None:
    pods = {**KUBERNETES["Cluster"]["InstanceGroups"][0], "InstanceType": "ml.m5.2xlarge", "InstanceCount": 1}
    changes = {
        "Eks": {"ResourcesVpcConfig": {"SubnetIds": subnets}},
        "Nodes": {"CidrBlock": cidr},
        "Cluster": {"InstanceGroups": [pods]},
    }
    assert in_template(KUBERNETES, changes) == told


@settled("template")
def test_field_report_A_10_a_stack_without_an_environment_gets_every_zone_that_is_asked_for(app: cdk.App) -> None:
    agnostic = cdk.Stack(app, "Agnostic")
    hp.ClusterNetwork(agnostic, "Network", zones=["usw2-az1", "usw2-az2", "usw2-az3"], egress="closed", endpoints=[])
    found = of_type(synthesized(agnostic), "AWS::EC2::Subnet").values()
    assert sorted(each["AvailabilityZoneId"] for each in found) == ["usw2-az1", "usw2-az2", "usw2-az3"]
    with pytest.raises(hp.InvalidValue, match="give one or more different zone ids"):
        hp.ClusterNetwork(agnostic, "Twice", zones=["usw2-az1", "usw2-az1"])


@settled("synth")
@pytest.mark.parametrize(
    ("instance_type", "public", "told"),
    [
        ("ml.p4d.24xlarge", True, ["HP4005"]),
        ("ml.m5.4xlarge", "true", ["HP4005"]),
        ("ml.p4d.24xlarge", False, NOTHING),
    ],
)
def test_field_report_A_12_nodes_get_no_public_addresses(instance_type: str, public: Any, told: list[str]) -> None:
    value = Subnet(path="Net/Nodes", zone="usw2-az2", cidr="10.1.32.0/19", public=bool(public))
    assert of(deployment(slurm_cluster(compute(instance_type=instance_type)), subnets=(value,))) == told
    assert in_template({"Nodes": {"MapPublicIpOnLaunch": public}}, group_of(instance_type)) == told


@settled("template")
def test_field_report_A_12_our_subnets_give_out_no_public_addresses(stack: cdk.Stack) -> None:
    hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], flow_logs=False)
    assert {each["MapPublicIpOnLaunch"] for each in of_type(synthesized(stack), "AWS::EC2::Subnet").values()} == {False}


SECOND_ZONE = {"Fn::Select": [1, {"Fn::GetAZs": ""}]}


@settled("synth")
@pytest.mark.parametrize(
    ("zone", "instance_type", "told"),
    [
        ({"AvailabilityZoneId": "usw2-az1"}, "ml.p5.48xlarge", ["HP4006"]),
        ({"AvailabilityZoneId": "usw2-az1"}, "ml.m5.4xlarge", NOTHING),
        ({"AvailabilityZoneId": "usw2-az2"}, "ml.p5.48xlarge", NOTHING),
    ],
)
def test_field_report_A_13_a_group_with_efa_stays_in_one_zone(
    zone: dict[str, Any], instance_type: str, told: list[str]
) -> None:
    group = compute(instance_type=instance_type, placement=placed("Net/Nodes", "B"))
    pair = (subnet("Net/Nodes"), subnet("B", zone["AvailabilityZoneId"], "10.1.1.0/24"))
    assert of(deployment(slurm_cluster(group), subnets=pair)) == told
    place = {"Subnets": [ref("Nodes"), ref("B")], "SecurityGroupIds": [ref("Fabric")]}
    second = resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.3.0/24", **zone)
    association = resource("SubnetRouteTableAssociation", SubnetId=ref("B"), RouteTableId=ref("Table"))
    waits = {"Cluster": {"DependsOn": ["In", "Out", "DefaultRoute", "Association", "Second"]}}
    changes = group_of(instance_type, OverrideVpcConfig=place)
    assert in_template({"B": second, "Second": association}, changes, waits) == told


@settled("synth")
@pytest.mark.parametrize(
    ("nodes", "data", "told"),
    [
        ({"AvailabilityZoneId": "usw2-az1"}, {"AvailabilityZoneId": "usw2-az2"}, ["HP4008"]),
        ({"AvailabilityZone": "us-west-2a"}, {"AvailabilityZone": "us-west-2b"}, ["HP4008"]),
        ({"AvailabilityZone": {"Fn::Select": [0, {"Fn::GetAZs": ""}]}}, {"AvailabilityZone": SECOND_ZONE}, ["HP4008"]),
        ({"AvailabilityZone": SECOND_ZONE}, {"AvailabilityZone": SECOND_ZONE}, NOTHING),
        ({"AvailabilityZoneId": "usw2-az2"}, {"AvailabilityZoneId": "usw2-az2"}, NOTHING),
        ({"AvailabilityZoneId": "usw2-az2"}, {"AvailabilityZone": "us-west-2b"}, NOTHING),
    ],
)
def test_field_report_A_14_nodes_and_file_system_stand_in_one_zone(
    nodes: dict[str, Any], data: dict[str, Any], told: list[str]
) -> None:
    mount = {"DnsName": {"Fn::GetAtt": ["Scratch", "DNSName"]}, "MountName": "abcdefgh"}
    found = in_template(
        {"Data": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.3.0/24", **data), "Scratch": LUSTRE},
        {"Scratch": {"SubnetIds": [ref("Data")]}, "Nodes": {"AvailabilityZoneId": None, **nodes}},
        group_of("ml.p5.48xlarge", InstanceStorageConfigs=[{"FsxLustreConfig": mount}]),
    )
    assert found == told


@settled("synth")
@pytest.mark.parametrize(("zone", "told"), [("usw2-az1", ["HP4008"]), ("usw2-az2", NOTHING)])
def test_field_report_A_14_says_that_the_efa_of_a_file_system_is_lost(zone: str, told: list[str]) -> None:
    scratch = FileSystem(path="Scratch", lustre=Lustre(efa=True), subnets=("Data",))
    group = compute(mounts=(Mount(kind="lustre", file_system="Scratch"),))
    pair = (subnet("Net/Nodes", cidr="10.1.32.0/19"), subnet("Data", zone))
    judged = deployment(slurm_cluster(group), subnets=pair, file_systems=(scratch,))
    found = [each for each in rules.check(judged) if each.rule == "HP4008"]
    assert ids(found) == told
    assert all("its EFA cannot be used" in each.message for each in found)


@settled("template")
@pytest.mark.parametrize("zones", [["usw2-az1", "usw2-az2"], ["usw2-az2", "usw2-az3"]])
def test_field_report_A_16_one_more_zone_leaves_the_subnets_that_are_there(app: cdk.App, zones: list[str]) -> None:
    before, after = (
        of_type(synthesized(_network(app, name, its_zones)), "AWS::EC2::Subnet")
        for name, its_zones in (("Before", ["usw2-az2"]), ("After", zones))
    )
    nodes = {name: each for name, each in before.items() if "Nodes" in name}
    assert len(nodes) == 1
    assert nodes.items() <= after.items()


@settled("template")
def test_field_report_A_16_a_nat_gateway_in_another_zone_has_an_address_of_its_own(app: cdk.App) -> None:
    """With the same names CloudFormation would give the address to the new one while the old one still has it."""
    first, second = (
        of_type(synthesized(_network(app, name, zones)), "AWS::EC2::NatGateway")
        for name, zones in (("First", ["usw2-az2"]), ("Second", ["usw2-az1", "usw2-az2"]))
    )
    assert first.keys() & second.keys() == set()
    assert json.dumps([*first.values()]) != json.dumps([*second.values()])


def _network(app: cdk.App, name: str, zones: list[str]) -> cdk.Stack:
    stack = cdk.Stack(app, name, env=ENV)
    hp.ClusterNetwork(stack, "Network", zones=zones, flow_logs=False)
    return stack


def _more(cidr: str) -> dict[str, Any]:
    return {"More": resource("VPCCidrBlock", VpcId=ref("Vpc"), CidrBlock=cidr)}


@settled("synth")
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (_more("10.0.128.0/17"), ["HP4017"]),
        (_more("10.1.0.0/15"), ["HP4017"]),
        ({f"More{n}": _more(f"10.{n}.0.0/16")["More"] for n in range(1, 6)}, ["HP4018"]),
        ({"Other": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.80.0/20")}, ["HP4015"]),
        ({"Other": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.1.0.0/20")}, ["HP4016"]),
        (
            {
                "Vpc": {"CidrBlock": "172.17.0.0/16"},
                "Nodes": {"CidrBlock": "172.17.64.0/19"},
                "Public": {"CidrBlock": "172.17.0.0/24"},
            },
            ["HP4019"],
        ),
        ({**_more("10.1.0.0/16"), "Other": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.1.0.0/20")}, ["HP4029"]),
        (_more("10.1.0.0/16"), NOTHING),
        ({"Other": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.96.0/20")}, NOTHING),
    ],
)
def test_field_report_A_17_blocks_of_a_network_are_ones_that_can_be_had(
    changes: dict[str, Any], told: list[str]
) -> None:
    assert in_template(changes) == told


@settled("synth")
@pytest.mark.parametrize(("cidr", "told"), [("172.17.0.0/16", ["HP4019"]), ("10.17.0.0/16", NOTHING)])
def test_field_report_A_17_our_network_in_addresses_of_docker_is_told(app: cdk.App, cidr: str, told: list[str]) -> None:
    stack = cdk.Stack(app, "Test", env=ENV)
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], cidr=cidr, flow_logs=False)
    hp.Cluster(stack, "Cluster", name="train", network=network, groups=[hp.InstanceGroup.controller("ml.m5.xlarge")])
    app.synth()
    assert network_rules(rules.check(template.read(app.outdir))) == told


@settled("synth")
def test_field_report_A_17_a_network_that_is_no_block_of_a_vpc_is_refused(stack: cdk.Stack) -> None:
    with pytest.raises(hp.InvalidValue, match="use /16 to /22"):
        hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], cidr="10.0.0.0/15")
    with pytest.raises(hp.InvalidValue, match=r"use an IPv4 block of /16 to /28"):
        hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", cidr="10.0.0.0/29")
