"""What only EKS clusters have, from a cluster or one of its groups."""

from __future__ import annotations

from typing import Final

from hyperpod_constructs.model._reading import Fields, Node, each, otherwise, required
from hyperpod_constructs.model.kubernetes import AutoScaling, KubernetesConfig, Taint, TieredStorage
from hyperpod_constructs.tokens import Unknown


def kubernetes_config(node: Node) -> KubernetesConfig:
    """Labels and taints of a group."""
    return node.build(KubernetesConfig, _KUBERNETES)


def _labels(node: Node) -> dict[str, str | Unknown] | Unknown | None:
    found = node.mapping()
    return {str(key): node[str(key)].must(Node.text) for key in found} if isinstance(found, dict) else found


def _taint(node: Node) -> Taint | Unknown | None:
    return node.optional(lambda given: given.build(Taint, _TAINT))


def autoscaling(node: Node) -> AutoScaling:
    """Whether and how a cluster scales itself."""
    return node.build(AutoScaling, _AUTOSCALING)


def tiered_storage(node: Node) -> TieredStorage:
    """Checkpoints in the memory of nodes."""
    return node.build(TieredStorage, _TIERED_STORAGE)


_TAINT: Final[Fields] = {
    "key": ("Key", required(Node.text)),
    "effect": ("Effect", required(Node.text)),
    "value": ("Value", Node.text),
}
_KUBERNETES: Final[Fields] = {
    "labels": ("Labels", otherwise(_labels, default={})),
    "taints": ("Taints", each(_taint)),
}
_AUTOSCALING: Final[Fields] = {"mode": ("Mode", required(Node.text)), "scaler": ("AutoScalerType", Node.text)}
_TIERED_STORAGE: Final[Fields] = {
    "mode": ("Mode", required(Node.text)),
    "memory_percent": ("InstanceMemoryAllocationPercentage", Node.whole),
}
