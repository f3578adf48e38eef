"""File systems with their links to S3, and volumes of nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from hyperpod_constructs.catalog import limits, lustre
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.checks import check_flag, check_limit, check_one_of, check_several, check_whole
from hyperpod_constructs.tokens import Unknown, is_token

DeploymentType: TypeAlias = Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"]
DEPLOYMENT_TYPES: Final = ("SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2")
StorageType: TypeAlias = Literal["SSD", "HDD", "INTELLIGENT_TIERING"]
STORAGE_TYPES: Final = ("SSD", "HDD", "INTELLIGENT_TIERING")
REPOSITORY_EVENTS: Final = ("NEW", "CHANGED", "DELETED")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVolume:
    """An EBS volume of each node of a group.

    Attributes:
        size_gib: 1 to 16384 GiB; required unless `root`, forbidden with it. Above 1,024 GiB a quota must be raised.
        root: Whether this is the root volume, which then needs a customer key.
        kms_key: ARN of the customer key.

    Source: SageMaker API, ClusterEbsVolumeConfig (botocore 1.44.8).
    """

    size_gib: int | Unknown | None = None
    root: bool | Unknown = False
    kms_key: str | Unknown | None = None

    def __post_init__(self) -> None:
        check_limit("volume size", self.size_gib, limits.VOLUME_GB, unit="GiB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A shared file system as a group mounts it.

    Attributes:
        kind: `lustre` or `openzfs`.
        path: Folder on the node. Defaults to the service's: `/fsx` for Lustre, `/home` for OpenZFS.
        file_system: Path of the file system, or its DNS name where it is not part of the deployment.
    """

    kind: Literal["lustre", "openzfs"]
    path: str | Unknown | None = None
    file_system: str | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Lustre:
    """An FSx for Lustre file system as it can be bought.

    Attributes:
        capacity_gib: Storage capacity in GiB; steps depend on type (PERSISTENT_2 on SSD: 1200, then multiples of 2400).
            Left out for intelligent tiering.
        throughput_mbps_per_tib: Per-unit storage throughput in MB/s/TiB; PERSISTENT_2: 125, 250, 500 or 1000.
        deployment_type: SCRATCH_1, SCRATCH_2, PERSISTENT_1 or PERSISTENT_2. Cannot be changed without replacement.
        storage_type: SSD, HDD or INTELLIGENT_TIERING.
        version: Lustre version: 2.10, 2.12 or 2.15. The service's own default differs by type, so it is written out.
        efa: Whether clients may use EFA. Only at creation; PERSISTENT_2 with metadata configuration.
        metadata_iops: `AUTOMATIC` or 1500, 3000, 6000, 12000 and multiples of 12000; can only be raised, never added.
        compression: LZ4 or NONE.
        backup_days: Days that automatic backups are kept, 0 to 90; 0 means none.
        maintenance: Weekly window as `d:HH:MM`, 1 = Monday, UTC.
        throughput_mbps: Throughput capacity of intelligent tiering, in MB/s: multiples of 4000.
        read_cache_gib: SSD read cache of intelligent tiering, in GiB. Left out: in proportion to throughput.
        drive_cache: NONE or READ; HDD only.

    Source: FSx API, CreateFileSystem and CreateFileSystemLustreConfiguration (botocore 1.44.8).
    """

    capacity_gib: int | Unknown | None = None
    throughput_mbps_per_tib: int | Unknown | None = None
    deployment_type: DeploymentType | Unknown = "PERSISTENT_2"
    storage_type: StorageType | Unknown = "SSD"
    version: str | Unknown | None = "2.15"
    efa: bool | Unknown = False
    metadata_iops: int | Literal["AUTOMATIC"] | Unknown | None = None
    compression: Literal["NONE", "LZ4"] | Unknown = "LZ4"
    backup_days: int | Unknown = 0
    maintenance: str | Unknown | None = None
    throughput_mbps: int | Unknown | None = None
    read_cache_gib: int | Unknown | None = None
    drive_cache: Literal["NONE", "READ"] | Unknown | None = None

    def __post_init__(self) -> None:
        check_whole("Lustre capacity", self.capacity_gib, low=1, high=2**31 - 1, unit="GiB")
        check_whole("Lustre throughput", self.throughput_mbps_per_tib, low=12, high=1000, unit="MB/s/TiB")
        check_whole(
            "Lustre backup retention", self.backup_days, low=0, high=lustre.BACKUP_RETENTION_DAYS_AT_MOST, unit="days"
        )
        check_flag("Lustre efa", self.efa)
        check_one_of("Lustre deployment type", self.deployment_type, DEPLOYMENT_TYPES)
        check_one_of("Lustre storage type", self.storage_type, STORAGE_TYPES)
        check_one_of("Lustre compression", self.compression, lustre.COMPRESSIONS)
        check_one_of("Lustre drive cache", self.drive_cache, lustre.DRIVE_CACHES)
        window = self.maintenance
        if isinstance(window, str) and not is_token(window) and not re.fullmatch(lustre.MAINTENANCE_PATTERN, window):
            raise InvalidValue(f"Lustre maintenance is {window!r}", "use d:HH:MM in UTC, Monday is 1: 7:03:00")
        iops = self.metadata_iops
        if isinstance(iops, str) and iops != "AUTOMATIC" and not is_token(iops):
            raise InvalidValue(f"Lustre metadata IOPS is {iops!r}", "use 'AUTOMATIC' or a number")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRepository:
    """A folder of a Lustre file system that mirrors an S3 prefix.

    Attributes:
        folder: Absolute path in the file system, for example `/datasets`.
        s3_uri: `s3://bucket/prefix/`.
        imports: Events that are brought in by themselves: any of NEW, CHANGED, DELETED.
        exports: Events that are written back by themselves: any of NEW, CHANGED, DELETED.
        batch_import: Whether existing objects are listed when the association is made.

    Source: AWS::FSx::DataRepositoryAssociation schema.
    """

    folder: str | Unknown
    s3_uri: str | Unknown
    imports: tuple[str, ...] | Unknown = ("NEW", "CHANGED", "DELETED")
    exports: tuple[str, ...] | Unknown = ()
    batch_import: bool | Unknown = True

    def __post_init__(self) -> None:
        check_flag("repository batch_import", self.batch_import)
        for events in (self.imports, self.exports):
            check_several("repository events", events)
            for event in events if isinstance(events, tuple) else ():
                check_one_of("repository event", event, REPOSITORY_EVENTS)
        if not is_token(self.folder) and not str(self.folder).startswith("/"):
            raise InvalidValue(f"repository folder is {self.folder!r}", "use a path that begins with /")
        if not is_token(self.s3_uri) and not str(self.s3_uri).startswith("s3://"):
            raise InvalidValue(f"repository is {self.s3_uri!r}", "use s3://BUCKET/PREFIX/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What CloudFormation does with a resource when it goes.

    Attributes:
        on_delete: DeletionPolicy: Delete, Retain, RetainExceptOnCreate or Snapshot.
        on_replace: UpdateReplacePolicy: Delete, Retain or Snapshot.
    """

    on_delete: str | Unknown = "Delete"
    on_replace: str | Unknown = "Delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystem:
    """A Lustre file system of the deployment.

    Attributes:
        path: Construct path.
        lustre: What was bought.
        subnets: Paths or ids; Lustre has exactly one.
        security_groups: Paths or ids.
        retention: What happens to it on delete and on replace.
        repositories: Its data repository associations.
        kms_key: Path or ARN of the customer key.
        region: Region of its stack.
        weak: Names of the properties that reach another stack through `Fn::GetStackOutput`, see `VpcPlacement`.
    """

    path: str
    lustre: Lustre
    subnets: tuple[str | Unknown, ...] | Unknown = ()
    security_groups: tuple[str | Unknown, ...] | Unknown = ()
    retention: Retention = Retention()
    repositories: tuple[DataRepository, ...] = ()
    kms_key: str | Unknown | None = None
    region: str | None = None
    weak: tuple[str, ...] = ()
