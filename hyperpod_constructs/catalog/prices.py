"""What an hour or a month costs at list price, so that totals can be shown before an account is asked.

HyperPod bills `ml.*` hours on SageMaker's own list, of which only a few rows are public; the rest is estimated from
EC2's on-demand price and says so. Discounts are private, so a user's own prices always win over these: whoever asks
hands them over as `lists`, the best first. US dollars, Linux, no tax. Source: `prices.json`, where every list names its
source and date.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from hyperpod_constructs.catalog import instances, price_lists, regions
from hyperpod_constructs.catalog.price_lists import PriceList

HOURS_PER_MONTH: Final = 730
"""AWS's own convention for monthly figures: 365 x 24 / 12."""

RATIO_UNSEEN: Final = 1.20
"""HyperPod hour over EC2 hour for families of which no HyperPod price is public."""
RATIOS: Final = {"g5": 1.25, "g6e": 1.25, "p4d": 1.18, "p5": 1.20, "p5en": 1.20}
"""The same by family, from one size of each in us-east-1: HyperPod of October 2026 over EC2 of July 2026."""

UNDATED: Final = "undated"
"""`as_of` of a price of which nobody knows when it was seen."""

_HOME = "us-east-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Price of one node for one hour.

    Attributes:
        usd_per_hour: US dollars.
        source: Where the number comes from, and for an estimate what was assumed.
        as_of: When it was seen: a day, a month or a span.
        estimate: Whether it is anything but HyperPod's own list price for this type and Region.
    """

    usd_per_hour: float
    source: str
    as_of: str
    estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """Price of something other than a node.

    Attributes:
        usd: US dollars for one `unit`.
        unit: `hour` or `GiB-month`.
        source: Where the number comes from.
        as_of: When it was seen; `UNDATED` where nobody knows.
        estimate: Whether it is anything but AWS's own list price for the Region.
    """

    usd: float
    unit: str
    source: str
    as_of: str
    estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSample:
    """A training plan that was once on offer. Offers change daily: a sample shows the order of magnitude.

    Attributes:
        instance_type: Type of the plan's nodes.
        count: Nodes of the plan.
        hours: Length of the plan.
        upfront_usd: Price of the whole plan in US dollars.
        zone: Zone name where it was offered; `None` where the source does not say.
        as_of: Day of the offer, or first day of the plan where only that is known.
        source: Where it was seen.
    """

    instance_type: str
    count: int
    hours: int
    upfront_usd: float
    zone: str | None
    as_of: str
    source: str

    @property
    def usd_per_hour(self) -> float:
        """Upfront price for each node and hour."""
        return self.upfront_usd / (self.count * self.hours)


_SEARCH_SCRIPT = "sample output in awslabs/awsome-distributed-ai, 2.ami_and_containers/tools/sagemaker_ftp/README.md"
_OFFERS_SEEN = "offers seen in one account, public report of 2026-10-04"
PLAN_SAMPLES: Final = (
    PlanSample(
        instance_type="ml.p5.48xlarge",
        count=2,
        hours=24,
        upfront_usd=1830.76,
        zone="us-west-2b",
        as_of="2026-06-15",
        source=_SEARCH_SCRIPT,
    ),
    PlanSample(
        instance_type="ml.p5.48xlarge",
        count=2,
        hours=48,
        upfront_usd=3741.12,
        zone="us-west-2b",
        as_of="2026-06-15",
        source=_SEARCH_SCRIPT,
    ),
    PlanSample(
        instance_type="ml.p5.48xlarge",
        count=1,
        hours=24,
        upfront_usd=1098.42,
        zone=None,
        as_of="2026-10-04",
        source=_OFFERS_SEEN,
    ),
    PlanSample(
        instance_type="ml.p5en.48xlarge",
        count=1,
        hours=24,
        upfront_usd=1452.63,
        zone=None,
        as_of="2026-10-04",
        source=_OFFERS_SEEN,
    ),
    PlanSample(
        instance_type="ml.p4d.24xlarge",
        count=1,
        hours=24,
        upfront_usd=312.11,
        zone=None,
        as_of="2026-10-04",
        source=_OFFERS_SEEN,
    ),
)


def hourly(instance_type: str, region: str, lists: Sequence[PriceList] = ()) -> Price | None:
    """What one node costs for one hour on demand.

    In this order: what is handed over; HyperPod's own price; EC2's price in the Region times the ratio of the family;
    for CPU types the same with EC2's us-east-1 price, so that a controller does not make a total unknown.

    Args:
        instance_type: For example `ml.p5.48xlarge`.
        region: For example `us-west-2`.
        lists: Prices that come before those of this package, the best first.

    Returns:
        `None` where none of these is known.
    """
    if found := price_lists.find(lists, price_lists.HYPERPOD, region, instance_type):
        usd, its = found
        return Price(usd_per_hour=usd, source=its.source, as_of=its.as_of, estimate=False)
    name = instance_type.removeprefix("ml.")
    listed = _row("hyperpod", name, region)
    if listed is not None:
        usd, source, as_of = listed
        return Price(usd_per_hour=usd, source=source, as_of=as_of, estimate=False)
    here = _row("ec2", name, region)
    if here is not None:
        return _estimated(name, *here)
    facts = instances.find(f"ml.{name}")
    is_cpu = facts is not None and facts.is_accelerated is False
    home = _row("ec2", name, _HOME) if is_cpu and regions.partition(region) == "aws" else None
    return home and _estimated(name, *home, where=f"{_HOME} price, other Regions differ: ")


def _estimated(name: str, usd: float, source: str, as_of: str, *, where: str = "") -> Price:
    family = name.partition(".")[0]
    ratio = RATIOS.get(family, RATIO_UNSEEN)
    seen = f"the ratio of {family}" if family in RATIOS else f"no ratio is known for {family}"
    return Price(
        usd_per_hour=round(usd * ratio, 4),
        source=f"estimate: {where}EC2 on-demand {usd:g} USD x {ratio:.2f} ({seen}); EC2 price from {source}",
        as_of=as_of,
        estimate=True,
    )


_LUSTRE_USD: Final = {
    ("PERSISTENT_2", 125): 0.145,
    ("PERSISTENT_2", 250): 0.21,
    ("PERSISTENT_2", 500): 0.34,
    ("PERSISTENT_2", 1000): 0.60,
    ("SCRATCH_1", None): 0.14,
    ("SCRATCH_2", None): 0.14,
}
"""US dollars for a GiB-month of SSD in us-east-1.

