"""The app of app.py with as many clusters as asked for: `python tools/bench/clusters.py 10`."""

from __future__ import annotations

import sys

import aws_cdk as cdk

import hyperpod_constructs as hp

app = cdk.App()
for number in range(int(sys.argv[1])):
    hp.SlurmTraining(
        app,
        f"Train{number}",
        env=cdk.Environment(account="111122223333", region="us-west-2"),
        zone="usw2-az2",
        groups=[
            hp.InstanceGroup.controller("ml.m5.4xlarge"),
            hp.InstanceGroup.login("ml.m5.2xlarge"),
            hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=30, spares=2),
        ],
        storage=hp.Lustre(capacity_gib=48_000, throughput_mbps_per_tib=500),
        alerts=["ml-platform@example.com"],
    )
app.synth()
