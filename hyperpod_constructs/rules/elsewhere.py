"""What is of another account or Region than what uses it: roles, keys and secrets by their ARNs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.model.storage import FileSystem, OtherFileSystem
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import groups_of, place
from hyperpod_constructs.rules._words import named

_ROLE: Final = re.compile(r"arn:[^:]+:iam::(?P<account>\d{12}):role/.+")
_KEY: Final = re.compile(r"arn:[^:]+:kms:(?P<region>[a-z0-9-]+):\d{12}:(key|alias)/.+")
_SECRET: Final = re.compile(r"arn:[^:]+:secretsmanager:(?P<region>[a-z0-9-]+):\d{12}:secret:.+")


@rule(
    "HP7020",
    Severity.ERROR,
    title="Role of a cluster is of another account",
    because="iam:PassRole gives a service a role of one's own account only",
    source="IAM user guide, granting a user permissions to pass a role to an AWS service",
)
def roles_are_of_the_account(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        by_role: dict[str, list[InstanceGroup]] = {}
        for group in groups_of(cluster):
            if isinstance(group.execution_role, str):
                by_role.setdefault(group.execution_role, []).append(group)
        users = [(role, f"role of {named(*groups)}", place(cluster, groups)) for role, groups in by_role.items()]
        if isinstance(cluster.cluster_role, str):
            users.append((cluster.cluster_role, "ClusterRole", cluster.path))
        for role, what, path in users:
            account = _part(_ROLE, role, "account")
            if account and cluster.account and account != cluster.account:
                yield Problem(
                    path=path,
                    message=f"{what} is {role}, of account {account}, and the cluster is in {cluster.account}",
                    fix=f"use a role of account {cluster.account}, and let it assume the other one (sts:AssumeRole) "
                    "for what lies there",
                )


def _part(pattern: re.Pattern[str], text: object, name: str) -> str | None:
    """A part of an ARN that is written out."""
    match = pattern.fullmatch(text) if isinstance(text, str) else None
    return match[name] if match else None


def _keys(deployment: Deployment) -> Iterator[tuple[str, str, str, str | None]]:
    """Path and words for everything that a key encrypts, with the ARN of the key and the Region that it stands in."""
    for cluster in deployment.clusters:
        yield from _keys_of_volumes(cluster)
    file_systems: tuple[FileSystem | OtherFileSystem, ...] = (*deployment.file_systems, *deployment.other_file_systems)
    for each in file_systems:
        if isinstance(each.kms_key, str):
            yield each.path, "the file system", each.kms_key, each.region
    for bucket in deployment.buckets:
        if isinstance(bucket.key, str):
            yield bucket.path, "the bucket", bucket.key, bucket.region


def _keys_of_volumes(cluster: Cluster) -> Iterator[tuple[str, str, str, str | None]]:
    by_key: dict[str, dict[int, InstanceGroup]] = {}
    for number, group in enumerate(groups_of(cluster)):
        for volume in group.volumes if isinstance(group.volumes, tuple) else ():
            if isinstance(volume.kms_key, str):
                by_key.setdefault(volume.kms_key, {})[number] = group
    for key, groups in by_key.items():
        found = list(groups.values())
        yield place(cluster, found), f"volumes of {named(*found)}", key, cluster.region


@rule(
    "HP7021",
    Severity.ERROR,
    title="Key is in another Region than what it encrypts",
    because="a key, and each replica of a multi-Region key, can be used in its own Region only",
    source="KMS developer guide, multi-region-keys-overview; EBS user guide, encryption",
)
def keys_are_of_the_region(deployment: Deployment) -> Iterator[Problem]:
    for path, what, key, region in _keys(deployment):
        its_region = _part(_KEY, key, "region")
        if its_region and region and its_region != region:
            yield Problem(
                path=path,
                message=f"{what}: the key {key} is in {its_region}, and not in {region}",
                fix=f"use a key of {region}; of a multi-Region key (mrk-...) name the replica there",
            )


@rule(
    "HP7022",
    Severity.WARNING,
    title="Secret of the accounting database is in another Region than the cluster",
    because="no page says that HyperPod reads secrets of other Regions, and the ARN is mostly a slip",
    source="SageMaker API, ClusterSlurmAccountingDatabase, SecretArn (botocore 1.44.8): not tried against AWS",
)
def secrets_are_of_the_region(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        database = cluster.orchestrator.accounting if isinstance(cluster.orchestrator, Slurm) else None
        arn = database.secret_arn if isinstance(database, ExternalDatabase) else None
        its_region = _part(_SECRET, arn, "region")
        if its_region and cluster.region and its_region != cluster.region:
            yield Problem(
                path=cluster.path,
                message=f"the secret of the AccountingDatabase is in {its_region}, and the cluster in {cluster.region}",
                fix=f"use a secret of {cluster.region}; `aws secretsmanager replicate-secret-to-regions` makes one",
            )
