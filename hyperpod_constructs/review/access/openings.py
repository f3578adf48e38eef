"""What a change lets through the network that it did not: security groups, endpoints of EKS, buckets and subnets.

Rules are compared by group, whether they stand in it or are resources of their own. One is new unless rules that were
there let the same through. Sources: VPC user guide, security-group-rules; AWS::EC2::SecurityGroup reference; EKS user
guide, cluster-endpoint; S3 user guide, access-control-block-public-access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Final, Literal, TypeAlias

from hyperpod_constructs.cloudformation.values import Reference
from hyperpod_constructs.review.access.written import AT_DEPLOY, Pattern, Side, Symbol, Tree, Widened, items_of, key_of
from hyperpod_constructs.review.comparison import Comparison, Pair

_GROUPS: Final = "VPC user guide, security-group-rules"
_EKS: Final = "EKS user guide, cluster-endpoint"
_S3: Final = "S3 user guide, access-control-block-public-access"
_SUBNETS: Final = "VPC user guide, subnet-public-ip"


def of(comparison: Comparison) -> tuple[Widened, ...]:
    """What is open in the head and not in the base."""
    sides = Side(comparison, head=False), Side(comparison, head=True)
    found = dict.fromkeys(_of_groups(*sides))
    for pair in comparison.pairs:
        look = _LOOKS.get(pair.either.type)
        if look is not None and pair.after is not None:
            found |= dict.fromkeys(look(*sides, pair))
    return tuple(found)


def _widened(path: str, what: str, source: str) -> Widened:
    return Widened(path=path, what=what, kind="network", source=source)


# --- Rules of security groups ------------------------------------------------------------------------------------

_Direction: TypeAlias = Literal["in", "out"]
_Block: TypeAlias = IPv4Network | IPv6Network

_PROTOCOLS: Final = {"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6", "all": "-1"}
"""Names that EC2 itself shows for protocol numbers. Source: EC2 API, IpPermission."""
_ALL: Final = Pattern(("-1",), "-1")
_PORTS: Final = (0, 65_535)
_WIDE: Final = {4: 16, 6: 32}
"""Prefix lengths, by version, from which up a public block is that of more than one organisation's site: our choice."""
_BLOCKS: Final = ("CidrIp", "CidrIpv6")
_GROUP_PEERS: Final = ("SourceSecurityGroupId", "SourceSecurityGroupName", "DestinationSecurityGroupId")
_LISTS: Final = ("SourcePrefixListId", "DestinationPrefixListId")
_SECURITY_GROUP: Final = "AWS::EC2::SecurityGroup"
_INLINE: Final[dict[str, _Direction]] = {"SecurityGroupIngress": "in", "SecurityGroupEgress": "out"}
"""Properties of a group that hold rules; resources of these names hold one each."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule.

    Attributes:
        direction: Whom it lets through.
        protocol: `-1` for all.
        first: First port; `None` for all.
        last: Last port.
        peer: A block, or what else names a peer; `itself` for the group that the rule belongs to.
        said: The peer for the reader.
    """

    direction: _Direction
    protocol: Pattern
    first: Pattern | None
    last: Pattern | None
    peer: _Block | Pattern
    said: str = field(compare=False)

    @property
    def ports(self) -> tuple[int, int] | None:
        """The ports; `None` where they are not known, or are a type and a code of ICMP."""
        if self.protocol == _ALL or self.first is None or self.first.text == "-1":
            return _PORTS
        first, last = self.first.text, (self.last or self.first).text
        return (int(first), int(last)) if first.isdecimal() and last.isdecimal() else None

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """What of it may be known only at deploy."""
        return tuple(each for each in (self.protocol, self.first, self.last, self.peer) if isinstance(each, Pattern))

    def __str__(self) -> str:
        ends = [each.text for each in (self.first, self.last) if each is not None]
        ports = "" if self.ports == _PORTS else " " + "-".join(dict.fromkeys(ends))
        through = "all traffic" if self.protocol == _ALL else f"{self.protocol.text}{ports}"
        return f"{through} {'from' if self.direction == 'in' else 'to'} {self.said}"


_Key: TypeAlias = "tuple[str, str] | str"
"""Stack and logical id of a group, or what names one that is no resource of the assembly."""


@dataclass(slots=True)
class _Group:
    """The rules of one group.

    Attributes:
        path: Construct path of the group; that of a rule where the group is no resource of the assembly.
        unclear: Whether only the deploy says which group it is.
        rules: All that can be read.
        unread: The others.
    """

    path: str
    unclear: bool = False
    rules: dict[_Rule, None] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)


