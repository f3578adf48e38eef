"""What can be known about groups and their capacity before a node is paid for.

HP10xx: what a group is. HP11xx: training plans. HP12xx: health checks and spot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from hyperpod_constructs.catalog import instances, limits, regions
from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import DEEP_HEALTH_CHECKS, InstanceGroup, Spot, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.tokens import UNKNOWN

_ADVICE = re.compile(r"(?P<wrong>.+?)[:;] (?P<fix>use .+)")
"""How most `InvalidValue` messages end: what to use instead."""
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
_PLAN_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):training-plan/.+")
_CHECKED: Final = {"slurm": "on Slurm they are for GPU types", "eks": "on EKS they are for GPU and Trainium types"}

_API = "SageMaker API, ClusterInstanceGroupSpecification (botocore 1.44.8)"
_PLANS = "SageMaker developer guide, reserve-capacity-with-training-plans (October 2026)"
_PLANS_ON_HYPERPOD = "SageMaker developer guide, training-plan-utilization-for-hyperpod (October 2026)"

Planned: TypeAlias = tuple[Cluster, InstanceGroup, str, TrainingPlan]


def named(group: InstanceGroup) -> str:
    """How a message calls a group."""
    return f"group {group.name!r}" if isinstance(group.name, str) else "a group"


def orchestrator_of(cluster: Cluster) -> Literal["slurm", "eks"] | None:
    """Who schedules jobs, with Slurm in its old form as `slurm`; `None` where it is not known."""
    if cluster.orchestrator is UNKNOWN:
        return None
    return "eks" if isinstance(cluster.orchestrator, Eks) else "slurm"


def _types(group: InstanceGroup) -> Iterator[tuple[str, InstanceType | None]]:
    """The known names among a group's instance types, each with its facts."""
    if isinstance(group.instance_type, str):
        yield group.instance_type, group.facts
    for name in group.flexible_types if isinstance(group.flexible_types, tuple) else ():
        if isinstance(name, str):
            yield name, instances.find(name)


def _unknown_types(deployment: Deployment) -> Iterator[tuple[InstanceGroup, str, str, tuple[str, ...]]]:
    """Groups with a type that nobody described: group, path, type, types that were probably meant."""
    for _, group, path in deployment.groups():
        for name, facts in _types(group):
            if facts is None:
                yield group, path, name, instances.near(name)


def _planned(deployment: Deployment) -> Iterator[Planned]:
    """Groups whose capacity is a training plan."""
    for cluster, group, path in deployment.groups():
        if isinstance(group.capacity, TrainingPlan):
            yield cluster, group, path, group.capacity


def _arn(plan: TrainingPlan) -> re.Match[str] | None:
    return _PLAN_ARN.fullmatch(plan.plan) if isinstance(plan.plan, str) else None


def _plan(plan: TrainingPlan) -> str:
    """How a message calls a plan."""
    return f"training plan {plan.name!r}" if isinstance(plan.name, str) else "its training plan"


def _described_plans(deployment: Deployment) -> list[list[Planned]]:
    """Groups by the plan that they share, where its count is known.

    Region and account tell plans of one name apart; of a plan whose name is not known nobody knows who shares it.
    """
    by_plan: dict[tuple[object, ...], list[Planned]] = {}
    for each in _planned(deployment):
        cluster, _, path, plan = each
        arn = _arn(plan)
        place = (arn["region"], arn["account"]) if arn else (cluster.region, cluster.account)
        key = (*place, plan.name) if isinstance(plan.name, str) else (path,)
        if isinstance(plan.count, int):
            by_plan.setdefault(key, []).append(each)
    return list(by_plan.values())


def _checked(deployment: Deployment) -> Iterator[tuple[Cluster, InstanceGroup, str, list[str]]]:
    """Groups that ask for deep health checks, and for which ones."""
    for cluster, group, path in deployment.groups():
        checks = group.health_checks if isinstance(group.health_checks, tuple) else ()
        if known := [check for check in checks if isinstance(check, str)]:
            yield cluster, group, path, known


def _sum(group: InstanceGroup) -> str:
    """A group's instances in words: `32`, or `30 + 2 spares`."""
    spares = f" + {group.spares} spare{'s' if group.spares != 1 else ''}" if group.spares else ""
    return f"{group.count}{spares}"


