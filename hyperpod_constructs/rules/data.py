"""What can be known about the life of data in file systems: what deletes it, and what cannot be backed up.

A file system that CloudFormation deletes is gone with everything that a run has written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.storage import Retention
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._lustre import is_linked, kind_of, offered
from hyperpod_constructs.tokens import known

_EXPORT: Final = ": export to S3 keeps the data"
_KEPT: Final = "set DeletionPolicy to RetainExceptOnCreate and UpdateReplacePolicy to Retain"


def _days(count: int) -> str:
    return f"{count} day{'s' * (count != 1)}"


def _links(count: int) -> str:
    return "a link to S3" if count == 1 else f"{count} links to S3"


# --- Backups and tags


@rule(
    "HP3008",
    Severity.WARNING,
    title="Automatic backups on a file system that probably cannot have them",
    because="backups are for persistent types without an S3 link; what FSx answers at creation is not verified",
    source="FSx for Lustre user guide, backups; aws-cloudformation/cloudformation-coverage-roadmap issue 1687",
)
def backups_are_possible(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in offered(deployment):
        days, linked = known(lustre.backup_days), is_linked(file_system)
        if not days or offer.backups is not linked:
            continue
        why = "the file system is linked to S3" if linked else f"{kind_of(lustre)} is a scratch type"
        yield Problem(
            path=file_system.path,
            message=f"automatic backups are kept {_days(days)} but {why}",
            fix="set the backup retention to 0" + (_EXPORT if linked else ", or use a persistent type"),
        )


@rule(
    "HP3030",
    Severity.ERROR,
    title="Automatic backups on a scratch file system that is linked to S3",
    because="FSx backs up neither scratch types nor file systems that are linked to S3",
    source="FSx for Lustre user guide, fsx-data-repositories and using-backups-fsx; aws/aws-parallelcluster, "
    "fsx_validators.py",
)
def linked_scratch_has_no_backups(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in offered(deployment):
        days = known(lustre.backup_days)
        if days and not offer.backups and is_linked(file_system):
            message = f"automatic backups are kept {_days(days)} but {kind_of(lustre)} is a scratch type, linked to S3"
            yield Problem(path=file_system.path, message=message, fix=f"set the backup retention to 0{_EXPORT}")


@rule(
    "HP3028",
    Severity.WARNING,
    title="Tags are copied to backups of a file system that is linked to S3",
    because="the setting is not available for such file systems; what FSx answers is not verified",
    source="FSx API, CreateFileSystemLustreConfiguration, CopyTagsToBackups (botocore 1.44.8)",
)
def linked_file_systems_copy_no_tags(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        # With backups too, that is the mistake to name.
        if file_system.copies_tags is True and is_linked(file_system) and not known(file_system.lustre.backup_days):
            yield Problem(
                path=file_system.path,
                message="CopyTagsToBackups is true but the file system is linked to S3",
                fix="leave it out",
            )


@rule(
    "HP3029",
    Severity.INFO,
    title="Tags of a file system that is linked to S3 are frozen",
    because="to change a tag, CloudFormation also sends the backup retention, which FSx refuses for such file systems; "
    "tags of the stack and of the app count too",
    source="aws-cloudformation/cloudformation-coverage-roadmap issue 1687",
)
def tags_of_linked_file_systems_are_frozen(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        if file_system.repositories:
            yield Problem(
                path=file_system.path,
                message=f"the file system has {_links(len(file_system.repositories))}: a later change of its tags is "
                "refused",
                fix="decide on the tags before the first deploy, and change them later with `aws fsx tag-resource`",
            )


# --- Data must outlive the stack


def _stores(deployment: Deployment) -> Iterator[tuple[str, Retention, str]]:
    """Path and policies of each file system, with how a message calls what is on it."""
    for file_system in deployment.file_systems:
        capacity = known(file_system.lustre.capacity_gib)
        yield file_system.path, file_system.retention, "all its data" if capacity is None else f"{capacity:,} GiB"
    for other in deployment.other_file_systems:
        yield other.path, other.retention, "all its data"


@rule(
    "HP3011",
    Severity.WARNING,
    title="Data goes with the stack or with a replacement",
    because="CloudFormation deletes a file system with its stack, and replaces it by an empty one when its subnet, "
    "security groups, key or deployment type change",
    source="CloudFormation user guide, DeletionPolicy and UpdateReplacePolicy; aws/aws-parallelcluster issue 4651",
)
def data_outlives_the_stack(deployment: Deployment) -> Iterator[Problem]:
    for path, retention, data in _stores(deployment):
        on_delete, on_replace = known(retention.on_delete), known(retention.on_replace)
        policies, events = [], []
        if on_delete == "Delete":
            policies.append(f"DeletionPolicy is {on_delete}")
            events.append("deleting the stack")
        if on_replace == "Delete":
            policies.append(f"UpdateReplacePolicy is {on_replace}")
            events.append("replacing the file system")
        if events:
            message = f"{' and '.join(policies)}: {' or '.join(events)} deletes {data}"
            yield Problem(path=path, message=message, fix=_KEPT)


@rule(
    "HP3031",
    Severity.ERROR,
    title="A file system has the policy Snapshot",
    because="CloudFormation makes snapshots of volumes and databases only, and refuses the policy on all else",
    source="CloudFormation user guide, DeletionPolicy and UpdateReplacePolicy; cfn-lint 1.58.0, E3035 and E3036",
)
def file_systems_have_no_snapshots(deployment: Deployment) -> Iterator[Problem]:
    for path, retention, _ in _stores(deployment):
        policies = {"DeletionPolicy": retention.on_delete, "UpdateReplacePolicy": retention.on_replace}
        wrong = [name for name, policy in policies.items() if policy == "Snapshot"]
        if wrong:
            message = f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} Snapshot, which FSx does not have"
            yield Problem(path=path, message=message, fix=_KEPT)


@rule(
    "HP3012",
    Severity.INFO,
    title="A failed first deploy leaves an empty file system",
    because="plain Retain also keeps what a create that is rolled back has made, and it is paid until someone sees it",
    source="CloudFormation user guide, DeletionPolicy, RetainExceptOnCreate",
)
def failed_creates_leave_nothing(deployment: Deployment) -> Iterator[Problem]:
    for path, retention, _ in _stores(deployment):
        if retention.on_delete == "Retain":
            yield Problem(
                path=path,
                message="DeletionPolicy is Retain: a first deploy that fails leaves an empty file system that is paid",
                fix="set DeletionPolicy to RetainExceptOnCreate",
            )
