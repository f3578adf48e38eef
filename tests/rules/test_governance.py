"""What is said of task governance as a whole: which clusters have it, and in which order it comes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.model.control_plane import Kubernetes
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import eks_cluster, kubernetes, slurm_cluster
from tests.rules.governing import ADDON, PLANE, addon, made, of, policy, quota


class TestGovernanceIsOfEks:
    FIX = (
        "take it out: on Slurm hp.TaskGovernance makes accounts and qualities of service, or use Orchestrator: {Eks: "
        "{ClusterArn: ...}}"
    )

    def test_not_of_slurm(self) -> None:
        assert of("HP6040", quota("vision"), clusters=(slurm_cluster(),)) == [
            f"HP6040 the scheduler policy is of Train, which is a cluster of Slurm | {self.FIX}",
            f"HP6040 the quota of team 'vision' is of Train, which is a cluster of Slurm | {self.FIX}",
        ]

    @pytest.mark.parametrize("orchestrator", [UNKNOWN, eks_cluster(kubernetes()).orchestrator])
    def test_is_silent_on_eks_and_unknown_ones(self, orchestrator: Any) -> None:
        clusters = (eks_cluster(kubernetes(), orchestrator=orchestrator),)
        assert of("HP6040", quota("vision"), clusters=clusters) == []

    def test_is_silent_on_clusters_elsewhere(self) -> None:
        policies = (policy(cluster="arn:aws:sagemaker:us-west-2:111122223333:cluster/a"), policy(cluster=UNKNOWN))
        assert of("HP6040", clusters=(slurm_cluster(),), scheduler_policies=policies) == []


class TestClustersHaveOnePolicy:
    def test_two_of_one_cluster(self) -> None:
        assert of("HP6041", scheduler_policies=(policy(), policy(path="Second", name="second"))) == [
            (
                "HP6041 Policy and Second are scheduler policies of one cluster | make one "
                "AWS::SageMaker::ClusterSchedulerConfig of them, with all of their PriorityClasses"
            )
        ]

    @pytest.mark.parametrize("fields", [{"cluster": "Other"}, {"cluster": UNKNOWN}, {"certain": False}])
    def test_is_silent_on_others(self, fields: dict[str, Any]) -> None:
        second = policy(**{"path": "Second", "name": "second", **fields})
        assert of("HP6041", scheduler_policies=(policy(), second)) == []

    def test_two_of_one_name_are_a_mistake_of_another_rule(self) -> None:
        assert of("HP6041", scheduler_policies=(policy(), policy(path="Second"))) == []


class TestPoliciesHavePriorityClasses:
    def test_there_is_one(self) -> None:
        assert of("HP6042", scheduler_policies=(policy(priorities={}),)) == [
            (
                "HP6042 SchedulerConfig has no PriorityClasses | add up to 10 with a Weight of 0 to 100: "
                'hp.TaskGovernance(priorities={"production": 100, "research": 50})'
            )
        ]

    @pytest.mark.parametrize("priorities", [{"high": UNKNOWN}, UNKNOWN])
    def test_is_silent_where_there_is_or_may_be_one(self, priorities: Any) -> None:
        assert of("HP6042", scheduler_policies=(policy(priorities=priorities),)) == []


EARLY = frozenset({"Train"})


class TestGovernanceWaitsForItsAddon:
    def test_a_policy_does(self) -> None:
        found = of("HP6043", quota("vision", after=EARLY), scheduler_policies=(policy(after=EARLY),))
        assert found == [
            (
                f"HP6043 the scheduler policy does not wait for Addon, the add-on {ADDON} | let the scheduler policy "
                "depend on Addon: DependsOn in a template, node.add_dependency in the CDK"
            )
        ]

    def test_quotas_do_where_there_is_no_policy(self) -> None:
        quotas = (quota("a", after=EARLY), quota("b", after=EARLY))
        (found,) = of("HP6043", *quotas, scheduler_policies=())
        assert "the quota of team 'a' and the quota of team 'b' do not wait for Addon" in found

    def test_is_silent_where_it_waits(self) -> None:
        assert of("HP6043", quota("vision")) == []

    @pytest.mark.parametrize("fields", [{"name": "vpc-cni"}, {"name": UNKNOWN}, {"control_plane": UNKNOWN}])
    def test_is_silent_on_other_addons(self, fields: dict[str, Any]) -> None:
        late = policy(after=EARLY)
        assert of("HP6043", scheduler_policies=(late,), kubernetes=made(addon(**fields))) == []

    def test_is_silent_where_the_eks_cluster_is_elsewhere(self) -> None:
        late, elsewhere = policy(after=EARLY), Kubernetes(addons=(addon(),))
        assert of("HP6043", scheduler_policies=(late,), kubernetes=elsewhere) == []


class TestQuotasWaitForThePolicy:
    def test_they_do(self) -> None:
        assert of("HP6044", quota("a", after=EARLY), quota("b", after=EARLY), quota("c")) == [
            (
                "HP6044 the quota of team 'a' and the quota of team 'b' do not wait for scheduler policy Policy | let "
                "the quota of team 'a' and the quota of team 'b' depend on Policy: DependsOn in a template, "
                "node.add_dependency in the CDK"
            )
        ]

    @pytest.mark.parametrize("policies", [(), (policy(cluster=UNKNOWN),), (policy(after=frozenset({"a"})),)])
    def test_is_silent_without_a_policy_or_in_another_order(self, policies: Any) -> None:
        assert of("HP6044", quota("a", after=EARLY), scheduler_policies=policies) == []


class TestGovernedClustersHaveTheAddon:
    def test_the_eks_cluster_of_the_deployment_needs_it(self) -> None:
        assert of("HP6045", quota("vision"), kubernetes=made(addon(name="vpc-cni"))) == [
            (
                "HP6045 the scheduler policy and the quota of team 'vision' are of this cluster, and Kubernetes has no "
                f"add-on {ADDON} | add an AWS::EKS::Addon with AddonName: {ADDON}, after the HyperPod cluster, which "
                "has to have a node first, and before policy and quotas"
            )
        ]

    @pytest.mark.parametrize(
        "fields", [{}, {"certain": False}, {"name": UNKNOWN}, {"control_plane": UNKNOWN}, {"control_plane": "research"}]
    )
    def test_is_silent_where_it_is_or_may_be(self, fields: dict[str, Any]) -> None:
        assert of("HP6045", quota("vision"), kubernetes=made(addon(**fields))) == []

    def test_is_silent_where_something_unread_may_add_it(self) -> None:
        assert of("HP6045", quota("vision"), kubernetes=made(plane=replace(PLANE, reached_by=frozenset("*")))) == []

    def test_is_silent_on_eks_clusters_elsewhere(self) -> None:
        assert of("HP6045", quota("vision"), kubernetes=Kubernetes()) == []

    def test_is_silent_where_governance_may_not_be_there(self) -> None:
        maybe = quota("vision", certain=False)
        assert of("HP6045", maybe, scheduler_policies=(), kubernetes=made()) == []
