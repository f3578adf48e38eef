"""What a deployment amounts to: nodes, accelerators, addresses and the days on which bought capacity comes and goes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hyperpod_constructs.model.capacity import InstanceGroup, TrainingPlan
from hyperpod_constructs.model.control_plane import ControlPlane
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.planning import addresses
from hyperpod_constructs.tokens import known

_SERVICE_NODES = ("Controller", "Login")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerators:
    """Accelerators of one name in one cluster.

    Attributes:
        name: For example `H100`; `accelerators` where only their number is known.
        usable: On nodes that jobs may use.
        spare: On nodes that wait for a failure.
    """

    name: str
    usable: int
    spare: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTotals:
    """What one cluster amounts to, as far as it is known before deploy.

    Attributes:
        path: Path of the cluster.
        name: Name of the cluster; `None` where CloudFormation makes one or it is known only at deploy.
        usable: Nodes that jobs may use.
        spare: Nodes that wait for a failure.
        service: Controller and login nodes.
        accelerators: By name.
        uncounted: Paths of groups whose number of instances is known only at deploy; in none of the numbers.
        unknown_types: Paths of groups whose accelerators are not known; their nodes are counted, accelerators are not.
    """

    path: str
    name: str | None
    usable: int
    spare: int
    service: int
    accelerators: tuple[Accelerators, ...]
    uncounted: tuple[str, ...]
    unknown_types: tuple[str, ...]

    @property
    def nodes(self) -> int:
        """Every instance that is counted: usable, spare and service nodes."""
        return self.usable + self.spare + self.service


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetUse:
    """Addresses of one subnet.

    Attributes:
        path: Path or id of the subnet.
        zone: Zone id; `None` where it is not known.
        cidr: IPv4 block; `None` where it is not known.
        used: Addresses of all nodes that may stand there, spares included. Where a placement names several subnets,
            HyperPod picks one of them, so each has to hold all.
        available: Addresses that instances can have; `None` where the block is not known.
        complete: Whether every group that may stand there is counted.
    """

    path: str
    zone: str | None
    cidr: str | None
    used: int
    available: int | None
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDates:
    """When the nodes of a training plan come and go.

    Attributes:
        plan: Name of the plan.
        groups: Paths of the groups on it.
        instances: Instances of those groups; `None` where one is known only at deploy.
        arrives: When the first nodes come, UTC; `None` where it is not known.
        leaves: When HyperPod begins to terminate them, UTC; `None` where it is not known.
    """

    plan: str
    groups: tuple[str, ...]
    instances: int | None
    arrives: datetime | None
    leaves: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesApi:
    """How the Kubernetes API of an EKS cluster that is made is reached.

    Attributes:
        path: Path of the EKS cluster.
        name: Its name; `None` where CloudFormation makes one or it is known only at deploy.
        version: Its Kubernetes version; `None` where it is not known.
        private: Whether it is reached from its VPC; `None` where that is not known.
        public: Whether it is reached from the internet; `None` where that is not known.
        public_cidrs: Blocks on the internet from which it is reached; none if from everywhere, or they are not known.
    """

    path: str
    name: str | None
    version: str | None
    private: bool | None
    public: bool | None
    public_cidrs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a deployment amounts to.

    Attributes:
        clusters: In the order of the deployment.
        kubernetes: EKS clusters that are made, in the order of the deployment.
        subnets: Every subnet in which nodes may stand, by path.
        plans: By day of arrival, unknown days last.
    """

    clusters: tuple[ClusterTotals, ...]
    kubernetes: tuple[KubernetesApi, ...]
    subnets: tuple[SubnetUse, ...]
    plans: tuple[PlanDates, ...]


def of(deployment: Deployment) -> Totals:
    """Nodes, accelerators, addresses and plan dates of a deployment."""
    return Totals(
        clusters=tuple(_of_cluster(cluster) for cluster in deployment.clusters),
        kubernetes=tuple(_api(plane) for plane in deployment.kubernetes.control_planes),
        subnets=_subnets(deployment),
        plans=_plans(deployment),
    )


