"""What stops a merge: the conditions that `--fail-on` names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from hyperpod_constructs.review.data import HOLDS
from hyperpod_constructs.review.groups import CLUSTER
from hyperpod_constructs.review.impacts import Change, Impact, Verdict
from hyperpod_constructs.review.review import Review

WORDS: Final = ("replacement", "data-loss", "node-loss", "open", "error")
"""Conditions without a figure; `cost=USD_PER_HOUR` has one."""
_COST: Final = "cost="
_PARTED: Final = frozenset({Impact.DATA_LOST, Impact.LEFT_BEHIND})
_AT_RISK: Final = _PARTED | {Impact.UNPROTECTED}
_GONE: Final = frozenset({Impact.NODES_LOST, Impact.GROUP_REPLACED})
_REPLACED: Final = frozenset({Impact.REPLACED, Impact.GROUP_REPLACED})


@dataclass(frozen=True, slots=True, kw_only=True)
class FailOn:
    """Conditions under which a review fails.

    Attributes:
        words: Some of `WORDS`: something is replaced; something that holds data is deleted, emptied, left behind
            or no longer protected; running nodes go, or may; nobody says what a change does; or the deployment would be
            refused, by a rule or by AWS.
        usd_per_hour: The metered cost afterwards is more than this, or a change of it has no price.
    """

    words: frozenset[str] = frozenset()
    usd_per_hour: float | None = None

    @classmethod
    def parse(cls, text: str) -> FailOn:
        """Conditions as the command line has them, with commas between.

        Raises:
            ValueError: if one is none.
        """
        words, limit = set(), None
        for word in filter(None, (each.strip() for each in text.split(","))):
            if word.startswith(_COST):
                limit = _amount(word.removeprefix(_COST))
            elif word in WORDS:
                words.add(word)
            else:
                raise ValueError(f"{word!r} is no condition; use {', '.join(WORDS)} or cost=USD_PER_HOUR")
        return cls(words=frozenset(words), usd_per_hour=limit)

    def reasons(self, review: Review) -> list[str]:
        """Each condition that holds, with what makes it hold."""
        found = [f"{word}: {', '.join(paths)}" for word in WORDS if word in self.words and (paths := _of(word, review))]
        return [*found, *self._cost(review)]

    def _cost(self, review: Review) -> Iterator[str]:
        if self.usd_per_hour is None:
            return
        cost = review.figures.cost
        after = cost.after.usd_per_hour or 0
        if after > self.usd_per_hour:
            yield f"cost: {after:,.2f} USD/h are more than {self.usd_per_hour:,.2f}"
        elif not cost.complete:
            yield "cost: the change touches something that has no price"


def _of(word: str, review: Review) -> list[str]:
    """Paths for which a condition holds."""
    holds = _CONDITIONS[word]
    found = [change.path for change in review.changes if any(map(holds, _possible(change, word)))]
    if word == "error":
        found += [f"{each.rule} {each.path}" for each in review.stopping]
        found += ["blocked"] if review.verdict is Verdict.BLOCKED and not found else []
    return list(dict.fromkeys(found))


def _possible(change: Change, word: str) -> Iterator[Change]:
    """A change, and what it may turn out to be: what may be lost counts as lost, what may be refused as neither."""
    yield change
    if change.effect.perhaps and word != "error":
        yield replace(change, effect=replace(change.effect, impact=change.effect.perhaps))


def _is_replaced(change: Change) -> bool:
    return change.impact in _REPLACED or (change.impact in _PARTED and change.property_name != "")


def _parts_with_data(change: Change) -> bool:
    return change.impact in _AT_RISK and change.type in HOLDS


def _loses_nodes(change: Change) -> bool:
    gone = change.impact in {Impact.REPLACED, Impact.DESTROYED, Impact.LEFT_BEHIND} and change.type == CLUSTER
    return change.impact in _GONE or gone


def _is_open(change: Change) -> bool:
    return change.impact is Impact.OPEN


def _is_refused(change: Change) -> bool:
    return change.verdict is Verdict.BLOCKED


_CONDITIONS: Final[Mapping[str, Callable[[Change], bool]]] = {
    "replacement": _is_replaced,
    "data-loss": _parts_with_data,
    "node-loss": _loses_nodes,
    "open": _is_open,
    "error": _is_refused,
}


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not math.isfinite(amount) or amount < 0:
        raise ValueError(f"cost={text} is no limit; give USD an hour, such as cost=4000")
    return amount
