"""Resolves intrinsic functions as far as the files of one assembly allow.

Whatever cannot be decided, and whatever is malformed, is `UNKNOWN`: a reader of other people's templates must not raise
on them. Conditions are three-valued. Nothing here knows what the values are for.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import Protocol, TypeAlias, TypeVar

from hyperpod_constructs.cloudformation.parameters import Environment, parameter, pseudo_parameter
from hyperpod_constructs.cloudformation.values import (
    Part,
    Reference,
    Text,
    Value,
    is_known,
    joined,
    parts_of,
    resolved_text,
    split,
    weakened,
)
from hyperpod_constructs.tokens import UNKNOWN, Unknown

T = TypeVar("T")

MAX_DEPTH = 90
"""Nested values and references followed at once; deeper ones are `UNKNOWN`. A level costs up to six Python frames."""

_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
_ROLE_ACCOUNT = re.compile(r"arn:[^:]*:iam::(\d{12}):")
_MAX_CIDR_BLOCKS = 256


class _Absent(Enum):
    NO_VALUE = "AWS::NoValue"
    MAYBE = "AWS::NoValue in one branch of an undecided Fn::If"


class _UndecidedError(Exception):
    """Ends the evaluation of one intrinsic; its value is `UNKNOWN`."""


class Neighbours(Protocol):
    """What a stack can refer to outside its own template."""

    def nested(self, stack: str, logical_id: str) -> Scope | None:
        """The nested stack behind an `AWS::CloudFormation::Stack`, where its template is at hand."""

    def exported(self, name: str, importer: Environment) -> tuple[Scope, str] | None:
        """The stack and output that export a name to importers in this account and Region."""

    def deployed(self, environment: Environment) -> Scope | None:
        """The one stack of this name that can be in this account and Region."""


@dataclass(slots=True)
class Trail:
    """What is being resolved at this moment, over all stacks of an assembly: it ends circles and bounds the depth.

    The bound alone would end circles too, but only after it spoiled everything they touch on the way down.
    """

    depth: int = 0
    active: set[tuple[str, str, str]] = field(default_factory=set)


class Scope:
    """One template with all that its intrinsics may refer to."""

    def __init__(
        self,
        template: Mapping[str, object],
        *,
        stack: str,
        environment: Environment,
        parameters: Mapping[str, Value] | None = None,
        parent: tuple[Scope, str] | None = None,
        neighbours: Neighbours | None = None,
        trail: Trail | None = None,
    ) -> None:
        """Binds a template to its surroundings.

        Args:
            template: The decoded template.
            stack: `Stack.id`, for references.
            environment: Name, account and Region of the stack.
            parameters: Values given at deploy.
            parent: Scope and logical id of the resource that makes this a nested stack.
            neighbours: The other stacks; `None` when there are none.
            trail: Shared by all scopes that can reach each other.
        """
        self.template = template
        self.stack = stack
        self.environment = environment
        self.neighbours = neighbours
        self._parameters = parameters or {}
        self._parent = parent
        self._trail = trail or Trail()
        self._done: dict[tuple[str, str], object] = {}

    def forget(self) -> None:
        """Drops what was resolved before all neighbours were known."""
        self._done.clear()

    def resolve(self, value: object) -> Value:
        """The value with every intrinsic in it resolved; `None` for `AWS::NoValue`."""
        found = self._evaluate(value)
        if found is _Absent.NO_VALUE:
            return None
        return UNKNOWN if isinstance(found, _Absent) else found

    def items(self, value: object) -> list[Value]:
        """A list whose length is certain.

        Raises:
            _UndecidedError: It is no list, or an item may be absent. Handlers let this pass.
        """
        if not isinstance(value, list):
            found = self.resolve(value)
            return found if isinstance(found, list) else _undecided()
        items = [self._evaluate(item) for item in value]
        if any(item is _Absent.MAYBE for item in items):
            _undecided()
        return [item for item in items if not isinstance(item, _Absent)]

    def section(self, name: str) -> Mapping[str, object]:
        """A top-level mapping of the template, empty where it is missing or no mapping."""
        found = self.template.get(name)
        return found if isinstance(found, Mapping) else {}

    def resource(self, logical_id: object) -> Mapping[str, object] | None:
        """The raw resource."""
        found = self.section("Resources").get(logical_id) if isinstance(logical_id, str) else None
        return found if isinstance(found, Mapping) and isinstance(found.get("Type"), str) else None

    def present(self, body: Mapping[str, object]) -> bool | Unknown:
        """Whether a resource or output is made, by its `Condition`."""
        return self.condition(body["Condition"]) if "Condition" in body else True

    def condition(self, name: object) -> bool | Unknown:
        """A condition of the template."""
        conditions = self.section("Conditions")
        if not isinstance(name, str) or name not in conditions:
            return UNKNOWN
        return self._once("condition", name, lambda: _decided(self, conditions[name]))

    def parameter(self, name: str) -> Value:
        """A parameter, from the parent stack, the manifest or its default."""
        declaration = self.section("Parameters").get(name)
        return self._once("parameter", name, lambda: parameter(declaration, self._given(name)))

    def output(self, name: str) -> Value:
        """An output. CloudFormation has outputs of text only, so anything else is `UNKNOWN`."""
        body = self.section("Outputs").get(name)
        if not isinstance(body, Mapping) or self.present(body) is False:
            return UNKNOWN
        return self._once("output", name, lambda: joined(parts_of(self.resolve(body.get("Value")))))

    def exports(self) -> Iterator[tuple[str, str]]:
        """The exports whose names are known: (export name, output name)."""
        for output, body in self.section("Outputs").items():
            export = body.get("Export") if isinstance(body, Mapping) else None
            if not isinstance(body, Mapping) or not isinstance(export, Mapping) or self.present(body) is False:
                continue
            name = self.resolve(export.get("Name"))
            if isinstance(name, str):
                yield name, output

    def _given(self, name: str) -> Value:
        if self._parent is None:
            return self._parameters.get(name)
        scope, logical_id = self._parent
        properties = (scope.resource(logical_id) or {}).get("Properties")
        given = properties.get("Parameters") if isinstance(properties, Mapping) else UNKNOWN
        if given is None:
            return None
        if isinstance(given, Mapping) and not any(key.startswith("Fn::") for key in given):
            return scope.resolve(given.get(name))  # one by one, so that they need not all be decidable
        found = scope.resolve(given)
        return found.get(name) if isinstance(found, dict) else UNKNOWN

    def _once(self, kind: str, name: str, compute: Callable[[], T]) -> T | Unknown:
        if (kind, name) in self._done:
            return self._done[kind, name]  # type: ignore[return-value]  # stored below under the same key
        step = (self.stack, kind, name)
        if step in self._trail.active or self._trail.depth >= MAX_DEPTH:
            return UNKNOWN
        self._trail.active.add(step)
        self._trail.depth += 1
        try:
            found = compute()
        finally:
            self._trail.depth -= 1
            self._trail.active.discard(step)
        self._done[kind, name] = found
        return found

    def _evaluate(self, value: object) -> Value | _Absent:
        if isinstance(value, str):
            return resolved_text(value)
        if isinstance(value, dict | list):
            if self._trail.depth >= MAX_DEPTH:
                return UNKNOWN
            self._trail.depth += 1
            try:
                return self._mapping(value) if isinstance(value, dict) else self._list(value)
            finally:
                self._trail.depth -= 1
        return value  # type: ignore[return-value]  # a decoded document has nothing else than scalars here

    def _list(self, value: list[object]) -> Value:
        items = [self._evaluate(item) for item in value]
        return [UNKNOWN if isinstance(i, _Absent) else i for i in items if i is not _Absent.NO_VALUE]

    def _mapping(self, value: dict[str, object]) -> Value | _Absent:
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name in _FUNCTIONS:
                try:
                    return _FUNCTIONS[name](self, argument)
                except _UndecidedError:
                    return UNKNOWN
        if any(key.startswith("Fn::") for key in value):
            return UNKNOWN  # a macro or loop that adds keys, or a function this package does not know
        items = {key: self._evaluate(item) for key, item in value.items()}
        return {k: UNKNOWN if isinstance(v, _Absent) else v for k, v in items.items() if v is not _Absent.NO_VALUE}


_Function: TypeAlias = Callable[[Scope, object], "Value | _Absent"]


def _undecided() -> list[Value]:
    raise _UndecidedError


def _arguments(value: object, *counts: int) -> list[object]:
    """The arguments of an intrinsic that takes a list of one of these lengths."""
    if not isinstance(value, list) or len(value) not in counts:
        raise _UndecidedError
    return value


def _text(scope: Scope, value: object) -> str:
    """A string that is known completely; numbers count, as they do for CloudFormation."""
    found = joined(parts_of(scope.resolve(value)))
    if not isinstance(found, str):
        raise _UndecidedError
    return found


def _integer(scope: Scope, value: object) -> int:
    text = _text(scope, value)
    if not text.isascii() or not text.isdigit() or len(text) > len("10000"):
        raise _UndecidedError
    return int(text)


# Functions that read something from the template or its surroundings


def _ref(scope: Scope, argument: object) -> Value | _Absent:
    if argument == "AWS::NoValue":
        return _Absent.NO_VALUE
    if not isinstance(argument, str):
        raise _UndecidedError
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
        raise _UndecidedError
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
    raise _UndecidedError


def _import_value(scope: Scope, argument: object) -> Value:
    found = scope.neighbours.exported(_text(scope, argument), scope.environment) if scope.neighbours else None
    if found is None:
        raise _UndecidedError
    exporter, output = found
    return exporter.output(output)


def _get_stack_output(scope: Scope, argument: object) -> Value:
    """`{StackName, Region, OutputName[, RoleArn]}`: the weak reference of the CDK, across Regions and accounts too."""
    if not isinstance(argument, Mapping) or scope.neighbours is None:
        raise _UndecidedError
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
    if stack is None:
        raise _UndecidedError
    return weakened(stack.output(_text(scope, argument.get("OutputName"))))


# Functions of text and lists


def _sub(scope: Scope, argument: object) -> Value:
    template, given = _arguments(argument, 2) if isinstance(argument, list) else (argument, {})
    if not isinstance(template, str) or not isinstance(given, Mapping):
        raise _UndecidedError
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
        raise _UndecidedError
    items = scope.items(values)
    if any(isinstance(item, list | dict) for item in items):
        raise _UndecidedError
    parts = [part for item in items for part in (delimiter, *parts_of(item))]
    return joined(parts[1:])


def _select(scope: Scope, argument: object) -> Value:
    index, values = _arguments(argument, 2)
    position, items = _integer(scope, index), scope.items(values)
    if position >= len(items):
        raise _UndecidedError
    return items[position]


def _split(scope: Scope, argument: object) -> Value:
    delimiter, value = _arguments(argument, 2)
    if not isinstance(delimiter, str):
        raise _UndecidedError
    return split(scope.resolve(value), delimiter)


def _base64(scope: Scope, argument: object) -> Value:
    return base64.b64encode(_text(scope, argument).encode()).decode()


def _length(scope: Scope, argument: object) -> Value:
    return len(scope.items(argument))


def _to_json_string(scope: Scope, argument: object) -> Value:
    value = scope.resolve(argument)
    if not isinstance(value, list | dict) or not is_known(value):
        raise _UndecidedError
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _cidr(scope: Scope, argument: object) -> Value:
    """`[block, count, host bits]`: consecutive blocks of that many addresses (a power of two) from the start."""
    block, count, bits = _arguments(argument, 3)
    amount, host_bits = _integer(scope, count), _integer(scope, bits)
    try:
        network = ipaddress.ip_network(_text(scope, block), strict=False)
        blocks = list(islice(network.subnets(new_prefix=network.max_prefixlen - host_bits), amount))
    except ValueError:
        raise _UndecidedError from None
    if not 1 <= len(blocks) == amount <= _MAX_CIDR_BLOCKS:
        raise _UndecidedError
    return [str(found) for found in blocks]


# Conditions


def _decided(scope: Scope, value: object) -> bool | Unknown:
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
        raise _UndecidedError
    return [_decided(scope, operand) for operand in argument]


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
    operand = _decided(scope, _arguments(argument, 1)[0])
    return UNKNOWN if operand is UNKNOWN else not operand


def _if(scope: Scope, argument: object) -> Value | _Absent:
    name, *branches = _arguments(argument, 3)
    condition = scope.condition(name)
    if condition is not UNKNOWN:
        return scope._evaluate(branches[0 if condition else 1])  # noqa: SLF001  # keeps `AWS::NoValue` apart from null
    first, second = (scope._evaluate(branch) for branch in branches)  # noqa: SLF001  # as above
    if first == second:
        return first
    return _Absent.MAYBE if isinstance(first, _Absent) or isinstance(second, _Absent) else UNKNOWN


_FUNCTIONS: Mapping[str, _Function] = {
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
