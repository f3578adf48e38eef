"""Snapshots as `hyperpod snapshot` writes them: the cluster Frontier with 32 nodes on a plan, sound by default."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hyperpod_constructs.review.live import snapshot as live
from hyperpod_constructs.review.live.snapshot import Live

ACCOUNT, REGION = "111122223333", "us-west-2"
PLAN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/frontier"
SCRIPTS = f"s3://assets-{ACCOUNT}-{REGION}/scripts/0123456789abcdef"
FILE_SYSTEM = "fs-0123456789abcdef0"
DNS_NAME = f"{FILE_SYSTEM}.fsx.{REGION}.amazonaws.com"
P5 = "ml.p5.48xlarge for cluster usage"
IN_ALL = "Total number of instances allowed across SageMaker HyperPod clusters"
IN_ONE = "Maximum number instances allowed per SageMaker HyperPod cluster"


def group(name: str = "p5", target: int = 32, **changed: Any) -> dict[str, Any]:
    """A group of `ml.p5.48xlarge` whose nodes all run."""
    return {
        "name": name,
        "instance_type": "ml.p5.48xlarge",
        "spot": False,
        "target": target,
        "current": target,
        "nodes": {"Running": target},
        "status": "InService",
        "plan": None,
        "plan_status": None,
        "image": {"id": "default", "release": "1.2.3", "status": "UpToDate"},
        "scripts": SCRIPTS,
        "role": f"arn:aws:iam::{ACCOUNT}:role/nodes",
        "file_systems": [DNS_NAME],
        **changed,
    }


def plan(**changed: Any) -> dict[str, Any]:
    """The plan `frontier` of 32 instances, which ends in ten days."""
    return {
        "arn": PLAN,
        "name": "frontier",
        "status": "Active",
        "count": 32,
        "available": 0,
        "in_use": 32,
        "unhealthy": 0,
        "instance_types": ["ml.p5.48xlarge"],
        "zones": ["usw2-az2"],
        "targets": ["hyperpod-cluster"],
        "starts": "2026-11-01T11:30:00+00:00",
        "ends": "2026-12-10T09:10:00+00:00",
        **changed,
    }


def file_system(**changed: Any) -> dict[str, Any]:
    """A Lustre file system with 31 TB in it."""
    return {
        "id": FILE_SYSTEM,
        "kind": "LUSTRE",
        "status": "AVAILABLE",
        "capacity_gib": 48_000,
        "used_bytes": 31_000_000_000_000,
        "measured": "2026-11-30T09:05:00+00:00",
        **changed,
    }


def quota(name: str = P5, applied: float | None = 40.0, used: int | None = 32, **changed: Any) -> dict[str, Any]:
    """A quota of the account."""
    return {"service": "sagemaker", "name": name, "code": "L-0123ABCD", "applied": applied, "used": used, **changed}


def snapshot(*groups: dict[str, Any], status: str = "InService", **changed: Any) -> dict[str, Any]:
    """A snapshot of Frontier with these groups, or with one."""
    return {
        "format": "hyperpod-snapshot",
        "version": 1,
        "taken": "2026-11-30T09:10:00+00:00",
        "account": ACCOUNT,
        "region": REGION,
        "redacted": False,
        "cluster": {
            "name": "Frontier",
            "arn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/0123456789ab",
            "id": "0123456789ab",
            "status": status,
            "failure_message": None,
            "created": "2026-11-01T10:00:00+00:00",
            "orchestrator": "slurm",
            "configured_by_api": True,
            "continuous": True,
            "groups": list(groups or (group(),)),
        },
        "plans": [],
        "file_systems": [],
        "quotas": [],
        "missing": [],
        **changed,
    }


def written(folder: Path, data: object) -> Path:
    """A file with it."""
    file = folder / "snapshot.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return file


def read(folder: Path, data: object) -> Live:
    """What is read of it."""
    return live.read(written(folder, data))
