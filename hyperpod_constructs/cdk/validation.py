"""Runs the rules: in constructors before anything is made, and at synth on every template of the app.

The synth-time channel is one policy-validation plugin on the root. It fails closed: under the CDK CLI an exception in a
plugin lets synth and deploy pass, and so does a violation that names nothing in a stack. Whatever goes wrong is
therefore reported as a fatal finding on a stack. Neither `--no-validation` nor `CDK_VALIDATION=false` stops it.
"""

from __future__ import annotations

import traceback
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, cast
from weakref import WeakKeyDictionary

import aws_cdk as cdk
import jsii
from constructs import Construct, IConstruct

from hyperpod_constructs import rules
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.errors import InvalidCluster, InvalidValue, UnreadableTemplate
from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.model import template
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.tokens import without_tokens
from hyperpod_constructs.version import VERSION

PLUGIN: Final = "HyperPod"
"""Name of the plugin: rule `HP3001` is acknowledged as `HyperPod::HP3001`."""
_MARKER = "HyperPodValidation"
_ENGINE: Final = "CloudFormation-Validate"
_TYPE_LIST: Final = f"{_ENGINE}::E3644"
_SAID_AGAIN: Final[Mapping[str, tuple[str, ...]]] = {"HP1010": (_TYPE_LIST, f"{PLUGIN}::HP1011")}
"""What else is said, at synth, of what a rule finds: whoever accepts the finding accepts that."""
_accepted: Final[WeakKeyDictionary[object, set[str]]] = WeakKeyDictionary()
"""Rules by the construct on which they were acknowledged."""


def refuse_errors(
    deployment: Deployment,
    acknowledged: Mapping[str, str] | None,
    elsewhere: Mapping[str, Collection[str]] | None = None,
) -> None:
    """Raises `InvalidCluster` with every error of a deployment, save those that are acknowledged with a reason.

    Args:
        deployment: What is about to be made; tokens count as not known.
        acknowledged: Reasons by rule id. Fatal findings cannot be acknowledged.
        elsewhere: Rules, by path, that were acknowledged on what exists already.
    """
    for file_system in deployment.file_systems:
        check_fields(f"file system {file_system.path}: ", file_system)
    accepted = _reasons(acknowledged)
    errors = [
        finding
        for finding in _check(deployment)
        if finding.severity is Severity.FATAL
        or (finding.severity is Severity.ERROR and finding.rule not in accepted and not _covered(finding, elsewhere))
    ]
    if errors:
        raise InvalidCluster(errors)


def _covered(finding: Finding, elsewhere: Mapping[str, Collection[str]] | None) -> bool:
    """Whether a finding is on something, or in something, on which its rule was acknowledged."""
    return any(
        finding.rule in found and f"{finding.path}/".startswith(f"{path}/") for path, found in (elsewhere or {}).items()
    )


def accepted_on(construct: object) -> Collection[str]:
    """Rules that were acknowledged on a construct itself; none for what is no construct."""
    return _accepted.get(construct, ()) if isinstance(construct, Construct) else ()


def warn_of_what_no_template_says(scope: IConstruct, seen: Deployment, in_template: Deployment) -> None:
    """Adds the warnings that only a constructor can give, because what they are about stands in no template.

    Args:
        scope: The construct.
        seen: All that the construct knows.
        in_template: The part of it that the check at synth will find again.
    """
    again = {(finding.rule, finding.path, finding.message) for finding in _check(in_template)}
    for finding in _check(seen):
        if finding.severity is Severity.WARNING and (finding.rule, finding.path, finding.message) not in again:
            text = f"{finding.path}: {finding.message}. Fix: {finding.fix}"
            cdk.Validations.of(scope).add_warning(finding.rule, text)


def as_rules_see_it(deployment: Deployment) -> Deployment:
    """The deployment with `UNKNOWN` in place of what is decided at deploy."""
    seen = without_tokens(deployment)
    if not isinstance(seen, Deployment):
        raise TypeError(f"expected a Deployment, got {type(seen).__name__}")
    return seen


def _check(deployment: Deployment) -> list[Finding]:
    return rules.check(as_rules_see_it(deployment))


@checked
def acknowledge(scope: IConstruct, rule: str, reason: str) -> None:
    """Accepts the findings of a rule below a construct, in code, where a reviewer sees it.

    Args:
        scope: The construct; everything in it is covered, and nothing else: what is found on a security group that is
            not in the cluster is acknowledged on the security group.
        rule: Id such as `HP3009`.
        reason: Why it is acceptable here.

    Raises:
        InvalidValue: if there is no such rule, it cannot be acknowledged, or the reason is empty.
    """
    record(scope, {rule: reason})


def record(scope: IConstruct, acknowledged: Mapping[str, str] | None) -> None:
    """Tells the CDK's report about acknowledgements, so that constructor and report agree.

    What only a constructor can say comes as an annotation, which the CDK knows by another id.
    """
    given = [
        cdk.Acknowledgment(id=each, reason=reason)
        for rule, reason in sorted(_reasons(acknowledged).items())
        for each in (f"{PLUGIN}::{rule}", f"Annotation::{rule}", *_SAID_AGAIN.get(rule, ()))
    ]
    if given:
        cdk.Validations.of(scope).acknowledge(*given)
        _accepted.setdefault(scope, set()).update(acknowledged or ())


def _reasons(acknowledged: Mapping[str, str] | None) -> Mapping[str, str]:
    for rule, reason in (acknowledged or {}).items():
        if rule not in rules.RULES:
            raise InvalidValue(f"there is no rule {rule!r} to acknowledge; `hyperpod rules` lists them")
        if rules.RULES[rule].severity is Severity.FATAL:
            raise InvalidValue(f"{rule} cannot be acknowledged: {rules.RULES[rule].because}")
        if not reason.strip():
            raise InvalidValue(f"acknowledging {rule} needs a reason")
    return acknowledged or {}


