"""People on played nodes: who comes, changes and goes on running nodes, and what may go wrong meanwhile."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from tests.proof.conftest import Faults
from tests.proof.nodes import Node, can_play_nodes, inputs, step

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

KEY: Final = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFkYQ== ada@laptop"
ADA: Final[dict[str, Any]] = {"name": "ada", "uid": 2001, "keys": [KEY], "groups": ["ml"], "admin": True}
BOB: Final[dict[str, Any]] = {"name": "bob", "uid": 2002, "group": "ml"}
EVE: Final[dict[str, Any]] = {"name": "eve", "uid": 2003}
GROUPS: Final = [{"name": "ml", "gid": 3000}, {"name": "ops", "gid": 3001}]
FILE: Final = "/aws/s3/bucket/people.json"
_AT_ONCE: Final = 10
"""Seconds; longer means that somebody waited for somebody else."""
_SNAPSHOT: Final = (
    "find /etc/passwd /etc/group /etc/shadow /etc/gshadow /etc/subuid /etc/sudoers.d /etc/ssh /fsx /var/lib/hyperpod "
    "/var/log/systemctl -printf '%p %i %T@ %C@ %m %U %G\\n' | grep -v '^/var/lib/hyperpod [0-9]' | sort"
)


@pytest.fixture
def fsx(tmp_path: Path) -> Path:
    """The shared file system."""
    folder = tmp_path / "fsx"
    folder.mkdir(mode=0o755)
    return folder


def make(fsx: Path, name: str = "n1", *, group: str = "p5", **given: Any) -> Node:
    given = {"parameter": "/hyperpod/Frontier/people", "homes": "/fsx/home", **given}
    everything = inputs([step("people", timeout=60, every=300, inputs=given)])
    return Node(name=name, group=group, inputs=everything, folder=fsx.parent / name, shared={"/fsx": fsx})


def publish(node: Node, users: Sequence[dict[str, Any]] | None, **given: Any) -> None:
    people = {"version": 1, "groups": GROUPS, "users": users, **given}
    node.write("/aws/ssm/hyperpod/Frontier/people", "s3://bucket/people.json\n")
    node.write(FILE, json.dumps({key: value for key, value in people.items() if value is not None}))


def apply(node: Node, users: Sequence[dict[str, Any]] | None, code: int = 0, **given: Any) -> str:
    """Publishes people and runs the step; returns what it said."""
    publish(node, users, **given)
    return run(node, code)


def run(node: Node, code: int = 0) -> str:
    installed = node.run("test", "-x", "/usr/local/sbin/hyperpod-node").returncode == 0
    ran = node.step("people") if installed else node.boot()
    assert f"step=people event=end code={code} " in ran.stdout, ran.stdout + ran.stderr
    return ran.stdout


def shell(node: Node, script: str) -> str:
    ran = node.run("sh", "-ec", script)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def known(node: Node, name: str) -> bool:
    return node.run("id", name).returncode == 0


def test_people_come_with_home_groups_keys_and_rights(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        assert shell(node, "id ada; id bob") == (
            "uid=2001(ada) gid=2001(ada) groups=2001(ada),3000(ml)\nuid=2002(bob) gid=3000(ml) groups=3000(ml)\n"
        )
        assert shell(node, "stat -c '%a %u %g' /fsx/home /fsx/home/ada /fsx/home/bob /fsx/home/ada/.bashrc") == (
            "755 0 0\n700 2001 2001\n700 2002 3000\n644 2001 2001\n"
        )
        assert node.read("/etc/ssh/authorized_keys.d/ada") == f"{KEY}\n"
        assert shell(node, "stat -c '%a %U' /etc/ssh/authorized_keys.d /etc/ssh/authorized_keys.d/ada") == (
            "755 root\n644 root\n"
        )
        assert shell(node, "sudo -l -U ada | tail -1").strip() == "(ALL : ALL) NOPASSWD: ALL"
        assert "not allowed" in shell(node, "sudo -l -U bob")
        assert "try-reload-or-restart ssh.service" in node.read("/var/log/systemctl")


def test_a_second_run_changes_no_file_and_restarts_nothing(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB, EVE])
        before = shell(node, _SNAPSHOT)
        assert "people| nothing to do" in run(node)
        assert shell(node, _SNAPSHOT) == before


def test_changes_to_a_person_are_applied_by_the_next_run(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        said = apply(node, [{**ADA, "keys": [], "groups": ["ops"], "shell": "/bin/sh", "admin": False}, BOB])
        assert "people| changed ada: -s /bin/sh -G ops" in said
        assert shell(node, "id -nG ada; getent passwd ada | cut -d: -f7") == "ada ops\n/bin/sh\n"
        assert node.read("/etc/ssh/authorized_keys.d/ada") == ""
        assert node.run("test", "-e", "/etc/sudoers.d/hyperpod-people").returncode == 1
        assert "people| changed bob: group bob" in apply(node, [{**ADA, "groups": []}, {"name": "bob", "uid": 2002}])
        assert shell(node, "id -nG ada; id -ng bob; getent passwd bob") == (
            "ada\nbob\nbob:x:2002:2002::/fsx/home/bob:/bin/bash\n"
        )
        assert shell(node, "stat -c '%a %U %g' /etc/passwd /fsx/home/bob") == "644 root 0\n700 bob 3000\n"


def test_somebody_who_leaves_loses_everything_but_their_files_on_every_running_node(fsx: Path, faults: Faults) -> None:
    with make(fsx, "n1") as one, make(fsx, "n2", group="login") as two:
        for node in (one, two):
            apply(node, [ADA, BOB])
        shell(one, "echo data >/fsx/home/ada/results; chown ada: /fsx/home/ada/results")
        shell(one, """runuser -u ada -- sh -c "trap '' TERM HUP; setsid sleep 300" >/dev/null 2>&1 & sleep 0.3""")
        assert shell(one, "pgrep -u ada").strip()
        began = time.monotonic()
        for node in (one, two):
            said = apply(node, [BOB])
            assert "people| removed ada (uid 2001) and its processes; its files stay in /fsx/home/ada" in said
            assert not known(node, "ada")
            assert "ada" not in shell(node, "cat /etc/group /etc/shadow /var/lib/hyperpod/people.json")
            assert "ada" not in shell(
                node, "ls /etc/ssh/authorized_keys.d; cat /etc/sudoers.d/* | grep -v '^#' || true"
            )
        spent = time.monotonic() - began
        assert one.run("pgrep", "-u", "2001").returncode == 1
        assert shell(one, "cat /fsx/home/ada/results; stat -c %u /fsx/home/ada") == "data\n2001\n"
        assert "people| nothing to do" in run(one)
        apply(one, [ADA, BOB])  # who comes back finds their files
        assert shell(one, "runuser -u ada cat /fsx/home/ada/results") == "data\n"
    faults.survived("somebody leaves while their processes run", "account, keys, rights and processes gone", spent)


def test_groups_go_unless_somebody_needs_them(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        said = apply(node, [{**ADA, "groups": []}, {"name": "bob", "uid": 2002}], groups=[])
        assert ("removed group ml (gid 3000)" in said, "removed group ops (gid 3001)" in said) == (True, True)
        assert node.run("getent", "group", "ml", "ops").returncode == 2
        apply(node, [], groups=[{"name": "old", "gid": 3005}])
        assert "group old (gid 3005) is now called new" in apply(node, [], groups=[{"name": "new", "gid": 3005}])
        assert "nothing to do" in run(node)


def test_roles_say_where_somebody_is(fsx: Path) -> None:
    with make(fsx, "n1") as compute, make(fsx, "n2", group="login") as login:
        users = [{**ADA, "roles": ["login"]}, BOB]
        apply(compute, users)
        apply(login, users)
        assert (known(compute, "ada"), known(login, "ada"), known(compute, "bob")) == (False, True, True)
        apply(login, [{**ADA, "roles": ["compute"]}, BOB])
        assert not known(login, "ada")


def test_nodes_that_race_make_every_home_and_key_once(fsx: Path, faults: Faults) -> None:
    names = [f"user{number}" for number in range(8)]
    users = [{"name": name, "uid": 2000 + number} for number, name in enumerate(names)]
    with contextlib.ExitStack() as stack:
        nodes = [stack.enter_context(make(fsx, f"n{number}")) for number in range(3)]
        for node in nodes:
            publish(node, users)
        began = time.monotonic()
        with ThreadPoolExecutor(len(nodes)) as pool:
            said = list(pool.map(run, nodes))
        spent = time.monotonic() - began
        assert sum(each.count("people| made ") for each in said) == len(users)
        assert not [line for each in said for line in each.splitlines() if "warning" in line]
        left = sorted(path.name for path in (fsx / "home").iterdir())
        assert left == names
        for name in names:
            folder = fsx / "home" / name / ".ssh"
            assert sorted(path.name for path in folder.iterdir()) == ["authorized_keys", "id_ed25519", "id_ed25519.pub"]
            assert (folder / "authorized_keys").read_text() == (folder / "id_ed25519.pub").read_text()
            assert len({path.read_text() for path in (fsx / "home").glob("*/.ssh/id_ed25519")}) == len(users)
    faults.survived("three nodes race for eight new homes", "each home and key pair was made once", spent)


def test_homes_that_are_there_get_keys_once_when_nodes_race(fsx: Path) -> None:
    with make(fsx, "n1", keys_between_nodes=False) as node:
        apply(node, [EVE])
    assert not (fsx / "home/eve/.ssh").exists()
    with make(fsx, "n1") as one, make(fsx, "n2") as two:
        for node in (one, two):
            publish(node, [EVE])
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, (one, two)))
        folder = fsx / "home/eve/.ssh"
        assert sorted(path.name for path in folder.iterdir()) == ["authorized_keys", "id_ed25519", "id_ed25519.pub"]
        assert set((folder / "authorized_keys").read_text().splitlines()) == {
            (folder / "id_ed25519.pub").read_text().strip()
        }
        derived = shell(one, "runuser -u eve -- ssh-keygen -y -f /fsx/home/eve/.ssh/id_ed25519").split()[1]
        assert (folder / "id_ed25519.pub").read_text().split()[1] == derived


@contextlib.contextmanager
def serving(node: Node, log: Path) -> Iterator[int]:
    """A real sshd of the node, with the node's own settings."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    options = ["-o", "ListenAddress=127.0.0.1", "-o", f"PidFile=/run/sshd-{port}.pid"]
    server = node.start("/usr/sbin/sshd", "-D", "-e", "-p", str(port), *options, log=log)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield port
    finally:
        node.run("sh", "-c", f"kill $(cat /run/sshd-{port}.pid)")
        server.wait(10)


