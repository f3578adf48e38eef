"""What can be known about security groups before anything is created.

Their faults show only after an hour, as a failed health check, as a mount that hangs or as nodes that do not come.
Imported groups are judged by nothing but what is known of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal

from hyperpod_constructs.catalog import lustre
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Rule, SecurityGroup, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._places import PREREQUISITES, has_efa, let_wait, waits_for
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.tokens import UNKNOWN

_Direction = Literal["ingress", "egress"]
_DIRECTIONS: Final[tuple[_Direction, _Direction]] = ("ingress", "egress")
_SELF_RULES: Final = {
    "ingress": "an AWS::EC2::SecurityGroupIngress with this group as GroupId and SourceSecurityGroupId and with "
    "IpProtocol -1 (in the CDK: group.add_ingress_rule(group, ec2.Port.all_traffic()))",
    "egress": "an AWS::EC2::SecurityGroupEgress with this group as GroupId and DestinationSecurityGroupId and with "
    "IpProtocol -1 (in the CDK: ec2.CfnSecurityGroupEgress, because allow_all_outbound drops add_egress_rule)",
}
"""The rules for EFA by direction, as somebody has to write them."""
_USUAL_RULES: Final = 60
"""Quota of rules for each direction and kind of address. Source: VPC user guide, amazon-vpc-limits."""

# --- EFA


def _checks_efa(group: InstanceGroup) -> bool:
    """Whether the nodes of a group are known to go through the EFA check: accelerated ones, and where EFA is chosen."""
    chosen = isinstance(group.network_interface, str) or all(facts.is_accelerated for facts in group.possible_facts)
    return has_efa(group) and chosen and group.instances != 0


def _efa_security_groups(deployment: Deployment) -> Iterator[tuple[Cluster, SecurityGroup, list[InstanceGroup]]]:
    """Known security groups of nodes whose EFA is checked, by cluster, with the instance groups that use them."""
    for cluster in deployment.clusters:
        users: dict[str, list[InstanceGroup]] = {}
        for group in cluster.groups:
            placement = cluster.placement_of(group)
            if not _checks_efa(group) or not isinstance(placement, VpcPlacement):
                continue
            for path in placement.security_groups if isinstance(placement.security_groups, tuple) else ():
                if isinstance(path, str):
                    users.setdefault(path, []).append(group)
        for path, groups in users.items():
            security_group = deployment.security_group(path)
            if security_group is not None:
                yield cluster, security_group, groups


def _efa_users(deployment: Deployment) -> Iterator[tuple[SecurityGroup, list[str]]]:
    """Known security groups of nodes and file systems with EFA, each once, with how a message names those."""
    users: dict[str, list[str]] = {}
    for _, security_group, groups in _efa_security_groups(deployment):
        users.setdefault(security_group.path, []).append(named(*groups))
    for file_system in deployment.file_systems:
        its_groups = file_system.security_groups if isinstance(file_system.security_groups, tuple) else ()
        for path in its_groups if file_system.lustre.efa is True else ():
            if isinstance(path, str):
                users.setdefault(path, []).append(f"file system {file_system.path}")
    for path, names in users.items():
        shared = deployment.security_group(path)
        if shared is not None:
            yield shared, names


def _refused(security_group: SecurityGroup, direction: _Direction) -> str | None:
    """Why a rule that looks like the one for EFA is not; `None` where none does."""
    rules = [each for each in security_group.rules if each.direction == direction]
    narrow = [_traffic(each) for each in rules if each.group == security_group.path]
    if narrow:
        return f"its {direction} rule for itself passes {all_of(dict.fromkeys(narrow))} only, not all traffic"
    blocks = [each.cidr for each in rules if each.protocol == "-1" and isinstance(each.cidr, str)]
    return f"{all_of(dict.fromkeys(blocks))} does not count as itself" if blocks else None


def _self_rules(security_group: SecurityGroup, direction: _Direction) -> list[Rule]:
    """Rules that let everything through between members of a group, or that may do so as far as known."""
    return [
        each
        for each in security_group.rules
        if each.direction == direction
        and each.protocol in {"-1", UNKNOWN}
        and each.group in {security_group.path, UNKNOWN}
    ]


@rule(
    "HP4001",
    Severity.ERROR,
    title="Security group with EFA does not let all traffic in from itself and out to itself",
    because="EFA traffic of nodes and file systems passes only rules that name the security group itself, both ways "
    "and on every group of the list; a CIDR rule does not count, and the CDK drops a self egress rule beside "
    "allow_all_outbound",
    source=f"{PREREQUISITES}; FSx for Lustre user guide, efa-file-systems; awslabs/awsome-distributed-ai, "
    "validate-config.py and PR 259",
)
def efa_passes_security_groups(deployment: Deployment) -> Iterator[Problem]:
    for security_group, users in _efa_users(deployment):
        comes_in, goes_out = _self_rules(security_group, "ingress"), _self_rules(security_group, "egress")
        if not security_group.complete or (comes_in and goes_out):
            continue
        missing = [each for each, there in zip(_DIRECTIONS, (comes_in, goes_out), strict=True) if not there]
        if comes_in:
            does = "lets EFA traffic in from itself but not out to itself"
        elif goes_out:
            does = "lets EFA traffic out to itself but not in from itself"
        else:
            does = "lets EFA traffic neither in from itself nor out to itself"
        reasons = [reason for direction in missing if (reason := _refused(security_group, direction))]
        yield Problem(
            path=security_group.path,
            message=f"security group of {all_of(users)} {does}{': ' if reasons else ''}{'; '.join(reasons)}",
            fix=f"add {' and '.join(_SELF_RULES[direction] for direction in missing)}",
        )


@rule(
    "HP4002",
    Severity.WARNING,
    title="Cluster does not wait for the rules that EFA needs",
    because="rules that are resources of their own may come after the cluster, and then its EFA check fails",
    source="inferred from CloudFormation's order of creation; EFA health check of SageMaker HyperPod",
)
def cluster_waits_for_efa_rules(deployment: Deployment) -> Iterator[Problem]:
    for cluster, security_group, groups in _efa_security_groups(deployment):
        both = [_self_rules(security_group, direction) for direction in _DIRECTIONS]
        undecided = any(UNKNOWN in {each.protocol, each.group} for rules in both for each in rules)
        if not security_group.complete or undecided:
            continue
        late = [rules[0].path for rules in both if rules and not _is_in_time(deployment, cluster, rules)]
        paths = [path for path in late if path is not None]
        if paths:
            which = f"{' and '.join(_DIRECTIONS)} rules" if len(paths) > 1 else "rule"
            yield Problem(
                path=cluster.path,
                message=f"the cluster does not wait for {all_of(paths)}, the {which} for EFA of {named(*groups)}",
                fix=let_wait("the cluster", paths),
            )


def _is_in_time(deployment: Deployment, cluster: Cluster, rules: list[Rule]) -> bool:
    return any(waits_for(deployment, cluster.path, cluster.depends_on, each.path) for each in rules)


# --- Order


def _late_lustre_rules(deployment: Deployment, file_system: FileSystem, group: SecurityGroup) -> Iterator[str]:
    """Rules without which a group does not let Lustre's first port through, and which may come too late."""
    port = lustre.PORTS[0][0]
    for direction in _DIRECTIONS:
        rules = [each for each in group.rules if each.direction == direction]
        letting = [
            each
            for each in rules
            if (each.protocol is UNKNOWN or each.covers("tcp", port)) and each.group in {None, UNKNOWN, group.path}
        ]
        # EC2 lets everything out of a group that was made without egress rules.
        open_at_first = direction == "egress" and all(each.path is not None for each in rules)
        in_time = (waits_for(deployment, file_system.path, file_system.depends_on, each.path) for each in letting)
        if not open_at_first and not any(in_time):
            yield from (each.path for each in letting if each.path is not None)


