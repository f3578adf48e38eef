from __future__ import annotations

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
