"""What is said of addresses."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import (
    PLACEMENT,
    cluster,
    compute,
    controller,
    deployment,
    eks_cluster,
    kubernetes,
    login,
    slurm_cluster,
    told,
)
from tests.rules.places import SMALL, placed, subnet


class TestAddressesSuffice:
    def test_names_need_room_and_the_subnet_that_fits(self) -> None:
        judged = deployment(eks_cluster(kubernetes(count=30, spares=4)), subnets=(SMALL,))
        assert told("HP4003", judged) == [
            (
                "HP4003 group 'p5' needs 2,754 addresses (34 nodes x 81) but subnet usw2-az2 10.1.0.0/24 has 251 | "
                "give the subnet a block of /20 or wider, which has 4,091 (hp.ClusterNetwork: cidr of /17 or wider)"
            )
        ]
        assert told("HP4004", judged) == []

    @pytest.mark.parametrize(("count", "findings"), [(7, 0), (8, 1)])
    def test_a_24_holds_seven_p5_on_slurm(self, count: int, findings: int) -> None:
        judged = deployment(cluster(groups=(compute(count=count),)), subnets=(SMALL,))
        assert len(told("HP4003", judged)) == findings

    def test_groups_that_share_a_subnet_count_together(self) -> None:
        groups = (compute(name="a", count=4), compute(name="b", count=4, placement=PLACEMENT), controller())
        assert told("HP4003", deployment(cluster(groups=groups), subnets=(SMALL,))) == [
            (
                "HP4003 groups 'a' and 'b' need 256 addresses (4 nodes x 32 + 4 nodes x 32) but "
                "subnet usw2-az2 10.1.0.0/24 has 251 | give the subnet a block of /23 or wider, which has 507 "
                "(hp.ClusterNetwork: cidr of /20 or wider)"
            )
        ]

    def test_clusters_that_share_a_subnet_count_together(self) -> None:
        two = (cluster(groups=(compute(count=4),)), cluster(path="Other", groups=(compute(name="b", count=4),)))
        (found,) = told("HP4003", deployment(*two, subnets=(SMALL,)))
        assert found.startswith("HP4003 group 'p5' of Train and group 'b' of Other need 256 addresses (4 nodes x 32 + ")

    def test_clusters_under_conditions_are_not_added_up(self) -> None:
        either = [cluster(path=path, groups=(compute(count=4),), conditional=True) for path in ("A", "B")]
        assert told("HP4003", deployment(*either, subnets=(SMALL,))) == []

    def test_the_fix_holds_what_is_computed_too(self) -> None:
        groups = (compute(count=8), compute(name="en", instance_type="ml.p5en.48xlarge", count=20))
        (found,) = told("HP4003", deployment(cluster(groups=groups), subnets=(SMALL,)))
        assert "| give the subnet a block of /22 or wider, which has 1,019 (hp" in found

    def test_all_groups_of_a_cluster_stand_in_one_of_its_subnets(self) -> None:
        small, large = subnet("A", cidr="10.1.0.0/26"), subnet("B", cidr="10.1.1.0/24")
        judged = cluster(groups=(compute(count=8),), placement=placed("A", "B"))
        assert told("HP4003", deployment(judged, subnets=(small, large))) == [
            (
                "HP4003 group 'p5' needs 256 addresses (8 nodes x 32) but the largest of 2 subnets, usw2-az2 "
                "10.1.1.0/24, has 251 | give the subnet a block of /23 or wider, which has 507 (hp.ClusterNetwork: "
                "cidr of /20 or wider)"
            )
        ]

    def test_fits_if_it_fits_one_of_several_subnets(self) -> None:
        small, large = subnet("A", cidr="10.1.0.0/26"), subnet("B", cidr="10.1.1.0/24")
        judged = cluster(groups=(compute(count=7),), placement=placed("A", "B"))
        assert told("HP4003", deployment(judged, subnets=(small, large))) == []

    @pytest.mark.parametrize(("count", "findings"), [(15, 0), (16, 1)])
    def test_a_group_with_subnets_of_its_own_may_use_all_of_them(self, count: int, findings: int) -> None:
        judged = cluster(groups=(compute(count=count, placement=placed("A", "B")),))
        found = told("HP4003", deployment(judged, subnets=(subnet("A"), subnet("B", cidr="10.1.1.0/24"))))
        assert len(found) == findings
        assert all("but the 2 subnets have 502 together" in each for each in found)

    def test_says_so_where_no_subnet_is_wide_enough(self) -> None:
        (found,) = told("HP4003", deployment(eks_cluster(kubernetes(count=1000))))
        assert found.endswith(
            "| give some groups subnets of their own (OverrideVpcConfig): the widest, a /16, has 65,531 addresses"
        )

    @pytest.mark.parametrize(
        ("count", "fix"), [(800, "16 or wider, which has 65,531"), (150, "18 or wider, which has 16,379")]
    )
    def test_our_network_gives_a_zone_an_eighth_of_16_at_most(self, count: int, fix: str) -> None:
        (found,) = told("HP4003", deployment(eks_cluster(kubernetes(count=count))))
        assert found.endswith(f"| give the subnet a block of /{fix}")

    @pytest.mark.parametrize(("cidr", "findings"), [("10.1.0.0/28", 1), ("10.1.0.0/29", 0), ("10.0.0.0/15", 0)])
    def test_is_silent_on_a_block_that_no_subnet_can_have(self, cidr: str, findings: int) -> None:
        judged = deployment(eks_cluster(kubernetes(count=2000)), subnets=(subnet("Net/Nodes", cidr=cidr),))
        assert len(told("HP4003", judged)) == findings

    def test_a_group_in_another_zone_takes_none_here(self) -> None:
        elsewhere = compute(count=30, zone="usw2-az1")
        assert told("HP4003", deployment(cluster(groups=(elsewhere,)), subnets=(SMALL,))) == []
        here = compute(count=30, zone="usw2-az2")
        assert len(told("HP4003", deployment(cluster(groups=(here,)), subnets=(SMALL,)))) == 1

    def test_groups_without_instances_take_none(self) -> None:
        assert (
            told(
                "HP4003",
                deployment(slurm_cluster(compute(count=0)), subnets=(subnet("Net/Nodes", cidr="10.0.0.0/28"),)),
            )
            == []
        )

    @pytest.mark.parametrize("change", [{"count": UNKNOWN}, {"instance_type": UNKNOWN}, {"network_interface": UNKNOWN}])
    def test_is_silent_on_a_group_that_is_not_known(self, change: dict[str, Any]) -> None:
        judged = deployment(slurm_cluster(compute(**{"count": 30, **change})), subnets=(SMALL,))
        assert told("HP4003", judged) == told("HP4004", judged) == []

    @pytest.mark.parametrize(
        "fields", [{"orchestrator": UNKNOWN}, {"placement": UNKNOWN}, {"placement": placed("Net/Nodes", "imported")}]
    )
    def test_is_silent_on_a_cluster_that_is_not_known(self, fields: dict[str, Any]) -> None:
        judged = deployment(slurm_cluster(compute(count=30), **fields), subnets=(SMALL,))
        assert told("HP4003", judged) == told("HP4004", judged) == []

    def test_is_silent_on_a_subnet_without_a_known_block(self) -> None:
        judged = deployment(slurm_cluster(compute(count=300)), subnets=(subnet("Net/Nodes", cidr=UNKNOWN),))
        assert told("HP4003", judged) == told("HP4004", judged) == []


class TestComputedAddressesSuffice:
    def test_prints_the_formula(self) -> None:
        group = compute(name="en", instance_type="ml.p5en.48xlarge", count=30, spares=4)
        judged = deployment(slurm_cluster(group), subnets=(SMALL,))
        assert told("HP4004", judged) == [
            (
                "HP4004 groups 'controller' and 'en' need 545 addresses (1 node x 1 + 34 nodes x 16: one address "
                "per network card) but subnet usw2-az2 10.1.0.0/24 has 251 | give the subnet a block of /22 or wider, "
                "which has 1,019 (hp.ClusterNetwork: cidr of /19 or wider)"
            )
        ]
        assert told("HP4003", judged) == []

    def test_documented_numbers_alone_may_fit(self) -> None:
        groups = (compute(count=7), login(count=40))
        (found,) = told("HP4004", deployment(cluster(groups=groups), subnets=(SMALL,)))
        assert "need 264 addresses (7 nodes x 32 + 40 nodes x 1: one address per network card)" in found

    def test_of_several_types_the_one_that_takes_the_fewest_counts_and_the_fix_holds_each(self) -> None:
        group = compute(instance_type=None, flexible_types=("ml.p5.48xlarge", "ml.p4d.24xlarge"), count=70)
        judged = deployment(cluster(groups=(group,)), subnets=(SMALL,))
        assert told("HP4004", judged) == [
            (
                "HP4004 group 'p5' needs 280 addresses (70 nodes x 4 or more: one address per network card) but subnet "
                "usw2-az2 10.1.0.0/24 has 251 | give the subnet a block of /20 or wider, which has 4,091 "
                "(hp.ClusterNetwork: cidr of /17 or wider)"
            )
        ]
        assert told("HP4003", judged) == []

    @pytest.mark.parametrize(
        ("types", "rule"),
        [
            (("ml.p5.48xlarge",), "HP4003"),
            (("ml.p5.48xlarge", "ml.p5e.48xlarge"), "HP4004"),
            (("ml.p5.48xlarge", "ml.p9.48xlarge"), None),
            (("ml.p5.48xlarge", UNKNOWN), None),
            (UNKNOWN, None),
        ],
    )
    def test_of_several_types_aws_prints_all_or_it_is_no_error(self, types: Any, rule: str | None) -> None:
        judged = deployment(
            cluster(groups=(compute(instance_type=None, flexible_types=types, count=8),)), subnets=(SMALL,)
        )
        assert [each for each in ("HP4003", "HP4004") if told(each, judged)] == ([rule] if rule else [])

    def test_is_silent_where_they_fit(self) -> None:
        assert told("HP4004", deployment(slurm_cluster(compute(count=7), login()), subnets=(SMALL,))) == []

    def test_names_the_path_of_a_subnet_in_an_unknown_zone(self) -> None:
        judged = deployment(slurm_cluster(login(count=300)), subnets=(subnet("Net/Nodes", zone=UNKNOWN),))
        assert "but subnet Net/Nodes 10.1.0.0/24 has 251" in told("HP4004", judged)[0]
