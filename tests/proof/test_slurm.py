"""The Slurm that the other tests use: it starts fast, runs jobs, enforces limits, and leaves nothing behind."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from tests.proof.slurm import Slurm, can_run_slurm

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not can_run_slurm(), reason="needs root and the packages of tools/debian.sh"),
]


def processes(folder: Path) -> set[str]:
    """The programs of nodes whose root is put together in a folder."""
    found = set()
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                mounts = (process / "mounts").read_text()
                name = (process / "comm").read_text().strip()
            except OSError:
                continue
            if f"upperdir={folder}/" in mounts:
                found.add(name)
    return found


def test_everything_starts_in_seconds_on_loopback_and_nothing_is_left(tmp_path: Path) -> None:
    began = time.monotonic()
    with Slurm(folder=tmp_path, accounting=True) as slurm:
        assert time.monotonic() - began < 30
        assert {"slurmctld", "slurmd", "munged", "slurmdbd", "mariadbd"} <= processes(tmp_path)
        ports = [*slurm._ports.values()]
        listening = listeners()
        assert {address for address, port in listening if port in ports} == {"127.0.0.1"}
    assert processes(tmp_path) == set()
    assert not {port for _, port in listeners()} & set(ports)
    assert not [line for line in Path("/proc/mounts").read_text().splitlines() if str(tmp_path) in line]
    assert not Path("/etc/slurm/slurm.conf").exists()


def listeners() -> set[tuple[str, int]]:
    """Addresses and ports that programs of this machine listen on."""
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A":
            address, port = fields[1].split(":")
            found.add((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


def test_jobs_of_several_nodes_run_steps_on_all_of_them(tmp_path: Path) -> None:
    shared = tmp_path / "fsx"
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)  # a job of any user writes there
    with Slurm(folder=tmp_path / "slurm", shared={"/fsx": shared}) as slurm:
        job = slurm.submit("srun hostname > /fsx/names", "-N4", "-p", "train")
        slurm.wait(lambda: slurm.job(job)["JobState"] == "COMPLETED", 20, "the job ends")
        assert sorted((shared / "names").read_text().split()) == sorted(slurm.nodes_of(job))
        assert (shared / "names").stat().st_uid == slurm.users["ada"]


def test_with_accounting_only_people_with_an_account_may_send_jobs(tmp_path: Path) -> None:
    with Slurm(folder=tmp_path, accounting=True, users={"ada": 2001, "bob": 2002}) as slurm:
        slurm.run("sacctmgr", "-i", "add", "account", "research")
        slurm.run("sacctmgr", "-i", "add", "user", "ada", "account=research")
        job = slurm.submit("true", "-p", "train")
        slurm.wait(lambda: slurm.job(job)["JobState"] == "COMPLETED", 20, "ada's job ends")
        with pytest.raises(RuntimeError, match="Invalid account"):
            slurm.submit("true", "-p", "train", user="bob")
        slurm.replace_controller()
        assert "ada" in slurm.run("sacctmgr", "-n", "list", "associations")
