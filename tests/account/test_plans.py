from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.account.gateway.plans import TrainingPlans
from hyperpod_constructs.account.plans import Offer
from tests.account.conftest import NOW, Account, block, plan


def moment(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]  # year, month, day and so on


def offer(account: Account, status: str = "Active", **fields: Any) -> Offer:
    """A plan as DescribeTrainingPlan shows it."""
    account.answers("sagemaker", "describe_training_plan", plan("frontier", status, **fields))
    return Offer(plan=account.open(TrainingPlans).described("frontier"), now=NOW)


class TestTheLine:
    def test_is_code_that_makes_the_plan(self, account: Account) -> None:
        line = offer(account).line
        assert line == (
            'hp.TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14", '
            'instance_type="ml.p5.48xlarge")'
        )
        assert eval(line, {"hp": hp}) == hp.TrainingPlan(  # noqa: S307  # the point: a user pastes it
            "frontier",
            count=32,
            zone="usw2-az2",
            starts="2026-12-07",
            ends="2027-02-14",
            instance_type="ml.p5.48xlarge",
        )

    def test_of_a_plan_without_a_zone_id_leaves_it_open_and_says_so(self, account: Account) -> None:
        found = offer(account, ReservedCapacitySummaries=[block(AvailabilityZoneId="")])
        assert "zone=None" in (found.line or "")
        assert found.notes == ("its zone id is not known: HyperPod needs a plan in one zone",)

    def test_of_a_plan_in_two_zones_leaves_the_zone_open_and_names_both(self, account: Account) -> None:
        found = offer(account, ReservedCapacitySummaries=[block(), block(AvailabilityZoneId="usw2-az4")])
        assert "zone=None" in (found.line or "")
        assert "its zone id is usw2-az2 and usw2-az4: HyperPod needs a plan in one zone" in found.notes

    def test_counts_what_stands_at_one_time(self, account: Account) -> None:
        first: dict[str, Any] = {"StartTime": moment(2026, 12, 7), "EndTime": moment(2027, 1, 7)}
        second: dict[str, Any] = {"StartTime": moment(2027, 1, 14), "EndTime": moment(2027, 2, 14)}
        beside = offer(account, ReservedCapacitySummaries=[block(**first), block(**first)])
        after = offer(account, ReservedCapacitySummaries=[block(**first), block(**second)])
        assert (beside.count, after.count) == (64, 32)
        assert "it has 2 blocks; nodes leave an hour before the end of each" in after.notes

    def test_of_a_plan_that_ends_on_the_day_of_its_start_has_the_arn_alone(self, account: Account) -> None:
        found = offer(account, StartTime=moment(2027, 1, 10, 1), EndTime=moment(2027, 1, 10, 23))
        assert found.line == f'hp.TrainingPlan.unchecked("{found.plan.arn}")'
        assert eval(found.line, {"hp": hp}) == hp.TrainingPlan.unchecked(found.plan.arn)  # noqa: S307  # as above

    def test_of_several_types_names_none(self, account: Account) -> None:
        found = offer(account, ReservedCapacitySummaries=[block(), block(InstanceType="ml.p5e.48xlarge")])
        assert "instance_type" not in (found.line or "")
        assert "it holds several types: ml.p5.48xlarge, ml.p5e.48xlarge" in found.notes

    def test_says_when_instances_are_out_of_order(self, account: Account) -> None:
        assert "2 of its instances are out of order" in offer(account, UnhealthyInstanceCount=2).notes


class TestAProblem:
    @pytest.mark.parametrize(
        ("status", "fields", "problem"),
        [
            ("Expired", {"EndTime": moment(2026, 10, 1, 11, 30)}, "it is expired since 2026-10-01 11:30 UTC"),
            ("Active", {"EndTime": moment(2027, 1, 10, 9)}, "it is expired since 2027-01-10 09:00 UTC"),
            ("Pending", {}, "it is Pending: it can be used when it is paid and Scheduled"),
            ("Failed", {"StatusMessage": "no payment"}, "it is Failed: no payment"),
            ("Active", {"TargetResources": ["training-job"]}, "it was bought for training-job and not for hyperpod-"),
        ],
    )
    def test_leaves_no_line(self, account: Account, status: str, fields: dict[str, Any], problem: str) -> None:
        found = offer(account, status, **fields)
        assert (found.problem or "").startswith(problem)
        assert found.line is None

    @pytest.mark.parametrize("status", ["Active", "Scheduled"])
    def test_is_none_of_a_plan_that_can_be_attached(self, account: Account, status: str) -> None:
        assert offer(account, status).problem is None


class TestTheTurn:
    def test_is_an_hour_before_the_end_of_the_block_that_runs(self, account: Account) -> None:
        blocks = [
            block(StartTime=moment(2027, 1, 20), EndTime=moment(2027, 2, 14)),
            block(StartTime=moment(2026, 12, 7), EndTime=moment(2027, 1, 11, 11, 30)),
        ]
        turn = offer(account, ReservedCapacitySummaries=blocks).turn
        assert turn is not None
        assert (turn.arrives, turn.leaves) == (None, moment(2027, 1, 11, 10, 30))

    def test_is_the_start_of_the_next_block_between_two(self, account: Account) -> None:
        blocks = [
            block(StartTime=moment(2026, 12, 7), EndTime=moment(2027, 1, 1)),
            block(StartTime=moment(2027, 1, 20), EndTime=moment(2027, 2, 14)),
        ]
        turn = offer(account, "Scheduled", ReservedCapacitySummaries=blocks).turn
        assert turn is not None
        assert turn.arrives == moment(2027, 1, 20)

    def test_is_over_when_the_plan_is(self, account: Account) -> None:
        blocks = [block(StartTime=moment(2026, 12, 7), EndTime=moment(2027, 1, 1))]
        assert offer(account, ReservedCapacitySummaries=blocks).turn is None
