"""ARNs of what a template makes, with `*` for what only the deploy decides.

CloudFormation names what the template does not name: `STACK-LOGICALID-RANDOM`. The stack's name is therefore the part
of an ARN that is known. In every partition the pattern is right: the partition is that of the stack's Region, or `*`,
which AWS's own managed policies have in the same place (`arn:*:ec2:*:*:security-group/*`; moto 5.2.5, 62 policies).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Reference, Value, parts_of
from hyperpod_constructs.tokens import UNKNOWN, Unknown

ROLE: Final = "AWS::IAM::Role"

_NAMES: Final = {
    # Type: the property with the name, and the most characters of a name.
    "AWS::Budgets::Budget": ("Budget.BudgetName", 0),
    "AWS::CloudWatch::Alarm": ("AlarmName", 255),
    "AWS::CloudWatch::Dashboard": ("DashboardName", 0),
    "AWS::Events::Rule": ("Name", 64),
    "AWS::IAM::InstanceProfile": ("InstanceProfileName", 128),
    "AWS::IAM::ManagedPolicy": ("ManagedPolicyName", 128),
    ROLE: ("RoleName", 64),
    "AWS::Lambda::Function": ("FunctionName", 64),
    "AWS::Logs::LogGroup": ("LogGroupName", 512),
    "AWS::S3::Bucket": ("BucketName", 63),
    "AWS::SNS::Topic": ("TopicName", 256),
    "AWS::SQS::Queue": ("QueueName", 80),
    "AWS::SSM::Parameter": ("Name", 0),
}
"""0 where a generated name does not begin with that of the stack, as far as it is documented."""
_RANDOM: Final = len("--0123456789ab")
"""What CloudFormation puts around a logical id: two hyphens and up to 13 characters, of which the first is counted."""
_CERTAIN: Final = 20
"""Characters of the stack's name that stay, whatever CloudFormation shortens: how it shortens is not documented."""

_ARNS: Final = {
    "AWS::Budgets::Budget": ("arn:{p}:budgets::{a}:budget/{n}",),
    "AWS::CloudFormation::Stack": ("arn:{p}:cloudformation:{r}:{a}:stack/{n}/*",),
    "AWS::CloudWatch::Alarm": ("arn:{p}:cloudwatch:{r}:{a}:alarm:{n}",),
    "AWS::CloudWatch::Dashboard": ("arn:{p}:cloudwatch::{a}:dashboard/{n}",),
    "AWS::Events::Rule": ("arn:{p}:events:{r}:{a}:rule/{n}",),
    "AWS::FSx::DataRepositoryAssociation": (
        "arn:{p}:fsx:{r}:{a}:association/*",
        "arn:{p}:fsx:{r}:{a}:file-system/*",
    ),
    "AWS::FSx::FileSystem": ("arn:{p}:fsx:{r}:{a}:backup/*", "arn:{p}:fsx:{r}:{a}:file-system/*"),
    "AWS::IAM::InstanceProfile": ("arn:{p}:iam::{a}:instance-profile/{n}",),
    "AWS::IAM::ManagedPolicy": ("arn:{p}:iam::{a}:policy/{n}",),
    ROLE: ("arn:{p}:iam::{a}:role/{n}",),
    "AWS::Lambda::Function": ("arn:{p}:lambda:{r}:{a}:function:{n}",),
    "AWS::Logs::LogGroup": ("arn:{p}:logs:{r}:{a}:log-group:{n}", "arn:{p}:logs:{r}:{a}:log-group:{n}:*"),
    "AWS::S3::Bucket": ("arn:{p}:s3:::{n}", "arn:{p}:s3:::{n}/*"),
    "AWS::SNS::Topic": ("arn:{p}:sns:{r}:{a}:{n}",),
    "AWS::SQS::Queue": ("arn:{p}:sqs:{r}:{a}:{n}",),
    "AWS::SSM::Parameter": ("arn:{p}:ssm:{r}:{a}:parameter/{n}",),
    "AWS::SageMaker::Cluster": ("arn:{p}:sagemaker:{r}:{a}:cluster/*",),
    "AWS::SageMaker::ClusterSchedulerConfig": (
        "arn:{p}:sagemaker:{r}:{a}:cluster/*",
        "arn:{p}:sagemaker:{r}:{a}:cluster-scheduler-config/*",
    ),
    "AWS::SageMaker::ComputeQuota": (
        "arn:{p}:sagemaker:{r}:{a}:cluster/*",
        "arn:{p}:sagemaker:{r}:{a}:compute-quota/*",
    ),
}
"""ARNs by type: partition, account, Region, name. Source: service authorization reference, April 2025."""
_RESERVED: Final = "arn:{p}:sagemaker:{r}:{a}:reserved-capacity/*"
_PLAN: Final = "arn:{p}:sagemaker:{r}:{a}:training-plan/*"
"""What CreateCluster and UpdateCluster need beside the cluster for a training plan. Source: AmazonSageMakerFullAccess,
statement AllowUseOfTrainingPlanResources (moto 5.2.5)."""

