"""The smallest real deployment: 30 H100 nodes and 2 spares on a training plan, Lustre, alerts."""

import aws_cdk as cdk

import hyperpod_constructs as hp

app = cdk.App()

hp.SlurmTraining(
    app,
    "Frontier",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    groups=[
        hp.InstanceGroup.controller("ml.m5.4xlarge"),
        hp.InstanceGroup.login("ml.m5.2xlarge"),
        hp.InstanceGroup.compute(
            "p5",
            "ml.p5.48xlarge",
            count=30,
            spares=2,
            partition="train",
            capacity=hp.TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14"),
        ),
    ],
    storage=hp.Lustre(capacity_gib=48_000, throughput_mbps_per_tib=500),
    alerts=["ml-platform@example.com"],
)

app.synth()
