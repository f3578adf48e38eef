"""New resources whose name, or whatever else tells them apart, is that of one which is still there when they are made.

CloudFormation makes what is new before it deletes what is gone, so that a resource which only got another logical id
meets itself. A policy inside of a role is not refused then: it is written twice and deleted once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from hyperpod_constructs.catalog import updates
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Reference, Value, parts_of
from hyperpod_constructs.review import spread
from hyperpod_constructs.review.comparison import Comparison, Pair, condition
from hyperpod_constructs.review.data import STAYS
from hyperpod_constructs.review.impacts import SEVERITY, Effect, Impact
from hyperpod_constructs.review.spread import Id
from hyperpod_constructs.review.wording import shown
from hyperpod_constructs.tokens import UNKNOWN

Key: TypeAlias = tuple[str, ...]
"""Type, property and values as text: equal for what cannot be there twice."""
Named: TypeAlias = tuple[str, str, tuple[str, ...]]
"""What tells resources apart: how it is called, its property, and the properties within whose values it does."""

_RULES: Final = ("AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress")
_NATURAL: Final[Mapping[str, tuple[Named, ...]]] = {
    "AWS::Budgets::Budget": (("name", "Budget.BudgetName", ()),),
    "AWS::EC2::Route": (
        ("destination", "DestinationCidrBlock", ("RouteTableId",)),
        ("destination", "DestinationIpv6CidrBlock", ("RouteTableId",)),
        ("destination", "DestinationPrefixListId", ("RouteTableId",)),
    ),
    "AWS::EC2::SubnetRouteTableAssociation": (("subnet", "SubnetId", ()),),
    "AWS::EC2::VPCGatewayAttachment": (("gateway", "InternetGatewayId", ("VpcId",)),),
    "AWS::EFS::MountTarget": (("subnet", "SubnetId", ("FileSystemId",)),),
    "AWS::EKS::AccessEntry": (("principal", "PrincipalArn", ("ClusterName",)),),
    "AWS::EKS::Addon": (("name", "AddonName", ("ClusterName",)),),
    "AWS::EKS::PodIdentityAssociation": (("service account", "ServiceAccount", ("ClusterName", "Namespace")),),
    "AWS::FSx::DataRepositoryAssociation": (("folder", "FileSystemPath", ("FileSystemId",)),),
    "AWS::IAM::ManagedPolicy": (("name", "ManagedPolicyName", ()),),
    "AWS::S3::BucketPolicy": (("bucket", "Bucket", ()),),
    "AWS::SageMaker::Cluster": (("name", "ClusterName", ()),),
    "AWS::SageMaker::ClusterSchedulerConfig": (("name", "Name", ("ClusterArn",)),),
    "AWS::SageMaker::ComputeQuota": (("name", "Name", ("ClusterArn",)),),
}
"""What tells resources of a type apart where the registry's identifier does not; it need not be plain text."""
_NOT_UNIQUE: Final = ("AWS::Athena::", "AWS::EMR::", "AWS::Pinpoint::", "AWS::Route53::HostedZone", "AWS::WAF")
"""Beginnings of types of which several may have one name."""
_WORLDWIDE: Final = frozenset({"AWS::S3::Bucket"})
_ALL_REGIONS: Final = ("AWS::Budgets::", "AWS::CloudFront::", "AWS::IAM::", "AWS::Route53::")
"""Beginnings of types whose names are those of an account, whatever the Region."""
_INLINE: Final[Mapping[str, str]] = {"AWS::IAM::Policy": "Roles", "AWS::IAM::RolePolicy": "RoleName"}
"""Types that write a policy into a role, and where they name it."""
_OTHER_NAME: Final = "give this one a name of its own"
_KEEP: Final = f"keep the logical id (CDK: override_logical_id on the L1) and the stack, or {_OTHER_NAME}"
_FIRST: Final = "take the old one out in a deploy before this one"
_IAM: Final = "IAM API, PutRolePolicy and DeleteRolePolicy: a role has one policy of a name"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Holder:
    """A resource that has a name.

    Attributes:
        pair: The resource.
        side: As it was for one of the base, as it will be for a new one.
    """

    pair: Pair
    side: Resource


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Deploy:
    """What becomes of the resources that have names.

    Attributes:
        replaced: Those that others take the place of.
        gone: Stacks that left the app, by what both sides call them.
        kept: Resources that have a name before and after.
    """

    replaced: frozenset[Id]
    gone: Mapping[str, Stack]
    kept: frozenset[tuple[Id, Key]]


