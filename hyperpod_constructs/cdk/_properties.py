"""Turns model values into typed L1 structs: the only file that spells CloudFormation property names.

Structs, not dictionaries: a misspelt optional key of a dictionary vanishes without a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_fsx as fsx, aws_sagemaker as sagemaker

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.capacity import BatchSize, InstanceGroup, OnDemand, RollingUpdate, Spot, TrainingPlan
from hyperpod_constructs.model.governance import Quota, QuotaShare, SchedulerPolicy
from hyperpod_constructs.model.kubernetes import AutoScaling, TieredStorage
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.model.storage import DataRepository, Lustre, Mount, NodeVolume
from hyperpod_constructs.tokens import UNKNOWN

_Cluster = sagemaker.CfnCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcIds:
    """Subnets and security groups as CloudFormation wants them."""

    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MountTarget:
    """What a node needs to mount a file system."""

    dns_name: str
    mount_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripts:
    """Where the scripts of a group were published and which one is called."""

    source_uri: str
    on_create: str | None = None
    on_init_complete: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """What the values of a group refer to, as tokens or ids.

    Attributes:
        role_arn: Role of the nodes.
        override: Subnets and security groups where they differ from the cluster's.
        targets: Mount targets by path of the file system.
        scripts: Lifecycle scripts.
        plan_arn: Training plan.
    """

    role_arn: str
    override: VpcIds | None = None
    targets: Mapping[str, MountTarget]
    scripts: Scripts | None = None
    plan_arn: str | None = None


def given(value: Any) -> Any:  # noqa: ANN401  # L1 structs take what the field held: a value, a token or nothing
    """The value of a field; `UNKNOWN` is for what a reader could not decide and must not reach a template."""
    if value is UNKNOWN:
        raise InvalidValue("UNKNOWN stands for what a template hides; give a value or a CDK token")
    return value


def vpc_config(ids: VpcIds) -> sagemaker.CfnCluster.VpcConfigProperty:
    """Subnets and security groups of a cluster or a group."""
    return _Cluster.VpcConfigProperty(subnets=list(ids.subnets), security_group_ids=list(ids.security_groups))


def orchestrator(chosen: Slurm | str) -> sagemaker.CfnCluster.OrchestratorProperty:
    """Slurm, or the EKS cluster of an ARN, as the orchestrator.

    A strategy is refused by the rules, because Continuous provisioning refuses it.
    """
    if isinstance(chosen, str):
        return _Cluster.OrchestratorProperty(eks=_Cluster.ClusterOrchestratorEksConfigProperty(cluster_arn=chosen))
    accounting = chosen.accounting
    return _Cluster.OrchestratorProperty(
        slurm=_Cluster.ClusterOrchestratorSlurmConfigProperty(
            slurm_config_strategy=chosen.strategy if isinstance(chosen.strategy, str) else None,
            accounting_database=_accounting(accounting) if isinstance(accounting, ExternalDatabase) else None,
        )
    )


def auto_scaling(scaling: AutoScaling | None) -> sagemaker.CfnCluster.ClusterAutoScalingConfigProperty | None:
    """Karpenter."""
    if scaling is None:
        return None
    return _Cluster.ClusterAutoScalingConfigProperty(mode=given(scaling.mode), auto_scaler_type=given(scaling.scaler))


def tiered_storage(storage: TieredStorage | None) -> sagemaker.CfnCluster.TieredStorageConfigProperty | None:
    """Checkpoints in the memory of nodes."""
    if storage is None:
        return None
    return _Cluster.TieredStorageConfigProperty(
        mode=given(storage.mode), instance_memory_allocation_percentage=given(storage.memory_percent)
    )


def _accounting(database: ExternalDatabase) -> sagemaker.CfnCluster.ClusterAccountingDatabaseProperty:
    return _Cluster.ClusterAccountingDatabaseProperty(
        endpoint=given(database.endpoint),
        secret_arn=given(database.secret_arn),
        port=given(database.port),
        name=given(database.name),
    )


def scheduler_config(policy: SchedulerPolicy) -> sagemaker.CfnClusterSchedulerConfig.SchedulerConfigProperty:
    """What goes before what on a cluster that teams share, heaviest class first."""
    made = sagemaker.CfnClusterSchedulerConfig
    ordered = sorted(given(policy.priorities).items(), key=lambda item: (-item[1], item[0]))
    return made.SchedulerConfigProperty(
        priority_classes=[made.PriorityClassProperty(name=name, weight=weight) for name, weight in ordered] or None,
        fair_share=given(policy.fair_share),
        idle_resource_sharing=given(policy.idle_sharing),
    )


def compute_quota(quota: Quota, cluster_arn: str) -> dict[str, object]:
    """The properties of a quota, whose type the CDK does not know yet."""
    sharing = {"Strategy": quota.sharing, "BorrowLimit": quota.borrow_limit}
    return {
        "Name": quota.name,
        "ClusterArn": cluster_arn,
        "ComputeQuotaTarget": {"TeamName": quota.team, "FairShareWeight": quota.weight},
        "ComputeQuotaConfig": {
            "ComputeQuotaResources": [_quota_share(share) for share in given(quota.shares)],
            "ResourceSharingConfig": {name: value for name, value in sharing.items() if value is not None},
            "PreemptTeamTasks": quota.preempts,
        },
        "ActivationState": "Enabled",
    }


def _quota_share(share: QuotaShare) -> dict[str, object]:
    named = {
        "InstanceType": share.instance_type,
        "Count": share.count,
        "Accelerators": share.accelerators,
        "VCpu": share.vcpus,
        "MemoryInGiB": share.memory_gib,
    }
    return {name: value for name, value in named.items() if value is not None}


def instance_group(
    group: InstanceGroup, wiring: Wiring, *, all_or_nothing: bool
) -> sagemaker.CfnCluster.ClusterInstanceGroupProperty:
    """One instance group; `InstanceCount` is what jobs may use plus the spares."""
    return _Cluster.ClusterInstanceGroupProperty(
        instance_group_name=given(group.name),
        instance_type=given(group.instance_type),
        instance_requirements=_requirements(group),
        instance_count=given(group.instances),
        min_instance_count=given(group.instances) if all_or_nothing else given(group.min_count),
        execution_role=wiring.role_arn,
        threads_per_core=given(group.threads_per_core),
        slurm_config=_slurm_config(group),
        training_plan_arn=wiring.plan_arn,
        capacity_requirements=_capacity(group),
        instance_storage_configs=_storage(group, wiring.targets),
        life_cycle_config=_life_cycle(wiring.scripts),
        on_start_deep_health_checks=list(given(group.health_checks)) if group.health_checks else None,
        override_vpc_config=vpc_config(wiring.override) if wiring.override else None,
        auto_patch_config=_patching(group),
        scheduled_update_config=_scheduled_update(group),
        image_id=given(group.image_id),
        image_release_version=given(group.image_release_version),
        kubernetes_config=_kubernetes(group),
        network_interface=_Cluster.ClusterNetworkInterfaceProperty(interface_type=given(group.network_interface))
        if group.network_interface
        else None,
    )


def _kubernetes(group: InstanceGroup) -> sagemaker.CfnCluster.ClusterKubernetesConfigProperty | None:
    config = given(group.kubernetes)
    if config is None:
        return None
    taints = [
        _Cluster.ClusterKubernetesTaintProperty(key=taint.key, effect=taint.effect, value=taint.value)
        for taint in given(config.taints)
    ]
    return _Cluster.ClusterKubernetesConfigProperty(
        labels=dict(sorted(given(config.labels).items())) or None, taints=taints or None
    )


def _capacity(group: InstanceGroup) -> sagemaker.CfnCluster.ClusterCapacityRequirementsProperty | None:
    """Written out only when asked for: an existing group cannot be given another capacity."""
    if isinstance(group.capacity, Spot):
        return _Cluster.ClusterCapacityRequirementsProperty(spot={})
    if isinstance(group.capacity, OnDemand):
        return _Cluster.ClusterCapacityRequirementsProperty(on_demand={})
    return None


def _requirements(group: InstanceGroup) -> sagemaker.CfnCluster.InstanceRequirementsProperty | None:
    types = list(given(group.flexible_types) or ())
    return _Cluster.InstanceRequirementsProperty(instance_types=types) if types else None


def _slurm_config(group: InstanceGroup) -> sagemaker.CfnCluster.ClusterSlurmConfigProperty | None:
    partitions = list(given(group.partitions) or ())
    if group.node_type is None:  # a finding, which somebody has acknowledged
        if partitions:
            raise InvalidValue(
                f"group {group.name!r} has partitions {partitions} and no node type",
                "give it node_type=, or take them out",
            )
        return None
    return _Cluster.ClusterSlurmConfigProperty(node_type=given(group.node_type), partition_names=partitions or None)


def _storage(
    group: InstanceGroup, targets: Mapping[str, MountTarget]
) -> list[sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty] | None:
    volumes = [
        _Cluster.ClusterInstanceStorageConfigProperty(ebs_volume_config=_volume(volume))
        for volume in given(group.volumes) or ()
    ]
    mounts = [_mount(mount, targets) for mount in given(group.mounts) or ()]
    return [*volumes, *mounts] or None


def _volume(volume: NodeVolume) -> sagemaker.CfnCluster.ClusterEbsVolumeConfigProperty:
    return _Cluster.ClusterEbsVolumeConfigProperty(
        volume_size_in_gb=given(volume.size_gib),
        root_volume=True if volume.root is True else None,
        volume_kms_key_id=given(volume.kms_key),
    )


def _mount(
    mount: Mount, targets: Mapping[str, MountTarget]
) -> sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty:
    where = str(mount.file_system)
    if mount.kind == "openzfs":
        zfs = _Cluster.ClusterFsxOpenZfsConfigProperty(dns_name=where, mount_path=given(mount.path))
        return _Cluster.ClusterInstanceStorageConfigProperty(fsx_open_zfs_config=zfs)
    target = targets.get(where) or MountTarget(dns_name=where, mount_name=given(mount.mount_name))
    lustre_config = _Cluster.ClusterFsxLustreConfigProperty(
        dns_name=target.dns_name, mount_name=target.mount_name, mount_path=given(mount.path)
    )
    return _Cluster.ClusterInstanceStorageConfigProperty(fsx_lustre_config=lustre_config)


def _life_cycle(scripts: Scripts | None) -> sagemaker.CfnCluster.ClusterLifeCycleConfigProperty | None:
    if scripts is None:
        return None
    return _Cluster.ClusterLifeCycleConfigProperty(
        source_s3_uri=scripts.source_uri, on_create=scripts.on_create, on_init_complete=scripts.on_init_complete
    )


def _patching(group: InstanceGroup) -> sagemaker.CfnCluster.AutoPatchConfigProperty | None:
    patching = given(group.patching)
    if patching is None:
        return None
    return _Cluster.AutoPatchConfigProperty(
        patching_strategy=given(patching.when), deployment_config=_deployment(given(patching.rolling))
    )


def _scheduled_update(group: InstanceGroup) -> sagemaker.CfnCluster.ScheduledUpdateConfigProperty | None:
    update = given(group.scheduled_update)
    if update is None:
        return None
    return _Cluster.ScheduledUpdateConfigProperty(
        schedule_expression=given(update.schedule), deployment_config=_deployment(given(update.rolling))
    )


def _deployment(rolling: RollingUpdate | None) -> sagemaker.CfnCluster.DeploymentConfigProperty | None:
    if rolling is None:
        return None
    return _Cluster.DeploymentConfigProperty(
        rolling_update_policy=_Cluster.RollingUpdatePolicyProperty(
            maximum_batch_size=_batch(rolling.batch),
            rollback_maximum_batch_size=_batch(rolling.rollback_batch) if rolling.rollback_batch else None,
        ),
        wait_interval_in_seconds=rolling.wait_seconds,
        auto_rollback_configuration=[_Cluster.AlarmDetailsProperty(alarm_name=name) for name in rolling.alarms] or None,
    )


def _batch(batch: BatchSize) -> sagemaker.CfnCluster.CapacitySizeConfigProperty:
    if batch.count is not None:
        return _Cluster.CapacitySizeConfigProperty(type="INSTANCE_COUNT", value=batch.count)
    return _Cluster.CapacitySizeConfigProperty(type="CAPACITY_PERCENTAGE", value=batch.percent or 0)


def plan_arn(plan: TrainingPlan, *, partition: str, region: str, account: str) -> str:
    """ARN of a plan; a name is one of the stack's own account and Region."""
    # A token by itself may hold a whole ARN; text with a token in it is a name.
    if plan.plan.startswith(("arn:", "${Token[")):
        return plan.plan
    return f"arn:{partition}:sagemaker:{region}:{account}:training-plan/{plan.plan}"


