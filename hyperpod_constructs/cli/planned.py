"""What `cost` and `summary` add up: the deployment, with a place kept for what its model does not hold.

Restricted instance groups (those that Nova models are trained on) are not in the model. A total without them must not
look whole, so a group of unknown size stands for them: it has no price, and every sum that it belongs to says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from hyperpod_constructs.cli.inputs import Input
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.planning import cost
from hyperpod_constructs.planning.cost import Cost, NotPriced
from hyperpod_constructs.tokens import UNKNOWN

RESTRICTED: Final = "RestrictedInstanceGroups"
"""The property, and the name of the group that stands for it."""

NOT_READ: Final = "restricted instance groups are not read by this version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A deployment to add up.

    Attributes:
        deployment: With a group of unknown size in each cluster that has restricted ones.
        restricted: Paths of those groups.
        conditional: Paths of clusters and file systems of which a condition decides at deploy whether they are made.
            They are counted.
    """

    deployment: Deployment
    restricted: frozenset[str]
    conditional: tuple[str, ...]

    @property
    def cost(self) -> Cost:
        """What it costs by the hour."""
        found = cost.hourly(self.deployment)
        return replace(found, not_priced=tuple(self._explained(item) for item in found.not_priced))

    def _explained(self, item: NotPriced) -> NotPriced:
        if item.path not in self.restricted:
            return item
        return NotPriced(path=item.path, item="restricted instances", why=NOT_READ)


def of(source: Input) -> Planned:
    """What can be added up of PATH."""
    deployment = source.deployment
    stand_in = InstanceGroup(name=RESTRICTED, count=UNKNOWN, instance_type=UNKNOWN)
    clusters = tuple(
        replace(cluster, groups=(*cluster.groups, stand_in)) if cluster.restricted else cluster
        for cluster in deployment.clusters
    )
    counted = {cluster.path for cluster in deployment.clusters} | {each.path for each in deployment.file_systems}
    return Planned(
        deployment=replace(deployment, clusters=clusters),
        restricted=frozenset(f"{cluster.path}/{RESTRICTED}" for cluster in deployment.clusters if cluster.restricted),
        conditional=tuple(each.path for each in source.read.resources() if each.conditional and each.path in counted),
    )
