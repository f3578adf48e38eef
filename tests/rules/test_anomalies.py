"""What is said of cost anomaly monitors and their subscriptions."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.budget import AnomalyMonitor, AnomalySubscription, Grant, Subscriber, Topic
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import told

EMAIL = Subscriber(kind="EMAIL", address="ml-platform@example.com")
SNS = Subscriber(kind="SNS", address="Alerts")


def monitor(**fields: Any) -> Deployment:
    """A monitor of linked accounts."""
    defaults = {"path": "Monitor", "kind": "DIMENSIONAL", "dimension": "LINKED_ACCOUNT"}
    return Deployment(anomaly_monitors=(AnomalyMonitor(**{**defaults, **fields}),))


def subscription(*topics: Topic, **fields: Any) -> Deployment:
    """A daily subscription by e-mail."""
    defaults = {"path": "Subscription", "frequency": "DAILY", "subscribers": (EMAIL,), "expression": True}
    return Deployment(anomaly_subscriptions=(AnomalySubscription(**{**defaults, **fields}),), topics=topics)


class TestServiceMonitorsAreOne:
    def test_says_how_to_look(self) -> None:
        (line,) = told("HP0024", monitor(dimension="SERVICE"))
        assert line.startswith("HP0024 a monitor of SERVICE is refused if the account has one | look with aws ce")

    @pytest.mark.parametrize("fields", [{}, {"dimension": UNKNOWN}, {"dimension": "SERVICE", "kind": UNKNOWN}])
    def test_is_silent_on_others_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert told("HP0024", monitor(**fields)) == []


class TestFrequenciesFitSubscribers:
    @pytest.mark.parametrize("frequency", ["DAILY", "WEEKLY"])
    def test_a_digest_goes_to_no_topic(self, frequency: str) -> None:
        assert told("HP0025", subscription(frequency=frequency, subscribers=(SNS,))) == [
            (
                f"HP0025 {frequency} alerts cannot go to a topic | "
                "use an e-mail address (EMAIL), or the frequency IMMEDIATE"
            )
        ]

    def test_an_alert_goes_to_no_address_and_is_said_once(self) -> None:
        assert told("HP0025", subscription(frequency="IMMEDIATE", subscribers=(EMAIL, EMAIL, SNS))) == [
            (
                "HP0025 IMMEDIATE alerts cannot go to an e-mail address | "
                "use a topic (SNS), or the frequency DAILY or WEEKLY"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"frequency": "IMMEDIATE", "subscribers": (SNS,)},
            {"frequency": UNKNOWN, "subscribers": (SNS, EMAIL)},
            {"subscribers": UNKNOWN},
            {"subscribers": (Subscriber(kind=UNKNOWN, address="x"),)},
        ],
    )
    def test_is_silent_on_legal_pairs_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert told("HP0025", subscription(**fields)) == []


class TestSubscriptionsHaveOneThreshold:
    def test_two_are_too_many(self) -> None:
        assert told("HP0026", subscription(threshold=True)) == [
            (
                "HP0026 Threshold and ThresholdExpression are both given | "
                "keep ThresholdExpression: Threshold is deprecated"
            )
        ]

    def test_none_is_too_few(self) -> None:
        (line,) = told("HP0026", subscription(expression=False))
        assert line.startswith("HP0026 neither Threshold nor ThresholdExpression is given | give ThresholdExpression")

    @pytest.mark.parametrize(
        ("threshold", "expression"), [(True, False), (False, True), (UNKNOWN, False), (True, UNKNOWN)]
    )
    def test_is_silent_on_one_and_on_what_is_not_known(self, threshold: object, expression: object) -> None:
        assert told("HP0026", subscription(threshold=threshold, expression=expression)) == []


class TestTopicsLetAnomaliesPublish:
    def told_of(self, *publishers: Any, **fields: Any) -> list[str]:
        topic = Topic(path="Alerts", grants=tuple(Grant(service=each) for each in publishers), **fields)
        return told("HP0027", subscription(topic, frequency="IMMEDIATE", subscribers=(SNS, SNS)))

    def test_says_who_may(self) -> None:
        assert self.told_of("budgets.amazonaws.com") == [
            (
                "HP0027 this topic lets only budgets.amazonaws.com publish, and cost anomalies are sent to it | "
                "allow sns:Publish to costalerts.amazonaws.com"
            )
        ]

    def test_is_silent_where_anomalies_may_or_could(self) -> None:
        assert self.told_of("costalerts.amazonaws.com") == self.told_of(UNKNOWN) == []
        assert self.told_of(complete=False) == []


class TestMonitorsFitTheirType:
    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"kind": "CUSTOM", "specification": True}, "a CUSTOM monitor has MonitorDimension LINKED_ACCOUNT"),
            ({"kind": "CUSTOM", "dimension": None}, "a CUSTOM monitor has no MonitorSpecification"),
            ({"dimension": None}, "a DIMENSIONAL monitor has no MonitorDimension"),
            ({"dimension": "TAG"}, "a monitor of TAG has no MonitorSpecification"),
            ({"specification": True}, "a monitor of LINKED_ACCOUNT has a MonitorSpecification"),
        ],
    )
    def test_says_what_is_missing_or_too_much(self, fields: dict[str, object], said: str) -> None:
        (line,) = told("HP0028", monitor(**fields))
        assert line.startswith(f"HP0028 {said} | ")

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"kind": "CUSTOM", "dimension": None, "specification": True},
            {"dimension": "TAG", "specification": True},
            {"dimension": UNKNOWN, "specification": True},
            {"kind": UNKNOWN, "dimension": None},
            {"dimension": "TAG", "specification": UNKNOWN},
        ],
    )
    def test_is_silent_on_what_fits_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert told("HP0028", monitor(**fields)) == []
