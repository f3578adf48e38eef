"""What all steps have: where they run, how long they may take, what they are given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Literal

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.checks import check_whole, make_tuples
from hyperpod_constructs.tokens import is_token

Role = Literal["controller", "login", "compute", "worker"]
"""What a node is: one of the first three on Slurm, `worker` on EKS."""
SLURM: Final[tuple[Role, ...]] = ("controller", "login", "compute")
EVERYWHERE: Final[tuple[Role, ...]] = (*SLURM, "worker")
_ROLES: Final[dict[str, Role]] = {"Controller": "controller", "Login": "login", "Compute": "compute"}
LONGEST: Final = 3600
"""Seconds that a step may take at most."""
_MOST_RETRIES: Final = 20
_KEY: Final = re.compile(r"arn:[\w-]+:kms:[\w-]+:\d{12}:key/[\w-]+")
_S3: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[^\s*?$]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What steps may know of the cluster that they run on.

    Attributes:
        cluster: Name of the cluster.
        region: Region, where it is known at synth.
        groups: Its instance groups, with their mounts.
        efa: Paths of Lustre file systems with EFA.
        roster: Name of the SSM parameter that says where the roster lies: what changes while nodes run.
    """

    cluster: str
    region: str | None = None
    groups: Sequence[InstanceGroup] = ()
    efa: frozenset[str] = frozenset()
    roster: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What all steps have.

    Source: awslabs/awsome-distributed-ai, observability for Slurm (OnInitComplete), read on 2026-11-30: `required`.

    Attributes:
        groups: Names of the groups on whose nodes the step runs. Defaults to all that have a role for it.
        timeout_seconds: After this long the step and all that it started are killed, 1 to 3600 s.
        retries: How often it is tried again after a failure, 0 to 20; the pause doubles each time, beginning with 5 s.
        key_arns: Customer keys of what it reads (objects, secrets), which nodes are then allowed to decrypt with.
        required: Whether the start script fails with it. AWS says that a cluster that is being created then fails; what
            becomes of a later node is not documented. Other steps that fail are reported and the node goes on.
    """

    groups: Sequence[str] | None = None
    timeout_seconds: int | None = None
    retries: int | None = None
    key_arns: Sequence[str] = ()
    required: bool | None = None

    name: ClassVar[str] = ""
    roles: ClassVar[tuple[Role, ...]] = EVERYWHERE
    every_seconds: ClassVar[int | None] = None
    after_reboot: ClassVar[bool] = False
    _timeout: ClassVar[int] = 60
    _retries: ClassVar[int] = 2
    _required: ClassVar[bool] = False

    def __post_init__(self) -> None:
        make_tuples(self, *(each.name for each in fields(self)))
        who = f"step {self.name or type(self).__name__}: "
        check_fields(who, self)
        if self.groups is not None and not self.groups:
            raise InvalidValue(f"{who}groups is empty: it would run nowhere", "leave it out for all groups")
        check_whole(f"{who}timeout_seconds", self.timeout_seconds, low=1, high=LONGEST)
        for key in self.key_arns:
            if not _KEY.fullmatch(key):
                raise InvalidValue(
                    f"{who}key_arns has {key!r}", "use the ARN of a key: arn:aws:kms:REGION:ACCOUNT:key/ID"
                )
        check_whole(f"{who}retries", self.retries, low=0, high=_MOST_RETRIES)

    @property
    def title(self) -> str:
        """Its name on the node: in the log, in the command, as a timer."""
        return self.name

    @property
    def run(self) -> str:
        """The module that does it, or the file of a script."""
        return self.name.replace("-", "_")

    @property
    def where(self) -> Sequence[Role]:
        """What nodes it runs on are."""
        return self.roles

    def runs_on(self, group: InstanceGroup) -> bool:
        """Whether it runs on the nodes of a group."""
        return role_of(group) in self.where and (self.groups is None or group.name in self.groups)

    def inputs(self, context: Context) -> dict[str, Any]:
        """What it is given, as JSON; secrets only by reference."""
        del context
        return {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """ARNs of secrets that nodes must be able to read for it."""
        return ()

    @property
    def objects(self) -> tuple[str, ...]:
        """Addresses of objects that nodes must be able to read for it."""
        return ()

    @property
    def files(self) -> Mapping[str, bytes]:
        """Files of the user's that are published for it, by name."""
        return {}

    def encode(self, context: Context) -> dict[str, Any]:
        """How it stands in the file that the runner reads."""
        required = self._required if self.required is None else self.required
        encoded: dict[str, Any] = {
            "name": self.title,
            "run": self.run,
            "roles": list(self.where),
            "timeout": self.timeout_seconds or self._timeout,
            "retries": self._retries if self.retries is None else self.retries,
            "backoff": 5,
            "required": required,
            "at_boot": self.after_reboot,
            "inputs": self.inputs(context),
        }
        if self.groups is not None:
            encoded["groups"] = sorted(self.groups)
        if self.every_seconds:
            encoded["every"] = self.every_seconds
        return encoded


def role_of(group: InstanceGroup) -> Role:
    """What the nodes of a group are."""
    return _ROLES.get(str(group.node_type), "worker")


def source(uri: str | None, context: Context) -> dict[str, Any]:
    """Where a step finds its roster: a file that somebody else keeps, or the cluster's."""
    if uri is not None:
        return {"uri": uri}
    return {"parameter": context.roster}


def check_folder(what: str, path: object) -> None:
    """Raises `InvalidValue` unless a value is an absolute path without `..`."""
    if not isinstance(path, str) or not re.fullmatch(r"(/[\w.-]+)+", path) or ".." in path.split("/"):
        raise InvalidValue(f"{what} is {path!r}", "use an absolute path such as /fsx/home")


def check_object(what: str, uri: object) -> None:
    """Raises `InvalidValue` unless a value is the address of an object in S3."""
    if is_token(uri):
        raise InvalidValue(
            f"{what} is {uri!r}, which is known only at deploy",
            "write the bucket's name out: the file is hashed before",
        )
    if not isinstance(uri, str) or not _S3.fullmatch(uri):
        raise InvalidValue(f"{what} is {uri!r}", "use s3://BUCKET/KEY without wildcards")
