"""What CloudFormation knows of a resource type, from the registry schemas that cfn-lint carries."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft7Validator

LISTED_LATE: Final = frozenset(("AWS::SageMaker::ClusterSchedulerConfig",))
"""Types that cfn-lint's lists of Regions lack and AWS's pages have there; their schema is that of us-east-1."""


class Schema:
    """The registry's schema of one type."""

    def __init__(self, type_name: str, body: dict[str, Any]) -> None:
        """Takes a schema as the registry has it."""
        self.type = type_name
        self._body = body

    @cached_property
    def _validator(self) -> Draft7Validator:
        body = json.loads(_classes_of_python(json.dumps(self._body)))
        return Draft7Validator({**body, "type": "object"})

    @cached_property
    def read_only(self) -> list[str]:
        """Names of the properties that only the service writes: what Fn::GetAtt can ask for."""
        return [path.removeprefix("/properties/") for path in self._body.get("readOnlyProperties", ())]

    @cached_property
    def identifier(self) -> list[str]:
        """Names of the properties that identify a resource: what Ref gives."""
        return [path.removeprefix("/properties/") for path in self._body["primaryIdentifier"]]

    @cached_property
    def create_only(self) -> list[list[str]]:
        """Paths of the properties whose change makes a new resource."""
        return [path.removeprefix("/properties/").split("/") for path in self._body.get("createOnlyProperties", ())]

    def permissions(self, operation: str) -> list[str]:
        """What IAM must allow for the type's handler of an operation, with services in lower case as IAM has them."""
        listed = self._body.get("handlers", {}).get(operation, {}).get("permissions", ())
        split = {each.partition(":")[::2] for each in listed if each}
        return sorted(f"{service.lower()}:{name}" for service, name in split)

    def checked(self, properties: dict[str, Any]) -> dict[str, Any]:
        """The properties with scalars of the schema's types.

        Raises:
            ValueError: in CloudFormation's words, if the schema does not allow them.
        """
        found: dict[str, Any] = self._coerced(properties, self._body)
        wrong = [f"#: read-only property {name} is given" for name in self.read_only if name in found]
        for error in self._validator.iter_errors(found):
            where = "/".join(map(str, error.absolute_path))
            wrong.append(f"#{where and '/' + where}: {error.message[:300]}")
        if wrong:
            raise ValueError(f"Properties validation failed for resource with message: {'; '.join(sorted(wrong))}")
        return found

    def _coerced(self, value: Any, schema: dict[str, Any]) -> Any:  # any JSON
        """CloudFormation takes `"2"` for 2 and true for `"true"`."""
        if "$ref" in schema:
            schema = self._body["definitions"][schema["$ref"].rpartition("/")[2]]
        if isinstance(value, dict):
            known = schema.get("properties", {})
            return {key: self._coerced(item, known.get(key, {})) for key, item in value.items()}
        if isinstance(value, list):
            return [self._coerced(item, schema.get("items", {})) for item in value]
        return _scalar(value, schema.get("type"))


def _classes_of_python(schema: str) -> str:
    """Java's classes of characters in patterns, which Python does not know, as the nearest that it does."""
    for java, python in {"L": "w", "N": "d", "Z": "s", "M": "W", "P": "W", "S": "W"}.items():
        schema = schema.replace(rf"\\p{{{java}}}", rf"\\{python}")
    return schema


def _scalar(value: Any, wanted: object) -> Any:  # any JSON scalar
    try:
        if isinstance(value, str) and wanted == "integer":
            return int(value)
        if isinstance(value, str) and wanted == "number":
            return float(value)
    except ValueError:
        return value
    if isinstance(value, str) and wanted == "boolean" and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if isinstance(value, bool | int | float) and wanted == "string":
        return str(value).lower() if isinstance(value, bool) else str(value)
    return value


def _files(folder: Path, region: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "providers" / f"{region}.json").read_text())
    return found


class Registry:
    """The schemas of all types that a Region has."""

    def __init__(self, folder: Path, region: str) -> None:
        """Reads the index of a Region.

        Args:
            folder: `cfnlint/data/schemas`.
            region: The Region.
        """
        self._resources = folder / "resources"
        self._files = _files(folder, region)
        of_first = _files(folder, "us-east-1")
        self._files |= {name: of_first[name] for name in LISTED_LATE - self._files.keys()}

    def find(self, type_name: str) -> Schema | None:
        """The schema of a type; `None` where the Region does not have it."""
        file = self._files.get(type_name)
        return Schema(type_name, json.loads((self._resources / f"{file}.json").read_text())) if file else None
