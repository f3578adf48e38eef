from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.model.budget import BudgetResource
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.model.storage import FileSystem, Lustre, NodeVolume
from hyperpod_constructs.review import figures, money
from hyperpod_constructs.review.figures import ClusterChange, Figures, QuotaChange
from hyperpod_constructs.review.impacts import Change, Effect, Impact
from hyperpod_constructs.review.money import BudgetFigure, ItemChange
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import ACCOUNT, REGION, cluster, compute, controller, deployment, login, plan

LISTS = (
    PriceList(
        of="hyperpod",
        region=REGION,
        source="agreement",
        as_of="2026-11-01",
        usd={"ml.p5.48xlarge": 50.0, "ml.p5en.48xlarge": 60.0, "ml.m5.4xlarge": 1.0},
    ),
)


def moved(base: Any, head: Any, lists: tuple[PriceList, ...] = LISTS) -> Figures:
    """What a change does, from one cluster, list of groups or deployment to another."""
    return figures.of(_deployment(base), _deployment(head), lists)


def _deployment(side: Any) -> Deployment:
    if isinstance(side, InstanceGroup):
        side = cluster(groups=(side,))
    return deployment(side) if isinstance(side, Cluster) else side


def only(found: Figures) -> ClusterChange:
    (change,) = found.clusters
    return change


class TestNodes:
    def test_are_usable_spare_or_of_the_service(self) -> None:
        before = cluster(groups=(controller(), login(), compute(count=32, spares=2)))
        after = cluster(groups=(controller(), login(), compute(count=48, spares=2)))
        found = only(moved(before, after))
        assert found.before is not None
        assert found.after is not None
        assert (found.before.usable, found.before.spare, found.before.service) == (32, 2, 2)
        assert (found.after.usable, found.after.spare, found.after.service) == (48, 2, 2)
        assert found.before.spare_fraction == pytest.approx(2 / 34)
        assert found.after.spare_fraction == pytest.approx(0.04)

    def test_bring_accelerators(self) -> None:
        (h100,) = only(moved(compute(count=32, spares=2), compute(count=48, spares=2))).accelerators
        assert h100.name == "H100"
        assert (h100.usable_before, h100.usable_after, h100.spare_before, h100.spare_after) == (256, 384, 16, 16)

    def test_of_another_type_bring_other_accelerators(self) -> None:
        found = only(moved(compute(), compute(instance_type="ml.p6-b200.48xlarge"))).accelerators
        assert [(each.name, each.usable_before, each.usable_after) for each in found] == [
            ("B200", 0, 16),
            ("H100", 16, 0),
        ]

    def test_that_are_known_only_at_deploy_are_not_called_none(self) -> None:
        found = only(moved(compute(count=UNKNOWN), compute()))
        assert found.before == figures.Nodes(usable=None, spare=None, service=None, spare_fraction=None, complete=False)
        (h100,) = found.accelerators
        assert (h100.usable_before, h100.usable_after) == (None, 16)

    def test_of_which_some_are_known_are_so_many_at_least(self) -> None:
        found = only(moved(compute(), cluster(groups=(compute(spares=1), compute(name="x", count=UNKNOWN)))))
        assert found.after == figures.Nodes(usable=2, spare=1, service=None, spare_fraction=None, complete=False)

    def test_of_an_unknown_type_may_have_accelerators(self) -> None:
        (h100,) = only(moved(compute(), compute(instance_type=UNKNOWN))).accelerators
        assert (h100.usable_before, h100.usable_after) == (16, None)

    def test_there_are_none_without_a_share_that_waits(self) -> None:
        found = only(moved(compute(), compute(count=0)))
        assert found.after == figures.Nodes(usable=0, spare=0, service=0, spare_fraction=None, complete=True)

    def test_may_be_restricted(self) -> None:
        rig = RestrictedGroup(group=compute(name="rig", count=4))
        found = only(moved(cluster(groups=()), cluster(groups=(), restricted_groups=(rig,)))).after
        assert found is not None
        assert found.usable == 4

    def test_may_be_hidden(self) -> None:
        found = only(moved(compute(), cluster(groups=(compute(),), restricted_groups=UNKNOWN))).after
        assert found is not None
        assert (found.usable, found.complete) == (2, False)


