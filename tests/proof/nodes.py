"""Nodes of a cluster as far as one machine can play them: each with files, processes and a host name of its own.

A node is a process tree in its own mount, UTS and PID namespaces on an overlay of this machine's root: what steps write
to /etc, /opt or /var is gone with it and never touches the machine. Loopback is shared, so that Slurm's daemons meet.
Shared folders (`/fsx`) are bind-mounted into each node. `systemctl` and the AWS command line are stand-ins that write
down what they are asked; everything else is the machine's own program.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from hyperpod_constructs.model.lifecycle import ARCHIVE
from hyperpod_constructs.planning import node_files
from hyperpod_constructs.planning.node_files import ASSETS

SCRIPTS: Final = "/tmp/scripts"  # noqa: S108  # where a node finds what the service has downloaded
_BOOT: Final = """
set -e
mount --make-rprivate /
mount -t tmpfs -o size=512m node {work}
mkdir {work}/upper {work}/work {work}/root
mount -t overlay node -o lowerdir=/,upperdir={work}/upper,workdir={work}/work {work}/root
for each in proc dev sys; do mount --rbind /$each {work}/root/$each; done
mount -t proc proc {work}/root/proc
mount -t tmpfs run {work}/root/run
{shared}
hostname {name}
ip link set lo up 2>/dev/null || true
# The first process ignores its children, so that what daemons leave behind is reaped as by an init.
exec env --ignore-signal=CHLD chroot {work}/root sleep infinity
"""
_SYSTEMCTL: Final = """#!/bin/sh
echo "$@" >> /var/log/systemctl
case "$1" in is-active|is-enabled) exit 3;; esac
"""
_AWS: Final = """#!/usr/bin/python3
# Answers from the folder /aws: s3/BUCKET/KEY are objects, ssm/NAME parameters, secrets/ARN secrets; calls are logged.
import json, os, pathlib, shutil, sys
root = pathlib.Path("/aws")
args = [a for a in sys.argv[1:] if a not in ("--no-progress",)]
with open(root / "calls", "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
def given(name):
    return args[args.index(name) + 1]
def fail(text, code=254):
    sys.stderr.write(text + "\\n"); sys.exit(code)
if (root / "offline").exists():
    fail("Could not connect to the endpoint URL: \\"https://s3.us-west-2.amazonaws.com/\\"", 255)
if args[:2] == ["s3", "cp"]:
    source, target = args[2:4]
    path = root / "s3" / source[len("s3://"):]
    if not path.is_file():
        fail("fatal error: An error occurred (404) when calling the HeadObject operation: Key does not exist", 1)
    shutil.copyfile(path, target) if target != "-" else sys.stdout.write(path.read_text())
elif args[:2] == ["ssm", "get-parameter"]:
    path = root / "ssm" / given("--name").strip("/")
    if not path.is_file():
        fail("An error occurred (ParameterNotFound) when calling the GetParameter operation: ")
    sys.stdout.write(path.read_text())
elif args[:2] == ["secretsmanager", "get-secret-value"]:
    path = root / "secrets" / given("--secret-id")
    if not path.is_file():
        fail("An error occurred (ResourceNotFoundException) when calling the GetSecretValue operation: Secrets Manager "
             "can't find the specified secret.")
    sys.stdout.write(path.read_text())
elif args[:2] != ["cloudwatch", "put-metric-data"]:
    fail("the stand-in knows no " + " ".join(args[:2]))
"""


@dataclass(kw_only=True)
class Node:
    """A running node; use it as a context.

    Attributes:
        name: Host name.
        group: Instance group.
        inputs: What `inputs.json` holds.
        folder: Where its root is put together; empty.
        shared: Folders of this machine by where the node sees them.
        own: Further files beside the scripts, by name.
        network: Whether it has a network of its own, with nothing but loopback.
    """

    name: str
    group: str
    inputs: Mapping[str, Any]
    folder: Path
    shared: Mapping[str, Path] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    network: bool = False
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list, init=False, repr=False)

    def __enter__(self) -> Self:
        """Starts it, with the scripts where the service would have put them."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # A mount point that is missing is made in the overlay, not on the machine.
        shared = "\n".join(
            f"mkdir -p {self.folder}/root{where} && mount --bind {what} {self.folder}/root{where}"
            for where, what in self.shared.items()
        )
        boot = _BOOT.format(work=self.folder, name=self.name, shared=shared)
        own = ["--net"] if self.network else []
        command = ["unshare", "--mount", "--uts", "--pid", "--ipc", *own, "--fork", "--kill-child", "bash", "-c", boot]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        self._pid = self._wait_for_first_process()
        self.write("/usr/local/bin/systemctl", _SYSTEMCTL, 0o755)
        self.write("/usr/local/bin/aws", _AWS, 0o755)
        self.write("/aws/calls", "")
        self.write("/opt/ml/config/resource_config.json", json.dumps(_resources(self.inputs)))
        self.publish()
        return self

    def _wait_for_first_process(self) -> int:
        """The node's first process as this machine counts, once its root is in place."""
        for _ in range(200):
            children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
            if children and str(Path(f"/proc/{children[0]}/root").readlink()) != "/":
                return int(children[0])
            if self._process.poll() is not None:
                raise RuntimeError(f"node {self.name} did not start")
            time.sleep(0.02)
        raise RuntimeError(f"node {self.name} did not start")

    def __exit__(self, *_: object) -> None:
        """Ends it and everything that runs on it, as when the machine is lost."""
        self.crash()

    def crash(self) -> None:
        """Kills every process of the node at once."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._process.wait(10)
        for started in self._started:
            started.wait(10)

    @property
    def running(self) -> bool:
        """Whether it has not been lost."""
        return self._process.poll() is None

    @property
    def _enter(self) -> list[str]:
        network = ["--net"] if self.network else []
        return ["nsenter", "-t", str(self._pid), "--mount", "--uts", "--pid", "--ipc", *network, "--root", "--wd"]

    def run(
        self, *argv: str | Path, timeout: float = 60, env: Mapping[str, str] | None = None, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program on the node."""
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        return subprocess.run(
            [*self._enter, *map(str, argv)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={**environment, **(env or {})},
        )

    def start(self, *argv: str | Path, log: Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Starts a program on the node that goes on running; the node ends it."""
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        with log.open("ab") as out:
            started = subprocess.Popen(
                [*self._enter, *map(str, argv)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**environment, **(env or {})},
            )
        self._started.append(started)
        return started

    def boot(self, *, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Runs the start script, as the service does on a new node."""
        return self.run("bash", f"{SCRIPTS}/start-{self.group}.sh", timeout=timeout)

    def step(self, *names: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Runs steps again, as the timer or a person does."""
        return self.run("/usr/local/sbin/hyperpod-node", *names, timeout=timeout)

    def publish(self, inputs: Mapping[str, Any] | None = None) -> None:
        """Puts the scripts where the service downloads them to."""
        self.inputs = inputs or self.inputs
        code = [path for path in ASSETS.rglob("*") if path.is_file() and path.suffix in {".py", ".sh"}]
        files = {str(path.relative_to(ASSETS)): path.read_bytes() for path in code}
        start = files.pop("start.sh")
        own = {name: text.encode() for name, text in self.own.items()}
        archive = node_files.archive({**files, **own, "inputs.json": json.dumps(self.inputs).encode()})
        self.put({f"start-{self.group}.sh": start, ARCHIVE: archive})

    def path(self, where: str) -> Path:
        """A path of the node as this machine sees it."""
        return Path(f"/proc/{self._pid}/root{where}")

    def put(self, published: Mapping[str, bytes]) -> None:
        """Puts files where the service downloads scripts to."""
        folder = self.path(SCRIPTS)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in published.items():
            (folder / name).write_bytes(content)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Writes a file on the node."""
        script = f"mkdir -p '{Path(path).parent}' && cat > '{path}' && chmod {mode:o} '{path}'"
        ran = self.run("sh", "-c", script, stdin=text)
        if ran.returncode:
            raise RuntimeError(ran.stderr)

    def read(self, path: str) -> str:
        """Reads a file on the node."""
        ran = self.run("cat", path)
        if ran.returncode:
            raise FileNotFoundError(path)
        return ran.stdout

    def calls(self) -> list[list[str]]:
        """What the AWS command line was asked for."""
        return [json.loads(line) for line in self.read("/aws/calls").splitlines()]


def step(name: str, run: str | None = None, **given: Any) -> dict[str, Any]:
    """A step as `inputs.json` has it, for all roles unless told otherwise."""
    return {
        "name": name,
        "run": run or name.replace("-", "_"),
        "roles": ["controller", "login", "compute", "worker"],
        "timeout": 20,
        "retries": 0,
        "backoff": 0.1,
        "inputs": {},
        **given,
    }


def inputs(steps: Sequence[Mapping[str, Any]], **groups: Mapping[str, Any]) -> dict[str, Any]:
    """What `inputs.json` holds."""
    found = groups or {"controller": {"role": "controller"}, "login": {"role": "login"}, "p5": {"role": "compute"}}
    return {"cluster": "Frontier", "region": "us-west-2", "groups": dict(found), "steps": list(steps)}


def _resources(inputs: Mapping[str, Any]) -> dict[str, Any]:
    arn = "arn:aws:sagemaker:us-west-2:111122223333:cluster/a1b2c3d4e5f6"
    return {"ClusterConfig": {"ClusterName": inputs["cluster"], "ClusterArn": arn}, "InstanceGroups": []}


@contextlib.contextmanager
def running(node: Node) -> Iterator[Node]:
    """The node while it runs."""
    with node:
        yield node


def can_play_nodes() -> bool:
    """Whether this machine lets us make namespaces and overlays."""
    return os.geteuid() == 0 and all(shutil.which(name) for name in ("unshare", "nsenter", "mount"))
