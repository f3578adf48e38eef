"""What a change does to the money: sums, what makes the difference, what has no price, and the budgets.

Nothing that cannot be priced is counted as free: a difference says whether it is whole. Capacity on a training plan was
paid with the plan, so it stands apart.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from hyperpod_constructs.catalog import prices
from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.model.budget import BudgetResource
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.planning import cost
from hyperpod_constructs.planning.cost import Cost, Metered, NotPriced, Prepaid
from hyperpod_constructs.review.impacts import Change, Impact
from hyperpod_constructs.tokens import UNKNOWN, known

_HOURS_PER_DAY: Final = 24
_CENT: Final = 0.01

_ENDPOINT: Final = "AWS::EC2::VPCEndpoint"
_CACHE: Final = frozenset({"CacheNodeType", "NumCacheNodes", "NumCacheClusters", "NumNodeGroups"})
_DATABASE: Final = frozenset(
    {"AllocatedStorage", "DBInstanceClass", "Iops", "MultiAZ", "StorageThroughput", "StorageType"}
)
_BY_THE_HOUR: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "AWS::AutoScaling::AutoScalingGroup": (
        "AutoScaling group",
        frozenset({"DesiredCapacity", "LaunchTemplate", "MaxSize", "MinSize", "MixedInstancesPolicy"}),
    ),
    "AWS::DocDB::DBInstance": ("DocumentDB instance", _DATABASE),
    "AWS::EC2::Instance": ("EC2 instance", frozenset({"BlockDeviceMappings", "InstanceType", "Tenancy"})),
    "AWS::EC2::NatGateway": ("NAT gateway", frozenset()),
    _ENDPOINT: ("VPC endpoint", frozenset({"SubnetIds", "VpcEndpointType"})),
    "AWS::EKS::Nodegroup": (
        "EKS node group",
        frozenset({"CapacityType", "DiskSize", "InstanceTypes", "LaunchTemplate", "ScalingConfig"}),
    ),
    "AWS::ElastiCache::CacheCluster": ("ElastiCache cluster", _CACHE),
    "AWS::ElastiCache::ReplicationGroup": (
        "ElastiCache replication group",
        _CACHE | {"NodeGroupConfiguration", "ReplicasPerNodeGroup"},
    ),
    "AWS::ElastiCache::ServerlessCache": ("ElastiCache serverless cache", frozenset({"CacheUsageLimits"})),
    "AWS::Elasticsearch::Domain": ("OpenSearch domain", frozenset({"EBSOptions", "ElasticsearchClusterConfig"})),
    "AWS::Neptune::DBInstance": ("Neptune instance", _DATABASE),
    "AWS::OpenSearchService::Domain": ("OpenSearch domain", frozenset({"ClusterConfig", "EBSOptions"})),
    "AWS::RDS::DBCluster": (
        "RDS cluster",
        frozenset({"DBClusterInstanceClass", "ServerlessV2ScalingConfiguration", "ScalingConfiguration"}) | _DATABASE,
    ),
    "AWS::RDS::DBInstance": ("RDS instance", _DATABASE),
}
"""Types that are paid by the hour and that this package has no price of, with the properties that say how much.

