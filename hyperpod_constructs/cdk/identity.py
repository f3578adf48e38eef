"""Roles of nodes: one per group, and one policy for what all of them may do.

The policy is made of the features in use and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs.catalog.permissions import (
    EKS_DESCRIBE,
    EKS_INTERFACE_CHANGE,
    IMAGE_LOGIN,
    IMAGE_PULL,
    INTERFACE_CHANGE,
    INTERFACE_DESCRIBE,
    INTERFACE_TAG,
    NODE_POLICY,
    POD_IDENTITY,
)

_SUFFIX: Final = re.compile(r"-[A-Za-z0-9]{6}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFeatures:
    """What decides which permissions nodes have, besides those for the network that every cluster of ours stands in.

    Attributes:
        lustre_efa: Whether a Lustre file system with EFA is mounted, which nodes must be able to describe.
        scripts: ARNs of script buckets, each with the key prefix that all versions of the scripts share.
        objects: Objects that steps load, as `bucket/key`.
        secrets: ARNs of secrets that steps read.
        decrypt: ARNs of customer keys of what steps read.
        parameters: Names of SSM parameters that steps read, without the slash before them.
        volume_key_arns: Customer keys of volumes.
        rollback_alarms: Whether alarms roll an update back, which nodes must be able to read.
        eks_arn: ARN of the EKS cluster that the nodes join.
    """

    lustre_efa: bool = False
    scripts: Sequence[tuple[str, str]] = ()
    objects: Sequence[str] = ()
    secrets: Sequence[str] = ()
    decrypt: Sequence[str] = ()
    parameters: Sequence[str] = ()
    volume_key_arns: Sequence[str] = ()
    rollback_alarms: bool = False
    eks_arn: str | None = None


def statements(features: NodeFeatures, *, partition: str, region: str, account: str) -> list[dict[str, object]]:
    """The statements of the shared policy."""
    found: list[dict[str, object]] = [
        {"Sid": "DescribeNetwork", "Effect": "Allow", "Action": list(INTERFACE_DESCRIBE), "Resource": "*"},
        {
            "Sid": "NodeInterfaces",
            "Effect": "Allow",
            "Action": list(INTERFACE_CHANGE),
            "Resource": "*",
            "Condition": {"StringEquals": {"aws:RequestedRegion": region}},
        },
        {
            "Sid": "TagInterfaces",
            "Effect": "Allow",
            "Action": INTERFACE_TAG,
            "Resource": f"arn:{partition}:ec2:{region}:*:network-interface/*",
        },
    ]
    if features.eks_arn is not None:
        found += _of_eks_nodes(features.eks_arn, partition=partition, region=region)
    if features.lustre_efa:
        # Without it the mount falls back to TCP in silence (field report C-09); the action knows no resources.
        found.append({"Sid": "DescribeLustre", "Effect": "Allow", "Action": "fsx:DescribeFileSystems", "Resource": "*"})
    for number, (bucket, prefix) in enumerate(features.scripts, start=1):
        below = f"{prefix}/*" if prefix else "*"
        found += [
            {
                "Sid": f"ReadScripts{number}",
                "Effect": "Allow",
                "Action": "s3:GetObject",
                "Resource": f"{bucket}/{below}",
            },
            {
                "Sid": f"ListScripts{number}",
                "Effect": "Allow",
                "Action": "s3:ListBucket",
                "Resource": bucket,
                "Condition": {"StringLike": {"s3:prefix": [prefix, below] if prefix else [below]}},
            },
        ]
    for sid, action, resources in (
        ("ReadObjects", "s3:GetObject", [f"arn:{partition}:s3:::{each}" for each in features.objects]),
        ("ReadSecrets", "secretsmanager:GetSecretValue", [_whole(arn) for arn in features.secrets]),
        ("Decrypt", "kms:Decrypt", list(features.decrypt)),
        (
            "ReadParameters",
            "ssm:GetParameter",
            [f"arn:{partition}:ssm:{region}:{account}:parameter/{each}" for each in features.parameters],
        ),
    ):
        if resources:
            found.append({"Sid": sid, "Effect": "Allow", "Action": action, "Resource": resources})
    if features.rollback_alarms:
        found.append({"Sid": "ReadAlarms", "Effect": "Allow", "Action": "cloudwatch:DescribeAlarms", "Resource": "*"})
    if features.volume_key_arns:
        found.append(
            {
                "Sid": "VolumeKeys",
                "Effect": "Allow",
                "Action": ["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext"],
                "Resource": sorted(features.volume_key_arns),
            }
        )
    return found


def _of_eks_nodes(eks_arn: str, *, partition: str, region: str) -> list[dict[str, object]]:
    """What nodes of an EKS cluster may do besides: addresses of pods, images, pod identities."""
    on_interfaces = [f"arn:{partition}:ec2:{region}:*:{kind}/*" for kind in ("instance", "network-interface")]
    return [
        {"Sid": "DescribeNodes", "Effect": "Allow", "Action": list(EKS_DESCRIBE), "Resource": "*"},
        {"Sid": "PodAddresses", "Effect": "Allow", "Action": list(EKS_INTERFACE_CHANGE), "Resource": on_interfaces},
        {"Sid": "LogInToRegistries", "Effect": "Allow", "Action": IMAGE_LOGIN, "Resource": "*"},
        {
            "Sid": "PullImages",
            "Effect": "Allow",
            "Action": list(IMAGE_PULL),
            # Of any account: those of the chart and of add-ons lie in AWS's own.
            "Resource": f"arn:{partition}:ecr:*:*:repository/*",
        },
        {"Sid": "PodIdentities", "Effect": "Allow", "Action": POD_IDENTITY, "Resource": eks_arn},
    ]


def _whole(secret_arn: str) -> str:
    """A pattern for the whole ARN of a secret, which ends in six characters that people leave out."""
    return secret_arn if _SUFFIX.search(secret_arn) else f"{secret_arn}-??????"


class NodeRoles(Construct):
    """The roles of a cluster's groups and the policy that they share.

    Attributes:
        roles: Roles by group.
        policy: What every node may do.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        groups: Sequence[str],
        features: NodeFeatures,
        given: Mapping[str, iam.IRole],
        permissions_boundary: iam.IManagedPolicy | None = None,
    ) -> None:
        """Makes the roles that are not given, and the shared policy.

        Args:
            scope: Parent construct.
            id: Name within the parent.
            groups: Names of the groups.
            features: What decides which permissions nodes have.
            given: Roles of the user's by group; they must trust `sagemaker.amazonaws.com`. One that is closed to
                changes (`mutable=False`, `without_policy_updates()`) or of another account does not get the policy.
            permissions_boundary: Boundary of the roles that are made.
        """
        super().__init__(scope, id)
        # Read as pseudo parameters where the account is not known, so that the template is the same everywhere.
        stack = cdk.Stack.of(self)
        trust = iam.ServicePrincipal(
            "sagemaker.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": stack.account}}
        )
        managed = [iam.ManagedPolicy.from_aws_managed_policy_name(NODE_POLICY)]
        self.roles: dict[str, iam.IRole] = {
            group: given.get(group)
            or iam.Role(
                self,
                f"Group-{group}",
                assumed_by=trust,
                managed_policies=managed,
                permissions_boundary=permissions_boundary,
            )
            for group in groups
        }
        self.policy = iam.Policy(
            self,
            "Policy",
            roles=[role for group, role in self.roles.items() if group not in given],
            document=iam.PolicyDocument.from_json(
                {
                    "Version": "2012-10-17",
                    "Statement": statements(
                        features, partition=cdk.Aws.PARTITION, region=stack.region, account=stack.account
                    ),
                }
            ),
        )
        self._given = given
        self._ask_given(self.policy, groups)

    def attach(self, policy: iam.Policy, groups: Sequence[str] | None = None) -> None:
        """Gives a policy to the roles of some groups, or of all.

        Args:
            policy: The policy.
            groups: Names of the groups.
        """
        for group in self.roles if groups is None else groups:
            if group not in self._given:
                policy.attach_to_role(self.roles[group])
        self._ask_given(policy, self.roles if groups is None else groups)

    def _ask_given(self, policy: iam.Policy, groups: Iterable[str]) -> None:
        """Roles of the user's are asked, because they may decline; `roles=` of a policy would not ask them."""
        for group in groups:
            if group in self._given:
                self._given[group].attach_inline_policy(policy)
