"""What ministack lacks of exports: one that another stack imports can be neither changed nor taken away.

Source of the rule and of the messages: CloudFormation user guide, using-cfn-stack-exports; facts section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ministack.services import cloudformation
from ministack.services.cloudformation import handlers, stacks

Resolve: TypeAlias = Callable[..., tuple[list[Any], dict[str, dict[str, str]]]]


def install() -> None:
    """Has the outputs of a stack compared with what others import of them."""
    stacks._resolve_stack_outputs = _checked(stacks._resolve_stack_outputs)


def _checked(resolve: Resolve) -> Resolve:
    def resolved(*arguments: Any) -> tuple[list[Any], dict[str, dict[str, str]]]:
        outputs, exports = resolve(*arguments)
        stack_name, stack_id = arguments[-2:]
        for name, export in cloudformation._exports.items():
            value = exports.get(name, {}).get("Value")
            if export["StackId"] == stack_id and value != export["Value"]:
                for user in _importers(name, stack_name):
                    what = "deleted" if value is None else "updated"
                    raise ValueError(f"Export {name} cannot be {what} as it is in use by {user}")
        return outputs, exports

    return resolved


def _importers(export: str, own: str) -> Iterator[str]:
    """Names of the other stacks that import an export now."""
    for name, stack in cloudformation._stacks.items():
        there = "DELETE" not in stack.get("StackStatus", "") and not stack.get("StackStatus", "").startswith("ROLLBACK")
        if name != own and there and export in handlers._imported_export_names(stack, name):
            yield stack.get("StackName", name)
