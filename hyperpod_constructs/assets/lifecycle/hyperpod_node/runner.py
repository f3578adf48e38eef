"""Runs the steps of this node, one after the other, and again later where a step asks for it.

    hyperpod-node --group p5     what the start script calls on a new node
    hyperpod-node --boot         after a reboot, which runs no lifecycle scripts
    hyperpod-node people         one step, now

Every start and end of a step is a line `hyperpod-node step=NAME event=... code=... seconds=...`. The runner ends with
the code of the first step that failed. On a new node and after a reboot only required steps count: what else fails is
reported and the others go on, because a node that trains without log rotation is better than no node.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator, TextIO

from hyperpod_node import host

HOME = Path("/opt/hyperpod")
"""Where the runner keeps itself: the folder to which the service downloads scripts is gone after a reboot."""
COMMAND = Path("/usr/local/sbin/hyperpod-node")
LOG = Path("/var/log/hyperpod/steps.log")
LOCKS = host.RUN
RESOURCES = Path("/opt/ml/config/resource_config.json")
_PERIODIC, _AFTER_REBOOT = "hyperpod-step-", "hyperpod-boot.service"
"""Names of units: no script of a user's has the name of another one."""
_FIND_HOME = (  # a run may have died between the two renames of an installation
    f"[ -d {HOME} ] || {{ mkdir -p {LOCKS}; flock {LOCKS}/.install.lock"
    f" sh -c '[ -d {HOME} ] || mv {HOME}.old {HOME}'; }}\n"
)


def main(argv: list[str] | None = None) -> int:
    """Runs what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="hyperpod-node", description="Runs steps on this node of a HyperPod cluster.")
    parser.add_argument("steps", nargs="*", help="steps to run now, in their order; all if none is named")
    parser.add_argument("--group", help="instance group of this node; kept for later runs")
    parser.add_argument("--boot", action="store_true", help="run what a reboot undoes")
    given = parser.parse_args(argv)
    os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/usr/local/bin:/opt/slurm/bin"
    try:
        here = _install(given.group) if given.group else HOME
        inputs = host.read_inputs(here / "inputs.json")
        group = given.group or _group(inputs)
        steps = _chosen(inputs, group, given.steps)
        if given.boot:
            steps = [step for step in steps if step.get("at_boot")]
        named, starts = bool(given.steps), bool(given.group or given.boot) and not given.steps
        install = not named and not given.boot
        return _run_all(here, inputs, group, steps, install=install, named=named, starts=starts)
    except host.Failure as failure:
        _tell(f"event=refused code={failure.code} message={_quoted(str(failure))}")
        return failure.code


def _install(group: str) -> Path:
    """Copies the scripts from where they were downloaded to where they stay."""
    source = Path(__file__).resolve().parent.parent
    inputs = host.read_inputs(source / "inputs.json")
    _known(group, inputs)  # what was cut off must not replace what works
    new, old = HOME.with_name(f"{HOME.name}.new"), HOME.with_name(f"{HOME.name}.old")
    try:
        with _lock(".install") as only_one:
            if not _locked(only_one, 60):
                raise host.NotYet(f"another run has been writing {HOME} for a minute")
            if source == HOME:
                host.write(HOME / "group", f"{group}\n")
                return HOME
            if old.exists() and not HOME.exists():
                old.rename(HOME)  # a run died between the two renames below
            for folder in (new, old):
                shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, new, ignore=shutil.ignore_patterns("__pycache__"))
            new.chmod(0o755)
            for script in {new / step["run"] for step in inputs["steps"] if "/" in step["run"]}:
                if script.exists():
                    script.chmod(0o755)  # S3 keeps no modes; here, because another run may swap HOME at any time
            (new / "group").write_text(f"{group}\n", encoding="utf-8")
            if HOME.exists():
                HOME.rename(old)
            new.rename(HOME)
            shutil.rmtree(old, ignore_errors=True)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(new, ignore_errors=True)  # what fills a disk must not stay on it
        raise host.Failure(f"{HOME} cannot be written: {_last_reason(error)}") from error
    return HOME


def _last_reason(error: Exception) -> str:
    """What was in the way: a copy of several files gathers its errors in a list."""
    found = error.args[0] if isinstance(error, shutil.Error) else None
    return str(found[-1][-1]) if isinstance(found, list) and found else str(error)


def _group(inputs: dict[str, Any]) -> str:
    """The group that the start script named when the node was new."""
    kept = HOME / "group"
    try:
        return _known(kept.read_text(encoding="utf-8").strip(), inputs)
    except OSError:
        raise host.Mistake(f"{kept} is missing: run `hyperpod-node --group NAME` once") from None


def _known(group: str, inputs: dict[str, Any]) -> str:
    if group not in inputs["groups"]:
        raise host.Mistake(f"there is no group {group!r}; the cluster has {', '.join(sorted(inputs['groups']))}")
    return group


def _chosen(inputs: dict[str, Any], group: str, names: list[str]) -> list[dict[str, Any]]:
    """The steps of this node, or those of them that are named."""
    role = inputs["groups"][group]["role"]
    here = [
        step
        for step in inputs["steps"]
        if role in step["roles"] and (not step.get("groups") or group in step["groups"])
    ]
    known = [step["name"] for step in here]
    for name in names:
        if name not in known:
            raise host.Mistake(f"no step {name!r} on a {role} node; it has {', '.join(known) or 'none'}")
    return [step for step in here if not names or step["name"] in names]


def _run_all(
    here: Path,
    inputs: dict[str, Any],
    group: str,
    steps: list[dict[str, Any]],
    *,
    install: bool,
    named: bool,
    starts: bool,
) -> int:
    """Runs steps until a required one fails, unless they were named; returns the first code that is not 0.

    A node that starts goes on without its timers and without steps that are not required, so those do not count then.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": str(here),
        "PYTHONDONTWRITEBYTECODE": "1",
        host.INPUTS: str(here / "inputs.json"),
        host.GROUP: group,
    }
    region = inputs.get("region") or _region()
    if region:
        environment["AWS_DEFAULT_REGION"] = region
    timers = _keep_running(steps) if install else 0
    result = 0 if starts else timers
    for step in steps:
        code = _run_step(here, step, environment)
        if step.get("required") or not starts:
            result = result or code
        if code and step.get("required") and not named:
            _tell(f"event=stopped code={code} message={_quoted(step['name'] + ' is required')}")
            break
    return result


