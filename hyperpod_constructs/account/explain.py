"""Why a stack or a cluster failed: what CloudFormation, the cluster's events and the nodes' logs say, put together.

The message of a failed stack rarely has the reason: that is in the details of an event, or in a log stream of a node
that is gone with its cluster. Log groups stay, so a cluster that was rolled back is still explained.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, ParamSpec, TypeVar

from hyperpod_constructs.account import denials, messages
from hyperpod_constructs.account.denials import Denial
from hyperpod_constructs.account.gateway import DescribedCluster, Gateway, Session
from hyperpod_constructs.account.gateway.cluster_events import ClusterEvent, ClusterEvents
from hyperpod_constructs.account.gateway.logs import Logs, LogStream
from hyperpod_constructs.account.gateway.stack_events import STACK, StackEvent, StackEvents
from hyperpod_constructs.account.messages import Message
from hyperpod_constructs.account.troubles import Trouble, merged
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotInAccount

_CLUSTER: Final = "AWS::SageMaker::Cluster"
_STACK_NAME: Final = re.compile(r"arn:[\w-]+:cloudformation:.+|[a-zA-Z][-a-zA-Z0-9]{0,127}")
_CLUSTER_NAME: Final = re.compile(r"arn:[\w-]+:sagemaker:.+|[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
_LOG_GROUPS: Final = "/aws/sagemaker/Clusters/"
_STREAMS: Final = "LifecycleConfig/"
_MOST_STREAMS: Final = 4
"""Nodes of one group fail alike; more logs would hide the message."""
_MOST_DETAILS: Final = 20
"""Events whose details are asked for, one call each."""
_HARMLESS: Final = {"InService", "Updating", "SystemUpdating"}

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLog:
    """The end of what the lifecycle script of a node wrote.

    Attributes:
        log_group: Name of the log group.
        stream: Name of the stream: `LifecycleConfig/<group>/<instance>`.
        lines: Its last lines.
    """

    log_group: str
    stream: str
    lines: tuple[str, ...]

    @property
    def reason(self) -> Message | Denial | None:
        """The last line that is a known message, as what it means; `None` without one."""
        for line in reversed(self.lines):
            found = denials.find(line) or messages.find(line)
            if found:
                return found
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What could be found out.

    Attributes:
        subject: What was asked for.
        region: Region that was read.
        states: Each stack and cluster that was looked at, and its state: `stack Frontier`, `ROLLBACK_COMPLETE`.
        troubles: What went wrong, the earliest first.
        logs: What nodes wrote.
        more_logs: Number of further log streams that were not read.
        notes: What was not looked at, and why that is so.
        unread: Reads that AWS refused or failed.
    """

    subject: str
    region: str
    states: tuple[tuple[str, str], ...]
    troubles: tuple[Trouble, ...]
    logs: tuple[NodeLog, ...]
    more_logs: int
    notes: tuple[str, ...]
    unread: tuple[AccountError, ...]


@dataclass(slots=True, kw_only=True)
class _Subject:
    """A cluster that is looked at; one that is gone is known by its id alone."""

    name: str
    id: str | None = None
    described: DescribedCluster | None = None


