"""What is said of EKS add-ons: versions, roles, what they need, and room for their pods."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.catalog.kubernetes import ADDONS
from hyperpod_constructs.model.control_plane import Addon, ControlPlane, Kubernetes
from hyperpod_constructs.model.kubernetes import AutoScaling
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules import planes
from tests.rules.builders import deployment, eks_cluster, kubernetes, told
from tests.rules.networks import UNDECIDED, ref, resource
from tests.rules.planes import BEFORE, CUSTOM, addon, early

TRAINING = "amazon-sagemaker-hyperpod-training-operator"
GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"
OBSERVABILITY = "amazon-sagemaker-hyperpod-observability"
INFERENCE = "amazon-sagemaker-hyperpod-inference"
IMPORTED = "arn:aws:eks:us-west-2:111122223333:cluster/research"
INLINE = [{"ServiceAccount": "a", "RoleArn": "arn:aws:iam::111122223333:role/Operator"}]
EBS_ACCOUNT = {"Namespace": "kube-system", "ServiceAccount": "ebs-csi-controller-sa"}


def identity(**properties: Any) -> dict[str, Any]:
    """A pod identity of the EBS CSI driver."""
    fields = {"ClusterName": ref("Eks"), "RoleArn": "arn:aws:iam::111122223333:role/Ebs", **EBS_ACCOUNT, **properties}
    return resource("AWS::EKS::PodIdentityAssociation", **fields)


class TestAddonsAreInstalledOnce:
    def test_twice_on_one_cluster(self) -> None:
        assert planes.of("HP2421", One=addon("coredns"), Two=addon("coredns")) == [
            "Two: add-on coredns of the EKS cluster is net.json/One already | keep one of them".replace("net.json/", "")
        ]

    def test_twice_on_an_imported_one(self) -> None:
        both = {name: addon("coredns", ClusterName="research") for name in ("One", "Two")}
        assert len(planes.of("HP2421", **both)) == 1

    @pytest.mark.parametrize(
        "second",
        [
            addon("vpc-cni"),
            addon("coredns", ClusterName="another"),
            {**addon("coredns"), "Condition": "Maybe"},
            resource("AWS::EKS::Addon", ClusterName=ref("Eks"), AddonName=UNDECIDED),
        ],
    )
    def test_is_silent_where_they_differ_or_may(self, second: dict[str, Any]) -> None:
        assert planes.of("HP2421", One=addon("coredns"), Two=second) == []

    def test_one_name_in_two_templates_may_be_that_of_clusters_in_two_regions(self) -> None:
        """Without locations nobody knows whether they stand in one."""
        both = tuple(Addon(path=path, control_plane="research", name="coredns") for path in ("A/Dns", "B/Dns"))
        assert told("HP2421", deployment(kubernetes=Kubernetes(addons=both))) == []


class TestAddonsTakeTheVersion:
    def of(self, version: object, name: str = OBSERVABILITY) -> list[str]:
        return planes.of("HP2422", Eks={"Version": version}, Addon=addon(name))

    def test_an_older_kubernetes(self) -> None:
        assert self.of("1.31") == [
            (
                f"Addon: the newest {OBSERVABILITY} takes Kubernetes 1.32 to 1.37, and Eks has 1.31 | "
                "use Version 1.32 to 1.35 for the EKS cluster"
            )
        ]

    @pytest.mark.parametrize("version", ["1.32", "1.35", "1.29", "1.36", UNDECIDED, None])
    def test_is_silent_where_it_fits_or_another_rule_says_so(self, version: object) -> None:
        assert self.of(version) == []

    def test_is_silent_on_add_ons_that_take_it(self) -> None:
        assert self.of("1.31", GOVERNANCE) == []
        assert self.of("1.31", "vpc-cni") == []


class TestNetworksAreNewEnough:
    def test_an_old_one(self) -> None:
        assert planes.of("HP2423", Cni=addon("vpc-cni", AddonVersion="v1.18.2-eksbuild.1")) == [
            (
                "Cni: add-on vpc-cni has AddonVersion v1.18.2-eksbuild.1 | "
                "use v1.18.3 or later, or leave AddonVersion out"
            )
        ]

    def test_on_an_imported_cluster(self) -> None:
        old = Addon(path="Cni", control_plane="research", name="vpc-cni", version="v1.9.0")
        for arn, findings in ((IMPORTED, 1), (IMPORTED + "2", 0), (UNKNOWN, 0)):
            cluster = eks_cluster(kubernetes(), orchestrator=Eks(cluster=arn))
            assert len(told("HP2423", deployment(cluster, kubernetes=Kubernetes(addons=(old,))))) == findings

    @pytest.mark.parametrize("version", ["v1.18.3-eksbuild.1", "v1.20.0", None, UNDECIDED, "latest"])
    def test_is_silent_on_others(self, version: object) -> None:
        given = {} if version is None else {"AddonVersion": version}
        assert planes.of("HP2423", Cni=addon("vpc-cni", **given)) == []


class TestOperatorsHaveNoInlineIdentities:
    def of(self, rule: str, name: str = TRAINING, **properties: Any) -> list[str]:
        return planes.of(rule, Operator=addon(name, **{"PodIdentityAssociations": INLINE, **properties}))

    @pytest.mark.parametrize("version", ["v1.2.1-eksbuild.1", "v1.3.0-eksbuild.1"])
    def test_versions_that_refuse_them(self, version: str) -> None:
        assert self.of("HP2424", AddonVersion=version) == [
            (
                f"Operator: PodIdentityAssociations is given to {TRAINING}, {version} | take it out, and make an "
                "AWS::EKS::PodIdentityAssociation for service account hp-training-operator-controller-manager in "
                "aws-hyperpod, on which the add-on depends"
            )
        ]
        assert self.of("HP2425", AddonVersion=version) == []

    @pytest.mark.parametrize(
        ("properties", "of"),
        [
            ({"AddonVersion": "v1.2.0-eksbuild.1"}, "v1.2.0-eksbuild.1"),
            ({}, "a version that the template does not fix"),
            ({"AddonVersion": UNDECIDED}, "a version that the template does not fix"),
        ],
    )
    def test_versions_that_may(self, properties: dict[str, Any], of: str) -> None:
        (found,) = self.of("HP2425", **properties)
        assert found.startswith(f"Operator: PodIdentityAssociations is given to {TRAINING}, {of} | take it out")
        assert self.of("HP2424", **properties) == []

    @pytest.mark.parametrize("rule", ["HP2424", "HP2425"])
    def test_are_silent_without_and_on_other_add_ons(self, rule: str) -> None:
        for version in ("v1.3.0", "v1.0.0"):
            assert self.of(rule, AddonVersion=version, PodIdentityAssociations=[]) == []
            assert self.of(rule, AddonVersion=version, PodIdentityAssociations=UNDECIDED) == []
            assert self.of(rule, name="aws-ebs-csi-driver", AddonVersion=version) == []


class TestVolumeDriversHaveARole:
    def of(self, *, properties: dict[str, Any] | None = None, **changes: Any) -> list[str]:
        return planes.of("HP2426", Ebs=addon("aws-ebs-csi-driver", **properties or {}), **changes)

    def test_none(self) -> None:
        assert self.of() == [
            (
                "Ebs: aws-ebs-csi-driver has neither ServiceAccountRoleArn nor a pod identity | make an "
                "AWS::EKS::PodIdentityAssociation for service account ebs-csi-controller-sa in kube-system, with a "
                "role that has AmazonEBSCSIDriverPolicy, on which the add-on depends"
            )
        ]

    @pytest.mark.parametrize("other", [{"Namespace": "default"}, {"ServiceAccount": "x"}, {"ClusterName": "another"}])
    def test_that_of_another_account_does_not_help(self, other: dict[str, str]) -> None:
        assert len(self.of(Identity=identity(**other))) == 1

    @pytest.mark.parametrize(
        "properties",
        [
            {"ServiceAccountRoleArn": "arn:aws:iam::111122223333:role/Ebs"},
            {"ServiceAccountRoleArn": UNDECIDED},
            {"PodIdentityAssociations": INLINE},
            {"PodIdentityAssociations": UNDECIDED},
            {"ConfigurationValues": UNDECIDED},
            {
                "ConfigurationValues": '{"controller": {"serviceAccount": {"annotations": '
                '{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/Ebs"}}}}'
            },
        ],
    )
    def test_is_silent_where_it_has_one_or_may(self, properties: dict[str, Any]) -> None:
        assert self.of(properties=properties) == []

    @pytest.mark.parametrize("other", [{}, {"ServiceAccount": UNDECIDED}, {"Namespace": UNDECIDED}])
    def test_is_silent_with_a_pod_identity(self, other: dict[str, Any]) -> None:
        assert self.of(Identity=identity(**other)) == []

    def test_is_silent_where_something_may_make_one_that_nobody_can_read(self) -> None:
        assert self.of(Installer=CUSTOM) == []

    def test_what_speaks_to_kubernetes_alone_makes_none(self) -> None:
        assert len(self.of(Manifest={**CUSTOM, "Type": "Custom::AWSCDK-EKS-KubernetesResource"})) == 1


class TestClustersOfTheOperatorAreTagged:
    def of(self, *tags: tuple[object, object], name: str = TRAINING) -> list[str]:
        given = [{"Key": key, "Value": value} for key, value in tags]
        return planes.of("HP2427", Operator=addon(name), Cluster={"Tags": given, "DependsOn": BEFORE})

    def test_no_tag(self) -> None:
        assert self.of(("team", "a")) == [
            (
                "Cluster: Operator installs the training operator, and the cluster has no tag SageMaker | "
                "write Tags: [{Key: SageMaker, Value: 'true'}] (tags={'SageMaker': 'true'})"
            )
        ]

    def test_another_value(self) -> None:
        (found,) = self.of(("SageMaker", "True"))
        assert "the cluster has tag SageMaker=True |" in found

    def test_is_silent_with_the_tag_or_what_may_be_it(self) -> None:
        assert self.of(("SageMaker", "true")) == []
        assert self.of(("SageMaker", UNDECIDED)) == []
        assert self.of((UNDECIDED, "true")) == []

    def test_is_silent_without_the_operator(self) -> None:
        assert self.of(name=GOVERNANCE) == []

    def test_the_operator_may_be_on_an_imported_cluster(self) -> None:
        known = Kubernetes(addons=(Addon(path="Operator", control_plane="research", name=TRAINING),))
        judged = deployment(eks_cluster(kubernetes(), orchestrator=Eks(cluster=IMPORTED)), kubernetes=known)
        assert len(told("HP2427", judged)) == 1


class TestAddonsHaveWhatTheyNeed:
    def of(self, name: str, **changes: Any) -> list[str]:
        return planes.of("HP2428", Addon=addon(name, *changes), **changes)

    def test_all_are_missing(self) -> None:
        other = {"Type": "AWSQS::Kubernetes::Helm", "Properties": {"ClusterID": ref("Eks"), "Chart": "other"}}
        assert self.of(INFERENCE, Chart=other) == [
            (
                f"Addon: {INFERENCE} needs aws-fsx-csi-driver, aws-mountpoint-s3-csi-driver, cert-manager and "
                "metrics-server, which Eks lacks | add aws-fsx-csi-driver v1.6.0 or later, "
                "aws-mountpoint-s3-csi-driver v1.14.1 or later, cert-manager v1.18.2 or later and metrics-server "
                "v0.7.2 or later as AWS::EKS::Addon, on which this one depends"
            )
        ]

    def test_one_is_missing(self) -> None:
        assert self.of(TRAINING, Certificates=addon("cert-manager")) == [
            (
                f"Addon: {TRAINING} needs eks-pod-identity-agent, which Eks lacks | "
                "add eks-pod-identity-agent as AWS::EKS::Addon, on which this one depends"
            )
        ]

    @pytest.mark.parametrize(("version", "findings"), [("v1.5.9", 1), ("v1.6.0", 0), ("latest", 0), (UNDECIDED, 0)])
    def test_one_is_too_old(self, version: object, findings: int) -> None:
        found = self.of(INFERENCE, Fsx=addon("aws-fsx-csi-driver", AddonVersion=version), Installer=CUSTOM)
        assert (
            found
            == [
                (
                    f"Fsx: {INFERENCE} needs aws-fsx-csi-driver v1.6.0 or later, and this is {version} | "
                    "use AddonVersion v1.6.0 or later"
                )
            ][:findings]
        )

    def test_one_is_not_waited_for(self) -> None:
        (found,) = planes.of(
            "HP2428", Addon=addon(OBSERVABILITY), Agent=early("eks-pod-identity-agent"), Cluster={"DependsOn": BEFORE}
        )
        assert found.startswith(
            f"Addon: {OBSERVABILITY} does not wait for Agent, which it needs first | let the add-on "
        )

    def test_is_silent_where_all_are_there(self) -> None:
        given = ("eks-pod-identity-agent", "cert-manager")
        assert self.of(TRAINING, **{name.title().replace("-", ""): addon(name) for name in given}) == []

    def test_is_silent_where_a_chart_brings_them_or_may(self) -> None:
        def chart(name: str) -> dict[str, Any]:
            return {"Type": "AWSQS::Kubernetes::Helm", "Properties": {"ClusterID": ref("Eks"), "Chart": name}}

        agent = addon("eks-pod-identity-agent")
        # HyperPod's chart, which is installed here, has cert-manager in it.
        assert self.of(TRAINING, Agent=agent) == []
        assert len(self.of(TRAINING, Agent=agent, Chart=chart("other"))) == 1
        assert self.of(TRAINING, Agent=agent, Chart=chart("jetstack/cert-manager")) == []

    def test_is_silent_where_something_may_install_them_that_nobody_can_read(self) -> None:
        assert self.of(INFERENCE, Installer=CUSTOM) == []
        unread = resource("AWS::EKS::Addon", ClusterName=ref("Eks"), AddonName=UNDECIDED)
        assert self.of(INFERENCE, Unread=unread) == []


class TestNodesHoldTheAddons:
    FOUR = (OBSERVABILITY, GOVERNANCE, TRAINING, "aws-ebs-csi-driver")

    def of(
        self,
        *names: str,
        instance_type: object = "ml.g5.xlarge",
        count: object = 1,
        certain: bool = True,
        **fields: Any,
    ) -> list[str]:
        addons = [
            Addon(path=name, control_plane="Kubernetes", name=name, certain=certain) for name in names or self.FOUR
        ]
        known = Kubernetes(control_planes=(ControlPlane(path="Kubernetes"),), addons=tuple(addons))
        group = kubernetes(name="g", instance_type=instance_type, count=count)
        return told("HP2429", deployment(eks_cluster(group, **fields), kubernetes=known))

    def test_one_small_node(self) -> None:
        assert self.of() == [
            (
                f"HP2429 1 node for {OBSERVABILITY}, {GOVERNANCE}, {TRAINING} and aws-ebs-csi-driver; pods per node: "
                "ml.g5.xlarge 14 | add a group for them of a type that holds more, such as two ml.m5.4xlarge"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {"count": 3},
            {"count": 0},
            {"count": UNKNOWN},
            {"instance_type": "ml.m5.4xlarge"},
            {"instance_type": UNKNOWN},
            {"instance_type": "ml.unheard.of"},
            {"certain": False},
            {"autoscaling": AutoScaling(mode="Enable")},
        ],
    )
    def test_is_silent_where_there_is_room_or_may_be(self, fields: dict[str, Any]) -> None:
        assert self.of(**fields) == []

    def test_is_silent_on_three_of_them_and_on_daemonsets(self) -> None:
        assert self.of(*self.FOUR[:3], "vpc-cni", "kube-proxy", "eks-pod-identity-agent", "unheard-of") == []

    def test_a_second_group_with_more_room_is_enough(self) -> None:
        addons = tuple(Addon(path=name, control_plane="Kubernetes", name=name) for name in self.FOUR)
        known = Kubernetes(control_planes=(ControlPlane(path="Kubernetes"),), addons=addons)
        groups = [
            kubernetes(name="g", instance_type="ml.g5.xlarge", count=1),
            kubernetes(name="s", instance_type="ml.m5.4xlarge", count=1),
        ]
        assert told("HP2429", deployment(eks_cluster(*groups), kubernetes=known)) == []


def test_every_add_on_of_the_table_is_legal_after_the_cluster() -> None:
    """With all of them in order and a role, no rule has anything to say."""
    names = {
        f"Addon{number}": name for number, name in enumerate(sorted(ADDONS, key=lambda name: len(ADDONS[name].needs)))
    }
    before = {logical for logical, name in names.items() if name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")}
    made = {
        logical: early(name)
        if logical in before
        else addon(name, *[other for other, needed in names.items() if needed in dict(ADDONS[name].needs)])
        for logical, name in names.items()
    }
    assert planes.rules({**made, "Identity": identity(), "Cluster": {"DependsOn": [*BEFORE, *sorted(before)]}}) == []
