"""Whether nodes find their scripts where they look, and may read them.

All of this fails the same way: twenty minutes into the create, with one message for all causes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.identity import Role
from hyperpod_constructs.model.lifecycle import Bucket, Lifecycle, Upload, is_generated
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import place
from hyperpod_constructs.rules._permissions import cure, denied, granted, lacking, overlap
from hyperpod_constructs.rules._scripts import ScriptSource, sources
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import UNKNOWN, Unknown, known

_CONFIG: Final = "SageMaker API, ClusterLifeCycleConfig (botocore 1.44.8)"
_READABLE_PREFIX: Final = "sagemaker-"
"""Buckets that the managed policy of nodes lets them read begin with this."""
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_IN_CDK: Final = "bucket.grant_read(role) in the CDK"
_EVERY_KEY: Final = "arn:*:kms:*:*:key/*"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Readers:
    """Groups that have one role and one place of scripts.

    Attributes:
        role: Path or ARN; `None` where it is not known.
        source: Where the scripts lie.
        path: Of findings about the groups.
        groups: The groups, of one cluster or of several.
        partition: In which their buckets are.
    """

    role: str | None
    source: ScriptSource
    path: str
    groups: tuple[InstanceGroup, ...]
    partition: str


def _readers(deployment: Deployment) -> Iterator[_Readers]:
    """Groups by role and place of their scripts, where that is known and may be a bucket."""
    found: dict[tuple[str | None, str], list[tuple[Cluster, InstanceGroup]]] = {}
    for cluster, group, _ in deployment.groups():
        uri = known(group.lifecycle.source_uri) if isinstance(group.lifecycle, Lifecycle) else None
        if uri is not None and uri.startswith("s3://"):
            found.setdefault((known(group.execution_role), uri), []).append((cluster, group))
    for (role, uri), users in found.items():
        source = ScriptSource.at(uri)
        by_name = {group.name: group for _, group in reversed(users)}
        groups = tuple(reversed(by_name.values()))
        first = users[0][0]
        if "*" in source.bucket or is_generated(source.bucket) or _BUCKET.fullmatch(source.bucket):
            yield _Readers(
                role=role,
                source=source,
                path=place(first, [group for _, group in users]),
                groups=groups,
                partition=regions.partition(first.region or "") or "aws",
            )


def _needed(source: ScriptSource) -> dict[str, tuple[str, str]]:
    """What reading scripts takes, in words: an action and the pattern of what it has to be allowed on."""
    objects, bucket = f"{source.bucket}/{source.keys}", source.bucket
    named_objects, named_bucket = ("the scripts", "their bucket") if "*" in bucket else (objects, bucket)
    return {
        f"s3:GetObject on {named_objects}": ("s3:GetObject", f"arn:*:s3:::{objects}"),
        f"s3:ListBucket on {named_bucket}": ("s3:ListBucket", f"arn:*:s3:::{bucket}"),
    }


def _shown(source: ScriptSource) -> str:
    """Where scripts lie, as messages say it."""
    return f"{source.uri} (* is decided at deploy)" if "*" in source.uri else source.uri


def _verdicts(role: Role, source: ScriptSource) -> dict[str, bool | None]:
    """Whether a role has each of what reading scripts takes."""
    return {what: _granted(role, *wanted, source) for what, wanted in _needed(source).items()}


def _granted(role: Role, action: str, resource: str, source: ScriptSource) -> bool | None:
    """Whether a role may do something; not known where that hangs on the name of a stack."""
    verdict = granted(role, action, resource)
    if verdict is False and source.any_stack and granted(role, action, resource.replace(":::", ":::*", 1)):
        return None
    return verdict


def _lacks(deployment: Deployment, readers: _Readers) -> dict[str, tuple[str, str]]:
    """What of reading the scripts the groups' role surely lacks."""
    role, source = deployment.role(readers.role), readers.source
    if role is None:
        return {}
    needed, opened = _needed(source), _is_opened(deployment, source)
    # What the role's own policies deny, no policy of the bucket gives back.
    return {
        what: needed[what]
        for what, verdict in _verdicts(role, source).items()
        if verdict is False and (not opened or denied(role, *needed[what]))
    }


