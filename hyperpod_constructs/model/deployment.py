"""Everything one app deploys, as far as is known: what the rules judge, whatever it was read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar

from hyperpod_constructs.model.budget import (
    AnomalyMonitor,
    AnomalySubscription,
    BudgetAction,
    BudgetResource,
    Topic,
)
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.chart import Chart
from hyperpod_constructs.model.control_plane import Kubernetes
from hyperpod_constructs.model.governance import Quota, SchedulerPolicy
from hyperpod_constructs.model.identity import Key, Role, Secret
from hyperpod_constructs.model.kubernetes import AutoScaling, TieredStorage
from hyperpod_constructs.model.lifecycle import Bucket, Upload
from hyperpod_constructs.model.network import SecurityGroup, Subnet, VpcPlacement
from hyperpod_constructs.model.observability import EventRule, Grafana, Prometheus, PrometheusUrl, RuleEditing
from hyperpod_constructs.model.orchestration import Eks, Slurm
from hyperpod_constructs.model.restricted import RestrictedGroup, SharedRestrictedStorage
from hyperpod_constructs.model.routing import Routing
from hyperpod_constructs.model.stacks import StackSize, TagList
from hyperpod_constructs.model.storage import Association, Database, FileSystem, OtherFileSystem
from hyperpod_constructs.tokens import UNKNOWN, Unknown

Noun = TypeVar("Noun", Subnet, SecurityGroup, FileSystem, OtherFileSystem, Role, Key, Secret, Topic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A HyperPod cluster.

    Attributes:
        path: Construct path.
        name: Cluster name; left out where CloudFormation makes one.
        groups: Its instance groups.
        orchestrator: Slurm, EKS, or `None` for Slurm in its old form (provisioning_parameters.json).
        provisioning: `Continuous`, or `None` where the template leaves it out.
        recovery: `Automatic` or `None`; left out means Automatic.
        placement: Subnets and security groups; left out means the service's own network.
        tags: Keys and values.
        tags_complete: Whether all of its tags are known.
        account: Account of its stack.
        region: Region of its stack.
        depends_on: Paths that CloudFormation creates before it, apart from what its properties refer to.
        restricted_groups: Its groups for Amazon Nova.
        restricted_storage: The file system that those share.
        cluster_role: Path or ARN of the role with which the cluster scales itself.
        autoscaling: Nodes that come and go with the pods; EKS only.
        tiered_storage: Checkpoints in the memory of nodes; EKS only.
        has_teams: Whether teams share it, each with an account of its own.
        chart_elsewhere: Whether somebody else installs the chart that nodes of an EKS cluster need.
        conditional: Whether a condition that nobody can decide yet says whether it is made at all.
        requested: Whether it comes from a CreateCluster request: the API takes more than CloudFormation.
    """

    path: str
    groups: tuple[InstanceGroup, ...]
    name: str | Unknown | None = None
    orchestrator: Slurm | Eks | Unknown | None = None
    provisioning: str | Unknown | None = None
    recovery: str | Unknown | None = None
    placement: VpcPlacement | Unknown | None = None
    tags: Mapping[str, str | Unknown] = field(default_factory=dict)
    tags_complete: bool = True
    account: str | None = None
    region: str | None = None
    depends_on: frozenset[str] | None = None
    restricted_groups: tuple[RestrictedGroup | Unknown, ...] | Unknown = ()
    restricted_storage: SharedRestrictedStorage | Unknown | None = None
    cluster_role: str | Unknown | None = None
    autoscaling: AutoScaling | Unknown | None = None
    tiered_storage: TieredStorage | Unknown | None = None
    has_teams: bool = False
    chart_elsewhere: bool = False
    conditional: bool = False
    requested: bool = False

    @property
    def scheduler(self) -> Literal["slurm", "eks"] | None:
        """Who schedules jobs, with Slurm in its old form as `slurm`; `None` where it is not known."""
        if self.orchestrator is UNKNOWN:
            return None
        return "eks" if isinstance(self.orchestrator, Eks) else "slurm"

    @property
    def eks_fields(self) -> tuple[str, ...]:
        """Names of those of its features that only EKS clusters have and that are certainly on."""
        given = {"AutoScaling": self.autoscaling, "TieredStorageConfig": self.tiered_storage}
        return tuple(name for name, value in given.items() if getattr(value, "mode", None) == "Enable")

    def path_of(self, group: InstanceGroup) -> str:
        """Where a finding about a group points."""
        return f"{self.path}/{group.name}" if isinstance(group.name, str) else self.path

    def placement_of(self, group: InstanceGroup) -> VpcPlacement | Unknown | None:
        """Where the nodes of a group stand: its own placement, else the cluster's."""
        return self.placement if group.placement is None else group.placement


