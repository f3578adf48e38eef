"""Whether the nodes of a cluster are there: a stack that is complete does not say so.

With continuous provisioning a cluster is InService, and its stack complete, before any node is. Only the list of nodes
tells when work can start. A node is ready when it is `Running`: its lifecycle scripts and health checks are behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hyperpod_constructs.account.gateway import DescribedCluster, DescribedGroup, Gateway, ListedNode
from hyperpod_constructs.account.gateway.plans import TrainingPlans
from hyperpod_constructs.account.plans import Offer
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotInAccount
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.tokens import known

RUNNING: Final = "Running"
_OVER: Final = {"Failed", "Deleting"}
_UNSETTLED: Final = {"Creating", "RollingBack"}
"""States in which AWS may still take away the nodes that run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a template asks for in a group.

    Attributes:
        instances: Its instances, spares included.
        spares: How many of them wait for a failure.
    """

    instances: int
    spares: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStatus:
    """An instance group and its nodes.

    Attributes:
        group: What AWS says of the group.
        wanted: Nodes that must run; `None` where nobody asked for any.
        nodes: Number of nodes by status, sorted by status.
        declared: What the template asks for; `None` without a template.
        imaged: When the node whose image is the oldest got it; `None` without nodes. AWS gives no date of an image: it
            is at least so old.
    """

    group: DescribedGroup
    wanted: int | None
    nodes: Mapping[str, int]
    declared: Declared | None = None
    imaged: datetime | None = None

    @property
    def running(self) -> int:
        """Nodes that work can use."""
        return self.nodes.get(RUNNING, 0)

    @property
    def reached(self) -> bool:
        """Whether as many nodes run as are wanted."""
        return self.wanted is None or self.running >= self.wanted

    @property
    def spares(self) -> int | None:
        """Nodes that the group has beyond those that work needs; `None` where it is not known what work needs."""
        needed = self._needed
        return None if needed is None else max(0, self.group.target - needed)

    @property
    def spares_left(self) -> int | None:
        """How many of the spares run; `None` where it is not known what work needs."""
        needed = self._needed
        return None if needed is None else max(0, self.running - needed)

    @property
    def drift(self) -> str | None:
        """How the group differs from its template; `None` where it does not."""
        if self.declared is None or self.declared.instances == self.group.target:
            return None
        return (
            f"{self.group.name}: the template declares {self.declared.instances:,}, its target is {self.group.target:,}"
        )

    @property
    def _needed(self) -> int | None:
        if self.declared is not None:
            return self.declared.instances - self.declared.spares
        # A group of which no node is wanted is left out of the wait; that says nothing of its spares.
        return self.wanted if self.wanted and self.wanted < self.group.target else None

    @property
    def progress(self) -> str:
        """`p5 Creating 12 of 30 (8 Pending)`: what is there of what is wanted, and where the rest is."""
        name, status = self.group.name, self.group.status
        state = "" if status in {None, "InService"} else f" {status}"
        notes = [f"{number:,} {status}" for status, number in self.nodes.items() if status != RUNNING]
        if self.wanted is not None and self.group.target < self.wanted:
            notes.append(f"its target is {self.group.target:,}")
        noted = f" ({', '.join(notes)})" if notes else ""
        return f"{name}{state} {self.running:,} of {self.wanted or 0:,}{noted}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStatus:
    """A cluster at one moment.

    Attributes:
        cluster: What AWS says of the cluster.
        groups: Its groups, in the order of AWS.
        lacking: Groups that the template declares and the cluster lacks.
    """

    cluster: DescribedCluster
    groups: tuple[GroupStatus, ...]
    lacking: tuple[str, ...] = ()

    @property
    def drift(self) -> tuple[str, ...]:
        """How the cluster differs from its template."""
        lacking = (f"{name}: the template declares it, and the cluster has no such group" for name in self.lacking)
        return (*(group.drift for group in self.groups if group.drift), *lacking)

    @property
    def over(self) -> bool:
        """Whether waiting for nodes is in vain."""
        return self.cluster.status in _OVER

    @property
    def problem(self) -> str | None:
        """Why the cluster is not ready; `None` when it is."""
        status = self.cluster.status
        if self.over:
            return f"the cluster is {status}: {self.cluster.failure_message or 'AWS gives no reason'}"
        reasons = [f"the cluster is {status}"] if status in _UNSETTLED else []
        reasons += [group.progress for group in self.groups if not group.reached]
        return ", ".join(reasons) or None

    @property
    def progress(self) -> str:
        """The state on one line: that of the cluster, and of the groups that somebody waits for."""
        return ", ".join([self.cluster.status, *(g.progress for g in self.groups if g.wanted is not None)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a wait ended.

    Attributes:
        last: What was seen last.
        problem: Why the nodes are not there; `None` when they are.
    """

    last: ClusterStatus
    problem: str | None


