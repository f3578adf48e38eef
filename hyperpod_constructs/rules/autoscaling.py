"""Features that only EKS clusters have: Karpenter and tiered storage of checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.kubernetes import AutoScaling, TieredStorage
from hyperpod_constructs.rules import Problem, rule

_AUTOSCALING: Final = "SageMaker developer guide, sagemaker-hyperpod-eks-autoscaling (2026)"
_LEAST_MEMORY: Final = 20


def scaling(deployment: Deployment) -> Iterator[Cluster]:
    """Clusters that certainly scale themselves; those of Slurm have a rule of their own."""
    for cluster in deployment.clusters:
        on = isinstance(cluster.autoscaling, AutoScaling) and cluster.autoscaling.mode == "Enable"
        if on and cluster.scheduler != "slurm":
            yield cluster


@rule(
    "HP2015",
    Severity.ERROR,
    title="Autoscaling without a cluster role",
    because="HyperPod adds and deletes nodes with ClusterRole, which autoscaling requires",
    source=f"SageMaker API, CreateCluster, ClusterRole (botocore 1.44.8); {_AUTOSCALING}",
)
def scaling_clusters_have_a_role(deployment: Deployment) -> Iterator[Problem]:
    for cluster in scaling(deployment):
        if cluster.cluster_role is None:
            yield Problem(
                path=cluster.path,
                message="AutoScaling is on, but ClusterRole is left out",
                fix="give the ARN of a role that hyperpod.sagemaker.amazonaws.com may assume and that allows "
                "sagemaker:BatchAddClusterNodes and sagemaker:BatchDeleteClusterNodes",
            )


@rule(
    "HP2016",
    Severity.ERROR,
    title="Autoscaling without automatic recovery",
    because="AWS lists NodeRecovery Automatic among what autoscaling requires",
    source=_AUTOSCALING,
)
def scaling_clusters_recover(deployment: Deployment) -> Iterator[Problem]:
    for cluster in scaling(deployment):
        if cluster.recovery == "None":
            yield Problem(
                path=cluster.path,
                message="AutoScaling is on, but NodeRecovery is None",
                fix="use NodeRecovery: Automatic, or turn AutoScaling off",
            )


@rule(
    "HP2017",
    Severity.WARNING,
    title="Autoscaling, and the cluster does not ask for Continuous provisioning",
    because="autoscaling is built on Continuous provisioning; whether leaving the mode out gives such a cluster is not "
    "confirmed",
    source=_AUTOSCALING,
)
def scaling_clusters_are_continuous(deployment: Deployment) -> Iterator[Problem]:
    for cluster in scaling(deployment):
        if cluster.provisioning is None:
            yield Problem(
                path=cluster.path,
                message="AutoScaling is on, but NodeProvisioningMode is left out",
                fix="write NodeProvisioningMode: Continuous",
            )


@rule(
    "HP2018",
    Severity.WARNING,
    title="Tiered storage has less memory than AWS's guide wants",
    because="the guide gives 20 to 100 percent, the schema takes 0 to 100: AWS's texts differ",
    source="SageMaker developer guide, managed-tier-checkpointing-setup (2026); AWS::SageMaker::Cluster schema",
)
def tiered_storage_has_memory(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        storage = cluster.tiered_storage
        if not isinstance(storage, TieredStorage) or storage.mode != "Enable" or cluster.scheduler == "slurm":
            continue
        if isinstance(storage.memory_percent, int) and storage.memory_percent < _LEAST_MEMORY:
            yield Problem(
                path=cluster.path,
                message=f"TieredStorageConfig takes {storage.memory_percent} % of the nodes' memory",
                fix=f"use {_LEAST_MEMORY} to 100, or leave InstanceMemoryAllocationPercentage out",
            )
