"""The rules at synth as a user meets them: under the real CDK CLI, which goes by the report, not by exceptions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

CDK = Path(sys.executable).parent / "cdk"
APP = """\
import aws_cdk as cdk
import hyperpod_constructs as hp
from hyperpod_constructs import rules
app = cdk.App()
stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="111122223333", region="us-west-2"))
network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)
groups = [hp.InstanceGroup.controller("ml.m5.xlarge")]
cluster = hp.Cluster(stack, "Cluster", name="smoke", network=network, groups=groups)
"""


LOOKING_UP = """\
import aws_cdk as cdk
import hyperpod_constructs as hp
from aws_cdk import aws_ec2 as ec2, aws_iam as iam, aws_ssm as ssm
app = cdk.App()
stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="111122223333", region="us-west-2"))
vpc = ec2.Vpc.from_lookup(stack, "Vpc", tags={"team": "ml"})
network = hp.Network.from_attributes(
    stack,
    "Network",
    vpc_id=vpc.vpc_id,
    vpc_cidr=vpc.vpc_cidr_block,
    subnets=[
        hp.ImportedSubnet(
            subnet_id=each.subnet_id,
            availability_zone=each.availability_zone,
            route_table_id=each.route_table.route_table_id,
            cidr=each.ipv4_cidr_block,
        )
        for each in vpc.private_subnets
    ],
)
hp.Cluster(
    stack,
    "Cluster",
    name="smoke",
    network=network,
    groups=[hp.InstanceGroup.controller(ssm.StringParameter.value_from_lookup(stack, "/team/type"))],
    roles={"controller": iam.Role.from_lookup(stack, "Nodes", role_name="nodes")},
)
"""
_WHERE = "account=111122223333:{}region=us-west-2{}"
ANSWERS = {
    "vpc-provider:" + _WHERE.format("filter.tag:team=ml:", ":returnAsymmetricSubnets=true"): {
        "vpcId": "vpc-0123456789abcdef0",
        "vpcCidrBlock": "10.0.0.0/16",
        "ownerAccountId": "111122223333",
        "availabilityZones": [],
        "subnetGroups": [
            {
                "name": "Private",
                "type": "Private",
                "subnets": [
                    {
                        "subnetId": "subnet-0123456789abcdef0",
                        "cidr": "10.0.32.0/19",
                        "availabilityZone": "us-west-2b",
                        "routeTableId": "rtb-0123456789abcdef0",
                    }
                ],
            }
        ],
    },
    "ssm:" + _WHERE.format("parameterName=/team/type:", ""): "ml.m5.xlarge",
    "cc-api-provider:"
    + _WHERE.format("exactIdentifier=nodes:propertiesToReturn.0=Arn:", ":typeName=AWS$:$:IAM$:$:Role"): [
        {"Arn": "arn:aws:iam::111122223333:role/nodes", "Identifier": "nodes"}
    ],
}
"""What the CDK writes into cdk.context.json once AWS has answered."""


def synth(folder: Path, then: str, app: str = APP) -> subprocess.CompletedProcess[str]:
    (folder / "app.py").write_text(app + dedent(then) + "app.synth()\n")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "1",
        "CI": "true",
        "HOME": str(folder),
    }
    return subprocess.run(
        [CDK, "synth", "--quiet", "--no-notices", "--app", f"{sys.executable} app.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


class TestLookups:
    def test_the_first_synth_gets_as_far_as_asking_aws(self, tmp_path: Path) -> None:
        ran = synth(tmp_path, "", LOOKING_UP)
        said = ran.stdout + ran.stderr
        assert "Need to perform AWS calls for account 111122223333" in said
        assert "HyperPod" not in said
        assert "Traceback" not in said
        manifest = json.loads((tmp_path / "cdk.out" / "manifest.json").read_text())
        assert {each["key"] for each in manifest["missing"]} == set(ANSWERS)

    def test_the_next_one_goes_by_the_answers(self, tmp_path: Path) -> None:
        (tmp_path / "cdk.context.json").write_text(json.dumps(ANSWERS))
        ran = synth(tmp_path, "", LOOKING_UP)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        template = json.loads((tmp_path / "cdk.out" / "Stack.template.json").read_text())
        (made,) = (each for each in template["Resources"].values() if each["Type"] == "AWS::SageMaker::Cluster")
        assert made["Properties"]["VpcConfig"]["Subnets"] == ["subnet-0123456789abcdef0"]
        assert made["Properties"]["InstanceGroups"][0]["InstanceType"] == "ml.m5.xlarge"


class TestUnderTheCli:
    def test_an_error_stops_synth_and_says_what_to_do(self, tmp_path: Path) -> None:
        ran = synth(
            tmp_path, 'cluster.resource.add_property_override("InstanceGroups.0.InstanceType", "ml.m5.xlarg")\n'
        )
        assert ran.returncode == 1
        assert "ml.m5.xlarge" in ran.stdout + ran.stderr

    def test_a_rule_that_crashes_stops_synth_and_says_so(self, tmp_path: Path) -> None:
        ran = synth(
            tmp_path,
            """
            def broken(deployment):
                raise RuntimeError("this rule is broken")
                yield
            rules.RULES["HP1999"] = rules.Rule(
                id="HP1999", severity=hp.Severity.ERROR, title="t", because="b", source="s", check=broken
            )
            """,
        )
        assert ran.returncode == 1
        assert "this rule is broken" in ran.stdout + ran.stderr

    def test_a_decoder_that_crashes_stops_synth_and_says_so(self, tmp_path: Path) -> None:
        ran = synth(
            tmp_path,
            """
            from hyperpod_constructs.cdk import validation
            def broken(assembly):
                raise RuntimeError("this decoder is broken")
            validation.template.decode = broken
            """,
        )
        assert ran.returncode == 1
        assert "this decoder is broken" in ran.stdout + ran.stderr

    def test_a_good_app_passes(self, tmp_path: Path) -> None:
        ran = synth(tmp_path, "")
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def test_a_warning_that_only_a_constructor_can_give_is_printed_until_it_is_acknowledged(
        self, tmp_path: Path
    ) -> None:
        mounted = """
            files = hp.LustreFileSystem.from_attributes(
                dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", mount_name="abcdefgh", zone="usw2-az1"
            )
            hp.Cluster(stack, "Far", name="far", network=network, groups=groups, mounts={{"/fsx": files}}{accepted})
            """
        said = synth(tmp_path, mounted.format(accepted=""))
        assert "HP4008" in said.stdout + said.stderr
        silent = synth(tmp_path, mounted.format(accepted=', acknowledge={"HP4008": "moved next month"}'))
        assert silent.returncode == 0
        assert "HP4008" not in silent.stdout + silent.stderr
