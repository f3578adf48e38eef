"""SageMaker HyperPod's clusters, put in the place of moto's: what the service accepts, keeps and refuses.

Written from AWS's texts (facts 1.9 and 2.2) and not from this library's rules, so that both can be compared.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import Any

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.sagemaker import models, responses
from moto.sagemaker.exceptions import ResourceInUseException, ValidationError

from tests.proof.emulator import kubernetes, sharing

_NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
_FIXED = ("InstanceType", "ExecutionRole", "ThreadsPerCore")
_FIXED_TOO = ("OverrideVpcConfig", "CapacityRequirements")


class HyperPod:
    """One cluster."""

    def __init__(self, request: dict[str, Any], backend: models.SageMakerModelBackend) -> None:
        """Makes the cluster of a CreateCluster request.

        Raises:
            ValidationError: as the service would.
            ResourceInUseException: where the name is in use.
        """
        name = request.get("ClusterName", "")
        if not _NAME.fullmatch(name):
            raise ValidationError(message=f"ClusterName {name!r} failed to satisfy constraint {_NAME.pattern}")
        if name in backend.clusters:
            raise ResourceInUseException(message=f"Resource Already Exists: Cluster with name {name} already exists.")
        check(request)
        self.cluster_name = name
        digest = hashlib.sha256(f"{name} {len(backend.clusters)} {utcnow().isoformat()}".encode()).hexdigest()
        self.id = digest[:12]
        self.arn = f"arn:aws:sagemaker:{backend.region_name}:{backend.account_id}:cluster/{self.id}"
        self.request = request
        self.creation_time = utcnow()
        self.nodes: dict[str, models.ClusterNode] = {}
        self._made = 0
        self._backend = backend
        self._fill()

    def update(self, request: dict[str, Any]) -> None:
        """Changes groups as UpdateCluster does.

        Raises:
            ValidationError: as the service would.
        """
        gone = set(request.get("InstanceGroupsToDelete", ()))
        changed = {group["InstanceGroupName"]: group for group in request.get("InstanceGroups", ())}
        groups = {group["InstanceGroupName"]: group for group in self.request["InstanceGroups"]}
        for name, group in changed.items():
            if name in groups:
                _check_fixed(groups[name], group)
            groups[name] = group
        settings = {
            key: value for key, value in request.items() if key not in {"ClusterName", "InstanceGroupsToDelete"}
        }
        updated = {
            **self.request,
            **settings,
            "InstanceGroups": [group for name, group in groups.items() if name not in gone],
        }
        check(updated)
        self.request = updated
        self._fill()

    def _fill(self) -> None:
        """Ends nodes that are too many, the newest first, and starts those that lack."""
        wanted = {group["InstanceGroupName"]: group for group in self.request["InstanceGroups"]}
        have: Counter[str] = Counter()
        for node_id, node in list(self.nodes.items()):
            group = wanted.get(node.instance_group_name)
            have[node.instance_group_name] += 1
            if group is None or have[node.instance_group_name] > group["InstanceCount"]:
                del self.nodes[node_id]
        for name, group in wanted.items():
            for _ in range(group["InstanceCount"] - have[name]):
                self._start(name, group)

    def _start(self, name: str, group: dict[str, Any]) -> None:
        self._made += 1
        node_id = "i-" + hashlib.sha256(f"{self.id} {self._made}".encode()).hexdigest()[:17]
        self.nodes[node_id] = models.ClusterNode(
            region_name=self._backend.region_name,
            account_id=self._backend.account_id,
            cluster_name=self.cluster_name,
            instance_group_name=name,
            instance_type=group.get("InstanceType") or group["InstanceRequirements"]["InstanceTypes"][0],
            life_cycle_config=group.get("LifeCycleConfig", {}),
            execution_role=group["ExecutionRole"],
            node_id=node_id,
            threads_per_core=group.get("ThreadsPerCore"),
        )

    def describe(self) -> dict[str, Any]:
        """The cluster as DescribeCluster gives it."""
        have = Counter(node.instance_group_name for node in self.nodes.values())
        groups = [
            {
                **{key: value for key, value in group.items() if key != "InstanceCount"},
                "CurrentCount": have[group["InstanceGroupName"]],
                "TargetCount": group["InstanceCount"],
                "Status": "InService",
            }
            for group in self.request["InstanceGroups"]
        ]
        return {**self.request, **self.summary(), "FailureMessage": "", "InstanceGroups": groups}

    def summary(self) -> dict[str, Any]:
        """The cluster as ListClusters gives it."""
        return {
            "ClusterArn": self.arn,
            "ClusterName": self.cluster_name,
            "CreationTime": self.creation_time,
            "ClusterStatus": "InService",
        }


def check(request: dict[str, Any]) -> None:
    """Refuses what the service would refuse in a cluster.

    Raises:
        ValidationError: in the service's words where they are known.
    """
    groups = request.get("InstanceGroups", [])
    names = [group["InstanceGroupName"] for group in groups]
    if len(set(names)) != len(names):
        raise ValidationError(message=f"Duplicate instance group names: {names}")
    for group in groups:
        if group.get("MinInstanceCount", 0) > group["InstanceCount"]:
            raise ValidationError(message=f"MinInstanceCount of {group['InstanceGroupName']} is above InstanceCount")
    orchestrator = request.get("Orchestrator", {})
    if "Eks" in orchestrator and "VpcConfig" not in request:
        raise ValidationError(message="VpcConfig is required for EKS clusters")
    if why := kubernetes.cluster_refusal(request, request.get("ClusterName", "")):
        raise ValidationError(message=why)
    if "Slurm" in orchestrator:
        _check_slurm(request, groups)


def _check_slurm(request: dict[str, Any], groups: list[dict[str, Any]]) -> None:
    if (
        "SlurmConfigStrategy" in request["Orchestrator"]["Slurm"]
        and request.get("NodeProvisioningMode") == "Continuous"
    ):
        raise ValidationError(message="SlurmConfigStrategy is not supported with NodeProvisioningMode Continuous")
    configs = [group.get("SlurmConfig", {}) for group in groups]
    controllers = sum(config.get("NodeType") == "Controller" for config in configs)
    if controllers > 1:
        text = "SlurmConfig for InstanceGroups may only have one Controller Group."
        raise ValidationError(message=f"{controllers} Controller Groups found: {text}")
    if controllers == 0:
        raise ValidationError(
            message=f"Cluster {request['ClusterName']} has no InstanceGroup with Controller node type."
        )
    for config in configs:
        compute = config.get("NodeType") == "Compute"
        if config.get("PartitionNames") and not compute:
            raise ValidationError(message="Partitions can only be assigned to Compute node types")
        if compute and not config.get("PartitionNames"):
            raise ValidationError(message="PartitionNames is required for Compute node types")


def _check_fixed(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Refuses the change of what a group keeps for life."""
    fixed = [*_FIXED, *_FIXED_TOO]
    changed = [name for name in fixed if old.get(name) != new.get(name)]
    if old.get("SlurmConfig", {}).get("NodeType") != new.get("SlurmConfig", {}).get("NodeType"):
        changed.append("SlurmConfig.NodeType")
    if changed:
        raise ValidationError(
            message=f"{', '.join(changed)} of instance group {old['InstanceGroupName']} cannot be changed"
        )


