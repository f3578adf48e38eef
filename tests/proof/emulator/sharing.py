"""How teams share a HyperPod cluster on EKS: scheduler policies and compute quotas.

Written from AWS's texts (facts 6) and not from this library's rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from ministack.core.responses import get_account_id, get_region

from tests.proof.emulator import kubernetes
from tests.proof.emulator.generic import Created, Generic, new_id
from tests.proof.emulator.kubernetes import refused
from tests.proof.emulator.registry import Schema

POLICY: Final = "AWS::SageMaker::ClusterSchedulerConfig"
QUOTA: Final = "AWS::SageMaker::ComputeQuota"

POLICIES: Final[dict[str, dict[str, Any]]] = {}
"""Properties of scheduler policies by ARN."""
QUOTAS: Final[dict[str, dict[str, Any]]] = {}
"""Properties of compute quotas by ARN."""


def users_of(cluster_arn: str) -> list[str]:
    """Names of the policies and quotas of a HyperPod cluster."""
    of_it = (each for each in (*POLICIES.values(), *QUOTAS.values()) if each["ClusterArn"] == cluster_arn)
    return [str(each["Name"]) for each in of_it]


kubernetes.IN_USE.append(lambda plane: [name for each in plane.hyperpods() for name in users_of(each.arn)])


def _hyperpod(arn: str) -> Any:  # a cluster of ours, which mypy does not see in moto's store
    """The HyperPod cluster of an ARN, which must be on EKS and have task governance."""
    for plane in kubernetes.PLANES.values():
        for each in plane.hyperpods():
            if each.arn == arn:
                if kubernetes.TASK_GOVERNANCE not in plane.addons:
                    raise refused(f"The task governance add-on is not installed on {plane.name}", "InvalidRequest")
                return each
    raise refused(f"HyperPod cluster {arn} is not orchestrated by EKS, or could not be found", "InvalidRequest")


def _conflict(what: str) -> ValueError:
    return refused(f"ConflictException: {what}", "AlreadyExists")


def _arn(kind: str, id: str) -> str:
    return f"arn:aws:sagemaker:{get_region()}:{get_account_id()}:{kind}/{id}"


class SchedulerPolicy(Generic):
    """What goes before what: one for each HyperPod cluster."""

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:
        """CreateClusterSchedulerConfig."""
        request = self._schema.checked(properties)
        _hyperpod(request["ClusterArn"])
        for each in POLICIES.values():
            if each["ClusterArn"] == request["ClusterArn"]:
                raise _conflict(f"cluster {request['ClusterArn']} has the scheduler config {each['Name']} already")
            if each["Name"] == request["Name"]:
                raise _conflict(f"scheduler config {request['Name']} exists already")
        _check_classes(request)
        arn = _arn("cluster-scheduler-config", new_id(POLICY, stack, logical_id)[-12:])
        POLICIES[arn] = request
        return arn, self.attributes(arn)

    def update(
        self, physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str
    ) -> Created:
        """UpdateClusterSchedulerConfig."""
        if self.is_other(old, new):
            return self.create(logical_id, new, stack)
        request = self._schema.checked(new)
        _check_classes(request)
        POLICIES[physical_id] = request
        return physical_id, self.attributes(physical_id)

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:
        """DeleteClusterSchedulerConfig, after the quotas that it schedules."""
        for each in QUOTAS.values():
            if each["ClusterArn"] == properties["ClusterArn"] and physical_id in POLICIES:
                raise refused(f"ConflictException: {each['Name']} is a quota of the cluster", "ResourceConflict")
        POLICIES.pop(physical_id, None)


def _check_classes(request: Mapping[str, Any]) -> None:
    names = [each["Name"] for each in request["SchedulerConfig"].get("PriorityClasses", ())]
    if len(set(names)) < len(names):
        raise refused(f"PriorityClasses {names} have the same name twice", "InvalidRequest")


class Quota(Generic):
    """What is a team's own."""

    def __init__(self, schema: Schema) -> None:
        """Takes the schema, which says `delete_then_create`: CloudFormation does that, and ministack does not."""
        super().__init__(schema)
        self.replacing = ()

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:
        """CreateComputeQuota."""
        request = self._schema.checked(properties)
        self._check(request, "")
        arn = _arn("compute-quota", new_id(QUOTA, stack, logical_id)[-12:])
        QUOTAS[arn] = request
        return arn, self.attributes(arn)

    def update(
        self, physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str
    ) -> Created:
        """UpdateComputeQuota."""
        if self.is_other(old, new):
            QUOTAS.pop(physical_id, None)
            return self.create(logical_id, new, stack)
        request = self._schema.checked(new)
        self._check(request, physical_id)
        QUOTAS[physical_id] = request
        return physical_id, self.attributes(physical_id)

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:  # noqa: ARG002  # as ministack calls it
        """DeleteComputeQuota."""
        QUOTAS.pop(physical_id, None)

    @staticmethod
    def _check(request: Mapping[str, Any], own: str) -> None:
        hyperpod = _hyperpod(request["ClusterArn"])
        if all(each["ClusterArn"] != hyperpod.arn for each in POLICIES.values()):
            raise refused(f"Cluster {hyperpod.cluster_name} has no scheduler config", "InvalidRequest")
        others = [each for arn, each in QUOTAS.items() if arn != own]
        if any(each["Name"] == request["Name"] for each in others):
            raise _conflict(f"compute quota {request['Name']} exists already")
        others = [each for each in others if each["ClusterArn"] == hyperpod.arn]
        if any(_team(each) == _team(request) for each in others):
            raise _conflict(f"team {_team(request)} has a compute quota of the cluster already")
        _check_capacity(request, others, hyperpod.request["InstanceGroups"])


def _team(request: Mapping[str, Any]) -> str:
    return str(request["ComputeQuotaTarget"]["TeamName"])


def _check_capacity(request: Mapping[str, Any], others: list[dict[str, Any]], groups: list[dict[str, Any]]) -> None:
    """Instance types that the cluster has, and no more of one than it has."""
    has: Counter[str] = Counter()
    for group in groups:
        types = group.get("InstanceRequirements", {}).get("InstanceTypes") or [group["InstanceType"]]
        has.update(dict.fromkeys(types, group["InstanceCount"]))
    given: Counter[str] = Counter()
    for each in (*others, request):
        for share in each["ComputeQuotaConfig"].get("ComputeQuotaResources", ()):
            given[share["InstanceType"]] += share.get("Count", 0)
    for share in request["ComputeQuotaConfig"].get("ComputeQuotaResources", ()):
        name = share["InstanceType"]
        if name not in has:
            raise refused(f"The cluster has no instance group of {name}", "InvalidRequest")
        if given[name] > has[name]:
            raise refused(f"Quotas of {given[name]} {name} exceed the cluster's {has[name]}", "InvalidRequest")


HANDLERS: Final[dict[str, Callable[[Schema], Generic]]] = {POLICY: SchedulerPolicy, QUOTA: Quota}
