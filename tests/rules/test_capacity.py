"""What is said of groups."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.model.capacity import (
    AutoPatch,
    BatchSize,
    InstanceGroup,
    RollingUpdate,
    ScheduledUpdate,
    Spot,
)
from hyperpod_constructs.model.deployment import Deployment, Invalid, Location
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN, without_tokens
from tests.rules.builders import (
    cluster,
    compute,
    deployment,
    eks_cluster,
    kubernetes,
    of_slurm,
    plan,
    slurm_cluster,
    told,
)

KNOWN = ("described", "spares", "asked", "eks_fields")
"""Fields that readers always know."""


def test_a_sound_deployment_has_no_finding_about_capacity() -> None:
    sound = deployment(
        slurm_cluster(
            compute(count=32, capacity=plan()),
            compute(name="spare", count=2, spares=1, health_checks=("InstanceStress", "InstanceConnectivity")),
        )
    )
    assert [line for rule in RULES if rule.startswith("HP1") for line in told(rule, sound)] == []


class TestValuesArePossible:
    INVALID = Invalid("Train/p5", "group 'p5': count is 7,000", "use 0 to 6,758", Location("t.yaml", 7))

    def test_says_what_the_reader_found(self) -> None:
        judged = Deployment(invalid=(self.INVALID,))
        assert told("HP1001", judged) == ["HP1001 group 'p5': count is 7,000 | use 0 to 6,758"]

    def test_points_to_the_property_and_not_to_its_group(self) -> None:
        judged = Deployment(invalid=(self.INVALID,), locations={"Train/p5": Location("t.yaml", 3)})
        assert [(each.file, each.line) for each in rules.check(judged)] == [("t.yaml", 7)]

    def test_leaves_what_may_be_new_to_another_rule(self) -> None:
        judged = Deployment(invalid=(replace(self.INVALID, certain=False),))
        assert told("HP1001", judged) == []
        assert told("HP1017", judged) == ["HP1017 group 'p5': count is 7,000 | use 0 to 6,758"]
        assert told("HP1017", Deployment(invalid=(self.INVALID,))) == []

    def test_is_silent_where_the_reader_found_nothing(self) -> None:
        assert told("HP1001", deployment(cluster())) == []


class TestGroupNamesAreUnique:
    def test_counts_the_groups_of_a_name(self) -> None:
        assert of_slurm("HP1002", compute(), compute()) == [
            "HP1002 2 groups are named 'p5' | give every group of the cluster a name of its own"
        ]

    def test_two_clusters_may_use_the_same_name(self) -> None:
        assert told("HP1002", deployment(cluster(), cluster(path="Other"))) == []

    def test_is_silent_on_unknown_names(self) -> None:
        assert of_slurm("HP1002", compute(name=UNKNOWN), compute(name=UNKNOWN)) == []


class TestGroupNamesDifferInMoreThanCase:
    def test_names_both(self) -> None:
        assert of_slurm("HP1003", compute(name="Workers"), compute(name="workers")) == [
            (
                "HP1003 groups 'Workers' and 'workers' differ only in case | "
                "rename one of them before it has nodes: renaming a group later deletes them"
            )
        ]

    def test_equal_names_are_the_other_rules(self) -> None:
        assert of_slurm("HP1003", compute(), compute()) == []

    def test_is_silent_on_unknown_names(self) -> None:
        assert of_slurm("HP1003", compute(name="Workers"), compute(name=UNKNOWN)) == []


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

    def test_is_silent_on_a_cluster_of_restricted_groups(self) -> None:
        assert told("HP1006", deployment(cluster(groups=(), restricted_groups=UNKNOWN))) == []

    def test_groups_that_may_be_left_out_are_not_counted(self) -> None:
        maybe = tuple(compute(name=UNKNOWN, count=UNKNOWN) for _ in range(101))
        judged = deployment(cluster(groups=maybe))
        assert told("HP1004", judged) == told("HP1005", judged) == []

    @pytest.mark.parametrize("rule", ["HP1004", "HP1005", "HP1006"])
    def test_unknown_groups_count_as_groups(self, rule: str) -> None:
        assert told(rule, deployment(cluster(groups=(compute(name=UNKNOWN, count=UNKNOWN),)))) == []


class TestGroupsHaveOneKindOfType:
    def test_neither(self) -> None:
        assert of_slurm("HP1007", compute(instance_type=None)) == [
            (
                "HP1007 group 'p5' has neither instance type nor flexible types | "
                "give it one instance type such as ml.p5.48xlarge, or up to 20 flexible types"
            )
        ]

    def test_both(self) -> None:
        assert of_slurm("HP1007", compute(flexible_types=("ml.p5en.48xlarge",))) == [
            (
                "HP1007 group 'p5' has both instance type ml.p5.48xlarge and flexible types | "
                "leave one of them out; flexible types may begin with ml.p5.48xlarge"
            )
        ]

    def test_flexible_types_alone_are_enough(self) -> None:
        assert of_slurm("HP1007", compute(instance_type=None, flexible_types=("ml.p5en.48xlarge",))) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"instance_type": UNKNOWN},
            {"instance_type": None, "flexible_types": UNKNOWN},
            {"instance_type": UNKNOWN, "flexible_types": ("ml.p5.48xlarge",)},
        ],
    )
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of_slurm("HP1007", compute(**fields)) == []


class TestFlexibleTypesAreAShortList:
    def test_counts_them(self) -> None:
        types = tuple(f"ml.c{number}.large" for number in range(21))
        assert of_slurm("HP1008", compute(instance_type=None, flexible_types=types)) == [
            "HP1008 group 'p5' has 21 flexible types | use 1 to 20"
        ]

    def test_names_the_one_that_repeats(self) -> None:
        types = ("ml.p5.48xlarge", "ml.p5en.48xlarge", "ml.p5.48xlarge")
        assert of_slurm("HP1008", compute(instance_type=None, flexible_types=types)) == [
            (
                "HP1008 group 'p5' names ml.p5.48xlarge 2 times among its flexible types | "
                "name every type once, in order of preference"
            )
        ]

    def test_is_silent_on_twenty_different_ones(self) -> None:
        types = tuple(f"ml.c{number}.large" for number in range(20))
        assert of_slurm("HP1008", compute(instance_type=None, flexible_types=types)) == []

    @pytest.mark.parametrize("types", [UNKNOWN, (UNKNOWN, UNKNOWN)])
    def test_is_silent_on_what_is_not_known(self, types: object) -> None:
        assert of_slurm("HP1008", compute(instance_type=None, flexible_types=types)) == []


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
        assert of_slurm("HP1009", compute(**fields), provisioning=None) == [
            (
                f"HP1009 group 'p5' has {feature}, but the cluster leaves NodeProvisioningMode out | "
                f"write NodeProvisioningMode: Continuous, or leave {feature} out"
            )
        ]

    @pytest.mark.parametrize("provisioning", ["Continuous", UNKNOWN])
    def test_is_silent_where_the_mode_is_given(self, provisioning: object) -> None:
        assert of_slurm("HP1009", compute(min_count=2), provisioning=provisioning) == []

    def test_is_silent_on_a_minimum_of_none(self) -> None:
        assert of_slurm("HP1009", compute(min_count=0), provisioning=None) == []

    def test_is_silent_on_unknown_features(self) -> None:
        group = compute(flexible_types=UNKNOWN, min_count=UNKNOWN, capacity=UNKNOWN)
        assert of_slurm("HP1009", group, provisioning=None) == []


class TestInstanceTypesAreSpelledRight:
    def test_names_the_type_that_was_meant(self) -> None:
        assert of_slurm("HP1010", compute(instance_type="p5.48xlarge")) == [
            "HP1010 group 'p5' has instance type 'p5.48xlarge', which is no known type | use ml.p5.48xlarge"
        ]

    @pytest.mark.parametrize("size", ["96xlarge", "metal", "metal-48xl", "large"])
    def test_a_new_size_of_a_known_family_is_no_misspelling(self, size: str) -> None:
        group = compute(instance_type=f"ml.p5.{size}")
        assert of_slurm("HP1010", group) == []
        assert len(of_slurm("HP1011", group)) == 1

    @pytest.mark.parametrize("name", ["ml.p5.48xlarg", "ml.p5.48lxarge", "ml.p5.048xlarge", "p5.96xlarge"])
    def test_what_no_type_is_ever_called_is_one(self, name: str) -> None:
        assert len(of_slurm("HP1010", compute(instance_type=name))) == 1

    def test_looks_at_flexible_types_too(self) -> None:
        assert of_slurm("HP1010", compute(instance_type=None, flexible_types=("ml.p5.48xlarge", "p5en.48xlarge"))) == [
            "HP1010 group 'p5' has instance type 'p5en.48xlarge', which is no known type | use ml.p5en.48xlarge"
        ]

    def test_is_silent_on_a_type_that_the_user_described(self) -> None:
        described = InstanceType("ml.p5.96xlarge", accelerators=16)
        group = InstanceGroup.compute("p5", described, count=2)
        assert of_slurm("HP1010", group) == []

    @pytest.mark.parametrize("name", ["ml.p5.48xlarge", UNKNOWN])
    def test_is_silent_on_known_and_unresolved_types(self, name: object) -> None:
        assert of_slurm("HP1010", compute(instance_type=name)) == []


class TestInstanceTypesAreKnown:
    def test_shows_how_to_describe_a_new_one(self) -> None:
        assert of_slurm("HP1011", compute(instance_type="ml.p7.48xlarge")) == [
            (
                "HP1011 group 'p5' has instance type 'ml.p7.48xlarge', which our catalogue does not have | "
                "see that the name is right; if it is new, in the CDK describe it: "
                "hp.InstanceType('ml.p7.48xlarge', accelerators=..., efa=..., addresses=...)"
            )
        ]

    def test_a_near_miss_is_the_other_rules(self) -> None:
        assert of_slurm("HP1011", compute(instance_type="p5.48xlarge")) == []

    def test_is_silent_on_a_type_that_the_user_described(self) -> None:
        assert of_slurm("HP1011", InstanceGroup.compute("p7", InstanceType("ml.p7.48xlarge"), count=2)) == []

    @pytest.mark.parametrize("types", [UNKNOWN, (UNKNOWN,)])
    def test_is_silent_on_what_is_not_known(self, types: object) -> None:
        assert of_slurm("HP1011", compute(instance_type=None, flexible_types=types)) == []


class TestInstanceTypesAreInTheRegion:
    def test_names_the_regions_that_list_it(self) -> None:
        assert of_slurm("HP1012", compute(instance_type="ml.trn2.48xlarge")) == [
            (
                "HP1012 group 'p5' has ml.trn2.48xlarge, which the price list of us-west-2 does not have | "
                "use us-east-2, or make sure that us-west-2 has it: price lists lag"
            )
        ]

    def test_is_silent_in_a_region_that_lists_it(self) -> None:
        assert of_slurm("HP1012", compute(instance_type="ml.trn2.48xlarge"), region="us-east-2") == []

    def test_is_silent_on_a_type_that_no_list_names(self) -> None:
        assert of_slurm("HP1012", compute(instance_type="ml.p5e.48xlarge")) == []

    @pytest.mark.parametrize("region", [None, UNKNOWN])
    def test_is_silent_where_the_region_is_not_known(self, region: object) -> None:
        assert of_slurm("HP1012", compute(instance_type="ml.trn2.48xlarge"), region=region) == []


class TestMinimumCountsCanBeMet:
    def test_counts_spares(self) -> None:
        assert of_slurm("HP1013", compute(count=4, spares=1, min_count=6)) == [
            (
                "HP1013 group 'p5' has a minimum count of 6, but 4 + 1 spare instances | "
                "use a minimum count of 0 to 5, or leave it out"
            )
        ]

    def test_all_or_nothing_is_allowed(self) -> None:
        assert of_slurm("HP1013", compute(count=4, spares=1, min_count=5)) == []

    @pytest.mark.parametrize("fields", [{"count": UNKNOWN, "min_count": 6}, {"count": 4, "min_count": UNKNOWN}])
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of_slurm("HP1013", compute(**fields)) == []


class TestThreadsPerCoreFitTheType:
    def test_types_without_multithreading_have_one(self) -> None:
        assert of_slurm("HP1014", compute(instance_type="ml.c7g.4xlarge", threads_per_core=2)) == [
            "HP1014 group 'p5' asks for 2 threads per core of ml.c7g.4xlarge | use 1, or leave it out"
        ]

    @pytest.mark.parametrize(("name", "threads"), [("ml.c7g.4xlarge", 1), ("ml.p5.48xlarge", 2), ("ml.p5.48xlarge", 1)])
    def test_is_silent_on_what_the_type_has(self, name: str, threads: int) -> None:
        assert of_slurm("HP1014", compute(instance_type=name, threads_per_core=threads)) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"instance_type": UNKNOWN, "threads_per_core": 2},
            {"instance_type": "ml.c7g.4xlarge", "threads_per_core": UNKNOWN},
            {"instance_type": "ml.p7.48xlarge", "threads_per_core": 2},
        ],
    )
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of_slurm("HP1014", compute(**fields)) == []


class TestImagesAreAmiIds:
    def test_shows_what_an_id_looks_like(self) -> None:
        assert of_slurm("HP1015", compute(image_id="ubuntu-22.04")) == [
            (
                "HP1015 group 'p5' has image 'ubuntu-22.04' | "
                "use an id such as ami-0123456789abcdef0 (8 to 17 hexadecimal digits), or leave it out"
            )
        ]

    @pytest.mark.parametrize(
        "image", ["ami-12345678", "ami-0123456789abcdef0", "default", "{{resolve:ssm:/images/slurm}}", UNKNOWN, None]
    )
    def test_is_silent_on_ids_defaults_and_what_is_decided_at_deploy(self, image: object) -> None:
        assert of_slurm("HP1015", compute(image_id=image)) == []


class TestSchedulesArePlainCron:
    @pytest.mark.parametrize("schedule", ["cron(0 3 * * ? *)", "cron(*/5 3 ? * SUN *)", "rate(7 days)"])
    def test_shows_one_that_is_taken(self, schedule: str) -> None:
        assert of_slurm("HP1016", compute(scheduled_update=ScheduledUpdate(schedule=schedule))) == [
            (
                f"HP1016 group 'p5' is updated on the schedule {schedule!r} | "
                "use cron(MINUTE HOUR DAY MONTH WEEKDAY YEAR) with one number for minute and hour, a number "
                "or ? for the "
                "day and one day or ? for the weekday, such as cron(0 3 ? * SUN *)"
            )
        ]

    @pytest.mark.parametrize("schedule", ["cron(0 3 ? * SUN *)", "cron(30 23 31 */3 ? 2027)", "cron(0 3 ? * 7#1 *)"])
    def test_is_silent_on_what_the_schema_takes(self, schedule: str) -> None:
        assert of_slurm("HP1016", compute(scheduled_update=ScheduledUpdate(schedule=schedule))) == []

    def test_is_silent_on_a_request_for_which_no_pattern_is_written(self) -> None:
        group = compute(scheduled_update=ScheduledUpdate(schedule="cron(0 3 * * ? *)"))
        assert of_slurm("HP1016", group, requested=True) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        token = without_tokens(ScheduledUpdate(schedule="${Token[TOKEN.7]}"))
        assert of_slurm("HP1016", compute(scheduled_update=UNKNOWN), compute(name="b", scheduled_update=token)) == []


class TestDrainingPatchesHaveWhatTheyNeed:
    BATCH = RollingUpdate(batch=BatchSize(count=1))

    def test_needs_a_batch_size(self) -> None:
        group = kubernetes(patching=AutoPatch(when="DrainFirst"))
        assert told("HP1018", deployment(eks_cluster(group))) == [
            (
                "HP1018 group 'p5' is patched with DrainFirst, but has no MaximumBatchSize | "
                "give DeploymentConfig.RollingUpdatePolicy.MaximumBatchSize"
            )
        ]

    def test_is_for_eks(self) -> None:
        assert of_slurm("HP1018", compute(patching=AutoPatch(when="DrainFirst", rolling=self.BATCH))) == [
            "HP1018 group 'p5' of a Slurm cluster is patched with DrainFirst | use WhenIdle or WhenAllIdle"
        ]

    def test_is_silent_where_all_is_there_and_on_other_strategies(self) -> None:
        group = kubernetes(patching=AutoPatch(when="DrainFirst", rolling=self.BATCH))
        assert told("HP1018", deployment(eks_cluster(group))) == []
        assert of_slurm("HP1018", compute(patching=AutoPatch(when="WhenIdle")), compute(patching=UNKNOWN)) == []

    def test_is_silent_where_the_orchestrator_is_not_known(self) -> None:
        group = kubernetes(patching=AutoPatch(when="DrainFirst", rolling=self.BATCH))
        assert told("HP1018", deployment(eks_cluster(group, orchestrator=UNKNOWN))) == []


def test_is_silent_where_nothing_is_known() -> None:
    nothing: dict[str, Any] = {field.name: UNKNOWN for field in fields(InstanceGroup) if field.name not in KNOWN}
    group = InstanceGroup(**nothing)
    judged = deployment(cluster(groups=(group,), orchestrator=UNKNOWN, provisioning=UNKNOWN, placement=UNKNOWN))
    assert [line for rule in RULES if rule.startswith("HP1") for line in told(rule, judged)] == []


def test_a_group_without_nodes_is_legal() -> None:
    judged = deployment(slurm_cluster(compute(count=0)))
    assert [line for rule in RULES if rule.startswith("HP1") for line in told(rule, judged)] == []
