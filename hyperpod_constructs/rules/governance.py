"""Whether a cluster can have task governance, and in which order it comes: HP604x."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hyperpod_constructs.catalog.kubernetes import TASK_GOVERNANCE
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.control_plane import Addon, ControlPlane
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.governance import Quota, SchedulerPolicy
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._governance import POLICIES, QUOTA_SCHEMA, named
from hyperpod_constructs.rules._kubernetes import control_plane_of, with_control_plane
from hyperpod_constructs.rules._places import let_wait, waits_for
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.tokens import UNKNOWN

_SETUP: Final = (
    "SageMaker developer guide, sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance "
    "(October 2026)"
)


def _policies(deployment: Deployment, cluster: Cluster) -> list[SchedulerPolicy]:
    return [policy for policy in deployment.scheduler_policies if policy.cluster == cluster.path]


def _quotas(deployment: Deployment, cluster: Cluster) -> list[Quota]:
    return [quota for quota in deployment.quotas if quota.cluster == cluster.path]


def _governing(deployment: Deployment, cluster: Cluster) -> list[SchedulerPolicy | Quota]:
    return [*_policies(deployment, cluster), *_quotas(deployment, cluster)]


def _called(*governing: SchedulerPolicy | Quota) -> str:
    """Policies and quotas by name: `the scheduler policy and the quota of team 'vision'`."""
    return all_of(f"the {named(each)}" if isinstance(each, Quota) else "the scheduler policy" for each in governing)


def _do(several: Sequence[object]) -> str:
    return "does" if len(several) == 1 else "do"


@rule(
    "HP6040",
    Severity.ERROR,
    title="A Slurm cluster has a scheduler policy or a quota",
    because="task governance is an add-on of EKS, and the service rejects clusters of Slurm",
    source=f"{QUOTA_SCHEMA}, ClusterArn; {_SETUP}",
)
def governance_is_of_eks(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if cluster.scheduler != "slurm":
            continue
        for each in _governing(deployment, cluster):
            yield Problem(
                path=each.path,
                message=f"{_called(each)} is of {cluster.path}, which is a cluster of Slurm",
                fix="take it out: on Slurm hp.TaskGovernance makes accounts and qualities of service, or use "
                "Orchestrator: {Eks: {ClusterArn: ...}}",
            )


@rule(
    "HP6041",
    Severity.WARNING,
    title="A cluster has two scheduler policies",
    because="AWS's pages speak of the policy of a cluster; that a second one is refused is likely, and no page says it",
    source=POLICIES,
)
def clusters_have_one_policy(deployment: Deployment) -> Iterator[Problem]:
    found: dict[str, list[SchedulerPolicy]] = {}
    for policy in deployment.scheduler_policies:
        if policy.certain and isinstance(policy.cluster, str):
            found.setdefault(policy.cluster, []).append(policy)
    for policies in found.values():
        # Two of one name are certainly refused, which another rule says.
        if len({policy.name for policy in policies}) > 1:
            yield Problem(
                path=policies[-1].path,
                message=f"{all_of(policy.path for policy in policies)} are scheduler policies of one cluster",
                fix="make one AWS::SageMaker::ClusterSchedulerConfig of them, with all of their PriorityClasses",
            )


@rule(
    "HP6042",
    Severity.WARNING,
    title="A scheduler policy has no priority classes",
    because="without classes tasks are queued as they come and none goes before another; in a review of AWS's own code "
    "it was found that the dashboard does not show tasks without a class",
    source=f"awslabs/awsome-distributed-ai pull 543, review; {POLICIES}",
)
def policies_have_priority_classes(deployment: Deployment) -> Iterator[Problem]:
    for policy in deployment.scheduler_policies:
        if policy.priorities == {}:
            yield Problem(
                path=policy.path,
                message="SchedulerConfig has no PriorityClasses",
                fix='add up to 10 with a Weight of 0 to 100: hp.TaskGovernance(priorities={"production": 100, '
                '"research": 50})',
            )


@rule(
    "HP6043",
    Severity.WARNING,
    title="A scheduler policy or a quota does not wait for the task governance add-on",
    because="one that comes before the add-on may end in CreateFailed, and has to be deleted and made again then",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-operate-console-ui-governance-troubleshoot (October "
    "2026): what to do about CreateFailed; that it comes of this is told in a public README only, and "
    "awslabs/awsome-distributed-ai, hyperpod-eks-tf, waits for the add-on's controller, too",
)
def governance_waits_for_its_addon(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        # Quotas wait for the add-on together with their policy, and that they wait for it is another rule's.
        first = _policies(deployment, cluster) or _quotas(deployment, cluster)
        for addon in _addons(deployment, cluster):
            early = [each for each in first if not waits_for(deployment, each.path, each.after, addon.path)]
            if early:
                yield Problem(
                    path=early[0].path,
                    message=f"{_called(*early)} {_do(early)} not wait for {addon.path}, the add-on {TASK_GOVERNANCE}",
                    fix=let_wait(_called(*early), [addon.path]),
                )


def _addons(deployment: Deployment, cluster: Cluster) -> list[Addon]:
    """The task governance add-ons of the EKS cluster that a cluster is of."""
    plane = control_plane_of(deployment, cluster)
    addons = deployment.kubernetes.addons_of(plane) if plane else ()
    return [addon for addon in addons if addon.name == TASK_GOVERNANCE]


@rule(
    "HP6044",
    Severity.WARNING,
    title="A quota does not wait for the scheduler policy",
    because="made together, either may come first; AWS's examples make the policy first, and no page says what becomes "
    "of a quota that comes before it",
    source="awslabs/awsome-distributed-ai, hyperpod-eks-tf; AWS's examples of create-compute-quota",
)
def quotas_wait_for_the_policy(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        for policy in _policies(deployment, cluster):
            early = [
                quota
                for quota in _quotas(deployment, cluster)
                # A policy that waits for the quota is in an order, though the other one.
                if quota.path not in policy.after and not waits_for(deployment, quota.path, quota.after, policy.path)
            ]
            if early:
                yield Problem(
                    path=early[0].path,
                    message=f"{_called(*early)} {_do(early)} not wait for scheduler policy {policy.path}",
                    fix=let_wait(_called(*early), [policy.path]),
                )


@rule(
    "HP6045",
    Severity.WARNING,
    title="A cluster has task governance, and its EKS cluster lacks the add-on",
    because="policies and quotas are what the add-on acts upon; the deployment makes the EKS cluster, and nothing in "
    "it installs the add-on",
    source=_SETUP,
)
def governed_clusters_have_the_addon(deployment: Deployment) -> Iterator[Problem]:
    for cluster, plane in with_control_plane(deployment):
        certain = [each for each in _governing(deployment, cluster) if each.certain]
        if certain and plane.complete and not _may_have_addon(deployment, plane):
            yield Problem(
                path=cluster.path,
                message=f"{_called(*certain)} {'is' if len(certain) == 1 else 'are'} of this cluster, and "
                f"{plane.path} has no add-on {TASK_GOVERNANCE}",
                fix=f"add an AWS::EKS::Addon with AddonName: {TASK_GOVERNANCE}, after the HyperPod cluster, "
                "which has to have a node first, and before policy and quotas",
            )


def _may_have_addon(deployment: Deployment, plane: ControlPlane) -> bool:
    """Whether some add-on is, or may turn out to be, that of task governance on an EKS cluster."""
    return any(
        addon.name in {TASK_GOVERNANCE, UNKNOWN} and addon.control_plane in {plane.path, plane.name, UNKNOWN}
        for addon in deployment.kubernetes.addons
    )
