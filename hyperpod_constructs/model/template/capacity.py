"""Clusters and their instance groups, from AWS::SageMaker::Cluster or a CreateCluster request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from hyperpod_constructs.cloudformation.values import Reference, Text
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model._reading import Fields, Node, each, every, one_of, optional, otherwise, required, weak
from hyperpod_constructs.model.capacity import (
    PATCHING_STRATEGIES,
    TEMPLATE_STRATEGIES,
    AutoPatch,
    BatchSize,
    Capacity,
    InstanceGroup,
    OnDemand,
    RollingUpdate,
    ScheduledUpdate,
    Spot,
    TrainingPlan,
)
from hyperpod_constructs.model.checks import check_name
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.model.restricted import RestrictedGroup, RestrictedStorage, SharedRestrictedStorage
from hyperpod_constructs.model.storage import Mount, NodeVolume
from hyperpod_constructs.model.template.kubernetes import autoscaling, kubernetes_config, tiered_storage
from hyperpod_constructs.model.template.orchestration import orchestrator
from hyperpod_constructs.model.template.properties import CLUSTER, GROUP, REQUEST, REQUEST_GROUP, Shape, check_names
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_PLAN = ":training-plan/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What may stand in one of the two kinds of input; the API has more than CloudFormation.

    Attributes:
        cluster: Names that the properties of a cluster may have.
        group: Names that the properties of a group may have.
        group_fields: How a group is read.
    """

    cluster: Shape
    group: Shape
    group_fields: Fields


def cluster(node: Node, form: Form, **fixed: object) -> Cluster:
    """A cluster from its properties.

    Args:
        node: All properties of the cluster.
        form: `TEMPLATE` or `API`.
        **fixed: What does not come from properties: path, account, Region and dependencies.
    """
    check_names(node, form.cluster)
    tags = node["Tags"].each(lambda item: (item["Key"].text(), item["Value"].must(Node.text)))
    pairs = [] if tags is UNKNOWN else [tag for tag in tags if tag is not UNKNOWN]
    known = {key: value for key, value in pairs if isinstance(key, str)}
    return node.build(
        Cluster,
        _CLUSTER,
        groups=_groups(node["InstanceGroups"], form),
        tags=known,
        tags_complete=tags is not UNKNOWN and len(known) == len(tags),
        restricted_groups=node["RestrictedInstanceGroups"].each(_restricted_group),
        requested=form is API,
        **fixed,
    )


def group_names(node: Node) -> tuple[str | Unknown | None, ...]:
    """Names of a cluster's groups in the order of the template."""
    items = node["InstanceGroups"].items()
    return () if items is UNKNOWN else tuple(item["InstanceGroupName"].text() for item in items)


def _groups(node: Node, form: Form) -> tuple[InstanceGroup, ...]:
    """The groups of a cluster; one of which nothing is known stands for whatever cannot be read."""
    items = node.items()
    return (_UNKNOWN_GROUP,) if items is UNKNOWN else tuple(_group(item, form) for item in items)


def _group(node: Node, form: Form) -> InstanceGroup:
    if not isinstance(node.mapping(), dict):
        return _UNKNOWN_GROUP
    name = node["InstanceGroupName"].text()
    owned = replace(node, owner=f"{node.owner}/{name}") if isinstance(name, str) else node
    check_names(owned, form.group)
    return owned.build(InstanceGroup, form.group_fields, asked=_asked(owned))


def _certain(node: Node, *names: str) -> tuple[str, ...]:
    """Those of some properties that certainly stand there."""
    return tuple(name for name in names if node[name].given and not node[name].undecided)


def _asked(node: Node) -> tuple[str, ...]:
    """Every property that certainly asks for a kind of capacity, if there are several."""
    found = (*_certain(node["CapacityRequirements"], "OnDemand", "Spot"), *_certain(node, "TrainingPlanArn"))
    return found if len(found) > 1 else ()


def _capacity(node: Node) -> Capacity | Unknown | None:
    plan, asked = node["TrainingPlanArn"], node["CapacityRequirements"]
    if plan.given:
        return _plan(plan)
    if asked["Spot"].undecided or asked["OnDemand"].undecided:
        return UNKNOWN
    if asked["Spot"].given:
        return Spot()
    return OnDemand() if asked["OnDemand"].given else None


def _plan(node: Node) -> TrainingPlan | Unknown:
    """A plan of which the ARN or, where account or Region are decided at deploy, the name is known."""
    if isinstance(node.value, Text):
        _, found, name = node.value.suffix.rpartition(_PLAN)
        return TrainingPlan(name, count=None, zone=None, starts=None, ends=None) if found and name else UNKNOWN
    arn = node.text()
    try:
        return TrainingPlan.unchecked(arn) if isinstance(arn, str) else UNKNOWN
    except InvalidValue as error:
        node.refuse(error)
        return UNKNOWN


