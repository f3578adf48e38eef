"""Whether the CDK was bootstrapped in account and Region, with the qualifier and the version that stacks ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_constructs.account.gateway.names import Parameters
from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import Said, check, finding, rule
from hyperpod_constructs.cloudformation.stack import Stack
from hyperpod_constructs.findings import Severity

_PARAMETER: Final = "BootstrapVersion"
_RULE: Final = "CheckBootstrapVersion"
_NAME: Final = re.compile(r"/cdk-bootstrap/(?P<qualifier>[A-Za-z0-9_-]+)/version")
_DEFAULT_QUALIFIER: Final = "hnb659fds"
_SOURCE = "CDK developer guide, bootstrapping-env; the BootstrapVersion parameter of templates"

ABSENT = rule(
    "HP9120",
    Severity.ERROR,
    title="Account and Region are not bootstrapped with the qualifier of the stacks",
    because="the CDK uploads templates and files to the bucket of the bootstrap stack and deploys with its roles",
    source=_SOURCE,
)
OLD = rule(
    "HP9121",
    Severity.ERROR,
    title="Bootstrap stack is older than the stacks ask for",
    because="CloudFormation compares the versions and refuses the stack",
    source=_SOURCE,
)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a stack asks for.

    Attributes:
        parameter: Name of the parameter that holds the version of the bootstrap stack.
        version: The least version; 0 where the template does not say.
    """

    parameter: str
    version: int


@check("bootstrap stack")
def bootstrap_is_there(context: Context) -> Iterator[Said]:
    asked: dict[str, list[tuple[Stack, int]]] = {}
    for stack in context.stacks:
        if wanted := _wanted(stack):
            asked.setdefault(wanted.parameter, []).append((stack, wanted.version))
    for parameter, stacks in sorted(asked.items()):
        found = context.open(Parameters).value(parameter)
        path, least = stacks[0][0].id, max(version for _, version in stacks)
        command = _command(context, parameter)
        if found is None:
            message = f"account {context.account} is not bootstrapped in {context.region}: there is no {parameter}"
            yield finding(ABSENT, path, message, f"bootstrap it once: {command}")
        elif found.isdecimal() and int(found) < least:
            message = f"the bootstrap stack has version {found}, the stacks ask for {least} or newer"
            yield finding(OLD, path, message, f"bootstrap again, which updates it: {command}")


def _wanted(stack: Stack) -> _Wanted | None:
    """What the CDK writes into a template; `None` where it does not, as with its older synthesizers."""
    name = _inside(stack.document.body, "Parameters", _PARAMETER, "Default")
    if not isinstance(name, str):
        return None
    refused = _inside(stack.document.body, "Rules", _RULE, "Assertions", 0, "Assert", "Fn::Not", 0, "Fn::Contains", 0)
    versions = [int(each) for each in refused if str(each).isdecimal()] if isinstance(refused, list) else []
    return _Wanted(name, max(versions, default=-1) + 1)


def _inside(value: Any, *steps: str | int) -> object:  # noqa: ANN401  # a part of a template
    """What stands at the end of some steps; `None` where they lead nowhere."""
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _command(context: Context, parameter: str) -> str:
    match = _NAME.fullmatch(parameter)
    qualifier = match["qualifier"] if match else _DEFAULT_QUALIFIER
    option = "" if qualifier == _DEFAULT_QUALIFIER else f" --qualifier {qualifier} --toolkit-stack-name NAME"
    return f"cdk bootstrap aws://{context.account}/{context.region}{option}"
