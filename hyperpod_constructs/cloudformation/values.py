"""What a template's text becomes once intrinsics are resolved: plain values, and three kinds of not quite known.

`UNKNOWN` is decided only at deploy. A `Reference` is too, but says which resource decides it. A `Text` is a string of
which some parts are known, often all that a check needs (the bucket of an ARN, the end of a URL).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hyperpod_constructs.tokens import UNKNOWN, Unknown, is_placeholder

MAX_TEXT = 1024 * 1024
"""Characters. Longer strings are `UNKNOWN`: outputs that repeat each other could double without end."""

_DYNAMIC = "{{resolve:"
# What ids, names, ARNs, addresses and URLs never contain, so that splitting there cannot cut a reference in two.
_NEVER_INSIDE_A_REFERENCE = frozenset(",|")
# Attributes that are such a text. Those of a custom resource or a nested stack can be lists in one text.
_ONE_TEXT = frozenset(
    {
        "AllocationId",
        "Arn",
        "CidrBlock",
        "ClusterArn",
        "ClusterName",
        "DNSName",
        "DefaultSecurityGroup",
        "DomainName",
        "GroupId",
        "GroupName",
        "Id",
        "InternetGatewayId",
        "KeyId",
        "LustreMountName",
        "NatGatewayId",
        "PolicyArn",
        "RoleId",
        "RootVolumeId",
        "RouteTableId",
        "SubnetId",
        "TopicArn",
        "TopicName",
        "VpcId",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A value that a resource of the assembly has once it is deployed.

    Attributes:
        stack: `Stack.id` of the stack that holds the resource.
        logical_id: Of the resource, in that stack's template.
        attribute: As in `Fn::GetAtt`; `None` for `Ref`.
        weak: Reached through `Fn::GetStackOutput`, so CloudFormation does not hold the resource in place for its users.
            Plays no part in equality.
    """

    stack: str
    logical_id: str
    attribute: str | None = None
    weak: bool = field(default=False, compare=False)

    @property
    def is_one_text(self) -> bool:
        """Whether it is certainly one id, name, ARN or address, and neither a list nor several in one text."""
        # Without a stack it is some output that a weak reference reaches, see `intrinsics`.
        return bool(self.stack) and (self.attribute is None or self.attribute in _ONE_TEXT)

    @property
    def is_text(self) -> bool:
        """Whether it is certainly text, be it several values in one: stacks have outputs of text only."""
        return self.is_one_text or not self.stack or str(self.attribute).startswith("Outputs.")


Part: TypeAlias = str | Reference | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A string of which only parts are known.

    Attributes:
        parts: In order; never two strings or two `UNKNOWN` side by side, and always more than one part.
    """

    parts: tuple[Part, ...]

    @property
    def prefix(self) -> str:
        """The known beginning, possibly empty."""
        return first if isinstance(first := self.parts[0], str) else ""

    @property
    def suffix(self) -> str:
        """The known end, possibly empty."""
        return last if isinstance(last := self.parts[-1], str) else ""

    @property
    def references(self) -> tuple[Reference, ...]:
        """The resources that decide the unknown parts, as far as they are in the assembly."""
        return tuple(part for part in self.parts if isinstance(part, Reference))


Value: TypeAlias = "str | int | float | bool | Unknown | Reference | Text | list[Value] | dict[str, Value] | None"
"""A resolved value. In a list, an `UNKNOWN` item may also turn out to be absent (`Fn::If` with `AWS::NoValue`)."""


def parts_of(value: Value) -> tuple[Part, ...]:
    """A value as CloudFormation would put it into a string; what is no scalar is one `UNKNOWN`."""
    if isinstance(value, Text):
        return value.parts
    if isinstance(value, str | Reference):
        return (value,)
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, int | float):
        return (str(value),)
    return (UNKNOWN,)


def joined(parts: Iterable[Part]) -> str | Reference | Text | Unknown:
    """The shortest value that says the same as these parts one after the other.

    Dynamic references (`{{resolve:ssm:…}}`) become `UNKNOWN`, also where one stretches over several parts. What holds a
    placeholder of the CDK is `UNKNOWN` altogether.
    """
    merged = _merged(_without_dynamic(_merged(parts)))
    if not merged:
        return ""
    if any(map(is_placeholder, merged)) or sum(len(part) for part in merged if isinstance(part, str)) > MAX_TEXT:
        return UNKNOWN
    return merged[0] if len(merged) == 1 else Text(parts=tuple(merged))


def resolved_text(value: str) -> str | Reference | Text | Unknown:
    """A literal string of a template, with its dynamic references and the CDK's placeholders taken out."""
    return joined((value,)) if _DYNAMIC in value or is_placeholder(value) else value


def split(value: Value, delimiter: str) -> list[Value] | Unknown:
    """The pieces of a string between delimiters, or `UNKNOWN` where an unknown part may hold a delimiter."""
    if not delimiter:
        return UNKNOWN
    if isinstance(value, str):
        return [*value.split(delimiter)]
    if not isinstance(value, Text | Reference) or not _NEVER_INSIDE_A_REFERENCE & set(delimiter):
        return UNKNOWN
    pieces: list[list[Part]] = [[]]
    for part in parts_of(value):
        if not isinstance(part, str) and (part is UNKNOWN or not part.is_one_text):
            return UNKNOWN
        first, *others = part.split(delimiter) if isinstance(part, str) else [part]
        pieces[-1].append(first)
        pieces += [[other] for other in others]
    return [joined(piece) for piece in pieces]


def weakened(value: Value) -> Value:
    """The same value with its references marked as weak."""
    if isinstance(value, Reference):
        return replace(value, weak=True)
    if isinstance(value, Text):
        return Text(parts=tuple(replace(p, weak=True) if isinstance(p, Reference) else p for p in value.parts))
    return value


def is_known(value: Value) -> bool:
    """Whether nothing in a value waits for the deploy."""
    if isinstance(value, list):
        return all(is_known(item) for item in value)
    if isinstance(value, dict):
        return all(is_known(item) for item in value.values())
    return not isinstance(value, Reference | Text) and value is not UNKNOWN


def _merged(parts: Iterable[Part]) -> list[Part]:
    merged: list[Part] = []
    run: list[str] = []
    for part in (*parts, None):
        if isinstance(part, str):
            run.append(part)
            continue
        if text := "".join(run):
            merged.append(text)
        run.clear()
        if part is not None and not (part is UNKNOWN and merged and merged[-1] is UNKNOWN):
            merged.append(part)
    return merged


def _without_dynamic(parts: Iterable[Part]) -> list[Part]:
    kept: list[Part] = []
    inside = False
    for part in parts:
        if not isinstance(part, str):
            kept += [] if inside else [part]
            continue
        rest = part
        while rest:
            before, found, rest = rest.partition("}}" if inside else _DYNAMIC)
            kept += [] if inside else [before]
            if found:
                kept += [] if inside else [UNKNOWN]
                inside = not inside
    return kept
