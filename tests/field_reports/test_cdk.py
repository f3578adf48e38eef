"""Field reports on the CDK, jsii and CloudFormation (section J): each in its smallest form."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

import hyperpod_constructs as hp
from hyperpod_constructs.findings import Severity
from tests.field_reports.settled import checked, ids, settled
from tests.templates import of_type, synthesized

ROOT = Path(__file__).parents[2]
NOTHING: list[str] = []
ENV = cdk.Environment(account="111122223333", region="us-west-2")


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)


def groups(**fields: Any) -> list[hp.InstanceGroup]:
    return [
        hp.InstanceGroup.controller("ml.m5.xlarge"),
        hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", **{"count": 1, **fields}),
    ]


def cluster(stack: cdk.Stack, network: Any, **options: Any) -> hp.Cluster:
    return hp.Cluster(stack, "Cluster", **{"name": "smoke", "network": network, "groups": groups(), **options})


def training(app: cdk.App, **options: Any) -> hp.SlurmTraining:
    return hp.SlurmTraining(app, "Train", **{"env": ENV, "zone": "usw2-az2", "groups": groups(), **options})


class TestTypes:
    """`tests/cdk/test_arguments.py` asks every argument of the public API."""

    @settled("synth")
    def test_field_report_J_01_a_wrong_type_is_named_before_jsii_sees_it(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        wrong: list[tuple[Any, str]] = [
            (lambda: hp.Lustre(capacity_gib="1200"), "capacity is '1200'"),  # type: ignore[arg-type]  # the point
            (
                lambda: hp.Network.from_attributes(stack, "N", vpc_id="vpc-1", subnets="subnet-1"),  # type: ignore[arg-type]  # the point
                "Network.from_attributes: subnets is 'subnet-1', a str; use a list of hp.ImportedSubnet",
            ),
            (
                lambda: cluster(stack, network, groups=[{"name": "p5"}]),
                "Cluster: groups[0] is {'name': 'p5'}, a dict; use hp.InstanceGroup",
            ),
            (
                lambda: hp.LustreFileSystem(stack, "S", network=network, lustre={"capacity_gib": 1200}),  # type: ignore[arg-type]  # the point
                "LustreFileSystem: lustre is {'capacity_gib': 1200}, a dict; use hp.Lustre",
            ),
            (
                lambda: hp.CheckpointBucket(stack, "B", key="alias/mine"),  # type: ignore[arg-type]  # the point
                "CheckpointBucket: key is 'alias/mine', a str; use a key, for example kms.Key.from_key_arn",
            ),
            (
                lambda: hp.AlertTopic(None, "T", emails=[], publishers=[]),  # type: ignore[arg-type]  # the point
                "AlertTopic: scope is None; use constructs.Construct",
            ),
        ]
        for make, message in wrong:
            with pytest.raises(hp.InvalidValue, match=re.escape(message)) as refused:
                make()
            assert "jsii" not in str(refused.value).lower()

    @settled("synth")
    def test_field_report_J_02_text_that_the_deploy_decides_is_not_measured(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        late = cdk.CfnParameter(stack, "Late").value_as_string
        for text in (late, f"prefix-{late}"):
            hp.LustreFileSystem.from_attributes(dns_name=text, mount_name=text)
            hp.LifecycleScripts.existing(f"s3://{text}", on_create=text)
            hp.DataRepository(folder=text, s3_uri=text)
        home = hp.Mount(kind="openzfs", path=f"/home/{late}", file_system=f"{late}.fsx.us-west-2.amazonaws.com")
        cluster(stack, network, groups=groups(mounts=(home,)), tags={"team": late, "owner": f"{late} & Co"})
        hp.AlertTopic(stack, "Alerts", emails=[late], publishers=["events.amazonaws.com"])
        hp.ClusterBudget(stack, "Budget", budget=hp.Budget(usd_per_month=1), topic_arn=late)
        made = synthesized(stack)
        (properties,) = of_type(made, "AWS::SageMaker::Cluster").values()
        assert {"Key": "owner", "Value": {"Fn::Join": ["", [{"Ref": "Late"}, " & Co"]]}} in properties["Tags"]

    def test_names_that_the_deploy_decides_pass_in_a_template_of_anybody(self) -> None:
        text = """
            Parameters: {Late: {Type: String}}
            Resources:
              Cluster:
                Type: AWS::SageMaker::Cluster
                Properties:
                  ClusterName: NAME
                  NodeProvisioningMode: Continuous
                  Orchestrator: {Slurm: {}}
                  InstanceGroups:
                    - InstanceGroupName: controller
                      InstanceType: ml.m5.xlarge
                      InstanceCount: 1
                      ExecutionRole: arn:aws:iam::111122223333:role/nodes
                      SlurmConfig: {NodeType: Controller}
            """
        for name in ("!Ref Late", "!Sub 'a_b-${Late}'"):
            assert ids(checked(text.replace("NAME", name))) == ids(checked(text.replace("NAME", "train")))
        assert "HP1001" in ids(checked(text.replace("NAME", "a_b")))

    @settled("synth")
    def test_field_report_J_08_type_checkers_take_the_documented_calls(self, tmp_path: Path) -> None:
        """What a user writes with the CDK's own objects passes mypy --strict; text in their place does not."""
        right = """
import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2, aws_iam as iam, aws_kms as kms, aws_s3 as s3

import hyperpod_constructs as hp

stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account="111122223333", region="us-west-2"))
network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"])
vpc: ec2.IVpc = network.vpc
ec2.InterfaceVpcEndpoint(stack, "Ssm", vpc=vpc, service=ec2.InterfaceVpcEndpointAwsService.SSM)
key = kms.Key(stack, "Key")
lustre = hp.Lustre(capacity_gib=4800, throughput_mbps_per_tib=250)
scratch = hp.LustreFileSystem(stack, "Scratch", network=network, lustre=lustre, key=key)
imported = hp.LustreFileSystem.from_attributes(dns_name="fs-1.fsx.us-west-2.amazonaws.com", mount_name="abcdefgh")
cluster = hp.Cluster(
    stack,
    "Cluster",
    name="train",
    network=network,
    groups=[hp.InstanceGroup.controller("ml.m5.4xlarge"), hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=2)],
    mounts={"/fsx": scratch, "/old": imported},
    roles={"p5": iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))},
    permissions_boundary=iam.ManagedPolicy.from_aws_managed_policy_name("PowerUserAccess"),
)
s3.Bucket(stack, "Data", encryption_key=key).grant_read(cluster)
cluster.connections.allow_from(ec2.Peer.ipv4("10.0.0.0/8"), ec2.Port.tcp(22))
hp.acknowledge(cluster, "HP3009", "tried")
"""
        wrong = right.replace('iam.Role(stack, "Role", assumed_by=', "str(")
        assert _mypy(tmp_path / "right.py", right) == "Success: no issues found in 1 source file"
        assert 'expected "str": "IRole"' in _mypy(tmp_path / "wrong.py", wrong)


