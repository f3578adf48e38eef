"""Who schedules jobs, from the `Orchestrator` property of a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hyperpod_constructs.model._reading import Fields, Node, optional, otherwise, required
from hyperpod_constructs.model.orchestration import Eks, ExternalDatabase, Slurm
from hyperpod_constructs.model.template.arns import arn_of
from hyperpod_constructs.model.template.storage import owner_of
from hyperpod_constructs.tokens import UNKNOWN, Unknown


def orchestrator(node: Node) -> Slurm | Eks | Unknown | None:
    """The orchestrator; `None` where it is left out, which is Slurm in its old form."""
    return node.optional(_chosen)


def _chosen(node: Node) -> Slurm | Eks | Unknown | None:
    slurm, eks = node["Slurm"], node["Eks"]
    if slurm.undecided and eks.undecided:
        return UNKNOWN
    # One that may be left out is, where the other one is certain: the service takes no two.
    if eks.undecided and slurm.given:
        eks = replace(eks, value=None)
    elif slurm.undecided and eks.given:
        slurm = replace(slurm, value=None)
    if slurm.given == eks.given:
        got = "both Eks and Slurm" if eks.given else "neither Eks nor Slurm"
        empty = next((name for name in ("Slurm", "Eks") if isinstance(node.value, dict) and name in node.value), None)
        if empty and not eks.given:
            node[empty].report("has no value", f"write {empty}: {{}}" if empty == "Slurm" else "give it a ClusterArn")
        else:
            node.report(f"holds {got}", "use exactly one of them")
        return UNKNOWN
    if slurm.given:
        return slurm.optional(lambda given: given.build(Slurm, _SLURM))
    return eks.optional(lambda given: given.build(Eks, _EKS))


def _host(node: Node) -> str | Unknown | None:
    """A host name, or the path of the database that has it."""
    return owner_of(node, "Endpoint.Address")


def _accounting(node: Node) -> ExternalDatabase:
    return node.build(ExternalDatabase, _ACCOUNTING)


_ACCOUNTING: Final[Fields] = {
    "endpoint": ("Endpoint", required(_host)),
    "secret_arn": ("SecretArn", required(Node.path)),
    "port": ("Port", otherwise(Node.whole, default=3306)),
    # CloudFormation and the API document different defaults.
    "name": ("Name", otherwise(Node.text, default=UNKNOWN)),
}
_SLURM: Final[Fields] = {
    "accounting": ("AccountingDatabase", optional(_accounting)),
    "strategy": ("SlurmConfigStrategy", Node.text),
}
_EKS: Final[Fields] = {"cluster": ("ClusterArn", required(arn_of("AWS::EKS::Cluster")))}