Source: the pricing pages of EC2, VPC, EKS, RDS, DocumentDB, Neptune, ElastiCache and OpenSearch Service (2026).
"""
_SAID: Final = {
    Impact.CREATED: "new",
    Impact.OPEN: "decided at deploy",
    Impact.LEFT_BEHIND: "leaves the stack",
}
_WHETHER: Final = frozenset({"", "Condition"})
"""Names under which a change says that the whole resource comes, goes, or may."""

_Slot: TypeAlias = tuple[str, bool]
"""A path, and whether its volumes are meant: the name of an item depends on whether its type is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a price comes from.

    Attributes:
        source: Who says so.
        as_of: When it was seen.
        estimate: Whether it is anything but AWS's own list price, or the user's.
    """

    source: str
    as_of: str
    estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What one side costs.

    Attributes:
        usd_per_hour: Sum of what is metered; `None` where nothing that costs money has a price.
        usd_per_month: The same for 730 hours.
        estimate: Whether any part of it is an estimate.
        complete: Whether everything that is metered has a price.
    """

    usd_per_hour: float | None
    usd_per_month: float | None
    estimate: bool
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChange:
    """An item that makes a difference.

    Attributes:
        path: Path of the item.
        item: What it is, for example `ml.p5.48xlarge`.
        unit: What is counted: `instance`, `GiB` or `cluster`.
        before: How many; 0 where there was none, `None` where it had no price.
        after: How many; 0 where there is none, `None` where it has no price.
        usd_per_hour_before: What it cost; `None` where it had no price.
        usd_per_hour_after: What it costs; `None` where it has no price.
        difference: In USD an hour; `None` where one of both has no price.
        estimate: Whether a part of the difference is an estimate.
    """

    path: str
    item: str
    unit: str
    before: int | None
    after: int | None
    usd_per_hour_before: float | None
    usd_per_hour_after: float | None
    difference: float | None
    estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpriced:
    """An item without a price.

    Attributes:
        path: Path of the item.
        item: What it is.
        why: Why there is no figure.
        before: Whether it is there and has no price before the change.
        after: Whether it is there and has no price after it.
        changed: Whether the change touches what is paid for: the money that it moves is in no sum.
    """

    path: str
    item: str
    why: str
    before: bool
    after: bool
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepaidChange:
    """Instances on a training plan; what they cost was paid with the plan.

    Attributes:
        path: Path of the group.
        item: Instance type.
        plan: Name of the plan.
        before: How many; 0 where there was none, `None` where it is known only at deploy.
        after: How many; 0 where there is none, `None` where it is known only at deploy.
    """

    path: str
    item: str
    plan: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostChange:
    """What a change does to the cost.

    Attributes:
        before: The sum before.
        after: The sum after.
        difference: In USD an hour, of what has a price on both sides; `None` where one of the sums is not known.
        estimate: Whether a part of the difference is an estimate.
        complete: Whether nothing that has no price is touched.
        items: What makes the difference, the dearest first.
        sources: Where the prices of these come from.
        basis: Where the prices of everything that is metered after the change come from.
        prepaid: Instances on training plans, on either side.
        not_priced: What has no price, on either side.
        unpriced: What the change touches of other things that are paid by the hour, see `unpriced`.
    """

    before: Sum
    after: Sum
    difference: float | None
    estimate: bool
    complete: bool
    items: tuple[ItemChange, ...]
    sources: tuple[Source, ...]
    basis: tuple[Source, ...]
    prepaid: tuple[PrepaidChange, ...]
    not_priced: tuple[Unpriced, ...]
    unpriced: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetFigure:
    """A monthly budget of the head, and what its account's metered items come to.

    Attributes:
        path: Its path.
        new: Whether the base does not have it.
        limit_before: Monthly limit in USD; `None` where it is new, or the limit is not known.
        limit: The same, after the change.
        forecast_before: Metered cost of 730 hours in USD; `None` where that is not known.
        forecast: The same, after the change.
        estimate: Whether a part of the forecast is an estimate.
        over: Whether the forecast is above the limit; `None` where that is not known.
        day: About the day of the month on which the limit is reached, where it is.
        filtered: Whether it counts only a part of the account's cost; `None` where that is not known.
    """

    path: str
    new: bool
    limit_before: float | None
    limit: float | None
    forecast_before: float | None
    forecast: float | None
    estimate: bool
    over: bool | None
    day: int | None
    filtered: bool | None


