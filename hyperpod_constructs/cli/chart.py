"""`hyperpod chart`: the Helm chart that EKS clusters need before CreateCluster."""

from __future__ import annotations

import argparse
import sys

from hyperpod_constructs.cli import terminal
from hyperpod_constructs.errors import InvalidValue


def run(arguments: argparse.Namespace) -> int:
    """Runs one of the actions; 1 where a chart is not what it must be."""
    from hyperpod_constructs.cli import chart_fetch, chart_images  # noqa: PLC0415  # they share no start-up

    action = {"fetch": chart_fetch.run, "images": chart_images.run}[arguments.action]
    try:
        return action(arguments)
    except InvalidValue as error:
        print(f"hyperpod: {terminal.plain(str(error))}", file=sys.stderr)
        return 1
