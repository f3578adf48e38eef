"""People as data: makes the accounts of a node match one file that says who works here.

The file is found through a parameter, so that a person comes or goes on running nodes without a change to the cluster.
Numbers are fixed, because files on the shared file system belong to numbers. What this step made is written down in
`MADE`; accounts that are not in there are never touched. Root never writes inside a home: its owner does.
"""

from __future__ import annotations

import contextlib
import ctypes
import grp
import json
import os
import pwd
import re
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Generator, Iterator, Mapping, Sequence

from hyperpod_node import host, roster, sshd

_FIELDS = 4
"""Of a line of /etc/group; one of /etc/passwd has more."""
MADE = roster.DATA / "people.json"
KEYS = Path("/etc/ssh/authorized_keys.d")
_SUDOERS = Path("/etc/sudoers.d/hyperpod-people")
_SSHD = (
    f"AuthorizedKeysFile .ssh/authorized_keys {KEYS}/%u\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
)
_SSH = "Host ip-*\n    StrictHostKeyChecking accept-new\n"
_BASH = "/bin/bash"
_ROLES = ("controller", "login", "compute", "worker")
_NAME = re.compile(r"[a-z_][a-z0-9_.-]{0,31}")
_SHELL = re.compile(r"/[A-Za-z0-9_./-]+")
_KEY = re.compile(r"(ssh-(ed25519|rsa)|ecdsa-sha2-\S+|sk-\S+@openssh\.com) [A-Za-z0-9+/]+=*( [^\n\r]*)?")
_PATIENCE = 10
"""Seconds for all processes of those who leave to end."""
_UNSEEN, _EXPIRED = -1, "1"
_OF_USERS = ("/var/spool/cron/crontabs", "/var/spool/cron", "/var/lib/systemd/linger")
"""What would start somebody's programs without a login."""
_SUBORDINATE = 65536
"""Subordinate numbers begin here or above."""
_HALF, _HOUR = ".new-", 3600
_FIRST_NUMBER, _NUMBERS_END, _NOBODY = 1000, 2**31, (65534, 65535)
# Run by the owner of the home; of two nodes, the one that links its key first wins, and both write the same files.
_OWN_KEYS = """set -eu; umask 077; cd -- "$1"; mkdir -p .ssh; cd .ssh
new=.new.$(hostname).$$
trap 'rm -f "$new" "$new.pub"' EXIT
if [ ! -e id_ed25519 ]; then
  ssh-keygen -q -t ed25519 -N '' -C "$2" -f "$new"
  ln "$new" id_ed25519 2>/dev/null || true
fi
if [ ! -e id_ed25519.pub ]; then
  ssh-keygen -y -f id_ed25519 >"$new.pub"
  mv "$new.pub" id_ed25519.pub
fi
if [ ! -e authorized_keys ] && [ ! -L authorized_keys ]; then
  cp id_ed25519.pub "$new.pub"
  mv "$new.pub" authorized_keys
elif ! grep -qxF -f id_ed25519.pub authorized_keys 2>/dev/null; then
  [ ! -s authorized_keys ] || [ -z "$(tail -c 1 authorized_keys)" ] || echo >>authorized_keys
  cat id_ed25519.pub >>authorized_keys
fi
"""


@dataclass(frozen=True)
class User:
    """A person; `group` is the primary group."""

    name: str
    uid: int
    group: str
    groups: tuple[str, ...]
    keys: tuple[str, ...]
    shell: str
    admin: bool
    roles: tuple[str, ...]


def work(step: host.Step) -> None:
    """Makes the accounts of this node match the file."""
    os.umask(0o022)
    done = False
    try:
        content, away = roster.fetch(step)
        for line in _match(step, content):
            host.say(line)
            done = True
    except OSError as error:
        raise host.Failure(f"{error.filename}: {error.strerror}") from None
    if away:
        raise host.NotYet(f"this node keeps the people of its last good copy: {away}")
    if not done:
        host.say("nothing to do")


