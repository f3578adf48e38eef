"""Who may submit as which team on EKS: access entries, and roles for jobs where we hold the access of the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import aws_cdk as cdk
from aws_cdk import aws_eks as l1, aws_eks_v2 as eks
from constructs import Construct

from hyperpod_constructs.catalog.kubernetes import TEAM_NAMESPACE
from hyperpod_constructs.cdk.control_plane import PRINCIPAL, IControlPlane, named
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.governance import TaskGovernance
from hyperpod_constructs.tokens import is_token

_EDIT: Final = "AmazonEKSEditPolicy"
_ROLE: Final = "hyperpod-team"
_RBAC: Final = "rbac.authorization.k8s.io"
_RULES: Final[Sequence[Mapping[str, Sequence[str]]]] = (
    {"apiGroups": ("kubeflow.org", "sagemaker.amazonaws.com"), "resources": ("*",), "verbs": ("*",)},
    {
        "apiGroups": ("kueue.x-k8s.io",),
        "resources": ("localqueues", "workloads"),
        "verbs": ("get", "list", "watch"),
    },
)
"""Training jobs, and what Kueue makes of them. AWS's edit policy is not known to cover either."""


def namespace_of(team: str) -> str:
    """The namespace that HyperPod makes for a team, and the Kubernetes group of its members."""
    return f"{TEAM_NAMESPACE}{team}"


def make_access(scope: Construct, members: Mapping[str, Sequence[str]], control_plane: IControlPlane) -> None:
    """Gives every member an entry that lets it edit what is in the namespaces of its teams.

    Args:
        scope: Parent construct.
        members: Teams by principal.
        control_plane: The EKS cluster.
    """
    entry = l1.CfnAccessEntry
    for principal, teams in members.items():
        namespaces = [namespace_of(team) for team in teams]
        policy = f"arn:{cdk.Aws.PARTITION}:eks::aws:cluster-access-policy/{_EDIT}"
        l1.CfnAccessEntry(
            scope,
            f"Member-{named(scope, principal)}",
            cluster_name=control_plane.cluster_name,
            principal_arn=principal,
            kubernetes_groups=namespaces,
            access_policies=[
                entry.AccessPolicyProperty(
                    policy_arn=policy,
                    access_scope=entry.AccessScopeProperty(type="namespace", namespaces=namespaces),
                )
            ],
        )


def bind(scope: Construct, team: str, cluster: eks.ICluster, *, after: cdk.CfnResource) -> None:
    """Lets the members of a team make training jobs in its namespace.

    Args:
        scope: Parent construct.
        team: Name of the team.
        cluster: The EKS cluster, with what applies manifests to it.
        after: The team's quota, with which the namespace comes.
    """
    namespace = namespace_of(team)
    role: dict[str, Any] = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "Role",
        "metadata": {"name": _ROLE, "namespace": namespace},
        "rules": [{key: list(values) for key, values in rule.items()} for rule in _RULES],
    }
    binding: dict[str, Any] = {
        **{key: role[key] for key in ("apiVersion", "metadata")},
        "kind": "RoleBinding",
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": _ROLE},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": namespace}],
    }
    manifest = eks.KubernetesManifest(scope, f"Jobs-{team}", cluster=cluster, manifest=[role, binding], prune=False)
    manifest.node.add_dependency(after)


def members_of(governance: TaskGovernance, admins: Sequence[str]) -> dict[str, list[str]]:
    """Teams by member: EKS has one access entry for each principal.

    Args:
        governance: The teams.
        admins: Who has an access entry already.

    Raises:
        InvalidValue: if a member is no role or user, or has an entry already, or a team has what EKS has not.
    """
    found: dict[str, list[str]] = {}
    for team in sorted(governance.teams, key=lambda team: team.name):
        if team.priorities:
            raise InvalidValue(
                f"team {team.name!r} has priorities, and on EKS every team may use every class",
                "leave priorities of the team out",
            )
        for member in team.members:
            if not is_token(member) and not PRINCIPAL.fullmatch(member):
                raise InvalidValue(
                    f"team {team.name!r} has member {member!r}",
                    "use ARNs of roles on EKS: arn:aws:iam::111122223333:role/Vision",
                )
            found.setdefault(member, []).append(team.name)
    if twice := sorted(set(found) & set(admins)):
        raise InvalidValue(
            f"{twice[0]} is a member of {', '.join(found[twice[0]])} and has an access entry of the EKS cluster "
            "already, which is not changed here",
            "take it out of members, or out of admins",
        )
    return found
