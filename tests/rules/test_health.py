"""What is said of deep health checks and of spot capacity."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import (
    Spot,
)
from hyperpod_constructs.model.kubernetes import KubernetesConfig, Taint
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import (
    cluster,
    compute,
    controller,
    deployment,
    eks_cluster,
    kubernetes,
    of_slurm,
    told,
)


class TestHealthChecksExist:
    @pytest.mark.parametrize("check", ["MultiNodeTrainingValidation", "instancestress"])
    def test_lists_the_two_that_do(self, check: str) -> None:
        assert of_slurm("HP1201", compute(health_checks=(check,))) == [
            (
                f"HP1201 group 'p5' asks for the deep health check {check!r}, which is not documented | "
                "use InstanceStress and InstanceConnectivity"
            )
        ]

    @pytest.mark.parametrize("checks", [("InstanceStress", "InstanceConnectivity"), (), None, UNKNOWN, (UNKNOWN,)])
    def test_is_silent_on_both_and_on_what_is_not_known(self, checks: object) -> None:
        assert of_slurm("HP1201", compute(health_checks=checks)) == []


class TestHealthChecksFitTheType:
    def test_cpu_types_have_none(self) -> None:
        assert of_slurm("HP1202", compute(instance_type="ml.m5.4xlarge", health_checks=("InstanceStress",))) == [
            (
                "HP1202 group 'p5' asks for deep health checks of ml.m5.4xlarge | leave OnStartDeepHealthChecks "
                "(health_checks=()) out of this group: on Slurm they are for GPU types"
            )
        ]

    def test_trainium_has_them_on_eks_only(self) -> None:
        fields = {"instance_type": "ml.trn2.48xlarge", "health_checks": ("InstanceStress",)}
        assert len(of_slurm("HP1202", compute(**fields))) == 1
        assert told("HP1202", deployment(eks_cluster(kubernetes(**fields)))) == []

    def test_says_what_eks_has(self) -> None:
        group = kubernetes(instance_type="ml.m5.4xlarge", health_checks=("InstanceStress",))
        assert told("HP1202", deployment(eks_cluster(group))) == [
            (
                "HP1202 group 'p5' asks for deep health checks of ml.m5.4xlarge | leave OnStartDeepHealthChecks "
                "(health_checks=()) out of this group: on EKS they are for GPU and Trainium types"
            )
        ]

    def test_a_controller_is_the_other_rules(self) -> None:
        assert told("HP1202", deployment(cluster(groups=(controller(health_checks=("InstanceStress",)),)))) == []

    @pytest.mark.parametrize("name", ["ml.p5.48xlarge", "ml.p7.48xlarge", UNKNOWN])
    def test_is_silent_on_gpu_types_and_on_what_is_not_known(self, name: object) -> None:
        assert of_slurm("HP1202", compute(instance_type=name, health_checks=("InstanceStress",))) == []

    def test_is_silent_where_the_orchestrator_is_not_known(self) -> None:
        group = compute(instance_type="ml.m5.4xlarge", health_checks=("InstanceStress",))
        assert of_slurm("HP1202", group, orchestrator=UNKNOWN) == []


class TestHealthChecksAreForComputeNodes:
    def test_names_the_role(self) -> None:
        assert told("HP1203", deployment(cluster(groups=(controller(health_checks=("InstanceStress",)),)))) == [
            (
                "HP1203 group 'controller' asks for deep health checks of Controller nodes | leave "
                "OnStartDeepHealthChecks (health_checks=()) out of this group: they are for Compute nodes"
            )
        ]

    @pytest.mark.parametrize("role", ["Compute", None, UNKNOWN])
    def test_is_silent_on_other_roles(self, role: object) -> None:
        assert of_slurm("HP1203", compute(node_type=role, health_checks=("InstanceStress",))) == []


class TestCheckedGroupsHaveSpares:
    def test_says_how_to_have_both(self) -> None:
        assert of_slurm("HP1204", compute(health_checks=("InstanceStress",))) == [
            (
                "HP1204 group 'p5' has deep health checks and 0 spares: jobs wait while a new node is checked | "
                "leave OnStartDeepHealthChecks out once the cluster is up (health_checks=()), "
                "or give the group a spare"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [{"spares": 1}, {"count": 0}, {"count": UNKNOWN}, {"instance_type": UNKNOWN}, {"health_checks": UNKNOWN}],
    )
    def test_is_silent_with_a_spare_without_nodes_and_on_what_is_not_known(self, fields: dict[str, object]) -> None:
        assert of_slurm("HP1204", compute(**{"health_checks": ("InstanceStress",), **fields})) == []


class TestSpotIsForEks:
    said = (
        "HP1205 group 'p5' is on spot capacity in a Slurm cluster | leave CapacityRequirements out "
        "(capacity=hp.OnDemand()), use TrainingPlanArn (capacity=hp.TrainingPlan(...)), or make an EKS cluster"
    )

    def test_is_a_warning_because_no_page_settles_it(self) -> None:
        assert RULES["HP1205"].severity is Severity.WARNING

    def test_slurm_is_named(self) -> None:
        assert of_slurm("HP1205", compute(capacity=Spot())) == [self.said]

    def test_slurm_in_its_old_form_is_named(self) -> None:
        old = compute(capacity=Spot(), node_type=None, partitions=())
        assert told("HP1205", deployment(cluster(groups=(old,), orchestrator=None))) == [self.said]

    def test_is_silent_on_eks(self) -> None:
        assert told("HP1205", deployment(eks_cluster(kubernetes(capacity=Spot())))) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of_slurm("HP1205", compute(capacity=Spot()), orchestrator=UNKNOWN) == []
        assert of_slurm("HP1205", compute(capacity=UNKNOWN)) == []


class TestGroupsAskForOneKindOfCapacity:
    def test_names_all_of_them(self) -> None:
        assert of_slurm("HP1206", compute(asked=("Spot", "TrainingPlanArn"))) == [
            "HP1206 group 'p5' asks for Spot and TrainingPlanArn | keep one of Spot, TrainingPlanArn"
        ]
        assert len(of_slurm("HP1206", compute(asked=("OnDemand", "Spot")))) == 1

    @pytest.mark.parametrize("asked", [(), ("OnDemand", "TrainingPlanArn")])
    def test_is_silent_on_one_and_on_a_plan_beside_the_default(self, asked: tuple[str, ...]) -> None:
        assert of_slurm("HP1206", compute(asked=asked)) == []


TAINTED = KubernetesConfig(taints=(Taint(key="a", effect="NoSchedule"), Taint(key="b", effect="NoExecute")))


class TestCheckedGroupsHaveNoTaints:
    def of(self, config: Any, checks: Any = ("InstanceStress",)) -> list[str]:
        return told("HP1207", deployment(eks_cluster(kubernetes(health_checks=checks, kubernetes=config))))

    def test_checks_exclude_taints(self) -> None:
        assert self.of(TAINTED) == [
            (
                "HP1207 group 'p5' has deep health checks and the taints a and b | leave OnStartDeepHealthChecks out "
                "(health_checks=()), or the taints: keep pods away by labels"
            )
        ]

    def test_a_key_decided_at_deploy_is_a_taint_too(self) -> None:
        (said,) = self.of(KubernetesConfig(taints=(Taint(key=UNKNOWN, effect="NoSchedule"),)))
        assert "the taint of a key decided at deploy" in said

    @pytest.mark.parametrize("config", [None, UNKNOWN, KubernetesConfig(labels={"a": "b"})])
    def test_is_silent_without_taints(self, config: Any) -> None:
        assert self.of(config) == []

    def test_is_silent_without_checks(self) -> None:
        assert self.of(TAINTED, ()) == self.of(TAINTED, UNKNOWN) == []


class TestHealthChecksFitAFlexibleType:
    def of(self, *types: Any) -> list[str]:
        group = kubernetes(instance_type=None, flexible_types=types, health_checks=("InstanceStress",))
        return told("HP1208", deployment(eks_cluster(group)))

    def test_one_type_at_least_must_have_them(self) -> None:
        assert self.of("ml.m5.4xlarge", "ml.c5.4xlarge") == [
            (
                "HP1208 group 'p5' asks for deep health checks of ml.m5.4xlarge and ml.c5.4xlarge | leave "
                "OnStartDeepHealthChecks (health_checks=()) out of this group: on EKS they are for GPU and "
                "Trainium types"
            )
        ]

    @pytest.mark.parametrize("types", [("ml.m5.4xlarge", "ml.g5.8xlarge"), ("ml.m5.4xlarge", UNKNOWN), ()])
    def test_is_silent_where_one_has_them_or_may(self, types: Any) -> None:
        assert self.of(*types) == []


class TestClustersRecover:
    def test_somebody_has_to_watch_the_nodes(self) -> None:
        assert of_slurm("HP1209", compute(), recovery="None") == [
            (
                "HP1209 NodeRecovery is None: somebody has to replace faulty nodes of group 'p5' | "
                "nothing, if somebody watches the nodes; else use Automatic"
            )
        ]

    @pytest.mark.parametrize("recovery", ["Automatic", None, UNKNOWN])
    def test_is_silent_where_hyperpod_does(self, recovery: Any) -> None:
        assert of_slurm("HP1209", compute(), recovery=recovery) == []

    def test_is_silent_on_cpu_nodes_which_it_never_replaces(self) -> None:
        assert of_slurm("HP1209", compute(instance_type="ml.m5.4xlarge"), recovery="None") == []
