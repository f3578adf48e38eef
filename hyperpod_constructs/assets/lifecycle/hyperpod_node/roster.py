"""The roster: found through a parameter, downloaded, checked, and kept for when AWS does not answer."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from hyperpod_node import host

DATA = Path("/var/lib/hyperpod")
_STAYS_SO = ("NotFound", "(404)", "NoSuch", "AccessDenied", "(403)")


def fetch(step: host.Step) -> tuple[bytes, str]:
    """The file as it is now; or its last good copy, and why the present one is not to be had.

    Raises:
        Mistake: if there is no copy, and asking again would change nothing.
        NotYet: if there is no copy, and it cannot be had now.
    """
    where = str(step.inputs.get("uri") or step.inputs.get("parameter") or "")
    if not where:
        raise host.Mistake("the step needs `parameter` or `uri`: where the roster is")
    new = DATA / f"{step.name}.download"
    try:
        if not step.inputs.get("uri"):
            where = _named_by(where)
        host.download(where, new, timeout=60)
        return new.read_bytes(), ""
    except (host.Failure, OSError) as failure:
        told = f"{where} cannot be read; publish the roster, or let the nodes' role read it: {failure}"
        copy = last(step)
        if copy is not None:
            return copy, told
        stays = isinstance(failure, host.Mistake) or any(word in told for word in _STAYS_SO)
        raise (host.Mistake if stays else host.NotYet)(told) from None
    finally:
        with contextlib.suppress(OSError):
            host.remove(new)


def _named_by(parameter: str) -> str:
    """The `s3://` of the file that a parameter holds; the command line may say other things besides."""
    query = ("--query", "Parameter.Value", "--output", "text")
    answer = host.aws("ssm", "get-parameter", "--name", parameter, *query, timeout=30)
    for line in answer.splitlines():
        if line.startswith("s3://"):
            return line.strip()
    raise host.Mistake(f"parameter {parameter} holds {answer.strip()!r}, not the s3:// of the roster")


def load(content: bytes) -> dict[str, Any]:
    """What the file says.

    Raises:
        Mistake: if it is cut off or of another version.
    """
    try:
        found: dict[str, Any] = json.loads(content)
        version = found["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise host.Mistake(f"the roster is cut off or not what it should be ({error}): publish it again") from None
    if version != 1:
        raise host.Mistake(f"the roster has version {version!r}; this step reads version 1")
    return found


def last(step: host.Step) -> bytes | None:
    """The last good copy, if there is one."""
    try:
        return _last(step).read_bytes()
    except OSError:
        return None


def keep(step: host.Step, content: bytes) -> None:
    """Keeps a file that was found good; a disk that is full or read-only is no reason not to do what it says."""
    try:
        host.write(_last(step), json.dumps(json.loads(content)), 0o600)
    except host.Failure as failure:
        host.say(f"warning: there will be no new copy of the roster for when AWS is away: {failure}")


def _last(step: host.Step) -> Path:
    return DATA / f"{step.name}.last.json"
