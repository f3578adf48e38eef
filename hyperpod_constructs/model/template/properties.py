"""Which property names CloudFormation and CreateCluster know, so that a misspelt one is found before the deploy.

Source: AWS::SageMaker::Cluster in the CloudFormation registry (cfn-lint 1.58.0, 2026-10-20), without what is read-only;
CreateCluster (botocore 1.44.8) for what only a request may have.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, TypeAlias

from hyperpod_constructs.model._reading import Node
from hyperpod_constructs.tokens import UNKNOWN

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
    "PatchSchedule": _names("NextPatchDate"),
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
                node[str(name)].report(f"does not exist; use {_meant(str(name), shape)}")


def _meant(name: str, shape: Shape) -> str:
    """The properties that a misspelt one was probably meant to be, else all there are."""
    by_lower = {known.lower(): known for known in shape}
    near = get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[near[0]] if near else "one of " + ", ".join(sorted(shape))
