"""Restricted instance groups counted as groups like any other: they are paid for and draw on the same quotas.

Where a template hides how many of them it has, a group of unknown size stands for them: a total without them must not
look whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.tokens import UNKNOWN

STAND_IN: Final = InstanceGroup(name="RestrictedInstanceGroups", count=UNKNOWN, instance_type=UNKNOWN)
"""Stands for groups of which nobody knows how many there are."""


def counted(deployment: Deployment) -> Deployment:
    """The deployment with the restricted groups of each cluster among its groups; not for rules."""
    clusters = (replace(each, groups=(*each.groups, *_restricted(each))) for each in deployment.clusters)
    return replace(deployment, clusters=tuple(clusters))


def _restricted(cluster: Cluster) -> Iterator[InstanceGroup]:
    groups = cluster.restricted_groups
    for each in (UNKNOWN,) if groups is UNKNOWN else groups:
        yield each.group if isinstance(each, RestrictedGroup) else STAND_IN
