"""What takes data that was to stay: the key that encrypts it, the end of its bucket or database, updates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import AutoPatch, InstanceGroup, ScheduledUpdate
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import Bucket
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.model.storage import FileSystem, OldLink, OtherFileSystem, Retention
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_RETAIN: Final = "write DeletionPolicy: Retain and UpdateReplacePolicy: Retain"
_IN_CDK: Final = "(CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)"


def _encrypted(deployment: Deployment) -> Iterator[tuple[str, Retention, str | Unknown | None]]:
    """Path, policies and key of everything that holds data."""
    file_systems: tuple[FileSystem | OtherFileSystem, ...] = (*deployment.file_systems, *deployment.other_file_systems)
    for each in file_systems:
        yield each.path, each.retention, each.kms_key
    for database in deployment.databases:
        yield database.path, database.retention, database.kms_key
    for bucket in deployment.buckets:
        yield bucket.path, bucket.retention, bucket.key


@rule(
    "HP3056",
    Severity.WARNING,
    title="Data is kept and the key that encrypts it is not",
    because="CloudFormation schedules a key for deletion with its stack, and without its key nobody reads what is left",
    source="CloudFormation user guide, DeletionPolicy; KMS developer guide, deleting-keys",
)
def keys_stay_with_kept_data(deployment: Deployment) -> Iterator[Problem]:
    kept: dict[str, list[str]] = {}
    for path, retention, used in _encrypted(deployment):
        key = deployment.key(used)
        if key is not None and key.retention.on_delete == "Delete" and retention.outlives_its_stack:
            kept.setdefault(key.path, []).append(path)
    for key_path, paths in kept.items():
        stay, them = ("stays", "it") if len(paths) == 1 else ("stay", "them")
        yield Problem(
            path=key_path,
            message=f"{all_of(paths)} {stay} when the stack is deleted, and this key, which encrypts {them}, is "
            "scheduled for deletion",
            fix=f"{_RETAIN} on the key {_IN_CDK}",
        )


@rule(
    "HP3057",
    Severity.WARNING,
    title="Bucket of checkpoints or exported data goes with the stack",
    because="what a run has written is worth more than the stack; a bucket that something empties first is deleted "
    "with all of it, and another one once somebody has emptied it for a delete that failed",
    source="CloudFormation user guide, DeletionPolicy; S3 user guide, deleting a bucket",
)
def buckets_of_data_are_kept(deployment: Deployment) -> Iterator[Problem]:
    exported = _exported(deployment)
    for bucket in deployment.buckets:
        if bucket.retention.on_delete != "Delete":
            continue
        writer = exported.get(bucket.name) if isinstance(bucket.name, str) else None
        if writer is not None and bucket.emptied:
            yield _problem(bucket, f"{writer} exports to this bucket, and deleting the stack empties and deletes it")
        elif bucket.holds_data is True:
            end = "empties and deletes it" if bucket.emptied else "deletes it, or fails while it holds objects"
            yield _problem(bucket, f"DeletionPolicy of this bucket for checkpoints is Delete: deleting the stack {end}")


def _problem(bucket: Bucket, message: str) -> Problem:
    emptier = ", and leave out what empties it (auto_delete_objects)" if bucket.emptied else ""
    return Problem(path=bucket.path, message=message, fix=f"{_RETAIN} {_IN_CDK}{emptier}")


def _exported(deployment: Deployment) -> dict[str, str]:
    """Names of the buckets that file systems write to, each with the first file system that does."""
    found: dict[str, str] = {}
    for file_system in deployment.file_systems:
        uris: list[str | Unknown | None] = [
            each.s3_uri for each in file_system.repositories if each.exports not in {UNKNOWN, ()}
        ]
        if isinstance(file_system.old_link, OldLink):
            uris.append(file_system.old_link.export_path)
        for uri in uris:
            if isinstance(uri, str):
                found.setdefault(uri.removeprefix("s3://").partition("/")[0], file_system.path)
    return found


@rule(
    "HP3058",
    Severity.WARNING,
    title="Updates of the controller wipe the accounting history",
    because="without a database outside the cluster, accounting likely stands on the controller, and an update of its "
    "software replaces the root volume",
    source="SageMaker developer guide, sagemaker-hyperpod-operate-slurm-cli-command, update-cluster-software; "
    "inferred, not tried against AWS",
)
def accounting_outlives_updates(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        updates = _updates(group)
        if updates and group.node_type == "Controller" and _keeps_accounting_itself(cluster):
            yield Problem(
                path=path,
                message=f"{named(group)} is the controller and has {all_of(updates)}, and the cluster has no "
                "AccountingDatabase: each update wipes the history of its jobs",
                fix="give the cluster a database (hp.Slurm(accounting=hp.AccountingDatabase(...).database)), or take "
                f"{all_of(updates)} out of this group",
            )


@rule(
    "HP3059",
    Severity.WARNING,
    title="Accounting database goes with its stack or is replaced by an empty one",
    because="history, accounts and limits of Slurm are in it, and it is to outlive clusters; CloudFormation keeps a "
    "snapshot of a deleted database by itself, and nothing of a replaced one",
    source="CloudFormation user guide, DeletionPolicy and UpdateReplacePolicy",
)
def accounting_outlives_its_stack(deployment: Deployment) -> Iterator[Problem]:
    slurm = [each.orchestrator for each in deployment.clusters if isinstance(each.orchestrator, Slurm)]
    used = {each.accounting.endpoint for each in slurm if isinstance(each.accounting, ExternalDatabase)}
    for database in deployment.databases:
        policies = {
            "DeletionPolicy": database.retention.on_delete,
            "UpdateReplacePolicy": database.retention.on_replace,
        }
        deleting = [name for name, policy in policies.items() if policy == "Delete"]
        if database.path in used and deleting:
            what = f"{all_of(deleting)} of this accounting database {'is' if len(deleting) == 1 else 'are'} Delete"
            yield Problem(
                path=database.path,
                message=f"{what}: history, accounts and limits go with it",
                fix=f"{_RETAIN}, or Snapshot {_IN_CDK}",
            )


def _keeps_accounting_itself(cluster: Cluster) -> bool:
    return isinstance(cluster.orchestrator, Slurm) and cluster.orchestrator.accounting is None


def _updates(group: InstanceGroup) -> list[str]:
    """What updates a group by itself, as a message calls it."""
    found = {
        "AutoPatchConfig (patching=)": isinstance(group.patching, AutoPatch),
        "ScheduledUpdateConfig (scheduled_update=)": isinstance(group.scheduled_update, ScheduledUpdate),
    }
    return [name for name, given in found.items() if given]
