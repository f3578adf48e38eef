"""Which property names CloudFormation and CreateCluster know, so that a misspelt one is found before the deploy.

The lists are kept by hand and may be older than the service, so only what is a slip of the pen of a known name is an
error. A test compares them with the registry's schema and with botocore.

Source: AWS::SageMaker::Cluster in the CloudFormation registry (cfn-lint 1.58.0, 2026-10-20), without what is read-only;
CreateCluster (botocore 1.44.8) for what only a request may have.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, TypeAlias

from hyperpod_constructs.model._reading import Node
from hyperpod_constructs.tokens import UNKNOWN

_SLIP: Final = 0.9
"""How alike two names must be for one to be a slip: `PartitionName` for `PartitionNames`. AWS names new properties
after old ones (`InstanceCount` and `MinInstanceCount` are alike to 0.897), so less than this is no proof."""

Shape: TypeAlias = Mapping[str, "Shape"]
"""Property names, each with the shape of what stands below it; an empty shape is not looked into."""

_ANY: Shape = {}


def _names(names: str) -> Shape:
    return dict.fromkeys(names.split(), _ANY)


_VPC = _names("SecurityGroupIds Subnets")
_BATCH = _names("Type Value")
_ROLLOUT: Shape = {
    "AutoRollbackConfiguration": _names("AlarmName"),
    "RollingUpdatePolicy": {"MaximumBatchSize": _BATCH, "RollbackMaximumBatchSize": _BATCH},
    "WaitIntervalInSeconds": _ANY,
}
_SCHEDULE: Shape = {"ScheduleExpression": _ANY, "DeploymentConfig": _ROLLOUT}
_PATCHING: Shape = {
    "PatchingStrategy": _ANY,
    "DeploymentConfig": _ROLLOUT,
    "PatchSchedule": _ANY,
}
_STORAGE: Shape = {
    "EbsVolumeConfig": _names("RootVolume VolumeKmsKeyId VolumeSizeInGB"),
    "FsxLustreConfig": _names("DnsName MountName MountPath"),
    "FsxOpenZfsConfig": _names("DnsName MountPath"),
}
_NOVA_STORAGE: Shape = {"FSxLustreConfig": _names("PerUnitStorageThroughput SizeInGiB")}

GROUP: Final[Shape] = {
    "AutoPatchConfig": _PATCHING,
    "CapacityRequirements": _names("OnDemand Spot"),
    "ExecutionRole": _ANY,
    "ImageId": _ANY,
    "ImageReleaseVersion": _ANY,
    "InstanceCount": _ANY,
    "InstanceGroupName": _ANY,
    "InstanceRequirements": _names("InstanceTypes"),
    "InstanceStorageConfigs": _STORAGE,
    "InstanceType": _ANY,
    "KubernetesConfig": {"Labels": _ANY, "Taints": _names("Effect Key Value")},
    "LifeCycleConfig": _names("OnCreate OnInitComplete SourceS3Uri"),
    "MinInstanceCount": _ANY,
    "NetworkInterface": _names("InterfaceType"),
    "OnStartDeepHealthChecks": _ANY,
    "OverrideVpcConfig": _VPC,
    "ScheduledUpdateConfig": _SCHEDULE,
    "SlurmConfig": _names("NodeType PartitionNames"),
    "ThreadsPerCore": _ANY,
    "TrainingPlanArn": _ANY,
}
"""An element of InstanceGroups."""

_RESTRICTED_GROUP: Shape = {
    "EnvironmentConfig": _NOVA_STORAGE,
    **{
        name: GROUP[name]
        for name in (
            "ExecutionRole",
            "InstanceCount",
            "InstanceGroupName",
            "InstanceStorageConfigs",
            "InstanceType",
            "OnStartDeepHealthChecks",
            "OverrideVpcConfig",
            "ThreadsPerCore",
            "TrainingPlanArn",
        )
    },
}

CLUSTER: Final[Shape] = {
    "AutoScaling": _names("AutoScalerType Mode"),
    "ClusterName": _ANY,
    "ClusterRole": _ANY,
    "InstanceGroups": _ANY,  # each element is checked on its own, as `GROUP`
    "NodeProvisioningMode": _ANY,
    "NodeRecovery": _ANY,
    "Orchestrator": {
        "Eks": _names("ClusterArn"),
        "Slurm": {"AccountingDatabase": _names("Endpoint Name Port SecretArn"), "SlurmConfigStrategy": _ANY},
    },
    "RestrictedInstanceGroups": _RESTRICTED_GROUP,
    "RestrictedInstanceGroupsConfig": {
        "SharedEnvironmentConfig": {**_NOVA_STORAGE, "FSxLustreDeletionPolicy": _ANY},
    },
    "Tags": _names("Key Value"),
    "TieredStorageConfig": _names("InstanceMemoryAllocationPercentage Mode"),
    "VpcConfig": _VPC,
}
"""AWS::SageMaker::Cluster."""

REQUEST: Final[Shape] = {
    **CLUSTER,
    "RestrictedInstanceGroups": {**_RESTRICTED_GROUP, "ScheduledUpdateConfig": _SCHEDULE},
}
"""CreateCluster."""

REQUEST_GROUP: Final[Shape] = {
    **GROUP,
    "AutoPatchConfig": {
        **_PATCHING,
        "DrainPolicy": _names("DrainTimeoutInSeconds OnDrainTimeout"),
        "IdleWaitWindowInSeconds": _ANY,
        "PatchSchedule": _names("NextPatchDate"),
    },
}
"""An element of InstanceGroups in CreateCluster."""


def check_names(node: Node, shape: Shape) -> None:
    """Reports every property that does not exist, on this level and below."""
    if not shape:
        return
    items = node.items() if isinstance(node.value, list) else UNKNOWN
    if items is not UNKNOWN:
        for item in items:
            check_names(item, shape)
    elif isinstance(node.value, dict):
        for name in node.value:
            if name in shape:
                check_names(node[name], shape[name])
            else:
                _report(node[str(name)], str(name), shape)


def _report(node: Node, name: str, shape: Shape) -> None:
    """Reports a name that is not in the list: as wrong where it is a slip, else as one that may be new."""
    if slip := _alike(name, shape, _SLIP):
        node.report("does not exist", f"use {slip}")
        return
    near = _alike(name, shape, 0.6)
    known = near or "one of " + ", ".join(sorted(shape))
    node.report("is not a property that we know", f"use {known}; if it is newer than our list, keep it", certain=False)


def _alike(name: str, shape: Shape, cutoff: float) -> str | None:
    """The known name that is most alike, if any is as alike as this."""
    by_lower = {known.lower(): known for known in shape}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[near[0]] if near else None
