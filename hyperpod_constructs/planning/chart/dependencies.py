"""The charts that a chart needs: which lie in its `charts/`, and which Helm would miss there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import archive, metadata, versions
from hyperpod_constructs.planning.chart.files import Files
from hyperpod_constructs.planning.chart.metadata import Dependency

CHARTS: Final = "charts/"
_PACKED: Final = ".tgz"
_DEEPEST: Final = 8
"""Charts within charts: more than anybody has, and few enough for Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A chart that is declared and not there.

    Attributes:
        folder: The chart that declares it, with a slash at its end; empty for the outermost.
        dependency: What it declares.
        found: Version of the chart of that name that is there instead; `None` where there is none.
    """

    folder: str
    dependency: Dependency
    found: str | None

    def __str__(self) -> str:
        """Name, version and whose it is, for messages."""
        of = f" of {self.folder.rstrip('/')}" if self.folder else ""
        there = f" (charts/ has {self.found})" if self.found is not None else ""
        return f"{self.dependency.name} {self.dependency.version}{of}{there}"


def unpacked(files: Files, folder: str = "", *, depth: int = 0) -> dict[str, bytes]:
    """The files with a folder in the place of each packed chart, at any depth.

    Raises:
        InvalidValue: if an archive is none or not safe, holds no chart, or there is a folder of its name already.
    """
    if depth > _DEEPEST:
        raise InvalidValue(f"chart: {folder} lies in more than {_DEEPEST} charts", "do not use this chart")
    found = dict(files)
    for name in [name for name in files if _is_packed(name, folder)]:
        inside = archive.unpack(found.pop(name), name)
        place = f"{folder}{CHARTS}{metadata.of_chart(inside).name}/"
        if any(other.startswith(place) for other in found):
            raise InvalidValue(f"chart: {name} and the folder {place} are one chart twice", "remove one of the two")
        found.update({place + inner: content for inner, content in inside.items()})
    for below in directly_in(found, folder):
        found = unpacked(found, below, depth=depth + 1)
    return dict(sorted(found.items()))


def charts(files: Files, folder: str = "") -> Iterator[str]:
    """The folders of all charts in a chart without packed ones, itself first, each with a slash at its end.

    Raises:
        InvalidValue: if something lies in `charts/` that is no chart, which Helm refuses.
    """
    yield folder
    stray = next((name for name in files if _is_stray(name, folder)), None)
    if stray is not None:
        raise InvalidValue(f"chart: {stray} is no chart, and Helm takes nothing else in charts/", "remove it")
    for below in directly_in(files, folder):
        yield from charts(files, below)


def directly_in(files: Files, folder: str) -> list[str]:
    """The folders in `charts/` of a chart that Helm looks at, each with a slash at its end."""
    inside = folder + CHARTS
    firsts = {name.removeprefix(inside).partition("/")[:2] for name in files if name.startswith(inside)}
    return sorted(f"{inside}{first}/" for first, slash in firsts if slash and first[0] not in "._")


def missing(files: Files) -> list[Missing]:
    """What is declared and not there, of a chart without packed ones and of all charts in it.

    A version that is not the declared one counts as not there, if the declaration is understood.
    """
    return [each for folder in charts(files) for each in _missing(files, folder)]


def check_complete(files: Files, where: str) -> None:
    """Raises `InvalidValue` if something that the outermost chart declares is not in its `charts/`.

    Helm refuses such a chart, also where a condition switches the missing one off. It does not look at what charts in
    `charts/` declare themselves: that is left out without a word (`missing` tells).

    Args:
        files: Files of a chart without packed ones.
        where: What the message calls the chart.
    """
    lacking = [each for each in missing(files) if not each.folder]
    if lacking:
        raise InvalidValue(
            f"chart: {where} lacks {', '.join(map(str, lacking))} in {CHARTS}, which its Chart.yaml declares, and Helm "
            "installs no such chart, even where a condition switches that off",
            "`hyperpod chart fetch` brings all of them, `helm dependency build` those of one folder",
        )


def _missing(files: Files, folder: str) -> Iterator[Missing]:
    there = _there(files, folder)
    for dependency in metadata.of_chart(files, folder).dependencies:
        found = there.get(dependency.name, [])
        if not any(versions.fits(version, dependency.version or "*") is not False for version in found):
            yield Missing(folder=folder, dependency=dependency, found=found[0] if found else None)


def _there(files: Files, folder: str) -> Mapping[str, list[str]]:
    """Versions of the charts in the `charts/` of a chart, by name in Chart.yaml, not by that of the folder."""
    found: dict[str, list[str]] = {}
    for below in directly_in(files, folder):
        chart = metadata.of_chart(files, below)
        found.setdefault(chart.name, []).append(chart.version)
    return found


def _is_packed(name: str, folder: str) -> bool:
    rest = name.removeprefix(folder + CHARTS)
    return name.startswith(folder + CHARTS) and "/" not in rest and rest.endswith(_PACKED) and rest[0] not in "._"


def _is_stray(name: str, folder: str) -> bool:
    """Whether Helm would take a file for a chart; signatures of packed ones (.prov) are passed over."""
    rest = name.removeprefix(folder + CHARTS)
    return name.startswith(folder + CHARTS) and "/" not in rest and rest[0] not in "._" and not rest.endswith(".prov")
