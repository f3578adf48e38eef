"""Everything this package raises on purpose.

HyperPodError
├── ConfigurationError (also ValueError)
│   ├── InvalidValue      one field of one value can never be right
│   └── InvalidCluster    .findings: everything wrong with a deployment
├── UnreadableTemplate    a file that is no CloudFormation template, or an assembly with a piece missing
├── UnreadablePrices      a file that is no list of prices
├── UnreadableSnapshot    a file that `hyperpod snapshot` did not write
├── UnreadableChart       a Helm chart that cannot be downloaded or rendered
└── AccountError          AWS refused or failed a read
    ├── NotAllowed          .permission: what the account must allow for the read
    ├── NotInAccount        what was asked for is not there
    └── AccountUnavailable  the same read may succeed later
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_constructs.findings import Finding


class HyperPodError(Exception):
    """Base of all errors of this package."""


class ConfigurationError(HyperPodError, ValueError):
    """What the user wrote cannot be deployed."""


class InvalidValue(ConfigurationError):
    """One field of one value can never be right, whatever surrounds it.

    Attributes:
        wrong: What is wrong, with the value got.
        fix: The change to make, with the values allowed; empty where the message says no more than what is wrong.
    """

    def __init__(self, wrong: str, fix: str = "") -> None:
        self.wrong, self.fix = wrong, fix
        super().__init__(f"{wrong}; {fix}" if fix else wrong)


class InvalidCluster(ConfigurationError):
    """A deployment with errors; the message lists all of them.

    Attributes:
        findings: The errors, each with rule id, path, message and fix.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        count = len(self.findings)
        lines = [f"{count} error{'s' if count != 1 else ''}"]
        for finding in self.findings:
            lines += [f"  {finding.rule}  {finding.path}: {finding.message}", f"          fix: {finding.fix}"]
        super().__init__("\n".join(lines))


class UnreadableTemplate(HyperPodError):
    """A file or folder that cannot be read as CloudFormation; the message is one line for the user."""


class UnreadablePrices(HyperPodError):
    """A file that cannot be read as a list of prices; the message is one line for the user."""


class UnreadableSnapshot(HyperPodError):
    """A file that cannot be read as a snapshot of a cluster; the message is one line for the user."""


class UnreadableChart(HyperPodError):
    """A Helm chart that cannot be downloaded or rendered; the message is one line for the user."""


class AccountError(HyperPodError):
    """AWS refused or failed a read; the message is one line for the user, with what to do about it."""


class NotAllowed(AccountError):
    """The credentials lack a permission.

    Attributes:
        permission: What must be allowed, for example `ec2:DescribeSubnets`.
    """

    def __init__(self, message: str, *, permission: str) -> None:
        self.permission = permission
        super().__init__(message)


class NotInAccount(AccountError):
    """The account has nothing of that name in that Region."""


class AccountUnavailable(AccountError):
    """AWS throttled or failed a read, or could not be reached: the same read may succeed later.

    Attributes:
        answered: Whether AWS answered at all; where it never has, the Region is wrong or the network has no way to it.
    """

    def __init__(self, message: str, *, answered: bool) -> None:
        self.answered = answered
        super().__init__(message)
