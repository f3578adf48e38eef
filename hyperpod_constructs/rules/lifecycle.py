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

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile, is_generated
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import Said, told_once
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import known

_CONFIG: Final = "SageMaker API, ClusterLifeCycleConfig (botocore 1.44.8)"
_TROUBLESHOOTING: Final = "awslabs/awsome-distributed-ai and ai-on-sagemaker-hyperpod, troubleshooting"
_S3_NAMES: Final = "S3 user guide, bucketnamingrules"
_ADDRESS: Final = re.compile(r"(https|s3)://([^/]+)/?(.*)")
"""Pattern of the service."""
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_BUCKET_PATTERN: Final = re.compile(r"[a-z0-9.-]*\*[a-z0-9.*-]*")
_NO_NAME: Final = re.compile(r"[^\w.:-]", re.ASCII)
"""What is in no name of a bucket, however old, and in no ARN of an access point."""
_SHORTEST_BUCKET: Final = 3
_INTRINSIC: Final = re.compile(r"\$[{(][\w:.]*[})]?")
"""What stands in a text that nobody substituted."""
_SHELL_SUFFIXES: Final = ("", ".sh", ".bash")
_FILES: Final = (".sh", ".bash", ".py")
_COMMAND: Final = re.compile(r"\s|\\")
_LONGEST_URI: Final = 1024
_LONGEST_SCRIPT: Final = 128
_SUBSTITUTE: Final = "write it with !Sub, in Python with an f-string and cdk.Aws.REGION"


def _lifecycle(group: InstanceGroup) -> Lifecycle:
    """The scripts of a group; none of them is known where that is not known."""
    return group.lifecycle if isinstance(group.lifecycle, Lifecycle) else Lifecycle()


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
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        lifecycle = _lifecycle(group)
        on_create, on_init_complete = known(lifecycle.on_create), known(lifecycle.on_init_complete)
        if on_create is not None and on_init_complete is not None:
            yield Said(
                before=f"both OnCreate {on_create} and OnInitComplete {on_init_complete} for ",
                fix="keep OnInitComplete, which runs after HyperPod's own provisioning (LifecycleScripts.extended), or "
                "OnCreate, which replaces it (LifecycleScripts.custom)",
            )

    yield from told_once(deployment, judge)


