"""The cluster, as CloudFormation will get it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2, aws_iam as iam, aws_s3 as s3, aws_ssm as ssm

import hyperpod_constructs as hp
from tests.templates import of_type, synthesized

CLUSTER = "AWS::SageMaker::Cluster"
ROLE = iam.Role.from_role_arn(cdk.Stack(cdk.App(), "Elsewhere"), "Role", "arn:aws:iam::111122223333:role/mine")


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)


def groups(**compute: Any) -> list[hp.InstanceGroup]:
    return [
        hp.InstanceGroup.controller("ml.m5.xlarge"),
        hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", **{"count": 2, **compute}),
    ]


def accounted(secret_arn: str) -> hp.Slurm:
    return hp.Slurm(accounting=hp.ExternalDatabase(endpoint="db", secret_arn=secret_arn))


def cluster(stack: cdk.Stack, network: Any, **options: Any) -> hp.Cluster:
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

    def test_the_order_of_groups_in_the_code_changes_nothing(self, tmp_path: Path, context: dict[str, Any]) -> None:
        seen = []
        for name, order in (("one", 1), ("other", -1)):
            app = cdk.App(context=context, outdir=str(tmp_path / name))
            stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="111122223333", region="us-west-2"))
            network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", flow_logs=False)
            cluster(stack, network, groups=groups()[::order])
            seen.append(synthesized(stack))
        assert seen[0] == seen[1]

    def test_two_clusters_of_one_name_are_refused(self, stack: cdk.Stack, network: hp.Network) -> None:
        cluster(stack, network)
        hp.Cluster(stack, "Second", name="smoke", network=network, groups=groups())
        with pytest.raises(RuntimeError, match="has the name of"):
            synthesized(stack)

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

    @pytest.mark.parametrize("alarms", [("broken",), ()])
    def test_nodes_read_the_alarms_that_roll_an_update_back(
        self, stack: cdk.Stack, network: hp.Network, alarms: tuple[str, ...]
    ) -> None:
        rolling = hp.RollingUpdate(batch=hp.BatchSize(count=1), alarms=alarms)
        cluster(stack, network, groups=groups(patching=hp.AutoPatch(when="WhenIdle", rolling=rolling)))
        assert ("cloudwatch:DescribeAlarms" in json.dumps(synthesized(stack))) is bool(alarms)

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
        network = hp.ClusterNetwork(
            stack, "Two", zones=["usw2-az2", "usw2-az4"], egress="closed", endpoints=[], flow_logs=False
        )
        cluster(stack, network, groups=groups(zone="usw2-az4"))
        (subnet,) = group(stack, "cpu")["OverrideVpcConfig"]["Subnets"]
        (of_cluster,) = properties(stack)["VpcConfig"]["Subnets"]
        assert subnet != of_cluster
        assert "OverrideVpcConfig" not in group(stack, "controller")

    def test_an_accounting_database_is_written_out_and_read_by_the_controller_alone(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        secret = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
        database = hp.ExternalDatabase(endpoint="db.example.internal", secret_arn=secret)
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


class TestImportedFileSystem:
    def mounted(self, stack: cdk.Stack, network: hp.Network, **attributes: Any) -> hp.Cluster:
        dns_name = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
        scratch = hp.LustreFileSystem.from_attributes(dns_name=dns_name, mount_name="abcdefgh", **attributes)
        return cluster(stack, network, mounts={"/fsx": scratch})

    def warnings(self, app: cdk.App) -> str:
        return str(json.loads((Path(app.synth(force=True).directory) / "validation-report.json").read_text()))

    def test_in_another_zone_is_a_warning_although_no_template_says_so(
        self, app: cdk.App, stack: cdk.Stack, network: hp.Network
    ) -> None:
        self.mounted(stack, network, zone="usw2-az4")
        report = self.warnings(app)
        assert "HP4008" in report
        assert "usw2-az4" in report

    def test_in_the_same_or_an_unknown_zone_is_no_warning(
        self, app: cdk.App, stack: cdk.Stack, network: hp.Network
    ) -> None:
        self.mounted(stack, network, zone="usw2-az2")
        assert "HP4008" not in self.warnings(app)

    def test_with_efa_lets_nodes_look_it_up(self, stack: cdk.Stack, network: hp.Network) -> None:
        """Field report C-09: without the permission the mount falls back to TCP in silence."""
        self.mounted(stack, network, zone="usw2-az2", efa=True)
        (policy,) = of_type(synthesized(stack), "AWS::IAM::Policy").values()
        assert "fsx:DescribeFileSystems" in str(policy)


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


class TestArguments:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"groups": None}, "groups is None; use a list of hp.InstanceGroup"),
            ({"groups": []}, "a Slurm cluster has a controller"),
            ({"groups": ["p5"]}, r"groups\[0\] is 'p5', a str; use hp.InstanceGroup"),
            ({"name": None}, "Cluster: name is None; use text"),
            ({"name": "my_cluster"}, "cluster name 'my_cluster' is not allowed"),
            ({"roles": {"cpuu": ROLE}}, "roles names cpuu; use the names of groups: controller, cpu"),
            ({"lifecycle": "./scripts"}, "use hp.LifecycleScripts or a dictionary"),
            ({"lifecycle": {"gpu": hp.LifecycleScripts.ami_only()}}, "lifecycle names gpu"),
            ({"slurm": {}}, "slurm is {}, a dict; use hp.Slurm"),
            ({"slurm": hp.Slurm(accounting="db")}, "accounting is 'db', a str; use hp.ExternalDatabase or the"),  # type: ignore[arg-type]  # the point
            ({"recovery": "auto"}, "recovery is 'auto', a str; use 'Automatic' or 'None'"),
            ({"recovery": None}, "recovery is None; use 'Automatic' or 'None'"),
            ({"roles": {"cpu": "arn:aws:iam::111122223333:role/mine"}}, "from_role_arn"),
            ({"permissions_boundary": "arn:aws:iam::111122223333:policy/b"}, "from_managed_policy_arn"),
            ({"mounts": {"/fsx": hp.Lustre(capacity_gib=1200)}}, "from_attributes"),
            ({"tags": {"cost": 1}}, r"tags\['cost'\] is 1, an int; use text"),
            ({"acknowledge": ["HP1107"]}, r"acknowledge is \['HP1107'\], a list; use a dictionary"),
            ({"lifecycle": {"cpu": "scripts"}}, r"lifecycle\['cpu'\] is 'scripts', a str; use hp.LifecycleScripts"),
            ({"slurm": accounted("x")}, "use the ARN of a secret"),
            ({"slurm": accounted("arn:aws:ssm:us-west-2:111122223333:parameter/x")}, "use the ARN of a secret"),
            ({"tags": {"a|b": "v"}}, r"tag 'a\|b' is not allowed; use letters, digits, spaces and _ \. : / = \+ - @"),
            ({"tags": {"a": "v*"}}, r"the value 'v\*' of tag 'a' is not allowed; use letters"),
            (
                {"groups": groups(mounts=[hp.Mount(kind="lustre", path="/data", file_system="Test/Data")])},
                "'Test/Data', which is not among the mounts of the cluster",
            ),
            ({"network": "vpc-1"}, "network is 'vpc-1', a str; use hp.Network"),
        ],
    )
    def test_of_the_wrong_kind_are_named(
        self, stack: cdk.Stack, network: hp.Network, wrong: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            cluster(stack, **{"network": network, **wrong})
        assert stack.node.try_find_child("Cluster") is None

    def test_an_id_that_is_taken_is_refused_in_our_words(self, stack: cdk.Stack, network: hp.Network) -> None:
        cluster(stack, network)
        with pytest.raises(
            hp.InvalidValue, match="Cluster: there is a construct 'Cluster' already; give this one another id"
        ):
            cluster(stack, network, name="other")

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (
                {"capacity": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/x"},
                "use hp.OnDemand or",
            ),
            ({"capacity": hp.Spot}, "capacity is the class Spot itself; use"),
            ({"volumes": [{"size_gib": 1}]}, r"volumes\[0\] is {"),
            ({"health_checks": "InstanceStress"}, "health_checks is 'InstanceStress', a str; use a list of text"),
            ({"lifecycle": 1}, "scripts are an argument of the cluster"),
            ({"execution_role": "arn"}, "roles are an argument of the cluster"),
            ({"placement": 1}, "say zone="),
            ({"count": None}, "count is None; use a whole number"),
            ({"spares": 2, "count": -1.8e289}, "must then be known at synth"),
            ({"volumes": (hp.NodeVolume(size_gib=1, kms_key="alias/x"),)}, "'alias/x' must be an ARN"),
        ],
    )
    def test_fields_of_a_group_that_would_be_ignored_are_refused(
        self, stack: cdk.Stack, network: hp.Network, wrong: dict[str, Any], message: str
    ) -> None:
        fields = {"name": "cpu", "count": 1, "instance_type": "ml.c5.xlarge", "node_type": "Compute", **wrong}
        with pytest.raises(hp.InvalidValue, match=message):
            cluster(stack, network, groups=[groups()[0], hp.InstanceGroup(partitions=("cpu",), **fields)])

    def test_a_network_whose_region_is_decided_at_deploy_cannot_be_referred_to(
        self, app: cdk.App, stack: cdk.Stack
    ) -> None:
        network = hp.ClusterNetwork(cdk.Stack(app, "Anywhere"), "Network", zones=["usw2-az2"])
        with pytest.raises(hp.InvalidValue, match=r"leaves its Region to the deploy.*give both stacks the same env"):
            cluster(stack, network)

    def test_a_network_that_is_plain_text_may_stand_anywhere(self, app: cdk.App, stack: cdk.Stack) -> None:
        network = hp.Network.from_attributes(
            cdk.Stack(app, "Anywhere"),
            "Network",
            vpc_id="vpc-0123456789abcdef0",
            subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2")],
            security_group_ids=["sg-0123456789abcdef0"],
        )
        cluster(stack, network)
        assert properties(stack)["VpcConfig"]["Subnets"] == ["subnet-0123456789abcdef0"]

    def test_a_network_of_another_region_is_refused(self, app: cdk.App, stack: cdk.Stack) -> None:
        elsewhere = cdk.Stack(app, "Elsewhere", env=cdk.Environment(account="111122223333", region="us-east-1"))
        network = hp.ClusterNetwork(elsewhere, "Network", zones=["use1-az1"])
        with pytest.raises(hp.InvalidValue, match="the network is in us-east-1 and the cluster in us-west-2"):
            cluster(stack, network)

    def test_capacity_on_demand_is_written_out_when_it_is_asked_for(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        cluster(stack, network, groups=groups(capacity=hp.OnDemand()))
        assert group(stack, "cpu")["CapacityRequirements"] == {"OnDemand": {}}

    def test_nodes_may_use_the_key_of_a_volume_in_a_list(self, stack: cdk.Stack, network: hp.Network) -> None:
        key = "arn:aws:kms:us-west-2:111122223333:key/k"
        nodes = hp.InstanceGroup(
            name="cpu",
            count=1,
            instance_type="ml.c5.xlarge",
            node_type="Compute",
            partitions=["cpu"],  # type: ignore[arg-type]  # a list, as people write
            volumes=[hp.NodeVolume(size_gib=1, kms_key=key)],  # type: ignore[arg-type]  # the point
        )
        cluster(stack, network, groups=[groups()[0], nodes])
        assert key in str(of_type(synthesized(stack), "AWS::IAM::Policy"))

    def test_a_file_system_of_anybodys_making_has_a_model(self, stack: cdk.Stack, network: hp.Network) -> None:
        nothing = SimpleNamespace(target=None, model=None, subnet=None, associations=())
        with pytest.raises(hp.InvalidValue, match=r"mounts\['/fsx'\] is None; use hp\.FileSystem"):
            cluster(stack, network, mounts={"/fsx": nothing})

    def test_openzfs_is_mounted_by_its_dns_name(self, stack: cdk.Stack, network: hp.Network) -> None:
        home = hp.Mount(kind="openzfs", path="/home", file_system="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com")
        cluster(stack, network, groups=groups(mounts=[home]))
        assert group(stack, "cpu")["InstanceStorageConfigs"] == [
            {"FsxOpenZfsConfig": {"DnsName": home.file_system, "MountPath": "/home"}}
        ]

    def test_openzfs_may_be_mounted_beside_lustre_by_all_groups(self, stack: cdk.Stack, network: hp.Network) -> None:
        home = hp.OpenZfs(dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com")
        data = hp.LustreFileSystem.from_attributes(
            dns_name="fs-0fedcba9876543210.fsx.us-west-2.amazonaws.com", mount_name="abcdefgh"
        )
        cluster(stack, network, mounts={"/home": home, "/fsx": data})
        assert group(stack, "controller")["InstanceStorageConfigs"] == [
            {"FsxLustreConfig": {"DnsName": data.target.dns_name, "MountName": "abcdefgh", "MountPath": "/fsx"}},
            {"FsxOpenZfsConfig": {"DnsName": home.dns_name, "MountPath": "/home"}},
        ]

    def test_lustre_may_be_mounted_by_one_group_alone(self, stack: cdk.Stack, network: hp.Network) -> None:
        name = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
        data = hp.Mount(kind="lustre", path="/data", file_system=name, mount_name="abcdefgh")
        cluster(stack, network, groups=groups(mounts=[data]))
        assert group(stack, "cpu")["InstanceStorageConfigs"] == [
            {"FsxLustreConfig": {"DnsName": name, "MountName": "abcdefgh", "MountPath": "/data"}}
        ]

    @pytest.mark.parametrize(
        ("mount", "says"),
        [
            ({"kind": "openzfs", "file_system": "fs-0123456789abcdef0"}, "file_system is 'fs-0123456789abcdef0'"),
            ({"kind": "lustre", "file_system": "fs-01", "mount_name": "abcdefgh"}, "file_system is 'fs-01'"),
            (
                {
                    "kind": "lustre",
                    "file_system": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
                    "mount_name": "/fsx",
                },
                "mount_name is '/fsx'",
            ),
            ({"kind": "lustre", "file_system": "Elsewhere"}, "give its DNS name and its mount_name"),
        ],
    )
    def test_a_mount_by_a_wrong_name_is_refused(
        self, stack: cdk.Stack, network: hp.Network, mount: dict[str, Any], says: str
    ) -> None:
        with pytest.raises(hp.InvalidValue, match=says):
            cluster(stack, network, groups=groups(mounts=[hp.Mount(**mount)]))

    def test_links_to_s3_come_before_the_cluster(self, stack: cdk.Stack, network: hp.Network) -> None:
        """Field report C-10: nodes that come earlier find no files."""
        data = hp.LustreFileSystem(
            stack,
            "Data",
            network=network,
            lustre=hp.Lustre(capacity_gib=1200, throughput_mbps_per_tib=125),
            repositories=[hp.DataRepository(folder="/data", s3_uri="s3://datasets/")],
        )
        cluster(stack, network, mounts={"/fsx": data})
        (found,) = (each for each in synthesized(stack)["Resources"].values() if each["Type"] == CLUSTER)
        assert stack.get_logical_id(data.associations[0]) in found["DependsOn"]

    def test_a_described_type_is_not_refused_by_the_engines_list(self, stack: cdk.Stack, network: hp.Network) -> None:
        new = hp.InstanceType("ml.p7.48xlarge", accelerators=8, efa=16, addresses=16)
        cluster(stack, network, groups=[groups()[0], hp.InstanceGroup.compute("p7", new, count=1)])
        (found,) = (each for each in synthesized(stack)["Resources"].values() if each["Type"] == CLUSTER)
        assert found["Metadata"]["hyperpod:intent"]["groups"]["p7"]["described"]["name"] == "ml.p7.48xlarge"

    def test_a_plan_named_with_a_token_is_one_of_this_account(self, stack: cdk.Stack, network: hp.Network) -> None:
        plan = hp.TrainingPlan(
            f"p-{cdk.Fn.import_value('x')}", count=4, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14"
        )
        p5 = hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=4, capacity=plan)
        cluster(stack, network, groups=[groups()[0], p5])
        assert ":training-plan/p-" in str(group(stack, "p5")["TrainingPlanArn"])


class TestFieldsOfAWrongType:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"image_id": 3}, "group 'cpu': image_id is 3, an int; use text or None"),
            ({"volumes": [hp.NodeVolume(kms_key=3)]}, "volumes[0].kms_key is 3, an int"),  # type: ignore[arg-type]  # the point
        ],
    )
    def test_are_named_before_anything_is_made(
        self, stack: cdk.Stack, network: hp.Network, wrong: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(hp.InvalidValue) as refused:
            cluster(stack, network, groups=groups(**wrong))
        assert message in str(refused.value)

    def test_lists_for_tuples_are_judged_like_tuples(self, stack: cdk.Stack, network: hp.Network) -> None:
        """Made by hand, a group keeps the lists that it was given; rules look for tuples."""
        made = hp.InstanceGroup(
            name="login",
            count=1,
            instance_type="ml.g5.12xlarge",
            node_type="Login",
            health_checks=["InstanceStress"],  # type: ignore[arg-type]  # the point
        )
        with pytest.raises(hp.InvalidCluster, match="HP1203"):
            cluster(stack, network, groups=[*groups(), made])

    def test_two_groups_of_one_name_cannot_be_acknowledged_into_a_crash(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        twice = [*groups(), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)]
        with pytest.raises(hp.InvalidValue, match="several groups are named cpu"):
            cluster(stack, network, groups=twice, acknowledge={"HP1002": "to see what happens"})


class TestTokensEverywhere:
    def test_are_never_an_error_and_reach_the_template(self, stack: cdk.Stack, network: hp.Network) -> None:
        text = {
            name: cdk.CfnParameter(stack, name).value_as_string for name in ("Type", "Image", "Key", "Secret", "Plan")
        }
        number: Any = {
            name: cdk.CfnParameter(stack, name, type="Number").value_as_number
            for name in ("Count", "Min", "Size", "Capacity", "Throughput", "Port")
        }
        scratch = hp.LustreFileSystem(
            stack,
            "Scratch",
            network=network,
            lustre=hp.Lustre(capacity_gib=number["Capacity"], throughput_mbps_per_tib=number["Throughput"]),
            repositories=[hp.DataRepository(folder="/d", s3_uri=f"s3://{cdk.Fn.import_value('Bucket')}/")],
        )
        compute = hp.InstanceGroup.compute(
            "cpu",
            text["Type"],
            count=number["Count"],
            min_count=number["Min"],
            image_id=text["Image"],
            volumes=[hp.NodeVolume(size_gib=number["Size"], kms_key=text["Key"])],
            capacity=hp.TrainingPlan.unchecked(text["Plan"]),
        )
        database = hp.ExternalDatabase(
            endpoint=cdk.Fn.import_value("Db"), secret_arn=text["Secret"], port=number["Port"]
        )
        cluster(
            stack,
            network,
            groups=[groups()[0], compute],
            slurm=hp.Slurm(accounting=database),
            mounts={"/fsx": scratch},
        )
        template = json.dumps(synthesized(stack)["Resources"])
        for name in (*text, *number):
            assert f'{{"Ref": "{name}"}}' in template, name


class TestLookups:
    """The CDK asks AWS only after an app has ended without an exception: what stands for an answer is no mistake."""

    def test_that_are_yet_to_be_made_are_never_an_error(self, stack: cdk.Stack, network: hp.Network) -> None:
        def asked(name: str) -> str:
            return ssm.StringParameter.value_from_lookup(stack, f"/team/{name}")

        compute = hp.InstanceGroup.compute(
            asked("group"),
            asked("type"),
            count=1,
            zone="usw2-az2",
            image_id=ec2.MachineImage.lookup(name="ours").get_image(stack).image_id,
            volumes=[hp.NodeVolume(size_gib=1, kms_key=asked("key"))],
        )
        on_plan = hp.InstanceGroup.compute(
            "p5", "ml.p5.48xlarge", count=1, capacity=hp.TrainingPlan.unchecked(asked("plan"))
        )
        database = hp.ExternalDatabase(endpoint=asked("database"), secret_arn=asked("secret"), name=asked("name"))
        cluster(
            stack,
            network,
            name=asked("cluster"),
            zone="usw2-az2",
            groups=[groups()[0], compute, on_plan],
            slurm=hp.Slurm(accounting=database),
            mounts={"/fsx": hp.LustreFileSystem.from_attributes(dns_name=asked("dns"), mount_name=asked("mount"))},
            lifecycle=hp.LifecycleScripts.existing(asked("scripts"), on_create="setup.sh"),
            roles={"controller": iam.Role.from_lookup(stack, "Nodes", role_name="nodes")},
            tags={"team": asked("team")},
        )
        assert properties(stack)["ClusterName"] == "dummy-value-for-/team/cluster"

    def test_a_network_whose_ids_are_yet_to_be_looked_up_is_taken(self, stack: cdk.Stack) -> None:
        vpc = ec2.Vpc.from_lookup(stack, "Vpc", tags={"team": "ml"})
        subnets = [
            hp.ImportedSubnet(subnet_id=each.subnet_id, availability_zone=each.availability_zone, cidr="10.0.32.0/19")
            for each in vpc.private_subnets
        ]
        imported = hp.Network.from_attributes(
            stack, "Network", vpc_id=vpc.vpc_id, vpc_cidr=vpc.vpc_cidr_block, subnets=subnets
        )
        cluster(stack, imported)
        assert properties(stack)["VpcConfig"]["Subnets"] == ["p-12345"]

    def test_a_mistake_in_an_answer_is_refused_like_any_other(self, tmp_path: Path, context: dict[str, Any]) -> None:
        answer = {"ssm:account=111122223333:parameterName=/team/type:region=us-west-2": "ml.m5.xlarg"}
        app = cdk.App(context={**context, **answer}, outdir=str(tmp_path))
        stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="111122223333", region="us-west-2"))
        network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", flow_logs=False)
        found = ssm.StringParameter.value_from_lookup(stack, "/team/type")
        with pytest.raises(hp.InvalidCluster, match="HP1010"):
            cluster(stack, network, groups=[hp.InstanceGroup.controller(found)])


class TestAcknowledgements:
    def test_of_an_unknown_type_are_given_once_for_whoever_says_it(
        self, app: cdk.App, stack: cdk.Stack, network: hp.Network
    ) -> None:
        new = hp.InstanceGroup.compute("new", "ml.p5.49xlarge", count=1)
        cluster(stack, network, groups=[groups()[0], new], acknowledge={"HP1010": "offered since yesterday"})
        assert synthesized(stack)
        report = json.loads((Path(app.outdir) / "validation-report.json").read_text())
        said = [each["ruleName"] for plugin in report["pluginReports"] for each in plugin["violations"]]
        assert not {"HP1010", "HP1011"} & set(said)

    def test_on_a_file_system_hold_for_the_clusters_that_mount_it(self, stack: cdk.Stack, network: hp.Network) -> None:
        odd = hp.Lustre(capacity_gib=1300, throughput_mbps_per_tib=125)
        data = hp.LustreFileSystem(
            stack, "Data", network=network, lustre=odd, acknowledge={"HP3001": "a size that only we are offered"}
        )
        assert cluster(stack, network, mounts={"/fsx": data})

    def test_on_a_file_system_hold_for_no_other(self, stack: cdk.Stack, network: hp.Network) -> None:
        odd = hp.Lustre(capacity_gib=1300, throughput_mbps_per_tib=125)
        data = hp.LustreFileSystem(
            stack, "Data", network=network, lustre=odd, acknowledge={"HP3001": "a size that only we are offered"}
        )
        data20 = SimpleNamespace(
            target=data.target,
            model=dataclasses.replace(data.model, path=f"{data.model.path}20"),
            subnet=None,
            associations=(),
        )
        with pytest.raises(hp.InvalidCluster) as refused:
            cluster(stack, network, mounts={"/fsx": data, "/other": data20})
        assert [each.path for each in refused.value.findings if each.rule == "HP3001"] == ["Test/Data20"]


class TestGrants:
    def test_a_grant_to_the_cluster_reaches_every_group(self, stack: cdk.Stack, network: hp.Network) -> None:
        datasets = s3.Bucket.from_bucket_name(stack, "Datasets", "datasets")
        datasets.grant_read(cluster(stack, network))
        template = synthesized(stack)
        (name,) = (name for name, each in of_type(template, "AWS::IAM::Policy").items() if "s3:GetObject*" in str(each))
        assert len(template["Resources"][name]["Properties"]["Roles"]) == 2
        (found,) = (each for each in template["Resources"].values() if each["Type"] == CLUSTER)
        assert name in found["DependsOn"]

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

    def test_files_that_differ_in_their_extension_alone_keep_their_contents(
        self, app: cdk.App, stack: cdk.Stack, network: hp.Network, scripts: Path
    ) -> None:
        (scripts / "on_init_complete.py").write_text("print('python')\n")
        cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))
        synthesized(stack)
        assets = json.loads((Path(app.outdir) / f"{stack.stack_name}.assets.json").read_text())["files"]
        contents = {
            next(iter(each["destinations"].values()))["objectKey"].rpartition("/")[2]: Path(
                app.outdir, each["source"]["path"]
            ).read_text()
            for each in assets.values()
            if "hyperpod" in each["source"]["path"]
        }
        assert contents["on_init_complete.py"] == "print('python')\n"
        assert contents["on_init_complete.sh"].startswith("#!/bin/bash")

    def test_groups_may_have_scripts_of_their_own(self, stack: cdk.Stack, network: hp.Network, scripts: Path) -> None:
        cluster(stack, network, lifecycle={"cpu": hp.LifecycleScripts.extended(scripts)})
        assert "LifeCycleConfig" in group(stack, "cpu")
        assert "LifeCycleConfig" not in group(stack, "controller")

    def test_scripts_that_lie_in_a_bucket_already_are_read_there(self, stack: cdk.Stack, network: hp.Network) -> None:
        existing = hp.LifecycleScripts.existing("s3://acme-scripts/hyperpod/v3", on_create="on_create.sh")
        cluster(stack, network, lifecycle=existing)
        assert group(stack, "cpu")["LifeCycleConfig"] == {
            "SourceS3Uri": "s3://acme-scripts/hyperpod/v3",
            "OnCreate": "on_create.sh",
        }
        (policy,) = of_type(synthesized(stack), "AWS::IAM::Policy").values()
        assert ":s3:::acme-scripts/hyperpod/v3/*" in str(policy)

    @pytest.mark.parametrize(("name", "message"), [("dollar${x}.sh", "use letters"), ("new\nline", "use letters")])
    def test_names_that_cloudformation_would_read_differently_are_refused(
        self, stack: cdk.Stack, network: hp.Network, scripts: Path, name: str, message: str
    ) -> None:
        (scripts / name).write_text("")
        with pytest.raises(hp.InvalidValue, match=message):
            cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))

    def test_hidden_files_and_bytecode_stay_behind(self, stack: cdk.Stack, network: hp.Network, scripts: Path) -> None:
        (scripts / ".git").mkdir()
        (scripts / ".git" / "config").write_text("secret")
        made = cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))
        assert not [key for key in made.scripts.keys if "config" in key]

    def test_an_empty_folder_is_refused(self, stack: cdk.Stack, network: hp.Network, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(hp.InvalidValue, match="holds no file"):
            cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(tmp_path / "empty"))

    def test_a_synthesizer_that_cannot_choose_keys_is_refused_with_what_to_do(
        self, app: cdk.App, scripts: Path
    ) -> None:
        stack = cdk.Stack(app, "Legacy", synthesizer=cdk.LegacyStackSynthesizer())
        network = hp.ClusterNetwork(
            stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False
        )
        with pytest.raises(hp.InvalidValue, match=r"LifecycleScripts\.existing"):
            cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))

    @pytest.mark.parametrize(
        "synthesizer", [cdk.DefaultStackSynthesizer(qualifier="team"), cdk.CliCredentialsStackSynthesizer()]
    )
    def test_a_synthesizer_of_the_users_publishes_to_the_stacks_bucket(
        self, app: cdk.App, scripts: Path, synthesizer: cdk.StackSynthesizer
    ) -> None:
        env = cdk.Environment(account="111122223333", region="us-west-2")
        stack = cdk.Stack(app, "Ours", env=env, synthesizer=synthesizer)
        network = hp.ClusterNetwork(
            stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False
        )
        cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))
        resources = synthesized(stack)["Resources"].values()
        assert "AWS::CloudFormation::Stack" not in {each["Type"] for each in resources}
        bucket, _, prefix = group(stack, "cpu")["LifeCycleConfig"]["SourceS3Uri"].removeprefix("s3://").partition("/")
        assets = json.loads((Path(app.outdir) / "Ours.assets.json").read_text())["files"].values()
        published = {(to["bucketName"], to["objectKey"]) for each in assets for to in each["destinations"].values()}
        assert {(bucket, f"{prefix}/on_init_complete.sh"), (bucket, f"{prefix}/lib/users.sh")} <= published
        assert bucket.startswith("cdk-team-assets-" if "Default" in type(synthesizer).__name__ else "cdk-hnb659fds-")

    def test_a_missing_entry_script_is_refused(self, stack: cdk.Stack, network: hp.Network, scripts: Path) -> None:
        with pytest.raises(hp.InvalidCluster, match=r"setup\.sh"):
            cluster(stack, network, lifecycle=hp.LifecycleScripts.custom(scripts, entry="setup.sh"))

    def test_windows_line_endings_are_refused(self, stack: cdk.Stack, network: hp.Network, scripts: Path) -> None:
        (scripts / "on_init_complete.sh").write_bytes(b"#!/bin/bash\r\n")
        with pytest.raises(hp.InvalidCluster, match="CR"):
            cluster(stack, network, lifecycle=hp.LifecycleScripts.extended(scripts))

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"directory": "./scripts", "on_create": "x.sh"}, "directory is './scripts', a str; use pathlib.Path"),
            ({"on_create": "x.sh"}, "names 'x.sh' and no place where it lies; use LifecycleScripts.custom"),
        ],
    )
    def test_made_by_hand_are_checked_too(self, fields: dict[str, Any], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            hp.LifecycleScripts(**fields)

    def test_a_folder_that_does_not_exist_is_named(self, stack: cdk.Stack, network: hp.Network) -> None:
        with pytest.raises(hp.InvalidValue, match="nowhere does not exist"):
            cluster(stack, network, lifecycle=hp.LifecycleScripts.extended("nowhere"))
