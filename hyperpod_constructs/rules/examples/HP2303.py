from hyperpod_constructs.model.chart import Chart, ChartImage

# fails
image = ChartImage.parse("mpioperator/mpi-operator:latest")
charts = [Chart(path="chart", region="us-west-2", images=(image,))]

# passes
image = ChartImage.parse("mpioperator/mpi-operator:0.5")
charts = [Chart(path="chart", region="us-west-2", images=(image,))]
