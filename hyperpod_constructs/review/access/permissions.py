"""What a change lets somebody do who could not before: policies of roles, trust, and policies of resources.

Statements are compared by holder (a role, user, group, bucket, key, topic, queue, secret), whichever policy they come
from: order, splitting and moving between policies of one holder mean nothing. What is decided only at deploy is told
apart by how it is written: alike on both sides is the same; otherwise nothing is claimed but that it changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

from hyperpod_constructs.cloudformation.stack import Resource
from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.review.access.statements import (
    ADMINISTRATOR,
    EVERYTHING,
    Condition,
    Scope,
    Statement,
    document,
    listed,
    read,
)
from hyperpod_constructs.review.access.written import (
    AT_DEPLOY,
    NAMELESS,
    Open,
    Pattern,
    Side,
    Tree,
    Widened,
    items_of,
    key_of,
    maybe_within,
    rendered,
)
from hyperpod_constructs.review.comparison import Comparison, Pair

_SOURCE: Final = "IAM user guide, reference_policies_evaluation-logic"


def of(comparison: Comparison) -> tuple[Widened, ...]:
    """What policies allow in the head and not in the base."""
    before, after = _Policies(Side(comparison, head=False)).holders, _Policies(Side(comparison, head=True)).holders
    found: dict[Widened, None] = {}
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        found |= dict.fromkeys(_between(key, old, new, comparison))
    fresh = {holder.path for key, holder in after.items() if key not in before}
    usual = {each.what for key, old in before.items() if key[0] != _TRUST for each in _notable(old, trust=False)}
    # That a new role may do what roles do here already is no news, such as that of one more group of nodes.
    return tuple(each for each in found if each.kind == "trust" or each.path not in fresh or each.what not in usual)


# --- Holders -----------------------------------------------------------------------------------------------------

_Key: TypeAlias = tuple[str, str | None, str]
"""What is held, and stack and logical id of the holder; without a stack, the name of one outside of the assembly."""

_IDENTITIES: Final = {"AWS::IAM::Role": "Role", "AWS::IAM::User": "User", "AWS::IAM::Group": "Group"}
_POLICIES: Final = {
    "AWS::IAM::Policy": ("Roles", "Users", "Groups"),
    "AWS::IAM::ManagedPolicy": ("Roles", "Users", "Groups"),
    "AWS::IAM::RolePolicy": ("RoleName",),
    "AWS::IAM::UserPolicy": ("UserName",),
    "AWS::IAM::GroupPolicy": ("GroupName",),
}
"""Where policies that are resources name their holders."""
_OF_RESOURCES: Final = {
    "AWS::IAM::Role": ("", "AssumeRolePolicyDocument"),
    "AWS::KMS::Key": ("", "KeyPolicy"),
    "AWS::S3::BucketPolicy": ("Bucket", "PolicyDocument"),
    "AWS::SNS::TopicPolicy": ("Topics", "PolicyDocument"),
    "AWS::SNS::TopicInlinePolicy": ("TopicArn", "PolicyDocument"),
    "AWS::SQS::QueuePolicy": ("Queues", "PolicyDocument"),
    "AWS::SQS::QueueInlinePolicy": ("Queue", "PolicyDocument"),
    "AWS::SecretsManager::ResourcePolicy": ("SecretId", "ResourcePolicy"),
}
"""Where policies of resources name what they guard, and where they stand; without a name they guard their own."""
_TRUST: Final = "trust"


@dataclass(slots=True)
class _Holder:
    """Somebody or something with policies.

    Attributes:
        path: Construct path.
        account: Of its stack, where that is known.
        unattached: Whether it is a policy that nobody in the assembly has.
        unclear: Whether only the deploy says who or what it is.
        statements: Of all its policies.
        unread: Statements that cannot be read.
        managed: ARNs of managed policies outside of the assembly.
        boundary: ARN of its permissions boundary.
    """

    path: str
    account: str | None = None
    unattached: bool = False
    unclear: bool = False
    statements: dict[Statement, None] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    managed: dict[Pattern, None] = field(default_factory=dict)
    boundary: Pattern | None = None

    def add(self, given: Tree, *, of_resource: bool, of_bucket: bool = False) -> None:
        """Adds the statements of a document."""
        body = document(given)
        for tree in items_of(body.get("Statement")) if isinstance(body, dict) else items_of(body):
            statement = read(tree, of_resource=of_resource)
            if statement is None:
                self.unread.add(key_of(tree))
            else:  # what guards a topic or key speaks of all of it, whatever resource it names
                whole = of_resource and not of_bucket
                self.statements[replace(statement, resources=EVERYTHING) if whole else statement] = None

    @property
    def allows(self) -> list[Statement]:
        found = [each for each in self.statements if each.allow]
        administrator = any(_name(each) == "AdministratorAccess" for each in self.managed)
        return [*found, ADMINISTRATOR] if administrator else found

    @property
    def denies(self) -> list[Statement]:
        return [each for each in self.statements if not each.allow]


@dataclass(frozen=True)
class _Policies:
    """The policies of one side."""

    side: Side

    @cached_property
    def holders(self) -> dict[_Key, _Holder]:
        """What everybody holds."""
        found: dict[_Key, _Holder] = {}
        attached: dict[tuple[str, str], list[_Key]] = {}
        there = [(pair, each) for pair in self.side.comparison.pairs if (each := self.side.of(pair)) is not None]
        for pair, resource in there:
            if resource.type in _IDENTITIES:
                self._add_identity(pair, resource, found, attached)
            if resource.type in _OF_RESOURCES:
                self._add_of_resource(pair, resource, found)
        for pair, resource in there:
            if resource.type in _POLICIES:
                self._add_policy(pair, resource, found, attached)
        return found

    @cached_property
    def _by_name(self) -> dict[tuple[str, str, str], _Key]:
        """Roles, users and groups with a fixed name, by kind, stack and name."""
        found: dict[tuple[str, str, str], _Key] = {}
        for pair in self.side.comparison.pairs:
            resource = self.side.of(pair)
            kind = _IDENTITIES.get(resource.type) if resource else None
            name = self.side.tree(pair, f"{kind}Name") if kind else None
            if kind and isinstance(name, Pattern):
                found[kind, pair.stack, name.text] = ("", *pair.id)
        return found

    def _add_identity(
        self,
        pair: Pair,
        resource: Resource,
        found: dict[_Key, _Holder],
        attached: dict[tuple[str, str], list[_Key]],
    ) -> None:
        holder = found[("", *pair.id)] = _Holder(resource.path, resource.stack.account)
        for policy in items_of(self.side.tree(pair, "Policies")):
            holder.add(policy.get("PolicyDocument") if isinstance(policy, dict) else policy, of_resource=False)
        for arn in items_of(self.side.tree(pair, "ManagedPolicyArns")):
            reference = arn.parts[-1] if isinstance(arn, Pattern) else None
            if isinstance(reference, Reference) and self.side.resource(reference) is not None:
                attached.setdefault((reference.stack, reference.logical_id), []).append(("", *pair.id))
            elif isinstance(arn, Pattern):
                holder.managed[arn] = None
        boundary = self.side.tree(pair, "PermissionsBoundary")
        holder.boundary = boundary if isinstance(boundary, Pattern) else None

    def _add_of_resource(self, pair: Pair, resource: Resource, found: dict[_Key, _Holder]) -> None:
        target, written_in = _OF_RESOURCES[resource.type]
        document = self.side.tree(pair, written_in)
        if document is None:
            return
        if not target:
            found[(_TRUST, *pair.id)] = holder = _Holder(resource.path, resource.stack.account)
            holder.add(document, of_resource=True)
            return
        given = self.side.renamed(resource.properties.get(target)) if isinstance(resource.properties, dict) else None
        names = items_of(self.side.tree(pair, target))
        for value, name in zip(given if isinstance(given, list) else [given], names, strict=False):
            guarded = self._guarded(value)
            key = guarded.id if guarded else (None, name.text if isinstance(name, Pattern) else key_of(name))
            path = guarded.either.path if guarded else resource.path
            new = _Holder(path, resource.stack.account, unclear=_has_open(name))
            of_bucket = resource.type == "AWS::S3::BucketPolicy"
            found.setdefault((_TRUST, *key), new).add(document, of_resource=True, of_bucket=of_bucket)

    def _guarded(self, value: Value) -> Pair | None:
        """The resource that a policy guards; `None` for one outside of the assembly."""
        named = value.references if isinstance(value, Text) else (value,) if isinstance(value, Reference) else ()
        return self.side.comparison.by_id.get((named[0].stack, named[0].logical_id)) if len(named) == 1 else None

    def _add_policy(
        self,
        pair: Pair,
        resource: Resource,
        found: dict[_Key, _Holder],
        attached: Mapping[tuple[str, str], list[_Key]],
    ) -> None:
        keys = dict.fromkeys(attached.get(pair.id, ()), False)
        for name in _POLICIES[resource.type]:
            kind = name.removesuffix("Name").removesuffix("s")
            for each in items_of(self.side.tree(pair, name)):
                keys[self._named(kind, pair.stack, each)] = _has_open(each)
        for key, unclear in (keys or {("", *pair.id): False}).items():
            new = _Holder(resource.path, resource.stack.account, unattached=not keys, unclear=unclear)
            found.setdefault(key, new).add(self.side.tree(pair, "PolicyDocument"), of_resource=False)

    def _named(self, kind: str, stack: str, tree: Tree) -> _Key:
        """A role, user or group that a policy names."""
        parts = tree.parts if isinstance(tree, Pattern) else ()
        if len(parts) == 1 and isinstance(parts[0], Reference):
            return ("", parts[0].stack, parts[0].logical_id)
        name = tree.text if isinstance(tree, Pattern) else key_of(tree)
        return self._by_name.get((kind, stack, name), ("", None, f"{kind} {name}"))


def _has_open(tree: Tree) -> bool:
    return not isinstance(tree, Pattern) or bool(tree.opens)


def _is_vague(arn: Pattern) -> bool:
    """Whether only the deploy says whether there is one at all."""
    return len(arn.parts) == 1 and isinstance(arn.parts[0], Open) and arn.parts[0].name == NAMELESS


def _name(arn: Pattern) -> str:
    """The name of a managed policy."""
    return arn.text.rpartition(":policy/")[2]


# --- What is wider -----------------------------------------------------------------------------------------------


def _between(key: _Key, old: _Holder | None, new: _Holder | None, comparison: Comparison) -> Iterator[Widened]:
    subject = None if key[1] is None else comparison.by_id.get((key[1], key[2]))
    if subject is not None and subject.after is None:
        return
    if old is None and new is not None and _is_new(key, subject):
        yield from _notable(new, trust=key[0] == _TRUST)
        return
    if (old is None and new and new.unattached) or (new is None and old and old.unattached):
        return  # somebody has it on the other side: that is compared there
    if old is None and new is not None and new.unclear:
        yield _widened(new, AT_DEPLOY, trust=key[0] == _TRUST)
        return
    either = new or old
    if either is not None and not (new is None and either.unclear):
        empty = _Holder(either.path)
        yield from _wider(old or empty, new or empty, trust=key[0] == _TRUST)


def _widened(holder: _Holder, what: str, *, trust: bool) -> Widened:
    return Widened(path=holder.path, what=what, kind="trust" if trust else "permission", source=_SOURCE)


def _is_new(key: _Key, subject: Pair | None) -> bool:
    """Whether a holder was not there, or had the policy that KMS gives a key without one."""
    if subject is None:
        return False
    return subject.before is None or (key[0] == _TRUST and subject.either.type == "AWS::KMS::Key")


def _wider(old: _Holder, new: _Holder, *, trust: bool) -> Iterator[Widened]:
    gained, gained_more = _gained(old, new)
    freed, freed_more = _set_free(old, new)
    outside, outside_more = _outside(old, new)
    # Sets have no order of their own, and a review reads the same each time.
    lines = [each for lead, atoms in (gained | freed).items() for each in sorted(_lines(atoms, lead, trust=trust))]
    more = gained_more or freed_more or outside_more or bool(new.unread - old.unread)
    for what in dict.fromkeys((*lines, *outside, *([AT_DEPLOY] if more else []))):
        yield _widened(new, what, trust=trust)


def _gained(old: _Holder, new: _Holder) -> tuple[dict[str, list[Statement]], bool]:
    """What is allowed and was not, by how a line about it begins; and whether more may be."""
    atoms = [*_without(new.allows, [*old.allows, *new.denies])]
    hidden = frozenset(atoms) if old.unread - new.unread else _hidden(atoms, _without(old.allows, new.allows))
    found: dict[str, list[Statement]] = {}
    for atom in (each for each in atoms if each not in hidden):
        found.setdefault(_lead(atom, [each for each in old.allows if each.reaches(atom)]), []).append(atom)
    return found, bool(hidden)


def _without(some: Iterable[Statement], others: Iterable[Statement]) -> Iterator[Statement]:
    """What statements say that no other one says too."""
    known = frozenset(others)
    for atom in (atom for each in some if each not in known for atom in each.atoms()):
        if not any(each.covers(atom) for each in known):
            yield atom


def _hidden(atoms: Iterable[Statement], by: Iterable[Statement]) -> frozenset[Statement]:
    """Atoms that others may turn out to cover, by what only the deploy decides."""
    others = [*by]
    open_others = [each for each in others if each.is_open]
    found = []
    for atom in atoms:
        candidates = others if atom.is_open else open_others
        if len(candidates) > _MANY or any(each.covers(atom, maybe_within) for each in candidates):
            found.append(atom)
    return frozenset(found)


_MANY: Final = 200
"""Among more than so many nobody looks for the right one: it takes the product of both numbers."""


def _lead(atom: Statement, reaching: list[Statement]) -> str:
    """What is new about it: it was not allowed, or only under conditions."""
    fewer = [each for each in reaching if atom.conditions < each.conditions]
    if fewer:
        gone = min((each.conditions - atom.conditions for each in fewer), key=len)
        return f"may now without the condition {listed(each.text for each in gone)}"
    return "may now under other conditions" if reaching else "may now"


def _set_free(old: _Holder, new: _Holder) -> tuple[dict[str, list[Statement]], bool]:
    """What was denied and is no longer, by how a line about it begins; and whether more may be."""
    atoms = [*_without(old.denies, new.denies)]
    hidden = frozenset(atoms) if new.unread - old.unread else _hidden(atoms, _without(new.denies, old.denies))
    found: dict[str, list[Statement]] = {}
    for atom in (each for each in atoms if each not in hidden):
        lead = "denied under other conditions" if any(e.reaches(atom) for e in new.denies) else "no longer denied"
        found.setdefault(lead, []).append(atom)
    return found, bool(hidden)


def _outside(old: _Holder, new: _Holder) -> tuple[list[str], bool]:
    """What managed policies and boundaries change, whose text is elsewhere; and whether more may change."""
    added, gone = new.managed.keys() - old.managed.keys(), old.managed.keys() - new.managed.keys()
    unclear = {each for each in added if _is_vague(each) or any(maybe_within(each, other) for other in gone)}
    lines = [f"has the managed policy {name} now" for name in sorted(map(_name, added - unclear))]
    before, after = old.boundary, new.boundary
    if before is None or before == after:
        return lines, bool(unclear)
    if _is_vague(before) or (after is not None and maybe_within(after, before)):
        return lines, True
    now = "no permissions boundary" if after is None else f"the permissions boundary {_name(after)}"
    return [*lines, f"has {now} instead of {_name(before)}"], bool(unclear)


def _lines(atoms: Iterable[Statement], lead: str, *, trust: bool) -> Iterator[str]:
    """Lines about atoms, each of as many as it can be true of."""
    by_rest: dict[tuple[frozenset[Condition], Scope, Scope], set[Scope]] = {}
    for atom in atoms:
        by_rest.setdefault((atom.conditions, atom.principals, atom.actions), set()).add(atom.resources)
    by_whom: dict[tuple[frozenset[Condition], Scope, frozenset[Scope]], set[Scope]] = {}
    for (conditions, principal, action), resources in by_rest.items():
        by_whom.setdefault((conditions, principal, frozenset(resources)), set()).add(action)
    by_what: dict[tuple[frozenset[Condition], frozenset[Scope], frozenset[Scope]], set[Scope]] = {}
    for (conditions, principal, on), actions in by_whom.items():
        by_what.setdefault((conditions, frozenset(actions), on), set()).add(principal)
    for (conditions, what, on), whom in by_what.items():
        begin = lead.replace("may now", "now open") if trust else lead
        who = f" to {listed(map(str, whom))}" if trust else ""
        where = "" if trust and on == {EVERYTHING} else f" on {listed(map(str, on))}"
        when = f", if {listed(each.text for each in conditions)}" if conditions else ""
        yield f"{begin}{who}: {listed(map(str, what))}{where}{when}"


# --- What is worth a line although all of it is new ---------------------------------------------------------------

_READS: Final = re.compile(
    r"(get|list|describe|batch(get|check|describe)|head|search|query|scan|lookup|view|check|simulate|estimate|select"
    r"|read|filter|discover)"
)
_USES_OF_KEYS: Final = re.compile(r"kms:(encrypt|decrypt|reencrypt|generatedatakey|generaterandom|sign|verify)")
"""What a key is there for."""
_POWERFUL: Final = frozenset({"iam", "sts", "kms"})
_POWERFUL_POLICIES: Final = re.compile(r"AdministratorAccess|PowerUserAccess|\w+FullAccess")
_ACCOUNT: Final = re.compile(r"AWS (?:arn:[^:]*:(?:iam|sts)::)?(\d{12})(?:\D.*)?")


def _notable(new: _Holder, *, trust: bool) -> Iterator[Widened]:
    """What a reviewer wants to see of a holder that was not there."""
    atoms = [atom for each in new.statements if each.allow for atom in each.atoms()]
    noted = [
        atom
        for atom in atoms
        if (_lets_others_in(atom, new.account) if trust else _is_powerful(atom))
        if not any(each.covers(atom) for each in new.denies)
    ]
    lines = sorted(_lines(noted, "may now", trust=trust))
    lines += [f"has the managed policy {_name(e)} now" for e in new.managed if _POWERFUL_POLICIES.fullmatch(_name(e))]
    for what in lines:
        yield _widened(new, what, trust=trust)


def _is_powerful(atom: Statement) -> bool:
    if atom.actions.but:
        return True
    (action,) = atom.actions.patterns
    service, _, verb = "".join(map(rendered, action.parts)).partition(":")
    if verb == "*" or action.parts == ("*",):
        return True
    writes = not _READS.match(verb)
    if service in _POWERFUL and writes and not _USES_OF_KEYS.match(f"{service}:{verb}"):
        return True
    return writes and (atom.resources.but or atom.resources == EVERYTHING)


def _lets_others_in(atom: Statement, own: str | None) -> bool:
    if atom.principals.but:
        return True
    (principal,) = atom.principals.patterns
    first = principal.parts[0]
    account = _ACCOUNT.fullmatch(first) if isinstance(first, str) else None
    return first == "*" or (account is not None and account[1] != own)
