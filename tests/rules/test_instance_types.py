"""What is said of instance types."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.model.capacity import (
    InstanceGroup,
)
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import (
    compute,
    deployment,
    eks_cluster,
    kubernetes,
    of_slurm,
    slurm_cluster,
    told,
)

KNOWN = ("described", "spares", "asked", "eks_fields")
"""Fields that readers always know."""


class TestGroupsHaveOneKindOfType:
    def test_neither(self) -> None:
        assert of_slurm("HP1007", compute(instance_type=None)) == [
            (
                "HP1007 group 'p5' has neither InstanceType nor InstanceRequirements | write InstanceType: "
                "ml.p5.48xlarge or another, or InstanceRequirements with up to 20 types"
            )
        ]

    def test_both(self) -> None:
        assert of_slurm("HP1007", compute(flexible_types=("ml.p5en.48xlarge",))) == [
            (
                "HP1007 group 'p5' has both InstanceType ml.p5.48xlarge and InstanceRequirements | leave one of "
                "them out; InstanceRequirements (flexible_types=) may begin with ml.p5.48xlarge"
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


class TestThreadsPerCoreFitTheType:
    def test_types_without_multithreading_have_one(self) -> None:
        assert of_slurm("HP1014", compute(instance_type="ml.c7g.4xlarge", threads_per_core=2)) == [
            (
                "HP1014 group 'p5' asks for 2 threads per core of ml.c7g.4xlarge | use ThreadsPerCore "
                "(threads_per_core=) 1, or leave it out"
            )
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


class TestThreadsPerCoreFitAllTypes:
    def of(self, rule: str, *types: object, threads: Any = 2) -> list[str]:
        return of_slurm(rule, compute(instance_type=None, flexible_types=types, threads_per_core=threads))

    def test_some_types_may_not_have_them(self) -> None:
        assert self.of("HP1020", "ml.c7g.4xlarge", "ml.c6i.4xlarge") == [
            (
                "HP1020 group 'p5' asks for 2 threads per core, which ml.c7g.4xlarge cannot have | "
                "leave ThreadsPerCore out, or put these types into a group of their own"
            )
        ]
        assert self.of("HP1014", "ml.c7g.4xlarge", "ml.c6i.4xlarge") == []

    def test_that_none_can_have_them_is_an_error(self) -> None:
        assert len(self.of("HP1014", "ml.c7g.4xlarge", "ml.m7g.4xlarge")) == 1
        assert self.of("HP1020", "ml.c7g.4xlarge", "ml.m7g.4xlarge") == []

    @pytest.mark.parametrize("threads", [1, None, UNKNOWN])
    def test_is_silent_on_values_that_all_have(self, threads: Any) -> None:
        assert self.of("HP1020", "ml.c7g.4xlarge", "ml.c6i.4xlarge", threads=threads) == []

    def test_is_silent_where_a_type_is_not_known(self) -> None:
        assert self.of("HP1020", "ml.c7g.4xlarge", UNKNOWN) == self.of("HP1020", "ml.c7g.4xlarge", "ml.x9.large") == []


class TestEfaInterfacesAreForTypesWithEfa:
    @pytest.mark.parametrize("interface", ["efa", "efa-only"])
    def test_m5_has_none(self, interface: str) -> None:
        assert of_slurm("HP1021", compute(instance_type="ml.m5.4xlarge", network_interface=interface)) == [
            (
                f"HP1021 group 'p5' asks for the interface {interface}, but ml.m5.4xlarge has no EFA | "
                "leave NetworkInterface out of this group"
            )
        ]

    @pytest.mark.parametrize("fields", [{}, {"instance_type": UNKNOWN}, {"instance_type": "ml.new.large"}])
    def test_is_silent_on_types_that_have_it_or_may(self, fields: dict[str, Any]) -> None:
        assert of_slurm("HP1021", compute(network_interface="efa", **fields)) == []

    @pytest.mark.parametrize("interface", [None, UNKNOWN])
    def test_is_silent_where_nothing_is_asked_for(self, interface: Any) -> None:
        assert of_slurm("HP1021", compute(instance_type="ml.m5.4xlarge", network_interface=interface)) == []


def test_restricted_groups_have_types_too() -> None:
    its = eks_cluster(restricted_groups=(RestrictedGroup(group=kubernetes(instance_type="p5.48xlarge")),))
    assert len(told("HP1010", deployment(its))) == 1


class TestDescriptionsAgreeWithTheCatalogue:
    def of(self, described: Any, *names: str) -> list[str]:
        groups = [compute(name=name, described=described) for name in names or ("p5",)]
        return told("HP1118", deployment(slurm_cluster(*groups)))

    def test_names_what_differs(self) -> None:
        assert self.of(InstanceType("ml.p5.48xlarge", vcpus=1, efa=0)) == [
            (
                "HP1118 group 'p5': ml.p5.48xlarge is described with vcpus 1 (the catalogue has 192) and efa 0 (the "
                "catalogue has 32) | give the name alone, 'ml.p5.48xlarge', unless the catalogue is wrong"
            )
        ]

    def test_one_description_of_several_groups_is_one_mistake(self) -> None:
        (found,) = self.of(InstanceType("ml.p5.48xlarge", efa=0), "a", "b")
        assert found.startswith("HP1118 groups 'a' and 'b': ml.p5.48xlarge is described with efa 0 ")

    @pytest.mark.parametrize(
        "described",
        [None, InstanceType("ml.p5.48xlarge", vcpus=192), InstanceType("ml.p5.48xlarge", addresses=5)],
    )
    def test_is_silent_on_what_agrees_or_what_users_may_know_better(self, described: Any) -> None:
        assert self.of(described) == []

    def test_is_silent_on_a_type_that_the_catalogue_lacks(self) -> None:
        assert self.of(InstanceType("ml.p7.48xlarge", vcpus=1)) == []
