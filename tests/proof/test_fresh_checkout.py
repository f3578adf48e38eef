"""README's commands on a checkout in which nothing was installed by hand, in a folder with a space in its name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def make(checkout: Path, target: str) -> subprocess.CompletedProcess[str]:
    """Runs a target as a user would: without the environment of the tests."""
    ours = {"CDK_VALIDATION", "JSII_NODE", "PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    environment["PATH"] = environment["PATH"].replace(str(Path(sys.executable).parent) + os.pathsep, "")
    return subprocess.run(
        ["make", target], cwd=checkout, env=environment, capture_output=True, text=True, check=False, timeout=900
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is committed, and nothing else."""
    folder = tmp_path_factory.mktemp("fresh") / "a checkout"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    return folder


@pytest.mark.proof
class TestAFreshCheckout:
    def test_make_synth_sets_itself_up_and_prints_the_summary(self, checkout: Path) -> None:
        ran = make(checkout, "synth")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert (checkout / "cdk.out" / "Frontier.template.json").is_file()
        assert "30 usable, 2 spare" in ran.stdout
        assert "ml.p5.48xlarge for cluster usage" in ran.stdout

    def test_a_second_set_up_installs_nothing(self, checkout: Path) -> None:
        before = sorted((path, path.stat().st_mtime_ns) for path in (checkout / ".venv" / "bin").iterdir())
        ran = make(checkout, "setup")
        assert (ran.returncode, ran.stdout) == (0, "")
        assert before == sorted((path, path.stat().st_mtime_ns) for path in (checkout / ".venv" / "bin").iterdir())

    def test_a_refused_app_leaves_no_assembly_that_looks_good(self, checkout: Path) -> None:
        app = checkout / "app.py"
        good = app.read_text()
        try:
            app.write_text(good.replace("count=30", "count=33"))
            ran = make(checkout, "synth")
        finally:
            app.write_text(good)
        assert ran.returncode != 0
        assert "HP1107" in ran.stdout + ran.stderr
        assert not (checkout / "cdk.out").exists()
