"""Where nodes stand and who may talk to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final, Literal

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.tokens import Unknown, is_token

RESERVED_ADDRESSES: Final = 5
"""Addresses that AWS keeps of every subnet. Source: VPC user guide, subnet sizing."""
WIDEST_BLOCK: Final = 16
NARROWEST_BLOCK: Final = 28
"""Prefix lengths that a subnet, and a block of a VPC, can have. Source: VPC user guide, VPC and subnet sizing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcPlacement:
    """Subnets and security groups by path, or by id where they are not part of the deployment.

    Attributes:
        subnets: 1 to 16; HyperPod picks one of them for all groups.
        security_groups: 1 to 5.
        weak: Names of the properties that reach another stack through `Fn::GetStackOutput`: CloudFormation lets that
            stack replace what is in use here.
    """

    subnets: tuple[str | Unknown, ...] | Unknown
    security_groups: tuple[str | Unknown, ...] | Unknown
    weak: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneName:
    """A zone by its name, which is another zone in every account: names compare only where they mean the same.

    Attributes:
        text: The name such as `us-west-2b`, or how a message calls one that only the deploy knows.
        scope: In what the text names one zone: names of one account, elements of one list of zones.
        literal: Whether the text is the name itself.
    """

    text: str
    scope: str
    literal: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    """A subnet of the deployment, or an imported one of which more than the id is known.

    Attributes:
        path: Construct path, or id of an imported subnet.
        zone: Zone id, for example `usw2-az2`.
        zone_name: Zone name where there is no id.
        cidr: IPv4 block.
        public: Whether instances get a public address.
        vpc: What tells its VPC from others: path, id, or anything else that is the same for the same VPC.
        vpc_cidr: Block of its VPC, of which an imported subnet's author says it.
        region: Region of its stack.
        certain: Whether it is certain that it is made.
        complete: Whether nothing that nobody can read may give it routes.
        after: Paths of what CloudFormation creates before it; `None` where that is not known.
    """

    path: str
    zone: str | Unknown | None = None
    zone_name: ZoneName | None = None
    cidr: str | Unknown | None = None
    public: bool | Unknown = False
    vpc: str | Unknown | None = None
    vpc_cidr: str | Unknown | None = None
    region: str | None = None
    certain: bool = True
    complete: bool = True
    after: frozenset[str] | None = None

    @property
    def block(self) -> IPv4Network | None:
        """The IPv4 block, with host bits cleared as EC2 does; `None` where it is not known."""
        return as_block(self.cidr)

    @property
    def addresses(self) -> int | None:
        """IPv4 addresses that instances can have; `None` where the block is not known."""
        return None if self.block is None else max(0, self.block.num_addresses - RESERVED_ADDRESSES)

    @property
    def shown_zone(self) -> str | None:
        """The zone as a message calls it; `None` where it is not known."""
        if isinstance(self.zone, str):
            return self.zone
        return self.zone_name.text if self.zone_name else None

    def apart_from(self, other: Subnet) -> bool:
        """Whether two subnets are certainly in different zones."""
        if isinstance(self.zone, str) and isinstance(other.zone, str):
            return self.zone != other.zone
        mine, its = self.zone_name, other.zone_name
        return mine is not None and its is not None and mine.scope == its.scope and mine.text != its.text


def check_id(what: str, value: object, kind: str) -> None:
    """Raises `InvalidValue` unless a value is an id of EC2 of this kind; tokens and `None` pass.

    Args:
        what: How the message names the value.
        value: The value.
        kind: What the id begins with: `subnet`, `sg` or `vpc`.
    """
    if value is None or is_token(value) or (isinstance(value, str) and re.fullmatch(rf"{kind}-[0-9a-z]+", value)):
        return
    raise InvalidValue(f"{what} is {value!r}", f"use an id such as {kind}-0123456789abcdef0")


def check_block(what: str, value: object) -> None:
    """Raises `InvalidValue` unless a value is an IPv4 block that a subnet or VPC can have; tokens and `None` pass."""
    if value is None or is_token(value):
        return
    block = as_block(value if isinstance(value, str) else str(value))
    if block is None or not is_of_legal_size(block):
        fix = f"use an IPv4 block of /{WIDEST_BLOCK} to /{NARROWEST_BLOCK}, such as 10.1.0.0/20"
        raise InvalidValue(f"{what} is {value!r}", fix)


def is_of_legal_size(block: IPv4Network) -> bool:
    """Whether a subnet, and a VPC, can have a block so wide."""
    return WIDEST_BLOCK <= block.prefixlen <= NARROWEST_BLOCK


def as_block(cidr: str | Unknown | None) -> IPv4Network | None:
    """A text as an IPv4 block, with host bits cleared as EC2 does; `None` where it is not known or none."""
    try:
        return IPv4Network(cidr, strict=False) if isinstance(cidr, str) else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a security group.

    Attributes:
        direction: `ingress` or `egress`.
        protocol: `-1` for all, or a name or number such as `tcp`.
        from_port: First port; `None` for all ports.
        to_port: Last port; `None` for all ports.
        group: Path or id of the peer security group.
        cidr: Peer block.
        path: Path of the rule where it is a resource of its own.
    """

    direction: Literal["ingress", "egress"]
    protocol: str | Unknown
    from_port: int | Unknown | None = None
    to_port: int | Unknown | None = None
    group: str | Unknown | None = None
    cidr: str | Unknown | None = None
    path: str | None = None

    def covers(self, protocol: str, port: int) -> bool:
        """Whether the rule lets this protocol and port through, as far as known."""
        if self.protocol == "-1":
            return True
        if self.protocol != protocol:
            return False
        low = self.from_port if isinstance(self.from_port, int) else 0
        high = self.to_port if isinstance(self.to_port, int) else 65535
        return low <= port <= high


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroup:
    """A security group of the deployment with all rules that the deployment gives it.

    Attributes:
        path: Construct path.
        rules: Its rules, inline and separate ones.
        complete: Whether every rule is known; an undecidable condition or intrinsic makes it false.
        vpc: What tells its VPC from others, as for a subnet.
    """

    path: str
    rules: tuple[Rule, ...] = ()
    complete: bool = True
    vpc: str | Unknown | None = None
