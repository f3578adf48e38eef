"""What a template's intrinsics may refer to, and the values that they come to.

Whatever cannot be decided, and whatever is malformed, is `UNKNOWN`: a reader of other people's templates must not raise
on them. Conditions are three-valued. Nothing here knows what the values are for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from hyperpod_constructs.cloudformation.intrinsics import FUNCTIONS, Absent, UndecidedError, decided, undecided
from hyperpod_constructs.cloudformation.parameters import Environment, parameter
from hyperpod_constructs.cloudformation.values import Value, joined, parts_of, resolved_text
from hyperpod_constructs.tokens import UNKNOWN, Unknown

T = TypeVar("T")

MAX_DEPTH = 90
"""Nested values and references followed at once; deeper ones are `UNKNOWN`. A level costs up to six Python frames."""


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
        found = self.evaluate(value)
        if found is Absent.NO_VALUE:
            return None
        return UNKNOWN if isinstance(found, Absent) else found

    def items(self, value: object) -> list[Value]:
        """A list whose length is certain.

        Raises:
            UndecidedError: It is no list, or an item may be absent. Handlers let this pass.
        """
        if not isinstance(value, list):
            found = self.resolve(value)
            return found if isinstance(found, list) else undecided()
        items = [self.evaluate(item) for item in value]
        if any(item is Absent.MAYBE for item in items):
            undecided()
        return [item for item in items if not isinstance(item, Absent)]

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
        return self._once("condition", name, lambda: decided(self, conditions[name]))

    def parameter(self, name: str) -> Value:
        """A parameter, from the parent stack, the manifest or its default."""
        declaration, at_deploy = self.section("Parameters").get(name), self._parent is None
        return self._once("parameter", name, lambda: parameter(declaration, self._given(name), at_deploy=at_deploy))

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

    def evaluate(self, value: object) -> Value | Absent:
        """The same, with `AWS::NoValue` apart from null."""
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
        items = [self.evaluate(item) for item in value]
        return [UNKNOWN if isinstance(i, Absent) else i for i in items if i is not Absent.NO_VALUE]

    def _mapping(self, value: dict[str, object]) -> Value | Absent:
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name in FUNCTIONS:
                try:
                    return FUNCTIONS[name](self, argument)
                except UndecidedError:
                    return UNKNOWN
        if any(key.startswith("Fn::") for key in value):
            return UNKNOWN  # a macro or loop that adds keys, or a function this package does not know
        items = {key: self.evaluate(item) for key, item in value.items()}
        return {k: UNKNOWN if isinstance(v, Absent) else v for k, v in items.items() if v is not Absent.NO_VALUE}
