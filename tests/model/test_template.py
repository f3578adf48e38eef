from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from hyperpod_constructs.model import template
from hyperpod_constructs.model.budget import BudgetResource, Grant, Notification, Subscriber, Topic
from hyperpod_constructs.model.capacity import AutoPatch, BatchSize, InstanceGroup, RollingUpdate, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment, Location
from hyperpod_constructs.model.identity import Role, Statement
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.network import Rule, SecurityGroup, Subnet, VpcPlacement
from hyperpod_constructs.model.orchestration import Slurm
from hyperpod_constructs.model.storage import FileSystem, Lustre, Mount, NodeVolume, Retention
from hyperpod_constructs.tokens import UNKNOWN
from tests.counting import calls
from tests.model.conftest import refused

FIXTURES = Path(__file__).with_name("fixtures")
TRAINING = FIXTURES / "training.yaml"
ROLE = "arn:aws:iam::111122223333:role/node"

TYPES = (
    "AWS::SageMaker::Cluster",
    "AWS::EC2::Subnet",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::FSx::FileSystem",
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::IAM::Role",
    "AWS::IAM::Policy",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::RolePolicy",
    "AWS::S3::Bucket",
    "AWS::Budgets::Budget",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
    "AWS::SNS::TopicInlinePolicy",
    "AWS::SNS::Subscription",
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
# Names that are looked for, so that values get to every reader.
_NAMES = """
    ClusterName InstanceGroups InstanceGroupName InstanceCount MinInstanceCount InstanceRequirements InstanceTypes
    SlurmConfig NodeType PartitionNames TrainingPlanArn CapacityRequirements Spot InstanceStorageConfigs
    EbsVolumeConfig VolumeSizeInGB RootVolume FsxLustreConfig DnsName MountName LifeCycleConfig SourceS3Uri
    OverrideVpcConfig VpcConfig Subnets SecurityGroupIds Orchestrator Slurm Eks AccountingDatabase Port Name Tags
    Key Value AutoPatchConfig PatchingStrategy DeploymentConfig RollingUpdatePolicy MaximumBatchSize Type
    AutoRollbackConfiguration ScheduledUpdateConfig ThreadsPerCore NodeProvisioningMode CidrBlock
    MapPublicIpOnLaunch SecurityGroupIngress SecurityGroupEgress GroupId IpProtocol FromPort FileSystemType
    StorageCapacity SubnetIds LustreConfiguration DeploymentType MetadataConfiguration Mode Iops S3 AutoImportPolicy
    Events FileSystemPath DataRepositoryPath FileSystemId AssumeRolePolicyDocument Policies PolicyDocument
    ManagedPolicyArns Roles RoleName Path Statement Effect Action NotAction Resource Principal Service AWS Condition
    VersioningConfiguration Status Budget BudgetLimit Amount TimeUnit NotificationsWithSubscribers Notification
    Threshold Subscribers Subscription Topics TopicArn KmsMasterKeyId Ref Fn::If Fn::GetAtt Fn::Sub
"""
NAMES = st.sampled_from(_NAMES.split())
WORDS = st.sampled_from(["LUSTRE", "Allow", "*", "-1", "three", "X", "Type", "true", "INSTANCE_COUNT", "10.0.0.0/99"])
NEARLY = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=30,
)


@pytest.fixture(scope="module")
def training() -> Deployment:
    return template.read(TRAINING, region="us-west-2")


