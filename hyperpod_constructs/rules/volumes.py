"""What can be known about the volumes of nodes, which SageMaker refuses after all else was built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import limits
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.storage import NodeVolume
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import every_group
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import known

_VOLUME_API: Final = "SageMaker API, ClusterEbsVolumeConfig (botocore 1.44.8)"


def _volumes(group: InstanceGroup) -> tuple[NodeVolume, ...]:
    return group.volumes if isinstance(group.volumes, tuple) else ()


def _volume_faults(volume: NodeVolume) -> Iterator[tuple[str, str]]:
    """Message and fix of each field of a volume that the service refuses."""
    if volume.root is True:
        if (size := known(volume.size_gib)) is not None:
            yield f"the root volume has a size of {size:,} GiB", "leave the size out: the image decides it"
        if volume.kms_key is None:
            yield "the root volume has no key", "give the ARN of a customer key, or leave the root volume out"
    elif volume.root is False and volume.size_gib is None:
        yield "a volume has no size", f"give a size of 1 to {limits.VOLUME_GB.high:,} GiB"


@rule(
    "HP3013",
    Severity.ERROR,
    title="Volume of a node lacks or has what its kind must have or lack",
    because="a root volume takes a key and no size, any other volume a size",
    source=_VOLUME_API,
)
def volumes_are_complete(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in every_group(deployment):
        for volume in _volumes(group):
            for message, fix in _volume_faults(volume):
                yield Problem(path=path, message=f"{named(group)}: {message}", fix=fix)


@rule(
    "HP3014",
    Severity.ERROR,
    title="Too many volumes or mounts on a group",
    because="a group has at most one root volume, one other, one Lustre and one OpenZFS mount",
    source=f"{_VOLUME_API}; SageMaker developer guide, sagemaker-hyperpod-ref",
)
def volumes_and_mounts_are_few(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in every_group(deployment):
        volumes, mounts = _volumes(group), group.mounts if isinstance(group.mounts, tuple) else ()
        counts: dict[str, tuple[int, float]] = {
            "root volumes": (sum(volume.root is True for volume in volumes), 1),
            "volumes beside the root": (sum(volume.root is False for volume in volumes), 1),
            "Lustre mounts": (sum(mount.kind == "lustre" for mount in mounts), limits.LUSTRE_CONFIGS.high),
            "OpenZFS mounts": (sum(mount.kind == "openzfs" for mount in mounts), limits.OPENZFS_CONFIGS.high),
        }
        for what, (count, most) in counts.items():
            if count > most:
                yield Problem(path=path, message=f"{named(group)} has {count} {what}", fix=f"use at most {most}")


@rule(
    "HP3015",
    Severity.WARNING,
    title="Volume is larger than the usual quota",
    because="the quota 'Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance' begins at 1,024 GB",
    source="Service Quotas, L-E13DF72A, as seen in one account (October 2026)",
)
def volumes_fit_the_usual_quota(deployment: Deployment) -> Iterator[Problem]:
    usual = limits.VOLUME_SIZE_GB.seen[0]
    for _, group, path in every_group(deployment):
        for volume in _volumes(group):
            size = known(volume.size_gib)
            if size is not None and size > usual:
                message = f"{named(group)} has a volume of {size:,} GiB; the quota is {usual:,} unless it was raised"
                yield Problem(path=path, message=message, fix="raise that quota before the deploy")
