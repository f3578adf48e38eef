from __future__ import annotations

import os
from pathlib import Path

import pytest

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import files, ignoring
from tests.charts import small


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files.write(small.complete(), tmp_path / "chart")
    return tmp_path / "chart"


class TestRead:
    def test_has_every_file_by_name(self, folder: Path) -> None:
        assert files.read(folder) == dict(sorted(small.complete().items()))

    def test_the_lock_of_ours_is_no_part_of_the_chart(self, folder: Path) -> None:
        (folder / files.LOCK).write_text("{}")
        assert files.LOCK not in files.read(folder)

    def test_what_is_no_chart_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidValue, match=r"nothing is no folder; `hyperpod chart fetch --into DIR` writes one"):
            files.read(tmp_path / "nothing")
        with pytest.raises(InvalidValue, match=r"has no Chart\.yaml; use the folder of the chart itself"):
            files.read(tmp_path)

    def test_a_link_is_refused_even_inside(self, folder: Path) -> None:
        (folder / "templates" / "more.yaml").symlink_to("deployment.yaml")
        with pytest.raises(InvalidValue, match=r"more\.yaml is a link; put a copy of the file itself"):
            files.read(folder)

    def test_a_pipe_is_refused(self, folder: Path) -> None:
        os.mkfifo(folder / "pipe")
        with pytest.raises(InvalidValue, match="pipe is no regular file"):
            files.read(folder)

    def test_a_file_too_large_for_helm_is_refused(self, folder: Path) -> None:
        with (folder / "big").open("wb") as big:
            big.truncate(files.MOST_OF_A_FILE + 1)
        with pytest.raises(InvalidValue, match=r"big has more than 5,242,880 bytes.*\.helmignore"):
            files.read(folder)

    def test_too_many_files_are_refused(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "MOST_FILES", 3)
        with pytest.raises(InvalidValue, match="more than 3 files"):
            files.read(folder)

    def test_what_helmignore_names_is_left_out_even_where_it_is_a_link(self, folder: Path) -> None:
        (folder / ignoring.FILE).write_text("# editors\n*.swp\n/notes/\n")
        (folder / "values.yaml.swp").symlink_to("values.yaml")
        (folder / "notes").mkdir()
        (folder / "notes" / "todo").write_text("x")
        assert files.read(folder) == dict(sorted(small.complete().items()))


class TestDigest:
    def test_is_that_of_names_and_contents(self, folder: Path, tmp_path: Path) -> None:
        files.write(small.complete(), tmp_path / "other")
        whole = files.digest(files.read(folder))
        assert whole == files.digest(files.read(tmp_path / "other"))
        (folder / "values.yaml").write_bytes(b"{a: 1}\n")
        assert whole != files.digest(files.read(folder))

    def test_names_and_contents_do_not_run_into_each_other(self) -> None:
        assert files.digest({"a": b"b"}) != files.digest({"ab": b""})


class TestIgnoring:
    @pytest.mark.parametrize(
        ("pattern", "ignored", "kept"),
        [
            ("*.md", "charts/a/README.md", "README.md.yaml"),
            ("/README.md", "README.md", "charts/README.md"),
            ("docs/*.txt", "docs/a.txt", "docs/b/a.txt"),
            ("[^a]x", "bx", "ax"),
            ("!*.yaml", "a.md", "a.yaml"),
        ],
    )
    def test_patterns_mean_what_helm_says(self, pattern: str, ignored: str, kept: str) -> None:
        rules = ignoring.parse(pattern.encode())
        assert (rules(ignored, is_folder=False), rules(kept, is_folder=False)) == (True, False)

    def test_a_slash_at_the_end_is_for_folders(self) -> None:
        rules = ignoring.parse(b"docs/")
        assert (rules("docs", is_folder=True), rules("docs", is_folder=False)) == (True, False)

    def test_hidden_templates_are_never_read(self) -> None:
        assert ignoring.parse(b"")("templates/.swp", is_folder=False)

    def test_two_stars_are_refused_as_helm_does(self) -> None:
        with pytest.raises(InvalidValue, match=r"'a/\*\*', and Helm takes no"):
            ignoring.parse(b"a/**")
