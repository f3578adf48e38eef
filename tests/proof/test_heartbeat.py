"""What a heartbeat writes, read by Prometheus itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hyperpod_constructs.assets.launch.heartbeat import Heartbeat

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(shutil.which("promtool") is None, reason="needs the packages of tools/debian.sh"),
]


def test_is_what_prometheus_reads(tmp_path: Path) -> None:
    beat = Heartbeat("llm-7", str(tmp_path), user='a "b\\ c', rank=0, every=0.0)
    beat.beat(step=1, tokens=2, checkpoint_time=3.0)
    said = subprocess.run(
        ["promtool", "check", "metrics"], input=beat.file.read_text(), capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")
