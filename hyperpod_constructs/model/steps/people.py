"""Steps for those who log in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.steps.step import (
    SLURM,
    Context,
    Role,
    Step,
    check_folder,
    check_object,
    source,
)

_SECRET: Final = re.compile(r"arn:[^:]+:secretsmanager:[^:]*:[^:]*:secret:\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class People(Step):
    """Users, groups and keys from the cluster's `people`, looked at again every five minutes.

    Attributes:
        homes: Folder of the home folders, on a file system that all nodes share.
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
        """Where the file lies."""
        return {
            **source(self.uri, context),
            "homes": self.homes,
            "keys_between_nodes": self.keys_between_nodes,
        }

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
        bind_dn: As whom nodes ask.
        secret_arn: Secret that holds the password of `bind_dn` as text.
        ca_certificate: Certificate of the directory's authority, PEM.
        allow_groups: Groups that may log in; everybody if none is named.
        homes: Folder of the home folders.
    """

    domain: str
    uri: str
    base_dn: str
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
            raise InvalidValue(f"step sssd: secret_arn is {self.secret_arn!r}", "use the ARN of a secret")

    def inputs(self, context: Context) -> dict[str, Any]:
        """The directory; its password by reference."""
        del context
        given = {
            "domain": self.domain,
            "uri": self.uri,
            "base_dn": self.base_dn,
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
