"""The job of `hyperpod job` on a real Slurm, as the victim that it is made to be: its node is lost, and it goes on."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperpod_constructs import cli
from tests.proof.conftest import Faults
from tests.proof.nodes import step
from tests.proof.slurm import ROSTER, Slurm, can_run_slurm

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not can_run_slurm(), reason="needs root and the packages of tools/debian.sh"),
]
ARGUMENTS = "--steps 60 --checkpoint-steps 5 --pause 0.2"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder that all nodes see, with the job in it."""
    folder = tmp_path / "fsx"
    folder.mkdir()
    folder.chmod(0o777)
    options = ["--type", "ml.c5.xlarge", "--partition", "train", "--shared", "/fsx", "--out", str(folder / "launch")]
    assert cli.main(["job", *options]) == 0
    (folder / "launch").chmod(0o777)
    return folder


@pytest.fixture
def slurm(tmp_path: Path, shared: Path) -> Iterator[Slurm]:
    """Two nodes for jobs and a spare that the controller holds."""
    group = {"role": "compute", "partition": "train", "count": 2, "spares": 1}
    steps = [step("spares", inputs={"uri": ROSTER}, roles=["controller"])]
    with Slurm(folder=tmp_path / "slurm", groups={"cpu": group}, steps=steps, shared={"/fsx": shared}) as running:
        assert running.controller.boot().returncode == 0
        yield running


def saved_step(checkpoint: Path) -> int:
    return int(checkpoint.stem.removeprefix("step-"))


def test_the_job_of_a_lost_node_goes_on_from_its_last_checkpoint_on_the_spare(
    slurm: Slurm, shared: Path, faults: Faults
) -> None:
    [spare] = slurm.held()
    command = f"cd /fsx/launch && HYPERPOD_TRAIN_ARGS='{ARGUMENTS}' sbatch --parsable job.sbatch"
    sent = slurm.controller.run("runuser", "-u", "ada", "--", "bash", "-c", command)
    assert sent.returncode == 0, sent.stderr
    job = int(sent.stdout)
    output = shared / f"launch/hyperpod-job-{job}.out"
    run = shared / f"hyperpod-job/{job}"
    slurm.wait(lambda: any(saved_step(each) >= 10 for each in run.glob("*.ckpt")), 60, "it has saved step 10")
    first = slurm.nodes_of(job)
    assert spare not in first

    began = time.monotonic()
    slurm.kill(first[1])
    slurm.wait(lambda: "DOWN" in slurm.states(first[1]), 60, "the node is seen to be lost")
    assert slurm.controller.step("spares").returncode == 0
    assert slurm.held() == []
    slurm.wait(lambda: slurm.job(job)["JobState"] == "COMPLETED", 120, "the job ends on the spare")
    spent = time.monotonic() - began

    said = output.read_text()
    resumed = re.search(r"train: resumed from step (\d+)", said)
    assert resumed is not None, said
    assert int(resumed[1]) >= 10
    assert set(slurm.nodes_of(job)) == {first[0], spare}
    result = json.loads((run / "result.json").read_text())
    assert result["steps"] == 60
    assert result["measures_accelerators"] is False
    faults.survived("the node of the acceptance job is lost", f"resumed from step {resumed[1]} on the spare", spent)
