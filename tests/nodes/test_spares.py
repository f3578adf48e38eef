"""Which nodes are held as spares: the decision alone, on states of every kind."""

from __future__ import annotations

from typing import Any

import pytest
from hyperpod_node import spares
from hyperpod_node.spares import Node, decide
from hypothesis import given, strategies as st

NONE: frozenset[str] = frozenset()


def node(
    name: str,
    *,
    partition: str = "train",
    works: bool = True,
    busy: bool = False,
    known: bool = True,
    started: str = "",
) -> Node:
    return Node(name, frozenset({partition, "dev"}), known=known, works=works, busy=busy and works, started=started)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[dict[str, tuple[int, int]], list[Node], frozenset[str], frozenset[str]]:
    wanted = {name: (draw(st.integers(0, 5)), draw(st.integers(0, 3))) for name in draw(st.sets(st.sampled_from("ab")))}
    nodes = [
        node(f"n{each}", partition=draw(st.sampled_from("abc")), works=draw(st.booleans()), busy=draw(st.booleans()))
        for each in range(draw(st.integers(0, 10)))
    ]
    names = [each.name for each in nodes]
    some = st.frozensets(st.sampled_from(names)) if names else st.just(NONE)
    return wanted, nodes, draw(some), draw(some)


def usable(nodes: list[Node], partition: str, taken: frozenset[str]) -> set[str]:
    return {each.name for each in nodes if partition in each.partitions and each.works and each.name not in taken}


@given(clusters())
def test_never_more_than_the_spares_are_held_and_never_a_node_that_jobs_need(
    cluster: tuple[dict[str, tuple[int, int]], list[Node], frozenset[str], frozenset[str]],
) -> None:
    wanted, nodes, held, taken = cluster
    goal = decide(wanted, nodes, held, taken)
    assert goal <= {each.name for each in nodes for partition in wanted if partition in each.partitions}
    for partition, (count, number) in wanted.items():
        here = {each.name for each in nodes if partition in each.partitions}
        can = usable(nodes, partition, taken)
        assert len(goal & here) <= number
        assert len(can - goal) >= min(count, len(can))
        assert len(goal & can) == max(0, min(number, len(can) - count))


@given(clusters())
def test_what_is_held_stays_held_while_nothing_changes(
    cluster: tuple[dict[str, tuple[int, int]], list[Node], frozenset[str], frozenset[str]],
) -> None:
    wanted, nodes, held, taken = cluster
    goal = decide(wanted, nodes, held, taken)
    assert decide(wanted, nodes, goal, taken) == goal
    assert decide(wanted, list(reversed(nodes)), goal, taken) == goal


FIVE = [node(f"n{each}") for each in range(1, 6)]


@pytest.mark.parametrize(
    ("nodes", "held", "taken", "goal"),
    [
        pytest.param(FIVE, "", "", "n1", id="an idle node is held"),
        pytest.param(FIVE, "n4", "", "n4", id="a held one stays"),
        pytest.param([node("n1", busy=True), *FIVE[1:]], "", "", "n2", id="an idle one before a busy one"),
        pytest.param([node(f"n{n}", busy=True) for n in range(1, 6)], "", "", "n1", id="all busy: no new job on one"),
        pytest.param([node("n1", busy=True), *FIVE[1:]], "n1", "", "n2", id="a spare that runs a job is exchanged"),
        pytest.param([node("n1", works=False), *FIVE[1:]], "n5", "", "", id="one failed: its job gets the spare"),
        pytest.param([*FIVE[:4], node("n5", works=False)], "n5", "", "n5", id="the spare failed: still nobody's else"),
        pytest.param(FIVE, "n5", "n5", "n5", id="the spare is examined: still nobody's else"),
        pytest.param(FIVE, "n5", "n1", "", id="another is examined: jobs need the spare"),
        pytest.param(FIVE[:4], "n5", "", "", id="the spare is gone from Slurm"),
        pytest.param([], "n5", "", "", id="no node is there"),
        pytest.param(
            [node("n1", started="2026-12-01T10:00:00"), *(node(f"n{n}", started="2026-11-30") for n in range(2, 6))],
            "", "", "n2", id="a node that has just come back is left to the job that waits for it",
        ),
        pytest.param([node(f"n{n}", known=False, works=False) for n in range(1, 6)], "n3", "", "n3", id="just started"),
        pytest.param([node("n1", known=False, works=False), *FIVE[1:]], "n3", "", "n3", id="one is not heard of yet"),
    ],
)  # fmt: skip
def test_four_nodes_for_jobs_and_one_spare(nodes: list[Node], held: str, taken: str, goal: str) -> None:
    found = decide({"train": (4, 1)}, nodes, frozenset(held.split()), frozenset(taken.split()))
    assert " ".join(sorted(found)) == goal


def test_groups_on_one_partition_share_their_spares() -> None:
    groups: dict[str, dict[str, Any]] = {
        "a": {"role": "compute", "partition": "train", "count": 4, "spares": 1},
        "b": {"role": "compute", "partition": "train", "count": 2, "spares": 2},
        "c": {"role": "compute", "count": 3},
    }
    assert spares.pools(groups) == {"train": (6, 3), "c": (3, 0)}


def line(state: str, *, partitions: str = "train,dev", rest: str = "") -> str:
    return (
        f"NodeName=ip-10-1-1-1 Arch=x86_64 CoresPerSocket=48  CPUAlloc=0 CPUTot=192 CPULoad=0.08 Gres=gpu:h100:8"
        f" NodeAddr=ip-10-1-1-1 Version=23.11.10 OS=Linux 6.8.0-1015-aws #16~22.04.1-Ubuntu SMP "
        f" RealMemory=2063835 AllocMem=0 State={state} ThreadsPerCore=2 TmpDisk=0 Weight=1"
        f" Partitions={partitions}  BootTime=2026-11-30T12:00:00 SlurmdStartTime=2026-11-30T12:05:00 {rest}"
    )


