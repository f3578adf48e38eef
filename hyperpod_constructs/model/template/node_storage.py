"""Volumes and mounts of nodes, from the InstanceStorageConfigs of a group."""

from __future__ import annotations

from typing import Final

from hyperpod_constructs.cloudformation.values import Reference
from hyperpod_constructs.model._reading import Fields, Node, otherwise
from hyperpod_constructs.model.storage import Mount, NodeVolume, check_dns_name, check_mount_name
from hyperpod_constructs.model.template.storage import owner_of
from hyperpod_constructs.tokens import UNKNOWN, Unknown


def volume(item: Node) -> NodeVolume | Unknown | None:
    """The volume of an element; `None` if it is something else."""
    return item["EbsVolumeConfig"].optional(lambda given: given.build(NodeVolume, _VOLUME))


def mount(item: Node) -> Mount | Unknown | None:
    """The mount of an element; `None` if it is something else."""
    lustre = item["FsxLustreConfig"].optional(lambda given: given.build(Mount, _LUSTRE, kind="lustre"))
    if lustre is not None:
        return lustre
    return item["FsxOpenZfsConfig"].optional(lambda given: given.build(Mount, _OPENZFS, kind="openzfs"))


def _file_system(node: Node) -> str | Unknown | None:
    """The file system, by its DNS name; by its mount name if the DNS name does not tell."""
    dns_name = node["DnsName"].required()
    found = dns_name.checked(check_dns_name) if isinstance(dns_name.value, str) else owner_of(dns_name, "DNSName")
    by_mount_name = found is UNKNOWN and isinstance(node["MountName"].value, Reference)
    return node["MountName"].path() if by_mount_name else found


def _mount_name(node: Node) -> str | Unknown | None:
    """The mount name, or the file system that has it."""
    if isinstance(node.value, str):
        return node.checked(check_mount_name)
    return owner_of(node.required(), "LustreMountName")


_VOLUME: Final[Fields] = {
    "size_gib": ("VolumeSizeInGB", Node.whole),
    "root": ("RootVolume", otherwise(Node.flag, default=False)),
    "kms_key": ("VolumeKmsKeyId", Node.path),
}
_OPENZFS: Final[Fields] = {"path": ("MountPath", Node.text), "file_system": ("", _file_system)}
_LUSTRE: Final[Fields] = {**_OPENZFS, "mount_name": ("MountName", _mount_name)}
