"""Templates of any author before and after: verdict, changes, what stops the merge, and the comment."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.cli import inputs, price_files
from hyperpod_constructs.review import review
from hyperpod_constructs.review.policy import WORDS, FailOn
from hyperpod_constructs.review.review import Review, Side
from tests.review.comparing import check_comment, comment, silent
from tests.review.pairs_templates import PAIRS, Files, Pair

REGION = "us-west-2"
MOST_LINES = 40


def reviewed(pair: Pair, folder: Path) -> Review:
    """The review of a pair in the Region for which its author writes."""
    lists: tuple[PriceList, ...] = ()
    if pair.prices:
        file = folder / "prices.json"
        file.write_text(pair.prices, encoding="utf-8")
        lists = price_files.read(file)
    base, head = (_side(files, folder / name) for files, name in ((pair.base, "base"), (pair.head, "head")))
    return review.of(base, head, lists=lists)


def _side(files: Files, folder: Path) -> Side:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    source = inputs.read(str(folder if len(files) > 1 else folder / next(iter(files))), REGION)
    return Side(assembly=source.read, deployment=source.deployment, findings=inputs.judge(source).findings)


def changes(found: Review) -> dict[str, str]:
    """Impacts by what is changed, without the name of the file."""
    keys = [".".join(filter(None, (change.path, change.property_name))) for change in found.changes]
    return {key.partition("/")[2] or key: change.impact.value for key, change in zip(keys, found.changes, strict=True)}


@pytest.fixture(params=PAIRS)
def name(request: pytest.FixtureRequest) -> str:
    """Name of a pair."""
    found: str = request.param
    return found


@pytest.fixture
def pair(name: str) -> Pair:
    """The pair."""
    return PAIRS[name]


@pytest.fixture
def found(pair: Pair, tmp_path: Path) -> Review:
    """Its review."""
    return reviewed(pair, tmp_path)


def test_verdict_and_changes_are_what_happens(pair: Pair, found: Review) -> None:
    assert (found.verdict.value, changes(found)) == (pair.verdict, dict(pair.changes))


def test_the_merge_is_stopped_by_the_words_that_fit(pair: Pair, found: Review) -> None:
    holding = [word for word in WORDS if FailOn.parse(word).reasons(found)]
    if "cost" in pair.fails:
        assert FailOn.parse("cost=1e9").reasons(found)
        holding.append("cost")
    assert sorted(holding) == sorted(pair.fails)


def test_the_comment_says_it(pair: Pair, found: Review) -> None:
    said = comment(found)
    assert [text for text in pair.says if text not in said] == []


def test_the_comment_is_the_one_that_was_read(name: str, found: Review) -> None:
    check_comment(found, f"template-{name}")


def test_what_is_not_safe_says_what_to_do(found: Review) -> None:
    assert silent(found) == []
    assert all(finding.fix for finding in found.stopping)


def test_the_comment_is_read_in_thirty_seconds(found: Review) -> None:
    lines = comment(found).splitlines()
    assert len(lines) < MOST_LINES
    assert found.verdict.value in lines[0].lower().split(":")[0].split()[:6]