def _mypy(file: Path, text: str) -> str:
    """What mypy says of a user's file, with the cache of `make lint`."""
    file.write_text(text)
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(file)]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    ).stdout.strip()


class TestStacks:
    """`tests/blueprints/test_foundation.py` takes more away."""

    @settled("template")
    def test_field_report_J_04_what_a_cluster_imports_stays_exported_without_it(
        self, context: dict[str, Any], tmp_path: Path
    ) -> None:
        before = training(cdk.App(context=context, outdir=str(tmp_path / "1")), alerts=["ml-platform@example.com"])
        after = training(cdk.App(context=context, outdir=str(tmp_path / "2")))
        imported = set(re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(synthesized(before))))
        assert after.foundation is not None
        outputs = synthesized(after.foundation)["Outputs"].values()
        assert len(imported) == 3
        assert imported <= {each["Export"]["Name"] for each in outputs}
        assert "cdk deploy --exclusively ID" in (ROOT / "docs" / "what-no-check-can-see.md").read_text()

    @settled("synth")
    def test_field_report_J_05_a_template_that_is_too_large_is_refused(self, app: cdk.App) -> None:
        def template(count: int, section: str = "Resources") -> str:
            body: dict[str, Any] = {"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}
            member = {"Resources": {"Type": "AWS::SNS::Topic"}, "Outputs": {"Value": "x"}}.get(
                section, {"Type": "String", "Default": "x"}
            )
            return json.dumps({**body, section: {f"T{number}": member for number in range(count)}})

        (finding,) = checked(template(501), file="t.json")
        assert (finding.rule, finding.severity) == ("HP0108", Severity.ERROR)
        assert finding.message == "501 resources; CloudFormation takes 500"
        assert ids(checked(template(500), file="t.json")) == ids(checked(template(400), file="t.json")) == ["HP0109"]
        assert ids(checked(template(399), file="t.json")) == NOTHING
        assert ids(checked(template(201, "Outputs"), file="t.json")) == ["HP0108"]
        assert ids(checked(template(201, "Parameters"), file="t.json")) == ["HP0108"]
        many = [hp.InstanceGroup.compute(f"c{number}", "ml.c5.xlarge", count=1) for number in range(18)]
        made = training(app, groups=[*groups(), *many], alerts=["ml-platform@example.com"])
        assert made.foundation is not None
        assert max(len(synthesized(stack)["Resources"]) for stack in (made, made.foundation)) < 60

    @settled("synth")
    def test_field_report_J_06_tags_are_few_ours_and_given_once(self, stack: cdk.Stack, network: hp.Network) -> None:
        fifty = {f"k{number}": "v" for number in range(50)}
        for tags, rule in (
            ({**fifty, "more": "v"}, "HP0104"),
            ({"aws:team": "ml"}, "HP0105"),
            ({"k" * 129: "v"}, "HP0107"),
            ({"team": "v" * 257}, "HP0107"),
        ):
            with pytest.raises(hp.InvalidCluster, match=rule):
                cluster(stack, network, tags=tags)
        cluster(stack, network, tags=dict(reversed(fifty.items())))
        (made,) = of_type(synthesized(stack), "AWS::SageMaker::Cluster").values()
        assert [tag["Key"] for tag in made["Tags"]] == sorted(fifty)

    def test_tags_of_every_resource_are_judged_in_a_template_of_anybody(self) -> None:
        def tagged(*tags: dict[str, str], kind: str = "AWS::EC2::VPC") -> list[str]:
            properties = {"CidrBlock": "10.0.0.0/16", "Tags": list(tags)}
            return ids(checked(json.dumps({"Resources": {"V": {"Type": kind, "Properties": properties}}})))

        fifty = [{"Key": f"k{number}", "Value": "v"} for number in range(50)]
        team = {"Key": "team", "Value": "ml"}
        assert tagged(*fifty, team) == ["HP0104"]
        assert tagged({"Key": "aws:team", "Value": "ml"}) == ["HP0105"]
        assert tagged({"Key": "AWS:team", "Value": "ml"}, kind="AWS::Lambda::Function") == ["HP0105"]
        assert tagged(team, {"Key": "team", "Value": "research"}) == ["HP0106"]
        assert tagged({"Key": "team", "Value": "v" * 257}) == ["HP0107"]
        assert tagged(*fifty) == NOTHING


def test_a_role_of_anybody_is_taken_whatever_made_it(stack: cdk.Stack, network: hp.Network) -> None:
    """J-08: no `isinstance` on interfaces of jsii, which fails for what they return."""
    mine = iam.Role.from_role_arn(stack, "Mine", "arn:aws:iam::111122223333:role/mine")
    made = cluster(stack, network, roles={"cpu": mine})
    assert made.role("cpu") is mine
