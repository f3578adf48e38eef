"""Whether the training plans that groups name are there, and are what the code takes them for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hyperpod_constructs.account.gateway.plans import DescribedPlan, TrainingPlans
from hyperpod_constructs.account.preflight.context import Context, Placed
from hyperpod_constructs.account.preflight.registry import Learned, Said, check, finding, not_seen, rule
from hyperpod_constructs.catalog import limits
from hyperpod_constructs.errors import NotInAccount
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import TrainingPlan
from hyperpod_constructs.tokens import is_token

_TARGET: Final = "hyperpod-cluster"
_ARN: Final = re.compile(r"arn:[^:]+:sagemaker:(?P<region>[^:]+):(?P<account>\d{12}):training-plan/.+")
_OVER: Final = {"Expired", "Failed"}
_USABLE: Final = {"Active", "Scheduled"}
_SOURCE = "SageMaker developer guide, reserve-capacity-with-training-plans and training-plan-utilization-for-hyperpod"

ABSENT = rule(
    "HP9030",
    Severity.ERROR,
    title="Training plan does not exist in the account and Region",
    because="a plan belongs to one account and one Region, and cannot be shared",
    source=_SOURCE,
)
OVER = rule(
    "HP9031",
    Severity.ERROR,
    title="Training plan has ended or failed",
    because="only a plan that is Scheduled or Active has instances, and one that has expired cannot be extended",
    source=_SOURCE,
)
UNPAID = rule(
    "HP9032",
    Severity.WARNING,
    title="Training plan is still Pending",
    because="a plan can be used once it is Scheduled or Active; one whose payment fails never is",
    source=_SOURCE,
)
TARGET = rule(
    "HP9033",
    Severity.ERROR,
    title="Training plan was bought for something else than HyperPod clusters",
    because="what a plan is for is fixed when it is bought: one for training jobs cannot back a cluster",
    source=_SOURCE,
)
TYPE = rule(
    "HP9034",
    Severity.ERROR,
    title="Training plan holds another instance type than the group",
    because="a group on a plan has the plan's instances and no others; the mismatch shows as a capacity error",
    source=_SOURCE,
)
COUNT = rule(
    "HP9035",
    Severity.ERROR,
    title="Groups ask for more instances than their training plan holds",
    because="a plan cannot be enlarged, and what it does not hold never comes",
    source=_SOURCE,
)
TAKEN = rule(
    "HP9036",
    Severity.WARNING,
    title="Instances of the training plan that the groups count on are in use by others, or out of order",
    because="several clusters can name one plan, and the first one gets its instances; those that are out of order "
    "come once AWS has mended them",
    source="SageMaker API, DescribeTrainingPlan",
)
ZONE = rule(
    "HP9037",
    Severity.ERROR,
    title="Training plan stands in another zone than its group",
    because="the plan's instances are in one zone; a group elsewhere fails with a message about insufficient capacity",
    source=_SOURCE,
)
DIFFERS = rule(
    "HP9038",
    Severity.WARNING,
    title="Training plan is not what the code says of it",
    because="checks at synth and the summary believe the code: with wrong facts they miss what they are there for",
    source="SageMaker API, DescribeTrainingPlan",
)
NOT_BEGUN = rule(
    "HP9039",
    Severity.INFO,
    title="Training plan has not begun",
    because="a group may be attached before its plan begins; its nodes come then, and everything else is paid from the "
    "day of the deployment",
    source=_SOURCE,
)


@dataclass(frozen=True, slots=True)
class _Use:
    """A plan with the groups on it.

    Attributes:
        code: The plan as each group names it.
        groups: The groups.
    """

    code: TrainingPlan
    groups: list[Placed]

    @property
    def path(self) -> str:
        """Where findings about the plan as a whole point."""
        return self.groups[0].path if len(self.groups) == 1 else self.groups[0].cluster.path

    @property
    def instances(self) -> int:
        """Instances that the groups ask for, as far as known."""
        return sum(each.group.instances for each in self.groups if isinstance(each.group.instances, int))


@check("training plans")
def plans_are_what_groups_need(context: Context) -> Iterator[Said]:
    for use in _uses(context).values():
        if elsewhere := _elsewhere(context, use):
            yield elsewhere
            continue
        try:
            plan = context.open(TrainingPlans).described(use.code.name)
        except NotInAccount:
            fix = f"name one of `hyperpod plans list --region {context.region}`, or ask for another account or Region"
            message = f"there is no training plan {use.code.name!r} in account {context.account}, {context.region}"
            yield finding(ABSENT, use.path, message, fix)
            continue
        yield _learned(plan)
        over = _over(context, use, plan)
        if over:
            yield over
            continue
        yield from _is_usable(context, use, plan)
        yield from _holds_enough(context, use, plan)
        yield from _is_in_place(context, use, plan)
        yield from _is_as_said(use, plan)


def _uses(context: Context) -> dict[str, _Use]:
    uses: dict[str, _Use] = {}
    for placed in context.placed():
        plan = placed.group.capacity
        if isinstance(plan, TrainingPlan) and not is_token(plan.plan):
            key = plan.plan if _foreign(context, plan) else plan.name
            uses.setdefault(key, _Use(plan, [])).groups.append(placed)
    return uses


def _foreign(context: Context, plan: TrainingPlan) -> tuple[str, str] | None:
    """Account and Region of a plan that its ARN puts into others than those of the deployment."""
    match = _ARN.fullmatch(plan.plan)
    place = (match["account"], match["region"]) if match else (context.account, context.region)
    return None if place == (context.account, context.region) else place


def _elsewhere(context: Context, use: _Use) -> Said | None:
    """A plan of the same name here is another one, so it is not asked for."""
    place = _foreign(context, use.code)
    if place is None:
        return None
    message = (
        f"training plan {use.code.plan} belongs to account {place[0]}, {place[1]}; the deployment goes to account "
        f"{context.account}, {context.region}"
    )
    fix = f"name one of `hyperpod plans list --region {context.region}`, or deploy to {place[0]}, {place[1]}"
    return finding(ABSENT, use.path, message, fix)


def _over(context: Context, use: _Use, plan: DescribedPlan) -> Said | None:
    last = plan.ends - limits.PLAN_DRAIN if plan.ends else None
    spent = bool(plan.blocks) and all(block.status in _OVER for block in plan.blocks)
    if plan.status not in _OVER and not spent and (last is None or context.now < last):
        return None
    said = f": {plan.message}" if plan.message else ""
    how = "has failed" if plan.status == "Failed" else f"has ended: its nodes leave from {_moment(last)}"
    if plan.status not in _OVER and spent:
        how = f"has nothing left: each part is {' or '.join(sorted({block.status for block in plan.blocks}))}"
    message = f"training plan {plan.name!r} ({plan.status}) {how}{said}"
    fix = f"name another plan (`hyperpod plans list --region {context.region}`), or set the count of the group to 0"
    return finding(OVER, use.path, message, fix)


def _is_usable(context: Context, use: _Use, plan: DescribedPlan) -> Iterator[Said]:
    if plan.status == "Pending":
        message = f"training plan {plan.name!r} is Pending{f': {plan.message}' if plan.message else ''}"
        yield finding(UNPAID, use.path, message, "deploy once it is Scheduled or Active")
    elif plan.status not in _USABLE:
        message = f"training plan {plan.name!r} is {plan.status!r}, a state that this version does not know"
        yield not_seen(use.path, message, f"see that it can be used: hyperpod plans list --region {context.region}")
    if plan.targets and _TARGET not in plan.targets:
        message = f"training plan {plan.name!r} is for {', '.join(plan.targets)}, not for {_TARGET}"
        yield finding(TARGET, use.path, message, f"name a plan that was bought with target {_TARGET}")
    if plan.starts and context.now < plan.starts:
        message = f"training plan {plan.name!r} begins {_moment(plan.starts)}; its nodes come then"
        yield finding(NOT_BEGUN, use.path, message, "nothing, or deploy later: all other parts are paid from now on")


def _holds_enough(context: Context, use: _Use, plan: DescribedPlan) -> Iterator[Said]:
    total = _total(plan)
    if total is None:
        message = f"AWS does not say how many instances training plan {plan.name!r} holds; {use.instances:,} are needed"
        yield not_seen(use.path, message, f"look: hyperpod plans list --region {context.region}")
        return
    if use.instances > total:
        names = ", ".join(str(each.group.name) for each in use.groups)
        yield finding(
            COUNT,
            use.path,
            f"{names}: {use.instances:,} instances on training plan {plan.name!r}, which holds {total:,}",
            f"use {total:,} or fewer on it, spares included, or buy a second plan for a group of its own",
        )
        return
    own = _own_instances(context, use)
    broken = plan.unhealthy or 0
    if plan.available is not None and (plan.in_use or broken) and use.instances > plan.available + own:
        yield finding(
            TAKEN,
            use.path,
            f"training plan {plan.name!r} has {plan.available:,} of {total:,} instances left"
            f"{f' ({broken:,} are out of order)' if broken else ''}, {use.instances - own:,} are needed",
            f"use {plan.available + own:,} or fewer, or free those that other clusters use",
        )


def _total(plan: DescribedPlan) -> int | None:
    """Instances of a plan; several blocks may follow each other, so only one can stand for the plan."""
    if plan.total is None and len(plan.blocks) == 1:
        return plan.blocks[0].count
    return plan.total


def _own_instances(context: Context, use: _Use) -> int:
    """Instances that the groups have already, from an earlier deployment."""
    names = {(each.cluster.path, each.group.name) for each in use.groups}
    return sum(
        group.instances
        for path, cluster in context.own().items()
        for group in cluster.groups
        if (path, group.group) in names
    )


def _is_in_place(context: Context, use: _Use, plan: DescribedPlan) -> Iterator[Said]:
    types = {block.instance_type for block in plan.blocks}
    zones = {block.zone_id for block in plan.blocks if block.zone_id}
    for placed in use.groups:
        wanted = placed.group.instance_type
        if isinstance(wanted, str) and types and wanted not in types:
            message = f"the group has {wanted}, its training plan {plan.name!r} holds {', '.join(sorted(types))}"
            yield finding(TYPE, placed.path, message, f"use {' or '.join(sorted(types))}, or another plan")
        elsewhere = [zone for zone in context.zones_of(placed) if zone not in zones]
        if zones and elsewhere:
            message = (
                f"training plan {plan.name!r} stands in {', '.join(sorted(zones))}, the group in {', '.join(elsewhere)}"
            )
            yield finding(ZONE, placed.path, message, f"put the group into a subnet in {' or '.join(sorted(zones))}")


def _is_as_said(use: _Use, plan: DescribedPlan) -> Iterator[Said]:
    code = use.code
    if not code.has_facts:
        return
    zones = sorted({block.zone_id for block in plan.blocks if block.zone_id})
    types = sorted({block.instance_type for block in plan.blocks})
    facts = {
        "count": (code.count, plan.total),
        "instance_type": (code.instance_type, types[0] if len(types) == 1 else None),
        "zone": (code.zone, zones[0] if len(zones) == 1 else None),
        "starts": (code.starts, plan.starts and f"{plan.starts:%Y-%m-%d}"),
        "ends": (code.ends, plan.ends and f"{plan.ends:%Y-%m-%d}"),
    }
    wrong = [
        f"{name} {said!r}, which is {there!r}"
        for name, (said, there) in facts.items()
        if there is not None and said is not None and not is_token(said) and said != there
    ]
    if wrong:
        message = f"the code says of training plan {plan.name!r}: {'; '.join(wrong)}"
        yield finding(DIFFERS, use.path, message, "copy the line that `hyperpod plans list` prints")


def _learned(plan: DescribedPlan) -> Learned:
    return Learned(
        section="plans",
        name=plan.name,
        facts={
            "arn": plan.arn,
            "status": plan.status,
            "total": plan.total,
            "available": plan.available,
            "instance_types": sorted({block.instance_type for block in plan.blocks}),
            "zones": sorted({block.zone_id for block in plan.blocks if block.zone_id}),
            "starts": plan.starts and plan.starts.isoformat(),
            "ends": plan.ends and plan.ends.isoformat(),
        },
    )


def _moment(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "a moment that AWS does not say"
