"""One cluster's stacks in the emulated account, as a scenario handles them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.proof.emulator.aws import ROOT, Aws

APP = Path(__file__).parent / "app.py"


class Deployed:
    """One cluster's stacks in the account."""

    def __init__(self, aws: Aws, name: str) -> None:
        self.aws, self.name = aws, name

    def run(self, *arguments: str, fails: bool = False, **settings: Any) -> str:
        """The CDK CLI on the app with these settings."""
        scenario = json.dumps({"names": [self.name], **settings})
        return self.aws.cdk(*arguments, app=APP, settings={"SCENARIO": scenario}, fails=fails)

    def deploy(self, *stacks: str, fails: bool = False, **settings: Any) -> str:
        """`cdk deploy`, of all stacks or of some."""
        which = stacks or ("--all",)
        return self.run("deploy", *which, "--require-approval", "never", fails=fails, **settings)

    def cluster(self, name: str | None = None) -> Mapping[str, Any]:
        """DescribeCluster."""
        found: dict[str, Any] = self.aws.client("sagemaker").describe_cluster(ClusterName=name or self.name)
        del found["ResponseMetadata"]
        return found

    def nodes(self) -> list[str]:
        """Group of each node."""
        listed = self.aws.client("sagemaker").list_cluster_nodes(ClusterName=self.name)["ClusterNodeSummaries"]
        return sorted(node["InstanceGroupName"] for node in listed)

    def resources(self, stack: str) -> dict[str, str]:
        """Physical id by type of what a stack holds."""
        found = self.aws.client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
        return {each["ResourceType"]: each["PhysicalResourceId"] for each in found}

    def kept(self) -> list[str]:
        """What `hyperpod cost` says of the last synth is paid for after a destroy."""
        command = [sys.executable, "-m", "hyperpod_constructs.cli", "cost", str(self.aws.folder / "cdk.out")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        sys.stdout.write(said)
        found = (line.partition("kept and paid for after a destroy: ") for line in said.splitlines())
        return [rest for _, title, rest in found if title]

    def status(self, stack: str) -> str | None:
        """Status of a stack, `None` where there is none."""
        stacks = self.aws.client("cloudformation").describe_stacks()["Stacks"]
        return next((each["StackStatus"] for each in stacks if each["StackName"] == stack), None)
