"""Field reports on task governance (section H)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.findings import Finding
from tests.field_reports.settled import checked, ids, settled

P5 = "ml.p5.48xlarge"
CLASSES = {"PriorityClasses": [{"Name": "training", "Weight": 50}]}


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::SageMaker::{kind}", "Properties": properties}


def quota(team: str, count: int, kind: str = P5) -> dict[str, Any]:
    """A quota of a team, which comes after the policy."""
    held = {"ComputeQuotaResources": [{"InstanceType": kind, "Count": count}]}
    made = resource(
        "ComputeQuota",
        Name=team,
        ClusterArn={"Ref": "Research"},
        ComputeQuotaTarget={"TeamName": team},
        ComputeQuotaConfig=held,
    )
    return {**made, "DependsOn": "Policy"}


def found(*quotas: dict[str, Any], policy: dict[str, Any] = CLASSES) -> list[Finding]:
    """What is said of an EKS cluster of 8 instances with a policy and some quotas."""
    group = {
        "InstanceGroupName": "p5",
        "InstanceType": P5,
        "InstanceCount": 8,
        "ExecutionRole": "arn:aws:iam::111122223333:role/nodes",
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-boot/eks", "OnCreate": "on_create.sh"},
    }
    cluster = resource(
        "Cluster",
        ClusterName="research",
        NodeProvisioningMode="Continuous",
        Orchestrator={"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/research"}},
        VpcConfig={"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]},
        InstanceGroups=[group],
    )
    resources = {
        "Research": cluster,
        "Policy": resource(
            "ClusterSchedulerConfig", Name="policy", ClusterArn={"Ref": "Research"}, SchedulerConfig=policy
        ),
        **{f"Quota{number}": each for number, each in enumerate(quotas)},
    }
    return checked(json.dumps({"Resources": resources}))


@settled("synth")
def test_field_report_H_02_a_quota_is_for_a_type_of_the_cluster_and_for_no_more_than_it_has() -> None:
    assert ids(found(quota("vision", 4), quota("speech", 4))) == []
    (said,) = found(quota("vision", 8), quota("speech", 1, "ml.p5en.48xlarge"))
    assert (said.rule, said.path) == ("HP6001", "template.yaml/Quota1")
    (said,) = found(quota("vision", 6), quota("speech", 6))
    assert said.rule == "HP6002"
    assert "sum to 12 instances (quota of team 'vision' 6, quota of team 'speech' 6), and the cluster has 8" in (
        said.message
    )


@settled("synth")
def test_field_report_H_02_the_numbers_of_the_schema_hold() -> None:
    weights = {"PriorityClasses": [{"Name": "training", "Weight": 101}]}
    many = {"PriorityClasses": [{"Name": f"class-{n}", "Weight": n} for n in range(11)]}
    for policy in (weights, many):
        assert ids(found(quota("vision", 8), policy=policy)) == ["HP1001"]
    heavy, borrowing, spread = quota("vision", 8), quota("vision", 8), quota("vision", 8)
    heavy["Properties"]["ComputeQuotaTarget"]["FairShareWeight"] = 101
    sharing = {"Strategy": "LendAndBorrow", "BorrowLimit": 10_001}
    borrowing["Properties"]["ComputeQuotaConfig"]["ResourceSharingConfig"] = sharing
    entries = [{"InstanceType": P5, "Count": 1} for _ in range(16)]
    spread["Properties"]["ComputeQuotaConfig"]["ComputeQuotaResources"] = entries
    for each in (heavy, borrowing, spread, quota("Vision", 8)):
        assert "HP1001" in ids(found(each))


@settled("synth")
def test_field_report_H_02_the_values_refuse_the_same() -> None:
    for wrong in ({"weight": 101}, {"borrow_limit_percent": 501}, {"instances": {P5: -1}}):
        with pytest.raises(hp.InvalidValue):
            hp.Team(name="vision", **wrong)
    for name in ("Vision", "t" * 41):
        with pytest.raises(hp.InvalidValue):
            hp.Team(name=name)
    with pytest.raises(hp.InvalidValue, match="use at most 10"):
        hp.TaskGovernance(priorities={f"class-{n}": n for n in range(11)})


@settled("synth")
def test_field_report_H_03_a_policy_without_classes_is_told_of() -> None:
    bare: tuple[dict[str, Any], ...] = ({"FairShare": "Enabled"}, {"PriorityClasses": []})
    for policy in bare:
        (said,) = found(quota("vision", 8), policy=policy)
        assert (said.rule, said.path) == ("HP6042", "template.yaml/Policy")
    assert ids(found(quota("vision", 8))) == []
