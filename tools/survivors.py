"""Turns each rule off and runs its tests: a rule that no test misses survives, and its tests are worth nothing.

    python -m tools.survivors [HP3013 ...]

Only the file of the rule's own tests is run (tests/rules/test_volumes.py for rules/volumes.py): the examples of the
rule pages and the templates of others would miss every rule, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import RULES, Problem

ROOT: Final = Path(__file__).resolve().parents[1]
TURNED_OFF: Final = "HYPERPOD_RULE_TURNED_OFF"
_TESTS_FAILED, _NO_TESTS = 1, 5


def pytest_configure() -> None:
    """Called by pytest, which loads this module as a plugin: the rule finds nothing any more."""
    off = os.environ[TURNED_OFF]
    RULES[off] = replace(RULES[off], check=_nothing)


def _nothing(_: Deployment) -> Iterator[Problem]:
    return iter(())


def tests_of(rule: str) -> Path:
    """The file of the tests of a rule."""
    return ROOT / "tests" / "rules" / f"test_{RULES[rule].check.__module__.rpartition('.')[2]}.py"


def survives(rule: str, tests: Path) -> bool:
    """Whether all of these tests pass without a rule.

    Raises:
        RuntimeError: if the tests could not be run.
    """
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command = [*pytest, "-p", "tools.survivors", str(tests)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, TURNED_OFF: rule}, capture_output=True, text=True, check=False
    )
    if done.returncode not in {0, _TESTS_FAILED, _NO_TESTS}:
        raise RuntimeError(f"{rule}: {tests} could not be run\n{done.stdout}{done.stderr}")
    return done.returncode != _TESTS_FAILED


def survivors(rules: list[str]) -> list[str]:
    """Those of some rules that no test misses."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        alive = pool.map(survives, rules, map(tests_of, rules))
        return [rule for rule, lives in zip(rules, alive, strict=True) if lives]


def main() -> int:
    """Prints the survivors; 1 if there are any."""
    asked = sys.argv[1:] or sorted(RULES)
    found = survivors(asked)
    for rule in found:
        print(f"{rule} survives: no test misses {RULES[rule].title!r}")
    print(f"{len(asked)} rules turned off one by one, {len(found)} survivors")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
