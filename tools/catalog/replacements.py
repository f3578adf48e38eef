"""Rebuilds `hyperpod_constructs/catalog/replacements.json`: which properties make a new resource when they change.

Run `python -m tools.catalog.replacements` after an upgrade of cfn-lint, and read the diff. The source is
CloudFormation's registry in cfn-lint's data, every type of every Region: a reviewer meets templates of all kinds. The
same version gives the same bytes, which a test holds.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from cfnlint.helpers import REGIONS
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from tools.catalog.build import CATALOG, lines, schema_date
from tools.catalog.handlers import HOME

_LISTS = {
    "id": "primaryIdentifier",
    "createOnly": "createOnlyProperties",
    "conditional": "conditionalCreateOnlyProperties",
}
"""Name in the file by name in the registry."""


def main() -> None:
    """Writes the file."""
    (CATALOG / "replacements.json").write_text(replacements(), encoding="utf-8")


def replacements() -> str:
    """The content of replacements.json: by type, paths with blanks between; a type with nothing special is empty."""
    return lines(
        {
            "sources": {"types": f"cfn-lint {version('cfn-lint')}, registry schemas of {schema_date()}"},
            "types": {name: _of(region, name) for name, region in sorted(_regions().items())},
        }
    )


def _regions() -> dict[str, str]:
    """By type, the Region whose schema is read: the one with the most types, else the first that has it."""
    found: dict[str, str] = {}
    for region in (HOME, *sorted(REGIONS)):
        for name in PROVIDER_SCHEMA_MANAGER.get_resource_types(region):
            found.setdefault(name, region)
    return {name: region for name, region in found.items() if name.startswith("AWS::")}


def _of(region: str, name: str) -> dict[str, Any]:
    schema: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, name).schema
    entry: dict[str, Any] = {ours: _paths(schema[theirs]) for ours, theirs in _LISTS.items() if schema.get(theirs)}
    if schema.get("replacementStrategy") == "delete_then_create":
        entry["deleteFirst"] = True
    return entry


def _paths(pointers: list[str]) -> str:
    """JSON pointers as paths with dots, without places in lists, and each once."""
    paths = (each.removeprefix("/properties/").replace("/*", "").replace("/", ".") for each in pointers)
    return " ".join(dict.fromkeys(paths))


if __name__ == "__main__":
    main()
