"""EKS clusters, their add-ons, who may call them, and what installs charts into them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.model._reading import Fields, Node, each, otherwise, required
from hyperpod_constructs.model.control_plane import (
    AccessEntry,
    Addon,
    ChartInstall,
    ControlPlane,
    Kubernetes,
    OtherNodes,
    PodIdentity,
)
from hyperpod_constructs.model.template.resources import Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_CHARTS: Final = {
    # Of the CDK, and of the public extension that AWS's Quick Starts use: what they call the cluster and the release.
    "Custom::AWSCDK-EKS-HelmChart": ("ClusterName", "Release"),
    "AWSQS::Kubernetes::Helm": ("ClusterID", "Name"),
}


def kubernetes(resources: Resources, region: str | None) -> Kubernetes:
    """All that an assembly says of EKS clusters.

    Args:
        resources: Where to find them.
        region: Region of stacks that do not fix theirs.
    """
    return Kubernetes(
        control_planes=tuple(
            # On an Outpost it stands elsewhere, and by other rules.
            found.properties.build(
                ControlPlane,
                _CONTROL_PLANE,
                path=found.path,
                reached_by=found.reached_by,
                region=found.resource.stack.region or region,
                after=resources.created_before(found),
            )
            for found in resources.of("AWS::EKS::Cluster")
            if not found.properties["OutpostConfig"].given
        ),
        addons=tuple(
            found.properties.build(
                Addon, _ADDON, path=found.path, certain=found.certain, after=resources.created_before(found)
            )
            for found in resources.of("AWS::EKS::Addon")
        ),
        access_entries=tuple(
            found.properties.build(AccessEntry, _ACCESS_ENTRY, path=found.path)
            for found in resources.of("AWS::EKS::AccessEntry")
        ),
        pod_identities=tuple(
            found.properties.build(PodIdentity, _POD_IDENTITY, path=found.path, after=resources.created_before(found))
            for found in resources.of("AWS::EKS::PodIdentityAssociation")
        ),
        chart_installs=tuple(_chart_installs(resources)),
        other_nodes=tuple(
            found.properties.build(OtherNodes, _OTHER_NODES, path=found.path)
            for found in resources.of("AWS::EKS::Nodegroup", "AWS::EKS::FargateProfile")
        ),
    )


def _chart_installs(resources: Resources) -> Iterator[ChartInstall]:
    for kind, (cluster, release) in _CHARTS.items():
        for found in resources.of(kind):
            fields = {**_CHART, "control_plane": (cluster, required(Node.path)), "release": (release, Node.text)}
            yield found.properties.build(ChartInstall, fields, path=found.path)


def _configuration(node: Node) -> dict[str, object] | Unknown | None:
    """Configuration values, which EKS takes as JSON or YAML."""
    text = node.text()
    if not isinstance(text, str):
        return text
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else _from_yaml(text)
    except (ValueError, RecursionError) as error:
        node.report(f"is neither JSON nor YAML: {str(error).splitlines()[0]}", 'use JSON, such as {"key": "value"}')
        return UNKNOWN
    if found is None:
        return {}
    if not isinstance(found, dict):
        node.report(f"holds {type(found).__name__} {text[:40]!r}, and no map", 'use JSON, such as {"key": "value"}')
        return UNKNOWN
    return found


def _from_yaml(text: str) -> object:
    """What YAML holds; raises ValueError for what is none."""
    import yaml  # noqa: PLC0415  # who checks JSON needs no parser of YAML

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _given(node: Node) -> bool | Unknown:
    """Whether a list has something in it."""
    items = node.items()
    return UNKNOWN if items is UNKNOWN else bool(items)


def _policies(node: Node) -> tuple[str | Unknown, ...] | Unknown:
    return node.each(lambda policy: policy["PolicyArn"].must(Node.pattern))


_CONTROL_PLANE: Final[Fields] = {
    "name": ("Name", Node.text),
    "version": ("Version", Node.text),
    "authentication": ("AccessConfig.AuthenticationMode", Node.text),
    "subnets": ("ResourcesVpcConfig.SubnetIds", each(Node.path)),
    "security_groups": ("ResourcesVpcConfig.SecurityGroupIds", each(Node.path)),
    "public": ("ResourcesVpcConfig.EndpointPublicAccess", otherwise(Node.flag, default=True)),
    "public_cidrs": ("ResourcesVpcConfig.PublicAccessCidrs", each(Node.text)),
    "private": ("ResourcesVpcConfig.EndpointPrivateAccess", otherwise(Node.flag, default=False)),
    "bootstraps": ("BootstrapSelfManagedAddons", otherwise(Node.flag, default=True)),
    "auto": ("ComputeConfig.Enabled", otherwise(Node.flag, default=False)),
}
_ADDON: Final[Fields] = {
    "control_plane": ("ClusterName", required(Node.path)),
    "name": ("AddonName", required(Node.text)),
    "version": ("AddonVersion", Node.text),
    "configuration": ("ConfigurationValues", _configuration),
    "inline_identities": ("PodIdentityAssociations", _given),
    "role": ("ServiceAccountRoleArn", Node.path),
}
_ACCESS_ENTRY: Final[Fields] = {
    "control_plane": ("ClusterName", required(Node.path)),
    "principal": ("PrincipalArn", required(Node.path)),
    "kind": ("Type", otherwise(Node.text, default="STANDARD")),
    "groups": ("KubernetesGroups", each(Node.text)),
    "policies": ("AccessPolicies", _policies),
}
_POD_IDENTITY: Final[Fields] = {
    "control_plane": ("ClusterName", required(Node.path)),
    "namespace": ("Namespace", required(Node.text)),
    "service_account": ("ServiceAccount", required(Node.text)),
    "role": ("RoleArn", required(Node.path)),
}
_OTHER_NODES: Final[Fields] = {"control_plane": ("ClusterName", required(Node.path))}
_CHART: Final[Fields] = {"chart": ("Chart", Node.text), "namespace": ("Namespace", Node.text)}
