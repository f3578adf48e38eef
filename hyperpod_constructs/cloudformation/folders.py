"""Looks at the files of a folder from outside: which may be templates, and what lies in sub-folders and is not read."""

from __future__ import annotations

import os.path
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".json", ".yaml", ".yml", ".template")
"""Ends of the names of files that may be templates."""

_TEMPLATE_MARK = re.compile(
    rb"""AWSTemplateFormatVersion|^["']?Resources["']?\s*:|[{,]\s*"Resources"\s*:""", re.MULTILINE
)
_LOOK_AT = 64 * 1024  # bytes of a file that decide whether it was meant as a template
_MOST_ENTRIES = 20_000  # a folder with more below it is nobody's folder of templates
_NOT_THE_AUTHORS = frozenset({"__pycache__", "node_modules", "site-packages", "venv"})


@dataclass(frozen=True, slots=True)
class Below:
    """A sub-folder that has something to check and was not read.

    Attributes:
        folder: The sub-folder, or the deepest one in it that holds all of its templates.
        templates: Templates in it, at any depth; empty for the output of a CDK app.
    """

    folder: Path
    templates: tuple[Path, ...] = ()

    @property
    def holds(self) -> str:
        """What it has, as in `has 2 templates (a/net.yaml, ...)`."""
        if not self.templates:
            return "is the output of a CDK app"
        first, more = self.templates[0].relative_to(self.folder), len(self.templates) - 1
        return f"has {more + 1} template{'s' if more else ''} ({first}{', ...' if more else ''})"


def meant_as_template(file: Path) -> bool:
    """Whether a file shows a sign of being a template, be it a broken one."""
    try:
        with file.open("rb") as opened:
            return _TEMPLATE_MARK.search(opened.read(_LOOK_AT)) is not None
    except OSError:
        return True  # what cannot be looked at may be the template that matters


def is_output(folder: Path) -> bool:
    """Whether the CDK left its marker in a folder; with it, the manifest has to be there."""
    return (folder / "cdk.out").is_file()


def look_below(folder: Path, known: Collection[Path]) -> list[Below]:
    """The folders directly in a folder that have, at any depth, a template that was not read.

    Hidden folders, those of installed packages and those behind links are not looked into.

    Args:
        folder: What was read without its sub-folders.
        known: Files that were read all the same, as templates of nested stacks.
    """
    left = [_MOST_ENTRIES]
    found = []
    for inner in _folders(folder):
        templates: list[Path] = []
        outputs: list[Path] = []
        for file in _files_below(inner, left):
            if file.is_dir():
                outputs.append(file)
            elif file not in known and meant_as_template(file):
                templates.append(file)
        found += [Below(output) for output in outputs]
        if templates:
            found.append(Below(Path(os.path.commonpath([file.parent for file in templates])), tuple(templates)))
    return found


def _folders(folder: Path) -> Iterator[Path]:
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and not inner.is_symlink() and not _is_skipped(inner):
            yield inner


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _NOT_THE_AUTHORS or (folder / "pyvenv.cfg").exists()


def _files_below(folder: Path, left: list[int]) -> Iterator[Path]:
    """Files that may be templates, and folders that are the output of a CDK app."""
    if is_output(folder):
        yield folder
        return
    try:
        entries = sorted(folder.iterdir())
        folders = [*_folders(folder)]
    except OSError:
        return  # nobody asked for this folder
    for entry in entries:
        left[0] -= 1
        if left[0] < 0:
            return
        if entry.name.endswith(SUFFIXES) and entry.is_file() and not entry.is_symlink():
            yield entry
    for inner in folders:
        yield from _files_below(inner, left)
