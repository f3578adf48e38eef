from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.budget import (
    AnomalyMonitor,
    AnomalySubscription,
    BudgetAction,
    Notification,
    Subscriber,
    Topic,
)
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

UNDECIDABLE = {"Ref": "Given"}
SECTIONS = {
    "Parameters": {"Given": {"Type": "String"}},
    "Conditions": {"Maybe": {"Fn::Equals": [UNDECIDABLE, "x"]}},
}
BUDGETS = {"Service": "budgets.amazonaws.com"}


def policy(principal: object, **more: Any) -> dict[str, Any]:
    """A policy of topic T that lets somebody publish."""
    statement = {"Effect": "Allow", "Action": "SNS:Publish", "Resource": "*", "Principal": principal}
    properties = {"Topics": [{"Ref": "T"}], "PolicyDocument": {"Statement": statement}}
    return {"Type": "AWS::SNS::TopicPolicy", "Properties": {**properties, **more}}


TOPIC = {"Type": "AWS::SNS::Topic"}


class TestBudgets:
    def budget(self, **properties: Any) -> dict[str, Any]:
        limit = {"BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": {"Amount": "5000.5", "Unit": "USD"}}
        return {"Type": "AWS::Budgets::Budget", "Properties": {"Budget": limit, **properties}}

    def test_have_their_limit(self, deployment_of: Any) -> None:
        (budget,) = deployment_of({"B": self.budget()}).budgets
        assert (budget.amount, budget.unit, budget.time_unit, budget.notifications) == (5000.5, "USD", "MONTHLY", ())

    def test_have_their_notices(self, deployment_of: Any) -> None:
        notice = {
            "Notification": {
                "NotificationType": "FORECASTED",
                "Threshold": 100,
                "ComparisonOperator": "LESS_THAN",
                "ThresholdType": "ABSOLUTE_VALUE",
            },
            "Subscribers": [
                {"SubscriptionType": "SNS", "Address": {"Ref": "T"}},
                {"SubscriptionType": "EMAIL", "Address": UNDECIDABLE},
            ],
        }
        read = deployment_of({"T": TOPIC, "B": self.budget(NotificationsWithSubscribers=[notice])}, **SECTIONS)
        subscribers = (
            Subscriber(kind="SNS", address="app.json/T"),
            Subscriber(kind="EMAIL", address=UNKNOWN, written=UNKNOWN),
        )
        assert read.budgets[0].notifications == (
            Notification(
                kind="FORECASTED",
                threshold=100,
                subscribers=subscribers,
                comparison="LESS_THAN",
                unit="ABSOLUTE_VALUE",
            ),
        )

    def test_have_their_type(self, deployment_of: Any) -> None:
        usage = {"TimeUnit": "MONTHLY", "BudgetType": "USAGE", "BudgetLimit": {"Amount": 100, "Unit": "Hrs"}}
        (budget,) = deployment_of({"B": self.budget(Budget=usage)}).budgets
        assert (budget.kind, budget.unit) == ("USAGE", "Hrs")

    def test_with_a_wrong_unit_of_time_are_reported(self, deployment_of: Any) -> None:
        read = deployment_of({"B": self.budget(Budget={"TimeUnit": "WEEKLY", "BudgetType": "COST"})})
        assert read.budgets[0].time_unit is UNKNOWN
        assert refused(read) == ["Budget.TimeUnit is 'WEEKLY'; use DAILY or MONTHLY or QUARTERLY or ANNUALLY or CUSTOM"]


