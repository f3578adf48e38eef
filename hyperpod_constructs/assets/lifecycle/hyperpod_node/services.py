"""Runs exporters, collectors and other programs of the user's, from a bucket of theirs, each as a user of its own.

A program is what its SHA-256 says or it is refused, and what runs already goes on. Of an archive, only the program
itself is taken out. One whose new version does not start goes back to the version before.
"""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import time
from pathlib import Path
from typing import Any

from hyperpod_node import host, metadata_service

HOME = Path("/opt/hyperpod-services")
MOST_BYTES = 1 << 30
SETTLE_SECONDS = 3
_UNIT = """[Unit]
Description=HyperPod service {name}
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
ExecStart={command}
{environment}Restart=on-failure
RestartSec=5
DynamicUser=yes
{group}ProtectHome=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictNamespaces=yes
RestrictRealtime=yes
LockPersonality=yes
CapabilityBoundingSet=
SystemCallArchitectures=native
# files: {files}

[Install]
WantedBy=multi-user.target
"""


def work(step: host.Step) -> None:
    """Brings every program to its version; one that fails does not stop the others."""
    failures: list[host.Failure] = []
    for service in step.inputs["services"]:
        try:
            _bring(service)
        except host.Failure as failure:
            failures.append(type(failure)(f"service {service['name']}: {failure}"))
    if failures:
        # Trying again helps unless all of them are mistakes.
        first = next((each for each in failures if not isinstance(each, host.Mistake)), failures[0])
        raise type(first)("; ".join(map(str, failures)))


def _bring(service: dict[str, Any]) -> None:
    name, sha256 = service["name"], service["sha256"]
    folder = HOME / name
    program = folder / sha256 / Path(service.get("binary") or name).name
    if not program.is_file():
        _install(service, folder, program)
    for path, text in sorted(service.get("files", {}).items()):
        host.write(path, text)
    if service.get("credentials"):
        host.run("groupadd", "--system", "--force", metadata_service.GROUP)
    _start(f"hyperpod-service-{name}", unit(service, program))
    for old in folder.iterdir():
        if old.name != sha256:
            shutil.rmtree(old)


def _install(service: dict[str, Any], folder: Path, program: Path) -> None:
    """Puts a version in its place, in one go."""
    part = folder / ".part"
    try:
        shutil.rmtree(part, ignore_errors=True)
        host.download(service["uri"], part / "object", sha256=service["sha256"], timeout=240)
        (part / "version").mkdir(mode=0o755)
        if service.get("binary"):
            unpack(part / "object", service["binary"], part / "version" / program.name)
        else:
            (part / "object").rename(part / "version" / program.name)
        (part / "version" / program.name).chmod(0o755)
        (part / "version").rename(program.parent)
    except OSError as error:
        raise host.Failure(f"{folder} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def unpack(archive: Path, name: str, to: Path) -> None:
    """Takes one file out of a .tar.gz; nothing else of the archive reaches the disk.

    Raises:
        Mistake: if it is not there, is no plain file, or is too large.
    """
    try:
        with tarfile.open(str(archive), "r|gz") as members:
            for member in members:
                if os.path.normpath(member.name) != os.path.normpath(name):
                    continue
                content = members.extractfile(member) if member.isreg() else None
                if content is None:
                    raise host.Mistake(f"{name} in the archive is a link, a folder or a device, not a program")
                if member.size > MOST_BYTES:
                    raise host.Mistake(f"{name} in the archive has {member.size} bytes; {MOST_BYTES} are allowed")
                with to.open("wb") as file:
                    shutil.copyfileobj(content, file)
                return
    except (tarfile.TarError, EOFError) as error:
        raise host.Mistake(f"the object is no whole .tar.gz: {error}") from error
    raise host.Mistake(f"the archive has no {name}")


def unit(service: dict[str, Any], program: Path) -> str:
    """The service file: what it shows changes exactly when the service has to be started again."""
    arguments = [str(program), *service.get("arguments", [])]
    environment = (f"{key}={value}" for key, value in sorted(service.get("environment", {}).items()))
    return _UNIT.format(
        name=service["name"],
        command=" ".join(quoted(each.replace("$", "$$")) for each in arguments),
        environment="".join(f"Environment={quoted(each)}\n" for each in environment),
        group=f"Group={metadata_service.GROUP}\n" if service.get("credentials") else "",
        files=host.digest(json.dumps(service.get("files", {}), sort_keys=True).encode()),
    )


def quoted(text: str) -> str:
    """A word as systemd reads it."""
    if "\n" in text:
        raise host.Mistake(f"{text!r} has a line end, which a service file cannot hold")
    for special, escaped in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%")):
        text = text.replace(special, escaped)
    return f'"{text}"'


def _start(name: str, text: str) -> None:
    """Starts what changed, and goes back if it does not run."""
    path = host.UNITS / f"{name}.service"
    before: str | None = path.read_text(encoding="utf-8") if path.exists() else None
    try:
        host.service(name, text)
        if text != before:
            time.sleep(SETTLE_SECONDS)
            host.run("systemctl", "is-active", f"{name}.service")
            host.say(f"{name} runs")
    except host.Failure as failure:
        if text == before:
            raise
        why = f"it does not run ({failure}); see journalctl -u {name}"
        if before is None:
            host.remove(path)  # so that the next run starts it again
            raise host.Failure(why) from failure
        host.service(name, before)
        raise host.Failure(f"{why}; the version before runs on") from failure


if __name__ == "__main__":
    host.main(work)
