"""`accounting` on a real Slurm with a real database: what it records is enforced, outlives things, and comes once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.proof.conftest import Faults
from tests.proof.nodes import step
from tests.proof.slurm import Slurm, can_run_slurm

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_run_slurm(), reason="needs root, namespaces and Slurm")]

FILE = "/aws/s3/bucket/people/abc/people.json"
MULTIFACTOR = ("PriorityType=priority/multifactor", "PriorityWeightQOS=1000", "PriorityWeightFairshare=1")
WRITTEN_DOWN = 6
"""Seconds within which slurmctld has written down what it knows; what it has not is lost when it is killed."""
CLASSES = {"inference": 100, "training": 75, "experiment": 25}


class Cluster(Slurm):
    """Two nodes of eight GPUs whose service may call the cluster by another name or lack settings."""

    generation = "frontier"
    lacking: Sequence[str] = ()
    appended: Sequence[str] = ()

    def conf(self) -> str:
        text = super().conf().replace("ClusterName=frontier", f"ClusterName={self.generation}")
        kept = [line for line in text.splitlines() if not line.startswith(tuple(self.lacking) or ("-",))]
        return "\n".join([*kept, *self.appended, ""])

    def publish(self, *teams: Mapping[str, Any], classes: Mapping[str, int] = CLASSES) -> None:
        """Puts a roster where the step finds it."""
        people = {"version": 1, "users": [], "groups": [], "teams": list(teams), "priorities": dict(classes)}
        self.controller.write("/aws/ssm/hyperpod/Frontier/people", "s3://bucket/people/abc/people.json\n")
        self.controller.write(FILE, json.dumps(people))

    def account(self, code: int = 0) -> str:
        """Runs the step; what it says."""
        ran: CompletedProcess[str] = self.controller.step("accounting")
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran.stdout

    def apply(self, *teams: Mapping[str, Any], code: int = 0, classes: Mapping[str, int] = CLASSES) -> str:
        self.publish(*teams, classes=classes)
        return self.account(code)

    def listed(self, what: str, *fields: str, cluster: str = "") -> list[str]:
        """Rows of the database; associations of the present cluster unless another is named."""
        where = [f"cluster={cluster or self.generation}"] if what == "assoc" else []
        rows = self.run("sacctmgr", "-nP", "show", what, *where, f"format={','.join(fields)}").split("\n")
        return [row for row in rows if row and not row.startswith("root|")]

    def members(self) -> list[str]:
        return [row for row in self.listed("assoc", "account", "user") if not row.endswith("|")]

    def changes(self) -> int:
        """How many changes the database has seen."""
        return len(self.run("sacctmgr", "-nP", "show", "transactions").splitlines())

    def reason(self, number: int) -> str:
        found = self.job(number)
        return found["Reason"] if found["JobState"] == "PENDING" else found["JobState"]

    def refused(self, *options: str, user: str) -> str:
        """Why a user's job is refused."""
        command = ("runuser", "-u", user, "--", "sbatch", "--chdir=/", "--output=/dev/null", "--wrap=true", *options)
        ran = self.controller.run(*command)
        assert ran.returncode, ran.stdout
        return ran.stderr

    def end_all(self) -> None:
        for user in self.users:
            self.run("scancel", "-u", user)
        self.wait(lambda: not self.run("squeue", "-h").strip(), 30, "no jobs")


def team(name: str, *members: str, **given: Any) -> dict[str, Any]:
    quota: dict[str, Any] = {
        "weight": 1,
        "nodes": None,
        "accelerators": None,
        "borrow_limit_percent": 0,
        "priorities": [],
    }
    return {"name": name, "members": list(members), **quota, **given}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    groups = {"p5": {"role": "compute", "partition": "train", "count": 2, "accelerators": 8}}
    inputs = {"parameter": "/hyperpod/Frontier/people"}
    slurm = Cluster(
        folder=tmp_path_factory.mktemp("slurm"),
        groups=groups,
        steps=[step("accounting", roles=["controller"], inputs=inputs, timeout=60)],
        accounting=True,
        users={"ada": 2001, "bob": 2002, "cyd": 2003},
        settings=MULTIFACTOR,
    )
    with slurm:
        slurm.publish()
        slurm.controller.boot()
        yield slurm


@pytest.fixture
def cluster(running: Cluster) -> Cluster:
    """The cluster without jobs, teams and classes."""
    running.end_all()
    running.publish(classes={})
    # The database learns late of jobs that ended while it was away.
    running.wait(lambda: "nothing to do" in running.controller.step("accounting").stdout, 60, "no teams")
    assert running.listed("assoc", "account", "user") == []
    assert [row for row in running.listed("qos", "name", "priority") if not row.startswith("normal|")] == []
    return running


