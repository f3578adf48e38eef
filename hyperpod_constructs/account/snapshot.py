"""What a running cluster is at one moment, as JSON: the facts that a review of a change needs and no template has.

`docs/commands.md` describes every key. A key is only ever added within a version; anything else raises the version.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, ParamSpec, TypeVar

from hyperpod_constructs.account.gateway import DescribedCluster, DescribedGroup, Gateway, ListedNode, Session
from hyperpod_constructs.account.gateway.cloudwatch import CloudWatch
from hyperpod_constructs.account.gateway.fsx import Fsx
from hyperpod_constructs.account.gateway.plans import TrainingPlans
from hyperpod_constructs.account.gateway.quotas import ServiceQuotas
from hyperpod_constructs.account.plans import Offer
from hyperpod_constructs.catalog import limits
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotAllowed, NotInAccount

FORMAT: Final = "hyperpod-snapshot"
VERSION: Final = 1
_FILE_SYSTEM: Final = re.compile(r"fs-[0-9a-f]{8,}")
_SERVICE: Final = "sagemaker"

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What was found.

    Attributes:
        data: The snapshot, ready for JSON; what could not be read is `null` and listed under `missing`.
        unread: Reads that AWS refused or failed.
    """

    data: dict[str, Any]
    unread: tuple[AccountError, ...]


class _Reads:
    """Reads one part after the other, and keeps what failed."""

    def __init__(self) -> None:
        """Nothing has failed yet."""
        self.failed: dict[str, tuple[str, AccountError]] = {}

    def attempt(self, what: str, read: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T | None:
        """The answer of a read; `None` where it may not be read or is not there."""
        try:
            return read(*args, **kwargs)
        except (NotAllowed, NotInAccount, AccountUnavailable) as error:
            if isinstance(error, AccountUnavailable) and not error.answered:
                raise  # each of the other reads would wait as long
            self.failed.setdefault(str(error), (what, error))
            return None


def take(session: Session, cluster: str, *, now: datetime, file_systems: Sequence[str] = ()) -> Snapshot:
    """Reads what a cluster is now.

    Args:
        session: The account.
        cluster: Name or ARN.
        now: The time, with its zone.
        file_systems: Ids of Lustre file systems that the cluster's groups do not name.

    Raises:
        NotInAccount: if there is no such cluster.
        AccountError: if the cluster itself cannot be read.
    """
    gateway, reads = session.open(Gateway), _Reads()
    described = gateway.describe_cluster(cluster)
    nodes = reads.attempt("nodes", gateway.list_cluster_nodes, cluster)
    arns = tuple(dict.fromkeys(group.plan for group in described.groups if group.plan))
    mounted = (
        match[0] for group in described.groups for name in group.file_systems if (match := _FILE_SYSTEM.match(name))
    )
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "taken": now.isoformat(timespec="seconds"),
        "account": described.arn.split(":")[4],
        "region": session.region,
        "redacted": False,
        "cluster": _cluster(described, nodes),
        "plans": [_plan(arn, session.open(TrainingPlans), reads, now) for arn in arns],
        "file_systems": [_file_system(id_, session, reads, now) for id_ in dict.fromkeys((*mounted, *file_systems))],
        "quotas": list(_quotas(session, described, reads)),
    }
    data["missing"] = [
        {"what": what, "permission": error.permission if isinstance(error, NotAllowed) else None, "why": str(error)}
        for what, error in reads.failed.values()
    ]
    return Snapshot(data=data, unread=tuple(error for _, error in reads.failed.values()))


def _cluster(cluster: DescribedCluster, nodes: Sequence[ListedNode] | None) -> dict[str, Any]:
    return {
        "name": cluster.name,
        "arn": cluster.arn,
        "id": cluster.id,
        "status": cluster.status,
        "failure_message": cluster.failure_message,
        "created": _text(cluster.created),
        "orchestrator": cluster.orchestrator,
        "configured_by_api": cluster.configured_by_api,
        "continuous": cluster.continuous,
        "groups": [_group(group, nodes) for group in cluster.groups],
    }


