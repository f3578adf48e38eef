"""What can be known about VPC endpoints before anything is created: which ones are missing, and which cannot be used.

Nodes of a network without a way to the internet reach S3, their logs and their images through endpoints alone; what is
missing shows as scripts that time out or images that are not pulled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from hyperpod_constructs.catalog import endpoints as catalog
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.routing import Endpoint, Routing
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import accounting_of
from hyperpod_constructs.rules._places import (
    all_groups,
    has_efa,
    is_all_known,
    known_subnets,
    lustre_mounts,
    passes,
    placements_of,
)
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_HTTPS = 443
_FOR: Final = {
    catalog.LUSTRE_EFA: " (for the EFA of the file system)",
    catalog.ACCOUNTING: " (for the secret of the accounting database)",
}
"""Why nodes call a service that not all nodes call."""
_Side = Literal["nodes", "endpoint"]
_CLOSED_SOURCE = (
    "SageMaker developer guide, sagemaker-hyperpod-prerequisites; sunilpp/hyperpod-quickstart commit b84a8f52; not "
    "tried against AWS"
)

# --- Closed networks


def _table(routing: Routing, subnet: Subnet) -> str | None:
    """The route table of a subnet; `None` for that of the VPC, which templates cannot add routes to."""
    return next((str(each.table) for each in routing.associations if each.subnet == subnet.path), None)


def _is_closed(routing: Routing, subnet: Subnet) -> bool:
    """Whether it is certain that nothing leads out of a subnet but endpoints."""
    vpc = next((vpc for vpc in routing.vpcs if vpc.path == subnet.vpc), None)
    if vpc is None or not vpc.complete or not subnet.complete or not subnet.certain or routing.undecided:
        return False
    path = _table(routing, subnet)
    if path is None:
        return True
    table = next((table for table in routing.tables if table.path == path), None)
    # An internet gateway serves public addresses only, which nodes do not have.
    ways = {route.way for route in routing.routes if route.table == path}
    return table is not None and table.complete and ways <= {"internet"} and subnet.public is False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closed:
    """Groups of one cluster in subnets without a way out.

    Attributes:
        cluster: The cluster.
        groups: Its groups there.
        subnets: The subnets, of which HyperPod picks one.
        missing: Services without an endpoint that any of the subnets can use.
        scripts: Whether some of the groups fetch scripts from S3.
    """

    cluster: Cluster
    groups: list[InstanceGroup]
    subnets: list[Subnet]
    missing: list[str]
    scripts: bool

    @property
    def is_hopeless(self) -> bool:
        """Whether nodes certainly cannot start: their scripts are in S3."""
        return catalog.GATEWAY in self.missing and self.scripts

    def problem(self, deployment: Deployment) -> Problem:
        """The finding."""
        reason = _reason(deployment.routing, self.subnets)
        one = len(self.groups) == 1
        fetched = f", and fetch{'es its' if one else ' their'} scripts from S3" if self.is_hopeless else ""
        subnets = all_of(subnet.path for subnet in self.subnets)
        return Problem(
            path=self.cluster.path_of(self.groups[0]) if one else self.cluster.path,
            message=f"{named(*self.groups)} stand{'s' * one} in {subnets}, from which nothing leads out{reason}"
            f"{fetched}; there is no endpoint for "
            f"{all_of(each + _FOR.get(each, '') for each in self.missing)}",
            fix=f"lead 0.0.0.0/0 of their route table to a NAT gateway, or add {_wanted(self.missing)}; "
            'in hp.ClusterNetwork by egress="nat" or endpoints',
        )


def _reason(routing: Routing, subnets: list[Subnet]) -> str:
    """Why nothing leads out of subnets, where that is easy to overlook."""
    tables = {_table(routing, subnet) for subnet in subnets}
    gateways = [str(route.gateway) for route in routing.routes if route.table in tables and route.way == "internet"]
    if gateways:
        return f": the internet gateway {gateways[0]} serves public addresses only, which nodes do not have"
    return f": no route table is associated with {'it' if len(subnets) == 1 else 'them'}" if tables == {None} else ""


def _wanted(missing: list[str]) -> str:
    """The endpoints to add, in words."""
    interfaces = [service for service in missing if service != catalog.GATEWAY]
    wanted = ["a Gateway endpoint for s3 on the route table of the subnet"] if catalog.GATEWAY in missing else []
    wanted += [f"Interface endpoints with private names for {all_of(interfaces)}"] if interfaces else []
    return " and ".join(wanted)


def _usable(routing: Routing, subnet: Subnet) -> set[str]:
    """Services that have an endpoint which a subnet can use."""
    table = _table(routing, subnet)
    return {
        str(each.service)
        for each in routing.endpoints
        if each.vpc == subnet.vpc
        and (each.kind != "Gateway" or (isinstance(each.tables, tuple) and table in each.tables))
    }


def _closed_subnets(deployment: Deployment) -> Iterator[_Closed]:
    for cluster in deployment.clusters:
        if cluster.scheduler is None:
            continue
        together: dict[tuple[str | Unknown, ...], list[InstanceGroup]] = {}
        for group in cluster.groups:
            placement = cluster.placement_of(group)
            given = placement.subnets if isinstance(placement, VpcPlacement) else ()
            if isinstance(given, tuple) and given:
                together.setdefault(given, []).append(group)
        for paths, groups in together.items():
            subnets = known_subnets(deployment, paths)
            if len(subnets) < len(paths) or not all(_is_closed(deployment.routing, subnet) for subnet in subnets):
                continue
            usable = set[str]().union(*(_usable(deployment.routing, subnet) for subnet in subnets))
            needed = (catalog.GATEWAY, *_called(deployment, cluster, groups))
            missing = [service for service in needed if service not in usable]
            scripts = any(_fetches(group) for group in groups)
            if missing:
                yield _Closed(cluster=cluster, groups=groups, subnets=subnets, missing=missing, scripts=scripts)


def _called(deployment: Deployment, cluster: Cluster, groups: Collection[InstanceGroup]) -> Iterator[str]:
    """Services besides S3 that the nodes of some groups call."""
    yield from catalog.NEEDED[cluster.scheduler] if cluster.scheduler else ()
    mounts = lustre_mounts(deployment, cluster)
    if any(each.lustre.efa is True and has_efa(group) for group, each in mounts if group in groups):
        yield catalog.LUSTRE_EFA
    if any(accounting_of(cluster, group) for group in groups):
        yield catalog.ACCOUNTING


def _fetches(group: InstanceGroup) -> bool:
    """Whether the nodes of a group certainly fetch scripts."""
    source = group.lifecycle.source_uri if group.lifecycle is not None and group.lifecycle is not UNKNOWN else None
    return isinstance(source, str) and isinstance(group.instances, int) and group.instances > 0


def _is_certain(deployment: Deployment, closed: _Closed) -> bool:
    """Whether nothing can be added to the network between its stack and the cluster's."""
    parts = [part for subnet in closed.subnets for part in (subnet.path, str(subnet.vpc))]
    return closed.is_hopeless and is_all_known(deployment, closed.cluster.path, *parts)


