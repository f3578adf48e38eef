"""Whether monitors of cost anomalies can be made, and whether anybody hears of what they see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.budget import AnomalyMonitor, AnomalySubscription, Subscriber
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.tokens import UNKNOWN

PUBLISHER: Final = "costalerts.amazonaws.com"

_API: Final = "Cost Explorer API, AnomalySubscription (botocore 1.44.8)"
_CHANNEL: Final = {"IMMEDIATE": "SNS", "DAILY": "EMAIL", "WEEKLY": "EMAIL"}
_SAID: Final = {"SNS": "a topic", "EMAIL": "an e-mail address"}


def _subscribers(subscription: AnomalySubscription) -> tuple[Subscriber, ...]:
    return subscription.subscribers if isinstance(subscription.subscribers, tuple) else ()


@rule(
    "HP0024",
    Severity.WARNING,
    title="The monitor of all services may exist already",
    because="an account has at most one AWS-managed monitor of SERVICE, so a second one collides",
    source="Cost Management user guide, management-limits (October 2026)",
)
def service_monitors_are_one(deployment: Deployment) -> Iterator[Problem]:
    for monitor in deployment.anomaly_monitors:
        if monitor.kind == "DIMENSIONAL" and monitor.dimension == "SERVICE":
            yield Problem(
                path=monitor.path,
                message="a monitor of SERVICE is refused if the account has one",
                fix="look with aws ce get-anomaly-monitors; subscribe to the ARN of the one that is there, or leave "
                "this monitor out",
            )


@rule(
    "HP0025",
    Severity.ERROR,
    title="The frequency of an anomaly subscription does not fit its subscribers",
    because="IMMEDIATE goes to topics only, DAILY and WEEKLY go to e-mail addresses only",
    source=_API,
)
def frequencies_fit_subscribers(deployment: Deployment) -> Iterator[Problem]:
    for subscription in deployment.anomaly_subscriptions:
        wanted = _CHANNEL.get(subscription.frequency) if isinstance(subscription.frequency, str) else None
        kinds = dict.fromkeys(each.kind for each in _subscribers(subscription) if each.kind is not UNKNOWN)
        for kind in kinds:
            if wanted and kind != wanted:
                other = "DAILY or WEEKLY" if kind == "EMAIL" else "IMMEDIATE"
                yield Problem(
                    path=subscription.path,
                    message=f"{subscription.frequency} alerts cannot go to {_SAID[kind]}",
                    fix=f"use {_SAID[wanted]} ({wanted}), or the frequency {other}",
                )


@rule(
    "HP0026",
    Severity.ERROR,
    title="An anomaly subscription has no threshold, or two",
    because="one of Threshold and ThresholdExpression is required, and they exclude each other",
    source=_API,
)
def subscriptions_have_one_threshold(deployment: Deployment) -> Iterator[Problem]:
    for subscription in deployment.anomaly_subscriptions:
        given = (subscription.threshold, subscription.expression)
        if given == (True, True):
            yield Problem(
                path=subscription.path,
                message="Threshold and ThresholdExpression are both given",
                fix="keep ThresholdExpression: Threshold is deprecated",
            )
        elif given == (False, False):
            yield Problem(
                path=subscription.path,
                message="neither Threshold nor ThresholdExpression is given",
                fix="give ThresholdExpression with ANOMALY_TOTAL_IMPACT_ABSOLUTE or ANOMALY_TOTAL_IMPACT_PERCENTAGE",
            )


@rule(
    "HP0027",
    Severity.WARNING,
    title="The topic of an anomaly subscription does not let cost anomaly detection publish",
    because="its alerts never come; the name of the service is not verified",
    source="Cost Explorer API, AnomalySubscription (botocore 1.44.8); no page confirms the principal",
)
def topics_let_anomalies_publish(deployment: Deployment) -> Iterator[Problem]:
    told: set[str] = set()
    for subscription in deployment.anomaly_subscriptions:
        for subscriber in _subscribers(subscription):
            topic = deployment.topic(subscriber.address) if subscriber.kind == "SNS" else None
            if topic is None or topic.path in told or not topic.complete:
                continue
            if not {PUBLISHER, "*", UNKNOWN} & set(topic.publishers):
                told.add(topic.path)
                allowed = f"only {', '.join(map(str, topic.publishers))}" if topic.publishers else "no service"
                yield Problem(
                    path=topic.path,
                    message=f"this topic lets {allowed} publish, and cost anomalies are sent to it",
                    fix=f"allow sns:Publish to {PUBLISHER}",
                )


def _monitor_fault(monitor: AnomalyMonitor) -> tuple[str, str] | None:
    """What a monitor has or lacks against its type, and the change to make."""
    dimension, specified = monitor.dimension, monitor.specification
    by_key = dimension in {"TAG", "COST_CATEGORY"}
    if monitor.kind == "CUSTOM" and isinstance(dimension, str):
        return f"a CUSTOM monitor has MonitorDimension {dimension}", "leave it out, or use DIMENSIONAL"
    if monitor.kind == "CUSTOM" and specified is False:
        return "a CUSTOM monitor has no MonitorSpecification", "say which accounts, tags or categories it sums up"
    if monitor.kind == "DIMENSIONAL" and dimension is None:
        return "a DIMENSIONAL monitor has no MonitorDimension", "use LINKED_ACCOUNT, TAG or COST_CATEGORY"
    if monitor.kind == "DIMENSIONAL" and by_key and specified is False:
        return f"a monitor of {dimension} has no MonitorSpecification", "name the key of the tag or category in it"
    if monitor.kind == "DIMENSIONAL" and not by_key and isinstance(dimension, str) and specified is True:
        return f"a monitor of {dimension} has a MonitorSpecification", "leave it out"
    return None


@rule(
    "HP0028",
    Severity.WARNING,
    title="An anomaly monitor has or lacks what its type must lack or have",
    because="AWS-managed monitors have a dimension, customer-managed ones a specification",
    source="Cost Explorer API, AnomalyMonitor (botocore 1.44.8)",
)
def monitors_fit_their_type(deployment: Deployment) -> Iterator[Problem]:
    for monitor in deployment.anomaly_monitors:
        if fault := _monitor_fault(monitor):
            yield Problem(path=monitor.path, message=fault[0], fix=fault[1])
