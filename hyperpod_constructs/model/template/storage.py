"""File systems with their links to S3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from hyperpod_constructs.catalog import lustre, schemas
from hyperpod_constructs.cloudformation.values import Reference, Text, joined, parts_of
from hyperpod_constructs.model._reading import Fields, Node, each, every, optional, otherwise, required, weak
from hyperpod_constructs.model.storage import (
    Association,
    Database,
    DataRepository,
    FileSystem,
    Logs,
    Lustre,
    OldLink,
    OtherFileSystem,
    Retention,
)
from hyperpod_constructs.model.template.resources import Found, Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_OTHER_KINDS: Final = ("OPENZFS", "ONTAP", "WINDOWS")
_TYPE: Final = "AWS::FSx::FileSystem"
_OF_OTHER_KINDS: Final = ("NetworkType", "OntapConfiguration", "OpenZFSConfiguration", "WindowsConfiguration")
"""Properties that Lustre does not have. Source: FSx API, CreateFileSystem (botocore 1.44.8)."""
_ONLY_IN_THE_API: Final = ("RootSquashConfiguration",)
"""Properties that CloudFormation does not have (2026-10-20): nothing else can be meant by them."""


def file_systems(resources: Resources, linked: tuple[Association, ...], region: str | None) -> tuple[FileSystem, ...]:
    """The file systems of an assembly that are certain to be Lustre.

    Args:
        resources: Where to find them.
        linked: The data repository associations of the assembly.
        region: Region of stacks that do not fix theirs.
    """
    log_groups = {found.path: _log_group_name(found) for found in resources.of("AWS::Logs::LogGroup")}
    reader = _Reader(resources=resources, log_groups=log_groups, linked=linked, region=region)
    return tuple(reader.file_system(found) for found in resources.of(_TYPE) if _kind(found) == "LUSTRE")


def other_file_systems(resources: Resources, region: str | None) -> tuple[OtherFileSystem, ...]:
    """The file systems of an assembly that are certain to be of another kind than Lustre; `region` as above."""
    return tuple(
        found.properties.build(
            OtherFileSystem,
            _OTHER,
            path=found.path,
            kind=kind,
            retention=found.retention,
            region=found.resource.stack.region or region,
        )
        for found in resources.of(_TYPE)
        if isinstance(kind := _kind(found), str) and kind in _OTHER_KINDS
    )


def databases(resources: Resources) -> tuple[Database, ...]:
    """The RDS databases of an assembly; an instance of a cluster holds no data of its own."""
    alone = (each for each in resources.of("AWS::RDS::DBInstance") if not each.properties["DBClusterIdentifier"].given)
    return tuple(
        Database(path=found.path, retention=_of_database(found), kms_key=found.properties["KmsKeyId"].path())
        for found in (*alone, *resources.of("AWS::RDS::DBCluster"))
    )


def _of_database(found: Found) -> Retention:
    """The policies of a database, of which a snapshot is kept on delete where the template says nothing."""
    said = found.resource.deletion_policy is not None
    return found.retention if said else replace(found.retention, on_delete="Snapshot")


def associations(resources: Resources, region: str | None) -> tuple[Association, ...]:
    """The data repository associations that an assembly certainly makes."""
    bucket_regions = _bucket_regions(resources)
    return tuple(
        found.properties.build(
            Association,
            _ASSOCIATION,
            path=found.path,
            repository=found.properties.build(DataRepository, _REPOSITORY),
            after=resources.created_before(found),
            region=found.resource.stack.region or region,
            bucket_region=_bucket_region(found.properties["DataRepositoryPath"], bucket_regions),
        )
        for found in resources.of("AWS::FSx::DataRepositoryAssociation")
        if found.certain
    )


def owner_of(node: Node, attribute: str | None) -> str | Unknown | None:
    """The resource of which a value is this attribute, or of whose text it is made.

    Args:
        node: The value.
        attribute: The attribute that is wanted; `None` for what `Ref` gives.

    Returns:
        Its path; `PATH.ATTRIBUTE` where the value is another attribute of it; text that names no resource as it is.
    """
    value = node.value
    if not isinstance(value, Reference):
        return node.path()
    path = node.reading.path_of(value)
    if path is None:
        return UNKNOWN
    return path if value.attribute == attribute else f"{path}.{value.attribute or 'Ref'}"


def _kind(found: Found) -> str | Unknown | None:
    """What a file system is meant to be: that the words are in capitals is said where all words are checked."""
    kind = found.properties["FileSystemType"].text()
    return kind.upper() if isinstance(kind, str) else kind


def _may_say_more(properties: Node) -> bool:
    """Whether a file system has properties whose names we do not know: what seems left out may stand under them.

    Such a name is a slip, which is reported where all names are checked, or newer than our list.
    """
    definitions = schemas.definitions(_TYPE)
    sections = {"root": properties, "LustreConfiguration": properties["LustreConfiguration"]}
    return any(
        not names.keys() <= {*definitions[section]["properties"], *_ONLY_IN_THE_API}
        for section, node in sections.items()
        if isinstance(names := node.mapping(), dict)
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """What file systems are read with besides their own properties.

    Attributes:
        resources: All resources of the assembly.
        log_groups: Names of log groups by path, with `*` for what is decided at deploy.
        linked: The data repository associations of the assembly.
        region: Region of stacks that do not fix theirs.
    """

    resources: Resources
    log_groups: Mapping[str, str | Unknown]
    linked: tuple[Association, ...]
    region: str | None

    def file_system(self, found: Found) -> FileSystem:
        """A Lustre file system with its associations."""
        # What is left out beside a backup is as in the backup, and only the account knows that.
        more = found.properties["BackupId"].given or _may_say_more(found.properties)
        properties = replace(found.properties, open=True) if more else found.properties
        stack = found.resource.stack
        _check_root_squash(found.properties["LustreConfiguration"]["RootSquashConfiguration"])
        return found.properties.build(
            FileSystem,
            _FILE_SYSTEM,
            path=found.path,
            lustre=properties.build(Lustre, _LUSTRE),
            retention=found.retention,
            repositories=tuple(each.repository for each in self.linked if each.file_system == found.path),
            logs=found.properties.at("LustreConfiguration.LogConfiguration").optional(self._logs),
            of_other_kinds=_certain(found.properties, *_OF_OTHER_KINDS),
            type_left_out=not found.properties.at("LustreConfiguration.DeploymentType").given,
            account=stack.account,
            region=stack.region or self.region,
            depends_on=self.resources.created_before(found),
        )

    def _logs(self, node: Node) -> Logs:
        return Logs(level=node["Level"].text(), destination=self._destination(node["Destination"]))

    def _destination(self, node: Node) -> str | Unknown | None:
        """The ARN of a log group with its name in it, as far as the assembly gives the name."""
        value = node.value
        if isinstance(value, Reference) and value.attribute == "Arn":
            name = self._name(node, value)
            return UNKNOWN if name is None else f"arn:*:logs:*:*:log-group:{name}"
        if isinstance(value, Text):
            parts = (self._name(node, part) or part if isinstance(part, Reference) else part for part in value.parts)
            return replace(node, value=joined(parts)).pattern()
        return node.text()

    def _name(self, node: Node, reference: Reference) -> str | None:
        name = self.log_groups.get(node.reading.path_of(reference) or "")
        return name if isinstance(name, str) else None


def _check_root_squash(node: Node) -> None:
    """Reports what only the API has, and says how to have it."""
    if node.given and not node.undecided:
        fix = "leave it out and set it with `aws fsx update-file-system` once the file system is there"
        node.report("is in the API of FSx but not in CloudFormation (2026-10-20)", fix, certain=False)


def _log_group_name(found: Found) -> str | Unknown:
    """The name of a log group; CloudFormation makes one of the stack's name and the logical id where none is given."""
    made = f"{found.resource.stack.id}-{found.resource.logical_id}-*"
    name = found.properties["LogGroupName"].pattern()
    return made if name is None else name


