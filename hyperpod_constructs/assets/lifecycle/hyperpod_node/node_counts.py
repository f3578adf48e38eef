"""Publishes how many nodes are idle, at work, down and held as spares, for alarms and for the cost of idle nodes.

The namespace is the one that a node's role may write to. Every node counts once, whatever partitions it is in besides
its own; login nodes, which Slurm lists in `dev`, do not count. An alarm that treats missing data as bad also tells that
the controller is away.
"""

from __future__ import annotations

import json
from typing import Any

from hyperpod_node import host, spares

NAMESPACE = "/aws/sagemaker/Clusters"


def count(nodes: list[spares.Node], held: frozenset[str]) -> dict[str, int]:
    """How many nodes are what; the first four add up to the last."""
    working = [node for node in nodes if node.works]
    at_rest = [node for node in working if not node.busy]
    spare = [node for node in at_rest if node.name in held]
    return {
        "SlurmIdleNodes": len(at_rest) - len(spare),
        "SlurmAllocatedNodes": len(working) - len(at_rest),
        "SlurmDownNodes": len(nodes) - len(working),
        "SlurmSpareNodes": len(spare),
        "SlurmTotalNodes": len(nodes),
    }


def metrics(
    cluster: str, partitions: list[str], nodes: list[spares.Node], held: frozenset[str]
) -> list[dict[str, Any]]:
    """What CloudWatch gets: the counts of the cluster and of each partition."""
    compute = [node for node in nodes if node.partitions.intersection(partitions)]
    counted = [({"ClusterName": cluster}, count(compute, held))]
    for partition in partitions:
        there = [node for node in compute if partition in node.partitions]
        counted.append(({"ClusterName": cluster, "Partition": partition}, count(there, held)))
    return [
        {
            "MetricName": name,
            "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
            "Unit": "Count",
            "Value": value_now,
        }
        for dimensions, counts in counted
        for name, value_now in counts.items()
    ]


def work(step: host.Step) -> None:
    """Counts and publishes."""
    nodes = spares.read_nodes(host.slurm("scontrol", "-o", "show", "nodes"))
    if not all(node.known for node in nodes):
        raise host.NotYet("Slurm has not heard from every node since its controller started; nothing is published yet")
    reserved = spares.read_reservations(host.slurm("scontrol", "-o", "show", "reservations"))
    ours = reserved.get(spares.NAME)
    held = frozenset(host.hostnames(ours.nodes) if ours and ours.active else ())
    partitions = {group.get("partition") or name for name, group in step.groups.items() if group["role"] == "compute"}
    data = metrics(step.cluster, sorted(partitions), nodes, held)
    host.aws("cloudwatch", "put-metric-data", "--namespace", NAMESPACE, "--metric-data", json.dumps(data))


if __name__ == "__main__":
    host.main(work)
