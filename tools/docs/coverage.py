"""Writes docs/schema-coverage.md: what becomes of every property of the resource types that the constructs make.

What nobody can derive stands in coverage_table.toml; what a property takes comes from the catalogue of schemas, and
what a change of it does from the catalogue of updates.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from hyperpod_constructs.catalog import schemas, updates

PAGE: Final = Path("docs/schema-coverage.md")
TABLE: Final = Path(__file__).with_name("coverage_table.toml")

_WORDS_SHOWN: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One property.

    Attributes:
        kind: Resource type.
        path: Names that lead to it, with dots between them.
        field: `Class.field` of the model that the constructs write it from.
        read: `Class.field` of the model that holds it where a template is read.
        always: What the constructs write by themselves.
        unset: Why they leave it out.
        rules: Ids of the rules that judge it.
    """

    kind: str
    path: str
    field: str = ""
    read: str = ""
    always: str = ""
    unset: str = ""
    rules: tuple[str, ...] = ()

    @property
    def change(self) -> updates.Update:
        """What a later change of it does."""
        return updates.rows(self.kind)[self.path]


@cache
def rows() -> tuple[Row, ...]:
    """The table."""
    return tuple(
        _row(kind, path, row) for kind, table in _table().items() if kind != "lacking" for path, row in table.items()
    )


@cache
def lacking() -> Mapping[str, Mapping[str, str]]:
    """By operation, what the API has and CloudFormation lacks, with the way to get it."""
    found: Mapping[str, Mapping[str, str]] = _table()["lacking"]
    return found


def properties(kind: str) -> dict[str, Mapping[str, Any]]:
    """Every property of a kind by path, with what it takes; one that only the service sets takes nothing.

    Of file systems those that are not Lustre's are not looked into.
    """
    return dict(_properties(kind, "root", ""))


def coverage_page() -> str:
    """The page."""
    kinds = dict.fromkeys(row.kind for row in rows())
    parts = [_HEAD, _list_of_updates(), *(_section(kind) for kind in kinds), _LACKING_HEAD]
    parts += [_lacking_section(operation, table) for operation, table in lacking().items()]
    return "\n".join(parts)


_HEAD = """\
# Schema coverage

<!-- written by python -m tools.docs, from tools/docs/coverage_table.toml and
     hyperpod_constructs/catalog/updates.toml -->

Every property of the resources that the constructs make: what it takes, what sets it, which [rules](rules/README.md)
judge it, and what a later change of it does. Where it says `schema`, `hyperpod check` compares type, words, patterns
and ranges with the registry's (HP1001 for what cannot be, HP1017 for names that nobody knows).

`(read)` marks a field of the model that templates are read into and rules judge, but that no construct writes: give it
with `cluster.resource.add_property_override`.

What a change does:
"""

_LACKING_HEAD = """\
## What the APIs have and CloudFormation lacks

A value that is set beside CloudFormation is drift: the next update of the same group or file system by the stack may
take it back.
"""


def _list_of_updates() -> str:
    return "\n".join(f"- **{word}**: {meaning}" for word, meaning in updates.WORDS.items()) + "\n"


def _section(kind: str) -> str:
    known = properties(kind)
    head = [f"## {kind}", "", "| property | takes | set by | rules | a change |", "| --- | --- | --- | --- | --- |"]
    lines = [_line(row, known.get(row.path, {})) for row in rows() if row.kind == kind]
    return "\n".join([*head, *lines]) + "\n"


def _line(row: Row, takes: Mapping[str, Any]) -> str:
    judged = ", ".join(["schema", *(f"[{rule}](rules/{rule}.md)" for rule in row.rules)])
    return f"| `{row.path}` | {_takes(takes)} | {_setter(row)} | {judged} | {_change(row)} |"


def _change(row: Row) -> str:
    """What a change does, and why where the line above does not say it already."""
    above = updates.rows(row.kind).get(row.path.rpartition(".")[0])
    said = above is row.change or not row.change.because
    return row.change.does if said else f"{row.change.does}: {row.change.because}"


def _setter(row: Row) -> str:
    if row.field:
        return f"`{row.field}`"
    if row.read:
        return f"`{row.read}` (read)"
    if row.always:
        return f"always: {row.always}"
    return f"not set: {row.unset}" if row.unset else "the service"


def _takes(allowed: Mapping[str, Any]) -> str:
    """What a property takes, in a few words."""
    if "enum" in allowed:
        words = allowed["enum"]
        more = f" and {len(words) - _WORDS_SHOWN} more" if len(words) > _WORDS_SHOWN else ""
        return ", ".join(f"`{word}`" for word in words[:_WORDS_SHOWN]) + more
    match allowed.get("type", "map" if allowed else None):
        case "array":
            number = _range(allowed, "minItems", "maxItems") or "any number"
            return f"{number} of: {_takes(allowed['items']) or 'anything'}"
        case "integer" | "number" as number:
            return _range(allowed, "minimum", "maximum") or f"a {number}"
        case "string":
            says, length = allowed.get("says", ""), _range(allowed, "minLength", "maxLength")
            return "; ".join(filter(None, (says, length and f"{length} characters"))) or "text"
        case kind:
            return {"boolean": "true or false", "map": "a map"}.get(str(kind), "")


def _range(allowed: Mapping[str, Any], low: str, high: str) -> str:
    least, most = allowed.get(low), allowed.get(high)
    if most is None:
        return "" if least is None else f"{least:,} or more"
    return f"{least or 0:,} to {most:,}"


def _lacking_section(operation: str, table: Mapping[str, str]) -> str:
    head = [f"### {operation}", "", "| what | how to get it |", "| --- | --- |"]
    return "\n".join([*head, *(f"| `{what}` | {way} |" for what, way in table.items())]) + "\n"


def _properties(kind: str, name: str, before: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    definition = schemas.definitions(kind)[name]
    yield from ((before + each, {}) for each in definition.get("readOnly", ()))
    for each, value in definition.get("properties", {}).items():
        yield before + each, value
        below = value.get("ref") or value.get("items", {}).get("ref")
        if below and each != "OpenZFSConfiguration":
            yield from _properties(kind, below, f"{before}{each}.")


def _row(kind: str, path: str, row: Mapping[str, Any]) -> Row:
    given = {key: value for key, value in row.items() if key != "rules"}
    return Row(kind=kind, path=path, rules=tuple(row.get("rules", "").split()), **given)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))
