"""Statements and principals of policy documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from hyperpod_constructs.cloudformation.values import Reference, Text, Value, parts_of
from hyperpod_constructs.model._reading import Node
from hyperpod_constructs.model.identity import Statement
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_SOURCE_ACCOUNT, _SOURCE_ARN = "aws:sourceaccount", "aws:sourcearn"
_CALLER_CHECKS = frozenset({_SOURCE_ACCOUNT, _SOURCE_ARN})
"""Condition keys that tie a service to the account it acts for. IAM compares keys without regard to case."""
_HAS_TO_BE = re.compile(r"(StringEquals|StringEqualsIgnoreCase|StringLike|ArnEquals|ArnLike)", re.IGNORECASE)
"""Operators whose value a request has to have; the others invert it, or also hold where there is none."""
_ACCOUNT = re.compile(r"\d{12}")
_ACCOUNT_FIELD = 4
"""Place of the account in an ARN."""

_CONTEXT = "kms:encryptioncontext"
"""Beginning of condition keys on an encryption context."""

_ANYONE = "*"
_ANY_PARTITION = "arn:*:"


def statements(document: Node) -> tuple[Statement | Unknown, ...]:
    """The statements of a policy document; `UNKNOWN` stands for those that cannot be read."""
    return tuple(node.must(lambda given: given.optional(_statement)) for node in _nodes(document))


def allowing(document: Node, action: str) -> Iterator[tuple[Node, tuple[str | Unknown, ...]]]:
    """The statements that allow an action or may do so, each with whom.

    Args:
        document: A policy with principals.
        action: For example `sts:AssumeRole`.

    Yields:
        A statement, and the service principals it names. `UNKNOWN` is among them if some are decided at deploy, and if
        it is anyone: that mostly comes with conditions that admit no more than one service, or none.
    """
    for node in _nodes(document):
        effect, actions = node["Effect"].text(), _words(node["Action"])
        if effect is UNKNOWN or actions is UNKNOWN or node["NotAction"].given or node["NotPrincipal"].given:
            yield node, (UNKNOWN,)
        elif effect == "Allow" and any(_covers(pattern, action) for pattern in actions):
            yield node, _whom(node["Principal"])


def asks_for_caller(statement: Node) -> bool | Unknown:
    """Whether conditions of a statement ask for the account that a service acts for."""
    condition = statement["Condition"]
    operators = condition.mapping()
    if not isinstance(operators, dict):
        return UNKNOWN if operators is UNKNOWN else False
    asked = [condition[operator].mapping() for operator in operators]
    if any(str(key).lower() in _CALLER_CHECKS for keys in asked if isinstance(keys, dict) for key in keys):
        return True
    return UNKNOWN if UNKNOWN in asked else False


def accounts_asked(statement: Node) -> tuple[str, ...] | Unknown | None:
    """The accounts for which alone conditions of a statement let a service act; `None` where none limits it.

    Not known as soon as one of them may be any.
    """
    condition = statement["Condition"]
    operators = condition.mapping()
    if not isinstance(operators, dict):
        return operators
    limits: list[tuple[str, ...] | Unknown] = []
    for operator in filter(_HAS_TO_BE.fullmatch, operators):
        keys = condition[operator].mapping()
        asked = [key for key in keys if key.lower() in _CALLER_CHECKS] if isinstance(keys, dict) else []
        limits += [_accounts(condition[operator][key]) for key in asked]
    # Conditions hold together: each limits what the others leave.
    return next((each for each in limits if each is not UNKNOWN), UNKNOWN if limits else None)


def _accounts(node: Node) -> tuple[str, ...] | Unknown:
    values = node.one_or_more()
    found = [UNKNOWN if values is UNKNOWN else _account(each) for each in ((node,) if values is UNKNOWN else values)]
    named = tuple(each for each in found if each is not UNKNOWN)
    return named if len(named) == len(found) else UNKNOWN


def _account(node: Node) -> str | Unknown:
    """The account that an id or an ARN names."""
    text = node.must(Node.pattern)
    fields = text.split(":") if isinstance(text, str) else [""]
    account = fields[_ACCOUNT_FIELD] if len(fields) > _ACCOUNT_FIELD else fields[0]
    return account if _ACCOUNT.fullmatch(account) else UNKNOWN


def principals(principal: Node) -> tuple[str | Unknown, ...]:
    """The AWS principals of a statement, by path of a role of the assembly, or by ARN, id or pattern of them."""
    if not isinstance(principal.value, dict):
        return (principal.must(Node.text),) if principal.given else ()
    found = principal["AWS"].one_or_more()
    return (UNKNOWN,) if found is UNKNOWN else tuple(_principal(node) for node in found)


def _principal(node: Node) -> str | Unknown:
    """The path of a role; else the text with `*` for what is decided at deploy."""
    path = node.path() if isinstance(node.value, Reference) else UNKNOWN
    return node.must(Node.pattern) if path is UNKNOWN or path is None else path


def encryption_contexts(statement: Node) -> tuple[str, ...]:
    """The condition keys of a statement that ask for an encryption context."""
    condition = statement["Condition"]
    operators = condition.mapping()
    found = [condition[operator].mapping() for operator in operators] if isinstance(operators, dict) else []
    names = [str(key) for keys in found if isinstance(keys, dict) for key in keys]
    return tuple(name for name in names if name.lower().startswith(_CONTEXT))


def _nodes(document: Node) -> tuple[Node, ...]:
    """The statements; a list that is not known counts as one such statement."""
    if isinstance(document.value, str):
        document = replace(document, value=_from_json(document.value))
    found = document["Statement"].one_or_more()
    return (document["Statement"],) if found is UNKNOWN else found


def _from_json(text: str) -> Value:
    """A document written as text, which CloudFormation takes too; the text itself if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, dict) else text


