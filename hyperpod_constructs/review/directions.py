"""Properties whose change depends on the direction: what may grow and not shrink, or rise by one step only.

One direction of many is a word that takes nothing now and lets later events take data: protection that is turned off,
logs and backups that are kept for less long. Where a value is known only at deploy, it may be that direction.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from hyperpod_constructs.catalog.updates import Update
from hyperpod_constructs.cloudformation.values import Value
from hyperpod_constructs.review import expiry
from hyperpod_constructs.tokens import UNKNOWN

Judge: TypeAlias = Callable[[Value, Value], Update | None]

_MINOR: Final = re.compile(r"1\.(\d{1,4})", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_VERSION: Final = re.compile(r"(\d{1,4})\.(\d{1,4})", re.ASCII)
_FSX: Final = "FSx API, UpdateFileSystem: StorageCapacity can only be increased"
_IOPS: Final = "FSx API, UpdateFileSystemLustreMetadataConfiguration: Iops can only be increased"
_EKS: Final = "EKS user guide, update-cluster: one minor version at a time, never back"
_POD_RULES: Final = "InstanceGroups.KubernetesConfig"
_TAINTS: Final = "Kubernetes documentation, taints and tolerations"
_QUOTA: Final = "CloudFormation registry schema, AWS::SageMaker::ComputeQuota"
_RDS: Final = "RDS user guide, storage of an instance can only be increased"
_EBS: Final = "EC2 API, ModifyVolume: the size can only be increased"
_LUSTRE: Final = "FSx API, UpdateFileSystem: FileSystemTypeVersion cannot be lower than the current one"
_ACCESS: Final = "EKS user guide, access entries: the authentication mode does not go back"
_NODES: Final = "EKS user guide, managed node groups: fewer nodes than there are means that some are terminated"
_AUTOSCALING: Final = "SageMaker API, UpdateCluster, ClusterRole (botocore 1.44.8)"
_ACCOUNTING: Final = "SageMaker developer guide, sagemaker-hyperpod-external-accounting-db-slurm (seen 2026-11-30)"
_KMS: Final = "KMS developer guide, enabling and disabling keys"
_S3: Final = "S3 user guide, expiring objects; it holds for objects that are there already"
_SERVICE: Final = "CloudFormation template reference of the type"
_ECR: Final = "ECR user guide, lifecycle policies"
_LOGS: Final = "CloudWatch Logs user guide, changing the retention of log data"
_TTL: Final = "DynamoDB developer guide, time to live"
_MODES: Final = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
"""Authentication modes of an EKS cluster, in the only order in which they follow one another."""
_ON: Final = frozenset({"true", "enabled", "active", "enable"})
_OFF: Final = frozenset({"false", "disabled", "suspended", "inactive", "disable"})
_PROTECT: Final = "leave it on, unless this is the step before a delete that is meant"
_LONGER: Final = "leave it as it is, or copy what is still needed first"


def of(
    kind: str, path: str, before: Value, after: Value, sides: tuple[Value, Value] = (UNKNOWN, UNKNOWN)
) -> Update | None:
    """What a change in this direction does; `None` where the direction says nothing or is not known.

    Args:
        kind: Resource type.
        path: The property, with dots between names and without places in lists.
        before: Its value.
        after: Its value afterwards.
        sides: All properties of the resource before and after, where they are at hand.
    """
    if (kind, path.partition(".")[0]) == ("AWS::S3::Bucket", "LifecycleConfiguration"):
        return _expires(path, before, after, sides)
    if (kind, path) == ("AWS::SageMaker::Cluster", "ClusterRole"):
        return _role_of_autoscaling(before, sides[0])
    judge = _JUDGES.get((kind, path)) or _BY_NAME.get(path.rpartition(".")[2])
    return judge(before, after) if judge else None


def number(value: Value) -> float | None:
    """A value as a number; `None` where it is none, is none that counts (`nan`, `inf`), or is not known."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


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


def _version_only_up(before: Value, after: Value) -> Update | None:
    old, new = (_VERSION.fullmatch(value) if isinstance(value, str) else None for value in (before, after))
    if old is None or new is None or tuple(map(int, new.groups())) >= tuple(map(int, old.groups())):
        return None
    because = f"{old[0]} would become {new[0]}, and the version only goes upwards"
    return Update(does="refused", because=because, instead="leave it as it is", source=_LUSTRE)


def _mode_only_forward(before: Value, after: Value) -> Update | None:
    places = [_MODES.index(value) if isinstance(value, str) and value in _MODES else None for value in (before, after)]
    old, new = places
    if old is None or new is None or new >= old:
        return None
    because = f"{_MODES[old]} would become {_MODES[new]}, and the mode only goes from CONFIG_MAP towards API"
    return Update(does="refused", because=because, instead="leave it as it is", source=_ACCESS)