class TestTopics:
    @pytest.mark.parametrize(
        ("principal", "publishers"),
        [
            (BUDGETS, ("budgets.amazonaws.com",)),
            ({"AWS": "111122223333"}, ()),
            ({"AWS": "*"}, (UNKNOWN,)),
            ("*", (UNKNOWN,)),
            (UNDECIDABLE, (UNKNOWN,)),
        ],
    )
    def test_have_the_services_that_may_publish(self, deployment_of: Any, principal: object, publishers: Any) -> None:
        read = deployment_of({"T": TOPIC, "P": policy(principal)}, **SECTIONS)
        assert read.topics[0].publishers == publishers

    def test_may_have_no_policy_at_all(self, deployment_of: Any) -> None:
        assert deployment_of({"T": TOPIC}).topics[0].has_policy is False

    def test_that_an_unread_nested_stack_gets_are_incomplete(self, deployment_of: Any) -> None:
        parameters = {"TemplateURL": "https://s3.amazonaws.com/org/policy.yaml", "Parameters": {"T": {"Ref": "T"}}}
        nested = {"Type": "AWS::CloudFormation::Stack", "Properties": parameters}
        read = deployment_of({"T": TOPIC, "Other": TOPIC, "N": nested})
        assert [topic.complete for topic in read.topics] == [False, True]

    def test_may_have_an_inline_policy(self, deployment_of: Any) -> None:
        inline = policy(BUDGETS, TopicArn={"Ref": "T"}) | {"Type": "AWS::SNS::TopicInlinePolicy"}
        assert deployment_of({"T": TOPIC, "P": inline}).topics[0].publishers == ("budgets.amazonaws.com",)

    @pytest.mark.parametrize(
        "undecided", [policy(BUDGETS) | {"Condition": "Maybe"}, policy(BUDGETS, Topics=[UNDECIDABLE])]
    )
    def test_with_a_policy_that_may_not_be_theirs_are_incomplete(self, deployment_of: Any, undecided: Any) -> None:
        read = deployment_of({"T": TOPIC, "P": undecided}, **SECTIONS)
        assert read.topics == (Topic(path="app.json/T", complete=False),)

    def test_count_subscriptions_inside_and_outside(self, deployment_of: Any) -> None:
        inside = [{"Protocol": "email", "Endpoint": "a@example.com"}]
        outside = {"Type": "AWS::SNS::Subscription", "Properties": {"TopicArn": {"Ref": "T"}, "Protocol": "email"}}
        topic = {**TOPIC, "Properties": {"Subscription": inside}}
        assert deployment_of({"T": topic, "S": outside}).topics[0].subscriptions == 2

    @pytest.mark.parametrize(
        ("key", "found"),
        [("alias/aws/sns", "alias/aws/sns"), ({"Fn::GetAtt": ["K", "Arn"]}, "app.json/K"), (UNDECIDABLE, UNKNOWN)],
    )
    def test_have_their_key(self, deployment_of: Any, key: object, found: object) -> None:
        topic = {**TOPIC, "Properties": {"KmsMasterKeyId": key}}
        assert deployment_of({"T": topic, "K": {"Type": "AWS::KMS::Key"}}, **SECTIONS).topics[0].key == found

    @pytest.mark.parametrize(
        ("condition", "grant"),
        [
            ({"StringEquals": {"aws:SourceAccount": "111122223333"}}, {"accounts": ("111122223333",)}),
            ({"ArnLike": {"AWS:SourceArn": ["a", "b"]}}, {"arns": ("a", "b")}),
            ({"StringEqualsIfExists": {"aws:SourceArn": "arn:aws:budgets::1:*"}}, {"exact": True}),
            ({"StringEquals": {"aws:SourceArn": UNDECIDABLE}}, {"arns": ("*",)}),
            ({"StringNotEquals": {"aws:SourceAccount": "111122223333"}}, {}),
            ({"Bool": {"aws:SecureTransport": "true"}}, {}),
            (UNDECIDABLE, {}),
        ],
    )
    def test_have_the_conditions_under_which(self, deployment_of: Any, condition: Any, grant: dict[str, Any]) -> None:
        allowed = policy(BUDGETS)
        allowed["Properties"]["PolicyDocument"]["Statement"]["Condition"] = condition
        (found,) = deployment_of({"T": TOPIC, "P": allowed}, **SECTIONS).topics[0].grants
        expected = {"service": "budgets.amazonaws.com", "exact": False, **grant}
        assert {name: getattr(found, name) for name in expected} == expected

    @pytest.mark.parametrize("key", [{"Ref": "K"}, {"Fn::GetAtt": ["K", "Arn"]}, {"Ref": "A"}, "alias/topics"])
    def test_have_the_services_that_their_key_admits(self, deployment_of: Any, key: object) -> None:
        statement = {"Effect": "Allow", "Principal": BUDGETS, "Action": "kms:GenerateDataKey*", "Resource": "*"}
        resources = {
            "T": {**TOPIC, "Properties": {"KmsMasterKeyId": key}},
            "K": {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {"Statement": [statement]}}},
            "A": {"Type": "AWS::KMS::Alias", "Properties": {"AliasName": "alias/topics", "TargetKeyId": {"Ref": "K"}}},
        }
        assert deployment_of(resources).topics[0].key_users == ("budgets.amazonaws.com",)

    @pytest.mark.parametrize("key", ["alias/other", UNDECIDABLE, None])
    def test_may_have_a_key_that_nobody_sees(self, deployment_of: Any, key: object) -> None:
        topic = {**TOPIC, "Properties": {"KmsMasterKeyId": key} if key else {}}
        assert deployment_of({"T": topic}, **SECTIONS).topics[0].key_users is None


