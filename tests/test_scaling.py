"""`hyperpod check` of many files: twice as many take twice as much, counted in calls, which no machine changes."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import FrameType

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.model import template

LEGAL = Path(__file__).parent / "templates_of_others" / "legal"


def calls(folder: Path) -> int:
    """How many calls of Python functions and steps of generators it takes to check a folder."""
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        rules.check(template.read(folder))
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", ["01_slurm_params_mappings_conditions.yaml", "29_fsx_zoo.yaml"])
def test_the_work_grows_in_line_with_the_number_of_files(tmp_path: Path, name: str) -> None:
    def of(copies: int) -> int:
        folder = tmp_path / str(copies)
        folder.mkdir()
        for number in range(copies):
            shutil.copy(LEGAL / name, folder / f"{number}.yaml")
        return calls(folder)

    of(1)  # loads the catalogues
    few, some, many = of(4), of(8), of(16)
    assert (many - some) / (some - few) == pytest.approx(2, rel=0.02)
