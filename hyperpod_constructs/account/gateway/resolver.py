"""Reads of Route 53 Resolver: names that a VPC asks elsewhere for.

Source of names and fields: the botocore 1.44.8 model of Route 53 Resolver (2018-04-01).
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_constructs.account.gateway.session import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedDomain:
    """A domain that a VPC asks other name servers for.

    Attributes:
        domain: Without a dot at its end; empty for every name.
        servers: Addresses of the name servers that are asked.
    """

    domain: str
    servers: tuple[str, ...]


class Resolver(Reader):
    """Reads the resolver rules of one account in one Region."""

    SERVICE = "route53resolver"
    READS = {  # noqa: RUF012  # the base class has the type
        "ListResolverRuleAssociations": "route53resolver:ListResolverRuleAssociations",
        "ListResolverRules": "route53resolver:ListResolverRules",
    }

    def forwarded(self, vpc: str) -> tuple[ForwardedDomain, ...]:
        """Domains that a VPC asks other name servers for, sorted by name.

        Args:
            vpc: Its id.

        Raises:
            AccountError: if AWS refuses or fails a read.
        """
        associations = self._pages(
            "ListResolverRuleAssociations",
            "ResolverRuleAssociations",
            Filters=[{"Name": "VPCId", "Values": [vpc]}],
        )
        used = {each["ResolverRuleId"] for each in associations}
        rules = self._pages("ListResolverRules", "ResolverRules") if used else []
        forwarded = (
            ForwardedDomain(
                domain=each["DomainName"].rstrip("."),
                servers=tuple(target.get("Ip") or target.get("Ipv6", "") for target in each.get("TargetIps", ())),
            )
            for each in rules
            if each["Id"] in used and each.get("RuleType") == "FORWARD"
        )
        return tuple(sorted(forwarded, key=lambda each: each.domain))
