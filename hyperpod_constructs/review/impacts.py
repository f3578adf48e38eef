"""What a change does, in one word, and what the worst of them makes of a review."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

CLOUDFORMATION: Final = "CloudFormation user guide, DeletionPolicy, UpdateReplacePolicy and update behaviors"


class Impact(StrEnum):
    """What happens to what is deployed, from harmless to worst.

    `removed` is a resource that nothing runs on and that holds no data; one on which something runs is `destroyed`.
    `left-behind` is data that stays, outside of the stack and where nobody looks for it; `stays` the same of what holds
    none, and of whole stacks. `unprotected` is data that the next delete or replacement takes, though not this deploy.
    """

    CREATED = "created"
    REMOVED = "removed"
    IN_PLACE = "in-place"
    NEW_NODES = "new-nodes"
    STAYS = "stays"
    UNPROTECTED = "unprotected"
    ROLLING = "rolling"
    OPEN = "open"
    NODES_REBUILT = "nodes-rebuilt"
    REPLACED = "replaced"
    GROUP_REPLACED = "group-replaced"
    NODES_LOST = "nodes-lost"
    DESTROYED = "destroyed"
    LEFT_BEHIND = "left-behind"
    DATA_LOST = "data-lost"
    REFUSED = "refused"


class Verdict(StrEnum):
    """The first word of a review, from harmless to worst."""

    UNCHANGED = "unchanged"
    SAFE = "safe"
    RESTARTS = "restarts"
    REPLACES = "replaces"
    DESTROYS = "destroys"
    BLOCKED = "blocked"


VERDICTS: Final = {
    Impact.CREATED: Verdict.SAFE,
    Impact.REMOVED: Verdict.SAFE,
    Impact.IN_PLACE: Verdict.SAFE,
    Impact.NEW_NODES: Verdict.SAFE,
    Impact.STAYS: Verdict.SAFE,
    Impact.UNPROTECTED: Verdict.SAFE,
    Impact.ROLLING: Verdict.RESTARTS,
    Impact.OPEN: Verdict.RESTARTS,
    Impact.NODES_REBUILT: Verdict.RESTARTS,
    Impact.REPLACED: Verdict.REPLACES,
    Impact.GROUP_REPLACED: Verdict.BLOCKED,
    Impact.NODES_LOST: Verdict.DESTROYS,
    Impact.DESTROYED: Verdict.DESTROYS,
    Impact.LEFT_BEHIND: Verdict.DESTROYS,
    Impact.DATA_LOST: Verdict.DESTROYS,
    Impact.REFUSED: Verdict.BLOCKED,
}
"""The verdict that each impact makes at least.

What no page says (`open`) is taken for a restart, and a group that goes in the deploy that brings its successor is
blocked although CloudFormation would do it: the nodes go before others come.
"""

SEVERITY: Final = {impact: number for number, impact in enumerate(Impact)}
"""A larger number is worse."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What happens to a resource or a property.

    Attributes:
        impact: In one word.
        reason: Why, with the values.
        action: What to do about it; empty where there is nothing to do.
        recipe: Name of the how-to in `catalog.updates.RECIPES` that leads there without loss; `None` without one.
        source: Who says so.
        perhaps: What happens if a value that the deploy decides turns out to be another one; else `None`.
    """

    impact: Impact
    reason: str
    action: str = ""
    recipe: str | None = None
    source: str = CLOUDFORMATION
    perhaps: Impact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that becomes another.

    Attributes:
        path: Construct path of the resource, or of the instance group.
        property_name: Name of the property, as in `InstanceGroups.InstanceCount`; empty for a whole resource.
        effect: What happens.
        type: Resource type.
        stack: Deployed name of the stack.
        before: The value as text; `None` where there was none or it is not one value.
        after: The value as text; `None` where there is none or it is not one value.
        because_of: Path of the resource whose replacement leads to this; `None` where the code was changed here.
    """

    path: str
    property_name: str
    effect: Effect
    type: str
    stack: str
    before: str | None = None
    after: str | None = None
    because_of: str | None = None

    @property
    def impact(self) -> Impact:
        """What happens, in one word."""
        return self.effect.impact

    @property
    def verdict(self) -> Verdict:
        """What this alone makes of a review."""
        return VERDICTS[self.impact]
