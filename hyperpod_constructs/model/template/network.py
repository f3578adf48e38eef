"""Subnets and security groups, with the rules that are resources of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Final, Literal, TypeAlias

from hyperpod_constructs.cloudformation.values import Reference
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model._reading import Fields, Node, otherwise
from hyperpod_constructs.model.network import Rule, SecurityGroup, Subnet, ZoneName
from hyperpod_constructs.model.template.resources import Found, Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown

Direction: TypeAlias = Literal["ingress", "egress"]

_PROTOCOLS = {"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6", "all": "-1"}
"""Names that EC2 itself shows for protocol numbers. Source: EC2 API, IpPermission."""

_DEFAULT_EGRESS = Rule(direction="egress", protocol="-1", cidr="0.0.0.0/0")
"""What EC2 gives a group that is created without egress rules. Source: AWS::EC2::SecurityGroupEgress reference."""


def subnets(resources: Resources, region: str | None) -> tuple[Subnet, ...]:
    """The subnets of an assembly.

    Args:
        resources: Where to find them.
        region: Region of stacks that do not fix theirs.
    """
    return tuple(
        found.properties.build(
            Subnet,
            _SUBNET,
            path=found.path,
            zone_name=_zone_name(found),
            vpc=identity(found, "VpcId"),
            region=found.resource.stack.region or region,
            certain=found.certain,
            complete=found.unchanged,
            after=resources.created_before(found),
        )
        for found in resources.of("AWS::EC2::Subnet")
    )


def identity(found: Found, name: str) -> str | Unknown | None:
    """What tells the thing that a property names from others: path, id, or in one stack how it is written.

    What is written alike in one stack is the same there, even if only the deploy knows what it is.
    """
    path, written = found.properties[name].path(), _written(found, name)
    reference, stack = found.properties[name].value, found.resource.stack
    if isinstance(reference, Reference) and isinstance(path, str) and path.endswith(".VpcId"):
        # Groups and subnets have this attribute too; there it names their VPC and not themselves.
        named = stack.resource(reference.logical_id) if reference.stack == stack.id else None
        path = path.removesuffix(".VpcId") if named and named.type == "AWS::EC2::VPC" else path
    if path is not UNKNOWN or written is None:
        return path
    return f"{stack.id}: {json.dumps(written, sort_keys=True, default=str)}"


def security_groups(resources: Resources) -> tuple[SecurityGroup, ...]:
    """The security groups of an assembly with all of their rules, also those that come with a VPC or EKS cluster."""
    groups = {found.path: _group(found) for found in resources.of("AWS::EC2::SecurityGroup")}
    for found in resources.of("AWS::EC2::SecurityGroupVpcAssociation"):
        # It lets a group be used in a second VPC.
        shared = found.properties["GroupId"].path()
        taken = [*groups] if shared is UNKNOWN else [shared] if shared in groups else []
        groups |= {path: replace(groups[path], vpc=UNKNOWN) for path in taken}
    groups |= {group.path: group for group in _implied(resources)}
    separate: dict[str, list[Rule]] = {}
    undecided: set[str | Unknown | None] = set()
    for found, direction in _separate_rules(resources):
        # A group of the default VPC can be named by its name, which tells nothing here.
        group = UNKNOWN if found.properties["GroupName"].given else found.properties["GroupId"].path()
        if isinstance(group, str) and found.certain and isinstance(found.properties.value, dict):
            separate.setdefault(group, []).append(replace(_rule(found.properties, direction), path=found.path))
        else:
            undecided.add(group)
    everywhere = UNKNOWN in undecided  # a rule that may belong to any group
    return tuple(
        _with_separate(group, separate.get(path, []), known=not everywhere and path not in undecided)
        for path, group in groups.items()
    )


def _zone(node: Node) -> str | Unknown | None:
    """The zone id. A zone's name means another zone in every account, so it does not tell."""
    zone = node["AvailabilityZoneId"].text()
    return UNKNOWN if zone is None and node["AvailabilityZone"].given else zone


def _zone_name(found: Found) -> ZoneName | None:
    """The zone by its name; by its place in the list of zones where a template chooses it there."""
    stack, name = found.resource.stack, found.properties["AvailabilityZone"].value
    if isinstance(name, str):
        return ZoneName(text=name, scope=f"names of {stack.account or stack.id}")
    written = _written(found, "AvailabilityZone")
    chosen = written.get("Fn::Select") if isinstance(written, Mapping) else None
    place, zones = chosen if isinstance(chosen, list) and len(chosen) == 2 else (None, None)  # noqa: PLR2004  # index, list
    if not str(place).isdecimal() or not isinstance(zones, Mapping) or "Fn::GetAZs" not in zones:
        return None
    of = zones["Fn::GetAZs"]
    scope = "" if of in ("", {"Ref": "AWS::Region"}) else json.dumps(of, sort_keys=True, default=str)
    text = f"zone {int(str(place)) + 1} of Fn::GetAZs"
    return ZoneName(text=text, scope=f"zones of {stack.id} {scope}", literal=False)


