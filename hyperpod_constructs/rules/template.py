"""What of the input no other rule can see, so that a check which saw half of it does not look like a whole one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment, Unseen
from hyperpod_constructs.rules import Problem, rule

_US = "hyperpod_constructs: what is not checked must not look like what has no fault"


def _unseen(deployment: Deployment, kind: Literal["nested", "macro", "file"]) -> Iterator[Unseen]:
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
        yield Problem(
            path=each.path,
            message=f"not checked: the template of this nested stack{name} was not found",
            fix=f"put {each.what or 'the template'} beside this one and check the folder that holds both",
            location=each.location,
        )


@rule(
    "HP0102",
    Severity.WARNING,
    title="A part of a template was not checked",
    because="only CloudFormation can expand macros and loops, and nobody sees before the deploy what they make",
    source=_US,
)
def templates_are_expanded(deployment: Deployment) -> Iterator[Problem]:
    for each in _unseen(deployment, "macro"):
        yield Problem(
            path=each.path,
            message=f"not checked: only CloudFormation can expand {each.what}",
            fix="check the expanded template: aws cloudformation get-template --template-stage Processed prints it",
            location=each.location,
        )


@rule(
    "HP0103",
    Severity.WARNING,
    title="A file of the folder was not checked",
    because="it is no template, so it was skipped; if it was meant as one, it goes unjudged",
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
