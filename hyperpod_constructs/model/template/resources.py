"""The resources of an assembly by type, each with the nodes to read it from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.intrinsics import Absent
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.model._reading import Fields, Node, Parameter, Reading, Steps, one_of, otherwise
from hyperpod_constructs.model.deployment import Location
from hyperpod_constructs.model.lifecycle import generated_name
from hyperpod_constructs.model.storage import Retention

_CUSTOM: Final = "AWS::CloudFormation::CustomResource"
_RESTRICTED_DEFAULT_GROUP: Final = "Custom::VpcRestrictDefaultSG"
"""The CDK's own: it empties the default group of a VPC and touches nothing else."""
_STACKS: Final = frozenset(
    {"AWS::CloudFormation::Stack", "AWS::CloudFormation::StackSet", "AWS::Serverless::Application"}
)
_DOCUMENTED_MACROS: Final = frozenset(
    # They add resources of their own kinds only; AWS::Include adds whatever its file holds.
    {
        "AWS::CodeDeployBlueGreen",
        "AWS::LanguageExtensions",
        "AWS::SecretsManager-2020-07-23",
        "AWS::SecretsManager-2024-09-16",
        "AWS::Serverless-2016-10-31",
        "AWS::ServiceCatalog",
    }
)

_WORD: Final = re.compile(r"[A-Za-z0-9]+")

