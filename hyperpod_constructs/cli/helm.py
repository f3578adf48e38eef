"""Renders a chart with real Helm: the program on PATH, else the Python package, which is Helm as a library."""

from __future__ import annotations

import importlib
import importlib.util
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hyperpod_constructs.catalog.kubernetes import CHART_NAMESPACE, RELEASE
from hyperpod_constructs.errors import UnreadableChart

_LIBRARY: Final = "helm_python"
_LONGEST: Final = 120
_NO_MANIFEST: Final = "NOTES.txt"


def rendered(folder: Path, values: Mapping[str, object]) -> dict[str, str]:
    """The manifests of a chart, by name of the template where Helm tells it.

    Raises:
        UnreadableChart: if there is no Helm, or it refuses the chart or the values.
    """
    program = shutil.which("helm")
    if program is not None:
        return {"helm template": _by_program(program, folder, values)}
    if importlib.util.find_spec(_LIBRARY) is not None:
        return _by_library(folder, values)
    raise UnreadableChart(
        f"the images of {folder} were not checked: there is no Helm; put `helm` on PATH, or install the Python package "
        "helm-python-sdk (244 MB), and run this again"
    )


def _by_program(program: str, folder: Path, values: Mapping[str, object]) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as given:
        json.dump(values, given)
        given.flush()
        command = [program, "template", RELEASE, str(folder), "--namespace", CHART_NAMESPACE, "--values", given.name]
        try:
            ran = subprocess.run(  # noqa: S603  # the user's own Helm
                command, capture_output=True, encoding="utf-8", check=False, timeout=_LONGEST
            )
        except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
            raise UnreadableChart(f"the images of {folder} were not checked: {program}: {error}") from None
    if ran.returncode:
        raise _refused(folder, ran.stderr)
    return ran.stdout


def _by_library(folder: Path, values: Mapping[str, object]) -> dict[str, str]:
    helm = importlib.import_module(_LIBRARY)
    try:
        with helm.Chart.load(folder) as chart:
            manifests: dict[str, str] = chart.render(dict(values), name=RELEASE, namespace=CHART_NAMESPACE)
    except helm.HelmError as error:
        raise _refused(folder, str(error)) from None
    return {name: text for name, text in manifests.items() if not name.endswith(_NO_MANIFEST)}


def _refused(folder: Path, said: str) -> UnreadableChart:
    return UnreadableChart(f"the images of {folder} were not checked: Helm refuses it: {' '.join(said.split())[:500]}")
