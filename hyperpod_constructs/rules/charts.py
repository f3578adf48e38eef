"""Images of the Helm chart that EKS clusters need: HP23xx. They are known once Helm has rendered it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.chart import Chart, ChartImage
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.rules import Problem, rule

_ISSUE: Final = "github.com/aws/sagemaker-hyperpod-cli, issue 359 and pull request 360 (January 2026)"
_VALUES: Final = "set the chart's value that names it, or the Region that the chart is rendered for"

_AGENT: Final = "hyperpod-health-monitoring-agent"
_AGENT_ACCOUNTS: Final = {
    "767398015722": "us-east-1",
    "905418368575": "us-west-2",
    "851725546812": "us-east-2",
    "011528288828": "us-west-1",
    "211125453373": "eu-central-1",
    "654654141839": "eu-north-1",
    "533267293120": "eu-west-1",
    "011528288831": "eu-west-2",
    "626887787726": "eu-south-2",
    "533267052152": "ap-northeast-1",
    "011528288864": "ap-south-1",
    "905418428165": "ap-southeast-1",
    "851725636348": "ap-southeast-2",
    "971422672635": "ap-southeast-3",
    "084375568333": "ap-southeast-4",
    "843976229209": "ca-central-1",
    "025066253954": "sa-east-1",
}
"""Region by account that holds the agent's image. Source: the chart's own table, and pull request 360 (2026)."""


def _images(deployment: Deployment) -> Iterator[tuple[Chart, ChartImage]]:
    """Every image with its chart."""
    for chart in deployment.charts:
        for image in chart.images:
            yield chart, image


def _about(image: ChartImage) -> str:
    by = f"{image.used_by} asks for " if image.used_by else ""
    return f"{by}image {image.text!r}"


@rule(
    "HP2301",
    Severity.ERROR,
    title="An image of the chart has no name that can be pulled",
    because="a container runtime refuses a name with an empty registry, account or Region, which is what a chart makes "
    "of a value that is missing",
    source="github.com/distribution/reference, the grammar of image names (2026); Kubernetes, status InvalidImageName",
)
def images_have_names(deployment: Deployment) -> Iterator[Problem]:
    for chart, image in _images(deployment):
        if not image.is_well_formed:
            yield Problem(path=chart.path, message=f"{_about(image)}, {_lacking(image)}", fix=_VALUES)


def _lacking(image: ChartImage) -> str:
    if not image.registry:
        return "which has nothing before its first slash"
    if image.account == "" or image.registry.startswith("."):
        return "whose registry has no account"
    if image.region == "":
        return "whose registry has no Region"
    return "which is no name of an image"


@rule(
    "HP2302",
    Severity.WARNING,
    title="An image of the chart lies in another Region",
    because="a chart that lacks a Region falls back to another one: nodes without a way out cannot pull from there, "
    "and for all others each pull crosses Regions and depends on both",
    source=_ISSUE,
)
def images_are_near(deployment: Deployment) -> Iterator[Problem]:
    for chart, image in _images(deployment):
        if chart.region is not None and image.is_well_formed and image.region not in {None, chart.region}:
            yield Problem(
                path=chart.path,
                message=f"{_about(image)} in {image.region}, and the cluster is in {chart.region}",
                fix=f"render the chart for {chart.region}; where it has no registry there, copy the image to one of "
                "yours and name it with `images`",
            )


@rule(
    "HP2303",
    Severity.WARNING,
    title="An image of the chart may change from one pull to the next",
    because="without a tag, and with `latest`, a node that is replaced can get another image than its neighbours",
    source="Kubernetes documentation, Images: image names (2026)",
)
def images_are_pinned(deployment: Deployment) -> Iterator[Problem]:
    for chart, image in _images(deployment):
        if image.is_well_formed and image.digest is None and image.tag in {None, "latest"}:
            what = "without a tag" if image.tag is None else "by the tag latest"
            yield Problem(
                path=chart.path,
                message=f"{_about(image)} {what}",
                fix="set a tag, or better a digest, with the chart's values",
            )


@rule(
    "HP2304",
    Severity.WARNING,
    title="The health monitoring agent's image is asked for in the account of another Region",
    because="charts before the fix of issue 359 take the account of us-east-1 for Regions that they lack, and that "
    "account has no such registry elsewhere: pods end in ImagePullBackOff",
    source=_ISSUE,
)
def agents_come_from_their_account(deployment: Deployment) -> Iterator[Problem]:
    for chart, image in _images(deployment):
        home = _AGENT_ACCOUNTS.get(image.account or "")
        if image.repository.endswith(_AGENT) and home is not None and image.region not in {"", home}:
            yield Problem(
                path=chart.path,
                message=f"{_about(image)} in {image.region}; account {image.account} has it in {home}",
                fix="take a newer chart, or name the image of the Region with health-monitoring-agent.hmaimage",
            )


@rule(
    "HP2305",
    Severity.WARNING,
    title="An image of the chart lies where nodes without a way out cannot pull it",
    because="of registries only ECR has endpoints: pods with an image from anywhere else end in ImagePullBackOff, "
    "unless the nodes have a proxy or a mirror",
    source="ECR user guide, vpc-endpoints; EKS user guide, private-clusters (from memory, 2026)",
)
def images_of_closed_networks_are_in_ecr(deployment: Deployment) -> Iterator[Problem]:
    for chart, image in _images(deployment):
        if chart.closed and image.is_well_formed and image.region is None:
            yield Problem(
                path=chart.path,
                message=f"{_about(image)} at {image.registry}, and nothing leads out of the network but endpoints",
                fix="copy it to ECR in the cluster's Region and name that repository with `images`",
            )
