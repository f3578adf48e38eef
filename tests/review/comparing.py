"""Reviews of real apps, each synthesized once a session, and comments that are kept beside the tests.

`REVIEW_RENEW=1` writes the comments again: read what changed before it is committed.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import aws_cdk as cdk

from hyperpod_constructs.catalog.updates import RECIPES
from hyperpod_constructs.cli import inputs
from hyperpod_constructs.review import review
from hyperpod_constructs.review.impacts import Change, Impact, Verdict
from hyperpod_constructs.review.live import snapshot as snapshots
from hyperpod_constructs.review.policy import WORDS, FailOn
from hyperpod_constructs.review.report import markdown, page
from hyperpod_constructs.review.review import Review, Side

Make: TypeAlias = Callable[[cdk.App], object]
"""Fills an app; it is what an app is known by, so one that is used twice has a name."""
Template: TypeAlias = dict[str, Any]
Told: TypeAlias = str
"""Path, property and impact of a change, with blanks between."""

NOW: Final = datetime(2026, 11, 30, 10, 10, tzinfo=UTC)
"""An hour after the snapshots of `tests.review.snapshots`."""
COMMENTS: Final = Path(__file__).parent / "comments"
QUIET: Final = frozenset({Impact.CREATED, Impact.REMOVED, Impact.IN_PLACE})
"""What happens to changes of which a pair names only those that matter to it."""
_FLAGS: Final = Path(__file__).parents[2] / "cdk.json"
_made: dict[Make, Path] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What an app synthesizes with another template of one stack, for what the constructs refuse to write.

    Attributes:
        app: The app.
        stack: Id of the stack.
        edit: Changes its template.
    """

    app: Make
    stack: str
    edit: Callable[[Template], None]


Source: TypeAlias = Make | Edited | Mapping[str, Template]
"""An app, an edited one, or JSON files by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two versions of a deployment and what is said of the way from one to the other.

    Attributes:
        name: Name of the comment's file.
        base: The version that is deployed.
        head: The version that is proposed.
        verdict: The verdict.
        loud: Every change but for the quiet ones, see `QUIET`.
        quiet: Those of the quiet ones that matter here.
        holds: Every word of `--fail-on` that holds.
        never: Texts that would be false, so that the comment must not have them.
        live: A snapshot of what runs.
    """

    name: str
    base: Source
    head: Source
    verdict: Verdict
    loud: tuple[Told, ...] = ()
    quiet: tuple[Told, ...] = ()
    holds: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    live: dict[str, Any] | None = None


def check(pair: Pair, apps: Path, folder: Path) -> Review:
    """Reviews a pair and compares all that is known of it.

    Args:
        pair: The pair.
        apps: Where apps are synthesized.
        folder: An empty folder for the rest.
    """
    live = folder / "snapshot.json" if pair.live else None
    if live:
        live.write_text(json.dumps(pair.live), encoding="utf-8")
    found = reviewed(_written(pair.base, apps, folder / "base"), _written(pair.head, apps, folder / "head"), live)
    loud = {_told(change) for change in found.changes if change.impact not in QUIET}
    assert (found.verdict, sorted(loud)) == (pair.verdict, sorted(pair.loud))
    assert not set(pair.quiet) - set(map(_told, found.changes))
    assert holding(found) == pair.holds
    assert not [text for text in pair.never if text in comment(found)]
    assert silent(found) == []
    check_comment(found, pair.name)
    return found


def silent(found: Review) -> list[Change]:
    """Changes that stop or cost somebody something and do not say what to do about it."""
    harmless = {Verdict.UNCHANGED, Verdict.SAFE}
    loud = [each for each in found.changes if each.verdict not in harmless]
    return [each for each in loud if not each.effect.action or each.effect.recipe not in {None, *RECIPES}]


def _told(change: Change) -> Told:
    return " ".join(filter(None, (change.path, change.property_name, change.impact.value)))


def holding(found: Review) -> tuple[str, ...]:
    """The words of `--fail-on` that hold."""
    return tuple(word for word in WORDS if FailOn(words=frozenset({word})).reasons(found))


def synthesized(make: Make, outdir: Path) -> Path:
    """The cdk.out of an app.

    Args:
        make: Fills the app. One that was there before in this session is not synthesized again.
        outdir: Where folders for the output are made.
    """
    if make not in _made:
        folder = outdir / f"app-{len(_made)}"
        app = cdk.App(context=json.loads(_FLAGS.read_text(encoding="utf-8"))["context"], outdir=str(folder))
        make(app)
        app.synth()
        _made[make] = folder
    return _made[make]


def reviewed(base: Path, head: Path, live: Path | None = None, now: datetime = NOW) -> Review:
    """The review of two assemblies or templates, as `hyperpod review` makes it, with the prices of the package."""
    running = snapshots.read(live) if live else None
    return review.of(_side(base), _side(head), live=running, now=now)


def comment(found: Review) -> str:
    """What is posted to a pull request."""
    return "\n".join(markdown.lines(page.of(found))) + "\n"


def check_comment(found: Review, name: str) -> None:
    """Compares a comment with the file that is kept of it.

    Args:
        found: The review.
        name: Name of the file without its ending.
    """
    file, said = COMMENTS / f"{name}.md", comment(found)
    if os.environ.get("REVIEW_RENEW") == "1":
        COMMENTS.mkdir(exist_ok=True)
        file.write_text(said, encoding="utf-8")
    kept = file.read_text(encoding="utf-8") if file.is_file() else ""
    differences = difflib.unified_diff(kept.splitlines(), said.splitlines(), str(file), "now", lineterm="", n=1)
    assert kept == said, "\n".join(differences)


def _written(source: Source, apps: Path, folder: Path) -> Path:
    """Where the files of a source are."""
    if isinstance(source, Mapping):
        folder.mkdir()
        for name, content in source.items():
            (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        return folder
    if not isinstance(source, Edited):
        return synthesized(source, apps)
    shutil.copytree(synthesized(source.app, apps), folder)
    file = folder / f"{source.stack}.template.json"
    template = json.loads(file.read_text(encoding="utf-8"))
    source.edit(template)
    file.write_text(json.dumps(template), encoding="utf-8")
    return folder


def _side(path: Path) -> Side:
    source = inputs.read(str(path), None)
    return Side(assembly=source.read, deployment=source.deployment, findings=inputs.judge(source).findings)
