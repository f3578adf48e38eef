"""What a deployment costs by the hour, and what of it nobody can say before the bill.

An item whose price is not known is listed as not priced; it is never counted as free. Capacity on a training plan is
prepaid: its hours are shown apart and add nothing to the hourly figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from hyperpod_constructs.catalog import prices
from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.catalog.prices import Meter, PlanSample, Price
from hyperpod_constructs.model.capacity import InstanceGroup, Spot, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.model.storage import FileSystem, Lustre
from hyperpod_constructs.tokens import UNKNOWN, known

LEFT_OUT: Final = (
    "NAT gateways, endpoints, data transfer, S3, backups, logs, metrics, alarms, OpenZFS file systems, metadata IOPS "
    "of Lustre, file systems of restricted groups, databases, and EKS clusters without HyperPod"
)
"""What every total leaves out: what a template does not say the use of, and what the model does not hold."""

NO_REGION: Final = "the Region is not known"
"""Why an item is not priced in a template that can go to any Region."""

VOLUMES: Final = "EBS volumes"
"""Item of all volumes of a group, of which this package has no price."""
_STEP_USD = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Metered:
    """An item that is paid for every hour it exists.

    Attributes:
        path: Path of the item.
        item: What it is, for example `ml.p5.48xlarge`.
        quantity: How many; spares included.
        unit: What is counted: `instance`, `GiB` or `cluster`.
        usd_each: Price of one for one hour, in USD.
        source: Where the price comes from.
        as_of: When it was seen.
        estimate: Whether the price is anything but AWS's own list price for item and Region.
    """

    path: str
    item: str
    quantity: int
    unit: str
    usd_each: float
    source: str
    as_of: str
    estimate: bool

    @property
    def usd_per_hour(self) -> float:
        """Price of all of them for one hour, in USD."""
        return self.quantity * self.usd_each


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepaid:
    """Instances on a training plan: paid when the plan was bought, nothing more by the hour.

    Attributes:
        path: Path of the group.
        item: Instance type.
        quantity: Instances; `None` where their number is known only at deploy.
        plan: Name of the plan.
        sample: The last public offer for the type, for the order of magnitude only.
    """

    path: str
    item: str
    quantity: int | None
    plan: str
    sample: PlanSample | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPriced:
    """An item that costs money of which we cannot say how much.

    Attributes:
        path: Path of the item.
        item: What it is.
        why: Why there is no figure.
    """

    path: str
    item: str
    why: str


Item: TypeAlias = Metered | Prepaid | NotPriced


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a deployment costs.

    Attributes:
        metered: Items paid by the hour.
        prepaid: Instances on training plans.
        not_priced: Items without a known price; the total is without them.
    """

    metered: tuple[Metered, ...]
    prepaid: tuple[Prepaid, ...]
    not_priced: tuple[NotPriced, ...]

    @property
    def usd_per_hour(self) -> float:
        """Sum of the metered items, in USD."""
        return math.fsum(item.usd_per_hour for item in self.metered)

    @property
    def estimate(self) -> bool:
        """Whether any part of the sum is an estimate."""
        return any(item.estimate for item in self.metered)


def hourly(deployment: Deployment, lists: Sequence[PriceList] = ()) -> Cost:
    """Every item of a deployment that costs money by the hour, in the order of the deployment.

    Args:
        deployment: What is deployed.
        lists: Prices that come before those of this package, the best first. Constructs and blueprints give none: what
            they synthesize must not depend on the machine.
    """
    items = [
        *(item for cluster, group, path in deployment.groups() for item in _of_group(cluster, group, path, lists)),
        *(item for cluster in deployment.clusters for item in _of_orchestrator(deployment, cluster, lists)),
        *(_of_file_system(deployment, file_system, lists) for file_system in deployment.file_systems),
    ]
    return Cost(
        metered=tuple(item for item in items if isinstance(item, Metered)),
        prepaid=tuple(item for item in items if isinstance(item, Prepaid)),
        not_priced=tuple(item for item in items if isinstance(item, NotPriced)),
    )


def monthly_limit(deployment: Deployment) -> int:
    """A budget's monthly limit in USD: 730 hours of the metered items, rounded up to a whole 10 USD, at least 10."""
    # Fractions of a cent are the dust of binary fractions: they must not lift an exact limit to the next ten.
    usd = round(prices.HOURS_PER_MONTH * hourly(deployment).usd_per_hour, 2)
    return max(_STEP_USD, math.ceil(usd / _STEP_USD) * _STEP_USD)


def _of_group(cluster: Cluster, group: InstanceGroup, path: str, lists: Sequence[PriceList]) -> Iterator[Item]:
    item = _item(group)
    if isinstance(group.capacity, TrainingPlan):
        yield _prepaid(group, group.capacity, path, item)
    else:
        why, price = _price(cluster, group, lists)
        if price is None or not isinstance(group.instances, int):
            yield NotPriced(path=path, item=item, why=why)
        else:
            yield _metered(path, item, group.instances, "instance", price)
    if group.volumes is UNKNOWN or group.volumes:
        yield _of_volumes(cluster, group, path, lists)


def _of_volumes(cluster: Cluster, group: InstanceGroup, path: str, lists: Sequence[PriceList]) -> Item:
    """The volumes of a group that say their size; a root volume says none."""
    meter = prices.volume_gib_month(cluster.region or "", lists)
    if meter is None:
        why = "no dated price of HyperPod's EBS volumes is in the catalogue: `hyperpod prices refresh` reads it"
        return NotPriced(path=path, item=VOLUMES, why=why)
    sizes = [known(each.size_gib) for each in group.volumes] if isinstance(group.volumes, tuple) else [None]
    instances = known(group.instances)
    if instances is None or None in sizes:
        return NotPriced(path=path, item=VOLUMES, why="their number or size is not known")
    return _metered(path, VOLUMES, instances * sum(size or 0 for size in sizes), "GiB", _by_the_hour(meter))