def parse(content: bytes) -> tuple[dict[str, int], list[User] | None]:
    """The groups and the users of the file; None for users where a directory has them.

    Raises:
        Mistake: if it contradicts itself.
    """
    groups: dict[str, int] = {}
    uids: dict[str, int] = {}
    try:
        found = roster.load(content)
        for each in found.get("groups", []):
            _claim("group", each["name"], each["gid"], groups)
        gids = dict(groups)  # and those of users' own groups
        users = [_user(each, groups, gids, uids) for each in found.get("users", [])]
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise host.Mistake(f"the roster is not what it should be ({error!r}): publish it again") from None
    return groups, users if "users" in found else None


def _user(each: Mapping[str, Any], groups: Mapping[str, int], gids: dict[str, int], uids: dict[str, int]) -> User:
    name, uid = each["name"], each["uid"]
    _claim("user", name, uid, uids)
    if not each.get("group") and groups.get(name) != uid:
        _claim("group", name, uid, gids)
    user = User(
        name=name,
        uid=uid,
        group=each.get("group") or name,
        groups=tuple(sorted(each.get("groups") or ())),
        keys=tuple(each.get("keys") or ()),
        shell=each.get("shell") or _BASH,
        admin=each.get("admin") is True,
        roles=_ROLES if each.get("roles") is None else tuple(each["roles"]),
    )
    for group in {*user.groups, each.get("group") or name} - {name, *groups}:
        raise host.Mistake(f"user {name}: group {group!r} is not among the groups of the file; add it with a gid")
    if not all(_KEY.fullmatch(key) and key.isprintable() for key in user.keys):  # not shown: it may be a private key
        raise host.Mistake(f"user {name}: a key is no public key, which is a line such as `ssh-ed25519 AAAA...`")
    if not _SHELL.fullmatch(user.shell):
        raise host.Mistake(f"user {name}: shell {user.shell!r} is not the full path of a program")
    if not set(user.roles) <= set(_ROLES):
        raise host.Mistake(f"user {name}: roles {', '.join(map(repr, user.roles))} are not all of {', '.join(_ROLES)}")
    return user


def _claim(kind: str, name: str, number: int, taken: dict[str, int]) -> None:
    """Notes that a name and a number are taken."""
    if not _NAME.fullmatch(name):
        raise host.Mistake(f"{kind} {name!r}: a name has up to 32 of a-z, 0-9, _, -, . and begins with a letter or _")
    if type(number) is not int or not _FIRST_NUMBER <= number < _NUMBERS_END or number in _NOBODY:
        raise host.Mistake(f"{kind} {name}: {number!r} is not a number from 1000 on; those below are the system's")
    for other, its in taken.items():
        if other == name or its == number:
            raise host.Mistake(
                f"{kind}s {other} ({its}) and {name} ({number}): both need a name and number of their own"
            )
    taken[name] = number


def _match(step: host.Step, content: bytes) -> Iterator[str]:
    """Makes the node match the file; yields what it did."""
    groups, people = parse(content)
    made = _made()
    ours, our_groups = _still(made["users"], _local("/etc/passwd")), _still(made["groups"], _local("/etc/group"))
    if people is None and ours:
        raise host.Mistake(f'the file has no users, {len(ours)} are here; if all are to go, write `"users": []`')
    here = [user for user in people or () if step.role in user.roles]
    problems: dict[str, str] = {}
    yield from _withdraw(here, made["users"], ours, problems)
    try:
        roster.keep(step, content)  # whatever comes: who was withdrawn must not come back when AWS does not answer
        refused = yield from _admit(step, here, groups, (ours, our_groups, made["keyed"]), problems)
    except host.Failure as failure:
        raise type(failure)("; ".join([*_told(problems), str(failure)])) from None
    if refused or problems:
        kind = host.Failure if problems else host.Mistake
        raise kind("; ".join(_told({**refused, **problems})))


def _told(problems: Mapping[str, str]) -> list[str]:
    return [f"{name}: {why}" for name, why in problems.items()]