class Location:
    """Where in the input something stands."""

    __slots__ = ("_line", "file")

    def __init__(self, file: str, line: int | Callable[[], int] | None) -> None:
        """Remembers a place.

        Args:
            file: The file.
            line: The line, 1-based, or what finds it: to find lines takes as long as to read the file, and most places
                are never shown. `None` where the input had no lines.
        """
        self.file = file
        self._line = line

    @property
    def line(self) -> int | None:
        """The line, 1-based; `None` where the input had no lines."""
        if callable(self._line):
            self._line = self._line()
        return self._line

    def __eq__(self, other: object) -> bool:
        """Whether both are one place."""
        return isinstance(other, Location) and (self.file, self.line) == (other.file, other.line)

    def __hash__(self) -> int:
        """That of file and line."""
        return hash((self.file, self.line))

    def __repr__(self) -> str:
        """The place, for tests."""
        return f"Location({self.file!r}, {self.line!r})"


@dataclass(frozen=True, slots=True)
class Invalid:
    """A value in a template that can never be right; rules see it as not known.

    Attributes:
        path: Path of the resource or instance group that holds it.
        message: What is wrong, with the value got.
        fix: The change to make, with the values allowed.
        location: Where the value stands, or the nearest thing around it; `None` where the input was no file.
        certain: `False` for a property that our list does not have: it may be newer than the list.
    """

    path: str
    message: str
    fix: str
    location: Location | None = None
    certain: bool = True


