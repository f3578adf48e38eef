"""What is said of charts without Helm is what the real Helm does, and what is published renders."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.planning import chart
from hyperpod_constructs.planning.chart import dependencies, files
from tests.charts import small

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv/helm/bin/python"
MINE = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
VALUES = {"global": {"region": "us-west-2"}}
INSTALL = """
import json, sys
import helm_python as helm
folder, values = sys.argv[1], json.loads(sys.argv[2])
try:
    to = helm.Config(namespace="kube-system", storage_driver="memory")
    to.install(folder, "dependencies", values, dry_run="client")
except helm.HelmError as error:
    print(json.dumps({"refused": str(error)}))
else:
    print(json.dumps({"rendered": helm.Chart.load(folder).render(values, name="dependencies")}))
"""
"""What the CDK's handler does (`helm upgrade --install`), without a cluster."""

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not PYTHON.exists(), reason="needs python3 tools/setup.py --proof"),
]


def installed(folder: Path) -> dict[str, Any]:
    """What Helm makes of a chart, or why it refuses it."""
    ran = subprocess.run(
        [PYTHON, "-c", INSTALL, str(folder), json.dumps(VALUES)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files.write(small.complete(), tmp_path / "small")
    return tmp_path / "small"


def ours(folder: Path) -> str | None:
    """Why we refuse a chart; `None` where we do not."""
    try:
        chart.load(folder)
    except hp.InvalidValue as error:
        return str(error)
    return None


def test_helm_accepts_a_complete_chart_as_we_do(folder: Path) -> None:
    assert ours(folder) is None
    assert sorted(installed(folder)["rendered"]) == [
        "small/charts/agent/templates/deployment.yaml",
        "small/charts/plugin/templates/deployment.yaml",
        "small/templates/NOTES.txt",
        "small/templates/deployment.yaml",
    ]


@pytest.mark.parametrize("gone", ["charts/an-agent", "charts/plugin-1.2.3.tgz"])
def test_helm_refuses_one_with_a_dependency_missing_as_we_do_even_where_it_is_switched_off(
    folder: Path, gone: str
) -> None:
    path = folder / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    declared = (folder / "Chart.yaml").read_text().replace("}", ", condition: off.enabled}")
    (folder / "Chart.yaml").write_text(declared)
    (folder / "values.yaml").write_text("off: {enabled: false}\n")
    name = "agent" if "agent" in gone else "plugin"
    assert f"found in Chart.yaml, but missing in charts/ directory: {name}" in installed(folder)["refused"]
    assert f"lacks {name} " in (ours(folder) or "")


def test_helm_says_nothing_of_what_a_chart_in_charts_lacks_and_we_tell(folder: Path) -> None:
    (folder / "charts/an-agent/Chart.yaml").write_bytes(
        small.chart_yaml("agent", "0.1.0", "{name: keda, version: 2.17.1}")
    )
    assert "rendered" in installed(folder)
    assert [str(each) for each in dependencies.missing(chart.load(folder))] == ["keda 2.17.1 of charts/an-agent"]


@pytest.mark.parametrize("stray", ["charts/README.md", "charts/notes/README.md"])
def test_helm_takes_nothing_but_charts_in_charts(folder: Path, stray: str) -> None:
    (folder / stray).parent.mkdir(exist_ok=True)
    (folder / stray).write_text("x")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        subprocess.run(
            [PYTHON, "-c", "import sys, helm_python as h; h.Chart.load(sys.argv[1])", folder],
            check=True,
            capture_output=True,
            text=True,
        )
    assert "Chart.yaml file is missing" in failed.value.stderr
    assert ours(folder) is not None


def test_what_helmignore_names_is_no_chart_for_helm_either(folder: Path) -> None:
    (folder / ".helmignore").write_text("*.tgz\n")
    assert "missing in charts/ directory: plugin" in installed(folder)["refused"]
    assert "lacks plugin " in (ours(folder) or "")


def test_what_is_published_renders_with_the_images_of_the_user(folder: Path, tmp_path: Path) -> None:
    images = {
        "registry.k8s.io/nfd/node-feature-discovery": f"{MINE}/nfd",
        "nvcr.io/nvidia/plugin": f"{MINE}/nvidia/plugin",
    }
    chart.publish(hp.HelmChart.directory(folder, images=images), tmp_path / "published")
    told = images_of(tmp_path / "published")
    assert sorted(image["text"] for image in told["images"]) == [
        f"{MINE}/nfd:v0.17.0",
        f"{MINE}/nvidia/plugin:v1",
        "767398015722.dkr.ecr.us-west-2.amazonaws.com/agent:1.0",
    ]
    assert told["findings"] == []


def images_of(folder: Path) -> dict[str, Any]:
    """What `hyperpod chart images` says where Helm is there as the Python package and not as a program."""
    command = [str(PYTHON), "-m", "hyperpod_constructs.cli", "chart", "images", str(folder), "--region", "us-west-2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": "/nowhere"}
    ran = subprocess.run(
        [*command, "--format", "json"], capture_output=True, text=True, check=True, timeout=120, env=environment
    )
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer
