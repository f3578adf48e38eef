"""Whether what a cluster promises is kept by something that runs on its nodes: HP503x."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import all_of, named

_KEEPER = "spares"


@rule(
    "HP5030",
    Severity.WARNING,
    title="Nothing holds the spare nodes of a Slurm cluster",
    because="HyperPod knows no spares: the partition dev and the group's own hold every node, so jobs take the spares, "
    "and none is free when a node fails, unless the controller keeps a reservation",
    source="SageMaker developer guide, Slurm (partition dev); hyperpod_constructs.model.steps.Spares",
)
def spares_are_held(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        spared = [group for group in cluster.groups if group.spares]
        if spared and cluster.scheduler == "slurm" and _certainly_lacks(cluster, _KEEPER):
            count = sum(group.spares for group in spared)
            yield Problem(
                path=cluster.path,
                message=f"{named(*spared)} {'has' if len(spared) == 1 else 'have'} {count} spare{'s' * (count != 1)} "
                "that no step holds away from jobs",
                fix="add hp.steps.Spares() to lifecycle=hp.LifecycleScripts.steps([...]), as hp.steps.defaults() has; "
                "or use spares=0 and a larger count",
            )


def _certainly_lacks(cluster: Cluster, step: str) -> bool:
    """Whether the controller surely runs no such step; what scripts of the user's do is not known."""
    for group in cluster.groups:
        if group.node_type == "Controller":
            lifecycle = group.lifecycle
            if lifecycle is None:
                return True
            return isinstance(lifecycle, Lifecycle) and lifecycle.steps is not None and step not in lifecycle.steps
    return False


@rule(
    "HP5031",
    Severity.WARNING,
    title="Spares of one type stand in for nodes of another",
    because="the controller sees partitions, not instance groups: groups on one partition share their spares, and the "
    "node that it holds, or gives to a job in place of a failed one, may be of the other type",
    source="hyperpod_constructs.model.steps.Spares; Slurm 22.05, tried (November 2026)",
)
def spares_are_of_the_type_of_their_partition(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        shared: dict[str, list[InstanceGroup]] = {}
        for group in cluster.groups:
            for partition in group.partitions if isinstance(group.partitions, tuple) else ():
                if isinstance(partition, str):
                    shared.setdefault(partition, []).append(group)
        for partition, groups in shared.items():
            types = {group.instance_type for group in groups if isinstance(group.instance_type, str)}
            if len(types) > 1 and any(group.spares for group in groups):
                yield Problem(
                    path=cluster.path,
                    message=f"{named(*groups)} share partition {partition!r} and its spares, and are of different "
                    f"types ({all_of(sorted(types))})",
                    fix="give each type a partition of its own",
                )
