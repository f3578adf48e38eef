"""Managed Grafana and Prometheus, and rules of EventBridge, as far as templates tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hyperpod_constructs.tokens import Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Grafana:
    """A workspace of Amazon Managed Grafana.

    Attributes:
        path: Construct path.
        providers: How people log in: `AWS_SSO` or `SAML`.
        permission: `CUSTOMER_MANAGED` or `SERVICE_MANAGED`.
        role: Path or ARN of the role that reads the data sources.
        saml: Whether it has a SamlConfiguration.
        subnets: How many it has in its VpcConfiguration; `None` without one.
        security_groups: How many it has in its VpcConfiguration; `None` without one.
        prefix_lists: How many its NetworkAccessControl admits.
        endpoints: How many VPC endpoints its NetworkAccessControl admits.
        region: Region of its stack.
    """

    path: str
    providers: tuple[str | Unknown, ...] | Unknown
    permission: str | Unknown
    role: str | Unknown | None = None
    saml: bool | Unknown = False
    subnets: int | Unknown | None = None
    security_groups: int | Unknown | None = None
    prefix_lists: int | Unknown = 0
    endpoints: int | Unknown = 0
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """A workspace of Amazon Managed Service for Prometheus.

    Attributes:
        path: Construct path.
        log_group: ARN of the log group of its rules and alerts; the known beginning and end of it, with `*` between.
        region: Region of its stack.
    """

    path: str
    log_group: str | Unknown | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRule:
    """A rule of EventBridge that is on, by the topics to which it sends with nothing but the topic's own permission.

    Attributes:
        path: Construct path.
        targets: Paths or ARNs of its targets that have no role of their own.
    """

    path: str
    targets: tuple[str | Unknown, ...] | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEditing:
    """A statement that lets somebody read or change groups of alert rules.

    Attributes:
        path: Construct path of the policy, or of the role that holds it.
        actions: Those on groups of rules, for example `aps:PutRuleGroupsNamespace`.
        reach: For each of its resources, whether it covers the groups of rules or the workspace only.
    """

    path: str
    actions: tuple[str, ...]
    reach: tuple[Literal["rules", "workspace"] | Unknown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusUrl:
    """An address of a Prometheus workspace that is written somewhere in a template.

    Attributes:
        path: Construct path of the resource that holds it.
        url: The address, with words in place of what the deploy decides. The attribute PrometheusEndpoint is spelled
            out with its slash at the end.
        addon: Whether it is part of the configuration of an EKS add-on.
    """

    path: str
    url: str
    addon: bool = False
