"""`hyperpod plans list`: training plans of an account, as the line of code that uses each."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from hyperpod_constructs.account import gateway
from hyperpod_constructs.account.gateway.plans import DescribedPlan, TrainingPlans
from hyperpod_constructs.account.plans import Offer
from hyperpod_constructs.cli import inputs, terminal
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotAllowed


def run(arguments: argparse.Namespace) -> int:
    """Prints every plan; 2 where some of what is to be said could not be read."""
    session = gateway.sign_in(profile=arguments.profile, region=arguments.region)
    reader, now = session.open(TrainingPlans), datetime.now(UTC)
    offers, unread = _offers(reader, now)
    for error in unread:
        inputs.note(str(error))
    if arguments.format == "json":
        data = {
            "region": session.region,
            "plans": [as_data(offer) for offer in offers],
            "denied": list(map(str, unread)),
        }
        print(json.dumps(data, indent=2))
    else:
        print("\n".join(text(offers, session.region, terminal.width())))
    return 2 if unread else 0


def as_data(offer: Offer) -> dict[str, object]:
    """A plan as JSON shows it."""
    plan = offer.plan
    return {
        "name": plan.name,
        "arn": plan.arn,
        "status": plan.status,
        "targets": list(plan.targets),
        "usable": offer.problem is None,
        "problem": offer.problem,
        "line": offer.line,
        "notes": list(offer.notes),
        "instance_types": list(offer.instance_types),
        "count": offer.count,
        "available": plan.available,
        "in_use": plan.in_use,
        "unhealthy": plan.unhealthy,
        "zones": list(offer.zones),
        "starts": plan.starts.isoformat() if plan.starts else None,
        "ends": plan.ends.isoformat() if plan.ends else None,
    }


def text(offers: Sequence[Offer], region: str, columns: int) -> list[str]:
    """Plans for a person: those that a cluster can use with their lines, then the others with the reason."""
    usable = [offer for offer in offers if offer.problem is None]
    others = [offer for offer in offers if offer.problem is not None]
    lines = [f"training plans in {region} that a cluster can use: {len(usable):,}"]
    for offer in usable:
        lines += ["", *_usable(offer, columns)]
    if not offers:
        lines += terminal.wrapped(
            "this account has none in this Region; `aws sagemaker search-training-plan-offerings --target-resources "
            f"hyperpod-cluster --region {region}` shows what is for sale",
            columns,
        )
    if others:
        lines += ["", f"that it cannot use: {len(others):,}"]
    for offer in others:
        lines += terminal.wrapped(f"{offer.plan.name}: {offer.problem}", columns, indent="  ", hang="  ")
    return lines


def _usable(offer: Offer, columns: int) -> Iterator[str]:
    plan = offer.plan
    span = " to ".join(f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "unknown" for moment in (plan.starts, plan.ends))
    use = "" if plan.in_use is None else f", {plan.in_use:,} in use"
    yield from terminal.wrapped(f"{plan.name}: {plan.status}, {span}{use}", columns)
    yield f"    {offer.line}"
    for note in offer.notes:
        yield from terminal.wrapped(f"note: {note}", columns, indent="  ", hang="  ")


def _offers(reader: TrainingPlans, now: datetime) -> tuple[list[Offer], list[AccountError]]:
    """Every plan with its details; where those may not be read, as the list has it."""
    offers, unread = list[Offer](), dict[str, AccountError]()
    for listed in reader.listed():
        plan: DescribedPlan = listed
        offer = Offer(plan=listed, now=now)
        if offer.problem is None and not any(isinstance(error, NotAllowed) for error in unread.values()):
            try:
                plan = reader.described(listed.arn)
            except (NotAllowed, AccountUnavailable) as error:
                unread[str(error)] = error
        offers.append(Offer(plan=plan, now=now))
    return offers, list(unread.values())
