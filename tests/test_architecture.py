"""The boundaries between the rings, where import-linter cannot see them.

import-linter (`[tool.importlinter]` in pyproject.toml) checks which ring may import which. Here: which third-party
packages a ring may name at all, type-checking blocks included, and what an import really loads.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "hyperpod_constructs"

# A part of a ring, or else the ring, is looked up here; what is not listed is not a part of the design.
THIRD_PARTY_BY_RING = {
    "__init__.py": set(),
    "errors.py": set(),
    "findings.py": set(),
    "tokens.py": set(),
    "version.py": set(),
    "catalog": {"yaml"},
    "cloudformation": {"yaml"},
    "model": {"yaml"},
    "rules": {"yaml"},
    "planning": {"yaml"},
    "review": {"yaml"},
    "cdk": {"aws_cdk", "constructs", "jsii", "yaml"},
    "blueprints": {"aws_cdk", "constructs", "jsii", "yaml"},
    "account": {"yaml"},
    "account/gateway": {"boto3", "botocore"},
    "cli": {"yaml"},
    # What runs on nodes and is never imported by us: the standard library, and PyTorch where a job finds it.
    "assets": set(),
    "assets/launch": {"torch"},
    "assets/lifecycle": {"hyperpod_node"},
}


def test_every_entry_of_the_package_is_a_known_ring_or_module() -> None:
    entries = {path.name for path in PACKAGE.iterdir()} - {"__pycache__", "py.typed"}

    assert entries - THIRD_PARTY_BY_RING.keys() == set()


def test_every_ring_with_code_is_a_package_which_import_linter_can_see() -> None:
    rings = {path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE, *PACKAGE.glob("assets/**")}

    assert [str(ring) for ring in sorted(rings) if not (ring / "__init__.py").is_file()] == []


def test_a_ring_names_only_its_own_third_party_packages() -> None:
    assert list(_breaches()) == []


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("hyperpod_constructs", set()),
        # The command line reads YAML templates; it needs no Node and starts in a tenth of a second.
        ("hyperpod_constructs.cli", {"yaml", "_yaml"}),
    ],
)
def test_importing_loads_no_third_party_package(module: str, allowed: set[str]) -> None:
    assert _packages_loaded_by(module) - allowed == set()


def _breaches() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE)
        allowed = THIRD_PARTY_BY_RING.get("/".join(file.parts[:2])) or THIRD_PARTY_BY_RING.get(file.parts[0], set())
        for line, package in _imports(path):
            if package not in {*sys.stdlib_module_names, "hyperpod_constructs", *allowed}:
                yield f"{file}:{line} imports {package}"


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name.partition(".")[0]) for alias in names)
            case ast.ImportFrom(level=0, module=str(module)):
                yield node.lineno, module.partition(".")[0]


def _packages_loaded_by(module: str) -> set[str]:
    """Imports a module in a fresh process, because this one has pytest and more loaded already."""
    code = f"import sys; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names - {"hyperpod_constructs"}
