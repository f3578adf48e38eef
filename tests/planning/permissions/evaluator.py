"""Whether policy documents allow a request, as IAM decides it for identity policies that only allow.

It knows the operators that our documents use and raises on any other: a condition that is not understood must not pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hyperpod_constructs.planning.permissions.documents import Document, Statement


def allows(documents: Iterable[Document], action: str, resource: str = "*", **context: str) -> bool:
    """Whether a request is allowed.

    Args:
        documents: The policies of who asks.
        action: For example `ssm:StartSession`.
        resource: ARN that is asked for.
        context: Condition keys, with `__` for the colon: `aws__RequestedRegion="us-west-2"`.
    """
    keys = {key.replace("__", ":"): value for key, value in context.items()}
    statements = [statement for document in documents for statement in document.statements]
    return any(_allows(statement, action, resource, keys) for statement in statements)


def _allows(statement: Statement, action: str, resource: str, keys: Mapping[str, str]) -> bool:
    if not any(_like(pattern.lower(), action.lower()) for pattern in statement.actions):
        return False
    if not any(_like(_filled(pattern, keys), resource) for pattern in statement.resources):
        return False
    return all(_holds(*test, keys) for test in statement.tests)


def _holds(operator: str, key: str, wanted: tuple[str, ...], keys: Mapping[str, str]) -> bool:
    got = keys.get(key)
    match operator:
        case "StringEquals":
            return got in wanted
        case "StringLike" | "ArnLike":
            return got is not None and any(_like(_filled(pattern, keys), got) for pattern in wanted)
        case "BoolIfExists":
            return got is None or got in wanted
    raise NotImplementedError(operator)


def _filled(pattern: str, keys: Mapping[str, str]) -> str:
    return re.sub(r"\$\{([^}]+)\}", lambda match: keys.get(match[1], "\0"), pattern)


def _like(pattern: str, text: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), text, re.DOTALL) is not None
