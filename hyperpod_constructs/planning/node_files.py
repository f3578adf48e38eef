"""The files that nodes load to run steps: a start script for each group, and one archive with all the rest.

One archive, because Python runs what lies in it as it is, notices when its download was cut off, and because each file
that the CDK uploads costs a deploy a call and a synth seven messages to Node. The same steps give the same bytes.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model import steps as model
from hyperpod_constructs.model.lifecycle import ARCHIVE
from hyperpod_constructs.model.steps import Context, Step

ASSETS: Final = Path(__file__).parents[1] / "assets" / "lifecycle"
_NODE: Final = "hyperpod_node"
_ALWAYS: Final = ("__init__", "host", "runner")
"""Modules that every node has."""
_INSTALLS: Final = {"job_checks": "jobs"}
"""Folders of files that modules put somewhere else on the node."""
_IMPORTS: Final = re.compile(r"^from hyperpod_node import (.+)$", re.MULTILINE)
_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)


def start_script(group: str) -> str:
    """Name of the script that HyperPod calls on nodes of a group."""
    return f"start-{group}.sh"


def published(steps: Sequence[Step], context: Context) -> list[tuple[str, bytes]]:
    """Name and content of each file, sorted by name."""
    start = (ASSETS / "start.sh").read_bytes()
    scripts = {start_script(str(group.name)): start for group in context.groups}
    return sorted({**scripts, ARCHIVE: archive(contents(steps, context))}.items())


def own(steps: Sequence[Step]) -> dict[str, bytes]:
    """The user's scripts among the steps, by name in the archive."""
    return {name: content for step in steps for name, content in step.files.items()}


def contents(steps: Sequence[Step], context: Context) -> dict[str, bytes]:
    """What the archive holds: the runner, the modules of the steps in use, the user's scripts and all inputs."""
    files = own(steps)
    for module in sorted({*_ALWAYS, *(step.run for step in steps if "/" not in step.run)}):
        files |= _module(module)
    try:
        encoded = json.dumps(model.encode(steps, context), indent=1, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue(
            f"inputs of a step are no JSON: {error}", "use text, numbers, lists and dictionaries"
        ) from None
    return {**files, "inputs.json": f"{encoded}\n".encode()}


def _module(name: str) -> dict[str, bytes]:
    """A module, with what it imports and the files that it installs."""
    path = ASSETS / _NODE / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    files = {f"{_NODE}/{path.name}": text.encode()}
    for found in _IMPORTS.findall(text):
        for other in found.split(", "):
            if other not in _ALWAYS:
                files |= _module(other)
    if name in _INSTALLS:
        folder = ASSETS / _INSTALLS[name]
        files |= {f"{folder.name}/{each.name}": each.read_bytes() for each in sorted(folder.glob("*.sh"))}
    return files


def archive(files: Mapping[str, bytes]) -> bytes:
    """A zip archive of some files: without times, owners and compression, so that its bytes are those of its files."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archived:
        for name, content in sorted(files.items()):
            archived.writestr(zipfile.ZipInfo(name, _NO_TIME), content)
    return written.getvalue()