class TestClusters:
    def pairs(self, base: list[Cluster], head: list[Cluster]) -> list[tuple[str, int | None, int | None]]:
        found = moved(Deployment(clusters=tuple(base)), Deployment(clusters=tuple(head))).clusters
        return [
            (each.path, each.before.usable if each.before else None, each.after.usable if each.after else None)
            for each in found
        ]

    def of(self, path: str, count: int, **fields: Any) -> Cluster:
        return cluster(path=path, groups=(compute(count=count),), **fields)

    def test_are_the_same_by_name_wherever_they_stand(self) -> None:
        base = [self.of("A", 1, name="a"), self.of("B", 2, name="b")]
        head = [self.of("B", 3, name="a"), self.of("A", 4, name="b")]
        assert self.pairs(base, head) == [("B", 1, 3), ("A", 2, 4)]

    def test_are_the_same_by_path_where_a_name_is_decided_at_deploy_or_changes(self) -> None:
        base = [self.of("A", 1, name=UNKNOWN), self.of("B", 2, name="old")]
        head = [self.of("B", 3, name="new"), self.of("A", 4, name=None)]
        assert self.pairs(base, head) == [("B", 2, 3), ("A", 1, 4)]

    def test_of_one_name_in_two_regions_are_two(self) -> None:
        base = [self.of("A", 1), self.of("B", 2, region="us-east-1")]
        head = [self.of("C", 3, region="us-east-1"), self.of("D", 4)]
        assert self.pairs(base, head) == [("C", 2, 3), ("D", 1, 4)]

    def test_of_one_path_are_taken_in_their_order(self) -> None:
        base = [self.of("A", 1, name=None), self.of("A", 2, name=None)]
        head = [self.of("A", 3, name=None), self.of("A", 4, name=None)]
        assert self.pairs(base, head) == [("A", 1, 3), ("A", 2, 4)]

    def test_come_and_go(self) -> None:
        base, head = [self.of("A", 1, name="a")], [self.of("B", 2, name="b")]
        assert self.pairs(base, head) == [("B", None, 2), ("A", 1, None)]

    def test_whose_path_begins_as_that_of_another_one_stay_where_they_are(self) -> None:
        base = Deployment(clusters=(self.of("A", 1, name="a"), self.of("AB", 2, name="b")))
        head = Deployment(clusters=(self.of("C", 1, name="a"), self.of("AB", 3, name="b")))
        assert [(item.path, item.before, item.after) for item in moved(base, head).cost.items] == [("AB/p5", 2, 3)]

    def test_at_another_path_cost_no_more(self) -> None:
        found = moved(self.of("Old", 2), self.of("New/Cluster", 3)).cost
        assert [(item.path, item.before, item.after) for item in found.items] == [("New/Cluster/p5", 2, 3)]

    def test_at_another_path_do_not_touch_what_has_no_price(self) -> None:
        groups = (compute(instance_type="ml.p9.48xlarge"),)
        found = moved(cluster(path="Old", groups=groups), cluster(path="New", groups=groups)).cost
        assert [(each.path, each.before, each.after, each.changed) for each in found.not_priced] == [
            ("New/p5", True, True, False)
        ]

    def test_without_a_name_in_two_files_are_one_where_their_places_in_them_are_the_same(self) -> None:
        before, after = (cluster(path=f"{file}.json/C", name=None, groups=(compute(),)) for file in ("base", "head"))
        assert self.pairs([before], [after]) == [("head.json/C", 2, 2)]
        assert self.pairs([before], [replace(after, name=UNKNOWN)]) == [("head.json/C", 2, 2)]

    @pytest.mark.parametrize(
        "other",
        [
            {"name": "other"},
            {"path": "head.json/D"},
            {"region": "eu-west-1"},
            {"account": "999999999999"},
        ],
    )
    def test_without_a_name_are_two_where_something_speaks_against_it(self, other: dict[str, Any]) -> None:
        before = cluster(path="base.json/C", name=None, groups=(compute(),))
        after = replace(before, **{"path": "head.json/C", **other})
        assert self.pairs([before], [after]) == [(after.path, None, 2), ("base.json/C", 2, None)]

    def test_without_a_name_are_not_guessed_where_there_are_two(self) -> None:
        before, third, after = (
            cluster(path=path, name=None, groups=(compute(),)) for path in ("a.json/C", "b.json/C", "c.json/C")
        )
        assert len(self.pairs([before, third], [after])) == 3


