"""Statements and principals of policy documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from hyperpod_constructs.cloudformation.values import Text, Value
from hyperpod_constructs.model._reading import Node
from hyperpod_constructs.model.identity import Statement
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_CALLER_CHECKS = frozenset({"aws:sourceaccount", "aws:sourcearn"})
"""Condition keys that tie a service to the account it acts for. IAM compares keys without regard to case."""

_ANYONE = "*"


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
        conditional=node["Condition"].given,
        inverted=action == "NotAction" or resource == "NotResource",
    )


def _words(node: Node) -> tuple[str | Unknown, ...] | Unknown:
    found = node.one_or_more()
    return UNKNOWN if found is UNKNOWN else tuple(item.must(Node.text) for item in found)


def _patterns(node: Node) -> tuple[str | Unknown, ...] | Unknown:
    found = node.one_or_more()
    return UNKNOWN if found is UNKNOWN else tuple(item.must(Node.pattern) for item in found)


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
