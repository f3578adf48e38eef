"""Mounts on played nodes: missing, wrong, full, read-only, frozen.

The machine has no Lustre: a tmpfs or a small ext4 stands for it, with a source as Lustre writes it, and only its type
is given out for Lustre's. `lctl` and `lnetctl` are stand-ins that keep values and counters in files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.proof.conftest import Faults
from tests.proof.nodes import Node, can_play_nodes, inputs, step

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

STEP = """#!/usr/bin/python3
import os
from hyperpod_node import file_systems, host
found = host.mount_at
TYPES = {"tmpfs": "lustre", "ext4": "lustre", "overlay": "overlay"}
host.mount_at = lambda path: (lambda m: m and [m[0], m[1], TYPES.get(m[2], m[2]), m[3]])(found(path))
if os.path.exists("/large"):
    os.cpu_count = lambda: 192
    os.sysconf = lambda name: {"SC_PHYS_PAGES": 1 << 29, "SC_PAGE_SIZE": 4096}[name]
file_systems.PROBE_SECONDS = 2
host.main(file_systems.work)
"""
LCTL = """#!/bin/sh
mkdir -p /var/lib/lctl
case "$1" in
get_param) cat "/var/lib/lctl/$3" 2>/dev/null || echo 8 ;;
set_param) echo "$2" >> /var/log/lctl; echo "${2#*=}" > "/var/lib/lctl/${2%%=*}" ;;
esac
"""
LNETCTL = """#!/bin/sh
# Each question finds as many more messages as the files say.
for net in tcp efa; do
  [ -e /lnet/$net ] || continue
  was=$(cat /lnet/$net.sent 2>/dev/null || echo 20)
  now=$((was + $(cat /lnet/$net)))
  echo $now > /lnet/$net.sent
  printf -- '    - net type: %s\\n      local NI(s):\\n        - nid: 1@%s\\n          statistics:\\n' $net $net
  printf '              send_count: %s\\n              recv_count: 3\\n' $now
done
"""
MOUNT = {"path": "/fsx", "kind": "lustre", "mount_name": "abcdefgh", "efa": False}
Play = Callable[..., AbstractContextManager[Node]]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Starts a node whose only step checks the mount given."""

    @contextmanager
    def make(*, wait: float = 0, **mount: Any) -> Iterator[Node]:
        given = {"wait": wait, "mounts": [{**MOUNT, **mount}]}
        steps = [step("file-systems", "own/step.py", required=True, timeout=30, inputs=given)]
        own = {"own/step.py": STEP}
        with Node(name="ip-10-1-0-5", group="p5", inputs=inputs(steps), folder=tmp_path / "n", own=own) as node:
            node.write("/usr/local/bin/lctl", LCTL, 0o755)
            node.write("/usr/local/bin/lnetctl", LNETCTL, 0o755)
            node.run("mkdir", "-p", "/fsx", "/lnet")
            yield node

    return make


def mount(node: Node, options: str = "size=64m", source: str = "10.1.1.67@tcp:/abcdefgh") -> None:
    assert node.run("mount", "-t", "tmpfs", "-o", options, source, "/fsx").returncode == 0


def test_a_mount_that_can_be_used_passes_and_keeps_nothing(play: Play) -> None:
    with play() as node:
        mount(node)
        booted = node.boot()
        assert booted.returncode == 0, booted.stdout
        assert "warning" not in booted.stdout
        assert node.run("ls", "-A", "/fsx").stdout == ""


def test_a_mount_that_comes_late_is_waited_for(play: Play, tmp_path: Path) -> None:
    with play(wait=20) as node:
        late = node.start("sh", "-c", "sleep 2; mount -t tmpfs 10.1.1.67@tcp:/abcdefgh /fsx", log=tmp_path / "late")
        assert node.boot().returncode == 0
        late.wait(5)


def test_a_folder_on_the_root_disk_is_no_file_system(play: Play, faults: Faults) -> None:
    with play(wait=1) as node:
        began = time.monotonic()
        booted = node.boot()
        assert booted.returncode == 1
        assert "/fsx: after 1 s nothing is mounted there, not lustre" in booted.stdout
        assert "TCP 988 and 1018-1023" in booted.stdout
        assert "mount name abcdefgh" in booted.stdout
    faults.survived("a file system is missing", "what to look at, after the wait", time.monotonic() - began)


