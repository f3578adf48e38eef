"""What can be known about the ports between nodes and file systems.

A mount through a closed port hangs and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, Literal, TypeAlias

from hyperpod_constructs.catalog import lustre as catalog
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import Rule, SecurityGroup, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem, OtherFileSystem
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.rules.security_groups import efa_passes_security_groups
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
_Direction: TypeAlias = Literal["ingress", "egress"]
_WAYS: Final[Mapping[_Direction, tuple[str, str, str, str]]] = {
    # Resources of their own, because groups that name each other or themselves inline are circular.
    "egress": ("out to", "to", "AWS::EC2::SecurityGroupEgress", "add_egress_rule"),
    "ingress": ("in from", "from", "AWS::EC2::SecurityGroupIngress", "add_ingress_rule"),
}
"""By direction: how a message says which way, how a fix does, and what it adds in a template and in the CDK."""


@dataclass(frozen=True, slots=True)
class _Closed:
    """One end that does not let all of some ports through in one direction.

    Attributes:
        holder: Whose security groups are closed.
        direction: In which direction, from the holder's point of view.
        peer: Whose traffic does not pass.
        ports: What does not pass.
        unreachable: Whether connections to the file system begin this way, at a port that is closed.
    """

    holder: _Side
    direction: _Direction
    peer: _Side
    ports: Ports
    unreachable: bool

    @property
    def numbers(self) -> str:
        """The ports in words."""
        return f"tcp {all_of(str(low) if low == high else f'{low}-{high}' for low, high in self.ports)}"


def _closed(sender: _Side, receiver: _Side, ports: Ports, *, to_nodes: bool = False) -> Iterator[_Closed]:
    """Each end that does not let ports through in one direction."""
    ends: tuple[tuple[_Direction, _Side, _Side], ...] = (("egress", sender, receiver), ("ingress", receiver, sender))
    for direction, holder, peer in ends:
        closed = tuple(
            (low, high)
            for low, high in ports
            if not all(_passes(holder[1], direction, peer[1], port) for port in range(low, high + 1))
        )
        if closed:
            yield _Closed(holder, direction, peer, closed, unreachable=ports[0] in closed and not to_nodes)


def _problem(path: str, closed: Iterable[_Closed]) -> Problem:
    """Everything that is closed around one file system: one finding, because one thing was forgotten."""
    peers: dict[tuple[_Side, _Direction, str], list[_Side]] = {}
    for each in closed:
        peers.setdefault((each.holder, each.direction, each.numbers), []).append(each.peer)
    said, fixes = [], []
    for (holder, direction, numbers), whom in peers.items():
        way, preposition, resource, method = _WAYS[direction]
        group = holder[1][0].path
        names = all_of("itself" if peer == holder else peer[0] for peer in whom)
        others = all_of(dict.fromkeys("itself" if peer[1][0].path == group else peer[1][0].path for peer in whom))
        said.append(f"security groups of {holder[0]} do not let {numbers} {way} {names}")
        several = "each of " * (" and " in numbers or " and " in others)
        fixes.append(f"add to {group} an {resource} (CDK: {method}) for {several}{numbers} {preposition} {others}")
    return Problem(path=path, message="; ".join(said), fix="; ".join(dict.fromkeys(fixes)))


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


def _closed_around_lustre(deployment: Deployment) -> Iterator[tuple[FileSystem, list[_Closed]]]:
    """What is closed around each Lustre file system, among its servers and to and from the nodes that mount it."""
    mended = _with_efa_rules(deployment)
    for file_system in mended.file_systems:
        servers: _Side = ("the file system", _all_known(mended, file_system.security_groups))
        if not servers[1]:
            continue
        found = [*_closed(servers, servers, catalog.PORTS)]
        for nodes in _clients(mended, file_system):
            if nodes[1] == servers[1]:
                continue
            found += _closed(nodes, servers, catalog.PORTS)
            found += _closed(servers, nodes, catalog.PORTS, to_nodes=True)
        yield file_system, found


def _with_efa_rules(deployment: Deployment) -> Deployment:
    """The deployment as it is once security groups have the rules for EFA that another rule misses: they cure this."""
    lacking = {problem.path for problem in efa_passes_security_groups(deployment)}
    groups = (
        replace(group, rules=(*group.rules, *_all_traffic(group.path))) if group.path in lacking else group
        for group in deployment.security_groups
    )
    return replace(deployment, security_groups=tuple(groups)) if lacking else deployment


def _all_traffic(group: str) -> Iterator[Rule]:
    for direction in _WAYS:
        yield Rule(direction=direction, protocol="-1", group=group, path=f"{group}/{direction}")


@rule(
    "HP3018",
    Severity.ERROR,
    title="Security groups let nothing reach the Lustre file system",
    because="clients and the file system's own servers connect to TCP 988: FSx refuses a group that does not let that "
    "port in from itself, and a mount without it hangs",
    source="FSx for Lustre user guide, getting-started (October 2026); awslabs/awsome-distributed-ai pull 839",
)
def lustre_can_be_reached(deployment: Deployment) -> Iterator[Problem]:
    for file_system, closed in _closed_around_lustre(deployment):
        if any(each.unreachable for each in closed):
            yield _problem(file_system.path, closed)


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
    for file_system, closed in _closed_around_lustre(deployment):
        if closed and not any(each.unreachable for each in closed):
            yield _problem(file_system.path, closed)


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
            ways = [_closed(nodes, servers, catalog.NFS_PORTS) for nodes in _clients(deployment, file_system)]
            closed = list(chain.from_iterable(ways))
            if closed:
                yield _problem(file_system.path, closed)
