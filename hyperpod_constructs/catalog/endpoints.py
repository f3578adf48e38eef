"""What nodes call, so that a network without a way to the internet has an endpoint for it.

Source: SageMaker developer guide, sagemaker-hyperpod-prerequisites and sagemaker-hyperpod-eks-prerequisites, with the
Terraform modules of awslabs/awsome-distributed-ai (eks-auth, and ec2 for the VPC CNI). Not tried against AWS; whether
nodes call `sagemaker.api` or `kms` too is not verified, so those are not asked for.
"""

from __future__ import annotations

from typing import Final, Literal

GATEWAY: Final = "s3"
"""The service that nodes reach through a gateway endpoint, which costs nothing."""

NEEDED: Final[dict[Literal["slurm", "eks"], tuple[str, ...]]] = {
    "slurm": ("ec2", "ec2messages", "logs", "monitoring", "ssm", "ssmmessages", "sts"),
    "eks": (
        "ec2",
        "ec2messages",
        "ecr.api",
        "ecr.dkr",
        "eks-auth",
        "logs",
        "monitoring",
        "ssm",
        "ssmmessages",
        "sts",
    ),
}
"""Interface endpoints besides S3, by short name of the service and by who schedules jobs."""
LUSTRE_EFA: Final = "fsx"
"""What nodes ask about the EFA of a Lustre file system that they mount; without an answer the mount goes over TCP.

Source: field report C-09, nodes need fsx:DescribeFileSystems.
"""
ACCOUNTING: Final = "secretsmanager"
"""Where the secret of an accounting database lies; that the controller reads it is likely, not documented."""
