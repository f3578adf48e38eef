"""Whether EKS add-ons can be installed as they are given: versions, identities, what they need: HP242x."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from hyperpod_constructs.catalog import kubernetes
from hyperpod_constructs.catalog.kubernetes import ADDONS, EBS_CSI, EVERY_ADDON, HYPERPOD, TRAINING_OPERATOR, numbers
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.control_plane import Addon, ControlPlane
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import groups_of
from hyperpod_constructs.rules._kubernetes import (
    addons_for,
    charts_of,
    eks_is_known,
    installs_are_known,
    may_bring,
    used_planes,
)
from hyperpod_constructs.rules._places import in_one_template, let_wait, waits_for
from hyperpod_constructs.rules._words import all_of, any_of
from hyperpod_constructs.tokens import UNKNOWN

_NO_INLINE: Final = (
    f"awslabs/awsome-distributed-ai issue 1075 and pull 1076: refused by {TRAINING_OPERATOR} v1.2.1-eksbuild.1"
)
_ACCOUNT_ROLE: Final = "eks.amazonaws.com/role-arn"
"""Annotation with which configuration values give a service account its role."""
_FEW_PODS: Final = 14
_MANY_ADDONS: Final = 4
_FEW_NODES: Final = 2
"""Three nodes of 14 pods have room: eight or so of each node's are taken by DaemonSets, and four add-ons with coredns
and HyperPod's chart run some twenty. The counts are estimates."""


def _on_used_planes(deployment: Deployment) -> Iterator[tuple[ControlPlane, Addon]]:
    """Add-ons of EKS clusters that the deployment makes for HyperPod."""
    for plane in used_planes(deployment):
        for addon in deployment.kubernetes.addons_of(plane):
            yield plane, addon


def _known(addon: Addon) -> kubernetes.Addon | None:
    """What the table has of an add-on."""
    return ADDONS.get(addon.name) if isinstance(addon.name, str) else None


# --- Names and versions


@rule(
    "HP2421",
    Severity.ERROR,
    title="An EKS add-on is installed twice",
    because="an EKS cluster has one add-on of a name: the second one fails as it exists already",
    source="EKS API, CreateAddon (botocore 1.44.8); AWS::EKS::Addon schema, primary identifier",
)
def addons_are_installed_once(deployment: Deployment) -> Iterator[Problem]:
    certain = [each for each in deployment.kubernetes.addons if each.certain and each.name is not UNKNOWN]
    for one, other in combinations(certain, 2):
        if one.name == other.name and _is_one_cluster(deployment, one, other):
            yield Problem(
                path=other.path,
                message=f"add-on {other.name} of the EKS cluster is {one.path} already",
                fix="keep one of them",
            )


def _is_one_cluster(deployment: Deployment, one: Addon, other: Addon) -> bool:
    """Whether two add-ons are certainly of one EKS cluster: a name alone can be that of others in other Regions."""
    if one.control_plane is UNKNOWN or one.control_plane != other.control_plane:
        return False
    made = {plane.path for plane in deployment.kubernetes.control_planes}
    return one.control_plane in made or in_one_template(deployment, one.path, other.path)


@rule(
    "HP2422",
    Severity.WARNING,
    title="Kubernetes version is older than an add-on of HyperPod takes",
    because=f"the newest versions of HyperPod's add-ons take {EVERY_ADDON} together; an older version of an add-on may "
    "take an older Kubernetes, but lacks what AWS documents now",
    source=EVERY_ADDON.source,
)
def addons_take_the_version(deployment: Deployment) -> Iterator[Problem]:
    for plane, addon in _on_used_planes(deployment):
        known, version = _known(addon), plane.version
        taken = known.kubernetes if known else None
        if taken and isinstance(version, str) and taken.is_older(version) and not HYPERPOD.is_older(version):
            yield Problem(
                path=addon.path,
                message=f"the newest {addon.name} takes Kubernetes {taken}, and {plane.path} has {version}",
                fix=f"use Version {EVERY_ADDON} for the EKS cluster",
            )


@rule(
    "HP2423",
    Severity.ERROR,
    title="VPC CNI is older than HyperPod takes",
    because=f"HyperPod supports the Amazon VPC CNI from version {kubernetes.OLDEST_CNI} on, and no other network",
    source=HYPERPOD.source,
)
def networks_are_new_enough(deployment: Deployment) -> Iterator[Problem]:
    of_hyperpod = [each for cluster in deployment.clusters for each in addons_for(deployment, cluster)]
    for addon in {each.path: each for each in of_hyperpod}.values():
        version = numbers(addon.version) if isinstance(addon.version, str) else ()
        if addon.name == kubernetes.CNI and () < version < numbers(kubernetes.OLDEST_CNI):
            yield Problem(
                path=addon.path,
                message=f"add-on {kubernetes.CNI} has AddonVersion {addon.version}",
                fix=f"use v{kubernetes.OLDEST_CNI} or later, or leave AddonVersion out",
            )


