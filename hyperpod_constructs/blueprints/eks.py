"""A training cluster that EKS schedules: foundation with the control plane, cluster with its add-ons, budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam, aws_kms as kms, aws_lambda as lambda_
from constructs import Construct

from hyperpod_constructs.blueprints._shared import (
    Place,
    mark,
    notify,
    of_a_network_of_ours,
    place_of,
    refuse_without_effect,
    storage_of,
    zones_of,
)
from hyperpod_constructs.blueprints.budget import monthly_limit
from hyperpod_constructs.blueprints.foundation import KUBERNETES, NETWORK, STORAGE, ControlPlaneOptions, Foundation
from hyperpod_constructs.blueprints.nag import acknowledge_nag, acknowledge_nag_of_addons, acknowledge_nag_of_eks
from hyperpod_constructs.blueprints.outputs import add_kubeconfig, add_outputs, add_volume
from hyperpod_constructs.catalog.kubernetes import TASK_GOVERNANCE
from hyperpod_constructs.cdk import validation
from hyperpod_constructs.cdk._arguments import check_emails, checked
from hyperpod_constructs.cdk._cluster_model import NodeRecovery, Scripts, cluster_model
from hyperpod_constructs.cdk._orchestrator import eks_of, scripts_for, tags_for
from hyperpod_constructs.cdk.addons import ClusterAddons, ordered
from hyperpod_constructs.cdk.chart import check_chart
from hyperpod_constructs.cdk.cluster import Cluster
from hyperpod_constructs.cdk.cluster_network import DEFAULT_CIDR, ClusterNetwork, network_model
from hyperpod_constructs.cdk.control_plane import DEFAULT_VERSION, IControlPlane, check_admins, control_plane_model
from hyperpod_constructs.cdk.governance import ClusterGovernance, governed
from hyperpod_constructs.cdk.members import members_of
from hyperpod_constructs.cdk.network import Egress, Network, NetworkModel
from hyperpod_constructs.cdk.storage import IFileSystem, file_system_model
from hyperpod_constructs.model import deployment as model
from hyperpod_constructs.model.addons import Addon
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.budget import Budget
from hyperpod_constructs.model.capacity import DEEP_HEALTH_CHECKS, InstanceGroup, Spot, TrainingPlan
from hyperpod_constructs.model.chart import HelmChart
from hyperpod_constructs.model.checks import check_whole
from hyperpod_constructs.model.control_plane import ControlPlane, Kubernetes
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.governance import TaskGovernance
from hyperpod_constructs.model.kubernetes import KARPENTER, Endpoint, TieredStorage
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.model.storage import DataRepository, Lustre
from hyperpod_constructs.planning.addresses import control_plane_blocks

GOVERNANCE: Final = "Governance"


class EksTraining(cdk.Stack):
    """A HyperPod cluster on EKS with its foundation and a budget, as up to three stacks.

    `<id>-Foundation` holds network, EKS control plane, file system and alert topic, `<id>` the HyperPod cluster, its
    roles, its add-ons and how teams share it, `<id>-Budget` the budget. Everything is checked before the first stack is
    made. Nodes need AWS's dependency chart, which is installed between the two: say who does.

    Args:
        scope: The app or a stage.
        id: Name of the clusters (HyperPod and EKS) and of their stacks; in a Stage the stage's name comes before it.
        env: Account and Region. Without them zones and prices cannot be checked.
        zone: Zone id in which nodes and file system stand, for example `usw2-az2`: the plan's, if there is one.
        groups: Instance groups, `hp.InstanceGroup.worker(...)`. If add-ons are to be installed and no group has a
            `min_count`, the first by name of CPU nodes on demand without taints gets 1: add-ons need a node.
        kubernetes: Kubernetes version of the control plane.
        control_plane: A control plane of yours, `hp.EksControlPlane(...)` or `hp.EksControlPlane.from_arn(...)`.
        control_plane_zones: Zone ids of the control plane's subnets, two or more.
        endpoint: How the Kubernetes API is reached: by nodes alone, unless you say otherwise.
        admins: ARNs of roles that may do everything in the EKS cluster; nobody may, if none is named.
        secrets_key: Customer key of Kubernetes secrets.
        chart: Who installs the chart that nodes need: `hp.HelmChart.installed_elsewhere()`, or
            `hp.HelmChart.directory(...)`, which the foundation installs, see `hp.EksControlPlane`.
        kubectl_layer: kubectl and Helm for that.
        addons: Add-ons that wait for nodes. Defaults to certificates and the training operator, and to volumes on
            Lustre where there is `storage`.
        governance: How teams share it: priorities, quotas, borrowing, members. Installs the add-on for it.
        karpenter: Whether nodes come and go with the pods that wait for them.
        tiered_storage: Checkpoints in the memory of nodes.
        storage: A Lustre file system to make, or one that exists; the output `LustreVolume` of its stack is a volume.
        repositories: Folders of the file system that mirror S3 prefixes.
        alerts: E-mail addresses that are told of state changes, node health and cost.
        budget: Cost budget of the account. Defaults to 730 hours of what is metered, if every price is known. Needs
            `alerts`.
        network: A network of yours; then the control plane is yours too, or the network a `ClusterNetwork`. A control
            plane of yours needs it.
        cidr: Block of the new network, /16 to /20; each zone gets an eighth of it. Defaults to 10.0.0.0/16.
        egress: `nat`, the default, or `closed`, see `ClusterNetwork`.
        endpoints: Interface endpoints of the new network.
        lifecycle: Scripts that run on new nodes, of all groups or by group name. Defaults to one that does nothing.
        recovery: Whether faulty nodes are replaced.
        roles: Roles of your own by group name.
        permissions_boundary: Boundary of the roles that are made.
        tags: Tags of everything.
        generation: Raise it to create the HyperPod cluster again under a new name, after `cdk destroy` of its stack: an
            EKS cluster takes one HyperPod cluster at a time.
        termination_protection: Whether the foundation refuses to be deleted.
        acknowledge: Rule ids and reasons of findings that are accepted.

    Attributes:
        foundation: Stack with network, control plane, file system and topic, if any of them is made here.
        cluster: The HyperPod cluster.
        control_plane: The EKS cluster.
        addons: Its add-ons, if there are any.
        governance: How teams share it, if they do.
        budget_stack: Stack with the budget, if there is one.

    Raises:
        InvalidCluster: with every error that the rules find.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        zone: str,
        groups: Sequence[InstanceGroup],
        env: cdk.Environment | None = None,
        kubernetes: str | None = None,
        control_plane: IControlPlane | None = None,
        control_plane_zones: Sequence[str] | None = None,
        endpoint: Endpoint | None = None,
        admins: Sequence[str] = (),
        secrets_key: kms.IKey | None = None,
        chart: HelmChart | None = None,
        kubectl_layer: lambda_.ILayerVersion | None = None,
        addons: Sequence[Addon] | None = None,
        governance: TaskGovernance | None = None,
        karpenter: bool = False,
        tiered_storage: TieredStorage | None = None,
        storage: Lustre | IFileSystem | None = None,
        repositories: Sequence[DataRepository] = (),
        alerts: Sequence[str] = (),
        budget: Budget | None = None,
        network: Network | None = None,
        cidr: str | None = None,
        egress: Egress | None = None,
        endpoints: Sequence[str] | None = None,
        lifecycle: Scripts | None = None,
        recovery: NodeRecovery = "Automatic",
        roles: Mapping[str, iam.IRole] | None = None,
        permissions_boundary: iam.IManagedPolicy | None = None,
        tags: Mapping[str, str] | None = None,
        generation: int = 1,
        termination_protection: bool = True,
        acknowledge: Mapping[str, str] | None = None,
    ) -> None:
        """Checks everything, then makes the stacks."""
        check_whole("generation", generation, low=1, high=999)
        check_emails("alerts", alerts)
        if budget is not None:
            check_fields("budget: ", budget)
        check_admins(admins)
        if chart is not None:
            check_chart(chart, kubernetes or DEFAULT_VERSION, kubectl_layer)
        if governance is not None:
            check_fields("governance: ", governance)
            members_of(governance, control_plane.admins if control_plane else admins)
        lustre, existing = storage_of(storage)
        addons = ordered(_addons(addons, governance, volumes=storage is not None))
        groups = _with_a_first_node([_with_health_checks(group) for group in groups], addons)
        zones = zones_of(zone, groups)
        refuse_without_effect(
            (repositories, lustre, "repositories need storage=hp.Lustre(...), a file system to make"),
            *of_a_network_of_ours(network, cidr, egress, endpoints),
            (budget, alerts, "a budget needs alerts, somebody to tell"),
            *(
                (given, not control_plane, f"{name} has no effect beside control_plane, which has its own")
                for name, given in (
                    ("kubernetes", kubernetes),
                    ("control_plane_zones", control_plane_zones),
                    ("endpoint", endpoint),
                    ("admins", admins),
                    ("secrets_key", secrets_key),
                    ("chart", chart),
                    ("kubectl_layer", kubectl_layer),
                )
            ),
            (
                network is not None and not isinstance(network, ClusterNetwork),
                control_plane,
                "an imported network has no subnets for a control plane: give control_plane=hp.EksControlPlane(...)",
            ),
            (
                control_plane,
                network,
                "control_plane has subnets already, and nodes belong into their VPC: give network= of that VPC",
            ),
        )
        if control_plane is None and network is None:
            control_plane_blocks(cidr or DEFAULT_CIDR, zone, control_plane_zones)  # refuses what has no room
        place = place_of("EksTraining", scope, id, env, generation)
        to_make = (
            ControlPlaneOptions(
                name=_without_generation(place, generation),
                version=kubernetes or DEFAULT_VERSION,
                zones=control_plane_zones,
                endpoint=endpoint or Endpoint.private(),
                admins=admins,
                secrets_key=secrets_key,
                chart=chart,
                kubectl_layer=kubectl_layer,
            )
            if control_plane is None
            else None
        )
        seen = _as_the_rules_see_it(
            place,
            network=network.model if network else None,
            zones=zones,
            cidr=cidr or DEFAULT_CIDR,
            control_plane=control_plane,
            to_make=to_make,
            lustre=lustre,
            existing=existing,
            repositories=repositories,
            governance=governance,
            groups=groups,
            lifecycle=lifecycle,
            recovery=recovery,
            tags=tags,
            karpenter=karpenter,
            tiered_storage=tiered_storage,
        )
        # Before anything is made: nothing is left in the tree for whoever catches the exception.
        elsewhere = {existing.model.path: validation.accepted_on(existing)} if existing else {}
        validation.refuse_errors(seen, acknowledge, elsewhere)
        usd_per_month = monthly_limit(budget, seen) if alerts else 0

        self.foundation = (
            Foundation(
                scope,
                f"{id}-Foundation",
                env=env,
                zones=zones,
                network=network,
                cidr=cidr or DEFAULT_CIDR,
                egress=egress or "nat",
                endpoints=endpoints,
                storage=lustre,
                repositories=repositories,
                emails=alerts,
                permissions_boundary=permissions_boundary,
                termination_protection=termination_protection,
                acknowledge=acknowledge,
                kubernetes=to_make,
            )
            if network is None or lustre or alerts or to_make
            else None  # CloudFormation refuses an empty stack.
        )
        super().__init__(scope, id, env=env, description=f"HyperPod cluster {place.name}, scheduled by EKS")
        network = cast("Network", self.foundation.network if self.foundation else network)
        made = self.foundation.control_plane if self.foundation else None
        self.control_plane = cast("IControlPlane", made or control_plane)
        self.cluster = Cluster(
            self,
            "Cluster",
            name=place.name,
            network=network,
            zone=network.model.standing(zone),
            groups=groups,
            control_plane=self.control_plane,
            karpenter=karpenter,
            tiered_storage=tiered_storage,
            lifecycle=lifecycle,
            recovery=recovery,
            roles=roles,
            permissions_boundary=permissions_boundary,
            tags=tags,
            acknowledge=acknowledge,
        )
        acknowledge_nag(self.cluster)
        if made:
            acknowledge_nag_of_eks(made)
        self.addons = (
            ClusterAddons(
                self, "Addons", cluster=self.cluster, addons=addons, permissions_boundary=permissions_boundary
            )
            if addons
            else None
        )
        if self.addons:
            acknowledge_nag_of_addons(self.addons)
        self.governance = (
            ClusterGovernance(
                self,
                GOVERNANCE,
                cluster=self.cluster,
                governance=governance,
                acknowledge=acknowledge,
            )
            if governance
            else None
        )
        self.budget_stack = notify(
            self,
            self.cluster,
            self.foundation,
            scope=scope,
            id=f"{id}-Budget",
            place=place,
            emails=alerts,
            budget=replace(budget or Budget(), usd_per_month=usd_per_month) if alerts else None,
        )
        add_outputs(self, self.cluster, seen)
        made_in = self.foundation if made else None
        add_kubeconfig(made_in or self, self.control_plane, to_make.endpoint if to_make else None)
        if storage_made := self.foundation.storage if self.foundation else None:
            add_volume(cdk.Stack.of(storage_made), storage_made)
        elif existing:
            add_volume(self, existing)
        mark((self.foundation, self, self.budget_stack), tags, acknowledge)


