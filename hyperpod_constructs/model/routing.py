"""What lies between nodes and everything else: VPCs, route tables, gateways and endpoints."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from hyperpod_constructs.tokens import Unknown

Way: TypeAlias = Literal["internet", "nat", "elsewhere"]
"""Where a route leads: to an internet gateway, which serves public addresses only; to a NAT gateway; anywhere else.

IPv6, of which every address is public, leads anywhere else.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcBlock:
    """One IPv4 block of a VPC.

    Attributes:
        path: The VPC, or the resource that adds the block.
        cidr: The block.
    """

    path: str
    cidr: str | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Vpc:
    """A VPC of the deployment.

    Attributes:
        path: Construct path.
        blocks: Its own block and those that resources of their own add.
        dns_support: Whether Amazon's resolver answers in it.
        dns_hostnames: Whether it gives out names, which private names of endpoints need too.
        complete: Whether nothing that nobody can read may add to it.
    """

    path: str
    blocks: tuple[VpcBlock, ...] = ()
    dns_support: bool | Unknown = True
    dns_hostnames: bool | Unknown = False
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route.

    Attributes:
        path: Construct path.
        table: Path or id of its route table.
        way: Where it leads.
        gateway: Path or id of the internet gateway, where it leads to one.
        after: Paths of what CloudFormation creates before it.
    """

    path: str
    table: str | Unknown
    way: Way | Unknown
    gateway: str | Unknown | None = None
    after: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """The choice of a route table for a subnet.

    Attributes:
        path: Construct path.
        subnet: Path or id.
        table: Path or id of the route table.
    """

    path: str
    subnet: str | Unknown
    table: str | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTable:
    """A route table of the deployment.

    Attributes:
        path: Construct path.
        vpc: What tells its VPC from others, as for a subnet.
        complete: Whether nothing that nobody can read may add to it.
    """

    path: str
    vpc: str | Unknown | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class InternetGateway:
    """An internet gateway of the deployment.

    Attributes:
        path: Construct path.
        complete: Whether nothing that nobody can read may attach it.
    """

    path: str
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An internet gateway in a VPC.

    Attributes:
        path: Construct path.
        vpc: What tells the VPC from others, as for a subnet.
        gateway: Path or id of the internet gateway; `None` for a VPN gateway.
    """

    path: str
    vpc: str | Unknown | None
    gateway: str | Unknown | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticAddress:
    """A public IPv4 address.

    Attributes:
        path: Construct path.
        border_group: The zones that it can be used in; left out means those of the Region.
    """

    path: str
    border_group: str | Unknown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NatGateway:
    """A NAT gateway.

    Attributes:
        path: Construct path.
        subnet: Path or id.
        address: Path or allocation id of its public address; `None` for a private one.
        private: Whether it has no public address on purpose.
        after: Paths of what CloudFormation creates before it.
    """

    path: str
    subnet: str | Unknown | None
    address: str | Unknown | None = None
    private: bool | Unknown = False
    after: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A VPC endpoint.

    Attributes:
        path: Construct path.
        kind: `Gateway`, `Interface` or another.
        service: Short name of an AWS service, such as `s3` or `ecr.api`.
        service_region: Region in the service's name.
        vpc: What tells its VPC from others, as for a subnet.
        subnets: Paths or ids; interface endpoints only.
        security_groups: Paths or ids; interface endpoints only.
        tables: Paths or ids of route tables; gateway endpoints only.
        private_dns: Whether the service's usual name leads to it. Left out, CloudFormation's pages do not say.
        region: Region of its stack.
        crosses: Whether it names the Region of its service, which may be another one.
    """

    path: str
    kind: str | Unknown = "Gateway"
    service: str | Unknown | None = None
    service_region: str | Unknown | None = None
    vpc: str | Unknown | None = None
    subnets: tuple[str | Unknown, ...] | Unknown = ()
    security_groups: tuple[str | Unknown, ...] | Unknown = ()
    tables: tuple[str | Unknown, ...] | Unknown = ()
    private_dns: bool | Unknown | None = None
    region: str | None = None
    crosses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """All of these in one deployment.

    Attributes:
        undecided: Paths of routes, associations and endpoints of which it is not known where they belong, or whether
            they are made at all.
    """

    vpcs: tuple[Vpc, ...] = ()
    tables: tuple[RouteTable, ...] = ()
    routes: tuple[Route, ...] = ()
    associations: tuple[Association, ...] = ()
    gateways: tuple[InternetGateway, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    addresses: tuple[ElasticAddress, ...] = ()
    nat_gateways: tuple[NatGateway, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def internet(self) -> tuple[Attachment, ...]:
        """The attachments of internet gateways, without those of VPN gateways."""
        return tuple(attachment for attachment in self.attachments if attachment.gateway is not None)

    def merged(self, other: Routing) -> Routing:
        """Both as one."""
        names = (field.name for field in fields(self))
        return Routing(**{name: getattr(self, name) + getattr(other, name) for name in names})