@pytest.mark.parametrize(
    ("state", "works", "busy"),
    [
        ("IDLE", True, False),
        ("IDLE+RESERVED", True, False),
        ("IDLE+PLANNED", True, False),
        ("IDLE+CLOUD", True, False),
        ("IDLE+DYNAMIC_NORM", True, False),
        ("IDLE-", True, False),
        ("MIXED", True, True),
        ("ALLOCATED+RESERVED", True, True),
        ("IDLE+COMPLETING", True, True),
        ("IDLE+DRAIN", False, False),
        ("ALLOCATED+DRAIN", False, True),
        ("IDLE+FAIL", False, False),
        ("ALLOCATED+FAIL", False, True),
        ("IDLE+MAINTENANCE+RESERVED", False, False),
        ("MIXED+MAINTENANCE", False, True),
        ("DOWN", False, False),
        ("DOWN+NOT_RESPONDING", False, False),
        ("DOWN*", False, False),
        ("IDLE*", False, False),
        ("IDLE*+DRAIN", False, False),
        ("IDLE+NOT_RESPONDING", False, False),
        ("IDLE+CLOUD+POWERED_DOWN", False, False),
        ("IDLE+CLOUD+POWERING_DOWN", False, False),
        ("MIXED+CLOUD+POWERING_UP", False, True),
        ("IDLE~", False, False),
        ("IDLE#", False, False),
        ("IDLE+REBOOT_REQUESTED", False, False),
        ("DOWN+REBOOT_ISSUED", False, False),
        ("IDLE@", False, False),
        ("IDLE+INVALID_REG", False, False),
        ("FUTURE", False, False),
        ("UNKNOWN", False, False),
        ("UNKNOWN*", False, False),
        ("ERROR", False, False),
        ("", False, False),
    ],
)
def test_states_of_older_and_newer_versions(state: str, works: bool, busy: bool) -> None:
    [found] = spares.read_nodes(line(state))
    assert (found.works, found.busy, found.known) == (works, busy, not state.startswith("UNKNOWN"))
    assert found.partitions == {"train", "dev"}
    assert found.started == "2026-11-30T12:05:00"


def test_what_people_write_into_a_reason_or_comment_changes_nothing() -> None:
    reason = "Reason=State=DOWN Partitions=x NodeName=y [root@2026-11-30T12:00:00] Comment=State=FAIL"
    [found] = spares.read_nodes(line("IDLE", rest=reason) + "\n")
    assert found.works
    assert found.name == "ip-10-1-1-1"
    assert found.partitions == {"train", "dev"}


def test_a_node_in_no_partition_and_an_empty_answer_are_read() -> None:
    [found] = spares.read_nodes(line("IDLE", partitions=""))
    assert found.partitions == NONE
    assert spares.read_nodes("No nodes in the system\n") == []


def test_reservations_are_read_with_whether_they_hold_their_nodes_now() -> None:
    text = (
        "ReservationName=hyperpod-spares StartTime=2026-11-30T22:25:32 EndTime=2027-11-30T22:25:32 Duration=365-00"
        " Nodes=ip-10-1-1-[4-5] NodeCnt=2 CoreCnt=16 Features=(null) PartitionName=(null) Flags=OVERLAP,IGNORE_JOBS,"
        "SPEC_NODES TRES=cpu=8 Users=root Groups=(null) Accounts=(null) State=ACTIVE BurstBuffer=(null)\n"
        "ReservationName=later StartTime=2027-11-30T22:25:32 Nodes=ip-10-1-1-1 NodeCnt=1 State=INACTIVE\n"
        "ReservationName=licences StartTime=2026-11-30T22:25:32 Nodes=(null) NodeCnt=0 State=ACTIVE\n"
    )
    found = spares.read_reservations(text)
    flags = frozenset({"OVERLAP", "IGNORE_JOBS", "SPEC_NODES"})
    assert found["hyperpod-spares"] == spares.Reservation("ip-10-1-1-[4-5]", "root", flags, active=True)
    assert found["licences"].nodes == "(null)"
    assert [name for name, each in found.items() if each.active] == ["hyperpod-spares", "licences"]
    assert spares.read_reservations("No reservations in the system\n") == {}


@pytest.mark.parametrize(
    ("users", "flags", "active", "ours"),
    [
        ("root", "OVERLAP,IGNORE_JOBS,SPEC_NODES", True, True),
        ("root", "OVERLAP,IGNORE_JOBS", False, False),
        ("ada", "OVERLAP,IGNORE_JOBS", True, False),
        ("root,ada", "OVERLAP,IGNORE_JOBS", True, False),
        ("root", "SPEC_NODES", True, False),
    ],
)
def test_a_reservation_of_our_name_is_ours_only_as_we_make_it(
    users: str, flags: str, *, active: bool, ours: bool
) -> None:
    assert spares.Reservation("n1", users, frozenset(flags.split(",")), active).ours == ours


def test_thousands_of_nodes_are_decided_on_at_once() -> None:
    nodes = spares.read_nodes("\n".join(line("IDLE").replace("10-1-1-1", f"10-1-{n}", 1) for n in range(5000)))
    assert len(decide({"train": (4900, 100)}, nodes, NONE, NONE)) == 100
