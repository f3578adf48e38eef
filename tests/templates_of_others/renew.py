"""Writes down which rules find the mistakes in `broken/`; read the difference before it is committed."""

from __future__ import annotations

import json
from pathlib import Path

from hyperpod_constructs import rules
from hyperpod_constructs.errors import UnreadableTemplate
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model import template

HERE = Path(__file__).parent
REGION = "# region: "
"""What the first line begins with where the stack is not in us-west-2."""


def found(file: Path) -> list[str]:
    """Rule and severity of what is found in a template, infos left out."""
    try:
        first, *_ = file.read_text().splitlines()
        region = first.removeprefix(REGION) if first.startswith(REGION) else "us-west-2"
        findings = rules.check(template.read(file, region=region))
    except UnreadableTemplate:
        return ["unreadable"]
    return sorted({f"{each.rule} {each.severity}" for each in findings if each.severity is not Severity.INFO})


if __name__ == "__main__":
    listed = {file.name: found(file) for file in sorted((HERE / "broken").iterdir())}
    (HERE / "broken.json").write_text(json.dumps(listed, indent=1) + "\n")
