"""What the tests and the emulator say to each other: the faults to play, and everything that was done."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Journal:
    """Two files in one folder; the tests write `faults.json`, the emulator `events.jsonl`.

    A fault is `{"type": "AWS::SageMaker::Cluster", "operation": "create", "nth": 1, "message": "..."}`: the nth such
    operation from when the file was written fails with this message. `{"absent": "AWS::Budgets::Budget"}` takes a type
    away, and `{"disconnect": 3}` answers the next three requests with nothing.

    Attributes:
        folder: Where both files lie.
    """

    folder: Path
    _text: str = ""
    _faults: list[dict[str, Any]] = field(default_factory=list)
    _seen: dict[tuple[str, str], int] = field(default_factory=dict)

    def _read(self) -> list[dict[str, Any]]:
        file = self.folder / "faults.json"
        text = file.read_text() if file.exists() else "[]"
        if text != self._text:
            self._text, self._faults, self._seen = text, json.loads(text), {}
        return self._faults

    def strike(self, type_name: str, operation: str) -> None:
        """Raises if a fault is set for this operation now."""
        faults = self._read()
        count = self._seen[type_name, operation] = self._seen.get((type_name, operation), 0) + 1
        for fault in faults:
            if (fault.get("type"), fault.get("operation"), fault.get("nth")) == (type_name, operation, count):
                raise ValueError(fault["message"])

    def absent(self, type_name: str) -> bool:
        """Whether the Region is without a type now."""
        return any(fault.get("absent") == type_name for fault in self._read())

    def disconnected(self) -> bool:
        """Whether this request is one of those that get no answer; counts it."""
        for fault in self._read():
            if fault.get("disconnect", 0) > 0:
                fault["disconnect"] -= 1
                return True
        return False

    def note(self, operation: str, type_name: str, permissions: list[str], **of: str) -> None:
        """Writes down what was done.

        Args:
            operation: `create`, `update` or `delete`.
            type_name: Type of the resource.
            permissions: What AWS's own handler of the operation may call.
            of: `stack`, `logical_id` and `physical_id` of the resource.
        """
        event = {"operation": operation, "type": type_name, **of, "permissions": permissions}
        with (self.folder / "events.jsonl").open("a") as file:
            file.write(json.dumps(event) + "\n")
