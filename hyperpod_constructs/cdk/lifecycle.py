"""Scripts that run on a new node, published by `cdk deploy` itself.

Each file is a file asset whose object key we choose, so that no Lambda, no bucket of our own and no dependency is
needed: assets are uploaded before CloudFormation starts. The prefix holds a hash of the contents: an edit changes
`SourceS3Uri`, old prefixes stay where a rollback or a running node's replacement finds them. Nodes may read the
parent of the prefixes, never write it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final, TypedDict

import aws_cdk as cdk

from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cdk._properties import Scripts
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model import steps as model_steps
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile, script_file
from hyperpod_constructs.model.steps import Context, Step
from hyperpod_constructs.planning import node_files
from hyperpod_constructs.tokens import UNKNOWN, is_placeholder

MOST_FILES: Final = 200
MOST_BYTES: Final = 50_000_000
"""More than this are no scripts: put what they bring along elsewhere."""
_HANDS_ON: Final = "HyperPodScripts"
_NO_OP: Final = node_files.ASSETS / "no_op"
_NAME: Final = re.compile(r"[\w .+@=-]+(/[\w .+@=-]+)*", re.ASCII)


class _Asset(TypedDict):
    """What a synthesizer wants to know of a file."""

    source_hash: str
    file_name: str
    packaging: cdk.FileAssetPackaging


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleScripts:
    """What runs on a new node.

    Make one with `steps`, `ami_only`, `extended`, `custom` or `existing`, which check what goes together.

    Attributes:
        directory: Folder of scripts to publish.
        uri: Where scripts lie that somebody else publishes.
        on_create: Script that provisions the node itself.
        on_init_complete: Script that runs after HyperPod's own provisioning.
        ours: Steps of this library to publish with their runner.
        provisions: Whether those steps provision the node themselves (`OnCreate`).
    """

    directory: Path | None = None
    uri: str | None = None
    on_create: str | None = None
    on_init_complete: str | None = None
    ours: tuple[Step, ...] | None = None
    provisions: bool = False

    def __post_init__(self) -> None:
        check_fields("LifecycleScripts: ", self)
        if self.directory is None and self.uri is None and (self.on_create or self.on_init_complete):
            raise InvalidValue(
                f"LifecycleScripts names {self.on_create or self.on_init_complete!r} and no place where it lies",
                "use LifecycleScripts.custom, .extended or .existing",
            )

    @classmethod
    def ami_only(cls) -> LifecycleScripts:
        """No scripts: HyperPod configures its default software. Slurm only."""
        return cls()

    @classmethod
    def no_op(cls) -> LifecycleScripts:
        """A script that does nothing, which is what EKS nodes get unless you say otherwise.

        The API lets scripts be left out, but no page of AWS says what happens to EKS nodes without any.
        """
        return cls.custom(_NO_OP)

    @classmethod
    @checked
    def steps(cls, steps: Sequence[Step], *, provisions: bool = False) -> LifecycleScripts:
        """Steps of this library and scripts of yours, run one after the other on every new node.

        Args:
            steps: The steps in their order; `hp.steps.defaults()` are those of a cluster that says nothing else.
            provisions: Whether they provision the node themselves instead of following HyperPod's own provisioning
                (`OnCreate`): the first step is then a script of yours that does. On EKS nodes it makes no difference
                to you: they come provisioned.

        Raises:
            InvalidValue: if two steps have one name.
        """
        model_steps.check_steps(steps)
        return cls(ours=tuple(steps), provisions=provisions)

    @classmethod
    @checked
    def extended(cls, directory: str | Path, *, entry: str = "on_init_complete.sh") -> LifecycleScripts:
        """HyperPod's default software first, then a script of yours. Needs an AMI of January 2026 or later.

        Args:
            directory: Folder whose files, in all subfolders, are published; hidden files are not.
            entry: The script to call, relative to the folder.
        """
        return cls(directory=Path(directory), on_init_complete=entry)

    @classmethod
    @checked
    def custom(cls, directory: str | Path, *, entry: str = "on_create.sh") -> LifecycleScripts:
        """A script of yours that provisions the node from nothing.

        Args:
            directory: Folder whose files, in all subfolders, are published; hidden files are not.
            entry: The script to call, relative to the folder.
        """
        return cls(directory=Path(directory), on_create=entry)

    @classmethod
    @checked
    def existing(
        cls, uri: str, *, on_create: str | None = None, on_init_complete: str | None = None
    ) -> LifecycleScripts:
        """Scripts that lie in a bucket already. Nodes must not be able to write there.

        Args:
            uri: `s3://bucket/prefix`. Change the prefix with the contents: running nodes keep what they have.
            on_create: Script that provisions the node itself. Give this or `on_init_complete`.
            on_init_complete: Script that runs after HyperPod's own provisioning.

        Raises:
            InvalidValue: if the address does not begin with `s3://`.
        """
        if not uri.startswith("s3://") and not is_placeholder(uri):
            # Nodes are granted the bucket, so a token may stand in the address but not for all of it.
            raise InvalidValue(
                f"script address is {uri!r}", 'use s3://BUCKET/PREFIX, or f"s3://{bucket.bucket_name}/PREFIX"'
            )
        if (on_create is None) == (on_init_complete is None):
            raise InvalidValue("existing scripts need on_create or on_init_complete, and not both")
        return cls(uri=uri, on_create=on_create, on_init_complete=on_init_complete)

    def called_on(self, group: str) -> tuple[str | None, str | None]:
        """The scripts that HyperPod calls on a node of a group: OnCreate and OnInitComplete."""
        if self.ours is None:
            return self.on_create, self.on_init_complete
        start = node_files.start_script(group)
        return (start, None) if self.provisions else (None, start)

    def read(self, context: Context) -> list[tuple[str, bytes]] | None:
        """Name and content of each file to publish, sorted by name; `None` where there is nothing to publish.

        Args:
            context: The cluster.

        Raises:
            InvalidValue: if the folder does not exist, is empty or holds too many files.
        """
        if self.ours is not None:
            return node_files.published(self.ours, context)
        return None if self.directory is None else _read(self.directory)

    def seen(self, context: Context) -> tuple[ScriptFile, ...] | None:
        """The files as the rules see them, before they are published: scripts too that lie in the archive.

        Args:
            context: The cluster.
        """
        files = self.read(context)
        if files is None:
            return None
        if self.ours is not None:
            files = sorted([*files, *node_files.own(self.ours).items()])
        return tuple(script_file(name, content) for name, content in files)

    def model(self, group: InstanceGroup, files: tuple[ScriptFile, ...] | None) -> Lifecycle | None:
        """The scripts of a group as the rules see them.

        Args:
            group: The group.
            files: What `seen` says of the files.
        """
        if files is None and self.uri is None:
            return None
        on_create, on_init_complete = self.called_on(str(group.name))
        return Lifecycle(
            source_uri=self.uri or UNKNOWN,
            on_create=on_create,
            on_init_complete=on_init_complete,
            files=files,
            # Scripts of the user's by their files: one may be named as a step of ours.
            steps=None
            if self.ours is None
            else tuple(step.run if "/" in step.run else step.title for step in self.ours if step.runs_on(group)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScripts:
    """Where the scripts of a cluster lie.

    Attributes:
        by_group: What each group that has scripts refers to.
        places: Bucket and key prefix which nodes must read; a prefix covers all versions of the cluster's scripts.
        keys: Every object key of ours, which the template must hold as text: `cdk gc` deletes objects that no template
            names.
    """

    by_group: Mapping[str, Scripts]
    places: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]


def publish(scripts: Mapping[str, LifecycleScripts], stack: cdk.Stack, context: Context) -> PublishedScripts:
    """Adds the files of all groups to the stack's assets.

    Args:
        scripts: Scripts by group.
        stack: Stack of the cluster.
        context: The cluster, whose name keeps the scripts of clusters apart.
    """
    by_group: dict[str, Scripts] = {}
    places: set[tuple[str, str]] = set()
    uploads: list[tuple[LifecycleScripts, Upload]] = []
    for group, each in scripts.items():
        uploaded = next((found for those, found in uploads if those == each), None)
        if uploaded is None and (files := each.read(context)) is not None:
            uploaded = upload(files, stack, context.cluster)
            uploads.append((each, uploaded))
        if uploaded is not None:
            uri, place = uploaded.uri, uploaded.place
        elif each.uri is not None:
            uri, place = each.uri, _place(each.uri)
        else:
            continue
        on_create, on_init_complete = each.called_on(group)
        by_group[group] = Scripts(source_uri=uri, on_create=on_create, on_init_complete=on_init_complete)
        places.add(place)
    return PublishedScripts(
        by_group=by_group,
        places=tuple(sorted(places)),
        keys=tuple(sorted(key for _, uploaded in uploads for key in uploaded.keys)),
    )


def _place(uri: str) -> tuple[str, str]:
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    return bucket, prefix.strip("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Files that `cdk deploy` uploads.

    Attributes:
        uri: `s3://` address of their folder.
        place: Bucket, and the prefix of all versions.
        keys: Their object keys.
    """

    uri: str
    place: tuple[str, str]
    keys: tuple[str, ...]


