from pathlib import Path

import pytest

from hyperpod_constructs.cloudformation.assembly import read
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Reference
from hyperpod_constructs.tokens import UNKNOWN

TEMPLATE = """\
Parameters:
  Which: {Type: String}
Conditions:
  Open: !Equals [!Ref Which, x]
  Never: !Equals [a, b]
Resources:
  Vpc:
    Type: AWS::EC2::VPC
    DeletionPolicy: Retain
    UpdateReplacePolicy: RetainExceptOnCreate
    DependsOn: [Perhaps, 5]
    Metadata: {"aws:cdk:path": Net/Vpc/Resource, "x": !Ref Perhaps}
    Properties:
      Tags:
        - {Key: a}
        - {Key: b}
  Perhaps: {Type: T, Condition: Open, DependsOn: Vpc, Properties: {Fn::Transform: {Name: M}}}
  Odd: {Type: T, Condition: Unheard, DependsOn: 5, Properties: [1]}
  Gone: {Type: T, Condition: Never}
  Fn::ForEach::Loop: [X, [a], {}]
  NoType: {Properties: {}}
  NoMapping: x
Outputs:
  Vpc: {Value: !Ref Vpc}
  Gone: {Value: x, Condition: Never}
"""


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    (file := tmp_path / "t.yaml").write_text(TEMPLATE)
    return read(file).stacks[0]


def resource(stack: Stack, logical_id: str) -> Resource:
    found = stack.resource(logical_id)
    assert found is not None
    return found


def test_a_resource_with_all_its_attributes(stack: Stack) -> None:
    vpc = resource(stack, "Vpc")
    assert vpc.type == "AWS::EC2::VPC"
    assert vpc.properties == {"Tags": [{"Key": "a"}, {"Key": "b"}]}
    assert vpc.metadata == {"aws:cdk:path": "Net/Vpc/Resource", "x": Reference(stack="t.yaml", logical_id="Perhaps")}
    assert (vpc.deletion_policy, vpc.update_replace_policy) == ("Retain", "RetainExceptOnCreate")
    assert vpc.depends_on == ("Perhaps",)
    assert vpc.path == "Net/Vpc"
    assert not vpc.conditional


def test_lines(stack: Stack) -> None:
    vpc = resource(stack, "Vpc")
    assert vpc.line == 7
    assert vpc.line_of("Properties", "Tags", 1, "Key") == 16
    assert vpc.line_of("Properties", "Missing") == 13


def test_an_undecided_condition_keeps_the_resource_and_marks_it(stack: Stack) -> None:
    assert [(found.logical_id, found.conditional) for found in stack.resources()] == [
        ("Vpc", False),
        ("Perhaps", True),
        ("Odd", True),
    ]


def test_a_single_dependency_is_text(stack: Stack) -> None:
    assert resource(stack, "Perhaps").depends_on == ("Vpc",)
    assert resource(stack, "Odd").depends_on == ()


def test_properties_that_a_macro_may_change_are_unknown(stack: Stack) -> None:
    assert resource(stack, "Perhaps").properties is UNKNOWN
    assert resource(stack, "Odd").properties is UNKNOWN


def test_what_is_false_is_dropped(stack: Stack) -> None:
    assert stack.resource("Gone") is None


def test_what_is_no_resource_is_listed(stack: Stack) -> None:
    assert stack.unread == ("Fn::ForEach::Loop", "NoMapping")
    assert stack.without_type == ("NoType",)


def test_resources_of_a_stack_nested_under_an_open_condition_are_conditional(tmp_path: Path) -> None:
    nested = "  N: {Type: 'AWS::CloudFormation::Stack', Condition: Open, Properties: {TemplateURL: ./inner.yaml}}\n"
    (tmp_path / "outer.yaml").write_text(TEMPLATE.replace("Resources:\n", f"Resources:\n{nested}"))
    (tmp_path / "inner.yaml").write_text("Resources: {I: {Type: T}}")
    inner = read(tmp_path).stacks[1]
    assert inner.present is UNKNOWN
    assert resource(inner, "I").conditional
