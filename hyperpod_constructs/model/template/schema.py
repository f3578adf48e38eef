"""Compares every value of a resource with what the services accept: types, words, patterns, ranges, names.

What is not known before the deploy is never reported. Nothing is reported twice either: the walk comes after everything
else that reads a template, passes over what was reported already, and leaves to a rule what a rule says better.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from hyperpod_constructs.catalog import schemas
from hyperpod_constructs.model._reading import Node, shown
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_SLIP: Final = 0.9
"""How alike two names must be for one to be a slip: `PartitionName` for `PartitionNames`. AWS names new properties
after old ones (`InstanceCount` and `MinInstanceCount` are alike to 0.897), so less than this is no proof."""
_LIKE: Final = 0.6
"""How alike two names must be to offer one in place of the other."""
_GROWING: Final = 100
"""Lists this long are those of instance types: AWS adds to them every month, so that absence is no proof."""
_SHOWN: Final = 12
"""Most names that a message lists."""


@dataclass(frozen=True, slots=True)
class Left:
    """What the walk leaves to a rule.

    Attributes:
        rule: Id of the rule.
        limits: The limits that it judges.
        texts: Pattern of the only texts that it judges; empty for all.
    """

    rule: str
    limits: tuple[str, ...]
    texts: str = ""


_COUNT: Final = ("minItems", "maxItems")
_TEXT: Final = ("pattern", "minLength", "maxLength")
_RANGE: Final = ("minimum", "maximum")
_NO_ID: Final = Left("HP4021", ("pattern", "maxLength"), r"arn:.*|.*,.*|[0-9a-fA-F.:]+/[0-9]+")
_TAGS: Final = {"Tags": Left("HP0106", ("uniqueItems",))}
_VPC: Final = {
    "SecurityGroupIds": Left("HP4009", _COUNT),
    "SecurityGroupIds.": _NO_ID,
    "Subnets": Left("HP4009", _COUNT),
    "Subnets.": _NO_ID,
}
_GROUP: Final = {
    "ImageId": Left("HP1015", _TEXT),
    "InstanceRequirements.InstanceTypes": Left("HP1008", ("maxItems",)),
    "InstanceStorageConfigs": Left("HP3014", ("maxItems",)),
    "InstanceStorageConfigs.FsxLustreConfig.MountPath": Left("HP3016", ("pattern",)),
    "InstanceStorageConfigs.FsxOpenZfsConfig.MountPath": Left("HP3016", ("pattern",)),
    "LifeCycleConfig.OnCreate": Left("HP5004", _TEXT),
    "LifeCycleConfig.OnInitComplete": Left("HP5004", _TEXT),
    "LifeCycleConfig.SourceS3Uri": Left("HP5003", _TEXT),
    "OnStartDeepHealthChecks.": Left("HP1201", ("enum",)),
    "SlurmConfig.PartitionNames": Left("HP2006", ("maxItems",)),
    "SlurmConfig.PartitionNames.": Left("HP2008", _TEXT),
    **{f"OverrideVpcConfig.{path}": left for path, left in _VPC.items()},
}
_CLUSTER: Final = {
    **_TAGS,
    "InstanceGroups": Left("HP1004", _COUNT),
    **{f"InstanceGroups.{path}": left for path, left in _GROUP.items()},
    **{f"VpcConfig.{path}": left for path, left in _VPC.items()},
}
LEFT_TO_RULES: Final[Mapping[str, Mapping[str, Left]]] = {
    "AWS::SageMaker::Cluster": {
        **_CLUSTER,
        "InstanceGroups.ScheduledUpdateConfig.ScheduleExpression": Left("HP1016", _TEXT),
    },
    schemas.REQUEST: _CLUSTER,
    "AWS::SageMaker::ClusterSchedulerConfig": _TAGS,
    "AWS::SageMaker::ComputeQuota": _TAGS,
    "AWS::FSx::DataRepositoryAssociation": _TAGS,
    "AWS::FSx::FileSystem": {
        **_TAGS,
        "FileSystemTypeVersion": Left("HP3007", _TEXT),
        "LustreConfiguration.DataReadCacheConfiguration.SizeGiB": Left("HP3004", _RANGE),
        "LustreConfiguration.LogConfiguration.Destination": Left("HP3024", _TEXT),
        "LustreConfiguration.MetadataConfiguration.Iops": Left("HP3006", _RANGE),
        "LustreConfiguration.ThroughputCapacity": Left("HP3004", _RANGE),
        "SecurityGroupIds.": _NO_ID,
        "SubnetIds": Left("HP3010", _COUNT),
        "SubnetIds.": _NO_ID,
    },
    "AWS::Budgets::Budget": {
        "NotificationsWithSubscribers": Left("HP0001", _COUNT),
        "NotificationsWithSubscribers.Subscribers": Left("HP0002", ("required", *_COUNT)),
    },
}
"""By kind and path, what a rule says better; a path that ends in a dot is that of the elements of a list."""


def check(node: Node, kind: str) -> None:
    """Reports what the services cannot take.

    Args:
        node: The properties of a resource, or the body of a request.
        kind: One of `catalog.schemas.KINDS`.
    """
    _Walk(schemas.definitions(kind), LEFT_TO_RULES.get(kind, {})).value(node, {"ref": "root"})


@dataclass(frozen=True, slots=True)
class _Walk:
    """One pass over one resource.

    Attributes:
        definitions: See `catalog.schemas`.
        left: See `LEFT_TO_RULES`.
    """

    definitions: Mapping[str, Any]
    left: Mapping[str, Left]

    def value(self, node: Node, allowed: Mapping[str, Any]) -> None:
        """Reports what is wrong with a value and everything in it."""
        if not allowed or not node.given or node.undecided or node.reported:
            return
        if "ref" in allowed:
            self._map(node, self.definitions[allowed["ref"]])
            return
        left = self._left_of(node)
        limits = {word: limit for word, limit in allowed.items() if word not in left}
        if allowed["type"] == "array":
            self._list(node, limits)
        elif (scalar := _SCALARS[allowed["type"]](node)) is not UNKNOWN:
            _judge(node, scalar, limits)

    def _left_of(self, node: Node) -> tuple[str, ...]:
        """The limits of a value that a rule judges."""
        left = self.left.get(_path(node))
        if left is None or (left.texts and not re.fullmatch(left.texts, str(node.value), re.DOTALL)):
            return ()
        return left.limits

    def _map(self, node: Node, definition: Mapping[str, Any]) -> None:
        mapping = node.mapping()
        if not isinstance(mapping, dict):
            return
        if "values" in definition:
            self._free_map(node, mapping, definition)
            return
        meant = self._names(node, mapping, definition)
        for name in definition.get("required", ()):
            if name not in mapping:
                node[name].withdraw()
                if name not in meant and "required" not in self._left_of(node[name]):
                    node[name].required()
        if "exactlyOne" in definition and mapping.keys() <= definition["properties"].keys():
            _one_of(node, definition["properties"])

    def _names(self, node: Node, mapping: Mapping[str, object], definition: Mapping[str, Any]) -> set[str | None]:
        """Goes through the properties that a map has; names that were meant by those that do not exist."""
        properties, meant = definition["properties"], set()
        for name in map(str, mapping):
            if name in properties:
                self.value(node[name], properties[name])
            elif name in definition.get("readOnly", ()):
                node[name].report("is set by the service", "leave it out")
            elif not node[name].reported:
                meant.add(self._unknown_name(node[name], name, properties))
        return meant

    def _free_map(self, node: Node, mapping: Mapping[str, object], definition: Mapping[str, Any]) -> None:
        if len(mapping) > definition["maxProperties"]:
            node.report(f"has {len(mapping)} entries", f"use at most {definition['maxProperties']}")
        for name in map(str, mapping):
            if problem := _problem(name, definition["keys"]):
                node.report(f"has a key that {problem[0]}", problem[1])
            self.value(node[name], definition["values"])

    def _list(self, node: Node, allowed: Mapping[str, Any]) -> None:
        items = node.items()
        if items is UNKNOWN:
            return
        _count(node, items, allowed)
        for item in items:
            self.value(_owned(item), allowed["items"])

    def _unknown_name(self, node: Node, name: str, properties: Iterable[str]) -> str | None:
        """Reports a name that is not in the list: as wrong where it is a slip, else as one that may be new.

        Returns:
            The name that was meant, where it is a slip.
        """
        if slip := _alike(name, properties, _SLIP):
            node.report("does not exist", f"use {slip}")
            return slip
        near, elsewhere = _alike(name, properties, _LIKE), next(self._ways_to(name, "root", ()), None)
        known = [near] if near else []
        if elsewhere:
            known.append(f"{name} where it belongs, {elsewhere}")
        use = " or ".join(known) or "one of " + ", ".join(sorted(properties))
        fix = f"use {use}; if it is newer than our list, keep it" if properties else "leave it out"
        node.report("is not a property that we know", fix, certain=False)
        return None

    def _ways_to(self, name: str, definition: str, through: tuple[str, ...]) -> Iterator[str]:
        """Paths of the properties of this name."""
        properties: Mapping[str, Any] = self.definitions[definition].get("properties", {})
        for each, value in properties.items():
            target = value.get("ref") or value.get("items", {}).get("ref")
            if each == name:
                yield name
            elif target and target not in through:
                yield from (f"{each}.{way}" for way in self._ways_to(name, target, (*through, target)))


def _one_of(node: Node, names: Iterable[str]) -> None:
    """Reports a map that does not hold exactly one of some properties."""
    if any(node[name].reported for name in names):
        return
    given = [name for name in names if node[name].given]
    certain = [name for name in given if not node[name].undecided]
    if len(certain) > 1 or not given:
        node.report(f"holds {' and '.join(certain) or 'nothing'}", f"use exactly one of {', '.join(names)}")


def _count(node: Node, items: tuple[Node, ...], allowed: Mapping[str, Any]) -> None:
    """Reports a list that is too long or too short, or has something twice; what is not known may turn out absent."""
    certain = [item.value for item in items if item.value is not UNKNOWN]
    most, least = allowed.get("maxItems"), allowed.get("minItems", 0)
    if most is not None and len(certain) > most:
        node.report(f"has {len(certain)} elements", f"use at most {most}")
    elif len(items) < least:
        node.report(f"has {len(items)} elements", f"use {_span(least, most)}, or leave it out")
    elif allowed.get("uniqueItems"):
        again = next((value for n, value in enumerate(certain) if value in certain[:n] and _is_known(value)), None)
        if again is not None:
            node.report(f"has {shown(again)} more than once", "name each once")


def _is_known(value: object) -> bool:
    """Whether nothing in a value is decided only at deploy."""
    if isinstance(value, dict):
        return all(map(_is_known, value.values()))
    return value is not UNKNOWN


def _judge(node: Node, scalar: object, allowed: Mapping[str, Any]) -> None:
    """Reports a text or number that is out of bounds."""
    if problem := _problem(scalar, allowed):
        known = len(allowed.get("enum", ())) < _GROWING or _alike(str(scalar), allowed["enum"], _SLIP) is not None
        node.report(*problem, certain=known)


def _problem(scalar: object, allowed: Mapping[str, Any]) -> tuple[str, str] | None:
    """What is wrong with a text or number and what to use; the first of several."""
    if isinstance(scalar, str):
        if "enum" in allowed:
            return None if scalar in allowed["enum"] else (f"is {shown(scalar)}", f"use {_words(scalar, allowed)}")
        least, most = allowed.get("minLength"), allowed.get("maxLength")
        short, long = least is not None and len(scalar) < least, most is not None and len(scalar) > most
        if long or (short and "says" not in allowed):
            return f"is {shown(scalar)}, {len(scalar)} characters", f"use {_span(least, most)} characters"
        if short or ("pattern" in allowed and not re.search(allowed["pattern"], scalar)):
            return f"is {shown(scalar)}", f"use {allowed['says']}"
    elif isinstance(scalar, int | float) and not isinstance(scalar, bool):
        least, most = allowed.get("minimum"), allowed.get("maximum")
        if (least is not None and scalar < least) or (most is not None and scalar > most):
            return f"is {scalar:,.15g}", f"use {_span(least, most)}"
    return None


def _words(text: str, allowed: Mapping[str, Any]) -> str:
    """Words that may stand in place of a wrong one."""
    words = allowed["enum"]
    near = _alike(text, words, _LIKE)
    if len(words) <= _SHOWN:
        return " or ".join(words)
    return f"another value, such as {near or words[0]}; there are {len(words)}"


def _span(least: float | None, most: float | None) -> str:
    """A range in words."""
    if most is None:
        return f"{least:,} or more"
    return f"{least:,} to {most:,}" if least is not None else f"at most {most:,}"


def _alike(name: str, names: Iterable[str], cutoff: float) -> str | None:
    """The known name that is most alike, if any is as alike as this."""
    by_lower = {known.lower(): known for known in names}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[near[0]] if near else None


def _owned(item: Node) -> Node:
    """The same element of a list; findings about an instance group point to the group."""
    name = item["InstanceGroupName"].text() if isinstance(item.value, dict) else None
    return replace(item, owner=f"{item.owner}/{name}") if isinstance(name, str) else item


def _path(node: Node) -> str:
    """Names that lead to a value, with a dot at the end for an element of a list."""
    names = [step for step in node.steps if isinstance(step, str)]
    return ".".join(names) + ("." if node.steps and isinstance(node.steps[-1], int) else "")


_SCALARS: Final[Mapping[str, Callable[[Node], str | float | bool | Unknown | None]]] = {
    "string": Node.text,
    "integer": Node.whole,
    "number": Node.number,
    "boolean": Node.flag,
}
