"""One review: everything that two assemblies and, where there is one, a snapshot of what runs say about a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hyperpod_constructs.catalog import prices
from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Stack
from hyperpod_constructs.findings import Finding
from hyperpod_constructs.model.deployment import Cluster, Deployment, UnseenKind
from hyperpod_constructs.planning import cost
from hyperpod_constructs.review import changes, figures, money, rosters, scripts
from hyperpod_constructs.review.access import openings, permissions
from hyperpod_constructs.review.access.written import Widened
from hyperpod_constructs.review.changes import by_severity
from hyperpod_constructs.review.comparison import Comparison
from hyperpod_constructs.review.figures import Figures
from hyperpod_constructs.review.impacts import Change, Impact, Verdict
from hyperpod_constructs.review.live import drift, losses
from hyperpod_constructs.review.live.drift import Drift
from hyperpod_constructs.review.live.snapshot import Live
from hyperpod_constructs.review.rosters import RosterEdit
from hyperpod_constructs.review.scripts import ScriptEdit
from hyperpod_constructs.tokens import UNKNOWN, known

LIVE: Final = "live state: give a snapshot with --live FILE (hyperpod snapshot CLUSTER --output FILE)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a review.

    Attributes:
        assembly: Its stacks.
        deployment: What they deploy.
        findings: What the rules say of it, without what the app acknowledges.
    """

    assembly: Assembly
    deployment: Deployment
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A cluster that a review speaks of.

    Attributes:
        path: Its path.
        name: Its name; `None` where CloudFormation makes one or it is decided at deploy.
        region: Region of its stack; `None` where it can go to any.
        scheduler: `slurm` or `eks`; `None` where it is not known.
    """

    path: str
    name: str | None
    region: str | None
    scheduler: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A file system that a stack leaves behind.

    Attributes:
        path: Its path in the base.
        capacity_gib: Its storage capacity in GiB; `None` where that is not known.
        usd_per_month: What it costs for 730 hours; `None` where it has no price.
    """

    path: str
    capacity_gib: int | None
    usd_per_month: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a change does.

    Attributes:
        verdict: The worst of it.
        changes: Everything that becomes another, the worst first.
        widened: What is allowed or open afterwards and was not before.
        narrowed: What was, and is not any more, of what is there on both sides.
        scripts: Edits of lifecycle scripts.
        rosters: Users and teams that change on nodes that run.
        figures: The numbers before and after.
        drift: The change beside what runs; `None` without a snapshot.
        kept: What the stacks leave behind and is paid for all the same.
        new: Findings that only the head has.
        resolved: Findings that only the base has.
        stopping: Those of the new findings with which a deployment is refused. What was there before the change is not
            its doing.
        not_compared: What nobody could look at.
        clusters: The clusters of the head, then those that only the base has.
    """

    verdict: Verdict
    changes: tuple[Change, ...]
    widened: tuple[Widened, ...]
    narrowed: tuple[Widened, ...]
    scripts: tuple[ScriptEdit, ...]
    rosters: tuple[RosterEdit, ...]
    figures: Figures
    drift: Drift | None
    kept: tuple[Kept, ...]
    new: tuple[Finding, ...]
    resolved: tuple[Finding, ...]
    stopping: tuple[Finding, ...]
    not_compared: tuple[str, ...]
    clusters: tuple[Named, ...]


def of(
    base: Side, head: Side, *, live: Live | None = None, lists: Sequence[PriceList] = (), now: datetime | None = None
) -> Review:
    """What a change does.

    Args:
        base: As it is deployed.
        head: As it would be.
        live: What runs.
        lists: Prices that come before those of this package, the best first.
        now: The time, with its zone, for the age of the snapshot.
    """
    comparison = Comparison(base=base.assembly, head=head.assembly)
    beside = drift.of(base.deployment, head.deployment, live, now=now) if live else None
    found, widened = changes.of(comparison), _opened(comparison)
    if beside is not None:
        found = by_severity(losses.beside(found, beside))
    new = _without(head.findings, base.findings)
    stopping = tuple(finding for finding in new if finding.severity.stops)
    return Review(
        verdict=_verdict(found, widened, stopping),
        changes=found,
        widened=widened,
        narrowed=tuple(each for each in _opened(comparison.reversed) if _is_left(comparison, each)),
        scripts=scripts.of(comparison),
        rosters=rosters.of(comparison),
        figures=figures.of(
            base.deployment,
            _with_stacks_that_stay(comparison, base, head),
            lists,
            money.unpriced(found, _gateways(base, head)),
        ),
        drift=beside,
        kept=tuple(_kept(base.deployment, found, lists)),
        new=new,
        resolved=_without(base.findings, head.findings),
        stopping=stopping,
        not_compared=tuple(dict.fromkeys(_not_compared(base, head, live))),
        clusters=tuple(_clusters(head.deployment, base.deployment)),
    )


def _opened(comparison: Comparison) -> tuple[Widened, ...]:
    return (*permissions.of(comparison), *openings.of(comparison))


def _is_left(comparison: Comparison, narrowed: Widened) -> bool:
    """Whether the holder of a permission is there on both sides: of one that goes, or is new, the changes tell."""
    return narrowed.path in comparison.paths_on_both_sides


def _gateways(*sides: Side) -> frozenset[str]:
    """Paths of endpoints that are of the kind Gateway, which cost nothing, on each side that has them."""
    endpoints = [each for side in sides for each in side.assembly.resources() if each.type == "AWS::EC2::VPCEndpoint"]
    free = {each.path: True for each in endpoints}
    for each in endpoints:
        kind = each.properties.get("VpcEndpointType") if isinstance(each.properties, dict) else UNKNOWN
        free[each.path] &= kind is None or kind == "Gateway"
    return frozenset(path for path, costs_nothing in free.items() if costs_nothing)


def _with_stacks_that_stay(comparison: Comparison, base: Side, head: Side) -> Deployment:
    """The head's deployment with the clusters, file systems and budgets of stacks that no deploy deletes."""
    gone = set(comparison.gone)
    paths = {each.path for stack in base.assembly.stacks if _outermost(stack) in gone for each in stack.resources()}
    if not paths:
        return head.deployment
    before, after = base.deployment, head.deployment
    return replace(
        after,
        clusters=(*after.clusters, *(each for each in before.clusters if each.path in paths)),
        file_systems=(*after.file_systems, *(each for each in before.file_systems if each.path in paths)),
        subnets=(*after.subnets, *(each for each in before.subnets if each.path in paths)),
        budgets=(*after.budgets, *(each for each in before.budgets if each.path in paths)),
    )


