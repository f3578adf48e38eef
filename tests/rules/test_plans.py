"""What is said of training plans."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.capacity import (
    OnDemand,
    TrainingPlan,
)
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.orchestration import Slurm
from hyperpod_constructs.tokens import UNKNOWN, without_tokens
from tests.rules.builders import (
    ACCOUNT,
    cluster,
    compute,
    controller,
    deployment,
    of_slurm,
    plan,
    slurm_cluster,
    told,
)

ARN = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:training-plan/frontier"


class TestPlansAreOfTheSamePlace:
    def test_names_both_regions(self) -> None:
        elsewhere = TrainingPlan.unchecked(ARN.replace("us-west-2", "us-east-1"))
        assert of_slurm("HP1101", compute(capacity=elsewhere)) == [
            (
                "HP1101 group 'p5': training plan 'frontier' is in us-east-1, its cluster in us-west-2 | "
                "use a plan of us-west-2, or deploy the cluster to us-east-1"
            )
        ]

    def test_names_both_accounts(self) -> None:
        elsewhere = TrainingPlan.unchecked(ARN.replace(ACCOUNT, "444455556666"))
        assert of_slurm("HP1101", compute(capacity=elsewhere)) == [
            (
                "HP1101 group 'p5': training plan 'frontier' belongs to account 444455556666, its cluster to "
                "111122223333 | "
                "use a plan of account 111122223333, or deploy the cluster to account 444455556666"
            )
        ]

    def test_the_zone_tells_the_region_of_a_plan_without_arn(self) -> None:
        assert of_slurm("HP1101", compute(capacity=plan(zone="use1-az4"))) == [
            (
                "HP1101 group 'p5': training plan 'frontier' is in us-east-1, its cluster in us-west-2 | "
                "use a plan of us-west-2, or deploy the cluster to us-east-1"
            )
        ]

    def test_is_silent_on_a_plan_of_the_same_place(self) -> None:
        assert (
            of_slurm("HP1101", compute(capacity=TrainingPlan.unchecked(ARN)), compute(name="b", capacity=plan())) == []
        )

    def test_is_silent_where_the_place_is_not_known(self) -> None:
        elsewhere = TrainingPlan.unchecked("arn:aws:sagemaker:us-east-1:444455556666:training-plan/frontier")
        nowhere = slurm_cluster(compute(capacity=elsewhere), region=None, account=None)
        assert told("HP1101", deployment(nowhere, subnets=())) == []

    def test_a_zone_tells_the_region_of_a_stack_that_may_go_anywhere(self) -> None:
        elsewhere = TrainingPlan.unchecked("arn:aws:sagemaker:us-east-1:444455556666:training-plan/frontier")
        assert of_slurm("HP1101", compute(capacity=elsewhere), region=None, account=None) == [
            (
                "HP1101 group 'p5': training plan 'frontier' is in us-east-1, its cluster in us-west-2 | "
                "use a plan of us-west-2, or deploy the cluster to us-east-1"
            )
        ]
        assert of_slurm("HP1101", compute(capacity=without_tokens(plan(plan="${Token[TOKEN.3]}", zone=UNKNOWN)))) == []


class TestPlansHoldTheTypeOfTheGroup:
    def test_names_both_types(self) -> None:
        assert of_slurm("HP1102", compute(capacity=plan(instance_type="ml.p5en.48xlarge"))) == [
            (
                "HP1102 group 'p5' has ml.p5.48xlarge, but training plan 'frontier' holds ml.p5en.48xlarge | "
                "use ml.p5en.48xlarge in the group, or a plan that holds ml.p5.48xlarge"
            )
        ]

    @pytest.mark.parametrize("bought", ["ml.p5.48xlarge", None, UNKNOWN])
    def test_is_silent_on_the_same_type_and_on_none(self, bought: object) -> None:
        assert of_slurm("HP1102", compute(capacity=plan(instance_type=bought))) == []


class TestPlansAreInTheZoneOfTheGroup:
    said = (
        "HP1103 group 'p5' stands in usw2-az2, but training plan 'frontier' in usw2-az1 | "
        "give the group subnets in usw2-az1, or use a plan in usw2-az2"
    )

    def test_the_zone_of_the_subnets_counts(self) -> None:
        assert of_slurm("HP1103", compute(capacity=plan(zone="usw2-az1"))) == [self.said]

    def test_the_zone_of_the_group_counts_first(self) -> None:
        assert of_slurm("HP1103", compute(capacity=plan(zone="usw2-az1"), zone="usw2-az1")) == []

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
        assert of_slurm("HP1103", compute(capacity=nameless)) == [
            self.said.replace("training plan 'frontier'", "its training plan")
        ]

    def test_is_silent_in_the_same_zone(self) -> None:
        assert of_slurm("HP1103", compute(capacity=plan())) == []

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
        assert of_slurm("HP1103", compute(**fields)) == []


class TestPlansAreSoldForTheType:
    def test_lists_the_types_that_are(self) -> None:
        assert of_slurm("HP1104", compute(instance_type="ml.g5.48xlarge", capacity=plan())) == [
            (
                "HP1104 group 'p5': training plan 'frontier' for ml.g5.48xlarge, a type that is not on AWS's list | "
                "use one of ml.p4d.24xlarge, ml.p5.4xlarge, ml.p5.48xlarge, ml.p5e.48xlarge, ml.p5en.48xlarge, "
                "ml.p6-b200.48xlarge, ml.p6-b300.48xlarge, ml.trn1.32xlarge, ml.trn2.48xlarge, "
                "unless your account team sold you this plan"
            )
        ]

    @pytest.mark.parametrize("name", ["ml.trn2.48xlarge", UNKNOWN])
    def test_is_silent_on_listed_and_unknown_types(self, name: object) -> None:
        assert of_slurm("HP1104", compute(instance_type=name, capacity=plan())) == []


class TestControllersOutlivePlans:
    def test_names_the_plan(self) -> None:
        assert told("HP1105", deployment(cluster(groups=(controller(capacity=plan()), compute())))) == [
            (
                "HP1105 group 'controller' is the controller and ends with training plan 'frontier' | leave its "
                "TrainingPlanArn (capacity=) out: a controller is a CPU instance on demand"
            )
        ]

    @pytest.mark.parametrize("role", ["Compute", UNKNOWN])
    def test_is_silent_on_other_roles(self, role: object) -> None:
        assert of_slurm("HP1105", compute(node_type=role, capacity=plan())) == []


class TestMinimumCountsWaitForThePlan:
    def test_says_when_the_plan_starts(self) -> None:
        assert of_slurm("HP1106", compute(min_count=2, capacity=plan())) == [
            (
                "HP1106 group 'p5' has a minimum count of 2 on training plan 'frontier': if the plan has not "
                "started, the group rolls back after 3 hours | leave MinInstanceCount (min_count=) out until "
                "2026-12-07 11:30 UTC"
            )
        ]

    def test_a_plan_without_dates_is_waited_for_too(self) -> None:
        assert of_slurm("HP1106", compute(min_count=2, capacity=TrainingPlan.unchecked(ARN))) == [
            (
                "HP1106 group 'p5' has a minimum count of 2 on training plan 'frontier': if the plan has not "
                "started, the group rolls back after 3 hours | leave MinInstanceCount (min_count=) out until the "
                "plan is Active"
            )
        ]

    def test_all_or_nothing_makes_one_of_every_group(self) -> None:
        whole = Slurm(provisioning="all-or-nothing")
        assert of_slurm("HP1106", compute(count=30, spares=2, min_count=1, capacity=plan()), orchestrator=whole) == [
            (
                "HP1106 group 'p5' has a minimum count of 32, all of its instances (provisioning all-or-nothing), on "
                "training plan 'frontier': if the plan has not started, the group rolls back after 3 hours | use "
                'hp.Slurm(provisioning="continuous") until 2026-12-07 11:30 UTC'
            )
        ]
        assert of_slurm("HP1106", compute(count=UNKNOWN, capacity=plan()), orchestrator=whole) == []
        assert of_slurm("HP1106", compute(count=0, capacity=plan()), orchestrator=whole) == []

    @pytest.mark.parametrize("least", [None, 0, UNKNOWN])
    def test_is_silent_without_a_minimum(self, least: object) -> None:
        assert of_slurm("HP1106", compute(min_count=least, capacity=plan())) == []

    def test_is_silent_without_a_plan(self) -> None:
        assert of_slurm("HP1106", compute(min_count=2, capacity=OnDemand())) == []


COUNTS = "plans come in 1, 2, 4, 8, 16, 32, 64"


class TestPlansAreDescribed:
    def test_says_what_is_not_checked(self) -> None:
        assert of_slurm("HP1109", compute(capacity=TrainingPlan.unchecked(ARN))) == [
            (
                "HP1109 group 'p5': count, zone and dates of training plan 'frontier' are not checked | "
                "compare them with what `aws sagemaker list-training-plans` prints; in the CDK describe the plan: "
                "hp.TrainingPlan('frontier', count=..., zone=..., starts=..., ends=...)"
            )
        ]

    def test_is_silent_on_a_plan_with_facts(self) -> None:
        assert of_slurm("HP1109", compute(capacity=plan())) == []

    def test_is_silent_where_the_arn_is_not_known(self) -> None:
        assert of_slurm("HP1109", compute(capacity=without_tokens(TrainingPlan.unchecked("${Token[TOKEN.3]}")))) == []


class TestPlanZonesAreIds:
    def test_a_zone_name_is_not_enough(self) -> None:
        assert of_slurm("HP1111", compute(capacity=plan(zone="us-west-2b"))) == [
            (
                "HP1111 group 'p5': training plan 'frontier' is said to stand in 'us-west-2b' | "
                "use the plan's AvailabilityZoneId, such as usw2-az2, which DescribeTrainingPlan prints"
            )
        ]

    @pytest.mark.parametrize("zone", ["usw2-az2", "use1-dfw2-az1", None, UNKNOWN])
    def test_is_silent_on_ids_and_on_what_is_not_known(self, zone: object) -> None:
        assert of_slurm("HP1111", compute(capacity=plan(zone=zone))) == []


class TestPlansAreDescribedAlike:
    def test_names_the_field_that_differs(self) -> None:
        groups = (compute(capacity=plan()), compute(name="b", capacity=plan(count=16)))
        assert of_slurm("HP1112", *groups) == [
            (
                "HP1112 training plan 'frontier' has count 32 in group 'p5', but 16 in group 'b' | "
                "make one hp.TrainingPlan and give it to both groups"
            )
        ]

    def test_groups_of_several_clusters_are_told_apart(self) -> None:
        two = [slurm_cluster(compute(capacity=plan(count=count)), path=path) for path, count in (("A", 32), ("B", 16))]
        (found,) = told("HP1112", deployment(*two))
        assert "has count 32 in group 'p5' of A, but 16 in group 'p5' of B |" in found

    def test_is_silent_on_equal_descriptions(self) -> None:
        assert of_slurm("HP1112", compute(capacity=plan()), compute(name="b", capacity=plan())) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert (
            of_slurm("HP1112", compute(capacity=plan()), compute(name="b", capacity=plan(zone=UNKNOWN, starts=None)))
            == []
        )


class TestZonesOfPlansAreCompared:
    imported = VpcPlacement(subnets=("subnet-0123456789abcdef0",), security_groups=("sg-1",))

    def of(self, *subnets: Subnet, placement: Any = imported, **fields: Any) -> list[str]:
        group = compute(capacity=plan(**fields))
        return told("HP1119", deployment(slurm_cluster(group, placement=placement), subnets=subnets))

    def test_an_id_does_not_tell_a_zone(self) -> None:
        assert self.of() == [
            (
                "HP1119 group 'p5' is on training plan 'frontier' in usw2-az2, and the zone id of "
                "subnet-0123456789abcdef0 is not known | say it: AvailabilityZoneId in a template, "
                "hp.ImportedSubnet(zone=...) for what exists; `aws ec2 describe-subnets` prints it"
            )
        ]

    def test_neither_does_a_subnet_without_zone_id(self) -> None:
        assert len(self.of(Subnet(path="subnet-0123456789abcdef0", cidr="10.0.0.0/20"))) == 1

    @pytest.mark.parametrize("zone", ["usw2-az2", "usw2-az1", UNKNOWN])
    def test_is_silent_on_a_zone_that_is_known_or_decided_at_deploy(self, zone: Any) -> None:
        assert self.of(Subnet(path="subnet-0123456789abcdef0", zone=zone)) == []

    @pytest.mark.parametrize("placement", [None, UNKNOWN, VpcPlacement(subnets=(UNKNOWN,), security_groups=())])
    def test_is_silent_where_the_subnets_are_not_known(self, placement: Any) -> None:
        assert self.of(placement=placement) == []

    @pytest.mark.parametrize("zone", [UNKNOWN, None, "us-west-2b"])
    def test_is_silent_where_the_zone_of_the_plan_is_not_known(self, zone: Any) -> None:
        assert self.of(zone=zone) == []

    def test_is_silent_where_the_group_says_its_zone(self) -> None:
        group = compute(capacity=plan(), zone="usw2-az2")
        assert told("HP1119", deployment(slurm_cluster(group, placement=self.imported), subnets=())) == []


SHARED = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p"
BARE = TrainingPlan.unchecked(SHARED)


class TestGroupsOfAPlanHaveOneType:
    def of(self, *types: Any, capacity: Any = BARE) -> list[str]:
        groups = [compute(name=f"g{n}", instance_type=each, capacity=capacity) for n, each in enumerate(types)]
        return of_slurm("HP1113", *groups)

    def test_a_plan_holds_one(self) -> None:
        assert self.of("ml.p5.48xlarge", "ml.p5en.48xlarge") == [
            (
                "HP1113 training plan 'p' serves group 'g0' (ml.p5.48xlarge) and group 'g1' (ml.p5en.48xlarge) | "
                "give each type a plan of its own"
            )
        ]

    @pytest.mark.parametrize("types", [("ml.p5.48xlarge", "ml.p5.48xlarge"), ("ml.p5.48xlarge", UNKNOWN)])
    def test_is_silent_on_one_type_and_unknown_ones(self, types: Any) -> None:
        assert self.of(*types) == []

    def test_is_silent_where_the_plan_says_which_group_is_wrong(self) -> None:
        assert self.of("ml.p5.48xlarge", "ml.p5en.48xlarge", capacity=plan(instance_type="ml.p5.48xlarge")) == []


class TestGroupsOfAPlanStandTogether:
    def of(self, *zones: Any, capacity: Any = BARE) -> list[str]:
        return of_slurm(
            "HP1114", *(compute(name=f"g{n}", zone=each, capacity=capacity) for n, each in enumerate(zones))
        )

    def test_a_plan_has_one_zone(self) -> None:
        (said,) = self.of("usw2-az1", "usw2-az2")
        assert said.startswith("HP1114 training plan 'p' serves group 'g0' in usw2-az1 and group 'g1' in usw2-az2 | ")

    @pytest.mark.parametrize("zones", [("usw2-az1", "usw2-az1"), ("usw2-az1", UNKNOWN)])
    def test_is_silent_on_one_zone_and_unknown_ones(self, zones: Any) -> None:
        assert self.of(*zones) == []

    def test_is_silent_where_the_plan_says_which_group_is_wrong(self) -> None:
        assert self.of("usw2-az1", "usw2-az2", capacity=plan()) == []


class TestFlexibleGroupsHaveNoPlan:
    def of(self, *types: Any) -> list[str]:
        return of_slurm("HP1116", compute(instance_type=None, flexible_types=types, capacity=BARE))

    def test_what_becomes_of_the_other_types_is_not_documented(self) -> None:
        assert self.of("ml.p5.48xlarge", "ml.p5en.48xlarge") == [
            (
                "HP1116 group 'p5' has 2 flexible types on training plan 'p' | "
                "give the plan's type alone as InstanceType, and the others a group of their own"
            )
        ]

    def test_is_silent_on_one_type(self) -> None:
        assert self.of("ml.p5.48xlarge") == []


class TestFlexibleTypesAndPlans:
    def of(self, *types: Any) -> list[str]:
        bought = plan(instance_type="ml.p5.48xlarge")
        return of_slurm("HP1102", compute(instance_type=None, flexible_types=types, capacity=bought))

    def test_one_of_them_must_be_the_one_that_was_bought(self) -> None:
        assert len(self.of("ml.p5en.48xlarge", "ml.p5e.48xlarge")) == 1

    @pytest.mark.parametrize("types", [("ml.p5.48xlarge", "ml.p5e.48xlarge"), ("ml.p5e.48xlarge", UNKNOWN)])
    def test_is_silent_where_one_is_or_may_be(self, types: Any) -> None:
        assert self.of(*types) == []


def test_a_group_in_several_zones_needs_that_of_its_plan() -> None:
    subnets = (Subnet(path="A", zone="usw2-az1"), Subnet(path="B", zone="usw2-az3"))
    placement = VpcPlacement(subnets=("A", "B"), security_groups=("Net/Group",))
    judged = deployment(slurm_cluster(compute(capacity=plan(), placement=placement)), subnets=subnets)
    assert told("HP1103", judged) == [
        (
            "HP1103 group 'p5' stands in usw2-az1 or usw2-az3, but training plan 'frontier' in usw2-az2 | "
            "give the group subnets in usw2-az2, or use a plan in one of usw2-az1, usw2-az3"
        )
    ]
