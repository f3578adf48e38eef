"""One stack of an assembly, and the resources it will have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hyperpod_constructs.cloudformation.document import Document
from hyperpod_constructs.cloudformation.manifest import Metadata, nested_stack_path
from hyperpod_constructs.cloudformation.scope import Scope
from hyperpod_constructs.cloudformation.values import Value
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_OWN_CHILD = "/Resource"  # what L2 constructs call the resource they stand for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resource:
    """A resource that the template makes, or may make.

    Attributes:
        stack: The stack it belongs to.
        logical_id: Its key under `Resources`.
        type: For example `AWS::EC2::VPC`.
        properties: Resolved; `UNKNOWN` where a macro or loop may add some.
        metadata: Resolved.
        deletion_policy: `None` where left out.
        update_replace_policy: `None` where left out.
        depends_on: Logical ids.
        conditional: Whether it depends on a condition, of its own or of a stack around it, that nobody can decide yet.
        path: Construct path without a trailing `/Resource`; without the CDK, stack and logical id.
    """

    stack: Stack
    logical_id: str
    type: str
    properties: dict[str, Value] | Unknown
    metadata: dict[str, Value] | Unknown
    deletion_policy: Value
    update_replace_policy: Value
    depends_on: tuple[str, ...]
    conditional: bool
    path: str

    @property
    def line(self) -> int:
        """Where it begins in `stack.file`, 1-based."""
        return self.line_of()

    def line_of(self, *steps: str | int) -> int:
        """The line of a part of it (`"Properties", "VpcConfig", "Subnets", 0`), or of the nearest value around it."""
        return self.stack.document.line(("Resources", self.logical_id, *steps))


@dataclass(frozen=True, kw_only=True, eq=False)
class Stack:
    """A stack that will be deployed, or a nested stack in one.

    Attributes:
        id: Unique in the assembly, and what `Reference.stack` holds: construct path, or file name.
        document: The template.
        file: The file it was read from.
        scope: Resolves intrinsics of the template.
        construct_path: `None` for templates that are not from the CDK.
        parent: The stack around a nested stack.
        logical_path: Logical ids of the resources that nest this stack, outermost first; empty for a stack of its own.
        metadata: What the CDK recorded about the constructs of the outermost stack.
        nested: Nested stacks whose templates are in the assembly, by logical id.
        protected: Whether it has termination protection, which only an assembly of the CDK says.
    """

    id: str
    document: Document
    file: Path
    scope: Scope
    construct_path: str | None = None
    parent: Stack | None = None
    logical_path: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=lambda: Metadata({}))
    nested: dict[str, Stack] = field(default_factory=dict)
    protected: bool | None = None

    @property
    def name(self) -> str | None:
        """The deployed name; `None` for nested stacks and lone templates."""
        return self.scope.environment.name

    @property
    def account(self) -> str | None:
        """Twelve digits; `None` where the stack can go to any account."""
        return self.scope.environment.account

    @property
    def region(self) -> str | None:
        """The Region; `None` where the stack can go to any."""
        return self.scope.environment.region

    @cached_property
    def unread(self) -> tuple[str, ...]:
        """Keys under `Resources` that are no resources: macros, loops, mistakes. Nobody sees what they make."""
        keys = (key for key in self.document.body["Resources"] if self.scope.resource(key) is None)
        return tuple(key for key in keys if key not in self.without_type)

    @cached_property
    def without_type(self) -> tuple[str, ...]:
        """Logical ids of resources that lack a type, where no macro can give them one."""
        if self.document.body.get("Transform") is not None:
            return ()
        bodies: Mapping[str, object] = self.document.body["Resources"]
        return tuple(
            key
            for key, body in bodies.items()
            if isinstance(body, Mapping) and "Type" not in body and not key.startswith("Fn::")
            if not any(name.startswith("Fn::") for name in body)
        )

    @cached_property
    def present(self) -> bool | Unknown:
        """Whether the stack is made: always, unless it is nested under a condition."""
        if self.parent is None:
            return True
        return _both(self.parent.present, self.parent.presence(self.logical_path[-1]))

    def presence(self, logical_id: str) -> bool | Unknown:
        """Whether a resource is made, by its own condition; `False` for one that is not in the template."""
        body = self.scope.resource(logical_id)
        return False if body is None else self.scope.present(body)

    def resources(self) -> Iterator[Resource]:
        """The resources in the template's order, without those whose condition is known to be false."""
        return iter(self._resources.values())

    def resource(self, logical_id: str) -> Resource | None:
        """One of `resources()`."""
        return self._resources.get(logical_id)

    def path_of(self, logical_id: str) -> str:
        """The construct path of a resource as the CDK has it, or stack and logical id."""
        metadata = (self.scope.resource(logical_id) or {}).get("Metadata")
        written = metadata.get("aws:cdk:path") if isinstance(metadata, Mapping) else None
        if isinstance(written, str):
            return written
        nested_in = self.construct_path if self.parent else None
        return self.metadata.paths.get((nested_in, logical_id), f"{self.id}/{logical_id}")

    def nested_construct_path(self, logical_id: str) -> str | None:
        """The construct path of the stack that a resource nests, for stacks of the CDK."""
        return nested_stack_path(path := self.path_of(logical_id)) or (path if self.construct_path else None)

    @cached_property
    def _resources(self) -> dict[str, Resource]:
        ids = [key for key in self.document.body["Resources"] if self.presence(key) is not False]
        return {logical_id: self._resource(logical_id) for logical_id in ids}

    def _resource(self, logical_id: str) -> Resource:
        body = self.document.body["Resources"][logical_id]
        depends_on = body.get("DependsOn")
        return Resource(
            stack=self,
            logical_id=logical_id,
            type=body["Type"],
            properties=self._resolved(body.get("Properties")),
            metadata=self._resolved(body.get("Metadata")),
            deletion_policy=self.scope.resolve(body.get("DeletionPolicy")),
            update_replace_policy=self.scope.resolve(body.get("UpdateReplacePolicy")),
            depends_on=_texts([depends_on] if isinstance(depends_on, str) else depends_on),
            conditional=_both(self.present, self.presence(logical_id)) is UNKNOWN,
            path=self.path_of(logical_id).removesuffix(_OWN_CHILD),
        )

    def _resolved(self, section: object) -> dict[str, Value] | Unknown:
        found = {} if section is None else self.scope.resolve(section)
        return found if isinstance(found, dict) else UNKNOWN


def _texts(found: object) -> tuple[str, ...]:
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()


def _both(*decisions: bool | Unknown) -> bool | Unknown:
    if any(decision is False for decision in decisions):
        return False
    return UNKNOWN if UNKNOWN in decisions else True
