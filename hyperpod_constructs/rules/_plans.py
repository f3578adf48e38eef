"""Which groups share a training plan, and how messages call one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from hyperpod_constructs.model.capacity import InstanceGroup, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.rules._groups import every_group

PLANS = "SageMaker developer guide, reserve-capacity-with-training-plans (October 2026)"

_PLAN_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):training-plan/.+")

Planned: TypeAlias = tuple[Cluster, InstanceGroup, str, TrainingPlan]


def planned(deployment: Deployment) -> Iterator[Planned]:
    """Groups whose capacity is a training plan."""
    for cluster, group, path in every_group(deployment):
        if isinstance(group.capacity, TrainingPlan):
            yield cluster, group, path, group.capacity


def arn_of(plan: TrainingPlan) -> re.Match[str] | None:
    """The parts of a plan's ARN, where that is known."""
    return _PLAN_ARN.fullmatch(plan.plan) if isinstance(plan.plan, str) else None


def called(plan: TrainingPlan) -> str:
    """How a message calls a plan."""
    return f"training plan {plan.name!r}" if isinstance(plan.name, str) else "its training plan"


def described_plans(deployment: Deployment) -> list[list[Planned]]:
    """Groups by the plan that they share, where its count is known."""
    described = ([each for each in sharing if isinstance(each[3].count, int)] for sharing in by_plan(deployment))
    return [sharing for sharing in described if sharing]


def by_plan(deployment: Deployment) -> list[list[Planned]]:
    """Groups by the plan that they share.

    Region and account tell plans of one name apart; of a plan whose name is not known nobody knows who shares it.
    """
    sharers: dict[tuple[object, ...], list[Planned]] = {}
    for each in planned(deployment):
        cluster, _, path, plan = each
        arn = arn_of(plan)
        place = (arn["region"], arn["account"]) if arn else (cluster.region, cluster.account)
        # Clusters under conditions may exclude each other, so none is added to another.
        sharing = (cluster.path if cluster.conditional else None, *place, plan.name)
        key = sharing if isinstance(plan.name, str) else (path,)
        sharers.setdefault(key, []).append(each)
    return list(sharers.values())
