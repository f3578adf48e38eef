"""Other registries in the text of a chart: clusters without a way out pull from one of their own."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart.files import CHART_FILE, Files

_BEFORE: Final = r"(?<![\w./:@-])"
_AFTER: Final = r"(?![\w/-]|\.\w)"
_LIKE_A_REPOSITORY: Final = re.compile(rf"{_BEFORE}[a-z0-9][\w.-]*(?::\d+)?(?:/[\w.-]+)+", re.ASCII)
_NEAR: Final = 0.6


def substituted(files: Files, images: Mapping[str, str]) -> dict[str, bytes]:
    """The files with other repositories in the place of some; a tag after one stays as it is.

    Args:
        files: Files of a chart without packed ones.
        images: Repository by the one that it replaces.

    Raises:
        InvalidValue: if one that is to be replaced occurs nowhere.
    """
    if not images:
        return dict(files)
    # All in one pass, so that what was put in is not replaced again.
    wanted = re.compile(f"{_BEFORE}(?:{'|'.join(map(re.escape, images))}){_AFTER}", re.ASCII)
    changed, met = dict(files), set[str]()
    for name, text in _texts(files):
        met.update(wanted.findall(text))
        changed[name] = wanted.sub(lambda match: images[match[0]], text).encode()
    for old in images:
        if old not in met:
            raise InvalidValue(f"chart: image {old!r} occurs nowhere in it", _fix(old, files))
    return changed


def _fix(old: str, files: Files) -> str:
    known = sorted({found for _, text in _texts(files) for found in _LIKE_A_REPOSITORY.findall(text)})
    near = difflib.get_close_matches(old, known, n=3, cutoff=_NEAR)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{meant}`hyperpod chart images` lists them; what the chart puts together from parts is set with `values`"


def _texts(files: Files) -> Iterator[tuple[str, str]]:
    """Name and text of the files from which Helm may take an image: neither Chart.yaml nor what is only read."""
    for name, content in files.items():
        if name.rpartition("/")[2] == CHART_FILE or name.lower().endswith((".md", ".txt")):
            continue
        try:
            yield name, content.decode()
        except UnicodeDecodeError:  # a picture, or an archive
            continue
