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
_MARKUP: Final = re.compile(r"([\\`*_\[\]<>|~])")
_COMMAND: Final = re.compile(r"(`[^`]+`)")
_SPACE: Final = re.compile(r"\s+")


def lines(page: Page) -> list[str]:
    """The comment."""
    return [
        f"### {_SIGNS[page.verdict]} {_text(page.headline)}",
        *([_text(page.where)] if page.where else []),
        *_table(page),
        *([""] if page.remarks else []),
        *(f"<sub>{_text(remark)}</sub>" for remark in page.remarks),
        *(line for section in page.sections for line in ("", f"**{section.title}**", *_items(section.items))),
    ]


def _table(page: Page) -> Iterator[str]:
    if page.rows:
        yield from ("", "| | before | after | change |", "| --- | ---: | ---: | --- |")
        for row in page.rows:
            yield f"| {' | '.join(_text(cell) for cell in (row.label, row.before, row.after, row.change))} |"


def _items(items: tuple[Item, ...]) -> Iterator[str]:
    for item in items:
        subject = f"{_code(item.subject)} " if item.subject else ""
        action = f" → {_text(item.action)}" if item.action else ""
        yield f"- {subject}{_text(item.text)}{action}"
        yield from (f"  {number}. {_text(step)}" for number, step in enumerate(item.steps, start=1))


def _text(text: str) -> str:
    """Text in which nothing is markup and nobody is mentioned, but for commands, which stand between backticks."""
    parts = _COMMAND.split(_SPACE.sub(" ", text))
    return "".join(_code(part[1:-1]) if _COMMAND.fullmatch(part) else _plain(part) for part in parts)


def _code(text: str) -> str:
    """Text that is shown as it is; a bar would end the cell of a table."""
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{_SPACE.sub(' ', text)}{pad}{fence}".replace("|", "\\|")


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text).replace("@", "@\u200b")
