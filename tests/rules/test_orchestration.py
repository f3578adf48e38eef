"""What is said of roles, partitions, provisioning, and of the network and name of a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.kubernetes import AutoScaling, KubernetesConfig, TieredStorage
from hyperpod_constructs.model.orchestration import ExternalDatabase
from hyperpod_constructs.model.storage import Mount
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import (
    PLACEMENT,
    cluster,
    compute,
    controller,
    deployment,
    eks_cluster,
    kubernetes,
    login,
    slurm_cluster,
    told,
)

DATABASE = ExternalDatabase(endpoint="db.example.com", secret_arn=UNKNOWN)
LUSTRE = Mount(kind="lustre", file_system="Data")


def of(rule: str, *groups: InstanceGroup, **fields: Any) -> list[str]:
    """What a rule says of a Slurm cluster with one controller and these groups."""
    return told(rule, deployment(slurm_cluster(*groups, **fields)))


def legacy() -> tuple[InstanceGroup, ...]:
    """Groups of a cluster on provisioning_parameters.json, which have no role in the template."""
    return controller(node_type=None), compute(node_type=None, partitions=())


def test_sound_clusters_have_no_finding_about_orchestration() -> None:
    slurm = slurm_cluster(login(), compute(), compute(name="b", mounts=(LUSTRE,), placement=PLACEMENT))
    sound = deployment(slurm, eks_cluster(kubernetes(), path="Research", name="research"))
    assert [line for rule in RULES if rule.startswith("HP2") for line in told(rule, sound)] == []


def test_is_silent_where_nothing_is_known() -> None:
    group = compute(node_type=UNKNOWN, partitions=UNKNOWN, count=UNKNOWN, placement=UNKNOWN, mounts=UNKNOWN)
    dark = cluster(groups=(group,), name=UNKNOWN, orchestrator=UNKNOWN, provisioning=UNKNOWN, placement=UNKNOWN)
    assert [line for rule in RULES if rule.startswith("HP2") for line in told(rule, deployment(dark))] == []


class TestClustersHaveOneControllerGroup:
    def test_names_the_groups_when_there_is_none(self) -> None:
        assert told("HP2001", deployment(cluster(groups=(login(), compute())))) == [
            (
                "HP2001 no controller group among group 'login', group 'p5' | "
                "add one group of one CPU instance with SlurmConfig: {NodeType: Controller} "
                "(InstanceGroup.controller('ml.m5.4xlarge'))"
            )
        ]

    def test_names_the_controllers_when_there_are_two(self) -> None:
        assert of("HP2001", controller(name="backup"), compute()) == [
            (
                "HP2001 2 controller groups: group 'controller', group 'backup' | "
                "keep one; several controllers are possible with provisioning_parameters.json only"
            )
        ]

    def test_is_silent_on_one(self) -> None:
        assert of("HP2001", compute()) == []

    def test_is_silent_on_groups_without_roles(self) -> None:
        assert told("HP2001", deployment(cluster(groups=legacy(), orchestrator=None, provisioning=None))) == []

    def test_is_silent_where_a_role_is_not_known(self) -> None:
        assert told("HP2001", deployment(cluster(groups=(compute(), compute(name="b", node_type=UNKNOWN))))) == []

    def test_is_silent_where_the_orchestrator_is_not_known(self) -> None:
        assert told("HP2001", deployment(cluster(groups=(compute(),), orchestrator=UNKNOWN))) == []


class TestControllerGroupsHaveOneInstance:
    @pytest.mark.parametrize(("fields", "number"), [({"count": 2}, 2), ({"count": 0}, 0), ({"spares": 1}, 2)])
    def test_counts_spares(self, fields: dict[str, object], number: int) -> None:
        assert told("HP2002", deployment(cluster(groups=(controller(**fields), compute())))) == [
            f"HP2002 group 'controller' has {number} controllers | use InstanceCount 1 (count=1, spares=0)"
        ]

    @pytest.mark.parametrize("count", [1, UNKNOWN])
    def test_is_silent_on_one_and_on_what_is_not_known(self, count: object) -> None:
        assert told("HP2002", deployment(cluster(groups=(controller(count=count), compute())))) == []


class TestClustersHaveOneLoginGroupAtMost:
    def test_names_them(self) -> None:
        assert of("HP2003", login(), login(name="login-2")) == [
            ("HP2003 2 login groups: group 'login', group 'login-2' | keep one and raise its InstanceCount (count=)")
        ]

    @pytest.mark.parametrize("count", [1, 3])
    def test_is_silent_on_one_group_of_any_size(self, count: int) -> None:
        assert of("HP2003", login(count=count)) == []

    def test_is_silent_where_a_role_is_not_known(self) -> None:
        assert of("HP2003", login(), login(name="login-2", node_type=UNKNOWN)) == []


class TestContinuousGroupsHaveRoles:
    fix = (
        "give each group SlurmConfig: {NodeType: Controller}, Login or Compute; an old cluster on "
        "provisioning_parameters.json must leave NodeProvisioningMode out"
    )

    def test_slurm_in_its_old_form_is_refused(self) -> None:
        assert told("HP2004", deployment(cluster(groups=legacy(), orchestrator=None))) == [
            f"HP2004 Continuous provisioning, but no SlurmConfig for group 'controller', group 'p5' | {self.fix}"
        ]

    def test_one_group_without_a_role_is_refused(self) -> None:
        assert of("HP2004", compute(node_type=None, partitions=())) == [
            f"HP2004 Continuous provisioning, but no SlurmConfig for group 'p5' | {self.fix}"
        ]

    def test_is_silent_on_the_old_form_without_continuous(self) -> None:
        old = cluster(groups=legacy(), orchestrator=None, provisioning=None)
        assert told("HP2004", deployment(old)) == []

    def test_is_silent_on_eks(self) -> None:
        assert told("HP2004", deployment(eks_cluster(kubernetes()))) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of("HP2004", compute(node_type=UNKNOWN)) == []
        assert of("HP2004", compute(node_type=None), provisioning=UNKNOWN) == []
        assert of("HP2004", compute(node_type=None), orchestrator=UNKNOWN) == []


class TestAllGroupsHaveRolesOrNone:
    def test_names_those_without(self) -> None:
        assert of("HP2005", compute(node_type=None), provisioning=None) == [
            (
                "HP2005 no SlurmConfig for group 'p5', unlike the other groups | give every group SlurmConfig: "
                "{NodeType: Controller}, Login or Compute, or give it to none"
            )
        ]

    def test_is_silent_on_none_and_on_all(self) -> None:
        assert told("HP2005", deployment(cluster(groups=legacy(), provisioning=None))) == []
        assert of("HP2005", compute(), provisioning=None) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of("HP2005", compute(node_type=UNKNOWN), provisioning=None) == []
        assert of("HP2005", compute(node_type=None), provisioning=UNKNOWN) == []


class TestComputeGroupsHaveOnePartition:
    @pytest.mark.parametrize(
        ("partitions", "got"), [((), "no partition"), (("train", "debug"), "2 partitions: train, debug")]
    )
    def test_says_what_it_got(self, partitions: tuple[str, ...], got: str) -> None:
        assert of("HP2006", compute(partitions=partitions)) == [
            (
                f"HP2006 group 'p5' has {got} | write PartitionNames with exactly one name (partition=); several "
                "groups may share it"
            )
        ]

    def test_groups_may_share_a_partition(self) -> None:
        assert of("HP2006", compute(), compute(name="b")) == []

    @pytest.mark.parametrize("partitions", [UNKNOWN, (UNKNOWN,), ("train", UNKNOWN)])
    def test_is_silent_on_what_is_not_known(self, partitions: object) -> None:
        assert of("HP2006", compute(partitions=partitions)) == []


class TestPartitionsAreForComputeGroups:
    def test_names_role_and_partition(self) -> None:
        assert of("HP2007", login(partitions=("train",))) == [
            (
                "HP2007 group 'login' is a Login group with partition 'train' | leave PartitionNames out: it is "
                "for Compute groups"
            )
        ]

    def test_is_silent_without_one(self) -> None:
        assert of("HP2007", login(), compute()) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of("HP2007", login(partitions=UNKNOWN), compute(node_type=UNKNOWN)) == []
        assert of("HP2007", login(partitions=(UNKNOWN,))) == []


class TestPartitionNamesFitThePattern:
    @pytest.mark.parametrize("name", ["gpu_long", "train-", ""])
    def test_says_what_is_allowed(self, name: str) -> None:
        assert of("HP2008", compute(partitions=(name,))) == [
            (
                f"HP2008 group 'p5' has partition {name!r} | "
                "use letters, digits and hyphens, beginning and ending with a letter or digit"
            )
        ]

    @pytest.mark.parametrize("name", ["gpu-long", "p5", UNKNOWN])
    def test_is_silent_on_what_fits_and_on_what_is_not_known(self, name: object) -> None:
        assert of("HP2008", compute(partitions=(name,))) == []


class TestPartitionsLeaveTheAutomaticName:
    def test_names_it(self) -> None:
        assert of("HP2009", compute(partitions=("dev",))) == [
            (
                "HP2009 group 'p5' has partition 'dev', which HyperPod makes by itself | use another name in "
                "PartitionNames (partition=), such as train"
            )
        ]

    @pytest.mark.parametrize("name", ["develop", UNKNOWN])
    def test_is_silent_on_other_and_unknown_names(self, name: object) -> None:
        assert of("HP2009", compute(partitions=(name,))) == []


class TestEksGroupsHaveNoSlurmFields:
    def test_names_each_field(self) -> None:
        assert told("HP2010", deployment(eks_cluster(compute()))) == [
            (
                "HP2010 group 'p5' of an EKS cluster has node type Compute and partition 'train' | leave "
                "SlurmConfig out, or use Orchestrator: {Slurm: {}}"
            )
        ]

    def test_is_silent_without_them(self) -> None:
        assert told("HP2010", deployment(eks_cluster(kubernetes()))) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert told("HP2010", deployment(eks_cluster(compute(node_type=UNKNOWN, partitions=UNKNOWN)))) == []
        assert of("HP2010", compute(), orchestrator=UNKNOWN) == []


class TestSlurmRolesHaveASlurmOrchestrator:
    def test_names_the_groups(self) -> None:
        assert of("HP2011", compute(), orchestrator=None) == [
            (
                "HP2011 no Orchestrator, but SlurmConfig for group 'controller', group 'p5' | add Orchestrator: "
                "{Slurm: {}}"
            )
        ]

    def test_is_silent_on_the_old_form(self) -> None:
        assert told("HP2011", deployment(cluster(groups=legacy(), orchestrator=None))) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of("HP2011", compute(), orchestrator=UNKNOWN) == []


class TestSlurmClustersHaveNoEksFields:
    def test_names_those_of_cluster_and_groups(self) -> None:
        group = compute(image_release_version="1.0.742", kubernetes=KubernetesConfig(labels={"team": "a"}))
        scaled = slurm_cluster(group, autoscaling=AutoScaling(mode="Enable"))
        assert told("HP2012", deployment(scaled)) == [
            "HP2012 the cluster has AutoScaling in a Slurm cluster | leave AutoScaling out, or use EKS as orchestrator",
            (
                "HP2012 group 'p5' has ImageReleaseVersion and KubernetesConfig in a Slurm cluster | "
                "leave ImageReleaseVersion and KubernetesConfig out, or use EKS as orchestrator"
            ),
        ]

    def test_is_silent_on_eks_and_where_the_orchestrator_is_not_known(self) -> None:
        fields = {"tiered_storage": TieredStorage(mode="Enable", memory_percent=20)}
        assert told("HP2012", deployment(eks_cluster(kubernetes(), **fields))) == []
        assert told("HP2012", deployment(slurm_cluster(compute(), orchestrator=UNKNOWN, **fields))) == []


class TestLoginGroupsHaveAnInstance:
    def test_a_group_without_any_may_never_come_into_service(self) -> None:
        assert of("HP2013", login(count=0)) == [
            "HP2013 group 'login' has 0 login nodes | use InstanceCount 1 or more, or leave the group out"
        ]

    @pytest.mark.parametrize("count", [1, UNKNOWN])
    def test_is_silent_on_one_or_unknown(self, count: Any) -> None:
        assert of("HP2013", login(count=count)) == []
