"""The job with which a Slurm cluster is accepted, measured and put to the test: a file for `sbatch`.

It checks its nodes, trains for a while and says how many tokens per second that was. It can be killed at any moment: it
goes on from its last checkpoint. What it asks of a node follows from the catalogue of instance types.

Sources: SageMaker developer guide, sagemaker-hyperpod-resiliency-slurm-auto-resume and the Slurm FAQ (October 2026),
HyperPod's release notes of 2024-08-20, for auto-resume; AWS's examples (github.com/awslabs/awsome-distributed-ai, 2026)
for the variables of EFA and NCCL; a Slurm 22.05.8 of our own for what a requeue does.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.checks import check_one_of, check_whole
from hyperpod_constructs.version import VERSION

Recovery: TypeAlias = Literal["requeue", "auto-resume"]
RECOVERIES: Final[tuple[Recovery, ...]] = ("requeue", "auto-resume")
Per: TypeAlias = Literal["accelerator", "node"]
PER: Final[tuple[Per, ...]] = ("accelerator", "node")

JOB_FILE: Final = "job.sbatch"
PROGRAMS: Final = ("train.py", "heartbeat.py")
"""What the job needs beside it on the nodes."""
_ASSETS: Final = Path(__file__).parents[1] / "assets" / "launch"

_START_MINUTES: Final = 15
"""Minutes that the time limit leaves for the self-check, a container image and the last checkpoint."""
_MOST_MINUTES: Final = 365 * 24 * 60
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]*")
_FOLDER = re.compile(r"/[A-Za-z0-9_./@+-]*")
_IMAGE = re.compile(r"[A-Za-z0-9/][A-Za-z0-9_./:@#+-]*")
_TORCHRUN = re.compile(r"(?:\S*/)?torchrun\b|.*\btorch\.distributed\.(?:run|launch)\b")

_EFA: Final = {
    "gpu": {"FI_PROVIDER": "efa", "FI_EFA_USE_HUGE_PAGE": "0", "NCCL_SOCKET_IFNAME": "^docker,lo,veth"},
    "neuron": {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1", "FI_EFA_FORK_SAFE": "1"},
}
"""Variables by kind of accelerator, for nodes with EFA."""
_NCCL: Final = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"}
"""NCCL then says which network it uses."""

_TRAIN = (
    'exec "$HYPERPOD_PYTHON" "$HYPERPOD_LAUNCH/train.py" --folder "$HYPERPOD_RUN" --minutes "$HYPERPOD_MINUTES" '
    "$HYPERPOD_TRAIN_ARGS"
)

WHAT_HAPPENS: Final[dict[Recovery, str]] = {
    "requeue": (
        "A node fails: the job goes back into the queue and starts on any free nodes, a spare too: one that is held by "
        "a reservation is released when the pool shrinks. Slurm requeues the job when it notices the node, this file "
        "when the command ends before that. Slurm may hold the job for about two minutes (reason BeginTime). It goes "
        "on from its last checkpoint. Works with every TaskPlugin."
    ),
    "auto-resume": (
        "A node fails: HyperPod replaces it, never reboots it, and runs the srun below again. Needs "
        "TaskPlugin=task/none and SchedulerParameters=permit_job_expansion. AWS's pages differ on whether a free node "
        "is used: one says that the job resumes once nodes are replaced, one that it may start on any other available "
        "node, and the release notes of 2024-08-20 that idle nodes can be used. On nodes with GRES, which GPUs mostly "
        "are, the job is requeued instead."
    ),
}
"""What either recovery does, as the file says it."""
_COLUMNS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the job runs on, and for how long.

    Attributes:
        instance_type: Type of its nodes; its accelerators and EFA devices must be known.
        nodes: Number of nodes.
        partition: Slurm partition. Left out means the default one of the cluster.
        minutes: Minutes of training, over all restarts. The time limit of each start is 15 minutes more.
        recovery: What happens when a node fails: `requeue` or `auto-resume`.
        shared: Folder that every node sees; checkpoints go below it.
        account: Slurm account. Left out means the user's default one.
        qos: Quality of service of Slurm.
        image: Container image, for clusters with Pyxis.
        command: Command to run instead of `train.py`, as a line of shell.
        per: Whether Slurm starts the command once for each accelerator or once for each node, as torchrun wants it.

    Raises:
        InvalidValue: if a field cannot stand in such a file, the accelerators of the type are not known, or a
            torchrun would be started for each accelerator.
    """

    instance_type: InstanceType
    nodes: int = 2
    partition: str | None = None
    minutes: int = 30
    recovery: Recovery = "requeue"
    shared: str = "/fsx"
    account: str | None = None
    qos: str | None = None
    image: str | None = None
    command: str | None = None
    per: Per = "accelerator"

    def __post_init__(self) -> None:
        check_whole("number of nodes", self.nodes, low=1, high=6758)
        check_whole("minutes", self.minutes, low=1, high=_MOST_MINUTES)
        check_one_of("recovery", self.recovery, RECOVERIES)
        check_one_of("per", self.per, PER)
        for what, value in {"partition": self.partition, "account": self.account, "qos": self.qos}.items():
            _check(what, value, _WORD, "letters, digits and _.@+-")
        _check("shared folder", self.shared, _FOLDER, "an absolute path such as /fsx")
        _check("image", self.image, _IMAGE, "a name such as nvcr.io#nvidia/pytorch:25.09-py3 or the path of a .sqsh")
        self._check_command()
        facts = self.instance_type
        if facts.accelerators is None or (facts.accelerators and facts.accelerator is None):
            raise InvalidValue(
                f"the accelerators of {facts.name} are not known", "describe the type with hp.InstanceType(...)"
            )

    def _check_command(self) -> None:
        if self.command is None:
            return
        if not self.command.strip() or not self.command.isprintable():
            raise InvalidValue(f"command is {self.command!r}", "use one line of shell")
        if self.per == "accelerator" and _TORCHRUN.match(self.command) and self.tasks_per_node > 1:
            raise InvalidValue(
                f"the command {self.command!r} starts a process for each accelerator, and so does this job",
                "use per='node' (--per node), or leave torchrun out: RANK, LOCAL_RANK and WORLD_SIZE are set",
            )

    @property
    def accelerators(self) -> int:
        """Accelerators of one node."""
        return self.instance_type.accelerators or 0

    @property
    def kind(self) -> str:
        """`gpu`, `neuron` or `cpu`."""
        return self.instance_type.accelerator.kind if self.instance_type.accelerator else "cpu"

    @property
    def efa(self) -> int | None:
        """EFA devices that a node must show; `None` where it is not known, or of no account on a CPU type."""
        return self.instance_type.efa if self.accelerators else None

    @property
    def tasks_per_node(self) -> int:
        """Processes that Slurm starts on one node."""
        return self.accelerators if self.per == "accelerator" and self.accelerators else 1

    @property
    def task_plugin(self) -> str:
        """TaskPlugin of slurm.conf that the recovery needs."""
        return "task/none" if self.recovery == "auto-resume" else "any"

    def text(self) -> str:
        """The file for `sbatch`."""
        body = (_ASSETS / "job.sh").read_text(encoding="utf-8")
        parts = [*self._directives(), "", *self._comments(), "", *self._settings(), "", body]
        return "\n".join(["#!/bin/bash", *parts])

    def files(self) -> dict[str, str]:
        """The file for `sbatch` and the programs that it needs beside it, by name."""
        programs = {name: (_ASSETS / name).read_text(encoding="utf-8") for name in PROGRAMS}
        return {JOB_FILE: self.text(), **programs}

    def _directives(self) -> Iterator[str]:
        options = {
            "job-name": "hyperpod-job",
            "nodes": self.nodes,
            "ntasks-per-node": self.tasks_per_node,
            "gres": f"gpu:{self.accelerators}" if self.kind == "gpu" else None,
            "partition": self.partition,
            "account": self.account,
            "qos": self.qos,
            "time": self.minutes + _START_MINUTES,
            "output": "%x-%j.out",
            "open-mode": "append",
            # So that train.py saves before the time limit. It would end a command that does not expect it.
            "signal": "USR1@120" if self.command is None else None,
        }
        yield from (f"#SBATCH --{name}={value}" for name, value in options.items() if value is not None)
        yield "#SBATCH --exclusive"
        if self.recovery == "requeue":
            yield "#SBATCH --requeue"

    def _comments(self) -> Iterator[str]:
        does = "acceptance test, tokens per second, and victim of a game day" if self.command is None else "a command"
        codes = (
            "A start whose nodes are not what they should be ends with code 78, and one restart too many with code 79; "
            "neither is requeued."
        )
        for paragraph in (
            f"Written by `hyperpod job` {VERSION} for {self.nodes} x {self.instance_type.name}: {does}.",
            WHAT_HAPPENS[self.recovery],
            codes,
        ):
            yield from textwrap.wrap(
                paragraph, _COLUMNS, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
            )

    def _settings(self) -> Iterator[str]:
        yield "# Each can be set in the environment of sbatch instead."
        for name, value in self._variables().items():
            yield f"export {name}=${{{name}-{shlex.quote(value) if value else ''}}}"
        launch = '"$SLURM_SUBMIT_DIR"' if self.command is None else ""
        command = shlex.quote(_TRAIN if self.command is None else self.command)
        yield 'export HYPERPOD_RUN=${HYPERPOD_RUN-"$HYPERPOD_SHARED/hyperpod-job/$SLURM_JOB_ID"}'
        yield f"export HYPERPOD_LAUNCH=${{HYPERPOD_LAUNCH-{launch}}}"
        yield "# shellcheck disable=SC2016  # each task expands it"
        yield f"export HYPERPOD_COMMAND=${{HYPERPOD_COMMAND-{command}}}"

    def _variables(self) -> dict[str, str]:
        return {
            "HYPERPOD_TYPE": self.instance_type.name,
            "HYPERPOD_KIND": self.kind,
            "HYPERPOD_ACCELERATORS": str(self.accelerators),
            "HYPERPOD_EFA": "" if self.efa is None else str(self.efa),
            "HYPERPOD_NODES": str(self.nodes),
            "HYPERPOD_MINUTES": str(self.minutes),
            "HYPERPOD_RECOVERY": self.recovery,
            "HYPERPOD_MAX_RESTARTS": "5",
            "HYPERPOD_REQUEUE_AFTER": "300",
            "HYPERPOD_SHARED": self.shared,
            "HYPERPOD_TEXTFILE_DIR": "/var/lib/node_exporter/textfile",
            "HYPERPOD_DEV": "/dev",
            "HYPERPOD_SYS": "/sys",
            "HYPERPOD_IMAGE": self.image or "",
            "HYPERPOD_PER": self.per,
            "HYPERPOD_PYTHON": "python3",
            # PyTorch alone cannot use Trainium: sixteen transformers on the CPUs of a node would measure nothing.
            "HYPERPOD_TRAIN_ARGS": "--engine stand-in" if self.kind == "neuron" else "",
            **self._network(),
        }

    def _network(self) -> dict[str, str]:
        """Variables of EFA and NCCL that fit the type."""
        nccl = _NCCL if self.kind == "gpu" else {}
        return {**(_EFA[self.kind] if self.efa else {}), **nccl}


def _check(what: str, value: object, allowed: re.Pattern[str], says: str) -> None:
    """Raises `InvalidValue` where a value could not stand in the file, or would say more than it should there."""
    if value is not None and not (isinstance(value, str) and allowed.fullmatch(value)):
        raise InvalidValue(f"{what} is {value!r}", f"use {says}")
