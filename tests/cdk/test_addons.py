"""Add-ons that wait for nodes, as CloudFormation will get them."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from tests.templates import of_type, synthesized

ADDON, IDENTITY = "AWS::EKS::Addon", "AWS::EKS::PodIdentityAssociation"
OPERATOR = "amazon-sagemaker-hyperpod-training-operator"


@pytest.fixture
def cluster(stack: cdk.Stack) -> hp.Cluster:
    return cluster_of(stack)


def cluster_of(stack: cdk.Stack) -> hp.Cluster:
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], flow_logs=False)
    return hp.Cluster(
        stack,
        "Cluster",
        name="research",
        network=network,
        control_plane=hp.EksControlPlane(stack, "Kubernetes", network=network, name="research"),
        groups=[hp.InstanceGroup.worker("cpu", "ml.m5.xlarge", count=1, min_count=1)],
    )


def made(stack: cdk.Stack, cluster: hp.Cluster, *addons: hp.Addon) -> dict[str, dict[str, Any]]:
    """The whole resources of the add-ons, by name."""
    hp.ClusterAddons(stack, "Addons", cluster=cluster, addons=addons)
    resources = synthesized(stack)["Resources"]
    return {
        each["Properties"]["AddonName"]: {"id": name, **each}
        for name, each in resources.items()
        if each["Type"] == ADDON and name.startswith("Addons")
    }


class TestAddons:
    def test_wait_for_the_nodes_and_for_what_they_need(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        found = made(stack, cluster, hp.Addon.training_operator(), hp.Addon.cert_manager())
        nodes = stack.get_logical_id(cluster.resource)
        assert nodes in found["cert-manager"]["DependsOn"]
        assert {nodes, found["cert-manager"]["id"]} <= set(found[OPERATOR]["DependsOn"])

    def test_their_order_in_the_code_changes_nothing(self) -> None:
        addons = [hp.Addon.training_operator(), hp.Addon.cert_manager(), hp.Addon.fsx_csi()]
        templates = []
        for given in (addons, addons[::-1]):
            stack = cdk.Stack(cdk.App(), "Same")
            hp.ClusterAddons(stack, "Addons", cluster=cluster_of(stack), addons=given)
            templates.append(synthesized(stack))
        assert templates[0] == templates[1]

    def test_wait_for_those_that_were_there_before(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        hp.ClusterAddons(stack, "First", cluster=cluster, addons=[hp.Addon.cert_manager()])
        found = made(stack, cluster, hp.Addon.training_operator())
        assert any(name.startswith("First") for name in found[OPERATOR]["DependsOn"])

    def test_pods_take_roles_by_a_resource_of_its_own(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        """Field report E-09: the operator refuses identities among its own properties."""
        found = made(stack, cluster, hp.Addon.training_operator())
        assert "PodIdentityAssociations" not in found[OPERATOR]["Properties"]
        template = synthesized(stack)
        ((name, identity),) = of_type(template, IDENTITY).items()
        assert (identity["Namespace"], identity["ServiceAccount"]) == (
            "aws-hyperpod",
            "hp-training-operator-controller-manager",
        )
        assert name in found[OPERATOR]["DependsOn"]
        trust = template["Resources"][identity["RoleArn"]["Fn::GetAtt"][0]]["Properties"]["AssumeRolePolicyDocument"]
        (statement,) = trust["Statement"]
        assert sorted(statement["Action"]) == ["sts:AssumeRole", "sts:TagSession"]
        assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}
        eks = next(name for name, each in template["Resources"].items() if each["Type"] == "AWS::EKS::Cluster")
        assert statement["Condition"]["ArnEquals"] == {"aws:SourceArn": {"Fn::GetAtt": [eks, "Arn"]}}

    def test_their_configuration_is_one_text_in_a_stable_order(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        operator = hp.Addon.training_operator(cpu="2", memory="4Gi", node_selector={"role": "system"})
        text = made(stack, cluster, operator)[OPERATOR]["Properties"]["ConfigurationValues"]
        manager = {"nodeSelector": {"role": "system"}, "resources": {"limits": {"cpu": "2", "memory": "4Gi"}}}
        assert text == json.dumps({"hpTrainingControllerManager": {"manager": manager}}, separators=(",", ":"))

    def test_their_configuration_may_hold_what_the_deploy_decides(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        addon = hp.Addon(name="mine", configuration={"cluster": cluster.cluster_arn})
        text = made(stack, cluster, addon)["mine"]["Properties"]["ConfigurationValues"]
        assert text == {"Fn::Join": ["", ['{"cluster":"', stack.resolve(cluster.cluster_arn), '"}']]}

    def test_a_policy_may_be_an_arn(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        arn = "arn:aws:iam::111122223333:policy/Mine"
        pods = hp.PodRole(namespace="mine", service_account="mine", policies=[arn])
        made(stack, cluster, hp.Addon(name="mine", pod_roles=[pods]))
        roles = of_type(synthesized(stack), "AWS::IAM::Role").values()
        assert [arn] in [each.get("ManagedPolicyArns") for each in roles]


class TestRefusals:
    @pytest.mark.parametrize(
        ("addons", "said"),
        [
            ([hp.Addon(name="vpc-cni")], r"give it to hp\.EksControlPlane\(addons="),
            ([hp.Addon.fsx_csi(), hp.Addon.fsx_csi()], "aws-fsx-csi-driver is given twice"),
            (
                [hp.Addon(name="a", needs=["b"]), hp.Addon(name="b", needs=["a"])],
                "add-ons need each other: a needs b needs a",
            ),
        ],
    )
    def test_of_lists_that_cannot_be_installed(
        self, stack: cdk.Stack, cluster: hp.Cluster, addons: list[hp.Addon], said: str
    ) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            hp.ClusterAddons(stack, "Addons", cluster=cluster, addons=addons)
        assert stack.node.try_find_child("Addons") is None

    def test_of_one_that_is_there_already(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        hp.ClusterAddons(stack, "First", cluster=cluster, addons=[hp.Addon.fsx_csi()])
        with pytest.raises(hp.InvalidValue, match="aws-fsx-csi-driver is among the add-ons of the cluster already"):
            hp.ClusterAddons(stack, "Addons", cluster=cluster, addons=[hp.Addon.fsx_csi()])

    def test_of_a_cluster_that_slurm_schedules(self, stack: cdk.Stack) -> None:
        network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], flow_logs=False)
        groups = [hp.InstanceGroup.controller("ml.m5.xlarge")]
        slurm = hp.Cluster(stack, "Slurm", name="slurm", network=network, groups=groups)
        with pytest.raises(hp.InvalidValue, match="Slurm schedules this one"):
            hp.ClusterAddons(stack, "Addons", cluster=slurm, addons=[hp.Addon.fsx_csi()])

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"name": "Cert Manager"}, "is no name of an add-on"),
            (
                {"name": "a", "version": "1.3"},
                "version is '1.3'; use one that `aws eks describe-addon-versions` prints",
            ),
            ({"name": "a", "configuration": {"b": float("nan")}}, "configuration is no JSON"),
            ({"name": "a", "configuration": {"b": object()}}, "configuration is no JSON"),
        ],
    )
    def test_of_values_that_are_none(self, fields: dict[str, Any], said: str) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            hp.Addon(**fields)

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"namespace": "Mine"}, "namespace is 'Mine'"),
            ({"service_account": "a b"}, "service_account is 'a b'"),
            ({"policies": []}, "has no policies"),
        ],
    )
    def test_of_pod_roles_that_are_none(self, fields: dict[str, Any], said: str) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            hp.PodRole(**{"namespace": "mine", "service_account": "mine", "policies": ["ReadOnlyAccess"], **fields})
