"""What AWS's Price List says of the things that a cluster is made of.

Source of service codes, usage types and attributes: public code that reads them, and lines of bills (October 2026; for
Lustre epam/cloud-pipeline, LustreFSPriceLoader, 2025). None of it is documented, so what does not look as expected is
left out and said, and never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.account.gateway.pricing import PricedProduct, Pricing
from hyperpod_constructs.catalog import price_lists
from hyperpod_constructs.catalog.price_lists import EKS, HYPERPOD, LUSTRE, PROMETHEUS, VOLUMES, PriceList

_INSTANCE: Final = re.compile(r"(?:[A-Z0-9]+-)?Cluster:(ml\.[a-z0-9.-]+)")
"""On demand; capacity on training plans is `ReservedCluster:`."""
_VOLUME: Final = re.compile(r"(?:[A-Z0-9]+-)?Cluster:VolumeUsage\.(\w+)")
_CONTROL_PLANE: Final = re.compile(r"(?:[A-Z0-9]+-)?AmazonEKS-Hours:(perCluster)")
_METRICS: Final = re.compile(r"(?:[A-Z0-9]+-)?AMP:(\w+)")
_NUMBER: Final = re.compile(r"(\d+)\b")
_LUSTRE: Final = {
    ("SSD", 50): "PERSISTENT_1",
    ("SSD", 100): "PERSISTENT_1",
    ("SSD", 125): "PERSISTENT_2",
    ("SSD", 200): "PERSISTENT_1",
    ("SSD", 250): "PERSISTENT_2",
    ("SSD", 500): "PERSISTENT_2",
    ("SSD", 1000): "PERSISTENT_2",
    ("HDD", 12): "PERSISTENT_1",
    ("HDD", 40): "PERSISTENT_1",
}
"""Deployment type by storage type and MB/s/TiB, which says it. Source: FSx API, CreateFileSystemLustreConfiguration."""
_HOURS: Final = frozenset({"hour", "hours", "hr", "hrs"})
_MONTHS: Final = frozenset({"gb-mo", "gb-month", "gb-months"})
_UNITS: Final = {HYPERPOD: _HOURS, VOLUMES: _MONTHS, LUSTRE: _MONTHS, EKS: _HOURS}
"""Units of the prices in lower case, as bills spell them: the price of another unit is another number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the Price List has of one Region.

    Attributes:
        lists: The prices, one list for each kind that was found.
        missing: Kinds of which nothing was found.
        unclear: Products that have several prices, another unit than is known of their kind, or a price that is no
            amount of money, so that none was taken.
    """

    lists: tuple[PriceList, ...]
    missing: tuple[str, ...]
    unclear: tuple[str, ...]


def look_up(pricing: Pricing, region: str, *, as_of: str) -> Found:
    """Reads the prices of a Region.

    Args:
        pricing: AWS's Price List.
        region: For example `us-west-2`.
        as_of: Today.

    Raises:
        AccountError: if AWS refuses or fails a read.
    """
    sagemaker = pricing.products("AmazonSageMaker", regionCode=region, component="Cluster")
    lustre = pricing.products("AmazonFSx", regionCode=region, fileSystemType="Lustre", productFamily="Storage")
    kinds = {
        HYPERPOD: _named(sagemaker, _INSTANCE),
        VOLUMES: _named(sagemaker, _VOLUME),
        LUSTRE: _of_lustre(lustre),
        EKS: (
            ("cluster", each) for _, each in _named(pricing.products("AmazonEKS", regionCode=region), _CONTROL_PLANE)
        ),
        PROMETHEUS: _named(pricing.products("AmazonPrometheus", regionCode=region), _METRICS),
    }
    services = {EKS: "AmazonEKS", LUSTRE: "AmazonFSx", PROMETHEUS: "AmazonPrometheus"}
    lists, missing, unclear = [], [], []
    for of, named in kinds.items():
        usd, doubtful, published = _prices(named, _UNITS.get(of))
        unclear += [f"{of} {name}" for name in doubtful]
        if not usd:
            missing.append(of)
            continue
        service = services.get(of, "AmazonSageMaker")
        source = f"AWS Price List, {service}" + (f", published {published}" if published else "")
        lists.append(PriceList(of=of, region=region, source=source, as_of=as_of, usd=usd))
    return Found(lists=tuple(lists), missing=tuple(missing), unclear=tuple(unclear))


def _named(products: Iterable[PricedProduct], usage_type: re.Pattern[str]) -> Iterator[tuple[str, PricedProduct]]:
    for product in products:
        match = usage_type.fullmatch(product.usage_type)
        if match:
            yield match[1], product


def _of_lustre(products: Iterable[PricedProduct]) -> Iterator[tuple[str, PricedProduct]]:
    """Lustre's storage by deployment type, storage type and throughput; other media are left out."""
    for product in products:
        storage, throughput = (
            product.attributes.get("storageType", ""),
            product.attributes.get("throughputCapacity", ""),
        )
        number = _NUMBER.match(throughput)
        if number and (deployment := _LUSTRE.get((storage, int(number[1])))):
            yield price_lists.lustre_key(deployment, storage, int(number[1])), product
        elif storage == "SSD" and throughput in {"", "N/A"}:
            yield from ((price_lists.lustre_key(each, storage, None), product) for each in ("SCRATCH_1", "SCRATCH_2"))


def _prices(
    named: Iterable[tuple[str, PricedProduct]], units: frozenset[str] | None
) -> tuple[dict[str, float], list[str], str]:
    """Price by name; names without one certain price; the last day of publication."""
    found: dict[str, set[float]] = {}
    doubtful: set[str] = set()
    published = ""
    for name, product in named:
        charged = [usd for _, usd in sorted(product.usd.items()) if usd]  # the first tier may be free
        if product.doubtful or (charged and units and product.unit.lower() not in units):
            doubtful.add(name)
        elif charged:
            found.setdefault(name, set()).add(charged[0])
            published = max(published, product.published)
    doubtful |= {name for name, prices in found.items() if len(prices) > 1}
    usd = {name: min(prices) for name, prices in found.items() if name not in doubtful}
    return usd, sorted(doubtful), published
