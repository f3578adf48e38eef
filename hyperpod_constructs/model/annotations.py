"""Compares values with what annotations say of them.

What is of a wrong type would otherwise show up as a TypeError far from the user's code, as an error of jsii, which
names neither argument nor fix, or in no check at all: rules look for the types that the model promises and pass over
everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.tokens import Unknown, is_token

_OURS: Final = "hyperpod_constructs."
_LONGEST: Final = 80
"""Characters of a value that a message repeats."""
_WORDS: Final[Mapping[type, str]] = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    str: "text",
    Mapping: "a dictionary",
    NoneType: "None",
}
_MADE_BY: Final[Mapping[str, str]] = {
    "ExternalDatabase": "hp.ExternalDatabase or the `database` of an hp.AccountingDatabase",
    "IFileSystem": "hp.LustreFileSystem(...) or hp.LustreFileSystem.from_attributes(...)",
    "IKey": "a key, for example kms.Key.from_key_arn(scope, id, arn)",
    "IManagedPolicy": "a policy, for example iam.ManagedPolicy.from_managed_policy_arn(scope, id, arn)",
    "IRole": "a role, for example iam.Role.from_role_arn(scope, id, arn)",
}
"""How to come by what is not made by its name alone."""


def check_fields(before: str, value: object) -> None:
    """Raises `InvalidValue` for the first field, at any depth, that holds another type than it is declared with.

    Args:
        before: What the message puts before the name of a field: `group 'p5': `.
        value: A value of the model.
    """
    kind: Any = type(value)
    for name, wanted in _declared(kind).items():
        check(f"{before}{name}", getattr(value, name), wanted, deep=True)


def check(where: str, value: object, wanted: object, *, deep: bool = False) -> None:
    """Raises `InvalidValue` unless a value, and all that it holds if it is a list or dictionary, is of a type.

    Args:
        where: What the message calls the value: `Cluster: groups`.
        value: The value. Tokens pass in the form of what they stand for, and lists for tuples.
        wanted: The type, as annotations say it.
        deep: Whether values of the model are looked into as well.
    """
    choices = _choices(wanted)
    late = Unknown in choices and isinstance(value, str) and is_token(value)
    fitting = next((choice for choice in choices if _fits(value, choice, late=late)), None)
    if fitting is None:
        raise InvalidValue(f"{where} is {_shown(value)}", f"use {_described(wanted)}")
    if fitting is object:
        return
    if isinstance(value, Mapping):
        of_keys, of_items = get_args(fitting)
        for key, item in value.items():
            check(f"{where}: a key", key, of_keys)
            check(f"{where}[{_brief(key)}]", item, of_items, deep=deep)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            check(f"{where}[{index}]", item, get_args(fitting)[0], deep=deep)
    elif deep and is_dataclass(value):
        check_fields(f"{where}.", value)


@cache
def _declared(kind: type[Any]) -> dict[str, object]:
    """Type by field; looked up once, because Python reads the annotations as text."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _choices(wanted: object) -> tuple[object, ...]:
    """The members of a union, or the type itself."""
    return get_args(wanted) if get_origin(wanted) in {Union, UnionType} else (wanted,)


def _fits(value: object, wanted: object, *, late: bool) -> bool:
    """Whether a value is of a type, whatever it holds; a truth value is no number, a whole number is one.

    Tokens come as text, as negative floats and as lists of text, and fit where a value of their own form does. They are
    one of several words (`late`) only where the deploy may decide: other words decide what is made.
    """
    kind: Any = get_origin(wanted) or wanted
    if kind is Literal:
        return any(type(value) is type(each) and (late or value == each) for each in get_args(wanted))
    if kind in {tuple, Sequence}:
        return isinstance(value, list | tuple if kind is tuple else Sequence) and not isinstance(value, str | bytes)
    if kind in {int, float}:
        allowed = int | float if kind is float or is_token(value) else int
        return isinstance(value, allowed) and not isinstance(value, bool)
    if getattr(kind, "_is_protocol", False):
        return not isinstance(value, type) and all(_offers(value, name) for name in _members(kind))
    return isinstance(value, kind)


@cache
def _members(protocol: type) -> frozenset[str]:
    """What an interface offers; `isinstance` knows no interfaces of jsii."""
    bases = [base for base in protocol.__mro__ if getattr(base, "_is_protocol", False)]
    return frozenset(name for base in bases for name in vars(base) if not name.startswith("_"))


def _offers(value: object, name: str) -> bool:
    """Whether an object has an attribute; asking the object itself would be a message to Node.

    What jsii returns as several interfaces at once is an object that asks others.
    """
    attributes = getattr(value, "__dict__", {})
    asked = attributes.get("_delegates", ())
    return hasattr(type(value), name) or name in attributes or any(_offers(each, name) for each in asked)


def _described(wanted: object) -> str:
    """What a user may write; what only readers of templates put there is left out."""
    return " or ".join(dict.fromkeys(_description(choice) for choice in _choices(wanted) if choice != Unknown))


def _description(wanted: object) -> str:
    kind: Any = get_origin(wanted) or wanted
    if kind is Literal:
        return " or ".join(map(repr, get_args(wanted)))
    if kind in {tuple, Sequence}:
        return f"a list of {_described(get_args(wanted)[0])}"
    module = "hp" if kind.__module__.startswith(_OURS) else kind.__module__.rpartition(".")[2].replace("aws_cdk", "cdk")
    return _WORDS.get(kind) or _MADE_BY.get(kind.__name__) or f"{module}.{kind.__name__}"


def _shown(value: object) -> str:
    """A value and its type as a message calls them."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    kind = type(value).__name__
    return f"{_brief(value)}, {'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def _brief(value: object) -> str:
    """A value as a message can hold it."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