def _withdraw(
    here: Sequence[User], noted: Mapping[str, int], ours: Mapping[str, int], problems: dict[str, str]
) -> Iterator[str]:
    """Takes away what the file does not give any more; waits for no file system and for nothing else in the file."""
    wanted, accounts = {user.name: user.uid for user in here}, _local("/etc/passwd")
    leaving = [name for name, uid in noted.items() if wanted.get(name) != uid]
    staying = [user for user in here if ours.get(user.name) == user.uid]
    for name in leaving:
        yield from _each(name, _lock_out(name, there=name in ours), problems)
    yield from _each("admins", _sudoers([user.name for user in staying if user.admin]), problems)
    yield from _logins([user for user in staying if (KEYS / user.name).exists()], problems)
    deadline = time.monotonic() + _PATIENCE  # for all of them, so that the last one goes within the step's limit too
    for name in leaving:
        if name in ours:
            yield from _each(name, _leave(name, accounts[name], deadline), problems)


def _admit(
    step: host.Step,
    here: Sequence[User],
    groups: dict[str, int],
    made: tuple[Mapping[str, int], Mapping[str, int], Mapping[str, int]],
    problems: dict[str, str],
) -> Generator[str, None, dict[str, str]]:
    """Gives what the file gives, once it is sure that it takes nothing from anybody; returns who is refused."""
    homes, (ours, our_groups, had_keys) = Path(step.inputs.get("homes", "/fsx/home")), made
    owners = _owners(homes, shared=step.inputs.get("shared", True)) if here else {}
    refused = {user.name: why for user in here for why in [_refusal(user, ours, owners, homes)] if why}
    users = [user for user in here if user.name not in refused]
    # Whom the file still means keeps the account; a number that now stands for somebody else does not.
    kept = [user for user in here if user.name in refused and ours.get(user.name) == user.uid]
    staying = {user.name: user.uid for user in [*users, *kept]}
    groups.update({user.group: user.uid for user in users if user.group not in groups})
    wrong = [
        *_taken("user", {user.name: user.uid for user in users}, ours, pwd.getpwnam, pwd.getpwuid),
        *_taken("group", groups, our_groups, grp.getgrnam, grp.getgrgid),
    ]
    if wrong:
        raise host.Mistake(f"{'; '.join(wrong)}; nothing was added")

    # Written down before it is done: a node that dies half-way must know its accounts again.
    keyed = {name: uid for name, uid in had_keys.items() if staying.get(name) == uid}
    _note({**ours, **staying}, {**our_groups, **groups}, keyed)
    yield from _groups(groups)
    for user in users:
        yield from _each(user.name, _account(user, homes / user.name), problems)
    for name in sorted(set(our_groups) - set(groups)):
        yield from _old_group(name)
    with_account = _still(staying, _local("/etc/passwd"))
    yield from _sudoers([user.name for user in [*users, *kept] if user.admin and user.name in with_account])
    # Who has a home does not wait for the homes of others.
    yield from _logins([user for user in users if user.name in owners and user.name not in problems], problems)
    new = [user for user in users if user.name not in owners and user.name not in problems]
    if new:
        _sweep(homes)
    for user in new:
        yield from _each(user.name, _make_home(user, groups[user.group], homes), problems)
    there = [user for user in users if user.name not in problems]
    yield from _logins(there, problems)
    if there and sshd.configure(Path("/etc/ssh/sshd_config.d/50-hyperpod.conf"), _SSHD):
        yield f"sshd reads {KEYS}"
    if step.inputs.get("keys_between_nodes", True):
        yield from _between(there, homes, step.cluster, keyed)
    left = _still(ours, _local("/etc/passwd"))  # who could not be removed: to be tried again
    _note({**left, **staying}, {**_still(our_groups, _local("/etc/group")), **groups}, keyed)
    return refused


def _each(name: str, lines: Iterator[str], problems: dict[str, str]) -> Iterator[str]:
    """What is wrong with one person stops nobody else."""
    try:
        yield from lines
    except (OSError, host.Failure) as failure:
        problems[name] = str(failure)


def _local(path: str) -> dict[str, list[str]]:
    """The lines of /etc/passwd or its like, by name; a directory's accounts are not among them."""
    lines = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")  # names may hold other ends of lines
    return {line.split(":")[0]: line.split(":") for line in lines if line.count(":") + 1 >= _FIELDS}