class TestSubnets:
    def test_have_fewer_addresses_left(self) -> None:
        (found,) = moved(compute(count=32), compute(count=48)).subnets
        assert (found.path, found.zone, found.cidr) == ("Net/Nodes", "usw2-az2", "10.1.32.0/19")
        assert found.before == figures.Addresses(used=1024, available=8187, left=7163, complete=True)
        assert found.after == figures.Addresses(used=1536, available=8187, left=6651, complete=True)

    def test_that_do_not_suffice_have_less_than_nothing(self) -> None:
        small = Subnet(path="Net/Nodes", cidr="10.1.0.0/24")
        side = deployment(cluster(groups=(compute(count=8),)), subnets=(small,))
        (found,) = moved(side, side).subnets
        assert found.after is not None
        assert (found.after.available, found.after.left) == (251, -5)
        more = deployment(cluster(groups=(compute(count=8), compute(name="x", count=UNKNOWN))), subnets=(small,))
        (found,) = moved(side, more).subnets
        assert found.after == figures.Addresses(used=256, available=251, left=-5, complete=False)

    def test_of_an_unknown_size_or_use_have_nobody_knows_how_many_left(self) -> None:
        unknown = deployment(cluster(groups=(compute(),)), subnets=(Subnet(path="Net/Nodes", cidr=UNKNOWN),))
        (found,) = moved(compute(count=UNKNOWN), unknown).subnets
        assert found.before == figures.Addresses(used=0, available=8187, left=None, complete=False)
        assert found.after == figures.Addresses(used=64, available=None, left=None, complete=True)

    def test_come_and_go_and_the_tightest_stands_out(self) -> None:
        wide, narrow = Subnet(path="A", cidr="10.1.0.0/20"), Subnet(path="B", cidr="10.2.0.0/22")
        nets = {"subnets": (wide, narrow)}
        both = VpcPlacement(subnets=("A", "B"), security_groups=())
        first = VpcPlacement(subnets=("A",), security_groups=())
        found = moved(deployment(cluster(placement=first), **nets), deployment(cluster(placement=both), **nets))
        assert [(each.path, each.before is None) for each in found.subnets] == [("A", False), ("B", True)]
        assert found.tightest is found.subnets[1]
        assert moved(deployment(), deployment()).tightest is None

    def test_of_two_files_are_the_same_at_the_same_place(self) -> None:
        before, after = (
            deployment(
                cluster(placement=VpcPlacement(subnets=(f"{file}.json/A",), security_groups=())),
                subnets=(Subnet(path=f"{file}.json/A", cidr="10.1.0.0/20"),),
            )
            for file in ("base", "head")
        )
        (found,) = moved(before, after).subnets
        assert (found.path, found.before) == ("head.json/A", found.after)


