"""Runs drawn programs: their values alone, in microseconds, or with the CDK, in a tenth of a second."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from hyperpod_constructs.errors import InvalidCluster
from hyperpod_constructs.findings import Finding
from tests.random.recipes import Call, Kitchen, Name, Program, Token

ROOT = Path(__file__).parents[2]


@cache
def folders() -> Mapping[str, str]:
    """Folders of lifecycle scripts, good and bad."""
    root = Path(tempfile.mkdtemp(prefix="random-scripts-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for name, files in {
        "good": {"run.sh": b"#!/bin/bash\n", "lib/more.sh": b"#!/bin/bash\n"},
        "windows": {"run.sh": b"#!/bin/bash\r\n"},
        "provisioning": {"run.sh": b"#!/bin/bash\n", "provisioning_parameters.json": b"{}"},
        "names": {"run.sh": b"#!/bin/bash\n", "a;b.sh": b""},
        "empty": {},
    }.items():
        for file, content in files.items():
            (root / name / file).parent.mkdir(parents=True, exist_ok=True)
            (root / name / file).write_bytes(content)
        (root / name).mkdir(exist_ok=True)
    (root / "file").write_text("no folder")
    return {name: str(root / name) for name in ("good", "windows", "provisioning", "names", "empty", "file", "missing")}


# Values alone


_MARKERS = {"text": "${Token[TOKEN.1]}", "number": -1.8881545897087503e289, "list": ["#{Token[TOKEN.2]}"]}


def _marker(token: Token) -> Any:
    """What the CDK's tokens look like, made without it."""
    if token.kind == "inside":
        return token.value.format(_MARKERS["text"])
    return _MARKERS[token.kind.removeprefix("late ")]


def values_of(program: Program) -> dict[str, Any]:
    """The arguments of the last step without what needs the CDK; raises what making them raises."""
    kitchen = Kitchen(token=_marker, names={}, folders=folders())
    made: dict[str, Any] = {}
    for _, call in program.steps:
        made = {name: kitchen.made(value) for name, value in (call.options or {}).items() if not _needs_the_cdk(value)}
    return made


def _needs_the_cdk(value: Any) -> bool:
    if isinstance(value, Call):
        return value.name.startswith(("cdk.", "iam.", "Network.")) or any(
            _needs_the_cdk(each) for each in (*value.positional, *(value.options or {}).values())
        )
    if isinstance(value, dict):
        return any(map(_needs_the_cdk, value.values()))
    return isinstance(value, Name)


# With the CDK


@dataclass
class Run:
    """What became of a program.

    Attributes:
        refused: The error with which it was refused, if it was.
        reported: What the constructs found, in all checks of theirs.
        beside: Warnings that constructs gave by themselves, because what they are about stands in no template.
        templates: Templates by name of their file.
        found: What the check of the assembly finds.
        models: The clusters as their constructs see them.
        read: The deployment that the assembly holds.
    """

    refused: Exception | None = None
    reported: list[Finding] = field(default_factory=list)
    beside: list[Finding] = field(default_factory=list)
    templates: dict[str, str] = field(default_factory=dict)
    found: list[Finding] = field(default_factory=list)
    models: list[Any] = field(default_factory=list)
    read: Any = None


def run(program: Program, *, check: bool = True) -> Run:
    """Makes the app, synthesizes it and checks what was written.

    Only `ConfigurationError` is caught: everything else is a failure of the test that runs it.

    Args:
        program: The program.
        check: Whether the assembly is read and checked.
    """
    import aws_cdk as cdk

    from hyperpod_constructs import rules
    from hyperpod_constructs.errors import ConfigurationError
    from hyperpod_constructs.model import template

    ran = Run()
    with tempfile.TemporaryDirectory() as outdir:
        app = cdk.App(context=_context(), outdir=outdir)
        env = cdk.Environment(account=program.account, region=program.region) if program.region else None
        stack = cdk.Stack(app, "Test", env=env)
        kitchen = Kitchen(token=_Tokens().make, names={"app": app, "stack": stack, "env": env}, folders=folders())
        with _recorded(ran):
            try:
                kitchen.run(program)
            except ConfigurationError as error:
                ran.refused = error
                return ran
        may_fail = program.is_decided_late or "acknowledge" in (program.steps[-1][1].options or {})
        made = kitchen.names["cluster"]
        ran.models.append(made.cluster.model if hasattr(made, "cluster") else made.model)
        try:
            app.synth()
        except RuntimeError as error:
            # What is decided late can be wrong in a way that no constructor sees, and so can what follows from an
            # error that was acknowledged.
            if not (may_fail and "ValidationFailed" in str(error)):
                raise
        ran.templates = {path.name: path.read_text() for path in sorted(Path(outdir).glob("*.template.json"))}
        if check:
            ran.read = template.read(outdir)
            ran.found = rules.check(ran.read)
    return ran


@cache
def _context() -> dict[str, Any]:
    context: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return context


@contextmanager
def _recorded(ran: Run) -> Iterator[None]:
    """Notes what every check of a construct finds, warnings included."""
    from hyperpod_constructs.cdk import validation

    check, warn = validation._check, validation.warn_of_what_no_template_says

    def checking(deployment: Any) -> list[Finding]:
        found = check(deployment)
        ran.reported.extend(found)
        return found

    def warning(scope: Any, seen: Any, in_template: Any) -> None:
        again = [(finding.rule, finding.path) for finding in check(in_template)]
        ran.beside.extend(finding for finding in check(seen) if (finding.rule, finding.path) not in again)
        warn(scope, seen, in_template)

    with (
        mock.patch.object(validation, "_check", checking),
        mock.patch.object(validation, "warn_of_what_no_template_says", warning),
    ):
        yield


class _Tokens:
    """Makes tokens of the CDK that belong to no stack, so that any stack may use them."""

    def make(self, token: Token) -> Any:
        if token.kind == "inside":
            return token.value.format(_imported("Text"))
        if token.kind.startswith("late"):
            return _late(token.value)
        return _imported({"text": "Text", "number": "Number", "list": "List"}[token.kind])


@cache
def _imported(kind: str) -> Any:
    import aws_cdk as cdk

    value = cdk.Fn.import_value(kind)
    if kind == "Number":
        return cdk.Token.as_number(value)
    return cdk.Fn.split(",", value) if kind == "List" else value


@cache
def _late(value: Any) -> Any:
    """A token that becomes a plain value when the template is written."""
    import aws_cdk as cdk
    import jsii

    @jsii.implements(cdk.IStableStringProducer)
    class Text:
        def produce(self) -> str:
            return str(value)

    @jsii.implements(cdk.IStableNumberProducer)
    class Number:
        def produce(self) -> float:
            return float(value)

    return cdk.Lazy.string(Text()) if isinstance(value, str) else cdk.Lazy.number(Number())


def acknowledged(program: Program, refused: InvalidCluster) -> Program:
    """The same program with every error accepted that can be."""
    reasons = {finding.rule: "to see the template" for finding in refused.findings}
    return program.with_options(acknowledge=reasons)