def _cluster(clusters: dict[str, HyperPod], name_or_arn: str) -> HyperPod:
    for cluster in clusters.values():
        if name_or_arn in {cluster.cluster_name, cluster.arn}:
            return cluster
    raise ValidationError(message=f"Could not find cluster '{name_or_arn}'.")


def install() -> None:
    """Puts these clusters in the place of moto's."""
    response = responses.SageMakerResponse

    def create(self: Any) -> ActionResult:  # a response class of moto
        cluster = HyperPod(json.loads(self.body), self.sagemaker_backend)
        self.sagemaker_backend.clusters[cluster.cluster_name] = cluster
        return ActionResult({"ClusterArn": cluster.arn})

    def update(self: Any) -> ActionResult:  # as above
        request = json.loads(self.body)
        cluster = _cluster(self.sagemaker_backend.clusters, request["ClusterName"])
        cluster.update(request)
        return ActionResult({"ClusterArn": cluster.arn})

    def describe(self: Any) -> ActionResult:  # as above
        return ActionResult(_cluster(self.sagemaker_backend.clusters, self._get_param("ClusterName")).describe())

    def delete(self: Any) -> ActionResult:  # as above
        cluster = _cluster(self.sagemaker_backend.clusters, self._get_param("ClusterName"))
        if users := sharing.users_of(cluster.arn):
            raise ResourceInUseException(message=f"Cluster {cluster.cluster_name} is shared by {', '.join(users)}")
        del self.sagemaker_backend.clusters[cluster.cluster_name]
        return ActionResult({"ClusterArn": cluster.arn})

    def events(self: Any) -> ActionResult:  # a response class of moto
        _cluster(self.sagemaker_backend.clusters, self._get_param("ClusterName"))
        return ActionResult({"Events": []})

    def plans(_: Any) -> ActionResult:  # as above
        return ActionResult({"TrainingPlanSummaries": []})

    response.list_training_plans = plans  # type: ignore[attr-defined]  # moto has none
    response.list_cluster_events = events  # type: ignore[attr-defined]  # moto has none
    response.create_cluster = create  # type: ignore[method-assign]  # the point of this file
    response.update_cluster = update  # type: ignore[attr-defined]  # moto has none
    response.describe_cluster = describe  # type: ignore[method-assign]  # the point of this file
    response.delete_cluster = delete  # type: ignore[method-assign]  # the point of this file
