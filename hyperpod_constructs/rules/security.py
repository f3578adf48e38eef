"""What can be known about the roles of nodes before anything is created.

A role that lacks a permission fails the cluster after its network and file systems were paid for. A role that has too
much is worse: everybody who can run a job on a node can use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Final

from hyperpod_constructs.catalog.permissions import (
    INTERFACE_CHANGE,
    INTERFACE_DESCRIBE,
    INTERFACE_TAG,
    NODE_ACTIONS,
    NODE_POLICY,
)
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.identity import Role, Statement
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import UNKNOWN, Unknown, known

_SERVICE: Final = "sagemaker.amazonaws.com"
_PREREQUISITES: Final = "SageMaker developer guide, sagemaker-hyperpod-prerequisites-iam"

_ARN_FIELDS: Final = 6
_INTERFACES: Final = "arn:*:ec2:*:*:network-interface/*"

_ADMINISTRATOR: Final = "AdministratorAccess"
_WRITES: Final = (
    "s3:PutObject",
    "s3:PutObjectAcl",
    "s3:DeleteObject",
    "s3:DeleteObjectVersion",
)
_WILDCARD: Final = re.compile(r"[*?]")
_CONTROLS: Final = ("s3:PutBucketPolicy", "s3:PutBucketAcl", "s3:DeleteBucketPolicy", "s3:PutReplicationConfiguration")
"""Actions on a bucket by which a node could give itself the others, or have objects written."""

_UNDERSTOOD: Final[dict[str, tuple[Statement, ...]]] = {
    NODE_POLICY: (
        Statement(allow=True, actions=NODE_ACTIONS),
        Statement(allow=True, actions=("s3:ListBucket", "s3:GetObject"), resources=("arn:aws:s3:::sagemaker-*",)),
    ),
    "AmazonSSMManagedInstanceCore": (Statement(allow=True, actions=("ssm:*", "ssmmessages:*", "ec2messages:*")),),
    "AmazonPrometheusRemoteWriteAccess": (Statement(allow=True, actions=("aps:RemoteWrite",)),),
    _ADMINISTRATOR: (Statement(allow=True, actions=("*",)),),
}
"""Managed policies of which enough is known to say what they do not allow. Source: moto 5.2.5, copies of AWS's."""
_WRITERS: Final = {
    _ADMINISTRATOR: ("*",),
    "PowerUserAccess": ("*",),
    "AmazonS3FullAccess": ("*",),
    "AmazonSageMakerFullAccess": ("arn:aws:s3:::*SageMaker*", "arn:aws:s3:::*Sagemaker*", "arn:aws:s3:::*sagemaker*"),
}
"""Managed policies that allow s3:PutObject, and where. Source: moto 5.2.5, copies of AWS's."""


@lru_cache(maxsize=65_536)  # the same few actions and ARNs are compared for every role of an assembly
def overlap(one: str, other: str) -> bool:
    """Whether some text matches both patterns, in which `*` stands for any text and `?` for any character."""
    # Nearly every pair differs before the first wildcard, and the table below costs the product of the lengths.
    beginnings = [_WILDCARD.split(pattern, maxsplit=1)[0] for pattern in (one, other)]
    shorter = min(map(len, beginnings))
    if beginnings[0][:shorter] != beginnings[1][:shorter]:
        return False
    # row[j] tells whether the part of `one` read so far and the first j characters of `other` have a text in common.
    row = [True]
    for wanted in other:
        row.append(row[-1] and wanted == "*")
    for char in one:
        above, row = row, [row[0] and char == "*"]
        for j, wanted in enumerate(other, start=1):
            if "*" in {char, wanted}:
                row.append(above[j] or row[j - 1])
            else:
                row.append(above[j - 1] and (char == wanted or "?" in {char, wanted}))
    return row[-1]


def _same_resource(one: str, other: str) -> bool:
    """Whether two patterns of ARNs overlap; wildcards stay in their field, and IAM completes short ARNs with `*`."""
    fields = (arn.split(":", _ARN_FIELDS - 1) for arn in (one, other))
    return all(overlap(a, b) for a, b in zip_longest(*fields, fillvalue="*"))


