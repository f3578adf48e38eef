"""`hyperpod summary`: what a deployment amounts to, on one page; `make synth` ends with it."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hyperpod_constructs.cli import check, cost as cost_command, inputs, planned, price_files, terminal
from hyperpod_constructs.cli.inputs import Judged
from hyperpod_constructs.cli.planned import Planned
from hyperpod_constructs.planning import quotas, totals
from hyperpod_constructs.planning.cost import Cost
from hyperpod_constructs.planning.quotas import NeededQuota
from hyperpod_constructs.planning.totals import ClusterTotals, KubernetesApi, PlanDates, SubnetUse, Totals

if TYPE_CHECKING:
    from hyperpod_constructs.account.preflight.record import Record

Applied: TypeAlias = Callable[[NeededQuota], Mapping[str, Any] | None]


def run(arguments: argparse.Namespace) -> int:
    """Prints the summary; 1 where a deployment would be refused."""
    source = inputs.read(arguments.path, arguments.region)
    if source.refusal:
        return inputs.refuse(source.refusal)
    judged = inputs.judge(source)
    basis, learned = planned.of(source, price_files.load()), _learned(arguments.preflight)
    if arguments.format == "json":
        print(json.dumps(_as_data(basis, judged, learned), indent=2, default=_moment))
    else:
        print("\n".join(_text(basis, judged, arguments, learned)))
    return 1 if judged.stops else 0


def _as_data(basis: Planned, judged: Judged, learned: Record | None) -> dict[str, object]:
    applied = _applied(learned)
    needed = [
        {**asdict(quota), "look_up": quota.look_up, "command": quota.command, **_of_the_account(applied(quota))}
        for quota in quotas.needed(basis.deployment)
    ]
    money = cost_command.as_data(basis)
    read = {} if learned is None else {"preflight": _of_preflight(learned)}
    return {**asdict(totals.of(basis.deployment)), "cost": money, "quotas": needed, **read, **check.as_data(judged)}


def _of_preflight(learned: Record) -> dict[str, object]:
    """Which account was read when, and what of it was not."""
    unfinished = {region: list(names) for region, names in learned.unfinished.items()}
    return {"account": learned.account, "read": learned.read, "unfinished": unfinished}


def _of_the_account(applied: Mapping[str, Any] | None) -> dict[str, object]:
    """What an account has of a quota; nothing where no file says."""
    return {} if applied is None else {"applied": applied["applied"], "used": applied["used"]}


def _moment(value: object) -> str:
    """A moment as JSON shows it."""
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} is not meant for JSON")
    return value.isoformat()


def _text(basis: Planned, judged: Judged, arguments: argparse.Namespace, learned: Record | None) -> list[str]:
    found, money = totals.of(basis.deployment), basis.cost
    return [
        *(line for cluster in found.clusters for line in _cluster(cluster)),
        *(line for api in found.kubernetes for line in _api(api)),
        *_subnets(found.subnets),
        *(line for plan in found.plans for line in _plan(plan, money)),
        "cost per hour",
        *("  " + line for line in cost_command.text(basis, terminal.width() - 2)),
        *_quotas(quotas.needed(basis.deployment), _applied(learned)),
        *_unfinished(learned),
        *_findings(judged),
        *_next_steps(found, arguments),
    ]


def _cluster(cluster: ClusterTotals) -> Iterator[str]:
    yield f"cluster {terminal.plain(cluster.name or cluster.path)}"
    nodes = [f"{cluster.usable:,} usable", f"{cluster.spare:,} spare"]
    nodes += [f"{cluster.service:,} for controller and login"] if cluster.service else []
    yield f"  nodes         {', '.join(nodes)}"
    for accelerators in cluster.accelerators:
        yield f"  accelerators  {accelerators.usable:,} {accelerators.name} usable, {accelerators.spare:,} spare"
    for path in cluster.uncounted:
        yield f"  not counted   {terminal.plain(path)}: its number of instances is not known"
    for path in cluster.unknown_types:
        yield f"  not counted   accelerators of {terminal.plain(path)}: its instance type is not known"


def _api(api: KubernetesApi) -> Iterator[str]:
    version = f", Kubernetes {terminal.plain(api.version)}" if api.version else ""
    yield f"EKS cluster {terminal.plain(api.name or api.path)}{version}"
    yield f"  API reached   {_reach(api)}"


def _reach(api: KubernetesApi) -> str:
    if api.public is None or api.private is None:
        return "in a way that is decided at deploy"
    inside = " and from its VPC" if api.private else ""
    if api.public:
        blocks = ", ".join(map(terminal.plain, api.public_cidrs)) or "anywhere on the internet"
        return f"from {blocks}{inside}"
    return "from its VPC alone, by whom its security groups let in (endpoint=hp.Endpoint.private(cidrs=[...]))"


def _subnets(subnets: tuple[SubnetUse, ...]) -> list[str]:
    rows = []
    for use in subnets:
        used = f"{use.used:,}" if use.complete else f"at least {use.used:,}"
        available = "of an unknown number" if use.available is None else f"of {use.available:,}"
        place = " ".join(word for word in (use.zone, use.cidr) if word)
        rows.append((use.path, place, used, available))
    return ["addresses used by nodes, spares included", *terminal.table(rows, right={2})] if rows else []


def _plan(plan: PlanDates, money: Cost) -> Iterator[str]:
    number = "an unknown number of" if plan.instances is None else f"{plan.instances:,}"
    yield f"training plan {terminal.plain(plan.plan)}"
    yield f"  instances     {number} for {', '.join(map(terminal.plain, plan.groups))}"
    if plan.arrives is None:
        yield "  dates         not known: hyperpod:intent metadata of the cluster does not say"
        return
    yield f"  arrive        {_hour(plan.arrives)}"
    yield f"  until then    {cost_command.by_the_hour(money)} for everything else, from the day of the deployment"
    if plan.leaves is not None:
        yield f"  leave         from {_hour(plan.leaves)}, an hour before the plan ends"


def _hour(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _learned(file: str | None) -> Record | None:
    """What preflight wrote of an account; `None` where no file is named."""
    if file is None:
        return None
    from hyperpod_constructs.account.preflight import record  # noqa: PLC0415  # only for who has such a file

    return record.read(Path(file))


def _applied(learned: Record | None) -> Applied:
    """How to find what an account has of a quota; it never has anything where no file says so."""
    if learned is None:
        return lambda _: None
    return lambda quota: learned.facts(quota.region, "quotas", quota.quota.name)


def _unfinished(learned: Record | None) -> Iterator[str]:
    """Checks of preflight that did not come to their end: what they would have said is missing above."""
    if learned is None:
        return
    for region, names in learned.unfinished.items():
        yield from terminal.wrapped(
            f"preflight of account {learned.account} did not come to the end of these checks in {region}, so nothing "
            f"above rests on them: {', '.join(names)}",
            terminal.width(),
            hang="  ",
        )


def _quotas(needed: tuple[NeededQuota, ...], applied: Applied) -> Iterator[str]:
    for region, quotas_there in groupby(needed, key=lambda quota: quota.region):
        there = list(quotas_there)
        place = terminal.plain(region or "a Region that is not known")
        yield f"quotas needed in {place} (what was seen in other accounts may differ from yours)"
        rows = [(_number(quota), quota.quota.name, _has(applied(quota)) or _seen(quota)) for quota in there]
        yield from terminal.table(rows, right={0})
        small = [quota for quota in there if not _is_enough(quota, applied(quota))]
        if small:
            yield f"to ask for more (it can take days): look the code up by name, then put it in place of {quotas.CODE}"
            yield from ("  " + terminal.plain(line) for quota in small for line in _asked(quota))


def _asked(quota: NeededQuota) -> tuple[str, str]:
    """How to look a quota's code up, with the code that other accounts have, and how to ask for more."""
    seen = f" # elsewhere {quota.quota.code}: confirm" if quota.quota.code else ""
    return quota.look_up + seen, quota.command


