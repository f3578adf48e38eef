"""Where in a file each value stands: a tree of lines in the shape of the values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Place:
    """The line of one value and of what it holds.

    Attributes:
        line: 1-based; of the key in a mapping, of the item in a list.
        inner: Places of the items of a mapping or list, by key or index.
    """

    line: int
    inner: dict[str | int, Place] = field(default_factory=dict)

    def nearest(self, path: Iterable[str | int]) -> int:
        """The line of the value at a path, or of the closest value around it."""
        place = self
        for step in path:
            inner = place.inner.get(step)
            if inner is None:
                break
            place = inner
        return place.line


class SyntaxProblem(Exception):  # becomes an UnreadableTemplate, which knows the file
    """Text that is no document; the message has the line where there is one."""


class SecondDocument(SyntaxProblem):
    """A file of several YAML documents, as those of Kubernetes are and no template is."""


def duplicate(key: str, first: int, second: int) -> SyntaxProblem:
    """The problem of a key given twice, which CloudFormation resolves in silence by dropping one of the two."""
    return SyntaxProblem(f"line {second}: key {key!r} was given before, on line {first}; keep one of the two")
