# region: ap-southeast-3
from hyperpod_constructs.model.chart import Chart, ChartImage

# fails
agent = ChartImage.parse(
    "767398015722.dkr.ecr.ap-southeast-3.amazonaws.com/hyperpod-health-monitoring-agent:1.0.1038.0_1.0.305.0"
)
charts = [Chart(path="chart", region="ap-southeast-3", images=(agent,))]

# passes
agent = ChartImage.parse(
    "971422672635.dkr.ecr.ap-southeast-3.amazonaws.com/hyperpod-health-monitoring-agent:1.0.1038.0_1.0.305.0"
)
charts = [Chart(path="chart", region="ap-southeast-3", images=(agent,))]
