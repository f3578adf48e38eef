"""Restricted instance groups: nodes for Amazon Nova on which nobody logs in and AWS keeps the file system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.checks import check_one_of, check_whole
from hyperpod_constructs.tokens import Unknown

DELETION_POLICIES: Final = ("Keep", "DeleteIfNotUsed")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestrictedStorage:
    """The Lustre file system that AWS makes for restricted groups.

    Attributes:
        size_gib: 1,200 to 100,800 GiB.
        throughput_mbps_per_tib: 125 to 1,000 MB/s/TiB.

    Source: AWS::SageMaker::Cluster schema, FSxLustreConfig.
    """

    size_gib: int | Unknown
    throughput_mbps_per_tib: int | Unknown

    def __post_init__(self) -> None:
        check_whole("size of the restricted file system", self.size_gib, low=1200, high=100_800, unit="GiB")
        check_whole(
            "throughput of the restricted file system",
            self.throughput_mbps_per_tib,
            low=125,
            high=1000,
            unit="MB/s/TiB",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RestrictedGroup:
    """An instance group that runs Amazon Nova only.

    Attributes:
        group: Name, type, count, role, volumes, health checks, threads, placement and plan; it has no scripts, image,
            minimum, flexible types, Slurm role or Kubernetes settings.
        storage: Its own file system; left out means the one that all restricted groups share.

    Source: AWS::SageMaker::Cluster schema, ClusterRestrictedInstanceGroup.
    """

    group: InstanceGroup
    storage: RestrictedStorage | Unknown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRestrictedStorage:
    """The file system that restricted groups share.

    Attributes:
        storage: Its size and throughput; CloudFormation lets it be left out, the API does not.
        when_unused: `Keep`, or `DeleteIfNotUsed`, which deletes it with the last group.

    Source: SageMaker API, ClusterSharedEnvironmentConfig (botocore 1.44.8).
    """

    storage: RestrictedStorage | Unknown | None
    when_unused: Literal["Keep", "DeleteIfNotUsed"] | Unknown

    def __post_init__(self) -> None:
        check_one_of("FSxLustreDeletionPolicy", self.when_unused, DELETION_POLICIES)
