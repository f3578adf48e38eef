"""Every change between two assemblies, each with what it does: the table of a review."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from hyperpod_constructs.catalog import updates
from hyperpod_constructs.catalog.updates import PARTS, Update
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Value
from hyperpod_constructs.model import intent
from hyperpod_constructs.review import data, directions, exports, groups, names, spread
from hyperpod_constructs.review.comparison import Comparison, Difference, Pair, Steps, condition, same
from hyperpod_constructs.review.impacts import SEVERITY, Change, Effect, Impact
from hyperpod_constructs.review.spread import Spread
from hyperpod_constructs.review.wording import argument, shown
from hyperpod_constructs.tokens import UNKNOWN

IMPACTS: Final = {
    "in place": Impact.IN_PLACE,
    "new nodes": Impact.NEW_NODES,
    "rolls": Impact.ROLLING,
    "rebuilds": Impact.NODES_REBUILT,
    "deletes nodes": Impact.NODES_LOST,
    "replaces": Impact.REPLACED,
    "replaces too": Impact.REPLACED,
    "refused": Impact.REFUSED,
    "open": Impact.OPEN,
    "unprotects": Impact.UNPROTECTED,
    "service": Impact.REFUSED,
    PARTS: Impact.IN_PLACE,
}
"""What each word of `catalog.updates` means for a review."""

PLAIN: Final = {
    word: (says if says.startswith("CloudFormation") else f"{says[0].lower()}{says[1:]}").rstrip(".")
    for word, says in updates.WORDS.items()
}
"""What a word of the catalogue says where a row says no more."""
_UNNOTICED: Final = frozenset({"AWS::CDK::Metadata"})
"""Types that hold nothing and do nothing: what the CDK says about itself."""
_HARMLESS: Final = frozenset({Impact.IN_PLACE, Impact.NEW_NODES})
_CERTAIN: Final = frozenset(
    {
        Impact.DATA_LOST,
        Impact.LEFT_BEHIND,
        Impact.NODES_LOST,
        Impact.NODES_REBUILT,
        Impact.REFUSED,
        Impact.REPLACED,
    }
)
"""What a change does only if the value is certainly another one."""
_DEFAULT_POLICY: Final = "Delete"
_INTENT: Final = ("spares", "min_count", "zone")
"""Words of `model.intent` that are worth a line; a plan, scripts and descriptions show in properties."""
_OURS: Final = "metadata hyperpod:intent of the cluster"
_KEEP: Final = "leave it as it is"
_LOOK: Final = "deploy it when nothing runs, or leave the property as it is"
_READ: Final = "read the page of the type before the deploy"
_RENAME: Final = "leave the property as it is, or give the new one a new name"
_CHANGE_SET: Final = "make a change set without executing it, and read what it says"
_REQUEST: Final = "write the cluster as a template, or compare both files by hand"
_PROTECTION: Final = "CloudFormation user guide, using-cfn-protect-stacks"
_OUT_OF_SIGHT: Final = Effect(
    Impact.OPEN,
    "the template of the nested stack is not at hand any more: what becomes of its resources is not known",
    _CHANGE_SET,
)
_CUSTOM: Final = ("Custom::", "AWS::CloudFormation::CustomResource")
_STACK: Final = "AWS::CloudFormation::Stack"
_UNKNOWN: Final = "not in CloudFormation's registry as this version has it"


def of(comparison: Comparison) -> tuple[Change, ...]:
    """Every change, the worst first and otherwise in the order of the templates."""
    reach = spread.of(comparison)
    gone = {comparison.name_of(stack): stack for stack in comparison.gone}
    found: list[Change] = []
    taken = names.taken(comparison)
    for pair in comparison.pairs:
        if pair.either.type in _UNNOTICED or pair.outer in gone:
            continue
        if pair.after is None and any(f"{pair.stack}/".startswith(f"{name}/") for name in comparison.out_of_sight):
            continue
        found += [_whole(pair, taken[pair.id])] if pair.id in taken else _of(comparison, pair, reach)
    found += _other_protection(comparison)
    found += (_of_stack(comparison.sides[0][name], _OUT_OF_SIGHT) for name in sorted(comparison.out_of_sight))
    found += (_changed(each.pair, each.difference, reach, each.cause) for each in reach.reached)
    found += exports.changes(comparison, reach.replaced)
    found += map(_left_the_app, comparison.gone)
    found += _unread(comparison)
    return by_severity(found)


def by_severity(found: Iterable[Change]) -> tuple[Change, ...]:
    """Each change once, the worst first and otherwise in their order."""
    return tuple(sorted(dict.fromkeys(found), key=_rank, reverse=True))


def _rank(change: Change) -> tuple[int, bool]:
    """How bad a change is, and whether data is in it.

    A cluster that is replaced loses all of its nodes, which is worse than data that is left behind.
    """
    whole = change.type == groups.CLUSTER and change.impact is Impact.REPLACED
    return SEVERITY[Impact.DATA_LOST if whole else change.impact], change.type in data.HOLDS


def _of(comparison: Comparison, pair: Pair, reach: Spread) -> Iterator[Change]:
    if pair.before is None:
        yield _whole(pair, Effect(Impact.CREATED, _new(pair.either)))
    elif pair.after is None:
        yield _whole(pair, data.removed(comparison, pair))
    elif pair.before.type != pair.after.type:
        yield _other_type(pair, pair.before.type, pair.after.type)
    else:
        whole = [each for each in pair.differences if groups.is_group(pair, each)]
        yield from groups.changes(pair, whole)
        yield from (_changed(pair, each, reach) for each in pair.differences if each not in whole)
        yield from _other_policies(pair, pair.before, pair.after)
        yield from _other_condition(pair, pair.before, pair.after)
        yield from _other_intent(pair, pair.before, pair.after)


def _new(resource: Resource) -> str:
    """What is new: of a quota, for whom and how much."""
    properties = resource.properties
    if resource.type != "AWS::SageMaker::ComputeQuota" or not isinstance(properties, dict):
        return "new"
    target, config = properties.get("ComputeQuotaTarget"), properties.get("ComputeQuotaConfig")
    team = shown(target.get("TeamName")) if isinstance(target, dict) else "?"
    found = shown(config.get("ComputeQuotaResources")) if isinstance(config, dict) else "nothing"
    return f"new: team {team} with {found}"


def _whole(pair: Pair, effect: Effect) -> Change:
    """A change of a whole resource."""
    return Change(path=pair.either.path, property_name="", effect=effect, type=pair.either.type, stack=pair.stack)


def _changed(pair: Pair, difference: Difference, reach: Spread, because_of: Pair | None = None) -> Change:
    """What becomes of a resource of which one property gets another value."""
    return Change(
        path=_path(pair, difference.steps),
        property_name=difference.path,
        effect=_effect(pair, difference, reach),
        type=pair.either.type,
        stack=pair.stack,
        before=_or_none(difference.before),
        after=f"that of the new {because_of.either.path}" if because_of else _or_none(difference.after),
        because_of=because_of.either.path if because_of else None,
    )


def _effect(pair: Pair, difference: Difference, reach: Spread) -> Effect:
    if undecided := _undecided(pair, difference):
        return undecided
    sides: tuple[Value, Value] = (
        pair.before.properties if pair.before else UNKNOWN,
        pair.after.properties if pair.after else UNKNOWN,
    )
    directed = directions.of(pair.either.type, difference.path, difference.before, difference.after, sides)
    update = directed or _update(pair, difference)
    if update is None:
        return Effect(Impact.OPEN, "no page that we know says what a change of this type does", _READ, None, _UNKNOWN)
    effect = _of_update(pair, update, reach)
    if difference.is_open and effect.impact in _CERTAIN:
        why = f"decided at deploy; if the value is another one: {effect.reason}"
        return replace(effect, impact=Impact.OPEN, reason=why, perhaps=effect.impact)
    return effect


def _of_update(pair: Pair, update: Update, reach: Spread) -> Effect:
    """What a change does that the catalogue knows, with what it means for names and for data."""
    impact, reason, action = IMPACTS[update.does], update.because or PLAIN[update.does], update.instead
    if impact is Impact.REPLACED:
        if pair.id in reach.colliding:
            why = f"{reason}; a new resource would get the name of the one that is there, so the deploy is refused"
            return Effect(Impact.REFUSED, why, action or _RENAME, update.recipe, update.source)
        if parted := data.replaced(pair.either, reason):
            return replace(parted, action=action or parted.action, recipe=update.recipe or parted.recipe)
    if not action and impact not in _HARMLESS:
        action = "follow the steps below" if update.recipe else _KEEP if impact is Impact.REFUSED else _LOOK
    return Effect(impact, reason, action, update.recipe, update.source)


def _undecided(pair: Pair, difference: Difference) -> Effect | None:
    """A change of which others than CloudFormation's registry decide; `None` for all others."""
    kind = pair.either.type
    if not difference.path:
        reason = "a macro or loop decides its properties, and is written differently"
        return Effect(Impact.OPEN, reason, _CHANGE_SET)
    nested = kind == _STACK and not difference.path.startswith("Tags")
    if nested and pair.logical_id not in pair.either.stack.nested:
        return Effect(Impact.OPEN, "the template of the nested stack decides, and is not at hand", _CHANGE_SET)
    if kind.startswith(_CUSTOM):
        return Effect(Impact.OPEN, "the function behind it decides what the change does", "read that function")
    return None


