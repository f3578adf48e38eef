"""What steps have in common: how they read their inputs, change files, call programs, wait for each other and fail.

Runs on nodes with the Python of their image, 3.8 or newer, and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Sequence

INPUTS = "HYPERPOD_INPUTS"
"""Environment variable with the path of the file that holds the inputs of every step."""
GROUP, STEP = "HYPERPOD_GROUP", "HYPERPOD_STEP"
_LEFT = 3600
"""Seconds after which a folder of a download is nobody's any more; no step may take as long."""
UNITS, RUN = Path("/etc/systemd/system"), Path("/run/hyperpod")
_MOUNTS, _MOUNT_FIELDS = Path("/proc/self/mounts"), 4
FAILED, BAD_INPUTS, TRY_AGAIN, MISTAKE, TIMED_OUT = 1, 65, 75, 78, 124
"""Exit codes. A mistake (78) is in what the step was given: the runner does not try again."""


class Failure(Exception):
    """A step cannot go on; the message says what to do, and is the last line that the step writes."""

    code = FAILED


class Mistake(Failure):
    """What the step was given, or what the image lacks: trying again changes nothing."""

    code = MISTAKE


class NotYet(Failure):
    """Something that the step waits for is not there yet."""

    code = TRY_AGAIN


@dataclass(frozen=True)
class Step:
    """A step as it runs here.

    Attributes:
        name: Its name.
        inputs: What it was given.
        cluster: Name of the cluster.
        group: Instance group of this node.
        groups: What stays of every group while nodes run: `role`, `partition`, `type`, `accelerators`, ...
    """

    name: str
    inputs: dict[str, Any]
    cluster: str
    group: str
    groups: dict[str, dict[str, Any]]

    @property
    def role(self) -> str:
        """What this node is: controller, login, compute or worker (EKS)."""
        return str(self.groups[self.group]["role"])


def read_inputs(path: Path) -> dict[str, Any]:
    """The inputs of all steps.

    Raises:
        Failure: with code 65 if the file is not there or was cut off.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _bad(
            f"{path} cannot be read ({error}): the download of the scripts was cut off or the file was edited"
        ) from error
    if not isinstance(found, dict) or not {"cluster", "groups", "steps"} <= set(found):
        raise _bad(f"{path} is not the file that hyperpod-constructs wrote: cluster, groups and steps are missing")
    return found


def _bad(message: str) -> Failure:
    failure = Failure(message)
    failure.code = BAD_INPUTS
    return failure


def this_step() -> Step:
    """The step that the runner has started."""
    found = read_inputs(Path(os.environ[INPUTS]))
    name, group = os.environ[STEP], os.environ[GROUP]
    step = next(each for each in found["steps"] if each["name"] == name)
    return Step(name, step.get("inputs", {}), found["cluster"], group, found["groups"])


def main(work: Callable[[Step], None]) -> None:
    """Runs a step's work and turns what it raises into a message and an exit code."""
    try:
        work(this_step())
    except Failure as failure:
        say(str(failure))
        sys.exit(failure.code)


def say(message: str) -> None:
    """Writes a line to the log of the step."""
    sys.stdout.write(f"{message}\n")
    sys.stdout.flush()


def run(*argv: str | Path, timeout: float = 60, stdin: str | None = None, user: str | None = None) -> str:
    """What a program writes.

    Args:
        *argv: The program and its arguments.
        timeout: Seconds after which it is killed.
        stdin: What it reads.
        user: Who runs it, instead of root.

    Raises:
        Mistake: if the image does not have the program.
        Failure: if it fails or does not end, with the last line that it wrote.
    """
    command = (["runuser", "-u", user, "--"] if user else []) + [str(part) for part in argv]
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace", cwd="/"
        )
    except FileNotFoundError:
        raise Mistake(f"this image has no {command[0]}") from None
    except OSError as error:
        raise Failure(f"{command[0]} cannot be started: {error.strerror}") from error
    try:
        out, err = process.communicate(stdin or "", timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        for each in filter(None, (process.stdin, process.stdout, process.stderr)):
            with contextlib.suppress(OSError):
                each.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)  # no longer: what hangs in a dead file system cannot even be killed
        raise Failure(f"{' '.join(command[:3])} did not end within {timeout:.0f} s") from None
    if process.returncode:
        lines = (err.strip() or out.strip()).splitlines()
        last = lines[-1] if lines else "and said nothing"
        raise Failure(f"{' '.join(command[:4])} failed with code {process.returncode}: {last}")
    return out


def aws(*argv: str, timeout: float = 60) -> str:
    """What the AWS command line answers."""
    return run("aws", *argv, timeout=timeout)


