"""Budgets and the topics that carry their notices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hyperpod_constructs.model.checks import check_several, check_whole
from hyperpod_constructs.tokens import Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A monthly cost budget of the account.

    Attributes:
        usd_per_month: Limit in USD. Left out: 730 hours of the cluster's metered (not prepaid) items, rounded up.
        actual_percent: Notices on cost so far, in percent of the limit.
        forecast_percent: Notice on forecast cost; `None` for none. AWS needs about five weeks of history for it.
        services: Cost filter by service name. Left out: everything in the account, so that nothing is missed.
    """

    usd_per_month: int | None = None
    actual_percent: tuple[int, ...] = (25, 50, 80, 100)
    forecast_percent: int | None = 100
    services: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_several("budget services", self.services)
        check_several("budget notices", self.actual_percent)
        check_whole("budget limit", self.usd_per_month, low=1, high=10**9, unit="USD")
        for percent in (*self.actual_percent, self.forecast_percent):
            check_whole("budget notice", percent, low=1, high=1000, unit="percent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriber:
    """Who gets a notice.

    Attributes:
        kind: `SNS` or `EMAIL`.
        address: Path or ARN of a topic, or an e-mail address.
    """

    kind: Literal["SNS", "EMAIL"] | Unknown
    address: str | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One notice of a budget.

    Attributes:
        kind: `ACTUAL` or `FORECASTED`.
        threshold: Percent of the limit, or USD.
        subscribers: At most 1 topic and 10 e-mail addresses.
    """

    kind: Literal["ACTUAL", "FORECASTED"] | Unknown
    threshold: float | Unknown
    subscribers: tuple[Subscriber, ...] | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetResource:
    """A budget of the deployment.

    Attributes:
        path: Construct path.
        name: Fixed name; left out where CloudFormation makes one.
        kind: BudgetType: COST, USAGE, RI_UTILIZATION and others; only a budget of COST has a currency.
        time_unit: DAILY, MONTHLY, QUARTERLY, ANNUALLY or CUSTOM.
        amount: Limit.
        unit: Currency of the limit.
        notifications: Its notices.
        region: Region of its stack.
    """

    path: str
    name: str | Unknown | None = None
    kind: str | Unknown = "COST"
    time_unit: str | Unknown = "MONTHLY"
    amount: float | Unknown | None = None
    unit: str | Unknown | None = None
    notifications: tuple[Notification, ...] | Unknown = ()
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """An SNS topic of the deployment.

    Attributes:
        path: Construct path.
        publishers: Service principals whose publishing its policies allow.
        subscriptions: Number of subscriptions.
        key: `None` unencrypted, `alias/aws/sns` or the path or ARN of a customer key.
        has_policy: Whether the deployment gives it a policy.
        complete: Whether all of its policies are known.
    """

    path: str
    publishers: tuple[str | Unknown, ...] = ()
    subscriptions: int = 0
    key: str | Unknown | None = None
    has_policy: bool = True
    complete: bool = True
