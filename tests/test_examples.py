"""Every example synthesizes, in a process of its own as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ELSEWHERE = {"eks"}
"""Those that tests of blueprints synthesize, with three other tools on their templates; app.py is another one."""
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.stem not in ELSEWHERE]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_synthesizes_without_an_error(example: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "CDK_OUTDIR": str(tmp_path), "CDK_VALIDATION": "false"}
    ran = subprocess.run(
        [sys.executable, str(example)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert list(tmp_path.glob("*.template.json"))


def test_the_smoke_example_costs_less_than_three_dollars_an_hour(tmp_path: Path) -> None:
    environment = {**os.environ, "CDK_OUTDIR": str(tmp_path), "CDK_VALIDATION": "false"}
    subprocess.run([sys.executable, "examples/smoke.py"], cwd=ROOT, env=environment, check=True, capture_output=True)
    ran = subprocess.run(
        [sys.executable, "-m", "hyperpod_constructs.cli", "cost", str(tmp_path), "--format", "json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    cost = json.loads(ran.stdout)
    assert 0 < cost["usd_per_hour"] < 3
    assert cost["estimate"] is True
