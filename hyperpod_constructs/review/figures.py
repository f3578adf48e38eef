"""What a change does to the numbers: nodes, accelerators, addresses, money, budgets and quotas, before and after.

`None` is what nobody knows; a number that is known only in part is the least that it can be, and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.planning import quotas, restricted, totals
from hyperpod_constructs.planning.totals import Accelerators, ClusterTotals, SubnetUse
from hyperpod_constructs.review import money
from hyperpod_constructs.review.money import BudgetFigure, CostChange
from hyperpod_constructs.tokens import known

_NO_ACCELERATORS: Final = Accelerators(name="", usable=0, spare=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Nodes of a cluster on one side.

    Attributes:
        usable: Nodes that jobs may use; the least they can be where `complete` is false, `None` where none is counted.
        spare: Nodes that wait for a failure, likewise.
        service: Controller and login nodes, likewise.
        spare_fraction: Share of the spare nodes in usable and spare ones; `None` without any, or where they are not
            all counted.
        complete: Whether the size of every group is known.
    """

    usable: int | None
    spare: int | None
    service: int | None
    spare_fraction: float | None
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorChange:
    """Accelerators of one name; `None` where they are not all counted and none of that name is.

    Attributes:
        name: For example `H100`.
        usable_before: On nodes that jobs may use.
        usable_after: The same, after the change.
        spare_before: On nodes that wait for a failure.
        spare_after: The same, after the change.
    """

    name: str
    usable_before: int | None
    usable_after: int | None
    spare_before: int | None
    spare_after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChange:
    """A cluster on both sides.

    Attributes:
        path: Its path after the change, or before where it goes.
        name: Its name after the change, or before where it goes; `None` where it is decided at deploy.
        before: `None` where the cluster is new.
        after: `None` where it goes.
        accelerators: By name.
    """

    path: str
    name: str | None
    before: Nodes | None
    after: Nodes | None
    accelerators: tuple[AcceleratorChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Addresses of a subnet on one side.

    Attributes:
        used: Addresses of all nodes that may stand there; the least where `complete` is false.
        available: Addresses that instances can have; `None` where the block is not known.
        left: What is left of them, below zero where they do not suffice; `None` where that is not known.
        complete: Whether every group that may stand there is counted.
    """

    used: int
    available: int | None
    left: int | None
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetChange:
    """A subnet in which nodes may stand.

    Attributes:
        path: Its path or id.
        zone: Zone id; `None` where it is not known.
        cidr: IPv4 block; `None` where it is not known.
        before: `None` where no node could stand there.
        after: `None` where no node can stand there any more.
    """

    path: str
    zone: str | None
    cidr: str | None
    before: Addresses | None
    after: Addresses | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaChange:
    """A quota of which the head needs more than the base.

    Attributes:
        service: Service code.
        name: Exact name.
        region: Region of the quota; `None` where the templates do not say.
        before: What the base needs, at least.
        after: What the head needs, at least.
        complete: Whether everything in the head that draws on it is counted.
        seen: Values that were seen in accounts, lowest first.
        likely_enough: Whether the lowest of them would do.
        look_up: The AWS CLI command that prints its code and default value.
        command: The AWS CLI command that asks for more, with a placeholder for the code.
    """

    service: str
    name: str
    region: str | None
    before: int
    after: int
    complete: bool
    seen: tuple[int, ...]
    likely_enough: bool
    look_up: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a change does to the numbers.

    Attributes:
        clusters: In the order of the head; those that go are last.
        subnets: By path.
        cost: Money.
        budgets: Monthly budgets of the head.
        quotas: Quotas of which more is needed.
    """

    clusters: tuple[ClusterChange, ...]
    subnets: tuple[SubnetChange, ...]
    cost: CostChange
    budgets: tuple[BudgetFigure, ...]
    quotas: tuple[QuotaChange, ...]

    @property
    def tightest(self) -> SubnetChange | None:
        """The subnet with the fewest addresses left after the change; `None` where no such number is known."""
        known_ones = [(each.after.left, each) for each in self.subnets if each.after and each.after.left is not None]
        return min(known_ones, key=lambda each: each[0])[1] if known_ones else None


def of(before: Deployment, after: Deployment, lists: Sequence[PriceList] = (), unpriced: Sequence[str] = ()) -> Figures:
    """What a change does to the numbers.

    Args:
        before: The base.
        after: The head.
        lists: Prices that come before those of this package, the best first.
        unpriced: What the change touches that no deployment holds and that has no price, see `money.unpriced`.
    """
    base, head = restricted.counted(before), restricted.counted(after)
    pairs = _pairs(base.clusters, head.clusters)
    moved = {ours.path: theirs.path for ours, theirs in pairs if ours and theirs}
    paths = {**_elsewhere(base.file_systems, head.file_systems), **moved}
    subnets = totals.of(base).subnets, totals.of(head).subnets
    return Figures(
        clusters=_clusters(base, head, pairs),
        subnets=_subnets(*subnets, _elsewhere(*subnets)),
        cost=money.of(base, head, lists, paths, unpriced),
        budgets=tuple(money.budgets(base, head, lists, _elsewhere(base.budgets, head.budgets))),
        quotas=tuple(_quotas(base, head)),
    )


def _pairs(base: Sequence[Cluster], head: Sequence[Cluster]) -> list[tuple[Cluster | None, Cluster | None]]:
    """Clusters of both sides by name and Region, the rest by path, with that of the stack and at last without it.

    Those of the head stand first, in its order. Templates of two files have paths that begin with another name.
    """
    before: dict[int, Cluster] = {}
    left = dict(enumerate(base))
    for key in (_name_of, _path_of):
        there: dict[object, list[int]] = {}
        for number, each in left.items():
            there.setdefault(key(each), []).append(number)
        for number, each in enumerate(head):
            same = there.get(key(each), []) if number not in before and key(each) is not None else []
            if same:  # several of one path, as in a folder of templates, are taken in their order
                before[number] = left.pop(same.pop(0))
    new = {number: each for number, each in enumerate(head) if number not in before and known(each.name) is None}
    unnamed = [number for number, each in left.items() if known(each.name) is None]
    if len(new) == len(unnamed) == 1:
        ((number, each),) = new.items()
        if _below(each.path) == _below(left[unnamed[0]].path) and _may_be_one(each, left[unnamed[0]]):
            before[number] = left.pop(unnamed[0])
    return [
        *((before.get(number), each) for number, each in enumerate(head)),
        *((each, None) for each in left.values()),
    ]


def _name_of(cluster: Cluster) -> tuple[str, str | None, str | None] | None:
    name = known(cluster.name)
    return None if name is None else (name, cluster.region, cluster.account)


def _path_of(cluster: Cluster) -> tuple[str, str | None, str | None]:
    return cluster.path, None, None


def _may_be_one(one: Cluster, other: Cluster) -> bool:
    """Whether account and Region do not speak against it."""
    return all(None in both or len(both) == 1 for both in ({one.account, other.account}, {one.region, other.region}))


def _below(path: str) -> str:
    """A path without its stack; whole where it has none."""
    return path.partition("/")[2] or path


class _Placed(Protocol):
    """What has a path."""

    @property
    def path(self) -> str:
        """Its path."""


def _elsewhere(base: Sequence[_Placed], head: Sequence[_Placed]) -> dict[str, str]:
    """Paths in the head of what only one other path of the base, in another stack, ends like."""
    ours, theirs = ({each.path for each in side} for side in (base, head))
    gone, new = ours - theirs, theirs - ours
    found = {path: [each for each in new if _below(each) == _below(path)] for path in gone}
    once = Counter(map(_below, gone))
    return {path: there[0] for path, there in found.items() if len(there) == 1 and once[_below(path)] == 1}


def _clusters(
    base: Deployment, head: Deployment, pairs: Iterable[tuple[Cluster | None, Cluster | None]]
) -> tuple[ClusterChange, ...]:
    ours, theirs = _totals(base), _totals(head)
    found = []
    for before, after in pairs:
        either = after or before
        if either is not None:
            sides = ours[id(before)] if before else None, theirs[id(after)] if after else None
            found.append(_cluster(either, *sides))
    return tuple(found)


def _totals(deployment: Deployment) -> dict[int, ClusterTotals]:
    """By the identity of a cluster: paths need not be unique in a folder of templates."""
    counted = totals.of(deployment).clusters
    return {id(cluster): its for cluster, its in zip(deployment.clusters, counted, strict=True)}


def _cluster(either: Cluster, before: ClusterTotals | None, after: ClusterTotals | None) -> ClusterChange:
    return ClusterChange(
        path=either.path,
        name=known(either.name),
        before=_nodes(before) if before else None,
        after=_nodes(after) if after else None,
        accelerators=tuple(_accelerators(before, after)),
    )


def _nodes(found: ClusterTotals) -> Nodes:
    complete, working = not found.uncounted, found.usable + found.spare
    return Nodes(
        usable=_at_least(found.usable, complete=complete),
        spare=_at_least(found.spare, complete=complete),
        service=_at_least(found.service, complete=complete),
        spare_fraction=found.spare / working if complete and working else None,
        complete=complete,
    )


def _at_least(number: int, *, complete: bool) -> int | None:
    """A number of which not all may be counted; none of it is then not known."""
    return number if number or complete else None


def _accelerators(before: ClusterTotals | None, after: ClusterTotals | None) -> Iterator[AcceleratorChange]:
    ours, theirs = ({each.name: each for each in side.accelerators} if side else {} for side in (before, after))
    known_before, known_after = _has_all(before), _has_all(after)
    for name in sorted({*ours, *theirs}):
        old, new = ours.get(name, _NO_ACCELERATORS), theirs.get(name, _NO_ACCELERATORS)
        yield AcceleratorChange(
            name=name,
            usable_before=_at_least(old.usable, complete=known_before),
            usable_after=_at_least(new.usable, complete=known_after),
            spare_before=_at_least(old.spare, complete=known_before),
            spare_after=_at_least(new.spare, complete=known_after),
        )


def _has_all(side: ClusterTotals | None) -> bool:
    """Whether all accelerators are counted; a cluster that is not there has none."""
    return side is None or not (side.uncounted or side.unknown_types)


def _subnets(
    before: Sequence[SubnetUse], after: Sequence[SubnetUse], moved: Mapping[str, str]
) -> tuple[SubnetChange, ...]:
    ours, theirs = {moved.get(each.path, each.path): each for each in before}, {each.path: each for each in after}
    return tuple(_subnet(path, ours.get(path), theirs.get(path)) for path in sorted({*ours, *theirs}))


def _subnet(path: str, before: SubnetUse | None, after: SubnetUse | None) -> SubnetChange:
    either = after or before
    return SubnetChange(
        path=path,
        zone=either.zone if either else None,
        cidr=either.cidr if either else None,
        before=_addresses(before) if before else None,
        after=_addresses(after) if after else None,
    )


def _addresses(use: SubnetUse) -> Addresses:
    left = None if use.available is None else use.available - use.used
    # What is not counted takes some of what seems to be left; where nothing is left, that is certain.
    certain = left is not None and (use.complete or left < 0)
    return Addresses(used=use.used, available=use.available, left=left if certain else None, complete=use.complete)


def _quotas(base: Deployment, head: Deployment) -> Iterator[QuotaChange]:
    ours = {(each.region, each.quota.service, each.quota.name): each for each in quotas.needed(base)}
    for each in quotas.needed(head):
        old = ours.get((each.region, each.quota.service, each.quota.name))
        before = old.needed if old else 0
        less_known = not each.complete and (old is None or old.complete)
        if each.needed > before or less_known:
            yield QuotaChange(
                service=each.quota.service,
                name=each.quota.name,
                region=each.region,
                before=before,
                after=each.needed,
                complete=each.complete,
                seen=each.quota.seen,
                likely_enough=each.likely_enough,
                look_up=each.look_up,
                command=each.command,
            )
