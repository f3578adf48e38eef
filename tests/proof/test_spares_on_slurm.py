"""Spare nodes on a real Slurm: free for failures on every partition, whatever happens to nodes and controller."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.proof.conftest import Faults
from tests.proof.nodes import step
from tests.proof.slurm import LOGIN, ROSTER, Slurm, can_run_slurm

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not can_run_slurm(), reason="needs root and the packages of tools/debian.sh"),
]

TIMED: dict[str, Any] = {"roles": ["controller"], "every": 30}
STEPS = (step("spares", inputs={"uri": ROSTER}, **TIMED), step("node-counts", **TIMED))
FIRST_RUN_HANGS = '[ -n "$SLURM_RESTART_COUNT" ] || sleep 600'
"""A job that is at work until its node is lost, and finishes when it starts again."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Slurm]]:
    """Starts a Slurm with four nodes for jobs and one spare, unless told otherwise, on which the steps run."""
    with ExitStack() as stack:

        def started(*, count: int = 4, spares: int = 1, **more: Any) -> Slurm:
            group = {"role": "compute", "partition": "train", "count": count, "spares": spares}
            slurm = stack.enter_context(Slurm(folder=tmp_path / "slurm", groups={"p5": group}, steps=STEPS, **more))
            assert slurm.controller.boot().returncode == 0
            return slurm

        yield started


def names(*numbers: int) -> list[str]:
    return [f"ip-10-1-1-{number}" for number in numbers]


def running(slurm: Slurm, job: int) -> Callable[[], bool]:
    return lambda: slurm.job(job)["JobState"] == "RUNNING"


def finished(slurm: Slurm, job: int) -> Callable[[], bool]:
    return lambda: slurm.job(job)["JobState"] == "COMPLETED"


def down(slurm: Slurm, *lost: str) -> Callable[[], bool]:
    return lambda: all("DOWN" in slurm.states(name) for name in lost)


def idle(slurm: Slurm, name: str) -> Callable[[], bool]:
    return lambda: slurm.states(name) <= {"IDLE", "RESERVED"}


def run_spares(slurm: Slurm, *, code: int = 0) -> str:
    """Runs the step as its timer does; returns what it said."""
    ran = slurm.controller.step("spares")
    assert ran.returncode == code, ran.stdout
    return "".join(line[len("spares| ") :] for line in ran.stdout.splitlines() if line.startswith("spares| "))


def test_a_job_of_all_usable_nodes_leaves_the_spare_free_on_every_partition(start: Callable[..., Slurm]) -> None:
    slurm = start()
    [spare] = slurm.held()
    job = slurm.submit("sleep 600", "-N4", "--exclusive", "-p", "train")
    slurm.wait(running(slurm, job), 10, "the job of all usable nodes runs")
    assert spare not in slurm.nodes_of(job)
    others = [
        slurm.submit("true", "-N5", "--exclusive", "-p", "train"),
        slurm.submit("true", "-p", "train"),
        slurm.submit("true", "-p", "dev", "-w", spare),
        slurm.submit("true", "-N2", "--exclusive", "-p", "dev"),
    ]
    time.sleep(4)  # several rounds of the scheduler
    assert {slurm.job(other)["JobState"] for other in others} == {"PENDING"}
    assert slurm.held() == [spare]
    on_login = slurm.submit("true", "-p", "dev", "-w", LOGIN)
    slurm.wait(finished(slurm, on_login), 10, "dev itself is open")


def test_a_second_run_changes_nothing(start: Callable[..., Slurm]) -> None:
    slurm = start()
    before = slurm.show("reservations")
    assert run_spares(slurm) == ""
    assert slurm.show("reservations") == before
    assert "OVERLAP,IGNORE_JOBS" in before[0]["Flags"]
    assert before[0]["Users"] == "root"


