"""Installs the chart that nodes need into an EKS cluster, with the CDK's own kubectl provider.

Two functions come with that, whose role may do everything in the EKS cluster. Where somebody else installs the chart
there is none of this.
"""

from __future__ import annotations

import importlib
import re
import tempfile
from pathlib import Path
from typing import Any, Final, cast

import aws_cdk as cdk
from aws_cdk import aws_eks as l1, aws_eks_v2 as eks, aws_lambda as lambda_, aws_s3_assets as assets
from constructs import Construct, DependencyGroup

from hyperpod_constructs.catalog.kubernetes import CHART_NAMESPACE, RELEASE
from hyperpod_constructs.cdk.network import Network
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.chart import HelmChart
from hyperpod_constructs.planning import chart as planning

ENDPOINTS: Final = ("eks", "lambda", "sts")
"""What the functions call besides S3, in a network without a way out."""
_MINOR: Final = re.compile(r"1\.(\d\d)")
_ADMIN: Final = "AmazonEKSClusterAdminPolicy"


def check_chart(chart: HelmChart, version: str, kubectl_layer: lambda_.ILayerVersion | None) -> None:
    """Refuses a chart that could not be installed, before anything is made.

    Args:
        chart: The chart.
        version: Kubernetes version of the EKS cluster.
        kubectl_layer: kubectl and Helm of the user's.

    Raises:
        InvalidValue: if it is not complete, or nothing brings kubectl of that version.
    """
    if chart.elsewhere:
        if kubectl_layer is not None:
            raise InvalidValue("kubectl_layer has no effect: the chart is installed elsewhere", "leave it out")
        return
    planning.prepared(chart)
    if kubectl_layer is None:
        _layer_class(version)


class InstalledChart(Construct):
    """A chart in an EKS cluster.

    Attributes:
        resource: What installs it, which nodes wait for.
        provider: The functions that install it.
        cluster: The EKS cluster with those functions.
        bucket: Name of the bucket that its files are uploaded to.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        chart: HelmChart,
        cluster_name: str,
        security_group_id: str,
        version: str,
        network: Network,
        kubectl_layer: lambda_.ILayerVersion | None,
    ) -> None:
        """Makes the functions and has them install the chart.

        Helm does not wait for what it installs: most of it runs on nodes, which come later.

        Args:
            scope: Parent construct.
            id: Name within the parent.
            chart: The chart, which is complete.
            cluster_name: Name of the EKS cluster.
            security_group_id: The security group that EKS made for it.
            version: Its Kubernetes version.
            network: Where its nodes stand, and the functions.
            kubectl_layer: kubectl and Helm of the user's.
        """
        super().__init__(scope, id)
        for service in ENDPOINTS:
            network.reach(service)
        layer = kubectl_layer or cast("lambda_.ILayerVersion", _layer_class(version)(self, "Kubectl"))
        about: dict[str, Any] = {
            "cluster_name": cluster_name,
            "cluster_security_group_id": security_group_id,
            "vpc": network.vpc,
        }
        groups = network.connections.security_groups
        self.provider = provider = eks.KubectlProvider(
            self,
            "Provider",
            cluster=eks.Cluster.from_cluster_attributes(self, "Cluster", **about),
            kubectl_layer=layer,
            private_subnets=network.vpc.private_subnets,
            security_groups=groups,
        )
        entry = self._let_in(cluster_name, cast("Any", provider.role).role_arn)
        files = self._asset(chart)
        self.bucket = files.s3_bucket_name
        self.cluster = eks.Cluster.from_cluster_attributes(self, "Ready", kubectl_provider=provider, **about)
        installed = eks.HelmChart(
            self,
            "Release",
            cluster=self.cluster,
            chart_asset=files,
            release=RELEASE,
            namespace=CHART_NAMESPACE,
            create_namespace=False,
            values=planning.values_for(chart, cdk.Stack.of(self).region),
        )
        self.resource = cast("cdk.CfnResource", cast("Any", installed.node.find_child("Resource")).node.default_child)
        self.resource.node.add_dependency(DependencyGroup(entry, network.ready))

    def _let_in(self, cluster_name: str, role_arn: str) -> l1.CfnAccessEntry:
        """Lets the functions do what Helm does: make roles and bindings of any kind."""
        entry = l1.CfnAccessEntry
        policy = f"arn:{cdk.Aws.PARTITION}:eks::aws:cluster-access-policy/{_ADMIN}"
        return l1.CfnAccessEntry(
            self,
            "Access",
            cluster_name=cluster_name,
            principal_arn=role_arn,
            access_policies=[
                entry.AccessPolicyProperty(policy_arn=policy, access_scope=entry.AccessScopeProperty(type="cluster"))
            ],
        )

    def _asset(self, chart: HelmChart) -> assets.Asset:
        """The files of the chart; the CDK copies them at once, and its hash is that of their contents."""
        with tempfile.TemporaryDirectory() as folder:
            digest = planning.publish(chart, Path(folder))
            return assets.Asset(self, "Files", path=folder, asset_hash=digest, asset_hash_type=cdk.AssetHashType.CUSTOM)


def _layer_class(version: str) -> Any:  # noqa: ANN401  # a class of a package that need not be installed
    """The layer with kubectl of a Kubernetes version, from a package of the CDK's own.

    Raises:
        InvalidValue: if the package is not installed, or the version is known only at deploy.
    """
    match = _MINOR.fullmatch(version)
    if match is None:
        raise InvalidValue(
            f"which kubectl installs the chart is not known: the Kubernetes version is {version!r}",
            "give kubectl_layer=, or a version such as 1.34",
        )
    name = f"aws_cdk.lambda_layer_kubectl_v{match[1]}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InvalidValue(
            f"kubectl for Kubernetes {version} is not installed: no package {name}",
            f"pip install 'hyperpod-constructs[chart-1-{match[1]}]', or give kubectl_layer=",
        ) from error
    return getattr(module, f"KubectlV{match[1]}Layer")
