"""What is said of the cluster's network and name."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.orchestration import ExternalDatabase
from hyperpod_constructs.model.storage import Mount
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import (
    PLACEMENT,
    compute,
    deployment,
    eks_cluster,
    kubernetes,
    slurm_cluster,
    told,
)

DATABASE = ExternalDatabase(endpoint="db.example.com", secret_arn=UNKNOWN)
LUSTRE = Mount(kind="lustre", file_system="Data")


def of(rule: str, *groups: InstanceGroup, **fields: Any) -> list[str]:
    """What a rule says of a Slurm cluster with one controller and these groups."""
    return told(rule, deployment(slurm_cluster(*groups, **fields)))


class TestEksClustersHaveANetwork:
    def test_says_what_to_add(self) -> None:
        assert told("HP2201", deployment(eks_cluster(kubernetes(), placement=None))) == [
            (
                "HP2201 VpcConfig is left out of an EKS cluster | "
                "add VpcConfig with 1 to 16 private subnets of the EKS cluster's VPC and 1 to 5 security groups"
            )
        ]

    @pytest.mark.parametrize("placement", [PLACEMENT, UNKNOWN])
    def test_is_silent_with_one(self, placement: object) -> None:
        assert told("HP2201", deployment(eks_cluster(kubernetes(), placement=placement))) == []

    def test_is_silent_on_slurm(self) -> None:
        assert of("HP2201", compute(), placement=None) == []


NETWORK = "add VpcConfig to the cluster before it is created: later it means replacement"


class TestOwnNetworksNeedThatOfTheCluster:
    def test_names_the_group(self) -> None:
        assert of("HP2202", compute(placement=PLACEMENT), placement=None) == [
            f"HP2202 group 'p5' has OverrideVpcConfig, but its cluster has no VpcConfig | {NETWORK}"
        ]

    @pytest.mark.parametrize("placement", [PLACEMENT, UNKNOWN])
    def test_is_silent_where_the_cluster_has_one(self, placement: object) -> None:
        assert of("HP2202", compute(placement=PLACEMENT), placement=placement) == []

    @pytest.mark.parametrize("placement", [None, UNKNOWN])
    def test_is_silent_where_the_group_has_none(self, placement: object) -> None:
        assert of("HP2202", compute(placement=placement), placement=None) == []


class TestMountsNeedANetwork:
    def test_names_the_kinds(self) -> None:
        mounts = (LUSTRE, Mount(kind="openzfs", file_system="Home"))
        assert of("HP2203", compute(mounts=mounts), placement=None) == [
            f"HP2203 group 'p5' mounts Lustre and OpenZFS, but its cluster has no VpcConfig | {NETWORK}"
        ]

    @pytest.mark.parametrize("placement", [PLACEMENT, UNKNOWN])
    def test_is_silent_where_the_cluster_has_one(self, placement: object) -> None:
        assert of("HP2203", compute(mounts=(LUSTRE,)), placement=placement) == []

    @pytest.mark.parametrize("mounts", [(), UNKNOWN])
    def test_is_silent_where_the_group_mounts_nothing(self, mounts: object) -> None:
        assert of("HP2203", compute(mounts=mounts), placement=None) == []


class TestClustersHaveAFixedName:
    def test_says_when_a_name_can_be_added(self) -> None:
        assert of("HP2204", name=None) == [
            (
                "HP2204 ClusterName is left out | "
                "write ClusterName on a new cluster; adding it to a running one replaces that"
            )
        ]

    @pytest.mark.parametrize("name", ["train", UNKNOWN])
    def test_is_silent_with_a_name(self, name: object) -> None:
        assert of("HP2204", name=name) == []


class TestClusterNamesAreUnique:
    PLACE: ClassVar[dict[str, Any]] = {"account": "111122223333", "region": "us-west-2"}

    def test_names_the_other_cluster(self) -> None:
        clusters = [slurm_cluster(path=path, name="train", **self.PLACE) for path in ("A/Cluster", "B/Cluster")]
        assert told("HP2205", deployment(*clusters)) == [
            (
                "HP2205 cluster 'train' has the name of A/Cluster | "
                "give each cluster of an account and Region a name of its own"
            )
        ]

    def test_is_silent_on_other_names_and_other_places(self) -> None:
        here = slurm_cluster(path="A/Cluster", name="train", **self.PLACE)
        other = slurm_cluster(path="B/Cluster", name="train-2", **self.PLACE)
        there = slurm_cluster(path="C/Cluster", name="train", account="111122223333", region="us-east-1")
        assert told("HP2205", deployment(here, other, there)) == []

    def test_is_silent_where_name_or_place_is_not_known(self) -> None:
        unknown = [slurm_cluster(path=path, name=UNKNOWN, **self.PLACE) for path in ("A/Cluster", "B/Cluster")]
        nowhere = [
            slurm_cluster(path=path, name="train", account=None, region=None) for path in ("C/Cluster", "D/Cluster")
        ]
        assert told("HP2205", deployment(*unknown, *nowhere)) == []

    def test_is_silent_on_clusters_that_conditions_may_make_exclude_each_other(self) -> None:
        either = [slurm_cluster(path=path, name="train", conditional=True, **self.PLACE) for path in ("A", "B")]
        assert told("HP2205", deployment(*either)) == []
