"""What is said of promises that something on the nodes has to keep."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import cluster, compute, controller, deployment, eks_cluster, kubernetes, told

OURS = Lifecycle(
    source_uri="s3://sagemaker-x/train", on_init_complete="start-controller.sh", steps=("people", "spares")
)
OTHERS = Lifecycle(source_uri="s3://sagemaker-x/train", on_create="on_create.sh")


class TestSparesAreHeld:
    def of(self, lifecycle: Any, spares: int = 2) -> list[str]:
        groups = (controller(lifecycle=lifecycle), compute(spares=spares))
        return told("HP5030", deployment(cluster(groups=groups)))

    @pytest.mark.parametrize(
        "lifecycle",
        [None, Lifecycle(source_uri="s3://sagemaker-x/train", on_init_complete="start.sh", steps=("people",))],
    )
    def test_names_groups_whose_spares_jobs_would_take(self, lifecycle: Any) -> None:
        (found,) = self.of(lifecycle)
        assert found.startswith(
            "HP5030 group 'p5' has 2 spares that no step holds away from jobs | add hp.steps.Spares()"
        )

    def test_one_spare_is_one(self) -> None:
        (found,) = self.of(None, spares=1)
        assert "has 1 spare that no step" in found

    @pytest.mark.parametrize("lifecycle", [OURS, OTHERS, UNKNOWN])
    def test_is_silent_where_a_step_holds_them_or_scripts_may(self, lifecycle: Any) -> None:
        assert self.of(lifecycle) == []

    def test_is_silent_without_spares(self) -> None:
        assert self.of(None, spares=0) == []

    def test_is_silent_on_eks_where_quotas_hold_them(self) -> None:
        assert told("HP5030", deployment(eks_cluster(kubernetes(spares=2)))) == []

    def test_is_silent_where_no_controller_is_known(self) -> None:
        assert told("HP5030", deployment(cluster(groups=(compute(spares=2),)))) == []


class TestSparesAreOfTheTypeOfTheirPartition:
    def of(self, **other: Any) -> list[str]:
        cpu = compute(**{"name": "cpu", "instance_type": "ml.c5.xlarge", "spares": 0, **other})
        return told("HP5031", deployment(cluster(groups=(controller(), compute(spares=2), cpu))))

    def test_names_groups_that_share_a_partition(self) -> None:
        (found,) = self.of()
        assert found.startswith(
            "HP5031 groups 'p5' and 'cpu' share partition 'train' and its spares, and are of different"
        )

    @pytest.mark.parametrize(
        "other", [{"partitions": ("cpu",)}, {"instance_type": "ml.p5.48xlarge"}, {"instance_type": UNKNOWN}]
    )
    def test_is_silent_where_they_do_not_or_are_of_one_type(self, other: Any) -> None:
        assert self.of(**other) == []

    def test_is_silent_without_spares(self) -> None:
        groups = (controller(), compute(), compute(name="cpu", instance_type="ml.c5.xlarge"))
        assert told("HP5031", deployment(cluster(groups=groups))) == []
