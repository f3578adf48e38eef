"""Whether groups and spares fit the count of their training plan: HP11xx."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.catalog import limits
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._plans import PLANS, called, described_plans, planned
from hyperpod_constructs.rules._words import all_of, named, sized


@rule(
    "HP1107",
    Severity.ERROR,
    title="Groups have more instances than their training plan",
    because="what does not fit the plan never arrives: the group asks for it on and on, or rolls back",
    source=PLANS,
)
def groups_fit_their_plan(deployment: Deployment) -> Iterator[Problem]:
    for sharing in described_plans(deployment):
        sizes = [(group, group.instances) for _, group, _, _ in sharing if isinstance(group.instances, int)]
        groups, wanted = [group for group, _ in sizes], sum(size for _, size in sizes)
        holds = max(plan.count for _, _, _, plan in sharing if isinstance(plan.count, int))
        if wanted > holds:
            _, _, path, plan = sharing[0]
            yield Problem(
                path=path,
                message=_too_many(groups, wanted) + f" on {called(plan)}, which holds {holds}",
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
    source=PLANS,
)
def plan_counts_are_sold(deployment: Deployment) -> Iterator[Problem]:
    for sharing in described_plans(deployment):
        _, group, path, plan = sharing[0]
        if plan.count not in limits.PLAN_COUNTS:
            yield Problem(
                path=path,
                message=f"{named(group)}: {called(plan)} is said to hold {plan.count} instances",
                fix=f"use the count that was bought, one of {', '.join(map(str, limits.PLAN_COUNTS))}; UltraServers "
                "and plans from your account team may have another",
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
    for _, group, path, plan in planned(deployment):
        if group.spares and isinstance(plan.count, int):
            yield Problem(
                path=path,
                message=f"{named(group)} keeps {group.spares} of the {plan.count} instances of training plan "
                f"{plan.name!r} as spares: {100 * group.spares / plan.count:.3g} % of the prepaid hours are idle",
                fix="keep them if a node that is missing for days costs more than that; otherwise use spares=0",
            )


@rule(
    "HP1115",
    Severity.INFO,
    title="Groups have fewer instances than their training plan",
    because="all hours of a plan are prepaid, those of instances that no group has too",
    source=PLANS,
)
def plans_are_used_up(deployment: Deployment) -> Iterator[Problem]:
    for sharing in described_plans(deployment):
        sizes = [group.instances for _, group, _, _ in sharing]
        known_sizes = [size for size in sizes if isinstance(size, int)]
        holds = max(plan.count for _, _, _, plan in sharing if isinstance(plan.count, int))
        if len(known_sizes) == len(sizes) and sum(known_sizes) < holds:
            _, _, path, plan = sharing[0]
            unused = holds - sum(known_sizes)
            yield Problem(
                path=path,
                message=f"{called(plan)} holds {holds} instances, and "
                f"{all_of(named(group) for _, group, _, _ in sharing)} {'has' if len(sharing) == 1 else 'have'} "
                f"{sum(known_sizes)}: {unused} prepaid {'instance is' if unused == 1 else 'instances are'} in no group",
                fix="raise a count, unless something else uses the rest of the plan",
            )
