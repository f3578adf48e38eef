"""Which lifecycle scripts an edit touches, and which groups will run them.

The files are compared where both sides are the output of a CDK app that publishes them as assets. Nodes that run keep
the scripts with which they started: the next node that fails is the first to run the new ones.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.manifest import MANIFEST, published
from hyperpod_constructs.cloudformation.values import Value
from hyperpod_constructs.model.lifecycle import ARCHIVE
from hyperpod_constructs.review.comparison import Comparison, Pair
from hyperpod_constructs.review.groups import CLUSTER, LISTS
from hyperpod_constructs.review.wording import whole

_PATHS = frozenset(f"{name}.LifeCycleConfig.SourceS3Uri" for name in LISTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptEdit:
    """Scripts of one cluster that new nodes get from another place.

    Attributes:
        path: Path of the cluster.
        groups: Names of the groups that get them.
        before: Address until now.
        after: Address from now on.
        added: Files that only the new address has.
        changed: Files with other contents.
        removed: Files that only the old address has.
        compared: Whether the files of both addresses were at hand.
    """

    path: str
    groups: tuple[str, ...]
    before: str
    after: str
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    compared: bool = False


def of(comparison: Comparison) -> tuple[ScriptEdit, ...]:
    """Every change of an address of scripts."""
    old, new = files(comparison.base), files(comparison.head)
    return tuple(edit for pair in comparison.pairs if pair.either.type == CLUSTER for edit in _of(pair, old, new))


def _of(pair: Pair, old: Mapping[str, Path], new: Mapping[str, Path]) -> Iterator[ScriptEdit]:
    moved: dict[tuple[str, str], list[str]] = {}
    for each in pair.differences:
        if each.path in _PATHS and each.before is not None and each.after is not None:
            moved.setdefault((_address(each.before), _address(each.after)), []).append(each.steps[1])
    for (before, after), groups in moved.items():
        ours, theirs = _below(before, old), _below(after, new)
        yield ScriptEdit(
            path=pair.either.path,
            groups=tuple(groups),
            before=before,
            after=after,
            added=tuple(sorted(theirs.keys() - ours.keys())) if ours and theirs else (),
            removed=tuple(sorted(ours.keys() - theirs.keys())) if ours and theirs else (),
            changed=tuple(sorted(name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name])),
            compared=bool(ours and theirs),
        )


def _address(value: Value) -> str:
    return whole(value).rstrip("/")


def files(side: Assembly) -> Mapping[str, Path]:
    """Files that an app publishes, by object key; none for templates without a manifest."""
    return published(side.path) if (side.path / MANIFEST).is_file() else {}


def _below(address: str, published_files: Mapping[str, Path]) -> dict[str, bytes]:
    """The contents of the files at an address, by name; those of our archive one by one."""
    _, _, prefix = address.removeprefix("s3://").partition("/")
    if not prefix:
        return {}
    keys = [key for key in published_files if key.startswith(f"{prefix}/")]
    found = {key.removeprefix(f"{prefix}/"): published_files[key] for key in keys}
    contents: dict[str, bytes] = {}
    for name, file in found.items():
        if file.is_file():
            contents |= _unpacked(file) if name == ARCHIVE else {name: file.read_bytes()}
    return contents


def _unpacked(file: Path) -> dict[str, bytes]:
    """What an archive holds; the archive itself if it is none."""
    try:
        with zipfile.ZipFile(file) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError):
        return {ARCHIVE: file.read_bytes()}
