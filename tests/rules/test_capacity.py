"""What is said of groups."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.model.capacity import (
    InstanceGroup,
    Spot,
)
from hyperpod_constructs.model.deployment import Deployment, Invalid, Location
from hyperpod_constructs.model.orchestration import Slurm
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.model.storage import NodeVolume
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
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


def many(number: int) -> tuple[InstanceGroup, ...]:
    """So many groups."""
    return tuple(compute(name=f"g{index}") for index in range(number))


def test_is_silent_where_nothing_is_known() -> None:
    nothing: dict[str, Any] = {field.name: UNKNOWN for field in fields(InstanceGroup) if field.name not in KNOWN}
    group = InstanceGroup(**nothing)
    judged = deployment(cluster(groups=(group,), orchestrator=UNKNOWN, provisioning=UNKNOWN, placement=UNKNOWN))
    assert [line for rule in RULES if rule.startswith("HP1") for line in told(rule, judged)] == []


def test_a_group_without_nodes_is_legal() -> None:
    judged = deployment(slurm_cluster(compute(count=0)))
    assert [line for rule in RULES if rule.startswith("HP1") for line in told(rule, judged)] == []


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


class TestContinuousFeaturesHaveContinuousProvisioning:
    @pytest.mark.parametrize(
        ("fields", "feature", "name"),
        [
            ({"instance_type": None, "flexible_types": ("ml.p5.48xlarge",)}, "flexible types", "InstanceRequirements"),
            ({"min_count": 2}, "a minimum count of 2", "MinInstanceCount"),
            ({"capacity": Spot()}, "spot capacity", "CapacityRequirements: {Spot: {}}"),
        ],
    )
    def test_names_the_feature(self, fields: dict[str, object], feature: str, name: str) -> None:
        assert of_slurm("HP1009", compute(**fields), provisioning=None) == [
            (
                f"HP1009 group 'p5' has {feature}, but the cluster leaves NodeProvisioningMode out | "
                f"write NodeProvisioningMode: Continuous, or leave {name} out"
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


class TestMinimumCountsCanBeMet:
    def test_counts_spares(self) -> None:
        assert of_slurm("HP1013", compute(count=4, spares=1, min_count=6)) == [
            (
                "HP1013 group 'p5' has a minimum count of 6, but 4 + 1 spare instances | use MinInstanceCount "
                "(min_count=) 0 to 5, or leave it out"
            )
        ]

    def test_all_or_nothing_is_allowed(self) -> None:
        assert of_slurm("HP1013", compute(count=4, spares=1, min_count=5)) == []

    @pytest.mark.parametrize("fields", [{"count": UNKNOWN, "min_count": 6}, {"count": 4, "min_count": UNKNOWN}])
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of_slurm("HP1013", compute(**fields)) == []


class TestRegionsHaveClusters:
    def of(self, region: Any, **fields: Any) -> list[str]:
        return of_slurm("HP1019", compute(), region=region, **fields)

    def test_the_list_may_lag(self) -> None:
        (said,) = self.of("eu-west-3")
        assert said.startswith(
            "HP1019 eu-west-3 is not among the Regions that are listed with AWS::SageMaker::Cluster | "
        )

    @pytest.mark.parametrize("region", ["us-west-2", "xx-unheard-1", None, UNKNOWN])
    def test_is_silent_on_listed_and_unlisted_regions(self, region: Any) -> None:
        assert self.of(region) == []

    def test_is_silent_on_requests_which_do_without_cloudformation(self) -> None:
        assert self.of("eu-west-3", requested=True) == []


class TestRestrictedNames:
    def test_are_told_apart_like_others(self) -> None:
        twice = (RestrictedGroup(group=kubernetes(name="rig")),) * 2
        assert told("HP1002", deployment(eks_cluster(restricted_groups=(*twice, UNKNOWN)))) == [
            "HP1002 2 restricted groups are named 'rig' | give every group of the cluster a name of its own"
        ]


def test_customer_keys_need_continuous_provisioning() -> None:
    group = compute(volumes=(NodeVolume(size_gib=500, kms_key="Key"),))
    (said,) = of_slurm("HP1009", group, provisioning=None)
    assert "has a volume with a customer key, but the cluster leaves NodeProvisioningMode out" in said
    assert of_slurm("HP1009", group) == []


class TestMinimumCountsAreNotOverridden:
    def of(self, provisioning: Any = "all-or-nothing", **fields: Any) -> list[str]:
        return of_slurm("HP1117", compute(**fields), orchestrator=Slurm(provisioning=provisioning))

    def test_all_or_nothing_has_its_own(self) -> None:
        assert self.of(count=4, spares=2, min_count=1) == [
            (
                "HP1117 group 'p5' has a minimum count of 1, but provisioning is all-or-nothing: MinInstanceCount is "
                '4 + 2 spares | leave min_count out, or use hp.Slurm(provisioning="continuous") and say min_count for '
                "each group"
            )
        ]

    @pytest.mark.parametrize("least", [4, None, UNKNOWN])
    def test_is_silent_on_the_same_number_and_on_none(self, least: Any) -> None:
        assert self.of(count=4, min_count=least) == []

    def test_is_silent_on_a_minimum_that_counts_or_that_is_refused(self) -> None:
        assert self.of("continuous", count=4, min_count=1) == []
        assert self.of(count=4, min_count=5) == []
        assert self.of(count=UNKNOWN, min_count=5) == []
