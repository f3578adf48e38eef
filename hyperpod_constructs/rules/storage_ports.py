"""What can be known about the ports between nodes and file systems.

A mount through a closed port hangs and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from hyperpod_constructs.catalog import lustre as catalog
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import SecurityGroup, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem, OtherFileSystem
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import UNKNOWN


def _all_known(deployment: Deployment, paths: object) -> tuple[SecurityGroup, ...]:
    """The security groups of a list, if every one of them and all of its rules are known; else none."""
    found = [deployment.security_group(path) for path in paths] if isinstance(paths, tuple) else []
    complete = tuple(group for group in found if group is not None and group.complete)
    return complete if len(complete) == len(found) else ()


def _passes(holders: tuple[SecurityGroup, ...], direction: str, peers: tuple[SecurityGroup, ...], port: int) -> bool:
    """Whether groups let a TCP port through to or from their peers; blocks and lists of addresses count as such."""
    if direction == "egress" and any(
        all(each.direction == "ingress" or each.path is not None for each in holder.rules) for holder in holders
    ):
        return True  # EC2 lets everything out of a group that has no egress rules of its own making
    names = {peer.path for peer in peers}
    return any(
        each.direction == direction
        and (each.protocol is UNKNOWN or each.covers("tcp", port) or each.covers("6", port))
        and (each.group is None or each.group is UNKNOWN or each.group in names)
        for holder in holders
        for each in holder.rules
    )


Ports: TypeAlias = tuple[tuple[int, int], ...]
"""First and last of each range."""

_Side = tuple[str, tuple[SecurityGroup, ...]]
"""How a message names one end of the way, and its security groups."""


@dataclass(frozen=True, slots=True)
class _Closed:
    """One end that does not let all of some ports through in one direction.

    Attributes:
        message: What is closed.
        fix: The rule to add.
        unreachable: Whether the port that connections begin with is among them.
    """

    message: str
    fix: str
    unreachable: bool


def _closed(sender: _Side, receiver: _Side, ports: Ports = catalog.PORTS) -> Iterator[_Closed]:
    """Each end that does not let ports through in one direction."""
    ends: tuple[tuple[Literal["egress", "ingress"], str, _Side, _Side], ...] = (
        ("egress", "out to", sender, receiver),
        ("ingress", "in from", receiver, sender),
    )
    for direction, way, (name, holders), (peer_name, peers) in ends:
        whom = "itself" if sender == receiver else peer_name
        closed = [
            (low, high)
            for low, high in ports
            if not all(_passes(holders, direction, peers, port) for port in range(low, high + 1))
        ]
        if closed:
            numbers = f"tcp {' and '.join(str(low) if low == high else f'{low}-{high}' for low, high in closed)}"
            preposition = "to" if direction == "egress" else "from"
            yield _Closed(
                f"security groups of {name} do not let {numbers} {way} {whom}",
                f"add to {holders[0].path} an {direction} rule for {numbers} {preposition} {peers[0].path}",
                unreachable=ports[0] in closed,
            )


def _clients(deployment: Deployment, file_system: FileSystem | OtherFileSystem) -> Iterator[_Side]:
    """Instance groups that mount a file system, together where they have the same security groups."""
    clients: dict[tuple[SecurityGroup, ...], list[InstanceGroup]] = {}
    for cluster, group, _ in deployment.groups():
        placement = cluster.placement_of(group)
        mounts = group.mounts if isinstance(group.mounts, tuple) else ()
        if isinstance(placement, VpcPlacement) and any(mount.file_system == file_system.path for mount in mounts):
            clients.setdefault(_all_known(deployment, placement.security_groups), []).append(group)
    for security_groups, groups in clients.items():
        if security_groups:
            yield f"the nodes of {named(*groups)}", security_groups


def _lustre_ports(deployment: Deployment, *, unreachable: bool) -> Iterator[Problem]:
    """What is closed: so that nothing connects to the file system, or so that some of the traffic is lost."""
    for file_system in deployment.file_systems:
        servers: _Side = ("the file system", _all_known(deployment, file_system.security_groups))
        if not servers[1]:
            continue
        clients = list(_clients(deployment, file_system))
        ways = [(servers, servers)]
        for nodes in clients:
            ways += [(nodes, servers), (servers, nodes)]
        faults: dict[_Closed, None] = {}
        for sender, receiver in ways:
            towards_nodes = receiver is not servers
            for each in _closed(sender, receiver):
                faults[replace(each, unreachable=each.unreachable and not towards_nodes)] = None
        for fault in faults:
            if fault.unreachable is unreachable:
                yield Problem(path=file_system.path, message=fault.message, fix=fault.fix)


@rule(
    "HP3018",
    Severity.ERROR,
    title="Security groups let nothing reach the Lustre file system",
    because="clients and the file system's own servers connect to TCP 988: FSx refuses a group that does not let that "
    "port in from itself, and a mount without it hangs",
    source="FSx for Lustre user guide, getting-started (October 2026); awslabs/awsome-distributed-ai pull 839",
)
def lustre_can_be_reached(deployment: Deployment) -> Iterator[Problem]:
    yield from _lustre_ports(deployment, unreachable=True)


@rule(
    "HP3022",
    Severity.WARNING,
    title="Security groups do not let all of Lustre's traffic through",
    because="AWS asks for TCP 988 and 1018 to 1023 both ways between nodes and file system, and between its servers; "
    "mounts mostly work without the way back, because security groups let answers through, and hang when the servers "
    "call back",
    source="FSx for Lustre user guide, getting-started (October 2026); aws-samples/aws-hpc-recipes issue 50",
)
def lustre_ports_are_open(deployment: Deployment) -> Iterator[Problem]:
    yield from _lustre_ports(deployment, unreachable=False)


@rule(
    "HP3053",
    Severity.WARNING,
    title="Security groups do not let nodes reach the OpenZFS file system",
    because="nodes mount it by NFS, at TCP 2049 of the file system; a mount without it hangs",
    source="FSx for OpenZFS user guide, limit-access-security-groups; awslabs/awsome-distributed-ai",
)
def openzfs_can_be_reached(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.other_file_systems:
        servers: _Side = ("the file system", _all_known(deployment, file_system.security_groups))
        if file_system.kind == "OPENZFS" and servers[1]:
            for nodes in _clients(deployment, file_system):
                for fault in _closed(nodes, servers, catalog.NFS_PORTS):
                    yield Problem(path=file_system.path, message=fault.message, fix=fault.fix)
