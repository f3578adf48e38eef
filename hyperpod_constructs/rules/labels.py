"""What can be known about Kubernetes labels and taints of nodes: HP10xx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.kubernetes import KubernetesConfig, Taint
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import all_of, named

_RESERVED: Final = (
    "kubernetes.io",
    "k8s.io",
    "sagemaker.amazonaws.com",
    "eks.amazonaws.com",
    "k8s.aws",
    "karpenter.sh",
)
_LISTED: Final = ", ".join(f"{domain}/" for domain in _RESERVED)
_PAGE: Final = "SageMaker developer guide, sagemaker-hyperpod-eks-custom-labels-and-taints (2026)"


def _configured(deployment: Deployment) -> Iterator[tuple[InstanceGroup, str, KubernetesConfig]]:
    for _, group, path in deployment.groups():
        if isinstance(group.kubernetes, KubernetesConfig):
            yield group, path, group.kubernetes


def taints(config: KubernetesConfig) -> list[Taint]:
    """The taints of a group, as far as known."""
    return [each for each in config.taints if isinstance(each, Taint)] if isinstance(config.taints, tuple) else []


def _is_reserved(key: str) -> bool:
    """Whether the domain before the name, or one above it, belongs to a system component."""
    domain, slash, _ = key.partition("/")
    return bool(slash) and any(domain == each or domain.endswith(f".{each}") for each in _RESERVED)


@rule(
    "HP1022",
    Severity.WARNING,
    title="A label or taint has a reserved prefix",
    because="system components write these, and AWS's page says not to; what becomes of such a one is not documented",
    source=_PAGE,
)
def labels_leave_reserved_prefixes(deployment: Deployment) -> Iterator[Problem]:
    for group, path, config in _configured(deployment):
        labels = list(config.labels) if isinstance(config.labels, dict) else []
        named_taints = [taint.key for taint in taints(config) if isinstance(taint.key, str)]
        for kind, keys in (("label", labels), ("taint", named_taints)):
            if reserved := [key for key in dict.fromkeys(keys) if _is_reserved(key)]:
                yield Problem(
                    path=path,
                    message=f"{named(group)} has the {kind}{'s' if len(reserved) > 1 else ''} {all_of(reserved)}",
                    fix=f"use a prefix of your own, or none; reserved are {_LISTED}",
                )


@rule(
    "HP1023",
    Severity.WARNING,
    title="A taint stands twice in one group",
    because="Kubernetes takes a key once for each effect; what HyperPod makes of two is not documented",
    source="Kubernetes API, validation of node taints",
)
def taints_are_unique(deployment: Deployment) -> Iterator[Problem]:
    for group, path, config in _configured(deployment):
        found = [(taint.key, taint.effect) for taint in taints(config)]
        for key, effect in dict.fromkeys(found):
            if isinstance(key, str) and isinstance(effect, str) and found.count((key, effect)) > 1:
                yield Problem(
                    path=path,
                    message=f"{named(group)} has {found.count((key, effect))} taints {key} with effect {effect}",
                    fix="keep one of them",
                )
