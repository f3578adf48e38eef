"""Field reports on the shape of a cluster and on its updates (section F)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hyperpod_constructs as hp
from tests.field_reports.settled import checked, ids, settled
from tests.templates import of_type, synthesized

if TYPE_CHECKING:
    import aws_cdk as cdk

NOT_SEEN = Path(__file__).parents[2] / "docs" / "what-no-check-can-see.md"
ROLE = "arn:aws:iam::111122223333:role/nodes"
NOTHING: list[str] = []


def group(name: str, kind: str = "ml.p5.48xlarge", **fields: Any) -> dict[str, Any]:
    """A compute group as a template has it; a field that is `None` is left out."""
    basics = {
        "InstanceGroupName": name,
        "InstanceType": kind,
        "InstanceCount": 1,
        "ExecutionRole": ROLE,
        "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]},
    }
    return {key: value for key, value in {**basics, **fields}.items() if value is not None}


def head(name: str = "controller", **fields: Any) -> dict[str, Any]:
    return group(name, "ml.m5.4xlarge", SlurmConfig={"NodeType": "Controller"}, **fields)


def slurm(*groups: dict[str, Any], **properties: Any) -> list[str]:
    """The rules that speak of a Slurm cluster of these groups."""
    return found(*groups, Orchestrator={"Slurm": {}}, **properties)


def eks(*groups: dict[str, Any], **properties: Any) -> list[str]:
    """The rules that speak of an EKS cluster of these groups."""
    arn = "arn:aws:eks:us-west-2:111122223333:cluster/e"
    vpc = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]}
    return found(*groups, Orchestrator={"Eks": {"ClusterArn": arn}}, VpcConfig=vpc, **properties)


def found(*groups: dict[str, Any], **properties: Any) -> list[str]:
    basics = {"ClusterName": "train", "NodeProvisioningMode": "Continuous", "InstanceGroups": list(groups)}
    cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {**basics, **properties}}
    return [each for each in ids(checked(json.dumps({"Resources": {"C": cluster}}))) if each != "HP5016"]


def pods(name: str, kind: str = "ml.p5.48xlarge", **fields: Any) -> dict[str, Any]:
    return group(name, kind, **{"SlurmConfig": None, **fields})


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)


def refused(*groups: hp.InstanceGroup, stack: cdk.Stack, network: hp.Network, **options: Any) -> str:
    """Why the construct refuses these groups."""
    with pytest.raises(hp.InvalidCluster) as error:
        hp.Cluster(stack, "Cluster", name="train", network=network, groups=list(groups), **options)
    return str(error.value)


CONTROLLER = hp.InstanceGroup.controller("ml.m5.xlarge")


def said_of(report: str) -> str:
    """The line on a report in the page of what no check can see."""
    lines = NOT_SEEN.read_text().replace("\n  ", " ").splitlines()
    (line,) = (each for each in lines if each.endswith(f"[{report}]"))
    return line


def create_only(written: dict[str, Any]) -> dict[str, Any]:
    """What replaces a cluster when it changes."""
    (properties,) = of_type(written, "AWS::SageMaker::Cluster").values()
    return {name: properties.get(name) for name in ("ClusterName", "VpcConfig", "Orchestrator")}


@settled("template")
def test_field_report_F_01_what_replaces_a_cluster_stays_when_a_zone_is_added(
    tmp_path: Path, context: dict[str, Any]
) -> None:
    import aws_cdk as cdk

    seen = []
    for zones in (["usw2-az2"], ["usw2-az2", "usw2-az1"]):
        app = cdk.App(context=context, outdir=str(tmp_path / str(len(zones))))
        stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="111122223333", region="us-west-2"))
        network = hp.ClusterNetwork(stack, "Network", zones=zones, egress="closed", endpoints=[], flow_logs=False)
        hp.Cluster(stack, "Cluster", name="train", network=network, groups=[CONTROLLER])
        seen.append(create_only(synthesized(stack)))
    assert seen[0] == seen[1]
    assert seen[0]["ClusterName"] == "train"


@settled("synth")
def test_field_report_F_01_a_template_without_a_fixed_name_is_told() -> None:
    assert slurm(head(), ClusterName=None) == ["HP2204"]
    assert slurm(head()) == NOTHING
    assert "Make a second cluster under another name" in said_of("F-01")


@settled("template")
def test_field_report_F_02_defaults_and_what_is_left_out_give_one_template(
    tmp_path: Path, context: dict[str, Any]
) -> None:
    import aws_cdk as cdk

    seen = []
    nothing: dict[str, Any] = {}
    defaults = {
        "slurm": hp.Slurm(),
        "tags": {},
        "mounts": {},
        "roles": {},
        "lifecycle": hp.LifecycleScripts.ami_only(),
    }
    for number, options in enumerate((nothing, defaults)):
        app = cdk.App(context=context, outdir=str(tmp_path / str(number)))
        stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="111122223333", region="us-west-2"))
        network = hp.ClusterNetwork(
            stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False
        )
        hp.Cluster(stack, "Cluster", name="train", network=network, groups=[CONTROLLER], **options)
        seen.append(synthesized(stack))
    assert seen[0] == seen[1]


@settled("docs")
def test_field_report_F_04_the_service_picks_the_nodes_that_go() -> None:
    assert "aws sagemaker batch-delete-cluster-nodes" in said_of("F-04")


@settled("synth")
def test_field_report_F_05_groups_have_names_of_their_own_and_one_is_the_controller(
    stack: cdk.Stack, network: hp.Network
) -> None:
    workers = [hp.InstanceGroup.compute("workers", "ml.c5.xlarge", count=1) for _ in range(2)]
    both = refused(CONTROLLER, *workers, stack=stack, network=network)
    assert "2 groups are named 'workers'" in both
    heads = [hp.InstanceGroup.controller("ml.m5.xlarge", name=name) for name in ("a", "b")]
    assert "2 controller groups" in refused(*heads, stack=stack, network=network)
    assert slurm(head(), group("workers"), group("workers")) == ["HP1002"]
    assert slurm(head(), group("workers"), group("Workers")) == ["HP1003"]
    assert slurm(head("a"), head("b")) == ["HP2001"]
    assert slurm(head(InstanceCount=2)) == ["HP2002"]
    assert slurm(head(), group("workers"), group("workers-2")) == NOTHING


@settled("synth")
@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("HP2010", eks(group("p5"))),
        ("HP2012", slurm(head(), group("p5", KubernetesConfig={"Labels": {"team": "a"}}))),
        ("HP2012", slurm(head(), group("p5", ImageReleaseVersion="1.2.3"))),
        ("HP2012", slurm(head(), AutoScaling={"Mode": "Enable"})),
        ("HP2012", slurm(head(), TieredStorageConfig={"Mode": "Enable"})),
        (
            "HP1001",
            found(head(), Orchestrator={"Slurm": {}, "Eks": {"ClusterArn": "arn:aws:eks:us-west-2:1:cluster/e"}}),
        ),
    ],
)
def test_field_report_F_06_fields_belong_to_one_orchestrator(rule: str, found: list[str]) -> None:
    assert found == [rule]


@settled("synth")
def test_field_report_F_06_each_with_its_own_fields_is_fine() -> None:
    assert eks(pods("p5", KubernetesConfig={"Labels": {"team": "a"}})) == NOTHING
    assert slurm(head(), group("p5")) == NOTHING


@settled("synth")
def test_field_report_F_08_a_group_has_one_kind_of_type_and_capacity(stack: cdk.Stack, network: hp.Network) -> None:
    plan = {"TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p"}
    both = hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=1, flexible_types=("ml.p5e.48xlarge",))  # type: ignore[call-arg]  # what the report did
    assert "both InstanceType" in refused(CONTROLLER, both, stack=stack, network=network)
    assert eks(pods("p5", InstanceRequirements={"InstanceTypes": ["ml.p5e.48xlarge"]})) == ["HP1007"]
    assert "HP1206" in eks(pods("p5", CapacityRequirements={"Spot": {}}, **plan))
    many = [f"ml.{family}.{size}xlarge" for family in ("m5", "c5", "m6i", "c6i", "r6i") for size in (2, 4, 8, 12, 24)]
    assert "HP1008" in eks(pods("cpu", InstanceType=None, InstanceRequirements={"InstanceTypes": many}))
    few = {"InstanceTypes": ["ml.g5.8xlarge", "ml.g6.8xlarge"]}
    assert eks(pods("g", InstanceType=None, InstanceRequirements=few, CapacityRequirements={"Spot": {}})) == NOTHING


@settled("synth")
def test_field_report_F_09_one_thread_where_a_core_has_one(stack: cdk.Stack, network: hp.Network) -> None:
    arm = hp.InstanceGroup.compute("c", "ml.c7g.4xlarge", count=1, threads_per_core=2)
    assert "asks for 2 threads per core of ml.c7g.4xlarge" in refused(CONTROLLER, arm, stack=stack, network=network)
    assert slurm(head(), group("c", "ml.c7g.4xlarge", ThreadsPerCore=2)) == ["HP1014"]
    types = {"InstanceTypes": ["ml.c7g.4xlarge", "ml.c6i.4xlarge"]}
    assert eks(pods("c", InstanceType=None, InstanceRequirements=types, ThreadsPerCore=2)) == ["HP1020"]
    assert slurm(head(), group("c", "ml.c7g.4xlarge", ThreadsPerCore=1)) == NOTHING


@settled("template")
def test_field_report_F_10_nothing_is_nested_from_an_address(stack: cdk.Stack, network: hp.Network) -> None:
    hp.Cluster(stack, "Cluster", name="train", network=network, groups=[CONTROLLER])
    written = synthesized(stack)
    assert "TemplateURL" not in json.dumps(written)
    assert "keep a copy of those that you nest" in said_of("F-10")


@settled("synth")
def test_field_report_F_12_deep_checks_are_for_types_that_have_them(stack: cdk.Stack, network: hp.Network) -> None:
    unknown = hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=1, health_checks=["MultiNode"])  # type: ignore[list-item]  # what the report did
    assert "which is not documented" in refused(CONTROLLER, unknown, stack=stack, network=network)
    checks: dict[str, Any] = {"OnStartDeepHealthChecks": ["InstanceStress"]}
    assert slurm(head(**checks)) == ["HP1203"]
    assert slurm(head(), group("cpu", "ml.m5.xlarge", **checks)) == ["HP1202"]
    assert eks(pods("cpu", "ml.m5.xlarge", **checks)) == ["HP1202"]
    assert slurm(head(), group("p5", OnStartDeepHealthChecks=["Instancestress"])) == ["HP1201", "HP1204"]
    taints: dict[str, Any] = {"KubernetesConfig": {"Taints": [{"Key": "gpu", "Effect": "NoSchedule"}]}}
    assert eks(pods("p5", **checks, **taints)) == ["HP1204", "HP1207"]
    # 0 spares are worth knowing, and no mistake.
    assert slurm(head(), group("p5", **checks)) == ["HP1204"]
