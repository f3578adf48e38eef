"""What every check returns: one immutable value, whoever asks and whenever."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How certain and how bad."""

    FATAL = "fatal"
    """Guard rails, data loss, checks that did not run: cannot be acknowledged in app code."""
    ERROR = "error"
    """Certain to fail at deploy."""
    WARNING = "warning"
    """Likely trouble, or a fact that our sources disagree on."""
    INFO = "info"
    """Worth knowing; nothing is wrong."""

    @property
    def stops(self) -> bool:
        """Whether a deployment with such a finding is refused."""
        return self in {Severity.FATAL, Severity.ERROR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth telling the user.

    Attributes:
        rule: Stable id of the rule, for example `HP3001`; never reused.
        severity: How certain and how bad.
        path: Where, in the user's terms: construct path, or stack and logical id.
        message: What is wrong, with the value got.
        fix: The change to make, with the values allowed.
        source: Who says so.
        file: The file that holds `path`, where the input was a file.
        line: Line in that file, 1-based, where the input had lines.
    """

    rule: str
    severity: Severity
    path: str
    message: str
    fix: str
    source: str
    file: str | None = None
    line: int | None = None
