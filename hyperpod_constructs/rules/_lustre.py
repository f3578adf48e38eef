"""What several files of rules ask of a Lustre file system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hyperpod_constructs.catalog import lustre as catalog
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.storage import FileSystem, Lustre, OldLink


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


def kind_of(lustre: Lustre) -> str:
    """How a message names the types: `PERSISTENT_2`, `PERSISTENT_1 on HDD`."""
    return f"{lustre.deployment_type}" + (f" on {lustre.storage_type}" if lustre.storage_type != "SSD" else "")


def is_linked(file_system: FileSystem) -> bool:
    """Whether a file system is certainly linked to S3, by an association or in the old form."""
    old = file_system.old_link
    return bool(file_system.repositories) or (isinstance(old, OldLink) and "ImportPath" in old.properties)


def either(numbers: Iterable[int]) -> str:
    """One or two numbers in words: `1,200`, `2,400 or 4,800`."""
    return " or ".join(f"{number:,}" for number in numbers)