GPUS = "--gres=gpu:8"
WORK = "sleep 600"


def test_accounts_and_classes_are_made_once(cluster: Cluster) -> None:
    vision = team("vision", "ada", "bob", weight=80, accelerators=8, borrow_limit_percent=50)
    said = cluster.apply(vision, team("speech", "bob", nodes=1, priorities=["experiment"]))
    assert cluster.listed("assoc", "account", "user", "fairshare", "grptres", "qos", "defaultqos") == [
        "speech||1|node=1|experiment,normal|experiment",
        "speech|bob|1||experiment,normal|experiment",
        "vision||80|gres/gpu=12|experiment,inference,normal,training|experiment",
        "vision|ada|1||experiment,inference,normal,training|experiment",
        "vision|bob|1||experiment,inference,normal,training|experiment",
    ]
    assert cluster.listed("user", "user", "defaultaccount") == ["ada|vision", "bob|vision"]
    assert "warning:" not in said
    assert "info: the accounting database is on this controller" in said
    before = cluster.changes()
    assert "nothing to do" in cluster.account()
    assert cluster.changes() == before


def test_limits_and_classes_are_enforced(cluster: Cluster) -> None:
    cluster.apply(
        team("vision", "ada", accelerators=8),
        team("speech", "bob", nodes=1, priorities=["experiment"]),
    )
    cluster.submit(WORK, GPUS)
    over = cluster.submit(WORK, GPUS)
    cluster.submit(WORK, "--nodes=1", "--exclusive", user="bob")
    second = cluster.submit(WORK, "--nodes=1", "--exclusive", user="bob")
    cluster.wait(lambda: cluster.reason(over) == "AssocGrpGRES", 10, "a job over the limit of accelerators waits")
    cluster.wait(lambda: cluster.reason(second) == "AssocGrpNodeLimit", 10, "a job over the limit of nodes waits")
    assert "Invalid account" in cluster.refused(user="cyd")
    assert "Invalid account" in cluster.refused("--account=vision", user="bob")
    assert "Invalid qos" in cluster.refused("--qos=inference", user="bob")
    assert cluster.job(over)["QOS"] == "experiment"


def test_classes_order_jobs(cluster: Cluster) -> None:
    cluster.apply(team("vision", "ada"))
    first = cluster.submit(WORK, "--nodes=2", GPUS)
    waiting = {name: cluster.submit(WORK, "--nodes=2", GPUS, f"--qos={name}") for name in ("experiment", "inference")}
    assert int(cluster.job(waiting["inference"])["Priority"]) > int(cluster.job(waiting["experiment"])["Priority"])
    cluster.run("scancel", str(first))
    cluster.wait(lambda: cluster.reason(waiting["inference"]) == "RUNNING", 20, "the higher class goes first")
    assert cluster.job(waiting["experiment"])["JobState"] == "PENDING"


def test_a_limit_changes_under_running_jobs(cluster: Cluster, faults: Faults) -> None:
    cluster.apply(team("vision", "ada", accelerators=8))
    runs, waits = cluster.submit(WORK, GPUS), cluster.submit(WORK, GPUS)
    cluster.wait(lambda: cluster.reason(waits) == "AssocGrpGRES", 10, "the second job waits")
    cluster.apply(team("vision", "ada", accelerators=8, borrow_limit_percent=100))
    cluster.wait(lambda: cluster.reason(waits) == "RUNNING", 10, "the second job starts with a higher limit")
    cluster.apply(team("vision", "ada", accelerators=4, weight=3))
    assert cluster.reason(runs) == cluster.reason(waits) == "RUNNING"
    began = time.monotonic()
    cluster.apply(team("vision", "ada", accelerators=None, weight=3, borrow_limit_percent=None))
    assert cluster.listed("assoc", "account", "user", "fairshare", "grptres")[0] == "vision||3|"
    faults.survived(
        "a team's limit falls below what it runs", "its jobs go on, new ones wait", time.monotonic() - began
    )


def test_a_member_moves_with_a_job_running(cluster: Cluster, faults: Faults) -> None:
    cluster.apply(team("vision", "ada", "bob"), team("speech"))
    runs = cluster.submit(WORK, user="bob")
    cluster.wait(lambda: cluster.reason(runs) == "RUNNING", 10, "the job runs")
    began = time.monotonic()
    moved = (team("vision", "ada"), team("speech", "bob"))
    said = cluster.apply(*moved, code=75)
    assert f"bob leaves account vision when jobs {runs} have ended" in said
    assert cluster.reason(runs) == "RUNNING"
    assert "bob|speech" in cluster.listed("user", "user", "defaultaccount")
    assert "AssocGrpSubmitJobsLimit" in cluster.refused("--account=vision", user="bob")
    cluster.submit("true", user="bob")
    before = cluster.changes()
    cluster.account(75)
    assert cluster.changes() == before
    faults.survived("a member leaves a team with a job running", "the job goes on", time.monotonic() - began)
    cluster.end_all()
    cluster.account()
    assert cluster.members() == ["speech|bob", "vision|ada"]


