"""What the policy of an imported KMS key must say: the stack cannot edit it, and each service fails in its own way.

Keys that a stack makes are not listed: their policies are in the template, where `check` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.catalog.permissions import KEY_ACTIONS
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Value
from hyperpod_constructs.planning.permissions.documents import Statement, Test
from hyperpod_constructs.planning.permissions.names import Names, values

ACCOUNT: Final = "ACCOUNT_ID"
REGION: Final = "REGION"
"""Placeholders where a stack can go to any account or Region: a key policy takes no wildcards there."""
_OURS: Final = {"AWS::KMS::Key", "AWS::KMS::Alias", "AWS::KMS::ReplicaKey"}
_MANAGED: Final = "alias/aws/"
"""What the aliases of AWS's own keys begin with; nobody edits their policies."""

_DATA: Final = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")
_PUBLISHERS: Final = {
    # Whether a service tells KMS the account that it publishes for, so that the statement can ask for it.
    "budgets.amazonaws.com": True,
    "cloudwatch.amazonaws.com": True,
    "costalerts.amazonaws.com": True,
    "events.amazonaws.com": False,
}
"""Services that publish to topics of alerts. Source: SNS developer guide, sns-key-management; Cost Management user
guide, budgets-sns-policy and ad-SNS (2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStatement:
    """A statement that the policy of an imported key needs.

    Attributes:
        key: The key as the template has it: id, ARN or alias, with `*` for what only the deploy decides.
        grantee: Who needs it, for a person.
        used_by: Paths of the resources that are encrypted with it.
        statement: What to add to the policy of the key.
    """

    key: str
    grantee: str
    used_by: tuple[str, ...]
    statement: Statement


_OF_NODES: Final = (
    "a node whose volume cannot be decrypted ends as it starts (SageMaker developer guide, smcluster-cmk)"
)
_OF_THE_DEPLOY: Final = (
    "the handlers of AWS::SageMaker::Cluster look at the key and create grants; name another role where the stack is "
    "not deployed through the CDK's bootstrap roles"
)

_Found: TypeAlias = tuple[str, Statement]  # who needs it, and what
_Need: TypeAlias = Callable[[Resource, Names, Assembly], Iterator[_Found]]


def statements(assembly: Assembly) -> tuple[KeyStatement, ...]:
    """What the policy of each imported key of an assembly must allow, by key and grantee."""
    names, found = Names(assembly), dict[tuple[str, Statement], tuple[str, list[str]]]()
    for resource in assembly.resources():
        for properties, need in _NEEDS.get(resource.type, ()):
            for key in dict.fromkeys(_imported(resource, properties, names)):
                for grantee, statement in need(resource, names, assembly):
                    found.setdefault((key, statement), (grantee, []))[1].append(resource.path)
    return tuple(
        KeyStatement(key=key, grantee=grantee, used_by=tuple(dict.fromkeys(paths)), statement=statement)
        for (key, statement), (grantee, paths) in sorted(found.items(), key=lambda each: (each[0][0], each[1][0]))
    )


def _imported(resource: Resource, properties: tuple[str, ...], names: Names) -> Iterator[str]:
    """Keys of a resource that no stack of the assembly makes."""
    for name in properties:
        for value in values(resource.properties, name):
            target = names.resource(value)
            text = names.pattern(value)
            if (target is None or target.type not in _OURS) and _is_key(value) and _MANAGED not in text:
                yield text


def _is_key(value: Value) -> bool:
    return value is not None and not isinstance(value, bool | list | dict)


def _sid(*words: str) -> str:
    return "".join(character for word in words for character in word.title() if character.isalnum())


def _place(stack: Stack) -> tuple[str, str, str]:
    """Account, Region and the end of service names there."""
    region = stack.region or REGION
    return stack.account or ACCOUNT, region, (stack.region and regions.dns_suffix(stack.region)) or "amazonaws.com"


def _via(service: str, *actions: str, why: str, for_service: str | None = None) -> _Need:
    """Whoever uses a service in the account may use the key through it: how most services ask for it."""

    def need(resource: Resource, _names: Names, _assembly: Assembly) -> Iterator[_Found]:
        account, region, suffix = _place(resource.stack)
        tests: tuple[Test, ...] = (
            ("StringEquals", "kms:CallerAccount", (account,)),
            ("StringEquals", "kms:ViaService", (f"{service}.{region}.{suffix}",)),
        )
        yield (
            for_service or service,
            Statement(
                sid=_sid("through", service),
                actions=tuple(sorted(actions)),
                tests=tests,
                principal=("AWS", account),
                why=why,
            ),
        )

    return need


def _volumes(resource: Resource, names: Names, _assembly: Assembly) -> Iterator[_Found]:
    """Nodes, and CloudFormation's role, which HyperPod acts for when it makes a node."""
    account, _, _ = _place(resource.stack)
    roles = sorted({names.role(value, resource.stack) for value in values(resource.properties, "ExecutionRole")})
    roles += sorted(names.role(value, resource.stack) for value in values(resource.properties, "ClusterRole"))
    deployer = (f"arn:*:iam::{account}:role/cdk-*-cfn-exec-role-*",)
    for grantee, sid, arns, why in (
        ("roles of nodes", "GrantsOfNodes", tuple(roles), _OF_NODES),
        ("role that CloudFormation deploys with", "GrantsOfTheDeploy", deployer, _OF_THE_DEPLOY),
    ):
        if arns:
            tests: tuple[Test, ...] = (("ArnLike", "aws:PrincipalArn", arns),)
            yield grantee, Statement(sid=sid, actions=KEY_ACTIONS, tests=tests, principal=("AWS", account), why=why)


