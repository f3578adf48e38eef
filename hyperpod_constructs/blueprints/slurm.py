"""A training cluster that Slurm schedules: foundation, cluster and budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypedDict, cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs.blueprints._shared import (
    mark,
    notify,
    of_a_network_of_ours,
    place_of,
    refuse_without_effect,
    storage_of,
    zones_of,
)
from hyperpod_constructs.blueprints.budget import monthly_limit
from hyperpod_constructs.blueprints.foundation import ACCOUNTING, NETWORK, STORAGE, Foundation
from hyperpod_constructs.blueprints.nag import acknowledge_nag
from hyperpod_constructs.blueprints.outputs import add_outputs
from hyperpod_constructs.cdk import validation
from hyperpod_constructs.cdk._arguments import check_emails, checked
from hyperpod_constructs.cdk._cluster_model import NodeRecovery, Scripts, cluster_model
from hyperpod_constructs.cdk.accounting import AccountingDatabase
from hyperpod_constructs.cdk.cluster import Cluster
from hyperpod_constructs.cdk.cluster_network import DEFAULT_CIDR, ClusterNetwork, network_model
from hyperpod_constructs.cdk.lifecycle import LifecycleScripts
from hyperpod_constructs.cdk.network import Egress, Network, NetworkModel
from hyperpod_constructs.cdk.storage import KEPT, IFileSystem, file_system_model
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model import steps
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.budget import Budget
from hyperpod_constructs.model.capacity import DEEP_HEALTH_CHECKS, InstanceGroup
from hyperpod_constructs.model.checks import check_whole
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.governance import TaskGovernance
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.model.people import People
from hyperpod_constructs.model.storage import Database, DataRepository, Lustre
from hyperpod_constructs.planning.addresses import database_blocks
from hyperpod_constructs.tokens import UNKNOWN

MOUNT_POINT: Final = "/fsx"
"""Where nodes mount the file system: the service's own default."""


class _ClusterFields(TypedDict):
    """What the cluster is besides where it stands."""

    name: str
    groups: Sequence[InstanceGroup]
    orchestrator: Slurm
    lifecycle: Scripts
    people: People | None
    governance: TaskGovernance | None
    recovery: NodeRecovery
    tags: Mapping[str, str] | None
    account: str | None
    region: str | None


