"""What is said of groups, training plans, health checks and spot."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.model.capacity import InstanceGroup, OnDemand, ScheduledUpdate, Spot, TrainingPlan
from hyperpod_constructs.model.deployment import Deployment, Invalid
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN, without_tokens
from tests.rules.builders import (
    ACCOUNT,
    cluster,
    compute,
    controller,
    deployment,
    eks_cluster,
    kubernetes,
    plan,
    slurm_cluster,
    told,
)

ARN = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:training-plan/frontier"
KNOWN = ("described", "spares")
"""Fields that readers always know."""


def of(rule: str, *groups: InstanceGroup, **fields: Any) -> list[str]:
    """What a rule says of a Slurm cluster with these groups."""
    return told(rule, deployment(slurm_cluster(*groups, **fields)))


def test_a_sound_deployment_has_no_finding_about_capacity() -> None:
    sound = deployment(
        slurm_cluster(
            compute(count=32, capacity=plan()),
            compute(name="spare", count=2, spares=1, health_checks=("InstanceStress", "InstanceConnectivity")),
        )
    )
    assert [line for rule in RULES if rule.startswith("HP1") for line in told(rule, sound)] == []


class TestValuesArePossible:
    def test_the_advice_of_the_message_becomes_the_fix(self) -> None:
        judged = Deployment(invalid=(Invalid("Train/p5", "group 'p5': count is 7,000; use 0 to 6,758"),))
        assert told("HP1001", judged) == ["HP1001 group 'p5': count is 7,000 | use 0 to 6,758"]

    def test_a_message_without_advice_stays_whole(self) -> None:
        judged = Deployment(invalid=(Invalid("Train/p5", "a batch size has either count or percent"),))
        assert told("HP1001", judged) == [
            "HP1001 a batch size has either count or percent | change the value to one that this message allows"
        ]

    def test_is_silent_where_the_reader_found_nothing(self) -> None:
        assert told("HP1001", deployment(cluster())) == []


class TestGroupNamesAreUnique:
    def test_counts_the_groups_of_a_name(self) -> None:
        assert of("HP1002", compute(), compute()) == [
            "HP1002 2 groups are named 'p5' | give every group of the cluster a name of its own"
        ]

    def test_two_clusters_may_use_the_same_name(self) -> None:
        assert told("HP1002", deployment(cluster(), cluster(path="Other"))) == []

    def test_is_silent_on_unknown_names(self) -> None:
        assert of("HP1002", compute(name=UNKNOWN), compute(name=UNKNOWN)) == []


class TestGroupNamesDifferInMoreThanCase:
    def test_names_both(self) -> None:
        assert of("HP1003", compute(name="Workers"), compute(name="workers")) == [
            (
                "HP1003 groups 'Workers' and 'workers' differ only in case | "
                "rename one of them before it has nodes: renaming a group later deletes them"
            )
        ]

    def test_equal_names_are_the_other_rules(self) -> None:
        assert of("HP1003", compute(), compute()) == []

    def test_is_silent_on_unknown_names(self) -> None:
        assert of("HP1003", compute(name="Workers"), compute(name=UNKNOWN)) == []


def many(number: int) -> tuple[InstanceGroup, ...]:
    """So many groups."""
    return tuple(compute(name=f"g{index}") for index in range(number))


class TestNumberOfGroups:
    def test_more_than_the_api_takes_is_an_error(self) -> None:
        judged = deployment(cluster(groups=many(101)))
        assert told("HP1004", judged) == ["HP1004 101 instance groups | use at most 100; AWS's guides say 20"]
        assert told("HP1005", judged) == []

    def test_more_than_the_guides_say_is_a_warning(self) -> None:
        judged = deployment(cluster(groups=many(21)))
        assert told("HP1004", judged) == []
        assert told("HP1005", judged) == [
            (
                "HP1005 21 instance groups; AWS's guides say at most 20 | "
                "use at most 20 groups, or ask AWS support before you rely on more"
            )
        ]

    def test_none_at_all_is_a_warning_because_restricted_groups_are_not_seen(self) -> None:
        assert told("HP1006", deployment(cluster(groups=()))) == [
            "HP1006 0 instance groups | add 1 to 100 groups; a group may have 0 instances"
        ]

    @pytest.mark.parametrize("rule", ["HP1004", "HP1005", "HP1006"])
    @pytest.mark.parametrize("number", [1, 20])
    def test_is_silent_in_between(self, rule: str, number: int) -> None:
        assert told(rule, deployment(cluster(groups=many(number)))) == []

    @pytest.mark.parametrize("rule", ["HP1004", "HP1005", "HP1006"])
    def test_unknown_groups_count_as_groups(self, rule: str) -> None:
        assert told(rule, deployment(cluster(groups=(compute(name=UNKNOWN, count=UNKNOWN),)))) == []


class TestGroupsHaveOneKindOfType:
    def test_neither(self) -> None:
        assert of("HP1007", compute(instance_type=None)) == [
            (
                "HP1007 group 'p5' has neither instance type nor flexible types | "
                "give it one instance type such as ml.p5.48xlarge, or up to 20 flexible types"
            )
        ]

    def test_both(self) -> None:
        assert of("HP1007", compute(flexible_types=("ml.p5en.48xlarge",))) == [
            (
                "HP1007 group 'p5' has both instance type ml.p5.48xlarge and flexible types | "
                "leave one of them out; flexible types may begin with ml.p5.48xlarge"
            )
        ]

    def test_flexible_types_alone_are_enough(self) -> None:
        assert of("HP1007", compute(instance_type=None, flexible_types=("ml.p5en.48xlarge",))) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"instance_type": UNKNOWN},
            {"instance_type": None, "flexible_types": UNKNOWN},
            {"instance_type": UNKNOWN, "flexible_types": ("ml.p5.48xlarge",)},
        ],
    )
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of("HP1007", compute(**fields)) == []


class TestFlexibleTypesAreAShortList:
    def test_counts_them(self) -> None:
        types = tuple(f"ml.c{number}.large" for number in range(21))
        assert of("HP1008", compute(instance_type=None, flexible_types=types)) == [
            "HP1008 group 'p5' has 21 flexible types | use 1 to 20"
        ]

    def test_names_the_one_that_repeats(self) -> None:
        types = ("ml.p5.48xlarge", "ml.p5en.48xlarge", "ml.p5.48xlarge")
        assert of("HP1008", compute(instance_type=None, flexible_types=types)) == [
            (
                "HP1008 group 'p5' names ml.p5.48xlarge 2 times among its flexible types | "
                "name every type once, in order of preference"
            )
        ]

    def test_is_silent_on_twenty_different_ones(self) -> None:
        types = tuple(f"ml.c{number}.large" for number in range(20))
        assert of("HP1008", compute(instance_type=None, flexible_types=types)) == []

    @pytest.mark.parametrize("types", [UNKNOWN, (UNKNOWN, UNKNOWN)])
    def test_is_silent_on_what_is_not_known(self, types: object) -> None:
        assert of("HP1008", compute(instance_type=None, flexible_types=types)) == []


class TestContinuousFeaturesHaveContinuousProvisioning:
    @pytest.mark.parametrize(
        ("fields", "feature"),
        [
            ({"instance_type": None, "flexible_types": ("ml.p5.48xlarge",)}, "flexible types"),
            ({"min_count": 2}, "a minimum count of 2"),
            ({"capacity": Spot()}, "spot capacity"),
        ],
    )
    def test_names_the_feature(self, fields: dict[str, object], feature: str) -> None:
        assert of("HP1009", compute(**fields), provisioning=None) == [
            (
                f"HP1009 group 'p5' has {feature}, but the cluster leaves NodeProvisioningMode out | "
                f"write NodeProvisioningMode: Continuous, or leave {feature} out"
            )
        ]

    @pytest.mark.parametrize("provisioning", ["Continuous", UNKNOWN])
    def test_is_silent_where_the_mode_is_given(self, provisioning: object) -> None:
        assert of("HP1009", compute(min_count=2), provisioning=provisioning) == []

    def test_is_silent_on_a_minimum_of_none(self) -> None:
        assert of("HP1009", compute(min_count=0), provisioning=None) == []

    def test_is_silent_on_unknown_features(self) -> None:
        group = compute(flexible_types=UNKNOWN, min_count=UNKNOWN, capacity=UNKNOWN)
        assert of("HP1009", group, provisioning=None) == []


class TestInstanceTypesAreSpelledRight:
    def test_names_the_type_that_was_meant(self) -> None:
        assert of("HP1010", compute(instance_type="p5.48xlarge")) == [
            "HP1010 group 'p5' has instance type 'p5.48xlarge', which is no known type | use ml.p5.48xlarge"
        ]

    def test_a_new_size_of_a_known_family_has_a_way_out(self) -> None:
        assert of("HP1010", compute(instance_type="ml.p5.96xlarge")) == [
            (
                "HP1010 group 'p5' has instance type 'ml.p5.96xlarge', which is no known type | "
                "use one of ml.p5.4xlarge, ml.p5.48xlarge; if the type is new, describe it: "
                "hp.InstanceType('ml.p5.96xlarge', ...)"
            )
        ]

    def test_looks_at_flexible_types_too(self) -> None:
        assert of("HP1010", compute(instance_type=None, flexible_types=("ml.p5.48xlarge", "p5en.48xlarge"))) == [
            "HP1010 group 'p5' has instance type 'p5en.48xlarge', which is no known type | use ml.p5en.48xlarge"
        ]

    def test_is_silent_on_a_type_that_the_user_described(self) -> None:
        described = InstanceType("ml.p5.96xlarge", accelerators=16)
        group = InstanceGroup.compute("p5", described, count=2)
        assert of("HP1010", group) == []

    @pytest.mark.parametrize("name", ["ml.p5.48xlarge", UNKNOWN])
    def test_is_silent_on_known_and_unresolved_types(self, name: object) -> None:
        assert of("HP1010", compute(instance_type=name)) == []


class TestInstanceTypesAreKnown:
    def test_shows_how_to_describe_a_new_one(self) -> None:
        assert of("HP1011", compute(instance_type="ml.p7.48xlarge")) == [
            (
                "HP1011 group 'p5' has instance type 'ml.p7.48xlarge', which our catalogue does not have | "
                "if it is new, describe it: hp.InstanceType('ml.p7.48xlarge', accelerators=..., efa=..., addresses=...)"
            )
        ]

    def test_a_near_miss_is_the_other_rules(self) -> None:
        assert of("HP1011", compute(instance_type="p5.48xlarge")) == []

    def test_is_silent_on_a_type_that_the_user_described(self) -> None:
        assert of("HP1011", InstanceGroup.compute("p7", InstanceType("ml.p7.48xlarge"), count=2)) == []

    @pytest.mark.parametrize("types", [UNKNOWN, (UNKNOWN,)])
    def test_is_silent_on_what_is_not_known(self, types: object) -> None:
        assert of("HP1011", compute(instance_type=None, flexible_types=types)) == []


class TestInstanceTypesAreInTheRegion:
    def test_names_the_regions_that_list_it(self) -> None:
        assert of("HP1012", compute(instance_type="ml.trn2.48xlarge")) == [
            (
                "HP1012 group 'p5' has ml.trn2.48xlarge, which the price list of us-west-2 does not have | "
                "use us-east-2, or make sure that us-west-2 has it: price lists lag"
            )
        ]

    def test_is_silent_in_a_region_that_lists_it(self) -> None:
        assert of("HP1012", compute(instance_type="ml.trn2.48xlarge"), region="us-east-2") == []

    def test_is_silent_on_a_type_that_no_list_names(self) -> None:
        assert of("HP1012", compute(instance_type="ml.p5e.48xlarge")) == []

    @pytest.mark.parametrize("region", [None, UNKNOWN])
    def test_is_silent_where_the_region_is_not_known(self, region: object) -> None:
        assert of("HP1012", compute(instance_type="ml.trn2.48xlarge"), region=region) == []


class TestMinimumCountsCanBeMet:
    def test_counts_spares(self) -> None:
        assert of("HP1013", compute(count=4, spares=1, min_count=6)) == [
            (
                "HP1013 group 'p5' has a minimum count of 6, but 4 + 1 spare instances | "
                "use a minimum count of 0 to 5, or leave it out"
            )
        ]

    def test_all_or_nothing_is_allowed(self) -> None:
        assert of("HP1013", compute(count=4, spares=1, min_count=5)) == []

    @pytest.mark.parametrize("fields", [{"count": UNKNOWN, "min_count": 6}, {"count": 4, "min_count": UNKNOWN}])
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of("HP1013", compute(**fields)) == []


class TestThreadsPerCoreFitTheType:
    def test_types_without_multithreading_have_one(self) -> None:
        assert of("HP1014", compute(instance_type="ml.c7g.4xlarge", threads_per_core=2)) == [
            "HP1014 group 'p5' asks for 2 threads per core of ml.c7g.4xlarge | use 1, or leave it out"
        ]

    @pytest.mark.parametrize(("name", "threads"), [("ml.c7g.4xlarge", 1), ("ml.p5.48xlarge", 2), ("ml.p5.48xlarge", 1)])
    def test_is_silent_on_what_the_type_has(self, name: str, threads: int) -> None:
        assert of("HP1014", compute(instance_type=name, threads_per_core=threads)) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"instance_type": UNKNOWN, "threads_per_core": 2},
            {"instance_type": "ml.c7g.4xlarge", "threads_per_core": UNKNOWN},
            {"instance_type": "ml.p7.48xlarge", "threads_per_core": 2},
        ],
    )
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of("HP1014", compute(**fields)) == []


class TestImagesAreAmiIds:
    def test_shows_what_an_id_looks_like(self) -> None:
        assert of("HP1015", compute(image_id="ubuntu-22.04")) == [
            (
                "HP1015 group 'p5' has image 'ubuntu-22.04' | "
                "use an id such as ami-0123456789abcdef0 (8 to 17 hexadecimal digits), or leave it out"
            )
        ]

    @pytest.mark.parametrize(
        "image", ["ami-12345678", "ami-0123456789abcdef0", "default", "{{resolve:ssm:/images/slurm}}", UNKNOWN, None]
    )
    def test_is_silent_on_ids_defaults_and_what_is_decided_at_deploy(self, image: object) -> None:
        assert of("HP1015", compute(image_id=image)) == []


class TestSchedulesArePlainCron:
    @pytest.mark.parametrize("schedule", ["cron(0 3 * * ? *)", "cron(*/5 3 ? * SUN *)", "rate(7 days)"])
    def test_shows_one_that_is_taken(self, schedule: str) -> None:
        assert of("HP1016", compute(scheduled_update=ScheduledUpdate(schedule=schedule))) == [
            (
                f"HP1016 group 'p5' is updated on the schedule {schedule!r} | "
                "use cron(MINUTE HOUR DAY MONTH WEEKDAY YEAR) with one number for minute and hour, a number "
                "or ? for the "
                "day and one day or ? for the weekday, such as cron(0 3 ? * SUN *)"
            )
        ]

    @pytest.mark.parametrize("schedule", ["cron(0 3 ? * SUN *)", "cron(30 23 31 */3 ? 2027)", "cron(0 3 ? * 7#1 *)"])
    def test_is_silent_on_what_the_schema_takes(self, schedule: str) -> None:
        assert of("HP1016", compute(scheduled_update=ScheduledUpdate(schedule=schedule))) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        token = without_tokens(ScheduledUpdate(schedule="${Token[TOKEN.7]}"))
        assert of("HP1016", compute(scheduled_update=UNKNOWN), compute(name="b", scheduled_update=token)) == []


class TestPlansAreOfTheSamePlace:
    def test_names_both_regions(self) -> None:
        elsewhere = TrainingPlan.unchecked(ARN.replace("us-west-2", "us-east-1"))
        assert of("HP1101", compute(capacity=elsewhere)) == [
            (
                "HP1101 group 'p5': training plan 'frontier' is in us-east-1, its cluster in us-west-2 | "
                "use a plan of us-west-2, or deploy the cluster to us-east-1"
            )
        ]

    def test_names_both_accounts(self) -> None:
        elsewhere = TrainingPlan.unchecked(ARN.replace(ACCOUNT, "444455556666"))
        assert of("HP1101", compute(capacity=elsewhere)) == [
            (
                "HP1101 group 'p5': training plan 'frontier' belongs to account 444455556666, its cluster to "
                "111122223333 | "
                "use a plan of account 111122223333, or deploy the cluster to account 444455556666"
            )
        ]

    def test_the_zone_tells_the_region_of_a_plan_without_arn(self) -> None:
        assert of("HP1101", compute(capacity=plan(zone="use1-az4"))) == [
            (
                "HP1101 group 'p5': training plan 'frontier' is in us-east-1, its cluster in us-west-2 | "
                "use a plan of us-west-2, or deploy the cluster to us-east-1"
            )
        ]

    def test_is_silent_on_a_plan_of_the_same_place(self) -> None:
        assert of("HP1101", compute(capacity=TrainingPlan.unchecked(ARN)), compute(name="b", capacity=plan())) == []

    def test_is_silent_where_the_place_is_not_known(self) -> None:
        elsewhere = TrainingPlan.unchecked("arn:aws:sagemaker:us-east-1:444455556666:training-plan/frontier")
        assert of("HP1101", compute(capacity=elsewhere), region=None, account=None) == []
        assert of("HP1101", compute(capacity=without_tokens(plan(plan="${Token[TOKEN.3]}", zone=UNKNOWN)))) == []


class TestPlansHoldTheTypeOfTheGroup:
    def test_names_both_types(self) -> None:
        assert of("HP1102", compute(capacity=plan(instance_type="ml.p5en.48xlarge"))) == [
            (
                "HP1102 group 'p5' has ml.p5.48xlarge, but training plan 'frontier' holds ml.p5en.48xlarge | "
                "use ml.p5en.48xlarge in the group, or a plan that holds ml.p5.48xlarge"
            )
        ]

    @pytest.mark.parametrize("bought", ["ml.p5.48xlarge", None, UNKNOWN])
    def test_is_silent_on_the_same_type_and_on_none(self, bought: object) -> None:
        assert of("HP1102", compute(capacity=plan(instance_type=bought))) == []


class TestPlansAreInTheZoneOfTheGroup:
    said = (
        "HP1103 group 'p5' stands in usw2-az2, but training plan 'frontier' in usw2-az1 | "
        "give the group subnets in usw2-az1, or use a plan in usw2-az2"
    )

    def test_the_zone_of_the_subnets_counts(self) -> None:
        assert of("HP1103", compute(capacity=plan(zone="usw2-az1"))) == [self.said]

    def test_the_zone_of_the_group_counts_first(self) -> None:
        assert of("HP1103", compute(capacity=plan(zone="usw2-az1"), zone="usw2-az1")) == []

    def test_the_subnets_of_the_group_count_before_those_of_the_cluster(self) -> None:
        own = VpcPlacement(subnets=("Net/Other",), security_groups=("Net/Group",))
        judged = deployment(
            slurm_cluster(compute(capacity=plan(), placement=own)), subnets=(Subnet(path="Net/Other", zone="usw2-az1"),)
        )
        assert told("HP1103", judged) == [
            (
                "HP1103 group 'p5' stands in usw2-az1, but training plan 'frontier' in usw2-az2 | "
                "give the group subnets in usw2-az2, or use a plan in usw2-az1"
            )
        ]

    def test_a_plan_whose_name_is_a_token_is_still_compared(self) -> None:
        nameless = without_tokens(plan(plan="${Token[TOKEN.3]}", zone="usw2-az1"))
        assert of("HP1103", compute(capacity=nameless)) == [
            self.said.replace("training plan 'frontier'", "its training plan")
        ]

    def test_is_silent_in_the_same_zone(self) -> None:
        assert of("HP1103", compute(capacity=plan())) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"capacity": plan(zone=UNKNOWN)},
            {"capacity": plan(zone="us-west-2a")},
            {"capacity": plan(zone="usw2-az1"), "zone": UNKNOWN},
            {"capacity": plan(zone="usw2-az1"), "placement": UNKNOWN},
        ],
    )
    def test_is_silent_where_a_zone_is_not_known(self, fields: dict[str, object]) -> None:
        assert of("HP1103", compute(**fields)) == []


class TestPlansAreSoldForTheType:
    def test_lists_the_types_that_are(self) -> None:
        assert of("HP1104", compute(instance_type="ml.g5.48xlarge", capacity=plan())) == [
            (
                "HP1104 group 'p5': training plan 'frontier' for ml.g5.48xlarge, a type that is not on AWS's list | "
                "use one of ml.p4d.24xlarge, ml.p5.4xlarge, ml.p5.48xlarge, ml.p5e.48xlarge, ml.p5en.48xlarge, "
                "ml.p6-b200.48xlarge, ml.p6-b300.48xlarge, ml.trn1.32xlarge, ml.trn2.48xlarge, "
                "unless your account team sold you this plan"
            )
        ]

    @pytest.mark.parametrize("name", ["ml.trn2.48xlarge", UNKNOWN])
    def test_is_silent_on_listed_and_unknown_types(self, name: object) -> None:
        assert of("HP1104", compute(instance_type=name, capacity=plan())) == []


class TestControllersOutlivePlans:
    def test_names_the_plan(self) -> None:
        assert told("HP1105", deployment(cluster(groups=(controller(capacity=plan()), compute())))) == [
            (
                "HP1105 group 'controller' is the controller and ends with training plan 'frontier' | "
                "leave its capacity out: a controller is a CPU instance on demand"
            )
        ]

    @pytest.mark.parametrize("role", ["Compute", UNKNOWN])
    def test_is_silent_on_other_roles(self, role: object) -> None:
        assert of("HP1105", compute(node_type=role, capacity=plan())) == []


class TestMinimumCountsWaitForThePlan:
    def test_says_when_the_plan_starts(self) -> None:
        assert of("HP1106", compute(min_count=2, capacity=plan())) == [
            (
                "HP1106 group 'p5' has a minimum count of 2 on training plan 'frontier': if the plan has not "
                "started, the "
                "group rolls back after 3 hours | leave the minimum count out until 2026-12-07 11:30 UTC"
            )
        ]

    def test_a_plan_without_dates_is_waited_for_too(self) -> None:
        assert of("HP1106", compute(min_count=2, capacity=TrainingPlan.unchecked(ARN))) == [
            (
                "HP1106 group 'p5' has a minimum count of 2 on training plan 'frontier': if the plan has not "
                "started, the "
                "group rolls back after 3 hours | leave the minimum count out until the plan is Active"
            )
        ]

    @pytest.mark.parametrize("least", [None, 0, UNKNOWN])
    def test_is_silent_without_a_minimum(self, least: object) -> None:
        assert of("HP1106", compute(min_count=least, capacity=plan())) == []

    def test_is_silent_without_a_plan(self) -> None:
        assert of("HP1106", compute(min_count=2, capacity=OnDemand())) == []


COUNTS = "plans come in 1, 2, 4, 8, 16, 32, 64"


class TestGroupsFitTheirPlan:
    def test_spares_count(self) -> None:
        assert of("HP1107", compute(count=32, spares=2, capacity=plan())) == [
            (
                "HP1107 group 'p5': 34 instances (32 + 2 spares) on training plan 'frontier', which holds 32 | "
                f"use count=30 and spares=2, or count=32 and spares=0, or put 2 more on a second plan: {COUNTS}"
            )
        ]

    def test_without_spares_only_the_count_can_go_down(self) -> None:
        assert of("HP1107", compute(count=40, capacity=plan())) == [
            (
                "HP1107 group 'p5': 40 instances on training plan 'frontier', which holds 32 | "
                f"use count=32, or put 8 more on a second plan: {COUNTS}"
            )
        ]

    def test_groups_that_share_a_plan_are_added_up_by_name_and_by_arn(self) -> None:
        groups = (compute(count=20, capacity=plan()), compute(name="b", count=14, capacity=plan(plan=ARN)))
        assert of("HP1107", *groups) == [
            (
                "HP1107 group 'p5' (20), group 'b' (14): 34 instances on training plan 'frontier', which holds 32 | "
                f"take 2 off these groups, or put 2 more on a second plan: {COUNTS}"
            )
        ]

    def test_clusters_that_share_a_plan_are_added_up(self) -> None:
        one = slurm_cluster(compute(count=20, capacity=plan()))
        two = slurm_cluster(compute(name="b", count=20, capacity=plan()), path="Other")
        assert len(told("HP1107", deployment(one, two))) == 1

    def test_plans_of_one_name_in_two_regions_are_two(self) -> None:
        one = slurm_cluster(compute(count=20, capacity=plan()))
        two = slurm_cluster(compute(count=20, capacity=plan(zone="use1-az4")), path="Other", region="us-east-1")
        assert told("HP1107", deployment(one, two)) == []

    def test_a_group_of_unknown_count_is_left_out_of_the_sum(self) -> None:
        groups = (compute(name="a", count=UNKNOWN, capacity=plan()), compute(count=40, capacity=plan()))
        assert of("HP1107", *groups) == [
            (
                "HP1107 group 'p5': 40 instances on training plan 'frontier', which holds 32 | "
                f"use count=32, or put 8 more on a second plan: {COUNTS}"
            )
        ]

    def test_is_silent_where_count_and_spares_just_fit(self) -> None:
        assert of("HP1107", compute(count=30, spares=2, capacity=plan())) == []

    def test_is_silent_on_two_plans_whose_names_are_not_known(self) -> None:
        groups = [compute(name=name, count=20, capacity=without_tokens(plan(plan="${Token[P.1]}"))) for name in "ab"]
        assert of("HP1107", *groups) == []

    @pytest.mark.parametrize(
        "fields", [{"count": UNKNOWN, "capacity": plan()}, {"count": 40, "capacity": plan(count=UNKNOWN)}]
    )
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of("HP1107", compute(**fields)) == []


class TestPlanCountsAreSold:
    def test_lists_what_is_sold(self) -> None:
        assert of("HP1108", compute(count=30, capacity=plan(count=30))) == [
            (
                "HP1108 group 'p5': training plan 'frontier' is said to hold 30 instances | "
                "use the count that was bought, one of 1, 2, 4, 8, 16, 32, 64; UltraServers and plans from your "
                "account "
                "team may have another"
            )
        ]

    @pytest.mark.parametrize("count", [1, 32, 64, UNKNOWN, None])
    def test_is_silent_on_sold_and_unknown_counts(self, count: object) -> None:
        assert of("HP1108", compute(capacity=plan(count=count))) == []


class TestPlansAreDescribed:
    def test_says_what_is_not_checked(self) -> None:
        assert of("HP1109", compute(capacity=TrainingPlan.unchecked(ARN))) == [
            (
                "HP1109 group 'p5': count, zone and dates of training plan 'frontier' are not checked | "
                "describe it: hp.TrainingPlan('frontier', count=..., zone=..., starts=..., ends=...), as `hyperpod "
                "plans "
                "list` prints it"
            )
        ]

    def test_is_silent_on_a_plan_with_facts(self) -> None:
        assert of("HP1109", compute(capacity=plan())) == []

    def test_is_silent_where_the_arn_is_not_known(self) -> None:
        assert of("HP1109", compute(capacity=without_tokens(TrainingPlan.unchecked("${Token[TOKEN.3]}")))) == []


class TestSparesOnPlansArePrepaid:
    def test_says_what_share_is_idle(self) -> None:
        assert of("HP1110", compute(count=30, spares=2, capacity=plan())) == [
            (
                "HP1110 group 'p5' keeps 2 of the 32 instances of training plan 'frontier' as spares: 6.25 % of the "
                "prepaid hours are idle | keep them if a node that is missing for days costs more than that; "
                "otherwise use spares=0"
            )
        ]

    def test_is_silent_without_spares(self) -> None:
        assert of("HP1110", compute(count=32, capacity=plan())) == []

    def test_is_silent_where_the_count_is_not_known(self) -> None:
        assert of("HP1110", compute(count=30, spares=2, capacity=plan(count=UNKNOWN))) == []


class TestPlanZonesAreIds:
    def test_a_zone_name_is_not_enough(self) -> None:
        assert of("HP1111", compute(capacity=plan(zone="us-west-2b"))) == [
            (
                "HP1111 group 'p5': training plan 'frontier' is said to stand in 'us-west-2b' | "
                "use the plan's AvailabilityZoneId, such as usw2-az2, which DescribeTrainingPlan prints"
            )
        ]

    @pytest.mark.parametrize("zone", ["usw2-az2", "use1-dfw2-az1", None, UNKNOWN])
    def test_is_silent_on_ids_and_on_what_is_not_known(self, zone: object) -> None:
        assert of("HP1111", compute(capacity=plan(zone=zone))) == []


class TestPlansAreDescribedAlike:
    def test_names_the_field_that_differs(self) -> None:
        groups = (compute(capacity=plan()), compute(name="b", capacity=plan(count=16)))
        assert of("HP1112", *groups) == [
            (
                "HP1112 training plan 'frontier' has count 32 in group 'p5', but 16 in group 'b' | "
                "make one hp.TrainingPlan and give it to both groups"
            )
        ]

    def test_is_silent_on_equal_descriptions(self) -> None:
        assert of("HP1112", compute(capacity=plan()), compute(name="b", capacity=plan())) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of("HP1112", compute(capacity=plan()), compute(name="b", capacity=plan(zone=UNKNOWN, starts=None))) == []


class TestHealthChecksExist:
    @pytest.mark.parametrize("check", ["MultiNodeTrainingValidation", "instancestress"])
    def test_lists_the_two_that_do(self, check: str) -> None:
        assert of("HP1201", compute(health_checks=(check,))) == [
            (
                f"HP1201 group 'p5' asks for the deep health check {check!r}, which is not documented | "
                "use InstanceStress and InstanceConnectivity"
            )
        ]

    @pytest.mark.parametrize("checks", [("InstanceStress", "InstanceConnectivity"), (), None, UNKNOWN, (UNKNOWN,)])
    def test_is_silent_on_both_and_on_what_is_not_known(self, checks: object) -> None:
        assert of("HP1201", compute(health_checks=checks)) == []


class TestHealthChecksFitTheType:
    def test_cpu_types_have_none(self) -> None:
        assert of("HP1202", compute(instance_type="ml.m5.4xlarge", health_checks=("InstanceStress",))) == [
            (
                "HP1202 group 'p5' asks for deep health checks of ml.m5.4xlarge | "
                "leave them out of this group: on Slurm they are for GPU types"
            )
        ]

    def test_trainium_has_them_on_eks_only(self) -> None:
        fields = {"instance_type": "ml.trn2.48xlarge", "health_checks": ("InstanceStress",)}
        assert len(of("HP1202", compute(**fields))) == 1
        assert told("HP1202", deployment(eks_cluster(kubernetes(**fields)))) == []

    def test_says_what_eks_has(self) -> None:
        group = kubernetes(instance_type="ml.m5.4xlarge", health_checks=("InstanceStress",))
        assert told("HP1202", deployment(eks_cluster(group))) == [
            (
                "HP1202 group 'p5' asks for deep health checks of ml.m5.4xlarge | "
                "leave them out of this group: on EKS they are for GPU and Trainium types"
            )
        ]

    def test_a_controller_is_the_other_rules(self) -> None:
        assert told("HP1202", deployment(cluster(groups=(controller(health_checks=("InstanceStress",)),)))) == []

    @pytest.mark.parametrize("name", ["ml.p5.48xlarge", "ml.p7.48xlarge", UNKNOWN])
    def test_is_silent_on_gpu_types_and_on_what_is_not_known(self, name: object) -> None:
        assert of("HP1202", compute(instance_type=name, health_checks=("InstanceStress",))) == []

    def test_is_silent_where_the_orchestrator_is_not_known(self) -> None:
        group = compute(instance_type="ml.m5.4xlarge", health_checks=("InstanceStress",))
        assert of("HP1202", group, orchestrator=UNKNOWN) == []


class TestHealthChecksAreForComputeNodes:
    def test_names_the_role(self) -> None:
        assert told("HP1203", deployment(cluster(groups=(controller(health_checks=("InstanceStress",)),)))) == [
            (
                "HP1203 group 'controller' asks for deep health checks of Controller nodes | "
                "leave them out of this group: they are for Compute nodes"
            )
        ]

    @pytest.mark.parametrize("role", ["Compute", None, UNKNOWN])
    def test_is_silent_on_other_roles(self, role: object) -> None:
        assert of("HP1203", compute(node_type=role, health_checks=("InstanceStress",))) == []


class TestCheckedGroupsHaveSpares:
    def test_says_how_to_have_both(self) -> None:
        assert of("HP1204", compute(health_checks=("InstanceStress",))) == [
            (
                "HP1204 group 'p5' has deep health checks and 0 spares: jobs wait while a new node is checked | "
                "take the checks off once the cluster is up (health_checks=()), or give the group a spare"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [{"spares": 1}, {"count": 0}, {"count": UNKNOWN}, {"instance_type": UNKNOWN}, {"health_checks": UNKNOWN}],
    )
    def test_is_silent_with_a_spare_without_nodes_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of("HP1204", compute(**{"health_checks": ("InstanceStress",), **fields})) == []


class TestSpotIsForEks:
    said = (
        "HP1205 group 'p5' is on spot capacity in a Slurm cluster | use OnDemand() or a TrainingPlan, or an EKS cluster"
    )

    def test_slurm_is_refused(self) -> None:
        assert of("HP1205", compute(capacity=Spot())) == [self.said]

    def test_slurm_in_its_old_form_is_refused(self) -> None:
        old = compute(capacity=Spot(), node_type=None, partitions=())
        assert told("HP1205", deployment(cluster(groups=(old,), orchestrator=None))) == [self.said]

    def test_is_silent_on_eks(self) -> None:
        assert told("HP1205", deployment(eks_cluster(kubernetes(capacity=Spot())))) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of("HP1205", compute(capacity=Spot()), orchestrator=UNKNOWN) == []
        assert of("HP1205", compute(capacity=UNKNOWN)) == []


def test_is_silent_where_nothing_is_known() -> None:
    nothing: dict[str, Any] = {field.name: UNKNOWN for field in fields(InstanceGroup) if field.name not in KNOWN}
    group = InstanceGroup(**nothing)
    judged = deployment(cluster(groups=(group,), orchestrator=UNKNOWN, provisioning=UNKNOWN, placement=UNKNOWN))
    assert [line for rule in RULES if rule.startswith("HP1") for line in told(rule, judged)] == []


def test_a_group_without_nodes_is_legal() -> None:
    judged = deployment(slurm_cluster(compute(count=0)))
    assert [line for rule in RULES if rule.startswith("HP1") for line in told(rule, judged)] == []
