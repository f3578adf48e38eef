"""What can be known about groups before a node is paid for: HP10xx."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.catalog import instances, limits
from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import (
    DRAIN_FIRST,
    TEMPLATE_STRATEGIES,
    AutoPatch,
    InstanceGroup,
    Spot,
)
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import any_of, named, sized
from hyperpod_constructs.tokens import UNKNOWN

# The second alternative is a dynamic reference, which CloudFormation resolves at deploy.
_IMAGE = re.compile(r"(ami-[0-9a-fA-F]{8,17}|default)|\{\{resolve:.+\}\}")
_SCHEDULE = re.compile(
    r"cron\((?:[0-5][0-9]|[0-9]|)"  # minute
    r" (?:[01][0-9]|2[0-3]|[0-9])"  # hour
    r" (?:[1-9]|0[1-9]|[12][0-9]|3[01]|\?)"  # day of the month
    r" (?:[1-9]|0[1-9]|1[0-2]|\*|\*/(?:[1-9]|1[0-2])|)"  # month
    r" (?:MON|TUE|WED|THU|FRI|SAT|SUN|[1-7]|\?|L|[1-7]#[1-5]|[1-7]L)"  # day of the week
    r" (?:20[2-9][0-9]|\*|)\)"  # year
)

_SIZE = re.compile(r"nano|micro|small|medium|large|[1-9]\d{0,2}?xlarge|xlarge|metal(-[1-9]\d{0,2}xl)?")

_API = "SageMaker API, ClusterInstanceGroupSpecification (botocore 1.44.8)"


def _types(group: InstanceGroup) -> Iterator[tuple[str, InstanceType | None]]:
    """The known names among a group's instance types, each with its facts."""
    if isinstance(group.instance_type, str):
        yield group.instance_type, group.facts
    for name in group.flexible_types if isinstance(group.flexible_types, tuple) else ():
        if isinstance(name, str):
            yield name, instances.find(name)


def _unknown_types(deployment: Deployment) -> Iterator[tuple[InstanceGroup, str, str, tuple[str, ...]]]:
    """Groups with a type that nobody described: group, path, type, types that were probably meant.

    A size that a known family does not have yet is no misspelling: AWS adds sizes to its families.
    """
    families = {_family(name) for name in instances.names()}
    for _, group, path in deployment.groups():
        for name, facts in _types(group):
            if facts is None:
                new = _family(name) in families and _SIZE.fullmatch(name.rpartition(".")[2])
                yield group, path, name, () if new else instances.near(name)


def _family(name: str) -> str:
    """What stands before the size: `ml.p5`."""
    return name.rpartition(".")[0]


@rule(
    "HP1001",
    Severity.ERROR,
    title="A value can never be right",
    because="the service refuses the value whatever surrounds it",
    source="the documentation of the field in hyperpod_constructs.model, which names the page or schema",
)
def values_are_possible(deployment: Deployment) -> Iterator[Problem]:
    yield from _invalid(deployment, certain=True)


def _invalid(deployment: Deployment, *, certain: bool) -> Iterator[Problem]:
    for each in deployment.invalid:
        if each.certain is certain:
            yield Problem(path=each.path, message=each.message, fix=each.fix, location=each.location)


