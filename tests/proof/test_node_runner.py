"""The runner on played nodes: what a script does to it, and what a node makes of broken downloads and full disks."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.model.lifecycle import ARCHIVE
from hyperpod_constructs.planning import node_files
from tests.proof.conftest import Faults
from tests.proof.nodes import SCRIPTS, Node, can_play_nodes, inputs, step

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

SECRET = "pa55-word-of-the-directory"
ARN = "arn:aws:secretsmanager:us-west-2:111122223333:secret:directory"
New = Callable[..., Node]


@pytest.fixture
def new(tmp_path: Path) -> New:
    """Makes a node with steps and scripts of the user's."""

    def make(steps: Sequence[Mapping[str, Any]], own: Mapping[str, str] | None = None, **given: Any) -> Node:
        scripts = {f"own/{name}": text for name, text in (own or {}).items()}
        return Node(name="n1", group="p5", inputs=inputs(steps), folder=tmp_path / "n1", own=scripts, **given)

    return make


def own(name: str, **given: Any) -> dict[str, Any]:
    return step(name, f"own/{name}", **given)


def test_a_script_learns_where_it_is_and_is_run_again_by_name(new: New) -> None:
    script = '#!/bin/bash\necho "$HYPERPOD_GROUP $HYPERPOD_STEP $AWS_DEFAULT_REGION $(pwd)"\n'
    with new([own("hello")], {"hello": script}) as node:
        booted = node.boot()
        assert booted.returncode == 0
        assert "hello| p5 hello us-west-2 /opt/hyperpod" in booted.stdout
        assert "step=hello event=end code=0" in booted.stdout
        assert "hello| p5 hello us-west-2 /opt/hyperpod" in node.step("hello").stdout
        assert node.read("/opt/hyperpod/group") == "p5\n"


def test_a_required_step_stops_the_node_and_another_one_does_not(new: New) -> None:
    scripts = {"bad": "#!/bin/sh\necho no luck\nexit 9\n", "good": "#!/bin/sh\necho here\n"}
    with new([own("bad"), own("good")], scripts) as node:
        booted = node.boot()
        assert (booted.returncode, "good| here" in booted.stdout) == (0, True)
    with new([own("bad", required=True), own("good")], scripts) as node:
        booted = node.boot()
        assert (booted.returncode, "good| here" in booted.stdout) == (9, False)
        assert 'event=stopped code=9 message="bad is required"' in booted.stdout


def test_a_hanging_command_is_killed_with_its_children_in_time(new: New, faults: Faults) -> None:
    script = "#!/bin/bash\necho asking\n(sleep 301; :) &\nsleep 302 | cat\n"
    with new([own("hang", timeout=1, required=True)], {"hang": script}) as node:
        began = time.monotonic()
        booted = node.boot()
        spent = time.monotonic() - began
        assert (booted.returncode, spent < 5) == (124, True)
        assert 'code=124 seconds=1.0 message="not done within 1 s; its last line was: asking"' in booted.stdout
        assert "sleep 30" not in node.run("ps", "-eo", "args").stdout
    faults.survived("a command of a step hangs", "killed with its children after its timeout, code 124", spent)


def test_a_daemon_that_leaves_its_session_holds_a_step_up_for_seconds_at_most(new: New) -> None:
    with new([own("daemon", timeout=30)], {"daemon": "#!/bin/sh\nsetsid sleep 60 &\necho started\n"}) as node:
        began = time.monotonic()
        assert node.boot().returncode == 0
        assert time.monotonic() - began < 10


def test_inputs_that_were_cut_off_leave_what_works_alone(new: New, faults: Faults) -> None:
    with new([own("hello")], {"hello": "#!/bin/sh\necho hi\n"}) as node:
        assert node.boot().returncode == 0
        began = time.monotonic()
        node.put({ARCHIVE: node_files.archive({**contents(node), "inputs.json": b'{"cluster": "Front'})})
        cut = node.boot()
        assert cut.returncode == 65
        assert "inputs.json cannot be read" in cut.stdout
        assert "the download of the scripts was cut off" in cut.stdout
        assert node.step("hello").returncode == 0
    faults.survived("inputs.json is cut off", "code 65 says so; the scripts from before work", time.monotonic() - began)


