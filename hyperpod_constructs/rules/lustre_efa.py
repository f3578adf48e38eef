"""What keeps nodes from using the EFA of a Lustre file system: they then mount it over TCP and say nothing."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from hyperpod_constructs.catalog import lustre as catalog
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._permissions import granted
from hyperpod_constructs.rules._places import different_vpcs, has_efa, known_subnets, lustre_mounts
from hyperpod_constructs.rules._words import named

_GUIDE = "FSx for Lustre user guide, efa-file-systems (October 2026)"


def _efa_mounts(deployment: Deployment) -> Iterator[tuple[Cluster, FileSystem, list[InstanceGroup]]]:
    """Clusters with the file systems with EFA that they mount, and the groups with EFA that do."""
    for cluster in deployment.clusters:
        clients: dict[str, list[InstanceGroup]] = {}
        for group, file_system in lustre_mounts(deployment, cluster):
            if file_system.lustre.efa is True and has_efa(group):
                clients.setdefault(file_system.path, []).append(group)
        for path, groups in clients.items():
            file_system_found = deployment.file_system(path)
            if file_system_found is not None:
                yield cluster, file_system_found, groups


def _path(cluster: Cluster, groups: list[InstanceGroup]) -> str:
    return cluster.path_of(groups[0]) if len(groups) == 1 else cluster.path


@rule(
    "HP3050",
    Severity.WARNING,
    title="Role of nodes cannot look up the file system whose EFA they use",
    because="nodes ask FSx whether the file system has EFA; without the permission they mount it over TCP in silence",
    source="awslabs/awsome-distributed-ai pull 1202 and pull 1209",
)
def nodes_can_describe_the_file_system(deployment: Deployment) -> Iterator[Problem]:
    for _, file_system, groups in _efa_mounts(deployment):
        users: dict[str, list[InstanceGroup]] = {}
        for group in groups:
            if isinstance(group.execution_role, str):
                users.setdefault(group.execution_role, []).append(group)
        for path, its_groups in users.items():
            role = deployment.role(path)
            if role is not None and granted(role, "fsx:DescribeFileSystems") is False:
                yield Problem(
                    path=path,
                    message=f"role of {named(*its_groups)} lacks fsx:DescribeFileSystems, which the EFA of "
                    f"{file_system.path} needs",
                    fix="allow fsx:DescribeFileSystems on *: the action knows no resources",
                )


@rule(
    "HP3051",
    Severity.WARNING,
    title="Nodes and a file system with EFA are in different networks",
    because=f"EFA works within one VPC and one /{catalog.EFA_PREFIX} block of addresses",
    source=_GUIDE,
)
def efa_stays_in_one_block(deployment: Deployment) -> Iterator[Problem]:
    for cluster, file_system, groups in _efa_mounts(deployment):
        servers = known_subnets(deployment, file_system.subnets)
        apart: dict[str, list[InstanceGroup]] = {}
        for group in groups:
            placement = cluster.placement_of(group)
            nodes = known_subnets(deployment, placement.subnets) if isinstance(placement, VpcPlacement) else []
            for one, other in ((one, other) for one in nodes for other in servers):
                if differs := _difference(deployment, one, other):
                    apart.setdefault(differs, []).append(group)
                    break
        for differs, its_groups in apart.items():
            yield Problem(
                path=_path(cluster, its_groups),
                message=f"{named(*its_groups)} and {file_system.path} are {differs}: its EFA cannot be used",
                fix="put the file system into the subnet of the nodes",
            )


def _difference(deployment: Deployment, nodes: Subnet, servers: Subnet) -> str | None:
    """How two subnets are too far apart for EFA; `None` where they are not, or it is not known."""
    if different_vpcs(deployment, nodes.vpc, servers.vpc):
        return f"in different VPCs, {nodes.vpc} and {servers.vpc}"
    blocks = [_wide(nodes), _wide(servers)]
    if None in blocks or blocks[0] == blocks[1]:
        return None
    return f"in different blocks, {blocks[0]} and {blocks[1]}"


def _wide(subnet: Subnet) -> IPv4Network | None:
    """The block of addresses that a subnet shares with others for EFA."""
    block = subnet.block
    return block.supernet(new_prefix=catalog.EFA_PREFIX) if block and block.prefixlen >= catalog.EFA_PREFIX else None


@rule(
    "HP3052",
    Severity.WARNING,
    title="Instance type cannot use the EFA of a file system",
    because="clients need Nitro v4 or later, and Trn2 is excepted: it mounts over TCP",
    source=_GUIDE,
)
def clients_can_use_efa(deployment: Deployment) -> Iterator[Problem]:
    for cluster, file_system, groups in _efa_mounts(deployment):
        without = [group for group in groups if str(group.instance_type).startswith(catalog.EFA_CLIENTS_WITHOUT)]
        if without:
            types = " and ".join(dict.fromkeys(str(group.instance_type) for group in without))
            yield Problem(
                path=_path(cluster, without),
                message=f"{named(*without)} of {types} mount{'s' * (len(without) == 1)} {file_system.path} over TCP, "
                "although it has EFA",
                fix="expect the throughput of TCP there, or leave EFA out where no other group uses it",
            )