def test_the_job_of_a_killed_node_finishes_on_the_spare_and_the_returned_node_becomes_one(
    start: Callable[..., Slurm], faults: Faults
) -> None:
    slurm = start()
    [spare] = slurm.held()
    job = slurm.submit(FIRST_RUN_HANGS, "-N4", "--exclusive", "--requeue", "-p", "train")
    slurm.wait(running(slurm, job), 10, "the job runs")
    lost = slurm.nodes_of(job)[-1]
    slurm.kill(lost)
    seconds = slurm.wait(down(slurm, lost), 60, "the lost node is down")
    assert "held: none" in run_spares(slurm)
    assert slurm.held() == []
    seconds += slurm.wait(finished(slurm, job), 40, "the job finishes on the spare")
    assert slurm.job(job)["Restarts"] == "1"
    assert spare in slurm.nodes_of(job)
    faults.survived("node killed", f"down, job requeued onto {spare} and finished, spare given up", seconds)

    slurm.start(lost)
    seconds = slurm.wait(idle(slurm, lost), 30, "the node is back")
    run_spares(slurm)
    assert len(slurm.held()) == 1
    faults.survived("node returned", f"{slurm.held()[0]} is held again", seconds)


def test_two_failures_take_both_spares_and_return_them(start: Callable[..., Slurm], faults: Faults) -> None:
    slurm = start(count=3, spares=2)
    assert len(slurm.held()) == 2
    job = slurm.submit(FIRST_RUN_HANGS, "-N3", "--exclusive", "--requeue", "-p", "train")
    slurm.wait(running(slurm, job), 10, "the job runs")
    lost = slurm.nodes_of(job)[:2]
    for name in lost:
        slurm.kill(name)
    seconds = slurm.wait(down(slurm, *lost), 60, "both are down")
    run_spares(slurm)
    assert slurm.held() == []
    seconds += slurm.wait(finished(slurm, job), 40, "the job finishes on the spares")
    faults.survived("two nodes killed at once", "job finished on both spares", seconds)
    slurm.start(lost[0])
    slurm.wait(idle(slurm, lost[0]), 30, "the first is back")
    run_spares(slurm)
    assert len(slurm.held()) == 1
    slurm.start(lost[1])
    slurm.wait(idle(slurm, lost[1]), 30, "the second is back")
    run_spares(slurm)
    assert len(slurm.held()) == 2


@pytest.mark.parametrize(
    ("fault", "update"),
    [
        ("node drained", ("state=drain", "reason=bad cable")),
        ("Action:Replace by hand", ("state=fail", "reason=Action:Replace")),
    ],
)
def test_a_node_that_is_taken_out_gives_its_place_to_the_spare(
    start: Callable[..., Slurm], faults: Faults, fault: str, update: tuple[str, ...]
) -> None:
    slurm = start()
    [spare] = slurm.held()
    job = slurm.submit("sleep 3", "-N4", "--exclusive", "-p", "train")
    slurm.wait(running(slurm, job), 10, "the job runs")
    out = slurm.nodes_of(job)[0]
    began = time.monotonic()
    slurm.run("scontrol", "update", f"nodename={out}", *update)
    run_spares(slurm)
    assert slurm.held() == []
    assert slurm.job(job)["JobState"] == "RUNNING"  # what runs there is left alone
    slurm.wait(finished(slurm, job), 20, "it ends by itself")
    again = slurm.submit("true", "-N4", "--exclusive", "-p", "train")
    slurm.wait(finished(slurm, again), 20, "the next job of four nodes runs with the spare")
    assert sorted(slurm.nodes_of(again)) == sorted({*names(1, 2, 3, 4, 5)} - {out})
    faults.survived(fault, f"running job kept, the next one used {spare}", time.monotonic() - began)
    slurm.run("scontrol", "update", f"nodename={out}", "state=resume")
    slurm.wait(idle(slurm, out), 20, "it is back")
    run_spares(slurm)
    assert len(slurm.held()) == 1