def taken(comparison: Comparison) -> Mapping[Id, Effect]:
    """What becomes of new resources that meet another one which has their name.

    Where a part of a name is decided at deploy nobody knows of a meeting, and nothing is said.
    """
    replaced = frozenset(spread.of(comparison).replaced)
    holders: dict[Key, list[_Holder]] = {}
    kept = set()
    for pair in comparison.pairs:
        if pair.before is not None:
            for key, _ in _keys(pair.before.type, comparison.base_value(pair.before.properties), replaced):
                holders.setdefault(key, []).append(_Holder(pair=pair, side=pair.before))
            if pair.after is not None:
                after = comparison.head_value(pair.after.properties)
                kept |= {(pair.id, key) for key, _ in _keys(pair.after.type, after, replaced)}
    gone = {comparison.name_of(stack): stack for stack in comparison.gone}
    deploy = _Deploy(replaced=replaced, gone=gone, kept=frozenset(kept))
    found: dict[Id, Effect] = {}
    for pair in comparison.pairs:
        if pair.before is None and pair.after is not None:
            new = _Holder(pair=pair, side=pair.after)
            if effects := list(_meetings(deploy, new, comparison.head_value(pair.after.properties), holders)):
                found[pair.id] = max(effects, key=lambda each: SEVERITY[each.impact])
    return found


def _meetings(deploy: _Deploy, new: _Holder, properties: Value, holders: dict[Key, list[_Holder]]) -> Iterator[Effect]:
    """What a new resource meets; from then on it is there for others."""
    for key, name in _keys(new.side.type, properties, frozenset()):
        others = holders.setdefault(key, [])
        for old in others:
            if old.pair is not new.pair and _may_share_a_place(new.side, old.side) and not _exclude(new, old):
                inline = new.side.type in _INLINE
                effect = _written_twice(new, old) if inline else _beside(deploy, new, old, (key, name))
                yield from () if effect is None else (effect,)
        others.append(new)


def _exclude(new: _Holder, old: _Holder) -> bool:
    """Whether one may be there instead of the other: each has a condition, and not the same."""
    conditional = new.side.conditional and old.side.conditional
    return conditional and condition(new.side) != condition(old.side)


def _beside(deploy: _Deploy, new: _Holder, old: _Holder, found: tuple[Key, str]) -> Effect:
    """What becomes of a new resource beside another one that has its name."""
    key, name = found
    effect = _met(deploy, new, old, (key, f"{old.side.path} has {name}"))
    if not name.startswith("the name"):
        effect = replace(effect, action=effect.action.replace(_OTHER_NAME, _FIRST))
    conditional = new.side.conditional or old.side.conditional
    if conditional:
        effect = replace(effect, reason=f"{effect.reason}; whether both are there is decided at deploy")
    if effect.impact is not Impact.OPEN and new.pair.outer != old.pair.outer and not _share_a_place(new.side, old.side):
        effect = replace(effect, reason=f"{effect.reason}, if both stacks go to one account and Region")
    elif not conditional:
        return effect
    return replace(effect, impact=Impact.OPEN)


def _met(deploy: _Deploy, new: _Holder, old: _Holder, found: tuple[Key, str]) -> Effect:
    """What becomes of the new one, by what becomes of the old one."""
    key, has = found
    if old.pair.before is None:
        return Effect(Impact.REFUSED, f"{has} too, and is new as well: the second of them is refused", _OTHER_NAME)
    if old.pair.outer in deploy.gone:
        return _left_behind(deploy.gone[old.pair.outer], has)
    if (old.pair.id, key) in deploy.kept:
        return Effect(Impact.REFUSED, f"{has} already, and stays: the deploy is refused", _OTHER_NAME)
    if old.pair.after is not None and old.pair.id not in deploy.replaced:
        reason = f"{has} and gives it up in the same deploy: which of them comes first is not known"
        return Effect(Impact.OPEN, reason, "make two deploys of it: first the old one, then this one")
    return _goes_later(new, old, has)


def _goes_later(new: _Holder, old: _Holder, has: str) -> Effect:
    """What becomes of the new one where the old one is deleted, or replaced by one with another name."""
    if old.pair.after is None and old.side.deletion_policy in STAYS:
        reason = f"{has} and is kept by its DeletionPolicy: the deploy is refused"
        return Effect(Impact.REFUSED, reason, f"{_KEEP}, or import the one that is there")
    if old.pair.outer != new.pair.outer:
        reason = f"{has} until stack {old.pair.outer} is deployed: before that this one is refused"
        return Effect(Impact.OPEN, reason, f"deploy stack {old.pair.outer} first, if nobody needs what it deletes")
    reason = f"{has}, and CloudFormation deletes that only after it has made this one: the deploy is refused"
    return Effect(Impact.REFUSED, reason, _KEEP)


def _left_behind(stack: Stack, has: str) -> Effect:
    """What becomes of a new resource whose name one of a stack has that left the app."""
    reason = f"{has} and stays, as no deploy deletes a stack that is not in the app any more"
    if stack.name is None:
        return Effect(Impact.OPEN, f"{reason}: unless both files are one stack, the deploy is refused", _OTHER_NAME)
    action = f"{_OTHER_NAME}, or delete stack {stack.name} first if nothing needs it"
    return Effect(Impact.REFUSED, f"{reason}: the deploy is refused", action)