def _restricted_group(node: Node) -> RestrictedGroup | Unknown:
    if not isinstance(node.mapping(), dict):
        return UNKNOWN
    name = node["InstanceGroupName"].text()
    owned = replace(node, owner=f"{node.owner}/{name}") if isinstance(name, str) else node
    return RestrictedGroup(
        group=owned.build(InstanceGroup, _RESTRICTED),
        storage=owned.at("EnvironmentConfig.FSxLustreConfig").optional(_restricted_storage),
    )


def _restricted_storage(node: Node) -> RestrictedStorage:
    return node.build(RestrictedStorage, _RESTRICTED_STORAGE)


def _shared_storage(node: Node) -> SharedRestrictedStorage | Unknown:
    return node["SharedEnvironmentConfig"].must(lambda given: given.optional(_shared_environment))


def _shared_environment(node: Node) -> SharedRestrictedStorage:
    return node.build(SharedRestrictedStorage, _SHARED_STORAGE)


def _placement(node: Node) -> VpcPlacement:
    return node.build(VpcPlacement, _PLACEMENT)


def _volume(item: Node) -> NodeVolume | Unknown | None:
    return item["EbsVolumeConfig"].optional(lambda given: given.build(NodeVolume, _VOLUME))


def _mount(item: Node) -> Mount | Unknown | None:
    lustre = item["FsxLustreConfig"].optional(lambda given: given.build(Mount, _MOUNT, kind="lustre"))
    if lustre is not None:
        return lustre
    return item["FsxOpenZfsConfig"].optional(lambda given: given.build(Mount, _MOUNT, kind="openzfs"))


def _file_system(node: Node) -> str | Unknown | None:
    """The file system, by its DNS name; by its mount name if the DNS name does not tell."""
    found = node["DnsName"].must(Node.path)
    by_mount_name = found is UNKNOWN and isinstance(node["MountName"].value, Reference)
    return node["MountName"].path() if by_mount_name else found


def _lifecycle(node: Node) -> Lifecycle:
    return node.build(Lifecycle, _LIFECYCLE)


def _rolling(node: Node) -> RollingUpdate | Unknown | None:
    return node.build_known(RollingUpdate, _ROLLING) if node["RollingUpdatePolicy"].given else None


def _batch(node: Node) -> BatchSize | Unknown:
    return node.build_known(BatchSize, _BATCH)


def _nodes(node: Node) -> object:
    return _batch_value(node, "INSTANCE_COUNT")


def _percent(node: Node) -> object:
    return _batch_value(node, "CAPACITY_PERCENTAGE")


def _batch_value(node: Node, kind: str) -> object:
    """The value of a batch size if it is of this kind."""
    given = node["Type"].must(one_of("INSTANCE_COUNT", "CAPACITY_PERCENTAGE"))
    if given is UNKNOWN:
        return UNKNOWN
    return node["Value"].must(Node.whole) if given == kind else None


def _patching(node: Node) -> AutoPatch | Unknown:
    return node.build_known(AutoPatch, _PATCHING)


def _requested_patching(node: Node) -> AutoPatch | Unknown:
    return node.build_known(AutoPatch, _REQUESTED_PATCHING)


def _scheduled_update(node: Node) -> ScheduledUpdate | Unknown:
    return node.build_known(ScheduledUpdate, _SCHEDULE)


def _alarm(item: Node) -> str | Unknown:
    return item["AlarmName"].must(Node.path)


def _health_checks(node: Node) -> object:
    """The checks; left out is not the same as none."""
    return node.each(Node.text) if node.given else None


def _cluster_name(node: Node) -> str | Unknown | None:
    return node.checked(check_name)


