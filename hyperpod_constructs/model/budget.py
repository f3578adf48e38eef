"""Budgets and the topics that carry their notices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.checks import check_several, check_whole
from hyperpod_constructs.tokens import Unknown, is_token


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A monthly cost budget of the account.

    Attributes:
        usd_per_month: Limit in USD. Left out: 730 hours of the cluster's metered (not prepaid) items, rounded up.
        actual_percent: Notices on cost so far, in percent of the limit; each once.
        forecast_percent: Notice on forecast cost; `None` for none. AWS needs about five weeks of history for it.
        services: Cost filter by service name. Left out: everything in the account, so that nothing is missed.

    Raises:
        InvalidValue: if it has no notice at all, or one twice, or a number is out of range.
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
        percents = [percent for percent in self.actual_percent if not is_token(percent)]
        if len(set(percents)) < len(percents):
            raise InvalidValue(f"budget actual_percent is {self.actual_percent!r}", "name each threshold once")
        if not self.actual_percent and self.forecast_percent is None:
            raise InvalidValue("a budget without notices tells nobody", "give actual_percent or forecast_percent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriber:
    """Who gets a notice.

    Attributes:
        kind: `SNS` or `EMAIL`.
        address: Path or ARN of a topic, or an e-mail address.
        written: The address as text, with `*` for what is decided at deploy; left out where it is that of a resource.
    """

    kind: Literal["SNS", "EMAIL"] | Unknown
    address: str | Unknown
    written: str | Unknown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One notice of a budget.

    Attributes:
        kind: `ACTUAL` or `FORECASTED`.
        threshold: Percent of the limit, or USD.
        subscribers: At most 1 topic and 10 e-mail addresses.
        comparison: `GREATER_THAN`, `LESS_THAN` or `EQUAL_TO`.
        unit: `PERCENTAGE` or `ABSOLUTE_VALUE`: what the threshold counts; left out is the service's choice.
    """

    kind: Literal["ACTUAL", "FORECASTED"] | Unknown
    threshold: float | Unknown
    subscribers: tuple[Subscriber, ...] | Unknown
    comparison: str | Unknown | None = None
    unit: str | Unknown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetResource:
    """A budget of the deployment.

    Attributes:
        path: Construct path.
        name: Fixed name; left out where CloudFormation makes one.
        kind: BudgetType: COST, USAGE, RI_UTILIZATION and others; only a budget of COST has a currency.
        time_unit: DAILY, MONTHLY, QUARTERLY, ANNUALLY or CUSTOM.
        amount: Limit; left out where there is no BudgetLimit.
        unit: Currency of the limit.
        planned: Whether it has PlannedBudgetLimits, one for each period.
        adjusted: Whether it has AutoAdjustData, with which Budgets makes the limit.
        filters: Whether it has CostFilters.
        expression: Whether it has a FilterExpression.
        notifications: Its notices.
        account: Account of its stack.
        region: Region of its stack.
    """

    path: str
    name: str | Unknown | None = None
    kind: str | Unknown = "COST"
    time_unit: str | Unknown = "MONTHLY"
    amount: float | Unknown | None = None
    unit: str | Unknown | None = None
    planned: bool | Unknown = False
    adjusted: bool | Unknown = False
    filters: bool | Unknown = False
    expression: bool | Unknown = False
    notifications: tuple[Notification, ...] | Unknown = ()
    account: str | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAction:
    """What Budgets does, or asks whether to do, once a threshold is crossed.

    Attributes:
        path: Construct path.
        kind: `APPLY_IAM_POLICY`, `APPLY_SCP_POLICY` or `RUN_SSM_DOCUMENTS`.
        definitions: Which of IamActionDefinition, ScpActionDefinition and SsmActionDefinition it has.
        role: Path or ARN of the role that Budgets takes.
        subscribers: 1 to 11, at most one of them a topic.
        account: Account of its stack.
        region: Region of its stack.
    """

    path: str
    kind: str | Unknown
    definitions: tuple[str, ...] | Unknown = ()
    role: str | Unknown = ""
    subscribers: tuple[Subscriber, ...] | Unknown = ()
    account: str | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnomalyMonitor:
    """What Cost Anomaly Detection looks at.

    Attributes:
        path: Construct path.
        kind: `DIMENSIONAL`, which AWS manages, or `CUSTOM`.
        dimension: `SERVICE`, `LINKED_ACCOUNT`, `TAG` or `COST_CATEGORY`; of a DIMENSIONAL monitor.
        specification: Whether it has a MonitorSpecification.
        region: Region of its stack.
    """

    path: str
    kind: str | Unknown
    dimension: str | Unknown | None = None
    specification: bool | Unknown = False
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnomalySubscription:
    """Who is told of anomalies of cost.

    Attributes:
        path: Construct path.
        frequency: `IMMEDIATE` by topic, `DAILY` or `WEEKLY` by e-mail.
        subscribers: Topics or e-mail addresses.
        threshold: Whether it has a Threshold, which is deprecated.
        expression: Whether it has a ThresholdExpression.
        region: Region of its stack.
    """

    path: str
    frequency: str | Unknown
    subscribers: tuple[Subscriber, ...] | Unknown = ()
    threshold: bool | Unknown = False
    expression: bool | Unknown = False
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One statement that lets a service publish to a topic, and for whom.

    Attributes:
        service: Service principal; `UNKNOWN` where it is decided at deploy, or for anyone.
        accounts: Patterns of `aws:SourceAccount`, of which one must fit; none where the statement does not ask.
        arns: Patterns of `aws:SourceArn`, of which one must fit; none where the statement does not ask.
        exact: Whether the ARNs are compared letter by letter, so that `*` stands for itself.
    """

    service: str | Unknown
    accounts: tuple[str, ...] = ()
    arns: tuple[str, ...] = ()
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """An SNS topic of the deployment.

    Attributes:
        path: Construct path.
        grants: The statements of its policies that let a service publish.
        subscriptions: Number of subscriptions.
        key: `None` unencrypted, `alias/aws/sns` or the path or ARN of a customer key.
        key_users: Service principals that the policy of that key admits; `None` where the key is not in the deployment.
        has_policy: Whether the deployment gives it a policy.
        complete: Whether all of its policies are known.
        account: Account of its stack.
    """

    path: str
    grants: tuple[Grant, ...] = ()
    subscriptions: int = 0
    key: str | Unknown | None = None
    key_users: tuple[str | Unknown, ...] | None = None
    has_policy: bool = True
    complete: bool = True
    account: str | None = None

    @property
    def publishers(self) -> tuple[str | Unknown, ...]:
        """Service principals that may publish, each once."""
        return tuple(dict.fromkeys(grant.service for grant in self.grants))
