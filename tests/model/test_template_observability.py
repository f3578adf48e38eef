from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.observability import EventRule, Grafana, Prometheus, PrometheusUrl, RuleEditing
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

UNDECIDABLE = {"Ref": "Given"}
SECTIONS = {
    "Parameters": {"Given": {"Type": "String"}},
    "Conditions": {"Maybe": {"Fn::Equals": [UNDECIDABLE, "x"]}},
}
WORKSPACE = {"Type": "AWS::APS::Workspace"}


def grafana(**properties: Any) -> dict[str, Any]:
    basics = {
        "AuthenticationProviders": ["SAML"],
        "PermissionType": "CUSTOMER_MANAGED",
        "AccountAccessType": "CURRENT_ACCOUNT",
    }
    return {"Type": "AWS::Grafana::Workspace", "Properties": {**basics, **properties}}


class TestGrafana:
    def test_is_read(self, deployment_of: Any) -> None:
        network = {"SubnetIds": ["a", "b"], "SecurityGroupIds": ["c"]}
        workspace = grafana(
            RoleArn="role",
            SamlConfiguration={"IdpMetadata": {"Url": "u"}},
            VpcConfiguration=network,
            NetworkAccessControl={"VpceIds": ["v"]},
        )
        assert deployment_of({"G": workspace}).grafana == (
            Grafana(
                path="app.json/G",
                providers=("SAML",),
                permission="CUSTOMER_MANAGED",
                role="role",
                saml=True,
                subnets=2,
                security_groups=1,
                endpoints=1,
            ),
        )

    def test_may_be_decided_at_deploy(self, deployment_of: Any) -> None:
        maybe = {"Fn::If": ["Maybe", "a", {"Ref": "AWS::NoValue"}]}
        workspace = grafana(
            AuthenticationProviders=UNDECIDABLE,
            PermissionType=UNDECIDABLE,
            VpcConfiguration={"SubnetIds": [maybe, "b"], "SecurityGroupIds": UNDECIDABLE},
        )
        (read,) = deployment_of({"G": workspace}, **SECTIONS).grafana
        assert [read.providers, read.permission, read.subnets, read.security_groups] == [UNKNOWN] * 4

    @pytest.mark.parametrize(
        ("properties", "said"),
        [
            ({"AuthenticationProviders": ["OKTA"]}, "AuthenticationProviders[0] is 'OKTA'; use AWS_SSO or SAML"),
            ({"AccountAccessType": "MINE"}, "AccountAccessType is 'MINE'; use CURRENT_ACCOUNT or ORGANIZATION"),
            ({"NotificationDestinations": ["MAIL"]}, "NotificationDestinations[0] is 'MAIL'; use SNS"),
            ({"Name": "two words"}, "Name is 'two words'; use 1 to 255 letters, digits, '-', '.', '_' and '~'"),
        ],
    )
    def test_with_a_wrong_word_is_reported(self, deployment_of: Any, properties: Any, said: str) -> None:
        assert refused(deployment_of({"G": grafana(**properties)})) == [said]

    def test_takes_the_data_sources_that_there_are(self, deployment_of: Any) -> None:
        assert refused(deployment_of({"G": grafana(DataSources=["PROMETHEUS", UNDECIDABLE])}, **SECTIONS)) == []
        (said,) = refused(deployment_of({"G": grafana(DataSources=["LOKI"])}))
        assert said.startswith("DataSources[0] is 'LOKI'; use AMAZON_OPENSEARCH_SERVICE or CLOUDWATCH or PROMETHEUS")


class TestPrometheus:
    @pytest.mark.parametrize(
        ("arn", "found"),
        [
            ("arn:x", "arn:x"),
            ({"Fn::Sub": "arn:${Given}:log-group:x:*"}, "arn:*:log-group:x:*"),
            ({"Fn::Sub": "arn:aws:logs:${Given}"}, UNKNOWN),
            ({"Fn::GetAtt": ["L", "Arn"]}, UNKNOWN),
        ],
    )
    def test_has_its_log_group(self, deployment_of: Any, arn: object, found: Any) -> None:
        workspace = {**WORKSPACE, "Properties": {"LoggingConfiguration": {"LogGroupArn": arn}}}
        read = deployment_of({"P": workspace, "L": {"Type": "AWS::Logs::LogGroup"}}, **SECTIONS)
        assert read.prometheus == (Prometheus(path="app.json/P", log_group=found),)


