"""What is said of the parts of the input that nobody can judge."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment, Location, Unseen
from hyperpod_constructs.model.stacks import StackSize
from hyperpod_constructs.rules import RULES
from tests.rules.builders import told

RULES_OF_KIND = {"nested": "HP0101", "macro": "HP0102", "file": "HP0103"}


def unseen(kind: Any, what: str | None) -> Deployment:
    """An input of which one part could not be seen."""
    return Deployment(unseen=(Unseen(kind=kind, path="main.yaml/It", what=what, location=Location("main.yaml", 7)),))


@pytest.mark.parametrize(
    ("kind", "what", "said"),
    [
        (
            "nested",
            "vpc.yaml",
            (
                "HP0101 not checked: the template of this nested stack, vpc.yaml, was not found | "
                "put vpc.yaml beside this one and check the folder that holds both"
            ),
        ),
        (
            "nested",
            None,
            (
                "HP0101 not checked: the template of this nested stack was not found | "
                "put the template beside this one and check the folder that holds both"
            ),
        ),
        (
            "macro",
            "Fn::ForEach::More",
            (
                "HP0102 not checked: only CloudFormation can expand Fn::ForEach::More | "
                "check the expanded template: aws cloudformation get-template --template-stage Processed prints it"
            ),
        ),
        (
            "file",
            "is empty",
            (
                "HP0103 not checked: this file is empty | "
                "correct it if it was meant as a template; otherwise keep it in another folder"
            ),
        ),
    ],
)
def test_it_is_named(kind: str, what: str | None, said: str) -> None:
    assert told(RULES_OF_KIND[kind], unseen(kind, what)) == [said]


@pytest.mark.parametrize("kind", RULES_OF_KIND)
def test_one_rule_speaks_of_each_kind_and_only_warns(kind: str) -> None:
    judged = unseen(kind, "x")
    assert {rule for rule in RULES if told(rule, judged)} == {RULES_OF_KIND[kind]}
    assert RULES[RULES_OF_KIND[kind]].severity is Severity.WARNING


@pytest.mark.parametrize("rule", RULES_OF_KIND.values())
def test_no_rule_speaks_where_everything_was_seen(rule: str) -> None:
    assert told(rule, Deployment()) == []


def sized(**counts: int) -> Deployment:
    """A stack with as much of something."""
    return Deployment(stacks=(StackSize(path="main.yaml", file="main.yaml", **counts),))


LIMITS = {
    "resources": 500,
    "parameters": 200,
    "outputs": 200,
    "mappings": 200,
    "template_bytes": 1_000_000,
    "description_bytes": 1_024,
}


@pytest.mark.parametrize(("what", "most"), LIMITS.items())
def test_more_than_cloudformation_takes_is_an_error(what: str, most: int) -> None:
    (line,) = told("HP0108", sized(**{what: most + 1}))
    assert line.startswith(f"HP0108 {most + 1:,} ")
    assert f"; CloudFormation takes {most:,} | " in line
    assert told("HP0109", sized(**{what: most + 1})) == []


@pytest.mark.parametrize(("what", "most"), LIMITS.items())
def test_eighty_percent_of_it_is_a_warning(what: str, most: int) -> None:
    for count in (-(-most * 8 // 10), most):
        assert len(told("HP0109", sized(**{what: count}))) == 1
        assert told("HP0108", sized(**{what: count})) == []
    assert told("HP0109", sized(**{what: most * 8 // 10 - 1})) == []


def test_a_finding_about_a_size_points_at_the_file() -> None:
    (finding,) = RULES["HP0108"].findings(sized(resources=501))
    assert (finding.file, finding.line) == ("main.yaml", None)