class TestAWholeTemplate:
    def test_gives_the_cluster_with_its_intent(self, training: Deployment) -> None:
        assert training.clusters == (
            Cluster(
                path="training.yaml/Cluster",
                name="frontier",
                region="us-west-2",
                provisioning="Continuous",
                recovery="Automatic",
                orchestrator=Slurm(provisioning="all-or-nothing"),
                placement=VpcPlacement(subnets=("training.yaml/Nodes",), security_groups=("training.yaml/Fabric",)),
                tags={"owner": "ml-platform"},
                depends_on=frozenset(
                    f"training.yaml/{name}"
                    for name in ("Fabric", "FabricOut", "Node", "NodeNetwork", "Nodes", "Scratch")
                ),
                groups=(
                    InstanceGroup(
                        name="controller",
                        count=1,
                        instance_type="ml.m5.4xlarge",
                        node_type="Controller",
                        execution_role="training.yaml/Node",
                    ),
                    InstanceGroup(
                        name="p5",
                        count=30,
                        spares=2,
                        instance_type="ml.p5.48xlarge",
                        node_type="Compute",
                        partitions=("train",),
                        execution_role="training.yaml/Node",
                        health_checks=("InstanceStress",),
                        capacity=TrainingPlan(
                            "frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14"
                        ),
                        lifecycle=Lifecycle(source_uri="s3://scripts-*", on_init_complete="setup.sh"),
                        volumes=(NodeVolume(size_gib=500),),
                        mounts=(
                            Mount(
                                kind="lustre",
                                file_system="training.yaml/Scratch",
                                mount_name="training.yaml/Scratch",
                            ),
                        ),
                        patching=AutoPatch(
                            when="WhenIdle",
                            rolling=RollingUpdate(batch=BatchSize(percent=10), wait_seconds=60, alarms=("idle",)),
                        ),
                    ),
                ),
            ),
        )

    def test_gives_network_and_storage(self, training: Deployment) -> None:
        fabric = "training.yaml/Fabric"
        assert training.subnets == (
            Subnet(
                path="training.yaml/Nodes",
                zone="usw2-az2",
                cidr="10.1.0.0/20",
                vpc="vpc-0",
                region="us-west-2",
                after=frozenset(),
            ),
        )
        assert training.security_groups == (
            SecurityGroup(
                path=fabric,
                rules=(
                    Rule(direction="ingress", protocol="-1", group=fabric, path="training.yaml/FabricIn"),
                    Rule(direction="egress", protocol="-1", group=fabric, path="training.yaml/FabricOut"),
                ),
                vpc="vpc-0",
            ),
        )
        assert training.file_systems == (
            FileSystem(
                path="training.yaml/Scratch",
                lustre=Lustre(
                    capacity_gib=4800,
                    throughput_mbps_per_tib=1000,
                    efa=True,
                    metadata_iops="AUTOMATIC",
                    compression="NONE",
                ),
                subnets=("training.yaml/Nodes",),
                security_groups=(fabric,),
                region="us-west-2",
                retention=Retention(on_delete="RetainExceptOnCreate", on_replace="Retain"),
                depends_on=frozenset({"training.yaml/Nodes", fabric}),
            ),
        )

    def test_gives_roles_and_budgets(self, training: Deployment) -> None:
        assert training.roles == (
            Role(
                path="training.yaml/Node",
                trusts=("sagemaker.amazonaws.com",),
                managed_policies=("AmazonSageMakerClusterInstanceRolePolicy",),
                statements=(
                    Statement(allow=True, actions=("ec2:CreateNetworkInterface",), policy="training.yaml/NodeNetwork"),
                ),
            ),
        )
        assert training.topics == (
            Topic(path="training.yaml/Notices", grants=(Grant(service="budgets.amazonaws.com"),), subscriptions=1),
        )
        notices = Subscriber(kind="SNS", address="training.yaml/Notices")
        assert training.budgets == (
            BudgetResource(
                path="training.yaml/Limit",
                amount=5000,
                unit="USD",
                region="us-west-2",
                notifications=(
                    Notification(kind="ACTUAL", threshold=80, subscribers=(notices,), comparison="GREATER_THAN"),
                ),
            ),
        )

    def test_has_nothing_invalid(self, training: Deployment) -> None:
        assert training.invalid == ()

    def test_locates_resources_and_groups(self, training: Deployment) -> None:
        lines = TRAINING.read_text().splitlines()
        for path, start in {
            "training.yaml/Fabric": "  Fabric:",
            "training.yaml/Cluster": "  Cluster:",
            "training.yaml/Cluster/p5": "        - InstanceGroupName: p5",
        }.items():
            assert training.locations[path] == Location(str(TRAINING), lines.index(start) + 1)


class TestAGroupBehindOneThatAConditionTakesOut:
    def test_is_found_at_its_own_line(self, tmp_path: Path) -> None:
        basics = {"InstanceCount": 1, "ExecutionRole": ROLE}
        groups = [
            {"Fn::If": ["Never", {"InstanceGroupName": "login", **basics}, {"Ref": "AWS::NoValue"}]},
            {"InstanceGroupName": "p5", **basics, "InstanceCount": "x"},
        ]
        cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": groups}}
        file = tmp_path / "app.json"
        conditions = {"Never": {"Fn::Equals": ["a", "b"]}}
        file.write_text(json.dumps({"Conditions": conditions, "Resources": {"C": cluster}}, indent=1))
        read = template.read(file)
        lines = file.read_text().splitlines()
        group = next(n for n, line in enumerate(lines) if '"InstanceGroupName": "p5"' in line)
        assert read.locations["app.json/C/p5"].line == group
        assert [each.location.line for each in read.invalid if each.location] == [
            next(n for n, line in enumerate(lines, start=1) if '"InstanceCount": "x"' in line)
        ]


