"""What can be known about the instance types of groups: HP10xx."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.catalog import instances, limits, regions
from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import every_group, place
from hyperpod_constructs.rules._words import all_of, any_of, named

_SIZE = re.compile(r"nano|micro|small|medium|large|[1-9]\d{0,2}?xlarge|xlarge|metal(-[1-9]\d{0,2}xl)?")

_FACTS = (
    "vcpus",
    "memory_gib",
    "accelerators",
    "threads_per_core",
    "efa",
    "network_cards",
    "ipv4_per_interface",
    "local_disk_gb",
    "architecture",
    "ultraserver",
)
"""What of a description is a matter of fact; the addresses that a node takes a user may know better."""
_CLUSTER = "AWS::SageMaker::Cluster"
_API = "SageMaker API, ClusterInstanceGroupSpecification (botocore 1.44.8)"


def _types(group: InstanceGroup) -> Iterator[tuple[str, InstanceType | None]]:
    """The known names among a group's instance types, each with its facts."""
    if isinstance(group.instance_type, str):
        yield group.instance_type, group.facts
    for name in group.flexible_types if isinstance(group.flexible_types, tuple) else ():
        if isinstance(name, str):
            yield name, instances.find(name)


def _unknown_types(deployment: Deployment) -> Iterator[tuple[InstanceGroup, str, str, tuple[str, ...]]]:
    """Groups with a type that nobody described: group, path, type, types that were probably meant.

    A size that a known family does not have yet is no misspelling: AWS adds sizes to its families.
    """
    families = {_family(name) for name in instances.names()}
    for _, group, path in every_group(deployment):
        for name, facts in _types(group):
            if facts is None:
                new = _family(name) in families and _SIZE.fullmatch(name.rpartition(".")[2])
                yield group, path, name, () if new else instances.near(name)


def _family(name: str) -> str:
    """What stands before the size: `ml.p5`."""
    return name.rpartition(".")[0]


