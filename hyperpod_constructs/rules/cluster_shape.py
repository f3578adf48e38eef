"""The cluster's network and name: HP22xx."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import UNKNOWN

_CALLED = {"lustre": "Lustre", "openzfs": "OpenZFS"}
_PREREQUISITES = "SageMaker developer guide, sagemaker-hyperpod-prerequisites (October 2026)"


@rule(
    "HP2201",
    Severity.ERROR,
    title="An EKS cluster has no VpcConfig",
    because="nodes join the EKS cluster through a network of the account; adding it later replaces the cluster",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-operate-cli-command-create-cluster (October 2026)",
)
def eks_clusters_have_a_network(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if isinstance(cluster.orchestrator, Eks) and cluster.placement is None:
            yield Problem(
                path=cluster.path,
                message="VpcConfig is left out of an EKS cluster",
                fix="add VpcConfig with 1 to 16 private subnets of the EKS cluster's VPC and 1 to 5 security groups",
            )


@rule(
    "HP2202",
    Severity.ERROR,
    title="A group has a network of its own in a Slurm cluster without VpcConfig",
    because="without VpcConfig the nodes stand in the service's network, where OverrideVpcConfig is refused",
    source=_PREREQUISITES,
)
def own_networks_need_that_of_the_cluster(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if cluster.scheduler != "slurm":
            continue
        for group in cluster.groups:
            if cluster.placement is None and group.placement is not None and group.placement is not UNKNOWN:
                yield Problem(
                    path=cluster.path_of(group),
                    message=f"{named(group)} has OverrideVpcConfig, but its cluster has no VpcConfig",
                    fix="add VpcConfig to the cluster before it is created: later it means replacement",
                )


@rule(
    "HP2203",
    Severity.ERROR,
    title="A group mounts a file system in a Slurm cluster without VpcConfig",
    because="without VpcConfig the nodes stand in the service's network, which no FSx file system can be reached from",
    source=_PREREQUISITES,
)
def mounts_need_a_network(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if cluster.scheduler != "slurm":
            continue
        for group in cluster.groups:
            if cluster.placement is None and isinstance(group.mounts, tuple) and group.mounts:
                kinds = " and ".join(
                    dict.fromkeys(_CALLED.get(str(mount.kind), "a file system") for mount in group.mounts)
                )
                yield Problem(
                    path=cluster.path_of(group),
                    message=f"{named(group)} mounts {kinds}, but its cluster has no VpcConfig",
                    fix="add VpcConfig to the cluster before it is created: later it means replacement",
                )


@rule(
    "HP2204",
    Severity.WARNING,
    title="The cluster's name is left out",
    because="a fixed name is the seat belt: without it a change of VpcConfig builds a second cluster beside the first "
    "and then deletes the first, with it the change is refused and the running cluster lives (inferred)",
    source="AWS::SageMaker::Cluster schema, createOnlyProperties (2026-10-20)",
)
def clusters_have_a_fixed_name(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if cluster.name is None:
            yield Problem(
                path=cluster.path,
                message="ClusterName is left out",
                fix="write ClusterName on a new cluster; adding it to a running one replaces that",
            )


@rule(
    "HP2205",
    Severity.ERROR,
    title="Two clusters have one name",
    because="names are unique in an account and Region: the second create is refused as ResourceInUse",
    source="SageMaker API, CreateCluster, ClusterName (botocore 1.44.8)",
)
def cluster_names_are_unique(deployment: Deployment) -> Iterator[Problem]:
    first: dict[tuple[str, ...], str] = {}
    for cluster in deployment.clusters:
        place = deployment.locations.get(cluster.path)
        if cluster.account and cluster.region:
            where: tuple[str, ...] = (cluster.account, cluster.region)
        elif place:
            # Stacks of one file go to one place; what is known of no place is compared with nothing.
            where = (place.file,)
        else:
            continue
        if not isinstance(cluster.name, str) or cluster.conditional:
            continue  # clusters under conditions may exclude each other
        other = first.setdefault((*where, cluster.name), cluster.path)
        if other != cluster.path:
            yield Problem(
                path=cluster.path,
                message=f"cluster {cluster.name!r} has the name of {other}",
                fix="give each cluster of an account and Region a name of its own",
            )
