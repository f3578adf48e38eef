"""Checks what a construct was given before jsii sees it, whose errors name neither construct nor fix."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from types import NoneType, UnionType
from typing import Any, Final, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.tokens import is_token

P = ParamSpec("P")
T = TypeVar("T")

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_OURS: Final = "hyperpod_constructs."
_LONGEST: Final = 80
"""Characters of a value that a message repeats."""
_WORDS: Final[Mapping[object, str]] = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    str: "text",
    Mapping: "a dictionary",
    NoneType: "None",
}
_MADE_BY: Final[Mapping[str, str]] = {
    "IFileSystem": "hp.LustreFileSystem(...) or hp.LustreFileSystem.from_attributes(...)",
    "IKey": "a key, for example kms.Key.from_key_arn(scope, id, arn)",
    "IManagedPolicy": "a policy, for example iam.ManagedPolicy.from_managed_policy_arn(scope, id, arn)",
    "IRole": "a role, for example iam.Role.from_role_arn(scope, id, arn)",
}
"""How to come by what an interface stands for."""


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Refuses arguments of other types than the annotations of a function say, before anything is made.

    Interfaces are compared by what they offer: `isinstance` knows no interfaces of jsii. Words of a `Literal` are left
    to the function, whose messages say more.
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
        for argument, value in given.items():
            for problem in _misfit(argument, value, declared().get(argument, object)):
                raise InvalidValue(f"{who}: {problem}")
        return function(*args, **kwargs)

    return call


def check_list(argument: str, value: object, kind: type) -> None:
    """Raises `InvalidValue` unless the value is a list or tuple of things of one kind; tokens pass."""
    if is_token(value) and not isinstance(value, str):
        return
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidValue(f"{argument} must be a list of {_described(kind)}; got {value!r}")
    for item in value:
        check_kind(f"{argument} holds {item!r}: each", item, kind)


def check_kind(argument: str, value: object, *kinds: type) -> None:
    """Raises `InvalidValue` unless the value is of one of the kinds; `None` passes."""
    if value is not None and not isinstance(value, kinds):
        raise InvalidValue(f"{argument} must be {' or '.join(map(_described, kinds))}; got {_shown(value)}")


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


def check_topic(argument: str, value: str) -> None:
    """Raises `InvalidValue` unless the value is the ARN of a topic; tokens pass."""
    if not is_token(value) and not value.startswith("arn:"):
        raise InvalidValue(f"{argument} is {value!r}", "use the ARN of a topic, such as hp.AlertTopic(...).topic_arn")


def check_names(argument: str, value: Mapping[str, object] | None, groups: Sequence[str]) -> None:
    """Raises `InvalidValue` unless every key is the name of a group."""
    check_kind(argument, value, Mapping)
    if unknown := sorted(set(value or {}) - set(groups)):
        raise InvalidValue(f"{argument} names {', '.join(unknown)}, but the groups are {', '.join(groups)}")


def _misfit(argument: str, value: object, wanted: object) -> Iterator[str]:
    """What is wrong with a value, or with what is in it."""
    fitting = next((choice for choice in _choices(wanted) if _fits(value, choice)), None)
    if fitting is None:
        yield f"{argument} must be {_described(wanted)}; got {_shown(value)}"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _misfit(f"{argument}[{key!r}]", item, get_args(fitting)[1])
            yield from _misfit(f"the keys of {argument}", key, get_args(fitting)[0])
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _misfit(f"{argument} holds {_brief(item)}: each", item, get_args(fitting)[0])


def _choices(wanted: object) -> tuple[object, ...]:
    """The members of a union, or the type itself."""
    return get_args(wanted) if get_origin(wanted) in {Union, UnionType} else (wanted,)


def _fits(value: object, wanted: Any) -> bool:  # noqa: ANN401  # a type, or what stands for one in annotations
    """Whether a value is of a type, whatever it holds; a number that is decided at deploy is a negative float."""
    kind = get_origin(wanted) or wanted
    if kind is Literal:
        return isinstance(value, str)
    if kind is Sequence:
        return isinstance(value, Sequence) and not isinstance(value, str | bytes)
    if kind in {int, float}:
        allowed = (int, float) if kind is float or is_token(value) else int
        return isinstance(value, allowed) and not isinstance(value, bool)
    if getattr(kind, "_is_protocol", False):
        return not isinstance(value, type) and all(_offers(value, name) for name in _members(kind))
    return isinstance(value, kind)


@cache
def _members(protocol: type) -> frozenset[str]:
    """What an interface offers."""
    bases = [base for base in protocol.__mro__ if getattr(base, "_is_protocol", False)]
    return frozenset(name for base in bases for name in vars(base) if not name.startswith("_"))


def _offers(value: object, name: str) -> bool:
    """Whether an object has an attribute; asking the object itself would be a message to Node.

    What jsii returns as several interfaces at once is an object that asks others.
    """
    attributes = getattr(value, "__dict__", {})
    asked = attributes.get("_delegates", ())
    return hasattr(type(value), name) or name in attributes or any(_offers(each, name) for each in asked)


def _described(wanted: Any) -> str:  # noqa: ANN401  # a type, or what stands for one in annotations
    """A type as a message calls it."""
    if len(choices := _choices(wanted)) > 1:
        return " or ".join(dict.fromkeys(map(_described, choices)))
    kind = get_origin(wanted) or wanted
    if kind is Literal:
        return " or ".join(map(repr, get_args(wanted)))
    if kind is Sequence:
        return f"a list of {_described(get_args(wanted)[0])}"
    name: str = kind.__name__
    module = kind.__module__.rpartition(".")[2].replace("aws_cdk", "cdk")
    known = _WORDS.get(kind) or _MADE_BY.get(name)
    return known or f"{'hp' if kind.__module__.startswith(_OURS) else module}.{name}"


def _shown(value: object) -> str:
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
