"""What is said of zones, subnets, addresses and security groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from hyperpod_constructs.model.deployment import Location
from hyperpod_constructs.model.network import Rule, SecurityGroup, Subnet, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem, Lustre, Mount
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import (
    PLACEMENT,
    SUBNET,
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

IN = Rule(direction="ingress", protocol="-1", group="Net/Group")
OUT = Rule(direction="egress", protocol="-1", group="Net/Group")
ANYWHERE = Rule(direction="egress", protocol="-1", cidr="0.0.0.0/0")
OTHERS = (
    ANYWHERE,
    Rule(direction="ingress", protocol="-1", cidr="10.0.0.0/8"),
    Rule(direction="ingress", protocol="tcp", from_port=988, to_port=988, group="Net/Group"),
    Rule(direction="egress", protocol="-1", group="Net/Other"),
)
SMALL = Subnet(path="Net/Nodes", zone="usw2-az2", cidr="10.1.0.0/24")


def placed(*subnets: str, groups: tuple[str, ...] = ("Net/Group",)) -> VpcPlacement:
    return VpcPlacement(subnets=subnets, security_groups=groups)


def subnet(path: str, zone: Any = "usw2-az2", cidr: Any = "10.1.0.0/24", **fields: Any) -> Subnet:
    return Subnet(path=path, zone=zone, cidr=cidr, **fields)


class TestEfaPassesSecurityGroups:
    def of(self, *rules: Rule, complete: bool = True, **fields: Any) -> list[str]:
        group = SecurityGroup(path="Net/Group", rules=rules, complete=complete)
        return told("HP4001", deployment(slurm_cluster(compute(**fields)), security_groups=(group,)))

    def test_egress_to_anywhere_is_no_egress_to_itself(self) -> None:
        assert self.of(IN, ANYWHERE) == [
            (
                "HP4001 security group of group 'p5' lets EFA traffic in from itself but not out to itself | "
                "add an egress rule with protocol -1 that names the security group itself; a CIDR rule does not count"
            )
        ]

    def test_ingress_is_needed_too(self) -> None:
        assert self.of(OUT, *OTHERS) == [
            (
                "HP4001 security group of group 'p5' lets EFA traffic out to itself but not in from itself | "
                "add an ingress rule with protocol -1 that names the security group itself; a CIDR rule does not count"
            )
        ]

    def test_names_both_where_both_are_missing(self) -> None:
        assert self.of() == [
            (
                "HP4001 security group of group 'p5' lets EFA traffic neither in from itself nor out to itself | "
                "add an ingress and an egress rule with protocol -1 that names the security group itself; "
                "a CIDR rule does not count"
            )
        ]

    def test_every_security_group_of_the_list_needs_its_own_rules(self) -> None:
        groups = (SecurityGroup(path="Net/Group", rules=(IN, OUT)), SecurityGroup(path="Net/Other", rules=(IN, OUT)))
        place = placed("Net/Nodes", groups=("Net/Group", "Net/Other"))
        found = told("HP4001", deployment(slurm_cluster(compute(), placement=place), security_groups=groups))
        assert len(found) == 1

    @given(order=st.permutations((IN, OUT, *OTHERS)))
    def test_order_and_further_rules_never_matter(self, order: list[Rule]) -> None:
        assert self.of(*order) == []

    def test_nodes_without_efa_need_no_such_rule(self) -> None:
        assert self.of(instance_type="ml.m5.4xlarge") == []

    def test_neither_do_cpu_nodes_that_could_have_it_unless_they_ask(self) -> None:
        assert self.of(instance_type="ml.c6i.32xlarge") == []
        assert len(self.of(instance_type="ml.c6i.32xlarge", network_interface="efa")) == 1

    def test_neither_does_a_group_without_nodes(self) -> None:
        assert self.of(count=0) == []

    @pytest.mark.parametrize("rules", [(), (IN,), (OUT, *OTHERS)])
    def test_is_silent_on_a_group_of_which_not_all_is_known(self, rules: tuple[Rule, ...]) -> None:
        assert self.of(*rules, complete=False) == []

    @pytest.mark.parametrize(
        "open_rule",
        [
            Rule(direction="egress", protocol=UNKNOWN, group="Net/Group"),
            Rule(direction="egress", protocol="-1", group=UNKNOWN),
        ],
    )
    def test_is_silent_where_a_rule_may_be_the_one(self, open_rule: Rule) -> None:
        assert self.of(IN, open_rule) == []

    def test_is_silent_on_an_unknown_type(self) -> None:
        assert self.of(instance_type="ml.p9.48xlarge") == self.of(instance_type=UNKNOWN) == []

    def test_is_silent_on_imported_groups(self) -> None:
        assert told("HP4001", deployment(cluster())) == []

    @pytest.mark.parametrize("place", [UNKNOWN, VpcPlacement(subnets=UNKNOWN, security_groups=UNKNOWN), None])
    def test_is_silent_where_the_placement_is_not_known(self, place: Any) -> None:
        assert told("HP4001", deployment(cluster(placement=place), security_groups=(SecurityGroup(path="x"),))) == []


class TestEfaPassesSecurityGroupsOfFileSystems:
    def of(self, *rules: Rule, complete: bool = True, clusters: tuple[Any, ...] = (), **fields: Any) -> list[str]:
        """A file system with EFA in `Net/Group`."""
        scratch = FileSystem(
            **{"path": "Scratch", "lustre": Lustre(efa=True), "security_groups": ("Net/Group",), **fields}
        )
        group = SecurityGroup(path="Net/Group", rules=rules, complete=complete)
        return told("HP4001", deployment(*clusters, file_systems=(scratch,), security_groups=(group,)))

    def test_need_both_rules_too(self) -> None:
        assert self.of(IN, ANYWHERE) == [
            (
                "HP4001 security group of file system Scratch lets EFA traffic in from itself but not out to itself | "
                "add an egress rule with protocol -1 that names the security group itself; a CIDR rule does not count"
            )
        ]
        assert self.of(IN, OUT) == []

    def test_that_nodes_share_are_told_once(self) -> None:
        (found,) = self.of(OUT, clusters=(slurm_cluster(compute()),))
        assert found.startswith("HP4001 security group of group 'p5' and file system Scratch lets EFA traffic out")

    @pytest.mark.parametrize(
        "fields",
        [
            {"lustre": Lustre(efa=False)},
            {"lustre": Lustre(efa=UNKNOWN)},
            {"security_groups": UNKNOWN},
            {"security_groups": (UNKNOWN, "sg-0123456789abcdef0")},
            {"security_groups": ()},
            {"complete": False},
        ],
    )
    def test_are_no_matter_without_efa_or_where_not_all_is_known(self, fields: dict[str, Any]) -> None:
        assert self.of(**fields) == []


class TestClusterWaitsForEfaRules:
    def of(self, depends_on: frozenset[str] | None, *, path: str | None = "Net/Out", **fields: Any) -> list[str]:
        out = Rule(direction="egress", protocol="-1", group="Net/Group", path=path)
        group = SecurityGroup(path="Net/Group", rules=(IN, out, *OTHERS))
        return told("HP4002", deployment(cluster(depends_on=depends_on), security_groups=(group,), **fields))

    def test_a_separate_rule_may_come_too_late(self) -> None:
        assert self.of(frozenset({"Net/In"})) == [
            (
                "HP4002 the cluster does not wait for Net/Out, the egress rule for EFA of group 'p5' | "
                "let the cluster depend on Net/Out"
            )
        ]

    def test_is_silent_where_the_cluster_waits(self) -> None:
        assert self.of(frozenset({"Net/Out", "Net/In"})) == []

    def test_is_silent_on_inline_rules(self) -> None:
        assert self.of(frozenset(), path=None) == []

    @pytest.mark.parametrize(("file", "findings"), [("network.json", 0), ("cluster.json", 1)])
    def test_is_silent_on_rules_of_another_template_which_is_deployed_first(self, file: str, findings: int) -> None:
        places = {"Train": Location("cluster.json", 7), "Net/Out": Location(file, 1)}
        assert len(self.of(frozenset(), locations=places)) == findings

    def test_is_silent_where_the_dependencies_are_not_known(self) -> None:
        assert self.of(None) == []

    @pytest.mark.parametrize("change", [{"protocol": UNKNOWN}, {"group": UNKNOWN}])
    def test_is_silent_where_it_is_not_known_whether_a_rule_is_one_for_efa(self, change: dict[str, Any]) -> None:
        out = replace(OUT, path="Net/Out", **change)
        group = SecurityGroup(path="Net/Group", rules=(IN, out))
        assert told("HP4002", deployment(cluster(depends_on=frozenset()), security_groups=(group,))) == []

    def test_is_silent_where_not_every_rule_is_known(self) -> None:
        group = SecurityGroup(path="Net/Group", rules=(IN, replace(OUT, path="Net/Out")), complete=False)
        assert told("HP4002", deployment(cluster(depends_on=frozenset()), security_groups=(group,))) == []


class TestAddressesSuffice:
    def test_names_need_room_and_the_subnet_that_fits(self) -> None:
        judged = deployment(eks_cluster(kubernetes(count=30, spares=4)), subnets=(SMALL,))
        assert told("HP4003", judged) == [
            (
                "HP4003 group 'p5' needs 2,754 addresses (34 nodes x 81) but subnet usw2-az2 10.1.0.0/24 has 251 | "
                "use a /20 or wider, which has 4,091"
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
                "subnet usw2-az2 10.1.0.0/24 has 251 | use a /23 or wider, which has 507"
            )
        ]

    def test_clusters_that_share_a_subnet_count_together(self) -> None:
        two = (cluster(groups=(compute(count=4),)), cluster(path="Other", groups=(compute(name="b", count=4),)))
        assert len(told("HP4003", deployment(*two, subnets=(SMALL,)))) == 1

    def test_clusters_under_conditions_are_not_added_up(self) -> None:
        either = [cluster(path=path, groups=(compute(count=4),), conditional=True) for path in ("A", "B")]
        assert told("HP4003", deployment(*either, subnets=(SMALL,))) == []

    def test_the_fix_holds_what_is_computed_too(self) -> None:
        groups = (compute(count=8), compute(name="en", instance_type="ml.p5en.48xlarge", count=20))
        (found,) = told("HP4003", deployment(cluster(groups=groups), subnets=(SMALL,)))
        assert found.endswith("use a /22 or wider, which has 1,019")

    def test_all_groups_of_a_cluster_stand_in_one_of_its_subnets(self) -> None:
        small, large = subnet("A", cidr="10.1.0.0/26"), subnet("B", cidr="10.1.1.0/24")
        judged = cluster(groups=(compute(count=8),), placement=placed("A", "B"))
        assert told("HP4003", deployment(judged, subnets=(small, large))) == [
            (
                "HP4003 group 'p5' needs 256 addresses (8 nodes x 32) but the largest of 2 subnets, usw2-az2 "
                "10.1.1.0/24, has 251 | use a /23 or wider, which has 507"
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
        assert found.endswith("| give some groups subnets of their own: the widest, a /16, has 65,531 addresses")

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
                "per network card) but subnet usw2-az2 10.1.0.0/24 has 251 | use a /22 or wider, which has 1,019"
            )
        ]
        assert told("HP4003", judged) == []

    def test_documented_numbers_alone_may_fit(self) -> None:
        groups = (compute(count=7), login(count=40))
        (found,) = told("HP4004", deployment(cluster(groups=groups), subnets=(SMALL,)))
        assert "need 264 addresses (7 nodes x 32 + 40 nodes x 1: one address per network card)" in found

    def test_is_silent_where_they_fit(self) -> None:
        assert told("HP4004", deployment(slurm_cluster(compute(count=7), login()), subnets=(SMALL,))) == []

    def test_names_the_path_of_a_subnet_in_an_unknown_zone(self) -> None:
        judged = deployment(slurm_cluster(login(count=300)), subnets=(subnet("Net/Nodes", zone=UNKNOWN),))
        assert "but subnet Net/Nodes 10.1.0.0/24 has 251" in told("HP4004", judged)[0]


class TestSubnetsArePrivate:
    def of(self, public: Any, **fields: Any) -> list[str]:
        return told("HP4005", deployment(cluster(**fields), subnets=(subnet("Net/Nodes", public=public),)))

    def test_nodes_get_no_public_addresses(self) -> None:
        assert self.of(public=True) == [
            (
                "HP4005 the cluster stands in subnet Net/Nodes, which gives its nodes public addresses | "
                "use a subnet with MapPublicIpOnLaunch false and a route to a NAT gateway or to VPC endpoints"
            )
        ]

    def test_nor_does_a_group_in_its_own_subnet(self) -> None:
        found = self.of(public=True, placement=None, groups=(compute(placement=PLACEMENT),))
        assert [each.partition(",")[0] for each in found] == ["HP4005 group 'p5' stands in subnet Net/Nodes"]

    @pytest.mark.parametrize("public", [False, UNKNOWN])
    def test_is_silent_on_private_and_unknown_subnets(self, public: Any) -> None:
        assert self.of(public=public) == []


class TestEfaGroupStaysInOneZone:
    def of(self, other_zone: Any, **fields: Any) -> list[str]:
        group = compute(placement=placed("A", "B"), **fields)
        return told("HP4006", deployment(slurm_cluster(group), subnets=(subnet("A"), subnet("B", zone=other_zone))))

    def test_names_the_zones(self) -> None:
        assert self.of("usw2-az1") == [
            (
                "HP4006 group 'p5' has EFA and subnets in 2 zones: usw2-az1, usw2-az2 | "
                "use one zone (usw2-az1 or usw2-az2), or make a group for each"
            )
        ]

    @pytest.mark.parametrize("zone", ["usw2-az2", UNKNOWN, None])
    def test_is_silent_on_one_known_zone(self, zone: Any) -> None:
        assert self.of(zone) == []

    def test_is_silent_on_nodes_without_efa(self) -> None:
        assert self.of("usw2-az1", instance_type="ml.m5.4xlarge") == []


class TestZonesAreOfTheRegion:
    def of(self, zone: Any, region: str | None = "eu-central-1") -> list[str]:
        return told("HP4007", deployment(cluster(region=region), subnets=(subnet("Net/Nodes", zone=zone),)))

    def test_a_subnet_in_a_zone_of_another_region(self) -> None:
        assert self.of("usw2-az2") == [
            (
                "HP4007 zone usw2-az2 is in us-west-2 but the cluster is in eu-central-1 | "
                "use a zone id that begins with euc1-, or deploy to us-west-2"
            )
        ]

    def test_a_group_in_a_zone_of_another_region(self) -> None:
        judged = cluster(groups=(compute(zone="use1-az1"),))
        assert len(told("HP4007", deployment(judged))) == 1

    def test_the_subnet_of_a_mounted_file_system(self) -> None:
        mounts = (Mount(kind="lustre", file_system="Scratch"),)
        scratch = FileSystem(path="Scratch", lustre=Lustre(), subnets=("Data",))
        judged = deployment(
            cluster(groups=(compute(mounts=mounts),)),
            file_systems=(scratch,),
            subnets=(SUBNET, subnet("Data", "use1-az1")),
        )
        assert len(told("HP4007", judged)) == 1

    def test_the_subnet_of_a_file_system_without_a_cluster(self) -> None:
        scratch = FileSystem(path="Scratch", lustre=Lustre(), subnets=("Data",), region="us-west-2")
        judged = deployment(file_systems=(scratch,), subnets=(subnet("Data", "use1-az1"),))
        assert told("HP4007", judged) == [
            (
                "HP4007 zone use1-az1 is in us-east-1 but file system Scratch is in us-west-2 | "
                "use a zone id that begins with usw2-, or deploy to us-east-1"
            )
        ]

    def test_a_subnet_that_cluster_and_file_system_share_is_told_once(self) -> None:
        mounts = (Mount(kind="lustre", file_system="Scratch"),)
        scratch = FileSystem(path="Scratch", lustre=Lustre(), subnets=("Net/Nodes",), region="us-west-2")
        judged = deployment(
            cluster(groups=(compute(mounts=mounts),)),
            file_systems=(scratch,),
            subnets=(subnet("Net/Nodes", "use1-az1"),),
        )
        assert len(told("HP4007", judged)) == 1

    @pytest.mark.parametrize("zone", ["euc1-az2", UNKNOWN, None, "us-west-2b", "xyz9-az1"])
    def test_is_silent_on_zones_of_the_region_and_on_unknown_ones(self, zone: Any) -> None:
        assert self.of(zone) == []

    @pytest.mark.parametrize("region", [None, "mars-north-1"])
    def test_is_silent_in_an_unknown_region(self, region: str | None) -> None:
        assert self.of("usw2-az2", region) == []


class TestLustreIsInTheZoneOfItsNodes:
    def of(
        self, its_zone: Any, *, efa: bool = False, groups: tuple[Any, ...] | None = None, **fields: Any
    ) -> list[str]:
        mounts = (Mount(kind="lustre", file_system="Scratch"), Mount(kind="lustre", file_system="fs-0123.fsx"))
        scratch = FileSystem(path="Scratch", lustre=Lustre(efa=efa), subnets=("Data",))
        mounting = tuple(each(mounts=mounts, **fields) for each in groups or (compute,))
        judged = deployment(
            cluster(groups=mounting), file_systems=(scratch,), subnets=(SUBNET, subnet("Data", its_zone))
        )
        return told("HP4008", judged)

    def test_names_both_zones(self) -> None:
        assert self.of("usw2-az1") == [
            (
                "HP4008 group 'p5' in usw2-az2 mounts Scratch, which is in usw2-az1 | "
                "put nodes and file system in one zone, usw2-az2 or usw2-az1"
            )
        ]

    def test_groups_of_one_zone_are_told_together(self) -> None:
        (found,) = self.of("usw2-az1", groups=(controller, login, compute))
        assert found.startswith("HP4008 groups 'controller', 'login' and 'p5' in usw2-az2 mount Scratch, which")

    def test_says_that_efa_is_lost(self) -> None:
        assert "which is in usw2-az1: its EFA cannot be used |" in self.of("usw2-az1", efa=True)[0]

    def test_says_nothing_of_efa_to_nodes_without(self) -> None:
        assert "EFA" not in self.of("usw2-az1", efa=True, groups=(login,))[0]

    @pytest.mark.parametrize("zone", ["usw2-az2", UNKNOWN, None])
    def test_is_silent_on_the_same_zone_and_on_unknown_ones(self, zone: Any) -> None:
        assert self.of(zone) == []

    def test_the_zone_of_a_group_counts_before_that_of_its_cluster(self) -> None:
        assert self.of("usw2-az1", zone="usw2-az1") == []
        assert len(self.of("usw2-az2", zone="usw2-az1")) == 1
        assert self.of("usw2-az1", zone=UNKNOWN) == []


class TestPlacementHasALegalSize:
    def of(self, subnets: Any, security_groups: Any) -> list[str]:
        place = VpcPlacement(subnets=subnets, security_groups=security_groups)
        return told("HP4009", deployment(cluster(placement=place)))

    def test_more_than_the_service_takes(self) -> None:
        assert self.of(("s",) * 17, ("g",) * 6) == [
            "HP4009 the cluster has 17 subnets | give it 1 to 16 subnets",
            "HP4009 the cluster has 6 security groups | give it 1 to 5 security groups",
        ]

    def test_none(self) -> None:
        assert self.of((), ("g",)) == ["HP4009 the cluster has 0 subnets | give it 1 to 16 subnets"]

    def test_counts_what_is_certainly_there(self) -> None:
        assert self.of(("s",), (*("g",) * 6, UNKNOWN)) == [
            "HP4009 the cluster has 6 security groups | give it 1 to 5 security groups"
        ]

    @pytest.mark.parametrize(
        ("subnets", "groups"),
        [
            (("s",) * 16, ("g",) * 5),
            (("s",), ("g",)),
            (UNKNOWN, UNKNOWN),
            ((UNKNOWN, UNKNOWN), (*("g",) * 4, UNKNOWN, UNKNOWN)),
        ],
    )
    def test_is_silent_on_legal_and_unknown_lists(self, subnets: Any, groups: Any) -> None:
        assert self.of(subnets, groups) == []


class TestClusterStandsInOneZone:
    def of(self, zone: Any) -> list[str]:
        judged = cluster(placement=placed("A", "B"))
        return told("HP4010", deployment(judged, subnets=(subnet("A"), subnet("B", zone))))

    def test_names_the_zones(self) -> None:
        assert self.of("usw2-az1") == [
            (
                "HP4010 the cluster has subnets in 2 zones: usw2-az1, usw2-az2 | "
                "name subnets of one zone, and give groups that stand elsewhere a placement of their own"
            )
        ]

    @pytest.mark.parametrize("zone", ["usw2-az2", UNKNOWN])
    def test_is_silent_on_one_known_zone(self, zone: Any) -> None:
        assert self.of(zone) == []

    @pytest.mark.parametrize("place", [None, UNKNOWN, VpcPlacement(subnets=UNKNOWN, security_groups=())])
    def test_is_silent_where_the_placement_is_not_known(self, place: Any) -> None:
        assert told("HP4010", deployment(cluster(placement=place))) == []


class TestNetworksAreHeldInPlace:
    def test_names_what_is_reached_weakly(self) -> None:
        weak = VpcPlacement(subnets=("A/S",), security_groups=("A/G",), weak=("Subnets", "SecurityGroupIds"))
        group = VpcPlacement(subnets=("A/S",), security_groups=("A/G",), weak=("Subnets",))
        scratch = FileSystem(path="Scratch", lustre=Lustre(), weak=("SubnetIds",))
        judged = deployment(cluster(placement=weak, groups=(compute(placement=group),)), file_systems=(scratch,))
        assert [said.partition(" |")[0] for said in told("HP4011", judged)] == [
            "HP4011 the cluster has Subnets and SecurityGroupIds through Fn::GetStackOutput",
            "HP4011 group 'p5' has Subnets through Fn::GetStackOutput",
            "HP4011 the file system has SubnetIds through Fn::GetStackOutput",
        ]

    @pytest.mark.parametrize("place", [PLACEMENT, UNKNOWN, None])
    def test_is_silent_on_strong_and_unknown_ones(self, place: Any) -> None:
        scratch = FileSystem(path="Scratch", lustre=Lustre(), subnets=UNKNOWN)
        assert told("HP4011", deployment(cluster(placement=place), file_systems=(scratch,))) == []