def _certain(node: Node, *names: str) -> tuple[str, ...]:
    """Those of some properties that certainly stand there."""
    return tuple(name for name in names if node[name].given and not node[name].undecided)


def _metadata_iops(node: Node) -> int | Literal["AUTOMATIC"] | Unknown | None:
    mode = node["Mode"].must(lambda given: given.one_of(*lustre.METADATA_MODES))
    if mode == "AUTOMATIC":
        iops = node["Iops"]
        if iops.given and not iops.undecided:
            iops.report("is given beside Mode AUTOMATIC", "leave it out, or use Mode USER_PROVISIONED")
        return "AUTOMATIC"
    return UNKNOWN if mode is UNKNOWN else node["Iops"].must(Node.whole)


def _read_cache(node: Node) -> object:
    return node["SizingMode"].must(lambda given: given.one_of(*lustre.READ_CACHE_MODES))


def _read_cache_gib(node: Node) -> int | Unknown | None:
    mode = node["SizingMode"].text()
    size = node["SizeGiB"]
    if mode == "USER_PROVISIONED":
        return size.must(Node.whole)
    if mode in lustre.READ_CACHE_MODES and size.given and not size.undecided:
        fix = "leave it out, or use SizingMode USER_PROVISIONED"
        size.report(f"is given beside SizingMode {mode}, which has no size of its own", fix, certain=False)
    return None if mode in lustre.READ_CACHE_MODES else UNKNOWN


