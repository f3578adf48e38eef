"""What a cluster is meant to be, as far as CloudFormation has no property for it.

A template would otherwise lose it, and whoever reads one (the check at synth, `hyperpod check`, a review) would judge
less than the constructor did. It stands in the metadata of the cluster's resource, and its `subnets` in that of file
systems too:

    "hyperpod:intent": {
      "provisioning": "all-or-nothing",         Slurm only; sets every MinInstanceCount to the InstanceCount
      "has_teams": true,                        they share the cluster
      "chart_elsewhere": true,                  EKS only; somebody else installs the chart that nodes need
      "groups": {
        "p5": {                                 by name of the group
          "spares": 2,                          InstanceCount is the count and these
          "min_count": 1,                       only beside all-or-nothing, which overrides it
          "zone": "usw2-az2",
          "plan": {"name": "frontier", "count": 32, "zone": "usw2-az2", "starts": "2026-12-07", "ends": "2027-02-14",
                   "instance_type": "ml.p5.48xlarge"},
          "described": {"name": "ml.p7.48xlarge", "accelerators": 8, "efa": 16},
          "files": ["on_create.sh"],            what lies at SourceS3Uri
          "steps": ["people", "spares"],        those of this library that run there
          "carriage_returns": ["on_create.sh"], those of the files that have some
          "byte_order_marks": {"on_create.sh": "UTF-8"}, those of scripts that begin with one
          "fetches": {"on_create.sh": ["12: pip install"]}  what they load from the internet, with lines
        }
      },
      "subnets": {                              imported ones, by id
        "subnet-0123456789abcdef0": {"zone": "usw2-az2", "cidr": "10.1.0.0/20", "public": true,
                                     "vpc_cidr": "10.1.0.0/16"}
      }
    }

A bucket for data says `{"hyperpod:intent": {"holds_data": true}}`, and a quota with `has_members` whether anybody may
submit jobs as its team.

Every key may be left out. The keys are those of the model; nothing here changes what is deployed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from hyperpod_constructs.catalog import limits
from hyperpod_constructs.catalog.instances import Accelerator, InstanceType
from hyperpod_constructs.model._reading import Fields, Node, every, one_of, optional, otherwise, required
from hyperpod_constructs.model.capacity import Capacity, InstanceGroup, TrainingPlan, is_plan
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile
from hyperpod_constructs.model.network import Subnet
from hyperpod_constructs.model.orchestration import Slurm
from hyperpod_constructs.tokens import UNKNOWN, Unknown, is_token, known

KEY: Final = "hyperpod:intent"
"""Key in the metadata of a resource."""

_ALL_OR_NOTHING: Final = "all-or-nothing"
_OF_FILES: Final = ("files", "steps", "carriage_returns", "byte_order_marks", "fetches")


def encode(cluster: Cluster, *, subnets: Iterable[Subnet] = ()) -> dict[str, Any]:
    """What to put under `KEY`: JSON in a stable order, empty if CloudFormation's properties say everything.

    Args:
        cluster: The cluster as its user describes it.
        subnets: Imported subnets of which more than the id is known.

    Returns:
        Tokens stay as they are; what is `UNKNOWN` is left out. Groups and subnets whose names are tokens are left out,
        because nobody could find them again.
    """
    slurm = cluster.orchestrator
    all_or_nothing = isinstance(slurm, Slurm) and slurm.provisioning == _ALL_OR_NOTHING
    groups = {
        str(group.name): _encode_group(group, all_or_nothing=all_or_nothing)
        for group in cluster.groups
        if not is_token(group.name)
    }
    return _filled(
        {
            "provisioning": _ALL_OR_NOTHING if all_or_nothing else None,
            "has_teams": cluster.has_teams or None,
            "chart_elsewhere": cluster.chart_elsewhere or None,
            "groups": _filled(dict(sorted(groups.items()))),
            **encode_subnets(subnets),
        }
    )


def encode_subnets(subnets: Iterable[Subnet]) -> dict[str, Any]:
    """What to put under `KEY` of a file system: imported subnets of which more than the id is known."""
    imported = {subnet.path: _encode_subnet(subnet) for subnet in subnets if not is_token(subnet.path)}
    return _filled({"subnets": _filled(dict(sorted(imported.items())))})


def apply(cluster: Cluster, intent: Node) -> Cluster:
    """The cluster that was meant, from the one that the properties tell.

    Args:
        cluster: As read from the properties: counts include spares.
        intent: What stands under `KEY`. What is malformed is reported and left out.
    """
    _check_keys(intent, ("provisioning", "has_teams", "chart_elsewhere", "groups", "subnets"))
    groups = intent["groups"]
    names = [group.name for group in cluster.groups]
    if UNKNOWN not in names:
        _check_keys(groups, [str(name) for name in names])
    all_or_nothing = intent["provisioning"].one_of("continuous", _ALL_OR_NOTHING) == _ALL_OR_NOTHING
    if isinstance(cluster.orchestrator, Slurm) and all_or_nothing:
        cluster = replace(cluster, orchestrator=replace(cluster.orchestrator, provisioning=_ALL_OR_NOTHING))
    applied = [
        _apply_group(group, groups[group.name], all_or_nothing=all_or_nothing) if isinstance(group.name, str) else group
        for group in cluster.groups
    ]
    return replace(
        cluster,
        groups=tuple(applied),
        has_teams=intent["has_teams"].flag() is True,
        chart_elsewhere=intent["chart_elsewhere"].flag() is True,
    )


def subnets(intent: Node) -> tuple[Subnet, ...]:
    """The imported subnets that an intent describes.

    Args:
        intent: What stands under `KEY`. What is malformed is reported and left out.
    """
    node = intent["subnets"]
    found = node.mapping()
    names = [str(name) for name in found] if isinstance(found, dict) else []
    return tuple(node[name].build(Subnet, _SUBNET, path=name) for name in names)


def _check_keys(node: Node, allowed: Iterable[str]) -> None:
    """Reports keys that mean nothing."""
    found = node.mapping()
    known = list(allowed)
    for name in found if isinstance(found, dict) else ():
        if name not in known:
            node[str(name)].report("means nothing", f"use one of {', '.join(known)}")


# A group


def _encode_group(group: InstanceGroup, *, all_or_nothing: bool) -> dict[str, Any]:
    plan = group.capacity if isinstance(group.capacity, TrainingPlan) else None
    lifecycle = group.lifecycle if isinstance(group.lifecycle, Lifecycle) else Lifecycle()
    files = lifecycle.files
    return _filled(
        {
            "spares": group.spares or None,
            "min_count": group.min_count if all_or_nothing else None,
            "zone": group.zone,
            "plan": _encode_plan(plan) if plan else None,
            "described": _encode_fields(group.described) if group.described else None,
            "files": None if files is None else [file.name for file in files],
            "steps": None if lifecycle.steps is None else list(lifecycle.steps),
            "carriage_returns": [file.name for file in files or () if file.carriage_returns] or None,
            "byte_order_marks": {file.name: file.byte_order_mark for file in files or () if file.byte_order_mark},
            "fetches": {file.name: list(file.fetches) for file in files or () if file.fetches},
        }
    )


def _encode_plan(plan: TrainingPlan) -> dict[str, Any]:
    facts = _filled({name: getattr(plan, name) for name in _PLAN})
    return {"name": plan.plan, **facts} if facts or ":" not in plan.plan else {}


def _encode_fields(value: Accelerator | InstanceType) -> dict[str, Any]:
    given = {field.name: getattr(value, field.name) for field in fields(value)}
    defaults = {field.name: field.default for field in fields(value)}
    return _filled({name: _encode_value(item) for name, item in given.items() if item != defaults[name]})


def _encode_value(value: object) -> object:
    if isinstance(value, Accelerator):
        return _encode_fields(value)
    return list(value) if isinstance(value, tuple) else value


def _apply_group(group: InstanceGroup, node: Node, *, all_or_nothing: bool) -> InstanceGroup:
    node = replace(node, owner=f"{node.owner}/{group.name}")
    _check_keys(node, ("spares", "min_count", "zone", "plan", "described", *_OF_FILES))
    if all_or_nothing and group.min_count == group.count:
        group = replace(group, min_count=_min_count(node["min_count"]))
    spares = _spares(group, node["spares"])
    return replace(
        group,
        count=group.count - spares if isinstance(group.count, int) else group.count,
        spares=spares,
        zone=node["zone"].text(),
        capacity=_plan(group, node["plan"]),
        described=_described(group, node["described"]),
        lifecycle=_with_files(group.lifecycle, node) if isinstance(group.lifecycle, Lifecycle) else group.lifecycle,
    )


def _min_count(node: Node) -> int | Unknown | None:
    """What the user asked for, where the template has what provisioning made of it."""
    found = node.whole()
    if isinstance(found, int) and not limits.INSTANCE_COUNT.low <= found <= limits.INSTANCE_COUNT.high:
        node.report(f"is {found:,}", f"use {limits.INSTANCE_COUNT.low:,} to {limits.INSTANCE_COUNT.high:,}")
        return UNKNOWN
    return found


def _spares(group: InstanceGroup, node: Node) -> int:
    spares = node.whole()
    if not isinstance(spares, int):
        return 0
    most, what = limits.INSTANCE_COUNT.high, "the limit"
    if isinstance(group.count, int):
        most, what = group.count, "the InstanceCount"
    if 0 <= spares <= most:
        return spares
    node.report(f"is {spares:,}", f"use 0 to {most:,}, {what} of the group")
    return 0


def _plan(group: InstanceGroup, node: Node) -> Capacity | Unknown | None:
    """The plan of the group's ARN with its facts; facts of another plan do not count."""
    bought = group.capacity
    if not isinstance(node.mapping(), dict):
        return bought
    name = node["name"].text()
    if isinstance(bought, TrainingPlan):
        if isinstance(name, str) and name.rpartition("/")[2] != bought.name:
            message = f"is {name!r}, but the TrainingPlanArn of the group is of plan {bought.name!r}"
            node["name"].report(message, f"use {bought.name!r}, or another TrainingPlanArn")
            return bought
        name = name if isinstance(name, str) else bought.plan
    elif bought is not UNKNOWN:
        node.report("is there, but the group has no TrainingPlanArn", "leave it out, or give the TrainingPlanArn")
        return bought
    _check_keys(node, ("name", *_PLAN))
    # Where the ARN is decided at deploy, the intent alone says which plan it is; its name may be decided there, too.
    if isinstance(name, str) and name and not is_plan(name):
        node["name"].report(f"is {name!r}", "use the name of a training plan, or its ARN")
        return bought
    return bought if name in {None, ""} else node.build(TrainingPlan, _PLAN, plan=name)


