"""A sound HyperPod cluster on an EKS cluster of the same template, with what belongs into it, for tests of rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.rules import networks
from tests.rules.networks import KUBERNETES, NETWORK, Change, ref, resource

CHART: dict[str, Any] = {
    "Type": "AWSQS::Kubernetes::Helm",
    "Properties": {"ClusterID": ref("Eks"), "Name": "hyperpod-dependencies", "Namespace": "kube-system"},
}
VPC = {**KUBERNETES["Eks"]["Properties"]["ResourcesVpcConfig"], "EndpointPrivateAccess": True}
BEFORE = [*NETWORK["Cluster"]["DependsOn"], "Chart"]
"""What the cluster waits for."""
SOUND: dict[str, Any] = {
    "Eks": {"ResourcesVpcConfig": {**VPC, "EndpointPublicAccess": False}},
    "Chart": CHART,
    "Cluster": {"DependsOn": BEFORE, "Tags": [{"Key": "SageMaker", "Value": "true"}]},
}
CUSTOM = {"Type": "Custom::Installer", "Properties": {"ServiceToken": "arn:x", "Cluster": ref("Eks")}}
"""Something that nobody can read."""


def addon(name: str, *after: str, **properties: Any) -> dict[str, Any]:
    """An add-on that waits for the HyperPod cluster and more."""
    fields = {"ClusterName": ref("Eks"), "AddonName": name, **properties}
    return resource("AWS::EKS::Addon", "Cluster", *after, **fields)


def early(name: str, **properties: Any) -> dict[str, Any]:
    """An add-on that does not wait for the HyperPod cluster."""
    return resource("AWS::EKS::Addon", ClusterName=ref("Eks"), AddonName=name, **properties)


def of(rule: str, **changes: Any) -> list[str]:
    """`path: message | fix` of each finding of one rule in the sound template with changes."""
    return networks.of(rule, KUBERNETES, SOUND, changes)


def rules(*changes: Mapping[str, Change]) -> list[str]:
    """Rules about EKS that are broken in the sound template with changes, each once."""
    found = networks.findings(KUBERNETES, SOUND, *changes)
    return sorted({each.rule for each in found if each.rule.startswith("HP24")})
