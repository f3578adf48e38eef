"""Packages held on a played node, with the machine's own apt and with stand-ins for rpm."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tests.proof.nodes import Node, can_play_nodes, inputs, step

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

INSTALLED = ["lustre-client-modules-aws", "lustre-client-utils", "linux-aws", f"linux-image-{platform.release()}"]
STANZA = "Package: {}\nStatus: install ok installed\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n\n"


def make(folder: Path) -> Node:
    return Node(name="n1", group="p5", inputs=inputs([step("lustre-client", retries=2)]), folder=folder)


def test_what_is_installed_is_held_by_apt_once(tmp_path: Path) -> None:
    with make(tmp_path / "n") as node:
        node.run("sh", "-c", "cat >> /var/lib/dpkg/status", stdin="\n" + "".join(map(STANZA.format, INSTALLED)))
        booted = node.boot()
        assert "step=lustre-client event=end code=0" in booted.stdout, booted.stdout
        assert set(node.run("apt-mark", "showhold").stdout.split()) == set(INSTALLED)
        assert "held" not in node.step("lustre-client").stdout
        installs = node.run("apt-get", "--simulate", "--yes", "install", "lustre-client-utils=2")
        assert installs.returncode != 0


def test_without_a_lustre_client_nothing_is_held(tmp_path: Path) -> None:
    with make(tmp_path / "n") as node:
        assert "held" not in node.boot().stdout
        assert node.run("apt-mark", "showhold").stdout == ""


def test_on_rpm_systems_the_packages_are_excluded_once(tmp_path: Path) -> None:
    with make(tmp_path / "n") as node:
        node.run("rm", "/usr/bin/apt-mark")
        node.write("/usr/local/bin/rpm", "#!/bin/sh\nprintf 'bash\\nkernel6.12\\nlustre-client\\n'\n", 0o755)
        node.write("/etc/dnf/dnf.conf", "[main]\ngpgcheck=True\n")
        node.run("ln", "-s", "dnf/dnf.conf", "/etc/yum.conf")
        assert "excludes: kernel6.12 lustre-client" in node.boot().stdout
        assert node.read("/etc/yum.conf") == "[main]\nexclude=kernel6.12 lustre-client\ngpgcheck=True\n"
        assert "excludes" not in node.step("lustre-client").stdout


def test_on_other_systems_it_is_a_warning(tmp_path: Path) -> None:
    with make(tmp_path / "n") as node:
        node.run("sh", "-c", "rm -f /usr/bin/apt-mark /usr/bin/rpm")
        booted = node.boot()
        assert "warning: this image has neither apt nor rpm" in booted.stdout
        assert "event=end code=0" in booted.stdout


def test_an_upgrade_that_holds_the_lock_is_waited_for(tmp_path: Path) -> None:
    with make(tmp_path / "n") as node:
        node.run("sh", "-c", "cat >> /var/lib/dpkg/status", stdin="\n" + "".join(map(STANZA.format, INSTALLED)))
        lock = "import fcntl, time; f = open('/var/lib/dpkg/lock', 'w'); fcntl.lockf(f, fcntl.LOCK_EX); time.sleep(1.5)"
        node.write("/opt/ml/x", "")
        holder = node.start("/usr/bin/python3", "-c", lock, log=tmp_path / "log")
        node.run("sleep", "0.3")
        steps = [step("lustre-client", retries=5, backoff=0.5)]
        node.publish(inputs(steps))
        booted = node.boot()
        holder.wait(5)
        assert "step=lustre-client event=end code=0" in booted.stdout, booted.stdout
        assert set(node.run("apt-mark", "showhold").stdout.split()) == set(INSTALLED)
