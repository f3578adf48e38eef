"""How teams are named and how they share: HP602x."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hyperpod_constructs.catalog.kubernetes import TEAM_NAMESPACE
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.governance import Quota, SchedulerPolicy
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._governance import (
    POLICIES,
    QUOTA_API,
    QUOTA_SCHEMA,
    counts,
    governed,
    may_count,
    named,
    policies_of,
)
from hyperpod_constructs.rules._words import all_of

_LONGEST: Final = 63
_BORROWS: Final = "LendAndBorrow"
_PERCENT: Final = range(1, 501)
"""What the texts of the API and of the registry allow."""
_SCHEMA: Final = range(10_001)
"""What their schema does; it reports what is outside."""


def _by(
    what: Sequence[Quota] | Sequence[SchedulerPolicy], field: str
) -> Iterator[tuple[str, list[Quota | SchedulerPolicy]]]:
    """Several of one cluster with one name, by that name."""
    found: dict[tuple[str, str], list[Quota | SchedulerPolicy]] = {}
    for each in what:
        name = getattr(each, field)
        if each.certain and isinstance(each.cluster, str) and isinstance(name, str):
            found.setdefault((each.cluster, name), []).append(each)
    yield from ((name, several) for (_, name), several in found.items() if len(several) > 1)


@rule(
    "HP6020",
    Severity.ERROR,
    title="Two quotas, or two scheduler policies, of a cluster have one name",
    because="a name must be unique within the cluster",
    source=f"{QUOTA_API}, Name; SageMaker API, CreateClusterSchedulerConfig, Name (botocore 1.44.8)",
)
def names_are_unique_in_a_cluster(deployment: Deployment) -> Iterator[Problem]:
    for what, found in (("quotas", deployment.quotas), ("scheduler policies", deployment.scheduler_policies)):
        for name, several in _by(found, "name"):
            yield Problem(
                path=several[-1].path,
                message=f"{all_of(each.path for each in several)} are {what} named {name!r} of one cluster",
                fix="give each a Name of its own",
            )


@rule(
    "HP6021",
    Severity.WARNING,
    title="A team has two quotas in one cluster",
    because="both have one namespace and one queue, and no page says what the service makes of it; a quota can hold "
    "several instance types",
    source=POLICIES,
)
def teams_have_one_quota(deployment: Deployment) -> Iterator[Problem]:
    for team, several in _by(deployment.quotas, "team"):
        yield Problem(
            path=several[-1].path,
            message=f"{all_of(each.path for each in several)} are quotas of team {team!r}, which is namespace "
            f"{TEAM_NAMESPACE}{team}",
            fix="make one quota of them, with all of their ComputeQuotaResources, or give each a TeamName of its own",
        )


@rule(
    "HP6022",
    Severity.ERROR,
    title="The name of a team is too long for its namespace",
    because=f"the team becomes the namespace {TEAM_NAMESPACE}TEAM, and Kubernetes takes {_LONGEST} characters",
    source=f"{QUOTA_SCHEMA}, TeamName; Kubernetes documentation, namespaces (RFC 1123 labels)",
)
def team_names_fit_a_namespace(deployment: Deployment) -> Iterator[Problem]:
    for quota in deployment.quotas:
        if isinstance(quota.team, str) and len(TEAM_NAMESPACE + quota.team) > _LONGEST:
            yield Problem(
                path=quota.path,
                message=f"TeamName {quota.team} has {len(quota.team)} characters, and its namespace "
                f"{len(TEAM_NAMESPACE + quota.team)}",
                fix=f"use a TeamName (Team(name=...)) of at most {_LONGEST - len(TEAM_NAMESPACE)} characters; "
                "AWS's texts want at most 40",
            )


@rule(
    "HP6023",
    Severity.WARNING,
    title="Nobody can submit as a team",
    because="who may run tasks in the namespace of a team is up to Kubernetes RBAC, and neither the quota nor anything "
    "that its author says gives it to somebody",
    source=POLICIES,
)
def teams_have_members(deployment: Deployment) -> Iterator[Problem]:
    for quota in deployment.quotas:
        if quota.has_members is False and may_count(quota):
            yield Problem(
                path=quota.path,
                message=f"the {named(quota)} is there, but the team has no members",
                fix="give the ARNs of roles as Team(members=[...]), or bind a role in its namespace yourself",
            )


@rule(
    "HP6024",
    Severity.INFO,
    title="A team has the fair-share weight 0 and others have more",
    because="0, which is what is taken where it is left out, is the lowest priority: the guide says that such a team "
    "will always be at a disadvantage",
    source=f"{POLICIES}; {QUOTA_API}, FairShareWeight",
)
def teams_have_weights(deployment: Deployment) -> Iterator[Problem]:
    for cluster, quotas in governed(deployment):
        policies = policies_of(deployment, cluster)
        if not policies or any(each.fair_share not in {None, "Enabled"} for each in policies):
            continue
        heavier = [
            f"{quota.team} {quota.weight}"
            for quota in quotas
            if counts(quota) and isinstance(quota.weight, int) and quota.weight > 0
        ]
        for quota in quotas:
            if heavier and counts(quota) and quota.weight in {None, 0} and quota.sharing in {None, _BORROWS}:
                yield Problem(
                    path=quota.path,
                    message=f"FairShareWeight of the {named(quota)} is "
                    f"{'left out' if quota.weight is None else quota.weight}, of others {', '.join(heavier)}",
                    fix="give a FairShareWeight of 1 to 100 (Team(weight=...)), unless the team shall come last",
                )


@rule(
    "HP6025",
    Severity.WARNING,
    title="A team that does not borrow has a limit for it",
    because="only LendAndBorrow lets a team borrow, so that the limit has no effect",
    source=f"{QUOTA_API}, Strategy; that the limit then has no effect is inferred",
)
def limits_are_of_teams_that_borrow(deployment: Deployment) -> Iterator[Problem]:
    for quota in deployment.quotas:
        limits = [f"BorrowLimit {quota.borrow_limit}"] if isinstance(quota.borrow_limit, int) else []
        limits += ["AbsoluteBorrowLimits"] if isinstance(quota.borrowable, tuple) and quota.borrowable else []
        if limits and quota.sharing in {"Lend", "DontLend"}:
            yield Problem(
                path=quota.path,
                message=f"the {named(quota)} has {all_of(limits)} and Strategy {quota.sharing}",
                fix=f"leave {all_of(limits)} out, or use Strategy: {_BORROWS}",
            )


@rule(
    "HP6026",
    Severity.WARNING,
    title="BorrowLimit is outside 1 to 500 percent",
    because="the texts of the API and of the registry give 1 to 500; the guide of October 2026 says up to 10,000, and "
    "the schema takes 0 to 10,000: AWS's texts differ",
    source=f"{QUOTA_API}, BorrowLimit; {QUOTA_SCHEMA}; {POLICIES}",
)
def borrow_limits_are_usual(deployment: Deployment) -> Iterator[Problem]:
    for quota in deployment.quotas:
        limit = quota.borrow_limit
        if quota.sharing in {None, _BORROWS} and limit in _SCHEMA and limit not in _PERCENT:
            none = ", or Strategy: Lend for a team that lends and does not borrow" if limit == 0 else ""
            yield Problem(
                path=quota.path,
                message=f"BorrowLimit of the {named(quota)} is {limit:,} %",
                fix=f"use 1 to 500 (Team(borrow_limit_percent=...)){none}",
            )
