"""What can be known about VPCs before anything is created: what meets in them, their names, the EKS control plane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from hyperpod_constructs.catalog import zones
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.control_plane import ControlPlane
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.routing import Vpc
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._kubernetes import name_of_imported, with_control_plane
from hyperpod_constructs.rules._places import (
    PREREQUISITES,
    all_groups,
    different_vpcs,
    has_efa,
    known_subnets,
    lustre_mounts,
    passes,
    placements,
    placements_of,
)
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_EKS_PREREQUISITES: Final = "SageMaker developer guide, sagemaker-hyperpod-eks-prerequisites"
_SHARED_PREFIX: Final = 24
"""A subnet narrower than this fills up when nodes and control plane share it. Source: elastic-ipfs pull 221."""
_API_PORT, _KUBELET_PORT = 443, 10250
_ZONES_OF_A_CONTROL_PLANE: Final = 2
_TWO_ZONES: Final = "give the control plane subnets in at least two zones"

# --- Several VPCs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Company:
    """Things that can only be used together within one VPC.

    Attributes:
        path: Where a finding about them points.
        owner: What uses them, as a message says it.
        parts: Name and mark of the VPC of each.
    """

    path: str
    owner: str
    parts: list[tuple[str, object]]


def _parts(deployment: Deployment, subnets: object, groups: object) -> list[tuple[str, object]]:
    """Subnets and security groups as messages call them, with the marks of their VPCs."""
    known = [deployment.security_group(path) for path in groups] if isinstance(groups, tuple) else []
    parts: list[tuple[str, object]] = [(f"subnet {each.path}", each.vpc) for each in known_subnets(deployment, subnets)]
    return parts + [(f"security group {each.path}", each.vpc) for each in known if each is not None]


def _companies(deployment: Deployment) -> Iterator[_Company]:
    for path, owner, placement in placements(deployment):
        parts = _parts(deployment, placement.subnets, placement.security_groups)
        yield _Company(path=path, owner=owner, parts=parts)
    for each in deployment.file_systems:
        parts = _parts(deployment, each.subnets, each.security_groups)
        yield _Company(path=each.path, owner="the file system", parts=parts)
    routing = deployment.routing
    tables = {table.path: (f"route table {table.path}", table.vpc) for table in routing.tables}
    for endpoint in routing.endpoints:
        parts = [("it", endpoint.vpc), *_parts(deployment, endpoint.subnets, endpoint.security_groups)]
        parts += [tables[path] for path in endpoint.tables if path in tables] if endpoint.tables is not UNKNOWN else []
        yield _Company(path=endpoint.path, owner="the endpoint", parts=parts)
    for association in routing.associations:
        parts = [tables[association.table]] if association.table in tables else []
        parts += _parts(deployment, (association.subnet,), ())
        yield _Company(path=association.path, owner="the association", parts=parts)
    for plane in deployment.kubernetes.control_planes:
        parts = _parts(deployment, plane.subnets, plane.security_groups)
        yield _Company(path=plane.path, owner="the EKS cluster", parts=parts)


@rule(
    "HP4022",
    Severity.ERROR,
    title="Things that belong together are in different VPCs",
    because="an interface, an endpoint or a route table works with subnets and security groups of its own VPC only, "
    "and nodes of an EKS cluster stand in its VPC: AWS refuses the rest after the networks were built",
    source=f"VPC user guide; {_EKS_PREREQUISITES}",
)
def companions_share_a_vpc(deployment: Deployment) -> Iterator[Problem]:
    for company in _companies(deployment):
        for (one, its_vpc), (other, other_vpc) in combinations(company.parts, 2):
            if different_vpcs(deployment, its_vpc, other_vpc):
                yield Problem(
                    path=company.path,
                    message=f"{company.owner} brings two VPCs together: {one} is in {its_vpc}, {other} in {other_vpc}",
                    fix=f"use {'subnets and security groups' if 'table' not in one + other else 'parts'} of one VPC",
                )
                break
    for cluster, plane in with_control_plane(deployment):
        for path, owner, placement in placements_of(cluster):
            nodes, its = known_subnets(deployment, placement.subnets), known_subnets(deployment, plane.subnets)
            if nodes and its and different_vpcs(deployment, nodes[0].vpc, its[0].vpc):
                yield Problem(
                    path=path,
                    message=f"{owner} stands in {nodes[0].vpc} but EKS cluster {plane.path} in {its[0].vpc}",
                    fix=f"use subnets of {its[0].vpc}",
                )


@rule(
    "HP4023",
    Severity.WARNING,
    title="Nodes that work together are in different VPCs",
    because="EFA traffic cannot leave a VPC, and everything else needs a peering or a transit gateway and rules that "
    "name blocks",
    source=f"EC2 user guide, efa; {PREREQUISITES}",
)
def nodes_share_a_vpc(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        for group in cluster.groups:
            others = [(deployment.subnet(path), "the cluster") for path in _paths(cluster.placement)]
            others += [
                (deployment.subnet(path), f"file system {mounted.path}")
                for who, mounted in lustre_mounts(deployment, cluster)
                # Where EFA is lost too, the rule about EFA says so.
                if who is group and not (mounted.lustre.efa is True and has_efa(group))
                for path in (mounted.subnets if isinstance(mounted.subnets, tuple) else ())
            ]
            nodes = known_subnets(deployment, _paths(cluster.placement_of(group)))
            for subnet, what in others:
                if nodes and subnet and different_vpcs(deployment, nodes[0].vpc, subnet.vpc):
                    yield Problem(
                        path=cluster.path_of(group),
                        message=f"{named(group)} stands in {nodes[0].vpc} but {what} in {subnet.vpc}",
                        fix="use subnets of one VPC",
                    )
                    break


def _paths(placement: object) -> tuple[str | Unknown, ...]:
    subnets = placement.subnets if isinstance(placement, VpcPlacement) else ()
    return subnets if isinstance(subnets, tuple) else ()


@rule(
    "HP4042",
    Severity.WARNING,
    title="EKS cluster that exists, and nodes in a VPC that is made now",
    because="nodes of an EKS cluster stand in its VPC, and a new VPC is hardly that of one that exists",
    source=_EKS_PREREQUISITES,
)
def nodes_stand_in_the_vpc_of_a_cluster_that_exists(deployment: Deployment) -> Iterator[Problem]:
    made = {vpc.path for vpc in deployment.routing.vpcs}
    names = {plane.name for plane in deployment.kubernetes.control_planes}
    for cluster in deployment.clusters:
        name = name_of_imported(cluster)
        if not name or name in names or UNKNOWN in names:
            continue
        for path, owner, placement in placements_of(cluster):
            nodes = [each.vpc for each in known_subnets(deployment, placement.subnets) if each.vpc in made]
            if nodes:
                yield Problem(
                    path=path,
                    message=f"{owner} stands in {nodes[0]}, which is made now, and EKS cluster {name} exists",
                    fix="use subnets of that EKS cluster's VPC (hp.Network.from_attributes(...))",
                )


# --- Names in a VPC


def _vpcs_in_use(deployment: Deployment) -> list[Vpc]:
    """VPCs of the deployment in which nodes or file systems stand."""
    lists = [each.subnets for _, _, each in placements(deployment)] + [each.subnets for each in deployment.file_systems]
    used = {subnet.vpc for paths in lists for subnet in known_subnets(deployment, paths)}
    return [vpc for vpc in deployment.routing.vpcs if vpc.path in used]


def _off(vpc: Vpc) -> list[str]:
    """The properties about names that a VPC lacks."""
    given = {"EnableDnsSupport": vpc.dns_support, "EnableDnsHostnames": vpc.dns_hostnames}
    return [name for name, value in given.items() if value is False]


def _private_names(deployment: Deployment, vpc: Vpc) -> list[str]:
    """Endpoints of a VPC that certainly ask for private names, and in vain if the VPC lacks what they need."""
    if not vpc.complete:
        return []
    endpoints = (each for each in deployment.routing.endpoints if each.kind == "Interface" and each.private_dns is True)
    return [each.path for each in endpoints if each.vpc == vpc.path]


@rule(
    "HP4028",
    Severity.ERROR,
    title="Endpoint with private names in a VPC without DNS support or host names",
    because="EC2 refuses a private name unless the VPC has both",
    source="EC2 API, CreateVpcEndpoint, PrivateDnsEnabled",
)
def private_names_can_be_had(deployment: Deployment) -> Iterator[Problem]:
    for vpc in deployment.routing.vpcs:
        endpoints = _private_names(deployment, vpc)
        if endpoints and (off := _off(vpc)):
            yield Problem(
                path=vpc.path,
                message=f"{all_of(off)} {'is' if len(off) == 1 else 'are'} false, but {all_of(endpoints)} "
                f"ask{'s' * (len(endpoints) == 1)} for private names",
                fix=f"set {all_of(off)} to true",
            )


@rule(
    "HP4027",
    Severity.WARNING,
    title="VPC of nodes has no DNS support or host names",
    because="nodes find S3, file systems and endpoints by name, and EKS nodes do not register without both; "
    "CloudFormation leaves host names off unless it is told otherwise",
    source=f"{PREREQUISITES}; AWS::EC2::VPC reference; EKS user guide, network requirements",
)
def vpcs_have_names(deployment: Deployment) -> Iterator[Problem]:
    for vpc in _vpcs_in_use(deployment):
        off = _off(vpc)
        if off and not _private_names(deployment, vpc):
            verb = "is" if len(off) == 1 else "are"
            message = f"{all_of(off)} {verb} false or left out"
            yield Problem(path=vpc.path, message=message, fix=f"set {all_of(off)} to true")


# --- The EKS control plane


def _control_plane_faults(deployment: Deployment, plane: ControlPlane) -> Iterator[tuple[str, str]]:
    """Message and fix of each fault of the subnets that EKS is given."""
    if not isinstance(plane.subnets, tuple):
        return
    subnets = known_subnets(deployment, plane.subnets)
    for subnet in subnets:
        if zones.is_local(subnet.shown_zone or ""):
            message = f"subnet {subnet.path} of the control plane is in local zone {subnet.shown_zone}"
            yield message, f"{_TWO_ZONES} of the Region, and the local zone to nodes alone, in their own VpcConfig"
    regional = [subnet for subnet in subnets if not zones.is_local(subnet.shown_zone or "")]
    all_known = len(subnets) == len(plane.subnets)
    if len(plane.subnets) == 1 and UNKNOWN not in plane.subnets:
        yield "the control plane has one subnet", _TWO_ZONES
    elif all_known and len(regional) >= _ZONES_OF_A_CONTROL_PLANE and _in_one_zone(regional):
        message = f"every subnet of the control plane is in {regional[0].shown_zone}"
        yield message, _TWO_ZONES


def _in_one_zone(subnets: list[Subnet]) -> bool:
    """Whether all subnets are certainly in one zone."""
    by_id = {subnet.zone for subnet in subnets}
    by_name = {subnet.zone_name for subnet in subnets}
    return (len(by_id) == 1 and isinstance(subnets[0].zone, str)) or (len(by_name) == 1 and None not in by_name)


@rule(
    "HP4024",
    Severity.ERROR,
    title="EKS control plane has subnets that it cannot use, or too few",
    because="EKS puts its interfaces into at least two zones of the Region, and into no local zone",
    source="EKS user guide, network requirements; aravneelaws/hyperpod-local-zone-quickstart, "
    "cloudformation/slurm/README.md",
)
def control_planes_can_be_placed(deployment: Deployment) -> Iterator[Problem]:
    for plane in deployment.kubernetes.control_planes:
        for message, fix in _control_plane_faults(deployment, plane):
            yield Problem(path=plane.path, message=message, fix=fix)


@rule(
    "HP4025",
    Severity.WARNING,
    title="EKS control plane and nodes share a small subnet",
    because="EKS wants 6 free addresses in each of its subnets, better 16, also when it is updated: nodes and pods "
    "that filled the subnet then hold up every update",
    source="EKS user guide, network requirements; elastic-ipfs/infrastructure pull 221",
)
def control_planes_have_room(deployment: Deployment) -> Iterator[Problem]:
    for cluster, plane in with_control_plane(deployment):
        placed = [each for _, _, each in placements_of(cluster)]
        used = {subnet.path for each in placed for subnet in known_subnets(deployment, each.subnets)}
        for subnet in known_subnets(deployment, plane.subnets):
            if subnet.path in used and subnet.block is not None and subnet.block.prefixlen > _SHARED_PREFIX:
                yield Problem(
                    path=plane.path,
                    message=f"control plane and nodes share subnet {subnet.path} {subnet.cidr}, which has "
                    f"{subnet.addresses} addresses",
                    fix="give the control plane subnets of its own, a /28 or wider in each of two zones",
                )


@rule(
    "HP4026",
    Severity.WARNING,
    title="Security groups keep nodes and EKS control plane apart",
    because="nodes register at the control plane's port 443, and it calls their port 10250 for logs and commands",
    source=f"EKS user guide, sec-group-reqs; {_EKS_PREREQUISITES}",
)
def nodes_reach_the_control_plane(deployment: Deployment) -> Iterator[Problem]:
    for cluster, plane in with_control_plane(deployment):
        extra = plane.security_groups if isinstance(plane.security_groups, tuple) else (UNKNOWN,)
        for path, owner, placement in placements_of(cluster):
            closed = _closed(deployment, placement, plane, (plane.own_group, *extra))
            if closed:
                yield Problem(
                    path=path,
                    message=f"security groups of {owner} and of EKS cluster {plane.path} do not let "
                    f"{' or '.join(closed)}",
                    fix="add the EKS cluster's ClusterSecurityGroupId to SecurityGroupIds, or rules for both ways "
                    "that name the groups",
                )


def _closed(deployment: Deployment, placement: VpcPlacement, plane: ControlPlane, its: tuple[object, ...]) -> list[str]:
    """What does not get through between nodes and control plane; nothing where not every rule is known."""
    nodes, servers = all_groups(deployment, placement.security_groups), all_groups(deployment, its)
    subnets, its_subnets = known_subnets(deployment, placement.subnets), known_subnets(deployment, plane.subnets)
    if not nodes or not servers or not subnets or not its_subnets or not plane.complete:
        return []
    mine = [group.path for group in nodes]
    calls = passes(nodes, "egress", _API_PORT, peers=its, subnets=its_subnets) and passes(
        servers, "ingress", _API_PORT, peers=mine, subnets=subnets
    )
    called = passes(servers, "egress", _KUBELET_PORT, peers=mine, subnets=subnets) and passes(
        nodes, "ingress", _KUBELET_PORT, peers=its, subnets=its_subnets
    )
    ways = {
        f"nodes call tcp {_API_PORT} of the control plane": calls,
        f"the control plane call tcp {_KUBELET_PORT} of nodes": called,
    }
    return [way for way, is_open in ways.items() if not is_open]
