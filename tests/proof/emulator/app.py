"""The app that the scenarios deploy: what they change between two deploys comes from the environment."""

from __future__ import annotations

import json
import os
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3, aws_s3_deployment as s3_deployment

import hyperpod_constructs as hp

SETTINGS: dict[str, Any] = json.loads(os.environ.get("SCENARIO", "{}"))


def compute(name: str, count: int = 4, plan: str | None = None, **options: Any) -> hp.InstanceGroup:
    """A compute group as the settings have it."""
    capacity = hp.TrainingPlan.unchecked(plan) if plan else None
    return hp.InstanceGroup.compute(name, "ml.p5.48xlarge", count=count, capacity=capacity, **options)


def training(app: cdk.App, name: str) -> hp.SlurmTraining:
    """A cluster with everything around it."""
    scripts = SETTINGS.get("scripts")
    return hp.SlurmTraining(
        app,
        name,
        env=cdk.Environment(account="111122223333", region="us-west-2"),
        zone="usw2-az2",
        groups=[
            hp.InstanceGroup.controller("ml.m5.4xlarge"),
            hp.InstanceGroup.login("ml.m5.2xlarge"),
            *(compute(group, **options) for group, options in SETTINGS.get("groups", {"p5": {}}).items()),
        ],
        storage=hp.Lustre(capacity_gib=4800, throughput_mbps_per_tib=1000),
        alerts=["ml-platform@example.com"],
        lifecycle=hp.LifecycleScripts.extended(scripts) if scripts else None,
        generation=SETTINGS.get("generation", 1),
        termination_protection=False,
    )


def workers(min_count: int | None = None) -> list[hp.InstanceGroup]:
    """Groups of a cluster that EKS schedules, with what is waited for of the first."""
    groups = SETTINGS.get("groups", {"p5": {}}).items()
    return [
        hp.InstanceGroup.worker("system", "ml.m5.4xlarge", count=2, min_count=min_count),
        *(hp.InstanceGroup.worker(name, "ml.p5.48xlarge", **{"count": 4, **options}) for name, options in groups),
    ]


def shared(name: str) -> hp.TaskGovernance:
    """Two teams, each with one role."""
    teams = [
        hp.Team(
            name=team, instances={"ml.p5.48xlarge": count}, members=[f"arn:aws:iam::111122223333:role/{name}-{team}"]
        )
        for team, count in SETTINGS.get("teams", {"audio": 1, "vision": 2}).items()
    ]
    return hp.TaskGovernance(teams=teams, priorities={"training": 75, "urgent": 100})


def on_eks_in_one_stack(app: cdk.App, name: str) -> None:
    """The same from constructs: nothing but dependencies decides what comes first."""
    stack = cdk.Stack(app, name, env=cdk.Environment(account="111122223333", region="us-west-2"))
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"])
    plane = hp.EksControlPlane(
        stack,
        "Plane",
        network=network,
        name=name,
        chart=hp.HelmChart.installed_elsewhere(),
        admins=[f"arn:aws:iam::111122223333:role/{name}-platform"],
    )
    cluster = hp.Cluster(
        stack,
        "Nodes",
        name=name,
        network=network,
        control_plane=plane,
        groups=workers(min_count=1),
    )
    operator = [hp.Addon.training_operator(), hp.Addon.cert_manager(), hp.Addon.fsx_csi()]
    hp.ClusterAddons(stack, "Addons", cluster=cluster, addons=operator)
    hp.ClusterGovernance(stack, "Governance", cluster=cluster, governance=shared(name))


def on_eks(app: cdk.App, name: str) -> hp.EksTraining:
    """A cluster that EKS schedules and teams share, with everything around it."""
    return hp.EksTraining(
        app,
        name,
        env=cdk.Environment(account="111122223333", region="us-west-2"),
        zone="usw2-az2",
        chart=hp.HelmChart.installed_elsewhere(),
        kubernetes=SETTINGS.get("kubernetes"),
        admins=[f"arn:aws:iam::111122223333:role/{name}-platform"],
        groups=workers(),
        storage=hp.Lustre(capacity_gib=4800, throughput_mbps_per_tib=1000),
        governance=shared(name),
        alerts=["ml-platform@example.com"],
        generation=SETTINGS.get("generation", 1),
        termination_protection=False,
    )


def in_one_stack(app: cdk.App, name: str) -> None:
    """The same from constructs: nothing but dependencies decides what comes first."""
    stack = cdk.Stack(app, name, env=cdk.Environment(account="111122223333", region="us-west-2"))
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"])
    lustre = hp.Lustre(capacity_gib=4800, throughput_mbps_per_tib=1000)
    hp.Cluster(
        stack,
        "Cluster",
        name=name,
        network=network,
        groups=[hp.InstanceGroup.controller("ml.m5.4xlarge"), compute("p5")],
        mounts={"/fsx": hp.LustreFileSystem(stack, "Scratch", network=network, lustre=lustre)},
        lifecycle=hp.LifecycleScripts.extended(SETTINGS["scripts"]),
    )


def with_scripts_in_a_bucket(app: cdk.App, name: str) -> None:
    """Scripts that the CDK's bucket deployment puts into a bucket of the user's."""
    stack = cdk.Stack(app, name, env=cdk.Environment(account="111122223333", region="us-west-2"))
    bucket = s3.Bucket(stack, "Scripts", removal_policy=cdk.RemovalPolicy.DESTROY, auto_delete_objects=True)
    source = s3_deployment.Source.asset(SETTINGS["bucket_scripts"])
    upload = s3_deployment.BucketDeployment(
        stack, "Upload", sources=[source], destination_bucket=bucket, destination_key_prefix="v1", prune=False
    )
    cluster = hp.Cluster(
        stack,
        "Cluster",
        name=name,
        network=hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"]),
        groups=[hp.InstanceGroup.controller("ml.m5.4xlarge"), compute("p5", count=1)],
        lifecycle=hp.LifecycleScripts.existing(f"s3://{bucket.bucket_name}/v1", on_init_complete="on_init_complete.sh"),
    )
    bucket.grant_read(cluster)
    cluster.node.add_dependency(upload)


def override(stack: cdk.Stack, resource_type: str, path: str, value: object) -> None:
    """Changes a property of every resource of a type, as an escape hatch does."""
    for each in stack.node.find_all():
        if isinstance(each, cdk.CfnResource) and each.cfn_resource_type == resource_type:
            each.add_property_override(path, value)


app = cdk.App()
if SETTINGS.get("one_stack"):
    make = on_eks_in_one_stack if SETTINGS.get("eks") else in_one_stack
    make(app, SETTINGS["names"].pop())
if SETTINGS.get("bucket_scripts"):
    with_scripts_in_a_bucket(app, SETTINGS["names"].pop())
for name in SETTINGS["names"]:
    made = on_eks(app, name) if SETTINGS.get("eks") else training(app, name)
    for where, (resource_type, path, value) in SETTINGS.get("overrides", {}).items():
        override(made.foundation if where == "foundation" else made, resource_type, path, value)  # type: ignore[arg-type]  # there is one
app.synth()