class TestRuleEditing:
    def read(self, deployment_of: Any, resource: object, action: object = "aps:PutRuleGroupsNamespace") -> Any:
        statement = {"Effect": "Allow", "Action": action, "Resource": resource}
        document = {"Statement": [statement]}
        resources = {
            "Policy": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": document}},
            "W": WORKSPACE,
        }
        return deployment_of(resources, **SECTIONS).rule_editing

    @pytest.mark.parametrize(
        ("resource", "reach"),
        [
            ({"Fn::GetAtt": ["W", "Arn"]}, "workspace"),
            ({"Fn::Sub": "${W.Arn}/*"}, "workspace"),
            ("arn:aws:aps:us-west-2:111122223333:workspace/ws-1", "workspace"),
            ({"Fn::Sub": "arn:aws:aps:${AWS::Region}:111122223333:workspace/${W.WorkspaceId}"}, "workspace"),
            ({"Fn::Sub": "arn:aws:aps:${AWS::Region}:1:rulegroupsnamespace/${W.WorkspaceId}/*"}, "rules"),
            ("*", "rules"),
            ("arn:aws:aps:*", "rules"),
            ([UNDECIDABLE], UNKNOWN),
        ],
    )
    def test_says_what_is_reached(self, deployment_of: Any, resource: object, reach: Any) -> None:
        assert self.read(deployment_of, resource) == (
            RuleEditing(path="app.json/Policy", actions=("aps:PutRuleGroupsNamespace",), reach=(reach,)),
        )

    @pytest.mark.parametrize("action", ["aps:ListRuleGroupsNamespaces", "aps:QueryMetrics", "aps:*", "*", UNDECIDABLE])
    def test_is_only_what_names_groups_of_rules(self, deployment_of: Any, action: object) -> None:
        assert self.read(deployment_of, {"Fn::GetAtt": ["W", "Arn"]}, action) == ()

    def test_is_found_inside_roles(self, deployment_of: Any) -> None:
        statement = {"Effect": "Allow", "Action": ["aps:*RuleGroupsNamespace"], "Resource": "*"}
        policies = [{"PolicyName": "p", "PolicyDocument": {"Statement": statement}}]
        role = {
            "Type": "AWS::IAM::Role",
            "Properties": {"AssumeRolePolicyDocument": {"Statement": []}, "Policies": policies},
        }
        (found,) = deployment_of({"R": role}).rule_editing
        assert (found.path, found.actions) == ("app.json/R", ("aps:*RuleGroupsNamespace",))


class TestPrometheusUrls:
    @pytest.mark.parametrize(
        ("value", "url"),
        [
            (
                {"Fn::Sub": "${W.PrometheusEndpoint}api/v1/remote_write"},
                "https://aps-workspaces.REGION.amazonaws.com/workspaces/WORKSPACE-ID/api/v1/remote_write",
            ),
            (
                {"Fn::Join": ["/", [{"Fn::GetAtt": ["W", "PrometheusEndpoint"]}, "api/v1/remote_write"]]},
                "https://aps-workspaces.REGION.amazonaws.com/workspaces/WORKSPACE-ID//api/v1/remote_write",
            ),
            (
                {"Fn::Sub": "https://aps-workspaces.${Given}.amazonaws.com/workspaces/${W}"},
                "https://aps-workspaces.UNKNOWN.amazonaws.com/workspaces/WORKSPACE-ARN",
            ),
            (
                'url: "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1/api/v1/remote_write"',
                "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1/api/v1/remote_write",
            ),
        ],
    )
    def test_are_found_in_any_property(self, deployment_of: Any, value: object, url: str) -> None:
        parameter = {"Type": "AWS::SSM::Parameter", "Properties": {"Value": [{"x": value}]}}
        read = deployment_of({"S": parameter, "W": WORKSPACE}, **SECTIONS)
        assert read.prometheus_urls == (PrometheusUrl(path="app.json/S", url=url),)

    def test_of_an_addon_are_marked(self, deployment_of: Any) -> None:
        values = {"Fn::Sub": '{"ampWorkspace": {"prometheusEndpoint": "${W.PrometheusEndpoint}"}}'}
        addon = {"Type": "AWS::EKS::Addon", "Properties": {"ConfigurationValues": values}}
        (found,) = deployment_of({"A": addon, "W": WORKSPACE}).prometheus_urls
        assert (found.addon, found.url.endswith("WORKSPACE-ID/")) == (True, True)


class TestEventRules:
    def of(self, deployment_of: Any, **properties: Any) -> Any:
        rule = {"Type": "AWS::Events::Rule", "Properties": properties}
        return deployment_of({"R": rule, "T": {"Type": "AWS::SNS::Topic"}}, **SECTIONS).event_rules

    def test_have_the_targets_that_they_reach_without_a_role(self, deployment_of: Any) -> None:
        targets = [{"Id": "a", "Arn": {"Ref": "T"}}, {"Id": "b", "Arn": {"Ref": "T"}, "RoleArn": "arn:x"}]
        assert self.of(deployment_of, Targets=targets) == (EventRule(path="app.json/R", targets=("app.json/T",)),)

    def test_have_none_that_only_the_deploy_knows(self, deployment_of: Any) -> None:
        (rule,) = self.of(deployment_of, Targets=[{"Id": "a", "Arn": UNDECIDABLE}])
        assert rule.targets == (UNKNOWN,)
        (rule,) = self.of(deployment_of, Targets=UNDECIDABLE)
        assert rule.targets is UNKNOWN

    @pytest.mark.parametrize("state", ["DISABLED", UNDECIDABLE])
    def test_that_may_be_off_are_left_out(self, deployment_of: Any, state: Any) -> None:
        assert self.of(deployment_of, State=state) == ()
        assert len(self.of(deployment_of, State="ENABLED")) == 1
