"""What is taken from AWS's Price List, and what is left out and said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_constructs.account import prices
from hyperpod_constructs.account.prices import Found
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotAllowed
from tests.account.price_list import P5, PriceListStub, lustre, product


@pytest.fixture
def aws() -> Iterator[PriceListStub]:
    """AWS's Price List."""
    with PriceListStub() as stub:
        yield stub


def of(found: Found, kind: str) -> dict[str, float]:
    return next((dict(each.usd) for each in found.lists if each.of == kind), {})


def look_up(aws: PriceListStub) -> Found:
    return prices.look_up(aws.pricing, "us-west-2", as_of="2026-11-30")


class TestWhatIsTaken:
    def test_a_node_on_demand_with_source_and_date(self, aws: PriceListStub) -> None:
        aws.has_region("us-west-2", sagemaker=(P5,))
        (found,) = look_up(aws).lists
        assert (found.of, found.region, dict(found.usd)) == ("hyperpod", "us-west-2", {"ml.p5.48xlarge": 66.048})
        assert (found.source, found.as_of) == ("AWS Price List, AmazonSageMaker, published 2026-11-20", "2026-11-30")

    def test_reserved_nodes_and_other_parts_of_sagemaker_are_not_nodes_on_demand(self, aws: PriceListStub) -> None:
        reserved = product("USW2-ReservedCluster:ml.p5.48xlarge", "1.00")
        notebook = product("USW2-Notebk:ml.p5.48xlarge", "2.00")
        aws.has_region("us-west-2", sagemaker=(reserved, notebook))
        assert look_up(aws).lists == ()

    def test_us_east_1_has_usage_types_without_a_prefix_too(self, aws: PriceListStub) -> None:
        aws.has_region("us-west-2", sagemaker=(product("Cluster:ml.g5.8xlarge", "3.06"),))
        assert of(look_up(aws), "hyperpod") == {"ml.g5.8xlarge": 3.06}

    def test_volumes_of_nodes(self, aws: PriceListStub) -> None:
        aws.has_region("us-west-2", sagemaker=(product("USW2-Cluster:VolumeUsage.gp2", "0.12", unit="GB-Mo"),))
        assert of(look_up(aws), "hyperpod-volumes") == {"gp2": 0.12}

    def test_lustre_by_what_its_throughput_says(self, aws: PriceListStub) -> None:
        rows = (
            lustre("125", "0.145"),
            lustre("1000 MB/s/TiB", "0.60"),
            lustre("N/A", "0.14"),
            lustre("12", "0.025", "HDD"),
        )
        aws.has_region("us-west-2", lustre=rows)
        assert of(look_up(aws), "lustre") == {
            "PERSISTENT_2 SSD 125": 0.145,
            "PERSISTENT_2 SSD 1000": 0.6,
            "SCRATCH_1 SSD": 0.14,
            "SCRATCH_2 SSD": 0.14,
            "PERSISTENT_1 HDD 12": 0.025,
        }

    def test_an_eks_cluster_without_extended_support(self, aws: PriceListStub) -> None:
        rows = (
            product("USW2-AmazonEKS-Hours:perCluster", "0.10"),
            product("USW2-AmazonEKS-Hours:extendedSupport", "0.50"),
        )
        aws.has_region("us-west-2", eks=rows)
        assert of(look_up(aws), "eks") == {"cluster": 0.1}

    def test_metrics_at_the_first_tier_that_is_not_free(self, aws: PriceListStub) -> None:
        samples = product(
            "USW2-AMP:MetricSampleCount", ("0", "0"), ("40000000", "0.00000009"), ("2000000000", "0.00000003")
        )
        aws.has_region("us-west-2", metrics=(samples,))
        assert of(look_up(aws), "prometheus") == {"MetricSampleCount": 0.00000009}

    def test_every_page_is_read(self, aws: PriceListStub) -> None:
        attributes = {"regionCode": "us-west-2", "component": "Cluster"}
        aws.has("AmazonSageMaker", P5, token="more", **attributes)
        aws.has("AmazonSageMaker", product("USW2-Cluster:ml.g5.8xlarge", "3.06"), after="more", **attributes)
        aws.has("AmazonFSx", regionCode="us-west-2", fileSystemType="Lustre", productFamily="Storage")
        aws.has("AmazonEKS", regionCode="us-west-2")
        aws.has("AmazonPrometheus", regionCode="us-west-2")
        assert of(look_up(aws), "hyperpod") == {"ml.p5.48xlarge": 66.048, "ml.g5.8xlarge": 3.06}


