"""Recognises values that are known only at deploy, without a call into Node.

Two things mean "not known": the CDK's tokens, which are ordinary strings, numbers and lists with a marker in them, and
`UNKNOWN`, which the template readers put where an intrinsic cannot be decided. Rules only ever see `UNKNOWN`:
`without_tokens` replaces the former by the latter before a check.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar

T = TypeVar("T")

_LIST_MARKER = "#{Token["
_MARKERS = ("${Token[", _LIST_MARKER)
# jsii encodes number tokens as huge negative doubles (aws-cdk-lib core/lib/private/encoding: 0xFBFF on top).
_NUMBER_TOKENS_BELOW = -1e280


class _Unknown(Enum):
    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("UNKNOWN is neither true nor false: compare with `is UNKNOWN`")


Unknown: TypeAlias = Literal[_Unknown.UNKNOWN]
UNKNOWN: Final = _Unknown.UNKNOWN
"""Known only at deploy. `None` is different: it means left out."""


def is_token(value: object) -> bool:
    """Whether a value is, or contains, something known only at deploy."""
    if isinstance(value, str):
        return any(marker in value for marker in _MARKERS)
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return value < _NUMBER_TOKENS_BELOW
    if isinstance(value, list | tuple):
        return any(is_token(item) for item in value)
    return value is UNKNOWN


def known(value: T | Unknown | None) -> T | None:
    """The value where it is given and known, else `None`."""
    return None if value is UNKNOWN or is_token(value) else value


def without_tokens(value: object) -> object:
    """A copy of a model value with `UNKNOWN` in place of every token and tuples in place of lists.

    Users may write lists, and rules look for tuples. A list token stands for any number of items.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: cleaned
            for field in dataclasses.fields(value)
            if (cleaned := without_tokens(old := getattr(value, field.name))) is not old
        }
        return _copy(value, changed) if changed else value
    if isinstance(value, Mapping):
        cleaned_items = {key: without_tokens(item) for key, item in value.items()}
        return cleaned_items if any(cleaned_items[key] is not value[key] for key in value) else value
    if isinstance(value, list | tuple):
        if any(isinstance(item, str) and _LIST_MARKER in item for item in value):
            return UNKNOWN
        cleaned_list = tuple(without_tokens(item) for item in value)
        same = isinstance(value, tuple) and all(a is b for a, b in zip(cleaned_list, value, strict=True))
        return value if same else cleaned_list
    return UNKNOWN if is_token(value) else value


def _copy(value: object, changed: Mapping[str, object]) -> object:
    """`dataclasses.replace` without `__post_init__`, which checked the value when the user made it."""
    copied = object.__new__(type(value))
    for field in dataclasses.fields(value):  # type: ignore[arg-type]  # a dataclass instance, see the caller
        object.__setattr__(copied, field.name, changed.get(field.name, getattr(value, field.name)))
    return copied
