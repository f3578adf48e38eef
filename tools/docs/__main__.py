"""Writes what of the documentation is generated: pages of rules, their list, schema coverage, the counts in README.

    python -m tools.docs            writes docs/rules, docs/schema-coverage.md and the block of counts in README.md
    python -m tools.docs --check    exits with 1 and names what is out of date

Run it after adding or changing a rule, its example or the test of a field report.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from hyperpod_constructs.cli.rules import documented
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.rules import Rule, pages
from tools.docs import coverage, field_reports

ROOT = Path(__file__).parents[2]
FIELD_REPORTS = Path("tests/field_reports")
PAGES = Path("docs/rules")
README = Path("README.md")

BEGIN = "<!-- counts, written by python -m tools.docs -->\n"
END = "<!-- end of counts -->\n"

KINDS = {
    "0": "Budgets, and what was not checked",
    "1": "Instance groups, training plans, health checks",
    "2": "Orchestration",
    "3": "Storage",
    "4": "Network",
    "5": "Lifecycle scripts",
    "6": "Governance",
    "7": "Security",
    "8": "Guard rails",
    "9": "Account: what `hyperpod preflight` finds, and `check` cannot",
}
"""What the first digit of an id means."""

SETTLED = {
    "synth": "a finding at synth",
    "template": "written right by the constructs",
    "preflight": "found in the account before the deploy",
    "docs": "what [no check can see](docs/what-no-check-can-see.md)",
}
"""How README calls what settles a report."""


def main(argv: list[str] | None = None) -> int:
    """Writes, or only compares; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description="Writes the generated documentation.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if something is out of date")
    only_check = parser.parse_args(argv).check
    wrong = out_of_date(generated())
    for path, text in wrong.items():
        print(f"{path} {'is out of date' if only_check else 'removed' if text is None else 'written'}")
        if only_check:
            continue
        if text is None:
            (ROOT / path).unlink()
        else:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")
    return 1 if wrong and only_check else 0


def generated() -> dict[Path, str]:
    """Every generated file, with the text that it must have."""
    known = documented()
    texts = {PAGES / f"{rule.id}.md": pages.markdown(pages.page(rule)) for rule in known.values()}
    texts[PAGES / "README.md"] = index(known.values())
    texts[coverage.PAGE] = coverage.coverage_page()
    texts[README] = with_counts((ROOT / README).read_text(encoding="utf-8"), known.values())
    return texts


def out_of_date(texts: Mapping[Path, str]) -> dict[Path, str | None]:
    """The files that are not as they must be; `None` for pages of rules that are gone."""
    wrong: dict[Path, str | None] = {path: text for path, text in texts.items() if _read(ROOT / path) != text}
    left_over = [path.relative_to(ROOT) for path in (ROOT / PAGES).glob("*.md")]
    return wrong | {path: None for path in left_over if path not in texts}


def index(known: Iterable[Rule]) -> str:
    """The list of all rules."""
    lines = ["# Rules", "", "What `hyperpod check` and the check at synth look for. `hyperpod rules ID` prints a page."]
    kind = None
    for rule in known:
        if rule.id[2] != kind:
            kind = rule.id[2]
            lines += ["", f"## {KINDS[kind]}", "", "| rule | severity | what it finds |", "| --- | --- | --- |"]
        lines.append(f"| [{rule.id}]({rule.id}.md) | {rule.severity.value} | {rule.title} |")
    return "\n".join(lines) + "\n"


def with_counts(readme: str, known: Iterable[Rule]) -> str:
    """README with the block of counts renewed."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{README} lacks the lines {BEGIN.strip()} and {END.strip()}")
    block = counts(list(known), field_reports.counted(ROOT / FIELD_REPORTS))
    return f"{before}{begin}\n{block}\n{end}{after}"


def counts(known: list[Rule], reports: Mapping[str, int]) -> str:
    """The block of counts: rules by severity, and field reports by what settles them."""
    lines = [f"| {len(known)} rules, [a page each](docs/rules/README.md) | |", "| --- | ---: |"]
    for severity in Severity:
        number = sum(rule.severity is severity for rule in known)
        lines.append(f"| {severity.value} | {number} |")
    if reports:
        lines += ["", f"| {sum(reports.values())} field reports, a test each | |", "| --- | ---: |"]
        lines += [f"| {SETTLED[place]} | {number} |" for place, number in reports.items()]
    return "\n".join(lines) + "\n"


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
