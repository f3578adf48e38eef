"""EKS: clusters, add-ons, access entries, pod identities, and which of them HyperPod's nodes need.

Written from AWS's texts (facts 3 and 11) and not from this library's rules. Texts in quotation marks of EKS are those
that people got from it; where AWS's words are not known, the check says in ours what the documentation asks for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ministack.core.responses import get_account_id, get_region
from ministack.services import ec2, iam
from ministack.services.cloudformation import provisioners
from moto.sagemaker import models

from tests.proof.emulator import world
from tests.proof.emulator.generic import Created, Generic, new_id
from tests.proof.emulator.registry import Schema

ADDON: Final = "AWS::EKS::Addon"
PLANE: Final = "AWS::EKS::Cluster"
TASK_GOVERNANCE: Final = "amazon-sagemaker-hyperpod-taskgovernance"
_CERT_MANAGER: Final = "cert-manager"
_POD_IDENTITY_AGENT: Final = "eks-pod-identity-agent"
_TRAINING_OPERATOR: Final = "amazon-sagemaker-hyperpod-training-operator"
_WITHOUT_NODES: Final = frozenset((_POD_IDENTITY_AGENT, "kube-proxy", "vpc-cni"))
"""DaemonSets, which are active while there is no node; everything else is taken for a Deployment."""
_UNHEALTHY: Final = "The add-on is unhealthy because it doesn't have the desired number of replicas."
_CLUSTER_POLICY: Final = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
_MODES: Final = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
_VERSIONS: Final = range(30, 36)
"""Minor versions of Kubernetes that HyperPod takes."""


@dataclass
class Plane:
    """One EKS cluster.

    Attributes:
        name: Its name.
        vpc: Id of its VPC.
        own_group: The security group that EKS makes for it.
        properties: As the template has them.
        addons: Properties of its add-ons by name.
        entries: ARNs of the principals that have an access entry.
        pods: Namespaces and service accounts that have a role.
    """

    name: str
    vpc: str
    own_group: str
    properties: dict[str, Any]
    addons: dict[str, dict[str, Any]] = field(default_factory=dict)
    entries: set[str] = field(default_factory=set)
    pods: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Its ARN."""
        return f"arn:aws:eks:{get_region()}:{get_account_id()}:cluster/{self.name}"

    @property
    def mode(self) -> str:
        """How it knows who calls; EKS's default is no access entries."""
        return str(self.properties.get("AccessConfig", {}).get("AuthenticationMode", "CONFIG_MAP"))

    @property
    def minor(self) -> int:
        """Its minor version of Kubernetes."""
        return int(str(self.properties.get("Version", "1.35")).partition(".")[2])

    def hyperpods(self) -> list[Any]:
        """The HyperPod clusters whose nodes join it."""
        clusters: list[Any] = [*models.sagemaker_backends[get_account_id()][get_region()].clusters.values()]
        return [each for each in clusters if eks_of(each.request) == self.arn]


PLANES: Final[dict[str, Plane]] = {}
"""EKS clusters by name."""


def eks_of(request: Mapping[str, Any]) -> str | None:
    """ARN of the EKS cluster that schedules a HyperPod cluster."""
    arn: str | None = request.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
    return arn


def plane_of(arn: str | None) -> Plane | None:
    """The EKS cluster of an ARN, if there is one."""
    return next((plane for plane in PLANES.values() if plane.arn == arn), None)


def sure_nodes(request: Mapping[str, Any]) -> int:
    """How many nodes of a HyperPod cluster run for sure once it is `InService`.

    With continuous provisioning it is `InService` while its nodes start (facts 1.5): `MinInstanceCount` alone waits.
    """
    waits = "MinInstanceCount" if request.get("NodeProvisioningMode") == "Continuous" else "InstanceCount"
    return sum(group.get(waits, 0) for group in request.get("InstanceGroups", ()))


def cluster_refusal(request: Mapping[str, Any], name: str) -> str | None:
    """Why SageMaker does not make a HyperPod cluster on an EKS cluster; `None` where it does."""
    arn = eks_of(request)
    if arn is None:
        return None
    plane = plane_of(arn)
    if plane is None:
        return f"EKS cluster {arn} could not be found"
    return next(_cluster_refusals(plane, request, name), None)


