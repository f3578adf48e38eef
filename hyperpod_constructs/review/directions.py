"""Properties whose change depends on the direction: what may grow and not shrink, or rise by one step only."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from hyperpod_constructs.catalog.updates import Update
from hyperpod_constructs.cloudformation.values import Value

Judge: TypeAlias = Callable[[Value, Value], Update | None]

_MINOR: Final = re.compile(r"1\.(\d+)")
_FSX: Final = "FSx API, UpdateFileSystem: StorageCapacity can only be increased"
_IOPS: Final = "FSx API, UpdateFileSystemLustreMetadataConfiguration: Iops can only be increased"
_EKS: Final = "EKS user guide, update-cluster: one minor version at a time, never back"
_POD_RULES: Final = "InstanceGroups.KubernetesConfig"
_TAINTS: Final = "Kubernetes documentation, taints and tolerations"
_QUOTA: Final = "CloudFormation registry schema, AWS::SageMaker::ComputeQuota"
_RDS: Final = "RDS user guide, storage of an instance can only be increased"


def of(kind: str, path: str, before: Value, after: Value) -> Update | None:
    """What a change in this direction does; `None` where the direction says nothing or is not known."""
    judge = _JUDGES.get((kind, path))
    return judge(before, after) if judge else None


def number(value: Value) -> float | None:
    """A value as a number; `None` where it is none or not known."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _only_up(source: str, instead: str, recipe: str | None) -> Judge:
    def judge(before: Value, after: Value) -> Update | None:
        old, new = number(before), number(after)
        if old is None or new is None or new >= old:
            return None
        because = f"{old:,.0f} would become {new:,.0f}, and it can only grow"
        return Update(does="refused", because=because, instead=instead, recipe=recipe, source=source)

    return judge


def _one_minor_up(before: Value, after: Value) -> Update | None:
    old, new = (_MINOR.fullmatch(value) if isinstance(value, str) else None for value in (before, after))
    if old is None or new is None:
        return None
    steps = int(new[1]) - int(old[1])
    if steps == 1:
        return Update(
            does="rolls",
            because="the control plane is updated; nodes keep their version until their software is updated",
            instead="check the versions of the add-ons and of kubectl first",
            recipe="upgrade-kubernetes",
            source=_EKS,
        )
    if steps < 0:
        because, instead = "EKS never goes back to an older version", "leave the version as it is"
        return Update(does="refused", because=because, instead=instead, source=_EKS)
    return Update(
        does="refused",
        because=f"EKS goes up by one minor version at a time, and this is {steps}",
        instead=f"go to 1.{int(old[1]) + 1} first",
        recipe="upgrade-kubernetes",
        source=_EKS,
    )


def _evicts(before: Value, after: Value) -> Update | None:
    """What taints do: only `NoExecute` touches pods that run."""
    if not _may_evict(after) or _may_evict(before):
        return None
    because = "running pods that do not tolerate the taint are evicted at once, as it says NoExecute"
    instead = "write NoSchedule, which lets running pods end, or add the toleration to the jobs first"
    return Update(does="rolls", because=because, instead=instead, source=_TAINTS)


def _may_evict(value: Value) -> bool:
    if isinstance(value, list):
        return any(map(_may_evict, value))
    if isinstance(value, dict):
        return _may_evict(value.get("Effect")) or _may_evict(value.get("Taints"))
    return value == "NoExecute"


def _guaranteed(before: Value, after: Value) -> Update | None:
    """What more of a quota does; of less, the catalogue's row tells."""
    old, new = number(before), number(after)
    if old is None or new is None or new < old:
        return None
    because = "the team is guaranteed more; what others run there on borrowed quota may be preempted"
    return Update(does="in place", because=because, source=_QUOTA)


_JUDGES: Final[Mapping[tuple[str, str], Judge]] = {
    ("AWS::FSx::FileSystem", "StorageCapacity"): _only_up(
        _FSX, "make a smaller file system beside it and copy", "new-file-system"
    ),
    ("AWS::FSx::FileSystem", "LustreConfiguration.MetadataConfiguration.Iops"): _only_up(
        _IOPS, "leave it as it is", None
    ),
    ("AWS::RDS::DBInstance", "AllocatedStorage"): _only_up(_RDS, "leave it as it is", None),
    ("AWS::EKS::Cluster", "Version"): _one_minor_up,
    **{("AWS::SageMaker::Cluster", _POD_RULES + part): _evicts for part in ("", ".Taints", ".Taints.Effect")},
    **{
        ("AWS::SageMaker::ComputeQuota", f"ComputeQuotaConfig.ComputeQuotaResources.{name}"): _guaranteed
        for name in ("Accelerators", "Count", "MemoryInGiB", "VCpu")
    },
}
