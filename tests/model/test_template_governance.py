"""Scheduler policies and quotas, read from templates."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.model.governance import Quota, QuotaShare, SchedulerPolicy
from hyperpod_constructs.tokens import UNKNOWN

CLUSTER = {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": []}}
UNDECIDABLE = {"Fn::GetAtt": ["Elsewhere", "Outputs.Value"]}


def policy(**fields: Any) -> dict[str, Any]:
    """A scheduler policy of the cluster."""
    properties = {"ClusterArn": {"Ref": "Cluster"}, "Name": "policy", "SchedulerConfig": fields}
    return {"Type": "AWS::SageMaker::ClusterSchedulerConfig", "Properties": properties}


def quota(**fields: Any) -> dict[str, Any]:
    """A quota of the team `vision`."""
    properties = {
        "ClusterArn": {"Fn::GetAtt": ["Cluster", "ClusterArn"]},
        "Name": "vision",
        "ComputeQuotaTarget": {"TeamName": "vision", "FairShareWeight": 20},
        "ComputeQuotaConfig": fields,
    }
    return {"Type": "AWS::SageMaker::ComputeQuota", "Properties": properties}


def test_a_policy_has_weights_by_name(deployment_of: Any) -> None:
    classes = [{"Name": "inference", "Weight": 100}, {"Name": "training", "Weight": "75"}]
    resources = {"Cluster": CLUSTER, "Policy": policy(PriorityClasses=classes, FairShare="Enabled")}
    assert deployment_of(resources).scheduler_policies == (
        SchedulerPolicy(
            path="app.json/Policy",
            cluster="app.json/Cluster",
            name="policy",
            priorities={"inference": 100, "training": 75},
            fair_share="Enabled",
            after=frozenset({"app.json/Cluster"}),
        ),
    )


def test_a_policy_whose_classes_are_not_all_known_has_none_that_could_be_counted(deployment_of: Any) -> None:
    for classes in (UNDECIDABLE, [UNDECIDABLE], [{"Name": UNDECIDABLE, "Weight": 1}]):
        (found,) = deployment_of({"Cluster": CLUSTER, "P": policy(PriorityClasses=classes)}).scheduler_policies
        assert found.priorities is UNKNOWN


def test_a_quota_has_what_the_team_gets(deployment_of: Any) -> None:
    resources = {
        "Cluster": CLUSTER,
        "Quota": quota(
            ComputeQuotaResources=[{"InstanceType": "ml.p5.48xlarge", "Count": 2}, UNDECIDABLE],
            ResourceSharingConfig={"Strategy": "LendAndBorrow", "BorrowLimit": 50},
            PreemptTeamTasks="Never",
        ),
    }
    assert deployment_of(resources).quotas == (
        Quota(
            path="app.json/Quota",
            cluster="app.json/Cluster",
            team="vision",
            name="vision",
            shares=(QuotaShare(instance_type="ml.p5.48xlarge", count=2), UNKNOWN),
            weight=20,
            sharing="LendAndBorrow",
            borrow_limit=50,
            preempts="Never",
            after=frozenset({"app.json/Cluster"}),
        ),
    )


def test_a_quota_of_partitions_has_their_kind_and_number(deployment_of: Any) -> None:
    share = {"InstanceType": "ml.p5.48xlarge", "AcceleratorPartition": {"Type": "mig-1g.10gb", "Count": 7}}
    sharing = {"Strategy": "LendAndBorrow", "AbsoluteBorrowLimits": [share]}
    resources = {
        "Cluster": CLUSTER,
        "Quota": quota(ComputeQuotaResources=[share, UNDECIDABLE], ResourceSharingConfig=sharing),
    }
    (found,) = deployment_of(resources).quotas
    partitions = QuotaShare(instance_type="ml.p5.48xlarge", partition="mig-1g.10gb", partition_count=7)
    assert (found.shares, found.borrowable) == ((partitions, UNKNOWN), (partitions,))
