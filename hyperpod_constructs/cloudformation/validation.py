"""Reads the CDK's validation report, which says whether an assembly passed its own app's checks.

A refused synth leaves templates and manifest that look whole, so whoever reads an assembly must look here first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_constructs.cloudformation.manifest import read_json
from hyperpod_constructs.errors import UnreadableTemplate

REPORT = "validation-report.json"
_REFUSING = frozenset({"error", "fatal"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One finding of one plugin.

    Attributes:
        rule: As the plugin names it, without the plugin's prefix.
        description: What is wrong.
        severity: `fatal`, `error`, `warning`, `info` or the plugin's own word; `None` where the report has none.
        paths: Construct paths, where the report has them.
        acknowledged_id: The id that was acknowledged, with prefix; `None` for violations that stand.
        acknowledged_at: Construct path of the acknowledgement; empty for the App.
        reason: Why it was acknowledged.
    """

    rule: str
    description: str
    severity: str | None
    paths: tuple[str, ...]
    acknowledged_id: str | None = None
    acknowledged_at: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginReport:
    """What one validation plugin found.

    Attributes:
        plugin: Its name.
        version: Its version, where it gave one.
        conclusion: `success` or `failure`.
        violations: What stands.
        suppressed: What was acknowledged.
        error: Why the plugin itself crashed, where it did.
    """

    plugin: str
    version: str | None
    conclusion: str
    violations: tuple[Violation, ...]
    suppressed: tuple[Violation, ...]
    error: str | None = None

    @property
    def failed(self) -> bool:
        """Anything but a clean success: the CDK writes `failure` with no violations when a plugin crashed."""
        return self.conclusion != "success" or any(v.severity in _REFUSING for v in self.violations)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """All plugins that had something to say; the CDK leaves out the others.

    Attributes:
        plugins: In the order of the report.
    """

    plugins: tuple[PluginReport, ...]

    @property
    def failed(self) -> bool:
        """Whether the app refused this assembly."""
        return any(plugin.failed for plugin in self.plugins)


def read_report(folder: Path) -> ValidationReport | None:
    """The report of an assembly, `None` where there is none.

    Raises:
        UnreadableTemplate: There is one that cannot be read, so nobody knows whether the assembly was refused.
    """
    path = folder / REPORT
    if not path.exists():
        return None
    try:
        return ValidationReport(plugins=tuple(_plugin(found) for found in read_json(path)["pluginReports"]))
    except (KeyError, TypeError, AttributeError):
        raise UnreadableTemplate(f"{path}: is no validation report of the CDK") from None


def _plugin(found: dict[str, Any]) -> PluginReport:
    return PluginReport(
        plugin=found["pluginName"],
        version=found.get("pluginVersion"),
        conclusion=found["conclusion"],
        violations=tuple(_violation(violation) for violation in found["violations"]),
        suppressed=tuple(_violation(violation) for violation in found.get("suppressedViolations") or ()),
        error=(found.get("metadata") or {}).get("error"),
    )


def _violation(found: dict[str, Any]) -> Violation:
    return Violation(
        rule=found["ruleName"],
        description=found.get("description", ""),
        severity=found.get("customSeverity") or found.get("severity"),
        paths=tuple(construct.get("constructPath", "") for construct in found.get("violatingConstructs") or ()),
        acknowledged_id=found.get("acknowledgedId"),
        acknowledged_at=found.get("acknowledgedAt", ""),
        reason=found.get("reason", ""),
    )
