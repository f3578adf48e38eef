import hyperpod_constructs as hp

# fails
groups = [
    hp.InstanceGroup.compute(
        "p5",
        hp.InstanceType("ml.p5.48xlarge", efa=0),  # <-- it has 32
        count=2,
    )
]

# passes
groups = [hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=2)]
