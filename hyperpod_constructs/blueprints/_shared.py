"""What blueprints have in common, whoever schedules: where they stand, who is told, what is marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import aws_cdk as cdk
from constructs import Construct

from hyperpod_constructs.blueprints.budget import BudgetStack
from hyperpod_constructs.blueprints.foundation import Foundation
from hyperpod_constructs.cdk import validation
from hyperpod_constructs.cdk.cluster import Cluster
from hyperpod_constructs.cdk.network import Egress, Network
from hyperpod_constructs.cdk.observability import ClusterNotices
from hyperpod_constructs.cdk.storage import IFileSystem
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.budget import Budget
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.storage import Lustre
from hyperpod_constructs.tokens import known

_STACK_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
Effect = tuple[object, object, str]
"""What is given, what it needs to have an effect, and what to say of it without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a blueprint stands.

    Attributes:
        name: Name of its cluster.
        path: Path of its stack.
        account: Account, if it is known at synth.
        region: Region, if it is known at synth.
    """

    name: str
    path: str
    account: str | None
    region: str | None


def place_of(blueprint: str, scope: Construct, id: str, env: cdk.Environment | None, generation: int) -> Place:
    """Where a blueprint stands.

    Args:
        blueprint: Its name, for messages.
        scope: Its parent.
        id: Its name within the parent.
        env: Account and Region that it is given.
        generation: Counts clusters that were made again.

    Raises:
        InvalidValue: if no stack can have that name.
    """
    # `Stage.of` gives the parent of a stage, not the stage itself.
    stage = scope if isinstance(scope, cdk.Stage) else cdk.Stage.of(scope)
    # Stages deploy to one account, too: their clusters must not have one name.
    parts = [stage.stage_name if stage else "", id, str(generation) if generation > 1 else ""]
    stack = "-".join(filter(None, parts[:2]))
    if not _STACK_NAME.fullmatch(stack):
        raise InvalidValue(
            f"{blueprint}: stacks would be named {stack!r}",
            "use an id of letters, digits and hyphens, beginning with a letter",
        )
    return Place(
        name="-".join(filter(None, parts)),
        path="/".join(filter(None, [scope.node.path, id])),
        account=_concrete(env.account if env else None, stage.account if stage else None),
        region=_concrete(env.region if env else None, stage.region if stage else None),
    )


def _concrete(*candidates: str | None) -> str | None:
    """The first that is given, if it is known at synth."""
    return known(next(filter(None, candidates), None))


def refuse_without_effect(*effects: Effect) -> None:
    """Raises `InvalidValue` for the first argument that would have no effect."""
    for given, needed, message in effects:
        if given and not needed:
            raise InvalidValue(message)


def of_a_network_of_ours(
    network: Network | None, cidr: str | None, egress: Egress | None, endpoints: Sequence[str] | None
) -> tuple[Effect, ...]:
    """Arguments that a network of the user's decides."""
    return (
        (cidr, not network, "cidr has no effect beside network, which has its own"),
        (egress, not network, "egress has no effect beside network, which has its own"),
        (endpoints, not network, "endpoints have no effect beside network, which has its own"),
    )


def storage_of(storage: Lustre | IFileSystem | None) -> tuple[Lustre | None, IFileSystem | None]:
    """The file system to make, and the one that exists."""
    return (storage, None) if isinstance(storage, Lustre) else (None, storage)


def zones_of(zone: str, groups: Sequence[InstanceGroup]) -> list[str]:
    """Every zone in use, the cluster's first."""
    others = {group.zone for group in groups if isinstance(group.zone, str)} - {zone}
    return [zone, *sorted(others)]


def notify(
    stack: cdk.Stack,
    cluster: Cluster,
    foundation: Foundation | None,
    *,
    scope: Construct,
    id: str,
    place: Place,
    emails: Sequence[str],
    budget: Budget | None,
) -> BudgetStack | None:
    """Tells people of the state of a cluster and of its cost; the stack of the budget, if there is one."""
    if foundation and foundation.alerts:
        ClusterNotices(stack, "Notices", cluster=cluster, topic_arn=foundation.alerts.topic_arn)
    if budget is None:
        return None
    return BudgetStack(scope, id, account=place.account, region=place.region, emails=emails, budget=budget)


def mark(
    stacks: Iterable[cdk.Stack | None], tags: Mapping[str, str] | None, acknowledge: Mapping[str, str] | None
) -> None:
    """Gives every stack of a blueprint its tags and acknowledgements."""
    for stack in filter(None, stacks):
        validation.record(stack, acknowledge)
        for key, value in sorted((tags or {}).items()):
            cdk.Tags.of(stack).add(key, value)
