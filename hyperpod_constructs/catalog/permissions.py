"""What the role of a node must allow, which both the constructs that make it and the rules that judge it need to know.

Source, unless a name says otherwise: SageMaker developer guide, sagemaker-hyperpod-prerequisites-iam (October 2026).
"""

from __future__ import annotations

from typing import Final

NODE_POLICY: Final = "AmazonSageMakerClusterInstanceRolePolicy"
"""Managed policy for nodes: `NODE_ACTIONS`, and reading buckets that are named `sagemaker-*`."""
NODE_ACTIONS: Final = (
    "cloudwatch:PutMetricData",
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:DescribeLogStreams",
    "logs:PutLogEvents",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)
"""Logs, metrics and sessions of nodes. Source: version 1 of the policy (2023-11-29; moto 5.2.5, copies of AWS's)."""

INTERFACE_DESCRIBE: Final = (
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
)
"""What HyperPod reads with the role in a VPC of the account; on all resources."""
INTERFACE_CHANGE: Final = (
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DetachNetworkInterface",
)
"""What HyperPod does with the role in a VPC of the account; the page asks for all resources. Detach is what replacing a
node needs."""
INTERFACE_TAG: Final = "ec2:CreateTags"
"""The same, on network interfaces."""
EKS_DESCRIBE: Final = ("ec2:DescribeInstances", "ec2:DescribeInstanceTypes", "ec2:DescribeTags")
"""What nodes of an EKS cluster read besides; on all resources."""
EKS_INTERFACE_CHANGE: Final = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:AttachNetworkInterface",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
)
"""How the VPC CNI gives pods their addresses; on instances and network interfaces."""
IMAGE_LOGIN: Final = "ecr:GetAuthorizationToken"
"""Before images are pulled; on all resources."""
IMAGE_PULL: Final = ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")
"""Pulling images; on repositories."""
POD_IDENTITY: Final = "eks-auth:AssumeRoleForPodIdentity"
"""What the pod identity agent asks for pods; on the EKS cluster."""
EKS_NODE_ACTIONS: Final = tuple(
    sorted((*EKS_DESCRIBE, *EKS_INTERFACE_CHANGE, IMAGE_LOGIN, *IMAGE_PULL, POD_IDENTITY), key=str.lower)
)
"""Further actions of nodes in an EKS cluster. Source: the page above, and hyperpod-eks-tf of
awslabs/awsome-distributed-ai."""
SCALING_ACTIONS: Final = ("sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes")
"""What the cluster's own role needs for autoscaling. Source: SageMaker API, CreateCluster, ClusterRole."""
KEY_ACTIONS: Final = ("kms:CreateGrant", "kms:DescribeKey")
"""What roles need of a customer key of volumes. Source: SageMaker developer guide, smcluster-cmk (2026)."""
