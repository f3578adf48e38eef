"""What a change does to what runs, where a snapshot shows more than the templates tell.

A template that goes from 32 to 34 nodes takes six of the 40 that run, if somebody has scaled by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from hyperpod_constructs.review.drift import Drift, GroupDrift, PlanDrift
from hyperpod_constructs.review.groups import CLUSTER
from hyperpod_constructs.review.impacts import Change, Effect, Impact

_UPDATE: Final = "SageMaker API, UpdateCluster: InstanceCount is the number that the group shall have"
_PLANS: Final = "SageMaker developer guide, reserve-capacity-with-training-plans"
_TOLD: Final = frozenset({Impact.NODES_LOST, Impact.GROUP_REPLACED})


def beside(found: Sequence[Change], drift: Drift) -> Iterator[Change]:
    """The changes, corrected by what runs: what the templates alone did not tell, and what they told of nobody.

    Args:
        found: What the templates told.
        drift: The change beside what runs.
    """
    cluster = drift.after
    of_cluster = [each for each in found if cluster and each.type == CLUSTER and each.path.startswith(cluster)]
    groups = {f"{cluster}/{group.name}": group for group in drift.groups}
    told = set()
    for change in found:
        group = groups.get(change.path) if change in of_cluster else None
        if group is not None and change.impact in _TOLD:
            told.add(change.path)
            yield replace(change, effect=_nobody(change)) if group.takes_at_most == 0 else change
        else:
            yield change
    if not of_cluster:  # CloudFormation does not touch a cluster whose template stays as it is
        return
    for path, group in groups.items():
        if group.takes_running and path not in told:
            yield _change(of_cluster[0], path, "InstanceGroups.InstanceCount", _loss(group))
    for plan in drift.plans:
        if plan.over:
            yield _change(of_cluster[0], plan.groups[0], "InstanceGroups.TrainingPlanArn", _over(plan))
        elif plan.expired and plan.groups:
            yield _change(of_cluster[0], plan.groups[0], "InstanceGroups.TrainingPlanArn", _ended(plan))


def _nobody(change: Change) -> Effect:
    """That a change takes no node, because none is there."""
    impact = Impact.IN_PLACE if change.property_name.endswith("InstanceCount") else Impact.REMOVED
    return Effect(impact, "no node of it runs, so none goes", source=_UPDATE)


def _change(like: Change, path: str, name: str, effect: Effect) -> Change:
    return Change(path=path, property_name=name, effect=effect, type=CLUSTER, stack=like.stack)


def _loss(group: GroupDrift) -> Effect:
    proposed = group.proposed.instances if group.proposed else 0
    live = group.live.target if group.live else 0
    go = "may go" if group.only_drift else "go"
    reason = (
        f"{group.takes_running:,} running nodes {go}, and the service picks which: {live:,} are live and {proposed:,} "
        "are proposed"
    )
    action = "write the live number into the code first, or drain and delete the nodes of your choice"
    return Effect(Impact.NODES_LOST, reason, action, "scale-in", _UPDATE)


def _over(plan: PlanDrift) -> Effect:
    held = plan.live.count if plan.live else None
    reason = f"plan {plan.name} holds {held} instances and {plan.proposed:,} are asked of it"
    action = "use as many as it holds, or put the rest on a plan of their own"
    return Effect(Impact.REFUSED, reason, action, None, _PLANS)


def _ended(plan: PlanDrift) -> Effect:
    reason = f"plan {plan.name} has ended; no page says whether an update of the cluster fails while a group names it"
    return Effect(Impact.OPEN, reason, "set the count to 0, or name another plan", "plan-end", _PLANS)
