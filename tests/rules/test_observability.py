"""What is said of Grafana and Prometheus workspaces, their addresses and permissions."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.budget import AnomalyMonitor
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.identity import Role
from hyperpod_constructs.model.observability import Grafana, Prometheus, PrometheusUrl, RuleEditing
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import told

WORKSPACE = "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-0123"


def grafana(*roles: Role, **fields: Any) -> Deployment:
    """A sound workspace that people reach through SAML."""
    defaults = {
        "path": "Grafana",
        "providers": ("SAML",),
        "permission": "CUSTOMER_MANAGED",
        "role": "Role",
        "saml": True,
        "region": "us-west-2",
    }
    return Deployment(grafana=(Grafana(**{**defaults, **fields}),), roles=roles)


def test_a_sound_workspace_has_no_finding() -> None:
    assert [line for rule in RULES if rule.startswith("HP00") for line in told(rule, grafana())] == []


class TestWorkspacesHaveALogin:
    def test_says_which_there_are(self) -> None:
        assert told("HP0029", grafana(providers=())) == [
            ("HP0029 AuthenticationProviders is empty | use AWS_SSO (IAM Identity Center must be on) or SAML")
        ]

    @pytest.mark.parametrize("providers", [("SAML",), ("AWS_SSO", "SAML"), (UNKNOWN,), UNKNOWN])
    def test_is_silent_on_one_and_on_what_is_not_known(self, providers: object) -> None:
        assert told("HP0029", grafana(providers=providers)) == []


class TestIdentityCenterIsThere:
    @pytest.mark.parametrize("providers", [("AWS_SSO",), ("SAML", "AWS_SSO")])
    def test_says_how_to_look(self, providers: object) -> None:
        (line,) = told("HP0030", grafana(providers=providers))
        assert line.startswith("HP0030 people log in with AWS_SSO, which fails where IAM Identity Center is off | see")

    @pytest.mark.parametrize("providers", [("SAML",), (UNKNOWN,), UNKNOWN])
    def test_is_silent_on_saml_and_on_what_is_not_known(self, providers: object) -> None:
        assert told("HP0030", grafana(providers=providers)) == []


class TestSamlIsConfigured:
    def test_says_what_to_give(self) -> None:
        assert told("HP0031", grafana(saml=False)) == [
            (
                "HP0031 SAML is the only login and has no SamlConfiguration | "
                "give SamlConfiguration with IdpMetadata (Url or Xml)"
            )
        ]

    @pytest.mark.parametrize(
        "fields", [{}, {"saml": UNKNOWN}, {"saml": False, "providers": ("AWS_SSO", "SAML")}, {"providers": UNKNOWN}]
    )
    def test_is_silent_with_one_or_another_login(self, fields: dict[str, object]) -> None:
        assert told("HP0031", grafana(**fields)) == []


class TestWorkspacesHaveARole:
    @pytest.mark.parametrize(("rule", "permission"), [("HP0032", "CUSTOMER_MANAGED"), ("HP0033", "SERVICE_MANAGED")])
    def test_says_what_kind_of_role(self, rule: str, permission: str) -> None:
        judged = grafana(permission=permission, role=None)
        (line,) = told(rule, judged)
        assert line.startswith(f"{rule} PermissionType is {permission} and RoleArn is missing | ")
        assert "trusts grafana.amazonaws.com" in line
        assert told("HP0033" if rule == "HP0032" else "HP0032", judged) == []

    @pytest.mark.parametrize("fields", [{}, {"role": UNKNOWN}, {"permission": UNKNOWN, "role": None}])
    def test_is_silent_with_a_role_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert told("HP0032", grafana(**fields)) == told("HP0033", grafana(**fields)) == []

    def test_that_lets_grafana_use_it(self) -> None:
        assert told("HP0034", grafana(Role(path="Role", trusts=("ec2.amazonaws.com",)))) == [
            (
                "HP0034 a Grafana workspace takes this role, which trusts ec2.amazonaws.com | "
                "let grafana.amazonaws.com assume it"
            )
        ]

    @pytest.mark.parametrize("trusts", [("grafana.amazonaws.com",), (UNKNOWN,), UNKNOWN])
    def test_that_is_right_or_not_known_is_left_alone(self, trusts: Any) -> None:
        assert told("HP0034", grafana(Role(path="Role", trusts=trusts))) == []


class TestNetworksOfWorkspacesHaveTheirSize:
    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"subnets": 1}, "1 subnets in VpcConfiguration | use 2 to 6"),
            ({"subnets": 7}, "7 subnets in VpcConfiguration | use 2 to 6"),
            ({"security_groups": 0}, "0 security groups in VpcConfiguration | use 1 to 5"),
            ({"prefix_lists": 6}, "6 prefix lists in NetworkAccessControl | use 0 to 5"),
            ({"endpoints": 6}, "6 VPC endpoints in NetworkAccessControl | use 0 to 5"),
        ],
    )
    def test_counts_them(self, fields: dict[str, object], said: str) -> None:
        assert told("HP0035", grafana(**fields)) == [f"HP0035 {said}"]

    @pytest.mark.parametrize(
        "fields",
        [
            {"subnets": None, "security_groups": None},
            {"subnets": 2, "security_groups": 1},
            {"subnets": 6, "security_groups": 5, "prefix_lists": 5, "endpoints": 5},
            {"subnets": UNKNOWN, "security_groups": UNKNOWN, "prefix_lists": UNKNOWN},
        ],
    )
    def test_is_silent_on_legal_sizes_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert told("HP0035", grafana(**fields)) == []


class TestRegionsHaveTheServices:
    @pytest.mark.parametrize(
        "judged",
        [
            grafana(region="sa-east-1"),
            Deployment(prometheus=(Prometheus(path="P", region="cn-north-1"),)),
            Deployment(anomaly_monitors=(AnomalyMonitor(path="M", kind="CUSTOM", region="us-gov-west-1"),)),
        ],
        ids=["Grafana", "Prometheus", "anomalies"],
    )
    def test_names_type_and_region(self, judged: Deployment) -> None:
        (line,) = told("HP0036", judged)
        assert " is not listed for " in line

    @pytest.mark.parametrize("region", ["us-west-2", "xx-none-9", None])
    def test_is_silent_on_listed_and_unknown_regions(self, region: str | None) -> None:
        assert told("HP0036", grafana(region=region)) == []


class TestPoliciesReachGroupsOfRules:
    def told_of(self, *reach: Any) -> list[str]:
        editing = RuleEditing(path="Policy", actions=("aps:PutRuleGroupsNamespace",), reach=reach)
        return told("HP0037", Deployment(rule_editing=(editing,)))

    def test_says_what_to_add(self) -> None:
        assert self.told_of("workspace", "workspace") == [
            (
                "HP0037 aps:PutRuleGroupsNamespace on the ARN of a Prometheus workspace allows nothing | "
                "add arn:PARTITION:aps:REGION:ACCOUNT:rulegroupsnamespace/WORKSPACE-ID/* to the resources"
            )
        ]

    @pytest.mark.parametrize("reach", [("rules",), ("workspace", "rules"), ("workspace", UNKNOWN), ()])
    def test_is_silent_where_groups_may_be_reached(self, reach: tuple[object, ...]) -> None:
        assert self.told_of(*reach) == []


class TestAddressesAreWellFormed:
    @pytest.mark.parametrize(
        ("url", "fault"),
        [
            (f"{WORKSPACE}//api/v1/remote_write", "two slashes follow each other"),
            (f"{WORKSPACE}api/v1/remote_write", "there is no slash between the id of the workspace and api"),
            (f"{WORKSPACE}/remote_write", "the path for writing is /api/v1/remote_write"),
            (
                "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/WORKSPACE-ARN/api/v1/remote_write",
                "Ref gives the ARN of a workspace, not its id",
            ),
        ],
    )
    def test_says_what_is_wrong_and_how_to_build_it(self, url: str, fault: str) -> None:
        (line,) = told("HP0038", Deployment(prometheus_urls=(PrometheusUrl(path="P", url=url),)))
        assert line.startswith(f"HP0038 {url}: {fault} | build it from Region and id: https://aps-workspaces.")
        assert line.endswith("/api/v1/remote_write")

    def test_the_addon_wants_no_slash(self) -> None:
        (line,) = told(
            "HP0038", Deployment(prometheus_urls=(PrometheusUrl(path="P", url=f"{WORKSPACE}/", addon=True),))
        )
        assert "not even a slash" in line
        assert line.endswith("${Workspace.WorkspaceId}")

    @pytest.mark.parametrize(
        ("url", "addon"),
        [
            (f"{WORKSPACE}/api/v1/remote_write", False),
            (f"{WORKSPACE}/api/v1/query", False),
            (f"{WORKSPACE}/", False),
            (WORKSPACE, True),
            ("https://aps-workspaces.us-west-2.amazonaws.com", False),
        ],
    )
    def test_is_silent_on_addresses_that_are_right(self, url: str, addon: Any) -> None:
        judged = Deployment(prometheus_urls=(PrometheusUrl(path="P", url=url, addon=addon),))
        assert told("HP0038", judged) == []


class TestLogGroupsEndInAStar:
    def test_says_where_the_end_comes_from(self) -> None:
        arn = "arn:aws:logs:us-west-2:111122223333:log-group:rules"
        assert told("HP0039", Deployment(prometheus=(Prometheus(path="P", log_group=arn),))) == [
            f"HP0039 LogGroupArn is {arn} | end it in :*, as the attribute Arn of AWS::Logs::LogGroup does"
        ]

    @pytest.mark.parametrize("arn", [None, UNKNOWN, "arn:aws:logs:us-west-2:111122223333:log-group:rules:*"])
    def test_is_silent_on_the_end_and_on_what_is_not_known(self, arn: Any) -> None:
        assert told("HP0039", Deployment(prometheus=(Prometheus(path="P", log_group=arn),))) == []
