"""`hyperpod check` and `hyperpod review` of many files: twice as many take twice as much, counted in calls.

No machine changes the number of calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.model import template
from hyperpod_constructs.review import review
from hyperpod_constructs.review.review import Side

LEGAL = Path(__file__).parent / "templates_of_others" / "legal"


def calls(work: Callable[[], object]) -> int:
    """How many calls of Python functions and steps of generators some work takes."""
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def copied(folder: Path, name: str, copies: int, change: tuple[str, str] = ("", "")) -> Path:
    """So many copies of a template, with one text in it replaced by another."""
    folder.mkdir(parents=True)
    text = (LEGAL / name).read_text().replace(*change)
    for number in range(copies):
        (folder / f"{number}.yaml").write_text(text)
    return folder


@pytest.mark.parametrize("name", ["01_slurm_params_mappings_conditions.yaml", "29_fsx_zoo.yaml"])
def test_the_work_of_a_check_grows_in_line_with_the_number_of_files(tmp_path: Path, name: str) -> None:
    def of(copies: int) -> int:
        folder = copied(tmp_path / str(copies), name, copies)
        return calls(lambda: rules.check(template.read(folder)))

    of(1)  # loads the catalogues
    few, some, many = of(4), of(8), of(16)
    assert (many - some) / (some - few) == pytest.approx(2, rel=0.02)


def test_the_work_of_a_review_grows_in_line_with_the_number_of_files(tmp_path: Path) -> None:
    def side(folder: Path) -> Side:
        found = assembly.read(folder)
        return Side(assembly=found, deployment=template.decode(found), findings=())

    def of(copies: int) -> int:
        change = ("StorageCapacity: 1200", "StorageCapacity: 2400")
        base = copied(tmp_path / f"{copies}/base", "29_fsx_zoo.yaml", copies)
        head = copied(tmp_path / f"{copies}/head", "29_fsx_zoo.yaml", copies, change)
        return calls(lambda: review.of(side(base), side(head)).changes)

    of(1)  # loads the catalogues
    few, some, many = of(4), of(8), of(16)
    assert (many - some) / (some - few) == pytest.approx(2, rel=0.05)