def _topics(resource: Resource, names: Names, assembly: Assembly) -> Iterator[_Found]:
    """Each service that publishes to the topic; all that may, where no policy of the topic is in the templates."""
    account, _, _ = _place(resource.stack)
    for service in sorted(set(_publishers(resource, names, assembly)) or _PUBLISHERS):
        tests: tuple[Test, ...] = ()
        if _PUBLISHERS.get(service):
            tests = (("StringEquals", "aws:SourceAccount", (account,)),)
        yield (
            service,
            Statement(
                sid=_sid("published by", service.partition(".")[0]),
                actions=("kms:Decrypt", "kms:GenerateDataKey*"),
                tests=tests,
                principal=("Service", service),
                why="a service that cannot use the key of a topic publishes nothing, and nobody is told",
            ),
        )


def _publishers(topic: Resource, names: Names, assembly: Assembly) -> Iterator[str]:
    for policy in assembly.resources():
        if policy.type != "AWS::SNS::TopicPolicy" or not isinstance(policy.properties, dict):
            continue
        targets = policy.properties.get("Topics")
        if isinstance(targets, list) and any(names.resource(each) is topic for each in targets):
            for principal in values(policy.properties.get("PolicyDocument"), "Service"):
                services = principal if isinstance(principal, list) else [principal]
                yield from (each for each in services if isinstance(each, str))


def _log_groups(resource: Resource, names: Names, _assembly: Assembly) -> Iterator[_Found]:
    _, region, suffix = _place(resource.stack)
    group = next((arn for arn in names.arns(resource) if not arn.endswith(":*")), "*")
    yield (
        "CloudWatch Logs",
        Statement(
            sid=_sid("log groups"),
            actions=("kms:Decrypt*", "kms:Describe*", "kms:Encrypt*", "kms:GenerateDataKey*", "kms:ReEncrypt*"),
            tests=(("ArnLike", "kms:EncryptionContext:aws:logs:arn", (group,)),),
            principal=("Service", f"logs.{region}.{suffix}"),
            why="a log group with a key that CloudWatch Logs cannot use is not created "
            "(CloudWatch Logs user guide, encrypt-log-data-kms)",
        ),
    )


_FSX: Final = _via(
    "fsx",
    *_DATA,
    "kms:CreateGrant",
    for_service="FSx",
    why="the file system keeps a grant on the key as long as it lives (FSx for Lustre user guide, encryption-at-rest)",
)
_NEEDS: Final[dict[str, tuple[tuple[tuple[str, ...], _Need], ...]]] = {
    "AWS::APS::Workspace": (
        (
            ("KmsKeyArn",),
            _via(
                "aps",
                "kms:CreateGrant",
                "kms:Decrypt",
                "kms:DescribeKey",
                "kms:GenerateDataKey",
                for_service="Amazon Managed Service for Prometheus",
                why="the workspace keeps a grant on the key (Prometheus user guide, encryption-at-rest)",
            ),
        ),
    ),
    "AWS::EKS::Cluster": (
        (
            ("KeyArn",),
            _via(
                "eks",
                "kms:CreateGrant",
                "kms:DescribeKey",
                for_service="EKS",
                why="secrets of Kubernetes are encrypted with a grant that EKS makes (EKS user guide, enable-kms)",
            ),
        ),
    ),
    "AWS::FSx::FileSystem": ((("KmsKeyId",), _FSX),),
    "AWS::Lambda::Function": (
        (
            ("KmsKeyArn",),
            _via(
                "lambda",
                "kms:CreateGrant",
                "kms:Decrypt",
                "kms:DescribeKey",
                "kms:Encrypt",
                for_service="Lambda",
                why="environment variables are encrypted for whoever deploys the function "
                "(Lambda developer guide, configuration-envvars-encryption)",
            ),
        ),
    ),
    "AWS::Logs::LogGroup": ((("KmsKeyId",), _log_groups),),
    **{
        kind: (
            (
                ("KmsKeyId", "MasterUserSecretKmsKeyId", "PerformanceInsightsKMSKeyId", "PerformanceInsightsKmsKeyId"),
                _via(
                    "rds",
                    *_DATA,
                    "kms:CreateGrant",
                    for_service="RDS",
                    why="the database keeps a grant on the key (RDS user guide, Overview.Encryption.Keys)",
                ),
            ),
        )
        for kind in ("AWS::RDS::DBCluster", "AWS::RDS::DBInstance")
    },
    "AWS::S3::Bucket": (
        (
            ("KMSMasterKeyID",),
            _via(
                "s3",
                "kms:Decrypt",
                "kms:GenerateDataKey*",
                for_service="readers and writers of the bucket",
                why="nodes read scripts and data through S3 with their own role, which needs kms:Decrypt too "
                "(S3 user guide, UsingKMSEncryption)",
            ),
        ),
    ),
    "AWS::SNS::Topic": ((("KmsMasterKeyId",), _topics),),
    "AWS::SageMaker::Cluster": ((("VolumeKmsKeyId",), _volumes),),
    "AWS::SecretsManager::Secret": (
        (
            ("KmsKeyId",),
            _via(
                "secretsmanager",
                *_DATA,
                "kms:CreateGrant",
                for_service="Secrets Manager",
                why="whoever reads the secret decrypts it with the key (Secrets Manager guide, security-encryption)",
            ),
        ),
    ),
}
"""Properties that hold keys, by type, and who needs what of them. Source: the page that each reason names (2026)."""
