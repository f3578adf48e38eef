"""An EKS cluster with scheduler policies and quotas: sound by default, as in `builders`."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.model.control_plane import Addon, ControlPlane, Kubernetes
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.governance import Quota, QuotaShare, SchedulerPolicy
from tests.rules.builders import deployment, eks_cluster, kubernetes, told

P5 = "ml.p5.48xlarge"
ADDON = "amazon-sagemaker-hyperpod-taskgovernance"
PLANE = ControlPlane(path="Kubernetes", name="research")
EIGHT = eks_cluster(kubernetes(count=8))
"""A cluster `Train` of 8 `ml.p5.48xlarge`."""


def share(kind: Any = P5, **fields: Any) -> QuotaShare:
    return QuotaShare(instance_type=kind, **fields)


def instances(count: Any, kind: Any = P5) -> QuotaShare:
    return share(kind, count=count)


def policy(**fields: Any) -> SchedulerPolicy:
    """The policy `Policy` with one class, after its cluster and the add-on."""
    defaults = {"path": "Policy", "cluster": "Train", "name": "policy", "priorities": {"high": 100}}
    return SchedulerPolicy(**{**defaults, "after": frozenset({"Train", "Addon"}), **fields})


def quota(team: Any = "vision", *shares: Any, **fields: Any) -> Quota:
    """A quota of a team, after the policy; its path is the name of the team."""
    defaults = {"path": team, "cluster": "Train", "team": team, "name": team, "shares": shares}
    return Quota(**{**defaults, "after": frozenset({"Train", "Addon", "Policy"}), **fields})


def addon(**fields: Any) -> Addon:
    """The task governance add-on of `PLANE`."""
    return Addon(**{"path": "Addon", "control_plane": "Kubernetes", "name": ADDON, **fields})


def governed(*quotas: Quota, **fields: Any) -> Deployment:
    """`EIGHT` with its policy and these quotas."""
    clusters = fields.pop("clusters", (EIGHT,))
    defaults = {"scheduler_policies": (policy(),), "kubernetes": made(addon())}
    return deployment(*clusters, quotas=quotas, **{**defaults, **fields})


def made(*addons: Addon, plane: ControlPlane = PLANE) -> Kubernetes:
    """The EKS cluster with these add-ons."""
    return Kubernetes(control_planes=(plane,), addons=addons)


def of(rule: str, *quotas: Quota, **fields: Any) -> list[str]:
    """What a rule says of `EIGHT` with these quotas."""
    return told(rule, governed(*quotas, **fields))
