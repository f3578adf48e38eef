"""Values of a template as they are written: what only the deploy decides is told apart, and patterns are compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile
from typing import Final, Literal, TypeAlias

from hyperpod_constructs.catalog import regions
from hyperpod_constructs.cloudformation.stack import Resource
from hyperpod_constructs.cloudformation.values import Reference, Value, parts_of
from hyperpod_constructs.review.comparison import Comparison, Pair
from hyperpod_constructs.tokens import UNKNOWN

AT_DEPLOY: Final = "changes in a way that is known only at deploy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Widened:
    """Something that is open or allowed afterwards and was not before.

    Attributes:
        path: Construct path of the role, policy, bucket, key, topic or security group.
        what: One line for a reviewer.
        kind: Who may do more, who lets others in, or what the network lets through.
        source: Who says that it is wider.
    """

    path: str
    what: str
    kind: Literal["permission", "trust", "network"]
    source: str


@dataclass(frozen=True, slots=True)
class Open:
    """What only the deploy decides.

    Attributes:
        written: How it is written, and where, unless that means the same everywhere.
        name: For the reader.
    """

    written: str
    name: str = field(compare=False)


Symbol: TypeAlias = "str | Reference | Open"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text in which parts may be known only at deploy.

    Attributes:
        parts: What tells it from others; never two strings side by side.
        text: For the reader.
    """

    parts: tuple[Symbol, ...]
    text: str = field(compare=False)

    @property
    def opens(self) -> frozenset[Open]:
        """What is not known in it."""
        return frozenset(part for part in self.parts if isinstance(part, Open))

    @property
    def symbols(self) -> list[Symbol]:
        """Characters, and whole parts where those are not known."""
        return [each for part in self.parts for each in (part if isinstance(part, str) else (part,))]

    @property
    def is_wild(self) -> bool:
        """Whether it stands for more than one text."""
        return any(isinstance(part, str) and ("*" in part or "?" in part) for part in self.parts)


Tree: TypeAlias = "Pattern | list[Tree] | dict[str, Tree] | None"

_SAID: Final = {"AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com"}
"""Pseudo parameters that nobody tells apart: a stack that leaves them open is the same in every partition."""
_PLACEHOLDER: Final = re.compile(r"\$\{([^}]*)\}")
NAMELESS: Final = "known at deploy"
_ARNS: Final = frozenset({"Arn", "TopicArn", "PolicyArn"})
_NO_REGION: Final = frozenset({"iam"})
_BUCKET: Final = "AWS::S3::Bucket"
_ARN_BY_REF: Final = frozenset(
    (None, kind) for kind in ("AWS::SNS::Topic", "AWS::IAM::ManagedPolicy", "AWS::SecretsManager::Secret")
)
_END_OF_ARN: Final = {
    _BUCKET: "",
    "AWS::EKS::Cluster": "cluster/",
    "AWS::IAM::ManagedPolicy": "",
    "AWS::KMS::Key": "key/",
    "AWS::SNS::Topic": "",
}
"""What stands in the ARN of a resource before what `Ref` gives; nothing where that is the ARN itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side of a comparison."""

    comparison: Comparison
    head: bool

    def of(self, pair: Pair) -> Resource | None:
        """The resource on this side."""
        return pair.after if self.head else pair.before

    def tree(self, pair: Pair, name: str) -> Tree:
        """A property of a resource; `None` where it is not given."""
        resource = self.of(pair)
        if resource is None:
            return None
        written = resource.stack.document.body["Resources"][resource.logical_id].get("Properties")
        if not isinstance(resource.properties, dict):
            return self._tree(UNKNOWN, written, resource, pair.stack)
        return self._tree(resource.properties.get(name), _below(written, name), resource, pair.stack)

    def resource(self, reference: Reference) -> Resource | None:
        """The resource that a reference of a tree means."""
        pair = self.comparison.by_id.get((reference.stack, reference.logical_id))
        return None if pair is None else self.of(pair)

    def _tree(self, value: Value, written: object, resource: Resource, stack: str) -> Tree:
        if value is None:
            return None
        if isinstance(value, dict):
            return {k: self._tree(each, _below(written, k), resource, stack) for k, each in value.items()}
        if isinstance(value, list):
            items = written if isinstance(written, list) and len(written) == len(value) else [written] * len(value)
            return [self._tree(*pair, resource, stack) for pair in zip(value, items, strict=True)]
        parts = [*self._parts(value, written, resource, stack)]
        text = "".join(map(rendered, parts))
        return Pattern(joined(self._resolved(parts)), text)

    def _parts(self, value: Value, written: object, resource: Resource, stack: str) -> Iterator[Symbol]:
        """The parts of a scalar."""
        if UNKNOWN not in parts_of(value):
            yield from (part for part in parts_of(self.renamed(value)) if part is not UNKNOWN)
            return
        leaves = _leaves(written) if "{{resolve:" not in json.dumps(written, default=str) else iter([written])
        for leaf in leaves:
            for place, part in enumerate(parts_of(self.renamed(resource.stack.scope.resolve(leaf)))):
                yield _open(leaf, stack, place) if part is UNKNOWN else part

    def renamed(self, value: Value) -> Value:
        """The value with references by the names that both sides know."""
        return self.comparison.head_value(value) if self.head else self.comparison.base_value(value)

    def _resolved(self, parts: list[Symbol]) -> Iterator[Symbol]:
        """The parts with ARNs of resources spelt out, as far as their type tells, so that patterns can match them."""
        for place, part in enumerate(parts):
            resource = self.resource(part) if isinstance(part, Reference) else None
            if isinstance(part, Reference) and resource is not None:
                yield from _spelt_out(part, resource, first=place == 0)
            else:
                yield part