class TestACreateClusterRequest:
    @pytest.fixture
    def request_file(self, tmp_path: Path) -> Path:
        return tmp_path / "request.json"

    def test_is_a_cluster(self, request_file: Path) -> None:
        group = {"InstanceGroupName": "p5", "InstanceCount": 2, "ExecutionRole": ROLE}
        request_file.write_text(json.dumps({"ClusterName": "small", "InstanceGroups": [group]}, indent=1))
        read = template.read(request_file, region="us-west-2")
        (cluster,) = read.clusters
        assert (cluster.path, cluster.name, cluster.region) == ("request.json/small", "small", "us-west-2")
        assert cluster.groups == (InstanceGroup(name="p5", count=2, execution_role=ROLE),)
        assert read.locations["request.json/small/p5"] == Location(str(request_file), 4)
        assert read.invalid == ()

    def test_needs_a_name(self, request_file: Path) -> None:
        request_file.write_text(json.dumps({"InstanceGroups": []}))
        read = template.read(request_file)
        assert refused(read) == ["ClusterName is missing; give ClusterName: it is required"]
        assert read.invalid[0].path == "request.json"

    def test_points_to_the_line_of_what_is_wrong(self, request_file: Path) -> None:
        group = {"InstanceGroupName": "p5", "InstanceCount": "x", "ExecutionRole": ROLE}
        request_file.write_text(json.dumps({"ClusterName": "c", "InstanceGroups": [group]}, indent=1))
        assert [each.location for each in template.read(request_file).invalid] == [Location(str(request_file), 6)]

    def test_may_drain_nodes_to_patch_them(self, request_file: Path) -> None:
        batch = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}}}
        patching = {
            "PatchingStrategy": "DrainFirst",
            "DeploymentConfig": batch,
            "DrainPolicy": {"OnDrainTimeout": "Skip"},
        }
        group = {"InstanceGroupName": "a", "InstanceCount": 1, "ExecutionRole": ROLE, "AutoPatchConfig": patching}
        request_file.write_text(json.dumps({"ClusterName": "c", "InstanceGroups": [group]}))
        read = template.read(request_file)
        assert read.clusters[0].groups[0].patching == AutoPatch(
            when="DrainFirst", rolling=RollingUpdate(batch=BatchSize(count=1))
        )
        assert read.invalid == ()

    def test_may_have_what_only_the_api_has(self, request_file: Path) -> None:
        patching = {"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": 3600}
        group = {"InstanceGroupName": "a", "InstanceCount": 1, "ExecutionRole": ROLE, "AutoPatchConfig": patching}
        request_file.write_text(json.dumps({"ClusterName": "c", "InstanceGroups": [group]}))
        assert template.read(request_file).invalid == ()


