"""Runs the checks of preflight side by side, each with its own time, and lets none of them end unseen.

A check that breaks off or takes too long must not look like one that found nothing: it becomes a fatal finding. A
missing permission is no defect: the rest is still worth knowing, and a warning names what to allow.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import Final

from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import Check, Learned, finding, rule
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotAllowed
from hyperpod_constructs.findings import Finding, Severity

SECONDS: Final = 60.0
"""How long a check may take; the slowest reads every cluster and every page of quotas."""

DID_NOT_END: Final = rule(
    "HP9000",
    Severity.FATAL,
    title="A check of the account broke off or ran out of time",
    because="a check that did not run must not look like one that found nothing",
    source="hyperpod_constructs",
)
NOT_ALLOWED: Final = rule(
    "HP9001",
    Severity.WARNING,
    title="A permission to read is missing, so something was not checked",
    because="what could not be read may still be wrong; `hyperpod policy --preflight` prints every permission that "
    "preflight needs, all of them to read",
    source="the answer of AWS",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a check went.

    Attributes:
        name: Which one.
        seconds: How long it took.
        outcome: `done`, `not allowed`, `failed` or `timed out`.
    """

    name: str
    seconds: float
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What all checks found.

    Attributes:
        findings: Worst first, then by path.
        learned: Facts of the account.
        ran: How each check went, in the order of the checks.
    """

    findings: tuple[Finding, ...]
    learned: tuple[Learned, ...]
    ran: tuple[Ran, ...]


@dataclass(slots=True)
class _Run:
    """A check while it runs; its thread appends, and only at its end is the rest read."""

    check: Check
    findings: list[Finding] = field(default_factory=list)
    learned: list[Learned] = field(default_factory=list)
    error: Exception | None = None


def run(
    context: Context,
    checks: Sequence[Check],
    *,
    say: Callable[[str], None],
    seconds: float = SECONDS,
    clock: Callable[[], float] = monotonic,
) -> Outcome:
    """Runs checks side by side.

    Args:
        context: Account and deployment.
        checks: What to run.
        say: Takes a line about the progress whenever a check has ended.
        seconds: How long each check may take.
        clock: Seconds since any fixed moment.
    """
    started, ended = clock(), Queue[_Run]()
    waiting = {each.name: _Run(each) for each in checks}
    for each in waiting.values():
        Thread(target=_look, args=(each, context, ended), daemon=True).start()  # a daemon: one that hangs ends with us
    went: dict[str, tuple[_Run | None, float]] = {}
    while len(went) < len(waiting) and (left := started + seconds - clock()) > 0:
        try:
            each = ended.get(timeout=left)
        except Empty:
            break
        went[each.check.name] = (each, clock() - started)
        say(f"{len(went)} of {len(waiting)} checks: {each.check.name}, {clock() - started:.1f} s")
    for name in waiting:
        if name not in went:
            went[name] = (None, seconds)
            say(f"{name} ran out of time after {seconds:.0f} s")
    return _outcome(context, [(name, *went[name]) for name in waiting], seconds)


def _look(each: _Run, context: Context, ended: Queue[_Run]) -> None:
    """What a thread does; it says how it ended, whatever happens."""
    try:
        for said in each.check.look(context):
            if isinstance(said, Learned):
                each.learned.append(said)
            else:
                each.findings.append(said)
    except Exception as error:  # noqa: BLE001  # whatever a check raises must become a finding, never silence
        if os.environ.get("HYPERPOD_DEBUG") == "1" and not isinstance(error, AccountError):
            import traceback  # noqa: PLC0415  # only where somebody looks for a defect

            traceback.print_exc()
        each.error = error
    ended.put(each)


def _outcome(context: Context, went: list[tuple[str, _Run | None, float]], limit: float) -> Outcome:
    findings: list[Finding] = []
    learned: list[Learned] = []
    ran: list[Ran] = []
    missing: dict[str, list[tuple[str, NotAllowed]]] = {}
    for name, each, seconds in went:
        if each is not None:
            findings += each.findings
            learned += each.learned
        outcome = "timed out"
        match each and each.error:
            case None if each is not None:
                outcome = "done"
            case NotAllowed() as error:
                outcome = "not allowed"
                missing.setdefault(error.permission, []).append((name, error))
            case Exception() as error:
                outcome = "failed"
                findings.append(_broke_off(context, name, error))
            case _:
                findings.append(_too_slow(context, name, limit))
        ran.append(Ran(name=name, seconds=round(seconds, 1), outcome=outcome))
    findings += [_not_allowed(context, permission, denied) for permission, denied in missing.items()]
    located = (_located(context, each) for each in dict.fromkeys(findings))
    return Outcome(findings=tuple(sorted(located, key=_order)), learned=tuple(learned), ran=tuple(ran))


def _broke_off(context: Context, name: str, error: Exception) -> Finding:
    if isinstance(error, AccountError):
        passes = isinstance(error, AccountUnavailable)
        fix = "run the command again" if passes else "mend what AWS names, then run the command again"
        return finding(DID_NOT_END, _place(context), f"{name} could not be read: {error}", fix)
    return finding(
        DID_NOT_END,
        _place(context),
        f"the check of {name} broke off: {type(error).__name__}: {error}",
        "this is a defect of hyperpod_constructs, not of your account: report it with the output of "
        "HYPERPOD_DEBUG=1 hyperpod preflight ...",
    )


def _too_slow(context: Context, name: str, limit: float) -> Finding:
    message = f"the check of {name} did not end within {limit:.0f} s"
    return finding(DID_NOT_END, _place(context), message, "run the command again, with a longer --timeout")


def _not_allowed(context: Context, permission: str, denied: list[tuple[str, NotAllowed]]) -> Finding:
    names = ", ".join(name for name, _ in denied)
    return finding(
        NOT_ALLOWED,
        _place(context),
        f"{permission} is not allowed in {context.region}, so this was not checked to its end: {names}",
        f"allow {permission}, or look yourself; `hyperpod policy --preflight` prints all that preflight reads",
    )


def _place(context: Context) -> str:
    """Where a finding about the account as a whole points."""
    return context.clusters[0].path if context.clusters else context.region


def _located(context: Context, each: Finding) -> Finding:
    place = context.deployment.locations.get(each.path)
    return replace(each, file=place.file, line=place.line) if place else each


_RANK: Final = {severity: rank for rank, severity in enumerate(Severity)}


def _order(each: Finding) -> tuple[int, str, str, str]:
    return _RANK[each.severity], each.path, each.rule, each.message
