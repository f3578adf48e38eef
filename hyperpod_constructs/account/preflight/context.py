"""What the checks of preflight share: the deployment in one Region, and reads of the account that several need.

Checks run side by side. A read that several need is made once, by whoever comes first; the others wait for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, TypeVar

from hyperpod_constructs.account.gateway.ec2 import (
    Ec2,
    LiveEndpoint,
    LiveRouteTable,
    LiveSecurityGroup,
    LiveSubnet,
    LiveVpc,
    Zone,
)
from hyperpod_constructs.account.gateway.session import Reader, Session
from hyperpod_constructs.account.gateway.stacks import Stacks
from hyperpod_constructs.account.gateway.use import ClustersInUse, ClusterUse
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_R = TypeVar("_R", bound=Reader)
_T = TypeVar("_T")
_SUBNET_ID = re.compile(r"subnet-[0-9a-z]+")
_GROUP_ID = re.compile(r"sg-[0-9a-z]+")
_VPC_ID = re.compile(r"vpc-[0-9a-z]+")


def is_vpc_id(value: object) -> bool:
    """Whether a value is the id of a VPC, which then is not part of the deployment."""
    return isinstance(value, str) and _VPC_ID.fullmatch(value) is not None


@dataclass(frozen=True, slots=True)
class Placed:
    """A group of a cluster with the subnets and security groups that it imports.

    Attributes:
        cluster: The cluster.
        group: The group.
        path: Where a finding about the group points.
        subnets: Ids of its imported subnets.
        security_groups: Ids of its imported security groups.
        made: Paths of subnets and security groups that the deployment makes for it.
    """

    cluster: Cluster
    group: InstanceGroup
    path: str
    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]
    made: tuple[str, ...]


class Context:
    """One deployment in one Region of one account.

    Attributes:
        session: The account.
        region: The Region.
        account: Its number, twelve digits.
        deployment: What is to be deployed, in every Region.
        now: The moment to compare dates with, UTC.
    """

    def __init__(
        self, *, session: Session, region: str, account: str, deployment: Deployment, assembly: Assembly, now: datetime
    ) -> None:
        self.session, self.region, self.account = session, region, account
        self.deployment, self.now = deployment, now
        self._assembly = assembly
        self._lock = Lock()
        self._found: dict[str, Future[Any]] = {}

    def open(self, reader: type[_R]) -> _R:
        """A reader of one service in the Region."""
        return self.session.open(reader, self.region)

    # --- The deployment in this Region

    def here(self, region: str | None) -> bool:
        """Whether what has this Region belongs to this one; what has none goes where it is asked about."""
        return region in {None, self.region}

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters in this Region."""
        return tuple(cluster for cluster in self.deployment.clusters if self.here(cluster.region))

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """The stacks in this Region, without nested ones."""
        return tuple(stack for stack in self._assembly.stacks if stack.parent is None and self.here(stack.region))

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The resources of this Region, those of nested stacks included."""
        return tuple(each for each in self._assembly.resources() if self.here(each.stack.region))

    def placed(self) -> Iterator[Placed]:
        """Every group with its place."""
        for cluster in self.clusters:
            for group in cluster.groups:
                placement = cluster.placement_of(group)
                subnets, security_groups = _given(placement, "subnets"), _given(placement, "security_groups")
                imported = [path for path in subnets if _SUBNET_ID.fullmatch(path)]
                theirs = [path for path in security_groups if _GROUP_ID.fullmatch(path)]
                made = [path for path in (*subnets, *security_groups) if path not in {*imported, *theirs}]
                yield Placed(cluster, group, cluster.path_of(group), tuple(imported), tuple(theirs), tuple(made))

    def undecided(self, placed: Placed, name: str) -> bool:
        """Whether only the deployment knows some of the subnets or security groups of a group.

        Args:
            placed: The group.
            name: `subnets` or `security_groups`.
        """
        placement = placed.cluster.placement_of(placed.group)
        values = placement if placement is UNKNOWN else getattr(placement, name, ())
        return values is UNKNOWN or (isinstance(values, tuple) and UNKNOWN in values)

    def users(self, of: Callable[[Placed], tuple[str, ...]]) -> dict[str, str]:
        """Where findings about imported things point: by id, the path of the one group or cluster that uses it.

        Args:
            of: Which ids of a group to look at.
        """
        paths: dict[str, list[Placed]] = {}
        for placed in self.placed():
            for each in of(placed):
                paths.setdefault(each, []).append(placed)
        return {each: users[0].path if len(users) == 1 else users[0].cluster.path for each, users in paths.items()}

    # --- The account, each read made once

    def zones(self) -> dict[str, Zone]:
        """The zones of the Region by id."""
        return self.once("zones", lambda: {zone.id: zone for zone in self.open(Ec2).zones()})

    def in_use(self) -> tuple[ClusterUse, ...]:
        """What every cluster of the account takes."""
        return self.once("clusters", lambda: self.open(ClustersInUse).all())

    def own(self) -> dict[str, ClusterUse]:
        """Those of the account's clusters that this deployment changes, by the path of each in the deployment.

        One whose name CloudFormation makes, or the deployment decides, is known by the stack that has made it.
        """
        found: dict[str, ClusterUse] = {}
        for cluster in self.clusters:
            ids = {cluster.name} if isinstance(cluster.name, str) else {self._id_of(cluster)}
            live = next((use for use in self.in_use() if {use.name, use.arn} & ids), None)
            if live:
                found[cluster.path] = live
        return found

    def made(self, resource: Resource) -> str | None:
        """Id of what an earlier deployment of its stack has made of a resource; `None` for nothing, or not known."""
        stack = resource.stack.name
        return self.made_by(stack).get(resource.logical_id) if stack else None

    def _id_of(self, cluster: Cluster) -> str | None:
        makers = (each for each in self.resources if each.path == cluster.path)
        return next((self.made(each) for each in makers), None)

    def made_by(self, stack: str) -> dict[str, str]:
        """What a stack has made: id in the account by logical id; empty where there is no such stack."""
        return self.once(f"resources of {stack}", lambda: dict(self.open(Stacks).resources(stack)))

    def subnets(self) -> dict[str, LiveSubnet]:
        """The imported subnets that there are, by id."""
        wanted = {each for placed in self.placed() for each in placed.subnets}
        return self.once("subnets", lambda: self.open(Ec2).subnets(wanted))

    def security_groups(self) -> dict[str, LiveSecurityGroup]:
        """The imported security groups of nodes that there are, by id."""
        wanted = {each for placed in self.placed() for each in placed.security_groups}
        return self.once("security groups", lambda: self.open(Ec2).security_groups(wanted))

    def vpcs(self) -> dict[str, LiveVpc]:
        """The VPCs of imported subnets, by id."""
        wanted = {subnet.vpc for subnet in self.subnets().values()}
        return self.once("vpcs", lambda: self.open(Ec2).vpcs(wanted))

    def route_tables(self) -> tuple[LiveRouteTable, ...]:
        """The route tables of the VPCs of imported subnets."""
        wanted = {subnet.vpc for subnet in self.subnets().values()}
        return self.once("route tables", lambda: self.open(Ec2).route_tables(wanted))

    def endpoints(self) -> tuple[LiveEndpoint, ...]:
        """The endpoints of the VPCs of imported subnets."""
        wanted = {subnet.vpc for subnet in self.subnets().values()}
        return self.once("endpoints", lambda: self.open(Ec2).endpoints(wanted))

    def zones_of(self, placed: Placed) -> tuple[str, ...]:
        """Zone ids in which a group may stand, sorted; empty where they are not known."""
        if placed.subnets:
            there = self.subnets()
            return tuple(sorted({there[each].zone for each in placed.subnets if each in there}))
        zone = self.deployment.zone_of_group(placed.cluster, placed.group)
        return (zone,) if zone else ()

    def vpcs_of(self, placed: Placed) -> tuple[str, ...]:
        """Ids of the VPCs in which a group may stand, sorted; empty where they are not known."""
        there = self.subnets()
        made = [self.deployment.subnet(path) for path in placed.made]
        ids = {there[each].vpc for each in placed.subnets if each in there}
        ids |= {subnet.vpc for subnet in made if subnet and isinstance(subnet.vpc, str) and is_vpc_id(subnet.vpc)}
        return tuple(sorted(ids))

    def once(self, key: str, read: Callable[[], _T]) -> _T:
        """The result of a read, which is made once, or its error.

        Args:
            key: What is read.
            read: Reads it.
        """
        with self._lock:
            future, first = self._found.get(key), False
            if future is None:
                future, first = Future(), True
                self._found[key] = future
        if first:
            try:
                future.set_result(read())
            except Exception as error:  # noqa: BLE001  # whoever waits gets it too
                future.set_exception(error)
        found: _T = future.result()
        return found


def _given(placement: VpcPlacement | Unknown | None, name: str) -> tuple[str, ...]:
    """Subnets or security groups of a placement, as far as they are known."""
    values = getattr(placement, name, ())
    return tuple(each for each in values if isinstance(each, str)) if isinstance(values, tuple) else ()
