"""Assemblies for tests of permissions: one stack, as the CDK writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.cloudformation.assembly import Assembly

ACCOUNT = "111122223333"


def stack(
    folder: Path, resources: dict[str, Any], *, environment: str = f"aws://{ACCOUNT}/us-west-2", **sections: Any
) -> Assembly:
    """An assembly with one stack, `Frontier`."""
    artifact = {
        "type": "aws:cloudformation:stack",
        "environment": environment,
        "properties": {"templateFile": "Frontier.template.json", "stackName": "Frontier"},
        "displayName": "Frontier",
    }
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({"version": "50.0.0", "artifacts": {"Frontier": artifact}}))
    (folder / "Frontier.template.json").write_text(json.dumps({"Resources": resources, **sections}))
    return assembly.read(folder)


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    """A resource."""
    return {"Type": kind, "Properties": properties}


def cluster(*groups: dict[str, Any], **properties: Any) -> dict[str, Any]:
    """A Slurm cluster of these groups."""
    defaults = {"ClusterName": "frontier", "Orchestrator": {"Slurm": {}}, "InstanceGroups": list(groups)}
    return resource("AWS::SageMaker::Cluster", **{**defaults, **properties})


def group(name: str = "p5", **properties: Any) -> dict[str, Any]:
    """A group of nodes."""
    defaults = {
        "InstanceGroupName": name,
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "ExecutionRole": f"arn:aws:iam::{ACCOUNT}:role/nodes",
        "SlurmConfig": {"NodeType": "Compute"},
    }
    return {**defaults, **properties}


def role(service: str, **properties: Any) -> dict[str, Any]:
    """A role that a service may assume."""
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}]}
    return resource("AWS::IAM::Role", AssumeRolePolicyDocument=trust, **properties)