def _of_groups(base: Side, head: Side) -> Iterator[Widened]:
    before, after = _groups(base), _groups(head)
    for key, group in after.items():
        pair = head.comparison.by_id.get(key) if isinstance(key, tuple) else None
        old = before.get(key)
        if old is None and pair is not None:  # every group that was there has an entry
            found = [f"now lets in {rule}" for rule in group.rules if _is_wide(rule)]
        elif old is None and group.unclear:
            found = [AT_DEPLOY]
        else:
            # Nobody sees the other rules of a group that is no resource of the assembly.
            found = [*_new_rules(old or _Group(group.path), group, "now lets" if pair else "has a new rule that lets")]
        yield from (_widened(group.path, what, _GROUPS) for what in found)


def _new_rules(old: _Group, new: _Group, lead: str) -> Iterator[str]:
    """What a group lets through that it did not, in lines that begin alike."""
    lost = [rule for rule in old.rules if not _covered(rule, new.rules)]
    more = bool(new.unread - old.unread)
    for rule in new.rules:
        if _covered(rule, old.rules):
            continue
        if old.unread - new.unread or any(_may_cover(each, rule) for each in lost):
            more = True
        else:
            yield f"{lead} {rule.direction} {rule}"
    if more:
        yield AT_DEPLOY


def _covered(rule: _Rule, others: Iterable[_Rule]) -> bool:
    """Whether other rules let through all that a rule does: together, be it blocks or ports that add up."""
    speak = [each for each in others if each.direction == rule.direction and each.protocol in (_ALL, rule.protocol)]
    with_ports = [each.peer for each in speak if _has_ports(each, rule)]
    with_peer = [each.ports for each in speak if _has_peer([each.peer], rule.peer)]
    return _has_peer(with_ports, rule.peer) or _adds_up([each for each in with_peer if each], rule.ports)


def _has_ports(wide: _Rule, narrow: _Rule) -> bool:
    if wide.ports is None or narrow.ports is None:
        return wide.ports == _PORTS or (wide.first, wide.last) == (narrow.first, narrow.last)
    return wide.ports[0] <= narrow.ports[0] and narrow.ports[1] <= wide.ports[1]


def _has_peer(peers: Iterable[_Block | Pattern], wanted: _Block | Pattern) -> bool:
    found = [*peers]
    match wanted:
        case IPv4Network():
            return any(map(wanted.subnet_of, collapse_addresses(e for e in found if isinstance(e, IPv4Network))))
        case IPv6Network():
            return any(map(wanted.subnet_of, collapse_addresses(e for e in found if isinstance(e, IPv6Network))))
        case _:
            return wanted in found


def _adds_up(ranges: Iterable[tuple[int, int]], wanted: tuple[int, int] | None) -> bool:
    """Whether ranges of ports together hold another one."""
    if wanted is None:
        return False
    missing = wanted[0]
    for first, last in sorted(ranges):
        if first <= missing <= last:
            missing = last + 1
    return missing > wanted[1]


def _may_cover(old: _Rule, new: _Rule) -> bool:
    """Whether an old rule may turn out to be the new one, by what only the deploy decides."""
    opens = [frozenset(part for each in rule.patterns for part in each.opens) for rule in (old, new)]
    if old.direction != new.direction or not opens[0] ^ opens[1]:
        return False
    protocol = old.protocol in (_ALL, new.protocol) or bool(old.protocol.opens | new.protocol.opens)
    ports = _has_ports(old, new) or _is_open(old.first, old.last, new.first, new.last)
    return protocol and ports and (_has_peer([old.peer], new.peer) or _is_open(old.peer, new.peer))


def _is_open(*parts: _Block | Pattern | None) -> bool:
    return any(isinstance(each, Pattern) and each.opens for each in parts)


def _is_wide(rule: _Rule) -> bool:
    """Whether it lets in the whole internet or much of it."""
    block = rule.peer
    if rule.direction != "in" or isinstance(block, Pattern):
        return False
    return block.prefixlen == 0 or (block.prefixlen < _WIDE[block.version] and block.is_global)


