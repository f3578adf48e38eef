"""The properties of tests/random on thousands of deployments that are drawn anew each time.

The seed is printed; `RANDOM_SEED=... make proof` draws the same again.
"""

from __future__ import annotations

import os
import secrets
import sys
from typing import Any, Final

import pytest
from hypothesis import given, seed, settings

from hyperpod_constructs import rules
from hyperpod_constructs.model.deployment import Deployment
from tests.random.anything import anything
from tests.random.deployments import programs
from tests.random.kubernetes import on_eks
from tests.random.properties import everything_holds
from tests.random.recipes import Program

SEED: Final = int(os.environ.get("RANDOM_SEED") or secrets.randbelow(2**32))
DEPLOYMENTS, CHUNKS = 5000, 10
DEPLOYMENTS_ON_EKS, CHUNKS_ON_EKS = 1000, 4


@pytest.fixture(autouse=True)
def told(capsys: pytest.CaptureFixture[str]) -> None:
    """Says which seed was drawn, whether or not anything fails."""
    with capsys.disabled():
        sys.stdout.write(f"\nRANDOM_SEED={SEED}\n")


@pytest.mark.proof
class TestRandomDeployments:
    @pytest.mark.parametrize("chunk", range(CHUNKS))
    def test_every_deployment_is_refused_by_name_or_sound(self, chunk: int) -> None:
        """In chunks, so that several processes can share the work and a failure is found early."""

        @seed(SEED + chunk)
        @settings(max_examples=DEPLOYMENTS // CHUNKS, derandomize=False, print_blob=True)
        @given(programs())
        def holds(program: Program) -> None:
            everything_holds(program)

        holds()

    @pytest.mark.parametrize("chunk", range(CHUNKS_ON_EKS))
    def test_every_deployment_on_eks_is_refused_by_name_or_sound(self, chunk: int) -> None:
        @seed(SEED + chunk)
        @settings(max_examples=DEPLOYMENTS_ON_EKS // CHUNKS_ON_EKS, derandomize=False, print_blob=True)
        @given(on_eks())
        def holds(program: Program) -> None:
            everything_holds(program)

        holds()

    def test_rules_have_an_opinion_about_everything_that_the_model_can_hold(self) -> None:
        @seed(SEED)
        @settings(max_examples=20_000, derandomize=False, print_blob=True)
        @given(anything(Deployment))
        def judged(deployment: Any) -> None:
            found = rules.check(deployment)
            assert [finding.message for finding in found if finding.rule == rules.NOT_CHECKED] == []

        judged()
