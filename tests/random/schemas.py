"""Second opinions on templates that cost milliseconds: the registry's schemas, and botocore as CreateCluster's judge.

cfn-lint as a program takes seconds for each template; its schemas and its validator of JSON schemas take milliseconds.
What CloudFormation decides at deploy counts as right wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from botocore.loaders import Loader
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator
from cfnlint.jsonschema import StandardValidator, validators
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

JUDGED: Final = ("AWS::Budgets::", "AWS::EC2::", "AWS::Events::", "AWS::FSx::", "AWS::IAM::", "AWS::SageMaker::")
"""Types whose properties are judged; the others are the CDK's own business."""
_REGION: Final = "us-east-1"


class _AtDeploy:
    """Stands for an intrinsic; equal to nothing else, so that items of a list stay different."""


def schema_errors(template: Mapping[str, Any]) -> list[str]:
    """What the registry's schemas have against the resources of a template."""
    return [
        f"{name} ({resource['Type']}) {'.'.join(map(str, error.path))}: {error.message}"
        for name, resource in template.get("Resources", {}).items()
        if resource["Type"].startswith(JUDGED)
        for error in _validator(resource["Type"]).iter_errors(_with_stand_ins(resource.get("Properties", {})))
    ]


def create_cluster_errors(properties: Mapping[str, Any]) -> str:
    """What botocore has against the properties of a cluster as the parameters of a CreateCluster call."""
    shape = _create_cluster()
    return str(ParamValidator().validate(_with_literals(properties, shape), shape).generate_report())


@cache
def _validator(type_name: str) -> Any:
    return _lenient_validator()(PROVIDER_SCHEMA_MANAGER.get_resource_schema(_REGION, type_name).schema)


@cache
def _lenient_validator() -> Any:
    """cfn-lint's validator of plain JSON, for which every keyword allows an intrinsic."""
    keywords = StandardValidator({}).validators
    return validators.create(validators={name: _lenient(check) for name, check in keywords.items()})


def _lenient(check: Callable[..., Iterator[Any] | None]) -> Callable[..., Iterator[Any] | None]:
    def judge(validator: Any, keyword: Any, instance: Any, schema: Any) -> Iterator[Any] | None:
        return iter(()) if isinstance(instance, _AtDeploy) else check(validator, keyword, instance, schema)

    return judge


def _is_intrinsic(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith(("Fn::", "Ref"))


def _with_stand_ins(value: Any) -> Any:
    if _is_intrinsic(value):
        return _AtDeploy()
    if isinstance(value, dict):
        return {key: _with_stand_ins(item) for key, item in value.items()}
    return [_with_stand_ins(item) for item in value] if isinstance(value, list) else value


@cache
def _create_cluster() -> Shape:
    model = ServiceModel(Loader().load_service_model("sagemaker", "service-2"))
    shape: Shape = model.operation_model("CreateCluster").input_shape
    return shape


def _with_literals(value: Any, shape: Any) -> Any:
    """Intrinsics as the simplest value that the API takes in their place."""
    if shape is not None and _is_intrinsic(value):
        return _simplest(shape)
    if isinstance(value, dict):
        members = getattr(shape, "members", {})
        return {
            key: _with_literals(item, members.get(key, getattr(shape, "value", None))) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_with_literals(item, getattr(shape, "member", None)) for item in value]
    return value


def _simplest(shape: Any) -> Any:
    if shape.type_name == "list":
        return [_simplest(shape.member)]
    if shape.type_name in {"integer", "long"}:
        return shape.metadata.get("min", 1)
    if shape.type_name == "boolean":
        return True
    if shape.type_name == "structure":
        return {name: _simplest(shape.members[name]) for name in shape.required_members}
    return "a" * max(1, shape.metadata.get("min", 1))
