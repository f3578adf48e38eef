"""Field reports on security groups, routes and endpoints (section B): each in its smallest form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

import hyperpod_constructs as hp
from hyperpod_constructs import rules
from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.model import template
from hyperpod_constructs.model.network import Rule, SecurityGroup
from tests.field_reports.settled import ids, settled
from tests.rules import networks
from tests.rules.builders import compute, deployment, slurm_cluster
from tests.rules.networks import CLOSED, ENDPOINTS, KUBERNETES, LUSTRE, UNDECIDED, ref, resource
from tests.rules.places import ANYWHERE, IN, OUT
from tests.templates import of_type, synthesized

NOTHING: list[str] = []
UNSEEN = Path(__file__).parents[2] / "docs" / "what-no-check-can-see.md"


def network_rules(found: list[Finding], *others: str) -> list[str]:
    """Rules about networks that some findings break, infos left out, and other rules that are asked for."""
    listed = ids([one for one in found if one.severity is not Severity.INFO])
    return [each for each in listed if each.startswith("HP4") or each in others]


def in_template(*changes: Any) -> list[str]:
    """The same for the sound template with changes."""
    return network_rules(networks.findings(*changes), "HP3018", "HP3022")


def of_app(app: cdk.App) -> list[str]:
    """The same for everything that an app makes."""
    app.synth()
    return network_rules(rules.check(template.read(app.outdir)))


def of_group(*given: Rule) -> list[str]:
    """Rules that a security group of P5 nodes breaks, given as values."""
    group = SecurityGroup(path="Net/Group", rules=given)
    return network_rules(rules.check(deployment(slurm_cluster(compute()), security_groups=(group,))))


@settled("synth")
@pytest.mark.parametrize(
    ("given", "told"),
    [((IN, ANYWHERE), ["HP4001"]), ((OUT,), ["HP4001"]), ((ANYWHERE,), ["HP4001"]), ((IN, OUT, ANYWHERE), NOTHING)],
)
def test_field_report_B_01_efa_needs_rules_that_name_the_group(given: tuple[Rule, ...], told: list[str]) -> None:
    assert of_group(*given) == told


@settled("synth")
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"Out": None}, ["HP4001"]),
        ({"In": None}, ["HP4001"]),
        ({"Out": {"IpProtocol": "tcp", "FromPort": 0, "ToPort": 65535}}, ["HP4001"]),
        ({"Out": {"DestinationSecurityGroupId": None, "CidrIp": "10.0.0.0/16"}}, ["HP4001"]),
        ({"Cluster": {"DependsOn": ["DefaultRoute", "Association"]}}, ["HP4002"]),
        ({}, NOTHING),
    ],
)
def test_field_report_B_01_so_does_a_template(changes: dict[str, Any], told: list[str]) -> None:
    assert in_template(changes) == told


@settled("synth")
def test_field_report_B_01_the_group_of_the_cdk_drops_the_rule_and_is_told(app: cdk.App, stack: cdk.Stack) -> None:
    """`allow_all_outbound` is on by default and swallows the egress rule to itself."""
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2b"], private_subnet_ids=["subnet-1"]
    )
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc)
    group.connections.allow_internally(ec2.Port.all_traffic())
    hp.Cluster(
        stack,
        "Cluster",
        name="train",
        network=hp.Network.from_attributes(
            stack,
            "Network",
            vpc_id="vpc-0123456789abcdef0",
            subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2", cidr="10.1.0.0/20")],
            security_group_ids=[group.security_group_id],
        ),
        groups=[hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=2)],
    )
    with pytest.raises(
        RuntimeError, match=r"Test/Group: security group of group 'p5' lets EFA traffic in from itself but"
    ):
        app.synth()


@settled("template")
def test_field_report_B_01_our_group_has_both_halves_of_the_rule(stack: cdk.Stack) -> None:
    hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)
    made = synthesized(stack)
    (inside,) = of_type(made, "AWS::EC2::SecurityGroupIngress").values()
    (out,) = of_type(made, "AWS::EC2::SecurityGroupEgress").values()
    assert inside["SourceSecurityGroupId"] == inside["GroupId"] == out["GroupId"] == out["DestinationSecurityGroupId"]
    assert inside["IpProtocol"] == out["IpProtocol"] == "-1"


OTHERS = (
    {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "10.0.0.0/8"},
    {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023, "SourceSecurityGroupId": "sg-0123456789abcdef0"},
)


@settled("synth")
@pytest.mark.parametrize(
    "changes",
    [
        {"Fabric": {"SecurityGroupIngress": list(OTHERS)}},
        {"Fabric": {"SecurityGroupIngress": list(reversed(OTHERS))}},
        {
            "Again": resource(
                "SecurityGroupIngress",
                GroupId=ref("Fabric"),
                SourceSecurityGroupId=ref("Fabric"),
                IpProtocol="tcp",
                FromPort=0,
                ToPort=65535,
            )
        },
        {"Cluster": {"VpcConfig": {"Subnets": [ref("Nodes")], "SecurityGroupIds": ["sg-0123456789abcdef0"]}}},
        {"In": {"IpProtocol": "all"}},
        {"In": {"SourceSecurityGroupId": UNDECIDED}},
    ],
)
def test_field_report_B_03_a_group_that_works_is_not_refused(changes: dict[str, Any]) -> None:
    assert in_template(changes) == NOTHING


@settled("synth")
def test_field_report_B_03_further_rules_of_values_do_not_matter() -> None:
    more = Rule(direction="ingress", protocol="tcp", from_port=988, to_port=988, group="Net/Group")
    for given in ((IN, OUT, more, ANYWHERE), (ANYWHERE, more, OUT, IN), (more, IN, ANYWHERE, OUT)):
        assert of_group(*given) == NOTHING


@settled("synth")
@pytest.mark.parametrize(
    ("after", "told"), [([], ["HP4037"]), (["Out"], ["HP4037"]), (["In"], NOTHING), (["In", "Out"], NOTHING)]
)
def test_field_report_B_04_a_file_system_waits_for_its_rules(after: list[str], told: list[str]) -> None:
    """The way out is open from the start: the group is made with egress to anywhere."""
    assert in_template({"Scratch": {**LUSTRE, "DependsOn": after}}) == told


@settled("template")
def test_field_report_B_04_ours_waits(stack: cdk.Stack) -> None:
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)
    lustre = hp.Lustre(capacity_gib=4800, throughput_mbps_per_tib=250)
    hp.LustreFileSystem(stack, "Scratch", network=network, lustre=lustre)
    made = synthesized(stack)["Resources"]
    (scratch,) = (each for each in made.values() if each["Type"] == "AWS::FSx::FileSystem")
    kinds = {made[name]["Type"] for name in scratch["DependsOn"]}
    assert kinds >= {"AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"}


def _guarded(*ports: tuple[int, int]) -> dict[str, Any]:
    """A file system whose group lets these ports through, among its servers and from the nodes."""
    lets = [{"IpProtocol": "tcp", "FromPort": low, "ToPort": high, "CidrIp": "10.0.0.0/16"} for low, high in ports]
    guard = resource("SecurityGroup", GroupDescription="lustre", VpcId=ref("Vpc"), SecurityGroupIngress=lets)
    properties = {**LUSTRE["Properties"], "SecurityGroupIds": [ref("Guard")]}
    return {"Guard": guard, "Scratch": {**LUSTRE, "Properties": properties}}


@settled("synth")
@pytest.mark.parametrize(
    ("ports", "told"),
    [
        ([(988, 988)], ["HP3022"]),
        ([(1018, 1023)], ["HP3018"]),
        ([(988, 1020)], ["HP3022"]),
        ([(988, 988), (1018, 1023)], NOTHING),
        ([(988, 1023)], NOTHING),
    ],
)
def test_field_report_B_05_lustre_needs_all_of_its_ports(ports: list[tuple[int, int]], told: list[str]) -> None:
    assert in_template(_guarded(*ports)) == told


@settled("synth")
@pytest.mark.parametrize(("count", "told"), [(60, ["HP4038"]), (59, NOTHING)])
def test_field_report_B_07_rules_beyond_the_quota_are_told(count: int, told: list[str]) -> None:
    """Beside the one rule that is a resource of its own."""
    many = [{"IpProtocol": "tcp", "FromPort": n, "ToPort": n, "CidrIp": "10.0.0.0/8"} for n in range(1, count + 1)]
    assert in_template({"Fabric": {"SecurityGroupIngress": many}}) == told
    lets = tuple(
        Rule(direction="ingress", protocol="tcp", from_port=n, to_port=n, cidr="10.0.0.0/8") for n in range(count)
    )
    assert of_group(IN, OUT, *lets) == told


@settled("synth")
def test_field_report_B_07_one_rule_given_twice_is_told() -> None:
    same = resource("SecurityGroupIngress", GroupId=ref("Fabric"), SourceSecurityGroupId=ref("Fabric"), IpProtocol="-1")
    assert in_template({"Twice": same}) == ["HP4039"]
    assert of_group(IN, OUT, IN) == ["HP4039"]


@settled("template")
def test_field_report_B_07_many_groups_share_the_rules_of_one(stack: cdk.Stack) -> None:
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=["ssm"])
    groups = [hp.InstanceGroup.compute(f"g{n}", "ml.c5.xlarge", count=1) for n in range(20)]
    hp.Cluster(
        stack,
        "Cluster",
        name="train",
        network=network,
        groups=[hp.InstanceGroup.controller("ml.m5.xlarge"), *groups],
        mounts={
            "/fsx": hp.LustreFileSystem(
                stack, "Scratch", network=network, lustre=hp.Lustre(capacity_gib=1200, throughput_mbps_per_tib=125)
            )
        },
    )
    made = synthesized(stack)
    assert len(of_type(made, "AWS::EC2::SecurityGroupIngress")) == 1
    assert len(of_type(made, "AWS::EC2::SecurityGroupEgress")) == 1


@settled("synth")
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"PublicRoute": {"DependsOn": None}}, ["HP4029"]),
        ({"Address": {"DependsOn": None}}, ["HP4029"]),
        ({"Attachment": None}, ["HP4030"]),
        ({"Cluster": {"DependsOn": ["In", "Out"]}}, ["HP4032"]),
        ({"Address": {"DependsOn": None}, "Nat": {"DependsOn": ["PublicRoute"]}}, NOTHING),
    ],
)
def test_field_report_B_08_what_stands_on_a_gateway_waits_for_it(changes: dict[str, Any], told: list[str]) -> None:
    assert in_template(changes) == told


@settled("template")
def test_field_report_B_08_our_network_is_built_in_order(app: cdk.App, stack: cdk.Stack) -> None:
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], flow_logs=False)
    groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=2)]
    hp.Cluster(stack, "Cluster", name="train", network=network, groups=groups)
    assert of_app(app) == NOTHING


ON_EKS = {
    f"Endpoint{number}": networks.endpoint(service) for number, service in enumerate(("ecr.api", "ecr.dkr", "eks-auth"))
}


@settled("synth")
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([CLOSED], ["HP4034"]),
        ([CLOSED, KUBERNETES], ["HP4033"]),
        ([CLOSED, KUBERNETES, ENDPOINTS], ["HP4034"]),
        ([CLOSED, ENDPOINTS, {"Ssm": {"PrivateDnsEnabled": False}}], ["HP4036"]),
        ([CLOSED, ENDPOINTS, {"Ssm": {"SecurityGroupIds": [ref("Other")]}}], ["HP4035"]),
        ([CLOSED, ENDPOINTS, {"Vpc": {"EnableDnsHostnames": False}}], ["HP4028"]),
        ([{"Vpc": {"EnableDnsHostnames": None}}], ["HP4027"]),
        ([CLOSED, ENDPOINTS, {"S3": {"RouteTableIds": [ref("PublicTable")]}}], ["HP4034"]),
        ([CLOSED, KUBERNETES, ENDPOINTS, ON_EKS], NOTHING),
        ([CLOSED, ENDPOINTS], NOTHING),
        ([], NOTHING),
    ],
)
def test_field_report_B_09_nodes_without_a_way_out_have_endpoints(
    changes: list[dict[str, Any]], told: list[str]
) -> None:
    other = resource("SecurityGroup", GroupDescription="nobody", VpcId=ref("Vpc"))
    assert in_template(*changes, {"Other": other}) == told


@settled("synth")
def test_field_report_B_09_our_closed_network_has_them_unless_told_otherwise(app: cdk.App) -> None:
    def make(name: str, **options: Any) -> None:
        stack = cdk.Stack(app, name, env=cdk.Environment(account="111122223333", region="us-west-2"))
        network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", flow_logs=False, **options)
        groups = [hp.InstanceGroup.controller("ml.m5.xlarge")]
        hp.Cluster(stack, "Cluster", name=name, network=network, groups=groups)

    make("whole")
    make("bare", endpoints=[])
    app.synth()
    found = [each for each in rules.check(template.read(app.outdir)) if each.rule == "HP4034"]
    assert [each.path for each in found] == ["bare/Cluster/controller"]
    assert "there is no endpoint for ec2, ec2messages, logs, monitoring, ssm, ssmmessages and sts" in found[0].message


@settled("docs")
def test_field_report_B_11_what_others_left_in_a_vpc_is_in_the_documents() -> None:
    (line,) = [each for each in UNSEEN.read_text().split("\n- ") if "[B-11]" in each]
    assert "GuardDuty" in line
    assert "aws ec2 describe-network-interfaces --filters Name=vpc-id" in line
