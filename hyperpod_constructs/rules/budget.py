"""Whether a budget and its actions can be made, and whether anybody will hear of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from hyperpod_constructs.catalog import limits, regions
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.budget import BudgetAction, BudgetResource, Grant, Notification, Subscriber, Topic
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.tokens import UNKNOWN

PUBLISHER = "budgets.amazonaws.com"
AWS_KEY = "alias/aws/sns"
BUDGET_TYPE = "AWS::Budgets::Budget"
_ACTION_TYPE: Final = "AWS::Budgets::BudgetsAction"

_BEST_PRACTICES = "Cost Management user guide, budgets-best-practices (October 2026)"
_TOPIC_POLICY = "Cost Management user guide, budgets-sns-policy (October 2026)"
_API: Final = "Budgets API, Budget and Subscriber (botocore 1.44.8)"

_ACTION_SUBSCRIBERS: Final = limits.Limit(low=1, high=11, source="AWS::Budgets::BudgetsAction schema, Subscribers")
_TOPIC_ARN: Final = re.compile(r"arn:[a-z*-]+:sns:[a-z0-9*-]+:(?P<account>[0-9]{12}|[0-9]*\*[0-9*]*):.+")
_FIX_POLICY: Final = (
    f"allow sns:Publish to {PUBLISHER} with aws:SourceAccount = the account and aws:SourceArn like "
    "arn:aws:budgets::ACCOUNT:*"
)
_DEFINITION_OF: Final = {
    "APPLY_IAM_POLICY": "IamActionDefinition",
    "APPLY_SCP_POLICY": "ScpActionDefinition",
    "RUN_SSM_DOCUMENTS": "SsmActionDefinition",
}


def _notifications(deployment: Deployment) -> Iterator[tuple[BudgetResource, Notification]]:
    for budget in deployment.budgets:
        for notification in budget.notifications if isinstance(budget.notifications, tuple) else ():
            yield budget, notification


def _subscribers(notification: Notification) -> tuple[Subscriber, ...]:
    return notification.subscribers if isinstance(notification.subscribers, tuple) else ()


def _addressed(deployment: Deployment) -> Iterator[tuple[BudgetResource | BudgetAction, Subscriber]]:
    """Every subscriber of budgets and their actions."""
    for budget, notification in _notifications(deployment):
        for subscriber in _subscribers(notification):
            yield budget, subscriber
    for action in deployment.budget_actions:
        for subscriber in action.subscribers if isinstance(action.subscribers, tuple) else ():
            yield action, subscriber


def _topics(deployment: Deployment) -> dict[str, tuple[Topic, BudgetResource | BudgetAction]]:
    """Topics of the deployment that a budget or its action sends to, by path, each with the first that does."""
    found: dict[str, tuple[Topic, BudgetResource | BudgetAction]] = {}
    for sender, subscriber in _addressed(deployment):
        topic = deployment.topic(subscriber.address) if subscriber.kind == "SNS" else None
        if topic:
            found.setdefault(topic.path, (topic, sender))
    return found


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
    for topic, _ in _topics(deployment).values():
        allowed = topic.publishers
        if topic.complete and not {PUBLISHER, "*", UNKNOWN} & set(allowed):
            got = f"only {', '.join(map(str, allowed))}" if allowed else "no service"
            said = f"the policy of this topic lets {got} publish" if topic.has_policy else "this topic has no policy"
            yield Problem(
                path=topic.path,
                message=f"{said}, and a budget sends to it",
                fix=_FIX_POLICY,
            )


@rule(
    "HP0005",
    Severity.ERROR,
    title="The topic of a budget is encrypted with the key of AWS",
    because="Budgets answers with The SNS topic is encrypted: the policy of that key admits no other service",
    source=_TOPIC_POLICY,
)
def topics_have_a_customer_key(deployment: Deployment) -> Iterator[Problem]:
    for topic, _ in _topics(deployment).values():
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
    for topic, _ in _topics(deployment).values():
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
    made: tuple[BudgetResource | BudgetAction, ...] = (*deployment.budgets, *deployment.budget_actions)
    for each in made:
        name = BUDGET_TYPE if isinstance(each, BudgetResource) else _ACTION_TYPE
        if isinstance(each.region, str) and regions.has_type(each.region, name) is False:
            yield Problem(
                path=each.path,
                message=f"{name} is not listed for {each.region}",
                fix="put the budget into a stack of its own in us-east-1: budgets are global",
            )


def _limit_fault(budget: BudgetResource) -> tuple[str, str] | None:
    """What is wrong with how much a budget allows, and the change to make."""
    if budget.planned is True and budget.amount is not None and budget.amount is not UNKNOWN:
        return "BudgetLimit and PlannedBudgetLimits are both given", "give one of them"
    if budget.planned is True and budget.time_unit in {"DAILY", "ANNUALLY"}:
        return f"PlannedBudgetLimits of a {budget.time_unit} budget", "use MONTHLY or QUARTERLY, or BudgetLimit"
    if budget.amount is None and budget.planned is False and budget.adjusted is False:
        return (
            f"a budget of {budget.kind} has no limit",
            "give BudgetLimit, for example {Amount: 50000, Unit: USD}, PlannedBudgetLimits or AutoAdjustData",
        )
    return None


@rule(
    "HP0012",
    Severity.ERROR,
    title="A budget has no limit, or two kinds of them",
    because="budgets of COST and USAGE need BudgetLimit or PlannedBudgetLimits, and the two exclude each other",
    source=_API,
)
def budgets_have_one_limit(deployment: Deployment) -> Iterator[Problem]:
    for budget in deployment.budgets:
        fault = _limit_fault(budget) if budget.kind in {"COST", "USAGE"} else None
        if fault:
            yield Problem(path=budget.path, message=fault[0], fix=fault[1])


@rule(
    "HP0013",
    Severity.WARNING,
    title="A budget has CostFilters and a FilterExpression",
    because="they are the old and the new form of one thing and seem to exclude each other; no page of AWS says it",
    source="Budgets API, Budget (botocore 1.44.8); not tried",
)
def budgets_have_one_filter(deployment: Deployment) -> Iterator[Problem]:
    for budget in deployment.budgets:
        if budget.filters is True and budget.expression is True:
            yield Problem(
                path=budget.path,
                message="CostFilters and FilterExpression are both given",
                fix="say all of it in FilterExpression, with Metrics, and leave CostFilters out",
            )


def _source_fits(pattern: str, account: str | None) -> bool:
    """Whether the ARN of some budget of an account can match a pattern, as far as known."""
    parts = pattern.split(":", 5)
    if len(parts) <= 5:  # noqa: PLR2004  # an ARN has six parts; in fewer, `*` stands for several
        return True
    wanted = (("budgets", parts[2]), ("", parts[3]), *([(account, parts[4])] if account else []))
    return all(fnmatchcase(value, part) for value, part in wanted)


def _reaches(grant: Grant, account: str | None) -> bool:
    """Whether a statement lets Budgets publish for an account, as far as known."""
    if grant.accounts and account and not any(fnmatchcase(account, each) for each in grant.accounts):
        return False
    if grant.arns and grant.exact and all("*" in each for each in grant.arns):
        return False
    return not grant.arns or any(_source_fits(each, account) for each in grant.arns)


def _budget_grants(topic: Topic) -> tuple[Grant, ...]:
    """The statements for Budgets; none where others may let it publish, too."""
    if not topic.complete or UNKNOWN in topic.publishers or "*" in topic.publishers:
        return ()
    return tuple(grant for grant in topic.grants if grant.service == PUBLISHER)


@rule(
    "HP0015",
    Severity.ERROR,
    title="The policy of a budget's topic lets Budgets publish only for something else",
    because="Budgets publishes as arn:aws:budgets::ACCOUNT:..., without a Region; any other condition keeps it out",
    source=f"{_TOPIC_POLICY}; cds-snc/notification-terraform pull 2042",
)
def topic_policies_reach_the_budgets_of_the_account(deployment: Deployment) -> Iterator[Problem]:
    for topic, sender in _topics(deployment).values():
        grants = _budget_grants(topic)
        if grants and not any(_reaches(grant, sender.account) for grant in grants):
            asked = sorted({each for grant in grants for each in (*grant.accounts, *grant.arns)})
            exact = any(grant.exact for grant in grants)
            yield Problem(
                path=topic.path,
                message=f"the policy of this topic lets Budgets publish only for {', '.join(asked)}"
                f"{', compared letter by letter' if exact else ''}, and a budget sends to it",
                fix="use StringEquals aws:SourceAccount = the account of the budget and ArnLike aws:SourceArn = "
                "arn:aws:budgets::ACCOUNT:*",
            )


def _is_narrow(pattern: str) -> bool:
    """Whether an ARN pattern names some budgets of an account and not all."""
    resource = pattern.split(":", 5)[5:]
    return bool(resource) and resource[0] not in {"*", "budget/*"}


@rule(
    "HP0016",
    Severity.WARNING,
    title="The policy of a budget's topic names single budgets",
    because="AWS documents the source ARN only as far as the account; policies that say more have kept notices away",
    source=f"{_TOPIC_POLICY}; cds-snc/notification-terraform pull 2042",
)
def topic_policies_do_not_name_budgets(deployment: Deployment) -> Iterator[Problem]:
    for topic, sender in _topics(deployment).values():
        grants = [grant for grant in _budget_grants(topic) if _reaches(grant, sender.account)]
        if grants and all(grant.arns and all(map(_is_narrow, grant.arns)) for grant in grants):
            named = sorted({each for grant in grants for each in grant.arns})
            yield Problem(
                path=topic.path,
                message=f"the policy of this topic lets Budgets publish only for {', '.join(named)}",
                fix="end the ARN with the account: arn:aws:budgets::ACCOUNT:*",
            )


@rule(
    "HP0017",
    Severity.ERROR,
    title="The topic of a budget is in another account",
    because="Budgets publishes to topics of its own account only",
    source=_TOPIC_POLICY,
)
def topics_are_in_the_account_of_the_budget(deployment: Deployment) -> Iterator[Problem]:
    for sender, subscriber in _addressed(deployment):
        if subscriber.kind != "SNS" or not sender.account:
            continue
        topic = deployment.topic(subscriber.address)
        written = _TOPIC_ARN.fullmatch(subscriber.written) if isinstance(subscriber.written, str) else None
        account = topic.account if topic else written["account"] if written else None
        if account and not fnmatchcase(sender.account, account):
            yield Problem(
                path=sender.path,
                message=f"a topic of account {account} gets notices of a budget of account {sender.account}",
                fix=f"use a topic in {sender.account} and subscribe the other account to it",
            )


@rule(
    "HP0018",
    Severity.ERROR,
    title="The address of a budget's subscriber is none",
    because="Budgets answers with Please comply with SNS ARN format, and mail reaches nobody without an @",
    source=f"{_TOPIC_POLICY}; {_API}",
)
def addresses_have_their_form(deployment: Deployment) -> Iterator[Problem]:
    for sender, subscriber in _addressed(deployment):
        address = subscriber.written
        if not isinstance(address, str) or "*" in address:
            continue
        if subscriber.kind == "SNS" and not _TOPIC_ARN.fullmatch(address):
            fix = "use the ARN of a topic: arn:aws:sns:REGION:ACCOUNT:NAME"
        elif subscriber.kind == "EMAIL" and not re.fullmatch(r"[^@\s]+@[^@\s]+", address):
            fix = "use an e-mail address" if "arn:" not in address else "use SubscriptionType SNS for a topic"
        else:
            continue
        yield Problem(path=sender.path, message=f"the {subscriber.kind} subscriber is {address!r}", fix=fix)


@rule(
    "HP0019",
    Severity.WARNING,
    title="The key of a budget's topic does not admit Budgets",
    because="Budgets must be able to use the key of the topic; which actions that takes is not documented",
    source=f"{_TOPIC_POLICY}; the names of the actions are not verified",
)
def keys_admit_budgets(deployment: Deployment) -> Iterator[Problem]:
    for topic, _ in _topics(deployment).values():
        users = topic.key_users
        if users is not None and not {PUBLISHER, "*", UNKNOWN} & set(users):
            yield Problem(
                path=topic.path,
                message=f"the policy of the key of this topic admits {', '.join(map(str, users)) or 'no service'}, "
                "and a budget sends to the topic",
                fix=f"allow kms:Decrypt and kms:GenerateDataKey* to {PUBLISHER} in the policy of the key",
            )


@rule(
    "HP0020",
    Severity.ERROR,
    title="A budget action has too few or too many subscribers",
    because="the schema wants 1 to 11",
    source=f"{_ACTION_SUBSCRIBERS.source} (2026-10-20)",
)
def actions_have_subscribers(deployment: Deployment) -> Iterator[Problem]:
    for action in deployment.budget_actions:
        if isinstance(action.subscribers, tuple) and not _ACTION_SUBSCRIBERS.allows(len(action.subscribers)):
            yield Problem(
                path=action.path,
                message=f"{len(action.subscribers)} subscribers",
                fix=f"use {_ACTION_SUBSCRIBERS.low} to {_ACTION_SUBSCRIBERS.high}: a topic and up to 10 addresses",
            )


@rule(
    "HP0021",
    Severity.WARNING,
    title="The definition of a budget action is for another type of action",
    because="each ActionType has a definition of its own; the schema does not tie them together",
    source="Budgets API, Definition (botocore 1.44.8); not tried",
)
def actions_have_their_own_definition(deployment: Deployment) -> Iterator[Problem]:
    for action in deployment.budget_actions:
        wanted = _DEFINITION_OF.get(action.kind) if isinstance(action.kind, str) else None
        if wanted and isinstance(action.definitions, tuple) and action.definitions != (wanted,):
            yield Problem(
                path=action.path,
                message=f"{action.kind} has {' and '.join(action.definitions) or 'an empty definition'}",
                fix=f"give {wanted} and no other",
            )


@rule(
    "HP0022",
    Severity.WARNING,
    title="A budget action stops instances, and nodes of HyperPod are none",
    because="the documents stop EC2 and RDS instances of the account; nodes belong to the service's account",
    source="Budgets API, ActionSubType (botocore 1.44.8)",
)
def actions_can_stop_what_costs(deployment: Deployment) -> Iterator[Problem]:
    for action in deployment.budget_actions if deployment.clusters else ():
        if action.kind == "RUN_SSM_DOCUMENTS":
            yield Problem(
                path=action.path,
                message="this action cannot stop the nodes of the cluster",
                fix="use APPLY_IAM_POLICY with a policy that denies sagemaker:UpdateCluster and "
                "sagemaker:BatchAddClusterNodes: the cluster then cannot grow",
            )


@rule(
    "HP0023",
    Severity.ERROR,
    title="The role of a budget action does not let Budgets use it",
    because="Budgets cannot carry out what the action says",
    source="AWS::Budgets::BudgetsAction schema, ExecutionRoleArn (2026-10-20); Budgets API, RoleArn (botocore 1.44.8)",
)
def budgets_assumes_the_role_of_an_action(deployment: Deployment) -> Iterator[Problem]:
    for action in deployment.budget_actions:
        role = deployment.role(action.role)
        if role and isinstance(role.trusts, tuple) and not {PUBLISHER, "*", UNKNOWN} & set(role.trusts):
            yield Problem(
                path=role.path,
                message=f"a budget action takes this role, which trusts {', '.join(map(str, role.trusts)) or 'nobody'}",
                fix=f"let {PUBLISHER} assume it",
            )
