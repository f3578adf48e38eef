"""Reads YAML as CloudFormation does, from parser events: nothing in a file decides which Python objects are made.

Built on events and not on PyYAML's own composer because that one recurses in C, where deep nesting can end the process,
and because aliases must be counted before they are expanded. What differs from PyYAML's `safe_load`:

* Short intrinsics (`!Sub x`) become their long form (`{"Fn::Sub": x}`), unknown ones too.
* Dates stay text (`2010-09-09`). A number is a number only where its text says nothing more than the number: `012`,
  `1_000`, `1:30`, `0x1F`, `1e3` and `1.30` stay text, so account ids and versions survive.
* `yes`, `no`, `on` and `off` are booleans, as CloudFormation, a YAML 1.1 reader, has them. As keys they are text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from hyperpod_constructs.cloudformation.places import Place, SecondDocument, SyntaxProblem, duplicate

MAX_VALUES = 500_000
"""Values of a document after its aliases are expanded; more than a file of 1 MB can have without aliases."""

MAX_OPEN = 200
"""Mappings and lists inside each other while reading; a document may have fewer, see `document.MAX_DEPTH`."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD = "tag:yaml.org,2002:"
_TYPED = frozenset({"bool", "float", "int", "null"})
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    form: value
    for word, value in (("true", True), ("yes", True), ("on", True), ("false", False), ("no", False), ("off", False))
    for form in (word, word.capitalize(), word.upper())
}
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")
_OWN_NAMES = frozenset({"Ref", "Condition"})  # intrinsics whose long form has no `Fn::`


def read(text: str) -> tuple[object, Place]:
    """Decodes one YAML document.

    Returns:
        Its value, of str, int, float, bool, None, list and dict with text keys; and the lines of its values. What comes
        from an alias shares one object, and has the line of the alias.

    Raises:
        SyntaxProblem: With the line. Also for a key given twice, for aliases that contain themselves or expand to more
            than `MAX_VALUES` values, and for more than one document.
    """
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        where = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        said = " ".join(str(error.problem or error.context).split())
        mark = error.problem_mark
        line = [*text.split("\n"), ""][mark.line] if mark else ""
        if mark and line[mark.column : mark.column + 1] == "\t":
            said = "a tab stands where YAML takes only spaces; indent with spaces"
        raise SyntaxProblem(where + said) from None
    except yaml.YAMLError as error:
        raise SyntaxProblem(" ".join(str(getattr(error, "reason", error)).split())) from None
    return reader.value, reader.place


@dataclass(slots=True)
class _Open:
    """A mapping or list that has begun and not ended."""

    container: dict[str, object] | list[object]
    place: Place
    tag: str | None
    anchor: str | None
    values_before: int
    key: str | None = None
    merged: list[object] = field(default_factory=list)


@dataclass(slots=True)
class _Anchor:
    value: object = None
    values: int = 0
    closed: bool = False


class _Reader:
    def __init__(self) -> None:
        self.value: object = None
        self.place = Place(1)
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchor] = {}
        self._values = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._start(event, {})
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start(event, [])
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise SecondDocument(f"line {_line(event)}: a second YAML document begins; a template is only one")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        line = _line(event)
        if self._key_is_due():
            self._set_anchor(event.anchor, event.value, 1)
            self._set_key(event.value, line)
            return
        self._count(1, line)
        value = _scalar(event)
        self._set_anchor(event.anchor, value, 1)
        self._put(value, Place(line))

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, container: dict | list) -> None:  # type: ignore[type-arg]  # filled later
        line = _line(event)
        if self._key_is_due():
            raise SyntaxProblem(f"line {line}: a key must be text")
        if len(self._open) >= MAX_OPEN:
            raise SyntaxProblem(f"line {line}: it is nested too deeply")
        if event.anchor:
            self._anchors[event.anchor] = _Anchor()
        self._open.append(_Open(container, Place(line), event.tag, event.anchor, self._values))
        self._count(1, line)

    def _end(self) -> None:
        done = self._open.pop()
        for merged in done.merged:
            for key, value in _merged_items(merged, done.place.line):
                done.container.setdefault(key, value)  # type: ignore[union-attr]  # only mappings have merge keys
        value, place = _tagged(done.tag, done.container, done.place)
        self._set_anchor(done.anchor, value, self._values - done.values_before)
        self._put(value, place)

    def _alias(self, event: yaml.AliasEvent) -> None:
        line = _line(event)
        anchor = self._anchors.get(str(event.anchor))
        if anchor is None:
            raise SyntaxProblem(f"line {line}: alias *{event.anchor} has no anchor before it")
        if not anchor.closed:
            raise SyntaxProblem(f"line {line}: alias *{event.anchor} stands inside its own anchor")
        if self._key_is_due():
            if not isinstance(anchor.value, str):
                raise SyntaxProblem(f"line {line}: a key must be text")
            self._set_key(anchor.value, line)
            return
        self._count(anchor.values, line)
        self._put(anchor.value, Place(line))

    def _key_is_due(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].container, dict) and self._open[-1].key is None

    def _set_key(self, key: str, line: int) -> None:
        around = self._open[-1]
        known = around.place.inner.get(key)
        if known is not None and key != "<<":
            raise duplicate(key, known.line, line)
        around.key = key
        around.place.inner[key] = Place(line)

    def _set_anchor(self, name: str | None, value: object, values: int) -> None:
        if name:
            self._anchors[name] = _Anchor(value, values, closed=True)

    def _count(self, values: int, line: int) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            raise SyntaxProblem(f"line {line}: its aliases expand to more than {MAX_VALUES:,} values")

    def _put(self, value: object, place: Place) -> None:
        if not self._open:
            self.value, self.place = value, place
            return
        around = self._open[-1]
        if isinstance(around.container, list):
            around.place.inner[len(around.container)] = place
            around.container.append(value)
            return
        key, around.key = str(around.key), None
        if key == "<<":
            around.merged.append(value)
            return
        around.container[key] = value
        around.place.inner[key].inner = place.inner  # the line stays that of the key


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _scalar(event: yaml.ScalarEvent) -> object:
    tag: str | None = event.tag
    if tag is None or tag == "!":
        return _plain(event.value) if event.implicit[0] else event.value
    if tag.startswith(_STANDARD):
        return _plain(event.value) if tag.removeprefix(_STANDARD) in _TYPED else event.value
    return _tagged(tag, event.value, Place(0))[0]


def _plain(text: str) -> object:
    """A plain scalar, typed as the module docstring says."""
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text in _NULLS:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text


def _tagged(tag: str | None, value: object, place: Place) -> tuple[object, Place]:
    """A value in the long form of its short intrinsic, where it has one."""
    if tag is None or tag == "!" or not tag.startswith("!"):
        return value, place
    name = tag.removeprefix("!")
    if name == "GetAtt" and isinstance(value, str):
        logical_id, dot, attribute = value.partition(".")
        value = [logical_id, attribute] if dot else value
    long = name if name in _OWN_NAMES else f"Fn::{name}"
    return {long: value}, Place(place.line, {long: place})


def _merged_items(merged: object, line: int) -> list[tuple[str, object]]:
    """What `<<` adds: a mapping, or a list of mappings of which earlier ones win."""
    items: list[tuple[str, object]] = []
    for mapping in merged if isinstance(merged, list) else [merged]:
        if not isinstance(mapping, dict):
            raise SyntaxProblem(f"line {line}: `<<` needs a mapping, or a list of mappings")
        items += mapping.items()
    return items
