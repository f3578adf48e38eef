"""Reads of CloudWatch: how full a file system is.

Source of names and fields: the botocore 1.44.8 model of CloudWatch (2010-08-01). Source of the metric: FSx for Lustre
guide, fs-metrics (2026): namespace AWS/FSx, one dimension, a value for each disk and minute, whose sum is the file
system's; `PhysicalDiskUsage` counts compressed data as it lies on the disks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hyperpod_constructs.account.gateway.session import Reader

_PERIOD_SECONDS: Final = 60
"""With a longer one the sum would be that of several minutes."""
_SETTLED: Final = timedelta(minutes=3)
"""Values younger than this may lack disks, and their sum would be too small."""
_LOOK_BACK: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A value of a metric.

    Attributes:
        value: In the unit of the metric.
        time: When it was measured.
    """

    value: float
    time: datetime


class CloudWatch(Reader):
    """Reads metrics of one account in one Region."""

    SERVICE = "cloudwatch"
    READS = {"GetMetricData": "cloudwatch:GetMetricData"}  # noqa: RUF012  # the base class has the type

    def used_bytes(self, file_system: str, now: datetime) -> Measured | None:
        """Bytes that the data of a Lustre file system takes on its disks; `None` where nothing was measured lately.

        Args:
            file_system: For example `fs-0123456789abcdef0`.
            now: The time, with its zone.

        Raises:
            AccountError: if AWS refuses or fails the read.
        """
        answer = self._read(
            "GetMetricData",
            MetricDataQueries=[
                {
                    "Id": "used",
                    "MetricStat": {
                        "Metric": {
                            "Namespace": "AWS/FSx",
                            "MetricName": "PhysicalDiskUsage",
                            "Dimensions": [{"Name": "FileSystemId", "Value": file_system}],
                        },
                        "Period": _PERIOD_SECONDS,
                        "Stat": "Sum",
                    },
                }
            ],
            StartTime=now - _LOOK_BACK,
            EndTime=now - _SETTLED,
            ScanBy="TimestampDescending",
        )
        values = [
            pair
            for result in answer["MetricDataResults"]
            for pair in zip(result["Timestamps"], result["Values"], strict=True)
        ]
        return max(
            (Measured(value=value, time=time) for time, value in values), key=lambda each: each.time, default=None
        )
