"""`hyperpod preflight`: whether the account is ready for a deployment, before anything is created."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from hyperpod_constructs.account import gateway, preflight
from hyperpod_constructs.account.gateway.identity import Identity
from hyperpod_constructs.account.preflight import Check, Outcome, record, stacks
from hyperpod_constructs.account.preflight.record import Record
from hyperpod_constructs.cli import check, files, inputs, planned, terminal
from hyperpod_constructs.cli.inputs import Input, Judged
from hyperpod_constructs.cloudformation import assembly

_HEADINGS = ("quota", "applied", "in use", "needed")


def run(arguments: argparse.Namespace) -> int:
    """Prints what was found; 1 where a deployment would fail, or something could not be checked."""
    started = time.perf_counter()
    if arguments.write is not None:
        _can_be_written(Path(arguments.write), arguments.write)
    session = gateway.sign_in(profile=arguments.profile, region=arguments.region or _region(arguments.path))
    source = inputs.read(arguments.path, session.region)
    if source.refusal:
        return inputs.refuse(source.refusal)
    regions = _regions(source, session.region)
    if arguments.region and arguments.region not in regions:
        inputs.note(f"PATH fixes {', '.join(regions)}, so --region {arguments.region} plays no part")
    for region in regions:
        gateway.must_exist(region)
    account = session.open(Identity).account()
    outcomes = {
        region: preflight.run(
            _context(session, region, account, source),
            _checks(source, account),
            say=partial(_say, f"{region}: " if len(regions) > 1 else ""),
            seconds=arguments.timeout,
        )
        for region in regions
    }
    findings = tuple(finding for outcome in outcomes.values() for finding in outcome.findings)
    judged = Judged(findings=tuple(dict.fromkeys(findings)), acknowledged=())
    learned = {region: record.as_data(outcome.learned) for region, outcome in outcomes.items()}
    if arguments.format == "json":
        print(json.dumps(as_data(account, outcomes, judged), indent=2))
    else:
        print("\n".join(text(account, outcomes, judged, time.perf_counter() - started)))
    if arguments.write is not None:  # after the answer, which a file that cannot be written must not take away
        unfinished = {region: _unfinished(outcome) for region, outcome in outcomes.items() if _unfinished(outcome)}
        there = Record(account=account, read=datetime.now(UTC), regions=learned, unfinished=unfinished)
        sys.stdout.flush()
        files.write({Path(arguments.write): record.text(there)})
        for region, names in unfinished.items():
            inputs.note(f"{arguments.write} lacks what was not read in {region}: {', '.join(names)}")
    return 1 if judged.stops else 0


def as_data(account: str, outcomes: dict[str, Outcome], judged: Judged) -> dict[str, object]:
    """The answer as JSON shows it."""
    return {
        "account": account,
        "regions": list(outcomes),
        **check.as_data(judged),
        "checks": [{"region": region, **asdict(ran)} for region, outcome in outcomes.items() for ran in outcome.ran],
        "learned": {region: record.as_data(outcome.learned) for region, outcome in outcomes.items()},
    }


def text(account: str, outcomes: dict[str, Outcome], judged: Judged, seconds: float) -> list[str]:
    """The answer for a person: findings, then quotas, and what was asked on the last line."""
    lines = [line for finding in judged.findings for line in check.block(finding)]
    for region, outcome in outcomes.items():
        lines += _quotas(region, outcome)
    ran = [each for outcome in outcomes.values() for each in outcome.ran]
    unfinished = sum(len(_unfinished(outcome)) for outcome in outcomes.values())
    counts, number = check.counts(judged), terminal.plural(len(judged.findings), "finding")
    asked = f"{terminal.plural(len(ran), 'check')} of account {account} in {', '.join(outcomes)}, {seconds:.1f} s"
    left = f"; {unfinished} not to the end" if unfinished else ""
    return [*lines, f"{number}{counts and ': ' + counts} ({asked}{left})"]


def _unfinished(outcome: Outcome) -> list[str]:
    """Names of the checks that did not come to their end."""
    return [each.name for each in outcome.ran if each.outcome != "done"]


def _can_be_written(file: Path, said: str) -> None:
    """Refuses a file that certainly cannot be written, before an account is read for it."""
    if not said or file.is_dir():
        raise OSError(errno.EISDIR, "is a folder, or no name: give --write the name of a file", said or '""')
    target = file.resolve()
    if target.exists() and not target.is_file():
        return  # a device or a pipe, which is written to and not replaced
    around = next(each for each in target.parents if each.exists())
    if not around.is_dir():
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), said)
    if not os.access(around, os.W_OK | os.X_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), said)


def _context(session: gateway.Session, region: str, account: str, source: Input) -> preflight.Context:
    return preflight.Context(
        session=session,
        region=region,
        account=account,
        deployment=planned.of(source, ()).deployment,
        assembly=source.read,
        now=datetime.now(UTC),
    )


def _region(path: str) -> str | None:
    """A Region that PATH itself says; `None` where it says none, and the profile's counts."""
    return next((stack.region for stack in assembly.read(path).stacks if stack.region), None)


def _regions(source: Input, asked: str) -> list[str]:
    """Regions of all stacks; requests to the API go to the one that was asked for."""
    regions = {stack.region or asked for stack in source.read.stacks}
    return sorted(regions | {asked} if source.read.requests or not regions else regions)


def _quotas(region: str, outcome: Outcome) -> list[str]:
    rows = [
        (each.name, f"{each.facts['applied']:,.0f}", f"{each.facts['used']:,}", f"{each.facts['needed']:,}")
        for each in outcome.learned
        if each.section == "quotas"
    ]
    if not rows:
        return []
    return [f"quotas in {region}; in use is what others take", *terminal.table([_HEADINGS, *rows], right={1, 2, 3})]


def _checks(source: Input, account: str) -> Sequence[Check]:
    """All checks; in an account for which no stack is made, only the one that says so."""
    accounts = {stack.account for stack in source.read.stacks}
    if not accounts or accounts & {None, account}:
        return preflight.CHECKS
    return [each for each in preflight.CHECKS if each.name == stacks.OF_THE_ACCOUNT]


def _say(before: str, line: str) -> None:
    """Shows progress at once, apart from the answer."""
    print(terminal.plain(before + line), file=sys.stderr, flush=True)
