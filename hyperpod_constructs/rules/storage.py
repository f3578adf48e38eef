"""What can be known about file systems before anything is created.

FSx refuses what it does not sell only after the network was built, and a file system that CloudFormation deletes is
gone with everything that a run has written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

from hyperpod_constructs.catalog import lustre as catalog
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import SecurityGroup, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem, Lustre
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._words import named
from hyperpod_constructs.tokens import UNKNOWN, known

_LUSTRE_API: Final = "FSx API, CreateFileSystemLustreConfiguration (botocore 1.44.8)"
_EFA_GUIDE: Final = "FSx for Lustre user guide, efa-file-systems and getting-started (October 2026)"


def _offered(deployment: Deployment) -> Iterator[tuple[FileSystem, Lustre, catalog.Offer]]:
    """File systems whose types are known and go together, with what can be bought as such."""
    for file_system in deployment.file_systems:
        lustre = file_system.lustre
        deployment_type, storage_type = lustre.deployment_type, lustre.storage_type
        if not isinstance(deployment_type, str) or not isinstance(storage_type, str):
            continue
        offer = catalog.find(deployment_type, storage_type)
        if offer is not None:
            yield file_system, lustre, offer


def _kind(lustre: Lustre) -> str:
    """How a message names the types: `PERSISTENT_2`, `PERSISTENT_1 on HDD`."""
    return f"{lustre.deployment_type}" + (f" on {lustre.storage_type}" if lustre.storage_type != "SSD" else "")


def _either(numbers: Iterable[int]) -> str:
    """One or two numbers in words: `1,200`, `2,400 or 4,800`."""
    return " or ".join(f"{number:,}" for number in numbers)


# --- What FSx sells


@rule(
    "HP3001",
    Severity.ERROR,
    title="Lustre capacity is not one that its type can have",
    because="FSx sells capacity in steps, which are larger with EFA, and refuses what lies between them",
    source=f"FSx API, CreateFileSystem, StorageCapacity; {_EFA_GUIDE}",
)
def lustre_capacity_is_a_step(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in _offered(deployment):
        capacity, efa = lustre.capacity_gib, lustre.efa is True and offer.efa
        capacities = offer.capacities_for(known(lustre.throughput_mbps_per_tib), efa=efa)
        if capacities is None or not offer.capacities or capacity is UNKNOWN:
            continue
        at = f" at {lustre.throughput_mbps_per_tib} MB/s/TiB"
        kind = _kind(lustre) + (f" with EFA{at}" if efa else at if lustre.storage_type == "HDD" else "")
        if capacity is None:
            smallest = min((*capacities.sizes, capacities.step))
            fix = f"give it {smallest:,} GiB or more: multiples of {capacities.step:,} GiB"
            yield Problem(path=file_system.path, message=f"a file system of {kind} has no capacity", fix=fix)
        elif not capacities.allows(capacity):
            fix = f"use {_either(capacities.around(capacity))} GiB"
            yield Problem(path=file_system.path, message=f"{capacity:,} GiB is not a capacity of {kind}", fix=fix)


@rule(
    "HP3002",
    Severity.ERROR,
    title="Lustre throughput is not one that its type can have",
    because="each persistent type has a list of its own and must name one",
    source=f"{_LUSTRE_API}, PerUnitStorageThroughput; aws/aws-parallelcluster, fsx_validators.py",
)
def lustre_throughput_is_offered(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in _offered(deployment):
        got = lustre.throughput_mbps_per_tib
        if got is UNKNOWN or not offer.throughputs or got in offer.throughputs:
            continue
        kind = _kind(lustre)
        yield Problem(
            path=file_system.path,
            message=f"{kind} has no throughput" if got is None else f"{got:,} MB/s/TiB is not a throughput of {kind}",
            fix=f"use one of {', '.join(f'{each:,}' for each in offer.throughputs)} MB/s/TiB",
        )


@rule(
    "HP3003",
    Severity.ERROR,
    title="Lustre storage type does not go with its deployment type or drive cache",
    because="disks exist on PERSISTENT_1 and need a drive cache setting, intelligent tiering exists on PERSISTENT_2",
    source=f"FSx API, CreateFileSystem, StorageType; {_LUSTRE_API}, DriveCacheType",
)
def lustre_types_go_together(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        path, lustre = file_system.path, file_system.lustre
        storage = known(lustre.storage_type)
        if storage is None:
            continue
        having = [deployment_type for deployment_type, other in catalog.OFFERS if other == storage]
        if lustre.deployment_type not in {UNKNOWN, *having}:
            message = f"{lustre.deployment_type} does not exist on {storage}"
            yield Problem(path=path, message=message, fix=f"use {storage} with {' or '.join(having)}, or SSD")
        if storage == "HDD" and lustre.drive_cache is None:
            yield Problem(path=path, message="HDD storage has no drive cache setting", fix="set it to NONE or READ")
        if storage != "HDD" and known(lustre.drive_cache) is not None:
            message = f"drive cache is {lustre.drive_cache} on {storage} storage"
            yield Problem(path=path, message=message, fix="leave it out: only HDD has a drive cache")


def _tiered(deployment: Deployment) -> Iterator[tuple[FileSystem, Lustre]]:
    """File systems with intelligent tiering."""
    for file_system, lustre, _ in _offered(deployment):
        if lustre.storage_type == "INTELLIGENT_TIERING":
            yield file_system, lustre


_STEPS: Final = (
    f"a multiple of {catalog.TIERING_THROUGHPUT_STEP_MBPS:,} up to {catalog.TIERING_THROUGHPUT_AT_MOST_MBPS:,} MB/s"
)


def _tiering_faults(lustre: Lustre) -> Iterator[tuple[str, str]]:
    """Message and fix of each value that intelligent tiering does not take."""
    step, most = catalog.TIERING_THROUGHPUT_STEP_MBPS, catalog.TIERING_THROUGHPUT_AT_MOST_MBPS
    throughput = known(lustre.throughput_mbps)
    if throughput is None:
        return
    if throughput < step or throughput % step or throughput > most:
        yield f"intelligent tiering has a throughput of {throughput:,} MB/s", f"use {_STEPS}"
    elif isinstance(lustre.read_cache_gib, int):
        low, high = catalog.read_cache_gib(throughput)
        if not low <= lustre.read_cache_gib <= high:
            message = f"the read cache is {lustre.read_cache_gib:,} GiB at {throughput:,} MB/s"
            yield message, f"use {low:,} to {high:,} GiB, or leave it out"


@rule(
    "HP3004",
    Severity.ERROR,
    title="Throughput or read cache of intelligent tiering is not one that can be bought",
    because="throughput comes in steps, in CloudFormation none below 4,000 MB/s, and bounds the size of the cache",
    source=f"{_LUSTRE_API}, ThroughputCapacity and DataReadCacheConfiguration; CloudFormation's minimum of 4,000",
)
def tiering_is_bought_as_throughput(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre in _tiered(deployment):
        for message, fix in _tiering_faults(lustre):
            yield Problem(path=file_system.path, message=message, fix=fix)


@rule(
    "HP3005",
    Severity.ERROR,
    title="Lustre with EFA lacks what EFA needs",
    because="EFA needs PERSISTENT_2 with a metadata configuration and Lustre 2.15, and can be chosen only at creation",
    source=_EFA_GUIDE,
)
def lustre_efa_has_what_it_needs(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in _offered(deployment):
        if lustre.efa is not True:
            continue
        if not offer.efa:
            message, fix = f"{_kind(lustre)} has no EFA", "use PERSISTENT_2, or leave EFA out"
            yield Problem(path=file_system.path, message=message, fix=fix)
            continue
        if lustre.metadata_iops is None:
            fix = "set the metadata IOPS to AUTOMATIC or a number (intelligent tiering: 6000 or 12000)"
            yield Problem(path=file_system.path, message="EFA needs a metadata configuration; there is none", fix=fix)
        if known(lustre.version) not in {None, catalog.EFA_VERSION}:
            message = f"EFA needs Lustre {catalog.EFA_VERSION}; the version is {lustre.version}"
            yield Problem(path=file_system.path, message=message, fix=f"use {catalog.EFA_VERSION}")


@rule(
    "HP3006",
    Severity.ERROR,
    title="Lustre metadata IOPS cannot be had",
    because="only PERSISTENT_2 takes them, in steps, and not fewer than its capacity brings by itself",
    source=f"{_LUSTRE_API}, MetadataConfiguration; FSx for Lustre user guide, performance (October 2026)",
)
def lustre_metadata_iops_are_offered(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in _offered(deployment):
        iops = known(lustre.metadata_iops)
        if iops is None or lustre.storage_type == "INTELLIGENT_TIERING":
            continue
        floor = catalog.automatic_metadata_iops(lustre.capacity_gib) if isinstance(lustre.capacity_gib, int) else 0
        if not offer.metadata:
            got = iops if isinstance(iops, str) else f"{iops:,}"
            message, fix = f"metadata IOPS is {got} on {_kind(lustre)}", "leave it out, or use PERSISTENT_2"
        elif isinstance(iops, str):
            continue
        elif iops not in catalog.METADATA_IOPS:
            message, fix = (
                f"metadata IOPS is {iops:,}",
                "use AUTOMATIC, 1,500, 3,000, 6,000 or 12,000 to 192,000 by 12,000",
            )
        elif iops < floor:
            message = f"metadata IOPS is {iops:,}, but {lustre.capacity_gib:,} GiB brings {floor:,}"
            fix = f"use AUTOMATIC, or {floor:,} or more"
        else:
            continue
        yield Problem(path=file_system.path, message=message, fix=fix)


@rule(
    "HP3007",
    Severity.ERROR,
    title="Lustre version does not go with its type",
    because="2.10 ends before PERSISTENT_2, and 2.12 has no metadata configuration",
    source="FSx API, CreateFileSystem, FileSystemTypeVersion (botocore 1.44.8)",
)
def lustre_version_goes_with_its_type(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in _offered(deployment):
        version = known(lustre.version)
        # What EFA asks for is the stricter rule's business, and a version that is newer than our list may well exist.
        if version not in catalog.VERSIONS or lustre.efa is True:
            continue
        metadata = known(lustre.metadata_iops) is not None
        allowed = offer.versions_for(metadata=metadata)
        if version not in allowed:
            with_metadata = " with a metadata configuration" if metadata else ""
            message = f"Lustre {version} does not go with {_kind(lustre)}{with_metadata}"
            yield Problem(path=file_system.path, message=message, fix=f"use {' or '.join(reversed(allowed))}")


@rule(
    "HP3008",
    Severity.WARNING,
    title="Automatic backups on a file system that probably cannot have them",
    because="backups are for persistent types without an S3 link; what FSx answers at creation is not verified",
    source="FSx for Lustre user guide, backups; aws-cloudformation/cloudformation-coverage-roadmap issue 1687",
)
def backups_are_possible(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in _offered(deployment):
        days = known(lustre.backup_days)
        if not days or (offer.backups and not file_system.repositories):
            continue
        why = "the file system is linked to S3" if offer.backups else f"{_kind(lustre)} is a scratch type"
        yield Problem(
            path=file_system.path,
            message=f"automatic backups are kept {days} day{'s' * (days != 1)} but {why}",
            fix="set the backup retention to 0"
            + (": export to S3 keeps the data" if offer.backups else ", or use a persistent type"),
        )


@rule(
    "HP3009",
    Severity.ERROR,
    title="Customer key on a scratch file system",
    because="scratch types are encrypted with FSx's own key",
    source="FSx API, CreateFileSystem, KmsKeyId; aws/aws-parallelcluster, fsx_validators.py",
)
def scratch_has_no_customer_key(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in _offered(deployment):
        if not offer.customer_key and known(file_system.kms_key) is not None:
            message = f"{_kind(lustre)} has the customer key {file_system.kms_key}"
            yield Problem(path=file_system.path, message=message, fix="leave the key out, or use a persistent type")


@rule(
    "HP3010",
    Severity.ERROR,
    title="Lustre file system has not exactly one subnet",
    because="every Lustre type stands in one zone",
    source="FSx API, CreateFileSystem, SubnetIds (botocore 1.44.8)",
)
def lustre_has_one_subnet(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        subnets = file_system.subnets if isinstance(file_system.subnets, tuple) else (UNKNOWN,)
        # What is decided at deploy may also be left out there.
        count = sum(subnet is not UNKNOWN for subnet in subnets)
        if count > catalog.SUBNETS or (count < catalog.SUBNETS and UNKNOWN not in subnets):
            message = f"the file system has {count} subnets"
            yield Problem(path=file_system.path, message=message, fix="give it one, in the zone of its nodes")


# --- Data must outlive the stack


@rule(
    "HP3011",
    Severity.WARNING,
    title="Data goes with the stack or with a replacement",
    because="CloudFormation deletes a file system with its stack, and replaces it by an empty one when its subnet, "
    "security groups, key or deployment type change",
    source="CloudFormation user guide, DeletionPolicy and UpdateReplacePolicy; aws/aws-parallelcluster issue 4651",
)
def data_outlives_the_stack(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        on_delete, on_replace = known(file_system.retention.on_delete), known(file_system.retention.on_replace)
        policies, events = [], []
        if on_delete not in {None, "Retain", "RetainExceptOnCreate"}:
            policies.append(f"DeletionPolicy is {on_delete}")
            events.append("deleting the stack")
        if on_replace not in {None, "Retain"}:
            policies.append(f"UpdateReplacePolicy is {on_replace}")
            events.append("replacing the file system")
        if events:
            capacity = known(file_system.lustre.capacity_gib)
            data = "all its data" if capacity is None else f"{capacity:,} GiB"
            yield Problem(
                path=file_system.path,
                message=f"{' and '.join(policies)}: {' or '.join(events)} deletes {data}",
                fix="set DeletionPolicy to RetainExceptOnCreate and UpdateReplacePolicy to Retain",
            )


@rule(
    "HP3012",
    Severity.INFO,
    title="A failed first deploy leaves an empty file system",
    because="plain Retain also keeps what a create that is rolled back has made, and it is paid until someone sees it",
    source="CloudFormation user guide, DeletionPolicy, RetainExceptOnCreate",
)
def failed_creates_leave_nothing(deployment: Deployment) -> Iterator[Problem]:
    for file_system in deployment.file_systems:
        if file_system.retention.on_delete == "Retain":
            yield Problem(
                path=file_system.path,
                message="DeletionPolicy is Retain: a first deploy that fails leaves an empty file system that is paid",
                fix="set DeletionPolicy to RetainExceptOnCreate",
            )


# --- Links to S3


def _within(folder: str, other: str) -> bool:
    """Whether a folder is another or lies in it; both as paths with or without slashes at their ends."""
    return f"{folder.strip('/')}/".startswith(f"{other.strip('/')}/".removeprefix("/"))


def _overlaps(places: Iterable[str | object]) -> Iterator[tuple[str, str]]:
    """Pairs of which one is or holds the other."""
    for one, other in combinations([place for place in places if isinstance(place, str)], 2):
        if _within(one, other) or _within(other, one):
            yield one, other


def _repository_faults(file_system: FileSystem, offer: catalog.Offer) -> Iterator[tuple[str, str]]:
    """Message and fix of each fault of a file system's links to S3."""
    lustre, repositories = file_system.lustre, file_system.repositories
    most = catalog.ASSOCIATIONS_AT_MOST
    if len(repositories) > most:
        yield f"the file system has {len(repositories)} links to S3", f"use at most {most}"
    if not offer.repository:
        yield f"{_kind(lustre)} cannot be linked to S3", "use PERSISTENT_2 on SSD, or leave the links out"
    elif UNKNOWN not in {lustre.version, lustre.metadata_iops}:
        default = offer.version_without_choice(metadata=lustre.metadata_iops is not None)
        if (lustre.version or default) == "2.10":
            said = "2.10" if lustre.version else "2.10, the version that is taken where none is given,"
            yield f"Lustre {said} cannot be linked to S3", "use 2.15"
    for one, other in _overlaps(each.folder for each in repositories):
        yield f"folders {one} and {other} overlap", "link folders of which none is or holds another"
    for one, other in _overlaps(each.s3_uri for each in repositories):
        yield f"{one} and {other} overlap", "link prefixes of which none is or holds another"


