"""A template in which tests resolve intrinsics."""

from __future__ import annotations

from hyperpod_constructs.cloudformation.document import parse
from hyperpod_constructs.cloudformation.parameters import Environment
from hyperpod_constructs.cloudformation.scope import Scope
from hyperpod_constructs.cloudformation.values import Reference, Value

TEMPLATE = """
Parameters:
  Name: {Type: String, Default: frontier}
  Count: {Type: Number, Default: "30"}
  Zones: {Type: CommaDelimitedList, Default: "usw2-az1, usw2-az2"}
  Missing: {Type: String}
  MissingList: {Type: CommaDelimitedList}
Mappings:
  Sizes:
    us-west-2: {small: ml.m5.xlarge, many: [a, b]}
Conditions:
  True: !Equals [!Ref Name, frontier]
  False: !Not [!Condition "True"]
  Open: !Equals [!Ref Missing, x]
  Circle: !Not [!Condition Round]
  Round: !Not [!Condition Circle]
  Itself: !Condition Itself
Resources:
  Vpc: {Type: "AWS::EC2::VPC"}
  Gone: {Type: T, Condition: "False"}
  Perhaps: {Type: T, Condition: Open}
  Nested: {Type: "AWS::CloudFormation::Stack"}
"""
VPC = Reference(stack="Net", logical_id="Vpc")
ENVIRONMENT = Environment(name="net", account="111122223333", region="us-west-2")


def scope(environment: Environment = ENVIRONMENT) -> Scope:
    return Scope(parse(TEMPLATE, "t.yaml").body, stack="Net", environment=environment)


def resolve(text: str) -> Value:
    """The value of a YAML text in the template above."""
    return scope().resolve(parse(f"Resources: {{}}\nX: {text}", "x.yaml").body["X"])