def _old_link(node: Node) -> OldLink | Unknown | None:
    """The link in the file system itself, if it has any of its properties."""
    found = node.build(OldLink, _OLD_LINK)
    return None if found == OldLink() else found


def _address(node: Node) -> str | Unknown | None:
    """An S3 address with the name of its bucket, or with what stands for a name that CloudFormation makes."""
    value = node.value
    if not isinstance(value, Reference | Text):
        return node.text()
    text_of = node.reading.text_of
    parts = (text_of(part) or part if isinstance(part, Reference) else part for part in parts_of(value))
    return replace(node, value=joined(parts)).text()


def _bucket_regions(resources: Resources) -> dict[str, str]:
    """Region by name of each bucket that the assembly makes in a Region which it fixes."""
    found: dict[str, str] = {}
    for bucket in resources.of("AWS::S3::Bucket"):
        name, region = resources.bucket_name(bucket.resource), bucket.resource.stack.region
        if name is not None and region is not None:
            found[name] = region
    return found


def _bucket_region(address: Node, regions: Mapping[str, str]) -> str | None:
    uri = _address(address)
    return regions.get(uri.removeprefix("s3://").partition("/")[0]) if isinstance(uri, str) else None


_LUSTRE: Final[Fields] = {
    # Defaults are those of the service, not those of our own values. Source: FSx API, CreateFileSystem.
    # The types come first, because they decide which throughputs a message names.
    "deployment_type": ("LustreConfiguration.DeploymentType", otherwise(Node.text, default="SCRATCH_1")),
    "storage_type": ("StorageType", otherwise(Node.text, default="SSD")),
    "capacity_gib": ("StorageCapacity", Node.whole),
    "throughput_mbps_per_tib": ("LustreConfiguration.PerUnitStorageThroughput", Node.whole),
    "version": ("FileSystemTypeVersion", Node.text),
    "efa": ("LustreConfiguration.EfaEnabled", otherwise(Node.flag, default=False)),
    "metadata_iops": ("LustreConfiguration.MetadataConfiguration", optional(_metadata_iops)),
    "compression": ("LustreConfiguration.DataCompressionType", otherwise(Node.text, default="NONE")),
    "backup_days": ("LustreConfiguration.AutomaticBackupRetentionDays", otherwise(Node.whole, default=0)),
    "maintenance": ("LustreConfiguration.WeeklyMaintenanceStartTime", Node.text),
    "throughput_mbps": ("LustreConfiguration.ThroughputCapacity", Node.whole),
    "read_cache": ("LustreConfiguration.DataReadCacheConfiguration", optional(_read_cache)),
    "read_cache_gib": ("LustreConfiguration.DataReadCacheConfiguration", optional(_read_cache_gib)),
    "drive_cache": ("LustreConfiguration.DriveCacheType", Node.text),
}
_FILE_SYSTEM: Final[Fields] = {
    "weak": ("", weak("SubnetIds", "SecurityGroupIds")),
    "subnets": ("SubnetIds", required(each(Node.path))),
    "security_groups": ("SecurityGroupIds", each(Node.path)),
    "kms_key": ("KmsKeyId", Node.path),
    "old_link": ("LustreConfiguration", optional(_old_link)),
    "copies_tags": ("LustreConfiguration.CopyTagsToBackups", otherwise(Node.flag, default=False)),
}
_OLD_LINK: Final[Fields] = {
    "import_path": ("ImportPath", _address),
    "export_path": ("ExportPath", _address),
    "auto_import": ("AutoImportPolicy", Node.text),
    "chunk_mib": ("ImportedFileChunkSize", Node.whole),
}
_OTHER: Final[Fields] = {
    "security_groups": ("SecurityGroupIds", each(Node.path)),
    "kms_key": ("KmsKeyId", Node.path),
}
_ASSOCIATION: Final[Fields] = {
    "file_system": ("FileSystemId", required(lambda node: owner_of(node, None))),
}
_REPOSITORY: Final[Fields] = {
    "folder": ("FileSystemPath", required(Node.text)),
    "s3_uri": ("DataRepositoryPath", required(_address)),
    "imports": ("S3.AutoImportPolicy.Events", every(Node.text)),
    "exports": ("S3.AutoExportPolicy.Events", every(Node.text)),
    "batch_import": ("BatchImportMetaDataOnCreate", otherwise(Node.flag, default=False)),
}