@rule(
    "HP3017",
    Severity.ERROR,
    title="File system cannot be linked to S3 like this",
    because="SCRATCH_1, intelligent tiering and Lustre 2.10 take no data repository association; there are at most 8, "
    "and neither folders nor prefixes may overlap",
    source="FSx API, CreateDataRepositoryAssociation; FSx for Lustre user guide, getting-started (October 2026)",
)
def repositories_can_be_linked(deployment: Deployment) -> Iterator[Problem]:
    for file_system, _, offer in _offered(deployment):
        for message, fix in _repository_faults(file_system, offer) if file_system.repositories else ():
            yield Problem(path=file_system.path, message=message, fix=fix)


# --- The way between nodes and file system


def _all_known(deployment: Deployment, paths: object) -> tuple[SecurityGroup, ...]:
    """The security groups of a list, if every one of them and all of its rules are known; else none."""
    found = [deployment.security_group(path) for path in paths] if isinstance(paths, tuple) else []
    complete = tuple(group for group in found if group is not None and group.complete)
    return complete if len(complete) == len(found) else ()


def _passes(holders: tuple[SecurityGroup, ...], direction: str, peers: tuple[SecurityGroup, ...], port: int) -> bool:
    """Whether groups let a TCP port through to or from their peers; blocks and lists of addresses count as such."""
    if direction == "egress" and any(
        all(each.direction == "ingress" or each.path is not None for each in holder.rules) for holder in holders
    ):
        return True  # EC2 lets everything out of a group that has no egress rules of its own making
    names = {peer.path for peer in peers}
    return any(
        each.direction == direction
        and (each.protocol is UNKNOWN or each.covers("tcp", port) or each.covers("6", port))
        and (each.group is None or each.group is UNKNOWN or each.group in names)
        for holder in holders
        for each in holder.rules
    )