def _described(group: InstanceGroup, node: Node) -> InstanceType | None:
    found = node.optional(_instance_type)
    if not isinstance(found, InstanceType):
        return None
    if isinstance(group.instance_type, str) and found.name != group.instance_type:
        message = f"is {found.name!r}, but the InstanceType of the group is {group.instance_type!r}"
        node["name"].report(message, f"describe {group.instance_type}, or leave the description out")
        return None
    return found


def _instance_type(node: Node) -> InstanceType | Unknown:
    _check_keys(node, _INSTANCE_TYPE)
    return node.build_known(InstanceType, _INSTANCE_TYPE)


def _accelerator(node: Node) -> Accelerator | Unknown:
    return node.build_known(Accelerator, _ACCELERATOR)


def _threads(node: Node) -> object:
    """The values; left out is not the same as none."""
    return node.every(Node.whole) if node.given else None


def _with_files(lifecycle: Lifecycle, node: Node) -> Lifecycle:
    lifecycle = _with_steps(lifecycle, node["steps"])
    names, marked = node["files"].every(Node.text), node["carriage_returns"].every(Node.text)
    if not node["files"].given or names is UNKNOWN or marked is UNKNOWN:
        return lifecycle
    return replace(
        lifecycle,
        files=tuple(
            ScriptFile(
                name=name,
                carriage_returns=name in set(marked),
                byte_order_mark=known(node["byte_order_marks"][name].text()),
                fetches=_fetches(node["fetches"][name]),
            )
            for name in names
        ),
    )


