"""Unpacks a `.tar.gz` from the internet: nothing in it decides where a file lands, or how much memory it takes."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart.files import MOST_BYTES, MOST_FILES, MOST_OF_A_FILE

_MOST_OF_A_PATH: Final = 240
_BLOCK: Final = 1 << 16
_USE_ANOTHER: Final = "do not use this archive: it is not what it should be"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much an archive may hold.

    Attributes:
        members: Number of members.
        total: Bytes of all of it, unpacked.
        of_a_file: Bytes of one file that is taken.
    """

    members: int
    total: int
    of_a_file: int = MOST_OF_A_FILE


CHART: Final = Limits(members=MOST_FILES, total=MOST_BYTES)
"""A packed chart, as Helm limits it."""
REPOSITORY: Final = Limits(members=50_000, total=1024 * 1024 * 1024)
"""All files of a repository, of which the chart is one folder."""


def unpack(data: bytes, what: str, limits: Limits = CHART, *, below: str = "") -> dict[str, bytes]:
    """The files of an archive by name, without the folder that holds them all, sorted.

    Args:
        data: The archive.
        what: What messages call it: its file or address.
        limits: How much it may hold; unpacking stops there.
        below: Only files of this folder are taken, and their names are relative to it; other members are passed over,
            whatever they are.

    Raises:
        InvalidValue: if it is no such archive or cut off, or has a member that is a link or a device, lies outside, is
            there twice, or is beyond a limit. The message names the member.
    """
    try:
        found = _taken(_Bounded(data, what, limits.total), what, limits, below)
    except InvalidValue:  # a ValueError as well
        raise
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
        raise InvalidValue(f"{what} is no archive (.tar.gz), or is cut off: {error}", "download it again") from None
    return dict(sorted(found.items()))


def _taken(source: _Bounded, what: str, limits: Limits, below: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=source, mode="r|") as archive:
        for number, member in enumerate(archive, 1):
            if number > limits.members:
                raise InvalidValue(f"{what} has more than {limits.members:,} members", _USE_ANOTHER)
            name = _below(_inside(member.name, what), below)
            if name is None or member.isdir():
                continue
            _check(member, what, limits)
            if name in found:
                raise InvalidValue(f"{what}: {member.name!r} is there twice", _USE_ANOTHER)
            content = archive.extractfile(member)
            found[name] = content.read() if content else b""
    source.drain()
    return found


def _inside(name: str, what: str) -> str:
    """The path of a member without its first folder; empty for that folder itself.

    Raises:
        InvalidValue: if the path leads elsewhere, or is none that every system can have.
    """
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]:
        raise InvalidValue(f"{what}: {name!r} lies outside of the archive", _USE_ANOTHER)
    if not name.isprintable():
        raise InvalidValue(f"{what}: the name {name!r} is not text", _USE_ANOTHER)
    if len(name) > _MOST_OF_A_PATH:
        raise InvalidValue(f"{what}: the path {name[:60]!r}... has more than {_MOST_OF_A_PATH} letters", _USE_ANOTHER)
    return "/".join([part for part in parts if part not in {"", "."}][1:])


def _below(name: str, folder: str) -> str | None:
    """A path relative to a folder of the archive; `None` for what does not lie in it."""
    if not folder:
        return name or None
    return name.removeprefix(f"{folder}/") if name.startswith(f"{folder}/") else None


def _check(member: tarfile.TarInfo, what: str, limits: Limits) -> None:
    """Raises `InvalidValue` unless a member is a file of a size that Helm takes."""
    if member.issym() or member.islnk():
        raise InvalidValue(f"{what}: {member.name!r} is a link to {member.linkname!r}", _USE_ANOTHER)
    if not member.isreg() or member.issparse():
        raise InvalidValue(f"{what}: {member.name!r} is no regular file", _USE_ANOTHER)
    if member.size > limits.of_a_file:
        raise InvalidValue(
            f"{what}: {member.name!r} has {member.size:,} bytes, more than {limits.of_a_file:,}", _USE_ANOTHER
        )


class _Bounded(io.RawIOBase):
    """What a gzip file unpacks to, up to a number of bytes: a bomb stops there, and never lies in memory as a whole."""

    def __init__(self, data: bytes, what: str, most: int) -> None:
        super().__init__()
        self._source = gzip.GzipFile(fileobj=io.BytesIO(data))
        self._what, self._most, self._left = what, most, most

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        read = self._source.read(_BLOCK if size < 0 else size)
        self._left -= len(read)
        if self._left < 0:
            raise InvalidValue(f"{self._what} unpacks to more than {self._most:,} bytes", _USE_ANOTHER)
        return read

    def drain(self) -> None:
        """Reads to the end, where gzip keeps the checksum of all of it."""
        while self.read(_BLOCK):
            pass
