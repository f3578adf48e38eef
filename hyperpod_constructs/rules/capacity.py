"""What can be known about groups before a node is paid for: HP10xx."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.catalog import limits, regions
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup, Spot
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import is_all_or_nothing, restricted
from hyperpod_constructs.rules._words import named, sized
from hyperpod_constructs.tokens import UNKNOWN

_TYPE = "AWS::SageMaker::Cluster"
_API = "SageMaker API, ClusterInstanceGroupSpecification (botocore 1.44.8)"


@rule(
    "HP1001",
    Severity.ERROR,
    title="A value can never be right",
    because="the service refuses the value whatever surrounds it",
    source="registry schemas of CloudFormation (cfn-lint 1.58.0, 2026-10-20) and models of the APIs (botocore 1.44.8); "
    "the documentation of the field in hyperpod_constructs.model names further pages",
)
def values_are_possible(deployment: Deployment) -> Iterator[Problem]:
    yield from _invalid(deployment, certain=True)


def _invalid(deployment: Deployment, *, certain: bool) -> Iterator[Problem]:
    for each in deployment.invalid:
        if each.certain is certain:
            yield Problem(path=each.path, message=each.message, fix=each.fix, location=each.location)


@rule(
    "HP1002",
    Severity.ERROR,
    title="Two groups have the same name",
    because="the service tells groups apart by name; the CloudFormation schema does not say so",
    source=_API,
)
def group_names_are_unique(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        kinds = [("groups", list(cluster.groups)), ("restricted groups", [each.group for each in restricted(cluster)])]
        for kind, groups in kinds:
            names = [group.name for group in groups if isinstance(group.name, str)]
            for name in dict.fromkeys(names):
                if names.count(name) > 1:
                    yield Problem(
                        path=f"{cluster.path}/{name}",
                        message=f"{names.count(name)} {kind} are named {name!r}",
                        fix="give every group of the cluster a name of its own",
                    )


@rule(
    "HP1003",
    Severity.WARNING,
    title="Two group names differ only in case",
    because="no page says whether the service takes them for two; people and host names do not tell them apart",
    source="awslabs/awsome-distributed-ai pull 535; not confirmed by AWS",
)
def group_names_differ_in_more_than_case(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        names = dict.fromkeys(group.name for group in cluster.groups if isinstance(group.name, str))
        first: dict[str, str] = {}
        for name in names:
            other = first.setdefault(name.lower(), name)
            if other != name:
                yield Problem(
                    path=f"{cluster.path}/{name}",
                    message=f"groups {other!r} and {name!r} differ only in case",
                    fix="rename one of them before it has nodes: renaming a group later deletes them",
                )


def _certain_groups(cluster: Cluster) -> int:
    """How many groups a cluster certainly has: one of which not even the name is known may be left out at deploy."""
    return sum(group.name is not UNKNOWN for group in cluster.groups)


@rule(
    "HP1004",
    Severity.ERROR,
    title="A cluster has more groups than the service takes",
    because="CreateCluster refuses the request",
    source="SageMaker API, CreateCluster, InstanceGroups (botocore 1.44.8)",
)
def groups_are_not_too_many(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if (count := _certain_groups(cluster)) > limits.GROUPS.high:
            yield Problem(
                path=cluster.path,
                message=f"{count} instance groups",
                fix=f"use at most {limits.GROUPS.high}; AWS's guides say {limits.GROUPS_IN_GUIDES.high}",
            )


@rule(
    "HP1005",
    Severity.WARNING,
    title="A cluster has more groups than AWS's guides allow",
    because="AWS's texts differ: both guides for the command line say up to 20 groups, the API says 100",
    source="SageMaker developer guide, sagemaker-hyperpod-operate-slurm-cli-command; API, CreateCluster (October 2026)",
)
def groups_fit_the_guides(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if limits.GROUPS_IN_GUIDES.high < (count := _certain_groups(cluster)) <= limits.GROUPS.high:
            yield Problem(
                path=cluster.path,
                message=f"{count} instance groups; AWS's guides say at most {limits.GROUPS_IN_GUIDES.high}",
                fix=f"use at most {limits.GROUPS_IN_GUIDES.high} groups, or ask AWS support before you rely on more",
            )


@rule(
    "HP1006",
    Severity.WARNING,
    title="A cluster has no instance group",
    because="the API wants at least one group, restricted or not",
    source="SageMaker API, CreateCluster, InstanceGroups (botocore 1.44.8)",
)
def clusters_have_groups(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if not cluster.groups and cluster.restricted_groups == ():
            yield Problem(
                path=cluster.path,
                message="0 instance groups",
                fix=f"add 1 to {limits.GROUPS.high} groups; a group may have 0 instances",
            )


@rule(
    "HP1009",
    Severity.WARNING,
    title="A group uses what only Continuous provisioning has, and the cluster does not ask for it",
    because="the API ties these fields to NodeProvisioningMode: Continuous; AWS's pages call it the default for new "
    "clusters, but what the service does with a request that leaves it out is not confirmed",
    source="SageMaker developer guide, sagemaker-hyperpod-scaling-eks and -scaling-slurm (October 2026), smcluster-cmk "
    "(2026)",
)
def continuous_features_have_continuous_provisioning(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        if cluster.provisioning is not None:
            continue
        for name, feature in _continuous_features(group):
            yield Problem(
                path=path,
                message=f"{named(group)} has {feature}, but the cluster leaves NodeProvisioningMode out",
                fix=f"write NodeProvisioningMode: Continuous, or leave {name} out",
            )


def _continuous_features(group: InstanceGroup) -> Iterator[tuple[str, str]]:
    """Properties that a group has of such, each with its value in words."""
    if isinstance(group.flexible_types, tuple) and group.flexible_types:
        yield "InstanceRequirements", "flexible types"
    if isinstance(group.min_count, int) and group.min_count > 0:
        yield "MinInstanceCount", f"a minimum count of {group.min_count}"
    if isinstance(group.capacity, Spot):
        yield "CapacityRequirements: {Spot: {}}", "spot capacity"
    if isinstance(group.volumes, tuple) and any(volume.kms_key is not None for volume in group.volumes):
        yield "VolumeKmsKeyId", "a volume with a customer key"


@rule(
    "HP1013",
    Severity.ERROR,
    title="A minimum count is above the count",
    because="the group could never come into service",
    source="SageMaker API, ClusterInstanceGroupSpecification, MinInstanceCount (botocore 1.44.8)",
)
def minimum_counts_can_be_met(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        most, least = group.instances, group.min_count
        if isinstance(most, int) and isinstance(least, int) and least > most:
            yield Problem(
                path=path,
                message=f"{named(group)} has a minimum count of {least}, but {sized(group)} instances",
                fix=f"use MinInstanceCount (min_count=) 0 to {most}, or leave it out",
            )


@rule(
    "HP1117",
    Severity.WARNING,
    title="A minimum count beside all-or-nothing provisioning",
    because="all-or-nothing makes the minimum count of every group the number of all its instances, spares included, "
    "and another one has no effect",
    source="hyperpod_constructs, hp.Slurm(provisioning=...)",
)
def minimum_counts_are_not_overridden(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        most, least = group.instances, group.min_count
        if is_all_or_nothing(cluster) and isinstance(least, int) and isinstance(most, int) and least < most:
            yield Problem(
                path=path,
                message=f"{named(group)} has a minimum count of {least}, but provisioning is all-or-nothing: "
                f"MinInstanceCount is {sized(group)}",
                fix='leave min_count out, or use hp.Slurm(provisioning="continuous") and say min_count for each group',
            )


@rule(
    "HP1017",
    Severity.WARNING,
    title="A property or a type is not one that we know",
    because="CloudFormation and the API refuse what does not exist, but our list may be older than the service",
    source="registry schemas of CloudFormation (cfn-lint 1.58.0, 2026-10-20); SageMaker API, CreateCluster (botocore "
    "1.44.8)",
)
def properties_are_known(deployment: Deployment) -> Iterator[Problem]:
    yield from _invalid(deployment, certain=False)


@rule(
    "HP1019",
    Severity.WARNING,
    title="CloudFormation's list of the Region does not have HyperPod clusters",
    because="where a resource type is missing the stack is refused; the lists lag behind AWS, so this is advice",
    source="cfn-lint 1.58.0, resource types by Region (2026-10-20)",
)
def regions_have_clusters(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if cluster.requested or not isinstance(cluster.region, str):
            continue
        if regions.has_type(cluster.region, _TYPE) is False:
            yield Problem(
                path=cluster.path,
                message=f"{cluster.region} is not among the Regions that are listed with {_TYPE}",
                fix="deploy to a Region that HyperPod's page lists, or try it: `aws cloudformation describe-type "
                f"--type RESOURCE --type-name {_TYPE} --region {cluster.region}`",
            )
