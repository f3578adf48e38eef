"""`hyperpod chart fetch`: a chart of one commit and all that it depends on, in a folder that can be committed."""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Final

from hyperpod_constructs.cli import downloads, terminal, vendoring
from hyperpod_constructs.cli.vendoring import Source, Vendoring
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import dependencies, files, lock
from hyperpod_constructs.planning.chart.files import LOCK
from hyperpod_constructs.planning.chart.lock import Lock

_MOST_OF_A_REPOSITORY: Final = 256 * 1024 * 1024
_ELSEWHERE: Final = "name another folder with --into, compare the two, and put the new one in the place of the old"


def run(arguments: argparse.Namespace) -> int:
    """Writes the chart and its lock, or checks those that are there."""
    into = Path(arguments.into)
    old = _there(into)
    _check_request(arguments, old)
    data, address = _archive(arguments, old)
    source = Source(address=address, data=data, folder=arguments.folder.strip("/"))
    run = Vendoring(source=source, at_hand=vendoring.at_hand(arguments.dependency), lock=old)
    chart = run.completed(source.files(source.folder))
    dependencies.check_complete(chart, arguments.folder)
    _refuse_unused(run)
    new = _written(chart, run, arguments, into, old)
    first = [] if old else [*([] if arguments.sha256 else ["the archive"]), *run.unchecked]
    if arguments.format == "json":
        print(json.dumps(_as_data(new, into, first), indent=2))
    else:
        print("\n".join(_text(new, into, first, checked=old is not None)))
    return 0


def _there(into: Path) -> Lock | None:
    """The lock of a folder that this command wrote, alone or with all that it wrote; `None` where there is nothing.

    Raises:
        InvalidValue: if the folder is somebody else's, or was changed since.
    """
    if not into.is_dir() or not any(into.iterdir()):
        if into.exists() and not into.is_dir():
            raise InvalidValue(f"{into} is no folder", _ELSEWHERE)
        return None
    if not (into / LOCK).is_file():
        raise InvalidValue(f"{into} holds what this command did not write: it has no {LOCK}", _ELSEWHERE)
    old = lock.decode((into / LOCK).read_text(encoding="utf-8"))
    if not _only_lock(into) and files.digest(files.read(into)) != old.contents_sha256:
        raise InvalidValue(f"{into} was changed since it was fetched", _ELSEWHERE)
    return old


def _only_lock(into: Path) -> bool:
    return [path.name for path in into.iterdir()] == [LOCK]


def _check_request(arguments: argparse.Namespace, old: Lock | None) -> None:
    """Raises `InvalidValue` if the lock is of something else than what is asked for."""
    if old is None:
        return
    asked = {"repository": arguments.repository.rstrip("/"), "commit": arguments.commit, "folder": arguments.folder}
    for what, value in asked.items():
        if getattr(old, what) != value:
            raise InvalidValue(f"{arguments.into} holds {what} {getattr(old, what)}, not {value}", _ELSEWHERE)


def _archive(arguments: argparse.Namespace, old: Lock | None) -> tuple[bytes, str]:
    """The archive of the commit and where it came from, its hash checked against all that is known of it."""
    address = f"{arguments.repository.rstrip('/')}/archive/{arguments.commit}.tar.gz"
    data = downloads.get(address, _MOST_OF_A_REPOSITORY)
    found = hashlib.sha256(data).hexdigest()
    for says, wanted in (("--sha256", arguments.sha256), (LOCK, old.archive_sha256 if old else None)):
        if wanted not in {None, found}:
            raise InvalidValue(
                f"{address} has SHA-256 {found}, and {says} says {wanted}",
                "do not use it before you know why: the archive was changed, or whoever serves it packs anew",
            )
    return data, address


def _refuse_unused(run: Vendoring) -> None:
    used = {pin.name for pin in run.pins}
    for name in run.at_hand:
        if name not in used:
            raise InvalidValue(f"--dependency: {name} is nothing that the chart lacks", "leave it out")


def _written(chart: files.Files, run: Vendoring, arguments: argparse.Namespace, into: Path, old: Lock | None) -> Lock:
    """Writes the chart beside its folder, and puts it there when it is whole and what the lock says."""
    into.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=into.parent, prefix=f".{into.name}."))
    try:
        files.write(chart, beside / "new")
        new = Lock(
            repository=arguments.repository.rstrip("/"),
            commit=arguments.commit,
            folder=arguments.folder,
            archive_sha256=hashlib.sha256(run.source.data).hexdigest(),
            contents_sha256=files.digest(files.read(beside / "new")),
            dependencies=tuple(sorted(run.pins, key=lambda pin: pin.key)),
        )
        (beside / "new" / LOCK).write_text(lock.encode(new), encoding="utf-8")
        if old is not None:
            lock.check_same(old, new)
        if old is None or _only_lock(into):
            if into.exists():
                into.rename(beside / "old")
            (beside / "new").rename(into)
    finally:  # also when the user stops the command
        shutil.rmtree(beside)
    return new


def _as_data(new: Lock, into: Path, first: list[str]) -> dict[str, object]:
    return {"directory": str(into), **asdict(new), "trusted_on_first_use": first}


def _text(new: Lock, into: Path, first: list[str], *, checked: bool) -> list[str]:
    columns = terminal.width()
    rows = [(pin.name, pin.version, pin.chart, pin.sha256[:12], pin.repository) for pin in new.dependencies]
    lines = [f"{terminal.plain(str(into))}: {new.folder} of commit {new.commit}"]
    if rows:
        lines += ["vendored: name, version, for which chart, SHA-256, from where", *terminal.table(rows)]
    lines += [f"archive   SHA-256 {new.archive_sha256}", f"contents  SHA-256 {new.contents_sha256}"]
    if checked:
        lines.append(f"all of it is what {LOCK} says")
    elif first:
        said = (
            f"trusted on first use, as nobody told a hash: {', '.join(first)}; commit the folder with its {LOCK}, "
            "which every later run is checked against"
        )
        lines += terminal.wrapped(said, columns)
    return lines