@rule(
    "HP1002",
    Severity.ERROR,
    title="Two groups have the same name",
    because="the service tells groups apart by name; the CloudFormation schema does not say so",
    source=_API,
)
def group_names_are_unique(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        names = [group.name for group in cluster.groups if isinstance(group.name, str)]
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                yield Problem(
                    path=f"{cluster.path}/{name}",
                    message=f"{names.count(name)} groups are named {name!r}",
                    fix="give every group of the cluster a name of its own",
                )


@rule(
    "HP1003",
    Severity.WARNING,
    title="Two group names differ only in case",
    because="no page says whether the service takes them for two; people and host names do not tell them apart",
    source="awslabs/awsome-distributed-ai pull 535; not confirmed by AWS",
)
def group_names_differ_in_more_than_case(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        names = dict.fromkeys(group.name for group in cluster.groups if isinstance(group.name, str))
        first: dict[str, str] = {}
        for name in names:
            other = first.setdefault(name.lower(), name)
            if other != name:
                yield Problem(
                    path=f"{cluster.path}/{name}",
                    message=f"groups {other!r} and {name!r} differ only in case",
                    fix="rename one of them before it has nodes: renaming a group later deletes them",
                )


def _certain_groups(cluster: Cluster) -> int:
    """How many groups a cluster certainly has: one of which not even the name is known may be left out at deploy."""
    return sum(group.name is not UNKNOWN for group in cluster.groups)


@rule(
    "HP1004",
    Severity.ERROR,
    title="A cluster has more groups than the service takes",
    because="CreateCluster refuses the request",
    source="SageMaker API, CreateCluster, InstanceGroups (botocore 1.44.8)",
)
def groups_are_not_too_many(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if (count := _certain_groups(cluster)) > limits.GROUPS.high:
            yield Problem(
                path=cluster.path,
                message=f"{count} instance groups",
                fix=f"use at most {limits.GROUPS.high}; AWS's guides say {limits.GROUPS_IN_GUIDES.high}",
            )


@rule(
    "HP1005",
    Severity.WARNING,
    title="A cluster has more groups than AWS's guides allow",
    because="AWS's texts differ: both guides for the command line say up to 20 groups, the API says 100",
    source="SageMaker developer guide, sagemaker-hyperpod-operate-slurm-cli-command; API, CreateCluster (October 2026)",
)
def groups_fit_the_guides(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if limits.GROUPS_IN_GUIDES.high < (count := _certain_groups(cluster)) <= limits.GROUPS.high:
            yield Problem(
                path=cluster.path,
                message=f"{count} instance groups; AWS's guides say at most {limits.GROUPS_IN_GUIDES.high}",
                fix=f"use at most {limits.GROUPS_IN_GUIDES.high} groups, or ask AWS support before you rely on more",
            )


@rule(
    "HP1006",
    Severity.WARNING,
    title="A cluster has no instance group",
    because="the API wants at least one group, restricted or not",
    source="SageMaker API, CreateCluster, InstanceGroups (botocore 1.44.8)",
)
def clusters_have_groups(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if not cluster.groups and cluster.restricted_groups == ():
            yield Problem(
                path=cluster.path,
                message="0 instance groups",
                fix=f"add 1 to {limits.GROUPS.high} groups; a group may have 0 instances",
            )


@rule(
    "HP1007",
    Severity.ERROR,
    title="A group does not have exactly one of instance type and flexible types",
    because="InstanceType and InstanceRequirements exclude each other, and without either there is nothing to launch",
    source=_API,
)
def groups_have_one_kind_of_type(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        single, flexible = group.instance_type, group.flexible_types
        if single is None and flexible == ():
            yield Problem(
                path=path,
                message=f"{named(group)} has neither instance type nor flexible types",
                fix="give it one instance type such as ml.p5.48xlarge, or up to 20 flexible types",
            )
        if isinstance(single, str) and isinstance(flexible, tuple) and flexible:
            yield Problem(
                path=path,
                message=f"{named(group)} has both instance type {single} and flexible types",
                fix=f"leave one of them out; flexible types may begin with {single}",
            )


@rule(
    "HP1008",
    Severity.ERROR,
    title="A group's flexible types are too many or repeat",
    because="the service takes 1 to 20 different types, in order of preference",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-operate-cli-command-create-cluster (October 2026)",
)
def flexible_types_are_a_short_list(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        flexible = group.flexible_types if isinstance(group.flexible_types, tuple) else ()
        types = [name for name in flexible if isinstance(name, str)]
        if len(types) > limits.FLEXIBLE_TYPES.high:
            yield Problem(
                path=path,
                message=f"{named(group)} has {len(types)} flexible types",
                fix=f"use 1 to {limits.FLEXIBLE_TYPES.high}",
            )
        for name in dict.fromkeys(types):
            if types.count(name) > 1:
                yield Problem(
                    path=path,
                    message=f"{named(group)} names {name} {types.count(name)} times among its flexible types",
                    fix="name every type once, in order of preference",
                )


@rule(
    "HP1009",
    Severity.WARNING,
    title="A group uses what only Continuous provisioning has, and the cluster does not ask for it",
    because="the API ties these fields to NodeProvisioningMode: Continuous; AWS's pages call it the default for new "
    "clusters, but what the service does with a request that leaves it out is not confirmed",
    source="SageMaker developer guide, sagemaker-hyperpod-scaling-eks and -scaling-slurm (October 2026)",
)
def continuous_features_have_continuous_provisioning(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        if cluster.provisioning is not None:
            continue
        for feature in _continuous_features(group):
            yield Problem(
                path=path,
                message=f"{named(group)} has {feature}, but the cluster leaves NodeProvisioningMode out",
                fix=f"write NodeProvisioningMode: Continuous, or leave {feature} out",
            )


def _continuous_features(group: InstanceGroup) -> Iterator[str]:
    if isinstance(group.flexible_types, tuple) and group.flexible_types:
        yield "flexible types"
    if isinstance(group.min_count, int) and group.min_count > 0:
        yield f"a minimum count of {group.min_count}"
    if isinstance(group.capacity, Spot):
        yield "spot capacity"


@rule(
    "HP1010",
    Severity.ERROR,
    title="An instance type is a misspelling of a known one",
    because="the service refuses names that it does not know",
    source="SageMaker API, ClusterInstanceType (botocore 1.44.8)",
)
def instance_types_are_spelled_right(deployment: Deployment) -> Iterator[Problem]:
    for group, path, name, meant in _unknown_types(deployment):
        if meant:
            newer = (
                f"; if the type is new, in the CDK describe it: hp.InstanceType({name!r}, ...)"
                if name.startswith("ml.")
                else ""
            )
            yield Problem(
                path=path,
                message=f"{named(group)} has instance type {name!r}, which is no known type",
                fix=f"use {any_of(meant)}{newer}",
            )


@rule(
    "HP1011",
    Severity.WARNING,
    title="An instance type is not in the catalogue",
    because="its accelerators, addresses and price are not known, so that nothing that follows from them is checked",
    source="SageMaker API, ClusterInstanceType (botocore 1.44.8)",
)
def instance_types_are_known(deployment: Deployment) -> Iterator[Problem]:
    for group, path, name, meant in _unknown_types(deployment):
        if not meant:
            yield Problem(
                path=path,
                message=f"{named(group)} has instance type {name!r}, which our catalogue does not have",
                fix="see that the name is right; if it is new, in the CDK describe it: "
                f"hp.InstanceType({name!r}, accelerators=..., efa=..., addresses=...)",
            )


@rule(
    "HP1012",
    Severity.WARNING,
    title="The price list of the Region does not have the instance type",
    because="a group waits in vain for a type that its Region does not have; price lists lag, so this is advice",
    source="cfn-lint 1.58.0, instance types by Region, from AWS price lists (2026-10-20)",
)
def instance_types_are_in_the_region(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        for name, facts in _types(group):
            listed = facts.regions if facts else ()
            if listed and isinstance(cluster.region, str) and cluster.region not in listed:
                yield Problem(
                    path=path,
                    message=f"{named(group)} has {name}, which the price list of {cluster.region} does not have",
                    fix=f"use {any_of(listed)}, or make sure that {cluster.region} has it: price lists lag",
                )


@rule(
    "HP1013",
    Severity.ERROR,
    title="A minimum count is above the count",
    because="the group could never come into service",
    source="SageMaker API, ClusterInstanceGroupSpecification, MinInstanceCount (botocore 1.44.8)",
)
def minimum_counts_can_be_met(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        most, least = group.instances, group.min_count
        if isinstance(most, int) and isinstance(least, int) and least > most:
            yield Problem(
                path=path,
                message=f"{named(group)} has a minimum count of {least}, but {sized(group)} instances",
                fix=f"use a minimum count of 0 to {most}, or leave it out",
            )


@rule(
    "HP1014",
    Severity.ERROR,
    title="Threads per core is not a value that the instance type has",
    because="types without multithreading take 1 only, and the value cannot be changed later",
    source="SageMaker API, ThreadsPerCore (botocore 1.44.8); EC2 DescribeInstanceTypes",
)
def threads_per_core_fit_the_type(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        allowed = group.facts.threads_per_core if group.facts else None
        if allowed and isinstance(group.threads_per_core, int) and group.threads_per_core not in allowed:
            yield Problem(
                path=path,
                message=f"{named(group)} asks for {group.threads_per_core} threads per core of {group.instance_type}",
                fix=f"use {' or '.join(map(str, allowed))}, or leave it out",
            )


@rule(
    "HP1015",
    Severity.ERROR,
    title="An image is no AMI id",
    because="the service takes the id of an AMI, not its name, alias or parameter",
    source="SageMaker API, ImageId (botocore 1.44.8)",
)
def images_are_ami_ids(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        if isinstance(group.image_id, str) and not _IMAGE.fullmatch(group.image_id):
            yield Problem(
                path=path,
                message=f"{named(group)} has image {group.image_id!r}",
                fix="use an id such as ami-0123456789abcdef0 (8 to 17 hexadecimal digits), or leave it out",
            )


@rule(
    "HP1016",
    Severity.ERROR,
    title="A schedule is not one that CloudFormation takes",
    because="CloudFormation takes a part of EventBridge's cron only: minute and hour are single numbers",
    source="AWS::SageMaker::Cluster schema, ScheduleExpression (2026-10-20)",
)
def schedules_are_plain_cron(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        update = group.scheduled_update
        if update is None or update is UNKNOWN or not isinstance(update.schedule, str) or cluster.requested:
            continue  # the API has no pattern for it
        if not _SCHEDULE.fullmatch(update.schedule):
            yield Problem(
                path=path,
                message=f"{named(group)} is updated on the schedule {update.schedule!r}",
                fix="use cron(MINUTE HOUR DAY MONTH WEEKDAY YEAR) with one number for minute and hour, a number or ? "
                "for the day and one day or ? for the weekday, such as cron(0 3 ? * SUN *)",
            )


@rule(
    "HP1017",
    Severity.WARNING,
    title="A property is not one that we know",
    because="CloudFormation and the API refuse properties that do not exist, but our list of names may be older than "
    "the service",
    source="AWS::SageMaker::Cluster schema (cfn-lint 1.58.0, 2026-10-20); SageMaker API, CreateCluster (botocore "
    "1.44.8)",
)
def properties_are_known(deployment: Deployment) -> Iterator[Problem]:
    yield from _invalid(deployment, certain=False)


@rule(
    "HP1018",
    Severity.ERROR,
    title="Patching that drains nodes lacks what it needs",
    because="DrainFirst requires MaximumBatchSize in its DeploymentConfig and is for EKS clusters only",
    source="SageMaker API, ClusterPatchingStrategy (botocore 1.44.8)",
)
def draining_patches_have_what_they_need(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        if not isinstance(group.patching, AutoPatch) or group.patching.when != DRAIN_FIRST:
            continue
        if cluster.scheduler == "slurm":
            yield Problem(
                path=path,
                message=f"{named(group)} of a Slurm cluster is patched with {DRAIN_FIRST}",
                fix=f"use {' or '.join(TEMPLATE_STRATEGIES)}",
            )
        elif group.patching.rolling is None:
            yield Problem(
                path=path,
                message=f"{named(group)} is patched with {DRAIN_FIRST}, but has no MaximumBatchSize",
                fix="give DeploymentConfig.RollingUpdatePolicy.MaximumBatchSize",
            )
