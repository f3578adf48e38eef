"""Programs that have not run yet: what Hypothesis draws, prints as code, shrinks and runs again in another order.

A value such as `hp.TrainingPlan(...)` checks itself when it is made, and a construct needs an app, so neither can be
drawn directly: the mistake would happen inside Hypothesis and not inside the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

import hyperpod_constructs as hp

TokenKind = Literal["text", "number", "list", "inside", "late text", "late number"]


@dataclass(frozen=True, slots=True)
class Token:
    """A value that is known only at deploy, or, if late, only when the template is written.

    Attributes:
        kind: In which of the forms that the CDK has.
        value: What a late one turns out to be, and what stands around one inside of text (`{}` is its place).
    """

    kind: TokenKind
    value: Any = None

    def __repr__(self) -> str:
        return f"<token: {self.kind}{'' if self.value is None else f' {self.value!r}'}>"


@dataclass(frozen=True, slots=True)
class Name:
    """What the program has: `app`, `stack`, an earlier step or an attribute of it, as in `topic.topic_arn`."""

    path: str

    def __repr__(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of lifecycle scripts, see `folders`."""

    name: str

    def __repr__(self) -> str:
        return f"<folder: {self.name}>"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of something public, for example `InstanceGroup.compute`; a name with `cdk.` or `iam.` is the CDK's."""

    name: str
    positional: tuple[Any, ...] = ()
    options: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        arguments = [repr(each) for each in self.positional]
        arguments += [f"{key}={value!r}" for key, value in (self.options or {}).items()]
        return (
            f"{self.name if '.' in self.name and self.name[0].islower() else f'hp.{self.name}'}({', '.join(arguments)})"
        )


@dataclass(frozen=True, slots=True)
class Program:
    """An app: calls in order, each with the name by which later ones know its result.

    Attributes:
        steps: The calls; constructs are made in `app` or `stack`.
        account: Account of `stack`; `None` where it is decided at deploy.
        region: Region of `stack`; `None` where it is decided at deploy.
    """

    steps: tuple[tuple[str, Call], ...]
    account: str | None = None
    region: str | None = None

    def __repr__(self) -> str:
        lines = [f"    {name} = {call!r}" for name, call in self.steps]
        return "\n".join([f"Program(account={self.account!r}, region={self.region!r})", *lines])

    def _repr_pretty_(self, printer: Any, cycle: object) -> None:
        """How Hypothesis prints a failing example."""
        del cycle
        printer.text(repr(self))

    @property
    def is_decided_late(self) -> bool:
        """Whether something becomes known when the template is written, and not before."""
        return any(kind.startswith("late") for kind in self.tokens)

    @property
    def tokens(self) -> set[TokenKind]:
        """The kinds of tokens in it."""
        found: set[TokenKind] = set()

        def look(value: Any) -> Any:
            if isinstance(value, Token):
                found.add(value.kind)
            return value

        for _, call in self.steps:
            mapped(call, look)
        return found

    def with_options(self, **options: Any) -> Program:
        """The same with further arguments of the last step."""
        name, call = self.steps[-1]
        changed = replace(call, options={**(call.options or {}), **options})
        return replace(self, steps=(*self.steps[:-1], (name, changed)))


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of a recipe with every part changed, the innermost first."""
    if isinstance(value, Call):
        positional = tuple(mapped(each, change) for each in value.positional)
        return change(replace(value, positional=positional, options=mapped(dict(value.options or {}), change)))
    if isinstance(value, dict):
        return change({key: mapped(each, change) for key, each in value.items()})
    if isinstance(value, list | tuple):
        return change(type(value)(mapped(each, change) for each in value))
    return change(value)


def shuffled(program: Program) -> Program:
    """The same in another order: arguments, dictionaries and groups the other way round."""

    def turn(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        groups = part.get("groups")
        turned = {**part, "groups": groups[::-1]} if isinstance(groups, list) else part
        return dict(reversed(turned.items()))

    return replace(program, steps=tuple((name, mapped(call, turn)) for name, call in program.steps))


@dataclass(frozen=True, slots=True)
class Kitchen:
    """Where a program runs.

    Attributes:
        token: Makes a token.
        names: What `Name` finds.
        folders: Path of each folder of scripts.
    """

    token: Callable[[Token], Any]
    names: dict[str, Any]
    folders: Mapping[str, str]

    def made(self, recipe: Any) -> Any:
        """The value that a recipe stands for; raises what making it raises."""
        return mapped(recipe, self._make)

    def _make(self, part: Any) -> Any:
        if isinstance(part, Call):
            return _callable(part.name)(*part.positional, **(part.options or {}))
        if isinstance(part, Token):
            return self.token(part)
        if isinstance(part, Folder):
            return self.folders[part.name]
        if isinstance(part, Name):
            name, *attributes = part.path.split(".")
            return reduce(getattr, attributes, self.names[name])
        return part

    def run(self, program: Program) -> None:
        """Makes everything; the results are in `names`."""
        for name, call in program.steps:
            self.names[name] = self.made(call)


def _callable(name: str) -> Callable[..., Any]:
    if name.startswith(("cdk.", "iam.")):
        import aws_cdk as cdk
        from aws_cdk import aws_iam as iam

        module, _, rest = name.partition(".")
        return reduce(getattr, rest.split("."), {"cdk": cdk, "iam": iam}[module])  # type: ignore[return-value]  # looked up by name
    return reduce(getattr, name.split("."), hp)  # type: ignore[return-value]  # looked up by name
