"""`hyperpod-chart.lock.json`: what was fetched, so that it can be fetched again and be the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart.files import LOCK

_VERSION: Final = 1
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_AGAIN: Final = "fetch it into another folder, compare the two, and put the new one in the place of this"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A chart that was vendored.

    Attributes:
        chart: Folder of the chart that declares it, `.` for the outermost.
        name: Its name.
        version: The version that was taken.
        repository: Where it came from.
        sha256: Hash of its archive.
    """

    chart: str
    name: str
    version: str
    repository: str
    sha256: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others: several charts may need one of the same name."""
        return self.chart, self.name, self.repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What is in a folder that was fetched.

    Attributes:
        repository: Address of the repository with the chart.
        commit: Its commit.
        folder: The chart's folder in it.
        archive_sha256: Hash of the archive of that commit.
        contents_sha256: That of all files of the folder, as `planning.chart.digest` makes it.
        dependencies: What was vendored, sorted.
    """

    repository: str
    commit: str
    folder: str
    archive_sha256: str
    contents_sha256: str
    dependencies: tuple[Pin, ...]

    def pin(self, key: tuple[str, str, str]) -> Pin | None:
        """What is vendored for a declaration; `None` where the lock has none."""
        return next((pin for pin in self.dependencies if pin.key == key), None)


def encode(lock: Lock) -> str:
    """The text of the file: sorted and without dates, so that the same chart gives the same."""
    return json.dumps({"version": _VERSION, **asdict(lock)}, indent=2) + "\n"


def decode(text: str) -> Lock:
    """What a file says.

    Raises:
        InvalidValue: if it is none that `encode` wrote.
    """
    try:
        found: dict[str, Any] = json.loads(text)
        version = found.pop("version")
        pins = tuple(Pin(**each) for each in found.pop("dependencies"))
        lock = Lock(**found, dependencies=pins)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidValue(f"{LOCK} cannot be read: {error}", _AGAIN) from None
    if version != _VERSION:
        raise InvalidValue(f"{LOCK} is of version {version!r}, not {_VERSION}", _AGAIN)
    hashes = (lock.archive_sha256, lock.contents_sha256, *(pin.sha256 for pin in lock.dependencies))
    if not all(isinstance(each, str) and _SHA256.fullmatch(each) for each in hashes):
        raise InvalidValue(f"{LOCK} cannot be read: a hash is not 64 hexadecimal digits", _AGAIN)
    return lock


def check_same(old: Lock, new: Lock) -> None:
    """Raises `InvalidValue` if what was fetched now differs from what the lock records."""
    differences = list(_differences(asdict(old), asdict(new)))
    if differences:
        raise InvalidValue(f"{LOCK} says otherwise: {'; '.join(differences)}", _AGAIN)


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key, value in old.items():
        if key != "dependencies" and value != new[key]:
            yield f"{key} was {value}, is {new[key]}"
    before, now = _by_key(old["dependencies"]), _by_key(new["dependencies"])
    for pin in sorted(before.keys() | now.keys()):
        if before.get(pin) != now.get(pin):
            yield f"{pin[1]} of {pin[0]} was {_said(before.get(pin))}, is {_said(now.get(pin))}"


def _by_key(pins: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], Mapping[str, str]]:
    return {(pin["chart"], pin["name"]): pin for pin in pins}


def _said(pin: Mapping[str, str] | None) -> str:
    return f"{pin['version']} ({pin['sha256']}) of {pin['repository']}" if pin else "not there"
