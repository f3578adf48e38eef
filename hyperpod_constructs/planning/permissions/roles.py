"""Roles that a deploy hands on: those it passes to services, and those that services make for themselves.

`iam:PassRole` and `iam:CreateServiceLinkedRole` without a condition let whoever deploys become somebody else, so each
is bound to the service that gets the role.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.cloudformation.stack import Resource
from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.planning.permissions.names import ROLE, Names, mentions
from hyperpod_constructs.tokens import UNKNOWN

OF_S3_LINKS: Final = "s3.data-source.lustre.fsx.amazonaws.com"
"""The service whose service-linked roles read and write the buckets that Lustre is linked to."""

_PASSED_TO: Final = {
    ("AWS::Budgets::BudgetsAction", "ExecutionRoleArn"): "budgets.amazonaws.com",
    ("AWS::EC2::FlowLog", "DeliverLogsPermissionArn"): "vpc-flow-logs.amazonaws.com",
    ("AWS::EKS::Addon", "RoleArn"): "pods.eks.amazonaws.com",
    ("AWS::EKS::Addon", "ServiceAccountRoleArn"): "eks.amazonaws.com",
    ("AWS::EKS::Cluster", "RoleArn"): "eks.amazonaws.com",
    ("AWS::EKS::Nodegroup", "NodeRole"): "eks.amazonaws.com",
    ("AWS::EKS::PodIdentityAssociation", "RoleArn"): "pods.eks.amazonaws.com",
    ("AWS::Events::Rule", "RoleArn"): "events.amazonaws.com",
    ("AWS::Grafana::Workspace", "RoleArn"): "grafana.amazonaws.com",
    ("AWS::Lambda::Function", "Role"): "lambda.amazonaws.com",
    ("AWS::RDS::DBCluster", "MonitoringRoleArn"): "monitoring.rds.amazonaws.com",
    ("AWS::RDS::DBInstance", "MonitoringRoleArn"): "monitoring.rds.amazonaws.com",
    ("AWS::S3::Bucket", "Role"): "s3.amazonaws.com",
    ("AWS::SageMaker::Cluster", "ClusterRole"): "hyperpod.sagemaker.amazonaws.com",
    ("AWS::SageMaker::Cluster", "ExecutionRole"): "sagemaker.amazonaws.com",
    ("AWS::Scheduler::Schedule", "RoleArn"): "scheduler.amazonaws.com",
    ("AWS::StepFunctions::StateMachine", "RoleArn"): "states.amazonaws.com",
}
"""The service that gets a role, by type and property. Services that the role of a template trusts are added.

Source: the trust policy that the page of each property asks for; for pods.eks.amazonaws.com the AWS managed policy
AmazonSageMakerHyperPodObservabilityAdminAccess (moto 5.2.5).
"""
_NO_ROLE: Final = frozenset({"AssumeRolePolicyDocument", "Environment", "KeyPolicy", "Policies", "PolicyDocument"})
"""Properties in which the ARN of a role passes it to nobody."""
_LINKED_TO: Final = {
    "AWS::APS::Scraper": "scraper.aps.amazonaws.com",
    "AWS::EC2::FlowLog": "delivery.logs.amazonaws.com",
    "AWS::EC2::InstanceConnectEndpoint": "ec2-instance-connect.amazonaws.com",
    "AWS::EKS::Cluster": "eks.amazonaws.com",
    "AWS::EKS::FargateProfile": "eks-fargate.amazonaws.com",
    "AWS::EKS::Nodegroup": "eks-nodegroup.amazonaws.com",
    "AWS::FSx::DataRepositoryAssociation": "s3.data-source.lustre.fsx.amazonaws.com",
    "AWS::FSx::FileSystem": "fsx.amazonaws.com",
    "AWS::Grafana::Workspace": "grafana.amazonaws.com",
    "AWS::RDS::DBCluster": "rds.amazonaws.com",
    "AWS::RDS::DBInstance": "rds.amazonaws.com",
    "AWS::RDS::DBSubnetGroup": "rds.amazonaws.com",
    "AWS::SageMaker::Cluster": "hyperpod.sagemaker.amazonaws.com",
}
"""The service of the service-linked role that a type's first resource in an account makes.

Source: IAM user guide, "AWS services that work with IAM", and each service's page on its service-linked role.
"""


def passed(resource: Resource, names: Names) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each role that a resource passes on: its ARN and the services that get it, empty where they are not known."""
    if resource.type == "AWS::IAM::InstanceProfile":  # names its roles, and has no ARN of them
        yield from ((arn, ("ec2.amazonaws.com",)) for arn in names.named(resource, "Roles", ROLE))
    for key, value in _held(resource.properties, names):
        services = {*_trusted(value, names), *filter(None, [_PASSED_TO.get((resource.type, key))])}
        yield names.role(value, resource.stack), tuple(sorted(services))


def linked(resource: Resource) -> tuple[str, ...]:
    """Services whose service-linked roles a resource may make; empty where they are not known."""
    found = [_LINKED_TO[resource.type]] if resource.type in _LINKED_TO else []
    if resource.type == "AWS::FSx::FileSystem" and any(
        mentions(resource.properties, key) for key in ("ExportPath", "ImportPath")
    ):
        found.append(OF_S3_LINKS)
    return tuple(found)


def _held(value: Value, names: Names, key: str = "") -> Iterator[tuple[str, Value]]:
    """Roles that properties hold, with the property; unknown ones where the property wants a role."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name not in _NO_ROLE:
                yield from _held(item, names, name)
    elif isinstance(value, list):
        for item in value:
            yield from _held(item, names, key)
    elif value is UNKNOWN:
        if key.endswith(("Role", "RoleArn", "RoleARN", "PermissionArn")):
            yield key, value
    elif isinstance(value, str | Text | Reference) and ":role/" in names.pattern(value):
        yield key, value


def _trusted(value: Value, names: Names) -> Iterator[str]:
    """Services that a role of the templates trusts."""
    target = names.resource(value)
    if target is None or target.type != ROLE or not isinstance(target.properties, dict):
        return
    document = target.properties.get("AssumeRolePolicyDocument")
    statements = document.get("Statement") if isinstance(document, dict) else None
    for statement in statements if isinstance(statements, list) else [statements]:
        principal = statement.get("Principal") if isinstance(statement, dict) else None
        services = principal.get("Service") if isinstance(principal, dict) else None
        yield from (each for each in (services if isinstance(services, list) else [services]) if isinstance(each, str))