def look(
    gateway: Gateway,
    cluster: str,
    wanted: Mapping[str, int] | None,
    deployment: Deployment | None = None,
) -> ClusterStatus:
    """Reads a cluster and its nodes.

    Args:
        gateway: The account.
        cluster: Name or ARN.
        wanted: Number of nodes that must run, by name of their group; by default what the template declares without
            its spares, else every group's target.
        deployment: What a template declares.

    Raises:
        NotInAccount: if there is no such cluster, or it lacks a group that is wanted.
        AccountError: if AWS refuses or fails a read.
    """
    described = gateway.describe_cluster(cluster)
    names = [group.name for group in described.groups]
    unknown = [name for name in wanted or () if name not in names]
    if unknown and described.status not in _OVER:  # what is over loses its groups; that it is over says more
        raise NotInAccount(
            f"cluster {described.name} has no group {' and no group '.join(unknown)}; "
            f"its groups are {', '.join(names) or 'none'}"
        )
    nodes = gateway.list_cluster_nodes(cluster)
    declared = {} if deployment is None else _declared(deployment, described)
    groups = (
        _group(group, [node for node in nodes if node.group == group.name], wanted, declared.get(group.name))
        for group in described.groups
    )
    return ClusterStatus(
        cluster=described, groups=tuple(groups), lacking=tuple(name for name in declared if name not in names)
    )


def offers(
    plans: TrainingPlans, cluster: DescribedCluster, now: datetime
) -> tuple[dict[str, Offer], tuple[AccountError, ...]]:
    """The training plans of a cluster's groups by ARN, and why those that lack could not be read.

    Args:
        plans: The plans of the account.
        cluster: The cluster.
        now: The time, with its zone.
    """
    found, failed = {}, []
    for arn in dict.fromkeys(group.plan for group in cluster.groups if group.plan):
        try:
            found[arn] = Offer(plan=plans.described(arn), now=now)
        except AccountError as error:
            failed.append(error)
    return found, tuple(failed)


def _group(
    group: DescribedGroup, nodes: Sequence[ListedNode], wanted: Mapping[str, int] | None, declared: Declared | None
) -> GroupStatus:
    default = group.target if declared is None else declared.instances - declared.spares
    return GroupStatus(
        group=group,
        wanted=default if wanted is None else wanted.get(group.name),
        nodes=dict(sorted(Counter(node.status for node in nodes).items())),
        declared=declared,
        imaged=min((node.imaged for node in nodes), default=None),
    )


def _declared(deployment: Deployment, described: DescribedCluster) -> dict[str, Declared]:
    """What a template declares of a cluster, by name of the group; groups whose size is known at deploy are left out.

    Raises:
        NotInAccount: if the template has no such cluster.
    """
    # A name that only the deploy decides may be this one, where the template has no other cluster.
    named = [cluster for cluster in deployment.clusters if known(cluster.name) == described.name]
    unnamed = [cluster for cluster in deployment.clusters if known(cluster.name) is None]
    clusters = named or (unnamed if len(deployment.clusters) == 1 else [])
    if not clusters:
        names = ", ".join(str(known(cluster.name) or "one without a name") for cluster in deployment.clusters)
        raise NotInAccount(f"the template declares no cluster {described.name}; its clusters are {names or 'none'}")
    return {
        name: Declared(instances=instances, spares=group.spares)
        for group in clusters[0].groups
        if (name := known(group.name)) is not None and (instances := known(group.instances)) is not None
    }


def wait(
    look: Callable[[], ClusterStatus],
    *,
    timeout: float,
    every: float,
    say: Callable[[str], None],
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> Outcome:
    """Looks at a cluster until it is ready, it is over, or the time is.

    Throttled and failed reads do not end the wait, unless AWS has never answered.

    Args:
        look: Reads the cluster.
        timeout: Seconds after which to give up; the last look is at their end.
        every: Seconds between two looks.
        say: Takes a line about the state whenever it has changed.
        clock: Seconds since any fixed moment.
        sleep: Waits for so many seconds.

    Raises:
        AccountError: if AWS refuses a read, or the cluster could not be read even once.
    """
    started, said = clock(), ""
    last: ClusterStatus | None = None
    while True:
        try:
            last = look()
            line, ended = last.progress, last.over or last.problem is None
        except NotInAccount as error:
            if last is None:
                raise
            return Outcome(last=last, problem=str(error))
        except AccountUnavailable as error:
            if last is None and (not error.answered or clock() - started >= timeout):
                raise
            line, ended = str(error), False
        elapsed = clock() - started
        if line != said:
            say(f"{_span(elapsed)} {line}")
            said = line
        if last is not None and ended:
            return Outcome(last=last, problem=last.problem)
        if last is not None and elapsed >= timeout:
            unread = f"; {line}" if line != last.progress else ""
            return Outcome(last=last, problem=f"timed out after {_span(timeout)}: {last.problem}{unread}")
        sleep(max(0, min(every, timeout - elapsed)))


def _span(seconds: float) -> str:
    """`1:02:03`."""
    return str(timedelta(seconds=int(seconds)))
