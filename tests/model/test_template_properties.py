"""The lists of property names are kept by hand; here they are compared with what they were copied from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import botocore.session
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from hyperpod_constructs.model.template.properties import CLUSTER, GROUP, REQUEST, REQUEST_GROUP, Shape

WHAT_TO_DO = (
    "model/template/properties.py differs from {source}. A name that is only there is new: add it to the shape, and to "
    "the model if a rule can judge it. A name that is only in our list was withdrawn: remove it. Then write the new "
    "version into the docstring of the module."
)
NOT_LOOKED_INTO = {"InstanceGroups", "Labels", "OnDemand", "Spot"}
"""Groups are compared on their own, labels have the user's own names, and the last two are empty maps."""


def spelled(shape: Shape, path: str = "") -> set[str]:
    """Every name of a shape as a path."""
    names = {f"{path}{name}" for name in shape}
    return names.union(*(spelled(below, f"{path}{name}.") for name, below in shape.items()))


def registered(definition: Mapping[str, Any], schema: Mapping[str, Any], path: str = "") -> set[str]:
    """The same of a definition in a registry schema."""
    found: set[str] = set()
    for name, value in definition.get("properties", {}).items():
        found.add(path + name)
        while "$ref" in value or "items" in value:
            reference = value.get("$ref", "").rpartition("/")[2]
            value = schema["definitions"][reference] if reference else value["items"]  # noqa: PLW2901  # follows it
        if name not in NOT_LOOKED_INTO:
            found |= registered(value, schema, f"{path}{name}.")
    return found.union(*(registered(one, schema, path) for one in definition.get("oneOf", ())))


def requested(shape: Any, path: str = "") -> set[str]:
    """The same of a structure of botocore."""
    found: set[str] = set()
    for name, member in getattr(shape, "members", {}).items():
        found.add(path + name)
        while member.type_name == "list":
            member = member.member  # noqa: PLW2901  # follows it
        if name not in NOT_LOOKED_INTO:
            found |= requested(member, f"{path}{name}.")
    return found


def read_only(schema: Mapping[str, Any]) -> set[str]:
    """What nobody may write, as paths."""
    return {
        path.removeprefix("/properties/").replace("/*/", "/").replace("/", ".") for path in schema["readOnlyProperties"]
    }


class TestNames:
    def test_of_templates_are_those_of_the_registry(self) -> None:
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", "AWS::SageMaker::Cluster").schema
        group = schema["definitions"]["ClusterInstanceGroup"]
        of_group = {name.removeprefix("InstanceGroups.") for name in read_only(schema)}
        message = WHAT_TO_DO.format(source="the registry schema in cfn-lint")
        assert spelled(CLUSTER) == registered(schema, schema) - read_only(schema), message
        assert spelled(GROUP) == registered(group, schema) - of_group, message

    def test_of_requests_are_those_of_botocore(self) -> None:
        request = botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateCluster")
        group = request.input_shape.members["InstanceGroups"].member
        message = WHAT_TO_DO.format(source="CreateCluster in botocore")
        assert spelled(REQUEST) == requested(request.input_shape), message
        assert spelled(REQUEST_GROUP) == requested(group), message
