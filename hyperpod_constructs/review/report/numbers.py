"""The numbers of a review as rows and lines: nodes, accelerators, addresses, money, quotas, and what runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hyperpod_constructs.catalog import prices
from hyperpod_constructs.planning.quotas import CODE
from hyperpod_constructs.review.figures import ClusterChange, Figures, Nodes, QuotaChange, SubnetChange
from hyperpod_constructs.review.live.drift import Drift, GroupDrift, QuotaDrift
from hyperpod_constructs.review.money import BudgetFigure, Source, Sum
from hyperpod_constructs.review.report.lines import Item, Row
from hyperpod_constructs.review.review import Review

_UNKNOWN: Final = "?"
_MOST: Final = 4
"""Rows of one kind."""
_MOST_SOURCES: Final = 2
"""Sources of prices."""


def rows(figures: Figures) -> Iterator[Row]:
    """The numbers that change, and the cost in any case."""
    yield from _first([_nodes(each) for each in figures.clusters if each.before != each.after], "clusters")
    yield from _accelerators(figures.clusters)
    yield from _cost(figures)
    budgets = [each for each in figures.budgets if each.over or each.limit != each.limit_before]
    yield from _first([_budget(each) for each in budgets], "budgets")
    yield from _first([_addresses(each) for each in figures.subnets if each.before != each.after], "subnets")


def _first(found: Sequence[Row], what: str) -> Iterator[Row]:
    """As many rows of a kind as are read, and the number of the others."""
    most = _MOST if len(found) > _MOST + 1 else len(found)
    yield from found[:most]
    if len(found) > most:
        yield Row(label=f"and {len(found) - most:,} more {what}", before="", after="", change="")


def _nodes(cluster: ClusterChange) -> Row:
    """Usable and spare nodes, and where their number changes on both sides those for controller and login."""
    sides = cluster.before, cluster.after
    service = _more_service(cluster) not in {0, None}
    numbers = [_usable(each) for each in sides]
    if service:
        numbers = [_plus_service(number, each) for number, each in zip(numbers, sides, strict=True)]
    label = f"nodes of {cluster.name or cluster.path}, usable + spare{' + controller and login' if service else ''}"
    before, after = (_parts(each, service=service) for each in sides)
    change = _signed(*numbers)
    return Row(label=label, before=before, after=after, change="as many in all" if change == "+0" else change)


def _plus_service(number: int | None, nodes: Nodes | None) -> int | None:
    """A number of nodes with those for controller and login."""
    return None if number is None or nodes is None or nodes.service is None else number + nodes.service


def _accelerators(clusters: Sequence[ClusterChange]) -> Iterator[Row]:
    """Usable accelerators of all clusters, by name."""
    every = [each for cluster in clusters for each in cluster.accelerators]
    for name in dict.fromkeys(each.name for each in every):
        before, after = (
            _total([getattr(each, side) for each in every if each.name == name])
            for side in ("usable_before", "usable_after")
        )
        if before != after:
            yield Row(
                label=f"{name} usable", before=_number(before), after=_number(after), change=_signed(before, after)
            )


def _total(numbers: Sequence[int | None]) -> int | None:
    """Their sum; `None` where one of them is not known."""
    return None if None in numbers else sum(each or 0 for each in numbers)


def _cost(figures: Figures) -> Iterator[Row]:
    cost = figures.cost
    if not (cost.before.usd_per_hour or cost.after.usd_per_hour):  # nothing that is paid by the hour, or no price
        return
    difference = cost.difference
    month = "" if difference is None else f" ({difference * prices.HOURS_PER_MONTH:+,.0f} a month)"
    word = " (estimate)" if cost.after.estimate or cost.before.estimate else ""
    change = f"{_plus(difference)}{month}"
    if difference == 0:
        change = "unchanged" if cost.complete else "only what has no price"
    yield Row(label=f"USD/h metered{word}", before=_usd(cost.before), after=_usd(cost.after), change=change)


def _budget(budget: BudgetFigure) -> Row:
    said = "" if budget.limit_before is None else f"limit was {_money(budget.limit_before)}"
    if budget.new:
        said = "new"
    if budget.over:
        said = f"over on about day {budget.day}" if budget.day else "over"
    return Row(
        label=f"a month, budget {_money(budget.limit)}",
        before=_money(budget.forecast_before),
        after=_money(budget.forecast),
        change=said,
    )


def _addresses(subnet: SubnetChange) -> Row:
    sides = [
        "0" if each is None else _number(each.used, at_least=not each.complete)
        for each in (subnet.before, subnet.after)
    ]
    available = subnet.after.available if subnet.after else None
    left = subnet.after.left if subnet.after else None
    of = f"of {available:,}" if available is not None else ""
    short = ", too few" if left is not None and left < 0 else ""
    label = f"addresses in {subnet.zone or subnet.path}"
    return Row(label=label, before=sides[0], after=sides[1], change=f"{of}{short}")


def remarks(figures: Figures) -> Iterator[str]:
    """What has to be known of the numbers: where prices come from, what is in no sum."""
    cost = figures.cost
    for each in cost.prepaid:
        if each.before != each.after:
            yield (
                f"{each.item} of {each.path}: {_number(each.before)} → {_number(each.after)} on plan {each.plan}, "
                "prepaid: in no hourly sum"
            )
    changed = [each for each in cost.not_priced if each.changed]
    texts = [*(f"{each.item} of {each.path} ({each.why})" for each in changed), *cost.unpriced]
    if texts:
        more = f", and {len(texts) - _MOST:,} more" if len(texts) > _MOST else ""
        yield f"not priced, so in no sum: {', '.join(texts[:_MOST])}{more}"
    if not cost.after.complete and not changed:
        items = sorted({each.item for each in cost.not_priced if each.after})
        more = " and more" if len(items) > _MOST else ""
        yield f"without a price, before and after: {', '.join(items[:_MOST])}{more}"
    yield from _sources(cost.sources)


def _sources(sources: Sequence[Source]) -> Iterator[str]:
    """Where prices come from: as many as are read, estimates first."""
    ordered = sorted(sources, key=lambda each: not each.estimate)
    for number, each in enumerate(ordered[:_MOST_SOURCES]):
        word = "estimate: " if each.estimate and "estimate" not in each.source else ""
        left = len(ordered) - _MOST_SOURCES if number == _MOST_SOURCES - 1 else 0
        more = f"; {left:,} more source{'' if left == 1 else 's'} of prices" if left > 0 else ""
        yield f"{word}{each.source}, {each.as_of}{more}"


def in_short(figures: Figures) -> list[str]:
    """What changes of nodes and money, in a few words."""
    new = [each for each in figures.clusters if each.before is None]
    found = [f"{len(new)} new cluster{'s' if len(new) > 1 else ''}"] if new else []
    before = _total([_usable(each.before) for each in figures.clusters])
    after = _total([_usable(each.after) for each in figures.clusters])
    if before is not None and after is not None and before != after:
        found.append(f"{after - before:+,} node{'s' if abs(after - before) > 1 else ''}")
    service = _total([_more_service(each) for each in figures.clusters])
    if service:
        found.append(f"{service:+,} controller or login node{'s' if abs(service) > 1 else ''}")
    if figures.cost.difference:
        found.append(f"{_plus(figures.cost.difference)} USD/h")
    return found


def _more_service(cluster: ClusterChange) -> int | None:
    """How many more nodes for controller and login a cluster has that is on both sides; `None` if nobody knows."""
    before, after = cluster.before, cluster.after
    if before is None or after is None:
        return 0
    if before.service is None or after.service is None or not (before.complete and after.complete):
        return None
    return after.service - before.service


def before_the_merge(review: Review) -> Iterator[Item]:
    """Quotas to raise or to check, and once how to find their codes."""
    needed = [*_needed(review)]
    for quota, text in needed:
        yield Item(subject=f"quota {quota.name}", text=text, command=quota.command)
    coded = [quota for quota, _ in needed if CODE in quota.command]
    if coded:
        yield Item(text=f"{CODE} is the first word that this prints, for each by its name", command=coded[0].look_up)


def raises(review: Review) -> int:
    """How many quotas have to be raised or checked."""
    return len([*_needed(review)])


def _needed(review: Review) -> Iterator[tuple[QuotaDrift | QuotaChange, str]]:
    """Quotas with what is needed: by what the account has where a snapshot says it, else by what was seen elsewhere."""
    applied = {(each.service, each.name): each for each in review.drift.quotas} if review.drift else {}
    for each in applied.values():
        if each.short:
            used = "" if each.used is None else f", {each.used:,} used"
            yield each, f"the account has {each.applied:,.0f}{used}; this needs {_number(each.after or each.needed)}"
    for needed in review.figures.quotas:
        its = applied.get((needed.service, needed.name))
        if not needed.likely_enough and (its is None or its.short is None):
            yield needed, f"needs {_number(needed.after, at_least=not needed.complete)} in place of {needed.before:,}"


def live(drift: Drift | None) -> Iterator[Item]:
    """The change beside what runs."""
    if drift is None:
        return
    if drift.before is drift.after is None:  # another cluster: its numbers say nothing of this change
        yield from (Item(text=note) for note in drift.notes)
        return
    yield from (_group(group) for group in drift.groups if _matters(group))
    for plan in drift.plans:
        left = "" if plan.hours_left is None else f", {max(plan.hours_left, 0):,.0f} h left"
        over = "; that is more than it holds" if plan.over else ""
        ended = "; it has ended" if plan.expired else ""
        held = _number(plan.live.count) if plan.live else _UNKNOWN
        text = f"{_number(plan.proposed, at_least=not plan.complete)} of {held} instances{left}{over}{ended}"
        yield Item(subject=f"plan {plan.name}", text=text)
    for system in drift.file_systems:
        if system.live.used_bytes is not None:
            used = system.live.used_bytes / 2**40
            yield Item(subject=system.path or system.live.id, text=f"{used:,.1f} TiB in use ({system.live.id})")
    yield Item(subject=f"cluster {drift.cluster}", text=f"as of {drift.taken:%Y-%m-%d %H:%M} UTC{_has_drifted(drift)}")
    yield from (Item(text=text) for text in (*drift.contradictions, *drift.notes))


def _has_drifted(drift: Drift) -> str:
    """Whether it has; nothing where nobody knows."""
    if drift.drifted is None:
        return ""
    return "; it is not what the base asks for" if drift.drifted else ", no drift"


def _matters(group: GroupDrift) -> bool:
    """Whether a group is worth a line: what runs is not what was asked for, or another number is."""
    return bool(group.drifted) or group.declared != group.proposed or bool(group.takes_at_most)


def _group(group: GroupDrift) -> Item:
    sizes = {
        "declared": group.declared.instances if group.declared else 0,
        "live": group.live.target if group.live else 0,
        "running": group.live.running if group.live else 0,
        "proposed": group.proposed.instances if group.proposed else 0,
    }
    said = ", ".join(f"{word} {_number(size)}" for word, size in sizes.items())
    if group.only_drift:
        said += "; any update of the cluster may set it back to what is declared"
    return Item(subject=group.name, text=said)


def _usable(nodes: Nodes | None) -> int | None:
    """Nodes without those for controller and login; none where the cluster is not there, `None` if nobody knows."""
    if nodes is None:
        return 0
    return None if nodes.usable is None or not nodes.complete else nodes.usable + (nodes.spare or 0)


def _parts(nodes: Nodes | None, *, service: bool) -> str:
    """The numbers of nodes; of a side of which none is counted, that nobody knows it."""
    if nodes is None:
        return "none"
    parts = [nodes.usable, nodes.spare, *([nodes.service] if service else [])]
    if not nodes.complete and parts.count(None) == len(parts):
        return _UNKNOWN
    return f"{'' if nodes.complete else 'at least '}{' + '.join(map(_number, parts))}"


def _number(value: float | None, *, at_least: bool = False) -> str:
    return _UNKNOWN if value is None else f"{'at least ' if at_least else ''}{value:,}"


def _signed(before: int | None, after: int | None) -> str:
    return "" if before is None or after is None else f"{after - before:+,}"


def _usd(side: Sum) -> str:
    more = "" if side.complete else ", some not priced"
    return _UNKNOWN if side.usd_per_hour is None else f"{side.usd_per_hour:,.2f}{more}"


def _plus(amount: float | None) -> str:
    return _UNKNOWN if amount is None else f"{amount:+,.2f}"


def _money(amount: float | None) -> str:
    return _UNKNOWN if amount is None else f"{amount:,.0f} USD"