def login(node: Node, port: int, who: str, key: str, *, by: str = "root") -> subprocess.CompletedProcess[str]:
    """Logs in with a key, as another user of the node does."""
    options = ["-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    command = [
        "ssh",
        *options,
        "-o",
        "IdentitiesOnly=yes",
        "-i",
        key,
        "-p",
        str(port),
        f"{who}@127.0.0.1",
        "id -un; pwd",
    ]
    return node.run("runuser", "-u", by, "--", *command)


def test_sshd_lets_a_person_in_with_their_key_and_not_after_they_left(fsx: Path, faults: Faults) -> None:
    with make(fsx) as node:
        shell(node, "ssh-keygen -q -t ed25519 -N '' -f /root/ada; ssh-keygen -q -t ed25519 -N '' -f /root/other")
        user = {**ADA, "keys": [node.read("/root/ada.pub").strip()]}
        apply(node, [user])
        with serving(node, fsx.parent / "sshd") as port:
            assert login(node, port, "ada", "/root/ada").stdout == "ada\n/fsx/home/ada\n"
            assert "Permission denied (publickey)" in login(node, port, "ada", "/root/other").stderr
            apply(node, [{**user, "keys": [node.read("/root/other.pub").strip()]}])
            assert login(node, port, "ada", "/root/other").stdout == "ada\n/fsx/home/ada\n"
            assert "Permission denied" in login(node, port, "ada", "/root/ada").stderr
            began = time.monotonic()
            apply(node, [])
            spent = time.monotonic() - began
            for key in ("/root/ada", "/root/other", "/fsx/home/ada/.ssh/id_ed25519"):
                assert "Permission denied" in login(node, port, "ada", key).stderr
    faults.survived("somebody who left logs in with their old key", "refused by sshd", spent)


