"""Evaluation on smaller GPUs beside training: two pools in one cluster, each with its quota, kept apart by taints."""

import aws_cdk as cdk

import hyperpod_constructs as hp

app = cdk.App()

hp.EksTraining(
    app,
    "Lab",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    chart=hp.HelmChart.installed_elsewhere(),
    admins=["arn:aws:iam::111122223333:role/Platform"],
    groups=[
        hp.InstanceGroup.worker("system", "ml.m5.4xlarge", count=2),
        hp.InstanceGroup.worker("p5en", "ml.p5en.48xlarge", count=8, spares=1),
        hp.InstanceGroup.worker(
            "g6",
            "ml.g6.12xlarge",
            count=4,
            kubernetes=hp.KubernetesConfig(
                labels={"pool": "evaluation"},
                taints=(hp.Taint(key="pool", effect="NoSchedule", value="evaluation"),),
            ),
        ),
    ],
    governance=hp.TaskGovernance(
        priorities={"training": 75, "evaluation": 50},
        teams=[
            hp.Team(
                name="training",
                instances={"ml.p5en.48xlarge": 8},
                weight=80,
                members=["arn:aws:iam::111122223333:role/Training"],
            ),
            hp.Team(
                name="evaluation",
                instances={"ml.g6.12xlarge": 4},
                weight=20,
                members=["arn:aws:iam::111122223333:role/Evaluation"],
            ),
        ],
    ),
)

app.synth()