def _made() -> dict[str, dict[str, int]]:
    """What this step has made; from the second copy if the first is damaged."""
    copies = [path for path in (MADE, _second()) if path.exists()]
    for path in copies:
        with contextlib.suppress(ValueError, TypeError, KeyError):
            found: dict[str, dict[str, int]] = json.loads(path.read_text(encoding="utf-8"))
            return {
                "users": dict(found["users"]),
                "groups": dict(found["groups"]),
                "keyed": dict(found.get("keyed", {})),
            }
    if copies:
        raise host.Failure(f"{MADE}, which says what this step has made, is damaged: put it right by hand")
    return {"users": {}, "groups": {}, "keyed": {}}


def _second() -> Path:
    return MADE.with_name(f"{MADE.name}.copy")


def _note(users: Mapping[str, int], groups: Mapping[str, int], keyed: Mapping[str, int]) -> None:
    for path in (MADE, _second()):
        host.write(path, json.dumps({"users": users, "groups": groups, "keyed": keyed}, sort_keys=True), 0o600)


def _still(made: Mapping[str, int], there: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """What this step made and nobody has put something else in the place of."""
    return {name: number for name, number in made.items() if name in there and there[name][2] == str(number)}


def _owners(homes: Path, *, shared: bool) -> dict[str, int]:
    """To whom the home folders belong, once it is sure that users cannot exchange them.

    Raises:
        NotYet: if the shared file system is not there.
        Mistake: if others than root may rename what lies on the way to a home.
    """
    if shared and not any(host.is_mounted(each) for each in [homes, *homes.parents][:-1]):
        raise host.NotYet(f"{homes} is on no mounted file system: homes would be made on the root disk of this node")
    for each in [homes, *homes.parents]:
        with contextlib.suppress(FileNotFoundError):
            found = each.lstat()
            sticky = found.st_mode & 0o1000 and each != homes  # keeps others from renaming
            if found.st_uid or each.is_symlink() or (found.st_mode & 0o022 and not sticky):
                raise host.Mistake(
                    f"{each} is a link, not root's or writable by others, who could exchange homes: "
                    f"`chown root {each}; chmod {'go-w' if each == homes else '+t'} {each}` on any node"
                )
    owners = {}
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(homes):
            if not entry.name.startswith("."):
                owners[entry.name] = _UNSEEN
                with contextlib.suppress(OSError):
                    owners[entry.name] = entry.stat(follow_symlinks=False).st_uid
    return owners


def _refusal(user: User, ours: Mapping[str, int], owners: Mapping[str, int], homes: Path) -> str:
    """Why a user must not be on this node: files of somebody else would be theirs."""
    fix = "give a number that was never used, or settle what becomes of those files first"
    if ours.get(user.name, user.uid) != user.uid:
        return f"had uid {ours[user.name]} and now has {user.uid}, but files keep the old one; {fix}"
    if user.name in owners:
        owner = owners[user.name]
        if owner == _UNSEEN:
            return f"{homes / user.name} cannot be looked at; what is mounted over it? `umount -l {homes / user.name}`"
        return "" if owner == user.uid else f"{homes / user.name} belongs to uid {owner}, not {user.uid}; {fix}"
    others = sorted(name for name, owner in owners.items() if owner == user.uid)
    return f"uid {user.uid} owns {homes / others[0]} of somebody else; {fix}" if others else ""


def _taken(
    kind: str, wanted: Mapping[str, int], ours: Mapping[str, int], named: Callable[[str], Any], at: Callable[[int], Any]
) -> Iterator[str]:
    """What the file wants and an account that is not ours has, here or in a directory."""
    for name, number in wanted.items():
        if ours.get(name) != number:
            with contextlib.suppress(KeyError):
                its = named(name)[2]
                yield f"{kind} {name} is on this node already, with number {its}; choose another name or take it away"
            with contextlib.suppress(KeyError):
                holder = at(number)[0]
                if holder != name and holder not in ours:
                    yield f"{kind} {holder}, not from this file, has number {number}; give {name} a free one"


def _lock_out(name: str, *, there: bool) -> Iterator[str]:
    """Keeps somebody out from now on; an account that is not ours loses only our keys."""
    host.remove(KEYS / name)
    if there:
        for folder in _OF_USERS:
            with contextlib.suppress(OSError):
                host.remove(Path(folder, name))
        host.run("usermod", "-L", "-e", _EXPIRED, name)
    yield from ()


def _leave(name: str, account: Sequence[str], deadline: float) -> Iterator[str]:
    """Takes an account away; what the user owns stays."""
    _end_processes(name, int(account[2]), deadline)
    host.run("userdel", name)
    yield f"removed {name} (uid {account[2]}) and its processes; its files stay in {account[5]}"


def _end_processes(name: str, uid: int, deadline: float) -> None:
    """Ends what runs as somebody, also in containers of theirs, which have subordinate numbers."""
    ranges = [range(uid, uid + 1), *_subordinate(name)]
    deadline = max(deadline, time.monotonic() + 1)
    alive = [0]
    while alive:
        alive = []
        for each in Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError):
                status = each.read_text(encoding="utf-8", errors="replace")
                ids = re.search(r"^Uid:(.*)$", status, re.MULTILINE)
                its = [int(number) for number in ids.group(1).split()] if ids and "\nState:\tZ" not in status else []
                if any(number in numbers for number in its for numbers in ranges):
                    alive.append(int(each.parent.name))
                    os.kill(alive[-1], signal.SIGKILL)
        if alive and time.monotonic() > deadline:
            raise host.Failure(f"processes {alive} do not end, so the account stays, locked; they wait for a disk")
        time.sleep(0.1 if alive else 0)


