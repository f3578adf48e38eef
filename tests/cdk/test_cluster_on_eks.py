"""A HyperPod cluster on EKS, as CloudFormation will get it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

import hyperpod_constructs as hp
from tests.templates import of_type, synthesized

CLUSTER = "AWS::SageMaker::Cluster"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], flow_logs=False)


@pytest.fixture
def plane(stack: cdk.Stack, network: hp.Network) -> hp.EksControlPlane:
    return hp.EksControlPlane(stack, "Kubernetes", network=network, name="research")


def cluster(stack: cdk.Stack, network: Any, plane: Any, **options: Any) -> hp.Cluster:
    groups = [hp.InstanceGroup.worker("cpu", "ml.m5.xlarge", count=1)]
    given = {"name": "research", "network": network, "control_plane": plane, "groups": groups}
    return hp.Cluster(stack, "Cluster", **{**given, **options})


def resource(stack: cdk.Stack) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (each for each in synthesized(stack)["Resources"].values() if each["Type"] == CLUSTER)
    return found


def group(stack: cdk.Stack) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = resource(stack)["Properties"]["InstanceGroups"]
    return found


def statements(stack: cdk.Stack) -> dict[str, dict[str, Any]]:
    """Statements of all policies of nodes by their ids."""
    policies = of_type(synthesized(stack), "AWS::IAM::Policy").values()
    found = [each for policy in policies for each in policy["PolicyDocument"]["Statement"]]
    return {each["Sid"]: each for each in found if "Sid" in each}


class TestCluster:
    def test_joins_the_control_plane_once_what_nodes_need_is_there(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        cluster(stack, network, plane)
        found = resource(stack)
        assert found["Properties"]["Orchestrator"] == {"Eks": {"ClusterArn": stack.resolve(plane.cluster_arn)}}
        names = {each for each in found["DependsOn"] if each.startswith("KubernetesAddon")}
        assert {name[:-8] for name in names} == {
            "KubernetesAddonekspodidentityagent",
            "KubernetesAddonkubeproxy",
            "KubernetesAddonvpccni",
        }

    def test_has_the_tag_that_addons_ask_for_unless_you_say_otherwise(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        cluster(stack, network, plane, tags={"team": "a"})
        assert resource(stack)["Properties"]["Tags"] == [
            {"Key": "SageMaker", "Value": "true"},
            {"Key": "team", "Value": "a"},
        ]

    def test_nodes_run_a_script_that_does_nothing(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        made = cluster(stack, network, plane)
        assert group(stack)["LifeCycleConfig"]["OnCreate"] == "on_create.sh"
        assert [Path(key).name for key in made.scripts.keys] == ["on_create.sh"]

    def test_steps_run_in_the_moment_that_eks_documents(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        cluster(stack, network, plane, lifecycle=hp.LifecycleScripts.steps(hp.steps.defaults(slurm=False)))
        assert group(stack)["LifeCycleConfig"]["OnCreate"] == "start-cpu.sh"

    def test_scripts_may_differ_by_group(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        mine = hp.LifecycleScripts.existing("s3://bucket/prefix", on_create="mine.sh")
        cluster(stack, network, plane, lifecycle={"cpu": mine})
        assert group(stack)["LifeCycleConfig"] == {"SourceS3Uri": "s3://bucket/prefix", "OnCreate": "mine.sh"}

    def test_nodes_may_do_what_pods_need(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        cluster(stack, network, plane)
        found = statements(stack)
        assert found["PodIdentities"]["Resource"] == stack.resolve(plane.cluster_arn)
        assert "ec2:AssignPrivateIpAddresses" in found["PodAddresses"]["Action"]
        assert "ecr:BatchGetImage" in found["PullImages"]["Action"]

    def test_keeps_what_a_group_of_kubernetes_has(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        config = hp.KubernetesConfig(
            labels={"pool": "gpu"}, taints=(hp.Taint(key="dedicated", effect="NoSchedule", value="gpu"),)
        )
        flexible = hp.InstanceGroup.worker(
            "gpu",
            ["ml.g6.12xlarge", "ml.g5.12xlarge"],
            count=2,
            kubernetes=config,
            capacity=hp.Spot(),
            image_release_version="1.0.742",
            scheduled_update=hp.ScheduledUpdate(
                schedule="cron(0 3 ? * SUN *)",
                rolling=hp.RollingUpdate(batch=hp.BatchSize(percent=25), alarms=("jobs-failing",)),
            ),
        )
        cluster(stack, network, plane, groups=[flexible])
        found = group(stack)
        assert found["InstanceRequirements"] == {"InstanceTypes": ["ml.g6.12xlarge", "ml.g5.12xlarge"]}
        assert "InstanceType" not in found
        assert found["KubernetesConfig"] == {
            "Labels": {"pool": "gpu"},
            "Taints": [{"Key": "dedicated", "Effect": "NoSchedule", "Value": "gpu"}],
        }
        assert found["CapacityRequirements"] == {"Spot": {}}
        assert found["ImageReleaseVersion"] == "1.0.742"
        rollback = found["ScheduledUpdateConfig"]["DeploymentConfig"]["AutoRollbackConfiguration"]
        assert rollback == [{"AlarmName": "jobs-failing"}]

    def test_an_imported_control_plane_is_named_by_its_arn(self, stack: cdk.Stack, network: hp.Network) -> None:
        arn = "arn:aws:eks:us-west-2:111122223333:cluster/shared"
        cluster(stack, network, hp.EksControlPlane.from_arn(arn))
        assert resource(stack)["Properties"]["Orchestrator"] == {"Eks": {"ClusterArn": arn}}

    @pytest.mark.parametrize(
        ("place", "said"),
        [
            ("us-east-1:111122223333", "is in Region us-east-1, and the HyperPod cluster in us-west-2"),
            ("us-west-2:999922223333", "is in account 999922223333, and the HyperPod cluster in 111122223333"),
        ],
    )
    def test_an_imported_control_plane_is_of_the_same_account_and_region(
        self, stack: cdk.Stack, network: hp.Network, place: str, said: str
    ) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            cluster(stack, network, hp.EksControlPlane.from_arn(f"arn:aws:eks:{place}:cluster/shared"))

    @pytest.mark.parametrize("release", ["1", "latest", "1.0.742-x"])
    def test_a_release_that_is_none_is_refused_before_synth(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane, release: str
    ) -> None:
        odd = hp.InstanceGroup.worker("odd", "ml.m5.4xlarge", count=1, image_release_version=release)
        with pytest.raises(hp.InvalidValue, match=f"image_release_version is '{release}'; use three numbers"):
            cluster(stack, network, plane, groups=[odd])


class TestKarpenter:
    def test_has_a_role_that_adds_and_deletes_nodes(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        made = cluster(stack, network, plane, karpenter=True)
        assert made.cluster_role is not None
        found = resource(stack)["Properties"]
        assert found["AutoScaling"] == {"Mode": "Enable", "AutoScalerType": "Karpenter"}
        assert found["ClusterRole"] == stack.resolve(made.cluster_role.role_arn)
        roles = of_type(synthesized(stack), "AWS::IAM::Role").values()
        (role,) = (each for each in roles if "hyperpod.sagemaker.amazonaws.com" in str(each))
        (statement,) = role["Policies"][0]["PolicyDocument"]["Statement"]
        assert statement["Action"] == ["sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"]

    def test_may_have_a_role_of_the_users(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        mine = iam.Role.from_role_arn(stack, "Mine", "arn:aws:iam::111122223333:role/Scaler")
        cluster(stack, network, plane, karpenter=True, cluster_role=mine)
        assert resource(stack)["Properties"]["ClusterRole"] == "arn:aws:iam::111122223333:role/Scaler"

    def test_may_use_the_keys_of_volumes(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        key = "arn:aws:kms:us-west-2:111122223333:key/11111111-2222-3333-4444-555555555555"
        volumes = (hp.NodeVolume(size_gib=500, kms_key=key),)
        groups = [hp.InstanceGroup.worker("cpu", "ml.m5.xlarge", count=0, volumes=volumes)]
        cluster(stack, network, plane, karpenter=True, groups=groups)
        roles = of_type(synthesized(stack), "AWS::IAM::Role").values()
        (role,) = (each for each in roles if "hyperpod.sagemaker.amazonaws.com" in str(each))
        assert role["Policies"][0]["PolicyDocument"]["Statement"][1] == {
            "Effect": "Allow",
            "Action": ["kms:CreateGrant", "kms:DescribeKey"],
            "Resource": key,
        }

    def test_needs_recovery(self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane) -> None:
        with pytest.raises(hp.InvalidCluster, match="HP2016"):
            cluster(stack, network, plane, karpenter=True, recovery="None")


class TestTieredStorage:
    def test_is_on_with_a_share_of_the_memory(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        cluster(stack, network, plane, tiered_storage=hp.TieredStorage(memory_percent=30))
        found = resource(stack)["Properties"]["TieredStorageConfig"]
        assert found == {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 30}


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"slurm": hp.Slurm()}, "slurm of a cluster with control_plane"),
            ({"people": hp.People(users=[])}, "people of a cluster with control_plane"),
            ({"governance": hp.TaskGovernance()}, r"teams of EKS are hp\.ClusterGovernance"),
            ({"cluster_role": iam.Role}, "cluster_role"),
            ({"groups": [hp.InstanceGroup.controller("ml.m5.xlarge")]}, "HP2010"),
            (
                {
                    "groups": [
                        hp.InstanceGroup.worker(
                            "gpu",
                            "ml.p5.48xlarge",
                            count=1,
                            health_checks=["InstanceStress"],
                            kubernetes=hp.KubernetesConfig(taints=(hp.Taint(key="a", effect="NoSchedule"),)),
                        )
                    ]
                },
                "HP1207",
            ),
        ],
    )
    def test_of_what_eks_does_not_have(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane, options: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(hp.ConfigurationError, match=said):
            cluster(stack, network, plane, **options)
        assert stack.node.try_find_child("Cluster") is None

    def test_of_a_role_without_karpenter(
        self, stack: cdk.Stack, network: hp.Network, plane: hp.EksControlPlane
    ) -> None:
        mine = iam.Role.from_role_arn(stack, "Mine", "arn:aws:iam::111122223333:role/Scaler")
        with pytest.raises(hp.InvalidValue, match="no effect without karpenter=True"):
            cluster(stack, network, plane, cluster_role=mine)

    @pytest.mark.parametrize("options", [{"karpenter": True}, {"tiered_storage": hp.TieredStorage()}])
    def test_of_what_slurm_does_not_have(self, stack: cdk.Stack, network: hp.Network, options: dict[str, Any]) -> None:
        groups = [hp.InstanceGroup.controller("ml.m5.xlarge")]
        with pytest.raises(hp.InvalidValue, match="of a cluster without control_plane, which Slurm schedules"):
            cluster(stack, network, None, groups=groups, **options)
