"""Prints what becomes of some deployments, for a test that compares processes with different hash seeds."""

from __future__ import annotations

import hashlib
import re
import sys

from hypothesis import HealthCheck, Phase, given, settings

from tests.random.deployments import programs
from tests.random.kubernetes import on_eks
from tests.random.recipes import Program
from tests.random.running import run


def main(count: int) -> None:
    """Prints a line for each deployment: a digest of the program, and of its templates or of why it was refused."""
    lines: list[str] = []

    @given(programs(careful=True) | on_eks(careful=True))
    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def note(program: Program) -> None:
        ran = run(program, check=False)
        # A message may repeat a token, whose number is a counter of the whole process.
        refused = re.sub(r"TOKEN\.\d+", "TOKEN", str(ran.refused))
        became = refused if ran.refused else "\n".join(f"{key}\n{text}" for key, text in ran.templates.items())
        lines.append(f"{_digest(repr(program))} {_digest(became)}")

    note()
    sys.stdout.write("\n".join(lines) + "\n")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    main(int(sys.argv[1]))
