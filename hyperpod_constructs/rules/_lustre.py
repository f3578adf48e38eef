"""What several files of rules ask of a Lustre file system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hyperpod_constructs.catalog import lustre as catalog
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.storage import FileSystem, Lustre, OldLink

DEPLOYMENT_TYPE = "DeploymentType (deployment_type)"
STORAGE_TYPE = "StorageType (storage_type)"
CAPACITY = "StorageCapacity (capacity_gib)"
PER_TIB = "PerUnitStorageThroughput (throughput_mbps_per_tib)"
THROUGHPUT = "ThroughputCapacity (throughput_mbps)"
"""How a fix calls a field: the property of a template, and what it is in Python."""


def offered(deployment: Deployment) -> Iterator[tuple[FileSystem, Lustre, catalog.Offer]]:
    """File systems whose types are known and go together, with what can be bought as such."""
    for file_system in deployment.file_systems:
        lustre = file_system.lustre
        deployment_type, storage_type = lustre.deployment_type, lustre.storage_type
        if not isinstance(deployment_type, str) or not isinstance(storage_type, str):
            continue
        offer = catalog.find(deployment_type, storage_type)
        if offer is not None:
            yield file_system, lustre, offer


def kind_of(file_system: FileSystem) -> str:
    """How a message names the types: `PERSISTENT_2`, `PERSISTENT_1 on HDD`."""
    lustre = file_system.lustre
    kind = f"{lustre.deployment_type}" + (f" on {lustre.storage_type}" if lustre.storage_type != "SSD" else "")
    return f"{kind} (the type where no DeploymentType is given)" if file_system.type_left_out else kind


def is_linked(file_system: FileSystem) -> bool:
    """Whether a file system is certainly linked to S3, by an association or in the old form."""
    old = file_system.old_link
    return bool(file_system.repositories) or (isinstance(old, OldLink) and "ImportPath" in old.properties)


def either(numbers: Iterable[int]) -> str:
    """Numbers to choose from: `1,200`, `2,400 or 4,800`, `50, 100 or 200`."""
    *first, last = (f"{number:,}" for number in numbers)
    return f"{', '.join(first)} or {last}" if first else last