def _api(plane: ControlPlane) -> KubernetesApi:
    blocks = plane.public_cidrs if isinstance(plane.public_cidrs, tuple) else ()
    return KubernetesApi(
        path=plane.path,
        name=known(plane.name),
        version=known(plane.version),
        private=known(plane.private),
        public=known(plane.public),
        public_cidrs=tuple(block for block in blocks if isinstance(block, str)),
    )


def _of_cluster(cluster: Cluster) -> ClusterTotals:
    counted = [(group, count) for group in cluster.groups if (count := known(group.count)) is not None]
    working = [(group, count) for group, count in counted if group.node_type not in _SERVICE_NODES]
    service = [group for group, _ in counted if group.node_type in _SERVICE_NODES]
    return ClusterTotals(
        path=cluster.path,
        name=known(cluster.name),
        usable=sum(count for _, count in working),
        spare=sum(group.spares for group, _ in working),
        service=sum(group.instances for group in service if isinstance(group.instances, int)),
        accelerators=_accelerators(working),
        uncounted=tuple(cluster.path_of(group) for group in cluster.groups if known(group.count) is None),
        unknown_types=tuple(
            cluster.path_of(group) for group, _ in working if group.facts is None or group.facts.accelerators is None
        ),
    )


def _accelerators(working: list[tuple[InstanceGroup, int]]) -> tuple[Accelerators, ...]:
    usable: dict[str, int] = {}
    spare: dict[str, int] = {}
    for group, count in working:
        facts = group.facts
        if facts is None or not facts.accelerators:
            continue
        name = facts.accelerator.name if facts.accelerator else "accelerators"
        usable[name] = usable.get(name, 0) + count * facts.accelerators
        spare[name] = spare.get(name, 0) + group.spares * facts.accelerators
    return tuple(Accelerators(name=name, usable=usable[name], spare=spare[name]) for name in sorted(usable))


def _subnets(deployment: Deployment) -> tuple[SubnetUse, ...]:
    used: dict[str, int] = {}
    incomplete: set[str] = set()
    for cluster, group, _ in deployment.groups():
        placement = cluster.placement_of(group)
        if not isinstance(placement, VpcPlacement) or not isinstance(placement.subnets, tuple):
            continue
        takes = addresses.of_group(group, cluster.orchestrator)
        for path in placement.subnets:
            if not isinstance(path, str):
                continue
            used[path] = used.get(path, 0) + (takes or 0)
            if takes is None:
                incomplete.add(path)
    return tuple(_use(deployment, path, used[path], complete=path not in incomplete) for path in sorted(used))


def _use(deployment: Deployment, path: str, used: int, *, complete: bool) -> SubnetUse:
    subnet = deployment.subnet(path)
    return SubnetUse(
        path=path,
        zone=known(subnet.zone) if subnet else None,
        cidr=known(subnet.cidr) if subnet else None,
        used=used,
        available=subnet.addresses if subnet else None,
        complete=complete,
    )


def _plans(deployment: Deployment) -> tuple[PlanDates, ...]:
    on_plan: dict[str, list[tuple[TrainingPlan, InstanceGroup, str]]] = {}
    for _, group, path in deployment.groups():
        if isinstance(group.capacity, TrainingPlan):
            on_plan.setdefault(group.capacity.name, []).append((group.capacity, group, path))
    dates = [_dates(name, members) for name, members in on_plan.items()]
    return tuple(sorted(dates, key=lambda plan: (plan.arrives is None, plan.arrives, plan.plan)))


def _dates(name: str, members: list[tuple[TrainingPlan, InstanceGroup, str]]) -> PlanDates:
    plan = next((plan for plan, _, _ in members if plan.has_facts), members[0][0])
    instances = [group.instances for _, group, _ in members]
    counted = [count for count in instances if isinstance(count, int)]
    return PlanDates(
        plan=name,
        groups=tuple(path for _, _, path in members),
        instances=sum(counted) if len(counted) == len(instances) else None,
        arrives=plan.arrives,
        leaves=plan.leaves,
    )