class TestWeakReferences:
    NET: ClassVar[dict[str, Any]] = {
        "Net": {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/20"}},
        "Group": {"Type": "AWS::EC2::SecurityGroup"},
    }

    def read(self, tmp_path: Path, resources: dict[str, Any], *, name: str = "foundation") -> Deployment:
        """What two stacks of a `cdk.out` deploy, of which the first has a subnet and a security group."""
        outputs = {"Net": {"Value": {"Ref": "Net"}}, "Group": {"Value": {"Fn::GetAtt": ["Group", "GroupId"]}}}
        stacks = {"Foundation": {"Resources": self.NET, "Outputs": outputs}, "Cluster": {"Resources": resources}}
        artifacts = {}
        for stack, body in stacks.items():
            (tmp_path / f"{stack}.json").write_text(json.dumps(body))
            properties = {"templateFile": f"{stack}.json", "stackName": name if stack == "Foundation" else "cluster"}
            environment = "aws://111122223333/us-west-2"
            artifacts[stack] = {
                "type": "aws:cloudformation:stack", "environment": environment, "properties": properties,
            }  # fmt: skip
        (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
        return template.read(tmp_path)

    def output(self, name: str) -> dict[str, Any]:
        return {"Fn::GetStackOutput": {"StackName": "foundation", "OutputName": name}}

    def test_of_a_network_are_seen_beside_what_they_lead_to(self, tmp_path: Path) -> None:
        network = {"Subnets": [self.output("Net")], "SecurityGroupIds": ["sg-1"]}
        group = {"InstanceGroupName": "a", "InstanceCount": 1, "ExecutionRole": ROLE, "OverrideVpcConfig": network}
        files = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-1"], "SecurityGroupIds": [self.output("Group")]}
        read = self.read(
            tmp_path,
            {
                "C": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group]}},
                "F": {"Type": "AWS::FSx::FileSystem", "Properties": files},
            },
        )
        assert read.clusters[0].groups[0].placement == VpcPlacement(
            subnets=("Foundation/Net",), security_groups=("sg-1",), weak=("Subnets",)
        )
        assert read.file_systems[0].weak == ("SecurityGroupIds",)

    def test_are_seen_where_they_lead_to_a_stack_that_is_not_read(self, tmp_path: Path) -> None:
        network = {"Subnets": [self.output("Net")], "SecurityGroupIds": ["sg-1"]}
        cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"VpcConfig": network}}
        read = self.read(tmp_path, {"C": cluster}, name="other")
        assert read.clusters[0].placement == VpcPlacement(
            subnets=(UNKNOWN,), security_groups=("sg-1",), weak=("Subnets",)
        )

    @pytest.mark.parametrize("strong", [{"Fn::ImportValue": "elsewhere"}, {"Ref": "Given"}, "subnet-1"])
    def test_are_not_seen_in_strong_ones(self, tmp_path: Path, strong: object) -> None:
        network = {"Subnets": [strong], "SecurityGroupIds": ["sg-1"]}
        cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"VpcConfig": network}}
        (read,) = self.read(tmp_path, {"C": cluster}).clusters
        assert isinstance(read.placement, VpcPlacement)
        assert read.placement.weak == ()


