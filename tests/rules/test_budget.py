"""What is said of budgets, their notices and the topics that carry them."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.budget import (
    BudgetAction,
    BudgetResource,
    Grant,
    Notification,
    Subscriber,
    Topic,
)
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.identity import Role
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import cluster, told

EMAIL = Subscriber(kind="EMAIL", address="ml-platform@example.com")
SNS = Subscriber(kind="SNS", address="Alerts")


def notice(**fields: Any) -> Notification:
    """A notice at 80 % of the limit by e-mail and topic."""
    return Notification(**{"kind": "ACTUAL", "threshold": 80, "subscribers": (EMAIL, SNS), **fields})


def budget(**fields: Any) -> Deployment:
    """One monthly budget in USD with `notice()`, and its topic."""
    defaults = {"path": "Budget", "unit": "USD", "amount": 1000, "region": "us-east-1", "notifications": (notice(),)}
    return Deployment(budgets=(BudgetResource(**{**defaults, **fields}),), topics=(topic(),))


def topic(publishers: tuple[Any, ...] = ("budgets.amazonaws.com",), **fields: Any) -> Topic:
    """A topic that Budgets may publish to and that somebody reads."""
    grants = tuple(Grant(service=service) for service in publishers)
    return Topic(**{"path": "Alerts", "grants": grants, "subscriptions": 1, **fields})


def with_topic(**fields: Any) -> Deployment:
    """A budget whose topic is this one."""
    return Deployment(budgets=budget().budgets, topics=(topic(**fields),))


def test_a_sound_budget_has_no_finding() -> None:
    assert [line for rule in RULES if rule.startswith("HP0") for line in told(rule, budget())] == []


def test_a_topic_that_no_budget_uses_is_not_judged() -> None:
    unused = Deployment(topics=(topic(publishers=(), subscriptions=0, key="alias/aws/sns"),))
    assert [line for rule in ("HP0004", "HP0005", "HP0006") for line in told(rule, unused)] == []


class TestBudgetsHaveFewNotices:
    def test_counts_them(self) -> None:
        assert told("HP0001", budget(notifications=(notice(),) * 6)) == [
            "HP0001 6 notices | use at most 5, or make a second budget"
        ]

    @pytest.mark.parametrize("notifications", [(notice(),) * 5, (), UNKNOWN])
    def test_is_silent_on_five_and_on_what_is_not_known(self, notifications: object) -> None:
        assert told("HP0001", budget(notifications=notifications)) == []


class TestNoticesHaveFewSubscribers:
    def test_counts_addresses(self) -> None:
        assert told("HP0002", budget(notifications=(notice(subscribers=(EMAIL,) * 11),))) == [
            "HP0002 11 e-mail addresses on the ACTUAL notice at 80 | use at most 10, or subscribe them to a topic"
        ]

    def test_counts_topics(self) -> None:
        assert told("HP0002", budget(notifications=(notice(threshold=UNKNOWN, subscribers=(SNS, SNS)),))) == [
            "HP0002 2 topics on the ACTUAL notice | use one topic and subscribe the rest to it"
        ]

    def test_is_silent_on_ten_addresses_and_a_topic(self) -> None:
        assert told("HP0002", budget(notifications=(notice(subscribers=(*(EMAIL,) * 10, SNS)),))) == []

    @pytest.mark.parametrize("subscribers", [UNKNOWN, (Subscriber(kind=UNKNOWN, address=UNKNOWN),) * 12])
    def test_is_silent_on_what_is_not_known(self, subscribers: object) -> None:
        assert told("HP0002", budget(notifications=(notice(subscribers=subscribers),))) == []


class TestNoticesHaveASubscriber:
    def test_names_the_notice(self) -> None:
        assert told("HP0003", budget(notifications=(notice(kind="FORECASTED", subscribers=()),))) == [
            "HP0003 nobody gets the FORECASTED notice at 80 | add 1 to 10 e-mail addresses or a topic"
        ]

    @pytest.mark.parametrize("subscribers", [(EMAIL,), (SNS,), UNKNOWN])
    def test_is_silent_on_one_and_on_what_is_not_known(self, subscribers: object) -> None:
        assert told("HP0003", budget(notifications=(notice(subscribers=subscribers),))) == []


class TestTopicsLetBudgetsPublish:
    fix = (
        "allow sns:Publish to budgets.amazonaws.com with aws:SourceAccount = the account and aws:SourceArn like "
        "arn:aws:budgets::ACCOUNT:*"
    )

    @pytest.mark.parametrize(
        ("publishers", "got"), [((), "no service"), (("cloudwatch.amazonaws.com",), "only cloudwatch.amazonaws.com")]
    )
    def test_says_who_may(self, publishers: tuple[str, ...], got: str) -> None:
        assert told("HP0004", with_topic(publishers=publishers)) == [
            f"HP0004 the policy of this topic lets {got} publish, and a budget sends to it | {self.fix}"
        ]

    def test_says_where_there_is_no_policy(self) -> None:
        assert told("HP0004", with_topic(publishers=(), has_policy=False)) == [
            f"HP0004 this topic has no policy, and a budget sends to it | {self.fix}"
        ]

    def test_a_topic_of_two_notices_is_named_once(self) -> None:
        judged = Deployment(budgets=budget(notifications=(notice(), notice())).budgets, topics=(topic(publishers=()),))
        assert len(told("HP0004", judged)) == 1

    @pytest.mark.parametrize(
        "fields",
        [
            {"publishers": ("cloudwatch.amazonaws.com", "budgets.amazonaws.com")},
            {"publishers": ("*",)},
            {"publishers": (UNKNOWN,)},
            {"publishers": (), "complete": False},
        ],
    )
    def test_is_silent_where_budgets_may_or_could(self, fields: dict[str, object]) -> None:
        assert told("HP0004", with_topic(**fields)) == []


class TestTopicsHaveACustomerKey:
    @pytest.mark.parametrize("key", ["alias/aws/sns", "arn:aws:kms:us-east-1:111122223333:alias/aws/sns"])
    def test_says_what_to_use(self, key: str) -> None:
        assert told("HP0005", with_topic(key=key)) == [
            (
                "HP0005 this topic is encrypted with alias/aws/sns, and a budget sends to it | "
                "use a customer key whose policy admits budgets.amazonaws.com, or no key"
            )
        ]

    @pytest.mark.parametrize("key", [None, "Key", UNKNOWN])
    def test_is_silent_on_other_keys_and_on_what_is_not_known(self, key: object) -> None:
        assert told("HP0005", with_topic(key=key)) == []


class TestTopicsHaveASubscription:
    def test_says_that_nobody_reads(self) -> None:
        assert told("HP0006", with_topic(subscriptions=0)) == [
            (
                "HP0006 0 subscriptions to this topic, and a budget sends to it | "
                "subscribe an address or a chat channel to it"
            )
        ]

    def test_is_silent_with_one(self) -> None:
        assert told("HP0006", with_topic(subscriptions=1)) == []

    def test_is_silent_on_a_topic_outside_the_deployment(self) -> None:
        elsewhere = notice(subscribers=(Subscriber(kind="SNS", address=UNKNOWN),))
        assert told("HP0006", budget(notifications=(elsewhere,))) == []


class TestLimitsAreInTheCurrencyOfTheAccount:
    def test_outside_china_it_is_usd(self) -> None:
        assert told("HP0007", budget(unit="AUD")) == ["HP0007 a limit in AUD | use USD"]
        assert told("HP0007", budget(unit="CNY")) == ["HP0007 a limit in CNY | use USD"]

    def test_in_china_it_is_cny_too(self) -> None:
        assert told("HP0007", budget(unit="EUR", region="cn-north-1")) == ["HP0007 a limit in EUR | use CNY or USD"]

    @pytest.mark.parametrize(
        "fields",
        [
            {"unit": "USD"},
            {"unit": "CNY", "region": "cn-north-1"},
            {"unit": "CNY", "region": None},
            {"unit": UNKNOWN},
            {"unit": "Hrs", "kind": "USAGE"},
            {"unit": "EUR", "kind": UNKNOWN},
        ],
    )
    def test_is_silent_on_these_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert told("HP0007", budget(**fields)) == []


class TestDailyBudgetsHaveNoForecast:
    def test_names_the_notice(self) -> None:
        assert told("HP0008", budget(time_unit="DAILY", notifications=(notice(kind="FORECASTED"),))) == [
            (
                "HP0008 a DAILY budget has a FORECASTED notice at 80 | "
                "use MONTHLY, QUARTERLY or ANNUALLY, or an ACTUAL notice"
            )
        ]

    @pytest.mark.parametrize(
        ("unit", "kind"), [("DAILY", "ACTUAL"), ("MONTHLY", "FORECASTED"), (UNKNOWN, "FORECASTED"), ("DAILY", UNKNOWN)]
    )
    def test_is_silent_on_legal_pairs_and_on_what_is_not_known(self, unit: object, kind: object) -> None:
        assert told("HP0008", budget(time_unit=unit, notifications=(notice(kind=kind),))) == []


class TestBudgetsWithNoticesHaveNoFixedName:
    def test_says_what_can_no_longer_change(self) -> None:
        assert told("HP0009", budget(name="gpu")) == [
            "HP0009 the name 'gpu' is fixed, so that no notice of this budget can be changed | leave BudgetName out"
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {"name": None},
            {"name": UNKNOWN},
            {"name": "gpu", "notifications": ()},
            {"name": "gpu", "notifications": UNKNOWN},
        ],
    )
    def test_is_silent_without_name_or_notices_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert told("HP0009", budget(**fields)) == []


class TestBudgetsAreInARegionThatHasThem:
    def test_says_where_to_put_it(self) -> None:
        assert told("HP0010", budget(region="eu-north-1")) == [
            (
                "HP0010 AWS::Budgets::Budget is not listed for eu-north-1 | "
                "put the budget into a stack of its own in us-east-1: budgets are global"
            )
        ]

    @pytest.mark.parametrize("region", ["us-east-1", "xx-none-9", None, UNKNOWN])
    def test_is_silent_on_listed_and_unknown_regions(self, region: object) -> None:
        assert told("HP0010", budget(region=region)) == []


class TestBudgetsHaveOneLimit:
    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            (
                {"amount": None},
                (
                    "a budget of COST has no limit | give BudgetLimit, for example {Amount: 50000, Unit: USD}, "
                    "PlannedBudgetLimits or AutoAdjustData"
                ),
            ),
            ({"planned": True}, "BudgetLimit and PlannedBudgetLimits are both given | give one of them"),
            (
                {"amount": None, "planned": True, "time_unit": "DAILY"},
                "PlannedBudgetLimits of a DAILY budget | use MONTHLY or QUARTERLY, or BudgetLimit",
            ),
        ],
    )
    def test_says_what_is_missing_or_too_much(self, fields: dict[str, object], said: str) -> None:
        assert told("HP0012", budget(**fields)) == [f"HP0012 {said}"]

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"amount": UNKNOWN, "planned": True},
            {"amount": None, "planned": True},
            {"amount": None, "adjusted": True},
            {"amount": None, "planned": UNKNOWN},
            {"amount": None, "kind": "SAVINGS_PLANS_UTILIZATION"},
            {"amount": None, "kind": UNKNOWN},
        ],
    )
    def test_is_silent_on_one_limit_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert told("HP0012", budget(**fields)) == []


class TestBudgetsHaveOneFilter:
    def test_names_both(self) -> None:
        assert told("HP0013", budget(filters=True, expression=True)) == [
            (
                "HP0013 CostFilters and FilterExpression are both given | "
                "say all of it in FilterExpression, with Metrics, and leave CostFilters out"
            )
        ]

    @pytest.mark.parametrize(("filters", "expression"), [(True, False), (False, True), (UNKNOWN, True)])
    def test_is_silent_on_one_and_on_what_is_not_known(self, filters: object, expression: object) -> None:
        assert told("HP0013", budget(filters=filters, expression=expression)) == []


ACCOUNT = "111122223333"


def granted(account: str | None = ACCOUNT, **fields: Any) -> Deployment:
    """A budget whose topic lets Budgets publish under these conditions."""
    return Deployment(
        budgets=budget(account=account).budgets,
        topics=(topic((), grants=(Grant(service="budgets.amazonaws.com", **fields),)),),
    )


class TestTopicPoliciesReachTheBudgetsOfTheAccount:
    @pytest.mark.parametrize(
        ("fields", "got"),
        [
            ({"arns": ("arn:aws:budgets:us-east-1:111122223333:*",)}, "arn:aws:budgets:us-east-1:111122223333:*"),
            ({"arns": ("arn:aws:sns:us-east-1:111122223333:Alerts",)}, "arn:aws:sns:us-east-1:111122223333:Alerts"),
            ({"arns": ("arn:aws:budgets::999999999999:*",)}, "arn:aws:budgets::999999999999:*"),
            ({"accounts": ("999999999999",)}, "999999999999"),
            (
                {"arns": ("arn:aws:budgets::111122223333:*",), "exact": True},
                "arn:aws:budgets::111122223333:*, compared letter by letter",
            ),
        ],
    )
    def test_says_for_what_it_may_publish(self, fields: dict[str, Any], got: str) -> None:
        (line,) = told("HP0015", granted(**fields))
        assert line.startswith(f"HP0015 the policy of this topic lets Budgets publish only for {got}, and a budget")
        assert "ArnLike aws:SourceArn = arn:aws:budgets::ACCOUNT:*" in line

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"accounts": (ACCOUNT,), "arns": ("arn:aws:budgets::111122223333:*",)},
            {"accounts": ("*",)},
            {"accounts": ("999999999999", ACCOUNT)},
            {"arns": ("arn:*:budgets::*:*",)},
            {"arns": ("arn:aws:budgets:*",)},
            {"arns": ("arn:aws:budgets::111122223333:budget/gpu",), "exact": True},
            {"account": None, "accounts": ("999999999999",)},
        ],
    )
    def test_is_silent_where_the_budget_may_fit(self, fields: dict[str, Any]) -> None:
        assert told("HP0015", granted(**fields)) == []

    def test_one_statement_that_fits_is_enough(self) -> None:
        wrong = Grant(service="budgets.amazonaws.com", accounts=("999999999999",))
        both = topic((), grants=(wrong, Grant(service="budgets.amazonaws.com")))
        assert told("HP0015", Deployment(budgets=budget(account=ACCOUNT).budgets, topics=(both,))) == []

    @pytest.mark.parametrize("more", [{"complete": False}, {"grants": (Grant(service=UNKNOWN, accounts=("9",)),)}])
    def test_is_silent_where_the_policy_is_not_known(self, more: dict[str, Any]) -> None:
        wrong = (Grant(service="budgets.amazonaws.com", accounts=("999999999999",)),)
        judged = topic((), **{"grants": wrong + more.pop("grants", ()), **more})
        assert told("HP0015", Deployment(budgets=budget(account=ACCOUNT).budgets, topics=(judged,))) == []


class TestTopicPoliciesDoNotNameBudgets:
    def test_says_where_to_end(self) -> None:
        assert told("HP0016", granted(arns=("arn:aws:budgets::111122223333:budget/gpu",))) == [
            (
                "HP0016 the policy of this topic lets Budgets publish only for "
                "arn:aws:budgets::111122223333:budget/gpu | end the ARN with the account: arn:aws:budgets::ACCOUNT:*"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"arns": ("arn:aws:budgets::111122223333:*",)},
            {"arns": ("arn:aws:budgets::111122223333:budget/*",)},
            {"arns": ("*",)},
            {"arns": ("arn:aws:budgets:us-east-1:111122223333:budget/gpu",)},
        ],
    )
    def test_is_silent_on_all_budgets_and_on_what_hp0015_says(self, fields: dict[str, Any]) -> None:
        assert told("HP0016", granted(**fields)) == []


class TestTopicsAreInTheAccountOfTheBudget:
    fix = "use a topic in 111122223333 and subscribe the other account to it"

    def told_of(self, written: Any, account: str | None = ACCOUNT) -> list[str]:
        sent = notice(subscribers=(Subscriber(kind="SNS", address="elsewhere", written=written),))
        return told("HP0017", budget(account=account, notifications=(sent,)))

    def test_compares_the_account_in_the_arn(self) -> None:
        assert self.told_of("arn:aws:sns:us-east-1:999999999999:alerts") == [
            (f"HP0017 a topic of account 999999999999 gets notices of a budget of account 111122223333 | {self.fix}")
        ]

    def test_compares_the_accounts_of_the_stacks(self) -> None:
        judged = Deployment(budgets=budget(account=ACCOUNT).budgets, topics=(topic(account="999999999999"),))
        assert len(told("HP0017", judged)) == 1

    @pytest.mark.parametrize(
        "written",
        ["arn:aws:sns:us-east-1:111122223333:alerts", "arn:aws:sns:us-east-1:*:alerts", "arn:*:sns:*:*:x", UNKNOWN],
    )
    def test_is_silent_on_its_own_and_on_unknown_accounts(self, written: object) -> None:
        assert self.told_of(written) == []

    def test_is_silent_where_the_account_of_the_stack_is_not_known(self) -> None:
        assert self.told_of("arn:aws:sns:us-east-1:999999999999:alerts", account=None) == []


class TestAddressesHaveTheirForm:
    @pytest.mark.parametrize(
        ("kind", "written", "fix"),
        [
            ("SNS", "alerts", "use the ARN of a topic: arn:aws:sns:REGION:ACCOUNT:NAME"),
            ("SNS", "arn:aws:sns:us-east-1:1234:alerts", "use the ARN of a topic: arn:aws:sns:REGION:ACCOUNT:NAME"),
            ("EMAIL", "ml-platform", "use an e-mail address"),
            ("EMAIL", "arn:aws:sns:us-east-1:111122223333:alerts", "use SubscriptionType SNS for a topic"),
        ],
    )
    def test_says_what_to_write(self, kind: Any, written: str, fix: str) -> None:
        sent = notice(subscribers=(Subscriber(kind=kind, address=written, written=written),))
        assert told("HP0018", budget(notifications=(sent,))) == [f"HP0018 the {kind} subscriber is {written!r} | {fix}"]

    @pytest.mark.parametrize(
        ("kind", "written"),
        [
            ("SNS", "arn:aws:sns:us-east-1:111122223333:alerts"),
            ("SNS", "arn:*:sns:*:*:*"),
            ("SNS", None),
            ("SNS", UNKNOWN),
            ("EMAIL", "a@example.com"),
            ("EMAIL", "team-*"),
            (UNKNOWN, "alerts"),
        ],
    )
    def test_is_silent_on_addresses_and_on_what_is_not_known(self, kind: Any, written: Any) -> None:
        sent = notice(subscribers=(Subscriber(kind=kind, address="Alerts", written=written),))
        assert told("HP0018", budget(notifications=(sent,))) == []


class TestKeysAdmitBudgets:
    @pytest.mark.parametrize(("users", "got"), [((), "no service"), (("s3.amazonaws.com",), "s3.amazonaws.com")])
    def test_says_whom_the_key_admits(self, users: tuple[str, ...], got: str) -> None:
        assert told("HP0019", with_topic(key="Key", key_users=users)) == [
            (
                f"HP0019 the policy of the key of this topic admits {got}, and a budget sends to the topic | "
                "allow kms:Decrypt and kms:GenerateDataKey* to budgets.amazonaws.com in the policy of the key"
            )
        ]

    @pytest.mark.parametrize("users", [None, ("budgets.amazonaws.com",), (UNKNOWN,), ("*",)])
    def test_is_silent_on_keys_that_do_and_that_are_not_known(self, users: object) -> None:
        assert told("HP0019", with_topic(key="Key", key_users=users)) == []


def action(*clusters: Cluster, roles: tuple[Role, ...] = (), **fields: Any) -> Deployment:
    """An action that denies growth, beside these clusters."""
    defaults = {"path": "Stop", "kind": "APPLY_IAM_POLICY", "definitions": ("IamActionDefinition",)}
    made = BudgetAction(**{**defaults, "subscribers": (EMAIL,), "role": "Role", **fields})
    return Deployment(clusters=clusters, budget_actions=(made,), roles=roles)


class TestBudgetActions:
    @pytest.mark.parametrize("count", [0, 12])
    def test_have_one_to_eleven_subscribers(self, count: int) -> None:
        assert told("HP0020", action(subscribers=(EMAIL,) * count)) == [
            f"HP0020 {count} subscribers | use 1 to 11: a topic and up to 10 addresses"
        ]

    @pytest.mark.parametrize("subscribers", [(EMAIL,), (EMAIL,) * 11, UNKNOWN])
    def test_of_legal_and_of_unknown_numbers_are_left_alone(self, subscribers: object) -> None:
        assert told("HP0020", action(subscribers=subscribers)) == []

    def test_have_the_definition_of_their_type(self) -> None:
        assert told("HP0021", action(kind="APPLY_SCP_POLICY")) == [
            "HP0021 APPLY_SCP_POLICY has IamActionDefinition | give ScpActionDefinition and no other"
        ]
        assert told("HP0021", action(definitions=())) == [
            "HP0021 APPLY_IAM_POLICY has an empty definition | give IamActionDefinition and no other"
        ]

    @pytest.mark.parametrize("fields", [{}, {"kind": UNKNOWN}, {"definitions": UNKNOWN}])
    def test_with_a_fitting_or_unknown_definition_are_left_alone(self, fields: dict[str, Any]) -> None:
        assert told("HP0021", action(**fields)) == []

    def test_cannot_stop_nodes(self) -> None:
        (line,) = told("HP0022", action(cluster(), kind="RUN_SSM_DOCUMENTS"))
        assert line.startswith("HP0022 this action cannot stop the nodes of the cluster | use APPLY_IAM_POLICY")

    def test_that_stop_instances_are_left_alone_without_a_cluster(self) -> None:
        assert told("HP0022", action(kind="RUN_SSM_DOCUMENTS")) == []
        assert told("HP0022", action(cluster(), kind=UNKNOWN)) == []

    def test_take_a_role_that_lets_them(self) -> None:
        role = Role(path="Role", trusts=("ec2.amazonaws.com",))
        assert told("HP0023", action(roles=(role,))) == [
            (
                "HP0023 a budget action takes this role, which trusts ec2.amazonaws.com | "
                "let budgets.amazonaws.com assume it"
            )
        ]

    @pytest.mark.parametrize("trusts", [("budgets.amazonaws.com",), (UNKNOWN,), UNKNOWN])
    def test_with_a_fitting_or_unknown_role_are_left_alone(self, trusts: Any) -> None:
        assert told("HP0023", action(roles=(Role(path="Role", trusts=trusts),))) == []
        assert told("HP0023", action()) == []

    def test_are_in_a_region_that_has_them(self) -> None:
        assert told("HP0010", action(region="eu-north-1")) == [
            (
                "HP0010 AWS::Budgets::BudgetsAction is not listed for eu-north-1 | "
                "put the budget into a stack of its own in us-east-1: budgets are global"
            )
        ]

    def test_have_topics_that_are_judged_like_those_of_budgets(self) -> None:
        made = action(subscribers=(SNS,)).budget_actions
        assert len(told("HP0004", Deployment(budget_actions=made, topics=(topic(()),)))) == 1