class TestCost:
    def test_is_the_difference_of_what_changed_with_its_source(self) -> None:
        before = cluster(groups=(controller(), compute(count=32)))
        found = moved(before, cluster(groups=(controller(), compute(count=46, spares=2)))).cost
        assert (found.before.usd_per_hour, found.after.usd_per_hour) == (1601.0, 2401.0)
        assert found.after.usd_per_month == pytest.approx(2401 * 730)
        assert (found.difference, found.estimate, found.complete) == (800.0, False, True)
        assert found.items == (
            ItemChange(
                path="Train/p5",
                item="ml.p5.48xlarge",
                unit="instance",
                before=32,
                after=48,
                usd_per_hour_before=1600.0,
                usd_per_hour_after=2400.0,
                difference=800.0,
                estimate=False,
            ),
        )
        assert [(each.source, each.as_of, each.estimate) for each in found.sources] == [
            ("agreement", "2026-11-01", False)
        ]

    def test_of_nothing_changed_has_no_items(self) -> None:
        found = moved(compute(), compute()).cost
        assert (found.items, found.sources, found.difference, found.complete) == ((), (), 0.0, True)

    def test_is_an_estimate_where_the_price_of_what_changed_is_one(self) -> None:
        found = moved(compute(), compute(count=3), lists=()).cost
        assert found.estimate
        assert found.sources[0].source.startswith("estimate: ")

    def test_is_none_where_only_what_stays_is_estimated(self) -> None:
        before, after = (cluster(groups=(login(), compute(count=count))) for count in (2, 3))
        found = moved(before, after).cost
        assert (found.after.estimate, found.estimate) == (True, False)

    def test_of_a_type_swap_is_one_item_that_goes_and_one_that_comes(self) -> None:
        found = moved(compute(), compute(instance_type="ml.p5en.48xlarge")).cost
        assert [(each.item, each.before, each.after, each.difference) for each in found.items] == [
            ("ml.p5en.48xlarge", 0, 2, 120.0),
            ("ml.p5.48xlarge", 2, 0, -100.0),
        ]
        assert found.difference == 20.0

    def test_of_what_loses_its_price_is_not_called_less(self) -> None:
        found = moved(compute(), compute(instance_type=UNKNOWN)).cost
        (item,) = found.items
        assert (item.before, item.after, item.usd_per_hour_after, item.difference) == (2, None, None, None)
        assert (found.after.usd_per_hour, found.difference, found.complete) == (None, None, False)

    def test_of_an_unpriced_group_is_touched_by_its_size(self) -> None:
        groups = {count: compute(instance_type="ml.p9.48xlarge", count=count) for count in (2, 4)}
        found = moved(groups[2], groups[4]).cost
        assert (found.items, found.difference, found.complete) == ((), None, False)
        (unpriced,) = found.not_priced
        assert (unpriced.path, unpriced.before, unpriced.after, unpriced.changed) == ("Train/p5", True, True, True)
        assert unpriced.why == "no price of ml.p9.48xlarge in us-west-2 is in the catalogue"
        assert moved(groups[2], groups[2]).cost.complete

    def test_of_what_gets_its_price_is_not_called_more(self) -> None:
        found = moved(cluster(groups=(compute(),), region=None), compute()).cost
        (item,) = found.items
        assert (item.before, item.after, item.difference) == (None, 2, None)
        assert (found.after.usd_per_hour, found.difference, found.complete) == (100.0, None, False)

    def test_of_volumes_without_a_price_is_touched_by_what_has_volumes(self) -> None:
        volumes = (NodeVolume(size_gib=500),)
        more = moved(compute(volumes=volumes), compute(count=3, volumes=volumes)).cost
        assert [(each.item, each.changed) for each in more.not_priced] == [("EBS volumes", True)]
        assert (more.difference, more.complete) == (50.0, False)
        swapped = moved(compute(volumes=volumes), compute(instance_type="ml.p5en.48xlarge", volumes=volumes)).cost
        assert swapped.complete

    def test_keeps_plans_apart(self) -> None:
        found = moved(compute(count=2, capacity=plan()), compute(count=4, capacity=plan())).cost
        assert (found.before.usd_per_hour, found.after.usd_per_hour, found.items) == (0.0, 0.0, ())
        assert [(each.plan, each.before, each.after) for each in found.prepaid] == [("frontier", 2, 4)]

    def test_of_a_group_that_goes_on_a_plan_is_prepaid(self) -> None:
        found = moved(compute(), compute(count=UNKNOWN, capacity=plan())).cost
        assert found.difference == -100.0
        assert [(each.path, each.before, each.after) for each in found.prepaid] == [("Train/p5", 0, None)]

    def test_of_a_plan_is_unknown_where_one_of_its_groups_is(self) -> None:
        first, second = (compute(name=UNKNOWN, count=count, capacity=plan()) for count in (UNKNOWN, 2))
        for groups in ((first, second), (second, first)):
            found = moved(cluster(groups=(second, second)), cluster(groups=groups)).cost
            assert [(each.before, each.after) for each in found.prepaid] == [(4, None)]

    def test_of_a_file_system_is_by_the_gib(self) -> None:
        before, after = (
            deployment(file_systems=(FileSystem(path="S", lustre=lustre, region=REGION),))
            for lustre in (
                Lustre(capacity_gib=1200, throughput_mbps_per_tib=125),
                Lustre(capacity_gib=2400, throughput_mbps_per_tib=125),
            )
        )
        (item,) = moved(before, after).cost.items
        assert (item.unit, item.before, item.after, item.estimate) == ("GiB", 1200, 2400, True)

    def test_of_the_first_deployment_is_all_of_it(self) -> None:
        found = moved(Deployment(), compute()).cost
        assert (found.before.usd_per_hour, found.difference) == (0.0, 100.0)

    def test_of_control_planes_counts_too(self) -> None:
        eks = cluster(groups=(), orchestrator=Eks(cluster="Kubernetes"))
        (item,) = moved(Deployment(), eks).cost.items
        assert (item.item, item.unit, item.after) == ("EKS control plane", "cluster", 1)

    def test_of_groups_whose_names_are_decided_at_deploy_adds_up(self) -> None:
        both = cluster(groups=(compute(name=UNKNOWN), compute(name=UNKNOWN, count=3)))
        (item,) = moved(cluster(groups=(compute(name=UNKNOWN),)), both).cost.items
        assert (item.path, item.before, item.after) == ("Train", 2, 5)

    def test_of_things_in_two_files_is_that_of_the_same_things(self) -> None:
        before, after = (
            deployment(
                cluster(path=f"{file}.json/C", name=None, groups=(compute(),)),
                file_systems=(
                    FileSystem(
                        path=f"{file}.json/S",
                        lustre=Lustre(capacity_gib=1200, throughput_mbps_per_tib=125),
                        region=REGION,
                    ),
                ),
            )
            for file in ("base", "head")
        )
        found = moved(before, after).cost
        assert (found.items, found.difference, found.complete) == ((), 0.0, True)


