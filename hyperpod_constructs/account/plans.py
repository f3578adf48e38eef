"""Training plans of an account, as the line of code that uses them, and what speaks against using them.

Source: SageMaker developer guide, reserve-capacity-with-training-plans and training-plan-utilization-for-hyperpod
(October 2026): a plan serves what it was bought for, can be attached while it is Scheduled or Active, stands in one
zone, and HyperPod begins to end its nodes an hour before the end of every reserved block.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hyperpod_constructs.account.gateway.plans import DescribedPlan, ReservedBlock
from hyperpod_constructs.catalog import limits

TARGET: Final = "hyperpod-cluster"
_USABLE: Final = {"Active", "Scheduled"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """When nodes of a plan come or go next.

    Attributes:
        arrives: When nodes come; `None` where they are there.
        leaves: When HyperPod begins to end them.
    """

    arrives: datetime | None
    leaves: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A plan as somebody who writes an app sees it.

    Attributes:
        plan: What AWS says.
        now: When it was looked at.
    """

    plan: DescribedPlan
    now: datetime

    @property
    def problem(self) -> str | None:
        """Why a cluster cannot use it; `None` where it can."""
        plan = self.plan
        if plan.targets and TARGET not in plan.targets:
            return f"it was bought for {', '.join(plan.targets)} and not for {TARGET}; that cannot be changed"
        if plan.status == "Expired" or (plan.ends is not None and plan.ends <= self.now):
            since = f" since {plan.ends:%Y-%m-%d %H:%M} UTC" if plan.ends else ""
            return f"it is expired{since}; an expired plan cannot be extended"
        if plan.status == "Pending":
            return "it is Pending: it can be used when it is paid and Scheduled"
        if plan.status not in _USABLE:
            return f"it is {plan.status}{f': {plan.message}' if plan.message else ''}"
        return None

    @property
    def count(self) -> int | None:
        """Instances that it holds at a time; `None` where AWS does not say."""
        return max((self._at(block) for block in self.plan.blocks), default=self.plan.total)

    @property
    def instance_types(self) -> tuple[str, ...]:
        """Types of its instances."""
        return tuple(dict.fromkeys(block.instance_type for block in self.plan.blocks))

    @property
    def zones(self) -> tuple[str, ...]:
        """Ids of the zones in which its instances stand; more than one only for a plan that is not HyperPod's."""
        return tuple(dict.fromkeys(block.zone_id for block in self.plan.blocks if block.zone_id))

    @property
    def line(self) -> str | None:
        """The line of code that uses the plan; `None` where it cannot be used."""
        if self.problem:
            return None
        plan, starts, ends = self.plan, self._day(self.plan.starts), self._day(self.plan.ends)
        if self.count is None or (starts and ends and ends <= starts):
            return f"hp.TrainingPlan.unchecked({_text(plan.arn)})"
        zone = self.zones[0] if len(self.zones) == 1 else None
        facts = {"count": repr(self.count), "zone": _text(zone), "starts": _text(starts), "ends": _text(ends)}
        if len(self.instance_types) == 1:
            facts["instance_type"] = _text(self.instance_types[0])
        written = ", ".join(f"{name}={value}" for name, value in facts.items())
        return f"hp.TrainingPlan({_text(plan.name)}, {written})"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the line does not say."""
        notes = []
        unhealthy = self.plan.unhealthy
        if len(self.zones) != 1:
            notes.append(f"its zone id is {' and '.join(self.zones) or 'not known'}: HyperPod needs a plan in one zone")
        if len(self.instance_types) > 1:
            notes.append(f"it holds several types: {', '.join(self.instance_types)}")
        if len(self.plan.blocks) > 1:
            notes.append(f"it has {len(self.plan.blocks)} blocks; nodes leave an hour before the end of each")
        if unhealthy:
            notes.append(f"{unhealthy:,} of its instances are out of order")
        return tuple(notes)

    @property
    def turn(self) -> Turn | None:
        """When its nodes come and go next; `None` where it is over or AWS does not say."""
        spans = [(block.starts, block.ends) for block in self.plan.blocks] or [(self.plan.starts, self.plan.ends)]
        for starts, ends in spans:
            if starts is not None and ends is not None and ends > self.now:
                return Turn(arrives=starts if starts > self.now else None, leaves=ends - limits.PLAN_DRAIN)
        return None

    def _at(self, block: ReservedBlock) -> int:
        """Instances of all blocks at the moment when one begins: blocks follow each other, or stand side by side."""
        return sum(other.count for other in self.plan.blocks if other is block or _stands(other, block.starts))

    @staticmethod
    def _day(moment: datetime | None) -> str | None:
        return f"{moment:%Y-%m-%d}" if moment else None


def _stands(block: ReservedBlock, moment: datetime | None) -> bool:
    """Whether a block has begun and not ended at a moment; true where a time is not known."""
    if moment is None or block.starts is None or block.ends is None:
        return True
    return block.starts <= moment < block.ends


def _text(value: str | None) -> str:
    """A Python literal in the quotes that code of this package has."""
    return "None" if value is None else json.dumps(value)
