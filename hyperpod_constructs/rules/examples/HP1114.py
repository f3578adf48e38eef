import hyperpod_constructs as hp

# fails
plan = hp.TrainingPlan.unchecked("arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier")
groups = [
    hp.InstanceGroup.compute("a", "ml.p5.48xlarge", count=16, zone="usw2-az1", capacity=plan),
    hp.InstanceGroup.compute("b", "ml.p5.48xlarge", count=16, zone="usw2-az2", capacity=plan),  # <-- another zone
]

# passes
plan = hp.TrainingPlan.unchecked("arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier")
groups = [
    hp.InstanceGroup.compute("a", "ml.p5.48xlarge", count=16, zone="usw2-az2", capacity=plan),
    hp.InstanceGroup.compute("b", "ml.p5.48xlarge", count=16, zone="usw2-az2", capacity=plan),
]