class TestWhatIsLeftOut:
    def test_a_product_with_two_prices_is_not_guessed(self, aws: PriceListStub) -> None:
        aws.has_region("us-west-2", lustre=(lustre("500", "0.34"), lustre("500", "0.29"), lustre("125", "0.145")))
        found = look_up(aws)
        assert of(found, "lustre") == {"PERSISTENT_2 SSD 125": 0.145}
        assert found.unclear == ("lustre PERSISTENT_2 SSD 500",)

    @pytest.mark.parametrize("usd", ["NaN", "Infinity", "-5", "abc"])
    def test_a_price_that_is_no_amount_of_money(self, aws: PriceListStub, usd: str) -> None:
        aws.has_region("us-west-2", sagemaker=(product("USW2-Cluster:ml.p5.48xlarge", usd),))
        found = look_up(aws)
        assert (found.lists, found.unclear) == ((), ("hyperpod ml.p5.48xlarge",))

    @pytest.mark.parametrize("unit", ["Month", "Quantity", ""])
    def test_a_price_of_another_unit(self, aws: PriceListStub, unit: str) -> None:
        aws.has_region("us-west-2", sagemaker=(product("USW2-Cluster:ml.p5.48xlarge", "55", unit=unit),))
        found = look_up(aws)
        assert (found.lists, found.unclear) == ((), ("hyperpod ml.p5.48xlarge",))

    @pytest.mark.parametrize("other", ["0", "77"])
    def test_two_terms_that_price_the_same_amount(self, aws: PriceListStub, other: str) -> None:
        several = product("USW2-Cluster:ml.p5.48xlarge", "55")
        dimension = {"unit": "Hrs", "beginRange": "0", "pricePerUnit": {"USD": other}}
        several["terms"]["OnDemand"]["SKU.OTHER"] = {"priceDimensions": {"x": dimension}}
        aws.has_region("us-west-2", sagemaker=(several,))
        found = look_up(aws)
        assert (found.lists, found.unclear) == ((), ("hyperpod ml.p5.48xlarge",))

    def test_one_doubtful_row_takes_the_price_of_another_with_it(self, aws: PriceListStub) -> None:
        aws.has_region("us-west-2", sagemaker=(P5, product("USW2-Cluster:ml.p5.48xlarge", "abc")))
        assert of(look_up(aws), "hyperpod") == {}

    def test_rows_that_are_none_do_not_end_it(self, aws: PriceListStub) -> None:
        odd: tuple[Any, ...] = (
            {},
            [],
            "x",
            {"product": None},
            {"product": {"attributes": {}}, "terms": {"OnDemand": []}},
        )
        aws.has_region("us-west-2", sagemaker=(*odd, P5))
        assert of(look_up(aws), "hyperpod") == {"ml.p5.48xlarge": 66.048}

    def test_the_first_tier_counts_in_whatever_order_they_come(self, aws: PriceListStub) -> None:
        samples = product("USW2-AMP:MetricSampleCount", ("2000", "0.00000003"), ("0", "0.00000009"))
        aws.has_region("us-west-2", metrics=(samples,))
        assert of(look_up(aws), "prometheus") == {"MetricSampleCount": 0.00000009}

    def test_the_same_price_twice_is_one_price(self, aws: PriceListStub) -> None:
        aws.has_region("us-west-2", sagemaker=(P5, P5))
        assert of(look_up(aws), "hyperpod") == {"ml.p5.48xlarge": 66.048}

    def test_other_media_of_lustre(self, aws: PriceListStub) -> None:
        aws.has_region("us-west-2", lustre=(lustre("N/A", "0.005", "Intelligent-Tiering"), lustre("333", "0.2")))
        assert of(look_up(aws), "lustre") == {}

    def test_a_price_without_dollars_or_of_nothing(self, aws: PriceListStub) -> None:
        free, abroad = product("USW2-Cluster:ml.p5.48xlarge", "0.00"), product("USW2-Cluster:ml.p4d.24xlarge", "1.00")
        for each in abroad["terms"]["OnDemand"]["SKU.TERM"]["priceDimensions"].values():
            each["pricePerUnit"] = {"CNY": "7.00"}
        aws.has_region("us-west-2", sagemaker=(free, abroad, {"product": {"attributes": {}}}))
        assert look_up(aws).lists == ()

    def test_what_a_region_has_nothing_of_is_said(self, aws: PriceListStub) -> None:
        aws.has_region("us-west-2", sagemaker=(P5,))
        assert look_up(aws).missing == ("hyperpod-volumes", "lustre", "eks", "prometheus")


class TestErrors:
    @pytest.mark.parametrize(
        ("code", "error", "said"),
        [
            ("AccessDeniedException", NotAllowed, "no permission for pricing:GetProducts in us-east-1"),
            ("ThrottlingException", AccountUnavailable, "AWS throttles pricing:GetProducts in us-east-1"),
            ("ExpiredTokenException", AccountError, "the AWS credentials have expired"),
            ("UnrecognizedClientException", AccountError, "AWS does not accept these credentials"),
        ],
    )
    def test_a_refusal_is_one_line(self, code: str, error: type[AccountError], said: str) -> None:
        with PriceListStub() as aws:
            aws.fails(code)
            with pytest.raises(error, match=said):
                look_up(aws)
