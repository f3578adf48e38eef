"""What runs: a snapshot of a cluster, as `hyperpod snapshot` writes it (docs/commands.md has its keys).

It is read as strictly as it is written: whatever is not as documented is refused, because a count that was misread
would say that no node goes. What the snapshot could not read is `null` there and `None` here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

from hyperpod_constructs.errors import UnreadableSnapshot

FORMAT: Final = "hyperpod-snapshot"
VERSION: Final = 1

_RUNNING: Final = "Running"
_SHOWN: Final = 60
_NEEDS: Final[Mapping[object, str]] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number from 0",
    float: "a number from 0",
    datetime: "a time with its offset, such as 2026-11-30T09:10:00+00:00",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveImage:
    """What the nodes of a group were started from.

    Attributes:
        id: `default` or the id of an AMI.
        release: Release of AWS's image.
        status: For example `UpdateAvailable`.
    """

    id: str | None
    release: str | None
    status: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveGroup:
    """An instance group as the service describes it.

    Attributes:
        name: Its name.
        instance_type: `None` for several types.
        spot: Whether it is on spot capacity.
        target: Instances that the service works towards.
        current: Instances that it has.
        nodes: Number of nodes by state; `None` where they could not be listed.
        status: For example `InService`.
        plan: ARN of its training plan.
        plan_status: What the service says of that plan.
        image: What its nodes were started from.
        scripts: Where the lifecycle scripts of its next nodes lie; `None` without any.
        role: ARN of the role of its nodes.
        file_systems: DNS names of what its nodes mount.
    """

    name: str
    instance_type: str | None
    spot: bool
    target: int
    current: int
    nodes: Mapping[str, int] | None
    status: str | None
    plan: str | None
    plan_status: str | None
    image: LiveImage
    scripts: str | None
    role: str | None
    file_systems: tuple[str, ...]

    @property
    def running(self) -> int:
        """Nodes that work can use; all that the group has where their states could not be read."""
        return self.current if self.nodes is None else self.nodes.get(_RUNNING, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCluster:
    """A cluster as the service describes it.

    Attributes:
        name: Its name.
        arn: Its ARN.
        status: For example `InService`.
        failure_message: Why it failed.
        orchestrator: `slurm` or `eks`.
        continuous: Whether nodes come one by one.
        groups: In the order of the service, restricted groups last.
    """

    name: str
    arn: str
    status: str
    failure_message: str | None
    orchestrator: str
    continuous: bool
    groups: tuple[LiveGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePlan:
    """A training plan of the cluster's groups; everything but ARN and name is `None` where it could not be read.

    Attributes:
        arn: Its ARN.
        name: Its name.
        status: For example `Active`.
        count: Instances that it holds.
        available: Those that nobody uses.
        in_use: Those that are in use.
        unhealthy: Those that are out of order.
        starts: First moment.
        ends: Last moment; nodes begin to leave an hour earlier.
    """

    arn: str
    name: str
    status: str | None
    count: int | None
    available: int | None
    in_use: int | None
    unhealthy: int | None
    starts: datetime | None
    ends: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFileSystem:
    """A file system that nodes mount.

    Attributes:
        id: Its id.
        kind: LUSTRE, OPENZFS, ONTAP or WINDOWS.
        status: For example `AVAILABLE`.
        capacity_gib: Storage capacity.
        used_bytes: Data as it lies on the disks of Lustre.
        measured: When that was measured.
    """

    id: str
    kind: str | None
    status: str | None
    capacity_gib: int | None
    used_bytes: int | None
    measured: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveQuota:
    """A quota that the cluster draws on.

    Attributes:
        service: Service code.
        name: Exact name.
        code: Its code.
        applied: What the account has.
        used: Target counts of all clusters of the Region; for the quota of one cluster, of this one.
    """

    service: str
    name: str
    code: str | None
    applied: float | None
    used: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What could not be read.

    Attributes:
        what: A key of the snapshot, or `nodes`.
        permission: The permission that lacks; `None` where that is not the reason.
        why: What AWS said.
    """

    what: str
    permission: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A snapshot.

    Attributes:
        taken: When.
        region: Region that was read.
        account: Account that was read; a stand-in where it is redacted.
        redacted: Whether account ids and names of people are stand-ins.
        cluster: The cluster.
        plans: Training plans of its groups.
        file_systems: File systems that its groups mount.
        quotas: Quotas that it draws on.
        missing: What could not be read.
    """

    taken: datetime
    region: str
    account: str
    redacted: bool
    cluster: LiveCluster
    plans: tuple[LivePlan, ...]
    file_systems: tuple[LiveFileSystem, ...]
    quotas: tuple[LiveQuota, ...]
    missing: tuple[Missing, ...]


def read(path: Path) -> Live:
    """Reads a snapshot.

    Raises:
        UnreadableSnapshot: if the file is none, or one of another version.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UnreadableSnapshot(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnreadableSnapshot(f"{path}: is not text in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise UnreadableSnapshot(f"{path}: is not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UnreadableSnapshot(f"{path}: is no snapshot of a cluster: `hyperpod snapshot CLUSTER` writes one")
    version = data.get("version")
    if version != VERSION or isinstance(version, bool):
        raise UnreadableSnapshot(
            f"{path}: has version {_shown(version)}, this command reads {VERSION}: take the snapshot again"
        )
    try:
        live: Live = _object(Live, data, "")
    except _Wrong as wrong:
        raise UnreadableSnapshot(f"{path}: {wrong}, as `hyperpod snapshot` writes it") from None
    names = [group.name for group in live.cluster.groups]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UnreadableSnapshot(f"{path}: cluster.groups has {_shown(twice)} more than once")
    return live


class _Wrong(Exception):
    """What is wrong, with the place."""


def _object(kind: type, data: object, where: str) -> Any:  # noqa: ANN401  # a value of `kind`
    """The value of an object of the file, whose keys are the fields of its class."""
    if not isinstance(data, dict):
        raise _Wrong(f"{where} is {_shown(data)}; it must be an object")
    found = {}
    for key, hint in get_type_hints(kind).items():
        place = f"{where}.{key}".lstrip(".")
        if key not in data:
            raise _Wrong(f"{place} is not there; it must be")
        found[key] = _value(hint, data[key], place)
    return kind(**found)


def _value(hint: Any, data: object, where: str) -> Any:  # noqa: ANN401  # a type, and a value of it
    """A value of the file; one that is not of its type is refused."""
    of, origin = get_args(hint), get_origin(hint)
    if type(None) in of:
        return None if data is None else _value(of[0], data, where)
    if origin is tuple:
        if not isinstance(data, list):
            raise _Wrong(f"{where} is {_shown(data)}; it must be a list")
        return tuple(_value(of[0], item, f"{where}[{index}]") for index, item in enumerate(data))
    if origin is Mapping:
        if not isinstance(data, dict):
            raise _Wrong(f"{where} is {_shown(data)}; it must be an object")
        return {key: _value(of[1], item, f"{where}.{key}") for key, item in data.items()}
    if isinstance(hint, type) and is_dataclass(hint):
        return _object(hint, data, where)
    found = _moment(data) if hint is datetime else data if _fits(hint, data) else None
    if found is None:
        raise _Wrong(f"{where} is {_shown(data)}; it must be {_NEEDS[hint]}")
    return found


def _fits(kind: type, data: object) -> bool:
    """Whether a value is of a type; numbers are none below zero, and to Python true and false are numbers."""
    if kind in {int, float} and isinstance(data, int | float) and not isinstance(data, bool):
        return (kind is float or isinstance(data, int)) and math.isfinite(data) and data >= 0
    return kind in {str, bool} and isinstance(data, kind)


def _moment(data: object) -> datetime | None:
    """A time; `None` where it is none, or says not of which zone."""
    try:
        found = datetime.fromisoformat(data) if isinstance(data, str) else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