def of(
    base: Deployment,
    head: Deployment,
    lists: Sequence[PriceList],
    paths: Mapping[str, str],
    others: Sequence[str] = (),
) -> CostChange:
    """What a change does to the cost.

    Args:
        base: The base, with restricted groups among the others.
        head: The head, likewise.
        lists: Prices that come before those of this package, the best first.
        paths: Paths of clusters and file systems in the head, by their paths in the base.
        others: What the change touches that no deployment holds and that has no price, see `unpriced`.
    """
    moved = _Moved(paths)
    before, after = moved.cost(cost.hourly(base, lists)), cost.hourly(head, lists)
    ours, theirs = _lines(before.metered), _lines(after.metered)
    unpriced = [{_slot(each.path, each.item) for each in side.not_priced} for side in (before, after)]
    rows = [_item(key, ours.get(key), theirs.get(key), unpriced) for key in dict.fromkeys((*ours, *theirs))]
    items = sorted((row for row in rows if _differs(row)), key=_dearest)
    used = [line for row in items for side in (ours, theirs) if (line := side.get((row.path, row.item)))]
    not_priced = _not_priced(before.not_priced, after.not_priced, moved.paid(base), _paid(head))
    sums = _sum(before), _sum(after)
    certain = None not in {each.usd_per_hour for each in sums}
    return CostChange(
        before=sums[0],
        after=sums[1],
        difference=math.fsum(each.difference or 0 for each in items) if certain else None,
        estimate=any(each.estimate for each in items),
        complete=not others and not any(each.changed for each in not_priced),
        items=tuple(items),
        sources=_sources(used),
        basis=_sources(theirs.values()),
        prepaid=tuple(_prepaid(before.prepaid, after.prepaid)),
        not_priced=not_priced,
        unpriced=tuple(others),
    )


def budgets(
    base: Deployment, head: Deployment, lists: Sequence[PriceList], paths: Mapping[str, str]
) -> Iterator[BudgetFigure]:
    """The monthly budgets of cost of the head; what others count says nothing of a month's cost.

    Args:
        base: The base, with restricted groups among the others.
        head: The head, likewise.
        lists: Prices that come before those of this package, the best first.
        paths: Paths of budgets in the head, by their paths in the base, where they differ.
    """
    old = {paths.get(each.path, each.path): each for each in base.budgets}
    sums: dict[str | None, tuple[Sum, Sum]] = {}
    for each in head.budgets:
        if known(each.kind) != "COST" or known(each.time_unit) != "MONTHLY":
            continue
        if each.account not in sums:
            both = (_sum(cost.hourly(_of_account(side, each.account), lists)) for side in (base, head))
            sums[each.account] = (next(both), next(both))
        yield _budget(each, old.get(each.path), *sums[each.account])


def unpriced(changes: Iterable[Change], gateways: Collection[str] = ()) -> tuple[str, ...]:
    """What a change makes, takes or resizes, and is paid by the hour, and has no price here: in no sum.

    Args:
        changes: Everything that becomes another.
        gateways: Paths of endpoints of the kind Gateway, on either side: those cost nothing.

    Returns:
        One text for each resource, in the order of the changes.
    """
    found: dict[tuple[str, str], str] = {}
    for change in changes:
        what, sizes = _BY_THE_HOUR.get(change.type, ("", frozenset[str]()))
        free = change.type == _ENDPOINT and change.path in gateways
        if what and not free and (said := _moves(change, sizes)):
            found.setdefault((change.path, change.type), f"{what} {change.path} ({said})")
    return tuple(found.values())


def _moves(change: Change, sizes: Collection[str]) -> str:
    """What a change does to the bill; empty where it does nothing to it."""
    name = change.property_name
    if change.impact is Impact.STAYS:  # and goes on being paid for
        return ""
    if name in _WHETHER:
        return _SAID.get(change.impact, "goes")
    if name.partition(".")[0] not in sizes or change.because_of is not None:
        return ""
    both = f" {change.before} → {change.after}" if change.before is not None and change.after is not None else ""
    return f"{name}{both}"


