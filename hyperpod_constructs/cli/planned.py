"""What `cost` and `summary` add up: the deployment, restricted instance groups counted as groups like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.cli.inputs import Input
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.planning import cost, restricted
from hyperpod_constructs.planning.cost import Cost, Metered


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
    counted = {cluster.path for cluster in deployment.clusters} | {each.path for each in deployment.file_systems}
    return Planned(
        deployment=restricted.counted(deployment),
        conditional=tuple(each.path for each in source.read.resources() if each.conditional and each.path in counted),
        lists=tuple(lists),
    )
