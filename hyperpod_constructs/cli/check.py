"""`hyperpod check`: every finding about PATH, as text, JSON or SARIF."""

from __future__ import annotations

import argparse
import json
import time

from hyperpod_constructs.cli import inputs, parameters, terminal
from hyperpod_constructs.cli.inputs import Judged
from hyperpod_constructs.findings import Finding, Severity


def run(arguments: argparse.Namespace) -> int:
    """Prints what was found; 1 where a deployment would be refused."""
    started = time.perf_counter()
    given = parameters.given(arguments.parameter, arguments.parameters)
    source = inputs.read(arguments.path, arguments.region, given)
    parameters.refuse_unknown(source.read, given)
    if source.deployment.clusters:
        parameters.say_what_was_judged(source.read, given)
    judged = inputs.judge(source)
    if arguments.format == "json":
        print(json.dumps(as_data(judged), indent=2))
    elif arguments.format == "sarif":
        from hyperpod_constructs.cli import sarif  # noqa: PLC0415  # the other formats start without it

        print(json.dumps(sarif.log(judged, arguments.path), indent=2))
    else:
        print("\n".join(text(judged, time.perf_counter() - started)))
    return 1 if judged.stops else 0


def as_data(judged: Judged) -> dict[str, object]:
    """Findings as JSON shows them; `acknowledged` only where there is something."""
    data: dict[str, object] = {"findings": [_finding(finding) for finding in judged.findings]}
    if judged.acknowledged:
        data["acknowledged"] = [{**_finding(a.finding), "reason": a.reason} for a in judged.acknowledged]
    return data


def text(judged: Judged, seconds: float) -> list[str]:
    """Findings for a person; the number of them on the last line."""
    lines = [line for finding in judged.findings for line in block(finding)]
    if judged.acknowledged:
        lines.append("acknowledged by the app:")
        lines += [line for a in judged.acknowledged for line in block(a.finding, reason=a.reason)]
    number, parts = terminal.plural(len(judged.findings), "finding"), counts(judged)
    return [*lines, f"{number} in {seconds:.1f} s{parts and ': ' + parts}"]


def block(finding: Finding, *, reason: str | None = None) -> list[str]:
    """One finding: what is wrong, what to do about it or why it is accepted, and where in the file."""
    columns, margin = terminal.width(), " " * terminal.MARGIN
    where = f"{finding.path}: " if finding.path else ""
    first, *rest = terminal.wrapped(where + finding.message, columns - terminal.MARGIN)
    lines = [terminal.head(finding.rule, finding.severity) + first, *(margin + line for line in rest)]
    remedy = f"fix: {finding.fix}" if reason is None else f"reason: {reason}"
    lines += terminal.wrapped(remedy, columns, indent=margin)
    return _with_place(lines, finding, columns)


def _with_place(lines: list[str], finding: Finding, columns: int) -> list[str]:
    """The lines with file and line number flush right: on the last line if it has room, else on one of its own."""
    if finding.file is None:
        return lines
    place = terminal.plain(finding.file) + (f":{finding.line}" if finding.line else "")
    room = columns - len(lines[-1])
    if room >= len(place) + 2:
        return [*lines[:-1], lines[-1] + place.rjust(room)]
    return [*lines, " " * terminal.MARGIN + place.rjust(columns - terminal.MARGIN)]


def counts(judged: Judged) -> str:
    """`1 error, 2 warnings, 1 acknowledged`; empty where there is nothing."""
    parts = [terminal.plural(number, *_NOUNS[severity]) for severity, number in judged.counts().items()]
    if judged.acknowledged:
        parts.append(f"{len(judged.acknowledged):,} acknowledged")
    return ", ".join(parts)


_NOUNS = {
    Severity.FATAL: ("fatal error",),
    Severity.ERROR: ("error",),
    Severity.WARNING: ("warning",),
    Severity.INFO: ("info", "info"),
}


def _finding(finding: Finding) -> dict[str, object]:
    severity = Severity.ERROR if finding.severity is Severity.FATAL else finding.severity
    return {
        "rule": finding.rule,
        "severity": severity.value,
        "path": finding.path,
        "file": finding.file,
        "line": finding.line,
        "message": finding.message,
        "fix": finding.fix,
        "source": finding.source,
    }