def _subordinate(name: str) -> list[range]:
    with contextlib.suppress(OSError):
        lines = re.findall(f"^{re.escape(name)}:([0-9]+):([0-9]+)$", Path("/etc/subuid").read_text(), re.MULTILINE)
        return [range(max(int(first), _SUBORDINATE), int(first) + int(count)) for first, count in lines]
    return []


def _groups(groups: Mapping[str, int]) -> Iterator[str]:
    names = {fields[2]: name for name, fields in _local("/etc/group").items()}
    for name, gid in groups.items():
        now = names.get(str(gid))
        if not now:
            host.run("groupadd", "-g", str(gid), name)
            yield f"added group {name} (gid {gid})"
        elif now != name:
            host.run("groupmod", "-n", name, now)
            yield f"group {now} (gid {gid}) is now called {name}"


def _old_group(name: str) -> Iterator[str]:
    """Takes a group away, unless it is somebody's primary group, or userdel took it with its user."""
    group = _local("/etc/group").get(name)
    if group and not any(fields[3] == group[2] for fields in _local("/etc/passwd").values()):
        host.run("groupdel", name)
        yield f"removed group {name} (gid {group[2]})"


def _account(user: User, home: Path) -> Iterator[str]:
    """Makes or changes an account; it has no password, and keys work all the same."""
    shell = user.shell
    if not (Path(shell).is_file() and os.access(shell, os.X_OK)):
        shell = _BASH
        yield f"warning: {user.name}: this image has no {user.shell}; the shell is {shell}"
    wanted = {"-g": user.group, "-d": str(home), "-s": shell, "-G": ",".join(user.groups)}
    account, groups = _local("/etc/passwd").get(user.name), _local("/etc/group")
    if not account:
        given = [part for option, value in wanted.items() if value for part in (option, value)]
        host.run("useradd", "-M", "-N", "-u", str(user.uid), "-p", "*", *given, user.name)
        yield f"added {user.name} (uid {user.uid})"
        return
    shadow = _local("/etc/shadow").get(user.name)
    if not shadow or shadow[7] == _EXPIRED:
        host.run("pwconv")  # a useradd that died leaves half an account; a removal that did, one that is locked
        host.run("usermod", "-e", "", "-p", "*", user.name)
        yield f"mended {user.name}"
    if account[3] != groups[user.group][2]:
        _regroup(user.name, groups[user.group][2])
        yield f"changed {user.name}: group {user.group}"
    member = sorted(name for name, fields in groups.items() if user.name in fields[3].split(","))
    now = {"-g": user.group, "-d": account[5], "-s": account[6], "-G": ",".join(member)}
    change = [part for option, value in wanted.items() if value != now[option] for part in (option, value)]
    if change:
        host.run("usermod", *change, user.name)
        yield f"changed {user.name}: {' '.join(change)}"