def _group(group: DescribedGroup, nodes: Sequence[ListedNode] | None) -> dict[str, Any]:
    states = None if nodes is None else Counter(node.status for node in nodes if node.group == group.name)
    return {
        "name": group.name,
        "instance_type": group.instance_type,
        "spot": group.spot,
        "target": group.target,
        "current": group.current,
        "nodes": None if states is None else dict(sorted(states.items())),
        "status": group.status,
        "plan": group.plan,
        "plan_status": group.plan_status,
        "image": {"id": group.image, "release": group.image_release, "status": group.image_status},
        "scripts": group.scripts,
        "role": group.role,
        "file_systems": list(group.file_systems),
    }


def _plan(arn: str, reader: TrainingPlans, reads: _Reads, now: datetime) -> dict[str, Any]:
    plan = reads.attempt("plans", reader.described, arn)
    offer = Offer(plan=plan, now=now) if plan else None
    return {
        "arn": arn,
        "name": arn.rpartition("/")[2],
        "status": plan.status if plan else None,
        "count": offer.count if offer else None,
        "available": plan.available if plan else None,
        "in_use": plan.in_use if plan else None,
        "unhealthy": plan.unhealthy if plan else None,
        "instance_types": list(offer.instance_types) if offer else None,
        "zones": list(offer.zones) if offer else None,
        "targets": list(plan.targets) if plan else None,
        "starts": _text(plan.starts) if plan else None,
        "ends": _text(plan.ends) if plan else None,
    }


def _file_system(id_: str, session: Session, reads: _Reads, now: datetime) -> dict[str, Any]:
    found = reads.attempt("file_systems", session.open(Fsx).file_systems, [id_])
    system = (found or {}).get(id_)
    # The metric is Lustre's; of one that may not be described it is worth a try.
    lustre = system.kind == "LUSTRE" if system else found is None
    used = reads.attempt("file_systems", session.open(CloudWatch).used_bytes, id_, now) if lustre else None
    return {
        "id": id_,
        "kind": system.kind if system else None,
        "status": system.state if system else None,
        "capacity_gib": system.capacity_gib if system else None,
        "used_bytes": int(used.value) if used else None,
        "measured": _text(used.time) if used else None,
    }


def _quotas(session: Session, cluster: DescribedCluster, reads: _Reads) -> Iterator[dict[str, Any]]:
    """Quotas that the cluster draws on: what is applied, and what all clusters of the Region ask for."""
    applied = reads.attempt("quotas", session.open(ServiceQuotas).of_service, _SERVICE)
    groups = _all_groups(session.open(Gateway), reads)
    for name, used in _used(cluster, groups):
        quota = (applied or {}).get(name)
        yield {
            "service": _SERVICE,
            "name": name,
            "code": quota.code if quota else None,
            "applied": quota.value if quota else None,
            "used": used,
        }


def _used(cluster: DescribedCluster, groups: Sequence[DescribedGroup] | None) -> Iterator[tuple[str, int | None]]:
    """Names of quotas, and how many instances of all clusters count against each."""

    def total(*, type_: str | None = None, spot: bool | None = None) -> int | None:
        counted = [
            group.target
            for group in groups or ()
            if type_ in {None, group.instance_type} and spot in {None, group.spot}
        ]
        return None if groups is None else sum(counted)

    kinds = {(group.instance_type, group.spot) for group in cluster.groups if group.instance_type}
    for name, spot in sorted(kinds):
        quota = limits.spot_usage_quota(name) if spot else limits.cluster_usage_quota(name)
        yield quota.name, total(type_=name, spot=spot)
    if any(group.spot for group in cluster.groups):
        yield limits.SPOT_INSTANCES_IN_ALL_CLUSTERS.name, total(spot=True)
    yield limits.INSTANCES_PER_CLUSTER.name, sum(group.target for group in cluster.groups)
    yield limits.INSTANCES_IN_ALL_CLUSTERS.name, total()


def _all_groups(gateway: Gateway, reads: _Reads) -> list[DescribedGroup] | None:
    """Groups of every cluster of the Region; `None` where not all of them could be read."""
    names = reads.attempt("quotas", gateway.list_clusters)
    if names is None:
        return None
    clusters = [reads.attempt("quotas", gateway.describe_cluster, name) for name in names]
    if None in clusters:
        return None
    return [group for cluster in clusters if cluster for group in cluster.groups]


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
