"""What a new node does after HyperPod has set it up, step by step.

    lifecycle=hp.LifecycleScripts.steps([*hp.steps.defaults(), hp.steps.Script(path="nodes/motd.sh")])

Each step is a small program of ours, or a script of yours, that can run again at any time and changes nothing then.
A runner on the node starts them in this order, each with a limit in time. What `docs/nodes.md` says of a step is what
is proven with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.checks import check_known
from hyperpod_constructs.model.steps.host import (
    Containers as Containers,
    FileSystems as FileSystems,
    LogRotation as LogRotation,
    LustreClient as LustreClient,
    MetadataService as MetadataService,
)
from hyperpod_constructs.model.steps.people import People as People, SlurmAdopt as SlurmAdopt, Sssd as Sssd
from hyperpod_constructs.model.steps.programs import Script as Script, Service as Service, Services as Services
from hyperpod_constructs.model.steps.slurm import (
    Accounting as Accounting,
    JobChecks as JobChecks,
    NodeCounts as NodeCounts,
    Spares as Spares,
)
from hyperpod_constructs.model.steps.step import (
    EVERYWHERE as EVERYWHERE,
    SLURM as SLURM,
    Context as Context,
    Role as Role,
    Step as Step,
    role_of,
)
from hyperpod_constructs.tokens import known


def defaults(
    *, people: bool = False, teams: bool = False, homes: str = "/fsx/home", slurm: bool = True
) -> tuple[Step, ...]:
    """The steps of a cluster that says nothing else.

    Args:
        people: Whether the cluster has `people`.
        teams: Whether it has teams.
        homes: Folder of the home folders.
        slurm: Whether Slurm schedules; EKS nodes need less.
    """
    everywhere: tuple[Step, ...] = (FileSystems(), LustreClient(), LogRotation())
    if not slurm:
        return everywhere
    return (
        FileSystems(),
        LustreClient(),
        MetadataService(),
        *((People(homes=homes),) if people else ()),
        *((Accounting(),) if teams else ()),
        Spares(),
        NodeCounts(),
        JobChecks(),
        Containers(),
        LogRotation(),
    )


def check_steps(steps: Sequence[Step]) -> None:
    """Refuses steps that could not be told apart.

    Raises:
        InvalidValue: if two have one name, or two scripts one file name.
    """
    titles = [step.title for step in steps]
    if "" in titles:
        raise InvalidValue("hp.steps.Step is what all steps have and none by itself", "use hp.steps.Script(path=...)")
    if twice := sorted({title for title in titles if titles.count(title) > 1}):
        raise InvalidValue(
            f"several steps are named {', '.join(twice)}",
            "give scripts different file names, and services a name (called=)",
        )


def encode(steps: Sequence[Step], context: Context) -> dict[str, Any]:
    """The file that the runner reads: what it knows of the cluster, and the steps in their order.

    Raises:
        InvalidValue: if something in it is decided at deploy (the file is hashed and uploaded before), or a step names
            a group that is not there.
    """
    check_steps(steps)
    names = [str(group.name) for group in context.groups]
    for each in steps:
        if missing := sorted(set(each.groups or ()) - set(names)):
            raise InvalidValue(
                f"step {each.title} is for {', '.join(missing)}, which is no group of the cluster",
                f"use {', '.join(names)}",
            )
    region = {"region": context.region} if context.region else {}
    encoded: dict[str, Any] = {
        "cluster": context.cluster,
        **region,
        "groups": {str(group.name): _group(group) for group in context.groups},
        "steps": [step.encode(context) for step in steps],
    }
    for step in encoded["steps"]:
        check_known(f"step {step['name']}", step)
    return encoded


def _group(group: InstanceGroup) -> dict[str, Any]:
    """What steps may know of a group, as far as it stays while nodes run: the roster has the rest."""
    facts = group.facts
    partitions = group.partitions if isinstance(group.partitions, tuple) else ()
    found = {
        "role": role_of(group),
        "partition": partitions[0] if partitions else None,
        "type": known(group.instance_type),
        "accelerators": facts.accelerators if facts else None,
        "kind": facts.accelerator.kind if facts and facts.accelerator else None,
        "efa": facts.efa if facts else None,
        "local_disk_gb": facts.local_disk_gb if facts else None,
    }
    return {key: value for key, value in found.items() if value is not None}