def _written(found: Found, name: str) -> object:
    """A property as it stands in the template, with its intrinsics."""
    resource = found.resource
    properties = resource.stack.document.body["Resources"][resource.logical_id].get("Properties")
    return properties.get(name) if isinstance(properties, Mapping) else None


def _check_block(what: str, value: object) -> None:
    try:
        if isinstance(value, str):
            IPv4Network(value, strict=False)
    except ValueError as error:
        raise InvalidValue(f"{what} is {value!r} ({error})", "use an IPv4 block such as 10.1.0.0/16") from None


def _separate_rules(resources: Resources) -> list[tuple[Found, Direction]]:
    return [
        *((found, "ingress") for found in resources.of("AWS::EC2::SecurityGroupIngress")),
        *((found, "egress") for found in resources.of("AWS::EC2::SecurityGroupEgress")),
    ]


def _group(found: Found) -> SecurityGroup:
    """A group with its inline rules, as far as they are known."""
    ingress = _inline(found.properties["SecurityGroupIngress"], "ingress")
    egress = _inline(found.properties["SecurityGroupEgress"], "egress")
    rules = tuple(rule for rule in (*ingress, *egress) if rule is not UNKNOWN)
    complete = found.unchanged and len(rules) == len(ingress) + len(egress)
    return SecurityGroup(path=found.path, rules=rules, complete=complete, vpc=identity(found, "VpcId"))


def _implied(resources: Resources) -> Iterator[SecurityGroup]:
    """The default group of each VPC and the group that EKS makes for each of its clusters.

    Source: VPC user guide, default security groups; EKS user guide, sec-group-reqs.
    """
    for found in resources.of("AWS::EC2::VPC"):
        path = f"{found.path}.DefaultSecurityGroup"
        inside = Rule(direction="ingress", protocol="-1", group=path)
        yield SecurityGroup(path=path, rules=(inside, _DEFAULT_EGRESS), complete=found.unchanged, vpc=found.path)
    for found in resources.of("AWS::EKS::Cluster"):
        path = f"{found.path}.ClusterSecurityGroupId"
        inside = Rule(direction="ingress", protocol="-1", group=path)
        out = Rule(direction="egress", protocol="-1", group=path)
        yield SecurityGroup(path=path, rules=(inside, out, _DEFAULT_EGRESS), complete=found.unchanged)


def _inline(node: Node, direction: Direction) -> tuple[Rule | Unknown, ...]:
    """Rules of one direction; `UNKNOWN` stands for those that are not known."""
    rules = node.each(lambda item: item.optional(lambda given: _rule(given, direction)))
    return (UNKNOWN,) if rules is UNKNOWN else rules


def _with_separate(group: SecurityGroup, separate: list[Rule], *, known: bool) -> SecurityGroup:
    """The group with the rules that are resources of their own, and with EC2's default egress if it has no other."""
    rules = (*group.rules, *separate)
    complete = group.complete and known
    if complete and not any(rule.direction == "egress" for rule in rules):
        rules = (*rules, _DEFAULT_EGRESS)
    return replace(group, rules=rules, complete=complete)


def _rule(node: Node, direction: Direction) -> Rule:
    return node.build(Rule, _RULES[direction], direction=direction)


def _protocol(node: Node) -> str | Unknown | None:
    protocol = node.must(Node.text)
    return _PROTOCOLS.get(protocol.lower(), protocol.lower()) if isinstance(protocol, str) else protocol


def _port(node: Node) -> int | Unknown | None:
    port = node.whole()
    return None if port == -1 else port


def _block(node: Node, prefix_list: str) -> str | Unknown | None:
    """The peer block; a prefix list holds blocks that the template does not tell."""
    for name in ("CidrIp", "CidrIpv6"):
        if node[name].given:
            return node[name].text()
    return UNKNOWN if node[prefix_list].given else None


def _source(node: Node) -> str | Unknown | None:
    """The peer group; its name, which works in the default VPC alone, tells nothing."""
    return UNKNOWN if node["SourceSecurityGroupName"].given else node["SourceSecurityGroupId"].path()


def _ingress_block(node: Node) -> str | Unknown | None:
    return _block(node, "SourcePrefixListId")


def _egress_block(node: Node) -> str | Unknown | None:
    return _block(node, "DestinationPrefixListId")


def _cidr(node: Node) -> str | Unknown | None:
    return node.checked(_check_block)


_SUBNET: Final[Fields] = {
    "zone": ("", _zone),
    "cidr": ("CidrBlock", _cidr),
    "public": ("MapPublicIpOnLaunch", otherwise(Node.flag, default=False)),
}
_PROTOCOL_AND_PORTS: Final[Fields] = {
    "protocol": ("IpProtocol", _protocol),
    "from_port": ("FromPort", _port),
    "to_port": ("ToPort", _port),
}
_RULES: Final[dict[Direction, Fields]] = {
    "ingress": {**_PROTOCOL_AND_PORTS, "group": ("", _source), "cidr": ("", _ingress_block)},
    "egress": {**_PROTOCOL_AND_PORTS, "group": ("DestinationSecurityGroupId", Node.path), "cidr": ("", _egress_block)},
}
