"""Scripts that run on a new node, where they lie, and who puts them there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from hyperpod_constructs.model.storage import Retention
from hyperpod_constructs.tokens import Unknown

PARAMETERS: Final = "provisioning_parameters.json"
"""The file beside the scripts that says who is what in a Slurm cluster without SlurmConfig."""

ARCHIVE: Final = "node.zip"
"""The file beside start scripts of ours that holds the steps."""

_SCRIPTS: Final = ("", ".sh", ".bash", ".py")
_SHELL: Final = (".sh", ".bash")
_INTERPRETED: Final = b"#!"
_MARKS: Final = {"UTF-8": b"\xef\xbb\xbf", "UTF-16": b"\xff\xfe", "UTF-16 (big endian)": b"\xfe\xff"}
"""What editors and PowerShell of Windows put before text; Linux looks for `#!` in the first two bytes."""
_NEAR: Final = re.compile(r"https?://(169\.254\.|127\.|localhost|[^/\s]*\.amazonaws\.com|\$|<)")
"""Addresses that need no way to the internet, or of which nothing is known."""
_FETCHES: Final = (
    re.compile(r"\b(?:curl|wget|git\s+clone)\b[^#\n]*?https?://[^\s\"'`;|)]+"),
    re.compile(r"\b(?:pip3?|uv\s+pip|python3?\s+-m\s+pip)\s+install\b(?![^\n]*--no-index)"),
    re.compile(r"\b(?:apt|apt-get|yum|dnf|conda|mamba|npm|snap)\s+(?:-\S+\s+)*(?:install|update|upgrade)\b"),
    re.compile(r"\bdocker\s+pull\b(?![^\n]*\.dkr\.ecr\.)"),
)
_SHOWN: Final = 60
_MOST_FETCHES: Final = 3
_UNSAFE: Final = re.compile(r"[^\w-]+")
"""What separates parts of addresses or stands for other text in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFile:
    """One file of a script directory.

    Attributes:
        name: Path relative to the directory, with forward slashes.
        carriage_returns: Whether it is a script, by its first two bytes or by a name such as `a.sh`, of which a line
            ends in CR LF: a Linux shell refuses that.
        byte_order_mark: Encoding of the byte order mark that a script begins with, such as `UTF-8`.
        fetches: First commands in it that load something from the internet, with their lines: `12: pip install`.
    """

    name: str
    carriage_returns: bool = False
    byte_order_mark: str | None = None
    fetches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmParameters:
    """What `provisioning_parameters.json` says of groups.

    Attributes:
        controller: Name of the controller's group; left out where the file does not say.
        login: Name of the group of login nodes.
        workers: Names of the groups of compute nodes.
        problem: Why the file cannot be used; left out where it can.

    Source: awslabs/awsome-distributed-ai, LifecycleScripts/base-config; developer guide, Slurm.
    """

    controller: str | None = None
    login: str | None = None
    workers: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """Where the scripts of a group lie and which one is called.

    Attributes:
        source_uri: `s3://bucket/prefix`, or its known beginning followed by `*` where the rest is decided at deploy.
        on_create: Script that provisions the node instead of HyperPod (customer managed).
        on_init_complete: Script that runs after HyperPod's own provisioning (extended).
        files: What lies there, where the directory is at hand; `None` where it is not.
        parameters: What `provisioning_parameters.json` says, where the directory is at hand and has it.
        steps: Names of the steps of ours that run, where it is known that ours do.
    """

    source_uri: str | Unknown | None = None
    on_create: str | Unknown | None = None
    on_init_complete: str | Unknown | None = None
    files: tuple[ScriptFile, ...] | None = None
    parameters: SlurmParameters | None = None
    steps: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """An S3 bucket of the deployment.

    Attributes:
        path: Construct path.
        name: Its name as addresses of scripts have it: the text given, or what stands for a name that CloudFormation
            makes.
        retention: What happens to it on delete and on replace.
        emptied: Whether something in the deployment empties it before it is deleted.
        handed_out: Whether something that nobody can read refers to it, and may put files there.
        key: Path or ARN of the customer key that encrypts it.
        holds_data: Whether its author says that it holds what runs have written.
        region: Region of its stack.
    """

    path: str
    name: str | Unknown
    retention: Retention = field(default_factory=Retention)
    emptied: bool = False
    handed_out: bool = False
    key: str | Unknown | None = None
    holds_data: bool | Unknown | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Files that the CDK's bucket deployment copies into a bucket while the stack is made.

    Attributes:
        path: Construct path of the custom resource.
        bucket: Name of the bucket as addresses of scripts have it.
        prefix: Key prefix without slashes around it.
        prune: Whether it deletes everything else below the prefix, which is the default.
        filtered: Whether it leaves out some files by pattern.
        files: What it copies, where the directory is at hand.
        parameters: What `provisioning_parameters.json` among them says.
    """

    path: str
    bucket: str | Unknown
    prefix: str | Unknown = ""
    prune: bool | Unknown = True
    filtered: bool = False
    files: tuple[ScriptFile, ...] | None = None
    parameters: SlurmParameters | None = None


def is_generated(bucket: str) -> bool:
    """Whether a bucket's name in an address stands for one that CloudFormation makes."""
    return "<" in bucket


def generated_name(stack: str | None, path: str) -> str:
    """What stands for the name that CloudFormation makes of a bucket's stack and logical id and chance.

    Args:
        stack: Name of the stack, with which the name begins; `None` where it is not known.
        path: Construct path of the bucket.
    """
    beginning = f"{stack.lower()}-" if stack else ""
    return f"{beginning}<name of {_UNSAFE.sub('.', path)}>"


def script_file(name: str, content: bytes) -> ScriptFile:
    """What is known of a file of a script directory.

    Args:
        name: Path relative to the directory, with forward slashes.
        content: The file.
    """
    suffix = PurePosixPath(name).suffix
    is_script = suffix in _SCRIPTS
    mark = next((each for each, first in _MARKS.items() if content.startswith(first)), None)
    begins = content.removeprefix(_MARKS["UTF-8"]).startswith(_INTERPRETED)
    runs = begins or suffix in _SHELL
    return ScriptFile(
        name=name,
        carriage_returns=runs and b"\r\n" in content,
        byte_order_mark=mark if runs else None,
        fetches=tuple(islice(_fetches(content.decode(errors="replace")), _MOST_FETCHES)) if is_script else (),
    )


def _fetches(text: str) -> Iterable[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            continue
        for pattern in _FETCHES:
            found = pattern.search(line)
            if found and not _NEAR.search(found[0]):
                yield f"{number}: {' '.join(found[0].split())[:_SHOWN]}"
                break


def slurm_parameters(content: bytes) -> SlurmParameters:
    """What a `provisioning_parameters.json` says of groups."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        return SlurmParameters(problem=f"it is no JSON: {error}")
    if not isinstance(found, dict):
        return SlurmParameters(problem="it holds no map")
    workers = found.get("worker_groups")
    listed = workers if isinstance(workers, list) else []
    names = [each.get("instance_group_name") for each in listed if isinstance(each, dict)]
    return SlurmParameters(
        controller=_text(found.get("controller_group")),
        login=_text(found.get("login_group")),
        workers=tuple(name for name in names if isinstance(name, str)),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
