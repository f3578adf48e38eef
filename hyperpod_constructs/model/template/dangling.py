"""Finds what a template names and does not have: CloudFormation refuses it before anything is made.

To the rest of the reader such a name is a value that is not known, of which rules say nothing. Where a macro, a loop or
a module may add to a template, nothing is certain to be missing, and nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from hyperpod_constructs.catalog import schemas
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.intrinsics import FUNCTIONS
from hyperpod_constructs.cloudformation.stack import Stack
from hyperpod_constructs.model._reading import Steps
from hyperpod_constructs.model.deployment import Invalid, Location

_PLACEHOLDER: Final = re.compile(r"\$\{([^!}][^}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z0-9]+")
_PSEUDO: Final = frozenset(
    f"AWS::{name}"
    for name in (
        "AccountId",
        "NoValue",
        "NotificationARNs",
        "Partition",
        "Region",
        "StackId",
        "StackName",
        "URLSuffix",
    )
)
_OF_CONDITIONS: Final = frozenset({"Fn::And", "Fn::Or", "Fn::Not"})
_FUNCTIONS: Final = frozenset(FUNCTIONS) | {
    "Condition",
    "Fn::Contains",
    "Fn::EachMemberEquals",
    "Fn::EachMemberIn",
    "Fn::GetAZs",
    "Fn::RefAll",
    "Fn::Transform",
    "Fn::ValueOf",
    "Fn::ValueOfAll",
}
_ATTRIBUTES: Final[Mapping[str, tuple[str, ...]]] = {
    # Of the types without a schema in our catalog, those that change least; cfn-lint 1.58.0.
    "AWS::IAM::Role": ("Arn", "RoleId"),
    "AWS::EC2::SecurityGroup": (
        "GroupId",
        "Id",
        "VpcId",
        "GroupDescription",
        "GroupName",
        "SecurityGroupEgress",
        "SecurityGroupIngress",
        "Tags",
    ),
}
_JUDGED: Final = frozenset({"ExecutionRole", "InstanceStorageConfigs"})
"""Properties of a cluster of which rules say what attribute belongs there."""
_ALIKE: Final = 0.75
"""How alike a name must be to be offered in place of one that is missing."""
_SLIP: Final = 0.8
"""How alike the name of an unknown function must be to be a slip, and not the business of a tool of the author's."""


def dangling(assembly: Assembly) -> tuple[Invalid, ...]:
    """Every name that a template of an assembly uses and does not have, each once for a file."""
    found: dict[tuple[str, str], Invalid] = {}
    for stack in assembly.stacks:
        if not _may_grow(stack):
            for invalid in _Walk(stack).all():
                found.setdefault((str(stack.file), invalid.message), invalid)
    return tuple(found.values())


def _may_grow(stack: Stack) -> bool:
    """Whether something that only CloudFormation can expand may add resources, conditions or other names."""
    transforms = stack.document.body.get("Transform")
    given = transforms if isinstance(transforms, list) else [transforms]
    if any(each not in (None, "AWS::LanguageExtensions") for each in given):
        return True
    resources = [stack.scope.resource(key) for key in stack.scope.section("Resources")]
    modules = any(body and str(body["Type"]).endswith("::MODULE") for body in resources)
    return modules or _is_expanded(stack.document.body)


def _is_expanded(value: object) -> bool:
    """Whether a loop or a `Fn::Transform` stands anywhere in a value."""
    if isinstance(value, Mapping):
        return any(key == "Fn::Transform" or key.startswith("Fn::ForEach") for key in value) or any(
            _is_expanded(item) for item in value.values()
        )
    return isinstance(value, list) and any(_is_expanded(item) for item in value)


