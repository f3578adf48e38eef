"""Says how a condition came out as it did, so that nobody takes what it leaves out for checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.cloudformation.stack import Stack


def reason(stack: Stack, condition: str) -> str:
    """What decided a condition, as in `the condition IsProd (Env = 'dev')`."""
    deciding = ", ".join(f"{name} = {value!r}" for name, value in deciders(stack, condition).items())
    return f"the condition {condition}" + (f" ({deciding})" if deciding else "")


def deciders(stack: Stack, condition: str) -> dict[str, str]:
    """The parameters and the Region that a condition asks for, with their values as far as known."""
    found = {}
    for name in _asked(stack, stack.scope.section("Conditions").get(condition), {condition}):
        value = stack.scope.resolve({"Ref": name})
        if isinstance(value, str | int | float):
            found[name] = str(value)
    return found


def _asked(stack: Stack, value: object, seen: set[str]) -> Iterator[str]:
    """Every name that an expression refers to, also through other conditions."""
    if isinstance(value, list):
        for item in value:
            yield from _asked(stack, item, seen)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key == "Ref" and isinstance(item, str):
                yield item
            elif key == "Condition" and isinstance(item, str) and item not in seen:
                seen.add(item)
                yield from _asked(stack, stack.scope.section("Conditions").get(item), seen)
            else:
                yield from _asked(stack, item, seen)
