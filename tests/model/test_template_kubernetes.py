"""What only EKS clusters have, as templates write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.kubernetes import AutoScaling, KubernetesConfig, Taint, TieredStorage
from hyperpod_constructs.model.restricted import RestrictedStorage, SharedRestrictedStorage
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

PARAMETERS = {"Given": {"Type": "String"}}
GIVEN = {"Ref": "Given"}


@pytest.fixture
def read(deployment_of: Callable[..., Deployment]) -> Callable[[dict[str, Any]], tuple[Cluster, list[str]]]:
    """Decodes a cluster with these properties: the cluster, and what was invalid."""

    def decode(properties: dict[str, Any]) -> tuple[Cluster, list[str]]:
        deployment = deployment_of(
            {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}, Parameters=PARAMETERS
        )
        return deployment.clusters[0], refused(deployment)

    return decode


def group(**properties: Any) -> dict[str, Any]:
    """A cluster of one group with these properties."""
    needed = {
        "InstanceGroupName": "g",
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "ExecutionRole": "arn:aws:iam::111122223333:role/node",
    }
    return {"InstanceGroups": [{**needed, **properties}]}


class TestLabelsAndTaints:
    def test_are_read_whole(self, read: Any) -> None:
        taint = {"Key": "gpu", "Value": "yes", "Effect": "NoSchedule"}
        cluster, wrong = read(group(KubernetesConfig={"Labels": {"team": "a", "n": 1}, "Taints": [taint]}))
        assert cluster.groups[0].kubernetes == KubernetesConfig(
            labels={"team": "a", "n": "1"}, taints=(Taint(key="gpu", value="yes", effect="NoSchedule"),)
        )
        assert wrong == []

    def test_that_are_known_only_at_deploy_are_not_known(self, read: Any) -> None:
        cluster, wrong = read(
            group(KubernetesConfig={"Labels": {"team": GIVEN}, "Taints": {"Fn::ImportValue": "taints"}})
        )
        assert cluster.groups[0].kubernetes == KubernetesConfig(labels={"team": UNKNOWN}, taints=UNKNOWN)
        assert wrong == []

    def test_of_an_effect_that_does_not_exist_are_refused(self, read: Any) -> None:
        _, wrong = read(group(KubernetesConfig={"Taints": [{"Key": "gpu", "Effect": "Never"}]}))
        assert [line for line in wrong if "NoSchedule" in line]

    def test_count_as_fields_of_eks_only_where_they_certainly_stand(self, read: Any) -> None:
        fields = {"KubernetesConfig": {"Labels": {}}, "ImageReleaseVersion": "1.0.742"}
        assert read(group(**fields))[0].groups[0].eks_fields == ("ImageReleaseVersion", "KubernetesConfig")
        assert read(group(KubernetesConfig=GIVEN))[0].groups[0].eks_fields == ()


class TestFeaturesOfTheCluster:
    def test_are_read_whole(self, read: Any) -> None:
        cluster, wrong = read(
            {
                "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
                "TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": "20"},
                "ClusterRole": "arn:aws:iam::111122223333:role/scaler",
            }
        )
        assert cluster.autoscaling == AutoScaling(mode="Enable", scaler="Karpenter")
        assert cluster.tiered_storage == TieredStorage(mode="Enable", memory_percent=20)
        assert cluster.cluster_role == "arn:aws:iam::111122223333:role/scaler"
        assert cluster.eks_fields == ("AutoScaling", "TieredStorageConfig")
        assert wrong == []

    @pytest.mark.parametrize("mode", ["Disable", GIVEN])
    def test_that_are_off_or_not_known_do_not_count(self, read: Any, mode: Any) -> None:
        cluster, _ = read({"AutoScaling": {"Mode": mode}, "TieredStorageConfig": {"Mode": mode}})
        assert cluster.eks_fields == ()

    def test_more_memory_than_there_is_is_refused(self, read: Any) -> None:
        _, wrong = read({"TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 101}})
        assert [line for line in wrong if "101" in line and "0 to 100" in line]


class TestRestrictedGroups:
    NOVA: ClassVar[dict[str, Any]] = {
        **group()["InstanceGroups"][0],
        "EnvironmentConfig": {"FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}},
    }

    def test_are_read_with_their_file_system(self, read: Any) -> None:
        cluster, wrong = read({"RestrictedInstanceGroups": [self.NOVA]})
        (restricted,) = cluster.restricted_groups
        assert (restricted.group.name, restricted.group.instance_type, restricted.group.count) == (
            "g",
            "ml.p5.48xlarge",
            2,
        )
        assert restricted.storage == RestrictedStorage(size_gib=1200, throughput_mbps_per_tib=125)
        assert wrong == []

    @pytest.mark.parametrize(("size", "throughput"), [(1199, 125), (100_801, 125), (1200, 124), (1200, 1001)])
    def test_with_a_file_system_that_cannot_be_bought_are_refused(self, read: Any, size: int, throughput: int) -> None:
        storage = {"FSxLustreConfig": {"SizeInGiB": size, "PerUnitStorageThroughput": throughput}}
        assert read({"RestrictedInstanceGroups": [{**self.NOVA, "EnvironmentConfig": storage}]})[1]

    def test_may_share_a_file_system(self, read: Any) -> None:
        shared = {"FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}}
        cluster, wrong = read(
            {
                "RestrictedInstanceGroupsConfig": {
                    "SharedEnvironmentConfig": {**shared, "FSxLustreDeletionPolicy": "Keep"}
                }
            }
        )
        assert cluster.restricted_storage == SharedRestrictedStorage(
            storage=RestrictedStorage(size_gib=1200, throughput_mbps_per_tib=125), when_unused="Keep"
        )
        assert wrong == []

    def test_that_are_known_only_at_deploy_may_be_any(self, read: Any) -> None:
        assert read({"RestrictedInstanceGroups": GIVEN})[0].restricted_groups is UNKNOWN
        assert read({"RestrictedInstanceGroups": [GIVEN]})[0].restricted_groups == (UNKNOWN,)
