"""Finds resources whose type does not exist: to the rest of the reader they are of no interest and go unjudged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Stack
from hyperpod_constructs.model.deployment import Invalid, Location

_DISTINCT: Final = (
    # No other type of AWS is as near to one of these as `_SLIP`.
    "AWS::Budgets::Budget",
    "AWS::EC2::InternetGateway",
    "AWS::EC2::NatGateway",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPCEndpoint",
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::FSx::FileSystem",
    "AWS::SageMaker::Cluster",
    "AWS::SageMaker::ClusterSchedulerConfig",
    "AWS::SageMaker::ComputeQuota",
)
_READ: Final = (
    *_DISTINCT,
    "AWS::APS::Workspace",
    "AWS::Budgets::BudgetsAction",
    "AWS::CE::AnomalyMonitor",
    "AWS::CE::AnomalySubscription",
    "AWS::CloudFormation::Stack",
    "AWS::EC2::EIP",
    "AWS::EC2::Route",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCCidrBlock",
    "AWS::EC2::VPCGatewayAttachment",
    "AWS::EKS::Addon",
    "AWS::EKS::Cluster",
    "AWS::Grafana::Workspace",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::IAM::RolePolicy",
    "AWS::KMS::Key",
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
    "AWS::SecretsManager::Secret",
)
_BY_LOWER: Final = {known.lower(): known for known in _READ}
_SLIP: Final = 2
"""Letters that may be added, missing or wrong in a type for it to be a slip of the hand."""
_WHOLE_NAME: Final = 6
"""Letters of a service's name from which a slip in it cannot lead to another service: `FSx` is near to `EFS`."""


def misnamed(assembly: Assembly) -> Iterator[Invalid]:
    """Every resource of a type that is certainly a slip, or of none."""
    for stack in assembly.stacks:
        for key in stack.without_type:
            yield _invalid(stack, key, (), "has no Type", "give it a Type, such as AWS::SageMaker::Cluster")
        for resource in stack.resources():
            if meant := _meant(resource.type):
                message = f"Type {resource.type} does not exist: nothing of this resource was checked"
                yield _invalid(stack, resource.logical_id, ("Type",), message, f"use {meant}")


def may_be_a_cluster(kind: str) -> bool:
    """Whether a type that we do not read has the name of what we check; it may be new."""
    return kind.startswith("AWS::") and "hyperpod" in kind.lower()


def _invalid(stack: Stack, key: str, steps: tuple[str, ...], message: str, fix: str) -> Invalid:
    location = Location(str(stack.file), stack.document.line(("Resources", key, *steps)))
    return Invalid(stack.path_of(key).removesuffix("/Resource"), message, fix, location)


def _meant(kind: str) -> str | None:
    """The type that a slip was meant to be; `None` for a type that may exist."""
    if kind in _READ:
        return None
    lower = kind.lower()
    if lower in _BY_LOWER:
        return _BY_LOWER[lower]
    return next((known for known in _DISTINCT if _is_slip(lower, known.lower())), None)


def _is_slip(kind: str, known: str) -> bool:
    parts, known_parts = kind.split("::"), known.split("::")
    if len(parts) != len(known_parts):
        return False
    service = known_parts[1]
    if parts[1] != service and len(service) < _WHOLE_NAME:
        return False
    return sum(_distance(part, other) for part, other in zip(parts, known_parts, strict=True)) <= _SLIP


def _distance(first: str, second: str) -> int:
    """Number of letters to add, take out or replace to make one word of another (Levenshtein)."""
    if abs(len(first) - len(second)) > _SLIP:
        return _SLIP + 1
    row: list[int] = list(range(len(second) + 1))
    for number, letter in enumerate(first, 1):
        before, row[0] = row[0], number
        for place, other in enumerate(second, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (letter != other))
    return row[-1]
