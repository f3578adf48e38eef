import hyperpod_constructs as hp

# fails
groups = [
    hp.InstanceGroup.compute(
        "p5",
        "ml.p5.48xlarge",
        count=32,
        capacity=hp.TrainingPlan(
            "frontier",
            count=32,
            zone="us-west-2b",  # <-- a name, and another zone in every account
            starts="2026-12-07",
            ends="2027-02-14",
        ),
    )
]

# passes
groups = [
    hp.InstanceGroup.compute(
        "p5",
        "ml.p5.48xlarge",
        count=32,
        capacity=hp.TrainingPlan(
            "frontier",
            count=32,
            zone="usw2-az2",
            starts="2026-12-07",
            ends="2027-02-14",
        ),
    )
]
