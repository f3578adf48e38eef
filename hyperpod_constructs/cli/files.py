"""Files that a command writes: whole or not at all, so that nobody attaches half a policy or reads half a list."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def write(contents: Mapping[Path, str]) -> None:
    """Writes files and makes their folders; an error leaves every file as it was.

    A link is followed. What is no regular file, such as `/dev/stdout`, is written to and never replaced.

    Args:
        contents: Text by file.

    Raises:
        OSError: if a file cannot be written; it names the file.
    """
    waiting: dict[Path, tuple[Path, Path]] = {}
    try:
        for file, text in contents.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            with _named(file):
                target = file.resolve()
                if target.is_symlink():
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                if target.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                if not target.exists() or target.is_file():
                    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
                    waiting[file] = Path(name), target
                    with open(handle, "w", encoding="utf-8") as opened:  # noqa: PTH123  # an open file, not a path
                        opened.write(text)
                    Path(name).chmod(0o666 & ~_umask())  # a temporary file is its owner's alone
        for file in contents.keys() - waiting.keys():
            with _named(file), file.open("w", encoding="utf-8") as opened:
                opened.write(contents[file])
        for file, (written, target) in waiting.items():  # nothing is replaced before everything is written
            with _named(file):
                written.replace(target)
    finally:  # whatever happens, and that a user stops the command is no error of the system
        for written, _ in waiting.values():
            written.unlink(missing_ok=True)


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Errors name the file that was asked for, and not the temporary one."""
    try:
        yield
    except RuntimeError as error:  # Python 3.11 and 3.12 say so of a link that leads to itself
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(file)) from error
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error


def _umask() -> int:
    """What the user takes away from the permissions of new files; it can be read only by setting it."""
    current = os.umask(0)
    os.umask(current)
    return current
