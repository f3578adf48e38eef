"""Counts the field reports by what settles them, as their tests say it: the tests are parsed and not run."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PLACES = ("synth", "template", "preflight", "docs")
"""What can settle a report, best first; see tests/field_reports/settled.py."""

_NAME = re.compile(r"test_field_report_([A-Z]_\d+)_\w+")


def counted(folder: Path) -> dict[str, int]:
    """Number of reports by what settles them.

    A report with several tests counts once, where it is settled best.

    Args:
        folder: Where the tests are.

    Raises:
        ValueError: if a test does not say what settles its report.
    """
    places: dict[str, str] = {}
    for path in sorted(folder.glob("test_*.py")):
        for report, place in _settled(path):
            places[report] = min(place, places.get(report, place), key=PLACES.index)
    numbers = Counter(places.values())
    return {place: numbers[place] for place in PLACES if numbers[place]}


def _settled(path: Path) -> Iterator[tuple[str, str]]:
    """Id of each report in a file, and what its test is marked with."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and (match := _NAME.fullmatch(node.name)):
            marks = [place for each in node.decorator_list if (place := _mark(each))]
            if len(marks) != 1 or marks[0] not in PLACES:
                raise ValueError(f"{path.name}:{node.lineno}: mark {node.name} with one @settled({'|'.join(PLACES)})")
            yield match[1], marks[0]


def _mark(decorator: ast.expr) -> str | None:
    """The argument of `@settled(...)`."""
    match decorator:
        case ast.Call(func=ast.Name(id="settled"), args=[ast.Constant(value=str(place))]):
            return place
    return None
