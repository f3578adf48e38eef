"""A cluster as the rules see it, before anything of it exists."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from hyperpod_constructs.catalog import schemas
from hyperpod_constructs.cdk._arguments import check_names
from hyperpod_constructs.cdk.lifecycle import LifecycleScripts
from hyperpod_constructs.cdk.network import NetworkModel
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model import deployment as model, steps
from hyperpod_constructs.model.annotations import check, check_fields
from hyperpod_constructs.model.capacity import AutoPatch, InstanceGroup
from hyperpod_constructs.model.checks import check_name
from hyperpod_constructs.model.governance import TaskGovernance
from hyperpod_constructs.model.kubernetes import AutoScaling, TieredStorage
from hyperpod_constructs.model.orchestration import Eks, ExternalDatabase, Slurm
from hyperpod_constructs.model.people import People, is_user_name
from hyperpod_constructs.model.steps import Context, Step
from hyperpod_constructs.model.storage import (
    FileSystem,
    Mount,
    NodeVolume,
    OpenZfs,
    check_dns_name,
    check_mount_name,
)
from hyperpod_constructs.tokens import UNKNOWN, Unknown, is_placeholder, is_token

NodeRecovery = Literal["Automatic", "None"]
Scripts = LifecycleScripts | Mapping[str, LifecycleScripts]
"""Scripts of all groups, or of each group by name."""
_RELEASE: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_SECRET_ARN: Final = re.compile(r"arn:[^:]+:secretsmanager:[^:]*:[^:]*:secret:.+", re.DOTALL)


def cluster_model(
    path: str,
    *,
    name: str,
    groups: Sequence[InstanceGroup],
    orchestrator: Slurm | Eks,
    network: NetworkModel,
    zone: str | None = None,
    mounts: Mapping[str, FileSystem | OpenZfs],
    lifecycle: Scripts,
    recovery: NodeRecovery = "Automatic",
    governance: TaskGovernance | None = None,
    people: People | None = None,
    autoscaling: AutoScaling | None = None,
    tiered_storage: TieredStorage | None = None,
    chart_elsewhere: bool = False,
    tags: Mapping[str, str] | None = None,
    account: str | None = None,
    region: str | None = None,
) -> model.Cluster:
    """A cluster with what every group gets from it.

    Groups are sorted by name, so that their order in the code changes nothing.

    Raises:
        InvalidValue: for fields of a wrong type and for those that are arguments of the construct.
    """
    if is_token(name) and not is_placeholder(name):
        raise InvalidValue("the name of a cluster must be known at synth: it keeps scripts and clusters apart")
    check_name("cluster name", name)
    if not groups:
        raise InvalidValue("groups is empty", "give a cluster one group or more; a Slurm cluster has a controller")
    if isinstance(orchestrator, Slurm):
        check_fields("slurm: ", orchestrator)
        _check_accounting(orchestrator)
    elif mounts:
        raise InvalidValue(
            "mounts are for Slurm: pods of an EKS cluster mount volumes", "use hp.Addon.fsx_csi() and a volume"
        )
    _check_tags(tags or {})
    # A file system of anybody's making has a model of their making.
    check("mounts", mounts, Mapping[str, FileSystem | OpenZfs])
    if not isinstance(lifecycle, LifecycleScripts):
        check_names("lifecycle", lifecycle, [str(group.name) for group in groups])
    shared = tuple(_mount(where, file_system) for where, file_system in sorted(mounts.items()))
    for group in groups:
        _refuse_what_the_construct_sets(group)
        _check_fields(f"group {group.name!r}: ", group)
        _check_mounts(f"group {group.name!r}: ", group, {mount.file_system for mount in shared})
    scripts = {str(group.name): scripts_of(lifecycle, group) for group in groups}
    _check_people(people, governance, groups)
    if people is not None:
        _check_come("people", steps.People, groups, scripts)
    if governance is not None and governance.teams:
        controllers = [group for group in groups if group.node_type == "Controller"]
        _check_come("governance", steps.Accounting, controllers, scripts)
    for group in groups:
        _check_is_provisioned(group, scripts[str(group.name)])
    seen = tuple(
        replace(
            group,
            mounts=group.mounts or shared,
            placement=network.placement(zone_of(group)) if group.zone else None,
        )
        for group in sorted(groups, key=lambda group: str(group.name))
    )
    context = step_context(name, seen, mounts.values(), region=region)
    return model.Cluster(
        path=path,
        name=name,
        groups=_with_scripts(seen, scripts, context),
        orchestrator=orchestrator,
        has_teams=bool(governance and governance.teams) or _teams_are_elsewhere(scripts.values()),
        provisioning="Continuous",
        recovery=recovery,
        placement=network.placement(zone),
        autoscaling=autoscaling,
        cluster_role=UNKNOWN if autoscaling else None,
        tiered_storage=tiered_storage,
        chart_elsewhere=chart_elsewhere,
        tags=dict(tags or {}),
        account=account,
        region=region,
    )


def _teams_are_elsewhere(scripts: Iterable[LifecycleScripts]) -> bool:
    """Whether a roster that somebody else keeps may have teams."""
    return any(isinstance(one, steps.Accounting) and one.uri for each in scripts for one in each.ours or ())


def _with_scripts(
    groups: Iterable[InstanceGroup], scripts: Mapping[str, LifecycleScripts], context: Context
) -> tuple[InstanceGroup, ...]:
    """The groups with their scripts; files that groups share are read once."""
    distinct = {id(each): each for each in scripts.values()}
    files = {key: each.seen(context) for key, each in distinct.items()}
    named = ((group, scripts[str(group.name)]) for group in groups)
    return tuple(replace(group, lifecycle=each.model(group, files[id(each)])) for group, each in named)


def step_context(
    name: str,
    groups: Sequence[InstanceGroup],
    mounts: Iterable[FileSystem | OpenZfs],
    *,
    region: str | None,
) -> Context:
    """What steps on the nodes of a cluster may know of it."""
    return Context(
        cluster=name,
        region=region,
        groups=tuple(groups),
        efa=frozenset(each.path for each in mounts if isinstance(each, FileSystem) and each.lustre.efa is True),
        roster=roster_parameter(name),
    )


def roster_parameter(cluster_name: str) -> str:
    """Name of the SSM parameter that says where the roster of a cluster lies.

    A name of ours, because it stands in the inputs of steps, whose hash must be known at synth. It is as unique as that
    of the cluster.
    """
    return f"/hyperpod/{cluster_name}/roster"


def _check_people(people: People | None, governance: TaskGovernance | None, groups: Sequence[InstanceGroup]) -> None:
    """Refuses members who could never submit a job, and shares of what the cluster does not have."""
    if people is not None:
        check_fields("people: ", people)
    if governance is None:
        return
    check_fields("governance: ", governance)
    _check_slurm_can(governance)
    known = {user.name for user in people.users} if people else set()
    types = {name for group in groups if group.node_type == "Compute" for name in types_of(group)}
    decided = all(types_of(group) for group in groups if group.node_type == "Compute")
    for team in governance.teams:
        if people and (missing := sorted(set(team.members) - known)):
            raise InvalidValue(
                f"team {team.name!r} has {', '.join(missing)}, who is not among the people of the cluster",
                "add hp.User(name=..., uid=..., keys=[...]) to people",
            )
        if odd := [member for member in team.members if not is_user_name(member)]:
            raise InvalidValue(f"team {team.name!r} has member {odd[0]!r}", "use names of users of the nodes")
        if parts := sorted(set(team.instances) - set(team.counts)):
            raise InvalidValue(
                f"team {team.name!r} has a share of {', '.join(parts)}, and Slurm limits whole instances",
                "give a number of instances",
            )
        if decided and (strange := sorted(set(team.instances) - types)):
            raise InvalidValue(
                f"team {team.name!r} has instances of {', '.join(strange)}, of which no compute group is",
                f"use {', '.join(sorted(types)) or 'none'}",
            )


def _check_slurm_can(governance: TaskGovernance) -> None:
    """Refuses what only EKS does: on Slurm it would be ignored, and a team would count on it."""
    if not governance.fair_share or governance.share_unassigned is not None:
        raise InvalidValue(
            "governance has fair_share=False or share_unassigned, which Slurm does not know",
            "leave them out",
        )
    for team in governance.teams:
        if not team.lend:
            raise InvalidValue(
                f"team {team.name!r} does not lend, and Slurm gives idle nodes to whoever comes first",
                "leave lend out, and keep its nodes for it with a reservation or a partition of its own",
            )
        if not team.preempt:
            raise InvalidValue(f"team {team.name!r} has preempt=False, which Slurm does not know", "leave it out")


def _check_come(
    what: str, step: type[Step], groups: Sequence[InstanceGroup], scripts: Mapping[str, LifecycleScripts]
) -> None:
    """Refuses data that some nodes would never look at; what scripts of the user's do is not known."""
    without = []
    for group in groups:
        each = scripts[str(group.name)]
        ours = [one for one in each.ours or () if isinstance(one, step) and one.runs_on(group)]
        if each.directory is None and each.uri is None and not ours:
            without.append(str(group.name))
        elif any(one.objects for one in ours):
            raise InvalidValue(
                f"{what}= has no effect beside uri= of hp.steps.{step.__name__}", "give one of them, and not both"
            )
    if without:
        raise InvalidValue(
            f"{what}= has no effect on {', '.join(sorted(without))}: no step brings them to its nodes",
            f"add hp.steps.{step.__name__}() to lifecycle=hp.LifecycleScripts.steps([...]) of these groups",
        )


