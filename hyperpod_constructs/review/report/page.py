"""What a review says, in the order in which it is read: verdict, money and capacity, what stops, what to do.

Thirty seconds are forty lines, so changes that say the same are one line, and harmless ones are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperpod_constructs.catalog.updates import RECIPES
from hyperpod_constructs.review.access.written import Widened
from hyperpod_constructs.review.changes import PLAIN
from hyperpod_constructs.review.data import HOLDS
from hyperpod_constructs.review.impacts import SEVERITY, Change, Impact, Verdict
from hyperpod_constructs.review.report import numbers
from hyperpod_constructs.review.report.lines import Item, Page, Section
from hyperpod_constructs.review.review import LIVE, Kept, Named, Review
from hyperpod_constructs.review.rosters import RosterEdit
from hyperpod_constructs.review.scripts import ScriptEdit
from hyperpod_constructs.review.wording import argument

_MOST: Final = 6
"""Lines of one section; what is more is counted, and all of it is in the JSON."""
_TOLD: Final = ("AWS::Budgets::", "AWS::EKS::", "AWS::SageMaker::")
_ACCESS: Final = ("AWS::EC2::SecurityGroup", "AWS::IAM::", "AWS::S3::BucketPolicy", "AWS::SNS::TopicPolicy")
"""Types of which the sections on access say what a change means."""
_EXPLAINED: Final = frozenset({Impact.IN_PLACE, Impact.NEW_NODES})
_RULES: Final = ("AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress")
_FIRST: Final = re.compile(r"[:;] ")
"""What comes after the first clause of a reason: it stands further down, with the change."""
_QUIET: Final = frozenset({Impact.CREATED, Impact.IN_PLACE, Impact.REMOVED, Impact.NEW_NODES})


def of(review: Review) -> Page:
    """The page of a review."""
    sections = [
        Section(title="What stops it", items=tuple(_stopping(review))),
        Section(title="What changes", items=tuple(_changes(review))),
        Section(title="Left behind", items=tuple(_kept(each, review.verdict) for each in review.kept)),
        Section(title="Scripts", items=tuple(_script(edit, review.clusters) for edit in review.scripts)),
        Section(title="People", items=tuple(filter(None, map(_roster, review.rosters)))),
        Section(title="Before the merge", items=tuple(numbers.before_the_merge(review))),
        Section(title="Live", items=tuple(numbers.live(review.drift))),
        Section(title="Wider", items=tuple(_widened(review.widened))),
        Section(title="Narrower", items=tuple(_widened(map(_no_more, review.narrowed)))),
        Section(title="Findings", items=tuple(_findings(review))),
        Section(title="Not compared", items=tuple(_limited([Item(text=each) for each in review.not_compared]))),
    ]
    return Page(
        verdict=review.verdict,
        headline=_headline(review),
        where=_where(review.clusters),
        rows=tuple(numbers.rows(review.figures)),
        remarks=tuple(numbers.remarks(review.figures)),
        sections=tuple(section for section in sections if section.items),
    )


def _where(clusters: Sequence[Named]) -> str:
    named = [" · ".join(filter(None, (each.name or each.path, each.region))) for each in clusters[:_MOST]]
    more = [f"and {len(clusters) - _MOST} more clusters"] if len(clusters) > _MOST else []
    return ", ".join([*named, *more])


def _headline(review: Review) -> str:
    match review.verdict:
        case Verdict.UNCHANGED:
            return "Unchanged: nothing is deployed differently"
        case Verdict.SAFE:
            return _safe(review)
    if review.stopping:
        first = review.stopping[0]
        more = f" ({len(review.stopping) - 1} more)" if len(review.stopping) > 1 else ""
        return f"Blocked: {first.rule}{more}: {first.message}"
    worst = [change for change in review.changes if change.verdict is review.verdict]
    others = len({change.path for change in worst}) - 1
    more = f", and {others} more" if others else ""
    perhaps = " perhaps" if all(change.impact is Impact.OPEN for change in worst) else ""
    begun = f"{review.verdict.value.capitalize()}{perhaps}: {worst[0].path}{more}"
    return f"{begun}: {_FIRST.split(worst[0].effect.reason)[0]}"


def _safe(review: Review) -> str:
    """What a safe change amounts to."""
    partly = " as far as it can be read" if {*review.not_compared} - {LIVE} else ""
    however = [*_however(review)]
    but = f", but {' and '.join(however)}" if however else ""
    later = any(change.impact is Impact.NEW_NODES for change in review.changes)
    kept = "nodes that run keep what they have" if later else "nothing restarts"
    said = ", ".join([*numbers.in_short(review.figures), kept, "no data is touched"])
    return f"Safe to merge{partly}{_after(review)}{but}: {said}"


def _however(review: Review) -> Iterator[str]:
    """What a reviewer of a safe change has to know all the same."""
    created = {change.path for change in review.changes if change.impact is Impact.CREATED}
    if any(each.path not in created for each in review.widened):
        yield "access becomes wider"
    if review.narrowed:
        yield "access becomes narrower"
    at_risk = dict.fromkeys(change.path for change in review.changes if change.impact is Impact.UNPROTECTED)
    yield from (f"{path} is protected less" for path in at_risk)
    stays = [change for change in review.changes if change.impact is Impact.STAYS]
    if stays:
        yield f"{len(stays)} thing{'s stay' if len(stays) > 1 else ' stays'} that nothing manages"


def _after(review: Review) -> str:
    """What has to be seen to first: only a snapshot says which quotas are too low."""
    quotas = numbers.raises(review)
    if not quotas:
        return ""
    if review.drift and review.drift.quotas:
        return f" after {quotas} quota raise{'s' if quotas > 1 else ''}"
    return f" once {quotas} quota{'s are' if quotas > 1 else ' is'} checked"


def _stopping(review: Review) -> Iterator[Item]:
    """Findings with which a deployment is refused."""
    yield from _limited(
        [Item(subject=each.path, text=f"{each.rule} {each.message}", action=each.fix) for each in review.stopping]
    )


def _changes(review: Review) -> Iterator[Item]:
    """The changes that matter, then the number of the others."""
    loud = [change for change in review.changes if change.impact not in _QUIET]
    told = {(change.path, change.property_name) for change in loud}
    rest = [
        change
        for change in review.changes
        if change.impact in _QUIET and (change.path, change.property_name) not in told
    ]
    edited = {f"{edit.path}/{group}" for edit in review.scripts for group in edit.groups}  # have a section of their own
    rest = [each for each in rest if each.path not in edited or not each.property_name.endswith(_SCRIPTS)]
    followed = {edit.path for edit in review.rosters if edit.compared}
    rest = [each for each in rest if each.path not in followed or each.property_name != "Value"]
    shown = [change for change in rest if _is_told(change)]
    quiet = [change for change in rest if change not in shown]
    clusters = {each.path: each for each in review.clusters}
    explained: set[str] = set()
    items = [_item(alike, clusters, explained) for alike in _alike([*loud, *shown])]
    yield from _limited(items)
    if quiet:
        yield Item(text=_counted(quiet))


def _is_told(change: Change) -> bool:
    """Whether even a harmless change is worth a line: the types that a cluster stands or falls with."""
    explained = change.effect.reason not in PLAIN.values() and change.impact in _EXPLAINED
    explained = explained and not change.type.startswith(_ACCESS)
    told = change.type in HOLDS or change.type.startswith(_TOLD) or explained
    cut = change.impact is Impact.REMOVED and change.type.startswith(_RULES)
    return cut or (told and change.property_name not in _SEEN)


def _alike(changes: Iterable[Change]) -> list[list[Change]]:
    """Changes that say the same of several places, together."""
    found: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        same_value = () if change.because_of else (change.before, change.after)
        found.setdefault((change.effect, change.because_of, *same_value), []).append(change)
    return [*found.values()]


def _item(alike: Sequence[Change], clusters: Mapping[str, Named], explained: set[str]) -> Item:
    first = alike[0]
    effect = first.effect
    names = dict.fromkeys(change.property_name.rpartition(".")[2] for change in alike if change.property_name)
    value = ""
    if first.because_of is None and first.before != first.after:
        value = f" {first.before or 'nothing'} → {first.after or 'nothing'}"
    behind = f"; follows from {first.because_of}" if first.because_of else ""
    what = f"{', '.join(names)}{value}: " if names and first.property_name not in _UNNAMED else ""
    steps: tuple[str, ...] = ()
    if effect.recipe and effect.recipe not in explained:
        explained.add(effect.recipe)
        steps = _steps(effect.recipe, first.path, clusters)
    text = f"{effect.impact.value.replace('-', ' ')}: {what}{effect.reason}{behind}"
    return Item(subject=_subject([change.path for change in alike]), text=text, action=effect.action, steps=steps)


_SCRIPTS: Final = "LifeCycleConfig.SourceS3Uri"
_SEEN: Final = frozenset({"Tags", "ResourceTags", "Budget.BudgetLimit.Amount"})
"""Properties that need no line: tags, and what the table of numbers says."""
_CLUSTER, _GROUP = re.compile(r"\bCLUSTER\b"), re.compile(r"\bGROUP\b")
_UNNAMED: Final = ("InstanceGroups", "RestrictedInstanceGroups", "Outputs.Export")
"""Properties of which the reason says all."""


def _steps(recipe: str, path: str, clusters: Mapping[str, Named]) -> tuple[str, ...]:
    """The steps of a recipe with the names of cluster and group in place of the words that stand for them."""
    where, group = (path, "GROUP") if path in clusters else path.rpartition("/")[::2]
    cluster = clusters.get(where)
    if cluster is None:
        return RECIPES[recipe].steps_on(None)
    name, group = argument(cluster.name, "CLUSTER"), argument(group, "GROUP")
    steps = RECIPES[recipe].steps_on(cluster.scheduler)
    return tuple(_GROUP.sub(group, _CLUSTER.sub(name, step)) for step in steps)


def _subject(paths: Sequence[str]) -> str:
    """Several paths in one, by what they have in common."""
    several = list(dict.fromkeys(paths))
    above = {path.rpartition("/")[0] for path in several}
    if len(several) > 1 and len(above) == 1 and (parent := above.pop()):
        return f"{parent}/{{{_some([path.rpartition('/')[2] for path in several])}}}"
    return _some(several)


def _some(names: Sequence[str]) -> str:
    """As many names as a reader takes in, and the number of the others."""
    most = _MOST if len(names) > _MOST + 1 else len(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _counted(changes: Sequence[Change]) -> str:
    """How many changes there are that need no line, by what happens and by type."""
    parts = []
    for impact in sorted({change.impact for change in changes}, key=SEVERITY.__getitem__, reverse=True):
        types = Counter(change.type.removeprefix("AWS::") for change in changes if change.impact is impact)
        listed = ", ".join(f"{name} x{number}" if number > 1 else name for name, number in sorted(types.items()))
        parts.append(f"{types.total()} {impact.value.replace('-', ' ')} ({listed})")
    return f"besides: {'; '.join(parts)}"


def _script(edit: ScriptEdit, clusters: Sequence[Named]) -> Item:
    files = [
        f"{word} {', '.join(names)}"
        for word, names in (("changed", edit.changed), ("added", edit.added), ("removed", edit.removed))
        if names
    ]
    what = "; ".join(files) if edit.compared else "the files were not at hand on both sides"
    text = f"{what}. New nodes of {_some(edit.groups)} run them; nodes that run keep what they have"
    steps = _steps("try-a-script", edit.path, {each.path: each for each in clusters})
    return Item(subject=edit.path, text=text, action="replace one spare first, look, then the others", steps=steps)


def _roster(edit: RosterEdit) -> Item | None:
    """Who comes and goes; counts alone stand among the figures."""
    told = [
        f"{', '.join(names)} {what}"
        for names, what in (
            (edit.added, "can log in"),
            (edit.removed, "locked out, their processes end, homes stay"),
            (edit.renumbered, "with a number that files of somebody else have: nodes refuse it"),
            (edit.changed, "with other keys, groups or shells"),
            (edit.admins, "may do everything as root on every node"),
            (edit.demoted, "may no longer do everything as root"),
            (edit.groups, "as a group new, gone or with another number"),
            (edit.teams, "with another share, other members or gone"),
            (edit.priorities, "as a priority class new, gone or with another weight"),
        )
        if names
    ]
    if edit.compared and not told:
        return None
    text = "; ".join(told) if edit.compared else "users and teams were not at hand on both sides"
    return Item(subject=edit.path, text=f"{text}. Nodes that run follow within 6 minutes")


def _no_more(narrowed: Widened) -> Widened:
    """What is not allowed or open any more, said that way."""
    rest = narrowed.what.removeprefix("may now")
    return replace(narrowed, what=f"may no longer{rest}" if rest != narrowed.what else f"no more: {narrowed.what}")


def _widened(widened: Iterable[Widened]) -> Iterator[Item]:
    """What is allowed or open from now on, once for all that it is said of."""
    paths: dict[str, list[str]] = {}
    for each in widened:
        paths.setdefault(each.what, []).append(each.path)
    yield from _limited([Item(subject=_subject(several), text=what) for what, several in paths.items()])


def _kept(kept: Kept, verdict: Verdict) -> Item:
    size = "" if kept.capacity_gib is None else f"{kept.capacity_gib:,} GiB, "
    month = "at a price that is not known" if kept.usd_per_month is None else f"{kept.usd_per_month:,.0f} USD a month"
    goes = "would go" if verdict is Verdict.BLOCKED else "goes"
    return Item(subject=kept.path, text=f"{size}{month}: the bill {goes} on until somebody deletes it")


def _findings(review: Review) -> Iterator[Item]:
    stopping = set(review.stopping)
    new = [each for each in review.new if each not in stopping]
    items = [Item(subject=f.path, text=f"new {f.severity.value} {f.rule}: {f.message}", action=f.fix) for f in new]
    items += [Item(subject=each.path, text=f"no longer found: {each.rule}") for each in review.resolved]
    yield from _limited(items)


def _limited(items: Sequence[Item]) -> Iterator[Item]:
    """As many lines as a section may have, and the number of the others."""
    most = _MOST if len(items) > _MOST + 1 else len(items)
    yield from items[:most]
    if len(items) > most:
        yield Item(text=f"and {len(items) - most} more: --format json has all of them")
