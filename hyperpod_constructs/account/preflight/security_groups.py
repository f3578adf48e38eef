"""Whether imported security groups are there, in the right VPC, and let EFA traffic pass among themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from hyperpod_constructs.account.gateway.ec2 import LiveSecurityGroup
from hyperpod_constructs.account.preflight.context import Context, Placed
from hyperpod_constructs.account.preflight.registry import Learned, Said, check, finding, rule
from hyperpod_constructs.findings import Severity

ABSENT = rule(
    "HP9070",
    Severity.ERROR,
    title="Imported security group does not exist in the account and Region",
    because="a cluster with a security group that is not there is refused",
    source="EC2 API, DescribeSecurityGroups",
)
NO_SELF_RULE = rule(
    "HP9071",
    Severity.ERROR,
    title="Imported security group of EFA nodes does not let all traffic in from itself and out to itself",
    because="EFA traffic passes only rules that name the security group itself, both ways and on every group of the "
    "list; the EFA health check fails otherwise",
    source="EC2 user guide, efa-start; awslabs/awsome-distributed-ai pull request 259",
)
OTHER_VPC = rule(
    "HP9072",
    Severity.ERROR,
    title="Imported security group belongs to another VPC than the subnets",
    because="network interfaces take security groups of their own VPC only",
    source="VPC user guide, vpc-security-groups",
)
NO_EGRESS = rule(
    "HP9073",
    Severity.ERROR,
    title="Imported security groups of nodes let nothing out",
    because="the nodes then fetch no scripts and reach neither AWS nor file systems, and the cluster fails",
    source="VPC user guide, security-group-rules",
)


@check("security groups")
def security_groups_fit(context: Context) -> Iterator[Said]:
    there, paths = context.security_groups(), context.users(lambda placed: placed.security_groups)
    for each, path in paths.items():
        if each not in there:
            message = f"there is no security group {each} in account {context.account}, {context.region}"
            yield finding(ABSENT, path, message, "check the id, --region and --profile")
            continue
        users = [placed for placed in context.placed() if each in placed.security_groups]
        yield Learned(section="security_groups", name=each, facts={"vpc": there[each].vpc, "owner": there[each].owner})
        in_one = [placed for placed in users if not _is_split(context, placed)]
        vpcs = sorted({vpc for placed in in_one for vpc in context.vpcs_of(placed)} - {there[each].vpc})
        if vpcs:
            message = f"{each} belongs to {there[each].vpc}, the subnets to {', '.join(vpcs)}"
            yield finding(OTHER_VPC, path, message, f"use a security group of {vpcs[0]}")
        elif any(_has_efa(placed) for placed in users):
            yield from _self_rules(context, there[each], path)
    yield from _let_out(context, there)


def _let_out(context: Context, there: dict[str, LiveSecurityGroup]) -> Iterator[Said]:
    """Groups of nodes without a rule for egress on any security group; with EFA their own rule says so."""
    for placed in context.placed():
        known = placed.security_groups and not context.undecided(placed, "security_groups")
        made = any(context.deployment.security_group(path) for path in placed.made)
        if not known or made or _has_efa(placed) or not all(each in there for each in placed.security_groups):
            continue
        live = [there[each] for each in placed.security_groups]
        if any(rule.direction == "egress" for group in live for rule in group.rules) or _adds_egress(context):
            continue
        names = ", ".join(placed.security_groups)
        command = (
            f"aws ec2 authorize-security-group-egress --region {context.region} --group-id {placed.security_groups[0]} "
            "--protocol all --cidr 0.0.0.0/0"
        )
        yield finding(NO_EGRESS, placed.path, f"{names}: no rule lets anything out", f"add one: {command}")


def _adds_egress(context: Context) -> bool:
    """Whether the deployment adds rules for egress to any group, perhaps to these."""
    return any(each.type == "AWS::EC2::SecurityGroupEgress" for each in context.resources)


def _self_rules(context: Context, group: LiveSecurityGroup, path: str) -> Iterator[Said]:
    lacking = [direction for direction in _DIRECTIONS if not _passes(context, group, direction)]
    if not lacking:
        return
    does = {"ingress": "let all traffic in from itself", "egress": "let all traffic out to itself"}
    commands = "; ".join(
        f"aws ec2 authorize-security-group-{direction} --region {context.region} --group-id {group.id} "
        f"--ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{{GroupId={group.id}}}]'"
        for direction in lacking
    )
    words = " nor ".join(does[direction] for direction in lacking)
    yield finding(NO_SELF_RULE, path, f"{group.id} does not {words}", f"add a rule that names the group: {commands}")


_DIRECTIONS: tuple[Literal["ingress", "egress"], ...] = ("ingress", "egress")


def _passes(context: Context, group: LiveSecurityGroup, direction: str) -> bool:
    """Whether all traffic passes between members of a group, by a rule that is there or that the deployment adds."""
    there = any(
        rule.direction == direction and rule.protocol == "-1" and rule.group == group.id for rule in group.rules
    )
    return there or _is_added(context, group.id, direction)


def _is_added(context: Context, group: str, direction: str) -> bool:
    """Whether the deployment adds such a rule to an imported group."""
    kind = f"AWS::EC2::SecurityGroup{direction.capitalize()}"
    peer = "SourceSecurityGroupId" if direction == "ingress" else "DestinationSecurityGroupId"
    wanted = {"GroupId": group, peer: group}
    return any(
        wanted.items() <= {name: each.properties.get(name) for name in wanted}.items()
        and str(each.properties.get("IpProtocol")) == "-1"
        for each in context.resources
        if each.type == kind and isinstance(each.properties, dict)
    )


def _is_split(context: Context, placed: Placed) -> bool:
    """Whether the cluster of a group lies in several VPCs, which its own rule says."""
    others = (each for each in context.placed() if each.cluster == placed.cluster)
    return len({vpc for each in others for vpc in context.vpcs_of(each)}) > 1


def _has_efa(placed: Placed) -> bool:
    """Whether nodes of a group may have EFA."""
    return any(facts.efa for facts in placed.group.possible_facts)