class TestReferences:
    def test_lead_from_a_nested_stack_to_its_parent(self, tmp_path: Path) -> None:
        child = {
            "Parameters": {"Subnet": {"Type": "String"}},
            "Resources": {
                "Cluster": {
                    "Type": "AWS::SageMaker::Cluster",
                    "Properties": {"VpcConfig": {"Subnets": [{"Ref": "Subnet"}], "SecurityGroupIds": ["sg-1"]}},
                }
            },
        }
        parent = {
            "Resources": {
                "Net": {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/20"}},
                "Child": {
                    "Type": "AWS::CloudFormation::Stack",
                    "Properties": {"TemplateURL": "https://x/child.json", "Parameters": {"Subnet": {"Ref": "Net"}}},
                },
            }
        }
        (tmp_path / "child.json").write_text(json.dumps(child))
        (tmp_path / "parent.json").write_text(json.dumps(parent))
        read = template.read(tmp_path)
        (cluster,) = read.clusters
        assert cluster.placement == VpcPlacement(subnets=(read.subnets[0].path,), security_groups=("sg-1",))

    def test_lead_to_the_exporting_stack(self, tmp_path: Path) -> None:
        exporter = {
            "Resources": {"Net": {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/20"}}},
            "Outputs": {"Net": {"Value": {"Ref": "Net"}, "Export": {"Name": "net"}}},
        }
        importer = {
            "Resources": {
                "Files": {
                    "Type": "AWS::FSx::FileSystem",
                    "Properties": {"FileSystemType": "LUSTRE", "SubnetIds": [{"Fn::ImportValue": "net"}]},
                }
            }
        }
        (tmp_path / "a.json").write_text(json.dumps(exporter))
        (tmp_path / "b.json").write_text(json.dumps(importer))
        assert template.read(tmp_path).file_systems[0].subnets == ("a.json/Net",)

    def test_to_what_a_resource_merely_has_are_not_to_the_resource(self, deployment_of: Any) -> None:
        group = {"Fn::GetAtt": ["Kubernetes", "ClusterSecurityGroupId"]}
        read = deployment_of(
            {
                "Kubernetes": {"Type": "AWS::EKS::Cluster"},
                "C": {
                    "Type": "AWS::SageMaker::Cluster",
                    "Properties": {"VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": [group]}},
                },
            }
        )
        assert read.clusters[0].placement.security_groups == ("app.json/Kubernetes.ClusterSecurityGroupId",)

    def test_that_nobody_can_decide_are_unknown(self, deployment_of: Any) -> None:
        read = deployment_of(
            {
                "C": {
                    "Type": "AWS::SageMaker::Cluster",
                    "Properties": {
                        "VpcConfig": {"Subnets": [{"Ref": "Given"}], "SecurityGroupIds": {"Ref": "GivenList"}},
                        "InstanceGroups": {"Fn::ImportValue": "groups"},
                    },
                }
            },
            Parameters={"Given": {"Type": "String"}, "GivenList": {"Type": "CommaDelimitedList"}},
        )
        (cluster,) = read.clusters
        assert cluster.placement == VpcPlacement(subnets=(UNKNOWN,), security_groups=UNKNOWN)
        assert [group.name for group in cluster.groups] == [UNKNOWN]
        assert read.invalid == ()


class TestWhateverTheInput:
    @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(value=ANYTHING | NEARLY, beside=ANYTHING | NEARLY)
    def test_nothing_is_raised(self, tmp_path: Path, value: Any, beside: Any) -> None:
        file = tmp_path / "app.json"
        resources = {
            f"X{number}": {"Type": kind, "Properties": value, "Metadata": {"hyperpod:intent": beside}}
            for number, kind in enumerate(TYPES)
        }
        file.write_text(json.dumps({"Resources": resources}))
        read = template.read(file)
        assert len(read.clusters) == 1
        assert all(invalid.fix for invalid in read.invalid)

    @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(name=NAMES, value=NEARLY)
    def test_nothing_is_raised_for_one_property_that_is_wrong(self, tmp_path: Path, name: str, value: Any) -> None:
        file = tmp_path / "app.json"
        group = {"InstanceGroupName": "a", "InstanceCount": 1, "ExecutionRole": ROLE, name: value}
        properties = {name: value, "InstanceGroups": value if name == "InstanceGroups" else [group]}
        resources = {f"X{number}": {"Type": kind, "Properties": properties} for number, kind in enumerate(TYPES)}
        file.write_text(json.dumps({"Resources": resources}))
        read = template.read(file)
        assert len(read.clusters) == 1
        assert all(invalid.fix for invalid in read.invalid)

    @settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(properties=st.dictionaries(NAMES, NEARLY, max_size=5))
    def test_nothing_is_raised_for_a_request(self, tmp_path: Path, properties: dict[str, Any]) -> None:
        file = tmp_path / "request.json"
        file.write_text(json.dumps({"ClusterName": "a", **properties}))
        read = template.read(file)
        assert len(read.clusters) == 1
        assert all(invalid.fix for invalid in read.invalid)


class TestPropertiesThatAreNoMap:
    @pytest.mark.parametrize("properties", [[], "text", 5])
    def test_are_reported(self, deployment_of: Any, properties: object) -> None:
        read = deployment_of({"C": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}})
        assert refused(read) == [f"Properties is {properties!r}; use a map"]


class TestWhereWhatIsWrongStands:
    TEMPLATE = """\
Resources:
  Cluster:
    Type: AWS::SageMaker::Cluster
    DeletionPolicy: Retain
    Metadata:
      hyperpod:intent:
        groups:
          p5:
            spares: 31
    Properties:
      NodeRecovery: Never
      InstanceGroups:
        - InstanceGroupName: p5
          ExecutionRole: arn:aws:iam::111122223333:role/node
          LifecycleConfig: {}
          InstanceCount: -1
        - InstanceGroupName: cpu
          ExecutionRole: arn:aws:iam::111122223333:role/node
  Files:
    Type: AWS::FSx::FileSystem
    DeletionPolicy: Keep
    Properties:
      FileSystemType: LUSTRE
      SubnetIds: [subnet-1]
      LustreConfiguration:
        AutomaticBackupRetentionDays: 91
"""

    def test_is_the_line_of_the_property_or_of_the_nearest_thing_around_it(self, tmp_path: Path) -> None:
        file = tmp_path / "t.yaml"
        file.write_text(self.TEMPLATE)
        found = {each.message: each.location for each in template.read(file).invalid}
        assert {message.partition(" ")[0]: place and place.line for message, place in found.items()} == {
            "NodeRecovery": 11,
            "InstanceGroups[0].LifecycleConfig": 15,
            "InstanceGroups[0].InstanceCount:": 16,
            "InstanceGroups[1].InstanceCount": 17,  # missing
            "LustreConfiguration.AutomaticBackupRetentionDays:": 26,
            "DeletionPolicy": 21,
        }
        assert {place and place.file for place in found.values()} == {str(file)}

    def test_is_the_line_of_the_intent_too(self, tmp_path: Path) -> None:
        file = tmp_path / "t.yaml"
        file.write_text(self.TEMPLATE.replace("InstanceCount: -1", "InstanceCount: 30"))
        (spares,) = [each for each in template.read(file).invalid if "spares" in each.message]
        assert spares.location == Location(str(file), 9)


class TestWhatIsThereBeforeACluster:
    def test_holds_what_its_dependencies_wait_for_in_turn(self, deployment_of: Any) -> None:
        read = deployment_of(
            {
                "C": {"Type": "AWS::SageMaker::Cluster", "DependsOn": "Marker"},
                "Marker": {"Type": "AWS::SSM::Parameter", "DependsOn": ["In"]},
                "In": {
                    "Type": "AWS::EC2::SecurityGroupIngress",
                    "Properties": {"GroupId": {"Fn::GetAtt": ["Fabric", "GroupId"]}, "IpProtocol": "-1"},
                },
                "Fabric": {"Type": "AWS::EC2::SecurityGroup"},
                "Later": {"Type": "AWS::SSM::Parameter", "DependsOn": ["C"]},
            }
        )
        assert read.clusters[0].depends_on == {"app.json/Marker", "app.json/In", "app.json/Fabric"}


class TestManyClusters:
    def resources(self, count: int) -> dict[str, Any]:
        group = {"InstanceGroupName": "a", "InstanceCount": 1, "ExecutionRole": {"Ref": "NRole"}}
        network = {"Subnets": [{"Ref": "NNet"}], "SecurityGroupIds": [{"Ref": "NFabric"}]}
        policy = {"Roles": [{"Ref": "NRole"}], "PolicyDocument": {"Statement": []}}
        one = {
            "NCluster": ("AWS::SageMaker::Cluster", {"VpcConfig": network, "InstanceGroups": [group]}),
            "NNet": ("AWS::EC2::Subnet", {}),
            "NFabric": ("AWS::EC2::SecurityGroup", {}),
            "NIn": ("AWS::EC2::SecurityGroupIngress", {"GroupId": {"Ref": "NFabric"}, "IpProtocol": "-1"}),
            "NRole": ("AWS::IAM::Role", {"AssumeRolePolicyDocument": {"Statement": []}}),
            "NPolicy": ("AWS::IAM::Policy", policy),
        }
        text = json.dumps({name: {"Type": kind, "Properties": properties} for name, (kind, properties) in one.items()})
        copies = [json.loads(text.replace('"N', f'"N{number}')) for number in range(count)]
        return {name: resource for copy in copies for name, resource in copy.items()}

    def test_take_work_in_proportion(self, deployment_of: Any) -> None:
        def work(count: int) -> int:
            resources = self.resources(count)
            assert len(deployment_of(resources).clusters) == count
            return calls(lambda: deployment_of(resources))

        assert work(100) < 11 * work(10)  # 10 times as many; quadratic would be 100 times


class TestListsAndTexts:
    """What stands alone where a list belongs, and a list where a text does, is certain whatever the values are."""

    PARAMETERS: ClassVar[dict[str, Any]] = {
        "One": {"Type": "AWS::EC2::Subnet::Id"},
        "Many": {"Type": "List<AWS::EC2::Subnet::Id>"},
    }

    def said(self, deployment_of: Any, subnets: object) -> list[str]:
        """What is wrong with the subnets of a cluster."""
        cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"VpcConfig": {"Subnets": subnets}}}
        read = deployment_of({"C": cluster, "S": {"Type": "AWS::EC2::Subnet"}}, Parameters=self.PARAMETERS)
        return [each.message for each in read.invalid if "Subnets" in each.message]

    @pytest.mark.parametrize(
        "subnets", [{"Ref": "S"}, {"Fn::GetAtt": ["S", "SubnetId"]}, {"Fn::Sub": "${S}"}, {"Ref": "One"}]
    )
    def test_one_text_is_no_list(self, deployment_of: Any, subnets: object) -> None:
        (message,) = self.said(deployment_of, subnets)
        assert "one text" in message

    def test_a_list_is_no_text(self, deployment_of: Any) -> None:
        (message,) = self.said(deployment_of, [{"Ref": "Many"}])
        assert message == "VpcConfig.Subnets[0] is the parameter Many, a whole list (type List<AWS::EC2::Subnet::Id>)"
        assert self.said(deployment_of, [[{"Ref": "S"}]]) == ["VpcConfig.Subnets[0] is [!Ref S]"]

    @pytest.mark.parametrize(
        "subnets", [[{"Ref": "One"}], {"Ref": "Many"}, {"Fn::ImportValue": "x"}, {"Fn::Split": [",", {"Ref": "S"}]}]
    )
    def test_what_is_a_list_is_taken(self, deployment_of: Any, subnets: object) -> None:
        assert self.said(deployment_of, subnets) == []
