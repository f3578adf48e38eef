"""Where nodes stand and who may talk to them."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final, Literal

from hyperpod_constructs.tokens import Unknown

RESERVED_ADDRESSES: Final = 5
"""Addresses that AWS keeps of every subnet. Source: VPC user guide, subnet sizing."""


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
class Subnet:
    """A subnet of the deployment, or an imported one of which more than the id is known.

    Attributes:
        path: Construct path, or id of an imported subnet.
        zone: Zone id, for example `usw2-az2`.
        cidr: IPv4 block.
        public: Whether instances get a public address.
    """

    path: str
    zone: str | Unknown | None = None
    cidr: str | Unknown | None = None
    public: bool | Unknown = False

    @property
    def addresses(self) -> int | None:
        """IPv4 addresses that instances can have; `None` where the block is not known."""
        if not isinstance(self.cidr, str):
            return None
        try:
            return max(0, IPv4Network(self.cidr, strict=False).num_addresses - RESERVED_ADDRESSES)
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
    """

    path: str
    rules: tuple[Rule, ...] = ()
    complete: bool = True
