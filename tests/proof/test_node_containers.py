"""Enroot and Pyxis on a played node: where caches go, and what is said where something is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.proof.nodes import Node, can_play_nodes, inputs, step

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

CANDIDATES = ["/opt/dlami/nvme", "/opt/sagemaker"]
# The part of Enroot that reads its settings and makes its folders.
ENROOT = """#!/bin/bash
set -euo pipefail
for file in /etc/enroot/enroot.conf /etc/enroot/enroot.conf.d/*.conf; do
  [ -e "$file" ] || continue
  while IFS=$' \\t=' read -r key value; do
    [[ "$key" =~ ^ENROOT_[[:upper:]_]+$ ]] && [ -z "${!key-}" ] && export "$key=$(eval echo "$value")"
  done < "$file" || true
done
(umask 077 && mkdir -p "$ENROOT_CACHE_PATH" "$ENROOT_DATA_PATH" "$ENROOT_RUNTIME_PATH")
mktemp -d --tmpdir="$ENROOT_TEMP_PATH"
echo "$ENROOT_DATA_PATH"
"""
Play = Callable[..., AbstractContextManager[Node]]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Starts a node with Enroot, Pyxis and disks at the places given."""

    @contextmanager
    def make(*disks: str, **group: Any) -> Iterator[Node]:
        given = inputs([step("containers", inputs={"candidates": CANDIDATES})], p5={"role": "compute", **group})
        with Node(name="n1", group="p5", inputs=given, folder=tmp_path / "n") as node:
            node.write("/usr/local/bin/enroot", ENROOT, 0o755)
            node.write("/opt/slurm/etc/plugstack.conf", "include /opt/slurm/etc/plugstack.conf.d/*\n")
            node.write("/opt/slurm/etc/plugstack.conf.d/pyxis.conf", "required /usr/local/lib/slurm/spank_pyxis.so\n")
            node.write("/usr/local/lib/slurm/spank_pyxis.so", "")
            node.run("mkdir", "-p", "/etc/enroot/enroot.conf.d", *CANDIDATES)
            for disk in disks:
                node.run("mount", "-t", "tmpfs", "nvme", disk)
            yield node

    return make


def as_user(node: Node, name: str, *argv: str) -> tuple[int, str]:
    ran = node.run("runuser", "-u", name, "--", "env", "HOME=/tmp", *argv)
    return ran.returncode, ran.stdout


def test_caches_go_to_the_first_disk_with_a_folder_for_each_user(play: Play) -> None:
    with play(*CANDIDATES) as node:
        booted = node.boot()
        assert "Enroot keeps its files under /opt/dlami/nvme/enroot" in booted.stdout
        assert "warning" not in booted.stdout
        assert node.run("stat", "-c", "%a %U", "/opt/dlami/nvme/enroot").stdout == "1777 root\n"
        assert "/opt/dlami/nvme/enroot/user-1/data" in as_user(node, "daemon", "enroot")[1]
        assert "/opt/dlami/nvme/enroot/user-2/data" in as_user(node, "bin", "enroot")[1]
        assert node.run("stat", "-c", "%a %U", "/opt/dlami/nvme/enroot/user-1").stdout == "700 daemon\n"
        assert as_user(node, "bin", "ls", "/opt/dlami/nvme/enroot/user-1")[0] != 0
        assert as_user(node, "bin", "mv", "/opt/dlami/nvme/enroot/user-1", "/opt/dlami/nvme/enroot/x")[0] != 0


def test_nobody_can_take_the_folder_of_another_user_first(play: Play) -> None:
    with play(CANDIDATES[0]) as node:
        node.boot()
        assert as_user(node, "bin", "mkdir", "-m", "777", "/opt/dlami/nvme/enroot/user-1")[0] == 0
        assert as_user(node, "daemon", "enroot")[1].endswith("/.enroot/data\n")


def test_a_second_run_changes_nothing(play: Play) -> None:
    with play(CANDIDATES[1]) as node:
        assert "under /opt/sagemaker/enroot" in node.boot().stdout
        assert "under" not in node.step("containers").stdout


@pytest.mark.parametrize("drops", [True, False])
def test_what_the_image_sets_does_not_win_over_it(play: Play, *, drops: bool) -> None:
    theirs = "ENROOT_DATA_PATH /var/lib/enroot\nENROOT_MAX_PROCESSORS 8\n"
    with play(CANDIDATES[0]) as node:
        node.write("/etc/enroot/enroot.conf", theirs)
        if not drops:
            node.run("rmdir", "/etc/enroot/enroot.conf.d")
        node.boot()
        assert "/opt/dlami/nvme/enroot/user-1/data" in as_user(node, "daemon", "enroot")[1]
        assert node.read("/etc/enroot/enroot.conf").endswith(theirs)
        before = node.read("/etc/enroot/enroot.conf")
        assert "under" not in node.step("containers").stdout
        assert node.read("/etc/enroot/enroot.conf") == before


def test_without_a_disk_the_warning_names_what_the_type_has(play: Play) -> None:
    with play(local_disk_gb=30400) as node:
        booted = node.boot()
        assert "nothing is mounted at /opt/dlami/nvme or /opt/sagemaker, so images fill the root disk" in booted.stdout
        assert "the type has 30400 GB of local disk" in booted.stdout
        assert "event=end code=0" in booted.stdout
    with play() as node:
        assert "the type has no local disk: add a volume to the group" in node.boot().stdout


def test_a_folder_that_a_user_made_first_is_refused(play: Play) -> None:
    with play(CANDIDATES[0]) as node:
        node.run("install", "-d", "-o", "bin", "/opt/dlami/nvme/enroot")
        booted = node.boot()
        assert "/opt/dlami/nvme/enroot is not root's: somebody made it before this step; take it away" in booted.stdout
        assert "event=end code=1" in booted.stdout


def test_what_the_image_lacks_is_a_warning_with_the_ways_to_it(play: Play) -> None:
    with play(CANDIDATES[0]) as node:
        node.run("rm", "/usr/local/lib/slurm/spank_pyxis.so")
        assert "warning: plugstack.conf of Slurm loads /usr/local/lib/slurm/spank_pyxis.so, which is not there" in (
            node.boot().stdout
        )
        node.run("rm", "/opt/slurm/etc/plugstack.conf.d/pyxis.conf")
        assert "loads no spank_pyxis.so, so srun has no --container-image: take a newer image" in node.boot().stdout
        node.run("rm", "/usr/local/bin/enroot")
        booted = node.boot()
        assert "warning: this image has no enroot" in booted.stdout
        assert "event=end code=0" in booted.stdout
