"""Scheduler policies and quotas with the HyperPod cluster of the deployment that they are of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.governance import Quota, SchedulerPolicy

POLICIES: Final = (
    "SageMaker developer guide, sagemaker-hyperpod-eks-operate-console-ui-governance-policies (October 2026)"
)
ALLOCATION: Final = f"{POLICIES.removesuffix(' (October 2026)')}-compute-allocation (October 2026)"
QUOTA_API: Final = "SageMaker API, CreateComputeQuota (botocore 1.44.8)"
QUOTA_SCHEMA: Final = "registry schema of AWS::SageMaker::ComputeQuota (cfn-lint 1.58.0, 2026-10-20)"


def named(quota: Quota) -> str:
    """A quota by its team: `quota of team 'vision'`, or by its path."""
    return f"quota of team {quota.team!r}" if isinstance(quota.team, str) else f"quota {quota.path}"


def may_count(quota: Quota) -> bool:
    """Whether a quota may be in force."""
    return quota.active != "Disabled"


def counts(quota: Quota) -> bool:
    """Whether a quota is certainly made and in force."""
    return quota.certain and quota.active in {None, "Enabled"}


def governed(deployment: Deployment) -> Iterator[tuple[Cluster, list[Quota]]]:
    """Clusters with their quotas, those without left out; what is said of Slurm another rule says."""
    for cluster in deployment.clusters:
        quotas = [quota for quota in deployment.quotas if quota.cluster == cluster.path]
        if quotas and cluster.scheduler != "slurm":
            yield cluster, quotas


def policies_of(deployment: Deployment, cluster: Cluster) -> list[SchedulerPolicy] | None:
    """The scheduler policies that a cluster certainly has; `None` where it may have others of the deployment."""
    found = [policy for policy in deployment.scheduler_policies if policy.cluster == cluster.path]
    known = all(isinstance(policy.cluster, str) for policy in deployment.scheduler_policies)
    return found if known and all(policy.certain for policy in found) else None