# --- Roles of their pods


def _inline(deployment: Deployment, *, refused: bool) -> Iterator[Problem]:
    """Training operators with pod identities of their own, of versions that were seen to refuse them or of others."""
    for addon in deployment.kubernetes.addons:
        if addon.name != TRAINING_OPERATOR or addon.inline_identities is not True:
            continue
        version = numbers(addon.version) if isinstance(addon.version, str) else ()
        if refused is (version >= numbers(kubernetes.NO_INLINE_IDENTITY)):
            of = addon.version if version else "a version that the template does not fix"
            yield Problem(
                path=addon.path,
                message=f"PodIdentityAssociations is given to {TRAINING_OPERATOR}, {of}",
                fix="take it out, and make an AWS::EKS::PodIdentityAssociation for service account "
                f"{_account(TRAINING_OPERATOR)}, on which the add-on depends",
            )


def _account(addon: str) -> str:
    """The service account of an add-on as messages have it."""
    account = ADDONS[addon].account
    return f"{account.name} in {account.namespace}" if account else ""


@rule(
    "HP2424",
    Severity.ERROR,
    title="Training operator does not take pod identities among its own properties",
    because="EKS answers: Pod Identity feature is not supported for addon version",
    source=_NO_INLINE,
)
def operators_have_no_inline_identities(deployment: Deployment) -> Iterator[Problem]:
    yield from _inline(deployment, refused=True)


@rule(
    "HP2425",
    Severity.WARNING,
    title="Training operator may not take pod identities among its own properties",
    because=f"version {kubernetes.NO_INLINE_IDENTITY} was seen to refuse them, and earlier ones to take them; without "
    "AddonVersion EKS installs what is its default by then",
    source=_NO_INLINE,
)
def operators_should_have_no_inline_identities(deployment: Deployment) -> Iterator[Problem]:
    yield from _inline(deployment, refused=False)


@rule(
    "HP2426",
    Severity.WARNING,
    title="EBS CSI driver has no role",
    because="pods on HyperPod nodes cannot use the role of the node: without one of its own the driver makes no "
    "volume, and its controller never gets ready",
    source=f"sunilpp/hyperpod-quickstart commit f5e96088; {HYPERPOD.source}",
)
def volume_drivers_have_a_role(deployment: Deployment) -> Iterator[Problem]:
    for plane, addon in _on_used_planes(deployment):
        bare = addon.role is None and addon.inline_identities is False and _gives_no_role(addon)
        if addon.name == EBS_CSI and bare and eks_is_known(plane) and not _has_identity(deployment, plane, EBS_CSI):
            yield Problem(
                path=addon.path,
                message=f"{EBS_CSI} has neither ServiceAccountRoleArn nor a pod identity",
                fix="make an AWS::EKS::PodIdentityAssociation for service account "
                f"{_account(EBS_CSI)}, with a role that has AmazonEBSCSIDriverPolicy, on which the add-on depends",
            )


def _gives_no_role(addon: Addon) -> bool:
    """Whether the configuration of an add-on certainly gives no role."""
    return addon.configuration is not UNKNOWN and _ACCOUNT_ROLE not in str(addon.configuration)


def _has_identity(deployment: Deployment, plane: ControlPlane, addon: str) -> bool:
    """Whether a pod identity is, or may be, that of an add-on."""
    account = ADDONS[addon].account
    return any(
        (each.control_plane is UNKNOWN or deployment.kubernetes.control_plane(each.control_plane) is plane)
        and account is not None
        and each.namespace in (account.namespace, UNKNOWN)
        and each.service_account in (account.name, UNKNOWN)
        for each in deployment.kubernetes.pod_identities
    )


# --- What they need


@rule(
    "HP2427",
    Severity.WARNING,
    title="Training operator, and the HyperPod cluster lacks the tag SageMaker=true",
    because="the operator's role may read nodes of clusters with this tag only, and its install fails without. Tags "
    "that a whole stack is given at deploy are not seen here",
    source="SageMaker developer guide, sagemaker-eks-operator-install (October 2026); "
    "AmazonSageMakerHyperPodTrainingOperatorAccess, version 3",
)
def clusters_of_the_operator_are_tagged(deployment: Deployment) -> Iterator[Problem]:
    key, value = kubernetes.HYPERPOD_TAG
    for cluster in deployment.clusters:
        operators = [each.path for each in addons_for(deployment, cluster) if each.name == TRAINING_OPERATOR]
        got = cluster.tags.get(key)
        if operators and cluster.tags_complete and got not in (value, UNKNOWN):
            has = f"has tag {key}={got}" if got is not None else f"has no tag {key}"
            yield Problem(
                path=cluster.path,
                message=f"{operators[0]} installs the training operator, and the cluster {has}",
                fix=f"write Tags: [{{Key: {key}, Value: '{value}'}}] (tags={{{key!r}: {value!r}}})",
            )