_BELONGS_TO: Final = {
    # Type: the property that names what it changes, and the type of that.
    "AWS::IAM::Policy": ("Roles", ROLE),
    "AWS::IAM::RolePolicy": ("RoleName", ROLE),
    "AWS::Lambda::Permission": ("FunctionName", "AWS::Lambda::Function"),
    "AWS::Logs::MetricFilter": ("LogGroupName", "AWS::Logs::LogGroup"),
    "AWS::Logs::SubscriptionFilter": ("LogGroupName", "AWS::Logs::LogGroup"),
    "AWS::S3::BucketPolicy": ("Bucket", "AWS::S3::Bucket"),
    "AWS::SNS::Subscription": ("TopicArn", "AWS::SNS::Topic"),
    "AWS::SNS::TopicPolicy": ("Topics", "AWS::SNS::Topic"),
    "AWS::SQS::QueuePolicy": ("Queues", "AWS::SQS::Queue"),
}
_STRUCTURES: Final = frozenset(
    {
        "Code",
        "InstanceGroups",
        "InstanceStorageConfigs",
        "LustreConfiguration",
        "Orchestrator",
        "RestrictedInstanceGroups",
    }
)
"""Properties that may hold any of those that are asked for, where an intrinsic hides what they hold."""
_ANYTHING: Final = re.compile(r"\*[*]+")


def partition(stack: Stack) -> str:
    """Partition of a stack, or `*`."""
    return (stack.region and regions.partition(stack.region)) or "*"


def expand(arn: str, stack: Stack, name: str = "*") -> str:
    """An ARN with `{p}`, `{r}`, `{a}` and `{n}` for partition, Region, account and name."""
    return arn.format(p=partition(stack), r=stack.region or "*", a=stack.account or "*", n=name)


