from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.catalog import price_lists, prices
from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.errors import UnreadablePrices

ENTRY: dict[str, Any] = {
    "of": "hyperpod",
    "region": "us-west-2",
    "source": "agreement of 2026",
    "as_of": "2026-11-01",
    "usd": {"ml.p5.48xlarge": 49.5},
}


def listed(**fields: Any) -> PriceList:
    return PriceList(**{**ENTRY, **fields})


def parsed(*entries: object) -> tuple[PriceList, ...]:
    return price_lists.parse(json.dumps({"prices": list(entries)}), "mine.json")


class TestParse:
    def test_a_file_is_read_as_it_is_written(self) -> None:
        lists = (listed(), listed(of="lustre", usd={"PERSISTENT_2 SSD 500": 0.31}))
        assert price_lists.parse(price_lists.as_text(lists), "mine.json") == lists

    def test_writing_is_independent_of_order(self) -> None:
        lists = [listed(usd={"b": 1.0, "a": 2.0}), listed(of="eks", usd={"cluster": 0.1})]
        assert price_lists.as_text(lists) == price_lists.as_text([*reversed(lists)])

    @pytest.mark.parametrize(
        ("entry", "said"),
        [
            ([], "must be an object"),
            ({**ENTRY, "of": "p5"}, "'of' is 'p5'; use one of hyperpod, hyperpod-volumes, lustre, eks, prometheus"),
            ({**ENTRY, "region": "Oregon"}, "'region' is 'Oregon'; use a Region such as us-west-2"),
            ({**ENTRY, "source": " "}, "must have 'source', a text that is not empty"),
            ({**ENTRY, "as_of": 2026}, "must have 'as_of', a text that is not empty"),
            ({**ENTRY, "as_of": "yesterday"}, "'as_of' is 'yesterday'; use a day such as 2026-11-01, or a month"),
            ({**ENTRY, "as_of": "2026-13"}, "'as_of' is '2026-13'; use a day such as 2026-11-01, or a month"),
            ({**ENTRY, "as_of": "20261101"}, "'as_of' is '20261101'; use a day such as 2026-11-01, or a month"),
            (ENTRY, "prices[0] has a price of 'ml.p5.48xlarge' in us-west-2 too; leave one"),
            ({**ENTRY, "usd": {}}, "must have 'usd', an object of prices by what is priced"),
            ({**ENTRY, "usd": {"a": "49.50"}}, "the price of 'a' is '49.50'; use US dollars, such as 49.50"),
            ({**ENTRY, "usd": {"a": -1}}, "the price of 'a' is -1; use US dollars, such as 49.50"),
            ({**ENTRY, "usd": {"a": True}}, "the price of 'a' is True; use US dollars, such as 49.50"),
        ],
    )
    def test_a_wrong_entry_is_named_with_what_to_write(self, entry: object, said: str) -> None:
        with pytest.raises(UnreadablePrices) as error:
            parsed(ENTRY, entry)
        assert str(error.value) == f"mine.json: prices[1]: {said}"

    def test_a_month_is_enough_and_two_lists_of_a_kind_may_price_different_things(self) -> None:
        assert len(parsed(ENTRY, {**ENTRY, "as_of": "2026-11", "usd": {"ml.p4d.24xlarge": 20.0}})) == 2

    def test_a_key_that_stands_twice_in_an_object_is_refused(self) -> None:
        text = json.dumps({"prices": [ENTRY]}).replace('"ml.p5.48xlarge": 49.5', '"a": 1, "a": 2')
        with pytest.raises(UnreadablePrices, match="an object has 'a' twice"):
            price_lists.parse(text, "mine.json")

    def test_not_a_number_is_no_price(self) -> None:
        text = json.dumps({"prices": [{**ENTRY, "usd": {"a": float("nan")}}]})
        with pytest.raises(UnreadablePrices, match="the price of 'a' is nan"):
            price_lists.parse(text, "mine.json")

    @pytest.mark.parametrize(
        ("text", "said"), [("{", "is not JSON"), ("[]", "must be an object with a list 'prices'"), ("{}", "must be")]
    )
    def test_another_file_is_refused_in_one_line(self, text: str, said: str) -> None:
        with pytest.raises(UnreadablePrices, match=said) as error:
            price_lists.parse(text, "mine.json")
        assert "\n" not in str(error.value)


class TestOrder:
    def test_the_first_list_that_has_a_price_wins(self) -> None:
        lists = [listed(usd={"ml.p5.48xlarge": 40.0}), listed(usd={"ml.p5.48xlarge": 66.0, "ml.p5en.48xlarge": 75.0})]
        assert price_lists.find(lists, "hyperpod", "us-west-2", "ml.p5.48xlarge") == (40.0, lists[0])
        assert price_lists.find(lists, "hyperpod", "us-west-2", "ml.p5en.48xlarge") == (75.0, lists[1])
        assert price_lists.find(lists, "hyperpod", "us-east-1", "ml.p5.48xlarge") is None

    def test_a_new_list_replaces_that_of_its_kind_and_region_only(self) -> None:
        old, other, new = listed(as_of="2026-10-01"), listed(region="us-east-1"), listed(as_of="2026-11-30")
        assert price_lists.replaced([old, other], [new]) == (new, other)


class TestTheCatalogueReadsThemFirst:
    def test_an_instance_costs_what_the_list_says_and_is_no_estimate(self) -> None:
        found = prices.hourly("ml.p5.48xlarge", "us-west-2", [listed()])
        assert found == prices.Price(usd_per_hour=49.5, source="agreement of 2026", as_of="2026-11-01", estimate=False)

    def test_what_the_list_lacks_is_still_estimated(self) -> None:
        assert prices.hourly("ml.p4d.24xlarge", "us-west-2", [listed()]) == prices.hourly(
            "ml.p4d.24xlarge", "us-west-2"
        )

    def test_a_list_prices_even_a_type_and_a_region_that_the_package_cannot(self) -> None:
        found = prices.hourly(
            "ml.trn2.48xlarge", "cn-north-1", [listed(region="cn-north-1", usd={"ml.trn2.48xlarge": 9})]
        )
        assert (found and found.usd_per_hour) == 9

    def test_lustre_eks_and_volumes_are_read_from_them_too(self) -> None:
        lists = [
            listed(of="lustre", usd={"PERSISTENT_2 SSD 500": 0.31, "SCRATCH_2 SSD": 0.11, "PERSISTENT_1 SSD 50": 0.13}),
            listed(of="eks", usd={"cluster": 0.09}),
            listed(of="hyperpod-volumes", usd={"gp2": 0.12}),
        ]
        found = [
            prices.lustre_gib_month("PERSISTENT_2", 500, "us-west-2", lists),
            prices.lustre_gib_month("SCRATCH_2", None, "us-west-2", lists),
            prices.lustre_gib_month("PERSISTENT_1", 50, "us-west-2", lists),
            prices.eks_cluster_hour("us-west-2", lists),
            prices.volume_gib_month("us-west-2", lists),
        ]
        assert [(each and (each.usd, each.unit, each.estimate)) for each in found] == [
            (0.31, "GiB-month", False),
            (0.11, "GiB-month", False),
            (0.13, "GiB-month", False),
            (0.09, "hour", False),
            (0.12, "GiB-month", False),
        ]
        assert prices.volume_gib_month("us-west-2") is None
