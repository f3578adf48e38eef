"""Reads of FSx: file systems that a deployment imports.

Source of names and fields: the botocore 1.44.8 model of FSx (2018-03-01).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hyperpod_constructs.account.gateway.session import Reader
from hyperpod_constructs.errors import NotInAccount


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFileSystem:
    """A file system of the account.

    Attributes:
        id: For example `fs-0123456789abcdef0`.
        kind: LUSTRE, OPENZFS, ONTAP or WINDOWS.
        state: AVAILABLE, CREATING, FAILED, DELETING, MISCONFIGURED, UPDATING or MISCONFIGURED_UNAVAILABLE.
        owner: Account that owns it.
        vpc: Id of its VPC.
        subnets: Ids of its subnets.
        interfaces: Ids of its network interfaces, whose security groups guard it.
        mount_name: What Lustre clients mount; `None` for other kinds.
        capacity_gib: Storage capacity; `None` where it has no fixed one.
    """

    id: str
    kind: str
    state: str
    owner: str
    vpc: str
    subnets: tuple[str, ...]
    interfaces: tuple[str, ...]
    mount_name: str | None
    capacity_gib: int | None


class Fsx(Reader):
    """Reads the file systems of one account in one Region."""

    SERVICE = "fsx"
    READS = {"DescribeFileSystems": "fsx:DescribeFileSystems"}  # noqa: RUF012  # the base class has the type

    def file_systems(self, ids: Iterable[str]) -> dict[str, LiveFileSystem]:
        """Those of some file systems that there are, by id.

        Raises:
            AccountError: if AWS refuses or fails a read.
        """
        found = {}
        for each in ids:
            try:  # one by one: a missing one fails the whole call
                answer = self._read("DescribeFileSystems", of=f"file system {each}", FileSystemIds=[each])
            except NotInAccount:
                continue
            for system in answer["FileSystems"]:
                found[each] = LiveFileSystem(
                    id=each,
                    kind=system.get("FileSystemType", ""),
                    state=system.get("Lifecycle", "AVAILABLE"),
                    owner=system.get("OwnerId", ""),
                    vpc=system.get("VpcId", ""),
                    subnets=tuple(system.get("SubnetIds", ())),
                    interfaces=tuple(system.get("NetworkInterfaceIds", ())),
                    mount_name=system.get("LustreConfiguration", {}).get("MountName"),
                    capacity_gib=system.get("StorageCapacity"),
                )
        return found
