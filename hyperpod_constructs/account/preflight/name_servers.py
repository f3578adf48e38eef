"""Whether names of AWS are resolved in imported VPCs: file systems and endpoints are reached by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.account.gateway.ec2 import Ec2
from hyperpod_constructs.account.gateway.resolver import Resolver
from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import Said, check, finding, rule
from hyperpod_constructs.catalog import regions
from hyperpod_constructs.findings import Severity

_AMAZON: Final = "AmazonProvidedDNS"
_LINK_LOCAL: Final = {"169.254.169.253", "fd00:ec2::253"}
"""Where Amazon's resolver answers in every VPC. Source: VPC user guide, AmazonDNS-concepts."""

CUSTOM = rule(
    "HP9065",
    Severity.WARNING,
    title="Imported VPC hands out name servers of its own",
    because="names of file systems and endpoints are known to Amazon's resolver only: servers that do not forward them "
    "make mounts fail after 20 minutes, in the lifecycle scripts",
    source="VPC user guide, VPC_DHCP_Options; FSx for Lustre user guide, troubleshooting mounts",
)
OFF = rule(
    "HP9066",
    Severity.ERROR,
    title="Imported VPC resolves no names",
    because="with enableDnsSupport off Amazon's resolver does not answer, and nodes find neither AWS nor file systems",
    source="VPC user guide, vpc-dns",
)
NAMELESS = rule(
    "HP9068",
    Severity.WARNING,
    title="Imported VPC gives out no names",
    because="with enableDnsHostnames off private names of endpoints do not work, and EKS nodes do not register",
    source="VPC user guide, vpc-dns; EKS user guide, network-reqs",
)
FORWARDED = rule(
    "HP9067",
    Severity.WARNING,
    title="Resolver rule of an imported VPC sends names of AWS elsewhere",
    because="name servers outside the VPC do not know its endpoints and file systems",
    source="Route 53 developer guide, resolver-rules",
)


@check("name servers")
def names_are_resolved(context: Context) -> Iterator[Said]:
    options = context.open(Ec2).name_servers({vpc.dhcp_options for vpc in context.vpcs().values()})
    for vpc, path in _paths(context).items():
        live = context.vpcs()[vpc]
        custom = [server for server in options.get(live.dhcp_options, ()) if server not in {_AMAZON, *_LINK_LOCAL}]
        if custom and _AMAZON not in options[live.dhcp_options]:
            yield finding(
                CUSTOM,
                path,
                f"{vpc} hands out the name servers {', '.join(custom)} ({live.dhcp_options})",
                f"see that they forward *.{regions.dns_suffix(context.region)} to the VPC's resolver (the address of "
                "the VPC plus two)",
            )
        modify = f"aws ec2 modify-vpc-attribute --region {context.region} --vpc-id {vpc}"
        if not live.dns_support:
            message = f"enableDnsSupport of {vpc} is off"
            yield finding(OFF, path, message, f"turn it on: {modify} --enable-dns-support")
        if not live.dns_hostnames:
            message = f"enableDnsHostnames of {vpc} is off"
            yield finding(NAMELESS, path, message, f"turn it on: {modify} --enable-dns-hostnames")


@check("resolver rules")
def names_of_aws_stay_inside(context: Context) -> Iterator[Said]:
    suffix = regions.dns_suffix(context.region) or ""
    for vpc, path in _paths(context).items():
        for each in context.open(Resolver).forwarded(vpc):
            if not each.domain or each.domain == suffix or each.domain.endswith(f".{suffix}"):
                yield finding(
                    FORWARDED,
                    path,
                    f"a rule of {vpc} asks {', '.join(each.servers)} for {each.domain or 'every name'}",
                    f"add a SYSTEM rule for {each.domain or suffix}, or see that those servers ask the VPC's resolver",
                )


def _paths(context: Context) -> dict[str, str]:
    """The imported VPCs, each with where findings about it point."""
    there = context.subnets()
    return context.users(
        lambda placed: tuple(dict.fromkeys(there[each].vpc for each in placed.subnets if each in there))
    )
