"""`hyperpod chart images`: what a chart pulls, from where, and what is wrong with that."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

import yaml

from hyperpod_constructs import rules
from hyperpod_constructs.cli import check, helm, inputs, terminal
from hyperpod_constructs.cli.inputs import Judged
from hyperpod_constructs.errors import UnreadableChart
from hyperpod_constructs.model.chart import Chart, ChartImage, HelmChart
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.planning import chart as planning
from hyperpod_constructs.planning.chart import dependencies, images


def run(arguments: argparse.Namespace) -> int:
    """Prints every image and every finding; 1 where there is an error."""
    folder = Path(arguments.directory)
    for each in dependencies.missing(planning.load(folder)):
        inputs.note(f"{each} is not there: Helm leaves it out without a word, so what needs it does not work")
    given = HelmChart.directory(folder, values=_values(arguments.values))
    found = images.in_manifests(helm.rendered(folder, planning.values_for(given, arguments.region)))
    chart = Chart(path=str(folder), region=arguments.region, images=found, closed=arguments.closed)
    judged = Judged(findings=tuple(rules.check(Deployment(charts=(chart,)))), acknowledged=())
    if arguments.format == "json":
        print(json.dumps(_as_data(chart, judged), indent=2))
    else:
        print("\n".join(_text(chart, judged)))
    return 1 if judged.stops else 0


def _values(file: str | None) -> Mapping[str, object]:
    """The values of a file.

    Raises:
        UnreadableChart: if it cannot be read.
    """
    if file is None:
        return {}
    try:
        found = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableChart(f"{file}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableChart(f"{file} cannot be read as YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(found, Mapping):
        raise UnreadableChart(f"{file} is not a list of keys and values")
    return found


def _once(chart: Chart) -> dict[str, list[ChartImage]]:
    """Images by text: several objects may ask for one."""
    found: dict[str, list[ChartImage]] = {}
    for image in chart.images:
        found.setdefault(image.text, []).append(image)
    return found


def _as_data(chart: Chart, judged: Judged) -> dict[str, object]:
    return {
        "chart": chart.path,
        "region": chart.region,
        "images": [
            {
                "text": text,
                "registry": image.registry,
                "region": image.region,
                "repository": image.repository,
                "tag": image.tag,
                "digest": image.digest,
                "used_by": [each.used_by for each in several],
            }
            for text, several in _once(chart).items()
            for image in several[:1]
        ],
        **check.as_data(judged),
    }


def _text(chart: Chart, judged: Judged) -> list[str]:
    rows = [_row(several[0]) for several in _once(chart).values()]
    lines = [line for finding in judged.findings for line in check.block(finding)]
    number = terminal.plural(len(judged.findings), "finding")
    counts = check.counts(judged)
    return [
        f"{terminal.plain(chart.path)}: {terminal.plural(len(rows), 'image')} for {chart.region}",
        *(terminal.table([("registry", "Region", "repository", "tag or digest"), *rows]) if rows else []),
        *lines,
        number + (f": {counts}" if counts else ""),
    ]


def _row(image: ChartImage) -> tuple[str, str, str, str]:
    which = " ".join(part for part in (image.tag, image.digest) if part)
    return image.registry or "-", image.region or "-", image.repository, which or "-"
