"""What the step for file systems reads from outputs of Lustre's tools, and what it says of broken mounts."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hyperpod_node import file_systems, host

# As `lnetctl net show -v` writes them on a node with two EFA interfaces.
NETS = """\
net:
    - net type: lo
      local NI(s):
        - nid: 0@lo
          status: up
          statistics:
              send_count: 0
              recv_count: 0
              drop_count: 0
    - net type: tcp
      local NI(s):
        - nid: 10.1.1.61@tcp
          status: up
          interfaces:
              0: enp71s0
          statistics:
              send_count: {tcp}
              recv_count: 87
              drop_count: 0
          tunables:
              peer_timeout: 180
              peer_credits: 8
              credits: 256
    - net type: efa
      local NI(s):
        - nid: 1.61.92.0@efa
          status: up
          interfaces:
              0: efa_0
          statistics:
              send_count: {efa}
              recv_count: 18
              drop_count: 0
        - nid: 1.61.92.1@efa
          status: up
          interfaces:
              0: efa_1
          statistics:
              send_count: 2
              recv_count: 18
              drop_count: 0
"""
TCP_ONLY = NETS[: NETS.index("    - net type: efa")].format(tcp=82)


def nets(tcp: int, efa: int) -> dict[str, int]:
    return file_systems.sent(NETS.format(tcp=tcp, efa=efa))


def test_messages_are_added_up_by_kind_of_network() -> None:
    assert nets(82, 18) == {"lo": 0, "tcp": 82, "efa": 20}
    assert file_systems.sent(TCP_ONLY) == {"lo": 0, "tcp": 82}
    assert file_systems.sent("") == {}
    assert file_systems.sent("net:\n    - net type: tcp1\n") == {"tcp1": 0}


def test_efa_is_proven_by_what_was_sent_over_it() -> None:
    assert file_systems.fallback("/fsx", nets(82, 18), nets(92, 1018)) is None


def test_traffic_that_took_tcp_is_a_warning_with_figures_and_reasons() -> None:
    warning = file_systems.fallback("/fsx", nets(82, 18), nets(115, 18)) or ""
    assert warning.startswith("warning: /fsx is not reached over EFA: 4 MiB took 0 messages over efa and 33 over tcp")
    assert "fsx:DescribeFileSystems" in warning
    assert "zone" in warning


def test_a_few_messages_that_lnet_sends_for_itself_are_no_proof() -> None:
    assert file_systems.fallback("/fsx", nets(82, 18), nets(115, 20))


def test_a_node_without_an_efa_network_is_a_warning() -> None:
    before = file_systems.sent(TCP_ONLY)
    assert "LNet has no efa network on this node" in (file_systems.fallback("/fsx", before, before) or "")


@pytest.mark.parametrize(
    ("cpus", "gibibytes", "parameters", "options"),
    [
        (8, 32.0, 3, 0),
        (8, 128.0, 5, 0),
        (64, 64.0, 3, 0),
        (192, 2048.0, 8, 2),
    ],
)
def test_clients_are_tuned_by_their_size(cpus: int, gibibytes: float, parameters: int, options: int) -> None:
    found, modules = file_systems.tuning(cpus, gibibytes)
    assert (len(found), len(modules)) == (parameters, options)


def test_a_large_client_gets_what_fsx_recommends() -> None:
    parameters, options = file_systems.tuning(192, 2048)
    assert dict(parameters) == {
        "ldlm.namespaces.*.lru_max_age": 600_000,
        "ldlm.namespaces.*.lru_size": 19_200,
        "osc.*OST*.max_rpcs_in_flight": 32,
        "mdc.*.max_rpcs_in_flight": 64,
        "mdc.*.max_mod_rpcs_in_flight": 50,
        "llite.*.statahead_max": 512,
        "llite.*.statahead_agl": 1,
        "llite.*.statahead_xattr": 1,
    }
    # The client takes fewer requests that change something than requests at all.
    assert list(dict(parameters)).index("mdc.*.max_rpcs_in_flight") < list(dict(parameters)).index(
        "mdc.*.max_mod_rpcs_in_flight"
    )
    assert options == ["options ptlrpc ptlrpcd_per_cpt_max=32", "options ksocklnd credits=2560"]


def test_the_probe_leaves_nothing_behind_and_takes_away_what_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / f".hyperpod-{os.uname().nodename}-0a1b").write_text("left")
    assert file_systems.probe(tmp_path, 4096).isdigit()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["", "-", "-0a1b", "-0a1b.renamed"])
@pytest.mark.parametrize("way", ["folder", "link"])
def test_nothing_that_a_user_puts_in_its_way_stops_the_probe(tmp_path: Path, suffix: str, way: str) -> None:
    target = tmp_path / "target"
    target.write_text("keep")
    (tmp_path / "fsx").mkdir()
    there = tmp_path / "fsx" / f".hyperpod-{os.uname().nodename}{suffix}"
    if way == "folder":
        (there / "more").mkdir(parents=True)
    else:
        there.symlink_to(target)
    assert file_systems.probe(tmp_path / "fsx", 4096).isdigit()
    assert target.read_text() == "keep"
    assert way == "link" or there.is_dir()


def test_no_two_runs_of_the_probe_use_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    rename = Path.rename

    def noted(old: Path, new: Path) -> Path:
        names.extend([old.name, new.name])
        return rename(old, new)

    monkeypatch.setattr(Path, "rename", noted)
    for _ in range(3):
        file_systems.probe(tmp_path, 4096)
    assert len(set(names)) == 6


@pytest.mark.parametrize(
    ("code", "words", "fatal"),
    [
        (errno.ENOSPC, "it is full", False),
        (errno.EDQUOT, "the quota of root is used up", False),
        (errno.EROFS, "read-only", False),
        (errno.EACCES, "root squash", False),
        (errno.ELOOP, "Too many levels", False),
        (errno.EIO, "input/output error: see dmesg", True),
        (errno.ENOTCONN, "lost its servers", True),
        (errno.ESHUTDOWN, "thrown this client out", True),
        (errno.ESTALE, "is gone", True),
    ],
)
@pytest.mark.parametrize("call", ["write", "fsync", "open", "rename"])
def test_only_what_another_node_may_cure_gives_the_node_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str, *, fatal: bool, call: str
) -> None:
    def fail(*_: Any) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fail)
    said = file_systems.probe(tmp_path, 4096)
    assert words in said
    assert said.startswith("warning: ") != fatal


def test_what_hangs_is_given_up() -> None:
    def hang() -> str:
        time.sleep(20)
        return ""

    began = time.monotonic()
    assert file_systems.guarded(hang, 0.1) == "no answer within 0 s"
    assert time.monotonic() - began < 2
    assert file_systems.guarded(lambda: "fine", 5) == "fine"
    assert file_systems.guarded(lambda: str(1 // 0), 5) == ""


@pytest.mark.parametrize("source", ["10.1.1.67@tcp:/abcdefgh", "fs-0123.fsx.us-west-2.amazonaws.com@tcp:/abcdefgh"])
def test_the_mount_name_is_compared_with_the_end_of_the_source(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    monkeypatch.setattr(host, "mount_at", lambda path: [source, path, "lustre", "rw"])
    mount = {"path": "/fsx", "kind": "lustre", "mount_name": "abcdefgh"}
    file_systems._await(mount, time.monotonic(), 0)
    with pytest.raises(host.Mistake, match="whose mount name is not 'zzzz'"):
        file_systems._await({**mount, "mount_name": "zzzz"}, time.monotonic(), 0)


def test_a_name_that_does_not_resolve_is_said_first() -> None:
    assert file_systems._reach("fs-0123.invalid", 988) == "fs-0123.invalid does not resolve here"
    assert "its port 9 does not answer" in file_systems._reach("127.0.0.1", 9)


def test_an_automount_is_touched_so_that_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched = tmp_path / "touched"

    def guarded(what: Any, _: float) -> str:
        touched.touch()
        return str(what())

    def mount_at(path: str) -> list[str]:
        return ["10.1.1.67@tcp:/abc", path, "lustre" if touched.exists() else "autofs", "rw"]

    monkeypatch.setattr(host, "mount_at", mount_at)
    monkeypatch.setattr(file_systems, "guarded", guarded)
    file_systems._await({"path": str(tmp_path), "kind": "lustre"}, time.monotonic() + 5, 5)
    assert touched.exists()


def test_a_client_that_cannot_be_tuned_is_a_warning(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def tune(*_: Any) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "/etc/modprobe.d/zz.conf")

    monkeypatch.setattr(host, "mount_at", lambda path: ["x@tcp:/abc", path, "lustre", "rw"])
    monkeypatch.setattr(file_systems, "tune", tune)
    monkeypatch.setattr(file_systems, "_try", lambda *_, **__: None)
    inputs = {"mounts": [{"path": "/fsx", "kind": "lustre"}]}
    file_systems.work(host.Step("file-systems", inputs, "Frontier", "p5", {"p5": {"role": "compute"}}))
    assert "warning: the Lustre client stays as it is: [Errno 2]" in capsys.readouterr().out