class SlurmTraining(cdk.Stack):
    """A Slurm cluster with its foundation and a budget, as up to three stacks.

    `<id>-Foundation` holds network, file system, accounting database and alert topic, `<id>` the cluster and its roles,
    `<id>-Budget` the budget: a budget that is refused never rolls back a cluster, and a cluster that fails leaves the
    foundation. Everything is checked before the first stack is made.

    Args:
        scope: The app or a stage.
        id: Name of the cluster and of its stacks; in a Stage the stage's name comes before it.
        env: Account and Region. Without them zones and prices cannot be checked.
        zone: Zone id in which cluster and file system stand, for example `usw2-az2`: the plan's, if there is one.
        groups: Instance groups: one controller, login nodes, compute nodes.
        storage: A Lustre file system to make, or one that exists. It is mounted at `/fsx`.
        repositories: Folders of the file system that mirror S3 prefixes.
        alerts: E-mail addresses that are told of state changes, node health and cost.
        budget: Cost budget of the account. Defaults to 730 hours of what is metered, if every price is known. Needs
            `alerts`.
        network: A network of yours, `ClusterNetwork` or `Network.from_attributes(...)`. Defaults to a new one.
        cidr: Block of the new network, /16 to /22; each zone gets an eighth of it. Defaults to 10.0.0.0/16.
        egress: `nat`, the default, or `closed`, see `ClusterNetwork`.
        endpoints: Interface endpoints of the new network.
        slurm: How Slurm is run.
        accounting: Where Slurm's accounting is kept: `True` makes an `AccountingDatabase` in the foundation, billed
            by the hour; a database of yours is used; `False` leaves it on the controller. Defaults to `True` where
            `governance` has teams, whose accounts and limits would die with the controller, and the network has room
            for it: say `True` before you take the last team away. A cluster that has a database cannot go back to its
            controller's.
        lifecycle: Scripts that run on new nodes, of all groups or by group name. Defaults to `hp.steps.defaults()`
            after HyperPod's own provisioning; `hp.LifecycleScripts.ami_only()` runs none.
        people: Who works on the cluster: users, groups and keys. A change reaches running nodes within minutes.
        governance: How teams share it: Slurm accounts, fair shares and limits.
        recovery: Whether faulty nodes are replaced.
        roles: Roles of your own by group name.
        permissions_boundary: Boundary of the roles that are made.
        tags: Tags of everything.
        generation: Raise it to create the cluster again under a new name: on the same accounting database a second
            cluster of the same name does not start (CLUSTER ID MISMATCH).
        termination_protection: Whether the foundation refuses to be deleted.
        acknowledge: Rule ids and reasons of findings that are accepted.

    Attributes:
        foundation: Stack with network, file system and topic, if any of them is made here.
        cluster: The cluster.
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
        storage: Lustre | IFileSystem | None = None,
        repositories: Sequence[DataRepository] = (),
        alerts: Sequence[str] = (),
        budget: Budget | None = None,
        network: Network | None = None,
        cidr: str | None = None,
        egress: Egress | None = None,
        endpoints: Sequence[str] | None = None,
        slurm: Slurm | None = None,
        accounting: bool | AccountingDatabase | ExternalDatabase | None = None,
        lifecycle: Scripts | None = None,
        people: People | None = None,
        governance: TaskGovernance | None = None,
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
        groups = [_with_health_checks(group) for group in groups]
        zones = zones_of(zone, groups)
        slurm = Slurm() if slurm is None else slurm
        if lifecycle is None:
            lifecycle = _default_steps(people, governance, shared=storage is not None)
        lustre, existing = storage_of(storage)
        makes_accounting = (
            accounting is True
            if accounting is not None or slurm.accounting is not None
            else _wants_accounting(governance, network, cidr or DEFAULT_CIDR, zone)
        )
        slurm = _with_accounting(slurm, given=accounting, is_made=makes_accounting)
        refuse_without_effect(
            (repositories, lustre, "repositories need storage=hp.Lustre(...), a file system to make"),
            *of_a_network_of_ours(network, cidr, egress, endpoints),
            (budget, alerts, "a budget needs alerts, somebody to tell"),
            (
                makes_accounting,
                network is None or isinstance(network, ClusterNetwork),
                "accounting=True makes no subnets in an imported network, use hp.AccountingDatabase(subnet_ids=[...])",
            ),
        )
        if makes_accounting and network is None:
            database_blocks(cidr or DEFAULT_CIDR, zone)  # refuses what has no room
        place = place_of("SlurmTraining", scope, id, env, generation)
        seen = _as_the_rules_see_it(
            place.path,
            network=network.model if network else None,
            zones=zones,
            cidr=cidr or DEFAULT_CIDR,
            lustre=lustre,
            existing=existing,
            repositories=repositories,
            makes_accounting=makes_accounting,
            cluster={
                "name": place.name,
                "groups": groups,
                "orchestrator": slurm,
                "lifecycle": lifecycle,
                "people": people,
                "governance": governance,
                "recovery": recovery,
                "tags": tags,
                "account": place.account,
                "region": place.region,
            },
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
                accounting=makes_accounting,
            )
            if network is None or lustre or alerts or makes_accounting
            else None  # CloudFormation refuses an empty stack.
        )
        super().__init__(scope, id, env=env, description=f"HyperPod cluster {place.name}, scheduled by Slurm")
        network = self.foundation.network if self.foundation else network
        if self.foundation and self.foundation.accounting:
            slurm = replace(slurm, accounting=self.foundation.accounting.database)
        file_system: IFileSystem | None = (self.foundation.storage if self.foundation else None) or existing
        self.cluster = Cluster(
            self,
            "Cluster",
            name=place.name,
            network=cast("Network", network),
            zone=cast("Network", network).model.standing(zone),
            groups=groups,
            slurm=slurm,
            mounts={MOUNT_POINT: file_system} if file_system else None,
            lifecycle=lifecycle,
            people=people,
            governance=governance,
            recovery=recovery,
            roles=roles,
            permissions_boundary=permissions_boundary,
            tags=tags,
            acknowledge=acknowledge,
        )
        acknowledge_nag(self.cluster)
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
        mark((self.foundation, self, self.budget_stack), tags, acknowledge)


def _default_steps(people: People | None, governance: TaskGovernance | None, *, shared: bool) -> LifecycleScripts:
    """What nodes do after HyperPod has set them up, if the user says nothing."""
    return LifecycleScripts.steps(
        steps.defaults(
            people=people is not None,
            teams=governance is not None,
            homes=f"{MOUNT_POINT}/home" if shared else "/home",
        )
    )


def _wants_accounting(governance: TaskGovernance | None, network: Network | None, cidr: str, zone: str) -> bool:
    """Whether accounts of teams are to outlive the controller, and a database has somewhere to stand."""
    if governance is None or not governance.teams:
        return False
    if network is not None:
        return isinstance(network, ClusterNetwork)
    try:
        database_blocks(cidr, zone)
    except InvalidValue:  # HP2104 says what it means that there is none
        return False
    return True


def _with_accounting(
    slurm: Slurm, *, given: bool | AccountingDatabase | ExternalDatabase | None, is_made: bool
) -> Slurm:
    """Slurm with its accounting database; of one that is yet to be made nothing is known."""
    if slurm.accounting is not None and given is not None:
        raise InvalidValue("accounting is given twice", "give accounting=, or slurm=hp.Slurm(accounting=...)")
    if is_made:
        return replace(slurm, accounting=ExternalDatabase(endpoint=UNKNOWN, secret_arn=UNKNOWN))
    if given is None or isinstance(given, bool):
        return slurm
    return replace(slurm, accounting=given.database if isinstance(given, AccountingDatabase) else given)


def _as_the_rules_see_it(
    path: str,
    *,
    network: NetworkModel | None,
    zones: Sequence[str],
    cidr: str,
    lustre: Lustre | None,
    existing: IFileSystem | None,
    repositories: Sequence[DataRepository],
    makes_accounting: bool,
    cluster: _ClusterFields,
) -> Deployment:
    """All that the blueprint will make, with the paths that it will have."""
    seen = network or network_model(f"{path}-Foundation/{NETWORK}", zones, cidr)
    zone = seen.standing(zones[0])
    storage = existing.model if existing else None
    if lustre:
        storage = file_system_model(f"{path}-Foundation/{STORAGE}", lustre, seen.placement(zone), repositories)
    mounts = {MOUNT_POINT: storage} if storage else {}
    return Deployment(
        clusters=(cluster_model(f"{path}/Cluster", network=seen, zone=zone, mounts=mounts, **cluster),),
        subnets=(*seen.subnets, *([existing.subnet] if existing and existing.subnet else [])),
        security_groups=seen.security_groups,
        file_systems=tuple(mounts.values()),
        databases=(Database(path=f"{path}-Foundation/{ACCOUNTING}", retention=KEPT),) if makes_accounting else (),
    )


def _with_health_checks(group: InstanceGroup) -> InstanceGroup:
    """Deep health checks where they can run and a spare bridges the time: GPU nodes of a group that has spares.

    They delay the first job by 45 to 90 minutes (developer guide, Slurm deep health checks, 2026).
    """
    if group.health_checks is not None or group.node_type != "Compute" or not group.spares:
        return group
    gpu = group.facts is not None and "slurm" in (group.facts.deep_health_checks or ())
    return replace(group, health_checks=DEEP_HEALTH_CHECKS) if gpu else group
