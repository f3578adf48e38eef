"""Reads model values out of maps that anybody may have written: what is wrong is an `Invalid`, never an exception.

A `Node` is one value of a template together with where it stands. What a property is called and how it is read is said
in tables (`Fields`), one for each noun, so that a decoder is a list of names and not a program.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeGuard, TypeVar

from hyperpod_constructs.cloudformation.values import Reference, Text, Value, joined, parts_of
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.deployment import Invalid, Location
from hyperpod_constructs.tokens import UNKNOWN, Unknown

T = TypeVar("T")

Steps: TypeAlias = tuple[str | int, ...]
"""Keys and indexes that lead to a value."""

_WHOLE = re.compile(r"[-+]?\d{1,18}", re.ASCII)
_LARGEST = 10**18
_PLACEHOLDER = re.compile(r"\$\{[A-Za-z][A-Za-z0-9:.]*\}")
_SHOWN_CHARACTERS = 60

_SAME_RESOURCE = frozenset(
    # What an attribute gives is the resource itself, under one of its names.
    {
        "AllocationId",
        "Arn",
        "ClusterArn",
        "DNSName",
        "GroupId",
        "Id",
        "InternetGatewayId",
        "KeyId",
        "LustreMountName",
        "NatGatewayId",
        "PolicyArn",
        "RouteTableId",
        "SubnetId",
        "TopicArn",
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One pass over one input.

    Attributes:
        path_of: Path of the resource that a reference names; `None` where the input does not have it.
        text_of: Text that a reference will certainly be; `None` where only the deploy decides it.
        type_of: Type of the resource that a reference names; `None` where the input does not have it.
        found: What can never be right, each once, in the order found.
        places: The last of them by owner and steps.
    """

    path_of: Callable[[Reference], str | None]
    text_of: Callable[[Reference], str | None] = lambda _: None
    type_of: Callable[[Reference], str | None] = lambda _: None
    found: dict[Invalid, None] = field(default_factory=dict)
    places: dict[tuple[str, Steps], Invalid] = field(default_factory=dict)

    @property
    def invalid(self) -> tuple[Invalid, ...]:
        """Everything reported so far."""
        return tuple(self.found)


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a template declares of one of its parameters: name and type."""

    name: str
    type: str

    @property
    def is_list(self) -> bool:
        """Whether its value is a list; every other type is text or a number."""
        return "List" in re.split(r"[<>]", self.type) or "CommaDelimitedList" in self.type


@dataclass(frozen=True, slots=True)
class Node:
    """One value and where it stands.

    Attributes:
        value: What the template says; `None` where it is left out.
        owner: Path of the resource or instance group that findings point to.
        reading: The pass that this belongs to.
        steps: What leads here from the resource's properties, or from another section of it.
        locate: Finds the line of what some steps lead to; `None` where the input was no file.
        open: Whether something that nobody can read, such as a macro or a backup, may add what is left out here.
        parameter: Finds the parameter that stands alone where some steps lead, as in `Subnets: !Ref SubnetIds`.
    """

    value: Value
    owner: str
    reading: Reading
    steps: Steps = ()
    locate: Callable[[Steps], Location] | None = None
    open: bool = False
    parameter: Callable[[Steps], Parameter | None] | None = None

    @property
    def where(self) -> str:
        """Property path within the resource, such as `InstanceGroups[0].InstanceCount`."""
        return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps).removeprefix(".")

    def report(self, message: str, fix: str, *, certain: bool = True) -> None:
        """Records that this value can never be right.

        Args:
            message: What is wrong, to be read after the name of the property.
            fix: The change to make, with the values allowed.
            certain: See `Invalid`.
        """
        self._record(f"{self.where} {message}", fix, certain=certain)

    def refuse(self, error: InvalidValue) -> None:
        """Records why the model refuses this value."""
        self._record(f"{self.where}: {error.wrong}" if self.steps else error.wrong, error.fix)

    def _record(self, message: str, fix: str, *, certain: bool = True) -> None:
        location = self.locate(self.steps) if self.locate else None
        if isinstance(self.value, str) and _PLACEHOLDER.search(self.value):
            fix = f"write !Sub before the text, so that CloudFormation fills in ${{...}}; or {fix}"
        invalid = Invalid(self.owner, message, fix, location, certain)
        self.reading.found[invalid] = None
        self.reading.places[self.owner, self.steps] = invalid

    @property
    def reported(self) -> bool:
        """Whether something was reported of this value or of one that it is a part of."""
        around = (self.steps[:length] for length in range(1, len(self.steps) + 1))
        return any((self.owner, steps) in self.reading.places for steps in around)

    def withdraw(self) -> None:
        """Takes back what was reported of this value and of what is in it, where something else explains it."""
        for owner, steps in list(self.reading.places):
            if owner == self.owner and steps[: len(self.steps)] == self.steps:
                self.reading.found.pop(self.reading.places.pop((owner, steps)), None)

    @property
    def given(self) -> bool:
        """Whether anything stands here, known or not."""
        return self.value is not None

    @property
    def undecided(self) -> bool:
        """Whether the value is known only at deploy."""
        return isinstance(self.value, Reference | Text) or self.value is UNKNOWN

    def __getitem__(self, name: str) -> Node:
        """The property of this name; of something that is no map it is left out or not known, like the thing itself."""
        mapping = self.mapping()
        value = mapping.get(name) if isinstance(mapping, dict) else mapping
        return self._inner(UNKNOWN if value is None and self.open else value, name)

    def at(self, path: str) -> Node:
        """The node at the end of a path of property names with dots between them; this one for an empty path."""
        node = self
        for name in path.split(".") if path else ():
            node = node[name]
        return node

    def mapping(self) -> dict[str, Value] | Unknown | None:
        """The value as a map."""
        if self.value is None or isinstance(self.value, dict):
            return self.value
        return self._refused("a map")

    def optional(self, read: Callable[[Node], T]) -> T | Unknown | None:
        """What a reader makes of a map; `None` if the map is left out."""
        mapping = self.mapping()
        return read(self) if isinstance(mapping, dict) else mapping

    def items(self) -> tuple[Node, ...] | Unknown:
        """The elements of a list; none if it is left out."""
        if self.value is None:
            return ()
        if not isinstance(self.value, list):
            self._refuse_one_text()
            return self._refused("a list")
        return tuple(self._element(index, value) for index, value in enumerate(self.value))

    def one_or_more(self) -> tuple[Node, ...] | Unknown:
        """The elements of a list that may be written as its only element, as in policy documents."""
        if self.value is UNKNOWN:
            return UNKNOWN
        return self.items() if self.value is None or isinstance(self.value, list) else (self,)

    def each(self, read: Callable[[Node], T | Unknown | None]) -> tuple[T | Unknown, ...] | Unknown:
        """Every element read by the same reader."""
        items = self.items()
        return UNKNOWN if items is UNKNOWN else tuple(item.must(read) for item in items)

    def every(self, read: Callable[[Node], T | Unknown | None]) -> tuple[T, ...] | Unknown:
        """Every element that the same reader makes something of; `UNKNOWN` as soon as one of them is."""
        items = self.items()
        values = UNKNOWN if items is UNKNOWN else [read(item) for item in items]
        if values is UNKNOWN or any(value is UNKNOWN for value in values):
            return UNKNOWN
        return tuple(value for value in values if value is not None)  # type: ignore[misc]  # UNKNOWN is excluded above

    def required(self) -> Node:
        """The same node; after a report, one that is not known if nothing stands here."""
        if self.value is not None:
            return self
        self.report("is missing", f"give {self.steps[-1] if self.steps else 'it'}: it is required")
        return replace(self, value=UNKNOWN)

    def must(self, read: Callable[[Node], T | Unknown | None]) -> T | Unknown:
        """What a reader makes of this node, which has to be there."""
        found = read(self.required())
        return UNKNOWN if found is None else found

    def text(self) -> str | Unknown | None:
        """The value as text; CloudFormation turns numbers and truth values into text."""
        value = self.value
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is UNKNOWN and self.steps and isinstance(self.steps[-1], int):
            self._refuse_inner_list()
        return str(value) if _is_number(value) and abs(value) < _LARGEST else self._refused("text")

    def one_of(self, *allowed: str) -> str | Unknown | None:
        """The value as one of some words."""
        value = self.text()
        if value is None or value is UNKNOWN or value in allowed:
            return value
        self.report(f"is {shown(value)}", f"use {' or '.join(allowed)}")
        return UNKNOWN

    def checked(self, check: Callable[[str, object], None]) -> str | Unknown | None:
        """The value as text that passes one of the model's checks."""
        value = self.text()
        if value is None:
            return None
        try:
            check(self.where, value)
        except InvalidValue as error:
            self._record(error.wrong, error.fix)
            return UNKNOWN
        return value

    def whole(self) -> int | Unknown | None:
        """The value as a whole number; `"2"` is one for CloudFormation."""
        value = self.value
        if value is None:
            return None
        if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
            return int(value)
        if _is_number(value) and value == int(value) and abs(value) < _LARGEST:
            return int(value)
        return self._refused("a whole number")

    def number(self) -> float | Unknown | None:
        """The value as a finite number."""
        value = self.value
        if value is None:
            return None
        try:
            number = float(value) if isinstance(value, str) or _is_number(value) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        return number if math.isfinite(number) else self._refused("a number")

    def flag(self) -> bool | Unknown | None:
        """The value as true or false, in words too."""
        value = self.value
        if value is None or isinstance(value, bool):
            return value
        word = value.lower() if isinstance(value, str) else ""
        return word == "true" if word in {"true", "false"} else self._refused("true or false")

    def path(self) -> str | Unknown | None:
        """The path of the resource that the value refers to; the value itself where it is plain text such as an id.

        Text around a single reference (an ARN built from a name, a DNS name built from an id) stands for its resource.
        """
        value = self.value
        references = [value] if isinstance(value, Reference) else value.references if isinstance(value, Text) else []
        if len(references) != 1:
            return self.text()
        path = self.reading.path_of(references[0])
        attribute = references[0].attribute
        if path is None:
            return UNKNOWN
        return path if attribute is None or attribute in _SAME_RESOURCE else f"{path}.{attribute}"

    def pattern(self) -> str | Unknown | None:
        """The value as text with `*` for what is decided at deploy; `UNKNOWN` where already its beginning is."""
        value = self._named()
        if not isinstance(value, Text) or not value.prefix:
            return replace(self, value=value).text()
        return "".join(part if isinstance(part, str) else "*" for part in value.parts)

    def beginning(self) -> str | Unknown | None:
        """The value as text, or its known beginning followed by `*`."""
        value = self._named()
        if not isinstance(value, Text) or not value.prefix:
            return replace(self, value=value).text()
        return value.prefix + "*"

    def _named(self) -> Value:
        """The value with the names of resources in it, as far as the input gives those names."""
        if not isinstance(self.value, Reference | Text):
            return self.value
        text_of = self.reading.text_of
        return joined((text_of(part) or part) if isinstance(part, Reference) else part for part in parts_of(self.value))

    def build(self, kind: Callable[..., T], fields: Fields, /, **fixed: object) -> T:
        """A value of which each field is read by a table; a field that the value refuses is reported and not known.

        Args:
            kind: A class of the model whose fields may all be `UNKNOWN`.
            fields: How each field is read.
            **fixed: Further fields.
        """
        values = {name: read(self.at(where)) for name, (where, read) in fields.items()}
        try:
            return kind(**fixed, **values)
        except InvalidValue:
            return self._build_slowly(kind, fields, values, fixed)

    def build_known(self, kind: Callable[..., T], fields: Fields, /, **fixed: object) -> T | Unknown:
        """A value of which each field is read by a table; not known as soon as one field is not, or is refused."""
        values = {name: read(self.at(where)) for name, (where, read) in fields.items()}
        if any(value is UNKNOWN for value in values.values()):
            return UNKNOWN
        try:
            return kind(**fixed, **values)
        except InvalidValue as error:
            self.refuse(error)
            return UNKNOWN

    def _build_slowly(
        self, kind: Callable[..., T], fields: Fields, values: Mapping[str, object], fixed: Mapping[str, object]
    ) -> T:
        """Adds field after field, so that each refused one is named and left out."""
        good: dict[str, object] = dict.fromkeys(values, UNKNOWN)
        for name, value in values.items():
            try:
                kind(**fixed, **{**good, name: value})
            except InvalidValue as error:
                self.at(fields[name][0]).refuse(error)
            else:
                good[name] = value
        return kind(**fixed, **good)

    def _element(self, index: int, value: Value) -> Node:
        # An empty element is not left out: it stands there.
        return self._inner(UNKNOWN if value is None else value, index)

    def _inner(self, value: Value, step: str | int) -> Node:
        # `replace` would ask the class for its fields first: this runs for every value of a template.
        return Node(value, self.owner, self.reading, (*self.steps, step), self.locate, self.open, self.parameter)

    def _refuse_one_text(self) -> None:
        """Reports one text where a list belongs, which is certain even before anybody knows the text."""
        found = self._only_parameter()
        if found and not found.is_list:
            self.report(
                f"is the parameter {found.name}, one text (type {found.type}) and no list",
                f"put it into a list: [!Ref {found.name}]",
            )
        elif isinstance(self.value, Text) or (isinstance(self.value, Reference) and self.value.is_text):
            self.report(f"is {shown(self.value)}, one text and no list", f"put it into a list: [{shown(self.value)}]")

    def _refuse_inner_list(self) -> None:
        """Reports a list as an element of a list of texts."""
        found = self._only_parameter()
        if found and found.is_list:
            self.report(
                f"is the parameter {found.name}, a whole list (type {found.type})",
                f"leave out the list around it: !Ref {found.name}",
            )

    def _only_parameter(self) -> Parameter | None:
        """The parameter of which nobody knows the value yet and which is all that stands here."""
        return self.parameter(self.steps) if self.value is UNKNOWN and self.parameter else None

    def _refused(self, wanted: str) -> Unknown:
        """Not known; and a report, unless that is because the value is decided at deploy."""
        if not self.undecided:
            self.report(f"is {shown(self.value)}", f"use {wanted}")
        return UNKNOWN


