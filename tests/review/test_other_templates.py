"""Templates that we did not write for ourselves, beside themselves, shuffled, and with one value that is another."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings, strategies as st

from hyperpod_constructs.cli import inputs
from hyperpod_constructs.cloudformation import document
from hyperpod_constructs.errors import UnreadableTemplate
from hyperpod_constructs.review import review as reviews
from hyperpod_constructs.review.impacts import Verdict
from hyperpod_constructs.review.report import data, markdown, page
from hyperpod_constructs.review.review import Review, Side
from tests.test_templates_of_others import LEGAL

Steps: TypeAlias = tuple[str | int, ...]
Edit: TypeAlias = Callable[[Any], Any]

ORDERED = frozenset({"InstanceTypes"})
"""Lists whose order means something."""
SECTIONS = ("Resources", "InstanceGroups", "RestrictedInstanceGroups")
"""What is deployed of a template, or of a create-cluster request."""


def rewritten(source: Path, target: Path, edit: Edit) -> Path:
    """A copy as JSON, in which each template is another."""
    if source.is_dir():
        target.mkdir(parents=True)
        for file in source.iterdir():
            rewritten(file, target / file.name, edit)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        body = document.load(source).body
    except UnreadableTemplate:
        shutil.copy(source, target)
    else:
        target.write_text(json.dumps(edit(body)), encoding="utf-8")
    return target


def shuffled(value: Any, key: str = "") -> Any:
    """The same in another order, where order means nothing."""
    if isinstance(value, dict):
        return {name: shuffled(value[name], name) for name in reversed(value)}
    if isinstance(value, list) and not key.startswith("Fn::") and key not in ORDERED:
        return [shuffled(item) for item in reversed(value)]
    return value


def review(base: Path, head: Path) -> Review:
    """The review, printed in every format."""
    found = reviews.of(side(base), side(head))
    assert markdown.lines(page.of(found))
    assert json.dumps(data.as_data(found), default=data.moment)
    return found


@cache
def side(path: Path) -> Side:
    """One side."""
    source = inputs.read(str(path), None)
    return Side(assembly=source.read, deployment=source.deployment, findings=inputs.judge(source).findings)


@pytest.mark.parametrize("path", LEGAL, ids=lambda path: path.name)
class TestTheSame:
    def test_is_unchanged(self, path: Path) -> None:
        found = review(path, path)
        assert (found.verdict, found.changes, found.widened, found.scripts) == (Verdict.UNCHANGED, (), (), ())

    def test_in_another_order_is_unchanged(self, path: Path, tmp_path: Path) -> None:
        found = review(path, rewritten(path, tmp_path / path.name, shuffled))
        assert (found.verdict, found.changes, found.widened, found.scripts) == (Verdict.UNCHANGED, (), (), ())


def leaves(value: Any, steps: Steps) -> Iterator[Steps]:
    """Where plain values stand that no intrinsic decides over."""
    if isinstance(value, dict):
        if not any(name.startswith("Fn::") or name in {"Ref", "Condition"} for name in value):
            for name, item in value.items():
                yield from leaves(item, (*steps, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(item, (*steps, place))
    elif value is not None:
        yield steps


def places() -> Iterator[tuple[Path, Steps]]:
    """Every value of a property of a lone template."""
    for path in (path for path in LEGAL if path.is_file()):
        body = document.load(path).body
        for name, resource in body.get("Resources", {}).items():
            if isinstance(resource, dict) and "Condition" not in resource:
                properties = resource.get("Properties", {})
                yield from ((path, steps) for steps in leaves(properties, ("Resources", name, "Properties")))


PLACES = [*places()]


def another(value: Any) -> Any:
    """A value that is certainly another."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"{value}x"


@given(st.sampled_from(PLACES))
@settings(max_examples=60)
def test_another_value_is_never_called_unchanged(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[Path, Steps]
) -> None:
    path, steps = place

    def edit(body: Any) -> Any:
        copy = at = json.loads(json.dumps(body))
        for step in steps[:-1]:
            at = at[step]
        at[steps[-1]] = another(at[steps[-1]])
        return copy

    head = rewritten(path, tmp_path_factory.mktemp("head") / path.name, edit)
    assert review(path, head).verdict is not Verdict.UNCHANGED
