"""Keeps unattended upgrades from changing the kernel or the Lustre client, of which each needs the other as it is."""

from __future__ import annotations

import platform
import re
import shutil
from pathlib import Path

from hyperpod_node import host

_CLIENT = re.compile(r"(kmod-)?lustre-client.*")
_FOLLOWS = re.compile(r"linux-(image-|headers-|modules-)?aws(-lts-\d+\.\d+|-edge|-\d+\.\d+)?")
"""Packages that have no kernel in them and pull in the newest one."""
_RPM_KERNEL = re.compile(r"kernel(\d+\.\d+)?")


def work(step: host.Step) -> None:
    """Holds what is installed."""
    del step
    kernel = platform.release()
    if shutil.which("apt-mark"):
        installed = [
            line.split()[1]
            for line in host.run("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n").splitlines()
            if line[1:2] == "i"
        ]
        held = host.run("apt-mark", "showhold").split()
        new = [name for name in of_debian(installed, kernel) if name not in held]
        if new:
            host.run("apt-mark", "hold", *new)
            host.say(f"held: {' '.join(new)}")
    elif shutil.which("rpm"):
        path = next(
            (each for each in ("/etc/dnf/dnf.conf", "/etc/yum.conf") if Path(each).exists()), "/etc/dnf/dnf.conf"
        )
        names = of_rpm(host.run("rpm", "-qa", "--qf", "%{NAME}\n").split())
        text = Path(path).read_text(encoding="utf-8") if Path(path).exists() else "[main]\n"
        if host.write(Path(path).resolve(), excluding(text, names)):
            host.say(f"{path} excludes: {' '.join(names)}")
    else:
        host.say("warning: this image has neither apt nor rpm, so nothing holds its kernel and its Lustre client")


def of_debian(installed: list[str], kernel: str) -> list[str]:
    """Which of the installed packages are the client, the running kernel, or pull in a newer one."""
    running = [f"linux-{part}-{kernel}" for part in ("image", "modules", "headers")]
    return sorted(n for n in set(installed) if _CLIENT.fullmatch(n) or _FOLLOWS.fullmatch(n) or n in running)


def of_rpm(installed: list[str]) -> list[str]:
    """Which of the installed packages are the client or a kernel."""
    return sorted(name for name in set(installed) if _CLIENT.fullmatch(name) or _RPM_KERNEL.fullmatch(name))


def excluding(text: str, names: list[str]) -> str:
    """The configuration of dnf or yum with packages that it must not upgrade, besides those that it names already."""
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if re.match(r"exclude(pkgs)?\s*=", line)), None)
    there = re.split(r"[\s,]+", lines[at].partition("=")[2].strip()) if at is not None else []
    new = [name for name in names if name not in there]
    if not new:
        return text
    line = "exclude=" + " ".join([*filter(None, there), *new])
    if at is None:
        at = next((i + 1 for i, found in enumerate(lines) if found.strip() == "[main]"), 0)
        lines.insert(at, line)
    else:
        lines[at] = line
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    host.main(work)
