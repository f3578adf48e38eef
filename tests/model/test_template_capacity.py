from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hyperpod_constructs.catalog import schemas
from hyperpod_constructs.model import template
from hyperpod_constructs.model.capacity import (
    AutoPatch,
    BatchSize,
    InstanceGroup,
    OnDemand,
    RollingUpdate,
    ScheduledUpdate,
    Spot,
    TrainingPlan,
)
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.model.orchestration import Eks, ExternalDatabase, Slurm
from hyperpod_constructs.model.storage import NodeVolume
from hyperpod_constructs.model.template import schema
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

ARN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier"
ROLE = "arn:aws:iam::111122223333:role/node"
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:c"
EKS = "arn:aws:eks:us-west-2:111122223333:cluster/c"
UNDECIDABLE = {"Ref": "Given"}
ROLLOUT = {
    "RollingUpdatePolicy": {
        "MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": "2"},
        "RollbackMaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 50},
    },
    "AutoRollbackConfiguration": [{"AlarmName": {"Ref": "Idle"}}],
}
ROLLING = RollingUpdate(batch=BatchSize(count=2), rollback_batch=BatchSize(percent=50), alarms=("app.json/Idle",))
GIVEN = {"Given": {"Type": "String"}}


@pytest.fixture
def cluster_of(deployment_of: Callable[..., Deployment]) -> Callable[..., Deployment]:
    """Decodes one cluster with these properties, beside other resources."""

    def decode(properties: dict[str, Any], **others: Any) -> Deployment:
        cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": properties}
        return deployment_of(
            {"C": cluster, **others}, Parameters=GIVEN, Conditions={"Maybe": {"Fn::Equals": [UNDECIDABLE, "x"]}}
        )

    return decode


@pytest.fixture
def group_of(cluster_of: Callable[..., Deployment]) -> Callable[..., tuple[InstanceGroup, list[str]]]:
    """Decodes one group with these properties: the group, and what was invalid."""

    def decode(properties: dict[str, Any], **others: Any) -> tuple[InstanceGroup, list[str]]:
        basics = {"InstanceGroupName": "p5", "InstanceCount": 4, "ExecutionRole": ROLE}
        read = cluster_of({"InstanceGroups": [{**basics, **properties}]}, **others)
        return read.clusters[0].groups[0], refused(read)

    return decode


class TestNumbersAndFlagsAsText:
    def test_are_numbers_and_flags(self, group_of: Any) -> None:
        volume = {"EbsVolumeConfig": {"RootVolume": "true", "VolumeKmsKeyId": "key"}}
        group, invalid = group_of({"InstanceCount": "2", "ThreadsPerCore": "1", "InstanceStorageConfigs": [volume]})
        assert (group.count, group.threads_per_core) == (2, 1)
        assert group.volumes == (NodeVolume(root=True, kms_key="key"),)
        assert invalid == []


