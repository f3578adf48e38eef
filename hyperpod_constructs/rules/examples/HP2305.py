from hyperpod_constructs.model.chart import Chart, ChartImage

# fails
image = ChartImage.parse("registry.k8s.io/nfd/node-feature-discovery:v0.17.3")
charts = [Chart(path="chart", region="us-west-2", images=(image,), closed=True)]

# passes
image = ChartImage.parse("111122223333.dkr.ecr.us-west-2.amazonaws.com/node-feature-discovery:v0.17.3")
charts = [Chart(path="chart", region="us-west-2", images=(image,), closed=True)]
