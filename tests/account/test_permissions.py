"""The permissions of a preflight against the readers that its checks really open."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

from hyperpod_constructs.account import permissions, preflight
from hyperpod_constructs.account.gateway.logs import Logs
from hyperpod_constructs.account.gateway.pricing import Pricing


def opened() -> Iterator[object]:
    """What stands in every `open(READER)` of the preflight; the one in `Context.open` itself names no reader."""
    for part in sorted(Path(preflight.__file__).parent.glob("*.py")):
        module = importlib.import_module(f"{preflight.__name__}.{part.stem}".removesuffix(".__init__"))
        for node in ast.walk(ast.parse(part.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "open":
                name = ast.unparse(node.args[0])
                if name != "reader":
                    yield getattr(module, name)


def test_every_reader_that_a_check_opens_is_there_and_no_other() -> None:
    assert permissions.readers() == frozenset(opened())


def test_what_only_other_commands_read_is_not_there() -> None:
    assert not permissions.readers() & {Logs, Pricing}
    assert "logs:GetLogEvents" not in permissions.of_preflight()


def test_permissions_are_sorted_and_each_is_there_once() -> None:
    needed = permissions.of_preflight()
    assert {"servicequotas:ListServiceQuotas", "ec2:DescribeSubnets"} <= set(needed)
    assert list(needed) == sorted(set(needed))