class TestUnpriced:
    """What is paid by the hour and has no price here: a difference without it is not whole."""

    def change(self, kind: str, name: str = "", impact: Impact = Impact.IN_PLACE, **fields: Any) -> Change:
        return Change(path="App/It", property_name=name, effect=Effect(impact, ""), type=kind, stack="App", **fields)

    @pytest.mark.parametrize(
        ("kind", "what"),
        [
            ("AWS::EC2::Instance", "EC2 instance"),
            ("AWS::EC2::NatGateway", "NAT gateway"),
            ("AWS::EC2::VPCEndpoint", "VPC endpoint"),
            ("AWS::EKS::Nodegroup", "EKS node group"),
            ("AWS::AutoScaling::AutoScalingGroup", "AutoScaling group"),
            ("AWS::RDS::DBInstance", "RDS instance"),
            ("AWS::RDS::DBCluster", "RDS cluster"),
            ("AWS::OpenSearchService::Domain", "OpenSearch domain"),
            ("AWS::ElastiCache::ReplicationGroup", "ElastiCache replication group"),
        ],
    )
    def test_is_what_comes_and_what_goes(self, kind: str, what: str) -> None:
        for impact, said in (
            (Impact.CREATED, "new"),
            (Impact.REMOVED, "goes"),
            (Impact.DATA_LOST, "goes"),
            (Impact.LEFT_BEHIND, "leaves the stack"),
            (Impact.OPEN, "decided at deploy"),
        ):
            assert money.unpriced([self.change(kind, impact=impact)]) == (f"{what} App/It ({said})",)

    @pytest.mark.parametrize(
        ("kind", "name"),
        [
            ("AWS::EC2::Instance", "InstanceType"),
            ("AWS::EKS::Nodegroup", "ScalingConfig.DesiredSize"),
            ("AWS::AutoScaling::AutoScalingGroup", "MaxSize"),
            ("AWS::RDS::DBInstance", "DBInstanceClass"),
            ("AWS::OpenSearchService::Domain", "ClusterConfig.InstanceCount"),
            ("AWS::ElastiCache::CacheCluster", "NumCacheNodes"),
        ],
    )
    def test_is_what_is_resized(self, kind: str, name: str) -> None:
        found = money.unpriced([self.change(kind, name, before="1", after="2")])
        assert found[0].endswith(f" App/It ({name} 1 → 2)")
        assert money.unpriced([self.change(kind, name)])[0].endswith(f" App/It ({name})")

    @pytest.mark.parametrize(
        ("kind", "name", "impact"),
        [
            ("AWS::EC2::Instance", "Tags.Value", Impact.IN_PLACE),
            ("AWS::RDS::DBInstance", "DeletionPolicy", Impact.UNPROTECTED),
            ("AWS::EC2::NatGateway", "SubnetId", Impact.REPLACED),
            ("AWS::EC2::VPCEndpoint", "PolicyDocument", Impact.IN_PLACE),
            ("AWS::RDS::DBInstance", "", Impact.STAYS),
            ("AWS::SageMaker::Cluster", "InstanceGroups.InstanceCount", Impact.IN_PLACE),
            ("AWS::S3::Bucket", "", Impact.CREATED),
            ("AWS::No::Type", "InstanceType", Impact.IN_PLACE),
            ("", "", Impact.OPEN),
        ],
    )
    def test_is_nothing_else(self, kind: str, name: str, impact: Impact) -> None:
        assert money.unpriced([self.change(kind, name, impact)]) == ()

    def test_are_no_endpoints_of_the_kind_gateway(self) -> None:
        new = self.change("AWS::EC2::VPCEndpoint", impact=Impact.CREATED)
        assert money.unpriced([new], ["App/It"]) == ()
        assert len(money.unpriced([new], ["App/Other"])) == 1
        assert len(money.unpriced([self.change("AWS::EC2::NatGateway", impact=Impact.CREATED)], ["App/It"])) == 1

    def test_follows_no_replacement_elsewhere(self) -> None:
        found = self.change("AWS::EC2::VPCEndpoint", "SubnetIds", Impact.IN_PLACE, because_of="App/Subnet")
        assert money.unpriced([found]) == ()

    def test_makes_a_difference_not_whole(self) -> None:
        side = deployment(cluster(groups=(compute(),)))
        assert figures.of(side, side, LISTS).cost.complete
        found = figures.of(side, side, LISTS, ("NAT gateway App/It (new)",)).cost
        assert (found.difference, found.complete, found.unpriced) == (0.0, False, ("NAT gateway App/It (new)",))

    def test_is_one_text_for_each_thing(self) -> None:
        kind = "AWS::RDS::DBInstance"
        both = [self.change(kind, "DBInstanceClass"), self.change(kind, "AllocatedStorage")]
        assert money.unpriced(both) == ("RDS instance App/It (DBInstanceClass)",)