def _any(patterns: tuple[str | Unknown, ...] | Unknown, fits: Callable[[str], bool]) -> bool | None:
    """Whether any of the patterns fits; `None` where that is known only at deploy."""
    if patterns is UNKNOWN:
        return None
    if any(fits(pattern) for pattern in patterns if isinstance(pattern, str)):
        return True
    return None if UNKNOWN in patterns else False


def _action_matches(statement: Statement, action: str) -> bool | None:
    return _any(statement.actions, lambda pattern: overlap(pattern.lower(), action.lower()))


def _resource_matches(statement: Statement, resource: str) -> bool | None:
    return _any(statement.resources, lambda pattern: _same_resource(pattern, resource))


def _allows(statement: Statement, action: str, resource: str) -> bool | None:
    """Whether a statement allows an action; conditions are taken to hold."""
    if not statement.allow:
        return False
    if statement.inverted:
        return None
    verdicts = (_action_matches(statement, action), _resource_matches(statement, resource))
    if False in verdicts:
        return False
    return None if None in verdicts else True


def granted(role: Role, action: str, resource: str = "*") -> bool | None:
    """Whether the policies of a role allow an action, with conditions taken to hold and denials left out.

    Args:
        role: The role.
        action: For example `s3:GetObject`.
        resource: ARN or pattern of what the action is to be done with.

    Returns:
        `None` where the answer may hang on something that is known only at deploy or is not part of the deployment.
    """
    managed = role.managed_policies if isinstance(role.managed_policies, tuple) else (UNKNOWN,)
    statements = [*role.statements]
    for name in managed:
        statements += _UNDERSTOOD.get(name, ()) if isinstance(name, str) else ()
    verdicts = {_allows(statement, action, resource) for statement in statements}
    if True in verdicts:
        return True
    all_known = role.complete and all(name in _UNDERSTOOD for name in managed)
    return False if all_known and None not in verdicts else None


def _node_roles(deployment: Deployment) -> Iterator[tuple[Role, Cluster, list[InstanceGroup]]]:
    """Roles of the deployment that nodes have, by cluster, with the groups that have them."""
    for cluster in deployment.clusters:
        users: dict[str, list[InstanceGroup]] = {}
        for group in cluster.groups:
            if isinstance(group.execution_role, str):
                users.setdefault(group.execution_role, []).append(group)
        for path, groups in users.items():
            role = deployment.role(path)
            if role is not None:
                yield role, cluster, groups


@rule(
    "HP7001",
    Severity.ERROR,
    title="Role of nodes cannot be assumed by SageMaker",
    because="nodes get their role through the service, not through EC2",
    source=_PREREQUISITES,
)
def sagemaker_assumes_the_role(deployment: Deployment) -> Iterator[Problem]:
    for role, _, groups in _node_roles(deployment):
        if isinstance(role.trusts, tuple) and not {_SERVICE, UNKNOWN} & set(role.trusts):
            trusted = ", ".join(str(each) for each in role.trusts) or "no service"
            message = f"role of {named(*groups)} trusts {trusted}"
            yield Problem(path=role.path, message=message, fix=f"let {_SERVICE} assume it")


@rule(
    "HP7002",
    Severity.WARNING,
    title="Role of nodes can be used for other accounts",
    because="without a condition on the account, the service can be made to use the role for somebody else",
    source="IAM user guide, confused deputy; sunilpp/hyperpod-quickstart commit 38bb31c8",
)
def trust_is_for_one_account(deployment: Deployment) -> Iterator[Problem]:
    for role, _, groups in _node_roles(deployment):
        if role.source_account_checked is False and role.trusts is not UNKNOWN:
            yield Problem(
                path=role.path,
                message=f"trust of the role of {named(*groups)} does not ask for the caller's account",
                fix="add the condition StringEquals aws:SourceAccount with the account of the cluster",
            )


