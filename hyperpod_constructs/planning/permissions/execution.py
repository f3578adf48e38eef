"""The policy of the role that CloudFormation deploys with: a missing permission is found when half of a stack exists.

For each resource of the templates: what its type needs (`catalog.handlers`), without what only other properties need,
on the resource's ARN as far as that is known. What only lists or describes is allowed on everything in the Region,
because most such actions know no resource; so is what IAM cannot narrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from hyperpod_constructs.catalog import handlers
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Value
from hyperpod_constructs.planning.permissions import roles
from hyperpod_constructs.planning.permissions.documents import Document, Statement, Test, documents
from hyperpod_constructs.planning.permissions.names import ROLE, Names, expand, mentions, values
from hyperpod_constructs.tokens import UNKNOWN

NAME: Final = "execution"
_PASSING: Final = "iam:PassRole"
_LINKING: Final = "iam:CreateServiceLinkedRole"
_ATTACHING: Final = "iam:AttachRolePolicy"
_INLINE: Final = "iam:PutRolePolicy"
_UNBINDING: Final = "iam:DeleteRolePermissionsBoundary"
_BOUND: Final = frozenset({_ATTACHING, _INLINE, "iam:CreateRole", "iam:PutRolePermissionsBoundary"})
"""Actions that can depend on the boundary of the role. Source: service authorization reference, IAM."""

_GLOBAL: Final = frozenset(
    {"billing", "budgets", "ce", "cloudfront", "iam", "identitystore", "organizations", "route53", "sso", "sts"}
)
"""Services of which a request may go to another Region than that of the stack, so the Region is no condition."""
_ELSEWHERE: Final = frozenset({"s3:ListAllMyBuckets"})
"""Actions of other services of which the same is true."""
_READS: Final = ("Describe", "List")
_OF_CONTENT: Final = frozenset({"kms:DescribeKey", "s3:ListBucket", "s3:ListBucketVersions"})
"""Reads that say more than that a resource is there; those are narrowed like any change."""
_NO_RESOURCE: Final = frozenset(
    {
        "kms:CreateKey",
        "lambda:AssociateRuntimeAlias",
        "lambda:GetCodeSigningConfig",
        "lambda:GetFunctionScalingConfig",
        "lambda:GetLayerVersion",
        "lambda:PassCapacityProvider",
        "lambda:PutFunctionCodeSigningConfig",
        "lambda:PutFunctionScalingConfig",
        "logs:CreateLogDelivery",
        "logs:DeleteIndexPolicy",
        "logs:DeleteLogDelivery",
        "logs:DeleteResourcePolicy",
        "logs:GetLogDelivery",
        "logs:PutBearerTokenAuthentication",
        "logs:PutIndexPolicy",
        "logs:PutLogGroupDeletionProtection",
        "logs:PutResourcePolicy",
        "logs:UpdateLogDelivery",
        "sns:GetSubscriptionAttributes",
        "sns:SetSubscriptionAttributes",
        "sns:Unsubscribe",
    }
)
"""Actions that cannot be narrowed though others of their service can, or of which the source does not say.

