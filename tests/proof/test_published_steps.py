"""What an app publishes, as it is, on a real Slurm: from the Python of a user to a job of theirs on the nodes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from tests.proof.conftest import Faults
from tests.proof.slurm import Slurm, can_run_slurm

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not can_run_slurm(), reason="needs root and the packages of tools/debian.sh"),
]
GROUPS = (
    hp.InstanceGroup.controller("ml.m5.xlarge"),
    hp.InstanceGroup.login("ml.m5.xlarge"),
    hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=2, spares=1, partition="train"),
)
# Rules of iptables would be this machine's own: nodes that meet on loopback have its network.
STEPS = [step for step in hp.steps.defaults(people=True, teams=True, homes="/home") if step.title != "metadata-service"]
ADA, BOB = hp.User(name="ada", uid=3001), hp.User(name="bob", uid=3002)


def published(folder: Path, *users: hp.User) -> tuple[dict[str, bytes], dict[str, bytes], str]:
    """The scripts of an app, its roster by object, and where the parameter says that it lies."""
    app = cdk.App(outdir=str(folder))
    vision = hp.Team(
        name="vision", instances={"ml.c5.xlarge": 1}, borrow_limit_percent=0, members=[u.name for u in users]
    )
    hp.SlurmTraining(
        app,
        "Frontier",
        env=cdk.Environment(account="111122223333", region="us-west-2"),
        zone="usw2-az2",
        groups=GROUPS,
        people=hp.People(users=users),
        governance=hp.TaskGovernance(teams=[vision], priorities={"training": 75}),
        lifecycle=hp.LifecycleScripts.steps(STEPS),
    )
    app.synth()
    files = json.loads((folder / "Frontier.assets.json").read_text())["files"].values()
    objects = {
        where["objectKey"]: (folder / file["source"]["path"]).read_bytes()
        for file in files
        for where in file["destinations"].values()
        if where["objectKey"].startswith("hyperpod/")
    }
    template = json.loads((folder / "Frontier.template.json").read_text())
    (parameter,) = [each for each in template["Resources"].values() if each["Type"] == "AWS::SSM::Parameter"]
    roster = {key: content for key, content in objects.items() if key.endswith("roster.json")}
    scripts = {key.rpartition("/")[2]: content for key, content in objects.items() if key not in roster}
    return scripts, roster, parameter["Properties"]["Value"]


def deploy(slurm: Slurm, scripts: dict[str, bytes], roster: dict[str, bytes], uri: str) -> None:
    """What `cdk deploy` and HyperPod do: objects, the parameter, and scripts on every node."""
    bucket = uri.removeprefix("s3://").partition("/")[0]
    for node in slurm.nodes:
        for key, content in roster.items():
            node.write(f"/aws/s3/{bucket}/{key}", content.decode())
        node.write("/aws/ssm/hyperpod/Frontier/roster", uri)
        node.put(scripts)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A cluster whose nodes have booted with what the app publishes."""
    folder = tmp_path_factory.mktemp("published")
    shared = folder / "fsx"
    shared.mkdir()
    group: dict[str, Any] = {"role": "compute", "partition": "train", "count": 2, "spares": 1}
    with Slurm(
        folder=folder / "slurm", groups={"cpu": group}, accounting=True, users={}, shared={"/fsx": shared}
    ) as running:
        deploy(running, *published(folder / "one", ADA))
        booted = [node.boot() for node in running.nodes]
        assert [ran.returncode for ran in booted] == [0] * len(booted), "".join(ran.stdout for ran in booted)
        yield running


def test_every_step_of_every_node_ends_well(slurm: Slurm) -> None:
    for node in slurm.nodes:
        log = node.read("/var/log/hyperpod/steps.log")
        ends = [line for line in log.splitlines() if " event=end " in line]
        assert ends
        assert [line for line in ends if " code=0 " not in line] == []


def test_no_step_edits_what_the_service_owns(slurm: Slurm) -> None:
    for node in slurm.nodes:
        assert node.read("/opt/slurm/etc/slurm.conf") == slurm.conf()


def test_the_spare_is_held_and_a_member_works_within_the_limit(slurm: Slurm) -> None:
    assert len(slurm.held()) == 1
    job = slurm.submit("id -un; sleep 1", "-p", "train", "-A", "vision", "-N1", user="ada")
    slurm.wait(lambda: slurm.job(job)["JobState"] == "COMPLETED", 20, "the job of a member ends")
    more = slurm.submit("sleep 60", "-p", "train", "-A", "vision", "-N2", user="ada")
    slurm.wait(lambda: "Assoc" in slurm.job(more)["Reason"], 10, "two nodes are over the limit of one")


def test_counts_reach_cloudwatch(slurm: Slurm) -> None:
    assert any(call[:2] == ["cloudwatch", "put-metric-data"] for call in slurm.controller.calls())


def test_a_second_boot_changes_nothing(slurm: Slurm) -> None:
    for node in slurm.nodes:
        listing = ("sh", "-c", "find /etc /usr/local /opt/slurm -newer /var/marker -type f | sort")
        time.sleep(0.02)
        node.write("/var/marker", "")
        time.sleep(0.02)
        assert node.boot().returncode == 0
        assert node.run(*listing).stdout == "", node.name


def test_one_who_comes_and_one_who_goes_reach_nodes_that_run(slurm: Slurm, tmp_path: Path, faults: Faults) -> None:
    before = [node.read("/opt/hyperpod/inputs.json") for node in slurm.nodes]
    began = time.monotonic()
    scripts, roster, uri = published(tmp_path / "two", BOB)
    deploy(slurm, {}, roster, uri)
    for node in slurm.nodes:
        assert node.step("people").returncode == 0
        assert node.run("id", "ada").returncode == 1
        assert node.run("id", "-u", "bob").stdout.strip() == "3002"
    assert slurm.controller.step("accounting").returncode in {0, 75}  # ada's job may still be there
    job = slurm.submit("true", "-p", "train", "-A", "vision", "-N1", user="bob")
    slurm.wait(lambda: slurm.job(job)["JobState"] == "COMPLETED", 30, "the job of the new member ends")
    faults.survived("a user added, one removed", "nodes that run follow, no script changes", time.monotonic() - began)
    # The same scripts are published for both: their address has not changed.
    assert json.loads(before[0])["steps"] == json.loads(slurm.nodes[0].read("/opt/hyperpod/inputs.json"))["steps"]
    assert scripts.keys() == {"node.zip", "start-controller.sh", "start-cpu.sh", "start-login.sh"}