def _below(written: object, name: str) -> object:
    """What is written for a key; everything where an intrinsic stands in between."""
    return written[name] if isinstance(written, Mapping) and name in written else written


def _leaves(written: object) -> Iterator[object]:
    """What a text is put together from."""
    match written:
        case {"Fn::Join": [str(delimiter), list(items)]}:
            for place, item in enumerate(items):
                yield from [delimiter] if place and delimiter else ()
                yield from _leaves(item)
        case {"Fn::Sub": str(text)}:
            yield from _substituted(text, {})
        case {"Fn::Sub": [str(text), dict(given)]}:
            yield from _substituted(text, given)
        case _:
            yield written


def _substituted(text: str, given: Mapping[str, object]) -> Iterator[object]:
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        name = found[1].strip()
        yield text[end : found.start()]
        if name.startswith("!"):
            yield "${" + name.removeprefix("!") + "}"
        else:
            yield from _leaves(given.get(name, {"Fn::GetAtt": name} if "." in name else {"Ref": name}))
        end = found.end()
    yield text[end:]


def _open(written: object, stack: str, place: int) -> Symbol:
    name = written.get("Ref") if isinstance(written, Mapping) else None
    if isinstance(name, str) and name.startswith("AWS::"):
        return _SAID.get(name) or Open(name, name.removeprefix("AWS::"))
    text = json.dumps(written, sort_keys=True, default=str)
    return Open(f"{stack}: {text} {place}", name if isinstance(name, str) else NAMELESS)


def rendered(part: Symbol) -> str:
    """A part for the reader."""
    match part:
        case Reference(logical_id=logical_id, attribute=attribute):
            return f"<{logical_id}.{attribute}>" if attribute else f"<{logical_id}>"
        case Open(name=name):
            return f"<{name}>"
        case _:
            return part