Reader: TypeAlias = Callable[[Node], object]

Fields: TypeAlias = Mapping[str, tuple[str, Reader]]
"""By field of the model: path of the property that carries it (empty for several), and how it is read."""


def required(read: Reader) -> Reader:
    """A reader of what has to be there."""
    return lambda node: node.must(read)


def otherwise(read: Reader, *, default: object) -> Reader:
    """A reader that knows what a property left out means."""
    return lambda node: default if (found := read(node)) is None else found


def one_of(*allowed: str) -> Reader:
    """A reader of one of some words."""
    return lambda node: node.one_of(*allowed)


def each(read: Reader) -> Reader:
    """A reader of a list of which some elements may not be known."""
    return lambda node: node.each(read)


def every(read: Reader) -> Reader:
    """A reader of a list that is known as a whole or not at all."""
    return lambda node: node.every(read)


def weak(*names: str) -> Reader:
    """A reader of those of some properties of which an element is reached through a weak reference."""
    return lambda node: tuple(name for name in names if _is_weak(node[name].value))


def _is_weak(value: Value) -> bool:
    """Whether CloudFormation does not hold in place what a value refers to."""
    if isinstance(value, list):
        return any(_is_weak(item) for item in value)
    references = (value,) if isinstance(value, Reference) else value.references if isinstance(value, Text) else ()
    return any(reference.weak for reference in references)