class Names:
    """The ARNs of an assembly."""

    def __init__(self, assembly: Assembly) -> None:
        """Reads the names that an assembly says."""
        self._assembly = assembly

    def arns(self, resource: Resource) -> tuple[str, ...]:
        """What the actions of the resource's own service are allowed on; empty where no pattern is known."""
        if resource.type in _BELONGS_TO:
            return self.named(resource, *_BELONGS_TO[resource.type])
        patterns = _ARNS.get(resource.type, ())
        name = self._name(resource) if any("{n}" in each for each in patterns) else "*"
        attached = self.named(resource, "Roles", ROLE) if resource.type == "AWS::IAM::ManagedPolicy" else ()
        found = {expand(each, resource.stack, name) for each in patterns}
        return tuple(sorted({*found, *attached, *self._plans(resource)}))

    def named(self, resource: Resource, key: str, kind: str) -> tuple[str, ...]:
        """ARNs of what a property names: one or several, by name, ARN or URL.

        Args:
            resource: The resource with the property.
            key: The property.
            kind: Type of what it names.
        """
        found = (value for value in _items(_at(resource, key)) if value is not None)
        return tuple(sorted({arn for value in found for arn in self._of_named(resource, kind, value)}))

    def pattern(self, value: Value) -> str:
        """A text with `*` for what is not known; what another resource decides is that resource's ARN or name."""
        parts = (part if isinstance(part, str) else self._part(part) for part in parts_of(value))
        return _ANYTHING.sub("*", "".join(parts))

    def role(self, value: Value, stack: Stack) -> str:
        """The ARN of a role that a property holds: `role/*` of the account where it is not known."""
        found = self.pattern(value)
        return found if ":role/" in found else expand("arn:{p}:iam::{a}:role/*", stack)

    def _plans(self, resource: Resource) -> Iterator[str]:
        """Training plans of a cluster, and the reservations behind them."""
        if resource.type == "AWS::SageMaker::Cluster" and mentions(resource.properties, "TrainingPlanArn"):
            yield expand(_RESERVED, resource.stack)
            for value in values(resource.properties, "TrainingPlanArn"):
                found = self.pattern(value)
                yield found if ":training-plan/" in found else expand(_PLAN, resource.stack)

    def resource(self, value: Value) -> Resource | None:
        """The resource of the assembly that a value refers to."""
        return self._assembly.find(value) if isinstance(value, Reference) else None

    def _part(self, part: Reference | Unknown) -> str:
        target = None if part is UNKNOWN else self.resource(part)
        if target is None:
            return "*"
        arn = next(iter(self.arns(target)), "*")
        if isinstance(part, Reference) and part.attribute and part.attribute.endswith("Arn"):
            return arn
        # What `Ref` gives: the ARN of topics and policies, the name of what else has one here.
        by_ref = {"AWS::SNS::Topic", "AWS::IAM::ManagedPolicy"}
        return arn if target.type in by_ref else self._name(target) if target.type in _NAMES else "*"

    def _of_named(self, resource: Resource, kind: str, value: Value) -> tuple[str, ...]:
        """ARNs of what a property names: by its name, its ARN or its URL."""
        target = self.resource(value)
        if target is not None and target.type == kind:
            return self.arns(target)
        found = self.pattern(value)
        if found.startswith("arn:"):
            return (found,)
        name = found.rpartition("/")[2] if "://" in found else found
        return tuple(expand(each, resource.stack, name) for each in _ARNS[kind])

    def _name(self, resource: Resource) -> str:
        """Name of a resource, with its path; generated ones end in `*`."""
        key, most = _NAMES.get(resource.type, ("", 128))
        path = self.pattern(_at(resource, "Path") or "").lstrip("/") if resource.type.startswith("AWS::IAM::") else ""
        named = _at(resource, key) if key else None
        if named is not None:
            name = self.pattern(named)
            if resource.type == "AWS::Events::Rule" and (bus := _at(resource, "EventBusName")) is not None:
                return f"{self.pattern(bus).rpartition('/')[2]}/{name}"
            return path + (name.removeprefix("/") if resource.type == "AWS::SSM::Parameter" else name)
        return path + _generated(resource, most)


def _generated(resource: Resource, most: int) -> str:
    stack = resource.stack
    while stack.parent is not None:  # the name of a nested stack begins with that of the stack around it
        stack = stack.parent
    if not stack.name or not most:
        return "*"
    fits = resource.stack is stack and len(stack.name) + len(resource.logical_id) + _RANDOM <= most
    name = f"{stack.name}-*" if fits else f"{stack.name[:_CERTAIN]}*"
    return name.lower() if resource.type == "AWS::S3::Bucket" else name


def mentions(value: Value, wanted: str) -> bool:
    """Whether a property is there at any depth, or may be.

    Args:
        value: Resolved properties.
        wanted: `KmsKeyId`, or `LogDestinationType=s3` for a property that has this value or contains it.
    """
    if value is UNKNOWN:
        return True
    if isinstance(value, list):
        return any(mentions(item, wanted) for item in value if item is not UNKNOWN)
    if not isinstance(value, dict):
        return False
    key, has_value, expected = wanted.partition("=")
    if key in value and (not has_value or _may_be(value[key], expected)):
        return True
    return any(mentions(item, wanted) for name, item in value.items() if item is not UNKNOWN or name in _STRUCTURES)


def values(value: Value, key: str) -> Iterator[Value]:
    """What a property holds at any depth, in the order of the template; `UNKNOWN` where that is hidden."""
    if value is UNKNOWN:
        yield UNKNOWN
    elif isinstance(value, list):
        for item in value:
            yield from values(item, key) if item is not UNKNOWN else ()
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == key:
                yield item
            elif item is not UNKNOWN or name in _STRUCTURES:
                yield from values(item, key)


def _may_be(value: Value, expected: str) -> bool:
    values = value if isinstance(value, list) else [value]
    return any(not isinstance(each, str) or each == expected for each in values)


def _at(resource: Resource, key: str) -> Value:
    value: Value = resource.properties
    for step in key.split("."):
        if not isinstance(value, dict):
            return UNKNOWN if value is UNKNOWN else None
        value = value.get(step)
    return value


def _items(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [value]
