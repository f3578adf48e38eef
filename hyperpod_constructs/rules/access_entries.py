"""Access entries of EKS clusters for the roles of HyperPod nodes: HP241x."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.control_plane import AccessEntry
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import groups_of
from hyperpod_constructs.rules._kubernetes import with_control_plane
from hyperpod_constructs.rules._words import named

_OF_NODES: Final = "HYPERPOD_LINUX"
_API: Final = "EKS API, CreateAccessEntry (botocore 1.44.8)"


def _for_nodes(deployment: Deployment) -> Iterator[tuple[AccessEntry, list[InstanceGroup]]]:
    """Access entries for roles of nodes, with the groups that have those roles."""
    for cluster, plane in with_control_plane(deployment):
        for entry in deployment.kubernetes.access_entries:
            if deployment.kubernetes.control_plane(entry.control_plane) is plane:
                groups = [each for each in groups_of(cluster) if _is(each.execution_role, entry.principal)]
                if groups:
                    yield entry, groups


def _is(role: object, principal: object) -> bool:
    """Whether both are certainly one role."""
    return isinstance(role, str) and role == principal


@rule(
    "HP2411",
    Severity.WARNING,
    title="Role of HyperPod nodes has an access entry of another type",
    because="a role has one access entry, whose type cannot be changed, and that of HyperPod nodes is HYPERPOD_LINUX: "
    "that nodes do not join with another follows from this, but no page says it",
    source=f"{_API}; sunilpp/hyperpod-quickstart commits b96a3c0c and ff17425a; inferred",
)
def entries_of_nodes_are_hyperpods(deployment: Deployment) -> Iterator[Problem]:
    for entry, groups in _for_nodes(deployment):
        if isinstance(entry.kind, str) and entry.kind != _OF_NODES:
            yield Problem(
                path=entry.path,
                message=f"access entry for the role of {named(*groups)} has Type {entry.kind}",
                fix=f"take it out, as HyperPod makes one of type {_OF_NODES}; people and installers need other roles",
            )


@rule(
    "HP2412",
    Severity.WARNING,
    title="Access entry that HyperPod makes itself",
    because="HyperPod makes an access entry for each role of nodes, and a role can have one: sources disagree on "
    "whether one that is there already is in the way or is used. Not tried against AWS",
    source=f"{_API}; SageMaker API, ClusterEventDetail; against sunilpp/hyperpod-quickstart commit b96a3c0c; inferred",
)
def entries_of_nodes_are_left_to_hyperpod(deployment: Deployment) -> Iterator[Problem]:
    for entry, groups in _for_nodes(deployment):
        if entry.kind == _OF_NODES:
            yield Problem(
                path=entry.path,
                message=f"access entry of type {_OF_NODES} for the role of {named(*groups)}",
                fix="take it out and let HyperPod make it, unless a first deploy has shown that both get along",
            )