_Side = tuple[str, tuple[SecurityGroup, ...]]
"""How a message names one end of the way, and its security groups."""


@dataclass(frozen=True, slots=True)
class _Closed:
    """One end that does not let all of Lustre's ports through in one direction.

    Attributes:
        message: What is closed.
        fix: The rule to add.
        unreachable: Whether the port that connections begin with is among them.
    """

    message: str
    fix: str
    unreachable: bool


def _closed(sender: _Side, receiver: _Side) -> Iterator[_Closed]:
    """Each end that does not let Lustre's ports through in one direction."""
    ends: tuple[tuple[Literal["egress", "ingress"], str, _Side, _Side], ...] = (
        ("egress", "out to", sender, receiver),
        ("ingress", "in from", receiver, sender),
    )
    for direction, way, (name, holders), (peer_name, peers) in ends:
        whom = "itself" if sender == receiver else peer_name
        closed = [
            (low, high)
            for low, high in catalog.PORTS
            if not all(_passes(holders, direction, peers, port) for port in range(low, high + 1))
        ]
        if closed:
            ports = f"tcp {' and '.join(str(low) if low == high else f'{low}-{high}' for low, high in closed)}"
            preposition = "to" if direction == "egress" else "from"
            yield _Closed(
                f"security groups of {name} do not let {ports} {way} {whom}",
                f"add to {holders[0].path} an {direction} rule for {ports} {preposition} {peers[0].path}",
                unreachable=catalog.PORTS[0] in closed,
            )


