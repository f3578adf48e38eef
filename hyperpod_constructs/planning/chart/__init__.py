"""A Helm chart in a folder, read and prepared without Helm: whether it is whole, and what of it is published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.chart import HelmChart
from hyperpod_constructs.planning.chart import dependencies, files, substitution
from hyperpod_constructs.planning.chart.files import Files, digest as digest


def load(folder: Path) -> dict[str, bytes]:
    """The files of a complete chart, packed charts in it unpacked.

    Args:
        folder: The folder that holds Chart.yaml.

    Raises:
        InvalidValue: if it is none, Helm would refuse it, or something in it is not safe to publish.
    """
    found = dependencies.unpacked(files.read(folder))
    dependencies.check_complete(found, str(folder))
    return found


def prepared(chart: HelmChart) -> Files:
    """What of a chart is published: complete, with the images of the user's in the place of those they replace.

    Raises:
        InvalidValue: as `load`, and if an image that is to be replaced occurs nowhere, or somebody else installs it.
    """
    if chart.path is None:
        raise InvalidValue("chart: somebody else installs it, so there is nothing to publish")
    return substitution.substituted(load(Path(chart.path)), chart.images)


def values_for(chart: HelmChart, region: str) -> dict[str, object]:
    """The values that a chart is installed with: the user's own, and the Region where they say nothing of it.

    The health monitoring agent's chart takes the Region from labels of nodes, and falls back to us-east-1 as long as
    there are none: before CreateCluster there never are. Source: aws/sagemaker-hyperpod-cli,
    helm_chart/HyperPodHelmChart/charts/health-monitoring-agent/templates/_helpers.tpl (2026).
    """
    ours: dict[str, dict[str, object]] = {"global": {"region": region}, "health-monitoring-agent": {"region": region}}
    merged = {key: {**own, **given} for key, own in ours.items() if isinstance(given := chart.values.get(key), Mapping)}
    return {**ours, **chart.values, **merged}


def publish(chart: HelmChart, folder: Path) -> str:
    """Writes what of a chart is published into an empty folder, and returns its digest.

    The same chart and images give the same names, bytes and digest.

    Raises:
        InvalidValue: as `prepared`.
    """
    made = prepared(chart)
    files.write(made, folder)
    return digest(made)