def test_who_comes_back_may_send_jobs_again(cluster: Cluster) -> None:
    cluster.apply(team("vision", "ada"))
    cluster.submit(WORK)
    cluster.apply(team("vision"), code=75)
    assert "AssocGrpSubmitJobsLimit" in cluster.refused(user="ada")
    cluster.apply(team("vision", "ada"))
    cluster.submit("true")


def test_a_removed_team_and_class_go_when_their_jobs_have_ended(cluster: Cluster, faults: Faults) -> None:
    cluster.apply(team("vision", "ada"), team("speech", "bob"))
    runs = cluster.submit(WORK, "--qos=training")
    cluster.wait(lambda: cluster.reason(runs) == "RUNNING", 10, "the job runs")
    began = time.monotonic()
    rest = {"inference": 100, "experiment": 25}
    said = cluster.apply(team("speech", "bob"), classes=rest, code=75)
    assert f"ada leaves account vision when jobs {runs} have ended" in said
    assert cluster.reason(runs) == "RUNNING"
    assert cluster.job(runs)["QOS"] == "training"
    faults.survived("a team with a running job is removed", "the job goes on, code 75", time.monotonic() - began)
    cluster.end_all()
    cluster.account()
    assert cluster.members() == ["speech|bob"]
    assert cluster.listed("account", "account") == ["root", "speech"]
    assert sorted(cluster.listed("qos", "name")) == ["experiment", "inference", "normal"]
    assert "ada" not in "".join(cluster.listed("user", "user"))


def test_what_somebody_made_by_hand_stays(cluster: Cluster) -> None:
    for made in (
        ("account", "physics", f"cluster={cluster.generation}"),
        ("user", "cyd", "account=physics"),
        ("user", "ada", "account=physics"),
        ("qos", "urgent", "Priority=7"),
    ):
        cluster.run("sacctmgr", "-i", "add", *made)
    try:
        cluster.apply(team("vision", "ada"))
        said = cluster.apply(team("physics", "bob"), code=78)
        assert "account physics was made by hand and is left alone" in said
        cluster.apply(classes={})
        assert cluster.members() == ["physics|ada", "physics|cyd"]
        assert cluster.listed("user", "user", "defaultaccount") == ["ada|physics", "cyd|physics"]
        assert "urgent|7" in cluster.listed("qos", "name", "priority")
    finally:
        cluster.run("sacctmgr", "-i", "delete", "user", "cyd,ada", "account=physics")
        cluster.run("sacctmgr", "-i", "delete", "account", "physics")
        cluster.run("sacctmgr", "-i", "delete", "qos", "urgent")


def test_a_member_without_an_account_on_the_node_waits_for_it(cluster: Cluster) -> None:
    said = cluster.apply(team("vision", "ada", "eve"), code=75)
    assert "eve is no user of this node yet" in said
    assert cluster.members() == ["vision|ada"]
    cluster.run("useradd", "-m", "-u", "2050", "eve")
    cluster.account()
    cluster.submit("true", user="eve")


def test_a_file_that_was_cut_off_or_cannot_be_had_takes_nobody_out(cluster: Cluster, faults: Faults) -> None:
    cluster.apply(team("vision", "ada"))
    began = time.monotonic()
    cluster.controller.write(FILE, cluster.controller.read(FILE)[:-20])
    assert "the roster is cut off" in cluster.account(78)
    faults.survived("the roster is cut off", "code 78, teams stay", time.monotonic() - began)
    began = time.monotonic()
    cluster.controller.write("/aws/offline", "")
    assert "the teams are those of the last good copy" in cluster.account(75)
    cluster.controller.run("rm", "/aws/offline")
    faults.survived("AWS does not answer (accounting)", "the last good copy stands, code 75", time.monotonic() - began)
    assert cluster.members() == ["vision|ada"]


def test_without_slurmdbd_limits_stand_and_the_step_says_so(cluster: Cluster, faults: Faults) -> None:
    cluster.apply(team("vision", "ada", accelerators=8))
    cluster.submit(WORK, GPUS)
    began = time.monotonic()
    cluster.kill_slurmdbd()
    try:
        assert "the accounting database does not answer" in cluster.account(75)
        seconds = time.monotonic() - began
        over = cluster.submit(WORK, GPUS)
        cluster.wait(lambda: cluster.reason(over) == "AssocGrpGRES", 10, "the limit stands")
    finally:
        cluster.start_slurmdbd()
    assert "nothing to do" in cluster.account()
    faults.survived("slurmdbd is killed", "limits stand, code 75", seconds)


