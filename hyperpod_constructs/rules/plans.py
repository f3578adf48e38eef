"""What can be known about training plans before their nodes come: HP11xx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from hyperpod_constructs.catalog import limits, regions
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import any_of, named, sized
from hyperpod_constructs.tokens import UNKNOWN

_PLAN_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):training-plan/.+")

_PLANS = "SageMaker developer guide, reserve-capacity-with-training-plans (October 2026)"
_PLANS_ON_HYPERPOD = "SageMaker developer guide, training-plan-utilization-for-hyperpod (October 2026)"

Planned: TypeAlias = tuple[Cluster, InstanceGroup, str, TrainingPlan]


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
        # Clusters under conditions may exclude each other, so none is added to another.
        sharing = (cluster.path if cluster.conditional else None, *place, plan.name)
        key = sharing if isinstance(plan.name, str) else (path,)
        if isinstance(plan.count, int):
            by_plan.setdefault(key, []).append(each)
    return list(by_plan.values())


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
        zone = deployment.zone_of_group(cluster, group)
        if zone is None or not isinstance(plan.zone, str) or not regions.is_zone_id(plan.zone):
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
                fix=f"use {any_of(limits.PLAN_TYPES)}, unless your account team sold you this plan",
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
        return f"{named(groups[0])}: {wanted} instances" + (f" ({sized(groups[0])})" if groups[0].spares else "")
    return ", ".join(f"{named(group)} ({sized(group)})" for group in groups) + f": {wanted} instances"


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
                fix="compare them with what `aws sagemaker list-training-plans` prints; in the CDK describe the plan: "
                f"hp.TrainingPlan({plan.name!r}, count=..., zone=..., starts=..., ends=...)",
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
