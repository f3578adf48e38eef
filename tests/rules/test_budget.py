"""What is said of budgets, their notices and the topics that carry them."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.budget import BudgetResource, Notification, Subscriber, Topic
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import told

EMAIL = Subscriber(kind="EMAIL", address="ml-platform@example.com")
SNS = Subscriber(kind="SNS", address="Alerts")


def notice(**fields: Any) -> Notification:
    """A notice at 80 % of the limit by e-mail and topic."""
    return Notification(**{"kind": "ACTUAL", "threshold": 80, "subscribers": (EMAIL, SNS), **fields})


def budget(**fields: Any) -> Deployment:
    """One monthly budget in USD with `notice()`, and its topic."""
    defaults = {"path": "Budget", "unit": "USD", "amount": 1000, "region": "us-east-1", "notifications": (notice(),)}
    return Deployment(budgets=(BudgetResource(**{**defaults, **fields}),), topics=(topic(),))


def topic(**fields: Any) -> Topic:
    """A topic that Budgets may publish to and that somebody reads."""
    return Topic(**{"path": "Alerts", "publishers": ("budgets.amazonaws.com",), "subscriptions": 1, **fields})


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