def _outermost(stack: Stack) -> Stack:
    return stack if stack.parent is None else _outermost(stack.parent)


def _kept(base: Deployment, found: Iterable[Change], lists: Sequence[PriceList]) -> Iterator[Kept]:
    behind = {change.path for change in found if change.impact is Impact.LEFT_BEHIND}
    systems = [each for each in base.file_systems if each.path in behind]
    metered = {item.path: item.usd_per_hour for item in cost.hourly(base, lists).metered} if systems else {}
    for each in systems:
        hourly = metered.get(each.path)
        month = None if hourly is None else hourly * prices.HOURS_PER_MONTH
        yield Kept(path=each.path, capacity_gib=known(each.lustre.capacity_gib), usd_per_month=month)


def _verdict(found: Iterable[Change], widened: Sequence[Widened], stopping: Sequence[Finding]) -> Verdict:
    verdicts = [change.verdict for change in found]
    verdicts += [Verdict.SAFE] if widened else []
    if not verdicts:
        return Verdict.UNCHANGED
    return Verdict.BLOCKED if stopping else max(verdicts, key=list(Verdict).index)


def _without(some: Sequence[Finding], others: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings of rules and places that the other side does not have; their figures may differ."""
    there = {(each.rule, each.path) for each in others}
    return tuple(each for each in some if (each.rule, each.path) not in there)


def _not_compared(base: Side, head: Side, live: Live | None) -> Iterator[str]:
    if live is None and base.deployment.clusters:
        yield LIVE
    for side, name in ((base, "base"), (head, "head")):
        for unseen in side.deployment.unseen:
            yield f"{unseen.path} of the {name}: {_WHY[unseen.kind]}"
        for resource in side.assembly.resources():
            if resource.properties is UNKNOWN:
                yield f"{resource.path} of the {name}: a macro or loop decides its properties"
        if side.assembly.requests:
            yield f"create-cluster requests of the {name}: only templates are compared"


_WHY: Final[Mapping[UnseenKind, str]] = {
    "nested": "the template of the nested stack is not at hand",
    "macro": "only CloudFormation expands the macro",
    "file": "it is no template",
    "folder": "a folder that was not read",
    "condition": "a condition leaves it out",
    "type": "a type that this version does not know",
}


def _clusters(*deployments: Deployment) -> Iterator[Named]:
    """Every cluster once, by its path."""
    found: dict[str, Cluster] = {}
    for cluster in (cluster for each in deployments for cluster in each.clusters):
        found.setdefault(cluster.path, cluster)
    for path, cluster in found.items():
        yield Named(path=path, name=known(cluster.name), region=cluster.region, scheduler=cluster.scheduler)
