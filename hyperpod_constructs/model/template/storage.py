"""File systems with their repositories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

from hyperpod_constructs.catalog import lustre
from hyperpod_constructs.model._reading import Fields, Node, each, every, optional, otherwise, required, weak
from hyperpod_constructs.model.storage import DataRepository, FileSystem, Lustre
from hyperpod_constructs.model.template.resources import Found, Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown


def file_systems(resources: Resources, region: str | None) -> tuple[FileSystem, ...]:
    """The Lustre file systems of an assembly.

    Args:
        resources: Where to find them.
        region: Region of stacks that do not fix theirs.
    """
    repositories: dict[str, list[DataRepository]] = {}
    for found in resources.of("AWS::FSx::DataRepositoryAssociation"):
        file_system = found.properties["FileSystemId"].path()
        if isinstance(file_system, str) and found.certain:
            repository = found.properties.build(DataRepository, _REPOSITORY)
            repositories.setdefault(file_system, []).append(repository)
    return tuple(_file_system(found, repositories.get(found.path, []), region) for found in _lustre(resources))


def _lustre(resources: Resources) -> Iterator[Found]:
    """The file systems that are certain to be Lustre."""
    for found in resources.of("AWS::FSx::FileSystem"):
        if found.properties["FileSystemType"].text() == "LUSTRE":
            yield found


def _file_system(found: Found, repositories: list[DataRepository], region: str | None) -> FileSystem:
    # What is left out beside a backup is as in the backup, and only the account knows that.
    from_backup = found.properties["BackupId"].given
    properties = replace(found.properties, open=True) if from_backup else found.properties
    bought = properties.build(Lustre, _LUSTRE)
    return found.properties.build(
        FileSystem,
        _FILE_SYSTEM,
        path=found.path,
        lustre=bought,
        retention=found.retention,
        repositories=tuple(repositories),
        region=found.resource.stack.region or region,
    )


def _metadata_iops(node: Node) -> int | Literal["AUTOMATIC"] | Unknown | None:
    mode = node["Mode"].must(lambda given: given.one_of(*lustre.METADATA_MODES))
    if mode == "AUTOMATIC":
        return "AUTOMATIC"
    return UNKNOWN if mode is UNKNOWN else node["Iops"].must(Node.whole)


def _read_cache(node: Node) -> int | Unknown | None:
    """The size of the cache; not known where it is left out on purpose, which the model cannot say."""
    mode = node["SizingMode"].one_of(*lustre.READ_CACHE_MODES)
    if mode == "PROPORTIONAL_TO_THROUGHPUT_CAPACITY":
        return None
    return node["SizeGiB"].whole() if mode == "USER_PROVISIONED" else UNKNOWN


_LUSTRE: Final[Fields] = {
    # Defaults are those of the service, not those of our own values. Source: FSx API, CreateFileSystem.
    "capacity_gib": ("StorageCapacity", Node.whole),
    "throughput_mbps_per_tib": ("LustreConfiguration.PerUnitStorageThroughput", Node.whole),
    "deployment_type": ("LustreConfiguration.DeploymentType", otherwise(Node.text, default="SCRATCH_1")),
    "storage_type": ("StorageType", otherwise(Node.text, default="SSD")),
    "version": ("FileSystemTypeVersion", Node.text),
    "efa": ("LustreConfiguration.EfaEnabled", otherwise(Node.flag, default=False)),
    "metadata_iops": ("LustreConfiguration.MetadataConfiguration", optional(_metadata_iops)),
    "compression": ("LustreConfiguration.DataCompressionType", otherwise(Node.text, default="NONE")),
    "backup_days": ("LustreConfiguration.AutomaticBackupRetentionDays", otherwise(Node.whole, default=0)),
    "maintenance": ("LustreConfiguration.WeeklyMaintenanceStartTime", Node.text),
    "throughput_mbps": ("LustreConfiguration.ThroughputCapacity", Node.whole),
    "read_cache_gib": ("LustreConfiguration.DataReadCacheConfiguration", optional(_read_cache)),
    "drive_cache": ("LustreConfiguration.DriveCacheType", Node.text),
}
_FILE_SYSTEM: Final[Fields] = {
    "weak": ("", weak("SubnetIds", "SecurityGroupIds")),
    "subnets": ("SubnetIds", each(Node.path)),
    "security_groups": ("SecurityGroupIds", each(Node.path)),
    "kms_key": ("KmsKeyId", Node.path),
}
_REPOSITORY: Final[Fields] = {
    "folder": ("FileSystemPath", required(Node.text)),
    "s3_uri": ("DataRepositoryPath", required(Node.text)),
    "imports": ("S3.AutoImportPolicy.Events", every(Node.text)),
    "exports": ("S3.AutoExportPolicy.Events", every(Node.text)),
    "batch_import": ("BatchImportMetaDataOnCreate", otherwise(Node.flag, default=False)),
}