def _update(pair: Pair, difference: Difference) -> Update | None:
    """What the catalogue says of a property; of a whole part that came or went, the worst of what is in it."""
    kind = pair.either.type
    update = updates.of(kind, difference.path)
    if update is None or update.does != PARTS:
        return update
    paths = {path for value in (difference.before, difference.after) for path in _leaves(value, difference.path)}
    found = [each for path in sorted(paths) if (each := updates.of(kind, path)) is not None]
    return max(found, key=lambda each: SEVERITY[IMPACTS[each.does]], default=update)


def _leaves(value: Value, path: str) -> Iterator[str]:
    """Paths of everything in a value that is no list and no map."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
    else:
        yield path


def _other_type(pair: Pair, before: str, after: str) -> Change:
    reason = f"{before} would become {after} under one logical id, which CloudFormation refuses"
    effect = Effect(Impact.REFUSED, reason, "give the new resource a logical id of its own")
    return replace(_whole(pair, effect), property_name="Type", before=before, after=after)


def _other_policies(pair: Pair, before: Resource, after: Resource) -> Iterator[Change]:
    """A resource that is kept no more when its stack lets go of it, or from now on."""
    holds = data.HOLDS.get(pair.either.type, "it")
    matters = pair.either.type in data.HOLDS or pair.either.type == groups.CLUSTER
    for word, when, policies in (
        ("DeletionPolicy", "delete", (data.on_delete(before), data.on_delete(after))),
        ("UpdateReplacePolicy", "replacement", (before.update_replace_policy, after.update_replace_policy)),
    ):
        old, new = (_DEFAULT_POLICY if value is None else value for value in policies)
        if old == new:
            continue
        effect = Effect(Impact.IN_PLACE, f"the next {when} keeps {holds}; nothing happens now")
        if new not in data.KEPT:
            takes = "takes" if new == _DEFAULT_POLICY else "takes or keeps"
            action = f"write {word}: Retain again, unless this is the step before a {when} that is meant"
            impact = Impact.UNPROTECTED if matters else Impact.IN_PLACE
            effect = Effect(impact, f"the next {when} {takes} {holds}; nothing happens now", action)
        yield replace(_whole(pair, effect), property_name=word, before=shown(old), after=shown(new))


def _other_condition(pair: Pair, before: Resource, after: Resource) -> Iterator[Change]:
    """A resource that may go, or come, by a condition that the deploy decides."""
    texts = [condition(each) if each.conditional else "" for each in (before, after)]
    if texts[0] != texts[1]:
        effect = Effect(Impact.OPEN, "whether it is there is decided at deploy, by another condition", _CHANGE_SET)
        yield replace(_whole(pair, effect), property_name="Condition")


def _other_intent(pair: Pair, before: Resource, after: Resource) -> Iterator[Change]:
    """What the code says of groups that are on both sides and no property carries, such as spares."""
    old, new = (_intent(each) for each in (before, after))
    for name in (name for name in old if name in new):
        for word in _INTENT:
            values = [_or_none(side[name].get(word)) for side in (old, new)]
            if values[0] != values[1]:
                effect = Effect(
                    Impact.IN_PLACE, "what the code says of the group; the service is sent nothing", source=_OURS
                )
                yield Change(
                    path=f"{pair.either.path}/{name}",
                    property_name=word,
                    effect=effect,
                    type=pair.either.type,
                    stack=pair.stack,
                    before=values[0],
                    after=values[1],
                )


def _intent(resource: Resource) -> Mapping[str, Mapping[str, Value]]:
    """What a cluster's metadata says, by group."""
    found: object = resource.metadata
    for key in (intent.KEY, "groups"):
        found = found.get(key) if isinstance(found, dict) else None
    return {name: each for name, each in found.items() if isinstance(each, dict)} if isinstance(found, dict) else {}