class TestWhatCanNeverBeRight:
    @pytest.mark.parametrize(
        ("count", "message"),
        [
            (-1, "InstanceGroups[0].InstanceCount: group 'p5': count is -1; use 0 to 6,758"),
            ("three", "InstanceGroups[0].InstanceCount is 'three'; use a whole number"),
            (2.5, "InstanceGroups[0].InstanceCount is 2.5; use a whole number"),
            (True, "InstanceGroups[0].InstanceCount is True; use a whole number"),
            ([2], "InstanceGroups[0].InstanceCount is [2]; use a whole number"),
            (None, "InstanceGroups[0].InstanceCount is missing; give InstanceCount: it is required"),
        ],
    )
    def test_is_unknown_and_reported_with_value_and_allowed(self, group_of: Any, count: object, message: str) -> None:
        group, invalid = group_of({"InstanceCount": count})
        assert group.count is UNKNOWN
        assert invalid == [message]

    def test_leaves_the_other_fields_of_a_group_alone(self, group_of: Any) -> None:
        group, invalid = group_of(
            {
                "InstanceCount": -1,
                "MinInstanceCount": 9999,
                "SlurmConfig": {"NodeType": "Worker", "PartitionNames": ["a"]},
            }
        )
        assert (group.name, group.execution_role, group.partitions) == ("p5", ROLE, ("a",))
        assert (group.count, group.min_count, group.node_type) == (UNKNOWN, UNKNOWN, UNKNOWN)
        assert sorted(message.partition(":")[0] for message in invalid) == [
            "InstanceGroups[0].InstanceCount",
            "InstanceGroups[0].MinInstanceCount",
            "InstanceGroups[0].SlurmConfig.NodeType is 'Worker'; use Controller or Login or Compute",
        ]

    def test_points_to_the_group(self, cluster_of: Any) -> None:
        group = {"InstanceGroupName": "p5", "InstanceCount": "x", "ExecutionRole": ROLE}
        (invalid,) = cluster_of({"InstanceGroups": [group]}).invalid
        assert invalid.path == "app.json/C/p5"

    @pytest.mark.parametrize(
        ("properties", "message"),
        [
            (
                {"ClusterName": "a b"},
                (
                    "ClusterName 'a b' is not allowed; use 1 to 63 letters, digits and hyphens, "
                    "beginning and ending with a letter or digit"
                ),
            ),
            ({"NodeProvisioningMode": "continuous"}, "NodeProvisioningMode is 'continuous'; use Continuous"),
            ({"NodeRecovery": "auto"}, "NodeRecovery is 'auto'; use Automatic or None"),
            ({"VpcConfig": []}, "VpcConfig is []; use a map"),
            ({"VpcConfig": {"Subnets": "a", "SecurityGroupIds": []}}, "VpcConfig.Subnets is 'a'; use a list"),
            (
                {"Orchestrator": {"Slurm": {}, "Eks": {}}},
                "Orchestrator holds both Eks and Slurm; use exactly one of them",
            ),
            ({"Orchestrator": {"Eks": {}}}, "Orchestrator.Eks.ClusterArn is missing; give ClusterArn: it is required"),
            ({"Tags": {"a": "b"}}, "Tags is {'a': 'b'}; use a list"),
        ],
    )
    def test_is_found_in_a_cluster(self, cluster_of: Any, properties: dict[str, Any], message: str) -> None:
        assert message in refused(cluster_of(properties))


class TestMisspeltProperties:
    @pytest.mark.parametrize(
        ("properties", "message"),
        [
            ({"LifecycleConfig": {}}, "InstanceGroups[0].LifecycleConfig does not exist; use LifeCycleConfig"),
            (
                {"SlurmConfig": {"NodeType": "Compute", "PartitionName": ["a"]}},
                "InstanceGroups[0].SlurmConfig.PartitionName does not exist; use PartitionNames",
            ),
            ({"minInstanceCount": 1}, "InstanceGroups[0].minInstanceCount does not exist; use MinInstanceCount"),
        ],
    )
    def test_are_reported_with_the_one_that_was_meant(self, group_of: Any, properties: Any, message: str) -> None:
        assert group_of(properties)[1] == [message]

    def test_of_a_cluster_point_to_the_cluster(self, cluster_of: Any) -> None:
        (invalid,) = cluster_of({"VpcConfigs": {}}).invalid
        assert (invalid.path, invalid.message, invalid.fix) == (
            "app.json/C",
            "VpcConfigs does not exist",
            "use VpcConfig",
        )
        assert invalid.certain

    def test_are_no_matter_in_maps_that_users_fill(self, group_of: Any) -> None:
        assert group_of({"KubernetesConfig": {"Labels": {"anything": "goes"}}})[1] == []


class TestPropertiesThatMayBeNew:
    @pytest.mark.parametrize(
        ("properties", "where", "meant"),
        [
            (
                {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"Iops": 1}}]},
                "InstanceGroups[0].InstanceStorageConfigs[0].EbsVolumeConfig.Iops",
                "one of RootVolume, VolumeKmsKeyId, VolumeSizeInGB",
            ),
            (
                {"AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": 3600}},
                "InstanceGroups[0].AutoPatchConfig.IdleWaitWindowInSeconds",
                "one of DeploymentConfig, PatchSchedule, PatchingStrategy",
            ),
            # New names are made of old ones.
            ({"MaxInstanceCount": 1}, "InstanceGroups[0].MaxInstanceCount", "InstanceCount"),
            ({"ExecutionRoleArn": "a"}, "InstanceGroups[0].ExecutionRoleArn", "ExecutionRole"),
        ],
    )
    def test_are_reported_as_what_we_do_not_know(
        self, cluster_of: Any, properties: dict[str, Any], where: str, meant: str
    ) -> None:
        group = {"InstanceGroupName": "p5", "InstanceCount": 4, "ExecutionRole": ROLE, **properties}
        (invalid,) = cluster_of({"InstanceGroups": [group]}).invalid
        assert not invalid.certain
        assert invalid.message == f"{where} is not a property that we know"
        assert invalid.fix == f"use {meant}; if it is newer than our list, keep it"

    @pytest.mark.parametrize("name", ["MinInstanceCount", "RestrictedInstanceGroupsConfig", "OverrideVpcConfig"])
    def test_are_all_that_the_service_once_added(self, name: str) -> None:
        """A list without one of these, as it was before they existed, would not have called them slips."""
        definitions = schemas.definitions("AWS::SageMaker::Cluster")
        for known in (definitions["ClusterInstanceGroup"], definitions["root"]):
            older = set(known["properties"]) - {name}
            assert schema._alike(name, older, schema._SLIP) is None


