"""The files of a chart as a mapping from their names, so that all else here is about text and bytes and not disks."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import ignoring

Files: TypeAlias = Mapping[str, bytes]
"""Content by path with slashes, relative to the folder that holds Chart.yaml."""

CHART_FILE: Final = "Chart.yaml"
LOCK: Final = "hyperpod-chart.lock.json"
"""What `hyperpod chart fetch` writes beside Chart.yaml; Helm has no use for it."""

MOST_BYTES: Final = 100 * 1024 * 1024
"""Helm 4 takes no packed chart that is larger when it is unpacked."""
MOST_OF_A_FILE: Final = 5 * 1024 * 1024
"""Nor a file in it that is."""
MOST_FILES: Final = 10_000


def read(folder: Path) -> dict[str, bytes]:
    """Every file of a chart that Helm reads, sorted by name; what `.helmignore` names is left out, and so is itself.

    Args:
        folder: The folder that holds Chart.yaml.

    Raises:
        InvalidValue: if it is no folder or no chart, holds a link, a device or the like, or is too large for Helm.
    """
    if not folder.is_dir():
        raise InvalidValue(f"chart: {folder} is no folder", "`hyperpod chart fetch --into DIR` writes one")
    if not (folder / CHART_FILE).is_file():
        raise InvalidValue(
            f"chart: {folder} has no {CHART_FILE}", "use the folder of the chart itself, in which that file lies"
        )
    ignore = ignoring.parse(_content(folder / ignoring.FILE) if (folder / ignoring.FILE).is_file() else b"")
    found: dict[str, bytes] = {}
    size = 0
    for name, path in _walk(folder, "", ignore):
        found[name] = _content(path)
        size += len(found[name])
        if size > MOST_BYTES or len(found) > MOST_FILES:
            raise InvalidValue(
                f"chart: {folder} holds more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes, which no chart does",
                "use the folder of the chart alone",
            )
    return dict(sorted(found.items()))


def write(files: Files, folder: Path) -> None:
    """Writes files below a folder, which is made; existing ones of the same names are replaced."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def digest(files: Files) -> str:
    """SHA-256 over names and contents in the order of names: the same files give the same, wherever they lie."""
    whole = hashlib.sha256()
    for name, content in sorted(files.items()):
        # A hash has a fixed length and a name no zero byte, so that no two sets of files run into the same bytes.
        whole.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return whole.hexdigest()


def _walk(folder: Path, before: str, ignore: ignoring.Rules) -> Iterator[tuple[str, Path]]:
    """Name and path of the files below a folder.

    Helm follows links; a copy for a Lambda cannot, and one that leads out of the folder would publish what nobody sees
    in it.
    """
    for path in sorted(folder.iterdir()):
        name, mode = before + path.name, path.lstat().st_mode
        if name in {LOCK, ignoring.FILE} or ignore(name, is_folder=stat.S_ISDIR(mode)):
            continue
        if not name.isprintable():
            raise InvalidValue(f"chart: name {name!r} is not text", "rename the file")
        if stat.S_ISDIR(mode):
            yield from _walk(path, f"{name}/", ignore)
        elif stat.S_ISREG(mode):
            yield name, path
        else:
            what = "a link" if stat.S_ISLNK(mode) else "no regular file"
            raise InvalidValue(f"chart: {path} is {what}", "put a copy of the file itself in its place")


def _content(path: Path) -> bytes:
    if path.stat().st_size > MOST_OF_A_FILE:
        raise InvalidValue(
            f"chart: {path} has more than {MOST_OF_A_FILE:,} bytes, and Helm takes no such file",
            f"remove it, or name it in {ignoring.FILE}",
        )
    return path.read_bytes()