def _any_of(values: tuple[str, ...]) -> str:
    return values[0] if len(values) == 1 else f"one of {', '.join(values)}"


@rule(
    "HP1001",
    Severity.ERROR,
    title="A value can never be right",
    because="the service refuses the value whatever surrounds it",
    source="the documentation of the field in hyperpod_constructs.model, which names the page or schema",
)
def values_are_possible(deployment: Deployment) -> Iterator[Problem]:
    for invalid in deployment.invalid:
        advice = _ADVICE.fullmatch(invalid.message)
        yield Problem(
            path=invalid.path,
            message=advice["wrong"] if advice else invalid.message,
            fix=advice["fix"] if advice else "change the value to one that this message allows",
        )


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


@rule(
    "HP1004",
    Severity.ERROR,
    title="A cluster has more groups than the service takes",
    because="CreateCluster refuses the request",
    source="SageMaker API, CreateCluster, InstanceGroups (botocore 1.44.8)",
)
def groups_are_not_too_many(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if (count := len(cluster.groups)) > limits.GROUPS.high:
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
        if limits.GROUPS_IN_GUIDES.high < (count := len(cluster.groups)) <= limits.GROUPS.high:
            yield Problem(
                path=cluster.path,
                message=f"{count} instance groups; AWS's guides say at most {limits.GROUPS_IN_GUIDES.high}",
                fix=f"use at most {limits.GROUPS_IN_GUIDES.high} groups, or ask AWS support before you rely on more",
            )


@rule(
    "HP1006",
    Severity.WARNING,
    title="A cluster has no instance group",
    because="the API wants at least one group, unless the cluster has restricted groups, which are not judged here",
    source="SageMaker API, CreateCluster, InstanceGroups (botocore 1.44.8)",
)
def clusters_have_groups(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if not cluster.groups:
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
                f"; if the type is new, describe it: hp.InstanceType({name!r}, ...)" if name.startswith("ml.") else ""
            )
            yield Problem(
                path=path,
                message=f"{named(group)} has instance type {name!r}, which is no known type",
                fix=f"use {_any_of(meant)}{newer}",
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
                fix=f"if it is new, describe it: hp.InstanceType({name!r}, accelerators=..., efa=..., addresses=...)",
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
                    fix=f"use {_any_of(listed)}, or make sure that {cluster.region} has it: price lists lag",
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
                message=f"{named(group)} has a minimum count of {least}, but {_sum(group)} instances",
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
    title="A schedule is not one that the service takes",
    because="CloudFormation takes a part of EventBridge's cron only: minute and hour are single numbers",
    source="AWS::SageMaker::Cluster schema, ScheduleExpression (2026-10-20)",
)
def schedules_are_plain_cron(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        update = group.scheduled_update
        if update is None or update is UNKNOWN or not isinstance(update.schedule, str):
            continue
        if not _SCHEDULE.fullmatch(update.schedule):
            yield Problem(
                path=path,
                message=f"{named(group)} is updated on the schedule {update.schedule!r}",
                fix="use cron(MINUTE HOUR DAY MONTH WEEKDAY YEAR) with one number for minute and hour, a number or ? "
                "for the day and one day or ? for the weekday, such as cron(0 3 ? * SUN *)",
            )


@rule(
    "HP1101",
    Severity.ERROR,
    title="A training plan is of another Region or account",
    because="a plan serves the Region and account that bought it and cannot be shared or moved",
    source=_PLANS,
)
def plans_are_of_the_same_place(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, plan in _planned(deployment):
        arn = _arn(plan)
        zone_region = regions.region_of_zone(plan.zone) if isinstance(plan.zone, str) else None
        region = arn["region"] if arn else zone_region
        if region and isinstance(cluster.region, str) and region != cluster.region:
            yield Problem(
                path=path,
                message=f"{named(group)}: {_plan(plan)} is in {region}, its cluster in {cluster.region}",
                fix=f"use a plan of {cluster.region}, or deploy the cluster to {region}",
            )
        if arn and isinstance(cluster.account, str) and arn["account"] != cluster.account:
            yield Problem(
                path=path,
                message=f"{named(group)}: {_plan(plan)} belongs to account {arn['account']}, its cluster "
                f"to {cluster.account}",
                fix=f"use a plan of account {cluster.account}, or deploy the cluster to account {arn['account']}",
            )


@rule(
    "HP1102",
    Severity.ERROR,
    title="A training plan holds another instance type than its group",
    because="a plan serves the type that was bought; the mistake shows as missing capacity, late",
    source="SageMaker developer guide, training-plan-details-using-api-cli-sdk (October 2026)",
)
def plans_hold_the_type_of_the_group(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in _planned(deployment):
        bought, wanted = plan.instance_type, group.instance_type
        if isinstance(bought, str) and isinstance(wanted, str) and bought != wanted:
            yield Problem(
                path=path,
                message=f"{named(group)} has {wanted}, but {_plan(plan)} holds {bought}",
                fix=f"use {bought} in the group, or a plan that holds {wanted}",
            )


@rule(
    "HP1103",
    Severity.ERROR,
    title="A training plan's instances stand in another zone than its group",
    because="a plan has one zone; elsewhere its group waits for capacity that never comes",
    source=_PLANS_ON_HYPERPOD,
)
def plans_are_in_the_zone_of_the_group(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, plan in _planned(deployment):
        zone = deployment.zone_of(cluster.placement_of(group)) if group.zone is None else group.zone
        if not isinstance(zone, str) or not isinstance(plan.zone, str) or not regions.is_zone_id(plan.zone):
            continue
        if zone != plan.zone:
            yield Problem(
                path=path,
                message=f"{named(group)} stands in {zone}, but {_plan(plan)} in {plan.zone}",
                fix=f"give the group subnets in {plan.zone}, or use a plan in {zone}",
            )


@rule(
    "HP1104",
    Severity.WARNING,
    title="Training plans are not sold for the instance type",
    because="AWS's page lists the types that plans are sold for; others, and UltraServers, go through the account team",
    source=_PLANS,
)
def plans_are_sold_for_the_type(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in _planned(deployment):
        name = group.instance_type if plan.instance_type is None else plan.instance_type
        if isinstance(name, str) and name not in limits.PLAN_TYPES:
            yield Problem(
                path=path,
                message=f"{named(group)}: {_plan(plan)} for {name}, a type that is not on AWS's list",
                fix=f"use {_any_of(limits.PLAN_TYPES)}, unless your account team sold you this plan",
            )


@rule(
    "HP1105",
    Severity.WARNING,
    title="A training plan on the controller group",
    because="AWS advises against it: the controller would leave with the plan, and the cluster with it",
    source=_PLANS_ON_HYPERPOD,
)
def controllers_outlive_plans(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in _planned(deployment):
        if group.node_type == "Controller":
            yield Problem(
                path=path,
                message=f"{named(group)} is the controller and ends with {_plan(plan)}",
                fix="leave its capacity out: a controller is a CPU instance on demand",
            )


@rule(
    "HP1106",
    Severity.WARNING,
    title="A minimum count on a training plan",
    because="nodes come when the plan starts; a group that misses its minimum for 3 hours rolls back (likely, not "
    "confirmed on a plan)",
    source="SageMaker developer guide, training-plan-details-using-api-cli-sdk and sagemaker-hyperpod-scaling-slurm",
)
def minimum_counts_wait_for_the_plan(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in _planned(deployment):
        if not isinstance(group.min_count, int) or group.min_count == 0:
            continue
        active = f"{plan.arrives:%Y-%m-%d %H:%M} UTC" if plan.arrives else "the plan is Active"
        yield Problem(
            path=path,
            message=f"{named(group)} has a minimum count of {group.min_count} on {_plan(plan)}: if the plan "
            "has not started, the group rolls back after 3 hours",
            fix=f"leave the minimum count out until {active}",
        )


@rule(
    "HP1107",
    Severity.ERROR,
    title="Groups have more instances than their training plan",
    because="what does not fit the plan never arrives: the group asks for it on and on, or rolls back",
    source=_PLANS,
)
def groups_fit_their_plan(deployment: Deployment) -> Iterator[Problem]:
    for sharing in _described_plans(deployment):
        sizes = [(group, group.instances) for _, group, _, _ in sharing if isinstance(group.instances, int)]
        groups, wanted = [group for group, _ in sizes], sum(size for _, size in sizes)
        holds = max(plan.count for _, _, _, plan in sharing if isinstance(plan.count, int))
        if wanted > holds:
            _, _, path, plan = sharing[0]
            yield Problem(
                path=path,
                message=_too_many(groups, wanted) + f" on {_plan(plan)}, which holds {holds}",
                fix=f"{_that_fit(groups, wanted, holds)}, or put {wanted - holds} more on a second plan: plans come in "
                f"{', '.join(map(str, limits.PLAN_COUNTS))}",
            )


def _too_many(groups: list[InstanceGroup], wanted: int) -> str:
    if len(groups) == 1:
        return f"{named(groups[0])}: {wanted} instances" + (f" ({_sum(groups[0])})" if groups[0].spares else "")
    return ", ".join(f"{named(group)} ({_sum(group)})" for group in groups) + f": {wanted} instances"


def _that_fit(groups: list[InstanceGroup], wanted: int, holds: int) -> str:
    """Counts that fit the plan."""
    if len(groups) > 1:
        return f"take {wanted - holds} off these groups"
    spares = groups[0].spares
    without = f"count={holds} and spares=0" if spares else f"count={holds}"
    return f"use count={holds - spares} and spares={spares}, or {without}" if 0 < spares < holds else f"use {without}"


@rule(
    "HP1108",
    Severity.WARNING,
    title="Training plans are not sold with this count",
    because="a count that AWS does not sell is probably that of a group and not of the plan",
    source=_PLANS,
)
def plan_counts_are_sold(deployment: Deployment) -> Iterator[Problem]:
    for sharing in _described_plans(deployment):
        _, group, path, plan = sharing[0]
        if plan.count not in limits.PLAN_COUNTS:
            yield Problem(
                path=path,
                message=f"{named(group)}: {_plan(plan)} is said to hold {plan.count} instances",
                fix=f"use the count that was bought, one of {', '.join(map(str, limits.PLAN_COUNTS))}; UltraServers "
                "and plans from your account team may have another",
            )


@rule(
    "HP1109",
    Severity.INFO,
    title="Nothing but the ARN of a training plan is known",
    because="count, type and zone of the plan decide whether nodes ever come, and an ARN does not tell them",
    source=_PLANS_ON_HYPERPOD,
)
def plans_are_described(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in _planned(deployment):
        if not plan.has_facts and isinstance(plan.name, str):
            yield Problem(
                path=path,
                message=f"{named(group)}: count, zone and dates of {_plan(plan)} are not checked",
                fix=f"describe it: hp.TrainingPlan({plan.name!r}, count=..., zone=..., starts=..., ends=...), as "
                "`hyperpod plans list` prints it",
            )


@rule(
    "HP1110",
    Severity.INFO,
    title="Spares on a training plan",
    because="the hours of a plan are prepaid, and those of a spare are idle until a node fails; whether HyperPod "
    "replaces a node of a plan from outside the plan is not documented",
    source="not documented by AWS as of November 2026",
)
def spares_on_plans_are_prepaid(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in _planned(deployment):
        if group.spares and isinstance(plan.count, int):
            yield Problem(
                path=path,
                message=f"{named(group)} keeps {group.spares} of the {plan.count} instances of training plan "
                f"{plan.name!r} as spares: {100 * group.spares / plan.count:.3g} % of the prepaid hours are idle",
                fix="keep them if a node that is missing for days costs more than that; otherwise use spares=0",
            )


@rule(
    "HP1111",
    Severity.WARNING,
    title="A training plan's zone is not a zone id",
    because="zone names mean another place in every account, so that the zone of the plan goes unchecked",
    source="EC2 user guide, availability zone ids",
)
def plan_zones_are_ids(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in _planned(deployment):
        if isinstance(plan.zone, str) and not regions.is_zone_id(plan.zone):
            yield Problem(
                path=path,
                message=f"{named(group)}: {_plan(plan)} is said to stand in {plan.zone!r}",
                fix="use the plan's AvailabilityZoneId, such as usw2-az2, which DescribeTrainingPlan prints",
            )


@rule(
    "HP1112",
    Severity.WARNING,
    title="Two groups describe one training plan differently",
    because="one of the descriptions is wrong, and what is checked against it too",
    source="hyperpod_constructs",
)
def plans_are_described_alike(deployment: Deployment) -> Iterator[Problem]:
    for (_, first, _, plan), *others in _described_plans(deployment):
        for _, group, path, other in others:
            for field in ("count", "zone", "starts", "ends"):
                one, two = getattr(plan, field), getattr(other, field)
                if one != two and UNKNOWN not in (one, two) and None not in (one, two):
                    yield Problem(
                        path=path,
                        message=f"{_plan(plan)} has {field} {one!r} in {named(first)}, but {two!r} in {named(group)}",
                        fix="make one hp.TrainingPlan and give it to both groups",
                    )


@rule(
    "HP1201",
    Severity.ERROR,
    title="A deep health check does not exist",
    because="CloudFormation takes two checks; MultiNodeTrainingValidation is in the API's model, but on no page of AWS",
    source="AWS::SageMaker::Cluster schema, OnStartDeepHealthChecks (2026-10-20)",
)
def health_checks_exist(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, checks in _checked(deployment):
        for check in checks:
            if check not in DEEP_HEALTH_CHECKS:
                yield Problem(
                    path=path,
                    message=f"{named(group)} asks for the deep health check {check!r}, which is not documented",
                    fix=f"use {' and '.join(DEEP_HEALTH_CHECKS)}",
                )


@rule(
    "HP1202",
    Severity.WARNING,
    title="The orchestrator has no deep health checks for the instance type",
    because="the pages list checks for GPU types on Slurm, and for GPU and Trainium types on EKS",
    source="SageMaker developer guide, sagemaker-hyperpod-resiliency-slurm-deep-health-checks and "
    "sagemaker-hyperpod-eks-resiliency-deep-health-checks (October 2026)",
)
def health_checks_fit_the_type(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, _ in _checked(deployment):
        orchestrator, facts = orchestrator_of(cluster), group.facts
        if orchestrator is None or facts is None or facts.deep_health_checks is None:
            continue
        if orchestrator not in facts.deep_health_checks and group.node_type not in ("Controller", "Login"):
            yield Problem(
                path=path,
                message=f"{named(group)} asks for deep health checks of {facts.name}",
                fix=f"leave them out of this group: {_CHECKED[orchestrator]}",
            )


@rule(
    "HP1203",
    Severity.ERROR,
    title="Deep health checks on a controller or login group",
    because="on Slurm they run on compute nodes only",
    source="SageMaker developer guide, sagemaker-hyperpod-resiliency-slurm-deep-health-checks (2026)",
)
def health_checks_are_for_compute_nodes(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, _ in _checked(deployment):
        if orchestrator_of(cluster) == "slurm" and group.node_type in ("Controller", "Login"):
            yield Problem(
                path=path,
                message=f"{named(group)} asks for deep health checks of {group.node_type} nodes",
                fix="leave them out of this group: they are for Compute nodes",
            )


@rule(
    "HP1204",
    Severity.INFO,
    title="Deep health checks on a group without spares",
    because="each new or replaced node is missing for 45 to 90 minutes on Slurm and about 2 hours on EKS; AWS advises "
    "groups without spares to check at creation only",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-resiliency-config-tips (October 2026)",
)
def checked_groups_have_spares(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, _ in _checked(deployment):
        accelerated = group.facts is not None and group.facts.is_accelerated
        if accelerated and group.spares == 0 and isinstance(group.count, int) and group.count > 0:
            yield Problem(
                path=path,
                message=f"{named(group)} has deep health checks and 0 spares: jobs wait while a new node is checked",
                fix="take the checks off once the cluster is up (health_checks=()), or give the group a spare",
            )


@rule(
    "HP1205",
    Severity.ERROR,
    title="Spot capacity on Slurm",
    because="AWS documents spot for EKS clusters only; whether Slurm clusters take it is not confirmed",
    source="SageMaker developer guide, sagemaker-hyperpod-spot (October 2026)",
)
def spot_is_for_eks(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        if isinstance(group.capacity, Spot) and orchestrator_of(cluster) == "slurm":
            yield Problem(
                path=path,
                message=f"{named(group)} is on spot capacity in a Slurm cluster",
                fix="use OnDemand() or a TrainingPlan, or an EKS cluster",
            )
