"""A page as a comment on a pull request. What comes from a template or an account is text, never markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.review.impacts import Verdict
from hyperpod_constructs.review.report.lines import Item, Page

_SIGNS: Final = {
    Verdict.UNCHANGED: "✅",
    Verdict.SAFE: "✅",
    Verdict.RESTARTS: "🟡",
    Verdict.REPLACES: "🟠",
    Verdict.DESTROYS: "🔴",
    Verdict.BLOCKED: "⛔",
}
_MARKUP: Final = re.compile(r"([\\`*_\[\]<>|~&$]|#(?!\d)|:(?=//)|(?<=www)\.)")
"""What would be emphasis, a link, an image, HTML, a formula or a heading; an entity could stand for any of them."""
_BEGINNING: Final = re.compile(r"^(\d*)([-+=.)])")
"""What would begin a list or underline a heading."""
_CALLS: Final = re.compile(r"@|#(?=\d)")
"""What GitHub takes for a person, or for another issue, wherever it stands in text."""
_COMMAND: Final = re.compile(r"(`[^`]+`)")
_BAR: Final = re.compile(r"(?<!\\)\|")
"""What ends a cell of a table, in code too."""
_SPACE: Final = re.compile(r"\s+")


def lines(page: Page) -> list[str]:
    """The comment."""
    return [
        f"### {_SIGNS[page.verdict]} {_text(page.headline)}",
        *([_begin(page.where)] if page.where else []),
        *_table(page),
        *([""] if page.remarks else []),
        *(f"<sub>{_text(remark)}</sub>" for remark in page.remarks),
        *(line for section in page.sections for line in ("", f"**{section.title}**", *_items(section.items))),
    ]


def _table(page: Page) -> Iterator[str]:
    if page.rows:
        yield from ("", "| | before | after | change |", "| --- | ---: | ---: | --- |")
        for row in page.rows:
            cells = [_text(cell, in_table=True) for cell in (row.label, row.before, row.after, row.change)]
            yield f"| {' | '.join(cells)} |"


def _items(items: tuple[Item, ...]) -> Iterator[str]:
    for item in items:
        subject = f"{_code(item.subject)} " if item.subject else ""
        action = f" → {_text(item.action)}" if item.action else ""
        action += f" → {_code(item.command)}" if item.command else ""
        yield f"- {subject}{_text(item.text) if subject else _begin(item.text)}{action}"
        yield from (f"  {number}. {_begin(step)}" for number, step in enumerate(item.steps, start=1))


def _begin(text: str) -> str:
    """Text at the beginning of a line."""
    return _BEGINNING.sub(r"\1\\\2", _text(text))


def _text(text: str, *, in_table: bool = False) -> str:
    """Text in which nothing is markup and nobody is mentioned, but for commands, which stand between backticks."""
    parts = _COMMAND.split(_seen(text))
    shown = [_code(part[1:-1]) if _COMMAND.fullmatch(part) else _plain(part) for part in parts]
    return "".join(_BAR.sub(r"\\|", part) if in_table else part for part in shown)


def _code(text: str) -> str:
    """Text that is shown as it is."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{_seen(text)}{pad}{fence}"


def _plain(text: str) -> str:
    return _CALLS.sub("\\g<0>\u200b", _MARKUP.sub(r"\\\1", text))


def _seen(text: str) -> str:
    """Text on one line, with a sign for each character that nobody sees or that turns the others around."""
    return "".join(char if char.isprintable() else "\ufffd" for char in _SPACE.sub(" ", text))