Source: service authorization reference, April 2025, for all actions of all types that `names` has ARNs of.
"""

_DYNAMIC: Final = re.compile(r"\{\{resolve:(ssm|ssm-secure|secretsmanager):([^}]*)(\}\})?")
_TEMPLATE_URL: Final = re.compile(r"https://(?:s3[^/]*/([^/]+)|([^/]+?)\.s3[^/]*)/")
_ARN_OF_SECRET: Final = re.compile(r"arn:[^:]*:secretsmanager:[^:]*:[^:]*:secret:[^:]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """The policy of a deployment.

    Attributes:
        documents: Policies to attach to the role, all of them.
        unknown: Types whose permissions are not known, sorted: the policy lacks them.
        notes: What else a person must know, in full sentences.
    """

    documents: tuple[Document, ...]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Grants:
    """What is allowed on one kind of resource under one condition."""

    actions: set[str] = field(default_factory=set)
    resources: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    regions: set[str | None] = field(default_factory=set)


class _Collected:
    """Grants by name of their statement and its condition."""

    def __init__(self) -> None:
        self._grants: dict[tuple[str, tuple[Test, ...]], _Grants] = {}
        self.unknown: set[str] = set()
        self.unbound: set[str] = set()
        self.unbound_policies: set[str] = set()
        self.inline: set[str] = set()

    def add(
        self,
        title: str,
        action: str,
        resources: Iterable[str],
        of: str,
        *,
        tests: tuple[Test, ...] = (),
        region: str | None = None,
    ) -> None:
        """Allows an action on resources for a type; on all of a Region where one is given."""
        found = self._grants.setdefault((title, tests), _Grants())
        found.actions.add(action)
        found.resources.update(resources)
        found.types.add(of)
        found.regions.add(region)

    def statements(self) -> Iterator[Statement]:
        """One for each name and condition, sorted."""
        seen: dict[str, int] = {}
        for (title, tests), found in sorted(self._grants.items()):
            seen[title] = seen.get(title, 0) + 1
            # A Region that one stack leaves open leaves it open for all that shares the statement.
            regions = tuple(sorted(each for each in found.regions if each)) if None not in found.regions else ()
            in_region: tuple[Test, ...] = (("StringEquals", "aws:RequestedRegion", regions),) if regions else ()
            yield Statement(
                sid=title if seen[title] == 1 else f"{title}{seen[title]}",
                actions=tuple(sorted(found.actions)),
                resources=_without_covered(found.resources),
                tests=(*tests, *in_region),
                why=", ".join(sorted(found.types)),
            )


def of(assembly: Assembly) -> Execution:
    """The policy that CloudFormation's role needs to create, update and delete the stacks of an assembly."""
    collected, names = _Collected(), Names(assembly)
    for resource in assembly.resources():
        _resource(resource, names, collected)
    for stack in assembly.stacks:
        _stack(stack, collected)
    return Execution(
        documents=documents(NAME, collected.statements()),
        unknown=tuple(sorted(collected.unknown)),
        notes=tuple(_notes(collected)),
    )


def _notes(collected: _Collected) -> Iterator[str]:
    for each in sorted(collected.unknown):
        yield (
            f"{each}: its permissions are not in our data; see them with "
            f"`aws cloudformation describe-type --type RESOURCE --type-name {each} --query Schema --output text`"
        )
    for each in sorted(collected.unbound):
        yield f"{each}: to which service it passes a role is not known, so iam:PassRole has no condition for it"
    for each in sorted(collected.unbound_policies):
        yield (
            f"{each}: which managed policies it attaches is not known, so iam:AttachRolePolicy has no condition for "
            "it: whoever deploys can give the role any policy, AdministratorAccess too"
        )
    if collected.inline:
        yield (
            f"{', '.join(_without_covered(collected.inline))}: IAM cannot look into inline policies, so whoever "
            "deploys can give these roles any right by iam:PutRolePolicy and change whom they trust; what limits it "
            "is a permissions boundary (permissions_boundary=) with iam:PermissionsBoundary as a condition, or a "
            "service control policy"
        )


def _resource(resource: Resource, names: Names, collected: _Collected) -> None:
    actions = handlers.actions(resource.type)
    if actions is None:
        collected.unknown.add(resource.type)
        return
    own = resource.type.removeprefix("AWS::").partition("::")[0].lower()
    arns = names.arns(resource)
    for action in actions:
        # A deploy that takes a boundary away needs a policy of its own, computed from the template without it.
        if not _needed(resource, action) or (action == _UNBINDING and _boundary(resource, names)):
            continue
        service, _, name = action.partition(":")
        if action == _PASSING:
            _pass_role(resource, names, collected)
        elif action == _LINKING:
            _linked_roles(resource, collected)
        elif action == _ATTACHING and own == "iam":
            _attach(resource, names, collected)
        elif name.startswith(_READS) and action not in _OF_CONTENT:
            _everywhere("Read", action, resource, collected)
        elif scoped := _scope(resource, action, own, arns, names):
            # What one service does with another must not be allowed on what the stack itself has of the other.
            title = _title(service) if service == own else f"{_title(service)}For{_title(own)}"
            tests = _boundary(resource, names) if action in _BOUND and own == "iam" else ()
            collected.add(title, action, scoped, resource.type, tests=tests)
            if action == _INLINE and own == "iam" and not tests:
                collected.inline.update(scoped)
        else:
            _everywhere(_title(service), action, resource, collected)


