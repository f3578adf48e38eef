"""What is said of changes to clusters on Slurm and to the stacks around them, by the pairs of `pairs_slurm`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperpod_constructs.cli import main
from tests.review import comparing
from tests.review.comparing import Pair
from tests.review.pairs_slurm import ON_DEMAND, ON_PLAN, PAIRS, REFUSED, RESEARCH, SPREAD

MOST_LINES = 40
"""What is read in thirty seconds."""


@pytest.fixture(scope="session")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where apps are synthesized, each once."""
    return tmp_path_factory.mktemp("apps")


@pytest.mark.parametrize("pair", [pytest.param(pair, id=pair.name) for pair in (*PAIRS, *SPREAD)])
def test_a_change_is_what_is_said_of_it(pair: Pair, apps: Path, tmp_path: Path) -> None:
    found = comparing.check(pair, apps, tmp_path)
    assert len(comparing.comment(found).splitlines()) < MOST_LINES


def test_every_kept_comment_has_a_pair() -> None:
    kept = {file.stem for file in comparing.COMMENTS.glob("s*.md") if file.stem.startswith(("slurm-", "spread-"))}
    assert kept == {pair.name for pair in (*PAIRS, *SPREAD)}


@pytest.mark.parametrize("app", [ON_DEMAND, ON_PLAN, RESEARCH], ids=["on-demand", "on-plan", "research"])
def test_an_app_is_unchanged_beside_itself_and_beside_its_own_order(
    app: comparing.Make, apps: Path, tmp_path: Path
) -> None:
    out = comparing.synthesized(app, apps)
    reordered = tmp_path / "reordered"
    reordered.mkdir()
    for file in out.glob("*.json"):
        (reordered / file.name).write_text(json.dumps(_backwards(json.loads(file.read_text(encoding="utf-8")))))
    for head in (out, reordered):
        found = comparing.reviewed(out, head)
        assert (found.verdict, found.changes, found.widened, found.new) == ("unchanged", (), (), ())


def _backwards(value: object) -> object:
    """The same with every mapping and every list of groups the other way round."""
    if isinstance(value, dict):
        return {
            key: _backwards(each[::-1] if key == "InstanceGroups" else each) for key, each in reversed(value.items())
        }
    return [_backwards(each) for each in value] if isinstance(value, list) else value


class TestCommand:
    def test_a_head_that_its_own_app_refused_is_not_reviewed(
        self, apps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        base = comparing.synthesized(RESEARCH, apps)
        head = tmp_path / "refused"
        with pytest.raises(RuntimeError, match="ValidationFailed"):
            comparing.synthesized(REFUSED, head)
        (out,) = head.iterdir()
        capsys.readouterr()
        assert main(["review", str(base), str(out), "--format", "markdown"]) == 2
        said = capsys.readouterr()
        assert not said.out
        assert "HP3001" in said.err
        assert "must not be deployed" in said.err

    def test_a_path_that_cannot_be_read_is_exit_code_2(
        self, apps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        base = comparing.synthesized(RESEARCH, apps)
        assert main(["review", str(base), str(tmp_path / "nowhere")]) == 2
        said = capsys.readouterr()
        assert not said.out
        assert "nowhere" in said.err
