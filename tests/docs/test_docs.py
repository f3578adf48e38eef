"""The generated documentation is what its generator writes, and the generator counts right."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_constructs.cli.rules import documented
from tools.docs import __main__ as docs, field_reports

KNOWN = list(documented().values())


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout without generated files."""
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    (tmp_path / docs.FIELD_REPORTS).mkdir(parents=True)
    (tmp_path / docs.README).write_text(f"# Title\n\n{docs.BEGIN}stale\n{docs.END}\nend\n")
    return tmp_path


def test_the_committed_files_are_those_that_the_generator_writes() -> None:
    stale = sorted(map(str, docs.out_of_date(docs.generated())))
    assert stale == [], f"{', '.join(stale)}: run python -m tools.docs"


class TestMain:
    def test_check_names_what_is_out_of_date_and_writes_nothing(
        self, elsewhere: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert docs.main(["--check"]) == 1
        assert "docs/rules/HP1013.md is out of date\n" in capsys.readouterr().out
        assert not (elsewhere / docs.PAGES).exists()

    def test_writes_what_a_check_is_content_with(self, elsewhere: Path) -> None:
        assert docs.main([]) == 0
        assert docs.main(["--check"]) == 0
        assert len(list((elsewhere / docs.PAGES).glob("HP*.md"))) == len(KNOWN)
        readme = (elsewhere / docs.README).read_text()
        assert readme.startswith(f"# Title\n\n{docs.BEGIN}\n| {len(KNOWN)} rules")
        assert readme.endswith(f" |\n\n{docs.END}\nend\n")

    def test_removes_the_page_of_a_rule_that_is_gone(self, elsewhere: Path) -> None:
        docs.main([])
        gone = elsewhere / docs.PAGES / "HP9999.md"
        gone.write_text("old")
        assert docs.main(["--check"]) == 1
        docs.main([])
        assert not gone.exists()

    def test_a_readme_without_the_block_is_an_error(self, elsewhere: Path) -> None:
        (elsewhere / docs.README).write_text("# Title\n")
        with pytest.raises(ValueError, match=r"README.md lacks the lines"):
            docs.main([])


class TestIndex:
    def test_links_every_rule_once(self) -> None:
        text = docs.index(KNOWN)
        assert [text.count(f"[{rule.id}]({rule.id}.md)") for rule in KNOWN] == [1] * len(KNOWN)


class TestCounts:
    def test_rules_add_up(self) -> None:
        rows = [line.split("|")[2] for line in docs.counts(KNOWN, {}).splitlines()[2:]]
        assert sum(map(int, rows)) == len(KNOWN)

    def test_reports_follow_where_there_are_some(self) -> None:
        assert docs.counts(KNOWN, {"synth": 3, "docs": 1}).splitlines()[-4:] == [
            "| 4 field reports, a test each | |",
            "| --- | ---: |",
            "| a finding at synth | 3 |",
            "| what [no check can see](docs/what-no-check-can-see.md) | 1 |",
        ]


class TestFieldReports:
    def count(self, folder: Path, source: str) -> dict[str, int]:
        (folder / "test_network.py").write_text(source)
        return field_reports.counted(folder)

    def test_are_counted_by_their_mark_in_classes_too(self, tmp_path: Path) -> None:
        source = """
@settled("docs")
def test_field_report_A_01_is_documented(): ...

class TestGroups:
    @settled("synth")
    @pytest.mark.parametrize("x", [1])
    def test_field_report_B_12_is_found(self, x): ...

def test_something_else(): ...
"""
        assert self.count(tmp_path, source) == {"synth": 1, "docs": 1}

    def test_a_report_with_two_tests_counts_once_where_it_is_settled_best(self, tmp_path: Path) -> None:
        source = """
@settled("template")
def test_field_report_A_01_template(): ...

@settled("synth")
def test_field_report_A_01_synth(): ...
"""
        assert self.count(tmp_path, source) == {"synth": 1}

    @pytest.mark.parametrize("mark", ["", '@settled("nowhere")\n', '@settled("synth")\n@settled("docs")\n'])
    def test_one_without_a_mark_of_its_own_is_an_error(self, tmp_path: Path, mark: str) -> None:
        with pytest.raises(ValueError, match=r"test_network.py:\d+: mark test_field_report_A_01_x with one @settled"):
            self.count(tmp_path, f"{mark}def test_field_report_A_01_x(): ...\n")