def optional(read: Reader) -> Reader:
    """A reader of a map that may be left out."""
    return lambda node: node.optional(read)


def shown(value: object) -> str:
    """A value as a message shows it: short, whatever it holds."""
    try:
        text = repr(_written(value))
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


class _Intrinsic(str):
    """What a template has in place of a text; shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _written(value: object) -> object:
    """A value with what is decided at deploy as a template would write it."""
    if isinstance(value, Reference):
        if not value.stack:
            return _Intrinsic(f"!GetStackOutput {value.logical_id}")
        at = f"!GetAtt {value.logical_id}.{value.attribute}" if value.attribute else f"!Ref {value.logical_id}"
        return _Intrinsic(at)
    if isinstance(value, Text):
        parts = (part if isinstance(part, str) else "${" + _name(part) + "}" for part in value.parts)
        return _Intrinsic(f"!Sub '{''.join(parts)}'")
    if isinstance(value, list):
        return [_written(item) for item in value]
    if isinstance(value, dict):
        return {key: _written(item) for key, item in value.items()}
    return _Intrinsic("(decided at deploy)") if value is UNKNOWN else value


def _name(part: Reference | Unknown) -> str:
    """How `Fn::Sub` calls a part of a text."""
    if not isinstance(part, Reference):
        return "?"
    return f"{part.logical_id}.{part.attribute}" if part.attribute else part.logical_id


def _is_number(value: object) -> TypeGuard[int | float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
