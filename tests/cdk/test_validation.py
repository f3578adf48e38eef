"""The rules at synth, inside one process. What the CLI makes of it is in test_validation_through_the_cli."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sagemaker as sagemaker

import hyperpod_constructs as hp
from hyperpod_constructs.cdk import validation
from tests.templates import synthesized


def raw_cluster(stack: cdk.Stack, **group: Any) -> sagemaker.CfnCluster:
    """A cluster that nobody's constructor has checked."""
    return sagemaker.CfnCluster(
        stack,
        "Raw",
        cluster_name="raw",
        node_provisioning_mode="Continuous",
        orchestrator={"slurm": {}},
        instance_groups=[
            {
                "instanceGroupName": "controller",
                "instanceCount": 1,
                "executionRole": "arn:aws:iam::111122223333:role/nodes",
                "instanceType": "ml.m5.xlarge",
                "slurmConfig": {"nodeType": "Controller"},
                **group,
            }
        ],
    )


def reported(app: cdk.App) -> list[dict[str, Any]]:
    report = json.loads((Path(app.outdir) / "validation-report.json").read_text())
    return [
        violation
        for plugin in report["pluginReports"]
        if plugin["pluginName"] == validation.PLUGIN
        for violation in plugin["violations"]
    ]


class TestModelValidation:
    def test_checks_clusters_written_without_our_constructs(self, app: cdk.App, stack: cdk.Stack) -> None:
        raw_cluster(stack, instanceType="ml.m5.xlarg")
        validation.register(stack)
        with pytest.raises(RuntimeError, match="ValidationFailed"):
            app.synth()
        assert "ml.m5.xlarge" in str(reported(app))

    def test_checks_escape_hatches(self, app: cdk.App, stack: cdk.Stack) -> None:
        made = hp.Cluster(
            stack,
            "Cluster",
            name="smoke",
            network=hp.ClusterNetwork(
                stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False
            ),
            groups=[hp.InstanceGroup.controller("ml.m5.xlarge")],
        )
        made.resource.add_property_override("InstanceGroups.0.InstanceType", "ml.m5.xlarg")
        with pytest.raises(RuntimeError, match="ValidationFailed"):
            app.synth()

    def test_a_type_that_nobody_knows_is_a_warning_although_the_engines_list_is_acknowledged(
        self, app: cdk.App, stack: cdk.Stack
    ) -> None:
        made = hp.Cluster(
            stack,
            "Cluster",
            name="smoke",
            network=hp.ClusterNetwork(
                stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False
            ),
            groups=[hp.InstanceGroup.controller("ml.m5.xlarge")],
        )
        made.resource.add_property_override("InstanceGroups.0.InstanceType", "ml.bogus")
        app.synth()
        (violation,) = (each for each in reported(app) if "ml.bogus" in each["description"])
        assert violation["severity"] == "warning"

    def test_checks_nested_stacks_which_the_cdk_does_not(self, app: cdk.App, stack: cdk.Stack) -> None:
        raw_cluster(cdk.NestedStack(stack, "Nested"), instanceType="ml.m5.xlarg")
        validation.register(stack)
        with pytest.raises(RuntimeError, match="ValidationFailed"):
            app.synth()

    def test_checks_stages(self, app: cdk.App) -> None:
        stage = cdk.Stage(app, "Prod", env=cdk.Environment(account="111122223333", region="us-west-2"))
        stack = cdk.Stack(stage, "Stack")
        raw_cluster(stack, instanceType="ml.m5.xlarg")
        validation.register(stack)
        with pytest.raises(RuntimeError, match="ValidationFailed"):
            app.synth()

    def test_an_empty_stack_beside_is_no_reason_to_refuse(self, app: cdk.App, stack: cdk.Stack) -> None:
        raw_cluster(stack)
        cdk.Stack(app, "Empty")
        validation.register(stack)
        app.synth()
        assert "HP0000" not in {each["ruleName"] for each in reported(app)}

    def test_is_registered_once_however_many_constructs_ask(self, app: cdk.App, stack: cdk.Stack) -> None:
        raw_cluster(stack, instanceType="ml.m5.xlarg")
        for _ in range(3):
            validation.register(stack)
        with pytest.raises(RuntimeError, match="ValidationFailed"):
            app.synth()
        assert len([each for each in reported(app) if "ml.m5.xlarg" in each["description"]]) == 1

    def test_an_acknowledged_error_lets_synth_pass(self, app: cdk.App, stack: cdk.Stack) -> None:
        raw = raw_cluster(stack, instanceType="ml.m5.xlarg")
        validation.register(stack)
        with pytest.raises(RuntimeError, match="ValidationFailed"):
            app.synth()
        for rule in {each["ruleName"].rpartition("::")[2] for each in reported(app)}:
            hp.acknowledge(raw, rule, "a type that only we have")
        assert synthesized(stack)

    def test_a_rule_that_crashes_is_fatal_and_cannot_be_acknowledged(
        self, app: cdk.App, stack: cdk.Stack, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        raw_cluster(stack)
        validation.register(stack)
        monkeypatch.setattr("hyperpod_constructs.model.template.decode", _crash)
        cdk.Validations.of(app).acknowledge(cdk.Acknowledgment(id="HyperPod::HP0000", reason="let me through"))
        with pytest.raises(RuntimeError, match="ValidationFailed"):
            app.synth()
        (violation,) = reported(app)
        assert violation["severity"] == "fatal"
        assert "the decoder broke" in violation["description"]

    def test_a_fatal_rule_cannot_be_named_in_an_acknowledgement(self, stack: cdk.Stack) -> None:
        with pytest.raises(hp.InvalidValue, match="no rule 'HP0000'"):
            hp.acknowledge(stack, "HP0000", "let me through")


def _crash(*_: object) -> None:
    raise RuntimeError("the decoder broke")
