"""Ratios of speed within one run: this library against bare L1, `hyperpod check` against a bare Python.

Medians of interleaved runs. Times vary by up to two between machines and runs; ratios vary less.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hyperpod_constructs import rules
from hyperpod_constructs.model import template

ROOT = Path(__file__).resolve().parents[2]
RUNS = 7


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """How long a command takes; it must succeed."""
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def compare(title: str, ours: list[str], theirs: list[str], environment: dict[str, str]) -> str:
    """A table row: medians of both and their ratio, after one run of each that warms caches."""
    for command in (ours, theirs):
        seconds(command, environment)
    pairs = [(seconds(ours, environment), seconds(theirs, environment)) for _ in range(RUNS)]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    return f"| {title} | {mine:.2f} s | {other:.2f} s | {mine / other:.2f} |"


def many_copies(synthesized: Path) -> str:
    """A table row: a check of 100 copies of the largest template, against four times that of 25 copies."""
    largest = max(synthesized.glob("*.template.json"), key=lambda file: file.stat().st_size)
    many, few = (statistics.median(checked(largest, copies) for _ in range(RUNS)) for copies in (100, 25))
    return f"| check of 100 copies over 4 times 25 | {many:.2f} s | {4 * few:.2f} s | {many / few / 4:.2f} |"


def checked(file: Path, copies: int) -> float:
    """How long it takes to check so many copies of a template in one folder."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(copies):
            shutil.copy(file, Path(folder, f"{number}.json"))
        start = time.perf_counter()
        rules.check(template.read(folder))
        return time.perf_counter() - start


def main() -> None:
    """Prints the table."""
    python = sys.executable
    node = str(Path(python).parent / "node")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "JSII_NODE": node}
        finished = environment | {"CDK_OUTDIR": folder}
        subprocess.run([python, "app.py"], cwd=ROOT, env=finished, check=True, capture_output=True)
        rows = [
            compare(f"app.py over L1, engine {word}", [python, "app.py"], l1, environment | extra)
            for word, extra in (("on", {}), ("off", {"CDK_VALIDATION": "false"}))
            for l1 in ([python, "tools/bench/l1_app.py", folder],)
        ]
        check = [python, "-m", "hyperpod_constructs.cli", "check", folder]
        rows.append(
            compare("hyperpod check over import argparse", check, [python, "-c", "import argparse"], environment)
        )
        rows.append(many_copies(Path(folder)))
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, medians of {RUNS}\n")
    print("| what | ours | theirs | ratio |\n| --- | --- | --- | --- |")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
