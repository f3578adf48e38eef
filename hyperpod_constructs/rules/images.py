"""What can be known about the software of nodes and its updates: HP10xx."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import DRAIN_FIRST, TEMPLATE_STRATEGIES, AutoPatch
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import UNKNOWN

# The second alternative is a dynamic reference, which CloudFormation resolves at deploy.
_IMAGE = re.compile(r"(ami-[0-9a-fA-F]{8,17}|default)|\{\{resolve:.+\}\}")
_SCHEDULE = re.compile(
    r"cron\((?:[0-5][0-9]|[0-9]|)"  # minute
    r" (?:[01][0-9]|2[0-3]|[0-9])"  # hour
    r" (?:[1-9]|0[1-9]|[12][0-9]|3[01]|\?)"  # day of the month
    r" (?:[1-9]|0[1-9]|1[0-2]|\*|\*/(?:[1-9]|1[0-2])|)"  # month
    r" (?:MON|TUE|WED|THU|FRI|SAT|SUN|[1-7]|\?|L|[1-7]#[1-5]|[1-7]L)"  # day of the week
    r" (?:20[2-9][0-9]|\*|)\)"  # year
)


@rule(
    "HP1015",
    Severity.ERROR,
    title="An image is no AMI id",
    because="the service takes the id of an AMI, not its name, alias or parameter",
    source="SageMaker API, ImageId (botocore 1.44.8)",
)
def images_are_ami_ids(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        if isinstance(group.image_id, str) and not _IMAGE.fullmatch(group.image_id):
            yield Problem(
                path=path,
                message=f"{named(group)} has ImageId {group.image_id!r}",
                fix="use an id such as ami-0123456789abcdef0 (8 to 17 hexadecimal digits), or leave it out",
            )


@rule(
    "HP1016",
    Severity.ERROR,
    title="A schedule is not one that CloudFormation takes",
    because="CloudFormation takes a part of EventBridge's cron only: minute and hour are single numbers",
    source="AWS::SageMaker::Cluster schema, ScheduleExpression (2026-10-20)",
)
def schedules_are_plain_cron(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        update = group.scheduled_update
        if update is None or update is UNKNOWN or not isinstance(update.schedule, str) or cluster.requested:
            continue  # the API has no pattern for it
        if not _SCHEDULE.fullmatch(update.schedule):
            yield Problem(
                path=path,
                message=f"{named(group)} is updated on the schedule {update.schedule!r}",
                fix="use cron(MINUTE HOUR DAY MONTH WEEKDAY YEAR) with one number for minute and hour, a number or ? "
                "for the day and one day or ? for the weekday, such as cron(0 3 ? * SUN *)",
            )


@rule(
    "HP1018",
    Severity.ERROR,
    title="Patching that drains nodes lacks what it needs",
    because="DrainFirst requires MaximumBatchSize in its DeploymentConfig and is for EKS clusters only",
    source="SageMaker API, ClusterPatchingStrategy (botocore 1.44.8)",
)
def draining_patches_have_what_they_need(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        if not isinstance(group.patching, AutoPatch) or group.patching.when != DRAIN_FIRST:
            continue
        if cluster.scheduler == "slurm":
            yield Problem(
                path=path,
                message=f"{named(group)} of a Slurm cluster is patched with {DRAIN_FIRST}",
                fix=f"use {' or '.join(TEMPLATE_STRATEGIES)}",
            )
        elif group.patching.rolling is None:
            yield Problem(
                path=path,
                message=f"{named(group)} is patched with {DRAIN_FIRST}, but has no MaximumBatchSize",
                fix="give DeploymentConfig.RollingUpdatePolicy.MaximumBatchSize (rolling=hp.RollingUpdate(...))",
            )


@rule(
    "HP1024",
    Severity.WARNING,
    title="A custom AMI beside a customer key, and the root volume has no key",
    because="a custom AMI may be encrypted with a customer key, and then the root volume must be encrypted with the "
    "same key; whether this AMI is cannot be seen here",
    source="SageMaker developer guide, hyperpod-custom-ami-how-to and hyperpod-custom-ami-cluster-management (2026)",
)
def encrypted_images_have_an_encrypted_root(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        volumes = group.volumes if isinstance(group.volumes, tuple) else ()
        if not _is_custom(group.image_id) or any(volume.root is not False for volume in volumes):
            continue
        if any(volume.kms_key is not None for volume in volumes):
            yield Problem(
                path=path,
                message=f"{named(group)} has the custom AMI {group.image_id} and a key for its second volume only",
                fix="if the AMI is encrypted with a customer key, add EbsVolumeConfig: {RootVolume: true, "
                "VolumeKmsKeyId: KEY} with that key; adding it later means a new group",
            )


def _is_custom(image: object) -> bool:
    return isinstance(image, str) and image.startswith("ami-")


@rule(
    "HP1025",
    Severity.WARNING,
    title="A group has both an image and a release of AWS's images",
    because="ImageReleaseVersion chooses among the images that HyperPod makes, which a custom AMI is none of; what the "
    "service does with both is not documented",
    source="SageMaker API, ImageId and ImageReleaseVersion (botocore 1.44.8)",
)
def releases_are_of_aws_images(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        if _is_custom(group.image_id) and isinstance(group.image_release_version, str):
            yield Problem(
                path=path,
                message=f"{named(group)} has image {group.image_id} and release {group.image_release_version}",
                fix="keep one of ImageId and ImageReleaseVersion",
            )