def test_a_spare_that_fails_is_still_ours_when_it_is_back(start: Callable[..., Slurm], faults: Faults) -> None:
    slurm = start()
    [spare] = slurm.held()
    everything = slurm.submit("sleep 600", "-N4", "--exclusive", "-p", "train")
    slurm.wait(running(slurm, everything), 10, "all others are at work")
    waiting = slurm.submit("true", "-p", "train")
    slurm.kill(spare)
    seconds = slurm.wait(down(slurm, spare), 60, "the spare is down")
    assert run_spares(slurm) == ""
    slurm.start(spare)
    seconds += slurm.wait(idle(slurm, spare), 30, "the spare is back")
    time.sleep(3)
    assert slurm.job(waiting)["JobState"] == "PENDING"
    assert slurm.held() == [spare]
    faults.survived("spare killed", "back as a spare; a waiting job did not get it in between", seconds)


@pytest.mark.parametrize("flags", ["MAINT", "MAINT,IGNORE_JOBS", "MAINT,OVERLAP", "OVERLAP", "IGNORE_JOBS", ""])
def test_a_reservation_of_the_service_is_never_refused_and_its_jobs_run(
    start: Callable[..., Slurm], faults: Faults, flags: str
) -> None:
    slurm = start()
    [spare] = slurm.held()
    checks = "hyperpod-deep-health-check"
    began = time.monotonic()
    rules = ["Users=root", "StartTime=now", "Duration=60", *([f"Flags={flags}"] if flags else [])]
    nodes = f"Nodes={spare},{next(name for name in names(1, 2) if name != spare)}"
    slurm.run("scontrol", "create", "reservation", f"ReservationName={checks}", *rules, nodes)
    run_spares(slurm)
    options = ("--parsable", "-o", "/dev/null", f"--reservation={checks}", "-N2", "-p", "dev", "--wrap", "true")
    job = int(slurm.run("sbatch", *options))
    slurm.wait(finished(slurm, job), 20, "the health check runs on the spare")
    run_spares(slurm)
    slurm.run("scontrol", "delete", f"ReservationName={checks}")
    slurm.wait(lambda: bool(slurm.states(spare) <= {"IDLE", "RESERVED"}), 20, "the examined nodes are back")
    run_spares(slurm)
    assert len(slurm.held()) == 1
    fault = f"reservation of the service ({flags or 'no flags'})"
    faults.survived(fault, "made, used, ours after it", time.monotonic() - began)


def test_spares_are_held_beside_a_reservation_of_a_user(start: Callable[..., Slurm]) -> None:
    slurm = start()
    own = ("ReservationName=paper", "Users=ada", "StartTime=now", "Duration=60", "NodeCnt=2", "PartitionName=train")
    slurm.run("scontrol", "create", "reservation", *own)
    run_spares(slurm)
    assert not set(slurm.held("paper")) & set(slurm.held())
    job = slurm.submit("true", "-N2", "--reservation=paper", "-p", "train")
    slurm.wait(finished(slurm, job), 20, "the user's job runs in the user's reservation")


def test_a_killed_controller_keeps_the_reservation_and_a_run_before_its_nodes_answer_lets_go_of_nothing(
    start: Callable[..., Slurm], faults: Faults
) -> None:
    slurm = start()
    before = slurm.held()
    waiting = slurm.submit("true", "-N5", "--exclusive", "-p", "train")
    time.sleep(6)  # slurmctld writes its state every five seconds
    began = time.monotonic()
    slurm.kill_slurmctld()
    assert "Slurm does not answer yet" in run_spares(slurm, code=75)
    slurm.start_slurmctld()
    for _ in range(5):
        run_spares(slurm)
        assert slurm.held() == before
    slurm.wait(idle(slurm, before[0]), 20, "the nodes answer")
    faults.survived("controller killed and started", f"{before[0]} was held all the time", time.monotonic() - began)
    run_spares(slurm)
    assert slurm.held() == before
    assert slurm.job(waiting)["JobState"] == "PENDING"


def test_a_new_controller_without_state_holds_spares_again(start: Callable[..., Slurm], faults: Faults) -> None:
    slurm = start()
    began = time.monotonic()
    slurm.replace_controller()
    assert slurm.held() == []
    slurm.wait(lambda: all(idle(slurm, name)() for name in names(1, 2, 3, 4, 5)), 30, "the nodes answer")
    assert slurm.controller.boot().returncode == 0
    assert len(slurm.held()) == 1
    faults.survived("controller lost with its disk", "spare held again by the new one", time.monotonic() - began)


