"""Clusters that EKS schedules, the control plane that the deployment makes for them, and what is installed there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import kubernetes
from hyperpod_constructs.model.control_plane import Addon, ChartInstall, ControlPlane
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.orchestration import Eks

_CHARTS: Final = frozenset({"Custom::AWSCDK-EKS-HelmChart"})
"""What nobody can read of these is a chart, and each is a `ChartInstall`."""
_KUBECTL: Final = frozenset(
    {
        *_CHARTS,
        "Custom::AWSCDK-EKS-KubernetesObjectValue",
        "Custom::AWSCDK-EKS-KubernetesPatch",
        "Custom::AWSCDK-EKS-KubernetesResource",
    }
)
"""Custom resources of the CDK that speak to Kubernetes and cannot change what EKS has."""
_ARN_BEFORE_THE_NAME: Final = ":cluster/"


def control_plane_of(deployment: Deployment, cluster: Cluster) -> ControlPlane | None:
    """The EKS cluster that a cluster is of, if the deployment makes it."""
    eks = cluster.orchestrator
    return deployment.kubernetes.control_plane(eks.cluster) if isinstance(eks, Eks) else None


def with_control_plane(deployment: Deployment) -> Iterator[tuple[Cluster, ControlPlane]]:
    """Clusters with the EKS cluster of the deployment that they are of."""
    for cluster in deployment.clusters:
        if plane := control_plane_of(deployment, cluster):
            yield cluster, plane


def used_planes(deployment: Deployment) -> list[ControlPlane]:
    """The EKS clusters of the deployment that HyperPod clusters are of, each once."""
    return list({plane.path: plane for _, plane in with_control_plane(deployment)}.values())


def addons_for(deployment: Deployment, cluster: Cluster) -> tuple[Addon, ...]:
    """The add-ons of the EKS cluster that a cluster is of, whether the deployment makes it or it is imported."""
    if plane := control_plane_of(deployment, cluster):
        return deployment.kubernetes.addons_of(plane)
    name = name_of_imported(cluster)
    return tuple(addon for addon in deployment.kubernetes.addons if name and addon.control_plane == name)


def name_of_imported(cluster: Cluster) -> str:
    """Name of the EKS cluster that a cluster is of, from its ARN; empty where that is not known."""
    arn = cluster.orchestrator.cluster if isinstance(cluster.orchestrator, Eks) else None
    return arn.partition(_ARN_BEFORE_THE_NAME)[2] if isinstance(arn, str) else ""


def charts_of(deployment: Deployment, plane: ControlPlane) -> list[ChartInstall]:
    """The charts that the deployment installs into an EKS cluster."""
    installs = deployment.kubernetes.chart_installs
    return [each for each in installs if deployment.kubernetes.control_plane(each.control_plane) is plane]


def eks_is_known(plane: ControlPlane) -> bool:
    """Whether all that EKS itself has of an EKS cluster is in the deployment: add-ons, access entries, identities."""
    return plane.reached_by <= _KUBECTL


def installs_are_known(plane: ControlPlane) -> bool:
    """Whether all that is installed into an EKS cluster is in the deployment, add-ons and charts."""
    return plane.reached_by <= _CHARTS


def is_hyperpods_chart(install: ChartInstall) -> bool | None:
    """Whether a chart is the one that nodes of HyperPod need; `None` where it may be: it has no name, or none yet."""
    names = (install.chart, install.release)
    if any(isinstance(name, str) and kubernetes.CHART in name.lower() for name in names):
        return True
    # A folder has no name; the namespace is that which this chart must have, and hardly any other has.
    is_folder_there = install.chart is None and install.namespace == kubernetes.CHART_NAMESPACE
    if is_folder_there or install.release == kubernetes.CHART_RELEASE:
        return True
    return False if isinstance(install.chart, str) else None


def may_bring(install: ChartInstall, addon: str) -> bool:
    """Whether a chart may install what an add-on would."""
    if is_hyperpods_chart(install):
        return addon in kubernetes.IN_THE_CHART
    return not isinstance(install.chart, str) or addon.removeprefix("aws-") in install.chart