class TestGroupsThatMayNotBeThere:
    def test_are_groups_of_which_nothing_is_known(self, cluster_of: Any) -> None:
        maybe = {"Fn::If": ["Maybe", {"InstanceGroupName": "a"}, {"Ref": "AWS::NoValue"}]}
        (group,) = cluster_of({"InstanceGroups": [maybe]}).clusters[0].groups
        assert (group.name, group.count, group.node_type, group.capacity) == (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)

    def test_are_never_mistaken_for_an_empty_list(self, cluster_of: Any) -> None:
        assert len(cluster_of({"InstanceGroups": UNDECIDABLE}).clusters[0].groups) == 1
        assert cluster_of({"InstanceGroups": []}).clusters[0].groups == ()
        assert cluster_of({}).clusters[0].groups == ()


class TestConditionalProperties:
    def test_are_unknown_and_not_invalid(self, group_of: Any) -> None:
        maybe = {"Fn::If": ["Maybe", {"NodeType": "Compute"}, {"Ref": "AWS::NoValue"}]}
        group, invalid = group_of({"SlurmConfig": maybe, "OnStartDeepHealthChecks": maybe, "OverrideVpcConfig": maybe})
        assert (group.node_type, group.partitions) == (UNKNOWN, UNKNOWN)
        assert (group.health_checks, group.placement) == (UNKNOWN, UNKNOWN)
        assert invalid == []


class TestGroupsOfOneName:
    def test_are_all_there(self, cluster_of: Any) -> None:
        group = {"InstanceGroupName": "a", "InstanceCount": 1, "ExecutionRole": ROLE}
        read = cluster_of({"InstanceGroups": [group, group]})
        assert [each.name for each in read.clusters[0].groups] == ["a", "a"]
        assert "app.json/C/a" in read.locations


class TestCapacity:
    @pytest.mark.parametrize(
        ("properties", "capacity"),
        [
            ({}, None),
            ({"CapacityRequirements": {"OnDemand": {}}}, OnDemand()),
            ({"CapacityRequirements": {"Spot": {}}}, Spot()),
            ({"CapacityRequirements": UNDECIDABLE}, UNKNOWN),
            ({"TrainingPlanArn": ARN}, TrainingPlan.unchecked(ARN)),
            ({"TrainingPlanArn": UNDECIDABLE}, UNKNOWN),
            (
                {"TrainingPlanArn": {"Fn::Sub": ARN.replace("111122223333", "${AWS::AccountId}")}},
                TrainingPlan("frontier", count=None, zone=None, starts=None, ends=None),
            ),
        ],
    )
    def test_is_what_the_properties_ask_for(self, group_of: Any, properties: Any, capacity: object) -> None:
        group, invalid = group_of(properties)
        assert group.capacity == capacity
        assert invalid == []

    def test_of_an_arn_that_is_none_is_reported(self, group_of: Any) -> None:
        group, invalid = group_of({"TrainingPlanArn": "frontier"})
        assert group.capacity is UNKNOWN
        assert invalid == [
            (
                "InstanceGroups[0].TrainingPlanArn: 'frontier' is not the ARN of a training plan; "
                "use arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME"
            )
        ]


class TestLifecycle:
    def test_of_a_bucket_in_the_template_names_that_bucket(self, group_of: Any) -> None:
        uri = {"Fn::Join": ["", ["s3://", {"Ref": "Scripts"}, "/p5"]]}
        group, _ = group_of(
            {"LifeCycleConfig": {"SourceS3Uri": uri, "OnCreate": "a.sh"}}, Scripts={"Type": "AWS::S3::Bucket"}
        )
        assert group.lifecycle == Lifecycle(source_uri="s3://<name of app.json.Scripts>/p5", on_create="a.sh")


