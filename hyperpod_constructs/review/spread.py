"""Which resources are replaced, and what that reaches.

A replaced resource has another id. Whatever refers to it changes too, in other stacks as well, though nobody touched
its text; where such a property is create-only, the replacement goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from hyperpod_constructs.catalog import updates
from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.review.comparison import Comparison, Difference, Pair, Steps, names_of

REPLACES: Final = frozenset({"replaces", "replaces too"})
"""Words of `catalog.updates` for a change that makes a new resource."""

Id: TypeAlias = tuple[str, str]
"""What both sides call a resource."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reached:
    """A property that gets another value because of a replacement.

    Attributes:
        pair: The resource that has it.
        difference: The property; before and after are the same reference.
        cause: The resource that is replaced.
    """

    pair: Pair
    difference: Difference
    cause: Pair


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Everything that replacements do.

    Attributes:
        replaced: Each replaced resource with the property that leads to it.
        reached: Properties that get another value, in the order in which they are reached.
        colliding: Those of the replaced resources whose successor would have the name of the one that is still there.
    """

    replaced: Mapping[Id, Difference]
    reached: tuple[Reached, ...]
    colliding: frozenset[Id]


@dataclass(frozen=True, slots=True, eq=False)
class _Use:
    """A reference in a property."""

    user: Pair
    steps: Steps
    path: str
    reference: Reference


def of(comparison: Comparison) -> Spread:
    """What is replaced, and what that reaches, over all stacks."""
    uses = _uses(comparison)
    replaced = {pair.id: found for pair in comparison.pairs if (found := _replacing(pair)) is not None}
    colliding = {id_ for id_ in replaced if _collides(comparison.by_id[id_])}
    waiting, reached = [id_ for id_ in replaced if id_ not in colliding], []
    while waiting:
        cause = comparison.by_id[waiting.pop(0)]
        for use in uses.get(cause.id, ()):
            value = use.reference
            difference = Difference(steps=use.steps, path=use.path, before=value, after=value)
            reached.append(Reached(pair=use.user, difference=difference, cause=cause))
            if use.user.id in replaced or not _replaces(use.user, use.path):
                continue
            replaced[use.user.id] = difference
            if _collides(use.user, use.path):
                colliding.add(use.user.id)
            else:
                waiting.append(use.user.id)
    return Spread(replaced=replaced, reached=tuple(reached), colliding=frozenset(colliding))


def _replacing(pair: Pair) -> Difference | None:
    """The first property of a resource whose own change replaces it."""
    return next((each for each in pair.differences if not each.is_open and _replaces(pair, each.path)), None)


def _replaces(pair: Pair, path: str) -> bool:
    found = updates.of(pair.either.type, path)
    return found is not None and found.does in REPLACES


def _collides(pair: Pair, reached: str = "") -> bool:
    """Whether the successor of a resource would have the name that the template gives to the one that is there.

    Args:
        pair: The resource.
        reached: A property that gets another value although its text stays.
    """
    kind = pair.either.type
    if pair.before is None or pair.after is None or updates.deletes_first(kind):
        return False
    changed = {reached, *(each.path for each in pair.differences)}
    ids = updates.identifiers(kind)
    own = kind.rpartition("::")[2]
    named = {f"{own}Name", "Name", f"{own}Identifier"}
    names = [path for path in updates.create_only(kind) if path.rpartition(".")[2] in named]
    keys = [ids, *((path,) for path in names if len(ids) == 1 or path not in ids)]
    return any(key and all(_is_given(pair, path) and path not in changed for path in key) for key in keys)


def _is_given(pair: Pair, path: str) -> bool:
    """Whether the template says a property, in plain text or by a resource that decides it."""
    found: Value = pair.after.properties if pair.after else None
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return isinstance(found, str | Reference | Text)


def _uses(comparison: Comparison) -> Mapping[Id, list[_Use]]:
    """Where each resource is referred to by one that exists before and after."""
    found: dict[Id, list[_Use]] = {}
    for pair in comparison.pairs:
        if pair.before is None or pair.after is None or not isinstance(pair.after.properties, dict):
            continue
        for steps, path, reference in _references(comparison.head_value(pair.after.properties), (), ""):
            id_ = (reference.stack, reference.logical_id)
            if id_ != pair.id:
                found.setdefault(id_, []).append(_Use(pair, steps, path, reference))
    return found


def _references(value: Value, steps: Steps, path: str) -> Iterator[tuple[Steps, str, Reference]]:
    if isinstance(value, Reference):
        yield steps, path, value
    elif isinstance(value, Text):
        yield from ((steps, path, reference) for reference in value.references)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _references(item, (*steps, key), f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for name, item in zip(names_of(value) or map(str, range(len(value))), value, strict=True):
            yield from _references(item, (*steps, name), path)
