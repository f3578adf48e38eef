"""Whether the Region has the resource types that the templates use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.account.gateway.stacks import Stacks
from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import Said, check, finding, rule
from hyperpod_constructs.findings import Severity

_OF_CLOUDFORMATION: Final = ("AWS::CloudFormation::", "AWS::CDK::", "Custom::")
"""Types that every Region has, or that no registry lists."""

NO_SUCH_TYPE = rule(
    "HP9110",
    Severity.ERROR,
    title="Region does not have a resource type of the template",
    because="CloudFormation refuses the whole template: 'Unrecognized resource types'",
    source="CloudFormation API, DescribeType",
)


@check("resource types")
def types_are_in_the_region(context: Context) -> Iterator[Said]:
    first: dict[str, str] = {}
    for each in context.resources:
        if not each.type.startswith(_OF_CLOUDFORMATION) and not each.type.endswith("::MODULE"):
            first.setdefault(each.type, each.path)
    for kind, path in sorted(first.items()):
        if not context.open(Stacks).has_type(kind):
            message = f"{context.region} has no resource type {kind}"
            yield finding(NO_SUCH_TYPE, path, message, "leave it out, or put its stack into a Region that has the type")
