"""Grafana, Prometheus, what templates say about their addresses and permissions, and rules of EventBridge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final, Literal

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Resource
from hyperpod_constructs.cloudformation.values import Reference, Text, Value, parts_of
from hyperpod_constructs.model._reading import Fields, Node, each, one_of, required
from hyperpod_constructs.model.observability import EventRule, Grafana, Prometheus, PrometheusUrl, RuleEditing
from hyperpod_constructs.model.template.resources import Found, Resources
from hyperpod_constructs.tokens import UNKNOWN, Unknown

_WORKSPACE: Final = "AWS::APS::Workspace"
_ADDON: Final = "AWS::EKS::Addon"
_POLICIES: Final = (
    "AWS::IAM::Policy",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::RolePolicy",
    "AWS::IAM::UserPolicy",
    "AWS::IAM::GroupPolicy",
)
_HOLDERS: Final = ("AWS::IAM::Role", "AWS::IAM::User", "AWS::IAM::Group")
_RULE_GROUPS: Final = "rulegroupsnamespace"
_LISTING: Final = "aps:listrulegroupsnamespaces"
"""The one action on groups of rules that is authorised on the workspace."""

_NAME: Final = re.compile(r"[a-zA-Z0-9._~-]{1,255}")
_DATA_SOURCES: Final = (
    "AMAZON_OPENSEARCH_SERVICE",
    "CLOUDWATCH",
    "PROMETHEUS",
    "XRAY",
    "TIMESTREAM",
    "SITEWISE",
    "ATHENA",
    "REDSHIFT",
)
_URL: Final = re.compile(r"""https://aps-workspaces[^\s"'\\<>,;]+""")
ARN, ID, OTHER = "WORKSPACE-ARN", "WORKSPACE-ID", "UNKNOWN"
"""Words in place of what the deploy decides."""
_ENDPOINT: Final = f"https://aps-workspaces.REGION.amazonaws.com/workspaces/{ID}/"
_ATTRIBUTES: Final = {None: ARN, "Arn": ARN, "WorkspaceId": ID, "PrometheusEndpoint": _ENDPOINT}


def grafana(resources: Resources, region: str | None) -> tuple[Grafana, ...]:
    """The Grafana workspaces of an assembly.

    Args:
        resources: Where to find them.
        region: Region of stacks that do not fix theirs.
    """
    workspaces = list(resources.of("AWS::Grafana::Workspace"))
    for found in workspaces:
        _report_words(found.properties)
    return tuple(
        found.properties.build(Grafana, _GRAFANA, path=found.path, region=found.resource.stack.region or region)
        for found in workspaces
    )


def prometheus(resources: Resources, region: str | None) -> tuple[Prometheus, ...]:
    """The Prometheus workspaces of an assembly; `region` as for `grafana`."""
    return tuple(
        found.properties.build(Prometheus, _PROMETHEUS, path=found.path, region=found.resource.stack.region or region)
        for found in resources.of(_WORKSPACE)
    )


def event_rules(resources: Resources) -> tuple[EventRule, ...]:
    """The rules of EventBridge that an assembly certainly makes and that are on."""
    return tuple(
        found.properties.build(EventRule, _EVENT_RULE, path=found.path)
        for found in resources.of("AWS::Events::Rule")
        if found.certain and found.properties["State"].text() not in {"DISABLED", UNKNOWN}
    )


def _targets(node: Node) -> tuple[str | Unknown, ...] | Unknown:
    """The targets that EventBridge reaches without a role."""
    found = node.items()
    if found is UNKNOWN:
        return UNKNOWN
    return tuple(target["Arn"].must(Node.path) for target in found if not target["RoleArn"].given)


def rule_editing(resources: Resources) -> tuple[RuleEditing, ...]:
    """The statements of all policies that let somebody read or change groups of alert rules."""
    workspaces = {found.path for found in resources.of(_WORKSPACE)}
    found = [(policy, policy.properties["PolicyDocument"]) for policy in resources.of(*_POLICIES)]
    for holder in resources.of(*_HOLDERS):
        inline = holder.properties["Policies"].items()
        found += [(holder, policy["PolicyDocument"]) for policy in ([] if inline is UNKNOWN else inline)]
    return tuple(each for policy, document in found for each in _rule_editing(policy, document, workspaces))


def urls(assembly: Assembly) -> tuple[PrometheusUrl, ...]:
    """Every address of a Prometheus workspace in the properties of resources, each once."""
    workspaces = {(each.stack.id, each.logical_id) for each in assembly.resources() if each.type == _WORKSPACE}
    return tuple(dict.fromkeys(url for resource in assembly.resources() for url in _urls_of(resource, workspaces)))


