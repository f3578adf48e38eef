"""Reads of SageMaker: clusters and their nodes.

Source of names and fields: the botocore 1.44.8 model of SageMaker (2017-07-24).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from hyperpod_constructs.account.gateway.session import Reader

_NODES_PER_PAGE: Final = 100
"""The most that ListClusterNodes and ListClusters allow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedGroup:
    """An instance group as DescribeCluster shows it.

    Attributes:
        name: Name of the group.
        instance_type: Its type; `None` for a group of several types.
        current: Instances in the group, whatever their state.
        target: Instances asked for, spares included.
        status: For example `InService`, `Creating`, `Degraded`; `None` where AWS does not say.
        plan_status: Status of its training plan; `None` without a plan.
        plan: ARN of its training plan; `None` without a plan.
        image: Id of the image that its nodes have; `None` where AWS does not say.
        image_release: Release of AWS's image that its nodes have, for example `1.2.3`; `None` where AWS does not say.
        image_status: `UpToDate`, `UpdateAvailable`, `SecurityUpdateRequired` or `EndOfLife`; `None` where AWS does
            not say.
        scripts: Where the scripts lie that a new node runs; `None` without scripts.
        role: ARN of the role of its nodes; `None` where AWS does not say.
        spot: Whether it has spot instances.
        file_systems: DNS names of the file systems that its nodes mount.
    """

    name: str
    instance_type: str | None
    current: int
    target: int
    status: str | None
    plan_status: str | None
    plan: str | None = None
    image: str | None = None
    image_release: str | None = None
    image_status: str | None = None
    scripts: str | None = None
    role: str | None = None
    spot: bool = False
    file_systems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedCluster:
    """A cluster as DescribeCluster shows it.

    Attributes:
        name: Name of the cluster.
        status: One of Creating, Deleting, Failed, InService, RollingBack, SystemUpdating, Updating.
        failure_message: Why something failed; `None` where AWS gives no reason.
        groups: Its instance groups, restricted ones too.
        arn: Its ARN, which ends in its id.
        created: When it was made; `None` where AWS does not say.
        orchestrator: `slurm` or `eks`.
        configured_by_api: Whether Slurm takes its shape from the API; a legacy cluster takes it from a file,
            `provisioning_parameters.json`.
        continuous: Whether nodes are provisioned one by one; only then are there events.
    """

    name: str
    status: str
    failure_message: str | None
    groups: tuple[DescribedGroup, ...]
    arn: str
    created: datetime | None
    orchestrator: str
    configured_by_api: bool
    continuous: bool

    @property
    def id(self) -> str:
        """Its id, which log groups and SSM targets have; AWS has 12 letters and digits."""
        return self.arn.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNode:
    """A node as ListClusterNodes shows it.

    Attributes:
        group: Name of its instance group.
        status: For example `Running`, `Pending`, `DeepHealthCheckInProgress`, `Failure`.
        instance: Id of its instance.
        launched: When its instance was started.
        imaged: When it got the image that it has: its last software update, else its launch.
        message: What AWS adds to the status; `None` where it adds nothing.
    """

    group: str
    status: str
    instance: str
    launched: datetime
    imaged: datetime
    message: str | None


class Gateway(Reader):
    """Reads the clusters of one account in one Region; `gateway.connect` makes one."""

    SERVICE = "sagemaker"
    READS = {  # noqa: RUF012  # the base class has the type
        "DescribeCluster": "sagemaker:DescribeCluster",
        "ListClusterNodes": "sagemaker:ListClusterNodes",
        "ListClusters": "sagemaker:ListClusters",
    }

    def list_clusters(self) -> tuple[str, ...]:
        """Name of every cluster of the account in the Region.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        listed = self._pages("ListClusters", "ClusterSummaries", page_size=_NODES_PER_PAGE)
        return tuple(cluster["ClusterName"] for cluster in listed)

    def describe_cluster(self, cluster: str) -> DescribedCluster:
        """Status and groups of a cluster.

        Args:
            cluster: Name or ARN.

        Raises:
            NotInAccount: if there is no such cluster.
            AccountError: if AWS refuses or fails the read.
        """
        answer = self._read("DescribeCluster", of=f"cluster {cluster}", ClusterName=cluster)
        groups = [*answer.get("InstanceGroups", []), *answer.get("RestrictedInstanceGroups", [])]
        orchestrator = answer.get("Orchestrator", {})
        return DescribedCluster(
            name=answer.get("ClusterName", cluster),
            status=answer["ClusterStatus"],
            failure_message=answer.get("FailureMessage") or None,
            groups=tuple(_group(group) for group in groups),
            arn=answer["ClusterArn"],
            created=answer.get("CreationTime"),
            orchestrator="eks" if "Eks" in orchestrator else "slurm",
            configured_by_api="Slurm" in orchestrator or any("SlurmConfig" in group for group in groups),
            continuous=answer.get("NodeProvisioningMode") == "Continuous",
        )

    def list_cluster_nodes(self, cluster: str) -> tuple[ListedNode, ...]:
        """Nodes of a cluster that have an instance; those that are still asked for are not listed.

        Args:
            cluster: Name or ARN.

        Raises:
            NotInAccount: if there is no such cluster.
            AccountError: if AWS refuses or fails the read.
        """
        listed = self._pages(
            "ListClusterNodes",
            "ClusterNodeSummaries",
            of=f"cluster {cluster}",
            page_size=_NODES_PER_PAGE,
            ClusterName=cluster,
        )
        return tuple(_node(node) for node in listed)


def _group(group: Mapping[str, Any]) -> DescribedGroup:
    return DescribedGroup(
        name=group.get("InstanceGroupName", ""),
        instance_type=group.get("InstanceType"),
        current=group.get("CurrentCount", 0),
        target=group.get("TargetCount", 0),
        status=group.get("Status"),
        plan_status=group.get("TrainingPlanStatus"),
        plan=group.get("TrainingPlanArn"),
        image=group.get("CurrentImageId"),
        image_release=group.get("CurrentImageReleaseVersion") or None,
        image_status=group.get("ImageVersionStatus"),
        scripts=group.get("LifeCycleConfig", {}).get("SourceS3Uri") or None,
        role=group.get("ExecutionRole"),
        spot="Spot" in group.get("CapacityRequirements", {}),
        file_systems=tuple(dict.fromkeys(_mounted(group))),
    )


def _mounted(group: Mapping[str, Any]) -> Iterator[str]:
    for storage in group.get("InstanceStorageConfigs", ()):
        for mount in (storage.get("FsxLustreConfig"), storage.get("FsxOpenZfsConfig")):
            if mount:
                yield mount["DnsName"]


def _node(node: Mapping[str, Any]) -> ListedNode:
    return ListedNode(
        group=node["InstanceGroupName"],
        status=node["InstanceStatus"]["Status"],
        instance=node["InstanceId"],
        launched=node["LaunchTime"],
        imaged=node.get("LastSoftwareUpdateTime") or node["LaunchTime"],
        message=node["InstanceStatus"].get("Message") or None,
    )
