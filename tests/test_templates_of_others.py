"""`hyperpod check` on templates of others: no error where there is no mistake, and no mistake lost again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.model import template
from tests.templates_of_others.renew import found

HERE = Path(__file__).parent / "templates_of_others"
LEGAL = sorted((HERE / "legal").iterdir())
BROKEN: dict[str, list[str]] = json.loads((HERE / "broken.json").read_text())


@pytest.mark.parametrize("with_region", [False, True], ids=["no Region", "Region"])
@pytest.mark.parametrize("path", LEGAL, ids=lambda path: path.name)
def test_a_legal_template_draws_no_error(path: Path, *, with_region: bool) -> None:
    text = "".join(file.read_text() for file in (path.iterdir() if path.is_dir() else [path]))
    region = _region_of(text) if with_region else None
    errors = [finding for finding in rules.check(template.read(path, region=region)) if finding.severity.stops]
    assert errors == []


def _region_of(text: str) -> str:
    """The Region that a template is written for."""
    if "arn:aws-us-gov:" in text:
        return "us-gov-west-1"
    return "us-east-1" if "use1-" in text or "us-east-1" in text else "us-west-2"


@pytest.mark.parametrize("name", BROKEN)
def test_what_was_found_once_is_found_again(name: str) -> None:
    assert found(HERE / "broken" / name) == BROKEN[name]


def test_every_broken_template_is_listed() -> None:
    assert sorted(BROKEN) == sorted(file.name for file in (HERE / "broken").iterdir())


def test_what_is_not_found_is_legal_in_the_region_of_this_test() -> None:
    missed = {name for name, listed in BROKEN.items() if not listed and not name.startswith("clean_")}
    elsewhere = {"f3_region_lacks_type.yaml", "g_plan_other_region.yaml", "i09_region.yaml"}
    assert missed == elsewhere


@pytest.mark.parametrize(
    ("name", "region", "rule"),
    [
        ("f3_region_lacks_type.yaml", "eu-west-3", "HP1019"),
        ("g_plan_other_region.yaml", "eu-north-1", "HP1101"),
        ("i09_region.yaml", "eu-central-2", "HP0010"),
    ],
)
def test_what_is_legal_in_one_region_is_found_in_another(name: str, region: str, rule: str) -> None:
    findings = rules.check(template.read(HERE / "broken" / name, region=region))
    assert rule in {finding.rule for finding in findings}