def _regroup(name: str, gid: str) -> None:
    """Changes a primary group; `usermod -g` would walk through the home for it, as root and on every node."""
    libc = ctypes.CDLL(None)
    if libc.lckpwdf():
        raise host.Failure("/etc/passwd stays locked by another program")
    try:
        text = Path("/etc/passwd").read_bytes().decode("utf-8", "surrogateescape")
        line = re.compile(f"^({re.escape(name)}:[^:]*:[^:]*):[^:]*:", re.MULTILINE)
        host.write("/etc/passwd", line.sub(rf"\g<1>:{gid}:", text))
    finally:
        libc.ulckpwdf()


def _make_home(user: User, gid: int, homes: Path) -> Iterator[str]:
    """Makes a home in a folder that only root may enter, so that it appears whole or not at all.

    Nodes that race each make one; the first to rename it wins. Whose home it is must not reach it before that: root
    follows what lies in it.
    """
    home, half = homes / user.name, ""
    try:
        homes.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(str(home)):  # another node was faster
            return
        half = tempfile.mkdtemp(dir=str(homes), prefix=_HALF)
        new = Path(half, "home")
        host.run("cp", "-rT", "/etc/skel", new)
        host.run("chmod", "700", new)
        host.run("chown", "-Rh", f"{user.uid}:{gid}", new)
        new.rename(home)
        yield f"made {home}"
    except (OSError, host.Failure) as failure:
        if not os.path.lexists(str(home)):
            squashed = any(words in str(failure) for words in ("Read-only", "not permitted", "Permission denied"))
            hint = "; root may not write there: mount it for writing and without root squash" if squashed else ""
            raise host.Failure(f"{home} cannot be made: {failure}{hint}") from None
    finally:
        if half:
            shutil.rmtree(half, ignore_errors=True)


def _sweep(homes: Path) -> None:
    """Takes away what nodes left that died while they made a home; nobody but root could ever get into it."""
    for each in homes.glob(f"{_HALF}*"):
        with contextlib.suppress(OSError):
            found = each.lstat()
            if not found.st_uid and not found.st_mode & 0o077 and time.time() - found.st_mtime > _HOUR:
                shutil.rmtree(str(each), ignore_errors=True)


def _between(users: Sequence[User], homes: Path, cluster: str, keyed: dict[str, int]) -> Iterator[str]:
    """Sees to keys between nodes once for each: looking into every home again and again would cost jobs time."""
    for user in users:
        if keyed.get(user.name) != user.uid and (yield from _own_keys(user, homes / user.name, cluster)):
            keyed[user.name] = user.uid
    if users:
        host.write("/etc/ssh/ssh_config.d/50-hyperpod.conf", _SSH)


def _own_keys(user: User, home: Path, cluster: str) -> Generator[str, None, bool]:
    """Gives somebody a key of their own, made by themselves, that opens their account on every node."""
    try:
        host.run("sh", "-c", _OWN_KEYS, "sh", home, f"{user.name}@{cluster}", user=user.name, timeout=5)
    except host.Failure as failure:  # what a user does to their home fails no step
        yield f"warning: {user.name} has no key between nodes: {failure}"
        return False
    return True


def _logins(users: Sequence[User], problems: dict[str, str]) -> Iterator[str]:
    for user in users:
        yield from _each(user.name, _login(user), problems)


def _login(user: User) -> Iterator[str]:
    if host.write(KEYS / user.name, "".join(f"{key}\n" for key in user.keys)):
        yield f"keys of {user.name}: {len(user.keys)}"


def _sudoers(admins: Sequence[str]) -> Iterator[str]:
    text = "".join(f"{name} ALL=(ALL:ALL) NOPASSWD: ALL\n" for name in admins)
    if text:
        checked = roster.DATA / "sudoers"
        host.write(checked, text, 0o440)
        host.run("visudo", "-cf", checked)
    if host.write(_SUDOERS, text, 0o440) if text else host.remove(_SUDOERS):
        yield f"admins: {', '.join(admins) or 'none'}"


if __name__ == "__main__":
    host.main(work)
