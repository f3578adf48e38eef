"""Whether the quotas of the account are large enough, with what its other clusters take already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from hyperpod_constructs.account.gateway.ec2 import Ec2
from hyperpod_constructs.account.gateway.quotas import AppliedQuota, ServiceQuotas
from hyperpod_constructs.account.gateway.use import ClusterUse, GroupUse
from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import Learned, Said, check, finding, rule
from hyperpod_constructs.catalog import instances, limits
from hyperpod_constructs.catalog.limits import Quota
from hyperpod_constructs.cloudformation.stack import Resource
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.planning import quotas
from hyperpod_constructs.planning.quotas import NeededQuota

_SOURCE = "SageMaker developer guide, sagemaker-hyperpod-prerequisites and training-plan-quotas (October 2026)"
_SPOT_SUFFIX: Final = " for cluster spot instance usage"
_USAGE_SUFFIX: Final = " for cluster usage"
_RESERVED: Final = "reserved capacity"
_VPCS: Final = Quota(name="VPCs per Region", service="vpc", source="VPC user guide, amazon-vpc-limits")
_ADDRESSES: Final = Quota(name="EC2-VPC Elastic IPs", service="ec2", source="VPC user guide, amazon-vpc-limits")
_MADE: Final = ((_VPCS, "AWS::EC2::VPC"), (_ADDRESSES, "AWS::EC2::EIP"))
"""Quotas of what a network is made of, with the resource that draws on each."""
_OF_EACH: Final = {limits.INSTANCES_PER_CLUSTER, limits.VOLUME_SIZE_GB}
_NOT_BY_CLUSTER: Final = {*_OF_EACH, _VPCS, _ADDRESSES, limits.NETWORK_INTERFACES}

TOO_SMALL = rule(
    "HP9010",
    Severity.ERROR,
    title="Quota is too small for what the account uses and this deployment adds",
    because="nodes beyond a quota are refused with ResourceLimitExceeded after everything else exists; a raise can "
    "take days, and a training plan does not lift the quota of its type",
    source=_SOURCE,
)
UNKNOWN_NAME = rule(
    "HP9011",
    Severity.WARNING,
    title="Service Quotas has no quota of the name that the deployment draws on",
    because="quotas are told apart by their exact names, since public lists of codes contradict each other; one that "
    "is not found was not compared",
    source=_SOURCE,
)


@check("quotas")
def quotas_are_large_enough(context: Context) -> Iterator[Said]:
    yield from _compared(context, _drawn_on(context))


@check("quotas of the network")
def quotas_of_the_network_are_large_enough(context: Context) -> Iterator[Said]:
    yield from _compared(context, _of_new_networks(context))


def _compared(context: Context, wanted: Iterable[NeededQuota]) -> Iterator[Said]:
    for needed in wanted:
        applied = _quotas(context, needed.quota.service).get(needed.quota.name)
        if applied is None:
            yield finding(
                UNKNOWN_NAME,
                _path(needed),
                f"there is no quota {needed.quota.name!r} of {needed.quota.service} in {context.region}; "
                f"{_are(needed.needed)} needed",
                f"look it up and compare: {needed.look_up}",
            )
            continue
        used = _used(context, needed.quota)
        facts = {
            "service": needed.quota.service,
            "code": applied.code,
            "applied": applied.value,
            "used": used,
            "needed": needed.needed,
        }
        yield Learned(section="quotas", name=applied.name, facts=facts)
        if applied.value < used + needed.needed:
            least, others = "" if needed.complete else "at least ", f" and {_are(used)} in use already" if used else ""
            yield finding(
                TOO_SMALL,
                _path(needed),
                f"quota {applied.name!r} is {applied.value:,.0f} in {context.region}, but {least}{_are(needed.needed)} "
                f"needed{others}{_of_failed(context, needed.quota)}",
                _raise(needed, applied, used),
            )


def _quotas(context: Context, service: str) -> dict[str, AppliedQuota]:
    return context.once(f"quotas of {service}", lambda: context.open(ServiceQuotas).of_service(service))


def _drawn_on(context: Context) -> Iterator[NeededQuota]:
    """What clusters draw on here; plans that are bought draw on their quotas no more."""
    here = replace(
        context.deployment, clusters=tuple(replace(each, region=context.region) for each in context.clusters)
    )
    for needed in quotas.needed(here):
        if needed.quota != limits.TRAINING_PLANS and _RESERVED not in needed.quota.name:
            yield needed


def _of_new_networks(context: Context) -> Iterator[NeededQuota]:
    for quota, kind in _MADE:
        paths = [each.path for each in context.resources if each.type == kind and not _exists(context, each)]
        if paths:
            yield NeededQuota(quota=quota, region=context.region, needed=len(paths), complete=True, groups=tuple(paths))


def _exists(context: Context, resource: Resource) -> bool:
    """Whether an earlier deployment of its stack has made a resource already."""
    return context.made(resource) is not None


def _used(context: Context, quota: Quota) -> int:
    """What everything but this deployment takes of a quota."""
    if quota in _OF_EACH:
        return 0  # of each cluster or node by itself
    if quota == _VPCS:
        return context.open(Ec2).count_vpcs(context.account)
    if quota == _ADDRESSES:
        return context.open(Ec2).count_addresses()
    if quota == limits.NETWORK_INTERFACES:
        own = sum(_cards(group) for use in context.own().values() for group in use.groups)
        return max(0, context.open(Ec2).count_interfaces() - own)
    return sum(_taken(use, quota) for use in _others(context))


def _others(context: Context) -> list[ClusterUse]:
    """The account's clusters without those that this deployment changes."""
    own = {use.arn for use in context.own().values()}
    return [use for use in context.in_use() if use.arn not in own]


