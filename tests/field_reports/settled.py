"""What the tests of field reports share: where a report is settled, and `check` on a template given as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.findings import Finding
from hyperpod_constructs.model import template

Test = TypeVar("Test", bound=Callable[..., Any])
Where = Literal["synth", "template", "preflight", "docs"]


def settled(where: Where) -> Callable[[Test], Test]:
    """Marks a report's test with what settles it; README counts these.

    Args:
        where: `synth` where a finding or an exception stops or warns, `template` where our constructs write what is
            right, `preflight` where only the account can tell, `docs` where nothing but words helps.
    """
    return pytest.mark.settled(where)


def checked(text: str, region: str | None = None, file: str = "template.yaml") -> list[Finding]:
    """What `hyperpod check` finds in a template given as text.

    Args:
        text: The template or the create-cluster request.
        region: Region of the stack.
        file: Name of the file, whose ending tells what it is.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, file)
        path.write_text(text)
        return rules.check(template.read(path, region=region))


def ids(findings: list[Finding]) -> list[str]:
    """The rules of some findings, in order, each once."""
    return sorted({finding.rule for finding in findings})
