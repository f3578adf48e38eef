import hyperpod_constructs as hp

# fails
groups = [
    hp.InstanceGroup.compute(
        "train",
        "ml.p5.48xlarge",
        count=16,
        capacity=hp.TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14"),
    ),
    hp.InstanceGroup.compute(
        "eval",
        "ml.p5.48xlarge",
        count=16,
        capacity=hp.TrainingPlan(
            "frontier",
            count=64,  # <-- 32 in the other group
            zone="usw2-az2",
            starts="2026-12-07",
            ends="2027-02-14",
        ),
    ),
]

# passes
frontier = hp.TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14")
groups = [
    hp.InstanceGroup.compute("train", "ml.p5.48xlarge", count=16, capacity=frontier),
    hp.InstanceGroup.compute("eval", "ml.p5.48xlarge", count=16, capacity=frontier),
]