def _item(group: InstanceGroup) -> str:
    """The type of a group as text; the types where it is flexible."""
    if isinstance(group.flexible_types, tuple) and group.flexible_types:
        return " or ".join(group.flexible_types)
    return known(group.instance_type) or "instances"


def _prepaid(group: InstanceGroup, plan: TrainingPlan, path: str, item: str) -> Prepaid:
    samples = [sample for sample in prices.PLAN_SAMPLES if sample.instance_type == group.instance_type]
    return Prepaid(
        path=path,
        item=item,
        quantity=known(group.instances),
        plan=plan.name,
        sample=max(samples, key=lambda sample: sample.as_of, default=None),
    )


def _price(cluster: Cluster, group: InstanceGroup, lists: Sequence[PriceList]) -> tuple[str, Price | None]:
    """The price of one instance for one hour, or why there is none."""
    if known(group.instances) is None:
        return "the number of instances is not known", None
    if group.flexible_types is UNKNOWN or (not group.flexible_types and known(group.instance_type) is None):
        return "the instance type is not known", None
    if cluster.region is None:
        return NO_REGION, None
    types = group.flexible_types or (str(group.instance_type),)
    found = {name: prices.hourly(name, cluster.region, lists) for name in types}
    missing = [name for name, price in found.items() if price is None]
    if missing:
        return f"no price of {', '.join(missing)} in {cluster.region} is in the catalogue", None
    dearest = max((price for price in found.values() if price), key=lambda price: price.usd_per_hour)
    return _certain(group, dearest, len(found))


def _certain(group: InstanceGroup, dearest: Price, number_of_types: int) -> tuple[str, Price | None]:
    """The on-demand price where it is what will be paid, at most."""
    on_demand = f"on demand one would be {dearest.usd_per_hour:,.2f} USD/h"
    if isinstance(group.capacity, Spot):
        return f"spot prices change by the hour; {on_demand}", None
    if group.capacity is UNKNOWN:
        return f"whether it is on demand, on spot or on a training plan is not known; {on_demand}", None
    if number_of_types == 1:
        return "", dearest
    source = f"dearest of {number_of_types} types, at most: {dearest.source}"
    return "", Price(usd_per_hour=dearest.usd_per_hour, source=source, as_of=dearest.as_of, estimate=True)


def _metered(path: str, item: str, quantity: int, unit: str, price: Price) -> Metered:
    return Metered(
        path=path,
        item=item,
        quantity=quantity,
        unit=unit,
        usd_each=price.usd_per_hour,
        source=price.source,
        as_of=price.as_of,
        estimate=price.estimate,
    )


def _of_orchestrator(deployment: Deployment, cluster: Cluster, lists: Sequence[PriceList]) -> Iterator[Item]:
    """The EKS control plane; once, where several clusters share it."""
    eks = cluster.orchestrator
    if not isinstance(eks, Eks) or next(c for c in deployment.clusters if c.orchestrator == eks) is not cluster:
        return
    path, item = known(eks.cluster) or cluster.path, "EKS control plane"
    meter = prices.eks_cluster_hour(cluster.region, lists) if cluster.region else None
    if meter is None:
        yield NotPriced(path=path, item=item, why=_no_price(cluster.region))
    else:
        yield _metered(path, item, 1, "cluster", _by_the_hour(meter))


def _of_file_system(deployment: Deployment, file_system: FileSystem, lists: Sequence[PriceList]) -> Item:
    lustre = file_system.lustre
    item = _lustre(lustre)
    capacity = known(lustre.capacity_gib)
    if known(lustre.storage_type) not in {None, "SSD"}:
        return NotPriced(path=file_system.path, item=item, why="only prices of SSD storage are in the catalogue")
    if capacity is None or UNKNOWN in {lustre.deployment_type, lustre.storage_type, lustre.throughput_mbps_per_tib}:
        return NotPriced(path=file_system.path, item=item, why="what is bought is not known")
    region = file_system.region or _one_region(deployment)
    throughput = known(lustre.throughput_mbps_per_tib)
    meter = prices.lustre_gib_month(str(lustre.deployment_type), throughput, region or "", lists)
    if meter is None:
        return NotPriced(path=file_system.path, item=item, why=_no_price(region))
    return _metered(file_system.path, item, capacity, "GiB", _by_the_hour(meter))


def _one_region(deployment: Deployment) -> str | None:
    """The Region of all clusters; `None` where there is not one. Constructs do not say that of a file system."""
    regions = {cluster.region for cluster in deployment.clusters}
    return regions.pop() if len(regions) == 1 else None


def _lustre(lustre: Lustre) -> str:
    throughput = known(lustre.throughput_mbps_per_tib)
    words = ["Lustre", known(lustre.deployment_type), known(lustre.storage_type)]
    speed = f", {throughput:,} MB/s/TiB" if throughput is not None else ""
    return " ".join(str(word) for word in words if word) + speed


def _by_the_hour(meter: Meter) -> Price:
    hours = prices.HOURS_PER_MONTH if meter.unit == "GiB-month" else 1
    return Price(usd_per_hour=meter.usd / hours, source=meter.source, as_of=meter.as_of, estimate=meter.estimate)


def _no_price(region: str | None) -> str:
    return f"no price in {region} is in the catalogue" if region else NO_REGION