def _missing(role: Role, wanted: dict[str, str]) -> str:
    """Those actions that a role surely lacks, in words."""
    return ", ".join(action for action, resource in wanted.items() if granted(role, action, resource) is False)


@rule(
    "HP7003",
    Severity.WARNING,
    title="Role of nodes lacks what every node needs",
    because=f"nodes write logs and metrics and open sessions; {NODE_POLICY} allows all of it",
    source=f"{_PREREQUISITES}; {NODE_POLICY}, version 1",
)
def nodes_have_the_basic_permissions(deployment: Deployment) -> Iterator[Problem]:
    for role, _, groups in _node_roles(deployment):
        if missing := _missing(role, dict.fromkeys(NODE_ACTIONS, "*")):
            yield Problem(
                path=role.path,
                message=f"role of {named(*groups)} lacks {missing}",
                fix=f"attach the managed policy {NODE_POLICY}",
            )


@rule(
    "HP7004",
    Severity.ERROR,
    title="Role of nodes lacks permissions for network interfaces",
    because="in a VPC of the account, nodes get their interfaces with their own role; creation fails with "
    "'Failed to create Customer ENI', or later the replacement of a node",
    source=f"{_PREREQUISITES}, section on VPCs",
)
def nodes_can_make_interfaces(deployment: Deployment) -> Iterator[Problem]:
    for role, cluster, groups in _node_roles(deployment):
        placed = [group for group in groups if isinstance(cluster.placement_of(group), VpcPlacement)]
        everywhere = sorted((*INTERFACE_DESCRIBE, *INTERFACE_CHANGE))
        wanted = {**dict.fromkeys(everywhere, "*"), INTERFACE_TAG: _INTERFACES}
        if placed and (missing := _missing(role, wanted)):
            stands = "stands" if len(placed) == 1 else "stand"
            yield Problem(
                path=role.path,
                message=f"role of {named(*placed)}, which {stands} in a VPC, lacks {missing}",
                fix=f"allow them on *, and {INTERFACE_TAG} on arn:aws:ec2:*:*:network-interface/*",
            )


@rule(
    "HP7005",
    Severity.ERROR,
    title="Role of EKS nodes has a path",
    because="the access entry that lets nodes join cannot be made for a role with a path",
    source="sunilpp/hyperpod-quickstart commit 519fd926",
)
def eks_roles_have_no_path(deployment: Deployment) -> Iterator[Problem]:
    for role, cluster, groups in _node_roles(deployment):
        path = known(role.role_path)
        if isinstance(cluster.orchestrator, Eks) and path not in {None, "/"}:
            message = f"role of {named(*groups)} has the path {path}"
            fix = "leave the path out; if your organisation demands one, ask for an exception for these roles"
            yield Problem(path=role.path, message=message, fix=fix)


# --- Nodes never write the scripts that root runs


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptSource:
    """Where scripts lie, as patterns of what S3 actions name.

    Attributes:
        uri: As written, or its known beginning and `*`.
        bucket: Name of the bucket, or its known beginning and `*`.
        keys: Pattern of the keys of the scripts.
        decided: Whether nothing of the prefix is left to the deploy.
    """

    uri: str
    bucket: str
    keys: str
    decided: bool

    @classmethod
    def at(cls, uri: str) -> ScriptSource:
        """The source of an S3 URI."""
        bucket, _, prefix = uri.removeprefix("s3://").partition("/")
        prefix = prefix.strip("/")
        decided = not uri.endswith("*")
        return cls(uri=uri, bucket=bucket, keys=f"{prefix}/*" if prefix and decided else f"{prefix}*", decided=decided)

    @property
    def objects(self) -> str:
        """Pattern of the ARNs of the scripts."""
        return f"arn:*:s3:::{self.bucket}/{self.keys}"

    def surely_in(self, resource: str) -> bool:
        """Whether a resource that overlaps holds scripts, whatever the deploy puts in place of a `*`."""
        if resource == "*":
            return True
        named, literal = _named(resource)
        if literal == self.bucket:
            return named == self.bucket
        known_part = _named(self.objects)[1]
        return literal.startswith(f"{self.bucket}/") and (self.decided or known_part.startswith(literal))

    def perhaps_in(self, resource: str) -> bool:
        """Whether a resource that overlaps and this source both name something, so that they can mean the same."""
        return self.bucket != "*" and _named(resource)[1] != ""


