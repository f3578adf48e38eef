"""Who is told, and who may tell them."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from hyperpod_constructs import rules
from hyperpod_constructs.model import template
from tests.templates import of_type, synthesized


def statements(stack: cdk.Stack, *publishers: str) -> dict[str, dict[str, Any]]:
    hp.AlertTopic(stack, "Alerts", emails=["b@example.com", "a@example.com"], publishers=publishers)
    (policy,) = of_type(synthesized(stack), "AWS::SNS::TopicPolicy").values()
    return {each["Sid"]: each for each in policy["PolicyDocument"]["Statement"]}


class TestAlertTopic:
    def test_budgets_may_publish_for_this_account_only(self, stack: cdk.Stack) -> None:
        """Field report I-05: without the policy the notices never come."""
        statement = statements(stack, "budgets.amazonaws.com")["PublishBudgets"]
        assert statement["Principal"] == {"Service": "budgets.amazonaws.com"}
        assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}

    def test_events_carry_no_account_so_none_is_asked_for(self, stack: cdk.Stack) -> None:
        assert "Condition" not in statements(stack, "events.amazonaws.com")["PublishEvents"]

    def test_plain_http_is_denied(self, stack: cdk.Stack) -> None:
        assert statements(stack)["TlsOnly"]["Effect"] == "Deny"

    def test_the_order_of_addresses_changes_nothing(self, stack: cdk.Stack) -> None:
        statements(stack)
        (topic,) = of_type(synthesized(stack), "AWS::SNS::Topic").values()
        assert [each["Endpoint"] for each in topic["Subscription"]] == ["a@example.com", "b@example.com"]

    def test_the_topic_for_other_constructs_is_one_object(self, stack: cdk.Stack) -> None:
        alerts = hp.AlertTopic(stack, "Alerts", emails=[], publishers=[])
        assert stack.resolve(alerts.topic.topic_arn) == stack.resolve(alerts.topic.topic_arn)

    @pytest.mark.parametrize(
        ("emails", "message"),
        [(["nobody"], "is no e-mail address"), (["a@example.com", "a@example.com"], "holds an address twice")],
    )
    def test_refuses_what_is_no_address(self, stack: cdk.Stack, emails: list[str], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            hp.AlertTopic(stack, "Alerts", emails=emails, publishers=[])
        assert stack.node.try_find_child("Alerts") is None

    @pytest.mark.parametrize("publisher", ["budgets", "arn:aws:iam::111122223333:root", "budgets.amazonaws.com/x", ""])
    def test_refuses_what_is_no_service_principal(self, stack: cdk.Stack, publisher: str) -> None:
        with pytest.raises(hp.InvalidValue, match=r"is no service principal; use one such as budgets\.amazonaws\.com"):
            hp.AlertTopic(stack, "Alerts", emails=[], publishers=[publisher])
        assert stack.node.try_find_child("Alerts") is None

    def test_takes_principals_of_every_region_and_tokens(self, stack: cdk.Stack) -> None:
        publishers = ["logs.us-west-2.amazonaws.com", "events.amazonaws.com.cn", cdk.Fn.import_value("service")]
        assert hp.AlertTopic(stack, "Alerts", emails=[], publishers=publishers).topic_arn


class TestClusterNotices:
    def told(self, stack: cdk.Stack, topic_arn: str) -> list[str]:
        network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"])
        groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)]
        cluster = hp.Cluster(stack, "Cluster", name="train", network=network, groups=groups)
        hp.ClusterNotices(stack, "Notices", cluster=cluster, topic_arn=topic_arn)
        synthesized(stack)
        stage = cdk.Stage.of(stack)
        assert stage is not None
        found = rules.RULES["HP0040"].findings(template.read(stage.outdir))
        return [f"{each.path}: {each.message}" for each in found]

    def test_to_a_topic_for_budgets_never_come(self, stack: cdk.Stack) -> None:
        topic = hp.AlertTopic(stack, "Alerts", emails=["a@example.com"], publishers=["budgets.amazonaws.com"])
        (said,) = self.told(stack, topic.topic_arn)
        assert said.endswith("lets only budgets.amazonaws.com publish, and Test/Notices sends to it")

    def test_come_to_one_for_events(self, stack: cdk.Stack) -> None:
        topic = hp.AlertTopic(stack, "Alerts", emails=["a@example.com"], publishers=["events.amazonaws.com"])
        assert self.told(stack, topic.topic_arn) == []


class TestClusterBudget:
    def test_refuses_what_is_no_topic(self, stack: cdk.Stack) -> None:
        with pytest.raises(hp.InvalidValue, match=r"topic_arn is 'alerts'; use the ARN of a topic"):
            hp.ClusterBudget(stack, "Budget", budget=hp.Budget(usd_per_month=1), topic_arn="alerts")

    def test_refuses_a_limit_that_is_no_number(self, stack: cdk.Stack) -> None:
        with pytest.raises(hp.InvalidValue, match="budget limit is '100', a str; use a whole number"):
            hp.ClusterBudget(stack, "B", budget=hp.Budget(usd_per_month="100"), topic_arn="arn:x")  # type: ignore[arg-type]  # the point

    def test_needs_a_limit(self, stack: cdk.Stack) -> None:
        with pytest.raises(hp.InvalidValue, match="needs its limit"):
            hp.ClusterBudget(stack, "Budget", budget=hp.Budget(), topic_arn="arn:aws:sns:us-west-2:111122223333:t")

    def test_has_no_fixed_name_because_its_notices_can_only_be_replaced(self, stack: cdk.Stack) -> None:
        hp.ClusterBudget(
            stack,
            "Budget",
            budget=hp.Budget(usd_per_month=100, forecast_percent=None, services=("Amazon SageMaker",)),
            topic_arn="arn:aws:sns:us-west-2:111122223333:t",
        )
        (budget,) = of_type(synthesized(stack), "AWS::Budgets::Budget").values()
        assert "BudgetName" not in budget["Budget"]
        assert budget["Budget"]["BudgetLimit"] == {"Amount": 100, "Unit": "USD"}
        assert budget["Budget"]["CostFilters"] == {"Service": ["Amazon SageMaker"]}
        kinds = {each["Notification"]["NotificationType"] for each in budget["NotificationsWithSubscribers"]}
        assert kinds == {"ACTUAL"}
