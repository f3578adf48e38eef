"""`hyperpod status`: whether the nodes of a cluster are there, for a person and as an exit code for CI."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from time import monotonic, sleep
from typing import Final

from hyperpod_constructs.account import arns, gateway, status
from hyperpod_constructs.account.gateway.plans import TrainingPlans
from hyperpod_constructs.account.plans import Offer
from hyperpod_constructs.account.status import ClusterStatus, GroupStatus, Outcome
from hyperpod_constructs.cli import inputs, terminal
from hyperpod_constructs.errors import AccountUnavailable, NotInAccount

_COLUMNS: Final = {
    "group": "left",
    "type": "left",
    "declared": "right",
    "wanted": "right",
    "running": "right",
    "spares": "right",
    "current": "right",
    "target": "right",
    "status": "left",
    "plan": "left",
    "nodes": "left",
}
_WHERE_KNOWN: Final = {"declared", "spares"}
"""Columns that are left out where they would be empty."""
_DETAILS: Final = ("group", "image", "on nodes for", "scripts for new nodes", "plan")
_DIGEST: Final = re.compile(r"[0-9a-f]{16}")
"""How the folder of scripts ends that `LifecycleScripts` publishes."""
_CLEAR: Final = "\x1b[H\x1b[2J"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What is shown.

    Attributes:
        outcome: The cluster, and what is wrong with it.
        region: Region that was read.
        now: When.
        offers: Training plans by ARN.
        denied: What could not be read, each as one line.
    """

    outcome: Outcome
    region: str
    now: datetime
    offers: Mapping[str, Offer]
    denied: tuple[str, ...]


def run(arguments: argparse.Namespace) -> int:
    """Prints what is there, after a wait if one was asked for; 1 where it is not what was wanted."""
    twice = _named_twice(arguments.nodes or [])
    if twice:
        print(f"hyperpod: --nodes names {twice} more than once; use one number for it", file=sys.stderr)
        return 2
    declared = inputs.read(arguments.declared, arguments.region).deployment if arguments.declared else None
    session = gateway.sign_in(profile=arguments.profile, region=arguments.region)
    arns.must_be_of(session.region, arguments.cluster)
    wanted = dict(arguments.nodes) if arguments.nodes else None
    look = partial(status.look, session.open(gateway.Gateway), arguments.cluster, wanted, declared)
    if arguments.watch:
        return _watch(session, look, arguments)
    outcome = _wait(look, arguments) if arguments.wait else _once(look())
    report = _report(session, outcome)
    _print(report, arguments.format)
    return 1 if outcome.problem else 0


def as_data(report: Report) -> dict[str, object]:
    """What is there as JSON shows it; `problem` is `null` where everything is."""
    outcome, cluster = report.outcome, report.outcome.last.cluster
    return {
        "cluster": cluster.name,
        "region": report.region,
        "status": cluster.status,
        "failure_message": cluster.failure_message,
        "ready": outcome.problem is None,
        "problem": outcome.problem,
        "drift": list(outcome.last.drift),
        "denied": list(report.denied),
        "groups": [_group(group, report) for group in outcome.last.groups],
    }


def text(report: Report, columns: int) -> list[str]:
    """What is there for a person: a table by group, what its nodes have, then the verdict."""
    outcome, cluster = report.outcome, report.outcome.last.cluster
    lines = [f"cluster {terminal.plain(cluster.name)} in {report.region}: {terminal.plain(cluster.status)}"]
    lines += _table(outcome.last.groups)
    details = [_detail(group, report) for group in outcome.last.groups]
    if any(word != "-" for detail in details for word in detail[1:]):
        lines += terminal.table([_DETAILS, *details])
    if cluster.failure_message and not outcome.last.over:  # else the verdict has it
        lines += terminal.wrapped(f"AWS says: {cluster.failure_message}", columns)
    for drift in outcome.last.drift:
        lines += terminal.wrapped(f"differs: {drift}", columns)
    verdict = f"not ready: {outcome.problem}" if outcome.problem else "ready"
    return [*lines, *terminal.wrapped(verdict, columns)]


def _once(seen: ClusterStatus) -> Outcome:
    return Outcome(last=seen, problem=seen.problem)


def _wait(look: partial[ClusterStatus], arguments: argparse.Namespace) -> Outcome:
    return status.wait(look, timeout=arguments.timeout, every=arguments.every, say=_say, clock=monotonic, sleep=sleep)


def _watch(session: gateway.Session, look: partial[ClusterStatus], arguments: argparse.Namespace) -> int:
    """Shows the cluster again and again; ends when it is over or gone, or the user stops it."""
    seen = False
    while True:
        try:
            outcome = _once(look())
            if sys.stdout.isatty() and arguments.format == "text":
                print(_CLEAR, end="")
            _print(_report(session, outcome), arguments.format, one_line=True)
            seen = True
        except NotInAccount as error:
            if not seen:
                raise
            _say(str(error))
            return 1
        except AccountUnavailable as error:
            if not seen and not error.answered:
                raise
            _say(str(error))
        else:
            if outcome.last.over:
                return 1
        sleep(arguments.every)


