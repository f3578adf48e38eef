"""Values of a template as a reviewer reads them."""

from __future__ import annotations

import json
from typing import Final

from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.tokens import UNKNOWN

_LONGEST: Final = 60
_AT_DEPLOY: Final = "(known at deploy)"


def shown(value: Value) -> str:
    """A value on one line, cut in the middle where it is long: ARNs differ at their end."""
    text = whole(value)
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[: half - 1]}…{text[-half:]}"


def whole(value: Value) -> str:
    """The same, whatever its length; references by logical id and attribute."""
    if isinstance(value, Reference):
        return f"{value.logical_id}.{value.attribute}" if value.attribute else value.logical_id
    if isinstance(value, Text):
        return "".join(part if isinstance(part, str) else f"<{whole(part)}>" for part in value.parts)
    if isinstance(value, list):
        return "[" + ", ".join(map(whole, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {whole(item)}" for key, item in sorted(value.items())) + "}"
    if value is UNKNOWN:
        return _AT_DEPLOY
    return value if isinstance(value, str) else json.dumps(value)