def _region() -> str | None:
    """The Region of the cluster, from what the service wrote on the node."""
    try:
        found = re.search(r"arn:[a-z-]+:sagemaker:([a-z0-9-]+):", RESOURCES.read_text(encoding="utf-8"))
    except OSError:
        return None
    return found.group(1) if found else None


def _run_step(here: Path, step: dict[str, Any], environment: dict[str, str]) -> int:
    """Runs a step until it succeeds, cannot, or has been tried often enough."""
    name, timeout, backoff = step["name"], float(step["timeout"]), float(step.get("backoff", 5))
    with _lock(name) as only_one:
        if not _locked(only_one, timeout):
            _tell(f"step={name} event=end code={host.TRY_AGAIN} message={_quoted('it is running already')}")
            return host.TRY_AGAIN
        attempts = int(step.get("retries", 0)) + 1
        for attempt in range(1, attempts + 1):
            _tell(f"step={name} event=start attempt={attempt}/{attempts} timeout={timeout:.0f}s")
            began = time.monotonic()
            try:
                code, last = _attempt(_command(here, step), {**environment, host.STEP: name}, timeout, name, only_one)
            except host.Failure as failure:
                code, last = failure.code, str(failure)
            spent = time.monotonic() - began
            message = "" if not code else f" message={_quoted(last)}"
            _tell(f"step={name} event=end code={code} seconds={spent:.1f}{message}")
            if code in (0, host.MISTAKE, host.BAD_INPUTS):
                break
            if attempt < attempts:
                time.sleep(backoff * 2 ** (attempt - 1))
    return code


@contextlib.contextmanager
def _lock(name: str) -> Iterator[TextIO]:
    """What only one run on this node holds at a time, as soon as `_locked` says so."""
    try:
        LOCKS.mkdir(parents=True, exist_ok=True)
        file = (LOCKS / f"{name}.lock").open("w", encoding="utf-8")
    except OSError as error:
        whose = ": run it as root" if os.geteuid() else ""
        raise host.Failure(f"{LOCKS}/{name}.lock cannot be written: {error.strerror}{whose}") from error
    with file:
        try:
            yield file
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # also from what a step has left behind, which may have the file open


def _locked(file: TextIO, patience: float) -> bool:
    """Waits for another run of the same step on this node."""
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.2)
        else:
            return True


def _command(here: Path, step: dict[str, Any]) -> list[str]:
    """How a step is called: one of ours is a module, one of the user's a file with its own first line."""
    run = step["run"]
    if "/" not in run:
        return [sys.executable, "-m", f"hyperpod_node.{run}"]
    path = here / run
    try:
        with path.open("rb") as script:
            first = script.readline()
    except OSError as error:
        raise host.Mistake(f"{path} cannot be read: {error.strerror}; was it published?") from error
    if first.endswith(b"\r\n"):
        raise host.Mistake(f"{path} has line ends of Windows (CR LF): save it with LF")
    return [str(path)]


