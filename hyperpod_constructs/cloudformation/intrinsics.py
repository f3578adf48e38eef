"""What each intrinsic function makes of its argument; one that cannot be decided raises `UndecidedError`."""

from __future__ import annotations

import base64
import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from hyperpod_constructs.cloudformation.parameters import Environment, pseudo_parameter
from hyperpod_constructs.cloudformation.values import (
    Part,
    Reference,
    Text,
    Value,
    is_known,
    joined,
    parts_of,
    split,
    weakened,
)
from hyperpod_constructs.tokens import UNKNOWN, Unknown

if TYPE_CHECKING:
    from hyperpod_constructs.cloudformation.scope import Scope

_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
_ROLE_ACCOUNT = re.compile(r"arn:[^:]*:iam::(\d{12}):")
_MAX_CIDR_BLOCKS = 256


class Absent(Enum):
    """Values that leave out the property or list item that they are given to."""

    NO_VALUE = "AWS::NoValue"
    MAYBE = "AWS::NoValue in one branch of an undecided Fn::If"


class UndecidedError(Exception):
    """Ends the evaluation of one intrinsic; its value is `UNKNOWN`."""


_Function: TypeAlias = Callable[["Scope", object], "Value | Absent"]


def undecided() -> list[Value]:
    """Raises `UndecidedError`, in an expression."""
    raise UndecidedError


def _arguments(value: object, *counts: int) -> list[object]:
    """The arguments of an intrinsic that takes a list of one of these lengths."""
    if not isinstance(value, list) or len(value) not in counts:
        raise UndecidedError
    return value


def _text(scope: Scope, value: object) -> str:
    """A string that is known completely; numbers count, as they do for CloudFormation."""
    found = joined(parts_of(scope.resolve(value)))
    if not isinstance(found, str):
        raise UndecidedError
    return found


def _integer(scope: Scope, value: object) -> int:
    text = _text(scope, value)
    if not text.isascii() or not text.isdigit() or len(text) > len("10000"):
        raise UndecidedError
    return int(text)


# Functions that read something from the template or its surroundings


def _ref(scope: Scope, argument: object) -> Value | Absent:
    if argument == "AWS::NoValue":
        return Absent.NO_VALUE
    if not isinstance(argument, str):
        raise UndecidedError
    if argument in scope.section("Parameters"):
        return scope.parameter(argument)
    if argument.startswith("AWS::"):
        return pseudo_parameter(argument, scope.environment)
    return _reference(scope, argument, None)


def _reference(scope: Scope, logical_id: str, attribute: str | None) -> Value:
    body = scope.resource(logical_id)
    if body is None or scope.present(body) is False:
        return UNKNOWN
    if attribute and attribute.startswith("Outputs.") and scope.neighbours:
        nested = scope.neighbours.nested(scope.stack, logical_id)
        if nested is not None:
            return nested.output(attribute.removeprefix("Outputs."))
    return Reference(stack=scope.stack, logical_id=logical_id, attribute=attribute)


def _get_att(scope: Scope, argument: object) -> Value:
    if isinstance(argument, str):
        logical_id, _, attribute = argument.partition(".")
    else:
        first, second = _arguments(argument, 2)
        logical_id, attribute = _text(scope, first), _text(scope, second)
    if not attribute:
        raise UndecidedError
    return _reference(scope, logical_id, attribute)


def _find_in_map(scope: Scope, argument: object) -> Value:
    arguments = _arguments(argument, 3, 4)
    name, top, second = (_text(scope, key) for key in arguments[:3])
    rows = scope.section("Mappings").get(name)
    row = rows.get(top) if isinstance(rows, Mapping) else None
    if isinstance(row, Mapping) and second in row:
        return scope.resolve(row[second])
    options = arguments[3] if len(arguments) == 4 else None  # noqa: PLR2004  # the fourth argument is optional
    if isinstance(options, Mapping) and "DefaultValue" in options:
        return scope.resolve(options["DefaultValue"])
    raise UndecidedError


def _import_value(scope: Scope, argument: object) -> Value:
    found = scope.neighbours.exported(_text(scope, argument), scope.environment) if scope.neighbours else None
    if found is None:
        raise UndecidedError
    exporter, output = found
    return exporter.output(output)


def _get_stack_output(scope: Scope, argument: object) -> Value:
    """`{StackName, Region, OutputName[, RoleArn]}`: the weak reference of the CDK, across Regions and accounts too."""
    if not isinstance(argument, Mapping) or scope.neighbours is None:
        raise UndecidedError
    region = scope.resolve(argument["Region"]) if "Region" in argument else scope.environment.region
    account = scope.environment.account
    if "RoleArn" in argument:
        arn = scope.resolve(argument["RoleArn"])
        found = _ROLE_ACCOUNT.match(arn.prefix if isinstance(arn, Text) else arn if isinstance(arn, str) else "")
        account = found[1] if found else None
    wanted = Environment(
        name=_text(scope, argument.get("StackName")),
        account=account,
        region=region if isinstance(region, str) else None,
    )
    stack = scope.neighbours.deployed(wanted)
    name = _text(scope, argument.get("OutputName"))
    output = UNKNOWN if stack is None else stack.output(name)
    # Weak, whatever it is: no stack of the assembly has an empty id.
    return Reference(stack="", logical_id=name, weak=True) if output is UNKNOWN else weakened(output)


# Functions of text and lists