def test_a_persons_own_key_leads_from_node_to_node_and_opens_no_other_account(fsx: Path) -> None:
    with make(fsx, "n1") as one, make(fsx, "n2") as two:
        for node in (one, two):
            apply(node, [ADA, EVE])
        with serving(two, fsx.parent / "sshd") as port:
            own = "/fsx/home/eve/.ssh/id_ed25519"
            assert login(one, port, "eve", own, by="eve").stdout == "eve\n/fsx/home/eve\n"
            assert "Permission denied" in login(one, port, "ada", own, by="eve").stderr


def test_a_file_that_was_cut_off_changes_nothing(fsx: Path, faults: Faults) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        whole, before = node.read(FILE), shell(node, _SNAPSHOT)
        began = time.monotonic()
        for text in (whole[:-30], "", "<html>", "[]"):
            node.write(FILE, text)
            assert "the roster is cut off or not what it should be" in run(node, 78)
        spent = time.monotonic() - began
        assert shell(node, _SNAPSHOT) == before
    faults.survived("roster cut off", "refused, code 78, nothing changed", spent)


def test_a_file_that_lost_its_users_removes_nobody(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        assert 'the file has no users, 2 are here; if all are to go, write `"users": []`' in apply(node, None, 78)
        assert known(node, "ada")
        apply(node, [])
        assert not known(node, "ada")


def test_without_network_a_node_keeps_and_mends_its_people(fsx: Path, faults: Faults) -> None:
    with make(fsx) as node:
        apply(node, [ADA])
        node.write("/aws/offline", "")
        shell(node, "rm /etc/ssh/authorized_keys.d/ada; userdel ada")
        began = time.monotonic()
        said = run(node, 75)
        spent = time.monotonic() - began
        assert "this node keeps the people of its last good copy: " in said
        assert "Could not connect to the endpoint" in said
        assert known(node, "ada")
        assert node.read("/etc/ssh/authorized_keys.d/ada") == f"{KEY}\n"
    with make(fsx, "n2") as new:
        new.write("/aws/offline", "")
        assert "cannot be read; publish" in run(new, 75)
    faults.survived("no network for the roster", "last good copy kept, code 75", spent)


def test_a_parameter_or_file_that_is_not_there_is_a_mistake(fsx: Path, faults: Faults) -> None:
    with make(fsx) as node:
        began = time.monotonic()
        assert "ParameterNotFound" in run(node, 78)
        spent = time.monotonic() - began
        node.write("/aws/ssm/hyperpod/Frontier/people", "s3://bucket/people.json\n")
        assert "cannot be read; publish" in run(node, 78)
        node.write("/aws/ssm/hyperpod/Frontier/people", "people.json\n")
        assert "holds 'people.json', not the s3:// of the roster" in run(node, 78)
    faults.survived("people parameter missing", "code 78 with its name and what to do", spent)


def test_accounts_of_the_image_are_not_touched(fsx: Path) -> None:
    with make(fsx) as node:
        shell(node, "useradd -u 1600 -m -d /home/ubuntu ubuntu; groupadd -g 1500 research")
        before = shell(node, "cat /etc/passwd /etc/group")
        said = apply(node, [{"name": "ubuntu", "uid": 2005}, ADA], 78)
        assert (
            "people| user ubuntu is on this node already, with number 1600; choose another name or take it away; "
            in said
        )
        assert "nothing was added" in said
        assert "user ubuntu, not from this file, has number 1600" in apply(node, [{**EVE, "uid": 1600}], 78)
        assert "group research is on this node already" in apply(
            node, [], 78, groups=[{"name": "research", "gid": 1500}]
        )
        assert "group research, not from this file, has number 1500" in apply(node, [{**EVE, "uid": 1500}], 78)
        assert shell(node, "cat /etc/passwd /etc/group") == before
        assert not (fsx / "home").exists()


def test_only_who_has_a_reused_name_or_number_is_refused(fsx: Path, faults: Faults) -> None:
    for name, uid in (("ada", 1999), ("gone", 2003)):
        (fsx / "home" / name).mkdir(parents=True)
        (fsx / "home" / name).chmod(0o700)
        give(fsx / "home" / name, uid)
    (fsx / "home").chmod(0o755)
    with make(fsx) as node:
        began = time.monotonic()
        said = apply(node, [ADA, BOB, EVE], 78)
        spent = time.monotonic() - began
        assert "ada: /fsx/home/ada belongs to uid 1999, not 2001" in said
        assert "eve: uid 2003 owns /fsx/home/gone of somebody else" in said
        assert (known(node, "ada"), known(node, "bob"), known(node, "eve")) == (False, True, False)
        assert "ada" not in node.read("/var/lib/hyperpod/people.json")
    faults.survived("a uid or name is used again", "that person is refused, the others are there, code 78", spent)


def test_a_name_that_now_means_somebody_else_closes_the_old_account(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        said = apply(node, [{**ADA, "uid": 2009}, BOB], 78)
        assert "removed ada (uid 2001)" in said
        assert "ada: had uid 2001 and now has 2009, but files keep the old one" in said
        assert not known(node, "ada")
        assert node.run("test", "-e", "/etc/ssh/authorized_keys.d/ada").returncode == 1
        assert json.loads(node.read("/var/lib/hyperpod/people.json"))["users"] == {"bob": 2002}


def test_a_home_that_was_given_away_costs_nobody_their_running_work(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        give(fsx / "home/ada", 4000)
        assert "ada: /fsx/home/ada belongs to uid 4000" in apply(node, [ADA, EVE], 78)
        assert (known(node, "ada"), known(node, "bob"), known(node, "eve")) == (True, False, True)
        assert "ada" in node.read("/etc/sudoers.d/hyperpod-people")


def test_a_full_file_system_costs_the_new_ones_only(fsx: Path, faults: Faults) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=755", "small", str(fsx)], check=True)
    try:
        with make(fsx) as node:
            apply(node, [EVE])
            shell(node, "cat /dev/zero >/fsx/ballast 2>/dev/null || true")
            began = time.monotonic()
            said = apply(node, [EVE, ADA, BOB], 1)
            spent = time.monotonic() - began
            assert "ada: /fsx/home/ada cannot be made: cp -rT /etc/skel /fsx/home/.new-" in said
            assert "No space left on device" in said
            assert sorted(path.name for path in (fsx / "home").iterdir()) == ["eve"]
            assert node.run("test", "-e", "/etc/ssh/authorized_keys.d/ada").returncode == 1
            shell(node, "rm /fsx/ballast")
            assert "made /fsx/home/ada" in run(node)
            assert node.read("/etc/ssh/authorized_keys.d/ada") == f"{KEY}\n"
    finally:
        subprocess.run(["umount", "-l", str(fsx)], check=True)
    faults.survived("shared file system full", "no half homes, others unharmed, code 1; next run finishes", spent)


def test_what_is_withdrawn_does_not_wait_for_the_file_system(fsx: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "small", str(fsx)], check=True)
    try:
        with make(fsx) as node:
            apply(node, [ADA, BOB])
            subprocess.run(["mount", "-o", "remount,ro", str(fsx)], check=True)
            said = apply(node, [{**ADA, "keys": [], "admin": False}, EVE], 1)
            assert "eve: /fsx/home/eve cannot be made: " in said
            assert "root may not write there: mount it for writing and without root squash" in said
            assert node.read("/etc/ssh/authorized_keys.d/ada") == ""
            assert node.run("test", "-e", "/etc/sudoers.d/hyperpod-people").returncode == 1
            assert not known(node, "bob")
            assert node.run("test", "-e", "/etc/ssh/authorized_keys.d/eve").returncode == 1
    finally:
        subprocess.run(["umount", "-l", str(fsx)], check=True)


def test_without_the_shared_file_system_no_home_is_made(fsx: Path, faults: Faults) -> None:
    with make(fsx) as node:
        publish(node, [ADA])
        shell(node, "umount /fsx")
        began = time.monotonic()
        assert "/fsx/home is on no mounted file system" in run(node, 75)
        spent = time.monotonic() - began
        assert (known(node, "ada"), node.run("test", "-e", "/fsx/home").returncode) == (False, 1)
    faults.survived("homes' file system not mounted", "no homes on the root disk, code 75", spent)


def test_root_does_not_write_where_a_users_links_point(fsx: Path, faults: Faults) -> None:
    with make(fsx, "n1") as first:
        apply(first, [ADA, BOB, EVE])
    with make(fsx, "n2") as node:
        publish(node, [ADA, BOB, EVE])
        shell(
            node,
            "cd /fsx/home; rm -r ada/.ssh bob/.ssh/authorized_keys bob/.ssh/id_ed25519.pub eve/.ssh/authorized_keys;"
            "useradd -M -u 2001 ada; useradd -M -u 2002 bob; useradd -M -u 2003 eve;"
            "mkdir -m 700 /etc/precious; touch /etc/precious/shadow; chmod 600 /etc/precious/shadow;"
            "runuser -u ada -- ln -s /etc/precious ada/.ssh;"
            "runuser -u bob -- ln -s /etc/precious/shadow bob/.ssh/authorized_keys;"
            "runuser -u eve -- mkfifo eve/.ssh/authorized_keys;"
            "userdel ada; userdel bob; userdel eve",
        )
        before = shell(node, "ls -lA --time-style=full-iso /etc/precious; cat /etc/precious/shadow")
        began = time.monotonic()
        said = run(node)
        spent = time.monotonic() - began
        for name in ("ada", "bob", "eve"):
            assert f"people| warning: {name} has no key between nodes: runuser -u {name} " in said
        assert shell(node, "ls -lA --time-style=full-iso /etc/precious; cat /etc/precious/shadow") == before
        apply(node, [BOB, EVE])
        assert shell(node, "ls -lA --time-style=full-iso /etc/precious; cat /etc/precious/shadow") == before
    faults.survived("users' ~/.ssh are links to /etc, or pipes", "root writes nothing; a warning each", spent)


def test_homes_that_others_could_exchange_are_refused(fsx: Path) -> None:
    with make(fsx) as node:
        fsx.chmod(0o777)
        assert "/fsx is a link, not root's or writable by others" in apply(node, [ADA], 78)
        fsx.chmod(0o1777)
        apply(node, [ADA])
        (fsx / "home").chmod(0o1777)
        assert "`chown root /fsx/home; chmod go-w /fsx/home` on any node" in run(node, 78)


def test_a_run_that_was_killed_half_way_is_finished_by_the_next(fsx: Path, faults: Faults) -> None:
    with make(fsx) as node:
        node.write("/usr/local/sbin/useradd", '#!/bin/sh\n/usr/sbin/useradd "$@"; kill -9 $PPID\n', 0o755)
        publish(node, [ADA, BOB])
        began = time.monotonic()
        run(node, -9)
        assert known(node, "ada")
        shell(node, "rm /usr/local/sbin/useradd; mkdir -pm 700 /fsx/home/.new-x; touch -d yesterday /fsx/home/.new-x")
        run(node)
        spent = time.monotonic() - began
        assert shell(node, "id -nG ada; ls -A /fsx/home") == "ada ml\nada\nbob\n"
        assert "nothing to do" in run(node)
    faults.survived("a run dies between two accounts", "the next one knows its accounts and finishes", spent)


def test_settings_that_sshd_refuses_or_overrules_are_told(fsx: Path) -> None:
    with make(fsx) as node:
        node.write("/etc/ssh/sshd_config.d/10-other.conf", "PasswordAuthentication yes\n")
        assert "'PasswordAuthentication no' of /etc/ssh/sshd_config.d/50-hyperpod.conf has no effect" in apply(
            node, [ADA], 78
        )
        assert "has no effect" in run(node, 78)
        node.write("/etc/ssh/sshd_config.d/10-other.conf", "Nonsense yes\n")
        shell(node, "rm /etc/ssh/sshd_config.d/50-hyperpod.conf")
        assert "sshd -T -C user=nobody" in run(node, 1)
        assert node.run("test", "-e", "/etc/ssh/sshd_config.d/50-hyperpod.conf").returncode == 1


def test_a_shell_that_the_image_lacks_does_not_lock_anybody_out(fsx: Path) -> None:
    with make(fsx) as node:
        for shell_name in ("/bin/zsh-none", "/usr"):
            assert f"warning: ada: this image has no {shell_name}; the shell is /bin/bash" in apply(
                node, [{**ADA, "shell": shell_name}]
            )
            assert shell(node, "getent passwd ada | cut -d: -f7") == "/bin/bash\n"


def test_people_of_a_directory_need_nothing_here(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, None, groups=[], teams=[{"name": "nlp", "members": ["ada"]}])
        assert "nothing to do" in run(node)
        assert node.run("test", "-e", "/etc/ssh/sshd_config.d/50-hyperpod.conf").returncode == 1


def test_a_half_made_home_is_out_of_its_owners_reach_and_holds_nobody_up(fsx: Path, faults: Faults) -> None:
    with make(fsx, "n1") as one, make(fsx, "n2") as two:
        one.write("/usr/local/sbin/chown", '#!/bin/sh\n/usr/bin/chown "$@"; kill -9 $PPID\n', 0o755)
        publish(one, [ADA])
        run(one, -9)
        [half] = (fsx / "home").iterdir()
        assert (half / "home").stat().st_uid == ADA["uid"]
        for path in (half, half / "home", half / "home/.bashrc"):
            assert one.run("runuser", "-u", "ada", "--", "ls", f"/fsx/home/{path.relative_to(fsx / 'home')}").returncode
        began = time.monotonic()
        apply(two, [ADA])
        spent = time.monotonic() - began
        assert sorted(path.name for path in (fsx / "home").iterdir()) == sorted([half.name, "ada"])
        shell(two, f"touch -d yesterday /fsx/home/{half.name}")
        apply(two, [ADA, EVE])
        assert sorted(path.name for path in (fsx / "home").iterdir()) == ["ada", "eve"]
    assert spent < _AT_ONCE
    faults.survived("a node dies while it makes a home", "its owner cannot enter it; other nodes go on", spent)


def test_a_half_made_home_of_a_user_is_never_entered(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [BOB])
        shell(node, "mkdir -m 700 /fsx/home/.ada.new /fsx/home/.new-ada; echo precious >/target; chmod 600 /target")
        for name in (".ada.new", ".new-ada"):
            shell(node, f"cd /fsx/home/{name}; ln -s /target .bashrc; mkfifo .profile; chown -Rh 2001 .")
            shell(node, f"touch -d yesterday /fsx/home/{name}")
        before = shell(node, "stat -c '%n %i %u %a' /target /fsx/home/.ada.new /fsx/home/.new-ada; cat /target")
        apply(node, [ADA, BOB])
        assert shell(node, "stat -c '%n %i %u %a' /target /fsx/home/.ada.new /fsx/home/.new-ada; cat /target") == before


_AUTOFS: Final = """
import ctypes, os, time
os.setsid()  # whom the program that mounts on demand starts would not wait for it
asked, asks = os.pipe()
options = f"fd={asks},minproto=5,maxproto=5,direct".encode()
print(ctypes.CDLL(None).mount(b"x", b"WHERE", b"autofs", 0, options), flush=True)
time.sleep(60)
"""


def mount_dead(node: Node, where: str, log: Path) -> None:
    """Mounts a file system that never answers: what would be mounted there on demand never comes."""
    node.start("/usr/bin/python3", "-c", _AUTOFS.replace("WHERE", where), log=log)
    for _ in range(100):
        if log.exists() and log.read_text():
            break
        time.sleep(0.05)
    assert log.read_text() == "0\n"


def mount_broken(node: Node, where: str) -> None:
    """Mounts what can be looked at no more, not even by root: a folder of the settings of a network that is gone."""
    shell(node, f"unshare --net mount --bind /proc/sys/net/ipv4/conf/lo {where}")
    for _ in range(100):
        if node.run("stat", where).returncode:
            return
        time.sleep(0.05)
    raise AssertionError(f"{where} can still be looked at")


def test_who_mounts_something_over_their_home_concerns_nobody_else(fsx: Path, faults: Faults) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        mount_broken(node, "/fsx/home/ada")
        began = time.monotonic()
        said = apply(node, [ADA, EVE], 78)
        spent = time.monotonic() - began
        assert 'message="ada: /fsx/home/ada cannot be looked at; what is mounted over it? `umount -l' in said
        assert (known(node, "ada"), known(node, "bob"), known(node, "eve")) == (True, False, True)
        apply(node, [EVE])
        assert not known(node, "ada")
    faults.survived("a user mounts something over their home", "their own problem only, code 78", spent)


def is_out(node: Node, name: str) -> bool:
    left = shell(node, "cat /etc/passwd /etc/sudoers.d/*; ls /etc/ssh/authorized_keys.d")
    return not any(line.split(":")[0].split(" ")[0] == name for line in left.splitlines())


@pytest.mark.parametrize(
    ("fault", "code"),
    [("umount /fsx", 75), ("chmod g+w /fsx/home", 78), ("useradd -M -N -u 2010 zed", 78), ("rm -r /fsx/home", 0)],
)
def test_withdrawal_waits_for_nothing_else(fsx: Path, fault: str, code: int) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB, {**EVE, "admin": True, "keys": [KEY]}])
        shell(node, fault)
        said = apply(node, [BOB, {**EVE, "keys": []}, {"name": "zed", "uid": 2011}], code)
        assert "people| removed ada (uid 2001) and its processes" in said
        assert is_out(node, "ada")
        assert node.read("/etc/ssh/authorized_keys.d/eve") == ""
        assert node.run("test", "-e", "/etc/sudoers.d/hyperpod-people").returncode == 1
        node.write("/aws/offline", "")
        run(node, code or 75)
        assert is_out(node, "ada")  # no older copy of the roster brings them back