def _statement(node: Node) -> Statement | Unknown:
    effect = node["Effect"].must(lambda given: given.one_of("Allow", "Deny"))
    if effect is UNKNOWN:
        return UNKNOWN
    action = "NotAction" if node["NotAction"].given else "Action"
    resource = "NotResource" if node["NotResource"].given else "Resource"
    return Statement(
        allow=effect == "Allow",
        actions=node[action].must(_words),
        resources=node[resource].must(_patterns),
        undecided=_undecided(node[resource]),
        conditional=node["Condition"].given,
        inverted=action == "NotAction" or resource == "NotResource",
    )


def _words(node: Node) -> tuple[str | Unknown, ...] | Unknown:
    found = node.one_or_more()
    return UNKNOWN if found is UNKNOWN else tuple(item.must(Node.text) for item in found)


def _patterns(node: Node) -> tuple[str | Unknown, ...] | Unknown:
    found = node.one_or_more()
    return UNKNOWN if found is UNKNOWN else tuple(item.must(Node.pattern) for item in found)


def _undecided(node: Node) -> tuple[str, ...]:
    """Those patterns in which more than the partition of an ARN is decided at deploy."""
    found = node.one_or_more()
    read = ((item, item.pattern()) for item in (() if found is UNKNOWN else found))
    return tuple(text for item, text in read if isinstance(text, str) and text.count("*") > _written(item, text))


def _written(node: Node, pattern: str) -> int:
    """How many wildcards of a pattern the template has, with that of a partition which the deploy decides."""
    text = "".join(part for part in parts_of(node.value) if isinstance(part, str))
    return text.count("*") + (pattern.startswith(_ANY_PARTITION) and not text.startswith(_ANY_PARTITION))


def _covers(pattern: str | Unknown, action: str) -> bool:
    return pattern is UNKNOWN or fnmatchcase(action.lower(), pattern.lower())


def _whom(principal: Node) -> tuple[str | Unknown, ...]:
    if not isinstance(principal.value, dict):
        return (UNKNOWN,) if principal.given else ()
    services, accounts = principal["Service"].one_or_more(), _words(principal["AWS"])
    named = (UNKNOWN,) if services is UNKNOWN else tuple(_service(item) for item in services)
    return (*named, UNKNOWN) if accounts is not UNKNOWN and _ANYONE in accounts else named


def _service(node: Node) -> str | Unknown:
    """A service principal. Their domain is the same everywhere but in China, so it need not be known."""
    if isinstance(node.value, Text) and node.value.prefix.endswith("."):
        return node.value.prefix + "amazonaws.com"
    return node.must(Node.text)
