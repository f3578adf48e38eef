"""What can be known about subnets and the blocks of a VPC before anything is created.

A cluster's subnets can never be changed, and a block that does not fit is refused while everything else is being built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import combinations
from typing import Final

from hyperpod_constructs.catalog import limits, regions, zones
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import NARROWEST_BLOCK, WIDEST_BLOCK, Subnet, as_block, is_of_legal_size
from hyperpod_constructs.model.routing import Vpc, VpcBlock
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._places import PREREQUISITES, is_all_known, known_subnets, placements
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.tokens import UNKNOWN

_USUAL_BLOCKS: Final = 5
"""Quota of IPv4 blocks of a VPC, its first one included. Source: VPC user guide, amazon-vpc-limits."""
_KINDS: Final = {"subnet": "a subnet", "sg": "a security group", "vpc": "a VPC"}
_IDS: Final = {"subnet": "subnet-0123456789abcdef0", "sg": "sg-0123456789abcdef0"}
_ID: Final = re.compile(r"(?P<kind>[a-z]{2,10})-[0-9a-f]{8,17}")
_SIZES: Final = f"a /{WIDEST_BLOCK} to /{NARROWEST_BLOCK}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _TakenRange:
    """Addresses that software of the nodes uses for itself.

    Attributes:
        block: The addresses.
        by: What uses them.
    """

    block: IPv4Network
    by: str


_TAKEN: Final = (
    _TakenRange(block=IPv4Network("172.17.0.0/16"), by="Docker's bridge on each node"),
    _TakenRange(block=IPv4Network("172.16.0.0/12"), by="more Docker networks and, by one report, agents of HyperPod"),
    _TakenRange(block=IPv4Network("198.18.0.0/15"), by="agents of HyperPod, by one report"),
)


# --- Placement


@rule(
    "HP4005",
    Severity.ERROR,
    title="Nodes stand in a public subnet",
    because="HyperPod refuses subnets that give out public addresses, and EC2 cannot give one to a node with several "
    "network interfaces",
    source=f"{PREREQUISITES}; awslabs/awsome-distributed-ai, validate-config.py",
)
def subnets_are_private(deployment: Deployment) -> Iterator[Problem]:
    owners: dict[str, list[tuple[str, str]]] = {}
    for path, owner, placement in placements(deployment):
        for subnet in known_subnets(deployment, placement.subnets):
            if subnet.public is True:
                owners.setdefault(subnet.path, []).append((path, owner))
    for subnet_path, users in owners.items():
        # An imported subnet stands nowhere in the input.
        here = subnet_path in deployment.locations or not deployment.locations
        names = dict.fromkeys(owner for _, owner in users)
        yield Problem(
            path=subnet_path if here else users[0][0],
            message=f"{all_of(names)} stand{'s' * (len(names) == 1)} in subnet {subnet_path}, which gives out public "
            "addresses (MapPublicIpOnLaunch)",
            fix="let nodes stand in a private subnet: MapPublicIpOnLaunch false, and a route to a NAT gateway or VPC "
            "endpoints; in the CDK SubnetType.PRIVATE_WITH_EGRESS",
        )


@rule(
    "HP4009",
    Severity.ERROR,
    title="Placement has no or too many subnets or security groups",
    because="the service refuses the request",
    source="SageMaker API, VpcConfig (botocore 1.44.8)",
)
def placement_has_a_legal_size(deployment: Deployment) -> Iterator[Problem]:
    for path, owner, placement in placements(deployment):
        for (what, name), given, limit in (
            (("subnets", "Subnets"), placement.subnets, limits.SUBNETS),
            (("security groups", "SecurityGroupIds"), placement.security_groups, limits.SECURITY_GROUPS),
        ):
            # What is decided at deploy may also be left out there.
            certain = sum(each is not UNKNOWN for each in given) if isinstance(given, tuple) else 0
            if certain > limit.high or given == ():
                message = f"{owner} has {certain} {what}"
                yield Problem(path=path, message=message, fix=f"name {limit.low:.0f} to {limit.high:.0f} in {name}")


@rule(
    "HP4011",
    Severity.WARNING,
    title="Network reaches another stack through a weak reference",
    because="CloudFormation does not hold in place what Fn::GetStackOutput reads: the other stack may replace a subnet "
    "or security group in use, and the next deploy of this one replaces the cluster, or the file system with its data",
    source="inferred from CloudFormation's semantics of Fn::GetStackOutput and of exports",
)
def networks_are_held_in_place(deployment: Deployment) -> Iterator[Problem]:
    users = [(path, owner, placement.weak) for path, owner, placement in placements(deployment)]
    users += [(each.path, "the file system", each.weak) for each in deployment.file_systems]
    for path, owner, weak in users:
        if weak:
            yield Problem(
                path=path,
                message=f"{owner} has {' and '.join(weak)} through Fn::GetStackOutput",
                fix="put both into one stack, or make the reference strong: an export and Fn::ImportValue, in the CDK "
                "apply_cross_stack_reference_strength on this resource",
            )


def _lists(deployment: Deployment) -> Iterator[tuple[str, str, object, object]]:
    """Path, owner, subnets and security groups of everything that stands in a network."""
    for path, owner, each in placements(deployment):
        yield path, owner, each.subnets, each.security_groups
    for file_system in deployment.file_systems:
        yield file_system.path, "the file system", file_system.subnets, file_system.security_groups


def _kind_of_text(text: str) -> str | None:
    """What a text certainly is instead of an id that a list of subnets or security groups could have."""
    if match := _ID.fullmatch(text):
        return _KINDS.get(match["kind"], f"an id of another kind ({match['kind']}-)")
    if text.startswith("arn:"):
        return "an ARN"
    if "," in text:
        return "a list in one text"
    if "/" in text and as_block(text) is not None:
        return "a block of addresses"
    return "a zone" if regions.is_zone_id(text) or zones.is_zone_name(text) else None


@rule(
    "HP4021",
    Severity.ERROR,
    title="List of subnets or security groups names something else",
    because="the service refuses what is no id of the right kind",
    source="SageMaker API, VpcConfig, and FSx API, CreateFileSystem (botocore 1.44.8)",
)
def lists_name_what_they_should(deployment: Deployment) -> Iterator[Problem]:
    kinds = {vpc.path: "a VPC" for vpc in deployment.routing.vpcs}
    kinds |= {subnet.path: _KINDS["subnet"] for subnet in deployment.subnets}
    kinds |= {group.path: _KINDS["sg"] for group in deployment.security_groups}
    for path, owner, subnets, security_groups in _lists(deployment):
        for what, given, right in (("subnets", subnets, "subnet"), ("security groups", security_groups, "sg")):
            for each in given if isinstance(given, tuple) else ():
                kind = kinds.get(each) or _kind_of_text(each) if isinstance(each, str) else None
                if kind is not None and kind != _KINDS[right]:
                    message = f"{owner} has {each}, which is {kind}, among its {what}"
                    yield Problem(path=path, message=message, fix=f"name {what} there, by ids such as {_IDS[right]}")


@rule(
    "HP4040",
    Severity.WARNING,
    title="List of subnets or security groups names one thing twice",
    because="the second mention adds nothing where the service takes it, which no page says; mostly another was meant",
    source="SageMaker API, VpcConfig (botocore 1.44.8), says nothing of it: not tried against AWS",
)
def lists_name_things_once(deployment: Deployment) -> Iterator[Problem]:
    for path, owner, subnets, security_groups in _lists(deployment):
        for what, given in (("subnets", subnets), ("security groups", security_groups)):
            names = [each for each in given if isinstance(each, str)] if isinstance(given, tuple) else []
            for twice in (name for name in dict.fromkeys(names) if names.count(name) > 1):
                message = f"{owner} has {twice} {names.count(twice)} times among its {what}"
                yield Problem(path=path, message=message, fix="take one of them out, or name what was meant instead")


# --- Blocks of subnets


def _subnets_by_vpc(deployment: Deployment) -> dict[str, list[tuple[Subnet, IPv4Network]]]:
    """Subnets that are certain to be made, with their blocks, by what tells their VPC."""
    found: dict[str, list[tuple[Subnet, IPv4Network]]] = {}
    for subnet in deployment.subnets:
        if subnet.certain and isinstance(subnet.vpc, str) and subnet.block is not None:
            found.setdefault(subnet.vpc, []).append((subnet, subnet.block))
    return found


@rule(
    "HP4015",
    Severity.ERROR,
    title="Blocks of two subnets overlap",
    because="EC2 refuses the second of them, after the first and half of the stack were built",
    source="VPC user guide, subnet sizing; sunilpp/hyperpod-quickstart, docs/troubleshooting/networking-issues.md",
)
def subnets_do_not_overlap(deployment: Deployment) -> Iterator[Problem]:
    for subnets in _subnets_by_vpc(deployment).values():
        for (one, its_block), (other, other_block) in combinations(subnets, 2):
            # Of an imported VPC two templates may be there by turns.
            made = any(vpc.path == one.vpc for vpc in deployment.routing.vpcs)
            if its_block.overlaps(other_block) and (made or is_all_known(deployment, one.path, other.path)):
                yield Problem(
                    path=other.path,
                    message=f"subnet {other.path} {other.cidr} overlaps {one.path} {one.cidr} of the same VPC",
                    fix="give each of them a CidrBlock of its own",
                )


@rule(
    "HP4016",
    Severity.ERROR,
    title="Block of a subnet is too wide, too narrow or not in its VPC",
    because="EC2 refuses it",
    source="VPC user guide, subnet sizing",
)
def subnets_lie_in_their_vpc(deployment: Deployment) -> Iterator[Problem]:
    vpcs = {vpc.path: vpc for vpc in deployment.routing.vpcs}
    for subnet in deployment.subnets:
        block = subnet.block
        if block is None:
            continue
        if not is_of_legal_size(block):
            message = f"subnet {subnet.cidr} is a /{block.prefixlen}"
            yield Problem(path=subnet.path, message=message, fix=f"use {_SIZES}")
            continue
        vpc = vpcs.get(subnet.vpc) if isinstance(subnet.vpc, str) else None
        blocks = _all_blocks(vpc) if vpc and is_all_known(deployment, subnet.path, vpc.path) else []
        if blocks and not any(block.subnet_of(each) for each in blocks):
            yield Problem(
                path=subnet.path,
                message=f"subnet {subnet.cidr} does not lie in its VPC, which has {all_of(map(str, blocks))}",
                fix="use a CidrBlock within one of those, or add a block to the VPC with AWS::EC2::VPCCidrBlock",
            )


@rule(
    "HP4041",
    Severity.WARNING,
    title="Imported subnet does not lie in the block that is given for its VPC",
    because="one of the blocks is mostly a slip, and constructs take the VPC's for what reaches the nodes; a VPC may "
    "have more blocks than one",
    source="VPC user guide, VPC CIDR blocks",
)
def imported_subnets_lie_in_their_vpc(deployment: Deployment) -> Iterator[Problem]:
    for subnet in deployment.subnets:
        block, around = subnet.block, as_block(subnet.vpc_cidr)
        if block is not None and around is not None and not block.subnet_of(around):
            yield Problem(
                path=subnet.path,
                message=f"subnet {subnet.path} {subnet.cidr} does not lie in {subnet.vpc_cidr}, the block that is "
                "given for its VPC",
                fix="see what `aws ec2 describe-subnets` and describe-vpcs print; if the VPC has several blocks, leave "
                "vpc_cidr out",
            )


def _all_blocks(vpc: Vpc) -> list[IPv4Network]:
    """The blocks of a VPC, if every one of them is known; else none."""
    if not vpc.complete:
        return []
    known = [block for each in vpc.blocks if (block := as_block(each.cidr)) is not None]
    return known if len(known) == len(vpc.blocks) else []


@rule(
    "HP4019",
    Severity.WARNING,
    title="Subnet of nodes lies in addresses that software of the nodes uses for itself",
    because="what a node takes for its own containers it does not send out: other nodes, file systems or endpoints at "
    "such addresses cannot be reached from it",
    source="Docker documentation, bridge network (172.17.0.0/16); sunilpp/hyperpod-quickstart commit 942394ea for the "
    "other ranges: one report, not verified",
)
def subnets_avoid_ranges_of_the_nodes(deployment: Deployment) -> Iterator[Problem]:
    lists = [placement.subnets for _, _, placement in placements(deployment)]
    lists += [file_system.subnets for file_system in deployment.file_systems]
    used = {subnet.path for paths in lists for subnet in known_subnets(deployment, paths)}
    for subnet in deployment.subnets:
        block = subnet.block
        taken = next((each for each in _TAKEN if block and subnet.path in used and block.overlaps(each.block)), None)
        if taken is not None:
            yield Problem(
                path=subnet.path,
                message=f"subnet {subnet.cidr} lies in {taken.block}, which {taken.by} may use",
                fix="use a block within 10.0.0.0/8, or set the node's software to other addresses before it starts",
            )


# --- Blocks of VPCs


def _block_faults(vpc: Vpc) -> Iterator[tuple[VpcBlock, str, str]]:
    """Block, message and fix of each block that EC2 refuses."""
    known = [(each, block) for each in vpc.blocks if (block := as_block(each.cidr)) is not None]
    for each, block in known:
        if not is_of_legal_size(block):
            yield each, f"VPC block {each.cidr} is a /{block.prefixlen}", f"use {_SIZES}"
    for (one, its_block), (other, other_block) in combinations(known, 2):
        if its_block.overlaps(other_block):
            yield other, f"VPC block {other.cidr} overlaps {one.cidr}", "use blocks that do not overlap"


@rule(
    "HP4017",
    Severity.ERROR,
    title="Block of a VPC is too wide, too narrow or overlaps another of its blocks",
    because="EC2 refuses it",
    source="VPC user guide, VPC CIDR blocks; sunilpp/hyperpod-quickstart, docs/troubleshooting/networking-issues.md",
)
def vpc_blocks_can_be_had(deployment: Deployment) -> Iterator[Problem]:
    for vpc in deployment.routing.vpcs:
        for block, message, fix in _block_faults(vpc):
            yield Problem(path=block.path, message=message, fix=fix)


@rule(
    "HP4018",
    Severity.WARNING,
    title="VPC has more blocks than the usual quota",
    because="the quota 'IPv4 CIDR blocks per VPC' begins at 5, the first block included; it can be raised to 50",
    source="VPC user guide, amazon-vpc-limits; sunilpp/hyperpod-quickstart, docs/troubleshooting/networking-issues.md",
)
def vpc_blocks_fit_the_usual_quota(deployment: Deployment) -> Iterator[Problem]:
    for vpc in deployment.routing.vpcs:
        certain = [each for each in vpc.blocks if each.cidr is not UNKNOWN]
        if len(certain) > _USUAL_BLOCKS:
            yield Problem(
                path=vpc.path,
                message=f"the VPC has {len(certain)} IPv4 blocks; the quota is {_USUAL_BLOCKS} unless it was raised",
                fix="use fewer and wider blocks, or raise the quota before the deploy",
            )
