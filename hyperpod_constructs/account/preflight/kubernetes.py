"""Whether an imported EKS cluster can take HyperPod nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.account.gateway.eks import Eks as EksReader, LiveEksCluster
from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import Learned, Said, check, finding, not_seen, rule
from hyperpod_constructs.catalog import kubernetes
from hyperpod_constructs.errors import NotInAccount
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.orchestration import Eks

_ARN: Final = re.compile(r"arn:[^:]+:eks:(?P<region>[^:]+):(?P<account>\d{12}):cluster/(?P<name>.+)")
_SOURCE: Final = kubernetes.HYPERPOD.source
_UNHEALTHY: Final = {"CREATE_FAILED", "DEGRADED", "DELETING", "DELETE_FAILED", "UPDATE_FAILED"}
_NEEDED: Final = (kubernetes.CNI, kubernetes.POD_IDENTITY)
"""Add-ons that nodes cannot do without. coredns and kube-proxy come with EKS, as add-ons or without."""

ABSENT = rule(
    "HP9090",
    Severity.ERROR,
    title="Imported EKS cluster does not exist in the account and Region",
    because="HyperPod attaches its nodes to an EKS cluster of the same account and Region that is there already",
    source="EKS API, DescribeCluster",
)
NOT_ACTIVE = rule(
    "HP9091",
    Severity.ERROR,
    title="Imported EKS cluster is not active",
    because="HyperPod reads the cluster and adds access entries to it while its own cluster is created",
    source=_SOURCE,
)
VERSION = rule(
    "HP9092",
    Severity.WARNING,
    title="Kubernetes version of the imported EKS cluster is not on HyperPod's list",
    because=f"HyperPod documents Kubernetes {kubernetes.HYPERPOD}, its add-ons {kubernetes.EVERY_ADDON}; the list "
    "grows, so look again",
    source=_SOURCE,
)
AUTHENTICATION = rule(
    "HP9093",
    Severity.ERROR,
    title="Imported EKS cluster has no access entries",
    because="HyperPod adds access entries for itself and its nodes, which authentication mode CONFIG_MAP has not",
    source=_SOURCE,
)
OTHER_VPC = rule(
    "HP9094",
    Severity.ERROR,
    title="Imported EKS cluster is in another VPC than the nodes",
    because="the nodes must stand in the VPC of the EKS cluster",
    source=_SOURCE,
)
ADDONS = rule(
    "HP9095",
    Severity.WARNING,
    title="Imported EKS cluster lacks an add-on that nodes need",
    because="pods need the VPC CNI for addresses and the pod identity agent for roles; preflight sees add-ons only, "
    "not what was installed without them",
    source=_SOURCE,
)
OLD_CNI = rule(
    "HP9096",
    Severity.WARNING,
    title="VPC CNI of the imported EKS cluster is too old",
    because=f"HyperPod documents version {kubernetes.OLDEST_CNI} as the oldest that works with its nodes",
    source=_SOURCE,
)
ADDON_FAILS = rule(
    "HP9097",
    Severity.WARNING,
    title="Add-on of the imported EKS cluster that nodes need does not work",
    because="pods on new nodes get no addresses or no roles where it fails on them too",
    source="EKS API, AddonStatus",
)


@check("EKS clusters")
def eks_clusters_take_nodes(context: Context) -> Iterator[Said]:
    for cluster in context.clusters:
        eks = cluster.orchestrator
        match = _ARN.fullmatch(eks.cluster) if isinstance(eks, Eks) and isinstance(eks.cluster, str) else None
        if match is None:
            continue
        if (match["account"], match["region"]) != (context.account, context.region):
            message = (
                f"EKS cluster {match['name']} is in account {match['account']}, {match['region']}; the deployment goes "
                f"to account {context.account}, {context.region}"
            )
            yield finding(ABSENT, cluster.path, message, "use an EKS cluster of the same account and Region")
            continue
        try:
            live = context.open(EksReader).cluster(match["name"])
        except NotInAccount:
            message = f"there is no EKS cluster {match['name']} in account {context.account}, {context.region}"
            yield finding(ABSENT, cluster.path, message, "check the ARN, --region and --profile")
            continue
        yield Learned(
            section="eks",
            name=live.name,
            facts={"version": live.version, "authentication": live.authentication, "addons": dict(live.addons)},
        )
        if live.status not in {"ACTIVE", "UPDATING"}:
            message = f"EKS cluster {live.name} is {live.status}"
            yield finding(NOT_ACTIVE, cluster.path, message, "deploy once it is ACTIVE")
            continue
        yield from _fits(context, cluster, live)
        yield from _has_addons(context, cluster, live)


def _fits(context: Context, cluster: Cluster, live: LiveEksCluster) -> Iterator[Said]:
    describe = f"aws eks describe-cluster --region {context.region} --name {live.name}"
    if not kubernetes.numbers(live.version):
        message = f"AWS does not say which version of Kubernetes EKS cluster {live.name} has"
        yield not_seen(cluster.path, message, f"look: {describe}")
    elif kubernetes.HYPERPOD.is_older(live.version) or kubernetes.HYPERPOD.is_newer(live.version):
        message = f"EKS cluster {live.name} has Kubernetes {live.version}; HyperPod documents {kubernetes.HYPERPOD}"
        yield finding(VERSION, cluster.path, message, f"use {kubernetes.EVERY_ADDON}, which the add-ons take too")
    update = f"--region {context.region} --name {live.name}"
    if live.authentication not in {"API", "API_AND_CONFIG_MAP"}:
        yield finding(
            AUTHENTICATION,
            cluster.path,
            f"EKS cluster {live.name} has authentication mode {live.authentication}",
            "use API_AND_CONFIG_MAP, which cannot be undone: aws eks update-cluster-config "
            f"{update} --access-config authenticationMode=API_AND_CONFIG_MAP",
        )
    vpcs = {vpc for placed in context.placed() if placed.cluster == cluster for vpc in context.vpcs_of(placed)}
    if live.vpc is None:
        message = f"AWS does not say in which VPC EKS cluster {live.name} is"
        yield not_seen(cluster.path, message, f"look, and compare with the VPC of the nodes: {describe}")
    elif elsewhere := sorted(vpcs - {live.vpc}):
        message = f"EKS cluster {live.name} is in {live.vpc}, the nodes in {', '.join(elsewhere)}"
        yield finding(OTHER_VPC, cluster.path, message, f"use private subnets of {live.vpc}")


def _has_addons(context: Context, cluster: Cluster, live: LiveEksCluster) -> Iterator[Said]:
    missing = [name for name in _NEEDED if name not in live.addons and not _makes(context, name)]
    if missing:
        commands = "; ".join(
            f"aws eks create-addon --region {context.region} --cluster-name {live.name} --addon-name {name}"
            for name in missing
        )
        message = f"EKS cluster {live.name} has no add-on {' and no '.join(missing)}"
        yield finding(ADDONS, cluster.path, message, f"add them, unless they were installed otherwise: {commands}")
    for name in _NEEDED:
        if (state := live.states.get(name, "")) in _UNHEALTHY:
            describe = (
                f"aws eks describe-addon --region {context.region} --cluster-name {live.name} --addon-name {name}"
            )
            message = f"add-on {name} of EKS cluster {live.name} is {state}"
            yield finding(ADDON_FAILS, cluster.path, message, f"mend what its health says: {describe}")
    cni, oldest = kubernetes.CNI, kubernetes.OLDEST_CNI
    version = live.addons.get(cni, "")
    if () < kubernetes.numbers(version) < kubernetes.numbers(oldest):
        message = f"add-on {cni} of EKS cluster {live.name} is {version}; the oldest that works is {oldest}"
        command = f"aws eks update-addon --region {context.region} --cluster-name {live.name} --addon-name {cni}"
        yield finding(OLD_CNI, cluster.path, message, f"update it: {command}")


def _makes(context: Context, addon: str) -> bool:
    """Whether the deployment adds an add-on itself."""
    return any(
        each.type == "AWS::EKS::Addon"
        and isinstance(each.properties, dict)
        and each.properties.get("AddonName") == addon
        for each in context.resources
    )