@rule(
    "HP5009",
    Severity.ERROR,
    title="Nodes cannot read their scripts",
    because=f"{NODE_POLICY} opens buckets that begin with {_READABLE_PREFIX} only; others need a grant of their own, "
    "with s3:GetObject on the objects, not on the bucket, and s3:ListBucket on the bucket, not on the objects",
    source=f"{_CONFIG}, SourceS3Uri; {NODE_POLICY}, version 1; awslabs/awsome-distributed-ai issue 1044",
)
def nodes_can_read_their_scripts(deployment: Deployment) -> Iterator[Problem]:
    for readers in _readers(deployment):
        role, lacks = deployment.role(readers.role), _lacks(deployment, readers)
        if role is not None and lacks:
            yield Problem(
                path=role.path,
                message=f"role of {named(*readers.groups)}, whose scripts are at {_shown(readers.source)}, lacks "
                f"{' and '.join(lacks)}" + _misplaced(role, readers.source),
                fix=cure(role, dict(lacks.values()), _grant(readers, lacks)),
            )


def _grant(readers: _Readers, lacks: Iterable[str]) -> str:
    """What to allow; the managed policy where that does it."""
    source = readers.source
    if source.bucket.startswith(_READABLE_PREFIX):
        return f"attach the managed policy {NODE_POLICY}, which allows it for buckets of such a name"
    on = f"allow {' and '.join(lacks)}" if "*" in source.bucket else f"allow {_arns(readers, lacks)}"
    return f"{on} ({_IN_CDK})"


def _arns(readers: _Readers, lacks: Iterable[str]) -> str:
    return " and ".join(what.replace(" on ", f" on arn:{readers.partition}:s3:::") for what in lacks)


def _misplaced(role: Role, source: ScriptSource) -> str:
    """What a role has on the wrong of the two kinds of resources."""
    bucket = f"arn:*:s3:::{source.bucket}"
    on_bucket = granted(role, "s3:GetObject", source.objects) is False and granted(role, "s3:GetObject", bucket)
    on_objects = granted(role, "s3:ListBucket", bucket) is False and granted(role, "s3:ListBucket", source.objects)
    said = "; it has s3:GetObject on the bucket itself, which opens no object" if on_bucket else ""
    return said + ("; it has s3:ListBucket on the objects, which lists no bucket" if on_objects else "")


def _is_opened(deployment: Deployment, source: ScriptSource) -> bool:
    """Whether a bucket policy may open the bucket to the role."""
    names = deployment.granting_buckets
    return UNKNOWN in names or any(isinstance(name, str) and overlap(name, source.bucket) for name in names)


@rule(
    "HP5010",
    Severity.WARNING,
    title="It cannot be seen whether nodes can read their scripts",
    because=f"the bucket does not surely begin with {_READABLE_PREFIX}, so the role needs a grant of its own, and the "
    "role is not wholly part of this deployment, or the bucket's name is made at deploy",
    source=f"{_CONFIG}, SourceS3Uri; {NODE_POLICY}, version 1",
)
def nodes_may_read_their_scripts(deployment: Deployment) -> Iterator[Problem]:
    for readers in _readers(deployment):
        source, role = readers.source, deployment.role(readers.role)
        if readers.role is None or source.bucket.startswith(_READABLE_PREFIX) or _lacks(deployment, readers):
            continue
        its = f"the scripts of {named(*readers.groups)} are at {_shown(source)}"
        needed = " and ".join(_needed(source))
        if role is None or _is_unseen(role, source):
            yield Problem(
                path=readers.path,
                message=f"{its}, and not all policies of the role {readers.role} are known here",
                fix=f"see that it has {needed}, or use a bucket that begins with {_READABLE_PREFIX}",
            )
        elif _is_by_name(role, source) and not _is_opened(deployment, source):
            yield Problem(
                path=readers.path,
                message=f"{its}; the role {role.path} can read that bucket only if its name, which is made at deploy, "
                f"begins with {_READABLE_PREFIX} ({NODE_POLICY})",
                fix=f"allow s3:GetObject and s3:ListBucket on it ({_IN_CDK}), or see that its name begins with "
                f"{_READABLE_PREFIX}",
            )


def _is_unseen(role: Role, source: ScriptSource) -> bool:
    return not role.complete and None in _verdicts(_without_node_policy(role), source).values()


