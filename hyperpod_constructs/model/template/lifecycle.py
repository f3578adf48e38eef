"""Buckets, and the files that the CDK's bucket deployment copies into them while a stack is made.

Files are at hand where the assembly has their asset: `cdk.out/asset.HASH` for the object key `HASH.zip`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperpod_constructs.model import intent
from hyperpod_constructs.model._reading import Fields, Node, otherwise
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.lifecycle import (
    PARAMETERS,
    Bucket,
    Lifecycle,
    Upload,
    script_file,
    slurm_parameters,
)
from hyperpod_constructs.model.template.resources import Found, Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_UPLOAD: Final = "Custom::CDKBucketDeployment"
_EMPTIES: Final = "Custom::S3AutoDeleteObjects"
_ARCHIVE: Final = ".zip"
_MOST_FILES: Final = 500
_MOST_BYTES: Final = 5_000_000
"""More than this are no scripts, and are not looked into."""


def buckets(resources: Resources, region: str | None) -> tuple[Bucket, ...]:
    """The buckets of an assembly.

    Args:
        resources: Where to find them.
        region: Region of stacks that do not fix theirs.
    """
    emptied = {found.properties["BucketName"].path() for found in resources.of(_EMPTIES)}
    return tuple(
        found.properties.build(
            Bucket,
            _BUCKET,
            path=found.path,
            name=resources.bucket_name(found.resource) or UNKNOWN,
            retention=found.retention,
            emptied=found.path in emptied,
            handed_out=not found.unchanged,
            holds_data=found.metadata[intent.KEY]["holds_data"].flag(),
            region=found.resource.stack.region or region,
        )
        for found in resources.of("AWS::S3::Bucket")
    )


def uploads(resources: Resources) -> tuple[Upload, ...]:
    """What bucket deployments copy."""
    return tuple(_upload(found, resources) for found in resources.of(_UPLOAD))


def with_files(cluster: Cluster, uploads: Iterable[Upload]) -> Cluster:
    """The cluster with the files of those scripts that exactly one bucket deployment puts in their place."""
    by_place: dict[str, list[Upload]] = {}
    for upload in uploads:
        if isinstance(upload.bucket, str) and isinstance(upload.prefix, str):
            by_place.setdefault(f"s3://{upload.bucket}/{upload.prefix}".rstrip("/"), []).append(upload)
    groups = []
    for group in cluster.groups:
        scripts = group.lifecycle
        uri = scripts.source_uri if isinstance(scripts, Lifecycle) and scripts.files is None else None
        there = by_place.get(uri.rstrip("/"), []) if isinstance(uri, str) else []
        if isinstance(scripts, Lifecycle) and len(there) == 1 and not there[0].filtered:
            scripts = replace(scripts, files=there[0].files, parameters=there[0].parameters)
        groups.append(replace(group, lifecycle=scripts))
    return replace(cluster, groups=tuple(groups))


def _upload(found: Found, resources: Resources) -> Upload:
    properties = found.properties
    files = _files(found, properties["SourceObjectKeys"].each(Node.text), resources)
    parameters = dict(files or ()).get(PARAMETERS)
    prefix = properties["DestinationBucketKeyPrefix"].text()
    return properties.build(
        Upload,
        _FIELDS,
        path=found.path,
        prefix="" if prefix is None else prefix.strip("/") if isinstance(prefix, str) else UNKNOWN,
        filtered=properties["Exclude"].given or properties["Include"].given,
        files=None if files is None else tuple(script_file(name, content) for name, content in files),
        parameters=None if parameters is None else slurm_parameters(parameters),
    )


def _files(
    found: Found, keys: tuple[str | Unknown, ...] | Unknown, resources: Resources
) -> list[tuple[str, bytes]] | None:
    """Name and content of the files of all sources; `None` where one of them is not at hand or too large."""
    if keys is UNKNOWN or not keys:
        return None
    files: dict[str, bytes] = {}
    for key in keys:
        folder = _asset(found, key, resources)
        content = None if folder is None else _content(folder)
        if content is None:
            return None
        files |= content
    return sorted(files.items())


def _asset(found: Found, key: str | Unknown, resources: Resources) -> Path | None:
    """The folder that became an archive of this key; those of a stage lie beside its templates or in the assembly."""
    if not isinstance(key, str) or not key.endswith(_ARCHIVE):
        return None
    name = f"asset.{key.rpartition('/')[2].removesuffix(_ARCHIVE)}"
    around = [found.resource.stack.file.parent, resources.folder]
    return next((path / name for path in around if (path / name).is_dir()), None)


def _content(folder: Path) -> dict[str, bytes] | None:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    try:
        if len(paths) > _MOST_FILES or sum(path.stat().st_size for path in paths) > _MOST_BYTES:
            return None
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    except OSError:
        return None


def _key(node: Node) -> str | Unknown | None:
    """The customer key of a bucket."""
    rules = node["ServerSideEncryptionConfiguration"].items()
    keys = () if rules is UNKNOWN else (rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"] for rule in rules)
    return next((key.path() for key in keys if key.given), None)


_BUCKET: Final[Fields] = {"key": ("BucketEncryption", _key)}
_FIELDS: Final[Fields] = {
    "bucket": ("DestinationBucketName", lambda node: node.must(Node.pattern)),
    "prune": ("Prune", otherwise(Node.flag, default=True)),
}