def _groups(side: Side) -> dict[_Key, _Group]:
    """The groups of one side with all of their rules."""
    there = [(pair, resource) for pair in side.comparison.pairs if (resource := side.of(pair)) is not None]
    found: dict[_Key, _Group] = {}
    for pair, resource in there:
        if resource.type == _SECURITY_GROUP:
            group = found[pair.id] = _Group(resource.path)
            for name, direction in _INLINE.items():
                _add(group, side.tree(pair, name), direction, pair.id, side)
    for pair, resource in there:
        separate = _INLINE.get(resource.type.removeprefix("AWS::EC2::"))
        if separate is not None:
            named = side.tree(pair, "GroupId") or side.tree(pair, "GroupName")
            key, unclear = _group_of(named, side), not isinstance(named, Pattern) or _is_open(named)
            whole: Tree = {part: tree for part in _PARTS if (tree := side.tree(pair, part)) is not None}
            _add(found.setdefault(key, _Group(resource.path, unclear=unclear)), whole, separate, key, side)
    if not side.head:  # nobody knows whether the default comes back where all egress rules go
        for group in (each for key, each in found.items() if isinstance(key, tuple) and _has_default_egress(each)):
            group.rules |= dict.fromkeys(_DEFAULT_EGRESS)
    return found


def _has_default_egress(group: _Group) -> bool:
    return not any(rule.direction == "out" for rule in group.rules) and not group.unread


_PARTS: Final = ("IpProtocol", "FromPort", "ToPort", *_BLOCKS, *_GROUP_PEERS, *_LISTS)
_DEFAULT_EGRESS: Final = tuple(
    _Rule("out", _ALL, None, None, ip_network(block), block) for block in ("0.0.0.0/0", "::/0")
)
"""What EC2 gives a group without egress rules. Source: AWS::EC2::SecurityGroupEgress reference."""


def _add(group: _Group, rules: Tree, direction: _Direction, own: _Key, side: Side) -> None:
    """Adds rules to a group."""
    for tree in items_of(rules):
        rule = _rule(tree, direction, own, side)
        if rule is None:
            group.unread.add(f"{direction} {key_of(tree)}")
        else:
            group.rules[rule] = None


def _rule(tree: Tree, direction: _Direction, own: _Key, side: Side) -> _Rule | None:
    if not isinstance(tree, dict) or not all(isinstance(tree.get(name), Pattern | None) for name in _PARTS):
        return None
    given: dict[str, Pattern] = {name: each for name, each in tree.items() if isinstance(each, Pattern)}
    peer = _peer(given, own, side)
    if peer is None or "IpProtocol" not in given:
        return None
    protocol = given["IpProtocol"]
    if not protocol.opens:
        name = _PROTOCOLS.get(protocol.text.lower(), protocol.text.lower())
        protocol = Pattern((name,), name)
    return _Rule(direction, protocol, given.get("FromPort"), given.get("ToPort"), *peer)


def _peer(given: Mapping[str, Pattern], own: _Key, side: Side) -> tuple[_Block | Pattern, str] | None:
    """Whom a rule lets through, and how to say it."""
    for name in (each for each in (*_BLOCKS, *_GROUP_PEERS, *_LISTS) if each in given):
        peer = given[name]
        if name in _BLOCKS:
            block = _block(peer, side)
            return block, str(block) if not isinstance(block, Pattern) else peer.text
        if name in _LISTS:
            return Pattern(("prefix list ", *peer.parts), ""), f"prefix list {peer.text}"
        key = _group_of(peer, side)
        return (_ITSELF, "itself") if key == own else (Pattern((repr(key), *_opens(peer)), ""), peer.text)
    return None


_ITSELF: Final = Pattern(("itself",), "itself")


def _opens(pattern: Pattern) -> tuple[Symbol, ...]:
    return tuple(pattern.opens)


def _block(peer: Pattern, side: Side) -> _Block | Pattern:
    """The block of a peer, also where that is the block of a VPC or subnet of the assembly."""
    part = peer.parts[0] if len(peer.parts) == 1 else None
    if isinstance(part, Reference) and part.attribute == "CidrBlock":
        resource = side.resource(part)
        properties = resource.properties if resource is not None else None
        part = properties.get("CidrBlock") if isinstance(properties, dict) else None  # type: ignore[assignment]
    try:
        return ip_network(part, strict=False) if isinstance(part, str) else peer
    except ValueError:
        return peer


def _group_of(tree: Tree, side: Side) -> _Key:
    """What tells a group from others."""
    part = tree.parts[0] if isinstance(tree, Pattern) and len(tree.parts) == 1 else None
    if isinstance(part, Reference) and part.attribute in (None, "GroupId"):
        resource = side.resource(part)
        if resource is not None and resource.type == _SECURITY_GROUP:
            return part.stack, part.logical_id
    return key_of(tree)


