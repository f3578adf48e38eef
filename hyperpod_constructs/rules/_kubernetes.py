"""Clusters that EKS schedules, with the control plane that the deployment makes for them."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.model.control_plane import ControlPlane
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.orchestration import Eks


def control_plane_of(deployment: Deployment, cluster: Cluster) -> ControlPlane | None:
    """The EKS cluster that a cluster is of, if the deployment makes it."""
    eks = cluster.orchestrator
    return deployment.kubernetes.control_plane(eks.cluster) if isinstance(eks, Eks) else None


def with_control_plane(deployment: Deployment) -> Iterator[tuple[Cluster, ControlPlane]]:
    """Clusters with the EKS cluster of the deployment that they are of."""
    for cluster in deployment.clusters:
        if plane := control_plane_of(deployment, cluster):
            yield cluster, plane
