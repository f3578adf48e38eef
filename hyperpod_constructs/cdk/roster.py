"""The roster of a cluster, where nodes find it.

The file is published like scripts, under a key with a hash of its own, and an SSM parameter of a stable name says where
the newest one lies: who is added or leaves changes the parameter and nothing of the cluster. An object at a stable key
would not do: `cdk deploy` does not upload over an object that is there.
"""

from __future__ import annotations

import json

import aws_cdk as cdk
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from hyperpod_constructs.cdk._cluster_model import roster_parameter
from hyperpod_constructs.cdk.lifecycle import Upload, upload
from hyperpod_constructs.model import roster
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.governance import TaskGovernance
from hyperpod_constructs.model.people import People


def publish_roster(
    cluster: Cluster, people: People | None, governance: TaskGovernance | None, stack: cdk.Stack
) -> Upload:
    """Adds the roster to the stack's assets."""
    content = json.dumps(roster.encode(cluster.groups, people, governance), indent=1)
    return upload([(roster.FILE, f"{content}\n".encode())], stack, str(cluster.name))


def make_parameter(scope: Construct, id: str, cluster_name: str, uploaded: Upload) -> ssm.CfnParameter:
    """The parameter that says where the roster lies."""
    parameter = ssm.CfnParameter(
        scope,
        id,
        type="String",
        name=roster_parameter(cluster_name),
        value=f"{uploaded.uri}/{roster.FILE}",
        description=f"Where nodes of cluster {cluster_name} find its nodes, users and teams",
    )
    # `cdk gc` deletes objects that no template names as text. Not on the cluster, which nothing of this changes.
    parameter.add_metadata("hyperpod:scripts", list(uploaded.keys))
    return parameter