def test_withdrawal_does_not_wait_for_a_file_system_that_hangs(fsx: Path, faults: Faults) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        given = {"parameter": "/hyperpod/Frontier/people", "homes": "/fsx/home"}
        node.publish(inputs([step("people", timeout=3, inputs=given)]))
        assert node.boot().returncode == 0
        mount_dead(node, "/fsx", fsx.parent / "mounted")
        began = time.monotonic()
        apply(node, [BOB], 124)
        spent = time.monotonic() - began
        assert is_out(node, "ada")
    faults.survived("somebody leaves while the shared file system hangs", "out all the same; code 124", spent)


def test_accounts_that_a_run_which_died_left_half_are_mended(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        for damage in ("usermod -L -e 1 ada", "sed -i /^ada:/d /etc/shadow"):
            shell(node, damage)
            assert "people| mended ada" in run(node)
            assert shell(node, "getent shadow ada | cut -d: -f2,8; su - ada -c 'echo in' </dev/null") == "*:\nin\n"
            assert "nothing to do" in run(node)
        assert shell(node, "stat -c '%a %G' /etc/shadow") == "640 shadow\n"
        shell(node, "usermod -L bob")  # by hand: that stays
        assert "nothing to do" in run(node)


def test_sshd_is_reloaded_by_the_next_run_if_a_node_died_before_it_was(fsx: Path) -> None:
    with make(fsx) as node:
        die = '#!/bin/sh\necho "$@" >>/var/log/systemctl\ncase "$*" in *ssh*) kill -9 $PPID;; esac\n'
        publish(node, [ADA])
        node.write("/usr/local/bin/systemctl", die, 0o755)
        run(node, -9)
        node.write("/usr/local/bin/systemctl", die.replace("kill -9 $PPID", ""), 0o755)
        for _ in range(2):
            run(node)
        assert node.read("/var/log/systemctl").count("try-reload-or-restart ssh.service") == 2


def test_what_runs_without_a_login_goes_with_who_leaves_and_their_containers(fsx: Path) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        mine = ["/var/spool/cron/crontabs/ada", "/var/lib/systemd/linger/ada"]
        shell(node, "mkdir -p /var/spool/cron/crontabs /var/lib/systemd/linger; touch " + " ".join(mine))
        first = shell(node, "grep ^ada: /etc/subuid | cut -d: -f2").strip()
        for uid in (first, str(int(first) + 65535)):
            shell(node, f"setpriv --reuid {uid} --clear-groups setsid sleep 300 >/dev/null 2>&1 &")
        shell(node, f"setpriv --reuid {int(first) + 65536} --clear-groups setsid sleep 301 >/dev/null 2>&1 & sleep 0.3")
        apply(node, [BOB])
        assert node.run("pgrep", "-f", "sleep 300").returncode == 1
        assert node.run("pgrep", "-f", "sleep 301").returncode == 0
        assert all(node.run("test", "-e", path).returncode == 1 for path in mine)
        assert (fsx / "home/ada/.bashrc").exists()


@pytest.mark.parametrize("damage", ["", '{"users": {"a'])
def test_notes_that_a_power_loss_damaged_keep_nobody_in(fsx: Path, damage: str) -> None:
    with make(fsx) as node:
        apply(node, [ADA, BOB])
        node.write("/var/lib/hyperpod/people.json", damage, 0o600)
        apply(node, [BOB])
        assert is_out(node, "ada")
        assert "ada" not in node.read("/var/lib/hyperpod/people.json")


def test_homes_may_be_on_the_own_disk_of_each_node(fsx: Path) -> None:
    with make(fsx, "n1", homes="/home", shared=False) as one, make(fsx, "n2", homes="/home", shared=False) as two:
        for node in (one, two):
            shell(node, "umount /fsx")
            assert "people| made /home/ada" in apply(node, [ADA])
            assert shell(node, "stat -c '%a %u' /home/ada; su - ada -c pwd </dev/null") == "700 2001\n/home/ada\n"
            assert "nothing to do" in run(node)
        keys = {node.read("/home/ada/.ssh/id_ed25519.pub") for node in (one, two)}
        assert len(keys) == 2


def give(path: Path, uid: int) -> None:
    path.chmod(0o700)
    subprocess.run(["chown", str(uid), str(path)], check=True)
