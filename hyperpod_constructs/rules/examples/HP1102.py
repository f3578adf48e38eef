import hyperpod_constructs as hp

# fails
groups = [
    hp.InstanceGroup.compute(
        "p5",
        "ml.p5.48xlarge",
        count=32,
        capacity=hp.TrainingPlan(
            "frontier",
            instance_type="ml.p5e.48xlarge",  # <-- what was bought
            count=32,
            zone="usw2-az2",
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
            instance_type="ml.p5.48xlarge",
            count=32,
            zone="usw2-az2",
            starts="2026-12-07",
            ends="2027-02-14",
        ),
    )
]
