"""The files that nodes load: everything that the steps in use need, nothing else, and the same bytes every time."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.model.lifecycle import ARCHIVE
from hyperpod_constructs.model.steps import Context
from hyperpod_constructs.planning import node_files

FSX = (hp.Mount(kind="lustre", path="/fsx", file_system="Scratch"),)
GROUPS = (
    hp.InstanceGroup.controller("ml.m5.4xlarge", mounts=FSX),
    hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=2, mounts=FSX),
)
CLUSTER = Context(cluster="frontier", groups=GROUPS, roster="/hyperpod/frontier/roster")
EACH = (*hp.steps.defaults(people=True, teams=True), hp.steps.SlurmAdopt())
SSSD = hp.steps.Sssd(domain="example.com", uri="ldaps://ldap.example.com", base_dn="dc=example,dc=com")
SERVICES = hp.steps.Services(services=[hp.steps.Service(name="exporter", uri="s3://tools/exporter", sha256="0" * 64)])


def names(*steps: hp.steps.Step) -> set[str]:
    return set(node_files.contents(steps, CLUSTER))


def test_every_group_has_a_start_script_that_says_which_it_is() -> None:
    published = dict(node_files.published([], CLUSTER))
    assert set(published) == {"node.zip", "start-controller.sh", "start-p5.sh"}
    assert published["start-p5.sh"] == published["start-controller.sh"]


def test_only_the_steps_in_use_are_published() -> None:
    assert names(hp.steps.LogRotation()) == {
        "hyperpod_node/__init__.py",
        "hyperpod_node/host.py",
        "hyperpod_node/log_rotation.py",
        "hyperpod_node/runner.py",
        "inputs.json",
    }


def test_a_script_of_the_users_is_published_beside_them(tmp_path: Path) -> None:
    (tmp_path / "motd.sh").write_text("#!/bin/bash\n")
    assert "own/motd.sh" in names(hp.steps.Script(path=tmp_path / "motd.sh"))


def test_the_same_steps_give_the_same_bytes() -> None:
    steps = hp.steps.defaults(people=True, teams=True)
    backwards = Context(cluster="frontier", groups=GROUPS[::-1], roster=CLUSTER.roster)
    assert node_files.published(steps, CLUSTER) == node_files.published(list(steps), backwards)


def test_a_directory_alone_does_not_bring_the_code_of_people() -> None:
    assert {"hyperpod_node/sshd.py", "hyperpod_node/sssd.py"} <= names(SSSD)
    assert "hyperpod_node/people.py" not in names(SSSD)


@pytest.mark.parametrize("step", [*EACH, SSSD, SERVICES], ids=lambda step: step.title)
def test_every_module_imports_from_the_archive_of_its_step_alone(tmp_path: Path, step: hp.steps.Step) -> None:
    archive = tmp_path / ARCHIVE
    archive.write_bytes(dict(node_files.published([step], CLUSTER))[ARCHIVE])
    modules = [name for name in zipfile.ZipFile(archive).namelist() if name.endswith(".py")]
    imports = "; ".join(f"import {name.removesuffix('.py').replace('/', '.')}" for name in modules)
    ran = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(archive)!r}); {imports}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_archive_says_nothing_about_who_made_it_or_when() -> None:
    archive = zipfile.ZipFile(io.BytesIO(node_files.archive({"b": b"2", "a": b"1"})))
    assert [(info.filename, info.date_time, info.external_attr) for info in archive.infolist()] == [
        ("a", (1980, 1, 1, 0, 0, 0), 0o600 << 16),
        ("b", (1980, 1, 1, 0, 0, 0), 0o600 << 16),
    ]


def test_inputs_are_readable_json() -> None:
    text = node_files.contents([hp.steps.Spares()], CLUSTER)["inputs.json"].decode()
    assert json.loads(text)["steps"][0]["name"] == "spares"
    assert text.endswith("}\n")