def _is_by_name(role: Role, source: ScriptSource) -> bool:
    """Whether nothing but the managed policy opens a bucket, which hangs on its name."""
    made = "*" in source.bucket or source.any_stack
    return made and False in _verdicts(_without_node_policy(role), source).values()


def _without_node_policy(role: Role) -> Role:
    managed = role.managed_policies
    kept = tuple(name for name in managed if name != NODE_POLICY) if isinstance(managed, tuple) else managed
    return replace(role, managed_policies=kept)


def told_to_take_the_node_policy(deployment: Deployment) -> set[str]:
    """Paths of the roles of which HP5009 says already that the managed policy of nodes is to be attached."""
    found = set()
    for readers in _readers(deployment):
        role, lacks = deployment.role(readers.role), _lacks(deployment, readers)
        by_name = readers.source.bucket.startswith(_READABLE_PREFIX)
        if role is not None and lacks and by_name and not any(denied(role, *wanted) for wanted in lacks.values()):
            found.add(role.path)
    return found


# --- Whether the scripts are there


def _bucket(deployment: Deployment, source: ScriptSource) -> Bucket | None:
    return next((each for each in deployment.buckets if each.name == source.bucket), None)


def _prefix(source: ScriptSource) -> str:
    """The known part of the keys of the scripts, with slashes around folders only."""
    return source.uri.removeprefix("s3://").partition("/")[2].rstrip("*").strip("/")


def _overlap(one: str, other: str) -> bool:
    """Whether one prefix is the other or a folder in it."""
    shorter, longer = sorted((one, other), key=len)
    return not shorter or longer == shorter or longer.startswith(f"{shorter}/")


def _uploads(deployment: Deployment, source: ScriptSource) -> list[Upload]:
    """What puts files where scripts are looked for, or may do so."""
    prefix = _prefix(source)
    return [
        each
        for each in deployment.uploads
        if each.bucket == source.bucket and (not isinstance(each.prefix, str) or _overlap(each.prefix, prefix))
    ]


def _same_file(deployment: Deployment, one: str, other: str) -> bool:
    """Whether two resources surely stand in one template."""
    places = deployment.locations.get(one), deployment.locations.get(other)
    return places[0] is not None and places[1] is not None and places[0].file == places[1].file


