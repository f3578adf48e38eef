"""Exports that another deployed stack imports: CloudFormation refuses to take them away or to change their value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Stack
from hyperpod_constructs.cloudformation.values import Reference, Value, parts_of
from hyperpod_constructs.review.comparison import Comparison, Pair, is_open, same
from hyperpod_constructs.review.data import HOLDS
from hyperpod_constructs.review.impacts import Change, Effect, Impact
from hyperpod_constructs.review.spread import Id

_SOURCE = "CloudFormation user guide, using-cfn-stack-exports"


def changes(comparison: Comparison, replaced: Mapping[Id, object]) -> Iterator[Change]:
    """Exports in use that go, or whose value changes, with a resource that is replaced or by itself."""
    importers, head = _importers(comparison.base), _exports(comparison.head)
    gone: dict[tuple[str, str], list[Stack]] = {}
    changed: dict[tuple[Id, str], list[Stack]] = {}
    for name, (stack, output) in _exports(comparison.base).items():
        users = _names(each for each in importers.get(name, ()) if each is not stack)
        if not users or stack in comparison.gone:
            continue
        if name not in head:
            gone.setdefault((stack.id, users), []).append(stack)
            continue
        behind = [id_ for id_ in _behind(comparison, stack, output) if id_ in replaced]
        for id_ in behind:
            changed.setdefault((id_, users), []).append(stack)
        if not behind and _differ(comparison, (stack, output), head[name]):
            yield _another_value(comparison, users, stack, name)
    for (id_, users), exports in changed.items():
        yield _value_changes(comparison, comparison.by_id[id_], users, exports)
    for (_, users), exports in gone.items():
        yield _taken_away(comparison, users, exports)
    yield from _read_in_vain(comparison)


def _read_in_vain(comparison: Comparison) -> Iterator[Change]:
    """Stacks that read an output of another stack by name, which that one does not have any more."""
    for stack in comparison.head.stacks:
        for argument in _arguments(stack.document.body, "Fn::GetStackOutput"):
            wanted = stack.scope.resolve(argument)
            name, output = (
                wanted.get(key) if isinstance(wanted, dict) else None for key in ("StackName", "OutputName")
            )
            read = [each for each in comparison.head.stacks if each.name == name and isinstance(name, str)]
            if read and isinstance(output, str) and all(output not in each.scope.section("Outputs") for each in read):
                reason = f"it reads output {output} of stack {name}, which has none of that name: the deploy fails"
                effect = Effect(Impact.REFUSED, reason, "keep the output until nothing reads it", None, _SOURCE)
                path = stack.construct_path or stack.id
                yield _change(comparison, stack, path, "AWS::CloudFormation::Stack", effect)


def _differ(comparison: Comparison, before: tuple[Stack, str], after: tuple[Stack, str]) -> bool:
    """Whether an export certainly has another value."""
    old = comparison.base_value(before[0].scope.output(before[1]))
    new = comparison.head_value(after[0].scope.output(after[1]))
    return not is_open(old) and not is_open(new) and not same(old, new)


def _another_value(comparison: Comparison, users: str, stack: Stack, name: str) -> Change:
    reason = (
        f"the export {name} gets another value, and the deployed stack {users} imports it: CloudFormation refuses that"
    )
    action = "export the new value under a name of its own, let the other stack import that, then take the old one out"
    effect = Effect(Impact.REFUSED, reason, action, None, _SOURCE)
    return _change(comparison, stack, stack.construct_path or stack.id, "AWS::CloudFormation::Stack", effect)


def _taken_away(comparison: Comparison, users: str, exports: Sequence[Stack]) -> Change:
    stack, number = exports[0], len(exports)
    they = "1 export goes" if number == 1 else f"{number} exports go"
    reason = f"{they} that the deployed stack {users} imports: CloudFormation refuses that"
    action = f"deploy {users} without the import first, then this; in the CDK: stack.export_value(...) for one deploy"
    effect = Effect(Impact.REFUSED, reason, action, None, _SOURCE)
    path = stack.construct_path or stack.id
    return _change(comparison, stack, path, "AWS::CloudFormation::Stack", effect)


def _value_changes(comparison: Comparison, pair: Pair, users: str, exports: Sequence[Stack]) -> Change:
    what = "replaced by an empty one" if pair.either.type in HOLDS else "replaced"
    reason = (
        f"it would be {what}, and the deployed stack {users} imports {len(exports)} of its values: CloudFormation does "
        "not change an export in use, so the update of this stack is rolled back"
    )
    action = "leave it as it is; make the new one beside it, move over, and take the old one out later"
    effect = Effect(Impact.REFUSED, reason, action, None, _SOURCE)
    return _change(comparison, exports[0], pair.either.path, pair.either.type, effect)


def _names(stacks: Iterable[Stack]) -> str:
    return ", ".join(sorted({each.name or each.id for each in stacks}))


def _change(comparison: Comparison, stack: Stack, path: str, kind: str, effect: Effect) -> Change:
    name = comparison.name_of(stack)
    return Change(path=path, property_name="Outputs.Export", effect=effect, type=kind, stack=name)


def _exports(side: Assembly) -> dict[str, tuple[Stack, str]]:
    return {name: (stack, output) for stack in side.stacks for name, output in stack.scope.exports()}


def _behind(comparison: Comparison, stack: Stack, output: str) -> Iterator[Id]:
    """The resources that decide an output of the base."""
    value = comparison.base_value(stack.scope.output(output))
    yield from ((part.stack, part.logical_id) for part in parts_of(value) if isinstance(part, Reference))


def _importers(side: Assembly) -> dict[str, list[Stack]]:
    """The stacks that import each export."""
    found: dict[str, list[Stack]] = {}
    for stack in side.stacks:
        for argument in _arguments(stack.document.body, "Fn::ImportValue"):
            name: Value = stack.scope.resolve(argument)
            if isinstance(name, str):
                found.setdefault(name, []).append(stack)
    return found


def _arguments(written: object, function: str) -> Iterator[object]:
    """What every use of a function in a template is given."""
    waiting = [written]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if function in value:
                yield value[function]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