@rule(
    "HP2428",
    Severity.WARNING,
    title="EKS add-on lacks another one that it needs first",
    because="AWS lists what must be there before it; without, its pods do not start and it stays unhealthy",
    source="SageMaker developer guide, sagemaker-eks-operator-install, sagemaker-hyperpod-model-deployment-setup and "
    "hyperpod-observability-addon-setup (October 2026)",
)
def addons_have_what_they_need(deployment: Deployment) -> Iterator[Problem]:
    for plane, addon in _on_used_planes(deployment):
        known = _known(addon)
        present = {each.name: each for each in deployment.kubernetes.addons_of(plane)}
        needs = dict(known.needs) if known and UNKNOWN not in present else {}
        for name in sorted(needs.keys() & present.keys()):
            yield from _late_or_old(deployment, addon, present[name], needs[name])
        missing = [name for name in sorted(needs.keys() - present.keys()) if _is_missing(deployment, plane, name)]
        if missing:
            yield Problem(
                path=addon.path,
                message=f"{addon.name} needs {all_of(missing)}, which {plane.path} lacks",
                fix=f"add {all_of(_at_least(name, needs[name]) for name in missing)} as AWS::EKS::Addon, on "
                "which this one depends",
            )


def _is_missing(deployment: Deployment, plane: ControlPlane, addon: str) -> bool:
    """Whether nothing installs what an add-on would."""
    charts = charts_of(deployment, plane)
    return installs_are_known(plane) and not any(may_bring(each, addon) for each in charts)


def _at_least(addon: str, oldest: str | None) -> str:
    return f"{addon} v{oldest} or later" if oldest else addon


def _late_or_old(deployment: Deployment, addon: Addon, needed: Addon, oldest: str | None) -> Iterator[Problem]:
    """What is wrong with an add-on that another one needs."""
    version = numbers(needed.version) if isinstance(needed.version, str) else ()
    if oldest and () < version < numbers(oldest):
        yield Problem(
            path=needed.path,
            message=f"{addon.name} needs {_at_least(str(needed.name), oldest)}, and this is {needed.version}",
            fix=f"use AddonVersion v{oldest} or later",
        )
    if not waits_for(deployment, addon.path, addon.after, needed.path):
        yield Problem(
            path=addon.path,
            message=f"{addon.name} does not wait for {needed.path}, which it needs first",
            fix=let_wait("the add-on", [needed.path]),
        )


# --- Room for their pods


@rule(
    "HP2429",
    Severity.WARNING,
    title="Nodes hold too few pods for the add-ons",
    because="a HyperPod node gives pods the addresses of one interface, far fewer than EC2 nodes have: DaemonSets take "
    "about eight, and add-ons that find no room stay pending with 'Too many pods'. How many pods an add-on runs is "
    "estimated",
    source="awslabs/ai-on-sagemaker-hyperpod issue 142; sagemaker-hyperpod-eks-prerequisites, pod table (October 2026)",
)
def nodes_hold_the_addons(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        names = [str(each.name) for each in addons_for(deployment, cluster) if each.certain]
        running = sorted({name for name in names if kubernetes.runs_deployments(name)})
        pods, count = _pods_per_node(cluster), _nodes(cluster)
        if len(running) >= _MANY_ADDONS and pods and count is not None and 0 < count <= _FEW_NODES:
            of = any_of(f"{name} {most}" for name, most in sorted(pods.items()))
            yield Problem(
                path=cluster.path,
                message=f"{count} node{'s' if count != 1 else ''} for {all_of(running)}; pods per node: {of}",
                fix="add a group for them of a type that holds more, such as two ml.m5.4xlarge",
            )


def _nodes(cluster: Cluster) -> int | None:
    """Nodes of a cluster; `None` where their number is not known, or changes with the pods."""
    counts = [each.instances for each in groups_of(cluster)]
    known = [each for each in counts if isinstance(each, int)]
    return sum(known) if len(known) == len(counts) and cluster.autoscaling is None else None


def _pods_per_node(cluster: Cluster) -> dict[str, int]:
    """Most pods of each type of node; nothing unless every type is known and holds few."""
    facts = [each.possible_facts for each in groups_of(cluster)]
    most = {each.name: each.max_pods for types in facts for each in types}
    if not all(facts) or not all(pods is not None and pods <= _FEW_PODS for pods in most.values()):
        return {}
    return {name: pods for name, pods in most.items() if pods is not None}
