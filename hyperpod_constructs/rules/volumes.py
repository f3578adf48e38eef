"""What can be known about the volumes of nodes, which SageMaker refuses after all else was built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import limits
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.storage import NodeVolume
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import Said, groups_of, place, told_once
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.tokens import known

_SIZE: Final = "VolumeSizeInGB (size_gib)"
_VOLUME_API: Final = "SageMaker API, ClusterEbsVolumeConfig (botocore 1.44.8)"


def _volumes(group: InstanceGroup) -> tuple[NodeVolume, ...]:
    return group.volumes if isinstance(group.volumes, tuple) else ()


def _volume_faults(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
    """Each field of a volume that the service refuses."""
    for volume in _volumes(group):
        if volume.root is True:
            if (size := known(volume.size_gib)) is not None:
                fix = f"leave {_SIZE} out: the image decides it"
                yield Said(after=f": the root volume has a size of {size:,} GiB", fix=fix)
            if volume.kms_key is None:
                fix = "give VolumeKmsKeyId (kms_key), the ARN of a customer key, or leave the whole root volume out"
                yield Said(after=": the root volume has no key", fix=fix)
        elif volume.root is False and volume.size_gib is None:
            yield Said(after=": a volume has no size", fix=f"give {_SIZE}, 1 to {limits.VOLUME_GB.high:,} GiB")


def _number_faults(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
    """Each kind of storage that a group has more often than the service takes."""
    volumes, mounts = _volumes(group), group.mounts if isinstance(group.mounts, tuple) else ()
    counts: dict[str, tuple[int, float]] = {
        "root volumes": (sum(volume.root is True for volume in volumes), 1),
        "volumes beside the root": (sum(volume.root is False for volume in volumes), 1),
        "Lustre mounts": (sum(mount.kind == "lustre" for mount in mounts), limits.LUSTRE_CONFIGS.high),
        "OpenZFS mounts": (sum(mount.kind == "openzfs" for mount in mounts), limits.OPENZFS_CONFIGS.high),
    }
    for what, (count, most) in counts.items():
        if count > most:
            field = "mounts" if what.endswith("mounts") else "volumes"
            fix = f"keep {most:.0f} and take the others out of InstanceStorageConfigs ({field})"
            yield Said(after=f": {count} {what}", fix=fix)


@rule(
    "HP3013",
    Severity.ERROR,
    title="Volume of a node lacks or has what its kind must have or lack",
    because="a root volume takes a key and no size, any other volume a size",
    source=_VOLUME_API,
)
def volumes_are_complete(deployment: Deployment) -> Iterator[Problem]:
    yield from told_once(deployment, _volume_faults, with_restricted=True)


@rule(
    "HP3014",
    Severity.ERROR,
    title="Too many volumes or mounts on a group",
    because="a group has at most one root volume, one other, one Lustre and one OpenZFS mount",
    source=f"{_VOLUME_API}; SageMaker developer guide, sagemaker-hyperpod-ref",
)
def volumes_and_mounts_are_few(deployment: Deployment) -> Iterator[Problem]:
    yield from told_once(deployment, _number_faults, with_restricted=True)


@rule(
    "HP3015",
    Severity.WARNING,
    title="Volume is larger than the usual quota",
    because="the quota 'Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance' begins at 1,024 GB",
    source="Service Quotas, L-E13DF72A, as seen in one account (October 2026)",
)
def volumes_fit_the_usual_quota(deployment: Deployment) -> Iterator[Problem]:
    usual = limits.VOLUME_SIZE_GB.seen[0]
    for cluster in deployment.clusters:
        large = [
            (group, sizes)
            for group in groups_of(cluster)
            if (sizes := [size for each in _volumes(group) if (size := known(each.size_gib)) and size > usual])
        ]
        if large:
            groups = tuple(group for group, _ in large)
            sizes = sorted({size for _, several in large for size in several})
            what = f"{'a volume' if len(groups) == 1 else 'volumes'} of {all_of(f'{size:,}' for size in sizes)} GiB"
            yield Problem(
                path=place(cluster, groups),
                message=f"{named(*groups)}: {what}; the quota is {usual:,} unless it was raised",
                fix=f"raise quota {limits.VOLUME_SIZE_GB.code} of SageMaker to {sizes[-1]:,} before the deploy, or use "
                f"{_SIZE} of at most {usual:,}",
            )
