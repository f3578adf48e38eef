from hyperpod_constructs.model.chart import Chart, ChartImage

# fails
image = ChartImage.parse(".dkr.ecr.us-west-2.amazonaws.com/efa:v1.2")
charts = [Chart(path="chart", region="us-west-2", images=(image,))]

# passes
image = ChartImage.parse("111122223333.dkr.ecr.us-west-2.amazonaws.com/efa:v1.2")
charts = [Chart(path="chart", region="us-west-2", images=(image,))]
