"""Two sides of a review, each of one template, for tests that look at one subject of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.review.comparison import Comparison

Resources: TypeAlias = dict[str, Any]

PARAMETERS = {"Given": {"Type": "String"}, "Other": {"Type": "String"}}
_CONDITIONS = {"Maybe": {"Fn::Equals": [{"Ref": "Given"}, "x"]}}


def compared(folder: Path, base: Resources, head: Resources) -> Comparison:
    """Both sets of resources beside two parameters, `Given` and `Other`, and a condition, `Maybe`."""
    read = []
    for name, resources in (("base", base), ("head", head)):
        file = folder / name / "app.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"Parameters": PARAMETERS, "Conditions": _CONDITIONS, "Resources": resources}))
        read.append(assembly.read(file))
    return Comparison(base=read[0], head=read[1])
