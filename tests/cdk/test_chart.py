"""The dependency chart as CloudFormation will install it, or not."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_lambda as lambda_

import hyperpod_constructs as hp
from tests.charts import small
from tests.templates import of_type, synthesized

RELEASE, FUNCTION, ENTRY = "Custom::AWSCDK-EKS-HelmChart", "AWS::Lambda::Function", "AWS::EKS::AccessEntry"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The small chart, complete."""
    for name, content in small.complete().items():
        (tmp_path / "chart" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "chart" / name).write_bytes(content)
    return tmp_path / "chart"


def made(stack: cdk.Stack, chart: hp.HelmChart | None, **options: Any) -> hp.EksControlPlane:
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", flow_logs=False)
    return hp.EksControlPlane(
        stack, "Kubernetes", **{"network": network, "name": "research", "chart": chart, **options}
    )


def cluster(stack: cdk.Stack, plane: hp.EksControlPlane) -> dict[str, Any]:
    """The whole resource of a HyperPod cluster on a control plane."""
    network = stack.node.find_child("Network")
    assert isinstance(network, hp.Network)
    groups = [hp.InstanceGroup.worker("cpu", "ml.m5.xlarge", count=1)]
    hp.Cluster(stack, "Cluster", name="research", network=network, control_plane=plane, groups=groups)
    found: dict[str, Any]
    (found,) = (each for each in synthesized(stack)["Resources"].values() if each["Type"] == "AWS::SageMaker::Cluster")
    return found


class TestInstalledHere:
    def test_is_there_before_the_first_node(self, stack: cdk.Stack, folder: Path) -> None:
        """Field reports E-06 and E-07."""
        found = cluster(stack, made(stack, hp.HelmChart.directory(folder)))
        (release,) = of_type(synthesized(stack), RELEASE)
        assert release in found["DependsOn"]

    def test_is_one_release_with_the_region_that_nodes_cannot_tell_yet(self, stack: cdk.Stack, folder: Path) -> None:
        made(stack, hp.HelmChart.directory(folder, values={"health-monitoring-agent": {"hmaimage": "mine"}}))
        (found,) = of_type(synthesized(stack), RELEASE).values()
        assert (found["Release"], found["Namespace"]) == ("hyperpod-dependencies", "kube-system")
        assert json.loads(found["Values"]) == {
            "global": {"region": "us-west-2"},
            "health-monitoring-agent": {"region": "us-west-2", "hmaimage": "mine"},
        }
        assert "Wait" not in found  # most of it runs on nodes, which come later

    def test_two_functions_may_do_everything_and_stand_in_the_network(self, stack: cdk.Stack, folder: Path) -> None:
        made(stack, hp.HelmChart.directory(folder))
        template = synthesized(stack)
        functions = of_type(template, FUNCTION).values()
        assert len(functions) == 2
        assert all(each["VpcConfig"]["SubnetIds"] for each in functions)
        (entry,) = of_type(template, ENTRY).values()
        role = next(each["Role"] for each in functions if "kubectl" in each.get("Description", ""))
        assert entry["PrincipalArn"] == role
        services = str([each["ServiceName"] for each in of_type(template, "AWS::EC2::VPCEndpoint").values()])
        assert all(f".{name}'" in services for name in ("eks", "lambda", "sts"))

    def test_the_same_files_give_the_same_asset_wherever_they_lie(self, folder: Path, tmp_path: Path) -> None:
        urls = []
        for name in ("chart", "moved"):
            folder = folder.rename(tmp_path / name)
            one = cdk.Stack(cdk.App(), "Stack")
            made(one, hp.HelmChart.directory(folder))
            (found,) = of_type(synthesized(one), RELEASE).values()
            urls.append(found["ChartAssetURL"])
        assert urls[0] == urls[1]

    def test_images_of_the_users_are_in_the_files(self, stack: cdk.Stack, folder: Path) -> None:
        mine = "111122223333.dkr.ecr.us-west-2.amazonaws.com/nfd"
        images = {"registry.k8s.io/nfd/node-feature-discovery": mine}
        made(stack, hp.HelmChart.directory(folder, images=images))
        synthesized(stack)
        stage = cdk.Stage.of(stack)
        assert stage is not None
        written = [path.read_text() for path in Path(stage.outdir).glob("asset.*/templates/deployment.yaml")]
        assert [f'image: "{mine}:v0.17.0"' in text for text in written] == [True]

    def test_kubectl_may_be_the_users(self, stack: cdk.Stack, folder: Path) -> None:
        arn = "arn:aws:lambda:us-west-2:111122223333:layer:kubectl:1"
        layer = lambda_.LayerVersion.from_layer_version_arn(stack, "Mine", arn)
        made(stack, hp.HelmChart.directory(folder), version="1.35", kubectl_layer=layer)
        assert any(arn in str(each.get("Layers")) for each in of_type(synthesized(stack), FUNCTION).values())


class TestInstalledElsewhere:
    def test_there_is_no_function_and_the_cluster_says_so(self, stack: cdk.Stack) -> None:
        found = cluster(stack, made(stack, hp.HelmChart.installed_elsewhere()))
        assert found["Metadata"]["hyperpod:intent"]["chart_elsewhere"] is True
        assert not of_type(synthesized(stack), FUNCTION)

    def test_nothing_is_said_where_nobody_says_anything(self, stack: cdk.Stack) -> None:
        found = cluster(stack, made(stack, None))
        assert "chart_elsewhere" not in found["Metadata"]["hyperpod:intent"]


class TestRefusals:
    def test_of_a_chart_that_is_not_complete_before_anything_is_made(self, stack: cdk.Stack, folder: Path) -> None:
        (folder / "charts" / "plugin-1.2.3.tgz").unlink()
        with pytest.raises(hp.InvalidValue, match="plugin"):
            made(stack, hp.HelmChart.directory(folder))
        assert stack.node.try_find_child("Kubernetes") is None

    def test_of_a_version_without_its_package(
        self, stack: cdk.Stack, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def missing(name: str) -> None:
            raise ModuleNotFoundError(name)

        monkeypatch.setattr(importlib, "import_module", missing)
        with pytest.raises(hp.InvalidValue, match=r"pip install 'hyperpod-constructs\[chart-1-34\]'"):
            made(stack, hp.HelmChart.directory(folder))

    def test_of_a_version_that_is_not_known(self, stack: cdk.Stack, folder: Path) -> None:
        version = cdk.CfnParameter(stack, "Version").value_as_string
        with pytest.raises(hp.InvalidValue, match="which kubectl installs the chart is not known"):
            made(stack, hp.HelmChart.directory(folder), version=version)

    @pytest.mark.parametrize("chart", [None, hp.HelmChart.installed_elsewhere()])
    def test_of_kubectl_without_a_chart_to_install(self, stack: cdk.Stack, chart: hp.HelmChart | None) -> None:
        arn = "arn:aws:lambda:us-west-2:111122223333:layer:kubectl:1"
        layer = lambda_.LayerVersion.from_layer_version_arn(stack, "Mine", arn)
        with pytest.raises(hp.InvalidValue, match="kubectl_layer has no effect"):
            made(stack, chart, kubectl_layer=layer)
