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
class ExternalDatabase:
    """A MySQL-compatible database outside the cluster that keeps Slurm's accounting.

    `hp.AccountingDatabase(...).database` is one that is made here; HyperPod itself neither makes nor manages any. It
    needs Continuous provisioning and an AMI released after 2026-08-30, and a cluster that has it cannot go back to the
    database on its controller. Several clusters may share one. Slurm knows them apart by their names: a new cluster
    with a name that the database knows does not start (CLUSTER ID MISMATCH), so it needs another name, or database.

    Attributes:
        endpoint: Host name, up to 255 characters; where a template is read, also the path of the database.
        secret_arn: ARN of the Secrets Manager secret with user name and password.
        port: 1 to 65535.
        name: Database, 1 to 64 letters, digits, `$` and `_`. CloudFormation and API document different defaults for it,
            so it is always written out.
        key_arn: ARN of the customer key that encrypts the secret, which the controller is then allowed to use. No
            property of a cluster holds it, so that readers of templates leave it out.

    Source: SageMaker developer guide, sagemaker-hyperpod-external-accounting-db-slurm (seen 2026-11-30); SageMaker API,
    ClusterSlurmAccountingDatabase (botocore 1.44.8); for the names aws-samples/sample-physical-ai-scaffolding-kit,
    pull request 17.
    """

    endpoint: str | Unknown
    secret_arn: str | Unknown
    port: int | Unknown = 3306
    name: str | Unknown = "slurm_acct_db"
    key_arn: str | Unknown | None = None

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
    accounting: ExternalDatabase | Unknown | None = None
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
