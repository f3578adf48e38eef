"""Programs from a bucket on a played node: pins, changes, versions that do not start."""

from __future__ import annotations

import hashlib
import io
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.proof.conftest import Faults
from tests.proof.nodes import SCRIPTS, Node, can_play_nodes, inputs, step

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

# Runs nothing: a unit is active unless its program is one that says it breaks.
SYSTEMCTL = """#!/bin/sh
echo "$@" >> /var/log/systemctl
case "$1" in is-active)
  program=$(sed -n 's/^ExecStart="\\([^"]*\\)".*/\\1/p' "/etc/systemd/system/$2")
  if grep -q breaks "$program"; then echo failed; exit 3; fi; echo active ;;
esac
"""
UNIT = "/etc/systemd/system/hyperpod-service-exporter.service"
Play = Callable[..., AbstractContextManager[Node]]


def packed(content: bytes, name: str = "exporter-1.0/exporter") -> bytes:
    """A .tar.gz with one program; the same bytes each time."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return plain.getvalue()


def described(content: bytes, **given: Any) -> dict[str, Any]:
    return {
        "name": "exporter",
        "uri": "s3://bucket/exporter",
        "sha256": hashlib.sha256(content).hexdigest(),
        "arguments": ["--web.listen-address=127.0.0.1:9100"],
        **given,
    }


def put(node: Node, content: bytes, key: str = "exporter") -> None:
    node.run("mkdir", "-p", "/aws/s3/bucket")
    script = "import sys; open(sys.argv[1], 'wb').write(bytes.fromhex(sys.stdin.read()))"
    node.run("/usr/bin/python3", "-c", script, f"/aws/s3/bucket/{key}", stdin=content.hex())


def publish(node: Node, *services: dict[str, Any]) -> str:
    """Runs the step with other programs; what it says."""
    node.publish(inputs([step("services", required=True, inputs={"services": list(services)})]))
    return node.run("bash", f"{SCRIPTS}/start-p5.sh").stdout


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Starts a node."""

    @contextmanager
    def make() -> Iterator[Node]:
        with Node(name="n1", group="p5", inputs=inputs([]), folder=tmp_path / "n") as node:
            node.write("/usr/local/bin/systemctl", SYSTEMCTL, 0o755)
            yield node

    return make


def versions(node: Node) -> list[str]:
    return node.run("ls", "-A", "/opt/hyperpod-services/exporter").stdout.split()


def restarts(node: Node) -> int:
    return node.read("/var/log/systemctl").count("restart hyperpod-service-exporter")


def test_a_program_from_an_archive_runs_as_a_user_of_its_own(play: Play) -> None:
    archive = packed(b"#!/bin/sh\necho 1\n")
    service = described(
        archive, binary="exporter-1.0/exporter", files={"/etc/exporter.yml": "a: 1\n"}, environment={"A": "1"}
    )
    with play() as node:
        put(node, archive)
        said = publish(node, service)
        assert "hyperpod-service-exporter runs" in said, said
        program = f"/opt/hyperpod-services/exporter/{service['sha256']}/exporter"
        assert node.read(program) == "#!/bin/sh\necho 1\n"
        assert node.run("stat", "-c", "%a %U", program).stdout == "755 root\n"
        unit = node.read(UNIT)
        assert f'ExecStart="{program}" "--web.listen-address=127.0.0.1:9100"' in unit
        assert "DynamicUser=yes" in unit
        assert 'Environment="A=1"' in unit
        assert node.read("/etc/exporter.yml") == "a: 1\n"
        said = node.run("systemd-analyze", "verify", UNIT).stderr
        assert "hyperpod" not in said, said


def test_a_second_run_downloads_and_restarts_nothing(play: Play) -> None:
    with play() as node:
        put(node, b"#!/bin/sh\n")
        publish(node, described(b"#!/bin/sh\n"))
        calls = node.calls()
        assert "runs" not in publish(node, described(b"#!/bin/sh\n"))
        assert (restarts(node), node.calls()) == (1, calls)


