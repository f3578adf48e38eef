"""Whether the controller can decrypt what it needs for accounting: without it Slurm has no accounting at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.identity import Key, Role
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import accounting_of
from hyperpod_constructs.rules._permissions import cure, lacking, node_roles
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import UNKNOWN

_READ: Final = "secretsmanager:GetSecretValue"
_DECRYPT: Final = "kms:Decrypt"
_READABLE: Final = "arn:*:secretsmanager:*:*:secret:*"
_EVERY_KEY: Final = "arn:*:kms:*:*:key/*"
_KEY_OF_AWS: Final = "alias/aws/secretsmanager"


@rule(
    "HP7023",
    Severity.WARNING,
    title="Controller cannot decrypt the secret of the accounting database",
    because="reading a secret that a customer key encrypts takes kms:Decrypt on the key, too; which role reads it is "
    "not documented, and the controller's is the likely one",
    source="Secrets Manager user guide, security-encryption; SageMaker API, ClusterSlurmAccountingDatabase (botocore "
    "1.44.8)",
)
def controllers_decrypt_the_database_secret(deployment: Deployment) -> Iterator[Problem]:
    told: set[tuple[str, str]] = set()
    for role, cluster, groups in node_roles(deployment):
        controllers = [group for group in groups if accounting_of(cluster, group)]
        key = _key_of_the_secret(deployment, cluster, controllers)
        if key is None or (role.path, key) in told or not _is_shut_out(role, deployment.key(key)):
            continue
        told.add((role.path, key))
        yield Problem(
            path=role.path,
            message=f"role of {named(*controllers)} lacks {_DECRYPT} on {key}, the key that encrypts the secret of the "
            "AccountingDatabase",
            fix=cure(
                role, {_DECRYPT: _EVERY_KEY}, f"allow {_DECRYPT} on the key (secret.grant_read(role) of the CDK does)"
            ),
        )


def _key_of_the_secret(deployment: Deployment, cluster: Cluster, controllers: list[InstanceGroup]) -> str | None:
    """Path or ARN of the customer key of the database's secret, where the deployment has the secret."""
    databases = [accounting_of(cluster, group) for group in controllers]
    secret = deployment.secret(databases[0].secret_arn) if databases and databases[0] else None
    key = secret.key if secret else None
    return key if isinstance(key, str) and not key.endswith(_KEY_OF_AWS) else None


def _is_shut_out(role: Role, key: Key | None) -> bool:
    """Whether a role may read the secret and surely cannot decrypt it; that it may not read it is another rule's."""
    by_key = key is not None and not {role.path, UNKNOWN}.isdisjoint(key.readers)
    return not by_key and bool(lacking(role, {_DECRYPT: _EVERY_KEY})) and not lacking(role, {_READ: _READABLE})
