"""Decodes resources that a test writes down as CloudFormation would have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hyperpod_constructs.model import template
from hyperpod_constructs.model.deployment import Deployment

DeploymentOf: TypeAlias = Callable[..., Deployment]


def refused(read: Deployment) -> list[str]:
    """`message; fix` of everything that can never be right."""
    return [f"{invalid.message}; {invalid.fix}" for invalid in read.invalid]


@pytest.fixture
def deployment_of(tmp_path: Path) -> DeploymentOf:
    """Decodes resources by logical id; further sections of the template are keywords. Paths begin with `app.json/`."""

    def decode(resources: dict[str, Any], **sections: Any) -> Deployment:
        file = tmp_path / "app.json"
        file.write_text(json.dumps({"Resources": resources, **sections}))
        return template.read(file)

    return decode
