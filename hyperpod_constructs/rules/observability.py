"""Whether metrics arrive in Prometheus, and whether people can look at them in Grafana."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.catalog.limits import Limit
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.budget import AnomalyMonitor
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.observability import Grafana, Prometheus, PrometheusUrl
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.tokens import UNKNOWN, known

GRAFANA_SERVICE: Final = "grafana.amazonaws.com"

_SCHEMA: Final = "AWS::Grafana::Workspace schema (2026-10-20)"
_API: Final = "Managed Grafana API, CreateWorkspace (botocore 1.44.8)"
_SIZES: Final = {
    "subnets": Limit(low=2, high=6, source=_SCHEMA),
    "security_groups": Limit(low=1, high=5, source=_SCHEMA),
    "prefix_lists": Limit(low=0, high=5, source=_SCHEMA),
    "endpoints": Limit(low=0, high=5, source=_SCHEMA),
}
_CALLED: Final = {
    "subnets": "subnets in VpcConfiguration",
    "security_groups": "security groups in VpcConfiguration",
    "prefix_lists": "prefix lists in NetworkAccessControl",
    "endpoints": "VPC endpoints in NetworkAccessControl",
}
_TYPES: Final[dict[type, str]] = {
    Grafana: "AWS::Grafana::Workspace",
    Prometheus: "AWS::APS::Workspace",
    AnomalyMonitor: "AWS::CE::AnomalyMonitor",
}
_URL: Final = re.compile(r"https://[^/]+/workspaces/(?P<id>[^/]*)(?P<rest>.*)")
_FIX_URL: Final = "build it from Region and id: https://aps-workspaces.${AWS::Region}.amazonaws.com/workspaces/${Workspace.WorkspaceId}"


def _providers(workspace: Grafana) -> tuple[object, ...] | None:
    """How people log in; `None` where that is not known."""
    return workspace.providers if isinstance(workspace.providers, tuple) else None


@rule(
    "HP0029",
    Severity.ERROR,
    title="Nobody can log in to a Grafana workspace",
    because="the schema wants one or two ways to log in",
    source=f"{_SCHEMA}, AuthenticationProviders",
)
def workspaces_have_a_login(deployment: Deployment) -> Iterator[Problem]:
    for workspace in deployment.grafana:
        if _providers(workspace) == ():
            yield Problem(
                path=workspace.path,
                message="AuthenticationProviders is empty",
                fix="use AWS_SSO (IAM Identity Center must be on) or SAML",
            )


@rule(
    "HP0030",
    Severity.WARNING,
    title="A Grafana workspace needs IAM Identity Center",
    because="no template can turn it on; without it the workspace fails with SSO is not enabled in any region",
    source="terraform-aws-modules/terraform-aws-managed-service-grafana issue 30",
)
def identity_center_is_there(deployment: Deployment) -> Iterator[Problem]:
    for workspace in deployment.grafana:
        if "AWS_SSO" in (_providers(workspace) or ()):
            yield Problem(
                path=workspace.path,
                message="people log in with AWS_SSO, which fails where IAM Identity Center is off",
                fix="see that aws sso-admin list-instances prints an instance, or use SAML",
            )


@rule(
    "HP0031",
    Severity.WARNING,
    title="A Grafana workspace with SAML has no SAML configuration",
    because="it is made, and nobody can log in until somebody gives it the metadata of an identity provider",
    source=f"{_SCHEMA}, SamlConfigurationStatus",
)
def saml_is_configured(deployment: Deployment) -> Iterator[Problem]:
    for workspace in deployment.grafana:
        if _providers(workspace) == ("SAML",) and workspace.saml is False:
            yield Problem(
                path=workspace.path,
                message="SAML is the only login and has no SamlConfiguration",
                fix="give SamlConfiguration with IdpMetadata (Url or Xml)",
            )


@rule(
    "HP0032",
    Severity.ERROR,
    title="A Grafana workspace has no role",
    because="CUSTOMER_MANAGED means that the role is yours",
    source=f"{_API}, permissionType and workspaceRoleArn",
)
def customer_managed_workspaces_have_a_role(deployment: Deployment) -> Iterator[Problem]:
    for workspace in deployment.grafana:
        if workspace.permission == "CUSTOMER_MANAGED" and workspace.role is None:
            yield Problem(
                path=workspace.path,
                message="PermissionType is CUSTOMER_MANAGED and RoleArn is missing",
                fix=f"give RoleArn of a role that trusts {GRAFANA_SERVICE} and may read the data sources",
            )


@rule(
    "HP0033",
    Severity.WARNING,
    title="A Grafana workspace counts on a role that nobody makes",
    because="only the console makes the role of a SERVICE_MANAGED workspace; one from a template sees no data",
    source=f"{_API}, permissionType",
)
def service_managed_workspaces_have_a_role(deployment: Deployment) -> Iterator[Problem]:
    for workspace in deployment.grafana:
        if workspace.permission == "SERVICE_MANAGED" and workspace.role is None:
            yield Problem(
                path=workspace.path,
                message="PermissionType is SERVICE_MANAGED and RoleArn is missing",
                fix=f"use CUSTOMER_MANAGED with RoleArn of a role that trusts {GRAFANA_SERVICE}",
            )


@rule(
    "HP0034",
    Severity.ERROR,
    title="The role of a Grafana workspace does not let Grafana use it",
    because="the workspace can read none of its data sources",
    source=f"{_API}, workspaceRoleArn; Terraform module of awslabs/awsome-distributed-ai",
)
def grafana_assumes_the_role(deployment: Deployment) -> Iterator[Problem]:
    for workspace in deployment.grafana:
        role = deployment.role(workspace.role)
        if role and isinstance(role.trusts, tuple) and not {GRAFANA_SERVICE, "*", UNKNOWN} & set(role.trusts):
            yield Problem(
                path=role.path,
                message=f"a Grafana workspace takes this role, which trusts "
                f"{', '.join(map(str, role.trusts)) or 'no service'}",
                fix=f"let {GRAFANA_SERVICE} assume it",
            )


@rule(
    "HP0035",
    Severity.ERROR,
    title="The network of a Grafana workspace has too few or too many parts",
    because="the schema takes 2 to 6 subnets, 1 to 5 security groups, up to 5 prefix lists and up to 5 endpoints",
    source=f"{_SCHEMA}, VpcConfiguration and NetworkAccessControl",
)
def networks_of_workspaces_have_their_size(deployment: Deployment) -> Iterator[Problem]:
    for workspace in deployment.grafana:
        for name, allowed in _SIZES.items():
            count = known(getattr(workspace, name))
            if isinstance(count, int) and not allowed.allows(count):
                yield Problem(
                    path=workspace.path,
                    message=f"{count} {_CALLED[name]}",
                    fix=f"use {allowed.low} to {allowed.high}",
                )


@rule(
    "HP0036",
    Severity.WARNING,
    title="The Region is not listed for Grafana, Prometheus or cost anomalies",
    because="there the whole stack is refused with Unrecognized resource types; the lists of Regions lag",
    source="cfn-lint 1.58.0, resource types by Region (2026-10-20)",
)
def regions_have_the_services(deployment: Deployment) -> Iterator[Problem]:
    placed: tuple[Grafana | Prometheus | AnomalyMonitor, ...]
    placed = (*deployment.grafana, *deployment.prometheus, *deployment.anomaly_monitors)
    for each in placed:
        name = _TYPES[type(each)]
        if isinstance(each.region, str) and regions.has_type(each.region, name) is False:
            yield Problem(
                path=each.path,
                message=f"{name} is not listed for {each.region}",
                fix="put it into a stack of its own in a Region that has it; nodes and people reach it from there",
            )


@rule(
    "HP0037",
    Severity.WARNING,
    title="A policy for alert rules names the workspace only",
    because="groups of rules are authorised as rulegroupsnamespace/WORKSPACE/NAME, not as the workspace",
    source="opensearch-project/observability-stack pull 442",
)
def policies_reach_groups_of_rules(deployment: Deployment) -> Iterator[Problem]:
    for each in deployment.rule_editing:
        if each.reach and set(each.reach) == {"workspace"}:
            yield Problem(
                path=each.path,
                message=f"{', '.join(each.actions)} on the ARN of a Prometheus workspace allows nothing",
                fix="add arn:PARTITION:aps:REGION:ACCOUNT:rulegroupsnamespace/WORKSPACE-ID/* to the resources",
            )


def _url_fault(each: PrometheusUrl) -> str | None:
    """What is wrong with an address, if anything is."""
    match = _URL.fullmatch(each.url)
    if match is None:
        return None
    workspace, rest = match["id"], match["rest"]
    faults = {
        "Ref gives the ARN of a workspace, not its id": workspace == "WORKSPACE-ARN",
        "there is no slash between the id of the workspace and api": workspace.endswith("api"),
        "two slashes follow each other": "//" in rest,
        "the add-on wants nothing behind the id of the workspace, not even a slash": each.addon and bool(rest),
        "the path for writing is /api/v1/remote_write": rest.endswith("remote_write")
        and rest != "/api/v1/remote_write",
    }
    return next((fault for fault, applies in faults.items() if applies), None)


@rule(
    "HP0038",
    Severity.WARNING,
    title="The address of a Prometheus workspace looks wrong",
    because="metrics are sent there and refused; AWS's pages differ about what PrometheusEndpoint ends in",
    source="awslabs/awsome-distributed-ai pull 1193; CloudFormation reference, AWS::APS::Workspace (October 2026)",
)
def addresses_are_well_formed(deployment: Deployment) -> Iterator[Problem]:
    for each in deployment.prometheus_urls:
        if fault := _url_fault(each):
            end = "" if each.addon else "/api/v1/remote_write"
            yield Problem(path=each.path, message=f"{each.url}: {fault}", fix=f"{_FIX_URL}{end}")


@rule(
    "HP0039",
    Severity.WARNING,
    title="The log group of a Prometheus workspace is named without its end",
    because="in AWS's example the ARN ends in :*; no page says what happens without",
    source="CloudFormation reference, AWS::APS::Workspace LoggingConfiguration (October 2026)",
)
def log_groups_end_in_a_star(deployment: Deployment) -> Iterator[Problem]:
    for workspace in deployment.prometheus:
        arn = workspace.log_group
        if isinstance(arn, str) and not arn.endswith("*"):
            yield Problem(
                path=workspace.path,
                message=f"LogGroupArn is {arn}",
                fix="end it in :*, as the attribute Arn of AWS::Logs::LogGroup does",
            )