def test_a_name_that_does_not_resolve_is_said(play: Play) -> None:
    with play(dns_name="fs-0123456789abcdef0.fsx.invalid") as node:
        assert "fs-0123456789abcdef0.fsx.invalid does not resolve here; look at" in node.boot().stdout


def test_another_kind_of_file_system_is_not_taken(play: Play) -> None:
    with play(kind="openzfs", path="/home") as node:
        node.run("mount", "-t", "tmpfs", "disk", "/home")
        assert "/home: after 0 s lustre from disk is mounted there, not openzfs" in node.boot().stdout


def test_a_wrong_mount_name_is_a_mistake_with_both_names(play: Play, faults: Faults) -> None:
    with play(wait=30) as node:
        mount(node, source="10.1.1.67@tcp:/oldname1")
        began = time.monotonic()
        booted = node.boot()
        assert booted.returncode == 78
        assert "/fsx is 10.1.1.67@tcp:/oldname1, whose mount name is not 'abcdefgh'" in booted.stdout
    faults.survived("a wrong mount name", "a mistake with both names, at once", time.monotonic() - began)


def test_a_full_file_system_says_so(play: Play, faults: Faults) -> None:
    with play() as node:
        mount(node, "size=1m")
        node.run("sh", "-c", "cat /dev/zero > /fsx/data")
        began = time.monotonic()
        booted = node.boot()
        assert (booted.returncode, "warning: /fsx cannot be written to by root: it is full" in booted.stdout) == (
            0,
            True,
        )
    faults.survived("a file system is full", "a warning with what to do; the node stays", time.monotonic() - began)


def test_a_file_system_that_is_nearly_full_is_a_warning(play: Play) -> None:
    with play() as node:
        mount(node, "size=1m")
        node.run("dd", "if=/dev/zero", "of=/fsx/data", "bs=4k", "count=240")
        booted = node.boot()
        assert (booted.returncode, "warning: /fsx has 6 % free" in booted.stdout) == (0, True)


def test_a_read_only_file_system_says_so(play: Play, faults: Faults) -> None:
    with play() as node:
        mount(node, "ro")
        began = time.monotonic()
        booted = node.boot()
        said = "warning: /fsx cannot be written to by root: it is mounted read-only"
        assert (booted.returncode, said in booted.stdout) == (0, True)
    faults.survived("a file system is read-only", "a warning with what to look at", time.monotonic() - began)


def test_a_user_who_is_there_first_stops_no_node(play: Play, faults: Faults) -> None:
    with play() as node:
        mount(node, "size=64m,mode=1777")
        names = "/fsx/.hyperpod-ip-10-1-0-5 /fsx/.hyperpod-ip-10-1-0-5- /fsx/.hyperpod-ip-10-1-0-5.renamed"
        assert node.run("runuser", "-u", "nobody", "--", "sh", "-c", f"mkdir {names}").returncode == 0
        began = time.monotonic()
        booted = node.boot()
        assert (booted.returncode, "warning" in booted.stdout) == (0, False)
    faults.survived("a user puts folders in the way of the probe", "its name is by chance", time.monotonic() - began)


def test_an_option_that_cannot_be_read_is_a_warning(play: Play) -> None:
    with play() as node:
        mount(node)
        node.run("sh", "-c", "mkdir -p /etc/modprobe.d; ln -s /nowhere /etc/modprobe.d/zz.conf")
        booted = node.boot()
        assert (booted.returncode, "warning: the Lustre client stays as it is" in booted.stdout) == (0, True)


def test_a_proof_of_efa_that_does_not_end_is_a_warning(play: Play) -> None:
    with play(efa=True) as node:
        mount(node, "size=2m")  # room for the probe and not for the proof
        for net in ("tcp", "efa"):
            node.write(f"/lnet/{net}", "1")
        booted = node.boot()
        assert booted.returncode == 0, booted.stdout
        assert "warning: whether /fsx is reached over EFA could not be tried" in booted.stdout


