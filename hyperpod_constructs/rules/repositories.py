"""What can be known about links between Lustre file systems and S3.

FSx makes associations one after the other once the file system is there, so that a mistake in the last of them shows
after half an hour.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from hyperpod_constructs.catalog import lustre as catalog
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.storage import Association, DataRepository, FileSystem, OldLink
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._lustre import DEPLOYMENT_TYPE, STORAGE_TYPE, is_linked, kind_of, offered
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.tokens import UNKNOWN

_LUSTRE_API: Final = "FSx API, CreateFileSystemLustreConfiguration (botocore 1.44.8)"
_LINKABLE_VERSION: Final = "FileSystemTypeVersion (version) '2.15'"
_ID: Final = re.compile(r"fs-[0-9a-f]+")


def _within(folder: str, other: str) -> bool:
    """Whether a folder is another or lies in it; both as paths with or without slashes at their ends."""
    return f"{folder.strip('/')}/".startswith(f"{other.strip('/')}/".removeprefix("/"))


def _overlaps(places: Iterable[str | object]) -> Iterator[tuple[str, str]]:
    """Pairs of which one is or holds the other."""
    for one, other in combinations([place for place in places if isinstance(place, str)], 2):
        if _within(one, other) or _within(other, one):
            yield one, other


def _overlap_faults(linked: Sequence[DataRepository]) -> Iterator[tuple[str, str]]:
    """Message and fix of each fault of the links of one file system, whatever the file system is."""
    most = catalog.ASSOCIATIONS_AT_MOST
    if len(linked) > most:
        yield f"the file system has {len(linked)} links to S3", f"use at most {most}"
    for one, other in _overlaps(each.folder for each in linked):
        fix = "use FileSystemPath (folder) of which none is or holds another"
        yield f"folders {one} and {other} overlap", fix
    for one, other in _overlaps(each.s3_uri for each in linked):
        yield f"{one} and {other} overlap", "use DataRepositoryPath (s3_uri) of which none is or holds another"


def _type_faults(file_system: FileSystem, offer: catalog.Offer) -> Iterator[tuple[str, str]]:
    """Message and fix where a type or version cannot be linked."""
    lustre = file_system.lustre
    if not offer.repository:
        tiered = lustre.storage_type == "INTELLIGENT_TIERING"
        others = f"{DEPLOYMENT_TYPE} SCRATCH_2, PERSISTENT_1 or PERSISTENT_2 with {_LINKABLE_VERSION}"
        fix = f"use {f'{STORAGE_TYPE} SSD' if tiered else others}, or leave the links out"
        yield f"{kind_of(file_system)} cannot be linked to S3", fix
    elif UNKNOWN not in {lustre.version, lustre.metadata_iops}:
        version = lustre.version or offer.version_without_choice(metadata=lustre.metadata_iops is not None)
        # That a type has no such version is another rule's business.
        if version == "2.10" and version in offer.versions:
            said = "2.10" if lustre.version else "2.10, the version that is taken where none is given,"
            yield f"Lustre {said} cannot be linked to S3", f"use {_LINKABLE_VERSION}"


def _linked_elsewhere(deployment: Deployment) -> Iterator[tuple[str, list[Association]]]:
    """Associations of file systems that are not part of the deployment, by id."""
    found: dict[str, list[Association]] = {}
    for each in deployment.associations:
        if isinstance(each.file_system, str) and _ID.fullmatch(each.file_system):
            found.setdefault(each.file_system, []).append(each)
    yield from found.items()


@rule(
    "HP3017",
    Severity.ERROR,
    title="File system cannot be linked to S3 like this",
    because="SCRATCH_1, intelligent tiering and Lustre 2.10 take no data repository association; there are at most 8, "
    "and neither folders nor prefixes may overlap, so that / goes with no other",
    source="FSx API, CreateDataRepositoryAssociation; FSx for Lustre user guide, getting-started (October 2026)",
)
def repositories_can_be_linked(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        for message, fix in _overlap_faults(file_system.repositories):
            yield Problem(path=file_system.path, message=message, fix=fix)
    for file_system, lustre, offer in offered(deployment):
        in_any_form = lustre.storage_type == "INTELLIGENT_TIERING" and is_linked(file_system)
        for message, fix in _type_faults(file_system, offer) if file_system.repositories or in_any_form else ():
            yield Problem(path=file_system.path, message=message, fix=fix)
    for file_system_id, linked in _linked_elsewhere(deployment):
        for message, fix in _overlap_faults([each.repository for each in linked]):
            yield Problem(path=linked[0].path, message=f"{file_system_id}: {message}", fix=fix)


# --- Two forms of a link


def _old_links(deployment: Deployment) -> Iterator[tuple[FileSystem, OldLink]]:
    """File systems that have properties of a link in its old form."""
    for file_system in deployment.file_systems:
        if isinstance(file_system.old_link, OldLink) and file_system.old_link.properties:
            yield file_system, file_system.old_link


@rule(
    "HP3032",
    Severity.ERROR,
    title="File system is linked to S3 in the old and in the new form",
    because="with data repository associations there can be no ImportPath, ExportPath, AutoImportPolicy or "
    "ImportedFileChunkSize",
    source=_LUSTRE_API,
)
def links_have_one_form(deployment: Deployment) -> Iterator[Problem]:
    for file_system, old in _old_links(deployment):
        if file_system.repositories:
            count = len(file_system.repositories)
            yield Problem(
                path=file_system.path,
                message=f"the file system has {all_of(old.properties)} and {count} data repository "
                f"association{'s' * (count != 1)}",
                fix=f"leave out {all_of(old.properties)}: an association links each prefix",
            )


def _old_link_faults(old: OldLink) -> Iterator[tuple[str, str]]:
    """Message and fix of each fault of a link in its old form."""
    others = [name for name in old.properties if name != "ImportPath"]
    if old.auto_import == "NONE":
        others.remove("AutoImportPolicy")
    if old.import_path is None:
        if others:
            yield f"{all_of(others)} without ImportPath", f"give ImportPath, or leave out {all_of(others)}"
        return
    buckets = [_bucket(path) for path in (old.import_path, old.export_path) if isinstance(path, str)]
    if len(set(buckets)) > 1:
        message = f"ImportPath is in bucket {buckets[0]} and ExportPath in bucket {buckets[1]}"
        yield message, "export to another prefix of the bucket of ImportPath"


def _bucket(uri: str) -> str:
    return uri.removeprefix("s3://").partition("/")[0]


@rule(
    "HP3033",
    Severity.ERROR,
    title="Link to S3 in its old form is incomplete or in two buckets",
    because="the other properties say what is done with ImportPath, and exports go to its bucket",
    source=f"{_LUSTRE_API}, ExportPath; aws/aws-parallelcluster, fsx_validators.py",
)
def old_links_are_complete(deployment: Deployment) -> Iterator[Problem]:
    for file_system, old in _old_links(deployment):
        # With associations all of it has to go.
        for message, fix in () if file_system.repositories else _old_link_faults(old):
            yield Problem(path=file_system.path, message=message, fix=fix)


@rule(
    "HP3037",
    Severity.WARNING,
    title="PERSISTENT_2 is linked to S3 in the old form",
    because="older texts of AWS refuse that on PERSISTENT_2, newer ones no longer speak of it (conflict)",
    source="FSx API, CreateFileSystemLustreConfiguration, as of 2023 (Amazonka 2.0) against botocore 1.44.8",
)
def persistent_2_is_linked_by_associations(deployment: Deployment) -> Iterator[Problem]:
    for file_system, old in _old_links(deployment):
        if (
            file_system.lustre.deployment_type == "PERSISTENT_2"
            and file_system.lustre.storage_type == "SSD"
            and "ImportPath" in old.properties
            and not file_system.repositories
        ):
            yield Problem(
                path=file_system.path,
                message="PERSISTENT_2 has ImportPath",
                fix="link the prefix with an AWS::FSx::DataRepositoryAssociation",
            )


# --- Associations


def _of_one_file_system(deployment: Deployment) -> Iterator[tuple[str, str, list[Association]]]:
    """Path of findings, how a message calls the file system, and its associations, where it has several."""
    found: dict[str, list[Association]] = {}
    for each in deployment.associations:
        if isinstance(each.file_system, str):
            found.setdefault(each.file_system, []).append(each)
    for file_system, linked in found.items():
        if len(linked) > 1:
            known_path = deployment.file_system(file_system) is not None
            yield file_system if known_path else linked[0].path, file_system, linked


@rule(
    "HP3034",
    Severity.WARNING,
    title="Associations of one file system do not wait for each other",
    because="FSx works on one at a time; what comes meanwhile is queued, throttled or times out",
    source="FSx for Lustre user guide, create-dra-linked-data-repo",
)
def associations_are_made_in_turn(deployment: Deployment) -> Iterator[Problem]:
    for path, file_system, linked in _of_one_file_system(deployment):
        at_once = [
            (one, other)
            for one, other in combinations(linked, 2)
            if one.path not in other.after and other.path not in one.after
        ]
        if at_once:
            names = dict.fromkeys(each.path for pair in at_once for each in pair)
            yield Problem(
                path=path,
                message=f"nothing says in which order {all_of(names)} of {file_system} are made",
                fix="let each of them depend on the one before (DependsOn; CDK: node.add_dependency)",
            )


@rule(
    "HP3035",
    Severity.WARNING,
    title="File system is linked to a bucket of another Region",
    because="FSx follows new objects only in buckets of its own Region (unverified for associations), and every byte "
    "that crosses Regions is charged",
    source="aws/aws-parallelcluster, fsx_validators.py, FsxAutoImportValidator",
)
def buckets_are_in_the_region(deployment: Deployment) -> Iterator[Problem]:
    for each in deployment.associations:
        if each.region is not None and each.bucket_region not in {None, each.region}:
            yield Problem(
                path=each.path,
                message=f"{each.repository.s3_uri} is in {each.bucket_region}, the file system in {each.region}",
                fix=f"link a bucket in {each.region}",
            )


@rule(
    "HP3036",
    Severity.ERROR,
    title="Association does not name a Lustre file system by its id",
    because="FileSystemId is the id of a Lustre file system; other kinds have no links to S3",
    source="FSx API, CreateDataRepositoryAssociation (botocore 1.44.8)",
)
def associations_name_lustre_by_id(deployment: Deployment) -> Iterator[Problem]:
    for each in deployment.associations:
        other = deployment.other_file_system(each.file_system)
        path, _, attribute = str(each.file_system).rpartition(".")
        if other is not None:
            message = f"FileSystemId is that of {other.path}, which is {other.kind}"
            fix = "use the id of a file system of type LUSTRE as FileSystemId"
            yield Problem(path=each.path, message=message, fix=fix)
        elif deployment.file_system(path) is not None:
            message = f"FileSystemId is the {attribute} of {path}"
            yield Problem(path=each.path, message=message, fix="use its id: what !Ref gives (CDK: ref)")