def _without_generation(place: Place, generation: int) -> str:
    """Name of the control plane, which stays when a HyperPod cluster is made again on it."""
    return place.name.removesuffix(f"-{generation}") if generation > 1 else place.name


def _addons(addons: Sequence[Addon] | None, governance: TaskGovernance | None, *, volumes: bool) -> list[Addon]:
    """The add-ons that are asked for, else those that training needs; governance brings its own."""
    found = list(addons) if addons is not None else [Addon.cert_manager(), Addon.training_operator()]
    if addons is None and volumes:
        found.append(Addon.fsx_csi())
    if governance is not None and all(each.name != TASK_GOVERNANCE for each in found):
        found.append(Addon.task_governance())
    return found


def _with_a_first_node(groups: Sequence[InstanceGroup], addons: Sequence[Addon]) -> list[InstanceGroup]:
    """The groups, of which one makes the cluster wait for a node: add-ons need one, and would wait in vain.

    It is the first by name that is likely to have one within 3 hours, and that pods may run on: not one of
    accelerators, on spot or on a training plan, and none with taints or a min_count of its own.
    """
    first = next(
        (
            group
            for group in sorted(groups, key=lambda group: str(group.name))
            if group.facts is not None
            and not group.facts.is_accelerated
            and isinstance(group.count, int)
            and group.count > 0
            and group.min_count is None
            and not isinstance(group.capacity, TrainingPlan | Spot)
            and not _is_tainted(group)
        ),
        None,
    )
    if first is None or not addons or any(group.min_count for group in groups):
        return list(groups)
    return [replace(group, min_count=1) if group is first else group for group in groups]


