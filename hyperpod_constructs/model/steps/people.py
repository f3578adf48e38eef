"""Steps for those who log in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, ClassVar, Final, Literal

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.steps.step import (
    SLURM,
    Context,
    Role,
    Step,
    check_folder,
    check_object,
    source,
)
from hyperpod_constructs.tokens import is_token

_SECRET: Final = re.compile(r"arn:[\w-]+:secretsmanager:[\w-]+:\d{12}:secret:[\w/+=.@-]+")
_LOCAL: Final = "/home"
_WHERE: Final = {"lustre": "/fsx", "openzfs": "/home"}
"""Where the service mounts what says nothing else."""
_DOMAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
_DN: Final = re.compile(r"[^\n\r=]+=[^\n\r]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class People(Step):
    """Users, groups and keys from the cluster's `people`, looked at again every five minutes.

    Attributes:
        homes: Folder of the home folders, on a file system that all nodes share; `/home` without one: then everybody
            has a home of their own on each node.
        uri: `s3://bucket/key` of a file that somebody else keeps. Defaults to the roster of the cluster.
        keys_between_nodes: Whether every user gets a key pair of their own, to go from node to node.
    """

    homes: str = "/fsx/home"
    uri: str | None = None
    keys_between_nodes: bool = True

    name: ClassVar[str] = "people"
    roles: ClassVar[tuple[Role, ...]] = SLURM
    every_seconds: ClassVar[int | None] = 300
    after_reboot: ClassVar[bool] = True
    _timeout: ClassVar[int] = 300

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_folder("step people: homes", self.homes)
        if self.uri is not None:
            check_object("step people: uri", self.uri)

    def inputs(self, context: Context) -> dict[str, Any]:
        """Where the roster and the homes are.

        Raises:
            InvalidValue: if the homes are on no file system that the nodes share, and not in `/home`.
        """
        return {
            **source(self.uri, context),
            "homes": self.homes,
            "shared": self._homes_are_shared(context),
            "keys_between_nodes": self.keys_between_nodes,
        }

    def _homes_are_shared(self, context: Context) -> bool:
        """Whether a mount holds the homes, on every node where users are."""
        groups = [group for group in context.groups if self.runs_on(group)]
        without = [str(group.name) for group in groups if not _is_below_a_mount(self.homes, group)]
        if not without:
            return True
        if self.homes == _LOCAL and len(without) == len(groups):
            return False
        raise InvalidValue(
            f"step people: homes {self.homes} is on no mount of {', '.join(without)}",
            "use a folder below a mount, such as /fsx/home, or /home for homes on the own disk of each node",
        )

    @property
    def objects(self) -> tuple[str, ...]:
        """The file, where somebody else keeps it."""
        return (self.uri,) if self.uri else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sssd(Step):
    """Users from a directory (Active Directory or LDAP) through SSSD, which the image must have.

    Attributes:
        domain: Name of the domain.
        uri: `ldaps://...` address of the directory.
        base_dn: Where users are looked for.
        active_directory: For an Active Directory, where the numbers of accounts come from: `posix` for those that it
            holds (`uidNumber`, `gidNumber`; who has none is unknown to nodes), `sid` for those that SSSD works out from
            the SID of each. Left out for any other directory.
        bind_dn: As whom nodes ask.
        secret_arn: Secret that holds the password of `bind_dn` as text.
        ca_certificate: Certificate of the directory's authority, PEM.
        allow_groups: Groups that may log in; everybody if none is named.
        homes: Folder of the home folders.
    """

    domain: str
    uri: str
    base_dn: str
    active_directory: Literal["posix", "sid"] | None = None
    bind_dn: str | None = None
    secret_arn: str | None = None
    ca_certificate: str | None = None
    allow_groups: Sequence[str] = ()
    homes: str = "/fsx/home"

    name: ClassVar[str] = "sssd"
    roles: ClassVar[tuple[Role, ...]] = SLURM
    every_seconds: ClassVar[int | None] = 3600
    _timeout: ClassVar[int] = 120

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_folder("step sssd: homes", self.homes)
        if not self.uri.startswith("ldaps://"):
            raise InvalidValue(f"step sssd: uri is {self.uri!r}", "use ldaps://: passwords must not cross in the clear")
        if (self.bind_dn is None) != (self.secret_arn is None):
            raise InvalidValue("step sssd: bind_dn and secret_arn go together")
        if self.secret_arn is not None and not _SECRET.fullmatch(self.secret_arn):
            raise InvalidValue(
                f"step sssd: secret_arn is {self.secret_arn!r}",
                "use the ARN of a secret, written out: the file is hashed",
            )
        for what, value, pattern in (
            ("domain", self.domain, _DOMAIN),
            ("base_dn", self.base_dn, _DN),
            ("bind_dn", self.bind_dn, _DN),
        ):
            if value is not None and not pattern.fullmatch(value):
                raise InvalidValue(
                    f"step sssd: {what} is {value!r}", "use one line, such as example.com or dc=example,dc=com"
                )
        if self.ca_certificate is not None and not self.ca_certificate.startswith("-----BEGIN CERTIFICATE-----"):
            raise InvalidValue(
                "step sssd: ca_certificate is no certificate", "give the text of a PEM file, not its path"
            )

    def inputs(self, context: Context) -> dict[str, Any]:
        """The directory; its password by reference."""
        del context
        given = {
            "domain": self.domain,
            "uri": self.uri,
            "base_dn": self.base_dn,
            "active_directory": self.active_directory,
            "bind_dn": self.bind_dn,
            "secret_arn": self.secret_arn,
            "ca_certificate": self.ca_certificate,
            "allow_groups": sorted(self.allow_groups) or None,
            "homes": self.homes,
        }
        return {key: value for key, value in given.items() if value is not None}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The password."""
        return (self.secret_arn,) if self.secret_arn else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmAdopt(Step):
    """Lets people log in to compute nodes only while a job of theirs runs there, where the image has pam_slurm_adopt.

    Attributes:
        admin_group: Group whose members may always log in.
        enabled: Whether it is on; `False` takes it away.
    """

    admin_group: str | None = None
    enabled: bool = True

    name: ClassVar[str] = "slurm-adopt"
    roles: ClassVar[tuple[Role, ...]] = ("compute",)
    every_seconds: ClassVar[int | None] = 600

    def inputs(self, context: Context) -> dict[str, Any]:
        """Who may always log in."""
        del context
        admin = {"admin_group": self.admin_group} if self.admin_group else {}
        return {"enabled": self.enabled, **admin}


def _is_below_a_mount(folder: str, group: InstanceGroup) -> bool:
    """Whether a folder lies on a file system that a group mounts; what is not known may be."""
    if not isinstance(group.mounts, tuple):
        return True
    places = [_WHERE.get(mount.kind, "/") if mount.path is None else mount.path for mount in group.mounts]
    return any(is_token(place) or PurePosixPath(folder).is_relative_to(str(place)) for place in places)
