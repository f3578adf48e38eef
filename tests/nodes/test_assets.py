"""What is shipped to nodes, as text: it fetches and installs nothing, and old Pythons and bash understand it."""

from __future__ import annotations

import ast
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from hyperpod_node import host

ASSETS: Final = Path(__file__).parents[2] / "hyperpod_constructs/assets/lifecycle"
DOCS: Final = Path(__file__).parents[2] / "docs/nodes.md"
FILES: Final = sorted(path for path in ASSETS.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
PYTHON: Final = [path for path in FILES if path.suffix == ".py"]
BASH: Final = [
    path for path in FILES if path.read_bytes().startswith((b"#!/bin/bash", b"#!/bin/sh", b"#!/usr/bin/env bash"))
]
REFERENCE_LINES: Final = 5_410
"""Lines of AWS's own lifecycle scripts (base-config)."""
_URL: Final = re.compile(r"(?<![\w.])(?!s3:)(?!ldaps?:)(?!unix:)[a-z][a-z0-9+.-]*://|\bgit@|\bwww\.", re.IGNORECASE)
_INSTALLS: Final = re.compile(
    r"\b(apt|apt-get|aptitude|yum|dnf|zypper|apk|snap|pip3?|pipx|uv|conda|npm|gem|cargo|go|brew|easy_install)\s+(-\S+\s+)*"
    r"(install|add|get|download|upgrade|update)\b"
    r"|\bdpkg\s+(-i|--install)|\brpm\s+(-i|-U|--install|--upgrade)|\b(curl|wget)\b|\bgit\s+clone\b|\bdocker\s+pull\b"
    r"|\burllib\b|\bhttp\.client\b|\brequests\b|\bsocket\.gethostbyname\b",
    re.IGNORECASE,
)
_TOO_NEW: Final = {
    "removeprefix",
    "removesuffix",
    "readlink",
    "is_relative_to",
    "hardlink_to",
    "cache",
    "pairwise",
    "walk",
}
"""Attributes that Python 3.8 does not have."""


def fetches(text: str) -> list[str]:
    """Places of a text that name something to fetch, or install it, be it in a comment or as a list of arguments."""
    plain = re.sub(r"[\"',()\[\]]+", " ", text)
    return [match.group(0) for match in (*_URL.finditer(text), *_INSTALLS.finditer(plain))]


def count_lines() -> int:
    """Lines of code that are shipped to nodes."""
    return sum(len(path.read_text().splitlines()) for path in FILES)


def _names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ASSETS)) for path in paths]


@pytest.mark.parametrize("path", FILES, ids=_names(FILES))
def test_no_shipped_file_names_a_url_or_installs_a_package(path: Path) -> None:
    assert fetches(path.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "curl -sO x",
        "# see https://example.com",
        'host.run("apt-get", "-y", "install", "jq")',
        "pip3 install --user x",
        "dnf -y install jq",
        "rpm -i x.rpm",
        "git clone x",
        "import urllib.request",
        "git@github.com:x",
    ],
)
def test_the_search_for_what_fetches_finds(text: str) -> None:
    assert fetches(text)


@pytest.mark.parametrize(
    "text", ["s3://bucket/key", "ldaps://ad.example", 'host.run("apt-mark", "hold", x)', "*.amazonaws.com"]
)
def test_the_search_for_what_fetches_leaves_alone(text: str) -> None:
    assert not fetches(text)


@pytest.mark.parametrize("path", PYTHON, ids=_names(PYTHON))
def test_shipped_python_is_valid_for_python_3_8(path: Path) -> None:
    tree = ast.parse(path.read_text(), str(path), feature_version=(3, 8))
    imports = [each for each in tree.body if isinstance(each, ast.ImportFrom)]
    assert len(tree.body) < 2 or imports[0].module == "__future__"
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not used & (_TOO_NEW - {"walk"})
    evaluated = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.Call)]
    assert not [
        ast.unparse(node) for node in evaluated if re.search(r"(?<!\w)(dict|list|tuple|set)\[", ast.unparse(node))
    ]


@pytest.mark.parametrize("path", PYTHON, ids=_names(PYTHON))
def test_shipped_python_imports_only_the_standard_library_and_itself(path: Path) -> None:
    tree = ast.parse(path.read_text())
    found = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert found <= {*sys.stdlib_module_names, "hyperpod_node"}


@pytest.mark.parametrize("path", BASH, ids=_names(BASH))
def test_shipped_bash_passes_shellcheck_and_its_formatter(path: Path) -> None:
    programs = Path(sys.executable).parent
    for command in (["shellcheck"], ["shfmt", "-d", "-i", "2"]):
        ran = subprocess.run([programs / command[0], *command[1:], path], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_shipped_file_has_line_ends_of_windows_or_tabs() -> None:
    assert not [path for path in FILES if b"\r" in path.read_bytes() or b"\t" in path.read_bytes()]


def test_node_code_stays_far_below_the_scripts_that_it_replaces() -> None:
    assert 0 < count_lines() < REFERENCE_LINES


def test_docs_state_the_lines_of_node_code() -> None:
    stated = re.search(r"\b([\d,]+) lines of node code\b", DOCS.read_text())
    assert stated is not None, f"docs/nodes.md must say `{count_lines():,} lines of node code`"
    assert int(stated.group(1).replace(",", "")) == count_lines()


def test_docs_state_every_exit_code_and_no_other() -> None:
    rows = re.findall(r"^\| (\d+(?:, \d+)*) \|", DOCS.read_text(), re.MULTILINE)
    codes = {host.FAILED, host.BAD_INPUTS, host.TRY_AGAIN, host.MISTAKE, host.TIMED_OUT}
    stopped = {128 + ending for ending in (signal.SIGINT, signal.SIGTERM)}
    assert {int(code) for row in rows for code in row.split(", ")} == {0, *codes, *stopped}