def _number(quota: NeededQuota) -> str:
    return f"{quota.needed:,}" if quota.complete else f"at least {quota.needed:,}"


def _has(applied: Mapping[str, Any] | None) -> str:
    return f"yours: {applied['applied']:,.0f}, {applied['used']:,} in use" if applied else ""


def _is_enough(quota: NeededQuota, applied: Mapping[str, Any] | None) -> bool:
    if applied is None:
        return quota.likely_enough
    return quota.complete and bool(applied["applied"] >= applied["used"] + quota.needed)


def _seen(quota: NeededQuota) -> str:
    seen = quota.quota.seen
    if not seen:
        return ""
    return f"seen: {seen[0]:,}" if len(seen) == 1 else f"seen: {seen[0]:,} to {seen[-1]:,}"


def _findings(judged: Judged) -> list[str]:
    if not judged.findings and not judged.acknowledged:
        return ["findings: none"]
    return [f"findings: {check.counts(judged)}", *(line for f in judged.findings for line in check.block(f))]


def _next_steps(found: Totals, arguments: argparse.Namespace) -> list[str]:
    words = [arguments.path, *(["--region", arguments.region] if arguments.region else [])]
    rows = [(shlex.join(["hyperpod", "check", *words]), "the findings again, also as JSON or SARIF")]
    rows += [("hyperpod rules ID", "why a rule exists, and who says so")]
    return ["next", *terminal.table(rows)] if found.clusters else []
