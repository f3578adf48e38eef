"""What can be known about the file systems that nodes mount.

SageMaker hands the mount to the node as it stands: a wrong name shows as a node that does not come.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.model.storage import Mount
from hyperpod_constructs.rules import Problem, rule
from hyperpod_constructs.rules._groups import Said, groups_of, place, told_once
from hyperpod_constructs.rules._places import in_one_template, waits_for
from hyperpod_constructs.rules._words import all_of, named
from hyperpod_constructs.tokens import UNKNOWN, known

_MOUNT_PATH: Final = re.compile(r"(/[a-zA-Z0-9._-]+)+")
_REQUESTED_MOUNT_PATH: Final = re.compile(r"/[a-zA-Z0-9._/-]+")
"""MountPath as CloudFormation takes it, and as the API does: with doubled and trailing slashes too."""
_DNS_NAME: Final = re.compile(r"[a-z]+-[0-9a-f]+\.fsx\.(?P<region>[a-z0-9-]+)\..+")
_KINDS: Final = {"lustre": "Lustre", "openzfs": "OpenZFS"}
_CONFIGS: Final = {
    "LUSTRE": "use FsxLustreConfig (hp.Mount kind='lustre')",
    "OPENZFS": "use FsxOpenZfsConfig (hp.Mount kind='openzfs')",
}
_ATTRIBUTES: Final = {
    "DNSName": "use its attribute DNSName (!GetAtt; CDK: attr_dns_name)",
    "LustreMountName": "use its attribute LustreMountName (!GetAtt; CDK: attr_lustre_mount_name)",
}
_DEFAULT_PATHS: Final = {"lustre": "/fsx", "openzfs": "/home"}
_VOLUME_PATH: Final = "/opt/sagemaker"
"""Where HyperPod mounts a volume beside the root. Source: SageMaker API, ClusterEbsVolumeConfig (botocore 1.44.8)."""
_MOUNT_API: Final = "SageMaker API, ClusterFsxLustreConfig and ClusterFsxOpenZfsConfig (botocore 1.44.8)"
_OLD_MOUNT_NAME: Final = "fsx"
"""What SCRATCH_1 is mounted by (unverified); other types get 8 characters by chance."""
_RANDOM_NAME: Final = 8


@dataclass(frozen=True, slots=True)
class _Use:
    """One mount of a cluster with the groups that have it: one mistake is told once.

    Attributes:
        cluster: The cluster.
        mount: The mount.
        groups: Its groups that have exactly this mount.
    """

    cluster: Cluster
    mount: Mount
    groups: tuple[InstanceGroup, ...]

    @property
    def path(self) -> str:
        """Where a finding points."""
        return place(self.cluster, self.groups)

    @property
    def who(self) -> str:
        """How a message begins: `group 'p5' mounts`, `groups 'a' and 'b' mount`."""
        return f"{named(*self.groups)} mount{'s' * (len(self.groups) == 1)}"

    @property
    def what(self) -> str:
        """How a message goes on: `group 'p5' mounts Lustre`."""
        return f"{self.who} {_KINDS[self.mount.kind]}"


def _uses(deployment: Deployment) -> Iterator[_Use]:
    """Every different mount of each cluster."""
    for cluster in deployment.clusters:
        found: dict[Mount, list[InstanceGroup]] = {}
        for group in groups_of(cluster):
            for mount in group.mounts if isinstance(group.mounts, tuple) else ():
                found.setdefault(mount, []).append(group)
        for mount, groups in found.items():
            yield _Use(cluster, mount, tuple(groups))


@rule(
    "HP3016",
    Severity.ERROR,
    title="Mount path is not one that the service takes",
    because="CloudFormation's pattern is stricter than the API's: no doubled slash and none at the end",
    source="AWS::SageMaker::Cluster schema, FsxLustreConfig and FsxOpenZfsConfig, MountPath; SageMaker API, "
    "ClusterFsxMountPath (botocore 1.44.8)",
)
def mount_paths_are_legal(deployment: Deployment) -> Iterator[Problem]:
    for use in _uses(deployment):
        folder = known(use.mount.path)
        if folder is not None and not _is_legal(folder, use.cluster):
            wrong, fix = _path_fault(folder)
            yield Problem(path=use.path, message=f"{use.what} at {folder!r}{wrong}", fix=fix)


def _is_legal(folder: str, cluster: Cluster) -> bool:
    pattern = _REQUESTED_MOUNT_PATH if cluster.requested else _MOUNT_PATH
    return pattern.fullmatch(folder) is not None


def _plain(folder: str) -> str:
    """The same folder without doubled and trailing slashes and without . and .. in its path."""
    return posixpath.normpath(f"/{folder.strip('/')}")


def _path_fault(folder: str) -> tuple[str, str]:
    """What a message adds to an illegal path, and the fix."""
    plain = f"/{'/'.join(name for name in folder.split('/') if name)}"
    if _MOUNT_PATH.fullmatch(plain):
        faults = {
            "no slash at its beginning": not folder.startswith("/"),
            "two slashes in a row": "//" in folder,
            "a slash at its end": folder.endswith("/"),
        }
        wrong = all_of(name for name, is_so in faults.items() if is_so)
        return f", which has {wrong}", f"use MountPath (path) {plain}"
    fix = "use MountPath (path) of letters, digits, dots, underscores and hyphens, each name after one slash: /fsx"
    return "", fix


_SYSTEM_FOLDERS: Final = frozenset(
    f"/{name}"
    for name in (
        *("bin", "boot", "dev", "etc", "lib", "lib64", "opt", "proc", "root", "run", "sbin", "sys", "tmp", "usr"),
        *("usr/bin", "usr/lib", "usr/local", "usr/sbin", "var", "var/lib", "var/log", "opt/ml", "opt/slurm"),
    )
)
"""Folders that the system of a node, HyperPod's agents and Slurm run from: /opt/ml has the configuration that scripts
read, /opt/slurm is Slurm."""


def _place_faults(cluster: Cluster, group: InstanceGroup) -> Iterator[Said]:
    """Each mount that takes the place of something, or hides where it goes."""
    for mount in group.mounts if isinstance(group.mounts, tuple) else ():
        folder = known(mount.path)
        if folder is None or not _is_legal(folder, cluster):
            continue
        kind, real = _KINDS[mount.kind], _plain(folder)
        if real == "/" or real in _SYSTEM_FOLDERS:
            fix = "use MountPath (path) of a folder of its own, such as /fsx"
            yield Said(after=f": {kind} at {folder} hides what the node runs from", fix=fix)
        elif {".", ".."} & set(folder.split("/")):
            yield Said(after=f": {kind} at {folder}, which means {real}", fix=f"use MountPath (path) {real}")


@rule(
    "HP3055",
    Severity.WARNING,
    title="Mount hides a folder that the node runs from, or its path is not what it seems",
    because="a mount covers what is in its folder, and the service takes any folder; what it makes of . and .. is not "
    "documented",
    source=f"{_MOUNT_API}, MountPath; inferred from how Linux mounts",
)
def mounts_have_a_place_of_their_own(deployment: Deployment) -> Iterator[Problem]:
    yield from told_once(deployment, _place_faults, with_restricted=True)


# --- Names of the file system


def _misnamed(deployment: Deployment, given: str | object, wanted: str) -> tuple[str, str] | None:
    """Path and attribute, where a value is another attribute of a file system than the wanted one."""
    path, _, attribute = str(given).rpartition(".")
    known_path = deployment.file_system(path) or deployment.other_file_system(path)
    return (path, attribute) if known_path and attribute != wanted else None


def _name_faults(deployment: Deployment, mount: Mount) -> Iterator[tuple[str, str]]:
    """Message and fix where a mount is not by the DNS name and mount name of one file system."""
    for given, wanted, what in (
        (mount.file_system, "DNSName", "DnsName"),
        (mount.mount_name, "LustreMountName", "MountName"),
    ):
        if found := _misnamed(deployment, given, wanted):
            path, attribute = found
            shown = "id (Ref)" if attribute == "Ref" else attribute
            yield f"with {what} from the {shown} of {path}", _ATTRIBUTES[wanted]
    named_by = deployment.file_system(mount.file_system), deployment.file_system(known(mount.mount_name) or "")
    if None not in named_by and named_by[0] != named_by[1]:
        message = f"with the DNS name of {mount.file_system} and the mount name of {mount.mount_name}"
        yield message, "take both from one file system"


@rule(
    "HP3040",
    Severity.ERROR,
    title="Mount does not name one file system by its DNS name and its mount name",
    because="each file system has a mount name of its own, and an id is neither of the two names",
    source=_MOUNT_API,
)
def mounts_name_one_file_system(deployment: Deployment) -> Iterator[Problem]:
    for use in _uses(deployment):
        for message, fix in _name_faults(deployment, use.mount):
            yield Problem(path=use.path, message=f"{use.what} {message}", fix=fix)


def _written_names(deployment: Deployment) -> Iterator[tuple[_Use, str, bool]]:
    """Mounts of file systems of the deployment whose mount name is written down, and whether it is certainly wrong."""
    for use in _uses(deployment):
        file_system = deployment.file_system(use.mount.file_system)
        name = known(use.mount.mount_name)
        is_read = name is not None and ("/" in name or deployment.file_system(name) is not None)
        if file_system is None or name is None or is_read:
            continue
        kind = file_system.lustre.deployment_type
        if name != _OLD_MOUNT_NAME or kind not in {"SCRATCH_1", UNKNOWN}:
            certain = kind not in {"SCRATCH_1", UNKNOWN} and len(name) != _RANDOM_NAME
            yield use, name, certain


@rule(
    "HP3041",
    Severity.ERROR,
    title="Mount name is not one that the file system can have",
    because="FSx gives every file system but SCRATCH_1 a mount name of 8 characters by chance",
    source="FSx for Lustre user guide; aws/aws-parallelcluster pull 1664",
)
def mount_names_can_be(deployment: Deployment) -> Iterator[Problem]:
    for use, name, certain in _written_names(deployment):
        if certain:
            yield Problem(
                path=use.path,
                message=f"{use.who} {use.mount.file_system} by the mount name {name!r}, which it cannot have",
                fix=_ATTRIBUTES["LustreMountName"],
            )


@rule(
    "HP3042",
    Severity.WARNING,
    title="Name of a file system of the same app is written down",
    because="FSx makes DNS name and mount name up with the file system: they cannot be known before, and are others "
    "after a replacement",
    source="aws/aws-parallelcluster pull 1664",
)
def names_are_read(deployment: Deployment) -> Iterator[Problem]:
    for use in _uses(deployment):
        owner, written = deployment.file_system(known(use.mount.mount_name) or ""), known(use.mount.file_system)
        if owner is not None and written is not None and _DNS_NAME.fullmatch(written):
            yield Problem(
                path=use.path,
                message=f"{use.who} {owner.path} by the DNS name {written}, which is a guess",
                fix=_ATTRIBUTES["DNSName"],
            )
    for use, name, certain in _written_names(deployment):
        if not certain:
            yield Problem(
                path=use.path,
                message=f"{use.who} {use.mount.file_system} by the mount name {name!r}, which is a guess",
                fix=_ATTRIBUTES["LustreMountName"],
            )


@rule(
    "HP3043",
    Severity.ERROR,
    title="File system is mounted as one of another kind",
    because="Lustre is mounted by FsxLustreConfig, OpenZFS by FsxOpenZfsConfig, and HyperPod mounts no other kinds",
    source=_MOUNT_API,
)
def mounts_fit_their_file_system(deployment: Deployment) -> Iterator[Problem]:
    for use in _uses(deployment):
        other, mount = deployment.other_file_system(use.mount.file_system), use.mount
        kind = "LUSTRE" if deployment.file_system(mount.file_system) else other.kind if other else None
        if kind is None or kind == mount.kind.upper():
            continue
        yield Problem(
            path=use.path,
            message=f"{use.who} {mount.file_system} as {_KINDS[mount.kind]}, but its FileSystemType is {kind}",
            fix=_CONFIGS.get(kind, "mount it in a lifecycle script: InstanceStorageConfigs has no such kind"),
        )


@rule(
    "HP3046",
    Severity.WARNING,
    title="File system is in another Region than the nodes that mount it",
    because="a DNS name of FSx names the Region; across Regions a mount is slow and charged where it works at all",
    source="FSx for Lustre user guide, mounting from another VPC",
)
def mounts_stay_in_the_region(deployment: Deployment) -> Iterator[Problem]:
    for use in _uses(deployment):
        match = _DNS_NAME.fullmatch(known(use.mount.file_system) or "")
        if match and use.cluster.region not in {None, match["region"]}:
            yield Problem(
                path=use.path,
                message=f"{use.who} {use.mount.file_system}, and the cluster is in {use.cluster.region}",
                fix=f"use a file system in {use.cluster.region}",
            )


# --- Folders and orchestrators


_APART: Final = "give each a MountPath (path) of its own, none inside another"


def _folders(group: InstanceGroup) -> Iterator[tuple[str, str]]:
    """What a group mounts where, as far as known, without the faults of paths that other rules name."""
    for volume in group.volumes if isinstance(group.volumes, tuple) else ():
        if volume.root is False:
            yield _VOLUME_PATH, "the volume"
    for mount in group.mounts if isinstance(group.mounts, tuple) else ():
        folder = _DEFAULT_PATHS[mount.kind] if mount.path is None else mount.path
        if isinstance(folder, str) and folder.startswith("/"):
            yield _plain(folder), _KINDS[mount.kind]


def _folder_faults(_: Cluster, group: InstanceGroup) -> Iterator[Said]:
    """Each two things of which one stands in the place of the other, or inside it."""
    for (folder, what), (other, other_what) in combinations(_folders(group), 2):
        # Two of one kind are too many wherever they are.
        if what == other_what:
            continue
        if folder == other:
            yield Said(after=f": {what} and {other_what} at {folder}", fix=_APART)
        elif other.startswith(f"{folder}/"):
            yield Said(after=f": {other_what} at {other}, inside {what} at {folder}", fix=_APART)
        elif folder.startswith(f"{other}/"):
            yield Said(after=f": {what} at {folder}, inside {other_what} at {other}", fix=_APART)


@rule(
    "HP3044",
    Severity.WARNING,
    title="Two things are mounted at one folder of a node, or one inside the other",
    because="the later one hides the earlier, and nothing says which is later; a volume beside the root stands at "
    "/opt/sagemaker, and folders that are left out are /fsx for Lustre and /home for OpenZFS",
    source=f"{_MOUNT_API}; the same, ClusterEbsVolumeConfig",
)
def folders_hold_one_mount(deployment: Deployment) -> Iterator[Problem]:
    yield from told_once(deployment, _folder_faults, with_restricted=True)


@rule(
    "HP3045",
    Severity.WARNING,
    title="Mounts in a cluster whose nodes may not mount them",
    because="AWS describes FsxLustreConfig and FsxOpenZfsConfig for Slurm clusters whose groups have a SlurmConfig; on "
    "EKS pods mount through a CSI driver, and in the old form of Slurm scripts do",
    source="SageMaker developer guide, sagemaker-hyperpod-ref",
)
def mounts_are_for_slurm_by_api(deployment: Deployment) -> Iterator[Problem]:
    for use in _uses(deployment):
        cluster = use.cluster
        if isinstance(cluster.orchestrator, Eks):
            where, fix = "an EKS cluster", "leave the mount out, and give pods a volume of the FSx CSI driver"
        elif cluster.orchestrator is None and all(group.node_type is None for group in cluster.groups):
            where, fix = (
                "a Slurm cluster without SlurmConfig",
                "give each group a SlurmConfig, or mount it in a lifecycle script (provisioning_parameters.json)",
            )
        else:
            continue
        yield Problem(path=use.path, message=f"{use.what} in {where}", fix=fix)


# --- Order


@rule(
    "HP3047",
    Severity.WARNING,
    title="Cluster does not wait for what its nodes mount",
    because="nodes come while the file system or its links to S3 are still being made: scripts that use them fail at "
    "random",
    source="awslabs/awsome-distributed-ai issue 632 and pull 782",
)
def clusters_wait_for_their_storage(deployment: Deployment) -> Iterator[Problem]:
    for cluster in deployment.clusters:
        late = [*_late_associations(deployment, cluster), *_late_file_systems(deployment, cluster)]
        if late:
            yield Problem(
                path=cluster.path,
                message=f"the cluster does not wait for {all_of(late)}",
                fix=f"let the cluster depend on {'it' if len(late) == 1 else 'them'} (DependsOn; CDK: "
                "node.add_dependency)",
            )


def _mounted(cluster: Cluster) -> set[object]:
    """What the groups of a cluster mount; `UNKNOWN` among it where not all is known."""
    found: set[object] = set()
    for group in cluster.groups:
        found |= {mount.file_system for mount in group.mounts} if isinstance(group.mounts, tuple) else {UNKNOWN}
    return found


def _late_associations(deployment: Deployment, cluster: Cluster) -> Iterator[str]:
    """Associations of what the cluster mounts that may be made after it."""
    mounted = _mounted(cluster)
    for each in deployment.associations:
        if each.file_system in mounted and not waits_for(deployment, cluster.path, cluster.depends_on, each.path):
            yield each.path


def _late_file_systems(deployment: Deployment, cluster: Cluster) -> Iterator[str]:
    """File systems of the cluster's template that only its scripts can mount, and that may be made after it.

    On EKS pods mount them, and those come later.
    """
    on_eks = isinstance(cluster.orchestrator, Eks)
    if on_eks or _mounted(cluster) or not any(_has_script(group) for group in cluster.groups):
        return
    paths = [each.path for each in deployment.file_systems] + [each.path for each in deployment.other_file_systems]
    for path in paths:
        late = not waits_for(deployment, cluster.path, cluster.depends_on, path)
        if late and in_one_template(deployment, cluster.path, path):
            yield path


def _has_script(group: InstanceGroup) -> bool:
    cycle = group.lifecycle
    return isinstance(cycle, Lifecycle) and any(
        isinstance(script, str) for script in (cycle.on_create, cycle.on_init_complete)
    )
