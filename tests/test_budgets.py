"""Speed, as far as it can be counted: messages to Node, and what importing starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

COUNTER = """
import json, runpy, sys
import aws_cdk as cdk
from jsii._kernel.providers.process import _NodeProcess

counts = {"build": 0, "synth": 0}
phase = "build"
send = _NodeProcess.send

def counted(self, request, *rest):
    counts[phase] += 1
    return send(self, request, *rest)

def synth(self, *args, **kwargs):
    global phase
    phase = "synth"
    return finish(self, *args, **kwargs)

finish = cdk.App.synth
cdk.App.synth = synth
source = sys.argv[1]
exec(compile("import aws_cdk, hyperpod_constructs as hp; [getattr(hp, name) for name in hp.__all__]", "warm", "exec"))
_NodeProcess.send = counted
exec(compile(source, "app", "exec"), {"__name__": "__main__"})
print(json.dumps(counts))
"""

GROUP = """
        hp.InstanceGroup.compute(
            "p5","""

SECOND_GROUP = """
        hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1),"""


def messages(source: str, tmp_path: Path) -> dict[str, int]:
    """Messages from `App()` to the last constructor, and of synth, with the flags that `cdk init` writes."""
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    environment = {
        **os.environ,
        "CDK_VALIDATION": "false",
        "CDK_OUTDIR": str(tmp_path),
        "CDK_CONTEXT_JSON": json.dumps(context),
    }
    ran = subprocess.run(
        [sys.executable, "-c", COUNTER, source],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    counts: dict[str, int] = json.loads(ran.stdout.splitlines()[-1])
    return counts


class TestMessagesToNode:
    """Budget: 150 for a Slurm blueprint with three groups, +2 a group, 20 for synth (design, section 6).

    The numbers are exact: a rise needs a reason in the commit that changes them.
    """

    def test_the_slurm_blueprint_with_three_groups(self, tmp_path: Path) -> None:
        assert messages((ROOT / "app.py").read_text(), tmp_path) == {"build": 147, "synth": 6}

    def test_one_more_group_costs_two(self, tmp_path: Path) -> None:
        source = (ROOT / "app.py").read_text()
        assert GROUP in source
        more = source.replace(GROUP, SECOND_GROUP + GROUP)
        first = messages(source, tmp_path / "one")["build"]
        assert messages(more, tmp_path / "two")["build"] - first == 2


class TestImports:
    @pytest.mark.parametrize("module", ["hyperpod_constructs", "hyperpod_constructs.cli"])
    def test_importing_loads_no_third_party_module(self, module: str) -> None:
        code = (
            f"import sys; before = set(sys.modules); import {module}; "
            "tops = {name.partition('.')[0] for name in set(sys.modules) - before}; "
            "print(*sorted(tops - sys.stdlib_module_names - {'hyperpod_constructs'}))"
        )
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == ""
