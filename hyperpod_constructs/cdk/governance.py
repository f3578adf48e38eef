"""How teams share a cluster on EKS: a scheduler policy, a quota and access for each team."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs.catalog.kubernetes import TASK_GOVERNANCE
from hyperpod_constructs.cdk import _properties as properties, validation
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cdk.addons import ClusterAddons
from hyperpod_constructs.cdk.cluster import Cluster
from hyperpod_constructs.cdk.members import bind, make_access, members_of
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model import deployment as model, intent
from hyperpod_constructs.model.addons import Addon
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.governance import Quota, QuotaShare, SchedulerPolicy, Share, TaskGovernance, Team

_LONGEST_NAME: Final = 63


def governed(path: str, cluster: model.Cluster, governance: TaskGovernance) -> Deployment:
    """A cluster and how teams share it, as the rules see them before anything of it exists.

    Args:
        path: Path of the construct that shares it.
        cluster: The cluster.
        governance: How teams share it.
    """
    policy = SchedulerPolicy(
        path=f"{path}/Policy",
        cluster=cluster.path,
        name=str(cluster.name),
        priorities=dict(governance.priorities),
        fair_share="Enabled" if governance.fair_share else "Disabled",
        idle_sharing="Enabled" if _shares_unassigned(governance, cluster) else "Disabled",
    )
    after = frozenset({policy.path, cluster.path})
    return Deployment(
        clusters=(replace(cluster, has_teams=True),),
        scheduler_policies=(policy,),
        quotas=tuple(replace(_quota(path, cluster, governance, team), after=after) for team in governance.teams),
    )


def _quota(path: str, cluster: model.Cluster, governance: TaskGovernance, team: Team) -> Quota:
    borrows = governance.idle_sharing and team.lend and team.borrow_limit_percent > 0
    lends = governance.idle_sharing and team.lend
    return Quota(
        path=f"{path}/Team-{team.name}",
        cluster=cluster.path,
        team=team.name,
        name=_name(str(cluster.name), team.name),
        shares=tuple(_share(kind, each) for kind, each in sorted(team.instances.items())),
        weight=team.weight,
        sharing="LendAndBorrow" if borrows else "Lend" if lends else "DontLend",
        borrow_limit=team.borrow_limit_percent if borrows else None,
        preempts="LowerPriority" if team.preempt else "Never",
        has_members=bool(team.members),
    )


def _share(kind: str, share: int | Share) -> QuotaShare:
    if not isinstance(share, Share):
        return QuotaShare(instance_type=kind, count=share)
    return QuotaShare(
        instance_type=kind, accelerators=share.accelerators, vcpus=share.vcpus, memory_gib=share.memory_gib
    )


def _shares_unassigned(governance: TaskGovernance, cluster: model.Cluster) -> bool:
    """Whether teams borrow what no team has: spares are among that, which nothing else holds."""
    if governance.share_unassigned is not None:
        return governance.share_unassigned
    return governance.idle_sharing and not any(group.spares for group in cluster.groups)


def _name(cluster: str, team: str) -> str:
    """Name of a quota, which other clusters of the account must not have too."""
    name = f"{cluster}-{team}"
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 9].rstrip('-')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


class ClusterGovernance(Construct):
    """Task governance on EKS: what goes before what, what each team has, and who may submit as which team.

    Installs the task governance add-on unless the cluster has it from `hp.ClusterAddons`, then the scheduler policy,
    then a quota for each team. Members get an access entry that lets them edit what is in the namespace of their team,
    which comes with its quota. Where the control plane installs the chart and so holds its access, a role for training
    jobs is bound in each namespace, too; elsewhere bind the group `hyperpod-ns-TEAM` yourself.

    Names of quotas and teams cannot be changed: another name is another team, whose quota comes before the old one
    goes. What one team gives up another one gets in the next deploy: for a moment both would have it.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        cluster: The HyperPod cluster, which must have a `control_plane`.
        governance: Teams, priorities and how they share.
        acknowledge: Rule ids and reasons of errors that are accepted.

    Attributes:
        policy: The scheduler policy.
        quotas: Quotas by team.

    Raises:
        InvalidCluster: with every error that the rules find.
        InvalidValue: if a member is no role or user, or has an access entry already.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: Cluster,
        governance: TaskGovernance,
        acknowledge: Mapping[str, str] | None = None,
    ) -> None:
        """Checks everything, then makes it."""
        control_plane = cluster.control_plane
        if control_plane is None:
            raise InvalidValue(
                "hp.ClusterGovernance is for clusters with control_plane, and Slurm schedules this one",
                "give governance= to the cluster: teams become Slurm accounts",
            )
        check_fields("governance: ", governance)
        members = members_of(governance, control_plane.admins)
        seen = governed(f"{scope.node.path}/{id}", cluster.model, governance)
        around = cluster.surroundings(seen.clusters[0])
        validation.refuse_errors(
            replace(around, scheduler_policies=seen.scheduler_policies, quotas=seen.quotas),
            acknowledge,
            {cluster.model.path: validation.accepted_on(cluster)},
        )
        super().__init__(scope, id)
        if TASK_GOVERNANCE not in cluster.addons:
            ClusterAddons(self, "Addons", cluster=cluster, addons=[Addon.task_governance()])
        self.policy = self._make_policy(seen.scheduler_policies[0], cluster.cluster_arn)
        self.policy.node.add_dependency(cluster.addons[TASK_GOVERNANCE])
        self.quotas = {str(each.team): self._make_quota(each, cluster.cluster_arn) for each in seen.quotas}
        make_access(self, members, control_plane)
        if control_plane.kubectl is not None:
            for team in sorted({team for teams in members.values() for team in teams}):
                bind(self, team, control_plane.kubectl, after=self.quotas[team])
        # The engine does not know the type of quotas, and that of policies in some Regions only.
        cdk.Validations.of(self).acknowledge(
            cdk.Acknowledgment(
                id="CloudFormation-Validate::F3006",
                reason="The registry has both types; the engine's lists of Regions lag behind "
                "(AWS::SageMaker::ComputeQuota, AWS::SageMaker::ClusterSchedulerConfig, schemas of 2026-10-20).",
            )
        )
        validation.register(self)
        validation.record(self, acknowledge)

    def _make_policy(self, seen: SchedulerPolicy, cluster_arn: str) -> sagemaker.CfnClusterSchedulerConfig:
        return sagemaker.CfnClusterSchedulerConfig(
            self,
            "Policy",
            name=str(seen.name),
            cluster_arn=cluster_arn,
            scheduler_config=properties.scheduler_config(seen),
        )

    def _make_quota(self, seen: Quota, cluster_arn: str) -> cdk.CfnResource:
        resource = cdk.CfnResource(
            self,
            f"Team-{seen.team}",
            type="AWS::SageMaker::ComputeQuota",
            properties=properties.compute_quota(seen, cluster_arn),
        )
        resource.add_metadata(intent.KEY, {"has_members": seen.has_members})
        resource.node.add_dependency(self.policy)
        return resource
