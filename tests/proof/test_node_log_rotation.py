"""Logs rotated by the machine's own logrotate on a played node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.proof.nodes import Node, can_play_nodes, inputs, step

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

RULE = "/etc/logrotate.d/hyperpod"
LOG = "/var/log/slurm/slurmctld.log"


@pytest.fixture
def new(tmp_path: Path) -> Callable[[], Node]:
    def make() -> Node:
        steps = [step("log-rotation", inputs={"days": 14, "megabytes": 1})]
        return Node(name="n1", group="p5", inputs=inputs(steps), folder=tmp_path / "n")

    return make


def clean(node: Node) -> None:
    """HyperPod's Slurm comes without rules of its own, unlike Debian's."""
    node.run("sh", "-c", "rm -f /etc/logrotate.d/slurm*")


def test_logs_that_are_there_are_rotated_by_size_and_age(new: Callable[[], Node]) -> None:
    with new() as node:
        clean(node)
        node.write(LOG, "old\n")
        booted = node.boot()
        assert f"rotated from now on: /var/log/hyperpod/steps.log, {LOG}" in booted.stdout
        rule = node.read(RULE)
        assert "rotate 14\n    maxage 14\n    maxsize 1M" in rule
        assert "slurmd.log" not in rule
        assert node.run("logrotate", "--debug", "/etc/logrotate.conf").returncode == 0
        node.run("dd", "if=/dev/zero", f"of={LOG}", "bs=1M", "count=2")
        rotated = node.run("logrotate", "--state", "/var/state", RULE)
        assert rotated.returncode == 0, rotated.stderr
        assert node.run("stat", "-c", "%s", LOG, f"{LOG}.1").stdout == "0\n2097152\n"


def test_slurm_is_told_to_open_its_log_again(new: Callable[[], Node], tmp_path: Path) -> None:
    with new() as node:
        clean(node)
        node.write(LOG, "old\n")
        node.boot()
        node.run("sh", "-c", "cp /bin/bash /usr/local/bin/slurmctld")
        waits = "trap 'echo again >> /var/told' USR2; touch /var/ready; while :; do sleep 0.1; done"
        node.start("/usr/local/bin/slurmctld", "-c", waits, log=tmp_path / "log")
        node.run("sh", "-c", "until [ -e /var/ready ]; do sleep 0.1; done")
        assert node.run("logrotate", "--force", "--state", "/var/state", RULE).returncode == 0
        node.run("sleep", "0.5")
        assert node.read("/var/told") == "again\n"


def test_a_log_that_another_rule_names_is_left_to_it(new: Callable[[], Node]) -> None:
    with new() as node:
        clean(node)
        node.write(LOG, "old\n")
        node.write("/etc/logrotate.d/slurm", "/var/log/slurm/*.log {\n  weekly\n}\n")
        node.boot()
        assert LOG not in node.read(RULE)
        said = node.run("logrotate", "--debug", "/etc/logrotate.conf").stderr
        assert "duplicate log entry" not in said


def test_a_second_run_changes_nothing_and_a_new_log_is_taken_in(new: Callable[[], Node]) -> None:
    with new() as node:
        clean(node)
        node.boot()
        assert "from now on" not in node.step("log-rotation").stdout
        node.write("/var/log/slurm/slurmd.log", "new\n")
        assert "/var/log/slurm/slurmd.log" in node.step("log-rotation").stdout


def test_without_logrotate_it_is_a_mistake(new: Callable[[], Node]) -> None:
    with new() as node:
        node.run("rm", "/usr/sbin/logrotate")
        assert "code=78" in node.boot().stdout
        assert "this image has no logrotate" in node.read("/var/log/hyperpod/steps.log")