def test_nodes_that_are_at_work_are_held_without_ending_their_jobs(start: Callable[..., Slurm]) -> None:
    slurm = start()
    slurm.run("scontrol", "delete", "ReservationName=hyperpod-spares")
    job = slurm.submit("sleep 600", "-N5", "--exclusive", "-p", "train")
    slurm.wait(running(slurm, job), 10, "a job has all nodes, the spare as well")
    run_spares(slurm)
    assert len(slurm.held()) == 1
    assert slurm.job(job)["JobState"] == "RUNNING"
    later = slurm.submit("sleep 600", "-N5", "--exclusive", "-p", "train")
    slurm.run("scancel", str(job))
    time.sleep(4)
    assert slurm.job(later)["JobState"] == "PENDING"


def test_a_job_that_root_runs_on_a_spare_is_named_when_the_spare_is_needed(start: Callable[..., Slurm]) -> None:
    slurm = start()
    [spare] = slurm.held()
    test = int(
        slurm.run("sbatch", "--parsable", "-o", "/dev/null", "--reservation=hyperpod-spares", "--wrap", "sleep 60")
    )
    slurm.wait(running(slurm, test), 10, "root's test runs on the spare")
    other = next(name for name in slurm.group_of if name != spare)
    slurm.run("scontrol", "update", f"nodename={other}", "state=drain", "reason=test")
    assert "squeue --reservation=hyperpod-spares, scancel" in run_spares(slurm, code=75)
    slurm.run("scancel", str(test))
    slurm.wait(idle(slurm, spare), 10, "the test has ended")
    run_spares(slurm)
    assert slurm.held() == []


def test_a_node_that_leaves_the_cluster_leaves_the_reservation(start: Callable[..., Slurm], faults: Faults) -> None:
    slurm = start()
    [spare] = slurm.held()
    began = time.monotonic()
    slurm.kill(spare)
    del slurm.group_of[spare]
    slurm.reconfigure(nodes_changed=True)
    slurm.wait(lambda: all(idle(slurm, name)() for name in slurm.group_of), 30, "the others answer")
    run_spares(slurm)
    assert spare not in slurm.held()
    job = slurm.submit("true", "-N4", "--exclusive", "-p", "train")
    slurm.wait(finished(slurm, job), 20, "all nodes that are left can work")
    faults.survived("spare taken out of the cluster", "no node is held in its place", time.monotonic() - began)


def test_a_partition_that_slurm_does_not_have_is_named(start: Callable[..., Slurm]) -> None:
    slurm = start()
    slurm.write_roster({**slurm.groups, "g6": {"partition": "evals", "count": 1, "spares": 1}})
    said = run_spares(slurm, code=78)
    assert "no node is in partition evals" in said
    assert "Slurm has partitions dev, train" in said
    assert len(slurm.held()) == 1  # the others are held all the same


def test_a_deploy_of_other_counts_is_followed_without_a_new_script(start: Callable[..., Slurm]) -> None:
    slurm = start()
    slurm.write_roster({"p5": {"partition": "train", "count": 3, "spares": 2}})
    run_spares(slurm)
    assert len(slurm.held()) == 2
    slurm.write_roster({"p5": {"partition": "train", "count": 5, "spares": 0}})
    run_spares(slurm)
    assert slurm.show("reservations") == []


@pytest.mark.parametrize("trouble", ["no network", "cut off", "no permission"])
def test_spares_follow_failures_while_the_roster_cannot_be_read(
    start: Callable[..., Slurm], faults: Faults, trouble: str
) -> None:
    slurm = start()
    [spare] = slurm.held()
    broken = next(name for name in slurm.group_of if name != spare)
    began = time.monotonic()
    if trouble == "no network":
        slurm.controller.write("/aws/offline", "")
    elif trouble == "cut off":
        slurm.controller.write("/aws/s3/roster/roster.json", '{"version": 1, "nod')
    else:
        slurm.controller.run("rm", "/aws/s3/roster/roster.json")
    slurm.run("scontrol", "update", f"nodename={broken}", "state=drain", "reason=test")
    assert "held as the last good roster says" in run_spares(slurm, code=75)
    assert slurm.show("reservations") == []
    faults.survived(f"roster: {trouble}", "spares follow failures by its last good copy", time.monotonic() - began)


