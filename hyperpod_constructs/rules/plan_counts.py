"""Whether groups and spares fit the count of their training plan: HP11xx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import limits
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._plans import PLANS, Planned, by_plan, called, described_plans, planned
from hyperpod_constructs.rules._words import all_of, named, placed, sized
from hyperpod_constructs.tokens import UNKNOWN

_LONGEST_DAYS: Final = 2 * 182
"""As sold, and extended once."""


@rule(
    "HP1107",
    Severity.ERROR,
    title="Groups have more instances than their training plan",
    because="what does not fit the plan never arrives: the group asks for it on and on, or rolls back",
    source=PLANS,
)
def groups_fit_their_plan(deployment: Deployment) -> Iterator[Problem]:
    for sharing in described_plans(deployment):
        sizes = [(cluster, group) for cluster, group, _, _ in sharing if isinstance(group.instances, int)]
        groups = [group for _, group in sizes]
        wanted = sum(size for group in groups if isinstance(size := group.instances, int))
        holds = max(plan.count for _, _, _, plan in sharing if isinstance(plan.count, int))
        if wanted > holds:
            _, _, path, plan = sharing[0]
            yield Problem(
                path=path,
                message=_too_many(sizes, wanted) + f" on {called(plan)}, which holds {holds}",
                fix=f"{_that_fit(groups, wanted, holds)}, or put {wanted - holds} more on a second plan: plans come in "
                f"{', '.join(map(str, limits.PLAN_COUNTS))}",
            )


def _too_many(groups: list[tuple[Cluster, InstanceGroup]], wanted: int) -> str:
    if len(groups) == 1:
        _, group = groups[0]
        return f"{named(group)}: {wanted} instances" + (f" ({sized(group)})" if group.spares else "")
    clusters = [cluster for cluster, _ in groups]
    each = (f"{placed(cluster, group, clusters)} ({sized(group)})" for cluster, group in groups)
    return ", ".join(each) + f": {wanted} instances"


def _all(sharing: list[Planned]) -> str:
    clusters = [cluster for cluster, *_ in sharing]
    return all_of(placed(cluster, group, clusters) for cluster, group, _, _ in sharing)


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
    title="Training plans are not sold with this count or for so long",
    because="a count that AWS does not sell is probably that of a group and not of the plan; plans are sold for 182 "
    "days at most and extended by 182 at a time, so that a longer one is probably a slip in a year",
    source=f"{PLANS}; training-plan-extension (October 2026)",
)
def plan_counts_are_sold(deployment: Deployment) -> Iterator[Problem]:
    for sharing in described_plans(deployment):
        _, group, path, plan = sharing[0]
        days = (plan.leaves - plan.arrives).days + 1 if plan.arrives and plan.leaves else 0
        if days > _LONGEST_DAYS:
            yield Problem(
                path=path,
                message=f"{named(group)}: {called(plan)} is said to last from {plan.starts} to {plan.ends}, "
                f"{days:,} days",
                fix=f"use the days that `aws sagemaker describe-training-plan` prints; {_LONGEST_DAYS} are sold with "
                "one extension",
            )
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
    for sharing in by_plan(deployment):  # a group that does not describe the plan uses it too
        sizes = [group.instances for _, group, _, _ in sharing]
        known_sizes = [size for size in sizes if isinstance(size, int)]
        counts = [plan.count for _, _, _, plan in sharing if plan.count is not None]
        holds = max((count for count in counts if isinstance(count, int)), default=0)
        if len(known_sizes) == len(sizes) and UNKNOWN not in counts and sum(known_sizes) < holds:
            _, _, path, plan = sharing[0]
            unused = holds - sum(known_sizes)
            yield Problem(
                path=path,
                message=f"{called(plan)} holds {holds} instances, and "
                f"{_all(sharing)} {'has' if len(sharing) == 1 else 'have'} "
                f"{sum(known_sizes)}: {unused} prepaid {'instance is' if unused == 1 else 'instances are'} in no group",
                fix="raise a count, unless something else uses the rest of the plan",
            )
