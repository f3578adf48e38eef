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
    region = ("us-east-1" if "use1-" in text else "us-west-2") if with_region else None
    errors = [finding for finding in rules.check(template.read(path, region=region)) if finding.severity.stops]
    assert errors == []


@pytest.mark.parametrize("name", BROKEN)
def test_what_was_found_once_is_found_again(name: str) -> None:
    assert found(HERE / "broken" / name) == BROKEN[name]


def test_every_broken_template_is_listed() -> None:
    assert sorted(BROKEN) == sorted(file.name for file in (HERE / "broken").iterdir())


def test_most_mistakes_are_found() -> None:
    mistakes = {name: listed for name, listed in BROKEN.items() if not name.startswith("clean_")}
    assert sum(map(bool, mistakes.values())) / len(mistakes) > 0.7
