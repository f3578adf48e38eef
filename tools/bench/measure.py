"""How things are measured: interleaved pairs, medians, ratios; times vary by two between machines, ratios vary less."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PAIRS: Final = 7

_PEAK: Final = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
_MESSAGES: Final = """
import json, runpy, sys
from jsii._kernel.providers.process import _NodeProcess
count, send = 0, _NodeProcess.send
def counted(self, request, *rest):
    global count
    count += 1
    return send(self, request, *rest)
_NodeProcess.send = counted
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print(json.dumps(count))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One comparison.

    Attributes:
        what: What is compared.
        unit: Of both figures: `s`, `MiB` or `messages`.
        ours: Our figure, a median where it is a time.
        theirs: The other one.
    """

    what: str
    unit: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / self.theirs

    def as_data(self) -> dict[str, object]:
        """The row as JSON shows it."""
        return {**asdict(self), "ratio": round(self.ratio, 3)}

    def __str__(self) -> str:
        """The row of a markdown table."""
        ours, theirs = (f"{figure:,.2f} {self.unit}" for figure in (self.ours, self.theirs))
        return f"| {self.what} | {ours} | {theirs} | {self.ratio:.2f} |"


def compared(what: str, ours: Callable[[], float], theirs: Callable[[], float]) -> Row:
    """Medians of interleaved pairs, after one run of each that warms caches."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(PAIRS)]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Row(what=what, unit="s", ours=mine, theirs=other)


def run(command: Sequence[str], environment: dict[str, str]) -> Callable[[], float]:
    """Something to compare: the seconds that a command takes; it must succeed."""

    def seconds() -> float:
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=True, capture_output=True)
        return time.perf_counter() - start

    return seconds


def peak_mib(command: Sequence[str], environment: dict[str, str]) -> float:
    """Memory that the largest process of a command had at most, in MiB."""
    return int(_output(["-c", _PEAK, *command], environment)) / 1024


def messages(script: Sequence[str], environment: dict[str, str]) -> int:
    """Messages from Python to Node while a script runs, synth included."""
    return int(json.loads(_output(["-c", _MESSAGES, *script], environment).splitlines()[-1]))


def _output(arguments: Sequence[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout
