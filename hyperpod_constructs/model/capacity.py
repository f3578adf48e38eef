"""Instance groups and the capacity behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date, datetime
from typing import Any, Final, Literal, TypeAlias, TypedDict, Unpack

from hyperpod_constructs.catalog import instances, limits
from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.checks import (
    check_limit,
    check_name,
    check_one_of,
    check_several,
    check_whole,
    make_tuples,
)
from hyperpod_constructs.model.kubernetes import KubernetesConfig
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.model.storage import Mount, NodeVolume
from hyperpod_constructs.tokens import Unknown, is_token

NodeType: TypeAlias = Literal["Controller", "Login", "Compute"]
NODE_TYPES: Final = ("Controller", "Login", "Compute")
DeepHealthCheck: TypeAlias = Literal["InstanceStress", "InstanceConnectivity"]
DEEP_HEALTH_CHECKS: Final[tuple[DeepHealthCheck, ...]] = ("InstanceStress", "InstanceConnectivity")
"""Both checks that CloudFormation takes. Source: AWS::SageMaker::Cluster schema, OnStartDeepHealthChecks."""

TEMPLATE_STRATEGIES: Final = ("WhenIdle", "WhenAllIdle")
"""Strategies of automatic patching that CloudFormation takes."""
DRAIN_FIRST: Final = "DrainFirst"
PATCHING_STRATEGIES: Final = (*TEMPLATE_STRATEGIES, DRAIN_FIRST)
"""Those that the API takes."""

_PLAN_ARN = re.compile(r"arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:training-plan/.+")
_PLAN_NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,63}")
_DATED = re.compile(r"cron\(\S* \S+ (?P<day>\d+) (?P<month>\d+) .*\)")
"""A schedule with one day of one month."""
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""How many days months have at most."""


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Capacity bought ahead. The facts are required, because an ARN alone hides the commonest mistakes.

    Attributes:
        plan: Name of the plan in the stack's account and Region, or its ARN.
        count: Instances that the plan holds; plans are sold as 1, 2, 4, 8, 16, 32 or 64.
        zone: Zone id in which the plan's instances stand, for example `usw2-az2`.
        starts: First day, `YYYY-MM-DD`; nodes arrive at 11:30 UTC.
        ends: Last day, `YYYY-MM-DD`; nodes begin to leave at 10:30 UTC, an hour before the plan ends.
        instance_type: The type that was bought. Defaults to that of the group.

    Raises:
        InvalidValue: if the plan is no name or ARN of one, a date is no date, the end is not after the start, or the
            count is below 1.

    Source: SageMaker developer guide, reserve-capacity-with-training-plans (October 2026); SageMaker API,
    CreateTrainingPlan (botocore 1.44.8).
    """

    plan: str
    _: KW_ONLY
    count: int | Unknown | None
    zone: str | Unknown | None
    starts: str | Unknown | None
    ends: str | Unknown | None
    instance_type: str | Unknown | None = None

    def __post_init__(self) -> None:
        if not is_token(self.plan) and not is_plan(self.plan):
            raise InvalidValue(
                f"the name of a training plan is {self.plan!r}",
                "give its name (1 to 64 letters, digits and hyphens, the first and last no hyphen) or its ARN",
            )
        check_whole("training plan count", self.count, low=1, high=256)
        starts, ends = _day("starts", self.starts), _day("ends", self.ends)
        if starts and ends and ends <= starts:
            raise InvalidValue(
                f"training plan {self.plan!r} starts {self.starts} and ends {self.ends}", "use an end after the start"
            )

    @classmethod
    def unchecked(cls, arn: str) -> TrainingPlan:
        """A plan of which only the ARN is known: count, zone and dates go unchecked.

        Args:
            arn: ARN of the plan, or a token.
        """
        if not is_token(arn) and not (isinstance(arn, str) and _PLAN_ARN.fullmatch(arn)):
            raise InvalidValue(
                f"{arn!r} is not the ARN of a training plan",
                "use arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME",
            )
        return cls(arn, count=None, zone=None, starts=None, ends=None)

    @property
    def has_facts(self) -> bool:
        """Whether anything but the ARN is known."""
        return self.count is not None

    @property
    def name(self) -> str:
        """The plan's name without its ARN."""
        return self.plan if is_token(self.plan) else self.plan.rpartition("/")[2]

    @property
    def arrives(self) -> datetime | None:
        """When the first nodes come, UTC."""
        day = _day("starts", self.starts)
        return datetime.combine(day, limits.PLAN_CHANGES_AT) if day else None

    @property
    def leaves(self) -> datetime | None:
        """When HyperPod begins to terminate the nodes, UTC."""
        day = _day("ends", self.ends)
        return datetime.combine(day, limits.PLAN_CHANGES_AT) - limits.PLAN_DRAIN if day else None


def is_plan(text: object) -> bool:
    """Whether a value has the form of a training plan's name or ARN."""
    return isinstance(text, str) and bool(_PLAN_NAME.fullmatch(text) or _PLAN_ARN.fullmatch(text))


def _day(field: str, value: object) -> date | None:
    """The day that an ISO date names; `None` where it is left out or not known."""
    if value is None or is_token(value):
        return None
    try:
        return date.fromisoformat(value)  # type: ignore[arg-type]  # a TypeError becomes the same finding
    except (TypeError, ValueError):
        raise InvalidValue(f"training plan {field} is {value!r}", "use a day as YYYY-MM-DD") from None


@dataclass(frozen=True, slots=True)
class OnDemand:
    """Instances asked for when the cluster is created, paid by the hour. The default."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Spare capacity that AWS may take back. Documented for EKS clusters only (developer guide, hyperpod-spot)."""


Capacity: TypeAlias = OnDemand | Spot | TrainingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSize:
    """How many nodes a rolling update takes at once.

    Attributes:
        count: Number of nodes, 1 or more. Give this or `percent`.
        percent: Share of the group in percent, 1 to 100.
    """

    count: int | None = None
    percent: int | None = None

    def __post_init__(self) -> None:
        if (self.count is None) == (self.percent is None):
            got = "neither count nor percent" if self.count is None else "both count and percent"
            raise InvalidValue(f"a batch size has {got}", "give one of them")
        check_whole("batch count", self.count, low=1, high=limits.INSTANCE_COUNT.high)
        check_whole("batch percent", self.percent, low=1, high=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingUpdate:
    """How an update moves through the nodes of a group.

    Attributes:
        batch: Nodes updated at once.
        rollback_batch: Nodes rolled back at once. Defaults to what the service chooses.
        wait_seconds: Pause after a batch, 0 to 3600 s.
        alarms: Names of CloudWatch alarms that roll the update back, at most 10, each once.
    """

    batch: BatchSize
    rollback_batch: BatchSize | None = None
    wait_seconds: int | None = None
    alarms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_several("rollback alarms", self.alarms)
        if any(isinstance(name, str) and name.startswith("#{Token[") for name in self.alarms):
            raise InvalidValue("the rollback alarms are a list token", "name them one by one: each gets its own entry")
        check_limit("wait between batches", self.wait_seconds, limits.ROLLING_WAIT_SECONDS, unit="seconds")
        check_limit("number of rollback alarms", len(self.alarms) or None, limits.ROLLBACK_ALARMS)
        named = [name for name in self.alarms if not is_token(name)]
        if len(set(named)) < len(named):
            raise InvalidValue(f"rollback alarms are {list(self.alarms)!r}", "name each alarm once")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledUpdate:
    """Software updates of a group on a schedule.

    Attributes:
        schedule: `cron(MINUTE HOUR DAY-OF-MONTH MONTH DAY-OF-WEEK YEAR)`, UTC. Minute and hour are single numbers and
            the day of the month is a number or `?`, for example `cron(0 3 ? * SUN *)`.
        rolling: How the update moves through the nodes. Defaults to all at once.

    Raises:
        InvalidValue: if its month does not have its day, so that it never comes.

    Source: AWS::SageMaker::Cluster schema, ScheduleExpression.
    """

    schedule: str | Unknown
    rolling: RollingUpdate | Unknown | None = None

    def __post_init__(self) -> None:
        dated = _DATED.fullmatch(self.schedule) if isinstance(self.schedule, str) else None
        month = int(dated["month"]) if dated else 0
        if dated and 1 <= month <= len(_DAYS) and int(dated["day"]) > _DAYS[month - 1]:
            raise InvalidValue(
                f"schedule {self.schedule} never comes: month {month} has {_DAYS[month - 1]} days at most",
                f"use a day from 1 to {_DAYS[month - 1]}, or ? and a weekday, such as cron(0 3 ? * SUN *)",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoPatch:
    """Automatic patching of a group.

    Attributes:
        when: `WhenIdle` patches each node as it becomes idle, `WhenAllIdle` waits until the whole group is.
            `DrainFirst`, which evicts what runs, exists in requests to the API only: CloudFormation refuses it.
        rolling: How the patch moves through the nodes; `DrainFirst` needs it.

    Source: SageMaker API, ClusterPatchingStrategy (botocore 1.44.8); AWS::SageMaker::Cluster schema (2026-10-20).
    """

    when: Literal["WhenIdle", "WhenAllIdle", "DrainFirst"] | Unknown
    rolling: RollingUpdate | Unknown | None = None

    def __post_init__(self) -> None:
        check_one_of("patching strategy", self.when, PATCHING_STRATEGIES)


class GroupOptions(TypedDict, total=False):
    """What a group may have besides its name, type and count; see `InstanceGroup`."""

    min_count: int | None
    threads_per_core: int | None
    capacity: Capacity | None
    volumes: Sequence[NodeVolume]
    mounts: Sequence[Mount]
    health_checks: Sequence[DeepHealthCheck] | None
    patching: AutoPatch | None
    scheduled_update: ScheduledUpdate | None
    zone: str | None
    image_id: str | None
    image_release_version: str | None
    kubernetes: KubernetesConfig | None
    network_interface: Literal["efa", "efa-only"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceGroup:
    """Nodes of one kind: one type, one role, one place.

    Users make groups with `controller`, `login` and `compute` for Slurm and `worker` for EKS, which set what that kind
    of node needs.

    Attributes:
        name: 1 to 63 letters, digits and hyphens; unique in the cluster. Renaming a group deletes its nodes.
        instance_type: For example `ml.p5.48xlarge`. Give this or `flexible_types`.
        flexible_types: Types in order of preference, 1 to 20; needs Continuous provisioning.
        described: Facts of an instance type that is newer than our catalogue.
        count: Nodes that jobs may use, 0 to 6758.
        spares: Nodes on top of `count` that wait for a failure. The group has `count + spares` instances: that is what
            is paid, addressed and counted against quotas.
        min_count: The group rolls back unless this many nodes come within 3 hours. Left out by default.
        node_type: Role in a Slurm cluster: Controller, Login or Compute.
        partitions: The Slurm partition of compute nodes; exactly one.
        threads_per_core: 1 or 2; cannot be changed later. Defaults to the service's choice.
        capacity: `OnDemand()`, `Spot()` or a `TrainingPlan`. Left out means on demand.
        volumes: EBS volumes: one root and one further volume at most.
        mounts: Shared file systems, for new nodes only: one Lustre and one OpenZFS at most.
        lifecycle: Scripts that run on a new node. Left out means what the cluster has.
        health_checks: Deep health checks of new nodes; empty means none, left out means the blueprint decides.
        patching: Automatic patching.
        scheduled_update: Software updates on a schedule.
        zone: Zone id if the group stands in another zone than its cluster; cannot be changed later.
        placement: Subnets and security groups of the group, where they are not the cluster's.
        image_id: Custom AMI, `ami-...`.
        image_release_version: Release of AWS's image, such as `1.0.742`; EKS clusters only. A change updates all nodes.
        kubernetes: Labels and taints of the nodes; EKS clusters only.
        network_interface: `efa` or `efa-only` (no IP on the EFA devices, fewer addresses).
        execution_role: Path or ARN of the role of the nodes; constructs make one where it is left out.
        asked: Names of all properties that ask for a kind of capacity, where a template has more than `capacity` can
            say: `OnDemand`, `Spot` and `TrainingPlanArn`.

    Raises:
        InvalidValue: for what can never be right in one field.

    Source: SageMaker API, ClusterInstanceGroupSpecification (botocore 1.44.8).
    """

    name: str | Unknown
    count: int | Unknown
    instance_type: str | Unknown | None = None
    flexible_types: tuple[str, ...] | Unknown = ()
    described: InstanceType | None = None
    spares: int = 0
    min_count: int | Unknown | None = None
    node_type: NodeType | Unknown | None = None
    partitions: tuple[str | Unknown, ...] | Unknown = ()
    threads_per_core: int | Unknown | None = None
    capacity: Capacity | Unknown | None = None
    volumes: tuple[NodeVolume, ...] | Unknown = ()
    mounts: tuple[Mount, ...] | Unknown = ()
    lifecycle: Lifecycle | Unknown | None = None
    health_checks: tuple[str | Unknown, ...] | Unknown | None = None
    patching: AutoPatch | Unknown | None = None
    scheduled_update: ScheduledUpdate | Unknown | None = None
    zone: str | Unknown | None = None
    placement: VpcPlacement | Unknown | None = None
    image_id: str | Unknown | None = None
    image_release_version: str | Unknown | None = None
    kubernetes: KubernetesConfig | Unknown | None = None
    network_interface: Literal["efa", "efa-only"] | Unknown | None = None
    execution_role: str | Unknown | None = None
    asked: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        make_tuples(self, "flexible_types", "partitions", "volumes", "mounts", "health_checks")
        check_name("group name", self.name)
        who = f"group {self.name!r}: "
        check_limit(who + "count", self.count, limits.INSTANCE_COUNT)
        check_limit(who + "spares", self.spares, limits.INSTANCE_COUNT)
        if isinstance(self.count, int) and isinstance(self.spares, int):
            check_limit(who + "count with spares", self.count + self.spares, limits.INSTANCE_COUNT)
        check_limit(who + "minimum count", self.min_count, limits.INSTANCE_COUNT)
        check_limit(who + "threads per core", self.threads_per_core, limits.THREADS_PER_CORE)
        check_one_of(who + "node type", self.node_type, NODE_TYPES)
        check_one_of(who + "network interface", self.network_interface, ("efa", "efa-only"))

    @classmethod
    def controller(
        cls, instance_type: str | InstanceType, *, name: str = "controller", **options: Unpack[GroupOptions]
    ) -> InstanceGroup:
        """The one node that runs slurmctld.

        Args:
            instance_type: A CPU type such as `ml.m5.4xlarge`.
            name: Name of the group.
            **options: Further fields, see `InstanceGroup`.
        """
        return cls._of(name, instance_type, "Controller", options, count=1)

    @classmethod
    def login(
        cls, instance_type: str | InstanceType, *, name: str = "login", count: int = 1, **options: Unpack[GroupOptions]
    ) -> InstanceGroup:
        """Nodes that people log in to.

        Args:
            instance_type: A CPU type such as `ml.m5.2xlarge`.
            name: Name of the group.
            count: Number of login nodes.
            **options: Further fields, see `InstanceGroup`.
        """
        return cls._of(name, instance_type, "Login", options, count=count)

    @classmethod
    def compute(
        cls,
        name: str,
        instance_type: str | InstanceType,
        *,
        count: int,
        spares: int = 0,
        partition: str | None = None,
        **options: Unpack[GroupOptions],
    ) -> InstanceGroup:
        """Nodes that run jobs.

        Args:
            name: Name of the group.
            instance_type: For example `ml.p5.48xlarge`.
            count: Nodes that jobs may use.
            spares: Further nodes that wait for a failure.
            partition: Slurm partition. Defaults to the name of the group.
            **options: Further fields, see `InstanceGroup`.
        """
        return cls._of(
            name, instance_type, "Compute", options, count=count, spares=spares, partitions=(partition or name,)
        )

    @classmethod
    def worker(
        cls,
        name: str,
        instance_type: str | InstanceType | Sequence[str],
        *,
        count: int,
        spares: int = 0,
        **options: Unpack[GroupOptions],
    ) -> InstanceGroup:
        """Nodes of an EKS cluster.

        Args:
            name: Name of the group.
            instance_type: For example `ml.p5.48xlarge`, or 1 to 20 types in order of preference.
            count: Nodes that pods may use; 0 for a group that Karpenter fills.
            spares: Further nodes that no team's quota holds.
            **options: Further fields, see `InstanceGroup`.
        """
        if isinstance(instance_type, str | InstanceType):
            return cls._of(name, instance_type, None, options, count=count, spares=spares)
        given: dict[str, Any] = dict(options)
        return cls(name=name, flexible_types=tuple(instance_type), count=count, spares=spares, **given)

    @classmethod
    def _of(
        cls,
        name: str,
        instance_type: str | InstanceType,
        node_type: NodeType | None,
        options: GroupOptions,
        *,
        count: int,
        spares: int = 0,
        partitions: tuple[str, ...] = (),
    ) -> InstanceGroup:
        described = instance_type if isinstance(instance_type, InstanceType) else None
        type_name = instance_type.name if isinstance(instance_type, InstanceType) else instance_type
        given: dict[str, Any] = dict(options)
        return cls(
            name=name,
            instance_type=type_name,
            described=described,
            node_type=node_type,
            count=count,
            spares=spares,
            partitions=partitions,
            **given,
        )

    @property
    def instances(self) -> int | Unknown:
        """Instances that the group has: `count + spares`."""
        return self.count if is_token(self.count) else self.count + self.spares  # type: ignore[operator]  # a number here

    @property
    def has_rollback_alarms(self) -> bool:
        """Whether alarms certainly roll an update of the group back."""
        updates = [
            each for each in (self.patching, self.scheduled_update) if isinstance(each, AutoPatch | ScheduledUpdate)
        ]
        return any(isinstance(each.rolling, RollingUpdate) and len(each.rolling.alarms) > 0 for each in updates)

    @property
    def eks_fields(self) -> tuple[str, ...]:
        """Names of those of its properties that only EKS clusters have and that certainly stand there."""
        given = {"ImageReleaseVersion": self.image_release_version, "KubernetesConfig": self.kubernetes}
        return tuple(name for name, value in given.items() if value is not None and not is_token(value))

    @property
    def facts(self) -> InstanceType | None:
        """What is known of the group's type; `None` for flexible groups and unknown types."""
        if self.described is not None:
            return self.described
        return instances.find(self.instance_type) if isinstance(self.instance_type, str) else None

    @property
    def possible_facts(self) -> tuple[InstanceType, ...]:
        """What is known of each type of which its nodes may be; empty unless all of those types are known."""
        if self.facts is not None:
            return (self.facts,)
        names = self.flexible_types if isinstance(self.flexible_types, tuple) and self.instance_type is None else ()
        found = [instances.find(name) for name in names]
        return tuple(facts for facts in found if facts is not None) if None not in found else ()