def _report_words(workspace: Node) -> None:
    """Reports what can never be right in properties of which nothing but the form matters."""
    workspace["AccountAccessType"].must(lambda node: node.one_of("CURRENT_ACCOUNT", "ORGANIZATION"))
    workspace["DataSources"].each(lambda node: node.one_of(*_DATA_SOURCES))
    workspace["NotificationDestinations"].each(lambda node: node.one_of("SNS"))
    name = workspace["Name"].text()
    if isinstance(name, str) and not _NAME.fullmatch(name):
        workspace["Name"].report(f"is {name!r}", "use 1 to 255 letters, digits, '-', '.', '_' and '~'")


def _rule_editing(policy: Found, document: Node, workspaces: set[str]) -> Iterator[RuleEditing]:
    statements = document["Statement"].one_or_more() if isinstance(document.value, dict) else ()
    for statement in () if statements is UNKNOWN else statements:
        listed = statement["Action"].one_or_more()
        words = [] if listed is UNKNOWN else [item.value for item in listed]
        actions = tuple(word for word in words if isinstance(word, str) and _edits_rules(word))
        targets = statement["Resource"].one_or_more()
        if actions and targets is not UNKNOWN and statement["Effect"].value == "Allow":
            yield RuleEditing(
                path=policy.path, actions=actions, reach=tuple(_reach(target, workspaces) for target in targets)
            )


def _edits_rules(action: str) -> bool:
    """Whether an action names groups of rules; of `aps:*` nobody knows whether they are meant."""
    word = action.lower()
    return word.startswith("aps:") and _RULE_GROUPS in word and not fnmatchcase(_LISTING, word)


def _reach(target: Node, workspaces: set[str]) -> Literal["rules", "workspace"] | Unknown:
    value = target.value
    first = parts_of(value)[0]
    if isinstance(first, Reference):
        # Whatever follows the ARN of a workspace is still below the workspace.
        return "workspace" if target.reading.path_of(first) in workspaces else UNKNOWN
    pattern = target.pattern()
    if not isinstance(pattern, str):
        return UNKNOWN
    resource = pattern.split(":", 5)[5:]
    if not resource or resource[0].startswith(("*", _RULE_GROUPS)):
        return "rules"
    return "workspace" if resource[0].startswith("workspace") else UNKNOWN


def _urls_of(resource: Resource, workspaces: set[tuple[str, str]]) -> Iterator[PrometheusUrl]:
    for value in _texts(resource.properties):
        text = "".join(_worded(part, workspaces) for part in parts_of(value))
        for url in _URL.findall(text):
            yield PrometheusUrl(path=resource.path, url=url, addon=resource.type == _ADDON)


def _texts(value: Value) -> Iterator[Value]:
    """Every value that is or will be text."""
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str | Text | Reference):
        yield value


def _worded(part: object, workspaces: set[tuple[str, str]]) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Reference) and (part.stack, part.logical_id) in workspaces:
        return _ATTRIBUTES.get(part.attribute, OTHER)
    return OTHER


def _given(node: Node) -> bool | Unknown:
    """Whether a property is there."""
    return UNKNOWN if node.value is UNKNOWN else node.given


def _count(node: Node) -> int | Unknown:
    """How many elements a list has; one whose elements are not all certain cannot be counted."""
    items = node.items()
    return UNKNOWN if items is UNKNOWN or any(item.value is UNKNOWN for item in items) else len(items)


def _ends(node: Node) -> str | Unknown | None:
    """A text, or its known beginning and end with `*` between; `UNKNOWN` where the end is not known."""
    value = node.value
    if isinstance(value, Text) and value.suffix:
        return f"{value.prefix}*{value.suffix}"
    return node.text()


_GRAFANA: Final[Fields] = {
    "providers": ("AuthenticationProviders", required(each(one_of("AWS_SSO", "SAML")))),
    "permission": ("PermissionType", required(one_of("CUSTOMER_MANAGED", "SERVICE_MANAGED"))),
    "role": ("RoleArn", Node.path),
    "saml": ("SamlConfiguration", _given),
    "subnets": ("VpcConfiguration", lambda node: node.optional(lambda vpc: _count(vpc["SubnetIds"]))),
    "security_groups": ("VpcConfiguration", lambda node: node.optional(lambda vpc: _count(vpc["SecurityGroupIds"]))),
    "prefix_lists": ("NetworkAccessControl.PrefixListIds", _count),
    "endpoints": ("NetworkAccessControl.VpceIds", _count),
}
_EVENT_RULE: Final[Fields] = {"targets": ("Targets", _targets)}
_PROMETHEUS: Final[Fields] = {"log_group": ("LoggingConfiguration.LogGroupArn", _ends)}
