"""Opinions about a deployment: each rule is a generator that knows no CDK and no AWS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from hyperpod_constructs.findings import Finding, Severity
from hyperpod_constructs.model.deployment import Deployment, Location

NOT_CHECKED = "HP0000"
"""Id of the finding that says a check did not run; it cannot be acknowledged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One breach of a rule; the rule adds its id, severity and source.

    Attributes:
        path: Where, in the user's terms: construct path, or stack and logical id.
        message: What is wrong, with the value got.
        fix: The change to make, with the values allowed.
        location: Where in the input, if that is known better than from the path.
    """

    path: str
    message: str
    fix: str
    location: Location | None = None


Check = Callable[[Deployment], Iterator[Problem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule as it is documented: the catalogue page is made from these."""

    id: str
    severity: Severity
    title: str
    because: str
    source: str
    check: Check

    def findings(self, deployment: Deployment) -> Iterator[Finding]:
        """What this rule has to say about a deployment."""
        for problem in self.check(deployment):
            yield Finding(
                rule=self.id,
                severity=self.severity,
                path=problem.path,
                message=problem.message,
                fix=problem.fix,
                source=self.source,
                file=problem.location.file if problem.location else None,
                line=problem.location.line if problem.location else None,
            )


RULES: dict[str, Rule] = {}
"""Every rule by id, in the order of registration."""


def rule(id: str, severity: Severity, *, title: str, because: str, source: str) -> Callable[[Check], Check]:
    """Registers a check as a rule. Ids are public: never renamed, never reused."""

    def register(check: Check) -> Check:
        if id in RULES:
            raise ValueError(f"rule {id} exists: {RULES[id].title}")
        RULES[id] = Rule(id=id, severity=severity, title=title, because=because, source=source, check=check)
        return check

    return register


def check(deployment: Deployment) -> list[Finding]:
    """Every finding of every rule, in a stable order, with the place in the input where it is known."""
    found = [finding for each in RULES.values() for finding in _run(each, deployment)]
    return sorted((_located(finding, deployment) for finding in found), key=_order)


def not_checked(path: str, what: str, reason: str) -> Finding:
    """The finding that stands for a check that could not run: checks fail closed."""
    return Finding(
        rule=NOT_CHECKED,
        severity=Severity.FATAL,
        path=path,
        message=f"{what} did not run: {reason}",
        fix="this is a defect of hyperpod_constructs, not of your code: report it with this text",
        source="hyperpod_constructs",
    )


def _run(each: Rule, deployment: Deployment) -> Iterable[Finding]:
    try:
        return list(each.findings(deployment))
    except Exception as error:  # noqa: BLE001  # whatever a rule raises must become a finding, never silence
        path = deployment.clusters[0].path if deployment.clusters else ""
        return [not_checked(path, f"rule {each.id} ({each.title})", f"{type(error).__name__}: {error}")]


def _located(finding: Finding, deployment: Deployment) -> Finding:
    place = None if finding.file else _nearest(deployment, finding.path)
    return replace(finding, file=place.file, line=place.line) if place else finding


def _nearest(deployment: Deployment, path: str) -> Location | None:
    """The location of a path or of the nearest thing that holds it."""
    while path:
        if path in deployment.locations:
            return deployment.locations[path]
        path = path.rpartition("/")[0]
    return None


def _order(finding: Finding) -> tuple[str, int, str, str, str]:
    return finding.file or "", finding.line or 0, finding.path, finding.rule, finding.message


from hyperpod_constructs.rules import (  # noqa: E402  # registers its rules, which need the names above
    access_entries as access_entries,
    accounting as accounting,
    addon_order as addon_order,
    addons as addons,
    addresses as addresses,
    anomalies as anomalies,
    autoscaling as autoscaling,
    budget as budget,
    capacity as capacity,
    charts as charts,
    cluster_role as cluster_role,
    cluster_shape as cluster_shape,
    control_plane as control_plane,
    data as data,
    elsewhere as elsewhere,
    endpoints as endpoints,
    governance as governance,
    health as health,
    images as images,
    instance_types as instance_types,
    kept_data as kept_data,
    keys as keys,
    labels as labels,
    legacy_slurm as legacy_slurm,
    lifecycle as lifecycle,
    lustre as lustre,
    lustre_efa as lustre_efa,
    mounts as mounts,
    network as network,
    notices as notices,
    observability as observability,
    orchestration as orchestration,
    plan_counts as plan_counts,
    plans as plans,
    provisioning as provisioning,
    quotas as quotas,
    repositories as repositories,
    restricted as restricted,
    routes as routes,
    script_access as script_access,
    script_writers as script_writers,
    security as security,
    security_groups as security_groups,
    steps as steps,
    storage_ports as storage_ports,
    subnets as subnets,
    tags as tags,
    teams as teams,
    template as template,
    tiering as tiering,
    volumes as volumes,
    zones as zones,
)