def _left_the_app(stack: Stack) -> Change:
    kinds = {each.type for inner in _with_nested(stack) for each in inner.resources()}
    holds = bool(kinds & {groups.CLUSTER, *data.HOLDS})
    what = "with clusters or data that nothing manages any more" if holds else "as it is"
    reason = f"the stack is not in the app any more; no deploy deletes it, so it stays {what}, and is paid for"
    action = f"when nothing needs it: `aws cloudformation delete-stack --stack-name {argument(stack.name, 'STACK')}`"
    impact = Impact.LEFT_BEHIND if holds else Impact.STAYS
    return _of_stack(stack, Effect(impact, reason, action, source="CDK CLI reference, cdk deploy and cdk destroy"))


def _other_protection(comparison: Comparison) -> Iterator[Change]:
    """Termination protection, which stands in no template."""
    before, after = comparison.sides
    for name, stack in after.items():
        old = before[name].protected if name in before else None
        if old is None or stack.protected is None or old == stack.protected:
            continue
        effect = Effect(Impact.IN_PLACE, "the stack cannot be deleted by mistake any more", source=_PROTECTION)
        if old:
            action = "set termination_protection=True again, unless this is the step before a delete that is meant"
            reason = "anybody who may delete stacks can delete this one; nothing happens now"
            effect = Effect(Impact.UNPROTECTED, reason, action, source=_PROTECTION)
        values = shown(old), shown(stack.protected)
        change = replace(_of_stack(stack, effect), property_name="TerminationProtection")
        yield replace(change, before=values[0], after=values[1])


