"""Findings as SARIF 2.1.0, the form in which code hosts show them beside the changed line.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0 (2020-03-27).
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from hyperpod_constructs.cli import rules as catalogue
from hyperpod_constructs.cli.inputs import Judged
from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.rules import Rule
from hyperpod_constructs.version import VERSION

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.FATAL: "error", Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def log(judged: Judged, path: str) -> dict[str, object]:
    """A log of one run: every rule, every finding, and the acknowledged ones as suppressed.

    Args:
        judged: What was found.
        path: What was checked, the place of findings that have no file.
    """
    rules = list(catalogue.of_check().values())
    indexes = {rule.id: index for index, rule in enumerate(rules)}
    standing = [_result(finding, path, indexes) for finding in judged.findings]
    accepted = [
        {**_result(a.finding, path, indexes), "suppressions": [{"kind": "inSource", "justification": a.reason}]}
        for a in judged.acknowledged
    ]
    driver = {"name": "hyperpod check", "version": VERSION, "rules": [_rule(rule) for rule in rules]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": [*standing, *accepted]}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.because},
        "help": {"text": f"{rule.because}\nSource: {rule.source}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, path: str, indexes: dict[str, int]) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": {"uri": _uri(finding.file or path)}}
    if finding.line:
        physical["region"] = {"startLine": finding.line}
    location: dict[str, object] = {"physicalLocation": physical}
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.path}]
    return {
        "ruleId": finding.rule,
        **({"ruleIndex": indexes[finding.rule]} if finding.rule in indexes else {}),
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}\nFix: {finding.fix}"},
        "locations": [location],
    }


def _uri(file: str) -> str:
    """Relative to the working directory as it was typed, or a file URI."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
