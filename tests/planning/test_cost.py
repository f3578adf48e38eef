from __future__ import annotations

from dataclasses import replace

import pytest

from hyperpod_constructs.catalog import prices
from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.model.capacity import InstanceGroup, Spot, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.model.storage import FileSystem, Lustre, NodeVolume
from hyperpod_constructs.planning import cost
from hyperpod_constructs.tokens import UNKNOWN

FRONTIER = TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14")
P5_USD = 66.048  # HyperPod's own price in us-east-1, October 2026


def p5(name: str = "p5", *, count: object = 2, **options: object) -> InstanceGroup:
    fields = {"name": name, "instance_type": "ml.p5.48xlarge", "count": count, **options}
    return InstanceGroup(**fields)  # type: ignore[arg-type]  # test data


def deployment(*groups: InstanceGroup, region: str | None = "us-east-1", lustre: Lustre | None = None) -> Deployment:
    file_systems = (FileSystem(path="Scratch", lustre=lustre),) if lustre else ()
    return Deployment(clusters=(Cluster(path="Cluster", groups=groups, region=region),), file_systems=file_systems)


def why(*groups: InstanceGroup, region: str | None = "us-east-1", lustre: Lustre | None = None) -> list[str]:
    found = cost.hourly(deployment(*groups, region=region, lustre=lustre))
    assert found.metered == ()
    return [item.why for item in found.not_priced]


class TestGroups:
    def test_cost_instances_times_price_spares_included(self) -> None:
        found = cost.hourly(deployment(p5(count=30, spares=2)))
        assert [(item.item, item.quantity) for item in found.metered] == [("ml.p5.48xlarge", 32)]
        assert found.usd_per_hour == pytest.approx(32 * P5_USD)
        assert not found.estimate

    def test_every_figure_names_source_and_date(self) -> None:
        (item,) = cost.hourly(deployment(p5())).metered
        price = prices.hourly("ml.p5.48xlarge", "us-east-1")
        assert price is not None
        assert (item.source, item.as_of, item.estimate) == (price.source, price.as_of, False)

    def test_one_estimated_part_makes_the_total_an_estimate(self) -> None:
        found = cost.hourly(deployment(p5(), p5("m5", instance_type="ml.m5.large")))
        assert [item.estimate for item in found.metered] == [False, True]
        assert found.estimate

    def test_a_type_without_a_price_is_not_priced_and_never_free(self) -> None:
        assert why(p5(instance_type="ml.p9.48xlarge")) == [
            "no price of ml.p9.48xlarge in us-east-1 is in the catalogue"
        ]

    def test_an_unknown_region_is_not_priced(self) -> None:
        assert why(p5(), region=None) == ["the Region is not known"]

    def test_unknown_count_and_type_are_not_priced(self) -> None:
        assert why(p5(count=UNKNOWN), p5("b", instance_type=UNKNOWN), p5("c", flexible_types=UNKNOWN)) == [
            "the number of instances is not known",
            "the instance type is not known",
            "the instance type is not known",
        ]

    def test_spot_is_not_priced_but_says_the_price_on_demand(self) -> None:
        assert why(p5(capacity=Spot())) == ["spot prices change by the hour; on demand one would be 66.05 USD/h"]

    def test_unknown_capacity_is_not_priced(self) -> None:
        (text,) = why(p5(capacity=UNKNOWN))
        assert text.startswith("whether it is on demand, on spot or on a training plan is not known")

    def test_a_flexible_group_costs_at_most_its_dearest_type(self) -> None:
        types = ("ml.p5.48xlarge", "ml.p5en.48xlarge")
        (item,) = cost.hourly(deployment(p5(instance_type=None, flexible_types=types))).metered
        assert item.item == "ml.p5.48xlarge or ml.p5en.48xlarge"
        assert (item.usd_each, item.estimate) == (75.9552, True)
        assert item.source.startswith("dearest of 2 types, at most: ")

    @pytest.mark.parametrize("volumes", [(NodeVolume(size_gib=500),), UNKNOWN])
    def test_volumes_are_not_priced(self, volumes: object) -> None:
        found = cost.hourly(deployment(p5(volumes=volumes)))
        assert [item.item for item in found.not_priced] == ["EBS volumes"]

    def test_volumes_are_priced_where_a_price_is_handed_over(self) -> None:
        listed = PriceList(of="hyperpod-volumes", region="us-east-1", source="mine", as_of="2026-11", usd={"gp2": 0.73})
        volumes = (NodeVolume(size_gib=500), NodeVolume(size_gib=100))
        (_, item) = cost.hourly(deployment(p5(count=4, volumes=volumes)), [listed]).metered
        assert (item.item, item.quantity, item.unit, item.source) == ("EBS volumes", 2400, "GiB", "mine")
        assert item.usd_per_hour == pytest.approx(2.4)

    def test_volumes_of_unknown_size_stay_without_a_price(self) -> None:
        listed = PriceList(of="hyperpod-volumes", region="us-east-1", source="mine", as_of="2026-11", usd={"gp2": 0.73})
        found = cost.hourly(deployment(p5(volumes=UNKNOWN)), [listed])
        assert [item.why for item in found.not_priced] == ["their number or size is not known"]