class TestBudgets:
    def figure(self, count: int = 4, *, base: int = 2, groups: Any = (), **fields: Any) -> BudgetFigure:
        """The budget after a change to so many instances of 50 USD/h: 36,500 USD a month each."""
        budgets = (BudgetResource(path="Budget", **{"amount": 100_000.0, "unit": "USD", "account": ACCOUNT, **fields}),)
        before = deployment(cluster(groups=(compute(count=base),)), budgets=budgets)
        after = deployment(cluster(groups=(compute(count=count), *groups)), budgets=budgets)
        (found,) = moved(before, after).budgets
        return found

    def test_that_are_reached_say_about_when(self) -> None:
        found = self.figure(4)
        assert (found.limit, found.forecast_before, found.forecast) == (100_000.0, 73_000.0, 146_000.0)
        assert (found.over, found.day, found.estimate) == (True, 21, False)  # 100,000 / 4,800 USD a day

    def test_that_suffice_say_so(self) -> None:
        found = self.figure(2)
        assert (found.over, found.day) == (False, None)

    def test_of_exactly_the_forecast_suffice(self) -> None:
        assert self.figure(4, amount=146_000.0).over is False
        assert self.figure(4, amount=145_999.0).over is True

    @pytest.mark.parametrize(
        "fields",
        [
            {"amount": UNKNOWN},
            {"amount": None},
            {"unit": "CNY"},
            {"unit": UNKNOWN},
            {"planned": True},
            {"planned": UNKNOWN},
            {"adjusted": True},
        ],
    )
    def test_of_an_unknown_limit_say_nothing(self, fields: dict[str, Any]) -> None:
        found = self.figure(4, **fields)
        assert (found.limit, found.over, found.day, found.forecast) == (None, None, None, 146_000.0)

    @pytest.mark.parametrize(
        ("fields", "filtered"),
        [({"filters": True}, True), ({"expression": True}, True), ({"filters": UNKNOWN}, None)],
    )
    def test_that_may_count_a_part_are_not_called_reached(self, fields: dict[str, Any], filtered: Any) -> None:
        assert (self.figure(4, **fields).over, self.figure(4, **fields).filtered) == (None, filtered)
        assert self.figure(2, **fields).over is False

    def test_are_not_called_large_enough_for_what_has_no_price(self) -> None:
        unpriced = compute(name="x", instance_type="ml.p9.48xlarge")
        assert self.figure(2, groups=(unpriced,)).over is None
        assert self.figure(4, groups=(unpriced,)).over is True

    def test_of_another_account_count_nothing_of_this_one(self) -> None:
        found = self.figure(4, account="999999999999")
        assert (found.forecast, found.over) == (0.0, False)
        assert self.figure(4, account=None).over is True

    def test_of_an_account_count_its_own_file_systems(self) -> None:
        bought = Lustre(capacity_gib=1200, throughput_mbps_per_tib=125)
        budgets = (BudgetResource(path="Budget", amount=1.0, account=ACCOUNT),)
        forecasts = []
        for account in (ACCOUNT, "999999999999"):
            scratch = FileSystem(path="Scratch", lustre=bought, region=REGION, account=account)
            side = Deployment(file_systems=(scratch,), budgets=budgets)
            forecasts += [each.forecast for each in moved(side, side).budgets]
        assert forecasts == [pytest.approx(174.0), 0.0]

    @pytest.mark.parametrize("fields", [{"time_unit": "DAILY"}, {"time_unit": UNKNOWN}, {"kind": "USAGE"}])
    def test_that_are_not_monthly_costs_are_left_out(self, fields: dict[str, Any]) -> None:
        side = deployment(cluster(), budgets=(BudgetResource(path="Budget", amount=1.0, **fields),))
        assert moved(side, side).budgets == ()

    def test_have_the_limit_that_was(self) -> None:
        before, after = (
            deployment(cluster(), budgets=(BudgetResource(path="Budget", amount=amount),)) for amount in (10.0, 20.0)
        )
        (found,) = moved(before, after).budgets
        assert (found.new, found.limit_before, found.limit) == (False, 10.0, 20.0)
        (found,) = moved(cluster(), after).budgets
        assert (found.new, found.limit_before, found.limit) == (True, None, 20.0)

    def test_of_two_files_have_the_limit_of_the_one_at_the_same_place(self) -> None:
        def budgets(*paths: str) -> Deployment:
            return Deployment(budgets=tuple(BudgetResource(path=path, amount=10.0) for path in paths))

        before = budgets("base.json/B")
        assert [each.new for each in moved(before, budgets("head.json/B")).budgets] == [False]
        assert [each.new for each in moved(before, budgets("head.json/C")).budgets] == [True]
        assert [each.new for each in moved(before, budgets("a.json/B", "b.json/B")).budgets] == [True, True]
        assert [each.new for each in moved(before, budgets("base.json/B", "b.json/B")).budgets] == [False, True]


