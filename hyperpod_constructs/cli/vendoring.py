"""Brings the charts that a chart needs into its `charts/`, each with a version and a hash, at any depth."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hyperpod_constructs.cli import downloads
from hyperpod_constructs.errors import InvalidValue, UnreadableChart
from hyperpod_constructs.planning.chart import archive, dependencies, index, metadata, versions
from hyperpod_constructs.planning.chart.dependencies import CHARTS
from hyperpod_constructs.planning.chart.files import CHART_FILE, Files
from hyperpod_constructs.planning.chart.lock import Lock, Pin
from hyperpod_constructs.planning.chart.metadata import Dependency

_MOST_OF_A_CHART: Final = 32 * 1024 * 1024
_MOST_OF_AN_INDEX: Final = 64 * 1024 * 1024
_DEEPEST: Final = 4
"""Charts that need charts that need charts: a chart that needs itself would go on for ever."""
_FILE: Final = "file://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The archive of a commit.

    Attributes:
        address: Where it came from.
        data: Its bytes.
        folder: The chart's folder in it.
    """

    address: str
    data: bytes
    folder: str

    def files(self, folder: str) -> dict[str, bytes]:
        """The files of a folder of the archive.

        Raises:
            InvalidValue: if it holds no chart, or is not safe.
        """
        found = archive.unpack(self.data, self.address, archive.REPOSITORY, below=folder)
        if CHART_FILE not in found:
            raise InvalidValue(f"{self.address} has no chart in {folder}", "look at --folder and --commit")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A packed chart.

    Attributes:
        files: What is in it.
        version: Its version.
        sha256: Hash of the archive.
    """

    files: Files
    version: str
    sha256: str


@dataclass(slots=True, kw_only=True)
class Vendoring:
    """One run.

    Attributes:
        source: Where the chart comes from.
        at_hand: Packed charts that the user has, by name.
        lock: What was vendored last time; `None` the first time.
        pins: What was vendored so far.
        unchecked: Names of charts of which nobody has told a hash.
    """

    source: Source
    at_hand: dict[str, Packed]
    lock: Lock | None
    pins: list[Pin] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    _indexes: dict[str, bytes] = field(default_factory=dict)

    def completed(self, files: Files, folder: str = "", *, depth: int = 0) -> dict[str, bytes]:
        """The files of a chart, with everything that it needs in `charts/`, packed charts unpacked.

        Args:
            files: Files of the outermost chart.
            folder: Where among them the chart lies, with a slash at its end.
            depth: How many charts it lies in.

        Raises:
            InvalidValue: if a chart is not safe, not what it should be, or cannot be had this way.
            UnreadableChart: if something cannot be downloaded.
        """
        found = dependencies.unpacked(files) if depth == 0 else dict(files)
        for each in [one for one in dependencies.missing(found) if one.folder == folder]:
            if depth == _DEEPEST:
                raise InvalidValue(f"chart: {each} lies in more than {_DEEPEST} charts", "do not use this chart")
            place = f"{folder}{CHARTS}{each.dependency.name}/"
            if each.found is not None or any(name.startswith(place) for name in found):
                raise InvalidValue(
                    f"chart: {place} is not the {each} that Chart.yaml declares", "take a commit in which the two agree"
                )
            brought = dependencies.unpacked(self._bring(each.dependency, found, folder))
            found.update({place + name: content for name, content in brought.items()})
        for below in dependencies.directly_in(found, folder):
            found = self.completed(found, below, depth=depth + 1)
        return dict(sorted(found.items()))

    def _bring(self, dependency: Dependency, files: Files, folder: str) -> Files:
        """The files of a chart that is not in `charts/`."""
        if not dependency.repository:
            raise InvalidValue(
                f"chart: {dependency.name} of {folder or 'the chart'} has no repository and is not in {CHARTS}",
                "take a commit in which it is",
            )
        if dependency.is_local:
            return self._beside(dependency, files, folder)
        known = (
            self.lock.pin((folder.rstrip("/") or ".", dependency.name, dependency.repository)) if self.lock else None
        )
        packed = self._packed(dependency, files, folder, known)
        if known is not None and (packed.version, packed.sha256) != (known.version, known.sha256):
            raise InvalidValue(
                f"{dependency.name} {packed.version} has SHA-256 {packed.sha256}, and the lock has {known.version} "
                f"with {known.sha256}",
                "do not use it before you know why it has changed",
            )
        self.pins.append(
            Pin(
                chart=folder.rstrip("/") or ".",
                name=dependency.name,
                version=packed.version,
                repository=dependency.repository,
                sha256=packed.sha256,
            )
        )
        return packed.files

    def _beside(self, dependency: Dependency, files: Files, folder: str) -> Files:
        """A chart that `file://` refers to: elsewhere in the chart, or in its repository."""
        path = posixpath.normpath(posixpath.join(folder, dependency.repository.removeprefix(_FILE)))
        inside = {name.removeprefix(f"{path}/"): files[name] for name in files if name.startswith(f"{path}/")}
        if inside:
            return inside
        outside = posixpath.normpath(posixpath.join(self.source.folder, path))
        if outside.startswith(("../", "/")) or outside in {".", ".."}:
            raise InvalidValue(
                f"chart: {dependency.name} is in {dependency.repository}, outside of the repository",
                "take a commit in which it is not",
            )
        return self.source.files(outside)

    def _packed(self, dependency: Dependency, files: Files, folder: str, known: Pin | None) -> Packed:
        own = self.at_hand.get(dependency.name)
        if own is not None and versions.fits(own.version, dependency.version or "*"):
            return own
        if not dependency.repository.startswith(("https://", "http://")):
            raise InvalidValue(
                f"chart: {dependency.name} {dependency.version} comes from {dependency.repository}, from where charts "
                "cannot be downloaded here",
                f"`helm pull {dependency.repository.rstrip('/')}/{dependency.name} --version {dependency.version}` "
                f"writes a file; give it with --dependency FILE, and it is put into {CHARTS}",
            )
        pinned = known.version if known else _of_helms_lock(dependency, files, folder)
        release = index.choose(self._index(dependency.repository), dependency, pinned)
        data = downloads.get(release.url, _MOST_OF_A_CHART)
        packed = unpacked(data, release.url)
        if release.sha256 is None and known is None:
            self.unchecked.append(dependency.name)
        if release.sha256 not in {None, packed.sha256}:
            raise InvalidValue(
                f"{release.url} has SHA-256 {packed.sha256}, and its index has {release.sha256}", "do not use it"
            )
        is_it = metadata.of_chart(packed.files)
        if is_it.name != dependency.name or versions.fits(is_it.version, release.version) is False:
            raise InvalidValue(
                f"{release.url} holds {is_it.name} {is_it.version}, not {dependency.name} {release.version}",
                "do not use it",
            )
        return packed

    def _index(self, repository: str) -> bytes:
        address = index.address(repository)
        if address not in self._indexes:
            self._indexes[address] = downloads.get(address, _MOST_OF_AN_INDEX)
        return self._indexes[address]


def _of_helms_lock(dependency: Dependency, files: Files, folder: str) -> str | None:
    """The version in Chart.lock; one that Chart.yaml has moved on from does not count."""
    version = metadata.locked(files, folder).get(dependency.name)
    return version if version and versions.fits(version, dependency.version or "*") else None


def unpacked(data: bytes, what: str) -> Packed:
    """A packed chart, its archive checked."""
    files = archive.unpack(data, what)
    return Packed(files=files, version=metadata.of_chart(files).version, sha256=hashlib.sha256(data).hexdigest())


def at_hand(paths: Sequence[str]) -> dict[str, Packed]:
    """The packed charts of some files, by name of the chart.

    Raises:
        InvalidValue: if one is no packed chart.
        UnreadableChart: if one cannot be read.
    """
    found: dict[str, Packed] = {}
    for path in paths:
        try:
            packed = unpacked(Path(path).read_bytes(), path)
        except OSError as error:
            raise UnreadableChart(f"{path}: {error.strerror}") from None
        found[metadata.of_chart(packed.files).name] = packed
    return found
