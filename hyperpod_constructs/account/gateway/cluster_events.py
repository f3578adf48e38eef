"""Reads of SageMaker: what happened to a cluster, its groups and its nodes.

Source of names and fields: the botocore 1.44.8 model of SageMaker (2017-07-24). That events exist for clusters with
Continuous provisioning only was seen by others in 2026, and no guide says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from hyperpod_constructs.account.gateway.session import Reader

_EVENTS_PER_PAGE: Final = 100
"""The most that ListClusterEvents allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEvent:
    """Something that happened.

    Attributes:
        id: Id of the event, for its details.
        time: When.
        level: `Info`, `Warn` or `Error`; `None` where AWS does not say.
        about: `Cluster`, `InstanceGroup` or `Instance`.
        group: Name of the instance group; `None` where it is about the cluster.
        instance: Id of the instance; `None` where it is about more or has none yet.
        description: What happened; empty where AWS does not say.
    """

    id: str
    time: datetime
    level: str | None
    about: str
    group: str | None
    instance: str | None
    description: str


class ClusterEvents(Reader):
    """Reads the events of clusters in one account and Region."""

    SERVICE = "sagemaker"
    READS = {  # noqa: RUF012  # the base class has the type
        "DescribeClusterEvent": "sagemaker:DescribeClusterEvent",
        "ListClusterEvents": "sagemaker:ListClusterEvents",
    }

    def since(self, cluster: str, moment: datetime) -> tuple[ClusterEvent, ...]:
        """Events after a moment, the newest first.

        Args:
            cluster: Name or ARN.
            moment: Earliest time, with its zone.

        Raises:
            NotInAccount: if there is no such cluster.
            AccountError: if AWS refuses or fails the read, for example for a cluster without Continuous provisioning.
        """
        events = self._pages(
            "ListClusterEvents",
            "Events",
            of=f"cluster {cluster}",
            page_size=_EVENTS_PER_PAGE,
            ClusterName=cluster,
            EventTimeAfter=moment,
            SortBy="EventTime",
            SortOrder="Descending",
        )
        return tuple(_event(event) for event in events)

    def reasons(self, cluster: str, event: str) -> tuple[str, ...]:
        """Why something failed, as the details of an event say; empty where they do not.

        Args:
            cluster: Name or ARN.
            event: Id of the event.

        Raises:
            NotInAccount: if there is no such event.
            AccountError: if AWS refuses or fails the read.
        """
        answer = self._read("DescribeClusterEvent", of=f"event {event}", ClusterName=cluster, EventId=event)
        details = answer.get("EventDetails", {}).get("EventDetails", {}).get("EventMetadata", {})
        said = [part.get("FailureMessage") for part in details.values() if isinstance(part, Mapping)]
        return tuple(dict.fromkeys(text for text in said if text))


def _event(event: Mapping[str, Any]) -> ClusterEvent:
    return ClusterEvent(
        id=event["EventId"],
        time=event["EventTime"],
        level=event.get("EventLevel"),
        about=event["ResourceType"],
        group=event.get("InstanceGroupName") or None,
        instance=event.get("InstanceId") or None,
        description=event.get("Description", ""),
    )