def _clients(deployment: Deployment, file_system: FileSystem) -> Iterator[_Side]:
    """Instance groups that mount a file system, together where they have the same security groups."""
    clients: dict[tuple[SecurityGroup, ...], list[InstanceGroup]] = {}
    for cluster, group, _ in deployment.groups():
        placement = cluster.placement_of(group)
        mounts = group.mounts if isinstance(group.mounts, tuple) else ()
        if isinstance(placement, VpcPlacement) and any(mount.file_system == file_system.path for mount in mounts):
            clients.setdefault(_all_known(deployment, placement.security_groups), []).append(group)
    for security_groups, groups in clients.items():
        if security_groups:
            yield f"the nodes of {named(*groups)}", security_groups


def _lustre_ports(deployment: Deployment, *, unreachable: bool) -> Iterator[Problem]:
    """What is closed: so that nothing connects to the file system, or so that some of the traffic is lost."""
    for file_system in deployment.file_systems:
        servers: _Side = ("the file system", _all_known(deployment, file_system.security_groups))
        if not servers[1]:
            continue
        clients = list(_clients(deployment, file_system))
        ways = [(servers, servers)]
        for nodes in clients:
            ways += [(nodes, servers), (servers, nodes)]
        faults: dict[_Closed, None] = {}
        for sender, receiver in ways:
            towards_nodes = receiver is not servers
            for each in _closed(sender, receiver):
                faults[replace(each, unreachable=each.unreachable and not towards_nodes)] = None
        for fault in faults:
            if fault.unreachable is unreachable:
                yield Problem(path=file_system.path, message=fault.message, fix=fault.fix)


