"""Reads what a test synthesized, as plain dictionaries: their differences print better than matchers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk


def synthesized(stack: cdk.Stack) -> dict[str, Any]:
    """The template of a stack, with everything that was added until now; raises what validation raises."""
    stage = cdk.Stage.of(stack)
    assert stage is not None
    stage.synth(force=True)
    template: dict[str, Any] = json.loads((Path(stage.outdir) / stack.template_file).read_text())
    return template


def of_type(template: dict[str, Any], resource_type: str) -> dict[str, dict[str, Any]]:
    """Properties by logical id of the resources of one type."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template.get("Resources", {}).items()
        if resource["Type"] == resource_type
    }