def _check_is_provisioned(group: InstanceGroup, scripts: LifecycleScripts) -> None:
    """Refuses a Slurm node that nothing would provision."""
    if scripts.ours is None or not scripts.provisions or group.node_type is None:
        return
    if not any(isinstance(step, steps.Script) and step.runs_on(group) for step in scripts.ours):
        raise InvalidValue(
            f"group {group.name!r} is provisioned by steps (provisions=True) of which none is a script of yours",
            "begin them with hp.steps.Script(path=...) that starts Slurm, or leave provisions out",
        )


def _mount(where: str, file_system: FileSystem | OpenZfs) -> Mount:
    if isinstance(file_system, OpenZfs):
        return Mount(kind="openzfs", path=where, file_system=file_system.dns_name)
    return Mount(kind="lustre", path=where, file_system=file_system.path)


def _refuse_what_the_construct_sets(group: InstanceGroup) -> None:
    """Refuses fields that hold what a template reader finds; users say it to the construct, with CDK objects."""
    who = f"group {group.name!r}"
    if is_token(group.name) and not is_placeholder(group.name):
        raise InvalidValue("the name of a group must be known at synth: logical ids are made of it")
    if group.lifecycle is not None:
        raise InvalidValue(f"{who}: scripts are an argument of the cluster: lifecycle={{{group.name!r}: ...}}")
    if group.placement is not None:
        raise InvalidValue(f"{who}: say zone=; subnets and security groups are those of the cluster's network")
    if group.execution_role is not None:
        raise InvalidValue(f"{who}: roles are an argument of the cluster: roles={{{group.name!r}: ...}}")


