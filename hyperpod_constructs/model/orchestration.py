"""Who schedules jobs on the cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.checks import check_one_of, check_whole
from hyperpod_constructs.tokens import Unknown, is_token

STRATEGIES: Final = ("Overwrite", "Managed", "Merge")
_DATABASE_NAME = re.compile(r"[a-zA-Z0-9$_]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountingDatabase:
    """A MySQL-compatible database outside the cluster that keeps Slurm's accounting; needs Continuous provisioning.

    Attributes:
        endpoint: Host name, up to 255 characters.
        secret_arn: ARN of the Secrets Manager secret with user name and password.
        port: 1 to 65535.
        name: Database, 1 to 64 letters, digits, `$` and `_`. CloudFormation and API document different defaults for it,
            so it is always written out.

    Source: SageMaker API, ClusterSlurmAccountingDatabase (botocore 1.44.8).
    """

    endpoint: str | Unknown
    secret_arn: str | Unknown
    port: int | Unknown = 3306
    name: str | Unknown = "slurm_acct_db"

    def __post_init__(self) -> None:
        check_whole("accounting database port", self.port, low=1, high=65535)
        if not is_token(self.name) and not _DATABASE_NAME.fullmatch(str(self.name)):
            raise InvalidValue(f"accounting database name is {self.name!r}", "use 1 to 64 letters, digits, $ and _")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slurm:
    """Slurm, configured through the API.

    Attributes:
        provisioning: `continuous` keeps the nodes that come and goes on asking for the rest; `all-or-nothing` makes
            every group roll back unless all of its nodes come within 3 hours: it sets the minimum count of each to its
            count and spares, whatever min_count says.
        accounting: Accounting database outside the cluster. Left out, it lives on the controller and is lost with it.
        strategy: SlurmConfigStrategy, only for clusters without Continuous provisioning, which refuse it otherwise.

    Source: SageMaker developer guide, sagemaker-hyperpod-scaling-slurm (October 2026).
    """

    provisioning: Literal["continuous", "all-or-nothing"] = "continuous"
    accounting: AccountingDatabase | Unknown | None = None
    strategy: Literal["Overwrite", "Managed", "Merge"] | Unknown | None = None

    def __post_init__(self) -> None:
        check_one_of("provisioning", self.provisioning, ("continuous", "all-or-nothing"))
        check_one_of("SlurmConfigStrategy", self.strategy, STRATEGIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Eks:
    """Amazon EKS.

    Attributes:
        cluster: Path or ARN of the EKS cluster.
    """

    cluster: str | Unknown
