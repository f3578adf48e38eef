"""Prolog and epilog on a real Slurm: a bad node is drained with its reason, its job runs elsewhere, nothing is left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.proof.conftest import Faults
from tests.proof.nodes import Node, step
from tests.proof.slurm import Slurm, can_run_slurm

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not can_run_slurm(), reason="needs root and the packages of tools/debian.sh"),
]

GROUP = {"role": "compute", "partition": "train", "count": 3, "spares": 0, "kind": "gpu", "accelerators": 8}
BAD = "ip-10-1-1-1"
ALL = ["ip-10-1-1-1", "ip-10-1-1-2", "ip-10-1-1-3"]
HEALTHY = """#!/bin/bash
case $* in
  *ecc*) for gpu in 0 1 2 3 4 5 6 7; do echo "$gpu, 0"; done ;;
  *) seq 0 7 ;;
esac
"""
SEVEN = "#!/bin/sh\nseq 0 6\n"
MEMORY = HEALTHY.replace('echo "$gpu, 0"', 'echo "$gpu, $((gpu / 7 * 2))"')
NO_DRIVER = "#!/bin/sh\necho 'NVIDIA-SMI has failed because it could not communicate with the driver.'\nexit 9\n"
HANGS = "#!/bin/bash\ntrap '' TERM\nsleep 100 &\nwait; wait; sleep 100\n"
NO_ECC = "#!/bin/bash\ncase $* in *ecc*) echo 'Field is not a valid field to query.'; exit 2 ;; esac\nseq 0 7\n"
NOT_SUPPORTED = HEALTHY.replace("$gpu, 0", "$gpu, [N/A]")


@contextmanager
def cluster(
    folder: Path, *, kind: str = "gpu", tools: dict[str, str] | None = None, **inputs: object
) -> Iterator[Slurm]:
    """Three nodes with the checks installed, one of them with tools that say what the test wants."""
    steps = [step("job-checks", roles=["compute"], inputs={"patience": 3, **inputs})]
    with Slurm(folder=folder, groups={"p5": {**GROUP, "kind": kind}}, steps=steps) as slurm:
        for name in ALL:
            node = slurm.node(name)
            if kind == "gpu":
                node.write("/usr/bin/nvidia-smi", HEALTHY, 0o755)
            if name == BAD:
                for path, text in (tools or {}).items():
                    node.write(path, text, 0o755)
            ran = node.boot()
            assert ran.returncode == 0, ran.stdout
            assert "warning" not in ran.stdout
        yield slurm


def said(ran_on: Node) -> list[str]:
    ran = ran_on.step("job-checks")
    assert ran.returncode == 0, ran.stdout
    return [line.partition("| ")[2] for line in ran.stdout.splitlines() if line.startswith("job-checks| ")]


def state(slurm: Slurm, job: int) -> str:
    return slurm.job(job)["JobState"]


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        pytest.param(SEVEN, "7 of 8 GPUs answer", id="a GPU is gone"),
        pytest.param(MEMORY, "GPU 7 has 2 uncorrectable memory errors since it was reset", id="memory errors"),
        pytest.param(NO_DRIVER, "nvidia-smi ended with code 9: NVIDIA-SMI has failed", id="no driver"),
        pytest.param(HANGS, "nvidia-smi did not answer within 3 s", id="nvidia-smi hangs"),
    ],
)
def test_a_faulty_node_is_drained_with_its_reason_and_the_job_runs_elsewhere(
    tmp_path: Path, faults: Faults, tool: str, reason: str
) -> None:
    with cluster(tmp_path, tools={"/usr/bin/nvidia-smi": tool}) as slurm:
        began = time.monotonic()
        job = slurm.submit("srun true", "-N2", "-p", "train")
        slurm.wait(lambda: slurm.job(job)["Restarts"] == "1", 15, "the job is sent elsewhere")
        slurm.wait(lambda: state(slurm, job) == "COMPLETED", 30, "the job ran elsewhere")
        assert BAD not in slurm.nodes_of(job)
        assert "DRAIN" in slurm.states(BAD)
        assert slurm.show("node", BAD)[0]["Reason"].startswith(f"hyperpod-prolog: {reason}")
        faults.survived(reason, "node drained with that reason, job finished elsewhere", time.monotonic() - began)


def test_two_faulty_nodes_of_one_job_are_both_drained_and_the_job_is_not_held(tmp_path: Path) -> None:
    with cluster(tmp_path, tools={"/usr/bin/nvidia-smi": SEVEN}) as slurm:
        slurm.node(ALL[1]).write("/usr/bin/nvidia-smi", SEVEN, 0o755)
        job = slurm.submit("true", "-N2", "-p", "train")
        slurm.wait(lambda: all("DRAIN" in slurm.states(name) for name in ALL[:2]), 15, "both are drained")
        time.sleep(1)
        assert slurm.job(job)["Priority"] != "0"
        slurm.run("scontrol", "update", f"nodename={BAD}", "state=resume")
        slurm.node(BAD).write("/usr/bin/nvidia-smi", HEALTHY, 0o755)
        slurm.wait(lambda: state(slurm, job) == "COMPLETED", 40, "the job runs when two nodes are sound")


def test_a_job_that_must_not_be_requeued_fails_and_the_node_is_drained(tmp_path: Path) -> None:
    with cluster(tmp_path, tools={"/usr/bin/nvidia-smi": SEVEN}) as slurm:
        job = slurm.submit("true", "-w", BAD, "-p", "train", "--no-requeue")
        slurm.wait(lambda: "DRAIN" in slurm.states(BAD), 15, "the node is drained")
        slurm.wait(lambda: state(slurm, job) not in ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING"), 15, "it ends")
        assert state(slurm, job) != "COMPLETED"
        assert "7 of 8 GPUs answer" in slurm.show("node", BAD)[0]["Reason"]


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param({"/usr/bin/nvidia-smi": NO_ECC}, id="an older nvidia-smi knows no such field"),
        pytest.param({"/usr/bin/nvidia-smi": NOT_SUPPORTED}, id="the GPU has no error counters"),
    ],
)
def test_what_cannot_be_asked_is_no_fault(tmp_path: Path, tools: dict[str, str]) -> None:
    with cluster(tmp_path, tools=tools) as slurm:
        job = slurm.submit("true", "-w", BAD, "-p", "train")
        slurm.wait(lambda: state(slurm, job) == "COMPLETED", 15, "the job runs")


@pytest.mark.parametrize("kind", ["gpu", "neuron"])
def test_a_missing_tool_stops_no_job(tmp_path: Path, kind: str) -> None:
    with cluster(tmp_path, kind=kind) as slurm:
        slurm.node(BAD).run("rm", "-f", "/usr/bin/nvidia-smi")
        job = slurm.submit("true", "-w", BAD, "-p", "train")
        slurm.wait(lambda: state(slurm, job) == "COMPLETED", 15, "the job runs")


def test_neuron_devices_are_counted(tmp_path: Path) -> None:
    tool = '#!/bin/sh\necho \'[{"neuron_device":0,"nc_count":2},{"neuron_device":1,"nc_count":2}]\'\n'
    with cluster(tmp_path, kind="neuron", tools={"/opt/aws/neuron/bin/neuron-ls": tool}) as slurm:
        job = slurm.submit("true", "-N2", "-p", "train")
        slurm.wait(lambda: state(slurm, job) == "COMPLETED", 30, "the job ran elsewhere")
        assert "2 of 8 Neuron devices answer" in slurm.show("node", BAD)[0]["Reason"]


@pytest.mark.parametrize("folder", [True, False])
def test_jobs_run_with_and_without_the_folder_of_an_exporter(tmp_path: Path, *, folder: bool) -> None:
    """Field report D-17: observability was off, and every job failed in its prolog."""
    with cluster(tmp_path, gpu_jobs="/run/gpu-jobs") as slurm:
        node = slurm.node(BAD)
        node.run("install", "-d", "-o", "ada", "/run/mine")
        if folder:
            node.run("mkdir", "/run/gpu-jobs")
        script = "touch /run/mine/seen; cat /run/gpu-jobs/* > /run/mine/seen; sleep 1"
        job = slurm.submit(script, "-w", BAD, "-p", "train", "--gres=gpu:2")
        slurm.wait(lambda: state(slurm, job) == "COMPLETED", 15, "the job runs")
        assert node.read("/run/mine/seen") == (f"{job}\n" * 2 if folder else "")
        slurm.wait(lambda: node.run("ls", "/run/gpu-jobs").stdout == "", 10, "the GPUs are nobody's")


DISK = "/opt/dlami/nvme"


def with_disk(slurm: Slurm) -> Node:
    """A node whose local disk is mounted before the step runs again."""
    node = slurm.node(BAD)
    assert node.run("sh", "-c", f"mkdir -p {DISK} && mount -t tmpfs nvme {DISK}").returncode == 0
    assert f"scratch folders: {DISK}/jobs" in said(node)[0]
    return node


def test_a_job_has_a_folder_of_its_own_on_local_nvme_that_goes_with_it(tmp_path: Path) -> None:
    with cluster(tmp_path) as slurm:
        node = with_disk(slurm)
        script = f"cd {DISK}/jobs/$SLURM_JOB_ID && stat -c %U:%a . > mine && sleep 5"
        job = slurm.submit(script, "-w", BAD, "-p", "train")
        folder = f"{DISK}/jobs/{job}"
        slurm.wait(lambda: node.run("cat", f"{folder}/mine").stdout == "ada:700\n", 10, "the job wrote to its folder")
        assert node.run("runuser", "-u", "nobody", "--", "ls", folder).returncode
        assert node.run("runuser", "-u", "nobody", "--", "ls", f"{DISK}/jobs").returncode
        slurm.wait(lambda: state(slurm, job) == "COMPLETED", 15, "the job ends")
        slurm.wait(lambda: node.run("ls", "-A", f"{DISK}/jobs").stdout == "", 10, "its folder is gone")


def test_no_job_gets_what_an_older_one_of_its_number_has_left(tmp_path: Path, faults: Faults) -> None:
    """A crash leaves the folder, and numbers begin again when the controller is lost with its state."""
    with cluster(tmp_path) as slurm:
        node, began = with_disk(slurm), time.monotonic()
        jobs, prolog = f"{DISK}/jobs", "/opt/slurm/etc/prolog.d/90-hyperpod.sh"
        ada, bob = (node.run("id", "-u", name).stdout.strip() for name in ("ada", "nobody"))
        env = {"SLURM_JOB_ID": "7", "SLURMD_NODENAME": BAD}
        node.run(prolog, env={**env, "SLURM_JOB_UID": ada})
        node.run("sh", "-c", f"echo token > {jobs}/7/token; chown ada {jobs}/7/token")
        node.run(prolog, env={**env, "SLURM_JOB_UID": ada})  # the same job, requeued
        assert node.run("ls", f"{jobs}/7").stdout == "token\n"
        node.run(prolog, env={**env, "SLURM_JOB_UID": bob})
        assert node.run("stat", "-c", "%U:%a", f"{jobs}/7").stdout == "nobody:700\n"
        assert node.run("ls", "-A", f"{jobs}/7").stdout == ""
        assert node.run("sh", "-c", f"ls {jobs}/.gone-7-*").stdout == "token\n"
        node.run("mkdir", f"{jobs}/keep-this")
        runs = slurm.submit("sleep 60", "-w", BAD, "-p", "train")
        slurm.wait(lambda: node.run("ls", f"{jobs}/{runs}").returncode == 0, 15, "the job runs")
        squeue = "/opt/slurm/bin/squeue"
        node.run("rm", squeue)
        node.write(squeue, "#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n", 0o755)
        said(node)
        assert node.run("ls", "-A", jobs).stdout.split() == [str(runs), "7", "keep-this"]
        node.run("ln", "-sf", "/usr/bin/squeue", squeue)
        said(node)
        assert node.run("ls", "-A", jobs).stdout.split() == [str(runs), "keep-this"]
        slurm.run("scancel", str(runs))
        spent = time.monotonic() - began
    faults.survived("scratch folders left by a crash", "no other user's, and taken away", spent)


@pytest.mark.parametrize("way", ["folder", "link"])
def test_a_user_who_makes_jobs_first_does_not_keep_it(tmp_path: Path, way: str) -> None:
    with cluster(tmp_path) as slurm:
        node = slurm.node(BAD)
        node.run("sh", "-c", f"mkdir -p {DISK} /precious && chmod 700 /precious && mount -t tmpfs nvme {DISK}")
        make = f"mkdir {DISK}/jobs" if way == "folder" else f"ln -s /precious {DISK}/jobs"
        node.run("runuser", "-u", "nobody", "--", "sh", "-c", make)
        warned = "\n".join(said(node))
        assert f"warning: {DISK}/jobs was not root's and is now {DISK}/jobs." in warned
        assert "everybody may rename" not in warned
        assert node.run("stat", "-c", "%F %U:%a", f"{DISK}/jobs").stdout == "directory root:711\n"
        assert node.run("stat", "-c", "%a", "/precious").stdout == "700\n"
        node.run("chmod", "777", DISK)
        assert said(node) == [f"warning: everybody may rename what others have on {DISK}: `chmod +t {DISK}`"]


def test_a_disk_that_is_mounted_after_boot_is_taken_in_by_the_next_run(tmp_path: Path) -> None:
    with cluster(tmp_path) as slurm:
        node = with_disk(slurm)
        node.run("umount", DISK)
        node.step("--boot")
        assert "scratch folders: none" in said(node)[0]
        node.run("mount", "-t", "tmpfs", "nvme", DISK)
        assert f"scratch folders: {DISK}/jobs" in said(node)[0]
        assert node.run("stat", "-c", "%U:%a", f"{DISK}/jobs").stdout == "root:711\n"


def test_without_a_local_disk_nothing_is_written_to_the_root_disk(tmp_path: Path) -> None:
    with cluster(tmp_path) as slurm:
        slurm.node(BAD).run("mkdir", "-p", DISK)
        job = slurm.submit("true", "-w", BAD, "-p", "train")
        slurm.wait(lambda: state(slurm, job) == "COMPLETED", 15, "the job runs")
        assert slurm.node(BAD).run("ls", "-A", DISK).stdout == ""


def test_no_link_of_a_user_is_followed(tmp_path: Path) -> None:
    with cluster(tmp_path) as slurm:
        node = with_disk(slurm)
        precious = "mkdir -p /precious/77 /precious/88 && touch /precious/77/file /precious/88/file"
        node.run("sh", "-c", f"{precious} && mkdir {DISK}/jobs/77")
        node.run("ln", "-s", "/precious", f"{DISK}/jobs/77/link")
        env = {"SLURM_JOB_ID": "77", "SLURM_JOB_UID": "2001", "SLURMD_NODENAME": BAD}
        assert node.run("/opt/slurm/etc/epilog.d/90-hyperpod.sh", env=env).returncode == 0
        assert node.run("ls", f"{DISK}/jobs").stdout == ""
        # Where a disk is everybody's, `jobs` itself may be a link.
        node.run("sh", "-c", f"rmdir {DISK}/jobs && chmod 711 /precious && ln -s /precious {DISK}/jobs")
        for script in ("prolog", "epilog"):
            ran = node.run(f"/opt/slurm/etc/{script}.d/90-hyperpod.sh", env={**env, "SLURM_JOB_ID": "88"})
            assert ran.returncode == 0
        assert node.run("ls", "-R", "/precious").stdout.count("file") == 2
        assert node.run("stat", "-c", "%U", "/precious/88").stdout == "root\n"


def test_a_second_run_changes_nothing_and_a_slurm_that_does_not_run_the_scripts_is_told(tmp_path: Path) -> None:
    with cluster(tmp_path) as slurm:
        node = slurm.node(BAD)
        assert said(node) == []
        text = slurm.conf().replace("Prolog=/opt/slurm/etc/prolog.d/*", "Prolog=/etc/slurm/other.sh")
        slurm.controller.write("/opt/slurm/etc/slurm.conf", text)
        slurm.run("scontrol", "reconfigure")
        [warning] = said(node)
        assert warning.startswith("warning: Slurm does not run /opt/slurm/etc/prolog.d/90-hyperpod.sh")
        assert "Prolog is /etc/slurm/other.sh" in warning
        slurm.kill_slurmctld()
        assert said(node) == []
