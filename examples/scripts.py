"""A cluster from the constructs themselves: an existing network, scripts on new nodes, an S3 prefix as a folder."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

import hyperpod_constructs as hp

app = cdk.App()
stack = cdk.Stack(app, "Research", env=cdk.Environment(account="111122223333", region="us-west-2"))

network = hp.Network.from_attributes(
    stack,
    "Network",
    vpc_id="vpc-0123456789abcdef0",
    subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2", cidr="10.1.0.0/20")],
)
scratch = hp.LustreFileSystem(
    stack,
    "Scratch",
    network=network,
    lustre=hp.Lustre(capacity_gib=4_800, throughput_mbps_per_tib=250),
    repositories=[hp.DataRepository(folder="/datasets", s3_uri="s3://example-datasets/tokenized/")],
)
cluster = hp.Cluster(
    stack,
    "Cluster",
    name="research",
    network=network,
    groups=[
        hp.InstanceGroup.controller("ml.m5.2xlarge"),
        hp.InstanceGroup.compute("g6e", "ml.g6e.12xlarge", count=4, spares=1, volumes=(hp.NodeVolume(size_gib=500),)),
    ],
    mounts={"/fsx": scratch},
    lifecycle=hp.LifecycleScripts.extended(Path(__file__).parent / "lifecycle"),
)
checkpoints = hp.CheckpointBucket(stack, "Checkpoints")
checkpoints.grant_read_write(cluster)
s3.Bucket.from_bucket_name(stack, "Datasets", "example-datasets").grant_read(cluster.role("g6e"))

app.synth()
