"""Clusters and their instance groups, from AWS::SageMaker::Cluster or a CreateCluster request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from hyperpod_constructs.cloudformation.values import Text
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model._reading import Fields, Node, each, every, one_of, optional, otherwise, required, weak
from hyperpod_constructs.model.capacity import (
    NODE_TYPES,
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
    is_plan,
)
from hyperpod_constructs.model.checks import check_name
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.model.restricted import RestrictedGroup, RestrictedStorage, SharedRestrictedStorage
from hyperpod_constructs.model.template import node_storage
from hyperpod_constructs.model.template.arns import arn_of
from hyperpod_constructs.model.template.kubernetes import autoscaling, kubernetes_config, tiered_storage
from hyperpod_constructs.model.template.orchestration import orchestrator
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_PLAN = ":training-plan/"


def cluster(node: Node, group_fields: Fields, **fixed: object) -> Cluster:
    """A cluster from its properties.

    Args:
        node: All properties of the cluster.
        group_fields: How a group is read: `TEMPLATE` or `API`.
        **fixed: What does not come from properties: path, account, Region and dependencies.
    """
    tags = node["Tags"].each(lambda item: (item["Key"].text(), item["Value"].must(Node.text)))
    pairs = [] if tags is UNKNOWN else [tag for tag in tags if tag is not UNKNOWN]
    known = {key: value for key, value in pairs if isinstance(key, str)}
    return node.build(
        Cluster,
        _CLUSTER,
        groups=_groups(node["InstanceGroups"], group_fields),
        tags=known,
        tags_complete=tags is not UNKNOWN and len(known) == len(tags),
        restricted_groups=node["RestrictedInstanceGroups"].each(_restricted_group),
        requested=group_fields is API,
        **fixed,
    )


def group_names(node: Node) -> tuple[str | Unknown | None, ...]:
    """Names of a cluster's groups in the order of the template."""
    items = node["InstanceGroups"].items()
    return () if items is UNKNOWN else tuple(item["InstanceGroupName"].text() for item in items)


def _groups(node: Node, group_fields: Fields) -> tuple[InstanceGroup, ...]:
    """The groups of a cluster; one of which nothing is known stands for whatever cannot be read."""
    items = node.items()
    return (_UNKNOWN_GROUP,) if items is UNKNOWN else tuple(_group(item, group_fields) for item in items)


def _group(node: Node, group_fields: Fields) -> InstanceGroup:
    if not isinstance(node.mapping(), dict):
        return _UNKNOWN_GROUP
    name = node["InstanceGroupName"].text()
    owned = replace(node, owner=f"{node.owner}/{name}") if isinstance(name, str) else node
    return owned.build(InstanceGroup, group_fields, asked=_asked(owned))


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
        known = bool(found) and is_plan(name)
        return TrainingPlan(name, count=None, zone=None, starts=None, ends=None) if known else UNKNOWN
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


def _flexible_types(node: Node) -> object:
    """The types; not known where there are none, which is reported as such."""
    types = node["InstanceTypes"].must(every(Node.text))
    return UNKNOWN if types == () else types


def _node_type(node: Node) -> object:
    return node["NodeType"].must(one_of(*NODE_TYPES))


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


def _patching(node: Node) -> AutoPatch:
    return node.build(AutoPatch, _PATCHING)


def _requested_patching(node: Node) -> AutoPatch:
    return node.build(AutoPatch, _REQUESTED_PATCHING)


def _scheduled_update(node: Node) -> ScheduledUpdate:
    return node.build(ScheduledUpdate, _SCHEDULE)


def _alarm(item: Node) -> str | Unknown:
    return item["AlarmName"].must(Node.path)


def _alarms(node: Node) -> tuple[str, ...] | Unknown:
    """The alarms, each once: what the service says to one that is there twice is not documented."""
    found = node.every(_alarm)
    return UNKNOWN if found is UNKNOWN else tuple(dict.fromkeys(found))


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
_BATCH: Final[Fields] = {"count": ("", _nodes), "percent": ("", _percent)}
_ROLLING: Final[Fields] = {
    "batch": ("RollingUpdatePolicy.MaximumBatchSize", required(optional(_batch))),
    "rollback_batch": ("RollingUpdatePolicy.RollbackMaximumBatchSize", optional(_batch)),
    "wait_seconds": ("WaitIntervalInSeconds", Node.whole),
    "alarms": ("AutoRollbackConfiguration", _alarms),
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
    "flexible_types": ("InstanceRequirements", otherwise(optional(_flexible_types), default=())),
    "min_count": ("MinInstanceCount", Node.whole),
    "node_type": ("SlurmConfig", optional(_node_type)),
    "partitions": ("SlurmConfig.PartitionNames", each(Node.text)),
    "threads_per_core": ("ThreadsPerCore", Node.whole),
    "capacity": ("", _capacity),
    "volumes": ("InstanceStorageConfigs", every(node_storage.volume)),
    "mounts": ("InstanceStorageConfigs", every(node_storage.mount)),
    "lifecycle": ("LifeCycleConfig", optional(_lifecycle)),
    "health_checks": ("OnStartDeepHealthChecks", _health_checks),
    "patching": ("AutoPatchConfig", optional(_patching)),
    "scheduled_update": ("ScheduledUpdateConfig", optional(_scheduled_update)),
    "placement": ("OverrideVpcConfig", optional(_placement)),
    "image_id": ("ImageId", Node.text),
    "image_release_version": ("ImageReleaseVersion", Node.text),
    "kubernetes": ("KubernetesConfig", optional(kubernetes_config)),
    "network_interface": ("NetworkInterface.InterfaceType", Node.text),
    "execution_role": ("ExecutionRole", required(arn_of("AWS::IAM::Role"))),
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
TEMPLATE: Final[Fields] = _GROUP
"""AWS::SageMaker::Cluster."""
API: Final[Fields] = {**_GROUP, "patching": ("AutoPatchConfig", optional(_requested_patching))}
"""CreateCluster."""

_CLUSTER: Final[Fields] = {
    "name": ("ClusterName", _cluster_name),
    "orchestrator": ("Orchestrator", orchestrator),
    "provisioning": ("NodeProvisioningMode", one_of("Continuous")),
    "recovery": ("NodeRecovery", one_of("Automatic", "None")),
    "placement": ("VpcConfig", optional(_placement)),
    "cluster_role": ("ClusterRole", arn_of("AWS::IAM::Role")),
    "autoscaling": ("AutoScaling", optional(autoscaling)),
    "tiered_storage": ("TieredStorageConfig", optional(tiered_storage)),
    "restricted_storage": ("RestrictedInstanceGroupsConfig", optional(_shared_storage)),
}

_UNKNOWN_FIELDS: dict[str, Any] = dict.fromkeys(_GROUP, UNKNOWN)
_UNKNOWN_GROUP: Final = InstanceGroup(**_UNKNOWN_FIELDS)
