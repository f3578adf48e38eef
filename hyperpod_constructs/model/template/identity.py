"""Roles with every policy that is attached to them, keys, and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.cloudformation.values import Text
from hyperpod_constructs.model._reading import Fields, Node, otherwise
from hyperpod_constructs.model.identity import Key, Role, Secret, Statement
from hyperpod_constructs.model.template.policies import (
    accounts_asked,
    allowing,
    asks_for_caller,
    encryption_contexts,
    principals,
    statements,
)
from hyperpod_constructs.model.template.resources import Found, Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_POLICY = ":policy/"
_READS = ("s3:GetObject", "s3:ListBucket")
_OF_AWS = ":iam::aws"
_CREATE_GRANT = "kms:CreateGrant"
_ACCOUNT = re.compile(r"\d{12}|arn:[^:]*:iam::[^:]*:root|\*")
"""Principals that leave it to the policies of an account's roles; also anyone, which conditions mostly narrow to it."""

_ROLE: Final[Fields] = {"role_path": ("Path", otherwise(Node.text, default="/"))}


@dataclass(slots=True)
class _Grants:
    """What is attached to one role.

    Attributes:
        statements: Of all policies whose text is at hand.
        names: Managed policies that are not part of the assembly.
        complete: Whether nothing else can be attached, and no text is missing.
    """

    statements: list[Statement] = field(default_factory=list)
    names: list[str | Unknown] = field(default_factory=list)
    complete: bool = True

    def add(self, found: tuple[Statement | Unknown, ...]) -> None:
        known = [statement for statement in found if statement is not UNKNOWN]
        self.statements += known
        self.complete = self.complete and len(known) == len(found)


def roles(resources: Resources) -> tuple[Role, ...]:
    """The roles of an assembly.

    AWS's own managed policies count as known by their names; those of an account, given by ARN, do not.
    """
    found = list(resources.of("AWS::IAM::Role"))
    policies = list(resources.of("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy"))
    by_path = {policy.path: policy for policy in policies}
    grants = {role.path: _own_grants(role, by_path) for role in found}
    for policy in policies:
        for target in _targets(policy):
            meant = _meant(policy, target, found)
            for path in meant:
                _attach(grants[path], policy, certain=target is not UNKNOWN and len(meant) == 1)
    return tuple(_role(role, grants[role.path]) for role in found)


def granting_buckets(resources: Resources) -> tuple[str | Unknown, ...]:
    """Names of the buckets whose own policies let somebody read them; `UNKNOWN` for a name that is not known.

    A bucket whose name CloudFormation makes is left out: no text names it.
    """
    found: dict[str | Unknown, None] = {}
    for policy in resources.of("AWS::S3::BucketPolicy"):
        document = policy.properties["PolicyDocument"]
        if any(True for action in _READS for _ in allowing(document, action)):
            bucket = policy.properties["Bucket"]
            name = bucket.pattern()
            if isinstance(name, str) or bucket.path() is UNKNOWN:
                found[UNKNOWN if name is None else name] = None
    return tuple(found)


def keys(resources: Resources) -> tuple[Key, ...]:
    """The KMS keys of an assembly."""
    return tuple(_key(found) for found in resources.of("AWS::KMS::Key"))


def secrets(resources: Resources) -> tuple[Secret, ...]:
    """The secrets of an assembly, and the attachments to databases, which stand for their secrets."""
    found = {each.path: each.properties["KmsKeyId"].path() for each in resources.of("AWS::SecretsManager::Secret")}
    for attachment in resources.of("AWS::SecretsManager::SecretTargetAttachment"):
        secret = attachment.properties["SecretId"].path()
        found[attachment.path] = found.get(secret, UNKNOWN) if isinstance(secret, str) else UNKNOWN
    return tuple(Secret(path=path, key=key) for path, key in found.items())


def _key(found: Found) -> Key:
    document = found.properties["KeyPolicy"]
    if document.value is None:
        return Key(path=found.path, retention=found.retention)
    allowed = [node for node, _ in allowing(document, _CREATE_GRANT)]
    grantees = _whom(allowed)
    by_account = any(isinstance(who, str) and _ACCOUNT.fullmatch(who) for who in grantees)
    return Key(
        path=found.path,
        delegates=by_account or (UNKNOWN if UNKNOWN in grantees or not found.unchanged else False),
        grantees=grantees,
        readers=_whom(node for node, _ in allowing(document, "kms:Decrypt")),
        bound=() if any(not encryption_contexts(node) for node in allowed) else _contexts(allowed),
        retention=found.retention,
    )


