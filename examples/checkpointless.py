"""A checkpointless run: the training operator, spares that take over at once, checkpoints in the memory of nodes."""

import aws_cdk as cdk

import hyperpod_constructs as hp

app = cdk.App()

hp.EksTraining(
    app,
    "Run",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    chart=hp.HelmChart.installed_elsewhere(),
    admins=["arn:aws:iam::111122223333:role/Platform"],
    groups=[
        hp.InstanceGroup.worker("system", "ml.m5.4xlarge", count=2),
        hp.InstanceGroup.worker("p5en", "ml.p5en.48xlarge", count=16, spares=2),
    ],
    # The operator 1.2.0 or newer, and hyperpod-elastic-agent 1.1.0 or newer in the image of the job.
    addons=[hp.Addon.cert_manager(), hp.Addon.training_operator(version="v1.3.0-eksbuild.1"), hp.Addon.fsx_csi()],
    tiered_storage=hp.TieredStorage(memory_percent=40),
    storage=hp.Lustre(capacity_gib=12_000, throughput_mbps_per_tib=500),
)

app.synth()
