"""`hyperpod cost`: what PATH costs by the hour, and where each price comes from."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from hyperpod_constructs.catalog import prices
from hyperpod_constructs.cli import inputs, planned, price_files, terminal
from hyperpod_constructs.cli.planned import Planned
from hyperpod_constructs.model.deployment import Deployment, Unseen
from hyperpod_constructs.planning import cost
from hyperpod_constructs.planning.cost import Cost, Metered, NotPriced, Prepaid


def run(arguments: argparse.Namespace) -> int:
    """Prints the cost; 1 where PATH is what a refused synth left behind."""
    source = inputs.read(arguments.path, arguments.region)
    if source.refusal:
        return inputs.refuse(source.refusal)
    found = planned.of(source, price_files.load())
    for each in _may_cost(source.deployment):
        inputs.note(f"{each.path}: was not seen, so what it makes is in none of these numbers")
    if arguments.format == "json":
        print(json.dumps(as_data(found), indent=2))
    else:
        print("\n".join(text(found, terminal.width())))
    return 0


def _may_cost(deployment: Deployment) -> list[Unseen]:
    """What nobody could look into and may make something that costs money."""
    return [each for each in deployment.unseen if each.kind != "file"]


def as_data(basis: Planned) -> dict[str, object]:
    """A cost as JSON shows it: USD, `null` instead of a sum where nothing has a price."""
    found = basis.cost
    return {
        "usd_per_hour": round(found.usd_per_hour, 4) if _has_sum(found) else None,
        "estimate": found.estimate,
        "complete": not found.not_priced and not _may_cost(basis.deployment),
        "metered": [
            {**asdict(item), "usd_each": round(item.usd_each, 8), "usd_per_hour": round(item.usd_per_hour, 4)}
            for item in found.metered
        ],
        "kept": [item.path for item in basis.kept],
        "prepaid": [asdict(item) for item in found.prepaid],
        "not_priced": [asdict(item) for item in found.not_priced],
        "conditional": list(basis.conditional),
        "left_out": cost.LEFT_OUT,
    }


def text(basis: Planned, columns: int) -> list[str]:
    """A cost for a person: the sum, its parts, what is prepaid, what has no price, and the sources."""
    found = basis.cost
    sources = list(dict.fromkeys(_source(item) for item in found.metered))
    rows = [_row(item, sources.index(_source(item)) + 1) for item in found.metered]
    return [
        _total(found),
        *terminal.table(rows, right={0}),
        *_kept(basis.kept, columns),
        *_prepaid(found.prepaid, columns),
        *_not_priced(found.not_priced),
        *_conditional(basis.conditional, columns),
        *terminal.wrapped(f"left out of every total: {cost.LEFT_OUT}", columns),
        *_listed(sources, columns),
    ]


def by_the_hour(found: Cost) -> str:
    """The sum; it says when it is an estimate and when something is missing from it."""
    missing = terminal.plural(len(found.not_priced), "item")
    if not _has_sum(found):
        return f"not known: {missing} not priced" if found.not_priced else "nothing that is paid by the hour was found"
    remarks = ["estimate"] if found.estimate else []
    remarks += [f"without {missing} not priced"] if found.not_priced else []
    return f"{_usd(found.usd_per_hour)} USD/h" + (f" ({', '.join(remarks)})" if remarks else "")


def _has_sum(found: Cost) -> bool:
    """Whether the sum says anything: without any price it would read as free of charge."""
    return bool(found.metered) or (bool(found.prepaid) and not found.not_priced)


def _total(found: Cost) -> str:
    month = found.usd_per_hour * prices.HOURS_PER_MONTH
    in_a_month = f"; {prices.HOURS_PER_MONTH} h a month: {month:,.0f} USD" if _has_sum(found) else ""
    return by_the_hour(found) + in_a_month


def _usd(amount: float) -> str:
    return f"{amount:,.2f}"


def _kept(items: tuple[Metered, ...], columns: int) -> list[str]:
    """What a destroy leaves: it holds data, so nothing deletes it but a person."""
    month = prices.HOURS_PER_MONTH
    said = [f"{terminal.plain(item.path)}, {item.usd_per_hour * month:,.0f} USD a month" for item in items]
    return terminal.wrapped(f"kept and paid for after a destroy: {'; '.join(said)}", columns, hang="  ") if said else []


def _prepaid(items: tuple[Prepaid, ...], columns: int) -> list[str]:
    if not items:
        return []
    lines = ["prepaid on training plans, nothing more by the hour:"]
    for item in items:
        number = "?" if item.quantity is None else f"{item.quantity:,}"
        lines.append(
            f"  {number} x {terminal.plain(item.item)} on {terminal.plain(item.plan)}  {terminal.plain(item.path)}"
        )
        if sample := item.sample:
            offer = f"{terminal.plural(sample.count, 'instance')} for {sample.hours} h"
            price = f"{_usd(sample.usd_per_hour)} USD for one instance and hour in an offer of {sample.as_of}"
            lines += terminal.wrapped(f"for scale only: {price} ({offer}; {sample.source})", columns, indent="      ")
    return lines


def _not_priced(items: tuple[NotPriced, ...]) -> list[str]:
    if not items:
        return []
    lines = ["not priced:", *terminal.table([(item.item, item.path, item.why) for item in items])]
    if any(item.why == cost.NO_REGION for item in items):
        lines.append("  give the Region with --region, for example --region us-west-2")
    return lines


def _conditional(paths: tuple[str, ...], columns: int) -> list[str]:
    """That alternatives are all in the sum: nobody knows before the deploy which of them are made."""
    if not paths:
        return []
    said = "counted in every total, though a condition decides at deploy whether it is made: "
    return terminal.wrapped(said + ", ".join(paths), columns, hang="  ")


def _row(item: Metered, source: int) -> tuple[str, str, str, str]:
    what = f"{item.quantity:,} GiB {item.item}" if item.unit == "GiB" else f"{item.quantity:,} x {item.item}"
    return _usd(item.usd_per_hour), what, item.path, f"[{source}]"


def _source(item: Metered) -> str:
    return f"{item.source}; {item.as_of}" if item.as_of == prices.UNDATED else f"{item.source}; as of {item.as_of}"


def _listed(sources: list[str], columns: int) -> list[str]:
    if not sources:
        return []
    lines = ["prices:"]
    for number, source in enumerate(sources, 1):
        lines += terminal.wrapped(f"[{number}] {source}", columns, indent="  ", hang="    ")
    return lines