def upload(files: Sequence[tuple[str, bytes]], stack: cdk.Stack, cluster_name: str) -> Upload:
    """Adds files to the stack's assets, under a prefix that holds a hash of all of them.

    Args:
        files: Name and content of each.
        stack: Stack of the cluster.
        cluster_name: Name of the cluster.

    Raises:
        InvalidValue: if the stack's synthesizer chooses names of files itself.
    """
    digest = _digest(files)
    stage = cdk.Stage.of(stack)
    outdir = Path(stage.outdir if stage else ".")
    keys, bucket, prefix, synthesizer = [], "", "", stack.synthesizer
    for number, (name, content) in enumerate(files):
        # Staged without an extension: the CDK appends that of the staged file to the key, and tells two files apart by
        # the rest of it alone.
        staged = Path(f"hyperpod.{digest}") / str(number)
        (outdir / staged).parent.mkdir(parents=True, exist_ok=True)
        (outdir / staged).write_bytes(content)
        asset: _Asset = {
            "source_hash": f"hyperpod/{cluster_name}/{digest}/{name}",
            "file_name": str(staged),
            "packaging": cdk.FileAssetPackaging.FILE,
        }
        try:
            location = synthesizer.add_file_asset(**asset)
        except RuntimeError:  # it is not bound to this stack
            synthesizer = _bound_synthesizer(stack)
            location = synthesizer.add_file_asset(**asset)
        bucket, ending = location.bucket_name, f"/{digest}/{name}"
        if not location.object_key.endswith(ending):
            raise InvalidValue(
                "the synthesizer of this stack chooses the names of files itself, and nodes would not find their "
                "scripts",
                "use cdk.DefaultStackSynthesizer or cdk.CliCredentialsStackSynthesizer, or upload the scripts yourself "
                "and give LifecycleScripts.existing('s3://...')",
            )
        prefix = location.object_key.removesuffix(ending)
        keys.append(location.object_key)
    return Upload(uri=f"s3://{bucket}/{prefix}/{digest}", place=(bucket, prefix), keys=tuple(keys))


