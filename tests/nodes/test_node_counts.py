"""What is published about nodes: every node counts once, as what it is."""

from __future__ import annotations

import json

from hyperpod_node import node_counts
from hyperpod_node.spares import Node


def node(name: str, *partitions: str, works: bool = True, busy: bool = False) -> Node:
    return Node(name, frozenset({*partitions, "dev"}), known=True, works=works, busy=busy)


NODES = [
    node("n1", "train", busy=True),
    node("n2", "train"),
    node("n3", "train", works=False),
    node("n4", "train"),
    node("n5", "train", busy=True),
    node("n6", "infer"),
    node("login"),
]


def published() -> dict[tuple[str, str], float]:
    found = node_counts.metrics("Frontier", ["infer", "train"], NODES, frozenset({"n3", "n4", "n5"}))
    return {
        (each["MetricName"].removeprefix("Slurm").removesuffix("Nodes"), each["Dimensions"][-1]["Value"]): each["Value"]
        for each in found
    }


def test_a_held_spare_is_neither_idle_nor_at_work_and_a_broken_or_busy_one_is_no_spare() -> None:
    found = published()
    assert {name: found[name, "train"] for name in ("Idle", "Allocated", "Down", "Spare", "Total")} == {
        "Idle": 1, "Allocated": 2, "Down": 1, "Spare": 1, "Total": 5,
    }  # fmt: skip


def test_the_cluster_counts_a_node_once_and_login_nodes_never() -> None:
    found = published()
    assert found["Total", "Frontier"] == 6
    assert found["Idle", "Frontier"] == 2


def test_the_names_that_alarms_watch_are_stable_and_a_hundred_groups_fit_one_call() -> None:
    many = node_counts.metrics("F" * 63, [f"partition-{n}" for n in range(100)], [], frozenset())
    assert {each["MetricName"] for each in many} == {
        "SlurmIdleNodes", "SlurmAllocatedNodes", "SlurmDownNodes", "SlurmSpareNodes", "SlurmTotalNodes",
    }  # fmt: skip
    assert many[0]["Dimensions"] == [{"Name": "ClusterName", "Value": "F" * 63}]
    assert many[-1]["Dimensions"][1] == {"Name": "Partition", "Value": "partition-99"}
    assert len(many) <= 1000
    assert len(json.dumps(many)) < 128 * 1024