@dataclass(slots=True)
class _Findings:
    """What is gathered on the way."""

    states: list[tuple[str, str]] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    logs: list[NodeLog] = field(default_factory=list)
    more_logs: int = 0
    notes: list[str] = field(default_factory=list)
    unread: list[AccountError] = field(default_factory=list)

    def attempt(self, read: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T | None:
        """The answer of a read; `None` where nothing is there, or AWS refuses this one read."""
        try:
            return read(*args, **kwargs)
        except NotInAccount:
            return None
        except AccountError as error:
            if isinstance(error, AccountUnavailable) and not error.answered:
                raise  # each of the other reads would wait as long
            self.unread.append(error)
            return None


def explain(session: Session, subject: str, *, now: datetime, since: timedelta, lines: int) -> Explained:
    """Finds out why a stack or a cluster failed.

    Args:
        session: The account.
        subject: Name or ARN of a stack or of a cluster; a name that both have means both.
        now: The time, with its zone.
        since: How far back to look for events of the cluster.
        lines: How many last lines of each log to read.

    Raises:
        NotInAccount: if there is neither, nor logs of a cluster of that name.
        AccountError: if the account cannot be read at all.
    """
    found = _Findings()
    stack = _of_stacks(session, subject, found) if _STACK_NAME.fullmatch(subject) else []
    clusters = _of_name(session, subject, found) if _CLUSTER_NAME.fullmatch(subject) else []
    clusters += _in_stack(session, stack, found, known={cluster.id for cluster in clusters})
    if not stack and not clusters and not (clusters := _gone(session, subject, found)):
        if found.unread:
            raise found.unread[0]
        raise NotInAccount(
            f"there is neither a stack nor a cluster {subject} in {session.region}, the Region that was asked, for "
            "this account: check the name, --region and --profile; a stack that was deleted is found by its ARN only"
        )
    for cluster in clusters:
        _of_cluster(session, cluster, found, now - since)
    found.troubles = _without_consequences(merged(found.troubles))
    for cluster in clusters:
        if found.troubles or cluster.described is None or cluster.described.status not in _HARMLESS:
            _of_nodes(session.open(Logs), cluster, found, lines)
    return Explained(
        subject=subject,
        region=session.region,
        states=tuple(found.states),
        troubles=tuple(found.troubles),
        logs=tuple(found.logs),
        more_logs=found.more_logs,
        notes=tuple(dict.fromkeys(found.notes)),
        unread=tuple({str(error): error for error in found.unread}.values()),
    )


def _of_stacks(session: Session, stack: str, found: _Findings) -> list[StackEvent]:
    """Events of the last operation of a stack and of the nested ones that failed in it."""
    reader = session.open(StackEvents)
    left, seen, every = [stack], {stack}, list[StackEvent]()
    while left:
        name = left.pop(0)
        events = found.attempt(reader.last_operation, name)
        if not events:
            continue
        every += events
        own = next((event for event in events if event.about_the_stack), None)
        found.states.append((f"stack {events[0].stack}", own.status if own else "state not known"))
        found.troubles += _failures(events)
        nested = [event.physical_id for event in events if event.kind == STACK and _failed(event)]
        left += [each for each in dict.fromkeys(nested) if each and each not in seen and each != events[0].stack_id]
        seen.update(nested)
    return every


def _failed(event: StackEvent) -> bool:
    return event.status.endswith("_FAILED")


def _failures(events: Sequence[StackEvent]) -> list[Trouble]:
    """What failed in a stack; where no resource did, why the stack itself did."""
    own = [event for event in events if event.about_the_stack and "ROLLBACK" in event.status and event.reason]
    failures = [event for event in events if _failed(event)]
    of_resources = [event for event in failures if not event.about_the_stack]
    return [_of_event(event) for event in of_resources or failures or own[-1:]]


def _without_consequences(troubles: Sequence[Trouble]) -> list[Trouble]:
    """Troubles without what a stack only says because something else had failed, where that is known."""
    reasons = [trouble for trouble in troubles if trouble.seen_in != "stack" or not trouble.generic]
    return reasons if any(trouble.seen_in == "stack" for trouble in reasons) else list(troubles)


def _of_event(event: StackEvent) -> Trouble:
    return Trouble(
        time=event.time,
        seen_in="stack",
        where=f"{event.resource} ({event.kind}) in stack {event.stack}, {event.status}",
        said=event.reason or "CloudFormation gives no reason",
    )


def _of_name(session: Session, subject: str, found: _Findings) -> list[_Subject]:
    described = found.attempt(session.open(Gateway).describe_cluster, subject)
    return [_Subject(name=described.name, id=described.id, described=described)] if described else []


def _in_stack(
    session: Session, events: Iterable[StackEvent], found: _Findings, known: Collection[str | None]
) -> list[_Subject]:
    """The clusters of a stack whose ids are not known, those that a rollback took away too."""
    names: dict[str, str | None] = {}
    for event in events:
        if event.kind == _CLUSTER and event.physical_id.startswith("arn:"):
            names[event.physical_id] = event.name or names.get(event.physical_id)
    clusters = []
    for arn, name in names.items():
        if (id_ := arn.rpartition("/")[2]) not in known:
            described = found.attempt(session.open(Gateway).describe_cluster, arn)
            clusters.append(_Subject(name=described.name if described else name or "", id=id_, described=described))
    return clusters


def _gone(session: Session, name: str, found: _Findings) -> list[_Subject]:
    """The newest cluster of a name that is gone, known by its logs."""
    if name.startswith("arn:"):
        return []
    groups = found.attempt(session.open(Logs).groups, f"{_LOG_GROUPS}{name}/")
    return [_Subject(name=name, id=groups[0].name.rpartition("/")[2])] if groups else []


def _of_cluster(session: Session, cluster: _Subject, found: _Findings, since: datetime) -> None:
    """What a cluster, its nodes and its events say."""
    described = cluster.described
    if described is None:
        found.states.append((f"cluster {cluster.name or cluster.id}", "gone"))
        return
    found.states.append((f"cluster {described.name}", described.status))
    if described.failure_message:
        found.troubles.append(
            Trouble(time=None, seen_in="cluster", where=f"cluster {described.name}", said=described.failure_message)
        )
    for node in found.attempt(session.open(Gateway).list_cluster_nodes, described.arn) or ():
        if node.status == "Failure" and node.message:
            found.troubles.append(
                Trouble(
                    time=None,
                    seen_in="node",
                    where=f"group {node.group}",
                    group=node.group,
                    instances=(node.instance,),
                    said=node.message,
                )
            )
    if described.continuous:
        found.troubles += _of_events(session.open(ClusterEvents), described, found, since)
    else:
        found.notes.append(f"cluster {described.name} has no events: they exist with Continuous provisioning only")


def _of_events(
    reader: ClusterEvents, cluster: DescribedCluster, found: _Findings, since: datetime
) -> Iterator[Trouble]:
    """What went wrong in a cluster since a moment; Info events are left out."""
    events = found.attempt(reader.since, cluster.arn, since) or ()
    bad = [event for event in events if event.level in {"Error", "Warn"} and not _is_harmless(event)]
    for number, event in enumerate(bad):
        reasons = _reasons(reader, cluster, event, found) if number < _MOST_DETAILS else ()
        yield Trouble(
            time=event.time,
            seen_in="event",
            where=f"group {event.group}" if event.group else f"cluster {cluster.name}",
            group=event.group,
            instances=(event.instance,) if event.instance else (),
            said="; ".join(reasons) or event.description or f"{event.level} without a description",
        )
    if len(bad) > _MOST_DETAILS:
        found.notes.append(
            f"details were read of the newest {_MOST_DETAILS} of {len(bad):,} events that tell of a fault"
        )


def _is_harmless(event: ClusterEvent) -> bool:
    message = messages.find(event.description)
    return message is not None and message.harmless


def _reasons(
    reader: ClusterEvents, cluster: DescribedCluster, event: ClusterEvent, found: _Findings
) -> tuple[str, ...]:
    return found.attempt(reader.reasons, cluster.arn, event.id) or ()


def _of_nodes(logs: Logs, cluster: _Subject, found: _Findings, lines: int) -> None:
    """The last lines of the nodes that failed; where none is named, of the newest node of each group."""
    log_group = _log_group(logs, cluster, found)
    streams = found.attempt(logs.streams, log_group, _STREAMS) if log_group else None
    if not streams:
        found.notes.append(
            f"no log of a lifecycle script of cluster {cluster.name or cluster.id}: no script has begun to run, or the "
            "role of the nodes may not write logs"
        )
        return
    chosen = _chosen(streams, {each for trouble in found.troubles for each in trouble.instances})
    found.more_logs += max(0, len(chosen) - _MOST_STREAMS)
    for stream in chosen[:_MOST_STREAMS]:
        written = found.attempt(logs.last_lines, log_group, stream.name, lines)
        if written:
            found.logs.append(NodeLog(log_group=log_group, stream=stream.name, lines=written))


def _log_group(logs: Logs, cluster: _Subject, found: _Findings) -> str:
    """Name of the log group of a cluster; empty where it cannot be found out."""
    if cluster.name and cluster.id:
        return f"{_LOG_GROUPS}{cluster.name}/{cluster.id}"
    groups = found.attempt(logs.groups, _LOG_GROUPS) or ()
    return next((group.name for group in groups if group.name.endswith(f"/{cluster.id}")), "")


def _chosen(streams: Sequence[LogStream], instances: set[str]) -> list[LogStream]:
    """Streams of the instances; without one of those the newest of each group."""
    named = [stream for stream in streams if stream.name.rpartition("/")[2] in instances]
    newest: dict[str, LogStream] = {}
    for stream in streams:
        newest.setdefault(stream.name.rpartition("/")[0], stream)
    return named or list(newest.values())
