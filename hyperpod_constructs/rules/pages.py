"""The page of a rule: what `hyperpod rules ID` prints, and docs/rules holds, so that both say the same."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.rules import Rule, examples
from hyperpod_constructs.rules.examples import Example

WIDTH: Final = 120
"""Columns of a page in a file."""

_PRINTED: Final = "It is printed at synth and by `hyperpod check`, and stops neither."
MEANING: Final = {
    Severity.FATAL: "stops every synth and every check, whatever is acknowledged.",
    Severity.ERROR: "certain to fail at deploy or to lose data. A constructor of ours that sees it raises "
    "`hp.InvalidCluster`, the check at synth refuses the app, and `hyperpod check` ends with exit code 1.",
    Severity.WARNING: f"likely trouble, or a fact that sources disagree on. {_PRINTED}",
    Severity.INFO: f"worth knowing; nothing is wrong. {_PRINTED}",
}
"""What a severity means for a deploy."""

_REASON: Final = "why it is acceptable here"
_NEVER: Final = "It cannot be acknowledged: `acknowledge` and `hp.acknowledge` refuse the id."
_IN_NO_APP: Final = frozenset({"HP0103"})
_NO_APP: Final = "There is nothing to acknowledge it in: no app wrote this file. Move it to another folder instead."
_OF_THE_ACCOUNT: Final = "HP9"
"""What the ids of preflight's rules begin with."""
_BY_PREFLIGHT: Final = "It is printed by `hyperpod preflight`, which does not stop at it."
_MEANING_OF_THE_ACCOUNT: Final = {
    Severity.FATAL: "`hyperpod preflight` ends with exit code 1, whatever else it found.",
    Severity.ERROR: "certain to fail at deploy as the account is now. `hyperpod preflight` ends with exit code 1.",
    Severity.WARNING: f"likely trouble, or something that was not checked. {_BY_PREFLIGHT}",
    Severity.INFO: f"worth knowing; nothing is wrong. {_BY_PREFLIGHT}",
}
_NEEDS_AN_ACCOUNT: Final = (
    "no template draws it, as it takes an account, which `hyperpod preflight PATH --region REGION` reads and never "
    "changes."
)
_OF_CHARTS: Final = "HP23"
"""What the ids of rules begin with that are about a chart once Helm has rendered it."""
_BY_CHART_IMAGES: Final = "It is printed by `hyperpod chart images`, which does not stop at it."
_MEANING_OF_CHARTS: Final = {
    Severity.FATAL: "`hyperpod chart images` ends with exit code 1, whatever else it found.",
    Severity.ERROR: "certain to fail once the chart is installed. `hyperpod chart images` ends with exit code 1.",
    Severity.WARNING: f"likely trouble. {_BY_CHART_IMAGES}",
    Severity.INFO: f"worth knowing; nothing is wrong. {_BY_CHART_IMAGES}",
}
_IN_NO_TEMPLATE: Final = (
    "There is nothing to acknowledge it in: no template holds the images of a chart, which are known once Helm has "
    "rendered it."
)
_IN_NO_CODE: Final = (
    "It cannot be acknowledged: it is about the account and not about the app. `hyperpod preflight` says it until the "
    "account is as it must be."
)
_WHAT_IT_DOES: Final = (
    "The first covers all that the construct makes, and is the only way past an error that a constructor of ours "
    "raises. The second covers everything below a construct, resources and overrides of your own too. Synth then no "
    "longer prints the finding nor stops at it; `hyperpod check cdk.out` lists it with its reason under `acknowledged "
    "by the app` and does not count it for the exit code. A template that is checked without the app that wrote it "
    "has no acknowledgements."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """All that there is to say about a rule.

    Attributes:
        rule: The rule as it is registered.
        example: What draws it, and the same mended; `None` where nothing can show it.
        said: What the rule says of the part that draws it.
    """

    rule: Rule
    example: Example | None
    said: tuple[Finding, ...]

    @property
    def not_shown(self) -> str | None:
        """Why there is no example."""
        if is_of_the_account(self.rule):
            return _NEEDS_AN_ACCOUNT
        return None if self.example else examples.NOT_SHOWN.get(self.rule.id, "it has none yet.")

    @property
    def acknowledgement(self) -> tuple[str, str]:
        """Code that acknowledges the rule, empty where nothing can; and what it does."""
        if is_of_the_account(self.rule):
            return "", _IN_NO_CODE
        if is_of_a_chart(self.rule):
            return "", _IN_NO_TEMPLATE
        if self.rule.severity is Severity.FATAL:
            return "", _NEVER
        if self.rule.id in _IN_NO_APP:
            return "", _NO_APP
        return (
            f'hp.SlurmTraining(..., acknowledge={{"{self.rule.id}": "{_REASON}"}})  # hp.Cluster and others too\n'
            f'hp.acknowledge(construct, "{self.rule.id}", "{_REASON}")\n'
        ), _WHAT_IT_DOES


def is_of_the_account(rule: Rule) -> bool:
    """Whether only preflight, which reads an account, can draw the rule."""
    return rule.id.startswith(_OF_THE_ACCOUNT)


def is_of_a_chart(rule: Rule) -> bool:
    """Whether only `hyperpod chart images`, which runs Helm, can draw the rule."""
    return rule.id.startswith(_OF_CHARTS)


def meaning(rule: Rule) -> str:
    """What the severity of a rule means for a deploy."""
    if is_of_a_chart(rule):
        return _MEANING_OF_CHARTS[rule.severity]
    return (_MEANING_OF_THE_ACCOUNT if is_of_the_account(rule) else MEANING)[rule.severity]


def page(rule: Rule) -> Page:
    """The page of a rule; what the rule says of its example is found by running the rules."""
    example = examples.read(rule.id)
    found = example.findings(example.fails) if example else []
    return Page(rule=rule, example=example, said=tuple(finding for finding in found if finding.rule == rule.id))


def as_data(shown: Page) -> dict[str, object]:
    """A page as JSON shows it."""
    rule, example = shown.rule, shown.example
    code, effect = shown.acknowledgement
    return {
        "id": rule.id,
        "severity": rule.severity.value,
        "title": rule.title,
        "means": meaning(rule),
        "because": rule.because,
        "source": rule.source,
        "example": None
        if example is None
        else {
            "language": example.language,
            "region": example.region,
            "fails": example.fails,
            "findings": [{"path": each.path, "message": each.message, "fix": each.fix} for each in shown.said],
            "passes": example.passes,
        },
        "not_shown": shown.not_shown,
        "acknowledge": {"code": code, "effect": effect},
    }


def markdown(shown: Page, columns: int = WIDTH) -> str:
    """A page as Markdown that also reads well in a terminal.

    Args:
        shown: The page.
        columns: Most columns of a line, examples apart.
    """
    rule = shown.rule
    code, effect = shown.acknowledgement
    parts = [
        f"# {rule.id}: {rule.title}",
        _filled(f"**{rule.severity.value}**: {meaning(rule)}", columns),
        _filled(f"**Because:** {rule.because}.", columns),
        _filled(f"**Source:** {rule.source}.", columns),
        *(_example(shown, shown.example, columns) if shown.example else _no_example(shown, columns)),
        "## How to acknowledge it",
        *([_fenced("python", code)] if code else []),
        _filled(effect, columns),
    ]
    return "\n\n".join(parts) + "\n"


def _example(shown: Page, example: Example, columns: int) -> list[str]:
    said = "\n".join(_printed(finding, columns) for finding in shown.said) + "\n"
    if example.language == "yaml":
        region = f" --region {example.region}" if example.region else ""
        said = f"$ hyperpod check {example.file}{region}\n{said}"
    return [
        "## An example",
        _fenced(example.language, example.fails),
        _fenced("console" if example.language == "yaml" else "text", said),
        "## Mended",
        _fenced(example.language, example.passes),
    ]


def _no_example(shown: Page, columns: int) -> list[str]:
    return [_filled(f"There is no example: {shown.not_shown}", columns)]


def _printed(finding: Finding, columns: int) -> str:
    """A finding as `hyperpod check` lays it out, without the place in the file."""
    margin = " " * 16
    head = f"{finding.rule:<6} {finding.severity.value:<8} "
    lines = _wrapped(f"{finding.path}: {finding.message}", columns, head, margin)
    return "\n".join([*lines, *_wrapped(f"fix: {finding.fix}", columns, margin, margin)])


def _wrapped(text: str, columns: int, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        text,
        columns,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _filled(text: str, columns: int) -> str:
    return "\n".join(_wrapped(text, columns, "", ""))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```"
