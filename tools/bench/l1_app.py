"""The same templates from bare L1 resources: what a hand-written app costs, without this library.

Every resource is of its own class, with references to the others as a person writes them: `vpc.ref`, `role.attr_arn`.
Run with the folder of a finished cdk.out as the only argument.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import aws_cdk as cdk

_AS_IT_IS: Final = frozenset({"AssumeRolePolicyDocument", "EventPattern", "KeyPolicy", "PolicyDocument"})
"""Properties that the CDK passes on without looking into them."""
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PSEUDO: Final = {
    "AWS::AccountId": "ACCOUNT_ID",
    "AWS::Partition": "PARTITION",
    "AWS::Region": "REGION",
    "AWS::StackId": "STACK_ID",
    "AWS::StackName": "STACK_NAME",
    "AWS::URLSuffix": "URL_SUFFIX",
}


class Writer:
    """Makes the resources of one stack."""

    def __init__(self, stack: cdk.Stack, exported: dict[str, object]) -> None:
        """Begins with an empty stack.

        Args:
            stack: The stack.
            exported: Values of the stacks before it, by export name.
        """
        self._stack, self._exported = stack, exported
        self._made: dict[str, Any] = {}

    def write(self, template: Mapping[str, Any]) -> None:
        """Makes every resource after those that it refers to, and the outputs."""
        resources: dict[str, Any] = dict(template["Resources"])
        while resources:
            ready = [
                name
                for name, body in resources.items()
                if not (_named(body) | {*_waits_for(body)}) & resources.keys() - {name}
            ]
            for name in ready or list(resources):
                self._make(name, resources.pop(name))
        for key, output in template.get("Outputs", {}).items():
            if export := output.get("Export"):
                self._exported[export["Name"]] = self._value(output["Value"])
            else:
                cdk.CfnOutput(self._stack, key, value=cast("str", self._value(output["Value"])))

    def _make(self, name: str, body: Mapping[str, Any]) -> None:
        _, service, kind = body["Type"].split("::")
        if service == "CDK":
            return  # the CDK adds its own
        module = importlib.import_module(f"aws_cdk.aws_{service.lower()}")
        given = {_snake(key): self._property(key, value) for key, value in body.get("Properties", {}).items()}
        made = self._made[name] = getattr(module, f"Cfn{kind}")(self._stack, name, **given)
        for other in _waits_for(body):
            made.add_dependency(self._made[other])
        if body.get("DeletionPolicy") == "RetainExceptOnCreate":
            made.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)

    def _property(self, key: str, value: object) -> object:
        return self._value(value, words=key not in _AS_IT_IS)

    def _value(self, value: object, *, words: bool = True) -> object:
        """A value with references to what was made; keys as the CDK calls them, unless it does not look at them."""
        if isinstance(value, list):
            return [self._value(item, words=words) for item in value]
        if not isinstance(value, dict):
            return value
        function, argument = next(iter(value.items()), ("", None))
        if len(value) == 1 and (function == "Ref" or function.startswith("Fn::")):
            return self._called(function, argument)
        if words:
            return {key[0].lower() + key[1:]: self._property(key, item) for key, item in value.items()}
        return {key: self._value(item, words=False) for key, item in value.items()}

    def _called(self, function: str, argument: Any) -> object:  # noqa: ANN401  # whatever the function takes
        if function == "Ref":
            return getattr(cdk.Aws, _PSEUDO[argument]) if argument in _PSEUDO else self._made[argument].ref
        if function == "Fn::GetAtt":
            return getattr(self._made[argument[0]], f"attr_{_snake(argument[1])}")
        if function == "Fn::ImportValue":
            return self._exported[argument]
        return getattr(cdk.Fn, function.removeprefix("Fn::").lower())(*map(self._value, argument))


def _snake(name: str) -> str:
    return _WORD.sub("_", name).lower()


def _waits_for(body: Mapping[str, Any]) -> list[str]:
    found: str | list[str] = body.get("DependsOn", [])
    return [found] if isinstance(found, str) else found


def _named(body: object) -> set[str]:
    """Logical ids that a value refers to, and names of parameters that nobody declares."""
    if isinstance(body, list):
        return {name for item in body for name in _named(item)}
    if not isinstance(body, dict):
        return set()
    own = {body["Ref"]} if isinstance(body.get("Ref"), str) else set()
    own |= {body["Fn::GetAtt"][0]} if "Fn::GetAtt" in body else set()
    return own.union(*(_named(item) for item in body.values()))


def build(outdir: Path) -> cdk.App:
    """An app whose stacks hold every resource and output of the finished templates."""
    app = cdk.App()
    manifest = json.loads((outdir / "manifest.json").read_text())
    exported: dict[str, object] = {}
    stacks = [each for each in manifest["artifacts"].items() if each[1]["type"] == "aws:cloudformation:stack"]
    for name, artifact in sorted(stacks, key=lambda each: not each[0].endswith("-Foundation")):
        template = json.loads((outdir / artifact["properties"]["templateFile"]).read_text())
        account, _, region = artifact["environment"].removeprefix("aws://").partition("/")
        stack = cdk.Stack(app, name, env=cdk.Environment(account=account, region=region))
        Writer(stack, exported).write(template)
    return app


if __name__ == "__main__":
    build(Path(sys.argv[1])).synth()