def _written_twice(new: _Holder, old: _Holder) -> Effect | None:
    """What becomes of a policy in a role that two resources write."""
    action = "keep the logical id (CDK: override_logical_id on the L1), or give the new policy another PolicyName"
    removed = old.pair.before is not None and old.pair.after is None
    if removed and old.side.deletion_policy in STAYS:
        return None
    what = f"{old.side.path} writes a policy of that name into the role too"
    if not removed or old.pair.outer != new.pair.outer or old.side.conditional or new.side.conditional:
        reason = f"{what}: the one that comes last decides what the role may do"
        return Effect(Impact.OPEN, reason, action, source=_IAM)
    reason = f"{what}, and its removal comes last and deletes what this one wrote: the role loses it"
    return Effect(Impact.DESTROYED, reason, action, source=_IAM)


def _may_share_a_place(one: Resource, other: Resource) -> bool:
    """Whether names of both can be in one account and Region."""
    return all(ours is None or theirs is None or ours == theirs for ours, theirs in _places(one, other))


def _share_a_place(one: Resource, other: Resource) -> bool:
    """Whether names of both are in one account and Region for certain."""
    return all(ours is not None and ours == theirs for ours, theirs in _places(one, other))


def _places(one: Resource, other: Resource) -> list[tuple[str | None, str | None]]:
    """What has to be the same for two names to meet: account and Region, only the account, or nothing."""
    if one.type in _WORLDWIDE:
        return []
    accounts = (one.stack.account, other.stack.account)
    regions = (one.stack.region, other.stack.region)
    return [accounts] if one.type.startswith(_ALL_REGIONS) else [accounts, regions]


def _keys(kind: str, properties: Value, replaced: frozenset[Id]) -> Iterator[tuple[Key, str]]:
    """What cannot be there twice, each with how it is called; what is not known until the deploy is left out.

    Args:
        kind: Resource type.
        properties: Its properties, with references by the names that both sides know.
        replaced: Resources that are others afterwards, so that what refers to them is another name.
    """
    if kind in _INLINE:
        name, roles = _at(properties, "PolicyName"), _at(properties, _INLINE[kind])
        for role in roles if isinstance(roles, list) else [roles]:
            if name is not None and (texts := _texts([name, role], replaced)):
                yield ("a policy in a role", *texts), f"the name {shown(name)}"
    elif kind in _RULES:
        if isinstance(properties, dict) and (texts := _texts([_rule(properties)], replaced)):
            yield (kind, *texts), "the same rule"
    else:
        for word, path, within in _named(kind):
            main = _at(properties, path)
            given = isinstance(main, str) or (kind in _NATURAL and main is not None)
            if given and (texts := _texts([main, *(_at(properties, each) for each in within)], replaced)):
                yield (kind, path, *texts), f"the {word} {shown(main)}"


def _named(kind: str) -> tuple[Named, ...]:
    """What tells resources of a type apart."""
    if kind in _NATURAL:
        return _NATURAL[kind]
    ids, create_only = updates.identifiers(kind), updates.create_only(kind)
    if ids and set(ids) <= create_only:
        return (("name", ids[-1], ids[:-1]),)
    own = kind.rpartition("::")[2]
    names = [each for each in (f"{own}Name", "Name", f"{own}Identifier") if each in create_only]
    if kind.startswith(_NOT_UNIQUE) or not names:
        return ()
    within = sorted(each for each in create_only if each.endswith(("Arn", "Id", "Name")) and each != names[0])
    return (("name", names[0], tuple(within)),)


def _rule(properties: dict[str, Value]) -> Value:
    """A rule of a security group without what does not tell it apart."""
    unread = {"Description", "Tags"}
    if properties.get("IpProtocol") in ("-1", -1):
        unread |= {"FromPort", "ToPort"}
    return {key: value for key, value in properties.items() if key not in unread}


def _at(properties: Value, path: str) -> Value:
    found = properties
    for name in path.split("."):
        if not isinstance(found, dict):
            return found if found is UNKNOWN else None
        found = found.get(name)
    return found


def _texts(values: Sequence[Value], replaced: frozenset[Id]) -> tuple[str, ...]:
    """Values as text; empty where one of them is known only at deploy."""
    found = [_text(value, replaced) for value in values]
    return tuple(each for each in found if each is not None) if None not in found else ()


def _text(value: Value, replaced: frozenset[Id]) -> str | None:
    if isinstance(value, dict):
        return _joined({key: _text(item, replaced) for key, item in value.items()})
    if isinstance(value, list):
        return _joined({str(place): _text(item, replaced) for place, item in enumerate(value)})
    if value is None:
        return ""
    parts = [
        part if isinstance(part, str) else _referred(part, replaced) if isinstance(part, Reference) else None
        for part in parts_of(value)
    ]
    return None if None in parts else "".join(filter(None, parts))


def _joined(parts: Mapping[str, str | None]) -> str | None:
    return None if None in parts.values() else ",".join(f"{key}:{parts[key]}" for key in sorted(parts))


def _referred(reference: Reference, replaced: frozenset[Id]) -> str | None:
    """A reference as text; `None` where nobody knows what it refers to, or where that is another one afterwards."""
    if (not reference.stack and not reference.logical_id) or (reference.stack, reference.logical_id) in replaced:
        return None
    return f"<{reference.stack}|{reference.logical_id}|{reference.attribute}>"
