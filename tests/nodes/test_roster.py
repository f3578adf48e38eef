"""How steps come by the roster when AWS, or the node's own disk, does not do what it should."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from hyperpod_node import host, roster

STEP = host.Step("spares", {"parameter": "/hyperpod/Frontier/roster"}, "Frontier", "head", {})
LAST = {"version": 1, "nodes": {"old": {}}}
NEW = {"version": 1, "nodes": {"new": {}}}
WHERE = "s3://bucket/roster.json"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A node's folder with a last good copy; the bucket has a newer one."""
    monkeypatch.setattr(roster, "DATA", tmp_path)
    roster.keep(STEP, json.dumps(LAST).encode())
    monkeypatch.setattr(host, "download", lambda _, to, **__: to.write_text(json.dumps(NEW)))
    return tmp_path


def answer(monkeypatch: pytest.MonkeyPatch, what: str | Exception) -> None:
    def aws(*_: Any, **__: Any) -> str:
        if isinstance(what, Exception):
            raise what
        return what

    monkeypatch.setattr(host, "aws", aws)


@pytest.mark.parametrize("said", [f"{WHERE}\n", f"Note: AWS CLI v1 enters maintenance mode\n{WHERE}\n"])
def test_the_line_that_names_the_file_is_taken(data: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    del data
    answer(monkeypatch, said)
    content, away = roster.fetch(STEP)
    assert (json.loads(content), away) == (NEW, "")


ODD = [
    "",
    "None\n",
    host.Failure("aws ssm get-parameter failed with code 254: AccessDeniedException"),
    host.Failure("aws ssm get-parameter failed with code 254: ParameterNotFound"),
    host.Failure("aws ssm get-parameter did not end within 30 s"),
]


@pytest.mark.parametrize("said", ODD)
def test_an_odd_answer_leaves_the_last_good_copy_in_force(
    data: Path, monkeypatch: pytest.MonkeyPatch, said: str | Exception
) -> None:
    del data
    answer(monkeypatch, said)
    content, away = roster.fetch(STEP)
    assert json.loads(content) == LAST
    assert "/hyperpod/Frontier/roster" in away


@pytest.mark.parametrize(("said", "kind"), [*((odd, host.Mistake) for odd in ODD[:-1]), (ODD[-1], host.NotYet)])
def test_without_a_copy_it_is_a_mistake_or_tried_again(
    data: Path, monkeypatch: pytest.MonkeyPatch, said: str | Exception, kind: type[Exception]
) -> None:
    (data / "spares.last.json").unlink()
    answer(monkeypatch, said)
    with pytest.raises(kind, match="publish the roster, or let the nodes' role read it"):
        roster.fetch(STEP)


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC, errno.ENOENT])
def test_a_disk_that_is_full_or_read_only_leaves_the_last_good_copy_in_force(
    data: Path, monkeypatch: pytest.MonkeyPatch, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    del data

    def fail(*_: Any, **__: Any) -> bool:
        raise OSError(code, "no")

    answer(monkeypatch, WHERE)
    monkeypatch.setattr(host, "download", fail)
    monkeypatch.setattr(host, "remove", fail)
    content, away = roster.fetch(STEP)
    assert json.loads(content) == LAST
    assert f"{WHERE} cannot be read" in away

    def refuse(*_: Any, **__: Any) -> bool:
        raise host.Failure("/var/lib/hyperpod/spares.last.json cannot be written: No space left on device")

    monkeypatch.setattr(host, "write", refuse)
    roster.keep(STEP, content)
    assert "warning: there will be no new copy of the roster" in capsys.readouterr().out
