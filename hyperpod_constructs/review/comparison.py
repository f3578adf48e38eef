"""Two assemblies side by side: stacks by deployed name, resources by logical id, properties by what they mean.

The order of lists that have none, of keys and of files says nothing, and neither does the way in which a value is
written: both sides are compared after every intrinsic was resolved. Where that leaves a value open, what is written
decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.tokens import UNKNOWN

Steps: TypeAlias = tuple[str, ...]
"""Names that lead to a value; an item of a list is called by its own name, or by its place."""

_NAMED_BY: Final = ("InstanceGroupName", "Key", "Sid", "AlarmName", "TeamName", "Name", "Id")
"""Keys whose value tells the items of a list apart, where each item has one and no two the same."""
_LIKE_REF: Final = frozenset(
    {
        ("AWS::EC2::InternetGateway", "InternetGatewayId"),
        ("AWS::EC2::NatGateway", "NatGatewayId"),
        ("AWS::EC2::RouteTable", "RouteTableId"),
        ("AWS::EC2::SecurityGroup", "GroupId"),
        ("AWS::EC2::Subnet", "SubnetId"),
        ("AWS::EC2::VPC", "VpcId"),
        ("AWS::EC2::VPCEndpoint", "Id"),
        ("AWS::IAM::ManagedPolicy", "PolicyArn"),
        ("AWS::KMS::Key", "KeyId"),
        ("AWS::SNS::Topic", "TopicArn"),
        ("AWS::SageMaker::Cluster", "ClusterArn"),
    }
)
"""Attributes that give what `Ref` gives. Source: CloudFormation template reference, return values."""
_ORDERED: Final = frozenset({"InstanceTypes"})
"""Lists whose order means something: the types of a flexible group stand in order of preference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A property that is another one afterwards.

    Attributes:
        steps: Names that lead to it from `Properties`; a named item of a list is a step with its name.
        path: The same without items of lists, as in `InstanceGroups.InstanceCount`.
        before: `None` where it was not there.
        after: `None` where it is gone.
        perhaps: Whether only the default of a parameter is another one: a deploy keeps the old value unless it is given
            the new one.
    """

    steps: Steps
    path: str
    before: Value
    after: Value
    perhaps: bool = False

    @property
    def is_open(self) -> bool:
        """Whether a part is decided at deploy in such a way that both values may be the same."""
        return self.perhaps or _may_be_one(self.before, self.after)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """A resource before and after.

    Attributes:
        stack: What both sides call its stack, see `Comparison.stacks`.
        logical_id: Its key in the template.
        before: `None` where it is new.
        after: `None` where it is gone.
        differences: Properties that differ, where it is on both sides.
    """

    stack: str
    logical_id: str
    before: Resource | None
    after: Resource | None
    differences: tuple[Difference, ...] = ()

    @property
    def either(self) -> Resource:
        """The resource as it will be, or as it was."""
        found = self.after or self.before
        assert found is not None  # noqa: S101  # a pair has at least one side: `Comparison` makes no other
        return found

    @property
    def id(self) -> tuple[str, str]:
        """What both sides call the resource."""
        return self.stack, self.logical_id

    @property
    def outer(self) -> str:
        """What both sides call the stack that is deployed, for a resource of one that is nested in it too."""
        return self.stack.split("/", maxsplit=1)[0]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Both sides.

    Attributes:
        base: As it is deployed.
        head: As it would be.
    """

    base: Assembly
    head: Assembly

    @property
    def reversed(self) -> Comparison:
        """The way back."""
        return Comparison(base=self.head, head=self.base)

    @cached_property
    def stacks(self) -> tuple[str, ...]:
        """What both sides call their stacks, those of the base first."""
        return tuple(dict.fromkeys((*self._base_names.values(), *self._head_names.values())))

    @cached_property
    def gone(self) -> tuple[Stack, ...]:
        """Stacks of the base that hold something and that the head does not have: no deploy deletes them."""
        kept = set(self._head_names.values())
        outer = [stack for stack in self.base.stacks if stack.parent is None and any(stack.resources())]
        return tuple(stack for stack in outer if self._base_names[stack.id] not in kept)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every resource of either side, in the order of the base, then of the head."""
        before = _by_id(self.base, self._base_names)
        after = _by_id(self.head, self._head_names)
        return tuple(self._pair(id_, before.get(id_), after.get(id_)) for id_ in dict.fromkeys((*before, *after)))

    @cached_property
    def by_id(self) -> Mapping[tuple[str, str], Pair]:
        """Pairs by what both sides call the resource."""
        return {pair.id: pair for pair in self.pairs}

    @cached_property
    def paths_on_both_sides(self) -> frozenset[str]:
        """Paths of resources that are there before and after."""
        return frozenset(pair.either.path for pair in self.pairs if pair.before is not None and pair.after is not None)

    @cached_property
    def sides(self) -> tuple[Mapping[str, Stack], Mapping[str, Stack]]:
        """The stacks of the base and of the head, by what both sides call them."""
        names = ((self.base, self._base_names), (self.head, self._head_names))
        before, after = ({by_id[stack.id]: stack for stack in side.stacks} for side, by_id in names)
        return before, after

    @cached_property
    def out_of_sight(self) -> frozenset[str]:
        """Nested stacks of the base that the head has too, and whose template is not at hand there."""
        resources = {
            (self._head_names[stack.id], each.logical_id) for stack in self.head.stacks for each in stack.resources()
        }
        lost = [name for name in self.sides[0] if "/" in name and name not in self.sides[1]]
        return frozenset(name for name in lost if tuple(name.rsplit("/", maxsplit=1)) in resources)

    def base_value(self, value: Value) -> Value:
        """A value of the base with references by the names that both sides know."""
        return _renamed(value, self.base, self._base_names)

    def head_value(self, value: Value) -> Value:
        """A value of the head with references by the names that both sides know."""
        return _renamed(value, self.head, self._head_names)

    def name_of(self, stack: Stack) -> str:
        """What both sides call a stack of either."""
        found = self._base_names if any(each is stack for each in self.base.stacks) else self._head_names
        return found[stack.id]

    @cached_property
    def _base_names(self) -> Mapping[str, str]:
        return _names(self.base, alone=self._alone)

    @cached_property
    def _head_names(self) -> Mapping[str, str]:
        return _names(self.head, alone=self._alone, known=self._base_names, of=self.base)

    @cached_property
    def _alone(self) -> bool:
        """Whether both sides have one stack of their own without a deployed name: it is the same one."""
        outer = [[s for s in side.stacks if s.parent is None] for side in (self.base, self.head)]
        return all(len(side) == 1 for side in outer) and any(side[0].name is None for side in outer)

    def _pair(self, id_: tuple[str, str], before: Resource | None, after: Resource | None) -> Pair:
        stack, logical_id = id_
        found: tuple[Difference, ...] = ()
        if before is not None and after is not None:
            found = tuple(_differences(before, after, self.base_value, self.head_value))
        return Pair(stack=stack, logical_id=logical_id, before=before, after=after, differences=found)


def _names(
    side: Assembly, *, alone: bool, known: Mapping[str, str] | None = None, of: Assembly | None = None
) -> dict[str, str]:
    """By id, what both sides call a stack: the deployed name with account and Region, else the name of its file.

    Args:
        side: The side.
        alone: Whether it has one stack, which is the only one of the other side too.
        known: What the stacks of the other side are called.
        of: The other side. A stack that fits one of its stacks, and no other, has that one's name: an account or
            Region that only one side says is no other one.
    """
    names: dict[str, str] = {}
    for stack in side.stacks:  # a stack comes before those nested in it
        if stack.parent is not None:
            names[stack.id] = f"{names[stack.parent.id]}/{stack.logical_path[-1]}"
        elif alone:
            names[stack.id] = ""
        else:
            place = [word for word in (stack.account, stack.region) if word]
            own = " ".join([stack.name or stack.id, *(place if stack.name else ())])
            fits = [each for each in of.stacks if _may_be(each, stack)] if of and stack.name else []
            exact = known is None or own in known.values() or len(fits) != 1
            names[stack.id] = own if exact or known is None else known[fits[0].id]
    return names


def _may_be(one: Stack, other: Stack) -> bool:
    """Whether two stacks can be one: the same name, and no account and no Region against each other."""
    places = ((one.account, other.account), (one.region, other.region))
    apart = any(a is not None and b is not None and a != b for a, b in places)
    return one.parent is None and one.name == other.name and not apart


def _by_id(side: Assembly, names: Mapping[str, str]) -> dict[tuple[str, str], Resource]:
    return {(names[stack.id], each.logical_id): each for stack in side.stacks for each in stack.resources()}


def _renamed(value: Value, side: Assembly, names: Mapping[str, str]) -> Value:
    if isinstance(value, Reference):
        return _reference(value, side, names)
    if isinstance(value, Text):
        parts = (_reference(part, side, names) if isinstance(part, Reference) else part for part in value.parts)
        return Text(parts=tuple(parts))
    if isinstance(value, list):
        return [_renamed(item, side, names) for item in value]
    if isinstance(value, dict):
        return {key: _renamed(item, side, names) for key, item in value.items()}
    return value


def _reference(value: Reference, side: Assembly, names: Mapping[str, str]) -> Reference:
    """A reference by the name that both sides know; an attribute that is what `Ref` gives is not told apart from it."""
    found = side.find(value) if value.attribute else None
    attribute = None if found and (found.type, value.attribute) in _LIKE_REF else value.attribute
    return replace(value, stack=names.get(value.stack, value.stack), attribute=attribute)


def _differences(
    before: Resource, after: Resource, old: Callable[[Value], Value], new: Callable[[Value], Value]
) -> Iterator[Difference]:
    """What differs between both sides of a resource."""
    if not isinstance(before.properties, dict) or not isinstance(after.properties, dict):
        if _Written.of(before, "Properties").text != _Written.of(after, "Properties").text:
            yield Difference(steps=(), path="", before=UNKNOWN, after=UNKNOWN)
        return
    for name in dict.fromkeys((*before.properties, *after.properties)):
        ours, theirs = old(before.properties.get(name)), new(after.properties.get(name))
        texts = [_Written.of(each, "Properties", name) for each in (before, after)]
        alike = texts[0].text == texts[1].text
        if alike and is_open(ours) != is_open(theirs):
            continue  # what it names is not at hand on one side, such as a stack that has left the app and stays
        found = {each.steps: each for each in _between(ours, theirs, (name,), name)}
        if texts[0].by_parameter != texts[1].by_parameter and texts[0].sorted == texts[1].sorted:
            found = {steps: replace(each, perhaps=True) for steps, each in found.items()}
        for each in _between_open((ours, texts[0]), (theirs, texts[1]), (name,), name):
            found.setdefault(each.steps, each)
        yield from found.values()


def _between(before: Value, after: Value, steps: Steps, path: str) -> Iterator[Difference]:
    if before == after and type(before) is type(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from _between(before.get(key), after.get(key), (*steps, key), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        yield from _between_lists(before, after, steps, path)
    elif not _same_scalar(before, after):
        yield Difference(steps=steps, path=path, before=before, after=after)


def _between_open(
    before: tuple[Value, _Written], after: tuple[Value, _Written], steps: Steps, path: str
) -> Iterator[Difference]:
    """Where both sides wait for the deploy, and are written in a way that may come to another value."""
    (ours, old), (theirs, new) = before, after
    if not is_open(ours) or not is_open(theirs) or old.text == new.text:
        return
    parts = [_parts(*side) for side in (before, after)]
    if parts[0] is None or parts[1] is None:
        yield Difference(steps=steps, path=path, before=ours, after=theirs)
        return
    for key in (key for key in parts[0] if key in parts[1]):
        below = path if isinstance(ours, list) else f"{path}.{key}"
        yield from _between_open(parts[0][key], parts[1][key], (*steps, key), below)


def _parts(value: Value, text: _Written) -> dict[str, tuple[Value, _Written]] | None:
    """The parts of a value, each with how it is written; `None` where an intrinsic makes the whole."""
    if isinstance(value, dict) and isinstance(text.body, Mapping) and value.keys() == text.body.keys():
        return {key: (item, text.part(text.body[key])) for key, item in value.items()}
    if isinstance(value, list) and isinstance(text.body, list) and len(value) == len(text.body):
        names = names_of(value)
        found = zip(value, map(text.part, text.body), strict=True)
        return None if names is None else dict(zip(names, found, strict=True))
    return None


def _between_lists(before: list[Value], after: list[Value], steps: Steps, path: str) -> Iterator[Difference]:
    ours, theirs = _by_name(before), _by_name(after)
    if ours is not None and theirs is not None:
        for name in dict.fromkeys((*ours, *theirs)):
            yield from _between(ours.get(name), theirs.get(name), (*steps, name), path)
        return
    if steps[-1] in _ORDERED:
        yield Difference(steps=steps, path=path, before=before, after=after)
        return
    gone, new = _without(before, after), _without(after, before)
    if len(gone) == len(new) == 1 and isinstance(gone[0], dict) and isinstance(new[0], dict):
        yield from _between(gone[0], new[0], (*steps, str(before.index(gone[0]))), path)
    elif gone or new:
        yield Difference(steps=steps, path=path, before=before, after=after)


def _by_name(items: list[Value]) -> dict[str, Value] | None:
    """The items by the name that tells them apart; `None` where there is none."""
    names = names_of(items)
    return None if names is None else dict(zip(names, items, strict=True))


def same(before: Value, after: Value) -> bool:
    """Whether two values mean the same."""
    return next(_between(before, after, ("",), ""), None) is None


def names_of(items: list[Value]) -> list[str] | None:
    """The name of each item of a list, such as those of instance groups; `None` where they have none."""
    for key in _NAMED_BY:
        names = [item.get(key) if isinstance(item, dict) else None for item in items]
        found = [name for name in names if isinstance(name, str)]
        if len(set(found)) == len(items):
            return found
    return None


def _without(items: list[Value], others: list[Value]) -> list[Value]:
    """Items that the other list does not have, each as often as it is missing."""
    left = [_key(other) for other in others]
    missing = []
    for item in items:
        key = _key(item)
        if key in left:
            left.remove(key)
        else:
            missing.append(item)
    return missing


def _key(value: Value) -> str:
    """A text that is the same for values that mean the same."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_key(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted(map(_key, value))) + "]"
    return _scalar(value)


