"""The EKS cluster that HyperPod nodes join, with what must be in it before the first of them comes.

It belongs to what outlives a HyperPod cluster: HyperPod takes its access entries back while it is deleted, and needs
the EKS cluster for that.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import aws_cdk as cdk
from aws_cdk import (
    aws_ec2 as ec2,
    aws_eks as eks,
    aws_eks_v2 as eks_v2,
    aws_iam as iam,
    aws_kms as kms,
    aws_lambda as lambda_,
)
from constructs import Construct, DependencyGroup

from hyperpod_constructs.catalog import endpoints, kubernetes
from hyperpod_constructs.cdk import validation
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cdk.chart import InstalledChart, check_chart
from hyperpod_constructs.cdk.network import LOCKED, Network
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.addons import Addon
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.chart import HelmChart
from hyperpod_constructs.model.control_plane import ControlPlane, Kubernetes
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.kubernetes import Endpoint
from hyperpod_constructs.model.network import check_id
from hyperpod_constructs.tokens import UNKNOWN, is_token

DEFAULT_VERSION: Final = "1.34"
"""A Kubernetes version that HyperPod and every add-on of it take, see `catalog.kubernetes.EVERY_ADDON`."""
BEFORE_NODES: Final = tuple(sorted(name for name, addon in kubernetes.ADDONS.items() if addon.runs == "daemonsets"))
"""Add-ons that run on every node and nowhere else, so that EKS calls them active before there is one."""
PRINCIPAL: Final = re.compile(r"arn:[\w-]+:iam::\d{12}:(role|user)/.+")
"""Who can have an access entry."""
_NAME: Final = re.compile(r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}")
_ARN: Final = re.compile(r"arn:[\w-]+:eks:[\w-]+:\d{12}:cluster/[0-9A-Za-z][A-Za-z0-9_-]{0,99}")
_LOGS: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_ADMIN: Final = "AmazonEKSClusterAdminPolicy"
_NO_ID: Final = re.compile(r"[^A-Za-z0-9]+")


class IControlPlane(Protocol):
    """What a HyperPod cluster needs of an EKS cluster, whoever made it."""

    @property
    def cluster_name(self) -> str:
        """Name of the EKS cluster."""

    @property
    def cluster_arn(self) -> str:
        """Its ARN."""

    @property
    def version(self) -> str | None:
        """Its Kubernetes version, where it is known."""

    @property
    def model(self) -> ControlPlane | None:
        """The EKS cluster as the rules see it, where it is made here."""

    @property
    def chart_elsewhere(self) -> bool:
        """Whether somebody else installs the chart that nodes need."""

    @property
    def kubectl(self) -> eks_v2.ICluster | None:
        """The EKS cluster with what applies manifests to it, where the chart is installed here."""

    @property
    def ready(self) -> DependencyGroup:
        """What nodes need of it and no property refers to."""

    @property
    def admins(self) -> Sequence[str]:
        """Principals that have an access entry here already."""


def control_plane_model(
    path: str, *, name: str, version: str, endpoint: Endpoint, security_groups: Sequence[str]
) -> ControlPlane:
    """An EKS cluster of ours as the rules see it, before anything of it exists."""
    return ControlPlane(
        path=path,
        name=name,
        version=version,
        authentication="API",
        subnets=UNKNOWN,
        security_groups=tuple(security_groups),
        public=bool(endpoint.public_cidrs),
        public_cidrs=tuple(endpoint.public_cidrs),
        private=True,
        reached_by=frozenset("*"),  # add-ons and the chart are yet to come
    )


class EksControlPlane(Construct):
    """An EKS cluster for HyperPod: access entries, a private endpoint, control-plane logs, and what nodes need first.

    Its own interfaces stand in two small subnets and in the security group of the nodes, whose rules let both sides
    call each other. The add-ons that run on every node (`vpc-cni`, `kube-proxy`, `eks-pod-identity-agent`) are
    installed here; those that are Deployments wait for nodes, see `hp.ClusterAddons`.

    Nobody may call the Kubernetes API unless `admins` name them: not even who deployed it. HyperPod makes its own
    access entries. Its log group `/aws/eks/NAME/cluster` is made by EKS and never expires.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        network: Where it and the nodes stand.
        name: Name of the EKS cluster, 1 to 100 letters, digits, hyphens and underscores. Fixed on purpose, like that
            of a HyperPod cluster: what would replace it is refused, because the name is in use.
        version: Kubernetes version. Goes up one minor version at a time and never down.
        zones: Zone ids of its subnets, two or more. Defaults to that of the cluster and the first other one that we
            know of the Region.
        subnet_ids: Subnets in two or more zones, instead of new ones; an imported network needs them.
        endpoint: `hp.Endpoint.private()`, the default, which only nodes reach; `hp.Endpoint.private(cidrs=[...])`,
            which a VPN or a bastion reaches too; or `hp.Endpoint.public(cidrs=[...])`, which nodes reach within the
            VPC.
        admins: ARNs of roles that may do everything in it.
        secrets_key: Customer key of Kubernetes secrets; cannot be changed later. Defaults to a key that AWS owns.
        chart: Who installs the chart that nodes need, which must be there before the first of them:
            `hp.HelmChart.installed_elsewhere()`, or `hp.HelmChart.directory(...)`, which is installed here by two
            functions that may do everything in the EKS cluster.
        kubectl_layer: kubectl and Helm for that. Defaults to the CDK's package for the Kubernetes version, an extra
            such as `hyperpod-constructs[chart-1-34]`.
        addons: Versions and configuration of the add-ons that are installed here.
        permissions_boundary: Boundary of the role that is made.
        tags: Tags of the EKS cluster.
        acknowledge: Rule ids and reasons of errors that are accepted.

    Attributes:
        cluster_name: Its name.
        cluster_arn: Its ARN.
        version: Its Kubernetes version.
        security_group_id: The security group that EKS makes for it.
        ready: What nodes need of it and no property refers to.
        model: The EKS cluster as the rules see it.
        chart: What installs the chart, if it is installed here.
        chart_elsewhere: Whether somebody else installs it.
        admins: Who has an access entry.

    Raises:
        InvalidCluster: with every error that the rules find.
        InvalidValue: if an argument cannot be right.

    Source: SageMaker developer guide, sagemaker-hyperpod-eks-prerequisites (October 2026).
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: Network,
        name: str,
        version: str = DEFAULT_VERSION,
        zones: Sequence[str] | None = None,
        subnet_ids: Sequence[str] | None = None,
        endpoint: Endpoint | None = None,
        admins: Sequence[str] = (),
        secrets_key: kms.IKey | None = None,
        chart: HelmChart | None = None,
        kubectl_layer: lambda_.ILayerVersion | None = None,
        addons: Sequence[Addon] = (),
        permissions_boundary: iam.IManagedPolicy | None = None,
        tags: Mapping[str, str] | None = None,
        acknowledge: Mapping[str, str] | None = None,
    ) -> None:
        """Checks everything, then makes the EKS cluster."""
        endpoint = Endpoint.private() if endpoint is None else endpoint
        check_fields("endpoint: ", endpoint)
        _check_name(name)
        check_admins(admins)
        chosen = _check_addons(addons)
        if chart is not None:
            check_chart(chart, version, kubectl_layer)
        elif kubectl_layer is not None:
            raise InvalidValue("kubectl_layer has no effect without chart=hp.HelmChart.directory(...)")
        seen = control_plane_model(
            f"{scope.node.path}/{id}",
            name=name,
            version=version,
            endpoint=endpoint,
            security_groups=network.model.groups,
        )
        validation.refuse_errors(Deployment(kubernetes=Kubernetes(control_planes=(seen,))), acknowledge)
        subnets = _subnets(network, zones, subnet_ids)
        super().__init__(scope, id)
        self.model = seen
        self.version = version
        self.chart_elsewhere = chart is not None and chart.elsewhere
        self.admins = tuple(admins)
        self.resource = self._make_resource(
            name=name,
            version=version,
            subnets=subnets,
            groups=[*network.security_group_ids, *self._make_callers(name, network, endpoint)],
            endpoint=endpoint,
            key=secrets_key,
            boundary=permissions_boundary,
            tags=tags or {},
        )
        self.cluster_name = self.resource.ref
        self.cluster_arn = self.resource.attr_arn
        self.security_group_id = self.resource.attr_cluster_security_group_id
        for admin in admins:
            self._make_admin(admin)
        self.ready = DependencyGroup(*(self._make_addon(each, chosen) for each in BEFORE_NODES))
        self.chart: InstalledChart | None = None
        if chart is not None and not chart.elsewhere:
            self.chart = InstalledChart(
                self,
                "Chart",
                chart=chart,
                cluster_name=self.cluster_name,
                security_group_id=self.security_group_id,
                version=version,
                network=network,
                kubectl_layer=kubectl_layer,
            )
            self.ready.add(self.chart.resource)
        for service in endpoints.NEEDED["eks"]:
            network.reach(service)
        validation.register(self)
        validation.record(self, acknowledge)

    @property
    def kubectl(self) -> eks_v2.ICluster | None:
        """The EKS cluster with what applies manifests to it, where the chart is installed here."""
        return self.chart.cluster if self.chart else None

    def _make_callers(self, name: str, network: Network, endpoint: Endpoint) -> list[str]:
        """A security group of the API's interfaces that lets others than nodes call it; none where nobody else may."""
        if not endpoint.private_cidrs:
            return []
        made = ec2.CfnSecurityGroup
        group = made(
            self,
            "Callers",
            group_description=f"Callers of the Kubernetes API of {name}",
            vpc_id=network.vpc_id,
            security_group_ingress=[
                made.IngressProperty(ip_protocol="tcp", from_port=443, to_port=443, cidr_ip=block)
                for block in endpoint.private_cidrs
            ],
        )
        return [group.attr_group_id]

    def _make_resource(
        self,
        *,
        name: str,
        version: str,
        subnets: Sequence[str],
        groups: Sequence[str],
        endpoint: Endpoint,
        key: kms.IKey | None,
        boundary: iam.IManagedPolicy | None,
        tags: Mapping[str, str],
    ) -> eks.CfnCluster:
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("eks.amazonaws.com"),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AmazonEKSClusterPolicy")],
            permissions_boundary=boundary,
        )
        made = eks.CfnCluster
        resource = made(
            self,
            "Resource",
            name=name,
            version=version,
            role_arn=role.role_arn,
            access_config=made.AccessConfigProperty(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            resources_vpc_config=made.ResourcesVpcConfigProperty(
                subnet_ids=list(subnets),
                security_group_ids=list(groups),
                endpoint_private_access=True,
                endpoint_public_access=bool(endpoint.public_cidrs),
                public_access_cidrs=list(endpoint.public_cidrs) or None,
            ),
            logging=made.LoggingProperty(
                cluster_logging=made.ClusterLoggingProperty(
                    enabled_types=[made.LoggingTypeConfigProperty(type=kind) for kind in _LOGS]
                )
            ),
            encryption_config=[
                made.EncryptionConfigProperty(
                    provider=made.ProviderProperty(key_arn=key.key_arn), resources=["secrets"]
                )
            ]
            if key
            else None,
            tags=[cdk.CfnTag(key=each, value=value) for each, value in sorted(tags.items())] or None,
        )
        resource.apply_cross_stack_reference_strength(LOCKED)
        return resource

    def _make_admin(self, principal: str) -> None:
        policy = f"arn:{cdk.Aws.PARTITION}:eks::aws:cluster-access-policy/{_ADMIN}"
        eks.CfnAccessEntry(
            self,
            f"Admin-{named(self, principal)}",
            cluster_name=self.cluster_name,
            principal_arn=principal,
            access_policies=[
                eks.CfnAccessEntry.AccessPolicyProperty(
                    policy_arn=policy, access_scope=eks.CfnAccessEntry.AccessScopeProperty(type="cluster")
                )
            ],
        )

    def _make_addon(self, name: str, chosen: Mapping[str, Addon]) -> eks.CfnAddon:
        addon = chosen.get(name, Addon(name=name))
        return eks.CfnAddon(
            self,
            f"Addon-{name}",
            cluster_name=self.cluster_name,
            addon_name=name,
            addon_version=addon.version,
            configuration_values=written(self, addon),
            # EKS brings vpc-cni and kube-proxy along; the add-on takes them over.
            resolve_conflicts="OVERWRITE",
        )

    @staticmethod
    @checked
    def from_arn(cluster_arn: str, *, version: str | None = None, admins: Sequence[str] = ()) -> IControlPlane:
        """An EKS cluster that exists. Nothing of it is made or changed here.

        It must be of the account, Region and VPC of the HyperPod cluster and have access entries (`API` or
        `API_AND_CONFIG_MAP`), `vpc-cni` 1.18.3 or newer, `kube-proxy`, `eks-pod-identity-agent` and the chart that
        nodes need; `hyperpod preflight` looks. Security groups of nodes and EKS cluster must let each other in: give
        the network of the nodes the EKS cluster's own group (`security_group_ids=`), or add rules.

        Args:
            cluster_arn: Its ARN.
            version: Its Kubernetes version, for rules about add-ons.
            admins: Principals that have an access entry already, to which none is given here.

        Raises:
            InvalidValue: if the text is no ARN of an EKS cluster, or version or admins are no such things.
        """
        check_admins(admins)
        if version is not None and not is_token(version) and not re.fullmatch(kubernetes.VERSION_PATTERN, version):
            raise InvalidValue(f"version is {version!r}", "use a version of Kubernetes, such as '1.34'")
        if not is_token(cluster_arn) and not _ARN.fullmatch(cluster_arn):
            raise InvalidValue(
                f"cluster_arn is {cluster_arn!r}",
                "use the ARN of an EKS cluster: arn:aws:eks:REGION:ACCOUNT:cluster/NAME",
            )
        return _ImportedControlPlane(cluster_arn, version, admins)


class _ImportedControlPlane:
    """See `EksControlPlane.from_arn`."""

    def __init__(self, arn: str, version: str | None, admins: Sequence[str]) -> None:
        self.cluster_arn = arn
        self.cluster_name = cdk.Fn.select(1, cdk.Fn.split("/", arn)) if is_token(arn) else arn.rpartition("/")[2]
        self.version = version
        self.model: ControlPlane | None = None
        self.chart_elsewhere = False
        self.kubectl: eks_v2.ICluster | None = None
        self.ready = DependencyGroup()
        self.admins = tuple(admins)


def named(scope: Construct, principal: str) -> str:
    """What tells principals apart in logical ids: the last part of an ARN, and a piece of its hash.

    Of a token it is the hash of what stands in the template for it: tokens themselves have other numbers in every app.
    """
    in_template = json.dumps(cdk.Stack.of(scope).resolve(principal)) if is_token(principal) else principal
    last = "" if is_token(principal) else _NO_ID.sub("", principal.rpartition("/")[2])
    return f"{last or 'Role'}-{hashlib.sha256(in_template.encode()).hexdigest()[:8]}"


def written(scope: Construct, addon: Addon) -> str | None:
    """The configuration of an add-on as EKS wants it: text that holds JSON, in a stable order."""
    if not addon.configuration:
        return None
    ordered = json.loads(json.dumps(addon.configuration, sort_keys=True))
    return cdk.Stack.of(scope).to_json_string(ordered)


def _check_name(name: str) -> None:
    if not is_token(name) and not _NAME.fullmatch(name):
        raise InvalidValue(
            f"EKS cluster name is {name!r}", "use 1 to 100 letters, digits, hyphens and underscores, no hyphen first"
        )


def check_admins(admins: Sequence[str]) -> None:
    """Raises `InvalidValue` unless the texts are different ARNs of roles or users; tokens pass."""
    for admin in admins:
        if not is_token(admin) and not PRINCIPAL.fullmatch(admin):
            raise InvalidValue(f"admins hold {admin!r}", "use ARNs of roles: arn:aws:iam::111122223333:role/Platform")
    if len(set(admins)) < len(admins):
        raise InvalidValue(f"admins are {list(admins)!r}", "name each once")


def _check_addons(addons: Sequence[Addon]) -> Mapping[str, Addon]:
    chosen: dict[str, Addon] = {}
    for addon in addons:
        if addon.name not in BEFORE_NODES:
            raise InvalidValue(
                f"add-on {addon.name} is not among those that are installed before nodes",
                f"give hp.ClusterAddons(addons=[...]) that one; here go {', '.join(BEFORE_NODES)}",
            )
        if addon.name in chosen:
            raise InvalidValue(f"add-on {addon.name} is given twice", "name each once")
        chosen[addon.name] = addon
    return chosen


def _subnets(network: Network, zones: Sequence[str] | None, subnet_ids: Sequence[str] | None) -> Sequence[str]:
    """The subnets that are given, else new ones."""
    if subnet_ids is None:
        return network.control_plane_subnets(zones)
    if zones is not None:
        raise InvalidValue("zones have no effect beside subnet_ids, which have their own")
    for each in subnet_ids:
        check_id("subnet_ids", each, "subnet")
    if len(set(subnet_ids)) < 2 and not is_token(subnet_ids):  # noqa: PLR2004  # what EKS asks for
        raise InvalidValue(f"subnet_ids are {list(subnet_ids)!r}", "give two or more subnets in different zones")
    return subnet_ids