@pytest.mark.skipif(not Path("/dev/loop-control").exists(), reason="needs loop devices")
def test_a_file_system_that_hangs_does_not_hang_the_step(play: Play, faults: Faults) -> None:
    """A frozen ext4 stops whoever writes in the kernel, where not even a kill reaches: as a Lustre without servers."""
    with play(mount_name=None) as node:
        node.run("dd", "if=/dev/zero", "of=/disk", "bs=1M", "count=16")
        node.run("mkfs.ext4", "-q", "/disk")
        assert node.run("mount", "-o", "loop", "/disk", "/fsx").returncode == 0
        assert node.run("fsfreeze", "-f", "/fsx").returncode == 0
        try:
            began = time.monotonic()
            booted = node.boot()
            spent = time.monotonic() - began
        finally:
            node.run("fsfreeze", "-u", "/fsx")
        assert (booted.returncode, "/fsx cannot be used: no answer within 2 s" in booted.stdout) == (1, True)
        assert spent < 15
        assert node.boot().returncode == 0
    faults.survived("a file system hangs", "given up in time, although nothing can kill the probe", spent)


def test_a_large_client_is_tuned_once_and_again_after_a_reboot(play: Play) -> None:
    with play() as node:
        mount(node)
        node.write("/large", "")
        booted = node.boot()
        assert booted.returncode == 0
        assert "take effect when the node is rebooted" in booted.stdout
        options = "options ptlrpc ptlrpcd_per_cpt_max=32\noptions ksocklnd credits=2560\n"
        assert node.read("/etc/modprobe.d/hyperpod.conf") == options
        values = node.read("/var/log/lctl").splitlines()
        assert len(values) == 8
        assert "ldlm.namespaces.*.lru_size=19200" in values
        assert "take effect" not in node.step("file-systems").stdout
        assert node.read("/var/log/lctl").splitlines() == values
        node.run("rm", "-r", "/var/lib/lctl")  # what a reboot does
        node.step("file-systems")
        assert len(node.read("/var/log/lctl").splitlines()) == 16


def test_options_that_the_image_sets_already_are_left_alone(play: Play) -> None:
    with play() as node:
        mount(node)
        node.write("/large", "")
        node.write(
            "/etc/modprobe.d/modprobe.conf", "options ksocklnd credits=2560\noptions ptlrpc ptlrpcd_per_cpt_max=32\n"
        )
        assert node.boot().returncode == 0
        assert node.run("ls", "/etc/modprobe.d/hyperpod.conf").returncode != 0


def test_without_lctl_the_node_goes_on_with_a_warning(play: Play) -> None:
    with play() as node:
        mount(node)
        node.run("rm", "/usr/local/bin/lctl")
        booted = node.boot()
        assert (booted.returncode, "warning: this image has no lctl" in booted.stdout) == (0, True)


@pytest.mark.parametrize(
    ("tcp", "efa", "words"),
    [
        ("2", "33", ""),
        ("33", "1", "4 MiB took 1 messages over efa and 33 over tcp; it falls back to TCP where"),
        ("33", None, "LNet has no efa network on this node; it falls back to TCP where"),
    ],
)
def test_efa_is_proven_by_counters(play: Play, faults: Faults, tcp: str, efa: str | None, words: str) -> None:
    with play(efa=True) as node:
        mount(node)
        node.write("/lnet/tcp", tcp)
        if efa:
            node.write("/lnet/efa", efa)
        began = time.monotonic()
        booted = node.boot()
        assert booted.returncode == 0, booted.stdout
        assert ("warning" in booted.stdout) == bool(words)
        assert words in booted.stdout
    if words:
        faults.survived(
            f"Lustre takes TCP, not EFA ({efa or 'no'} net)", "a warning with counters", time.monotonic() - began
        )


def test_without_lnetctl_the_missing_proof_is_a_warning(play: Play) -> None:
    with play(efa=True) as node:
        mount(node)
        node.run("rm", "/usr/local/bin/lnetctl")
        booted = node.boot()
        assert booted.returncode == 0
        assert "warning: LNet's counters cannot be read: this image has no lnetctl" in booted.stdout
