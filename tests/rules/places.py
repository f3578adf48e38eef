"""Places that tests of rules about networks share."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.model.network import Rule, Subnet, VpcPlacement

IN = Rule(direction="ingress", protocol="-1", group="Net/Group")
OUT = Rule(direction="egress", protocol="-1", group="Net/Group")
ANYWHERE = Rule(direction="egress", protocol="-1", cidr="0.0.0.0/0")
SMALL = Subnet(path="Net/Nodes", zone="usw2-az2", cidr="10.1.0.0/24")


def placed(*subnets: str, groups: tuple[str, ...] = ("Net/Group",)) -> VpcPlacement:
    return VpcPlacement(subnets=subnets, security_groups=groups)


def subnet(path: str, zone: Any = "usw2-az2", cidr: Any = "10.1.0.0/24", **fields: Any) -> Subnet:
    return Subnet(path=path, zone=zone, cidr=cidr, **fields)