def _check_fields(who: str, group: InstanceGroup) -> None:
    check_fields(who, group)
    if isinstance(group.patching, AutoPatch) and group.patching.when == "DrainFirst":
        raise InvalidValue(f"{who}patching DrainFirst is not in CloudFormation", "use WhenIdle or WhenAllIdle")
    if is_token(group.spares) or (group.spares and is_token(group.count)):
        raise InvalidValue(f"{who}spares are added to the count; both must then be known at synth")
    release = group.image_release_version
    if isinstance(release, str) and not is_token(release) and not _RELEASE.fullmatch(release):
        raise InvalidValue(f"{who}image_release_version is {release!r}", "use three numbers such as 1.0.742")
    for volume in volumes_of(group):
        if volume.kms_key and not is_token(volume.kms_key) and not str(volume.kms_key).startswith("arn:"):
            raise InvalidValue(f"{who}volume key {volume.kms_key!r} must be an ARN, to be granted to the nodes")


def _check_mounts(who: str, group: InstanceGroup, shared: Collection[str | Unknown]) -> None:
    for mount in group.mounts if isinstance(group.mounts, list | tuple) else ():
        what = f"{who}mount {mount.path!r}"
        _check_names(what, mount)
        if mount.kind == "lustre" and mount.mount_name is None and mount.file_system not in shared:
            raise InvalidValue(
                f"{what} names {mount.file_system!r}, which is not among the mounts of the cluster",
                "give its DNS name and its mount_name, or add it to the mounts of the cluster",
            )


def _check_accounting(slurm: Slurm) -> None:
    database = slurm.accounting
    if isinstance(database, ExternalDatabase):
        secret = database.secret_arn
        if not is_token(secret) and not _SECRET_ARN.fullmatch(str(secret)):
            fix = "use the ARN of a secret: arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME"
            raise InvalidValue(f"accounting secret_arn is {secret!r}", fix)
        if database.endpoint == "":  # it may be UNKNOWN, which is neither true nor false
            raise InvalidValue("accounting endpoint is empty", "use the host name of the database")


def _check_tags(tags: Mapping[str, str]) -> None:
    """Refuses what every resource that carries the tags would be refused for; how many and how long are rules."""
    for key, value in tags.items():
        allowed = schemas.definitions("AWS::SageMaker::Cluster")["Tag"]["properties"]
        for what, text, kind in ((f"tag {key!r}", key, "Key"), (f"the value {value!r} of tag {key!r}", value, "Value")):
            if not is_token(text) and not re.search(allowed[kind]["pattern"], text):
                raise InvalidValue(f"{what} is not allowed", f"use {allowed[kind]['says']}")


def _check_names(what: str, mount: Mount) -> None:
    """Refuses what is no name of a file system, where it is not one of the cluster's mounts."""
    if mount.kind == "openzfs" or mount.mount_name is not None:
        check_dns_name(f"{what}: file_system", mount.file_system)
        check_mount_name(f"{what}: mount_name", mount.mount_name)


def scripts_of(lifecycle: Scripts, group: InstanceGroup) -> LifecycleScripts:
    """The scripts of a group; a group that a mapping does not name has none."""
    if isinstance(lifecycle, LifecycleScripts):
        return lifecycle
    return lifecycle.get(str(group.name), LifecycleScripts.ami_only())


def zone_of(group: InstanceGroup) -> str | None:
    """The zone that a group asks for."""
    return group.zone if isinstance(group.zone, str) else None


def volumes_of(group: InstanceGroup) -> tuple[NodeVolume, ...]:
    """The volumes of a group, as far as known."""
    return tuple(group.volumes) if isinstance(group.volumes, list | tuple) else ()


def types_of(group: InstanceGroup) -> list[str]:
    """Every type that a group may have, as far as known."""
    flexible = group.flexible_types if isinstance(group.flexible_types, list | tuple) else ()
    return [name for name in (group.instance_type, *flexible) if isinstance(name, str)]
