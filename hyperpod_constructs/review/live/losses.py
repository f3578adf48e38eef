"""What a change does to what runs, where a snapshot shows more than the templates tell.

A template that goes from 32 to 34 nodes takes six of the 40 that run, if somebody has scaled by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperpod_constructs.review.groups import CLUSTER
from hyperpod_constructs.review.impacts import Change, Effect, Impact
from hyperpod_constructs.review.live.drift import Drift, FileSystemDrift, GroupDrift, PlanDrift

_UPDATE: Final = "SageMaker API, UpdateCluster: InstanceCount is the number that the group shall have"
_PLANS: Final = "SageMaker developer guide, reserve-capacity-with-training-plans"
_GROWS: Final = "FSx API, UpdateFileSystem: StorageCapacity can only be increased"
_STATUS: Final = "SageMaker API, DescribeCluster: ClusterStatus"
_TOLD: Final = frozenset({Impact.NODES_LOST, Impact.GROUP_REPLACED})
_NOT_SENT: Final = frozenset({"DeletionPolicy", "UpdateReplacePolicy", "spares", "min_count", "zone"})
"""What a change of a cluster may be without an update of the cluster: policies, and what the code says of groups."""
_CAPACITY: Final = "StorageCapacity"


def beside(found: Sequence[Change], drift: Drift) -> Iterator[Change]:
    """The changes, corrected by what runs: what the templates alone did not tell, and what they told of nobody.

    Args:
        found: What the templates told.
        drift: The change beside what runs.
    """
    systems = {each.path: each for each in drift.file_systems if each.path is not None}
    groups = {f"{drift.after}/{group.name}": group for group in drift.groups} if drift.after else {}
    corrected = [_corrected(change, groups, systems) for change in found]
    yield from corrected
    updates = [each for each in found if _is_update(each, drift.after)]
    if not updates:  # CloudFormation does not touch a cluster whose template stays as it is
        return
    told = {each.path for each in updates if each.impact in _TOLD}
    yield from _of_groups(updates[0], {path: group for path, group in groups.items() if path not in told})
    yield from _of_plans(updates[0], drift.plans)
    if drift.before and not any(each.impact is Impact.REPLACED for each in updates):  # of a new one, nothing runs
        yield from _of_the_old_one(updates[0], drift, groups)


def _is_update(change: Change, cluster: str | None) -> bool:
    """Whether a change makes CloudFormation update the cluster of a path."""
    if cluster is None or change.type != CLUSTER or change.property_name in _NOT_SENT:
        return False
    return change.path == cluster or change.path.startswith(f"{cluster}/")


def _corrected(change: Change, groups: Mapping[str, GroupDrift], systems: Mapping[str, FileSystemDrift]) -> Change:
    """A change with what it does to what runs."""
    group = groups.get(change.path) if change.type == CLUSTER else None
    if group is not None and change.impact in _TOLD:
        if group.takes_at_most == 0:
            return replace(change, effect=_nobody(change, group))
        return replace(change, effect=_loss(group)) if _takes_others(change, group) else change
    system = systems.get(change.path)
    if system and system.outgrows and change.property_name == _CAPACITY and change.impact is not Impact.REFUSED:
        return replace(change, effect=_outgrown(system))
    return change


def _takes_others(change: Change, group: GroupDrift) -> bool:
    """Whether another number of nodes goes than the templates tell."""
    return bool(change.impact is Impact.NODES_LOST and group.proposed and group.drifted and group.takes_running)


def _of_groups(like: Change, groups: Mapping[str, GroupDrift]) -> Iterator[Change]:
    """Nodes that go although the templates do not tell it."""
    for path, group in groups.items():
        if group.takes_running:
            yield _change(like, path, "InstanceGroups.InstanceCount", _loss(group))


def _of_plans(like: Change, plans: Sequence[PlanDrift]) -> Iterator[Change]:
    for plan in plans:
        if plan.over:
            yield _change(like, plan.groups[0], "InstanceGroups.TrainingPlanArn", _over(plan))
        elif plan.expired and plan.groups:
            yield _change(like, plan.groups[0], "InstanceGroups.TrainingPlanArn", _ended(plan))


def _of_the_old_one(like: Change, drift: Drift, groups: Mapping[str, GroupDrift]) -> Iterator[Change]:
    """What nobody knows of an update of the cluster as it is now."""
    if drift.after and drift.status != "InService":
        yield _change(like, drift.after, "", _busy(drift))
    for path, group in groups.items():
        if group.state == "undeclared" and group.live and (group.live.target or group.live.running):
            yield _change(like, path, "InstanceGroups", _undeclared(group))


def _change(like: Change, path: str, name: str, effect: Effect) -> Change:
    return Change(path=path, property_name=name, effect=effect, type=CLUSTER, stack=like.stack)


def _nobody(change: Change, group: GroupDrift) -> Effect:
    """That a change takes no node, because none is there or fewer are than are proposed."""
    impact = Impact.IN_PLACE if change.property_name.endswith("InstanceCount") else Impact.REMOVED
    proposed = group.proposed.instances if group.proposed else None
    if group.live is None or not group.live.running or proposed is None:
        return Effect(impact, "no node of it runs, so none goes", source=_UPDATE)
    running = group.live.running
    reason = f"{running:,} of its nodes run{'s' if running == 1 else ''} and {proposed:,} are proposed: none goes"
    if running > proposed:
        reason = f"the group goes to {group.live.target:,} nodes already and {proposed:,} are proposed: no other goes"
    return Effect(impact, reason, source=_UPDATE)


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


def _outgrown(system: FileSystemDrift) -> Effect:
    reason = (
        f"{system.live.id} has {system.live.capacity_gib:,} GiB already and {system.proposed_gib:,} are proposed: it "
        "can only grow"
    )
    action = f"write {system.live.capacity_gib} GiB into the code, or more"
    return Effect(Impact.REFUSED, reason, action, None, _GROWS)


def _undeclared(group: GroupDrift) -> Effect:
    running = group.live.running if group.live else 0
    reason = (
        f"the cluster has this group, with {running:,} running node{'' if running == 1 else 's'}, and neither template "
        "has it; no page says whether a deploy deletes it"
    )
    action = "write the group into the code as it runs, or drain it and delete it first"
    return Effect(Impact.OPEN, reason, action, None, _UPDATE)


def _busy(drift: Drift) -> Effect:
    reason = f"cluster {drift.cluster} was {drift.status}: an update may be refused until it is InService"
    return Effect(Impact.OPEN, reason, "deploy when it is InService, with a new snapshot", None, _STATUS)


def _over(plan: PlanDrift) -> Effect:
    held = plan.live.count if plan.live else None
    reason = f"plan {plan.name} holds {held} instances and {plan.proposed:,} are asked of it"
    action = "use as many as it holds, or put the rest on a plan of their own"
    return Effect(Impact.REFUSED, reason, action, None, _PLANS)


def _ended(plan: PlanDrift) -> Effect:
    reason = f"plan {plan.name} has ended; no page says whether an update of the cluster fails while a group names it"
    return Effect(Impact.OPEN, reason, "set the count to 0, or name another plan", "plan-end", _PLANS)
