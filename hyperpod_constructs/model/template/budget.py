"""Budgets, and the topics that carry their notices."""

from __future__ import annotations

from collections import Counter
from typing import Final

from hyperpod_constructs.model._reading import Fields, Node, every, one_of, optional, required
from hyperpod_constructs.model.budget import BudgetResource, Notification, Subscriber, Topic
from hyperpod_constructs.model.template.policies import allowing
from hyperpod_constructs.model.template.resources import Found, Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown


def budgets(resources: Resources, region: str | None) -> tuple[BudgetResource, ...]:
    """The budgets of an assembly.

    Args:
        resources: Where to find them.
        region: Region of stacks that do not fix theirs.
    """
    return tuple(
        found.properties.build(BudgetResource, _BUDGET, path=found.path, region=found.resource.stack.region or region)
        for found in resources.of("AWS::Budgets::Budget")
    )


def topics(resources: Resources) -> tuple[Topic, ...]:
    """The topics of an assembly with what their policies and subscriptions say."""
    found = list(resources.of("AWS::SNS::Topic"))
    publishers: dict[str, dict[str | Unknown, None]] = {topic.path: {} for topic in found}
    incomplete = {topic.path for topic in found if not topic.unchanged}
    with_policy: set[str | Unknown] = set()
    for policy in resources.of("AWS::SNS::TopicPolicy", "AWS::SNS::TopicInlinePolicy"):
        for target in _targets(policy):
            with_policy.add(target)
            for path in list(publishers) if target is UNKNOWN else [target]:
                if target is UNKNOWN or not policy.certain:
                    incomplete.add(path)
                elif path in publishers:
                    publishers[path].update(dict.fromkeys(_publishers(policy)))
    subscribed = Counter(item.properties["TopicArn"].path() for item in resources.of("AWS::SNS::Subscription"))
    return tuple(
        Topic(
            path=topic.path,
            publishers=tuple(publishers[topic.path]),
            subscriptions=_inline(topic) + subscribed[topic.path] + subscribed[UNKNOWN],
            key=topic.properties["KmsMasterKeyId"].path(),
            has_policy=not with_policy.isdisjoint({topic.path, UNKNOWN}),
            complete=topic.path not in incomplete,
        )
        for topic in found
    )


def _subscriber(node: Node) -> Subscriber:
    return node.build(Subscriber, _SUBSCRIBER)


def _notification(node: Node) -> Notification:
    return node.build(Notification, _NOTIFICATION)


def _targets(policy: Found) -> tuple[str | Unknown, ...]:
    """Paths of the topics that a policy is for; `UNKNOWN` for those that cannot be told."""
    if policy.resource.type == "AWS::SNS::TopicInlinePolicy":
        return (policy.properties["TopicArn"].must(Node.path),)
    found = policy.properties["Topics"].required().each(Node.path)
    return (UNKNOWN,) if found is UNKNOWN else found


def _publishers(policy: Found) -> list[str | Unknown]:
    allowed = allowing(policy.properties["PolicyDocument"].required(), "sns:Publish")
    return [service for _, services in allowed for service in services]


def _inline(topic: Found) -> int:
    """Subscriptions among the topic's own properties; a list that cannot be read counts as one."""
    found = topic.properties["Subscription"].items()
    return 1 if found is UNKNOWN else len(found)


_SUBSCRIBER: Final[Fields] = {
    "kind": ("SubscriptionType", required(one_of("SNS", "EMAIL"))),
    "address": ("Address", required(Node.path)),
}
_NOTIFICATION: Final[Fields] = {
    "kind": ("Notification.NotificationType", required(one_of("ACTUAL", "FORECASTED"))),
    "threshold": ("Notification.Threshold", required(Node.number)),
    "subscribers": ("Subscribers", every(optional(_subscriber))),
}
_BUDGET: Final[Fields] = {
    "name": ("Budget.BudgetName", Node.text),
    "kind": ("Budget.BudgetType", required(Node.text)),
    "time_unit": (
        "Budget.TimeUnit",
        required(one_of("DAILY", "MONTHLY", "QUARTERLY", "ANNUALLY", "CUSTOM")),
    ),
    "amount": ("Budget.BudgetLimit.Amount", Node.number),
    "unit": ("Budget.BudgetLimit.Unit", Node.text),
    "notifications": ("NotificationsWithSubscribers", every(optional(_notification))),
}