def _taken(use: ClusterUse, quota: Quota) -> int:
    return sum(group.instances for group in use.groups if _draws(group, quota))


def _of_failed(context: Context, quota: Quota) -> str:
    """Which clusters that failed are in a sum, by what they asked for: whether AWS counts that is not documented."""
    if quota in _NOT_BY_CLUSTER:
        return ""
    failed = [
        f"{use.name} {taken:,}" for use in _others(context) if use.status == "Failed" and (taken := _taken(use, quota))
    ]
    return (
        f", with what clusters asked for that failed ({', '.join(failed)}): delete them if nobody needs them"
        if failed
        else ""
    )


def _draws(group: GroupUse, quota: Quota) -> bool:
    """Whether a group that there is takes of a quota."""
    if quota == limits.INSTANCES_IN_ALL_CLUSTERS:
        return True
    if quota == limits.SPOT_INSTANCES_IN_ALL_CLUSTERS:
        return group.spot
    if quota.name.endswith(_SPOT_SUFFIX):
        return group.spot and group.instance_type == quota.name.removesuffix(_SPOT_SUFFIX)
    return not group.spot and group.instance_type == quota.name.removesuffix(_USAGE_SUFFIX)


def _cards(group: GroupUse) -> int:
    facts = instances.find(group.instance_type) if group.instance_type else None
    return group.instances * (facts.network_cards or 1) if facts else group.instances


def _raise(needed: NeededQuota, applied: AppliedQuota, used: int) -> str:
    """How to get more."""
    if not applied.adjustable:
        return f"use at most {max(0, applied.value - used):,.0f}: this quota cannot be raised"
    command = replace(needed, needed=used + needed.needed).command.replace(quotas.CODE, applied.code)
    return f"ask for more, which can take days: {command}"


def _are(number: int) -> str:
    return f"{number:,} {'is' if number == 1 else 'are'}"


def _path(needed: NeededQuota) -> str:
    """The one group that draws on a quota, else the cluster of the first."""
    first = needed.groups[0]
    return first if len(needed.groups) == 1 else first.rpartition("/")[0] or first
