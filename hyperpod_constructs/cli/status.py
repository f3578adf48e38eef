"""`hyperpod status`: whether the nodes of a cluster are there, for a person and as an exit code for CI."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from time import monotonic, sleep

from hyperpod_constructs.account import gateway, status
from hyperpod_constructs.account.status import ClusterStatus, GroupStatus, Outcome
from hyperpod_constructs.cli import terminal

_HEADINGS = ("group", "type", "wanted", "running", "current", "target", "status", "plan", "nodes")
_NUMBERS = {2, 3, 4, 5}


def run(arguments: argparse.Namespace) -> int:
    """Prints what is there, after a wait if one was asked for; 1 where it is not what was wanted."""
    twice = _named_twice(arguments.nodes or [])
    if twice:
        print(f"hyperpod: --nodes names {twice} more than once; use one number for it", file=sys.stderr)
        return 2
    account = gateway.connect(profile=arguments.profile, region=arguments.region)
    wanted = dict(arguments.nodes) if arguments.nodes else None
    look = partial(status.look, account, arguments.cluster, wanted)
    outcome = _wait(look, arguments) if arguments.wait else _once(look())
    if arguments.format == "json":
        print(json.dumps(as_data(outcome, account.region), indent=2))
    else:
        print("\n".join(text(outcome, account.region, terminal.width())))
    return 1 if outcome.problem else 0


def as_data(outcome: Outcome, region: str) -> dict[str, object]:
    """What is there as JSON shows it; `problem` is `null` where everything is."""
    cluster = outcome.last.cluster
    return {
        "cluster": cluster.name,
        "region": region,
        "status": cluster.status,
        "failure_message": cluster.failure_message,
        "ready": outcome.problem is None,
        "problem": outcome.problem,
        "groups": [_group(group) for group in outcome.last.groups],
    }


def text(outcome: Outcome, region: str, columns: int) -> list[str]:
    """What is there for a person: a table by group, then the verdict."""
    cluster, rows = outcome.last.cluster, [_row(group) for group in outcome.last.groups]
    lines = [f"cluster {terminal.plain(cluster.name)} in {region}: {terminal.plain(cluster.status)}"]
    lines += terminal.table([_HEADINGS, *rows], right=_NUMBERS)
    if cluster.failure_message and not outcome.last.over:  # else the verdict has it
        lines += terminal.wrapped(f"AWS says: {cluster.failure_message}", columns)
    verdict = f"not ready: {outcome.problem}" if outcome.problem else "ready"
    return [*lines, *terminal.wrapped(verdict, columns)]


def _once(seen: ClusterStatus) -> Outcome:
    return Outcome(last=seen, problem=seen.problem)


def _wait(look: partial[ClusterStatus], arguments: argparse.Namespace) -> Outcome:
    return status.wait(look, timeout=arguments.timeout, every=arguments.every, say=_say, clock=monotonic, sleep=sleep)


def _say(line: str) -> None:
    """Shows progress at once, apart from the answer."""
    print(terminal.plain(line), file=sys.stderr, flush=True)


def _named_twice(nodes: Sequence[tuple[str, int]]) -> str | None:
    names = [name for name, _ in nodes]
    return next((name for name in names if names.count(name) > 1), None)


def _row(group: GroupStatus) -> tuple[str, ...]:
    described = group.group
    return (
        described.name,
        described.instance_type or "-",
        "-" if group.wanted is None else f"{group.wanted:,}",
        f"{group.running:,}",
        f"{described.current:,}",
        f"{described.target:,}",
        described.status or "-",
        described.plan_status or "-",
        ", ".join(f"{number:,} {name}" for name, number in group.nodes.items()) or "none",
    )


def _group(group: GroupStatus) -> dict[str, object]:
    described = group.group
    return {
        "name": described.name,
        "instance_type": described.instance_type,
        "wanted": group.wanted,
        "running": group.running,
        "current": described.current,
        "target": described.target,
        "status": described.status,
        "plan_status": described.plan_status,
        "nodes": dict(group.nodes),
    }