def _needed(resource: Resource, action: str) -> bool:
    """Whether the properties of a resource can make its type need an action."""
    conditions = [
        each
        for each in handlers.ONLY_WITH.get(resource.type, ())
        if any(fnmatchcase(action, pattern) for pattern in each.actions)
    ]
    return not conditions or any(mentions(resource.properties, key) for each in conditions for key in each.of)


def _scope(resource: Resource, action: str, own: str, arns: tuple[str, ...], names: Names) -> tuple[str, ...]:
    """ARNs that an action can be narrowed to; empty where it cannot."""
    service, _, name = action.partition(":")
    if action in _NO_RESOURCE:
        return ()
    if service == own:
        return arns
    found: Iterable[str] = ()
    match service:
        case "iam" if name in {"AttachRolePolicy", "PutRolePolicy"}:
            found = [expand("arn:{p}:iam::{a}:role/aws-service-role/{n}/*", resource.stack, roles.OF_S3_LINKS)]
        case "eks":
            found = _kubernetes(resource, names)
        case "kms":
            found = [key for key in _keys(resource.properties, names) if ":key/" in key]
        case "lambda":  # a custom resource invokes what its token names
            found = [token for token in _tokens(resource, names) if ":function:" in token]
        case "logs" if own == "fsx":
            found = [expand("arn:{p}:logs:{r}:{a}:log-group:/aws/fsx/*", resource.stack)]
        case "s3":
            found = [expand("arn:{p}:s3:::{n}", resource.stack, bucket) for bucket in _buckets(resource, names)]
    return tuple(sorted({*found}))


def _kubernetes(resource: Resource, names: Names) -> Iterator[str]:
    """The EKS cluster that a resource is put on, and its access entries."""
    for value in values(resource.properties, "ClusterArn"):
        cluster = names.pattern(value)
        if ":eks:" in cluster and ":cluster/" in cluster:
            yield cluster
            yield cluster.replace(":cluster/", ":access-entry/") + "/*"


def _tokens(resource: Resource, names: Names) -> Iterator[str]:
    if isinstance(resource.properties, dict):
        yield names.pattern(resource.properties.get("ServiceToken"))


def _everywhere(title: str, action: str, resource: Resource, collected: _Collected) -> None:
    """Allows an action on everything: in the Region of the stack, where the service has one."""
    is_global = action.partition(":")[0] in _GLOBAL or action in _ELSEWHERE
    title += "Globally" if is_global else "InRegion"
    collected.add(title, action, ("*",), resource.type, region=None if is_global else resource.stack.region)


def _pass_role(resource: Resource, names: Names, collected: _Collected) -> None:
    for arn, services in roles.passed(resource, names):
        if not services:
            collected.unbound.add(resource.type)
        tests: tuple[Test, ...] = (("StringEquals", "iam:PassedToService", services),) if services else ()
        title = "PassRole" + (f"To{_of_service(services[0])}" if services else "")
        collected.add(title, _PASSING, (arn,), resource.type, tests=tests)


def _boundary(resource: Resource, names: Names) -> tuple[Test, ...]:
    """That a role has the boundary which the templates give it; nothing where a role has none or it is not known."""
    named = [resource.properties] if resource.type == ROLE else []
    for key in ("Roles", "RoleName") if resource.type != ROLE else ():
        for value in values(resource.properties, key):
            found = [names.resource(each) for each in (value if isinstance(value, list) else [value])]
            named += [role.properties if role else UNKNOWN for role in found]
    arns = [names.pattern(each.get("PermissionsBoundary")) if isinstance(each, dict) else "" for each in named]
    if not arns or not all(":policy/" in arn for arn in arns):
        return ()
    return (("ArnLike", "iam:PermissionsBoundary", tuple(sorted(set(arns)))),)


def _attach(resource: Resource, names: Names, collected: _Collected) -> None:
    """Lets the roles of the templates have the managed policies that the templates attach, and no other.

    Without the condition whoever deploys could attach AdministratorAccess to a role of the stack.
    """
    if resource.type == ROLE:
        attached = list(values(resource.properties, "ManagedPolicyArns"))
        arns = [names.pattern(item) for each in attached for item in (each if isinstance(each, list) else [each])]
        targets = names.arns(resource)
    else:
        own = names.arns(resource)
        arns = [arn for arn in own if ":policy/" in arn]
        targets = names.named(resource, "Roles", ROLE)
    if not arns or not targets:
        return
    certain = all(":policy/" in arn for arn in arns)
    tests: tuple[Test, ...] = (("ArnLike", "iam:PolicyARN", tuple(sorted(set(arns)))),) if certain else ()
    tests += _boundary(resource, names)
    if not certain:
        collected.unbound_policies.add(resource.logical_id)
    collected.add("IamAttach", _ATTACHING, targets, resource.type, tests=tests)


