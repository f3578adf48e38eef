from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.planning import quotas, restricted
from hyperpod_constructs.tokens import UNKNOWN

RIG = InstanceGroup(name="rig", instance_type="ml.p5.48xlarge", count=4)


def counted(groups: Any) -> tuple[InstanceGroup, ...]:
    (cluster,) = restricted.counted(
        Deployment(clusters=(Cluster(path="Cluster", groups=(), restricted_groups=groups),))
    ).clusters
    return cluster.groups


def test_restricted_groups_count_like_others() -> None:
    assert counted((RestrictedGroup(group=RIG),)) == (RIG,)


@pytest.mark.parametrize("hidden", [UNKNOWN, (UNKNOWN,)])
def test_hidden_ones_have_a_stand_in_so_that_no_total_looks_whole(hidden: Any) -> None:
    groups = counted(hidden)
    assert [group is restricted.STAND_IN for group in groups] == [True]
    both = Deployment(clusters=(Cluster(path="Cluster", groups=(RIG, *groups)),))
    assert {quota.complete for quota in quotas.needed(both) if "Total" in quota.quota.name} == {False}
