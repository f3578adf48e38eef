"""The roster: found through a parameter, downloaded, checked, and kept for when AWS does not answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hyperpod_node import host

DATA = Path("/var/lib/hyperpod")
_STAYS_SO = ("NotFound", "(404)", "NoSuch", "AccessDenied", "(403)")


def fetch(step: host.Step) -> tuple[bytes, str]:
    """The file as it is now; or its last good copy, and why the present one is not to be had.

    Raises:
        Mistake: if asking again would change nothing.
        NotYet: if it cannot be had now and there is no copy.
    """
    where = str(step.inputs.get("uri") or step.inputs.get("parameter") or "")
    new, last = DATA / f"{step.name}.download", _last(step)
    try:
        if not step.inputs.get("uri"):
            where = _named_by(where)
        host.download(where, new, timeout=60)
        return new.read_bytes(), ""
    except host.Mistake:
        raise
    except host.Failure as failure:
        told = f"{where} cannot be read; publish the roster, or let the nodes' role read it: {failure}"
        if any(word in told for word in _STAYS_SO):
            raise host.Mistake(told) from None
        if not last.exists():
            raise host.NotYet(told) from None
        return last.read_bytes(), told
    finally:
        host.remove(new)


def _named_by(parameter: str) -> str:
    """The `s3://` of the file that a parameter holds."""
    if not parameter:
        raise host.Mistake("the step needs `parameter` or `uri`: where the roster is")
    query = ("--query", "Parameter.Value", "--output", "text")
    found = host.aws("ssm", "get-parameter", "--name", parameter, *query, timeout=30).strip()
    if not found.startswith("s3://"):
        raise host.Mistake(f"parameter {parameter} holds {found!r}, not the s3:// of the roster")
    return found


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
    return _last(step).read_bytes() if _last(step).exists() else None


def keep(step: host.Step, content: bytes) -> None:
    """Keeps a file that was found good."""
    host.write(_last(step), json.dumps(json.loads(content)), 0o600)


def _last(step: host.Step) -> Path:
    return DATA / f"{step.name}.last.json"
