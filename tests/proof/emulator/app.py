"""The app that the scenarios deploy: what they change between two deploys comes from the environment."""

from __future__ import annotations

import json
import os
from typing import Any

import aws_cdk as cdk

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


def override(stack: cdk.Stack, resource_type: str, path: str, value: object) -> None:
    """Changes a property of every resource of a type, as an escape hatch does."""
    for each in stack.node.find_all():
        if isinstance(each, cdk.CfnResource) and each.cfn_resource_type == resource_type:
            each.add_property_override(path, value)


app = cdk.App()
for name in SETTINGS.get("names", ["Train"]):
    made = training(app, name)
    for where, (resource_type, path, value) in SETTINGS.get("overrides", {}).items():
        override(made.foundation if where == "foundation" else made, resource_type, path, value)  # type: ignore[arg-type]  # there is one
app.synth()
