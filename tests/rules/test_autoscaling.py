"""What is said of Karpenter and tiered storage."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.kubernetes import AutoScaling, TieredStorage
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, deployment, eks_cluster, kubernetes, of_slurm, told

ON = AutoScaling(mode="Enable")


def of(rule: str, **fields: Any) -> list[str]:
    """What a rule says of an EKS cluster that scales itself and has all that this takes."""
    return told(rule, deployment(eks_cluster(kubernetes(), **{"autoscaling": ON, "cluster_role": "arn:r", **fields})))


class TestScalingClustersHaveARole:
    def test_it_is_required(self) -> None:
        (said,) = of("HP2015", cluster_role=None)
        assert said.startswith("HP2015 AutoScaling is on, but ClusterRole is left out | give the ARN of a role that")

    @pytest.mark.parametrize("fields", [{}, {"cluster_role": UNKNOWN}])
    def test_is_silent_on_one_or_unknown(self, fields: dict[str, Any]) -> None:
        assert of("HP2015", **fields) == []


class TestScalingClustersRecover:
    def test_recovery_must_be_automatic(self) -> None:
        assert of("HP2016", recovery="None") == [
            "HP2016 AutoScaling is on, but NodeRecovery is None | use NodeRecovery: Automatic, or turn AutoScaling off"
        ]

    @pytest.mark.parametrize("recovery", ["Automatic", None, UNKNOWN])
    def test_is_silent_where_it_is_or_may_be(self, recovery: Any) -> None:
        assert of("HP2016", recovery=recovery) == []


class TestScalingClustersAreContinuous:
    def test_the_mode_has_to_be_written(self) -> None:
        assert of("HP2017", provisioning=None) == [
            "HP2017 AutoScaling is on, but NodeProvisioningMode is left out | write NodeProvisioningMode: Continuous"
        ]

    @pytest.mark.parametrize("provisioning", ["Continuous", UNKNOWN])
    def test_is_silent_where_it_is_or_may_be(self, provisioning: Any) -> None:
        assert of("HP2017", provisioning=provisioning) == []


BARE = {"cluster_role": None, "recovery": "None", "provisioning": None}


@pytest.mark.parametrize("rule", ["HP2015", "HP2016", "HP2017"])
@pytest.mark.parametrize("scaling", [None, UNKNOWN, AutoScaling(mode="Disable"), AutoScaling(mode=UNKNOWN)])
def test_nothing_is_asked_of_clusters_that_do_not_scale(rule: str, scaling: Any) -> None:
    assert of(rule, **{**BARE, "autoscaling": scaling}) == []


@pytest.mark.parametrize("rule", ["HP2015", "HP2016", "HP2017"])
def test_scaling_on_slurm_is_a_mistake_of_another_rule(rule: str) -> None:
    assert of_slurm(rule, compute(), autoscaling=ON, **BARE) == []


class TestTieredStorageHasMemory:
    def of(self, mode: Any, percent: Any) -> list[str]:
        return of("HP2018", tiered_storage=TieredStorage(mode=mode, memory_percent=percent))

    def test_the_guide_wants_twenty_percent(self) -> None:
        assert self.of("Enable", 10) == [
            (
                "HP2018 TieredStorageConfig takes 10 % of the nodes' memory | "
                "use 20 to 100, or leave InstanceMemoryAllocationPercentage out"
            )
        ]

    @pytest.mark.parametrize(
        ("mode", "percent"), [("Enable", 20), ("Enable", None), ("Enable", UNKNOWN), ("Disable", 0), (UNKNOWN, 0)]
    )
    def test_is_silent_from_there_on_and_where_it_is_off(self, mode: Any, percent: Any) -> None:
        assert self.of(mode, percent) == []
