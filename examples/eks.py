"""Two teams on an EKS cluster: control plane, Lustre volume, training operator, quotas, access for each team's role."""

import aws_cdk as cdk

import hyperpod_constructs as hp

app = cdk.App()

hp.EksTraining(
    app,
    "Research",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    kubernetes="1.34",
    chart=hp.HelmChart.installed_elsewhere(),
    admins=["arn:aws:iam::111122223333:role/Platform"],
    groups=[
        hp.InstanceGroup.worker("system", "ml.m5.4xlarge", count=2),
        hp.InstanceGroup.worker("p5en", "ml.p5en.48xlarge", count=16, spares=1),
    ],
    storage=hp.Lustre(capacity_gib=12_000, throughput_mbps_per_tib=500),
    governance=hp.TaskGovernance(
        priorities={"inference": 100, "training": 75, "experiment": 25},
        teams=[
            hp.Team(
                name="pretraining",
                instances={"ml.p5en.48xlarge": 12},
                weight=80,
                members=["arn:aws:iam::111122223333:role/Pretraining"],
            ),
            hp.Team(
                name="alignment",
                instances={"ml.p5en.48xlarge": 4},
                weight=20,
                lend=False,
                members=["arn:aws:iam::111122223333:role/Alignment"],
            ),
        ],
    ),
    alerts=["ml-platform@example.com"],
)

app.synth()