@dataclass(slots=True)
class _Walk:
    """One pass over one template.

    Attributes:
        stack: The stack.
        path: Path of what is walked through at this moment.
        certain: Whether that is certainly made, so that what only its values get wrong is an error, too.
        found: What was found.
    """

    stack: Stack
    path: str = ""
    certain: bool = True
    found: list[Invalid] = field(default_factory=list)

    def all(self) -> list[Invalid]:
        """Walks through resources, outputs and conditions."""
        for name, body in self._bodies("Resources"):
            self.path = self.stack.path_of(name).removesuffix("/Resource")
            self.certain = self.stack.presence(name) is True
            self._depends_on(name, body)
            self._condition(body.get("Condition"), ("Resources", name, "Condition"))
            self._value(body.get("Properties"), ("Resources", name, "Properties"))
            if self.certain and name in self.stack.nested:
                self._parameters_of_nested(name, body)
        for name, body in self._bodies("Outputs"):
            self.path = f"{self.stack.id}/Outputs/{name}"
            self.certain = self.stack.scope.present(body) is True
            self._condition(body.get("Condition"), ("Outputs", name, "Condition"))
            for key in ("Value", "Export"):
                self._value(body.get(key), ("Outputs", name, key))
        for name, expression in self.stack.scope.section("Conditions").items():
            self.path, self.certain = f"{self.stack.id}/Conditions/{name}", False
            self._operand(expression, ("Conditions", name))
        return self.found

    def _bodies(self, section: str) -> Iterator[tuple[str, Mapping[str, object]]]:
        for name, body in self.stack.scope.section(section).items():
            if isinstance(body, Mapping):
                yield name, body

    def _report(self, steps: Steps, message: str, fix: str) -> None:
        location = Location(str(self.stack.file), self.stack.document.line(steps))
        self.found.append(Invalid(self.path, message, fix, location))

    def _missing(self, steps: Steps, what: str, name: str, names: Mapping[str, object], fix: str) -> None:
        """Reports a name that a section of the template does not have."""
        near = get_close_matches(name, names, n=1, cutoff=_ALIKE) or [
            known for known in names if known.lower() == name.lower()
        ]
        offer = f"use {near[0]}" if near else fix
        self._report(steps, f"{what} {name!r}, which the template does not have", offer)

    def _depends_on(self, name: str, body: Mapping[str, object]) -> None:
        depends_on, resources = body.get("DependsOn"), self.stack.scope.section("Resources")
        for each in depends_on if isinstance(depends_on, list) else [depends_on]:
            steps = ("Resources", name, "DependsOn")
            if each == name:
                self._report(steps, "DependsOn names the resource itself", f"leave {name} out of its own DependsOn")
            elif isinstance(each, str) and each not in resources:
                self._missing(steps, "DependsOn names", each, resources, "name a resource of this template")

    def _condition(self, name: object, steps: Steps) -> None:
        conditions = self.stack.scope.section("Conditions")
        if isinstance(name, str) and name not in conditions:
            self._missing(steps, "refers to the condition", name, conditions, f"define {name} under Conditions")

    def _operand(self, value: object, steps: Steps) -> None:
        """Goes through the expression of a condition, in which `Condition` names another one."""
        if not isinstance(value, Mapping) or len(value) != 1:
            return
        ((function, argument),) = value.items()
        if function == "Condition":
            self._condition(argument, steps)
        elif function in _OF_CONDITIONS and isinstance(argument, list):
            for index, operand in enumerate(argument):
                self._operand(operand, (*steps, function, index))
        else:
            self._value(value, steps)

    def _value(self, value: object, steps: Steps) -> None:
        """Goes through a value and everything in it."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                self._value(item, (*steps, index))
        elif isinstance(value, Mapping):
            function = next(iter(value)) if len(value) == 1 else ""
            if reader := self._reader(function):
                reader(value[function], (*steps, function))
                return
            if function.startswith("Fn::") and function not in _FUNCTIONS:
                self._unknown_function(function, (*steps, function))
            for key, item in value.items():
                self._value(item, (*steps, key))

    def _reader(self, function: str) -> Callable[[object, Steps], None] | None:
        """What judges the argument of a function that names something."""
        readers: dict[str, Callable[[object, Steps], None]] = {
            "Ref": self._ref,
            "Fn::GetAtt": self._get_att,
            "Fn::Sub": self._sub,
            "Fn::If": self._if,
            "Fn::FindInMap": self._find_in_map,
        }
        return readers.get(function)

    def _unknown_function(self, function: str, steps: Steps) -> None:
        near = get_close_matches(function, _FUNCTIONS, n=1, cutoff=_SLIP)
        if near:
            name, known = (each.removeprefix("Fn::") for each in (function, near[0]))
            self._report(steps, f"!{name} ({function}) is no function of CloudFormation", f"use !{known} ({near[0]})")

    def _ref(self, name: object, steps: Steps) -> None:
        if not isinstance(name, str):
            self._value(name, steps)
            return
        known = self._names()
        if name not in known and name not in _PSEUDO:
            pseudo = dict.fromkeys(_PSEUDO) if name.startswith("AWS::") else {}
            fix = "name a parameter or a resource of this template"
            self._missing(steps, "refers to", name, {**known, **pseudo}, fix)

    def _names(self) -> dict[str, object]:
        """What a `Ref` may name, without pseudo parameters."""
        return {**self.stack.scope.section("Parameters"), **self.stack.scope.section("Resources")}

    def _get_att(self, argument: object, steps: Steps) -> None:
        if isinstance(argument, str):
            argument = argument.split(".")
        if not isinstance(argument, list) or not all(isinstance(part, str) for part in argument):
            self._value(argument, steps)
            return
        if not argument:
            self._report(steps, "Fn::GetAtt is given nothing", "write !GetAtt RESOURCE.ATTRIBUTE")
            return
        name, *attributes = argument
        self._attribute(name, ".".join(attributes), steps)

    def _attribute(self, name: str, attribute: str, steps: Steps) -> None:
        """Judges the attribute of a resource."""
        resources = self.stack.scope.section("Resources")
        if name not in resources:
            self._missing(steps, "refers to", name, resources, "name a resource of this template")
        elif not attribute:
            self._report(steps, f"!GetAtt {name} names no attribute", f"write !GetAtt {name}.ATTRIBUTE, or !Ref {name}")
        elif attribute.startswith("Outputs."):
            self._output(name, attribute.removeprefix("Outputs."), steps)
        elif (body := self.stack.scope.resource(name)) and not _JUDGED.intersection(steps):
            kind = str(body["Type"])
            known = _attributes(kind)
            if known and attribute.partition(".")[0] not in known:
                words = ", ".join(_own_attributes(kind))
                self._report(steps, f"{kind} has no attribute {attribute!r} ({name})", f"use one of {words}")

    def _output(self, name: str, output: str, steps: Steps) -> None:
        """Judges the output of a nested stack whose template is at hand."""
        nested = self.stack.nested.get(name)
        if nested is None or _may_grow(nested) or output in nested.scope.section("Outputs"):
            return
        has = ", ".join(nested.scope.section("Outputs")) or "none"
        self._report(
            steps,
            f"refers to the output {output!r} of {name}, which {nested.file.name} does not have",
            f"use one of its outputs ({has}), or add this one",
        )

    def _parameters_of_nested(self, name: str, body: Mapping[str, object]) -> None:
        """Judges what a nested stack is given, where its template is at hand."""
        nested, properties = self.stack.nested[name], body.get("Properties")
        given = properties.get("Parameters", {}) if isinstance(properties, Mapping) else None
        if _may_grow(nested) or not isinstance(given, Mapping) or any(key.startswith("Fn::") for key in given):
            return
        declared, steps = nested.scope.section("Parameters"), ("Resources", name, "Properties", "Parameters")
        for parameter, declaration in declared.items():
            if parameter not in given and isinstance(declaration, Mapping) and "Default" not in declaration:
                message = f"gives no value to the parameter {parameter!r} of {nested.file.name}, which has no default"
                self._report(steps, message, f"add {parameter} to Parameters")
        for parameter in given:
            if parameter not in declared:
                has = ", ".join(declared) or "none"
                message = f"gives a value to the parameter {parameter!r}, which {nested.file.name} does not have"
                self._report((*steps, parameter), message, f"use one of its parameters ({has}), or leave it out")
        self._value(given, steps)

    def _sub(self, argument: object, steps: Steps) -> None:
        text, given = argument if isinstance(argument, list) and len(argument) == 2 else (argument, {})  # noqa: PLR2004  # text and map
        if not isinstance(text, str) or not isinstance(given, Mapping):
            self._value(argument, steps)
            return
        self._value(given, (*steps, 1))
        for match in _PLACEHOLDER.finditer(text):
            name = match[1].strip()
            if name in given:
                continue
            if not all(map(_NAME.fullmatch, re.split(r"::|\.", name))):
                message = f"Fn::Sub finds ${{{match[1]}}}, which is no name"
                self._report(steps, message, f"write ${{!{match[1]}}} where it is text, not a name")
            elif "." in name:
                self._attribute(*_halves(name), steps)
            else:
                self._ref(name, steps)

    def _if(self, argument: object, steps: Steps) -> None:
        if not isinstance(argument, list) or not argument:
            return
        self._condition(argument[0], steps)
        before, self.certain = self.certain, False
        for index, branch in enumerate(argument[1:], 1):
            self._value(branch, (*steps, index))
        self.certain = before

    def _find_in_map(self, argument: object, steps: Steps) -> None:
        maps = self.stack.scope.section("Mappings")
        if not isinstance(argument, list) or len(argument) != 3 or not isinstance(argument[0], str):  # noqa: PLR2004  # a fourth is a default
            return
        self._value(argument, steps)
        name, top, second = argument[0], *map(self.stack.scope.resolve, argument[1:])
        if name not in maps:
            self._missing(steps, "refers to the mapping", name, maps, f"define {name} under Mappings")
            return
        rows = maps[name]
        if not self.certain or not isinstance(rows, Mapping) or not isinstance(top, str):
            return
        row = rows.get(top)
        if row is None:
            has = ", ".join(rows)
            self._report(steps, f"the mapping {name} has no key {top!r}", f"add it, or use one of {has}")
        elif isinstance(row, Mapping) and isinstance(second, str) and second not in row:
            has = ", ".join(row)
            self._report(steps, f"the mapping {name} has no key {second!r} under {top!r}", f"use one of {has}")


def _halves(name: str) -> tuple[str, str]:
    """Resource and attribute."""
    resource, _, attribute = name.partition(".")
    return resource, attribute


def _attributes(kind: str) -> frozenset[str]:
    """What `Fn::GetAtt` takes of a type; empty where we do not know."""
    properties = schemas.definitions(kind)["root"]["properties"] if kind in schemas.KINDS else ()
    return frozenset((*_own_attributes(kind), *properties))


def _own_attributes(kind: str) -> tuple[str, ...]:
    """Those that only the service sets; of some types, properties are attributes too."""
    if kind in schemas.KINDS:
        return tuple(schemas.definitions(kind)["root"].get("readOnly", ()))
    return _ATTRIBUTES.get(kind, ())