@rule(
    "HP4033",
    Severity.ERROR,
    title="Nodes in a closed network cannot reach the scripts that they start with",
    because="a subnet without a NAT gateway and without an endpoint for S3 leads nowhere, and a node whose scripts "
    "cannot be fetched fails the cluster",
    source=_CLOSED_SOURCE,
)
def closed_networks_have_s3(deployment: Deployment) -> Iterator[Problem]:
    for closed in _closed_subnets(deployment):
        if _is_certain(deployment, closed):
            yield closed.problem(deployment)


@rule(
    "HP4034",
    Severity.WARNING,
    title="Closed network lacks endpoints that nodes call",
    because="without a NAT gateway nodes reach AWS through endpoints alone: sessions, logs, images and roles of pods "
    "need one each",
    source=_CLOSED_SOURCE,
)
def closed_networks_have_their_endpoints(deployment: Deployment) -> Iterator[Problem]:
    for closed in _closed_subnets(deployment):
        if not _is_certain(deployment, closed):
            yield closed.problem(deployment)


# --- Endpoints that nodes cannot use


def _near(deployment: Deployment) -> Iterator[tuple[Cluster, str, VpcPlacement, Endpoint]]:
    """Interface endpoints that nodes call, with who calls them: they are in the VPC of those nodes."""
    for cluster in deployment.clusters:
        called = set(_called(deployment, cluster, cluster.groups))
        for _, owner, placement in placements_of(cluster):
            vpcs = {subnet.vpc for subnet in known_subnets(deployment, placement.subnets)}
            for endpoint in deployment.routing.endpoints:
                in_vpc = isinstance(endpoint.vpc, str) and endpoint.vpc in vpcs
                if in_vpc and endpoint.kind == "Interface" and endpoint.service in called:
                    yield cluster, owner, placement, endpoint


