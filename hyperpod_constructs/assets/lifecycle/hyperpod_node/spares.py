"""Holds spare nodes away from jobs, on every partition, by a reservation that follows what happens to the nodes.

HyperPod has no notion of a spare. A reservation of root's works on all partitions at once, `dev` included, and lives in
the controller's state. It overlaps others, so that the service's own is never refused, and ignores jobs, so that none
is ever ended for it. This step runs every half minute and changes the reservation in place: of `count + spares` nodes
it holds the spares, fewer when nodes fail, because then they are what the failed job goes to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hyperpod_node import host, roster

NAME, FLAGS = "hyperpod-spares", ("OVERLAP", "IGNORE_JOBS")
_BUSY = {"ALLOCATED", "MIXED", "COMPLETING"}
_WORKS = {"IDLE", "ALLOCATED", "MIXED"}
_BROKEN = re.compile("BLOCKED|DRAIN|FAIL|INVALID|MAINT|NOT_RESPONDING|NO_RESPOND|POWER|REBOOT")
"""What the flags of a node that runs no new jobs begin with."""
_MARKS = "*~#!%$@^"
"""What older versions write after a state: does not respond, powered down, in maintenance, reboots, ..."""


@dataclass(frozen=True)
class Node:
    """A node as Slurm sees it.

    Attributes:
        name: Its name.
        partitions: All that it is in.
        known: Whether Slurm has heard of it since the controller started.
        works: Whether it can run jobs.
        busy: Whether it runs one.
        started: When its slurmd started. What a job waits to get back has started last.
    """

    name: str
    partitions: frozenset[str]
    known: bool
    works: bool
    busy: bool
    started: str = ""


def read_nodes(text: str) -> list[Node]:
    """The nodes that `scontrol -o show nodes` lists."""
    return [_node(line) for line in text.splitlines() if line.startswith("NodeName=")]


def _node(line: str) -> Node:
    state = _value(line, "State")
    base, *flags = state.rstrip(_MARKS + "-").split("+")
    base = base.rstrip(_MARKS + "-")
    works = base in _WORKS and not any(map(_BROKEN.match, flags)) and not any(mark in state for mark in _MARKS)
    busy = bool(_BUSY.intersection([base, *flags]))
    partitions = frozenset(_value(line, "Partitions").split(",")) - {""}
    return Node(_value(line, "NodeName"), partitions, base != "UNKNOWN", works, busy, _value(line, "SlurmdStartTime"))


@dataclass(frozen=True)
class Reservation:
    """A reservation as Slurm sees it.

    Attributes:
        nodes: Its hostlist.
        users: Who may use it.
        flags: Its flags.
        active: Whether it holds its nodes now: one whose time has not come, or never will, does not.
    """

    nodes: str
    users: str
    flags: frozenset[str]
    active: bool

    @property
    def ours(self) -> bool:
        """Whether it is as this step makes it; somebody may have made or changed one of that name."""
        return self.active and self.users == "root" and self.flags.issuperset(FLAGS)


def read_reservations(text: str) -> dict[str, Reservation]:
    """The reservations that `scontrol -o show reservations` lists."""
    return {
        _value(line, "ReservationName"): Reservation(
            _value(line, "Nodes"),
            _value(line, "Users"),
            frozenset(_value(line, "Flags").split(",")),
            _value(line, "State") == "ACTIVE",
        )
        for line in text.splitlines()
        if line.startswith("ReservationName=")
    }


def _value(line: str, key: str) -> str:
    found = re.search(rf"(?:^| ){key}=(\S*)", line)
    return found.group(1) if found else ""


def pools(groups: dict[str, dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """Nodes for jobs, and spares, of each partition; groups on one partition share what they have."""
    found: dict[str, tuple[int, int]] = {}
    for name, group in groups.items():
        partition = group.get("partition") or name
        count, spares = found.get(partition, (0, 0))
        found[partition] = count + int(group.get("count") or 0), spares + int(group.get("spares") or 0)
    return found


def _wanted(step: host.Step) -> tuple[dict[str, tuple[int, int]], str]:
    """What the roster asks for now, or asked for last, and why it cannot be read now: nodes fail while AWS is away."""
    away = ""
    try:
        content, away = roster.fetch(step)
        wanted = pools(roster.load(content)["nodes"])
        roster.keep(step, content)
    except (host.Failure, KeyError, TypeError, ValueError, AttributeError) as error:
        last = roster.last(step)
        if last is None:
            raise
        away = away or f"the roster cannot be used: {error}"
        wanted = pools(roster.load(last)["nodes"])
    return wanted, away


def decide(
    wanted: dict[str, tuple[int, int]], nodes: list[Node], held: frozenset[str], taken: frozenset[str]
) -> frozenset[str]:
    """The nodes to hold.

    Args:
        wanted: Nodes for jobs, and spares, by partition.
        nodes: All nodes.
        held: What is held now.
        taken: What others have reserved.
    """
    goal: set[str] = set()
    for partition, (count, spares) in wanted.items():
        there = [node for node in nodes if partition in node.partitions]
        if not all(node.known for node in there):
            # The controller has just started. To let go now would give the spares to whoever waits.
            goal.update(held.intersection(node.name for node in there))
            continue
        usable = [node for node in there if node.works and node.name not in taken]
        size = max(0, min(spares, len(usable) - count))
        # A spare that runs a job is none, so an idle node is better even than a busy one that is held already.
        usable.sort(key=lambda node: (node.busy, node.name not in held, node.started, node.name))
        goal.update(node.name for node in usable[:size])
        # A spare that is down or examined stays ours, so that no job gets it first when it is back.
        away = sorted(held.intersection(node.name for node in there).difference(node.name for node in usable))
        goal.update(away[: spares - size])
    return frozenset(goal)


def work(step: host.Step) -> None:
    """Holds what has to be held now."""
    wanted, away = _wanted(step)
    nodes = read_nodes(host.slurm("scontrol", "-o", "show", "nodes"))
    reserved = read_reservations(host.slurm("scontrol", "-o", "show", "reservations"))
    mine = reserved.pop(NAME, None)
    held = frozenset(host.hostnames(mine.nodes) if mine else ())
    taken: set[str] = set()
    contested: set[str] = set()
    for other in reserved.values():
        theirs = host.hostnames(other.nodes) if other.active else []
        taken.update(theirs)
        if not other.flags.intersection(("MAINT", "OVERLAP")):
            contested.update(theirs)  # their own jobs cannot run where ours holds as well
    goal = decide(wanted, nodes, held.difference(contested), frozenset(taken))
    if goal != held or (mine and not (goal and mine.ours)):
        _hold(goal, mine)
        host.say(f"held: {', '.join(sorted(goal)) or 'none'}; before: {', '.join(sorted(held)) or 'none'}")
    partitions = {each for node in nodes for each in node.partitions}
    missing = sorted(name for name, (_, spares) in wanted.items() if spares and name not in partitions)
    if missing:
        raise host.Mistake(
            f"no node is in partition {', '.join(missing)}, whose spares cannot be held; Slurm has partitions "
            f"{', '.join(sorted(partitions)) or 'without nodes'}"
        )
    if away:
        raise host.NotYet(f"held as the last good roster says: {away}")


def _hold(goal: frozenset[str], mine: Reservation | None) -> None:
    """Makes, changes in place or takes away the reservation."""
    nodes = f"Nodes={','.join(sorted(goal))}"
    if not goal:
        try:
            host.slurm("scontrol", "delete", f"ReservationName={NAME}")
        except host.Failure as failure:
            if "in use" not in str(failure):
                raise
            raise host.NotYet(
                f"jobs need the spares, and root runs a job on one: squeue --reservation={NAME}, scancel"
            ) from None
    elif not mine:
        rules = ("Users=root", "StartTime=now", "Duration=infinite", f"Flags={','.join(FLAGS)}")
        host.slurm("scontrol", "create", "reservation", f"ReservationName={NAME}", *rules, nodes)
    else:
        change = [] if mine.ours else ["Users=root", f"Flags+={','.join(FLAGS)}"]
        change += [] if mine.active else ["StartTime=now", "Duration=infinite"]
        try:
            host.slurm("scontrol", "update", "reservation", f"ReservationName={NAME}", *change, nodes)
        except host.NotYet:
            raise
        except host.Failure as failure:
            if mine.ours:
                raise
            raise host.Mistake(
                f"reservation {NAME} is not as this step makes it and cannot be put right; `scontrol delete "
                f"ReservationName={NAME}` lets the next run make it: {failure}"
            ) from None


if __name__ == "__main__":
    host.main(work)
