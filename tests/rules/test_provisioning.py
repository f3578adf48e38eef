"""What is said of provisioning and Slurm's options."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.kubernetes import AutoScaling
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.model.storage import Mount
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import (
    cluster,
    compute,
    controller,
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


def legacy() -> tuple[InstanceGroup, ...]:
    """Groups of a cluster on provisioning_parameters.json, which have no role in the template."""
    return controller(node_type=None), compute(node_type=None, partitions=())


class TestContinuousClustersHaveNoStrategy:
    def test_names_the_strategy(self) -> None:
        assert of("HP2101", orchestrator=Slurm(strategy="Merge")) == [
            (
                "HP2101 SlurmConfigStrategy is Merge with NodeProvisioningMode: Continuous | "
                "leave SlurmConfigStrategy out: Orchestrator: {Slurm: {}}"
            )
        ]

    @pytest.mark.parametrize("provisioning", [None, UNKNOWN])
    def test_is_silent_without_continuous(self, provisioning: object) -> None:
        assert of("HP2101", orchestrator=Slurm(strategy="Merge"), provisioning=provisioning) == []

    @pytest.mark.parametrize("strategy", [None, UNKNOWN])
    def test_is_silent_without_a_strategy(self, strategy: object) -> None:
        assert of("HP2101", orchestrator=Slurm(strategy=strategy)) == []  # type: ignore[arg-type]  # test data


class TestClustersWriteTheirProvisioning:
    slurm = (
        "write NodeProvisioningMode: Continuous without SlurmConfigStrategy; for a cluster that already runs without "
        "it write SlurmConfigStrategy: Merge instead"
    )

    def test_on_slurm_the_strategy_is_the_other_choice(self) -> None:
        assert of("HP2102", provisioning=None) == [
            f"HP2102 NodeProvisioningMode and SlurmConfigStrategy are left out | {self.slurm}"
        ]

    def test_a_strategy_does_not_settle_it(self) -> None:
        assert of("HP2102", provisioning=None, orchestrator=Slurm(strategy="Merge")) == [
            f"HP2102 NodeProvisioningMode is left out | {self.slurm}"
        ]

    def test_the_old_form_needs_roles_first(self) -> None:
        old = cluster(groups=legacy(), orchestrator=None, provisioning=None)
        assert told("HP2102", deployment(old)) == [
            (
                "HP2102 NodeProvisioningMode is left out | for a new cluster give every group a node type "
                "(SlurmConfig) "
                "and write NodeProvisioningMode: Continuous; leave a running one on provisioning_parameters.json as "
                "it is"
            )
        ]

    def test_eks_has_no_strategy(self) -> None:
        assert told("HP2102", deployment(eks_cluster(kubernetes(), provisioning=None))) == [
            (
                "HP2102 NodeProvisioningMode is left out | "
                "write NodeProvisioningMode: Continuous, unless the cluster already runs without it"
            )
        ]

    @pytest.mark.parametrize("fields", [{"provisioning": UNKNOWN}, {"provisioning": None, "orchestrator": UNKNOWN}])
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of("HP2102", **fields) == []

    def test_is_silent_on_continuous(self) -> None:
        assert of("HP2102") == []


class TestAccountingDatabasesHaveContinuousProvisioning:
    def test_names_the_database(self) -> None:
        assert of("HP2103", orchestrator=Slurm(accounting=DATABASE), provisioning=None) == [
            (
                "HP2103 accounting database 'db.example.com', but NodeProvisioningMode is left out | "
                "write NodeProvisioningMode: Continuous, or leave AccountingDatabase out to keep accounting on the "
                "controller"
            )
        ]

    @pytest.mark.parametrize("provisioning", ["Continuous", UNKNOWN])
    def test_is_silent_where_the_mode_is_given(self, provisioning: object) -> None:
        assert of("HP2103", orchestrator=Slurm(accounting=DATABASE), provisioning=provisioning) == []

    @pytest.mark.parametrize("accounting", [None, UNKNOWN])
    def test_is_silent_without_a_database(self, accounting: object) -> None:
        orchestrator = Slurm(accounting=accounting)  # type: ignore[arg-type]  # test data
        assert of("HP2103", orchestrator=orchestrator, provisioning=None) == []


class TestWhatOtherRulesSay:
    def test_scaling_clusters_have_a_rule_of_their_own(self) -> None:
        scaling = eks_cluster(kubernetes(), provisioning=None, autoscaling=AutoScaling(mode="Enable"))
        assert told("HP2102", deployment(scaling)) == []

    def test_restricted_groups_alone_have_no_mode(self) -> None:
        groups = (RestrictedGroup(group=kubernetes()),)
        assert told("HP2102", deployment(eks_cluster(provisioning=None, restricted_groups=groups))) == []


class TestTeamsOutliveTheController:
    def test_says_what_dies_with_the_controller(self) -> None:
        (found,) = of("HP2104", has_teams=True)
        assert found.startswith("HP2104 teams share the cluster, whose accounting database is on the controller | ")

    @pytest.mark.parametrize("accounting", [DATABASE, UNKNOWN])
    def test_is_silent_with_a_database_outside(self, accounting: Any) -> None:
        assert of("HP2104", has_teams=True, orchestrator=Slurm(accounting=accounting)) == []

    def test_is_silent_without_teams(self) -> None:
        assert of("HP2104") == []

    def test_is_silent_on_eks(self) -> None:
        assert told("HP2104", deployment(eks_cluster(kubernetes(), has_teams=True))) == []
