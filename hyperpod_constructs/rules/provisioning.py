"""Provisioning and Slurm's options: HP21xx."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.kubernetes import AutoScaling
from hyperpod_constructs.model.orchestration import Eks, Slurm
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import restricted
from hyperpod_constructs.tokens import UNKNOWN

CONTINUOUS = "Continuous"

_SCALING = "SageMaker developer guide, sagemaker-hyperpod-scaling-slurm (October 2026)"


@rule(
    "HP2101",
    Severity.ERROR,
    title="SlurmConfigStrategy together with Continuous provisioning",
    because="the service refuses any strategy there; a Continuous cluster always merges",
    source=_SCALING,
)
def continuous_clusters_have_no_strategy(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        slurm = cluster.orchestrator
        if isinstance(slurm, Slurm) and isinstance(slurm.strategy, str) and cluster.provisioning == CONTINUOUS:
            yield Problem(
                path=cluster.path,
                message=f"SlurmConfigStrategy is {slurm.strategy} with NodeProvisioningMode: Continuous",
                fix="leave SlurmConfigStrategy out: Orchestrator: {Slurm: {}}",
            )


@rule(
    "HP2102",
    Severity.WARNING,
    title="The provisioning mode is left out",
    because="AWS's pages of October 2026 call Continuous the default for new clusters, the API names no default, and "
    "what happens to a request without SlurmConfig is open; the pages differ on SlurmConfigStrategy too",
    source="SageMaker developer guide, sagemaker-hyperpod-scaling-slurm and -scaling-eks (October 2026)",
)
def clusters_write_their_provisioning(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        if cluster.provisioning is not None or cluster.orchestrator is UNKNOWN or _is_told(cluster):
            continue
        slurm = cluster.orchestrator
        bare = isinstance(slurm, Slurm) and slurm.strategy is None
        yield Problem(
            path=cluster.path,
            message="NodeProvisioningMode and SlurmConfigStrategy are left out"
            if bare
            else "NodeProvisioningMode is left out",
            fix=_provisioning_fix(cluster),
        )


def _is_told(cluster: Cluster) -> bool:
    """Whether another rule says what the mode has to be, or restricted groups are all there is, which have none."""
    scales = isinstance(cluster.autoscaling, AutoScaling) and cluster.autoscaling.mode == "Enable"
    return (scales and cluster.scheduler == "eks") or bool(restricted(cluster) and not cluster.groups)


def _provisioning_fix(cluster: Cluster) -> str:
    if isinstance(cluster.orchestrator, Eks):
        return "write NodeProvisioningMode: Continuous, unless the cluster already runs without it"
    if cluster.orchestrator is None and all(group.node_type is None for group in cluster.groups):
        return (
            "for a new cluster give every group a node type (SlurmConfig) and write NodeProvisioningMode: Continuous; "
            "leave a running one on provisioning_parameters.json as it is"
        )
    return (
        "write NodeProvisioningMode: Continuous without SlurmConfigStrategy; for a cluster that already runs without "
        "it write SlurmConfigStrategy: Merge instead"
    )


@rule(
    "HP2103",
    Severity.WARNING,
    title="An accounting database, and the cluster does not ask for Continuous provisioning",
    because="the database is for clusters with Continuous provisioning only; whether leaving the mode out gives such a "
    "cluster is not confirmed",
    source="SageMaker API, ClusterAccountingDatabase (botocore 1.44.8)",
)
def accounting_databases_have_continuous_provisioning(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        slurm = cluster.orchestrator
        if not isinstance(slurm, Slurm) or cluster.provisioning is not None:
            continue
        if slurm.accounting is not None and slurm.accounting is not UNKNOWN:
            yield Problem(
                path=cluster.path,
                message=f"accounting database {slurm.accounting.endpoint!r}, but NodeProvisioningMode is left out",
                fix="write NodeProvisioningMode: Continuous, or leave AccountingDatabase out to keep accounting on the "
                "controller",
            )


@rule(
    "HP2104",
    Severity.WARNING,
    title="Accounts and limits of teams die with the controller",
    because="without an accounting database outside the cluster Slurm keeps accounts, limits and history in a MariaDB "
    "on the controller: they are lost when that node is replaced, and where limits are enforced every job is refused "
    "then",
    source="SageMaker developer guide, sagemaker-hyperpod-external-accounting-db-slurm (November 2026)",
)
def teams_outlive_the_controller(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        slurm = cluster.orchestrator
        if cluster.has_teams and isinstance(slurm, Slurm) and slurm.accounting is None:
            yield Problem(
                path=cluster.path,
                message="teams share the cluster, whose accounting database is on the controller",
                fix="give it a database outside: accounting=True of hp.SlurmTraining, or for hp.Cluster "
                "slurm=hp.Slurm(accounting=hp.AccountingDatabase(...).database)",
            )
