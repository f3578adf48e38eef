"""The generated files against the development dependencies they were made from."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from hyperpod_constructs.catalog import instances

ROOT = Path(__file__).parents[2]
CATALOG = ROOT / "hyperpod_constructs" / "catalog"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """tools/catalog/build.py as a module."""
    spec = importlib.util.spec_from_file_location("catalog_build", ROOT / "tools" / "catalog" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_catalogue_has_every_type_that_the_installed_botocore_has(build: ModuleType) -> None:
    missing = sorted(set(build.enum_members()) - set(instances.names()))
    assert missing == [], f"{', '.join(missing)}: run python tools/catalog/build.py"


def test_the_catalogue_has_no_type_that_the_installed_botocore_lacks(build: ModuleType) -> None:
    gone = sorted(set(instances.names()) - set(build.enum_members()))
    assert gone == [], f"{', '.join(gone)}: run python tools/catalog/build.py"


@pytest.mark.parametrize("name", ["instances", "policies", "regions", "zones"])
def test_the_generator_reproduces_the_committed_file(build: ModuleType, name: str) -> None:
    same = getattr(build, name)() == (CATALOG / f"{name}.json").read_text(encoding="utf-8")
    assert same, f"{name}.json differs from its sources: run python tools/catalog/build.py"


def test_a_correction_that_its_source_has_made_is_reported(build: ModuleType) -> None:
    with pytest.raises(SystemExit, match="drop the correction"):
        build._correct("ml.trn2.48xlarge", {"accelerator": {"memory_gib_each": 96}})


def test_the_supplement_has_only_types_that_moto_lacks(build: ModuleType) -> None:
    assert [name for name in build.SUPPLEMENT if name.removeprefix("ml.") in build._described_types()] == []