class TestQuotas:
    def rising(self, base: Any, head: Any) -> dict[str, QuotaChange]:
        return {each.name: each for each in moved(base, head).quotas}

    def test_that_must_rise_have_the_commands(self) -> None:
        found = self.rising(compute(count=32), compute(count=48, spares=2))["ml.p5.48xlarge for cluster usage"]
        assert (found.before, found.after, found.complete, found.region) == (32, 50, True, REGION)
        assert (found.seen, found.likely_enough) == ((0, 2), False)
        assert found.command.endswith("--quota-code QUOTA_CODE --desired-value 50")
        assert "list-aws-default-service-quotas" in found.look_up

    def test_that_need_not_rise_are_left_out(self) -> None:
        assert self.rising(compute(count=3), compute(count=3)) == self.rising(compute(count=3), compute()) == {}

    def test_that_the_smallest_account_has_are_likely_enough(self) -> None:
        found = self.rising(compute(count=1), compute(count=2))
        per_cluster = "Maximum number instances allowed per SageMaker HyperPod cluster"
        assert found[per_cluster].likely_enough
        assert not found["ml.p5.48xlarge for cluster usage"].likely_enough

    def test_that_may_rise_at_deploy_are_not_left_out(self) -> None:
        known, hidden = compute(), compute(name="x", count=UNKNOWN)
        found = self.rising(known, cluster(groups=(known, hidden)))["ml.p5.48xlarge for cluster usage"]
        assert (found.before, found.after, found.complete) == (2, 2, False)
        assert self.rising(cluster(groups=(known, hidden)), cluster(groups=(known, hidden))) == {}

    def test_of_a_new_region_are_all_of_it(self) -> None:
        abroad = cluster(groups=(compute(),), region="us-east-1")
        assert {(each.region, each.before) for each in moved(compute(), abroad).quotas} == {("us-east-1", 0)}


def test_figures_are_plain_data() -> None:
    found = asdict(moved(compute(capacity=plan()), cluster(groups=(compute(count=UNKNOWN), controller()))))

    def leaves(value: Any) -> set[type]:
        if isinstance(value, dict):
            value = tuple(value.values())
        return {type(value)} if not isinstance(value, tuple) else {kind for each in value for kind in leaves(each)}

    assert leaves(found) <= {str, int, float, bool, type(None)}
