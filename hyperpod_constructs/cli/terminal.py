"""How text is laid out for a person: width, colour, and nothing in it that a file could use against the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from hyperpod_constructs.findings import Severity

WIDTH: Final = 120
"""Columns where there is no terminal to ask: in files, pipes and logs."""
_NARROWEST = 50
_COLOURS: Final = {Severity.FATAL: "1;31", Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}


def width() -> int:
    """Columns to write: those of the terminal, else `WIDTH`."""
    return max(_NARROWEST, shutil.get_terminal_size((WIDTH, 24)).columns) if sys.stdout.isatty() else WIDTH


def coloured(text: str, severity: Severity) -> str:
    """The text in the colour of a severity, where standard output is a terminal that wants colour.

    Source of the convention: https://no-color.org (a non-empty NO_COLOR switches colour off).
    """
    wants = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[{_COLOURS[severity]}m{text}\x1b[0m" if wants else text


def plain(text: str) -> str:
    """The text on one line, control characters written out: names in a template may hold escape sequences."""
    words = " ".join(text.split())
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in words)


def wrapped(text: str, columns: int, *, indent: str = "", hang: str = "") -> list[str]:
    """Lines of at most so many columns; words, paths and type names are never broken.

    Args:
        text: What to write.
        columns: Most columns of a line.
        indent: What each line begins with.
        hang: What each line but the first begins with, after `indent`.
    """
    return textwrap.wrap(
        plain(text),
        columns,
        initial_indent=indent,
        subsequent_indent=indent + hang,
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(rows: Sequence[Sequence[str]], *, indent: str = "  ", right: Collection[int] = ()) -> list[str]:
    """Rows in columns, two blanks apart.

    Args:
        rows: Cells; every row has the same number.
        indent: What each line begins with.
        right: Numbers of the columns that are set flush right.
    """
    cells = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = [cell.rjust(widths[i]) if i in right else cell.ljust(widths[i]) for i, cell in enumerate(row)]
        lines.append((indent + "  ".join(padded)).rstrip())
    return lines


def plural(count: int, noun: str, plural_noun: str | None = None) -> str:
    """`1 node`, `2 nodes`, `1,024 nodes`."""
    return f"{count:,} {noun if count == 1 else plural_noun or noun + 's'}"


def span(time: timedelta) -> str:
    """The two largest units of a length of time: `12 d 3 h`, `3 h 20 min`, `4 min`; nothing is shorter than 0 min."""
    minutes = max(0, int(time.total_seconds()) // 60)
    days, hours = minutes // 1_440, minutes // 60 % 24
    if days:
        return f"{days:,} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


MARGIN: Final = 16
"""Columns that `head` takes."""


def head(rule: str, severity: Severity) -> str:
    """What a line about a rule begins with: `HP3001 error    `."""
    return f"{plain(rule):<6} {coloured(f'{severity.value:<8}', severity)} "