def test_an_archive_that_was_cut_off_leaves_what_works_alone(new: New, faults: Faults) -> None:
    with new([own("hello")], {"hello": "#!/bin/sh\necho hi\n"}) as node:
        assert node.boot().returncode == 0
        left = node.run("sh", "-c", "ls -d /tmp/tmp.*").stdout
        began = time.monotonic()
        archive = node.path(f"{SCRIPTS}/{ARCHIVE}")
        archive.write_bytes(archive.read_bytes()[:-300])
        cut = node.boot()
        assert cut.returncode == 65
        assert 'event=refused code=65 message="/tmp/scripts/node.zip cannot be unpacked: ' in cut.stdout
        assert node.step("hello").returncode == 0
        assert node.run("sh", "-c", "ls -d /tmp/tmp.*").stdout == left
    faults.survived("node.zip is cut off", "code 65 says so; the scripts from before work", time.monotonic() - began)


def contents(node: Node) -> dict[str, bytes]:
    """What the archive on a node holds."""
    with zipfile.ZipFile(node.path(f"{SCRIPTS}/{ARCHIVE}")) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_full_disk_leaves_what_works_alone(new: New, faults: Faults) -> None:
    with new([own("hello")], {"hello": "#!/bin/sh\necho hi\n"}) as node:
        node.run("mount", "-t", "tmpfs", "-o", "size=2m", "full", "/opt")
        node.run("mkdir", "-p", "/opt/ml/config")
        assert node.boot().returncode == 0
        node.run("sh", "-c", "cat /dev/zero > /opt/filler")
        began = time.monotonic()
        full = node.boot()
        assert full.returncode == 1
        assert "/opt/hyperpod cannot be written" in full.stdout
        assert "No space left on device" in full.stdout
        assert node.run("ls", "/opt/hyperpod.new").returncode == 2
        assert node.step("hello").returncode == 0
        node.run("rm", "/opt/filler")
        assert node.boot().returncode == 0
    faults.survived("the disk is full", "a message says so; the scripts from before work", time.monotonic() - began)


def test_a_full_disk_of_logs_stops_no_step(new: New) -> None:
    with new([own("hello")], {"hello": "#!/bin/sh\necho hi\n"}) as node:
        node.run("mount", "-t", "tmpfs", "-o", "size=16k", "full", "/var/log")
        node.run("sh", "-c", "cat /dev/zero > /var/log/filler")
        booted = node.boot()
        assert (booted.returncode, "hello| hi" in booted.stdout) == (0, True)


def test_two_runs_at_once_do_the_work_one_after_the_other(new: New, tmp_path: Path, faults: Faults) -> None:
    script = "#!/bin/sh\necho start >> /var/marks\nsleep 0.4\necho end >> /var/marks\n"
    with new([own("slow")], {"slow": script}) as node:
        began = time.monotonic()
        both = [node.start("bash", f"{SCRIPTS}/start-p5.sh", log=tmp_path / f"log{each}") for each in range(2)]
        assert [each.wait(20) for each in both] == [0, 0]
        assert node.read("/var/marks").split() == ["start", "end", "start", "end"]
        assert node.step("slow").returncode == 0
    faults.survived("two runs on a node at once", "one after the other, both succeed", time.monotonic() - began)


def test_many_start_scripts_at_once_leave_one_whole_copy(new: New, tmp_path: Path) -> None:
    with new([own("hello")], {"hello": "#!/bin/sh\necho hi\n"}) as node:
        all_at_once = [node.start("bash", f"{SCRIPTS}/start-p5.sh", log=tmp_path / f"log{each}") for each in range(8)]
        assert [each.wait(30) for each in all_at_once] == [0] * 8
        assert node.run("sh", "-c", "echo /opt/hyperpod*").stdout == "/opt/hyperpod\n"
        home = node.path("/opt/hyperpod")
        kept = {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}
        assert kept == {**contents(node), "group": b"p5\n"}


