"""The page of a rule."""

from __future__ import annotations

import re

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.cli.rules import documented
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.rules import Rule, pages


def page_of(rule: str) -> str:
    return pages.markdown(pages.page(documented()[rule]))


def words(text: str) -> str:
    """The text with one blank wherever there are some, so that line breaks do not matter."""
    return " ".join(text.split())


class TestMarkdown:
    def test_says_what_why_and_who_says_so(self) -> None:
        rule = rules.RULES["HP1013"]
        text = words(page_of("HP1013"))
        assert text.startswith(f"# HP1013: {rule.title} **error**: certain to fail at deploy or to lose data.")
        assert f"**Because:** {rule.because}. **Source:** {rule.source}." in text

    def test_shows_what_the_check_prints_of_the_example(self) -> None:
        text = page_of("HP1013")
        assert text.index("MinInstanceCount: 8") < text.index("$ hyperpod check") < text.index("MinInstanceCount: 4")
        assert (
            "```console\n"
            "$ hyperpod check template.yaml\n"
            "HP1013 error    template.yaml/Train/p5: group 'p5' has a minimum count of 8, but 4 instances\n"
            "                fix: use MinInstanceCount (min_count=) 0 to 4, or leave it out\n"
            "```"
        ) in text

    def test_the_region_of_an_example_is_an_option_of_the_command(self) -> None:
        assert "$ hyperpod check template.yaml --region eu-north-1\n" in page_of("HP0010")

    def test_a_request_is_called_one(self) -> None:
        assert "$ hyperpod check request.yaml\nHP1018 error    request.yaml/train/p5: " in page_of("HP1018")

    def test_an_example_of_python_is_shown_without_what_surrounds_it(self) -> None:
        text = page_of("HP1107")
        assert "```python\ngroups = [\n" in text
        assert "```text\nHP1107 error    Train/p5: group 'p5': 34 instances" in text
        assert "import" not in text

    def test_an_error_is_acknowledged_in_code(self) -> None:
        assert 'acknowledge={"HP1013": "why it is acceptable here"}' in page_of("HP1013")
        assert 'hp.acknowledge(construct, "HP1013", "why it is acceptable here")' in page_of("HP1013")

    def test_a_fatal_rule_cannot_be_acknowledged(self) -> None:
        text = page_of("HP0000")
        assert "cannot be acknowledged" in text
        assert "hp.acknowledge(" not in text

    def test_what_no_template_shows_says_why_and_has_no_app_to_be_acknowledged_in(self) -> None:
        text = words(page_of("HP0103"))
        assert "There is no example: it is not about a template, but about another file in the folder" in text
        assert "no app wrote this file" in text
        assert "hp.acknowledge(" not in text

    def test_a_new_rule_without_an_example_has_a_page_all_the_same(self) -> None:
        new = Rule(id="HP8999", severity=Severity.INFO, title="t", because="b", source="s", check=lambda _: iter(()))
        text = pages.markdown(pages.page(new))
        assert "There is no example: it has none yet." in text
        assert 'hp.acknowledge(construct, "HP8999"' in text

    @pytest.mark.parametrize("severity", Severity)
    def test_every_severity_is_explained(self, severity: Severity) -> None:
        rule = Rule(id="HP8999", severity=severity, title="t", because="b", source="s", check=lambda _: iter(()))
        assert f"**{severity.value}**: {pages.MEANING[severity].split('.')[0]}" in pages.markdown(pages.page(rule))

    @pytest.mark.parametrize("columns", [60, 120])
    def test_prose_and_findings_fit_the_width(self, columns: int) -> None:
        text = pages.markdown(pages.page(rules.RULES["HP1107"]), columns)
        prose = re.sub(r"```python\n.*?```", "", text, flags=re.DOTALL)
        assert max(len(line) for line in prose.splitlines() if not line.startswith("#")) <= columns


class TestAsData:
    def test_has_what_the_page_has(self) -> None:
        data = pages.as_data(pages.page(rules.RULES["HP1107"]))
        assert data.keys() == {
            "id", "severity", "title", "means", "because", "source", "example", "not_shown", "acknowledge",
        }  # fmt: skip
        example, acknowledge = data["example"], data["acknowledge"]
        assert isinstance(example, dict)
        assert isinstance(acknowledge, dict)
        assert example.keys() == {"language", "region", "fails", "findings", "passes"}
        assert [finding["path"] for finding in example["findings"]] == ["Train/p5"]
        assert "HP1107" in acknowledge["code"]

    def test_says_why_there_is_no_example(self) -> None:
        data = pages.as_data(pages.page(rules.RULES["HP0103"]))
        assert data["example"] is None
        assert data["not_shown"]
