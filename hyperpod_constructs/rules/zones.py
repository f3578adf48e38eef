"""What can be known about zones before anything is created: which ones are meant, and what stands apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hyperpod_constructs.catalog import regions, zones
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._places import (
    PREREQUISITES,
    different_zones,
    has_efa,
    known_subnets,
    lustre_mounts,
)
from hyperpod_constructs.rules._words import any_of, named

_ASK_AWS: Final = "aws ec2 describe-instance-type-offerings --location-type availability-zone-id"


def _literal_name(subnet: Subnet) -> str | None:
    """The zone name that a subnet is given, where it is written out."""
    return subnet.zone_name.text if subnet.zone_name and subnet.zone_name.literal else None


# --- Which zones are meant


@rule(
    "HP4013",
    Severity.ERROR,
    title="Zone id where a zone name belongs, or the other way round",
    because="EC2 takes ids such as usw2-az2 as AvailabilityZoneId alone, and names such as us-west-2b as "
    "AvailabilityZone alone",
    source="EC2 user guide, AZ IDs; AWS::EC2::Subnet reference",
)
def zones_are_what_their_property_takes(deployment: Deployment) -> Iterator[Problem]:
    for subnet in deployment.subnets:
        zone, name = subnet.zone, _literal_name(subnet)
        # Other forms are left alone: Wavelength and Outposts have ids and names of their own.
        if isinstance(zone, str) and (zones.is_zone_name(zone) or zone in regions.names()):
            ids = "an id such as usw2-az2; `aws ec2 describe-availability-zones` prints names and ids"
            fix = f"use AvailabilityZone: {zone}, or {ids}" if zones.is_zone_name(zone) else f"use {ids}"
            yield Problem(path=subnet.path, message=f"AvailabilityZoneId is {zone!r}, which is no zone id", fix=fix)
        if name is not None and (regions.is_zone_id(name) or name in regions.names()):
            fix = f"use AvailabilityZoneId: {name}" if regions.is_zone_id(name) else "use a name such as us-west-2b"
            yield Problem(path=subnet.path, message=f"AvailabilityZone is {name!r}, which is no zone name", fix=fix)


def _regional_zones(deployment: Deployment, cluster: Cluster) -> Iterator[tuple[str, object]]:
    """Path and zone of everything that a cluster needs in its own Region."""
    for group in cluster.groups:
        by_id = isinstance(group.zone, str) and regions.is_zone_id(group.zone)
        yield cluster.path_of(group), group.zone if by_id else None
    placements = [cluster.placement, *(group.placement for group in cluster.groups)]
    subnets = [placement.subnets for placement in placements if isinstance(placement, VpcPlacement)]
    subnets += [file_system.subnets for _, file_system in lustre_mounts(deployment, cluster)]
    for paths in subnets:
        yield from _zones_of(known_subnets(deployment, paths))


def _zones_of(subnets: Iterable[Subnet]) -> Iterator[tuple[str, object]]:
    """Path and zone of subnets, by id or by name. A name in the place of an id is no id: that is another rule's."""
    for subnet in subnets:
        by_id = isinstance(subnet.zone, str) and regions.is_zone_id(subnet.zone)
        yield subnet.path, subnet.zone if by_id else _literal_name(subnet)


def _placed(deployment: Deployment) -> Iterator[tuple[str, str | None, Iterable[tuple[str, object]]]]:
    """What stands in zones, its Region, and the zones by path of what names them."""
    for cluster in deployment.clusters:
        yield "the cluster", cluster.region, _regional_zones(deployment, cluster)
    for file_system in deployment.file_systems:
        its_zones = _zones_of(known_subnets(deployment, file_system.subnets))
        yield f"file system {file_system.path}", file_system.region, its_zones
    for subnet in deployment.subnets:
        yield "its stack", subnet.region, _zones_of([subnet])


