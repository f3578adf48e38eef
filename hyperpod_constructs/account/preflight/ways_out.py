"""Whether nodes in imported subnets reach what they need: S3 above all, by which way, and the other services."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_constructs.account.gateway.ec2 import LiveEndpoint, LiveRouteTable, LiveSubnet
from hyperpod_constructs.account.preflight.context import Context, Placed
from hyperpod_constructs.account.preflight.registry import Learned, Said, check, finding, not_seen, rule
from hyperpod_constructs.catalog import endpoints as catalog
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.tokens import UNKNOWN

_SOURCE = "SageMaker developer guide, sagemaker-hyperpod-prerequisites (October 2026); not tried against AWS"
_INTERNET = "igw-"

NO_WAY_TO_S3 = rule(
    "HP9060",
    Severity.ERROR,
    title="Nodes in an imported subnet cannot reach the scripts that they start with",
    because="a route table without a default route that private addresses can use, in a VPC without an endpoint for "
    "S3, leads nowhere: scripts are not fetched and the cluster fails",
    source=_SOURCE,
)
NO_GATEWAY = rule(
    "HP9061",
    Severity.WARNING,
    title="Route table of an imported subnet has no gateway endpoint for S3",
    because="datasets and checkpoints then go through NAT gateways or firewalls, which cost by the gigabyte and are "
    "narrower; the endpoint costs nothing",
    source="VPC user guide, vpc-endpoints-s3",
)
NO_ENDPOINTS = rule(
    "HP9062",
    Severity.WARNING,
    title="Imported subnet leads nowhere, and its VPC lacks endpoints that nodes call",
    because="without a default route nodes reach AWS through endpoints alone: sessions, logs, images and roles of pods "
    "need one each. Endpoints of a central VPC, reached by names of private zones, are not seen here",
    source=_SOURCE,
)


@check("routes and endpoints")
def nodes_reach_what_they_need(context: Context) -> Iterator[Said]:
    there, paths = context.subnets(), context.users(lambda placed: placed.subnets)
    tables, endpoints = context.route_tables(), context.endpoints()
    for each, path in paths.items():
        if each not in there:
            continue  # the check of subnets says so
        table = _table(tables, there[each])
        if table is None:
            message = f"AWS shows no route table of {each}, so whether it leads to S3 was not looked at"
            vpc = f"Name=vpc-id,Values={there[each].vpc}"
            look = f"aws ec2 describe-route-tables --region {context.region} --filters {vpc}"
            yield not_seen(path, message, f"look yourself, or ask account {there[each].owner}, which owns it: {look}")
            continue
        users = [placed for placed in context.placed() if each in placed.subnets]
        reached = _reached(endpoints, there[each], table)
        leads_out = table.default is not None and not table.blackhole and not table.default.startswith(_INTERNET)
        yield Learned(
            section="routes",
            name=each,
            facts={"table": table.id, "default": table.default, "endpoints": sorted(reached)},
        )
        if leads_out:
            if catalog.GATEWAY not in reached and not _adds_gateway(context, table):
                yield _without_gateway(context, each, path, table)
        else:
            yield from _closed(context, _Closed(each, path, table, reached), users)


def _table(tables: tuple[LiveRouteTable, ...], subnet: LiveSubnet) -> LiveRouteTable | None:
    """The table of a subnet: its own, else the main one of its VPC."""
    own = (table for table in tables if subnet.id in table.subnets)
    return next(own, next((table for table in tables if table.main and table.vpc == subnet.vpc), None))


def _reached(endpoints: tuple[LiveEndpoint, ...], subnet: LiveSubnet, table: LiveRouteTable) -> set[str]:
    """Services that have an endpoint which a subnet can use."""
    return {
        each.service
        for each in endpoints
        if each.vpc == subnet.vpc and (table.id in each.tables if each.kind == "Gateway" else each.private_dns)
    }


def _adds_gateway(context: Context, table: LiveRouteTable) -> bool:
    """Whether the deployment makes the endpoint itself, or may."""
    made = (each for each in context.deployment.routing.endpoints if each.service in {catalog.GATEWAY, UNKNOWN})
    return any(each.tables is UNKNOWN or table.id in each.tables or UNKNOWN in each.tables for each in made)


def _without_gateway(context: Context, subnet: str, path: str, table: LiveRouteTable) -> Said:
    service = f"com.amazonaws.{context.region}.s3"
    return finding(
        NO_GATEWAY,
        path,
        f"route table {table.id} of {subnet} has no gateway endpoint for S3; what nodes read goes to {table.default}",
        f"add one: aws ec2 create-vpc-endpoint --region {context.region} --vpc-id {table.vpc} --service-name {service} "
        f"--route-table-ids {table.id}",
    )


@dataclass(frozen=True, slots=True)
class _Closed:
    """A subnet from which nothing leads out but endpoints.

    Attributes:
        subnet: Its id.
        path: Where findings about it point.
        table: Its route table.
        reached: Services that have an endpoint which it can use.
    """

    subnet: str
    path: str
    table: LiveRouteTable
    reached: set[str]


def _closed(context: Context, closed: _Closed, users: list[Placed]) -> Iterator[Said]:
    subnet, path, table, reached = closed.subnet, closed.path, closed.table, closed.reached
    reason = _why(table)
    if _adds_gateway(context, table):
        reached = reached | {catalog.GATEWAY}
    # A narrower route, to a firewall or another VPC, may be the way to S3.
    if catalog.GATEWAY not in reached and not table.elsewhere and any(_fetches(placed) for placed in users):
        yield finding(
            NO_WAY_TO_S3,
            path,
            f"{subnet}: {reason}, and there is no endpoint for S3, from where the nodes fetch their scripts",
            f"lead 0.0.0.0/0 of {table.id} to a NAT gateway, or add a gateway endpoint for S3 to it",
        )
        return
    schedulers = {placed.cluster.scheduler for placed in users}
    made = {each.service for each in context.deployment.routing.endpoints}
    needed = {service for scheduler in schedulers if scheduler for service in catalog.NEEDED[scheduler]}
    missing = sorted({catalog.GATEWAY, *needed} - reached - made)
    if missing and UNKNOWN not in made:
        message = f"{subnet}: {reason}, and its VPC has no endpoint for {', '.join(missing)}"
        fix = "add them with private names, or see that names of a central VPC lead to its endpoints"
        yield finding(NO_ENDPOINTS, path, message, fix)


def _why(table: LiveRouteTable) -> str:
    if table.blackhole:
        return f"0.0.0.0/0 of {table.id} leads to {table.default}, which is gone"
    if table.default is not None:
        return f"0.0.0.0/0 of {table.id} leads to {table.default}, which serves public addresses only"
    return f"{table.id} has no route for 0.0.0.0/0"


def _fetches(placed: Placed) -> bool:
    """Whether the nodes of a group fetch scripts."""
    lifecycle = placed.group.lifecycle
    return isinstance(lifecycle, Lifecycle) and isinstance(lifecycle.source_uri, str)