def _with_steps(lifecycle: Lifecycle, node: Node) -> Lifecycle:
    steps = node.every(Node.text)
    return lifecycle if steps is UNKNOWN or not node.given else replace(lifecycle, steps=steps)


def _fetches(node: Node) -> tuple[str, ...]:
    found = node.every(Node.text)
    return () if found is UNKNOWN else found


# A subnet


def _encode_subnet(subnet: Subnet) -> dict[str, Any]:
    return _filled(
        {
            "zone": subnet.zone,
            "cidr": subnet.cidr,
            "public": subnet.public if subnet.public is True else None,
            "vpc_cidr": subnet.vpc_cidr,
        }
    )


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """What is given and known."""
    return {name: value for name, value in values.items() if value is not None and value is not UNKNOWN and value != {}}


_PLAN: Final[Fields] = {
    "count": ("count", Node.whole),
    "zone": ("zone", Node.text),
    "starts": ("starts", Node.text),
    "ends": ("ends", Node.text),
    "instance_type": ("instance_type", Node.text),
}
_ACCELERATOR: Final[Fields] = {
    "kind": ("kind", required(one_of("gpu", "neuron"))),
    "name": ("name", required(Node.text)),
    "count": ("count", required(Node.whole)),
    "memory_gib_each": ("memory_gib_each", Node.number),
}
_INSTANCE_TYPE: Final[Fields] = {
    "name": ("name", required(Node.text)),
    "vcpus": ("vcpus", Node.whole),
    "memory_gib": ("memory_gib", Node.number),
    "accelerators": ("accelerators", Node.whole),
    "accelerator": ("accelerator", optional(_accelerator)),
    "threads_per_core": ("threads_per_core", _threads),
    "efa": ("efa", Node.whole),
    "network_cards": ("network_cards", Node.whole),
    "ipv4_per_interface": ("ipv4_per_interface", Node.whole),
    "addresses": ("addresses", Node.whole),
    "local_disk_gb": ("local_disk_gb", Node.whole),
    "architecture": ("architecture", one_of("x86_64", "arm64")),
    "ultraserver": ("ultraserver", Node.flag),
    "regions": ("regions", every(Node.text)),
}
_SUBNET: Final[Fields] = {
    "zone": ("zone", Node.text),
    "cidr": ("cidr", Node.text),
    "public": ("public", otherwise(Node.flag, default=False)),
    "vpc_cidr": ("vpc_cidr", Node.text),
}
