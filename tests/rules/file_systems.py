"""Small file systems for tests of rules: sound by default, so that a test shows only the mistake it is about."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.storage import FileSystem, Lustre, Retention
from tests.rules.builders import told

TIERING = {
    "deployment_type": "PERSISTENT_2",
    "storage_type": "INTELLIGENT_TIERING",
    "capacity_gib": None,
    "throughput_mbps_per_tib": None,
    "throughput_mbps": 4000,
    "metadata_iops": 6000,
    "read_cache": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY",
}
KEY = "arn:aws:kms:us-west-2:111122223333:key/k"


def lustre(**fields: Any) -> Lustre:
    """A PERSISTENT_2 file system of 4,800 GiB."""
    return Lustre(**{"capacity_gib": 4800, "throughput_mbps_per_tib": 125, **fields})


def file_system(bought: Lustre | None = None, **fields: Any) -> FileSystem:
    """A sound file system `Scratch`."""
    kept = Retention(on_delete="RetainExceptOnCreate", on_replace="Retain")
    defaults = {"subnets": ("Net/Nodes",), "security_groups": ("Net/Group",), "retention": kept}
    return FileSystem(path="Scratch", lustre=bought or lustre(), **{**defaults, **fields})


def of(rule: str, **fields: Any) -> list[str]:
    """What a rule says of a file system bought like this."""
    return told(rule, Deployment(file_systems=(file_system(lustre(**fields)),)))


def with_fields(rule: str, bought: Lustre | None = None, **fields: Any) -> list[str]:
    """What a rule says of a file system with these fields."""
    return told(rule, Deployment(file_systems=(file_system(bought, **fields),)))
