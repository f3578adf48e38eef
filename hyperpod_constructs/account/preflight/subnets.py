"""Whether imported subnets are there, have room, and are private."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.account.gateway.ec2 import LiveSubnet
from hyperpod_constructs.account.preflight.context import Context, Placed
from hyperpod_constructs.account.preflight.registry import Learned, Said, check, finding, rule
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.network import Subnet
from hyperpod_constructs.planning import addresses

_SOURCE = "SageMaker developer guide, sagemaker-hyperpod-prerequisites (October 2026)"

ABSENT = rule(
    "HP9050",
    Severity.ERROR,
    title="Imported subnet does not exist in the account and Region",
    because="a cluster in a subnet that is not there is refused",
    source="EC2 API, DescribeSubnets",
)
FULL = rule(
    "HP9051",
    Severity.ERROR,
    title="Imported subnet has fewer free addresses than its nodes take",
    because="nodes without an address fail with 'Failed to create Customer ENI'; a subnet cannot be resized",
    source=_SOURCE,
)
MAY_BE_FULL = rule(
    "HP9052",
    Severity.WARNING,
    title="Imported subnet probably has fewer free addresses than its nodes take",
    because="the number that a node takes is documented for p5.48xlarge only; for other types it follows from the "
    "number of network cards",
    source=_SOURCE,
)
SHARED = rule(
    "HP9053",
    Severity.INFO,
    title="Imported subnet belongs to another account",
    because="whoever uses a shared subnet can create no endpoints, routes, route tables or flow logs there",
    source="VPC user guide, vpc-sharing",
)
NOT_OURS = rule(
    "HP9054",
    Severity.ERROR,
    title="Deployment adds network parts to a VPC that belongs to another account",
    because="only the owner of a shared VPC can create endpoints, routes and route table associations in it",
    source="VPC user guide, vpc-sharing",
)
PUBLIC = rule(
    "HP9055",
    Severity.ERROR,
    title="Imported subnet is a public one",
    because="nodes must stand in private subnets: in one that gives out public addresses the creation fails",
    source=f"{_SOURCE}; awslabs/awsome-distributed-ai, validate-config.py",
)
OTHER_ZONE = rule(
    "HP9056",
    Severity.WARNING,
    title="Imported subnet is in another zone than the code says",
    because="checks of plans and file systems at synth believe the code",
    source="EC2 API, DescribeSubnets",
)
SEVERAL_VPCS = rule(
    "HP9057",
    Severity.ERROR,
    title="Imported subnets of one cluster lie in several VPCs",
    because="a cluster is in one VPC",
    source="SageMaker API, VpcConfig",
)


@check("subnets")
def subnets_are_there(context: Context) -> Iterator[Said]:
    there, paths = context.subnets(), context.users(lambda placed: placed.subnets)
    for each, path in paths.items():
        if each not in there:
            message = f"there is no subnet {each} in account {context.account}, {context.region}"
            yield finding(ABSENT, path, message, "check the id, --region and --profile")
            continue
        subnet = there[each]
        yield _learned(subnet)
        if subnet.owner != context.account:
            yield from _shared(context, subnet, path)
        if subnet.public:
            message = f"{each} gives instances public addresses (MapPublicIpOnLaunch)"
            yield finding(PUBLIC, path, message, "use a private subnet, with a route to a NAT gateway or endpoints")
        said = context.deployment.subnet(each)
        if isinstance(said, Subnet) and isinstance(said.zone, str) and said.zone != subnet.zone:
            message = f"{each} is in {subnet.zone}, the code says {said.zone}"
            yield finding(OTHER_ZONE, path, message, f"say zone {subnet.zone}, or use a subnet in {said.zone}")
    yield from _in_one_vpc(context, there)


def _shared(context: Context, subnet: LiveSubnet, path: str) -> Iterator[Said]:
    added = _added_to(context, subnet)
    if added:
        yield finding(
            NOT_OURS,
            path,
            f"{subnet.vpc} belongs to account {subnet.owner}, but the deployment adds {', '.join(added)}",
            "leave them out and let the owner make them; nodes need a way to S3 from their subnet",
        )
        return
    message = f"{subnet.id} belongs to account {subnet.owner}, which shares it with {context.account}"
    yield finding(SHARED, path, message, "nothing; endpoints, routes and flow logs are the owner's to make")


def _added_to(context: Context, subnet: LiveSubnet) -> list[str]:
    """Paths of what the deployment makes in the VPC of a subnet."""
    routing = context.deployment.routing
    tables = {each.path for each in routing.tables if each.vpc == subnet.vpc}
    return [
        *(each.path for each in routing.endpoints if each.vpc == subnet.vpc),
        *(each.path for each in routing.associations if each.subnet == subnet.id),
        *sorted(tables),
    ]


def _in_one_vpc(context: Context, there: dict[str, LiveSubnet]) -> Iterator[Said]:
    for cluster in context.clusters:
        vpcs: dict[str, str] = {}
        for placed in context.placed():
            if placed.cluster == cluster:
                vpcs |= {there[each].vpc: each for each in placed.subnets if each in there}
        if len(vpcs) > 1:
            places = ", ".join(f"{subnet} in {vpc}" for vpc, subnet in sorted(vpcs.items()))
            yield finding(SEVERAL_VPCS, cluster.path, f"the subnets lie in several VPCs: {places}", "use one VPC")


@check("free addresses")
def subnets_have_room(context: Context) -> Iterator[Said]:
    there = context.subnets()
    wanted: dict[tuple[str, ...], list[Placed]] = {}
    for placed in context.placed():
        known = placed.subnets and all(each in there for each in placed.subnets)
        if known and not any(context.deployment.subnet(path) for path in placed.made):
            wanted.setdefault(placed.subnets, []).append(placed)
    for ids, groups in wanted.items():
        yield from _room([there[each] for each in ids], [(placed, *_taken(context, placed)) for placed in groups])


def _room(subnets: list[LiveSubnet], counted: list[tuple[Placed, int, bool]]) -> Iterator[Said]:
    """HyperPod picks one of the subnets of a placement: with several, the one with most room may be it."""
    widest = max(subnets, key=lambda subnet: subnet.free)
    needed = sum(taken for _, taken, _ in counted)
    if needed <= widest.free:
        return
    certain = sum(taken for _, taken, documented in counted if documented)
    first = counted[0][0]
    parts = ", ".join(f"{placed.group.name} {taken:,}" for placed, taken, _ in counted if taken)
    yield finding(
        FULL if certain > widest.free else MAY_BE_FULL,
        first.path if len(counted) == 1 else first.cluster.path,
        f"{widest.id} ({widest.cidr}) has {widest.free:,} free addresses, the nodes take {needed:,} more ({parts})",
        "use a subnet with more room (a subnet cannot be resized and a cluster cannot move), or fewer nodes",
    )


def _taken(context: Context, placed: Placed) -> tuple[int, bool]:
    """Addresses that a group takes beside those that it has already, and whether the number is documented."""
    each = addresses.per_node(placed.group, placed.cluster.orchestrator)
    counts = [found.count for found in each.values()]
    if not counts or not isinstance(placed.group.instances, int):
        return 0, True
    use = context.own().get(placed.cluster.path)
    own = sum(group.instances for group in use.groups if group.group == placed.group.name) if use else 0
    more = max(0, placed.group.instances - own)
    one = len(set(counts)) == 1
    return more * min(counts), one and all(found.documented or found.count == 1 for found in each.values())


def _learned(subnet: LiveSubnet) -> Learned:
    return Learned(
        section="subnets",
        name=subnet.id,
        facts={
            "vpc": subnet.vpc,
            "owner": subnet.owner,
            "zone": subnet.zone,
            "cidr": subnet.cidr,
            "free": subnet.free,
            "public": subnet.public,
        },
    )