@rule(
    "HP4007",
    Severity.ERROR,
    title="Zone is in another Region than what stands there",
    because="a zone belongs to one Region, and Region and zone are written in different places",
    source="EC2 user guide, AZ IDs; awslabs/ai-on-sagemaker-hyperpod issue 142",
)
def zones_are_of_the_region(deployment: Deployment) -> Iterator[Problem]:
    told: set[tuple[str, object]] = set()
    for what, region, places in _placed(deployment):
        prefix = region and regions.zone_prefix(region)
        for path, zone in places if prefix else ():
            its_region = zones.region_of(zone) if isinstance(zone, str) else None
            if its_region in {None, region} or (path, zone) in told:
                continue
            told.add((path, zone))
            kind, form = ("id", f"{prefix}-") if regions.is_zone_id(str(zone)) else ("name", str(region))
            yield Problem(
                path=path,
                message=f"zone {zone} is in {its_region} but {what} is in {region}",
                fix=f"use a zone {kind} that begins with {form}, or deploy to {its_region}",
            )


def _named_zones(deployment: Deployment) -> Iterator[tuple[str, str]]:
    """Every zone id that somebody wrote, with the path of what has it."""
    for subnet in deployment.subnets:
        if isinstance(subnet.zone, str):
            yield subnet.path, subnet.zone
    for _, group, path in deployment.groups():
        if isinstance(group.zone, str):
            yield path, group.zone


@rule(
    "HP4014",
    Severity.WARNING,
    title="Zone is not one that we know in its Region",
    because="a slip in a zone id shows only when EC2 refuses the subnet; AWS adds zones, so this is advice",
    source="EC2 DescribeAvailabilityZones and DescribeInstanceTypeOfferings, as copied by moto 5.2.5",
)
def zones_are_known(deployment: Deployment) -> Iterator[Problem]:
    for path, zone in dict.fromkeys(_named_zones(deployment)):
        region = regions.region_of_zone(zone)
        known = zones.known(region) if region else ()
        if known and zone not in known and not zones.is_local(zone):
            yield Problem(
                path=path,
                message=f"zone {zone} is not one that we know in {region}",
                fix=f"use {any_of(known)}, or see that `aws ec2 describe-availability-zones --region {region}` has it",
            )


# --- What a zone has


@rule(
    "HP4012",
    Severity.WARNING,
    title="Instance type is not known to be offered in its zone",
    because="a Region has many types in some of its zones only, and what a cluster then reports is a lack of capacity; "
    "AWS moves types into zones all the time, so this is advice",
    source="EC2 DescribeInstanceTypeOfferings by zone id, as copied by moto 5.2.5: EC2's offers, of which HyperPod has "
    "no list of its own; awslabs/awsome-distributed-ai issue 204",
)
def types_are_offered_in_their_zone(deployment: Deployment) -> Iterator[Problem]:
    for cluster, group, path in deployment.groups():
        zone = deployment.zone_of_group(cluster, group) if group.instances != 0 else None
        region = zones.region_of(zone) if zone else None
        names = _types(group)
        offers = {name: zones.zones_with(name, region) for name in names} if region else {}
        # Of several types to choose from one that is offered is enough; a zone that is not listed tells nothing.
        if not region or zone not in zones.known(region) or not names or any(zone in each for each in offers.values()):
            continue
        elsewhere = sorted({each for offered in offers.values() for each in offered})
        ec2_types = ",".join(name.removeprefix("ml.") for name in names)
        yield Problem(
            path=path,
            message=f"{named(group)} has {' or '.join(names)}, which is not known to be offered in {zone}",
            fix=f"use {any_of(elsewhere)}, or see what `{_ASK_AWS} --region {region} --filters "
            f"Name=instance-type,Values={ec2_types}` prints",
        )


def _types(group: InstanceGroup) -> tuple[str, ...]:
    """Names of the types of which the nodes of a group may be; none unless all of them are known."""
    if isinstance(group.instance_type, str):
        return (group.instance_type,)
    flexible = group.flexible_types if isinstance(group.flexible_types, tuple) else ()
    return flexible if all(isinstance(each, str) for each in flexible) else ()


# --- What should stand together


