"""Checks the types of what a construct was given before jsii sees it, whose errors name neither construct nor fix."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.tokens import is_token

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def check_list(argument: str, value: object, kind: type) -> None:
    """Raises `InvalidValue` unless the value is a list or tuple of things of one kind; tokens pass."""
    if is_token(value) and not isinstance(value, str):
        return
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidValue(f"{argument} must be a list of {_name(kind)}; got {value!r}")
    for item in value:
        check_kind(f"{argument} holds {item!r}: each", item, kind)


def check_kind(argument: str, value: object, *kinds: type) -> None:
    """Raises `InvalidValue` unless the value is of one of the kinds; `None` passes."""
    if value is not None and not isinstance(value, kinds):
        raise InvalidValue(f"{argument} must be {' or '.join(map(_name, kinds))}; got {_shown(value)}")


def check_texts(argument: str, value: Mapping[str, object] | None) -> None:
    """Raises `InvalidValue` unless the value is a dictionary of texts."""
    check_kind(argument, value, Mapping)
    for key, text in (value or {}).items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise InvalidValue(f"{argument} must map text to text; got {key!r}: {text!r}")


def check_emails(argument: str, value: Sequence[str]) -> None:
    """Raises `InvalidValue` unless the value is a list of different e-mail addresses; tokens pass."""
    check_list(argument, value, str)
    for address in value:
        if not is_token(address) and not _EMAIL.fullmatch(address):
            raise InvalidValue(f"{argument} holds {address!r}, which is no e-mail address")
    if len(set(value)) != len(value):
        raise InvalidValue(f"{argument} holds an address twice: {list(value)!r}")


def check_names(argument: str, value: Mapping[str, object] | None, groups: Sequence[str]) -> None:
    """Raises `InvalidValue` unless every key is the name of a group."""
    check_kind(argument, value, Mapping)
    if unknown := sorted(set(value or {}) - set(groups)):
        raise InvalidValue(f"{argument} names {', '.join(unknown)}, but the groups are {', '.join(groups)}")


def _name(kind: type) -> str:
    plain = {str: "text", Mapping: "a dictionary", bool: "True or False"}
    return plain.get(kind, f"hp.{kind.__name__}")


def _shown(value: object) -> str:
    return f"the class {value.__name__} itself" if isinstance(value, type) else f"{value!r}"
