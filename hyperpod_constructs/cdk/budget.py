"""A cost budget of the account.

What a budget cannot do: its data lags by about a day, and no budget action can stop a HyperPod node, because nodes are
not instances of the account. It tells, it does not stop.
"""

from __future__ import annotations

from aws_cdk import aws_budgets as budgets
from constructs import Construct

from hyperpod_constructs.cdk._arguments import check_topic, checked
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.budget import Budget


class ClusterBudget(Construct):
    """A monthly cost budget whose notices go to a topic.

    It has no fixed name: its notices can only be changed by replacing it, and a name would then be in use. By default
    it covers the whole account: a filter that is too narrow reads 0 for ever and looks healthy.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        budget: Notices and limit, which must be given here.
        topic_arn: Topic of this account that lets `budgets.amazonaws.com` publish.

    Raises:
        InvalidValue: if the budget has no limit.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, budget: Budget, topic_arn: str) -> None:
        """Makes the budget."""
        check_fields("budget: ", budget)
        check_topic("topic_arn", topic_arn)
        if budget.usd_per_month is None:
            raise InvalidValue("a budget needs its limit: hp.Budget(usd_per_month=...)")
        super().__init__(scope, id)
        kind = budgets.CfnBudget
        subscriber = kind.SubscriberProperty(address=topic_arn, subscription_type="SNS")
        thresholds = [("ACTUAL", percent) for percent in budget.actual_percent]
        if budget.forecast_percent is not None:
            thresholds.append(("FORECASTED", budget.forecast_percent))
        self.resource = budgets.CfnBudget(
            self,
            "Resource",
            budget=kind.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=kind.SpendProperty(amount=budget.usd_per_month, unit="USD"),
                cost_filters={"Service": list(budget.services)} if budget.services else None,
            ),
            notifications_with_subscribers=[
                kind.NotificationWithSubscribersProperty(
                    notification=kind.NotificationProperty(
                        notification_type=notification,
                        comparison_operator="GREATER_THAN",
                        threshold=percent,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=[subscriber],
                )
                for notification, percent in thresholds
            ],
        )
