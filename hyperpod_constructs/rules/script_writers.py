"""Nodes never write the scripts that root runs: whoever runs a job on one node would own all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.identity import Role, Statement
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._permissions import (
    action_matches,
    node_roles,
    overlap,
    power,
    resource_matches,
    same_resource,
)
from hyperpod_constructs.rules._scripts import ScriptSource, sources
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import Unknown

_WRITES: Final = (
    "s3:PutObject",
    "s3:PutObjectAcl",
    "s3:DeleteObject",
    "s3:DeleteObjectVersion",
)
_CONTROLS: Final = ("s3:PutBucketPolicy", "s3:PutBucketAcl", "s3:DeleteBucketPolicy", "s3:PutReplicationConfiguration")
"""Actions on a bucket by which a node could give itself the others, or have objects written."""

_WRITERS: Final = {
    "AmazonS3FullAccess": ("*",),
    "AmazonSageMakerFullAccess": ("arn:aws:s3:::*SageMaker*", "arn:aws:s3:::*Sagemaker*", "arn:aws:s3:::*sagemaker*"),
}
"""Managed policies that allow s3:PutObject, and where; those of administrators are HP7008's. Source: moto 5.2.5."""


def _denied(role: Role, action: str, resource: str) -> bool:
    """Whether an unconditional statement may take the action away again."""
    return any(
        each.inverted or False not in {action_matches(each, action), resource_matches(each, resource)}
        for each in role.statements
        if not each.allow and not each.conditional
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """One way to write scripts: an action, the resource that allows it, and whether that is certain."""

    action: str
    resource: str
    certain: bool


def _ways(role: Role, source: ScriptSource) -> Iterator[_Way]:
    """How nodes with a role can write scripts: by their statements, then by AWS's managed policies."""
    wanted = {**dict.fromkeys(_WRITES, source.objects), **dict.fromkeys(_CONTROLS, f"arn:*:s3:::{source.bucket}")}
    wanted = {action: target for action, target in wanted.items() if not _denied(role, action, target)}
    for statement in role.statements:
        if not statement.allow or statement.inverted or not isinstance(statement.resources, tuple):
            continue
        for action in (each for each in wanted if action_matches(statement, each)):
            for resource in statement.resources:
                if isinstance(resource, str) and same_resource(resource, wanted[action]):
                    yield from _way(source, statement, action, resource)
    managed = role.managed_policies if isinstance(role.managed_policies, tuple) else ()
    for name in managed if "s3:PutObject" in wanted else ():
        for resource in _WRITERS.get(name, ()) if isinstance(name, str) else ():
            certain = resource == "*" or not source.bucket.endswith("*")
            prefix = source.objects.rstrip("*") if certain else source.objects
            if same_resource(resource, prefix) and (certain or source.bucket != "*"):
                yield _Way(action="s3:PutObject", resource=f"{resource} ({name})", certain=certain)


def _way(source: ScriptSource, statement: Statement, action: str, resource: str) -> Iterator[_Way]:
    """How a statement lets nodes write scripts, if it is sure or likely enough that it is about them."""
    # Wildcards that were written mean all that they match; those that the deploy replaces need not.
    certain = source.surely_in(resource) or (source.is_known and resource not in statement.undecided)
    if certain or source.perhaps_in(resource):
        yield _Way(
            action=_as_written(statement, action), resource=resource, certain=certain and not statement.conditional
        )


def _as_written(statement: Statement, action: str) -> str:
    """An action with the words that allow it, which the user finds in the policy."""
    written = statement.actions if isinstance(statement.actions, tuple) else ()
    patterns = [each for each in written if isinstance(each, str) and overlap(each.lower(), action.lower())]
    exact = any(each.lower() == action.lower() for each in patterns)
    return action if exact or not patterns else f"{patterns[0]}, which takes in {action},"


def _script_writers(deployment: Deployment, *, certain: bool) -> Iterator[Problem]:
    """Roles that can write scripts of their own cluster: surely, or only perhaps."""
    found: dict[tuple[str, str, _Way], dict[str | Unknown, InstanceGroup]] = {}
    for role, cluster, groups in node_roles(deployment):
        its = power(role)
        # One mistake, one finding: what administrators can do besides, HP7008 says.
        for source in sources(cluster) if its is None or not its.writes else ():
            ways = list(_ways(role, source))
            if ways and any(way.certain for way in ways) is certain:
                way = next(way for way in ways if way.certain is certain)
                by_name = found.setdefault((role.path, source.uri, way), {})
                by_name.update({group.name: group for group in groups if group.name not in by_name})
    for (path, uri, way), by_name in found.items():
        can = "can write" if certain else "can perhaps write"
        yield Problem(
            path=path,
            message=f"nodes of {named(*by_name.values())} {can} the scripts at {uri}, which run as root: "
            f"their role has {way.action} on {way.resource}",
            fix="let nodes write to other buckets only, and give them s3:GetObject and s3:ListBucket on this one",
        )


@rule(
    "HP7006",
    Severity.WARNING,
    title="Nodes can write the scripts that run as root",
    because="whoever runs a job on one node can then run code as root on every node that is started or replaced. The "
    "deploy does not fail for it, and a bucket policy may deny the write: that alone makes it a warning",
    source="hyperpod_constructs: nodes only read what root runs",
)
def nodes_do_not_write_scripts(deployment: Deployment) -> Iterator[Problem]:
    yield from _script_writers(deployment, certain=True)


@rule(
    "HP7007",
    Severity.WARNING,
    title="Nodes can perhaps write the scripts that run as root",
    because="a pattern or a condition, or a name that is decided at deploy, may or may not cover them",
    source="hyperpod_constructs: nodes only read what root runs",
)
def nodes_may_not_write_scripts(deployment: Deployment) -> Iterator[Problem]:
    yield from _script_writers(deployment, certain=False)