UnseenKind: TypeAlias = Literal["nested", "macro", "file", "folder", "condition", "type"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """A part of the input that nobody can judge.

    Attributes:
        kind: `nested` for a nested stack whose template is not at hand, `macro` for what only CloudFormation can
            expand, `file` for a file that is no template, `folder` for a folder of templates that were not read,
            `condition` for a cluster that a condition leaves out, `type` for a type that may be new.
        path: Path of the nested stack, resource or cluster, stack and key of the macro, or the file or folder.
        what: Name of the missing template where it is known, the key of the macro, why the file is no template, what
            the folder holds, how the condition was decided, or the type.
        location: Where in the input it stands.
        beside: Whether the missing template lies in the same folder, of which only one file was read.
    """

    kind: UnseenKind
    path: str
    what: str | None
    location: Location
    beside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """All clusters of an app and what stands around them.

    Attributes:
        charts: Helm charts as they are rendered for its clusters, where somebody has rendered them.
        invalid: What a reader found that can never be right.
        granting_buckets: Names of buckets whose own policy, in this deployment, lets somebody read them; `UNKNOWN` for
            one whose name is decided at deploy.
        unseen: What a reader could not look into.
        misnamed: Resources of a type that does not exist, or of none.
        dangling: Names that a template uses and does not have.
        locations: File and line by path, where the input was a file.
    """

    clusters: tuple[Cluster, ...] = ()
    file_systems: tuple[FileSystem, ...] = ()
    other_file_systems: tuple[OtherFileSystem, ...] = ()
    databases: tuple[Database, ...] = ()
    associations: tuple[Association, ...] = ()
    subnets: tuple[Subnet, ...] = ()
    security_groups: tuple[SecurityGroup, ...] = ()
    routing: Routing = field(default_factory=Routing)
    kubernetes: Kubernetes = field(default_factory=Kubernetes)
    charts: tuple[Chart, ...] = ()
    scheduler_policies: tuple[SchedulerPolicy, ...] = ()
    quotas: tuple[Quota, ...] = ()
    roles: tuple[Role, ...] = ()
    keys: tuple[Key, ...] = ()
    secrets: tuple[Secret, ...] = ()
    buckets: tuple[Bucket, ...] = ()
    uploads: tuple[Upload, ...] = ()
    budgets: tuple[BudgetResource, ...] = ()
    topics: tuple[Topic, ...] = ()
    budget_actions: tuple[BudgetAction, ...] = ()
    anomaly_monitors: tuple[AnomalyMonitor, ...] = ()
    anomaly_subscriptions: tuple[AnomalySubscription, ...] = ()
    grafana: tuple[Grafana, ...] = ()
    prometheus: tuple[Prometheus, ...] = ()
    prometheus_urls: tuple[PrometheusUrl, ...] = ()
    rule_editing: tuple[RuleEditing, ...] = ()
    event_rules: tuple[EventRule, ...] = ()
    stacks: tuple[StackSize, ...] = ()
    tag_lists: tuple[TagList, ...] = ()
    granting_buckets: tuple[str | Unknown, ...] = ()
    invalid: tuple[Invalid, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    misnamed: tuple[Invalid, ...] = ()
    dangling: tuple[Invalid, ...] = ()
    locations: Mapping[str, Location] = field(default_factory=dict)
    _by_path: Mapping[tuple[type, str], object] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        nouns: tuple[Subnet | SecurityGroup | FileSystem | OtherFileSystem | Role | Key | Secret | Topic, ...]
        nouns = (
            *self.subnets,
            *self.security_groups,
            *self.file_systems,
            *self.other_file_systems,
            *self.roles,
            *self.keys,
            *self.secrets,
            *self.topics,
        )
        # Of several nouns with one path the first counts. The class is frozen, and this is derived from its fields.
        object.__setattr__(self, "_by_path", {(type(noun), noun.path): noun for noun in reversed(nouns)})

    def groups(self) -> Iterator[tuple[Cluster, InstanceGroup, str]]:
        """Every group with its cluster and the path of findings about it."""
        for cluster in self.clusters:
            for group in cluster.groups:
                yield cluster, group, cluster.path_of(group)

    def subnet(self, path: str | Unknown) -> Subnet | None:
        """The subnet of this path, if the deployment knows it."""
        return self._find(Subnet, path)

    def security_group(self, path: str | Unknown) -> SecurityGroup | None:
        """The security group of this path, if the deployment knows it."""
        return self._find(SecurityGroup, path)

    def file_system(self, path: str | Unknown) -> FileSystem | None:
        """The file system of this path, if the deployment knows it."""
        return self._find(FileSystem, path)

    def other_file_system(self, path: str | Unknown) -> OtherFileSystem | None:
        """The file system of another kind than Lustre of this path, if the deployment knows it."""
        return self._find(OtherFileSystem, path)

    def role(self, path: str | Unknown | None) -> Role | None:
        """The role of this path, if the deployment knows it."""
        return self._find(Role, path)

    def key(self, path: str | Unknown | None) -> Key | None:
        """The KMS key of this path, if the deployment knows it."""
        return self._find(Key, path)

    def secret(self, path: str | Unknown | None) -> Secret | None:
        """The secret of this path, if the deployment knows it."""
        return self._find(Secret, path)

    def topic(self, path: str | Unknown) -> Topic | None:
        """The topic of this path, if the deployment knows it."""
        return self._find(Topic, path)

    def zone_of(self, placement: VpcPlacement | Unknown | None) -> str | None:
        """The one zone id of a placement; `None` if it is not known or not one."""
        if not isinstance(placement, VpcPlacement) or not isinstance(placement.subnets, tuple):
            return None
        zones = {subnet.zone if (subnet := self.subnet(path)) else None for path in placement.subnets}
        zone = zones.pop() if len(zones) == 1 else None
        return zone if isinstance(zone, str) else None

    def zone_of_group(self, cluster: Cluster, group: InstanceGroup) -> str | None:
        """The one zone in which the nodes of a group stand; `None` if it is not known or not one."""
        if group.zone is not None:
            return group.zone if isinstance(group.zone, str) else None
        return self.zone_of(cluster.placement_of(group))

    def _find(self, kind: type[Noun], path: str | Unknown | None) -> Noun | None:
        found = self._by_path.get((kind, path)) if isinstance(path, str) else None
        return found if isinstance(found, kind) else None

    def merged(self, other: Deployment) -> Deployment:
        """Both deployments as one."""
        return replace(
            self,
            clusters=self.clusters + other.clusters,
            file_systems=self.file_systems + other.file_systems,
            other_file_systems=self.other_file_systems + other.other_file_systems,
            databases=self.databases + other.databases,
            associations=self.associations + other.associations,
            subnets=self.subnets + other.subnets,
            security_groups=self.security_groups + other.security_groups,
            routing=self.routing.merged(other.routing),
            kubernetes=self.kubernetes.merged(other.kubernetes),
            charts=self.charts + other.charts,
            scheduler_policies=self.scheduler_policies + other.scheduler_policies,
            quotas=self.quotas + other.quotas,
            roles=self.roles + other.roles,
            keys=self.keys + other.keys,
            secrets=self.secrets + other.secrets,
            buckets=self.buckets + other.buckets,
            uploads=self.uploads + other.uploads,
            budgets=self.budgets + other.budgets,
            topics=self.topics + other.topics,
            budget_actions=self.budget_actions + other.budget_actions,
            anomaly_monitors=self.anomaly_monitors + other.anomaly_monitors,
            anomaly_subscriptions=self.anomaly_subscriptions + other.anomaly_subscriptions,
            grafana=self.grafana + other.grafana,
            prometheus=self.prometheus + other.prometheus,
            prometheus_urls=self.prometheus_urls + other.prometheus_urls,
            rule_editing=self.rule_editing + other.rule_editing,
            event_rules=self.event_rules + other.event_rules,
            stacks=self.stacks + other.stacks,
            tag_lists=self.tag_lists + other.tag_lists,
            granting_buckets=self.granting_buckets + other.granting_buckets,
            invalid=self.invalid + other.invalid,
            unseen=self.unseen + other.unseen,
            misnamed=self.misnamed + other.misnamed,
            dangling=self.dangling + other.dangling,
            locations={**self.locations, **other.locations},
        )
