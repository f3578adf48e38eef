"""A real Slurm whose every node is played: a controller, a login node, compute nodes, and a database if asked for.

Each node runs its daemons in its own namespaces with the default paths of Slurm, so that a step finds what it finds on
HyperPod's image: programs in /opt/slurm/bin, slurm.conf and prolog.d in /opt/slurm/etc, the partition `dev` over all
nodes. To lose a node is to kill everything on it at once. All ports are free ones on 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from tests.proof.nodes import Node, can_play_nodes, inputs

CONTROLLER: Final = "ip-10-1-9-1"
LOGIN: Final = "ip-10-1-9-2"
DATABASE: Final = "ip-10-1-9-9"
ROSTER: Final = "s3://roster/roster.json"
"""Where steps on the controller find the sizes of groups."""
_PROGRAMS: Final = ("slurmctld", "slurmd", "munged")
_PASSWORD: Final = "of-this-run-only"
_ACCOUNTING: Final = """
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits,qos
"""
# Nodes are taken for lost within seconds. `cred_expire` is how long a requeued job waits, two minutes by default.
_CONF: Final = """
ClusterName=frontier
SlurmctldHost={controller}(127.0.0.1)
SlurmctldPort={ctld}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthInfo=cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation={state}
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
ReturnToService=1
SlurmdTimeout={patience}
SlurmctldTimeout=10
MessageTimeout=5
InactiveLimit=0
KillWait=2
MinJobAge=600
SchedulerParameters=bf_interval=1,sched_interval=1,{scheduler}
SlurmdParameters=config_overrides
Prolog=/opt/slurm/etc/prolog.d/*
Epilog=/opt/slurm/etc/epilog.d/*
PrologFlags=Alloc
GresTypes=gpu
{accounting}
{nodes}
{partitions}
PartitionName=dev Nodes=ALL MaxTime=INFINITE State=UP
"""
_DBD: Final = """
DbdHost={controller}
DbdAddr=127.0.0.1
DbdPort={dbd}
CommunicationParameters=NoInAddrAny
SlurmUser=root
LogFile=/var/log/slurmdbd.log
PidFile=/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={mysql}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm_acct_db
"""
# What every node has before any step runs. An empty prolog.d would drain a node with its first job.
_IMAGE: Final = """
set -e
mkdir -p /opt/slurm/etc/prolog.d /opt/slurm/etc/epilog.d /opt/slurm/bin /var/spool/slurmd /run/munge
rm -rf /etc/slurm && ln -s /opt/slurm/etc /etc/slurm
for each in sacct sacctmgr salloc sbatch scancel scontrol sinfo squeue srun sprio sshare; do
  [ ! -e /usr/bin/$each ] || ln -sf /usr/bin/$each /opt/slurm/bin/$each
done
for each in prolog epilog; do
  printf '#!/bin/sh\nexit 0\n' > /opt/slurm/etc/$each.d/00-image.sh
  chmod 755 /opt/slurm/etc/$each.d/00-image.sh
done
{users}
printf %s {key} > /etc/munge/munge.key
chown -R munge: /etc/munge /run/munge /var/lib/munge /var/log/munge
chmod 400 /etc/munge/munge.key
chmod 755 /run/munge
runuser -u munge -- munged --force >/dev/null 2>&1
"""


@dataclass(kw_only=True)
class Slurm:
    """A running Slurm; use it as a context.

    Attributes:
        folder: Where its nodes are put together.
        groups: Compute groups as `inputs.json` has them; a group has `count + spares` nodes in its partition.
        steps: The steps of `inputs.json`.
        accounting: Whether there are a database, slurmdbd and enforced limits.
        users: People who may send jobs, by name, with their ids.
        shared: Folders of this machine by where every node sees them.
        patience: Seconds after which a node that does not answer is taken for lost; on a busy machine, less than this
            loses nodes that are only slow.
        scheduler: Further SchedulerParameters, joined by commas.
        settings: Further lines of slurm.conf.
    """

    folder: Path
    groups: Mapping[str, Mapping[str, Any]] = field(
        default_factory=lambda: {"p5": {"role": "compute", "partition": "train", "count": 4, "spares": 1}}
    )
    steps: Sequence[Mapping[str, Any]] = ()
    accounting: bool = False
    users: Mapping[str, int] = field(default_factory=lambda: {"ada": 2001})
    shared: Mapping[str, Path] = field(default_factory=dict)
    patience: int = 6
    scheduler: str = "permit_job_expansion"
    settings: Sequence[str] = ()

    def __enter__(self) -> Self:
        """Starts everything and waits until every node can run jobs."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self._played: dict[str, Node] = {}
        self._lives = 0
        self._key = secrets.token_hex(32)
        self._state = self.folder / "state"
        self._state.mkdir(exist_ok=True)
        self.inputs = inputs(self.steps, controller={"role": "controller"}, login={"role": "login"}, **self.groups)
        self.group_of = {
            f"ip-10-1-{number}-{each}": name
            for number, (name, group) in enumerate(self.groups.items(), 1)
            for each in range(1, group["count"] + group.get("spares", 0) + 1)
        }
        self._ports = dict(zip((*self.group_of, LOGIN, "ctld", "dbd", "mysql"), _free_ports(), strict=False))
        try:
            self._start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start_all(self) -> None:
        if self.accounting:
            self._start_database()
        self._play(CONTROLLER, "controller", {str(self._state): self._state})
        if self.accounting:
            self.start_slurmdbd()
            self.run("sacctmgr", "-i", "add", "cluster", "frontier")
        self.start_slurmctld()
        for name in (*self.group_of, LOGIN):
            self.start(name)
        self.wait(lambda: all("IDLE" in self.states(name) for name in self._with_slurmd), 30, "all nodes idle")

    def __exit__(self, *_: object) -> None:
        """Ends every node, and with it every program on it."""
        for node in self._played.values():
            node.crash()
        for program in self._programs.values():
            program.wait(10)

    # --- nodes

    @property
    def _with_slurmd(self) -> list[str]:
        return [*self.group_of, LOGIN]

    @property
    def controller(self) -> Node:
        """Where slurmctld runs."""
        return self._played[CONTROLLER]

    @property
    def login(self) -> Node:
        """The login node, which runs slurmd too, as on HyperPod."""
        return self._played[LOGIN]

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the cluster that run: controller, login, compute."""
        return [node for name, node in self._played.items() if name != DATABASE and node.running]

    def node(self, name: str) -> Node:
        """A node by its name."""
        return self._played[name]

    def _play(self, name: str, group: str, shared: Mapping[str, Path] | None = None) -> Node:
        """A new machine with that name, its files as on the image."""
        self._lives += 1
        folder = self.folder / f"{self._lives}-{name}"
        node = Node(name=name, group=group, inputs=self.inputs, folder=folder, shared={**self.shared, **(shared or {})})
        self._played[name] = node
        node.__enter__()
        node.write("/etc/hosts", "".join(f"127.0.0.1 {each}\n" for each in ("localhost", CONTROLLER, *self._ports)))
        users = "\n".join(f"useradd -m -u {uid} {user}" for user, uid in self.users.items())
        _succeed(node.run("bash", "-c", _IMAGE.format(users=users, key=self._key)))
        self._configure(node)
        if name == CONTROLLER:
            self.write_roster(self.groups)
        return node

    def write_roster(self, groups: Mapping[str, Mapping[str, Any]]) -> None:
        """Gives steps on the controller the sizes of groups, as a deploy does."""
        self.controller.write("/aws/s3/roster/roster.json", json.dumps({"version": 1, "nodes": groups}))

    def start(self, name: str) -> None:
        """Starts a compute node or the login node, or a new one in the place of a lost one."""
        self.boot(name)
        self.start_slurmd(name)

    def boot(self, name: str) -> Node:
        """Starts a node without slurmd, so that steps can run before it."""
        return self._play(name, self.group_of.get(name, "login"))

    def start_slurmd(self, name: str) -> None:
        """Starts slurmd on a node."""
        self._start(name, "slurmd", "-D")

    def kill(self, name: str) -> None:
        """Loses a node: everything on it dies at once, by SIGKILL."""
        self.node(name).crash()

    def start_slurmctld(self) -> None:
        """Starts the controller's daemon, with the state that the last one kept."""
        self._start(CONTROLLER, "slurmctld", "-D")
        self.wait(lambda: not self.controller.run("scontrol", "ping").returncode, 15, "slurmctld answers")

    def kill_slurmctld(self) -> None:
        """Ends the controller's daemon by SIGKILL."""
        self._kill(CONTROLLER, "slurmctld")

    def start_slurmdbd(self) -> None:
        """Starts slurmdbd on the controller."""
        self._start(CONTROLLER, "slurmdbd", "-D")
        self.wait(lambda: not self.controller.run("sacctmgr", "-n", "list", "cluster").returncode, 20, "slurmdbd")

    def kill_slurmdbd(self) -> None:
        """Ends slurmdbd by SIGKILL."""
        self._kill(CONTROLLER, "slurmdbd")

    def replace_controller(self) -> None:
        """Loses the controller with its disk and starts a new one: only the database keeps what it knew."""
        self.kill(CONTROLLER)
        shutil.rmtree(self._state)
        self._state.mkdir()
        self._play(CONTROLLER, "controller", {str(self._state): self._state})
        if self.accounting:
            self.start_slurmdbd()
        self.start_slurmctld()

    def _start(self, name: str, program: str, *arguments: str) -> None:
        key = f"{name}/{program}"
        if key in self._programs:
            self._programs.pop(key).wait(10)  # the old one is dead, or its node is
        log = self.folder / f"{program}-{name}.log"
        self._programs[key] = self.node(name).start(program, *arguments, log=log)

    def _kill(self, name: str, program: str) -> None:
        _succeed(self.node(name).run("sh", "-c", f"kill -9 $(cat /run/{program}.pid)"))
        self._programs.pop(f"{name}/{program}").wait(10)

    def _start_database(self) -> None:
        """MariaDB on a node of its own, as if it were RDS."""
        node = self._play(DATABASE, "controller")
        data, log = "/var/lib/accounting", self.folder / f"mariadb-{DATABASE}.log"
        small = ("--no-defaults", f"--datadir={data}", "--user=mysql", "--innodb-log-file-size=8M")
        _succeed(node.run("mkdir", "-p", data))
        _succeed(
            node.run("mariadb-install-db", *small, "--skip-test-db", "--auth-root-authentication-method=normal"),
        )
        port = f"--port={self._ports['mysql']}"
        served = (*small, "--bind-address=127.0.0.1", "--socket=/run/accounting.sock", port)
        self._programs["database"] = node.start("mariadbd", *served, log=log)
        grant = f"GRANT ALL ON *.* TO slurm@'127.0.0.1' IDENTIFIED BY '{_PASSWORD}'"
        client = ("mariadb", "--no-defaults", "--socket=/run/accounting.sock", "-uroot", "-e", grant)
        self.wait(lambda: not node.run(*client).returncode, 30, "MariaDB answers")

    # --- configuration

    def _configure(self, node: Node) -> None:
        """Writes the files that the service owns."""
        node.write("/opt/slurm/etc/slurm.conf", self.conf())
        if gpus := self._gpus(node.name):
            made = f"mkdir -p /run/gpus && cd /run/gpus && for n in $(seq 0 {gpus - 1}); do mknod -m 666 $n c 1 3; done"
            node.run("sh", "-c", made)  # Slurm gives away character devices only; these are /dev/null
            node.write("/opt/slurm/etc/gres.conf", f"Name=gpu File=/run/gpus/[0-{gpus - 1}]\n")
        if self.accounting:
            dbd = _DBD.format(controller=CONTROLLER, password=_PASSWORD, **self._ports)
            node.write("/opt/slurm/etc/slurmdbd.conf", dbd, 0o600)

    def conf(self) -> str:
        """The text of slurm.conf."""
        partitions: dict[str, list[str]] = {}
        for name, group in self.group_of.items():
            partitions.setdefault(self.groups[group].get("partition", group), []).append(name)
        lines = [
            f"NodeName={name} NodeAddr=127.0.0.1 Port={self._ports[name]} CPUs=8 RealMemory=2000"
            + (f" Gres=gpu:{gpus}" if (gpus := self._gpus(name)) else "")
            for name in self._with_slurmd
        ]
        return "\n".join(self.settings) + _CONF.format(
            controller=CONTROLLER,
            ctld=self._ports["ctld"],
            state=self._state,
            patience=self.patience,
            scheduler=self.scheduler,
            accounting=_ACCOUNTING.format(dbd=self._ports["dbd"]) if self.accounting else "",
            nodes="\n".join(lines),
            partitions="\n".join(
                f"PartitionName={name} Nodes={','.join(nodes)} Default=YES MaxTime=INFINITE State=UP"
                for name, nodes in partitions.items()
            ),
        )

    def _gpus(self, name: str) -> int:
        return int(self.groups.get(self.group_of.get(name, ""), {}).get("accelerators", 0))

    def reconfigure(self, *, nodes_changed: bool = False) -> None:
        """Gives every running node the present slurm.conf, as the service does after a change of groups."""
        for node in self._played.values():
            if node.running:
                self._configure(node)
        if nodes_changed:  # this version of Slurm learns of nodes only when it starts
            self.kill_slurmctld()
            self.start_slurmctld()
        else:
            self.run("scontrol", "reconfigure")

    # --- what Slurm says

    def run(self, *argv: str, timeout: float = 60) -> str:
        """What a program says on the controller."""
        return _succeed(self.controller.run(*argv, timeout=timeout))

    def show(self, *what: str) -> list[dict[str, str]]:
        """The records that `scontrol show` lists."""
        text = self.run("scontrol", "-o", "show", *what)
        return [_fields(line) for line in text.splitlines() if "=" in line]

    def states(self, name: str) -> set[str]:
        """The states of a node: the first one and its flags, such as IDLE, DRAIN, NOT_RESPONDING."""
        return set(self.show("node", name)[0]["State"].replace("*", "+NOT_RESPONDING").split("+"))

    def job(self, number: int) -> dict[str, str]:
        """What Slurm says of a job."""
        return self.show("job", str(number))[0]

    def nodes_of(self, number: int) -> list[str]:
        """The nodes that a job has."""
        found = self.job(number)["NodeList"]
        return [] if found == "(null)" else self.run("scontrol", "show", "hostnames", found).split()

    def held(self, reservation: str = "hyperpod-spares") -> list[str]:
        """The nodes of a reservation; none if it does not exist."""
        for each in self.show("reservations"):
            if each["ReservationName"] == reservation:
                return self.run("scontrol", "show", "hostnames", each["Nodes"]).split()
        return []

    def submit(self, script: str, *options: str, user: str = "ada") -> int:
        """Sends a job as a user; returns its number."""
        command = ("runuser", "-u", user, "--", "sbatch", "--parsable", "--output=/dev/null", "--chdir=/", *options)
        sent = self.controller.run(*command, stdin=f"#!/bin/bash\n{script}\n")
        return int(_succeed(sent).strip())

    def wait(self, true: Callable[[], bool], seconds: float, what: str) -> float:
        """Waits until something is so; returns how long it took.

        Raises:
            TimeoutError: with the state of the cluster if it is not so in time.
        """
        began = time.monotonic()
        while not true():
            if time.monotonic() - began > seconds:
                raise TimeoutError(f"not within {seconds:.0f} s: {what}\n{self._now()}")
            time.sleep(0.1)
        return time.monotonic() - began

    def _now(self) -> str:
        said = [
            self.controller.run("sh", "-c", command).stdout
            for command in ("sinfo -N -l", "squeue -o '%i %T %r %N %u'", "scontrol show reservations")
            if CONTROLLER in self._played
        ]
        logs = [f"{log.name}: {_last_lines(log)}" for log in sorted(self.folder.glob("*.log"))]
        return "\n".join([*said, *logs])


def can_run_slurm() -> bool:
    """Whether this machine can play nodes and has the Debian packages of Slurm."""
    return can_play_nodes() and all(shutil.which(name) for name in _PROGRAMS)


def _free_ports(wanted: int = 64) -> list[int]:
    """Ports of loopback that nobody uses."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(wanted)]
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]


def _last_lines(log: Path) -> str:
    """The end of a log, without what this version of Slurm always complains of."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if not re.search("pmix|PMIx|MPI", line)]
    return "\n".join(lines[-15:])


def _fields(line: str) -> dict[str, str]:
    """`Key=value Key=value` as a table; a value goes on to the next word that has a `=`."""
    found: dict[str, str] = {}
    last = ""
    for word in line.split(" "):
        key, equals, value = word.partition("=")
        if equals:
            last = key
            found.setdefault(key, value)
        elif last:
            found[last] += f" {word}"
    return found


def _succeed(ran: subprocess.CompletedProcess[str]) -> str:
    if ran.returncode:
        raise RuntimeError(f"{ran.args[-3:]}: code {ran.returncode}\n{ran.stdout}\n{ran.stderr}")
    return ran.stdout
