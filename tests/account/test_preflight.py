"""Preflight as a whole: everything that is wrong with an account is found, and nothing else is said."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hyperpod_constructs.account import gateway, permissions, preflight
from hyperpod_constructs.account.preflight import Check, Context, Learned, Outcome
from hyperpod_constructs.account.preflight.registry import finding, rule
from hyperpod_constructs.account.preflight.runner import NOT_ALLOWED
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotAllowed
from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.model.deployment import Deployment
from tests.account.fake_account import ACCOUNT, REGION, FakeAccount
from tests.account.planted import NOW, Plant, World
from tests.account.small import preflight_of

FEWEST = 30
"""Plants that the issue asks for."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The account while everything fits, and the same with all plants."""
    with FakeAccount() as account:
        world = World(account, tmp_path_factory.mktemp("planted") / "cdk.out")
        clean = preflight_of(world.folder)
        world.spoil()
        spoiled = preflight_of(world.folder)
        account.denied |= set(account.called) - {"GetCallerIdentity"}
        denied = preflight_of(world.folder)
        yield SimpleNamespace(world=world, clean=clean, spoiled=spoiled, denied=denied, called=set(account.called))


def draws(plant: Plant, found: Finding) -> bool:
    return (found.rule, found.path) == (plant.rule, plant.path) and plant.says in found.message


class TestAnAccountWhereEverythingFits:
    def test_has_no_finding(self, whole: SimpleNamespace) -> None:
        assert whole.clean.findings == ()

    def test_every_check_runs_to_its_end(self, whole: SimpleNamespace) -> None:
        assert {ran.name: ran.outcome for ran in whole.clean.ran} == {check.name: "done" for check in preflight.CHECKS}

    def test_is_written_down(self, whole: SimpleNamespace) -> None:
        learned = {(each.section, each.name): each.facts for each in whole.clean.learned}
        assert learned["quotas", "ml.g5.8xlarge for cluster usage"] == {
            "service": "sagemaker",
            "code": learned["quotas", "ml.g5.8xlarge for cluster usage"]["code"],
            "applied": 1000,
            "used": 3,
            "needed": 2,
        }
        assert learned["plans", "count"]["total"] == 1
        assert {section for section, _ in learned} == {
            "quotas",
            "plans",
            "subnets",
            "security_groups",
            "routes",
            "instance_types",
            "file_systems",
            "eks",
        }


class TestAPlantedAccount:
    def test_each_plant_is_found_once(self, whole: SimpleNamespace) -> None:
        found = {plant.name: sum(draws(plant, each) for each in whole.spoiled.findings) for plant in whole.world.plants}
        assert found == dict.fromkeys(found, 1)
        assert len(found) >= FEWEST

    def test_nothing_else_is_said(self, whole: SimpleNamespace) -> None:
        plants = whole.world.plants
        assert [each for each in whole.spoiled.findings if not any(draws(plant, each) for plant in plants)] == []

    def test_every_rule_but_those_of_the_runner_has_a_plant(self, whole: SimpleNamespace) -> None:
        assert preflight.RULES.keys() - {plant.rule for plant in whole.world.plants} == {"HP9000", "HP9001"}

    def test_each_finding_says_what_to_do(self, whole: SimpleNamespace) -> None:
        assert [each.rule for each in whole.spoiled.findings if not each.fix] == []

    def test_a_quota_is_raised_by_a_whole_command(self, whole: SimpleNamespace) -> None:
        (raised,) = (each for each in whole.spoiled.findings if "ml.g5.8xlarge for cluster usage" in each.message)
        assert raised.fix.startswith(
            "ask for more, which can take days: aws service-quotas request-service-quota-increase --region us-west-2 "
            "--service-code sagemaker --quota-code L-0000000"
        )
        assert raised.fix.endswith(" --desired-value 5")

    def test_the_worst_comes_first(self, whole: SimpleNamespace) -> None:
        ranks = [list(Severity).index(each.severity) for each in whole.spoiled.findings]
        assert ranks == sorted(ranks)

    def test_a_finding_has_its_place_in_the_template(self, whole: SimpleNamespace) -> None:
        (found,) = (each for each in whole.spoiled.findings if each.rule == "HP9130")
        assert (Path(found.file).name, found.line is not None) == ("Base.template.json", True)


class TestWithoutPermissions:
    def test_every_missing_one_is_a_warning_that_names_it(self, whole: SimpleNamespace) -> None:
        said = [each for each in whole.denied.findings if each.rule == NOT_ALLOWED.id]
        assert {each.severity for each in said} == {Severity.WARNING}
        named = {each.message.split()[0] for each in said}
        assert {"ec2:DescribeSubnets", "servicequotas:ListAWSDefaultServiceQuotas", "iam:GetRole"} <= named
        assert len(named) == len(said)

    def test_nothing_is_taken_for_absent(self, whole: SimpleNamespace) -> None:
        assert {each.rule for each in whole.denied.findings} == {"HP9001", "HP9002", "HP9003"}

    def test_only_reads_were_ever_asked_for(self, whole: SimpleNamespace) -> None:
        readers = gateway.Reader.__subclasses__()
        listed = {operation for reader in readers for operation in reader.READS}
        assert whole.called - listed == set()

    def test_the_policy_for_it_allows_all_that_it_asked_for(self, whole: SimpleNamespace) -> None:
        allowed = set(permissions.of_preflight())
        needed = [
            {reader.READS[name] for reader in permissions.readers() if name in reader.READS} for name in whole.called
        ]
        assert [each for each in needed if not each or not each <= allowed] == []


