"""What outlives a cluster: network, file system, accounting database, EKS control plane, the topic for alerts.

A stack of its own, so that a cluster that failed, or is parked between campaigns, is created again on the same
foundation and the data stays where it is.

What a cluster may refer to is exported whether or not one does: CloudFormation updates a foundation first, and refuses
to take an export away that a cluster still has (field report J-04). For the same reason there is a topic even while
nobody is told. What is itself taken away (the file system, the last group in a zone) leaves in two steps: the cluster
first, `cdk deploy --exclusively ID`, then everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_iam as iam, aws_kms as kms, aws_lambda as lambda_
from constructs import Construct

from hyperpod_constructs.blueprints.nag import acknowledge_nag_of_database
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cdk.accounting import AccountingDatabase
from hyperpod_constructs.cdk.cluster_network import ClusterNetwork
from hyperpod_constructs.cdk.control_plane import EksControlPlane
from hyperpod_constructs.cdk.network import Egress, Network
from hyperpod_constructs.cdk.observability import AlertTopic
from hyperpod_constructs.cdk.storage import LustreFileSystem
from hyperpod_constructs.model.chart import HelmChart
from hyperpod_constructs.model.kubernetes import Endpoint
from hyperpod_constructs.model.storage import DataRepository, Lustre

NETWORK, STORAGE, ACCOUNTING, ALERTS = "Network", "Storage", "Accounting", "Alerts"
KUBERNETES = "Kubernetes"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlaneOptions:
    """What the EKS control plane of a foundation is; see `EksControlPlane`."""

    name: str
    version: str
    zones: Sequence[str] | None
    endpoint: Endpoint
    admins: Sequence[str]
    secrets_key: kms.IKey | None
    chart: HelmChart | None
    kubectl_layer: lambda_.ILayerVersion | None


class Foundation(cdk.Stack):
    """Network, file system, accounting database, EKS control plane and alert topic of one or more clusters.

    Attributes:
        network: The network.
        storage: The file system, if there is one.
        accounting: The accounting database, if there is one.
        control_plane: The EKS control plane, if there is one.
        alerts: The topic, if anybody is to be told.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        env: cdk.Environment | None,
        zones: Sequence[str],
        network: Network | None,
        cidr: str,
        egress: Egress,
        endpoints: Sequence[str] | None,
        storage: Lustre | None,
        repositories: Sequence[DataRepository],
        emails: Sequence[str],
        permissions_boundary: iam.IManagedPolicy | None,
        termination_protection: bool,
        acknowledge: Mapping[str, str] | None,
        accounting: bool = False,
        kubernetes: ControlPlaneOptions | None = None,
    ) -> None:
        """Makes the stack.

        Args:
            scope: Parent construct.
            id: Name within the parent.
            env: Account and Region.
            zones: Zone ids, that of the cluster first.
            network: A network of the user's; otherwise one is made.
            cidr: Block of the network that is made.
            egress: How its nodes reach the outside.
            endpoints: Its interface endpoints.
            storage: File system to make.
            repositories: S3 prefixes that it mirrors.
            emails: Who is told.
            permissions_boundary: Boundary of the roles that are made.
            termination_protection: Whether the stack refuses to be deleted.
            acknowledge: Rule ids and reasons of errors that are accepted.
            accounting: Whether there is a database for Slurm's accounting.
            kubernetes: The EKS control plane to make.
        """
        super().__init__(
            scope,
            id,
            env=env,
            description="HyperPod foundation: network, file system and alerts, which outlive clusters",
            termination_protection=termination_protection,
        )
        self.network = network or ClusterNetwork(
            self,
            NETWORK,
            zones=zones,
            cidr=cidr,
            egress=egress,
            endpoints=endpoints,
            permissions_boundary=permissions_boundary,
        )
        self.storage = (
            LustreFileSystem(
                self,
                STORAGE,
                network=self.network,
                zone=self.network.model.standing(zones[0]),
                lustre=storage,
                repositories=repositories,
                acknowledge=acknowledge,
            )
            if storage
            else None
        )
        topic = AlertTopic(self, ALERTS, emails=emails, publishers=["events.amazonaws.com"])
        self.alerts = topic if emails else None
        self.accounting = AccountingDatabase(self, ACCOUNTING, network=self.network) if accounting else None
        if self.accounting:
            # Last of all: it refuses to be deleted, so that a first deploy that failed later could not be taken back.
            acknowledge_nag_of_database(self.accounting)
            for each in filter(None, (self.network.ready, self.storage, topic)):
                self.accounting.resource.node.add_dependency(each)
        self.control_plane = (
            EksControlPlane(
                self,
                KUBERNETES,
                network=self.network,
                name=kubernetes.name,
                version=kubernetes.version,
                zones=kubernetes.zones,
                endpoint=kubernetes.endpoint,
                admins=kubernetes.admins,
                secrets_key=kubernetes.secrets_key,
                chart=kubernetes.chart,
                kubectl_layer=kubernetes.kubectl_layer,
                permissions_boundary=permissions_boundary,
                acknowledge=acknowledge,
            )
            if kubernetes
            else None
        )
        for attribute in self._offered(topic.topic_arn, own_network=network is None):
            self.export_value(attribute)

    def _offered(self, topic_arn: str, *, own_network: bool) -> Iterator[str]:
        """What a cluster in another stack may refer to."""
        yield topic_arn
        if own_network:
            yield from self.network.security_group_ids
            yield from (subnet for zone in self.network.zones for subnet in self.network.ids(zone).subnets)
        if self.storage:
            yield from (self.storage.target.dns_name, self.storage.target.mount_name)
        if self.accounting:
            yield from (str(self.accounting.database.endpoint), str(self.accounting.database.secret_arn))
        if self.control_plane:
            yield from (self.control_plane.cluster_name, self.control_plane.cluster_arn)
            if self.control_plane.chart:
                yield self.control_plane.chart.provider.service_token