def _cluster_refusals(plane: Plane, request: Mapping[str, Any], name: str) -> Iterator[str]:
    groups = request.get("InstanceGroups", ())
    if plane.mode == "CONFIG_MAP":
        yield f"SLR Access Entry CREATE failed: the authentication mode of EKS cluster {plane.name} is {plane.mode}"
    if plane.minor not in _VERSIONS:
        yield f"Kubernetes version 1.{plane.minor} of EKS cluster {plane.name} is not supported"
    if "vpc-cni" not in plane.addons:
        yield f"EKS cluster {plane.name} has no Amazon VPC CNI plugin 1.18.3 or newer"
    for placement in (request.get("VpcConfig", {}), *(group.get("OverrideVpcConfig", {}) for group in groups)):
        for subnet in placement.get("Subnets", ()):
            if subnet in ec2._subnets and ec2._subnets[subnet]["VpcId"] != plane.vpc:
                yield f"The subnet {subnet} is not in {plane.vpc}, the VPC of EKS cluster {plane.name}"
    if taken := {group["ExecutionRole"] for group in groups} & plane.entries:
        yield f"EKS Access Entries CREATE failed: {_TAKEN} ({taken.pop()})"
    if others := [each.cluster_name for each in plane.hyperpods() if each.cluster_name != name]:
        # Developer guide, sagemaker-hyperpod-eks: a 1-to-1 mapping between an EKS cluster and a HyperPod cluster.
        yield f"EKS cluster {plane.name} is that of HyperPod cluster {others[0]}"


_TAKEN: Final = "The specified access entry resource is already in use on this cluster."


def refused(message: str, code: str) -> ValueError:
    """An error as CloudFormation reports that of a handler."""
    return ValueError(f'Resource handler returned message: "{message}" (HandlerErrorCode: {code})')


def found(name: str) -> Plane:
    """The EKS cluster of a name.

    Raises:
        ValueError: if there is none.
    """
    if name not in PLANES:
        raise refused(f"No cluster found for name: {name}.", "NotFound")
    return PLANES[name]


def _trusts(role_arn: str, service: str, *actions: str) -> bool:
    """Whether a role is there and lets a service take it."""
    role = iam._roles.get(role_arn.rpartition("/")[2])
    statements = json.loads(role["AssumeRolePolicyDocument"])["Statement"] if role else []
    allowed = {
        action
        for each in statements
        if service in str(each.get("Principal", {}).get("Service"))
        for action in ([each["Action"]] if isinstance(each["Action"], str) else each["Action"])
    }
    return set(actions) <= allowed


class ControlPlane(Generic):
    """An EKS cluster, with network interfaces in its subnets."""

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:
        """CreateCluster."""
        request = self._schema.checked(properties)
        name = request.get("Name") or new_id(PLANE, stack, logical_id)[:100]
        if name in PLANES:
            raise refused(f"Cluster already exists with name: {name}", "AlreadyExists")
        vpc = _vpc_of(request)
        _check_role(request["RoleArn"])
        # The native function, so that the journal does not take the group for a resource of the template.
        own_group, _ = provisioners._ec2_sg_create(f"eks-cluster-sg-{name}", {"VpcId": vpc}, "")
        plane = PLANES[name] = Plane(name, vpc, own_group, request)
        _attach(plane)
        return name, self._attributes(plane)

    def update(
        self, physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str
    ) -> Created:
        """UpdateClusterConfig and UpdateClusterVersion."""
        request = self._schema.checked(new)
        if self.is_other(old, new):
            return self.create(logical_id, new, stack)
        plane, changed = PLANES[physical_id], Plane(physical_id, "", "", request)
        if changed.minor not in {plane.minor, plane.minor + 1}:
            text = f"Unsupported Kubernetes minor version update from 1.{plane.minor} to 1.{changed.minor}"
            raise refused(text, "InvalidRequest")
        if _MODES.index(changed.mode) < _MODES.index(plane.mode):
            text = f"Unsupported authentication mode update from {plane.mode} to {changed.mode}"
            raise refused(text, "InvalidRequest")
        if _vpc_of(request) != plane.vpc:
            raise refused("Provided subnets belong to a different VPC", "InvalidRequest")
        plane.properties = request
        _attach(plane)
        return physical_id, self._attributes(plane)

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:  # noqa: ARG002  # as ministack calls it
        """DeleteCluster; HyperPod needs the EKS cluster for as long as it has nodes in it."""
        plane = PLANES.get(physical_id)
        if plane is None:
            return
        if hyperpods := plane.hyperpods():
            raise refused(f"Cluster has HyperPod cluster {hyperpods[0].cluster_name} attached", "ResourceConflict")
        del PLANES[physical_id]
        world.INTERFACES.pop(plane.arn, None)
        ec2._security_groups.pop(plane.own_group, None)

    def _attributes(self, plane: Plane) -> dict[str, str]:
        host = f"{plane.own_group.removeprefix('sg-').upper()}.gr7.{get_region()}.eks.amazonaws.com"
        return {
            "Arn": plane.arn,
            "CertificateAuthorityData": "LS0tLS1CRUdJTg==",
            "ClusterSecurityGroupId": plane.own_group,
            "Endpoint": f"https://{host}",
            "OpenIdConnectIssuerUrl": f"https://oidc.eks.{get_region()}.amazonaws.com/id/{host.partition('.')[0]}",
        }