def _attempt(
    command: list[str], environment: dict[str, str], timeout: float, name: str, held: TextIO
) -> tuple[int, str]:
    """Runs a step once; returns its code and the last line that it wrote."""
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            pass_fds=[held.fileno()],  # if we are killed, the step goes on, and nobody runs it beside itself
            cwd=environment["PYTHONPATH"],  # root's own: Python looks for modules in the folder where it starts
        )
    except OSError as error:
        reason = "its first line names no program that is there" if error.errno in (2, 8) else error.strerror
        raise host.Mistake(f"{command[0]} cannot be started: {reason}") from error
    last = [""]

    def pass_on() -> None:
        with process.stdout or io.StringIO() as lines:
            for line in lines:
                last[0] = line.strip() or last[0]
                _write(f"{name}| {line.rstrip()}")

    reader = threading.Thread(target=pass_on, daemon=True)
    reader.start()
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired:
        code = host.TIMED_OUT
        last[0] = f"not done within {timeout:.0f} s" + (f"; its last line was: {last[0]}" if last[0] else "")
    finally:
        # What it started and left behind goes with it, so that nothing holds the pipe; it itself when we are stopped.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)  # no longer: what hangs in a dead file system cannot even be killed
    reader.join(5)
    return code, last[0] or "it wrote nothing"


def _keep_running(steps: list[dict[str, Any]]) -> int:
    """Makes the command, the timers of steps that run again, and the service that follows a reboot; its code."""
    try:
        host.write(
            COMMAND,
            f"#!/bin/sh\n{_FIND_HOME}cd {HOME} || exit\nexport PYTHONPATH={HOME} PYTHONDONTWRITEBYTECODE=1\n"
            'exec /usr/bin/python3 -m hyperpod_node.runner "$@"\n',
            0o755,
        )
        if any(step.get("at_boot") for step in steps):
            host.write(host.UNITS / _AFTER_REBOOT, _unit("after a reboot", "--boot", boot=True))
            host.run("systemctl", "enable", _AFTER_REBOOT)  # not started: all of it runs now anyway
        for step in steps:
            if step.get("every"):
                every = int(step["every"])  # and a fifth of it by chance, so that not all nodes ask at once
                host.service(
                    f"{_PERIODIC}{step['name']}",
                    _unit(f"step {step['name']}", step["name"]),
                    f"[Unit]\nDescription=HyperPod step {step['name']}\n\n"
                    f"[Timer]\nOnActiveSec={every}\nOnUnitInactiveSec={every}\nRandomizedDelaySec={every // 5}\n"
                    "AccuracySec=1\n\n[Install]\nWantedBy=timers.target\n",
                )
        _withdraw(steps)
    except host.Failure as failure:
        _tell(f"event=timers code={failure.code} message={_quoted(str(failure))}")
        return failure.code
    return 0


def _withdraw(steps: list[dict[str, Any]]) -> None:
    """Takes away the units that steps had made here which are gone, or do not run again any more."""
    wanted = {f"{_PERIODIC}{step['name']}.timer" for step in steps if step.get("every")}
    if any(step.get("at_boot") for step in steps):
        wanted.add(_AFTER_REBOOT)
    made = [*host.UNITS.glob(f"{_PERIODIC}*.timer"), *host.UNITS.glob(_AFTER_REBOOT)]
    for unit in sorted({path.name for path in made} - wanted):
        host.withdraw(unit)
        _tell(f"event=withdrawn unit={unit}")


def _unit(what: str, arguments: str, *, boot: bool = False) -> str:
    install = "\n[Install]\nWantedBy=multi-user.target\n" if boot else ""
    return (
        f"[Unit]\nDescription=HyperPod {what}\nAfter=network-online.target\nWants=network-online.target\n\n"
        f"[Service]\nType=oneshot\nExecStart={COMMAND} {arguments}\n{install}"
    )


def _tell(event: str) -> None:
    _write(f"hyperpod-node {event}")


def _quoted(message: str) -> str:
    return '"' + message.replace('"', "'").replace("\n", " ") + '"'


def _write(line: str) -> None:
    """Writes a line to what the service reads and to the node's own log; a full disk stops neither."""
    try:
        sys.stdout.buffer.write(f"{line}\n".encode("utf-8", "replace"))  # whatever the language of the node is
        sys.stdout.buffer.flush()
    except OSError:
        pass  # nobody reads any more; the steps go on
    try:
        LOG.parent.mkdir(parents=True, exist_ok=True)
        with LOG.open("a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {line}\n")
    except OSError:
        pass


if __name__ == "__main__":
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda number, _: sys.exit(128 + number))  # and so through `finally`
    sys.exit(main())