@rule(
    "HP4006",
    Severity.WARNING,
    title="Group with EFA spans zones",
    because="EFA traffic cannot leave a zone, so nodes in different zones cannot train together",
    source="EC2 user guide, efa; aws/aws-parallelcluster PR 4631",
)
def efa_group_stays_in_one_zone(deployment: Deployment) -> Iterator[Problem]:
    for _, group, path in deployment.groups():
        placement = group.placement
        apart = different_zones(deployment, placement.subnets) if isinstance(placement, VpcPlacement) else []
        if apart and has_efa(group):
            yield Problem(
                path=path,
                message=f"{named(group)} has EFA and subnets in {len(apart)} zones: {', '.join(apart)}",
                fix=f"name subnets of one zone ({' or '.join(apart)}) in OverrideVpcConfig, or make a group for each",
            )


@rule(
    "HP4010",
    Severity.WARNING,
    title="Cluster has subnets in several zones",
    because="HyperPod picks one of the subnets for all groups, perhaps not in the zone of file system or training plan",
    source=PREREQUISITES,
)
def cluster_stands_in_one_zone(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        placement = cluster.placement
        apart = different_zones(deployment, placement.subnets) if isinstance(placement, VpcPlacement) else []
        if apart:
            yield Problem(
                path=cluster.path,
                message=f"the cluster has subnets in {len(apart)} zones: {', '.join(apart)}",
                fix="name subnets of one zone in VpcConfig, and give groups that stand elsewhere an OverrideVpcConfig",
            )


def _apart(
    deployment: Deployment, cluster: Cluster, group: InstanceGroup, file_system: FileSystem
) -> tuple[str, str] | None:
    """Zones of a file system and of a group's nodes, if all of them certainly stand in another zone."""
    its_zone = deployment.zone_of(VpcPlacement(subnets=file_system.subnets, security_groups=()))
    zone = deployment.zone_of_group(cluster, group)
    if its_zone and zone:
        return (its_zone, zone) if its_zone != zone else None
    placement = cluster.placement_of(group)
    given = placement.subnets if isinstance(placement, VpcPlacement) and group.zone is None else ()
    paths = given if isinstance(given, tuple) else ()
    nodes, servers = known_subnets(deployment, paths), known_subnets(deployment, file_system.subnets)
    if not nodes or len(servers) != 1 or len(nodes) != len(paths):
        return None
    shown = sorted({subnet.shown_zone or "" for subnet in nodes})
    all_apart = all(subnet.apart_from(servers[0]) for subnet in nodes)
    return (servers[0].shown_zone or "", " or ".join(shown)) if all_apart else None


@rule(
    "HP4008",
    Severity.WARNING,
    title="Nodes mount a Lustre file system of another zone",
    because="every read crosses zones, which is slower and charged, and EFA falls back to TCP without a word",
    source="FSx for Lustre user guide, efa-file-systems; aws/aws-parallelcluster PR 4631",
)
def lustre_is_in_the_zone_of_its_nodes(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        apart: dict[tuple[str, str, str], list[InstanceGroup]] = {}
        for group, file_system in lustre_mounts(deployment, cluster):
            if places := _apart(deployment, cluster, group, file_system):
                apart.setdefault((file_system.path, *places), []).append(group)
        for (path, its_zone, zone), groups in apart.items():
            yield Problem(
                path=cluster.path_of(groups[0]) if len(groups) == 1 else cluster.path,
                message=f"{named(*groups)} in {zone} mount{'s' * (len(groups) == 1)} {path}, which is in {its_zone}"
                f"{_without_efa(deployment.file_system(path), groups)}",
                fix=f"put nodes and file system in one zone, {zone} or {its_zone}, by Subnets and SubnetIds (zone= in "
                "Python)",
            )


def _without_efa(file_system: FileSystem | None, groups: list[InstanceGroup]) -> str:
    wanted = file_system is not None and file_system.lustre.efa is True and any(has_efa(group) for group in groups)
    return ": its EFA cannot be used" if wanted else ""
