"""What holds for every program, whoever wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from hyperpod_constructs import rules
from hyperpod_constructs.errors import InvalidCluster
from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.control_plane import Kubernetes
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.tokens import UNKNOWN, without_tokens
from tests.random import schemas
from tests.random.recipes import Program
from tests.random.running import Run, acknowledged, run


def everything_holds(program: Program) -> Run:
    """Runs a program and checks every property of what became of it.

    A refused one is made again with its errors acknowledged: the template must then show all of them.
    """
    ran = run(program)
    _expect("every rule ran", [finding for finding in ran.reported if finding.rule == rules.NOT_CHECKED])
    if isinstance(ran.refused, InvalidCluster):
        if _can_be_acknowledged(ran.refused.findings):
            again = run(acknowledged(program, ran.refused))
            if again.refused is None:
                _check_finds_what_constructs_found(again, late=program.is_decided_late)
    elif ran.refused is None:
        _templates_are_valid(ran)
        _check_finds_what_constructs_found(ran, late=program.is_decided_late)
        if not program.is_decided_late:
            _constructs_found_what_check_finds(ran)
        _model_comes_back(program, ran)
    return ran


def _expect(what: str, against: Iterable[object]) -> None:
    """Fails with everything that speaks against a property."""
    if found := list(against):
        raise AssertionError("\n  ".join([what, *map(str, found)]))


def _can_be_acknowledged(findings: Iterable[Finding]) -> bool:
    return all(finding.severity is Severity.ERROR for finding in findings)


def _templates_are_valid(ran: Run) -> None:
    for text in ran.templates.values():
        template = json.loads(text)
        wrong = schemas.schema_errors(template)
        for resource in template.get("Resources", {}).values():
            if resource["Type"] == "AWS::SageMaker::Cluster":
                wrong.append(schemas.create_cluster_errors(resource["Properties"]))
        _expect("templates fit the schemas", filter(None, wrong))


def _check_finds_what_constructs_found(ran: Run, *, late: bool) -> None:
    """The template shows everything that a constructor judges, but for what it says beside it."""
    found = set(_by_key(ran.found)) | set(_by_key(ran.beside))
    reported = _by_key(ran.reported)
    # In a template the lengths of tags are among the registry's own limits, which the walk over the schema reports.
    long_tags = (each for each in ran.found if each.rule == "HP1001" and each.message.startswith("Tags["))
    found |= {("HP0107", path) for _, path in _by_key(long_tags)}
    # A value that is decided late may be that of another group: then both are told of as one, on their cluster.
    missing = {
        (rule, path)
        for rule, path in reported.keys() - found
        if not late or (rule, path.rpartition("/")[0]) not in found
    }
    _expect("check finds what constructs found", [reported[key] for key in missing])


def _constructs_found_what_check_finds(ran: Run) -> None:
    """The other way round for what both know; what only templates show, such as roles and routes, must be no error."""
    reported = _by_key(ran.reported)
    both_know = _by_key(rules.check(_as_constructs_see_it(ran.read)))
    errors = _by_key(finding for finding in ran.found if finding.severity.stops)
    _expect("constructs found what check finds", [both_know[key] for key in both_know.keys() - reported.keys()])
    _expect("only what constructs know is wrong", [errors[key] for key in errors.keys() - reported.keys()])


def _by_key(findings: Iterable[Finding]) -> dict[tuple[str, str], Finding]:
    """Findings by rule and by path, which in a template ends with the id of the resource."""
    return {(finding.rule, finding.path.replace("/Resource", "")): finding for finding in findings}


def _as_constructs_see_it(read: Deployment) -> Deployment:
    """A deployment without what constructs make beside what they check: roles, routes, topics, add-ons, subnets."""
    alone = [
        replace(cluster, depends_on=None, groups=tuple(map(_without_role, cluster.groups))) for cluster in read.clusters
    ]
    planes = (replace(plane, reached_by=frozenset("*"), after=frozenset()) for plane in read.kubernetes.control_planes)
    return Deployment(
        clusters=tuple(alone),
        kubernetes=Kubernetes(control_planes=tuple(planes)),
        scheduler_policies=read.scheduler_policies,
        quotas=read.quotas,
        file_systems=read.file_systems,
        subnets=tuple(subnet for subnet in read.subnets if "/Public-" not in subnet.path),
        security_groups=read.security_groups,
        invalid=read.invalid,
    )


def _without_role(group: InstanceGroup) -> InstanceGroup:
    return replace(group, execution_role=None)


def _model_comes_back(program: Program, ran: Run) -> None:
    """Reading the template gives the model, where nothing is decided late."""
    if program.is_decided_late:
        return
    (meant,), (read,) = ran.models, ran.read.clusters
    known: Any = without_tokens(meant)
    expected, got = comparable(known), comparable(read)
    _expect("reading the template gives the model", differences(expected, got))


def differences(meant: Any, read: Any, where: str = "") -> Iterator[str]:
    """Each field that differs."""
    for field in fields(meant):
        ours, theirs = getattr(meant, field.name), getattr(read, field.name)
        if field.name == "groups":
            for group, other in zip(ours, theirs, strict=True):
                yield from differences(group, other, f"{group.name}.")
        elif not same(ours, theirs):
            yield f"{where}{field.name} is {ours!r} and is read as {theirs!r}"


def same(ours: Any, theirs: Any) -> bool:
    """Whether both are equal, but for lists in place of tuples and for what a reader knows as a whole or not at all."""
    if theirs is UNKNOWN:
        return _partly_unknown(ours)
    if is_dataclass(ours) and type(ours) is type(theirs):
        return all(same(getattr(ours, field.name), getattr(theirs, field.name)) for field in fields(ours))
    if isinstance(ours, list | tuple) and isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


def _partly_unknown(value: Any) -> bool:
    if is_dataclass(value):
        return any(_partly_unknown(getattr(value, field.name)) for field in fields(value))
    return value is UNKNOWN or (isinstance(value, list | tuple) and any(map(_partly_unknown, value)))


def comparable(cluster: Cluster) -> Cluster:
    """A cluster without what only one side can know: paths, roles, published scripts, the order of resources."""
    slurm = cluster.orchestrator
    all_or_nothing = isinstance(slurm, Slurm) and slurm.provisioning == "all-or-nothing"
    if isinstance(slurm, Slurm) and isinstance(slurm.accounting, ExternalDatabase):
        # One that the blueprint makes is a token to the constructor and a path to the reader.
        slurm = replace(slurm, accounting=replace(slurm.accounting, endpoint="", secret_arn=""))
    return replace(
        cluster,
        path="",
        orchestrator=slurm,
        groups=tuple(_comparable_group(group, all_or_nothing=all_or_nothing) for group in cluster.groups),
        placement=None,
        depends_on=None,
        cluster_role=None,
        tags={},
        account=None,
        region=None,
        requested=False,
    )


def _comparable_group(group: Any, *, all_or_nothing: bool) -> Any:
    scripts = group.lifecycle
    return replace(
        group,
        execution_role=None,
        placement=None,
        lifecycle=replace(scripts, source_uri=None) if isinstance(scripts, Lifecycle) else scripts,
        mounts=tuple(replace(mount, file_system="", mount_name=None) for mount in group.mounts),
        # Both mean the same: no checks, and every node or none.
        health_checks=None if group.health_checks == () else group.health_checks,
        min_count=None if all_or_nothing else group.min_count,
    )
