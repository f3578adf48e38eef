"""Field reports on budgets, alerts, Prometheus and Grafana (section I): each in its smallest form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from hyperpod_constructs import rules
from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.model import template
from tests.field_reports.settled import checked, ids, settled
from tests.templates import of_type, synthesized

NOTHING: list[str] = []
BUDGETS = {"Service": "budgets.amazonaws.com"}
ALERTS, WORKSPACE = {"Ref": "Alerts"}, {"Type": "AWS::APS::Workspace"}


def judged(resources: dict[str, Any], region: str | None = None) -> list[Finding]:
    """What `hyperpod check` finds in a template of these resources."""
    return checked(json.dumps({"Resources": resources}), region, "template.json")


def found(resources: dict[str, Any], region: str | None = None) -> list[str]:
    return ids(judged(resources, region))


def resource(kind: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties}


def budget(subscriber: dict[str, Any] | None = None, kind: str = "ACTUAL", **fields: Any) -> dict[str, Any]:
    """A monthly budget in USD with one notice by mail, unless told otherwise."""
    mail = {"SubscriptionType": "EMAIL", "Address": "ml-platform@example.com"}
    notice = {"NotificationType": kind, "ComparisonOperator": "GREATER_THAN", "Threshold": 80}
    money = {"BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": {"Amount": 50_000, "Unit": "USD"}, **fields}
    notices = [{"Notification": notice, "Subscribers": [subscriber or mail]}]
    return resource("AWS::Budgets::Budget", {"Budget": money, "NotificationsWithSubscribers": notices})


def with_topic(condition: dict[str, Any] | None = None, principal: object = BUDGETS, **topic: Any) -> dict[str, Any]:
    """A budget that sends to a topic whose policy lets this principal publish under this condition."""
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Principal": principal,
        "Action": "sns:Publish",
        "Resource": ALERTS,
        **({"Condition": condition} if condition else {}),
    }
    reader = [{"Protocol": "email", "Endpoint": "ml-platform@example.com"}]
    return {
        "Budget": budget({"SubscriptionType": "SNS", "Address": ALERTS}),
        "Alerts": resource("AWS::SNS::Topic", {"Subscription": reader, **topic}),
        "Policy": resource("AWS::SNS::TopicPolicy", {"Topics": [ALERTS], "PolicyDocument": {"Statement": [statement]}}),
    }


def grafana(**properties: Any) -> dict[str, Any]:
    basics = {
        "AccountAccessType": "CURRENT_ACCOUNT",
        "PermissionType": "CUSTOMER_MANAGED",
        "RoleArn": "arn:aws:iam::111122223333:role/grafana",
        "AuthenticationProviders": ["SAML"],
        "SamlConfiguration": {"IdpMetadata": {"Url": "https://idp.example.com/metadata"}},
    }
    return {"Grafana": resource("AWS::Grafana::Workspace", {**basics, **properties})}


@pytest.fixture(scope="module")
def ours(context_of_tests: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> hp.SlurmTraining:
    """A cluster of the blueprint with alerts and a budget, synthesized."""
    app = cdk.App(context=context_of_tests, outdir=str(tmp_path_factory.mktemp("ours")))
    groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)]
    env = cdk.Environment(account="111122223333", region="us-west-2")
    made = hp.SlurmTraining(app, "Smoke", env=env, zone="usw2-az2", groups=groups, alerts=["ml-platform@example.com"])
    app.synth()
    return made


@pytest.fixture(scope="module")
def context_of_tests() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((Path(__file__).parents[2] / "cdk.json").read_text())
    return dict(read["context"])


def test_what_our_blueprint_makes_draws_no_finding_on_money(ours: hp.SlurmTraining) -> None:
    stage = cdk.Stage.of(ours)
    assert stage is not None
    findings = rules.check(template.read(stage.outdir))
    assert [found for found in ids(findings) if found.startswith("HP00")] == NOTHING


class TestGrafana:
    @settled("synth")
    def test_field_report_I_01_a_grafana_with_sso_says_what_must_be_there_before(self) -> None:
        assert found(grafana(AuthenticationProviders=["AWS_SSO"])) == ["HP0030"]
        (finding,) = judged(grafana(AuthenticationProviders=["AWS_SSO", "SAML"]))
        assert (finding.severity, "aws sso-admin list-instances" in finding.fix) == (Severity.WARNING, True)
        (none,) = judged(grafana(AuthenticationProviders=[]))
        assert (none.rule, none.severity) == ("HP0029", Severity.ERROR)
        assert found(grafana()) == NOTHING

    def test_the_rest_of_a_workspace_is_looked_at_too(self) -> None:
        assert found(grafana(RoleArn={"Ref": "AWS::NoValue"})) == ["HP0032"]
        assert found(grafana(RoleArn={"Ref": "AWS::NoValue"}, PermissionType="SERVICE_MANAGED")) == ["HP0033"]
        assert found(grafana(SamlConfiguration={"Ref": "AWS::NoValue"})) == ["HP0031"]
        assert found(grafana(VpcConfiguration={"SubnetIds": ["a"], "SecurityGroupIds": ["b"]})) == ["HP0035"]
        assert found(grafana(), region="sa-east-1") == ["HP0036"]


class TestPrometheus:
    @settled("synth")
    def test_field_report_I_03_a_policy_for_alert_rules_reaches_their_groups(self) -> None:
        def policy(*resources: Any, action: str = "aps:PutRuleGroupsNamespace") -> dict[str, Any]:
            statement = {"Effect": "Allow", "Action": [action], "Resource": list(resources)}
            document = {"Statement": [statement]}
            return {"W": WORKSPACE, "P": resource("AWS::IAM::ManagedPolicy", {"PolicyDocument": document})}

        workspace = {"Fn::GetAtt": ["W", "Arn"]}
        groups = {"Fn::Sub": "arn:aws:aps:${AWS::Region}:111122223333:rulegroupsnamespace/${W.WorkspaceId}/*"}
        assert found(policy(workspace)) == ["HP0037"]
        assert found(policy("arn:aws:aps:us-west-2:111122223333:workspace/ws-1")) == ["HP0037"]
        assert found(policy({"Fn::Sub": "${W.Arn}/*"}, action="aps:DeleteRuleGroupsNamespace")) == ["HP0037"]
        assert found(policy(workspace, groups)) == found(policy("*")) == NOTHING
        assert found(policy(workspace, action="aps:QueryMetrics")) == NOTHING

    @settled("synth")
    def test_field_report_I_04_the_address_for_metrics_has_exactly_one_slash(self) -> None:
        def written(value: Any) -> dict[str, Any]:
            return {"W": WORKSPACE, "S": resource("AWS::SSM::Parameter", {"Type": "String", "Value": value})}

        root = "https://aps-workspaces.${AWS::Region}.amazonaws.com/workspaces/"
        end = "/api/v1/remote_write"
        for wrong in (
            {"Fn::Sub": "${W.PrometheusEndpoint}" + end},
            {"Fn::Join": ["", [{"Fn::GetAtt": ["W", "PrometheusEndpoint"]}, "/", "api/v1/remote_write"]]},
            {"Fn::Sub": f"{root}${{W.WorkspaceId}}//api/v1/remote_write"},
            {"Fn::Sub": f"{root}${{W.WorkspaceId}}api/v1/remote_write"},
            {"Fn::Sub": f"{root}${{W}}{end}"},
            "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1/remote_write",
        ):
            assert found(written(wrong)) == ["HP0038"], wrong
        for right in (
            {"Fn::Sub": f"{root}${{W.WorkspaceId}}{end}"},
            {"Fn::Sub": "${W.PrometheusEndpoint}api/v1/remote_write"},
            f"https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1{end}",
        ):
            assert found(written(right)) == NOTHING, right

    def test_the_observability_addon_wants_the_address_without_a_slash(self) -> None:
        def addon(address: str) -> dict[str, Any]:
            values = {"Fn::Sub": json.dumps({"ampWorkspace": {"prometheusEndpoint": address}})}
            name = "amazon-sagemaker-hyperpod-observability"
            properties = {"AddonName": name, "ClusterName": "research", "ConfigurationValues": values}
            return {"W": WORKSPACE, "A": resource("AWS::EKS::Addon", properties)}

        root = "https://aps-workspaces.${AWS::Region}.amazonaws.com/workspaces/${W.WorkspaceId}"
        assert "HP0038" in found(addon("${W.PrometheusEndpoint}"))
        assert "HP0038" in found(addon(f"{root}/"))
        assert "HP0038" not in found(addon(root))


class TestBudgets:
    @settled("template")
    def test_field_report_I_05_the_topic_of_a_budget_lets_budgets_publish(self, ours: hp.SlurmTraining) -> None:
        assert ours.budget_stack is not None
        (policy,) = of_type(synthesized(ours.budget_stack), "AWS::SNS::TopicPolicy").values()
        statements = policy["PolicyDocument"]["Statement"]
        (publish,) = (each for each in statements if each["Effect"] == "Allow")
        assert (publish["Principal"], publish["Action"]) == (BUDGETS, "sns:Publish")
        assert publish["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
        assert found(with_topic(principal={"Service": "events.amazonaws.com"})) == ["HP0004"]
        assert found(with_topic({"ArnLike": {"aws:SourceArn": "arn:aws:budgets:us-east-1:1:*"}})) == ["HP0015"]

    def test_topic_policies_are_judged_in_a_template_of_anybody(self) -> None:
        account = {"StringEquals": {"aws:SourceAccount": "111122223333"}}
        assert found(with_topic(account)) == NOTHING
        assert found(with_topic({"ArnLike": {"aws:SourceArn": "arn:aws:budgets::111122223333:*"}})) == NOTHING
        assert found(with_topic(principal={"Service": "events.amazonaws.com"})) == ["HP0004"]
        for narrow in (
            {"ArnLike": {"aws:SourceArn": "arn:aws:budgets:us-east-1:111122223333:*"}},
            {"ArnLike": {"aws:SourceArn": "arn:aws:sns:us-east-1:111122223333:Alerts"}},
            {"StringEquals": {"aws:SourceArn": "arn:aws:budgets::111122223333:*"}},
        ):
            assert found(with_topic(narrow)) == ["HP0015"], narrow
        one = {"ArnLike": {"aws:SourceArn": "arn:aws:budgets::111122223333:budget/gpu"}}
        assert found(with_topic(one)) == ["HP0016"]

    def test_the_key_of_a_budgets_topic_admits_budgets(self) -> None:
        def key(principal: object) -> dict[str, Any]:
            use = {"Effect": "Allow", "Principal": principal, "Action": ["kms:*"], "Resource": "*"}
            return {"Key": resource("AWS::KMS::Key", {"KeyPolicy": {"Statement": [use]}})}

        encrypted = with_topic(KmsMasterKeyId={"Ref": "Key"})
        assert found(encrypted | key({"AWS": "arn:aws:iam::111122223333:root"})) == ["HP0019"]
        assert found(encrypted | key(BUDGETS)) == NOTHING
        assert found(with_topic(KmsMasterKeyId="alias/aws/sns")) == ["HP0005"]

    @settled("synth")
    def test_field_report_I_07_a_limit_is_in_the_currency_of_the_account(self, ours: hp.SlurmTraining) -> None:
        def limited(unit: str) -> dict[str, Any]:
            return {"Budget": budget(BudgetLimit={"Amount": 50_000, "Unit": unit})}

        (finding,) = judged(limited("AUD"), "ap-southeast-2")
        assert (finding.rule, finding.severity, finding.fix) == ("HP0007", Severity.ERROR, "use USD")
        assert found(limited("CNY"), "us-west-2") == ["HP0007"]
        assert found(limited("USD"), "ap-southeast-2") == found(limited("CNY"), "cn-north-1") == NOTHING
        assert ours.budget_stack is not None
        (made,) = of_type(synthesized(ours.budget_stack), "AWS::Budgets::Budget").values()
        assert made["Budget"]["BudgetLimit"]["Unit"] == "USD"

    @settled("synth")
    def test_field_report_I_08_a_daily_budget_has_no_forecast(self, ours: hp.SlurmTraining) -> None:
        assert found({"Budget": budget(kind="FORECASTED", TimeUnit="DAILY")}) == ["HP0008"]
        assert found({"Budget": budget(kind="FORECASTED", TimeUnit="MONTHLY")}) == NOTHING
        assert found({"Budget": budget(kind="ACTUAL", TimeUnit="DAILY")}) == NOTHING
        assert ours.budget_stack is not None
        (made,) = of_type(synthesized(ours.budget_stack), "AWS::Budgets::Budget").values()
        assert made["Budget"]["TimeUnit"] == "MONTHLY"

    @settled("template")
    def test_field_report_I_09_a_budget_goes_where_cloudformation_has_them(self, app: cdk.App) -> None:
        assert found({"Budget": budget()}, region="eu-central-2") == ["HP0010"]
        assert found({"Budget": budget()}, region="eu-central-1") == NOTHING
        groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("c", "ml.c5.xlarge", count=1)]
        env = cdk.Environment(account="111122223333", region="eu-north-1")
        made = hp.SlurmTraining(
            app, "North", env=env, zone="eun1-az1", groups=groups, alerts=["ml-platform@example.com"]
        )
        assert made.budget_stack is not None
        assert (made.region, made.budget_stack.region) == ("eu-north-1", "us-east-1")

    @settled("synth")
    def test_field_report_I_11_somebody_reads_the_topic_of_a_budget(self, ours: hp.SlurmTraining) -> None:
        (finding,) = judged(with_topic(Subscription=[]))
        assert (finding.rule, finding.severity) == ("HP0006", Severity.WARNING)
        outside = resource("AWS::SNS::Subscription", {"TopicArn": ALERTS, "Protocol": "https", "Endpoint": "https://x"})
        assert found(with_topic(Subscription=[]) | {"Subscription": outside}) == NOTHING
        assert ours.budget_stack is not None
        (topic,) = of_type(synthesized(ours.budget_stack), "AWS::SNS::Topic").values()
        assert [each["Endpoint"] for each in topic["Subscription"]] == ["ml-platform@example.com"]
        with pytest.raises(hp.InvalidValue, match="a budget needs alerts"):
            hp.SlurmTraining(
                cdk.App(),
                "Nobody",
                zone="usw2-az2",
                groups=[hp.InstanceGroup.controller("ml.m5.xlarge")],
                budget=hp.Budget(usd_per_month=100),
            )