def _bound_synthesizer(stack: cdk.Stack) -> cdk.IStackSynthesizer:
    """The synthesizer of a stack whose user gave one.

    The CDK binds a copy of it to the stack. jsii takes the copy for the original, which is bound to nothing, so that
    Python cannot get hold of it; but in Node the synthesizer of a nested stack hands every file on to the copy.
    """
    nested = cdk.NestedStack(stack, _HANDS_ON)
    synthesizer = nested.synthesizer
    for made in (_HANDS_ON, f"{_HANDS_ON}.NestedStack"):
        stack.node.try_remove_child(made)
    return synthesizer


def _read(directory: Path) -> list[tuple[str, bytes]]:
    """Name and content of each file, sorted by name; hidden files and bytecode stay behind."""
    if not directory.is_dir():
        raise InvalidValue(f"script folder {directory} does not exist or is no folder")
    names = {path: path.relative_to(directory) for path in directory.rglob("*") if path.is_file()}
    names = {path: name for path, name in names.items() if not _left_behind(name)}
    if not names:
        raise InvalidValue(f"script folder {directory} holds no file")
    if len(names) > MOST_FILES:
        raise InvalidValue(f"script folder {directory} holds {len(names)} files; at most {MOST_FILES} are published")
    if (size := sum(path.stat().st_size for path in names)) > MOST_BYTES:
        raise InvalidValue(f"script folder {directory} holds {size:,} bytes; at most {MOST_BYTES:,} are published")
    for name in names.values():
        if not _NAME.fullmatch(name.as_posix()):
            raise InvalidValue(f"script {name} in {directory}: use letters, digits, spaces and . _ - + @ = in names")
    return sorted((name.as_posix(), path.read_bytes()) for path, name in names.items())


def _left_behind(name: PurePath) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in name.parts)


def _digest(files: Sequence[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, content in files:
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
