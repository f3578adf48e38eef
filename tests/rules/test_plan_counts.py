"""What is said of how many instances a training plan holds."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.tokens import UNKNOWN, without_tokens
from tests.rules.builders import (
    ACCOUNT,
    compute,
    deployment,
    of_slurm,
    plan,
    slurm_cluster,
    told,
)

ARN = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:training-plan/frontier"

COUNTS = "plans come in 1, 2, 4, 8, 16, 32, 64"


class TestGroupsFitTheirPlan:
    def test_spares_count(self) -> None:
        assert of_slurm("HP1107", compute(count=32, spares=2, capacity=plan())) == [
            (
                "HP1107 group 'p5': 34 instances (32 + 2 spares) on training plan 'frontier', which holds 32 | "
                f"use count=30 and spares=2, or count=32 and spares=0, or put 2 more on a second plan: {COUNTS}"
            )
        ]

    def test_without_spares_only_the_count_can_go_down(self) -> None:
        assert of_slurm("HP1107", compute(count=40, capacity=plan())) == [
            (
                "HP1107 group 'p5': 40 instances on training plan 'frontier', which holds 32 | "
                f"use count=32, or put 8 more on a second plan: {COUNTS}"
            )
        ]

    def test_groups_that_share_a_plan_are_added_up_by_name_and_by_arn(self) -> None:
        groups = (compute(count=20, capacity=plan()), compute(name="b", count=14, capacity=plan(plan=ARN)))
        assert of_slurm("HP1107", *groups) == [
            (
                "HP1107 group 'p5' (20), group 'b' (14): 34 instances on training plan 'frontier', which holds 32 | "
                f"take 2 off these groups, or put 2 more on a second plan: {COUNTS}"
            )
        ]

    def test_clusters_that_share_a_plan_are_added_up(self) -> None:
        one = slurm_cluster(compute(count=20, capacity=plan()))
        two = slurm_cluster(compute(name="b", count=20, capacity=plan()), path="Other")
        (found,) = told("HP1107", deployment(one, two))
        assert found.startswith("HP1107 group 'p5' of Train (20), group 'b' of Other (20): 40 instances on training")

    def test_plans_of_one_name_in_two_regions_are_two(self) -> None:
        one = slurm_cluster(compute(count=20, capacity=plan()))
        two = slurm_cluster(compute(count=20, capacity=plan(zone="use1-az4")), path="Other", region="us-east-1")
        assert told("HP1107", deployment(one, two)) == []

    def test_a_group_of_unknown_count_is_left_out_of_the_sum(self) -> None:
        groups = (compute(name="a", count=UNKNOWN, capacity=plan()), compute(count=40, capacity=plan()))
        assert of_slurm("HP1107", *groups) == [
            (
                "HP1107 group 'p5': 40 instances on training plan 'frontier', which holds 32 | "
                f"use count=32, or put 8 more on a second plan: {COUNTS}"
            )
        ]

    def test_is_silent_where_count_and_spares_just_fit(self) -> None:
        assert of_slurm("HP1107", compute(count=30, spares=2, capacity=plan())) == []

    def test_is_silent_on_two_plans_whose_names_are_not_known(self) -> None:
        groups = [compute(name=name, count=20, capacity=without_tokens(plan(plan="${Token[P.1]}"))) for name in "ab"]
        assert of_slurm("HP1107", *groups) == []

    @pytest.mark.parametrize(
        "fields", [{"count": UNKNOWN, "capacity": plan()}, {"count": 40, "capacity": plan(count=UNKNOWN)}]
    )
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of_slurm("HP1107", compute(**fields)) == []


class TestPlanCountsAreSold:
    def test_lists_what_is_sold(self) -> None:
        assert of_slurm("HP1108", compute(count=30, capacity=plan(count=30))) == [
            (
                "HP1108 group 'p5': training plan 'frontier' is said to hold 30 instances | "
                "use the count that was bought, one of 1, 2, 4, 8, 16, 32, 64; UltraServers and plans from your "
                "account "
                "team may have another"
            )
        ]

    def test_names_a_length_that_no_extension_makes(self) -> None:
        assert of_slurm("HP1108", compute(capacity=plan(ends="2027-12-07"))) == [
            (
                "HP1108 group 'p5': training plan 'frontier' is said to last from 2026-12-07 to 2027-12-07, 365 days | "
                "use the days that `aws sagemaker describe-training-plan` prints; 364 are sold with one extension"
            )
        ]

    @pytest.mark.parametrize("days", [{"ends": "2027-12-06"}, {"ends": UNKNOWN}, {"starts": None}])
    def test_is_silent_on_an_extended_plan_and_on_unknown_days(self, days: dict[str, Any]) -> None:
        assert of_slurm("HP1108", compute(capacity=plan(**days))) == []

    @pytest.mark.parametrize("count", [1, 32, 64, UNKNOWN, None])
    def test_is_silent_on_sold_and_unknown_counts(self, count: object) -> None:
        assert of_slurm("HP1108", compute(capacity=plan(count=count))) == []


class TestSparesOnPlansArePrepaid:
    def test_says_what_share_is_idle(self) -> None:
        assert of_slurm("HP1110", compute(count=30, spares=2, capacity=plan())) == [
            (
                "HP1110 group 'p5' keeps 2 of the 32 instances of training plan 'frontier' as spares: 6.25 % of the "
                "prepaid hours are idle | keep them if a node that is missing for days costs more than that; "
                "otherwise use spares=0"
            )
        ]

    def test_is_silent_without_spares(self) -> None:
        assert of_slurm("HP1110", compute(count=32, capacity=plan())) == []

    def test_is_silent_where_the_count_is_not_known(self) -> None:
        assert of_slurm("HP1110", compute(count=30, spares=2, capacity=plan(count=UNKNOWN))) == []


class TestPlansAreUsedUp:
    def of(self, count: Any, **fields: Any) -> list[str]:
        return of_slurm("HP1115", compute(count=count, capacity=plan(count=32), **fields))

    def test_what_is_in_no_group_is_prepaid_too(self) -> None:
        assert self.of(29, spares=1) == [
            (
                "HP1115 training plan 'frontier' holds 32 instances, and group 'p5' has 30: 2 prepaid instances are in "
                "no group | raise a count, unless something else uses the rest of the plan"
            )
        ]

    def test_groups_of_several_clusters_are_told_apart(self) -> None:
        two = [slurm_cluster(compute(count=2, capacity=plan()), path=path) for path in ("A", "B")]
        (found,) = told("HP1115", deployment(*two))
        assert "instances, and group 'p5' of A and group 'p5' of B have 4: 28 prepaid" in found

    @pytest.mark.parametrize("count", [32, UNKNOWN])
    def test_is_silent_on_all_and_on_what_is_not_known(self, count: Any) -> None:
        assert self.of(count) == []

    @pytest.mark.parametrize("described", [None, UNKNOWN])
    def test_a_group_that_does_not_describe_the_plan_uses_it_too(self, described: Any) -> None:
        other = compute(name="b", count=UNKNOWN, capacity=plan(plan=ARN, count=described))
        judged = deployment(slurm_cluster(compute(capacity=plan(plan=ARN)), other))
        assert told("HP1115", judged) == []