def _spelt_out(part: Reference, resource: Resource, *, first: bool) -> Iterator[Symbol]:
    """A reference; one to an ARN at the beginning of a text as the ARN's own parts."""
    kind = resource.type
    if first and kind.startswith("AWS::") and (part.attribute in _ARNS or (part.attribute, kind) in _ARN_BY_REF):
        yield from _beginning(resource)
        part = replace(part, attribute=None) if kind in _END_OF_ARN else part
    name = resource.properties.get("BucketName") if isinstance(resource.properties, dict) else None
    yield name if kind == _BUCKET and part.attribute is None and isinstance(name, str) else part


def _beginning(resource: Resource) -> Iterator[Symbol]:
    """The beginning of a resource's ARN."""
    stack, service = resource.stack, resource.type.split("::")[1].lower()
    yield f"arn:{regions.partition(stack.region or '') or 'aws'}:{service}:"
    if resource.type == _BUCKET:
        yield "::"
        return
    yield "" if service in _NO_REGION else stack.region or Open("AWS::Region", "Region")
    yield ":"
    yield stack.account or Open("AWS::AccountId", "AccountId")
    yield f":{_END_OF_ARN.get(resource.type, '')}"


def joined(parts: Iterable[Symbol]) -> tuple[Symbol, ...]:
    """The same parts without two strings side by side."""
    found: list[Symbol] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, str) and isinstance(last, str):
            found[-1] = last + part
        elif part != "":
            found.append(part)
    return tuple(found) or ("",)


# --- Patterns ----------------------------------------------------------------------------------------------------

Fits: TypeAlias = Callable[[Pattern, Pattern], bool]


@lru_cache(maxsize=65_536)  # the same few actions and ARNs are compared for every role of an assembly
def within(narrow: Pattern, wide: Pattern) -> bool:
    """Whether everything that matches one pattern surely matches another."""
    if narrow.parts == wide.parts:
        return True
    return wide.is_wild and _matches(narrow.symbols, wide.symbols)


def _matches(narrow: list[Symbol], wide: list[Symbol]) -> bool:
    at = place = start = 0
    star: int | None = None  # the last `*` of the wide one; it takes in one symbol more whenever the rest does not fit
    while at < len(narrow):
        wanted = wide[place] if place < len(wide) else None
        if wanted == "*":
            star, start = place, at
            place += 1
        elif wanted == narrow[at] or (wanted == "?" and isinstance(narrow[at], str) and narrow[at] != "*"):
            at, place = at + 1, place + 1
        elif star is not None:
            start += 1
            at, place = start, star + 1
        else:
            return False
    return all(each == "*" for each in wide[place:])


def maybe_within(narrow: Pattern, wide: Pattern) -> bool:
    """Whether it does, or may once parts are known that only one of the two has."""
    loose = narrow.opens ^ wide.opens
    return within(narrow, wide) or (bool(loose) and _alike(narrow, wide, loose))


def _alike(one: Pattern, other: Pattern, loose: frozenset[Open] = frozenset()) -> bool:
    """Whether what is certain at both ends of two patterns agrees."""

    def certain(symbols: Iterable[Symbol]) -> list[Symbol]:
        return [*takewhile(lambda each: each not in ("*", "?") and each not in loose, symbols)]

    ends = (
        (certain(one.symbols), certain(other.symbols)),
        (certain(reversed(one.symbols)), certain(reversed(other.symbols))),
    )
    return all(a[: len(b)] == b[: len(a)] for a, b in ends)


def meet(one: Pattern, other: Pattern) -> bool:
    """Whether some text may match both."""
    if one.is_wild and other.is_wild:
        return _alike(one, other)
    return within(one, other) or within(other, one)


def items_of(tree: Tree) -> list[Tree]:
    """The items of a list; one of what is none, as policies and lists of a single item are often written."""
    if tree is None:
        return []
    return tree if isinstance(tree, list) else [tree]


def key_of(tree: Tree) -> str:
    """A text that is the same for what is the same in another order."""
    if isinstance(tree, dict):
        return repr(sorted((name, key_of(each)) for name, each in tree.items()))
    return repr(sorted(map(key_of, tree))) if isinstance(tree, list) else repr(tree.parts if tree else None)
