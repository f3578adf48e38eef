"""The first deploy, for a few USD: one controller and one small CPU node, no scripts, no file system.

It proves that account, permissions and network are right before a GPU is paid for.
"""

import aws_cdk as cdk

import hyperpod_constructs as hp

app = cdk.App()

hp.SlurmTraining(
    app,
    "Smoke",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    groups=[
        hp.InstanceGroup.controller("ml.m5.xlarge"),
        hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1),
    ],
    lifecycle=hp.LifecycleScripts.ami_only(),
    termination_protection=False,
)

app.synth()
