import hyperpod_constructs as hp

# fails
groups = [hp.InstanceGroup.compute(f"p5-{n}", "ml.p5.48xlarge", count=1) for n in range(101)]

# passes
groups = [hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=101)]
