"""Whether HyperPod nodes can join an EKS cluster that the deployment makes: HP240x."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import kubernetes
from hyperpod_constructs.catalog.kubernetes import EVERY_ADDON, HYPERPOD, NETWORKING
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model import intent
from hyperpod_constructs.model.control_plane import ControlPlane
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._kubernetes import (
    charts_of,
    control_plane_of,
    installs_are_known,
    is_hyperpods_chart,
    may_bring,
    used_planes,
    with_control_plane,
)
from hyperpod_constructs.rules._places import let_wait, waits_for
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.tokens import UNKNOWN

_CHART_GUIDE: Final = (
    "SageMaker developer guide, sagemaker-hyperpod-eks-install-packages-using-helm-chart (October 2026)"
)
_CHART: Final = "HyperPod's Helm chart (aws/sagemaker-hyperpod-cli, helm_chart/HyperPodHelmChart)"
_NO_MODE: Final = "CONFIG_MAP"
_MODES: Final = "API or API_AND_CONFIG_MAP"
_INTERNET: Final = frozenset({"0.0.0.0/0", "::/0"})
_SHORT: Final = re.compile(r"1\.\d")
"""What is left of `1.30` where it is read as a number."""


# --- Who may join


@rule(
    "HP2401",
    Severity.ERROR,
    title="EKS cluster has no access entries",
    because="HyperPod makes access entries for itself and its nodes, which authentication mode CONFIG_MAP has not; it "
    "is what CloudFormation takes where the mode is left out",
    source=f"{HYPERPOD.source}; EKS API, CreateAccessConfigRequest (botocore 1.44.8)",
)
def control_planes_have_access_entries(deployment: Deployment) -> Iterator[Problem]:
    for plane in used_planes(deployment):
        if plane.authentication in (None, _NO_MODE):
            is_what = f"is {_NO_MODE}" if plane.authentication else f"is left out, which means {_NO_MODE}"
            yield Problem(
                path=plane.path,
                message=f"AccessConfig.AuthenticationMode {is_what}",
                fix=f"write AccessConfig: {{AuthenticationMode: API}}; HyperPod takes {_MODES}",
            )


# --- Version of Kubernetes


def _has_version(plane: ControlPlane) -> bool:
    """Whether the version is known, and one that EKS can have."""
    return isinstance(plane.version, str) and re.fullmatch(kubernetes.VERSION_PATTERN, plane.version) is not None


@rule(
    "HP2402",
    Severity.ERROR,
    title="Version of an EKS cluster is no version of Kubernetes",
    because="EKS takes two numbers with a dot; what reads 1.30 without quotes, as Python, JSON and most tools for YAML "
    "do, writes 1.3",
    source="AWS::EKS::Cluster schema (cfn-lint 1.58.0, 2026-10-20); sunilpp/hyperpod-quickstart commit a312435f",
)
def versions_are_text(deployment: Deployment) -> Iterator[Problem]:
    for plane in deployment.kubernetes.control_planes:
        version = plane.version
        if not isinstance(version, str) or _has_version(plane):
            continue
        if _SHORT.fullmatch(version):
            message, fix = f"Version is {version}, which is what {version}0 without quotes becomes", f"{version}0"
        else:
            message, fix = f"Version is {version!r}", HYPERPOD.newest
        yield Problem(path=plane.path, message=message, fix=f"write Version: '{fix}', in quotes (version=)")


@rule(
    "HP2403",
    Severity.ERROR,
    title="Kubernetes version is older than HyperPod takes",
    because=f"HyperPod documents {HYPERPOD}, and AWS took older ones off the list",
    source=HYPERPOD.source,
)
def versions_are_not_too_old(deployment: Deployment) -> Iterator[Problem]:
    for plane in used_planes(deployment):
        if _has_version(plane) and HYPERPOD.is_older(str(plane.version)):
            yield Problem(
                path=plane.path,
                message=f"Kubernetes {plane.version}; HyperPod takes {HYPERPOD}",
                fix=f"use Version {EVERY_ADDON} (version=), which its add-ons take too",
            )


@rule(
    "HP2404",
    Severity.WARNING,
    title="Kubernetes version is newer than HyperPod's list",
    because=f"HyperPod documents {HYPERPOD} as of October 2026 and refused newer ones before; the list grows, so look "
    "again",
    source=f"{HYPERPOD.source}; sunilpp/hyperpod-quickstart commits a312435f and 67641df5",
)
def versions_are_on_the_list(deployment: Deployment) -> Iterator[Problem]:
    for plane in used_planes(deployment):
        if _has_version(plane) and HYPERPOD.is_newer(str(plane.version)):
            yield Problem(
                path=plane.path,
                message=f"Kubernetes {plane.version}; HyperPod documents {HYPERPOD} (October 2026)",
                fix=f"use Version {EVERY_ADDON} (version=), or see whether the guide has {plane.version} by now",
            )


# --- What nodes need there


@rule(
    "HP2405",
    Severity.WARNING,
    title="Nobody installs HyperPod's Helm chart",
    because="nodes need its health agent and device plugins, and creation can fail without; AWS installs it only where "
    "its console or its own templates make the EKS cluster. Charts that scripts install are not seen here",
    source=_CHART_GUIDE,
)
def somebody_installs_the_chart(deployment: Deployment) -> Iterator[Problem]:
    for cluster, plane in with_control_plane(deployment):
        charts = charts_of(deployment, plane)
        if cluster.chart_elsewhere or not installs_are_known(plane):
            continue
        if all(is_hyperpods_chart(each) is False for each in charts):
            others = f", only {all_of(str(each.chart) for each in charts)}" if charts else ""
            yield Problem(
                path=cluster.path,
                message=f"nothing installs {_CHART} into EKS cluster {plane.path}{others}",
                fix=f"install it into {kubernetes.CHART_NAMESPACE} before the cluster is made; where somebody else "
                f"does, write {intent.KEY!r}: {{chart_elsewhere: true}} into the cluster's Metadata "
                "(chart=hp.HelmChart.installed_elsewhere())",
            )


@rule(
    "HP2406",
    Severity.WARNING,
    title="HyperPod cluster does not wait for its Helm chart",
    because="CloudFormation makes both at once, and nodes come up without health agent and device plugins, or creation "
    "fails",
    source=f"{_CHART_GUIDE}; sunilpp/hyperpod-quickstart commit c90e226",
)
def clusters_wait_for_the_chart(deployment: Deployment) -> Iterator[Problem]:
    for cluster, plane in with_control_plane(deployment):
        charts = [each for each in charts_of(deployment, plane) if is_hyperpods_chart(each)]
        if charts and not any(waits_for(deployment, cluster.path, cluster.depends_on, each.path) for each in charts):
            yield Problem(
                path=cluster.path,
                message=f"the cluster does not wait for {charts[0].path}, which installs HyperPod's Helm chart",
                fix=let_wait("the cluster", [charts[0].path]),
            )


@rule(
    "HP2407",
    Severity.WARNING,
    title="EKS cluster lacks its network add-ons",
    because="EKS installs none of them where BootstrapSelfManagedAddons is false, and without a network nodes never "
    "get ready",
    source="EKS API, CreateCluster, bootstrapSelfManagedAddons (botocore 1.44.8)",
)
def networking_is_installed(deployment: Deployment) -> Iterator[Problem]:
    for plane in used_planes(deployment):
        names = {addon.name for addon in deployment.kubernetes.addons_of(plane)}
        if plane.bootstraps is not False or UNKNOWN in names or not installs_are_known(plane):
            continue
        charts = charts_of(deployment, plane)
        missing = [name for name in NETWORKING if name not in names and not any(may_bring(e, name) for e in charts)]
        if missing:
            yield Problem(
                path=plane.path,
                message=f"BootstrapSelfManagedAddons is false, and no add-on {all_of(missing)}",
                fix="add an AWS::EKS::Addon for each, or leave BootstrapSelfManagedAddons out",
            )


# --- Who reaches it


@rule(
    "HP2408",
    Severity.WARNING,
    title="EKS endpoint is open to the whole internet",
    because="whoever has a credential of the account, or finds a hole in the endpoint, can use it from anywhere; it is "
    "what EKS does unless told otherwise",
    source="EKS user guide, cluster-endpoint",
)
def endpoints_are_not_for_everybody(deployment: Deployment) -> Iterator[Problem]:
    for plane in used_planes(deployment):
        cidrs = plane.public_cidrs
        if plane.public is not True or not isinstance(cidrs, tuple):
            continue
        if not cidrs or not _INTERNET.isdisjoint(cidrs):
            who = f"PublicAccessCidrs has {all_of(sorted(_INTERNET & set(cidrs)))}" if cidrs else "no PublicAccessCidrs"
            yield Problem(
                path=plane.path,
                message=f"the endpoint is public, and {who}",
                fix="write EndpointPrivateAccess: true, and EndpointPublicAccess: false or the PublicAccessCidrs of "
                "those who call it (endpoint=hp.Endpoint.private() or hp.Endpoint.public(cidrs=[...]))",
            )


@rule(
    "HP2409",
    Severity.ERROR,
    title="EKS endpoint is neither public nor private",
    because="EKS answers: Private and public endpoint access cannot be false",
    source="EKS user guide, cluster-endpoint",
)
def endpoints_can_be_reached(deployment: Deployment) -> Iterator[Problem]:
    for plane in deployment.kubernetes.control_planes:
        if plane.public is False and plane.private is False:
            yield Problem(
                path=plane.path,
                message="EndpointPublicAccess and EndpointPrivateAccess are false; the second is so if left out",
                fix="write EndpointPrivateAccess: true",
            )


# --- Who else is on it


@rule(
    "HP2413",
    Severity.WARNING,
    title="Two HyperPod clusters are of one EKS cluster",
    because="AWS's guide is told to map one EKS cluster to one HyperPod cluster; neither the page nor what the service "
    "answers was seen (UNVERIFIED)",
    source="SageMaker developer guide, sagemaker-hyperpod-eks (UNVERIFIED)",
)
def control_planes_have_one_cluster(deployment: Deployment) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for cluster in deployment.clusters:
        eks = cluster.orchestrator.cluster if isinstance(cluster.orchestrator, Eks) else None
        if not isinstance(eks, str) or cluster.conditional:
            continue  # clusters under conditions may exclude each other
        plane = control_plane_of(deployment, cluster)
        other = first.setdefault(plane.path if plane else eks, cluster.path)
        if other != cluster.path:
            yield Problem(
                path=cluster.path,
                message=f"the cluster is of {eks}, and so is {other}",
                fix="give each an EKS cluster of its own, or make one cluster with the groups of both",
            )
