"""What is said of the parts of the input that nobody can judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model import template
from hyperpod_constructs.model.deployment import Deployment, Location, Unseen
from hyperpod_constructs.model.stacks import StackSize
from hyperpod_constructs.rules import RULES
from tests.field_reports.settled import checked
from tests.rules.builders import told

RULES_OF_KIND = {
    "nested": "HP0101",
    "macro": "HP0102",
    "condition": "HP0102",
    "type": "HP0102",
    "file": "HP0103",
    "folder": "HP0103",
}


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
                "check the expanded template: write to a file what aws cloudformation get-template --template-stage "
                "Processed prints, and check that file"
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


def ids(text: str, rule: str) -> list[str]:
    """What one rule says of a template."""
    return [finding.message for finding in checked(text, region="us-west-2") if finding.rule == rule]


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("AWS::Sagemaker::Cluster", "AWS::SageMaker::Cluster"),
        ("AWS::SageMaker::Clusters", "AWS::SageMaker::Cluster"),
        ("AWS::Fsx::FileSystem", "AWS::FSx::FileSystem"),
        ("AWS::Budget::Budget", "AWS::Budgets::Budget"),
    ],
)
def test_a_slip_in_a_type_is_an_error(wrong: str, meant: str) -> None:
    (finding,) = [each for each in checked(f"Resources: {{A: {{Type: '{wrong}'}}}}") if each.rule == "HP0110"]
    assert (finding.severity, finding.fix) == (Severity.ERROR, f"use {meant}")


@pytest.mark.parametrize("kind", ["AWS::EFS::FileSystem", "AWS::ECS::Cluster", "AWS::SNS::Topic", "My::Own::Cluster"])
def test_a_type_that_is_only_near_is_none(kind: str) -> None:
    assert ids(f"Resources: {{A: {{Type: '{kind}'}}}}", "HP0110") == []


def test_a_resource_without_a_type_is_an_error_where_no_macro_gives_it_one() -> None:
    assert ids("Resources: {A: {Properties: {}}}", "HP0110") == ["has no Type"]
    assert ids("Transform: Mine\nResources: {A: {Properties: {}}}", "HP0110") == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Resources: {A: {Type: 'Team::HyperPod::MODULE'}}", "the module Team::HyperPod::MODULE"),
        ("Resources: {A: {Type: 'AWS::SageMaker::HyperPodCluster'}}", "AWS::SageMaker::HyperPodCluster"),
    ],
)
def test_what_may_hold_a_cluster_is_said_to_be_unchecked(text: str, what: str) -> None:
    (said,) = ids(text, "HP0102")
    assert what in said


NAMED = """\
Parameters: {Given: {Type: String, Default: x}}
Mappings: {Sizes: {us-west-2: {Small: a}}}
Conditions: {Made: !Equals [!Ref Given, x]}
Resources:
  Role: {Type: 'AWS::IAM::Role'}
  It:
    Type: AWS::S3::Bucket
    Condition: Made
    DependsOn: Role
    Properties: {BucketName: VALUE}
"""


@pytest.mark.parametrize(
    "value",
    [
        "!Ref Gone",
        "!Ref AWS::Regoin",
        "!GetAtt Gone.Arn",
        "!GetAtt Role",
        "!GetAtt Role.RoleArn",
        "!GetAttr Role.Arn",
        "!Sub '${Gone}'",
        "!Sub '${Role.RoleArn}'",
        "!Sub '${not-a-name}'",
        "!If [Gone, a, b]",
        "!FindInMap [Gone, a, b]",
        "!FindInMap [Sizes, us-east-1, Small]",
        "!FindInMap [Sizes, !Ref 'AWS::Region', Large]",
    ],
)
def test_a_name_that_the_template_does_not_have_is_an_error(value: str) -> None:
    assert len(ids(NAMED.replace("VALUE", value), "HP0111")) == 1
    assert ids("Transform: Mine\n" + NAMED.replace("VALUE", value), "HP0111") == []


@pytest.mark.parametrize(
    "value",
    [
        "!Ref Given",
        "!Ref AWS::Region",
        "!GetAtt Role.Arn",
        "!Sub '${Given}-${Role.Arn}-${!Gone}-${AWS::Region}'",
        "!Sub ['${Own.Name}', {Own.Name: x}]",
        "!If [Made, a, !Ref 'AWS::NoValue']",
        "!FindInMap [Sizes, !Ref 'AWS::Region', Small]",
        "!FindInMap [Sizes, eu-west-1, Small, {DefaultValue: x}]",
    ],
)
def test_a_name_that_it_has_is_none(value: str) -> None:
    assert ids(NAMED.replace("VALUE", value), "HP0111") == []


@pytest.mark.parametrize(
    ("legal", "broken"),
    [
        ("Condition: Made", "Condition: Gone"),
        ("DependsOn: Role", "DependsOn: [Roll]"),
        ("DependsOn: Role", "DependsOn: It"),
    ],
)
def test_conditions_and_dependencies_have_to_be_there(legal: str, broken: str) -> None:
    assert len(ids(NAMED.replace(legal, broken), "HP0111")) == 1


@pytest.mark.parametrize(
    ("given", "output", "said"),
    [
        ("{Cidr: a}", "Subnet", []),
        ("{}", "Subnet", ["gives no value to the parameter 'Cidr' of net.yaml, which has no default"]),
        ("{Cidr: a, Zone: b}", "Subnet", ["gives a value to the parameter 'Zone', which net.yaml does not have"]),
        ("{Cidr: a}", "Subnets", ["refers to the output 'Subnets' of Net, which net.yaml does not have"]),
    ],
)
def test_what_a_nested_stack_takes_and_gives_is_known(tmp_path: Path, given: str, output: str, said: list[str]) -> None:
    (tmp_path / "net.yaml").write_text(
        "Parameters: {Cidr: {Type: String}}\nResources: {}\nOutputs: {Subnet: {Value: x}}\n"
    )
    (root := tmp_path / "root.yaml").write_text(
        "Resources:\n"
        f"  Net: {{Type: 'AWS::CloudFormation::Stack', Properties: {{TemplateURL: ./net.yaml, Parameters: {given}}}}}\n"
        f"  It: {{Type: 'AWS::S3::Bucket', Properties: {{BucketName: !GetAtt Net.Outputs.{output}}}}}\n"
    )
    for path in (root, tmp_path):  # a path from the template's folder is followed from a lone file, too
        assert [each.message for each in RULES["HP0111"].findings(template.read(path))] == said
