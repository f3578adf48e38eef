"""Instance groups before and after: matched by name, because that is how the service knows them.

A group that is not in the list any more loses its nodes; so does one that is renamed, or that gives way to another in
the same deploy: its nodes go before the others have come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hyperpod_constructs.cloudformation.values import Value
from hyperpod_constructs.review.comparison import Difference, Pair
from hyperpod_constructs.review.directions import number
from hyperpod_constructs.review.impacts import Change, Effect, Impact
from hyperpod_constructs.review.wording import argument, shown

CLUSTER: Final = "AWS::SageMaker::Cluster"
LISTS: Final = ("InstanceGroups", "RestrictedInstanceGroups")
COUNT: Final = "InstanceCount"
_UPDATE: Final = "SageMaker API, UpdateCluster; developer guide, sagemaker-hyperpod-operate (October 2026)"


def is_group(pair: Pair, difference: Difference) -> bool:
    """Whether a difference is a whole instance group, or the number of its instances: what this module judges."""
    if pair.either.type != CLUSTER or not difference.steps or difference.steps[0] not in LISTS:
        return False
    return difference.path in LISTS or difference.path in {f"{name}.{COUNT}" for name in LISTS}


def changes(pair: Pair, differences: Sequence[Difference]) -> Iterator[Change]:
    """What becomes of the groups of one cluster.

    Args:
        pair: The cluster.
        differences: Those of its differences of which `is_group` is true.
    """
    new = {each.steps[1]: each for each in differences if _is_whole(each) and each.before is None}
    gone = [each for each in differences if _is_whole(each) and each.after is None]
    for difference in gone:
        yield _gone(pair, difference, _successor(difference, new))
    for difference in new.values():
        yield _new(pair, difference)
    for difference in differences:
        if difference.path in LISTS and not _is_whole(difference):
            yield _unreadable(pair, difference)
        elif not _is_whole(difference):
            yield _counted(pair, difference)


def nodes(group: Value) -> int | None:
    """Instances that a group asks for; `None` where that is decided at deploy."""
    count = number(group.get(COUNT)) if isinstance(group, dict) else None
    return None if count is None else int(count)


def _is_whole(difference: Difference) -> bool:
    return difference.path in LISTS and len(difference.steps) == len(("list", "name"))


def _counted(pair: Pair, difference: Difference) -> Change:
    before, after = number(difference.before), number(difference.after)
    if before is None or after is None:
        effect = Effect(
            Impact.OPEN,
            "how many nodes it has is decided at deploy",
            f"compare with the live cluster: `hyperpod snapshot {_cluster(pair)} --output FILE`, then --live FILE",
            perhaps=Impact.NODES_LOST,
        )
    elif after == before:
        effect = Effect(Impact.IN_PLACE, "the same number, written differently")
    elif after > before:
        reason = f"{after - before:,.0f} more nodes, nothing restarts; the stack is complete before they are there"
        effect = Effect(Impact.IN_PLACE, reason, _wait(pair, f"{argument(difference.steps[1], 'GROUP')}={after:.0f}"))
    else:
        impact = Impact.OPEN if difference.perhaps else Impact.NODES_LOST
        if_given = ", if the deploy is given the new default of the parameter" if difference.perhaps else ""
        reason = (
            f"{before - after:,.0f} of {before:,.0f} nodes go, and the service picks which{if_given}: their jobs die"
        )
        action = "drain, delete the nodes of your choice by id, and only then commit the lower count"
        perhaps = Impact.NODES_LOST if difference.perhaps else None
        effect = Effect(impact, reason, action, "scale-in", _UPDATE, perhaps)
    return _change(pair, difference, effect)


def _gone(pair: Pair, difference: Difference, successor: Difference | None) -> Change:
    count = nodes(difference.before)
    some = "its nodes go" if count is None else "its 1 node goes" if count == 1 else f"its {count:,} nodes go"
    if count == 0 and _scales_itself(pair):
        reason = "what runs of it goes: the cluster scales its groups itself, so the count says nothing"
        action = f"look first: `hyperpod status {_cluster(pair)}`; drain what runs"
        return _change(pair, difference, Effect(Impact.NODES_LOST, reason, action, "scale-in", _UPDATE))
    if count == 0:
        return _change(pair, difference, Effect(Impact.REMOVED, "an empty group is taken out", source=_UPDATE))
    if successor is None:
        action = "drain it first; its root volumes and local disks go with the nodes"
        reason = f"{some}: the group is taken out"
        return _change(pair, difference, Effect(Impact.NODES_LOST, reason, action, "scale-in", _UPDATE))
    name = successor.steps[1]
    renamed = _kind(difference.before) == _kind(successor.after)
    verb, recipe = ("is renamed to", "rename-a-group") if renamed else ("gives way to", "replace-a-type")
    reason = f"the group {verb} {name!r} in one deploy: {some} before those of {name!r} have come"
    action = f"two deploys: add {name!r} beside it, move the jobs, drain it, then take it out"
    return _change(pair, difference, Effect(Impact.GROUP_REPLACED, reason, action, recipe, _UPDATE))


def _scales_itself(pair: Pair) -> bool:
    """Whether Karpenter adds and takes nodes, whatever counts the template has."""
    properties = pair.before.properties if pair.before else None
    scaling = properties.get("AutoScaling") if isinstance(properties, dict) else None
    return isinstance(scaling, dict) and scaling.get("Mode") != "Disable"


def _new(pair: Pair, difference: Difference) -> Change:
    count = nodes(difference.after)
    some = "a number of nodes that is decided at deploy" if count is None else f"{count:,} nodes"
    reason = f"a new group: {some}; it starts with the AMI of the earliest group, nothing else restarts"
    action = _wait(pair, f"{argument(difference.steps[1], 'GROUP')}={count}") if count else ""
    return _change(pair, difference, Effect(Impact.CREATED, reason, action, source=_UPDATE))


def _unreadable(pair: Pair, difference: Difference) -> Change:
    reason = "which groups there are is decided at deploy, or two of them have one name"
    action = "give each group a name of its own in plain text"
    return _change(pair, difference, Effect(Impact.OPEN, reason, action, perhaps=Impact.NODES_LOST))


def _wait(pair: Pair, nodes_of: str) -> str:
    """The command that waits until nodes are there."""
    return f"afterwards: `hyperpod status {_cluster(pair)} --wait --nodes {nodes_of}`"


def _cluster(pair: Pair) -> str:
    """The cluster's name as a command takes it."""
    properties = pair.either.properties
    return argument(properties.get("ClusterName") if isinstance(properties, dict) else None, "CLUSTER")


def _successor(gone: Difference, new: Mapping[str, Difference]) -> Difference | None:
    """The new group that does what the old one did: one of its kind, else one of its role."""
    same = [each for each in new.values() if _kind(each.after) == _kind(gone.before)]
    role = [each for each in new.values() if _role(each.after) == _role(gone.before)]
    return next(iter(same or role), None)


def _kind(group: Value) -> tuple[str, str]:
    """Instance types and role of a group."""
    if not isinstance(group, dict):
        return "", ""
    return shown(group.get("InstanceType", group.get("InstanceRequirements"))), _role(group)


def _role(group: Value) -> str:
    config = group.get("SlurmConfig") if isinstance(group, dict) else None
    return shown(config.get("NodeType")) if isinstance(config, dict) else ""


def _change(pair: Pair, difference: Difference, effect: Effect) -> Change:
    counted = difference.path not in LISTS
    return Change(
        path=f"{pair.either.path}/{difference.steps[1]}" if len(difference.steps) > 1 else pair.either.path,
        property_name=difference.path,
        effect=effect,
        type=CLUSTER,
        stack=pair.stack,
        before=shown(difference.before) if counted else None,
        after=shown(difference.after) if counted else None,
    )
