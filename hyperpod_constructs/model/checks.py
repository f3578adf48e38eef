"""Shared checks of single fields: what can never be right, whatever surrounds it."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.catalog import limits
from hyperpod_constructs.catalog.limits import Limit
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.tokens import is_placeholder, is_token


def check_name(what: str, name: object) -> None:
    """Raises `InvalidValue` unless the name fits the service's pattern; tokens pass."""
    if is_token(name):
        return
    if not isinstance(name, str):
        raise InvalidValue(f"{what} is {name!r}, a {type(name).__name__}", "use text")
    allowed = limits.NAME
    if not allowed.allows(name):
        raise InvalidValue(f"{what} {name!r} is not allowed", f"use {allowed.low} to {allowed.high} {allowed.says}")


def check_limit(what: str, value: object, limit: Limit, *, unit: str = "") -> None:
    """Raises `InvalidValue` unless the value is a whole number within a limit; tokens and `None` pass."""
    check_whole(what, value, low=limit.low, high=limit.high, unit=unit)


def check_whole(what: str, value: object, *, low: float, high: float, unit: str = "") -> None:
    """Raises `InvalidValue` unless the value is a whole number from low to high; tokens and `None` pass."""
    if value is None or is_token(value):
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidValue(f"{what} is {value!r}, a {type(value).__name__}", "use a whole number")
    if not low <= value <= high:
        raise InvalidValue(f"{what} is {value:,}", f"use {low:,} to {high:,}{unit and ' ' + unit}")


def check_several(what: str, value: object) -> None:
    """Raises `InvalidValue` for text where a list is wanted: it would count as a list of letters; tokens pass."""
    if isinstance(value, str) or not (isinstance(value, list | tuple) or is_token(value)):
        raise InvalidValue(f"{what} is {value!r}", f"use a list: [{value!r}]")


def check_flag(what: str, value: object) -> None:
    """Raises `InvalidValue` unless the value is true or false; tokens pass."""
    if not isinstance(value, bool) and not is_token(value):
        raise InvalidValue(f"{what} is {value!r}", "use True or False")


def check_one_of(what: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raises `InvalidValue` unless the value is one of the allowed; tokens and `None` pass."""
    if value is not None and not is_token(value) and value not in allowed:
        raise InvalidValue(f"{what} is {value!r}", f"use one of {', '.join(allowed)}")


def make_tuples(value: object, *fields: str) -> None:
    """Turns lists in fields of a frozen value into tuples: users write lists, and who reads the value wants tuples."""
    for field in fields:
        items = getattr(value, field)
        if isinstance(items, list):
            object.__setattr__(value, field, tuple(items))


def check_known(where: str, value: object) -> None:
    """Raises `InvalidValue` if something in a value of JSON is decided at deploy, before which files are uploaded.

    Args:
        where: What the message calls the value: `step motd: inputs`.
        value: The value.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            check_known(f"a key of {where}", key)
            check_known(f"{where}.{key}", item)
    elif isinstance(value, list | tuple) and not is_token(value):
        for number, item in enumerate(value):
            check_known(f"{where}[{number}]", item)
    elif is_token(value) and not is_placeholder(value):
        raise InvalidValue(
            f"{where} is known only at deploy, and stands in a file that is uploaded before",
            "write it out, or let a script read it from an SSM parameter whose name you give it",
        )