class TestBudgetActions:
    def action(self, **properties: Any) -> dict[str, Any]:
        return {
            "Type": "AWS::Budgets::BudgetsAction",
            "Properties": {
                "ActionType": "APPLY_IAM_POLICY",
                "Definition": {"IamActionDefinition": {"PolicyArn": "arn"}},
                "ExecutionRoleArn": "role",
                "NotificationType": "ACTUAL",
                "ActionThreshold": {"Type": "PERCENTAGE", "Value": 100},
                "Subscribers": [{"Type": "EMAIL", "Address": "a@example.com"}],
                **properties,
            },
        }

    def test_are_read(self, deployment_of: Any) -> None:
        (action,) = deployment_of({"A": self.action()}).budget_actions
        assert action == BudgetAction(
            path="app.json/A",
            kind="APPLY_IAM_POLICY",
            definitions=("IamActionDefinition",),
            role="role",
            subscribers=(Subscriber(kind="EMAIL", address="a@example.com", written="a@example.com"),),
        )

    def test_may_be_decided_at_deploy(self, deployment_of: Any) -> None:
        action = self.action(ActionType=UNDECIDABLE, Definition=UNDECIDABLE)
        (read,) = deployment_of({"A": action}, **SECTIONS).budget_actions
        assert (read.kind, read.definitions) == (UNKNOWN, UNKNOWN)

    @pytest.mark.parametrize(
        ("properties", "said"),
        [
            ({"NotificationType": "LATE"}, "NotificationType is 'LATE'; use ACTUAL or FORECASTED"),
            ({"ApprovalModel": "AUTO"}, "ApprovalModel is 'AUTO'; use AUTOMATIC or MANUAL"),
            (
                {"ActionThreshold": {"Type": "USD"}},
                "ActionThreshold.Type is 'USD'; use PERCENTAGE or ABSOLUTE_VALUE",
            ),
            (
                {"Definition": {"SsmActionDefinition": {"Subtype": "STOP_HYPERPOD"}}},
                (
                    "Definition.SsmActionDefinition.Subtype is 'STOP_HYPERPOD'; "
                    "use STOP_EC2_INSTANCES or STOP_RDS_INSTANCES"
                ),
            ),
        ],
    )
    def test_with_a_wrong_word_are_reported(self, deployment_of: Any, properties: Any, said: str) -> None:
        assert refused(deployment_of({"A": self.action(**properties)})) == [said]

    def test_with_a_wrong_type_are_reported(self, deployment_of: Any) -> None:
        read = deployment_of({"A": self.action(ActionType="STOP")})
        assert refused(read) == ["ActionType is 'STOP'; use APPLY_IAM_POLICY or APPLY_SCP_POLICY or RUN_SSM_DOCUMENTS"]


class TestAnomalies:
    def test_monitors_are_read(self, deployment_of: Any) -> None:
        monitor = {
            "Type": "AWS::CE::AnomalyMonitor",
            "Properties": {"MonitorName": "m", "MonitorType": "DIMENSIONAL", "MonitorDimension": "SERVICE"},
        }
        assert deployment_of({"M": monitor}).anomaly_monitors == (
            AnomalyMonitor(path="app.json/M", kind="DIMENSIONAL", dimension="SERVICE"),
        )

    def test_subscriptions_are_read(self, deployment_of: Any) -> None:
        subscription = {
            "Type": "AWS::CE::AnomalySubscription",
            "Properties": {
                "SubscriptionName": "s",
                "MonitorArnList": [],
                "Frequency": "IMMEDIATE",
                "Subscribers": [{"Type": "SNS", "Address": {"Ref": "T"}}],
                "ThresholdExpression": UNDECIDABLE,
                "Threshold": 5,
            },
        }
        (read,) = deployment_of({"T": TOPIC, "S": subscription}, **SECTIONS).anomaly_subscriptions
        assert read == AnomalySubscription(
            path="app.json/S",
            frequency="IMMEDIATE",
            subscribers=(Subscriber(kind="SNS", address="app.json/T"),),
            threshold=True,
            expression=UNKNOWN,
        )
