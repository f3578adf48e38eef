"""What can be known about Lustre file systems before anything is created.

FSx refuses what it does not sell only after the network was built.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import lustre as catalog, zones
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import Subnet
from hyperpod_constructs.model.storage import FileSystem, Logs
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._lustre import (
    CAPACITY,
    DEPLOYMENT_TYPE,
    PER_TIB,
    STORAGE_TYPE,
    either,
    kind_of,
    offered,
)
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.tokens import UNKNOWN, known

_LUSTRE_API: Final = "FSx API, CreateFileSystemLustreConfiguration (botocore 1.44.8)"
_DRIVE_CACHE: Final = "DriveCacheType (drive_cache)"
_AUTOMATIC: Final = "{Mode: AUTOMATIC} (metadata_iops='AUTOMATIC')"
_SAFE_NUMBER: Final = "{Mode: USER_PROVISIONED, Iops: 6000} (metadata_iops=6000)"
"""Metadata configurations as a template and as Python have them; the number is what all texts allow for tiering."""
_EFA_GUIDE: Final = "FSx for Lustre user guide, efa-file-systems and getting-started (October 2026)"


@rule(
    "HP3001",
    Severity.ERROR,
    title="Lustre capacity is not one that its type can have",
    because="FSx sells capacity in steps, which are larger with EFA, and refuses what lies between them",
    source=f"FSx API, CreateFileSystem, StorageCapacity; {_EFA_GUIDE}",
)
def lustre_capacity_is_a_step(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in offered(deployment):
        capacity, efa = lustre.capacity_gib, lustre.efa is True and offer.efa
        capacities = offer.capacities_for(known(lustre.throughput_mbps_per_tib), efa=efa)
        if capacities is None or not offer.capacities or capacity is UNKNOWN:
            continue
        at = f" at {lustre.throughput_mbps_per_tib} MB/s/TiB"
        kind = kind_of(file_system) + (f" with EFA{at}" if efa else at if lustre.storage_type == "HDD" else "")
        if capacity is None:
            fix = f"give {CAPACITY}: {capacities}"
            yield Problem(path=file_system.path, message=f"a file system of {kind} has no capacity", fix=fix)
        elif not capacities.allows(capacity):
            fix = f"use {CAPACITY} {either(capacities.around(capacity))} GiB"
            yield Problem(path=file_system.path, message=f"{capacity:,} GiB is not a capacity of {kind}", fix=fix)


@rule(
    "HP3002",
    Severity.ERROR,
    title="Lustre throughput is not one that its type can have",
    because="each persistent type has a list of its own and must name one",
    source=f"{_LUSTRE_API}, PerUnitStorageThroughput; aws/aws-parallelcluster, fsx_validators.py",
)
def lustre_throughput_is_offered(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in offered(deployment):
        got = lustre.throughput_mbps_per_tib
        if got is UNKNOWN or not offer.throughputs or got in offer.throughputs:
            continue
        kind = kind_of(file_system)
        yield Problem(
            path=file_system.path,
            message=f"{kind} has no throughput" if got is None else f"{got:,} MB/s/TiB is not a throughput of {kind}",
            fix=f"use {PER_TIB} {either(offer.throughputs)}",
        )


@rule(
    "HP3003",
    Severity.ERROR,
    title="Lustre storage type does not go with its deployment type or drive cache",
    because="disks exist on PERSISTENT_1 and need a drive cache setting, intelligent tiering exists on PERSISTENT_2",
    source=f"FSx API, CreateFileSystem, StorageType; {_LUSTRE_API}, DriveCacheType",
)
def lustre_types_go_together(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        lustre = file_system.lustre
        storage, set_cache = known(lustre.storage_type), f"{_DRIVE_CACHE} NONE or READ"
        if storage is None:
            continue
        having = [deployment_type for deployment_type, other in catalog.OFFERS if other == storage]
        lacks_cache = storage == "HDD" and lustre.drive_cache is None
        if lustre.deployment_type not in {UNKNOWN, *having}:
            message = f"{lustre.deployment_type} does not exist on {storage}"
            fix = f"use {DEPLOYMENT_TYPE} {' or '.join(having)}" + f" with {set_cache}" * lacks_cache
            fix += f", or {STORAGE_TYPE} SSD"
        elif lacks_cache:
            message, fix = "HDD storage has no drive cache setting", f"give {set_cache}"
        elif storage != "HDD" and lustre.drive_cache == "READ":
            message = f"drive cache is READ on {storage} storage"
            fix = f"leave {_DRIVE_CACHE} out: only HDD has a drive cache"
        else:
            continue
        yield Problem(path=file_system.path, message=message, fix=fix)


@rule(
    "HP3054",
    Severity.WARNING,
    title="Drive cache setting on storage that has none",
    because="the setting is for HDD; AWS's texts do not say whether FSx takes NONE elsewhere, and AWS's own tools "
    "disagree: the CDK refuses it and ParallelCluster lets it pass",
    source=f"{_LUSTRE_API}, DriveCacheType; aws/aws-cdk pull 30207 against aws/aws-parallelcluster pull 2115: conflict",
)
def only_disks_speak_of_a_drive_cache(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, _ in offered(deployment):
        if lustre.storage_type != "HDD" and lustre.drive_cache == "NONE":
            yield Problem(
                path=file_system.path,
                message=f"drive cache is NONE on {lustre.storage_type} storage",
                fix=f"leave {_DRIVE_CACHE} out: only HDD has a drive cache",
            )


@rule(
    "HP3005",
    Severity.ERROR,
    title="Lustre with EFA lacks what EFA needs",
    because="EFA needs PERSISTENT_2 with a metadata configuration and Lustre 2.15, and can be chosen only at creation",
    source=_EFA_GUIDE,
)
def lustre_efa_has_what_it_needs(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in offered(deployment):
        if lustre.efa is not True:
            continue
        if not offer.efa:
            fix = f"use {DEPLOYMENT_TYPE} PERSISTENT_2, or leave EfaEnabled (efa) out"
            yield Problem(path=file_system.path, message=f"{kind_of(file_system)} has no EFA", fix=fix)
            continue
        if lustre.metadata_iops is None:
            tiered = lustre.storage_type == "INTELLIGENT_TIERING"
            fix = f"give MetadataConfiguration {_SAFE_NUMBER if tiered else _AUTOMATIC}"
            yield Problem(path=file_system.path, message="EFA needs a metadata configuration; there is none", fix=fix)
        version = known(lustre.version)
        if version not in {None, catalog.EFA_VERSION} and not catalog.never_existed(str(version)):
            message = f"EFA needs Lustre {catalog.EFA_VERSION}; the version is {lustre.version}"
            fix = f"use FileSystemTypeVersion (version) {catalog.EFA_VERSION!r}"
            yield Problem(path=file_system.path, message=message, fix=fix)


@rule(
    "HP3006",
    Severity.ERROR,
    title="Lustre metadata IOPS cannot be had",
    because="only PERSISTENT_2 takes them, in steps, and not fewer than its capacity brings by itself",
    source=f"{_LUSTRE_API}, MetadataConfiguration; FSx for Lustre user guide, performance (October 2026)",
)
def lustre_metadata_iops_are_offered(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in offered(deployment):
        iops = known(lustre.metadata_iops)
        if iops is None or lustre.storage_type == "INTELLIGENT_TIERING":
            continue
        floor = catalog.automatic_metadata_iops(lustre.capacity_gib) if isinstance(lustre.capacity_gib, int) else 0
        if not offer.metadata:
            got = iops if isinstance(iops, str) else f"{iops:,}"
            message = f"metadata IOPS is {got} on {kind_of(file_system)}"
            fix = f"leave MetadataConfiguration (metadata_iops) out, or use {DEPLOYMENT_TYPE} PERSISTENT_2"
        elif isinstance(iops, str):
            continue
        elif iops not in catalog.METADATA_IOPS:
            message, fix = (
                f"metadata IOPS is {iops:,}",
                f"use {_AUTOMATIC}, or Iops of 1,500, 3,000, 6,000 or a multiple of 12,000 up to 192,000",
            )
        elif iops < floor:
            message = f"metadata IOPS is {iops:,}, but {lustre.capacity_gib:,} GiB brings {floor:,}"
            fix = f"use {_AUTOMATIC}, or Iops of {floor:,} or more"
        else:
            continue
        yield Problem(path=file_system.path, message=message, fix=fix)


@rule(
    "HP3007",
    Severity.ERROR,
    title="Lustre version does not exist or does not go with its type",
    because="there are 2.10, 2.12 and 2.15; 2.10 ends before PERSISTENT_2, and 2.12 has no metadata configuration",
    source="FSx API, CreateFileSystem, FileSystemTypeVersion (botocore 1.44.8)",
)
def lustre_version_goes_with_its_type(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in offered(deployment):
        version = known(lustre.version)
        if version is not None and catalog.never_existed(version):
            fix = _use_version(offer.versions)
            yield Problem(path=file_system.path, message=f"there is no Lustre {version}", fix=fix)
        # What EFA asks for is the stricter rule's business, and a version that is newer than our list may well exist.
        if version not in catalog.VERSIONS or lustre.efa is True:
            continue
        metadata = known(lustre.metadata_iops) is not None
        allowed = offer.versions_for(metadata=metadata)
        if version not in allowed:
            with_metadata = " with a metadata configuration" if metadata else ""
            message = f"Lustre {version} does not go with {kind_of(file_system)}{with_metadata}"
            yield Problem(path=file_system.path, message=message, fix=_use_version(allowed))


def _use_version(versions: tuple[str, ...]) -> str:
    """In quotes, because YAML makes a number of 2.10 and drops its zero."""
    return f"use FileSystemTypeVersion (version) {' or '.join(repr(each) for each in reversed(versions))}"


@rule(
    "HP3009",
    Severity.ERROR,
    title="Customer key on a scratch file system",
    because="scratch types are encrypted with FSx's own key",
    source="FSx API, CreateFileSystem, KmsKeyId; aws/aws-parallelcluster, fsx_validators.py",
)
def scratch_has_no_customer_key(deployment: Deployment) -> Iterator[Problem]:
    for file_system, _, offer in offered(deployment):
        if not offer.customer_key and known(file_system.kms_key) is not None:
            message = f"{kind_of(file_system)} has the customer key {file_system.kms_key}"
            fix = f"leave KmsKeyId (key) out, or use {DEPLOYMENT_TYPE} PERSISTENT_2"
            yield Problem(path=file_system.path, message=message, fix=fix)


@rule(
    "HP3010",
    Severity.ERROR,
    title="Lustre file system has not exactly one subnet",
    because="every Lustre type stands in one zone",
    source="FSx API, CreateFileSystem, SubnetIds (botocore 1.44.8)",
)
def lustre_has_one_subnet(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        subnets = file_system.subnets if isinstance(file_system.subnets, tuple) else (UNKNOWN,)
        # What is decided at deploy may also be left out there.
        count = sum(subnet is not UNKNOWN for subnet in subnets)
        if count > catalog.SUBNETS or (count < catalog.SUBNETS and UNKNOWN not in subnets):
            message = f"the file system has {count} subnets"
            yield Problem(path=file_system.path, message=message, fix="give SubnetIds exactly one, that of its nodes")


@rule(
    "HP3021",
    Severity.WARNING,
    title="Throughput of a scratch file system is given",
    because="scratch types have a fixed throughput, and the field is described for persistent types only; that FSx "
    "refuses it is inferred",
    source=f"{_LUSTRE_API}, PerUnitStorageThroughput; inferred",
)
def scratch_has_no_choice_of_throughput(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in offered(deployment):
        got = known(lustre.throughput_mbps_per_tib)
        if got is not None and offer.capacities and not offer.throughputs:
            yield Problem(
                path=file_system.path,
                message=f"{kind_of(file_system)} has a throughput of {got:,} MB/s/TiB",
                fix=f"leave {PER_TIB} out: scratch types have a fixed throughput",
            )


# --- What goes with it


_ARN_FIELDS: Final = 7
"""`arn:partition:logs:region:account:log-group:name`, the name with what follows it."""


def _log_faults(file_system: FileSystem, logs: Logs) -> Iterator[tuple[str, str]]:
    """Message and fix of each fault of the place where a file system is logged."""
    destination = known(logs.destination)
    if destination is None:
        return
    if logs.level == "DISABLED":
        fix = "leave LogConfiguration.Destination out, or use Level WARN_ERROR"
        yield "logs have the level DISABLED and a destination", fix
        return
    fields = destination.split(":", _ARN_FIELDS - 1)
    wanted = f"set LogConfiguration.Destination to the ARN of a log group whose name begins with {catalog.LOG_GROUPS}, "
    wanted += f"or leave it out: FSx then writes to {catalog.LOG_GROUPS}/lustre"
    if len(fields) < _ARN_FIELDS:
        if "*" not in destination:
            yield f"logs go to {destination}, which is no ARN", wanted
        return
    _, _, service, region, account, kind, name = fields
    begins, undecided, _ = name.partition("*")
    is_log_group = service in {"logs", "*"} and kind in {"log-group", "*"}
    may_begin_so = begins.startswith(catalog.LOG_GROUPS) or (undecided and catalog.LOG_GROUPS.startswith(begins))
    if not is_log_group:
        yield f"logs go to {destination}, which is no log group", wanted
    elif not may_begin_so:
        yield f"logs go to {name}, which does not begin with {catalog.LOG_GROUPS}", wanted
    for what, its, ours in (("Region", region, file_system.region), ("account", account, file_system.account)):
        if ours is not None and "*" not in its and its != ours:
            yield f"logs go to {what} {its}, and the file system is in {ours}", f"use a log group in {ours}"


@rule(
    "HP3024",
    Severity.ERROR,
    title="Logs of a file system go where FSx cannot write",
    because=f"the name of the log group must begin with {catalog.LOG_GROUPS}, which one that CloudFormation makes does "
    "not, and it must be in the account and Region of the file system; a disabled log has no destination",
    source="FSx API, LustreLogCreateConfiguration (botocore 1.44.8)",
)
def logs_go_where_fsx_can_write(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        for message, fix in _log_faults(file_system, file_system.logs) if isinstance(file_system.logs, Logs) else ():
            yield Problem(path=file_system.path, message=message, fix=fix)


@rule(
    "HP3025",
    Severity.WARNING,
    title="Lustre file system has properties of another kind",
    because="they are for OpenZFS, ONTAP or Windows; whether FSx refuses or ignores them is not documented",
    source="FSx API, CreateFileSystem (botocore 1.44.8)",
)
def properties_are_of_lustre(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        if file_system.of_other_kinds:
            names = all_of(file_system.of_other_kinds)
            yield Problem(
                path=file_system.path,
                message=f"a file system of type LUSTRE has {names}",
                fix=f"leave {names} out, or correct FileSystemType",
            )


@rule(
    "HP3026",
    Severity.WARNING,
    title="PERSISTENT_2 in a local zone that may not have it",
    because="not every local zone sells it: seen refused in Los Angeles and accepted in Phoenix; FSx says so only when "
    "the file system is made",
    source="aravneelaws/hyperpod-local-zone-quickstart commit 9d60906",
)
def local_zones_have_the_type(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        if file_system.lustre.deployment_type != "PERSISTENT_2" or not isinstance(file_system.subnets, tuple):
            continue
        for path in file_system.subnets:
            zone = _zone(deployment.subnet(path))
            if zone and zones.is_local(zone) and _metro(zone) not in catalog.METROS_WITH_PERSISTENT_2:
                yield Problem(
                    path=file_system.path,
                    message=f"PERSISTENT_2 stands in local zone {zone}",
                    fix=f"ask AWS whether that zone has it, or use {DEPLOYMENT_TYPE} SCRATCH_2 or PERSISTENT_1",
                )


def _metro(zone: str) -> str | None:
    """The metro area of a local zone: `phx` of `usw2-phx2-az1` and of `us-west-2-phx-2a`."""
    group = zones.border_group(zone)
    return group.split("-")[-2] if group else None


def _zone(subnet: Subnet | None) -> str | None:
    """The zone of a subnet, by id or by name."""
    if subnet is None:
        return None
    if isinstance(subnet.zone, str):
        return subnet.zone
    return subnet.zone_name.text if subnet.zone_name is not None and subnet.zone_name.literal else None
