"""Budgets, anomaly monitors, and the topics that carry their notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.cloudformation.values import Reference
from hyperpod_constructs.model._reading import Fields, Node, every, one_of, optional, required
from hyperpod_constructs.model.budget import (
    AnomalyMonitor,
    AnomalySubscription,
    BudgetAction,
    BudgetResource,
    Grant,
    Notification,
    Subscriber,
    Topic,
)
from hyperpod_constructs.model.template.policies import allowing
from hyperpod_constructs.model.template.resources import Found, Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_ANYTHING: Final = "*"
_ACCOUNT, _ARN = "aws:sourceaccount", "aws:sourcearn"
_EXACT: Final = "stringequals"
_COMPARISONS: Final = frozenset({_EXACT, "stringequalsignorecase", "stringlike", "arnlike", "arnequals"})
"""Operators that ask for a value; the others forbid one, or compare something else."""
_KEY_USES: Final = ("kms:Decrypt", "kms:GenerateDataKey")


def budgets(resources: Resources, region: str | None) -> tuple[BudgetResource, ...]:
    """The budgets of an assembly.

    Args:
        resources: Where to find them.
        region: Region of stacks that do not fix theirs.
    """
    return tuple(
        found.properties.build(
            BudgetResource,
            _BUDGET,
            path=found.path,
            account=found.resource.stack.account,
            region=found.resource.stack.region or region,
        )
        for found in resources.of("AWS::Budgets::Budget")
    )


def actions(resources: Resources, region: str | None) -> tuple[BudgetAction, ...]:
    """The budget actions of an assembly; `region` as for `budgets`."""
    made = list(resources.of("AWS::Budgets::BudgetsAction"))
    for found in made:
        _report_words(found.properties)
    return tuple(
        found.properties.build(
            BudgetAction,
            _ACTION,
            path=found.path,
            account=found.resource.stack.account,
            region=found.resource.stack.region or region,
        )
        for found in made
    )


def monitors(resources: Resources, region: str | None) -> tuple[AnomalyMonitor, ...]:
    """The cost anomaly monitors of an assembly; `region` as for `budgets`."""
    return tuple(
        found.properties.build(AnomalyMonitor, _MONITOR, path=found.path, region=found.resource.stack.region or region)
        for found in resources.of("AWS::CE::AnomalyMonitor")
    )


def subscriptions(resources: Resources, region: str | None) -> tuple[AnomalySubscription, ...]:
    """The subscriptions to cost anomalies of an assembly; `region` as for `budgets`."""
    return tuple(
        found.properties.build(
            AnomalySubscription, _SUBSCRIPTION, path=found.path, region=found.resource.stack.region or region
        )
        for found in resources.of("AWS::CE::AnomalySubscription")
    )


def topics(resources: Resources) -> tuple[Topic, ...]:
    """The topics of an assembly with what their policies, keys and subscriptions say."""
    found = list(resources.of("AWS::SNS::Topic"))
    grants: dict[str, dict[Grant, None]] = {topic.path: {} for topic in found}
    incomplete = {topic.path for topic in found if not topic.unchanged}
    with_policy: set[str | Unknown] = set()
    for policy in resources.of("AWS::SNS::TopicPolicy", "AWS::SNS::TopicInlinePolicy"):
        for target in _targets(policy):
            with_policy.add(target)
            for path in list(grants) if target is UNKNOWN else [target]:
                if target is UNKNOWN or not policy.certain:
                    incomplete.add(path)
                elif path in grants:
                    grants[path].update(dict.fromkeys(_grants(policy)))
    subscribed = Counter(item.properties["TopicArn"].path() for item in resources.of("AWS::SNS::Subscription"))
    keys = _key_users(resources)
    return tuple(
        Topic(
            path=topic.path,
            grants=tuple(grants[topic.path]),
            subscriptions=_inline(topic) + subscribed[topic.path] + subscribed[UNKNOWN],
            key=(key := topic.properties["KmsMasterKeyId"].path()),
            key_users=keys.get(key) if isinstance(key, str) else None,
            has_policy=not with_policy.isdisjoint({topic.path, UNKNOWN}),
            complete=topic.path not in incomplete,
            account=topic.resource.stack.account,
        )
        for topic in found
    )


def _report_words(action: Node) -> None:
    """Reports what can never be right in properties of an action of which nothing but the form matters."""
    action["NotificationType"].must(lambda node: node.one_of("ACTUAL", "FORECASTED"))
    action["ApprovalModel"].one_of("AUTOMATIC", "MANUAL")
    action.at("ActionThreshold.Type").must(lambda node: node.one_of("PERCENTAGE", "ABSOLUTE_VALUE"))
    action.at("Definition.SsmActionDefinition.Subtype").one_of("STOP_EC2_INSTANCES", "STOP_RDS_INSTANCES")


def _key_users(resources: Resources) -> dict[str, tuple[str | Unknown, ...]]:
    """Services that the policies of keys admit, by path of the key, and by path and name of its aliases."""
    users: dict[str, tuple[str | Unknown, ...]] = {}
    for key in resources.of("AWS::KMS::Key"):
        document = key.properties["KeyPolicy"]
        admitted = (service for use in _KEY_USES for _, whom in allowing(document, use) for service in whom)
        users[key.path] = (*dict.fromkeys(admitted), *(() if key.unchanged else (UNKNOWN,)))
    for alias in resources.of("AWS::KMS::Alias"):
        target, name = alias.properties["TargetKeyId"].path(), alias.properties["AliasName"].text()
        if isinstance(target, str) and target in users:
            users |= dict.fromkeys((each for each in (alias.path, name) if isinstance(each, str)), users[target])
    return users


def _subscriber(node: Node) -> Subscriber:
    return node.build(Subscriber, _SUBSCRIBER)


def _action_subscriber(node: Node) -> Subscriber:
    """Actions and anomalies say Type where notices say SubscriptionType."""
    return node.build(Subscriber, {**_SUBSCRIBER, "kind": ("Type", required(one_of("SNS", "EMAIL")))})


def _notification(node: Node) -> Notification:
    return node.build(Notification, _NOTIFICATION)


def _written(node: Node) -> str | Unknown | None:
    """An address as text; `None` for that of a resource, whose name is not a matter of form."""
    return None if isinstance(node.value, Reference) else node.pattern()


def _given(node: Node) -> bool | Unknown:
    """Whether a property is there."""
    return UNKNOWN if node.value is UNKNOWN else node.given


def _amount(node: Node) -> float | Unknown | None:
    """The amount of a limit, which one that is there must have."""
    return node.optional(lambda limit: limit["Amount"].must(Node.number))


def _definitions(node: Node) -> tuple[str, ...] | Unknown:
    """The kinds of a definition that are there."""
    found = {name: _given(node[name]) for name in ("IamActionDefinition", "ScpActionDefinition", "SsmActionDefinition")}
    return UNKNOWN if UNKNOWN in found.values() else tuple(name for name, given in found.items() if given)


def _targets(policy: Found) -> tuple[str | Unknown, ...]:
    """Paths of the topics that a policy is for; `UNKNOWN` for those that cannot be told."""
    if policy.resource.type == "AWS::SNS::TopicInlinePolicy":
        return (policy.properties["TopicArn"].must(Node.path),)
    found = policy.properties["Topics"].required().each(Node.path)
    return (UNKNOWN,) if found is UNKNOWN else found


def _grants(policy: Found) -> Iterator[Grant]:
    for statement, services in allowing(policy.properties["PolicyDocument"].required(), "sns:Publish"):
        asked = list(_asked(statement["Condition"]))
        arns = [(operator, pattern) for operator, key, pattern in asked if key == _ARN]
        for service in services:
            yield Grant(
                service=service,
                accounts=tuple(pattern for _, key, pattern in asked if key == _ACCOUNT),
                arns=tuple(pattern for _, pattern in arns),
                exact=bool(arns) and all(operator == _EXACT for operator, _ in arns),
            )


def _asked(condition: Node) -> Iterator[tuple[str, str, str]]:
    """Operator, key and pattern of each value that a condition asks for; what is not known fits everything."""
    operators = condition.mapping()
    for operator in operators if isinstance(operators, dict) else ():
        comparison = operator.lower().removesuffix("ifexists").rpartition(":")[2]
        keys = condition[operator].mapping() if comparison in _COMPARISONS else None
        for key in keys if isinstance(keys, dict) else ():
            found = condition[operator][key].one_or_more()
            for value in (condition[operator][key],) if found is UNKNOWN else found:
                pattern = value.pattern()
                if isinstance(pattern, str) and not (comparison == _EXACT and value.undecided):
                    yield comparison, key.lower(), pattern
                else:
                    yield "", key.lower(), _ANYTHING


def _inline(topic: Found) -> int:
    """Subscriptions among the topic's own properties; a list that cannot be read counts as one."""
    found = topic.properties["Subscription"].items()
    return 1 if found is UNKNOWN else len(found)


