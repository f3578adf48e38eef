"""docs/eks.md can be copied: its blocks, one after the other, are a program that synthesizes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCKS: list[str] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "eks.md").read_text(), flags=re.DOTALL)


def test_its_blocks_are_a_program_and_nothing_is_wrong_with_what_it_makes(tmp_path: Path) -> None:
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    environment = {**os.environ, "CDK_OUTDIR": str(tmp_path), "CDK_CONTEXT_JSON": json.dumps(context)}
    environment.pop("CDK_VALIDATION", None)
    ran = subprocess.run(
        [sys.executable, "-c", "".join(BLOCKS)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert len(BLOCKS) == 6
    report = json.loads((tmp_path / "validation-report.json").read_text())
    found = {
        (violation["ruleName"], violation["severity"])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
    }
    assert {rule for rule, severity in found if severity != "info"} == set()
    assert len(list(tmp_path.glob("*.template.json"))) == 3