@rule(
    "HP4037",
    Severity.WARNING,
    title="File system does not wait for the rules of its security group",
    because="FSx looks at its security groups when it is asked for a file system and refuses those that do not let "
    "Lustre through, and rules that are resources of their own may come later: the deploy then fails now and then",
    source="aws/aws-parallelcluster issue 6181",
)
def file_systems_wait_for_their_rules(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        its_groups = file_system.security_groups if isinstance(file_system.security_groups, tuple) else ()
        groups = [group for path in its_groups if (group := deployment.security_group(path)) is not None]
        late = [list(_late_lustre_rules(deployment, file_system, group)) for group in groups]
        # One group that lets Lustre through in time is enough, so all of them must be known, and late.
        if late and all(late) and len(groups) == len(its_groups) and all(group.complete for group in groups):
            paths = list(dict.fromkeys(path for each in late for path in each))
            yield Problem(
                path=file_system.path,
                message=f"the file system does not wait for {all_of(paths)}, without which its security group does not "
                f"let Lustre through",
                fix=let_wait("it", paths),
            )


# --- Rules that EC2 or CloudFormation do not take


@rule(
    "HP4020",
    Severity.ERROR,
    title="Security group names itself in a rule of its own",
    because="a resource cannot refer to itself: CloudFormation refuses the template as a circular dependency",
    source="AWS::EC2::SecurityGroup reference, SecurityGroupIngress and SecurityGroupEgress (circular references)",
)
def groups_do_not_hold_themselves(deployment: Deployment) -> Iterator[Problem]:
    for group in deployment.security_groups:
        # The group that comes with a VPC or EKS cluster has such rules, and no place in the template.
        inline = [each for each in group.rules if each.path is None and each.group == group.path]
        if inline and group.path in deployment.locations:
            directions = sorted({each.direction for each in inline}, reverse=True)
            kinds = " and ".join(f"AWS::EC2::SecurityGroup{each.capitalize()}" for each in directions)
            yield Problem(
                path=group.path,
                message=f"the security group names itself in its own {' and '.join(directions)} rules",
                fix=f"make each of them a resource of its own: {kinds}, with the group as GroupId and as peer",
            )


def _families(each: Rule) -> tuple[str, ...]:
    """The kinds of addresses in whose count a rule is; a peer that is no block counts in both."""
    if isinstance(each.cidr, str):
        return ("IPv6" if ":" in each.cidr else "IPv4",)
    return ("IPv4", "IPv6") if each.cidr is None else ()


@rule(
    "HP4038",
    Severity.WARNING,
    title="Security group has more rules than the usual quota",
    because="the quota 'Inbound or outbound rules per security group' begins at 60 for each direction and kind of "
    "address; a deploy that exceeds it fails half way",
    source="VPC user guide, amazon-vpc-limits; aws/aws-parallelcluster pulls 7191 and 7193",
)
def rules_fit_the_usual_quota(deployment: Deployment) -> Iterator[Problem]:
    for group in deployment.security_groups:
        counts = Counter((each.direction, family) for each in group.rules for family in _families(each))
        for direction in _DIRECTIONS:
            count, family = max((counts[direction, family], family) for family in ("IPv6", "IPv4"))
            if count > _USUAL_RULES:
                yield Problem(
                    path=group.path,
                    message=f"the security group has {count} {direction} rules for {family}; the quota is "
                    f"{_USUAL_RULES} unless it was raised",
                    fix="let one rule name a security group that all peers share, or raise the quota before the deploy",
                )


def _meaning(each: Rule) -> tuple[object, ...] | None:
    """What makes a rule the same as another; `None` where that is not known."""
    ports = () if each.protocol == "-1" else (each.from_port, each.to_port)
    meaning = (each.direction, each.protocol, *ports, each.group, each.cidr)
    return None if UNKNOWN in meaning or each.group is each.cidr is None else meaning


@rule(
    "HP4039",
    Severity.WARNING,
    title="Security group has one rule twice",
    because="EC2 keeps it once: the second request is an error that CloudFormation may or may not pass over, and when "
    "either of the two is taken out, the one rule that both stand for goes",
    source="EC2 API, AuthorizeSecurityGroupIngress; aws/aws-parallelcluster pulls 7191 and 7193",
)
def rules_are_given_once(deployment: Deployment) -> Iterator[Problem]:
    for group in deployment.security_groups:
        alike: dict[tuple[object, ...], list[Rule]] = {}
        for each in group.rules:
            if (meaning := _meaning(each)) is not None:
                alike.setdefault(meaning, []).append(each)
        for twice in alike.values():
            if len(twice) > 1:
                yield Problem(
                    path=group.path,
                    message=f"the {twice[0].direction} rule for {_shown(twice[0])} is there {len(twice)} times: "
                    f"{all_of(dict.fromkeys(each.path or 'in the group' for each in twice))}",
                    fix="keep one of them",
                )


def _shown(each: Rule) -> str:
    """A rule as a message calls it: `tcp 988 with 10.0.0.0/16`."""
    return f"{_traffic(each)} with {each.group or each.cidr}"


def _traffic(each: Rule) -> str:
    """What a rule lets through: `tcp 988`."""
    low, high = each.from_port, each.to_port
    ports = "" if low is None else f" {low}" if low == high else f" {low}-{high}"
    return "all traffic" if each.protocol == "-1" else f"{each.protocol}{ports}"
