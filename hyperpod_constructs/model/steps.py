"""What a new node does after HyperPod has set it up, step by step.

    lifecycle=hp.LifecycleScripts.steps([*hp.steps.defaults(), hp.steps.Script(path="nodes/motd.sh")])

Each step is a small program of ours, or a script of yours, that can run again at any time and changes nothing then.
A runner on the node starts them in this order, each with a limit in time. What `docs/nodes.md` says of a step is what
is proven with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.checks import check_name, check_whole, make_tuples
from hyperpod_constructs.model.storage import Mount
from hyperpod_constructs.tokens import is_placeholder, is_token, known

Role = Literal["controller", "login", "compute", "worker"]
"""What a node is: one of the first three on Slurm, `worker` on EKS."""
SLURM: Final[tuple[Role, ...]] = ("controller", "login", "compute")
EVERYWHERE: Final[tuple[Role, ...]] = (*SLURM, "worker")
_LONGEST: Final = 3600
_MOST_RETRIES: Final = 20
_S3: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/\S+")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_SECRET: Final = re.compile(r"arn:[^:]+:secretsmanager:[^:]*:[^:]*:secret:\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What steps may know of the cluster that they run on.

    Attributes:
        cluster: Name of the cluster.
        region: Region, where it is known at synth.
        groups: Its instance groups, with their mounts.
        efa: Paths of Lustre file systems with EFA.
        roster: Name of the SSM parameter that says where the roster lies: what changes while nodes run.
    """

    cluster: str
    region: str | None = None
    groups: Sequence[InstanceGroup] = ()
    efa: frozenset[str] = frozenset()
    roster: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What all steps have.

    Attributes:
        groups: Names of the groups on whose nodes the step runs. Defaults to all that have a role for it.
        timeout_seconds: After this long the step and all that it started are killed, 1 to 3600 s.
        retries: How often it is tried again after a failure, 0 to 20; the pause doubles each time, beginning with 5 s.
        required: Whether a node on which it fails is given up: HyperPod then replaces it, and a cluster that is being
            created with it fails. Other steps that fail are reported and the node goes on.
    """

    groups: Sequence[str] | None = None
    timeout_seconds: int | None = None
    retries: int | None = None
    required: bool | None = None

    name: ClassVar[str] = ""
    roles: ClassVar[tuple[Role, ...]] = EVERYWHERE
    every_seconds: ClassVar[int | None] = None
    after_reboot: ClassVar[bool] = False
    _timeout: ClassVar[int] = 60
    _retries: ClassVar[int] = 2
    _required: ClassVar[bool] = False

    def __post_init__(self) -> None:
        make_tuples(self, *(each.name for each in fields(self)))
        who = f"step {self.name or type(self).__name__}: "
        check_fields(who, self)
        check_whole(f"{who}timeout_seconds", self.timeout_seconds, low=1, high=_LONGEST)
        check_whole(f"{who}retries", self.retries, low=0, high=_MOST_RETRIES)

    @property
    def title(self) -> str:
        """Its name on the node: in the log, in the command, as a timer."""
        return self.name

    @property
    def run(self) -> str:
        """The module that does it, or the file of a script."""
        return self.name.replace("-", "_")

    def inputs(self, context: Context) -> dict[str, Any]:
        """What it is given, as JSON; secrets only by reference."""
        del context
        return {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """ARNs of secrets that nodes must be able to read for it."""
        return ()

    @property
    def objects(self) -> tuple[str, ...]:
        """Addresses of objects that nodes must be able to read for it."""
        return ()

    @property
    def files(self) -> Mapping[str, bytes]:
        """Files of the user's that are published for it, by name."""
        return {}

    def encode(self, context: Context) -> dict[str, Any]:
        """How it stands in the file that the runner reads."""
        required = self._required if self.required is None else self.required
        encoded: dict[str, Any] = {
            "name": self.title,
            "run": self.run,
            "roles": list(self.roles),
            "timeout": self.timeout_seconds or self._timeout,
            "retries": self._retries if self.retries is None else self.retries,
            "backoff": 5,
            "required": required,
            "at_boot": self.after_reboot,
            "inputs": self.inputs(context),
        }
        if self.groups is not None:
            encoded["groups"] = sorted(self.groups)
        if self.every_seconds:
            encoded["every"] = self.every_seconds
        return encoded


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystems(Step):
    """Waits for the mounts of the cluster, tries them and tunes the Lustre client.

    A node whose file system is missing, full, read-only or hangs is given up, with what to look at in the message.
    Where a file system has EFA, counters prove that traffic takes it.

    Attributes:
        wait_seconds: How long to wait for the service to mount them.
    """

    wait_seconds: int = 300

    name: ClassVar[str] = "file-systems"
    after_reboot: ClassVar[bool] = True
    _timeout: ClassVar[int] = 420
    _required: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_whole("step file-systems: wait_seconds", self.wait_seconds, low=0, high=_LONGEST)

    def inputs(self, context: Context) -> dict[str, Any]:
        """The mounts of each group."""
        return {
            "wait": self.wait_seconds,
            "mounts": {
                str(group.name): [_mount(mount, context) for mount in _mounts(group)] for group in context.groups
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreClient(Step):
    """Keeps the Lustre client and the kernel it was built for from being upgraded without the other."""

    name: ClassVar[str] = "lustre-client"
    _retries: ClassVar[int] = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataService(Step):
    """Closes the instance metadata service to everybody but root, so that who logs in does not hold the node's role.

    Attributes:
        allow_users: Users that may ask it all the same.
    """

    allow_users: Sequence[str] = ()

    name: ClassVar[str] = "metadata-service"
    roles: ClassVar[tuple[Role, ...]] = SLURM
    after_reboot: ClassVar[bool] = True
    _required: ClassVar[bool] = True

    def inputs(self, context: Context) -> dict[str, Any]:
        """Who may ask it."""
        del context
        return {"allow_users": sorted(self.allow_users)}


@dataclass(frozen=True, slots=True, kw_only=True)
class People(Step):
    """Users, groups and keys from the cluster's `people`, looked at again every five minutes.

    Attributes:
        homes: Folder of the home folders, on a file system that all nodes share.
        uri: `s3://bucket/key` of a file that somebody else keeps. Defaults to the roster of the cluster.
        keys_between_nodes: Whether every user gets a key pair of their own, to go from node to node.
    """

    homes: str = "/fsx/home"
    uri: str | None = None
    keys_between_nodes: bool = True

    name: ClassVar[str] = "people"
    roles: ClassVar[tuple[Role, ...]] = SLURM
    every_seconds: ClassVar[int | None] = 300
    after_reboot: ClassVar[bool] = True
    _timeout: ClassVar[int] = 300

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        _check_folder("step people: homes", self.homes)
        if self.uri is not None:
            _check_object("step people: uri", self.uri)

    def inputs(self, context: Context) -> dict[str, Any]:
        """Where the file lies."""
        return {
            **_source(self.uri, context),
            "homes": self.homes,
            "keys_between_nodes": self.keys_between_nodes,
        }

    @property
    def objects(self) -> tuple[str, ...]:
        """The file, where somebody else keeps it."""
        return (self.uri,) if self.uri else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sssd(Step):
    """Users from a directory (Active Directory or LDAP) through SSSD, which the image must have.

    Attributes:
        domain: Name of the domain.
        uri: `ldaps://...` address of the directory.
        base_dn: Where users are looked for.
        bind_dn: As whom nodes ask.
        secret_arn: Secret that holds the password of `bind_dn` as text.
        ca_certificate: Certificate of the directory's authority, PEM.
        allow_groups: Groups that may log in; everybody if none is named.
        homes: Folder of the home folders.
    """

    domain: str
    uri: str
    base_dn: str
    bind_dn: str | None = None
    secret_arn: str | None = None
    ca_certificate: str | None = None
    allow_groups: Sequence[str] = ()
    homes: str = "/fsx/home"

    name: ClassVar[str] = "sssd"
    roles: ClassVar[tuple[Role, ...]] = SLURM
    every_seconds: ClassVar[int | None] = 3600
    _timeout: ClassVar[int] = 120

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        _check_folder("step sssd: homes", self.homes)
        if not self.uri.startswith("ldaps://"):
            raise InvalidValue(f"step sssd: uri is {self.uri!r}", "use ldaps://: passwords must not cross in the clear")
        if (self.bind_dn is None) != (self.secret_arn is None):
            raise InvalidValue("step sssd: bind_dn and secret_arn go together")
        if self.secret_arn is not None and not _SECRET.fullmatch(self.secret_arn):
            raise InvalidValue(f"step sssd: secret_arn is {self.secret_arn!r}", "use the ARN of a secret")

    def inputs(self, context: Context) -> dict[str, Any]:
        """The directory; its password by reference."""
        del context
        given = {
            "domain": self.domain,
            "uri": self.uri,
            "base_dn": self.base_dn,
            "bind_dn": self.bind_dn,
            "secret_arn": self.secret_arn,
            "ca_certificate": self.ca_certificate,
            "allow_groups": sorted(self.allow_groups) or None,
            "homes": self.homes,
        }
        return {key: value for key, value in given.items() if value is not None}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The password."""
        return (self.secret_arn,) if self.secret_arn else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmAdopt(Step):
    """Lets people log in to compute nodes only while a job of theirs runs there, where the image has pam_slurm_adopt.

    Attributes:
        admin_group: Group whose members may always log in.
        enabled: Whether it is on; `False` takes it away.
    """

    admin_group: str | None = None
    enabled: bool = True

    name: ClassVar[str] = "slurm-adopt"
    roles: ClassVar[tuple[Role, ...]] = ("compute",)
    every_seconds: ClassVar[int | None] = 600

    def inputs(self, context: Context) -> dict[str, Any]:
        """Who may always log in."""
        del context
        admin = {"admin_group": self.admin_group} if self.admin_group else {}
        return {"enabled": self.enabled, **admin}


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
            _check_object("step accounting: uri", self.uri)

    def inputs(self, context: Context) -> dict[str, Any]:
        """Where the file lies."""
        return _source(self.uri, context)

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
        return _source(None, context)


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
    after_reboot: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers(Step):
    """Checks Enroot and Pyxis, and puts Enroot's caches on local NVMe instead of the root disk.

    Attributes:
        candidates: Folders of which the first that is a disk of its own is taken.
    """

    candidates: Sequence[str] = ("/opt/dlami/nvme", "/opt/sagemaker")

    name: ClassVar[str] = "containers"
    roles: ClassVar[tuple[Role, ...]] = ("login", "compute")
    after_reboot: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        for folder in self.candidates:
            _check_folder("step containers: candidate", folder)

    def inputs(self, context: Context) -> dict[str, Any]:
        """Where the caches may lie."""
        del context
        return {"candidates": list(self.candidates)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRotation(Step):
    """Rotates the logs of Slurm and of these steps.

    Attributes:
        days: How long they are kept, 1 to 365.
        megabytes: How long a log may become before it is rotated, 1 to 10,000 MB.
    """

    days: int = 14
    megabytes: int = 100

    name: ClassVar[str] = "log-rotation"
    every_seconds: ClassVar[int | None] = 86_400

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_whole("step log-rotation: days", self.days, low=1, high=365)
        check_whole("step log-rotation: megabytes", self.megabytes, low=1, high=10_000)

    def inputs(self, context: Context) -> dict[str, Any]:
        """How much is kept."""
        del context
        return {"days": self.days, "megabytes": self.megabytes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A program of yours that runs all the time: an exporter, a collector.

    Attributes:
        name: Letters, digits and hyphens.
        uri: `s3://bucket/key` of the program, or of a .tar.gz that holds it.
        sha256: What the object must be; nodes refuse anything else.
        binary: Path of the program in the archive.
        arguments: Its arguments.
        files: Configuration files by absolute path.
        environment: Environment variables; no secrets.
        credentials: Whether it may ask the metadata service for the role of the node, as a collector does that writes
            to Prometheus.
    """

    name: str
    uri: str
    sha256: str
    binary: str | None = None
    arguments: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    credentials: bool = False

    def __post_init__(self) -> None:
        make_tuples(self, "arguments")
        check_fields(f"service {self.name!r}: ", self)
        check_name("service", self.name)
        _check_object(f"service {self.name!r}: uri", self.uri)
        if not _SHA256.fullmatch(self.sha256):
            raise InvalidValue(
                f"service {self.name!r}: sha256 is {self.sha256!r}",
                "use the 64 hexadecimal digits that sha256sum prints",
            )
        if self.binary is not None and (self.binary.startswith("/") or ".." in self.binary.split("/")):
            raise InvalidValue(f"service {self.name!r}: binary is {self.binary!r}", "use a path within the archive")
        for path in self.files:
            _check_folder(f"service {self.name!r}: file", path)

    def encode(self) -> dict[str, Any]:
        """How it stands in the file that the runner reads."""
        given = {
            "name": self.name,
            "uri": self.uri,
            "sha256": self.sha256,
            "binary": self.binary,
            "arguments": list(self.arguments),
            "files": dict(sorted(self.files.items())),
            "environment": dict(sorted(self.environment.items())),
            "credentials": self.credentials,
        }
        return {key: value for key, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Services(Step):
    """Exporters, collectors and the like from a bucket of yours, pinned by SHA-256, each as a user of its own.

    Attributes:
        services: The programs.
        name_: Set it where several of these steps run on different groups.
    """

    services: Sequence[Service]
    name_: str = "services"

    _timeout: ClassVar[int] = 300

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_name("step", self.name_)

    @property
    def title(self) -> str:
        """The name given."""
        return self.name_

    @property
    def run(self) -> str:
        """The module that does it."""
        return "services"

    def inputs(self, context: Context) -> dict[str, Any]:
        """The programs."""
        del context
        return {"services": [each.encode() for each in self.services]}

    @property
    def objects(self) -> tuple[str, ...]:
        """Where they lie."""
        return tuple(each.uri for each in self.services)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script(Step):
    """A script of yours, with its own first line (`#!/bin/bash`).

    It finds the group of its node in HYPERPOD_GROUP and everything else in the JSON file that HYPERPOD_INPUTS names.
    It should be safe to run again. What it loads from the internet is reported.

    Attributes:
        path: File on this machine.
        on: Roles of the nodes on which it runs.
        every: Seconds between later runs; it runs once if left out.
        at_boot: Whether it runs again after a reboot.
        given: What it finds under its name in the JSON file; no secrets.
    """

    path: str | Path
    on: Sequence[Role] = EVERYWHERE
    every: int | None = None
    at_boot: bool = False
    given: Mapping[str, object] = field(default_factory=dict)

    _timeout: ClassVar[int] = 600
    _retries: ClassVar[int] = 0
    _required: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_name("script", self.title)
        if not Path(self.path).is_file():
            raise InvalidValue(f"script {self.path} is not there, or is no file")
        check_whole(f"script {self.path}: every", self.every, low=10, high=86_400)

    @property
    def title(self) -> str:
        """The name of the file without its ending."""
        return re.sub(r"[^A-Za-z0-9]+", "-", Path(self.path).stem).strip("-")

    @property
    def run(self) -> str:
        """Where the file lies beside the runner."""
        return f"own/{Path(self.path).name}"

    def inputs(self, context: Context) -> dict[str, Any]:
        """What the user gives it."""
        del context
        return dict(self.given)

    @property
    def files(self) -> Mapping[str, bytes]:
        """The script."""
        return {self.run: Path(self.path).read_bytes()}

    def encode(self, context: Context) -> dict[str, Any]:
        """How it stands in the file that the runner reads."""
        encoded = {**Step.encode(self, context), "roles": list(self.on), "at_boot": self.at_boot}
        return {**encoded, "every": self.every} if self.every else encoded


def defaults(
    *, people: bool = False, teams: bool = False, homes: str = "/fsx/home", slurm: bool = True
) -> tuple[Step, ...]:
    """The steps of a cluster that says nothing else.

    Args:
        people: Whether the cluster has `people`.
        teams: Whether it has teams.
        homes: Folder of the home folders.
        slurm: Whether Slurm schedules; EKS nodes need less.
    """
    everywhere: tuple[Step, ...] = (FileSystems(), LustreClient(), LogRotation())
    if not slurm:
        return everywhere
    return (
        FileSystems(),
        LustreClient(),
        MetadataService(),
        *((People(homes=homes),) if people else ()),
        *((Accounting(),) if teams else ()),
        Spares(),
        NodeCounts(),
        JobChecks(),
        Containers(),
        LogRotation(),
    )


def check_steps(steps: Sequence[Step]) -> None:
    """Refuses steps that could not be told apart.

    Raises:
        InvalidValue: if two have one name, or two scripts one file name.
    """
    titles = [step.title for step in steps]
    if twice := sorted({title for title in titles if titles.count(title) > 1}):
        raise InvalidValue(
            f"several steps are named {', '.join(twice)}", "give scripts different file names, and services a name_"
        )


def encode(steps: Sequence[Step], context: Context) -> dict[str, Any]:
    """The file that the runner reads: what it knows of the cluster, and the steps in their order.

    Raises:
        InvalidValue: if something in it is decided at deploy: the file is hashed and uploaded before.
    """
    check_steps(steps)
    region = {"region": context.region} if context.region else {}
    encoded: dict[str, Any] = {
        "cluster": context.cluster,
        **region,
        "groups": {str(group.name): _group(group) for group in context.groups},
        "steps": [step.encode(context) for step in steps],
    }
    for step in encoded["steps"]:
        if late := _token_in(step["inputs"]):
            raise InvalidValue(
                f"step {step['name']} is given {late!r}, which is known only at deploy",
                "write it out, or let the step read it from an SSM parameter whose name you give it",
            )
    return encoded


def _token_in(value: object) -> str | None:
    """The first text in a value of JSON that holds a token."""
    if isinstance(value, Mapping | list):
        parts = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        return next(filter(None, map(_token_in, parts)), None)
    return value if isinstance(value, str) and is_token(value) and not is_placeholder(value) else None


def _group(group: InstanceGroup) -> dict[str, Any]:
    """What steps may know of a group, as far as it stays while nodes run: the roster has the rest."""
    facts = group.facts
    partitions = group.partitions if isinstance(group.partitions, tuple) else ()
    found = {
        "role": str(known(group.node_type) or "worker").lower(),
        "partition": partitions[0] if partitions else None,
        "type": known(group.instance_type),
        "accelerators": facts.accelerators if facts else None,
        "kind": facts.accelerator.kind if facts and facts.accelerator else None,
        "efa": facts.efa if facts else None,
        "local_disk_gb": facts.local_disk_gb if facts else None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _mounts(group: InstanceGroup) -> tuple[Mount, ...]:
    return group.mounts if isinstance(group.mounts, tuple) else ()


def _mount(mount: Mount, context: Context) -> dict[str, Any]:
    """A mount as far as it is known at synth; names that the deploy decides are left out."""
    name, where = known(mount.mount_name), known(mount.file_system)
    named = {"mount_name": name, "dns_name": where if name or mount.kind == "openzfs" else None}
    efa = mount.file_system in context.efa
    return {"path": str(mount.path), "kind": mount.kind, "efa": efa} | {k: v for k, v in named.items() if v}


def _source(uri: str | None, context: Context) -> dict[str, Any]:
    if uri is not None:
        return {"uri": uri}
    return {"parameter": context.roster}


def _check_folder(what: str, path: object) -> None:
    if not isinstance(path, str) or not re.fullmatch(r"(/[\w.-]+)+", path) or ".." in path.split("/"):
        raise InvalidValue(f"{what} is {path!r}", "use an absolute path such as /fsx/home")


def _check_object(what: str, uri: object) -> None:
    if not isinstance(uri, str) or not _S3.fullmatch(uri):
        raise InvalidValue(f"{what} is {uri!r}", "use s3://BUCKET/KEY")
