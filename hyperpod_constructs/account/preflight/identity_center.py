"""Whether people can log in to Grafana the way that it asks for."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.account.gateway.identity_center import IdentityCenter
from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import Said, check, finding, rule
from hyperpod_constructs.findings import Severity

NO_IDENTITY_CENTER = rule(
    "HP9100",
    Severity.WARNING,
    title="Grafana asks for IAM Identity Center, and the account sees none in the Region",
    because="a workspace with AWS_SSO is refused where Identity Center is not enabled; an organisation's instance may "
    "be in another Region, which is not asked here",
    source="Amazon Managed Grafana user guide, authentication-in-AMG-SSO",
)


@check("Identity Center")
def grafana_has_identity_center(context: Context) -> Iterator[Said]:
    wanting = [
        each
        for each in context.deployment.grafana
        if context.here(each.region) and isinstance(each.providers, tuple) and "AWS_SSO" in each.providers
    ]
    if wanting and not context.open(IdentityCenter).instances():
        for each in wanting:
            yield finding(
                NO_IDENTITY_CENTER,
                each.path,
                f"the workspace logs people in with AWS_SSO; account {context.account} sees no instance of IAM "
                f"Identity Center in {context.region}",
                "enable it for the organisation, use SAML, or leave Grafana out",
            )
