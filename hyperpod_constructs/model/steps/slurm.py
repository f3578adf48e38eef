"""Steps for Slurm: accounts, spares, counts, and what runs before and after a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hyperpod_constructs.model.steps.step import (
    Context,
    Role,
    Step,
    check_object,
    source,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting(Step):
    """Accounts, qualities of service and limits of Slurm from the teams of the cluster's `governance`.

    Attributes:
        uri: `s3://bucket/key` of a roster that somebody else keeps. Defaults to that of the cluster.
    """

    uri: str | None = None

    name: ClassVar[str] = "accounting"
    roles: ClassVar[tuple[Role, ...]] = ("controller",)
    every_seconds: ClassVar[int | None] = 300
    _timeout: ClassVar[int] = 180

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        if self.uri is not None:
            check_object("step accounting: uri", self.uri)

    def inputs(self, context: Context) -> dict[str, Any]:
        """Where the file lies."""
        return source(self.uri, context)

    @property
    def objects(self) -> tuple[str, ...]:
        """The file, where somebody else keeps it."""
        return (self.uri,) if self.uri else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spares(Step):
    """Holds the spare nodes of each group away from jobs, on every partition, by a reservation of the controller.

    It shrinks as nodes fail, so that a requeued job finds a node at once, and grows again when they return.
    """

    name: ClassVar[str] = "spares"
    roles: ClassVar[tuple[Role, ...]] = ("controller",)
    every_seconds: ClassVar[int | None] = 30

    def inputs(self, context: Context) -> dict[str, Any]:
        """Where the counts are, which change while the controller runs."""
        return source(None, context)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCounts(Step):
    """Publishes how many nodes are idle, allocated, down and held as spares to CloudWatch, every minute.

    Namespace `/aws/sagemaker/Clusters`, the one that AWS's policy for nodes allows.
    """

    name: ClassVar[str] = "node-counts"
    roles: ClassVar[tuple[Role, ...]] = ("controller",)
    every_seconds: ClassVar[int | None] = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChecks(Step):
    """Looks at accelerators before a job starts, gives it scratch space on local NVMe, and takes that away after it."""

    name: ClassVar[str] = "job-checks"
    roles: ClassVar[tuple[Role, ...]] = ("compute",)
    every_seconds: ClassVar[int | None] = 600
    after_reboot: ClassVar[bool] = True
