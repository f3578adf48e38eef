"""What is said of topics of event rules, and of budgets that tell nobody or twice."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.budget import BudgetAction, BudgetResource, Grant, Notification, Topic
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.observability import EventRule
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import told


class TestTopicsLetEventsPublish:
    def of(self, *rules: EventRule, **topic: Any) -> list[str]:
        events = rules or (EventRule(path="Rule", targets=("Topic", "Other")),)
        return told("HP0040", Deployment(event_rules=events, topics=(Topic(path="Topic", **topic),)))

    def test_a_topic_without_policy_does_not(self) -> None:
        assert self.of(has_policy=False) == [
            (
                "HP0040 this topic has no policy, and Rule sends to it | allow sns:Publish to events.amazonaws.com in "
                'an AWS::SNS::TopicPolicy (hp.AlertTopic(publishers=["events.amazonaws.com"]), or '
                "topic.grant_publish(iam.ServicePrincipal(...)))"
            )
        ]

    def test_one_for_budgets_does_not(self) -> None:
        (found,) = self.of(grants=(Grant(service="budgets.amazonaws.com"),))
        assert "the policy of this topic lets only budgets.amazonaws.com publish, and Rule sends to it |" in found

    def test_one_that_admits_nobody_does_not(self) -> None:
        assert "the policy of this topic lets no service publish, and" in self.of()[0]

    def test_the_key_of_aws_admits_no_events(self) -> None:
        grants = (Grant(service="events.amazonaws.com"),)
        (found,) = self.of(key="arn:aws:kms:us-west-2:1:alias/aws/sns", grants=grants)
        assert found.startswith("HP0040 this topic is encrypted with alias/aws/sns, whose policy does not admit Event")

    def test_one_topic_of_two_rules_is_told_once(self) -> None:
        assert len(self.of(*(EventRule(path=path, targets=("Topic",)) for path in "AB"))) == 1

    @pytest.mark.parametrize("service", ["events.amazonaws.com", "*", UNKNOWN])
    def test_is_silent_where_it_may(self, service: Any) -> None:
        assert self.of(grants=(Grant(service=service),)) == []

    @pytest.mark.parametrize("topic", [{"complete": False}, {"key": UNKNOWN, "complete": False}])
    def test_is_silent_where_the_policy_is_not_known(self, topic: Any) -> None:
        assert self.of(**topic) == []

    @pytest.mark.parametrize("targets", [UNKNOWN, (UNKNOWN,), (), ("arn:aws:sns:us-west-2:111122223333:other",)])
    def test_is_silent_on_topics_of_others(self, targets: Any) -> None:
        assert self.of(EventRule(path="Rule", targets=targets)) == []


def notice(kind: Any = "ACTUAL", threshold: Any = 50.0, **fields: Any) -> Notification:
    return Notification(kind=kind, threshold=threshold, subscribers=UNKNOWN, **fields)


def of(rule: str, *notices: Notification, **fields: Any) -> list[str]:
    """What a rule says of a budget with these notices."""
    return told(rule, Deployment(budgets=(BudgetResource(path="Budget", **{"notifications": notices, **fields}),)))


class TestBudgetsHaveNotices:
    def test_somebody_has_to_look_otherwise(self) -> None:
        assert of("HP0041") == [
            "HP0041 0 notices | add NotificationsWithSubscribers, such as ACTUAL at 80 and FORECASTED at 100 percent"
        ]

    def test_is_silent_on_one_and_on_unknown_ones(self) -> None:
        assert of("HP0041", notice()) == of("HP0041", notifications=UNKNOWN) == []

    def test_is_silent_where_an_action_may_be_for_it(self) -> None:
        judged = Deployment(
            budgets=(BudgetResource(path="Budget"),), budget_actions=(BudgetAction(path="Action", kind=UNKNOWN),)
        )
        assert told("HP0041", judged) == []


class TestNoticesDiffer:
    def test_the_second_adds_nothing(self) -> None:
        one = notice(comparison="GREATER_THAN")
        assert of("HP0042", one, notice(threshold=80), one) == [
            (
                "HP0042 2 notices are ACTUAL GREATER_THAN 50 | keep one, with the subscribers of both, or use another "
                "Threshold"
            )
        ]
        assert of("HP0042", notice(), notice())[0].startswith("HP0042 2 notices are ACTUAL 50 |")

    @pytest.mark.parametrize(
        "other",
        [
            {"threshold": 51},
            {"kind": "FORECASTED"},
            {"unit": "ABSOLUTE_VALUE"},
            {"comparison": "LESS_THAN"},
        ],
    )
    def test_is_silent_on_another(self, other: dict[str, Any]) -> None:
        assert of("HP0042", notice(), notice(**other)) == []

    @pytest.mark.parametrize("unknown", [{"threshold": UNKNOWN}, {"kind": UNKNOWN}, {"unit": UNKNOWN}])
    def test_is_silent_on_what_is_not_known(self, unknown: dict[str, Any]) -> None:
        assert of("HP0042", notice(**unknown), notice(**unknown)) == []
        assert of("HP0042", notifications=UNKNOWN) == []
