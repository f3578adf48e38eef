"""Reads of AWS's Price List, which is the same for every account and answers in us-east-1 only.

Source of names and fields: the botocore 1.44.8 model of Pricing (2017-10-15). What is in the JSON of a product is in no
model: Billing user guide, "Understanding the AWS Price List Query API".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_constructs.account.gateway.session import Reader

HOME: Final = "us-east-1"
"""The Region of the endpoint."""
_PER_PAGE: Final = 100
"""The most that GetProducts allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedProduct:
    """A product with its on-demand price.

    Attributes:
        usage_type: For example `USW2-Cluster:ml.p5.48xlarge`.
        attributes: What else is said of it, by name.
        usd: US dollars for one unit by the number of units from which on it applies; empty where nothing is on demand.
        unit: For example `Hrs`; empty where nothing is on demand.
        published: Day of the price list.
    """

    usage_type: str
    attributes: Mapping[str, str]
    usd: Mapping[float, float]
    unit: str
    published: str


class Pricing(Reader):
    """Reads AWS's Price List."""

    SERVICE = "pricing"
    READS = {"GetProducts": "pricing:GetProducts"}  # noqa: RUF012  # the base class has the type

    def products(self, service: str, **attributes: str) -> tuple[PricedProduct, ...]:
        """Products of a service with exactly these attributes.

        Args:
            service: For example `AmazonSageMaker`.
            attributes: For example `regionCode="us-west-2"`.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in attributes.items()]
        listed = self._pages("GetProducts", "PriceList", page_size=_PER_PAGE, ServiceCode=service, Filters=filters)
        return tuple(_product(json.loads(text)) for text in listed)


def _product(found: Mapping[str, Any]) -> PricedProduct:
    attributes = found["product"]["attributes"]
    dimensions = list(_dimensions(found.get("terms", {})))
    return PricedProduct(
        usage_type=attributes.get("usagetype", ""),
        attributes=attributes,
        usd={float(each.get("beginRange", 0)): float(each["pricePerUnit"]["USD"]) for each in dimensions},
        unit=dimensions[0].get("unit", "") if dimensions else "",
        published=found.get("publicationDate", "")[:10],
    )


def _dimensions(terms: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Prices in dollars that need no commitment."""
    for term in terms.get("OnDemand", {}).values():
        yield from (each for each in term["priceDimensions"].values() if "USD" in each["pricePerUnit"])
