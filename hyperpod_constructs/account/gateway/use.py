"""Reads of SageMaker: what the clusters of an account take of its quotas.

Source of names and fields: the botocore 1.44.8 model of SageMaker (2017-07-24).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.account.gateway.session import Reader
from hyperpod_constructs.errors import NotInAccount


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupUse:
    """Instances of one type in an instance group.

    Attributes:
        group: Name of the group.
        instance_type: Their type; `None` for those of a group of several types that are not there yet.
        instances: Those that there are, or that are asked for where that is more.
        spot: Whether they are spot instances.
    """

    group: str
    instance_type: str | None
    instances: int
    spot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUse:
    """What a cluster takes.

    Attributes:
        name: Name of the cluster.
        arn: Its ARN.
        status: For example InService, Creating, Failed.
        groups: What its groups take.
    """

    name: str
    arn: str
    status: str
    groups: tuple[GroupUse, ...]


class ClustersInUse(Reader):
    """Reads what all clusters of one account take in one Region."""

    SERVICE = "sagemaker"
    READS = {  # noqa: RUF012  # the base class has the type
        "DescribeCluster": "sagemaker:DescribeCluster",
        "ListClusters": "sagemaker:ListClusters",
    }

    def all(self) -> tuple[ClusterUse, ...]:
        """Every cluster; one that is deleted meanwhile is left out.

        Raises:
            AccountError: if AWS refuses or fails a read.
        """
        listed = self._pages("ListClusters", "ClusterSummaries")
        return tuple(use for each in listed if (use := self._use(each["ClusterName"])))

    def _use(self, cluster: str) -> ClusterUse | None:
        try:
            answer = self._read("DescribeCluster", of=f"cluster {cluster}", ClusterName=cluster)
        except NotInAccount:
            return None
        groups = [*answer.get("InstanceGroups", []), *answer.get("RestrictedInstanceGroups", [])]
        return ClusterUse(
            name=cluster,
            arn=answer["ClusterArn"],
            status=answer["ClusterStatus"],
            groups=tuple(use for group in groups for use in _of_group(group)),
        )


def _of_group(group: Mapping[str, Any]) -> Iterator[GroupUse]:
    name, spot = group.get("InstanceGroupName", ""), "Spot" in group.get("CapacityRequirements", {})
    taken = max(group.get("CurrentCount", 0), group.get("TargetCount", 0))
    if "InstanceType" in group:
        yield GroupUse(group=name, instance_type=group["InstanceType"], instances=taken, spot=spot)
        return
    by_type = group.get("InstanceTypeDetails", [])
    for each in by_type:
        there = each.get("CurrentCount", 0)
        yield GroupUse(group=name, instance_type=each["InstanceType"], instances=there, spot=spot)
    rest = taken - sum(each.get("CurrentCount", 0) for each in by_type)
    if rest > 0:
        yield GroupUse(group=name, instance_type=None, instances=rest, spot=spot)
