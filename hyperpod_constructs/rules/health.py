"""What can be known about deep health checks and spot capacity, which jobs feel as missing nodes: HP12xx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import instances
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import DEEP_HEALTH_CHECKS, InstanceGroup, Spot
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.kubernetes import KubernetesConfig
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.rules.labels import taints

_LEAVE_OUT = "leave OnStartDeepHealthChecks (health_checks=()) out of this group"
_CHECKED: Final = {"slurm": "on Slurm they are for GPU types", "eks": "on EKS they are for GPU and Trainium types"}


def _checked(deployment: Deployment) -> Iterator[tuple[Cluster, InstanceGroup, str, list[str]]]:
    """Groups that ask for deep health checks, and for which ones."""
    for cluster, group, path in deployment.groups():
        checks = group.health_checks if isinstance(group.health_checks, tuple) else ()
        if known := [check for check in checks if isinstance(check, str)]:
            yield cluster, group, path, known


@rule(
    "HP1201",
    Severity.ERROR,
    title="A deep health check does not exist",
    because="CloudFormation takes two checks; MultiNodeTrainingValidation is in the API's model, but on no page of AWS",
    source="AWS::SageMaker::Cluster schema, OnStartDeepHealthChecks (2026-10-20)",
)
def health_checks_exist(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, checks in _checked(deployment):
        for check in checks:
            if check not in DEEP_HEALTH_CHECKS:
                yield Problem(
                    path=path,
                    message=f"{named(group)} asks for the deep health check {check!r}, which is not documented",
                    fix=f"use {' and '.join(DEEP_HEALTH_CHECKS)}",
                )


@rule(
    "HP1202",
    Severity.WARNING,
    title="The orchestrator has no deep health checks for the instance type",
    because="the pages list checks for GPU types on Slurm, and for GPU and Trainium types on EKS",
    source="SageMaker developer guide, sagemaker-hyperpod-resiliency-slurm-deep-health-checks and "
    "sagemaker-hyperpod-eks-resiliency-deep-health-checks (October 2026)",
)
def health_checks_fit_the_type(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, _ in _checked(deployment):
        orchestrator, facts = cluster.scheduler, group.facts
        if orchestrator is None or facts is None or facts.deep_health_checks is None:
            continue
        if orchestrator not in facts.deep_health_checks and group.node_type not in ("Controller", "Login"):
            yield Problem(
                path=path,
                message=f"{named(group)} asks for deep health checks of {facts.name}",
                fix=f"{_LEAVE_OUT}: {_CHECKED[orchestrator]}",
            )


@rule(
    "HP1203",
    Severity.ERROR,
    title="Deep health checks on a controller or login group",
    because="on Slurm they run on compute nodes only",
    source="SageMaker developer guide, sagemaker-hyperpod-resiliency-slurm-deep-health-checks (2026)",
)
def health_checks_are_for_compute_nodes(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, _ in _checked(deployment):
        if cluster.scheduler == "slurm" and group.node_type in ("Controller", "Login"):
            yield Problem(
                path=path,
                message=f"{named(group)} asks for deep health checks of {group.node_type} nodes",
                fix=f"{_LEAVE_OUT}: they are for Compute nodes",
            )


@rule(
    "HP1204",
    Severity.INFO,
    title="Deep health checks on a group without spares",
    because="each new or replaced node is missing for 45 to 90 minutes on Slurm and about 2 hours on EKS; AWS advises "
    "groups without spares to check at creation only",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-resiliency-config-tips (October 2026)",
)
def checked_groups_have_spares(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path, _ in _checked(deployment):
        accelerated = group.facts is not None and group.facts.is_accelerated
        if accelerated and group.spares == 0 and isinstance(group.count, int) and group.count > 0:
            yield Problem(
                path=path,
                message=f"{named(group)} has deep health checks and 0 spares: jobs wait while a new node is checked",
                fix="leave OnStartDeepHealthChecks out once the cluster is up (health_checks=()), or give the group "
                "a spare",
            )


@rule(
    "HP1205",
    Severity.WARNING,
    title="Spot capacity on Slurm, where AWS does not settle whether it exists",
    because="AWS documents spot for EKS clusters only; no page says that a Slurm cluster takes or refuses it",
    source="SageMaker developer guide, sagemaker-hyperpod-spot (October 2026)",
)
def spot_is_for_eks(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        if isinstance(group.capacity, Spot) and cluster.scheduler == "slurm":
            yield Problem(
                path=path,
                message=f"{named(group)} is on spot capacity in a Slurm cluster",
                fix="leave CapacityRequirements out (capacity=hp.OnDemand()), use TrainingPlanArn "
                "(capacity=hp.TrainingPlan(...)), or make an EKS cluster",
            )


@rule(
    "HP1206",
    Severity.WARNING,
    title="A group asks for several kinds of capacity",
    because="on demand, spot and a training plan are three ways to get the same nodes; that the service refuses two at "
    "once is inferred, and which of them it would take is not documented",
    source="SageMaker API, ClusterCapacityRequirements and TrainingPlanArn (botocore 1.44.8); inferred",
)
def groups_ask_for_one_kind_of_capacity(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        others = [name for name in group.asked if name != "TrainingPlanArn"]
        # An empty OnDemand beside a plan changes nothing that AWS describes.
        if "Spot" in others and len(group.asked) > 1:
            yield Problem(
                path=path,
                message=f"{named(group)} asks for {' and '.join(group.asked)}",
                fix=f"keep one of {', '.join(group.asked)}",
            )


@rule(
    "HP1207",
    Severity.ERROR,
    title="Deep health checks on a group with taints of your own",
    because="AWS's page says that custom taints cannot be added to groups that have deep health checks enabled",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-prerequisites (October 2026)",
)
def checked_groups_have_no_taints(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, _ in _checked(deployment):
        if cluster.scheduler == "slurm":
            continue  # the taints alone are a mistake there
        keys = (
            [taint.key for taint in taints(group.kubernetes)] if isinstance(group.kubernetes, KubernetesConfig) else []
        )
        if keys:
            known = [key for key in keys if isinstance(key, str)]
            yield Problem(
                path=path,
                message=f"{named(group)} has deep health checks and the taint"
                + (f"{'s' if len(known) > 1 else ''} {all_of(known)}" if known else " of a key decided at deploy"),
                fix="leave OnStartDeepHealthChecks out (health_checks=()), or the taints: keep pods away by labels",
            )


@rule(
    "HP1208",
    Severity.WARNING,
    title="None of a group's flexible types has deep health checks",
    because="in a group of several types only those that have checks are checked, and one of them at least must",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-resiliency-deep-health-checks (October 2026)",
)
def health_checks_fit_a_flexible_type(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path, _ in _checked(deployment):
        types = group.flexible_types if isinstance(group.flexible_types, tuple) else ()
        facts = [instances.find(name) if isinstance(name, str) else None for name in types]
        checks = [None if each is None else each.deep_health_checks for each in facts]
        if not types or cluster.scheduler is None or None in checks:
            continue
        if not any(cluster.scheduler in each for each in checks if each is not None):
            yield Problem(
                path=path,
                message=f"{named(group)} asks for deep health checks of {all_of(types)}",
                fix=f"{_LEAVE_OUT}: {_CHECKED[cluster.scheduler]}",
            )


@rule(
    "HP1209",
    Severity.INFO,
    title="Faulty nodes are not replaced",
    because="with NodeRecovery None HyperPod labels faulty nodes and does nothing else; Automatic is the default",
    source="SageMaker API, CreateCluster, NodeRecovery (botocore 1.44.8)",
)
def clusters_recover(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        groups = [group for group in cluster.groups if group.facts is not None and group.facts.is_accelerated]
        scales = cluster.autoscaling is not None  # another rule says that it must recover
        if cluster.recovery == "None" and groups and not scales:
            yield Problem(
                path=cluster.path,
                message=f"NodeRecovery is None: somebody has to replace faulty nodes of {named(*groups)}",
                fix="nothing, if somebody watches the nodes; else use Automatic",
            )
