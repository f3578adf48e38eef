"""Writes a cluster as the request that makes it: the other way round of what `hyperpod check` reads.

Spelt a second time on purpose: what the package writes goes through the CDK, which cannot write all that the API takes.
"""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.model.capacity import (
    AutoPatch,
    BatchSize,
    OnDemand,
    RollingUpdate,
    ScheduledUpdate,
    Spot,
    TrainingPlan,
)
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.model.storage import Mount, NodeVolume

ROLE = "arn:aws:iam::111122223333:role/nodes"


def create_cluster_request(cluster: Cluster) -> dict[str, Any]:
    """The parameters of CreateCluster, with what is left out left out."""
    return _given(
        ClusterName=cluster.name,
        InstanceGroups=[_group(group, cluster) for group in cluster.groups],
        Orchestrator=_orchestrator(cluster.orchestrator) if isinstance(cluster.orchestrator, Slurm) else None,
        NodeProvisioningMode=cluster.provisioning,
        NodeRecovery=cluster.recovery,
        VpcConfig=_placement(cluster.placement),
        Tags=[{"Key": key, "Value": value} for key, value in cluster.tags.items()] or None,
    )


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _group(group: Any, cluster: Cluster) -> dict[str, Any]:
    """A group in which nothing is `UNKNOWN`, which no request can say."""
    every = isinstance(cluster.orchestrator, Slurm) and cluster.orchestrator.provisioning == "all-or-nothing"
    return _given(
        InstanceGroupName=group.name,
        InstanceCount=group.instances,
        InstanceType=group.instance_type,
        InstanceRequirements={"InstanceTypes": list(group.flexible_types)} if group.flexible_types else None,
        MinInstanceCount=group.instances if every else group.min_count,
        ExecutionRole=ROLE,
        ThreadsPerCore=group.threads_per_core,
        SlurmConfig=_given(NodeType=group.node_type, PartitionNames=list(group.partitions) or None) or None,
        TrainingPlanArn=_plan_arn(group.capacity) if isinstance(group.capacity, TrainingPlan) else None,
        CapacityRequirements=_capacity(group.capacity),
        InstanceStorageConfigs=[*map(_volume, group.volumes), *map(_mount, group.mounts)] or None,
        LifeCycleConfig=_lifecycle(group.lifecycle) if isinstance(group.lifecycle, Lifecycle) else None,
        OnStartDeepHealthChecks=list(group.health_checks) if group.health_checks else None,
        OverrideVpcConfig=_placement(group.placement),
        AutoPatchConfig=_patching(group.patching) if isinstance(group.patching, AutoPatch) else None,
        ScheduledUpdateConfig=_update(group.scheduled_update) if group.scheduled_update else None,
        ImageId=group.image_id,
        ImageReleaseVersion=group.image_release_version,
        NetworkInterface={"InterfaceType": group.network_interface} if group.network_interface else None,
    )


def _plan_arn(plan: TrainingPlan) -> str:
    if plan.plan.startswith("arn:"):
        return plan.plan
    return f"arn:aws:sagemaker:us-west-2:111122223333:training-plan/{plan.plan}"


def _capacity(capacity: object) -> dict[str, Any] | None:
    if isinstance(capacity, Spot):
        return {"Spot": {}}
    return {"OnDemand": {}} if isinstance(capacity, OnDemand) else None


def _volume(volume: NodeVolume) -> dict[str, Any]:
    return {
        "EbsVolumeConfig": _given(
            VolumeSizeInGB=volume.size_gib, RootVolume=volume.root or None, VolumeKmsKeyId=volume.kms_key
        )
    }


def _mount(mount: Mount) -> dict[str, Any]:
    if mount.kind == "openzfs":
        return {"FsxOpenZfsConfig": _given(DnsName=mount.file_system, MountPath=mount.path)}
    return {"FsxLustreConfig": _given(DnsName=mount.file_system, MountName=mount.mount_name, MountPath=mount.path)}


def _lifecycle(scripts: Lifecycle) -> dict[str, Any]:
    return _given(SourceS3Uri=scripts.source_uri, OnCreate=scripts.on_create, OnInitComplete=scripts.on_init_complete)


def _placement(placement: Any) -> dict[str, Any] | None:
    if placement is None:
        return None
    return {"Subnets": list(placement.subnets), "SecurityGroupIds": list(placement.security_groups)}


def _patching(patching: AutoPatch) -> dict[str, Any]:
    return _given(PatchingStrategy=patching.when, DeploymentConfig=_rolling(patching.rolling))


def _update(update: ScheduledUpdate) -> dict[str, Any]:
    return _given(ScheduleExpression=update.schedule, DeploymentConfig=_rolling(update.rolling))


def _rolling(rolling: object) -> dict[str, Any] | None:
    if not isinstance(rolling, RollingUpdate):
        return None
    batches = _given(
        MaximumBatchSize=_batch(rolling.batch),
        RollbackMaximumBatchSize=_batch(rolling.rollback_batch) if rolling.rollback_batch else None,
    )
    return _given(
        RollingUpdatePolicy=batches,
        WaitIntervalInSeconds=rolling.wait_seconds,
        AutoRollbackConfiguration=[{"AlarmName": name} for name in rolling.alarms] or None,
    )


def _batch(batch: BatchSize) -> dict[str, Any]:
    if batch.count is not None:
        return {"Type": "INSTANCE_COUNT", "Value": batch.count}
    return {"Type": "CAPACITY_PERCENTAGE", "Value": batch.percent}


def _orchestrator(slurm: Slurm) -> dict[str, Any]:
    database = slurm.accounting
    return {
        "Slurm": _given(
            SlurmConfigStrategy=slurm.strategy,
            AccountingDatabase=_given(
                Endpoint=database.endpoint, SecretArn=database.secret_arn, Port=database.port, Name=database.name
            )
            if isinstance(database, ExternalDatabase)
            else None,
        )
    }