_RETENTION: Final[Fields] = {
    "on_delete": (
        "DeletionPolicy",
        otherwise(one_of("Delete", "Retain", "RetainExceptOnCreate", "Snapshot"), default="Delete"),
    ),
    "on_replace": ("UpdateReplacePolicy", otherwise(one_of("Delete", "Retain", "Snapshot"), default="Delete")),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One resource about to be read.

    Attributes:
        resource: As the assembly has it.
        properties: Its properties; a missing section is an empty map.
        reading: The pass that this belongs to.
        handed_out: Paths of all that some resource refers to of which nobody knows what it does with it, each with the
            types of those resources.
    """

    resource: Resource
    properties: Node
    reading: Reading
    handed_out: Mapping[str, frozenset[str]]

    @property
    def path(self) -> str:
        """Identity of the resource."""
        return self.resource.path

    @property
    def certain(self) -> bool:
        """Whether it is certain that the template makes it."""
        return not self.resource.conditional

    @property
    def unchanged(self) -> bool:
        """Whether nothing that nobody can read yet may add to it: a macro, a loop, or a resource that refers to it."""
        return not self.reached_by

    @property
    def reached_by(self) -> frozenset[str]:
        """Types of the resources that nobody can read and that refer to it; `*` for what a macro or loop may hold."""
        stack = self.resource.stack
        anything = frozenset("*") if stack.unread or macros(stack) else frozenset()
        return anything | self.handed_out.get(self.path, frozenset())

    @property
    def metadata(self) -> Node:
        """Its metadata."""
        return _node(self.resource.metadata, self.resource, self.reading, "Metadata")

    @property
    def retention(self) -> Retention:
        """What CloudFormation does with it when it goes."""
        policies = {
            "DeletionPolicy": self.resource.deletion_policy,
            "UpdateReplacePolicy": self.resource.update_replace_policy,
        }
        node = _node(policies, self.resource, self.reading)
        return replace(node, open=bool(macros(self.resource.stack))).build(Retention, _RETENTION)


class Resources:
    """All resources of one assembly."""

    def __init__(self, assembly: Assembly) -> None:
        """Sorts the resources of an assembly by type."""
        self.reading = Reading(path_of=self._path, text_of=self._text, type_of=self._type)
        self._assembly = assembly
        self._by_type: dict[str, list[Resource]] = {}
        self._paths: dict[str, frozenset[str]] = {}
        for resource in assembly.resources():
            self._by_type.setdefault(resource.type, []).append(resource)

    def of(self, *types: str) -> Iterator[Found]:
        """Every resource of these types."""
        for kind in types:
            for resource in self._by_type.get(kind, ()):
                yield Found(resource, _properties(resource, self.reading), self.reading, self._handed_out)

    @cached_property
    def _handed_out(self) -> Mapping[str, frozenset[str]]:
        """Paths of what custom resources, modules and nested stacks that were not read refer to, with their types."""
        types: dict[str, set[str]] = {}
        for each in filter(_is_dark, self._assembly.resources()):
            paths = {self._path(reference) for reference in _references(each.properties)}
            # What an undecided condition chooses from is not among the references, but it is written there.
            written = each.stack.document.body["Resources"][each.logical_id].get("Properties")
            named = (each.stack.resource(word) for word in _words(written))
            paths.update(resource.path for resource in named if resource is not None)
            for path in paths:
                if path is not None:
                    types.setdefault(path, set()).add(each.type)
        return {path: frozenset(kinds) for path, kinds in types.items()}

    def created_before(self, found: Found) -> frozenset[str]:
        """Paths of everything that is there before a resource.

        That is what DependsOn names and properties refer to, what those wait for in turn, and all of every other stack
        that is referred to: a stack has outputs once it is complete. The stacks around a nested one are not.
        """
        own = found.resource.stack
        around = {stack.id for stack in _with_parents(own)}
        complete: dict[str, Stack] = {}
        waiting, before = [found.resource], {found.resource.logical_id: found.resource}
        while waiting:
            each = waiting.pop()
            if nested := own.nested.get(each.logical_id):
                complete[nested.id] = nested
            for other in self._waits_for(each):
                if other.stack.id not in around:
                    complete[other.stack.id] = other.stack
                elif other.stack is own and other.logical_id not in before:
                    before[other.logical_id] = other
                    waiting.append(other)
        own_paths = frozenset(each.path for each in before.values() if each is not found.resource)
        return own_paths.union(*(self._all_of(stack) for stack in complete.values()))

    def _waits_for(self, resource: Resource) -> Iterator[Resource]:
        """What a resource names in its DependsOn or refers to."""
        for name in resource.depends_on:
            if named := resource.stack.resource(name):
                yield named
        for reference in _references(resource.properties):
            if other := self._assembly.find(reference):
                yield other

    def _all_of(self, stack: Stack) -> frozenset[str]:
        """Paths of all resources of a stack and of those nested in it."""
        if stack.id not in self._paths:
            stacks = [stack]
            for each in stacks:  # grows
                stacks += each.nested.values()
            self._paths[stack.id] = frozenset(resource.path for each in stacks for resource in each.resources())
        return self._paths[stack.id]

    def _path(self, reference: Reference) -> str | None:
        found = self._assembly.find(reference)
        return found.path if found else None

    @property
    def folder(self) -> Path:
        """Where the assembly lies."""
        path = self._assembly.path
        return path if path.is_dir() else path.parent

    def bucket_name(self, bucket: Resource) -> str | None:
        """Name of a bucket as addresses have it; `None` where nothing tells it from others.

        A name of which parts are decided at deploy has `*` for them. For one that CloudFormation makes stands what
        `generated_name` says.
        """
        properties = bucket.properties
        if not isinstance(properties, dict) or macros(bucket.stack):
            return None
        name = properties.get("BucketName")
        if name is None:
            return generated_name(bucket.stack.name, bucket.path)
        if isinstance(name, Text) and name.prefix:
            return "".join(part if isinstance(part, str) else "*" for part in name.parts)
        return name if isinstance(name, str) else None

    def _type(self, reference: Reference) -> str | None:
        found = self._assembly.find(reference)
        return found.type if found else None

    def _text(self, reference: Reference) -> str | None:
        """Name or ARN of a bucket."""
        found = self._assembly.find(reference)
        name = self.bucket_name(found) if found and found.type == "AWS::S3::Bucket" else None
        if name is None:
            return None
        return {None: name, "Arn": f"arn:*:s3:::{name}"}.get(reference.attribute)


def macros(stack: Stack) -> list[str]:
    """Macros over a whole template of which nobody knows what they change: all but those that AWS documents."""
    given = stack.document.body.get("Transform")
    names = [
        each.get("Name") if isinstance(each, Mapping) else each
        for each in (given if isinstance(given, list) else [given])
    ]
    return [name for name in names if isinstance(name, str) and name not in _DOCUMENTED_MACROS]


def _is_dark(resource: Resource) -> bool:
    """Whether nobody can read what a resource does with what it refers to."""
    if resource.type == _RESTRICTED_DEFAULT_GROUP:
        return False
    if resource.type in _STACKS:
        return resource.logical_id not in resource.stack.nested
    return resource.type.startswith("Custom::") or resource.type == _CUSTOM or resource.type.endswith("::MODULE")


def _with_parents(stack: Stack | None) -> Iterator[Stack]:
    while stack:
        yield stack
        stack = stack.parent


def _references(value: Value) -> Iterator[Reference]:
    """Every reference in a value."""
    if isinstance(value, Reference):
        yield value
    elif isinstance(value, Text):
        yield from value.references
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _references(item)


def _words(written: object) -> Iterator[str]:
    """Every word in the texts below a value of a template; some of them are logical ids."""
    if isinstance(written, str):
        yield from _WORD.findall(written)
    elif isinstance(written, list | Mapping):
        for item in written.values() if isinstance(written, Mapping) else written:
            yield from _words(item)


def _properties(resource: Resource, reading: Reading) -> Node:
    """The properties; those of the wrong form are reported, which the assembly's `UNKNOWN` could not tell."""
    written = resource.stack.document.body["Resources"][resource.logical_id].get("Properties")
    if written is not None and not isinstance(written, Mapping):
        replace(_node(written, resource, reading), steps=("Properties",)).mapping()
    node = _node(resource.properties, resource, reading, "Properties")
    return replace(node, open=bool(macros(resource.stack)))


def as_written(resource: Resource, steps: Steps) -> Steps:
    """The same steps in the source, where lists also have the elements that a condition takes out."""
    written: object = resource.stack.document.body["Resources"][resource.logical_id]
    found: list[str | int] = []
    for step in steps:
        if isinstance(written, list) and isinstance(step, int):
            kept = [n for n, item in enumerate(written) if not _is_taken_out(resource, item)]
            place: str | int = kept[step] if step < len(kept) else step
            written = written[place] if isinstance(place, int) and place < len(written) else None
        else:
            place = step
            written = written.get(step) if isinstance(written, Mapping) else None
        found.append(place)
    return tuple(found)


def _is_taken_out(resource: Resource, item: object) -> bool:
    """Whether an element of a list is an intrinsic that leaves nothing."""
    return isinstance(item, Mapping) and len(item) == 1 and resource.stack.scope.evaluate(item) is Absent.NO_VALUE


def _node(value: Value, resource: Resource, reading: Reading, *section: str) -> Node:
    """The node of a section of a resource, which need not be named in messages."""

    def locate(steps: Steps) -> Location:
        return Location(str(resource.stack.file), resource.line_of(*as_written(resource, (*section, *steps))))

    def parameter(steps: Steps) -> Parameter | None:
        written = _at(resource, as_written(resource, (*section, *steps)))
        name = written.get("Ref") if isinstance(written, Mapping) and len(written) == 1 else None
        declared = resource.stack.scope.section("Parameters").get(name) if isinstance(name, str) else None
        kind = declared.get("Type") if isinstance(declared, Mapping) else None
        return Parameter(name, kind) if isinstance(name, str) and isinstance(kind, str) else None

    return Node(value, resource.path, reading, locate=locate, parameter=parameter)


def _at(resource: Resource, steps: Steps) -> object:
    """What the source has at some steps."""
    written: object = resource.stack.document.body["Resources"][resource.logical_id]
    for step in steps:
        if isinstance(written, list) and isinstance(step, int) and step < len(written):
            written = written[step]
        else:
            written = written.get(str(step)) if isinstance(written, Mapping) else None
    return written
