"""Reads of AWS's Price List, which is the same for every account and answers in us-east-1 only.

Source of names and fields: the botocore 1.44.8 model of Pricing (2017-10-15). What is in the JSON of a product is in no
model: Billing user guide, "Understanding the AWS Price List Query API".
"""

from __future__ import annotations

import json
import math
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
        doubtful: Whether there is more than one price or unit for the same amount, or a price that is no amount of
            money.
        published: Day of the price list.
    """

    usage_type: str
    attributes: Mapping[str, str]
    usd: Mapping[float, float]
    unit: str
    doubtful: bool
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
        return tuple(_product(_row(text)) for text in listed)


def _row(text: str) -> Mapping[str, Any]:
    """A row of the list; an empty one where it is none."""
    try:
        return _object(json.loads(text))
    except ValueError:
        return {}


def _object(value: object) -> Mapping[str, Any]:
    """An object of JSON; an empty one where the value is none."""
    return value if isinstance(value, dict) else {}


def _product(found: Mapping[str, Any]) -> PricedProduct:
    attributes = _object(_object(found.get("product")).get("attributes"))
    tiers: dict[float | None, set[float | None]] = {}
    units = set()
    for each in _dimensions(_object(found.get("terms"))):
        tiers.setdefault(_amount(each.get("beginRange", 0)), set()).add(_amount(each["pricePerUnit"]["USD"]))
        units.add(str(each.get("unit", "")))
    certain = {
        begin: usd
        for begin, prices in tiers.items()
        for usd in prices
        if begin is not None and usd is not None and len(prices) == 1
    }
    return PricedProduct(
        usage_type=str(attributes.get("usagetype", "")),
        attributes={name: str(value) for name, value in attributes.items()},
        usd=certain,
        unit=min(units, default=""),
        doubtful=len(certain) < len(tiers) or len(units) > 1,
        published=str(found.get("publicationDate", ""))[:10],
    )


def _dimensions(terms: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Prices in dollars that need no commitment."""
    for term in _object(terms.get("OnDemand")).values():
        for each in _object(_object(term).get("priceDimensions")).values():
            if "USD" in _object(_object(each).get("pricePerUnit")):
                yield each


def _amount(text: object) -> float | None:
    """A number from 0 on; `None` where a text is none."""
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