def test_limits_outlive_slurmctld(cluster: Cluster, faults: Faults) -> None:
    cluster.apply(team("vision", "ada", accelerators=8))
    runs = cluster.submit(WORK, GPUS)
    cluster.wait(lambda: cluster.reason(runs) == "RUNNING", 10, "the job runs")
    time.sleep(WRITTEN_DOWN)
    began = time.monotonic()
    cluster.kill_slurmctld()
    assert "Slurm does not answer yet" in cluster.account(75)
    cluster.start_slurmctld()
    over = cluster.submit(WORK, GPUS)
    cluster.wait(lambda: cluster.reason(over) == "AssocGrpGRES", 15, "the limit stands")
    assert cluster.reason(runs) == "RUNNING"
    assert "nothing to do" in cluster.account()
    faults.survived("slurmctld is killed (accounting)", "limits and jobs stand", time.monotonic() - began)


def test_settings_that_slurm_lacks_are_named_and_help(cluster: Cluster, faults: Faults) -> None:
    cluster.lacking = ("AccountingStorageEnforce", "AccountingStorageTRES", "Priority")

    def restart() -> None:
        cluster.end_all()  # the end of a job that is not written down yet would never reach the database
        time.sleep(WRITTEN_DOWN)
        cluster._configure(cluster.controller)
        cluster.kill_slurmctld()
        cluster.start_slurmctld()

    try:
        restart()
        began = time.monotonic()
        said = cluster.apply(team("vision", "ada", accelerators=8))
        assert "warning: teams are recorded and not enforced in full" in said
        assert cluster.listed("assoc", "account", "user", "grptres")[0] == "vision||"
        faults.survived("slurm.conf enforces no limits", "a warning with the lines to add", time.monotonic() - began)
        appended = said.split(" lacks ")[1].split(". The service")[0].split(" and ")
        assert len(appended) == 5, appended
        cluster.appended = appended
        restart()
        assert "warning:" not in cluster.account()
        cluster.submit(WORK, GPUS)
        over = cluster.submit(WORK, GPUS)
        cluster.wait(lambda: cluster.reason(over) == "AssocGrpGRES", 10, "the limit is enforced")
        assert "Invalid account" in cluster.refused(user="cyd")
    finally:
        cluster.lacking, cluster.appended = (), ()
        restart()


def test_a_new_controller_has_the_limits_and_a_new_generation_leaves_the_history(
    cluster: Cluster, faults: Faults
) -> None:
    vision = team("vision", "ada", accelerators=8)
    cluster.apply(vision, team("speech", "bob"))
    done = cluster.submit("true")
    query = ("sacct", "-nPXD", "-M", "frontier", "-j", str(done), "-o", "jobid,account,state")
    history = f"{done}|vision|COMPLETED"
    cluster.wait(lambda: history in cluster.run(*query).splitlines(), 20, "a job for the history")
    began = time.monotonic()
    cluster.replace_controller()
    cluster.publish(vision, team("speech", "bob"))
    before = cluster.changes()
    assert "nothing to do" in cluster.controller.boot().stdout
    assert cluster.changes() == before
    assert "vision||gres/gpu=8" in cluster.listed("assoc", "account", "user", "grptres")
    cluster.submit(WORK, GPUS)
    over = cluster.submit(WORK, GPUS)
    cluster.wait(lambda: cluster.reason(over) == "AssocGrpGRES", 40, "the limit stands")
    faults.survived("the controller is lost with its disk", "limits are there again", time.monotonic() - began)

    cluster.end_all()
    began = time.monotonic()
    first = cluster.listed("assoc", "account", "user", "grptres", "qos")
    cluster.generation = "frontier-2"
    try:
        cluster.replace_controller()
        cluster.publish(team("vision", "ada", accelerators=16), classes={"training": 75})
        cluster.controller.boot()
        assert "nothing to do" in cluster.account()
        assert cluster.listed("assoc", "account", "user", "grptres") == ["vision||gres/gpu=16", "vision|ada|"]
        assert cluster.listed("assoc", "account", "user", "grptres", "qos", cluster="frontier") == first
        assert history in cluster.run(*query).splitlines()
        cluster.apply(classes={})
        assert cluster.listed("assoc", "account", "user", "grptres", "qos", cluster="frontier") == first
        faults.survived("a second cluster on the database", "the first one's history stays", time.monotonic() - began)
    finally:
        cluster.generation = "frontier"
        cluster.replace_controller()
        cluster.publish()
        cluster.controller.boot()