None of these is confirmed: AWS's page could not be read. They are what a public price calculator of unknown date had.
Three more public sources have 0.145 at 125 MB/s/TiB; one FAQ (sunilpp/hyperpod-quickstart, April 2026, us-west-2,
"approximate") has it at 250.
"""
_LUSTRE_SOURCE = (
    "unconfirmed us-east-1 price from a public calculator; AWS's FSx for Lustre pricing page is the authority, and "
    "other Regions differ"
)
_LUSTRE_DOUBTS: Final[dict[tuple[str, int | None], str]] = {
    ("PERSISTENT_2", 250): "; one public FAQ (sunilpp/hyperpod-quickstart) has 0.145 USD at 250 MB/s/TiB, which four "
    "other sources have at 125",
}
_QUICKSTART = "sunilpp/hyperpod-quickstart, COST-ESTIMATE for us-west-2, approximate; other Regions differ"


def lustre_gib_month(
    deployment_type: str,
    throughput_mbps_per_tib: int | None,
    region: str,
    lists: Sequence[PriceList] = (),
) -> Meter | None:
    """What one GiB of FSx for Lustre on SSD costs for a month. An estimate, unless `lists` have it.

    Args:
        deployment_type: For example `PERSISTENT_2`.
        throughput_mbps_per_tib: Per-unit storage throughput in MB/s/TiB; `None` for scratch types.
        region: For example `us-west-2`.
        lists: Prices that come before those of this package, the best first.

    Returns:
        `None` where no price is known: without `lists`, PERSISTENT_1 and Regions outside the partition aws.
    """
    key = price_lists.lustre_key(deployment_type, "SSD", throughput_mbps_per_tib)
    if found := _meter(lists, price_lists.LUSTRE, region, key, "GiB-month"):
        return found
    usd = _LUSTRE_USD.get((deployment_type, throughput_mbps_per_tib))
    if usd is None or regions.partition(region) != "aws":
        return None
    source = _LUSTRE_SOURCE + _LUSTRE_DOUBTS.get((deployment_type, throughput_mbps_per_tib), "")
    return Meter(usd=usd, unit="GiB-month", source=source, as_of=UNDATED, estimate=True)


def volume_gib_month(region: str, lists: Sequence[PriceList] = ()) -> Meter | None:
    """What one GiB of a node's EBS volumes costs for a month; `None` unless `lists` have it.

    HyperPod bills its volumes by a usage type of its own, `Cluster:VolumeUsage.gp2`, of which no price is public.
    """
    return _meter(lists, price_lists.VOLUMES, region, "gp2", "GiB-month")


def eks_cluster_hour(region: str, lists: Sequence[PriceList] = ()) -> Meter | None:
    """What an EKS control plane costs for an hour; `None` outside the partition aws, unless `lists` have it."""
    if found := _meter(lists, price_lists.EKS, region, "cluster", "hour"):
        return found
    if regions.partition(region) != "aws":
        return None
    return Meter(usd=0.10, unit="hour", source=_QUICKSTART, as_of="2026-04", estimate=True)


def _meter(lists: Sequence[PriceList], of: str, region: str, name: str, unit: str) -> Meter | None:
    found = price_lists.find(lists, of, region, name)
    if found is None:
        return None
    usd, its = found
    return Meter(usd=usd, unit=unit, source=its.source, as_of=its.as_of, estimate=False)


def _row(of: str, name: str, region: str) -> tuple[float, str, str] | None:
    """Price, source and date of the first list that has a type in a Region."""
    for price_list in _lists():
        usd = price_list["usd_per_hour"].get(region, {}).get(name) if price_list["of"] == of else None
        if usd is not None:
            return usd, price_list["source"], price_list["as_of"]
    return None


@cache
def _lists() -> list[dict[str, Any]]:
    lists: list[dict[str, Any]] = json.loads(Path(__file__).with_name("prices.json").read_text(encoding="utf-8"))
    return lists