class TestUpdates:
    def test_are_read_with_their_rollout(self, group_of: Any) -> None:
        schedule = {"ScheduleExpression": "cron(0 3 ? * SUN *)", "DeploymentConfig": ROLLOUT}
        patching = {"PatchingStrategy": "WhenAllIdle", "DeploymentConfig": ROLLOUT}
        group, invalid = group_of(
            {"ScheduledUpdateConfig": schedule, "AutoPatchConfig": patching}, Idle={"Type": "AWS::CloudWatch::Alarm"}
        )
        assert group.scheduled_update == ScheduledUpdate(schedule="cron(0 3 ? * SUN *)", rolling=ROLLING)
        assert group.patching == AutoPatch(when="WhenAllIdle", rolling=ROLLING)
        assert invalid == []

    def test_name_each_alarm_once(self, group_of: Any) -> None:
        rolling = {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}}
        config = {
            "RollingUpdatePolicy": rolling,
            "AutoRollbackConfiguration": [{"AlarmName": "broken"}, {"AlarmName": "broken"}],
        }
        update = {"ScheduleExpression": "cron(0 3 ? * SUN *)", "DeploymentConfig": config}
        group, invalid = group_of({"ScheduledUpdateConfig": update})
        assert group.scheduled_update.rolling.alarms == ("broken",)
        assert invalid == []

    def test_on_a_schedule_that_the_deploy_decides_are_updates_all_the_same(self, group_of: Any) -> None:
        group, invalid = group_of({"ScheduledUpdateConfig": {"ScheduleExpression": {"Ref": "AWS::StackId"}}})
        assert group.scheduled_update == ScheduledUpdate(schedule=UNKNOWN)
        assert invalid == []

    def test_that_never_come_are_reported(self, group_of: Any) -> None:
        _, invalid = group_of({"ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 3 31 2 ? *)"}})
        assert "cron(0 3 31 2 ? *) never comes: month 2 has 29 days at most" in invalid[0]

    def test_that_drain_nodes_are_for_requests_only(self, group_of: Any) -> None:
        group, invalid = group_of({"AutoPatchConfig": {"PatchingStrategy": "DrainFirst", "DeploymentConfig": ROLLOUT}})
        assert group.patching.when is UNKNOWN
        assert invalid == [
            "InstanceGroups[0].AutoPatchConfig.PatchingStrategy is 'DrainFirst'; use WhenIdle or WhenAllIdle"
        ]

    def test_with_a_rollout_that_cannot_be_read_keep_the_rest(self, group_of: Any) -> None:
        batch = {"MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 200}}
        patching = {"PatchingStrategy": "WhenIdle", "DeploymentConfig": {"RollingUpdatePolicy": batch}}
        group, invalid = group_of({"AutoPatchConfig": patching})
        assert group.patching == AutoPatch(when="WhenIdle", rolling=UNKNOWN)
        assert invalid == [
            (
                "InstanceGroups[0].AutoPatchConfig.DeploymentConfig.RollingUpdatePolicy.MaximumBatchSize: "
                "batch percent is 200; use 1 to 100"
            )
        ]


class TestOrchestrator:
    @pytest.mark.parametrize(
        ("properties", "orchestrator"),
        [
            ({}, None),
            ({"Orchestrator": {"Slurm": {}}}, Slurm()),
            ({"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}}}, Slurm(strategy="Merge")),
            ({"Orchestrator": {"Eks": {"ClusterArn": {"Fn::GetAtt": ["K", "Arn"]}}}}, Eks(cluster="app.json/K")),
            ({"Orchestrator": UNDECIDABLE}, UNKNOWN),
        ],
    )
    def test_is_recognized(self, cluster_of: Any, properties: Any, orchestrator: object) -> None:
        read = cluster_of(properties, K={"Type": "AWS::EKS::Cluster"})
        assert read.clusters[0].orchestrator == orchestrator
        assert read.invalid == ()

    def test_has_a_database_whose_default_name_is_not_known(self, cluster_of: Any) -> None:
        database = {"Endpoint": "db.example.com", "SecretArn": SECRET}
        read = cluster_of({"Orchestrator": {"Slurm": {"AccountingDatabase": database}}})
        assert read.clusters[0].orchestrator.accounting == ExternalDatabase(
            endpoint="db.example.com", secret_arn=SECRET, name=UNKNOWN
        )

    def test_has_a_database_of_the_same_template(self, cluster_of: Any) -> None:
        database = {"Endpoint": {"Fn::GetAtt": "Db.Endpoint.Address"}, "SecretArn": SECRET, "Name": "a"}
        read = cluster_of(
            {"Orchestrator": {"Slurm": {"AccountingDatabase": database}}}, Db={"Type": "AWS::RDS::DBInstance"}
        )
        assert read.clusters[0].orchestrator.accounting.endpoint == read.databases[0].path
        assert read.databases[0].retention.on_delete == "Snapshot"
        assert read.databases[0].retention.on_replace == "Delete"


class TestACluster:
    def test_waits_for_what_it_depends_on(self, deployment_of: Any) -> None:
        cluster = {"Type": "AWS::SageMaker::Cluster", "DependsOn": "Topic", "Properties": {}}
        read = deployment_of({"C": cluster, "Topic": {"Type": "AWS::SNS::Topic"}})
        assert read.clusters == (Cluster(path="app.json/C", groups=(), depends_on=frozenset({"app.json/Topic"})),)

    def test_waits_for_all_of_another_stack_that_it_refers_to(self, tmp_path: Path) -> None:
        foundation = {
            "Resources": {"G": {"Type": "AWS::EC2::SecurityGroup"}, "Out": {"Type": "AWS::EC2::SecurityGroupEgress"}},
            "Outputs": {"G": {"Value": {"Ref": "G"}, "Export": {"Name": "group"}}},
        }
        network = {"Subnets": ["subnet-1"], "SecurityGroupIds": [{"Fn::ImportValue": "group"}]}
        cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"VpcConfig": network}}
        (tmp_path / "a.json").write_text(json.dumps(foundation))
        (tmp_path / "b.json").write_text(json.dumps({"Resources": {"C": cluster, "T": {"Type": "AWS::SNS::Topic"}}}))
        assert template.read(tmp_path).clusters[0].depends_on == frozenset({"a.json/G", "a.json/Out"})

    def test_in_a_nested_stack_does_not_wait_for_all_of_the_stack_around_it(self, tmp_path: Path) -> None:
        network = {"Subnets": ["subnet-1"], "SecurityGroupIds": [{"Ref": "Group"}]}
        cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"VpcConfig": network}}
        inner = {"Parameters": {"Group": {"Type": "String"}}, "Resources": {"C": cluster}}
        properties = {"TemplateURL": "https://x/inner.json", "Parameters": {"Group": {"Ref": "G"}}}
        outer = {
            "G": {"Type": "AWS::EC2::SecurityGroup"},
            "Out": {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": {"GroupId": {"Ref": "G"}}},
            "Inner": {"Type": "AWS::CloudFormation::Stack", "Properties": properties},
        }
        (tmp_path / "inner.json").write_text(json.dumps(inner))
        (tmp_path / "outer.json").write_text(json.dumps({"Resources": outer}))
        assert template.read(tmp_path).clusters[0].depends_on == frozenset()

    def test_waits_for_all_of_a_nested_stack_that_it_depends_on(self, tmp_path: Path) -> None:
        inner = {"Resources": {"Out": {"Type": "AWS::EC2::SecurityGroupEgress"}}}
        outer = {
            "Inner": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "https://x/inner.json"}},
            "C": {"Type": "AWS::SageMaker::Cluster", "DependsOn": ["Inner"]},
        }
        (tmp_path / "inner.json").write_text(json.dumps(inner))
        (tmp_path / "outer.json").write_text(json.dumps({"Resources": outer}))
        read = template.read(tmp_path)
        paths = frozenset(path for path in read.locations if path.endswith(("/Inner", "/Out")))
        assert read.clusters[0].depends_on == paths
        assert len(paths) == 2

    def test_knows_which_tags_it_does_not_know(self, cluster_of: Any) -> None:
        tags = [{"Key": "owner", "Value": UNDECIDABLE}, {"Key": UNDECIDABLE, "Value": "x"}]
        (cluster,) = cluster_of({"Tags": tags}).clusters
        assert (cluster.tags, cluster.tags_complete) == ({"owner": UNKNOWN}, False)

    def test_has_a_placement_of_ids_and_paths(self, cluster_of: Any) -> None:
        network = {"Subnets": ["subnet-1", {"Ref": "Net"}], "SecurityGroupIds": [UNDECIDABLE]}
        read = cluster_of({"VpcConfig": network}, Net={"Type": "AWS::EC2::Subnet"})
        assert read.clusters[0].placement == VpcPlacement(
            subnets=("subnet-1", "app.json/Net"), security_groups=(UNKNOWN,)
        )


