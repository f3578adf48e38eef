"""Compares what fields hold with what their annotations say.

A field of a wrong type would otherwise show up as a TypeError far from the user's code, or in no check at all: rules
look for the types that the model promises and pass over everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Final, Literal, Union, get_args, get_origin, get_type_hints

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.tokens import UNKNOWN, is_token

_WORDS: Final[Mapping[type, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
}
_declarations: Final[dict[type[object], dict[str, object]]] = {}


def check_fields(who: str, value: object) -> None:
    """Raises `InvalidValue` for the first field, at any depth, that holds another type than it is declared with.

    Args:
        who: Whose fields they are, for the message: `group 'p5'`.
        value: A value of the model; in it, tokens pass in the form of what they stand for, and lists for tuples.
    """
    for where, found, wanted in _misfits(value, ""):
        raise InvalidValue(f"{who}: {where} is {_shown(found)}", f"use {_described(wanted)}")


def _misfits(value: object, where: str) -> Iterator[tuple[str, object, object]]:
    """Path, value and declared type of each field that holds another type."""
    for name, wanted in _declared(type(value)).items():
        yield from _misfit(getattr(value, name), wanted, f"{where}{name}")


def _misfit(value: object, wanted: object, where: str) -> Iterator[tuple[str, object, object]]:
    """The same for one value; where a list or a value of the model has the right type, for what is in it."""
    if value is UNKNOWN:
        return
    fitting = next((choice for choice in _choices(wanted) if _fits(value, choice)), None)
    if fitting is None:
        yield where, value, wanted
    elif _is_list_token(value):
        if not any(_fits("", choice) for choice in _choices(get_args(fitting)[0])):
            yield where, value, wanted
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _misfit(item, get_args(fitting)[0], f"{where}[{index}]")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _misfit(item, get_args(fitting)[1], f"{where}[{key!r}]")
    elif is_dataclass(value):
        yield from _misfits(value, f"{where}.")


def _fits(value: object, wanted: object) -> bool:
    """Whether a value is of a type, whatever it holds; a truth value is no number, a whole number is one.

    Tokens come as text, as negative floats and as lists of text: each fits where a value of its own form does.
    """
    origin = get_origin(wanted)
    if origin is Literal:
        if isinstance(value, str) and is_token(value):
            return any(isinstance(each, str) for each in get_args(wanted))
        return any(type(value) is type(each) and value == each for each in get_args(wanted))
    if origin is tuple:
        return isinstance(value, list | tuple)
    if isinstance(value, bool):
        return wanted is bool
    if wanted is float or (wanted is int and is_token(value)):
        return isinstance(value, int | float)
    kind = origin or wanted
    return isinstance(kind, type) and isinstance(value, kind)


def _is_list_token(value: object) -> bool:
    """Whether a list is a token for one of any length."""
    return isinstance(value, list) and any(isinstance(item, str) and item.startswith("#{Token[") for item in value)


def _choices(wanted: object) -> tuple[object, ...]:
    """The members of a union, or the type itself."""
    return get_args(wanted) if get_origin(wanted) in {Union, UnionType} else (wanted,)


def _declared(kind: type[object]) -> dict[str, object]:
    """Type by field; looked up once, because Python reads the annotations as text."""
    if kind not in _declarations:
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # callers have a dataclass
        _declarations[kind] = {name: hints[name] for name in names}
    return _declarations[kind]


def _shown(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    kind = type(value).__name__
    return f"{value!r}, {'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _described(wanted: object) -> str:
    """What a user may write; what only readers of templates put there is left out."""
    described = [_description(choice) for choice in _choices(wanted) if UNKNOWN not in get_args(choice)]
    return " or ".join(described)


def _description(wanted: object) -> str:
    origin = get_origin(wanted)
    if origin is Literal:
        return " or ".join(map(repr, get_args(wanted)))
    if origin is tuple:
        return f"a list of {_described(get_args(wanted)[0])}"
    if origin is not None:
        return "a dictionary"
    if not isinstance(wanted, type):
        return str(wanted)
    return _WORDS.get(wanted) or f"hp.{wanted.__name__}"
