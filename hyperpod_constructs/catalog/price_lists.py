"""Prices from outside of this package: what AWS's Price List said, or what a user pays. They come before its own.

Such a list is a JSON file, which `hyperpod prices refresh` writes and a person can write by hand:

    {"prices": [
      {"of": "hyperpod", "region": "us-west-2", "source": "agreement of 2026", "as_of": "2026-11-01",
       "usd": {"ml.p5.48xlarge": 49.50}}
    ]}

`of` is one of `UNITS`, which says what the numbers are for and what `usd` is keyed by. Nothing here looks for a file:
commands do, so that what a blueprint synthesizes never depends on the machine.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.errors import UnreadablePrices

HYPERPOD, VOLUMES, LUSTRE, EKS, PROMETHEUS = "hyperpod", "hyperpod-volumes", "lustre", "eks", "prometheus"
UNITS: Final = {
    HYPERPOD: "hour of an instance, by type: ml.p5.48xlarge",
    VOLUMES: "GiB-month, by type of volume: gp2",
    LUSTRE: "GiB-month, by deployment type, storage type and MB/s/TiB: PERSISTENT_2 SSD 500",
    EKS: "hour of a control plane: cluster",
    PROMETHEUS: "unit of the usage type: MetricSampleCount",
}
"""What is priced, with the unit of its prices and what they are keyed by."""

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?")
_TEXTS: Final = ("of", "region", "source", "as_of")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """Prices of one kind in one Region.

    Attributes:
        of: One of `UNITS`.
        region: For example `us-west-2`.
        source: Where they come from.
        as_of: When they were seen: a day, or a month.
        usd: US dollars by what is priced.
    """

    of: str
    region: str
    source: str
    as_of: str
    usd: Mapping[str, float]


def lustre_key(deployment_type: str, storage_type: str, throughput_mbps_per_tib: int | None) -> str:
    """What Lustre is keyed by; without throughput for scratch types."""
    words = [deployment_type, storage_type, *([] if throughput_mbps_per_tib is None else [throughput_mbps_per_tib])]
    return " ".join(map(str, words))


def find(lists: Iterable[PriceList], of: str, region: str, name: str) -> tuple[float, PriceList] | None:
    """The price in the first list that has it."""
    for each in lists:
        if (each.of, each.region) == (of, region) and name in each.usd:
            return each.usd[name], each
    return None


def parse(text: str, file: str) -> tuple[PriceList, ...]:
    """The lists of a file.

    Args:
        text: Its content.
        file: Its name, for errors.

    Raises:
        UnreadablePrices: if it is not such a file; the message says where it is wrong.
    """
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except ValueError as error:
        raise UnreadablePrices(f"{file}: is not JSON: {error}") from None
    entries = data.get("prices") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise UnreadablePrices(f"{file}: must be an object with a list 'prices'; `hyperpod prices refresh` writes one")
    lists = tuple(_list(entry, f"{file}: prices[{index}]") for index, entry in enumerate(entries))
    first: dict[tuple[str, str, str], int] = {}
    for index, each in enumerate(lists):
        for name in each.usd:
            before = first.setdefault((each.of, each.region, name), index)
            if before != index:
                raise UnreadablePrices(
                    f"{file}: prices[{index}]: prices[{before}] has a price of {name!r} in {each.region} too; leave one"
                )
    return lists


def day(as_of: str) -> date:
    """The day of an `as_of`, or the first one of its month.

    Raises:
        ValueError: if it is neither a day nor a month.
    """
    if not _DAY.fullmatch(as_of):
        raise ValueError(as_of)
    return date.fromisoformat(as_of if as_of.count("-") > 1 else f"{as_of}-01")


def as_text(lists: Iterable[PriceList]) -> str:
    """The content of a file with these lists, one line for each, sorted."""
    ordered = sorted(lists, key=lambda each: (each.of, each.region))
    lines = (json.dumps({**asdict(each), "usd": dict(sorted(each.usd.items()))}) for each in ordered)
    return '{"prices": [\n' + ",\n".join(lines) + "\n]}\n"


def replaced(old: Iterable[PriceList], new: Iterable[PriceList]) -> tuple[PriceList, ...]:
    """The old lists with the new ones in place of those of the same kind and Region."""
    by_place = {(each.of, each.region): each for each in (*old, *new)}
    return tuple(by_place.values())


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, whose last of two equal keys would win unseen."""
    for index, (key, _) in enumerate(pairs):
        if key in dict(pairs[:index]):
            raise ValueError(f"an object has {key!r} twice")
    return dict(pairs)


def _list(entry: object, where: str) -> PriceList:
    if not isinstance(entry, dict):
        raise UnreadablePrices(f"{where}: must be an object")
    for key in _TEXTS:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise UnreadablePrices(f"{where}: must have {key!r}, a text that is not empty")
    if entry["of"] not in UNITS:
        raise UnreadablePrices(f"{where}: 'of' is {entry['of']!r}; use one of {', '.join(UNITS)}")
    if regions.partition(entry["region"]) is None:
        raise UnreadablePrices(f"{where}: 'region' is {entry['region']!r}; use a Region such as us-west-2")
    try:
        day(entry["as_of"])
    except ValueError:
        raise UnreadablePrices(
            f"{where}: 'as_of' is {entry['as_of']!r}; use a day such as 2026-11-01, or a month"
        ) from None
    return PriceList(**{key: entry[key] for key in _TEXTS}, usd=_usd(entry.get("usd"), where))


def _usd(found: Any, where: str) -> dict[str, float]:  # noqa: ANN401  # whatever JSON holds
    if not isinstance(found, dict) or not found:
        raise UnreadablePrices(f"{where}: must have 'usd', an object of prices by what is priced")
    for name, value in found.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            raise UnreadablePrices(f"{where}: the price of {name!r} is {value!r}; use US dollars, such as 49.50")
    return {name: float(value) for name, value in found.items()}
