"""What can be known about restricted groups, on which Amazon Nova is trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeGuard

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.restricted import RestrictedStorage, SharedRestrictedStorage
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import restricted
from hyperpod_constructs.rules._words import any_of, named

_README: Final = (
    "awslabs/awsome-distributed-ai, hyperpod-eks-tf README (2025/26): no page of AWS's guide was found that says it"
)
_THROUGHPUTS: Final = (125, 250, 500, 1000)
_SMALLEST, _STEP = 1200, 2400


def _with_restricted(deployment: Deployment) -> Iterator[Cluster]:
    for cluster in deployment.clusters:
        if restricted(cluster):
            yield cluster


@rule(
    "HP2019",
    Severity.WARNING,
    title="A cluster has both restricted and ordinary groups",
    because="a README of AWS's says that the two cannot be mixed; no page says it",
    source=_README,
)
def restricted_groups_are_among_themselves(deployment: Deployment) -> Iterator[Problem]:
    for cluster in _with_restricted(deployment):
        if cluster.groups:
            yield Problem(
                path=cluster.path,
                message=f"restricted {named(*(each.group for each in restricted(cluster)))} beside "
                f"{named(*cluster.groups)}",
                fix="make two clusters, one of InstanceGroups and one of RestrictedInstanceGroups",
            )


@rule(
    "HP2020",
    Severity.WARNING,
    title="A cluster of restricted groups asks for Continuous provisioning or autoscaling",
    because="a README of AWS's says that restricted groups have neither; no page says it",
    source=_README,
)
def restricted_clusters_are_not_continuous(deployment: Deployment) -> Iterator[Problem]:
    for cluster in _with_restricted(deployment):
        asked = ["NodeProvisioningMode: Continuous"] if cluster.provisioning == "Continuous" else []
        asked += ["AutoScaling"] if "AutoScaling" in cluster.eks_fields else []
        # Beside ordinary groups the mixture is the mistake, and the mode may be meant for those.
        if asked and not cluster.groups:
            yield Problem(
                path=cluster.path,
                message=f"{' and '.join(asked)} in a cluster of restricted groups",
                fix=f"leave {' and '.join(asked)} out",
            )


@rule(
    "HP2021",
    Severity.WARNING,
    title="The file system of restricted groups has a size or throughput that FSx does not sell",
    because="the schema takes any number in a range; a README of AWS's lists those that FSx for Lustre has",
    source=_README,
)
def restricted_storage_is_sold(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        shared = cluster.restricted_storage
        found = [(cluster.path, "the shared file system", shared.storage)] if _is_shared(shared) else []
        found += [
            (cluster.path_of(each.group), f"the file system of {named(each.group)}", each.storage)
            for each in restricted(cluster)
        ]
        for path, what, storage in found:
            if isinstance(storage, RestrictedStorage) and (got := _unsold(storage)):
                yield Problem(
                    path=path,
                    message=f"{what} has {got}",
                    fix=f"use SizeInGiB {_SMALLEST} or a multiple of {_STEP}, and PerUnitStorageThroughput "
                    f"{any_of(map(str, _THROUGHPUTS))}",
                )


def _is_shared(shared: object) -> TypeGuard[SharedRestrictedStorage]:
    return isinstance(shared, SharedRestrictedStorage)


def _unsold(storage: RestrictedStorage) -> str:
    """What of it is not sold, in words."""
    size, throughput = storage.size_gib, storage.throughput_mbps_per_tib
    wrong = [f"{size:,} GiB"] if isinstance(size, int) and size != _SMALLEST and size % _STEP else []
    wrong += [f"{throughput} MB/s/TiB"] if isinstance(throughput, int) and throughput not in _THROUGHPUTS else []
    return " and ".join(wrong)


@rule(
    "HP2022",
    Severity.ERROR,
    title="A volume of a restricted group has a customer key",
    because="restricted groups do not support customer keys",
    source="SageMaker developer guide, smcluster-cmk (2026)",
)
def restricted_volumes_have_no_key(deployment: Deployment) -> Iterator[Problem]:
    for cluster in _with_restricted(deployment):
        for each in restricted(cluster):
            volumes = each.group.volumes if isinstance(each.group.volumes, tuple) else ()
            if any(volume.kms_key is not None for volume in volumes):
                yield Problem(
                    path=cluster.path_of(each.group),
                    message=f"restricted {named(each.group)} has a volume with a customer key",
                    fix="leave VolumeKmsKeyId out, and the root volume with it",
                )