PLAIN = rule("HP9998", Severity.WARNING, title="Of a test", because="of a test", source="a test")
del preflight.RULES["HP9998"]


def context() -> Context:
    """A context that nothing is read with."""
    nowhere: Any = SimpleNamespace(open=None)
    read: Any = SimpleNamespace(stacks=(), resources=lambda: ())
    return Context(session=nowhere, region=REGION, account=ACCOUNT, deployment=Deployment(), assembly=read, now=NOW)


def run(*checks: Check, seconds: float = 30) -> tuple[Outcome, list[str]]:
    said: list[str] = []
    return preflight.run(context(), checks, say=said.append, seconds=seconds), said


def saying(*said: Finding | Learned | Exception, name: str = "subject") -> Check:
    """A check that says some things, and breaks off where one is an error."""

    def look(_: Context) -> Iterator[Finding | Learned]:
        for each in said:
            if isinstance(each, Exception):
                raise each
            yield each

    return Check(name=name, look=look)


class TestRun:
    def test_checks_run_side_by_side(self) -> None:
        meeting = threading.Barrier(2, timeout=20)

        def look(_: Context) -> Iterator[Finding]:
            meeting.wait()
            yield from ()

        outcome, said = run(Check(name="a", look=look), Check(name="b", look=look))
        assert outcome.findings == ()
        assert sorted(line.partition(",")[0][-1] for line in said) == ["a", "b"]
        assert [line.partition(":")[0] for line in said] == ["1 of 2 checks", "2 of 2 checks"]

    def test_one_that_breaks_off_is_fatal_and_keeps_what_it_found(self) -> None:
        found = finding(PLAIN, "a", "something", "do something")
        outcome, _ = run(saying(found, ZeroDivisionError("division by zero")))
        broken, kept = outcome.findings
        assert (broken.rule, broken.severity) == ("HP9000", Severity.FATAL)
        assert broken.message == "the check of subject broke off: ZeroDivisionError: division by zero"
        assert kept == found

    def test_one_that_aws_fails_is_fatal_too(self) -> None:
        outcome, _ = run(saying(AccountUnavailable("AWS throttles ec2:DescribeSubnets", answered=True)))
        (broken,) = outcome.findings
        assert (broken.rule, broken.message) == (
            "HP9000",
            "subject could not be read: AWS throttles ec2:DescribeSubnets",
        )
        assert broken.fix == "run the command again"
        assert [ran.outcome for ran in outcome.ran] == ["failed"]

    def test_one_that_aws_refuses_says_that_it_will_go_on_failing(self) -> None:
        outcome, _ = run(saying(AccountError("ec2:DescribeSubnets failed with InvalidAction")))
        (broken,) = outcome.findings
        assert broken.fix == "mend what AWS names, then run the command again"

    def test_one_that_hangs_is_fatal_and_nobody_waits_for_it(self) -> None:
        for_ever = threading.Event()

        def look(_: Context) -> Iterator[Finding]:
            for_ever.wait(20)
            yield from ()

        outcome, said = run(Check(name="slow", look=look), saying(name="quick"), seconds=0.2)
        for_ever.set()
        (late,) = outcome.findings
        assert (late.rule, late.message) == ("HP9000", "the check of slow did not end within 0 s")
        assert [(ran.name, ran.outcome) for ran in outcome.ran] == [("slow", "timed out"), ("quick", "done")]
        assert said[-1].startswith("slow ran out of time")

    def test_a_permission_that_several_lack_is_said_once(self) -> None:
        lacking = NotAllowed("no", permission="ec2:DescribeSubnets")
        outcome, _ = run(saying(lacking, name="subnets"), saying(lacking, name="routes"))
        (said,) = outcome.findings
        assert said.message == (
            "ec2:DescribeSubnets is not allowed in us-west-2, so this was not checked to its end: subnets, routes"
        )

    def test_a_finding_that_two_checks_have_is_said_once(self) -> None:
        found = finding(PLAIN, "a", "something", "do something")
        outcome, _ = run(saying(found, name="a"), saying(found, name="b"))
        assert outcome.findings == (found,)


class TestSharedReads:
    def test_are_made_once(self) -> None:
        numbers = iter(range(3))
        shared = context()
        assert [shared.once("x", lambda: next(numbers)) for _ in range(3)] == [0, 0, 0]

    def test_fail_for_everybody_who_needs_them(self) -> None:
        shared = context()

        def read() -> int:
            raise NotAllowed("no", permission="ec2:DescribeSubnets")

        for _ in range(2):
            with pytest.raises(NotAllowed):
                shared.once("x", read)


class TestRegistry:
    def test_an_id_is_never_given_twice(self) -> None:
        with pytest.raises(ValueError, match="rule HP9010 exists: Quota is too small"):
            rule("HP9010", Severity.INFO, title="x", because="x", source="x")

    def test_names_of_checks_are_told_apart(self) -> None:
        names = [check.name for check in preflight.CHECKS]
        assert sorted(set(names)) == sorted(names)

    @pytest.mark.parametrize("id", sorted(preflight.RULES))
    def test_a_rule_finds_nothing_without_an_account(self, id: str) -> None:
        assert list(preflight.RULES[id].findings(Deployment())) == []
