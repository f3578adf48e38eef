"""Whether the customer keys of volumes can be used: a node whose volume cannot be decrypted ends as it starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog.permissions import KEY_ACTIONS
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.identity import Key
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._permissions import cure, lacking, users
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_PAGE: Final = "SageMaker developer guide, smcluster-cmk (2026)"
_REPORTS: Final = "aws/karpenter-provider-aws issue 1407, aws/aws-cdk issue 34491"
_EVERY_KEY: Final = "arn:*:kms:*:*:key/*"


def _uses(deployment: Deployment) -> Iterator[tuple[Key, InstanceGroup, str | None]]:
    """Keys of the deployment, with each group whose volumes they encrypt and the path or ARN of its role."""
    for _, group, _ in deployment.groups():
        volumes = group.volumes if isinstance(group.volumes, tuple) else ()
        role = group.execution_role if isinstance(group.execution_role, str) else None
        for path in dict.fromkeys(volume.kms_key for volume in volumes):
            key = deployment.key(path)
            if key is not None:
                yield key, group, role


@rule(
    "HP7016",
    Severity.WARNING,
    title="The policy of a volume's key admits nobody who starts nodes",
    because="the policy has to let the nodes' role create grants, or leave it to the account (the root principal), as "
    "the default policy does; nodes otherwise end as they start, with Client.InternalError",
    source=f"{_PAGE}; {_REPORTS}",
)
def keys_admit_nodes(deployment: Deployment) -> Iterator[Problem]:
    shut_out: dict[str, dict[str | Unknown, InstanceGroup]] = {}
    for key, group, role in _uses(deployment):
        if key.delegates is False and role is not None and role not in key.grantees:
            shut_out.setdefault(key.path, {}).setdefault(group.name, group)
    for path, groups in shut_out.items():
        yield Problem(
            path=path,
            message=f"the key encrypts volumes of {named(*groups.values())}, and its policy lets neither the account "
            "nor their role create grants",
            fix="allow kms:* to arn:aws:iam::ACCOUNT:root, or kms:CreateGrant (GrantIsForAWSResource) and "
            "kms:DescribeKey to the role of the nodes (in the CDK, leave policy= out)",
        )


@rule(
    "HP7017",
    Severity.WARNING,
    title="Role of nodes lacks what encrypted volumes need",
    because="HyperPod adds and patches nodes with grants that it creates with their role",
    source=_PAGE,
)
def nodes_can_use_their_keys(deployment: Deployment) -> Iterator[Problem]:
    keyed = {(role, group.name) for key, group, role in _uses(deployment) if not _admits(key, role)}
    for role, groups in users(deployment, lambda _, group: (group.execution_role, group.name) in keyed):
        if missing := lacking(role, dict.fromkeys(KEY_ACTIONS, _EVERY_KEY)):
            yield Problem(
                path=role.path,
                message=f"role of {named(*groups)}, whose volumes have a customer key, lacks {all_of(missing)}",
                fix=cure(role, missing, f"allow {all_of(missing)} on the key"),
            )


def _admits(key: Key, role: str | None) -> bool:
    """Whether the key's own policy lets the role in, or may do so."""
    return not {role, UNKNOWN}.isdisjoint(key.grantees)


@rule(
    "HP7018",
    Severity.WARNING,
    title="The policy of a volume's key asks for an encryption context",
    because="HyperPod passes no encryption context, so that such a statement admits nobody",
    source=_PAGE,
)
def keys_ask_for_no_context(deployment: Deployment) -> Iterator[Problem]:
    by_key: dict[str, tuple[Key, list[InstanceGroup]]] = {}
    for key, group, _ in _uses(deployment):
        by_key.setdefault(key.path, (key, []))[1].append(group)
    for key, groups in by_key.values():
        if key.bound:
            yield Problem(
                path=key.path,
                message=f"the key encrypts volumes of {named(*groups)}, and every statement that lets somebody create "
                f"grants has the condition {all_of(key.bound)}",
                fix="take that condition out, and narrow the statement by kms:ViaService and kms:GrantIsForAWSResource",
            )
