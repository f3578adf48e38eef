"""Reads one file: a CloudFormation template, or the request of `aws sagemaker create-cluster`.

Templates come from anywhere, so everything that is wrong with a file ends in one line that names it.
"""

from __future__ import annotations

import codecs
import json
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from hyperpod_constructs.cloudformation import json_source
from hyperpod_constructs.cloudformation.places import Place, SecondDocument, SyntaxProblem
from hyperpod_constructs.errors import UnreadableTemplate

MAX_BYTES = 1024 * 1024
"""Size of a template body in S3, the largest CloudFormation takes (CloudFormation quotas, "Template body size")."""

MAX_DEPTH = 80
"""Values inside each other. Real templates stay below 30; the bound keeps everything that walks them safe."""

_LONGEST_NAME = 1_000  # characters of a path that a message repeats

Kind = Literal["template", "create-cluster"]


_SIGNS = re.compile(r"AWS::|AWSTemplateFormatVersion|ClusterArn|ClusterName|InstanceGroup|TemplateBody")
"""Words without which a file has nothing to do with templates or clusters."""


class OtherDocumentError(UnreadableTemplate):
    """Well-formed JSON or YAML that is something else; in a folder it does not stand in the way of the templates.

    Attributes:
        ordinary: Whether nothing in it has to do with templates or clusters.
    """

    def __init__(self, message: str, *, ordinary: bool = False) -> None:
        """Says what the file is."""
        super().__init__(message)
        self.ordinary = ordinary


@dataclass(frozen=True, eq=False)
class Document:
    """One decoded file.

    Attributes:
        name: The file, as messages should call it.
        kind: What the file is.
        body: The decoded text: str, int, float, bool, None, list and dict. Intrinsics are in long form.
        read_places: Finds the lines; called once, and only when somebody asks.
    """

    name: str
    kind: Kind
    body: Mapping[str, Any]
    read_places: Callable[[], Place]

    def line(self, path: tuple[str | int, ...]) -> int:
        """The 1-based line of the value at a path of keys and indexes, or of the nearest value around it."""
        return self._places.nearest(path)

    @cached_property
    def _places(self) -> Place:
        return self.read_places()


def load(path: str | Path) -> Document:
    """Reads a file of at most 1 MB.

    Raises:
        UnreadableTemplate: It is missing, too large, no text, no JSON or YAML, or neither kind of document.
    """
    return parse(read_text(Path(path)), str(path))


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file.

    Raises:
        UnreadableTemplate: It is missing, no file, larger than `limit` bytes (it is not read further), or no UTF-8.
    """
    try:
        kind = path.stat().st_mode  # asked before it is opened: opening a pipe waits for somebody to write
        if stat.S_ISDIR(kind):
            raise UnreadableTemplate(f"{path}: is a folder, not a file")
        if not stat.S_ISREG(kind):
            raise UnreadableTemplate(f"{path}: is a pipe, a socket or a device; write the template to a file")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise UnreadableTemplate(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise UnreadableTemplate(f"{shortened(path)}: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > limit:
        raise UnreadableTemplate(f"{path}: is larger than the {limit:,} bytes that CloudFormation accepts")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableTemplate(f"{path}: is UTF-16 text; save it as UTF-8, which is all that CloudFormation reads")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableTemplate(f"{path}: is no UTF-8 text (byte {error.start:,})") from None
    if "\0" in text:
        raise UnreadableTemplate(f"{path}: is no text, it has NUL bytes")
    return text


def shortened(path: str | Path) -> str:
    """A path for a message: one that is too long for the system is too long for a line too."""
    text = str(path)
    return text if len(text) <= _LONGEST_NAME else f"{text[:60]}...{text[-60:]}"


def parse(text: str, name: str) -> Document:
    """Decodes the text of a file.

    Args:
        text: JSON or YAML. A text that begins with `{` is JSON; where that fails, and the name does not end in `.json`,
            it may be YAML's flow style.
        name: The file, for messages.

    Raises:
        UnreadableTemplate: It is no JSON or YAML, nested more than `MAX_DEPTH` deep, or neither kind of document.
    """
    if not text.strip():
        raise UnreadableTemplate(f"{name}: is empty")
    try:
        body, read_places = _decode(text, name)
    except SecondDocument as problem:
        if _SIGNS.search(text):
            raise UnreadableTemplate(f"{name}: {problem}") from None
        raise OtherDocumentError(f"{name}: {problem}", ordinary=True) from None
    except SyntaxProblem as problem:
        raise UnreadableTemplate(f"{name}: {problem}") from None
    if _depth(body) > MAX_DEPTH:
        raise UnreadableTemplate(f"{name}: is nested more than {MAX_DEPTH} levels deep")
    ordinary = _SIGNS.search(text) is None
    if not isinstance(body, dict):
        message = f"{name}: is no CloudFormation template: the top level is no mapping"
        raise OtherDocumentError(message, ordinary=ordinary)
    if "Resources" not in body and "TemplateBody" in body:
        return _answered(body["TemplateBody"], name, read_places)
    return Document(name=name, kind=_kind(body, name, ordinary=ordinary), body=body, read_places=read_places)


def _answered(template: object, name: str, read_places: Callable[[], Place]) -> Document:
    """The template in what `aws cloudformation get-template` prints, as a map or as the text of its file."""
    if isinstance(template, str):
        inner = parse(template, name)
        # Its lines are those of one long text, on the line of the answer where that stands.
        return replace(inner, read_places=lambda: Place(read_places().nearest(("TemplateBody",))))
    if not isinstance(template, dict):
        raise OtherDocumentError(f"{name}: is no CloudFormation template: `TemplateBody` is no template")
    return Document(
        name=name,
        kind=_kind(template, name),
        body=template,
        read_places=lambda: read_places().inner.get("TemplateBody", Place(1)),
    )


def _decode(text: str, name: str) -> tuple[object, Callable[[], Place]]:
    if text.lstrip().startswith(("{", *json_source.COMMENTS)):
        try:
            return json_source.read(text), partial(json_source.places, text)
        except SyntaxProblem:
            if name.endswith(".json"):
                raise
    from hyperpod_constructs.cloudformation import yaml_source  # noqa: PLC0415  # JSON is read without PyYAML

    value, place = yaml_source.read(text)
    return value, lambda: place


def _depth(value: object) -> int:
    """Levels of values inside each other, counted up to one more than is allowed."""
    level, depth = [value], 0
    while level and depth <= MAX_DEPTH:
        depth += 1
        level = [
            item
            for holder in level
            if isinstance(holder, dict | list)
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
    return depth


def _kind(body: Mapping[str, object], name: str, *, ordinary: bool = False) -> Kind:
    if "Resources" in body:
        if isinstance(body["Resources"], dict):
            return "template"
        raise UnreadableTemplate(f"{name}: is no CloudFormation template: `Resources` is no mapping")
    if ("ClusterName" in body or "InstanceGroups" in body) and "ClusterArn" not in body:
        return "create-cluster"
    if "ClusterStatus" in body and "ClusterArn" in body:
        raise OtherDocumentError(
            f"{name}: is what `describe-cluster` prints of a cluster that there is already, not what makes one; name "
            "its template or create-cluster request, or see `hyperpod status`"
        )
    found = ", ".join(json.dumps(key) for key in list(body)[:4]) or "nothing"
    raise OtherDocumentError(
        f"{name}: is neither a CloudFormation template (no `Resources`) nor a create-cluster request "
        f"(no `ClusterName` or `InstanceGroups`); it has {found}",
        ordinary=ordinary,
    )
