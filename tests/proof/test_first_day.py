"""The commands of the first day, on what was really deployed to the emulated account."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.proof.emulator.aws import REGION, ROOT, Aws

APP = Path(__file__).parent / "emulator" / "app.py"
Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aws]:
    """An account with one cluster, and one whose cluster was refused."""
    account = Aws(tmp_path_factory.mktemp("aws"))
    account.start()
    try:
        deploy = ("deploy", "--all", "--require-approval", "never")
        account.cdk(*deploy, app=APP, settings={"SCENARIO": json.dumps({"names": ["Day"]})})
        message = "We currently do not have sufficient capacity for the requested instance type(s). Please try again."
        account.play({"type": "AWS::SageMaker::Cluster", "operation": "create", "nth": 1, "message": message})
        account.cdk(*deploy, app=APP, settings={"SCENARIO": json.dumps({"names": ["Refused"]})}, fails=True)
        yield account
    finally:
        account.stop()


@pytest.fixture(scope="module")
def run(aws: Aws) -> Run:
    """Runs `hyperpod` against the account."""

    def hyperpod(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hyperpod_constructs.cli", *arguments],
            cwd=aws.folder,
            env={**aws.environment, "PYTHONPATH": str(ROOT), "HOME": str(aws.folder), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return hyperpod


def test_status_sees_every_node(run: Run) -> None:
    done = run("status", "Day", "--wait", "--nodes", "controller=1", "login=1", "p5=4", "--region", REGION)
    assert done.returncode == 0, done.stderr


def test_snapshot_has_the_live_counts(run: Run) -> None:
    done = run("snapshot", "Day", "--region", REGION)
    found: dict[str, Any] = json.loads(done.stdout)
    assert {group["name"]: group["current"] for group in found["cluster"]["groups"]} == {
        "controller": 1,
        "login": 1,
        "p5": 4,
    }


def test_ssh_config_has_a_host_for_every_node(run: Run) -> None:
    done = run("ssh-config", "Day", "--region", REGION)
    assert done.returncode == 0, done.stderr
    hosts = [line for line in done.stdout.splitlines() if line.startswith("Host ")]
    assert len([line for line in hosts if "Day-p5-" in line]) == 4


def test_plans_are_listed_where_there_are_none(run: Run) -> None:
    done = run("plans", "list", "--region", REGION)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr


def test_explain_says_that_capacity_was_missing_and_what_to_do(run: Run) -> None:
    done = run("explain", "Refused", "--region", REGION)
    assert done.returncode == 1
    assert "do not have sufficient capacity" in done.stdout


def test_preflight_finds_the_stack_that_was_refused_and_nothing_else(run: Run, aws: Aws) -> None:
    done = run("preflight", str(aws.folder / "cdk.out"), "--region", REGION, "--format", "json")
    found = [each for each in json.loads(done.stdout)["findings"] if each["severity"] != "info"]
    assert [each["path"].partition("/")[0] for each in found] == ["Refused"], done.stdout
    assert "ROLLBACK_COMPLETE" in found[0]["message"]


def test_zones_are_those_in_which_a_type_is_offered(run: Run) -> None:
    done = run("zones", "ml.p5.48xlarge", "--region", REGION)
    assert done.returncode == 0, done.stderr
    assert "usw2-az2" in done.stdout


def test_the_computed_policy_covers_every_type_that_was_deployed(run: Run, aws: Aws) -> None:
    done = run("policy", str(aws.folder / "cdk.out"), "--region", REGION, "--format", "json")
    assert done.returncode == 0, done.stderr
    services = {event["type"].split("::")[1].lower() for event in aws.events() if event["stack"].startswith("Day")}
    assert {"ec2", "fsx", "iam", "sagemaker"} < services
    # CDK metadata needs no permission.
    assert {service for service in services - {"cdk"} if f'"{service}:' not in done.stdout} == set()
