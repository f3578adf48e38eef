"""What preflight asks of an account and neither ministack nor moto answers: offerings, quotas, resource types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import botocore.session
from ministack.services import ec2
from ministack.services.cloudformation import handlers
from ministack.services.cloudformation.helpers import _error, _p
from moto.servicequotas import responses

from tests.proof.emulator.journal import Journal
from tests.proof.emulator.registry import Registry

_ZONES: Final = ("usw2-az1", "usw2-az2", "usw2-az3")
_EVERY_TYPE: Final = 100
_TOTALS: Final = {
    "Maximum number instances allowed per SageMaker HyperPod cluster": 100,
    "Total number of instances allowed across SageMaker HyperPod clusters": 100,
    "Number of training plans per Region": 25,
    "Network interfaces per Region": 5000,
    "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance": 1024,
}


def _values(parameters: dict[str, Any], name: str) -> list[str]:
    """The values of an EC2 filter."""
    for number in range(1, 10):
        if _p(parameters, f"Filter.{number}.Name") == name:
            found = (_p(parameters, f"Filter.{number}.Value.{each}") for each in range(1, 200))
            return [value for value in found if value]
    return []


def _offerings(parameters: dict[str, Any]) -> Any:  # what ministack's handlers return
    kind = _p(parameters, "LocationType") or "region"
    zones = _values(parameters, "location") or list(_ZONES)
    items = "".join(
        f"<item><instanceType>{name}</instanceType><locationType>{kind}</locationType><location>{zone}</location></item>"
        for name in _values(parameters, "instance-type")
        for zone in zones
    )
    return ec2._xml(
        200, "DescribeInstanceTypeOfferingsResponse", f"<instanceTypeOfferingSet>{items}</instanceTypeOfferingSet>"
    )


def _quotas() -> Iterator[dict[str, object]]:
    """Room for every instance type, and the totals."""
    model = botocore.session.get_session().get_service_model("sagemaker")
    types = {f"{name} for cluster usage": _EVERY_TYPE for name in model.shape_for("ClusterInstanceType").enum}
    for number, (name, value) in enumerate({**types, **_TOTALS}.items()):
        yield {"QuotaName": name, "QuotaCode": f"L-{number:08X}", "ServiceCode": "sagemaker", "Value": float(value)}


def install(registry: Registry, journal: Journal) -> None:
    """Adds the three to ministack and moto."""

    def describe_type(parameters: dict[str, Any]) -> Any:  # what ministack's handlers return
        name = _p(parameters, "TypeName")
        if registry.find(name) is None or journal.absent(name):
            return _error("TypeNotFoundException", f"The type '{name}' cannot be found.", 404)
        body = f"<DescribeTypeResult><Type>RESOURCE</Type><TypeName>{name}</TypeName></DescribeTypeResult>"
        return handlers._xml(200, "DescribeTypeResponse", body)

    def listed(_: Any) -> str:  # a response class of moto
        return json.dumps({"Quotas": [*_quotas()]})

    ec2._ACTION_MAP["DescribeInstanceTypeOfferings"] = _offerings
    handlers._ACTION_HANDLERS["DescribeType"] = describe_type
    responses.ServiceQuotasResponse.list_service_quotas = listed  # type: ignore[attr-defined]  # moto has none
    responses.ServiceQuotasResponse.list_aws_default_service_quotas = listed  # type: ignore[method-assign, assignment]  # moto knows one service
