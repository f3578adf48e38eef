"""What can be known about the roles of nodes before anything is created.

A role that lacks a permission fails the cluster after its network and file systems were paid for. A role that has too
much is worse: everybody who can run a job on a node can use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hyperpod_constructs.catalog import policies
from hyperpod_constructs.catalog.permissions import EKS_NODE_ACTIONS, INTERFACE_TAG, NODE_ACTIONS, NODE_POLICY
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.identity import Role
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import accounting_of
from hyperpod_constructs.rules._permissions import (
    INTERFACES,
    cure,
    granted,
    lacking,
    node_roles,
    power,
    users,
    without_policies,
)
from hyperpod_constructs.rules._scripts import ScriptSource
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.rules.script_access import told_to_take_the_node_policy
from hyperpod_constructs.tokens import UNKNOWN, known

_SERVICE: Final = "sagemaker.amazonaws.com"
_ARN_WITH_PATH: Final = re.compile(r"arn:[^:]+:iam::\d{12}:role/.+/[^/]+")
_SHOWN: Final = 3
_PREREQUISITES: Final = "SageMaker developer guide, sagemaker-hyperpod-prerequisites-iam"
_PATHS: Final = "sunilpp/hyperpod-quickstart commit 519fd926, against the EKS user guide, creating-access-entries"
_IN_CDK: Final = f"(iam.ManagedPolicy.from_aws_managed_policy_name({NODE_POLICY!r}))"


@rule(
    "HP7001",
    Severity.ERROR,
    title="Role of nodes cannot be assumed by SageMaker",
    because="nodes get their role through the service, not through EC2",
    source=_PREREQUISITES,
)
def sagemaker_assumes_the_role(deployment: Deployment) -> Iterator[Problem]:
    for role, groups in users(deployment):
        if _shuts_out(role):
            trusted = ", ".join(map(str, known(role.trusts) or ())) or "no service"
            yield Problem(
                path=role.path,
                message=f"role of {named(*groups)} trusts {trusted}, not {_SERVICE}",
                fix=f"write Principal: {{Service: {_SERVICE}}} in its AssumeRolePolicyDocument "
                f"(assumed_by=iam.ServicePrincipal({_SERVICE!r}))",
            )
    for role, groups in users(deployment, lambda cluster, group: _is_for_others(deployment, cluster, group)):
        accounts = role.source_accounts if isinstance(role.source_accounts, tuple) else ()
        whom = f"account {all_of(accounts)} only, which is not that of the cluster" if accounts else "no account at all"
        yield Problem(
            path=role.path,
            message=f"role of {named(*groups)} trusts {_SERVICE} for {whom}",
            fix="write aws:SourceAccount: !Ref AWS::AccountId in the trust's condition (cdk.Aws.ACCOUNT_ID)",
        )


def _shuts_out(role: Role) -> bool:
    """Whether the service surely cannot assume a role."""
    return isinstance(role.trusts, tuple) and {_SERVICE, UNKNOWN}.isdisjoint(role.trusts)


def _is_for_others(deployment: Deployment, cluster: Cluster, group: InstanceGroup) -> bool:
    """Whether the trust of a group's role asks for accounts of which none is the cluster's."""
    role = deployment.role(group.execution_role)
    accounts = role.source_accounts if role is not None and not _shuts_out(role) else None
    return isinstance(accounts, tuple) and cluster.account is not None and cluster.account not in accounts


@rule(
    "HP7002",
    Severity.WARNING,
    title="Role of nodes can be used for other accounts",
    because="without a condition on the account, the service can be made to use the role for somebody else",
    source="IAM user guide, confused deputy; sunilpp/hyperpod-quickstart commit 38bb31c8",
)
def trust_is_for_one_account(deployment: Deployment) -> Iterator[Problem]:
    for role, groups in users(deployment):
        if role.source_account_checked is False and role.trusts is not UNKNOWN and not _shuts_out(role):
            yield Problem(
                path=role.path,
                message=f"trust of the role of {named(*groups)} does not ask for the caller's account",
                fix="add Condition: {StringEquals: {aws:SourceAccount: !Ref AWS::AccountId}} to the statement of its "
                "AssumeRolePolicyDocument (conditions= of the CDK's ServicePrincipal)",
            )


@rule(
    "HP7003",
    Severity.WARNING,
    title="Role of nodes lacks what every node needs",
    because=f"nodes write logs and metrics and open sessions; {NODE_POLICY} allows all of it",
    source=f"{_PREREQUISITES}; {NODE_POLICY}, version 1",
)
def nodes_have_the_basic_permissions(deployment: Deployment) -> Iterator[Problem]:
    # One mistake, one finding: the policy that mends the one mends the other.
    told = told_to_take_the_node_policy(deployment)
    for role, groups in users(deployment):
        missing = lacking(role, dict.fromkeys(NODE_ACTIONS, "*"))
        if missing and role.path not in told:
            yield Problem(
                path=role.path,
                message=f"role of {named(*groups)} lacks {', '.join(missing)}",
                fix=cure(
                    role, missing, f"add arn:aws:iam::aws:policy/{NODE_POLICY} to its ManagedPolicyArns {_IN_CDK}"
                ),
            )


@rule(
    "HP7004",
    Severity.ERROR,
    title="Role of nodes lacks permissions for network interfaces",
    because="in a VPC of the account, nodes get their interfaces with their own role; creation fails with "
    "'Failed to create Customer ENI', or later the replacement of a node",
    source=f"{_PREREQUISITES}, section on VPCs",
)
def nodes_can_make_interfaces(deployment: Deployment) -> Iterator[Problem]:
    in_vpc = users(deployment, lambda cluster, group: isinstance(cluster.placement_of(group), VpcPlacement))
    for role, placed in in_vpc:
        if missing := lacking(role, INTERFACES):
            stands = "stands" if len(placed) == 1 else "stand"
            tags = f"{INTERFACE_TAG} on arn:aws:ec2:*:*:network-interface/*"
            others = "allow them on Resource: *" + (f", and {tags}" if INTERFACE_TAG in missing else "")
            yield Problem(
                path=role.path,
                message=f"role of {named(*placed)}, which {stands} in a VPC, lacks {', '.join(missing)}",
                fix=cure(role, missing, f"allow {tags}" if set(missing) == {INTERFACE_TAG} else others),
            )


@rule(
    "HP7005",
    Severity.WARNING,
    title="Role of EKS nodes has a path",
    because="making the access entry that lets nodes join failed for a role with a path in one report; the guide of "
    "EKS says that an access entry may have one, and only aws-auth may not",
    source=_PATHS,
)
def eks_roles_have_no_path(deployment: Deployment) -> Iterator[Problem]:
    for role, groups in users(deployment, _is_of_eks):
        path = known(role.role_path)
        if path not in {None, "/"}:
            yield Problem(
                path=role.path,
                message=f"role of {named(*groups)} has the path {path}",
                fix="leave Path (path=) out; if your organisation demands one, try it with a group of one node first",
            )


def _is_of_eks(cluster: Cluster, _: InstanceGroup) -> bool:
    return isinstance(cluster.orchestrator, Eks)


@rule(
    "HP7008",
    Severity.WARNING,
    title="Nodes are administrators of the account, or can make themselves so",
    because="everybody who can run a job on a node can use its role; whoever may attach policies to it can do "
    "everything soon",
    source="IAM user guide, least privilege",
)
def nodes_are_no_administrators(deployment: Deployment) -> Iterator[Problem]:
    for role, groups in users(deployment):
        if its := power(role):
            yield Problem(
                path=role.path,
                message=f"role of {named(*groups)} {its.over} ({its.by})",
                fix=f"take that out, attach {NODE_POLICY} and allow what the nodes' features need",
            )


@rule(
    "HP7009",
    Severity.WARNING,
    title="Cluster does not wait for what lets its nodes start",
    because="a policy that is a resource of its own may come after the cluster, whose first nodes then lack it",
    source="inferred from CloudFormation's order of creation; awslabs/awsome-distributed-ai, Terraform modules that "
    "wait for roles",
)
def clusters_wait_for_policies(deployment: Deployment) -> Iterator[Problem]:
    for role, cluster, groups in node_roles(deployment):
        before = cluster.depends_on
        late = {each.policy for each in role.statements if each.policy and before is not None}
        late = {path for path in late if path not in (before or ()) and _is_of_the_stack(deployment, path, cluster)}
        early = without_policies(role, late)
        needed = dict(_needed_at_start(cluster, groups))
        missing = [
            what
            for what, (action, resource) in needed.items()
            if granted(role, action, resource) and granted(early, action, resource) is False
        ]
        if missing:
            policies = sorted(
                path for path in late if any(_brings(role, path, early, *needed[what]) for what in missing)
            )
            yield Problem(
                path=cluster.path,
                message=f"the cluster does not wait for {all_of(policies)}, from which the role of {named(*groups)} "
                f"has {_some(missing)}",
                fix=f"let the cluster depend on {all_of(policies)}: DependsOn in a template, "
                "cluster.node.add_dependency(policy) in the CDK; the role alone is not enough",
            )


def _needed_at_start(cluster: Cluster, groups: list[InstanceGroup]) -> Iterator[tuple[str, tuple[str, str]]]:
    """What nodes need before their scripts run, in words, with action and resource."""
    for action in NODE_ACTIONS:
        yield action, (action, "*")
    if any(isinstance(cluster.placement_of(group), VpcPlacement) for group in groups):
        for action, resource in INTERFACES.items():
            yield action, (action, resource)
    for group in groups:
        uri = known(group.lifecycle.source_uri) if isinstance(group.lifecycle, Lifecycle) else None
        if uri is not None and uri.startswith("s3://"):
            source = ScriptSource.at(uri)
            yield f"s3:GetObject on {uri}", ("s3:GetObject", source.objects)


def _is_of_the_stack(deployment: Deployment, path: str, cluster: Cluster) -> bool:
    """Whether a policy surely stands in the template of the cluster: other stacks may be there long before."""
    places = deployment.locations.get(path), deployment.locations.get(cluster.path)
    return places[0] is None or places[1] is None or places[0].file == places[1].file


def _brings(role: Role, path: str, early: Role, action: str, resource: str) -> bool:
    """Whether one policy alone would allow an action."""
    its_own = tuple(each for each in role.statements if each.policy == path)
    return bool(granted(replace(early, statements=(*early.statements, *its_own)), action, resource))


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}" if more else all_of(names)


@rule(
    "HP7010",
    Severity.WARNING,
    title="An ARN with a path is the role of EKS nodes",
    because="making the access entry that lets nodes join failed for a role with a path in one report; a role that is "
    "not part of this deployment may be known to work",
    source=_PATHS,
)
def named_eks_roles_have_no_path(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        by_role: dict[str, list[InstanceGroup]] = {}
        for group in cluster.groups if isinstance(cluster.orchestrator, Eks) else ():
            role = known(group.execution_role)
            if role is not None and deployment.role(role) is None and _ARN_WITH_PATH.fullmatch(role):
                by_role.setdefault(role, []).append(group)
        for role, groups in by_role.items():
            yield Problem(
                path=cluster.path_of(groups[0]),
                message=f"role of {named(*groups)} has a path: {role}",
                fix="use a role without a path, or try this one with a group of one node first",
            )


@rule(
    "HP7011",
    Severity.WARNING,
    title="Controller cannot read the secret of the accounting database",
    because="the secret holds user name and password; which role reads it is not documented, and the controller's is "
    "the likely one",
    source="SageMaker API, ClusterSlurmAccountingDatabase (botocore 1.44.8); not documented by AWS",
)
def controllers_read_the_database_secret(deployment: Deployment) -> Iterator[Problem]:
    for role, controllers in users(deployment, _has_secret):
        if missing := lacking(role, {"secretsmanager:GetSecretValue": "arn:*:secretsmanager:*:*:secret:*"}):
            yield Problem(
                path=role.path,
                message=f"role of {named(*controllers)} lacks secretsmanager:GetSecretValue, and the cluster has an "
                "AccountingDatabase",
                fix=cure(
                    role,
                    missing,
                    "allow secretsmanager:GetSecretValue on the ARN of AccountingDatabase.SecretArn "
                    "(secret.grant_read(role))",
                ),
            )


def _has_secret(cluster: Cluster, group: InstanceGroup) -> bool:
    """Whether a group is the controller of a cluster with an accounting database; the ARN of no secret has its finding.

    What another kind of ARN is good for no permission mends.
    """
    database = accounting_of(cluster, group)
    arn = known(database.secret_arn) if database else None
    return database is not None and not (arn and arn.startswith("arn:") and ":secret:" not in arn)


@rule(
    "HP7012",
    Severity.WARNING,
    title="Role of nodes cannot read the alarms that roll an update back",
    because="AWS's own templates give cloudwatch:DescribeAlarms to the nodes' role where updates have rollback alarms",
    source="aws/sagemaker-hyperpod-cluster-setup and hyperpod-eks-tf of awslabs/awsome-distributed-ai",
)
def nodes_read_rollback_alarms(deployment: Deployment) -> Iterator[Problem]:
    for role, watched in users(deployment, lambda _, group: group.has_rollback_alarms):
        if missing := lacking(role, {"cloudwatch:DescribeAlarms": "*"}):
            yield Problem(
                path=role.path,
                message=f"role of {named(*watched)}, whose updates have rollback alarms, lacks "
                "cloudwatch:DescribeAlarms",
                fix=cure(role, missing, "allow cloudwatch:DescribeAlarms on Resource: *"),
            )


@rule(
    "HP7013",
    Severity.WARNING,
    title="Role of EKS nodes lacks what AWS's templates give it",
    because="nodes of EKS clusters attach interfaces and addresses for pods, pull images and take pod identities; "
    "policies that are not part of this deployment may allow it to the pods themselves",
    source="SageMaker developer guide, sagemaker-hyperpod-prerequisites-iam; hyperpod-eks-tf of "
    "awslabs/awsome-distributed-ai",
)
def eks_nodes_have_their_permissions(deployment: Deployment) -> Iterator[Problem]:
    for role, groups in users(deployment, _is_of_eks):
        if missing := lacking(role, dict.fromkeys(EKS_NODE_ACTIONS, "*")):
            yield Problem(
                path=role.path,
                message=f"role of {named(*groups)} of an EKS cluster lacks {_some(list(missing))}",
                fix=cure(role, missing, f"allow {', '.join(missing)} on Resource: *"),
            )


@rule(
    "HP7019",
    Severity.WARNING,
    title="A role has a managed policy of AWS that is not known",
    because="an ARN that names no policy stops the stack at the role; AWS adds policies every week, and our list may "
    "be older",
    source="moto 5.2.5, copies of AWS's managed policies; IAM API, AttachRolePolicy, NoSuchEntity",
)
def managed_policies_exist(deployment: Deployment) -> Iterator[Problem]:
    for role in deployment.roles:
        managed = role.managed_policies if isinstance(role.managed_policies, tuple) else ()
        for name in dict.fromkeys(each for each in managed if each is not UNKNOWN):
            if not policies.exists(name):
                meant = policies.meant(name)
                yield Problem(
                    path=role.path,
                    message=f"ManagedPolicyArns has {name}, which is not among AWS's policies that roles can have",
                    fix=(f"use arn:aws:iam::aws:policy/{meant}" if meant else "compare it with `aws iam list-policies`")
                    + "; if the policy is newer than our list, keep it",
                )
