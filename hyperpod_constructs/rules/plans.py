"""What can be known about training plans before their nodes come: HP11xx."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.catalog import limits, regions
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import is_all_or_nothing
from hyperpod_constructs.rules._plans import PLANS, Planned, arn_of, by_plan, called, described_plans, planned
from hyperpod_constructs.rules._words import all_of, any_of, named, placed
from hyperpod_constructs.tokens import UNKNOWN

_PLANS_ON_HYPERPOD = "SageMaker developer guide, training-plan-utilization-for-hyperpod (October 2026)"


@rule(
    "HP1101",
    Severity.ERROR,
    title="A training plan is of another Region or account",
    because="a plan serves the Region and account that bought it and cannot be shared or moved",
    source=PLANS,
)
def plans_are_of_the_same_place(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, plan in planned(deployment):
        arn = arn_of(plan)
        zone_region = regions.region_of_zone(plan.zone) if isinstance(plan.zone, str) else None
        region = arn["region"] if arn else zone_region
        its_region = cluster.region or _region_of_nodes(deployment, cluster, group)
        if region and its_region and region != its_region:
            yield Problem(
                path=path,
                message=f"{named(group)}: {called(plan)} is in {region}, its cluster in {its_region}",
                fix=f"use a plan of {its_region}, or deploy the cluster to {region}",
            )
        if arn and isinstance(cluster.account, str) and arn["account"] != cluster.account:
            yield Problem(
                path=path,
                message=f"{named(group)}: {called(plan)} belongs to account {arn['account']}, its cluster "
                f"to {cluster.account}",
                fix=f"use a plan of account {cluster.account}, or deploy the cluster to account {arn['account']}",
            )


def _region_of_nodes(deployment: Deployment, cluster: Cluster, group: InstanceGroup) -> str | None:
    """The Region of the zone that a group stands in, where the stack may go anywhere."""
    zone = deployment.zone_of_group(cluster, group)
    return regions.region_of_zone(zone) if zone else None


@rule(
    "HP1102",
    Severity.ERROR,
    title="A training plan holds another instance type than its group",
    because="a plan serves the type that was bought; the mistake shows as missing capacity, late",
    source="SageMaker developer guide, training-plan-details-using-api-cli-sdk (October 2026)",
)
def plans_hold_the_type_of_the_group(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in planned(deployment):
        flexible = group.flexible_types if isinstance(group.flexible_types, tuple) else ()
        bought, wanted = plan.instance_type, [group.instance_type] if group.instance_type is not None else [*flexible]
        types = [name for name in wanted if isinstance(name, str)]
        if isinstance(bought, str) and types and len(types) == len(wanted) and bought not in types:
            yield Problem(
                path=path,
                message=f"{named(group)} has {' or '.join(types)}, but {called(plan)} holds {bought}",
                fix=f"use {bought} in the group, or a plan that holds {any_of(types)}",
            )


@rule(
    "HP1103",
    Severity.ERROR,
    title="A training plan's instances stand in another zone than its group",
    because="a plan has one zone; elsewhere its group waits for capacity that never comes",
    source=_PLANS_ON_HYPERPOD,
)
def plans_are_in_the_zone_of_the_group(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, plan in planned(deployment):
        zones = _zones(deployment, cluster, group)
        if not zones or not isinstance(plan.zone, str) or not regions.is_zone_id(plan.zone):
            continue
        if plan.zone not in zones:
            yield Problem(
                path=path,
                message=f"{named(group)} stands in {' or '.join(zones)}, but {called(plan)} in {plan.zone}",
                fix=f"give the group subnets in {plan.zone}, or use a plan in {any_of(zones)}",
            )


def _zones(deployment: Deployment, cluster: Cluster, group: InstanceGroup) -> list[str]:
    """The zones that a group may stand in; none where one of them is not known."""
    if group.zone is not None:
        return [group.zone] if isinstance(group.zone, str) else []
    placement = cluster.placement_of(group)
    paths = placement.subnets if isinstance(placement, VpcPlacement) else UNKNOWN
    if not isinstance(paths, tuple):
        return []
    zones = [subnet.zone if (subnet := deployment.subnet(path)) else None for path in paths]
    known = [zone for zone in zones if isinstance(zone, str)]
    return list(dict.fromkeys(known)) if len(known) == len(zones) else []


@rule(
    "HP1104",
    Severity.WARNING,
    title="Training plans are not sold for the instance type",
    because="AWS's page lists the types that plans are sold for; others, and UltraServers, go through the account team",
    source=PLANS,
)
def plans_are_sold_for_the_type(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in planned(deployment):
        name = group.instance_type if plan.instance_type is None else plan.instance_type
        if isinstance(name, str) and name not in limits.PLAN_TYPES:
            yield Problem(
                path=path,
                message=f"{named(group)}: {called(plan)} for {name}, a type that is not on AWS's list",
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
    for _, group, path, plan in planned(deployment):
        if group.node_type == "Controller":
            yield Problem(
                path=path,
                message=f"{named(group)} is the controller and ends with {called(plan)}",
                fix="leave its TrainingPlanArn (capacity=) out: a controller is a CPU instance on demand",
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
    for cluster, group, path, plan in planned(deployment):
        whole = is_all_or_nothing(cluster)
        least = group.instances if whole else group.min_count
        if not isinstance(least, int) or least == 0:
            continue
        active = f"{plan.arrives:%Y-%m-%d %H:%M} UTC" if plan.arrives else "the plan is Active"
        why = ", all of its instances (provisioning all-or-nothing)," if whole else ""
        yield Problem(
            path=path,
            message=f"{named(group)} has a minimum count of {least}{why} on {called(plan)}: if the plan "
            "has not started, the group rolls back after 3 hours",
            fix=f'use hp.Slurm(provisioning="continuous") until {active}'
            if whole
            else f"leave MinInstanceCount (min_count=) out until {active}",
        )


@rule(
    "HP1119",
    Severity.INFO,
    title="The zone of a training plan is not compared with that of its group",
    because="a plan has one zone, and elsewhere its group waits for capacity that never comes; an id of a subnet does "
    "not tell its zone, and a name such as us-west-2b means another zone in every account",
    source=_PLANS_ON_HYPERPOD,
)
def zones_of_plans_are_compared(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, plan in planned(deployment):
        if not isinstance(plan.zone, str) or not regions.is_zone_id(plan.zone) or group.zone is not None:
            continue
        if unplaced := _without_zone(deployment, cluster, group):
            yield Problem(
                path=path,
                message=f"{named(group)} is on {called(plan)} in {plan.zone}, and the zone id of {all_of(unplaced)} is "
                "not known",
                fix="say it: AvailabilityZoneId in a template, hp.ImportedSubnet(zone=...) for what exists; "
                "`aws ec2 describe-subnets` prints it",
            )


def _without_zone(deployment: Deployment, cluster: Cluster, group: InstanceGroup) -> list[str]:
    """The subnets of a group that are named, and of which nobody says the zone id."""
    placement = cluster.placement_of(group)
    paths = placement.subnets if isinstance(placement, VpcPlacement) else UNKNOWN
    if not isinstance(paths, tuple) or UNKNOWN in paths:
        return []
    return [str(path) for path in paths if (subnet := deployment.subnet(path)) is None or subnet.zone is None]


@rule(
    "HP1109",
    Severity.INFO,
    title="Nothing but the ARN of a training plan is known",
    because="count, type and zone of the plan decide whether nodes ever come, and an ARN does not tell them",
    source=_PLANS_ON_HYPERPOD,
)
def plans_are_described(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in planned(deployment):
        if not plan.has_facts and isinstance(plan.name, str):
            yield Problem(
                path=path,
                message=f"{named(group)}: count, zone and dates of {called(plan)} are not checked",
                fix="compare them with what `aws sagemaker list-training-plans` prints; in the CDK describe the plan: "
                f"hp.TrainingPlan({plan.name!r}, count=..., zone=..., starts=..., ends=...)",
            )


@rule(
    "HP1111",
    Severity.WARNING,
    title="A training plan's zone is not a zone id",
    because="zone names mean another place in every account, so that the zone of the plan goes unchecked",
    source="EC2 user guide, availability zone ids",
)
def plan_zones_are_ids(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in planned(deployment):
        if isinstance(plan.zone, str) and not regions.is_zone_id(plan.zone):
            yield Problem(
                path=path,
                message=f"{named(group)}: {called(plan)} is said to stand in {plan.zone!r}",
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
    for sharing in described_plans(deployment):
        first, *others = sharing
        plan = first[3]
        for each in others:
            _, _, path, other = each
            for field in ("count", "zone", "starts", "ends"):
                one, two = getattr(plan, field), getattr(other, field)
                if one != two and UNKNOWN not in (one, two) and None not in (one, two):
                    yield Problem(
                        path=path,
                        message=f"{called(plan)} has {field} {one!r} in {_by_cluster(sharing, first)}, but {two!r} in "
                        f"{_by_cluster(sharing, each)}",
                        fix="make one hp.TrainingPlan and give it to both groups",
                    )


def _by_cluster(sharing: list[Planned], which: Planned) -> str:
    """One of the groups that share a plan, with its cluster where those are of several."""
    cluster, group, _, _ = which
    return placed(cluster, group, (each for each, *_ in sharing))


@rule(
    "HP1113",
    Severity.ERROR,
    title="Groups of one training plan have different instance types",
    because="a plan holds instances of one type, so that one of the groups never gets any",
    source="SageMaker API, SearchTrainingPlanOfferings (botocore 1.44.8); developer guide, "
    "training-plan-details-using-api-cli-sdk (October 2026)",
)
def groups_of_a_plan_have_one_type(deployment: Deployment) -> Iterator[Problem]:
    for sharing in by_plan(deployment):
        groups = [each for each in sharing if isinstance(each[1].instance_type, str)]
        types = dict.fromkeys(str(group.instance_type) for _, group, _, _ in groups)
        told = any(
            isinstance(plan.instance_type, str) for _, _, _, plan in sharing
        )  # then another rule names the wrong
        if len(types) > 1 and not told:
            _, _, path, plan = sharing[0]
            yield Problem(
                path=path,
                message=f"{called(plan)} serves "
                + all_of(f"{_by_cluster(sharing, each)} ({each[1].instance_type})" for each in groups),
                fix="give each type a plan of its own",
            )


@rule(
    "HP1114",
    Severity.WARNING,
    title="Groups of one training plan stand in different zones",
    because="a plan's instances stand in one zone, so that one of the groups never gets any; no page says whether the "
    "second block of a plan may stand in another",
    source=_PLANS_ON_HYPERPOD,
)
def groups_of_a_plan_stand_together(deployment: Deployment) -> Iterator[Problem]:
    for sharing in by_plan(deployment):
        places = [(each, deployment.zone_of_group(each[0], each[1])) for each in sharing]
        zones = dict.fromkeys(zone for _, zone in places if zone is not None)
        told = any(isinstance(plan.zone, str) for _, _, _, plan in sharing)  # then another rule names the wrong
        if len(zones) > 1 and not told:
            _, _, path, plan = sharing[0]
            yield Problem(
                path=path,
                message=f"{called(plan)} serves "
                + all_of(f"{_by_cluster(sharing, each)} in {zone}" for each, zone in places if zone),
                fix="put the groups into the zone of the plan (AvailabilityZoneId in DescribeTrainingPlan)",
            )


@rule(
    "HP1116",
    Severity.WARNING,
    title="A group of several types on a training plan",
    because="a plan holds one type; whether HyperPod gets the others on demand, or asks the plan for them in vain, is "
    "not documented",
    source="SageMaker API, ClusterInstanceGroupSpecification (botocore 1.44.8); not documented by AWS",
)
def flexible_groups_have_no_plan(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, plan in planned(deployment):
        types = group.flexible_types if isinstance(group.flexible_types, tuple) else ()
        if len(types) > 1:
            yield Problem(
                path=path,
                message=f"{named(group)} has {len(types)} flexible types on {called(plan)}",
                fix="give the plan's type alone as InstanceType, and the others a group of their own",
            )