def _whom(nodes: Iterable[Node]) -> tuple[str | Unknown, ...]:
    return tuple(dict.fromkeys(who for node in nodes for who in principals(node["Principal"])))


def _contexts(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for node in nodes for key in encryption_contexts(node)))


def _meant(policy: Found, target: str | Unknown, roles: list[Found]) -> list[str]:
    """Paths of the roles that a policy is attached to; several where it may be any of them.

    A name means a role of the policy's own template first: another template may use it in another account.
    """
    if target is UNKNOWN:
        return [role.path for role in roles]
    if by_path := [role.path for role in roles if role.path == target]:
        return by_path
    named = [role for role in roles if role.properties["RoleName"].text() == target]
    own = [role.path for role in named if role.resource.stack is policy.resource.stack]
    return own or [role.path for role in named]


def _role(found: Found, grants: _Grants) -> Role:
    trust = list(allowing(found.properties["AssumeRolePolicyDocument"].required(), "sts:AssumeRole"))
    whom = dict.fromkeys(service for _, services in trust for service in services)
    return found.properties.build(
        Role,
        _ROLE,
        path=found.path,
        trusts=tuple(whom),
        source_account_checked=_all_of(asks_for_caller(statement) for statement, services in trust if services),
        source_accounts=_accounts_of([accounts_asked(statement) for statement, services in trust if services]),
        managed_policies=tuple(grants.names),
        statements=tuple(grants.statements),
        complete=grants.complete,
    )


def _all_of(checks: Iterable[bool | Unknown]) -> bool | Unknown:
    """Whether there are checks and all of them hold."""
    found = list(checks)
    if UNKNOWN in found and False not in found:
        return UNKNOWN
    return bool(found) and False not in found


def _accounts_of(limits: list[tuple[str, ...] | Unknown | None]) -> tuple[str, ...] | Unknown | None:
    """The accounts that any statement of a trust lets a service act for; `None` where one of them limits nothing."""
    if UNKNOWN in limits:
        return UNKNOWN
    known = [each for each in limits if each is not UNKNOWN and each is not None]
    if not limits or len(known) < len(limits):
        return None
    return tuple(dict.fromkeys(account for accounts in known for account in accounts))


def _own_grants(found: Found, policies: dict[str, Found]) -> _Grants:
    """What the role's own properties give it."""
    grants = _Grants(complete=found.unchanged)
    inline, managed = found.properties["Policies"].items(), found.properties["ManagedPolicyArns"].items()
    for policy in (found.properties["Policies"],) if inline is UNKNOWN else inline:
        grants.add(statements(policy["PolicyDocument"].required()))
    for arn in (found.properties["ManagedPolicyArns"],) if managed is UNKNOWN else managed:
        path = arn.path()
        if isinstance(path, str) and path in policies:
            _attach(grants, policies[path], certain=True, waits=True)
        else:
            _name(grants, arn, found.resource.stack.region)
    return grants


def _name(grants: _Grants, arn: Node, region: str | None) -> None:
    """Adds a managed policy of which only the name can be known."""
    text = arn.value.suffix if isinstance(arn.value, Text) else arn.text()
    owner, found, name = text.rpartition(_POLICY) if isinstance(text, str) else ("", "", "")
    of_aws = bool(found) and owner.endswith(_OF_AWS)
    grants.names.append(name if of_aws else UNKNOWN)
    grants.complete = grants.complete and of_aws
    given, right = owner.removesuffix(_OF_AWS).removeprefix("arn:"), regions.partition(region or "")
    if of_aws and isinstance(arn.value, str) and right is not None and given != right:
        arn.report(
            f"is a policy of the partition {given}, and the stack is in {region}, which is in {right}",
            f"use !Sub arn:${{AWS::Partition}}:iam::aws:policy/{name}; in the CDK "
            f"iam.ManagedPolicy.from_aws_managed_policy_name({name!r})",
        )


def _attach(grants: _Grants, policy: Found, *, certain: bool, waits: bool = False) -> None:
    """Adds a policy that is a resource of its own, and that the role may be there without unless it waits for it."""
    if certain and policy.certain:
        found = statements(policy.properties["PolicyDocument"].required())
        path = None if waits else policy.path
        grants.add(tuple(each if each is UNKNOWN else replace(each, policy=path) for each in found))
    else:
        grants.complete = False


def _targets(policy: Found) -> tuple[str | Unknown, ...]:
    """Paths or names of the roles that a policy names; `UNKNOWN` for those that cannot be told."""
    if policy.resource.type == "AWS::IAM::RolePolicy":
        return (policy.properties["RoleName"].must(Node.path),)
    found = policy.properties["Roles"].each(Node.path)
    return (UNKNOWN,) if found is UNKNOWN else found
