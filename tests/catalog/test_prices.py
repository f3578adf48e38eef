import pytest

from hyperpod_constructs.catalog import instances, prices
from hyperpod_constructs.catalog.prices import Price


def price(instance_type: str, region: str) -> Price:
    found = prices.hourly(instance_type, region)
    assert found is not None
    return found


class TestHourly:
    @pytest.mark.parametrize(
        ("instance_type", "usd"),
        [
            ("ml.p5.48xlarge", 66.048),
            ("ml.p5en.48xlarge", 75.9552),
            ("ml.p4d.24xlarge", 25.91),
            ("ml.g6e.48xlarge", 37.66),
            ("ml.g5.8xlarge", 3.06),
        ],
    )
    def test_hyperpods_own_price_is_no_estimate(self, instance_type: str, usd: float) -> None:
        found = price(instance_type, "us-east-1")
        assert (found.usd_per_hour, found.estimate, found.as_of) == (usd, False, "2026-10")

    def test_the_same_price_in_another_region_is_an_estimate(self) -> None:
        found = price("ml.p5.48xlarge", "us-west-2")
        assert (found.usd_per_hour, found.estimate, found.as_of) == (66.048, True, "between 2025-08 and 2026-05")
        assert found.source == (
            "estimate: EC2 on-demand 55.04 USD x 1.20 (the ratio of p5); EC2 price from skypilot-catalog v8 "
            "(github.com/skypilot-org/skypilot-catalog), single figures"
        )

    @pytest.mark.parametrize(
        ("instance_type", "region", "usd"),
        [
            ("ml.p4d.24xlarge", "us-west-2", 25.91),  # 21.9576 x 1.18
            ("ml.g5.48xlarge", "us-east-1", 20.36),  # 16.288 x 1.25
            ("ml.g6e.xlarge", "us-east-1", 2.3263),  # 1.861 x 1.25
            ("ml.trn1.32xlarge", "us-east-1", 25.8),  # 21.5 x 1.20
            ("ml.p6-b200.48xlarge", "us-east-2", 136.7196),  # 113.933 x 1.20
        ],
    )
    def test_estimates_use_the_ratio_of_the_family(self, instance_type: str, region: str, usd: float) -> None:
        found = price(instance_type, region)
        assert found.usd_per_hour == pytest.approx(usd, abs=0.0005)
        assert found.estimate

    def test_an_unseen_ratio_says_so(self) -> None:
        assert "no ratio is known for trn1" in price("ml.trn1.32xlarge", "us-east-1").source

    def test_cpu_types_fall_back_to_us_east_1_and_say_so(self) -> None:
        found = price("ml.m5.4xlarge", "eu-north-1")
        assert (found.usd_per_hour, found.estimate) == (0.9216, True)
        assert "us-east-1 price, other Regions differ" in found.source

    @pytest.mark.parametrize(
        ("instance_type", "region"),
        [
            ("ml.g5.48xlarge", "us-west-2"),  # no row, and an accelerated type's price is not guessed across Regions
            ("ml.p5e.48xlarge", "us-east-2"),  # sold by plan and spot only
            ("ml.trn2.48xlarge", "us-east-2"),
            ("ml.p7.48xlarge", "us-east-1"),
            ("ml.m5.4xlarge", "cn-north-1"),  # not in dollars
            ("ml.m5.4xlarge", "nowhere"),
        ],
    )
    def test_unknown_is_unknown(self, instance_type: str, region: str) -> None:
        assert prices.hourly(instance_type, region) is None

    def test_us_east_1_has_a_price_for_all_but_the_types_without_one(self) -> None:
        without = {name for name in instances.names() if prices.hourly(name, "us-east-1") is None}
        assert without == {"ml.p5e.48xlarge", "ml.p6e-gb200.36xlarge", "ml.trn2.3xlarge", "ml.trn2.48xlarge"}

    def test_only_single_figures_come_from_the_catalog_of_unconfirmed_licence(self) -> None:
        """A price is a fact; the rows of that list must not be copied here before somebody has checked its licence."""
        rows = next(each for each in prices._lists() if each["source"].startswith("skypilot"))["usd_per_hour"]
        assert sum(len(by_type) for by_type in rows.values()) == 45
        types = {f"ml.{name}" for by_type in rows.values() for name in by_type}
        assert all((found := instances.find(name)) is not None and found.is_accelerated for name in types)


class TestMeters:
    @pytest.mark.parametrize(("throughput", "usd"), [(125, 0.145), (250, 0.21), (500, 0.34), (1000, 0.60)])
    def test_lustre_costs_by_throughput(self, throughput: int, usd: float) -> None:
        found = prices.lustre_gib_month("PERSISTENT_2", throughput, "us-west-2")
        assert found is not None
        assert (found.usd, found.unit, found.estimate) == (usd, "GiB-month", True)

    def test_lustre_prices_say_that_nobody_confirmed_them(self) -> None:
        found = prices.lustre_gib_month("PERSISTENT_2", 125, "us-west-2")
        assert found is not None
        assert found.as_of == prices.UNDATED
        assert "unconfirmed" in found.source
        assert "AWS's FSx for Lustre pricing page is the authority" in found.source

    @pytest.mark.parametrize(("throughput", "doubted"), [(125, False), (250, True), (500, False)])
    def test_the_lustre_price_that_another_source_contradicts_says_so(self, throughput: int, doubted: bool) -> None:
        found = prices.lustre_gib_month("PERSISTENT_2", throughput, "us-west-2")
        assert found is not None
        assert ("has 0.145 USD at 250 MB/s/TiB" in found.source) is doubted

    @pytest.mark.parametrize(
        ("deployment_type", "throughput", "region"),
        [("PERSISTENT_1", 200, "us-west-2"), ("PERSISTENT_2", None, "us-west-2"), ("PERSISTENT_2", 125, "cn-north-1")],
    )
    def test_unknown_lustre_prices_stay_unknown(
        self, deployment_type: str, throughput: int | None, region: str
    ) -> None:
        assert prices.lustre_gib_month(deployment_type, throughput, region) is None

    def test_an_eks_control_plane_is_an_estimate_with_its_date(self) -> None:
        eks = prices.eks_cluster_hour("us-west-2")
        assert eks is not None
        assert (eks.usd, eks.unit, eks.estimate, eks.as_of) == (0.10, "hour", True, "2026-04")
        assert prices.eks_cluster_hour("cn-north-1") is None


def test_plan_samples_cost_what_the_sources_say_for_a_node_hour() -> None:
    rates = [(sample.instance_type, round(sample.usd_per_hour, 2)) for sample in prices.PLAN_SAMPLES]
    assert rates == [
        ("ml.p5.48xlarge", 38.14),
        ("ml.p5.48xlarge", 38.97),
        ("ml.p5.48xlarge", 45.77),
        ("ml.p5en.48xlarge", 60.53),
        ("ml.p4d.24xlarge", 13.0),
    ]
