"""The HyperPod cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2, aws_iam as iam, aws_sagemaker as sagemaker
from constructs import Construct, DependencyGroup

from hyperpod_constructs.catalog import endpoints, instances
from hyperpod_constructs.catalog.permissions import KEY_ACTIONS, SCALING_ACTIONS
from hyperpod_constructs.cdk import _properties as properties, validation
from hyperpod_constructs.cdk._arguments import check_names, checked
from hyperpod_constructs.cdk._cluster_model import (
    NodeRecovery,
    Scripts,
    cluster_model,
    roster_parameter,
    scripts_of,
    step_context,
    types_of,
    volumes_of,
    zone_of,
)
from hyperpod_constructs.cdk._orchestrator import check_orchestrator, check_place, eks_of, scripts_for, tags_for
from hyperpod_constructs.cdk.control_plane import IControlPlane
from hyperpod_constructs.cdk.grants import Nodes
from hyperpod_constructs.cdk.identity import NodeFeatures, NodeRoles
from hyperpod_constructs.cdk.lifecycle import LifecycleScripts, PublishedScripts, Upload, publish
from hyperpod_constructs.cdk.network import Network
from hyperpod_constructs.cdk.roster import make_parameter, publish_roster
from hyperpod_constructs.cdk.storage import IFileSystem
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model import deployment as model, intent
from hyperpod_constructs.model.capacity import InstanceGroup, TrainingPlan
from hyperpod_constructs.model.control_plane import Kubernetes
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.governance import TaskGovernance
from hyperpod_constructs.model.kubernetes import KARPENTER, TieredStorage
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.model.people import People
from hyperpod_constructs.model.storage import OpenZfs
from hyperpod_constructs.tokens import is_token, known


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class Cluster(Construct):
    """A SageMaker HyperPod cluster, scheduled by Slurm or, on a `control_plane`, by EKS.

    Everything that can be known from the arguments is checked before anything is made: all errors come at once, as
    `InvalidCluster`. Provisioning is always Continuous: nodes that come are used, the rest is asked for again.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        name: Name of the cluster, 1 to 63 letters, digits and hyphens. Fixed on purpose: a change that CloudFormation
            would carry out by building a second cluster beside the first is refused, because the name is in use.
        network: Where it stands; cannot be changed later.
        zone: In which of the network's zones. Defaults to the first. Cannot be changed later.
        groups: Its instance groups: one controller, login nodes, compute nodes; on EKS workers.
        slurm: How Slurm is run.
        control_plane: The EKS cluster that its nodes join, `hp.EksControlPlane` or one that exists. It waits for what
            must be there before nodes, and gets the tag `SageMaker=true`, which the training operator asks for.
        mounts: File systems by folder, for all groups that have no mounts of their own. New nodes only. The cluster
            waits for links to S3, so that nodes do not come before them. Slurm only.
        lifecycle: Scripts that run on new nodes, of all groups or by group name. Defaults to none on Slurm, and on EKS
            to one that does nothing.
        people: Who works on it; `hp.steps.People()` among the steps brings them to the nodes. Slurm only.
        governance: How teams share it; `hp.steps.Accounting()` among the steps makes Slurm's accounts of them. On EKS
            see `hp.ClusterGovernance`.
        karpenter: Whether nodes come and go with the pods that wait for them, in groups whose count is 0. EKS only.
        cluster_role: A role of yours for that; otherwise one is made.
        tiered_storage: Checkpoints in the memory of nodes, `hp.TieredStorage()`. EKS only.
        recovery: `Automatic` replaces or reboots faulty GPU and Trainium nodes, `None` only labels them.
        roles: Roles of your own by group name; the other groups get one made. The policy that nodes share is attached
            to yours, too.
        permissions_boundary: Boundary of the roles that are made.
        tags: Tags of the cluster.
        acknowledge: Rule ids and reasons of errors that are accepted, for when one of our dated facts is stale. What
            synth finds on something outside of the cluster, such as a security group of yours, is accepted there:
            `hp.acknowledge(group, "HP4001", reason)`.

    Attributes:
        cluster_arn: ARN of the cluster.
        cluster_name: Name of the cluster.
        model: The cluster as the rules see it.
        roles: Roles and shared policy of the nodes.
        scripts: Where the scripts of the groups lie.
        control_plane: The EKS cluster that its nodes join; `None` for Slurm.
        addons: Add-ons that wait for it, by name, as they are made.
        cluster_role: The role with which it scales itself, if it does.
        roster: The SSM parameter that says where the roster lies, which nodes look up: counts, users and teams.

    Raises:
        InvalidCluster: with every error that the rules find.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        network: Network,
        zone: str | None = None,
        groups: Sequence[InstanceGroup],
        slurm: Slurm | None = None,
        control_plane: IControlPlane | None = None,
        mounts: Mapping[str, IFileSystem | OpenZfs] | None = None,
        lifecycle: Scripts | None = None,
        people: People | None = None,
        governance: TaskGovernance | None = None,
        karpenter: bool = False,
        cluster_role: iam.IRole | None = None,
        tiered_storage: TieredStorage | None = None,
        recovery: NodeRecovery = "Automatic",
        roles: Mapping[str, iam.IRole] | None = None,
        permissions_boundary: iam.IManagedPolicy | None = None,
        tags: Mapping[str, str] | None = None,
        acknowledge: Mapping[str, str] | None = None,
    ) -> None:
        """Checks the cluster, then makes it."""
        check_names("roles", roles, [str(group.name) for group in groups])
        self._mounts = {where: each for where, each in (mounts or {}).items() if not isinstance(each, OpenZfs)}
        check_orchestrator(
            control_plane,
            {"slurm": slurm, "mounts": mounts, "people": people, "governance": governance},
            {"karpenter": karpenter, "tiered_storage": tiered_storage},
        )
        if cluster_role is not None and not karpenter:
            raise InvalidValue("cluster_role has no effect without karpenter=True")
        self._slurm = Slurm() if slurm is None else slurm
        self.control_plane = control_plane
        self.addons: dict[str, cdk.CfnResource] = {}
        self._network = network
        self._zone = zone
        self._nodes: Nodes | None = None
        lifecycle = scripts_for(lifecycle, on_eks=control_plane is not None)
        tags = tags_for(tags, on_eks=control_plane is not None)
        stack = cdk.Stack.of(scope)
        account, region = stack.account, stack.region
        _check_one_region(network, region)
        check_place(control_plane, stack)
        seen = cluster_model(
            f"{scope.node.path}/{id}",
            name=name,
            groups=groups,
            orchestrator=self._slurm if control_plane is None else eks_of(control_plane),
            network=network.model,
            zone=zone,
            mounts={w: each if isinstance(each, OpenZfs) else each.model for w, each in (mounts or {}).items()},
            lifecycle=lifecycle,
            people=people,
            governance=governance,
            autoscaling=KARPENTER if karpenter else None,
            tiered_storage=tiered_storage,
            chart_elsewhere=control_plane is not None and control_plane.chart_elsewhere,
            recovery=recovery,
            tags=tags,
            account=None if is_token(account) else account,
            region=None if is_token(region) else region,
        )
        elsewhere = {each.model.path: validation.accepted_on(each) for each in self._mounts.values()}
        validation.refuse_errors(self.surroundings(seen), acknowledge, elsewhere)
        _check_names_differ(seen)
        by_group = {str(group.name): scripts_of(lifecycle, group) for group in seen.groups}
        mounted = [each.model for each in self._mounts.values()]
        # Before the cluster is in the tree: the synthesizer may refuse them.
        scripts = publish(by_group, stack, step_context(name, seen.groups, mounted, region=seen.region))
        is_looked_up = any(each.ours for each in by_group.values()) or people is not None or governance is not None
        roster = publish_roster(seen, people, governance, stack) if is_looked_up else None

        super().__init__(scope, id)
        self.model = seen
        self.scripts = scripts
        self.roster = make_parameter(self, "Roster", name, roster) if roster else None
        self.roles = NodeRoles(
            self,
            "Roles",
            groups=[str(group.name) for group in seen.groups],
            features=replace(
                _features(seen, self._mounts, self.scripts, list(by_group.values()), roster),
                eks_arn=control_plane.cluster_arn if control_plane else None,
            ),
            given=roles or {},
            permissions_boundary=permissions_boundary,
        )
        self.cluster_role = (cluster_role or self._make_cluster_role(seen, permissions_boundary)) if karpenter else None
        resource = self._make_resource(seen, stack)
        resource.add_metadata(
            intent.KEY, intent.encode(seen, subnets=network.model.subnets if network.model.imported else ())
        )
        if self.scripts.keys:
            resource.add_metadata("hyperpod:scripts", list(self.scripts.keys))
        if any(step.secrets for each in by_group.values() for step in each.ours or ()):
            network.reach(endpoints.ACCOUNTING)
        links = [link for each in self._mounts.values() for link in each.associations]
        waits = [*self._make_policies(seen), *links, *([self.roster] if self.roster else [])]
        before = [control_plane.ready] if control_plane else []
        resource.node.add_dependency(DependencyGroup(network.ready, *before, *waits))
        self.cluster_arn = resource.ref
        self.cluster_name = name
        self.resource = resource
        self._register(seen, acknowledge)

    def _register(self, seen: model.Cluster, acknowledge: Mapping[str, str] | None) -> None:
        """Has the rules run on the template, and says what is known already of what they would say."""
        validation.register(self)
        validation.record(self, acknowledge)
        if any(each.subnet for each in self._mounts.values()):
            in_template = self.surroundings(seen, imported=False)
            validation.warn_of_what_no_template_says(self, self.surroundings(seen), in_template)
        if all(group.described or instances.find(name) for group in seen.groups for name in types_of(group)):
            validation.acknowledge_type_list(self.resource)
        if any(group.image_id == "default" for group in seen.groups):
            validation.acknowledge_default_image(self.resource)

    @property
    def connections(self) -> ec2.Connections:
        """For rules from and to the nodes."""
        return self._network.connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Who a grant to the cluster reaches: every group, see `Nodes`."""
        if self._nodes is None:
            # Made when they are first needed, each once.
            grants = (cache(self._make_grants), cache(self._make_own_grants))
            self._nodes = Nodes(self.roles.roles, *grants, self.cluster_arn)
        return cast("iam.IPrincipal", self._nodes)

    def _make_grants(self) -> iam.Policy:
        """What users grant to every node.

        A policy of its own: what a blueprint acknowledges of ours for cdk-nag must not cover it. All groups have it, so
        that a grant is one resource, which the cluster waits for.
        """
        policy = iam.Policy(self, "Grants")
        self.roles.attach(policy)
        self.resource.node.add_dependency(DependencyGroup(_resource_of(policy)))
        return policy

    def _make_own_grants(self) -> iam.Policy:
        """Grants that name the cluster, which can therefore not wait for them."""
        policy = iam.Policy(self, "OwnGrants")
        self.roles.attach(policy)
        return policy

    def role(self, group: str) -> iam.IRole:
        """The role of one group, for grants that the other groups must not have.

        The cluster does not wait for such a grant, as it does for one to the cluster: scripts that run on new nodes
        must not count on it.

        Raises:
            InvalidValue: if there is no such group.
        """
        if group not in self.roles.roles:
            raise InvalidValue(f"no group {group!r}; the cluster has {', '.join(self.roles.roles)}")
        return self.roles.roles[group]

    def surroundings(self, seen: model.Cluster, *, imported: bool = True) -> Deployment:
        """The cluster and what it refers to, as the rules see them.

        Args:
            seen: The cluster.
            imported: Whether file systems that stand in no template are among it.
        """
        file_systems = [each for each in self._mounts.values() if imported or each.subnet is None]
        subnets = tuple(each.subnet for each in file_systems if each.subnet)
        plane = self.control_plane.model if self.control_plane else None
        return Deployment(
            clusters=(seen,),
            kubernetes=Kubernetes(control_planes=(plane,) if plane else ()),
            subnets=self._network.model.subnets + subnets,
            security_groups=self._network.model.security_groups,
            file_systems=tuple(each.model for each in file_systems),
        )

    def _make_resource(self, seen: model.Cluster, stack: cdk.Stack) -> sagemaker.CfnCluster:
        targets = {each.model.path: each.target for each in self._mounts.values()}
        groups = []
        for group in seen.groups:
            plan = group.capacity if isinstance(group.capacity, TrainingPlan) else None
            wiring = properties.Wiring(
                role_arn=self.roles.roles[str(group.name)].role_arn,
                override=self._network.ids(zone_of(group)) if group.zone else None,
                targets=targets,
                scripts=self.scripts.by_group.get(str(group.name)),
                plan_arn=properties.plan_arn(
                    plan, partition=cdk.Aws.PARTITION, region=stack.region, account=stack.account
                )
                if plan
                else None,
            )
            all_or_nothing = self._slurm.provisioning == "all-or-nothing"
            groups.append(properties.instance_group(group, wiring, all_or_nothing=all_or_nothing))
        return sagemaker.CfnCluster(
            self,
            "Resource",
            cluster_name=str(seen.name),
            instance_groups=groups,
            node_provisioning_mode="Continuous",
            node_recovery=str(seen.recovery),
            orchestrator=properties.orchestrator(self.control_plane.cluster_arn if self.control_plane else self._slurm),
            cluster_role=self.cluster_role.role_arn if self.cluster_role else None,
            auto_scaling=properties.auto_scaling(known(seen.autoscaling)),
            tiered_storage_config=properties.tiered_storage(known(seen.tiered_storage)),
            vpc_config=properties.vpc_config(self._network.ids(self._zone)),
            tags=[cdk.CfnTag(key=key, value=str(value)) for key, value in sorted(seen.tags.items())] or None,
        )

    def _make_cluster_role(self, seen: model.Cluster, boundary: iam.IManagedPolicy | None) -> iam.IRole:
        """The role with which HyperPod adds and deletes nodes for Karpenter.

        The ARN of a cluster holds no name, so that the role is good for all clusters of the account and Region. Its
        policy is its own, so that the cluster waits for it.
        """
        stack = cdk.Stack.of(self)
        clusters = f"arn:{cdk.Aws.PARTITION}:sagemaker:{stack.region}:{stack.account}:cluster/*"
        allowed = [iam.PolicyStatement(actions=list(SCALING_ACTIONS), resources=[clusters])]
        if keys := sorted({str(v.kms_key) for group in seen.groups for v in volumes_of(group) if v.kms_key}):
            allowed.append(iam.PolicyStatement(actions=list(KEY_ACTIONS), resources=keys))
        return iam.Role(
            self,
            "ScalingRole",
            assumed_by=iam.ServicePrincipal(
                "hyperpod.sagemaker.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": stack.account}},
            ),
            inline_policies={"Scaling": iam.PolicyDocument(statements=allowed)},
            permissions_boundary=boundary,
        )

    def _make_policies(self, seen: model.Cluster) -> list[cdk.CfnResource]:
        """The policies that no property refers to, and which nodes need from their first minute."""
        policies = [_resource_of(self.roles.policy)]
        accounting = self._slurm.accounting
        if isinstance(accounting, ExternalDatabase):
            controllers = [str(group.name) for group in seen.groups if group.node_type == "Controller"]
            allowed = {"secretsmanager:GetSecretValue": accounting.secret_arn, "kms:Decrypt": accounting.key_arn}
            read = iam.Policy(
                self,
                "Accounting",
                statements=[
                    iam.PolicyStatement(actions=[action], resources=[str(arn)])
                    for action, arn in allowed.items()
                    if arn is not None
                ],
            )
            self.roles.attach(read, controllers)
            self._network.reach(endpoints.ACCOUNTING)
            policies.append(_resource_of(read))
        return policies


def _check_one_region(network: Network, region: str) -> None:
    """Refuses a network that the cluster's stack could not refer to."""
    if region == network.region:
        return
    if not (is_token(region) or is_token(network.region)):
        raise InvalidValue(
            f"the network is in {network.region} and the cluster in {region}", "put both into one Region"
        )
    if network.model.fabric:  # an imported network with security groups of its own is plain text
        late, fixed = ("network", region) if is_token(network.region) else ("cluster", network.region)
        raise InvalidValue(
            f"the stack of the {late} leaves its Region to the deploy, the other one is in {fixed}: the CDK cannot "
            "refer from one to the other",
            "give both stacks the same env",
        )


