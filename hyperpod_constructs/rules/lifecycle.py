"""What can be known about lifecycle scripts before anything is created.

A script that is missing, unreadable or refused by the shell fails nodes twenty minutes into the create, with one
message for all causes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Final

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.identity import Role
from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile
from hyperpod_constructs.model.orchestration import Slurm
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.rules.security import ScriptSource, granted
from hyperpod_constructs.tokens import UNKNOWN, known

_CONFIG: Final = "SageMaker API, ClusterLifeCycleConfig (botocore 1.44.8)"
_TROUBLESHOOTING: Final = "awslabs/awsome-distributed-ai and ai-on-sagemaker-hyperpod, troubleshooting"
_PARAMETERS: Final = "provisioning_parameters.json"
_READABLE_PREFIX: Final = "sagemaker-"
"""Buckets that the managed policy of nodes lets them read begin with this."""
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_BUCKET_BEGINNING: Final = re.compile(r"[a-z0-9.-]*\*")
_SHELL_SUFFIXES: Final = ("", ".sh", ".bash")
_LONGEST_URI: Final = 1024
_LONGEST_SCRIPT: Final = 128


def _configured(deployment: Deployment) -> Iterator[tuple[InstanceGroup, str, Lifecycle]]:
    """Groups that have lifecycle scripts, with the path of findings about them."""
    for _, group, path in deployment.groups():
        if isinstance(group.lifecycle, Lifecycle):
            yield group, path, group.lifecycle


def _scripts(lifecycle: Lifecycle) -> list[str]:
    """The scripts that are named, as far as known."""
    return [name for name in (known(lifecycle.on_create), known(lifecycle.on_init_complete)) if name is not None]


@rule(
    "HP5001",
    Severity.ERROR,
    title="Group has both OnCreate and OnInitComplete",
    because="one script replaces HyperPod's own provisioning, the other runs after it: they exclude each other",
    source="AWS::SageMaker::Cluster schema, ClusterLifeCycleConfig",
)
def lifecycle_has_one_script(deployment: Deployment) -> Iterator[Problem]:
    for group, path, lifecycle in _configured(deployment):
        on_create, on_init_complete = known(lifecycle.on_create), known(lifecycle.on_init_complete)
        if on_create is not None and on_init_complete is not None:
            yield Problem(
                path=path,
                message=f"{named(group)} has OnCreate {on_create} and OnInitComplete {on_init_complete}",
                fix="keep OnInitComplete, which runs after HyperPod's own provisioning, or OnCreate, which replaces it",
            )


@rule(
    "HP5002",
    Severity.WARNING,
    title="Lifecycle has a script without a source, or a source without a script",
    because="the source says where the scripts lie and the script which of them runs; one alone means nothing, but no "
    "page says that the service refuses it",
    source=f"{_CONFIG}; inferred",
)
def lifecycle_is_whole(deployment: Deployment) -> Iterator[Problem]:
    for group, path, lifecycle in _configured(deployment):
        if lifecycle.source_uri is None and (scripts := _scripts(lifecycle)):
            message, fix = f"names {scripts[0]} but no source", "give SourceS3Uri, the prefix where the script lies"
        elif known(lifecycle.source_uri) and lifecycle.on_create is None and lifecycle.on_init_complete is None:
            message = f"has scripts at {lifecycle.source_uri} but calls none"
            fix = "name one as OnCreate or OnInitComplete, or leave the whole lifecycle out"
        else:
            continue
        yield Problem(path=path, message=f"{named(group)} {message}", fix=fix)


@rule(
    "HP5003",
    Severity.ERROR,
    title="Source of the scripts is no address that the service takes",
    because="the service takes s3://BUCKET/PREFIX, or an https address, and nodes download from there",
    source=f"{_CONFIG}, SourceS3Uri",
)
def source_is_an_address(deployment: Deployment) -> Iterator[Problem]:
    for group, path, lifecycle in _configured(deployment):
        uri = known(lifecycle.source_uri)
        if uri is None or (len(uri) <= _LONGEST_URI and _is_address(uri)):
            continue
        yield Problem(
            path=path,
            message=f"{named(group)} has its scripts at {uri!r}",
            fix=f"use s3://BUCKET/PREFIX with at most {_LONGEST_URI:,} characters, the bucket in lower case",
        )


def _is_address(uri: str) -> bool:
    """Whether the service takes a URI, or the known beginning of one."""
    scheme, _, place = uri.partition("://")
    name, slash, _ = place.partition("/")
    if scheme == "https":
        return bool(name)
    undecided = not slash and _BUCKET_BEGINNING.fullmatch(name)
    return scheme == "s3" and bool(undecided or _BUCKET.fullmatch(name))


@rule(
    "HP5004",
    Severity.ERROR,
    title="Script is not named by its path below the source",
    because="the service looks the name up under the source prefix",
    source=f"{_CONFIG}, OnCreate",
)
def scripts_are_relative(deployment: Deployment) -> Iterator[Problem]:
    for group, path, lifecycle in _configured(deployment):
        for script in _scripts(lifecycle):
            if not 1 <= len(script) <= _LONGEST_SCRIPT or script.startswith("/") or "://" in script:
                yield Problem(
                    path=path,
                    message=f"{named(group)} calls {script!r}",
                    fix=f"name the file below the source with 1 to {_LONGEST_SCRIPT} characters, such as on_create.sh",
                )


def _names(files: tuple[ScriptFile, ...]) -> list[str]:
    return sorted(file.name for file in files)


@rule(
    "HP5005",
    Severity.ERROR,
    title="Script is not among the files",
    because="nodes download the directory and then call a file that it does not have",
    source=_TROUBLESHOOTING,
)
def script_is_among_the_files(deployment: Deployment) -> Iterator[Problem]:
    for group, path, lifecycle in _configured(deployment):
        if lifecycle.files is None:
            continue
        names = _names(lifecycle.files)
        for script in _scripts(lifecycle):
            if script.removeprefix("./") in names:
                continue
            meant = get_close_matches(script, names, n=1)
            yield Problem(
                path=path,
                message=f"{named(group)} calls {script}, which is not among its {len(names)} files",
                fix=f"call {meant[0]}, or add {script} to the directory" if meant else f"add {script} to the directory",
            )


@rule(
    "HP5006",
    Severity.ERROR,
    title="Shell script has line ends of Windows",
    because="a Linux shell takes the carriage return for a part of the command and stops",
    source=_TROUBLESHOOTING,
)
def scripts_have_unix_line_ends(deployment: Deployment) -> Iterator[Problem]:
    for group, path, lifecycle in _configured(deployment):
        entries = {script.removeprefix("./") for script in _scripts(lifecycle)}
        broken = [
            file.name
            for file in lifecycle.files or ()
            if file.carriage_returns and (file.name in entries or PurePosixPath(file.name).suffix in _SHELL_SUFFIXES)
        ]
        if broken:
            yield Problem(
                path=path,
                message=f"{named(group)} has CR LF line ends in {', '.join(sorted(broken))}",
                fix="save with LF line ends, and keep them with '* text eol=lf' in .gitattributes",
            )


@rule(
    "HP5007",
    Severity.ERROR,
    title=f"{_PARAMETERS} lies beside the scripts of a cluster that has a SlurmConfig",
    because="the service takes one of the two and refuses both, whoever put the file there",
    source="SageMaker developer guide, sagemaker-hyperpod-ref: 'The LifeCycleConfig cannot include both'",
)
def slurm_is_configured_once(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        files = group.lifecycle.files if isinstance(group.lifecycle, Lifecycle) else None
        by_api = isinstance(cluster.orchestrator, Slurm) or known(group.node_type) is not None
        if by_api and _PARAMETERS in _names(files or ()):
            yield Problem(
                path=path,
                message=f"{named(group)} has {_PARAMETERS} among its scripts, beside a SlurmConfig",
                fix=f"delete {_PARAMETERS}, or move it out of the directory",
            )


def _is_legacy_slurm(cluster: Cluster) -> bool:
    """Whether a cluster is Slurm in its old form, in which a file beside the scripts says who is what."""
    return cluster.orchestrator is None and all(group.node_type is None for group in cluster.groups)


@rule(
    "HP5008",
    Severity.ERROR,
    title=f"Slurm cluster has neither a SlurmConfig nor {_PARAMETERS}",
    because="nothing tells the nodes which of them is the controller",
    source="SageMaker developer guide, Slurm: 'No provisioning_parameters.json found in LifeCycleScript S3 Path'",
)
def legacy_slurm_has_its_parameters(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        lifecycles = [group.lifecycle for group in cluster.groups if group.lifecycle is not None]
        files = [each.files if isinstance(each, Lifecycle) else None for each in lifecycles]
        known_files = [each for each in files if each is not None]
        if not _is_legacy_slurm(cluster) or not files or len(known_files) < len(files):
            continue
        if not any(_PARAMETERS in _names(each) for each in known_files):
            yield Problem(
                path=cluster.path,
                message=f"no group has {_PARAMETERS} among its scripts, and no group says whether it is the controller",
                fix=f"give every group a node type (SlurmConfig), or put {_PARAMETERS} beside the controller's scripts",
            )


# --- Nodes must be able to read the scripts


def _readers(deployment: Deployment) -> Iterator[tuple[Cluster, InstanceGroup, ScriptSource]]:
    """Groups whose scripts lie in a bucket that the managed policy does not open."""
    for cluster, group, _ in deployment.groups():
        uri = known(group.lifecycle.source_uri) if isinstance(group.lifecycle, Lifecycle) else None
        if uri is None or not uri.startswith("s3://"):
            continue
        source = ScriptSource.at(uri)
        if _BUCKET.fullmatch(source.bucket) and not source.bucket.startswith(_READABLE_PREFIX):
            yield cluster, group, source


def _needed(bucket: str) -> tuple[str, str]:
    """What reading scripts takes, in words: for the objects and for the bucket."""
    return f"s3:GetObject on {bucket}/*", f"s3:ListBucket on {bucket}"


def _verdicts(role: Role, source: ScriptSource) -> dict[str, bool | None]:
    """Whether a role has each of what reading scripts takes."""
    get, listing = _needed(source.bucket)
    return {
        get: granted(role, "s3:GetObject", source.objects),
        listing: granted(role, "s3:ListBucket", f"arn:*:s3:::{source.bucket}"),
    }


@rule(
    "HP5009",
    Severity.ERROR,
    title="Nodes cannot read their scripts",
    because=f"{NODE_POLICY} opens buckets that begin with {_READABLE_PREFIX} only; others need a grant of their own, "
    "with s3:GetObject on the objects, not on the bucket",
    source=f"{_CONFIG}, SourceS3Uri; {NODE_POLICY}, version 1; awslabs/awsome-distributed-ai issue 1044",
)
def nodes_can_read_their_scripts(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, source in _readers(deployment):
        if not {source.bucket, UNKNOWN}.isdisjoint(deployment.granting_buckets):
            continue  # a bucket policy may open it to the role
        role = deployment.role(group.execution_role)
        lacks = [what for what, verdict in _verdicts(role, source).items() if verdict is False] if role else []
        if role is None or not lacks:
            continue
        no_objects = granted(role, "s3:GetObject", source.objects) is False
        on_bucket = no_objects and granted(role, "s3:GetObject", f"arn:*:s3:::{source.bucket}")
        partition = regions.partition(cluster.region or "") or "aws"
        yield Problem(
            path=role.path,
            message=f"role of {named(group)}, whose scripts are at {source.uri}, lacks {' and '.join(lacks)}"
            + ("; it has s3:GetObject on the bucket itself, which opens no object" if on_bucket else ""),
            fix="allow " + " and ".join(what.replace(" on ", f" on arn:{partition}:s3:::") for what in lacks),
        )


@rule(
    "HP5010",
    Severity.WARNING,
    title="It cannot be seen whether nodes can read their scripts",
    because=f"the bucket does not begin with {_READABLE_PREFIX}, so the role needs a grant of its own, and the role is "
    "not wholly part of this deployment",
    source=f"{_CONFIG}, SourceS3Uri; {NODE_POLICY}, version 1",
)
def nodes_may_read_their_scripts(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, source in _readers(deployment):
        execution_role = known(group.execution_role)
        role = deployment.role(execution_role)
        unseen = role is None or (not role.complete and None in _verdicts(role, source).values())
        if execution_role is not None and unseen:
            yield Problem(
                path=cluster.path_of(group),
                message=f"{named(group)} has its scripts at {source.uri}, and not all policies of its role "
                f"{execution_role} are known here",
                fix=f"see that it has {' and '.join(_needed(source.bucket))}, or use a bucket "
                f"that begins with {_READABLE_PREFIX}",
            )


@rule(
    "HP5011",
    Severity.WARNING,
    title="Source of the scripts has an empty folder name",
    because="S3 takes two slashes for a folder without a name, and then the scripts are not where nodes look",
    source="S3 user guide, object keys",
)
def source_has_single_slashes(deployment: Deployment) -> Iterator[Problem]:
    for group, path, lifecycle in _configured(deployment):
        uri = known(lifecycle.source_uri)
        scheme, separator, place = (uri or "").partition("://")
        if "//" in place:
            yield Problem(
                path=path,
                message=f"{named(group)} has its scripts at {uri}",
                fix=f"use {scheme}{separator}{re.sub('/+', '/', place)}",
            )


@rule(
    "HP5012",
    Severity.WARNING,
    title="Source of the scripts is an https address",
    because="the service's pattern takes https, but its text and all examples of AWS have s3://, and whether nodes can "
    "read or write what lies there is not checked",
    source=f"{_CONFIG}, SourceS3Uri: pattern against text",
)
def source_is_in_s3(deployment: Deployment) -> Iterator[Problem]:
    for group, path, lifecycle in _configured(deployment):
        uri = known(lifecycle.source_uri)
        if uri is not None and uri.startswith("https://"):
            yield Problem(
                path=path,
                message=f"{named(group)} has its scripts at {uri}",
                fix="use s3://BUCKET/PREFIX",
            )
