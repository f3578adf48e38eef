"""What is wrong with templates whatever they make: parts that nobody could check, and more than CloudFormation takes.

A check which saw half of its input must not look like a whole one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment, Invalid, Location, Unseen, UnseenKind
from hyperpod_constructs.rules import Problem, rule

_US = "hyperpod_constructs: what is not checked must not look like what has no fault"
_QUOTAS: Final = "CloudFormation user guide, quotas; cfn-lint 1.58.0, E1002, E1003, E2010, E3010, E6010 and E7010"
_NEARLY: Final = 0.8
"""Share of a limit from which the next feature may not fit."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """One thing that CloudFormation counts: how messages call it, how many it takes, and what to do about more."""

    field: str
    called: str
    most: int
    fix: str


_SPLIT: Final = "move some of them into another stack or a nested one, which has limits of its own"
_LIMITS: Final = (
    _Limit("resources", "resources", 500, _SPLIT),
    _Limit("parameters", "parameters", 200, "read some of them from SSM, or make lists of them"),
    _Limit("outputs", "outputs", 200, _SPLIT),
    _Limit("mappings", "mappings", 200, "make fewer mappings with more keys, or another stack"),
    _Limit("template_bytes", "bytes", 1_000_000, f"{_SPLIT}; leave out metadata and indentation"),
    _Limit("description_bytes", "bytes of Description", 1_024, "say less, and the rest in Metadata"),
)


def _unseen(deployment: Deployment, kind: UnseenKind) -> Iterator[Unseen]:
    return (each for each in deployment.unseen if each.kind == kind)


@rule(
    "HP0101",
    Severity.WARNING,
    title="A nested stack was not checked",
    because="its template is not part of what was read, and everything that it makes or changes goes unjudged",
    source=_US,
)
def nested_stacks_are_seen(deployment: Deployment) -> Iterator[Problem]:
    for each in _unseen(deployment, "nested"):
        name = f", {each.what}," if each.what else ""
        state = "read" if each.beside else "found"
        fix = f"put {each.what or 'the template'} beside this one and check the folder that holds both"
        if each.beside:
            fix = f"check the folder and not only this file: {each.what} lies beside it"
        yield Problem(
            path=each.path,
            message=f"not checked: the template of this nested stack{name} was not {state}",
            fix=fix,
            location=each.location,
        )


@rule(
    "HP0102",
    Severity.WARNING,
    title="A part of a template was not checked",
    because="only CloudFormation can expand macros, modules and loops, what a condition leaves out may come with other "
    "parameters, and of a type that we do not know we know nothing",
    source=_US,
)
def templates_are_expanded(deployment: Deployment) -> Iterator[Problem]:
    for each in _unseen(deployment, "macro"):
        yield Problem(
            path=each.path,
            message=f"not checked: only CloudFormation can expand {each.what}",
            fix="check the expanded template: write to a file what aws cloudformation get-template --template-stage "
            "Processed prints, and check that file",
            location=each.location,
        )
    for each in _unseen(deployment, "condition"):
        yield Problem(
            path=each.path,
            message=f"not checked: {each.what} leaves this cluster out",
            fix="check what you deploy: --parameter NAME=VALUE and --region decide conditions",
            location=each.location,
        )
    for each in _unseen(deployment, "type"):
        yield Problem(
            path=each.path,
            message=f"not checked: {each.what} is no type that we know",
            fix="use AWS::SageMaker::Cluster for a cluster; if the type is newer than our list, keep it",
            location=each.location,
        )


@rule(
    "HP0103",
    Severity.WARNING,
    title="A file or sub-folder of the folder was not checked",
    because="it is no template, or lies deeper than what is read; if it is deployed, it goes unjudged",
    source=_US,
)
def files_are_templates(deployment: Deployment) -> Iterator[Problem]:
    for each in _unseen(deployment, "file"):
        yield Problem(
            path=each.path,
            message=f"not checked: this file {each.what}",
            fix="correct it if it was meant as a template; otherwise keep it in another folder",
            location=each.location,
        )
    for each in _unseen(deployment, "folder"):
        yield Problem(
            path=each.path,
            message=f"not checked: this sub-folder {each.what}",
            fix=f"check it, too: hyperpod check {each.path}",
            location=each.location,
        )


def _as_problems(found: tuple[Invalid, ...]) -> Iterator[Problem]:
    for each in found:
        yield Problem(path=each.path, message=each.message, fix=each.fix, location=each.location)


@rule(
    "HP0110",
    Severity.ERROR,
    title="A resource has a type that does not exist, or none",
    because="CloudFormation refuses the whole template, and nothing of the resource is checked before that",
    source="CloudFormation user guide, resources section of a template; types of cfn-lint 1.58.0",
)
def types_exist(deployment: Deployment) -> Iterator[Problem]:
    yield from _as_problems(deployment.misnamed)


@rule(
    "HP0111",
    Severity.ERROR,
    title="A template refers to something that it does not have",
    because="CloudFormation refuses the whole template, or a nested stack of it, before anything is made",
    source="CloudFormation user guide, intrinsic function reference; cfn-lint 1.58.0, E1010, E1012, E1019, E1020, "
    "E3005 and E3043",
)
def names_are_defined(deployment: Deployment) -> Iterator[Problem]:
    yield from _as_problems(deployment.dangling)


def _fullness(deployment: Deployment) -> Iterator[tuple[float, Problem]]:
    """Of everything that is counted in every stack: how full it is, and what to say if that is too much."""
    for stack in deployment.stacks:
        for limit in _LIMITS:
            count: int = getattr(stack, limit.field)
            problem = Problem(
                path=stack.path,
                message=f"{count:,} {limit.called}; CloudFormation takes {limit.most:,}",
                fix=limit.fix,
                location=Location(stack.file, None) if stack.file else None,
            )
            yield count / limit.most, problem


@rule(
    "HP0108",
    Severity.ERROR,
    title="A template has more than CloudFormation takes",
    because="the whole stack is refused before anything is made",
    source=_QUOTAS,
)
def stacks_are_within_their_limits(deployment: Deployment) -> Iterator[Problem]:
    yield from (problem for share, problem in _fullness(deployment) if share > 1)


@rule(
    "HP0109",
    Severity.WARNING,
    title="A template is near a limit of CloudFormation",
    because="the next feature may not fit, and resources cannot be moved between stacks without care",
    source=_QUOTAS,
)
def stacks_have_room(deployment: Deployment) -> Iterator[Problem]:
    yield from (problem for share, problem in _fullness(deployment) if _NEARLY <= share <= 1)