@rule(
    "HP5017",
    Severity.WARNING,
    title="Cluster does not wait for its scripts to be uploaded",
    because="a bucket deployment is a resource like others: unless the cluster depends on it, nodes may look for their "
    "scripts before they are there",
    source="aws/aws-cdk issue 30635; inferred from CloudFormation's order of creation",
)
def clusters_wait_for_uploads(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        before = cluster.depends_on
        late = {
            upload.path: source
            for source in sources(cluster)
            for upload in _uploads(deployment, source)
            if before is not None and upload.path not in before and _same_file(deployment, upload.path, cluster.path)
        }
        for path, source in late.items():
            yield Problem(
                path=cluster.path,
                message=f"the cluster does not wait for {path}, which uploads the scripts at {source.uri}",
                fix=f"let the cluster depend on {path}: DependsOn in a template, "
                "cluster.node.add_dependency(deployment) in the CDK",
            )


@rule(
    "HP5018",
    Severity.WARNING,
    title="Two bucket deployments delete each other's files",
    because="each deletes whatever else lies below its prefix, unless Prune is false; which of them comes last, and "
    "with which update, is chance",
    source="aws/aws-cdk issues 15129 and 15182, pull 15384",
)
def uploads_leave_each_other_alone(deployment: Deployment) -> Iterator[Problem]:
    wanted = {source.bucket for cluster in deployment.clusters for source in sources(cluster)}
    uploads = [each for each in deployment.uploads if each.bucket in wanted and isinstance(each.prefix, str)]
    for number, one in enumerate(uploads):
        for other in uploads[number + 1 :]:
            deletes = next((each for each in _pruning(one, other) if not each.filtered), None)
            if one.bucket != other.bucket or deletes is None:
                continue
            yield Problem(
                path=deletes.path,
                message=f"{one.path} and {other.path} both copy to {_place(one)}"
                + ("" if one.prefix == other.prefix else f" and {_place(other)}")
                + f", and {deletes.path} deletes what is not its own there",
                fix="give each a prefix of its own, outside the other's, or prune=False",
            )


def _pruning(one: Upload, other: Upload) -> Iterator[Upload]:
    """Those of two uploads that delete files of the other."""
    for each, its in ((one, other), (other, one)):
        if each.prune is True and isinstance(each.prefix, str) and isinstance(its.prefix, str):
            folder = not each.prefix or its.prefix == each.prefix or its.prefix.startswith(f"{each.prefix}/")
            if folder:
                yield each


def _place(upload: Upload) -> str:
    return f"s3://{upload.bucket}/{upload.prefix}"


@rule(
    "HP5019",
    Severity.WARNING,
    title="Nothing puts scripts into the bucket that the template makes for them",
    because="the bucket is made with the cluster and is empty, so that nodes find no script; likely, because somebody "
    "may fill it while the stack is made, or have made it with an earlier version of the template",
    source="inferred; awslabs/awsome-distributed-ai, troubleshooting",
)
def buckets_of_scripts_are_filled(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        for source in sources(cluster):
            bucket = _bucket(deployment, source)
            if bucket is None or bucket.handed_out or not _same_file(deployment, bucket.path, cluster.path):
                continue
            if not _uploads(deployment, source):
                yield Problem(
                    path=cluster.path,
                    message=f"the scripts are to be at {source.uri}, and nothing here puts them there: the bucket "
                    f"{bucket.path} is empty when the cluster is made",
                    fix="publish them before: in the CDK, hp.LifecycleScripts does; without it, make the bucket in a "
                    "stack of its own and upload the scripts before the cluster is made",
                )


@rule(
    "HP5020",
    Severity.WARNING,
    title="The bucket of the scripts stops the stack from being deleted",
    because="a bucket that holds objects, or old versions of them, cannot be deleted: the stack ends in DELETE_FAILED",
    source="sunilpp/hyperpod-quickstart commits 720c5cd4 and bc453f1a; S3 user guide, deleting a bucket",
)
def buckets_of_scripts_are_kept_or_emptied(deployment: Deployment) -> Iterator[Problem]:
    wanted = {source.bucket for cluster in deployment.clusters for source in sources(cluster)}
    for bucket in deployment.buckets:
        if bucket.name in wanted and bucket.retention.on_delete == "Delete" and not bucket.emptied:
            yield Problem(
                path=bucket.path,
                message="the bucket holds the scripts of a cluster and is deleted with the stack, but not emptied "
                "first",
                fix="write DeletionPolicy: Retain, or RetainExceptOnCreate (removal_policy=RemovalPolicy.RETAIN); to "
                "delete it with the stack, empty all versions too (auto_delete_objects=True)",
            )


@rule(
    "HP5021",
    Severity.WARNING,
    title="Nodes cannot decrypt their scripts",
    because="reading objects that a customer key encrypts takes kms:Decrypt on the key, from the role or the key's "
    "policy",
    source="S3 user guide, UsingKMSEncryption; SageMaker developer guide, sagemaker-hyperpod-prerequisites-iam",
)
def nodes_can_decrypt_their_scripts(deployment: Deployment) -> Iterator[Problem]:
    found: dict[tuple[str, str, str], dict[str | Unknown, InstanceGroup]] = {}
    for _, group, _ in deployment.groups():
        uri = known(group.lifecycle.source_uri) if isinstance(group.lifecycle, Lifecycle) else None
        role = deployment.role(group.execution_role)
        bucket = _bucket(deployment, ScriptSource.at(uri)) if uri is not None else None
        if role is None or bucket is None or not isinstance(bucket.key, str) or bucket.key == "alias/aws/s3":
            continue
        key = deployment.key(bucket.key)
        by_key = key is not None and not {role.path, UNKNOWN}.isdisjoint(key.readers)
        if lacking(role, {"kms:Decrypt": _EVERY_KEY}) and not by_key:
            found.setdefault((role.path, bucket.path, bucket.key), {}).setdefault(group.name, group)
    for (path, place_of_scripts, key_of_bucket), groups in found.items():
        yield Problem(
            path=path,
            message=f"role of {named(*groups.values())} lacks kms:Decrypt on {key_of_bucket}, the key that encrypts "
            f"the scripts in {place_of_scripts}",
            fix=f"allow kms:Decrypt on the key ({_IN_CDK}), unless the key's policy admits the role",
        )
