"""Whether anybody is told: topics that EventBridge cannot reach, and budgets that say nothing or the same twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.budget import Topic
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules.budget import AWS_KEY
from hyperpod_constructs.tokens import UNKNOWN

PUBLISHER: Final = "events.amazonaws.com"


def _sent_to(deployment: Deployment) -> Iterator[tuple[Topic, str]]:
    """Topics of the deployment that rules of EventBridge send to, each once, with the first rule that does."""
    found: dict[str, tuple[Topic, str]] = {}
    for each in deployment.event_rules:
        for target in each.targets if isinstance(each.targets, tuple) else ():
            topic = deployment.topic(target)
            if topic is not None:
                found.setdefault(topic.path, (topic, each.path))
    yield from found.values()


@rule(
    "HP0040",
    Severity.WARNING,
    title="The topic of an event rule does not let EventBridge publish",
    because="EventBridge then drops the notices without a word",
    source="EventBridge user guide, eb-use-resource-based and eb-troubleshooting (Amazon SNS)",
)
def topics_let_events_publish(deployment: Deployment) -> Iterator[Problem]:
    for topic, sender in _sent_to(deployment):
        allowed = topic.publishers
        if isinstance(topic.key, str) and topic.key.endswith(AWS_KEY):
            yield Problem(
                path=topic.path,
                message=f"this topic is encrypted with {AWS_KEY}, whose policy does not admit EventBridge, and "
                f"{sender} sends to it",
                fix=f"use a customer key whose policy admits {PUBLISHER}, or no key",
            )
        elif topic.complete and not {PUBLISHER, "*", UNKNOWN} & set(allowed):
            got = f"only {', '.join(map(str, allowed))}" if allowed else "no service"
            said = f"the policy of this topic lets {got} publish" if topic.has_policy else "this topic has no policy"
            yield Problem(
                path=topic.path,
                message=f"{said}, and {sender} sends to it",
                fix=f"allow sns:Publish to {PUBLISHER} in an AWS::SNS::TopicPolicy "
                f'(hp.AlertTopic(publishers=["{PUBLISHER}"]), or topic.grant_publish(iam.ServicePrincipal(...)))',
            )


@rule(
    "HP0041",
    Severity.WARNING,
    title="A budget has no notice",
    because="nobody is told when it is used up: somebody has to look at it",
    source="AWS::Budgets::Budget schema, NotificationsWithSubscribers (2026-10-20)",
)
def budgets_have_notices(deployment: Deployment) -> Iterator[Problem]:
    # An action is notice enough, and says by name which budget it is for.
    for budget in deployment.budgets if not deployment.budget_actions else ():
        if budget.notifications == ():
            yield Problem(
                path=budget.path,
                message="0 notices",
                fix="add NotificationsWithSubscribers, such as ACTUAL at 80 and FORECASTED at 100 percent",
            )


@rule(
    "HP0042",
    Severity.WARNING,
    title="A budget has one notice twice",
    because="the second one is refused or says the same again, which no page settles; mostly another was meant",
    source="Budgets API, Notification (botocore 1.44.8): not tried against AWS",
)
def notices_differ(deployment: Deployment) -> Iterator[Problem]:
    for budget in deployment.budgets:
        notices = budget.notifications if isinstance(budget.notifications, tuple) else ()
        marks = [(each.kind, each.comparison, each.threshold, each.unit) for each in notices]
        for mark, count in Counter(mark for mark in marks if UNKNOWN not in mark).items():
            if count > 1:
                kind, comparison, threshold, _ = mark
                how = f"{kind} {comparison}" if comparison else str(kind)
                yield Problem(
                    path=budget.path,
                    message=f"{count} notices are {how} {threshold:g}",
                    fix="keep one, with the subscribers of both, or use another Threshold",
                )
