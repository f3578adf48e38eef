"""Shared checks of single fields: what can never be right, whatever surrounds it."""

from __future__ import annotations

import re

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.tokens import is_token

NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*")
"""Cluster, group and partition names. Source: SageMaker API, ClusterName and InstanceGroupName (botocore 1.44.8)."""
NAME_LENGTH = 63


def check_name(what: str, name: object) -> None:
    """Raises `InvalidValue` unless the name fits the service's pattern; tokens pass."""
    if is_token(name):
        return
    if not isinstance(name, str):
        raise InvalidValue(f"{what} must be text; got {name!r}, a {type(name).__name__}")
    if len(name) > NAME_LENGTH or not NAME.fullmatch(name):
        raise InvalidValue(
            f"{what} {name!r} is not allowed: use 1 to {NAME_LENGTH} letters, digits and hyphens, "
            "beginning and ending with a letter or digit"
        )


def check_whole(what: str, value: object, *, low: int, high: int, unit: str = "") -> None:
    """Raises `InvalidValue` unless the value is a whole number from low to high; tokens and `None` pass."""
    if value is None or is_token(value):
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidValue(f"{what} must be a whole number; got {value!r}, a {type(value).__name__}")
    if not low <= value <= high:
        raise InvalidValue(f"{what} is {value:,}; use {low:,} to {high:,}{unit and ' ' + unit}")


def check_one_of(what: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raises `InvalidValue` unless the value is one of the allowed; tokens and `None` pass."""
    if value is not None and not is_token(value) and value not in allowed:
        raise InvalidValue(f"{what} is {value!r}; use one of {', '.join(allowed)}")