def acknowledge_type_list(resource: cdk.CfnResource) -> None:
    """Accepts the CDK engine's rule on instance types by Region, for types that we know or the user describes.

    Its list comes from general price data and refuses, among others, ml.p5e.48xlarge in every Region. Our own rule on
    unknown types still reads the template, so a nonsense type set by an override is found.
    """
    cdk.Validations.of(resource).acknowledge(
        cdk.Acknowledgment(
            id=_TYPE_LIST,
            reason="The engine's list of types by Region is derived from prices and lacks types that HyperPod offers; "
            "hyperpod_constructs checks types against the service's own enum (HP1 rules).",
        )
    )


def acknowledge_default_image(resource: cdk.CfnResource) -> None:
    """Accepts the CDK engine's rule on AMI ids, where the word `default` stands for one.

    Our own rule on images knows that word, and still reads the template.
    """
    cdk.Validations.of(resource).acknowledge(
        cdk.Acknowledgment(
            id=f"{_ENGINE}::E1152",
            reason="The engine does not know that ImageId may be 'default' (SageMaker API, ImageId); "
            "hyperpod_constructs checks images itself (HP1015).",
        )
    )


def register(scope: Construct) -> None:
    """Makes sure that the rules run once on every template of the app, at synth.

    A child of the root marks that it was done: an implicit App is a new Python object at every read of `node.root`, and
    the CDK does not notice that a plugin is registered twice.
    """
    root = cast("Construct", scope.node.root)
    if root.node.try_find_child(_MARKER) is not None:
        return
    Construct(root, _MARKER)
    cdk.Validations.of(root).add_plugins(ModelValidation())


@jsii.implements(cdk.IPolicyValidationPlugin)
class ModelValidation:
    """The rules as a plugin of the CDK's validation."""

    @property
    def name(self) -> str:
        """Prefix of rule ids in acknowledgements."""
        return PLUGIN

    @property
    def version(self) -> str:
        """Version of this package."""
        return VERSION

    @property
    def rule_ids(self) -> list[str]:
        """Every rule."""
        return [rules.NOT_CHECKED, *rules.RULES]

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Checks every template of the app, those of Stages and nested stacks included."""
        try:
            violations = _violations(_outdir(context.template_paths))
        except Exception as error:  # noqa: BLE001  # an exception here would let synth and deploy pass
            violations = [_did_not_run(context, error)]
        return cdk.PolicyValidationPluginReport(
            success=not any(violation.severity in _STOPPING for violation in violations), violations=violations
        )


def _some_stack(context: cdk.IPolicyValidationContext) -> str:
    """Path of a stack, without which the CLI prints nothing; whatever goes wrong here must not hide what went wrong."""
    try:
        return context.stack_templates[0].stack_construct_path
    except Exception:  # noqa: BLE001  # see above
        return Path(context.template_paths[0]).name.removesuffix(".template.json")


_STOPPING = {Severity.FATAL.value, Severity.ERROR.value}


def _outdir(template_paths: Sequence[str]) -> Path:
    """The assembly that the templates belong to: the outermost folder with a manifest."""
    folders = [folder for folder in Path(template_paths[0]).resolve().parents if (folder / "manifest.json").is_file()]
    if not folders:
        raise UnreadableTemplate(f"no manifest.json above {template_paths[0]}")
    return folders[-1]


def _violations(outdir: Path) -> list[cdk.PolicyViolation]:
    read = assembly.read(outdir)
    resources = {resource.path: resource for resource in read.resources()}
    found = rules.check(template.decode(read))
    return [_violation(finding, _where(finding.path, resources, read.stacks)) for finding in found]


def _where(path: str, resources: Mapping[str, Resource], stacks: Sequence[Stack]) -> cdk.PolicyViolatingResource:
    """The resource that a finding is about; a group's path is below that of its cluster.

    A finding about no resource is put on a stack: the CLI prints nothing of what it cannot place.
    """
    nearest = path
    while nearest and nearest not in resources:
        nearest = nearest.rpartition("/")[0]
    if not nearest:
        return cdk.PolicyViolatingResource(locations=[path], construct_path=stacks[0].construct_path)
    resource = resources[nearest]
    return cdk.PolicyViolatingResource(
        locations=[path], template_path=str(resource.stack.file), resource_logical_id=resource.logical_id
    )


def _violation(finding: Finding, where: cdk.PolicyViolatingResource) -> cdk.PolicyViolation:
    return cdk.PolicyViolation(
        rule_name=finding.rule,
        description=f"{finding.path}: {finding.message}",
        fix=finding.fix,
        severity=finding.severity.value,
        rule_metadata={"source": finding.source},
        violating_resources=[where],
    )


def _did_not_run(context: cdk.IPolicyValidationContext, error: Exception) -> cdk.PolicyViolation:
    """The violation that stands for a check that could not run, on the first stack, where the CLI prints it."""
    stack = _some_stack(context)
    finding = rules.not_checked(stack, "the check of this app", f"{type(error).__name__}: {error}")
    return cdk.PolicyViolation(
        rule_name=finding.rule,
        description=finding.message,
        fix=finding.fix,
        severity=finding.severity.value,
        rule_metadata={"traceback": "".join(traceback.format_exception(error))},
        violating_resources=[cdk.PolicyViolatingResource(locations=[stack], construct_path=stack)],
    )
