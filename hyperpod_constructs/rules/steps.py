"""Whether what a cluster promises is kept by something that runs on its nodes: HP503x."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import named

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
