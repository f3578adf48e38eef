"""`hyperpod review`: what a change moves, costs and destroys, for whoever has to approve it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from hyperpod_constructs.cli import inputs, price_files, terminal
from hyperpod_constructs.errors import UnreadableTemplate
from hyperpod_constructs.review import review
from hyperpod_constructs.review.live import snapshot
from hyperpod_constructs.review.policy import FailOn
from hyperpod_constructs.review.report import data, markdown, page
from hyperpod_constructs.review.report.lines import Item, Page
from hyperpod_constructs.review.review import Side


def run(arguments: argparse.Namespace) -> int:
    """Prints the review; 1 where something holds that `--fail-on` names."""
    base, head = (_side(path, arguments.region) for path in (arguments.base, arguments.head))
    running = snapshot.read(Path(arguments.live)) if arguments.live else None
    found = review.of(base, head, live=running, lists=price_files.load(), now=datetime.now(UTC))
    if arguments.format == "json":
        print(json.dumps(data.as_data(found), indent=2, default=data.moment))
    else:
        printed = page.of(found)
        print("\n".join(markdown.lines(printed) if arguments.format == "markdown" else _text(printed)))
    wanted: FailOn = arguments.fail_on
    reasons = wanted.reasons(found)
    for reason in reasons:
        inputs.note(f"--fail-on {reason}")
    return 1 if reasons else 0


def _side(path: str, region: str | None) -> Side:
    """Reads and judges one side.

    Raises:
        UnreadableTemplate: if it cannot be read, or is what a refused synth left behind.
    """
    source = inputs.read(path, region, of_clusters=False)
    if source.refusal:
        raise UnreadableTemplate(f"{source.refusal.path}: {source.refusal.message}; {source.refusal.fix}")
    return Side(assembly=source.read, deployment=source.deployment, findings=inputs.judge(source).findings)


def _text(printed: Page) -> list[str]:
    columns = terminal.width()
    rows = [(row.label, row.before, "->", row.after, row.change) for row in printed.rows]
    return [
        *terminal.wrapped(printed.headline, columns, hang="  "),
        *terminal.wrapped(printed.where, columns, indent="  "),
        *(terminal.table(rows, right={1, 3}) if rows else ()),
        *(line for remark in printed.remarks for line in terminal.wrapped(remark, columns, indent="  ", hang="  ")),
        *(line for section in printed.sections for line in (section.title.lower(), *_items(section.items, columns))),
    ]


def _items(items: tuple[Item, ...], columns: int) -> Iterator[str]:
    for item in items:
        said = f"{item.subject}: {item.text}" if item.subject else item.text
        yield from terminal.wrapped(said, columns, indent="  ", hang="  ")
        if fix := item.action or item.command:
            yield from terminal.wrapped(f"fix: {fix}", columns, indent="    ", hang="  ")
        for number, step in enumerate(item.steps, start=1):
            yield from terminal.wrapped(f"{number}. {step}", columns, indent="    ", hang="   ")
