"""The budget of a blueprint: its limit, and a stack of its own in a Region that has the type.

A budget that is refused must never roll back a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import aws_cdk as cdk
from constructs import Construct

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.cdk._cluster_model import types_of
from hyperpod_constructs.cdk.budget import ClusterBudget
from hyperpod_constructs.cdk.observability import AlertTopic
from hyperpod_constructs.cdk.validation import as_rules_see_it
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.budget import Budget
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.planning import cost
from hyperpod_constructs.tokens import UNKNOWN, is_placeholder

_ELSEWHERE: Final = "us-east-1"
"""Where the budget goes if the cluster's Region lacks the resource type; budgets are global."""


def monthly_limit(budget: Budget | None, seen: Deployment) -> int:
    """The limit in USD that the user gave, else 730 hours of what is metered.

    Raises:
        InvalidValue: if something that costs money has no known price: a limit without it would be a false alarm. A
            type that the CDK has yet to look up is priced when it is known.
    """
    if budget and budget.usd_per_month:
        return budget.usd_per_month
    # Volumes cost little beside nodes and have no price in our tables; what exists already is in the bill already.
    existing = {each.path for each in seen.file_systems if each.lustre.deployment_type is UNKNOWN}
    known = as_rules_see_it(seen)
    not_priced = [
        each for each in cost.hourly(known).not_priced if each.path not in existing and each.item != cost.VOLUMES
    ]
    if any(each.why == cost.NO_REGION for each in not_priced):
        raise InvalidValue(
            "the Region is not known, so nothing has a price and the budget cannot be derived",
            "give env=cdk.Environment(account=..., region=...) or budget=hp.Budget(usd_per_month=...)",
        )
    to_look_up = any(is_placeholder(name) for _, group, _ in seen.groups() for name in types_of(group))
    if not_priced and not to_look_up:
        unknown = sorted({each.item for each in not_priced})
        raise InvalidValue(
            f"no price is known for {', '.join(unknown)}, so the budget cannot be derived",
            "give budget=hp.Budget(usd_per_month=...)",
        )
    return cost.monthly_limit(known)


class BudgetStack(cdk.Stack):
    """The budget with a topic of its own."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        account: str | None,
        region: str | None,
        emails: Sequence[str],
        budget: Budget,
    ) -> None:
        """Makes the stack.

        Args:
            scope: Parent construct.
            id: Name within the parent.
            account: Account of the cluster; `None` where it is decided at deploy.
            region: Region of the cluster; `None` where it is decided at deploy.
            emails: Who is told.
            budget: Limit and notices.
        """
        if region and regions.has_type(region, "AWS::Budgets::Budget") is False:
            region = _ELSEWHERE
        super().__init__(
            scope,
            id,
            env=cdk.Environment(account=account, region=region),
            description="Cost budget of an account that runs HyperPod",
        )
        topic = AlertTopic(self, "Notices", emails=emails, publishers=["budgets.amazonaws.com"])
        made = ClusterBudget(self, "Budget", budget=budget, topic_arn=topic.topic_arn)
        made.resource.add_resource_dependency(topic.policy)
