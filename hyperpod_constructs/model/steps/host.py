"""Steps for the node itself: file systems, metadata service, containers, logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.checks import check_whole
from hyperpod_constructs.model.steps.step import (
    LONGEST,
    SLURM,
    Context,
    Role,
    Step,
    check_folder,
)
from hyperpod_constructs.model.storage import Mount
from hyperpod_constructs.tokens import known

_AFTER_THE_WAIT = 120
"""Seconds for trying and tuning what is mounted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystems(Step):
    """Waits for the mounts of the cluster, tries them and tunes the Lustre client.

    It fails where a file system is missing, another one or hangs, with what to look at in the message; one that is full
    or read-only is warned of, because another node would not help. Where a file system has EFA, counters prove
    that traffic takes it.

    Attributes:
        wait_seconds: How long to wait for the service to mount them, 0 to 3480 s.
    """

    wait_seconds: int = 300

    name: ClassVar[str] = "file-systems"
    after_reboot: ClassVar[bool] = True
    _required: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_whole("step file-systems: wait_seconds", self.wait_seconds, low=0, high=LONGEST - _AFTER_THE_WAIT)

    def encode(self, context: Context) -> dict[str, Any]:
        """How it stands in the file that the runner reads."""
        timeout = self.timeout_seconds or self.wait_seconds + _AFTER_THE_WAIT
        return {**Step.encode(self, context), "timeout": timeout}

    def inputs(self, context: Context) -> dict[str, Any]:
        """The mounts of each group."""
        return {
            "wait": self.wait_seconds,
            "mounts": {
                str(group.name): [_mount(mount, context) for mount in _mounts(group)] for group in context.groups
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreClient(Step):
    """Keeps the Lustre client and the kernel it was built for from being upgraded without the other."""

    name: ClassVar[str] = "lustre-client"
    _retries: ClassVar[int] = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataService(Step):
    """Closes the instance metadata service to everybody but root, so that who logs in does not hold the node's role.

    Attributes:
        allow_users: Users that may ask it all the same.
    """

    allow_users: Sequence[str] = ()

    name: ClassVar[str] = "metadata-service"
    roles: ClassVar[tuple[Role, ...]] = SLURM
    every_seconds: ClassVar[int | None] = 300
    after_reboot: ClassVar[bool] = True
    _required: ClassVar[bool] = True

    def inputs(self, context: Context) -> dict[str, Any]:
        """Who may ask it."""
        del context
        return {"allow_users": sorted(self.allow_users)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers(Step):
    """Checks Enroot and Pyxis, and puts Enroot's caches on local NVMe instead of the root disk.

    Attributes:
        candidates: Folders of which the first that is a disk of its own is taken.
    """

    candidates: Sequence[str] = ("/opt/dlami/nvme", "/opt/sagemaker")

    name: ClassVar[str] = "containers"
    roles: ClassVar[tuple[Role, ...]] = ("login", "compute")
    every_seconds: ClassVar[int | None] = 600
    after_reboot: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        for folder in self.candidates:
            check_folder("step containers: candidate", folder)

    def inputs(self, context: Context) -> dict[str, Any]:
        """Where the caches may lie."""
        del context
        return {"candidates": list(self.candidates)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRotation(Step):
    """Rotates the logs of Slurm and of these steps.

    Attributes:
        days: How long they are kept, 1 to 365.
        megabytes: How long a log may become before it is rotated, 1 to 10,000 MB.
    """

    days: int = 14
    megabytes: int = 100

    name: ClassVar[str] = "log-rotation"
    every_seconds: ClassVar[int | None] = 86_400

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_whole("step log-rotation: days", self.days, low=1, high=365)
        check_whole("step log-rotation: megabytes", self.megabytes, low=1, high=10_000)

    def inputs(self, context: Context) -> dict[str, Any]:
        """How much is kept."""
        del context
        return {"days": self.days, "megabytes": self.megabytes}


def _mounts(group: InstanceGroup) -> tuple[Mount, ...]:
    return group.mounts if isinstance(group.mounts, tuple) else ()


def _mount(mount: Mount, context: Context) -> dict[str, Any]:
    """A mount as far as it is known at synth; names that the deploy decides are left out."""
    name, where = known(mount.mount_name), known(mount.file_system)
    named = {"mount_name": name, "dns_name": where if name or mount.kind == "openzfs" else None}
    efa = mount.file_system in context.efa
    return {"path": str(mount.path), "kind": mount.kind, "efa": efa} | {k: v for k, v in named.items() if v}
