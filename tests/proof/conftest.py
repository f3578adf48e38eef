"""The table of faults that `make proof` prints at its end; and a proof of which a part was skipped has failed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.proof.emulator.aws import Aws
    from tests.proof.emulator.deployed import Deployed

_ROWS = "HYPERPOD_FAULTS"
"""Environment variable with the file that all test processes add rows to; children of pytest-xdist inherit it."""


class Faults:
    """Faults that a test injected and that the cluster survived."""

    def __init__(self, rows: Path) -> None:
        self._rows = rows

    def survived(self, fault: str, seen: str, seconds: float) -> None:
        """Adds a row: what was broken, what was seen then, and how long that took."""
        with self._rows.open("a") as rows:
            rows.write(json.dumps([fault, seen, seconds]) + "\n")  # one short write, so processes do not mix


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        handle, path = tempfile.mkstemp(prefix="hyperpod-faults-")
        os.close(handle)
        os.environ[_ROWS] = path


@pytest.fixture(scope="session")
def faults() -> Faults:
    """Where tests write down what was survived."""
    return Faults(Path(os.environ[_ROWS]))


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aws]:
    """An account in which the CDK is bootstrapped."""
    from tests.proof.emulator.aws import Aws

    account = Aws(tmp_path_factory.mktemp("aws"))
    account.start()
    yield account
    account.stop()


@pytest.fixture
def new(aws: Aws) -> Iterator[Callable[[str], Deployed]]:
    """Names a cluster of which nothing exists yet."""
    from tests.proof.emulator.deployed import Deployed

    aws.play()
    yield lambda name: Deployed(aws, name)
    aws.play()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows = [json.loads(line) for line in Path(os.environ[_ROWS]).read_text().splitlines()]
    if rows:
        terminalreporter.section("faults injected and survived")
        width = max(len(fault) for fault, _, _ in rows)
        for fault, seen, seconds in sorted(rows):
            terminalreporter.write_line(f"{fault:<{width}}  {seconds:5.1f} s  {seen}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """What needs root, namespaces or Slurm is the proof: without it the run is not green."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # an xdist worker's counts are its controller's
        return
    skipped = len(reporter.stats.get("skipped", ()))
    if skipped and session.exitstatus == pytest.ExitCode.OK and not hasattr(session.config, "workerinput"):
        reporter.write_line(f"{skipped} proofs did not run, see the reasons: this run has failed", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        Path(os.environ[_ROWS]).unlink(missing_ok=True)