def test_without_spares_there_is_no_reservation(start: Callable[..., Slurm]) -> None:
    slurm = start(count=5, spares=0)
    assert slurm.show("reservations") == []
    assert run_spares(slurm) == ""


def test_counts_of_a_real_cluster_reach_cloudwatch(start: Callable[..., Slurm]) -> None:
    slurm = start()
    [spare] = slurm.held()
    busy, broken = [name for name in names(1, 2, 3, 4, 5) if name != spare][:2]
    slurm.wait(running(slurm, slurm.submit("sleep 600", "-w", busy, "-p", "train")), 10, "a job runs")
    slurm.run("scontrol", "update", f"nodename={broken}", "state=drain", "reason=test")
    assert slurm.controller.step("node-counts").returncode == 0
    call = slurm.controller.calls()[-1]
    assert call[:4] == ["cloudwatch", "put-metric-data", "--namespace", "/aws/sagemaker/Clusters"]
    data = json.loads(call[call.index("--metric-data") + 1])
    whole = {each["MetricName"]: each["Value"] for each in data if len(each["Dimensions"]) == 1}
    assert whole == {
        "SlurmIdleNodes": 2, "SlurmAllocatedNodes": 1, "SlurmDownNodes": 1, "SlurmSpareNodes": 1, "SlurmTotalNodes": 5,
    }  # fmt: skip
    slurm.kill_slurmctld()
    ran = slurm.controller.step("node-counts")
    assert ran.returncode == 75, ran.stdout


def test_a_reservation_that_is_not_active_or_somebody_elses_is_put_right(
    start: Callable[..., Slurm], faults: Faults
) -> None:
    slurm = start()
    began = time.monotonic()
    node = slurm.held()[0]
    ours = ("users=root", "flags=OVERLAP,IGNORE_JOBS")
    for made in (
        ("starttime=now+1hour", *ours),  # as when the clock was an hour ahead
        ("starttime=now", "users=ada"),
        ("starttime=now", "users=root,ada", "flags=OVERLAP,IGNORE_JOBS"),
    ):
        slurm.run("scontrol", "delete", "reservationname=hyperpod-spares")
        slurm.run(
            "scontrol", "create", "reservation", "reservationname=hyperpod-spares", "duration=infinite",
            f"nodes={node}", *made,
        )  # fmt: skip
        assert f"held: {node}" in run_spares(slurm)
        [found] = slurm.show("reservations")
        assert (found["State"], found["Users"], found["Nodes"]) == ("ACTIVE", "root", node)
        assert found["Flags"].startswith("OVERLAP,IGNORE_JOBS")
        assert run_spares(slurm) == ""
    faults.survived("our reservation is inactive or changed", "put right in place", time.monotonic() - began)


@pytest.mark.parametrize("disk", ["read-only", "full"])
def test_spares_follow_failures_while_the_disk_of_the_controller_takes_nothing(
    start: Callable[..., Slurm], faults: Faults, disk: str
) -> None:
    slurm = start()
    [spare] = slurm.held()
    data, broken = "/var/lib/hyperpod", next(name for name in slurm.group_of if name != spare)
    slurm.controller.run("sh", "-c", f"cp -a {data} /keep && mount -t tmpfs -o size=64k t {data} && cp /keep/* {data}")
    full = f"cat /dev/zero > {data}/filler; for i in $(seq 100); do : > {data}/$i; done"
    slurm.controller.run("sh", "-c", f"mount -o remount,ro {data}" if disk == "read-only" else full)
    began = time.monotonic()
    slurm.run("scontrol", "update", f"nodename={broken}", "state=drain", "reason=test")
    said = run_spares(slurm, code=75)
    assert f"held: none; before: {spare}" in said
    assert "held as the last good roster says" in said
    assert slurm.held() == []
    faults.survived(f"disk of the controller is {disk}", "spares follow all the same", time.monotonic() - began)
