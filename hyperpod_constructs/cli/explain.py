"""`hyperpod explain`: why a stack or a cluster failed, what that means, and what to do now."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from hyperpod_constructs.account import arns, explain, gateway
from hyperpod_constructs.account.denials import Denial
from hyperpod_constructs.account.explain import Explained, NodeLog
from hyperpod_constructs.account.messages import Message
from hyperpod_constructs.account.troubles import Trouble
from hyperpod_constructs.cli import inputs, terminal

_INDENT: Final = 13
_MOST_INSTANCES: Final = 3
"""Instances that are named; of the others there is a number."""
_UNKNOWN: Final = "unknown: this message is in no list of ours; what AWS says is all there is"
_NO_RULE: Final = "no rule: a template does not show it"


def run(arguments: argparse.Namespace) -> int:
    """Prints what failed and why; 1 where something did."""
    session = gateway.sign_in(profile=arguments.profile, region=arguments.region)
    arns.must_be_of(session.region, arguments.subject)
    found = explain.explain(
        session,
        arguments.subject,
        now=datetime.now(UTC),
        since=timedelta(seconds=arguments.since),
        lines=arguments.lines,
    )
    for error in found.unread:
        inputs.note(str(error))
    if arguments.format == "json":
        print(json.dumps(as_data(found), indent=2))
    else:
        print("\n".join(text(found, terminal.width())))
    if found.troubles:
        return 1
    return 2 if found.unread else 0


def as_data(found: Explained) -> dict[str, object]:
    """What failed as JSON shows it."""
    return {
        "subject": found.subject,
        "region": found.region,
        "states": [{"of": of, "state": state} for of, state in found.states],
        "failures": [_trouble_data(trouble) for trouble in found.troubles],
        "logs": [
            {
                "log_group": log.log_group,
                "stream": log.stream,
                "lines": list(log.lines),
                **_meaning_data(log.reason),
            }
            for log in found.logs
        ],
        "more_logs": found.more_logs,
        "notes": list(found.notes),
        "denied": [str(error) for error in found.unread],
    }


def text(found: Explained, columns: int) -> list[str]:
    """What failed for a person: the earliest first, because what comes later often follows from it."""
    lines = [f"{terminal.plain(of)} in {found.region}: {terminal.plain(state)}" for of, state in found.states]
    for trouble in found.troubles:
        lines += ["", *_trouble(trouble, columns)]
    for log in found.logs:
        lines += ["", *_log(log, columns)]
    if found.more_logs:
        lines += ["", f"{terminal.plural(found.more_logs, 'further log')} of other instances not shown"]
    if found.notes:
        lines.append("")
    for note in found.notes:
        lines += terminal.wrapped(f"note: {note}", columns)
    if not found.troubles:
        nothing = "nothing failed" if not found.unread else "nothing that failed could be read"
        lines += ["", f"{nothing}; events of a cluster are read as far back as --since says"]
    return lines


def _trouble(trouble: Trouble, columns: int) -> Iterator[str]:
    when = f"{trouble.time:%Y-%m-%d %H:%M:%S} UTC " if trouble.time else ""
    often = f", {trouble.times:,} times" if trouble.times > 1 else ""
    yield from terminal.wrapped(f"{when}{trouble.where}{_instances(trouble)}{often}", columns)
    yield from _labelled("said", trouble.said, columns)
    meaning = trouble.denial or trouble.message
    if meaning is None:
        yield from _labelled("means", _UNKNOWN, columns)
    else:
        yield from _meaning(meaning, columns)


def _instances(trouble: Trouble) -> str:
    if not trouble.instances:
        return ""
    more = len(trouble.instances) - _MOST_INSTANCES
    return f": {', '.join(trouble.instances[:_MOST_INSTANCES])}{f' and {more:,} more' if more > 0 else ''}"


def _log(log: NodeLog, columns: int) -> Iterator[str]:
    yield f"last lines of {terminal.plain(log.stream)} in {terminal.plain(log.log_group)}"
    yield from (f"  | {terminal.plain(line)}" for line in log.lines)
    if log.reason is not None:
        yield from _meaning(log.reason, columns)


def _meaning(meaning: Message | Denial, columns: int) -> Iterator[str]:
    rules = meaning.rules if isinstance(meaning, Message) else ()
    prevented = f"{', '.join(rules)} of `hyperpod check`" if rules else _NO_RULE
    yield from _labelled("means", meaning.meaning, columns)
    yield from _labelled("prevents", prevented, columns)
    yield from _labelled("next", meaning.next_step, columns)


def _labelled(label: str, words: str, columns: int) -> list[str]:
    lines = terminal.wrapped(words, columns, indent=" " * _INDENT)
    return [f"  {label}:".ljust(_INDENT) + lines[0][_INDENT:], *lines[1:]] if lines else []


def _trouble_data(trouble: Trouble) -> dict[str, object]:
    return {
        "time": trouble.time.isoformat() if trouble.time else None,
        "seen_in": trouble.seen_in,
        "where": trouble.where,
        "group": trouble.group,
        "instances": list(trouble.instances),
        "times": trouble.times,
        "said": trouble.said,
        **_meaning_data(trouble.denial or trouble.message),
    }


def _meaning_data(meaning: Message | Denial | None) -> dict[str, object]:
    denial = meaning if isinstance(meaning, Denial) else None
    return {
        "known": meaning is not None,
        "meaning": meaning.meaning if meaning else None,
        "rules": list(meaning.rules) if isinstance(meaning, Message) else [],
        "next": meaning.next_step if meaning else None,
        "source": meaning.source if isinstance(meaning, Message) else None,
        "denial": denial
        and {
            "action": denial.action,
            "principal": denial.principal,
            "resource": denial.resource,
            "explicit": denial.explicit,
            "policy_kind": denial.kind,
            "policy": denial.policy,
            "part": denial.part.name if denial.part else None,
            "switch_off": denial.part.switch if denial.part else None,
        },
    }