def download(uri: str, to: Path, *, sha256: str | None = None, timeout: float = 300) -> bool:
    """Copies an object of S3 to a file; the file is replaced in one go, or not at all.

    Returns:
        Whether the file changed.

    Raises:
        Mistake: if it is not what the hash says.
    """
    if sha256 and to.is_file() and digest(to.read_bytes()) == sha256:
        return False
    to.parent.mkdir(parents=True, exist_ok=True)
    for left in to.parent.glob(".download-*"):  # by steps that were killed
        with contextlib.suppress(OSError):
            if time.time() - left.lstat().st_mtime > _LEFT:
                shutil.rmtree(str(left), ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=str(to.parent), prefix=".download-") as folder:
        part = Path(folder, to.name)
        try:
            aws("s3", "cp", "--no-progress", uri, str(part), timeout=timeout)
        except Failure as failure:
            raise type(failure)(f"{uri} cannot be downloaded: {failure}") from failure
        content = part.read_bytes()
        if sha256 and digest(content) != sha256:
            raise Mistake(f"{uri} has SHA-256 {digest(content)}, not {sha256}: somebody replaced it, or the pin is old")
        if to.is_file() and to.read_bytes() == content:
            return False
        part.replace(to)
    return True


def digest(content: bytes) -> str:
    """SHA-256 as text."""
    return hashlib.sha256(content).hexdigest()


def secret(arn: str) -> str:
    """The text of a secret; it is never written to a log."""
    asked = ("secretsmanager", "get-secret-value", "--secret-id", arn, "--query", "SecretString", "--output", "text")
    try:
        answer = aws(*asked)
    except Failure as failure:
        raise type(failure)(f"secret {arn} cannot be read: {failure}") from failure
    if not answer.strip() or answer.strip() == "None":
        raise Mistake(f"secret {arn} has no text; put one in")
    return answer.rstrip("\n")


def write(path: str | Path, text: str, mode: int = 0o644) -> bool:
    """Gives a file of root's a content, in one go.

    Returns:
        Whether anything changed.
    """
    path, content = Path(path), text.encode("utf-8", "surrogateescape")
    try:
        if path.read_bytes() == content and (path.stat().st_mode & 0o7777) == mode:
            return False
    except OSError:
        pass
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=str(path.parent), prefix=f".{path.name}-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)  # a node that loses power would have an empty file otherwise
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise Failure(f"{path} cannot be written: {error.strerror}") from error
    return True


def remove(path: str | Path) -> bool:
    """Takes a file away; whether it was there."""
    try:
        Path(path).unlink()
    except FileNotFoundError:
        return False
    return True


def is_mounted(path: str | Path) -> bool:
    """Whether something is mounted there."""
    return mount_at(path) is not None


def mount_at(path: str | Path) -> list[str] | None:
    """Source, folder, type and options of what is mounted at a folder."""
    found = None
    # Users mount too (FUSE): their names need not be UTF-8, nor leave out what Python takes for an end of line.
    for line in _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").split("\n"):
        fields = line.split(" ")
        if len(fields) >= _MOUNT_FIELDS and fields[1].replace("\\040", " ") == str(path):
            found = fields[:_MOUNT_FIELDS]  # the last one covers the others
    return found


def service(name: str, unit: str, timer: str | None = None) -> None:
    """Installs a systemd service, or a timer that starts it, and starts what changed.

    Args:
        name: Name of the unit without `.service`.
        unit: Content of the service file.
        timer: Content of the timer file.
    """
    started = f"{name}.timer" if timer else f"{name}.service"
    pending = RUN / f"{name}.restart"  # left by a run that died; a reboot starts what is new anyway
    changed = pending.exists()
    write(pending, "")
    changed = write(UNITS / f"{name}.service", unit) or changed
    if timer:
        changed = write(UNITS / f"{name}.timer", timer) or changed
    if changed:
        run("systemctl", "daemon-reload")
    run("systemctl", "enable", started)
    run("systemctl", "restart" if changed else "start", started)
    remove(pending)


def withdraw(unit: str) -> None:
    """Stops a timer or a service and takes it away, a timer with what it starts."""
    run("systemctl", "disable", "--now", unit)
    try:
        remove((UNITS / unit).with_suffix(".service"))
        remove(UNITS / unit)  # last: by it the next run finds what one that died has left
    except OSError as error:
        raise Failure(f"{unit} cannot be taken away: {error.strerror}") from error
    run("systemctl", "daemon-reload")


def slurm(program: str, *argv: str, timeout: float = 30) -> str:
    """What a program of Slurm writes; the image keeps them in /opt/slurm/bin.

    Raises:
        NotYet: while the controller does not answer.
    """
    where = Path("/opt/slurm/bin", program)
    try:
        return run(where if where.exists() else program, *argv, timeout=timeout)
    except Mistake:
        raise
    except Failure as failure:
        if any(words in str(failure) for words in _AWAY):
            raise NotYet(f"Slurm does not answer yet: {failure}") from failure
        raise


_AWAY = (
    "Unable to contact slurm controller",
    "Connection refused",
    "did not end within",
    "Zero Bytes were transmitted",
)


def setting(name: str) -> str:
    """A setting of the running Slurm, empty if it has none."""
    for line in slurm("scontrol", "show", "config").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == name:
            return "" if value.strip() in ("(null)", "N/A") else value.strip()
    return ""


def hostnames(expression: str) -> list[str]:
    """The nodes of a hostlist such as `ip-10-0-0-[1-4]`."""
    return slurm("scontrol", "show", "hostnames", expression).split() if expression not in ("", "(null)") else []


def first(paths: Sequence[str]) -> Path | None:
    """The first of several paths that exists."""
    return next((Path(path) for path in paths if Path(path).exists()), None)
