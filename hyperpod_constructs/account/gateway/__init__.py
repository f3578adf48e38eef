"""The AWS calls that this package makes: reads only, as typed values, with errors that a person can act on.

Only this package imports boto3, and only when an account is read: the import takes longer than most commands. One
module for each AWS service holds a `Reader` with the reads that we need of it; `READS` of each lists them with the
permission that each needs, and a read that is not listed cannot be made.

    account = gateway.sign_in(profile=None, region="us-west-2")
    subnets = account.open(Ec2).subnets(["subnet-1"])
"""

from __future__ import annotations

from hyperpod_constructs.account.gateway.sagemaker import (
    DescribedCluster,
    DescribedGroup,
    Gateway,
    ListedNode,
)
from hyperpod_constructs.account.gateway.session import Reader, Session, must_exist, sign_in

__all__ = [
    "DescribedCluster",
    "DescribedGroup",
    "Gateway",
    "ListedNode",
    "Reader",
    "Session",
    "connect",
    "must_exist",
    "sign_in",
]


def connect(*, profile: str | None, region: str | None) -> Gateway:
    """Opens the clusters of an account for reading; nothing is sent yet.

    Args:
        profile: Name of a profile of the AWS configuration; by default what boto3 finds.
        region: Region to read; by default that of the profile or the environment.

    Raises:
        AccountError: if there is no such profile, no Region is set, or there is no such Region.
    """
    return sign_in(profile=profile, region=region).open(Gateway)
