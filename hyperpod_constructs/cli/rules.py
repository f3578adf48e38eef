"""`hyperpod rules`: which rules there are, those of preflight included, and why."""

from __future__ import annotations

import argparse
import difflib
import json
import sys

from hyperpod_constructs.cli import terminal
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.rules import NOT_CHECKED, RULES, Rule

_DID_NOT_RUN = Rule(
    id=NOT_CHECKED,
    severity=Severity.FATAL,
    title="A check could not run, or the app itself refused this assembly",
    because="a check that did not run must not look like one that found nothing",
    source="hyperpod_constructs",
    check=lambda _: iter(()),
)


def run(arguments: argparse.Namespace) -> int:
    """Prints all rules, or the page of the one that was asked for; 2 where there is no such rule."""
    known = documented()
    wanted = arguments.id and arguments.id.upper()
    if wanted and wanted not in known:
        print(f"hyperpod: {_no_such_rule(arguments.id, known)}", file=sys.stderr)
        return 2
    if wanted:
        _print_page(known[wanted], as_json=arguments.format == "json")
    elif arguments.format == "json":
        print(json.dumps({"rules": [as_data(rule) for rule in known.values()]}, indent=2))
    else:
        print("\n".join(_list(list(known.values()))))
    return 0


def documented() -> dict[str, Rule]:
    """Every rule by id, in the order of ids, those of preflight included."""
    from hyperpod_constructs.account import preflight  # noqa: PLC0415  # a check starts without it

    return dict(sorted({**of_check(), **preflight.RULES}.items()))


def of_check() -> dict[str, Rule]:
    """Every rule that `check` can report by id, in the order of ids, with the one for checks that did not run."""
    return dict(sorted({_DID_NOT_RUN.id: _DID_NOT_RUN, **RULES}.items()))


def as_data(rule: Rule) -> dict[str, str]:
    """A rule as the list in JSON shows it; its page has more."""
    return {
        "id": rule.id,
        "severity": rule.severity.value,
        "title": rule.title,
        "because": rule.because,
        "source": rule.source,
    }


def _print_page(rule: Rule, *, as_json: bool) -> None:
    from hyperpod_constructs.rules import pages  # noqa: PLC0415  # SARIF needs the list only, and no examples

    page = pages.page(rule)
    if as_json:
        print(json.dumps({"rules": [pages.as_data(page)]}, indent=2))
    else:
        print(pages.markdown(page, terminal.width()), end="")


def _no_such_rule(wanted: str, known: dict[str, Rule]) -> str:
    near = difflib.get_close_matches(wanted.upper(), known, n=3, cutoff=0.6)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return f"there is no rule {terminal.plain(wanted)}; {meant}`hyperpod rules` lists all {len(known)}"


def _list(shown: list[Rule]) -> list[str]:
    lines = []
    for rule in shown:
        first, *rest = terminal.wrapped(rule.title, terminal.width() - terminal.MARGIN)
        lines.append(terminal.head(rule.id, rule.severity) + first)
        lines += [" " * terminal.MARGIN + line for line in rest]
    return [*lines, f"{terminal.plural(len(shown), 'rule')}; `hyperpod rules ID` explains one, with an example"]
