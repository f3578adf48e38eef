"""Reads of CloudWatch Logs: groups, streams and their last lines.

Source of names and fields: the botocore 1.44.8 model of CloudWatch Logs (2014-03-28).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from hyperpod_constructs.account.gateway.session import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGroup:
    """A log group.

    Attributes:
        name: Its name.
        created: When it was made.
    """

    name: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LogStream:
    """A stream of a log group.

    Attributes:
        name: Its name.
        last: When its last line was written; `None` where there is none yet. AWS may be behind by an hour.
    """

    name: str
    last: datetime | None


class Logs(Reader):
    """Reads log groups of one account in one Region."""

    SERVICE = "logs"
    READS = {  # noqa: RUF012  # the base class has the type
        "DescribeLogGroups": "logs:DescribeLogGroups",
        "DescribeLogStreams": "logs:DescribeLogStreams",
        "GetLogEvents": "logs:GetLogEvents",
    }

    def groups(self, prefix: str) -> tuple[LogGroup, ...]:
        """Groups whose name begins with a prefix, the newest first.

        Args:
            prefix: For example `/aws/sagemaker/Clusters/Frontier/`.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        groups = self._pages("DescribeLogGroups", "logGroups", logGroupNamePrefix=prefix)
        found = [
            LogGroup(name=group["logGroupName"], created=_moment(group.get("creationTime", 0))) for group in groups
        ]
        return tuple(sorted(found, key=lambda group: group.created, reverse=True))

    def streams(self, group: str, prefix: str) -> tuple[LogStream, ...]:
        """Streams of a group whose name begins with a prefix, the one written last first.

        Args:
            group: Name of the log group.
            prefix: For example `LifecycleConfig/`.

        Raises:
            NotInAccount: if there is no such group.
            AccountError: if AWS refuses or fails the read.
        """
        streams = self._pages(
            "DescribeLogStreams",
            "logStreams",
            of=f"log group {group}",
            logGroupName=group,
            logStreamNamePrefix=prefix,
        )
        found = [
            LogStream(
                name=stream["logStreamName"],
                last=_moment(stream["lastEventTimestamp"]) if "lastEventTimestamp" in stream else None,
            )
            for stream in streams
        ]
        return tuple(sorted(found, key=lambda stream: stream.last or datetime.min.replace(tzinfo=UTC), reverse=True))

    def last_lines(self, group: str, stream: str, number: int) -> tuple[str, ...]:
        """The last lines of a stream, in the order in which they were written.

        Args:
            group: Name of the log group.
            stream: Name of the stream.
            number: How many, 1 to 10,000.

        Raises:
            NotInAccount: if there is no such stream.
            AccountError: if AWS refuses or fails the read.
        """
        answer = self._read(
            "GetLogEvents",
            of=f"log stream {stream}",
            logGroupName=group,
            logStreamName=stream,
            limit=number,
            startFromHead=False,
        )
        return tuple(event["message"] for event in answer.get("events", ()))


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1_000, tz=UTC)
