"""Who works on a cluster: users, groups and keys, as data that changes without touching nodes or their scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.checks import check_whole, make_tuples

_NAME: Final = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
"""What `useradd` of Ubuntu and Amazon Linux accepts."""
_KEY: Final = re.compile(r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d{3}|sk-[\w.@-]+) [A-Za-z0-9+/]+={0,3}( [^\r\n]*)?")
_HIGHEST_ID: Final = 60_000
_LOWEST: Final = 2_000
"""Below lie the accounts of images and of the service: `ubuntu` is 1000, `ssm-user` 1001."""
_OF_IMAGES: Final = """
    root ubuntu ec2-user ssm-user slurm munge nobody nogroup daemon admin adm sudo docker wheel bin sys sync games man
    lp mail news uucp proxy backup list irc sshd mysql messagebus syslog users disk tty video render input kvm plugdev
"""
"""Accounts and groups that images have."""


def is_user_name(name: str) -> bool:
    """Whether `useradd` takes a name."""
    return _NAME.fullmatch(name) is not None


def _check_account(what: str, name: str, number: int) -> None:
    if not is_user_name(name):
        raise InvalidValue(
            f"{what} {name!r} is no name", "use 1 to 32 lower-case letters, digits, _ and -, beginning with a letter"
        )
    if name in _OF_IMAGES.split():
        raise InvalidValue(f"{what} {name!r} is an account of the image", "choose another name")
    check_whole(f"id of {what} {name!r}", number, low=_LOWEST, high=_HIGHEST_ID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of users on every node.

    Attributes:
        name: 1 to 32 lower-case letters, digits, `_` and `-`.
        gid: Its number on every node, 2000 to 60000. Never give one that another group had: files keep it.
    """

    name: str
    gid: int

    def __post_init__(self) -> None:
        check_fields("group: ", self)
        _check_account("group", self.name, self.gid)


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody who logs in.

    Attributes:
        name: 1 to 32 lower-case letters, digits, `_` and `-`.
        uid: The user's number on every node, 2000 to 60000. Never give one that another user had: the files on the
            shared file system belong to numbers, and nodes refuse it.
        keys: Public SSH keys, one line each.
        groups: Further groups, which stand in `People.groups`.
        admin: Whether the user may do everything as root on every node.
        shell: Login shell.
    """

    name: str
    uid: int
    keys: Sequence[str] = ()
    groups: Sequence[str] = ()
    admin: bool = False
    shell: str = "/bin/bash"

    def __post_init__(self) -> None:
        make_tuples(self, "keys", "groups")
        check_fields(f"user {self.name!r}: ", self)
        _check_account("user", self.name, self.uid)
        for key in self.keys:
            _check_key(self.name, key)
        if not re.fullmatch(r"/[\w./-]+", self.shell):
            raise InvalidValue(f"shell of user {self.name!r} is {self.shell!r}", "use a path, such as /bin/bash")


def _check_key(user: str, key: str) -> None:
    if "PRIVATE KEY" in key:
        raise InvalidValue(
            f"a private key of user {user!r} is given",
            "give the public one, and make a new pair: this one is known now",
        )
    if not _KEY.fullmatch(key.strip()):
        raise InvalidValue(
            f"key of user {user!r} is {key[:40]!r}", "use one line of a .pub file, such as ssh-ed25519 AAAA... ada"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Everybody who works on a cluster.

    Nodes look at it every few minutes: who is added can log in, who is taken out is locked out. Home folders stay.

    Attributes:
        users: The users.
        groups: Groups that they share, besides those of their own.

    Raises:
        InvalidValue: if names or numbers occur twice, or a user is in a group that is not there.
    """

    users: Sequence[User] = ()
    groups: Sequence[Group] = ()

    def __post_init__(self) -> None:
        make_tuples(self, "users", "groups")
        check_fields("people: ", self)
        for what, values in (
            ("user name", [user.name for user in self.users]),
            ("uid", [user.uid for user in self.users]),
            ("group name", [group.name for group in self.groups] + [user.name for user in self.users]),
            # Every user has a group of the same name and number.
            ("gid", [group.gid for group in self.groups] + [user.uid for user in self.users]),
        ):
            if twice := _twice(values):
                raise InvalidValue(f"{what} {', '.join(map(str, twice))} occurs twice", "give each its own")
        known = {group.name for group in self.groups}
        for user in self.users:
            if missing := sorted(set(user.groups) - known):
                raise InvalidValue(
                    f"user {user.name!r} is in {', '.join(missing)}, which is no group here",
                    f"add it to groups=, or use one of {', '.join(sorted(known)) or 'none'}",
                )


def _twice(values: Iterable[Any]) -> list[Any]:
    found = list(values)
    return sorted({value for value in found if found.count(value) > 1})