def _vpc_of(request: Mapping[str, Any]) -> str:
    """The VPC of an EKS cluster's subnets and security groups, which must be there."""
    config = request["ResourcesVpcConfig"]
    missing = [each for each in config["SubnetIds"] if each not in ec2._subnets]
    missing += [each for each in config.get("SecurityGroupIds", ()) if each not in ec2._security_groups]
    if missing:
        raise refused(f"The resource ID '{missing[0]}' does not exist", "InvalidRequest")
    subnets = [ec2._subnets[each] for each in config["SubnetIds"]]
    if len({each["AvailabilityZone"] for each in subnets}) < 2:  # what EKS asks for
        raise refused("Subnets specified must be in at least two different AZs", "InvalidRequest")
    groups = [ec2._security_groups[each] for each in config.get("SecurityGroupIds", ())]
    vpcs = {each["VpcId"] for each in (*subnets, *groups)}
    if len(vpcs) > 1:
        raise refused("Subnets and security groups are not of one VPC", "InvalidRequest")
    return str(vpcs.pop())


def _check_role(arn: str) -> None:
    if not _trusts(arn, "eks.amazonaws.com", "sts:AssumeRole"):
        text = f"Role with arn: {arn}, could not be assumed because it does not exist or the trusted entity is not "
        raise refused(f"{text}correct", "InvalidRequest")
    if _CLUSTER_POLICY not in iam._roles[arn.rpartition("/")[2]]["AttachedPolicies"]:
        text = "The provided role doesn't have the Amazon EKS Managed Policies associated with it. Please ensure the "
        raise refused(f"{text}following policies [{_CLUSTER_POLICY}] are attached", "InvalidRequest")


def _attach(plane: Plane) -> None:
    config = plane.properties["ResourcesVpcConfig"]
    world.attach(plane.arn, [*config["SubnetIds"], *config.get("SecurityGroupIds", ())])


class Addon(Generic):
    """An add-on, which is active once its pods run."""

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:  # noqa: ARG002  # as ministack calls it
        """CreateAddon, and what happens until it is active."""
        request = self._schema.checked(properties)
        plane, name = found(request["ClusterName"]), request["AddonName"]
        if name in plane.addons:
            raise refused("Addon already exists.", "AlreadyExists")
        self._settle(plane, name, request)
        return f"{plane.name}|{name}", {"Arn": f"{plane.arn.replace(':cluster/', ':addon/')}/{name}/0123abcd"}

    def update(
        self, physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str
    ) -> Created:
        """UpdateAddon."""
        if self.is_other(old, new):
            return self.create(logical_id, new, stack)
        request = self._schema.checked(new)
        plane, name = found(request["ClusterName"]), request["AddonName"]
        self._settle(plane, name, request)
        return physical_id, {"Arn": f"{plane.arn.replace(':cluster/', ':addon/')}/{name}/0123abcd"}

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:  # noqa: ARG002  # as ministack calls it
        """DeleteAddon, in the reverse order of what needs what."""
        cluster, _, name = physical_id.partition("|")
        plane = PLANES.get(cluster)
        if plane is None or name not in plane.addons:
            return
        if name == _CERT_MANAGER and _TRAINING_OPERATOR in plane.addons:
            raise refused(f"{_TRAINING_OPERATOR} needs {_CERT_MANAGER}", "ResourceConflict")
        if name == TASK_GOVERNANCE and (users := [each for used in IN_USE for each in used(plane)]):
            raise refused(f"{', '.join(users)} needs {TASK_GOVERNANCE}", "ResourceConflict")
        del plane.addons[name]

    @staticmethod
    def _settle(plane: Plane, name: str, request: dict[str, Any]) -> None:
        if name not in _WITHOUT_NODES and not sum(sure_nodes(each.request) for each in plane.hyperpods()):
            raise refused(f"InsufficientNumberOfReplicas: {_UNHEALTHY}", "NotStabilized")
        if name == _TRAINING_OPERATOR and (why := _operator_refusal(plane, request)):
            raise refused(why, "InvalidRequest")
        plane.addons[name] = request


