"""How a change meets what runs: declared, live and proposed side by side, and what of the rest speaks of either.

What runs may have been changed by hand, and then a template that looks like a step up can be a step down. Nothing here
reads an account: what runs is a snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from hyperpod_constructs.catalog import limits
from hyperpod_constructs.model.capacity import InstanceGroup, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.planning import quotas, restricted
from hyperpod_constructs.planning.quotas import NeededQuota
from hyperpod_constructs.review.live import contradictions
from hyperpod_constructs.review.live.snapshot import Live, LiveCluster, LiveFileSystem, LiveGroup, LivePlan, LiveQuota
from hyperpod_constructs.tokens import UNKNOWN, known

OLD: Final = timedelta(hours=24)
"""An older snapshot is called old."""

_CHECKED: Final = "DeepHealthCheckInProgress"
_FILE_SYSTEM: Final = re.compile(r"fs-[0-9a-f]{8,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a template makes a group.

    Attributes:
        instances: With its spares; `None` where it is known only at deploy.
        spares: How many of them wait for a failure.
    """

    instances: int | None
    spares: int


State: TypeAlias = Literal["kept", "removed", "added", "exists", "lacking", "undeclared", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDrift:
    """A group as it is declared, as it runs and as it would be.

    Attributes:
        name: Its name.
        state: `kept`; `removed` by this change: its nodes are deleted (CloudFormation gives the service the names of
            groups that leave the template); `added`; `exists`: new in the template, and the cluster has it already, so
            it is updated; `lacking`: declared before and after, and the cluster has none; `undeclared`: the cluster has
            it and neither template has: no page says whether a deploy deletes it; `gone`: it leaves the template and
            the cluster has none. `None` where one of the templates does not have the cluster, or may hide the group.
        declared: What the base asks for; `None` where the base does not have the group.
        live: What runs; `None` where the cluster has no such group.
        proposed: What the head asks for; `None` where the head does not have the group.
        drifted: Whether what runs is not what the base asks for; `None` where that is not known.
        only_drift: Whether base and head ask for the same number and another one runs: an update of the cluster for
            any other reason may set it back.
        takes_running: Running nodes that the change takes at least; the service picks them. `None` where that is not
            known.
        takes_at_most: Running nodes that it may take: of those that are not there yet the service may leave some.
        image_after: AMI or release of AWS's image that the head names; `None` where it leaves the choice to the
            service, or it is known only at deploy.
        scripts_after: Where the head says that scripts lie; `None` without any, or where it is known only at deploy.
        scripts_moved: Whether that is another place than the one from which nodes get them now; `None` where that is
            not known. What lies at the same place may still be new, unless the place is named after its content.
    """

    name: str
    state: State | None
    declared: Size | None
    live: LiveGroup | None
    proposed: Size | None
    drifted: bool | None
    only_drift: bool
    takes_running: int | None
    takes_at_most: int | None
    image_after: str | None
    scripts_after: str | None
    scripts_moved: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDrift:
    """A training plan and what the head puts on it.

    Attributes:
        name: Its name.
        live: What the account says; `None` where the snapshot does not have it: no group was on it.
        hours_left: From when the snapshot was taken to the plan's end, in hours; `None` where that is not known.
        expired: Whether it has ended; `None` where that is not known.
        groups: Paths of the head's groups on it.
        proposed: Instances of those groups, at least; spares included.
        complete: Whether all of them are counted.
        over: Whether they are more than it holds; `None` where that is not known.
    """

    name: str
    live: LivePlan | None
    hours_left: float | None
    expired: bool | None
    groups: tuple[str, ...]
    proposed: int
    complete: bool
    over: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaDrift:
    """A quota that the head draws on.

    Attributes:
        service: Service code.
        name: Exact name.
        code: Its code in the account; `None` where it was not read.
        applied: What the account has; `None` where it was not read.
        used: What all clusters of the Region ask for now; of the quota of one cluster, this one. `None` where it was
            not read.
        needed: What the head's clusters in the Region ask for, at least.
        after: What all clusters of the Region would ask for, at least: those of nobody here stay as they are. `None`
            where it is not known what is used now.
        complete: Whether everything in the head that draws on it is counted.
        short: Whether the account has too little; `None` where that is not known.
        look_up: The AWS CLI command that prints its code.
        command: The AWS CLI command that asks for enough.
    """

    service: str
    name: str
    code: str | None
    applied: float | None
    used: int | None
    needed: int
    after: int | None
    complete: bool
    short: bool | None
    look_up: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystemDrift:
    """A file system that nodes mount, and which of the base's it is.

    Attributes:
        live: What the account says.
        path: Path of the base's file system; `None` where it is none of them, or it is not known which.
        matched_by: `id` where the template has it, `mount` where the same group mounts it, `only one` where there is no
            other on either side; `None` without a match.
        declared_gib: Storage capacity that the base asks for, in GiB; `None` where that is not known.
        proposed_gib: The same of the head's file system of this path.
    """

    live: LiveFileSystem
    path: str | None
    matched_by: Literal["id", "mount", "only one"] | None
    declared_gib: int | None = None
    proposed_gib: int | None = None

    @property
    def outgrows(self) -> bool:
        """Whether it is larger than the head asks for: FSx does not make it smaller."""
        there = self.live.capacity_gib
        return there is not None and self.proposed_gib is not None and there > self.proposed_gib


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A change beside what runs.

    Attributes:
        cluster: Name of the cluster.
        taken: When the snapshot was taken.
        before: Path of the cluster in the base; `None` where the base does not have it.
        after: Path of the cluster in the head; `None` where the head does not have it.
        status: What the service says of the cluster, for example `InService`.
        groups: Every group of the cluster, of the base and of the head, in this order.
        plans: Training plans of the cluster and of the head.
        quotas: Quotas that the head draws on in the Region of the snapshot.
        file_systems: File systems of the snapshot.
        contradictions: What runs and is something else than the base asks for, apart from numbers of nodes.
        notes: What a reader has to know of the snapshot.
    """

    cluster: str
    taken: datetime
    before: str | None
    after: str | None
    status: str
    groups: tuple[GroupDrift, ...]
    plans: tuple[PlanDrift, ...]
    quotas: tuple[QuotaDrift, ...]
    file_systems: tuple[FileSystemDrift, ...]
    contradictions: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def drifted(self) -> bool | None:
        """Whether something runs that the base does not ask for, or the other way round; `None` if nobody knows."""
        if self.contradictions or any(group.drifted for group in self.groups):
            return True
        return None if self.before is None or any(group.drifted is None for group in self.groups) else False


def of(before: Deployment, after: Deployment, live: Live, *, now: datetime | None = None) -> Drift:
    """A change beside what runs.

    Args:
        before: The base, as it is deployed.
        after: The head, as it would be.
        live: What runs.
        now: The time, with its zone; without it nothing is said of the snapshot's age.
    """
    base, head = restricted.counted(before), restricted.counted(after)
    ours, theirs = _clusters(base, head, live)
    systems = tuple(_file_systems(base, head, ours, live))
    return Drift(
        cluster=live.cluster.name,
        taken=live.taken,
        before=ours.path if ours else None,
        after=theirs.path if theirs else None,
        status=live.cluster.status,
        groups=tuple(_groups(ours, theirs, live)),
        plans=tuple(_plans(head, live, now or live.taken)),
        quotas=tuple(_quotas(base, head, ours, theirs, live)),
        file_systems=systems,
        contradictions=(*contradictions.of(ours, _side(ours).groups, live), *_other_sizes(systems)),
        notes=tuple(_notes(ours, theirs, head, live, now)),
    )


def _clusters(base: Deployment, head: Deployment, live: Live) -> tuple[Cluster | None, Cluster | None]:
    """The cluster in the base and in the head; a name that only the deploy decides may be the same at the same path."""
    ours, theirs = _find(base, live), _find(head, live)
    if ours and not theirs:
        theirs = _unnamed(head, ours.path)
    if theirs and not ours:
        ours = _unnamed(base, theirs.path)
    return ours, theirs


def _find(deployment: Deployment, live: Live) -> Cluster | None:
    """The cluster of this name; else the only one, where its name is decided at deploy."""
    there = [each for each in deployment.clusters if _is_there(each, live)]
    named = [each for each in there if known(each.name) == live.cluster.name]
    unnamed = [each for each in there if known(each.name) is None and len(deployment.clusters) == 1]
    found = named or unnamed
    return found[0] if len(found) == 1 else None


def _unnamed(deployment: Deployment, path: str) -> Cluster | None:
    return next((each for each in deployment.clusters if each.path == path and known(each.name) is None), None)


def _is_there(cluster: Cluster, live: Live) -> bool:
    """Whether a cluster may stand in the account and Region of the snapshot."""
    account = live.redacted or cluster.account in {None, live.account}
    return account and cluster.region in {None, live.region}


def _groups(ours: Cluster | None, theirs: Cluster | None, live: Live) -> Iterator[GroupDrift]:
    running = {group.name: group for group in live.cluster.groups}
    base, head = _side(ours), _side(theirs)
    for name in dict.fromkeys((*running, *base.groups, *head.groups)):
        yield _group(name, base, running.get(name), head, redacted=live.redacted)


@dataclass(frozen=True, slots=True)
class _Side:
    """The groups that a template gives a cluster, by name, and whether it certainly has no other."""

    groups: Mapping[str, InstanceGroup]
    complete: bool

    def has(self, name: str) -> bool | None:
        return True if name in self.groups else False if self.complete else None


def _side(cluster: Cluster | None) -> _Side:
    if cluster is None:
        return _Side({}, complete=False)
    named = {
        name: group
        for group in cluster.groups
        if group is not restricted.STAND_IN and (name := known(group.name)) is not None
    }
    return _Side(named, complete=len(named) == len(cluster.groups))


def _group(name: str, base: _Side, live: LiveGroup | None, head: _Side, *, redacted: bool) -> GroupDrift:
    before, after = base.groups.get(name), head.groups.get(name)
    declared, proposed = _size(before), _size(after)
    state = _STATES.get((base.has(name), live is not None, head.has(name)))
    scripts = after.lifecycle if after else None
    drifted = _has_drifted(declared, live, complete=base.complete)
    at_least, at_most = _takes(state, live, proposed)
    return GroupDrift(
        name=name,
        state=state,
        declared=declared,
        live=live,
        proposed=proposed,
        drifted=drifted,
        only_drift=bool(drifted and declared and declared == proposed),
        takes_running=at_least,
        takes_at_most=at_most,
        image_after=(known(after.image_id) or known(after.image_release_version)) if after else None,
        scripts_after=known(scripts.source_uri) if isinstance(scripts, Lifecycle) else None,
        scripts_moved=contradictions.moved(live.scripts, scripts, redacted=redacted) if live and after else None,
    )


_STATES: Final[Mapping[tuple[bool | None, bool, bool | None], State]] = {
    (True, True, True): "kept",
    (True, True, False): "removed",
    (True, False, True): "lacking",
    (True, False, False): "gone",
    (False, True, True): "exists",
    (False, True, False): "undeclared",
    (False, False, True): "added",
}
"""By whether the base, the cluster and the head have the group. Source of `removed`: SageMaker API, UpdateCluster."""


def _size(group: InstanceGroup | None) -> Size | None:
    return Size(instances=known(group.instances), spares=group.spares) if group else None


def _has_drifted(declared: Size | None, live: LiveGroup | None, *, complete: bool) -> bool | None:
    if declared is None:
        return live is not None if complete else None
    if live is None:
        return True
    return None if declared.instances is None else declared.instances != live.target


def _takes(state: State | None, live: LiveGroup | None, proposed: Size | None) -> tuple[int | None, int | None]:
    """Running nodes that go: at least, and at most."""
    if state is None or state == "undeclared":
        return None, None
    if live is None:
        return 0, 0
    if proposed is None:
        return live.running, live.running
    if proposed.instances is None:
        return None, None
    fewer = live.target - proposed.instances
    if fewer <= 0:
        return 0, 0
    at_least = max(0, live.running - proposed.instances)
    return at_least, max(at_least, min(live.running, fewer))


def _plans(head: Deployment, live: Live, now: datetime) -> Iterator[PlanDrift]:
    running = {plan.name: plan for plan in live.plans}
    there = [(group, path) for cluster, group, path in head.groups() if _is_there(cluster, live)]
    # A group of which nobody knows what capacity it has may be on any plan.
    complete = all(group.capacity is not UNKNOWN and group is not restricted.STAND_IN for group, _ in there)
    asked: dict[str, list[tuple[str, int | None]]] = {}
    for group, path in there:
        if isinstance(group.capacity, TrainingPlan):
            asked.setdefault(group.capacity.name, []).append((path, known(group.instances)))
    for name in dict.fromkeys((*running, *asked)):
        groups = asked.get(name, [])
        counted = complete and all(count is not None for _, count in groups)
        yield _plan(name, running.get(name), groups, live.taken, now, complete=counted)


def _plan(
    name: str,
    live: LivePlan | None,
    groups: Sequence[tuple[str, int | None]],
    taken: datetime,
    now: datetime,
    *,
    complete: bool,
) -> PlanDrift:
    ends = live.ends if live else None
    proposed = sum(count or 0 for _, count in groups)
    return PlanDrift(
        name=name,
        live=live,
        hours_left=max(0.0, (ends - taken) / timedelta(hours=1)) if ends else None,
        expired=(live.status == "Expired" or (ends is not None and ends <= now)) if live and live.status else None,
        groups=tuple(path for path, _ in groups),
        proposed=proposed,
        complete=complete,
        over=_exceeds(proposed, live.count if live else None, complete=complete),
    )


def _exceeds(wanted: int | None, there: float | None, *, complete: bool) -> bool | None:
    """Whether more is wanted than there is; what is wanted may be more than is counted."""
    if wanted is None or there is None:
        return None
    return True if wanted > there else False if complete else None


def _quotas(
    base: Deployment, head: Deployment, ours: Cluster | None, theirs: Cluster | None, live: Live
) -> Iterator[QuotaDrift]:
    """The quotas of the head; what other clusters use stays, what those of the base use becomes what the head needs."""
    others = _needed([each for each in base.clusters if each is not ours], live)
    alone = _needed([theirs] if theirs else [], live)
    used = {(each.service, each.name): each for each in live.quotas}
    for key, needed in _needed(head.clusters, live).items():
        if needed.quota != limits.INSTANCES_PER_CLUSTER:
            yield _quota(needed, used.get(key), _after(needed, used.get(key), others.get(key), live.cluster))
        elif key in alone:
            yield _quota(alone[key], used.get(key), alone[key].needed)


def _after(needed: NeededQuota, its: LiveQuota | None, others: NeededQuota | None, cluster: LiveCluster) -> int | None:
    """What all clusters of the Region ask for after the change.

    Args:
        needed: What the head's clusters need.
        its: What the account has of it.
        others: What the base's other clusters need.
        cluster: The cluster of the snapshot.
    """
    if its is None or its.used is None or (others and not others.complete):
        return None
    own = sum(group.target for group in cluster.groups if needed.quota.name in _names(group))
    return max(0, its.used - own - (others.needed if others else 0)) + needed.needed


def _quota(needed: NeededQuota, its: LiveQuota | None, after: int | None) -> QuotaDrift:
    asked = needed if after is None else replace(needed, needed=after)
    code = its.code if its else None
    return QuotaDrift(
        service=needed.quota.service,
        name=needed.quota.name,
        code=code,
        applied=its.applied if its else None,
        used=its.used if its else None,
        needed=needed.needed,
        after=after,
        complete=needed.complete,
        # What the head needs by itself is too much whatever else there is.
        short=_exceeds(asked.needed, its.applied if its else None, complete=needed.complete and after is not None),
        look_up=needed.look_up,
        command=asked.command.replace(quotas.CODE, code) if code else asked.command,
    )


def _needed(clusters: Iterable[Cluster], live: Live) -> dict[tuple[str, str], NeededQuota]:
    """What clusters of the snapshot's Region need; one whose Region is not said may be deployed there."""
    there = tuple(replace(each, region=live.region) for each in clusters if _is_there(each, live))
    return {(each.quota.service, each.quota.name): each for each in quotas.needed(Deployment(clusters=there))}


def _names(group: LiveGroup) -> Iterator[str]:
    """Names of the quotas that instances of a group count against."""
    yield limits.INSTANCES_IN_ALL_CLUSTERS.name
    if group.spot:
        yield limits.SPOT_INSTANCES_IN_ALL_CLUSTERS.name
    if group.instance_type:
        quota = limits.spot_usage_quota if group.spot else limits.cluster_usage_quota
        yield quota(group.instance_type).name


def _file_systems(base: Deployment, head: Deployment, ours: Cluster | None, live: Live) -> Iterator[FileSystemDrift]:
    for found in _matched(base, ours, live):
        declared, proposed = (_capacity(side, found.path) for side in (base, head))
        yield replace(found, declared_gib=declared, proposed_gib=proposed)


def _capacity(deployment: Deployment, path: str | None) -> int | None:
    """Storage capacity of the file system of a path, in GiB."""
    found = deployment.file_system(path) if path else None
    return known(found.lustre.capacity_gib) if found else None


def _other_sizes(systems: Iterable[FileSystemDrift]) -> Iterator[str]:
    for each in systems:
        there, asked = each.live.capacity_gib, each.declared_gib
        if there is not None and asked is not None and there != asked:
            yield f"file system {each.live.id}: {there:,} GiB in the snapshot, {asked:,} GiB in the base ({each.path})"


def _matched(base: Deployment, ours: Cluster | None, live: Live) -> Iterator[FileSystemDrift]:
    lustre = {each.id for each in live.file_systems if each.kind == "LUSTRE"}
    mounted = _mounted(base, ours, live.cluster, lustre)
    left = [each for each in base.file_systems if each.path not in mounted.values()]
    for each in live.file_systems:
        if base.file_system(each.id):
            yield FileSystemDrift(live=each, path=each.id, matched_by="id")
        elif each.id in mounted:
            path = mounted[each.id]
            yield FileSystemDrift(live=each, path=path, matched_by="id" if path is None else "mount")
        elif lustre - mounted.keys() == {each.id} and len(left) == 1 and _may_be(left[0].lustre.capacity_gib, each):
            yield FileSystemDrift(live=each, path=left[0].path, matched_by="only one")
        else:
            yield FileSystemDrift(live=each, path=None, matched_by=None)


def _mounted(base: Deployment, ours: Cluster | None, cluster: LiveCluster, lustre: set[str]) -> dict[str, str | None]:
    """By id the path of the Lustre file system that the same group mounts; `None` for one that the template imports."""
    declared, found = _side(ours).groups, dict[str, str | None]()
    for group in cluster.groups:
        ids = {match[0] for name in group.file_systems if (match := _FILE_SYSTEM.match(name))} & lustre
        template = declared.get(group.name)
        mounts = template.mounts if template and isinstance(template.mounts, tuple) else ()
        names = [name for mount in mounts if mount.kind == "lustre" and (name := known(mount.file_system)) is not None]
        if len(ids) == len(names) == 1:
            (id_,), (name,) = ids, names
            if base.file_system(name):
                found[id_] = name
            elif name.partition(".")[0] == id_:
                found[id_] = None
    return found


def _may_be(capacity_gib: object, live: LiveFileSystem) -> bool:
    """Whether the capacity does not speak against it."""
    return capacity_gib is UNKNOWN or live.capacity_gib is None or capacity_gib in {None, live.capacity_gib}


def _notes(
    ours: Cluster | None, theirs: Cluster | None, head: Deployment, live: Live, now: datetime | None
) -> Iterator[str]:
    name, again = live.cluster.name, "take it again with `hyperpod snapshot`"
    lacking = [side for side, cluster in (("base", ours), ("head", theirs)) if not cluster]
    hidden = "; a redacted snapshot can have stand-ins for names" if live.redacted else ""
    missing = f"cluster {name} of {live.region} was not found in the {' or the '.join(lacking)}"
    if ours is theirs is None:
        yield f"{missing}: nothing that runs was compared{hidden}"
        return
    if now and now - live.taken > OLD:
        hours = (now - live.taken) / timedelta(hours=1)
        yield f"the snapshot is {hours:,.0f} hours old: {again}"
    if lacking:
        renamed = next((known(each.name) for each in head.clusters if ours and each.path == ours.path), None)
        called = f", which calls the one at its path {renamed}" if renamed and not theirs else ""
        yield f"{missing}{called}{hidden}"
    if live.cluster.status != "InService":
        yield f"cluster {name} was {live.cluster.status}: an update may be refused until it is InService"
    checked = sum((group.nodes or {}).get(_CHECKED, 0) for group in live.cluster.groups)
    if checked:
        yield f"{checked:,} nodes were in deep health checks: an update may fail until they end"
    for each in live.missing:
        needs = f" (needs {each.permission})" if each.permission else ""
        yield f"{each.what} could not be read{needs}"