def test_after_a_reboot_only_the_steps_that_a_reboot_undoes_run(new: New) -> None:
    scripts = {name: f"#!/bin/sh\necho {name} >> /var/ran\n" for name in ("once", "always")}
    with new([own("once"), own("always", at_boot=True)], scripts) as node:
        node.boot()
        assert node.step("--boot").returncode == 0
        assert node.read("/var/ran").split() == ["once", "always", "always"]


def test_timers_and_the_service_of_reboots_are_units_that_systemd_takes(new: New) -> None:
    scripts = {"often": "#!/bin/sh\n", "boot": "#!/bin/sh\n"}
    with new([own("often", every=30), own("boot", at_boot=True)], scripts) as node:
        node.boot()
        timer = node.read("/etc/systemd/system/hyperpod-step-often.timer")
        assert "OnUnitInactiveSec=30" in timer
        assert "ExecStart=/usr/local/sbin/hyperpod-node often" in node.read(
            "/etc/systemd/system/hyperpod-step-often.service"
        )
        assert "ExecStart=/usr/local/sbin/hyperpod-node --boot" in node.read(
            "/etc/systemd/system/hyperpod-boot.service"
        )
        asked = node.read("/var/log/systemctl").splitlines()
        assert "enable hyperpod-boot.service" in asked
        assert "restart hyperpod-step-often.timer" in asked
        units = ["hyperpod-step-often.timer", "hyperpod-step-often.service", "hyperpod-boot.service"]
        said = node.run("systemd-analyze", "verify", *(f"/etc/systemd/system/{unit}" for unit in units))
        assert "hyperpod" not in said.stderr, said.stderr
        node.boot()
        assert node.read("/var/log/systemctl").splitlines()[len(asked) :] == [
            "enable hyperpod-boot.service",
            "enable hyperpod-step-often.timer",
            "start hyperpod-step-often.timer",
        ]


def test_timers_of_steps_that_are_gone_are_taken_away(new: New, faults: Faults) -> None:
    scripts = {"often": "#!/bin/sh\n", "gone": "#!/bin/sh\n"}
    with new([own("often", every=30), own("gone", every=30, at_boot=True)], scripts) as node:
        node.boot()
        # The next run finds what one that is killed while it stops a timer has left.
        systemctl = node.read("/usr/local/bin/systemctl")
        die = '#!/bin/sh\ncase "$1" in disable) pkill -9 -f hyperpod_node.runner;; esac\n'
        node.write("/usr/local/bin/systemctl", die, 0o755)
        node.publish(inputs([own("often", every=30)]))
        node.boot()
        node.write("/usr/local/bin/systemctl", systemctl, 0o755)
        node.run("rm", "-f", "/var/log/systemctl")
        began = time.monotonic()
        assert node.boot().returncode == 0
        spent = time.monotonic() - began
        left = node.run("sh", "-c", "cd /etc/systemd/system && ls -d hyperpod-*").stdout.split()
        assert left == ["hyperpod-step-often.service", "hyperpod-step-often.timer"]
        assert node.read("/var/log/systemctl").splitlines()[2:] == [
            "disable --now hyperpod-boot.service",
            "daemon-reload",
            "disable --now hyperpod-step-gone.timer",
            "daemon-reload",
        ]
    faults.survived("killed while timers of a step that is gone are stopped", "taken away by the next run", spent)


def test_code_in_the_folder_of_whoever_calls_is_not_run_as_root(new: New) -> None:
    trap = "import pathlib; pathlib.Path('/var/trapped').touch()\n"
    with new([step("log-rotation", inputs={"days": 1, "megabytes": 1})]) as node:
        for name in ("json.py", "argparse.py", "hyperpod_node/runner.py"):
            node.write(f"/home/mallory/{name}", trap)
        node.run("sh", "-c", f"cd /home/mallory && bash {SCRIPTS}/start-p5.sh && hyperpod-node log-rotation")
        assert node.run("ls", "/var/trapped").returncode != 0


