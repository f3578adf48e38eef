"""Sizes of templates, and the tags of everything in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Stack
from hyperpod_constructs.cloudformation.values import Value, is_known
from hyperpod_constructs.model.stacks import StackSize, TagList
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_CLUSTER: Final = "AWS::SageMaker::Cluster"


def sizes(assembly: Assembly) -> tuple[StackSize, ...]:
    """The size of every template, a nested one once for each stack that it makes."""
    return tuple(_size(stack) for stack in assembly.stacks)


def tag_lists(assembly: Assembly) -> tuple[TagList, ...]:
    """The tags of every resource and request that has a list of them."""
    return (*_of_templates(assembly), *_of_requests(assembly))


def _size(stack: Stack) -> StackSize:
    body = stack.document.body
    description = body.get("Description")
    return StackSize(
        path=stack.id,
        resources=_count(body.get("Resources")),
        parameters=_count(body.get("Parameters")),
        outputs=_count(body.get("Outputs")),
        mappings=_count(body.get("Mappings")),
        template_bytes=stack.file.stat().st_size,
        description_bytes=len(description.encode()) if isinstance(description, str) else 0,
        file=str(stack.file),
    )


def _count(section: object) -> int:
    return len(section) if isinstance(section, Mapping) else 0


def _of_templates(assembly: Assembly) -> Iterator[TagList]:
    for resource in assembly.resources():
        tags = resource.properties.get("Tags") if isinstance(resource.properties, dict) else None
        if isinstance(tags, list):
            yield TagList(path=resource.path, type=resource.type, tags=tuple(map(_tag, tags)))


def _of_requests(assembly: Assembly) -> Iterator[TagList]:
    for request in assembly.requests:
        tags, name = request.body.get("Tags"), request.body.get("ClusterName")
        if isinstance(tags, list):
            file = Path(request.name).name
            yield TagList(
                path=f"{file}/{name}" if isinstance(name, str) else file,
                type=_CLUSTER,
                tags=tuple(map(_tag, tags)),
            )


def _tag(tag: Value) -> tuple[str | Unknown, str | Unknown]:
    if not isinstance(tag, dict):
        return UNKNOWN, UNKNOWN
    return _text(tag.get("Key")), _text(tag.get("Value"))


def _text(value: Value) -> str | Unknown:
    """A text, or a number that CloudFormation makes one."""
    if value is None or not is_known(value) or isinstance(value, list | dict):
        return UNKNOWN
    return str(value)