class TestFieldsThatOnlySomeClustersHave:
    def test_of_eks_are_named_where_they_certainly_are_there(self, group_of: Any) -> None:
        group, invalid = group_of({"KubernetesConfig": {"Labels": {"a": "b"}}, "ImageReleaseVersion": UNDECIDABLE})
        assert (group.eks_fields, invalid) == (("KubernetesConfig",), [])

    def test_of_eks_clusters_count_only_if_they_are_turned_on(self, cluster_of: Any) -> None:
        features = {
            "AutoScaling": {"Mode": "Disable"},
            "TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20},
        }
        assert cluster_of(features).clusters[0].eks_fields == ("TieredStorageConfig",)

    @pytest.mark.parametrize(
        ("properties", "asked"),
        [
            ({"TrainingPlanArn": ARN, "CapacityRequirements": {"Spot": {}}}, ("Spot", "TrainingPlanArn")),
            ({"CapacityRequirements": {"Spot": {}, "OnDemand": {}}}, ("OnDemand", "Spot")),
            ({"CapacityRequirements": {"Spot": {}}}, ()),
            ({"TrainingPlanArn": ARN, "CapacityRequirements": UNDECIDABLE}, ()),
        ],
    )
    def test_of_capacity_are_named_where_there_are_several(self, group_of: Any, properties: Any, asked: Any) -> None:
        assert group_of(properties)[0].asked == asked


