"""Who may use how much of a cluster: teams, their share, and what goes before what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.checks import check_whole, make_tuples
from hyperpod_constructs.tokens import Unknown

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_LONGEST: Final = 40
_MOST_PRIORITIES: Final = 10
_HIGHEST: Final = 100
_MOST_BORROWED: Final = 500
_MOST_INSTANCES: Final = 10_000_000
_MOST_TYPES: Final = 15
_RESERVED: Final = frozenset(("root", "normal", "default"))
"""Names that Slurm gives to an account and to qualities of service of its own."""


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise InvalidValue(
            f"{what} {name!r} is not allowed", f"use 1 to {_LONGEST} lower-case letters, digits and hyphens"
        )
    if name in _RESERVED:
        raise InvalidValue(f"{what} {name!r} is one of Slurm's own", "choose another name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of the instances of one type. Give one of the fields; the service works the others out in proportion.

    Attributes:
        accelerators: Accelerators, 1 or more.
        vcpus: Virtual processors. The team gets no accelerators then.
        memory_gib: Memory in GiB. The team gets no accelerators then.

    Source: SageMaker API, ComputeQuotaResourceConfig (botocore 1.44.8).
    """

    accelerators: int | None = None
    vcpus: float | None = None
    memory_gib: float | None = None

    def __post_init__(self) -> None:
        check_fields("share: ", self)
        named = {"accelerators": self.accelerators, "vcpus": self.vcpus, "memory_gib": self.memory_gib}
        given = {name: value for name, value in named.items() if value is not None}
        if len(given) != 1:
            raise InvalidValue(f"a share has {' and '.join(given) or 'nothing'}", f"give one of {', '.join(named)}")
        for name, value in given.items():
            if isinstance(value, bool) or not value > 0:
                raise InvalidValue(f"{name} of a share is {value!r}", "use a number above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team and its share of a cluster.

    Attributes:
        name: 1 to 40 lower-case letters, digits and hyphens. On EKS a change takes the old team away.
        instances: Instances that are the team's own, by type: `{"ml.p5.48xlarge": 12}`; on EKS also parts of them:
            `{"ml.p5.48xlarge": hp.Share(accelerators=4)}`. At most 15 types.
        weight: Its part of what is free, compared with the weights of other teams, 0 to 100.
        borrow_limit_percent: How much it may use beyond its own while others leave it idle, 0 to 500 % of its own.
        lend: Whether others may use what it leaves idle; one that does not lend does not borrow either. EKS only: what
            keeps a team's nodes for itself on Slurm is a reservation.
        preempt: Whether its own tasks of higher priority may stop its own of lower priority. EKS only.
        members: Names of users (Slurm), or ARNs of roles (EKS), who may submit.
        priorities: Priority classes that its jobs may have; all if none is named. Slurm only.

    Source: AWS::SageMaker::ComputeQuota schema (2026-10-20): names, weights 0 to 100; developer guide: borrow limit 1
        to 500 %.
    """

    name: str
    instances: Mapping[str, int | Share] = field(default_factory=dict)
    weight: int = 0
    borrow_limit_percent: int = 50
    lend: bool = True
    preempt: bool = True
    members: Sequence[str] = ()
    priorities: Sequence[str] = ()

    def __post_init__(self) -> None:
        make_tuples(self, "members", "priorities")
        who = f"team {self.name!r}: "
        check_fields(who, self)
        _check_name("team", self.name)
        check_whole(f"{who}weight", self.weight, low=0, high=_HIGHEST)
        check_whole(f"{who}borrow_limit_percent", self.borrow_limit_percent, low=0, high=_MOST_BORROWED)
        for kind, count in self.counts.items():
            check_whole(f"{who}instances of {kind}", count, low=0, high=_MOST_INSTANCES)
        if len(self.instances) > _MOST_TYPES:
            raise InvalidValue(f"{who}instances of {len(self.instances)} types", f"use at most {_MOST_TYPES}")
        if len(set(self.members)) < len(self.members):
            raise InvalidValue(f"{who}members are {list(self.members)}", "name each once")

    @property
    def counts(self) -> dict[str, int]:
        """Whole instances that are the team's own, by type."""
        return {kind: count for kind, count in self.instances.items() if not isinstance(count, Share)}

    def quota(self, accelerators: Mapping[str, int]) -> dict[str, int | None]:
        """What is the team's own, as Slurm counts it: accelerators, or nodes where a type has none or is not known.

        Args:
            accelerators: Accelerators of one instance, by type.
        """
        if not self.counts:
            return {"nodes": None, "accelerators": None}
        if all(accelerators.get(kind) for kind in self.counts):
            total = sum(count * accelerators[kind] for kind, count in self.counts.items())
            return {"nodes": None, "accelerators": total}
        return {"nodes": sum(self.counts.values()), "accelerators": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGovernance:
    """How teams share a cluster.

    On Slurm every team becomes an account with a fair share and a limit, and every priority class a quality of service.
    On EKS every team becomes a compute quota with a namespace `hyperpod-ns-TEAM`, and the priority classes a scheduler
    policy.

    Attributes:
        teams: The teams.
        priorities: Priority classes with their weights, 0 to 100; higher goes first. At most 10.
        idle_sharing: Whether teams may use what others leave idle, each up to its borrow limit.
        fair_share: Whether weights say who borrows first, or who comes first. EKS only.
        share_unassigned: Whether teams may borrow what no team has, too. Left out, they may unless a group has spares,
            which nothing else holds. EKS only.

    Raises:
        InvalidValue: if a team occurs twice, or has a priority class that is not there.

    Source: AWS::SageMaker::ClusterSchedulerConfig schema (2026-10-20).
    """

    teams: Sequence[Team] = ()
    priorities: Mapping[str, int] = field(default_factory=dict)
    idle_sharing: bool = True
    fair_share: bool = True
    share_unassigned: bool | None = None

    def __post_init__(self) -> None:
        make_tuples(self, "teams")
        check_fields("governance: ", self)
        names = [team.name for team in self.teams]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InvalidValue(f"several teams are named {', '.join(twice)}", "give each team a name of its own")
        if len(self.priorities) > _MOST_PRIORITIES:
            raise InvalidValue(f"there are {len(self.priorities)} priority classes", f"use at most {_MOST_PRIORITIES}")
        for name, weight in self.priorities.items():
            _check_name("priority class", name)
            check_whole(f"priority class {name!r}", weight, low=0, high=_HIGHEST)
        for team in self.teams:
            if missing := sorted(set(team.priorities) - set(self.priorities)):
                raise InvalidValue(
                    f"team {team.name!r} has priority class {', '.join(missing)}, which is not there",
                    f"use one of {', '.join(self.priorities) or 'none'}, or add it to priorities",
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerPolicy:
    """A ClusterSchedulerConfig: what goes before what on a cluster that EKS schedules.

    Attributes:
        path: Construct path.
        cluster: Path or ARN of the HyperPod cluster.
        name: Its name; cannot be changed later.
        priorities: Weights by name of the priority class.
        fair_share: `Enabled`, which is what the service takes where it is left out, or `Disabled`.
        idle_sharing: Whether teams may borrow what is in no quota: `Enabled`, or `Disabled`, which is what the service
            takes where it is left out.
        certain: Whether it is certain that the template makes it.
        after: Paths of what CloudFormation creates before it.

    Source: AWS::SageMaker::ClusterSchedulerConfig schema (2026-10-20); SageMaker developer guide,
        sagemaker-hyperpod-eks-operate-console-ui-governance-policies (October 2026).
    """

    path: str
    cluster: str | Unknown
    name: str | Unknown | None = None
    priorities: Mapping[str, int | Unknown] | Unknown = field(default_factory=dict)
    fair_share: str | Unknown | None = None
    idle_sharing: str | Unknown | None = None
    certain: bool = True
    after: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaShare:
    """What a quota holds of one instance type.

    Attributes:
        instance_type: For example `ml.p5.48xlarge`.
        count: Instances.
        accelerators: Accelerators.
        vcpus: Virtual processors.
        memory_gib: Memory.
        partition: Kind of MIG partition.
        partition_count: How many of those.
    """

    instance_type: str | Unknown
    count: int | Unknown | None = None
    accelerators: int | Unknown | None = None
    vcpus: float | Unknown | None = None
    memory_gib: float | Unknown | None = None
    partition: str | Unknown | None = None
    partition_count: int | Unknown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A ComputeQuota: what a team of a cluster that EKS schedules may use.

    Attributes:
        path: Construct path.
        cluster: Path or ARN of the HyperPod cluster.
        team: Name of the team; cannot be changed later.
        name: Name of the quota; cannot be changed later.
        shares: What it holds, by instance type.
        weight: Fair share, 0 to 100.
        sharing: `Lend`, `DontLend` or `LendAndBorrow`, which is what the service takes where it is left out.
        borrow_limit: How much the team may borrow, in percent of its own; 50 where it is left out.
        borrowable: How much it may borrow of each instance type, in absolute numbers; left out means as the percentage
            says.
        preempts: `LowerPriority`, which is what the service takes where it is left out, or `Never`.
        active: `Enabled`, which is what the service takes where it is left out, or `Disabled`.
        has_members: Whether anybody is given access to the team, as far as its author says.
        certain: Whether it is certain that the template makes it.
        after: Paths of what CloudFormation creates before it.

    Source: AWS::SageMaker::ComputeQuota schema (2026-10-20).
    """

    path: str
    cluster: str | Unknown
    team: str | Unknown
    name: str | Unknown | None = None
    shares: tuple[QuotaShare | Unknown, ...] | Unknown = ()
    weight: int | Unknown | None = None
    sharing: str | Unknown | None = None
    borrow_limit: int | Unknown | None = None
    borrowable: tuple[QuotaShare | Unknown, ...] | Unknown = ()
    preempts: str | Unknown | None = None
    active: str | Unknown | None = None
    has_members: bool | Unknown | None = None
    certain: bool = True
    after: frozenset[str] = frozenset()
