"""Two teams on one cluster: users with fixed numbers, Slurm accounts with limits, a database outside the controller."""

import aws_cdk as cdk

import hyperpod_constructs as hp

app = cdk.App()

hp.SlurmTraining(
    app,
    "Research",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    groups=[
        hp.InstanceGroup.controller("ml.m5.4xlarge"),
        hp.InstanceGroup.login("ml.m5.2xlarge"),
        hp.InstanceGroup.compute("p5en", "ml.p5en.48xlarge", count=16, spares=1, partition="train"),
    ],
    storage=hp.Lustre(capacity_gib=12_000, throughput_mbps_per_tib=500),
    people=hp.People(
        users=[
            hp.User(
                name="ada", uid=3001, groups=["data"], keys=["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleAda ada"]
            ),
            hp.User(name="bob", uid=3002, keys=["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleBob bob"]),
            hp.User(name="eve", uid=3003, admin=True, keys=["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleEve eve"]),
        ],
        groups=[hp.Group(name="data", gid=4001)],
    ),
    governance=hp.TaskGovernance(
        priorities={"training": 75, "experiment": 25},
        teams=[
            hp.Team(name="pretraining", instances={"ml.p5en.48xlarge": 12}, weight=80, members=["ada"]),
            hp.Team(
                name="alignment",
                instances={"ml.p5en.48xlarge": 4},
                weight=20,
                borrow_limit_percent=0,
                members=["bob", "eve"],
            ),
        ],
    ),
)

app.synth()
