"""What is said of types and nodes in the quotas of teams."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.catalog import instances as catalogue, partitions, schemas
from hyperpod_constructs.model.kubernetes import AutoScaling
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import eks_cluster, kubernetes, slurm_cluster
from tests.rules.governing import EIGHT, P5, instances, of, policy, quota, share

P5EN = "ml.p5en.48xlarge"
M5 = "ml.m5.2xlarge"


def on(*groups: Any, **fields: Any) -> tuple[Any]:
    return (eks_cluster(*groups, **fields),)


class TestQuotasAreForTypesOfTheCluster:
    def test_names_what_is_lacking_and_what_there_is(self) -> None:
        clusters = on(kubernetes(), kubernetes(name="cpu", instance_type=M5))
        assert of("HP6001", quota("vision", instances(2, P5EN), instances(2)), clusters=clusters) == [
            (
                f"HP6001 quota of team 'vision' has {P5EN}, and the groups of Train are of {P5} and {M5} | use one of "
                f"{P5}, {M5} as InstanceType (Team(instances={{TYPE: COUNT}})), or add a group of {P5EN}"
            )
        ]

    @pytest.mark.parametrize(
        "group",
        [
            kubernetes(instance_type=P5EN),
            kubernetes(instance_type=P5EN, count=0),
            kubernetes(instance_type=None, flexible_types=(P5, P5EN)),
            kubernetes(instance_type=UNKNOWN),
            kubernetes(instance_type=None, flexible_types=UNKNOWN),
        ],
    )
    def test_is_silent_where_a_group_has_the_type_or_may_have_it(self, group: Any) -> None:
        assert of("HP6001", quota("vision", instances(2, P5EN)), clusters=on(kubernetes(name="a"), group)) == []

    @pytest.mark.parametrize(
        "restricted", [(RestrictedGroup(group=kubernetes(instance_type=P5EN)),), (UNKNOWN,), UNKNOWN]
    )
    def test_restricted_groups_have_types_too(self, restricted: Any) -> None:
        clusters = on(kubernetes(), restricted_groups=restricted)
        assert of("HP6001", quota("vision", instances(2, P5EN)), clusters=clusters) == []

    @pytest.mark.parametrize(
        "fields", [{"shares": UNKNOWN}, {"shares": (UNKNOWN, instances(1, UNKNOWN))}, {"active": "Disabled"}]
    )
    def test_is_silent_on_what_is_not_known_or_not_on(self, fields: dict[str, Any]) -> None:
        assert of("HP6001", quota(**{"shares": (instances(2, P5EN),), **fields})) == []

    @pytest.mark.parametrize("cluster", ["arn:aws:sagemaker:us-west-2:111122223333:cluster/a", UNKNOWN])
    def test_is_silent_on_other_clusters(self, cluster: Any) -> None:
        assert of("HP6001", quota("vision", instances(2, P5EN), cluster=cluster)) == []

    def test_a_quota_of_slurm_is_a_mistake_of_another_rule(self) -> None:
        assert of("HP6001", quota("vision", instances(2, P5EN)), clusters=(slurm_cluster(),)) == []


class TestQuotasFitTheCluster:
    def test_sums_instances(self) -> None:
        found = of("HP6002", quota("vision", instances(6)), quota("speech", instances(6)))
        assert found == [
            (
                f"HP6002 quotas of {P5} sum to 12 instances (quota of team 'vision' 6, quota of team 'speech' 6), and "
                "the cluster has 8 | lower quotas (Team(instances=...)), which are guaranteed in any case, and let "
                f"teams borrow the rest, or raise the InstanceCount of a group of {P5}"
            )
        ]

    def test_spares_are_nobodys(self) -> None:
        clusters = on(kubernetes(name="a", count=4, spares=2), kubernetes(name="b", count=4))
        (found,) = of("HP6002", quota("vision", instances(9)), clusters=clusters)
        assert "and the cluster has 8 besides 2 spares |" in found
        assert of("HP6002", quota("vision", instances(8)), clusters=clusters) == []

    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            ({"accelerators": 65}, "65 Accelerators (quota of team 'vision' 65), and the cluster has 64"),
            ({"vcpus": 1600}, "1,600 VCpu (quota of team 'vision' 1,600), and the cluster has 1,536"),
            ({"memory_gib": 16_385}, "16,385 MemoryInGiB (quota of team 'vision' 16,385), and the cluster has 16,384"),
            ({"accelerators": 8, "memory_gib": 20_000.0}, "20,000 MemoryInGiB"),
        ],
    )
    def test_sums_parts_of_instances(self, fields: dict[str, Any], says: str) -> None:
        (found,) = of("HP6002", quota("vision", share(**fields)))
        assert f"quotas of {P5} sum to {says}" in found

    def test_adds_parts_to_instances(self) -> None:
        (found,) = of("HP6002", quota("vision", instances(7)), quota("speech", share(accelerators=12)))
        assert "sum to 68 Accelerators (quota of team 'vision' 56, quota of team 'speech' 12)" in found
        assert of("HP6002", quota("vision", instances(7)), quota("speech", share(accelerators=8))) == []

    def test_a_cpu_type_has_no_accelerators_to_be_summed(self) -> None:
        clusters = on(kubernetes(instance_type=M5, count=2))
        (found,) = of("HP6002", quota("a", instances(2, M5)), quota("b", share(M5, vcpus=4)), clusters=clusters)
        assert "sum to 20 VCpu" in found

    def test_teams_that_share_the_parts_of_a_node_are_not_summed_as_nodes(self) -> None:
        """One takes the accelerators of 8 nodes and little else, the other the processors that are left."""
        lean = quota("vision", share(accelerators=64, vcpus=64.0, memory_gib=64.0))
        assert of("HP6002", lean, quota("data", share(vcpus=1400.0, accelerators=0))) == []

    @pytest.mark.parametrize(
        "shares",
        [
            (instances(UNKNOWN),),
            (share(vcpus=UNKNOWN),),
            (share(count=9, accelerators=72),),
            (share(partition="mig-1g.10gb", partition_count=900),),
            (UNKNOWN,),
            UNKNOWN,
            (instances(9, P5EN),),
        ],
    )
    def test_is_silent_on_what_is_not_known(self, shares: Any) -> None:
        assert of("HP6002", quota(shares=shares)) == []

    @pytest.mark.parametrize("fields", [{"certain": False}, {"active": "Disabled"}, {"active": UNKNOWN}])
    def test_is_silent_on_quotas_that_may_not_be_in_force(self, fields: dict[str, Any]) -> None:
        assert of("HP6002", quota("vision", instances(9), **fields)) == []

    @pytest.mark.parametrize(
        "clusters",
        [
            on(kubernetes(count=8), autoscaling=AutoScaling(mode="Enable")),
            on(kubernetes(count=8), autoscaling=UNKNOWN),
            on(kubernetes(count=UNKNOWN)),
            on(kubernetes(count=0)),
            on(kubernetes(count=8), kubernetes(name="any", instance_type=UNKNOWN)),
            on(kubernetes(count=8, instance_type=None, flexible_types=(P5, P5EN))),
            on(kubernetes(count=8), restricted_groups=(RestrictedGroup(group=kubernetes(name="nova")),)),
        ],
    )
    def test_is_silent_where_the_number_of_nodes_is_not_known(self, clusters: Any) -> None:
        assert of("HP6002", quota("vision", instances(9)), clusters=clusters) == []

    def test_autoscaling_that_is_off_is_none(self) -> None:
        clusters = on(kubernetes(count=8), autoscaling=AutoScaling(mode="Disable"))
        assert len(of("HP6002", quota("vision", instances(9)), clusters=clusters)) == 1

    def test_a_type_that_we_do_not_know_is_summed_in_instances_only(self) -> None:
        kind = "ml.p9.48xlarge"
        clusters = on(kubernetes(instance_type=kind, count=8))
        assert len(of("HP6002", quota("vision", instances(9, kind)), clusters=clusters)) == 1
        assert of("HP6002", quota("vision", share(kind, accelerators=900)), clusters=clusters) == []


class TestNodesAreInQuotasOrShared:
    def test_says_how_many_are_in_none(self) -> None:
        assert of("HP6003", quota("vision", instances(5))) == [
            (
                f"HP6003 3 of 8 {P5} are in no quota, and IdleResourceSharing is left out | use IdleResourceSharing: "
                "Enabled (TaskGovernance(idle_sharing=True)), or raise quotas, unless tasks outside of teams need "
                "these nodes"
            )
        ]

    def test_a_quarter_is_not_much(self) -> None:
        assert of("HP6003", quota("vision", instances(6))) == []

    def test_a_type_of_which_no_team_has_anything_is_for_something_else(self) -> None:
        clusters = on(kubernetes(count=8), kubernetes(name="cpu", instance_type=M5, count=4))
        assert of("HP6003", quota("vision", instances(8)), clusters=clusters) == []

    @pytest.mark.parametrize("sharing", ["Enabled", UNKNOWN])
    def test_what_is_shared_may_be_in_none(self, sharing: Any) -> None:
        policies = (policy(idle_sharing=sharing),)
        assert of("HP6003", quota("vision", instances(1)), scheduler_policies=policies) == []

    @pytest.mark.parametrize("policies", [(), (policy(certain=False),), (policy(), policy(path="B", cluster=UNKNOWN))])
    def test_is_silent_where_the_policy_is_not_known(self, policies: Any) -> None:
        assert of("HP6003", quota("vision", instances(1)), scheduler_policies=policies) == []

    @pytest.mark.parametrize(
        "other",
        [
            quota("b", instances(UNKNOWN)),
            quota("b", UNKNOWN),
            quota("b", instances(1, UNKNOWN)),
            quota("b", shares=UNKNOWN),
            quota("b", instances(3), certain=False),
            quota("b", instances(3), cluster=UNKNOWN),
        ],
    )
    def test_is_silent_where_others_may_have_the_rest(self, other: Any) -> None:
        assert of("HP6003", quota("vision", instances(5)), other) == []


class TestSharesAreCountedInOneWay:
    def test_count_stands_alone(self) -> None:
        found = of("HP6004", quota("vision", share(count=2, accelerators=16, partition="mig-1g.10gb")))
        assert found == [
            (
                f"HP6004 quota of team 'vision' has Count 2 of {P5} beside Accelerators and AcceleratorPartition | "
                "leave Count or Accelerators and AcceleratorPartition out"
            )
        ]

    @pytest.mark.parametrize(
        "fields", [{"count": 2}, {"accelerators": 16, "vcpus": 4.0, "memory_gib": 4.0}, {"count": UNKNOWN, "vcpus": 1}]
    )
    def test_the_parts_may_stand_together(self, fields: dict[str, Any]) -> None:
        assert of("HP6004", quota("vision", share(**fields))) == []


class TestSharesOfAcceleratedTypesHaveAccelerators:
    def test_processors_alone_bring_none(self) -> None:
        assert of("HP6005", quota("vision", share(vcpus=96))) == [
            (
                f"HP6005 quota of team 'vision' has VCpu of {P5} and no Accelerators | add Accelerators, of which an "
                "instance has 8; 0 says that none are meant"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {"vcpus": 96, "accelerators": 0},
            {"vcpus": 96, "accelerators": UNKNOWN},
            {"count": 1},
            {"vcpus": 4, "kind": M5},
            {"vcpus": 4, "kind": "ml.p9.48xlarge"},
            {"memory_gib": 1.0, "partition": UNKNOWN},
        ],
    )
    def test_is_silent_on_others(self, fields: dict[str, Any]) -> None:
        assert of("HP6005", quota("vision", share(**fields))) == []


class TestSharesAreOfDifferentTypes:
    def test_one_entry_is_enough(self) -> None:
        assert of("HP6006", quota("vision", instances(1), instances(2))) == [
            f"HP6006 quota of team 'vision' has several entries of {P5} | make one entry of them"
        ]

    def test_partitions_and_other_types_have_entries_of_their_own(self) -> None:
        parts = [share(partition=kind, partition_count=1) for kind in ("mig-1g.10gb", "mig-3g.40gb")]
        assert of("HP6006", quota("vision", *parts, instances(1), instances(1, M5), instances(1, UNKNOWN))) == []


class TestPartitionsFitTheirType:
    def test_names_those_of_the_type(self) -> None:
        assert of("HP6007", quota("vision", share(partition="mig-1g.5gb", partition_count=1))) == [
            (
                f"HP6007 quota of team 'vision' has AcceleratorPartition mig-1g.5gb of {P5} | use one of mig-1g.10gb, "
                "mig-1g.20gb, mig-2g.20gb, mig-3g.40gb, mig-4g.40gb, mig-7g.80gb, or give whole GPUs as Accelerators"
            )
        ]

    @pytest.mark.parametrize(
        ("kind", "fix"),
        [
            ("ml.p6-b300.48xlarge", "a quota of ml.p6-b300.48xlarge has none, or give whole GPUs as Accelerators"),
            (M5, f"leave AcceleratorPartition out: a quota of {M5} has none"),
        ],
    )
    def test_some_types_have_none(self, kind: str, fix: str) -> None:
        (found,) = of("HP6007", quota("vision", share(kind, partition="mig-1g.10gb")))
        assert found.endswith(fix)

    @pytest.mark.parametrize(
        "found",
        [share(partition="mig-7g.80gb"), share(partition=UNKNOWN), share("ml.p9.48xlarge", partition="mig-1g.5gb")],
    )
    def test_is_silent_on_fitting_and_unknown_ones(self, found: Any) -> None:
        assert of("HP6007", quota("vision", found)) == []

    def test_every_partition_of_the_catalogue_is_a_word_of_the_service(self) -> None:
        definitions = schemas.definitions("AWS::SageMaker::ComputeQuota")
        words = set(definitions["AcceleratorPartitionConfig"]["properties"]["Type"]["enum"])
        found = {
            each for name in catalogue.names() if (kind := catalogue.find(name)) for each in partitions.of(kind) or ()
        }
        assert found == words


class TestQuotasHoldSomething:
    SAID = (
        "HP6008 quota of team 'vision' has no ComputeQuotaResources above 0, and no AbsoluteBorrowLimits | give the "
        "team something of its own (Team(instances={TYPE: COUNT})), or AbsoluteBorrowLimits"
    )

    @pytest.mark.parametrize("shares", [(), (instances(0),), (share(partition="mig-1g.10gb", partition_count=0),)])
    def test_nothing_is_nothing_to_borrow_by(self, shares: Any) -> None:
        assert of("HP6008", quota(shares=shares)) == [self.SAID]

    @pytest.mark.parametrize("shares", [(instances(1),), (instances(UNKNOWN),), (share(),), (UNKNOWN,), UNKNOWN])
    def test_is_silent_where_there_is_or_may_be_something(self, shares: Any) -> None:
        assert of("HP6008", quota(shares=shares)) == []

    @pytest.mark.parametrize(
        "fields", [{"borrowable": (instances(1),)}, {"borrowable": UNKNOWN}, {"active": "Disabled"}]
    )
    def test_is_silent_on_absolute_limits_and_on_what_is_off(self, fields: dict[str, Any]) -> None:
        assert of("HP6008", quota(**fields)) == []


class TestPartitionsAreOfGroupsOfOneType:
    PARTS = quota("vision", share(partition="mig-1g.10gb", partition_count=7))
    FLEXIBLE = kubernetes(instance_type=None, flexible_types=(P5, P5EN))

    def test_flexible_groups_have_none(self) -> None:
        assert of("HP6009", self.PARTS, clusters=on(self.FLEXIBLE)) == [
            (
                f"HP6009 quota of team 'vision' has AcceleratorPartition of {P5}, which only flexible groups of Train "
                f"have | add a group with InstanceType: {P5}, or give whole GPUs as Accelerators"
            )
        ]

    @pytest.mark.parametrize(
        "other", [kubernetes(name="one"), kubernetes(name="any", instance_type=UNKNOWN, flexible_types=UNKNOWN)]
    )
    def test_is_silent_where_another_group_has_or_may_have_them(self, other: Any) -> None:
        assert of("HP6009", self.PARTS, clusters=on(self.FLEXIBLE, other)) == []

    @pytest.mark.parametrize("shares", [(instances(1),), (share(UNKNOWN, partition=UNKNOWN),), (UNKNOWN,), UNKNOWN])
    def test_is_silent_on_other_and_unknown_shares(self, shares: Any) -> None:
        assert of("HP6009", quota(shares=shares), clusters=on(self.FLEXIBLE)) == []


def test_a_sound_quota_draws_nothing() -> None:
    for rule in range(1, 10):
        assert of(f"HP600{rule}", quota("vision", instances(8)), clusters=(EIGHT,)) == []
