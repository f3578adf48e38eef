"""The Slurm blueprint: what it makes, and that three independent tools find nothing wrong with it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3, aws_ssm as ssm

import hyperpod_constructs as hp
from hyperpod_constructs.blueprints.foundation import Foundation
from tests.templates import of_type, synthesized

ENV = cdk.Environment(account="111122223333", region="us-west-2")
PLAN = hp.TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14")
SCRATCH = hp.Lustre(capacity_gib=1200, throughput_mbps_per_tib=125)
ROOT = Path(__file__).parents[2]


def frontier(app: cdk.App, **options: Any) -> hp.SlurmTraining:
    """The cluster of app.py."""
    return hp.SlurmTraining(
        app,
        "Frontier",
        **{
            "env": ENV,
            "zone": "usw2-az2",
            "groups": [
                hp.InstanceGroup.controller("ml.m5.4xlarge"),
                hp.InstanceGroup.login("ml.m5.2xlarge"),
                p5(),
            ],
            "storage": hp.Lustre(capacity_gib=48_000, throughput_mbps_per_tib=500),
            "alerts": ["ml-platform@example.com"],
            **options,
        },
    )


def p5(**options: Any) -> hp.InstanceGroup:
    return hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", **{"count": 30, "spares": 2, "capacity": PLAN, **options})


def foundation(made: hp.SlurmTraining) -> cdk.Stack:
    assert made.foundation is not None
    return made.foundation


def smoke(app: cdk.App | cdk.Stage, **options: Any) -> hp.SlurmTraining:
    groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)]
    return hp.SlurmTraining(app, "Smoke", **{"env": ENV, "zone": "usw2-az2", "groups": groups, **options})


def _types(stack: cdk.Stack) -> Counter[str]:
    return Counter(each["Type"] for each in synthesized(stack)["Resources"].values())


class TestStacks:
    def test_foundation_cluster_and_budget_are_stacks_of_their_own(self, app: cdk.App) -> None:
        made = frontier(app)
        assert made.budget_stack is not None
        types = {
            stack.stack_name: Counter(each["Type"] for each in synthesized(stack)["Resources"].values())
            for stack in (foundation(made), made, made.budget_stack)
        }
        assert types["Frontier-Foundation"]["AWS::FSx::FileSystem"] == 1
        assert types["Frontier-Foundation"]["AWS::EC2::VPC"] == 1
        assert types["Frontier"] == {
            "AWS::SageMaker::Cluster": 1,
            "AWS::IAM::Role": 3,
            "AWS::IAM::Policy": 1,
            "AWS::SSM::Parameter": 1,
            "AWS::Events::Rule": 1,
        }
        assert types["Frontier-Budget"] == {
            "AWS::Budgets::Budget": 1,
            "AWS::SNS::Topic": 1,
            "AWS::SNS::TopicPolicy": 1,
        }

    def test_there_is_no_lambda(self, app: cdk.App) -> None:
        frontier(app)
        stacks = [child for child in app.node.children if isinstance(child, cdk.Stack)]
        assert len(stacks) == 3
        assert not [each for stack in stacks for each in of_type(synthesized(stack), "AWS::Lambda::Function")]

    def test_the_foundation_is_protected_and_its_data_kept(self, app: cdk.App) -> None:
        made = frontier(app)
        (scratch,) = (
            each
            for each in synthesized(foundation(made))["Resources"].values()
            if each["Type"] == "AWS::FSx::FileSystem"
        )
        assert foundation(made).termination_protection is True
        assert (scratch["DeletionPolicy"], scratch["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")

    def test_references_to_the_foundation_are_strong_whatever_the_apps_default(self, tmp_path: Path) -> None:
        """With weak ones CloudFormation would replace a subnet under a running cluster."""
        flags = {"@aws-cdk/core:defaultCrossStackReferences": "weak"}
        made = frontier(cdk.App(outdir=str(tmp_path), context=flags))
        text = json.dumps(synthesized(made))
        assert "Fn::GetStackOutput" not in text
        assert text.count("Fn::ImportValue") >= 5

    def test_the_name_of_the_cluster_is_that_of_the_stack_and_a_generation(self, app: cdk.App) -> None:
        assert smoke(app, generation=2).cluster.cluster_name == "Smoke-2"

    def test_a_budget_goes_where_its_type_exists(self, app: cdk.App) -> None:
        made = smoke(
            app,
            env=cdk.Environment(account="111122223333", region="eu-north-1"),
            zone="eun1-az1",
            alerts=["ml-platform@example.com"],
        )
        assert made.budget_stack is not None
        assert made.budget_stack.region == "us-east-1"

    def test_the_budget_is_for_what_is_metered_not_for_the_plan(self, app: cdk.App) -> None:
        made = frontier(app)
        assert made.budget_stack is not None
        (budget,) = of_type(synthesized(made.budget_stack), "AWS::Budgets::Budget").values()
        # 32 p5 nodes on demand would be over 1.5 million USD a month.
        assert 0 < budget["Budget"]["BudgetLimit"]["Amount"] < 50_000
        kinds = [each["Notification"]["NotificationType"] for each in budget["NotificationsWithSubscribers"]]
        assert kinds == ["ACTUAL"] * 4 + ["FORECASTED"]
        assert "BudgetName" not in budget["Budget"]

    def test_without_alerts_there_is_no_budget_and_nobody_is_told(self, app: cdk.App) -> None:
        made = smoke(app)
        assert made.budget_stack is None
        (topic,) = of_type(synthesized(foundation(made)), "AWS::SNS::Topic").values()
        assert "Subscription" not in topic
        assert not of_type(synthesized(made), "AWS::Events::Rule")

    def test_tags_reach_every_stack(self, app: cdk.App) -> None:
        made = frontier(app, tags={"owner": "ml"})
        (cluster,) = of_type(synthesized(made), "AWS::SageMaker::Cluster").values()
        (vpc,) = of_type(synthesized(foundation(made)), "AWS::EC2::VPC").values()
        assert {"Key": "owner", "Value": "ml"} in cluster["Tags"]
        assert {"Key": "owner", "Value": "ml"} in vpc["Tags"]


class TestDefaults:
    def test_deep_health_checks_are_on_where_a_spare_bridges_them(self, app: cdk.App) -> None:
        by_name = {group.name: group for group in frontier(app).cluster.model.groups}
        assert by_name["p5"].health_checks == ("InstanceStress", "InstanceConnectivity")
        assert by_name["controller"].health_checks is None

    def test_deep_health_checks_can_be_switched_off(self, app: cdk.App) -> None:
        made = frontier(app, groups=[hp.InstanceGroup.controller("ml.m5.xlarge"), p5(health_checks=())])
        assert "OnStartDeepHealthChecks" not in json.dumps(synthesized(made))

    def test_outputs_say_what_a_person_does_next(self, app: cdk.App) -> None:
        outputs = synthesized(frontier(app))["Outputs"]
        assert "ml.p5.48xlarge for cluster usage: 32" in outputs["QuotasNeeded"]["Value"]
        assert "prepaid: 32 x ml.p5.48xlarge on plan frontier" in outputs["CostPerHour"]["Value"]
        assert outputs["WaitForNodes"]["Value"] == (
            "hyperpod status Frontier --wait --nodes controller=1 login=1 p5=30 --region us-west-2"
        )


class TestBringYourOwn:
    def test_network_and_file_system_of_the_users(self, app: cdk.App) -> None:
        shared = cdk.Stack(app, "Shared", env=ENV)
        network = hp.Network.from_attributes(
            shared,
            "Network",
            vpc_id="vpc-0123456789abcdef0",
            subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2", cidr="10.1.0.0/20")],
        )
        storage = hp.LustreFileSystem.from_attributes(
            dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", mount_name="abcdefgh", zone="usw2-az2"
        )
        made = frontier(app, network=network, storage=storage)
        assert set(_types(foundation(made))) == {"AWS::SNS::Topic", "AWS::SNS::TopicPolicy"}
        (cluster,) = of_type(synthesized(made), "AWS::SageMaker::Cluster").values()
        assert cluster["VpcConfig"]["Subnets"] == ["subnet-0123456789abcdef0"]
        assert "fs-0123456789abcdef0" in json.dumps(cluster)

    def test_the_cluster_stands_in_the_zone_asked_for_not_in_the_first_of_the_network(self, app: cdk.App) -> None:
        shared = cdk.Stack(app, "Shared", env=ENV)
        network = hp.ClusterNetwork(shared, "Network", zones=["usw2-az1", "usw2-az2"])
        made = frontier(app, network=network)
        (cluster,) = of_type(synthesized(made), "AWS::SageMaker::Cluster").values()
        (scratch,) = of_type(synthesized(foundation(made)), "AWS::FSx::FileSystem").values()
        assert "az2" in json.dumps(cluster["VpcConfig"]["Subnets"])
        assert "az2" in json.dumps(scratch["SubnetIds"])

    def test_a_zone_that_the_network_does_not_have_is_refused(self, app: cdk.App) -> None:
        network = hp.ClusterNetwork(cdk.Stack(app, "Shared", env=ENV), "Network", zones=["usw2-az1"])
        with pytest.raises(hp.InvalidValue, match="no subnet in usw2-az2; it has usw2-az1"):
            frontier(app, network=network)

    def test_the_same_blueprint_in_two_stages_makes_two_clusters_with_two_names(self, app: cdk.App) -> None:
        names = [smoke(cdk.Stage(app, stage, env=ENV)).cluster.cluster_name for stage in ("Test", "Prod")]
        assert names == ["Test-Smoke", "Prod-Smoke"]

    def test_a_subclass_is_a_blueprint_of_an_organisation(self, app: cdk.App) -> None:
        class AcmeTraining(hp.SlurmTraining):
            def __init__(self, scope: cdk.App, id: str, *, nodes: int) -> None:
                groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), p5(count=nodes, spares=1)]
                super().__init__(scope, id, env=ENV, zone="usw2-az2", groups=groups)
                s3.Bucket.from_bucket_name(self, "Datasets", "datasets").grant_read(self.cluster)

        assert "s3:GetObject*" in json.dumps(synthesized(AcmeTraining(app, "Acme", nodes=3)))


class TestAccounting:
    SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"

    def used(self, made: hp.SlurmTraining) -> dict[str, Any]:
        (cluster,) = of_type(synthesized(made), "AWS::SageMaker::Cluster").values()
        found: dict[str, Any] = cluster["Orchestrator"]["Slurm"].get("AccountingDatabase", {})
        return found

    def test_is_kept_on_the_controller_unless_asked_for(self, app: cdk.App) -> None:
        made = smoke(app)
        assert self.used(made) == {}
        assert not of_type(synthesized(foundation(made)), "AWS::RDS::DBInstance")

    def test_has_a_database_in_the_foundation_which_outlives_clusters(self, app: cdk.App) -> None:
        made = smoke(app, accounting=True)
        template = synthesized(foundation(made))
        (database,) = (each for each in template["Resources"].values() if each["Type"] == "AWS::RDS::DBInstance")
        assert (database["DeletionPolicy"], database["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
        exported = {each["Export"]["Name"] for each in template["Outputs"].values() if "Export" in each}
        assert {self.used(made)[name]["Fn::ImportValue"] for name in ("Endpoint", "SecretArn")} <= exported

    def test_is_named_among_what_has_no_price_and_a_budget_is_derived_without_it(self, app: cdk.App) -> None:
        made = smoke(app, accounting=True, alerts=["ml-platform@example.com"])
        assert "not priced: RDS database" in synthesized(made)["Outputs"]["CostPerHour"]["Value"]
        assert made.budget_stack is not None

    def test_comes_last_in_a_foundation_because_no_rollback_could_delete_it(self, app: cdk.App) -> None:
        template = synthesized(foundation(smoke(app, accounting=True, storage=SCRATCH)))
        (database,) = (each for each in template["Resources"].values() if each["Type"] == "AWS::RDS::DBInstance")
        waited_for = {template["Resources"][name]["Type"] for name in database["DependsOn"]}
        assert waited_for >= {"AWS::FSx::FileSystem", "AWS::SNS::TopicPolicy", "AWS::EC2::Route"}

    def test_changes_nothing_else_of_a_foundation(self, app: cdk.App) -> None:
        before, after = (
            synthesized(foundation(smoke(cdk.Stage(app, stage, env=ENV), accounting=accounting)))["Resources"]
            for stage, accounting in (("A", False), ("B", True))
        )
        plain = [
            {name: (each["Type"], each.get("Properties", {}).get("CidrBlock")) for name, each in side.items()}
            for side in (before, after)
        ]
        assert {name: plain[1].get(name) for name in plain[0]} == plain[0]

    @pytest.mark.parametrize("env", [None, cdk.Environment(account=cdk.Aws.ACCOUNT_ID, region=cdk.Aws.REGION)])
    def test_needs_no_region_because_the_zone_says_it(self, app: cdk.App, env: cdk.Environment | None) -> None:
        assert self.used(smoke(app, env=env, accounting=True))

    def test_may_be_a_database_of_the_users(self, app: cdk.App) -> None:
        shared = cdk.Stack(app, "Shared", env=ENV)
        network = hp.ClusterNetwork(shared, "Network", zones=["usw2-az2"])
        database = hp.AccountingDatabase(shared, "Accounting", network=network)
        made = smoke(app, network=network, accounting=database)
        assert made.foundation is None
        assert "Shared:" in json.dumps(self.used(made)["Endpoint"])

    def test_may_be_one_that_exists(self, app: cdk.App) -> None:
        database = hp.AccountingDatabase.from_attributes(endpoint="db.example.com", secret_arn=self.SECRET)
        assert self.used(smoke(app, accounting=database))["Endpoint"] == "db.example.com"

    def test_is_made_in_the_users_network_too(self, app: cdk.App) -> None:
        network = hp.ClusterNetwork(cdk.Stack(app, "Shared", env=ENV), "Network", zones=["usw2-az2"])
        template = synthesized(foundation(smoke(app, network=network, accounting=True)))
        assert len(of_type(template, "AWS::RDS::DBInstance")) == 1

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"slurm": hp.Slurm(accounting=hp.ExternalDatabase(endpoint="db", secret_arn=SECRET))}, "given twice"),
            ({"cidr": "10.0.0.0/22"}, "network 10.0.0.0/22 has no room for a database; use /21 or wider"),
            ({"env": None, "zone": "usgw1-az1"}, r"give hp\.AccountingDatabase\(zones="),
        ],
    )
    def test_that_cannot_be_is_refused_before_any_stack_is_made(
        self, app: cdk.App, wrong: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            smoke(app, accounting=True, **wrong)
        assert app.node.try_find_child("Smoke-Foundation") is None

    def test_in_an_imported_network_needs_the_users_subnets(self, app: cdk.App) -> None:
        network = hp.Network.from_attributes(
            cdk.Stack(app, "Shared", env=ENV),
            "Network",
            vpc_id="vpc-0123456789abcdef0",
            subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2", cidr="10.1.0.0/20")],
        )
        with pytest.raises(hp.InvalidValue, match=r"use hp\.AccountingDatabase\(subnet_ids="):
            smoke(app, network=network, accounting=True)


class TestWhereverItIsDeployed:
    def test_an_app_without_account_and_region_synthesizes(self, app: cdk.App) -> None:
        assert synthesized(smoke(app, env=None))

    def test_scripts_need_neither_account_nor_region(self, app: cdk.App) -> None:
        scripts = hp.LifecycleScripts.extended(ROOT / "examples" / "lifecycle")
        assert "hyperpod/Smoke/" in json.dumps(synthesized(smoke(app, env=None, lifecycle=scripts)))

    def test_account_and_region_may_be_tokens(self, app: cdk.App) -> None:
        env = cdk.Environment(account=cdk.Aws.ACCOUNT_ID, region=cdk.Aws.REGION)
        assert synthesized(smoke(app, env=env))

    def test_account_and_region_of_a_stage_count(self, app: cdk.App) -> None:
        stage = cdk.Stage(app, "Prod", env=cdk.Environment(account="111122223333", region="us-east-1"))
        with pytest.raises(hp.InvalidCluster, match="us-east-1"):
            smoke(stage, env=None)

    def test_no_stack_is_empty(self, app: cdk.App) -> None:
        shared = cdk.Stack(app, "Shared", env=ENV)
        network = hp.ClusterNetwork(shared, "Network", zones=["usw2-az2"])
        assert smoke(app, network=network).foundation is None


class TestArguments:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"storage": hp.Lustre}, "storage is the class Lustre itself; use hp.Lustre"),
            ({"storage": "fs-1"}, "storage is 'fs-1', a str; use hp.Lustre"),
            ({"alerts": "a@example.com"}, "alerts is 'a@example.com', a str; use a list of text"),
            ({"zone": 2}, "SlurmTraining: zone is 2, an int; use text"),
            ({"zone": None}, "zone is None; use text"),
            ({"env": "us-west-2"}, "env is 'us-west-2', a str; use cdk.Environment or None"),
            ({"alerts": ["not an address"]}, "is no e-mail address"),
            ({"alerts": ["a@example.com", "a@example.com"]}, "an address twice"),
            ({"generation": 0}, "generation is 0; use 1 to 999"),
            ({"tags": {"a|b": "v"}}, r"tag 'a\|b' is not allowed"),
            ({"zone": "usw2-az9"}, "zone usw2-az9 has the number 9; use a zone with a number from 1 to 7"),
            ({"zone": cdk.Fn.import_value("zone")}, "the zone of a network is known only at deploy"),
            ({"env": None}, "the Region is not known, so .*; give env=cdk.Environment.* or budget=hp.Budget"),
            ({"budget": 1000}, "budget is 1000, an int; use hp.Budget"),
            ({"budget": hp.Budget(services=(3,))}, r"budget: services\[0\] is 3, an int; use text"),  # type: ignore[arg-type]  # the point
            ({"budget": hp.Budget(), "alerts": []}, "a budget needs alerts"),
            (
                {"repositories": [hp.DataRepository(folder="/d", s3_uri="s3://d/")], "storage": None},
                "repositories need storage",
            ),
        ],
    )
    def test_of_the_wrong_kind_or_without_effect_are_refused(
        self, app: cdk.App, wrong: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            frontier(app, **wrong)
        assert app.node.try_find_child("Frontier-Foundation") is None

    def test_what_the_users_network_decides_cannot_be_asked_for_beside_it(self, app: cdk.App) -> None:
        network = hp.ClusterNetwork(cdk.Stack(app, "Shared", env=ENV), "Network", zones=["usw2-az2"])
        with pytest.raises(hp.InvalidValue, match="egress has no effect beside network"):
            frontier(app, network=network, egress="closed")

    def test_a_budget_is_not_derived_from_prices_that_nobody_knows(self, app: cdk.App) -> None:
        groups = [
            hp.InstanceGroup.controller("ml.m5.xlarge"),
            hp.InstanceGroup.compute("t", "ml.trn2.48xlarge", count=1),
        ]
        with pytest.raises(hp.InvalidValue, match=r"no price is known for ml\.trn2\.48xlarge"):
            frontier(app, groups=groups)

    def test_an_id_that_is_no_name_of_a_stack_is_refused(self, app: cdk.App) -> None:
        with pytest.raises(
            hp.InvalidValue, match="stacks would be named '9abc'; use an id of letters, digits and hyphens"
        ):
            hp.SlurmTraining(app, "9abc", env=ENV, zone="usw2-az2", groups=[p5()])

    def test_an_id_that_is_taken_is_refused_in_our_words(self, app: cdk.App) -> None:
        smoke(app)
        with pytest.raises(hp.InvalidValue, match="there is a construct 'Smoke-Foundation' already"):
            smoke(app)

    def test_what_is_yet_to_be_looked_up_is_refused_in_no_stack(self, app: cdk.App) -> None:
        elsewhere = cdk.Stack(app, "Elsewhere", env=ENV)

        def asked(name: str) -> str:
            return ssm.StringParameter.value_from_lookup(elsewhere, f"/team/{name}")

        groups = [hp.InstanceGroup.controller(asked("type"))]
        made = smoke(app, zone=asked("zone"), groups=groups, alerts=[asked("mail")], storage=SCRATCH)
        assert synthesized(foundation(made))

    def test_types_that_the_deploy_decides_are_in_no_output(self, app: cdk.App) -> None:
        types = cdk.Token.as_list(cdk.Fn.split(",", cdk.Fn.import_value("types")))
        flexible = hp.InstanceGroup(
            name="any",
            count=1,
            node_type="Compute",
            flexible_types=tuple(types),
            partitions=("any",),
        )
        made = smoke(app, groups=[hp.InstanceGroup.controller("ml.m5.xlarge"), flexible])
        assert "ml.m5.xlarge for cluster usage: 1" in synthesized(made)["Outputs"]["QuotasNeeded"]["Value"]

    def test_a_group_without_a_role_is_written_without_one_where_that_was_acknowledged(self, app: cdk.App) -> None:
        controller = hp.InstanceGroup.controller("ml.m5.xlarge")
        plain = hp.InstanceGroup(name="plain", count=1, instance_type="ml.m5.xlarge")
        made = smoke(app, groups=[controller, plain], acknowledge={"HP2004": "the service may take it one day"})
        (cluster,) = of_type(synthesized(made), "AWS::SageMaker::Cluster").values()
        assert ["SlurmConfig" in group for group in cluster["InstanceGroups"]] == [True, False]
        named = replace(plain, partitions=("train",))
        with pytest.raises(hp.InvalidValue, match="has partitions \\['train'\\] and no node type"):
            smoke(cdk.Stage(app, "Other"), groups=[controller, named], acknowledge={"HP2004": "the same"})

    def test_an_acknowledgement_on_a_file_system_holds_for_the_next_cluster(self, app: cdk.App) -> None:
        odd = hp.Lustre(capacity_gib=1300, throughput_mbps_per_tib=125)
        first = smoke(app, storage=odd, acknowledge={"HP3001": "a size that only we are offered"})
        shared = foundation(first)
        assert isinstance(shared, Foundation)
        groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)]
        assert hp.SlurmTraining(
            app, "Next", env=ENV, zone="usw2-az2", groups=groups, network=shared.network, storage=shared.storage
        )

    def test_an_acknowledgement_covers_every_stack_of_the_blueprint(self, app: cdk.App) -> None:
        storage = hp.Lustre(capacity_gib=48_000, throughput_mbps_per_tib=300)
        budget = hp.Budget(usd_per_month=10_000)
        with pytest.raises(hp.InvalidCluster, match="HP3002"):
            frontier(app, storage=storage, budget=budget)
        accepted = {"HP3002": "a throughput that only we are offered"}
        made = frontier(app, storage=storage, budget=budget, acknowledge=accepted)
        assert synthesized(made)


class TestRefusals:
    def test_come_before_any_stack_is_made(self, app: cdk.App) -> None:
        before = len(app.node.children)
        with pytest.raises(hp.InvalidCluster):
            frontier(app, groups=[p5()])
        assert len(app.node.children) == before

    def test_a_plan_that_is_too_small_is_refused_with_the_counts_that_are_sold(self, app: cdk.App) -> None:
        with pytest.raises(hp.InvalidCluster) as refused:
            frontier(app, groups=[hp.InstanceGroup.controller("ml.m5.xlarge"), p5(count=32)])
        (finding,) = refused.value.findings
        assert finding.rule == "HP1107"
        assert finding.path == "Frontier/Cluster/p5"
        assert "34 instances (32 + 2 spares)" in finding.message

    def test_a_plan_in_another_zone_is_refused(self, app: cdk.App) -> None:
        with pytest.raises(hp.InvalidCluster, match="usw2-az4"):
            frontier(app, zone="usw2-az4")

    def test_a_subnet_without_room_is_refused_with_the_size_that_has_it(self, app: cdk.App) -> None:
        with pytest.raises(hp.InvalidCluster, match=r"1,02\d addresses"):
            frontier(app, cidr="10.0.0.0/20")

    def test_a_zone_of_another_region_is_refused(self, app: cdk.App) -> None:
        """Field report A-02."""
        with pytest.raises(hp.InvalidCluster, match="us-east-1"):
            smoke(app, zone="use1-az1")


BESIDE = """
from cdk_nag import AwsSolutionsChecks
hp.SlurmTraining(
    app,
    "Scripted",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    egress="closed",
    accounting=True,
    groups=[hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)],
    lifecycle=hp.LifecycleScripts.extended("examples/lifecycle"),
)
# What the engine and cdk-nag say of it is accepted: a type that nobody knows, an image called default.
hp.SlurmTraining(
    app,
    "Accepted",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    egress="closed",
    groups=[
        hp.InstanceGroup.controller("ml.m5.xlarge", image_id="default"),
        hp.InstanceGroup.compute("new", "ml.p5.49xlarge", count=1),
    ],
    acknowledge={"HP1010": "offered since yesterday"},
)
hp.SlurmTraining(
    app,
    "Anywhere",
    zone="usw2-az2",
    egress="closed",
    groups=[hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)],
    lifecycle=hp.LifecycleScripts.extended("examples/lifecycle"),
)
canary = cdk.Stack(app, "Canary")
cdk.CfnResource(canary, "Topic", type="AWS::SNS::Topic", properties={"NoSuchProperty": 1})
cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))
"""


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembly of app.py and of a closed network with scripts, with the CDK's engine and cdk-nag on.

    A report lists only plugins that found something: a stack with a mistake shows that the engine ran.
    """
    outdir = tmp_path_factory.mktemp("frontier")
    source = (ROOT / "app.py").read_text().replace("app.synth()", BESIDE + "app.synth()")
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    environment = {**os.environ, "CDK_OUTDIR": str(outdir), "CDK_CONTEXT_JSON": json.dumps(context)}
    environment.pop("CDK_VALIDATION", None)
    ran = subprocess.run([sys.executable, "-c", source], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert b"NoSuchProperty" in ran.stdout + ran.stderr
    return outdir


class TestSecondOpinions:
    def test_engine_and_cdk_nag_find_nothing_that_is_not_acknowledged(self, assembly: Path) -> None:
        report = json.loads((assembly / "validation-report.json").read_text())
        found = {
            (plugin["pluginName"], violation["ruleName"], where["constructPath"])
            for plugin in report["pluginReports"]
            for violation in plugin["violations"]
            for where in violation["violatingConstructs"]
        }
        assert found == {
            ("CloudFormation Validate", "F3002", "Canary/Topic"),
            # An idle share of the plan is this cluster's choice, said once as an info.
            ("HyperPod", "HP1110", "Frontier/Cluster/Resource"),
        }
        acknowledged = {
            (plugin["pluginName"], violation["ruleName"].partition("[")[0])
            for plugin in report["pluginReports"]
            for violation in plugin.get("suppressedViolations", [])
        }
        names = ("IAM4", "IAM5", "RDS3", "RDS11", "SMG4")
        assert acknowledged >= {("AwsSolutions", f"AwsSolutions-{name}") for name in names}

    def test_cfn_lint_finds_nothing(self, assembly: Path) -> None:
        # A mistake on purpose, and what cfn-lint knows no better than the CDK's engine.
        left_out = {"Canary.template.json", "Accepted.template.json"}
        templates = sorted(str(path) for path in assembly.glob("*.template.json") if path.name not in left_out)
        command = [str(Path(sys.executable).parent / "cfn-lint"), "--regions", "us-west-2", "--template", *templates]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert len(templates) == 8
        assert (ran.returncode, ran.stdout) == (0, "")

    def test_the_cluster_is_a_create_cluster_call_that_botocore_accepts(self, assembly: Path) -> None:
        from botocore.loaders import Loader
        from botocore.model import ServiceModel
        from botocore.validate import ParamValidator

        template = json.loads((assembly / "Frontier.template.json").read_text())
        (cluster,) = of_type(template, "AWS::SageMaker::Cluster").values()
        model = ServiceModel(Loader().load_service_model("sagemaker", "service-2"))
        shape = model.operation_model("CreateCluster").input_shape
        assert ParamValidator().validate(_with_literals(cluster), shape).generate_report() == ""


REFERENCES = {
    "training-plan": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier",
    "Role": "arn:aws:iam::111122223333:role/nodes",
    "DNSName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "MountName": "abcdefgh",
    "GroupId": "sg-0123456789abcdef0",
    "Nodes": "subnet-0123456789abcdef0",
}


def _with_literals(value: Any) -> Any:
    """References as the kind of text that they become."""
    if isinstance(value, list):
        return [_with_literals(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) & {"Fn::ImportValue", "Fn::GetAtt", "Fn::Join", "Ref"}:
        return next(literal for word, literal in REFERENCES.items() if word in json.dumps(value))
    return {key: _with_literals(item) for key, item in value.items()}


class TestStableBytes:
    def test_two_synths_with_other_hash_seeds_are_the_same_bytes(self, tmp_path: Path, context: dict[str, Any]) -> None:
        seen = []
        for seed in ("1", "2"):
            outdir = tmp_path / seed
            environment = {**os.environ, "PYTHONHASHSEED": seed, "CDK_OUTDIR": str(outdir)}
            environment["CDK_CONTEXT_JSON"] = json.dumps(context)
            subprocess.run([sys.executable, "app.py"], cwd=ROOT, env=environment, check=True, capture_output=True)
            seen.append({path.name: path.read_bytes() for path in outdir.iterdir() if _ours(path)})
        assert len(seen[0]) >= 7
        assert seen[0] == seen[1]


def _ours(path: Path) -> bool:
    return path.is_file() and re.search(r"\.(template|assets|metadata)\.json$|manifest\.json$", path.name) is not None