_SUBSCRIBER: Final[Fields] = {
    "kind": ("SubscriptionType", required(one_of("SNS", "EMAIL"))),
    "address": ("Address", required(Node.path)),
    "written": ("Address", _written),
}
_NOTIFICATION: Final[Fields] = {
    "kind": ("Notification.NotificationType", required(one_of("ACTUAL", "FORECASTED"))),
    "threshold": ("Notification.Threshold", required(Node.number)),
    "comparison": ("Notification.ComparisonOperator", Node.text),
    "unit": ("Notification.ThresholdType", Node.text),
    "subscribers": ("Subscribers", every(optional(_subscriber))),
}
_BUDGET: Final[Fields] = {
    "name": ("Budget.BudgetName", Node.text),
    "kind": (
        "Budget.BudgetType",
        required(
            one_of(
                "COST",
                "USAGE",
                "RI_UTILIZATION",
                "RI_COVERAGE",
                "SAVINGS_PLANS_UTILIZATION",
                "SAVINGS_PLANS_COVERAGE",
            )
        ),
    ),
    "time_unit": (
        "Budget.TimeUnit",
        required(one_of("DAILY", "MONTHLY", "QUARTERLY", "ANNUALLY", "CUSTOM")),
    ),
    "amount": ("Budget.BudgetLimit", _amount),
    "unit": ("Budget.BudgetLimit.Unit", Node.text),
    "planned": ("Budget.PlannedBudgetLimits", _given),
    "adjusted": ("Budget.AutoAdjustData", _given),
    "filters": ("Budget.CostFilters", _given),
    "expression": ("Budget.FilterExpression", _given),
    "notifications": ("NotificationsWithSubscribers", every(optional(_notification))),
}
_ACTION: Final[Fields] = {
    "kind": ("ActionType", required(one_of("APPLY_IAM_POLICY", "APPLY_SCP_POLICY", "RUN_SSM_DOCUMENTS"))),
    "definitions": ("Definition", required(_definitions)),
    "role": ("ExecutionRoleArn", required(Node.path)),
    "subscribers": ("Subscribers", every(optional(_action_subscriber))),
}
_MONITOR: Final[Fields] = {
    "kind": ("MonitorType", required(one_of("DIMENSIONAL", "CUSTOM"))),
    "dimension": ("MonitorDimension", one_of("SERVICE", "LINKED_ACCOUNT", "TAG", "COST_CATEGORY")),
    "specification": ("MonitorSpecification", _given),
}
_SUBSCRIPTION: Final[Fields] = {
    "frequency": ("Frequency", required(one_of("DAILY", "IMMEDIATE", "WEEKLY"))),
    "subscribers": ("Subscribers", every(optional(_action_subscriber))),
    "threshold": ("Threshold", _given),
    "expression": ("ThresholdExpression", _given),
}
