"""`.helmignore`: which files of a folder are no part of the chart.

Only the file of the outermost chart counts, and it counts for the charts in `charts/` too. Source: helm.sh,
The .helmignore file (2026).
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.errors import InvalidValue

FILE: Final = ".helmignore"
_ALWAYS: Final = "templates/.?*"


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of a file.

    Attributes:
        patterns: Lines that are neither empty nor a comment.
    """

    patterns: Sequence[str]

    def __call__(self, name: str, *, is_folder: bool) -> bool:
        """Whether Helm passes over a file or folder.

        Args:
            name: Its path with slashes, relative to the folder of the chart.
            is_folder: Whether it is a folder: some patterns are for those only.
        """
        return any(_applies(pattern, name, is_folder=is_folder) for pattern in self.patterns)


def parse(content: bytes) -> Rules:
    """The rules of a file, with the one that Helm adds.

    Raises:
        InvalidValue: if a pattern has `**`, which Helm refuses.
    """
    lines = [line.strip() for line in content.decode("utf-8-sig", errors="replace").splitlines()]
    patterns = [line for line in lines if line and not line.startswith("#")]
    double = next((pattern for pattern in patterns if "**" in pattern), None)
    if double is not None:
        raise InvalidValue(f"chart: {FILE} has {double!r}, and Helm takes no **", "write a line for each folder")
    return Rules([*patterns, _ALWAYS])


def _applies(pattern: str, name: str, *, is_folder: bool) -> bool:
    """Whether a pattern says to leave something out; one with `!` says so of all that it does not match."""
    negated, pattern = pattern.startswith("!"), pattern.removeprefix("!")
    fits = (is_folder or not pattern.endswith("/")) and _matches(pattern.rstrip("/"), name)
    return fits is not negated


def _matches(pattern: str, name: str) -> bool:
    """A pattern with a slash is about the whole path, one without about the last part of it."""
    if "/" not in pattern:
        name = name.rpartition("/")[2]
    wanted, parts = pattern.removeprefix("/").replace("[^", "[!").split("/"), name.split("/")
    # Part by part: for fnmatch a star also stands for slashes, for Helm it does not.
    return len(wanted) == len(parts) and all(map(fnmatch.fnmatchcase, parts, wanted))
