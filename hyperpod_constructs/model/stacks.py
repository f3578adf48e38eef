"""What templates hold whatever they make: their size, and the tags of their resources."""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_constructs.tokens import Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSize:
    """How much of what CloudFormation counts a template has.

    Attributes:
        path: Name of the stack.
        resources: Resources, those under conditions included.
        parameters: Parameters.
        outputs: Outputs.
        mappings: Mappings.
        template_bytes: Size of the file.
        description_bytes: Size of the description.
        file: The template.
    """

    path: str
    resources: int = 0
    parameters: int = 0
    outputs: int = 0
    mappings: int = 0
    template_bytes: int = 0
    description_bytes: int = 0
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagList:
    """The tags of a resource.

    Attributes:
        path: Construct path.
        type: Type of the resource.
        tags: Keys and values, in the order of the template; what only the deploy decides is `UNKNOWN`, and may then be
            left out.
    """

    path: str
    type: str
    tags: tuple[tuple[str | Unknown, str | Unknown], ...]
