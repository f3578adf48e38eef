"""What is said of the order of EKS add-ons and nodes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.rules import networks, planes
from tests.rules.networks import KUBERNETES, UNDECIDED, ref, resource
from tests.rules.planes import BEFORE, VPC, addon, early

WAIT = "DependsOn in a template, node.add_dependency in the CDK"


class TestDeploymentsWaitForNodes:
    def test_both_at_once(self) -> None:
        assert planes.of("HP2431", Dns=early("coredns")) == [
            f"Dns: coredns does not wait for Cluster | let the add-on depend on Cluster: {WAIT}"
        ]

    def test_the_add_on_first(self) -> None:
        assert planes.of("HP2431", Dns=early("coredns"), Cluster={"DependsOn": [*BEFORE, "Dns"]}) == [
            (
                "Dns: coredns is made before Cluster | take Dns out of what the cluster waits for, and let the add-on "
                f"depend on Cluster: {WAIT}"
            )
        ]

    @pytest.mark.parametrize("name", ["vpc-cni", "kube-proxy", "eks-pod-identity-agent", "unheard-of"])
    def test_is_silent_on_what_needs_no_nodes_or_may_not(self, name: str) -> None:
        assert planes.of("HP2431", Addon=early(name)) == []

    def test_is_silent_where_it_waits(self) -> None:
        assert planes.of("HP2431", Dns=addon("coredns")) == []
        by_value = early("amazon-sagemaker-hyperpod-inference")
        by_value["Properties"]["ConfigurationValues"] = {"Fn::Sub": '{"hyperpodClusterArn": "${Cluster.ClusterArn}"}'}
        assert planes.of("HP2431", Inference=by_value) == []

    @pytest.mark.parametrize(
        "nodes",
        [
            resource("AWS::EKS::Nodegroup", ClusterName=ref("Eks"), NodeRole="arn:x", Subnets=[ref("Nodes")]),
            resource("AWS::EKS::FargateProfile", ClusterName=ref("Eks"), PodExecutionRoleArn="arn:x", Selectors=[]),
            resource("AWS::EKS::Nodegroup", ClusterName=UNDECIDED, NodeRole="arn:x", Subnets=[ref("Nodes")]),
            resource("AWS::EKS::AccessEntry", ClusterName=ref("Eks"), PrincipalArn="arn:x", Type="EC2_LINUX"),
            resource("AWS::EKS::AccessEntry", ClusterName=ref("Eks"), PrincipalArn="arn:x", Type=UNDECIDED),
        ],
    )
    def test_is_silent_where_other_nodes_are_or_may_be(self, nodes: dict[str, Any]) -> None:
        assert planes.of("HP2431", Dns=early("coredns"), Others=nodes) == []

    def test_people_are_no_nodes(self) -> None:
        people = resource("AWS::EKS::AccessEntry", ClusterName=ref("Eks"), PrincipalArn="arn:x")
        assert len(planes.of("HP2431", Dns=early("coredns"), People=people)) == 1

    @pytest.mark.parametrize(("auto", "findings"), [(True, 0), (UNDECIDED, 0), (False, 1)])
    def test_is_silent_where_eks_runs_nodes_of_its_own(self, auto: object, findings: int) -> None:
        assert len(planes.of("HP2431", Dns=early("coredns"), Eks={"ComputeConfig": {"Enabled": auto}})) == findings

    def test_is_silent_without_a_hyperpod_cluster(self) -> None:
        alone = {"Eks": {"ResourcesVpcConfig": VPC}, "Dns": early("coredns"), "Cluster": None}
        assert networks.of("HP2431", KUBERNETES, alone) == []


class TestAddonsFindANode:
    @staticmethod
    def of(count: object = None, **properties: Any) -> list[str]:
        (group,) = deepcopy(KUBERNETES["Cluster"]["InstanceGroups"])
        del group["MinInstanceCount"]
        groups = [group if count is None else {**group, "MinInstanceCount": count}]
        return planes.of("HP2433", Dns=addon("coredns"), Cluster={"InstanceGroups": groups, **properties})

    @pytest.mark.parametrize("count", [None, 0])
    def test_no_group_makes_the_cluster_wait(self, count: object) -> None:
        assert self.of(count) == [
            (
                "Cluster: no group has MinInstanceCount, and there may be no node for coredns | "
                "give a group of CPU nodes on demand MinInstanceCount: 1 (min_count=1)"
            )
        ]

    @pytest.mark.parametrize("count", [1, UNDECIDED])
    def test_is_silent_where_one_does_or_may(self, count: object) -> None:
        assert self.of(count) == []

    @pytest.mark.parametrize("mode", [None, UNDECIDED])
    def test_is_silent_where_all_nodes_come_first_or_may(self, mode: object) -> None:
        assert self.of(NodeProvisioningMode=mode) == []

    def test_is_silent_on_add_ons_that_run_with_each_node(self) -> None:
        assert planes.of("HP2433", Cni=early("vpc-cni")) == []


class TestNodesFindTheirAddons:
    def of(self, name: str, *after: str, bootstraps: object = True, late: bool = False) -> list[str]:
        return planes.of(
            "HP2432",
            Addon=addon(name) if late else early(name),
            Eks={"BootstrapSelfManagedAddons": bootstraps},
            Cluster={"DependsOn": [*BEFORE, *after]},
        )

    def test_both_at_once(self) -> None:
        assert self.of("eks-pod-identity-agent") == [
            (
                "Cluster: the cluster does not wait for Addon, which installs eks-pod-identity-agent | let the cluster "
                f"depend on Addon: {WAIT}"
            )
        ]

    def test_the_cluster_first(self) -> None:
        (found,) = self.of("eks-pod-identity-agent", late=True)
        assert "| take Cluster out of what the add-on waits for, and let the cluster depend on Addon" in found

    @pytest.mark.parametrize("name", ["vpc-cni", "kube-proxy"])
    def test_what_eks_has_put_in_itself_can_come_later(self, name: str) -> None:
        assert self.of(name) == []
        assert self.of(name, bootstraps=UNDECIDED) == []
        assert len(self.of(name, bootstraps=False)) == 1

    @pytest.mark.parametrize("bootstraps", [True, False])
    def test_is_silent_where_the_cluster_waits_and_on_others(self, *, bootstraps: bool) -> None:
        assert self.of("eks-pod-identity-agent", "Addon", bootstraps=bootstraps) == []
        assert self.of("coredns", bootstraps=bootstraps) == []
