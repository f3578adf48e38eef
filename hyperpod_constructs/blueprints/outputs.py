"""What the outputs of a cluster's stack say: what a person uses next."""

from __future__ import annotations

import aws_cdk as cdk

from hyperpod_constructs.cdk.cluster import Cluster
from hyperpod_constructs.cdk.control_plane import IControlPlane
from hyperpod_constructs.cdk.storage import IFileSystem
from hyperpod_constructs.cdk.validation import as_rules_see_it
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.kubernetes import Endpoint
from hyperpod_constructs.planning import cost, quotas


def add_outputs(stack: cdk.Stack, cluster: Cluster, seen: Deployment) -> None:
    """Adds the outputs to the stack of a cluster.

    Args:
        stack: Stack of the cluster.
        cluster: The cluster.
        seen: The deployment.
    """
    seen = as_rules_see_it(seen)
    cluster_id = cdk.Fn.select(1, cdk.Fn.split("/", cluster.cluster_arn))
    nodes = " ".join(f"{group.name}={group.count}" for group in cluster.model.groups)
    region = cluster.model.region or stack.region
    for key, value, description in (
        ("ClusterName", cluster.cluster_name, "Name of the cluster"),
        ("ClusterArn", cluster.cluster_arn, "ARN of the cluster"),
        (
            "SessionTarget",
            f"sagemaker-cluster:{cluster_id}_GROUP-INSTANCE_ID",
            "For aws ssm start-session --target; instance ids come from aws sagemaker list-cluster-nodes",
        ),
        ("QuotasNeeded", quotas_needed(seen), "Quotas by exact name and value, before the deploy"),
        ("CostPerHour", cost_per_hour(seen), "What is paid by the hour, and where the figure comes from"),
        (
            "WaitForNodes",
            f"hyperpod status {cluster.cluster_name} --wait --nodes {nodes} --region {region}",
            "CREATE_COMPLETE does not mean that nodes are there",
        ),
    ):
        cdk.CfnOutput(stack, key, value=value, description=description)


def add_kubeconfig(stack: cdk.Stack, control_plane: IControlPlane, endpoint: Endpoint | None) -> None:
    """Adds how to reach the Kubernetes API.

    Args:
        stack: Stack of the control plane, or of the HyperPod cluster where that is the user's own.
        control_plane: The EKS cluster.
        endpoint: How the API is reached; `None` where the user's own control plane decides.
    """
    # Written out where it is known: an output that imports another stack's output says nothing new.
    name = control_plane.model.name if control_plane.model else control_plane.cluster_name
    blocks = ", ".join((*endpoint.public_cidrs, *endpoint.private_cidrs)) if endpoint else ""
    way = (
        f"from {blocks} and its nodes"
        if blocks
        else "from its nodes alone"
        if endpoint
        else "as its control plane says"
    )
    cdk.CfnOutput(
        stack,
        "Kubeconfig",
        value=f"aws eks update-kubeconfig --name {name} --region {stack.region}",
        description=f"The Kubernetes API is reached {way}, by admins and members of teams",
    )


def add_volume(stack: cdk.Stack, storage: IFileSystem) -> None:
    """Adds a file system as a volume of Kubernetes.

    Args:
        stack: Stack of the file system.
        storage: The file system.
    """
    cdk.CfnOutput(
        stack,
        "LustreVolume",
        value=stack.to_json_string(_volume(storage)),
        description="The file system as a volume: pipe this into kubectl apply -f -, then claim it by its name",
    )


def _volume(storage: IFileSystem) -> dict[str, object]:
    """A persistent volume on a file system that exists; the driver wants its id, which its DNS name begins with."""
    target = storage.target
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "lustre"},
        "spec": {
            "capacity": {"storage": f"{storage.model.lustre.capacity_gib}Gi"},
            "volumeMode": "Filesystem",
            "accessModes": ["ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "mountOptions": ["flock"],
            "csi": {
                "driver": "fsx.csi.aws.com",
                "volumeHandle": cdk.Fn.select(0, cdk.Fn.split(".", target.dns_name)),
                "volumeAttributes": {"dnsname": target.dns_name, "mountname": target.mount_name},
            },
        },
    }


def quotas_needed(seen: Deployment) -> str:
    """Every quota that the deployment draws on, with the value it needs."""
    return "; ".join(
        f"{each.quota.name}: {'' if each.complete else 'at least '}{each.needed:,}" for each in quotas.needed(seen)
    )


def cost_per_hour(seen: Deployment) -> str:
    """The metered sum with its sources, then what is prepaid and what has no known price."""
    total = cost.hourly(seen)
    word = " (estimate)" if total.estimate else ""
    parts = [f"{total.usd_per_hour:,.2f} USD metered{word}" if total.metered else "no metered item has a known price"]
    sources = sorted({f"{item.source}, {item.as_of}" for item in total.metered})
    parts += [f"prepaid: {item.quantity} x {item.item} on plan {item.plan}" for item in total.prepaid]
    # No total has databases in it (`cost.LEFT_OUT`), and this one is made here.
    not_priced = [*(each.item for each in total.not_priced), *("RDS database" for _ in seen.databases)]
    parts += [f"not priced: {item}" for item in not_priced]
    return "; ".join([*parts, *(f"source: {source}" for source in sources)])
