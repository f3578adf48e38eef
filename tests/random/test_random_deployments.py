"""Whole deployments, valid and invalid, through the CDK: each is refused by name, or its templates are right."""

from __future__ import annotations

import os
import subprocess
import sys

from hypothesis import assume, event, given, settings

from tests.random.deployments import of_blueprints, of_constructs, programs
from tests.random.kubernetes import on_eks
from tests.random.properties import everything_holds
from tests.random.recipes import Program, shuffled
from tests.random.running import ROOT, run


class TestEveryDeployment:
    """Three tests, so that processes can share the work: a quarter of a second for each of 360 examples."""

    @given(of_blueprints())
    @settings(max_examples=150)
    def test_of_the_blueprint_is_refused_by_name_or_sound(self, program: Program) -> None:
        event(type(everything_holds(program).refused).__name__)

    @given(of_constructs())
    @settings(max_examples=150)
    def test_of_constructs_is_refused_by_name_or_sound(self, program: Program) -> None:
        event(type(everything_holds(program).refused).__name__)

    @given(on_eks())
    @settings(max_examples=40)
    def test_on_eks_is_refused_by_name_or_sound(self, program: Program) -> None:
        event(type(everything_holds(program).refused).__name__)


class TestOrder:
    @given(programs(careful=True) | on_eks(careful=True))
    @settings(max_examples=35)
    def test_of_groups_and_arguments_changes_no_byte(self, program: Program) -> None:
        first, second = run(program, check=False), run(shuffled(program), check=False)
        assert str(first.refused) == str(second.refused)
        assume(first.refused is None)
        assert first.templates == second.templates

    def test_of_sets_and_hashes_changes_no_byte(self) -> None:
        """Two processes with different hash seeds draw, make and print the same deployments."""
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.random.digests", "20"],
                cwd=ROOT,
                env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for seed in ("1", "2")
        ]
        first, second = (process.communicate()[0].splitlines() for process in started)
        assert len(first) == 20
        assert first == second
