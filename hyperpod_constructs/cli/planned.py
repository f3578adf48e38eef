"""What `cost` and `summary` add up: the deployment, restricted instance groups counted as groups like any other.

Where a template hides how many restricted groups it has, a group of unknown size stands for them: a total without them
must not look whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.cli.inputs import Input
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.planning import cost
from hyperpod_constructs.planning.cost import Cost, Metered
from hyperpod_constructs.tokens import UNKNOWN

_STAND_IN: Final = InstanceGroup(name="RestrictedInstanceGroups", count=UNKNOWN, instance_type=UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A deployment to add up.

    Attributes:
        deployment: With the restricted groups of each cluster among its groups.
        conditional: Paths of clusters and file systems of which a condition decides at deploy whether they are made.
            They are counted.
        lists: Prices that come before those of this package, the best first.
    """

    deployment: Deployment
    conditional: tuple[str, ...]
    lists: tuple[PriceList, ...]

    @property
    def cost(self) -> Cost:
        """What it costs by the hour."""
        return cost.hourly(self.deployment, self.lists)

    @property
    def kept(self) -> tuple[Metered, ...]:
        """What is still there, and paid for, after the stacks were deleted."""
        kept = {each.path for each in self.deployment.file_systems if each.retention.outlives_its_stack}
        return tuple(item for item in self.cost.metered if item.path in kept)


def of(source: Input, lists: Sequence[PriceList]) -> Planned:
    """What can be added up of PATH, with prices that come before those of this package."""
    deployment = source.deployment
    clusters = tuple(
        replace(cluster, groups=(*cluster.groups, *_restricted(cluster))) for cluster in deployment.clusters
    )
    counted = {cluster.path for cluster in deployment.clusters} | {each.path for each in deployment.file_systems}
    return Planned(
        deployment=replace(deployment, clusters=clusters),
        conditional=tuple(each.path for each in source.read.resources() if each.conditional and each.path in counted),
        lists=tuple(lists),
    )


def _restricted(cluster: Cluster) -> Iterator[InstanceGroup]:
    groups = cluster.restricted_groups
    for each in (UNKNOWN,) if groups is UNKNOWN else groups:
        yield each.group if isinstance(each, RestrictedGroup) else _STAND_IN
