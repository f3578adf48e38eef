"""The cluster, as CloudFormation will get it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam, aws_s3 as s3

import hyperpod_constructs as hp
from tests.templates import of_type, synthesized

CLUSTER = "AWS::SageMaker::Cluster"


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", flow_logs=False)


def groups(**compute: Any) -> list[hp.InstanceGroup]:
    return [
        hp.InstanceGroup.controller("ml.m5.xlarge"),
        hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", **{"count": 2, **compute}),
    ]


def cluster(stack: cdk.Stack, network: hp.Network, **options: Any) -> hp.Cluster:
    return hp.Cluster(stack, "Cluster", **{"name": "smoke", "network": network, "groups": groups(), **options})


def properties(stack: cdk.Stack) -> dict[str, Any]:
    (found,) = of_type(synthesized(stack), CLUSTER).values()
    return found


def group(stack: cdk.Stack, name: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (each for each in properties(stack)["InstanceGroups"] if each["InstanceGroupName"] == name)
    return found


class TestCluster:
    def test_is_continuous_and_has_no_strategy_which_continuous_refuses(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        cluster(stack, network)
        assert properties(stack)["NodeProvisioningMode"] == "Continuous"
        assert properties(stack)["Orchestrator"] == {"Slurm": {}}

    def test_the_name_is_fixed(self, stack: cdk.Stack, network: hp.Network) -> None:
        cluster(stack, network)
        assert properties(stack)["ClusterName"] == "smoke"

    def test_spares_are_instances_of_the_group(self, stack: cdk.Stack, network: hp.Network) -> None:
        cluster(stack, network, groups=groups(count=3, spares=1))
        assert group(stack, "cpu")["InstanceCount"] == 4

    def test_all_or_nothing_asks_for_every_instance(self, stack: cdk.Stack, network: hp.Network) -> None:
        cluster(stack, network, groups=groups(count=3, spares=1), slurm=hp.Slurm(provisioning="all-or-nothing"))
        assert group(stack, "cpu")["MinInstanceCount"] == 4

    def test_the_order_of_groups_in_the_code_changes_nothing(self, app: cdk.App) -> None:
        env = cdk.Environment(account="111122223333", region="us-west-2")
        seen = []
        for name, order in (("A", 1), ("B", -1)):
            stack = cdk.Stack(app, name, env=env)
            network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", flow_logs=False)
            cluster(stack, network, groups=groups()[::order])
            seen.append(synthesized(stack))
        assert seen[0] == seen[1]

    def test_waits_for_rules_routes_and_the_policy_of_its_nodes(self, stack: cdk.Stack, network: hp.Network) -> None:
        cluster(stack, network)
        resources = synthesized(stack)["Resources"]
        (found,) = (each for each in resources.values() if each["Type"] == CLUSTER)
        assert sorted(resources[name]["Type"] for name in found["DependsOn"]) == [
            "AWS::EC2::SecurityGroupEgress",
            "AWS::EC2::SecurityGroupIngress",
            "AWS::EC2::SubnetRouteTableAssociation",
            "AWS::EC2::VPCEndpoint",
            "AWS::IAM::Policy",
        ]

    def test_a_mount_reads_dns_and_mount_name_from_the_file_system(self, stack: cdk.Stack, network: hp.Network) -> None:
        scratch = hp.LustreFileSystem(
            stack, "Scratch", network=network, lustre=hp.Lustre(capacity_gib=1200, throughput_mbps_per_tib=125)
        )
        cluster(stack, network, mounts={"/fsx": scratch})
        (mount,) = (each["FsxLustreConfig"] for each in group(stack, "cpu")["InstanceStorageConfigs"])
        assert mount["MountPath"] == "/fsx"
        assert [mount[key]["Fn::GetAtt"][1] for key in ("DnsName", "MountName")] == ["DNSName", "LustreMountName"]

    def test_a_plan_is_one_of_the_stacks_account_and_region(self, stack: cdk.Stack, network: hp.Network) -> None:
        plan = hp.TrainingPlan("frontier", count=4, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14")
        cluster(
            stack,
            network,
            groups=[groups()[0], hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=4, capacity=plan)],
        )
        arn = group(stack, "p5")["TrainingPlanArn"]
        assert arn["Fn::Join"][1][-1] == ":sagemaker:us-west-2:111122223333:training-plan/frontier"

    def test_every_field_of_a_group_reaches_its_property(self, stack: cdk.Stack, network: hp.Network) -> None:
        rolling = hp.RollingUpdate(
            batch=hp.BatchSize(percent=25), rollback_batch=hp.BatchSize(count=1), wait_seconds=60, alarms=("broken",)
        )
        compute = hp.InstanceGroup.compute(
            "p5",
            "ml.p5.48xlarge",
            count=4,
            spares=1,
            partition="train",
            min_count=2,
            threads_per_core=2,
            volumes=(hp.NodeVolume(size_gib=500),),
            health_checks=("InstanceStress",),
            patching=hp.AutoPatch(when="WhenIdle"),
            scheduled_update=hp.ScheduledUpdate(schedule="cron(0 3 ? * SUN *)", rolling=rolling),
            image_id="ami-0123456789abcdef0",
            network_interface="efa-only",
        )
        cluster(stack, network, groups=[groups()[0], compute])
        found = group(stack, "p5")
        role = found.pop("ExecutionRole")
        assert role["Fn::GetAtt"][1] == "Arn"
        assert found == {
            "InstanceGroupName": "p5",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 5,
            "MinInstanceCount": 2,
            "ThreadsPerCore": 2,
            "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]},
            "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
            "OnStartDeepHealthChecks": ["InstanceStress"],
            "AutoPatchConfig": {"PatchingStrategy": "WhenIdle"},
            "ScheduledUpdateConfig": {
                "ScheduleExpression": "cron(0 3 ? * SUN *)",
                "DeploymentConfig": {
                    "RollingUpdatePolicy": {
                        "MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 25},
                        "RollbackMaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1},
                    },
                    "WaitIntervalInSeconds": 60,
                    "AutoRollbackConfiguration": [{"AlarmName": "broken"}],
                },
            },
            "ImageId": "ami-0123456789abcdef0",
            "NetworkInterface": {"InterfaceType": "efa-only"},
        }

    def test_flexible_types_replace_the_one_type(self, stack: cdk.Stack, network: hp.Network) -> None:
        flexible = hp.InstanceGroup(
            name="any",
            count=2,
            flexible_types=("ml.c5.xlarge", "ml.m5.xlarge"),
            node_type="Compute",
            partitions=("any",),
        )
        cluster(stack, network, groups=[groups()[0], flexible])
        found = group(stack, "any")
        assert found["InstanceRequirements"] == {"InstanceTypes": ["ml.c5.xlarge", "ml.m5.xlarge"]}
        assert "InstanceType" not in found

    def test_a_group_in_another_zone_has_its_own_subnet(self, stack: cdk.Stack) -> None:
        network = hp.ClusterNetwork(stack, "Two", zones=["usw2-az2", "usw2-az4"], egress="closed", flow_logs=False)
        cluster(stack, network, groups=groups(zone="usw2-az4"))
        (subnet,) = group(stack, "cpu")["OverrideVpcConfig"]["Subnets"]
        (of_cluster,) = properties(stack)["VpcConfig"]["Subnets"]
        assert subnet != of_cluster
        assert "OverrideVpcConfig" not in group(stack, "controller")

    def test_an_accounting_database_is_written_out_and_read_by_the_controller_alone(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        secret = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
        database = hp.AccountingDatabase(endpoint="db.example.internal", secret_arn=secret)
        cluster(stack, network, slurm=hp.Slurm(accounting=database))
        assert properties(stack)["Orchestrator"]["Slurm"]["AccountingDatabase"] == {
            "Endpoint": "db.example.internal",
            "SecretArn": secret,
            "Port": 3306,
            "Name": "slurm_acct_db",
        }
        (policy,) = (
            each
            for each in of_type(synthesized(stack), "AWS::IAM::Policy").values()
            if each["PolicyDocument"]["Statement"][0]["Action"] == "secretsmanager:GetSecretValue"
        )
        (role,) = policy["Roles"]
        assert "controller" in role["Ref"]


class TestRefusedCluster:
    def test_raises_every_error_at_once_with_the_fix(self, stack: cdk.Stack, network: hp.Network) -> None:
        wrong = [*groups(), hp.InstanceGroup.controller("ml.m5.xlarge", name="second")]
        wrong[1] = hp.InstanceGroup.compute("cpu", "ml.c5.xlarg", count=2)
        with pytest.raises(hp.InvalidCluster) as refused:
            cluster(stack, network, groups=wrong)
        assert {finding.path for finding in refused.value.findings} >= {f"{stack.stack_name}/Cluster/cpu"}
        assert len(refused.value.findings) >= 2
        assert "ml.c5.xlarge" in str(refused.value)

    def test_leaves_nothing_in_the_tree(self, stack: cdk.Stack, network: hp.Network) -> None:
        with pytest.raises(hp.InvalidCluster):
            cluster(stack, network, groups=groups()[1:])
        assert stack.node.try_find_child("Cluster") is None

    def test_an_acknowledged_error_does_not_raise(self, stack: cdk.Stack, network: hp.Network) -> None:
        with pytest.raises(hp.InvalidCluster) as refused:
            cluster(stack, network, groups=groups()[1:])
        accepted = {finding.rule: "tried on purpose" for finding in refused.value.findings}
        assert cluster(stack, network, groups=groups()[1:], acknowledge=accepted).cluster_name == "smoke"

    @pytest.mark.parametrize(
        ("accepted", "message"),
        [({"HP9999": "because"}, "no rule 'HP9999'"), ({"HP1107": " "}, "needs a reason")],
    )
    def test_an_acknowledgement_names_a_rule_and_a_reason(
        self, stack: cdk.Stack, network: hp.Network, accepted: dict[str, str], message: str
    ) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            cluster(stack, network, acknowledge=accepted)

    def test_tokens_are_not_checked_and_reach_the_template(self, stack: cdk.Stack, network: hp.Network) -> None:
        count = cdk.CfnParameter(stack, "Count", type="Number", default=2).value_as_number
        type_name = cdk.CfnParameter(stack, "Type").value_as_string
        cluster(stack, network, groups=[groups()[0], hp.InstanceGroup.compute("cpu", type_name, count=count)])  # type: ignore[arg-type]  # a token
        assert group(stack, "cpu")["InstanceCount"] == {"Ref": "Count"}
        assert group(stack, "cpu")["InstanceType"] == {"Ref": "Type"}


class TestGrants:
    def test_a_grant_to_the_cluster_reaches_every_group(self, stack: cdk.Stack, network: hp.Network) -> None:
        datasets = s3.Bucket.from_bucket_name(stack, "Datasets", "datasets")
        datasets.grant_read(cluster(stack, network))
        (policy,) = of_type(synthesized(stack), "AWS::IAM::Policy").values()
        assert len(policy["Roles"]) == 2
        assert "s3:GetObject*" in str(policy["PolicyDocument"])

    def test_a_grant_to_one_group_reaches_only_that(self, stack: cdk.Stack, network: hp.Network) -> None:
        datasets = s3.Bucket.from_bucket_name(stack, "Datasets", "datasets")
        datasets.grant_read(cluster(stack, network).role("cpu"))
        policies = of_type(synthesized(stack), "AWS::IAM::Policy").values()
        (policy,) = (each for each in policies if "s3:GetObject*" in str(each))
        assert len(policy["Roles"]) == 1

    def test_a_role_of_the_users_is_used(self, stack: cdk.Stack, network: hp.Network) -> None:
        mine = iam.Role(
            stack,
            "Mine",
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": stack.account}}
            ),
        )
        mine.add_managed_policy(
            iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSageMakerClusterInstanceRolePolicy")
        )
        cluster(stack, network, roles={"cpu": mine})
        assert "Mine" in group(stack, "cpu")["ExecutionRole"]["Fn::GetAtt"][0]
        assert len(of_type(synthesized(stack), "AWS::IAM::Role")) == 2

    def test_roles_trust_sagemaker_for_this_account_only(self, stack: cdk.Stack, network: hp.Network) -> None:
        cluster(stack, network)
        for role in of_type(synthesized(stack), "AWS::IAM::Role").values():
            (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
            assert statement["Principal"] == {"Service": "sagemaker.amazonaws.com"}
            assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": "111122223333"}}

    def test_connections_write_both_halves_of_a_rule(self, stack: cdk.Stack, network: hp.Network) -> None:
        made = cluster(stack, network)
        before = len(of_type(synthesized(stack), "AWS::EC2::SecurityGroupEgress"))
        from aws_cdk import aws_ec2 as ec2

        other = ec2.SecurityGroup.from_security_group_id(
            stack, "Other", "sg-0123456789abcdef0", allow_all_outbound=False
        )
        made.connections.allow_to(other, ec2.Port.tcp(3306))
        assert before == 1
        assert made.connections.security_groups


class TestLifecycleScripts:
    @pytest.fixture
    def scripts(self, tmp_path: Path) -> Path:
        folder = tmp_path / "scripts"
        (folder / "lib").mkdir(parents=True)
        (folder / "on_init_complete.sh").write_text("#!/bin/bash\nset -eu\n. lib/users.sh\n")
        (folder / "lib" / "users.sh").write_text("true\n")
        return folder

    def test_ami_only_emits_no_lifecycle_configuration(self, stack: cdk.Stack, network: hp.Network) -> None:
        cluster(stack, network)
        assert "LifeCycleConfig" not in group(stack, "cpu")

    def test_the_uri_holds_a_hash_of_the_contents(
        self, app: cdk.App, stack: cdk.Stack, network: hp.Network, scripts: Path
    ) -> None:
        cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))
        found = group(stack, "cpu")["LifeCycleConfig"]
        assert found["OnInitComplete"] == "on_init_complete.sh"
        uri = found["SourceS3Uri"]["Fn::Sub"] if isinstance(found["SourceS3Uri"], dict) else found["SourceS3Uri"]
        assert uri.startswith("s3://cdk-hnb659fds-assets-111122223333-us-west-2/hyperpod/smoke/")
        assets = (Path(app.outdir) / f"{stack.stack_name}.assets.json").read_text()
        assert f"{uri.removeprefix('s3://cdk-hnb659fds-assets-111122223333-us-west-2/')}/lib/users.sh" in assets

    def test_nodes_may_read_every_version_and_write_none(
        self, stack: cdk.Stack, network: hp.Network, scripts: Path
    ) -> None:
        cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))
        (policy,) = of_type(synthesized(stack), "AWS::IAM::Policy").values()
        about_s3 = [each for each in policy["PolicyDocument"]["Statement"] if "s3:" in str(each["Action"])]
        assert [each["Action"] for each in about_s3] == ["s3:GetObject", "s3:ListBucket"]
        assert str(about_s3[0]["Resource"]).count("/hyperpod/smoke/*") == 1

    def test_every_object_key_stands_in_the_template_so_that_cdk_gc_keeps_it(
        self, stack: cdk.Stack, network: hp.Network, scripts: Path
    ) -> None:
        cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))
        (resource,) = (each for each in synthesized(stack)["Resources"].values() if each["Type"] == CLUSTER)
        names = [key.rpartition("/")[2] for key in resource["Metadata"]["hyperpod:scripts"]]
        assert sorted(names) == ["on_init_complete.sh", "users.sh"]

    def test_a_missing_entry_script_is_refused(self, stack: cdk.Stack, network: hp.Network, scripts: Path) -> None:
        with pytest.raises(hp.InvalidCluster, match=r"setup\.sh"):
            cluster(stack, network, lifecycle=hp.LifecycleScripts.custom(scripts, entry="setup.sh"))

    def test_windows_line_endings_are_refused(self, stack: cdk.Stack, network: hp.Network, scripts: Path) -> None:
        (scripts / "on_init_complete.sh").write_bytes(b"#!/bin/bash\r\n")
        with pytest.raises(hp.InvalidCluster, match="CR"):
            cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))

    def test_a_folder_that_does_not_exist_is_named(self, stack: cdk.Stack, network: hp.Network) -> None:
        with pytest.raises(hp.InvalidValue, match="nowhere does not exist"):
            cluster(stack, network, lifecycle=hp.LifecycleScripts.extended("nowhere"))
