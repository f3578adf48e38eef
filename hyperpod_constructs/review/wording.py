"""Values of a template as a reviewer reads them."""

from __future__ import annotations

import json
import re
from typing import Final

from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.tokens import UNKNOWN

_LONGEST: Final = 60
_ARGUMENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_AT_DEPLOY: Final = "(known at deploy)"


def shown(value: Value) -> str:
    """A value on one line, cut in the middle where it is long: ARNs differ at their end."""
    text = whole(value)
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[: half - 1]}…{text[-half:]}"


def argument(name: object, otherwise: str) -> str:
    """A name that can stand in a command as it is, else the word that stands for it: a reader copies commands."""
    return name if isinstance(name, str) and _ARGUMENT.fullmatch(name) else otherwise


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