def test_a_secret_is_in_no_log(new: New, faults: Faults) -> None:
    script = (
        "#!/usr/bin/python3\nfrom hyperpod_node import host\n\ndef work(step):\n"
        "    host.write('/etc/directory.conf', host.secret(step.inputs['secret_arn']), 0o600)\n"
        "    host.run('false')\n\nhost.main(work)\n"
    )
    with new([own("directory", retries=1, inputs={"secret_arn": ARN})], {"directory": script}) as node:
        began = time.monotonic()
        missing = node.boot()
        assert f"secret {ARN} cannot be read" in missing.stdout
        assert "ResourceNotFoundException" in missing.stdout
        faults.survived("a secret is missing", "named with its ARN, tried again", time.monotonic() - began)
        node.write(f"/aws/secrets/{ARN}", SECRET)
        ran = node.boot()
        assert "false failed with code 1" in ran.stdout
        assert node.read("/etc/directory.conf") == SECRET
        assert SECRET not in ran.stdout + ran.stderr
        assert node.run("grep", "-r", SECRET, "/var/log", "/opt/hyperpod", "/run", "/aws/calls").stdout == ""


def test_no_network_ends_in_a_message_that_names_the_object(new: New, faults: Faults) -> None:
    service = {"name": "exporter", "uri": "s3://bucket/exporter", "sha256": "0" * 64}
    with new([step("services", inputs={"services": [service]})]) as node:
        node.write("/aws/offline", "")
        began = time.monotonic()
        booted = node.boot()
        assert "s3://bucket/exporter cannot be downloaded" in booted.stdout
        assert "Could not connect to the endpoint URL" in booted.stdout
    faults.survived("no network", "the message names the object and the endpoint", time.monotonic() - began)


def test_running_twice_changes_nothing(new: New) -> None:
    with new([own("hello", every=60, at_boot=True)], {"hello": "#!/bin/sh\n"}) as node:
        node.boot()
        listing = ("sh", "-c", "find /etc /usr/local /opt -newer /var/marker -type f | sort")
        time.sleep(0.02)
        node.write("/var/marker", "")
        time.sleep(0.02)
        node.step()
        assert node.run(*listing).stdout == ""
        assert json.loads(node.read("/opt/hyperpod/inputs.json"))["cluster"] == "Frontier"


SLOW = "#!/bin/sh\necho begin >> /var/marks\nsleep 3\necho end >> /var/marks\n"


def started(node: Node, log: Path) -> str:
    """The process of a runner whose step is at work, as the node counts."""
    node.run("rm", "-f", "/var/marks")
    node.start("sh", "-c", "echo $$ > /var/pid; exec hyperpod-node slow", log=log)
    for _ in range(100):
        if node.run("cat", "/var/marks").stdout:
            break
        time.sleep(0.05)
    return node.read("/var/pid").strip()


@pytest.mark.parametrize(("number", "code"), [("INT", "130"), ("TERM", "143")])
def test_a_runner_that_is_stopped_stops_its_step(new: New, number: str, code: str) -> None:
    with new([own("slow")], {"slow": SLOW}) as node:
        node.boot()
        node.run("rm", "-f", "/var/marks")
        # A background job of a shell ignores SIGINT unless told otherwise.
        run = "hyperpod-node slow & sleep 1; kill -%s $!; wait $!; echo code $?"
        ran = node.run("env", "--default-signal=INT", "bash", "-mc", run % number)
        assert f"code {code}" in ran.stdout
        assert "own/slow" not in node.run("ps", "-eo", "args").stdout
        assert node.step("slow").returncode == 0
        assert node.read("/var/marks").split() == ["begin", "begin", "end"]


