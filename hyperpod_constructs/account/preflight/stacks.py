"""Whether the stacks can be deployed at all: their account, and the state in which earlier deployments left them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.account.gateway.stacks import Stacks
from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import Said, check, finding, rule
from hyperpod_constructs.findings import Severity

OF_THE_ACCOUNT: Final = "account"
"""Name of the check that compares accounts: where no stack is of this one, the others would read the wrong one."""

OTHER_ACCOUNT = rule(
    "HP9002",
    Severity.ERROR,
    title="Stacks are made for another account than the one that is signed in to",
    because="a deployment goes to the account that the stack names; what was read here is another one",
    source="manifest of the cdk.out; STS API, GetCallerIdentity",
)
FAILED = rule(
    "HP9140",
    Severity.ERROR,
    title="Stack is in a failed state, in which CloudFormation takes no update",
    because="what an earlier deployment left must be deleted or rolled back first",
    source="CloudFormation user guide, view-stack-status-codes",
)
BUSY = rule(
    "HP9141",
    Severity.WARNING,
    title="Somebody is deploying the stack now",
    because="CloudFormation refuses an update while another operation runs",
    source="CloudFormation user guide, view-stack-status-codes",
)

_DELETE: Final = "what it left is of no use: aws cloudformation delete-stack --region {region} --stack-name {name}"
_CONTINUE: Final = (
    "mend what is named in its events, then: aws cloudformation continue-update-rollback --region {region} "
    "--stack-name {name}"
)
_WHAT_NEXT: Final = {
    "CREATE_FAILED": _DELETE,
    "ROLLBACK_COMPLETE": _DELETE,
    "ROLLBACK_FAILED": _DELETE,
    "DELETE_FAILED": _DELETE,
    "UPDATE_FAILED": "aws cloudformation rollback-stack --region {region} --stack-name {name}",
    "UPDATE_ROLLBACK_FAILED": _CONTINUE,
}
_OTHERWISE: Final = (
    "mend what is named in its events: aws cloudformation describe-stack-events --region {region} --stack-name {name}"
)
_ONLY_PLANNED: Final = "REVIEW_IN_PROGRESS"
"""A change set was made for a stack that is not there yet, which does not stand in the way."""


@check(OF_THE_ACCOUNT)
def stacks_are_of_this_account(context: Context) -> Iterator[Said]:
    for account in sorted({stack.account for stack in context.stacks if stack.account} - {context.account}):
        stacks = [stack for stack in context.stacks if stack.account == account]
        message = f"the stack is for account {account}, but the credentials are of {context.account}"
        if len(stacks) > 1:
            message = f"{len(stacks)} stacks are for account {account}, but the credentials are of {context.account}"
        yield finding(OTHER_ACCOUNT, stacks[0].id, message, f"use a profile of account {account}: --profile NAME")


@check("stacks")
def stacks_can_be_deployed(context: Context) -> Iterator[Said]:
    for stack in context.stacks:
        live = context.open(Stacks).stack(stack.name) if stack.name else None
        if live is None:
            continue
        if live.status in _WHAT_NEXT or live.status.endswith("_FAILED"):
            said = f": {live.reason}" if live.reason else ""
            fix = _WHAT_NEXT.get(live.status, _OTHERWISE).format(region=context.region, name=live.name)
            explain = f"`hyperpod explain {live.name} --region {context.region}` says why"
            yield finding(FAILED, stack.id, f"stack {live.name} is {live.status}{said}", f"{fix}; {explain}")
        elif live.status.endswith("_IN_PROGRESS") and live.status != _ONLY_PLANNED:
            message = f"stack {live.name} is {live.status}"
            yield finding(BUSY, stack.id, message, "wait until it ends")
