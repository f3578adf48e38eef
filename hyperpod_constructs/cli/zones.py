"""`hyperpod zones`: in which zones of a Region an account is offered an instance type, by id and by name."""

from __future__ import annotations

import argparse
import json
import sys

from hyperpod_constructs.account import gateway
from hyperpod_constructs.account.gateway.ec2 import Ec2, Zone
from hyperpod_constructs.account.gateway.identity import Identity
from hyperpod_constructs.catalog import instances
from hyperpod_constructs.cli import terminal

_PREFIX = "ml."
_NO_PROMISE = (
    "EC2 offers the type there, which is no promise of capacity; HyperPod has no list of its own. A group on a "
    "training plan stands in the plan's zone"
)


def run(arguments: argparse.Namespace) -> int:
    """Prints the zones; 1 where there is none."""
    name = _PREFIX + arguments.type.removeprefix(_PREFIX)
    session = gateway.sign_in(profile=arguments.profile, region=arguments.region)
    account, ec2 = session.open(Identity).account(), session.open(Ec2)
    by_id = {zone.id: zone for zone in ec2.zones()}
    offered = ec2.zones_offering(name.removeprefix(_PREFIX))
    zones = [by_id.get(each, Zone(id=each, name="", open=True)) for each in offered]
    listed = instances.find(name) is not None
    if arguments.format == "json":
        print(json.dumps(as_data(name, account, session.region, zones, listed=listed), indent=2))
    elif zones:
        print("\n".join(text(name, account, session.region, zones)))
    if not zones:
        where = f"no zone of {session.region} to account {account}"
        print(f"hyperpod: EC2 offers {terminal.plain(name)} in {where}{_near(name)}", file=sys.stderr)
        return 1
    if not listed:
        print(f"hyperpod: note: {name} is not in our list of types that HyperPod takes", file=sys.stderr)
    return 0


def as_data(name: str, account: str, region: str, zones: list[Zone], *, listed: bool) -> dict[str, object]:
    """The answer as JSON shows it."""
    return {
        "instance_type": name,
        "account": account,
        "region": region,
        "listed": listed,
        "zones": [{"id": zone.id, "name": zone.name, "open": zone.open} for zone in zones],
    }


def text(name: str, account: str, region: str, zones: list[Zone]) -> list[str]:
    """The answer for a person."""
    rows = [(zone.id, zone.name, "" if zone.open else "not opted in to") for zone in zones]
    return [
        f"{name} in {region}, for account {account}",
        *terminal.table(rows),
        *terminal.wrapped(_NO_PROMISE, terminal.width()),
    ]


def _near(name: str) -> str:
    """Types that a name may have been meant for."""
    near = instances.near(name)
    return f"; did you mean {' or '.join(near)}?" if near else ""
