"""A resource type of which the emulator keeps nothing but that it exists, as strict as its registry schema."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any, Final

import boto3
from ministack.core.responses import get_account_id, get_region

from tests.proof.emulator.registry import Schema

Created = tuple[str, dict[str, str]]

LUSTRE: Final = "AWS::FSx::FileSystem"
_PREFIXES: Final = {
    "AWS::EC2::EIP": "eipalloc",
    "AWS::EC2::FlowLog": "fl",
    "AWS::EC2::NatGateway": "nat",
    "AWS::EC2::SecurityGroupEgress": "sgr",
    "AWS::EC2::SecurityGroupIngress": "sgr",
    "AWS::FSx::DataRepositoryAssociation": "dra",
    "AWS::FSx::FileSystem": "fs",
}
_serial = itertools.count(1)


def new_id(type_name: str, stack: str, logical_id: str) -> str:
    """An id of the service's form."""
    digest = hashlib.sha256(f"{stack} {logical_id} {next(_serial)}".encode()).hexdigest()[:17]
    prefix = _PREFIXES.get(type_name)
    return f"{prefix}-{digest}" if prefix else f"{stack}-{logical_id}-{digest[:12]}"


def attributes_of(schema: Schema, physical_id: str) -> dict[str, str]:
    """What Fn::GetAtt gives, in the service's forms where others check them."""
    region, account = get_region(), get_account_id()
    values = {
        "DNSName": f"{physical_id}.fsx.{region}.amazonaws.com",
        "LustreMountName": physical_id.rpartition("-")[2][:8],
        "ResourceARN": f"arn:aws:fsx:{region}:{account}:file-system/{physical_id}",
        "PublicIp": f"198.51.100.{next(_serial) % 250 + 1}",
    }
    return {name: values.get(name, physical_id) for name in schema.read_only if "/" not in name}


def client(service: str, endpoint: str) -> Any:  # clients of boto3 have no static type
    return boto3.client(
        service,
        region_name=get_region(),
        endpoint_url=endpoint,
        aws_access_key_id=get_account_id(),
        aws_secret_access_key="test",
    )


def replacing(schema: Schema) -> tuple[str, ...]:
    """Names of the properties whose change replaces the resource, however little of them changes."""
    return tuple(path[0] for path in schema.create_only if len(path) == 1)


class Generic:
    """A type of which the emulator keeps nothing but that it exists."""

    def __init__(self, schema: Schema) -> None:
        """Takes the schema of the type."""
        self._schema = schema
        self.replacing = replacing(schema)

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:
        """Makes a resource."""
        self._schema.checked(properties)
        physical_id = new_id(self._schema.type, stack, logical_id)
        self.made(physical_id, properties)
        return physical_id, self.attributes(physical_id)

    def update(
        self, physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str
    ) -> Created:
        """Changes a resource, or makes another one where only part of a property that forces it has changed."""
        self._schema.checked(new)
        if self.is_other(old, new):
            return self.create(logical_id, new, stack)
        return physical_id, self.attributes(physical_id)

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:
        """Deletes a resource."""

    def made(self, physical_id: str, properties: dict[str, Any]) -> None:
        """Called for every new resource."""

    def attributes(self, physical_id: str) -> dict[str, str]:
        """What Fn::GetAtt gives."""
        return attributes_of(self._schema, physical_id)

    def is_other(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        """Whether a change makes another resource."""
        paths = [path for path in self._schema.create_only if len(path) == 1 and path[0] not in self.replacing]
        return any(at(old, path) != at(new, path) for path in (*paths, *self._nested_replacing()))

    def _nested_replacing(self) -> list[list[str]]:
        listed = [path for path in self._schema.create_only if len(path) > 1]
        if self._schema.type == LUSTRE:
            # The registry does not list these, CloudFormation's page does (facts 5.4).
            listed += [["LustreConfiguration", "DeploymentType"], ["LustreConfiguration", "CopyTagsToBackups"]]
        return listed


def at(value: Any, path: list[str]) -> Any:  # any JSON
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
