"""What is said of EKS clusters that a deployment makes for HyperPod nodes."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model import intent
from hyperpod_constructs.model.control_plane import ControlPlane, Kubernetes
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules import networks, planes
from tests.rules.builders import deployment, eks_cluster, kubernetes, told
from tests.rules.networks import KUBERNETES, UNDECIDED, ref, resource
from tests.rules.planes import BEFORE, CHART, CUSTOM, VPC, addon


def on(rule: str, *, used: bool = True, **fields: Any) -> list[str]:
    """What a rule says of an EKS cluster, given as a value, with a HyperPod cluster on it or without."""
    known = Kubernetes(control_planes=(ControlPlane(path="Kubernetes", **fields),))
    return told(rule, deployment(*([eks_cluster(kubernetes())] if used else []), kubernetes=known))


def test_a_sound_cluster_draws_nothing() -> None:
    assert planes.rules() == []


def test_an_imported_cluster_is_not_judged_by_what_the_template_lacks() -> None:
    imported = "arn:aws:eks:us-west-2:111122223333:cluster/research"
    found = networks.findings(KUBERNETES, {"Eks": None, "Cluster": {"Orchestrator": {"Eks": {"ClusterArn": imported}}}})
    assert [each for each in found if each.rule.startswith("HP24")] == []


class TestControlPlanesHaveAccessEntries:
    @pytest.mark.parametrize(
        ("mode", "says"), [("CONFIG_MAP", "is CONFIG_MAP"), (None, "is left out, which means CONFIG_MAP")]
    )
    def test_the_old_mode_has_none(self, mode: str | None, says: str) -> None:
        assert on("HP2401", authentication=mode) == [
            (
                f"HP2401 AccessConfig.AuthenticationMode {says} | "
                "write AccessConfig: {AuthenticationMode: API}; HyperPod takes API or API_AND_CONFIG_MAP"
            )
        ]

    @pytest.mark.parametrize("mode", ["API", "API_AND_CONFIG_MAP", UNKNOWN])
    def test_is_silent_on_the_others(self, mode: Any) -> None:
        assert on("HP2401", authentication=mode) == []

    def test_is_silent_where_no_hyperpod_cluster_is_on_it(self) -> None:
        assert on("HP2401", used=False) == []


class TestVersionsAreText:
    def test_a_number_loses_its_last_digit(self) -> None:
        assert planes.of("HP2402", Eks={"Version": 1.30}) == [
            (
                "Eks: Version is 1.3, which is what 1.30 without quotes becomes | "
                "write Version: '1.30', in quotes (version=)"
            )
        ]

    @pytest.mark.parametrize("version", ["v1.34", "latest", "1.34.1", "1"])
    def test_what_is_no_version(self, version: str) -> None:
        assert on("HP2402", used=False, version=version) == [
            f"HP2402 Version is {version!r} | write Version: '1.35', in quotes (version=)"
        ]

    @pytest.mark.parametrize("version", ["1.30", "1.35", None, UNKNOWN])
    def test_is_silent_on_versions(self, version: Any) -> None:
        assert on("HP2402", version=version) == []


class TestVersionsFitHyperPod:
    def test_older_ones(self) -> None:
        assert on("HP2403", version="1.29") == [
            (
                "HP2403 Kubernetes 1.29; HyperPod takes 1.30 to 1.35 | "
                "use Version 1.32 to 1.35 (version=), which its add-ons take too"
            )
        ]

    def test_newer_ones(self) -> None:
        assert on("HP2404", version="1.36") == [
            (
                "HP2404 Kubernetes 1.36; HyperPod documents 1.30 to 1.35 (October 2026) | "
                "use Version 1.32 to 1.35 (version=), or see whether the guide has 1.36 by now"
            )
        ]

    @pytest.mark.parametrize("rule", ["HP2403", "HP2404"])
    @pytest.mark.parametrize("version", ["1.30", "1.35", "1.3", "latest", None, UNKNOWN])
    def test_are_silent_on_those_of_the_list_and_on_what_is_none(self, rule: str, version: Any) -> None:
        assert on(rule, version=version) == []


class TestSomebodyInstallsTheChart:
    def test_nobody_does(self) -> None:
        (found,) = planes.of("HP2405", Chart=None)
        assert found.startswith("Cluster: nothing installs HyperPod's Helm chart (aws/sagemaker-hyperpod-cli, ")
        assert found.endswith(
            "into EKS cluster Eks | install it into kube-system before the cluster is made; where somebody else does, "
            "write 'hyperpod:intent': {chart_elsewhere: true} into the cluster's Metadata "
            "(chart=hp.HelmChart.installed_elsewhere())"
        )

    def test_only_another_one_is_installed(self) -> None:
        other = {"ClusterID": ref("Eks"), "Chart": "eks/aws-load-balancer-controller", "Name": "lb"}
        for kind in ("AWSQS::Kubernetes::Helm", "Custom::AWSCDK-EKS-HelmChart"):
            properties = {**other, "ClusterName": ref("Eks"), "Release": "lb", "Namespace": "kube-system"}
            (found,) = planes.of("HP2405", Chart={"Type": kind, "Properties": properties})
            assert "into EKS cluster Eks, only eks/aws-load-balancer-controller |" in found

    @pytest.mark.parametrize(
        "properties",
        [
            {"Chart": "oci://registry/hyperpod-helm-chart"},
            {"Chart": "https://bucket/HyperPodHelmChart-0.1.0.tgz"},
            {"Chart": "mirror", "Name": "dependencies"},
            {"Chart": UNDECIDED},
            {"Namespace": "kube-system"},
            {},
        ],
    )
    def test_is_silent_where_a_chart_is_or_may_be_it(self, properties: dict[str, Any]) -> None:
        chart = {"Type": "AWSQS::Kubernetes::Helm", "Properties": {"ClusterID": ref("Eks"), **properties}}
        assert planes.of("HP2405", Chart=chart) == []

    @pytest.mark.parametrize("kind", ["Custom::Installer", "Custom::AWSCDK-EKS-KubernetesResource"])
    def test_is_silent_where_something_may_that_nobody_can_read(self, kind: str) -> None:
        assert planes.of("HP2405", Chart=None, Installer={**CUSTOM, "Type": kind}) == []

    def test_is_silent_where_somebody_else_does(self) -> None:
        known = Kubernetes(control_planes=(ControlPlane(path="Kubernetes"),))
        for elsewhere, findings in ((True, 0), (False, 1)):
            judged = deployment(eks_cluster(kubernetes(), chart_elsewhere=elsewhere), kubernetes=known)
            assert len(told("HP2405", judged)) == findings

    def test_names_the_key_that_is_read(self) -> None:
        assert repr(intent.KEY) in planes.of("HP2405", Chart=None)[0]


class TestClustersWaitForTheChart:
    def of(self, *after: str, **properties: Any) -> list[str]:
        chart = {**CHART, "Properties": {**CHART["Properties"], **properties}}
        return planes.of("HP2406", Chart=chart, Cluster={"DependsOn": [*BEFORE[:-1], *after]})

    def test_both_at_once(self) -> None:
        assert self.of() == [
            (
                "Cluster: the cluster does not wait for Chart, which installs HyperPod's Helm chart | let the cluster "
                "depend on net.json/Chart: DependsOn in a template, node.add_dependency in the CDK"
            ).replace("net.json/", "")
        ]

    def test_is_silent_where_it_waits(self) -> None:
        assert self.of("Chart") == []

    @pytest.mark.parametrize("properties", [{"Chart": "other", "Name": "x"}, {"Name": UNDECIDED, "Namespace": "x"}])
    def test_is_silent_on_charts_that_are_another_one_or_may_be(self, properties: dict[str, Any]) -> None:
        assert self.of(**properties) == []

    def test_a_folder_in_the_namespace_of_the_chart_is_it(self) -> None:
        assert len(self.of(Name="first")) == 1
        assert self.of(Name="first", Namespace="tools") == []


class TestNetworkingIsInstalled:
    def of(self, *addons: str, bootstraps: object = False, **changes: Any) -> list[str]:
        made = {f"Addon{number}": addon(name) for number, name in enumerate(addons)}
        return planes.of("HP2407", Eks={"BootstrapSelfManagedAddons": bootstraps}, **made, **changes)

    def test_eks_was_told_to_install_none(self) -> None:
        assert self.of("vpc-cni") == [
            (
                "Eks: BootstrapSelfManagedAddons is false, and no add-on kube-proxy and coredns | "
                "add an AWS::EKS::Addon for each, or leave BootstrapSelfManagedAddons out"
            )
        ]

    @pytest.mark.parametrize("bootstraps", [True, None, UNDECIDED])
    def test_is_silent_where_eks_does_or_may(self, bootstraps: object) -> None:
        assert self.of(bootstraps=bootstraps) == []

    def test_is_silent_where_something_else_installs_them_or_may(self) -> None:
        assert self.of("vpc-cni", "kube-proxy", "coredns") == []
        assert self.of(Installer=CUSTOM) == []
        cni = {"Type": "AWSQS::Kubernetes::Helm", "Properties": {"ClusterID": ref("Eks"), "Chart": "eks/aws-vpc-cni"}}
        assert self.of("kube-proxy", "coredns", Cni=cni) == []
        assert (
            planes.of(
                "HP2407",
                Eks={"BootstrapSelfManagedAddons": False},
                Any={**addon("x"), "Properties": {"ClusterName": ref("Eks"), "AddonName": UNDECIDED}},
            )
            == []
        )


class TestEndpointsAreNotForEverybody:
    @pytest.mark.parametrize(
        ("cidrs", "says"),
        [
            ((), "no PublicAccessCidrs"),
            (("10.0.0.0/8", "0.0.0.0/0"), "PublicAccessCidrs has 0.0.0.0/0"),
            (("::/0", "0.0.0.0/0", UNKNOWN), "PublicAccessCidrs has 0.0.0.0/0 and ::/0"),
        ],
    )
    def test_the_whole_internet(self, cidrs: Any, says: str) -> None:
        (found,) = on("HP2408", public_cidrs=cidrs)
        assert found.startswith(f"HP2408 the endpoint is public, and {says} | write EndpointPrivateAccess: true, and ")

    @pytest.mark.parametrize(
        "fields",
        [
            {"public": False},
            {"public": UNKNOWN},
            {"public_cidrs": ("203.0.113.0/24",)},
            {"public_cidrs": (UNKNOWN,)},
            {"public_cidrs": UNKNOWN},
        ],
    )
    def test_is_silent_where_it_is_closed_or_may_be(self, fields: dict[str, Any]) -> None:
        assert on("HP2408", **fields) == []


class TestEndpointsCanBeReached:
    def test_neither_way(self) -> None:
        vpc = {**VPC, "EndpointPrivateAccess": None, "EndpointPublicAccess": False}
        assert planes.of("HP2409", Eks={"ResourcesVpcConfig": {k: v for k, v in vpc.items() if v is not None}}) == [
            (
                "Eks: EndpointPublicAccess and EndpointPrivateAccess are false; the second is so if left out | "
                "write EndpointPrivateAccess: true"
            )
        ]

    @pytest.mark.parametrize(
        "fields", [{}, {"public": False, "private": True}, {"public": False, "private": UNKNOWN}, {"public": UNKNOWN}]
    )
    def test_is_silent_where_one_is_open_or_may_be(self, fields: dict[str, Any]) -> None:
        assert on("HP2409", used=False, **fields) == []


def second_cluster(**properties: Any) -> dict[str, Any]:
    """Another HyperPod cluster like that of the sound template."""
    body = networks.changed(KUBERNETES)["Resources"]["Cluster"]["Properties"]
    return resource("AWS::SageMaker::Cluster", **{**body, "ClusterName": "second", **properties})


class TestControlPlanesHaveOneCluster:
    def test_a_second_one(self) -> None:
        assert planes.of("HP2413", Second=second_cluster()) == [
            (
                "Second: the cluster is of Eks, and so is Cluster | "
                "give each an EKS cluster of its own, or make one cluster with the groups of both"
            )
        ]

    def test_an_eks_cluster_that_exists(self) -> None:
        orchestrator = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/shared"}}
        second = second_cluster(Orchestrator=orchestrator)
        assert planes.of("HP2413", Second=second) == []
        (found,) = planes.of("HP2413", Cluster={"Orchestrator": orchestrator}, Second=second)
        assert "is of arn:aws:eks:us-west-2:111122223333:cluster/shared, and so is Cluster" in found

    @pytest.mark.parametrize(
        "change",
        [
            {"Orchestrator": {"Eks": {"ClusterArn": UNDECIDED}}},
            {"Orchestrator": {"Slurm": {}}},
        ],
    )
    def test_is_silent_where_it_is_or_may_be_of_another(self, change: dict[str, Any]) -> None:
        assert planes.of("HP2413", Second=second_cluster(**change)) == []


def test_a_second_cluster_on_one_control_plane_does_not_say_it_twice() -> None:
    second = second_cluster()
    assert len(planes.of("HP2404", Eks={"Version": "1.36"}, Second=second)) == 1
