"""Checks what a construct was given before jsii sees it, whose errors name neither construct nor fix."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import ParamSpec, TypeVar, get_type_hints

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check
from hyperpod_constructs.tokens import is_token

P = ParamSpec("P")
T = TypeVar("T")

_TWICE = re.compile(r"There is already a Construct with name ('.+?')")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Refuses arguments of other types than the annotations of a function say, before anything is made.

    Values of the model are not looked into: what a construct says of a field that it does not take is more than a type.
    """

    @cache
    def declared() -> dict[str, object]:
        return get_type_hints(function)

    signature = inspect.signature(function)
    owner, _, name = function.__qualname__.rpartition(".")
    who = owner if name == "__init__" else function.__qualname__

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:  # Python's own message names the function
            return function(*args, **kwargs)
        for argument, wanted in declared().items():
            if argument in given:
                check(f"{who}: {argument}", given[argument], wanted)
        try:
            return function(*args, **kwargs)
        except RuntimeError as error:  # of jsii, with the CDK's words
            if (twice := _TWICE.search(str(error))) is None:
                raise
            raise InvalidValue(f"{who}: there is a construct {twice[1]} already", "give this one another id") from error

    return call


def check_emails(argument: str, value: Sequence[str]) -> None:
    """Raises `InvalidValue` unless the texts are different e-mail addresses; tokens pass."""
    for address in value:
        if not is_token(address) and not _EMAIL.fullmatch(address):
            raise InvalidValue(f"{argument} holds {address!r}, which is no e-mail address", "use one: team@example.com")
    if len(set(value)) != len(value):
        raise InvalidValue(f"{argument} holds an address twice: {list(value)!r}", "name each once")


def check_topic(argument: str, value: str) -> None:
    """Raises `InvalidValue` unless the value is the ARN of a topic; tokens pass."""
    if not is_token(value) and not value.startswith("arn:"):
        raise InvalidValue(f"{argument} is {value!r}", "use the ARN of a topic, such as hp.AlertTopic(...).topic_arn")


def check_names(argument: str, value: Mapping[str, object] | None, groups: Sequence[str]) -> None:
    """Raises `InvalidValue` unless every key is the name of a group."""
    if unknown := sorted(set(value or {}) - set(groups)):
        raise InvalidValue(f"{argument} names {', '.join(unknown)}", f"use the names of groups: {', '.join(groups)}")