@rule(
    "HP5002",
    Severity.WARNING,
    title="Lifecycle has a script without a source, or a source without a script",
    because="the source says where the scripts lie and the script which of them runs; one alone means nothing, but no "
    "page says that the service refuses it",
    source=f"{_CONFIG}; inferred",
)
def lifecycle_is_whole(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        lifecycle = _lifecycle(group)
        if lifecycle.source_uri is None and (scripts := _scripts(lifecycle)):
            yield Said(
                before="LifeCycleConfig of ",
                after=f" calls {scripts[0]}, but has no SourceS3Uri",
                fix="give SourceS3Uri: s3://BUCKET/PREFIX, the folder in which the script lies",
            )
        elif known(lifecycle.source_uri) and lifecycle.on_create is None and lifecycle.on_init_complete is None:
            yield Said(
                before="LifeCycleConfig of ",
                after=f" has SourceS3Uri {lifecycle.source_uri}, but calls no script",
                fix="name one as OnCreate or OnInitComplete, or leave the whole LifeCycleConfig out",
            )

    yield from told_once(deployment, judge)


@rule(
    "HP5003",
    Severity.ERROR,
    title="Source of the scripts is no address that the service takes",
    because="the service takes s3://BUCKET/PREFIX, or an https address, and nodes download from there",
    source=f"{_CONFIG}, SourceS3Uri; {_S3_NAMES}",
)
def source_is_an_address(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        uri = known(_lifecycle(group).source_uri)
        if uri is not None and (found := _fault(uri)):
            yield Said(before="SourceS3Uri of ", after=f" is {uri!r}: {found[0]}", fix=found[1])

    yield from told_once(deployment, judge)


def _fault(uri: str) -> tuple[str, str] | None:
    """Why an address can never be right, and what to do; `None` for one that may be."""
    form = "use s3://BUCKET/PREFIX"
    if "://" not in uri:
        return "it does not begin with s3://", f"use s3://{uri.lstrip('/')}"
    if not _ADDRESS.fullmatch(uri):
        return "the service takes s3:// or https:// followed by a name", form
    if len(uri) > _LONGEST_URI:
        return f"it has {len(uri):,} characters", f"{form} with at most {_LONGEST_URI:,} characters"
    return _fault_of_bucket(_bucket_of(uri)) if uri.startswith("s3://") else None


def _fault_of_bucket(name: str) -> tuple[str, str] | None:
    if is_generated(name) or "*" in name:
        return None
    if left := _INTRINSIC.search(name):
        return f"{left[0]} was not substituted", _SUBSTITUTE.replace("cdk.Aws.REGION", _python_of(left[0]))
    if _NO_NAME.search(name) or len(name) < _SHORTEST_BUCKET:
        return f"{name!r} is no name of a bucket", "use s3://BUCKET/PREFIX, with the bucket's name as S3 shows it"
    return None


def _bucket_of(uri: str) -> str:
    return uri.partition("://")[2].partition("/")[0]


def _python_of(intrinsic: str) -> str:
    """What the CDK calls a pseudo parameter."""
    name = intrinsic.strip("${}()").removeprefix("AWS::")
    return {"Region": "cdk.Aws.REGION", "AccountId": "cdk.Aws.ACCOUNT_ID"}.get(name, "a value of the stack")


@rule(
    "HP5025",
    Severity.WARNING,
    title="Source of the scripts is likely not where they lie",
    because="the service takes such an address, but no bucket of today has such a name (those from before 2018 in "
    "us-east-1 may), or the prefix has text in it that a template should have replaced",
    source=f"{_CONFIG}, SourceS3Uri; {_S3_NAMES}",
)
def source_is_likely(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        uri = known(_lifecycle(group).source_uri)
        if uri is None or not uri.startswith("s3://") or _fault(uri):
            return
        name = _bucket_of(uri)
        prefix = uri.removeprefix(f"s3://{name}")
        if not (is_generated(name) or _BUCKET_PATTERN.fullmatch(name) or _BUCKET.fullmatch(name)):
            fix = "use the bucket's name as S3 shows it: 3 to 63 lower-case letters, digits, dots and hyphens"
            yield Said(before="SourceS3Uri of ", after=f" is {uri}: buckets have no names such as {name!r}", fix=fix)
        elif left := _INTRINSIC.search(prefix):
            yield Said(before="SourceS3Uri of ", after=f" is {uri}: {left[0]} was not substituted", fix=_SUBSTITUTE)

    yield from told_once(deployment, judge)


@rule(
    "HP5004",
    Severity.ERROR,
    title="Script is not named by its path below the source",
    because="the service looks the name up under the source prefix",
    source=f"{_CONFIG}, OnCreate",
)
def scripts_are_relative(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        for script in _scripts(_lifecycle(group)):
            if _is_no_name(script):
                yield Said(
                    before="the script of ",
                    after=f" is called {script!r}",
                    fix=f"write the path of the file below SourceS3Uri, 1 to {_LONGEST_SCRIPT} characters, such as "
                    "on_create.sh",
                )

    yield from told_once(deployment, judge)


def _is_no_name(script: str) -> bool:
    return not 1 <= len(script) <= _LONGEST_SCRIPT or script.startswith("/") or "://" in script


@rule(
    "HP5024",
    Severity.WARNING,
    title="Script is likely not found by such a name",
    because="the name is that of one file below the source, and no command: S3 knows neither folders above nor "
    "backslashes, and a file with such a name is possible, but hardly meant",
    source=f"{_CONFIG}, OnCreate; S3 user guide, object keys",
)
def scripts_are_files(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        lifecycle = _lifecycle(group)
        scripts = [each for each in _scripts(lifecycle) if not _is_no_name(each)]
        # Where the files are at hand, HP5005 knows which of them are there.
        for script in scripts if lifecycle.files is None else ():
            if _COMMAND.search(script) or ".." in script.split("/"):
                yield Said(
                    before="the script of ",
                    after=f" is called {script!r}, which is no path of a file below the source",
                    fix=f"write the path alone, with slashes: {_file_in(script)}",
                )
        uri = known(lifecycle.source_uri) or ""
        *_folders, last = uri.rstrip("/").split("/")
        folder = "/".join(_folders)
        if last.endswith(_FILES) and not folder.endswith(":/"):
            yield Said(
                before="SourceS3Uri of ",
                after=f" is {uri}, which looks like the script itself",
                fix=f"write SourceS3Uri: {folder}, the folder, and the script as OnCreate or OnInitComplete: {last}",
            )

    yield from told_once(deployment, judge)


def _file_in(command: str) -> str:
    """The file that a command or a path of Windows is about."""
    words = command.replace("\\", "/").split()
    script = next((word for word in words if word.endswith(_FILES)), words[-1] if words else "on_create.sh")
    return "/".join(part for part in script.split("/") if part not in {"", ".", ".."})


@rule(
    "HP5005",
    Severity.ERROR,
    title="Script is not among the files",
    because="nodes download the directory and then call a file that it does not have",
    source=_TROUBLESHOOTING,
)
def script_is_among_the_files(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        lifecycle = _lifecycle(group)
        names = sorted(file.name for file in lifecycle.files or ())
        for script in _scripts(lifecycle) if lifecycle.files is not None else ():
            if script.removeprefix("./") not in names:
                meant = get_close_matches(script, names, n=1)
                add = f"add {script} to the folder"
                yield Said(
                    before=f"{script}, the script of ",
                    after=f", is not among the {len(names)} files of its folder",
                    fix=f"call {meant[0]}, or {add}" if meant else add,
                )

    yield from told_once(deployment, judge)


@rule(
    "HP5006",
    Severity.ERROR,
    title="Shell script has line ends of Windows",
    because="a Linux shell takes the carriage return for a part of the command and stops",
    source=_TROUBLESHOOTING,
)
def scripts_have_unix_line_ends(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        if broken := sorted(file.name for file in _run_files(group) if file.carriage_returns):
            yield Said(
                before="the scripts of ",
                after=f" have CR LF line ends in {', '.join(broken)}",
                fix="save with LF line ends, and keep them with '* text eol=lf' in .gitattributes",
            )

    yield from told_once(deployment, judge)


def _run_files(group: InstanceGroup) -> Iterator[ScriptFile]:
    """The scripts that a shell or the kernel reads: what the group calls, and shell scripts by name or beginning."""
    lifecycle = _lifecycle(group)
    entries = {script.removeprefix("./") for script in _scripts(lifecycle)}
    for file in lifecycle.files or ():
        if file.name in entries or PurePosixPath(file.name).suffix in _SHELL_SUFFIXES:
            yield file


@rule(
    "HP5023",
    Severity.WARNING,
    title="Script begins with a byte order mark",
    because="Linux looks for #! in the first two bytes of a script: with a mark before it the kernel does not run it, "
    "and a shell takes the first line, or in UTF-16 every line, for no command; how HyperPod calls scripts is not "
    "documented",
    source="execve(2), interpreter scripts; inferred",
)
def scripts_begin_with_their_interpreter(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        marked = {file.name: file.byte_order_mark for file in _run_files(group) if file.byte_order_mark}
        if marked:
            files = ", ".join(f"{name} ({encoding})" for name, encoding in sorted(marked.items()))
            yield Said(
                before="the scripts of ",
                after=f" begin with a byte order mark: {files}",
                fix="save as UTF-8 without BOM (in PowerShell: Set-Content -Encoding utf8NoBOM)",
            )

    yield from told_once(deployment, judge)


@rule(
    "HP5011",
    Severity.WARNING,
    title="Source of the scripts has an empty folder name",
    because="S3 takes two slashes for a folder without a name, and then the scripts are not where nodes look",
    source="S3 user guide, object keys",
)
def source_has_single_slashes(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        uri = known(_lifecycle(group).source_uri)
        scheme, separator, address = (uri or "").partition("://")
        if scheme == "s3" and "//" in address.lstrip("/"):
            yield Said(
                before="SourceS3Uri of ",
                after=f" is {uri}, in which a folder has no name",
                fix=f"use {scheme}{separator}{re.sub('/+', '/', address)}",
            )

    yield from told_once(deployment, judge)


@rule(
    "HP5012",
    Severity.WARNING,
    title="Source of the scripts is an https address",
    because="the service's pattern takes https, but its text and all examples of AWS have s3://, and whether nodes can "
    "read or write what lies there is not checked",
    source=f"{_CONFIG}, SourceS3Uri: pattern against text",
)
def source_is_in_s3(deployment: Deployment) -> Iterator[Problem]:
    def judge(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
        uri = known(_lifecycle(group).source_uri)
        if uri is not None and uri.startswith("https://") and not _fault(uri):
            yield Said(before="SourceS3Uri of ", after=f" is {uri}", fix="use s3://BUCKET/PREFIX")

    yield from told_once(deployment, judge)


@rule(
    "HP5016",
    Severity.INFO,
    title="A group of an EKS cluster has no scripts",
    because="the API lets them be left out, but every page and example of AWS passes some, mostly one that does "
    "nothing, and none describes what happens without",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-operate-cli-command-create-cluster (October 2026); open",
)
def eks_groups_have_scripts(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        without = [group for group in cluster.groups if group.lifecycle is None]
        if isinstance(cluster.orchestrator, Eks) and without:
            yield Problem(
                path=cluster.path,
                message=f"no LifeCycleConfig in {named(*without)}",
                fix="nothing, if it was tried; else pass an OnCreate script that does nothing (AWS: on_create_noop.sh)",
            )


@rule(
    "HP5022",
    Severity.WARNING,
    title="Scripts load from the internet, and the network has no way there",
    because="nothing answers, and the script waits or ends: nodes fail twenty minutes into the create. Mirrors inside "
    "the network, which a script may use instead, are not seen here",
    source="awslabs/awsome-distributed-ai issue 186, pulls 689, 990 and 1118",
)
def closed_networks_have_closed_scripts(deployment: Deployment) -> Iterator[Problem]:
    def judge(cluster: Cluster, group: InstanceGroup) -> Iterator[Said]:
        files = _lifecycle(group).files
        fetches = [f"{file.name} line {fetch}" for file in files or () for fetch in file.fetches]
        if fetches and _is_closed(deployment, cluster, group):
            more = f" and {len(fetches) - 1} more" if len(fetches) > 1 else ""
            yield Said(
                before="the scripts of ",
                after=f" load from the internet, and their network has no way there: {fetches[0]}{more}",
                fix="put what the scripts need into their folder, an S3 bucket, ECR or the AMI, or give the network a "
                "NAT gateway (egress='nat')",
            )

    yield from told_once(deployment, judge)


def _is_closed(deployment: Deployment, cluster: Cluster, group: InstanceGroup) -> bool:
    """Whether no subnet of a group has a route out, and every one of their routes is known."""
    routing, placement = deployment.routing, cluster.placement_of(group)
    subnets = placement.subnets if isinstance(placement, VpcPlacement) else ()
    if routing.undecided or not isinstance(subnets, tuple) or not subnets:
        return False
    complete = {table.path for table in routing.tables if table.complete}
    for subnet in subnets:
        tables = {each.table for each in routing.associations if each.subnet == subnet}
        if not tables or not tables <= complete or any(route.table in tables for route in routing.routes):
            return False
    return True
