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
from hyperpod_constructs.rules._lustre import DEPLOYMENT_TYPE, is_linked, kind_of, offered
from hyperpod_constructs.tokens import known

_EXPORT: Final = ": export to S3 keeps the data"
_NO_BACKUPS: Final = "set AutomaticBackupRetentionDays (backup_days) to 0"
_IN_CDK: Final = "(CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)"
_KEPT: Final = f"set DeletionPolicy to RetainExceptOnCreate and UpdateReplacePolicy to Retain {_IN_CDK}"


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
        why = "the file system is linked to S3" if linked else f"{kind_of(file_system)} is a scratch type"
        yield Problem(
            path=file_system.path,
            message=f"automatic backups are kept {_days(days)} but {why}",
            fix=_NO_BACKUPS + (_EXPORT if linked else f", or use {DEPLOYMENT_TYPE} PERSISTENT_2"),
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
            kind = kind_of(file_system)
            message = f"automatic backups are kept {_days(days)} but {kind} is a scratch type, linked to S3"
            yield Problem(path=file_system.path, message=message, fix=f"{_NO_BACKUPS}{_EXPORT}")


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
                fix="leave CopyTagsToBackups out",
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


def _stores(deployment: Deployment) -> Iterator[tuple[str, Retention]]:
    """Path and policies of each file system."""
    for file_system in deployment.file_systems:
        yield file_system.path, file_system.retention
    for other in deployment.other_file_systems:
        yield other.path, other.retention


def _lasting(deployment: Deployment) -> Iterator[tuple[str, Retention, str]]:
    """Path and policies of file systems that are not temporary by their type, with how a message calls their data."""
    temporary = {each.path for each, _, offer in offered(deployment) if offer.temporary}
    capacities = {each.path: known(each.lustre.capacity_gib) for each in deployment.file_systems}
    for path, retention in _stores(deployment):
        if path not in temporary:
            capacity = capacities.get(path)
            yield path, retention, "all its data" if capacity is None else f"{capacity:,} GiB"


@rule(
    "HP3011",
    Severity.WARNING,
    title="Data goes with the stack or with a replacement",
    because="CloudFormation deletes a file system with its stack, and replaces it by an empty one when its subnet, "
    "security groups, key or deployment type change; scratch types are for data that may be lost",
    source="CloudFormation user guide, DeletionPolicy and UpdateReplacePolicy; aws/aws-parallelcluster issue 4651",
)
def data_outlives_the_stack(deployment: Deployment) -> Iterator[Problem]:
    for path, retention, data in _lasting(deployment):
        on_delete, on_replace = known(retention.on_delete), known(retention.on_replace)
        # Of a policy that does not exist there is another finding, which says what to set both to.
        if "Snapshot" in {on_delete, on_replace}:
            continue
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
    for path, retention in _stores(deployment):
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
    for path, retention in _stores(deployment):
        if retention.on_delete == "Retain":
            yield Problem(
                path=path,
                message="DeletionPolicy is Retain: a first deploy that fails leaves an empty file system that costs",
                fix=f"set DeletionPolicy to RetainExceptOnCreate {_IN_CDK}",
            )
