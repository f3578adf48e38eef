"""pam_slurm_adopt on played nodes, with the PAM and sshd of this machine; the module itself is played by others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.proof.conftest import Faults
from tests.proof.nodes import Node, can_play_nodes, inputs, step
from tests.proof.test_node_people import login, serving, shell

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

MODULE: Final = "/opt/slurm/lib/security/pam_slurm_adopt.so"
FITS: Final = (
    "PrologFlags = Alloc,Contain,X11\nProctrackType = proctrack/cgroup\nTaskPlugin = task/affinity,task/cgroup\n"
)
_SNAPSHOT: Final = "ls -li --time-style=full-iso /etc/pam.d /etc/security; cat /etc/pam.d/*"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A compute node with the module, a Slurm that fits it, and two people, one of them an admin."""
    steps = inputs([step("slurm-adopt", inputs={"admin_group": "ops"})])
    with Node(name="n1", group="p5", inputs=steps, folder=tmp_path / "n1") as node:
        slurm(node, FITS)
        shell(
            node, "mkdir -p /opt/slurm/lib/security; groupadd -g 3001 ops; ssh-keygen -q -t ed25519 -N '' -f /root/key"
        )
        shell(node, "useradd -m -u 2001 -p '*' eve; useradd -m -u 2002 -p '*' -G ops oz")
        shell(node, "cp /root/key.pub /etc/ssh/key.pub; mkdir -p /run/sshd")
        node.write("/etc/ssh/sshd_config.d/10-key.conf", "AuthorizedKeysFile /etc/ssh/key.pub\n")
        job(node, there=False)
        yield node


def slurm(node: Node, config: str) -> None:
    node.write("/opt/slurm/bin/scontrol", f"#!/bin/sh\ncat <<'X'\n{config}X\n", 0o755)


def job(node: Node, *, there: bool) -> None:
    """Has the module find a job on this node, or none."""
    shell(node, f"cp /lib/*/security/pam_{'permit' if there else 'deny'}.so {MODULE}")


def run(node: Node, code: int = 0) -> str:
    ran = node.boot()
    assert f"step=slurm-adopt event=end code={code} " in ran.stdout, ran.stdout + ran.stderr
    return ran.stdout


def who_gets_in(node: Node, log: Path) -> str:
    with serving(node, log) as port:
        return " ".join(who for who in ("root", "eve", "oz") if login(node, port, who, "/root/key").returncode == 0)


def test_only_people_with_a_job_and_admins_get_in(node: Node, tmp_path: Path) -> None:
    assert who_gets_in(node, tmp_path / "log") == "root eve oz"
    assert "this node is now open only to people with a job here" in run(node)
    assert who_gets_in(node, tmp_path / "log") == "root oz"
    job(node, there=True)
    assert who_gets_in(node, tmp_path / "log") == "root eve oz"


def test_without_its_list_admins_are_like_everybody(node: Node, tmp_path: Path) -> None:
    run(node)
    shell(node, "rm /etc/security/hyperpod-admins")
    assert who_gets_in(node, tmp_path / "log") == ""
    assert "nothing to do" in run(node)
    assert who_gets_in(node, tmp_path / "log") == "root oz"


def test_a_second_run_changes_nothing_and_taking_it_away_leaves_nothing(node: Node, tmp_path: Path) -> None:
    before = node.read("/etc/pam.d/sshd")
    run(node)
    once = shell(node, _SNAPSHOT)
    assert "nothing to do" in run(node)
    assert shell(node, _SNAPSHOT) == once
    node.publish(inputs([step("slurm-adopt", inputs={"enabled": False})]))
    assert "everybody with an account may log in to this node again" in run(node)
    assert node.read("/etc/pam.d/sshd") == before
    assert "hyperpod" not in shell(node, "ls /etc/pam.d /etc/security")
    assert who_gets_in(node, tmp_path / "log") == "root eve oz"
    assert "nothing to do" in run(node)


def test_a_login_is_not_moved_out_of_its_job_by_systemd(node: Node) -> None:
    assert "pam_systemd.so" in node.read("/etc/pam.d/common-session")
    run(node)
    own = node.read("/etc/pam.d/hyperpod-session")
    assert "pam_systemd.so" not in own
    assert "@include hyperpod-session" in node.read("/etc/pam.d/sshd")
    assert len(own.splitlines()) == len(node.read("/etc/pam.d/common-session").splitlines())


@pytest.mark.parametrize(
    ("config", "lacks"),
    [
        ("PrologFlags = Alloc\nProctrackType = proctrack/cgroup\n", "PrologFlags=Contain"),
        ("PrologFlags = (null)\nProctrackType = proctrack/cgroup\n", "PrologFlags=Contain"),
        ("PrologFlags = Contain\nProctrackType = proctrack/linuxproc\n", "ProctrackType=proctrack/cgroup"),
    ],
)
def test_a_slurm_that_would_shut_everybody_out_leaves_it_off(
    node: Node, tmp_path: Path, config: str, lacks: str, faults: Faults
) -> None:
    run(node)
    slurm(node, config)
    said = run(node)
    assert (
        f"slurm-adopt| warning: everybody with an account may log in to this node: Slurm runs without {lacks}; " in said
    )
    assert who_gets_in(node, tmp_path / "log") == "root eve oz"
    faults.survived(f"pam_slurm_adopt on a Slurm without {lacks}", "left off with a warning; logins work", 0)


def test_a_task_plugin_that_holds_nobody_is_told(node: Node) -> None:
    slurm(node, FITS.replace("task/affinity,task/cgroup", "task/none"))
    said = run(node)
    assert "warning: TaskPlugin has no task/cgroup" in said
    assert "open only to people with a job here" in said


def test_a_module_that_went_keeps_admins_in_and_the_next_run_lets_everybody_in(node: Node, tmp_path: Path) -> None:
    run(node)
    shell(node, f"rm {MODULE}")
    assert who_gets_in(node, tmp_path / "log") == "root oz"
    assert "warning: everybody with an account may log in to this node: this image has no pam_slurm_adopt" in run(node)
    assert who_gets_in(node, tmp_path / "log") == "root eve oz"


def test_while_slurm_is_away_nothing_changes(node: Node) -> None:
    run(node)
    before = node.read("/etc/pam.d/sshd")
    node.write("/opt/slurm/bin/scontrol", "#!/bin/sh\necho Unable to contact slurm controller >&2; exit 1\n", 0o755)
    assert "Slurm does not answer yet" in run(node, 75)
    assert node.read("/etc/pam.d/sshd") == before