@rule(
    "HP3018",
    Severity.ERROR,
    title="Security groups let nothing reach the Lustre file system",
    because="clients and the file system's own servers connect to TCP 988: FSx refuses a group that does not let that "
    "port in from itself, and a mount without it hangs",
    source="FSx for Lustre user guide, getting-started (October 2026); awslabs/awsome-distributed-ai pull 839",
)
def lustre_can_be_reached(deployment: Deployment) -> Iterator[Problem]:
    yield from _lustre_ports(deployment, unreachable=True)


@rule(
    "HP3022",
    Severity.WARNING,
    title="Security groups do not let all of Lustre's traffic through",
    because="AWS asks for TCP 988 and 1018 to 1023 both ways between nodes and file system, and between its servers; "
    "mounts mostly work without the way back, because security groups let answers through, and hang when the servers "
    "call back",
    source="FSx for Lustre user guide, getting-started (October 2026); aws-samples/aws-hpc-recipes issue 50",
)
def lustre_ports_are_open(deployment: Deployment) -> Iterator[Problem]:
    yield from _lustre_ports(deployment, unreachable=False)


@rule(
    "HP3019",
    Severity.WARNING,
    title="Metadata IOPS of intelligent tiering on which AWS's texts disagree",
    because="the guide allows 6,000 or 12,000 only, the newer API text allows more: what both allow is safe",
    source="FSx for Lustre user guide (October 2026) against FSx API (botocore 1.44.8): conflict",
)
def tiering_metadata_is_undisputed(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre in _tiered(deployment):
        iops = lustre.metadata_iops
        if iops is UNKNOWN or iops in catalog.TIERING_METADATA_IOPS:
            continue
        got = "is not set" if iops is None else f"is {iops}" if isinstance(iops, str) else f"is {iops:,}"
        yield Problem(
            path=file_system.path,
            message=f"metadata IOPS of intelligent tiering {got}",
            fix=f"use {_either(catalog.TIERING_METADATA_IOPS)}",
        )


@rule(
    "HP3020",
    Severity.WARNING,
    title="Intelligent tiering is bought in the way of other storage",
    because="its storage grows by itself and it is bought as throughput; that FSx refuses a capacity, or a request "
    "without throughput, follows from its texts, but none of them says it",
    source=f"FSx API, CreateFileSystem, StorageCapacity; {_LUSTRE_API}, ThroughputCapacity; inferred",
)
def tiering_has_throughput_and_no_capacity(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre in _tiered(deployment):
        faults = []
        if (capacity := known(lustre.capacity_gib)) is not None:
            faults.append((f"a capacity of {capacity:,} GiB", "leave it out: storage grows by itself"))
        if (per_tib := known(lustre.throughput_mbps_per_tib)) is not None:
            faults.append(
                (
                    f"a throughput of {per_tib:,} MB/s/TiB",
                    f"leave it out and give ThroughputCapacity (throughput_mbps), {_STEPS}",
                )
            )
        if lustre.throughput_mbps is None:
            faults.append(("no throughput", f"give ThroughputCapacity (throughput_mbps), {_STEPS}"))
        for got, fix in faults:
            yield Problem(path=file_system.path, message=f"intelligent tiering has {got}", fix=fix)


@rule(
    "HP3021",
    Severity.WARNING,
    title="Throughput of a scratch file system is given",
    because="scratch types have a fixed throughput, and the field is described for persistent types only; that FSx "
    "refuses it is inferred",
    source=f"{_LUSTRE_API}, PerUnitStorageThroughput; inferred",
)
def scratch_has_no_choice_of_throughput(deployment: Deployment) -> Iterator[Problem]:
    for file_system, lustre, offer in _offered(deployment):
        got = known(lustre.throughput_mbps_per_tib)
        if got is not None and offer.capacities and not offer.throughputs:
            kind = _kind(lustre)
            yield Problem(
                path=file_system.path,
                message=f"{kind} has a throughput of {got:,} MB/s/TiB",
                fix=f"leave it out: {kind} has a fixed throughput",
            )