def _fewer_nodes(before: Value, after: Value) -> Update | None:
    old, new = number(before), number(after)
    if old is None or new is None or new >= old:
        return None
    because = f"nodes above {new:,.0f} are terminated, up to {old - new:,.0f} of them, and the group picks which"
    instead = "drain the nodes that shall go first"
    return Update(does="deletes nodes", because=because, instead=instead, source=_NODES)


def _role_of_autoscaling(before: Value, base: Value) -> Update | None:
    """Another role for autoscaling: the service takes it while that is off."""
    scaling = base.get("AutoScaling") if isinstance(base, dict) else base
    mode = scaling.get("Mode") if isinstance(scaling, dict) else scaling
    if before is None or _flag(mode, absent=False) is False:
        return None
    on = "autoscaling is on" if _flag(mode, absent=False) else "whether autoscaling is on is not known here"
    because = f"the service takes another role only while autoscaling is off, and {on}"
    instead = "turn autoscaling off in one deploy, and change the role in the next"
    return Update(does="open", because=because, instead=instead, source=_AUTOSCALING)


def _accounting_moves(before: Value, after: Value) -> Update | None:
    """A way from the controller to a database outside, which has no way back."""
    if isinstance(before, dict) and after is None:
        because = "a cluster with an external accounting database cannot go back to the one on its controller"
        instead = "keep the database, and whatever it stands in; a new cluster can do without"
        return Update(does="refused", because=because, instead=instead, source=_ACCOUNTING)
    if before is None and isinstance(after, dict):
        because = "the cluster cannot go back, and no page says that the history on the controller moves along"
        instead = "dump the database on the controller first, and do it while no job runs"
        return Update(does="open", because=because, instead=instead, source=_ACCOUNTING)
    return None


def _key_disabled(before: Value, after: Value) -> Update | None:
    old, new = _flag(before, absent=True), _flag(after, absent=True)
    if old is False or new is True:
        return None
    may = "" if new is False else "if it is disabled, which is decided at deploy, "
    because = f"{may}nothing that is encrypted with it can be read any more: volumes, file systems, objects and logs"
    instead = "look who uses the key first; a disabled key can be enabled again"
    return Update(does="open", because=because, instead=instead, source=_KMS)


def _flag(value: Value, *, absent: bool) -> bool | None:
    """Whether something is on; `None` where that is not known."""
    if value is None:
        return absent
    text = str(value).lower() if isinstance(value, bool | str) else ""
    return True if text in _ON else False if text in _OFF else None


def _within(value: Value, name: str) -> Value:
    """A part of a structure, or the value where it is that part already."""
    return value.get(name) if isinstance(value, dict) else value


def _off(means: str, name: str = "", source: str = _SERVICE, instead: str = _PROTECT) -> Judge:
    """What is protected as long as something is on.

    Args:
        means: What it means that it is off, as a clause.
        name: Where it says so in a structure.
        source: Who says so.
        instead: What to do about it.
    """

    def judge(before: Value, after: Value) -> Update | None:
        old, new = (_flag(_within(value, name), absent=False) for value in (before, after))
        if old is False or new is True:
            return None
        because = means if old and new is False else f"{means}, if it is turned off, which is decided at deploy"
        return Update(does="unprotects", because=because, instead=instead, source=source)

    return judge


def _on(means: str, name: str, source: str) -> Judge:
    """What deletes data as long as it is on."""

    def judge(before: Value, after: Value) -> Update | None:
        old, new = (_flag(_within(value, name), absent=False) for value in (before, after))
        if old is True or new is False:
            return None
        because = means if old is False and new else f"{means}, if it is turned on, which is decided at deploy"
        return Update(does="unprotects", because=because, instead=_LONGER, source=source)

    return judge


def _less(what: str, *, absent: float, source: str = _SERVICE) -> Judge:
    """What is kept for so long, or so often.

    Args:
        what: What goes, as words that come before `go`.
        absent: The number where none is written.
        source: Who says so.
    """

    def judge(before: Value, after: Value) -> Update | None:
        old, new = (absent if value is None else number(value) for value in (before, after))
        if old is not None and new is not None and new >= old:
            return None
        because = f"{what} go" if old is not None and new is not None else f"{what} go, if it is lower"
        return Update(does="unprotects", because=because, instead=_LONGER, source=source)

    return judge


def _expires(path: str, before: Value, after: Value, sides: tuple[Value, Value]) -> Update | None:
    """What the rules of a bucket delete afterwards that they did not before."""
    more = expiry.more(path, before, after, sides)
    if more is False:
        return None
    because = "objects or versions that are there already are deleted, which they were not before, or sooner"
    may = "" if more else ", if the rules come to that: they are not known here"
    instead = "list first what the rule would delete; a rule with Status: Disabled deletes nothing"
    return Update(does="unprotects", because=f"{because}{may}", instead=instead, source=_S3)