def _of_account(deployment: Deployment, account: str | None) -> Deployment:
    """What may be paid for in an account."""
    if account is None:
        return deployment
    return replace(
        deployment,
        clusters=tuple(each for each in deployment.clusters if each.account in {None, account}),
        file_systems=tuple(each for each in deployment.file_systems if each.account in {None, account}),
    )


def _budget(budget: BudgetResource, old: BudgetResource | None, before: Sum, after: Sum) -> BudgetFigure:
    limit, forecast, filtered = _limit(budget), after.usd_per_month, _is_filtered(budget)
    over = _is_over(limit, after, filtered=filtered)
    return BudgetFigure(
        path=budget.path,
        new=old is None,
        limit_before=_limit(old) if old else None,
        limit=limit,
        forecast_before=before.usd_per_month,
        forecast=forecast,
        estimate=after.estimate,
        over=over,
        day=_day(limit, forecast) if over and limit is not None and forecast else None,
        filtered=filtered,
    )


def _limit(budget: BudgetResource) -> float | None:
    """The limit of every month in USD; `None` where it is not known or not the same each month."""
    if budget.planned is not False or budget.adjusted is not False or budget.unit not in {None, "USD"}:
        return None
    return known(budget.amount)


def _is_filtered(budget: BudgetResource) -> bool | None:
    parts = (budget.filters, budget.expression)
    return True if True in parts else None if UNKNOWN in parts else False


def _is_over(limit: float | None, after: Sum, *, filtered: bool | None) -> bool | None:
    """Whether the month's cost is above the limit.

    A budget with a filter may not count all of the cost, and of what has no price the cost is more.
    """
    if limit is None or after.usd_per_month is None:
        return None
    if after.usd_per_month >= limit + _CENT:
        return True if filtered is False else None
    return False if after.complete else None


def _day(limit: float, forecast: float) -> int:
    """The day of a month of 730 hours on which a limit is reached."""
    return max(1, math.ceil(limit / forecast * prices.HOURS_PER_MONTH / _HOURS_PER_DAY))


@dataclass(frozen=True, slots=True)
class _Line:
    """All metered items of one path and name."""

    unit: str
    quantity: int
    usd_per_hour: float
    sources: tuple[Source, ...]


