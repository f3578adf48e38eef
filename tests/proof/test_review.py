"""What `hyperpod review` says of a change is what the emulated account does with it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.proof.emulator.aws import ROOT, Aws
from tests.proof.emulator.deployed import Deployed

CLUSTER = "AWS::SageMaker::Cluster"
LUSTRE = "AWS::FSx::FileSystem"

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """A cluster in an account of its own."""
    account = Aws(tmp_path_factory.mktemp("aws"))
    account.start()
    yield Deployed(account, "Frontier")
    account.stop()


def reviewed(train: Deployed, settings: dict[str, Any]) -> dict[str, Any]:
    """The review of a change of what was synthesized last."""
    base, head = train.aws.folder / "base", train.aws.folder / "cdk.out"
    shutil.rmtree(base, ignore_errors=True)
    shutil.copytree(head, base)
    train.run("synth", "--quiet", **settings)
    command = [sys.executable, "-m", "hyperpod_constructs.cli", "review", str(base), str(head), "--format", "json"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_every_verdict_is_borne_out(train: Deployed, tmp_path: Path) -> None:
    """One change after the other on one cluster; a refused one leaves everything as it was."""
    script = tmp_path / "on_init_complete.sh"
    script.write_text("#!/bin/bash\necho one\n")
    with_scripts = {"scripts": str(tmp_path)}
    two: dict[str, Any] = {"groups": {"p5": {"count": 2}}}
    three: dict[str, Any] = {"groups": {"p5": {"count": 3}}}
    subnet = train.aws.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
    group = train.aws.client("ec2").describe_security_groups(GroupNames=["default"])["SecurityGroups"][0]["GroupId"]
    steps: list[tuple[str, dict[str, Any]]] = [
        ("unchanged", two),
        ("safe", three),
        ("blocked", {**three, "overrides": {"foundation": [LUSTRE, "SubnetIds", [subnet]]}}),
        ("blocked", {**three, "overrides": {"cluster": [CLUSTER, "VpcConfig.SecurityGroupIds", [group]]}}),
        ("blocked", {**three, "overrides": {"cluster": [CLUSTER, "InstanceGroups.1.InstanceType", "ml.m5.4xlarge"]}}),
        ("destroys", two),
        ("safe", {**two, **with_scripts}),
        ("destroys", {"groups": {}, **with_scripts}),
    ]
    train.deploy(**two)
    deployed = two
    for verdict, settings in steps:
        train.run("synth", "--quiet", **deployed)
        review, nodes, cluster = reviewed(train, settings), train.nodes(), train.cluster()
        assert review["verdict"] == verdict, settings
        train.deploy(fails=verdict == "blocked", **settings)
        if verdict in {"unchanged", "blocked"}:
            assert (train.nodes(), train.cluster()) == (nodes, cluster), settings
        elif verdict == "safe":
            assert set(nodes) <= set(train.nodes()), settings
        else:
            assert len(train.nodes()) < len(nodes), settings
        deployed = deployed if verdict == "blocked" else settings
