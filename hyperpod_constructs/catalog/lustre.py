"""Which FSx for Lustre file systems exist, because FSx refuses the others only after the network was built.

Source, unless a name says otherwise: FSx API, CreateFileSystem and CreateFileSystemLustreConfiguration (botocore
1.44.8, October 2026).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPRESSIONS: Final = ("NONE", "LZ4")
DRIVE_CACHES: Final = ("NONE", "READ")
"""DriveCacheType, which HDD file systems must set and others cannot."""
METADATA_MODES: Final = ("AUTOMATIC", "USER_PROVISIONED")
READ_CACHE_MODES: Final = ("NO_CACHE", "USER_PROVISIONED", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY")
"""DataReadCacheConfiguration.SizingMode, which intelligent-tiering file systems must set."""
VERSIONS: Final = ("2.10", "2.12", "2.15")

BACKUP_RETENTION_DAYS_AT_MOST: Final = 90
MAINTENANCE_PATTERN: Final = r"[1-7]:([01]\d|2[0-3]):?([0-5]\d)"
"""WeeklyMaintenanceStartTime, d:HH:MM in UTC with Monday as 1."""

SUBNETS: Final = 1
"""Subnets of one file system: all Lustre types stand in one zone."""
LOG_GROUPS: Final = "/aws/fsx"
"""What the name of a log group of FSx must begin with. Source: FSx API, LustreLogCreateConfiguration."""
METROS_WITH_PERSISTENT_2: Final = frozenset({"phx"})
"""Metro areas of local zones in which PERSISTENT_2 was seen accepted; in Los Angeles it was refused. Source:
aravneelaws/hyperpod-local-zone-quickstart commit 9d60906."""
PORTS: Final = ((988, 988), (1018, 1023))
"""TCP ports between file system and clients, both directions. Source: LustreGuide, getting-started (October 2026)."""
NFS_PORTS: Final = ((2049, 2049),)
"""TCP port of an OpenZFS file system that nodes connect to. Source: awslabs/awsome-distributed-ai."""
ASSOCIATIONS_AT_MOST: Final = 8
"""Data repository associations of one file system. Source: FSx API, CreateDataRepositoryAssociation."""

THROUGHPUTS_MBPS_PER_TIB: Final = (12, 1000)
"""Least and most PerUnitStorageThroughput that any type has, which the API refuses to go beyond."""

EFA_STEPS_GIB: Final = {125: 38_400, 250: 19_200, 500: 9_600, 1000: 4_800}
"""Capacity step of an EFA-enabled file system by throughput. Source: LustreGuide, getting-started (October 2026)."""
EFA_CLIENTS_WITHOUT: Final = ("ml.trn2.", "ml.trn2u.")
"""What types begin with that have EFA but cannot use it for Lustre. Source: LustreGuide, efa-file-systems (October
2026): clients need Nitro v4 or later, except Trn2."""
EFA_PREFIX: Final = 16
"""Length of the prefix that the addresses of an EFA-enabled file system and of its clients must share. Source:
LustreGuide, efa-file-systems (October 2026)."""
EFA_VERSION: Final = "2.15"
"""Lustre version that EFA needs. Source: LustreGuide, efa-file-systems (October 2026)."""

METADATA_IOPS: Final[tuple[int, ...]] = (1500, 3000, 6000, *range(12_000, 192_001, 12_000))
"""What USER_PROVISIONED metadata of SSD file systems can be set to."""
TIERING_METADATA_IOPS: Final[tuple[int, ...]] = (6000, 12_000)
"""The same for intelligent tiering: valid in the guide and in the newer API text, which allows more (conflict)."""

TIERING_THROUGHPUT_STEP_MBPS: Final = 4000
TIERING_THROUGHPUT_AT_MOST_MBPS: Final = 2_000_000
"""ThroughputCapacity of intelligent tiering is a multiple of the step; the API text also names 1,000 and 2,000 MB/s,
which CloudFormation's minimum of 4,000 refuses. Source: LustreConfiguration page of CloudFormation (October 2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacities:
    """Storage capacities that can be bought.

    Attributes:
        step: Capacities are multiples of this, in GiB.
        sizes: Smaller capacities in GiB that are no multiples of `step`.
    """

    step: int
    sizes: tuple[int, ...] = ()

    def __str__(self) -> str:
        """All of them in words."""
        multiples = f"multiples of {self.step:,} GiB"
        return f"{', '.join(f'{size:,}' for size in self.sizes)} or {multiples}" if self.sizes else multiples

    def allows(self, capacity_gib: int) -> bool:
        """Whether a file system of this capacity can be created."""
        return capacity_gib in self.sizes or (capacity_gib >= self.step and capacity_gib % self.step == 0)

    def around(self, capacity_gib: int) -> tuple[int, ...]:
        """The nearest capacities below and above that exist, in GiB; for a small request only the one above."""
        multiple = max(capacity_gib, 0) // self.step * self.step
        candidates = {*self.sizes, multiple, multiple + self.step} - {0}
        below = max((c for c in candidates if c < capacity_gib), default=None)
        above = min(c for c in candidates if c > capacity_gib)
        return (above,) if below is None else (below, above)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What one deployment type on one storage type can be bought as.

    Attributes:
        capacities: Allowed capacities by throughput, or under `None` where throughput plays no part. Empty where
            StorageCapacity must be left out.
        throughputs: Allowed PerUnitStorageThroughput in MB/s/TiB, one of which is required; empty where it must be left
            out.
        versions: Lustre versions, without and with a metadata configuration.
        default_version: Version where none is given, without a metadata configuration.
        metadata: Whether a metadata configuration can be given.
        efa: Whether EFA can be enabled; it then needs a metadata configuration.
        customer_key: Whether KmsKeyId can be given; scratch types use FSx's own key.
        backups: Whether automatic backups can be kept. Unverified for scratch types.
        temporary: Whether data does not outlive the failure of a server: scratch types.
        repository: Whether an S3 data repository association can be made.
    """

    capacities: Mapping[int | None, Capacities] = field(default_factory=dict)
    throughputs: tuple[int, ...] = ()
    versions: tuple[str, ...] = VERSIONS
    default_version: str = "2.10"
    metadata: bool = False
    efa: bool = False
    customer_key: bool = True
    backups: bool = True
    temporary: bool = False
    repository: bool = True

    def capacities_for(self, throughput: int | None, *, efa: bool = False) -> Capacities | None:
        """The capacities that go with a throughput.

        Args:
            throughput: PerUnitStorageThroughput in MB/s/TiB; `None` where it is left out or not known.
            efa: Whether EFA is enabled, which makes the steps larger.

        Returns:
            `None` where the offer has no capacity, or where capacity depends on a throughput that is not offered.
        """
        if efa:
            offered = self.efa and throughput in self.throughputs
            return Capacities(step=EFA_STEPS_GIB[throughput]) if offered and throughput is not None else None
        return self.capacities.get(None) or self.capacities.get(throughput)

    def versions_for(self, *, metadata: bool) -> tuple[str, ...]:
        """Lustre versions that work with or without a metadata configuration."""
        return tuple(v for v in self.versions if not (metadata and v == "2.12"))

    def version_without_choice(self, *, metadata: bool) -> str:
        """Lustre version of a file system whose FileSystemTypeVersion is left out."""
        return "2.15" if metadata else self.default_version


_SSD_CAPACITIES: Final[Mapping[int | None, Capacities]] = {None: Capacities(sizes=(1200,), step=2400)}

OFFERS: Final = {
    ("SCRATCH_1", "SSD"): Offer(
        capacities={None: Capacities(sizes=(1200, 2400), step=3600)},
        customer_key=False,
        backups=False,
        temporary=True,
        repository=False,
    ),
    ("SCRATCH_2", "SSD"): Offer(capacities=_SSD_CAPACITIES, customer_key=False, backups=False, temporary=True),
    ("PERSISTENT_1", "SSD"): Offer(capacities=_SSD_CAPACITIES, throughputs=(50, 100, 200)),
    ("PERSISTENT_1", "HDD"): Offer(
        capacities={12: Capacities(step=6000), 40: Capacities(step=1800)}, throughputs=(12, 40)
    ),
    ("PERSISTENT_2", "SSD"): Offer(
        capacities=_SSD_CAPACITIES,
        throughputs=(125, 250, 500, 1000),
        versions=("2.12", "2.15"),
        default_version="2.12",
        metadata=True,
        efa=True,
    ),
    ("PERSISTENT_2", "INTELLIGENT_TIERING"): Offer(
        versions=("2.12", "2.15"), default_version="2.12", metadata=True, efa=True, repository=False
    ),
}
"""Every combination of DeploymentType and StorageType that exists. Left out, they are SCRATCH_1 and SSD."""


def find(deployment_type: str | None, storage_type: str | None = None) -> Offer | None:
    """The offer of a deployment type and storage type; `None` for a combination that does not exist.

    Args:
        deployment_type: For example `PERSISTENT_2`; `None` where it is left out.
        storage_type: `SSD`, `HDD` or `INTELLIGENT_TIERING`; `None` where it is left out.
    """
    return OFFERS.get((deployment_type or "SCRATCH_1", storage_type or "SSD"))


def throughputs_in_words(deployment_type: str, storage_type: str) -> str:
    """What to use as PerUnitStorageThroughput, for example `use 125, 250, 500 or 1,000 MB/s/TiB`.

    Args:
        deployment_type: The deployment type; where the two make no offer, those of all types are listed.
        storage_type: The storage type.
    """
    offer = OFFERS.get((deployment_type, storage_type))
    if offer is None:
        lists = (f"{_listed(each)} for {_kind(*types)}" for types, each in OFFERS.items() if each.throughputs)
        return f"use {'; '.join(lists)}"
    return f"use {_listed(offer)} MB/s/TiB" if offer.throughputs else "leave it out: this type has no such setting"


def _listed(offer: Offer) -> str:
    *first, last = (f"{each:,}" for each in offer.throughputs)
    return f"{', '.join(first)} or {last}"


def _kind(deployment_type: str, storage_type: str) -> str:
    return deployment_type if storage_type == "SSD" else f"{deployment_type} on {storage_type}"


def automatic_metadata_iops(capacity_gib: int) -> int:
    """Metadata IOPS that AUTOMATIC mode gives a PERSISTENT_2 SSD file system; USER_PROVISIONED cannot be less.

    From 48,000 GiB it is 12,000 for every 24,000 GiB. A started 24,000 is not counted here and the highest value that
    can be set is kept, because the guide says neither: this floor is never too high.

    Source: LustreGuide, performance (October 2026).
    """
    for below, iops in ((2400, 1500), (4800, 3000), (12_000, 6000), (48_000, 12_000)):
        if capacity_gib < below:
            return iops
    return min(capacity_gib // 24_000 * 12_000, METADATA_IOPS[-1])


def read_cache_gib(throughput_capacity_mbps: int) -> tuple[int, int]:
    """Smallest and largest SSD read cache in GiB of an intelligent-tiering file system of this ThroughputCapacity."""
    thousands = throughput_capacity_mbps // 1000
    return 8 * thousands, 32_768 * thousands


def never_existed(version: str) -> bool:
    """Whether a text is no version of Lustre: no numbers with a dot, or before the newest and not in the list."""
    parts = version.split(".")
    if not all(part.isdecimal() for part in parts) or len(parts) < len(VERSIONS[-1].split(".")):
        return True
    return version not in VERSIONS and [int(part) for part in parts] < [int(part) for part in VERSIONS[-1].split(".")]