def _images_expire(before: Value, after: Value) -> Update | None:
    old, new = (_within(value, "LifecyclePolicyText") for value in (before, after))
    if not expiry.more_images(old, new):
        return None
    may = "" if isinstance(new, str) else ", if it names any, which is decided at deploy"
    because = f"images that the policy names are deleted within a day{may}"
    instead = "preview it: `aws ecr start-lifecycle-policy-preview --repository-name REPOSITORY`"
    return Update(does="unprotects", because=because, instead=instead, source=_ECR)


def _other_attribute(before: Value, after: Value) -> Update | None:
    if before is None or after is None:
        return None
    because = "items whose time in the other attribute has passed are deleted"
    return Update(does="unprotects", because=because, instead=_LONGER, source=_TTL)


_BACKUPS: Final = "automated backups that are older, and all of them with 0,"
_DELETE: Final = "the next delete, or a replacement, can take it with what it holds"
_NO_RECOVERY: Final = "the copies of past states go, and nobody can go back to one"
_EXPIRING: Final = "items whose time has passed are deleted"
_RECOVERY: Final = "PointInTimeRecoverySpecification"
_CLUSTERS: Final = ("AWS::DocDB::DBCluster", "AWS::Neptune::DBCluster", "AWS::RDS::DBCluster")
_BY_NAME: Final[Mapping[str, Judge]] = {
    "DeletionProtection": _off(_DELETE),
    "DeletionProtectionEnabled": _off(_DELETE),
}
"""Properties that mean one thing wherever they are."""
_JUDGES: Final[Mapping[tuple[str, str], Judge]] = {
    ("AWS::FSx::FileSystem", "StorageCapacity"): _only_up(
        _FSX, "make a smaller file system beside it and copy", "new-file-system"
    ),
    ("AWS::FSx::FileSystem", "LustreConfiguration.MetadataConfiguration.Iops"): _only_up(
        _IOPS, "leave it as it is", None
    ),
    ("AWS::RDS::DBInstance", "AllocatedStorage"): _only_up(_RDS, "leave it as it is", None),
    ("AWS::EC2::Volume", "Size"): _only_up(_EBS, "make a smaller volume beside it and copy", None),
    ("AWS::FSx::FileSystem", "FileSystemTypeVersion"): _version_only_up,
    ("AWS::EKS::Cluster", "AccessConfig.AuthenticationMode"): _mode_only_forward,
    ("AWS::EKS::Nodegroup", "ScalingConfig.DesiredSize"): _fewer_nodes,
    ("AWS::EKS::Nodegroup", "ScalingConfig.MaxSize"): _fewer_nodes,
    ("AWS::KMS::Key", "Enabled"): _key_disabled,
    ("AWS::SageMaker::Cluster", "Orchestrator.Slurm.AccountingDatabase"): _accounting_moves,
    ("AWS::Logs::LogGroup", "RetentionInDays"): _less("events that are older", absent=math.inf, source=_LOGS),
    ("AWS::ECR::Repository", "LifecyclePolicy"): _images_expire,
    ("AWS::ECR::Repository", "LifecyclePolicy.LifecyclePolicyText"): _images_expire,
    ("AWS::FSx::FileSystem", "LustreConfiguration.AutomaticBackupRetentionDays"): _less(_BACKUPS, absent=0),
    ("AWS::Kinesis::Stream", "RetentionPeriodHours"): _less("records that are older", absent=24),
    ("AWS::SQS::Queue", "MessageRetentionPeriod"): _less("messages that are older", absent=345_600),
    **{(kind, "BackupRetentionPeriod"): _less(_BACKUPS, absent=1) for kind in (*_CLUSTERS, "AWS::RDS::DBInstance")},
    **{
        ("AWS::S3::Bucket", path): _off("what is overwritten or deleted from then on has no older version", "Status")
        for path in ("VersioningConfiguration", "VersioningConfiguration.Status")
    },
    **{
        (kind, f"{path}{end}"): _off(_NO_RECOVERY, "PointInTimeRecoveryEnabled")
        for kind, path in (
            ("AWS::DynamoDB::Table", _RECOVERY),
            ("AWS::DynamoDB::GlobalTable", f"Replicas.{_RECOVERY}"),
        )
        for end in ("", ".PointInTimeRecoveryEnabled")
    },
    **{
        (kind, f"TimeToLiveSpecification{end}"): judge
        for kind in ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
        for end, judge in (
            ("", _on(_EXPIRING, "Enabled", _TTL)),
            (".Enabled", _on(_EXPIRING, "Enabled", _TTL)),
            (".AttributeName", _other_attribute),
        )
    },
    ("AWS::EKS::Cluster", "Version"): _one_minor_up,
    **{("AWS::SageMaker::Cluster", _POD_RULES + part): _evicts for part in ("", ".Taints", ".Taints.Effect")},
    **{
        ("AWS::SageMaker::ComputeQuota", f"ComputeQuotaConfig.ComputeQuotaResources.{name}"): _guaranteed
        for name in ("Accelerators", "Count", "MemoryInGiB", "VCpu")
    },
}
