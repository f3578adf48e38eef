"""A review as JSON. Keys are only ever added; docs/commands.md describes them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from hyperpod_constructs.findings import Finding
from hyperpod_constructs.review.figures import Figures
from hyperpod_constructs.review.impacts import Change
from hyperpod_constructs.review.review import Review


def as_data(review: Review) -> dict[str, Any]:
    """The review, ready for JSON."""
    figures = review.figures
    return {
        "verdict": review.verdict.value,
        "changes": [_change(change) for change in review.changes],
        "cost": _cost(figures),
        "capacity": {
            "clusters": [asdict(each) for each in figures.clusters],
            "subnets": [asdict(each) for each in figures.subnets],
            "quotas": [asdict(each) for each in figures.quotas],
            "budgets": [asdict(each) for each in figures.budgets],
        },
        "findings": {
            "new": [_finding(each) for each in review.new],
            "resolved": [_finding(each) for each in review.resolved],
            "stopping": [_finding(each) for each in review.stopping],
        },
        "widened": [asdict(each) for each in review.widened],
        "narrowed": [asdict(each) for each in review.narrowed],
        "scripts": [asdict(each) for each in review.scripts],
        "rosters": [asdict(each) for each in review.rosters],
        "live": asdict(review.drift) if review.drift else None,
        "not_compared": list(review.not_compared),
    }


def _change(change: Change) -> dict[str, Any]:
    effect = change.effect
    return {
        "path": change.path,
        "property": change.property_name,
        "impact": effect.impact.value,
        "reason": effect.reason,
        "action": effect.action,
        "recipe": effect.recipe,
        "source": effect.source,
        "type": change.type,
        "stack": change.stack,
        "before": change.before,
        "after": change.after,
        "because_of": change.because_of,
    }


def _cost(figures: Figures) -> dict[str, Any]:
    cost = figures.cost
    return {
        "before_usd_per_hour": _cents(cost.before.usd_per_hour),
        "after_usd_per_hour": _cents(cost.after.usd_per_hour),
        "source": "; ".join(each.source for each in cost.basis) or None,
        "as_of": min((each.as_of for each in cost.basis), default=None),
        "estimate": cost.before.estimate or cost.after.estimate,
        "complete": cost.complete,
        "difference_usd_per_hour": _cents(cost.difference),
        "items": [asdict(each) for each in cost.items],
        "prepaid": [asdict(each) for each in cost.prepaid],
        "not_priced": [asdict(each) for each in cost.not_priced],
        "unpriced": list(cost.unpriced),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {**asdict(finding), "severity": finding.severity.value}


def _cents(amount: float | None) -> float | None:
    return None if amount is None else round(amount, 4)


def moment(value: object) -> str:
    """A moment as JSON shows it; for `json.dumps(default=)`."""
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} is not meant for JSON")
    return value.isoformat()