def lustre_configuration(lustre: Lustre, *, logs: bool, linked: bool) -> fsx.CfnFileSystem.LustreConfigurationProperty:
    """The Lustre part of a file system, which cannot copy tags to backups where it is linked to S3."""
    return fsx.CfnFileSystem.LustreConfigurationProperty(
        deployment_type=given(lustre.deployment_type),
        per_unit_storage_throughput=given(lustre.throughput_mbps_per_tib),
        throughput_capacity=given(lustre.throughput_mbps),
        data_compression_type=given(lustre.compression),
        efa_enabled=True if lustre.efa is True else None,
        metadata_configuration=_metadata(lustre),
        automatic_backup_retention_days=given(lustre.backup_days) or None,
        copy_tags_to_backups=True if lustre.backup_days and not linked else None,
        weekly_maintenance_start_time=given(lustre.maintenance),
        drive_cache_type=given(lustre.drive_cache),
        data_read_cache_configuration=_read_cache(lustre),
        # Without a destination FSx writes to /aws/fsx/lustre, which needs no log group of ours with a fixed name.
        log_configuration=fsx.CfnFileSystem.LogConfigurationProperty(level="WARN_ERROR") if logs else None,
    )


def _metadata(lustre: Lustre) -> fsx.CfnFileSystem.MetadataConfigurationProperty | None:
    iops = given(lustre.metadata_iops)
    if iops is None:
        return None
    if iops == "AUTOMATIC":
        return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC")
    return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="USER_PROVISIONED", iops=iops)


def _read_cache(lustre: Lustre) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty | None:
    mode = given(lustre.read_cache)
    if mode is None:
        return None
    return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(sizing_mode=mode, size_gib=given(lustre.read_cache_gib))


def repository_sync(repository: DataRepository) -> fsx.CfnDataRepositoryAssociation.S3Property | None:
    """Which events an association follows by itself."""
    imports, exports = given(repository.imports), given(repository.exports)
    if not imports and not exports:
        return None
    policy = fsx.CfnDataRepositoryAssociation
    return policy.S3Property(
        auto_import_policy=policy.AutoImportPolicyProperty(events=list(imports)) if imports else None,
        auto_export_policy=policy.AutoExportPolicyProperty(events=list(exports)) if exports else None,
    )