def _sub(scope: Scope, argument: object) -> Value:
    template, given = _arguments(argument, 2) if isinstance(argument, list) else (argument, {})
    if not isinstance(template, str) or not isinstance(given, Mapping):
        raise UndecidedError
    parts: list[Part] = []
    end = 0
    for placeholder in _PLACEHOLDER.finditer(template):
        parts.append(template[end : placeholder.start()])
        parts += _substitute(scope, placeholder[1].strip(), given)
        end = placeholder.end()
    return joined([*parts, template[end:]])


def _substitute(scope: Scope, name: str, given: Mapping[str, object]) -> tuple[Part, ...]:
    if name.startswith("!"):
        return ("${" + name.removeprefix("!") + "}",)
    if name in given:
        return parts_of(scope.resolve(given[name]))
    return parts_of(scope.resolve({"Fn::GetAtt": name} if "." in name else {"Ref": name}))


def _join(scope: Scope, argument: object) -> Value:
    delimiter, values = _arguments(argument, 2)
    if not isinstance(delimiter, str):
        raise UndecidedError
    items = scope.items(values)
    if any(isinstance(item, list | dict) for item in items):
        raise UndecidedError
    parts = [part for item in items for part in (delimiter, *parts_of(item))]
    return joined(parts[1:])


def _select(scope: Scope, argument: object) -> Value:
    index, values = _arguments(argument, 2)
    position, items = _integer(scope, index), scope.items(values)
    if position >= len(items):
        raise UndecidedError
    return items[position]


def _split(scope: Scope, argument: object) -> Value:
    delimiter, value = _arguments(argument, 2)
    if not isinstance(delimiter, str):
        raise UndecidedError
    return split(scope.resolve(value), delimiter)


def _base64(scope: Scope, argument: object) -> Value:
    return base64.b64encode(_text(scope, argument).encode()).decode()


def _length(scope: Scope, argument: object) -> Value:
    return len(scope.items(argument))


def _to_json_string(scope: Scope, argument: object) -> Value:
    value = scope.resolve(argument)
    if not isinstance(value, list | dict) or not is_known(value):
        raise UndecidedError
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _cidr(scope: Scope, argument: object) -> Value:
    """`[block, count, host bits]`: consecutive blocks of that many addresses (a power of two) from the start."""
    block, count, bits = _arguments(argument, 3)
    amount, host_bits = _integer(scope, count), _integer(scope, bits)
    try:
        network = ipaddress.ip_network(_text(scope, block), strict=False)
        blocks = list(islice(network.subnets(new_prefix=network.max_prefixlen - host_bits), amount))
    except ValueError:
        raise UndecidedError from None
    if not 1 <= len(blocks) == amount <= _MAX_CIDR_BLOCKS:
        raise UndecidedError
    return [str(found) for found in blocks]


# Conditions


def decided(scope: Scope, value: object) -> bool | Unknown:
    """A condition expression. `Condition` is an intrinsic here only: elsewhere it is a key of IAM policies."""
    if isinstance(value, Mapping) and set(value) == {"Condition"}:
        return scope.condition(value["Condition"])
    found = scope.resolve(value)
    if isinstance(found, bool):
        return found
    return found == "true" if found in ("true", "false") else UNKNOWN


def _equals(scope: Scope, argument: object) -> bool | Unknown:
    left, right = (scope.resolve(side) for side in _arguments(argument, 2))
    if not is_known(left) or not is_known(right):
        return UNKNOWN
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return left == right
    return parts_of(left) == parts_of(right)


def _operands(scope: Scope, argument: object) -> list[bool | Unknown]:
    if not isinstance(argument, list) or not argument:
        raise UndecidedError
    return [decided(scope, operand) for operand in argument]


def _and(scope: Scope, argument: object) -> bool | Unknown:
    operands = _operands(scope, argument)
    if any(operand is False for operand in operands):
        return False
    return UNKNOWN if UNKNOWN in operands else True


def _or(scope: Scope, argument: object) -> bool | Unknown:
    operands = _operands(scope, argument)
    if any(operand is True for operand in operands):
        return True
    return UNKNOWN if UNKNOWN in operands else False


def _not(scope: Scope, argument: object) -> bool | Unknown:
    operand = decided(scope, _arguments(argument, 1)[0])
    return UNKNOWN if operand is UNKNOWN else not operand


def _if(scope: Scope, argument: object) -> Value | Absent:
    name, *branches = _arguments(argument, 3)
    condition = scope.condition(name)
    if condition is not UNKNOWN:
        return scope.evaluate(branches[0 if condition else 1])  # keeps `AWS::NoValue` apart from null
    first, second = (scope.evaluate(branch) for branch in branches)
    if first == second:
        return first
    return Absent.MAYBE if isinstance(first, Absent) or isinstance(second, Absent) else UNKNOWN


FUNCTIONS: Mapping[str, _Function] = {
    "Fn::And": _and,
    "Fn::Base64": _base64,
    "Fn::Cidr": _cidr,
    "Fn::Equals": _equals,
    "Fn::FindInMap": _find_in_map,
    "Fn::GetAtt": _get_att,
    "Fn::GetStackOutput": _get_stack_output,
    "Fn::If": _if,
    "Fn::ImportValue": _import_value,
    "Fn::Join": _join,
    "Fn::Length": _length,
    "Fn::Not": _not,
    "Fn::Or": _or,
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::Sub": _sub,
    "Fn::ToJsonString": _to_json_string,
    "Ref": _ref,
}
