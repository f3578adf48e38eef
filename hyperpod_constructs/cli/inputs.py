"""What every command does first: read PATH, look whether its own app refused it, and judge it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs import rules
from hyperpod_constructs.catalog import regions
from hyperpod_constructs.cli import terminal
from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.validation import REPORT, PluginReport
from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.model import template
from hyperpod_constructs.model.deployment import Deployment, UnseenKind

_MAY_BE_CLUSTERS: Final[frozenset[UnseenKind]] = frozenset({"condition", "macro", "type"})
"""What is said of these in a finding is more than that there is no cluster."""

ACKNOWLEDGED_AS: Final = "HyperPod::"
"""What `hp.acknowledge` puts before a rule id: the name of our validation plugin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """A finding that the author of the app knows of and accepts.

    Attributes:
        finding: What was found.
        reason: Why it is accepted.
    """

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What PATH holds.

    Attributes:
        read: Its stacks.
        deployment: What they deploy.
        refusal: That its own app refused it; `None` where it did not.
    """

    read: Assembly
    deployment: Deployment
    refusal: Finding | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the rules say.

    Attributes:
        findings: What stands; the refusal first.
        acknowledged: What was acknowledged. Fatal findings never are.
    """

    findings: tuple[Finding, ...]
    acknowledged: tuple[Acknowledged, ...]

    @property
    def stops(self) -> bool:
        """Whether a deployment with these findings is refused."""
        return any(finding.severity.stops for finding in self.findings)

    def counts(self) -> dict[Severity, int]:
        """Number of findings by severity, worst first, without zeros."""
        numbers = {severity: sum(f.severity is severity for f in self.findings) for severity in Severity}
        return {severity: number for severity, number in numbers.items() if number}


def read(
    path: str, region: str | None, parameters: Mapping[str, str] | None = None, *, of_clusters: bool = True
) -> Input:
    """Reads PATH, and says on standard error where there is no cluster in it.

    Args:
        path: What the user typed.
        region: Region to assume where PATH does not say one.
        parameters: Values of parameters of its templates.
        of_clusters: Whether the command has nothing to say of anything else.

    Raises:
        UnreadableTemplate: if PATH is nothing that can be read.
    """
    found = assembly.read(path, region, parameters)
    deployment = template.decode(found, region=region)
    if region is not None and region not in regions.names():
        note(f"{region} is no Region that this version knows; what depends on it was judged with less")
    explained = deployment.misnamed or any(each.kind in _MAY_BE_CLUSTERS for each in deployment.unseen)
    if of_clusters and not deployment.clusters and not explained:
        note(f"{found.path}: has no AWS::SageMaker::Cluster, so there is no cluster to check")
    return Input(read=found, deployment=deployment, refusal=_refusal(found))


def note(text: str) -> None:
    """Says something on standard error that is not part of the answer."""
    print(f"hyperpod: note: {terminal.plain(text)}", file=sys.stderr)


def judge(source: Input) -> Judged:
    """Runs every rule and sets apart what was acknowledged."""
    findings = [source.refusal] if source.refusal else []
    acknowledged = []
    for finding in rules.check(source.deployment):
        reason = _reason(source.read, finding)
        if reason is None:
            findings.append(finding)
        else:
            acknowledged.append(Acknowledged(finding=finding, reason=reason))
    return Judged(findings=tuple(findings), acknowledged=tuple(acknowledged))


def refuse(refusal: Finding) -> int:
    """Says that PATH is what a refused synth left behind, and returns the exit code for it."""
    print(
        f"hyperpod: {terminal.plain(refusal.path)}: {terminal.plain(refusal.message)}; {refusal.fix}", file=sys.stderr
    )
    return 1


def _reason(read_from: Assembly, finding: Finding) -> str | None:
    """Why a finding is acknowledged; `None` where it is not or cannot be."""
    if finding.severity is Severity.FATAL:
        return None
    return read_from.acknowledged(finding.path).get(ACKNOWLEDGED_AS + finding.rule)


def _refusal(read_from: Assembly) -> Finding | None:
    """The finding that stands for a synth that failed: the files it leaves look whole."""
    report = read_from.validation_report
    if report is None or not report.failed:
        return None
    said = "; ".join(_said(plugin) for plugin in report.plugins if plugin.failed)
    return Finding(
        rule=rules.NOT_CHECKED,
        severity=Severity.FATAL,
        path=str(read_from.path),
        message=f"the app that wrote this folder was refused by its own checks ({said}): it must not be deployed",
        fix="correct what the checks name, then synthesize again",
        source=REPORT,
        file=str(read_from.path / REPORT),
    )


def _said(plugin: PluginReport) -> str:
    """What made a validation plugin fail, in a few words."""
    ids = sorted({violation.rule for violation in plugin.violations if violation.severity in {"error", "fatal"}})
    said = [", ".join(ids)] if ids else []
    if plugin.error or not plugin.violations:
        said.append(plugin.error or "it did not run to its end")
    return f"{plugin.plugin}: {'; '.join(said)}" if said else plugin.plugin