def _shut(deployment: Deployment, placement: VpcPlacement, endpoint: Endpoint) -> tuple[_Side, ...]:
    """Whose security groups certainly keep the nodes of a placement from an endpoint."""
    paths = endpoint.security_groups or (f"{endpoint.vpc}.DefaultSecurityGroup",)
    nodes, servers = placement.security_groups, all_groups(deployment, paths)
    subnets = known_subnets(deployment, placement.subnets)
    if not servers or not isinstance(nodes, tuple) or not isinstance(paths, tuple) or UNKNOWN in nodes or not subnets:
        return ()
    known = all_groups(deployment, nodes)
    ends = known_subnets(deployment, endpoint.subnets)
    is_open: dict[_Side, bool] = {
        "nodes": known is None or not ends or passes(known, "egress", _HTTPS, peers=paths, subnets=ends),
        "endpoint": passes(servers, "ingress", _HTTPS, peers=nodes, subnets=subnets),
    }
    return tuple(side for side, lets in is_open.items() if not lets)


@rule(
    "HP4035",
    Severity.WARNING,
    title="Security group of an endpoint shuts the nodes out",
    because="with private names every call of a node to that service goes to the endpoint, also where there is a NAT "
    "gateway, and times out at its security group",
    source="SageMaker developer guide, sagemaker-hyperpod-prerequisites; AWS PrivateLink guide, security groups of "
    "endpoints",
)
def endpoints_let_nodes_in(deployment: Deployment) -> Iterator[Problem]:
    shut: dict[tuple[str, tuple[_Side, ...]], list[str]] = {}
    for _, owner, placement, endpoint in _near(deployment):
        sides = _shut(deployment, placement, endpoint) if endpoint.private_dns is True else ()
        if sides:
            shut.setdefault((endpoint.path, sides), []).append(owner)
    for (path, sides), owners in shut.items():
        nodes = f"the nodes of {all_of(dict.fromkeys(owners))}"
        closed = {
            "nodes": f"the security groups of {nodes} do not let tcp {_HTTPS} out to it",
            "endpoint": f"its security groups do not let tcp {_HTTPS} in from {nodes}",
        }
        rules = {
            "nodes": f"an egress rule for tcp {_HTTPS} to the security group of the nodes",
            "endpoint": f"an ingress rule for tcp {_HTTPS} from the security group of the nodes to its security group",
        }
        yield Problem(
            path=path,
            message=" and ".join(closed[side] for side in sides),
            fix=f"add {' and '.join(rules[side] for side in sides)}",
        )


def _other_region(endpoint: Endpoint) -> str | None:
    """The Region of an endpoint's service, if it is certainly not that of its VPC."""
    region, here = endpoint.service_region, endpoint.region
    both = isinstance(region, str) and here is not None and not endpoint.crosses
    return str(region) if both and region != here else None


@rule(
    "HP4036",
    Severity.WARNING,
    title="Endpoint that nodes do not find",
    because="nodes call services by their usual names, which lead to an endpoint only with private names and in the "
    "Region of the nodes",
    source="EC2 API, CreateVpcEndpoint, PrivateDnsEnabled and ServiceRegion",
)
def endpoints_are_found(deployment: Deployment) -> Iterator[Problem]:
    for path in dict.fromkeys(each.path for *_, each in _near(deployment) if each.private_dns is False):
        yield Problem(
            path=path,
            message="PrivateDnsEnabled is false: the service's usual name does not lead to this endpoint",
            fix="set PrivateDnsEnabled to true",
        )
    for endpoint in deployment.routing.endpoints:
        if region := _other_region(endpoint):
            yield Problem(
                path=endpoint.path,
                message=f"the service is that of {region} but the endpoint is in {endpoint.region}",
                fix=f"use com.amazonaws.{endpoint.region}.{endpoint.service}, best with ${{AWS::Region}} in its place",
            )
