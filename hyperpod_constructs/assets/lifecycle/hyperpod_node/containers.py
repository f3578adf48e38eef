"""Looks whether jobs can run in containers (Enroot, Pyxis), and keeps what containers write off the root disk.

Nothing is installed: HyperPod's images have both.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path

from hyperpod_node import host

ENROOT = Path("/etc/enroot")
_KEYS = {"CACHE": "/cache", "DATA": "/data", "RUNTIME": "/run", "TEMP": ""}
_BEGIN, _END = "# begin hyperpod", "# end hyperpod"
_WAYS = "take a newer image of HyperPod, a custom AMI that has it, or a script of your own that brings it to the node"


def work(step: host.Step) -> None:
    """Checks the programs and says where Enroot keeps its files."""
    if not shutil.which("enroot"):
        host.say(f"warning: this image has no enroot, so jobs cannot name a container: {_WAYS}")
        return
    pyxis = plugin([Path("/opt/slurm/etc"), Path("/etc/slurm")])
    if not pyxis:
        host.say(f"warning: plugstack.conf of Slurm loads no spank_pyxis.so, so srun has no --container-image: {_WAYS}")
    elif not Path(pyxis).exists():
        host.say(f"warning: plugstack.conf of Slurm loads {pyxis}, which is not there: {_WAYS}")
    place = next((Path(each) for each in step.inputs["candidates"] if host.is_mounted(each)), None)
    if place is None:
        size = step.groups[step.group].get("local_disk_gb")
        disk = (
            f"the type has {size} GB of local disk" if size else "the type has no local disk: add a volume to the group"
        )
        where = " or ".join(step.inputs["candidates"])
        host.say(f"warning: nothing is mounted at {where}, so images fill the root disk; {disk}")
        return
    if _configure(settings(_base(place / "enroot"))):
        host.say(f"Enroot keeps its files under {place}/enroot")


def _base(folder: Path) -> Path:
    """A folder of root's in which users make their own folders and cannot touch those of others."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
    try:
        handle = os.open(str(folder), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise host.Failure(f"{folder} is no folder ({error.strerror}): take it away") from error
    try:
        if os.fstat(handle).st_uid:
            raise host.Failure(f"{folder} is not root's: somebody made it before this step; take it away")
        os.fchmod(handle, 0o1777)
    finally:
        os.close(handle)
    return folder


def plugin(folders: list[Path]) -> str | None:
    """The library of Pyxis that Slurm loads, from plugstack.conf and the files beside it."""
    for folder in folders:
        for file in [folder / "plugstack.conf", *sorted(folder.glob("plugstack.conf.d/*"))]:
            try:
                text = file.read_text(encoding="utf-8")
            except OSError:
                continue
            found = re.search(r"^\s*(?:required|optional)\s+(\S*spank_pyxis\.so)", text, re.MULTILINE)
            if found:
                name = found.group(1)
                return name if "/" in name else f"/usr/local/lib/slurm/{name}"
    return None


def settings(base: Path) -> str:
    """Enroot's settings; it lets the user's shell expand them.

    In a folder where everybody may write, somebody may take the name of another user's folder before them: who does
    not own theirs goes to their home instead.
    """
    mine = f"d={base}/user-$(id -u); mkdir -m 700 $d 2>/dev/null; [ -O $d ] || d=$HOME/.enroot; mkdir -p $d"
    return "".join(f"ENROOT_{key}_PATH $({mine}; echo $d{below})\n" for key, below in _KEYS.items())


def _configure(text: str) -> bool:
    """Writes the settings where this Enroot reads them; whether that changed anything."""
    main, drops = ENROOT / "enroot.conf", ENROOT / "enroot.conf.d"
    theirs = main.read_text(encoding="utf-8") if main.exists() else ""
    theirs = re.sub(f"{_BEGIN}\n.*?{_END}\n", "", theirs, flags=re.DOTALL)
    changed = drops.is_dir() and host.write(drops / "50-hyperpod.conf", text)
    # Older versions read no drop-ins; and the first value counts, so that what enroot.conf sets would win over them.
    if not drops.is_dir() or re.search(rf"^\s*ENROOT_({'|'.join(_KEYS)})_PATH\b", theirs, re.MULTILINE):
        theirs = f"{_BEGIN}\n{text}{_END}\n{theirs}"
    return (host.write(main, theirs) if theirs else host.remove(main)) or changed


if __name__ == "__main__":
    host.main(work)
