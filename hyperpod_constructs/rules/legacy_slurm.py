"""Slurm clusters in their old form, in which a file beside the scripts says who is what."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import PARAMETERS, Lifecycle, ScriptFile, SlurmParameters
from hyperpod_constructs.model.orchestration import Slurm
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import Said, told_once
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.rules.orchestration import NODE_TYPE
from hyperpod_constructs.tokens import Unknown, known

_BASE_CONFIG: Final = "awslabs/awsome-distributed-ai, LifecycleScripts/base-config (lifecycle_script.py)"


def _names(files: tuple[ScriptFile, ...] | None) -> list[str]:
    return [file.name for file in files or ()]


@rule(
    "HP5007",
    Severity.ERROR,
    title=f"{PARAMETERS} lies beside the scripts of a cluster that has a SlurmConfig",
    because="the service takes one of the two and refuses both, whoever put the file there",
    source="SageMaker developer guide, sagemaker-hyperpod-ref: 'The LifeCycleConfig cannot include both'",
)
def slurm_is_configured_once(deployment: Deployment) -> Iterator[Problem]:
    def judge(cluster: Cluster, group: InstanceGroup) -> Iterator[Said]:
        files = group.lifecycle.files if isinstance(group.lifecycle, Lifecycle) else None
        by_api = isinstance(cluster.orchestrator, Slurm) or known(group.node_type) is not None
        if by_api and PARAMETERS in _names(files):
            yield Said(
                before=f"{PARAMETERS} lies among the scripts of ",
                after=", and the cluster has a SlurmConfig",
                fix=f"delete {PARAMETERS}, or move it out of the folder",
            )

    yield from told_once(deployment, judge)


def _is_legacy_slurm(cluster: Cluster) -> bool:
    """Whether a cluster is Slurm in its old form, in which a file beside the scripts says who is what."""
    return cluster.orchestrator is None and all(group.node_type is None for group in cluster.groups)


@rule(
    "HP5008",
    Severity.ERROR,
    title=f"Slurm cluster has neither a SlurmConfig nor {PARAMETERS}",
    because="nothing tells the nodes which of them is the controller",
    source="SageMaker developer guide, Slurm: 'No provisioning_parameters.json found in LifeCycleScript S3 Path'",
)
def legacy_slurm_has_its_parameters(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        lifecycles = [group.lifecycle for group in cluster.groups if group.lifecycle is not None]
        files = [each.files if isinstance(each, Lifecycle) else None for each in lifecycles]
        known_files = [each for each in files if each is not None]
        if not _is_legacy_slurm(cluster) or not files or len(known_files) < len(files):
            continue
        if not any(PARAMETERS in _names(each) for each in known_files):
            yield Problem(
                path=cluster.path,
                message=f"no group has {PARAMETERS} among its scripts, and no group says whether it is the controller",
                fix=f"give every group {NODE_TYPE}, or put {PARAMETERS} beside the controller's scripts",
            )


@rule(
    "HP5013",
    Severity.ERROR,
    title=f"{PARAMETERS} names a group that the cluster does not have",
    because="AWS's scripts look their own group up in the file by its exact name; the controller or the nodes of a "
    "partition are then never set up",
    source=f"{_BASE_CONFIG}; sunilpp/hyperpod-quickstart commit e3f51a59",
)
def parameters_name_groups(deployment: Deployment) -> Iterator[Problem]:
    for cluster, path, parameters in _legacy_parameters(deployment):
        names = [name for group in cluster.groups if (name := known(group.name)) is not None]
        roles = [("controller_group", parameters.controller), ("login_group", parameters.login)]
        roles += [("worker_groups", name) for name in parameters.workers]
        for key, name in roles:
            if name is not None and name not in names:
                yield Problem(
                    path=path,
                    message=f"{PARAMETERS} has {key} {name!r}, which is no group of the cluster",
                    fix=f"use {_meant(name, names)}",
                )
        if parameters.problem or parameters.controller is None:
            yield Problem(
                path=path,
                message=f"{PARAMETERS} cannot be used: {parameters.problem or 'it has no controller_group'}",
                fix=f"write a JSON map with controller_group, one of {', '.join(names)}, and worker_groups",
            )


@rule(
    "HP5014",
    Severity.WARNING,
    title=f"{PARAMETERS} does not name a group of the cluster",
    because="AWS's scripts set up the groups that the file names; scripts of your own may do otherwise",
    source=_BASE_CONFIG,
)
def parameters_name_all_groups(deployment: Deployment) -> Iterator[Problem]:
    for cluster, path, parameters in _legacy_parameters(deployment):
        said = {parameters.controller, parameters.login, *parameters.workers}
        left_out = [group for group in cluster.groups if group.name not in said]
        # One wrong name is one mistake: it leaves a group out and names none.
        if not left_out or parameters.problem or not said - {None} <= {group.name for group in cluster.groups}:
            continue
        yield Problem(
            path=path,
            message=f"{PARAMETERS} does not name {named(*left_out)}",
            fix="add it to worker_groups with a partition_name, or make it the login_group",
        )


def _legacy_parameters(deployment: Deployment) -> Iterator[tuple[Cluster, str, SlurmParameters]]:
    """Slurm clusters in their old form whose file of roles is at hand and whose groups are all known by name."""
    for cluster in deployment.clusters:
        if not _is_legacy_slurm(cluster) or any(known(group.name) is None for group in cluster.groups):
            continue
        scripts = (group.lifecycle for group in cluster.groups)
        files = dict.fromkeys(each.parameters for each in scripts if isinstance(each, Lifecycle))
        for parameters in files:
            if parameters is not None:
                yield cluster, cluster.path, parameters


def _meant(name: str, names: list[str]) -> str:
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    return repr(near[0]) if near else f"one of {', '.join(map(repr, names))}"


@rule(
    "HP5015",
    Severity.WARNING,
    title="Slurm cluster in its old form has no scripts that set it up",
    because="without SlurmConfig the script called by OnCreate configures Slurm; that HyperPod cannot do it by itself "
    "there follows from AWS's pages, but no page says it",
    source="SageMaker developer guide, sagemaker-hyperpod-ref; inferred",
)
def legacy_slurm_has_scripts(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if not _is_legacy_slurm(cluster):
            continue
        without = [group for group in cluster.groups if _sets_up_nothing(group.lifecycle)]
        if without and all(known(group.name) is not None for group in cluster.groups):
            yield Problem(
                path=cluster.path,
                message=f"neither SlurmConfig nor an OnCreate script for {named(*without)}",
                fix=f"give every group {NODE_TYPE}, which HyperPod sets up by itself, or a LifeCycleConfig with "
                "OnCreate",
            )


def _sets_up_nothing(lifecycle: Lifecycle | Unknown | None) -> bool:
    if lifecycle is None:
        return True
    return isinstance(lifecycle, Lifecycle) and lifecycle.on_create is None and lifecycle.on_init_complete is not None
