"""Rules by which objects and images expire: whether other rules delete more of what is there already, or sooner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from hyperpod_constructs.cloudformation.values import Value, is_known

_HARMLESS: Final = (
    "AbortIncompleteMultipartUpload",
    "ExpiredObjectDeleteMarker",
    "Id",
    "NoncurrentVersionTransition",
    "Transition",
)
"""Beginnings of what is in a rule, and in its configuration, and deletes no object and no version."""
_DATE: Final = "ExpirationDate"
_DAYS: Final = "ExpirationInDays"
_OLD_VERSIONS: Final = "NoncurrentVersionExpirationInDays"
_SIZES: Final = ("ObjectSizeGreaterThan", "ObjectSizeLessThan")
_SAID: Final = (_DATE, _DAYS, _OLD_VERSIONS, *_SIZES, "NoncurrentVersionExpiration", "Prefix", "Status", "TagFilters")

Age: TypeAlias = tuple[float, float] | str
"""Days and how many newer ones stay, or a date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A rule that deletes.

    Attributes:
        prefix: What names of objects begin with.
        only: What else an object has to be.
        ages: From when on what is deleted.
    """

    prefix: str
    only: frozenset[str]
    ages: Mapping[str, Age]

    def does(self, other: _Rule) -> bool:
        """Whether it deletes all that the other one does, as soon."""
        wide = other.prefix.startswith(self.prefix) and self.only <= other.only
        return wide and all(_as_soon(self.ages.get(what), age) for what, age in other.ages.items())


def more(path: str, before: Value, after: Value, sides: tuple[Value, Value]) -> bool | None:
    """Whether the lifecycle rules of a bucket delete more, or sooner; `None` where that is not known.

    Args:
        path: The property that changes, in or above a rule.
        before: Its value.
        after: Its value afterwards.
        sides: The properties of the bucket before and after.
    """
    word = path.removeprefix("LifecycleConfiguration").removeprefix(".Rules").removeprefix(".")
    if word.startswith(_HARMLESS) or (word == "Status" and after == "Disabled") or (not word and after is None):
        return False
    whole = path == "LifecycleConfiguration"
    ours, theirs = (before, after) if whole else (_configured(side) for side in sides)
    old, new = _rules(ours), _rules(theirs)
    if new is None:
        return None
    if old is None:
        return None if new else False
    return not all(any(each.does(rule) for each in old) for rule in new)


def more_images(before: Value, after: Value) -> bool:
    """Whether a policy may delete images that the one before did not; a text that nobody can read may.

    Args:
        before: The text of the policy; `None` without one.
        after: The text afterwards.
    """
    if after is None:
        return False
    return not _keeps_as_many(_read(before), _read(after))


def _keeps_as_many(before: object, after: object) -> bool:
    """Whether two policies are the same, but for counts that are as high or higher."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return all(
            key == "description"
            or (key == "countNumber" and _is_up(before[key], after[key]))
            # a count of its own is compared above, everything else part by part
            or _keeps_as_many(before[key], after[key])
            for key in before
        )
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return all(map(_keeps_as_many, before, after))
    return before is not None and type(before) is type(after) and bool(before == after)


def _is_up(before: object, after: object) -> bool:
    return isinstance(before, int) and isinstance(after, int) and after >= before


def _read(text: Value) -> object:
    """A policy as JSON; `None` where nobody can read it."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _configured(properties: Value) -> Value:
    return properties.get("LifecycleConfiguration") if isinstance(properties, dict) else properties


def _rules(configuration: Value) -> list[_Rule] | None:
    """The rules that delete something; `None` where a part of that is known only at deploy."""
    if configuration is None:
        return []
    rules = configuration.get("Rules") if isinstance(configuration, dict) else None
    if not isinstance(rules, list):
        return None
    found = []
    for rule in rules:
        if not isinstance(rule, dict) or not is_known({key: rule[key] for key in _SAID if key in rule}):
            return None
        ages = _ages(rule)
        if ages is None:
            return None
        if ages and rule.get("Status") != "Disabled":
            found.append(_Rule(prefix=str(rule.get("Prefix") or ""), only=_only(rule), ages=ages))
    return found


def _only(rule: Mapping[str, Value]) -> frozenset[str]:
    tags = rule.get("TagFilters")
    filters = [json.dumps(tag, sort_keys=True) for tag in tags] if isinstance(tags, list) else []
    return frozenset([*filters, *(f"{key}={rule[key]}" for key in _SIZES if key in rule)])


def _ages(rule: Mapping[str, Value]) -> dict[str, Age] | None:
    """From when on a rule deletes what; `None` where a number is none."""
    versions = rule.get("NoncurrentVersionExpiration")
    old = versions if isinstance(versions, dict) else {"NoncurrentDays": rule.get(_OLD_VERSIONS)}
    found: dict[str, Age] = {_DATE: str(rule[_DATE])} if _DATE in rule else {}
    for what, days, kept in (
        ("objects", rule.get(_DAYS), 0),
        ("versions", old.get("NoncurrentDays"), old.get("NewerNoncurrentVersions", 0)),
    ):
        if days is not None:
            try:
                found[what] = (float(str(days)), float(str(kept)))
            except ValueError:
                return None
    return found


def _as_soon(ours: Age | None, theirs: Age) -> bool:
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return ours[0] <= theirs[0] and ours[1] <= theirs[1]
    return isinstance(ours, str) and isinstance(theirs, str) and ours <= theirs