def _with_nested(stack: Stack) -> Iterator[Stack]:
    yield stack
    for each in stack.nested.values():
        yield from _with_nested(each)


def _unread(comparison: Comparison) -> Iterator[Change]:
    """What is written differently where nobody but CloudFormation, or the service, knows what becomes of it."""
    before, after = comparison.sides
    for name, stack in after.items():
        old = before.get(name)
        if old is not None and _for_macros(old) != _for_macros(stack):
            effect = Effect(Impact.OPEN, "a macro or loop is written differently: it decides what is made", _CHANGE_SET)
            yield _of_stack(stack, effect)
    requests: list[list[Value]] = [
        [dict(each.body) for each in side.requests] for side in (comparison.base, comparison.head)
    ]
    if not same(*requests):
        effect = Effect(Impact.OPEN, "a create-cluster request differs, and only templates are compared", _REQUEST)
        yield Change(path=str(comparison.head.path.name), property_name="", effect=effect, type="", stack="")


def _for_macros(stack: Stack) -> str:
    """What a template leaves to macros, as text."""
    body = stack.document.body
    left = {key: body["Resources"][key] for key in stack.unread}
    return json.dumps([body.get("Transform"), left], sort_keys=True, default=str)


def _of_stack(stack: Stack, effect: Effect) -> Change:
    """A change of a whole stack."""
    path = stack.construct_path or stack.id
    return Change(path=path, property_name="", effect=effect, type=_STACK, stack=stack.name or stack.id)


def _or_none(value: Value) -> str | None:
    return None if value is None else shown(value)


def _path(pair: Pair, steps: Steps) -> str:
    """Path of the resource, or of the instance group."""
    if pair.either.type == groups.CLUSTER and len(steps) > 1 and steps[0] in groups.LISTS:
        return f"{pair.either.path}/{steps[1]}"
    return pair.either.path
