"""The EKS cluster that HyperPod nodes join, and what is installed in it before and after they come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_constructs.tokens import Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """An EKS cluster of the deployment.

    Attributes:
        path: Construct path.
        name: Its name; left out where CloudFormation makes one.
        version: Kubernetes version, such as `1.34`; left out means the newest that EKS takes for its default.
        authentication: `API`, `API_AND_CONFIG_MAP` or `CONFIG_MAP`, which is what EKS takes where it is left out.
        subnets: Paths or ids of the subnets of its own interfaces.
        security_groups: Paths or ids of the further groups of those interfaces.
        public: Whether its endpoint can be reached from the internet, which is so where it is left out.
        public_cidrs: Blocks from which it can; left out means from anywhere.
        private: Whether its endpoint can be reached from its VPC without leaving it.
        bootstraps: Whether EKS installs vpc-cni, kube-proxy and coredns into it, which it does where this is left out.
        auto: Whether EKS runs nodes of its own in it (Auto Mode).
        reached_by: Types of resources that nobody can read and that refer to it; `*` for what may be anything.
        region: Region of its stack.
        after: Paths of what CloudFormation creates before it.
    """

    path: str
    name: str | Unknown | None = None
    version: str | Unknown | None = None
    authentication: str | Unknown | None = None
    subnets: tuple[str | Unknown, ...] | Unknown = ()
    security_groups: tuple[str | Unknown, ...] | Unknown = ()
    public: bool | Unknown = True
    public_cidrs: tuple[str | Unknown, ...] | Unknown = ()
    private: bool | Unknown = False
    bootstraps: bool | Unknown = True
    auto: bool | Unknown = False
    reached_by: frozenset[str] = frozenset()
    region: str | None = None
    after: frozenset[str] = frozenset()

    @property
    def complete(self) -> bool:
        """Whether nothing that nobody can read may add to it."""
        return not self.reached_by

    @property
    def own_group(self) -> str:
        """Path of the security group that EKS makes for it."""
        return f"{self.path}.ClusterSecurityGroupId"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addon:
    """An EKS add-on.

    Attributes:
        path: Construct path.
        control_plane: Path of its EKS cluster, or its name where that is no part of the deployment.
        name: For example `vpc-cni`.
        version: For example `v1.3.0-eksbuild.1`; left out means the default of the Kubernetes version.
        configuration: What its ConfigurationValues hold; left out means nothing.
        inline_identities: Whether pod identities are among its own properties.
        role: Path or ARN of the role of its service account (IRSA).
        certain: Whether it is certain that the template makes it.
        after: Paths of what CloudFormation creates before it.
    """

    path: str
    control_plane: str | Unknown
    name: str | Unknown
    version: str | Unknown | None = None
    configuration: Mapping[str, object] | Unknown | None = None
    inline_identities: bool | Unknown = False
    role: str | Unknown | None = None
    certain: bool = True
    after: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessEntry:
    """Who may call the Kubernetes API, or join as a node.

    Attributes:
        path: Construct path.
        control_plane: Path of its EKS cluster, or its name.
        principal: Path or ARN of the role or user.
        kind: `STANDARD`, which is what EKS takes where it is left out, `EC2_LINUX`, `HYPERPOD_LINUX` and others.
        groups: Kubernetes groups that the principal is in.
        policies: ARNs of the access policies that it has.
    """

    path: str
    control_plane: str | Unknown
    principal: str | Unknown
    kind: str | Unknown = "STANDARD"
    groups: tuple[str | Unknown, ...] | Unknown = ()
    policies: tuple[str | Unknown, ...] | Unknown = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodIdentity:
    """The role of the pods of a service account.

    Attributes:
        path: Construct path.
        control_plane: Path of its EKS cluster, or its name.
        namespace: Namespace of the service account.
        service_account: Its name.
        role: Path or ARN of the role.
        after: Paths of what CloudFormation creates before it.
    """

    path: str
    control_plane: str | Unknown
    namespace: str | Unknown
    service_account: str | Unknown
    role: str | Unknown
    after: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartInstall:
    """Something in a template that installs a Helm chart into an EKS cluster.

    Attributes:
        path: Construct path.
        control_plane: Path of the EKS cluster, or its name.
        chart: Name of the chart, as far as the template has one; left out for one that lies in a folder.
        release: Name that the installed chart gets.
        namespace: Namespace of the release.
    """

    path: str
    control_plane: str | Unknown
    chart: str | Unknown | None = None
    release: str | Unknown | None = None
    namespace: str | Unknown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherNodes:
    """Where pods of an EKS cluster run besides HyperPod: a managed node group or a Fargate profile.

    Attributes:
        path: Construct path.
        control_plane: Path of the EKS cluster, or its name.
    """

    path: str
    control_plane: str | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubernetes:
    """All of these in one deployment."""

    control_planes: tuple[ControlPlane, ...] = ()
    addons: tuple[Addon, ...] = ()
    access_entries: tuple[AccessEntry, ...] = ()
    pod_identities: tuple[PodIdentity, ...] = ()
    chart_installs: tuple[ChartInstall, ...] = ()
    other_nodes: tuple[OtherNodes, ...] = ()

    def control_plane(self, path: str | Unknown | None) -> ControlPlane | None:
        """The EKS cluster of this path or name, if the deployment makes it."""
        if not isinstance(path, str):
            return None
        return next((plane for plane in self.control_planes if path in {plane.path, plane.name}), None)

    def addons_of(self, plane: ControlPlane) -> tuple[Addon, ...]:
        """The add-ons of an EKS cluster."""
        return tuple(each for each in self.addons if self.control_plane(each.control_plane) is plane)

    def merged(self, other: Kubernetes) -> Kubernetes:
        """Both as one."""
        return Kubernetes(
            control_planes=self.control_planes + other.control_planes,
            addons=self.addons + other.addons,
            access_entries=self.access_entries + other.access_entries,
            pod_identities=self.pod_identities + other.pod_identities,
            chart_installs=self.chart_installs + other.chart_installs,
            other_nodes=self.other_nodes + other.other_nodes,
        )
