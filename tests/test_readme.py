"""What README shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_constructs import rules

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS: list[tuple[str, str]] = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)


def block(language: str, number: int = 0) -> str:
    return [text for kind, text in BLOCKS if kind == language][number]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CDK_VALIDATION": "false"}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_the_first_command_prints_what_it_shows() -> None:
    command, _, shown = block("console").partition("hyperpod check ")[2].partition("\n")
    ran = run("-m", "hyperpod_constructs.cli", "check", *command.split())
    assert ran.returncode == 1
    assert ran.stdout.startswith(shown)


def test_the_whole_app_is_the_app() -> None:
    docstring, _, code = (ROOT / "app.py").read_text().partition('"""\n\n')
    assert docstring
    assert block("python") == code


def test_the_refused_mistake_is_refused_in_those_words() -> None:
    ran = run("-c", block("python", 2))
    assert ran.returncode == 1
    shown = block("text")
    assert ran.stderr.endswith(shown)


def test_every_make_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make (\w+)`", README):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_every_command_exists() -> None:
    for command in set(re.findall(r"`hyperpod ([\w-]+)", README)):
        assert run("-m", "hyperpod_constructs.cli", command, "--help").returncode == 0, command


def test_every_rule_it_names_exists() -> None:
    named = set(re.findall(r"HP\d{4}", README))
    assert named
    assert named <= rules.RULES.keys()


@pytest.mark.parametrize(
    "path", re.findall(r"`((?:examples|hyperpod_constructs|rules|model|cdk|tools)/[\w./]+)`", README)
)
def test_every_file_it_names_exists(path: str) -> None:
    assert (ROOT / path).exists() or (ROOT / "hyperpod_constructs" / path).exists()
