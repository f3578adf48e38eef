"""The training program as it runs on a node: a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

LAUNCH = Path(__file__).parents[2] / "hyperpod_constructs/assets/launch"
SLURM = ("SLURM", "HYPERPOD", "MASTER", "RANK", "LOCAL_RANK", "WORLD_SIZE")


class Trainer:
    """Starts `train.py` on a machine without PyTorch."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.without_torch = folder / "run", folder / "without-torch"
        self.without_torch.mkdir()
        (self.without_torch / "torch.py").write_text("raise ImportError('there is no PyTorch here')\n")
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *options: str, **environment: str) -> subprocess.Popen[str]:
        """Starts a process that checkpoints every 10 steps."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith(SLURM)}
        process = subprocess.Popen(
            [sys.executable, LAUNCH / "train.py", "--folder", self.folder, "--checkpoint-steps=10", *options],
            env={**clean, "PYTHONPATH": str(self.without_torch), "SLURM_JOB_ID": "7", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def run(self, *options: str, **environment: str) -> tuple[int, str]:
        """Runs one to its end; its exit code and all that it said."""
        process = self.start(*options, **environment)
        out, err = process.communicate(timeout=60)
        return process.returncode, out + err

    def until(self, process: subprocess.Popen[str], text: str) -> list[str]:
        """Lines that a process writes up to the first one with this text."""
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line.rstrip())
            if text in line:
                return said
        raise AssertionError(f"{text!r} was never said, but: {said}")

    def until_saved(self) -> None:
        """Waits for the first checkpoint."""
        until = time.monotonic() + 30
        while not self.checkpoints:
            assert time.monotonic() < until
            time.sleep(0.01)

    @property
    def checkpoints(self) -> list[str]:
        """Names of the checkpoints, the oldest first."""
        return sorted(file.name for file in self.folder.glob("step-*.ckpt"))


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[Trainer]:
    trainer = Trainer(tmp_path)
    yield trainer
    for process in trainer.started:
        process.kill()
        process.communicate()
