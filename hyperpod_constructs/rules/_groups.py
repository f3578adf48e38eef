"""Groups of all kinds: what holds of instances holds of those in restricted groups, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.rules import Problem
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import UNKNOWN


def restricted(cluster: Cluster) -> list[RestrictedGroup]:
    """The restricted groups of a cluster, as far as known."""
    groups = cluster.restricted_groups if isinstance(cluster.restricted_groups, tuple) else ()
    return [group for group in groups if group is not UNKNOWN]


def groups_of(cluster: Cluster) -> tuple[InstanceGroup, ...]:
    """Every group of a cluster, restricted ones included."""
    return *cluster.groups, *(each.group for each in restricted(cluster))


def is_all_or_nothing(cluster: Cluster) -> bool:
    """Whether every group of a cluster has all of its instances as its minimum count."""
    return isinstance(cluster.orchestrator, Slurm) and cluster.orchestrator.provisioning == "all-or-nothing"


def accounting_of(cluster: Cluster, group: InstanceGroup) -> ExternalDatabase | None:
    """The accounting database of a cluster, if a group is its controller."""
    slurm = cluster.orchestrator
    database = slurm.accounting if isinstance(slurm, Slurm) and group.node_type == "Controller" else None
    return database if isinstance(database, ExternalDatabase) else None


def every_group(deployment: Deployment) -> Iterator[tuple[Cluster, InstanceGroup, str]]:
    """Every group, restricted ones included, with its cluster and the path of findings about it."""
    yield from deployment.groups()
    for cluster in deployment.clusters:
        for each in restricted(cluster):
            yield cluster, each.group, cluster.path_of(each.group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is wrong with a group, as a message that may name several: `before`, the groups, `after`."""

    before: str = ""
    after: str = ""
    fix: str


def place(cluster: Cluster, groups: Sequence[InstanceGroup]) -> str:
    """Where a finding about some groups points: to the group, or to the cluster of several."""
    return cluster.path_of(groups[0]) if len(groups) == 1 else cluster.path


def told_once(
    deployment: Deployment,
    judge: Callable[[Cluster, InstanceGroup], Iterable[Said]],
    *,
    with_restricted: bool = False,
) -> Iterator[Problem]:
    """What is wrong with groups, once for all groups of a cluster that share it: one script folder is one mistake."""
    for cluster in deployment.clusters:
        found: dict[Said, list[InstanceGroup]] = {}
        for group in groups_of(cluster) if with_restricted else cluster.groups:
            for said in dict.fromkeys(judge(cluster, group)):
                found.setdefault(said, []).append(group)
        for said, groups in found.items():
            yield Problem(
                path=place(cluster, groups), message=f"{said.before}{named(*groups)}{said.after}", fix=said.fix
            )
