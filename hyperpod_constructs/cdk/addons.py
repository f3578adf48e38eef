"""EKS add-ons that run as Deployments, which stay unhealthy until there are nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_eks as eks, aws_iam as iam
from constructs import Construct, DependencyGroup

from hyperpod_constructs.cdk import validation
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cdk.cluster import Cluster
from hyperpod_constructs.cdk.control_plane import BEFORE_NODES, IControlPlane, written
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.addons import Addon, PodRole


class ClusterAddons(Construct):
    """Add-ons of the EKS cluster that a HyperPod cluster is of.

    They wait for the HyperPod cluster: before its nodes are there, EKS would wait for them in vain. A cluster is
    complete before all of its nodes are; one group with `min_count=1` makes sure that there is a node.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        cluster: The HyperPod cluster, which must have a `control_plane`.
        addons: The add-ons. Those that another one needs come before it, if they are in the list or there already.
        permissions_boundary: Boundary of the roles that are made for pods.

    Attributes:
        resources: The add-ons by name.
        managed_policies: Names of AWS managed policies that its pods have.

    Raises:
        InvalidValue: if an add-on is given twice or is there already, belongs before nodes, or they need each other in
            a circle.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: Cluster,
        addons: Sequence[Addon],
        permissions_boundary: iam.IManagedPolicy | None = None,
    ) -> None:
        """Checks the list, then makes the add-ons."""
        control_plane = cluster.control_plane
        if control_plane is None:
            raise InvalidValue("add-ons are for clusters with control_plane, and Slurm schedules this one")
        in_order = ordered(addons)
        if twice := [each.name for each in in_order if each.name in cluster.addons]:
            raise InvalidValue(f"{twice[0]} is among the add-ons of the cluster already", "name each once")
        super().__init__(scope, id)
        policies = {policy for addon in in_order for pods in addon.pod_roles for policy in pods.policies}
        self.managed_policies = sorted(policy for policy in policies if not policy.startswith("arn:"))
        self.resources: dict[str, eks.CfnAddon] = {}
        for addon in in_order:
            roles = [
                _make_role(self, each, control_plane, f"Role-{addon.name}-{each.service_account}", permissions_boundary)
                for each in addon.pod_roles
            ]
            resource = eks.CfnAddon(
                self,
                addon.name,
                cluster_name=control_plane.cluster_name,
                addon_name=addon.name,
                addon_version=addon.version,
                configuration_values=written(self, addon),
                resolve_conflicts="OVERWRITE",
            )
            needed = [cluster.addons[name] for name in addon.needs if name in cluster.addons]
            resource.node.add_dependency(DependencyGroup(cluster.resource, *roles, *needed))
            self.resources[addon.name] = cluster.addons[addon.name] = resource
        validation.register(self)


def _make_role(
    scope: Construct, pods: PodRole, control_plane: IControlPlane, id: str, boundary: iam.IManagedPolicy | None
) -> eks.CfnPodIdentityAssociation:
    """The role of some pods, and what lets them take it.

    A resource of its own: the training operator refuses identities among its own properties since v1.2.1
    (awslabs/awsome-distributed-ai issue 1075).
    """
    stack = cdk.Stack.of(scope)
    mine = {
        "StringEquals": {"aws:SourceAccount": stack.account},
        "ArnEquals": {"aws:SourceArn": control_plane.cluster_arn},
    }
    role = iam.Role(
        scope,
        id,
        assumed_by=iam.SessionTagsPrincipal(iam.ServicePrincipal("pods.eks.amazonaws.com", conditions=mine)),
        managed_policies=[_policy(scope, f"{id}-{number}", each) for number, each in enumerate(pods.policies)],
        permissions_boundary=boundary,
    )
    return eks.CfnPodIdentityAssociation(
        scope,
        f"Pods-{pods.namespace}-{pods.service_account}",
        cluster_name=control_plane.cluster_name,
        namespace=pods.namespace,
        service_account=pods.service_account,
        role_arn=role.role_arn,
    )


def _policy(scope: Construct, id: str, policy: str) -> iam.IManagedPolicy:
    if policy.startswith("arn:"):
        return iam.ManagedPolicy.from_managed_policy_arn(scope, id, policy)
    return iam.ManagedPolicy.from_aws_managed_policy_name(policy)


def ordered(addons: Sequence[Addon]) -> list[Addon]:
    """The add-ons, each after those that it needs, and otherwise by name: their order in the code changes nothing.

    Raises:
        InvalidValue: if an add-on is given twice, belongs before nodes, or they need each other in a circle.
    """
    by_name: dict[str, Addon] = {}
    for addon in addons:
        if addon.name in BEFORE_NODES:
            raise InvalidValue(
                f"add-on {addon.name} belongs before the nodes", "give it to hp.EksControlPlane(addons=[...])"
            )
        if addon.name in by_name:
            raise InvalidValue(f"add-on {addon.name} is given twice", "name each once")
        by_name[addon.name] = addon
    found: dict[str, Addon] = {}
    for name in sorted(by_name):
        _take(by_name, name, found, ())
    return list(found.values())


def _take(by_name: Mapping[str, Addon], name: str, found: dict[str, Addon], waiting: tuple[str, ...]) -> None:
    if name in waiting:
        raise InvalidValue(f"add-ons need each other: {' needs '.join((*waiting, name))}", "take one of the needs out")
    if name in found or name not in by_name:
        return
    for needed in sorted(by_name[name].needs):
        _take(by_name, needed, found, (*waiting, name))
    found[name] = by_name[name]