def _same_scalar(before: Value, after: Value) -> bool:
    """Whether CloudFormation sees no difference: it takes numbers and booleans as text too."""
    scalars = (str, int, float, bool)
    return isinstance(before, scalars) and isinstance(after, scalars) and _scalar(before) == _scalar(after)


def _scalar(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return value if isinstance(value, str) else repr(value)


def _may_be_one(one: Value, other: Value) -> bool:
    """Whether two values that are told apart may be the same once they are known."""
    if one is UNKNOWN or other is UNKNOWN:
        return True
    if isinstance(one, list) and isinstance(other, list):
        return UNKNOWN in one or UNKNOWN in other
    if not isinstance(one, Text | str) or not isinstance(other, Text | str) or not (is_open(one) or is_open(other)):
        return False
    ends = [(each, each) if isinstance(each, str) else (each.prefix, each.suffix) for each in (one, other)]
    (begin, end), (start, stop) = ends
    fits = begin.startswith(start) or start.startswith(begin)
    return fits and (end.endswith(stop) or stop.endswith(end))


def is_open(value: Value) -> bool:
    """Whether a part of a value is known only at deploy and no reference says where it comes from."""
    if isinstance(value, list):
        return any(map(is_open, value))
    if isinstance(value, dict):
        return any(map(is_open, value.values()))
    return value is UNKNOWN or (isinstance(value, Text) and UNKNOWN in value.parts)


def condition(resource: Resource) -> str:
    """The condition of a resource as it is written, with all that it names; alike means that it comes to the same."""
    found = _Written.of(resource, "Condition")
    return found.part({"Condition": found.body}).text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A part of a template as its author wrote it.

    Attributes:
        template: The whole template.
        body: The part.
    """

    template: Mapping[str, Any]
    body: object

    @classmethod
    def of(cls, resource: Resource, *keys: str) -> _Written:
        """A part of a resource; `None` as its body where there is no such part."""
        template = resource.stack.document.body
        body: object = template["Resources"][resource.logical_id]
        for key in keys:
            body = body.get(key) if isinstance(body, Mapping) else None
        return cls(template=template, body=body)

    def part(self, body: object) -> _Written:
        """A part of it."""
        return replace(self, body=body)

    @property
    def sorted(self) -> str:
        """The same for what differs only in an order that means nothing."""
        return _sorted(self.body)

    @property
    def by_parameter(self) -> str:
        """The defaults of the parameters that it names: a deploy keeps the old value unless it is told another one."""
        declared = self.template.get("Parameters")
        names = {name for section, name in _named(self.body) if section == "Parameters"}
        return _sorted({name: declared.get(name) for name in names}) if isinstance(declared, Mapping) else ""

    @property
    def text(self) -> str:
        """The same with the conditions, maps and parameters that it names."""
        found = [_sorted(self.body)]
        named, waiting = set(), [self.body]
        while waiting:
            for section, name in _named(waiting.pop()):
                definitions = self.template.get(section)
                if (section, name) not in named and isinstance(definitions, Mapping):
                    named.add((section, name))
                    waiting.append(definitions.get(name))
                    found.append(_sorted(definitions.get(name)))
        return "\n".join((found[0], *sorted(found[1:])))


def _sorted(body: object, key: str = "") -> str:
    """A part of a template as text; arguments of intrinsics stay in their order, as do lists that have one."""
    if isinstance(body, Mapping):
        return "{" + ",".join(f"{name}:{_sorted(body[name], name)}" for name in sorted(body, key=str)) + "}"
    if isinstance(body, list):
        items = [_sorted(item) for item in body]
        return f"[{','.join(items if key.startswith('Fn::') or key in _ORDERED else sorted(items))}]"
    return json.dumps(body, default=str)


_SECTIONS: Final = {
    "Condition": "Conditions",
    "Fn::FindInMap": "Mappings",
    "Fn::If": "Conditions",
    "Ref": "Parameters",
}
"""Where an intrinsic finds what it names; a `Ref` mostly names a resource, and then there is no such parameter."""
_PLACEHOLDER: Final = re.compile(r"\$\{([A-Za-z0-9]+)\}")


def _named(body: object) -> Iterator[tuple[str, str]]:
    """Conditions, maps and parameters that a part of a template names."""
    if isinstance(body, str):  # of an Fn::Sub, or harmless
        yield from (("Parameters", name) for name in _PLACEHOLDER.findall(body))
    if isinstance(body, list):
        yield from (each for item in body for each in _named(item))
    elif isinstance(body, Mapping):
        for key, item in body.items():
            section = _SECTIONS.get(key)
            name = item[0] if isinstance(item, list) and item else item
            if section and isinstance(name, str):
                yield section, name
            yield from _named(item)