@pytest.mark.parametrize("change", [{"arguments": ["--x"]}, {"files": {"/etc/x": "2"}}, {"environment": {"A": "2"}}])
def test_what_changes_is_started_again(play: Play, change: dict[str, Any]) -> None:
    with play() as node:
        put(node, b"#!/bin/sh\n")
        publish(node, described(b"#!/bin/sh\n", files={"/etc/x": "1"}))
        publish(node, {**described(b"#!/bin/sh\n", files={"/etc/x": "1"}), **change})
        assert restarts(node) == 2


def test_a_new_version_takes_the_place_of_the_old_one(play: Play) -> None:
    old, new = b"#!/bin/sh\n# 1\n", b"#!/bin/sh\n# 2\n"
    with play() as node:
        put(node, old)
        publish(node, described(old))
        put(node, new)
        assert "runs" in publish(node, described(new))
        assert versions(node) == [described(new)["sha256"]]


def test_a_program_that_is_not_what_its_hash_says_is_refused_and_the_old_one_runs_on(
    play: Play, faults: Faults
) -> None:
    old = b"#!/bin/sh\n# 1\n"
    with play() as node:
        put(node, old)
        publish(node, described(old))
        unit = node.read(UNIT)
        put(node, b"#!/bin/sh\n# evil\n")
        began = time.monotonic()
        said = publish(node, described(b"#!/bin/sh\n# 2\n"))
        assert "code=78" in said
        assert "somebody replaced it, or the pin is old" in said
        assert (node.read(UNIT), versions(node), restarts(node)) == (unit, [described(old)["sha256"]], 1)
    faults.survived("a program was replaced in its bucket", "refused; the old one runs on", time.monotonic() - began)


def test_a_version_that_does_not_start_gives_way_to_the_one_before(play: Play, faults: Faults) -> None:
    old, new = b"#!/bin/sh\n# 1\n", b"#!/bin/sh\n# breaks\n"
    with play() as node:
        put(node, old)
        publish(node, described(old))
        unit = node.read(UNIT)
        put(node, new)
        began = time.monotonic()
        said = publish(node, described(new))
        assert "see journalctl -u hyperpod-service-exporter; the version before runs on" in said
        assert "event=stopped code=1" in said
        assert node.read(UNIT) == unit
        assert described(old)["sha256"] in versions(node)
    faults.survived("a new version does not start", "the one before runs on", time.monotonic() - began)


def test_a_first_version_that_does_not_start_is_tried_again_by_the_next_run(play: Play) -> None:
    with play() as node:
        put(node, b"#!/bin/sh\n# breaks\n")
        assert "it does not run" in publish(node, described(b"#!/bin/sh\n# breaks\n"))
        assert "it does not run" in publish(node, described(b"#!/bin/sh\n# breaks\n"))
        assert restarts(node) == 2


def test_one_that_fails_does_not_stop_the_others(play: Play) -> None:
    good = b"#!/bin/sh\n"
    with play() as node:
        put(node, good)
        missing = described(good, name="missing", uri="s3://bucket/none")
        said = publish(node, missing, described(good))
        assert "hyperpod-service-exporter runs" in said
        assert "service missing: s3://bucket/none cannot be downloaded" in said
        assert "code=1" in said


def test_a_full_disk_says_so_and_leaves_nothing_half_done(play: Play, faults: Faults) -> None:
    archive = packed(bytes(4 << 20))
    with play() as node:
        put(node, archive)
        node.run("mkdir", "-p", "/opt/hyperpod-services")
        node.run("mount", "-t", "tmpfs", "-o", "size=1m", "full", "/opt/hyperpod-services")
        began = time.monotonic()
        said = publish(node, described(archive, binary="exporter-1.0/exporter"))
        assert "/opt/hyperpod-services/exporter cannot be written: No space left on device" in said
        assert versions(node) == []
    faults.survived("the disk is full at an install", "said; nothing half done", time.monotonic() - began)