# --- Endpoints, buckets and subnets ------------------------------------------------------------------------------

_ANYWHERE: Final = "0.0.0.0/0"
_BLOCKED: Final = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")


def _endpoint(base: Side, head: Side, pair: Pair) -> Iterator[Widened]:
    """The API endpoint of an EKS cluster, which is public unless a template says otherwise."""
    before, after = (_endpoint_blocks(side, pair) for side in (base, head))
    path = pair.either.path
    if after is None or (before is not None and before == after):
        return
    if pair.before is None:
        if ip_network(_ANYWHERE) in after:
            yield _widened(path, f"its API endpoint is open to {_ANYWHERE}", _EKS)
        return
    old = before or ()
    new = [each for each in after if not _has_peer(old, each)]
    if any(map(_is_open, (*new, *(each for each in old if each not in after)))) and new:
        yield _widened(path, f"its public API endpoint {AT_DEPLOY}", _EKS)
    elif new:
        blocks = ", ".join(sorted(each.text if isinstance(each, Pattern) else str(each) for each in new))
        yield _widened(path, f"its API endpoint is open to {blocks} now", _EKS)


def _endpoint_blocks(side: Side, pair: Pair) -> tuple[_Block | Pattern, ...] | None:
    """Whom the endpoint is open to; `None` where it is private."""
    config = side.tree(pair, "ResourcesVpcConfig")
    given = config if isinstance(config, dict) else {}
    public, blocks = given.get("EndpointPublicAccess"), given.get("PublicAccessCidrs")
    if side.of(pair) is None or (isinstance(public, Pattern) and public.text.lower() == "false"):
        return None
    found = [each for each in items_of(blocks) if isinstance(each, Pattern)] or [Pattern((_ANYWHERE,), _ANYWHERE)]
    if isinstance(config, Pattern):
        found = [config]
    elif isinstance(public, Pattern) and public.opens:
        found.append(public)
    return tuple(_block(each, side) for each in found)


def _bucket(base: Side, head: Side, pair: Pair) -> Iterator[Widened]:
    """Settings that keep a bucket from becoming public."""
    before, after = (_settings(side.tree(pair, "PublicAccessBlockConfiguration")) for side in (base, head))
    off = [name for name in _BLOCKED if after[name] == "false" and before[name] != "false"]
    gone = [name for name in _BLOCKED if after[name] is None and before[name] == "true"]
    unknown = [
        name
        for name in _BLOCKED
        if before[name] not in (after[name], "false") and after[name] not in ("true", "false")
        if not {before[name], after[name]} <= {None, "true", "false"}
    ]
    if off:
        yield _widened(pair.either.path, f"does not keep the public out: {', '.join(off)} false", _S3)
    if gone:
        yield _widened(pair.either.path, f"no longer keeps the public out: without {', '.join(gone)}", _S3)
    if unknown and pair.before is not None:
        yield _widened(pair.either.path, f"its {', '.join(unknown)} {AT_DEPLOY}", _S3)


def _settings(tree: Tree) -> dict[str, str | None]:
    given = tree if isinstance(tree, dict) else dict.fromkeys(_BLOCKED, tree)
    return {name: None if given.get(name) is None else _text(given[name]) for name in _BLOCKED}


def _text(tree: Tree) -> str:
    return tree.text.lower() if isinstance(tree, Pattern) and not tree.opens else key_of(tree)


def _subnet(base: Side, head: Side, pair: Pair) -> Iterator[Widened]:
    """Public addresses for what is made in a subnet."""
    before, after = (side.tree(pair, "MapPublicIpOnLaunch") for side in (base, head))
    if pair.before is None or after is None or key_of(before) == key_of(after) or _text(after) == "false":
        return
    if _text(after) == "true" and (before is None or _text(before) == "false"):
        yield _widened(pair.either.path, "gives network interfaces public addresses now", _SUBNETS)
    elif _text(after) != "true" or (before is not None and _text(before) != "true"):
        yield _widened(pair.either.path, f"its MapPublicIpOnLaunch {AT_DEPLOY}", _SUBNETS)


_LOOKS: Final[dict[str, Callable[[Side, Side, Pair], Iterator[Widened]]]] = {
    "AWS::EKS::Cluster": _endpoint,
    "AWS::S3::Bucket": _bucket,
    "AWS::EC2::Subnet": _subnet,
}
