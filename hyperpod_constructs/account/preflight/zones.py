"""Whether the zones that a deployment names are open to the account, and have the instance types."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.account.gateway.ec2 import Ec2
from hyperpod_constructs.account.preflight.context import Context, Placed
from hyperpod_constructs.account.preflight.registry import Learned, Said, check, finding, rule
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import TrainingPlan

NOT_OFFERED = rule(
    "HP9020",
    Severity.WARNING,
    title="Instance type is not offered in the zone where its group stands",
    because="a zone without the type has no capacity, and the group fails with a message about insufficient capacity; "
    "EC2 says where it offers a type, HyperPod has no list of its own",
    source="EC2 API, DescribeInstanceTypeOfferings",
)
NOT_OPEN = rule(
    "HP9021",
    Severity.ERROR,
    title="Zone does not exist for the account, or is not opted in to",
    because="a subnet in a zone that the account does not have is refused, and a local zone must be opted in to first",
    source="EC2 API, DescribeAvailabilityZones",
)


@check("instance types")
def types_are_offered(context: Context) -> Iterator[Said]:
    offered: dict[str, tuple[str, ...]] = {}
    for placed in context.placed():
        zones = [zone for zone in context.zones_of(placed) if not _is_of_plan(placed, zone)]
        for name in _types(placed):
            if name not in offered:
                offered[name] = context.open(Ec2).zones_offering(name.removeprefix("ml."))
                yield Learned(section="instance_types", name=name, facts={"zones": list(offered[name])})
            lacking = [zone for zone in zones if zone not in offered[name]]
            if not offered[name]:
                yield _not_offered(
                    placed, name, context.region, f"use a Region that has it, or another type than {name}"
                )
            elif lacking:
                fix = f"use one of {', '.join(offered[name])}: `hyperpod zones {name} --region {context.region}`"
                yield _not_offered(placed, name, ", ".join(lacking), fix)


def _not_offered(placed: Placed, name: str, where: str, fix: str) -> Said:
    return finding(NOT_OFFERED, placed.path, f"EC2 does not offer {name} in {where} to this account", fix)


def _types(placed: Placed) -> list[str]:
    group = placed.group
    names = group.flexible_types if isinstance(group.flexible_types, tuple) else ()
    return [name for name in (group.instance_type, *names) if isinstance(name, str)]


def _is_of_plan(placed: Placed, zone: str) -> bool:
    """Whether a plan has bought instances in a zone, which says more than a list of offers."""
    plan = placed.group.capacity
    return isinstance(plan, TrainingPlan) and plan.zone == zone


@check("zones")
def zones_are_open(context: Context) -> Iterator[Said]:
    zones = context.zones()
    for zone, path in sorted(_named(context)):
        if zone not in zones:
            there = ", ".join(sorted(each.id for each in zones.values() if each.open))
            message = f"zone {zone} does not exist in {context.region} for account {context.account}"
            yield finding(NOT_OPEN, path, message, f"use one of {there}")
        elif not zones[zone].open:
            group = zones[zone].name[:-1]
            yield finding(
                NOT_OPEN,
                path,
                f"zone {zone} is not opted in to by account {context.account}",
                f"opt in to it: aws ec2 modify-availability-zone-group --region {context.region} --group-name {group} "
                "--opt-in-status opted-in",
            )


def _named(context: Context) -> set[tuple[str, str]]:
    """Every zone that the deployment names itself, with the path that names it."""
    made = {(each.zone, each.path) for each in context.deployment.subnets if context.here(each.region)}
    imported = {each for placed in context.placed() for each in placed.subnets}
    groups = {(placed.group.zone, placed.path) for placed in context.placed()}
    named = {(zone, path) for zone, path in made if path not in imported} | groups
    return {(zone, path) for zone, path in named if isinstance(zone, str)}
