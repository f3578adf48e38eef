"""Field reports on EKS (section E): each in its smallest form, as a template."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.model.intent import KEY
from tests.field_reports.settled import checked, ids, settled
from tests.rules import networks, planes
from tests.rules.networks import KUBERNETES, ROLE, UNDECIDED, ref, resource
from tests.rules.planes import BEFORE, CHART, SOUND, addon, early

NOTHING: list[str] = []
OBSERVABILITY = "amazon-sagemaker-hyperpod-observability"
GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"
OPERATOR = "amazon-sagemaker-hyperpod-training-operator"


def told(**changes: Any) -> list[str]:
    """Rules about EKS that the sound template breaks with changes."""
    return planes.rules(changes)


@settled("synth")
@pytest.mark.parametrize(
    ("access", "rules"),
    [
        ({"AuthenticationMode": "CONFIG_MAP"}, ["HP2401"]),
        ({}, ["HP2401"]),
        (None, ["HP2401"]),
        ({"AuthenticationMode": "API"}, NOTHING),
        ({"AuthenticationMode": "API_AND_CONFIG_MAP"}, NOTHING),
        ({"AuthenticationMode": UNDECIDED}, NOTHING),
    ],
)
def test_field_report_E_01_control_planes_have_access_entries(access: Any, rules: list[str]) -> None:
    assert told(Eks={"AccessConfig": access}) == rules


@settled("synth")
@pytest.mark.parametrize(
    ("principal", "kind", "rules"),
    [
        (ROLE, "EC2_LINUX", ["HP2411"]),
        (ROLE, "STANDARD", ["HP2411"]),
        (ROLE, "HYPERPOD_LINUX", ["HP2412"]),
        ("arn:aws:iam::111122223333:role/People", "STANDARD", NOTHING),
    ],
)
def test_field_report_E_02_nodes_have_the_type_of_hyperpod(principal: str, kind: str, rules: list[str]) -> None:
    entry = resource("AWS::EKS::AccessEntry", ClusterName=ref("Eks"), PrincipalArn=principal, Type=kind)
    assert told(Entry=entry) == rules


@settled("synth")
@pytest.mark.parametrize(
    ("version", "rules"),
    [
        ("1.29", ["HP2403"]),
        ("1.30", NOTHING),
        ("1.35", NOTHING),
        ("1.36", ["HP2404"]),
        ("1.3", ["HP2402"]),
        (1.30, ["HP2402"]),
        (1.34, NOTHING),
    ],
)
def test_field_report_E_03_the_version_is_one_that_hyperpod_takes(version: object, rules: list[str]) -> None:
    assert told(Eks={"Version": version}) == rules


@settled("synth")
@pytest.mark.parametrize(
    ("instance_type", "count", "rules"),
    [("ml.g5.xlarge", 1, ["HP2429"]), ("ml.g5.xlarge", 3, NOTHING), ("ml.m5.4xlarge", 1, NOTHING)],
)
def test_field_report_E_05_few_pods_fit_on_a_small_node(instance_type: str, count: int, rules: list[str]) -> None:
    group = {**KUBERNETES["Cluster"]["InstanceGroups"][0], "InstanceType": instance_type, "InstanceCount": count}
    # The identity of the operator is not judged here, and its certificates come with the chart.
    names = {"Observability": OBSERVABILITY, "Governance": GOVERNANCE, "Operator": OPERATOR}
    made = {logical: addon(name, "Agent") for logical, name in names.items()}
    ebs = addon("aws-ebs-csi-driver", ServiceAccountRoleArn="arn:aws:iam::111122223333:role/Ebs")
    cluster = {**SOUND["Cluster"], "InstanceGroups": [group], "DependsOn": [*BEFORE, "Agent"]}
    assert told(Agent=early("eks-pod-identity-agent"), Ebs=ebs, Cluster=cluster, **made) == rules


@settled("synth")
@pytest.mark.parametrize("kind", ["AWSQS::Kubernetes::Helm", "Custom::AWSCDK-EKS-HelmChart"])
@pytest.mark.parametrize(("after", "rules"), [(BEFORE[:-1], ["HP2406"]), (BEFORE, NOTHING)])
def test_field_report_E_06_the_cluster_waits_for_its_chart(kind: str, after: list[str], rules: list[str]) -> None:
    chart = {"Type": kind, "Properties": {**CHART["Properties"], "ClusterName": ref("Eks")}}
    assert told(Chart=chart, Cluster={"DependsOn": after}) == rules


@settled("synth")
def test_field_report_E_06_add_ons_have_what_they_need_in_order() -> None:
    """The operator wants the objects of cert-manager, which are not there before it is."""
    both = {"Agent": early("eks-pod-identity-agent"), "Certificates": addon("cert-manager")}
    cluster = {"DependsOn": [*BEFORE, "Agent"]}
    assert told(Operator=addon(OPERATOR), Cluster=cluster, **both) == ["HP2428"]
    assert told(Operator=addon(OPERATOR, "Certificates", "Agent"), Cluster=cluster, **both) == NOTHING


@settled("synth")
def test_field_report_E_07_somebody_installs_the_chart() -> None:
    assert told(Chart=None) == ["HP2405"]
    assert told() == NOTHING


@settled("synth")
@pytest.mark.parametrize(("declared", "rules"), [(False, ["HP2405"]), (True, NOTHING)])
def test_field_report_E_07_or_it_is_said_that_somebody_does(*, declared: bool, rules: list[str]) -> None:
    template = networks.changed(KUBERNETES, SOUND, {"Chart": None})
    template["Resources"]["Cluster"]["Metadata"] = {KEY: {"chart_elsewhere": declared}}
    assert [each for each in ids(checked(json.dumps(template), file="net.json")) if each.startswith("HP24")] == rules


@settled("synth")
@pytest.mark.parametrize(
    ("properties", "rules"),
    [({"AddonVersion": "v1.2.1-eksbuild.1"}, ["HP2424"]), ({"AddonVersion": "v1.2.0-eksbuild.1"}, ["HP2425"])],
)
def test_field_report_E_09_the_identity_of_the_operator_stands_alone(
    properties: dict[str, str], rules: list[str]
) -> None:
    inline = [{"ServiceAccount": "a", "RoleArn": "arn:aws:iam::111122223333:role/Operator"}]
    cluster = {"DependsOn": [*BEFORE, "Agent"]}
    agent = early("eks-pod-identity-agent")
    with_inline = addon(OPERATOR, "Agent", PodIdentityAssociations=inline, **properties)
    assert told(Operator=with_inline, Agent=agent, Cluster=cluster) == rules
    assert told(Operator=addon(OPERATOR, "Agent", **properties), Agent=agent, Cluster=cluster) == NOTHING


@settled("synth")
@pytest.mark.parametrize(
    ("properties", "rules"),
    [({}, ["HP2426"]), ({"ServiceAccountRoleArn": "arn:aws:iam::111122223333:role/Ebs"}, NOTHING)],
)
def test_field_report_E_10_the_driver_of_volumes_has_a_role(properties: dict[str, str], rules: list[str]) -> None:
    assert told(Ebs=addon("aws-ebs-csi-driver", **properties)) == rules


@settled("synth")
@pytest.mark.parametrize("entry", ["given", "left out"])
@pytest.mark.parametrize("driver", ["given", "left out"])
def test_field_report_E_11_what_is_optional_hides_no_other_mistake(entry: str, driver: str) -> None:
    """Every pair of on and off; the mistakes of one do not depend on the other."""
    changes: dict[str, Any] = {"Dns": early("coredns")}
    expected = {"HP2431"}
    if entry == "given":
        kind = {"ClusterName": ref("Eks"), "PrincipalArn": ROLE, "Type": "STANDARD"}
        changes["Entry"] = resource("AWS::EKS::AccessEntry", **kind)
        expected.add("HP2411")
    if driver == "given":
        changes["Ebs"] = addon("aws-ebs-csi-driver")
        expected.add("HP2426")
    assert told(**changes) == sorted(expected)


@settled("synth")
def test_field_report_E_13_the_scheduler_is_never_guessed() -> None:
    """`Orchestrator` without a choice is refused; one that the deploy decides is neither Slurm nor EKS for any rule."""
    empty = networks.findings(KUBERNETES, {"Cluster": {"Orchestrator": {}}})
    assert any(each.severity.stops and "neither Eks nor Slurm" in each.message for each in empty)
    undecided = networks.findings(KUBERNETES, {"Cluster": {"Orchestrator": UNDECIDED}})
    assert [each.rule for each in undecided if each.rule.startswith(("HP20", "HP24"))] == NOTHING


@settled("synth")
def test_field_report_E_13_a_misspelt_orchestrator_is_told() -> None:
    found = networks.findings(KUBERNETES, {"Cluster": {"Orchestrator": {"EKS": {"ClusterArn": "arn:x"}}}})
    assert any(each.severity.stops and "Orchestrator" in each.message for each in found)
