"""Scripts that run on a new node, published by `cdk deploy` itself.

Each file is a file asset whose object key we choose, so that no Lambda, no bucket of our own and no dependency is
needed: assets are uploaded before CloudFormation starts. The prefix holds a hash of the contents: an edit changes
`SourceS3Uri`, old prefixes stay where a rollback or a running node's replacement finds them. Nodes may read the
parent of the prefixes, never write it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import aws_cdk as cdk

from hyperpod_constructs.cdk._properties import Scripts
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile
from hyperpod_constructs.tokens import UNKNOWN

MOST_FILES = 200
"""More files than this are no scripts: pack what they bring along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleScripts:
    """What runs on a new node.

    Make one with `ami_only`, `extended` or `custom`.

    Attributes:
        directory: Folder of the scripts, `None` for AMI only.
        on_create: Script that provisions the node itself.
        on_init_complete: Script that runs after HyperPod's own provisioning.
    """

    directory: Path | None = None
    on_create: str | None = None
    on_init_complete: str | None = None

    @classmethod
    def ami_only(cls) -> LifecycleScripts:
        """No scripts: HyperPod configures its default software. Slurm only."""
        return cls()

    @classmethod
    def extended(cls, directory: str | Path, *, entry: str = "on_init_complete.sh") -> LifecycleScripts:
        """HyperPod's default software first, then a script of yours. Needs an AMI of January 2026 or later.

        Args:
            directory: Folder whose files, in all subfolders, are published.
            entry: The script to call, relative to the folder.
        """
        return cls(directory=Path(directory), on_init_complete=entry)

    @classmethod
    def custom(cls, directory: str | Path, *, entry: str = "on_create.sh") -> LifecycleScripts:
        """A script of yours that provisions the node from nothing.

        Args:
            directory: Folder whose files, in all subfolders, are published.
            entry: The script to call, relative to the folder.
        """
        return cls(directory=Path(directory), on_create=entry)

    @property
    def model(self) -> Lifecycle | None:
        """The scripts as the rules see them, before they are published.

        Raises:
            InvalidValue: if the folder does not exist or holds too many files.
        """
        if self.directory is None:
            return None
        return Lifecycle(
            source_uri=UNKNOWN,
            on_create=self.on_create,
            on_init_complete=self.on_init_complete,
            files=tuple(ScriptFile(name=name, carriage_returns=b"\r\n" in content) for name, content in self._files()),
        )

    def publish(self, stack: cdk.Stack, cluster_name: str) -> PublishedScripts | None:
        """Adds the files to the stack's assets; `None` for AMI only.

        Args:
            stack: Stack of the cluster.
            cluster_name: Name of the cluster, which keeps the scripts of clusters apart.
        """
        if self.directory is None:
            return None
        files = self._files()
        digest = _digest(files)
        parent = f"hyperpod/{cluster_name}"
        stage = cdk.Stage.of(stack)
        outdir = Path(stage.outdir if stage else ".")
        keys = []
        for name, content in files:
            path = PurePosixPath(name)
            staged = Path(f"hyperpod.{digest}") / name
            (outdir / staged).parent.mkdir(parents=True, exist_ok=True)
            (outdir / staged).write_bytes(content)
            location = stack.synthesizer.add_file_asset(
                # The object key is the bootstrap's prefix, this, and the extension of the file.
                source_hash=f"{parent}/{digest}/{path.with_suffix('')}",
                file_name=str(staged),
                packaging=cdk.FileAssetPackaging.FILE,
            )
            keys.append(location.object_key)
        bucket, key = location.bucket_name, location.object_key
        prefix = key.removesuffix(f"/{digest}/{name}")
        return PublishedScripts(
            scripts=Scripts(
                source_uri=f"s3://{bucket}/{prefix}/{digest}",
                on_create=self.on_create,
                on_init_complete=self.on_init_complete,
            ),
            bucket=bucket,
            prefix=prefix,
            keys=tuple(sorted(keys)),
        )

    def _files(self) -> list[tuple[str, bytes]]:
        """Name and content of each file, sorted by name."""
        directory = self.directory
        if directory is None or not directory.is_dir():
            raise InvalidValue(f"script folder {directory} does not exist or is no folder")
        paths = sorted(path for path in directory.rglob("*") if path.is_file())
        if len(paths) > MOST_FILES:
            raise InvalidValue(
                f"script folder {directory} holds {len(paths)} files; at most {MOST_FILES} are published"
            )
        return [(path.relative_to(directory).as_posix(), path.read_bytes()) for path in paths]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScripts:
    """Scripts in the asset bucket.

    Attributes:
        scripts: What a group refers to.
        bucket: Name of the bucket.
        prefix: Key prefix that all versions of this cluster's scripts share.
        keys: Every object key, which the template must hold as text: `cdk gc` deletes objects that no template names.
    """

    scripts: Scripts
    bucket: str
    prefix: str
    keys: tuple[str, ...]


def _digest(files: list[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, content in files:
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