class _Moved:
    """Paths of the base as the head has them: a cluster that is the same can stand at another path."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        """Old and new paths of clusters and file systems."""
        self._paths = {old: new for old, new in paths.items() if old != new}

    def path(self, path: str) -> str:
        """The path that the head has for it."""
        old = next((old for old in self._paths if path == old or path.startswith(f"{old}/")), None)
        return path if old is None else self._paths[old] + path.removeprefix(old)

    def cost(self, found: Cost) -> Cost:
        """The cost with these paths."""
        return Cost(
            metered=tuple(replace(each, path=self.path(each.path)) for each in found.metered),
            prepaid=tuple(replace(each, path=self.path(each.path)) for each in found.prepaid),
            not_priced=tuple(replace(each, path=self.path(each.path)) for each in found.not_priced),
        )

    def paid(self, deployment: Deployment) -> dict[_Slot, list[object]]:
        """What is paid for, by these paths."""
        return {(self.path(path), volumes): what for (path, volumes), what in _paid(deployment).items()}


def _paid(deployment: Deployment) -> dict[_Slot, list[object]]:
    """What of groups, their volumes and file systems is paid for."""
    found: dict[_Slot, list[object]] = {}
    for _, group, path in deployment.groups():
        nodes = (group.instances, group.instance_type, group.flexible_types, group.capacity)
        found.setdefault((path, False), []).append(nodes)
        found.setdefault((path, True), []).append((group.instances, group.volumes))
    for each in deployment.file_systems:
        found.setdefault((each.path, False), []).append(each.lustre)
    return found


def _slot(path: str, item: str) -> _Slot:
    return path, item == cost.VOLUMES


def _lines(items: Iterable[Metered]) -> dict[tuple[str, str], _Line]:
    found: dict[tuple[str, str], _Line] = {}
    for each in items:
        line = found.get((each.path, each.item), _Line(each.unit, 0, 0.0, ()))
        found[each.path, each.item] = _Line(
            unit=each.unit,
            quantity=line.quantity + each.quantity,
            usd_per_hour=line.usd_per_hour + each.usd_per_hour,
            sources=(*line.sources, Source(source=each.source, as_of=each.as_of, estimate=each.estimate)),
        )
    return found


def _item(
    key: tuple[str, str], before: _Line | None, after: _Line | None, unpriced: Sequence[set[_Slot]]
) -> ItemChange:
    (path, item), slot = key, _slot(*key)
    ours, theirs = _amount(before, unpriced=slot in unpriced[0]), _amount(after, unpriced=slot in unpriced[1])
    sources = [source for line in (before, after) if line for source in line.sources]
    return ItemChange(
        path=path,
        item=item,
        unit=next(line.unit for line in (before, after) if line),
        before=ours[0] if ours else None,
        after=theirs[0] if theirs else None,
        usd_per_hour_before=ours[1] if ours else None,
        usd_per_hour_after=theirs[1] if theirs else None,
        difference=theirs[1] - ours[1] if ours and theirs else None,
        estimate=any(source.estimate for source in sources),
    )


def _amount(line: _Line | None, *, unpriced: bool) -> tuple[int, float] | None:
    """Quantity and USD an hour; of an item that is not there none, unless it is there without a price."""
    if line is not None:
        return line.quantity, line.usd_per_hour
    return None if unpriced else (0, 0.0)


def _sources(lines: Iterable[_Line]) -> tuple[Source, ...]:
    """Where the prices of some lines come from, each once."""
    return tuple(dict.fromkeys(source for line in lines for source in line.sources))


def _differs(row: ItemChange) -> bool:
    return row.before != row.after or row.usd_per_hour_before != row.usd_per_hour_after


def _dearest(row: ItemChange) -> tuple[bool, float]:
    return row.difference is None, -abs(row.difference or 0)


def _sum(found: Cost) -> Sum:
    usd = found.usd_per_hour if found.metered or not found.not_priced else None
    return Sum(
        usd_per_hour=usd,
        usd_per_month=None if usd is None else usd * prices.HOURS_PER_MONTH,
        estimate=found.estimate,
        complete=not found.not_priced,
    )


def _not_priced(
    before: Iterable[NotPriced],
    after: Iterable[NotPriced],
    paid_before: Mapping[_Slot, list[object]],
    paid_after: Mapping[_Slot, list[object]],
) -> tuple[Unpriced, ...]:
    ours, theirs = ({(each.path, each.item): each.why for each in side} for side in (before, after))
    found = []
    for key in dict.fromkeys((*theirs, *ours)):
        here = key in ours, key in theirs
        changed = here != (True, True) or paid_before.get(_slot(*key)) != paid_after.get(_slot(*key))
        why = theirs[key] if key in theirs else ours[key]
        found.append(Unpriced(path=key[0], item=key[1], why=why, before=here[0], after=here[1], changed=changed))
    return tuple(found)


def _prepaid(before: Iterable[Prepaid], after: Iterable[Prepaid]) -> Iterator[PrepaidChange]:
    ours, theirs = _instances(before), _instances(after)
    for key in dict.fromkeys((*theirs, *ours)):
        path, item, plan = key
        yield PrepaidChange(path=path, item=item, plan=plan, before=ours.get(key, 0), after=theirs.get(key, 0))


def _instances(items: Iterable[Prepaid]) -> dict[tuple[str, str, str], int | None]:
    found: dict[tuple[str, str, str], int | None] = {}
    for each in items:
        key = each.path, each.item, each.plan
        so_far = found.get(key, 0)
        found[key] = None if so_far is None or each.quantity is None else so_far + each.quantity
    return found
