"""What README and docs/eks.md have on EKS can be copied: README's block, and those of the page one after the other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def blocks(page: str) -> list[str]:
    """The programs and parts of programs on a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


def test_they_are_programs_and_nothing_is_wrong_with_what_they_make(tmp_path: Path) -> None:
    (readme,) = (each for each in blocks("README.md") if "EksTraining" in each)
    # Both in one app: to start Node and the engine takes longer than all the rest.
    parts = "".join((readme.replace("app.synth()\n", ""), *blocks("docs/eks.md"))).replace("app = cdk.App()", "")
    program = f"import aws_cdk as cdk\napp = cdk.App()\n{parts}"
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    environment = {**os.environ, "CDK_OUTDIR": str(tmp_path), "CDK_CONTEXT_JSON": json.dumps(context)}
    environment.pop("CDK_VALIDATION", None)
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    report = json.loads((tmp_path / "validation-report.json").read_text())
    found = {
        (violation["ruleName"], violation["severity"])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
    }
    assert {rule for rule, severity in found if severity != "info"} == set()
    assert sorted(path.name.partition(".")[0] for path in tmp_path.glob("*.template.json")) == [
        "Parts",
        "Research",
        "Research-Foundation",
        "Smallest",
        "Smallest-Foundation",
    ]
