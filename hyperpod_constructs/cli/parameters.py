"""Values for the parameters of templates: given by the user, and which ones the conditions were judged with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from hyperpod_constructs.cli import inputs
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.document import read_text
from hyperpod_constructs.errors import UnreadableTemplate
from hyperpod_constructs.model.template import conditions

_FORMS = '[{"ParameterKey": ..., "ParameterValue": ...}] or {"Parameters": {KEY: VALUE}}'


def given(pairs: list[tuple[str, str]], file: str | None) -> dict[str, str]:
    """Values by parameter; what was typed wins over the file.

    Raises:
        UnreadableTemplate: The file is none of parameters.
    """
    return {**(dict(_of_file(file)) if file else {}), **dict(pairs)}


def refuse_unknown(read: Assembly, values: Mapping[str, str]) -> None:
    """Refuses values that no template takes.

    Raises:
        UnreadableTemplate: There is such a value.
    """
    declared = _declared(read)
    for name, value in values.items():
        _accepted(name, value, declared)


def say_what_was_judged(read: Assembly, values: Mapping[str, str]) -> None:
    """Says on standard error which of several allowed values the conditions were judged with."""
    declared, deciding = _declared(read), dict[str, str]()
    for stack in read.stacks:
        for condition in stack.scope.section("Conditions") if stack.parent is None else ():
            deciding |= conditions.deciders(stack, condition)
    said = [
        f"{name}={value}"
        for name, value in deciding.items()
        if name not in values and len(_allowed(declared.get(name, {}))) > 1
    ]
    if said:
        inputs.note(f"conditions were judged with {', '.join(said)}, the default; --parameter KEY=VALUE judges others")


def _declared(read: Assembly) -> dict[str, Mapping[str, object]]:
    """Declarations of parameters that somebody gives a value to at deploy."""
    return {
        name: declaration
        for stack in read.stacks
        if stack.parent is None
        for name, declaration in stack.scope.section("Parameters").items()
        if isinstance(declaration, Mapping)
    }


def _accepted(name: str, value: str, declared: Mapping[str, Mapping[str, object]]) -> None:
    if name not in declared:
        has = ", ".join(declared) or "none"
        raise UnreadableTemplate(f"--parameter {name}: no template has this parameter; there are: {has}")
    allowed = _allowed(declared[name])
    if allowed and value not in allowed:
        raise UnreadableTemplate(f"--parameter {name}={value}: the template allows {', '.join(allowed)}")


def _allowed(declaration: Mapping[str, object]) -> list[str]:
    allowed = declaration.get("AllowedValues")
    return [str(each) for each in allowed] if isinstance(allowed, list) else []


def _of_file(file: str) -> Iterator[tuple[str, str]]:
    try:
        body = json.loads(read_text(Path(file)))
    except (ValueError, RecursionError) as error:
        raise UnreadableTemplate(f"{file}: is no JSON: {error}") from None
    if isinstance(body, dict) and isinstance(body.get("Parameters"), dict):
        body = [{"ParameterKey": key, "ParameterValue": value} for key, value in body["Parameters"].items()]
    if not isinstance(body, list):
        raise UnreadableTemplate(f"{file}: holds no parameters; write {_FORMS}")
    for each in body:
        pair = (each.get("ParameterKey"), each.get("ParameterValue")) if isinstance(each, dict) else (None, None)
        if not isinstance(pair[0], str) or not isinstance(pair[1], str | int | float):
            raise UnreadableTemplate(f"{file}: {json.dumps(each)[:80]} is no parameter; write {_FORMS}")
        value = pair[1]
        yield pair[0], str(value).lower() if isinstance(value, bool) else str(value)