class TestTrainingPlans:
    def test_are_prepaid_and_add_nothing_by_the_hour(self) -> None:
        found = cost.hourly(deployment(p5(count=30, spares=2, capacity=FRONTIER)))
        assert found.usd_per_hour == 0
        assert [(item.plan, item.quantity) for item in found.prepaid] == [("frontier", 32)]

    def test_show_the_latest_dated_offer(self) -> None:
        (item,) = cost.hourly(deployment(p5(capacity=FRONTIER))).prepaid
        assert item.sample is not None
        assert (item.sample.as_of, round(item.sample.usd_per_hour, 2)) == ("2026-10-04", 45.77)

    def test_without_an_offer_show_none(self) -> None:
        (item,) = cost.hourly(deployment(p5(instance_type="ml.trn2.48xlarge", capacity=FRONTIER))).prepaid
        assert item.sample is None


class TestLustre:
    def test_costs_capacity_times_the_monthly_price_over_730_hours(self) -> None:
        (item,) = cost.hourly(deployment(lustre=Lustre(capacity_gib=48_000, throughput_mbps_per_tib=500))).metered
        assert (item.item, item.quantity, item.unit) == ("Lustre PERSISTENT_2 SSD, 500 MB/s/TiB", 48_000, "GiB")
        assert item.usd_per_hour == pytest.approx(48_000 * 0.34 / 730)
        assert item.estimate

    @pytest.mark.parametrize(
        ("fields", "text"),
        [
            ({"capacity_gib": UNKNOWN}, "what is bought is not known"),
            ({"capacity_gib": 1200, "throughput_mbps_per_tib": UNKNOWN}, "what is bought is not known"),
            ({"capacity_gib": 1200, "storage_type": UNKNOWN}, "what is bought is not known"),
            ({"storage_type": "INTELLIGENT_TIERING"}, "only prices of SSD storage are in the catalogue"),
            ({"capacity_gib": 1200, "deployment_type": "PERSISTENT_1"}, "no price in us-east-1 is in the catalogue"),
        ],
    )
    def test_without_a_price_is_not_priced(self, fields: dict[str, object], text: str) -> None:
        assert why(lustre=Lustre(**fields)) == [text]  # type: ignore[arg-type]  # test data

    def test_is_priced_without_a_cluster_where_its_own_region_is_known(self) -> None:
        scratch = FileSystem(
            path="Scratch", lustre=Lustre(capacity_gib=1200, throughput_mbps_per_tib=125), region="us-west-2"
        )
        (item,) = cost.hourly(Deployment(file_systems=(scratch,))).metered
        assert (item.path, item.quantity) == ("Scratch", 1200)

    def test_has_its_own_region_before_that_of_the_clusters(self) -> None:
        bought = Lustre(capacity_gib=1200, throughput_mbps_per_tib=125)
        abroad = replace(deployment(), file_systems=(FileSystem(path="Scratch", lustre=bought, region="cn-north-1"),))
        assert [item.why for item in cost.hourly(abroad).not_priced] == ["no price in cn-north-1 is in the catalogue"]

    def test_has_no_region_where_clusters_stand_in_two(self) -> None:
        clusters = tuple(Cluster(path=region, groups=(), region=region) for region in ("us-east-1", "us-west-2"))
        scratch = FileSystem(path="Scratch", lustre=Lustre(capacity_gib=1200, throughput_mbps_per_tib=125))
        found = cost.hourly(Deployment(clusters=clusters, file_systems=(scratch,)))
        assert [item.why for item in found.not_priced] == ["the Region is not known"]


class TestControlPlane:
    def test_is_paid_once_where_two_clusters_share_it(self) -> None:
        shared = Eks(cluster="Eks")
        clusters = tuple(Cluster(path=p, groups=(), orchestrator=shared, region="us-west-2") for p in ("A", "B"))
        found = cost.hourly(Deployment(clusters=clusters))
        assert [(item.path, item.usd_per_hour) for item in found.metered] == [("Eks", 0.10)]


class TestMonthlyLimit:
    def test_is_730_hours_of_the_metered_items_rounded_up_to_ten(self) -> None:
        assert cost.monthly_limit(deployment(p5(count=1))) == 48_220  # 730 x 66.048 = 48,215.04

    def test_leaves_prepaid_hours_out(self) -> None:
        assert cost.monthly_limit(deployment(p5(count=1), p5("plan", capacity=FRONTIER))) == 48_220

    def test_is_never_below_ten(self) -> None:
        assert cost.monthly_limit(Deployment()) == 10

    def test_an_exact_ten_is_not_lifted_by_binary_fractions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        price = prices.Price(usd_per_hour=0.1, source="test", as_of="2026", estimate=False)
        monkeypatch.setattr(prices, "hourly", lambda *_: price)
        groups = [p5(f"g{i}", count=1) for i in range(100)]
        assert cost.monthly_limit(deployment(*groups)) == 7300
