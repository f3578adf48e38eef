"""What can be known about intelligent tiering, Lustre storage that is bought as throughput and grows by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import lustre as catalog
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.storage import FileSystem, Lustre
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._lustre import CAPACITY, PER_TIB, STORAGE_TYPE, THROUGHPUT, either, offered
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.tokens import UNKNOWN, known

_LUSTRE_API: Final = "FSx API, CreateFileSystemLustreConfiguration (botocore 1.44.8)"


def _tiered(deployment: Deployment) -> Iterator[tuple[FileSystem, Lustre]]:
    """File systems with intelligent tiering."""
    for file_system, lustre, _ in offered(deployment):
        if lustre.storage_type == "INTELLIGENT_TIERING":
            yield file_system, lustre


_STEPS: Final = (
    f"a multiple of {catalog.TIERING_THROUGHPUT_STEP_MBPS:,} up to {catalog.TIERING_THROUGHPUT_AT_MOST_MBPS:,} MB/s"
)


def _tiering_faults(lustre: Lustre) -> Iterator[tuple[str, str]]:
    """Message and fix of each value that intelligent tiering does not take."""
    step, most = catalog.TIERING_THROUGHPUT_STEP_MBPS, catalog.TIERING_THROUGHPUT_AT_MOST_MBPS
    throughput = known(lustre.throughput_mbps)
    if throughput is None:
        return
    if throughput < step or throughput % step or throughput > most:
        yield f"intelligent tiering has a throughput of {throughput:,} MB/s", f"use {THROUGHPUT}, {_STEPS}"
    elif isinstance(lustre.read_cache_gib, int):
        low, high = catalog.read_cache_gib(throughput)
        if not low <= lustre.read_cache_gib <= high:
            message = f"the read cache is {lustre.read_cache_gib:,} GiB at {throughput:,} MB/s"
            fix = f"use SizeGiB (read_cache_gib) from {low:,} to {high:,}, or SizingMode "
            yield message, f"{fix}PROPORTIONAL_TO_THROUGHPUT_CAPACITY (no read_cache_gib)"


@rule(
    "HP3023",
    Severity.ERROR,
    title="Intelligent tiering does not say whether it has a read cache",
    because="FSx requires the setting with this storage type, NO_CACHE included",
    source=f"{_LUSTRE_API}, DataReadCacheConfiguration",
)
def tiering_says_how_it_caches(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre in _tiered(deployment):
        if lustre.read_cache is None:
            yield Problem(
                path=file_system.path,
                message="intelligent tiering has no read cache setting (DataReadCacheConfiguration)",
                fix="give it SizingMode (read_cache) PROPORTIONAL_TO_THROUGHPUT_CAPACITY, NO_CACHE, or "
                "USER_PROVISIONED with SizeGiB (read_cache_gib)",
            )


@rule(
    "HP3004",
    Severity.ERROR,
    title="Throughput or read cache of intelligent tiering is not one that can be bought",
    because="throughput comes in steps, in CloudFormation none below 4,000 MB/s, and bounds the size of the cache",
    source=f"{_LUSTRE_API}, ThroughputCapacity and DataReadCacheConfiguration; CloudFormation's minimum of 4,000",
)
def tiering_is_bought_as_throughput(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre in _tiered(deployment):
        for message, fix in _tiering_faults(lustre):
            yield Problem(path=file_system.path, message=message, fix=fix)


@rule(
    "HP3019",
    Severity.WARNING,
    title="Metadata IOPS of intelligent tiering on which AWS's texts disagree",
    because="the guide allows 6,000 or 12,000 only, the newer API text allows more: what both allow is safe",
    source="FSx for Lustre user guide (October 2026) against FSx API (botocore 1.44.8): conflict",
)
def tiering_metadata_is_undisputed(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre in _tiered(deployment):
        iops = lustre.metadata_iops
        if iops is UNKNOWN or iops in catalog.TIERING_METADATA_IOPS:
            continue
        got = "is not set" if iops is None else f"is {iops}" if isinstance(iops, str) else f"is {iops:,}"
        yield Problem(
            path=file_system.path,
            message=f"metadata IOPS of intelligent tiering {got}",
            fix=f"give MetadataConfiguration Mode USER_PROVISIONED and Iops (metadata_iops) "
            f"{either(catalog.TIERING_METADATA_IOPS)}",
        )


@rule(
    "HP3020",
    Severity.WARNING,
    title="Intelligent tiering is bought in the way of other storage",
    because="its storage grows by itself and it is bought as throughput; that FSx refuses a capacity, or a request "
    "without throughput, follows from its texts, but none of them says it",
    source=f"FSx API, CreateFileSystem, StorageCapacity; {_LUSTRE_API}, ThroughputCapacity; inferred",
)
def tiering_has_throughput_and_no_capacity(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre in _tiered(deployment):
        got, without = [], []
        if (capacity := known(lustre.capacity_gib)) is not None:
            got.append(f"a capacity of {capacity:,} GiB")
            without.append(CAPACITY)
        if (per_tib := known(lustre.throughput_mbps_per_tib)) is not None:
            got.append(f"a throughput of {per_tib:,} MB/s/TiB")
            without.append(PER_TIB)
        fixes = [f"leave {' and '.join(without)} out"] if without else []
        if lustre.throughput_mbps is None:
            got.append("no throughput of the whole file system" if per_tib else "no throughput")
            fixes.append(f"give {THROUGHPUT}, {_STEPS}")
        if got:
            message = f"intelligent tiering has {all_of(got)}"
            yield Problem(path=file_system.path, message=message, fix=" and ".join(fixes))


@rule(
    "HP3027",
    Severity.WARNING,
    title="Other storage has fields of intelligent tiering",
    because="throughput of the whole file system and its read cache are described for intelligent tiering only; that "
    "FSx refuses them elsewhere is inferred",
    source=f"{_LUSTRE_API}, ThroughputCapacity and DataReadCacheConfiguration; inferred",
)
def only_tiering_has_its_fields(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, _ in offered(deployment):
        fields = {
            THROUGHPUT: lustre.throughput_mbps,
            "DataReadCacheConfiguration (read_cache)": lustre.read_cache,
        }
        given = [name for name, value in fields.items() if known(value) is not None]
        if given and lustre.storage_type != "INTELLIGENT_TIERING":
            yield Problem(
                path=file_system.path,
                message=f"{lustre.storage_type} storage has {all_of(given)}",
                fix=f"leave {'it' if len(given) == 1 else 'them'} out, or use {STORAGE_TYPE} INTELLIGENT_TIERING",
            )
