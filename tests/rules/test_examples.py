"""The examples of rules: each shows its rule and nothing else that stops, and its second part what to do instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.cli.rules import documented
from hyperpod_constructs.findings import Finding
from hyperpod_constructs.rules import examples
from hyperpod_constructs.rules.examples import Example

FOLDER = Path(examples.__file__).parent
FILES = sorted(path for path in FOLDER.iterdir() if path.name.startswith("HP"))
SHOWN = sorted(rules.RULES.keys() - examples.NOT_SHOWN.keys())
MOST_LINES = 45


def example(rule: str) -> Example:
    found = examples.read(rule)
    assert found is not None, f"rule {rule} has no example: write hyperpod_constructs/rules/examples/{rule}.yaml"
    return found


def stopping(findings: list[Finding]) -> set[str]:
    return {found.rule for found in findings if found.severity.stops}


@pytest.mark.parametrize("rule", SHOWN)
class TestExample:
    def test_the_first_part_draws_its_rule_and_no_error_of_another(self, rule: str) -> None:
        shown = example(rule)
        found = shown.findings(shown.fails)
        assert rule in {each.rule for each in found}
        assert stopping(found) - {rule} == set()

    def test_the_second_part_draws_neither_its_rule_nor_an_error(self, rule: str) -> None:
        shown = example(rule)
        found = shown.findings(shown.passes)
        assert rule not in {each.rule for each in found}
        assert stopping(found) == set()

    def test_is_short(self, rule: str) -> None:
        shown = example(rule)
        assert max(len(part.strip().splitlines()) for part in (shown.fails, shown.passes)) <= MOST_LINES


class TestFiles:
    def test_each_is_of_a_rule_that_has_to_be_shown(self) -> None:
        assert {path.stem for path in FILES} - set(SHOWN) == set()

    def test_a_rule_has_one(self) -> None:
        stems = [path.stem for path in FILES]
        assert sorted(stems) == sorted(set(stems))

    def test_what_cannot_be_shown_is_a_rule(self) -> None:
        assert examples.NOT_SHOWN.keys() <= documented().keys()

    def test_none_is_read_by_a_check(self) -> None:
        """The modules that `hyperpod check` loads, examples of Python included."""
        template = FOLDER / "HP1013.yaml"
        code = (
            "import sys; from hyperpod_constructs.cli import main; "
            f"main(['check', {str(template)!r}]); main(['rules']); "
            "print([name for name in sys.modules if 'rules.examples' in name or 'rules.pages' in name])"
        )
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert ran.stdout.splitlines()[-1] == "[]"


class TestRead:
    def test_what_has_no_file_has_no_example(self) -> None:
        assert examples.read("HP9999") is None

    @pytest.mark.parametrize(
        ("file", "text", "says"),
        [
            ("HP9999.yaml", "Resources: {}\n", r"HP9999\.yaml has 1 YAML documents"),
            ("HP9999.yaml", "a: 1\n---\nb: 1\n---\nc: 1\n", r"HP9999\.yaml has 3 YAML documents"),
            ("HP9999.py", "groups = []\n", "HP9999.py lacks a line '# fails'"),
            ("HP9999.py", "# passes\ngroups = []\n# fails\ngroups = []\n", "HP9999.py lacks a line '# fails'"),
        ],
    )
    def test_two_parts_are_wanted(
        self, file: str, text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / file).write_text(text)
        monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
        with pytest.raises(ValueError, match=says):
            examples.read("HP9999")

    def test_the_region_is_on_the_first_line_and_not_part_of_the_example(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "HP9999.yaml").write_text("# region: eu-west-1\nResources: {}\n---\nResources: {}\n")
        monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
        found = examples.read("HP9999")
        assert found is not None
        assert (found.region, found.fails) == ("eu-west-1", "Resources: {}\n")