IN_USE: Final[list[Callable[[Plane], list[str]]]] = []
"""What names the things that need task governance on an EKS cluster; see `sharing`."""


def _operator_refusal(plane: Plane, request: Mapping[str, Any]) -> str | None:
    """Why the training operator cannot work (facts 3.4)."""
    if request.get("PodIdentityAssociations"):
        return "Pod Identity feature is not supported for addon version: v1.2.1-eksbuild.1"
    if missing := {_CERT_MANAGER, _POD_IDENTITY_AGENT} - plane.addons.keys():
        return f"{_TRAINING_OPERATOR} needs the add-on {min(missing)}"
    for hyperpod in plane.hyperpods():
        if {"Key": "SageMaker", "Value": "true"} not in hyperpod.request.get("Tags", ()):
            return f"sagemaker:DescribeClusterNode is not allowed: {hyperpod.cluster_name} has no tag SageMaker=true"
    return None


class AccessEntry(Generic):
    """Who may call the Kubernetes API: one entry for each principal."""

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:
        """CreateAccessEntry."""
        request = self._schema.checked(properties)
        plane, principal = found(request["ClusterName"]), request["PrincipalArn"]
        if plane.mode == "CONFIG_MAP":
            text = "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this "
            raise refused(f"{text}operation.", "InvalidRequest")
        kind, _, name = principal.rpartition(":")[2].partition("/")
        if name.rpartition("/")[2] not in (iam._roles if kind == "role" else iam._users):
            raise refused("The specified principalArn is invalid: invalid principal.", "InvalidRequest")
        # HyperPod makes an entry for the role of its nodes.
        of_nodes = {group["ExecutionRole"] for each in plane.hyperpods() for group in each.request["InstanceGroups"]}
        if principal in plane.entries | of_nodes:
            raise refused(_TAKEN, "AlreadyExists")
        plane.entries.add(principal)
        return f"{principal}|{plane.name}", {"AccessEntryArn": new_id(self._schema.type, stack, logical_id)}

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:  # noqa: ARG002  # as ministack calls it
        """DeleteAccessEntry."""
        principal, _, cluster = physical_id.rpartition("|")
        if cluster in PLANES:
            PLANES[cluster].entries.discard(principal)


class PodIdentity(Generic):
    """The role of a service account's pods."""

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:
        """CreatePodIdentityAssociation."""
        request = self._schema.checked(properties)
        plane, pods = found(request["ClusterName"]), (request["Namespace"], request["ServiceAccount"])
        if pods in plane.pods:
            raise refused(f"Association already exists: {plane.pods[pods]}", "AlreadyExists")
        if not _trusts(request["RoleArn"], "pods.eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession"):
            text = f"Trust policy of role {request['RoleArn']} does not let pods.eks.amazonaws.com assume it"
            raise refused(text, "InvalidRequest")
        number = new_id(self._schema.type, stack, logical_id)
        arn = f"{plane.arn.replace(':cluster/', ':podidentityassociation/')}/{number}"
        plane.pods[pods] = arn
        return arn, {"AssociationArn": arn, "AssociationId": arn.rpartition("/")[2], "ExternalId": arn}

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:
        """DeletePodIdentityAssociation."""
        plane, pods = PLANES.get(properties["ClusterName"]), (properties["Namespace"], properties["ServiceAccount"])
        if plane and plane.pods.get(pods) == physical_id:
            del plane.pods[pods]


HANDLERS: Final[dict[str, Callable[[Schema], Generic]]] = {
    PLANE: ControlPlane,
    ADDON: Addon,
    "AWS::EKS::AccessEntry": AccessEntry,
    "AWS::EKS::PodIdentityAssociation": PodIdentity,
}
