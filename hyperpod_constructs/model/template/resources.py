"""The resources of an assembly by type, each with the nodes to read it from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.model._reading import Fields, Node, Reading, Steps, one_of, otherwise
from hyperpod_constructs.model.deployment import Location
from hyperpod_constructs.model.storage import Retention

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
    """

    resource: Resource
    properties: Node
    reading: Reading

    @property
    def path(self) -> str:
        """Identity of the resource."""
        return self.resource.path

    @property
    def certain(self) -> bool:
        """Whether it is certain that the template makes it."""
        return not self.resource.conditional

    @property
    def all_siblings_known(self) -> bool:
        """Whether no macro or loop adds resources to the same template that nobody can see yet."""
        return not self.resource.stack.unread

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
        return _node(policies, self.resource, self.reading).build(Retention, _RETENTION)


class Resources:
    """All resources of one assembly."""

    def __init__(self, assembly: Assembly) -> None:
        """Sorts the resources of an assembly by type."""
        self.reading = Reading(path_of=self._path)
        self._assembly = assembly
        self._by_type: dict[str, list[Resource]] = {}
        self._paths: dict[str, frozenset[str]] = {}
        for resource in assembly.resources():
            self._by_type.setdefault(resource.type, []).append(resource)

    def of(self, *types: str) -> Iterator[Found]:
        """Every resource of these types."""
        for kind in types:
            for resource in self._by_type.get(kind, ()):
                yield Found(resource, _properties(resource, self.reading), self.reading)

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


def _properties(resource: Resource, reading: Reading) -> Node:
    """The properties; those of the wrong form are reported, which the assembly's `UNKNOWN` could not tell."""
    written = resource.stack.document.body["Resources"][resource.logical_id].get("Properties")
    if written is not None and not isinstance(written, Mapping):
        replace(_node(written, resource, reading), steps=("Properties",)).mapping()
    return _node(resource.properties, resource, reading, "Properties")


def _node(value: Value, resource: Resource, reading: Reading, *section: str) -> Node:
    """The node of a section of a resource, which need not be named in messages."""

    def locate(steps: Steps) -> Location:
        return Location(str(resource.stack.file), resource.line_of(*section, *steps))

    return Node(value, resource.path, reading, locate=locate)