def _report(session: gateway.Session, outcome: Outcome) -> Report:
    now = datetime.now(UTC)
    offers, failed = status.offers(session.open(TrainingPlans), outcome.last.cluster, now)
    return Report(
        outcome=outcome, region=session.region, now=now, offers=offers, denied=tuple(str(error) for error in failed)
    )


def _print(report: Report, form: str, *, one_line: bool = False) -> None:
    for denied in report.denied:
        inputs.note(denied)
    if form == "json":
        print(json.dumps(as_data(report), indent=None if one_line else 2), flush=True)
    else:
        print("\n".join(text(report, terminal.width())), flush=True)


def _say(line: str) -> None:
    """Shows progress at once, apart from the answer."""
    print(terminal.plain(line), file=sys.stderr, flush=True)


def _named_twice(nodes: Sequence[tuple[str, int]]) -> str | None:
    names = [name for name, _ in nodes]
    return next((name for name in names if names.count(name) > 1), None)


def _table(groups: Sequence[GroupStatus]) -> list[str]:
    """Groups and their numbers."""
    rows = [dict(zip(_COLUMNS, _row(group), strict=True)) for group in groups]
    shown = [name for name in _COLUMNS if name not in _WHERE_KNOWN or any(row[name] != "-" for row in rows)]
    right = {number for number, name in enumerate(shown) if _COLUMNS[name] == "right"}
    return terminal.table([shown, *([row[name] for name in shown] for row in rows)], right=right)


def _row(group: GroupStatus) -> tuple[str, ...]:
    described = group.group
    return (
        described.name,
        described.instance_type or "-",
        "-" if group.declared is None else f"{group.declared.instances:,}",
        "-" if group.wanted is None else f"{group.wanted:,}",
        f"{group.running:,}",
        f"{group.spares_left:,} of {group.spares:,}" if group.spares else "-",
        f"{described.current:,}",
        f"{described.target:,}",
        described.status or "-",
        described.plan_status or "-",
        ", ".join(f"{number:,} {name}" for name, number in group.nodes.items()) or "none",
    )


def _detail(group: GroupStatus, report: Report) -> tuple[str, ...]:
    described = group.group
    image = described.image_release or described.image
    state = "" if described.image_status in {None, "UpToDate"} else f" ({described.image_status})"
    return (
        described.name,
        f"{image}{state}" if image else "-",
        terminal.span(report.now - group.imaged) if image and group.imaged else "-",
        _scripts(described.scripts) or "-",
        _plan_words(report.offers.get(described.plan or ""), report.now) or "-",
    )


def _scripts(uri: str | None) -> str | None:
    """The hash of the scripts, where their folder is named by one, else the folder."""
    last = (uri or "").rstrip("/").rpartition("/")[2]
    return last if _DIGEST.fullmatch(last) else uri


def _plan_words(offer: Offer | None, now: datetime) -> str | None:
    if offer is None:
        return None
    turn = offer.turn
    if turn is None:
        return f"{offer.plan.name}: {offer.plan.status}"
    if turn.arrives is not None:
        return f"{offer.plan.name}: nodes arrive in {terminal.span(turn.arrives - now)}"
    if turn.leaves <= now:
        return f"{offer.plan.name}: nodes are being ended"
    return f"{offer.plan.name}: nodes leave in {terminal.span(turn.leaves - now)}"


def _group(group: GroupStatus, report: Report) -> dict[str, object]:
    described = group.group
    return {
        "name": described.name,
        "instance_type": described.instance_type,
        "declared": group.declared.instances if group.declared else None,
        "wanted": group.wanted,
        "running": group.running,
        "spares": group.spares,
        "spares_left": group.spares_left,
        "current": described.current,
        "target": described.target,
        "status": described.status,
        "nodes": dict(group.nodes),
        "image": {
            "id": described.image,
            "release": described.image_release,
            "status": described.image_status,
            "on_nodes_since": group.imaged.isoformat() if group.imaged else None,
        },
        "scripts": described.scripts,
        "plan_status": described.plan_status,
        "plan": _plan(report.offers.get(described.plan or "")),
    }


def _plan(offer: Offer | None) -> dict[str, object] | None:
    if offer is None:
        return None
    turn = offer.turn
    return {
        "name": offer.plan.name,
        "status": offer.plan.status,
        "arrives": turn.arrives.isoformat() if turn and turn.arrives else None,
        "leaves": turn.leaves.isoformat() if turn else None,
    }
