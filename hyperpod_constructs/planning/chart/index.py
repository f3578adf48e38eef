"""The index of a chart repository: which versions of a chart there are, where, and with which hash."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import metadata, versions
from hyperpod_constructs.planning.chart.metadata import Dependency

_SHA256: Final = re.compile(r"(?:sha256:)?(?P<hex>[0-9a-f]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One version of a chart.

    Attributes:
        version: As the repository writes it.
        url: Where its archive is.
        sha256: Hash of that archive; `None` where the index gives none.
    """

    version: str
    url: str
    sha256: str | None


def address(repository: str) -> str:
    """Where the index of a repository is."""
    return f"{repository.rstrip('/')}/index.yaml"


def choose(content: bytes, dependency: Dependency, pinned: str | None) -> Release:
    """The release of a chart that is to be used.

    Args:
        content: The index.
        dependency: What Chart.yaml asks for.
        pinned: The version that a lock names; `None` takes the highest of the range.

    Raises:
        InvalidValue: if the index has no such chart or version, or what is pinned is not what Chart.yaml asks for.
    """
    where, what = address(dependency.repository), dependency.name
    entries = metadata.mapping(content, where).get("entries")
    listed = list(metadata.items(entries, what)) if isinstance(entries, Mapping) else []
    if not listed:
        raise InvalidValue(f"{where} has no chart {what}", "look whether the repository of Chart.yaml is right")
    if pinned is not None and versions.fits(pinned, dependency.version or "*") is False:
        raise InvalidValue(
            f"{what}: the lock has version {pinned}, and Chart.yaml asks for {dependency.version}",
            "take a commit in which the two agree",
        )
    wanted = versions.highest(
        [metadata.text(each, "version") for each in listed], pinned or dependency.version or "*", what
    )
    return _release(next(each for each in listed if metadata.text(each, "version") == wanted), where, what)


def _release(entry: Mapping[str, object], where: str, what: str) -> Release:
    urls = entry.get("urls")
    url = urls[0] if isinstance(urls, list) and urls and isinstance(urls[0], str) else ""
    version = metadata.text(entry, "version")
    if not url:
        raise InvalidValue(f"{where} does not say where {what} {version} is", "ask for another version")
    match = _SHA256.fullmatch(metadata.text(entry, "digest"))
    return Release(version=version, url=urljoin(where, url), sha256=match["hex"] if match else None)
