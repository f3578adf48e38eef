"""File systems with their links to S3, and volumes and mounts of nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from hyperpod_constructs.catalog import limits, lustre
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.checks import (
    check_flag,
    check_limit,
    check_one_of,
    check_several,
    check_whole,
    make_tuples,
)
from hyperpod_constructs.tokens import UNKNOWN, Unknown, is_token, known

DeploymentType: TypeAlias = Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"]
DEPLOYMENT_TYPES: Final = ("SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2")
StorageType: TypeAlias = Literal["SSD", "HDD", "INTELLIGENT_TIERING"]
STORAGE_TYPES: Final = ("SSD", "HDD", "INTELLIGENT_TIERING")
REPOSITORY_EVENTS: Final = ("NEW", "CHANGED", "DELETED")
MOUNT_KINDS: Final = ("lustre", "openzfs")
ReadCache: TypeAlias = Literal["NO_CACHE", "USER_PROVISIONED", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"]
_DNS_NAME: Final = re.compile(r"(fs|fc)i?-[0-9a-f]{8,}(\.[a-z0-9-]+){2,}")
_MOUNT_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,8}")


def check_dns_name(what: str, value: object) -> None:
    """Raises `InvalidValue` unless the value is the DNS name of an FSx file system; tokens and `None` pass.

    The service's pattern takes anything after the first dot; here what is no part of a DNS name, such as a mount name
    that was left at its end, is refused too.
    """
    if value is None or is_token(value):
        return
    if not isinstance(value, str) or not _DNS_NAME.fullmatch(value):
        raise InvalidValue(
            f"{what} is {value!r}",
            "use the file system's DNS name alone: fs-0123456789abcdef0.fsx.REGION.amazonaws.com",
        )


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
    """A shared file system as the nodes of one group mount it; that of all groups is said to the cluster.

    A group with mounts of its own has none of the cluster's, so it names all that it wants:

        hp.Mount(kind="lustre", path="/fsx", file_system=scratch.model.path)
        hp.Mount(kind="openzfs", path="/home", file_system="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com")

    Attributes:
        kind: `lustre` or `openzfs`.
        path: Folder on the node. Defaults to the service's: `/fsx` for Lustre, `/home` for OpenZFS.
        file_system: Path of one of the cluster's mounts, or the DNS name of any other file system. OpenZFS: the DNS
            name, which may be a token such as `zfs.attr_dns_name`.
        mount_name: Mount name of a Lustre file system that is not one of the cluster's mounts, 1 to 8 characters as
            `describe-file-systems` prints it. In a template that is read: path of the file system that it belongs to.

    Source: SageMaker API, ClusterFsxLustreConfig and ClusterFsxOpenZfsConfig (botocore 1.44.8).
    """

    kind: Literal["lustre", "openzfs"]
    path: str | Unknown | None = None
    file_system: str | Unknown
    mount_name: str | Unknown | None = None

    def __post_init__(self) -> None:
        check_one_of("mount kind", self.kind, MOUNT_KINDS)
        if isinstance(self.path, str) and self.path and not is_token(self.path):
            check_limit("number of characters of a mount path", len(self.path), limits.MOUNT_PATH_LENGTH)
        if self.kind == "openzfs" and self.mount_name is not None:
            raise InvalidValue("an OpenZFS mount has a mount name", "leave it out: only Lustre has one")


def check_mount_name(what: str, value: object) -> None:
    """Raises `InvalidValue` unless the value is a mount name of Lustre; tokens and `None` pass."""
    if value is None or is_token(value):
        return
    if not isinstance(value, str) or not _MOUNT_NAME.fullmatch(value):
        raise InvalidValue(
            f"{what} is {value!r}", "use 1 to 8 letters, digits, - or _, as describe-file-systems prints it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenZfs:
    """An FSx for OpenZFS file system, as much of it as nodes need: they mount it by its DNS name.

        hp.Cluster(..., mounts={"/fsx": scratch, "/home": hp.OpenZfs(dns_name=zfs.attr_dns_name)})

    Its security group must let TCP 2049 (NFS) in from the nodes.

    Attributes:
        dns_name: For example `fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com`; a token passes.
    """

    dns_name: str

    def __post_init__(self) -> None:
        check_dns_name("OpenZFS dns_name", self.dns_name)


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
        read_cache: SSD read cache of intelligent tiering: NO_CACHE, PROPORTIONAL_TO_THROUGHPUT_CAPACITY, or
            USER_PROVISIONED with a size. FSx asks for the setting; left out here, our construct writes the one that
            follows from `read_cache_gib`.
        read_cache_gib: Size of that cache in GiB, 32 to 131,072 for each 4,000 MB/s. Left out: in proportion.
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
    read_cache: ReadCache | Unknown | None = None
    read_cache_gib: int | Unknown | None = None
    drive_cache: Literal["NONE", "READ"] | Unknown | None = None

    def __post_init__(self) -> None:
        check_whole("Lustre capacity", self.capacity_gib, low=1, high=2**31 - 1, unit="GiB")
        check_whole("Lustre throughput", self.throughput_mbps_per_tib, low=1, high=2**31 - 1, unit="MB/s/TiB")
        check_whole(
            "Lustre backup retention", self.backup_days, low=0, high=lustre.BACKUP_RETENTION_DAYS_AT_MOST, unit="days"
        )
        check_flag("Lustre efa", self.efa)
        check_one_of("Lustre deployment type", self.deployment_type, DEPLOYMENT_TYPES)
        check_one_of("Lustre storage type", self.storage_type, STORAGE_TYPES)
        check_one_of("Lustre compression", self.compression, lustre.COMPRESSIONS)
        check_one_of("Lustre drive cache", self.drive_cache, lustre.DRIVE_CACHES)
        check_one_of("Lustre read cache", self.read_cache, lustre.READ_CACHE_MODES)
        if self.read_cache == "NO_CACHE" and known(self.read_cache_gib) is not None:
            raise InvalidValue("Lustre read cache is NO_CACHE and has a size", "leave out the one or the other")
        window = self.maintenance
        if isinstance(window, str) and not is_token(window) and not re.fullmatch(lustre.MAINTENANCE_PATTERN, window):
            raise InvalidValue(f"Lustre maintenance is {window!r}", "use d:HH:MM in UTC, Monday is 1: 7:03:00")
        iops = self.metadata_iops
        if isinstance(iops, str) and iops != "AUTOMATIC" and not is_token(iops):
            raise InvalidValue(f"Lustre metadata IOPS is {iops!r}", "use 'AUTOMATIC' or a number")
        self._check_throughput()

    def _check_throughput(self) -> None:
        """Refuses what no type has, and names what this one has."""
        throughput, (low, high) = self.throughput_mbps_per_tib, lustre.THROUGHPUTS_MBPS_PER_TIB
        if isinstance(throughput, int) and not is_token(throughput) and not low <= throughput <= high:
            fix = lustre.throughputs_in_words(str(self.deployment_type), str(self.storage_type))
            raise InvalidValue(f"Lustre throughput is {throughput:,} MB/s/TiB", fix)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRepository:
    """A folder of a Lustre file system that mirrors an S3 prefix.

    Attributes:
        folder: Absolute path in the file system, for example `/datasets`.
        s3_uri: `s3://bucket/prefix/`.
        imports: Events that are brought in by themselves: any of NEW, CHANGED, DELETED.
        exports: Events that are written back by themselves: any of NEW, CHANGED, DELETED.
        batch_import: Whether existing objects are listed when the association is made.

    Raises:
        InvalidValue: if the folder or the URI has not the form of one, or an event is none, or there twice.

    Source: AWS::FSx::DataRepositoryAssociation schema.
    """

    folder: str | Unknown
    s3_uri: str | Unknown
    imports: tuple[str, ...] | Unknown = ("NEW", "CHANGED", "DELETED")
    exports: tuple[str, ...] | Unknown = ()
    batch_import: bool | Unknown = True

    def __post_init__(self) -> None:
        make_tuples(self, "imports", "exports")
        check_flag("repository batch_import", self.batch_import)
        for events in (self.imports, self.exports):
            check_several("repository events", events)
            known_ones = [event for event in events if not is_token(event)] if isinstance(events, tuple) else []
            for event in known_ones:
                check_one_of("repository event", event, REPOSITORY_EVENTS)
            if len(set(known_ones)) < len(known_ones):
                raise InvalidValue(f"repository events are {known_ones!r}", "name each once")
        if not is_token(self.folder) and not str(self.folder).startswith("/"):
            raise InvalidValue(f"repository folder is {self.folder!r}", "use a path that begins with /")
        if not is_token(self.s3_uri) and not str(self.s3_uri).startswith("s3://"):
            raise InvalidValue(f"repository is {self.s3_uri!r}", "use s3://BUCKET/PREFIX/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What CloudFormation does with a resource when it goes.

    Attributes:
        on_delete: DeletionPolicy: Delete, Retain, RetainExceptOnCreate or Snapshot, which FSx does not have.
        on_replace: UpdateReplacePolicy: Delete, Retain or Snapshot, which FSx does not have.
    """

    on_delete: str | Unknown = "Delete"
    on_replace: str | Unknown = "Delete"

    @property
    def outlives_its_stack(self) -> bool:
        """Whether it certainly stays when its stack is deleted."""
        return self.on_delete in {"Retain", "RetainExceptOnCreate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OldLink:
    """A link to S3 in its old form: made with the file system and part of it.

    Attributes:
        import_path: ImportPath: `s3://bucket/prefix`.
        export_path: ExportPath, in the same bucket.
        auto_import: AutoImportPolicy: NONE, NEW, NEW_CHANGED or NEW_CHANGED_DELETED.
        chunk_mib: ImportedFileChunkSize, in MiB.

    Source: FSx API, CreateFileSystemLustreConfiguration (botocore 1.44.8).
    """

    import_path: str | Unknown | None = None
    export_path: str | Unknown | None = None
    auto_import: str | Unknown | None = None
    chunk_mib: int | Unknown | None = None

    @property
    def properties(self) -> tuple[str, ...]:
        """CloudFormation's names of what it certainly has."""
        given = {
            "ImportPath": self.import_path,
            "ExportPath": self.export_path,
            "AutoImportPolicy": self.auto_import,
            "ImportedFileChunkSize": self.chunk_mib,
        }
        return tuple(name for name, value in given.items() if value is not None and value is not UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """Where FSx writes warnings and errors of data repositories.

    Attributes:
        level: DISABLED, WARN_ONLY, ERROR_ONLY or WARN_ERROR.
        destination: ARN of a log group, with `*` for what is decided at deploy; left out means `/aws/fsx/lustre`.

    Source: FSx API, LustreLogCreateConfiguration (botocore 1.44.8).
    """

    level: str | Unknown | None
    destination: str | Unknown | None = None


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
        old_link: Its link to S3 in the old form.
        logs: Where its data repositories are logged, if a template says it.
        copies_tags: Whether its backups get its tags.
        of_other_kinds: Names of those of its properties that are for other kinds of file systems.
        type_left_out: Whether its deployment type is the service's own, because a template gives none.
        kms_key: Path or ARN of the customer key.
        account: Account of its stack.
        region: Region of its stack.
        weak: Names of the properties that reach another stack through `Fn::GetStackOutput`, see `VpcPlacement`.
        depends_on: Paths of what CloudFormation creates before it; `None` where that is not known.
    """

    path: str
    lustre: Lustre
    subnets: tuple[str | Unknown, ...] | Unknown = ()
    security_groups: tuple[str | Unknown, ...] | Unknown = ()
    retention: Retention = Retention()
    repositories: tuple[DataRepository, ...] = ()
    old_link: OldLink | Unknown | None = None
    logs: Logs | Unknown | None = None
    copies_tags: bool | Unknown = False
    of_other_kinds: tuple[str, ...] = ()
    type_left_out: bool = False
    kms_key: str | Unknown | None = None
    account: str | None = None
    region: str | None = None
    weak: tuple[str, ...] = ()
    depends_on: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFileSystem:
    """An FSx file system of the deployment that is not Lustre: of it matters who mounts it, and that it is kept.

    Attributes:
        path: Construct path.
        kind: FileSystemType: OPENZFS, ONTAP or WINDOWS.
        security_groups: Paths or ids.
        retention: What happens to it on delete and on replace.
        kms_key: Path or ARN of the customer key.
        region: Region of its stack.
    """

    path: str
    kind: str
    security_groups: tuple[str | Unknown, ...] | Unknown = ()
    retention: Retention = Retention()
    kms_key: str | Unknown | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """An RDS database of the deployment: an instance, or a cluster of instances, which holds their data.

    Attributes:
        path: Construct path.
        retention: What happens to it on delete and on replace.
        kms_key: Path or ARN of the customer key.
    """

    path: str
    retention: Retention = Retention(on_delete="Snapshot")
    kms_key: str | Unknown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """A data repository association as a resource of a template.

    Attributes:
        path: Construct path.
        file_system: Path of its file system, or its id where it is not part of the deployment. `PATH.ATTRIBUTE` where
            it gives another attribute than the id.
        repository: What it links.
        after: Paths of what CloudFormation creates before it.
        region: Region of its stack.
        bucket_region: Region of the stack that makes its bucket; `None` where that is not known.
    """

    path: str
    file_system: str | Unknown
    repository: DataRepository
    after: frozenset[str] = frozenset()
    region: str | None = None
    bucket_region: str | None = None
