"""Reads of S3, IAM and the Parameter Store: whether something of a name is there."""

from __future__ import annotations

from typing import Literal

from hyperpod_constructs.account.gateway.session import Reader
from hyperpod_constructs.errors import NotAllowed, NotInAccount


class Buckets(Reader):
    """Asks S3 for buckets, whose names all accounts share."""

    SERVICE = "s3"
    READS = {"HeadBucket": "s3:ListBucket"}  # noqa: RUF012  # the base class has the type

    def taken(self, name: str) -> Literal["ours", "others"] | None:
        """Who has a bucket of this name; `None` for nobody.

        S3 answers 403 both for a bucket of somebody else and where s3:ListBucket is missing for one of ours.

        Raises:
            AccountError: if AWS fails the read.
        """
        try:
            self._read("HeadBucket", of=f"bucket {name}", Bucket=name)
        except NotInAccount:
            return None
        except NotAllowed:
            return "others"
        return "ours"


class Roles(Reader):
    """Asks IAM for roles."""

    SERVICE = "iam"
    READS = {"GetRole": "iam:GetRole"}  # noqa: RUF012  # the base class has the type

    def exists(self, name: str) -> bool:
        """Whether there is a role of this name.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        try:
            self._read("GetRole", of=f"role {name}", RoleName=name)
        except NotInAccount:
            return False
        return True


class Parameters(Reader):
    """Reads the Parameter Store."""

    SERVICE = "ssm"
    READS = {"GetParameter": "ssm:GetParameter"}  # noqa: RUF012  # the base class has the type

    def value(self, name: str) -> str | None:
        """A parameter; `None` where there is none of that name.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        try:
            return str(self._read("GetParameter", of=f"parameter {name}", Name=name)["Parameter"]["Value"])
        except NotInAccount:
            return None
