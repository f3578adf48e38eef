"""What no account can be asked about, since only the deployment knows it: said, for silence would read as `fine`."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.account.preflight.context import Context, Placed
from hyperpod_constructs.account.preflight.registry import Said, check, not_seen
from hyperpod_constructs.model.capacity import TrainingPlan
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.tokens import UNKNOWN, is_token

_FIX = "give the values in the template, or its parameters a default; or look at them yourself"


@check("values that only the deployment knows")
def values_are_known(context: Context) -> Iterator[Said]:
    for cluster in context.clusters:
        groups = [placed for placed in context.placed() if placed.cluster == cluster]
        missing: dict[str, list[Placed]] = {}
        for placed in groups:
            for what in _missing(context, placed):
                missing.setdefault(what, []).append(placed)
        for what, users in missing.items():
            names = ", ".join(str(each.group.name) for each in users)
            path = users[0].path if len(users) == 1 else cluster.path
            yield not_seen(path, f"only the deployment knows {what} of {names}: not looked at", _FIX)
        if _hides_eks(cluster):
            yield not_seen(cluster.path, "only the deployment knows the EKS cluster: not looked at", _FIX)


def _missing(context: Context, placed: Placed) -> Iterator[str]:
    """Parts of a group that would have been asked about."""
    if context.undecided(placed, "subnets"):
        yield "subnets (whether they exist, have room, are private and lead to S3)"
    if context.undecided(placed, "security_groups"):
        yield "security groups (whether they exist, fit the VPC and let traffic pass)"
    plan = placed.group.capacity
    if plan is UNKNOWN or (isinstance(plan, TrainingPlan) and is_token(plan.plan)):
        yield "the training plan or kind of capacity"
    mounts = placed.group.mounts
    if mounts is UNKNOWN or (isinstance(mounts, tuple) and any(mount.file_system is UNKNOWN for mount in mounts)):
        yield "mounted file systems"


def _hides_eks(cluster: Cluster) -> bool:
    eks = cluster.orchestrator
    return eks is UNKNOWN or (isinstance(eks, Eks) and eks.cluster is UNKNOWN)