@rule(
    "HP1118",
    Severity.WARNING,
    title="An instance type is described other than the catalogue has it",
    because="everything that is counted from the type (addresses, EFA, quotas) then comes from the description; one "
    "for a type that the catalogue has is mostly a slip",
    source="EC2 DescribeInstanceTypes, as the catalogue copies it",
)
def descriptions_agree_with_the_catalogue(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        told: dict[tuple[str, tuple[str, ...]], list[InstanceGroup]] = {}
        for group in cluster.groups:
            its, listed = group.described, instances.find(group.described.name) if group.described else None
            if its and listed and (differing := _differences(its, listed)):
                told.setdefault((its.name, differing), []).append(group)
        for (name, differing), groups in told.items():
            yield Problem(
                path=place(cluster, groups),
                message=f"{named(*groups)}: {name} is described with {all_of(differing)}",
                fix=f"give the name alone, {name!r}, unless the catalogue is wrong",
            )


def _differences(described: InstanceType, listed: InstanceType) -> tuple[str, ...]:
    """What two descriptions of one type say differently, in words; what one of them leaves open is no difference."""
    pairs = {field: (getattr(described, field), getattr(listed, field)) for field in _FACTS}
    return tuple(
        f"{field} {one!r} (the catalogue has {other!r})"
        for field, (one, other) in pairs.items()
        if one is not None and other is not None and one != other
    )


@rule(
    "HP1007",
    Severity.ERROR,
    title="A group does not have exactly one of instance type and flexible types",
    because="InstanceType and InstanceRequirements exclude each other, and without either there is nothing to launch",
    source=_API,
)
def groups_have_one_kind_of_type(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        single, flexible = group.instance_type, group.flexible_types
        if single is None and flexible == ():
            yield Problem(
                path=path,
                message=f"{named(group)} has neither InstanceType nor InstanceRequirements",
                fix="write InstanceType: ml.p5.48xlarge or another, or InstanceRequirements with up to 20 types",
            )
        if isinstance(single, str) and isinstance(flexible, tuple) and flexible:
            yield Problem(
                path=path,
                message=f"{named(group)} has both InstanceType {single} and InstanceRequirements",
                fix=f"leave one of them out; InstanceRequirements (flexible_types=) may begin with {single}",
            )


@rule(
    "HP1008",
    Severity.ERROR,
    title="A group's flexible types are too many or repeat",
    because="the service takes 1 to 20 different types, in order of preference",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-operate-cli-command-create-cluster (October 2026)",
)
def flexible_types_are_a_short_list(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        flexible = group.flexible_types if isinstance(group.flexible_types, tuple) else ()
        types = [name for name in flexible if isinstance(name, str)]
        if len(types) > limits.FLEXIBLE_TYPES.high:
            yield Problem(
                path=path,
                message=f"{named(group)} has {len(types)} flexible types",
                fix=f"use 1 to {limits.FLEXIBLE_TYPES.high}",
            )
        for name in dict.fromkeys(types):
            if types.count(name) > 1:
                yield Problem(
                    path=path,
                    message=f"{named(group)} names {name} {types.count(name)} times among its flexible types",
                    fix="name every type once, in order of preference",
                )


@rule(
    "HP1010",
    Severity.ERROR,
    title="An instance type is a misspelling of a known one",
    because="the service refuses names that it does not know",
    source="SageMaker API, ClusterInstanceType (botocore 1.44.8)",
)
def instance_types_are_spelled_right(deployment: Deployment) -> Iterator[Problem]:
    for group, path, name, meant in _unknown_types(deployment):
        if meant:
            newer = (
                f"; if the type is new, in the CDK describe it: hp.InstanceType({name!r}, ...)"
                if name.startswith("ml.")
                else ""
            )
            yield Problem(
                path=path,
                message=f"{named(group)} has instance type {name!r}, which is no known type",
                fix=f"use {any_of(meant)}{newer}",
            )


@rule(
    "HP1011",
    Severity.WARNING,
    title="An instance type is not in the catalogue",
    because="its accelerators, addresses and price are not known, so that nothing that follows from them is checked",
    source="SageMaker API, ClusterInstanceType (botocore 1.44.8)",
)
def instance_types_are_known(deployment: Deployment) -> Iterator[Problem]:
    for group, path, name, meant in _unknown_types(deployment):
        if not meant:
            yield Problem(
                path=path,
                message=f"{named(group)} has instance type {name!r}, which our catalogue does not have",
                fix="see that the name is right; if it is new, in the CDK describe it: "
                f"hp.InstanceType({name!r}, accelerators=..., efa=..., addresses=...)",
            )


@rule(
    "HP1012",
    Severity.WARNING,
    title="The price list of the Region does not have the instance type",
    because="a group waits in vain for a type that its Region does not have; price lists lag, so this is advice",
    source="cfn-lint 1.58.0, instance types by Region, from AWS price lists (2026-10-20)",
)
def instance_types_are_in_the_region(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in every_group(deployment):
        for name, facts in _types(group):
            listed = facts.regions if facts else ()
            # Of a Region without HyperPod another rule says so once.
            if not isinstance(cluster.region, str) or regions.has_type(cluster.region, _CLUSTER) is False:
                continue
            if listed and cluster.region not in listed:
                yield Problem(
                    path=path,
                    message=f"{named(group)} has {name}, which the price list of {cluster.region} does not have",
                    fix=f"use {any_of(listed)}, or make sure that {cluster.region} has it: price lists lag",
                )


@rule(
    "HP1014",
    Severity.ERROR,
    title="Threads per core is not a value that the instance type has",
    because="types without multithreading take 1 only, and the value cannot be changed later",
    source="SageMaker API, ThreadsPerCore (botocore 1.44.8); EC2 DescribeInstanceTypes",
)
def threads_per_core_fit_the_type(deployment: Deployment) -> Iterator[Problem]:
    for group, path, types in _asking_for_threads(deployment):
        refusing = _refusing(group, types)
        if refusing and len(refusing) == len(types):
            allowed = sorted({value for values in types.values() for value in values})
            yield Problem(
                path=path,
                message=f"{named(group)} asks for {group.threads_per_core} threads per core of {all_of(refusing)}",
                fix=f"use ThreadsPerCore (threads_per_core=) {' or '.join(map(str, allowed))}, or leave it out",
            )


def _asking_for_threads(deployment: Deployment) -> Iterator[tuple[InstanceGroup, str, dict[str, tuple[int, ...]]]]:
    """Groups that ask for threads per core, with what each of their types can have; all types are known."""
    for _, group, path in every_group(deployment):
        facts = dict(_types(group))
        flexible = group.flexible_types if isinstance(group.flexible_types, tuple) else ()
        if not isinstance(group.threads_per_core, int) or any(not isinstance(name, str) for name in flexible):
            continue
        values = {name: each.threads_per_core for name, each in facts.items() if each and each.threads_per_core}
        if values and len(values) == len(facts):
            yield group, path, values


def _refusing(group: InstanceGroup, types: dict[str, tuple[int, ...]]) -> list[str]:
    """The types that cannot have the threads that a group asks for."""
    return [name for name, allowed in types.items() if group.threads_per_core not in allowed]


@rule(
    "HP1020",
    Severity.WARNING,
    title="Threads per core is not a value that all of a group's flexible types have",
    because="types without multithreading take 1 only; what becomes of the others of the list is not documented",
    source="SageMaker API, ThreadsPerCore (botocore 1.44.8); EC2 DescribeInstanceTypes",
)
def threads_per_core_fit_all_types(deployment: Deployment) -> Iterator[Problem]:
    for group, path, types in _asking_for_threads(deployment):
        refusing = _refusing(group, types)
        if refusing and len(refusing) < len(types):
            yield Problem(
                path=path,
                message=f"{named(group)} asks for {group.threads_per_core} threads per core, which {all_of(refusing)} "
                "cannot have",
                fix="leave ThreadsPerCore out, or put these types into a group of their own",
            )


@rule(
    "HP1021",
    Severity.WARNING,
    title="An EFA interface is asked for of a type without EFA",
    because="both values of InterfaceType are kinds of EFA; that the service refuses them for other types is inferred",
    source="SageMaker API, ClusterNetworkInterface (botocore 1.44.8); EC2 DescribeInstanceTypes; inferred",
)
def efa_interfaces_are_for_types_with_efa(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        without = [name for name, facts in _types(group) if facts is not None and facts.efa == 0]
        if isinstance(group.network_interface, str) and without:
            yield Problem(
                path=path,
                message=f"{named(group)} asks for the interface {group.network_interface}, but {all_of(without)} "
                f"{'has' if len(without) == 1 else 'have'} no EFA",
                fix="leave NetworkInterface out of this group",
            )
