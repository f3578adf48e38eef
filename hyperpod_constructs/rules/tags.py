"""Tags that a service refuses when all else is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import schemas
from hyperpod_constructs.catalog.limits import Limit
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.stacks import TagList
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.tokens import UNKNOWN

_COUNT: Final = Limit(low=0, high=50, source="SageMaker API, TagList (botocore 1.44.8)")
_KEY: Final = Limit(low=1, high=128, source="SageMaker API, TagKey (botocore 1.44.8)")
_VALUE: Final = Limit(low=0, high=256, source="SageMaker API, TagValue (botocore 1.44.8)")
_CLUSTER: Final = "AWS::SageMaker::Cluster"
_JUDGED: Final = frozenset(
    {
        *schemas.KINDS,
        "AWS::EC2::SecurityGroup",
        "AWS::EC2::Subnet",
        "AWS::EC2::VPC",
        "AWS::EKS::Cluster",
        "AWS::IAM::Role",
        "AWS::S3::Bucket",
    }
)
"""What a cluster stands on. Of other types nobody knows whether a tag that is given twice is an error."""
_RESERVED: Final = "aws:"
_SERVICES: Final = "AWS::"
"""What the types of resources begin with that are not somebody's own."""


def _tag_lists(deployment: Deployment) -> Iterator[TagList]:
    """The tags of what is judged: as templates have them, and of clusters that stand in none yet."""
    yield from (tags for tags in deployment.tag_lists if tags.type in _JUDGED)
    yield from _of_clusters(deployment)


def _unmeasured(deployment: Deployment) -> Iterator[TagList]:
    """Those of which no schema has told yet how many and how long they may be."""
    yield from (tags for tags in deployment.tag_lists if tags.type in _JUDGED and tags.type not in schemas.KINDS)
    yield from _of_clusters(deployment)


def _of_clusters(deployment: Deployment) -> Iterator[TagList]:
    listed = {tags.path for tags in deployment.tag_lists}
    for cluster in deployment.clusters:
        if cluster.path not in listed:
            yield TagList(path=cluster.path, type=_CLUSTER, tags=tuple(cluster.tags.items()))


def _keys(tags: TagList) -> list[str]:
    """The keys that are known."""
    return [key for key, _ in tags.tags if key is not UNKNOWN]


@rule(
    "HP0104",
    Severity.ERROR,
    title="A resource has too many tags",
    because="it can carry 50; those that AWS adds itself do not count",
    source=_COUNT.source,
)
def tags_are_few(deployment: Deployment) -> Iterator[Problem]:
    for tags in _unmeasured(deployment):
        count = len(_keys(tags))
        if count > _COUNT.high:
            yield Problem(path=tags.path, message=f"{count} tags", fix=f"use at most {_COUNT.high}")


@rule(
    "HP0105",
    Severity.ERROR,
    title="A tag begins with aws:",
    because="these keys are AWS's own, in every service",
    source="AWS general reference, tag naming limits",
)
def tags_are_not_reserved(deployment: Deployment) -> Iterator[Problem]:
    for tags in (*deployment.tag_lists, *_of_clusters(deployment)):
        for key in dict.fromkeys(_keys(tags)):
            if tags.type.startswith(_SERVICES) and key.lower().startswith(_RESERVED):
                fix = f"use a key that does not begin with {_RESERVED}"
                yield Problem(path=tags.path, message=f"tag {key!r}", fix=fix)


@rule(
    "HP0106",
    Severity.ERROR,
    title="A tag is given twice",
    because="a resource has one value for a key",
    source=_COUNT.source,
)
def tags_are_given_once(deployment: Deployment) -> Iterator[Problem]:
    for tags in _tag_lists(deployment):
        for key, count in Counter(_keys(tags)).items():
            if count > 1:
                yield Problem(path=tags.path, message=f"tag {key!r} is given {count} times", fix="keep one of them")


@rule(
    "HP0107",
    Severity.ERROR,
    title="A tag is too long",
    because="a key has 1 to 128 characters, a value at most 256",
    source=f"{_KEY.source}; {_VALUE.source}",
)
def tags_are_short(deployment: Deployment) -> Iterator[Problem]:
    for tags in _unmeasured(deployment):
        for key, value in tags.tags:
            if key is not UNKNOWN and not _KEY.allows(len(key)):
                what = f"a key of {len(key)} characters" if key else "an empty key"
                yield Problem(path=tags.path, message=f"a tag has {what}", fix="use 1 to 128")
            if value is not UNKNOWN and not _VALUE.allows(len(value)):
                name = "a tag" if key is UNKNOWN else f"tag {key!r}"
                message = f"{name} has a value of {len(value)} characters"
                yield Problem(path=tags.path, message=message, fix="use at most 256")