def test_a_step_whose_runner_was_killed_is_not_run_beside_itself(new: New, tmp_path: Path, faults: Faults) -> None:
    with new([own("slow")], {"slow": SLOW}) as node:
        node.boot()
        began = time.monotonic()
        node.run("kill", "-9", started(node, tmp_path / "log"))
        assert node.step("slow").returncode == 0
        assert node.read("/var/marks").split() == ["begin", "end", "begin", "end"]
    faults.survived("the runner is killed", "its step ends before it runs again", time.monotonic() - began)


def test_what_a_step_leaves_behind_does_not_hold_its_lock(new: New) -> None:
    with new([own("daemon")], {"daemon": "#!/bin/sh\nsetsid sleep 60 > /dev/null 2>&1 &\necho started\n"}) as node:
        assert node.boot().returncode == 0
        began = time.monotonic()
        assert node.step("daemon").returncode == 0
        assert time.monotonic() - began < 5


def test_who_is_not_root_is_told(new: New) -> None:
    with new([own("hello")], {"hello": "#!/bin/sh\necho hi\n"}) as node:
        node.boot()
        ran = node.run("runuser", "-u", "nobody", "--", "/usr/local/sbin/hyperpod-node", "hello")
        assert (ran.returncode, ran.stderr) == (1, "")
        assert "event=refused code=1" in ran.stdout
        assert "Permission denied: run it as root" in ran.stdout


@pytest.mark.parametrize("full", ["/run/hyperpod", "/tmp"])  # noqa: S108  # of the played node
def test_a_full_disk_of_temporary_files_is_said(new: New, faults: Faults, full: str) -> None:
    with new([own("hello")], {"hello": "#!/bin/sh\necho hi\n"}) as node:
        node.run(
            "sh", "-c", f"mkdir /scripts {full}; cp {SCRIPTS}/* /scripts; mount -t tmpfs -o nr_inodes=1 full {full}"
        )
        began = time.monotonic()
        ran = node.run("bash", "/scripts/start-p5.sh")
        assert (ran.returncode, ran.stderr) == (1, "")
        assert "event=refused code=1" in ran.stdout
        assert "No space left on device" in ran.stdout
        node.run("umount", full)
        assert node.run("bash", "/scripts/start-p5.sh").returncode == 0
    faults.survived(f"{full} is full", "refused with the reason, code 1", time.monotonic() - began)


def test_a_run_that_died_between_two_renames_leaves_scripts_that_work(new: New, faults: Faults) -> None:
    with new([own("hello", at_boot=True)], {"hello": "#!/bin/sh\necho hi\n"}) as node:
        node.boot()
        began = time.monotonic()
        lose = "mv /opt/hyperpod /opt/hyperpod.old; mkdir /opt/hyperpod.new"
        node.run("sh", "-c", f"{lose}; rm -r /run/hyperpod")
        assert "hello| hi" in node.step("--boot").stdout
        node.run("sh", "-c", lose)
        assert "hello| hi" in node.boot().stdout
        assert node.run("sh", "-c", "echo /opt/hyperpod*").stdout == "/opt/hyperpod\n"
    faults.survived("killed between two renames", "goes on with the scripts before", time.monotonic() - began)


def test_a_unit_whose_restart_was_lost_is_restarted_by_the_next_run(new: New, faults: Faults) -> None:
    with new([own("often", every=30)], {"often": "#!/bin/sh\n"}) as node:
        systemctl = node.read("/usr/local/bin/systemctl")
        began = time.monotonic()
        node.write("/usr/local/bin/systemctl", "#!/bin/sh\npkill -9 -f hyperpod_node.runner\n", 0o755)
        node.boot()
        node.write("/usr/local/bin/systemctl", systemctl, 0o755)
        for asked in (["daemon-reload", "enable {}", "restart {}"], ["enable {}", "start {}"]):
            node.run("rm", "-f", "/var/log/systemctl")
            node.boot()
            wanted = [each.format("hyperpod-step-often.timer") for each in asked]
            assert node.read("/var/log/systemctl").splitlines() == wanted
    faults.survived("killed between a unit and its start", "restarted by the next run", time.monotonic() - began)
