from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from hyperpod_constructs.cli import files


def test_writes_files_and_the_folders_they_need(tmp_path: Path) -> None:
    files.write({tmp_path / "a" / "b.json": "1", tmp_path / "c.json": "2"})
    assert [(tmp_path / name).read_text() for name in ("a/b.json", "c.json")] == ["1", "2"]


def test_replaces_a_file_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("old")
    files.write({file: "new"})
    assert (file.read_text(), [each.name for each in tmp_path.iterdir()]) == ("new", ["a.json"])


def test_others_may_read_it_as_the_user_s_umask_says(tmp_path: Path) -> None:
    files.write({tmp_path / "a.json": "1"})
    (tmp_path / "b.json").write_text("1")
    assert (tmp_path / "a.json").stat().st_mode == (tmp_path / "b.json").stat().st_mode


def test_what_cannot_be_written_is_named_and_leaves_no_part(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(OSError) as error:  # noqa: PT011  # the file it names is the point
        files.write({tmp_path / "a.json": "1"})
    assert error.value.filename == str(tmp_path / "a.json")
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_of_several_files_none_is_replaced_when_one_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    (tmp_path / "b.json").mkdir()
    with pytest.raises(IsADirectoryError):
        files.write({tmp_path / "a.json": "new", tmp_path / "b.json": "new"})
    assert (tmp_path / "a.json").read_text() == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "b.json"]


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    files.write({tmp_path / "link.json": "new"})
    assert (tmp_path / "real.json").read_text() == "new"
    assert (tmp_path / "link.json").is_symlink()


def test_what_is_no_regular_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    files.write({pipe: "text"})
    reader.join(timeout=5)
    assert (read, pipe.is_fifo()) == (["text"], True)


def test_a_user_who_stops_it_finds_nothing_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        files.write({tmp_path / "a.json": "1"})
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_itself_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to("a.json")
    with pytest.raises(OSError) as error:  # noqa: PT011  # the file it names is the point
        files.write({tmp_path / "a.json": "1"})
    assert (error.value.filename, (tmp_path / "a.json").is_symlink()) == (str(tmp_path / "a.json"), True)
