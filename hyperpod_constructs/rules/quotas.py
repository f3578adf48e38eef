"""What the quotas of teams hold: types and nodes that the cluster has, each counted in one way: HP600x."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import instances, partitions
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.governance import Quota, QuotaShare
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._governance import (
    ALLOCATION,
    POLICIES,
    QUOTA_API,
    QUOTA_SCHEMA,
    governed,
    may_count,
    named,
    policies_of,
)
from hyperpod_constructs.rules._groups import groups_of
from hyperpod_constructs.rules._pools import RESOURCES, Given, Pool, given, pools, types_of
from hyperpod_constructs.rules._words import all_of, any_of
from hyperpod_constructs.tokens import UNKNOWN

_IDLE: Final = 0.25
"""The part of a pool that may be in no quota before it is worth a word; our own choice."""
_ROUNDING: Final = 1e-6


def _quotas(deployment: Deployment) -> Iterator[tuple[Cluster, Quota]]:
    """Quotas with their cluster, those of Slurm clusters left out."""
    for cluster, quotas in governed(deployment):
        for quota in quotas:
            yield cluster, quota


def _shares(deployment: Deployment) -> Iterator[tuple[Quota, QuotaShare, str]]:
    """What quotas hold of types that are known, whether their cluster is known or not."""
    slurm = {cluster.path for cluster in deployment.clusters if cluster.scheduler == "slurm"}
    for quota in deployment.quotas:
        if quota.cluster in slurm or not isinstance(quota.shares, tuple):
            continue
        for share in quota.shares:
            if share is not UNKNOWN and isinstance(share.instance_type, str):
                yield quota, share, share.instance_type


@rule(
    "HP6001",
    Severity.WARNING,
    title="A quota is for an instance type that the cluster does not have",
    because="the team can run nothing on it; the API asks for the type of an instance group of the cluster, while the "
    "registry says only that the service looks whether HyperPod has the type, so that it may not refuse it",
    source=f"{QUOTA_API}, InstanceType; {QUOTA_SCHEMA}",
)
def quotas_are_for_types_of_the_cluster(deployment: Deployment) -> Iterator[Problem]:
    for cluster, quota in _quotas(deployment):
        kinds = types_of(cluster)
        if kinds is None or not may_count(quota) or not isinstance(quota.shares, tuple):
            continue
        wanted = [share.instance_type for share in quota.shares if share is not UNKNOWN]
        lacking = [kind for kind in dict.fromkeys(wanted) if isinstance(kind, str) and kind not in kinds]
        if lacking:
            yield Problem(
                path=quota.path,
                message=f"{named(quota)} has {all_of(lacking)}, and the groups of {cluster.path} are of "
                f"{all_of(kinds)}",
                fix=f"use {any_of(kinds)} as InstanceType (Team(instances={{TYPE: COUNT}})), or add a group of "
                f"{any_of(lacking)}",
            )


@rule(
    "HP6002",
    Severity.WARNING,
    title="The quotas of an instance type are more than its nodes",
    because="teams are guaranteed nodes that are not there; the guide says that quotas should not exceed what the "
    "cluster has, and no page says that the service refuses it",
    source=POLICIES,
)
def quotas_fit_the_cluster(deployment: Deployment) -> Iterator[Problem]:
    for cluster, quotas in governed(deployment):
        for pool in pools(cluster):
            gone = given(pool, quotas)
            resource, most = gone.most(pool)
            if most > pool.nodes + _ROUNDING:
                spares = f" besides {pool.spares} spare{'s' if pool.spares > 1 else ''}" if pool.spares else ""
                yield Problem(
                    path=cluster.path,
                    message=f"{_summed(pool, gone, resource, most)}{spares}",
                    fix="lower quotas (Team(instances=...)), which are guaranteed in any case, and let teams borrow "
                    f"the rest, or raise the InstanceCount of a group of {pool.kind}",
                )


def _summed(pool: Pool, gone: Given, resource: str, most: float) -> str:
    """How much of a pool is given away, and how much there is."""
    size = 1 if gone.whole else pool.size(resource)
    unit = "instances" if gone.whole else RESOURCES[resource]
    parts = [f"{named(quota)} {taken[resource] * size:,.6g}" for quota, taken in gone.shares if taken[resource]]
    return (
        f"quotas of {pool.kind} sum to {most * size:,.6g} {unit} ({', '.join(parts)}), and the cluster "
        f"has {pool.nodes * size:,.6g}"
    )


@rule(
    "HP6003",
    Severity.INFO,
    title="Much of an instance type is in no quota, and teams may not borrow it",
    because="what no quota holds can be borrowed only with IdleResourceSharing, which is Disabled where it is left out",
    source=POLICIES,
)
def nodes_are_in_quotas_or_shared(deployment: Deployment) -> Iterator[Problem]:
    elsewhere = any(not isinstance(quota.cluster, str) for quota in deployment.quotas)
    for cluster, quotas in governed(deployment):
        policies = policies_of(deployment, cluster)
        if elsewhere or not policies or any(each.idle_sharing not in {None, "Disabled"} for each in policies):
            continue
        for pool in pools(cluster):
            gone = given(pool, quotas)
            free = pool.nodes - gone.most(pool)[1]
            if gone.shares and gone.complete and free > _IDLE * pool.nodes:
                yield Problem(
                    path=cluster.path,
                    message=f"{free:.3g} of {pool.nodes} {pool.kind} are in no quota, and IdleResourceSharing is "
                    f"{policies[0].idle_sharing or 'left out'}",
                    fix="use IdleResourceSharing: Enabled (TaskGovernance(idle_sharing=True)), or raise quotas, unless "
                    "tasks outside of teams need these nodes",
                )


@rule(
    "HP6004",
    Severity.WARNING,
    title="A quota counts one instance type in instances and in parts of them",
    because="the console asks for instances or for single resources, and no page says what both mean together; what "
    "the service makes of it may differ from the template, which CloudFormation reports as drift",
    source=f"{ALLOCATION}; {QUOTA_SCHEMA}",
)
def shares_are_counted_in_one_way(deployment: Deployment) -> Iterator[Problem]:
    for quota, share, kind in _shares(deployment):
        beside = [name for field, name in RESOURCES.items() if getattr(share, field) is not None]
        beside += ["AcceleratorPartition"] if share.partition is not None else []
        if beside and isinstance(share.count, int):
            yield Problem(
                path=quota.path,
                message=f"{named(quota)} has Count {share.count} of {kind} beside {all_of(beside)}",
                fix=f"leave Count or {all_of(beside)} out",
            )


@rule(
    "HP6005",
    Severity.WARNING,
    title="A quota of an accelerated type has no accelerators",
    because="the API and the guide say that accelerators are 0 where only VCpu or MemoryInGiB is given; the registry "
    "says that they are filled in by the ratio",
    source=f"{QUOTA_API}; {ALLOCATION}; {QUOTA_SCHEMA}",
)
def shares_of_accelerated_types_have_accelerators(deployment: Deployment) -> Iterator[Problem]:
    for quota, share, kind in _shares(deployment):
        facts = instances.find(kind)
        only = [RESOURCES[field] for field in ("vcpus", "memory_gib") if getattr(share, field) is not None]
        if (share.count, share.accelerators, share.partition) != (None, None, None) or not only:
            continue
        if facts is not None and facts.accelerators:
            yield Problem(
                path=quota.path,
                message=f"{named(quota)} has {all_of(only)} of {kind} and no Accelerators",
                fix=f"add Accelerators, of which an instance has {facts.accelerators}; 0 says that none are meant",
            )


@rule(
    "HP6006",
    Severity.WARNING,
    title="A quota has one instance type twice",
    because="no page says whether the service adds the two or takes one of them",
    source=f"{QUOTA_API}, ComputeQuotaResources: no page says it",
)
def shares_are_of_different_types(deployment: Deployment) -> Iterator[Problem]:
    found: dict[str, list[str]] = {}
    quotas = {quota.path: quota for quota, _, _ in _shares(deployment)}
    for quota, share, kind in _shares(deployment):
        if share.partition is None:  # each kind of partition needs an entry of its own
            found.setdefault(quota.path, []).append(kind)
    for path, kinds in found.items():
        if twice := [kind for kind in dict.fromkeys(kinds) if kinds.count(kind) > 1]:
            yield Problem(
                path=path,
                message=f"{named(quotas[path])} has several entries of {all_of(twice)}",
                fix="make one entry of them",
            )


@rule(
    "HP6007",
    Severity.ERROR,
    title="A quota has a GPU partition that its instance type cannot have",
    because="the service rejects MIG profiles that the instance type does not support",
    source=f"{QUOTA_SCHEMA}; SageMaker developer guide, sagemaker-hyperpod-eks-gpu-partitioning (October 2026); "
    "aws/sagemaker-hyperpod-cli 3.9.0, INSTANCE_TYPE_MIG_PROFILES",
)
def partitions_fit_their_type(deployment: Deployment) -> Iterator[Problem]:
    for quota, share, kind in _shares(deployment):
        facts = instances.find(kind)
        offered = partitions.of(facts) if facts else None
        if offered is None or share.partition not in partitions.KNOWN or share.partition in offered:
            continue
        instead = f"use {any_of(offered)}" if offered else f"leave AcceleratorPartition out: a quota of {kind} has none"
        yield Problem(
            path=quota.path,
            message=f"{named(quota)} has AcceleratorPartition {share.partition} of {kind}",
            fix=f"{instead}, or give whole GPUs as Accelerators" if facts and facts.accelerators else instead,
        )


@rule(
    "HP6008",
    Severity.WARNING,
    title="A quota holds nothing, and the team cannot borrow either",
    because="BorrowLimit is a percentage of the quota itself, so that a team without nodes of its own borrows none",
    source=POLICIES,
)
def quotas_hold_something(deployment: Deployment) -> Iterator[Problem]:
    for _, quota in _quotas(deployment):
        if may_count(quota) and quota.borrowable == () and _holds_nothing(quota):
            yield Problem(
                path=quota.path,
                message=f"{named(quota)} has no ComputeQuotaResources above 0, and no AbsoluteBorrowLimits",
                fix="give the team something of its own (Team(instances={TYPE: COUNT})), or AbsoluteBorrowLimits",
            )


def _holds_nothing(quota: Quota) -> bool:
    if not isinstance(quota.shares, tuple) or UNKNOWN in quota.shares:
        return False
    fields = ("count", *RESOURCES, "partition_count")
    held = [[getattr(share, field) for field in fields] for share in quota.shares]
    # An entry of a type alone is left out: no page says what the service makes of it.
    return all(any(value == 0 for value in each) and all(value in {None, 0} for value in each) for each in held)


@rule(
    "HP6009",
    Severity.WARNING,
    title="A quota has GPU partitions of a type that only flexible groups have",
    because="GPUs are not divided in groups with InstanceRequirements, so that the team has partitions of no node",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-gpu-partitioning (October 2026)",
)
def partitions_are_of_groups_of_one_type(deployment: Deployment) -> Iterator[Problem]:
    for cluster, quota in _quotas(deployment):
        if types_of(cluster) is None or not may_count(quota) or not isinstance(quota.shares, tuple):
            continue
        flexible = {
            kind for each in cluster.groups if each.flexible_types is not UNKNOWN for kind in each.flexible_types
        }
        fixed = {group.instance_type for group in groups_of(cluster)}
        divided = [
            share.instance_type for share in quota.shares if share is not UNKNOWN and share.partition is not None
        ]
        for kind in dict.fromkeys(divided):
            if kind in flexible and kind not in fixed:
                yield Problem(
                    path=quota.path,
                    message=f"{named(quota)} has AcceleratorPartition of {kind}, which only flexible groups of "
                    f"{cluster.path} have",
                    fix=f"add a group with InstanceType: {kind}, or give whole GPUs as Accelerators",
                )
