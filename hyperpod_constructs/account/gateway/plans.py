"""Reads of SageMaker: training plans.

Source of names and fields: the botocore 1.44.8 model of SageMaker (2017-07-24).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hyperpod_constructs.account.gateway.session import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedBlock:
    """A part of a plan: instances of one type in one zone for one span of time.

    Attributes:
        instance_type: For example `ml.p5.48xlarge`.
        count: Instances.
        status: One of Pending, Active, Scheduled, Expired, Failed.
        zone: Name of the zone in this account; `None` where AWS does not say.
        zone_id: Id of the zone; `None` where AWS does not say.
        starts: First moment; `None` where AWS does not say.
        ends: Last moment; HyperPod begins to terminate nodes an hour earlier.
    """

    instance_type: str
    count: int
    status: str
    zone: str | None
    zone_id: str | None
    starts: datetime | None
    ends: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedPlan:
    """A training plan.

    Attributes:
        arn: Its ARN.
        name: Its name.
        status: One of Pending, Active, Scheduled, Expired, Failed.
        message: What AWS adds to the status; `None` where it adds nothing.
        total: Instances of the plan; `None` where AWS does not say.
        available: Those that nobody uses.
        in_use: Those that are in use.
        unhealthy: Those that are out of order; `None` in a list, which does not say.
        targets: What the plan is for: `training-job`, `hyperpod-cluster`, `endpoint`, `studio-apps`.
        starts: First moment.
        ends: Last moment.
        blocks: Its parts, the earliest first.
    """

    arn: str
    name: str
    status: str
    message: str | None
    total: int | None
    available: int | None
    in_use: int | None
    unhealthy: int | None
    targets: tuple[str, ...]
    starts: datetime | None
    ends: datetime | None
    blocks: tuple[ReservedBlock, ...]


class TrainingPlans(Reader):
    """Reads the training plans of one account in one Region."""

    SERVICE = "sagemaker"
    READS = {  # noqa: RUF012  # the base class has the type
        "DescribeTrainingPlan": "sagemaker:DescribeTrainingPlan",
        "ListTrainingPlans": "sagemaker:ListTrainingPlans",
    }

    def listed(self) -> tuple[DescribedPlan, ...]:
        """Every plan, expired ones too.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        return tuple(_plan(plan) for plan in self._pages("ListTrainingPlans", "TrainingPlanSummaries"))

    def described(self, plan: str) -> DescribedPlan:
        """One plan, with what the list leaves out.

        Args:
            plan: Name or ARN.

        Raises:
            NotInAccount: if there is no such plan.
            AccountError: if AWS refuses or fails the read.
        """
        return _plan(self._read("DescribeTrainingPlan", of=f"training plan {plan}", TrainingPlanName=plan))


def _plan(plan: Mapping[str, Any]) -> DescribedPlan:
    blocks = [_block(block) for block in plan.get("ReservedCapacitySummaries", ())]
    return DescribedPlan(
        arn=plan["TrainingPlanArn"],
        name=plan["TrainingPlanName"],
        status=plan["Status"],
        message=plan.get("StatusMessage") or None,
        total=plan.get("TotalInstanceCount"),
        available=plan.get("AvailableInstanceCount"),
        in_use=plan.get("InUseInstanceCount"),
        unhealthy=plan.get("UnhealthyInstanceCount"),
        targets=tuple(plan.get("TargetResources", ())),
        starts=plan.get("StartTime"),
        ends=plan.get("EndTime"),
        blocks=tuple(sorted(blocks, key=lambda block: (block.starts is None, block.starts))),
    )


def _block(block: Mapping[str, Any]) -> ReservedBlock:
    return ReservedBlock(
        instance_type=block["InstanceType"],
        count=block["TotalInstanceCount"],
        status=block["Status"],
        zone=block.get("AvailabilityZone"),
        zone_id=block.get("AvailabilityZoneId"),
        starts=block.get("StartTime"),
        ends=block.get("EndTime"),
    )
