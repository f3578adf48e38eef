"""One thing that went wrong, and how what AWS says twice or thirty times becomes one.

One fault of a node makes two Error events about a second apart (seen by others in July 2026), one of which may say no
more than that an instance failed; and what is wrong with a group is said once for each of its nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from hyperpod_constructs.account import denials, messages
from hyperpod_constructs.account.denials import Denial
from hyperpod_constructs.account.messages import Message

SeenIn = Literal["stack", "cluster", "event", "node"]

_TWINS: Final = timedelta(seconds=2)
_INSTANCE: Final = re.compile(r"\bi-[0-9a-f]{8,17}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something that went wrong.

    Attributes:
        time: When it was first said; `None` where AWS does not say.
        seen_in: What said it.
        where: What it is about, for example `Cluster (AWS::SageMaker::Cluster)` or `group p5`.
        group: Name of the instance group; `None` where it is about something else.
        instances: Ids of the instances that it is about.
        said: What AWS says.
        times: How often it was said.
    """

    time: datetime | None
    seen_in: SeenIn
    where: str
    group: str | None = None
    instances: tuple[str, ...] = ()
    said: str
    times: int = 1

    @property
    def denial(self) -> Denial | None:
        """The policy that denied something, where that is what it is."""
        return denials.find(self.said)

    @property
    def message(self) -> Message | None:
        """The message that it is; `None` where it is unknown, or a denial."""
        return None if self.denial else messages.find(self.said)

    @property
    def generic(self) -> bool:
        """Whether it says only that something failed."""
        return self.message is not None and self.message.generic


def merged(troubles: Iterable[Trouble]) -> tuple[Trouble, ...]:
    """Troubles without those that repeat another, the earliest first.

    Args:
        troubles: All that was said, in any order.
    """
    one_by_one: list[Trouble] = []
    for trouble in sorted(troubles, key=_when):
        twin = next((number for number, other in enumerate(one_by_one) if _is_twin(other, trouble)), None)
        if twin is None:
            one_by_one.append(trouble)
        else:
            one_by_one[twin] = _better(one_by_one[twin], trouble)
    return _counted(one_by_one)


def _when(trouble: Trouble) -> tuple[bool, datetime | None]:
    return (trouble.time is None, trouble.time)


def _is_twin(first: Trouble, second: Trouble) -> bool:
    """Whether two events tell of one fault."""
    if first.seen_in != "event" or second.seen_in != "event" or first.group != second.group:
        return False
    if first.time is None or second.time is None or second.time - first.time > _TWINS:
        return False
    if first.instances and second.instances and first.instances != second.instances:
        return False
    return first.said == second.said or first.generic or second.generic


def _better(first: Trouble, second: Trouble) -> Trouble:
    """The one of two twins that says more, with the instance that either names."""
    chosen = second if first.generic and not second.generic else first
    return replace(chosen, time=first.time, instances=first.instances or second.instances)


def _counted(troubles: Sequence[Trouble]) -> tuple[Trouble, ...]:
    """Troubles that differ in nothing but the instance as one."""
    found: dict[tuple[str, str | None, str, str], Trouble] = {}
    for trouble in troubles:
        alike = (trouble.seen_in, trouble.group, trouble.where, _INSTANCE.sub("i-", trouble.said))
        if alike in found:
            before = found[alike]
            instances = tuple(dict.fromkeys((*before.instances, *trouble.instances)))
            found[alike] = replace(before, instances=instances, times=before.times + trouble.times)
        else:
            found[alike] = trouble
    return tuple(found.values())
