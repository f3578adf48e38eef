"""How teams share a cluster that EKS schedules: its scheduler policy, and a quota for each team."""

from __future__ import annotations

from typing import Final

from hyperpod_constructs.model import intent
from hyperpod_constructs.model._reading import Fields, Node, each, required
from hyperpod_constructs.model.governance import Quota, QuotaShare, SchedulerPolicy
from hyperpod_constructs.model.template.arns import arn_of
from hyperpod_constructs.model.template.resources import Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown


def scheduler_policies(resources: Resources) -> tuple[SchedulerPolicy, ...]:
    """The scheduler policies of an assembly."""
    return tuple(
        found.properties.build(
            SchedulerPolicy, _POLICY, path=found.path, certain=found.certain, after=resources.created_before(found)
        )
        for found in resources.of("AWS::SageMaker::ClusterSchedulerConfig")
    )


def quotas(resources: Resources) -> tuple[Quota, ...]:
    """The quotas of an assembly."""
    return tuple(
        found.properties.build(
            Quota,
            _QUOTA,
            path=found.path,
            has_members=found.metadata[intent.KEY]["has_members"].flag(),
            certain=found.certain,
            after=resources.created_before(found),
        )
        for found in resources.of("AWS::SageMaker::ComputeQuota")
    )


def _priorities(node: Node) -> dict[str, int | Unknown] | Unknown:
    """Weights by name; `UNKNOWN` as soon as one class or its name is not known."""
    items = node.items()
    if items is UNKNOWN:
        return UNKNOWN
    found = {item["Name"].must(Node.text): item["Weight"].must(Node.whole) for item in items}
    return UNKNOWN if UNKNOWN in found else {str(name): weight for name, weight in found.items()}


def _share(node: Node) -> QuotaShare | Unknown | None:
    return node.optional(lambda given: given.build(QuotaShare, _SHARE))


_CLUSTER: Final = ("ClusterArn", required(arn_of("AWS::SageMaker::Cluster")))
_POLICY: Final[Fields] = {
    "cluster": _CLUSTER,
    "name": ("Name", Node.text),
    "priorities": ("SchedulerConfig.PriorityClasses", _priorities),
    "fair_share": ("SchedulerConfig.FairShare", Node.text),
    "idle_sharing": ("SchedulerConfig.IdleResourceSharing", Node.text),
}
_SHARE: Final[Fields] = {
    "instance_type": ("InstanceType", required(Node.text)),
    "count": ("Count", Node.whole),
    "accelerators": ("Accelerators", Node.whole),
    "vcpus": ("VCpu", Node.number),
    "memory_gib": ("MemoryInGiB", Node.number),
    "partition": ("AcceleratorPartition.Type", Node.text),
    "partition_count": ("AcceleratorPartition.Count", Node.whole),
}
_QUOTA: Final[Fields] = {
    "cluster": _CLUSTER,
    "name": ("Name", Node.text),
    "team": ("ComputeQuotaTarget.TeamName", required(Node.text)),
    "weight": ("ComputeQuotaTarget.FairShareWeight", Node.whole),
    "shares": ("ComputeQuotaConfig.ComputeQuotaResources", each(_share)),
    "sharing": ("ComputeQuotaConfig.ResourceSharingConfig.Strategy", Node.text),
    "borrow_limit": ("ComputeQuotaConfig.ResourceSharingConfig.BorrowLimit", Node.whole),
    "borrowable": ("ComputeQuotaConfig.ResourceSharingConfig.AbsoluteBorrowLimits", each(_share)),
    "preempts": ("ComputeQuotaConfig.PreemptTeamTasks", Node.text),
    "active": ("ActivationState", Node.text),
}
