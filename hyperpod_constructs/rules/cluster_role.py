"""The role with which a cluster scales itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog.permissions import KEY_ACTIONS, SCALING_ACTIONS
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.identity import Role
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._permissions import cure, lacking
from hyperpod_constructs.rules._words import all_of
from hyperpod_constructs.rules.autoscaling import scaling
from hyperpod_constructs.tokens import UNKNOWN

_SERVICE: Final = "hyperpod.sagemaker.amazonaws.com"
_PAGE: Final = "SageMaker developer guide, sagemaker-hyperpod-eks-autoscaling-iam (2026)"


def _scaling_roles(deployment: Deployment) -> Iterator[tuple[Role, list[Cluster]]]:
    """Each role with which clusters scale themselves, once, with those clusters."""
    found: dict[str, tuple[Role, list[Cluster]]] = {}
    for cluster in scaling(deployment):
        role = deployment.role(cluster.cluster_role)
        if role is not None:
            found.setdefault(role.path, (role, []))[1].append(cluster)
    yield from found.values()


@rule(
    "HP7014",
    Severity.ERROR,
    title="ClusterRole cannot be assumed by HyperPod",
    because="autoscaling has a service principal of its own; that of nodes is another one",
    source=_PAGE,
)
def hyperpod_assumes_the_cluster_role(deployment: Deployment) -> Iterator[Problem]:
    for role, _ in _scaling_roles(deployment):
        if isinstance(role.trusts, tuple) and not {_SERVICE, UNKNOWN} & set(role.trusts):
            yield Problem(
                path=role.path,
                message=f"the ClusterRole trusts {', '.join(map(str, role.trusts)) or 'no service'}, not {_SERVICE}",
                fix=f"write Principal: {{Service: {_SERVICE}}} in its AssumeRolePolicyDocument "
                f"(assumed_by=iam.ServicePrincipal({_SERVICE!r}))",
            )


@rule(
    "HP7015",
    Severity.WARNING,
    title="ClusterRole lacks what autoscaling does with it",
    because="Karpenter then sees pods that wait and adds no node",
    source=_PAGE,
)
def cluster_roles_can_scale(deployment: Deployment) -> Iterator[Problem]:
    for role, clusters in _scaling_roles(deployment):
        keyed = any(
            volume.kms_key is not None
            for cluster in clusters
            for group in cluster.groups
            for volume in (group.volumes if isinstance(group.volumes, tuple) else ())
        )
        wanted = dict.fromkeys(SCALING_ACTIONS, "arn:*:sagemaker:*:*:cluster/*")
        wanted |= dict.fromkeys(KEY_ACTIONS, "arn:*:kms:*:*:key/*") if keyed else {}
        if missing := lacking(role, wanted):
            on_key = " on the volumes' keys" if any(action in KEY_ACTIONS for action in missing) else ""
            yield Problem(
                path=role.path,
                message=f"the ClusterRole lacks {all_of(missing)}",
                fix=cure(
                    role,
                    missing,
                    f"allow {all_of(missing)}{on_key}; the id in a cluster's ARN is made at creation, so use "
                    "arn:aws:sagemaker:REGION:ACCOUNT:cluster/*",
                ),
            )