def _check_names_differ(seen: model.Cluster) -> None:
    """Refuses what no acknowledgement can help: roles and intent are told apart by the names of groups."""
    names = [str(group.name) for group in seen.groups]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidValue(f"several groups are named {', '.join(twice)}", "give each group a name of its own")


def _features(
    seen: model.Cluster,
    mounts: Mapping[str, IFileSystem],
    published: PublishedScripts,
    scripts: Sequence[LifecycleScripts],
    roster: Upload | None,
) -> NodeFeatures:
    keys = {str(volume.kms_key) for group in seen.groups for volume in volumes_of(group) if volume.kms_key}
    steps = [step for each in scripts for step in each.ours or ()]
    places = {*published.places, *([roster.place] if roster else [])}
    return NodeFeatures(
        lustre_efa=any(each.model.lustre.efa is True for each in mounts.values()),
        scripts=[(f"arn:{cdk.Aws.PARTITION}:s3:::{bucket}", prefix) for bucket, prefix in sorted(places)],
        objects=sorted({uri.removeprefix("s3://") for step in steps for uri in step.objects}),
        secrets=sorted({arn for step in steps for arn in step.secrets}),
        decrypt=sorted({arn for step in steps for arn in step.key_arns}),
        parameters=[roster_parameter(str(seen.name)).removeprefix("/")] if roster else [],
        volume_key_arns=sorted(keys),
        rollback_alarms=any(group.has_rollback_alarms for group in seen.groups),
    )


def _resource_of(policy: iam.Policy) -> cdk.CfnResource:
    """The L1 of a policy: a dependency on the L2 would drag the roles along, which are referred to anyway."""
    resource = policy.node.default_child
    if not isinstance(resource, cdk.CfnResource):
        raise TypeError(f"{policy.node.path} has no resource")
    return resource