def _linked_roles(resource: Resource, collected: _Collected) -> None:
    for service in roles.linked(resource) or ("*",):
        arn = expand("arn:{p}:iam::{a}:role/aws-service-role/{n}/*", resource.stack, service)
        is_any = service == "*"
        tests: tuple[Test, ...] = () if is_any else (("StringEquals", "iam:AWSServiceName", (service,)),)
        title = "LinkedRole" + ("" if is_any else f"Of{_of_service(service)}")
        collected.add(title, _LINKING, (arn,), resource.type, tests=tests)


def _stack(stack: Stack, collected: _Collected) -> None:
    """What the template itself needs, whatever it makes: parameters and dynamic references."""
    for declared in stack.scope.section("Parameters").values():
        if isinstance(declared, Mapping) and str(declared.get("Type", "")).startswith("AWS::SSM::Parameter::"):
            name = str(declared.get("Default") or "*").removeprefix("/")
            arn = expand("arn:{p}:ssm:{r}:{a}:parameter/{n}", stack, name)
            collected.add("ResolvedParameters", "ssm:GetParameters", (arn,), "template parameters")
    for text in _texts(stack.document.body):
        for service, named, ended in _DYNAMIC.findall(text):
            secret = service == "secretsmanager"
            arn = expand(_resolved(named if ended else "*", secret=secret), stack)
            title, action = (
                ("Secrets", "secretsmanager:GetSecretValue") if secret else ("Parameters", "ssm:GetParameters")
            )
            collected.add(f"Resolved{title}", action, (arn,), "dynamic references")


def _resolved(named: str, *, secret: bool) -> str:
    """ARN of what a dynamic reference names; of any where an intrinsic hides the name."""
    if not secret:
        return "arn:{p}:ssm:{r}:{a}:parameter/" + named.partition(":")[0].removeprefix("/")
    found = _ARN_OF_SECRET.match(named)
    name = named.partition(":")[0]
    return found[0] if found else "arn:{p}:secretsmanager:{r}:{a}:secret:" + (name if name == "*" else f"{name}-*")


def _keys(value: Value, names: Names, key: str = "") -> Iterator[str]:
    """ARNs of keys that properties hold."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _keys(item, names, name)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item, names, key)
    elif "kms" in key.lower() or key == "KeyArn":
        yield names.pattern(value)


def _buckets(resource: Resource, names: Names) -> Iterator[str]:
    """Buckets that a resource reads or links to, with `/*` where it reads objects."""
    properties = resource.properties if isinstance(resource.properties, dict) else {}
    for section in ("Code", "Content", "DefinitionS3Location"):
        place = properties.get(section)
        if isinstance(place, dict):
            yield names.pattern(place.get("S3Bucket", place.get("Bucket"))) + "/*"
    template = _TEMPLATE_URL.match(names.pattern(properties.get("TemplateURL")))
    if template:
        yield f"{template[1] or template[2]}/*"
    lustre = properties.get("LustreConfiguration")
    for path in (
        properties.get("DataRepositoryPath"),
        *((lustre.get("ImportPath"), lustre.get("ExportPath")) if isinstance(lustre, dict) else ()),
    ):
        if path is not None:
            yield names.pattern(path).removeprefix("s3://").partition("/")[0]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str) and "{{resolve:" in value:
        yield value


def _without_covered(resources: set[str]) -> tuple[str, ...]:
    """The ARNs that no other one covers, sorted."""
    kept = (
        each
        for each in resources
        if not any(other != each and other.endswith("*") and each.startswith(other[:-1]) for other in resources)
    )
    return tuple(sorted(kept))


def _title(service: str) -> str:
    """What the names of a service's statements begin with: `Ec2` for `ec2`."""
    return "".join(word.capitalize() for word in service.replace(".", "-").split("-"))


def _of_service(principal: str) -> str:
    """A service in the name of a statement: `VpcFlowLogs` for `vpc-flow-logs.amazonaws.com`."""
    return _title(principal.partition(".amazonaws.com")[0])
