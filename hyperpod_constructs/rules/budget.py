"""Whether the notices of a budget can be made, and whether they reach anyone."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.catalog import limits, regions
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.budget import BudgetResource, Notification, Subscriber, Topic
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.tokens import UNKNOWN

PUBLISHER = "budgets.amazonaws.com"
AWS_KEY = "alias/aws/sns"
BUDGET_TYPE = "AWS::Budgets::Budget"

_BEST_PRACTICES = "Cost Management user guide, budgets-best-practices (October 2026)"
_TOPIC_POLICY = "Cost Management user guide, budgets-sns-policy (October 2026)"


def _notifications(deployment: Deployment) -> Iterator[tuple[BudgetResource, Notification]]:
    for budget in deployment.budgets:
        for notification in budget.notifications if isinstance(budget.notifications, tuple) else ():
            yield budget, notification


def _subscribers(notification: Notification) -> tuple[Subscriber, ...]:
    return notification.subscribers if isinstance(notification.subscribers, tuple) else ()


def _topics(deployment: Deployment) -> Iterator[Topic]:
    """Topics of the deployment that a budget sends to, each once."""
    found: dict[str, Topic] = {}
    for _, notification in _notifications(deployment):
        for subscriber in _subscribers(notification):
            topic = deployment.topic(subscriber.address) if subscriber.kind == "SNS" else None
            if topic:
                found.setdefault(topic.path, topic)
    yield from found.values()


def _worded(notification: Notification) -> str:
    """How a message calls a notice: its kind and threshold as far as known."""
    kind = f"{notification.kind} notice" if isinstance(notification.kind, str) else "notice"
    return kind if notification.threshold is UNKNOWN else f"{kind} at {notification.threshold:g}"


@rule(
    "HP0001",
    Severity.WARNING,
    title="A budget has more than 5 notices",
    because="AWS's texts differ: CreateBudget says 5, Notification and the shape of the list say 10",
    source="Budgets API, CreateBudget and Notification (botocore 1.44.8)",
)
def budgets_have_few_notices(deployment: Deployment) -> Iterator[Problem]:
    for budget in deployment.budgets:
        count = len(budget.notifications) if isinstance(budget.notifications, tuple) else 0
        if count > limits.BUDGET_NOTIFICATIONS.high:
            yield Problem(
                path=budget.path,
                message=f"{count} notices",
                fix=f"use at most {limits.BUDGET_NOTIFICATIONS.high}, or make a second budget",
            )


@rule(
    "HP0002",
    Severity.ERROR,
    title="A budget notice has too many subscribers",
    because="one notice goes to at most 10 e-mail addresses and 1 topic",
    source=_BEST_PRACTICES,
)
def notices_have_few_subscribers(deployment: Deployment) -> Iterator[Problem]:
    for budget, notification in _notifications(deployment):
        kinds = [subscriber.kind for subscriber in _subscribers(notification)]
        emails, topics = kinds.count("EMAIL"), kinds.count("SNS")
        if emails > limits.BUDGET_EMAILS.high:
            yield Problem(
                path=budget.path,
                message=f"{emails} e-mail addresses on the {_worded(notification)}",
                fix=f"use at most {limits.BUDGET_EMAILS.high}, or subscribe them to a topic",
            )
        if topics > limits.BUDGET_TOPICS.high:
            yield Problem(
                path=budget.path,
                message=f"{topics} topics on the {_worded(notification)}",
                fix="use one topic and subscribe the rest to it",
            )


@rule(
    "HP0003",
    Severity.ERROR,
    title="A budget notice has no subscriber",
    because="the schema wants at least one, and nobody would hear of it",
    source="AWS::Budgets::Budget schema, Subscribers (2026-10-20)",
)
def notices_have_a_subscriber(deployment: Deployment) -> Iterator[Problem]:
    for budget, notification in _notifications(deployment):
        if notification.subscribers == ():
            yield Problem(
                path=budget.path,
                message=f"nobody gets the {_worded(notification)}",
                fix="add 1 to 10 e-mail addresses or a topic",
            )


@rule(
    "HP0004",
    Severity.ERROR,
    title="The topic of a budget does not let Budgets publish",
    because="Budgets answers with Invalid SNS topic, or its notices never come",
    source=_TOPIC_POLICY,
)
def topics_let_budgets_publish(deployment: Deployment) -> Iterator[Problem]:
    for topic in _topics(deployment):
        allowed = topic.publishers
        if topic.complete and not {PUBLISHER, "*", UNKNOWN} & set(allowed):
            got = f"only {', '.join(map(str, allowed))}" if allowed else "no service"
            said = f"the policy of this topic lets {got} publish" if topic.has_policy else "this topic has no policy"
            yield Problem(
                path=topic.path,
                message=f"{said}, and a budget sends to it",
                fix=f"allow sns:Publish to {PUBLISHER} with aws:SourceAccount = the account and aws:SourceArn like "
                "arn:aws:budgets::ACCOUNT:*",
            )


@rule(
    "HP0005",
    Severity.ERROR,
    title="The topic of a budget is encrypted with the key of AWS",
    because="Budgets answers with The SNS topic is encrypted: the policy of that key admits no other service",
    source=_TOPIC_POLICY,
)
def topics_have_a_customer_key(deployment: Deployment) -> Iterator[Problem]:
    for topic in _topics(deployment):
        if isinstance(topic.key, str) and topic.key.endswith(AWS_KEY):
            yield Problem(
                path=topic.path,
                message=f"this topic is encrypted with {AWS_KEY}, and a budget sends to it",
                fix=f"use a customer key whose policy admits {PUBLISHER}, or no key",
            )


@rule(
    "HP0006",
    Severity.WARNING,
    title="The topic of a budget has no subscription",
    because="its notices reach nobody, unless somebody subscribed outside this deployment",
    source="superwerker/superwerker issue 425",
)
def topics_have_a_subscription(deployment: Deployment) -> Iterator[Problem]:
    for topic in _topics(deployment):
        if topic.subscriptions == 0:
            yield Problem(
                path=topic.path,
                message="0 subscriptions to this topic, and a budget sends to it",
                fix="subscribe an address or a chat channel to it",
            )


@rule(
    "HP0007",
    Severity.ERROR,
    title="The currency of a budget is not the account's",
    because="Budgets answers that the unit is not in the supported set, which is USD, and CNY in China",
    source="awslabs/landing-zone-accelerator-on-aws issue 682",
)
def limits_are_in_the_currency_of_the_account(deployment: Deployment) -> Iterator[Problem]:
    for budget in deployment.budgets:
        if budget.kind != "COST" or not isinstance(budget.unit, str) or budget.unit == "USD":
            continue
        in_china = isinstance(budget.region, str) and regions.partition(budget.region) == "aws-cn"
        if budget.unit != "CNY" or (isinstance(budget.region, str) and not in_china):
            yield Problem(
                path=budget.path, message=f"a limit in {budget.unit}", fix="use CNY or USD" if in_china else "use USD"
            )


@rule(
    "HP0008",
    Severity.WARNING,
    title="A daily budget has a notice on forecast cost",
    because="Budgets makes forecasts for months, quarters and years only",
    source="JiRaska/open-bank-oss pull 226; no page of AWS says it",
)
def daily_budgets_have_no_forecast(deployment: Deployment) -> Iterator[Problem]:
    for budget, notification in _notifications(deployment):
        if budget.time_unit == "DAILY" and notification.kind == "FORECASTED":
            yield Problem(
                path=budget.path,
                message=f"a DAILY budget has a {_worded(notification)}",
                fix="use MONTHLY, QUARTERLY or ANNUALLY, or an ACTUAL notice",
            )


@rule(
    "HP0009",
    Severity.WARNING,
    title="A budget has a fixed name",
    because="its notices are create-only: a new address or threshold replaces the budget, and the name is still taken",
    source="AWS::Budgets::Budget schema, createOnlyProperties (2026-10-20)",
)
def budgets_with_notices_have_no_fixed_name(deployment: Deployment) -> Iterator[Problem]:
    for budget in deployment.budgets:
        if isinstance(budget.name, str) and isinstance(budget.notifications, tuple) and budget.notifications:
            yield Problem(
                path=budget.path,
                message=f"the name {budget.name!r} is fixed, so that no notice of this budget can be changed",
                fix="leave BudgetName out",
            )


@rule(
    "HP0010",
    Severity.WARNING,
    title="The Region has no budgets in CloudFormation",
    because="there the whole stack is refused with Unrecognized resource types; the lists of Regions lag",
    source="cfn-lint 1.58.0, resource types by Region (2026-10-20); aws-cloudformation/cloudformation-coverage-roadmap "
    "issue 2177",
)
def budgets_are_in_a_region_that_has_them(deployment: Deployment) -> Iterator[Problem]:
    for budget in deployment.budgets:
        if isinstance(budget.region, str) and regions.has_type(budget.region, BUDGET_TYPE) is False:
            yield Problem(
                path=budget.path,
                message=f"{BUDGET_TYPE} is not listed for {budget.region}",
                fix="put the budget into a stack of its own in us-east-1: budgets are global",
            )
