"""Which EKS add-ons come before the nodes, and which after them: HP243x."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import kubernetes
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.control_plane import Addon, ControlPlane
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._kubernetes import used_planes, with_control_plane
from hyperpod_constructs.rules._places import let_wait, waits_for
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.tokens import UNKNOWN

_ORDER: Final = "awslabs/awsome-distributed-ai, Terraform modules of hyperpod-eks; aws/sagemaker-hyperpod-cluster-setup"
_OTHER_NODES: Final = frozenset({"EC2_LINUX", "EC2_WINDOWS", "EC2", "FARGATE_LINUX", "HYBRID_LINUX", UNKNOWN})
"""Types of access entries of nodes that are not HyperPod's."""
_FOR_EVERY_NODE: Final = frozenset({kubernetes.CNI, "kube-proxy", kubernetes.POD_IDENTITY})


def _has_other_nodes(deployment: Deployment, plane: ControlPlane) -> bool:
    """Whether pods may run in an EKS cluster that has no HyperPod nodes yet."""
    known = deployment.kubernetes
    groups = any(known.control_plane(each.control_plane) in (plane, None) for each in known.other_nodes)
    entries = [each for each in known.access_entries if known.control_plane(each.control_plane) is plane]
    return plane.auto is not False or groups or any(each.kind in _OTHER_NODES for each in entries)


@rule(
    "HP2431",
    Severity.WARNING,
    title="EKS add-on does not wait for nodes to run on",
    because="CloudFormation waits until an add-on is healthy, and the Deployments of this one are not before there are "
    "nodes: it stays DEGRADED, holds up the deploy, and rolls it back. AWS's own templates make it after the nodes",
    source=f"{_ORDER}; inferred for CloudFormation",
)
def deployments_wait_for_nodes(deployment: Deployment) -> Iterator[Problem]:
    for plane in used_planes(deployment):
        clusters = [cluster for cluster, its in with_control_plane(deployment) if its is plane]
        for addon in () if _has_other_nodes(deployment, plane) else deployment.kubernetes.addons_of(plane):
            runs = isinstance(addon.name, str) and kubernetes.runs_deployments(addon.name)
            if runs and not any(waits_for(deployment, addon.path, addon.after, each.path) for each in clusters):
                yield _too_early(addon, clusters[0])


@rule(
    "HP2433",
    Severity.WARNING,
    title="EKS add-on comes when the cluster may have no node yet",
    because="a Continuous cluster is complete before its nodes are, unless a group has MinInstanceCount; "
    "CloudFormation then waits for Deployments that have nowhere to run, and rolls back",
    source=f"SageMaker developer guide, sagemaker-hyperpod-scaling-eks; {_ORDER}; inferred for CloudFormation",
)
def addons_find_a_node(deployment: Deployment) -> Iterator[Problem]:
    for plane in used_planes(deployment):
        clusters = [cluster for cluster, its in with_control_plane(deployment) if its is plane]
        if _has_other_nodes(deployment, plane) or not all(map(_may_be_empty, clusters)):
            continue
        names = [
            str(addon.name)
            for addon in deployment.kubernetes.addons_of(plane)
            if isinstance(addon.name, str) and kubernetes.runs_deployments(addon.name)
        ]
        if names:
            yield Problem(
                path=clusters[0].path,
                message=f"no group has MinInstanceCount, and there may be no node for {all_of(names)}",
                fix="give a group of CPU nodes on demand MinInstanceCount: 1 (min_count=1)",
            )


def _may_be_empty(cluster: Cluster) -> bool:
    """Whether a cluster is complete without a node, as far as it says."""
    return cluster.provisioning == "Continuous" and all(group.min_count in {None, 0} for group in cluster.groups)


def _too_early(addon: Addon, cluster: Cluster) -> Problem:
    fix = let_wait("the add-on", [cluster.path])
    if cluster.depends_on is not None and addon.path in cluster.depends_on:
        message = f"{addon.name} is made before {cluster.path}"
        fix = f"take {addon.path} out of what the cluster waits for, and {fix}"
    else:
        message = f"{addon.name} does not wait for {cluster.path}"
    return Problem(path=addon.path, message=message, fix=fix)


@rule(
    "HP2432",
    Severity.WARNING,
    title="HyperPod cluster does not wait for an add-on that its nodes need",
    because="nodes that come up without a network do not get ready, and pods that start before the pod identity agent "
    "have no role",
    source=_ORDER,
)
def nodes_find_their_addons(deployment: Deployment) -> Iterator[Problem]:
    for cluster, plane in with_control_plane(deployment):
        # Where EKS has put in network and proxy itself, the add-ons take them over in place.
        needed = _FOR_EVERY_NODE if plane.bootstraps is False else {kubernetes.POD_IDENTITY}
        for addon in deployment.kubernetes.addons_of(plane):
            if addon.name in needed and not waits_for(deployment, cluster.path, cluster.depends_on, addon.path):
                turned = f"take {cluster.path} out of what the add-on waits for, and "
                yield Problem(
                    path=cluster.path,
                    message=f"the cluster does not wait for {addon.path}, which installs {addon.name}",
                    fix=(turned if cluster.path in addon.after else "") + let_wait("the cluster", [addon.path]),
                )