def _is_tainted(group: InstanceGroup) -> bool:
    return group.kubernetes is not None and bool(getattr(group.kubernetes, "taints", ()))


def _with_health_checks(group: InstanceGroup) -> InstanceGroup:
    """Deep health checks where they can run and a spare bridges the time, about 2 hours for each new node.

    Not beside taints, which the service refuses together with them.
    """
    if group.health_checks is not None or not group.spares or _is_tainted(group):
        return group
    checks = group.facts is not None and "eks" in (group.facts.deep_health_checks or ())
    return replace(group, health_checks=DEEP_HEALTH_CHECKS) if checks else group


def _as_the_rules_see_it(
    place: Place,
    *,
    network: NetworkModel | None,
    zones: Sequence[str],
    cidr: str,
    control_plane: IControlPlane | None,
    to_make: ControlPlaneOptions | None,
    lustre: Lustre | None,
    existing: IFileSystem | None,
    repositories: Sequence[DataRepository],
    governance: TaskGovernance | None,
    groups: Sequence[InstanceGroup],
    lifecycle: Scripts | None,
    recovery: NodeRecovery,
    tags: Mapping[str, str] | None,
    karpenter: bool,
    tiered_storage: TieredStorage | None,
) -> Deployment:
    """All that the blueprint will make, with the paths that it will have."""
    seen = network or network_model(f"{place.path}-Foundation/{NETWORK}", zones, cidr)
    zone = seen.standing(zones[0])
    plane = control_plane.model if control_plane else None
    if to_make:
        plane = _plane_to_make(f"{place.path}-Foundation/{KUBERNETES}", to_make, seen)
    cluster = cluster_model(
        f"{place.path}/Cluster",
        name=place.name,
        groups=groups,
        orchestrator=eks_of(control_plane) if control_plane else Eks(cluster=cast("ControlPlane", plane).path),
        network=seen,
        zone=zone,
        mounts={},
        lifecycle=scripts_for(lifecycle, on_eks=True),
        recovery=recovery,
        autoscaling=KARPENTER if karpenter else None,
        tiered_storage=tiered_storage,
        chart_elsewhere=_is_elsewhere(control_plane, to_make),
        tags=tags_for(tags, on_eks=True),
        account=place.account,
        region=place.region,
    )
    storage = existing.model if existing else None
    if lustre:
        storage = file_system_model(f"{place.path}-Foundation/{STORAGE}", lustre, seen.placement(zone), repositories)
    found = Deployment(
        clusters=(cluster,),
        kubernetes=Kubernetes(control_planes=(plane,) if plane else ()),
        subnets=(*seen.subnets, *([existing.subnet] if existing and existing.subnet else [])),
        security_groups=seen.security_groups,
        file_systems=(storage,) if storage else (),
    )
    return _with_teams(found, f"{place.path}/{GOVERNANCE}", cluster, governance)


def _is_elsewhere(control_plane: IControlPlane | None, to_make: ControlPlaneOptions | None) -> bool:
    """Whether somebody else is said to install the chart."""
    if control_plane is not None:
        return control_plane.chart_elsewhere
    return to_make is not None and to_make.chart is not None and to_make.chart.elsewhere


def _plane_to_make(path: str, options: ControlPlaneOptions, network: NetworkModel) -> ControlPlane:
    return control_plane_model(
        path,
        name=options.name,
        version=options.version,
        endpoint=options.endpoint,
        security_groups=network.groups,
    )


def _with_teams(found: Deployment, path: str, cluster: model.Cluster, governance: TaskGovernance | None) -> Deployment:
    if governance is None:
        return found
    shared = governed(path, cluster, governance)
    return replace(found, clusters=shared.clusters, scheduler_policies=shared.scheduler_policies, quotas=shared.quotas)
