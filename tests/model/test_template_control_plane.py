"""EKS clusters and what belongs to them, read from templates."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.control_plane import (
    AccessEntry,
    Addon,
    ChartInstall,
    ControlPlane,
    OtherNodes,
    PodIdentity,
)
from hyperpod_constructs.tokens import UNKNOWN

UNDECIDABLE = {"Fn::GetAtt": ["Elsewhere", "Outputs.Value"]}
EKS = {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "research"}}


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    """A resource of EKS."""
    return {"Type": f"AWS::EKS::{kind}", "Properties": properties}


def ref(name: str) -> dict[str, str]:
    """A reference."""
    return {"Ref": name}


class TestControlPlanes:
    def test_are_read_with_what_hyperpod_asks_of_them(self, deployment_of: Any) -> None:
        eks = resource(
            "Cluster",
            Name="research",
            Version="1.34",
            AccessConfig={"AuthenticationMode": "API"},
            ResourcesVpcConfig={
                "SubnetIds": ["subnet-1", "subnet-2"],
                "SecurityGroupIds": ["sg-1"],
                "EndpointPublicAccess": False,
                "EndpointPrivateAccess": "true",
            },
        )
        (found,) = deployment_of({"Eks": eks}).kubernetes.control_planes
        assert found == ControlPlane(
            path="app.json/Eks",
            name="research",
            version="1.34",
            authentication="API",
            subnets=("subnet-1", "subnet-2"),
            security_groups=("sg-1",),
            public=False,
            private=True,
        )
        assert found.own_group == "app.json/Eks.ClusterSecurityGroupId"

    def test_are_public_and_of_the_old_mode_where_nothing_is_said(self, deployment_of: Any) -> None:
        (found,) = deployment_of({"Eks": resource("Cluster")}).kubernetes.control_planes
        assert (found.public, found.private, found.authentication, found.version) == (True, False, None, None)

    def test_have_the_version_that_cloudformation_makes_of_a_number(self, deployment_of: Any) -> None:
        (found,) = deployment_of({"Eks": resource("Cluster", Version=1.30)}).kubernetes.control_planes
        assert found.version == "1.3"

    def test_have_what_eks_itself_puts_into_them(self, deployment_of: Any) -> None:
        bare = resource("Cluster", BootstrapSelfManagedAddons="false", ComputeConfig={"Enabled": True})
        found = deployment_of({"Bare": bare, "Eks": EKS}).kubernetes.control_planes
        assert [(each.bootstraps, each.auto) for each in found] == [(False, True), (True, False)]

    def test_remember_the_types_of_what_nobody_can_read(self, deployment_of: Any) -> None:
        chart = {"Type": "Custom::AWSCDK-EKS-HelmChart", "Properties": {"ClusterName": ref("Eks")}}
        other = {"Type": "Custom::Other", "Properties": {"Cluster": {"Fn::GetAtt": ["Eks", "Arn"]}}}
        (found,) = deployment_of({"Eks": EKS, "Chart": chart, "Other": other}).kubernetes.control_planes
        assert found.reached_by == {"Custom::AWSCDK-EKS-HelmChart", "Custom::Other"}
        assert not found.complete
        (alone,) = deployment_of({"Eks": EKS}).kubernetes.control_planes
        assert alone.complete

    def test_on_an_outpost_are_left_alone(self, deployment_of: Any) -> None:
        eks = resource("Cluster", OutpostConfig={"OutpostArns": ["arn"]})
        assert deployment_of({"Eks": eks}).kubernetes.control_planes == ()


class TestAddons:
    def test_belong_to_the_cluster_that_they_refer_to(self, deployment_of: Any) -> None:
        addon = resource(
            "Addon", ClusterName=ref("Eks"), AddonName="vpc-cni", ConfigurationValues='{"env": {"A": "1"}}'
        )
        kubernetes = deployment_of({"Eks": EKS, "Cni": addon}).kubernetes
        (plane,) = kubernetes.control_planes
        assert kubernetes.addons_of(plane) == (
            Addon(
                path="app.json/Cni",
                control_plane="app.json/Eks",
                name="vpc-cni",
                configuration={"env": {"A": "1"}},
                after=frozenset({"app.json/Eks"}),
            ),
        )

    def test_may_name_their_cluster(self, deployment_of: Any) -> None:
        addon = resource("Addon", ClusterName="research", AddonName="vpc-cni")
        kubernetes = deployment_of({"Eks": EKS, "Cni": addon}).kubernetes
        assert [each.name for each in kubernetes.addons_of(kubernetes.control_planes[0])] == ["vpc-cni"]

    def test_of_a_cluster_elsewhere_belong_to_none(self, deployment_of: Any) -> None:
        addon = resource("Addon", ClusterName="other", AddonName="vpc-cni")
        kubernetes = deployment_of({"Eks": EKS, "Cni": addon}).kubernetes
        assert kubernetes.addons_of(kubernetes.control_planes[0]) == ()

    @pytest.mark.parametrize(
        ("text", "read"),
        [
            ("replicas: 2\n", {"replicas": 2}),
            ("", {}),
            (None, None),
            ({"Fn::Sub": '{"arn": "${Elsewhere.Arn}"}'}, UNKNOWN),
        ],
    )
    def test_are_configured_in_json_or_yaml(self, deployment_of: Any, text: Any, read: Any) -> None:
        addon = resource("Addon", ClusterName="research", AddonName="coredns", ConfigurationValues=text)
        (found,) = deployment_of({"Dns": addon}).kubernetes.addons
        assert found.configuration == read

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('{"replicas": 2', "ConfigurationValues is neither JSON nor YAML"),
            ("a: b: c", "ConfigurationValues is neither JSON nor YAML"),
            ("replicas", "ConfigurationValues holds str 'replicas', and no map"),
        ],
    )
    def test_report_a_configuration_that_nobody_can_read(self, deployment_of: Any, text: str, said: str) -> None:
        addon = resource("Addon", ClusterName="research", AddonName="coredns", ConfigurationValues=text)
        deployment = deployment_of({"Dns": addon})
        assert deployment.kubernetes.addons[0].configuration is UNKNOWN
        (invalid,) = deployment.invalid
        assert invalid.message.startswith(said)

    def test_say_whether_they_carry_identities(self, deployment_of: Any) -> None:
        inline = [{"ServiceAccount": "a", "RoleArn": "arn:aws:iam::111122223333:role/A"}]
        resources = {
            "With": resource("Addon", ClusterName="c", AddonName="a", PodIdentityAssociations=inline),
            "Without": resource("Addon", ClusterName="c", AddonName="b", ServiceAccountRoleArn="arn:b"),
        }
        found = deployment_of(resources).kubernetes.addons
        assert [(each.inline_identities, each.role) for each in found] == [(True, None), (False, "arn:b")]


class TestWhoMayCall:
    def test_access_entries_are_standard_unless_told_otherwise(self, deployment_of: Any) -> None:
        entry = resource(
            "AccessEntry",
            ClusterName=ref("Eks"),
            PrincipalArn="arn:aws:iam::111122223333:role/People",
            KubernetesGroups=["team"],
            AccessPolicies=[{"PolicyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"}],
        )
        assert deployment_of({"Eks": EKS, "People": entry}).kubernetes.access_entries == (
            AccessEntry(
                path="app.json/People",
                control_plane="app.json/Eks",
                principal="arn:aws:iam::111122223333:role/People",
                groups=("team",),
                policies=("arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",),
            ),
        )

    def test_pod_identities_are_read(self, deployment_of: Any) -> None:
        identity = resource(
            "PodIdentityAssociation", ClusterName="research", Namespace="n", ServiceAccount="s", RoleArn="arn:r"
        )
        assert deployment_of({"Id": identity}).kubernetes.pod_identities == (
            PodIdentity(path="app.json/Id", control_plane="research", namespace="n", service_account="s", role="arn:r"),
        )


class TestChartInstalls:
    @pytest.mark.parametrize(
        ("kind", "cluster", "release"),
        [
            ("Custom::AWSCDK-EKS-HelmChart", "ClusterName", "Release"),
            ("AWSQS::Kubernetes::Helm", "ClusterID", "Name"),
        ],
    )
    def test_are_those_of_the_cdk_and_of_the_public_extension(
        self, deployment_of: Any, kind: str, cluster: str, release: str
    ) -> None:
        properties = {cluster: ref("Eks"), "Chart": "deps", release: "first", "Namespace": "kube-system"}
        install = {"Type": kind, "Properties": properties}
        assert deployment_of({"Eks": EKS, "Install": install}).kubernetes.chart_installs == (
            ChartInstall(
                path="app.json/Install",
                control_plane="app.json/Eks",
                chart="deps",
                release="first",
                namespace="kube-system",
            ),
        )


class TestOtherNodes:
    def test_are_managed_groups_and_fargate(self, deployment_of: Any) -> None:
        resources = {
            "Group": resource("Nodegroup", ClusterName=ref("Eks")),
            "Profile": resource("FargateProfile", ClusterName="other"),
        }
        assert deployment_of({"Eks": EKS, **resources}).kubernetes.other_nodes == (
            OtherNodes(path="app.json/Group", control_plane="app.json/Eks"),
            OtherNodes(path="app.json/Profile", control_plane="other"),
        )
