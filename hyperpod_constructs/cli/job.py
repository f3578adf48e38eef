"""`hyperpod job`: the file with which a Slurm cluster is accepted, measured and put to the test."""

from __future__ import annotations

import argparse
import errno
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperpod_constructs.catalog import instances
from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.cli import files, inputs, terminal
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.planning.job import JOB_FILE, PROGRAMS, Job

_NODES = 2
"""The fewest between which anything goes over the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """What the job is to run on.

    Attributes:
        instance_type: Type of its nodes.
        nodes: How many.
        partition: Their partition, where it is known.
    """

    instance_type: InstanceType
    nodes: int
    partition: str | None


def run(arguments: argparse.Namespace) -> int:
    """Prints the job file or writes it with its programs; 1 where PATH has no such group."""
    source = inputs.read(arguments.path, arguments.region) if arguments.path else None
    if source and source.refusal:
        return inputs.refuse(source.refusal)
    try:
        target = _of_group(source.deployment, arguments) if source else _of_catalogue(arguments)
        job = _job(arguments, target)
    except InvalidValue as error:
        print(f"hyperpod: {terminal.plain(str(error))}", file=sys.stderr)
        return 1
    written = _write(job.files(), Path(arguments.out), force=arguments.force) if arguments.out else ()
    if arguments.format == "json":
        print(json.dumps(as_data(job, written), indent=2))
    elif written:
        print("\n".join(text(job, written)))
    else:
        print(job.text(), end="")
        if job.command is None:
            inputs.note(f"the job needs {' and '.join(PROGRAMS)} beside it: --out DIR writes all three")
    return 0


def as_data(job: Job, written: tuple[Path, ...]) -> dict[str, object]:
    """The job as JSON shows it."""
    return {
        "instance_type": job.instance_type.name,
        "nodes": job.nodes,
        "accelerators": job.accelerators,
        "kind": job.kind,
        "efa": job.efa,
        "tasks_per_node": job.tasks_per_node,
        "partition": job.partition,
        "minutes": job.minutes,
        "recovery": job.recovery,
        "task_plugin": job.task_plugin,
        "written": [str(file) for file in written],
        "sbatch": job.text(),
    }


def text(job: Job, written: tuple[Path, ...]) -> list[str]:
    """What was written, and what to do with it."""
    return [
        *(terminal.plain(str(file)) for file in written),
        f"next: copy them to a folder below {job.shared}, which every node sees, and run there: sbatch {JOB_FILE}",
    ]


def _job(arguments: argparse.Namespace, target: _Target) -> Job:
    return Job(
        instance_type=target.instance_type,
        nodes=target.nodes,
        partition=arguments.partition or target.partition,
        minutes=arguments.minutes,
        recovery=arguments.recovery,
        shared=arguments.shared,
        account=arguments.account,
        qos=arguments.qos,
        image=arguments.image,
        command=arguments.run,
        per=arguments.per,
    )


def _of_catalogue(arguments: argparse.Namespace) -> _Target:
    """Nodes of a type, without PATH."""
    if arguments.type is None or arguments.group is not None:
        raise InvalidValue("there is no PATH", "give PATH, and --group for one of its groups, or --type alone")
    return _Target(instance_type=_facts(arguments.type), nodes=arguments.nodes or _NODES, partition=None)


def _facts(name: str) -> InstanceType:
    """What the catalogue says of a type."""
    name = f"ml.{name.removeprefix('ml.')}"
    facts = instances.find(name)
    if facts is not None:
        return facts
    near = " or ".join(instances.near(name))
    described = "describe it with hp.InstanceType(...) in an app, and give its cdk.out"
    fix = f"did you mean {near}?" if near else described
    raise InvalidValue(f"{name} is not in the catalogue of instance types", fix)


def _of_group(deployment: Deployment, arguments: argparse.Namespace) -> _Target:
    """A group of PATH."""
    path, group = _group(deployment, arguments.group)
    facts = _facts(arguments.type) if arguments.type else group.facts
    if facts is None:
        raise InvalidValue(f"{path}: its instance type is not known", "name it with --type")
    count = group.count if isinstance(group.count, int) else None
    nodes = arguments.nodes or (_NODES if count is None else min(_NODES, max(count, 1)))
    if count is not None and nodes > count:
        spares = f" (and {group.spares} spares, which wait for a failure)" if group.spares else ""
        raise InvalidValue(f"{path} has {count} nodes for jobs{spares}, not {nodes}", "use fewer --nodes")
    partitions = group.partitions if isinstance(group.partitions, tuple) else ()
    partition = next((each for each in partitions if isinstance(each, str)), None)
    return _Target(instance_type=facts, nodes=nodes, partition=partition)


def _group(deployment: Deployment, wanted: str | None) -> tuple[str, InstanceGroup]:
    """The group of that name or path, or the only one that runs jobs."""
    slurm = [cluster for cluster in deployment.clusters if not isinstance(cluster.orchestrator, Eks)]
    if deployment.clusters and not slurm:
        raise InvalidValue("the clusters of PATH are on EKS", "this job is for Slurm: use one of a Slurm cluster")
    groups = {cluster.path_of(group): group for cluster in slurm for group in cluster.groups}
    jobs = {path: group for path, group in groups.items() if group.node_type not in ("Controller", "Login")}
    found = {path: group for path, group in jobs.items() if wanted in (None, path, group.name)}
    if len(found) == 1:
        return next(iter(found.items()))
    named = ", ".join(found or jobs) or "none"
    if wanted is None:
        raise InvalidValue(f"groups that run jobs: {named}", "name one with --group")
    what = f"several groups are called {wanted!r}" if found else f"there is no group {wanted!r}"
    raise InvalidValue(what, f"use one of: {named}")


def _write(contents: Mapping[str, str], folder: Path, *, force: bool) -> tuple[Path, ...]:
    """Writes the files into a folder; none of them where one would replace a file that says something else."""
    by_file = {folder / name: text for name, text in contents.items()}
    for file, wanted in by_file.items():
        if not force and file.exists() and file.read_bytes() != wanted.encode():
            raise FileExistsError(errno.EEXIST, "says something else; --force replaces it", str(file))
    files.write(by_file)
    return tuple(by_file)