class TestAnOrchestratorUnderAnUndecidableCondition:
    MAYBE: ClassVar[dict[str, Any]] = {"Fn::If": ["Maybe", {"ClusterArn": EKS}, {"Ref": "AWS::NoValue"}]}
    OR_ELSE: ClassVar[dict[str, Any]] = {"Fn::If": ["Maybe", {"Ref": "AWS::NoValue"}, {}]}

    @pytest.mark.parametrize(
        ("orchestrator", "read_as"),
        [
            ({"Eks": MAYBE, "Slurm": OR_ELSE}, UNKNOWN),
            ({"Eks": MAYBE, "Slurm": {}}, Slurm()),
            ({"Eks": {"ClusterArn": EKS}, "Slurm": OR_ELSE}, Eks(cluster=EKS)),
        ],
    )
    def test_is_the_one_that_is_certain(self, cluster_of: Any, orchestrator: Any, read_as: object) -> None:
        read = cluster_of({"Orchestrator": orchestrator})
        assert (read.clusters[0].orchestrator, refused(read)) == (read_as, [])


class TestUnderAMacro:
    def test_what_is_left_out_may_be_added(self, deployment_of: Any) -> None:
        group = {"InstanceGroupName": "p5", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 4}
        properties = {"InstanceGroups": [group], "Orchestrator": {"Eks": {"ClusterArn": EKS}}}
        resources = {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}
        read = deployment_of(resources, Transform="Company")
        (cluster,) = read.clusters
        assert (cluster.placement, cluster.orchestrator) == (UNKNOWN, Eks(cluster=EKS))
        assert (cluster.groups[0].execution_role, cluster.groups[0].count) == (UNKNOWN, 4)
        assert read.invalid == ()

    def test_is_said(self, deployment_of: Any) -> None:
        (unseen,) = deployment_of({"C": {"Type": "AWS::SageMaker::Cluster"}}, Transform="Company").unseen
        assert (unseen.kind, unseen.what) == ("macro", "Company")


class TestScriptsInABucketOfTheTemplate:
    @pytest.mark.parametrize(
        ("bucket", "uri"),
        [
            ({"BucketName": "acme-scripts"}, "s3://acme-scripts/lcs"),
            ({}, "s3://<name of app.json.B>/lcs"),
            ({"BucketName": {"Fn::Sub": "acme-${AWS::AccountId}-lcs"}}, "s3://acme-*-lcs/lcs"),
            ({"BucketName": {"Ref": "AWS::AccountId"}}, "s3://*"),
        ],
    )
    def test_lie_where_the_template_names_it(self, group_of: Any, bucket: Any, uri: str) -> None:
        lifecycle = {"SourceS3Uri": {"Fn::Sub": "s3://${B}/lcs"}, "OnInitComplete": "a.sh"}
        group, _ = group_of({"LifeCycleConfig": lifecycle}, B={"Type": "AWS::S3::Bucket", "Properties": bucket})
        assert group.lifecycle == Lifecycle(source_uri=uri, on_init_complete="a.sh")
