"""Roles of nodes, for tests of rules."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.identity import Role, Statement
from hyperpod_constructs.model.lifecycle import Lifecycle
from tests.rules.builders import compute, deployment, slurm_cluster, told

SERVICE = "sagemaker.amazonaws.com"
SOURCE = "s3://sagemaker-scripts/lcs"
INTERFACES = (
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
    "ec2:DetachNetworkInterface",
)


def statement(actions: Any, resources: Any = ("*",), **fields: Any) -> Statement:
    return Statement(**{"allow": True, "actions": actions, "resources": resources, **fields})


IN_VPC = (
    statement(INTERFACES),
    statement(("ec2:CreateTags",), ("arn:aws:ec2:*:*:network-interface/*",)),
)


def role(**fields: Any) -> Role:
    """A role `Role` that has what nodes in a VPC need."""
    defaults = {
        "trusts": (SERVICE,),
        "source_account_checked": True,
        "managed_policies": (NODE_POLICY,),
        "statements": IN_VPC,
    }
    return Role(path="Role", **{**defaults, **fields})


def judged(its: Role, *, uri: Any = SOURCE, **fields: Any) -> Deployment:
    """A Slurm cluster whose group `p5` has the role and scripts."""
    scripts = Lifecycle(source_uri=uri, on_create="on_create.sh")
    return deployment(slurm_cluster(compute(execution_role="Role", lifecycle=scripts), **fields), roles=(its,))


def of(rule: str, **fields: Any) -> list[str]:
    """What a rule says of a node role with these fields."""
    return told(rule, judged(role(**fields)))
