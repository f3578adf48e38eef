"""Whether the groups of a cluster make a Slurm or EKS cluster: HP20xx."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hyperpod_constructs.catalog import limits
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.rules.provisioning import CONTINUOUS
from hyperpod_constructs.tokens import UNKNOWN

AUTOMATIC_PARTITION = "dev"
"""HyperPod makes this partition by itself and puts every node into it."""

NODE_TYPE = "SlurmConfig: {NodeType: Controller}, Login or Compute"
"""How messages ask for the role of a group in a Slurm cluster."""

_REFERENCE = "SageMaker developer guide, sagemaker-hyperpod-ref (2026)"
_SCALING = "SageMaker developer guide, sagemaker-hyperpod-scaling-slurm (October 2026)"
_MIGRATION = "SageMaker developer guide, sagemaker-hyperpod-slurm-api-config-migration (October 2026)"


def _slurm(deployment: Deployment) -> Iterator[Cluster]:
    """Slurm clusters with groups, those in the old form too."""
    for cluster in deployment.clusters:
        if cluster.scheduler == "slurm" and cluster.groups:
            yield cluster


def _of_role(cluster: Cluster, role: str) -> list[InstanceGroup]:
    return [group for group in cluster.groups if group.node_type == role]


def _listed(groups: Iterable[InstanceGroup]) -> str:
    return ", ".join(named(group) for group in groups)


def _partitions(deployment: Deployment) -> Iterator[tuple[InstanceGroup, str, tuple[object, ...]]]:
    """Groups of Slurm clusters whose list of partitions is known."""
    for cluster in _slurm(deployment):
        for group in cluster.groups:
            if isinstance(group.partitions, tuple):
                yield group, cluster.path_of(group), group.partitions


@rule(
    "HP2001",
    Severity.ERROR,
    title="A Slurm cluster does not have exactly one controller group",
    because="the service answers that there is no InstanceGroup with Controller node type, or that it found several",
    source=_REFERENCE,
)
def clusters_have_one_controller_group(deployment: Deployment) -> Iterator[Problem]:
    for cluster in _slurm(deployment):
        controllers = _of_role(cluster, "Controller")
        if len(controllers) > 1:
            yield Problem(
                path=cluster.path,
                message=f"{len(controllers)} controller groups: {_listed(controllers)}",
                fix="keep one; several controllers are possible with provisioning_parameters.json only",
            )
        elif not controllers and all(isinstance(group.node_type, str) for group in cluster.groups):
            yield Problem(
                path=cluster.path,
                message=f"no controller group among {_listed(cluster.groups)}",
                fix="add one group of one CPU instance with SlurmConfig: {NodeType: Controller} "
                "(InstanceGroup.controller('ml.m5.4xlarge'))",
            )


@rule(
    "HP2002",
    Severity.ERROR,
    title="A controller group does not have exactly one instance",
    because="a cluster that is configured through the API has one controller; there is no spare for it either",
    source=_SCALING,
)
def controller_groups_have_one_instance(deployment: Deployment) -> Iterator[Problem]:
    for cluster in _slurm(deployment):
        for group in _of_role(cluster, "Controller"):
            if isinstance(group.instances, int) and group.instances != 1:
                yield Problem(
                    path=cluster.path_of(group),
                    message=f"{named(group)} has {group.instances} controllers",
                    fix="use InstanceCount 1 (count=1, spares=0)",
                )


@rule(
    "HP2003",
    Severity.ERROR,
    title="A Slurm cluster has more than one login group",
    because="the service takes one; several login nodes are instances of that one group",
    source=_REFERENCE,
)
def clusters_have_one_login_group_at_most(deployment: Deployment) -> Iterator[Problem]:
    for cluster in _slurm(deployment):
        logins = _of_role(cluster, "Login")
        if len(logins) > 1:
            yield Problem(
                path=cluster.path,
                message=f"{len(logins)} login groups: {_listed(logins)}",
                fix="keep one and raise its InstanceCount (count=)",
            )


def _without_roles(deployment: Deployment) -> Iterator[tuple[Cluster, list[InstanceGroup]]]:
    """Slurm clusters with the groups that have no role, where there are any."""
    for cluster in _slurm(deployment):
        without = [group for group in cluster.groups if group.node_type is None]
        if without:
            yield cluster, without


@rule(
    "HP2004",
    Severity.ERROR,
    title="A group without a Slurm role in a cluster with Continuous provisioning",
    because="with Continuous provisioning every group needs SlurmConfig; provisioning_parameters.json is refused there",
    source=_SCALING,
)
def continuous_groups_have_roles(deployment: Deployment) -> Iterator[Problem]:
    for cluster, without in _without_roles(deployment):
        if cluster.provisioning == CONTINUOUS:
            yield Problem(
                path=cluster.path,
                message=f"Continuous provisioning, but no SlurmConfig for {_listed(without)}",
                fix=f"give each group {NODE_TYPE}; an old cluster on "
                "provisioning_parameters.json must leave NodeProvisioningMode out",
            )


@rule(
    "HP2005",
    Severity.WARNING,
    title="Some groups of a Slurm cluster have a role and some have none",
    because="a cluster is configured through the API or through provisioning_parameters.json; that one needs a role in "
    "all groups or in none follows from this, but no page says it",
    source=f"{_MIGRATION}; inferred",
)
def all_groups_have_roles_or_none(deployment: Deployment) -> Iterator[Problem]:
    for cluster, without in _without_roles(deployment):
        if cluster.provisioning is None and len(without) < len(cluster.groups):
            yield Problem(
                path=cluster.path,
                message=f"no SlurmConfig for {_listed(without)}, unlike the other groups",
                fix=f"give every group {NODE_TYPE}, or give it to none",
            )


@rule(
    "HP2006",
    Severity.ERROR,
    title="A compute group does not have exactly one partition",
    because="the service wants one partition for Compute groups and takes no second one",
    source="AWS::SageMaker::Cluster schema, PartitionNames (2026-10-20); developer guide, sagemaker-hyperpod-ref",
)
def compute_groups_have_one_partition(deployment: Deployment) -> Iterator[Problem]:
    for group, path, partitions in _partitions(deployment):
        if group.node_type == "Compute" and len(partitions) != 1 and UNKNOWN not in partitions:
            got = f"{len(partitions)} partitions: {', '.join(map(str, partitions))}" if partitions else "no partition"
            yield Problem(
                path=path,
                message=f"{named(group)} has {got}",
                fix="write PartitionNames with exactly one name (partition=); several groups may share it",
            )


@rule(
    "HP2007",
    Severity.ERROR,
    title="A controller or login group has a partition",
    because="the service answers: Partitions can only be assigned to Compute node types",
    source=_REFERENCE,
)
def partitions_are_for_compute_groups(deployment: Deployment) -> Iterator[Problem]:
    for group, path, partitions in _partitions(deployment):
        names = [name for name in partitions if isinstance(name, str)]
        if group.node_type in ("Controller", "Login") and names:
            yield Problem(
                path=path,
                message=f"{named(group)} is a {group.node_type} group with partition {names[0]!r}",
                fix="leave PartitionNames out: it is for Compute groups",
            )


@rule(
    "HP2008",
    Severity.ERROR,
    title="A partition's name has characters that the service refuses",
    because="the name goes into slurm.conf and has the pattern of group names",
    source=limits.PARTITION_NAME.source,
)
def partition_names_fit_the_pattern(deployment: Deployment) -> Iterator[Problem]:
    for group, path, partitions in _partitions(deployment):
        for name in partitions:
            if isinstance(name, str) and not limits.PARTITION_NAME.allows(name):
                yield Problem(
                    path=path, message=f"{named(group)} has partition {name!r}", fix=f"use {limits.PARTITION_NAME.says}"
                )


@rule(
    "HP2009",
    Severity.WARNING,
    title="A partition has the name of the automatic one",
    because="HyperPod puts every node into a partition dev of its own; that yours collides with it is inferred",
    source=f"{_REFERENCE}; inferred",
)
def partitions_leave_the_automatic_name(deployment: Deployment) -> Iterator[Problem]:
    for group, path, partitions in _partitions(deployment):
        if AUTOMATIC_PARTITION in partitions:
            yield Problem(
                path=path,
                message=f"{named(group)} has partition {AUTOMATIC_PARTITION!r}, which HyperPod makes by itself",
                fix="use another name in PartitionNames (partition=), such as train",
            )


@rule(
    "HP2010",
    Severity.ERROR,
    title="Slurm roles or partitions in an EKS cluster",
    because="SlurmConfig belongs to Slurm clusters; a cluster has one orchestrator",
    source="SageMaker API, ClusterInstanceGroupSpecification, SlurmConfig (botocore 1.44.8)",
)
def eks_groups_have_no_slurm_fields(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        if not isinstance(cluster.orchestrator, Eks):
            continue
        found = [f"node type {group.node_type}"] if isinstance(group.node_type, str) else []
        if isinstance(group.partitions, tuple):
            found += [f"partition {name!r}" for name in group.partitions if isinstance(name, str)]
        if found:
            yield Problem(
                path=path,
                message=f"{named(group)} of an EKS cluster has {' and '.join(found)}",
                fix="leave SlurmConfig out, or use Orchestrator: {Slurm: {}}",
            )


@rule(
    "HP2011",
    Severity.WARNING,
    title="Slurm roles, but no Slurm orchestrator",
    because="without Orchestrator a cluster is a Slurm cluster in its old form; AWS's examples with SlurmConfig all "
    "have Orchestrator: {Slurm: {}}, and what the service does without it is not confirmed",
    source=_REFERENCE,
)
def slurm_roles_have_a_slurm_orchestrator(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        with_role = [group for group in cluster.groups if isinstance(group.node_type, str)]
        if cluster.orchestrator is None and with_role:
            yield Problem(
                path=cluster.path,
                message=f"no Orchestrator, but SlurmConfig for {_listed(with_role)}",
                fix="add Orchestrator: {Slurm: {}}",
            )


@rule(
    "HP2012",
    Severity.ERROR,
    title="Fields of EKS clusters in a Slurm cluster",
    because="Kubernetes labels and taints, releases of the EKS image, Karpenter and tiered storage exist on EKS only",
    source="SageMaker developer guide, managed-tier-checkpointing-setup and sagemaker-hyperpod-eks-autoscaling; API, "
    "ClusterInstanceGroupSpecification (botocore 1.44.8)",
)
def slurm_clusters_have_no_eks_fields(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if cluster.scheduler != "slurm":
            continue
        owners = [(cluster.path, "the cluster", cluster.eks_fields)]
        owners += [(cluster.path_of(group), named(group), group.eks_fields) for group in cluster.groups]
        for path, owner, names in owners:
            if names:
                yield Problem(
                    path=path,
                    message=f"{owner} has {' and '.join(names)} in a Slurm cluster",
                    fix=f"leave {' and '.join(names)} out, or use EKS as orchestrator",
                )


@rule(
    "HP2013",
    Severity.WARNING,
    title="A login group has no instance",
    because="a cluster comes into service with its controller and, if it declares a login group, one login node; what "
    "happens to a login group without any is not documented",
    source=f"{_SCALING}; inferred",
)
def login_groups_have_an_instance(deployment: Deployment) -> Iterator[Problem]:
    for cluster in _slurm(deployment):
        for group in _of_role(cluster, "Login"):
            if group.instances == 0:
                yield Problem(
                    path=cluster.path_of(group),
                    message=f"{named(group)} has 0 login nodes",
                    fix="use InstanceCount 1 or more, or leave the group out",
                )
