"""Files that a command writes: whole or not at all, so that nobody attaches half a policy or reads half a list."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write(contents: Mapping[Path, str]) -> None:
    """Writes files, each at once, and makes their folders; an error leaves every file as it was before it was written.

    Args:
        contents: Text by file.

    Raises:
        OSError: if a file cannot be written; it names the file.
    """
    for file, text in contents.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        written = Path(name)
        try:
            with open(handle, "w", encoding="utf-8") as opened:  # noqa: PTH123  # an open file, not a path
                opened.write(text)
            written.chmod(0o666 & ~_umask())  # a temporary file is its owner's alone
            written.replace(file)
        except OSError as error:
            written.unlink(missing_ok=True)
            raise OSError(error.errno, error.strerror, str(file)) from error


def _umask() -> int:
    """What the user takes away from the permissions of new files; it can be read only by setting it."""
    current = os.umask(0)
    os.umask(current)
    return current