_PLACEMENT: Final[Fields] = {
    "subnets": ("Subnets", required(each(Node.path))),
    "security_groups": ("SecurityGroupIds", required(each(Node.path))),
    "weak": ("", weak("Subnets", "SecurityGroupIds")),
}
_VOLUME: Final[Fields] = {
    "size_gib": ("VolumeSizeInGB", Node.whole),
    "root": ("RootVolume", otherwise(Node.flag, default=False)),
    "kms_key": ("VolumeKmsKeyId", Node.text),
}
_MOUNT: Final[Fields] = {"path": ("MountPath", Node.text), "file_system": ("", _file_system)}
_BATCH: Final[Fields] = {"count": ("", _nodes), "percent": ("", _percent)}
_ROLLING: Final[Fields] = {
    "batch": ("RollingUpdatePolicy.MaximumBatchSize", required(optional(_batch))),
    "rollback_batch": ("RollingUpdatePolicy.RollbackMaximumBatchSize", optional(_batch)),
    "wait_seconds": ("WaitIntervalInSeconds", Node.whole),
    "alarms": ("AutoRollbackConfiguration", every(_alarm)),
}
_PATCHING: Final[Fields] = {
    "when": ("PatchingStrategy", required(one_of(*TEMPLATE_STRATEGIES))),
    "rolling": ("DeploymentConfig", optional(_rolling)),
}
_REQUESTED_PATCHING: Final[Fields] = {
    **_PATCHING,
    "when": ("PatchingStrategy", required(one_of(*PATCHING_STRATEGIES))),
}
_SCHEDULE: Final[Fields] = {
    "schedule": ("ScheduleExpression", required(Node.text)),
    "rolling": ("DeploymentConfig", optional(_rolling)),
}
_LIFECYCLE: Final[Fields] = {
    "source_uri": ("SourceS3Uri", Node.beginning),
    "on_create": ("OnCreate", Node.text),
    "on_init_complete": ("OnInitComplete", Node.text),
}
_GROUP: Final[Fields] = {
    "name": ("InstanceGroupName", required(Node.text)),
    "count": ("InstanceCount", required(Node.whole)),
    "instance_type": ("InstanceType", Node.text),
    "flexible_types": ("InstanceRequirements.InstanceTypes", every(Node.text)),
    "min_count": ("MinInstanceCount", Node.whole),
    "node_type": ("SlurmConfig.NodeType", Node.text),
    "partitions": ("SlurmConfig.PartitionNames", each(Node.text)),
    "threads_per_core": ("ThreadsPerCore", Node.whole),
    "capacity": ("", _capacity),
    "volumes": ("InstanceStorageConfigs", every(_volume)),
    "mounts": ("InstanceStorageConfigs", every(_mount)),
    "lifecycle": ("LifeCycleConfig", optional(_lifecycle)),
    "health_checks": ("OnStartDeepHealthChecks", _health_checks),
    "patching": ("AutoPatchConfig", optional(_patching)),
    "scheduled_update": ("ScheduledUpdateConfig", optional(_scheduled_update)),
    "placement": ("OverrideVpcConfig", optional(_placement)),
    "image_id": ("ImageId", Node.text),
    "image_release_version": ("ImageReleaseVersion", Node.text),
    "kubernetes": ("KubernetesConfig", optional(kubernetes_config)),
    "network_interface": ("NetworkInterface.InterfaceType", Node.text),
    "execution_role": ("ExecutionRole", required(Node.path)),
}
_RESTRICTED: Final[Fields] = {
    name: _GROUP[name]
    for name in (
        "name",
        "count",
        "instance_type",
        "threads_per_core",
        "capacity",
        "volumes",
        "health_checks",
        "placement",
        "execution_role",
    )
}
_RESTRICTED_STORAGE: Final[Fields] = {
    "size_gib": ("SizeInGiB", required(Node.whole)),
    "throughput_mbps_per_tib": ("PerUnitStorageThroughput", required(Node.whole)),
}
_SHARED_STORAGE: Final[Fields] = {
    "storage": ("FSxLustreConfig", optional(_restricted_storage)),
    "when_unused": ("FSxLustreDeletionPolicy", required(Node.text)),
}
TEMPLATE: Final = Form(cluster=CLUSTER, group=GROUP, group_fields=_GROUP)
"""AWS::SageMaker::Cluster."""
API: Final = Form(
    cluster=REQUEST,
    group=REQUEST_GROUP,
    group_fields={**_GROUP, "patching": ("AutoPatchConfig", optional(_requested_patching))},
)
"""CreateCluster."""

_CLUSTER: Final[Fields] = {
    "name": ("ClusterName", _cluster_name),
    "orchestrator": ("Orchestrator", orchestrator),
    "provisioning": ("NodeProvisioningMode", one_of("Continuous")),
    "recovery": ("NodeRecovery", one_of("Automatic", "None")),
    "placement": ("VpcConfig", optional(_placement)),
    "cluster_role": ("ClusterRole", Node.path),
    "autoscaling": ("AutoScaling", optional(autoscaling)),
    "tiered_storage": ("TieredStorageConfig", optional(tiered_storage)),
    "restricted_storage": ("RestrictedInstanceGroupsConfig", optional(_shared_storage)),
}

_UNKNOWN_FIELDS: dict[str, Any] = dict.fromkeys(_GROUP, UNKNOWN)
_UNKNOWN_GROUP: Final = InstanceGroup(**_UNKNOWN_FIELDS)
