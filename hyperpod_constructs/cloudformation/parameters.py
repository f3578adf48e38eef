"""The values a template is given: parameters, and the pseudo parameters of the place it is deployed to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.cloudformation.values import Part, Value, joined, parts_of, split
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_NUMBER = re.compile(r"[-+]?\d{1,30}(\.\d*)?([eE][-+]?\d{1,2})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Where a stack is deployed, and under which name. `None`: the input does not say.

    Attributes:
        name: The deployed stack name.
        account: Twelve digits.
        region: For example `us-west-2`.
    """

    name: str | None = None
    account: str | None = None
    region: str | None = None


def pseudo_parameter(name: str, environment: Environment) -> str | Unknown:
    """`AWS::Region` and its like; `AWS::NoValue` is no value and none of this function's business."""
    region = environment.region
    values = {
        "AWS::AccountId": environment.account,
        "AWS::Partition": region and regions.partition(region),
        "AWS::Region": region,
        "AWS::StackName": environment.name,
        "AWS::URLSuffix": region and regions.dns_suffix(region),
    }
    return values.get(name) or UNKNOWN


def parameter(declaration: object, given: Value, *, at_deploy: bool = True) -> Value:
    """The value of a parameter, in the type it was declared with.

    Args:
        declaration: What stands under `Parameters` in the template.
        given: What the parent stack or the manifest gives; `None` for nothing, which leaves the default.
        at_deploy: Whether somebody may still give one: not to a nested stack, which gets what its parent says.

    Returns:
        Lists for list types, numbers for `Number`, otherwise text. `UNKNOWN` without a value, for `NoEcho`, for values
        from the SSM parameter store, for defaults that do not fit the type, and for an empty default as long as
        somebody may give a value: `Default: ''` is how authors write "say it at deploy".
    """
    if not isinstance(declaration, Mapping) or str(declaration.get("NoEcho", False)).lower() == "true":
        return UNKNOWN
    kind = str(declaration.get("Type", "String"))
    value: Value = declaration.get("Default") if given is None else given
    if value is None or kind.startswith("AWS::SSM::Parameter::Value"):
        return UNKNOWN
    if given is None and at_deploy and _is_empty(value):
        return UNKNOWN
    if kind == "CommaDelimitedList" or kind.startswith("List<"):
        return _list(value, numbers=kind == "List<Number>")
    return _number(value) if kind == "Number" else joined(parts_of(value))


def _is_empty(default: Value) -> bool:
    return default == [] or (isinstance(default, str) and not default.strip())


def _list(value: Value, *, numbers: bool) -> Value:
    if value == "":
        return []
    items = value if isinstance(value, list) else split(joined(parts_of(value)), ",")
    if items is UNKNOWN:
        return UNKNOWN
    texts = [_stripped(parts_of(item)) for item in items]
    return [_number(text) if numbers else text for text in texts]


def _stripped(parts: tuple[Part, ...]) -> Value:
    trimmed = list(parts)
    if isinstance(first := trimmed[0], str):
        trimmed[0] = first.lstrip()
    if isinstance(last := trimmed[-1], str):
        trimmed[-1] = last.rstrip()
    return joined(trimmed)


def _number(value: Value) -> Value:
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return UNKNOWN
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    return UNKNOWN if isinstance(value, bool | list | dict) else value