def _named(resource: str) -> tuple[str, str]:
    """Bucket and key that an ARN of S3 names, and what of that stands before the first wildcard."""
    named = resource.partition(":::")[2]
    return named, re.split(r"[*?]", named, maxsplit=1)[0]


def _sources(cluster: Cluster) -> list[ScriptSource]:
    """Where a cluster's scripts lie, as far as known."""
    given = (group.lifecycle for group in cluster.groups)
    uris = dict.fromkeys(each.source_uri for each in given if isinstance(each, Lifecycle))
    return [ScriptSource.at(uri) for uri in uris if isinstance(uri, str) and uri.startswith("s3://")]


def _denied(role: Role, action: str, resource: str) -> bool:
    """Whether an unconditional statement may take the action away again."""
    return any(
        each.inverted or False not in {_action_matches(each, action), _resource_matches(each, resource)}
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
        for action in (each for each in wanted if _action_matches(statement, each)):
            for resource in statement.resources:
                yield from _way(source, action, wanted[action], resource, conditional=statement.conditional)
    managed = role.managed_policies if isinstance(role.managed_policies, tuple) else ()
    for name in managed if "s3:PutObject" in wanted else ():
        for resource in _WRITERS.get(name, ()) if isinstance(name, str) else ():
            certain = resource == "*" or not source.bucket.endswith("*")
            prefix = source.objects.rstrip("*") if certain else source.objects
            if _same_resource(resource, prefix) and (certain or source.bucket != "*"):
                yield _Way(action="s3:PutObject", resource=f"{resource} ({name})", certain=certain)


def _way(
    source: ScriptSource, action: str, target: str, resource: str | Unknown, *, conditional: bool
) -> Iterator[_Way]:
    if not isinstance(resource, str) or not _same_resource(resource, target):
        return
    certain = source.surely_in(resource)
    if certain or source.perhaps_in(resource):
        yield _Way(action=action, resource=resource, certain=certain and not conditional)


def _script_writers(deployment: Deployment, *, certain: bool) -> Iterator[Problem]:
    """Roles that can write scripts of their own cluster: surely, or only perhaps."""
    for role, cluster, groups in _node_roles(deployment):
        for source in _sources(cluster):
            ways = list(_ways(role, source))
            if not ways or any(way.certain for way in ways) is not certain:
                continue
            way = next(way for way in ways if way.certain is certain)
            can = "can write" if certain else "can perhaps write"
            yield Problem(
                path=role.path,
                message=f"nodes of {named(*groups)} {can} the scripts at {source.uri}, which run as root: "
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


def _is_administrator(role: Role) -> bool:
    managed = role.managed_policies if isinstance(role.managed_policies, tuple) else ()
    return _ADMINISTRATOR in managed or any(
        each.allow
        and not each.inverted
        and isinstance(each.actions, tuple)
        and isinstance(each.resources, tuple)
        and bool({"*", "*:*"} & set(each.actions))
        and "*" in each.resources
        for each in role.statements
    )


@rule(
    "HP7008",
    Severity.WARNING,
    title="Nodes are administrators of the account",
    because="everybody who can run a job on a node can use its role",
    source="IAM user guide, least privilege",
)
def nodes_are_no_administrators(deployment: Deployment) -> Iterator[Problem]:
    for role, _, groups in _node_roles(deployment):
        if _is_administrator(role):
            yield Problem(
                path=role.path,
                message=f"role of {named(*groups)} may do everything",
                fix=f"attach {NODE_POLICY} and allow what the nodes' features need",
            )
