"""Whether imported FSx file systems are there, near the nodes, and open to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final

from hyperpod_constructs.account.gateway.ec2 import Ec2, LiveSecurityGroup
from hyperpod_constructs.account.gateway.fsx import Fsx, LiveFileSystem
from hyperpod_constructs.account.preflight.context import Context, Placed
from hyperpod_constructs.account.preflight.registry import Learned, Said, check, finding, not_seen, rule
from hyperpod_constructs.cloudformation.values import Reference
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.network import as_block
from hyperpod_constructs.model.storage import Mount

_ID: Final = re.compile(r"(fs-[0-9a-f]{8,})\b")
_PORTS: Final = {"lustre": ((988, 988), (1018, 1023)), "openzfs": ((2049, 2049),)}
"""TCP ports, from and to, that clients of each kind need. Source: FSx user guides, limit-access-security-groups."""
_USABLE: Final = {"AVAILABLE", "UPDATING"}

ABSENT = rule(
    "HP9080",
    Severity.ERROR,
    title="Imported file system does not exist in the account and Region",
    because="nodes mount it when they start, and fail where it is not there; one of another account is not seen either",
    source="FSx API, DescribeFileSystems",
)
UNUSABLE = rule(
    "HP9081",
    Severity.ERROR,
    title="Imported file system is not available",
    because="nodes mount it when they start, and fail where it does not answer",
    source="FSx API, FileSystemLifecycle",
)
OTHER_VPC = rule(
    "HP9082",
    Severity.WARNING,
    title="Imported file system is in another VPC than the nodes",
    because="it is reached only where the VPCs are connected and both have routes; EFA does not cross VPCs",
    source="FSx for Lustre user guide, mounting-on-premises and efa-file-systems",
)
SHUT = rule(
    "HP9083",
    Severity.ERROR,
    title="Security group of an imported file system does not let the nodes in",
    because="the mount hangs until the lifecycle scripts run out of time",
    source="FSx for Lustre user guide, limit-access-security-groups",
)
OTHER_ZONE = rule(
    "HP9084",
    Severity.WARNING,
    title="Imported file system is in another zone than the nodes",
    because="all reads and writes then cross zones, which costs by the gigabyte and is slower",
    source="FSx for Lustre user guide, performance",
)
MISNAMED = rule(
    "HP9085",
    Severity.ERROR,
    title="Mount of an imported file system has another kind or mount name than it",
    because="Lustre is mounted by its mount name, and by no other; a mount of one kind does not take the other",
    source="FSx API, DescribeFileSystems",
)


@dataclass(frozen=True, slots=True)
class _Mounted:
    """An imported file system with the groups that mount it.

    Attributes:
        mount: As the first of the groups has it.
        groups: The groups.
    """

    mount: Mount
    groups: list[Placed]

    @property
    def path(self) -> str:
        """Where findings point."""
        return self.groups[0].path if len(self.groups) == 1 else self.groups[0].cluster.path


@check("file systems")
def file_systems_are_reached(context: Context) -> Iterator[Said]:
    mounted = _mounted(context)
    there = context.open(Fsx).file_systems(sorted(mounted))
    for each, use in mounted.items():
        if each not in there:
            message = f"there is no file system {each} in account {context.account}, {context.region}"
            yield finding(ABSENT, use.path, message, "check the DNS name, --region and --profile")
            continue
        system = there[each]
        yield Learned(
            section="file_systems",
            name=each,
            facts={"state": system.state, "vpc": system.vpc, "mount_name": system.mount_name},
        )
        if system.state not in _USABLE:
            message = f"{each} is {system.state}"
            yield finding(UNUSABLE, use.path, message, "deploy once it is AVAILABLE, or use another file system")
        elif wrong := _misnamed(use.mount, system):
            yield finding(MISNAMED, use.path, *wrong)
        else:
            yield from _is_near(context, use, system)


def _mounted(context: Context) -> dict[str, _Mounted]:
    """Imported file systems by id."""
    mounted: dict[str, _Mounted] = {}
    for placed in context.placed():
        for mount in placed.group.mounts if isinstance(placed.group.mounts, tuple) else ():
            match = _ID.match(mount.file_system) if isinstance(mount.file_system, str) else None
            if match:
                mounted.setdefault(match[1], _Mounted(mount, [])).groups.append(placed)
    return mounted


def _misnamed(mount: Mount, system: LiveFileSystem) -> tuple[str, str] | None:
    if system.kind != mount.kind.upper():
        return f"{system.id} is {system.kind}, the mount is for {mount.kind}", f"mount it as {system.kind.lower()}"
    name = mount.mount_name
    if isinstance(name, str) and system.mount_name and name != system.mount_name:
        return f"the mount name of {system.id} is {system.mount_name!r}, not {name!r}", f"use {system.mount_name!r}"
    return None


def _is_near(context: Context, use: _Mounted, system: LiveFileSystem) -> Iterator[Said]:
    vpcs = sorted({vpc for placed in use.groups for vpc in context.vpcs_of(placed)} - {system.vpc})
    if vpcs:
        message = f"{system.id} is in {system.vpc}, the nodes in {', '.join(vpcs)}"
        yield finding(OTHER_VPC, use.path, message, "use a file system in the VPC of the nodes, or connect the VPCs")
        return
    zones = {subnet.zone for subnet in context.open(Ec2).subnets(system.subnets).values()}
    elsewhere = sorted({zone for placed in use.groups for zone in context.zones_of(placed)} - zones)
    if zones and elsewhere and system.kind == "LUSTRE":
        message = f"{system.id} is in {', '.join(sorted(zones))}, the nodes in {', '.join(elsewhere)}"
        yield finding(OTHER_ZONE, use.path, message, "use a file system in the zone of the nodes")
    yield from _is_open(context, use, system)


def _is_open(context: Context, use: _Mounted, system: LiveFileSystem) -> Iterator[Said]:
    guards = context.open(Ec2).security_groups(context.open(Ec2).groups_of_interfaces(system.interfaces))
    if not guards:
        message = f"AWS shows no security group of {system.id}, so whether it lets the nodes in was not looked at"
        yield not_seen(use.path, message, f"look: aws fsx describe-file-systems --file-system-ids {system.id}")
        return
    ports = _PORTS[use.mount.kind]
    for placed in use.groups:
        if context.undecided(placed, "security_groups"):
            continue  # said elsewhere: what is not known may be let in
        shut = [
            f"{low}" if low == high else f"{low}-{high}"
            for low, high in ports
            if not all(_lets_in(context, guards, placed, port) for port in range(low, high + 1))
        ]
        if shut and (placed.security_groups or any(context.deployment.security_group(each) for each in placed.made)):
            yield _shut(context, sorted(guards), system, placed, shut)


def _shut(context: Context, guards: list[str], system: LiveFileSystem, placed: Placed, shut: list[str]) -> Said:
    made = [path for path in placed.made if context.deployment.security_group(path)]
    nodes = [*placed.security_groups, *made]
    source = next(iter(placed.security_groups), "GROUP")
    commands = "; ".join(
        f"aws ec2 authorize-security-group-ingress --region {context.region} --group-id {guards[0]} "
        f"--protocol tcp --port {span} --source-group {source}"
        for span in shut
    )
    fix = f"add a rule: {commands}"
    if not placed.security_groups:
        fix = f"add an ingress rule to {guards[0]} for {nodes[0]} in the app, or let the subnets of the nodes in"
    message = f"{', '.join(guards)} of {system.id} does not let {', '.join(nodes)} in on TCP {' and '.join(shut)}"
    return finding(SHUT, placed.path, message, fix)


def _lets_in(context: Context, guards: dict[str, LiveSecurityGroup], placed: Placed, port: int) -> bool:
    """Whether any group of a file system lets nodes in, by group, by block, or by a prefix list, which is not read.

    Where the block of a subnet is not known, any rule for a block may let its nodes in.
    """
    nodes = _blocks(context, placed)
    for each in (each for guard in guards.values() for each in guard.rules):
        if each.direction != "ingress" or not each.covers("tcp", port):
            continue
        if each.group in placed.security_groups or each.prefix_list:
            return True
        peers = as_block(each.cidr)
        if peers and (nodes is None or all(block.subnet_of(peers) for block in nodes)):
            return True
    return any(_adds(context, guard, placed) for guard in guards)


def _blocks(context: Context, placed: Placed) -> list[IPv4Network] | None:
    """Blocks of the subnets of a group; `None` where one is not known."""
    if context.undecided(placed, "subnets"):
        return None
    there = context.subnets()
    live = [as_block(there[each].cidr) if each in there else None for each in placed.subnets]
    made = [as_block(subnet.cidr) for path in placed.made if (subnet := context.deployment.subnet(path))]
    known = [block for block in (*live, *made) if block is not None]
    return known if known and len(known) == len(live) + len(made) else None


def _adds(context: Context, guard: str, placed: Placed) -> bool:
    """Whether the deployment adds a rule to a group of the file system itself, or may: what is not known may be."""
    for each in context.resources:
        if each.type != "AWS::EC2::SecurityGroupIngress" or not isinstance(each.properties, dict):
            continue
        group, source = (_group(context, each.properties.get(key)) for key in ("GroupId", "SourceSecurityGroupId"))
        if group in {guard, None} and (source is None or source in {*placed.security_groups, *placed.made}):
            return True
    return False


def _group(context: Context, value: object) -> str | None:
    """A security group by id, or by path where the deployment makes it; `None` where it is not known, or none."""
    if isinstance(value, Reference):
        made = (
            each for each in context.resources if (each.stack.id, each.logical_id) == (value.stack, value.logical_id)
        )
        return next((each.path for each in made if each.type == "AWS::EC2::SecurityGroup"), None)
    return value if isinstance(value, str) else None
