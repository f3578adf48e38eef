import hyperpod_constructs as hp

# fails
groups = [
    hp.InstanceGroup.compute(
        "p5",
        "ml.p5.48xlarge",
        count=32,
        capacity=hp.TrainingPlan.unchecked("arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier"),
    )
]

# passes
groups = [
    hp.InstanceGroup.compute(
        "p5",
        "ml.p5.48xlarge",
        count=32,
        capacity=hp.TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14"),
    )
]
